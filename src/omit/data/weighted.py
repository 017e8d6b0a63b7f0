"""A column of numbers with a weight for each record, as surveys have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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

    Made by `WeightedColumn.from_values`. Its atoms are the distinct pairs of value and weight.

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

    Examples
    --------
    >>> incomes = WeightedColumn.from_values(
    ...     [10, 20, 20, 90], [1, 2, 2, 700], bounds=(0, 100), largest_weight=500
    ... )
    >>> incomes, incomes.mean
    (WeightedColumn('values': 4 records, 3 distinct pairs, bounds [0, 100] declared), 89.287...)
    >>> incomes.notes
    ('values: 1 of 4 records had a value outside its bounds and was clamped.',)
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

    described: ClassVar[str] = "a column with weights, which WeightedColumn.from_values gives"
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
        lower, upper = base.checked_bounds(bounds)
        largest = _validate.positive("largest_weight", largest_weight)
        numbers = raw.record_numbers(name, values)
        weighing = raw.record_numbers("weights", weights)
        if numbers.shape != weighing.shape:
            raise InvalidInput(f"Expected a weight for each of {len(numbers):,} values.")
        present = ~(np.isnan(numbers) | np.isnan(weighing))
        missing = int((~present).sum())
        numbers, weighing = numbers[present], weighing[present]
        if not len(numbers):
            raise base.no_records(f"{name} has no record with a value and a weight", missing)
        if (weighing < 0).any():
            raise InvalidInput(f"Expected weights of at least 0, got {weighing.min():g}.")
        outside = (numbers < lower) | (numbers > upper) | (weighing > largest)
        pairs = np.stack([np.clip(numbers, lower, upper), np.minimum(weighing, largest)], axis=1)
        distinct, counts = np.unique(pairs + 0.0, axis=0, return_counts=True)
        return cls(
            name,
            distinct[:, 0],
            distinct[:, 1],
            counts,
            (lower, upper),
            largest,
            clamped=int(outside.sum()),
            missing=missing,
        )

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
        weights = self.counts * self.weights
        if not weights.any():
            raise InvalidInput(f"All weights of {self.name!r} are 0, so it has no weighted mean.")
        return self.bounds[0] + float(weights @ (self.values - self.bounds[0]) / weights.sum())

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
