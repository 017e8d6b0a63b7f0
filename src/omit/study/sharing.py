"""Sharing many small tasks out over the cores of this machine, for as long as one command runs.

Unlike a study, nothing is stored. This process begins alone, since a process more takes a second to
start; if there is much left by then, helpers take tasks in portions from the end of the list, and
this process goes on from its beginning. A helper that cannot be started, or dies, is done without.
It keeps the function from one portion to the next, with what that has computed of its data.
"""

from __future__ import annotations

import logging
import multiprocessing
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import lru_cache
from typing import Any, TypeVar, cast

from omit.study.batch import limit_threads
from omit.study.workers import OneProcess

Task = TypeVar("Task")
Answer = TypeVar("Answer")

# How long to compute alone before helpers are started, and for how long they must be of use.
_ALONE_SECONDS = 0.3
_WORTHWHILE_SECONDS = 1.5
# How long a helper shall take for a portion.
_PORTION_SECONDS = 0.3

_log = logging.getLogger("omit")


def shared_out(
    function: Callable[[Task], Answer], tasks: Sequence[Task], cores: int = 1
) -> Iterator[tuple[int, Answer]]:
    """Yield the position and the answer of every task, in the order in which they are known.

    An error of the function is raised. With several cores it must be picklable, and its answers.

    Examples
    --------
    >>> dict(shared_out(abs, [-1, 2, -3]))
    {0: 1, 1: 2, 2: 3}
    """
    waiting = deque(range(len(tasks)))
    helpers: list[OneProcess] = []
    portions: dict[Future[Any], tuple[OneProcess, list[int]]] = {}
    start, seconds = time.monotonic(), 0.0
    may_help, sent = cores > 1 and _may_start_processes(), b""
    try:
        while waiting or portions:
            for future in [future for future in portions if future.done()]:
                helper, positions = portions.pop(future)
                answers = _received(future)
                if answers is None:
                    waiting.extendleft(reversed(positions))
                    helpers.remove(helper)
                    helper.shutdown(wait=False)
                    continue
                yield from zip(positions, answers, strict=True)
            alone = len(tasks) - len(waiting)
            if may_help and waiting and alone:
                seconds = (time.monotonic() - start) / alone
                if time.monotonic() - start > _ALONE_SECONDS:
                    may_help = False
                    if seconds * len(waiting) > _WORTHWHILE_SECONDS:
                        sent = _pickled(function)
                        helpers = [OneProcess() for _ in range(cores - 1 if sent else 0)]
                        _log.debug("%d more processes share %d tasks", len(helpers), len(waiting))
            busy = {id(helper) for helper, _ in portions.values()}
            for helper in [helper for helper in helpers if id(helper) not in busy]:
                portion = _portion(waiting, seconds, cores)
                if portion:
                    future = _submitted(helper, sent, [tasks[position] for position in portion])
                    portions[future] = helper, portion
            if waiting:
                position = waiting.popleft()
                yield position, function(tasks[position])
            elif portions:
                wait(portions, return_when=FIRST_COMPLETED)
    finally:
        for helper in helpers:
            helper.shutdown(wait=False)


def _may_start_processes() -> bool:
    """Tell whether this is the main thread of a process that nobody else has started."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and multiprocessing.parent_process() is None


def _portion(waiting: deque[int], seconds: float, cores: int) -> list[int]:
    """Return what a helper takes next, no more than its share of what is left."""
    most = max(1, round(_PORTION_SECONDS / max(seconds, 1e-6)))
    return [waiting.pop() for _ in range(min(most, len(waiting) // cores))]


def _pickled(function: Callable[..., Any]) -> bytes:
    """Return a function as a helper takes it; nothing if it cannot be sent."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        return bytes(dumps(function))
    except Exception as error:
        _log.warning("No process can help: %s.", error)
        return b""


def _submitted(helper: OneProcess, function: bytes, tasks: list[Any]) -> Future[Any]:
    try:
        return helper.submit(_answers, function, tasks)
    except Exception as error:  # no processes here, whatever the reason
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed


def _answers(function: bytes, tasks: list[Any]) -> list[Any] | Exception:
    """Return the answers to tasks in a helper, or the error of the function."""
    limit_threads()
    try:
        return [_unpickled(function)(task) for task in tasks]
    except Exception as error:
        return error


@lru_cache(maxsize=1)
def _unpickled(function: bytes) -> Callable[..., Any]:
    """Return a function in a helper, the same for all portions."""
    return cast(Callable[..., Any], pickle.loads(function))


def _received(future: Future[Any]) -> list[Any] | None:
    """Return what a helper answered, None if it could not; raise what the function raised."""
    error = future.exception()
    if error is not None:
        _log.warning("A helping process failed (%s); going on without it.", error)
        return None
    answers = future.result()
    if isinstance(answers, Exception):
        raise answers
    return list(answers)
