"""A table of counts over declared attributes, with every cell, also the empty ones.

The categories of an attribute are declared, never observed: an empty cell that is shown says as
much about the records as a full one, so the table has to hold all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit._text import nearest, show_records
from omit.data.base import refuse_unequal, source_of_both
from omit.data.values import raw_array, texts, whole_counts
from omit.errors import InvalidInput

Origin: TypeAlias = Literal["declared", "registered", "derived", "from-data"]


@dataclass(frozen=True)
class Attribute:
    """One attribute of a table.

    Parameters
    ----------
    name : str
        What it is called.
    categories : tuple of str
        All values a record can have, in the order of the table: at least one, all different.
    origin : {"declared", "registered", "derived", "from-data"}
        Where the categories come from; ``"from-data"`` is not private.

    Examples
    --------
    >>> len(Attribute("sex", ("Female", "Male")))
    2
    """

    name: str
    categories: tuple[str, ...]
    origin: Origin = "declared"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidInput(
                f"Expected every attribute to have a name, got {_validate.shown(self.name)}."
            )
        _validate.one_of("origin", self.origin, get_args(Origin))
        several = list(_validate.several(f"categories of {self.name!r}", self.categories))
        if isinstance(self.categories, Set):  # which has no order of its own
            several.sort(key=str)
        categories = texts(raw_array(f"the categories of {self.name}", several))
        object.__setattr__(self, "categories", tuple(categories))
        if not self.categories or None in self.categories:
            raise InvalidInput(
                f"Expected at least one category of {self.name!r}, and none of them empty."
            )
        if len(set(self.categories)) < len(self.categories):
            raise InvalidInput(f"Expected the categories of {self.name!r} to be distinct.")

    def __len__(self) -> int:
        return len(self.categories)

    def position(self, category: str) -> int:
        """Return the position of a category, or refuse one that the attribute does not have."""
        if not isinstance(category, str) or category not in self.categories:
            raise InvalidInput(
                f"Attribute {self.name!r} has no category {_validate.shown(category)}; "
                f"{nearest(category if isinstance(category, str) else '', self.categories)}."
            )
        return self.categories.index(category)


def chosen(attributes: Sequence[Attribute], names: Sequence[str], what: str) -> tuple[int, ...]:
    """Return the positions of attributes by name, or refuse a name that is unknown or there twice.

    Examples
    --------
    >>> chosen([Attribute("sex", ("F", "M")), Attribute("age", ("0", "1"))], ["age"], "group")
    (1,)
    """
    known = [attribute.name for attribute in as_attributes(attributes)]
    names = _validate.several(f"names of a {what}", names)
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise InvalidInput(
                f"The {what} {_validate.shown(name)} is not an attribute of the table; "
                f"{nearest(name if isinstance(name, str) else '', known)}."
            )
    if len(set(names)) < len(names):
        raise InvalidInput(f"Expected every {what} only once, got {', '.join(names)}.")
    return tuple(known.index(name) for name in names)


@dataclass(frozen=True)
class Universe:
    """What is public about a table before anybody looks: attributes, size and the largest count.

    Parameters
    ----------
    attributes : tuple of Attribute
        With all their categories.
    records : int
        The number of records, public because neighbours have equally many.
    largest_count : int, optional
        The largest count that a cell can have, the paper's `B`; 0, the default, stands for the
        number of records.

    Examples
    --------
    >>> Universe((Attribute("sex", ("F", "M")),), records=10).largest_count
    10
    """

    attributes: tuple[Attribute, ...]
    records: int
    largest_count: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", as_attributes(self.attributes))
        require_holdable(self.attributes)
        records = _validate.positive_integer("the number of records", self.records)
        largest = min(_validate.whole("largest_count", self.largest_count) or records, records)
        if records >= 2**62:
            raise InvalidInput("Expected less than 2^62 records.")
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "largest_count", largest)
        if largest * self.cells < self.records:
            raise InvalidInput(
                f"Expected largest_count={largest} to leave room for {self.records:,} records in "
                f"{self.cells:,} cells."
            )

    @property
    def cells(self) -> int:
        """The number of cells."""
        return math.prod(len(attribute) for attribute in self.attributes)


def as_attributes(attributes: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """Return the attributes of a table as a tuple, or refuse what are none."""
    return tuple(
        _validate.instance("every attribute", attribute, Attribute)
        for attribute in _validate.several("attributes", attributes)
    )


LARGEST_TABLE = 20_000_000


def require_holdable(attributes: Sequence[Attribute]) -> None:
    """Refuse attributes whose table is too large to hold, and say how large it would be."""
    if not attributes:
        raise InvalidInput("Expected at least one attribute.")
    names = [attribute.name for attribute in attributes]
    if len(set(names)) < len(names):
        raise InvalidInput(f"Expected distinct attributes, got {', '.join(names)}.")
    cells = math.prod(len(attribute) for attribute in attributes)
    if cells > LARGEST_TABLE:
        sizes = " x ".join(f"{len(attribute):,}" for attribute in attributes)
        raise InvalidInput(
            f"The table of {', '.join(names)} has {sizes} = {cells:,} cells, and up to "
            f"{LARGEST_TABLE:,} can be held; use fewer attributes, or bins."
        )


@dataclass(frozen=True, eq=False, repr=False)
class CountTable:
    """The number of records in every cell of a table.

    Made by `tabulate`, or from counts.

    Parameters
    ----------
    attributes : tuple of Attribute
        The axes of the table.
    counts : array of int
        One count per combination of categories, in the attributes' order. Read-only.
    source : str
        Where the records came from.
    left_out : int
        How many records had no value for some attribute and were left out.
    remarks : tuple of str
        What has to be said with every result.

    Examples
    --------
    >>> sex, town = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B", "C"))
    >>> table = CountTable((sex, town), np.array([[5, 0, 2], [1, 3, 0]]))
    >>> table
    CountTable(sex x town: 11 records in 6 cells, 2 of them empty)
    >>> table.marginal(["sex"])
    array([7, 4])
    """

    attributes: tuple[Attribute, ...]
    counts: IntArray
    source: str = "counts"
    left_out: int = 0
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", as_attributes(self.attributes))
        _validate.instance("source", self.source, str)
        object.__setattr__(self, "remarks", _validate.texts("remarks", self.remarks))
        object.__setattr__(self, "left_out", _validate.whole("left_out", self.left_out))
        require_holdable(self.attributes)
        counts = whole_counts("the table", self.counts)
        if counts.size != math.prod(self.shape):
            raise InvalidInput(
                f"Expected {' x '.join(map(str, self.shape))} counts, got {counts.size:,}."
            )
        counts = counts.reshape(self.shape)
        if counts.sum() == 0:
            raise InvalidInput("The table holds no records.")
        counts.flags.writeable = False
        object.__setattr__(self, "counts", counts)

    def __repr__(self) -> str:
        names, empty = " x ".join(self.names), int((self.counts == 0).sum())
        return (
            f"CountTable({names}: {self.size:,} records in {self.cells:,} cells, "
            f"{empty:,} of them empty)"
        )

    def __add__(self, other: CountTable) -> CountTable:
        """Return the table of the records of both, such as of two files or two institutions.

        `InvalidInput` is raised unless attributes and categories are the same.

        Examples
        --------
        >>> table = CountTable((Attribute("sex", ("F", "M")),), np.array([3, 8]))
        >>> (table + table).counts, sum([table, table]).size
        (array([ 6, 16]), 22)
        """
        if not isinstance(other, CountTable):
            return NotImplemented
        refuse_unequal("tables", {"attributes": (self.names, other.names)})
        attributes = []
        for mine, its in zip(self.attributes, other.attributes, strict=True):
            refuse_unequal(
                "tables", {f"categories of {mine.name!r}": (mine.categories, its.categories)}
            )
            attributes.append(mine if its.origin != "from-data" else its)
        return CountTable(
            tuple(attributes),
            self.counts + other.counts,
            source_of_both(self.source, other.source),
            self.left_out + other.left_out,
            tuple(dict.fromkeys((*self.remarks, *other.remarks))),
        )

    def __radd__(self, other: object) -> Any:
        # So that sum() works, which starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of every attribute."""
        return tuple(len(attribute) for attribute in self.attributes)

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(self.counts.size)

    @property
    def flat(self) -> IntArray:
        """The counts in one row, the last attribute running fastest."""
        return self.counts.reshape(-1)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    def names_of(self, names: Sequence[str], what: str) -> tuple[str, ...]:
        """Return names that are attributes of the table, or refuse them; `what` says what for."""
        return tuple(self.names[position] for position in chosen(self.attributes, names, what))

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be said with every result."""
        observed = [
            attribute.name for attribute in self.attributes if attribute.origin == "from-data"
        ]
        notes = []
        if self.left_out:
            notes.append(
                f"{show_records(self.left_out)} without a value for some attribute had to be left "
                "out; guarantees are for tables of the records that are left, whose number is "
                "taken as public (without_value='category' keeps all records)."
            )
        if observed:
            notes.append(
                f"The categories of {', '.join(observed)} were taken from the data, which is NOT "
                "private."
            )
        return (*notes, *self.remarks)

    def universe(self, largest_count: int | None = None) -> Universe:
        """Return what is public about the table; `largest_count` is declared, never observed.

        One that some count is above is refused: no guarantee would cover the table.
        """
        if largest_count is None:
            return Universe(self.attributes, self.size)
        if _validate.positive_integer("largest_count", largest_count) < self.counts.max():
            raise InvalidInput(
                f"The table holds a count above the declared largest_count={largest_count}, so no "
                "guarantee for such tables covers it; declare a larger one."
            )
        return Universe(self.attributes, self.size, largest_count)

    def marginal(self, names: Sequence[str]) -> IntArray:
        """Return the counts over some of the attributes only, in the order given."""
        kept = chosen(self.attributes, names, "margin's attribute")
        summed = self.counts.sum(axis=tuple(set(range(self.counts.ndim)) - set(kept)))
        order = sorted(kept)
        return np.transpose(summed, [order.index(position) for position in kept])

    def records(self) -> IntArray:
        """Return one row of category positions for every record, in the order of the cells."""
        occupied = np.flatnonzero(self.flat)
        codes = np.stack(np.unravel_index(occupied, self.shape), axis=1)
        return np.repeat(codes, self.flat[occupied], axis=0).astype(np.int64)

    def group(self, name: str, category: str) -> IntArray:
        """Return the flat positions of the cells of a group, or refuse a group without records."""
        (position,) = chosen(self.attributes, [name], "group's attribute")
        index = self.attributes[position].position(category)
        positions = np.arange(self.cells).reshape(self.shape).take(index, axis=position).reshape(-1)
        if self.flat[positions].sum() == 0:
            raise InvalidInput(f"The group {name} = {category} is empty: it has no records.")
        return positions


def require_table(table: CountTable) -> CountTable:
    """Return a table of counts, or refuse what is none."""
    return _validate.instance("table", table, CountTable, "made by tabulate")


def cell_values(table: CountTable, values: ArrayLike) -> FloatArray:
    """Return a number for every cell of a table in one row, or refuse what does not fit it.

    Examples
    --------
    >>> cell_values(CountTable((Attribute("sex", ("F", "M")),), np.array([1, 2])), [3, 4])
    array([3., 4.])
    """
    require_table(table)
    row = as_array(values).reshape(-1)
    if row.size != table.cells or not np.isfinite(row).all():
        raise InvalidInput(
            f"Expected a finite number for all {table.cells:,} cells, got {row.size:,}."
        )
    return row


def two_way(
    table: CountTable, counts: ArrayLike, rows: str, columns: str, where: Mapping[str, str]
) -> FloatArray:
    """Return a two-way marginal of released counts within a group, such as white men.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> table = tabulate("adult", ["sex", "race", "income"])
    >>> two_way(table, table.flat, "sex", "income", {"race": "Black"})
    array([[1465.,   90.],
           [1272.,  297.]])
    """
    require_table(table)
    _validate.mapping("a group", where, "from attributes to categories")
    positions = chosen(table.attributes, [rows, columns, *where], "attribute")
    cube = cell_values(table, counts).reshape(table.shape)
    original = table.counts
    for position, category in zip(positions[2:], where.values(), strict=True):
        index = [table.attributes[position].position(category)]
        cube, original = cube.take(index, axis=position), original.take(index, axis=position)
    if original.sum() == 0:
        raise InvalidInput(f"The group {group_name(where)} is empty: it has no records.")
    summed = cube.sum(axis=tuple(set(range(cube.ndim)) - set(positions[:2])))
    return as_array(summed if positions[0] < positions[1] else summed.T)


def largest_groups(table: CountTable, attribute: str, count: int = 2) -> dict[str, dict[str, str]]:
    """Return the categories of an attribute with the most records, as groups by name.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> list(largest_groups(tabulate("adult", ["race", "sex"]), "race"))
    ['race = White', 'race = Black']
    """
    require_table(table)
    count = _validate.positive_integer("count", count)
    (position,) = chosen(table.attributes, [attribute], "group")
    sizes = table.marginal([attribute])
    order = np.argsort(-sizes, kind="stable")[:count]
    categories = table.attributes[position].categories
    names = [categories[index] for index in order if sizes[index] > 0]
    return {f"{attribute} = {name}": {attribute: name} for name in names}


def group_name(where: Mapping[str, str]) -> str:
    """Return what a group is called, such as ``race = White, sex = Male``."""
    return ", ".join(f"{name} = {category}" for name, category in where.items())
