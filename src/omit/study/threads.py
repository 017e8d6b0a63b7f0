"""One thread for everything that computes.

Sums over several threads are added in another order than over one, which changes the last bits of
a result. A study uses its cores by computing several cells at once; a cell has one thread, in the
process, in a pool and on a cluster alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra and compiled loops use one thread within the block."""
    import numba
    import scipy.linalg  # noqa: F401  (a library has to be loaded to be limited)
    from threadpoolctl import threadpool_limits

    threads = numba.get_num_threads()
    with threadpool_limits(limits=1):
        numba.set_num_threads(1)
        try:
            yield
        finally:
            numba.set_num_threads(threads)


def limit_threads() -> None:
    """Let linear algebra and compiled loops use one thread, in this thread and for good."""
    import numba
    import scipy.linalg  # noqa: F401  (as above)
    from threadpoolctl import threadpool_limits

    numba.set_num_threads(1)  # loads a library that has threads of its own, to be limited too
    threadpool_limits(limits=1)
