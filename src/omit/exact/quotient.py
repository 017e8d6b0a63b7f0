"""What engines ask of a noisy mean, whatever its noise is made of.

Let S be the sum and C the number of the records left, and x an answer. All noisy means here are a
noisy sum A over a noisy count Y, clamped at 1, and as long as `Y ≥ 1`

    T > x    exactly when    W_x = A - x Y = S - x C + noise > 0,

where the noise is a sum of two independent ones of the same law, whose scales may depend on x.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from omit._numeric import FloatArray, as_array
from omit.laws.noise import LogConcaveNoise

# A count cannot be smaller, and a quotient by less has no finite mean: post-processing, so free.
SMALLEST_COUNT = 1.0


class Quotient(ABC):
    """A noisy sum over a noisy count: what answers are, and what is known of their noise."""

    total: LogConcaveNoise
    """The noise of the sum."""
    bounds: tuple[float, float] | None
    """Of the answers; None where these are not clipped."""
    origin: float
    """What is subtracted from every value before it is summed, and added to the answer."""

    @abstractmethod
    def distances(
        self, sums: ArrayLike, sizes: ArrayLike, truth: float, fine: bool = True
    ) -> FloatArray:
        """Return the expected distance of the answer from the truth, which is less the origin.

        With `fine`, small distances keep their digits, which takes longer where counts are large;
        otherwise they are sure to 1e-14 of the values only.
        """

    @abstractmethod
    def above(self, sums: ArrayLike, sizes: ArrayLike, x: float) -> FloatArray:
        """Return the probability that the answer is above `x`, which is less the origin."""

    @abstractmethod
    def draw(self, sums: FloatArray, sizes: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return one answer, less the origin, for each sum and number of records."""

    @property
    @abstractmethod
    def smoothing(self) -> LogConcaveNoise:
        """Noise of the sum given the noisy count, or one that is no smoother.

        That is: the characteristic function of the noise given the count is at most that of this.
        """

    @property
    @abstractmethod
    def by_rules(self) -> bool:
        """Whether noise is integrated out by rules, which takes several times as long as formulas.

        That is for most of the sums and numbers; some always need rules.
        """

    @property
    def bounds_echoes(self) -> bool:
        """Whether an inversion has only the first frequencies of values on a lattice.

        The others are bounded then. Otherwise all that are not faint are added up, and where these
        are too many, formulas go through the sums that can be left.
        """
        return False

    @property
    def certain_beyond(self) -> float:
        """The size of `S - t C` from which on there are formulas all the same."""
        return math.inf

    @property
    @abstractmethod
    def count_scale(self) -> float | None:
        """The scale of the noise of the count; None where the count is public."""

    @property
    @abstractmethod
    def count_variance(self) -> float:
        """The variance of the noise of the count; 0 where the count is public."""

    @abstractmethod
    def count_log_moment(self, tilts: FloatArray) -> FloatArray:
        """Return the logarithm of `E e^(tilt noise)` for the noise of the count."""

    @abstractmethod
    def count_half_width(self, rarity: float) -> float:
        """Return how far from 0 that noise is, but with a probability of about `e^-rarity`."""

    @abstractmethod
    def scales(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the scales of the two noises of `W_x`, for every x."""

    @abstractmethod
    def noise_variance(self, x: float) -> float:
        """Return the variance of the noise of `W_x`."""

    @abstractmethod
    def log_moment(self, tilts: FloatArray, x: float) -> FloatArray:
        """Return the logarithm of `E e^(tilt noise)` for the noise of `W_x`."""

    @abstractmethod
    def half_widths(self, x: float, rarity: float) -> tuple[float, float]:
        """Return how far from 0 the two noises of `W_x` are, but for what is so rare."""

    @abstractmethod
    def steady_characteristic(self, frequencies: FloatArray) -> FloatArray:
        """Return the part of the characteristic function of the noise that all x share."""

    @abstractmethod
    def characteristic_at(self, frequencies: FloatArray, x: FloatArray) -> FloatArray:
        """Return the other part, in one row for each x."""

    @abstractmethod
    def least_scales(self, low: float, high: float) -> tuple[float, float]:
        """Return numbers that the scales are not below, for all x in an interval."""

    @abstractmethod
    def largest_characteristic(
        self, frequencies: FloatArray, low: float, high: float
    ) -> FloatArray:
        """Return the largest `characteristic_at` for all x in an interval."""

    def largest_slope(self, frequencies: FloatArray, low: float, high: float) -> FloatArray:
        """Return a bound on the derivative of `characteristic_at` by x, relative to its value.

        For all x in an interval, where echoes are bounded.
        """
        return np.full_like(frequencies, math.inf)

    def widest_panel(self, x: float) -> float:
        """Return how wide a panel of the tails from x on may be, for the scales' sake."""
        return math.inf

    @property
    def limits(self) -> tuple[float, float]:
        """The bounds of the answers, less the origin."""
        if self.bounds is None:
            return -math.inf, math.inf
        return self.bounds[0] - self.origin, self.bounds[1] - self.origin

    def _answers(self, sums: FloatArray, sizes: FloatArray) -> FloatArray:
        """Return the answer, less the origin, for sums and numbers that have their noise."""
        return as_array(np.clip(sums / np.maximum(sizes, SMALLEST_COUNT), *self.limits))
