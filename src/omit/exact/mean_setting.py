"""What the error of a noisy mean depends on, its moments, and bounds on rare events."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.exact.quotient import Quotient
from omit.laws.noise import LogConcaveNoise

# Beyond so many values, exponential bounds are on so many bins.
_MANY_VALUES = 1500
_BINS = 1000
# Of convex functions, this part of the arguments is tried first.
_COARSE = 12


class NoExactMean(Exception):
    """There is no exact error within reach; the message says why."""


@dataclass(frozen=True)
class MeanSetting:
    """Values, their counts and chances of being kept, the noise, and what the mean is held against.

    Values and truth are less the origin of the quotient. Records have weights in (0, 1], as shares
    of the largest that one may have: the sum S adds up weights times values, and the number C of
    the records left is the sum of their weights. Without weights all of them are 1.
    """

    values: FloatArray
    counts: NDArray[np.int64]
    keep: FloatArray
    quotient: Quotient
    truth: float
    weights: FloatArray
    size: float  # expected number of records left, or sum of their weights
    center: float  # the expected sum of their values, by this number
    data_variance: float  # of S - center C
    noise_variance: float  # of what is added to it

    @classmethod
    def of(
        cls,
        values: FloatArray,
        counts: NDArray[np.int64],
        keep: FloatArray,
        quotient: Quotient,
        truth: float,
        weights: FloatArray | None = None,
    ) -> Self:
        """Return the setting with its moments, without the values of which nothing is left."""
        weights = np.ones(len(values)) if weights is None else weights
        possible = (keep > 0) & (weights > 0)
        values, counts, keep = values[possible], counts[possible], keep[possible]
        weights = as_array(weights[possible])
        left = counts * keep * weights
        size, total = float(left.sum()), float((left * values).sum())
        center = total / size if size > 0 else 0.0
        data = float((left * (1 - keep) * weights * (values - center) ** 2).sum())
        noise = quotient.noise_variance(center)
        return cls(values, counts, keep, quotient, truth, weights, size, center, data, noise)

    @classmethod
    def of_sample(
        cls,
        values: FloatArray,
        counts: NDArray[np.int64],
        size: int,
        quotient: Quotient,
        truth: float,
        weights: FloatArray | None = None,
    ) -> Self:
        """Return the setting of a sample of fixed size, in which records displace each other."""
        records = int(counts.sum())
        keep = np.full(len(counts), size / records)
        setting = cls.of(values, counts, keep, quotient, truth, weights)
        return replace(setting, data_variance=setting.data_variance * records / (records - 1))

    @cached_property
    def is_weighted(self) -> bool:
        """Whether some weight is not 1."""
        return bool((self.weights != 1).any())

    def steps(self, x: float | None) -> FloatArray:
        """Return what a record of each value adds to `S - x C`; without x, to C."""
        return self.weights if x is None else as_array(self.weights * (self.values - x))

    def variance_of(self, x: float | None) -> float:
        """Return the variance of `S - x C`; without x, of C."""
        return float((self.spread * self.steps(x) ** 2).sum())

    @cached_property
    def spread(self) -> FloatArray:
        """The variance of each count that is left, `n k (1 - k)`."""
        return as_array(self.counts * self.keep * (1 - self.keep))

    @cached_property
    def random_values(self) -> FloatArray:
        """The values of which some records may or may not be left out."""
        return as_array(self.values[self.spread > 0])

    def largest_step(self, x: float) -> float:
        """Return by how much a record that may or may not be left out moves `S - x C`."""
        return float(np.abs(self.steps(x)[self.spread > 0]).max(initial=0.0))

    @property
    def farthest(self) -> float:
        """The largest distance from the truth that an answer can have without noise of the sum."""
        lower, upper = self.limits
        if np.isfinite(lower):
            return max(abs(self.truth - lower), abs(self.truth - upper))
        total = float((np.abs(self.values) * self.weights * self.counts).sum())
        return total + abs(self.truth) + self.quotient.total.scale

    @property
    def count_scale(self) -> float:
        """The scale of the noise of the count, which must not be public."""
        if self.quotient.count_scale is None:
            raise NoExactMean("the number of records left is random and has no noise")
        return self.quotient.count_scale

    @property
    def limits(self) -> tuple[float, float]:
        """What answers are clipped to, less the origin."""
        return self.quotient.limits

    def exact_log_moment(self, tilt: float, x: float) -> float:
        """Return `ln E exp(tilt (S - x C))`, whatever number of values there are."""
        with np.errstate(divide="ignore"):
            out, within = np.log1p(-self.keep), np.log(self.keep)
        return float(self.counts @ np.logaddexp(out, within + tilt * self.steps(x)))

    def log_moment_growth(self, tilt: float, more: float, x: float) -> float:
        """Return by how much `exact_log_moment` grows with the tilt, to all digits."""
        steps = self.steps(x)
        with np.errstate(divide="ignore"):
            odds = np.log(self.keep) - np.log1p(-self.keep) + tilt * steps
        # Under the tilt a record is kept with these probabilities.
        out, within = -np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds)
        turn = more * steps
        growth = np.where(
            np.abs(turn) < 1,
            np.log1p(np.exp(within) * np.expm1(np.clip(turn, -1, 1))),
            np.logaddexp(out, within + turn),
        )
        return float(self.counts @ growth)

    def log_moment(self, tilts: FloatArray, x: float | None = None) -> FloatArray:
        """Return a bound on `ln E exp(tilt (S - x C))` for each tilt; without x, on that of C.

        It is exact unless there are very many steps: these are then moved to the ends of bins.
        """
        alike = x is None and not self.is_weighted
        steps, counts, keep = self._by_chance if alike else self._binned(self.steps(x))
        turns = np.multiply.outer(tilts, steps)
        # ln(1 - k + k e^u) is u⁺ + ln(...), where nothing cancels. Less than e^-700 is too small.
        fall = np.exp(-np.minimum(np.abs(turns), 700.0))
        factors = np.where(turns > 0, (1 - keep) * fall + keep, 1 - keep + keep * fall)
        return as_array((np.maximum(turns, 0.0) + np.log(factors)) @ counts)

    @cached_property
    def _by_chance(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Steps of 1, the number of records with each chance of being kept, and the chances."""
        keep, which = np.unique(self.keep, return_inverse=True)
        return np.ones(len(keep)), as_array(np.bincount(which, self.counts)), as_array(keep)

    def _binned(self, steps: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return steps, counts and chances for exponential bounds.

        `ln(1 - k + k e^(ts))` is convex in s and concave in k, so it only grows if records are
        moved from within a bin to its two ends and keep their mean, and if all of those at one end
        get the mean of their chances.
        """
        smallest, largest = float(steps.min(initial=0.0)), float(steps.max(initial=0.0))
        if len(steps) <= _MANY_VALUES:
            return steps, self.counts.astype(np.float64), self.keep
        ends = np.linspace(smallest, largest, _BINS + 1)
        position = (steps - smallest) / (ends[1] - ends[0])
        left = np.minimum(position.astype(np.int64), _BINS - 1)
        at_right = self.counts * (position - left)
        counts, kept = (
            np.bincount(left, factors * (self.counts - at_right), minlength=_BINS + 1)
            + np.bincount(left + 1, factors * at_right, minlength=_BINS + 1)
            for factors in (np.ones_like(steps), self.keep)
        )
        some = counts > 0
        keep = np.minimum(kept[some] / counts[some], 1.0)
        return as_array(ends[some]), as_array(counts[some]), as_array(keep)

    def count_below(self, limit: float) -> float:
        """Return a bound on the probability that the noisy count is below a limit (Chernoff)."""
        return self._count_beyond(-limit, -1.0, _tilts(self.quotient.total, self.count_scale))

    @cached_property
    def mean_inverse_count(self) -> float:
        """A bound on the mean of 1 over the noisy count, which is clamped at 1."""
        bound, limit = 2 / self.size, self.size / 2
        while limit > 1:
            # Counts below a limit, but above half of it.
            bound += self.count_below(limit) * 2 / limit
            limit /= 2
        return min(bound + self.count_below(1.0), 1.0)

    def count_above(self, limit: float) -> float:
        """Return a bound on the probability that the noisy count is above a limit."""
        tilts = _tilts(self.quotient.total, self.count_scale, float(1 / max(self.size, 1.0)))
        return self._count_beyond(limit, 1.0, tilts)

    def _count_beyond(self, limit: float, sign: float, tilts: FloatArray) -> float:
        def logs(some: FloatArray) -> FloatArray:
            noise = self.quotient.count_log_moment(some)
            return noise + self.log_moment(sign * some) - some * limit

        return math.exp(min(least_of(logs, tilts)[0], 0.0))

    def mean_above(self, t: float) -> tuple[float, float]:
        """Return a bound on `P(W_t > 0)`, and the tilt s of its exponential.

        The bound is `E exp(s W_t)`, for the best of several s.
        """
        return self._mean_beyond(t, 1.0)

    def mean_below(self, t: float) -> tuple[float, float]:
        """Return the same for `P(W_t < 0)`."""
        return self._mean_beyond(t, -1.0)

    def _mean_beyond(self, t: float, sign: float) -> tuple[float, float]:
        quotient = self.quotient
        widest = max(float(scale[0]) for scale in quotient.scales(np.array([t])))
        tilts = _tilts(quotient.total, widest, 1 / max(self.largest_step(t), widest))
        log, best = least_of(
            lambda some: quotient.log_moment(some, t) + self.log_moment(sign * some, t), tilts
        )
        return math.exp(min(log, 0.0)), best


def least_of(
    function: Callable[[FloatArray], FloatArray], arguments: FloatArray
) -> tuple[float, float]:
    """Return the least value of a convex function at some increasing arguments, and which it is at.

    Every twelfth is looked at first, and then those around the best.

    Examples
    --------
    >>> least_of(lambda x: (x - 51) ** 2, np.arange(100.0))
    (0.0, 51.0)
    """
    best = _COARSE * int(np.argmin(function(arguments[::_COARSE])))
    around = arguments[max(best - _COARSE + 1, 0) : best + _COARSE]
    values = function(around)
    return float(values.min()), float(around[np.argmin(values)])


def _tilts(law: LogConcaveNoise, scale: float, smallest: float = 0.0) -> FloatArray:
    """Return exponents to try in an exponential bound, all of which are sound, in order."""
    # No noise has any tilt.
    tilts = _unit_tilts(math.isfinite(law.largest_tilt)) / (scale or 1.0)
    return np.sort(np.append(tilts, smallest) if 0 < smallest < tilts.max() else tilts)


@cache
def _unit_tilts(are_bounded: bool) -> FloatArray:
    """Return exponents to try of noise of scale 1, which must be below 1 or have no bound."""
    if not are_bounded:
        return np.geomspace(1e-4, 1e2, 160)
    # Close to 1, too, where much noise against few records has its best bound.
    tilts = 1 - np.geomspace(1e-6, 1, 80, endpoint=False)
    return np.concatenate([np.geomspace(1e-6, 0.5, 80), tilts])
