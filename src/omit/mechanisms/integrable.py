"""Mechanisms whose noise can be integrated out: given the records, the error is a formula.

A simulation then has to draw the records that are left, but no noise, and its interval is that much
narrower; where nothing is left out, nothing is drawn at all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee, Relation
from omit.mechanisms.additive import UnitNoise
from omit.mechanisms.base import Counts, Mechanism

Measure = Literal["squared", "relative"]


class Moments(NamedTuple):
    """The mean and the variance of the answer over the noise, for each row of counts."""

    mean: FloatArray
    variance: FloatArray


class NearZero(NamedTuple):
    """A column, bounds and a truth less an origin, so that floats have digits for differences."""

    column: Column
    bounds: tuple[float, float] | None
    truth: float
    origin: float

    @classmethod
    def of(
        cls,
        column: Column,
        bounds: tuple[float, float] | None,
        truth: float = 0.0,
        statistic: Callable[[Column], float] | None = None,
    ) -> NearZero:
        """Return all three, moved if the column is far from 0.

        If the truth is the column's own `statistic`, it is then known to more digits than the
        float that stands for it has.
        """
        moved, origin = column.moved_to_zero()
        if origin == 0:
            return cls(column, bounds, truth, 0.0)
        moved_bounds = None if bounds is None else (bounds[0] - origin, bounds[1] - origin)
        own = statistic is not None and truth == statistic(column)
        moved_truth = statistic(moved) if own and statistic is not None else truth - origin
        return cls(moved, moved_bounds, moved_truth, origin)


class IntegrableMechanism(Mechanism):
    """A protected statistic whose answer has known moments, given the records.

    Defined under replace, where the number of records is public. `measure` is ``"squared"`` for
    the mean squared error or ``"relative"`` for the expected distance in per cent of the truth.
    """

    measure: Measure
    relations: ClassVar[tuple[Relation, ...]] = (REPLACE,)
    published_runs: ClassVar[int] = 1000

    @property
    def metric(self) -> str:
        """Mean squared error, or relative error."""
        return "mean squared error" if self.measure == "squared" else "relative error"

    @property
    def unit(self) -> str:
        """Squared units, or per cent."""
        return "squared units" if self.measure == "squared" else "%"

    @abstractmethod
    def moments(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> Moments:
        """Return the mean and the variance of the answer for each row of counts."""

    @abstractmethod
    def distances(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: float,
    ) -> FloatArray:
        """Return the expected distance of the answer from the truth for each row of counts."""

    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        """Return squared differences to the truth, or distances in per cent of it."""
        if self.measure == "squared":
            return as_array((answers - truth) ** 2)
        return as_array(self.per_cent(truth) * np.abs(answers - truth))

    def expected_errors(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: float,
    ) -> FloatArray:
        """Return the expected error over the noise for each row of counts."""
        near = NearZero.of(column, bounds, truth, self.truth)
        if self.measure == "squared":
            mean, variance = self.moments(near.column, counts, near.bounds, guarantee)
            return as_array((mean - near.truth) ** 2 + variance)
        distances = self.distances(near.column, counts, near.bounds, guarantee, near.truth)
        return as_array(self.per_cent(truth) * distances)

    @staticmethod
    def per_cent(truth: float) -> float:
        """Return by what a distance is multiplied to be in per cent of the truth."""
        if truth == 0:
            raise InvalidInput("The truth is 0, so a relative error does not exist.")
        return 100 / abs(truth)

    def _checked_measure(self) -> None:
        if self.measure not in ("squared", "relative"):
            raise InvalidInput(f"Expected measure={self.measure!r} to be 'squared' or 'relative'.")


class AdditiveMechanism(IntegrableMechanism):
    """A statistic plus noise of one kind, whose scale may depend on the records."""

    @abstractmethod
    def unit_noise(self, guarantee: Guarantee) -> UnitNoise:
        """Return the kind of noise."""

    @abstractmethod
    def centers_and_scales(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the statistic of each row of counts and the scale of its noise."""

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return one noisy statistic for each row of counts."""
        # The noise is added near 0: a statistic that was rounded far from 0 jumps by more than it
        # was calibrated for, while an answer may be rounded as one likes.
        near = NearZero.of(column, bounds)
        centers, scales = self.centers_and_scales(near.column, counts, near.bounds, guarantee)
        noisy = centers + scales * self.unit_noise(guarantee).draw(rng, centers.shape)
        return as_array(noisy + near.origin)

    def moments(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> Moments:
        """Return the statistic of each row and the variance of its noise."""
        centers, scales = self.centers_and_scales(column, counts, bounds, guarantee)
        return Moments(centers, self.unit_noise(guarantee).variance * scales**2)

    def distances(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: float,
    ) -> FloatArray:
        """Return the expected distance of each row's noisy statistic from the truth."""
        centers, scales = self.centers_and_scales(column, counts, bounds, guarantee)
        return self.unit_noise(guarantee).absolute(centers - truth, scales)


def by_size(scale: Callable[[int], float], sizes: NDArray[np.int64]) -> FloatArray:
    """Return the scale for each number of records, computed once for equal numbers."""
    scales = {int(size): scale(int(size)) for size in np.unique(sizes)}
    return as_array([scales[int(size)] for size in sizes])


def require_bounds(bounds: tuple[float, float] | None, what: str) -> tuple[float, float]:
    """Return bounds, or refuse a column that has none."""
    if bounds is None:
        raise InvalidInput(f"The {what} needs a column of numbers with declared bounds.")
    if bounds[0] == bounds[1]:
        raise InvalidInput(f"The bounds are one point, so the {what} is public and needs no noise.")
    return bounds
