"""What DuckDB is asked about a table: value counts, records, and counts of combinations.

A column is reduced to value counts by DuckDB, on all cores and without loading the table, so a
file far larger than memory works; only the counts come to Python. Points are needed record by
record: of them the chosen columns are loaded, and nothing else.

The functions that we use are named in full and the columns by their position: whatever a database
or its views call the same, and however its columns are spelt, is not taken instead.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import FloatArray, IntArray
from omit._text import listed, nearest
from omit._validate import shown
from omit.data.values import BLANKS, NO_NUMBER, NUMBER, AnyArray, record_numbers
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_WHOLE = re.compile(r"u?(tiny|small|big|huge)?int(eger)?")
_FRACTIONAL, _BYTES = ("float", "double"), ("blob", "bit")
_COUNT = "system.main.count_star()"


@dataclass(frozen=True)
class Table:
    """A table that DuckDB can read.

    Sentences call it by its `label`. The `names` are its columns as a person knows them, in the
    order of the relation. With the `connection`, reading can be interrupted.

    Examples
    --------
    >>> import duckdb
    >>> ages = duckdb.sql("SELECT unnest([39, 25, 39]) AS age")
    >>> values, counts = Table("people", ("age",), ages).tally(0)
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
        with explained(self.label):
            result = self._fetched(
                self.relation.project(f"{self.column_sql(position)} AS value")
                .aggregate(f"value, {_COUNT} AS records", "value")
                .project(f"{cast(position, 'value')} AS value, records")
            )
        values = _filled(result["value"])
        if as_text and self._kind(position) == "decimal":
            values = np.array([value and Decimal(value) for value in values], dtype=object)
        return values, np.asarray(result["records"], dtype=np.int64)

    def records(self, positions: Sequence[int], absent: Iterable[str] = ()) -> FloatArray:
        """Return several columns as numbers, one record in each row, with NaN for no value.

        The texts `absent` stand for no value, as empty texts and NA do. `InvalidInput` is raised
        if a column holds text or infinities.

        Examples
        --------
        >>> import duckdb
        >>> people = duckdb.sql("SELECT unnest([39, NULL]) AS age, '7' AS rooms")
        >>> Table("people", ("age", "rooms"), people).records([1, 0])
        array([[ 7., 39.],
               [ 7., nan]])
        """
        chosen = {
            f"c{position}": self._value(position, _column(position)) for position in positions
        }
        with explained(self.label):
            result = self._fetched(self.relation.project(_named(chosen)))
        return np.column_stack(
            [
                record_numbers(self.names[position], _filled(result[f"c{position}"]), absent)
                for position in positions
            ]
        )

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
        columns = {f"t{number}": sql for number, sql in enumerate(texts)}
        with explained(self.label):
            result = self._fetched(
                self.relation.project(_named(values))
                .project(_named(keys))
                .aggregate(f"{names}, {_COUNT} AS records", names)
                .project(_named({**columns, "records": "records"}))
            )
        combinations = [_filled(result[name].astype(object)) for name in columns]
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
        trimmed = f"system.main.trim(CAST({value} AS VARCHAR), {literal(BLANKS)})"
        return f"CASE WHEN {trimmed} IN ({missing}) THEN NULL ELSE {trimmed} END"

    def number_sql(self, position: int, absent: Sequence[str] = ()) -> str:
        """Return SQL that makes a number of a column's value as `omit.read` does, or NULL.

        Examples
        --------
        >>> import duckdb
        >>> ages = duckdb.sql("SELECT unnest(['12', '1_000', 'inf', '+-1', ' -.5e1 ', '99']) age")
        >>> sql = Table("people", ("age",), ages).number_sql(0, ["99"])
        >>> ages.project(f"{sql} AS n").fetchnumpy()["n"].tolist()
        [12.0, None, None, None, -5.0, None]
        """
        column, missing = self.column_sql(position), self._missing(position, absent)
        text = f"CAST({column} AS VARCHAR)"
        if self.is_number(position):
            number = f"CAST({column} AS DOUBLE)"
            present = f"AND {text} NOT IN ({missing})" if absent else ""
            return f"CASE WHEN system.main.isfinite({number}) {present} THEN {number} END"
        trimmed = f"system.main.trim({text}, {literal(BLANKS)})"
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
            texts += [repr(float(text)) for text in absent if NUMBER.fullmatch(text)]
        return ", ".join(map(literal, texts))

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
    return f"system.main.lower({text}) IN ({', '.join(map(literal, sorted(NO_NUMBER)))})"


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


def position_of(names: Sequence[str], column: str | int | None, label: str) -> int:
    """Return the position of a column; of the only one if none is named.

    `InvalidInput` is raised if there is no such column, or several.

    Examples
    --------
    >>> position_of(["age", "sex"], "sex", "people.csv")
    1
    """
    if column is None and len(names) != 1:
        raise InvalidInput(f"Expected a column of {label}: one of {listed(names) or 'none'}.")
    wanted = names[0] if column is None else _column_name(column)
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
    """Return the positions of columns, which are named once; of all if none are named.

    Examples
    --------
    >>> positions_of(["age", "sex", "hours"], ["hours", "age"], "people.csv")
    [2, 0]
    """
    wanted = names if columns is None else columns
    if not len(wanted):
        raise InvalidInput(f"Expected at least one column of {label}: of {listed(names)}.")
    positions = [position_of(names, column, label) for column in wanted]
    for number, position in enumerate(positions):
        if position in positions[:number]:
            raise InvalidInput(f"Expected each column once, got {names[position]!r} twice.")
    return positions


def _column_name(column: object) -> str:
    """Return the name of a column; a frame may number its columns."""
    if isinstance(column, str):
        return column
    if isinstance(column, Integral) and not isinstance(column, bool):
        return str(int(column))
    raise InvalidInput(f"Expected the name of a column, got {shown(column)}.")


def literal(text: str) -> str:
    """Return a text as SQL."""
    return "'" + text.replace("'", "''") + "'"


# As much of DuckDB's message as a person reads.
_LONGEST_REASON = 300


@contextmanager
def explained(label: str) -> Iterator[None]:
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
        reason = str(error).strip().split("\n", 1)[0].rstrip(".:")
        reason = "".join(sign if sign.isprintable() else " " for sign in reason)
        if len(reason) > _LONGEST_REASON:
            reason = f"{reason[:_LONGEST_REASON]}..."
        if "CSV" in reason:
            reason += " (every row needs as many values as the first, the same line end, and UTF-8)"
        raise InvalidInput(f"Cannot read {label}: {reason}.") from error
