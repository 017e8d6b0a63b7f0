"""How far each record is from all others on average, for records with several numbers.

Every distance is a metric with values in [0, 1]. With each column scaled to [-1, 1] by its declared
bounds, and `d` columns:

    euclidean   |x - y| / (2 sqrt(d))
    manhattan   the mean over the columns of |x_c - y_c| / 2
    discrete    0 if the records are equal, else 1

The Euclidean mean has to look at all pairs. It does so in blocks, so memory stays proportional to
the number of records, and on all cores. Every sum is taken in an order that depends on neither the
number of threads nor the processor, so the scores are the same, bit for bit, wherever they were
computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from types import MappingProxyType

import numba
import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.data.casting import IntArray
from omit.data.points import Points
from omit.errors import Refused

# Records whose sums are in the making, few enough for the first cache; the loop over them is the
# one that the compiler turns into vector instructions.
_ROWS_AT_A_TIME = 256
# Records after which a partial sum is put aside, which keeps rounding errors small.
_PARTIAL_SUM = 1024
# Columns that are read together.
_COLUMNS_AT_A_TIME = 3


@lru_cache(maxsize=8)
def mean_point_distances(points: Points, distance: str) -> FloatArray:
    """Return for each record its mean distance to all records, itself included. Read-only.

    The last few results are remembered, since suppressions with many `m` and `M` share them.

    Parameters
    ----------
    points : Points
        The records.
    distance : {"euclidean", "manhattan", "discrete"}
        Euclidean takes time proportional to the square of the number of different records,
        the others `d n log n`.

    Raises
    ------
    Refused
        If the distance is none of these.

    Examples
    --------
    >>> square = Points.from_rows([[0, 0], [0, 1], [1, 1], [1, 1]], bounds=(0, 1))
    >>> mean_point_distances(square, "euclidean").round(4)
    array([0.6768, 0.5303, 0.4268, 0.4268])
    >>> mean_point_distances(square, "manhattan")
    array([0.625, 0.375, 0.375, 0.375])
    >>> mean_point_distances(square, "discrete")
    array([0.75, 0.75, 0.5 , 0.5 ])
    """
    if distance not in _MEANS:
        raise Refused(
            f"The {distance} distance is not defined for records of several numbers; use "
            f"{', '.join(list(_MEANS)[:-1])} or {list(_MEANS)[-1]}."
        )
    # A rounding error must not carry a mean of ones above one.
    means = np.minimum(_MEANS[distance](points), 1.0)
    means.flags.writeable = False
    return means


def _euclidean(points: Points) -> FloatArray:
    group, counts, first = _groups(points)
    different = np.zeros((_padded(points.dimensions), len(counts)))
    different[: points.dimensions] = points.scaled[:, first]
    totals = np.empty(len(counts))
    weights = as_array(counts)

    def add_up(start: int) -> None:
        stop = min(start + _ROWS_AT_A_TIME, len(counts))
        _distance_sums(different, weights, start, stop, totals)

    # Threads of our own and not numba's, which must not be mixed with forked processes.
    cores = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]  # set at import
    with ThreadPoolExecutor(cores) as threads:
        blocks = [threads.submit(add_up, start) for start in range(0, len(counts), _ROWS_AT_A_TIME)]
        try:
            for block in blocks:
                block.result()
        except BaseException:  # an interrupt must not wait for minutes of work
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return as_array(totals[group] / (points.size * 2 * math.sqrt(points.dimensions)))


def _manhattan(points: Points) -> FloatArray:
    totals = np.zeros(points.size)
    for values in points.scaled:
        order = np.argsort(values, kind="stable")
        gaps = np.diff(values[order])
        below = np.arange(1, points.size)
        # Each gap is crossed on the way to all records below, or to all above. Only sums of
        # what is not negative: nothing cancels.
        sums = np.zeros(points.size)
        sums[1:] += np.cumsum(gaps * below)
        sums[:-1] += np.cumsum((gaps * (points.size - below))[::-1])[::-1]
        totals[order] += sums
    return as_array(totals / (points.size * 2 * points.dimensions))


def _discrete(points: Points) -> FloatArray:
    group, counts, _ = _groups(points)
    return as_array(1 - (counts / points.size)[group])


def _groups(points: Points) -> tuple[IntArray, IntArray, IntArray]:
    """Return each record's group of equal ones, the sizes of the groups and a member of each."""
    counts = np.bincount(points.group)
    member = np.empty(len(counts), dtype=np.int64)
    member[points.group] = np.arange(points.size)
    return points.group, counts, member


def _padded(columns: int) -> int:
    return -(-columns // _COLUMNS_AT_A_TIME) * _COLUMNS_AT_A_TIME


@compiled
def _distance_sums(
    columns: FloatArray, weights: FloatArray, start: int, stop: int, totals: FloatArray
) -> None:
    """Write the weighted sums of Euclidean distances of the records from `start` to `stop`.

    One record in each column of the matrix; the number of rows is a multiple of three.
    """
    size = stop - start
    dimensions, records = columns.shape
    last = dimensions - 3
    squares, partial = np.zeros(size), np.empty(size)
    for i in range(start, stop):
        totals[i] = 0.0
    for first in range(0, records, _PARTIAL_SUM):
        partial[:] = 0.0
        for other in range(first, min(first + _PARTIAL_SUM, records)):
            if last:
                squares[:] = 0.0
            for c in range(0, last, 3):
                x, y, z = columns[c, other], columns[c + 1, other], columns[c + 2, other]
                for i in range(size):
                    dx = columns[c, start + i] - x
                    dy = columns[c + 1, start + i] - y
                    dz = columns[c + 2, start + i] - z
                    squares[i] += dx * dx + dy * dy + dz * dz
            weight = weights[other]
            x, y, z = columns[last, other], columns[last + 1, other], columns[last + 2, other]
            for i in range(size):
                dx = columns[last, start + i] - x
                dy = columns[last + 1, start + i] - y
                dz = columns[last + 2, start + i] - z
                partial[i] += weight * math.sqrt(squares[i] + dx * dx + dy * dy + dz * dz)
        for i in range(size):
            totals[start + i] += partial[i]


_MEANS: Mapping[str, Callable[[Points], FloatArray]] = MappingProxyType(
    {"euclidean": _euclidean, "manhattan": _manhattan, "discrete": _discrete}
)
