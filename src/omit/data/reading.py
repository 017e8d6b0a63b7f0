"""Reading one column, from wherever it is.

Reading records with several numbers each, from wherever they are.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omit import _validate
from omit._text import listed
from omit.data.column import Column
from omit.data.datasets import Dataset, dataset
from omit.data.opening import (
    is_registered,
    opened_table,
    position_of,
    positions_of,
    registered_table,
    require_no_table,
)
from omit.data.points import ColumnBounds, Points, bounds_of_columns
from omit.data.values import Bounds, Categories, declared_categories, require_declaration
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


def read(
    source: str | Path | DuckDBPyConnection | DuckDBPyRelation | Any,
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
    >>> ages = read("adult", "age")
    >>> ages
    Column('age': 32,561 records, 73 distinct values, bounds [0, 125] registered)
    >>> read("adult", "occupation").notes
    ('occupation: 1,843 records without a value had to be left out.',)
    """
    if is_registered(source, table):
        return _read_registered(dataset(source), column, bounds, categories, step)
    pandas = sys.modules.get("pandas")  # without it, nothing can be a frame
    if pandas and isinstance(source, pandas.DataFrame | pandas.Series):
        require_no_table(table, "a pandas object")
        if isinstance(source, pandas.DataFrame):
            names = [str(name) for name in source.columns]
            position = position_of(names, column, "the DataFrame")
            column, source = names[position], source.iloc[:, position]
        name = None if column is None else str(column)
        made = Column.from_values(source, bounds, categories=categories, name=name, step=step)
        return replace(made, source="a pandas object")
    with opened_table(source, table) as opened:
        position = position_of(opened.names, column, opened.label)
        name = opened.names[position]
        require_declaration(name, bounds, categories)
        values, counts = opened.tally(position, as_text=categories is not None)
    made = Column.from_counts(values, counts, bounds, categories=categories, name=name, step=step)
    return replace(made, source=opened.label)


def _read_registered(
    known: Dataset,
    column: str | int | None,
    bounds: Bounds | None,
    categories: Categories | None,
    step: float | None,
) -> Column:
    registered = bounds is None and categories is None
    with registered_table(known) as opened:
        wanted = known.default_column if column is None else column
        position = position_of(opened.names, wanted, f"the data set {known.name!r}")
        name = opened.names[position]
        if registered:
            bounds, categories = known.bounds.get(name), known.categories.get(name)
        require_declaration(name, bounds, categories)
        values, counts = opened.tally(position, as_text=categories is not None)
    if categories is not None and not isinstance(categories, str):
        categories = declared_categories(categories)
    # Whoever declares '?' as a category wants it counted.
    absent = set(known.missing).difference(categories or ())
    values[[value in absent for value in values]] = None
    if step is None:
        step = known.step_of(name, bounds)
    made = Column.from_counts(values, counts, bounds, categories=categories, name=name, step=step)
    if not registered:
        return replace(made, source=known.name)
    remarks = (known.remarks[name],) if name in known.remarks else ()
    return replace(made, source=known.name, bounds_source="registered", remarks=remarks)


def read_points(
    source: str | Path | DuckDBPyConnection | DuckDBPyRelation | Any,
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
    source : str, Path, DataFrame, DuckDBPyConnection or DuckDBPyRelation
        As for `read`: the name of a registered data set, the path of a CSV, Parquet or DuckDB
        file, or a pandas or DuckDB object.
    columns : sequence of str, optional
        By default all columns; of a registered data set those that were registered for it.
    bounds : pair of float, "from-data", or one of these for each column
        The smallest and the largest value that a record can have. ``"from-data"`` takes them from
        the data, which is not private. Registered columns have bounds.
    table : str, optional
        The table of a DuckDB database or connection; may be left out if there is only one.

    Raises
    ------
    InvalidInput
        If something is missing, undeclared or not readable; the message says what would work.

    Examples
    --------
    >>> read_points("adult")
    Points('adult': 32,561 records of 6 columns, bounds registered)
    >>> read_points("adult", ["age", "hours-per-week"], bounds=[(0, 125), (0, 60)]).notes
    ('adult: 1,110 of 32,561 records had a value that had to be moved into its bounds.',)
    """
    chosen: Sequence[str | int] | None = _several(columns)
    if is_registered(source, table):
        return _read_registered_points(dataset(source), chosen, bounds)
    pandas = sys.modules.get("pandas")  # without it, nothing can be a frame
    if pandas and isinstance(source, pandas.DataFrame | pandas.Series):
        require_no_table(table, "a pandas object")
        frame = source.to_frame() if isinstance(source, pandas.Series) else source
        names = [str(name) for name in frame.columns]
        positions = positions_of(names, chosen, "the DataFrame")
        names = [names[position] for position in positions]
        rows = frame.iloc[:, positions]
        made = Points.from_rows(rows, bounds_of_columns(names, bounds), columns=names)
        return replace(made, source="a pandas object")
    with opened_table(source, table) as opened:
        positions = positions_of(opened.names, chosen, opened.label)
        names = [opened.names[position] for position in positions]
        declared = bounds_of_columns(names, bounds)
        rows = opened.records(positions)
    called = Path(source).name.split(".")[0] if isinstance(source, str | Path) else "points"
    made = Points.from_rows(rows, declared, columns=names, name=called)
    return replace(made, source=opened.label)


def _several(
    columns: str | int | Sequence[str | int] | None,
) -> Sequence[str | int] | None:
    """Return columns as a sequence, also a single one."""
    if columns is None:
        return None
    if isinstance(columns, str | int | Integral):
        return [columns]
    return _validate.several("columns", columns)


def _read_registered_points(
    known: Dataset, columns: Sequence[str | int] | None, bounds: ColumnBounds | None
) -> Points:
    wanted = known.point_columns if columns is None else columns
    if columns is None and not wanted:
        raise InvalidInput(
            f"Expected columns=... of the data set {known.name!r}; with bounds there are "
            f"{listed(known.bounds)}."
        )
    with registered_table(known) as opened:
        positions = positions_of(opened.names, wanted, f"the data set {known.name!r}")
        names = [opened.names[position] for position in positions]
        declared = _registered_bounds(known, names) if bounds is None else bounds
        bounds_of_columns(names, declared)
        rows = opened.records(positions, absent=known.missing)
    made = Points.from_rows(rows, declared, columns=names, name=known.name)
    if bounds is not None:
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
