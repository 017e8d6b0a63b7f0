"""How far a sum of independent binomials is from a given number, on average.

With S the sum, m its mean and x the number, `|S - x| = S - x + 2 max(x - S, 0)`: only the chances
of values below x are needed, and they depend on nothing above. So the law is built up one binomial
at a time and cut off at x, and no part of it is an approximation; what is less probable than 1e-20
of a binomial's most probable value is left out.
"""

from __future__ import annotations

import math

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, IntArray

_NEGLIGIBLE = 1e-20


@compiled
def mean_distances(
    counts: IntArray, chances: FloatArray, starts: IntArray, numbers: IntArray
) -> FloatArray:
    """Return E|S - x| for groups of binomials, for several chances and numbers of each group.

    Parameters
    ----------
    counts : array
        The trials of every binomial.
    chances : array
        A row for every binomial: its chance in each of several sums.
    starts : array
        Where each group of binomials begins, and at last their number.
    numbers : array
        A row for every group: the number x beside each of its sums.

    Examples
    --------
    Two fair coins, and how far their heads are from 1 and from 0:

    >>> two, fair = np.array([2]), np.full((1, 2), 0.5)
    >>> mean_distances(two, fair, np.array([0, 1]), np.array([[1, 0]]))
    array([[0.5, 1. ]])
    """
    found = np.empty(numbers.shape)
    largest = numbers.max()
    law, longer = np.empty(largest + 1), np.empty(largest + 1)
    binomial = np.empty(counts.max() + 1)
    for group in range(len(numbers)):
        first, last = starts[group], starts[group + 1]
        for place in range(numbers.shape[1]):
            x, mean = numbers[group, place], 0.0
            for each in range(first, last):
                mean += counts[each] * chances[each, place]
            # The law of the sum so far is law[: high - low], for values from low below high.
            law[0], low, high = 1.0, 0, 1
            for each in range(first, last):
                n, p = counts[each], chances[each, place]
                if p <= 0.0:
                    continue
                if p >= 1.0:
                    low, high = low + n, high + n
                else:
                    smallest, values = _binomial(n, p, binomial)
                    reach = min(high + smallest + values - 1, x) - low - smallest
                    for value in range(max(reach, 0)):
                        longer[value] = 0.0
                    for value in range(high - low):
                        for more in range(min(values, reach - value)):
                            longer[value + more] += law[value] * binomial[more]
                    law, longer = longer, law
                    low, high = low + smallest, low + smallest + max(reach, 0)
                if low >= x:
                    break
            below = 0.0
            for value in range(low, min(high, x)):
                below += (x - value) * law[value - low]
            found[group, place] = max(mean - x + 2.0 * below, 0.0)
    return found


@compiled
def _binomial(n: int, p: float, law: FloatArray) -> tuple[int, int]:
    """Write the chances of the values that matter into `law`; return the first, and how many.

    From the most probable value outwards, each by its ratio to the one before.
    """
    odds = p / (1.0 - p)
    mode = min(n, math.floor((n + 1) * p))
    low, weight = mode, 1.0
    while low > 0 and weight > _NEGLIGIBLE:
        weight *= low / ((n - low + 1) * odds)
        low -= 1
    law[mode - low] = 1.0
    total, weight = 1.0, 1.0
    for value in range(mode, low, -1):
        weight *= value / ((n - value + 1) * odds)
        law[value - 1 - low] = weight
        total += weight
    high, weight = mode, 1.0
    while high < n and weight > _NEGLIGIBLE:
        weight *= (n - high) * odds / (high + 1)
        high += 1
        law[high - low] = weight
        total += weight
    for value in range(high - low + 1):
        law[value] /= total
    return low, high - low + 1
