"""Mean distances of records, in whole numbers, and the keep probabilities that follow from them.

Outlier scores add up the distances of a record to all others. Whoever does that with rounded
numbers scores by something that is no metric any more: far from zero, where sums cancel, by
anything at all, and all equal records jump together. So

- every distance is a whole number of small steps, and still a metric: a record's position on a
  line is rounded on its own, which looks at no other record, and the distance of two positions is
  exact;
- sums are whole numbers of any size, so nothing is lost and the order does not matter: scores are
  the same, bit for bit, on any processor and on any number of threads;
- a keep probability is rounded once, to the nearest floating-point number.

The exact probabilities, `DistanceTotals.deletion_probabilities`, have the guarantee of the mixture
bound as it stands. Rounding single probabilities has no safe side; what it can cost is known,
`OutlierScoreSuppression.rounding_cost`.

All distances have values in [0, 1]. Those of single numbers are divided by the width of the
declared bounds. For records of `d` numbers, with each column scaled to [-1, 1] by its bounds::

    euclidean   |x - y| / (2 sqrt(d))
    manhattan   the mean over the columns of |x_c - y_c| / 2
    discrete    0 if the records are equal, else 1

*The Euclidean distance* is a square root, and rounded roots need not obey the triangle inequality.
Let `f` be the root as computed, in steps and rounded to a whole number, off by at most `h` from the
true distance of the scaled records. Then `f + c` between different records, with `c >= 3h`, is a
metric again: `f(x,z) + c <= d(x,y) + d(y,z) + h + c <= f(x,y) + f(y,z) + 3h + c`, which is at most
`f(x,y) + c + f(y,z) + c`. It is largest between opposite corners, because every operation that it
takes is monotone; that value is the largest distance there can be. `c` is a few steps of 2^-50. The
Euclidean mean has to look at all pairs. It does so in blocks, so memory stays proportional to the
number of records, and on all cores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numba
import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, IntArray, as_array
from omit.data.column import Column
from omit.data.points import Points
from omit.data.values import AnyArray
from omit.errors import Refused

# Steps between the two bounds of a column: finer than the last digit of most positions.
STEPS = 2**52


@dataclass(frozen=True, eq=False)
class DistanceTotals:
    """For each value, or each record, the sum of its distances to all records, exactly.

    Parameters
    ----------
    totals : array of int
        Sums of whole distances, Python's integers. Read-only.
    whole : int
        The largest distance there can be, times the number of records.

    Examples
    --------
    >>> ages = Column.from_values([20, 20, 30, 60], bounds=(0, 100))
    >>> column_distances(ages, "discrete")
    DistanceTotals(totals=array([2, 3, 3], dtype=object), whole=4)
    """

    totals: AnyArray
    whole: int

    def __post_init__(self) -> None:
        self.totals.flags.writeable = False

    @property
    def means(self) -> FloatArray:
        """The mean distances, each in [0, 1] and correctly rounded."""
        return as_array(self.totals / self.whole)

    def deletion_probabilities(self, m: float, M: float) -> tuple[Fraction, ...]:
        """Return `m + (M - m) z` for every mean distance `z`, exactly.

        Examples
        --------
        >>> distances = DistanceTotals(np.array([0, 1, 3], dtype=object), whole=3)
        >>> [str(exact) for exact in distances.deletion_probabilities(0.25, 0.5)]
        ['1/4', '1/3', '1/2']
        """
        lowest, spread = Fraction(m), Fraction(M) - Fraction(m)
        return tuple(lowest + spread * Fraction(total, self.whole) for total in self.totals)

    def keep_probabilities(self, m: float, M: float) -> FloatArray:
        """Return one minus the deletion probabilities, each rounded to the nearest number.

        Examples
        --------
        >>> DistanceTotals(np.array([0, 1, 3], dtype=object), whole=3).keep_probabilities(0.1, 1.0)
        array([0.9, 0.6, 0. ])
        """
        most, spread = 1 - Fraction(m), Fraction(M) - Fraction(m)
        parts = max(most.denominator, spread.denominator)  # both are powers of two
        start = int(most * parts) * self.whole
        # The quotient of two of Python's integers is correctly rounded, however long they are.
        return as_array((start - int(spread * parts) * self.totals) / (parts * self.whole))


def column_distances(column: Column, distance: str) -> DistanceTotals:
    """Return the distances of each value of a column to all records.

    In one pass over the sorted values. Absolute differences are divided by the width of the
    declared bounds, so that they are at most 1.

    Raises
    ------
    Refused
        If the distance is not "discrete", or "absolute" on numbers.

    Examples
    --------
    >>> ages = Column.from_values([20, 20, 30, 60], bounds=(0, 100))
    >>> for distance in ("absolute", "discrete"):
    ...     print(column_distances(ages, distance).means)
    [0.125 0.125 0.275]
    [0.5  0.75 0.75]
    """
    counts = column.counts.astype(object)
    if distance == "discrete":
        return DistanceTotals(column.size - counts, column.size)
    if distance != "absolute" or column.is_text or column.bounds is None:
        kind = "text" if column.is_text else "single numbers"
        raise Refused(f"The {distance} distance is not defined for {kind}; use discrete.")
    lower, upper = column.bounds
    if lower == upper:
        return DistanceTotals(0 * counts, column.size)
    positions = whole_positions((as_array(column.values) - lower) / (upper - lower))
    return DistanceTotals(sorted_distance_sums(positions, counts), column.size * STEPS)


def whole_positions(shares: FloatArray) -> AnyArray:
    """Return shares of a width in whole steps, as Python's integers; each rounded on its own."""
    return as_array(np.rint(shares * STEPS)).astype(np.int64).astype(object)


def sorted_distance_sums(positions: AnyArray, counts: AnyArray) -> AnyArray:
    """Return for each of some sorted whole numbers the sum of its distances to all, by counts.

    Examples
    --------
    >>> whole = np.array([1, 2, 5], dtype=object)
    >>> sorted_distance_sums(whole, np.array([1, 1, 2], dtype=object))
    array([9, 7, 7], dtype=object)
    """
    below, weighted = np.cumsum(counts), np.cumsum(counts * positions)
    sums: AnyArray = positions * (2 * below - below[-1]) - 2 * weighted + weighted[-1]
    return sums


# Records whose sums are in the making, few enough for the first cache; the loop over them is the
# one that the compiler turns into vector instructions.
_ROWS_AT_A_TIME = 256
# Columns that are read together.
_COLUMNS_AT_A_TIME = 3
# A distance is `high * _HALF + low` steps of 2^-50, so that sums of either are exact as floats.
_STEPS_PER_UNIT = 2.0**50
_HALF = 2.0**26
# The most records, times the root of the number of columns, for sums that stay below 2^53.
_MOST = 2**27


def point_distances(points: Points, distance: str) -> DistanceTotals:
    """Return for each record its distances to all records, itself included.

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
        If the distance is none of these, or there are too many records for it.

    Examples
    --------
    >>> square = Points.from_rows([[0, 0], [0, 1], [1, 1], [1, 1]], bounds=(0, 1))
    >>> point_distances(square, "euclidean").means.round(4)
    array([0.6768, 0.5303, 0.4268, 0.4268])
    >>> point_distances(square, "manhattan").means
    array([0.625, 0.375, 0.375, 0.375])
    >>> point_distances(square, "discrete").means
    array([0.75, 0.75, 0.5 , 0.5 ])
    """
    if distance not in _DISTANCES:
        raise Refused(
            f"The {distance} distance is not defined for records of several numbers; use "
            f"{', '.join(list(_DISTANCES)[:-1])} or {list(_DISTANCES)[-1]}."
        )
    return _DISTANCES[distance](points)


def _euclidean(points: Points) -> DistanceTotals:
    if points.size * math.sqrt(points.dimensions) > _MOST:
        most = int(_MOST / math.sqrt(points.dimensions))
        raise Refused(
            f"Expected at most {most:,} records of {points.dimensions} columns for the Euclidean "
            "distance; use manhattan."
        )
    group, counts, first = _groups(points)
    different = np.zeros((_padded(points.dimensions), len(counts)))
    different[: points.dimensions] = points.scaled[:, first]
    high, low = np.empty(len(counts)), np.empty(len(counts))
    weights = as_array(counts)

    def add_up(start: int) -> None:
        stop = min(start + _ROWS_AT_A_TIME, len(counts))
        _distance_sums(different, weights, start, stop, high, low)

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
    more = _triangle_steps(points.dimensions)
    sums = int(_HALF) * high.astype(np.int64).astype(object) + low.astype(np.int64).astype(object)
    totals = sums + more * (points.size - counts).astype(object)
    largest = round(math.sqrt(4.0 * points.dimensions) * _STEPS_PER_UNIT) + more
    return DistanceTotals(totals[group], points.size * largest)


def _triangle_steps(dimensions: int) -> int:
    """Return what is added to every rounded distance, three times what it can be off.

    Of the relative error `u = 2^-53`, a difference has one, its square three, and a sum of `d`
    of them `d + 2`; the root halves that and adds its own. A distance is at most `2 sqrt(d)`,
    and is rounded to the nearest step at last.
    """
    relative = (dimensions + 4) / 2 * 2.0**-53 * 1.01
    off = 2 * math.sqrt(dimensions) * relative * _STEPS_PER_UNIT + 0.5
    return math.ceil(3 * off)


def _manhattan(points: Points) -> DistanceTotals:
    totals = np.zeros(points.size, dtype=object)
    ones = np.ones(points.size, dtype=object)
    for values in points.scaled:
        order = np.argsort(values, kind="stable")
        totals[order] += sorted_distance_sums(whole_positions(values[order] / 2), ones)
    return DistanceTotals(totals, points.size * points.dimensions * STEPS)


def _discrete(points: Points) -> DistanceTotals:
    group, counts, _ = _groups(points)
    return DistanceTotals((points.size - counts).astype(object)[group], points.size)


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
    columns: FloatArray,
    weights: FloatArray,
    start: int,
    stop: int,
    high: FloatArray,
    low: FloatArray,
) -> None:
    """Write the weighted sums of Euclidean distances of the records from `start` to `stop`.

    One record in each column of the matrix; the number of rows is a multiple of three. Every
    distance is split into two whole numbers, whose sums are exact.
    """
    size = stop - start
    dimensions, records = columns.shape
    last = dimensions - 3
    squares = np.zeros(size)
    highs, lows = np.zeros(size), np.zeros(size)
    for other in range(records):
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
            distance = math.sqrt(squares[i] + dx * dx + dy * dy + dz * dz)
            scaled = distance * (_STEPS_PER_UNIT / _HALF)
            whole = np.rint(scaled)
            highs[i] += weight * whole
            lows[i] += weight * np.rint((scaled - whole) * _HALF)
    high[start:stop] = highs
    low[start:stop] = lows


_DISTANCES: Mapping[str, Callable[[Points], DistanceTotals]] = MappingProxyType(
    {"euclidean": _euclidean, "manhattan": _manhattan, "discrete": _discrete}
)
