"""The scale of Laplace noise on many numbers at once, by composing their privacy losses."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.guarantee import Guarantee

# The scale is found to this relative precision, and rounded up.
_PRECISION = 1e-4
# How many grains the largest privacy loss of one release is divided into.
_GRAINS = 200
# Losses are convolved by a Fourier transform, whose rounding errors are smaller than this for each
# release; so much of delta is set aside for them.
_ROUNDING = 1e-14
# Above this epsilon nothing is composed: powers of e leave the range of floating-point numbers.
_LARGEST_EPSILON = 200.0


@lru_cache(maxsize=4096)
def composed_laplace_scale(epsilon: float, delta: float, releases: int) -> float:
    """Return a scale at which so many Laplace releases of sensitivity 1 are (epsilon, delta)-DP.

    The releases may be adaptive. Their privacy losses are rounded up, so that the guarantee is
    valid, and composed numerically by `dp-accounting`. Never above `releases / epsilon`, the scale
    of pure differential privacy, which is also the answer where delta is too small or epsilon too
    large for composing to be of use.

    Examples
    --------
    >>> composed_laplace_scale(1.0, 1e-6, 35) < 24
    True
    """
    # Both ends are proven: the upper one is pure, and at the lower one a single release, whose
    # delta is 1 - e^((epsilon - 1/scale)/2), uses up all of delta. Every scale that becomes the
    # upper end has been checked, so the one returned is valid even if the search were not monotone.
    allowed = delta - releases * _ROUNDING
    lower, upper = 1 / (epsilon - 2 * math.log1p(-delta)), releases / epsilon
    if allowed <= 0 or epsilon > _LARGEST_EPSILON:
        return upper
    while upper > lower * (1 + _PRECISION):
        middle = math.sqrt(lower) * math.sqrt(upper)
        if _delta(middle, epsilon, releases) <= allowed:
            upper = middle
        else:
            lower = middle
    return upper


def require_delta(guarantee: Guarantee) -> None:
    """Refuse to compose losses where nothing may be exceeded."""
    if guarantee.delta == 0:
        raise InvalidInput(
            "The composed budget needs delta > 0; with delta = 0 the budget 'su' is the smallest."
        )


def _delta(scale: float, epsilon: float, releases: int) -> float:
    """Return an upper bound on delta at `epsilon` of so many Laplace releases of sensitivity 1."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    one = PrivacyLossDistribution.create_from_rounded_probability(
        dict(enumerate(_rounded_up_losses(scale).tolist(), start=-_GRAINS)),
        infinity_mass=0.0,
        value_discretization_interval=1 / (_GRAINS * scale),
    )
    return float(one.self_compose(releases).get_delta_for_epsilon(epsilon))


def _rounded_up_losses(scale: float) -> FloatArray:
    """Return the distribution of one release's privacy loss, rounded up to the next grain.

    Noise `x` around 0 is told from noise around 1 by `(|1 - x| - |x|) / scale`. This is `1 / scale`
    for x <= 0, `-1 / scale` for x >= 1 and linear between, so it is at most `j` grains if
    `x >= (1 - j / _GRAINS) / 2`. Both ends are whole grains and not rounded.
    """
    step = 0.5 / (_GRAINS * scale)
    grains = np.arange(-_GRAINS, _GRAINS + 1)
    at_most = 0.5 * np.exp((grains - _GRAINS) * step)
    losses = as_array(at_most * -math.expm1(-step))
    losses[0] = at_most[0]
    losses[-1] = 0.5 - 0.5 * math.expm1(-step)
    return losses
