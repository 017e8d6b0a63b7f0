"""Computing on this machine: in the process, or in a pool of processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from omit.errors import InvalidInput
from omit.study.worker import Hand, Outcome, forget_preparations, play, play_in_worker


class InProcess:
    """Computes one hand after the other, in this process."""

    def __init__(self) -> None:
        self._hands: list[Hand] = []

    def slots(self) -> int:
        """Return how many hands are computed at once."""
        return 1

    def submit(self, hand: Hand) -> None:
        """Keep a hand until somebody waits for it."""
        self._hands.append(hand)

    def wait(self) -> Sequence[tuple[Hand, Outcome | None]]:
        """Compute a hand."""
        hand = self._hands.pop(0)
        return [(hand, play(hand))]

    def abandon(self) -> None:
        """Forget what was to be done."""
        self._hands.clear()


class Cores:
    """Computes hands in a pool of processes (joblib's loky), one for each core.

    If one of the processes dies, the pool is made anew.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: Any = None
        self._running: dict[Any, tuple[Hand, Any]] = {}

    def slots(self) -> int:
        """Return how many hands are computed at once."""
        return self._count

    def submit(self, hand: Hand) -> None:
        """Let a process compute a hand."""
        from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor

        for attempt in (1, 2):
            if self._pool is None:
                self._pool = ProcessPoolExecutor(max_workers=self._count)
            try:
                future = self._pool.submit(play_in_worker, hand)
            except BrokenProcessPool:
                if attempt == 2:
                    raise
                self._discard(self._pool)
            else:
                self._running[future] = (hand, self._pool)
                return

    def wait(self) -> Sequence[tuple[Hand, Outcome | None]]:
        """Return the hands that have come back."""
        from joblib.externals.loky import FIRST_COMPLETED, BrokenProcessPool, wait

        done, _ = wait(list(self._running), return_when=FIRST_COMPLETED)
        back: list[tuple[Hand, Outcome | None]] = []
        for future in done:
            hand, pool = self._running.pop(future)
            error = future.exception()
            if error is None:
                back.append((hand, future.result()))
            elif isinstance(error, BrokenProcessPool):
                self._discard(pool)
                back.append((hand, None))
            else:
                raise could_not_take(hand, error) from error
        return back

    def abandon(self) -> None:
        """Kill the processes."""
        self._running.clear()
        self._discard(self._pool, kill=True)

    def close(self) -> None:
        """End the processes."""
        self._discard(self._pool)

    def _discard(self, pool: Any, *, kill: bool = False) -> None:
        if pool is not None and pool is self._pool:
            self._pool = None
            pool.shutdown(wait=True, kill_workers=kill)


def could_not_take(hand: Hand, error: BaseException) -> InvalidInput:
    """Return the sentence for a worker that could not even begin."""
    name = hand.cells[0].computation.name
    return InvalidInput(
        f"A worker could not take cells of {name!r} ({type(error).__name__}: {error}); what "
        "computes them must be importable there."
    )


@contextmanager
def in_process() -> Iterator[InProcess]:
    """Compute in this process."""
    try:
        yield InProcess()
    finally:
        forget_preparations()


@contextmanager
def on_cores(count: int | None) -> Iterator[Cores]:
    """Compute in processes of their own, by default one for each core."""
    import joblib

    cores = Cores(count or joblib.cpu_count())
    try:
        yield cores
    except BaseException:
        cores.abandon()
        raise
    finally:
        cores.close()
