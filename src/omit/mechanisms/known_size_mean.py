"""The mean of a known number of records, with noise of the mean's own sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.additive import UnitNoise
from omit.mechanisms.base import Counts
from omit.mechanisms.integrable import AdditiveMechanism, Measure, by_size, require_bounds
from omit.mechanisms.noise import calibrated_scale


@dataclass(frozen=True)
class KnownSizeMean(AdditiveMechanism):
    """The mean plus noise for the sensitivity R/n: the width of the bounds by the records.

    Under replace, where the number of records is public. The same release as `NoisyMean` under
    replace; this one can be judged by its mean squared error, which has a closed form.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Gaussian noise needs delta > 0.
    measure : {"squared", "relative"}
        What its error is.

    Examples
    --------
    >>> KnownSizeMean().scale(Guarantee(0.5, neighbours="replace"), (0, 100), 1000)
    0.2
    """

    noise: Literal["laplace", "gaussian"] = "laplace"
    measure: Measure = "squared"

    statistic: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        self._checked_measure()
        if self.noise not in ("laplace", "gaussian"):
            raise InvalidInput(f"Expected noise={self.noise!r} to be 'laplace' or 'gaussian'.")

    def __str__(self) -> str:
        return f"mean of known size, {self.noise.capitalize()} noise"

    def scale(
        self, guarantee: Guarantee, bounds: tuple[float, float] | None, records: int
    ) -> float:
        """Return the scale of the noise that gives the guarantee to a mean of so many records."""
        self.require_relation(guarantee)
        lower, upper = require_bounds(bounds, "mean")
        return calibrated_scale(self.noise, guarantee, (upper - lower) / records)

    def truth(self, column: Column) -> float:
        """Return the mean of the column."""
        return column.mean

    def unit_noise(self, guarantee: Guarantee) -> UnitNoise:
        """Return the kind of noise."""
        return UnitNoise(self.noise)

    def centers_and_scales(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean of each row and the same scale for all rows of one size."""
        sizes = counts.sum(axis=1)
        scales = by_size(lambda size: self.scale(guarantee, bounds, size), sizes)
        return as_array(counts @ as_array(column.values) / sizes), scales
