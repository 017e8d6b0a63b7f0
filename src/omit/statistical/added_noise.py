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
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.mechanisms.noise import Noise
from omit.statistical.guarantee import PrivacyCurve
from omit.statistical.half_line import LARGEST_EPSILON, log_tail
from omit.statistical.hockey import envelope, hockey_stick, shifted
from omit.statistical.lattice import Part

_DEEPEST = 760.0
_LARGEST_GRID = 2**21
_USUAL_GRID = 2**17
# Noise so much larger than what one entry changes leaves nothing to compute with.
_LARGEST_SCALE = 1e9
# Noise so much smaller than the distance between answers hides nothing: the nearest answer is the
# one without noise, up to e^-500.
_SMALLEST_SCALE = 1e-3
_MOST_NOISE_VALUES = 10**7
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
        kept = weights > 0
        return Part(places[kept] - places[kept][0], weights[kept], 1)


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
    width: float,
    step: float,
    noise: Noise,
    noisy: Callable[[], PrivacyCurve],
) -> PrivacyCurve:
    """Return the curve with noise, never above the one without or that of the noise alone.

    Parameters
    ----------
    plain : PrivacyCurve
        Without the noise, with the words for the assumption with it.
    width, step : float
        What one entry changes at most, and the distance between answers.
    noise : Noise
        Laplace or Gaussian.
    noisy : callable
        Computes the curve; not called where noise is too small for it to matter.
    """
    if noise.scale > _LARGEST_SCALE * width:
        raise InvalidInput(
            f"Expected noise of a scale of at most {_LARGEST_SCALE:g} times what one entry "
            f"changes, {width:g}, got {noise.scale:g}."
        )
    alone = noise_alone(width, noise, plain.epsilon)
    if noise.scale > _SMALLEST_SCALE * step:
        curve = noisy()
        delta = np.minimum(np.minimum(curve.delta, plain.delta), alone)
        lower = curve.lower
    else:
        curve, delta = plain, np.minimum(plain.delta, alone)
        # The nearest answer is the true one, or the noise is above half a step.
        beyond = float(log_tail(noise, np.array([0.5 * step]))[0]) + math.log(2)
        missed = np.exp(np.minimum(beyond + plain.epsilon, 700.0)) + math.exp(beyond)
        lower = np.maximum(plain.lower - missed, 0.0)
    return replace(
        curve,
        delta=delta,
        lower=np.minimum(lower, delta),
        directions={name: np.minimum(each, delta) for name, each in curve.directions.items()},
    )


def noise_alone(shift: float, noise: Noise, epsilon: FloatArray) -> FloatArray:
    """Return an upper bound on delta if nothing but the noise is random: differential privacy.

    Examples
    --------
    >>> noise_alone(1.0, Noise("laplace", 1.0), np.array([0.0, 1.0]))
    array([0.39346934, 0.        ])
    """
    ratio = shift / noise.scale
    epsilon = np.minimum(epsilon, LARGEST_EPSILON)
    if noise.kind == "laplace":
        return np.maximum(-np.expm1(np.minimum((epsilon - ratio) / 2, 0.0)), 0.0)
    from scipy.special import log_ndtr

    upper = np.asarray(log_ndtr(ratio / 2 - epsilon / ratio), dtype=np.float64)
    lower = np.asarray(log_ndtr(-ratio / 2 - epsilon / ratio), dtype=np.float64)
    # Logarithms as large as these are wrong by some units in the last place.
    slack = 1e-15 * (1 + np.abs(upper) + np.abs(lower) + epsilon)
    return np.exp(upper) * (-np.expm1(np.minimum(epsilon + lower - upper, 0.0)) + slack)


def show_noise(noise: AddedNoise) -> str:
    """Return noise in words.

    Examples
    --------
    >>> show_noise(added_noise("laplace", 2.0))
    'laplace noise of scale 2'
    """
    kind = "discrete Gaussian" if isinstance(noise, DiscreteGaussian) else noise.kind
    return f"{kind} noise of scale {noise.scale:g}"


def trapezoid(
    mass: FloatArray, shift: int, step: float, noise: Noise, epsilon: FloatArray, every: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the same for any `mass`, and by how much it can be wrong.

    `shift` is in steps. With `every`, the envelope over all shifts up to `shift` is taken.
    """
    from scipy.signal import fftconvolve

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
    density = np.maximum(fftconvolve(spread, noise.pdf(width * np.arange(-reach, reach + 1))), 0.0)
    if every:
        value = envelope(density, shift * divisions, epsilon) * width
    else:
        value = hockey_stick(*shifted(density, shift * divisions), epsilon) * width
    # Integral of |g''|: 4 phi(1) / scale^2 for the Gaussian; for Laplace 1 and the kink's 1.
    bend = (2.0 if noise.kind == "laplace" else 4 * math.exp(-0.5) / math.sqrt(2 * math.pi)) / (
        noise.scale**2
    )
    grow = 1 + np.exp(np.minimum(epsilon, 700.0))
    rounding = 1e-14 * float(density.max()) * span + 1e-17
    return value, grow * (width**2 / 4 * bend + rounding)
