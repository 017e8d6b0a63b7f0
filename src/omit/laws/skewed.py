"""Skewed laws of noise: for scores, of which the largest with its noise is reported."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from omit._numeric import FloatArray, as_array, at_most
from omit.guarantee import Guarantee
from omit.laws.base import Noise

_EULER_GAMMA = 0.5772156649015329
_UNIT = 2.0**-53


class Exponential(Noise):
    """Density `e^(-x/b) / b` for `x >= 0`, `b` the scale.

    Added to scores of which the largest is reported, the scale `2 linf / epsilon` is epsilon-DP.

    References
    ----------
    Ding, Kifer, Saghaian N. E., Steinke, Wang, Xiao and Zhang, "The permute-and-flip mechanism is
    identical to report-noisy-max with exponential noise", 2021.
    """

    name: ClassVar[str] = "exponential"
    has_kinks: ClassVar[bool] = True
    is_symmetric: ClassVar[bool] = False
    largest_tilt: ClassVar[float] = 1.0

    @classmethod
    def _calibrated(cls, guarantee: Guarantee, l1: float, l2: float, linf: float) -> Self:
        return cls._pure(guarantee, 2 * linf)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return the probability of at most `x`."""
        with np.errstate(over="ignore", under="ignore"):
            return as_array(-np.expm1(-np.maximum(as_array(x) / self.scale, 0)))

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Return the density at `x`."""
        z = as_array(x) / self.scale
        with np.errstate(over="ignore", under="ignore"):
            return np.where(z >= 0, np.exp(-np.maximum(z, 0)), 0.0) / self.scale

    def log_tail(self, x: ArrayLike) -> FloatArray:
        """Return the logarithm of the probability of more than `x`."""
        return as_array(-np.maximum(as_array(x) / self.scale, 0.0))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""
        return rng.exponential(self.scale, shape)

    def _quantile(self, log_level: FloatArray, upper_tail: FloatArray) -> FloatArray:
        return as_array(-np.log(upper_tail))

    @property
    def mean(self) -> float:
        """The scale."""
        return self.scale

    @property
    def variance(self) -> float:
        """`b^2`."""
        return self.scale**2

    def mean_distance(self, center: ArrayLike, factor: ArrayLike = 1.0) -> FloatArray:
        """Return the mean of `|center + factor Z|`."""
        center, scale = as_array(center), as_array(factor) * self.scale
        below = np.minimum(center, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            turned = np.where(scale > 0, 2 * scale * np.exp(below / scale) - 2 * scale, 0.0)
        return as_array(np.abs(center) + scale + np.where(center < 0, turned, 0.0))

    def half_width(self, rarity: float) -> float:
        """Return `rarity` scales."""
        return rarity * self.scale

    def reach(self, tail: float = 1e-16) -> tuple[float, float]:
        """Return an interval outside of which there is less probability than about `tail`."""
        return 0.0, self.half_width(-float(np.log(tail)))

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return the hockey-stick divergence of `Z + shift` from `Z`, rounded up.

        Moved downward, what lies below 0 gives the shift away.
        """
        loss = float(Fraction(shift) / Fraction(self.scale))
        epsilons = as_array(epsilon) if loss > 0 else np.zeros_like(as_array(epsilon))
        left = np.maximum(abs(loss) * (1 + 2 * _UNIT) - epsilons, 0.0)
        return np.minimum(at_most(-np.expm1(-left), 1e-15), 1.0)


class Gumbel(Noise):
    """Distribution function `e^(-e^(-x/b))`, `b` the scale.

    To report the largest score with this noise is the exponential mechanism, epsilon-DP with the
    scale `2 linf / epsilon`.
    """

    name: ClassVar[str] = "gumbel"
    is_symmetric: ClassVar[bool] = False
    largest_tilt: ClassVar[float] = 1.0

    @classmethod
    def _calibrated(cls, guarantee: Guarantee, l1: float, l2: float, linf: float) -> Self:
        return cls._pure(guarantee, 2 * linf)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return the probability of at most `x`."""
        with np.errstate(over="ignore", under="ignore"):
            return as_array(np.exp(-np.exp(-(as_array(x) / self.scale))))

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Return the density at `x`."""
        z = as_array(x) / self.scale
        with np.errstate(over="ignore", under="ignore"):
            return as_array(np.exp(-z - np.exp(-z)) / self.scale)

    def tail(self, x: ArrayLike) -> FloatArray:
        """Return the probability of more than `x`, to its last digits."""
        with np.errstate(over="ignore"):
            return as_array(-np.expm1(-np.exp(-as_array(x) / self.scale)))

    def log_tail(self, x: ArrayLike) -> FloatArray:
        """Return the logarithm of the probability of more than `x`."""
        z = as_array(x) / self.scale
        # Far out the tail is e^-z, to the last digit.
        return np.where(z > 40, -z, np.log(self.tail(np.minimum(z, 40.0) * self.scale)))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""
        return rng.gumbel(0.0, self.scale, shape)

    def _quantile(self, log_level: FloatArray, upper_tail: FloatArray) -> FloatArray:
        return as_array(-np.log(-log_level))

    @property
    def mean(self) -> float:
        """Euler's constant times the scale."""
        return _EULER_GAMMA * self.scale

    @property
    def variance(self) -> float:
        """`(pi b)^2 / 6`."""
        return np.pi**2 / 6 * self.scale**2

    def mean_distance(self, center: ArrayLike, factor: ArrayLike = 1.0) -> FloatArray:
        """Return the mean of `|center + factor Z|`.

        The part of `Z` above `x` is `E1(u) + ln u + gamma` scales on average, with `u = e^(-x/b)`.
        """
        from scipy.special import exp1

        center, scale = as_array(center), as_array(factor) * self.scale
        felt = (scale > 0) & (np.abs(center) <= 700 * scale)
        z = np.where(felt, center, 0.0) / np.where(felt, scale, 1.0)
        above = exp1(np.exp(z)) + z + _EULER_GAMMA
        return as_array(
            np.where(
                felt, scale * (2 * above - z - _EULER_GAMMA), np.abs(center + _EULER_GAMMA * scale)
            )
        )

    def reach(self, tail: float = 1e-16) -> tuple[float, float]:
        """Return an interval outside of which there is less probability than about `tail`."""
        distance = -float(np.log(tail))
        return -float(np.log(distance)) * self.scale, distance * self.scale

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return the hockey-stick divergence of `Z + shift` from `Z`, rounded up.

        With `u = e^(-x/b)` and `a = e^(shift/b)` the ratio of the densities is `a e^(-u (a - 1))`,
        above `e^epsilon` on one side of `u = (shift/b - epsilon) / (a - 1)`.
        """
        epsilons = np.minimum(as_array(epsilon), 700.0)
        loss = min(float(Fraction(shift) / Fraction(self.scale)), 700.0)
        growth = math.exp(loss)
        edge = np.maximum((loss - epsilons) / math.expm1(loss), 0.0) if loss else 0 * epsilons
        if loss > 0:
            first, second = -np.expm1(-growth * edge), -np.expm1(-edge)
        else:
            first, second = np.exp(-growth * edge), np.exp(-edge)
        grown = np.exp(epsilons) * second
        left = np.where((edge > 0) & (first > grown), first - grown + 16 * _UNIT * first, 0.0)
        return np.minimum(at_most(left, 1e-15), 1.0)
