"""How far a run is, and how long it will take."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from omit.study.cell import Cell
from omit.study.worker import Finished


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
    """

    done: int
    total: int
    stored_before: int
    failed: int
    elapsed: float
    remaining: float | None


Report: TypeAlias = Callable[[Progress], None]


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
        self._finished: defaultdict[str, float] = defaultdict(float)
        self._done = self._failed = 0
        for cell in cells:
            self._left[cell.computation.name] += cell.cost

    def add(
        self, finished: Iterable[Finished], failed: Iterable[Cell] = (), busy: float = 0.0
    ) -> Progress:
        """Take note of cells that were finished or failed, and return the progress.

        Parameters
        ----------
        finished, failed : iterable
            What has come back.
        busy : float
            How long workers computed it. What came before that, such as starting the workers, is
            not counted in what a second of work takes.
        """
        if self._work_began is None:
            self._work_began = self._clock() - busy
        for each in finished:
            name, cost = each.cell.computation.name, each.cell.cost
            self._left[name] -= cost
            self._finished[name] += cost
            self._seconds[name] += each.seconds
            self._done += 1
        for cell in failed:
            self._left[cell.computation.name] -= cell.cost
            self._failed += 1
        return self.now()

    def now(self) -> Progress:
        """Return the progress at this moment."""
        elapsed = self._clock() - self._start
        return Progress(
            self._before + self._done,
            self._total,
            self._before,
            self._failed,
            elapsed,
            self._remaining(),
        )

    def _remaining(self) -> float | None:
        rates = {
            name: self._seconds[name] / cost for name, cost in self._finished.items() if cost > 0
        }
        work = sum(self._seconds.values())
        if self._work_began is None or not rates or work <= 0:
            return 0.0 if self._done + self._failed == self._total - self._before else None
        slowest = max(rates.values())
        left = sum(max(cost, 0.0) * rates.get(name, slowest) for name, cost in self._left.items())
        return left * (self._clock() - self._work_began) / work
