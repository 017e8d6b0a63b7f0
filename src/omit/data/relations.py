"""Tables that DuckDB reads: files, databases, relations, and what is in Arrow's memory.

A column is reduced to value counts by DuckDB, on all cores and without loading the table.

The functions that we use are named in full and the columns by their position: whatever a database
or its views call the same, and however its columns are spelt, is not taken instead.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import as_array
from omit._text import one_line
from omit.data.tables import NO_CODES, Bins, Groups, Key, Steps, Table, Values, Within
from omit.data.values import BLANKS, AnyArray, MissingCodes
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_WHOLE = re.compile(r"u?(tiny|small|big|huge)?int(eger)?")
_FRACTIONAL, _BYTES = ("float", "double"), ("blob", "bit")
# How long an interrupted query may take until it is interrupted again.
_PATIENCE = 0.1
_COUNT = "system.main.count_star()"


@dataclass(frozen=True)
class Relation(Table):
    """A table that DuckDB can read; with the `connection`, reading can be interrupted.

    A stream can be read once.

    Examples
    --------
    >>> import duckdb
    >>> ages = duckdb.sql("SELECT unnest([39, 25, 39]) AS age")
    >>> values, counts = Relation("people", ("age",), ages).tally(0)
    >>> dict(zip(values.tolist(), counts.tolist())) == {25.0: 1, 39.0: 2}
    True
    """

    relation: DuckDBPyRelation
    connection: DuckDBPyConnection | None = None
    is_stream: bool = False

    @property
    def read_once(self) -> bool:
        """Whether it is a stream."""
        return self.is_stream

    @property
    def origin(self) -> str:
        """What a result says about its data."""
        return self.label

    def grouped(
        self,
        keys: Sequence[Key],
        *,
        sums: Sequence[int] = (),
        ends: Sequence[int] = (),
        codes: MissingCodes = NO_CODES,
    ) -> Groups:
        """Group the records, as every `Table` does."""
        if self._is_plain(keys, {*sums, *ends}):
            return self._grouped_numbers(keys[0], sums, ends, codes)  # type: ignore[arg-type]  # as the test says
        columns: dict[str, str] = {}  # of the records
        grouping: dict[str, str] = {}  # of the columns
        shown: dict[str, str] = {}  # of the groups
        for number, key in enumerate(keys):
            value, key_name = f"v{number}", f"k{number}"
            columns[value] = self._column_sql(key.position)
            if isinstance(key, Values):
                cast = self._exact if key.as_text else self._value
                grouping[key_name] = value
                shown[key_name] = cast(key.position, key_name)
            else:
                columns[f"n{number}"] = self.number_sql(key.position, codes)
                grouping[key_name] = _bin_sql(key, f"n{number}", f"n{number} IS NOT NULL")
                grouping[f"u{number}"] = f"CASE WHEN n{number} IS NULL THEN {value} END"
                shown[key_name] = f"CAST({key_name} AS DOUBLE)"
                shown[f"u{number}"] = self._exact(key.position, f"u{number}")
        summed = {f"s{at}": self.number_sql(at, codes) for at in {*sums, *ends}}
        columns |= summed
        result = self._aggregated(columns, grouping, {name: name for name in summed}, shown)
        return Groups(
            [self._given(key, result[f"k{number}"]) for number, key in enumerate(keys)],
            [
                None if isinstance(key, Values) else _filled(result[f"u{number}"])
                for number, key in enumerate(keys)
            ],
            np.asarray(result["records"], dtype=np.int64),
            [np.nan_to_num(_filled(result[f"ts{at}"])) for at in sums],
            [_filled(result[f"ls{at}"]) for at in ends],
            [_filled(result[f"hs{at}"]) for at in ends],
        )

    def _is_plain(self, keys: Sequence[Key], others: Set[int]) -> bool:
        """Tell whether only the bins of one column of numbers are asked for, which may be long."""
        if len(keys) != 1 or isinstance(keys[0], Values) or self.is_stream:
            return False
        position = keys[0].position
        return (
            others <= {position} and self.is_number(position) and self._kind(position) != "boolean"
        )

    def _grouped_numbers(
        self,
        key: Bins | Steps | Within,
        sums: Sequence[int],
        ends: Sequence[int],
        codes: MissingCodes,
    ) -> Groups:
        """Group a column of numbers; if some are in no bin, they are asked for again.

        That takes less time than a second key for all records, in which such numbers would be.
        """
        column = self._column_sql(key.position)
        sql = _bin_sql(key, "n", _fits("n", codes))
        columns = {"v": column, "n": f"CAST({column} AS DOUBLE)"}
        result = self._aggregated(columns, {"k": sql}, {"n": "n"}, {"k": "CAST(k AS DOUBLE)"})
        keys = self._given(key, result["k"])
        records, read = np.asarray(result["records"], dtype=np.int64), ~np.isnan(keys)
        unread, counts = np.array([], dtype=object), np.array([], dtype=np.int64)
        if not read.all():
            with explained(self.label):
                rest = (
                    self.relation.project(_named(columns)).filter(f"({sql}) IS NULL").project("v")
                )
            only = Relation(self.label, (self.names[key.position],), rest, self.connection)
            unread, counts = only.tally(0, as_text=True)
        if counts.sum() != records[~read].sum():
            raise InvalidInput(f"Cannot read {self.label}: its records changed meanwhile.")
        none = np.full(len(counts), np.nan)
        total, low, high = (
            np.append(_filled(result[f"{what}n"])[read], none) for what in ("t", "l", "h")
        )
        return Groups(
            [np.append(keys[read], none)],
            [np.append(np.full(read.sum(), None), unread.astype(object))],
            np.append(records[read], counts),
            [np.nan_to_num(total) for _ in sums],
            [low for _ in ends],
            [high for _ in ends],
        )

    def _aggregated(
        self,
        columns: Mapping[str, str],
        grouping: Mapping[str, str],
        summed: Mapping[str, str],
        shown: Mapping[str, str],
    ) -> dict[str, AnyArray]:
        """Return groups with the number of their records, and the sum and the ends of some columns.

        The SQL is of the columns of this table, of those, and of groups.
        """
        names = ", ".join(grouping)
        aggregates = {"records": _COUNT}
        for name in summed:
            for letter, function in (("t", "fsum"), ("l", "min"), ("h", "max")):
                aggregates[f"{letter}{name}"] = f"system.main.{function}({name})"
        with explained(self.label):
            return self._fetched(
                self.relation.project(_named(columns))
                .project(_named({**grouping, **summed}))
                .aggregate(f"{names}, {_named(aggregates)}", names)
                .project(_named({**shown, **{name: name for name in aggregates}}))
            )

    def some(self, records: int) -> Relation:
        """Return the table of some records, as every `Table` does."""
        return replace(self, relation=self.relation.limit(records))

    def _given(self, key: Key, values: AnyArray) -> AnyArray:
        """Return what DuckDB gave for a key."""
        given = _filled(values)
        if isinstance(key, Within):
            # What rounding would put beyond the last bin belongs into it.
            return as_array(given - (given > key.count))
        if isinstance(key, Values) and key.as_text and self._kind(key.position) == "decimal":
            return np.array([value and Decimal(value) for value in given], dtype=object)
        return given

    def columns(self, positions: Sequence[int]) -> list[AnyArray]:
        """Return some columns, as every `Table` does."""
        chosen = {
            f"c{position}": self._value(position, _column(position)) for position in positions
        }
        with explained(self.label):
            result = self._fetched(self.relation.project(_named(chosen)))
        return [_filled(result[name]) for name in chosen]

    def _fetched(self, relation: DuckDBPyRelation) -> dict[str, AnyArray]:
        """Run a query; if the user interrupts it, it ends at once.

        DuckDB runs it in another thread, because in the main one it does not always notice.
        """
        if self.connection is None:
            return dict(relation.fetchnumpy())
        answer: Future[dict[str, AnyArray]] = Future()
        given_up = threading.Event()

        def run() -> None:
            try:
                answer.set_result({} if given_up.is_set() else dict(relation.fetchnumpy()))
            except BaseException as error:
                answer.set_exception(error)

        thread = threading.Thread(target=run, daemon=True)
        try:
            thread.start()
            return answer.result()
        except KeyboardInterrupt:
            given_up.set()
            # Nothing of it may be running when the connection is closed, or the interpreter ends;
            # an interruption that comes before the query is forgotten.
            while thread.is_alive():
                self.connection.interrupt()
                thread.join(_PATIENCE)
            raise

    def _column_sql(self, position: int) -> str:
        """Return a column as SQL; texts are equal only if all their letters are.

        A database may say otherwise (COLLATE NOCASE), but its records go by what is declared here.
        """
        binary = ' COLLATE "binary"' if self._kind(position) == "varchar" else ""
        return f"{_column(position)}{binary}"

    def number_sql(self, position: int, codes: MissingCodes = NO_CODES) -> str:
        """Return SQL that makes a number of a column's value as `omit.read` does, or NULL.

        Examples
        --------
        >>> import duckdb
        >>> ages = duckdb.sql("SELECT unnest(['12', '1_000', 'inf', '+-1', ' -.5e1 ', '99']) age")
        >>> sql = Relation("people", ("age",), ages).number_sql(0, MissingCodes.of([99]))
        >>> ages.project(f"{sql} AS n").fetchnumpy()["n"].tolist()
        [12.0, None, None, None, -5.0, None]
        """
        column = self._column_sql(position)
        if self._kind(position) == "boolean":
            return f"CAST({column} AS DOUBLE)"
        if self.is_number(position):
            written, number = "", f"CAST({column} AS DOUBLE)"
        else:
            text = f"CAST({column} AS VARCHAR)"
            trimmed = f"system.main.trim({text}, {literal(BLANKS)})"
            # DuckDB knows more ways to write a number, and fewer blanks.
            number = f"COALESCE(TRY_CAST({text} AS DOUBLE), TRY_CAST({trimmed} AS DOUBLE))"
            written = (
                f"NOT system.main.contains({text}, '_') "
                f"AND NOT system.main.contains({text}, '+-') AND "
            )
        return f"CASE WHEN {written}{_fits(number, codes)} THEN {number} END"

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
        """Return SQL that makes floats of a column's values, or text if they are no numbers.

        Truth values stay what they are.
        """
        if self._kind(position) == "boolean":
            return column
        return f"CAST({column} AS {'DOUBLE' if self.is_number(position) else 'VARCHAR'})"

    def _exact(self, position: int, column: str) -> str:
        """Return SQL that makes text of a column's values, or floats if that is what they are."""
        kind = self._kind(position)
        if kind == "boolean":
            return column
        if kind == "float":  # 0.1, and not the float64 next to it
            return f"CAST(CAST({column} AS VARCHAR) AS DOUBLE)"
        return f"CAST({column} AS {'DOUBLE' if kind == 'double' else 'VARCHAR'})"


def _fits(number: str, codes: MissingCodes) -> str:
    """Return SQL that tells whether a number is finite and stands for a value."""
    absent = ", ".join(map(_double, codes.numbers))
    return f"system.main.isfinite({number})" + (
        f" AND {number} NOT IN ({absent})" if absent else ""
    )


def _bin_sql(key: Bins | Steps | Within, number: str, fits: str) -> str:
    """Return SQL that gives the bin of a number, or NULL unless it fits.

    Bins between two bounds may be one more than there are, by rounding, so those from the upper
    bound on have numbers larger by one.
    """
    if isinstance(key, Within):
        lower, upper = _double(key.lower), _double(key.upper)
        bin_number = f"system.main.floor(({number} - {lower}) / {_double(key.width)})"
        # Whole numbers are grouped fastest.
        bins = (
            f"CASE WHEN {number} > {lower} AND {number} < {upper} "
            f"THEN CAST(1 + {bin_number} AS INTEGER) "
            f"WHEN {number} < {lower} THEN -1 WHEN {number} = {lower} THEN 0 "
            f"WHEN {number} = {upper} THEN {key.count + 2} ELSE {key.count + 3} END"
        )
    elif isinstance(key, Steps):
        bin_number = f"system.main.floor(({number} - {_double(key.lower)}) / {_double(key.width)})"
        above = f"system.main.greatest({bin_number}, CAST(-1 AS DOUBLE))"
        bins = f"system.main.least({above}, {_double(key.count)})"
    else:
        reached = "".join(
            f"WHEN {number} < {_double(edge)} THEN {reached} "
            for reached, edge in enumerate(key.edges)
        )
        bins = f"CASE {reached}ELSE {len(key.edges)} END" if reached else "0"
    return f"CASE WHEN {fits} THEN {bins} END"


def _double(number: float) -> str:
    """Return a number as SQL, to the last bit."""
    return f"CAST('{float(number)!r}' AS DOUBLE)"


def _named(expressions: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in expressions.items())


def _column(position: int) -> str:
    """Return a column by its position: DuckDB cannot tell names apart that differ in case."""
    return f"#{position + 1}"


def _filled(values: AnyArray) -> AnyArray:
    """Return what DuckDB gave with NaN or None for NULL."""
    filled, absent = np.ma.getdata(values), np.ma.getmaskarray(values)
    if filled.dtype.kind == "b" and absent.any():
        filled = filled.astype(object)
    filled[absent] = np.nan if filled.dtype.kind == "f" else None
    return filled


def quoted(identifier: str) -> str:
    """Return the name of a table as SQL."""
    return '"' + identifier.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL."""
    return "'" + text.replace("'", "''") + "'"


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
        reason = one_line(error)
        if "CSV" in reason:
            reason += " (every row needs as many values as the first, the same line end, and UTF-8)"
        raise InvalidInput(f"Cannot read {label}: {reason}.") from error


@contextmanager
def closed_connection(allowed: Iterable[str] = ()) -> Iterator[DuckDBPyConnection]:
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
