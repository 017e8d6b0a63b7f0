"""Noise that is added to an answer, on top of the uncertainty about the data.

*Discrete* noise lives on the lattice of the answers and joins the sum as one more entry.
*Continuous* noise turns the probabilities `f(s)` of the answers into the density `sum f(s) g(a -
s)`:

- If `f` is log-concave, so is the noise, and the ratio of the densities for two values of the
  entry rises with `a` (a posterior mean of a rising function of `s`). The best test is a
  half-line, its end is found by bisection, and tail probabilities give delta.
- For any `f` the positive part is integrated by the trapezoidal rule with step `h`. As `max(0, x)`
  is convex, the rule can be too small only by as much as the integrand differs from its chords,
  which is at most `h^2 / 8` times the integral of the absolute second derivative. It can be too
  large by as much again where the sign changes. Twice that is stated as error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.mechanisms.noise import Noise
from omit.statistical.hockey import envelope, hockey_stick, shifted
from omit.statistical.lattice import Part

_DEEPEST = 760.0
_LARGEST_GRID = 2**21
_USUAL_GRID = 2**17
# Of the tail probabilities that delta is the difference of, relative to them: what the logarithms
# of binomial probabilities are wrong by at 10^8 entries, far out, with a margin.
_TAIL_ERROR = 3e-11
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
        places = np.arange(-reach, reach + 1)
        weights = np.exp(-0.5 * (places / self.scale) ** 2)
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


def half_line(
    log_mass: FloatArray, shift: float, step: float, noise: Noise, epsilon: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the divergence of the shifted noisy answer from the unshifted, and its error.

    For a log-concave distribution of answers. Where Laplace noise alone is enough, both are 0.

    Parameters
    ----------
    log_mass : array
        Logarithms of the probabilities of the answers `0, step, 2 step, ...`.
    shift : float
        By how much the entry's first value moves the answer upward against its second.
    step : float
        Distance between answers.
    noise : Noise
        Laplace or Gaussian.
    epsilon : array
        At which to evaluate.
    """
    from scipy.optimize import brentq

    places = as_array(step * np.arange(len(log_mass)))
    last = float(places[-1])

    def log_ratio(at: float) -> float:
        upper = _log_sum(log_mass + _log_density(noise, at - places - shift))
        return upper - _log_sum(log_mass + _log_density(noise, at - places))

    result, error = np.zeros(len(epsilon)), np.zeros(len(epsilon))
    for index, each in enumerate(epsilon):
        if noise.kind == "laplace":
            # Beyond the last answer the ratio is e^(shift / scale), and nowhere is it larger.
            if each >= shift / noise.scale:
                continue
            end = last + shift
        else:
            end = last + shift + noise.scale**2 * each / shift
        # At half the shift no answer speaks for the larger value yet.
        at = shift / 2
        if log_ratio(at) < each:
            at = float(brentq(lambda x, e=each: log_ratio(x) - e, at, end, xtol=1e-13 * (1 + end)))
        up = float(np.exp(log_mass + _log_tail(noise, at - places - shift)).sum())
        still = math.exp(each) * float(np.exp(log_mass + _log_tail(noise, at - places)).sum())
        result[index] = up - still
        error[index] = _TAIL_ERROR * (up + still)
    return np.maximum(result, 0.0), error


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


def _log_density(noise: Noise, x: FloatArray) -> FloatArray:
    z = np.abs(x) / noise.scale
    return -z if noise.kind == "laplace" else -0.5 * z**2


def _log_tail(noise: Noise, x: FloatArray) -> FloatArray:
    """Return the logarithm of the probability that the noise is above `x`."""
    z = x / noise.scale
    if noise.kind == "gaussian":
        from scipy.special import log_ndtr

        return np.asarray(log_ndtr(-z), dtype=np.float64)
    low = np.minimum(z, 0.0)
    return np.where(z < 0, np.log1p(-0.5 * np.exp(low)), -np.maximum(z, 0.0) - math.log(2))


def _log_sum(exponents: FloatArray) -> float:
    largest = float(exponents.max())
    return largest + math.log(float(np.exp(exponents - largest).sum()))
