"""Opening what somebody names: a registered data set, a file, a database, a frame or a relation.

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
import os
import sys
import tempfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omit._text import listed, nearest
from omit._validate import shown
from omit.data.datasets import DATASETS, Dataset, dataset
from omit.data.tables import Table, explained, literal
from omit.data.values import record_texts
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from pandas import DataFrame

_CSV = (".csv", ".csv.gz")
_TSV = (".tsv", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_DATABASE = (".duckdb", ".ddb", ".db")
# Names that DuckDB keeps for itself, so that no database can be attached under them.
_RESERVED = ("system", "temp", "memory", "main")
_LONGEST_HEADER = 1_000_000
_CHUNK = 1 << 20


def registered(source: Any, table: str | None = None) -> Dataset | None:
    """Return the registered data set that a source names, or None if it names none.

    Examples
    --------
    >>> registered("adult").name, registered("people.csv")
    ('adult', None)
    """
    return DATASETS.get(source) if isinstance(source, str) and table is None else None


@contextmanager
def open_table(
    source: Any, table: str | None = None, needed: Collection[str] | None = None
) -> Iterator[Table]:
    """Open whatever somebody names as a table, for as long as the context lasts.

    Of a frame only the columns that are needed have to be such that they can be read; by default
    all. `InvalidInput` is raised if the source is nothing of this kind, or cannot be read.

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
    elif duckdb and isinstance(source, duckdb.DuckDBPyConnection):
        yield connection_table(source, table)
    elif duckdb and isinstance(source, duckdb.DuckDBPyRelation):
        _require_no_table(table, "the relation")
        yield relation_table(source)
    elif is_frame(source, table) and source.ndim == 2:
        with _frame_table(source, "the DataFrame", needed) as opened:
            yield opened
    elif isinstance(source, str | Path):
        with _file_table(_path(source, table), table) as opened:
            yield opened
    else:
        raise InvalidInput(
            "Expected a path, a registered name, or a pandas or DuckDB object, got "
            f"{type(source).__name__}; for values in memory use Column.from_values or "
            "Points.from_rows."
        )


def is_frame(source: Any, table: str | None) -> bool:
    """Return whether a source is a frame or a series of pandas, which have no tables in them."""
    pandas = sys.modules.get("pandas")  # without it, nothing can be a frame
    if not pandas or not isinstance(source, pandas.DataFrame | pandas.Series):
        return False
    _require_no_table(table, "a pandas object")
    return True


def _require_no_table(table: str | None, label: str) -> None:
    """Refuse the name of a table where there are no tables to choose from."""
    if table is not None:
        raise InvalidInput(
            f"Expected table={shown(table)} only for a DuckDB database, not for {label}."
        )


@contextmanager
def _registered_table(known: Dataset) -> Iterator[Table]:
    label = f"the data set {known.name!r}"
    if known.generate is not None:
        with _frame_table(known.generate(), label) as opened:
            yield opened
    else:
        with known.path() as path, _file_table(path) as opened:
            yield replace(opened, label=label)


def _path(source: str | Path, table: str | None) -> Path:
    """Return the path that a source names; a bare word is the name of a data set, and refused."""
    if "://" in str(source):
        raise InvalidInput(
            f"Expected the path of a file, got the address {shown(str(source))}; only files of "
            "this machine are read."
        )
    if source in DATASETS:
        _require_no_table(table, f"the data set {source!r}")
    path = Path(os.path.expanduser(source))
    if isinstance(source, str) and path.name == source and not path.suffix:
        dataset(source)  # raises
    return path


@contextmanager
def _file_table(path: Path, table: str | None = None) -> Iterator[Table]:
    name, label = path.name.lower(), _shown(path)
    is_database = name.endswith(_DATABASE)
    start = _beginning(path)
    if table is not None and not is_database:
        _require_no_table(table, label)
    where = path.absolute()  # so that no name is taken for an address, such as md:people.db
    try:
        str(where).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"Cannot read {label}: its name is not in UTF-8; rename it or link to it."
        ) from error
    with explained(label):
        if is_database:
            _require_database(label, start)
            # A database is also what was written and not yet moved into it.
            files = [f"{where}{end}" for end in ("", ".wal", ".wal.checkpoint", ".wal.recovery")]
            with _closed_connection(files) as connection:
                yield _open_database(connection, where, label, table)
        else:
            with _closed_connection({str(where), _pattern(where)}) as connection:
                yield _open_file(connection, where, label)


def _beginning(path: Path) -> bytes:
    """Return the first bytes of a file, or refuse a path that names none of a known kind."""
    label = _shown(path)
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


def _shown(path: Path) -> str:
    """Return a path for people, in quotes if it has signs that cannot be printed."""
    return str(path) if str(path).isprintable() else repr(str(path))


@contextmanager
def _closed_connection(allowed: Iterable[str] = ()) -> Iterator[DuckDBPyConnection]:
    """Open a connection that reaches some files and nothing else, while the context lasts.

    What an opened file asks for, such as a view that reads another file or needs an extension, is
    refused by DuckDB.
    """
    import duckdb

    try:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    except OSError as error:
        raise InvalidInput(
            f"There is no folder for temporary files ({error.strerror}); set TMPDIR to a writable "
            "one."
        ) from error
    with folder as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": spill,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "python_enable_replacements": False,
        }
        with duckdb.connect(config=settings) as connection:
            connection.execute(f"SET allowed_paths = [{', '.join(map(literal, allowed))}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection


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
) -> Table:
    # Under its own name, which its views may use.
    catalog = "source" if path.stem.lower() in _RESERVED else path.stem
    connection.execute(
        f"ATTACH {literal(str(path))} AS {_quoted(catalog)} (TYPE duckdb, READ_ONLY)"
    )
    return connection_table(connection, table, where=f" in {label}", catalog=catalog)


def _open_file(connection: DuckDBPyConnection, path: Path, label: str) -> Table:
    file = literal(_pattern(path))
    if path.name.lower().endswith(_PARQUET):
        relation = connection.sql(
            f"SELECT * FROM system.main.read_parquet({file}, hive_partitioning=false)"
        )
        return Table(label, _parquet_names(connection, file, relation), relation, connection)
    if _is_gzip(path):
        _require_intact(path, label)
    header = _csv_header(path, label)
    # As text and by position: a value that does not fit can be named, and so can any column.
    columns = ", ".join(f"c{position}: 'VARCHAR'" for position in range(len(header.names)))
    # Else DuckDB takes a line break within the header for the one that ends the rows.
    line_end = f", new_line={header.line_end!r}" if header.line_end else ""
    relation = connection.sql(
        f"SELECT * FROM system.main.read_csv({file}, columns={{{columns}}}, header=true, "
        f"auto_detect=false, delim='{header.separator}', quote='\"', escape='\"', nullstr=''"
        f"{line_end})"
    )
    return Table(label, header.names, relation, connection)


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


def _pattern(path: Path) -> str:
    """Return a path as DuckDB takes it, which is a pattern."""
    return str(path).translate({ord(sign): f"[{sign}]" for sign in "*?["})


def connection_table(
    connection: DuckDBPyConnection,
    table: str | None = None,
    where: str = " in the database",
    catalog: str | None = None,
) -> Table:
    """Return a table of an open DuckDB connection; the only one if no name is given.

    The name may have its schema, or its database and schema, in front. `where` is how a sentence
    about the table goes on, and `catalog` is one of the connection's databases, by default all.
    `InvalidInput` is raised if there is no such table, or there are several.

    Examples
    --------
    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE people (age INTEGER, sex TEXT)")
    >>> connection_table(connection, "people").names
    ('age', 'sex')
    """
    if table is not None and not isinstance(table, str):
        raise InvalidInput(f"Expected table={shown(table)} to be the name of a table.")
    with explained(f"the tables{where}"):
        every = connection.sql(
            "SELECT table_catalog, table_schema, table_name FROM system.information_schema.tables "
            "ORDER BY ALL"
        ).fetchall()
        (here,) = connection.sql(
            "SELECT system.main.current_database(), system.main.current_schema()"
        ).fetchall()
    tables = [identifier for identifier in every if catalog in (None, identifier[0])]
    names = sorted({identifier[2] for identifier in tables})
    if table is None and len(tables) != 1:
        raise InvalidInput(
            f"Expected table=... to choose a table{where}; there are {listed(names) or 'none'}."
        )
    chosen = names[0] if table is None else table
    meant = [
        identifier
        for identifier in tables
        if chosen in (".".join(identifier[start:]) for start in range(3))
    ]
    if not meant:
        raise InvalidInput(f"There is no table {chosen!r}{where}; {nearest(chosen, names)}.")
    if len(meant) > 1:  # as in SQL, the schema in use comes first
        meant = [identifier for identifier in meant if identifier[:2] == here] or meant
    if len(meant) > 1:
        full = listed(".".join(identifier) for identifier in meant)
        raise InvalidInput(f"Several tables{where} are called {chosen!r}; give one of {full}.")
    with explained(f"table {chosen!r}{where}"):
        relation = connection.sql(f"SELECT * FROM {'.'.join(map(_quoted, meant[0]))}")
    return Table(f"table {chosen!r}{where}", tuple(relation.columns), relation, connection)


def relation_table(relation: DuckDBPyRelation) -> Table:
    """Return a DuckDB relation as a table."""
    with explained("the relation"):
        return Table("the relation", tuple(relation.columns), relation)


@contextmanager
def _frame_table(
    frame: DataFrame, label: str, needed: Collection[str] | None = None
) -> Iterator[Table]:
    import pandas

    names = tuple(map(str, frame.columns))
    plain = frame.set_axis([f"c{position}" for position in range(len(names))], axis=1)
    for position, name in enumerate(names):
        # DuckDB would take all for what a few of them are, and make 2 of 2.5 among whole numbers.
        is_object = pandas.api.types.is_object_dtype(plain.dtypes.iloc[position])
        if is_object and (needed is None or name in needed):
            texts = record_texts(name, plain.iloc[:, position])
            plain[f"c{position}"] = pandas.array(texts, dtype="string")
    with explained(label), _closed_connection() as connection:
        yield Table(label, names, connection.from_df(plain), connection)


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'
