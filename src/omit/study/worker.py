"""What happens in a worker: a hand of cells is computed, one after the other.

A *hand* is some cells of one group, which share a preparation. The worker computes them until a
little time has passed, then returns what is finished and leaves the rest: so results are stored
soon, quick cells do not travel one by one, and nobody has to know beforehand how long a cell takes.
"""

from __future__ import annotations

import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

from omit.errors import InvalidInput
from omit.study.cell import RESERVED, Cell, Rows
from omit.study.environment import Environment
from omit.study.threads import limit_threads, one_thread
from omit.study.values import Answer, plain_answer, stream

# Data sets and scores are large: a worker keeps what the last few groups share.
KEPT_PREPARATIONS = 4


@dataclass(frozen=True, eq=False)
class Hand:
    """Some cells of one group, to be computed in one worker.

    Attributes
    ----------
    cells : tuple of Cell
        Cells that share a preparation.
    run : str
        The run that asks; preparations are kept within one run only.
    seconds : float
        After which time the worker returns what it has. At least one cell is computed.
    environment : Environment, optional
        What the worker must run on, if it is another machine's.
    """

    cells: tuple[Cell, ...]
    run: str
    seconds: float
    environment: Environment | None = None


@dataclass(frozen=True)
class Finished:
    """The rows of a cell, and how long they took, with the preparation if it came first."""

    cell: Cell
    rows: tuple[dict[str, Answer], ...]
    seconds: float


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and why."""

    cell: Cell
    reason: str
    details: str = ""

    def __str__(self) -> str:
        return f"{self.cell}: {self.reason}"


@dataclass(frozen=True)
class Outcome:
    """What became of a hand; cells that are in neither list were left for later."""

    finished: tuple[Finished, ...]
    failed: tuple[Failure, ...]
    seconds: float


def play(hand: Hand) -> Outcome:
    """Compute a hand in this process, with the numbers of threads that make results repeatable."""
    if hand.environment is not None:
        hand.environment.require_here()
    with one_thread():
        return _play(hand)


def play_in_worker(hand: Hand) -> Outcome:
    """Compute a hand in a process that does nothing else, for which threads are limited for good.

    Several threads of one worker may be here at once; none of them may give threads back to a
    library while another computes.
    """
    if hand.environment is not None:
        hand.environment.require_here()
    limit_threads()
    return _play(hand)


def _play(hand: Hand) -> Outcome:
    preparations = _preparations_of(hand.run)
    finished: list[Finished] = []
    failed: list[Failure] = []
    start = time.perf_counter()
    for cell in hand.cells:
        before = time.perf_counter()
        try:
            prepared = preparations.prepared(cell)
            rows = checked_rows(
                cell, cell.computation.compute(cell.parameters, prepared, cell.rng())
            )
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
            failed.append(Failure(cell, reason, traceback.format_exc()))
        else:
            finished.append(Finished(cell, rows, time.perf_counter() - before))
        if time.perf_counter() - start > hand.seconds:
            break
    return Outcome(tuple(finished), tuple(failed), time.perf_counter() - start)


def checked_rows(cell: Cell, rows: Rows) -> tuple[dict[str, Answer], ...]:
    """Return what a computation answered as rows of plain data.

    Raises
    ------
    InvalidInput
        If it is anything else, or a column would be there twice.
    """
    several = (rows,) if isinstance(rows, Mapping) else rows
    if not isinstance(several, list | tuple) or not all(
        isinstance(row, Mapping) for row in several
    ):
        raise InvalidInput(
            f"Expected {cell.computation.name!r} to return a row or a list of rows, got {rows!r}."
        )
    taken = RESERVED | {name for name, _ in cell.items}
    for row in several:
        for name in row:
            if not isinstance(name, str) or name in taken:
                raise InvalidInput(
                    f"{cell.computation.name!r} returned a column {name!r}, which is no name for "
                    "a column or already is one: a parameter or a column of every table."
                )
    return tuple(
        {name: plain_answer(name, value) for name, value in row.items()} for row in several
    )


class Preparations:
    """What groups of cells share, prepared once and kept for a while."""

    def __init__(self, kept: int = KEPT_PREPARATIONS) -> None:
        self._kept = kept
        self._made: OrderedDict[str, Callable[[], Any]] = OrderedDict()
        self._lock = Lock()

    def prepared(self, cell: Cell) -> Any:
        """Return what the cell shares with others; an error is raised again, not tried again."""
        prepare = cell.computation.prepare
        if prepare is None:
            return None
        # Threads of one worker wait for each other: preparing twice would take more.
        with self._lock:
            made = self._made.get(cell.group)
            if made is None:
                made = _outcome(lambda: prepare(cell.shared(), stream(cell.group)))
                self._made[cell.group] = made
                limit_threads()  # also the libraries that the preparation has loaded
            self._made.move_to_end(cell.group)
            while len(self._made) > self._kept:
                self._made.popitem(last=False)
        return made()


def _outcome(call: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that returns what the call returned, or raises what it raised."""
    try:
        value = call()
    except Exception as error:
        caught = error

        def again() -> Any:
            raise caught

        return again
    return lambda: value


@lru_cache(maxsize=1)
def _preparations_of(run: str) -> Preparations:
    """Return what was prepared for a run in this process; another run starts afresh."""
    return Preparations()


def forget_preparations() -> None:
    """Give back the memory that preparations take in this process."""
    _preparations_of.cache_clear()
