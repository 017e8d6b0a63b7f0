"""The quantile of a sample without replacement: its distribution, exactly.

The record of rank `k` in a sample of `n` out of `N` is the record of rank `r` in the population
with probability `C(r-1, k-1) C(N-r, n-k) / C(N, n)`: of those below it `k - 1` are drawn, of those
above `n - k`. Nothing has to be simulated. For the median of an even sample, the next record drawn
follows step by step: it is the next in the population with probability `(n-k)/(N-r)`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.mechanisms.order import quantile_ranks


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
