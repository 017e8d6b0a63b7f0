"""Records with several numbers each, as clustering needs them: a matrix with declared bounds.

What is public here: the names and bounds of the columns, if the bounds were declared and not taken
from the data. What is not: everything else, the number of records included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit._text import listed, show_records
from omit.data import base
from omit.data.values import record_numbers, row_columns
from omit.errors import InvalidInput
from omit.laws.design import Design, Positions

if TYPE_CHECKING:
    from omit.data.distances import DistanceTotals

ColumnBounds: TypeAlias = base.Bounds | Sequence[base.Bounds]


@dataclass(frozen=True, eq=False, repr=False)
class Points(base.Data):
    """Records with several numbers each, and bounds for every column.

    Made by `read_points` or `Points.from_rows`.

    Parameters
    ----------
    name, bounds_source, clamped, missing, source, remarks
        As for all `Data`.
    columns : tuple of str
        The names of the columns.
    rows : array
        One record in each row, in the units of the columns. Read-only.
    bounds : tuple of (float, float)
        The smallest and the largest value of each column.

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
    bounds_source: base.BoundsSource = "declared"
    clamped: int = 0
    missing: int = 0
    source: str = "values in memory"
    remarks: tuple[str, ...] = ()

    described: ClassVar[str] = "points, which read_points gives"
    coupled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _validate.instance("the name of points", self.name, str)
        self._set(columns=_names(self.columns))
        rows = as_array(self.rows) + 0.0  # one zero, not two
        if rows.ndim != 2 or rows.shape[1] != len(self.columns) or not rows.size:
            raise InvalidInput(
                f"Expected {self.name!r} to hold records of {len(self.columns)} numbers."
            )
        bounds = tuple(map(base.checked_bounds, _validate.several("bounds", self.bounds)))
        if len(bounds) != len(self.columns):
            raise InvalidInput(f"Expected bounds for each of the {len(self.columns)} columns.")
        self._require_origin()
        for name, (lower, upper), values in zip(self.columns, bounds, rows.T, strict=True):
            shown = base.show_bounds((lower, upper))
            if lower == upper:
                raise InvalidInput(
                    f"The bounds {shown} of {name!r} have no width, so its values cannot be told "
                    "apart; leave the column out or declare wider bounds."
                )
            if not ((values >= lower) & (values <= upper)).all():
                raise InvalidInput(f"Expected the values of {name!r} within {shown}.")
        self._set(rows=rows, bounds=bounds)

    def __repr__(self) -> str:
        return (
            f"Points({self.name!r}: {show_records(self.size)} of {self.dimensions} columns, "
            f"bounds {self.bounds_source})"
        )

    def __add__(self, other: Points) -> Points:
        """Return the points of both, such as of two files or two institutions.

        They are called like the first. `InvalidInput` is raised unless columns and bounds are the
        same.

        Examples
        --------
        >>> here = Points.from_rows([[39, 40]], bounds=(0, 125))
        >>> here + here
        Points('points': 2 records of 2 columns, bounds declared)
        """
        if not isinstance(other, Points):
            return NotImplemented
        compared = ("columns", "bounds")
        base.refuse_unequal(
            "points", {name: (getattr(self, name), getattr(other, name)) for name in compared}
        )
        rows = np.concatenate([self.rows, other.rows])
        return replace(self, rows=rows, **self._origin_with(other))

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
        ('points: 1 of 1 records had a value outside its bounds and was clamped.',)
        """
        _validate.instance("the name of points", name, str)
        given = _columns(name, rows)
        names = _names(_default_names(rows, len(given)) if columns is None else columns)
        if len(names) != len(given):
            raise InvalidInput(f"Expected a name for each of the {len(given)} columns.")
        declared = bounds_of_columns(names, bounds)
        raw = np.column_stack(list(map(record_numbers, names, given)))
        present = ~np.isnan(raw).any(axis=1)
        missing, raw = int((~present).sum()), raw[present]
        if not len(raw):
            raise base.no_records(f"There are no records of {name!r}", missing)
        resolved = tuple(map(base.resolve_bounds, declared, raw.T))
        inside = np.clip(raw, *as_array(resolved).T)
        clamped = int((inside != raw).any(axis=1).sum())
        return cls(name, names, inside, resolved, base.origin_of(*declared), clamped, missing)

    @property
    def size(self) -> int:
        """The number of records, without those that lacked a value."""
        return len(self.rows)

    @property
    def dimensions(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @cached_property
    def distinct(self) -> int:
        """The number of different records."""
        return int(self.group.max()) + 1

    @cached_property
    def multiplicities(self) -> IntArray:
        """One for each record."""
        return np.ones(self.size, dtype=np.int64)

    def draws(
        self, design: Design, runs: int, rng: np.random.Generator
    ) -> Iterator[tuple[Positions, np.random.Generator]]:
        """Yield the positions of the records that are kept, one draw after the other.

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
        return f"Values lie within bounds, {base.ORIGIN_OF_BOUNDS[self.bounds_source]}: {ranges}."

    def _distances(self, distance: str) -> DistanceTotals:
        from omit.data.distances import point_distances

        return point_distances(self, distance)


def _columns(name: str, rows: Any) -> list[Any]:
    """Return records in memory column by column, or refuse what is not a table."""
    if hasattr(rows, "iloc") and getattr(rows, "ndim", 0) == 2:  # a DataFrame
        columns = [rows.iloc[:, position] for position in range(rows.shape[1])]
    else:
        columns = row_columns(rows)
    if not columns:
        raise InvalidInput(f"Expected {name!r} to be rows of numbers, all of the same length.")
    return columns


def _default_names(rows: Any, count: int) -> list[str]:
    named = getattr(rows, "columns", None)
    return [f"x{number + 1}" for number in range(count)] if named is None else list(map(str, named))


def _names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, or refuse what is none."""
    several = _validate.several("names of columns", columns)
    return tuple(_validate.instance("the name of a column", name, str) for name in several)


def bounds_of_columns(names: Sequence[str], bounds: ColumnBounds | None) -> list[base.Bounds]:
    """Return one declaration for every column, or refuse what cannot be meant.

    Nothing has to be read for that.

    Examples
    --------
    >>> bounds_of_columns(["x", "y"], (0, 1))
    [(0, 1), (0, 1)]
    >>> bounds_of_columns(["x", "y"], [(0, 1), "from-data"])
    [(0, 1), 'from-data']
    """
    declared: list[Any] = [bounds] * len(names)
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
        if any(isinstance(pair, Sequence | np.ndarray) for pair in given):
            declared = given
    if len(declared) != len(names):
        raise InvalidInput(
            f"Expected bounds for each of the {len(names)} columns ({listed(names)}), "
            f"got {len(declared)}."
        )
    for name, pair in zip(names, declared, strict=True):
        base.require_declaration(name, pair, None)
    return declared
