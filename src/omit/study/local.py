"""Computing on this machine: in the process, or in a pool of processes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from omit.errors import InvalidInput
from omit.study.quiet import ignore_interrupts, workers_not_interrupted
from omit.study.worker import Hand, Outcome, forget_preparations, play, play_in_worker

# How long a pool may take to begin with what it was given; usually a thousandth of that.
_TAKEN_SECONDS = 1.0


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
    """Computes hands in processes of their own, one for each core.

    Every process is a pool of one (joblib's loky): so a process gets the next hand of the group
    that it has prepared, and if it dies, it is known whose hand it had, and the others go on.
    """

    def __init__(self, count: int) -> None:
        self._processes = [_Process() for _ in range(count)]
        self._running: dict[Any, tuple[Hand, _Process]] = {}

    def slots(self) -> int:
        """Return how many hands are computed at once."""
        return len(self._processes)

    def submit(self, hand: Hand) -> None:
        """Let a free process compute a hand, if possible the one that knows the group."""
        group = hand.cells[0].group
        busy = {id(process) for _, process in self._running.values()}
        free = [process for process in self._processes if id(process) not in busy]
        process = next((each for each in free if each.group == group), free[0])
        process.group = group
        self._running[process.start(hand)] = (hand, process)

    def wait(self) -> Sequence[tuple[Hand, Outcome | None]]:
        """Return the hands that have come back."""
        from joblib.externals.loky import FIRST_COMPLETED, BrokenProcessPool, wait

        done, _ = wait(list(self._running), return_when=FIRST_COMPLETED)
        back: list[tuple[Hand, Outcome | None]] = []
        for future in done:
            hand, process = self._running.pop(future)
            error = future.exception()
            if error is None:
                back.append((hand, future.result()))
            elif isinstance(error, BrokenProcessPool):
                process.end()
                back.append((hand, None))
            else:
                raise could_not_take(hand, error) from error
        return back

    def abandon(self) -> None:
        """Kill the processes."""
        self._running.clear()
        for process in self._processes:
            process.end(kill=True)

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.end()


class _Process:
    """A process that is started when it is needed, and remembers which group it computed last."""

    def __init__(self) -> None:
        self.group: str | None = None
        self._pool: Any = None
        self._last: Any = None

    def start(self, hand: Hand) -> Any:
        """Return the future of a hand."""
        with workers_not_interrupted():
            self._last = self._start(hand)
        return self._last

    def _start(self, hand: Hand) -> Any:
        from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor

        if self._pool is not None:
            try:
                return self._pool.submit(play_in_worker, hand)
            except BrokenProcessPool:  # it died after it had returned its last hand
                self.end()
        self._pool = ProcessPoolExecutor(max_workers=1, initializer=_serve, initargs=(os.getpid(),))
        return self._pool.submit(play_in_worker, hand)

    def end(self, *, kill: bool = False) -> None:
        """End the process, if there is one."""
        if self._pool is not None:
            if kill:
                self._wait_until_taken()
            self._pool.shutdown(wait=True, kill_workers=kill)
            self._pool = self._last = None

    def _wait_until_taken(self) -> None:
        """Wait a moment for the pool to take the last hand from its own queue.

        A pool that is killed before (in joblib 1.6) writes the traceback of its thread.
        """
        deadline = time.monotonic() + _TAKEN_SECONDS
        while self._last is not None and time.monotonic() < deadline:
            if self._last.running() or self._last.done():
                return
            time.sleep(0.001)


def _serve(parent: int) -> None:
    """Let this process end when its parent does: not by Ctrl-C, and even if that was killed."""
    ignore_interrupts()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
