"""Local sensitivities of a quantile at every distance, from differences of sorted records.

Exchange `m` records, then one more: that one can move the quantile by as much as two sorted records
differ that are `m + 1` ranks apart, with the quantile's rank at or between theirs (one rank more
where two records are averaged, and half as much). With gaps `g` and `h` in rank to the two sides
of the quantile that is `m = g + h - 1`, and nothing moves a quantile further (Nissim, Raskhodnikova
and Smith 2007, Section 3.1; the documentation, "Medians and means from samples", has the proof).

Each function takes what `order.outward` returns.
"""

from __future__ import annotations

import math

import numpy as np

from omit._compile import compiled
from omit.mechanisms.order import Around


@compiled
def largest_difference(around: Around, distance: int) -> float:
    """Return the largest difference of two records whose gaps add up to at most `distance + 1`."""
    left_values, left_gaps, right_values, right_gaps = around
    largest, b = 0.0, len(right_values) - 1
    for a in range(len(left_values)):
        while b >= 0 and left_gaps[a] + right_gaps[b] > distance + 1:
            b -= 1
        if b < 0:
            break
        largest = max(largest, right_values[b] - left_values[a])
    return largest


@compiled
def smallest_distance(around: Around, above: float) -> float:
    """Return the smallest distance at which two records differ by more than `above`, or infinity.

    That is how many records must be exchanged before the local sensitivity exceeds it.
    """
    left_values, left_gaps, right_values, right_gaps = around
    smallest, b = math.inf, len(right_values)
    for a in range(len(left_values)):
        while b > 0 and right_values[b - 1] - left_values[a] > above:
            b -= 1
        if b < len(right_values):
            smallest = min(smallest, max(left_gaps[a] + right_gaps[b] - 1.0, 0.0))
    return smallest


@compiled
def discounted(left: float, left_gap: float, right: float, right_gap: float, beta: float) -> float:
    """Return the difference of two records, discounted by their distance."""
    return math.exp(-beta * max(left_gap + right_gap - 1.0, 0.0)) * (right - left)


@compiled
def largest_discounted(around: Around, beta: float) -> float:
    """Return the largest discounted difference of a record to the left and one to the right.

    The farther out the left record, the nearer the right one that goes best with it: the ratio
    `(w' - v)/(w - v)` for `w' > w` falls as `v` falls. So the best partner of the middle record
    splits the partners of the others: O(n log n). Only the pair of gaps (0, 0), whose distance
    is not -1 but 0, is an exception; the first left record is compared with all others.
    """
    left_values, left_gaps, right_values, right_gaps = around
    largest = 0.0
    # Powers of two find a good one quickly, and no pair so far apart that even the whole range,
    # discounted, is smaller has to be looked at.
    step = 1
    while step <= max(len(left_values), len(right_values)):
        a, b = min(step, len(left_values)) - 1, min(step, len(right_values)) - 1
        for i, j in ((a, 0), (0, b), (a, b)):
            found = discounted(left_values[i], left_gaps[i], right_values[j], right_gaps[j], beta)
            largest = max(largest, found)
        step *= 2
    lefts, rights = len(left_values), len(right_values)
    if largest > 0 and beta > 0:
        reach = math.log((right_values[-1] - left_values[-1]) / largest) / beta + 1.0
        reach = reach * (1 + 1e-9) + 1e-9
        lefts = max(1, int(np.searchsorted(left_gaps, reach, side="right")))
        rights = max(1, int(np.searchsorted(right_gaps, reach, side="right")))
    for b in range(rights):
        found = discounted(left_values[0], left_gaps[0], right_values[b], right_gaps[b], beta)
        largest = max(largest, found)
    # Beyond the quantile's own records the discount is a product, which is quicker to compare.
    discounts = np.exp(-beta * right_gaps[:rights])
    # Left records still to be done, and between which right records their partners are.
    todo = np.empty((130, 4), dtype=np.int64)
    todo[0] = (1, lefts - 1, 0, rights - 1)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        start, end, nearest, farthest = todo[waiting]
        if start > end:
            continue
        middle = (start + end) // 2
        best, partner, left = -1.0, nearest, left_values[middle]
        for b in range(nearest, farthest + 1):
            found = discounts[b] * (right_values[b] - left)
            if found > best:
                best, partner = found, b
        found = discounted(
            left, left_gaps[middle], right_values[partner], right_gaps[partner], beta
        )
        largest = max(largest, found)
        todo[waiting] = (start, middle - 1, partner, farthest)
        todo[waiting + 1] = (middle + 1, end, nearest, partner)
        waiting += 2
    return largest
