"""A column of numbers with a weight for each record, as surveys have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit._text import show_records
from omit.data import base
from omit.data import values as raw
from omit.data.column import Column, draws_of_counts
from omit.data.distances import DistanceTotals
from omit.errors import InvalidInput
from omit.laws.design import Design


@dataclass(frozen=True, eq=False, repr=False)
class WeightedColumn(base.Data):
    """Values with weights, both within declared bounds.

    Made by `read` with a weight, or by `WeightedColumn.from_values`. Its atoms are the distinct
    pairs of value and weight.

    Parameters
    ----------
    values, weights : array
        The distinct pairs that occur, sorted by value and weight. Read-only.
    counts : array of int
        The number of records with each pair. Read-only.
    bounds : tuple of float
        The smallest and largest value a record can have.
    largest_weight : float
        The largest weight a record can have; the smallest is 0.
    as_read : WeightedColumn or None
        The pairs before any of them was clamped; None if none was.

    Examples
    --------
    >>> incomes = WeightedColumn.from_values(
    ...     [10, 20, 20, 90], [1, 2, 2, 700], bounds=(0, 100), largest_weight=500
    ... )
    >>> incomes, incomes.mean
    (WeightedColumn('values': 4 records, 3 distinct pairs, bounds [0, 100] declared), 89.287...)
    >>> incomes.notes
    ('values: 1 of 4 records had a value or a weight outside its bounds and was clamped.',)
    >>> incomes.before_clamping.mean
    89.48...
    """

    name: str
    values: FloatArray
    weights: FloatArray
    counts: IntArray
    bounds: tuple[float, float]
    largest_weight: float
    bounds_source: base.BoundsSource = "declared"
    clamped: int = 0
    missing: int = 0
    source: str = field(default="values in memory", compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)
    as_read: WeightedColumn | None = None

    described: ClassVar[str] = "a column with weights, which read(..., weight=...) gives"
    coupled: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _validate.instance("the name of a column", self.name, str)
        self._require_origin()
        bounds = base.checked_bounds(self.bounds)
        largest = _validate.positive("largest_weight", self.largest_weight)
        values, weights = as_array(self.values).copy(), as_array(self.weights).copy()
        counts = raw.whole_counts(self.name, self.counts)
        if values.ndim != 1 or not len(values) or not values.shape == weights.shape == counts.shape:
            raise InvalidInput(f"Expected a weight and a count for each value of {self.name!r}.")
        inside = (values >= bounds[0]) & (values <= bounds[1]) & (weights >= 0)
        if not (inside & (weights <= largest)).all():
            raise InvalidInput(
                f"Expected the values of {self.name!r} within {base.show_bounds(bounds)} and the "
                f"weights in [0, {largest:g}]."
            )
        self._set(bounds=bounds, largest_weight=largest)
        self._set(values=values, weights=weights, counts=counts)

    def __repr__(self) -> str:
        return (
            f"WeightedColumn({self.name!r}: {show_records(self.size)}, {self.distinct:,} distinct "
            f"pairs, bounds {base.show_bounds(self.bounds)} {self.bounds_source})"
        )

    @classmethod
    def from_values(
        cls,
        values: Any,
        weights: Any,
        bounds: tuple[float, float],
        largest_weight: float,
        *,
        name: str = "values",
    ) -> WeightedColumn:
        """Return the column of records in memory; what is outside the bounds is clamped.

        `InvalidInput` is raised for what is no number, for weights below 0, and without records.
        """
        numbers = raw.record_numbers(name, values)
        weighing = raw.record_numbers("weights", weights)
        if numbers.shape != weighing.shape:
            raise InvalidInput(f"Expected a weight for each of {len(numbers):,} values.")
        once = np.ones(len(numbers), dtype=np.int64)
        return cls.from_pairs(numbers, weighing, once, bounds, largest_weight, name=name)

    @classmethod
    def from_pairs(
        cls,
        values: FloatArray,
        weights: FloatArray,
        counts: IntArray,
        bounds: base.Bounds,
        largest_weight: float,
        *,
        name: str = "values",
    ) -> WeightedColumn:
        """Return the column of counted pairs of value and weight, with NaN where one is missing.

        `InvalidInput` is raised as by `from_values`.
        """
        largest = _validate.positive("largest_weight", largest_weight)
        present = ~(np.isnan(values) | np.isnan(weights))
        missing = int(counts[~present].sum())
        values, weights, counts = values[present], weights[present], counts[present]
        if not counts.sum():
            raise base.no_records(f"{name} has no record with a value and a weight", missing)
        if (weights < 0).any():
            raise InvalidInput(f"Expected weights of at least 0, got {weights.min():g}.")
        lower, upper = base.resolve_bounds(bounds, values)
        outside = (values < lower) | (values > upper) | (weights > largest)
        as_read = None
        if outside.any():
            widest = min(lower, float(values.min())), max(upper, float(values.max()))
            read = _distinct_pairs(values, weights, counts)
            as_read = cls(name, *read, widest, max(float(weights.max()), largest))
        clipped = np.clip(values, lower, upper), np.minimum(weights, largest)
        return cls(
            name,
            *_distinct_pairs(*clipped, counts),
            (lower, upper),
            largest,
            base.origin_of(bounds),
            clamped=int(counts[outside].sum()),
            missing=missing,
            as_read=as_read,
        )

    @property
    def before_clamping(self) -> WeightedColumn:
        """The pairs as they were read; its mean is what answers are compared with."""
        return self if self.as_read is None else self.as_read

    def with_bounds(self, bounds: tuple[float, float]) -> WeightedColumn:
        """Return the column of the same records with other declared bounds of the values.

        What was clamped is taken as it was read.
        """
        read = self.before_clamping
        pairs = as_array(read.values), as_array(read.weights), read.counts
        checked = base.checked_bounds(bounds)
        column = self.from_pairs(*pairs, checked, self.largest_weight, name=self.name)
        return replace(column, missing=self.missing, source=self.source, remarks=self.remarks)

    @property
    def _outside(self) -> str:
        return "records had a value or a weight outside its bounds"

    @property
    def size(self) -> int:
        """The number of records, without the missing ones."""
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        """The number of different pairs."""
        return len(self.counts)

    @property
    def multiplicities(self) -> IntArray:
        """The number of records with each pair."""
        return self.counts

    @cached_property
    def mean(self) -> float:
        """The weighted mean."""
        return self.bounds[0] + self.mean_above(self.bounds[0])

    def mean_above(self, origin: float) -> float:
        """Return what the weighted mean exceeds a number by, to all digits if it is near."""
        weights = self.counts * self.weights
        if not weights.any():
            raise InvalidInput(f"All weights of {self.name!r} are 0, so it has no weighted mean.")
        return float(weights @ (self.values - origin) / weights.sum())

    @property
    def declaration(self) -> str:
        """A sentence on which values are possible, and who says so."""
        origin = base.ORIGIN_OF_BOUNDS[self.bounds_source]
        values, weights = base.show_bounds(self.bounds), f"[0, {self.largest_weight:.10g}]"
        return f"Values lie in {values} and weights in {weights}, {origin}."

    def draws(
        self, design: Design, runs: int, rng: np.random.Generator
    ) -> Iterator[tuple[IntArray, np.random.Generator]]:
        """Yield rows of counts of the pairs that are kept, as many as memory should hold."""
        return draws_of_counts(self.counts, design, runs, rng)

    def _distances(self, distance: str) -> DistanceTotals:
        """Return those of the values: weights make nobody an outlier."""
        distinct, which = np.unique(self.values, return_inverse=True)
        counts = np.bincount(which, self.counts).astype(np.int64)
        values = Column(self.name, distinct, counts, self.bounds)
        totals = values.mean_distances(distance)
        return DistanceTotals(totals.totals[which], totals.whole)


def _distinct_pairs(
    values: FloatArray, weights: FloatArray, counts: IntArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the pairs in order, each once, with the number of its records."""
    pairs = np.stack([values, weights], axis=1) + 0.0
    distinct, which = np.unique(pairs, axis=0, return_inverse=True)
    total = np.bincount(which.ravel(), counts, minlength=len(distinct)).astype(np.int64)
    return distinct[:, 0], distinct[:, 1], total
