"""The mean of a known number of records, with noise of the mean's own sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.additive import UnitNoise
from omit.mechanisms.base import Counts
from omit.mechanisms.gaussian import gaussian_scale
from omit.mechanisms.integrable import IntegrableMechanism, Measure, Moments, require_bounds


@dataclass(frozen=True)
class KnownSizeMean(IntegrableMechanism):
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
        if self.noise == "gaussian":
            return gaussian_scale(guarantee, (upper - lower) / records)
        if guarantee.epsilon == 0:
            raise InvalidInput("Laplace noise needs epsilon > 0.")
        return (upper - lower) / records / guarantee.epsilon

    def truth(self, column: Column) -> float:
        """Return the mean of the column."""
        return column.mean

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return one noisy mean for each row of counts."""
        means, scales = self._means_and_scales(column, counts, bounds, guarantee)
        return as_array(means + scales * UnitNoise(self.noise).draw(rng, means.shape))

    def moments(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> Moments:
        """Return the mean of each row and the variance of its noise."""
        means, scales = self._means_and_scales(column, counts, bounds, guarantee)
        return Moments(means, UnitNoise(self.noise).variance * scales**2)

    def distances(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: float,
    ) -> FloatArray:
        """Return the expected distance of each row's noisy mean from the truth."""
        means, scales = self._means_and_scales(column, counts, bounds, guarantee)
        return UnitNoise(self.noise).absolute(means - truth, scales)

    def _means_and_scales(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> tuple[FloatArray, FloatArray]:
        sizes = counts.sum(axis=1)
        scales = {int(size): self.scale(guarantee, bounds, int(size)) for size in np.unique(sizes)}
        means = as_array(counts @ as_array(column.values) / sizes)
        return means, as_array([scales[int(size)] for size in sizes])
