"""Who wins among noisy counts, by plain integration: what the tests hold the package against."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from omit.mechanisms.mode import Kind

DISTRIBUTIONS: dict[Kind, Any] = {
    "laplace": stats.laplace,
    "exponential": stats.expon,
    "gaussian": stats.norm,
    "gumbel": stats.gumbel_r,
}
# So many scales from the outermost counts no noise has a density above 1e-19.
_REACH = 45


@cache
def winning_probabilities(
    counts: tuple[int, ...], noise: Kind, scale: float, empty: int = 0
) -> tuple[float, ...]:
    """Return for each count the probability that it is the largest after noise.

    `empty` counts of zero take part too. The integral of the winner's density times the others'
    distribution functions is cut at the counts, where the noise has its kinks, and into pieces no
    longer than the scale.
    """
    x, weights = _points(sorted({*counts, 0}) if empty else sorted(set(counts)), scale)
    distribution = DISTRIBUTIONS[noise]
    below = {n: distribution.cdf(x - n, scale=scale) for n in {*counts, 0}}
    found = []
    for winner, count in enumerate(counts):
        others = [below[other] for index, other in enumerate(counts) if index != winner]
        chance = np.prod(others, axis=0) * below[0] ** empty
        found.append(float((weights * distribution.pdf(x - count, scale=scale) * chance).sum()))
    return tuple(found)


def _points(counts: Sequence[int], scale: float) -> tuple[Any, Any]:
    edges = [counts[0] - _REACH * scale, *counts, counts[-1] + _REACH * scale]
    nodes, weights = np.polynomial.legendre.leggauss(14)
    x, w = [], []
    for low, high in itertools.pairwise(edges):
        cuts = np.linspace(low, high, 1 + int(np.ceil((high - low) / scale)))
        half = np.diff(cuts)[:, None] / 2
        x.append((cuts[:-1, None] + half * (nodes + 1)).ravel())
        w.append((half * weights).ravel())
    return np.concatenate(x), np.concatenate(w)
