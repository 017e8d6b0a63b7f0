"""Opening what somebody names: a registered data set, a file, a database, a frame, or values.

`read`, `read_points` and `tabulate` take all of these through `open_table`, and whatever it opens
answers the same questions (`tables.Table`).
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from omit._validate import shown
from omit.data.databases import connection_table, relation_table
from omit.data.datasets import DATASETS, Dataset, dataset
from omit.data.frames import Frame, frame_of, frame_of_values, is_frame
from omit.data.many_files import path_table, standard_input
from omit.data.relations import Relation, closed_connection, explained
from omit.data.table_files import file_table, require_no_table
from omit.data.tables import Table
from omit.errors import InvalidInput


def registered(source: Any, table: str | None = None) -> Dataset | None:
    """Return the registered data set that a source names, or None if it names none.

    Examples
    --------
    >>> registered("adult").name, registered("people.csv")
    ('adult', None)
    """
    return DATASETS.get(source) if isinstance(source, str) and table is None else None


@contextmanager
def open_table(source: Any, table: str | None = None, name: str | None = None) -> Iterator[Table]:
    """Open whatever somebody names as a table, for as long as the context lasts.

    Parameters
    ----------
    source : object
        As for `omit.read`.
    table : str, optional
        The table of a DuckDB database or connection.
    name : str, optional
        What to call the only column of values that have no name for it, a list or a series.

    `InvalidInput` is raised if the source is nothing of this kind, or cannot be read.

    Examples
    --------
    >>> import duckdb
    >>> with open_table(duckdb.sql("SELECT 39 AS age")) as people, open_table("beta") as beta:
    ...     people.names, beta.names
    (('age',), ('beta',))
    """
    duckdb, known = sys.modules.get("duckdb"), registered(source, table)
    if known is not None:
        with _registered_table(known) as opened:
            yield opened
    elif isinstance(source, str) and source == "-":
        require_no_table(table, "the standard input")
        with standard_input() as opened:
            yield opened
    elif isinstance(source, str | Path):
        with path_table(_path(source, table), table) as opened:
            yield opened
    elif duckdb and isinstance(source, duckdb.DuckDBPyConnection):
        yield connection_table(source, table)
    else:
        require_no_table(table, f"a {type(source).__name__}")
        if duckdb and isinstance(source, duckdb.DuckDBPyRelation):
            yield relation_table(source)
        elif _is_arrow(source):
            with _arrow_table(source, name) as opened:
                yield opened
        else:
            yield _in_memory(source, name)


def _in_memory(source: Any, name: str | None) -> Frame:
    """Return a frame, a series or values as a table."""
    if is_frame(source):
        return frame_of(source, name)
    made = frame_of_values(source, name)
    if made is None:
        raise InvalidInput(
            "Expected a path, a registered name, a data frame, a series, an array, a list or a "
            f"DuckDB object, got {type(source).__name__}."
        )
    return made


@contextmanager
def _registered_table(known: Dataset) -> Iterator[Table]:
    label = f"the data set {known.name!r}"
    if known.generate is not None:
        yield replace(frame_of(known.generate()), label=label)
    else:
        with known.path() as path, file_table(path) as opened:
            yield replace(opened, label=label)


def _path(source: str | Path, table: str | None) -> Path:
    """Return the path that a source names; a bare word is the name of a data set, and refused."""
    if "://" in str(source):
        raise InvalidInput(
            f"Expected the path of a file, got the address {shown(str(source))}; only files of "
            "this machine are read."
        )
    if source in DATASETS:
        require_no_table(table, f"the data set {source!r}")
    path = Path(os.path.expanduser(source))
    is_word = isinstance(source, str) and path.name == source and not path.suffix
    if is_word and not glob.has_magic(str(source)) and not os.path.isdir(path):
        dataset(str(source))  # raises
    return path


def _is_arrow(source: Any) -> bool:
    """Return whether DuckDB reads a source where Arrow has it, in memory or on disk."""
    arrow, dataset_module = sys.modules.get("pyarrow"), sys.modules.get("pyarrow.dataset")
    kinds: tuple[type, ...] = ()
    if arrow is not None:
        kinds += (arrow.Table, arrow.RecordBatch, arrow.RecordBatchReader)
        kinds += (arrow.Array, arrow.ChunkedArray)
    if dataset_module is not None:
        kinds += (dataset_module.Dataset, dataset_module.Scanner)
    return isinstance(source, kinds)


@contextmanager
def _arrow_table(source: Any, name: str | None) -> Iterator[Relation]:
    import pyarrow

    if isinstance(source, pyarrow.Array | pyarrow.ChunkedArray):
        source = pyarrow.table({name or "values": source})
    label = f"the Arrow {type(source).__name__}"
    is_scanner = hasattr(source, "projected_schema")
    names = tuple((source.projected_schema if is_scanner else source.schema).names)
    if isinstance(source, pyarrow.Table | pyarrow.RecordBatch):
        # DuckDB renames columns that differ only in case, and stumbles over equal names.
        source = source.rename_columns([f"c{position}" for position in range(len(names))])
    with explained(label), closed_connection() as connection:
        relation = connection.from_arrow(source)
        is_stream = isinstance(source, pyarrow.RecordBatchReader)
        yield Relation(label, names, relation, connection, is_stream)
