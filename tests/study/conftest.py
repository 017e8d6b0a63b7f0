"""What tests of studies share."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(autouse=True)
def _interruptible() -> None:
    """Let Ctrl-C through, which a job in the background of a shell was started without."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
