"""Reading one column, or records with several numbers each, from wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from omit import _validate
from omit._text import listed
from omit.data.base import Bounds, Categories, declared_categories, require_declaration
from omit.data.column import Column
from omit.data.datasets import Dataset
from omit.data.points import ColumnBounds, Points, bounds_of_columns
from omit.data.sources import is_frame, open_table, registered
from omit.data.tables import position_of, positions_of
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Source: TypeAlias = "str | Path | DuckDBPyConnection | DuckDBPyRelation | Any"
_IN_MEMORY = "a pandas object"


def read(
    source: Source,
    column: str | int | None = None,
    *,
    bounds: Bounds | None = None,
    categories: Categories | None = None,
    table: str | None = None,
    step: float | None = None,
) -> Column:
    """Return one column of a table, reduced to value counts.

    Files and databases are read by DuckDB and reduced there, so they may be far larger than
    memory. Values outside the bounds are moved to the nearest one; records without a value (empty,
    NULL, NaN, and among numbers also NA) are left out. Both are counted, and `Column.notes` says
    so.

    Parameters
    ----------
    source : str, Path, DataFrame, Series, DuckDBPyConnection or DuckDBPyRelation
        The name of a registered data set (see `datasets`), else the path of a CSV file with a
        header row (``.csv``, ``.csv.gz``, ``.tsv``, ``.tsv.gz``), a Parquet file or a DuckDB
        database; or a pandas or DuckDB object.
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
    """
    if is_frame(source, table):
        return _column_of_frame(source, column, bounds, categories, step)
    return _column_of_table(source, column, bounds, categories, table, step)


def _column_of_frame(
    frame: Any,
    column: str | int | None,
    bounds: Bounds | None,
    categories: Categories | None,
    step: float | None,
) -> Column:
    if frame.ndim == 2:
        names = list(map(str, frame.columns))
        position = position_of(names, column, "the DataFrame")
        column, frame = names[position], frame.iloc[:, position]
    name = None if column is None else str(column)
    values = Column.from_values(frame, bounds, categories=categories, name=name, step=step)
    return replace(values, source=_IN_MEMORY)


def _column_of_table(
    source: Source,
    column: str | int | None,
    bounds: Bounds | None,
    categories: Categories | None,
    table: str | None,
    step: float | None,
) -> Column:
    known = registered(source, table)
    undeclared = bounds is None and categories is None
    if known is not None and column is None:
        column = known.default_column
    with open_table(source, table) as opened:
        position = position_of(opened.names, column, opened.label)
        name = opened.names[position]
        if known is not None and undeclared:
            bounds, categories = known.bounds.get(name), known.categories.get(name)
        require_declaration(name, bounds, categories)
        values, counts = opened.tally(position, as_text=categories is not None)
    if known is not None:
        if categories is not None and not isinstance(categories, str):
            categories = declared_categories(categories)
        # Whoever declares '?' as a category wants it counted.
        absent = set(known.missing).difference(categories or ())
        values[[value in absent for value in values]] = None
        step = known.step_of(name, bounds) if step is None else step
    made = Column.from_counts(values, counts, bounds, categories=categories, name=name, step=step)
    if known is None:
        return replace(made, source=opened.label)
    if not undeclared:
        return replace(made, source=known.name)
    remarks = (known.remarks[name],) if name in known.remarks else ()
    return replace(made, source=known.name, bounds_source="registered", remarks=remarks)


def read_points(
    source: Source,
    columns: str | int | Sequence[str | int] | None = None,
    *,
    bounds: ColumnBounds | None = None,
    table: str | None = None,
) -> Points:
    """Return several columns of a table as points, one for each record.

    Values outside the bounds are moved to the nearest one; records that lack a value in any of
    the columns (empty, NULL, NaN, NA) are left out. Both are counted, and `Points.notes` says so.
    Unlike value counts, points have to fit into memory.

    Parameters
    ----------
    source, table
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
    if is_frame(source, table):
        return _points_of_frame(source, chosen, bounds)
    return _points_of_table(source, chosen, bounds, table)


def _points_of_frame(
    frame: Any, columns: Sequence[str | int] | None, bounds: ColumnBounds | None
) -> Points:
    frame = frame.to_frame() if frame.ndim == 1 else frame
    names = list(map(str, frame.columns))
    positions = positions_of(names, columns, "the DataFrame")
    names = [names[position] for position in positions]
    declared = bounds_of_columns(names, bounds)
    made = Points.from_rows(frame.iloc[:, positions], declared, columns=names)
    return replace(made, source=_IN_MEMORY)


def _points_of_table(
    source: Source,
    columns: Sequence[str | int] | None,
    bounds: ColumnBounds | None,
    table: str | None,
) -> Points:
    known = registered(source, table)
    undeclared = bounds is None
    if known is not None and columns is None:
        columns = known.point_columns
        if not columns:
            raise InvalidInput(
                f"Expected columns=... of the data set {known.name!r}; with bounds there are "
                f"{listed(known.bounds)}."
            )
    with open_table(source, table) as opened:
        positions = positions_of(opened.names, columns, opened.label)
        names = [opened.names[position] for position in positions]
        if known is not None and undeclared:
            bounds = _registered_bounds(known, names)
        declared = bounds_of_columns(names, bounds)
        rows = opened.records(positions, absent=known.missing if known else ())
    called = Path(source).name.split(".")[0] if isinstance(source, str | Path) else "points"
    name = known.name if known else called
    made = Points.from_rows(rows, declared, columns=names, name=name)
    if known is None:
        return replace(made, source=opened.label)
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
