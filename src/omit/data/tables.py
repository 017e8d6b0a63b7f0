"""What is asked of a table, wherever it is: counts of values, of bins and of combinations; records.

The grouping runs where the records are: in DuckDB for files and databases (`relations`), in its
own library for a frame (`frames`). Only the groups come to Python, so a table may be larger than
memory. Points are needed record by record: of them the chosen columns are loaded, and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple, TypeAlias

import numpy as np

from omit._numeric import FloatArray, IntArray, as_array
from omit._text import listed, nearest
from omit._validate import shown
from omit.data.values import AnyArray, MissingCodes, record_numbers
from omit.errors import InvalidInput

NO_CODES = MissingCodes()


@dataclass(frozen=True)
class Values:
    """Group by the values of a column, as numbers if they are some.

    As text, whole and decimal numbers keep all their digits.
    """

    position: int
    as_text: bool = False


@dataclass(frozen=True)
class Bins:
    """Group by how many of some increasing edges a column's number reaches: 0, 1, 2, ...

    A number reaches an edge if it is at least as large.
    """

    position: int
    edges: tuple[float, ...]

    def index(self, numbers: FloatArray) -> FloatArray:
        """Return the bin of each number."""
        return as_array(np.searchsorted(self.edges, numbers, side="right"))


@dataclass(frozen=True)
class Steps:
    """Group by the bin of a column's number among `count` bins of one width from `lower` on.

    That is floor((number - lower) / width) in floating-point numbers; -1 for all numbers below
    and `count` for all above.
    """

    position: int
    lower: float
    width: float
    count: int

    def index(self, numbers: FloatArray) -> FloatArray:
        """Return the bin of each number."""
        return as_array(np.clip(np.floor((numbers - self.lower) / self.width), -1, self.count))


@dataclass(frozen=True)
class Within:
    """Group by the bin of a column's number among `count` bins of one width between two bounds.

    The bins are 1, 2, ..., and bin `1 + floor((number - lower) / width)`, in floating-point
    numbers, has the numbers between the bounds. A number equal to the lower bound is in bin 0 and
    one equal to the upper bound in bin `count + 1`; -1 is all numbers below, `count + 2` all above.
    """

    position: int
    lower: float
    upper: float
    count: int

    @property
    def width(self) -> float:
        """How wide every bin is; any width will do for bounds that are one point."""
        return (self.upper - self.lower) / self.count or 1.0

    def index(self, numbers: FloatArray) -> FloatArray:
        """Return the bin of each number."""
        between = 1 + np.clip(np.floor((numbers - self.lower) / self.width), 0, self.count - 1)
        up_to_lower = np.where(numbers == self.lower, 0.0, -1.0)
        from_upper = np.where(numbers == self.upper, self.count + 1.0, self.count + 2.0)
        at_least = np.where(numbers >= self.upper, from_upper, between)
        return as_array(np.where(numbers <= self.lower, up_to_lower, at_least))


Key: TypeAlias = Values | Bins | Steps | Within


class Groups(NamedTuple):
    """Groups of records; several may have the same keys, and belong together then.

    Parameters
    ----------
    keys : list of array
        For each key its values, with NaN or None for none; or its bins as whole numbers, as
        floats, with NaN where the column has no number.
    unread : list of array or None
        For a key of bins, the column's own values where they are no finite number or stand for
        no value, and None elsewhere; not binned. None for a key of values.
    counts : array of int
        The number of records in each group.
    sums : list of array
        For each column that was summed, the sum of its finite numbers in each group.
    lows, highs : list of array
        For each column whose ends were asked for, its smallest and its largest finite number in
        each group; NaN where there is none.
    """

    keys: list[AnyArray]
    unread: list[AnyArray | None]
    counts: IntArray
    sums: list[FloatArray]
    lows: list[FloatArray]
    highs: list[FloatArray]


@dataclass(frozen=True)
class Table(ABC):
    """A table: `relations.Relation` or `frames.Frame`, which `sources.open_table` gives.

    Sentences call it by its `label`. The `names` are its columns as a person knows them, and
    everything is asked by their position.
    """

    label: str
    names: tuple[str, ...]

    @property
    @abstractmethod
    def origin(self) -> str:
        """What a result says about its data."""

    @property
    def read_once(self) -> bool:
        """Whether the records are gone once they were read, as those of a stream are."""
        return False

    @abstractmethod
    def grouped(
        self,
        keys: Sequence[Key],
        *,
        sums: Sequence[int] = (),
        ends: Sequence[int] = (),
        codes: MissingCodes = NO_CODES,
    ) -> Groups:
        """Group the records where they are, and return the groups with their numbers of records.

        Parameters
        ----------
        keys : sequence of Values, Bins, Steps or Within
            What to group by: one key or several.
        sums : sequence of int
            The positions of columns of numbers to add up in each group.
        ends : sequence of int
            The positions of columns of which the smallest and the largest number are wanted.
        codes : MissingCodes
            Numbers that stand for no value: they are in no bin and in no sum. Of a key of values
            all values are returned, codes too.

        `InvalidInput` is raised if the table cannot be read, or a column holds what is neither
        numbers nor text.

        Examples
        --------
        How often each age occurs, the sum of the wages in each of ten bins, and pairs:

        >>> import duckdb
        >>> from omit.data.sources import open_table
        >>> people = duckdb.sql("SELECT unnest([39, 25, 39]) AS age, unnest([50, 7, 95]) AS wage")
        >>> with open_table(people) as table:
        ...     ages = table.grouped([Values(0)])
        ...     wages = table.grouped([Steps(1, lower=0, width=10, count=10)], sums=[1])
        ...     pairs = table.grouped([Values(0), Values(1)])
        >>> sorted(zip(ages.keys[0].tolist(), ages.counts.tolist()))
        [(25.0, 1), (39.0, 2)]
        >>> sorted(zip(wages.keys[0].tolist(), wages.counts.tolist(), wages.sums[0].tolist()))
        [(0.0, 1, 7.0), (5.0, 1, 50.0), (9.0, 1, 95.0)]
        >>> len(pairs.counts)
        3
        """

    @abstractmethod
    def some(self, records: int) -> Table:
        """Return the table of so many of the records, no matter which, or of all if there are less.

        Examples
        --------
        >>> import duckdb
        >>> from omit.data.sources import open_table
        >>> with open_table(duckdb.sql("SELECT unnest([39, 25, 39]) AS age")) as table:
        ...     int(table.some(2).tally(0)[1].sum())
        2
        """

    @abstractmethod
    def columns(self, positions: Sequence[int]) -> list[AnyArray]:
        """Return some columns with a value for each record, in one order for all."""

    def tally(self, position: int, *, as_text: bool = False) -> tuple[AnyArray, IntArray]:
        """Return the distinct values of one column, and how many records have each."""
        groups = self.grouped([Values(position, as_text)])
        return groups.keys[0], groups.counts

    def records(self, positions: Sequence[int], codes: MissingCodes = NO_CODES) -> FloatArray:
        """Return several columns as numbers, one record in each row, with NaN for no value.

        `InvalidInput` is raised if a column holds text or infinities.

        Examples
        --------
        >>> import duckdb
        >>> from omit.data.sources import open_table
        >>> with open_table(duckdb.sql("SELECT unnest([39, NULL]) AS age, '7' AS rooms")) as table:
        ...     table.records([1, 0])
        array([[ 7., 39.],
               [ 7., nan]])
        """
        columns = zip(positions, self.columns(positions), strict=True)
        return np.column_stack(
            [record_numbers(self.names[position], values, codes) for position, values in columns]
        )


def position_of(names: Sequence[str], column: str | int | None, label: str) -> int:
    """Return the position of a column; of the only one if none is named.

    `InvalidInput` is raised if there is no such column, or several.

    Examples
    --------
    >>> position_of(["age", "sex"], "sex", "people.csv")
    1
    """
    if column is None and len(names) != 1:
        raise InvalidInput(
            f"Expected column to be one of {listed(names) or 'none'}, which are in {label}."
        )
    wanted = names[0] if column is None else _column_name(column)
    if wanted not in names:
        raise InvalidInput(
            f"There is no column {shown(wanted)} in {label}; {nearest(wanted, names)}."
        )
    if list(names).count(wanted) > 1:
        raise InvalidInput(f"Several columns of {label} are called {wanted!r}; rename one.")
    return list(names).index(wanted)


def positions_of(
    names: Sequence[str], columns: Sequence[str | int] | None, label: str
) -> list[int]:
    """Return the positions of columns, which are named once; of all if none are named.

    Examples
    --------
    >>> positions_of(["age", "sex", "hours"], ["hours", "age"], "people.csv")
    [2, 0]
    """
    wanted = names if columns is None else columns
    if not len(wanted):
        raise InvalidInput(f"Expected at least one column of {label}: of {listed(names)}.")
    positions = [position_of(names, column, label) for column in wanted]
    for number, position in enumerate(positions):
        if position in positions[:number]:
            raise InvalidInput(f"Expected each column once, got {names[position]!r} twice.")
    return positions


def _column_name(column: object) -> str:
    """Return the name of a column; a frame may number its columns."""
    if isinstance(column, str):
        return column
    if isinstance(column, Integral) and not isinstance(column, bool):
        return str(int(column))
    raise InvalidInput(f"Expected the name of a column, got {shown(column)}.")
