"""Records with several numbers each, as clustering needs them: a matrix with declared bounds.

What is public here: the names and bounds of the columns, if the bounds were declared and not taken
from the data. What is not: everything else, the number of records included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array, has_masked
from omit._text import listed
from omit.data.column import BOUNDS_SOURCES, ORIGIN_OF_BOUNDS, BoundsSource
from omit.data.values import (
    Bounds,
    checked_bounds,
    record_numbers,
    require_declaration,
    resolve_bounds,
    show_bounds,
    show_records,
)
from omit.errors import InvalidInput
from omit.laws.design import Design, Positions

if TYPE_CHECKING:
    from omit.data.distances import DistanceTotals

ColumnBounds: TypeAlias = Bounds | Sequence[Bounds]


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Records with several numbers each, and bounds for every column.

    Made by `read_points` or `Points.from_rows`.

    Parameters
    ----------
    name : str
        What the records are called.
    columns : tuple of str
        The names of the columns.
    rows : array
        One record in each row, in the units of the columns. Read-only.
    bounds : tuple of (float, float)
        The smallest and the largest value of each column.
    bounds_source : str
        ``"declared"``, ``"registered"`` or ``"from-data"``, which is not private.
    clamped : int
        How many records had a value outside its bounds, which was moved to the nearest one.
    missing : int
        How many records lacked a value and were left out.
    source : str
        Where the data came from.
    remarks : tuple of str
        More to say beside every result.

    Examples
    --------
    >>> people = Points.from_rows([[39, 40], [25, 130], [50, None]], bounds=[(0, 125), (0, 100)])
    >>> people
    Points('points': 2 records of 2 columns, bounds declared)
    >>> people.scaled
    array([[-0.376, -0.6  ],
           [-0.2  ,  1.   ]])
    """

    name: str
    columns: tuple[str, ...]
    rows: FloatArray
    bounds: tuple[tuple[float, float], ...]
    bounds_source: BoundsSource = "declared"
    clamped: int = 0
    missing: int = 0
    source: str = "values in memory"
    remarks: tuple[str, ...] = ()

    described: ClassVar[str] = "points, which read_points gives"
    coupled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _validate.instance("the name of points", self.name, str)
        object.__setattr__(self, "columns", _names(self.columns))
        for what in ("clamped", "missing"):
            object.__setattr__(self, what, _validate.whole(what, getattr(self, what)))
        rows = as_array(self.rows) + 0.0  # one zero, not two
        if rows.ndim != 2 or rows.shape[1] != len(self.columns) or not rows.size:
            raise InvalidInput(
                f"Expected {self.name!r} to hold records of {len(self.columns)} numbers."
            )
        bounds = tuple(checked_bounds(each) for each in _validate.several("bounds", self.bounds))
        if len(bounds) != len(self.columns):
            raise InvalidInput(f"Expected bounds for each of the {len(self.columns)} columns.")
        _validate.instance("source", self.source, str)
        object.__setattr__(self, "remarks", _validate.texts("remarks", self.remarks))
        _validate.one_of("bounds_source", self.bounds_source, BOUNDS_SOURCES)
        for name, (lower, upper), values in zip(self.columns, bounds, rows.T, strict=True):
            if lower == upper:
                raise InvalidInput(
                    f"The bounds {show_bounds((lower, upper))} of {name!r} have no width, so its "
                    "values cannot be told apart; leave the column out or declare wider bounds."
                )
            if not ((values >= lower) & (values <= upper)).all():
                raise InvalidInput(
                    f"Expected the values of {name!r} within {show_bounds((lower, upper))}."
                )
        rows.flags.writeable = False
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "bounds", bounds)

    def __repr__(self) -> str:
        return (
            f"Points({self.name!r}: {show_records(self.size)} of {self.dimensions} columns, "
            f"bounds {self.bounds_source})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that the arrays of a copy are read-only too.
        return Points, tuple(getattr(self, each.name) for each in fields(self))

    @classmethod
    def from_rows(
        cls,
        rows: Any,
        bounds: ColumnBounds,
        *,
        columns: Sequence[str] | None = None,
        name: str = "points",
    ) -> Points:
        """Return the points of records in memory: nested sequences, an array or a DataFrame.

        Values outside the bounds are moved to the nearest one; records that lack a value (None or
        NaN) are left out. Both are counted, and `notes` says so.

        Parameters
        ----------
        rows : array_like
            One record in each row.
        bounds : pair of float, "from-data", or one of these for each column
            The smallest and the largest value that a record can have.
        columns : sequence of str, optional
            Names; by default those of a DataFrame, or x1, x2, ...

        Raises
        ------
        InvalidInput
            If a value is not a finite number, bounds have no width, or no record is left.

        Examples
        --------
        >>> Points.from_rows([[0.5, -2.0]], bounds=(-1, 1)).notes
        ('points: 1 of 1 record had a value that had to be moved into its bounds.',)
        """
        _validate.instance("the name of points", name, str)
        given = _columns(name, rows)
        if columns is None:
            named = getattr(rows, "columns", None)
            columns = (
                [f"x{place + 1}" for place in range(len(given))]
                if named is None
                else [str(each) for each in named]
            )
        names = _names(columns)
        if len(names) != len(given):
            raise InvalidInput(f"Expected a name for each of the {len(given)} columns.")
        each = bounds_of_columns(names, bounds)
        raw = np.column_stack([record_numbers(*one) for one in zip(names, given, strict=True)])
        present = ~np.isnan(raw).any(axis=1)
        missing, raw = int((~present).sum()), raw[present]
        if not len(raw):
            left_out = f" ({show_records(missing)} without a value)" if missing else ""
            raise InvalidInput(f"There are no records of {name!r} to work with{left_out}.")
        resolved = [resolve_bounds(one, values) for one, values in zip(each, raw.T, strict=True)]
        lower, upper = as_array(resolved).T
        inside = np.clip(raw, lower, upper)
        return cls(
            name,
            names,
            inside,
            tuple(resolved),
            "from-data" if any(isinstance(one, str) for one in each) else "declared",
            int((inside != raw).any(axis=1).sum()),
            missing,
        )

    @property
    def size(self) -> int:
        """How many records there are, without those that lacked a value."""
        return len(self.rows)

    @property
    def dimensions(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    @cached_property
    def distinct(self) -> int:
        """How many different records there are."""
        return int(self.group.max()) + 1

    @cached_property
    def multiplicities(self) -> IntArray:
        """One for each record."""
        return np.ones(self.size, dtype=np.int64)

    def mean_distances(self, distance: str) -> DistanceTotals:
        """Return how far each record is from all records on average; computed once.

        Raises
        ------
        Refused
            If the distance is not "euclidean", "manhattan" or "discrete".
        """
        from omit.data.distances import computed_once, point_distances

        return computed_once(self, distance, point_distances)

    def draws(
        self, design: Design, runs: int, rng: np.random.Generator
    ) -> Iterator[tuple[Positions, np.random.Generator]]:
        """Yield the positions of the records that are left, one draw after the other.

        Draw number seven takes the same random numbers whatever the design is, and comes with the
        same generator for its noise: two designs then differ by what is compared and hardly by
        luck.
        """
        kept, noise = rng.spawn(2)
        for positions in islice(design.positions(self.size, kept), runs):
            yield positions, np.random.default_rng(noise.integers(2**63))

    @cached_property
    def group(self) -> IntArray:
        """For each record a number from 0 on that equal records, and only they, share. Read-only.

        Examples
        --------
        >>> Points.from_rows([[2, 1], [1, 1], [2, 1]], bounds=(0, 9)).group
        array([1, 0, 1])
        """
        order = np.lexsort(self.rows.T)
        ordered = self.rows[order]
        first = np.concatenate([[False], (ordered[1:] != ordered[:-1]).any(axis=1)])
        group = np.empty(self.size, dtype=np.int64)
        group[order] = np.cumsum(first)
        group.flags.writeable = False
        return group

    @cached_property
    def scaled(self) -> FloatArray:
        """The columns one after the other, each brought to [-1, 1] by its bounds. Read-only."""
        lower, upper = as_array(self.bounds).T[:, :, None]
        columns = np.ascontiguousarray(
            ((self.rows.T - lower) - (upper - self.rows.T)) / (upper - lower)
        )
        columns.flags.writeable = False
        return columns

    def unscaled(self, centres: FloatArray) -> FloatArray:
        """Return points of the scaled cube, one in each row, in the units of the columns.

        Examples
        --------
        >>> Points.from_rows([[5.0]], bounds=(0, 10)).unscaled(np.array([[-1.0], [0.5]]))
        array([[0. ],
               [7.5]])
        """
        lower, upper = as_array(self.bounds).T
        return as_array(lower + (as_array(centres) + 1) / 2 * (upper - lower))

    @property
    def declaration(self) -> str:
        """A sentence on which values are possible, and who says so."""
        columns = zip(self.columns, self.bounds, strict=True)
        ranges = "; ".join(f"{name} in [{low:g}, {high:g}]" for name, (low, high) in columns)
        return f"Values lie within bounds, {ORIGIN_OF_BOUNDS[self.bounds_source]}: {ranges}."

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that belong beside every result on these records."""
        said = []
        if self.clamped:
            share = f"{self.clamped:,} of {show_records(self.size)}"
            said.append(f"{share} had a value that had to be moved into its bounds.")
        if self.missing:
            said.append(f"{show_records(self.missing)} without a value had to be left out.")
        if self.bounds_source == "from-data":
            said.append("bounds were taken from the data, so a release with them is NOT private.")
        return tuple(f"{self.name}: {each}" for each in (*said, *self.remarks))


def _columns(name: str, rows: Any) -> list[Any]:
    """Return records in memory column by column, or refuse what is not a table."""
    if hasattr(rows, "iloc") and getattr(rows, "ndim", 0) == 2:  # a DataFrame
        columns = [rows.iloc[:, place] for place in range(rows.shape[1])]
    else:
        try:
            array = np.ma.asarray(rows) if has_masked(rows) else np.asarray(rows)
        except (TypeError, ValueError):  # rows of different length
            array = np.empty(0)
        columns = list(array.T) if array.ndim == 2 else []
    if not columns:
        raise InvalidInput(f"Expected {name!r} to be rows of numbers, all of the same length.")
    return columns


def _names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, or refuse what is none."""
    several = _validate.several("names of columns", columns)
    return tuple(_validate.instance("the name of a column", each, str) for each in several)


def bounds_of_columns(names: Sequence[str], bounds: ColumnBounds | None) -> list[Bounds]:
    """Return one declaration for each column, or refuse what cannot be meant.

    Raises
    ------
    InvalidInput
        If a column has no bounds, or they are no pair; nothing has to be read before.

    Examples
    --------
    >>> bounds_of_columns(["x", "y"], (0, 1))
    [(0, 1), (0, 1)]
    >>> bounds_of_columns(["x", "y"], [(0, 1), "from-data"])
    [(0, 1), 'from-data']
    """
    each: list[Any] = [bounds] * len(names)
    if bounds is not None and not isinstance(bounds, str):
        try:
            if isinstance(bounds, bytes | bytearray | memoryview | Set | Mapping):
                raise TypeError
            given = list(bounds)
        except TypeError as error:
            raise InvalidInput(
                "Expected bounds as a pair (lower, upper) or one for each column, got "
                f"{_validate.shown(bounds)}."
            ) from error
        if any(isinstance(one, Sequence | np.ndarray) for one in given):
            each = given
    if len(each) != len(names):
        raise InvalidInput(
            f"Expected bounds for each of the {len(names)} columns ({listed(names)}), "
            f"got {len(each)}."
        )
    for name, one in zip(names, each, strict=True):
        require_declaration(name, one, None)
    return each
