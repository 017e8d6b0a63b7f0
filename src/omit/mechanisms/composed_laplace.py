"""The scale of Laplace noise on many numbers at once, by composing their privacy losses."""

from __future__ import annotations

import math
from functools import lru_cache

from omit.errors import InvalidInput
from omit.guarantee import Guarantee

# The scale is found to this relative precision, and rounded up.
_PRECISION = 1e-4


@lru_cache(maxsize=4096)
def composed_laplace_scale(epsilon: float, delta: float, releases: int) -> float:
    """Return a scale at which so many Laplace releases of sensitivity 1 are (epsilon, delta)-DP.

    The releases may be adaptive. Their privacy losses are composed numerically by `dp-accounting`,
    which rounds them up, so that the guarantee is valid. Never above `releases / epsilon`, the
    scale of pure differential privacy.

    Examples
    --------
    >>> composed_laplace_scale(1.0, 1e-6, 35) < 35
    True
    """
    largest = releases / epsilon
    low, high = math.log(largest) - 8, math.log(largest)
    while high - low > _PRECISION:
        middle = 0.5 * (low + high)
        if _epsilon(math.exp(middle), delta, releases) <= epsilon:
            high = middle
        else:
            low = middle
    return min(math.exp(high), largest)


def require_delta(guarantee: Guarantee) -> None:
    """Refuse to compose losses where nothing may be exceeded."""
    if guarantee.delta == 0:
        raise InvalidInput(
            "The composed budget needs delta > 0; with delta = 0 the budget 'su' is the smallest."
        )


def _epsilon(scale: float, delta: float, releases: int) -> float:
    """Return epsilon at `delta` of so many Laplace releases of sensitivity 1."""
    from dp_accounting import LaplaceDpEvent, SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=_interval(scale))
    accountant.compose(SelfComposedDpEvent(LaplaceDpEvent(scale), releases))
    return float(accountant.get_epsilon(delta))


def _interval(scale: float) -> float:
    """Return the grain of privacy losses: a thousandth of one release's, at most the usual."""
    return min(1e-4, 1e-3 / scale)
