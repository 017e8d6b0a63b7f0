"""Ending with one sentence, whatever else would speak.

Ctrl-C goes to every process of the terminal, workers too, and a Dask client tells about a lost
scheduler in pages. Here the process that runs the study alone decides what an interruption means,
and the run alone says what happened.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def workers_not_interrupted() -> Iterator[None]:
    """Keep Ctrl-C from processes and threads that are started within the block.

    The signal is blocked, and what is started inherits that: so it is blocked from the first moment
    on, while a worker is still importing. This process gets it at the end of the block, so that
    nothing is left half started.
    """
    # Starting it would lift the block (in Python 3.11), so it is started before.
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    came: list[int] = []
    try:
        with _instead(came.append):
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _instead(note: Callable[[int], None]) -> Iterator[None]:
    """Take note of interrupts that other threads let in, which Python raises in the main thread."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: note(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def ignore_interrupts() -> None:
    """Let a worker process ignore Ctrl-C for good, whatever later lifts an inherited block."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def without_words_of(library: str) -> Iterator[None]:
    """Keep what a library logs off the screen within the block.

    Only what its own loggers write to streams is left out. Files, and whatever handlers somebody
    has attached elsewhere, get all.
    """

    def by_others(record: logging.LogRecord) -> bool:
        return not _is_of(library, record.name)

    names = [name for name in list(logging.root.manager.loggerDict) if _is_of(library, name)]
    handlers = {handler for name in names for handler in logging.getLogger(name).handlers}
    with ExitStack() as held:
        for handler in handlers:
            if type(handler) is logging.StreamHandler:
                handler.addFilter(by_others)
                held.callback(handler.removeFilter, by_others)
        yield


def _is_of(library: str, logger: str) -> bool:
    return logger == library or logger.startswith(f"{library}.")
