"""One column of a table, reduced to what its statistics need: distinct values with counts.

What is public here: the bounds or categories, if they were declared and not taken from the data.
What is not: everything else, the number of records included. A mode is chosen from the domain,
every value that a record can have: choosing among the values that occur would give away who is in
the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.data.steps import (
    checked_step,
    lattice_indices,
    lattice_points,
    on_lattice,
    steps_between,
)
from omit.data.values import (
    AnyArray,
    Bounds,
    Categories,
    checked_bounds,
    declared_categories,
    merged,
    numbers,
    raw_array,
    refuse_unknown,
    require_declaration,
    resolve_bounds,
    resolve_categories,
    show_bounds,
    show_records,
    tally,
    texts,
    whole_counts,
)
from omit.errors import InvalidInput
from omit.laws.design import Design

if TYPE_CHECKING:
    from omit.data.distances import DistanceTotals

BoundsSource: TypeAlias = Literal["declared", "registered", "from-data"]
BOUNDS_SOURCES = ("declared", "registered", "from-data")
ORIGIN_OF_BOUNDS = {
    "declared": "declared",
    "registered": "registered with the data set",
    "from-data": "taken from the data, which is NOT private",
}
# How many counts are drawn at a time.
_TABLE = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """A column with declared bounds (numbers) or declared categories (text).

    Made by `read`, `Column.from_values` or `Column.from_counts`. Two columns are equal if all but
    their `source` and `remarks` is.

    Parameters
    ----------
    name : str
        What the column is called.
    values : array
        The distinct values that occur, sorted: floats, or texts as objects. Read-only.
    counts : array of int
        How many records have each value. Read-only.
    bounds : tuple of float or None
        The smallest and largest value a record can have; None for text.
    bounds_source : str
        ``"declared"`` by the caller, ``"registered"`` with the data set, or ``"from-data"``,
        which is not private. For text it says where the categories come from.
    categories : tuple of str or None
        The texts a record can have, in the declared order; None for numbers.
    clamped : int
        How many records were outside the bounds and moved to the nearest one.
    missing : int
        How many records had no value and were left out.
    source : str
        Where the data came from.
    remarks : tuple of str
        More to say beside every result.
    step : float or None
        Declared for numbers that can only be the lower bound plus a multiple of it, such as 1 for
        whole numbers; None for continuous ones, and for text.
    rounded : int
        How many records were between two such numbers and moved to the nearest one.

    Examples
    --------
    >>> ages = Column.from_values([39, 25, 39, 130, None], bounds=(0, 125), name="age")
    >>> ages
    Column('age': 4 records, 3 distinct values, bounds [0, 125] declared)
    >>> ages.values, ages.counts, ages.mean, ages.modes
    (array([ 25.,  39., 125.]), array([1, 2, 1]), 57.0, (39.0,))
    >>> for note in ages.notes:
    ...     print(note)
    age: 1 of 4 records had to be moved into the bounds [0, 125].
    age: 1 record without a value had to be left out.
    """

    name: str
    values: AnyArray
    counts: IntArray
    bounds: tuple[float, float] | None
    bounds_source: BoundsSource = "declared"
    categories: tuple[str, ...] | None = None
    clamped: int = 0
    missing: int = 0
    source: str = field(default="values in memory", compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)
    step: float | None = None
    rounded: int = 0

    described: ClassVar[str] = "one column, which read gives"
    coupled: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _validate.instance("the name of a column", self.name, str)
        require_declaration(self.name, self.bounds, self.categories)
        if isinstance(self.bounds, str) or isinstance(self.categories, str):
            raise InvalidInput(
                f"Expected bounds or categories of {self.name!r}; only Column.from_counts and "
                "Column.from_values take them from the data."
            )
        _validate.instance("source", self.source, str)
        object.__setattr__(self, "remarks", _validate.texts("remarks", self.remarks))
        _validate.one_of("bounds_source", self.bounds_source, BOUNDS_SOURCES)
        for what in ("clamped", "missing", "rounded"):
            object.__setattr__(self, what, _validate.whole(what, getattr(self, what)))
        values = _texts(self.name, self.values) if self.is_text else as_array(self.values).copy()
        counts = whole_counts(self.name, self.counts)
        if values.ndim != 1 or values.shape != counts.shape or not len(values):
            raise InvalidInput(f"Expected as many counts as values of {self.name!r}, at least one.")
        if not ((values[:-1] < values[1:]).all() and (counts > 0).all()):
            raise InvalidInput(f"Expected sorted distinct values of {self.name!r}, each counted.")
        if self.bounds is not None:
            lower, upper = checked_bounds(self.bounds)
            object.__setattr__(self, "bounds", (lower, upper))
            if not (lower <= values[0] and values[-1] <= upper):
                raise InvalidInput(f"Expected the values of {self.name!r} within {self._range}.")
            if self.step is not None:
                object.__setattr__(self, "step", checked_step(self.step, (lower, upper)))
                if not on_lattice(values, lower, self.step).all():
                    raise InvalidInput(f"Expected values of {self.name!r} in {self._steps}.")
        elif self.categories is not None:
            _refuse_step_of_text(self.name, self.step)
            object.__setattr__(self, "categories", declared_categories(self.categories))
            refuse_unknown(self.name, values, counts, frozenset(self.categories))
        values.flags.writeable = counts.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "counts", counts)

    def __repr__(self) -> str:
        kinds = "categories" if self.is_text else f"bounds {self._range}"
        return (
            f"Column({self.name!r}: {show_records(self.size)}, {self.distinct:,} distinct values, "
            f"{kinds} {self.bounds_source})"
        )

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Column) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that the arrays of a copy are read-only too.
        return Column, tuple(getattr(self, each.name) for each in fields(self))

    @classmethod
    def from_values(
        cls,
        values: Any,
        bounds: Bounds | None = None,
        *,
        categories: Categories | None = None,
        name: str | None = None,
        step: float | None = None,
    ) -> Column:
        """Return the column of records in memory: a sequence, an array or a pandas Series.

        Raises
        ------
        InvalidInput
            As for `from_counts`.

        Examples
        --------
        >>> Column.from_values(["yes", "no", "yes"], categories=("yes", "no", "unknown")).modes
        ('yes',)
        """
        if name is None:
            given = getattr(values, "name", None)
            name = "values" if given is None or not str(given).strip() else str(given)
        _validate.instance("the name of a column", name, str)
        require_declaration(name, bounds, categories)
        distinct, counts, missing = tally(name, values)
        return cls.from_counts(
            distinct, counts, bounds, categories=categories, name=name, missing=missing, step=step
        )

    @classmethod
    def from_counts(
        cls,
        values: Sequence[Any] | AnyArray,
        counts: ArrayLike,
        bounds: Bounds | None = None,
        *,
        categories: Categories | None = None,
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
        require_declaration(name, bounds, categories)
        raw, records = raw_array(name, values), whole_counts(name, counts)
        if raw.shape != records.shape:
            raise InvalidInput(f"Expected as many counts as values of {name!r}.")
        raw, records = raw[records > 0], records[records > 0]
        if bounds is not None:
            cast: AnyArray = numbers(name, raw, records)
            present = ~np.isnan(cast)
        else:
            cast = texts(raw)
            present = np.array([text is not None for text in cast], dtype=bool)
        missing += int(records[~present].sum())
        cast, records = cast[present], records[present]
        if not len(cast):
            left_out = f" ({show_records(missing)} without a value)" if missing else ""
            raise InvalidInput(f"Column {name!r} has no records to work with{left_out}.")
        origin: BoundsSource = "declared"
        if isinstance(bounds, str) or isinstance(categories, str):
            origin = "from-data"
        if categories is not None:
            _refuse_step_of_text(name, step)
            known = resolve_categories(categories, cast)
            return cls(name, *merged(cast, records), None, origin, known, missing=missing)
        assert bounds is not None
        lower, upper = resolve_bounds(bounds, cast)
        clamped = int(records[(cast < lower) | (cast > upper)].sum())
        inside = np.clip(cast, lower, upper) + 0.0  # one zero, not two
        rounded = 0
        if step is not None:
            step = checked_step(step, (lower, upper))
            rounded = int(records[~on_lattice(inside, lower, step)].sum())
            inside = lattice_points(lower, step, lattice_indices(inside, lower, step))
        return cls(
            name,
            *merged(inside, records),
            (lower, upper),
            origin,
            None,
            clamped,
            missing,
            step=step,
            rounded=rounded,
        )

    @property
    def size(self) -> int:
        """How many records there are, without the missing ones."""
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        """How many different values occur."""
        return len(self.values)

    @property
    def multiplicities(self) -> IntArray:
        """How many records have each value."""
        return self.counts

    def mean_distances(self, distance: str) -> DistanceTotals:
        """Return how far each value is from all records on average; computed once.

        Raises
        ------
        Refused
            If the distance is not "discrete", or "absolute" on numbers.
        """
        from omit.data.distances import column_distances, computed_once

        return computed_once(self, distance, column_distances)

    def draws(
        self, design: Design, runs: int, rng: np.random.Generator
    ) -> Iterator[tuple[IntArray, np.random.Generator]]:
        """Yield rows of counts of the values that are left, as many as memory should hold."""
        batch = max(1, min(runs, _TABLE // len(self.counts)))
        for start in range(0, runs, batch):
            yield design.counts(self.counts, min(batch, runs - start), rng), rng

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, which have a mode and no mean."""
        return self.categories is not None

    @cached_property
    def mean(self) -> float:
        """The mean after clamping.

        Raises
        ------
        InvalidInput
            If the values are texts.
        """
        if self.is_text:
            raise InvalidInput(f"Column {self.name!r} is text and has no mean; ask for the mode.")
        return _exact_sum(self.values, self.counts) / self.size

    def mean_above(self, origin: float) -> float:
        """Return what the mean exceeds a number by, without rounding it to a float first.

        Examples
        --------
        >>> far = Column.from_counts([1e15, 1e15 + 1], [3, 1], bounds=(1e15, 1e15 + 1))
        >>> far.mean - 1e15, far.mean_above(1e15)
        (0.25, 0.25)
        """
        return _exact_sum(self.values - origin, self.counts) / self.size

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
        return replace(self, values=self.values - lower, bounds=(0.0, upper - lower)), lower

    @cached_property
    def modes(self) -> tuple[Any, ...]:
        """All values that occur most often."""
        return tuple(self.values[self.counts == self.counts.max()].tolist())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that belong beside every result on this column."""
        said = []
        if self.clamped:
            share = f"{self.clamped:,} of {show_records(self.size)}"
            said.append(f"{share} had to be moved into the bounds {self._range}.")
        if self.rounded and self.step is not None:
            share = f"{self.rounded:,} of {show_records(self.size)}"
            said.append(f"{share} had to be rounded to {self._steps}.")
        if self.missing:
            said.append(f"{show_records(self.missing)} without a value had to be left out.")
        if self.bounds_source == "from-data":
            what = "categories" if self.is_text else f"bounds {self._range}"
            said.append(
                f"the {what} were taken from the data, so a release that uses them is NOT private."
            )
        return tuple(f"{self.name}: {each}" for each in (*said, *self.remarks))

    @property
    def declaration(self) -> str:
        """A sentence on which values are possible, and who says so."""
        origin = ORIGIN_OF_BOUNDS[self.bounds_source]
        if self.bounds is None:
            return f"The categories were {origin}."
        steps = "" if self.step is None else f" in steps of {self.step:.10g}"
        return f"Values lie in {self._range}{steps}, {origin}."

    def domain(self) -> tuple[AnyArray, IntArray]:
        """Return every value a record can have, with its count, zeros included.

        These are the multiples of a declared step above the lower bound, else the whole numbers
        within the bounds, or the declared categories: what a mode is chosen from. The values that
        occur would give away who is in the data.

        Raises
        ------
        InvalidInput
            If the numbers are not whole, or the domain has more than a million values.

        Examples
        --------
        >>> Column.from_values(["b", "b"], categories=("b", "a")).domain()
        (array(['b', 'a'], dtype=object), array([2, 0]))
        """
        if self.bounds is None:
            values, counts = category_domain(self.categories or (), self.values, self.counts)
        elif self.step is None or (self.step == 1 and self.bounds[0].is_integer()):
            values, counts = whole_domain(self.name, self.bounds, self.values, self.counts)
        else:
            values, counts = _lattice_domain(self)
        values.flags.writeable = counts.flags.writeable = False
        return values, counts

    @property
    def _range(self) -> str:
        assert self.bounds is not None
        return show_bounds(self.bounds)

    @property
    def _steps(self) -> str:
        assert self.bounds is not None
        return f"steps of {self.step:.10g} from {self.bounds[0]:.10g} on"

    def _key(self) -> tuple[Any, ...]:
        compared = (getattr(self, each.name) for each in fields(self) if each.compare)
        return tuple(
            tuple(each.tolist()) if isinstance(each, np.ndarray) else each for each in compared
        )


def _texts(name: str, values: Any) -> AnyArray:
    """Return the values of a column of text as objects, or refuse what is no text."""
    array = raw_array(name, values)
    if not all(isinstance(each, str) for each in array):
        raise InvalidInput(f"Expected the values of {name!r} to be texts, as its categories are.")
    return array


def _refuse_step_of_text(name: str, step: float | None) -> None:
    if step is not None:
        raise InvalidInput(f"Column {name!r} is text, and only numbers have a step.")


LARGEST_DOMAIN = 1_000_000
# From here on, neighbouring whole numbers can be the same floating-point number.
_LARGEST_WHOLE = 2**53


def whole_domain(
    name: str, bounds: tuple[float, float], values: FloatArray, counts: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return the whole numbers within the bounds and how often each occurs.

    Raises
    ------
    InvalidInput
        If a value is not whole, or there are more than a million whole numbers in the bounds.

    Examples
    --------
    >>> whole_domain("rooms", (1.0, 4.0), np.array([2.0, 3.0]), np.array([5, 7]))
    (array([1., 2., 3., 4.]), array([0, 5, 7, 0]))
    """
    broken = values[values != np.floor(values)]
    if len(broken):
        raise InvalidInput(
            f"Column {name!r} holds numbers that are not whole, first {broken[0]:.10g}, and a mode "
            "is chosen among whole numbers or categories; round them first."
        )
    first, last = math.ceil(bounds[0]), math.floor(bounds[1])
    if last - first >= LARGEST_DOMAIN or max(-first, last) > _LARGEST_WHOLE:
        raise InvalidInput(
            f"The bounds {show_bounds(bounds)} of {name!r} hold too many or too large whole "
            f"numbers for a mode; up to {LARGEST_DOMAIN:,} numbers below 2^53 are possible."
        )
    domain = np.arange(first, last + 1, dtype=np.float64)
    occurring = np.zeros(len(domain), dtype=np.int64)
    occurring[(values - first).astype(np.int64)] = counts
    return domain, occurring


def _lattice_domain(column: Column) -> tuple[FloatArray, IntArray]:
    """Return the points of a column with a step and how often each occurs."""
    assert column.bounds is not None
    assert column.step is not None
    lower, step = column.bounds[0], column.step
    steps = steps_between(column.bounds, step)
    if steps >= LARGEST_DOMAIN:
        raise InvalidInput(
            f"The bounds {show_bounds(column.bounds)} of {column.name!r} hold {steps + 1:,} "
            f"multiples of the step {step:.10g}, and a mode is chosen among up to "
            f"{LARGEST_DOMAIN:,}."
        )
    domain = lattice_points(lower, step, np.arange(steps + 1))
    occurring = np.zeros(len(domain), dtype=np.int64)
    occurring[lattice_indices(column.values, lower, step)] = column.counts
    return domain, occurring


def category_domain(
    categories: tuple[str, ...], values: AnyArray, counts: IntArray
) -> tuple[AnyArray, IntArray]:
    """Return the categories in their order and how often each occurs.

    Examples
    --------
    >>> category_domain(("b", "a"), np.array(["b"], dtype=object), np.array([2]))
    (array(['b', 'a'], dtype=object), array([2, 0]))
    """
    counted = dict(zip(values.tolist(), counts.tolist(), strict=True))
    occurring = [counted.get(category, 0) for category in categories]
    return np.array(categories, dtype=object), np.array(occurring, dtype=np.int64)


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
