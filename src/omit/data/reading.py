"""Reading one column, from wherever it is."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omit.data.column import Column
from omit.data.declared import Bounds, Categories, declared_categories, require_declaration
from omit.data.opening import (
    is_registered,
    opened_table,
    position_of,
    registered_table,
    require_no_table,
)
from omit.data.registry import Dataset, dataset

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


def read(
    source: str | Path | DuckDBPyConnection | DuckDBPyRelation | Any,
    column: str | int | None = None,
    *,
    bounds: Bounds | None = None,
    categories: Categories | None = None,
    table: str | None = None,
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
        return _read_registered(dataset(source), column, bounds, categories)
    pandas = sys.modules.get("pandas")  # without it, nothing can be a frame
    if pandas and isinstance(source, pandas.DataFrame | pandas.Series):
        require_no_table(table, "a pandas object")
        if isinstance(source, pandas.DataFrame):
            names = [str(name) for name in source.columns]
            position = position_of(names, column, "the DataFrame")
            column, source = names[position], source.iloc[:, position]
        name = None if column is None else str(column)
        made = Column.from_values(source, bounds, categories=categories, name=name)
        return replace(made, source="a pandas object")
    with opened_table(source, table) as opened:
        position = position_of(opened.names, column, opened.label)
        name = opened.names[position]
        require_declaration(name, bounds, categories)
        values, counts = opened.tally(position, as_text=categories is not None)
    made = Column.from_counts(values, counts, bounds, categories=categories, name=name)
    return replace(made, source=opened.label)


def _read_registered(
    known: Dataset, column: str | int | None, bounds: Bounds | None, categories: Categories | None
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
    made = Column.from_counts(values, counts, bounds, categories=categories, name=name)
    if not registered:
        return replace(made, source=known.name)
    remarks = (known.remarks[name],) if name in known.remarks else ()
    return replace(made, source=known.name, bounds_source="registered", remarks=remarks)
