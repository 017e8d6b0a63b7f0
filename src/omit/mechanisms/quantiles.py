"""Medians and other quantiles with noise, by global or by smooth sensitivity."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.exact.order import (
    MEDIAN,
    SampledMoments,
    checked_share,
    largest_discounted,
    outward,
    quantile_ranks,
    rank_probabilities,
    sampled_quantile,
    spacing,
)
from omit.guarantee import REPLACE, Guarantee, NoNoiseNeeded, Relation
from omit.laws.design import Design, FixedSize
from omit.laws.noise import Laplace, StudentT
from omit.mechanisms.base import (
    Bounds,
    Counts,
    NumberMechanism,
    Promise,
    given_or_own,
    require_bounds,
    require_metric,
)
from omit.mechanisms.moments import (
    NearZero,
    PreparedAdditive,
    PreparedMoments,
    by_size,
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
Metric = Literal["squared", "relative"]

_LAPLACE = Laplace()
# Beyond, the probabilities of all ranks would not fit into memory with ease.
_LARGEST_POPULATION = 20_000_000


class QuantileMechanism(NumberMechanism):
    """A protected quantile; most know their noise under replace, for a public number of records.

    Parameters
    ----------
    quantile : float
        The share of the records below it.
    metric : {"squared", "relative"}
        The mean squared error, or the expected distance in per cent of the truth.
    """

    quantile: float

    relations: ClassVar[tuple[Relation, ...]] = (REPLACE,)
    within_bounds: ClassVar[bool] = True
    published_runs: ClassVar[int] = 1000

    @property
    def statistic(self) -> str:
        """The word median, or quantile."""
        return "median" if self.quantile == MEDIAN else "quantile"

    @property
    def name(self) -> str:
        """The median, or which quantile."""
        return "median" if self.quantile == MEDIAN else f"{self.quantile:g}-quantile"

    @property
    def searches_sizes(self) -> bool:
        """Whether samples of any size may be the best: they may."""
        return True

    def averages_two(self, size: int) -> bool:
        """Tell whether this is the median of an even number."""
        return self.quantile == MEDIAN and size % 2 == 0

    def truth(self, column: Column) -> float:
        """Return the quantile of the column: the mean of the middle two for an even median.

        Raises
        ------
        InvalidInput
            If the values are texts.
        """
        if column.is_text:
            raise InvalidInput(f"Column {column.name!r} is text and has no {self.name}.")
        column.require_values(f"the {self.name}")
        ends = np.cumsum(column.counts)
        low, high = quantile_ranks(self.quantile, column.size)
        first, second = np.searchsorted(ends, [low, high])
        return 0.5 * float(column.values[first] + column.values[second])

    def prepare(
        self,
        data: Column,
        promise: Promise,
        *,
        bounds: Bounds | None = None,
        truth: float | None = None,
    ) -> PreparedMoments:
        """Return the quantile of the column with the noise that the promise needs."""
        target = given_or_own(truth, self.truth(data.before_clamping))
        near = NearZero.of(data, data.bounds if bounds is None else bounds, target, self.truth)
        if isinstance(promise, NoNoiseNeeded):
            return self.without_noise(promise, data, target, near)
        self.require_relation(promise)
        return self.calibrated(promise, data, target, near)

    def without_noise(
        self, promise: NoNoiseNeeded, column: Column, truth: float, near: NearZero
    ) -> PreparedMoments:
        """Return the quantile of the column itself."""
        return BareQuantile(self, promise, column, truth, near, _LAPLACE)

    @abstractmethod
    def calibrated(
        self, guarantee: Guarantee, column: Column, truth: float, near: NearZero
    ) -> PreparedMoments:
        """Return the quantile of the column with the noise that gives the guarantee."""

    def _checked(self) -> None:
        object.__setattr__(self, "quantile", checked_share(self.quantile))
        require_metric(self.metric)


@dataclass(frozen=True, eq=False)
class PreparedQuantile(PreparedMoments):
    """A quantile of a column whose moments over samples without replacement are known."""

    mechanism: QuantileMechanism

    def sampled_moments(self, design: Design) -> SampledMoments | None:
        """Return the exact moments of the bare quantile over samples without replacement."""
        if not isinstance(design, FixedSize) or self.column.size > _LARGEST_POPULATION:
            return None
        return sampled_quantile(self.near.column, design.size, self.mechanism.quantile)

    def statistics(self, counts: Counts, means: FloatArray) -> FloatArray:
        """Return the bare quantile of each row of counts."""
        if self._unbiased:
            return means
        return row_quantiles(as_array(self.near.column.values), counts, self.mechanism.quantile)[0]


@dataclass(frozen=True, eq=False)
class SameNoiseQuantile(PreparedAdditive, PreparedQuantile):
    """A quantile plus noise that is the same for all samples of one size."""

    mechanism: QuantileMechanism

    @abstractmethod
    def scale(self, size: int) -> float:
        """Return the scale of the noise for this many records."""

    def centers_and_scales(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Return the quantile of each row and the same scale for all rows of one size."""
        values = as_array(self.near.column.values)
        centers, sizes = row_quantiles(values, counts, self.mechanism.quantile)
        return centers, by_size(self.scale, sizes)

    def common_scale(self, size: int) -> FloatArray:
        """Return the scale of the noise, which is the same for all samples of a size."""
        return as_array([self.scale(size)])

    def sampled_distance(self, design: FixedSize) -> float:
        """Return the expected distance where the quantile is a single record."""
        low, high = quantile_ranks(self.mechanism.quantile, design.size)
        if low < high:
            return super().sampled_distance(design)
        weights = rank_probabilities(self.column.size, design.size, low)
        distances = np.repeat(
            as_array(self.near.column.values) - self.near.truth, self.column.counts
        )
        scales = np.full(len(distances), self.scale(design.size))
        return float(weights @ self.unit.mean_distance(distances, scales))


@dataclass(frozen=True, eq=False)
class BareQuantile(SameNoiseQuantile):
    """A quantile without any noise."""

    def scale(self, size: int) -> float:
        """Return 0."""
        return 0.0


@dataclass(frozen=True)
class GlobalQuantile(QuantileMechanism):
    """A quantile plus Laplace noise for its global sensitivity, the width of the bounds.

    epsilon-DP under replace. The noise does not shrink as records are added, so it is rarely of
    use; half of it is enough for the median of an even number.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 30, 40, 60], bounds=(0, 100))
    >>> prepared = GlobalQuantile().prepare(ages, Guarantee(2.0, neighbours="replace"))
    >>> prepared.moments(ages.counts[None, :])
    Moments(mean=array([30.]), variance=array([5000.]))
    """

    quantile: float = MEDIAN
    metric: Metric = "squared"

    def __post_init__(self) -> None:
        self._checked()

    def __str__(self) -> str:
        return f"{self.name}, global sensitivity, Laplace noise"

    def scale(self, guarantee: Guarantee, bounds: Bounds | None, records: int) -> float:
        """Return the scale of the noise for this many records."""
        self.require_relation(guarantee)
        lower, upper = require_bounds(bounds, self.name)
        low, high = quantile_ranks(self.quantile, records)
        sensitivity = upper - lower
        if low < high:
            sensitivity = 0.5 * sensitivity + spacing(lower, upper)
        return Laplace.calibrated(guarantee, sensitivity).scale

    def calibrated(
        self, guarantee: Guarantee, column: Column, truth: float, near: NearZero
    ) -> PreparedMoments:
        """Return the quantile with Laplace noise."""
        return PreparedGlobal(self, guarantee, column, truth, near, _LAPLACE)


@dataclass(frozen=True, eq=False)
class PreparedGlobal(SameNoiseQuantile):
    """A quantile plus noise for its global sensitivity."""

    mechanism: GlobalQuantile
    promise: Guarantee

    def scale(self, size: int) -> float:
        """Return the scale of the noise for this many records."""
        return self.mechanism.scale(self.promise, self.near.bounds, size)


@dataclass(frozen=True)
class SmoothQuantile(QuantileMechanism):
    """A quantile plus noise for its smooth sensitivity, which depends on the records.

    Parameters
    ----------
    noise : {"laplace", "laplace-tight", "student"}
        Laplace noise of scale 2 S/epsilon, with the papers' discount or with the largest one that
        has the guarantee; both need delta > 0. Student's t has delta = 0.
    quantile, metric
        As for all quantiles.
    padding : {"bounds", "none"}
        Without the declared bounds beyond the last records the release is NOT private; the paper
        leaves open what stands there, and this variant is for comparing with it.
    degrees : int
        Of Student's t; at least 3.

    Examples
    --------
    >>> ages = Column.from_counts([20, 30, 40, 60], [300, 400, 200, 101], bounds=(0, 100))
    >>> prepared = SmoothQuantile().prepare(ages, Guarantee(1.0, 1e-5, "replace"))
    >>> prepared.centers_and_scales(ages.counts[None, :])
    (array([30.]), array([0.00576501]))
    """

    noise: SmoothKind = "laplace"
    quantile: float = MEDIAN
    metric: Metric = "squared"
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

    def calibrated(
        self, guarantee: Guarantee, column: Column, truth: float, near: NearZero
    ) -> PreparedMoments:
        """Return the quantile with noise for its smooth sensitivity."""
        noise = self.calibration(guarantee)
        return PreparedSmooth(self, guarantee, column, truth, near, noise.unit, noise)

    def sensitivities(
        self,
        column: Column,
        counts: Counts,
        bounds: Bounds | None,
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


@dataclass(frozen=True, eq=False)
class PreparedSmooth(PreparedAdditive, PreparedQuantile):
    """A quantile plus noise for its smooth sensitivity."""

    mechanism: SmoothQuantile
    noise: SmoothNoise

    def centers_and_scales(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Return the quantile of each row and its smooth sensitivity times the factor."""
        centers, sensitivities = self.mechanism.sensitivities(
            self.near.column, counts, self.near.bounds, self.noise.beta
        )
        return centers, as_array(self.noise.factor * sensitivities)

    def unseen_error(self, kept: Counts, runs: int) -> float:
        """Return infinity where squared errors have no variance: no number of runs shows them."""
        mechanism = self.mechanism
        heavy = mechanism.noise == "student" and mechanism.degrees <= 4
        return math.inf if heavy and mechanism.metric == "squared" else 0.0


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
