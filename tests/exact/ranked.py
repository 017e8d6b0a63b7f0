"""Choices of a quantile among points, by the definition: what tests hold the package against."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from omit._numeric import FloatArray, IntArray
from omit.exact.choice import Choice


def scores(counts: Sequence[int], share: float) -> FloatArray:
    """Return minus the distance of the wanted rank from the ranks of each point.

    `counts` has the number of records at every point of the lattice.
    """
    ends = np.cumsum(counts)
    wanted = share * ends[-1]
    starts = ends - np.asarray(counts)
    return np.asarray(-np.maximum(np.maximum(starts - wanted, wanted - ends), 0.0))


def chosen(scored: FloatArray, scale: float, flips: bool) -> FloatArray:
    """Return the probability of each point, for permute-and-flip in rational numbers."""
    accepted = np.exp((scored - scored.max()) / scale)
    if not flips:
        return np.asarray(accepted / accepted.sum())
    p = [Fraction(each) for each in accepted.tolist()]
    found = []
    for winner, own in enumerate(p):
        product = [Fraction(1)]  # the coefficients of Π (1 - t p_j)
        for other, rejected in enumerate(p):
            if other != winner:
                padded = [*product, Fraction(0)]
                product = [
                    one - rejected * before
                    for one, before in zip(padded, [Fraction(0), *product], strict=True)
                ]
        found.append(own * sum(each / (power + 1) for power, each in enumerate(product)))
    return np.array([float(each) for each in found])


def expected_error(
    left: Sequence[int], points: IntArray, errors: FloatArray, choice: Choice
) -> float:
    """Return the expected error of a choice by the definition, with records at these points."""
    everywhere = np.zeros(len(errors), dtype=np.int64)
    everywhere[points] = left
    law = chosen(scores(everywhere.tolist(), choice.share), choice.scale, choice.flips)
    return float(law @ errors)


def ways_to_keep(
    counts: Sequence[int], keep: Sequence[float]
) -> Iterator[tuple[tuple[int, ...], float, float]]:
    """Yield what can be left of the counts, its probability, and its number of subsets."""
    for left in itertools.product(*(range(count + 1) for count in counts)):
        probability, subsets = 1.0, 1.0
        for count, kept, rate in zip(counts, left, keep, strict=True):
            ways = math.comb(count, kept)
            subsets *= ways
            probability *= ways * rate**kept * (1 - rate) ** (count - kept)
        yield left, probability, subsets


def expected_after(
    counts: Sequence[int],
    keep: Sequence[float],
    error: Callable[[tuple[int, ...]], float],
    size: int | None = None,
) -> float:
    """Return the mean of an error over all that can be left, or over all samples of one size."""
    total = weight = 0.0
    for left, probability, subsets in ways_to_keep(counts, keep):
        if size is None and probability > 0:
            total += probability * error(left)
            weight += probability
        elif size is not None and sum(left) == size:
            total += subsets * error(left)
            weight += subsets
    return total / weight
