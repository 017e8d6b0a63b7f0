"""Compute a batch of cells in one worker, whether that is this process or another machine.

A worker computes its batch until a little time has passed, returns what is finished and leaves the
rest: results are stored soon, quick cells do not travel one by one, and nobody has to know
beforehand how long a cell takes. What the cells of a group share is prepared once.

A result must not depend on the worker. So linear algebra and compiled loops get one thread: sums
over several are added in another order, which changes the last bits. And a worker of a cluster is
refused if its code differs: another version of this package, the same version with other code, or
another numpy whose random streams differ.
"""

from __future__ import annotations

import hashlib
import platform
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from omit import __version__
from omit.errors import InvalidInput
from omit.study.cell import RESERVED, Answer, Cell, Failure, Finished, Rows, plain_answer, stream

# After which time a worker returns what it has: what a killed run loses at most, or one cell.
BATCH_SECONDS = 0.5
# Data sets and scores are large: a worker keeps what the last few groups share.
_KEPT_PREPARATIONS = 4
# Whose versions can change a number.
_LIBRARIES = ("numpy", "scipy", "numba")


@dataclass(frozen=True, eq=False)
class Batch:
    """Cells to be computed by one worker.

    Attributes
    ----------
    cells : tuple of Cell
        Cells of one group, which share a preparation.
    group : str
        The identity of the group.
    run : str
        The run that asks; preparations are kept within one run only.
    alone : bool
        Whether nothing else may run meanwhile.
    """

    cells: tuple[Cell, ...]
    group: str
    run: str
    alone: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a worker made of a batch; cells that are in neither list were left for later."""

    finished: tuple[Finished, ...]
    failed: tuple[Failure, ...]
    seconds: float


def compute_batch(batch: Batch, environment: Environment) -> Outcome:
    """Compute a batch in this process, which must have this environment.

    Threads are limited for good. Several threads of one worker may be here at once; none of them
    may give threads back to a library while another computes.
    """
    environment.require_here()
    limit_threads()
    preparations = _preparations_of(batch.run)
    finished: list[Finished] = []
    failed: list[Failure] = []
    start = time.perf_counter()
    for cell in batch.cells:
        before = time.perf_counter()
        try:
            prepared = preparations.prepared(cell, batch.group)
            rows = checked_rows(
                cell, cell.computation.compute(cell.parameters, prepared, cell.rng())
            )
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
            failed.append(Failure(cell, reason, traceback.format_exc()))
        else:
            finished.append(Finished(cell, rows, time.perf_counter() - before))
        if time.perf_counter() - start > BATCH_SECONDS:
            break
    return Outcome(tuple(finished), tuple(failed), time.perf_counter() - start)


def checked_rows(cell: Cell, rows: Rows) -> tuple[dict[str, Answer], ...]:
    """Return what a computation answered as rows of plain data, or refuse anything else."""
    name = cell.computation.name
    several = (rows,) if isinstance(rows, Mapping) else rows
    if not isinstance(several, list | tuple) or not all(
        isinstance(row, Mapping) for row in several
    ):
        raise InvalidInput(f"Expected {name!r} to return a row or a list of rows, got {rows!r}.")
    taken = RESERVED | {parameter for parameter, _ in cell.items}
    for row in several:
        for column in row:
            if not isinstance(column, str) or column in taken:
                raise InvalidInput(
                    f"{name!r} returned a column {column!r}, which is no name for a column or "
                    "already is one: a parameter or a column of every table."
                )
    return tuple(
        {column: plain_answer(column, value) for column, value in row.items()} for row in several
    )


class Preparations:
    """What groups of cells share, prepared once and kept for a while."""

    def __init__(self) -> None:
        self._results: OrderedDict[str, Future[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def prepared(self, cell: Cell, group: str) -> Any:
        """Return what the cell shares with others; an error is raised again, not tried again."""
        if cell.computation.prepare is None:
            return None
        # Threads of one worker wait for each other: preparing twice would take more.
        with self._lock:
            if group not in self._results:
                self._results[group] = _prepare(cell, group)
                limit_threads()  # also the libraries that the preparation has loaded
            self._results.move_to_end(group)
            while len(self._results) > _KEPT_PREPARATIONS:
                self._results.popitem(last=False)
            result = self._results[group]
        return result.result()


def _prepare(cell: Cell, group: str) -> Future[Any]:
    """Return what the preparation returned or raised."""
    result: Future[Any] = Future()
    assert cell.computation.prepare is not None
    try:
        result.set_result(cell.computation.prepare(cell.shared(), stream(group)))
    except Exception as error:
        result.set_exception(error)
    return result


@lru_cache(maxsize=1)
def _preparations_of(run: str) -> Preparations:
    """Return what was prepared for a run in this process; another run starts afresh."""
    return Preparations()


def clear_preparations() -> None:
    """Give back the memory that preparations take in this process."""
    _preparations_of.cache_clear()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra and compiled loops use one thread within the block."""
    import numba
    from threadpoolctl import threadpool_limits

    threads = numba.get_num_threads()
    _load_libraries()
    with threadpool_limits(limits=1):
        numba.set_num_threads(1)
        try:
            yield
        finally:
            numba.set_num_threads(threads)


def limit_threads() -> None:
    """Let linear algebra and compiled loops use one thread, in this thread and for good."""
    import numba
    from threadpoolctl import threadpool_limits

    _load_libraries()
    numba.set_num_threads(1)  # loads a library that has threads of its own, to be limited too
    threadpool_limits(limits=1)


def _load_libraries() -> None:
    """Load the libraries of linear algebra, which have to be there to be limited."""
    import scipy.linalg  # noqa: F401


@dataclass(frozen=True)
class Environment:
    """The versions of what computes, and a fingerprint of the package's own code.

    Examples
    --------
    >>> Environment.here().difference(Environment.here()) is None
    True
    """

    versions: tuple[tuple[str, str], ...]
    code: str

    @classmethod
    def here(cls) -> Environment:
        """Return the environment of this process."""
        return _here()

    def difference(self, other: Environment) -> str | None:
        """Return what is different in the other one, in words, or None."""
        for (name, mine), (_, theirs) in zip(self.versions, other.versions, strict=True):
            if mine != theirs:
                return f"{name} {theirs} instead of {name} {mine}"
        return None if self.code == other.code else f"omit {__version__} with other code"

    def require_here(self) -> None:
        """Refuse to compute in another environment: `OtherEnvironment` is raised."""
        difference = self.difference(Environment.here())
        if difference is not None:
            raise OtherEnvironment(f"A worker has {difference}; install the same there.")


class OtherEnvironment(InvalidInput):
    """A worker's results would not be the same numbers."""


@lru_cache(maxsize=1)
def _here() -> Environment:
    code = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.toml")]):
        code.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = [(name, version(name)) for name in _LIBRARIES]
    return Environment((("omit", __version__), ("Python", python), *libraries), code.hexdigest())
