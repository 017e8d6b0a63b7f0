"""Reading one column, or records with several numbers each, from wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from omit import _validate
from omit._numeric import FloatArray, IntArray
from omit._text import listed
from omit.data.base import Bounds, Categories, declared_categories, require_declaration
from omit.data.binning import read_numbers
from omit.data.column import Column
from omit.data.datasets import Dataset
from omit.data.grouping import grouped_column
from omit.data.groups import DeclaredGroups, GroupedColumn
from omit.data.points import ColumnBounds, Points, bounds_of_columns
from omit.data.sources import open_table, registered
from omit.data.tables import Table, Values, position_of, positions_of
from omit.data.values import MissingCodes, record_numbers
from omit.data.weighted import WeightedColumn
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Source: TypeAlias = "str | Path | DuckDBPyConnection | DuckDBPyRelation | Any"


@overload
def read(
    source: Source,
    column: str | int | None = None,
    *,
    bounds: Bounds | None = None,
    categories: Categories | None = None,
    table: str | None = None,
    step: float | None = None,
    bins: int | None = None,
    missing: Iterable[str | float] = (),
    weight: None = None,
    weight_bounds: None = None,
    by: None = None,
    groups: None = None,
) -> Column: ...
@overload
def read(
    source: Source,
    column: str | int | None = None,
    *,
    bounds: Bounds | None = None,
    categories: Categories | None = None,
    table: str | None = None,
    step: float | None = None,
    bins: int | None = None,
    missing: Iterable[str | float] = (),
    by: str | int | Sequence[str | int],
    groups: DeclaredGroups | None = None,
) -> GroupedColumn: ...
@overload
def read(
    source: Source,
    column: str | int | None = None,
    *,
    bounds: Bounds | None = None,
    table: str | None = None,
    missing: Iterable[str | float] = (),
    weight: str | int,
    weight_bounds: tuple[float, float] | None = None,
) -> WeightedColumn: ...
def read(
    source: Source,
    column: str | int | None = None,
    *,
    bounds: Bounds | None = None,
    categories: Categories | None = None,
    table: str | None = None,
    step: float | None = None,
    bins: int | None = None,
    missing: Iterable[str | float] = (),
    weight: str | int | None = None,
    weight_bounds: tuple[float, float] | None = None,
    by: str | int | Sequence[str | int] | None = None,
    groups: DeclaredGroups | None = None,
) -> Column | WeightedColumn | GroupedColumn:
    """Return one column of a table, reduced to value counts.

    The counting is done where the records are, by DuckDB for files and databases and by a frame's
    own library for frames, so they may be far larger than memory. Values outside the bounds are
    moved to the nearest one; records without a value (empty, NULL, NaN, and among numbers also NA)
    are left out. Both are counted, and `Column.notes` says so.

    Parameters
    ----------
    source : str, Path, frame, series, array, list, DuckDBPyConnection or DuckDBPyRelation
        The name of a registered data set (see `datasets`), else the path of a CSV file with a
        header row (``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz``), a Parquet file or a DuckDB
        database; or a DuckDB object, a frame or a series of pandas, Polars, Arrow, Dask, Ibis,
        PySpark or whatever else Narwhals knows, an Arrow data set, or values in memory.
    column : str, or int of a frame that numbers its columns, optional
        The column; may be left out if there is only one, and for a registered data set.
    bounds : tuple of float or "from-data"
        The smallest and the largest value a record can have. ``"from-data"`` takes them from the
        data, which is not private. Registered columns have bounds.
    categories : sequence of str or "from-data"
        For text: all values a record can have.
    table : str, optional
        The table of a DuckDB database or connection; may be left out if there is only one.
    step : float, optional
        If values can only be the lower bound plus a multiple of it: 1 for whole numbers. Other
        values are moved to the nearest such number. Registered columns have theirs.
    bins : int, optional
        Into how many bins of one width the bounds are divided, to keep of every bin the number of
        records, their mean, the smallest and the largest: enough for means, sums and counts. By
        default that is done, with 16,384 bins, for numbers without a step of which there are more
        than 200,000 different ones; with 0 it never is, and all values are kept.
    missing : sequence of str or float
        Texts and numbers that stand for no value, such as ``["N", -9]``. Registered data sets have
        theirs.
    weight : str, or int of a frame that numbers its columns, optional
        A column with the weight of every record, as surveys have one. A column with weights is then
        returned, for a weighted mean.
    weight_bounds : tuple of float
        Zero and the largest weight a record can have. Larger ones are clamped.
    by : str, or several, optional
        Columns with labels that put every record into one group. The column is then returned in
        groups, from one pass over the table.
    groups : sequence, mapping, or str, optional
        All groups that there can be: the labels of the one column, tuples of labels of several,
        ``{column: labels}`` for all combinations, or the name of a registered data set. By default
        what is registered about the columns. ``"from-data"`` takes those that occur, which is not
        private.

    Raises
    ------
    InvalidInput
        If something is missing, undeclared or not readable; the message says what would work.

    Examples
    --------
    >>> read("adult", "age")
    Column('age': 32,561 records, 73 distinct values, bounds [0, 125] registered)
    >>> read("adult", "occupation").notes
    ('occupation: 1,843 records without a value were left out.',)
    >>> read("adult", "age", weight="fnlwgt", weight_bounds=(0, 500_000))
    WeightedColumn('age': 32,561 records, 28,834 distinct pairs, bounds [0, 125] registered)
    >>> read("adult", "age", by=["race", "sex"])["Other", "Female"]
    Column('age': 109 records, 36 distinct values, bounds [0, 125] registered)
    """
    if by is None and groups is not None:
        raise InvalidInput("Expected by=... (--by), columns, since there are groups.")
    if weight is not None:
        if by is not None:
            raise InvalidInput(
                "Expected no groups of a column with weights; leave one of them out."
            )
        _require_numbers(categories, step, bins)
        codes = MissingCodes.of(missing)
        return _read_weighted(source, column, bounds, table, codes, weight, weight_bounds)
    if weight_bounds is not None:
        raise InvalidInput(
            "Expected weight=... (--weight), a column, since there are weight bounds."
        )
    known = registered(source, table)
    undeclared = bounds is None and categories is None
    codes = MissingCodes.of(missing)
    if known is not None and column is None:
        column = known.default_column
    with open_table(source, table, None if column is None else str(column)) as opened:
        position = position_of(opened.names, column, opened.label)
        name = opened.names[position]
        if known is not None and undeclared:
            bounds, categories = known.bounds.get(name), known.categories.get(name)
        require_declaration(name, bounds, categories)
        if categories is not None and not isinstance(categories, str):
            categories = declared_categories(categories)
            _refuse_codes_among(name, categories, codes)
        if known is not None:
            # Whoever declares '?' as a category wants it counted.
            codes |= MissingCodes.of(set(known.missing).difference(categories or ()))
            step = known.step_of(name, bounds) if step is None else step
        origin = _origin(known, name, undeclared, opened.origin)
        if by is not None:
            alone = isinstance(by, str | bytes | Integral)
            chosen: Any = [by] if alone else _validate.several("columns of labels", by)  # type: ignore[arg-type]  # as the test says
            parts = grouped_column(
                opened,
                position,
                chosen,
                groups,
                known,
                codes,
                bounds=bounds,
                categories=categories,
                step=step,
                bins=bins,
            )
            return parts.with_columns(lambda part: replace(part, **origin))
        if bounds is not None:
            made = read_numbers(opened, position, bounds, codes, step=step, bins=bins)
        else:
            made = _read_texts(opened, position, categories, codes, step, bins)
    return replace(made, **origin)


def _origin(known: Dataset | None, name: str, undeclared: bool, origin: str) -> dict[str, Any]:
    """Return what a column says of where it comes from, as arguments."""
    if known is None:
        return {"source": origin}
    ignored = known.ignored_weights(name)
    if not undeclared:
        return {"source": known.name, "remarks": ignored}
    remarks = (known.remarks[name],) if name in known.remarks else ()
    return {
        "source": known.name,
        "remarks": (*remarks, *ignored),
        "bounds_source": "registered",
    }


def _read_texts(
    opened: Table,
    position: int,
    categories: Categories | None,
    codes: MissingCodes,
    step: float | None,
    bins: int | None,
) -> Column:
    """Return a column of texts."""
    name = opened.names[position]
    if bins:
        raise InvalidInput(f"Column {name!r} is text, and only numbers are put into bins.")
    values, counts = opened.tally(position, as_text=True)
    values, counts, absent = codes.without(values, counts, numbers=False)
    return Column.from_counts(
        values, counts, categories=categories, name=name, missing=absent, step=step
    )


def _require_numbers(categories: Categories | None, step: float | None, bins: int | None) -> None:
    """Refuse what a column with weights has not."""
    for name, value in {"categories": categories, "step": step, "bins": bins or None}.items():
        if value is not None:
            raise InvalidInput(f"Expected no {name} of a column with weights; leave them out.")


def _read_weighted(
    source: Source,
    column: str | int | None,
    bounds: Bounds | None,
    table: str | None,
    codes: MissingCodes,
    weight: str | int,
    weight_bounds: tuple[float, float] | None,
) -> WeightedColumn:
    """Return a column of numbers with another one as their weights."""
    largest = _largest_weight(weight, weight_bounds)
    known = registered(source, table)
    undeclared = bounds is None
    if known is not None:
        column = known.default_column if column is None else column
        codes |= MissingCodes.of(known.missing)
    with open_table(source, table, None if column is None else str(column)) as opened:
        position = position_of(opened.names, column, opened.label)
        name = opened.names[position]
        if known is not None and undeclared:
            bounds = known.bounds.get(name)
        require_declaration(name, bounds, None)
        pairs = _counted_pairs(opened, position, weight, codes)
    assert bounds is not None
    made = WeightedColumn.from_pairs(*pairs, bounds, largest, name=name)
    if known is None:
        return replace(made, source=opened.origin)
    if not undeclared:
        return replace(made, source=known.name)
    remarks = (known.remarks[name],) if name in known.remarks else ()
    return replace(made, source=known.name, bounds_source="registered", remarks=remarks)


def _largest_weight(weight: str | int, bounds: tuple[float, float] | None) -> float:
    """Return the largest weight that is declared, or refuse to guess it."""
    if bounds is None:
        raise InvalidInput(
            f"The weights {weight!r} have no declared bounds; give weight_bounds: 0 and the "
            "largest weight that a record can have."
        )
    lower, upper = _validate.interval("weight_bounds", bounds)
    if lower != 0 or not upper > 0:
        raise InvalidInput(
            f"Expected weight_bounds=({lower:g}, {upper:g}) to be 0 and a positive number: a "
            "record may count for nothing."
        )
    return upper


def _counted_pairs(
    opened: Table, position: int, weight: str | int, codes: MissingCodes
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return values, weights and the number of records of each pair; NaN where one is missing."""
    weighing = position_of(opened.names, weight, opened.label)
    if weighing == position:
        name = opened.names[position]
        raise InvalidInput(f"Expected another column than {name!r} for its weights.")
    groups = opened.grouped([Values(position), Values(weighing)], codes=codes)
    values, weights = (
        record_numbers(opened.names[at], keys, codes)
        for at, keys in zip((position, weighing), groups.keys, strict=True)
    )
    return values, weights, groups.counts


def _refuse_codes_among(name: str, categories: Sequence[str], codes: MissingCodes) -> None:
    """Refuse a category that is declared to stand for no value, too."""
    both = [category for category in categories if category in codes.texts]
    if both:
        raise InvalidInput(
            f"Expected {both[0]!r} to be a category of {name!r} or to stand for a missing value, "
            "not both."
        )


def read_points(
    source: Source,
    columns: str | int | Sequence[str | int] | None = None,
    *,
    bounds: ColumnBounds | None = None,
    table: str | None = None,
    missing: Iterable[str | float] = (),
) -> Points:
    """Return several columns of a table as points, one for each record.

    Values outside the bounds are moved to the nearest one; records that lack a value in any of
    the columns (empty, NULL, NaN, NA) are left out. Both are counted, and `Points.notes` says so.
    Unlike value counts, points have to fit into memory.

    Parameters
    ----------
    source, table, missing
        As for `read`.
    columns : sequence of str, optional
        By default all columns; of a registered data set those that were registered for it.
    bounds : pair of float, "from-data", or one of these for each column
        The smallest and the largest value that a record can have, as for `read`.

    Raises
    ------
    InvalidInput
        If something is missing, undeclared or not readable, as by `read`.

    Examples
    --------
    >>> read_points("adult")
    Points('adult': 32,561 records of 6 columns, bounds registered)
    >>> read_points("adult", ["age", "hours-per-week"], bounds=[(0, 125), (0, 60)]).notes
    ('adult: 1,110 of 32,561 records had a value outside its bounds and were clamped.',)
    """
    chosen: Sequence[str | int] | None = None
    if columns is not None:
        single = isinstance(columns, str | int | Integral)
        chosen = [columns] if single else _validate.several("columns", columns)  # type: ignore[list-item,arg-type]  # as the test says
    known = registered(source, table)
    undeclared = bounds is None
    codes = MissingCodes.of(missing) | MissingCodes.of(known.missing if known else ())
    if known is not None and chosen is None:
        chosen = known.point_columns
        if not chosen:
            raise InvalidInput(
                f"Expected columns=... of the data set {known.name!r}; with bounds there are "
                f"{listed(known.bounds)}."
            )
    with open_table(source, table) as opened:
        positions = positions_of(opened.names, chosen, opened.label)
        names = [opened.names[position] for position in positions]
        if known is not None and undeclared:
            bounds = _registered_bounds(known, names)
        declared = bounds_of_columns(names, bounds)
        rows = opened.records(positions, codes)
    called = Path(source).name.split(".")[0] if isinstance(source, str | Path) else "points"
    name = known.name if known else called
    made = Points.from_rows(rows, declared, columns=names, name=name)
    if known is None:
        return replace(made, source=opened.origin)
    if not undeclared:
        return replace(made, source=known.name)
    remarks = _remarks(known, names)
    return replace(made, source=known.name, bounds_source="registered", remarks=remarks)


def _registered_bounds(known: Dataset, names: Sequence[str]) -> ColumnBounds:
    for name in names:
        require_declaration(name, known.bounds.get(name), None)
    return [known.bounds[name] for name in names]


def _remarks(known: Dataset, names: Sequence[str]) -> tuple[str, ...]:
    """Return what has to be said about the columns, each sentence once."""
    about: dict[str, list[str]] = {}
    for name in names:
        if name in known.remarks:
            about.setdefault(known.remarks[name], []).append(name)
    return tuple(f"{', '.join(columns)}: {remark}" for remark, columns in about.items())
