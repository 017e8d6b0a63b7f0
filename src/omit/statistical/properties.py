"""Property queries: how many entries have a property, on all entries or on a sample of them.

The adversary knows the probabilities, the values of `known` entries, and wants to know whether one
entry, the critical one, has the property. Known entries move every answer by the same amount, so
what protects the critical entry is the uncertainty about the `n - 1 - known` others.

A sample that holds the critical entry holds `size - 1` others, drawn at random from all others. How
many of them the adversary knows is hypergeometric; from which groups they come is multivariate
hypergeometric. Definition 3.3 averages the curve of the sample over this draw, as if the adversary
saw *which* entries were drawn. That is an upper bound on the curve of the sampled answer, because
not knowing the draw can only hurt the adversary. The average is taken exactly where the draws are
few, bracketed by steps where the curve is known to rise with the number of known entries, and else
estimated with an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import Bounds, FloatArray, IntArray, at_least, at_most, share_of
from omit.errors import InvalidInput
from omit.laws import counts, divergence
from omit.laws.discrete import LatticeNoise
from omit.laws.distribution import Distribution
from omit.laws.intervals import bernstein_bounds
from omit.laws.noise import LogConcaveNoise
from omit.laws.sums import LogMass
from omit.statistical import assumptions, sums
from omit.statistical.assumptions import Population, PropertyQuery
from omit.statistical.curve import (
    PrivacyCurve,
    averaged_curve,
    estimated_curve,
    two_directions,
    worst_curve,
)

Average: TypeAlias = Literal["exact", "threshold", "published"]
Drawn: TypeAlias = tuple[int, ...]

_DEEPEST = 780.0
_LARGEST_WINDOW = 10**7
# More curves than this are not computed one by one.
_MOST_STEPS = 300
_MOST_COMPOSITIONS = 5_000


def property_curve(
    n: int,
    p: float,
    epsilon: ArrayLike,
    *,
    known: int = 0,
    noise: sums.AddedNoise | None = None,
) -> PrivacyCurve:
    """Return the privacy curve of a property query on independent, identical entries.

    Values out of range are refused (`InvalidInput`).

    Parameters
    ----------
    n : int
        Entries of the database, up to 10^12.
    p : float
        Probability of the property, in (0, 1).
    epsilon : array
        Where to evaluate.
    known : int
        How many other entries the adversary knows, at most `n - 1`.
    noise : LogConcaveNoise or LatticeNoise, optional
        Added to the number of entries with the property.

    Examples
    --------
    >>> curve = property_curve(2**15, 0.5, [0.005, 0.01, 0.02])
    >>> curve.delta
    array([0.00235741, 0.00110482, 0.00015529])
    >>> print(property_curve(10**6, 0.3, 0.02, known=500_000).guarantee(0.02))
    (0.02, 2.3697...e-14)-statistical privacy, assuming: ...
    """
    query, noise = PropertyQuery(n, p, epsilon, known), sums.checked_noise(noise)
    others, p, epsilons = query.unknown, query.p, query.epsilon
    assumption = f"{query}{sums.describe_noise(noise)}"
    if isinstance(noise, LatticeNoise):
        parts = [(Distribution.of_property(p), others)]
        return sums.sum_curve_of_groups(
            parts, (0.0, 1.0), epsilons, noise=noise, assumption=assumption
        )
    plain = two_directions(
        epsilons,
        _bounds(divergence.one_more(others, p, epsilons)),
        _bounds(divergence.one_less(others, p, epsilons)),
        assumption,
    )
    if noise is None:
        return plain
    return sums.with_noise(plain, Fraction(1), 1.0, noise, lambda: _noisy_curve(query, noise))


def _noisy_curve(query: PropertyQuery, noise: LogConcaveNoise) -> PrivacyCurve:
    """Return the curve with continuous noise; the assumption is for the caller to state."""
    log = _log_window(query.unknown, query.p)
    mass = LogMass(log - counts.LOG_ERROR, log + counts.LOG_ERROR)
    more, less = (
        divergence.half_line(facing, 1, 1.0, Fraction(1), noise, query.epsilon)
        for facing in (mass, mass.mirrored)
    )
    return two_directions(query.epsilon, more, less, str(query))


def grouped_property_curve(
    groups: Sequence[tuple[int, float]],
    epsilon: ArrayLike,
    *,
    critical: int | None = None,
    known: int = 0,
    noise: sums.AddedNoise | None = None,
) -> PrivacyCurve:
    """Return the curve of a property query on entries that are not alike (Poisson-binomial).

    Parameters
    ----------
    groups : sequence of (size, probability)
        The adversary knows how many entries have which probability.
    critical : int, optional
        The group of the critical entry; the worst one if not given.
    known : int
        How many further entries the adversary knows with certainty.
    epsilon, noise
        As for `property_curve`.

    Examples
    --------
    >>> curve = grouped_property_curve([(500, 0.2), (500, 0.8)], [0.05, 0.1])
    >>> curve.delta.round(6)
    array([0.012977, 0.004082])
    """
    checked = assumptions.checked_groups(groups)
    chosen = assumptions.critical_groups(critical, len(checked))
    total = sum(size for size, _ in checked)
    if total > counts.LARGEST_TRIALS:
        raise InvalidInput(f"Expected at most {counts.LARGEST_TRIALS:,} entries, got {total:,}.")
    known = _validate.whole("known", known)
    epsilons, noise = assumptions.ascending_epsilons(epsilon), sums.checked_noise(noise)
    sizes = ", ".join(f"{size:,} entries with probability {p!r}" for size, p in checked)
    known_too = assumptions.describe_known(known)
    assumption = f"independent entries, {sizes}{known_too}{sums.describe_noise(noise)}"
    curves = []
    for group in chosen:
        others = [
            (Distribution.of_property(p), size - (index == group))
            for index, (size, p) in enumerate(checked)
        ]
        curves.append(
            sums.sum_curve_of_groups(
                others, (0.0, 1.0), epsilons, noise=noise, assumption=assumption
            )
        )
    return worst_curve(curves)


def _bounds(delta: FloatArray) -> Bounds:
    return at_least(delta, divergence.RELATIVE_ERROR), at_most(delta, divergence.RELATIVE_ERROR)


def _log_window(trials: int, p: float) -> FloatArray:
    """Return logarithms of the probabilities of all counts that are not lost below floats."""
    half = counts.bernstein_reach(trials * p * (1 - p), _DEEPEST)
    if trials and 2 * half > _LARGEST_WINDOW:
        raise InvalidInput(
            f"Expected fewer than {trials + 1:,} entries for continuous noise; discrete Gaussian "
            "noise of the same scale is close to it."
        )
    return counts.binomial_window(trials, p, half)[1]


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
    n, p, epsilon, known
        As for `property_curve`.
    size : int
        Entries drawn without replacement.
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
    query = PropertyQuery(n, p, epsilon, known)
    size = assumptions.checked_sample(size, query.n)
    _validate.one_of("average", average, get_args(Average))
    conditional = _validate.flag("conditional", conditional)
    low, high = sample_delta(query, size, average)
    text = f"{query}; {size:,} entries drawn without replacement"
    share = 1.0 if conditional else size / query.n
    curve = averaged_curve(
        query.epsilon, low, high, text, share=share, only_a_bound=average == "threshold"
    )
    return replace(curve, method="as printed") if average == "published" else curve


def sample_delta(query: PropertyQuery, size: int, average: Average = "exact") -> Bounds:
    """Return bounds on the average delta of a sample that holds the critical entry."""
    known, others = query.known, query.n if average == "published" else query.n - 1
    variance = (size - 1) * known / max(others, 1) * (1 - known / max(others, 1))
    drawn, weights, missing = counts.hypergeometric_window(
        others, known, size - 1, counts.window_rarity(variance)
    )
    if average == "threshold":
        return _by_threshold(drawn, weights, missing, size - 1, query.p, query.epsilon)
    # Unknown entries in the sample, the fewest first, so that deltas fall.
    low, high = expected_delta((size - 1 - drawn)[::-1], weights[::-1], query.p, query.epsilon)
    return low, high + missing


def expected_delta(unknown: IntArray, weights: FloatArray, p: float, epsilon: FloatArray) -> Bounds:
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
    more, less = divergence.one_more(others, p, epsilon), divergence.one_less(others, p, epsilon)
    return np.maximum(more, less)


def _by_threshold(
    known: IntArray,
    weights: FloatArray,
    missing: float,
    others: int,
    p: float,
    epsilon: FloatArray,
) -> Bounds:
    """Return the bound of Example 1, at the threshold where it is smallest at every epsilon."""
    # Summed from the far end, where 1 less all others would have lost its digits.
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
    size, epsilon, conditional
        As for `sampled_property_curve`.
    critical : int, optional
        The group of the critical entry; the worst one if not given.
    runs, rng
        Where the compositions of a sample are too many to list, this many are drawn.

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
    size = assumptions.checked_sample(size, population.n)
    epsilons = assumptions.ascending_epsilons(epsilon)
    conditional = _validate.flag("conditional", conditional)
    runs, rng = assumptions.checked_simulation(runs, rng)
    chosen = assumptions.critical_groups(critical, len(population.groups))
    coins = [Distribution.of_property(p) for _, p in population.groups]

    def delta(drawn: Drawn) -> Bounds:
        unknown = list(zip(coins, drawn[:-1], strict=True))
        curve = sums.sum_curve_of_groups(unknown, (0.0, 1.0), epsilons)
        return curve.lower, curve.delta

    averages = []
    for group in chosen:
        others = [count - (index == group) for index, (count, _) in enumerate(population.groups)]
        others.append(population.known)
        averages.append(_draw_average(delta, others, size - 1, runs, rng, len(chosen)))
    lows, highs, listed = zip(*averages, strict=True)
    curve_of = averaged_curve if all(listed) else estimated_curve
    text = f"{population}; {size:,} entries drawn without replacement"
    share = 1.0 if conditional else size / population.n
    return curve_of(epsilons, np.max(lows, axis=0), np.max(highs, axis=0), text, share=share)


def _draw_average(
    delta: Callable[[Drawn], Bounds],
    sizes: Sequence[int],
    drawn: int,
    runs: int,
    rng: np.random.Generator | None,
    intervals: int,
) -> tuple[FloatArray, FloatArray, bool]:
    """Return bounds on the average over draws from groups, and whether all draws were listed."""
    if counts.count_draws(sizes, drawn) <= _MOST_COMPOSITIONS:
        every = counts.draws(sizes, drawn)
        return *listed_average((delta(own), weight) for own, weight in every), True
    if rng is None:
        raise InvalidInput(
            "There are too many ways to draw from these groups to list them; give a random "
            "generator (rng) to estimate the average."
        )
    samples = rng.multivariate_hypergeometric(list(sizes), drawn, size=runs, method="marginals")
    return *estimated_average([delta(tuple(map(int, row))) for row in samples], intervals), False


def listed_average(weighted: Iterable[tuple[Bounds, float]]) -> Bounds:
    """Return bounds on an average, given bounds on all of its terms with their weights."""
    low, high = np.zeros(1), np.zeros(1)
    for (least, most), weight in weighted:
        low, high = low + weight * least, high + share_of(weight, most)
    return low, high


def estimated_average(drawn: Sequence[Bounds], intervals: int = 1) -> Bounds:
    """Return the interval of an average of which terms in [0, 1] were drawn.

    This many `intervals` hold together with the confidence stated.
    """
    low, _ = bernstein_bounds(np.array([least for least, _ in drawn]), intervals)
    _, high = bernstein_bounds(np.array([most for _, most in drawn]), intervals)
    return low, high
