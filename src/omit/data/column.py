"""One column of a table, reduced to what its statistics need: distinct values with counts.

What is public here: the bounds or categories, if they were declared and not taken from the data.
What is not: everything else, the number of records included. A mode is chosen from the domain,
every value that a record can have: choosing among the values that occur would give away who is in
the data.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit._text import show_records
from omit.data import base, steps
from omit.data import values as raw
from omit.data.beyond import Beyond
from omit.data.ranges import DEFAULT_BINS, Joined, Ranges, binned, joined, positions_between_ends
from omit.errors import InvalidInput
from omit.laws.design import Design

if TYPE_CHECKING:
    from omit.data.distances import DistanceTotals

LARGEST_DOMAIN = 1_000_000
# From here on, neighbouring whole numbers can be the same floating-point number.
_LARGEST_WHOLE = 2**53
# How many counts are drawn at a time.
_TABLE = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Column(base.Data):
    """A column with declared bounds (numbers) or declared categories (text).

    Made by `read`, `Column.from_values` or `Column.from_counts`. Two columns are equal if all but
    their `source` and `remarks` is.

    Parameters
    ----------
    name, bounds_source, clamped, missing, source, remarks
        As for all `Data`.
    values : array
        The distinct values that occur, sorted: floats, or texts as objects. Read-only.
    counts : array of int
        How many records have each value. Read-only.
    bounds : tuple of float or None
        The smallest and largest value a record can have; None for text.
    categories : tuple of str or None
        The texts a record can have, in the declared order; None for numbers.
    step : float or None
        Declared for numbers that can only be the lower bound plus a multiple of it, such as 1 for
        whole numbers; None for continuous ones, and for text.
    rounded : int
        The number of records between two such numbers, which were moved to the nearest one.
    beyond : Beyond or None
        The values that were clamped, as they were read; None if there were none, or nobody knows.
    ranges : Ranges or None
        Of a continuous column in bins: every value is the mean of the records in a bin, and these
        are their ends. None where the values are those of the records.

    Examples
    --------
    >>> ages = Column.from_values([39, 25, 39, 130, None], bounds=(0, 125), name="age")
    >>> ages
    Column('age': 4 records, 3 distinct values, bounds [0, 125] declared)
    >>> ages.values, ages.counts, ages.mean, ages.modes
    (array([ 25.,  39., 125.]), array([1, 2, 1]), 57.0, (39.0,))
    >>> ages.before_clamping.mean
    58.25
    >>> for note in ages.notes:
    ...     print(note)
    age: 1 of 4 values lay outside [0, 125] and was clamped.
    age: 1 record without a value was left out.
    """

    name: str
    values: raw.AnyArray
    counts: IntArray
    bounds: tuple[float, float] | None
    bounds_source: base.BoundsSource = "declared"
    categories: tuple[str, ...] | None = None
    clamped: int = 0
    missing: int = 0
    source: str = field(default="values in memory", compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)
    step: float | None = None
    rounded: int = 0
    beyond: Beyond | None = None
    ranges: Ranges | None = None

    described: ClassVar[str] = "one column, which read gives"
    coupled: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _validate.instance("the name of a column", self.name, str)
        base.require_declaration(self.name, self.bounds, self.categories)
        if isinstance(self.bounds, str) or isinstance(self.categories, str):
            raise InvalidInput(
                f"Expected bounds or categories of {self.name!r}; only Column.from_counts and "
                "Column.from_values take them from the data."
            )
        self._require_origin()
        self._set(rounded=_validate.whole("rounded", self.rounded))
        values = _texts(self.name, self.values) if self.is_text else as_array(self.values).copy()
        counts = raw.whole_counts(self.name, self.counts)
        if values.ndim != 1 or values.shape != counts.shape or not len(values):
            raise InvalidInput(f"Expected as many counts as values of {self.name!r}, at least one.")
        if not ((values[:-1] < values[1:]).all() and (counts > 0).all()):
            raise InvalidInput(f"Expected sorted distinct values of {self.name!r}, each counted.")
        if self.bounds is not None:
            lower, upper = base.checked_bounds(self.bounds)
            self._set(bounds=(lower, upper))
            if not (lower <= values[0] and values[-1] <= upper):
                raise InvalidInput(f"Expected the values of {self.name!r} within {self._range}.")
            if self.step is not None:
                self._set(step=steps.checked_step(self.step, (lower, upper)))
                if not steps.on_lattice(values, lower, self.step).all():
                    raise InvalidInput(f"Expected values of {self.name!r} in {self._steps}.")
            self._require_beyond(values, counts)
            self._require_ranges(values)
        elif self.categories is not None:
            _refuse_step_of_text(self.name, self.step)
            if self.beyond is not None or self.ranges is not None:
                raise InvalidInput(f"Column {self.name!r} is text, and only numbers have bounds.")
            self._set(categories=base.declared_categories(self.categories))
            raw.refuse_unknown(self.name, values, counts, frozenset(self.categories))
        self._set(values=values, counts=counts)

    def __repr__(self) -> str:
        what = "bins" if self.is_binned else "distinct values"
        return (
            f"Column({self.name!r}: {show_records(self.size)}, {self.distinct:,} {what}, "
            f"{self._declared} {self.bounds_source})"
        )

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Column) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __add__(self, other: Column) -> Column:
        """Return the column of the records of both, such as of two files or two institutions.

        `InvalidInput` is raised unless names, bounds, categories and steps are the same.

        Examples
        --------
        >>> here = Column.from_values([39, 25], bounds=(0, 125), name="age")
        >>> there = Column.from_values([39, None, 61], bounds=(0, 125), name="age")
        >>> here + there, (here + there).missing
        (Column('age': 4 records, 3 distinct values, bounds [0, 125] declared), 1)
        >>> sum([here, there]) == here + there
        True
        """
        if not isinstance(other, Column):
            return NotImplemented
        compared = ("name", "bounds", "categories", "step")
        base.refuse_unequal(
            "columns", {name: (getattr(self, name), getattr(other, name)) for name in compared}
        )
        values, counts, ranges = _together(self, other)
        # What lay outside is known of both or of none.
        parts = [part.beyond for part in (self, other) if part.clamped]
        known = [part for part in parts if part is not None]
        beyond = reduce(operator.add, known) if known and len(known) == len(parts) else None
        return replace(
            self,
            values=values,
            counts=counts,
            rounded=self.rounded + other.rounded,
            beyond=beyond,
            ranges=ranges,
            **self._origin_with(other),
        )

    @classmethod
    def from_values(
        cls,
        values: Any,
        bounds: base.Bounds | None = None,
        *,
        categories: base.Categories | None = None,
        name: str | None = None,
        step: float | None = None,
    ) -> Column:
        """Return the column of records in memory: a sequence, an array or a pandas Series.

        `InvalidInput` is raised as by `from_counts`.

        Examples
        --------
        >>> Column.from_values(["yes", "no", "yes"], categories=("yes", "no", "unknown")).modes
        ('yes',)
        """
        if name is None:
            given = getattr(values, "name", None)
            name = "values" if given is None or not str(given).strip() else str(given)
        _validate.instance("the name of a column", name, str)
        base.require_declaration(name, bounds, categories)
        distinct, counts, missing = raw.tally(name, values)
        return cls.from_counts(
            distinct, counts, bounds, categories=categories, name=name, missing=missing, step=step
        )

    @classmethod
    def from_counts(
        cls,
        values: Sequence[Any] | raw.AnyArray,
        counts: ArrayLike,
        bounds: base.Bounds | None = None,
        *,
        categories: base.Categories | None = None,
        name: str = "values",
        missing: int = 0,
        step: float | None = None,
    ) -> Column:
        """Return the column in which each value occurs as often as its count says.

        Values outside the bounds are moved to the nearest one and counted in `clamped`; empty
        values are left out and counted in `missing`. With a `step`, values are moved to the
        nearest multiple of it above the lower bound and counted in `rounded`.

        Raises
        ------
        InvalidInput
            If nothing was declared, text stands among numbers, a text is not among the
            categories, a number is infinite, no record is left, or the bounds are not a whole
            number of steps apart.

        Examples
        --------
        >>> Column.from_counts([1, 2, 3], [10, 0, 5], bounds=(1, 3)).domain()
        (array([1., 2., 3.]), array([10,  0,  5]))
        """
        missing = _validate.whole("missing", missing)
        _validate.instance("the name of a column", name, str)
        base.require_declaration(name, bounds, categories)
        occurring, records = raw.raw_array(name, values), raw.whole_counts(name, counts)
        if occurring.shape != records.shape:
            raise InvalidInput(f"Expected as many counts as values of {name!r}.")
        occurring, records = occurring[records > 0], records[records > 0]
        if bounds is not None:
            cast: raw.AnyArray = raw.numbers(name, occurring, records)
            present = ~np.isnan(cast)
        else:
            cast = raw.texts(occurring)
            present = np.array([text is not None for text in cast], dtype=bool)
        missing += int(records[~present].sum())
        cast, records = cast[present], records[present]
        if not len(cast):
            raise base.no_records(f"Column {name!r} has no records", missing)
        if bounds is not None:
            return cls._of_numbers(name, cast, records, bounds, step, missing)
        assert categories is not None
        _refuse_step_of_text(name, step)
        known = base.resolve_categories(categories, cast)
        origin = base.origin_of(categories)
        return cls(name, *raw.merged(cast, records), None, origin, known, missing=missing)

    @classmethod
    def _of_numbers(
        cls,
        name: str,
        values: FloatArray,
        counts: IntArray,
        declared: base.Bounds,
        step: float | None,
        missing: int,
    ) -> Column:
        """Return the column of numbers, clamped to the bounds and rounded to a step."""
        bounds = lower, upper = base.resolve_bounds(declared, values)
        clamped = int(counts[(values < lower) | (values > upper)].sum())
        inside, rounded = np.clip(values, lower, upper) + 0.0, 0  # one zero, not two
        if step is not None:
            step = steps.checked_step(step, bounds)
            rounded = int(counts[~steps.on_lattice(inside, lower, step)].sum())
            indices = steps.lattice_indices(inside, lower, step)
            inside = steps.lattice_points(lower, step, indices)
        return cls(
            name,
            *raw.merged(inside, counts),
            bounds,
            base.origin_of(declared),
            clamped=clamped,
            missing=missing,
            step=step,
            rounded=rounded,
            beyond=Beyond.of(values, counts, bounds),
        )

    @property
    def size(self) -> int:
        """The number of records, without the missing ones."""
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        """The number of different values."""
        return len(self.values)

    @property
    def multiplicities(self) -> IntArray:
        """The number of records with each value."""
        return self.counts

    def draws(
        self, design: Design, runs: int, rng: np.random.Generator
    ) -> Iterator[tuple[IntArray, np.random.Generator]]:
        """Yield rows of counts of the values that are kept, as many as memory should hold."""
        return draws_of_counts(self.counts, design, runs, rng)

    @property
    def is_binned(self) -> bool:
        """Whether the values are the means of bins, and not those of the records."""
        return self.ranges is not None

    @property
    def lows(self) -> FloatArray:
        """The smallest record that each value stands for: the value itself, if it is not a bin."""
        return as_array(self.values) if self.ranges is None else self.ranges.lows

    @property
    def highs(self) -> FloatArray:
        """The largest record that each value stands for."""
        return as_array(self.values) if self.ranges is None else self.ranges.highs

    def in_bins(self, number: int) -> Column:
        """Return the column in so many bins of one width between its bounds.

        Of every bin the number of records, their mean, the smallest and the largest are kept. So
        means, sums and counts stay as they are, and their errors are known to a precision that
        goes with the square of the width; other statistics need the values. `InvalidInput` is
        raised for texts, for more bins than the column has, and for a step.

        Examples
        --------
        >>> wages = Column.from_values([310.5, 377, 377, 920], bounds=(0, 1000), name="wage")
        >>> wages.in_bins(10)
        Column('wage': 4 records, 2 bins, bounds [0, 1000] declared)
        >>> wages.in_bins(10).values, wages.in_bins(10).mean == wages.mean
        (array([354.83333333, 920.        ]), True)
        """
        if self.bounds is None or self.step is not None:
            raise InvalidInput(
                f"Column {self.name!r} is {'text' if self.is_text else 'counted in steps'}; only "
                "continuous numbers are put into bins."
            )
        if self.ranges is not None and number > self.ranges.number:
            raise InvalidInput(f"Column {self.name!r} has {self.ranges.number:,} bins already.")
        values, counts, ranges = binned(
            self.values, self.counts, self.lows, self.highs, self.bounds, number
        )
        return replace(self, values=values, counts=counts, ranges=ranges)

    def in_steps(self, step: float) -> Column:
        """Return the column with a step: values are moved to the nearest multiples of it.

        `InvalidInput` is raised for texts, for bins, and unless the step divides the bounds.

        Examples
        --------
        >>> wages = Column.from_values([310.5, 377, 377, 920], bounds=(0, 1000), name="wage")
        >>> wages.in_steps(1.0).values, wages.in_steps(1.0).rounded
        (array([310., 377., 920.]), 1)
        """
        self.require_values("a step")
        if self.bounds is None:
            raise InvalidInput(f"Column {self.name!r} is text, and only numbers have a step.")
        step, lower = steps.checked_step(step, self.bounds), self.bounds[0]
        values = as_array(self.values)
        moved = int(self.counts[~steps.on_lattice(values, lower, step)].sum())
        points = steps.lattice_points(lower, step, steps.lattice_indices(values, lower, step))
        values, counts = raw.merged(points, self.counts)
        rounded = self.rounded + moved
        return replace(self, values=values, counts=counts, step=step, rounded=rounded)

    @cached_property
    def as_bins(self) -> Joined:
        """The records in the default number of bins, from the smallest to the largest.

        Unlike those of `in_bins` they do not depend on the bounds, and any numbers can be in them.
        """
        ends = self.lows, self.highs
        positions = positions_between_ends(*ends, DEFAULT_BINS)
        return joined(as_array(self.values), self.counts, *ends, positions)

    def require_values(self, what: str) -> None:
        """Refuse a column in bins where the values of the records are needed, and say what works.

        Examples
        --------
        >>> Column.from_values([39, 25], bounds=(0, 125)).require_values("the mode")
        """
        if self.ranges is not None:
            raise InvalidInput(
                f"Column {self.name!r} is in {self.ranges.number:,} bins, and {what} needs the "
                "values of the records: declare a step (--step) that they are rounded to, such as "
                "0.01, or keep all of them with bins=0 (--bins 0); a mean, a sum and a count work."
            )

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, which have a mode and no mean."""
        return self.categories is not None

    @cached_property
    def mean(self) -> float:
        """The mean after clamping; `InvalidInput` is raised if the values are texts."""
        if self.is_text:
            raise InvalidInput(f"Column {self.name!r} is text and has no mean; ask for the mode.")
        return _exact_sum(self.values, self.counts) / self.size

    @cached_property
    def before_clamping(self) -> Column:
        """The column of the values as they were read, with bounds that hold all of them.

        Its statistics are the truth that answers are compared with. If nothing was clamped, or what
        lay outside is not known, it is the column itself.
        """
        if self.beyond is None or self.bounds is None:
            return self
        (lower, upper), beyond, at_bounds = self.bounds, self.beyond, self.counts.copy()
        below = beyond.below(lower)
        at_bounds[0] -= below
        at_bounds[-1] -= beyond.size - below
        held = at_bounds > 0
        values = np.concatenate([self.values[held], beyond.values])
        counts = np.concatenate([at_bounds[held], beyond.counts])
        widest = min(lower, float(values.min())), max(upper, float(values.max()))
        ranges = None
        if self.ranges is not None:
            lows = np.concatenate([self.lows[held], beyond.values])
            highs = np.concatenate([self.highs[held], beyond.values])
            ranges = Ranges(self.ranges.number, np.sort(lows), np.sort(highs))
        values, counts = raw.merged(values, counts)
        return replace(
            self,
            values=values,
            counts=counts,
            bounds=widest,
            clamped=0,
            step=None,
            rounded=0,
            beyond=None,
            ranges=ranges,
        )

    def with_counts(self, counts: IntArray) -> Column:
        """Return a column with so many records of every value, at least one in all.

        Examples
        --------
        >>> ages = Column.from_values([20, 20, 30, 60], bounds=(0, 100))
        >>> ages.with_counts(np.array([1, 0, 1])).values
        array([20., 60.])
        """
        some = np.flatnonzero(counts)
        ranges = self.ranges
        if ranges is not None:
            ranges = replace(ranges, lows=ranges.lows[some], highs=ranges.highs[some])
        return replace(
            self,
            values=self.values[some],
            counts=counts[some],
            ranges=ranges,
            beyond=None,
            clamped=0,
            rounded=0,
        )

    def with_bounds(self, bounds: tuple[float, float]) -> Column:
        """Return the column of the same records with other declared bounds.

        Values that were clamped are taken as they were read. `InvalidInput` is raised for text, and
        unless the bounds are a whole number of declared steps apart.

        Examples
        --------
        >>> ages = Column.from_values([39, 25, 130], bounds=(0, 100), name="age")
        >>> ages.with_bounds((0, 200))
        Column('age': 3 records, 3 distinct values, bounds [0, 200] declared)
        >>> ages.with_bounds((0, 30)).values
        array([25., 30.])
        """
        if self.is_text:
            raise InvalidInput(f"Column {self.name!r} is text, and only numbers have bounds.")
        self.require_values("a change of bounds")
        read, checked = self.before_clamping, base.checked_bounds(bounds)
        values = as_array(read.values)
        column = self._of_numbers(self.name, values, read.counts, checked, self.step, self.missing)
        return replace(column, source=self.source, remarks=self.remarks)

    def mean_above(self, origin: float) -> float:
        """Return what the mean exceeds a number by, without rounding it to a float first.

        Examples
        --------
        >>> far = Column.from_counts([1e15, 1e15 + 1], [3, 1], bounds=(1e15, 1e15 + 1))
        >>> far.mean - 1e15, far.mean_above(1e15)
        (0.25, 0.25)
        """
        known = self._known_means
        if origin not in known:
            known[origin] = _exact_sum(self.values - origin, self.counts) / self.size
        return known[origin]

    @cached_property
    def _known_means(self) -> dict[float, float]:
        """What the mean exceeds the numbers by that were asked for; it takes time to add up."""
        return {}

    def moved_to_zero(self) -> tuple[Column, float]:
        """Return the column less its lower bound, and that bound, if it is far from 0.

        That is, farther than the bounds are wide; then the differences are exact, and sums of
        them keep the digits that sums of the values lose. Otherwise the column as it is, and 0.
        """
        if self.bounds is None:
            return self, 0.0
        lower, upper = self.bounds
        if not (lower > 0 and upper <= 2 * lower) and not (upper < 0 and 2 * upper <= lower):
            return self, 0.0
        beyond = None if self.beyond is None else self.beyond.less(lower)
        moved = replace(
            self,
            values=self.values - lower,
            bounds=(0.0, upper - lower),
            beyond=beyond,
            ranges=None if self.ranges is None else self.ranges.less(lower),
        )
        return moved, lower

    @cached_property
    def modes(self) -> tuple[Any, ...]:
        """All values that occur most often."""
        self.require_values("the mode")
        return tuple(self.values[self.counts == self.counts.max()].tolist())

    def indicator(self, value: Any) -> Column:
        """Return the column that is 1 for records with this value and 0 for others.

        Its mean is the share of these records. A value outside the bounds is not the bound to which
        it is clamped elsewhere. `InvalidInput` is raised for what no record can have: a number
        outside the bounds, or a text that is no category.

        Examples
        --------
        >>> ages = Column.from_values([39, 25, 39, 60], bounds=(0, 125), name="age")
        >>> ages.indicator(39), ages.indicator(39).mean
        (Column('age = 39': 4 records, 2 distinct values, bounds [0, 1] declared), 0.5)
        """
        self.require_values("a share of the records with a value")
        if self.bounds is None:
            wanted, shown = value, str(value)
            possible = value in (self.categories or ())
        else:
            wanted = _validate.finite("value", value)
            possible, shown = self.bounds[0] <= wanted <= self.bounds[1], f"{wanted:.10g}"
        if not possible:
            known = self._range if self.categories is None else ", ".join(self.categories[:20])
            raise InvalidInput(
                f"No record of {self.name!r} can have the value {_validate.shown(value)}; known: "
                f"{known}."
            )
        as_read = self.before_clamping
        having = int(as_read.counts[as_read.values == wanted].sum())
        name, counts = f"{self.name} = {shown}", [self.size - having, having]
        column = Column.from_counts([0, 1], counts, bounds=(0, 1), name=name, step=1)
        counted = self if as_read is self else replace(self, clamped=0, beyond=None)
        return replace(column, source=self.source, remarks=counted.notes)

    @property
    def declaration(self) -> str:
        """A sentence on which values are possible, and who says so."""
        origin = base.ORIGIN_OF_BOUNDS[self.bounds_source]
        if self.bounds is None:
            return f"The categories were {origin}."
        apart = "" if self.step is None else f" in steps of {self.step:.10g}"
        return f"Values lie in {self._range}{apart}, {origin}."

    def domain(self) -> tuple[raw.AnyArray, IntArray]:
        """Return every value a record can have, with its count, zeros included.

        These are the multiples of a declared step above the lower bound, else the whole numbers
        within the bounds, or the declared categories: what a mode is chosen from. `InvalidInput`
        is raised if the numbers are not whole, or the domain has more than a million values.

        Examples
        --------
        >>> Column.from_values(["b", "b"], categories=("b", "a")).domain()
        (array(['b', 'a'], dtype=object), array([2, 0]))
        """
        self.require_values("the mode")
        if self.bounds is None:
            values: raw.AnyArray = np.array(self.categories, dtype=object)
            occurring = dict(zip(self.values.tolist(), self.counts.tolist(), strict=True))
            counts = np.array([occurring.get(value, 0) for value in values], dtype=np.int64)
        else:
            values, positions = self._points(self.bounds)
            counts = np.zeros(len(values), dtype=np.int64)
            counts[positions] = self.counts
        values.flags.writeable = counts.flags.writeable = False
        return values, counts

    def _points(self, bounds: tuple[float, float]) -> tuple[FloatArray, IntArray]:
        """Return the numbers a record can have, and the positions of its values in them."""
        if self.step is None or (self.step == 1 and bounds[0].is_integer()):
            first, last = self._whole_bounds(bounds)
            points = np.arange(first, last + 1, dtype=np.float64)
            return points, (self.values - first).astype(np.int64)
        number = steps.steps_between(bounds, self.step)
        if number >= LARGEST_DOMAIN:
            raise InvalidInput(
                f"The bounds {self._range} of {self.name!r} hold {number + 1:,} multiples of the "
                f"step {self.step:.10g}, and a mode is chosen among up to {LARGEST_DOMAIN:,}."
            )
        points = steps.lattice_points(bounds[0], self.step, np.arange(number + 1))
        return points, steps.lattice_indices(self.values, bounds[0], self.step)

    def _whole_bounds(self, bounds: tuple[float, float]) -> tuple[int, int]:
        """Return the first and the last whole number within the bounds, if a mode can be chosen."""
        broken = self.values[self.values != np.floor(self.values)]
        if len(broken):
            raise InvalidInput(
                f"Column {self.name!r} holds numbers that are not whole, first {broken[0]:.10g}, "
                "and a mode is chosen among whole numbers or categories; round them first."
            )
        first, last = math.ceil(bounds[0]), math.floor(bounds[1])
        if last - first >= LARGEST_DOMAIN or max(-first, last) > _LARGEST_WHOLE:
            raise InvalidInput(
                f"The bounds {self._range} of {self.name!r} hold too many or too large whole "
                f"numbers for a mode; up to {LARGEST_DOMAIN:,} numbers below 2^53 are possible."
            )
        return first, last

    def _require_beyond(self, values: FloatArray, counts: IntArray) -> None:
        """Refuse what lies beyond the bounds and is not among the records at these."""
        if self.beyond is None or self.bounds is None:
            return
        (lower, upper), beyond = self.bounds, self.beyond
        below = beyond.below(lower)
        above = beyond.size - below
        inside = (beyond.values >= lower) & (beyond.values <= upper)
        at_lower = int(counts[values == lower].sum())
        at_upper = int(counts[values == upper].sum())
        if inside.any() or beyond.size != self.clamped or below > at_lower or above > at_upper:
            raise InvalidInput(
                f"Expected values of {self.name!r} beyond {self._range} to be counted at the "
                "nearest bound, and in clamped."
            )

    def _require_ranges(self, values: FloatArray) -> None:
        """Refuse bins that the values are not the means of, and bins of steps."""
        if self.ranges is None:
            return
        if self.step is not None or self.bounds is None:
            raise InvalidInput(f"Expected either a step or bins of {self.name!r}, not both.")
        self.ranges.require(values)
        if self.ranges.lows[0] < self.bounds[0] or self.ranges.highs[-1] > self.bounds[1]:
            raise InvalidInput(f"Expected the bins of {self.name!r} within {self._range}.")

    @property
    def _range(self) -> str:
        assert self.bounds is not None
        return base.show_bounds(self.bounds)

    @property
    def _steps(self) -> str:
        assert self.bounds is not None
        return f"steps of {self.step:.10g} from {self.bounds[0]:.10g} on"

    def _changes(self) -> Iterator[str]:
        yield from super()._changes()
        if self.rounded:
            share = f"{self.rounded:,} of {self.size:,} values {base.was(self.rounded)}"
            yield f"{share} rounded to {self._steps}."
        if self.ranges is not None and self.bounds is not None:
            width = (self.bounds[1] - self.bounds[0]) / self.ranges.number
            yield (
                f"the records were counted and added up in {self.ranges.number:,} bins of width "
                f"{width:.4g}; errors are those of the records, to the precision shown."
            )

    @property
    def _outside(self) -> str:
        return f"values lay outside {self._range}"

    @property
    def _declared(self) -> str:
        return "categories" if self.is_text else f"bounds {self._range}"

    def _distances(self, distance: str) -> DistanceTotals:
        from omit.data.distances import column_distances

        return column_distances(self, distance)

    def _key(self) -> tuple[Any, ...]:
        compared = (getattr(self, field.name) for field in fields(self) if field.compare)
        return tuple(
            tuple(value.tolist()) if isinstance(value, np.ndarray) else value for value in compared
        )


def draws_of_counts(
    counts: IntArray, design: Design, runs: int, rng: np.random.Generator
) -> Iterator[tuple[IntArray, np.random.Generator]]:
    """Yield rows of counts that a design keeps, as many as memory should hold."""
    batch = max(1, min(runs, _TABLE // len(counts)))
    for start in range(0, runs, batch):
        yield design.counts(counts, min(batch, runs - start), rng), rng


def _together(first: Column, second: Column) -> tuple[raw.AnyArray, IntArray, Ranges | None]:
    """Return values, counts and bins of two columns; one in bins needs the other in the same."""
    values = np.concatenate([first.values, second.values])
    counts = np.concatenate([first.counts, second.counts])
    numbers = {part.ranges.number for part in (first, second) if part.ranges is not None}
    if not numbers or first.bounds is None:
        return *raw.merged(values, counts), None
    if len(numbers) > 1:
        raise InvalidInput(
            f"Expected columns that add up to have equally many bins, got {min(numbers):,} and "
            f"{max(numbers):,}; read them with the same bins=..."
        )
    lows = np.concatenate([first.lows, second.lows])
    highs = np.concatenate([first.highs, second.highs])
    return binned(values, counts, lows, highs, first.bounds, numbers.pop())


def _texts(name: str, values: Any) -> raw.AnyArray:
    """Return the values of a column of text as objects, or refuse what is no text."""
    array = raw.raw_array(name, values)
    if not all(isinstance(value, str) for value in array):
        raise InvalidInput(f"Expected the values of {name!r} to be texts, as its categories are.")
    return array


def _refuse_step_of_text(name: str, step: float | None) -> None:
    if step is not None:
        raise InvalidInput(f"Column {name!r} is text, and only numbers have a step.")


def _exact_sum(values: FloatArray, counts: IntArray) -> float:
    """Return the sum of all records, rounded once.

    Records that nearly cancel leave less than the rounding of a single product. Numbers are split
    into halves so short that products of halves are exact (Dekker 1971).
    """
    wide = values * (2.0**27 + 1)
    upper = wide - (wide - values)
    low = counts % 2**26
    parts = [half * number for half in (upper, values - upper) for number in (low, counts - low)]
    return math.fsum(np.concatenate(parts))
