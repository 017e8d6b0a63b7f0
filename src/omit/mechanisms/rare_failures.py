"""Intervals for propose-test-release on drawn samples, though one that fails the test is rare.

A sample in which the test fails has an error of another order: the distance of the middle of the
bounds. If one in a thousand samples fails, a few hundred drawn ones often show none, and an
interval that takes their mean to be normal misses. What is known instead, for samples without
replacement and any distance `m`, any value `v` and the width `a` of what the proposal allows:

*Unless* the record `m + 1` ranks below the quantile is below `v`, or the one `m + 1` ranks above it
is beyond `v + a`, the sample is further than `m` from a failing one, and its quantile is between
`v` and `v + a`. The exceptions are tails of a hypergeometric distribution, and these are below
`exp(-n KL)`, as binomial ones (Hoeffding 1963). The same can be said of many places at once, all
of which hold enough records. So all but a share `q` of the samples have errors in a narrow range:
inside it the mean has its interval by betting, and `q` times what an error can be is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from omit._numeric import FloatArray, IntArray, as_array
from omit.data.column import Column
from omit.exact.order import quantile_ranks
from omit.guarantee import Guarantee
from omit.laws.design import Design, FixedSize
from omit.laws.intervals import Interval, bounded_interval
from omit.laws.noise import Laplace
from omit.mechanisms.base import per_cent, require_bounds
from omit.mechanisms.propose_test_release import PreparedTest, ProposeTestRelease

# Distances and places that are tried; any of them is valid.
_DISTANCES = 40
_PLACES = 81
_STEPS = 16
_MOST_PLACES = 20_000
# Samples whose quantile is outside some values count as good as never.
_NEVER = 1e-13
# What betting leaves open where errors hardly vary, in units of their range by the runs.
_OPEN = 4.5


class _Range(NamedTuple):
    """Between what the errors of all but a share of the samples lie."""

    lowest: float
    highest: float
    share: float


def rare_failure_interval(
    prepared: PreparedTest, design: Design, drawn: FloatArray, *, beyond_statistic: bool = False
) -> Interval:
    """Return the mean of the errors of drawn samples, with an interval that holds.

    Parameters
    ----------
    prepared : PreparedTest
        Propose-test-release on its column.
    design : Design
        The law of the samples.
    drawn : array
        The error of each drawn sample, integrated over the noise.
    beyond_statistic : bool
        Whether these are errors less the squared distance of the sample's own quantile.
    """
    mechanism, near = prepared.mechanism, prepared.near
    bounds = require_bounds(near.bounds, mechanism.name)
    factor = 1.0 if mechanism.metric == "squared" else per_cent(prepared.truth)
    errors = _Errors(mechanism, bounds, prepared.promise, near.truth, factor, beyond_statistic)
    everything = errors.within(bounds[0], bounds[1], 0.0)
    best = _Range(*everything, 0.0)
    if isinstance(design, FixedSize):
        ranges = _ranges(near.column, mechanism, bounds, prepared.promise, design.size, errors)
        for found in ranges:
            if _open(found, everything, len(drawn)) < _open(best, everything, len(drawn)):
                best = found
    inside = np.clip(drawn, best.lowest, best.highest)
    interval = bounded_interval(inside, best.lowest, best.highest)
    value = float(drawn.mean())
    low = interval.low - best.share * (best.lowest - everything[0])
    high = interval.high + best.share * (everything[1] - best.highest)
    return Interval(value, min(low, value), max(high, value))


def _open(found: _Range, everything: tuple[float, float], runs: int) -> float:
    """Return about how much an interval with this range leaves open."""
    rare = found.share * (everything[1] - everything[0])
    return rare + (found.highest - found.lowest) * _OPEN / runs


class _Errors:
    """What the error of a sample can be, by its quantile and its chance to pass the test."""

    def __init__(
        self,
        mechanism: ProposeTestRelease,
        bounds: tuple[float, float],
        base: Guarantee,
        truth: float,
        factor: float,
        beyond_statistic: bool,
    ) -> None:
        self.scale = mechanism.noise_scale(bounds, base)
        self.failed = abs(0.5 * (bounds[0] + bounds[1]) - truth)
        self.truth, self.factor, self.beyond_statistic = truth, factor, beyond_statistic
        self.squared = mechanism.metric == "squared"

    def within(self, low: float, high: float, passing: float) -> tuple[float, float]:
        """Return the smallest and the largest error with a quantile and a chance of at least so."""
        nearest = max(low - self.truth, self.truth - high, 0.0)
        farthest = max(abs(low - self.truth), abs(high - self.truth))
        if not self.squared:
            unit = Laplace()
            ends = np.array([nearest, farthest])
            least, most = unit.mean_distance(ends, np.full(2, self.scale)).tolist()
            failed = self.failed
        else:
            least, most = nearest**2 + 2 * self.scale**2, farthest**2 + 2 * self.scale**2
            failed = self.failed**2
            if self.beyond_statistic:
                # The squared distance of the quantile is taken off, passed or not.
                least = most = 2 * self.scale**2
                lowest = passing * least + (1 - passing) * min(least, failed - farthest**2)
                highest = passing * most + (1 - passing) * max(most, failed - nearest**2)
                return lowest, highest
        lowest = passing * least + (1 - passing) * min(least, failed)
        highest = passing * most + (1 - passing) * max(most, failed)
        return self.factor * lowest, self.factor * highest


def _ranges(
    column: Column,
    mechanism: ProposeTestRelease,
    bounds: tuple[float, float],
    base: Guarantee,
    size: int,
    errors: _Errors,
) -> Iterator[_Range]:
    """Yield ranges for several distances, by one place and by many."""
    # The bounds stand beyond the last records.
    values = np.unique(np.concatenate([as_array(column.values), bounds]))
    counts = np.zeros(len(values), dtype=np.int64)
    counts[np.searchsorted(values, as_array(column.values))] = column.counts
    sample = _Sample(values, counts, quantile_ranks(mechanism.quantile, size), size)
    low, high = sample.ranks
    allowed = mechanism.proposal * (bounds[1] - bounds[0]) * (1.0 if low == high else 2.0)
    threshold = mechanism.threshold(base)
    many = sample.many_places(allowed)
    for distance in (np.unique(np.geomspace(1, size, _DISTANCES).astype(int)) - 1).tolist():
        passing = mechanism.passing(distance + 1.0, threshold, base)
        for lowest, highest, share in (
            sample.one_place(distance, allowed, mechanism.truth(column)),
            many(distance),
        ):
            if share < 1:
                yield _Range(*errors.within(lowest, highest, passing), share)


class _Sample(NamedTuple):
    """A sample of some size without replacement, and the two ranks that make its quantile."""

    values: FloatArray
    counts: IntArray
    ranks: tuple[int, int]
    size: int

    def below(self, place: IntArray, rank: int) -> FloatArray:
        """Return bounds of the probability that the record of a rank is below these values."""
        if rank < 1:
            return np.where(place > 0, 1.0, 0.0)
        before = (np.cumsum(self.counts) - self.counts)[place]
        return _tail(before / self.counts.sum(), rank / self.size, self.size)

    def beyond(self, place: IntArray, rank: int) -> FloatArray:
        """Return bounds of the probability that the record of a rank is beyond these values."""
        if rank > self.size:
            return np.where(place < len(self.values) - 1, 1.0, 0.0)
        after = self.counts.sum() - np.cumsum(self.counts)[place]
        return _tail(after / self.counts.sum(), (self.size - rank + 1) / self.size, self.size)

    def one_place(self, distance: int, allowed: float, middle: float) -> tuple[float, float, float]:
        """Return where the quantile is, and the share of samples of which that is not known.

        All records up to so many ranks from the quantile are at one place.
        """
        last = int(np.searchsorted(self.values, middle, side="right")) - 1
        first = int(np.searchsorted(self.values, self.values[last] - allowed, side="left"))
        starts = np.unique(np.linspace(first, last, _PLACES).astype(np.int64))
        # As far as the test itself would find allowed.
        ends = np.searchsorted(self.values, self.values[starts] + allowed, side="right") - 1
        ends -= self.values[ends] - self.values[starts] > allowed
        low, high = self.ranks
        shares = self.below(starts, low - distance - 1) + self.beyond(ends, high + distance + 1)
        best = int(np.argmin(shares))
        return (
            float(self.values[starts[best]]),
            float(self.values[ends[best]]),
            float(shares[best]),
        )

    def many_places(self, allowed: float) -> Callable[[int], tuple[float, float, float]]:
        """Return the same as a function of the distance, wherever the quantile is.

        Two records that differ by more than is allowed, and are `m + 1` ranks apart around the
        quantile, have at most `m` others (one more where two are averaged) between them, and so has
        one of the places that lie a little closer than what is allowed, step by step. That each of
        them has more is what the tails are for.
        """
        low, high = self.ranks
        every = np.arange(len(self.values))
        left = int(np.flatnonzero(self.below(every, low) <= _NEVER).max(initial=0))
        right = int(
            np.flatnonzero(self.beyond(every, high) <= _NEVER).min(initial=len(self.values) - 1)
        )
        ends = float(self.values[left]), float(self.values[right])
        step = allowed / _STEPS
        number = (ends[1] - ends[0] + 2 * allowed) / step
        outside = float(self.below(every[[left]], low)[0] + self.beyond(every[[right]], high)[0])
        if number > _MOST_PLACES:
            return lambda distance: (*ends, 1.0)
        starts = ends[0] - allowed + step * np.arange(math.ceil(number))
        # A little shorter than by one step, for rounding.
        width = allowed - 1.001 * step
        # No two records stand around a place that reaches beyond the bounds.
        starts = starts[(starts > self.values[0]) & (starts + width < self.values[-1])]
        totals = np.concatenate([[0], np.cumsum(self.counts)])
        held = (
            totals[np.searchsorted(self.values, starts + width, side="right")]
            - totals[np.searchsorted(self.values, starts, side="left")]
        )
        chances = 1 - held / totals[-1]

        def share(distance: int) -> tuple[float, float, float]:
            few = distance + high - low
            tails = _tail(chances, (self.size - few) / self.size, self.size)
            return (*ends, outside + float(tails.sum()))

        return share


def _tail(chance: FloatArray, share: float, size: int) -> FloatArray:
    """Return a bound of the probability that at least this share of a sample is of some kind.

    `chance` is the share of that kind among all records. Hoeffding's bound, `exp(-n KL)`.
    """
    if not 0 < share <= 1:
        return np.ones_like(chance)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = 0.0 if share == 1 else (1 - share) * np.log((1 - share) / (1 - chance))
        exponent = share * np.log(share / chance) + rest
    bound = np.where(chance == 0, 0.0, np.exp(-size * np.maximum(exponent, 0.0)))
    return as_array(np.where(share > chance, bound * (1 + 1e-9), 1.0))
