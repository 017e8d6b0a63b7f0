"""Finding the table and the columns that someone asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any, TypeGuard

from omit._text import listed, nearest
from omit._validate import shown
from omit.data.datasets import DATASETS, Dataset, dataset
from omit.data.sources import Table, connection_table, file_table, frame_table, relation_table
from omit.errors import InvalidInput


def is_registered(source: Any, table: str | None = None) -> TypeGuard[str]:
    """Return whether the source is the name of a registered data set.

    Examples
    --------
    >>> is_registered("adult"), is_registered("people.csv")
    (True, False)
    """
    return isinstance(source, str) and source in DATASETS and table is None


@contextmanager
def registered_table(known: Dataset) -> Iterator[Table]:
    """Open a registered data set, from its file or from its seed, while the context lasts.

    Raises
    ------
    InvalidInput
        If its file is not where it should be.

    Examples
    --------
    >>> with registered_table(dataset("kmedian-synthetic")) as points:
    ...     points.names
    ('x', 'y')
    """
    if known.generate is not None:
        with frame_table(known.generate(), f"the data set {known.name!r}") as opened:
            yield opened
    else:
        with known.path() as path, file_table(path) as opened:
            yield opened


@contextmanager
def opened_table(source: Any, table: str | None) -> Iterator[Table]:
    """Open a file, a database, a connection or a relation, for as long as the context lasts.

    Raises
    ------
    InvalidInput
        If it is none of these, or cannot be read.

    Examples
    --------
    >>> import duckdb
    >>> with opened_table(duckdb.sql("SELECT 39 AS age"), None) as people:
    ...     people.names
    ('age',)
    """
    duckdb = sys.modules.get("duckdb")
    if duckdb and isinstance(source, duckdb.DuckDBPyConnection):
        yield connection_table(source, table)
    elif duckdb and isinstance(source, duckdb.DuckDBPyRelation):
        require_no_table(table, "the relation")
        yield relation_table(source)
    elif isinstance(source, str | Path):
        if "://" in str(source):
            raise InvalidInput(
                f"Expected the path of a file, got the address {shown(str(source))}; only files "
                "of this machine are read."
            )
        if source in DATASETS:
            require_no_table(table, f"the data set {source!r}")
        path = Path(os.path.expanduser(source))
        if isinstance(source, str) and path.name == source and not path.suffix:
            dataset(source)  # raises: a bare word is a name, and this one is not registered
        with file_table(path, table) as opened:
            yield opened
    else:
        raise InvalidInput(
            "Expected a path, a registered name, or a pandas or DuckDB object, got "
            f"{type(source).__name__}; for values in memory use Column.from_values or "
            "Points.from_rows."
        )


def require_no_table(table: str | None, label: str) -> None:
    """Refuse the name of a table where there are no tables to choose from."""
    if table is not None:
        raise InvalidInput(
            f"Expected table={shown(table)} only for a DuckDB database, not for {label}."
        )


def position_of(names: Sequence[str], column: str | int | None, label: str) -> int:
    """Return where the column is; the only one if none is named.

    Raises
    ------
    InvalidInput
        If there is no such column, or several.

    Examples
    --------
    >>> position_of(["age", "sex"], "sex", "people.csv")
    1
    """
    if column is None and len(names) != 1:
        raise InvalidInput(f"Expected a column of {label}: one of {listed(names) or 'none'}.")
    wanted = names[0] if column is None else _label(column)
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
    """Return where each of the columns is; all of them if none are named.

    Raises
    ------
    InvalidInput
        If there is no such column, or one is named twice.

    Examples
    --------
    >>> positions_of(["age", "sex", "hours"], ["hours", "age"], "people.csv")
    [2, 0]
    """
    wanted = names if columns is None else columns
    if not len(wanted):
        raise InvalidInput(f"Expected at least one column of {label}: of {listed(names)}.")
    found = [position_of(names, each, label) for each in wanted]
    for place, position in enumerate(found):
        if position in found[:place]:
            raise InvalidInput(f"Expected each column once, got {names[position]!r} twice.")
    return found


def _label(column: object) -> str:
    """Return the name of a column; a frame may number its columns."""
    if isinstance(column, str):
        return column
    if isinstance(column, Integral) and not isinstance(column, bool):
        return str(int(column))
    raise InvalidInput(f"Expected the name of a column, got {shown(column)}.")
