"""The exponential mechanism for a quantile: points of nearer rank are more likely.

The score of a point `x` is minus the distance of its rank, the number of records up to it, from the
rank that is wanted. One exchanged record moves a rank by at most 1, so density in proportion to
`e^(epsilon score / 2)` within the bounds is epsilon-DP under replace (McSherry and Talwar 2007;
for quantiles Smith 2011). Between two neighbouring records all points have the same rank, so the
density is constant there, and everything about the answer is a sum over such intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.exact.order import MEDIAN
from omit.guarantee import Guarantee
from omit.mechanisms.base import Counts, require_bounds
from omit.mechanisms.moments import Moments, NearZero, PreparedMoments
from omit.mechanisms.quantiles import Metric, PreparedQuantile, QuantileMechanism

_BETWEEN_POINTS = (
    "The column has a step, and this mechanism answers between its points, however large epsilon "
    "is; LatticeQuantile chooses one of them."
)


@dataclass(frozen=True)
class ExponentialQuantile(QuantileMechanism):
    """A quantile of a continuous column by the exponential mechanism: epsilon-DP under replace.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 30, 40, 60], bounds=(0, 100))
    >>> prepared = ExponentialQuantile().prepare(ages, Guarantee(20.0, neighbours="replace"))
    >>> mean, variance = prepared.moments(ages.counts[None, :])
    >>> round(float(mean[0]), 2), round(float(variance[0]), 2)
    (35.0, 8.36)
    """

    quantile: float = MEDIAN
    metric: Metric = "squared"

    def __post_init__(self) -> None:
        self._checked()

    def __str__(self) -> str:
        return f"{self.name}, exponential mechanism"

    def averages_two(self, size: int) -> bool:
        """Return False: single points are scored, with the same sensitivity for every size."""
        return False

    def calibrated(
        self, guarantee: Guarantee, column: Column, truth: float, near: NearZero
    ) -> PreparedMoments:
        """Return the quantile with the weights of the guarantee."""
        lower, upper = require_bounds(near.bounds, self.name)
        if guarantee.epsilon == 0:
            raise InvalidInput("The exponential mechanism needs epsilon > 0.")
        limits = lower, upper, guarantee.epsilon
        notes = () if column.step is None else (_BETWEEN_POINTS,)
        return PreparedExponential(self, guarantee, column, truth, near, limits, notes)


@dataclass(frozen=True, eq=False)
class PreparedExponential(PreparedQuantile):
    """A quantile that is drawn; `limits` are the bounds and epsilon."""

    limits: tuple[float, float, float]
    notes: tuple[str, ...] = ()

    def near_answers(self, counts: Counts, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each row of counts."""
        chances = rng.random((2, len(counts)))
        return _draw_rows(*self._arguments(counts), chances)

    def moments(self, counts: Counts) -> Moments:
        """Return the mean and the variance of the answer for each row of counts."""
        mean, variance, _ = _integrate_rows(*self._arguments(counts), 0.0)
        return Moments(mean, variance)

    def distances(self, counts: Counts) -> FloatArray:
        """Return the expected distance of the answer from the truth for each row of counts."""
        return _integrate_rows(*self._arguments(counts), self.near.truth)[2]

    def _arguments(self, counts: Counts) -> tuple[FloatArray, Counts, float, float, float, float]:
        values = as_array(self.near.column.values)
        return values, counts, self.mechanism.quantile, *self.limits


@compiled
def interval_weights(
    values: FloatArray,
    counts: NDArray[np.int64],
    share: float,
    lower: float,
    upper: float,
    epsilon: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals between records, and the probability of each."""
    ends = np.empty(len(values) + 2)
    logarithms = np.empty(len(values) + 1)
    wanted = share * counts.sum()
    ends[0], intervals, rank = lower, 0, 0
    for index in range(len(values) + 1):
        end = values[index] if index < len(values) else upper
        count = counts[index] if index < len(values) else 0
        # Values that nobody has do not end an interval.
        if index < len(values) and count == 0:
            continue
        width = end - ends[intervals]
        if width > 0:
            logarithms[intervals] = math.log(width) - 0.5 * epsilon * abs(rank - wanted)
        else:
            logarithms[intervals] = -math.inf
        intervals += 1
        ends[intervals] = end
        rank += count
    weights = np.exp(logarithms[:intervals] - logarithms[:intervals].max())
    return ends[: intervals + 1], weights / weights.sum()


@compiled
def _integrate_rows(
    values: FloatArray,
    counts: Counts,
    share: float,
    lower: float,
    upper: float,
    epsilon: float,
    truth: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean and the variance of the answer and its expected distance from the truth."""
    means, variances, distances = (
        np.zeros(len(counts)),
        np.zeros(len(counts)),
        np.zeros(len(counts)),
    )
    for row in range(len(counts)):
        ends, weights = interval_weights(values, counts[row], share, lower, upper, epsilon)
        for index in range(len(weights)):
            start, end, weight = ends[index], ends[index + 1], weights[index]
            means[row] += weight * 0.5 * (start + end)
            if start < truth < end:
                away = ((truth - start) ** 2 + (end - truth) ** 2) / (2 * (end - start))
            else:
                away = abs(0.5 * (start + end) - truth)
            distances[row] += weight * away
        for index in range(len(weights)):
            start, end = ends[index], ends[index + 1]
            middle = 0.5 * (start + end) - means[row]
            variances[row] += weights[index] * (middle**2 + (end - start) ** 2 / 12)
    return means, variances, distances


@compiled
def _draw_rows(
    values: FloatArray,
    counts: Counts,
    share: float,
    lower: float,
    upper: float,
    epsilon: float,
    chances: FloatArray,
) -> FloatArray:
    """Return one draw for each row: one chance chooses the interval, one the point in it."""
    drawn = np.empty(len(counts))
    for row in range(len(counts)):
        ends, weights = interval_weights(values, counts[row], share, lower, upper, epsilon)
        index, reached = 0, weights[0]
        while reached < chances[0, row] and index + 1 < len(weights):
            index += 1
            reached += weights[index]
        drawn[row] = ends[index] + chances[1, row] * (ends[index + 1] - ends[index])
    return drawn
