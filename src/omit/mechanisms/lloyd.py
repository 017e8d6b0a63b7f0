"""Lloyd's iterations with noise, compiled.

Columns are contiguous and records are taken in blocks that stay in the processor's first cache, so
that every inner loop runs over records and is vectorised. Columns are padded with zeros to a
multiple of three, the number taken in one pass.

Coordinates are added up in whole steps, rounded record by record, so that every sum is exact in
floating point: one record changes a sum by its own coordinate and nothing else.
"""

from __future__ import annotations

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray

# Records in a block: three columns and three buffers of this many numbers fit the first cache.
_BLOCK = 512
_AT_ONCE = 3
_LANES = 8
# Steps of a coordinate in [0, 1]; sums of 2^27 records stay below 2^53 of them.
_STEPS = 2.0**26
MOST_RECORDS = 2**27


def padded(columns: FloatArray) -> FloatArray:
    """Return the columns, followed by columns of zeros up to a multiple of three.

    Examples
    --------
    >>> padded(np.ones((2, 4))).shape
    (3, 4)
    """
    rows, size = columns.shape
    wide = np.zeros((-(-rows // _AT_ONCE) * _AT_ONCE, size))
    wide[:rows] = columns
    return wide


@compiled
def noisy_lloyd(
    columns: FloatArray, starts: FloatArray, noise: FloatArray, smallest: float
) -> FloatArray:
    """Return the centres after all iterations.

    Parameters
    ----------
    columns : array
        Padded columns of scaled records.
    starts : array
        The first centres, one in each row.
    noise : array
        What is added, by iteration and cluster: to the sum of every column, then to the count.
    smallest : float
        A cluster whose noisy count is smaller, or 0, keeps its centre.
    """
    size = columns.shape[1]
    iterations, k, last = noise.shape
    dimensions = last - 1
    centres = np.zeros((k, columns.shape[0]))
    centres[:, :dimensions] = starts
    totals = np.empty(dimensions)
    for j in range(dimensions):
        totals[j] = np.rint(columns[j] * _STEPS).sum()
    part, nearest, labels = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    sums, counts = np.empty_like(centres), np.empty(k)
    for step in range(iterations):
        sums[:], counts[:] = 0.0, 0.0
        halves = _half_squares(centres)
        for start in range(0, size, _BLOCK):
            taken = min(_BLOCK, size - start)
            _assign(columns, centres, halves, start, taken, part, nearest, labels)
            _add(columns, start, taken, labels, sums, counts)
        # What the other clusters leave is the first one's.
        counts[0] = size - counts[1:].sum()
        for j in range(dimensions):
            sums[0, j] = totals[j] - sums[1:, j].sum()
        for cluster in range(k):
            count = counts[cluster] + noise[step, cluster, dimensions]
            if count >= smallest and count != 0:
                for j in range(dimensions):
                    centre = (sums[cluster, j] / _STEPS + noise[step, cluster, j]) / count
                    centres[cluster, j] = min(1.0, max(-1.0, centre))
    return centres[:, :dimensions].copy()


@compiled
def mean_square_distance(columns: FloatArray, given: FloatArray) -> float:
    """Return the mean squared distance of all records to their nearest centre."""
    size = columns.shape[1]
    centres = np.zeros((len(given), columns.shape[0]))
    centres[:, : given.shape[1]] = given
    halves = _half_squares(centres)
    part, nearest, labels = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    total = 0.0
    for start in range(0, size, _BLOCK):
        taken = min(_BLOCK, size - start)
        _assign(columns, centres, halves, start, taken, part, nearest, labels)
        # What was compared lacks the record's own square, and would cancel with it.
        for i in range(taken):
            label, square = int(labels[i]), 0.0
            for j in range(columns.shape[0]):
                square += (columns[j, start + i] - centres[label, j]) ** 2
            total += square
    mean: float = total / size
    return mean


@compiled
def _half_squares(centres: FloatArray) -> FloatArray:
    halves = np.empty(len(centres))
    for cluster in range(len(centres)):
        halves[cluster] = 0.5 * (centres[cluster] * centres[cluster]).sum()
    return halves


@compiled
def _assign(
    columns: FloatArray,
    centres: FloatArray,
    halves: FloatArray,
    start: int,
    taken: int,
    part: FloatArray,
    nearest: FloatArray,
    labels: FloatArray,
) -> None:
    """Write into `labels` which centre is nearest to each record of the block.

    Compared are half the squared distances without the record's own half square.
    """
    wide = columns.shape[0]
    final = wide - _AT_ONCE
    for i in range(taken):
        nearest[i] = np.inf
    for cluster in range(len(centres)):
        half, label = halves[cluster], float(cluster)
        for i in range(taken):
            part[i] = half
        for j in range(0, final, _AT_ONCE):
            x, y, z = (
                columns[j, start : start + taken],
                columns[j + 1, start : start + taken],
                columns[j + 2, start : start + taken],
            )
            u, v, w = centres[cluster, j], centres[cluster, j + 1], centres[cluster, j + 2]
            for i in range(taken):
                part[i] -= u * x[i] + v * y[i] + w * z[i]
        x, y, z = (
            columns[final, start : start + taken],
            columns[final + 1, start : start + taken],
            columns[final + 2, start : start + taken],
        )
        u, v, w = centres[cluster, final], centres[cluster, final + 1], centres[cluster, final + 2]
        for i in range(taken):
            distance = part[i] - u * x[i] - v * y[i] - w * z[i]
            closer = distance < nearest[i]
            nearest[i] = distance if closer else nearest[i]
            # As floats, so that the choice is as wide as the numbers and vectorises with them.
            labels[i] = label if closer else labels[i]


@compiled
def _add(
    columns: FloatArray,
    start: int,
    taken: int,
    labels: FloatArray,
    sums: FloatArray,
    counts: FloatArray,
) -> None:
    """Add the block's records to the sums, in steps, and counts of all clusters but the first.

    Sums are taken in lanes, which vectorise though every operation keeps its place.
    """
    first, second, third = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    whole = taken - taken % _LANES
    for cluster in range(1, len(counts)):
        label, members = float(cluster), 0
        for i in range(taken):
            members += labels[i] == label
        if members == 0:
            continue
        counts[cluster] += members
        for j in range(0, columns.shape[0], _AT_ONCE):
            x, y, z = (
                columns[j, start : start + taken],
                columns[j + 1, start : start + taken],
                columns[j + 2, start : start + taken],
            )
            first[:], second[:], third[:] = 0.0, 0.0, 0.0
            for i in range(0, whole, _LANES):
                for lane in range(_LANES):
                    inside = labels[i + lane] == label
                    first[lane] += np.rint(x[i + lane] * _STEPS) if inside else 0.0
                    second[lane] += np.rint(y[i + lane] * _STEPS) if inside else 0.0
                    third[lane] += np.rint(z[i + lane] * _STEPS) if inside else 0.0
            for i in range(whole, taken):
                if labels[i] == label:
                    first[0] += np.rint(x[i] * _STEPS)
                    second[0] += np.rint(y[i] * _STEPS)
                    third[0] += np.rint(z[i] * _STEPS)
            sums[cluster, j] += first.sum()
            sums[cluster, j + 1] += second.sum()
            sums[cluster, j + 2] += third.sum()
