"""Several queries on a secret random partition, chosen in advance or one after the other.

What is known about the data and what is asked stands in `score_queries`. The bound for all answers
together, for any analyst, is

    sum over blocks k of  n_k / n * E[ curve of query k on block k, given the draw and the answers ]

(Theorems 5.1 to 5.4: with identical entries the draw does not matter, without adaptivity the
answers do not). The expectation is listed where that is small, or estimated with an interval, or
bounded by the worst query of a declared class. The exact curve of the answers, by listing, shows
what the bound gives away.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, share_of
from omit.errors import InvalidInput
from omit.laws.counts import count_draws, draws
from omit.laws.divergence import divergence_bounds
from omit.laws.intervals import CONFIDENCE, bernstein_bounds
from omit.statistical.composition_engine import MOST_STATES, CompositionEngine
from omit.statistical.curve import Pair, PrivacyCurve, ascending_epsilons, bounded_curve
from omit.statistical.score_queries import Analyst, Entries, ScoreQuery, ask

Averaging: TypeAlias = Literal["auto", "listed", "simulated"]


def composition_bound(
    entries: Entries,
    sizes: Sequence[int],
    analyst: Analyst,
    epsilon: ArrayLike,
    *,
    critical: int | None = None,
    method: Averaging = "auto",
    runs: int = 1_000,
    rng: np.random.Generator | None = None,
) -> PrivacyCurve:
    """Return the bound of Theorems 5.1 to 5.4 for one analyst.

    Parameters
    ----------
    entries : Entries
        What is known about the data.
    sizes : sequence of int
        Sizes of the blocks; they may leave entries unused.
    analyst : callable
        From the answers so far to the next query.
    epsilon : array
        Where to evaluate.
    critical : int, optional
        The group of the critical entry; the worst one if not given.
    method : {"auto", "listed", "simulated"}
        List all draws and answers, or simulate them; "auto" lists if these are few.
    runs, rng
        For simulation.

    Examples
    --------
    >>> coins = Entries([(8, {0: 0.5, 1: 0.5})])
    >>> count = ScoreQuery("ones", {0: 0, 1: 1})
    >>> composition_bound(coins, [4, 4], ask(count, count), [0.1]).delta
    array([0.36185364])
    """
    _validate.one_of("method", method, get_args(Averaging))
    runs = _validate.runs(runs)
    if rng is not None:
        _validate.generator(rng)
    engine = _engine(entries, sizes, analyst, epsilon)
    blocks, epsilons = engine.blocks, engine.epsilon
    groups = _critical_groups(entries, critical)
    assumption = (
        f"{_describe(entries, critical)}, a secret random partition into blocks of "
        + ", ".join(f"{size:,}" for size in blocks)
    )
    if method == "simulated" or (
        method == "auto" and not all(engine.is_small(group) for group in groups)
    ):
        if rng is None:
            raise InvalidInput(
                "There are too many draws and answers to list; give a random generator (rng) to "
                "estimate the bound, or use worst_of_class."
            )
        # Each interval holds with a confidence that leaves all of them together the one stated.
        bounds = [
            bernstein_bounds(
                np.array([engine.simulate(group, rng) for _ in range(runs)]), intervals=len(groups)
            )
            for group in groups
        ]
        low = np.max([each[0] for each in bounds], axis=0)
        high = np.max([each[1] for each in bounds], axis=0)
        return PrivacyCurve(epsilons, high, low, (), "simulated", assumption, confidence=CONFIDENCE)
    totals = []
    for group in groups:
        total = np.zeros(len(epsilons))
        for place, size in enumerate(blocks):
            total += share_of(size / entries.n, engine.expected(group, place))
        totals.append(total)
    return _upper_bound(epsilons, engine.rounded_up(np.max(totals, axis=0)), assumption)


def worst_of_class(
    entries: Entries,
    sizes: Sequence[int],
    queries: Sequence[ScoreQuery],
    epsilon: ArrayLike,
    *,
    critical: int | None = None,
) -> PrivacyCurve:
    """Return a bound for every analyst who asks queries of a declared class only.

    The expectation over answers is at most the largest curve in the class, draw by draw.

    Examples
    --------
    >>> coins = Entries([(8, {0: 0.5, 1: 0.5})])
    >>> count = ScoreQuery("ones", {0: 0, 1: 1})
    >>> worst_of_class(coins, [4, 4], [count], [0.1]).delta
    array([0.36185364])
    """
    queries = _validate.several("queries", queries)
    if not queries:
        raise InvalidInput("Expected at least one query in the class.")
    engine = _engine(entries, sizes, ask(*queries), epsilon)
    blocks, epsilons = engine.blocks, engine.epsilon
    for query in queries:
        engine.require_scores(query)
    totals = []
    for group in _critical_groups(entries, critical):
        others = engine.others(group)
        total = np.zeros(len(epsilons))
        for size in blocks:
            if count_draws(others, size - 1) > MOST_STATES:
                raise InvalidInput("There are too many ways to draw a block from these groups.")
            for drawn, weight in draws(others, size - 1):
                curves = [engine.delta(query, drawn) for query in queries]
                total += share_of(size / entries.n * weight, np.max(curves, axis=0))
        totals.append(total)
    return _upper_bound(
        epsilons,
        engine.rounded_up(np.max(totals, axis=0)),
        f"{_describe(entries, critical)}, a secret random partition, and any analyst who asks "
        f"only: {', '.join(query.name for query in queries)}",
    )


def exact_composition(
    entries: Entries,
    sizes: Sequence[int],
    analyst: Analyst,
    epsilon: ArrayLike,
    *,
    critical: int | None = None,
) -> PrivacyCurve:
    """Return the exact curve of all answers together, by listing draws and answers.

    Raises
    ------
    InvalidInput
        If these are too many.

    Examples
    --------
    >>> coins = Entries([(8, {0: 0.5, 1: 0.5})])
    >>> count = ScoreQuery("ones", {0: 0, 1: 1})
    >>> exact_composition(coins, [4, 4], ask(count, count), [0.1]).delta
    array([0.24960971])
    """
    engine = _engine(entries, sizes, analyst, epsilon)
    epsilons = engine.epsilon
    low, high = np.zeros(len(epsilons)), np.zeros(len(epsilons))
    pairs: list[Pair] = [(entries.values[0], entries.values[-1])] * len(epsilons)
    for group in _critical_groups(entries, critical):
        if not engine.is_small(group):
            raise InvalidInput("There are too many draws and answers to list them.")
        laws = engine.answer_laws(group)
        answers = sorted({answer for law in laws.values() for answer in law})
        bounds = {value: engine.answer_bounds(law, answers) for value, law in laws.items()}
        for v, w in itertools.permutations(entries.values, 2):
            least, most = divergence_bounds(bounds[v], bounds[w], epsilons)
            for place in np.flatnonzero(least > low):
                pairs[place] = (v, w)
            low, high = np.maximum(low, least), np.maximum(high, most)
    return bounded_curve(
        epsilons,
        low,
        high,
        f"{_describe(entries, critical)}, a secret random partition",
        pairs=tuple(pairs),
    )


def _engine(
    entries: Entries, sizes: Sequence[int], analyst: Analyst, epsilon: ArrayLike
) -> CompositionEngine:
    """Return the engine for arguments that have been checked."""
    _validate.instance("entries", entries, Entries)
    _validate.function("analyst", analyst)
    blocks = checked_blocks(sizes, entries.n)
    return CompositionEngine(entries, blocks, analyst, ascending_epsilons(epsilon))


def _upper_bound(epsilon: FloatArray, bound: FloatArray, assumption: str) -> PrivacyCurve:
    """Return a bound for the worst group of the critical entry as a curve."""
    return bounded_curve(epsilon, np.zeros(len(epsilon)), bound, assumption, only_a_bound=True)


def checked_blocks(sizes: Sequence[int], n: int) -> tuple[int, ...]:
    """Return the sizes of the blocks of a partition.

    Raises
    ------
    InvalidInput
        If there are none, or they need more entries than there are.
    """
    blocks = tuple(
        _validate.positive_integer("block size", size)
        for size in _validate.several("block sizes", sizes)
    )
    if not blocks:
        raise InvalidInput("Expected at least one block.")
    if sum(blocks) > n:
        raise InvalidInput(
            f"Expected blocks of at most n={n} entries together, they need {sum(blocks)}."
        )
    return blocks


def _critical_groups(entries: Entries, critical: int | None) -> Sequence[int]:
    if critical is None:
        return range(len(entries.groups))
    return [_validate.index("critical", critical, len(entries.groups), "groups")]


def _describe(entries: Entries, critical: int | None) -> str:
    text = f"{entries.n:,} independent entries"
    if len(entries.groups) == 1:
        return text
    which = "any group" if critical is None else f"group {critical}"
    return f"{text} in {len(entries.groups)} groups, the critical one in {which}"
