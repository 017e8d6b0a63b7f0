"""Draws from groups of entries: listed with their odds, or averaged with an interval.

How many entries of each group a sample has is multivariate hypergeometric. An average over all
draws is taken exactly where these are few, and else estimated with an interval that holds for any
number of draws (Maurer and Pontil 2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from omit._numeric import FloatArray, share_of
from omit.errors import InvalidInput

_MOST_COMPOSITIONS = 5_000
CONFIDENCE = 0.99


def expected_over_draws(
    sizes: Sequence[int],
    drawn: int,
    delta: Callable[[tuple[int, ...]], tuple[FloatArray, FloatArray]],
    width: int,
    runs: int,
    rng: np.random.Generator | None,
    intervals: int = 1,
) -> tuple[FloatArray, FloatArray, bool]:
    """Return bounds on the average of `delta` over draws from groups, and whether all were listed.

    `delta` takes how many entries of each group were drawn and returns bounds in [0, 1]. If it is
    estimated, so many `intervals` hold together with the confidence stated.
    """
    low, high = np.zeros(width), np.zeros(width)
    if count_draws(sizes, drawn) <= _MOST_COMPOSITIONS:
        for composition, weight in draws(sizes, drawn):
            below, above = delta(composition)
            low += weight * below
            high += share_of(weight, above)
        return low, high, True
    if rng is None:
        raise InvalidInput(
            "There are too many ways to draw from these groups to list them; give a random "
            "generator (rng) to estimate the average."
        )
    samples = rng.multivariate_hypergeometric(list(sizes), drawn, size=runs, method="marginals")
    found = [delta(tuple(int(each) for each in row)) for row in samples]
    below, _ = empirical_interval(np.array([each[0] for each in found]), intervals)
    _, above = empirical_interval(np.array([each[1] for each in found]), intervals)
    return below, above, False


def count_draws(sizes: Sequence[int], drawn: int) -> int:
    """Return an upper bound on how many compositions there are."""
    ways = [min(size, drawn) + 1 for size in sizes if size > 0]
    return math.prod(sorted(ways)[:-1]) if ways else 1


def draws(sizes: Sequence[int], drawn: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield how many entries of each group a sample has, with multivariate hypergeometric odds.

    Examples
    --------
    >>> [(each, round(weight, 3)) for each, weight in draws([1, 2], 2)]
    [((0, 2), 0.333), ((1, 1), 0.667)]
    """
    total = math.comb(sum(sizes), drawn)

    def extend(rest: Sequence[int], left: int) -> Iterator[tuple[tuple[int, ...], int]]:
        if not rest:
            if left == 0:
                yield (), 1
            return
        for first in range(max(0, left - sum(rest[1:])), min(rest[0], left) + 1):
            for others, ways in extend(rest[1:], left - first):
                yield (first, *others), ways * math.comb(rest[0], first)

    for composition, ways in extend(list(sizes), drawn):
        # Whole numbers are divided exactly, however large.
        yield composition, ways / total


def empirical_interval(values: FloatArray, intervals: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return an interval for the mean of draws in [0, 1], valid for any number of draws.

    By the empirical Bernstein bound of Maurer and Pontil, on both sides, at `CONFIDENCE`, or, if
    several `intervals` have to hold together, at what leaves all of them that.

    Examples
    --------
    >>> low, high = empirical_interval(np.full((1000, 1), 0.25))
    >>> bool(low[0] < 0.25 < high[0]), round(float(high[0] - low[0]), 4)
    (True, 0.028)
    """
    runs = len(values)
    if runs < 2:
        raise InvalidInput(f"Expected at least two runs for an interval, got {runs}.")
    mean = values.mean(axis=0)
    level = math.log(4 * intervals / (1 - CONFIDENCE))
    spread = np.sqrt(2 * values.var(axis=0, ddof=1) * level / runs) + 7 * level / (3 * (runs - 1))
    return np.maximum(mean - spread, 0.0), np.minimum(mean + spread, 1.0)
