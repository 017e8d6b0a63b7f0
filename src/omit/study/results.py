"""The results of a study: the rows of its cells, and what may be said about them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from omit.errors import InvalidInput
from omit.report.files import write_whole
from omit.report.result import Field, Result, Table
from omit.study.cell import Cell, Failure, distinct
from omit.study.store import PathLike, Snapshot, Stored, WallTime, read_store

if TYPE_CHECKING:
    from pandas import DataFrame


class Results(Result):
    """The rows of cells, as `run_study` and `read_results` return them.

    A summary counts the cells of every computation; all rows are in `to_frame` and `write`.

    Parameters
    ----------
    stored : mapping of str to Stored
        The cells by identity, in the order that tables have.
    failures : tuple of Failure
        The cells that could not be computed.
    wall_times : tuple of WallTime
        The seconds from beginning to end and the number of new cells of every run of these very
        cells that computed any; a run that was killed is not there.

    Examples
    --------
    >>> len(Results({}))
    0
    """

    command: ClassVar[str] = "study"
    warning: ClassVar[str | None] = None

    def __init__(
        self,
        stored: Mapping[str, Stored],
        failures: tuple[Failure, ...] = (),
        wall_times: tuple[WallTime, ...] = (),
    ) -> None:
        self.stored = stored
        self.failures = failures
        self.wall_times = wall_times

    @classmethod
    def of(
        cls, snapshot: Snapshot, cells: Sequence[Cell], failures: tuple[Failure, ...] = ()
    ) -> Results:
        """Return what a store has of these cells, in their order."""
        stored = snapshot.cells(cell.identity for cell in cells)
        return cls(stored, failures, snapshot.wall_times(cells))

    @property
    def verdict(self) -> str:
        """How many cells there are, and how many failed."""
        failed = f", {len(self.failures):,} could not be computed" if self.failures else ""
        return f"{len(self):,} cells are stored{failed}."

    @property
    def notes(self) -> tuple[str, ...]:
        """The first failures, with their reasons."""
        return tuple(f"{failure}." for failure in self.failures[:3])

    def tables(self) -> Sequence[Table]:
        """Return the number of cells and rows of every computation, and the time they took."""
        groups: defaultdict[tuple[str, int], list[Stored]] = defaultdict(list)
        for cell in self.stored.values():
            groups[cell.computation, cell.version].append(cell)
        fields = (
            Field("Computation", "computation"),
            Field("Version", "version", numeric=True),
            Field("Cells", "cells", "{:,}".format, numeric=True),
            Field("Rows", "rows", "{:,}".format, numeric=True),
            Field("Time (s)", "seconds", "{:.1f}".format, numeric=True),
        )
        lines = tuple(
            (*key, len(cells), sum(len(cell.rows) for cell in cells), _seconds(cells))
            for key, cells in groups.items()
        )
        return (Table("computations", "", fields, lines),)

    def __len__(self) -> int:
        return len(self.stored)

    def __contains__(self, cell: Cell) -> bool:
        return cell.identity in self.stored

    def rows(self, cell: Cell) -> tuple[dict[str, Any], ...]:
        """Return the rows of a cell, which must have been computed."""
        if cell.identity not in self.stored:
            raise InvalidInput(f"There are no results for {cell}.")
        return tuple(dict(row) for row in self.stored[cell.identity].rows)

    def row(self, cell: Cell) -> dict[str, Any]:
        """Return the one row of a cell, which must have been computed and have one."""
        rows = self.rows(cell)
        if len(rows) != 1:
            raise InvalidInput(f"Expected one row for {cell}, got {len(rows)}; use rows().")
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
        for identity, cell in self.stored.items():
            parameters.update(cell.parameters)
            known = {"computation": cell.computation, "version": cell.version}
            origin = {**known, "identity": identity}
            for number, row in enumerate(cell.rows):
                answers.update(dict.fromkeys(row))
                lines.append({**cell.parameters, **row, **origin, "row": number})
        columns = [*sorted(parameters), *(name for name in answers if name not in parameters)]
        return DataFrame(lines, columns=[*columns, "computation", "version", "row", "identity"])

    def timings(self) -> DataFrame:
        """Return a table with a line per cell: the parameters, the computation and the `seconds`.

        The preparation that cells share is counted where it was done: with the first cell.
        """
        from pandas import DataFrame

        names = sorted({name for cell in self.stored.values() for name in cell.parameters})
        lines = [
            {**cell.parameters, "computation": cell.computation, "seconds": cell.seconds}
            for cell in self.stored.values()
        ]
        return DataFrame(lines, columns=[*names, "computation", "seconds"])

    def write(self, path: PathLike) -> None:
        """Write the table to a CSV file or a Parquet file, by the ending of its name.

        A column with values of several kinds, or with tuples, is written as JSON text. If the file
        cannot be written, nothing is half written.
        """
        target = Path(path)
        writers: dict[str, Callable[[Path], None]] = {
            ".csv": lambda file: frame.to_csv(file, index=False),
            ".parquet": lambda file: _write_parquet(frame, file),
        }
        if target.suffix not in writers:
            raise InvalidInput(f"Expected {target} to end in {' or '.join(writers)}.")
        frame = _flat(self.to_frame())
        write_whole(target, writers[target.suffix])


def read_results(store: PathLike, cells: Iterable[Cell] | None = None) -> Results:
    """Return what a store has, without computing anything: these cells, or everything.

    A store can be read while a run adds to it; what is no store is refused.

    Examples
    --------
    >>> import tempfile
    >>> from omit.study import Computation, run_study
    >>> def compute(parameters, prepared, rng):
    ...     return {"heads": rng.binomial(parameters["tosses"], 0.5)}
    >>> tosses = Computation("coin tosses", 1, compute).grid(tosses=[10, 1000])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_study(tosses, f"{folder}/coins", "process")
    ...     results = read_results(f"{folder}/coins")
    >>> [results.row(cell)["heads"] for cell in tosses]
    [7, 520]
    """
    snapshot = read_store(store)
    return Results(snapshot.cells()) if cells is None else Results.of(snapshot, distinct(cells))


def _seconds(cells: Iterable[Stored]) -> float:
    return sum(cell.seconds for cell in cells)


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


def _write_parquet(frame: DataFrame, path: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("results", frame)
        try:
            connection.sql("SELECT * FROM results").write_parquet(str(path))
        except duckdb.IOException as error:
            raise OSError(str(error)) from error
