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
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from omit._numeric import SMALLEST_POSITIVE, FloatArray, at_most
from omit.errors import InvalidInput
from omit.laws.divergence import Bounds, envelope, hockey_stick, shifted
from omit.laws.half_line import LARGEST_EPSILON, laplace_loss_left, log_tail
from omit.laws.lattice import Part
from omit.laws.noise import Noise
from omit.laws.sums import SumLaw
from omit.statistical.curve import PrivacyCurve, bounded_curve

_DEEPEST = 760.0
# Of e to that power, whose exponent has been rounded three times.
_DEEPEST_ROUNDING = 5e-13
_SMALLEST_WEIGHT = 1e-300
_UNIT = 2.0**-53
_LARGEST_GRID = 2**21
_USUAL_GRID = 2**17
# Noise so much larger than what one entry changes leaves nothing to compute with.
_LARGEST_SCALE = 1e9
# Noise so much smaller than the distance between answers hides nothing: the nearest answer is the
# one without noise, up to e^-500.
_SMALLEST_SCALE = 1e-3
_MOST_NOISE_VALUES = 10**7
# A shift of so many scales of noise is seen with certainty.
_LARGEST_RATIO = Fraction(10**60)
# Epsilons at which bounds whose errors grow are taken besides those that are asked for.
_LADDER = np.concatenate([[0.0], 2.0 ** np.arange(-8, 5)])
_SMALL_ERROR = 1e-2
KINDS = ("laplace", "gaussian", "discrete-gaussian")


@dataclass(frozen=True)
class DiscreteGaussian:
    """Noise `k` steps of the lattice with probability proportional to `exp(-k^2 / (2 scale^2))`.

    The scale is in steps. It is close to the standard deviation, and never below it.

    Examples
    --------
    >>> part = DiscreteGaussian(2.0).part()
    >>> float(round(part.probabilities.max(), 6))
    0.199471
    """

    scale: float

    def __post_init__(self) -> None:
        if not 0 < self.scale < np.inf:
            raise InvalidInput(f"Expected noise of a positive and finite scale, got {self.scale}.")

    def part(self) -> Part:
        """Return the noise as one more entry of a sum, moved to begin at 0."""
        reach = max(1, math.ceil(math.sqrt(2 * _DEEPEST) * self.scale))
        if 2 * reach > _MOST_NOISE_VALUES:
            most = _MOST_NOISE_VALUES / 2 / math.sqrt(2 * _DEEPEST)
            raise InvalidInput(
                f"Expected discrete noise of a scale of at most {most:,.0f} steps, got "
                f"{self.scale:g}; continuous noise may be larger."
            )
        places = np.arange(-reach, reach + 1)
        # Noise below a twentieth of a step has no second value above 1e-87.
        with np.errstate(over="ignore"):
            weights = np.exp(-0.5 * np.square(places / self.scale))
        weights /= weights.sum()
        # Smaller ones have too few digits as floats.
        kept = weights > _SMALLEST_WEIGHT
        missing = math.log(2 * len(weights) * _SMALLEST_WEIGHT)
        places = places[kept] - places[kept][0]
        return Part(places, weights[kept], 1, _DEEPEST_ROUNDING, missing)


AddedNoise: TypeAlias = Noise | DiscreteGaussian


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
    Noise(kind='laplace', scale=2.0)
    """
    if kind not in KINDS:
        raise InvalidInput(f"Expected noise={kind!r} to be one of: {', '.join(KINDS)}.")
    return DiscreteGaussian(scale) if kind == "discrete-gaussian" else Noise(kind, scale)


def require_continuous(noise: Noise) -> None:
    """Refuse noise that is not symmetric and log-concave."""
    if noise.kind not in ("laplace", "gaussian"):
        raise InvalidInput(f"Expected {noise.kind} noise to be one of: {', '.join(KINDS)}.")


def with_noise(
    plain: PrivacyCurve,
    width: Fraction,
    step: float,
    noise: Noise,
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
    noise : Noise
        Laplace or Gaussian.
    noisy : callable
        Computes the curve; not called where noise is too small for it to matter.
    """
    if noise.scale > _LARGEST_SCALE * width:
        raise InvalidInput(
            f"Expected noise of a scale of at most {_LARGEST_SCALE:g} times what one entry "
            f"changes, {float(width):g}, got {noise.scale:g}."
        )
    alone = noise_alone(width, noise, plain.epsilon)
    if noise.scale > _SMALLEST_SCALE * step:
        curve = noisy()
        lower = curve.lower
    else:
        curve = plain
        # The nearest answer is the true one, or the noise is above half a step.
        beyond = float(log_tail(noise, np.array([0.5 * step]))[0]) + math.log(2) + 1e-9
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


def noise_alone(shift: float | Fraction, noise: Noise, epsilon: FloatArray) -> FloatArray:
    """Return an upper bound on delta if nothing but the noise is random: differential privacy.

    Examples
    --------
    >>> noise_alone(1.0, Noise("laplace", 1.0), np.array([0.0, 1.0]))
    array([0.39346934, 0.        ])
    """
    epsilon = np.minimum(epsilon, LARGEST_EPSILON)
    if noise.kind == "laplace":
        left = laplace_loss_left(Fraction(shift), noise, epsilon)
        return np.minimum(at_most(-np.expm1(-left / 2), 1e-15), 1.0)
    ratio = float(min(Fraction(shift) / Fraction(noise.scale), _LARGEST_RATIO))
    upper, up_wrong = _log_ndtr(ratio / 2 - epsilon / ratio, ratio + epsilon / ratio)
    lower, low_wrong = _log_ndtr(-ratio / 2 - epsilon / ratio, ratio + epsilon / ratio)
    apart = epsilon + lower - upper
    apart -= up_wrong + low_wrong + 4 * _UNIT * (epsilon + np.abs(lower) + np.abs(upper))
    delta = np.exp(np.minimum(upper + up_wrong, 0.0)) * -np.expm1(np.minimum(apart, 0.0))
    return delta * (1 + 4 * _UNIT) + SMALLEST_POSITIVE


def _log_ndtr(x: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of the Gaussian distribution function, and by how much it may be wrong.

    `size` is that of the terms of `x`, each of which was rounded a few times.
    """
    from scipy.special import log_ndtr

    value = np.asarray(log_ndtr(x), dtype=np.float64)
    # The derivative: small where x is large, about -x where it is not.
    slope = np.where(x < 0, 1 - x, np.exp(-0.5 * np.clip(x, 0.0, 100.0) ** 2))
    with np.errstate(over="ignore"):
        return value, 4 * _UNIT * (1 + np.abs(value) + size * slope)


def show_noise(noise: AddedNoise) -> str:
    """Return noise in words.

    Examples
    --------
    >>> show_noise(added_noise("laplace", 2.0))
    'laplace noise of scale 2'
    """
    kind = "discrete Gaussian" if isinstance(noise, DiscreteGaussian) else noise.kind
    return f"{kind} noise of scale {noise.scale:.15g}"


def trapezoid(
    law: SumLaw, shift: int, step: float, noise: Noise, epsilon: FloatArray, *, every: bool
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
    law: SumLaw, shift: int, step: float, noise: Noise, epsilon: FloatArray, every: bool
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
    # Integral of |g''|: 4 phi(1) / scale^2 for the Gaussian; for Laplace 1 and the kink's 1.
    bend = (2.0 if noise.kind == "laplace" else 4 * math.exp(-0.5) / math.sqrt(2 * math.pi)) / (
        noise.scale**2
    )
    grow = 1 + np.exp(np.minimum(epsilon, 700.0))
    # Three transforms, each wrong by some units in every layer, relative to all of what it holds.
    layers = 3 * 6 * _UNIT * math.log2(len(density))
    rounding = layers * float(np.linalg.norm(spread) * np.linalg.norm(bell)) * span + 2e-15
    return value, grow * (width**2 / 4 * bend + rounding + unknown)
