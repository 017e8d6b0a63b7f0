"""Run a study: compute what is missing, wherever that is, and store it as it finishes."""

from __future__ import annotations

import math
import time
import uuid
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from omit import _validate
from omit.errors import InvalidInput, StudyFailed, StudyInterrupted
from omit.study.batch import Batch, Outcome
from omit.study.cell import Cell, Failure, Finished, distinct
from omit.study.results import Results
from omit.study.store import PathLike, Store, WallTime, open_store, read_store
from omit.study.workers import LOOK_SECONDS, Workers, workers_at

# Enough for quick cells to keep a worker busy, few enough to be sent quickly.
LARGEST_BATCH = 500


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, total : int
        The cells that are finished, with those that were stored before, and all cells.
    stored_before : int
        How many were there when the run began.
    failed : int
        How many could not be computed.
    elapsed : float
        Seconds since the run began.
    remaining : float or None
        The estimated seconds left; None as long as nothing has been measured.

    Examples
    --------
    >>> Progress(done=3, total=10, stored_before=0, failed=0, elapsed=6.0, remaining=14.0).remaining
    14.0
    """

    done: int
    total: int
    stored_before: int
    failed: int
    elapsed: float
    remaining: float | None


Report: TypeAlias = Callable[[Progress], None]


def run_study(
    cells: Iterable[Cell],
    store: PathLike,
    where: str = "cores",
    *,
    progress: Report | None = None,
    failures: Literal["raise", "return"] = "raise",
) -> Results:
    """Compute the cells that a store does not have yet, and return the results of all.

    Results are stored as they finish. A run that is interrupted, even by ``kill -9`` or a power
    failure, loses at most the cells that were being computed; running again goes on. A study
    whose cells are all there is only read.

    Parameters
    ----------
    cells : iterable of Cell
        The study. A cell that occurs twice is computed once.
    store : path
        The folder of results, made if it is not there. Several runs may share one.
    where : str
        ``"process"``, ``"cores"``, ``"cores:N"``, ``"local:N"`` (a Dask cluster made for the run)
        or the address of a Dask scheduler, ``"tcp://host:port"``. Random streams and numbers of
        threads are the same everywhere; so are the results of a deterministic computation.
    progress : callable, optional
        Is called with a `Progress` at the beginning and whenever results have been stored.
    failures : {"raise", "return"}
        Whether cells that could not be computed are an error at the end: `StudyFailed`. They are
        not stored, so running again tries them again.

    Raises
    ------
    InvalidInput
        If the store or the workers cannot be used.
    StudyInterrupted
        If it was interrupted from the keyboard; what was finished is stored.

    Examples
    --------
    >>> import tempfile
    >>> from omit.study.cell import Computation
    >>> def compute(parameters, prepared, rng):
    ...     return {"heads": rng.binomial(parameters["tosses"], 0.5)}
    >>> tosses = Computation("coin tosses", 1, compute).grid(tosses=[10, 1000])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run_study(tosses, f"{folder}/coins", "process")
    >>> [results.row(cell)["heads"] for cell in tosses]
    [7, 520]
    """
    _validate.one_of("failures", failures, ("raise", "return"))
    workers, wanted, snapshot = workers_at(where), distinct(cells), read_store(store)
    failed: tuple[Failure, ...] = ()
    if _missing(wanted, snapshot.identities()):
        failed = _compute_missing(wanted, store, workers, progress)
        snapshot = read_store(store)
    elif progress is not None:
        progress(Estimate((), len(wanted)).now())
    if failed and failures == "raise":
        raise StudyFailed(_failure_message(failed, len(wanted)), failed)
    return Results.of(snapshot, wanted, failed)


def _compute_missing(
    wanted: Sequence[Cell],
    store: PathLike,
    context: AbstractContextManager[Workers],
    progress: Report | None,
) -> tuple[Failure, ...]:
    """Compute and store what is missing; return the cells that failed."""
    start = time.perf_counter()
    try:
        # Workers first: where nothing can be computed, no store is left behind.
        with context as workers, open_store(store) as opened:
            missing = _missing(wanted, opened.identities())
            run = Run(opened, workers, Estimate(missing, len(wanted) - len(missing)), progress)
            try:
                run.compute(missing)
            finally:
                if run.computed:
                    spent = WallTime(time.perf_counter() - start, run.computed)
                    with suppress(InvalidInput):  # on a full disk, results matter more
                        opened.add_wall_time(wanted, spent)
    except KeyboardInterrupt as error:
        missing = _missing(wanted, read_store(store).identities())
        raise StudyInterrupted(
            f"Interrupted: {len(wanted) - len(missing)} of {len(wanted)} cells are stored in "
            f"{store}, and running the same again goes on from there."
        ) from error
    return tuple(run.failed)


def _missing(cells: Iterable[Cell], stored: set[str]) -> list[Cell]:
    return [cell for cell in cells if cell.identity not in stored]


def _failure_message(failed: tuple[Failure, ...], total: int) -> str:
    cells = "cell" if len(failed) == 1 else "cells"
    listed = "; ".join(str(failure) for failure in failed[:3])
    more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
    return (
        f"{len(failed)} of {total} {cells} could not be computed, all others are stored, and "
        f"running again tries only these: {listed}{more}."
    )


class Run:
    """One run: batches go out, results come back and are stored."""

    def __init__(
        self, store: Store, workers: Workers, estimate: Estimate, report: Report | None
    ) -> None:
        self.failed: list[Failure] = []
        self.computed = 0
        self._store = store
        self._workers = workers
        self._estimate = estimate
        self._report = report or (lambda progress: None)
        self._running: dict[Future[Outcome], tuple[Executor, Batch]] = {}
        # Which group an executor has computed last, and so has prepared.
        self._groups: dict[Executor, str] = {}

    def compute(self, cells: Sequence[Cell]) -> None:
        """Compute cells, and return when all are stored or have failed."""
        self._report(self._estimate.now())
        queue = Queue(cells)
        while True:
            executors = self._workers.executors()
            self._give_up_lost(queue, executors)
            self._submit(queue, executors)
            if self._running:
                done = wait(self._running, LOOK_SECONDS, FIRST_COMPLETED).done
                if done:
                    self._collect(queue, done)
            elif executors:
                return
            else:  # all workers of a cluster are gone, and others may come
                time.sleep(LOOK_SECONDS)

    def _give_up_lost(self, queue: Queue, executors: Sequence[Executor]) -> None:
        """Take batches back from workers that have left a cluster.

        If all have left at once, Dask waits for that very worker to come back, although others
        would be allowed, and its successor has another address.
        """
        there = set(executors)
        for future, (executor, batch) in list(self._running.items()):
            if executor not in there and not future.done():
                del self._running[future]
                future.cancel()
                self._settle(queue, [(batch, None)])

    def _submit(self, queue: Queue, executors: Sequence[Executor]) -> None:
        """Give a batch to every executor that has none."""
        busy = {executor for executor, _ in self._running.values()}
        for executor in executors:
            if executor not in busy:
                batch = queue.next(len(executors), self._groups.get(executor))
                if batch is None:
                    return
                self._groups[executor] = batch.group
                self._running[self._workers.submit(executor, batch)] = executor, batch

    def _collect(self, queue: Queue, done: Iterable[Future[Outcome]]) -> None:
        batches = [(self._running.pop(future)[1], future) for future in done]
        self._settle(
            queue, [(batch, self._workers.outcome(batch, future)) for batch, future in batches]
        )

    def _settle(self, queue: Queue, back: Sequence[tuple[Batch, Outcome | None]]) -> None:
        """Store what has come back, and queue again what has not."""
        finished: list[Finished] = []
        failed: list[Failure] = []
        for batch, outcome in back:
            if outcome is None:
                failed += [Failure(cell, "its worker died") for cell in queue.died(batch)]
            else:
                finished += outcome.finished
                failed += outcome.failed
                settled = {result.cell for result in outcome.finished}
                settled |= {failure.cell for failure in outcome.failed}
                queue.returned(batch, [cell for cell in batch.cells if cell not in settled])
        self._store.append(finished)
        self.computed += len(finished)
        self.failed += failed
        busy = max((outcome.seconds for _, outcome in back if outcome is not None), default=0.0)
        self._report(self._estimate.add(finished, [failure.cell for failure in failed], busy))


class Queue:
    """The cells that are still to be computed, in batches of one group.

    Cells of a group share a preparation, so a worker that has finished a batch gets the next one of
    the same group; then a group that nobody has begun, the most expensive first so that none is
    left for the end; and only then helps with the largest group.

    When a worker dies, any cell of its batch may be the cause. They are retried one at a time after
    all others; those that were there at a second death with nothing else running. Only a cell whose
    worker dies even then is given up.
    """

    def __init__(self, cells: Iterable[Cell]) -> None:
        groups: dict[str, deque[Cell]] = {}
        costs: defaultdict[str, float] = defaultdict(float)
        for cell in cells:
            group = cell.group
            groups.setdefault(group, deque()).append(cell)
            costs[group] += cell.cost
        self._run = uuid.uuid4().hex
        self._groups = dict(sorted(groups.items(), key=lambda item: -costs[item[0]]))
        self._untouched = deque(self._groups)
        self._suspects: deque[Cell] = deque()
        self._deaths: Counter[Cell] = Counter()
        self._running = 0
        self._alone = False

    def next(self, slots: int, prepared: str | None = None) -> Batch | None:
        """Return what a free worker should do, or None if there is nothing to do now.

        `slots` batches are computed at once; `prepared` is the group that the worker computed last.
        """
        if self._alone:
            return None
        batch = self._from_groups(slots, prepared) or self._from_suspects()
        if batch is not None:
            self._running += 1
            self._alone = batch.alone
        return batch

    def returned(self, batch: Batch, left: Iterable[Cell] = ()) -> None:
        """Take note that a worker is free again, with the cells that it left for later."""
        self._running -= 1
        self._alone = False
        for cell in left:
            if self._deaths[cell]:
                self._suspects.append(cell)
            else:
                self._groups[batch.group].appendleft(cell)

    def died(self, batch: Batch) -> tuple[Cell, ...]:
        """Take note that a worker has died; return the cells that are given up."""
        self._running -= 1
        self._alone = False
        if batch.alone:
            return batch.cells
        self._deaths.update(batch.cells)
        self._suspects.extend(batch.cells)
        return ()

    def _from_groups(self, slots: int, prepared: str | None) -> Batch | None:
        while self._untouched and not self._groups[self._untouched[0]]:
            self._untouched.popleft()
        if prepared is not None and self._groups.get(prepared):
            group = prepared
        elif self._untouched:
            group = self._untouched.popleft()
        else:
            group = max(self._groups, key=lambda name: len(self._groups[name]), default="")
        cells = self._groups.get(group)
        if not cells:
            return None
        size = min(math.ceil(len(cells) / (2 * slots)), LARGEST_BATCH)
        return Batch(tuple(cells.popleft() for _ in range(size)), group, self._run)

    def _from_suspects(self) -> Batch | None:
        for _ in range(len(self._suspects)):
            cell = self._suspects.popleft()
            alone = self._deaths[cell] > 1
            if not alone or self._running == 0:
                return Batch((cell,), cell.group, self._run, alone)
            self._suspects.append(cell)
        return None


class Estimate:
    """Estimates the time left from what has been measured.

    What a unit of expected cost takes is measured for each computation apart, so that the cheap
    cells of one do not promise that the expensive cells of another go as fast; computations not yet
    seen are taken to be as slow as the slowest. The wall time that a second of work takes, with
    several workers and everything around them, is measured too.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        stored_before: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._clock = clock
        self._start = clock()
        self._work_began: float | None = None
        self._before = stored_before
        self._total = stored_before + len(cells)
        self._left: defaultdict[str, float] = defaultdict(float)
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._costs: defaultdict[str, float] = defaultdict(float)
        self._done = self._failed = 0
        for cell in cells:
            self._left[cell.computation.name] += cell.cost

    def add(
        self, finished: Iterable[Finished], failed: Iterable[Cell] = (), busy: float = 0.0
    ) -> Progress:
        """Take note of cells that were finished or failed, and return the progress.

        Workers were `busy` with them for this many seconds. What came before that, such as starting
        the workers, is not counted in what a second of work takes.
        """
        if self._work_began is None:
            self._work_began = self._clock() - busy
        for result in finished:
            name, cost = result.cell.computation.name, result.cell.cost
            self._left[name] -= cost
            self._costs[name] += cost
            self._seconds[name] += result.seconds
            self._done += 1
        for cell in failed:
            self._left[cell.computation.name] -= cell.cost
            self._failed += 1
        return self.now()

    def now(self) -> Progress:
        """Return the progress at this moment."""
        done, elapsed = self._before + self._done, self._clock() - self._start
        return Progress(done, self._total, self._before, self._failed, elapsed, self._remaining())

    def _remaining(self) -> float | None:
        rates = {name: self._seconds[name] / cost for name, cost in self._costs.items() if cost > 0}
        work = sum(self._seconds.values())
        if self._work_began is None or not rates or work <= 0:
            return 0.0 if self._done + self._failed == self._total - self._before else None
        slowest = max(rates.values())
        left = sum(max(cost, 0.0) * rates.get(name, slowest) for name, cost in self._left.items())
        return left * (self._clock() - self._work_began) / work
