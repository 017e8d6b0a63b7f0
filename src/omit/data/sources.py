"""Tables that DuckDB reads: files, databases, connections and relations.

A column is reduced to value counts by DuckDB, on all cores and without loading the table, so a
file far larger than memory works; only the counts come to Python. Points are needed record by
record: of them the chosen columns are loaded, and nothing else.

A file may come from a stranger. Our own connections reach the file that was asked for and nothing
else, neither another file nor the network, and no extension is loaded. The functions that we use
are named in full and the columns by their position: whatever a database or its views call the
same, and however its columns are spelt, is not taken instead.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import FloatArray, IntArray
from omit._text import listed, nearest
from omit._validate import shown
from omit.data.csv_header import csv_header, is_gzip, require_intact
from omit.data.values import BLANKS, NO_NUMBER, NUMBER, AnyArray, record_numbers, record_texts
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from pandas import DataFrame

_CSV = (".csv", ".csv.gz")
_TSV = (".tsv", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_DATABASE = (".duckdb", ".ddb", ".db")
_WHOLE = re.compile(r"u?(tiny|small|big|huge)?int(eger)?")
_FRACTIONAL = ("float", "double")
_BYTES = ("blob", "bit")
_COUNT = "system.main.count_star()"
# Names that DuckDB keeps for itself, so that no database can be attached under them.
_RESERVED = ("system", "temp", "memory", "main")
_LONGEST_REASON = 300


@dataclass(frozen=True)
class Table:
    """A table that DuckDB can read.

    Parameters
    ----------
    label : str
        How to name the table in a sentence.
    names : tuple of str
        The columns as a person knows them, in the order of the relation.
    relation : DuckDBPyRelation
        The table.
    connection : DuckDBPyConnection, optional
        Whose relation it is; with it, reading can be interrupted.

    Examples
    --------
    >>> import duckdb
    >>> people = relation_table(duckdb.sql("SELECT unnest([39, 25, 39]) AS age"))
    >>> values, counts = people.tally(people.names.index("age"))
    >>> dict(zip(values.tolist(), counts.tolist())) == {25.0: 1, 39.0: 2}
    True
    """

    label: str
    names: tuple[str, ...]
    relation: DuckDBPyRelation
    connection: DuckDBPyConnection | None = None

    def tally(self, position: int, *, as_text: bool = False) -> tuple[AnyArray, IntArray]:
        """Return the distinct values of one column, and how many records have each.

        Numbers come as floats, with NaN for NULL; all else comes as text, with None for NULL. As
        text, whole and decimal numbers keep all their digits.
        """
        cast = self._exact if as_text else self._value
        with _explained(self.label):
            result = self._fetched(
                self.relation.project(f"{self.column_sql(position)} AS value")
                .aggregate(f"value, {_COUNT} AS records", "value")
                .project(f"{cast(position, 'value')} AS value, records")
            )
        values = _filled(result["value"])
        if as_text and self._kind(position) == "decimal":
            values = np.array([each and Decimal(each) for each in values], dtype=object)
        return values, np.asarray(result["records"], dtype=np.int64)

    def records(self, positions: Sequence[int], absent: Iterable[str] = ()) -> FloatArray:
        """Return several columns as numbers, one record in each row, with NaN for no value.

        The texts `absent` stand for no value, as empty texts and NA do.

        Raises
        ------
        InvalidInput
            If a column holds text or infinities; the message names it.

        Examples
        --------
        >>> import duckdb
        >>> people = relation_table(duckdb.sql("SELECT unnest([39, NULL]) AS age, '7' AS rooms"))
        >>> people.records([1, 0])
        array([[ 7., 39.],
               [ 7., nan]])
        """
        projection = (
            f"{self._value(position, _column(position))} AS c{place}"
            for place, position in enumerate(positions)
        )
        with _explained(self.label):
            result = self._fetched(self.relation.project(", ".join(projection)))
        columns = [
            record_numbers(self.names[position], _filled(result[f"c{place}"]), absent)
            for place, position in enumerate(positions)
        ]
        return np.column_stack(columns)

    def cross_tally(
        self, values: Mapping[str, str], keys: Mapping[str, str], texts: Sequence[str]
    ) -> tuple[list[AnyArray], IntArray]:
        """Return the distinct combinations of several keys as texts, and their records.

        Parameters
        ----------
        values : mapping
            SQL over the columns by name; computed first.
        keys : mapping
            SQL over the values by name; records are grouped by them.
        texts : sequence of str
            SQL over the keys that gives text or NULL, for every group and not for every record.

        Returns
        -------
        list of array, array
            An array for each of the texts, with None for NULL, and the records of each group.
        """
        names = ", ".join(keys)
        shown = [f"{sql} AS t{place}" for place, sql in enumerate(texts)]
        with _explained(self.label):
            result = self._fetched(
                self.relation.project(_named(values))
                .project(_named(keys))
                .aggregate(f"{names}, {_COUNT} AS records", names)
                .project(", ".join([*shown, "records"]))
            )
        combinations = []
        for place in range(len(texts)):
            found = np.ma.getdata(result[f"t{place}"]).astype(object)
            found[np.ma.getmaskarray(result[f"t{place}"])] = None
            combinations.append(found)
        return combinations, np.asarray(result["records"], dtype=np.int64)

    def _fetched(self, relation: DuckDBPyRelation) -> dict[str, AnyArray]:
        """Run a query; if the user interrupts it, it ends at once.

        DuckDB runs it in another thread, because in the main one it does not always notice.
        """
        if self.connection is None:
            return dict(relation.fetchnumpy())
        answer: Future[dict[str, AnyArray]] = Future()

        def run() -> None:
            try:
                answer.set_result(dict(relation.fetchnumpy()))
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        try:
            return answer.result()
        except KeyboardInterrupt:
            self.connection.interrupt()
            answer.exception()  # nothing of it may be running when the connection is closed
            raise

    def column_sql(self, position: int) -> str:
        """Return a column as SQL; texts are equal only if all their letters are.

        A database may say otherwise (COLLATE NOCASE), but its records go by what is declared here.
        """
        binary = ' COLLATE "binary"' if self._kind(position) == "varchar" else ""
        return f"{_column(position)}{binary}"

    def text_sql(self, position: int, value: str, absent: Sequence[str] = ()) -> str:
        """Return SQL that makes text of a column's value, without blanks around it; NULL for none.

        Whole and decimal numbers keep all their digits. The texts `absent` stand for no value.
        """
        missing = self._missing(position, absent)
        if self.is_number(position):
            text = f"CAST({value} AS VARCHAR)"
            if self._kind(position) == "boolean":
                text = f"CAST(CAST({value} AS TINYINT) AS VARCHAR)"
            nothing = f"system.main.isnan(CAST({value} AS DOUBLE)) OR {text} IN ({missing})"
            return f"CASE WHEN {nothing} THEN NULL ELSE {text} END"
        trimmed = f"system.main.trim(CAST({value} AS VARCHAR), {_literal(BLANKS)})"
        return f"CASE WHEN {trimmed} IN ({missing}) THEN NULL ELSE {trimmed} END"

    def number_sql(self, position: int, absent: Sequence[str] = ()) -> str:
        """Return SQL that makes a number of a column's value as `omit.read` does, or NULL.

        Examples
        --------
        >>> import duckdb
        >>> table = relation_table(
        ...     duckdb.sql("SELECT unnest(['12', '1_000', 'inf', '+-1', ' -.5e1 ', '99']) AS age")
        ... )
        >>> table.relation.project(table.number_sql(0, ["99"]) + " AS n").fetchnumpy()["n"].tolist()
        [12.0, None, None, None, -5.0, None]
        """
        column, missing = self.column_sql(position), self._missing(position, absent)
        text = f"CAST({column} AS VARCHAR)"
        if self.is_number(position):
            number = f"CAST({column} AS DOUBLE)"
            present = f"AND {text} NOT IN ({missing})" if absent else ""
            return f"CASE WHEN system.main.isfinite({number}) {present} THEN {number} END"
        trimmed = f"system.main.trim({text}, {_literal(BLANKS)})"
        present = f"AND {trimmed} NOT IN ({missing})" if absent else ""
        # DuckDB knows more ways to write a number, and fewer blanks.
        number = f"COALESCE(TRY_CAST({text} AS DOUBLE), TRY_CAST({trimmed} AS DOUBLE))"
        return (
            f"CASE WHEN NOT system.main.contains({text}, '_') "
            f"AND NOT system.main.contains({text}, '+-') {present} "
            f"AND system.main.isfinite({number}) THEN {number} END"
        )

    def _missing(self, position: int, absent: Sequence[str]) -> str:
        """Return the texts that stand for no value as SQL, also as a float would be written."""
        texts = ["", *absent]
        if self._kind(position) in _FRACTIONAL:
            texts += [repr(float(each)) for each in absent if NUMBER.fullmatch(each)]
        return ", ".join(map(_literal, texts))

    def is_number(self, position: int) -> bool:
        """Return whether a column holds numbers, and not texts that may be some."""
        kind = self._kind(position)
        return bool(_WHOLE.fullmatch(kind)) or kind in (*_FRACTIONAL, "decimal", "boolean")

    def _kind(self, position: int) -> str:
        kind = str(self.relation.types[position].id).lower()
        if kind in _BYTES:
            raise InvalidInput(
                f"Column {self.names[position]!r} of {self.label} holds bytes, neither numbers nor "
                "text; convert them first."
            )
        return kind

    def _value(self, position: int, column: str) -> str:
        """Return SQL that makes floats of a column's values, or text if they are no numbers."""
        return f"CAST({column} AS {'DOUBLE' if self.is_number(position) else 'VARCHAR'})"

    def _exact(self, position: int, column: str) -> str:
        """Return SQL that makes text of a column's values, or floats if that is what they are."""
        kind = self._kind(position)
        if kind == "boolean":
            return f"CAST(CAST({column} AS TINYINT) AS VARCHAR)"
        if kind == "float":  # 0.1, and not the float64 next to it
            return f"CAST(CAST({column} AS VARCHAR) AS DOUBLE)"
        return f"CAST({column} AS {'DOUBLE' if kind == 'double' else 'VARCHAR'})"


def no_number_sql(text: str) -> str:
    """Return SQL that tells whether a text among numbers says that there is none."""
    return f"system.main.lower({text}) IN ({', '.join(map(_literal, sorted(NO_NUMBER)))})"


def _named(expressions: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in expressions.items())


def _column(position: int) -> str:
    """Return a column by its position: DuckDB cannot tell names apart that differ in case."""
    return f"#{position + 1}"


def _filled(values: AnyArray) -> AnyArray:
    """Return what DuckDB gave with NaN or None for NULL."""
    filled = np.ma.getdata(values)
    filled[np.ma.getmaskarray(values)] = np.nan if filled.dtype.kind == "f" else None
    return filled


@contextmanager
def file_table(path: Path, table: str | None = None) -> Iterator[Table]:
    r"""Open a file as a table, for as long as the context lasts.

    Raises
    ------
    InvalidInput
        If there is no such file, its name does not say what it is, or it cannot be read.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age,sex\n39,Male\n")
    ...     with file_table(path) as people:
    ...         people.names
    ('age', 'sex')
    """
    name, label = path.name.lower(), show_path(path)
    try:
        exists, is_file = path.exists(), path.is_file()
    except (OSError, ValueError) as error:  # too long, or with a zero in it
        reason = getattr(error, "strerror", None) or "no file can have this name"
        raise InvalidInput(
            f"Expected the path of a file, got {shown(str(path))}: {reason}."
        ) from error
    if not exists:
        raise InvalidInput(f"There is no file {label}.")
    if not is_file or not name.endswith((*_CSV, *_TSV, *_PARQUET, *_DATABASE)):
        known = ", ".join((*_CSV, *_TSV, *_PARQUET, *_DATABASE))
        raise InvalidInput(f"Expected {label} to be a file whose name ends in one of: {known}.")
    is_database = name.endswith(_DATABASE)
    if table is not None and not is_database:
        raise InvalidInput(
            f"Expected table={shown(table)} only for a DuckDB database, not for {label}."
        )
    try:
        with path.open("rb") as file:
            start = file.read(12)
    except OSError as error:
        raise InvalidInput(f"Cannot read {label}: {error.strerror}.") from error
    where = path.absolute()  # so that no name is taken for an address, such as md:people.db
    try:
        str(where).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"Cannot read {label}: its name is not in UTF-8; rename it or link to it."
        ) from error
    with _explained(label):
        if is_database:
            _require_database(label, start)
            with _closed_connection(_database_files(where)) as connection:
                yield _open_database(connection, where, label, table)
        else:
            with _closed_connection({str(where), _pattern(where)}) as connection:
                yield _open_file(connection, where, label)


def show_path(path: Path) -> str:
    """Return a path for people, in quotes if it has signs that cannot be printed.

    Examples
    --------
    >>> show_path(Path("people.csv"))
    'people.csv'
    """
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
            connection.execute(f"SET allowed_paths = [{', '.join(map(_literal, allowed))}]")
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


def _database_files(path: Path) -> list[str]:
    """Return the files of a database: itself, and what was written and not yet moved into it."""
    return [f"{path}{end}" for end in ("", ".wal", ".wal.checkpoint", ".wal.recovery")]


def connection_table(
    connection: DuckDBPyConnection,
    table: str | None = None,
    where: str = " in the database",
    catalog: str | None = None,
) -> Table:
    """Return a table of an open DuckDB connection; the only one if no name is given.

    Parameters
    ----------
    connection : DuckDBPyConnection
        The connection.
    table : str, optional
        The table's name, also with its schema, or with its database and schema, in front.
    where : str
        How a sentence about the table goes on.
    catalog : str, optional
        Which of the connection's databases; by default all of them.

    Raises
    ------
    InvalidInput
        If there is no such table, or there are several and none was named.

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
    with _explained(f"the tables{where}"):
        found = connection.sql(
            "SELECT table_catalog, table_schema, table_name FROM system.information_schema.tables "
            "ORDER BY ALL"
        ).fetchall()
        (here,) = connection.sql(
            "SELECT system.main.current_database(), system.main.current_schema()"
        ).fetchall()
    found = [each for each in found if catalog is None or each[0] == catalog]
    identifiers: dict[str, list[tuple[str, ...]]] = {}
    for each in found:
        for start in range(3):
            identifiers.setdefault(".".join(each[start:]), []).append(each)
    names = sorted({each[2] for each in found})
    if table is None and len(found) != 1:
        raise InvalidInput(
            f"Expected table=... to choose a table{where}; there are {listed(names) or 'none'}."
        )
    chosen = names[0] if table is None else table
    if chosen not in identifiers:
        raise InvalidInput(f"There is no table {chosen!r}{where}; {nearest(chosen, names)}.")
    meant = identifiers[chosen]
    if len(meant) > 1:  # as in SQL, the schema in use comes first
        meant = [each for each in meant if each[:2] == here] or meant
    if len(meant) > 1:
        full = listed(".".join(each) for each in meant)
        raise InvalidInput(f"Several tables{where} are called {chosen!r}; give one of {full}.")
    with _explained(f"table {chosen!r}{where}"):
        relation = connection.sql(f"SELECT * FROM {'.'.join(map(_quoted, meant[0]))}")
    return Table(f"table {chosen!r}{where}", tuple(relation.columns), relation, connection)


@contextmanager
def frame_table(
    frame: DataFrame, label: str, needed: Collection[str] | None = None
) -> Iterator[Table]:
    """Open a pandas frame as a table, for as long as the context lasts.

    Only the columns that are needed have to be such that they can be read; by default all.

    Examples
    --------
    >>> import pandas
    >>> with frame_table(pandas.DataFrame({"age": [39, 25]}), "people") as people:
    ...     people.records([0]).tolist()
    [[39.0], [25.0]]
    """
    import pandas

    names = tuple(str(each) for each in frame.columns)
    plain = frame.set_axis([f"c{position}" for position in range(len(names))], axis=1)
    for position, name in enumerate(names):
        # DuckDB would take all for what a few of them are, and make 2 of 2.5 among whole numbers.
        is_object = pandas.api.types.is_object_dtype(plain.dtypes.iloc[position])
        if is_object and (needed is None or name in needed):
            texts = record_texts(name, plain.iloc[:, position])
            plain[f"c{position}"] = pandas.array(texts, dtype="string")
    with _explained(label), _closed_connection() as connection:
        yield Table(label, names, connection.from_df(plain), connection)


def relation_table(relation: DuckDBPyRelation) -> Table:
    """Return a DuckDB relation as a table.

    Examples
    --------
    >>> import duckdb
    >>> relation_table(duckdb.sql("SELECT 39 AS age")).names
    ('age',)
    """
    with _explained("the relation"):
        return Table("the relation", tuple(relation.columns), relation)


def _open_database(
    connection: DuckDBPyConnection, path: Path, label: str, table: str | None
) -> Table:
    # Under its own name, which its views may use.
    catalog = "source" if path.stem.lower() in _RESERVED else path.stem
    connection.execute(
        f"ATTACH {_literal(str(path))} AS {_quoted(catalog)} (TYPE duckdb, READ_ONLY)"
    )
    return connection_table(connection, table, where=f" in {label}", catalog=catalog)


def _open_file(connection: DuckDBPyConnection, path: Path, label: str) -> Table:
    file = _literal(_pattern(path))
    if path.name.lower().endswith(_PARQUET):
        relation = connection.sql(
            f"SELECT * FROM system.main.read_parquet({file}, hive_partitioning=false)"
        )
        return Table(label, _parquet_names(connection, file, relation), relation, connection)
    if is_gzip(path):
        require_intact(path, label)
    header = csv_header(path, label, "\t" if path.name.lower().endswith(_TSV) else ",;\t|")
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


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


@contextmanager
def _explained(label: str) -> Iterator[None]:
    """Turn DuckDB's errors into one sentence."""
    import duckdb

    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
    except duckdb.Error as error:
        # Not the whole message: it goes on with settings, and with the record in question.
        said = str(error).strip().split("\n", 1)[0].rstrip(".:")
        said = "".join(sign if sign.isprintable() else " " for sign in said)
        if len(said) > _LONGEST_REASON:
            said = f"{said[:_LONGEST_REASON]}..."
        if "CSV" in said:
            said += " (every row needs as many values as the first, the same line end, and UTF-8)"
        raise InvalidInput(f"Cannot read {label}: {said}.") from error
