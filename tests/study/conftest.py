"""What tests of studies share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def _threads() -> Iterator[None]:
    """Let linear algebra have all its threads: that a study takes them away is what is tested."""
    with threadpool_limits(limits=os.cpu_count(), user_api="blas"):
        yield


@pytest.fixture(autouse=True)
def _interruptible() -> None:
    """Let Ctrl-C through, which a job in the background of a shell was started without."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
