"""Running a study: computing what is missing, wherever that is, and storing it as it finishes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Literal

from omit import _validate
from omit.errors import StudyFailed, StudyInterrupted
from omit.study.agenda import Agenda, Deal
from omit.study.cell import Cell, distinct
from omit.study.environment import Environment
from omit.study.progress import Estimate, Report
from omit.study.results import Results, read_results
from omit.study.store import PathLike, Store, open_store, read_store
from omit.study.where import Workers, workers_at
from omit.study.worker import Failure, Finished, Hand, Outcome

# After which time a worker returns what it has: what a killed run loses at most, or one cell.
HAND_SECONDS = 0.5


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
        The folder of results, made if it is not there.
    where : str
        ``"process"``, ``"cores"``, ``"cores:N"``, ``"local:N"`` (a Dask cluster made for the run)
        or the address of a Dask scheduler, ``"tcp://host:port"``. Streams of random numbers and
        numbers of threads are the same everywhere; so are the results, if the computation
        itself is deterministic.
    progress : callable, optional
        Is called with a `Progress` at the beginning and whenever results have been stored.
    failures : {"raise", "return"}
        Whether cells that could not be computed are an error at the end. They are not stored, so
        running again tries them again.

    Returns
    -------
    Results
        The rows of the cells, in the order of the cells.

    Raises
    ------
    InvalidInput
        If the store or the place cannot be used.
    StudyFailed
        If cells could not be computed; all others are stored.
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
    >>> results.to_frame()[["tosses", "heads"]]
       tosses  heads
    0      10      7
    1    1000    520
    """
    _validate.one_of("failures", failures, ("raise", "return"))
    place = workers_at(where)
    wanted = distinct(cells)
    failed: tuple[Failure, ...] = ()
    if _missing(wanted, read_store(store).identities()):
        try:
            # Workers first: a place that cannot be used leaves no store behind.
            with place as workers, open_store(store) as opened:
                missing = _missing(wanted, opened.found.identities())
                run = Run(opened, Estimate(missing, len(wanted) - len(missing)), progress)
                run.compute(missing, workers)
        except KeyboardInterrupt as error:
            left = _missing(wanted, read_store(store).identities())
            raise StudyInterrupted(
                f"Interrupted: {len(wanted) - len(left)} of {len(wanted)} cells are stored in "
                f"{store}, and running the same again goes on from there."
            ) from error
        failed = tuple(run.failed)
    elif progress is not None:
        progress(Estimate((), len(wanted)).now())
    if failed and failures == "raise":
        raise StudyFailed(_told(failed, len(wanted)), failed)
    found = read_results(store, wanted)
    return Results(found.stored, failed)


def _missing(cells: Iterable[Cell], stored: set[str]) -> list[Cell]:
    return [cell for cell in cells if cell.identity not in stored]


def _told(failed: tuple[Failure, ...], total: int) -> str:
    cells = "cell" if len(failed) == 1 else "cells"
    shown = "; ".join(str(each) for each in failed[:3])
    more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
    return (
        f"{len(failed)} of {total} {cells} could not be computed, all others are stored, and "
        f"running again tries only these: {shown}{more}."
    )


class Run:
    """One run: hands go out, results come back and are stored."""

    def __init__(self, store: Store, estimate: Estimate, report: Report | None) -> None:
        self.failed: list[Failure] = []
        self._store = store
        self._estimate = estimate
        self._report = report
        self._name = uuid.uuid4().hex

    def compute(self, cells: Iterable[Cell], workers: Workers) -> None:
        """Compute cells, and return when all are stored or have failed."""
        if self._report is not None:
            self._report(self._estimate.now())
        agenda = Agenda(cells)
        dealt: dict[Hand, Deal] = {}
        free: list[str | None] = []
        while True:
            slots = workers.slots()
            while len(dealt) < slots:
                deal = agenda.next(slots, free.pop() if free else None)
                if deal is None:
                    break
                hand = Hand(deal.cells, self._name, HAND_SECONDS, Environment.here())
                dealt[hand] = deal
                workers.submit(hand)
            if not dealt:
                return
            back = workers.wait()
            free = [dealt[hand].group for hand, _ in back]
            self._keep(agenda, [(dealt.pop(hand), outcome) for hand, outcome in back])

    def _keep(self, agenda: Agenda, back: list[tuple[Deal, Outcome | None]]) -> None:
        """Store what has come back, and put on the agenda what has not."""
        finished: list[Finished] = []
        failed: list[Failure] = []
        for deal, outcome in back:
            if outcome is None:
                failed += [Failure(cell, "its worker died") for cell in agenda.died(deal)]
                continue
            finished += outcome.finished
            failed += outcome.failed
            settled = {each.cell for each in outcome.finished}
            settled |= {each.cell for each in outcome.failed}
            agenda.returned(deal, [cell for cell in deal.cells if cell not in settled])
        self._store.append(finished)
        self.failed += failed
        busy = max((outcome.seconds for _, outcome in back if outcome is not None), default=0.0)
        now = self._estimate.add(finished, [each.cell for each in failed], busy)
        if self._report is not None:
            self._report(now)
