"""The table of results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omit.errors import InvalidInput
from omit.study.cell import Cell
from omit.study.records import Stored
from omit.study.store import PathLike, read_store
from omit.study.worker import Failure

if TYPE_CHECKING:
    from pandas import DataFrame


class Results:
    """The rows of cells, as `run_study` and `read_results` return them.

    Parameters
    ----------
    stored : mapping of str to Stored
        The cells by identity, in the order that tables have.
    failures : tuple of Failure
        The cells that could not be computed.
    """

    def __init__(self, stored: Mapping[str, Stored], failures: tuple[Failure, ...] = ()) -> None:
        self.stored = stored
        self.failures = failures

    def __len__(self) -> int:
        return len(self.stored)

    def __contains__(self, cell: Cell) -> bool:
        return cell.identity in self.stored

    def rows(self, cell: Cell) -> tuple[dict[str, Any], ...]:
        """Return the rows of a cell.

        Raises
        ------
        InvalidInput
            If it has not been computed.
        """
        if cell.identity not in self.stored:
            raise InvalidInput(f"There are no results for {cell}.")
        return tuple(dict(row) for row in self.stored[cell.identity].rows)

    def row(self, cell: Cell) -> dict[str, Any]:
        """Return the one row of a cell.

        Raises
        ------
        InvalidInput
            If it has not been computed, or has not one row.
        """
        rows = self.rows(cell)
        if len(rows) != 1:
            raise InvalidInput(f"Expected one row for {cell}, found {len(rows)}; use rows().")
        return rows[0]

    def seconds(self, cell: Cell) -> float:
        """Return how long a cell took, with the preparation if it was the first to need it."""
        return self.stored[cell.identity].seconds

    def to_frame(self) -> DataFrame:
        """Return a table: a line per row, with the parameters, the results and their origin.

        Columns are the parameters, in alphabetical order, and then the results, in the order in
        which they first appear; then `computation`, `version`, the number of the `row` within its
        cell, and the cell's `identity`. What a cell does not have is missing there. The table does
        not depend on where and when cells were computed.
        """
        from pandas import DataFrame

        parameters: set[str] = set()
        answers: dict[str, None] = {}
        lines: list[dict[str, Any]] = []
        for identity, each in self.stored.items():
            parameters.update(each.parameters)
            origin = {
                "computation": each.computation,
                "version": each.version,
                "identity": identity,
            }
            for number, row in enumerate(each.rows):
                answers.update(dict.fromkeys(row))
                lines.append({**each.parameters, **row, **origin, "row": number})
        columns = [*sorted(parameters), *(name for name in answers if name not in parameters)]
        return DataFrame(lines, columns=[*columns, "computation", "version", "row", "identity"])

    def timings(self) -> DataFrame:
        """Return a table with a line per cell: the parameters, the computation and the `seconds`.

        The preparation that cells share is counted where it was done: with the first cell.
        """
        from pandas import DataFrame

        names = sorted({name for each in self.stored.values() for name in each.parameters})
        lines = [
            {**each.parameters, "computation": each.computation, "seconds": each.seconds}
            for each in self.stored.values()
        ]
        return DataFrame(lines, columns=[*names, "computation", "seconds"])

    def write(self, path: PathLike) -> None:
        """Write the table to a CSV file or a Parquet file, by the ending of its name.

        A column with values of several kinds, or with tuples, is written as JSON text.

        Raises
        ------
        InvalidInput
            If the ending is another one, or the file cannot be written; nothing is half written.
        """
        target = Path(path)
        writers: dict[str, Callable[[DataFrame, Path], None]] = {
            ".csv": _write_csv,
            ".parquet": _write_parquet,
        }
        if target.suffix not in writers:
            raise InvalidInput(f"Expected {target} to end in {' or '.join(writers)}.")
        unfinished = target.with_name(f".unfinished-{target.name}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            writers[target.suffix](_flat(self.to_frame()), unfinished)
            unfinished.replace(target)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidInput(f"Cannot write {target}: {reason}.") from error
        finally:
            with suppress(OSError):
                unfinished.unlink()


def read_results(store: PathLike, cells: Iterable[Cell] | None = None) -> Results:
    """Return what a store has, without computing anything: these cells, or everything.

    A store can be read while a run adds to it.

    Raises
    ------
    InvalidInput
        If it is no store.
    """
    found = read_store(store)
    if cells is None:
        return Results(found.cells())
    wanted = list(dict.fromkeys(cell.identity for cell in cells))
    stored = found.cells(wanted)
    return Results({each: stored[each] for each in wanted if each in stored})


def _flat(frame: DataFrame) -> DataFrame:
    """Return a table in which every column has values of one kind."""
    flat = frame.copy()
    for name in frame.columns:
        if frame[name].dtype == object:
            kinds = {type(value) for value in frame[name] if value is not None and value == value}
            if len(kinds) > 1 or tuple in kinds:
                flat[name] = [
                    None if value is None or value != value else json.dumps(value)
                    for value in frame[name]
                ]
    return flat


def _write_csv(frame: DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False)


def _write_parquet(frame: DataFrame, path: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("results", frame)
        try:
            connection.sql("SELECT * FROM results").write_parquet(str(path))
        except duckdb.IOException as error:
            raise OSError(str(error)) from error
