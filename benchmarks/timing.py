"""How long something takes, for all benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(call: Callable[[], object], repetitions: int = 3) -> float:
    """Return the shortest time of several runs: all that makes one longer is not the code's."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
