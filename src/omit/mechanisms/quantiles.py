"""Medians and other quantiles with noise, by global or by smooth sensitivity.

Propose-test-release: propose a bound of the local sensitivity, test it, and use it if it passes.

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
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.exact.order import (
    MEDIAN,
    checked_share,
    largest_discounted,
    outward,
    quantile_ranks,
    smallest_distance,
    spacing,
)
from omit.guarantee import Guarantee
from omit.laws.noise import Laplace, Noise, StudentT
from omit.mechanisms.base import (
    AdditiveMechanism,
    Counts,
    IntegrableMechanism,
    Measure,
    Moments,
    NearZero,
    by_size,
    require_bounds,
)
from omit.mechanisms.sensitivity import (
    Padding,
    SmoothNoise,
    published_laplace,
    smooth_floor,
    student_noise,
    tight_laplace,
)

SmoothKind = Literal["laplace", "laplace-tight", "student"]


class QuantileMechanism(IntegrableMechanism):
    """A protected quantile: what all of them share."""

    quantile: float

    @property
    def statistic(self) -> str:
        """The word median, or quantile."""
        return "median" if self.quantile == MEDIAN else "quantile"

    @property
    def name(self) -> str:
        """The median, or which quantile."""
        return "median" if self.quantile == MEDIAN else f"{self.quantile:g}-quantile"

    def truth(self, column: Column) -> float:
        """Return the quantile of the column: the mean of the middle two for an even median.

        Raises
        ------
        InvalidInput
            If the values are texts.
        """
        if column.is_text:
            raise InvalidInput(f"Column {column.name!r} is text and has no {self.name}.")
        ends = np.cumsum(column.counts)
        low, high = quantile_ranks(self.quantile, column.size)
        first, second = np.searchsorted(ends, [low, high])
        return 0.5 * float(column.values[first] + column.values[second])

    def _checked(self) -> None:
        object.__setattr__(self, "quantile", checked_share(self.quantile))
        self._checked_measure()


@dataclass(frozen=True)
class GlobalQuantile(AdditiveMechanism, QuantileMechanism):
    """A quantile plus Laplace noise for its global sensitivity, the width of the bounds.

    epsilon-DP under replace. The noise does not shrink as records are added, so it is rarely of
    use; half of it is enough for the median of an even number.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 30, 40, 60], bounds=(0, 100))
    >>> target = Guarantee(2.0, neighbours="replace")
    >>> GlobalQuantile().moments(ages, ages.counts[None, :], ages.bounds, target)
    Moments(mean=array([30.]), variance=array([5000.]))
    """

    quantile: float = MEDIAN
    measure: Measure = "squared"

    def __post_init__(self) -> None:
        self._checked()

    def __str__(self) -> str:
        return f"{self.name}, global sensitivity, Laplace noise"

    def unit_noise(self, guarantee: Guarantee) -> Noise:
        """Return Laplace noise."""
        return Laplace()

    def scale(
        self, guarantee: Guarantee, bounds: tuple[float, float] | None, records: int
    ) -> float:
        """Return the scale of the noise for so many records."""
        self.require_relation(guarantee)
        lower, upper = require_bounds(bounds, self.name)
        low, high = quantile_ranks(self.quantile, records)
        sensitivity = upper - lower
        if low < high:
            sensitivity = 0.5 * sensitivity + spacing(lower, upper)
        return Laplace.calibrated(guarantee, sensitivity).scale

    def centers_and_scales(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the quantile of each row and the same scale for all rows of one size."""
        centers, sizes = row_quantiles(as_array(column.values), counts, self.quantile)
        return centers, by_size(lambda size: self.scale(guarantee, bounds, size), sizes)


@dataclass(frozen=True)
class SmoothQuantile(AdditiveMechanism, QuantileMechanism):
    """A quantile plus noise for its smooth sensitivity, which depends on the records.

    Parameters
    ----------
    noise : {"laplace", "laplace-tight", "student"}
        Laplace noise of scale 2 S/epsilon, with the papers' discount or with the largest one that
        has the guarantee; both need delta > 0. Student's t has delta = 0.
    quantile : float
        The share of the records below it.
    measure : {"squared", "relative"}
        What its error is.
    padding : {"bounds", "none"}
        Without the declared bounds beyond the last records the release is NOT private; the paper
        leaves open what stands there, and this variant is for comparing with it.
    degrees : int
        Of Student's t; at least 3.

    Examples
    --------
    >>> ages = Column.from_counts([20, 30, 40, 60], [300, 400, 200, 101], bounds=(0, 100))
    >>> target = Guarantee(1.0, 1e-5, "replace")
    >>> SmoothQuantile().centers_and_scales(ages, ages.counts[None, :], ages.bounds, target)
    (array([30.]), array([0.00576501]))
    """

    noise: SmoothKind = "laplace"
    quantile: float = MEDIAN
    measure: Measure = "squared"
    padding: Padding = "bounds"
    degrees: int = 3

    def __post_init__(self) -> None:
        self._checked()
        if self.noise not in ("laplace", "laplace-tight", "student"):
            raise InvalidInput(
                f"Expected noise={self.noise!r} to be 'laplace', 'laplace-tight' or 'student'."
            )
        if self.padding not in ("bounds", "none"):
            raise InvalidInput(f"Expected padding={self.padding!r} to be 'bounds' or 'none'.")
        StudentT(degrees=self.degrees)

    @property
    def private(self) -> bool:
        """Whether the declared bounds stand beyond the last records."""
        return self.padding == "bounds"

    def __str__(self) -> str:
        noise = {
            "laplace": "Laplace noise",
            "laplace-tight": "tightly calibrated Laplace noise",
            "student": f"Student's t noise with {self.degrees} degrees of freedom",
        }[self.noise]
        unpadded = "" if self.private else " without padding (NOT private)"
        return f"{self.name}, smooth sensitivity{unpadded}, {noise}"

    def calibration(self, guarantee: Guarantee) -> SmoothNoise:
        """Return the noise that gives the guarantee."""
        self.require_relation(guarantee)
        if self.noise == "student":
            return student_noise(guarantee, self.degrees)
        if self.noise == "laplace-tight":
            return tight_laplace(guarantee)
        return published_laplace(guarantee)

    def unit_noise(self, guarantee: Guarantee) -> Noise:
        """Return the kind of noise."""
        return self.calibration(guarantee).unit

    def centers_and_scales(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the quantile of each row and its smooth sensitivity times the factor."""
        noise = self.calibration(guarantee)
        centers, sensitivities = self.sensitivities(column, counts, bounds, noise.beta)
        return centers, noise.factor * sensitivities

    def unseen_error(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: Any,
        runs: int,
    ) -> float:
        """Return infinity where squared errors have no variance: no number of runs shows them."""
        heavy = self.noise == "student" and self.degrees <= 4 and self.measure == "squared"
        return math.inf if heavy else 0.0

    def sensitivities(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        beta: float,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the quantile and the smooth sensitivity of each row of counts."""
        lower, upper = require_bounds(bounds, self.name)
        padded = self.padding == "bounds"
        centers, smooth = _smooth_rows(
            as_array(column.values),
            counts,
            self.quantile,
            lower,
            upper,
            padded,
            beta,
            spacing(lower, upper),
        )
        return centers, np.maximum(smooth, smooth_floor(lower, upper)) if padded else smooth


@compiled
def row_quantiles(
    values: FloatArray, counts: Counts, share: float
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the quantile and the size of each row of counts."""
    centers = np.empty(len(counts))
    sizes = np.empty(len(counts), dtype=np.int64)
    for row in range(len(counts)):
        sizes[row] = counts[row].sum()
        low, high = quantile_ranks(share, sizes[row])
        index, rank = 0, counts[row, 0]
        while rank < low:
            index += 1
            rank += counts[row, index]
        center = values[index]
        while rank < high:
            index += 1
            rank += counts[row, index]
        centers[row] = 0.5 * (center + values[index])
    return centers, sizes


@compiled
def _smooth_rows(
    values: FloatArray,
    counts: Counts,
    share: float,
    lower: float,
    upper: float,
    padded: bool,
    beta: float,
    rounding: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the quantile and the smooth sensitivity of each row of counts.

    Where two records are averaged, `rounding` is added; with a constant it stays as smooth.
    """
    centers, sensitivities = np.empty(len(counts)), np.empty(len(counts))
    for row in range(len(counts)):
        center, weight, around = outward(values, counts[row], share, lower, upper, padded)
        centers[row] = center
        sensitivities[row] = weight * largest_discounted(around, beta)
        if weight < 1:
            sensitivities[row] += rounding
    return centers, sensitivities


_LAPLACE = Laplace()


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
        return Laplace(2 / guarantee.epsilon).cdf(as_array(distance) - threshold)[()]

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
        released = _LAPLACE.mean_distance(centers - truth, np.full(centers.shape, scale))
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
