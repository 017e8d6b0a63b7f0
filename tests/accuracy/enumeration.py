"""Expected errors by going through every outcome of the omission, to hold the engines against.

Nothing here is shared with the package: binomial probabilities come from scipy, and what the noise
adds to one outcome is integrated directly, the clamp of the noisy count included.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from omit.mechanisms.mode import Kind
from tests.mechanisms.winning import DISTRIBUTIONS

# Outcomes rarer than this are left out.
_RARE = 1e-19


def wrong_mode(
    counts: Sequence[int],
    keep: Sequence[float],
    noise: Kind,
    scale: float,
    right: Sequence[int],
    empty: int = 0,
) -> float:
    """Return the probability that none of the `right` positions has the largest noisy count.

    For every outcome the winner's density is integrated against the others' distribution functions.
    Panels end at all counts, where the noise has its kinks, and near these are short against the
    scale of the noise, however narrow it is.
    """
    base, offset, weights = _nodes_of_noise(max(counts), noise, scale)
    law = DISTRIBUTIONS[noise]
    # Noise of hundreds of scales has no density left, and is clipped before e^x overflows.
    places = [
        np.clip((base - count + offset) / scale, -500.0, 500.0) for count in range(max(counts) + 1)
    ]
    below = [law.cdf(place) for place in places]
    density = [law.pdf(place) / scale for place in places]
    weights = weights * below[0] ** empty
    chances: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
    for left in itertools.product(*(range(n + 1) for n in counts)):
        chance = math.prod(
            math.comb(n, x) * k**x * (1 - k) ** (n - x)
            for x, n, k in zip(left, counts, keep, strict=True)
        )
        winners = tuple(sorted(left[position] for position in right))
        others = tuple(sorted(x for position, x in enumerate(left) if position not in right))
        chances[winners, others] = chances.get((winners, others), 0.0) + chance
    wins = 0.0
    for (winners, others), chance in chances.items():
        if chance > _RARE:
            lost = math.prod((below[x] for x in others), start=weights)
            for number, winner in enumerate(winners):
                rivals = (below[x] for index, x in enumerate(winners) if index != number)
                wins += chance * float((math.prod(rivals, start=lost) * density[winner]).sum())
    return 1 - wins


def _nodes_of_noise(
    largest: int, noise: Kind, scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return whole numbers, what to add to them, and weights, to integrate noise on the counts."""
    low, high = {
        "laplace": (-42.0, 46.0),
        "exponential": (0.0, 46.0),
        "gaussian": (-10.0, 10.5),
        "gumbel": (-5.0, 46.0),
    }[noise]
    counts = np.arange(largest + 1.0)
    steps = np.arange(low, high + 0.25, 0.5) * scale
    if (high - low) * scale < 1:
        # Nothing happens between the counts.
        base, edges = np.repeat(counts, len(steps) - 1), np.tile(steps, (len(counts), 1))
    else:
        around = counts if scale < 1 else counts[[0, -1]]
        cuts = np.concatenate([counts, *(count + steps for count in around)])
        edges = np.unique(cuts.round(13))[None]
        base = np.zeros(edges.shape[1] - 1)
    points, shares = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges, axis=1).reshape(-1, 1) / 2
    offset = edges[:, :-1].reshape(-1, 1) + half * (points + 1)
    return np.repeat(base, 20), offset.ravel(), (half * shares).ravel()


def outcomes_of_sum_and_number(
    values: Sequence[float], counts: Sequence[int], keep: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return every sum and number that can be left, with their probabilities first."""
    chance, total, number = np.ones(1), np.zeros(1), np.zeros(1)
    for value, n, k in zip(values, counts, keep, strict=True):
        left = np.arange(n + 1)
        chance = np.multiply.outer(chance, stats.binom.pmf(left, n, k)).ravel()
        total = np.add.outer(total, value * left).ravel()
        number = np.add.outer(number, left).ravel()
        likely = chance > _RARE
        chance, total, number = chance[likely], total[likely], number[likely]
    outcomes, which = np.unique(np.column_stack([total, number]), axis=0, return_inverse=True)
    merged = np.bincount(which.ravel(), weights=chance).astype(np.float64)
    return merged, outcomes[:, 0], outcomes[:, 1]


def two_sums_distance(
    total: float,
    number: float,
    kind: Literal["laplace", "gaussian"],
    scale: float,
    truth: float,
    width: float,
) -> float:
    """Return the expected distance of the mean by two sums of values in [0, width].

    By its definition: an integral over the noise of the second sum within one over that of the
    first, both cut where answer or noise have kinks.
    """
    s, d, t, z = total / width, number - total / width, truth / width, scale / width
    reach = z * (42.0 if kind == "laplace" else 9.5)
    steps = np.linspace(-1, 1, 15) ** 3 * reach
    nodes, weights = np.polynomial.legendre.leggauss(20)

    def rule(edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        edges = np.sort(np.clip(edges, -reach, reach), axis=-1)
        half = np.diff(edges, axis=-1)[..., None] / 2
        points = edges[..., :-1, None] + half * (nodes + 1)
        shape = (*edges.shape[:-1], -1)
        return points.reshape(shape), (half * weights).reshape(shape)

    ends = [0.0, t, 1.0, 1.0 - d]
    ends += [t * d / (1 - t)] if t < 1 else []
    first, first_weights = rule(np.concatenate([steps, np.array(ends) - s]))
    a = s + first
    kinks = [1 - a, np.zeros_like(a), a * (1 - t) / t if t > 0 else np.zeros_like(a)]
    fixed = np.tile(steps, (len(a), 1))
    second, second_weights = rule(np.column_stack([fixed, *(kink - d for kink in kinks)]))
    b = d + second
    answers = np.clip(a[:, None] / np.maximum(a[:, None] + b, 1.0), 0.0, 1.0)
    law = {"laplace": stats.laplace, "gaussian": stats.norm}[kind]
    inner = (second_weights * law.pdf(second, scale=z) * np.abs(answers - t)).sum(axis=1)
    return width * float((first_weights * law.pdf(first, scale=z)) @ inner)


class MeanByEnumeration:
    """The noisy mean `(S + Z1) / max(N + Z2, 1)` over every sum S and number N that can be left.

    Given S, N and Z2, the distance to the truth is that of one noise to a constant, which is
    closed form; what remains is one integral over Z2, cut where its integrand has kinks.
    """

    def __init__(
        self,
        values: Sequence[float],
        counts: Sequence[int],
        keep: Sequence[float],
        kind: Literal["laplace", "gaussian"],
        total_scale: float,
        count_scale: float,
        truth: float,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        self.kind, self.total_scale, self.count_scale = kind, total_scale, count_scale
        self.truth, self.bounds = truth, bounds
        self.chance, self.total, self.number = outcomes_of_sum_and_number(values, counts, keep)

    def expected(self) -> float:
        """Return the expected distance of the noisy mean to the truth.

        With bounds, that of an answer clipped to them: less by how far the answer is outside.
        """
        ends = [end for end in (self.truth, *(self.bounds or ())) if end != 0]
        noise, weights = self._count_noise(*(self.total / end for end in ends))
        size = np.maximum(self.number[:, None] + noise, 1.0)
        distance = self._beyond(self.truth, 1, size) + self._beyond(self.truth, -1, size)
        if self.bounds is not None:
            lower, upper = self.bounds
            distance -= self._beyond(upper, 1, size) + self._beyond(lower, -1, size)
        return float(self.chance @ (weights * distance / size).sum(axis=1))

    def _beyond(self, end: float, side: int, size: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much the noisy sum is expected beyond `end` times the size on one side."""
        away, scale = side * (self.total[:, None] - end * size), self.total_scale
        if self.kind == "laplace":
            return np.maximum(away, 0) + scale / 2 * np.exp(-np.abs(away) / scale)
        density = scale * np.exp(-0.5 * (away / scale) ** 2) / math.sqrt(2 * math.pi)
        return np.asarray(away * special.ndtr(away / scale) + density)

    def exceeds(self, distance: float) -> float:
        """Return the probability that the noisy mean is farther than this from the truth."""
        ends = (self.truth - distance, self.truth + distance)
        noise, weights = self._count_noise(*(self.total / end for end in ends))
        size = np.maximum(self.number[:, None] + noise, 1.0)
        distribution = {"laplace": stats.laplace, "gaussian": stats.norm}[self.kind]
        low, high = (end * size - self.total[:, None] for end in ends)
        outside = distribution.cdf(low, scale=self.total_scale) + distribution.sf(
            high, scale=self.total_scale
        )
        return float(self.chance @ (weights * outside).sum(axis=1))

    def _count_noise(
        self, *kinks: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return nodes of Z2 and their weights, cut where N + Z2 is 1 or one of `kinks`."""
        reach = self.count_scale * (42.0 if self.kind == "laplace" else 9.5)
        steps = np.linspace(-1, 1, 15) ** 3 * reach  # finer around 0, which is among them
        ones = np.ones_like(self.number)
        moving = [np.clip(size - self.number, -reach, reach) for size in (ones, *kinks)]
        fixed = np.tile(steps, (len(self.number), 1))
        edges = np.sort(np.column_stack([fixed, *moving]), axis=1)
        nodes, weights = np.polynomial.legendre.leggauss(20)
        half = np.diff(edges, axis=1)[:, :, None] / 2
        noise = (edges[:, :-1, None] + half * (nodes + 1)).reshape(len(edges), -1)
        distribution = {"laplace": stats.laplace, "gaussian": stats.norm}[self.kind]
        density = distribution.pdf(noise, scale=self.count_scale)
        return noise, (half * weights).reshape(len(edges), -1) * density
