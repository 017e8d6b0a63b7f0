"""Noise distributions, with what exact computation needs of them and how to draw them.

The Gaussian mechanism, calibrated exactly for every epsilon and delta.

With noise of standard deviation `s` on a query of L2 sensitivity `D` the mechanism is
(epsilon, delta)-DP exactly for `delta >= N(D/2s - epsilon s/D) - e^epsilon N(-D/2s - epsilon s/D)`,
where `N` is the normal distribution function (Balle and Wang 2018, Theorem 8).

Noise that is added with a scale of its own to each answer, and what it costs on average.

Where the scale depends on the data, every sample has another one, so scales are arrays here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.guarantee import Guarantee, require_guarantee

Kind = Literal["laplace", "exponential", "gaussian", "gumbel"]

_EULER_GAMMA = 0.5772156649015329


@dataclass(frozen=True)
class Noise:
    """Noise of one of four kinds: the scale is the standard deviation only of the Gaussian.

    Drawing is for studying errors. A release needs samplers that are safe in floating point.

    Examples
    --------
    >>> float(Noise("laplace", 2.0).cdf(0.0)), Noise("laplace", 2.0).variance
    (0.5, 8.0)
    """

    kind: Kind
    scale: float

    def __post_init__(self) -> None:
        if not (0 < self.scale < np.inf):
            raise InvalidInput(
                f"Expected noise of a positive and finite scale, got {self.scale:g}: "
                "epsilon must be above 0 and the bounds must leave something to protect."
            )

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return the probability of at most `x`."""
        z = as_array(x) / self.scale
        with np.errstate(over="ignore", under="ignore"):
            if self.kind == "laplace":
                half = 0.5 * np.exp(-np.abs(z))
                return np.where(z < 0, half, 1 - half)
            if self.kind == "exponential":
                return -np.expm1(-np.maximum(z, 0))
            if self.kind == "gumbel":
                return np.exp(-np.exp(-z))
            from scipy.special import ndtr

            return as_array(ndtr(z))

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Return the density at `x`."""
        z = as_array(x) / self.scale
        with np.errstate(over="ignore", under="ignore"):
            if self.kind == "laplace":
                density = 0.5 * np.exp(-np.abs(z))
            elif self.kind == "exponential":
                density = np.where(z >= 0, np.exp(-np.maximum(z, 0)), 0.0)
            elif self.kind == "gumbel":
                density = np.exp(-z - np.exp(-z))
            else:
                density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
        return density / self.scale

    def characteristic(self, frequency: ArrayLike) -> FloatArray:
        """Return the characteristic function of symmetric noise, which is real."""
        y = as_array(frequency) * self.scale
        if self.kind == "laplace":
            return 1 / (1 + y**2)
        if self.kind == "gaussian":
            return np.exp(-0.5 * y**2)
        raise InvalidInput(f"The characteristic function of {self.kind} noise is not real.")

    @property
    def variance(self) -> float:
        """The variance."""
        factor = {"laplace": 2.0, "exponential": 1.0, "gaussian": 1.0, "gumbel": np.pi**2 / 6}
        return factor[self.kind] * self.scale**2

    def reach(self, tail: float = 1e-16) -> tuple[float, float]:
        """Return an interval outside of which there is less probability than about `tail`."""
        distance = -float(np.log(tail))
        lower, upper = {
            "laplace": (-distance, distance),
            "exponential": (0.0, distance),
            "gumbel": (-float(np.log(distance)), distance),
            "gaussian": (-np.sqrt(2 * distance), np.sqrt(2 * distance)),
        }[self.kind]
        return lower * self.scale, upper * self.scale

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""
        if self.kind == "laplace":
            return rng.laplace(0.0, self.scale, shape)
        if self.kind == "exponential":
            return rng.exponential(self.scale, shape)
        if self.kind == "gaussian":
            return rng.normal(0.0, self.scale, shape)
        return rng.gumbel(0.0, self.scale, shape)

    def draw_largest(
        self, rng: np.random.Generator, count: int, shape: tuple[int, ...]
    ) -> FloatArray:
        """Return independent draws of the largest of `count` noises, without drawing them all."""
        # ln U / count is the logarithm of the distribution function at the largest of them.
        log_level = np.log(rng.uniform(size=shape)) / count
        upper_tail = -np.expm1(log_level)
        if self.kind == "laplace":
            low = log_level < -np.log(2)
            deep = np.log(2) + log_level
            high = -np.log(2 * np.where(low, 0.5, upper_tail))
            return as_array(np.where(low, deep, high) * self.scale)
        if self.kind == "exponential":
            return as_array(-np.log(upper_tail) * self.scale)
        if self.kind == "gumbel":
            return as_array(-np.log(-log_level) * self.scale)
        from scipy.special import ndtri

        return as_array(-ndtri(upper_tail)) * self.scale


def calibrated_scale(
    kind: Literal["laplace", "gaussian"], guarantee: Guarantee, sensitivity: float
) -> float:
    """Return the scale of the noise that gives the guarantee to a number of this sensitivity.

    Raises
    ------
    InvalidInput
        If Laplace noise would need epsilon > 0, or Gaussian noise delta > 0.

    Examples
    --------
    >>> calibrated_scale("laplace", Guarantee(0.5), 3.0)
    6.0
    """
    if kind == "gaussian":
        return gaussian_scale(guarantee, sensitivity)
    if guarantee.epsilon == 0:
        raise InvalidInput("Laplace noise needs epsilon > 0.")
    return sensitivity / guarantee.epsilon


def gaussian_delta(scale: float, sensitivity: float, epsilon: float) -> float:
    """Return the smallest delta of Gaussian noise of this scale.

    Examples
    --------
    >>> round(gaussian_delta(scale=1.0, sensitivity=1.0, epsilon=1.0), 9)
    0.126936738
    """
    from scipy.special import log_ndtr, ndtr

    width = sensitivity / scale
    start = epsilon / width - width / 2
    if start < -5:
        return float(ndtr(-start) - math.exp(epsilon + float(log_ndtr(-start - width))))
    # The normal density at `start`, times the fall of Mills' ratio R over the width. Where that is
    # a small difference, it is taken as the integral of 1 - u R(u), which keeps its digits.
    if width > 1:
        ends = _mills_ratio(np.array([start, start + width]))
        fall = float(ends[0] - ends[1])
    else:
        points, weights = _legendre()
        u = start + width * (points + 1) / 2
        fall = width / 2 * float((weights * (1 - u * _mills_ratio(u))).sum())
    return math.exp(-0.5 * start**2) / math.sqrt(2 * math.pi) * fall


def _mills_ratio(u: FloatArray) -> FloatArray:
    from scipy.special import erfcx

    return as_array(math.sqrt(math.pi / 2) * erfcx(u / math.sqrt(2)))


@cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    points, weights = np.polynomial.legendre.leggauss(20)
    return points, weights


def gaussian_scale(guarantee: Guarantee, sensitivity: float) -> float:
    """Return the smallest standard deviation that gives the guarantee.

    Raises
    ------
    InvalidInput
        If delta is 0, which no Gaussian noise reaches, or nothing needs protection.

    Examples
    --------
    >>> round(gaussian_scale(Guarantee(0.25, 32561**-2), sensitivity=1.0), 7)
    20.8250839
    """
    from scipy.optimize import brentq

    require_guarantee(guarantee)
    sensitivity = _validate.finite("sensitivity", sensitivity)
    if guarantee.delta == 0:
        raise InvalidInput("Gaussian noise needs delta > 0; use Laplace noise for delta = 0.")
    if sensitivity <= 0:
        raise InvalidInput(f"Expected sensitivity={sensitivity:g} to be above 0.")

    def excess(log_ratio: float) -> float:
        delta = gaussian_delta(math.exp(log_ratio), 1.0, guarantee.epsilon)
        return math.log(max(delta, 5e-324)) - math.log(guarantee.delta)

    lower = upper = 0.0
    while excess(lower) < 0:
        lower -= 1.0
    while excess(upper) > 0:
        upper += 1.0
    ratio = math.exp(float(brentq(excess, lower, upper, xtol=1e-15, rtol=1e-15, maxiter=500)))
    # The last digits of delta are not sure; they must not cost privacy.
    return ratio * (1 + 1e-12) * sensitivity


UnitKind = Literal["laplace", "gaussian", "student"]


@dataclass(frozen=True)
class UnitNoise:
    """Symmetric noise of scale 1: Laplace, Gaussian, or Student's t.

    Examples
    --------
    >>> UnitNoise("laplace").variance, UnitNoise("student", 4).variance
    (2.0, 2.0)
    """

    kind: UnitKind
    degrees: int | None = None

    def __post_init__(self) -> None:
        if self.kind == "student":
            degrees = _validate.positive_integer("degrees", self.degrees or 0)
            if degrees < 3:
                raise InvalidInput(
                    f"Expected degrees={degrees} of at least 3; the variance is infinite else."
                )

    def __repr__(self) -> str:
        shown = f", degrees={self.degrees}" if self.kind == "student" else ""
        return f"UnitNoise(kind={self.kind!r}{shown})"

    @property
    def variance(self) -> float:
        """The variance at scale 1."""
        if self.kind == "student":
            assert self.degrees is not None
            return self.degrees / (self.degrees - 2)
        return 2.0 if self.kind == "laplace" else 1.0

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Return the density at scale 1."""
        z = as_array(x)
        if self.kind == "laplace":
            return as_array(0.5 * np.exp(-np.abs(z)))
        if self.kind == "gaussian":
            return as_array(np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))
        d = self.degrees or 0
        constant = math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2)) / math.sqrt(d * math.pi)
        return as_array(constant * (1 + z**2 / d) ** (-(d + 1) / 2))

    def absolute(self, center: ArrayLike, scale: ArrayLike) -> FloatArray:
        """Return the expected absolute value of `center + scale * noise`.

        Examples
        --------
        >>> UnitNoise("laplace").absolute([0.0, 3.0, 3.0], [2.0, 2.0, 0.0])
        array([2.        , 3.44626032, 3.        ])
        """
        center, scale = np.abs(as_array(center)), as_array(scale)
        # Without noise to speak of nothing is added; a scale of 1 there avoids 0/0 and overflow.
        felt = (scale > 0) & (center <= 1e100 * scale)
        safe = np.where(felt, scale, 1.0)
        center_of_felt = np.where(felt, center, 0.0)
        z = center_of_felt / safe
        if self.kind == "laplace":
            added = safe * np.exp(-z)
        elif self.kind == "gaussian":
            from scipy.special import ndtr

            added = 2 * (safe * self.pdf(z) - center_of_felt * ndtr(-z))
        else:
            from scipy.special import stdtr

            d = self.degrees or 0
            beyond = self.pdf(z) * (d + z**2) / (d - 1)
            added = 2 * (safe * beyond - center_of_felt * stdtr(d, -z))
        return as_array(center + np.where(felt, added, 0.0))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws at scale 1."""
        if self.kind == "laplace":
            return rng.laplace(size=shape)
        if self.kind == "gaussian":
            return rng.normal(size=shape)
        return rng.standard_t(self.degrees or 0, size=shape)
