"""Runs `omit` in processes of their own that need not import anything.

Started as a program, it imports the package once and reads questions from its standard input, one
JSON object per line. Each invocation is a fork with limits on time and memory, so that what it
breaks, fills or leaves behind is seen from outside and is over with it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import resource
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

# No exit code of the command line: an exception came through.
ESCAPED = 70
KILLED = -9
# How long an interrupted command may take to say that it was interrupted.
GRACE_SECONDS = 10.0
# By the clock everybody has longer, as others may need the processor.
IDLE_FACTOR = 6
LEAST_IDLE_SECONDS = 60.0


def main() -> None:
    """Answer questions until there are no more."""
    _import_everything()
    gc.freeze()  # so that forks need not copy what they only look at
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)
    gc.unfreeze()  # so that libraries do not take what is left for leaks


def _import_everything() -> None:
    import omit

    for module in pkgutil.walk_packages(omit.__path__, "omit."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    backends = ("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg")
    for name in (*backends, "duckdb", "numba", "pandas"):
        importlib.import_module(name)
    # What a command line needs first is imported by its first use.
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        importlib.import_module("omit.cli.main").main(["bound", "poisson"])


def _run(question: dict[str, Any]) -> dict[str, Any]:
    """Return how one invocation ended: its exit code, its time and its memory."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _invoke(question)
    with contextlib.suppress(OSError):  # if the child has been quicker
        os.setpgid(child, child)
    interrupted = False
    code, kilobytes = _wait(child, question["seconds"])
    if code is None:
        interrupted = True
        os.killpg(child, signal.SIGINT)  # as a terminal does: workers are told as well
        code, kilobytes = _wait(child, GRACE_SECONDS)
    if code is None:
        os.killpg(child, signal.SIGKILL)
        _, _, usage = os.wait4(child, 0)
        code, kilobytes = KILLED, usage.ru_maxrss
    seconds = time.monotonic() - start
    return {
        "code": code,
        "interrupted": interrupted,
        "seconds": seconds,
        "megabytes": kilobytes / 1024,
        "orphans": _end_orphans(child),
    }


def _end_orphans(group: int) -> int:
    """Return how many processes outlive an invocation, and end them."""
    patience = time.monotonic() + LEAST_IDLE_SECONDS
    while _members(group) and time.monotonic() < patience:
        time.sleep(0.05)
    orphans = len(_members(group))
    if orphans:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    return orphans


def _wait(child: int, seconds: float) -> tuple[int | None, int]:
    """Return the exit code and the memory of a child, or no code if it takes too long.

    The time is that of the processor, so that a busy machine makes nobody hang; a child that does
    nothing at all gets some times more by the clock.
    """
    pause, start, used = 0.001, time.monotonic(), _processor_seconds(child)
    idle_seconds = max(IDLE_FACTOR * seconds, LEAST_IDLE_SECONDS)
    while time.monotonic() - start < idle_seconds and _processor_seconds(child) - used < seconds:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage.ru_maxrss
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    return None, 0


def _processor_seconds(group: int) -> float:
    """Return the processor time that a child and its workers have taken so far."""
    ticks = sum(int(field) for member in _members(group) for field in member[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _members(group: int) -> list[list[str]]:
    """Return what the system tells of the living processes of a group, from their state on."""
    members = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # ended by now
            state = file.read_text().rpartition(")")[2].split()
            if state[2] == str(group) and state[0] not in "ZX":
                members.append(state)
    return members


def _invoke(question: dict[str, Any]) -> NoReturn:
    """Be the invocation, and end as a program ends."""
    code = ESCAPED
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setpgid(0, 0)
        os.chdir(question["folder"])
        os.environ.update(question["environment"])
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = used + question["megabytes"] * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        for number, name in ((1, "out"), (2, "err")):
            file = os.open(question[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(file, number)
        encoding = question["encoding"]
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "wb"), encoding=encoding)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "wb"), encoding, "backslashreplace")
        code = _exit_code(question["arguments"])
    finally:
        os._exit(code)


def _exit_code(arguments: list[str]) -> int:
    """Run the command line and all that an interpreter does at its end, save freeing memory."""
    from omit.cli.main import main as run_omit

    code = ESCAPED
    try:
        run_omit(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    for ending in (threading._shutdown, atexit._run_exitfuncs, sys.stdout.flush):  # type: ignore[attr-defined]  # private
        try:
            ending()
        except BaseException:
            traceback.print_exc()
            code = ESCAPED
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    main()
