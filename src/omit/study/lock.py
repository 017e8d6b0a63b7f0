"""One run at a time on a store.

The operating system holds the lock for as long as the process that took it lives, however it ends,
so a lock never has to be removed by hand. The lock file says who holds it, for the message.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from omit.errors import InvalidInput

NAME = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a store while the block runs.

    Raises
    ------
    InvalidInput
        If another run holds it.
    OSError
        If the lock file cannot be written.
    """
    import fcntl

    handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InvalidInput(
                f"The store {folder} is in use by {_holder(handle)}; wait for it to end, stop "
                "it, or name another store."
            ) from error
        os.ftruncate(handle, 0)
        os.write(handle, _owner())
        yield
    finally:
        os.close(handle)


def _owner() -> bytes:
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return json.dumps({"process": os.getpid(), "host": socket.gethostname(), "since": now}).encode()


def _holder(handle: int) -> str:
    try:
        said = json.loads(os.pread(handle, 1000, 0))
        return f"process {said['process']} on {said['host']} since {said['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another run"
