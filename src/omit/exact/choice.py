"""A point of a lattice, chosen by the rank of the records around it, exactly.

A point `x` scores `-dist(q n, [#<x, #≤x])`: how far the wanted rank `q n` is from the ranks that
records at `x` could have. It is accepted with the probability `p = e^(score/b)`, `b` the scale, or
has that as its weight. Values that occur have intervals of ranks that together are all of `[0, n]`,
so some point always scores 0 and has `p = 1`. With the `p_j` of all points,

    permute-and-flip:        P(x) = ∫_0^1 p_x Π_{j≠x} (1 - t p_j) dt,
    exponential mechanism:   P(x) = p_x / Σ p_j = ∫_0^∞ p_x e^(-t Σ p_j) dt.

The first is McKenna and Sheldon's: candidates arrive at uniform times `t`, and whoever comes before
`x` must have been rejected. It is also the largest of the scores with exponential noise (Ding et
al. 2021), as the second is that with Gumbel noise. Points between two neighbouring records have the
same score, so they are one group: all is a sum over at most twice as many groups as values.

*One choice.* With `u = t Σ p_j` no derivative of the first integrand exceeds 1. Beyond `u = 48`
nothing is left, and up to there `n = 36` nodes of Gauss are off by at most
`48^(2n + 1) (n!)^4 / ((2n + 1) (2n)!^3) < 1e-24`. Where `Σ p_j` is large, `t` is small there, and
the logarithms of the factors are a short power series. Groups with `p < e^-T` have a probability of
at most `W e^-T` together, `W` the number of points; they are left out unless the rest is as small.

References
----------
McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private selection",
NeurIPS 2020. Ding, Kifer, Saghaian N. E., Steinke, Wang, Xiao and Zhang, "The permute-and-flip
mechanism is identical to report-noisy-max with exponential noise", 2021.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, IntArray, gauss_legendre

Groups: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]
"""The first and the last point of each group, and its probability or log-acceptance."""

# What the groups that are left out may have in all, and where what is left of any is 0.
_NEGLIGIBLE = 1e-25
_LEAST_LOGARITHM = 700.0
_LAST, _NODES = 48.0, 36
# From this total on t is at most 0.1, and up to 20 terms of a power series have all digits.
_MANY, _TERMS = 480.0, 20
# Without noise, ranks count as equal up to the rounding of a share times a number.
_ROUNDING = 1e-9


class Lattice(NamedTuple):
    """Points 0, 1, ..., `last`, and which of them the values of a column are, in order."""

    values: IntArray
    last: int


class Choice(NamedTuple):
    """How a point is chosen for the `share`-quantile.

    `flips` tells permute-and-flip from the exponential mechanism; a scale of 0 is no noise.
    """

    share: float
    scale: float
    flips: bool


class ChosenMoments(NamedTuple):
    """The mean of the chosen point, its variance, and its expected distance from the truth."""

    mean: FloatArray
    variance: FloatArray
    distance: FloatArray


def chosen_moments(
    lattice: Lattice, counts: IntArray, choice: Choice, truth: float
) -> ChosenMoments:
    """Return the moments of the chosen point for each row of counts, all in steps.

    Examples
    --------
    Two records at 0, lattice 0 to 2: the median's rank 1 is 1 less than those of the points 1
    and 2, which have half the weight of the point 0 at this scale.

    >>> lattice = Lattice(np.array([0]), 2)
    >>> choice = Choice(0.5, 1 / math.log(2), flips=False)
    >>> chosen_moments(lattice, np.array([[2]]), choice, truth=0.0).mean.round(12)
    array([0.75])
    """
    nodes, weights = gauss_legendre(_NODES)
    columns = tuple(np.empty(len(counts)) for _ in range(3))
    _moments_of_rows(lattice.values, counts, lattice.last, *choice, truth, nodes, weights, *columns)
    return ChosenMoments(*columns)


def chosen_points(
    lattice: Lattice, counts: IntArray, choice: Choice, rng: np.random.Generator
) -> IntArray:
    """Return one chosen point for each row of counts."""
    nodes, weights = gauss_legendre(_NODES)
    chances = rng.random((2, len(counts)))
    drawn = np.empty(len(counts), dtype=np.int64)
    _draw_rows(lattice.values, counts, lattice.last, *choice, nodes, weights, chances, drawn)
    return drawn


def group_probabilities(lattice: Lattice, counts: IntArray, choice: Choice) -> Groups:
    """Return the groups of points with equal scores, and the probability of each group.

    Examples
    --------
    >>> lattice, choice = Lattice(np.array([0]), 2), Choice(0.5, 1 / math.log(2), flips=False)
    >>> group_probabilities(lattice, np.array([2]), choice)
    (array([0, 1]), array([0, 2]), array([0.5, 0.5]))
    """
    nodes, weights = gauss_legendre(_NODES)
    return _chosen_groups(
        lattice.values, counts, lattice.last, *choice, nodes, weights, _LEAST_LOGARITHM
    )


def choice_probabilities(lattice: Lattice, counts: IntArray, choice: Choice) -> FloatArray:
    """Return the probability of every point, for one row of counts.

    Examples
    --------
    >>> lattice, choice = Lattice(np.array([0]), 1), Choice(0.5, 1 / math.log(2), flips=True)
    >>> choice_probabilities(lattice, np.array([2]), choice).round(12)
    array([0.75, 0.25])
    """
    points = np.zeros(lattice.last + 1)
    for start, end, chance in zip(*group_probabilities(lattice, counts, choice), strict=True):
        points[start : end + 1] = chance / (end - start + 1)
    return points


def sums_between(starts: IntArray, ends: IntArray, truth: float) -> tuple[FloatArray, FloatArray]:
    """Return the sums of squared and of absolute distances from a truth over ranges of points.

    A range that ends before it starts is empty.

    Examples
    --------
    >>> sums_between(np.array([0, 5]), np.array([3, 4]), truth=1.5)
    (array([5., 0.]), array([4., 0.]))
    """
    number = np.maximum(ends - starts + 1, 0).astype(np.float64)
    squares = number * ((0.5 * (starts + ends) - truth) ** 2 + (number**2 - 1) / 12)
    distances = np.array(
        [
            often * _mean_distance(start, end, truth) if often else 0.0
            for start, end, often in zip(starts, ends, number, strict=True)
        ]
    )
    return squares, distances


@compiled
def _groups(
    values: IntArray, counts: IntArray, last: int, share: float, scale: float, least: float
) -> Groups:
    """Return the groups of points with equal scores that are accepted with at least `e^-least`."""
    most = 2 * len(values) + 1
    starts, ends = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    logarithms = np.empty(most)
    wanted = share * counts.sum()
    groups, rank, before = 0, 0, -1
    for index in range(len(values) + 1):
        count = counts[index] if index < len(values) else 0
        if index < len(values) and count == 0:
            continue  # a point between records like any other
        point = values[index] if index < len(values) else last + 1
        if point > before + 1:
            logarithm = log_acceptance(abs(wanted - rank), scale)
            if logarithm >= -least:
                starts[groups], ends[groups] = before + 1, point - 1
                logarithms[groups] = logarithm
                groups += 1
        if count > 0:
            distance = max(rank - wanted, wanted - rank - count, 0.0)
            logarithm = log_acceptance(distance, scale)
            if logarithm >= -least:
                starts[groups], ends[groups], logarithms[groups] = point, point, logarithm
                groups += 1
        rank += count
        before = point
    return starts[:groups], ends[:groups], logarithms[:groups]


@compiled
def log_acceptance(distance: float, scale: float) -> float:
    """Return the logarithm of the acceptance at a distance of ranks."""
    if scale > 0:
        return -distance / scale
    return 0.0 if distance <= _ROUNDING else -math.inf


@compiled
def _group_chances(
    starts: IntArray,
    ends: IntArray,
    logarithms: FloatArray,
    flips: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return the probability that the choice falls into each group."""
    chances, accepted = np.zeros(len(starts)), np.exp(logarithms)
    expected = accepted * (ends - starts + 1)
    total = expected.sum()
    if not flips:
        chances[:] = expected / total
        return chances
    half = 0.5 * min(1.0, _LAST / total)
    if total > _MANY:
        _expanded(accepted, expected, half, nodes, weights, chances)
    else:
        for node in range(len(nodes)):
            t = half * (nodes[node] + 1)
            log_all = 0.0
            for group in range(len(starts)):
                log_all += (ends[group] - starts[group] + 1) * math.log1p(-t * accepted[group])
            density = weights[node] * math.exp(log_all)
            for group in range(len(starts)):
                chances[group] += density / (1 - t * accepted[group])
    chances *= expected
    chances /= chances.sum()
    return chances


@compiled
def _expanded(
    accepted: FloatArray,
    expected: FloatArray,
    half: float,
    nodes: FloatArray,
    weights: FloatArray,
    chances: FloatArray,
) -> None:
    """Write the integrals over the products without one point of each group, by power series.

    `Σ_j ln(1 - t p_j) = -Σ_k t^k Σ_j p_j^k / k`, and `1/(1 - t p) = Σ_k (t p)^k`.
    """
    power = expected.copy()
    terms = min(_TERMS, 2 + int(18 / -math.log10(2 * half)))
    sums = np.empty(terms)
    for k in range(terms):
        sums[k] = power.sum() / (k + 1)
        power *= accepted
    coefficients = np.zeros(terms)
    for node in range(len(nodes)):
        t = half * (nodes[node] + 1)
        log_all = 0.0
        for k in range(terms - 1, -1, -1):
            log_all = (log_all - sums[k]) * t
        density = weights[node] * math.exp(log_all)
        for k in range(terms):
            coefficients[k] += density
            density *= t
    for k in range(terms - 1, -1, -1):
        chances *= accepted
        chances += coefficients[k]


@compiled
def _chosen_groups(
    values: IntArray,
    counts: IntArray,
    last: int,
    share: float,
    scale: float,
    flips: bool,
    nodes: FloatArray,
    weights: FloatArray,
    least: float,
) -> Groups:
    """Return the groups with their probabilities."""
    starts, ends, logarithms = _groups(values, counts, last, share, scale, least)
    return starts, ends, _group_chances(starts, ends, logarithms, flips, nodes, weights)


@compiled
def _moments_of_rows(
    values: IntArray,
    counts: IntArray,
    last: int,
    share: float,
    scale: float,
    flips: bool,
    truth: float,
    nodes: FloatArray,
    weights: FloatArray,
    means: FloatArray,
    variances: FloatArray,
    distances: FloatArray,
) -> None:
    """Write the moments of the chosen point, for each row of counts."""
    few = min(math.log((last + 1) / _NEGLIGIBLE), _LEAST_LOGARITHM)
    for row in range(len(counts)):
        for least in (few, _LEAST_LOGARITHM):
            starts, ends, chances = _chosen_groups(
                values, counts[row], last, share, scale, flips, nodes, weights, least
            )
            mean = variance = distance = 0.0
            for group in range(len(starts)):
                mean += chances[group] * (0.5 * (starts[group] + ends[group]) - truth)
                distance += chances[group] * _mean_distance(starts[group], ends[group], truth)
            for group in range(len(starts)):
                middle = 0.5 * (starts[group] + ends[group]) - truth - mean
                number = float(ends[group] - starts[group] + 1)
                variance += chances[group] * (middle**2 + (number**2 - 1) / 12)
            # What was left out is nothing beside this.
            if min(distance, variance + mean**2) > 1e12 * _NEGLIGIBLE * float(last + 1) ** 2:
                break
        means[row], variances[row], distances[row] = mean + truth, variance, distance


@compiled
def _mean_distance(start: int, end: int, truth: float) -> float:
    """Return the mean distance of the points from `start` to `end` from a number."""
    if truth <= start or truth >= end:
        return abs(0.5 * (start + end) - truth)
    below = math.floor(truth)
    lower = (below - start + 1) * (truth - 0.5 * (start + below))
    upper = (end - below) * (0.5 * (below + 1 + end) - truth)
    return (lower + upper) / (end - start + 1)


@compiled
def _draw_rows(
    values: IntArray,
    counts: IntArray,
    last: int,
    share: float,
    scale: float,
    flips: bool,
    nodes: FloatArray,
    weights: FloatArray,
    chances: FloatArray,
    drawn: IntArray,
) -> None:
    """Write a drawn point for each row: one chance chooses the group, one the point in it."""
    for row in range(len(counts)):
        starts, ends, probabilities = _chosen_groups(
            values, counts[row], last, share, scale, flips, nodes, weights, _LEAST_LOGARITHM
        )
        group, reached = 0, probabilities[0]
        while reached < chances[0, row] and group + 1 < len(starts):
            group += 1
            reached += probabilities[group]
        number = ends[group] - starts[group] + 1
        drawn[row] = starts[group] + min(int(chances[1, row] * number), number - 1)
