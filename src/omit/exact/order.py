"""Quantiles of value counts: which records make them, how sensitive they are, and of samples.

A quantile here is the mean of the records of two neighbouring ranks, `low` and `high`: the same
rank twice, except for the median of an even number of records, which is the mean of the middle two.
The `q`-quantile of `n` records otherwise is the record of rank `ceil(q n)`, the smallest value with
at least a share of `q` of the records up to it. Equal records are looked at only once, so all of it
works on value counts.

*Local sensitivities* come from differences of sorted records around these ranks (`outward`).
Exchange `m` records, then one more: that one can move the quantile by as much as two sorted records
differ that are `m + 1` ranks apart, with the quantile's rank at or between theirs (one rank more
where two records are averaged, and half as much). With gaps `g` and `h` in rank to the two sides of
the quantile that is `m = g + h - 1`, and nothing moves a quantile further (Nissim, Raskhodnikova
and Smith 2007, Section 3.1; the documentation, "Medians and means from samples", has the proof).

*The quantile of a sample* without replacement has a distribution that is known exactly. The record
of rank `k` in a sample of `n` out of `N` is the record of rank `r` in the population with
probability `C(r-1, k-1) C(N-r, n-k) / C(N, n)`: of those below it `k - 1` are drawn, of those above
`n - k`. For the median of an even sample, the next record drawn follows step by step: it is the
next in the population with probability `(n-k)/(N-r)`.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput

MEDIAN = 0.5
# A share times a number of records is whole up to rounding, or meant to be.
_ROUNDING = 1e-9

Around: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""The values to the left of a quantile and their gaps in rank, and the same to the right."""


def checked_share(quantile: float) -> float:
    """Return a share strictly between 0 and 1, or refuse.

    Examples
    --------
    >>> checked_share(0.25)
    0.25
    """
    share = _validate.finite("quantile", quantile)
    if not 0 < share < 1:
        raise InvalidInput(f"Expected quantile={share:g} strictly between 0 and 1.")
    return share


def spacing(lower: float, upper: float) -> float:
    """Return how far apart neighbouring floating-point numbers within bounds can be.

    The mean of two such numbers is rounded by up to half of it, so one exchange moves a rounded
    mean by up to this much more than an exact one.

    Examples
    --------
    >>> spacing(0.0, 1.0), spacing(6e15, 6e15 + 1000)
    (2.220446049250313e-16, 1.0)
    """
    return float(np.spacing(max(abs(lower), abs(upper))))


@compiled
def quantile_ranks(share: float, size: int) -> tuple[int, int]:
    """Return the two ranks, from 1 on, whose records make the quantile.

    Examples
    --------
    >>> quantile_ranks(0.5, 5), quantile_ranks(0.5, 6), quantile_ranks(0.9, 10)
    ((3, 3), (3, 4), (9, 9))
    """
    if share == MEDIAN and size % 2 == 0:
        return size // 2, size // 2 + 1
    rank = math.ceil(share * size - _ROUNDING)
    rank = min(max(rank, 1), size)
    return rank, rank


@compiled
def outward(
    values: FloatArray,
    counts: NDArray[np.int64],
    share: float,
    lower: float,
    upper: float,
    padded: bool,
) -> tuple[float, float, Around]:
    """Return the quantile, its weight, and the values to both sides with their gaps in rank.

    The first value on each side is the quantile's own record, at gap 0; the last one is the bound,
    beyond the last record, if `padded`. Among equal records the nearest counts. The weight of a
    difference is 1, and 1/2 where two records are averaged.
    """
    size = 0
    occurring = 0
    for count in counts:
        size += count
        occurring += count > 0
    low, high = quantile_ranks(share, size)
    left_values, left_gaps = np.empty(occurring + 1), np.empty(occurring + 1)
    right_values, right_gaps = np.empty(occurring + 1), np.empty(occurring + 1)
    # From the left, ranks up to each value, until the quantile is reached.
    first, before = 0, 0
    while before + counts[first] < low:
        before += counts[first]
        first += 1
    left_values[0], left_gaps[0] = values[first], 0.0
    lefts, rank = 1, before
    for index in range(first - 1, -1, -1):
        if counts[index] > 0:
            left_values[lefts], left_gaps[lefts] = values[index], low - rank
            lefts += 1
            rank -= counts[index]
    second, rank = first, before
    while rank + counts[second] < high:
        rank += counts[second]
        second += 1
    right_values[0], right_gaps[0] = values[second], 0.0
    rights = 1
    rank += counts[second]
    for index in range(second + 1, len(values)):
        if counts[index] > 0:
            right_values[rights], right_gaps[rights] = values[index], rank + 1 - high
            rights += 1
            rank += counts[index]
    if padded:
        left_values[lefts], left_gaps[lefts] = lower, low
        right_values[rights], right_gaps[rights] = upper, size + 1 - high
        lefts += 1
        rights += 1
    center = 0.5 * (values[first] + values[second])
    around = (
        left_values[:lefts],
        left_gaps[:lefts],
        right_values[:rights],
        right_gaps[:rights],
    )
    return center, 1.0 if low == high else 0.5, around


@compiled
def largest_difference(around: Around, distance: int) -> float:
    """Return the largest difference of two records whose gaps add up to at most `distance + 1`."""
    left_values, left_gaps, right_values, right_gaps = around
    largest, b = 0.0, len(right_values) - 1
    for a in range(len(left_values)):
        while b >= 0 and left_gaps[a] + right_gaps[b] > distance + 1:
            b -= 1
        if b < 0:
            break
        largest = max(largest, right_values[b] - left_values[a])
    return largest


@compiled
def smallest_distance(around: Around, above: float) -> float:
    """Return the smallest distance at which two records differ by more than `above`, or infinity.

    That is how many records must be exchanged before the local sensitivity exceeds it.
    """
    left_values, left_gaps, right_values, right_gaps = around
    smallest, b = math.inf, len(right_values)
    for a in range(len(left_values)):
        while b > 0 and right_values[b - 1] - left_values[a] > above:
            b -= 1
        if b < len(right_values):
            smallest = min(smallest, max(left_gaps[a] + right_gaps[b] - 1.0, 0.0))
    return smallest


@compiled
def discounted(left: float, left_gap: float, right: float, right_gap: float, beta: float) -> float:
    """Return the difference of two records, discounted by their distance."""
    return math.exp(-beta * max(left_gap + right_gap - 1.0, 0.0)) * (right - left)


@compiled
def largest_discounted(around: Around, beta: float) -> float:
    """Return the largest discounted difference of a record to the left and one to the right.

    The farther out the left record, the nearer the right one that goes best with it: the ratio
    `(w' - v)/(w - v)` for `w' > w` falls as `v` falls. So the best partner of the middle record
    splits the partners of the others: O(n log n). Only the pair of gaps (0, 0), whose distance
    is not -1 but 0, is an exception; the first left record is compared with all others.
    """
    left_values, left_gaps, right_values, right_gaps = around
    largest = 0.0
    # Powers of two find a good one quickly, and no pair so far apart that even the whole range,
    # discounted, is smaller has to be looked at.
    step = 1
    while step <= max(len(left_values), len(right_values)):
        a, b = min(step, len(left_values)) - 1, min(step, len(right_values)) - 1
        for i, j in ((a, 0), (0, b), (a, b)):
            found = discounted(left_values[i], left_gaps[i], right_values[j], right_gaps[j], beta)
            largest = max(largest, found)
        step *= 2
    lefts, rights = len(left_values), len(right_values)
    if largest > 0 and beta > 0:
        reach = math.log((right_values[-1] - left_values[-1]) / largest) / beta + 1.0
        reach = reach * (1 + 1e-9) + 1e-9
        lefts = max(1, int(np.searchsorted(left_gaps, reach, side="right")))
        rights = max(1, int(np.searchsorted(right_gaps, reach, side="right")))
    for b in range(rights):
        found = discounted(left_values[0], left_gaps[0], right_values[b], right_gaps[b], beta)
        largest = max(largest, found)
    # Beyond the quantile's own records the discount is a product, which is quicker to compare.
    discounts = np.exp(-beta * right_gaps[:rights])
    # Left records still to be done, and between which right records their partners are.
    todo = np.empty((130, 4), dtype=np.int64)
    todo[0] = (1, lefts - 1, 0, rights - 1)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        start, end, nearest, farthest = todo[waiting]
        if start > end:
            continue
        middle = (start + end) // 2
        best, partner, left = -1.0, nearest, left_values[middle]
        for b in range(nearest, farthest + 1):
            found = discounts[b] * (right_values[b] - left)
            if found > best:
                best, partner = found, b
        found = discounted(
            left, left_gaps[middle], right_values[partner], right_gaps[partner], beta
        )
        largest = max(largest, found)
        todo[waiting] = (start, middle - 1, partner, farthest)
        todo[waiting + 1] = (middle + 1, end, nearest, partner)
        waiting += 2
    return largest


class SampledMoments(NamedTuple):
    """The mean and the variance of a statistic over all samples."""

    mean: float
    variance: float


def rank_probabilities(population: int, size: int, rank: int) -> FloatArray:
    """Return for each record of the population the probability to have that rank in the sample.

    Examples
    --------
    >>> rank_probabilities(5, 3, 2)
    array([0. , 0.3, 0.4, 0.3, 0. ])
    """
    from scipy.special import gammaln

    def log_choose(n: FloatArray, k: int) -> FloatArray:
        possible = n >= k
        n = np.where(possible, n, k)
        logarithm = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        return as_array(np.where(possible, logarithm, -np.inf))

    ranks = np.arange(1, population + 1, dtype=np.float64)
    logarithms = log_choose(ranks - 1, rank - 1) + log_choose(population - ranks, size - rank)
    weights = np.exp(logarithms - logarithms.max())
    # Divided by their sum instead of C(N, n): the errors of the large factorials cancel.
    return as_array(weights / weights.sum())


def sampled_quantile(column: Column, size: int, share: float) -> SampledMoments:
    """Return the mean and the variance of a quantile over all samples of that size.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 35, 40, 60], bounds=(0, 100))
    >>> mean, variance = sampled_quantile(ages, 3, 0.5)
    >>> round(mean, 6), round(variance, 6)
    (35.0, 15.0)
    """
    records = np.repeat(as_array(column.values), column.counts)
    low, high = quantile_ranks(share, size)
    # Around some value of the data, so that the variance of values far from 0 keeps its digits.
    origin = float(records[len(records) // 2])
    records = records - origin
    weights = rank_probabilities(len(records), size, low)
    if low == high:
        mean = float(weights @ records)
        return SampledMoments(mean + origin, float(weights @ (records - mean) ** 2))
    following, squares = _following(records, size - low)
    mean = 0.5 * float(weights @ (records + following))
    total = records**2 + 2 * records * following + squares
    return SampledMoments(mean + origin, max(0.0, 0.25 * float(weights @ total) - mean**2))


@compiled
def _following(records: FloatArray, above: int) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the next record drawn above each one, and of its square.

    `above` records are drawn above each.
    """
    size = len(records)
    means, squares = np.zeros(size), np.zeros(size)
    for index in range(size - 1 - above, -1, -1):
        chance = above / (size - 1 - index)
        means[index] = chance * records[index + 1] + (1 - chance) * means[index + 1]
        squares[index] = chance * records[index + 1] ** 2 + (1 - chance) * squares[index + 1]
    return means, squares


def sampled_mean(column: Column, size: int) -> SampledMoments:
    """Return the mean and the variance of the mean over all samples of that size.

    The variance is `(1 - n/N) S^2 / n` (Eq. 7 of the accuracy-gains paper), `S^2` with `N - 1`.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 35, 40, 60], bounds=(0, 100))
    >>> mean, variance = sampled_mean(ages, 3)
    >>> round(mean, 6), round(variance, 6)
    (37.0, 29.333333)
    """
    population, mean = column.size, column.mean
    if size == population:
        return SampledMoments(mean, 0.0)
    squares = float(column.counts @ (as_array(column.values) - mean) ** 2)
    variance = (1 - size / population) * squares / (population - 1) / size
    return SampledMoments(mean, variance)
