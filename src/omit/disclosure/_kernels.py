"""Compiled loops over pairs of profiles: combinations of the attributes that are not swapped.

A profile stands for all records that share it, so the loops are over different profiles and never
over pairs of records, and no matrix of pairs is ever held.
"""

from __future__ import annotations

import math

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, IntArray


@compiled
def _mismatches(profiles: IntArray, first: int, second: int) -> int:
    different = 0
    for place in range(profiles.shape[1]):
        different += profiles[first, place] != profiles[second, place]
    return different


@compiled
def donors_in_order(
    profiles: IntArray, counts: IntArray, epsilon: float, rng: np.random.Generator
) -> IntArray:
    """Return the donor of every record, for records in the order of their profiles."""
    kinds, width = profiles.shape
    levels = width + 1
    starts = np.zeros(kinds + 1, dtype=np.int64)
    for kind in range(kinds):
        starts[kind + 1] = starts[kind] + counts[kind]
    donors = np.empty(starts[kinds], dtype=np.int64)
    level_of = np.empty(kinds, dtype=np.int64)
    members = np.empty(kinds, dtype=np.int64)
    reached = np.empty(kinds, dtype=np.int64)
    first_member = np.empty(levels + 1, dtype=np.int64)
    number = np.empty(levels, dtype=np.int64)
    filled = np.empty(levels, dtype=np.int64)
    for kind in range(kinds):
        number[:] = 0
        filled[:] = 0
        for other in range(kinds):
            level = _mismatches(profiles, kind, other)
            level_of[other] = level
            number[level] += counts[other]
            filled[level] += 1
        # The profiles of each level side by side, with how many records there are up to each.
        first_member[0] = 0
        for level in range(levels):
            first_member[level + 1] = first_member[level] + filled[level]
            filled[level] = 0
        for other in range(kinds):
            level = level_of[other]
            place = first_member[level] + filled[level]
            members[place] = other
            before = reached[place - 1] if filled[level] > 0 else 0
            reached[place] = before + counts[other]
            filled[level] += 1
        number[0] -= 1  # not oneself
        for own in range(counts[kind]):
            best, best_level = -math.inf, -1
            for level in range(levels):
                if number[level] > 0:
                    # The largest of that many exponentials, in one draw.
                    log_level = math.log(1.0 - rng.random()) / number[level]
                    largest = -math.log(-math.expm1(log_level)) if log_level < 0.0 else math.inf
                    noisy = largest - 0.5 * epsilon * level / width
                    if noisy > best:
                        best, best_level = noisy, level
            pick = rng.integers(0, number[best_level])
            if best_level == 0:  # all of one's own profile
                donors[starts[kind] + own] = starts[kind] + pick + (pick >= own)
                continue
            low, high = first_member[best_level], first_member[best_level + 1] - 1
            while low < high:
                middle = (low + high) // 2
                if reached[middle] > pick:
                    high = middle
                else:
                    low = middle + 1
            before = reached[low - 1] if low > first_member[best_level] else 0
            donors[starts[kind] + own] = starts[members[low]] + pick - before
    return donors


@compiled
def hockey_stick(first: FloatArray, second: FloatArray, factor: float) -> float:
    """Return the sum of max(0, P - factor Q) over all answers of independent rows.

    `first[row, answer]` and `second[row, answer]` are the rows' laws under two databases.
    """
    rows, answers = first.shape
    total: float = 0.0
    digits = np.zeros(rows, dtype=np.int64)
    p = np.ones(rows + 1)
    q = np.ones(rows + 1)
    depth = 0
    while depth >= 0:
        if depth == rows:
            total += max(0.0, float(p[rows] - factor * q[rows]))
            depth -= 1
            continue
        if digits[depth] == answers:
            digits[depth] = 0
            depth -= 1
            continue
        answer = digits[depth]
        digits[depth] += 1
        p[depth + 1] = p[depth] * first[depth, answer]
        q[depth + 1] = q[depth] * second[depth, answer]
        if p[depth + 1] > 0.0:
            depth += 1
            if depth < rows:
                digits[depth] = 0
    return total
