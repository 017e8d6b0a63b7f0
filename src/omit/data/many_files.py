"""Several files that are one table: patterns such as ``2019-*.csv``, folders, the standard input.

Files must have the same columns, in the same order and of the same kinds, since a value that is
read as another would go unseen. Folders called ``year=2019`` are a column, too.
"""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from omit._validate import shown
from omit.data.relations import Relation, closed_connection, explained, literal, quoted
from omit.data.table_files import (
    FILES,
    file_table,
    open_file,
    pattern_of,
    require_file,
    require_no_table,
    shown_path,
)
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_MOST_FILES = 10_000
# What DuckDB and Spark call the folder of records without a value.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"


@contextmanager
def path_table(path: Path, table: str | None = None) -> Iterator[Relation]:
    """Open the file, the folder or the files of a pattern as one table."""
    files = _several(path)
    if files is None:
        with file_table(path, table) as opened:
            yield opened
        return
    label = shown_path(path)
    require_no_table(table, label)
    if not files:
        raise InvalidInput(f"There is no file {label} whose name ends in {', '.join(FILES)}.")
    if len(files) > _MOST_FILES:
        raise InvalidInput(f"Expected at most {_MOST_FILES:,} files, {label} are {len(files):,}.")
    files = [require_file(file) for file in files]
    allowed = {name for file in files for name in (str(file), pattern_of(file))}
    with explained(label), closed_connection(allowed) as connection:
        parts = [(file, open_file(connection, file, shown_path(file))) for file in files]
        yield _joined(parts, path.absolute() if path.is_dir() else Path(), label)


@contextmanager
def standard_input() -> Iterator[Relation]:
    """Open what is piped in as a table: CSV, compressed or not, or Parquet, by its first bytes."""
    if sys.stdin is None:
        raise InvalidInput("There is no standard input to read.")
    stream = sys.stdin.buffer
    with tempfile.TemporaryDirectory() as folder:
        start = stream.read(len(_PARQUET))
        ending = ".parquet" if start == _PARQUET else ".csv"
        file = Path(folder) / f"input{'.csv.gz' if start.startswith(_GZIP) else ending}"
        with file.open("wb") as copy:
            copy.write(start)
            shutil.copyfileobj(stream, copy)
        with file_table(file, label="the standard input") as opened:
            yield opened


def _several(path: Path) -> list[Path] | None:
    """Return the files of a folder or a pattern, in order; None if the path is that of a file."""
    try:
        if path.is_dir():
            below = (file for file in path.rglob("*") if not _is_hidden(file.relative_to(path)))
            return sorted(file for file in below if _is_table(file))
        if glob.has_magic(str(path)) and not path.exists():
            return sorted(Path(name) for name in glob.glob(str(path), recursive=True))
    except (OSError, ValueError):  # no file can have this name, which is said of one file
        return None
    return None


def _is_hidden(file: Path) -> bool:
    """Tell whether other programs leave a file out, as they do with logs and markers."""
    return any(part.startswith((".", "_")) for part in file.parts)


def _is_table(file: Path) -> bool:
    return file.name.lower().endswith(FILES) and file.is_file()


def _joined(parts: Sequence[tuple[Path, Relation]], folder: Path, label: str) -> Relation:
    """Return the table of all files below a folder."""
    first_file, first = parts[0]
    keys = tuple(_partitions(first_file, folder))
    both = sorted(set(keys) & set(first.names))
    if both:
        raise InvalidInput(
            f"Cannot read {label}: {shown(both[0])} is a column of the files and of their folders."
        )
    relations = []
    for file, part in parts:
        values = _partitions(file, folder)
        if (part.names, part.relation.types) != (first.names, first.relation.types):
            raise InvalidInput(
                f"Cannot read {label}: {shown_path(file)} has other columns than "
                f"{shown_path(first_file)}, or of other kinds, or in another order."
            )
        if tuple(values) != keys:
            raise InvalidInput(
                f"Cannot read {label}: {shown_path(file)} is in folders for other columns than "
                f"{shown_path(first_file)}."
            )
        relations.append(_with_values(part, values))
    return replace(first, label=label, names=(*first.names, *keys), relation=_in_halves(relations))


def _partitions(file: Path, folder: Path) -> dict[str, str | None]:
    """Return the columns that the folders of a file stand for, with their value.

    Examples
    --------
    >>> _partitions(Path("people/year=2019/town=S%C3%A3o/1.parquet"), Path("people"))
    {'year': '2019', 'town': 'São'}
    """
    below = file.relative_to(folder) if folder.parts else file
    pairs = (part.split("=", 1) for part in below.parent.parts if "=" in part)
    return {unquote(name): None if value == _NO_VALUE else unquote(value) for name, value in pairs}


def _with_values(part: Relation, values: dict[str, str | None]) -> DuckDBPyRelation:
    """Return the records of a file with the values of its folders."""
    own = [quoted(name) for name in part.relation.columns]
    added = [
        f"CAST({'NULL' if value is None else literal(value)} AS VARCHAR)"
        for value in values.values()
    ]
    names = [f"c{position}" for position in range(len(own) + len(added))]
    return part.relation.project(
        ", ".join(f"{what} AS {name}" for what, name in zip([*own, *added], names, strict=True))
    )


def _in_halves(relations: Sequence[DuckDBPyRelation]) -> DuckDBPyRelation:
    """Return the union of relations, whose plan is not deeper than it must be."""
    if len(relations) == 1:
        return relations[0]
    middle = len(relations) // 2
    return _in_halves(relations[:middle]).union(_in_halves(relations[middle:]))
