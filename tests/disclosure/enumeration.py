"""Guarantees by listing everything: all tables, all neighbours, all answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from omit._numeric import IntArray

Law = Mapping[object, float]


def tables(cells: int, records: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Give all tables with so many records and no count above the largest."""
    for counts in itertools.product(range(largest + 1), repeat=cells):
        if sum(counts) == records:
            yield counts


def neighbours(counts: tuple[int, ...], largest: int) -> Iterator[tuple[int, ...]]:
    """Give all tables in which one record is in another cell."""
    for loses, gains in itertools.permutations(range(len(counts)), 2):
        if counts[loses] >= 1 and counts[gains] < largest:
            other = list(counts)
            other[loses] -= 1
            other[gains] += 1
            yield tuple(other)


def product(laws: list[Law]) -> dict[object, float]:
    """Return the law of independent answers side by side."""
    joint: dict[object, float] = {}
    for answers in itertools.product(*(law.items() for law in laws)):
        key = tuple(answer for answer, _ in answers)
        joint[key] = joint.get(key, 0.0) + math.prod(chance for _, chance in answers)
    return joint


def hockey_stick(first: Law, second: Law, epsilon: float) -> float:
    """Return the smallest delta with P <= e^epsilon Q + delta for all sets of answers."""
    factor = math.exp(epsilon)
    return math.fsum(
        max(0.0, chance - factor * second.get(answer, 0.0)) for answer, chance in first.items()
    )


def worst_delta(
    law: Callable[[int], Law], cells: int, records: int, largest: int, epsilon: float
) -> float:
    """Return delta of a mechanism that treats every cell alike and independently."""
    laws = [law(x) for x in range(largest + 1)]
    return max(
        (
            hockey_stick(
                product([laws[x] for x in counts]), product([laws[x] for x in other]), epsilon
            )
            for counts in tables(cells, records, largest)
            for other in neighbours(counts, largest)
        ),
        default=0.0,
    )


def draw_donors(
    records: IntArray, quasi: list[int], epsilon: float, rng: np.random.Generator
) -> IntArray:
    """Draw a donor for every record: the other one with the largest score plus exponential noise.

    This is permute-and-flip (Ding, Kifer et al. 2021), with minus the discrepancy as the score.
    """
    rest = np.delete(records, quasi, axis=1)
    differs = rest[:, None, :] != rest[None, :, :]
    discrepancy = differs.mean(axis=2) if rest.shape[1] else np.zeros(differs.shape[:2])
    noisy = rng.exponential(2 / epsilon, discrepancy.shape) - discrepancy
    np.fill_diagonal(noisy, -np.inf)
    return np.asarray(noisy.argmax(axis=1), dtype=np.int64)
