"""Noise that is added to an answer, on top of the uncertainty about the data.

*Discrete* noise lives on the lattice of the answers and joins the sum as one more entry.
*Continuous* noise turns the probabilities `f(s)` of the answers into the density `sum f(s) g(a -
s)`:

- If `f` is log-concave, the best test is a half-line, and bounds on delta come from tail
  probabilities (`half_line`).
- For any `f` the positive part is integrated by the trapezoidal rule with step `h`. As `max(0, x)`
  is convex, the rule can be too small only by as much as the integrand differs from its chords,
  which is at most `h^2 / 8` times the integral of the absolute second derivative. It can be too
  large by as much again where the sign changes. Twice that is stated as error.

Noise is added to an answer without looking at the data, so delta is never above that of the answer
without noise. Nor is it above that of the noise alone, if all other entries were known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal, TypeAlias, cast

import numpy as np

from omit import _validate
from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.laws.discrete import LatticeNoise
from omit.laws.divergence import Bounds, envelope, hockey_stick, shifted
from omit.laws.noise import LogConcaveNoise, Noise, noise_named
from omit.laws.sums import SumLaw
from omit.statistical.curve import PrivacyCurve, bounded_curve

_UNIT = 2.0**-53
_LARGEST_GRID = 2**21
_USUAL_GRID = 2**17
# Noise so much larger than what one entry changes leaves nothing to compute with.
_LARGEST_SCALE = 1e9
# Noise so much smaller than the distance between answers hides nothing: the nearest answer is the
# one without noise, up to e^-500.
_SMALLEST_SCALE = 1e-3
# Epsilons at which bounds whose errors grow are taken besides those that are asked for.
_LADDER = np.concatenate([[0.0], 2.0 ** np.arange(-8, 5)])
_SMALL_ERROR = 1e-2
KINDS = ("laplace", "gaussian", "discrete-gaussian")


AddedNoise: TypeAlias = LogConcaveNoise | LatticeNoise


def added_noise(
    kind: Literal["laplace", "gaussian", "discrete-gaussian"], scale: float
) -> AddedNoise:
    """Return noise by name.

    Raises
    ------
    InvalidInput
        If the name is unknown or the scale is not positive.

    Examples
    --------
    >>> added_noise("laplace", 2.0)
    Laplace(scale=2.0)
    """
    return cast("AddedNoise", noise_named(kind, KINDS)(scale))


def require_continuous(noise: Noise) -> LogConcaveNoise:
    """Return noise that is continuous, symmetric and log-concave, or refuse it."""
    require_noise(noise)
    if not isinstance(noise, LogConcaveNoise):
        raise InvalidInput(f"Expected {noise.name} noise to be one of: {', '.join(KINDS)}.")
    return noise


def require_noise(noise: object) -> None:
    """Refuse what is not noise."""
    if not isinstance(noise, Noise):
        raise InvalidInput(
            "Expected noise such as that of added_noise('laplace', scale), got "
            f"{_validate.shown(noise)}."
        )


def with_noise(
    plain: PrivacyCurve,
    width: Fraction,
    step: float,
    noise: LogConcaveNoise,
    noisy: Callable[[], PrivacyCurve],
) -> PrivacyCurve:
    """Return the curve with noise, never above the one without or that of the noise alone.

    Parameters
    ----------
    plain : PrivacyCurve
        Without the noise, with the words for the assumption with it.
    width : Fraction
        What one entry changes at most.
    step : float
        The distance between answers.
    noise : LogConcaveNoise
        Laplace or Gaussian.
    noisy : callable
        Computes the curve; not called where noise is too small for it to matter.
    """
    if noise.scale > _LARGEST_SCALE * width:
        raise InvalidInput(
            f"Expected noise of a scale of at most {_LARGEST_SCALE:g} times what one entry "
            f"changes, {float(width):g}, got {noise.scale:g}."
        )
    alone = noise.delta(plain.epsilon, width)
    if noise.scale > _SMALLEST_SCALE * step:
        curve = noisy()
        lower = curve.lower
    else:
        curve = plain
        # The nearest answer is the true one, or the noise is above half a step.
        beyond = float(noise.log_tail(0.5 * step)) + math.log(2) + 1e-9
        missed = np.exp(np.minimum(beyond + plain.epsilon, 700.0)) + math.exp(beyond)
        lower = np.maximum(plain.lower - missed, 0.0)
    delta = np.minimum(np.minimum(curve.delta, plain.delta), alone)
    return bounded_curve(
        plain.epsilon,
        lower,
        delta,
        plain.assumption,
        pairs=curve.pairs,
        directions={name: np.minimum(each, delta) for name, each in curve.directions.items()},
    )


def trapezoid(
    law: SumLaw,
    shift: int,
    step: float,
    noise: LogConcaveNoise,
    epsilon: FloatArray,
    *,
    every: bool,
) -> Bounds:
    """Return bounds on the divergence of a noisy sum and of the same `shift` steps further up.

    With `every`, the envelope over all shifts up to `shift` is taken. Errors are multiplied by
    `e^epsilon`, so that bounds at smaller epsilons may be closer; these are asked for, too.
    """
    value, wrong = _by_trapezoid(law, shift, step, noise, epsilon, every)
    if (wrong <= _SMALL_ERROR * value).all():
        return value - wrong, value + wrong
    ladder = np.unique(np.concatenate([epsilon, _LADDER[epsilon[-1] > _LADDER]]))
    value, wrong = _by_trapezoid(law, shift, step, noise, ladder, every)
    high = np.minimum.accumulate(np.minimum(value + wrong, 1.0))
    asked = np.isin(ladder, epsilon)
    return np.maximum(value - wrong, 0.0)[asked], high[asked]


def _by_trapezoid(
    law: SumLaw, shift: int, step: float, noise: LogConcaveNoise, epsilon: FloatArray, every: bool
) -> tuple[FloatArray, FloatArray]:
    """Return divergences, and by how much they can be wrong."""
    from scipy.signal import fftconvolve

    least, most = np.exp(law.low), np.exp(law.high)
    mass = (least + most) / 2
    # Of what is not known about the sum, all may be where it hurts.
    unknown = float((most - least).sum()) / 2 + law.outside
    low, high = noise.reach(1e-18)
    span = (len(mass) + shift) * step + (high - low)
    if span > _LARGEST_GRID * step:
        raise InvalidInput(
            f"Expected noise of a smaller scale than {noise.scale:g}: the answers reach over more "
            f"than {_LARGEST_GRID:,} steps of {step:g}."
        )
    wanted = max(500 * step / noise.scale, _USUAL_GRID * step / span)
    divisions = max(1, math.floor(min(wanted, _LARGEST_GRID * step / span)))
    width = step / divisions
    spread = np.zeros((len(mass) - 1) * divisions + 1)
    spread[::divisions] = mass
    reach = math.ceil(high / width)
    bell = noise.pdf(width * np.arange(-reach, reach + 1))
    density = np.maximum(fftconvolve(spread, bell), 0.0)
    if every:
        value = envelope(density, shift * divisions, epsilon) * width
    else:
        value = hockey_stick(*shifted(density, shift * divisions), epsilon) * width
    grow = 1 + np.exp(np.minimum(epsilon, 700.0))
    # Three transforms, each wrong by some units in every layer, relative to all of what it holds.
    layers = 3 * 6 * _UNIT * math.log2(len(density))
    rounding = layers * float(np.linalg.norm(spread) * np.linalg.norm(bell)) * span + 2e-15
    return value, grow * (width**2 / 4 * noise.bend + rounding + unknown)
