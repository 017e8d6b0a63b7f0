"""Which records make a quantile, and how far each other value is from them.

A quantile here is the mean of the records of two neighbouring ranks, `low` and `high`: the same
rank twice, except for the median of an even number of records, which is the mean of the middle two.
The `q`-quantile of `n` records otherwise is the record of rank `ceil(q n)`, the smallest value with
at least a share of `q` of the records up to it.

Sensitivities look at the sorted records to both sides of these ranks. Equal records need to be
looked at only once, so all of it works on value counts.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray
from omit.errors import InvalidInput

MEDIAN = 0.5
# A share times a number of records is whole up to rounding, or meant to be.
_ROUNDING = 1e-9

Around: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""The values to the left of a quantile and their gaps in rank, and the same to the right."""


def checked_share(quantile: float) -> float:
    """Return a share strictly between 0 and 1, or refuse.

    Examples
    --------
    >>> checked_share(0.25)
    0.25
    """
    share = _validate.finite("quantile", quantile)
    if not 0 < share < 1:
        raise InvalidInput(f"Expected quantile={share:g} strictly between 0 and 1.")
    return share


def spacing(lower: float, upper: float) -> float:
    """Return how far apart neighbouring floating-point numbers within bounds can be.

    The mean of two such numbers is rounded by up to half of it, so one exchange moves a rounded
    mean by up to this much more than an exact one.

    Examples
    --------
    >>> spacing(0.0, 1.0), spacing(6e15, 6e15 + 1000)
    (2.220446049250313e-16, 1.0)
    """
    return float(np.spacing(max(abs(lower), abs(upper))))


@compiled
def quantile_ranks(share: float, size: int) -> tuple[int, int]:
    """Return the two ranks, from 1 on, whose records make the quantile.

    Examples
    --------
    >>> quantile_ranks(0.5, 5), quantile_ranks(0.5, 6), quantile_ranks(0.9, 10)
    ((3, 3), (3, 4), (9, 9))
    """
    if share == MEDIAN and size % 2 == 0:
        return size // 2, size // 2 + 1
    rank = math.ceil(share * size - _ROUNDING)
    rank = min(max(rank, 1), size)
    return rank, rank


@compiled
def outward(
    values: FloatArray,
    counts: NDArray[np.int64],
    share: float,
    lower: float,
    upper: float,
    padded: bool,
) -> tuple[float, float, Around]:
    """Return the quantile, its weight, and the values to both sides with their gaps in rank.

    The first value on each side is the quantile's own record, at gap 0; the last one is the bound,
    beyond the last record, if `padded`. Among equal records the nearest counts. The weight of a
    difference is 1, and 1/2 where two records are averaged.
    """
    size = 0
    occurring = 0
    for count in counts:
        size += count
        occurring += count > 0
    low, high = quantile_ranks(share, size)
    left_values, left_gaps = np.empty(occurring + 1), np.empty(occurring + 1)
    right_values, right_gaps = np.empty(occurring + 1), np.empty(occurring + 1)
    # From the left, ranks up to each value, until the quantile is reached.
    first, before = 0, 0
    while before + counts[first] < low:
        before += counts[first]
        first += 1
    left_values[0], left_gaps[0] = values[first], 0.0
    lefts, rank = 1, before
    for index in range(first - 1, -1, -1):
        if counts[index] > 0:
            left_values[lefts], left_gaps[lefts] = values[index], low - rank
            lefts += 1
            rank -= counts[index]
    second, rank = first, before
    while rank + counts[second] < high:
        rank += counts[second]
        second += 1
    right_values[0], right_gaps[0] = values[second], 0.0
    rights = 1
    rank += counts[second]
    for index in range(second + 1, len(values)):
        if counts[index] > 0:
            right_values[rights], right_gaps[rights] = values[index], rank + 1 - high
            rights += 1
            rank += counts[index]
    if padded:
        left_values[lefts], left_gaps[lefts] = lower, low
        right_values[rights], right_gaps[rights] = upper, size + 1 - high
        lefts += 1
        rights += 1
    center = 0.5 * (values[first] + values[second])
    around = (
        left_values[:lefts],
        left_gaps[:lefts],
        right_values[:rights],
        right_gaps[:rights],
    )
    return center, 1.0 if low == high else 0.5, around
