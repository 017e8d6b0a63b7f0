"""Propose-test-release: propose a bound of the local sensitivity, test it, and use it if it passes.

Half of epsilon tests: the number of records that must be exchanged before the local sensitivity
exceeds the proposal, plus Laplace noise of scale `2/epsilon`, must be above
`(2/epsilon) ln(1/(2 delta))`. Half releases: Laplace noise for the proposal. If the test fails, the
middle of the bounds is published, which says nothing but that it failed.

*Privacy*, under replace (Dwork and Lei 2009). The distances of neighbours differ by at most 1. If
their quantiles differ by at most the proposal, both halves are epsilon/2-DP, together epsilon. If
they differ by more, both have local sensitivities above the proposal and distance 0: the test
passes with probability `delta` at most, and otherwise both publish the same. So the release is
(epsilon, delta)-DP either way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.additive import UnitNoise
from omit.mechanisms.base import Counts
from omit.mechanisms.integrable import Measure, Moments, NearZero, require_bounds
from omit.mechanisms.order import MEDIAN, outward, spacing
from omit.mechanisms.quantile import QuantileMechanism
from omit.mechanisms.windows import smallest_distance

_LAPLACE = UnitNoise("laplace")


@dataclass(frozen=True)
class ProposeTestRelease(QuantileMechanism):
    """A quantile by propose-test-release: (epsilon, delta)-DP under replace, delta > 0.

    Parameters
    ----------
    proposal : float
        The bound of the local sensitivity that is proposed, as a share of the width of the
        bounds; fixed without looking at the data.
    quantile, measure
        As for `SmoothQuantile`.

    Examples
    --------
    >>> ages = Column.from_counts(range(100), [11] * 100, bounds=(0, 100))
    >>> target = Guarantee(1.0, 1e-5, "replace")
    >>> ProposeTestRelease(0.05).moments(ages, ages.counts[None, :], ages.bounds, target)
    Moments(mean=array([49.5]), variance=array([200.]))
    """

    proposal: float = 0.01
    quantile: float = MEDIAN
    measure: Measure = "squared"

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

    def noise_scale(self, bounds: tuple[float, float] | None, guarantee: Guarantee) -> float:
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
        missing = (threshold - as_array(distance)) * guarantee.epsilon / 2
        tail = 0.5 * np.exp(-np.abs(missing))
        return np.where(missing > 0, tail, 1 - tail)[()]

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return one answer for each row of counts: a noisy quantile, or the middle."""
        near = NearZero.of(column, bounds)
        centers, passing, scale, middle = self._tested(near.column, counts, near.bounds, guarantee)
        released = centers + scale * _LAPLACE.draw(rng, centers.shape)
        answers = np.where(rng.random(centers.shape) < passing, released, middle)
        return as_array(answers + near.origin)

    def moments(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> Moments:
        """Return the mean and the variance of the answer for each row of counts."""
        centers, passing, scale, middle = self._tested(column, counts, bounds, guarantee)
        mean = middle + passing * (centers - middle)
        between = passing * (1 - passing) * (centers - middle) ** 2
        return Moments(as_array(mean), as_array(passing * _LAPLACE.variance * scale**2 + between))

    def distances(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: float,
    ) -> FloatArray:
        """Return the expected distance of the answer from the truth for each row of counts."""
        centers, passing, scale, middle = self._tested(column, counts, bounds, guarantee)
        released = _LAPLACE.absolute(centers - truth, np.full(centers.shape, scale))
        return as_array(passing * released + (1 - passing) * abs(middle - truth))

    def _tested(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> tuple[FloatArray, FloatArray, float, float]:
        """Return quantiles, probabilities of passing, the scale of the noise, and the middle."""
        threshold = self.threshold(guarantee)
        lower, upper = require_bounds(bounds, self.name)
        proposed = self.proposal * (upper - lower)
        centers, distances = _distance_rows(
            as_array(column.values), counts, self.quantile, lower, upper, proposed
        )
        passing = self.passing(distances, threshold, guarantee)
        return centers, passing, self.noise_scale((lower, upper), guarantee), 0.5 * (lower + upper)


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
