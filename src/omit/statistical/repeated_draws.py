"""Draws with replacement: how often entries are drawn, and the curve of an answer given that."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from omit._numeric import FloatArray
from omit.statistical.distribution import Distribution
from omit.statistical.hockey import Bounds
from omit.statistical.sums import sum_curve_of_groups

MOST_PROFILES = 3_000


def positive_binomial(trials: int, p: float, rng: np.random.Generator) -> int:
    """Return a binomial number, given that it is not zero: by its first success."""
    level = rng.random() * -math.expm1(trials * math.log1p(-p)) if p < 1 else 0.0
    first = min(math.floor(math.log1p(-level) / math.log1p(-p)), trials - 1) if p < 1 else 0
    return 1 + int(rng.binomial(trials - 1 - first, p))


def repeated_delta(own: int, profile: Mapping[int, int], p: float, epsilon: FloatArray) -> Bounds:
    """Return bounds on the curve given that the critical entry counts `own` times.

    `profile` says how many others count once, twice and so on.
    """
    if own == 0:
        return np.zeros(len(epsilon)), np.zeros(len(epsilon))
    others = [
        (Distribution([0.0, float(times)], [1 - p, p]), count)
        for times, count in profile.items()
        if count
    ]
    curve = sum_curve_of_groups(others, [0.0, float(own)], epsilon)
    return curve.lower, curve.delta


def _partitions(total: int, largest: int) -> Iterator[Counter[int]]:
    if total == 0:
        yield Counter()
        return
    for first in range(min(total, largest), 0, -1):
        for rest in _partitions(total - first, first):
            yield rest + Counter({first: 1})


def count_profiles(size: int) -> int:
    """Return how many profiles there are of `size` draws: partitions of every number up to it."""
    ways = [1] + [0] * size
    for part in range(1, size + 1):
        for total in range(part, size + 1):
            ways[total] += ways[total - part]
        if ways[-1] > MOST_PROFILES:
            return ways[-1]
    return sum(ways)


def profiles(n: int, size: int) -> Iterator[tuple[int, Counter[int], float]]:
    """Yield how often the critical entry is drawn, how many others how often, and how likely."""
    for own in range(size + 1):
        left = size - own
        for profile in _partitions(left, left):
            different = sum(profile.values())
            if different > n - 1:
                continue
            ways = math.comb(size, own) * math.factorial(left) * math.perm(n - 1, different)
            alike = math.prod(
                math.factorial(times) ** count * math.factorial(count)
                for times, count in profile.items()
            )
            yield own, profile, ways // alike / n**size
