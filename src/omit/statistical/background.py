"""What the adversary knows beside the distribution, when a query is answered on a sample.

A sample that holds the critical entry holds `size - 1` others, drawn at random from all others. How
many of them the adversary knows is hypergeometric; from which groups they come is multivariate
hypergeometric. Definition 3.3 averages the curve of the sample over this draw, as if the adversary
saw *which* entries were drawn. That is an upper bound on the curve of the sampled answer, because
not knowing the draw can only hurt the adversary.

The average is taken exactly where the draws are few, bracketed by steps where the curve is known to
rise with the number of known entries, and else estimated with an interval (`draws`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, at_least, at_most, share_of
from omit.errors import InvalidInput
from omit.laws.counts import expected_over_draws, hypergeometric_window
from omit.laws.distribution import Distribution, checked_entries, property_probability
from omit.laws.divergence import RELATIVE_ERROR, one_less, one_more
from omit.laws.intervals import CONFIDENCE
from omit.statistical.curve import PrivacyCurve, ascending_epsilons, bounded_curve
from omit.statistical.properties import checked_groups, describe
from omit.statistical.sums import sum_curve_of_groups

Average: TypeAlias = Literal["exact", "threshold", "published"]

# More curves than this are not computed one by one.
_MOST_STEPS = 300
# What is left out of a draw that has too many outcomes, as a logarithm: more where it is wide.
_DEPTH, _DEPTH_OF_WIDE, _WIDE = 750.0, 60.0, 1e8


@dataclass(frozen=True)
class Population:
    """Independent entries in groups with the same probability of a property, and known entries.

    Parameters
    ----------
    groups : sequence of (size, probability)
        Entries whose value the adversary does not know.
    known : int
        Entries whose value the adversary knows.

    Examples
    --------
    >>> Population([(60, 0.5), (30, 0.1)], known=10).n
    100
    """

    groups: tuple[tuple[int, float], ...]
    known: int = 0

    def __init__(self, groups: Sequence[tuple[int, float]], known: int = 0) -> None:
        object.__setattr__(self, "groups", checked_groups(groups))
        object.__setattr__(self, "known", _validate.whole("known", known))

    @property
    def n(self) -> int:
        """All entries."""
        return sum(size for size, _ in self.groups) + self.known

    def __str__(self) -> str:
        if len(self.groups) == 1:
            return describe(self.n, self.groups[0][1], self.known)
        parts = ", ".join(f"{size:,} with probability {p!r}" for size, p in self.groups)
        return f"{self.n:,} independent entries, {parts}, {self.known:,} known to the adversary"


def sampled_property_curve(
    n: int,
    p: float,
    size: int,
    epsilon: ArrayLike,
    *,
    known: int = 0,
    average: Average = "exact",
    conditional: bool = False,
) -> PrivacyCurve:
    """Return the sampling privacy curve of a property query on `size` of `n` entries.

    Parameters
    ----------
    n, p, known
        As for `property_curve`.
    size : int
        Entries drawn without replacement.
    epsilon : array
        Where to evaluate.
    average : {"exact", "threshold", "published"}
        The corrected average of Example 1; its bound by a threshold for the number of known
        entries, taken where it is smallest; or the average as printed, which is *not* a bound.
    conditional : bool
        Given that the critical entry was drawn, as the formulas of Example 1 are. Otherwise, as in
        Definition 3.3, samples without it count as zero.

    Examples
    --------
    >>> sampled_property_curve(12, 0.5, 6, 0.1, known=11, conditional=True).delta
    array([1.])
    >>> asked = dict(known=11, average="published", conditional=True)
    >>> sampled_property_curve(12, 0.5, 6, 0.1, **asked).delta     # as printed: too optimistic
    array([0.79...])
    """
    n, known = checked_entries(n, known)
    p = property_probability(p)
    size = checked_sample("size", size, n)
    epsilons = ascending_epsilons(epsilon)
    _validate.one_of("average", average, get_args(Average))
    conditional = _validate.flag("conditional", conditional)
    others = n if average == "published" else n - 1
    spread = (size - 1) * known / others * (1 - known / others)
    depth = _DEPTH if spread < _WIDE else _DEPTH_OF_WIDE
    counts, weights, missing = hypergeometric_window(others, known, size - 1, depth)
    if average == "threshold":
        low, high = _by_threshold(counts, weights, missing, size - 1, p, epsilons)
    else:
        # Unknown entries in the sample, the fewest first, so that deltas fall.
        low, high = expected_delta((size - 1 - counts)[::-1], weights[::-1], p, epsilons)
        high = high + missing
    share = 1.0 if conditional else size / n
    text = f"{describe(n, p, known)}; {size:,} entries drawn without replacement"
    curve = averaged_curve(
        epsilons, low, high, text, share=share, only_a_bound=average == "threshold"
    )
    return replace(curve, method="as printed") if average == "published" else curve


def checked_sample(name: str, size: int, n: int) -> int:
    """Return the size of a sample.

    Raises
    ------
    InvalidInput
        If it is not between 1 and `n`.
    """
    size = _validate.positive_integer(name, size)
    if size > n:
        raise InvalidInput(f"Expected {name}={size} to be at most n={n}.")
    return size


def averaged_curve(
    epsilon: FloatArray,
    low: FloatArray,
    high: FloatArray,
    assumption: str,
    *,
    share: float = 1.0,
    only_a_bound: bool = False,
) -> PrivacyCurve:
    """Return the curve between bounds, times a share, from binomial probabilities."""
    return bounded_curve(
        epsilon,
        at_least(share * low, RELATIVE_ERROR),
        at_most(share_of(share, high), RELATIVE_ERROR),
        assumption,
        only_a_bound=only_a_bound,
    )


def estimated_curve(
    epsilon: FloatArray,
    low: FloatArray,
    high: FloatArray,
    assumption: str,
    *,
    share: float = 1.0,
) -> PrivacyCurve:
    """Return the interval of a simulation, times a share, as a curve, which is not a bound."""
    return PrivacyCurve(
        epsilon,
        np.minimum(at_most(share * high, RELATIVE_ERROR), 1.0),
        at_least(share * low, RELATIVE_ERROR),
        (),
        "simulated",
        assumption,
        confidence=CONFIDENCE,
    )


def expected_delta(
    unknown: np.ndarray[tuple[int], np.dtype[np.int64]],
    weights: FloatArray,
    p: float,
    epsilon: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the average curve over the number of unknown other entries, ascending.

    A further unknown entry only blurs the answer, so deltas fall: between two numbers for which the
    curve was computed, it lies between their deltas.
    """
    if len(unknown) <= _MOST_STEPS:
        nodes = np.arange(len(unknown))
    else:
        # Steps of equal weight, and smaller and smaller ones where deltas are largest.
        half = _MOST_STEPS // 2
        levels = np.concatenate([np.geomspace(1e-300, 1 / half, half), np.linspace(0, 1, half)])
        share = np.cumsum(weights) / weights.sum()
        nodes = np.unique(np.searchsorted(share, levels).clip(0, len(unknown) - 1))
        nodes = np.unique(np.concatenate([[0], nodes, [len(unknown) - 1]]))
    deltas = np.array([_delta(int(unknown[node]), p, epsilon) for node in nodes])
    upper = np.zeros(len(epsilon))
    lower = np.zeros(len(epsilon))
    at = np.searchsorted(nodes, np.arange(len(unknown)), side="right") - 1
    exact_here = nodes[at] == np.arange(len(unknown))
    following = np.where(exact_here, at, np.minimum(at + 1, len(nodes) - 1))
    for node in range(len(nodes)):
        upper += share_of(float(weights[at == node].sum()), deltas[node])
        lower += float(weights[following == node].sum()) * deltas[node]
    return lower, upper


def _delta(others: int, p: float, epsilon: FloatArray) -> FloatArray:
    return np.maximum(one_more(others, p, epsilon), one_less(others, p, epsilon))


def _by_threshold(
    known: np.ndarray[tuple[int], np.dtype[np.int64]],
    weights: FloatArray,
    missing: float,
    others: int,
    p: float,
    epsilon: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the bound of Example 1, at the threshold where it is smallest for each epsilon."""
    # Summed from the far end, where 1 less all others would have no digits left.
    beyond = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0)
    best, where = np.ones(len(epsilon)), np.zeros(len(epsilon), dtype=np.int64)
    first, last = 0, len(known) - 1
    # Thresholds closer and closer to the best ones of all epsilons.
    while True:
        chosen = np.unique(np.linspace(first, last, _MOST_STEPS).astype(np.int64))
        for index in chosen:
            delta = _delta(int(others - known[index]), p, epsilon)
            bound = beyond[index] + missing + (1 - beyond[index]) * delta
            where = np.where(bound < best, index, where)
            best = np.minimum(best, bound)
        step = (last - first) // (_MOST_STEPS - 1) + 1
        if step == 1:
            return np.zeros(len(epsilon)), best
        narrowed = max(int(where.min()) - step, first), min(int(where.max()) + step, last)
        if narrowed == (first, last):
            return np.zeros(len(epsilon)), best
        first, last = narrowed


def sampled_groups_curve(
    population: Population,
    size: int,
    epsilon: ArrayLike,
    *,
    critical: int | None = None,
    conditional: bool = False,
    runs: int = 2_000,
    rng: np.random.Generator | None = None,
) -> PrivacyCurve:
    """Return the sampling privacy curve where entries come in groups: the multivariate Example 1.

    Parameters
    ----------
    population : Population
        The groups, whose sizes the adversary knows.
    size : int
        Entries drawn without replacement.
    epsilon : array
        Where to evaluate.
    critical : int, optional
        The group of the critical entry; the worst one if not given.
    conditional : bool
        Given that the critical entry was drawn.
    runs, rng
        Where the compositions of a sample are too many to list, so many are drawn.

    Raises
    ------
    InvalidInput
        If `rng` is needed and not given.

    Examples
    --------
    >>> population = Population([(6, 0.5), (4, 0.1)], known=2)
    >>> curve = sampled_groups_curve(population, 5, [0.1])
    >>> round(float(curve.delta[0]), 6), curve.method
    (0.188823, 'exact')
    """
    _validate.instance("population", population, Population)
    size = checked_sample("size", size, population.n)
    epsilons = ascending_epsilons(epsilon)
    conditional = _validate.flag("conditional", conditional)
    runs = _validate.runs(runs)
    if rng is not None:
        _validate.generator(rng)
    probabilities = [p for _, p in population.groups]
    chosen: Sequence[int] = range(len(probabilities))
    if critical is not None:
        chosen = [_validate.index("critical", critical, len(probabilities), "groups")]
    lows, highs = [], []
    simulated = False
    for group in chosen:
        sizes = [count - (place == group) for place, (count, _) in enumerate(population.groups)]

        def delta(drawn: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
            parts = [
                (Distribution([0.0, 1.0], [1 - p, p]), count)
                for p, count in zip(probabilities, drawn[:-1], strict=True)
            ]
            curve = sum_curve_of_groups(parts, (0.0, 1.0), epsilons)
            return curve.lower, curve.delta

        low, high, listed = expected_over_draws(
            [*sizes, population.known], size - 1, delta, len(epsilons), runs, rng, len(chosen)
        )
        simulated = simulated or not listed
        lows.append(low)
        highs.append(high)
    share = 1.0 if conditional else size / population.n
    text = f"{population}; {size:,} entries drawn without replacement"
    low, high = np.max(lows, axis=0), np.max(highs, axis=0)
    curve_of = estimated_curve if simulated else averaged_curve
    return curve_of(epsilons, low, high, text, share=share)
