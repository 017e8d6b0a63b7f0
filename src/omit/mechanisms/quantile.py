"""Medians and other quantiles with noise, by global or by smooth sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.additive import UnitNoise
from omit.mechanisms.base import Counts
from omit.mechanisms.integrable import (
    AdditiveMechanism,
    IntegrableMechanism,
    Measure,
    by_size,
    require_bounds,
)
from omit.mechanisms.noise import calibrated_scale
from omit.mechanisms.order import (
    MEDIAN,
    checked_share,
    outward,
    quantile_ranks,
    spacing,
)
from omit.mechanisms.sensitivity import Padding, smooth_floor
from omit.mechanisms.smooth_noise import (
    SmoothNoise,
    published_laplace,
    student_noise,
    tight_laplace,
)
from omit.mechanisms.windows import largest_discounted

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

    def unit_noise(self, guarantee: Guarantee) -> UnitNoise:
        """Return Laplace noise."""
        return UnitNoise("laplace")

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
        return calibrated_scale("laplace", guarantee, sensitivity)

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
        UnitNoise("student", self.degrees)

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

    def unit_noise(self, guarantee: Guarantee) -> UnitNoise:
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
