"""A quantile chosen among the points of a column with a declared step.

A point scores minus the distance of the wanted rank from the ranks that records at the point could
have (`exact.choice`). One record moves the scores of some points up and of others down. Only how
far apart these changes are matters, since scores that all move alike choose the same point:

- *add-remove*: the wanted rank `q n` moves with the number of records, so a record changes a score
  by `q` or `1 - q`, in either direction; the changes are `2 max(q, 1 - q)` apart at most.
- *replace*: a record that is exchanged changes a score by 1 at most; the changes are 2 apart.

That, divided by epsilon, is the scale, for permute-and-flip and for the exponential mechanism; no
smaller one does for all lattices (the documentation, "How much noise a choice needs").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.data.column import Column
from omit.data.steps import lattice_indices, lattice_points, steps_between
from omit.errors import InvalidInput, NotExact
from omit.exact.choice import (
    Choice,
    ChosenMoments,
    Lattice,
    chosen_moments,
    chosen_points,
    sums_between,
)
from omit.exact.error import ExpectedError
from omit.exact.order import MEDIAN
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, NoNoiseNeeded, Relation
from omit.laws.design import Design
from omit.laws.intervals import Interval, bounded_interval
from omit.laws.noise import Exponential
from omit.mechanisms.base import Counts, independent_inclusion, per_cent, require_bounds
from omit.mechanisms.moments import Moments, NearZero, PreparedMoments
from omit.mechanisms.quantiles import Metric, QuantileMechanism

Selection = Literal["permute-and-flip", "exponential"]
# What a float may be off a whole number of steps by.
_ROUNDING = 1e-6
# What betting leaves open where errors hardly vary, in units of their range by the runs.
_OPEN = 4.5


@dataclass(frozen=True)
class LatticeQuantile(QuantileMechanism):
    """A quantile chosen among the points of a column with a step: epsilon-DP.

    Answers are values that a record can have. After an omission that leaves no record, every point
    is as likely as any other.

    Parameters
    ----------
    selection : {"permute-and-flip", "exponential"}
        How a point is chosen. Permute-and-flip never has the heavier tail of scores (McKenna and
        Sheldon 2020).
    quantile, metric
        As for all quantiles.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 30, 40, 60], bounds=(0, 100), step=1)
    >>> prepared = LatticeQuantile().prepare(ages, Guarantee(20.0))
    >>> mean, variance = prepared.moments(ages.counts[None, :])
    >>> round(float(mean[0]), 4), round(float(variance[0]), 4)
    (30.0012, 0.0087)
    """

    selection: Selection = "permute-and-flip"
    quantile: float = MEDIAN
    metric: Metric = "squared"

    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE, REPLACE)

    def __post_init__(self) -> None:
        self._checked()
        _validate.one_of("selection", self.selection, ("permute-and-flip", "exponential"))

    def __str__(self) -> str:
        how = "exponential mechanism" if self.selection == "exponential" else self.selection
        return f"{self.name}, {how} on a lattice"

    def averages_two(self, size: int) -> bool:
        """Return False: single points are scored, with the same sensitivity for every size."""
        return False

    def scale(self, guarantee: Guarantee) -> float:
        """Return by how many ranks a point is further off that is chosen 1/e times as often."""
        self.require_relation(guarantee)
        if guarantee.neighbours == REPLACE:
            apart = 2.0
        else:
            apart = 2 * max(self.quantile, 1 - self.quantile)
        return Exponential.calibrated(guarantee, apart, linf=apart / 2).scale

    def calibrated(
        self, guarantee: Guarantee, column: Column, truth: float, near: NearZero
    ) -> PreparedLattice:
        """Return the quantile with the scale of the guarantee."""
        scale = self.scale(guarantee)
        return PreparedLattice(self, guarantee, column, truth, near, scale)

    def without_noise(
        self, promise: NoNoiseNeeded, column: Column, truth: float, near: NearZero
    ) -> PreparedLattice:
        """Return one of the points with the best score, every one alike."""
        return PreparedLattice(self, promise, column, truth, near, 0.0)


@dataclass(frozen=True, eq=False)
class PreparedLattice(PreparedMoments):
    """A quantile that is chosen among the points within the bounds."""

    mechanism: LatticeQuantile
    scale: float

    def __post_init__(self) -> None:
        require_bounds(self.near.bounds, self.mechanism.name)
        if self.near.column.step is None:
            raise InvalidInput(
                f"Column {self.column.name!r} has no declared step, so there are no points to "
                f"choose a {self.mechanism.name} from; declare one, such as step=1 for whole "
                "numbers, or use a mechanism for continuous columns, such as exponential."
            )
        if self._lattice.last < 0:
            raise InvalidInput(f"The bounds leave no point to choose a {self.mechanism.name} from.")

    def near_answers(self, counts: Counts, rng: np.random.Generator) -> FloatArray:
        """Return one chosen point, less the origin, for each row of counts."""
        points = chosen_points(self._lattice, counts[:, self._inside], self._choice, rng)
        column, first = self.near.column, self._range[0]
        assert column.bounds is not None
        return lattice_points(column.bounds[0], self._step, first + points)

    def moments(self, counts: Counts) -> Moments:
        """Return the mean and the variance of the chosen point for each row of counts."""
        mean, variance, _ = self._chosen(counts)
        return Moments(as_array(self._lowest + self._step * mean), self._step**2 * variance)

    def distances(self, counts: Counts) -> FloatArray:
        """Return the expected distance of the chosen point from the truth, for each row."""
        return as_array(self._step * self._chosen(counts)[2])

    @property
    def largest_error(self) -> float:
        """That of the first or the last point."""
        return float(self._errors_at(as_array([0.0, self._lattice.last])).max())

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the error without omission, or after one of few enough records."""
        if design.keeps_all:
            return super().exact_error(design, tolerance=tolerance, details=details, quick=quick)
        from omit.exact.sampled_choice import sampled_choice

        inside = self._inside
        counts, inclusion = self.column.counts[inside], self._inclusion(design)[inside]
        if design.size is None and ((inclusion == 0) | (inclusion == 1)).all():
            left = np.where(inside, self.column.counts, 0)
            left[inside] = counts * (inclusion == 1)
            return self._rounded(float(self.integrated_errors(left[None, :])[0]))
        sums, size = self._error_sums(), design.size
        value, rare = sampled_choice(
            self._lattice, counts, inclusion, self._choice, sums, size=size, quick=quick
        )
        error, unseen = self._rounded(value), rare * self.largest_error
        return replace(error, low=max(error.low - unseen, 0.0), high=error.high + unseen)

    def _interval_beyond(
        self, known: float, drawn: FloatArray, design: Design
    ) -> tuple[Interval, bool]:
        """Return an interval that holds though samples with large errors are rare."""
        best, added, largest = self.largest_error, 0.0, self.largest_error
        try:
            inclusion = self._inclusion(design)[self._inside]
        except NotExact:
            return bounded_interval(drawn, 0.0, largest), False
        from omit.exact.usual_choice import usual_choices

        counts = self.column.counts[self._inside]
        open_width = math.inf
        for usual in usual_choices(self._lattice, counts, inclusion, self._choice, design.size):
            ends = self._errors_at(as_array([usual.first, usual.last]))
            height = min(float(ends.max()) + usual.outside * largest, largest)
            width = _OPEN / len(drawn) * height + usual.rare * largest
            if width < open_width:
                open_width, best, added = width, height, usual.rare * (largest - height)
        value = float(drawn.mean())
        interval = bounded_interval(np.minimum(drawn, best), 0.0, best)
        high = max(min(interval.high + added, largest), value)
        return Interval(value, min(interval.low, value), high), False

    def _inclusion(self, design: Design) -> FloatArray:
        """Return the probability that a record with each value is kept."""
        if design.size is not None:
            return np.full(len(self.column.counts), design.size / self.column.size)
        return independent_inclusion(design, len(self.column.counts))

    def _chosen(self, counts: Counts) -> ChosenMoments:
        return chosen_moments(self._lattice, counts[:, self._inside], self._choice, self._truth)

    def _errors_at(self, points: FloatArray) -> FloatArray:
        """Return the error of the choice of each of these points."""
        distance = self._step * np.abs(points - self._truth)
        if self.mechanism.metric == "squared":
            return as_array(distance**2)
        return as_array(per_cent(self.truth) * distance)

    def _error_sums(self) -> tuple[FloatArray, FloatArray]:
        """Return the error of each value, and of all points together between two of them."""
        values = self._lattice.values
        starts, ends = np.append(0, values + 1), np.append(values - 1, self._lattice.last)
        squares, distances = sums_between(starts, ends, self._truth)
        if self.mechanism.metric == "squared":
            return self._errors_at(as_array(values)), self._step**2 * squares
        between = per_cent(self.truth) * self._step * distances
        return self._errors_at(as_array(values)), as_array(between)

    @property
    def _step(self) -> float:
        assert self.near.column.step is not None
        return self.near.column.step

    @cached_property
    def _range(self) -> tuple[int, int]:
        """The first and the last point within the bounds, in steps from the column's lower one."""
        lower, upper = require_bounds(self.near.bounds, self.mechanism.name)
        origin = require_bounds(self.near.column.bounds, self.mechanism.name)
        first = max(math.ceil((lower - origin[0]) / self._step - _ROUNDING), 0)
        last = math.floor((upper - origin[0]) / self._step + _ROUNDING)
        return first, min(last, steps_between(origin, self._step))

    @cached_property
    def _indices(self) -> IntArray:
        """Which points the values are, from the first within the bounds on."""
        column, first = self.near.column, self._range[0]
        assert column.bounds is not None
        return lattice_indices(column.values, column.bounds[0], self._step) - first

    @cached_property
    def _inside(self) -> NDArray[np.bool_]:
        """Which values are within the bounds; others are never left."""
        first, last = self._range
        return (self._indices >= 0) & (self._indices <= last - first)

    @cached_property
    def _lattice(self) -> Lattice:
        first, last = self._range
        return Lattice(self._indices[self._inside], last - first)

    @property
    def _choice(self) -> Choice:
        mechanism = self.mechanism
        return Choice(mechanism.quantile, self.scale, mechanism.selection == "permute-and-flip")

    @property
    def _lowest(self) -> float:
        """The first point within the bounds."""
        column = self.near.column
        assert column.bounds is not None
        return float(lattice_points(column.bounds[0], self._step, np.array([self._range[0]]))[0])

    @property
    def _truth(self) -> float:
        """The truth in steps from the first point on."""
        return (self.near.truth - self._lowest) / self._step
