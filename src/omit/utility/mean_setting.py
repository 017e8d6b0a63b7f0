"""The noisy mean as a sign: what decides it, and closed forms where that is the noise.

As long as the noisy count `N + Z₂` is positive, the noisy mean exceeds `t` exactly when

    W = Σ_v (v − t) Bin(n_v, k_v) + Z₁ − t Z₂ > 0.

Without omission the two noises have a closed form. So they have, with a factor for the data, where
these cannot reach far enough to change the sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.mechanisms.mean import SMALLEST_COUNT, MeanNoise

# Minus the logarithm of a negligible probability.
_RARITY = 32.0


class NoExactMean(Exception):
    """The formula does not hold here, or its integrals do not converge; the message says why."""


@dataclass(frozen=True)
class MeanSetting:
    """Values, their counts and chances of being kept, the noise, and what the mean is held against.

    With the expected number of records left, their sum, and the variances that follow from these.
    """

    values: FloatArray
    counts: NDArray[np.int64]
    keep: FloatArray
    noise: MeanNoise
    truth: float
    size: float  # expected number of records left
    total: float  # expected sum of their values
    center: float
    data_variance: float  # of S - center N
    noise_variance: float  # of Z1 - center Z2

    @classmethod
    def of(
        cls,
        values: FloatArray,
        counts: NDArray[np.int64],
        keep: FloatArray,
        noise: MeanNoise,
        truth: float,
    ) -> Self:
        """Return the setting with its moments, or refuse one in which nothing can be told."""
        left = counts * keep
        size, total = float(left.sum()), float((left * values).sum())
        if size <= 0:
            raise NoExactMean("no record is left")
        center = total / size
        data = float((left * (1 - keep) * (values - center) ** 2).sum())
        if data == 0 and (left * (1 - keep)).any():
            raise NoExactMean("all records that may be left out have the same value")
        count_variance = noise.count.variance if noise.count is not None else 0.0
        return cls(
            values,
            counts,
            keep,
            noise,
            truth,
            size,
            total,
            center,
            data,
            noise.total.variance + center**2 * count_variance,
        )

    def require_large_count(self, tolerance: float) -> None:
        """Refuse if the noisy count can be below 1, by Chernoff's bound on that probability."""
        noise = self.noise.count
        if noise is None:
            if (self.keep < 1).any():
                raise NoExactMean("the number of records left is random and has no noise")
            return
        if noise.kind == "laplace":
            tilts = np.linspace(0, 1 / noise.scale, 202)[1:-1]
            log_noise = -np.log1p(-((tilts * noise.scale) ** 2))
        else:
            tilts = np.geomspace(1e-3, 1e2, 200) / noise.scale
            log_noise = 0.5 * (tilts * noise.scale) ** 2
        shrink = self.keep[:, None] * np.expm1(-tilts)
        with np.errstate(divide="ignore"):
            log_count = (self.counts[:, None] * np.log1p(shrink)).sum(axis=0)
        log_probability = float((SMALLEST_COUNT * tilts + log_noise + log_count).min())
        # What such a rare event can add to the expected error, against what is expected anyway.
        harm = np.abs(self.values).max() * self.counts.sum() + 100 * self.noise.total.scale
        scale = math.sqrt(self.data_variance + self.noise_variance) / self.size
        if log_probability + math.log(harm / scale) > math.log(tolerance / 10):
            probability = math.exp(min(log_probability, 0.0))
            raise NoExactMean(
                f"the noisy count falls below 1 with probability up to {probability:.2g}"
            )

    def _reaches(self, t: FloatArray, scale: FloatArray) -> NDArray[np.bool_]:
        """Tell where `S - t N` can make up for the noise, if deviations are weighted by it.

        By Bernstein's inequality, but for a negligible part. Weights that grow by the exponential
        of the deviation over the scale of the noise move its mean by the variance over the scale.
        """
        strays, variance = self._strays(t)
        return np.abs(t * self.size - self.total) * scale <= strays * scale + variance

    def _strays(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far `S - t N` strays from its mean, and its variance."""
        spread = self.counts * self.keep * (1 - self.keep)
        first, second = float((spread * self.values).sum()), float((spread * self.values**2).sum())
        variance = second - 2 * t * first + t**2 * float(spread.sum())
        third = _RARITY / 3 * np.maximum(np.abs(self.values[0] - t), np.abs(self.values[-1] - t))
        return third + np.sqrt(third**2 + 2 * _RARITY * variance), variance

    def _scales(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the scales of `Z1` and of `t Z2`."""
        first = np.full_like(t, self.noise.total.scale)
        second = np.abs(t) * (self.noise.count.scale if self.noise.count is not None else 0.0)
        # Closed forms divide by the difference of the scales; this near, they cannot be told apart.
        return first, np.where(np.abs(second - first) < 1e-6 * first, first * (1 - 1e-6), second)

    def _decided_by_noise(self, t: FloatArray) -> NDArray[np.bool_]:
        """Tell where the data alone cannot change the sign, so that tails are exponential."""
        first, second = self._scales(t)
        # A narrow second noise cannot reach so far either, and drops out.
        dropped = np.abs(t * self.size - self.total) > self._strays(t)[0] + _RARITY * second
        return ~self._reaches(t, first) & (~self._reaches(t, second) | dropped)

    def _by_exponential_tails(self, t: FloatArray) -> FloatArray:
        """Return `P(T > t)` where only the noise can decide, by moments of the data."""
        x = t * self.size - self.total
        first, second = self._scales(t)
        weights = []
        for scale in (first, second):
            used = (scale > 0) & ~self._reaches(t, scale)
            possible = np.where(used, scale, 1.0)[:, None]
            steps = np.where(used[:, None], np.sign(x)[:, None] * (self.values - t[:, None]), 0.0)
            grown = self.keep * np.expm1(steps / possible)
            log_moment = (self.counts * np.log1p(grown)).sum(axis=1)
            weights.append(np.where(used, scale**2 * np.exp(log_moment), 0.0))
        tail = 0.5 * (weights[0] - weights[1]) / (first**2 - second**2)
        return np.where(x > 0, tail, 1 - tail)


def noise_above(noise: MeanNoise, t: FloatArray, x: FloatArray) -> FloatArray:
    """Return `P(Z1 - t Z2 > x)` in closed form."""
    first = noise.total.scale
    second = np.abs(t) * (noise.count.scale if noise.count is not None else 0.0)
    if noise.total.kind == "gaussian":
        from scipy.special import ndtr

        return as_array(ndtr(-x / np.hypot(first, second)))
    distance = np.abs(x)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        outer = first**2 * np.exp(-distance / first)
        inner = np.where(second > 0, second**2 * np.exp(-distance / second), 0.0)
        apart = 0.5 * (outer - inner) / (first**2 - second**2)
    # The formula divides by nothing where both scales agree; this is its limit, to first order.
    alike = 0.5 * np.exp(-distance / first) * (1 + distance / (2 * first))
    upper = np.where(np.abs(first - second) < 1e-7 * first, alike, apart)
    return np.where(x >= 0, upper, 1 - upper)
