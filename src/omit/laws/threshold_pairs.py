"""Two sampled counts that are shown from a threshold on, where a record moves between them.

One cell has x records instead of x - 1, the other y instead of y + 1; with the laws Q of
`omit.laws.thresholds`, delta is the supremum over x >= 1 and y >= 0 of

    delta(x, y) = sum (Q_x(i) Q_y(j) - E Q_{x-1}(i) Q_{y+1}(j))+ = sum_i Q_x(i) D_t(y),
    D_t(y) = sum_j (Q_y(j) - t Q_{y+1}(j))+,   t = E Q_{x-1}(i)/Q_x(i).

For every factor t > 0, also below 1, `D_t` rises in y up to a known size and does not rise beyond
(the proof for one cell needs no E >= 1). So for x records, the largest D of every i within an
interval of sizes bounds delta(x, y) there; intervals are halved until what is left is within the
tolerance of the best that was found. And if `phi(t)` is the largest `D_t` over all y, then the
sum of `Q_x(i) phi(t)` bounds all of delta(x, y); without hiding it is not smaller and, phi being
convex, does not rise in x: one record more, drawn or not, is added to both. So there is a last x.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.laws.counts import LOG_ERROR, log_pmf
from omit.laws.thresholds import (
    LARGEST_EPSILON,
    ROUNDING,
    largest_count,
    most_added,
    most_removed,
    worst_count,
)

# How far the bound that is returned may be above what two cells attain, relative to it.
TOLERANCE = 1e-6
_UP = 1 + 1e-10
_MOST_RECORDS = 100_000
_CHORDS = 129
# Where the worst cell is larger, deltas of both cells are added instead of searched for.
_LARGEST_SEARCH = 500
_PARTS = 33
# Ends of intervals are whole numbers or infinite.
_Interval = tuple[int, float]


class WorstPair(NamedTuple):
    """The smallest delta for two cells, and where it is needed.

    Parameters
    ----------
    delta : float
        Not below the truth, and above what these cells need by a millionth of it.
    records : (int, int), optional
        The records of both cells, one of which moves from the first to the second; None if cells
        are too large to be searched, and delta is a bound.
    """

    delta: float
    records: tuple[int, int] | None


def worst_pair(rate: float, threshold: int, epsilon: float) -> WorstPair:
    """Return the smallest delta that holds for two cells of any sizes, where one record moves.

    Examples
    --------
    >>> worst_pair(0.1, 10, 1.0)
    WorstPair(delta=9.9936...e-09, records=(14, 40))
    """
    if rate == 1:
        return WorstPair(1.0, (threshold, 0))
    epsilon = min(epsilon, LARGEST_EPSILON)
    size = largest_count(rate, threshold, 1 - (1 - rate) * math.exp(-epsilon))
    if size > _LARGEST_SEARCH:
        return WorstPair(_composed(rate, threshold, epsilon), None)
    return _Search(rate, threshold, math.exp(epsilon)).run()


def _composed(rate: float, threshold: int, epsilon: float) -> float:
    """Return a bound that adds up what both cells need, with the best part of epsilon for each."""
    parts = epsilon * np.linspace(0.0, 1.0, _PARTS)
    return min(
        most_added(rate, threshold, math.exp(epsilon - part))
        + most_removed(rate, threshold, math.exp(part))
        for part in parts
    )


class _Sides(NamedTuple):
    """What is seen of a cell with y records, and with one more, by falling ratio."""

    ratios: FloatArray
    fewer: FloatArray
    more: FloatArray

    def removed(self, factors: FloatArray) -> FloatArray:
        """Return `D_t(y)` for several factors t, rounded up."""
        count = np.searchsorted(-self.ratios, -factors)
        fewer, more = self.fewer[count], factors * self.more[count]
        return as_array(np.maximum(fewer - more, 0.0) + 2 * LOG_ERROR * (fewer + more))


@dataclass
class _Search:
    """The search for the worst pair at one rate, threshold and factor `E`."""

    rate: float
    threshold: int
    growth: float
    best: float = 0.0
    records: tuple[int, int] = (0, 0)
    ceiling: float = 0.0
    sides: dict[int, _Sides] = field(default_factory=dict)

    def run(self) -> WorstPair:
        """Go through the sizes of the first cell, the worst one for itself first."""
        single = worst_count(self.rate, self.threshold, math.log(self.growth))
        # The other cell tells nothing where it is hidden before and after.
        self.best, self.records = single.delta, (single.records, 0)
        if single.seen == "removed":
            self.best, self.records = single.delta, (1, single.records - 1)
        start = largest_count(self.rate, self.threshold, 1 - (1 - self.rate) / self.growth)
        self._first_cell(max(start, self.threshold))
        size = self.threshold
        while size <= start or self._all_beyond(size) > self._enough:
            if size > _MOST_RECORDS:
                self.ceiling = max(self.ceiling, self._all_beyond(size))
                break
            self._first_cell(size)
            size += 1
        return WorstPair(min(1.0, max(self._enough, self.ceiling) * _UP), self.records)

    @property
    def _enough(self) -> float:
        return self.best * (1 + TOLERANCE)

    def _law(self, records: int) -> FloatArray:
        """Return the probabilities of "hidden" and of the counts that are shown."""
        mass = np.exp(log_pmf(np.arange(records + 1), records, self.rate))
        shown = mass[self.threshold :]
        return np.concatenate([[mass[: self.threshold].sum()], shown])

    def _all_beyond(self, size: int) -> float:
        """Return a bound on delta(x, y) for all y and all x from this size on."""
        drawn = np.arange(math.floor(size * (1 - 1 / self.growth)), size + 1)
        factors = (1 - 1e-14) * self.growth * (size - drawn) / (size * (1 - self.rate))
        mass = np.exp(log_pmf(drawn, size, self.rate))
        return self._mixed(mass, as_array(factors))

    def _mixed(self, weights: FloatArray, factors: FloatArray) -> float:
        """Return the sum of what every factor may need; for rare ones that is all."""
        rare = weights <= 1e-3 * TOLERANCE * self.best / len(weights)
        return float(weights[~rare] @ self.most(factors[~rare]) + weights[rare].sum())

    def most(self, factors: FloatArray) -> FloatArray:
        """Return bounds on the largest `D_t` over all sizes, for several factors t."""
        return np.interp(factors, *self._chords)

    @cached_property
    def _chords(self) -> tuple[FloatArray, FloatArray]:
        """Return factors and their largest D, which is convex: what is between is below chords."""
        last = 1 / (1 - self.rate)
        factors = np.linspace(0.0, last, _CHORDS)
        if self.growth < last:
            # "Hidden" has a factor just above E, and nearly all of the probability.
            near = self.growth + (last - self.growth) * np.geomspace(1e-9, 1.0, _CHORDS)
            factors = np.union1d(np.append(factors, self.growth), near)
        most = [most_removed(self.rate, self.threshold, float(t)) for t in factors]
        return factors, np.array(most)

    def _first_cell(self, size: int) -> None:
        """Find the worst second cell for a first one of this size, if it can be worse."""
        weights, before = self._law(size), self._law(size - 1)
        before = np.append(before, np.zeros(len(weights) - len(before)))
        present = weights > 0
        weights = weights[present]
        # Rounded down, as `D_t` falls in t.
        factors = as_array((1 - 3 * LOG_ERROR) * self.growth * before[present] / weights)
        if self._mixed(weights, factors) <= self._enough:
            return
        second = _SecondCell(self, weights, factors)
        queue: list[tuple[float, _Interval]] = [(-math.inf, (0, math.inf))]
        while queue:
            bound, (low, high) = heapq.heappop(queue)
            if -bound <= self._enough:
                return
            if low > _MOST_RECORDS:
                self.ceiling = max(self.ceiling, -bound)
                continue
            middle = (low + int(high)) // 2 if high < math.inf else 2 * (low + self.threshold)
            for part in ((low, middle), (middle + 1, high)):
                if part[0] > part[1]:
                    continue
                attained = second.delta(part[0])
                if attained > self.best:
                    self.best, self.records = attained, (size, part[0])
                if part[0] < part[1]:
                    heapq.heappush(queue, (-second.bound(*part), part))

    def second_cell(self, records: int) -> _Sides:
        """Return what is seen of the second cell."""
        if records not in self.sides:
            more, fewer = self._law(records + 1), self._law(records)
            fewer = np.append(fewer, np.zeros(len(more) - len(fewer)))
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = np.where(more > 0, fewer / more, 0.0)
            # Rounding must not put ratios out of order.
            ratios = np.minimum.accumulate(ratios)
            sums = (np.append(0.0, np.cumsum(law)) for law in (fewer, more))
            self.sides[records] = _Sides(ratios, *sums)
        return self.sides[records]


class _SecondCell:
    """The second cell beside a first one of fixed size: delta(x, y) as a function of y."""

    def __init__(self, search: _Search, weights: FloatArray, factors: FloatArray) -> None:
        self.search, self.weights, self.factors = search, weights, factors
        rate, threshold = search.rate, search.threshold
        self.most = search.most(factors)
        share = 1 - (1 - rate) * factors
        with np.errstate(divide="ignore"):
            # Between these is the size from which on D does not rise.
            self.early = (threshold - 1) / np.maximum(share + ROUNDING, ROUNDING) - 1
            self.late = np.where(
                share > ROUNDING, (threshold - 1) / np.maximum(share - ROUNDING, 0) + 1, np.inf
            )

    def delta(self, records: int) -> float:
        """Return delta(x, y)."""
        return float(self.weights @ self.search.second_cell(records).removed(self.factors))

    def bound(self, low: int, high: float) -> float:
        """Return a bound on delta(x, y) for all y of an interval."""
        at_low = self.search.second_cell(low).removed(self.factors)
        most = np.where(self.late <= low, at_low, self.most)
        if high < math.inf:
            at_high = self.search.second_cell(int(high)).removed(self.factors)
            most = np.where(self.early >= high, at_high, most)
        return float(self.weights @ np.minimum(most, self.most))
