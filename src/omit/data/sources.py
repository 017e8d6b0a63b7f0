"""Tables that DuckDB reads: files, databases, connections and relations.

A column is reduced to value counts by DuckDB, on all cores and without loading the table, so a
file far larger than memory works; only the counts come to Python. Points are needed record by
record: of them the chosen columns are loaded, and nothing else.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import FloatArray
from omit.data.casting import AnyArray, IntArray, record_numbers
from omit.data.csv_header import csv_header
from omit.data.nearest import listed, nearest
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from pandas import DataFrame

_CSV = (".csv", ".csv.gz")
_TSV = (".tsv", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_DATABASE = (".duckdb", ".ddb", ".db")
_NUMBERS = re.compile(r"u?(tiny|small|big|huge)?int(eger)?|float|double|decimal|boolean")


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

    def tally(self, position: int) -> tuple[AnyArray, IntArray]:
        """Return the distinct values of one column, and how many records have each.

        Numbers come as floats, with NaN for NULL; all else comes as text, with None for NULL.
        """
        column, kind = self._column(position)
        with _explained(self.label):
            result = (
                self.relation.project(f"{column} AS value")
                .aggregate("value, count(*) AS records", "value")
                .project(f"CAST(value AS {kind}) AS value, records")
                .fetchnumpy()
            )
        return _filled(result["value"]), np.asarray(result["records"], dtype=np.int64)

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
        wanted = [self._column(position) for position in positions]
        projection = (f"CAST({name} AS {kind}) AS c{i}" for i, (name, kind) in enumerate(wanted))
        with _explained(self.label):
            result = self.relation.project(", ".join(projection)).fetchnumpy()
        columns = [
            record_numbers(self.names[position], _filled(result[f"c{place}"]), absent)
            for place, position in enumerate(positions)
        ]
        return np.column_stack(columns)

    def cross_tally(self, expressions: Sequence[str]) -> tuple[list[AnyArray], IntArray]:
        """Return the distinct combinations of several expressions, and how many records have each.

        Every expression is SQL over the relation's own columns and gives text or NULL; the
        combinations come as one array of texts, with None for NULL, for each expression.
        """
        named = ", ".join(f"{each} AS e{place}" for place, each in enumerate(expressions))
        keys = ", ".join(f"e{place}" for place in range(len(expressions)))
        with _explained(self.label):
            result = (
                self.relation.project(named)
                .aggregate(f"{keys}, count(*) AS records", keys)
                .fetchnumpy()
            )
        combinations = []
        for place in range(len(expressions)):
            values = np.ma.getdata(result[f"e{place}"]).astype(object)
            values[np.ma.getmaskarray(result[f"e{place}"])] = None
            combinations.append(values)
        return combinations, np.asarray(result["records"], dtype=np.int64)

    def column_sql(self, position: int) -> tuple[str, bool]:
        """Return a column as SQL, and whether it holds numbers."""
        name, kind = self._column(position)
        return name, kind == "DOUBLE"

    def _column(self, position: int) -> tuple[str, str]:
        """Return how to ask DuckDB for a column, and for its values as numbers or as text."""
        number = _NUMBERS.fullmatch(self.relation.types[position].id)
        return _quoted(self.relation.columns[position]), "DOUBLE" if number else "VARCHAR"


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
    import duckdb

    name = path.name.lower()
    if not path.exists():
        raise InvalidInput(f"There is no file {path}.")
    if not path.is_file() or not name.endswith((*_CSV, *_TSV, *_PARQUET, *_DATABASE)):
        known = ", ".join((*_CSV, *_TSV, *_PARQUET, *_DATABASE))
        raise InvalidInput(f"Expected {path} to be a file whose name ends in one of: {known}.")
    if table is not None and not name.endswith(_DATABASE):
        raise InvalidInput(f"Expected table={table!r} only for a DuckDB database, not for {path}.")
    with tempfile.TemporaryDirectory() as spill, _explained(str(path)):
        settings: dict[str, str | bool | int | float | list[str]] = {"temp_directory": spill}
        if name.endswith(_DATABASE):
            with duckdb.connect(str(path), read_only=True, config=settings) as connection:
                yield connection_table(connection, table, where=f" in {path}")
        else:
            with duckdb.connect(config=settings) as connection:
                yield _open_file(connection, path)


def connection_table(
    connection: DuckDBPyConnection, table: str | None = None, where: str = " in the database"
) -> Table:
    """Return a table of an open DuckDB connection; the only one if no name is given.

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
    with _explained(f"the tables{where}"):
        found = connection.sql(
            "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
        ).fetchall()
    # A table is known by its own name and with its schema in front.
    identifiers = {
        f"{schema}.{name}": f"{_quoted(schema)}.{_quoted(name)}" for schema, name in found
    }
    identifiers |= {name: _quoted(name) for _, name in found}
    names = sorted({name for _, name in found})
    if table is None and len(names) != 1:
        raise InvalidInput(
            f"Expected table=... to choose a table{where}; there are {listed(names)}."
        )
    chosen = names[0] if table is None else table
    if chosen not in identifiers:
        raise InvalidInput(f"There is no table {chosen!r}{where}; {nearest(chosen, names)}.")
    with _explained(f"table {chosen!r}{where}"):
        relation = connection.sql(f"SELECT * FROM {identifiers[chosen]}")
    return Table(f"table {chosen!r}{where}", tuple(relation.columns), relation)


@contextmanager
def frame_table(frame: DataFrame, label: str) -> Iterator[Table]:
    """Open a pandas frame as a table, for as long as the context lasts.

    Examples
    --------
    >>> import pandas
    >>> with frame_table(pandas.DataFrame({"age": [39, 25]}), "people") as people:
    ...     people.records([0]).tolist()
    [[39.0], [25.0]]
    """
    import duckdb

    with duckdb.connect() as connection:
        relation = connection.from_df(frame)
        yield Table(label, tuple(relation.columns), relation)


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


def _open_file(connection: DuckDBPyConnection, path: Path) -> Table:
    # DuckDB takes the name for a pattern.
    pattern = str(path).translate({ord(sign): f"[{sign}]" for sign in "*?["})
    file = "'" + pattern.replace("'", "''") + "'"
    if path.name.lower().endswith(_PARQUET):
        relation = connection.sql(f"SELECT * FROM read_parquet({file}, hive_partitioning=false)")
        return Table(str(path), tuple(relation.columns), relation)
    names, separator = csv_header(path, "\t" if path.name.lower().endswith(_TSV) else ",;\t|")
    # As text and by position: a value that does not fit can be named, and so can any column.
    columns = ", ".join(f"c{position}: 'VARCHAR'" for position in range(len(names)))
    relation = connection.sql(
        f"SELECT * FROM read_csv({file}, columns={{{columns}}}, header=true, auto_detect=false, "
        f"delim='{separator}', quote='\"', escape='\"', nullstr='')"
    )
    return Table(str(path), names, relation)


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


@contextmanager
def _explained(label: str) -> Iterator[None]:
    """Turn DuckDB's errors into one sentence."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        # Not the whole message: it goes on with settings, and with the record in question.
        said = str(error).strip().split("\n", 1)[0].rstrip(".:")
        if "CSV" in said:
            said += " (every row needs as many values as the first, the same line end, and UTF-8)"
        raise InvalidInput(f"Cannot read {label}: {said}.") from error
