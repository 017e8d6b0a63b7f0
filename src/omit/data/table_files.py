"""Files of tables: CSV, Parquet and DuckDB databases, which DuckDB reads.

A file may come from a stranger. Our own connections reach the file that was asked for and nothing
else, neither another file nor the network, and no extension is loaded.

The first row of a CSV file tells how the columns are called, what separates them and how rows end.
Taking all of this from one row, and telling DuckDB, leaves nothing to guess from a sample of the
rows: a row that does not fit is an error with its line number.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omit._validate import shown
from omit.data.databases import connection_table
from omit.data.relations import Relation, closed_connection, explained, literal, quoted
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_CSV = (".csv", ".csv.gz")
_TSV = (".tsv", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_DATABASE = (".duckdb", ".ddb", ".db")
# How the names of files end of which several make one table.
FILES = (*_CSV, *_TSV, *_PARQUET)
# Names that DuckDB keeps for itself, so that no database can be attached under them.
_RESERVED = ("system", "temp", "memory", "main")
_LONGEST_HEADER = 1_000_000
_CHUNK = 1 << 20


def require_no_table(table: str | None, label: str) -> None:
    """Refuse the name of a table where there are no tables to choose from."""
    if table is not None:
        raise InvalidInput(
            f"Expected table={shown(table)} only for a DuckDB database, not for {label}."
        )


@contextmanager
def file_table(
    path: Path, table: str | None = None, label: str | None = None
) -> Iterator[Relation]:
    """Open a file as a table while the context lasts; its label is its path by default."""
    name, label = path.name.lower(), label or shown_path(path)
    is_database = name.endswith(_DATABASE)
    start = _beginning(path)
    if table is not None and not is_database:
        require_no_table(table, label)
    where = _absolute(path, label)
    with explained(label):
        if is_database:
            _require_database(label, start)
            # A database is also what was written and not yet moved into it.
            files = [f"{where}{end}" for end in ("", ".wal", ".wal.checkpoint", ".wal.recovery")]
            with closed_connection(files) as connection:
                yield _open_database(connection, where, label, table)
        else:
            with closed_connection({str(where), pattern_of(where)}) as connection:
                yield open_file(connection, where, label)


def require_file(path: Path) -> Path:
    """Return the whole path of a file of a known kind, or refuse it."""
    _beginning(path)
    return _absolute(path, shown_path(path))


def _absolute(path: Path, label: str) -> Path:
    """Return a path whose name is never taken for an address, such as md:people.db."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"Cannot read {label}: its name is not in UTF-8; rename it or link to it."
        ) from error
    return path.absolute()


def _beginning(path: Path) -> bytes:
    """Return the first bytes of a file, or refuse a path that names none of a known kind."""
    label = shown_path(path)
    try:
        exists, is_file = path.exists(), path.is_file()
    except (OSError, ValueError) as error:  # too long, or with a zero in it
        reason = getattr(error, "strerror", None) or "no file can have this name"
        raise InvalidInput(
            f"Expected the path of a file, got {shown(str(path))}: {reason}."
        ) from error
    if not exists:
        raise InvalidInput(f"There is no file {label}.")
    kinds = (*_CSV, *_TSV, *_PARQUET, *_DATABASE)
    if not is_file or not path.name.lower().endswith(kinds):
        raise InvalidInput(
            f"Expected {label} to be a file whose name ends in one of: {', '.join(kinds)}."
        )
    try:
        with path.open("rb") as file:
            return file.read(12)
    except OSError as error:
        raise InvalidInput(f"Cannot read {label}: {error.strerror}.") from error


def shown_path(path: Path) -> str:
    """Return a path for people, in quotes if it has signs that cannot be printed."""
    return str(path) if str(path).isprintable() else repr(str(path))


def _require_database(label: str, start: bytes) -> None:
    """Refuse what is no DuckDB database by its first bytes, before DuckDB looks for a reader."""
    if start[8:12] != b"DUCK":
        kind = "a SQLite database" if start.startswith(b"SQLite") else "another kind of file"
        raise InvalidInput(
            f"Cannot read {label}: it is {kind}, not a DuckDB database; export the table as CSV or "
            "Parquet."
        )


def _open_database(
    connection: DuckDBPyConnection, path: Path, label: str, table: str | None
) -> Relation:
    # Under its own name, which its views may use.
    catalog = "source" if path.stem.lower() in _RESERVED else path.stem
    connection.execute(f"ATTACH {literal(str(path))} AS {quoted(catalog)} (TYPE duckdb, READ_ONLY)")
    return connection_table(connection, table, where=f" in {label}", catalog=catalog)


def open_file(connection: DuckDBPyConnection, path: Path, label: str) -> Relation:
    """Open a CSV or Parquet file with a connection that may read it."""
    file = literal(pattern_of(path))
    if path.name.lower().endswith(_PARQUET):
        relation = connection.sql(
            f"SELECT * FROM system.main.read_parquet({file}, hive_partitioning=false)"
        )
        return Relation(label, _parquet_names(connection, file, relation), relation, connection)
    if _is_gzip(path):
        _require_intact(path, label)
    header = _csv_header(path, label)
    # As text and by position: a value that does not fit can be named, and so can any column.
    columns = ", ".join(f"c{position}: 'VARCHAR'" for position in range(len(header.names)))
    # Else DuckDB takes a line break within the header for the one that ends the rows.
    line_end = f", new_line={header.line_end!r}" if header.line_end else ""
    relation = connection.sql(
        f"SELECT * FROM system.main.read_csv({file}, columns={{{columns}}}, header=true, "
        f"auto_detect=false, delim='{header.separator}', quote='\"', escape='\"', nullstr='', "
        f"hive_partitioning=false{line_end})"
    )
    return Relation(label, header.names, relation, connection)


class _Header(NamedTuple):
    """The first row of a CSV file; the line end is empty if there is no other row."""

    names: tuple[str, ...]
    separator: str
    line_end: str


def _csv_header(path: Path, label: str) -> _Header:
    """Return the column names in the first row, with the separator that makes most of them.

    `InvalidInput` is raised if the file is empty, is not UTF-8 text, is not compressed as its name
    says, or if DuckDB would not know where its first row ends.
    """
    separators = "\t" if path.name.lower().endswith(_TSV) else ",;\t|"
    opened = gzip.open if _is_gzip(path) else open
    try:
        # What is not UTF-8 further down is left to DuckDB, which knows the line.
        with opened(path, "rt", encoding="utf-8", errors="surrogateescape", newline="") as file:
            start = str(file.read(_LONGEST_HEADER))
        text = start.removeprefix("\ufeff")
        header = max((_row(text, sign) for sign in separators), key=lambda row: len(row.names))
        "".join(header.names).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"Cannot read {label} as CSV: it is not UTF-8 text.") from error
    except (OSError, EOFError) as error:
        raise InvalidInput(f"Cannot read {label} as CSV: {error}.") from error
    if not any(header.names):
        raise InvalidInput(f"Cannot read {label} as CSV: its first row has no column names.")
    if len(start) == _LONGEST_HEADER and not header.line_end:
        raise InvalidInput(
            f"Cannot read {label} as CSV: its first row has more than {_LONGEST_HEADER:,} "
            "characters."
        )
    # With a byte order mark in front, DuckDB does not see that the first name is in quotes.
    if start != text and set(header.names[0]) & {header.separator, '"', "\n", "\r"}:
        raise InvalidInput(
            f"Cannot read {label} as CSV: it begins with a byte order mark, and the name of its "
            "first column has a separator, a quote or a line break in it; save it without the "
            "mark, or give the column a plain name."
        )
    return header


def _row(text: str, separator: str) -> _Header:
    stream = io.StringIO(text, newline="")
    try:
        names = tuple(next(csv.reader(stream, delimiter=separator), ()))
    except csv.Error:  # a name beyond all measure: this is not the separator
        return _Header((), separator, "")
    if stream.tell() == len(text) and len(text) >= _LONGEST_HEADER - 1:
        return _Header(names, separator, "")  # cut off, perhaps in a quoted name
    row = text[: stream.tell()]
    ends = (end for end in ("\r\n", "\n", "\r") if row.endswith(end))
    return _Header(names, separator, next(ends, ""))


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _require_intact(path: Path, label: str) -> None:
    """Refuse a compressed file that is damaged, without holding it.

    DuckDB reads such a file as far as it is one and does not look at its checksum, so that
    changed digits would go unseen.
    """
    try:
        with gzip.open(path) as file:
            while file.read(_CHUNK):
                pass
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"Cannot read {label}: the compressed file is damaged ({error}); fetch it again."
        ) from error


def _parquet_names(
    connection: DuckDBPyConnection, file: str, relation: DuckDBPyRelation
) -> tuple[str, ...]:
    """Return the columns as the file spells them: DuckDB renames those it cannot tell apart."""
    nodes = connection.sql(
        f"SELECT name, num_children FROM system.main.parquet_schema({file})"
    ).fetchall()
    names, within = [], 0
    for name, children in nodes[1:]:  # the first is the whole table
        if not within:
            names.append(name)
        else:
            within -= 1
        within += children or 0
    return tuple(names if len(names) == len(relation.columns) else relation.columns)


def pattern_of(path: Path) -> str:
    """Return a path as DuckDB takes it, which is a pattern."""
    return str(path).translate({ord(sign): f"[{sign}]" for sign in "*?["})
