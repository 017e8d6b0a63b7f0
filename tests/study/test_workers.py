"""What is kept off the screen during a run, and what is not."""

from __future__ import annotations

import io
import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from omit.study.workers import ignore_interrupts, silenced, workers_not_interrupted

SHOW = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


@pytest.fixture
def screen() -> Iterator[io.StringIO]:
    """Return a stream that the loggers of two libraries share, as those of Dask and Tornado do."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    loggers = [logging.getLogger(name) for name in ("wordy", "wordy.client", "wordywise")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    yield stream
    for logger in loggers:
        logger.removeHandler(handler)


def test_only_the_words_of_one_library_are_kept_off_the_screen(screen: io.StringIO) -> None:
    with silenced("wordy"):
        logging.getLogger("wordy").error("a")
        logging.getLogger("wordy.client").critical("b")
        logging.getLogger("wordy.made.later").error("c")
        logging.getLogger("wordywise").error("another library")
    logging.getLogger("wordy.client").error("afterwards")
    assert screen.getvalue().split("\n") == ["another library", "afterwards", ""]


def test_a_run_within_another_leaves_the_other_quiet(screen: io.StringIO) -> None:
    with silenced("wordy"):
        with silenced("wordy"):
            pass
        logging.getLogger("wordy").error("still")
    assert screen.getvalue() == ""


def test_a_file_gets_all(screen: io.StringIO, tmp_path: Path) -> None:
    handler = logging.FileHandler(tmp_path / "log")
    logging.getLogger("wordy").addHandler(handler)
    try:
        with silenced("wordy"):
            logging.getLogger("wordy").error("kept")
    finally:
        logging.getLogger("wordy").removeHandler(handler)
        handler.close()
    assert (tmp_path / "log").read_text() == "kept\n"
    assert screen.getvalue() == ""


def test_processes_of_threads_that_begin_in_the_block_never_hear_ctrl_c() -> None:
    began = threading.Event()
    printed: list[bytes] = []

    def start_later() -> None:
        began.wait()
        printed.append(subprocess.check_output([sys.executable, "-c", SHOW]))

    with workers_not_interrupted():
        thread = threading.Thread(target=start_later)
        thread.start()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    began.set()
    thread.join()
    assert printed == [b"True\n"]


def test_an_interruption_within_the_block_is_not_lost() -> None:
    reached = []

    def interrupted(thread: int) -> None:
        with workers_not_interrupted():
            signal.pthread_kill(thread, signal.SIGINT)
            time.sleep(0.05)
            reached.append("the end of the block")

    ended = threading.Event()
    other = threading.Thread(target=ended.wait)  # one in which the signal is not blocked
    other.start()
    assert other.ident is not None
    try:
        for thread in (threading.get_ident(), other.ident):
            with pytest.raises(KeyboardInterrupt):
                interrupted(thread)
    finally:
        ended.set()
        other.join()
    assert len(reached) == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_worker_ignores_ctrl_c_even_if_it_is_not_blocked() -> None:
    before = signal.getsignal(signal.SIGINT)
    # Where tests run in the background it is ignored from the start, which would prove nothing.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        ignore_interrupts()
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
