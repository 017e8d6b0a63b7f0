"""Noise distributions, with what exact computation needs of them and how to draw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.gaussian import gaussian_scale

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
