"""Propose-test-release: propose a bound of the local sensitivity, test it, and use it if it passes.

Half of epsilon tests: the number of records that must be exchanged before the local sensitivity
exceeds the proposal, plus Laplace noise of scale `2/epsilon`, must be above
`(2/epsilon) ln(1/(2 delta))`. Half protects the answer: Laplace noise for the proposal. If the test
fails, the middle of the bounds is published, which says nothing but that it failed.

*Privacy*, under replace (Dwork and Lei 2009). The distances of neighbours differ by at most 1. If
their quantiles differ by at most the proposal, both halves are epsilon/2-DP, together epsilon. If
they differ by more, both have local sensitivities above the proposal and distance 0: the test
passes with probability `delta` at most, and otherwise both publish the same. So the release is
(epsilon, delta)-DP either way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, overload

import numpy as np

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.exact.order import MEDIAN, outward, smallest_distance, spacing
from omit.guarantee import Guarantee
from omit.laws.design import Design
from omit.laws.intervals import Interval
from omit.laws.noise import Laplace
from omit.mechanisms.base import Bounds, Counts, require_bounds
from omit.mechanisms.moments import Moments, NearZero, PreparedMoments
from omit.mechanisms.quantiles import Metric, PreparedQuantile, QuantileMechanism

_LAPLACE = Laplace()


@dataclass(frozen=True)
class ProposeTestRelease(QuantileMechanism):
    """A quantile by propose-test-release: (epsilon, delta)-DP under replace, delta > 0.

    Parameters
    ----------
    proposal : float
        The bound of the local sensitivity that is proposed, as a share of the width of the
        bounds; fixed without looking at the data.
    quantile, metric
        As for all quantiles.

    Examples
    --------
    >>> ages = Column.from_counts(range(100), [11] * 100, bounds=(0, 100))
    >>> prepared = ProposeTestRelease(0.05).prepare(ages, Guarantee(1.0, 1e-5, "replace"))
    >>> prepared.moments(ages.counts[None, :])
    Moments(mean=array([49.5]), variance=array([200.]))
    """

    proposal: float = 0.01
    quantile: float = MEDIAN
    metric: Metric = "squared"

    def __post_init__(self) -> None:
        self._checked()
        share = _validate.positive_rate("proposal", self.proposal)
        object.__setattr__(self, "proposal", share)

    def __str__(self) -> str:
        return f"{self.name}, propose-test-release with {100 * self.proposal:g} % of the bounds"

    def threshold(self, guarantee: Guarantee) -> float:
        """Return what the noisy distance must exceed.

        Raises
        ------
        InvalidInput
            If epsilon or delta is 0.
        """
        self.require_relation(guarantee)
        if guarantee.epsilon == 0 or guarantee.delta == 0:
            raise InvalidInput("Propose-test-release needs epsilon > 0 and delta > 0.")
        # A noisy distance of 0 passes with probability e^(-threshold epsilon / 2) / 2.
        return max(0.0, -math.log(2 * guarantee.delta)) * 2 / guarantee.epsilon

    def noise_scale(self, bounds: Bounds | None, guarantee: Guarantee) -> float:
        """Return the scale of the Laplace noise of what is released if the test is passed."""
        lower, upper = require_bounds(bounds, self.name)
        proposed = self.proposal * (upper - lower)
        if self.quantile == MEDIAN:  # which may be the mean of two, rounded
            proposed += spacing(lower, upper)
        return 2 * proposed / guarantee.epsilon

    @overload
    def passing(self, distance: float, threshold: float, guarantee: Guarantee) -> float: ...

    @overload
    def passing(
        self, distance: FloatArray, threshold: float, guarantee: Guarantee
    ) -> FloatArray: ...

    def passing(
        self, distance: float | FloatArray, threshold: float, guarantee: Guarantee
    ) -> float | FloatArray:
        """Return the probability to pass the test at so many exchanges from a failing database."""
        return Laplace(2 / guarantee.epsilon).cdf(as_array(distance) - threshold)[()]

    def calibrated(
        self, guarantee: Guarantee, column: Column, truth: float, near: NearZero
    ) -> PreparedMoments:
        """Return the quantile with its test and its noise."""
        return PreparedTest(self, guarantee, column, truth, near)


@dataclass(frozen=True, eq=False)
class PreparedTest(PreparedQuantile):
    """A quantile that is noisy if a test is passed, and else the middle of the bounds."""

    mechanism: ProposeTestRelease
    promise: Guarantee

    _runs_choose: ClassVar[bool] = False

    def near_answers(self, counts: Counts, rng: np.random.Generator) -> FloatArray:
        """Return one answer for each row of counts: a noisy quantile, or the middle."""
        centers, passing, scale, middle = self._tested(counts)
        noisy = centers + scale * _LAPLACE.draw(rng, centers.shape)
        return as_array(np.where(rng.random(centers.shape) < passing, noisy, middle))

    def moments(self, counts: Counts) -> Moments:
        """Return the mean and the variance of the answer for each row of counts."""
        centers, passing, scale, middle = self._tested(counts)
        mean = middle + passing * (centers - middle)
        between = passing * (1 - passing) * (centers - middle) ** 2
        return Moments(as_array(mean), as_array(passing * _LAPLACE.variance * scale**2 + between))

    def distances(self, counts: Counts) -> FloatArray:
        """Return the expected distance of the answer from the truth for each row of counts."""
        centers, passing, scale, middle = self._tested(counts)
        passed = _LAPLACE.mean_distance(centers - self.near.truth, np.full(centers.shape, scale))
        return as_array(passing * passed + (1 - passing) * abs(middle - self.near.truth))

    def _interval_beyond(
        self, known: float, drawn: FloatArray, design: Design
    ) -> tuple[Interval, bool]:
        """Return an interval that holds though samples that fail the test are rare."""
        from omit.mechanisms.rare_failures import rare_failure_interval

        return rare_failure_interval(self, design, drawn, beyond_statistic=known != 0), False

    def _tested(self, counts: Counts) -> tuple[FloatArray, FloatArray, float, float]:
        """Return quantiles, probabilities of passing, the scale of the noise, and the middle."""
        mechanism, guarantee = self.mechanism, self.promise
        threshold = mechanism.threshold(guarantee)
        lower, upper = require_bounds(self.near.bounds, mechanism.name)
        proposed = mechanism.proposal * (upper - lower)
        centers, distances = _distance_rows(
            as_array(self.near.column.values), counts, mechanism.quantile, lower, upper, proposed
        )
        passing = mechanism.passing(distances, threshold, guarantee)
        scale = mechanism.noise_scale((lower, upper), guarantee)
        return centers, passing, scale, 0.5 * (lower + upper)


@compiled
def _distance_rows(
    values: FloatArray,
    counts: Counts,
    share: float,
    lower: float,
    upper: float,
    above: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the quantile of each row and how far it is from a larger local sensitivity."""
    centers, distances = np.empty(len(counts)), np.empty(len(counts))
    for row in range(len(counts)):
        center, weight, around = outward(values, counts[row], share, lower, upper, True)
        centers[row] = center
        distances[row] = smallest_distance(around, above / weight)
    return centers, distances
