"""Several queries on a secret random partition, chosen in advance or one after the other.

The data are independent entries in groups (`Entries`). A query gives every value an integer score
and answers with the sum of the scores on its block. An *analyst* is a function from the answers so
far to the next query; one who ignores them is non-adaptive. The bound for all answers together, for
any analyst, is

    sum over blocks k of  n_k / n * E[ curve of query k on block k, given the draw and the answers ]

(Theorems 5.1 to 5.4: with identical entries the draw does not matter, without adaptivity the
answers do not). The expectation is listed where that is small, or estimated with an interval, or
bounded by the worst query of a declared class. The exact curve of the answers, by listing, shows
what the bound gives away.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import Bounds, FloatArray, at_most, share_of
from omit._validate import shown
from omit.errors import InvalidInput
from omit.laws.counts import count_draws, draws
from omit.laws.distribution import Distribution
from omit.laws.divergence import divergence_bounds
from omit.laws.intervals import CONFIDENCE, bernstein_bounds
from omit.laws.lattice import Part, lattice_sum
from omit.statistical import assumptions
from omit.statistical.assumptions import Entries
from omit.statistical.curve import PrivacyCurve, WorstPair, upper_bound
from omit.statistical.sums import sum_curve_of_groups

Averaging: TypeAlias = Literal["auto", "listed", "simulated"]
Answers: TypeAlias = tuple[int, ...]
Drawn: TypeAlias = tuple[int, ...]

_Query = TypeVar("_Query")
_Answers = TypeVar("_Answers", bound=tuple[float, ...])

_MOST_STATES = 200_000
_UNIT = 2.0**-53
# Roundings of a product of probabilities, beyond one for every state that is summed over.
_FEW = 64
# Products that are lost below floats, as many as there are states.
_LOST = 1e-315


@dataclass(frozen=True, init=False)
class ScoreQuery:
    """A symmetric query: the sum of an integer score over the entries of a block.

    Parameters
    ----------
    name : str
        What it is called.
    scores : mapping
        The score of every value; scores 0 and 1 make a property query.

    Examples
    --------
    >>> ScoreQuery("smokers", {"smokes": 1, "does not": 0}).scores["smokes"]
    1
    """

    name: str
    _scores: tuple[tuple[object, int], ...]

    def __init__(self, name: str, scores: Mapping[object, int]) -> None:
        _validate.text("name", name)
        _validate.mapping("scores", scores, "from values to whole numbers")
        for value, score in scores.items():
            what = f"the score of {_validate.shown(value)}"
            if _validate.finite(what, score) != int(score):
                raise InvalidInput(f"Expected {what} to be a whole number, got {score}.")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_scores", tuple((v, int(s)) for v, s in scores.items()))

    @property
    def scores(self) -> Mapping[object, int]:
        """The score of every value."""
        return dict(self._scores)


Analyst: TypeAlias = Callable[[Answers], ScoreQuery]


def ask(*queries: ScoreQuery) -> Analyst:
    """Return the analyst who asks these queries, whatever the answers are.

    Examples
    --------
    >>> first = ScoreQuery("first", {0: 0, 1: 1})
    >>> ask(first)(()).name
    'first'
    """
    for query in queries:
        _validate.instance("every query", query, ScoreQuery)

    def analyst(answers: Answers) -> ScoreQuery:
        if len(answers) >= len(queries):
            raise InvalidInput(f"Expected a query per block, the analyst has {len(queries)} only.")
        return queries[len(answers)]

    return analyst


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
    runs, rng = assumptions.checked_simulation(runs, rng)
    engine = _engine(entries, sizes, analyst, epsilon)
    blocks, epsilons = engine.blocks, engine.epsilon
    groups = assumptions.critical_groups(critical, len(entries.groups))
    listed = ", ".join(f"{size:,}" for size in blocks)
    assumption = f"{entries.describe(critical)}, a secret random partition into blocks of {listed}"
    if method == "listed" or (method == "auto" and all(map(engine.is_small, groups))):
        bounds = [engine.average(group) for group in groups]
        return upper_bound(epsilons, engine.rounded_up(np.max(bounds, axis=0)), assumption)
    if rng is None:
        raise InvalidInput(
            "There are too many draws and answers to list; give a random generator (rng) to "
            "estimate the bound, or use worst_of_class."
        )
    # Every interval holds with a confidence that leaves all of them together the one stated.
    drawn = [np.array([engine.simulate(group, rng) for _ in range(runs)]) for group in groups]
    intervals = [bernstein_bounds(deltas, len(groups)) for deltas in drawn]
    low, high = (np.max(ends, axis=0) for ends in zip(*intervals, strict=True))
    return PrivacyCurve(epsilons, high, low, (), "simulated", assumption, confidence=CONFIDENCE)


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
    for group in assumptions.critical_groups(critical, len(entries.groups)):
        others = engine.others(group)
        total = np.zeros(len(epsilons))
        for size in blocks:
            if count_draws(others, size - 1) > _MOST_STATES:
                raise InvalidInput("There are too many ways to draw a block from these groups.")
            for drawn, weight in draws(others, size - 1):
                curves = [engine.delta(query, drawn) for query in queries]
                total += share_of(size / entries.n * weight, np.max(curves, axis=0))
        totals.append(total)
    return upper_bound(
        epsilons,
        engine.rounded_up(np.max(totals, axis=0)),
        f"{entries.describe(critical)}, a secret random partition, and any analyst who asks "
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
    worst = WorstPair(len(epsilons), (entries.values[0], entries.values[-1]))
    for group in assumptions.critical_groups(critical, len(entries.groups)):
        if not engine.is_small(group):
            raise InvalidInput("There are too many draws and answers to list them.")
        laws = engine.answer_laws(group)
        answers = sorted({answer for law in laws.values() for answer in law})
        bounds = {value: engine.answer_bounds(law, answers) for value, law in laws.items()}
        for v, w in itertools.permutations(entries.values, 2):
            worst.add(divergence_bounds(bounds[v], bounds[w], epsilons), (v, w))
    return worst.curve(epsilons, f"{entries.describe(critical)}, a secret random partition")


def _engine(
    entries: Entries, sizes: Sequence[int], analyst: Analyst, epsilon: ArrayLike
) -> _Engine:
    """Return the engine for arguments that have been checked."""
    _validate.instance("entries", entries, Entries)
    _validate.function("analyst", analyst)
    blocks = assumptions.checked_blocks(sizes, entries.n)
    return _Engine(entries, blocks, analyst, assumptions.ascending_epsilons(epsilon))


def next_query(analyst: Callable[[_Answers], _Query], answers: _Answers) -> _Query:
    """Return what an analyst asks after these answers, or refuse an analyst who fails."""
    failure = f"The analyst gives no query after the answers {shown(answers)}"
    return _validate.outcome(failure, analyst, answers)


def _without(sizes: list[int], drawn: Drawn) -> list[int]:
    return [size - used for size, used in zip(sizes, drawn, strict=True)]


class _Engine:
    """Lists or simulates draws and answers; remembers laws of blocks within one call."""

    def __init__(
        self, entries: Entries, blocks: tuple[int, ...], analyst: Analyst, epsilon: FloatArray
    ) -> None:
        self.entries, self.blocks, self.analyst, self.epsilon = entries, blocks, analyst, epsilon
        self._laws: dict[tuple[ScoreQuery, Drawn], tuple[int, FloatArray]] = {}
        # By how much a law was wrong at most: its probabilities relative to them, and in all.
        self._relative_error = self._total_error = 0.0
        self._additions = 0
        self._deltas: dict[tuple[ScoreQuery, Drawn], FloatArray] = {}

    def others(self, critical: int) -> list[int]:
        """Return the sizes of the groups without the critical entry."""
        return [size - (group == critical) for group, (size, _) in enumerate(self.entries.groups)]

    def is_small(self, critical: int) -> bool:
        """Tell whether all draws and answers can be listed."""
        states = 1
        for size in self.blocks:
            query = self.analyst_query(())
            spread = max(query.scores.values()) - min(query.scores.values())
            states *= count_draws(self.others(critical), size) * (size * max(spread, 1) + 1)
            if states > _MOST_STATES:
                return False
        return True

    def analyst_query(self, answers: Answers) -> ScoreQuery:
        """Return the analyst's next query, checked to score every value."""
        query = next_query(self.analyst, answers)
        if not isinstance(query, ScoreQuery):
            raise InvalidInput(
                "Only sums of scores are symmetric by construction; expected a ScoreQuery, got "
                f"{shown(query)}."
            )
        self.require_scores(query)
        return query

    def require_scores(self, query: ScoreQuery) -> None:
        """Refuse a query that does not score every value."""
        missing = [value for value in self.entries.values if value not in query.scores]
        if missing:
            raise InvalidInput(
                f"The query {shown(query.name)} has no score for {shown(missing[0])}."
            )

    def law(self, query: ScoreQuery, drawn: Drawn) -> tuple[int, FloatArray]:
        """Return the smallest answer and the probabilities from there on."""
        key = query, drawn
        if key not in self._laws:
            start, parts = self._parts(query, drawn)
            if parts:
                tilted = lattice_sum(parts)
                self._laws[key] = start + tilted.start, tilted.mass
                self._relative_error = max(self._relative_error, tilted.relative_error)
                missing = tilted.total_error - tilted.relative_error
                self._total_error = max(self._total_error, missing)
            else:
                self._laws[key] = start, np.ones(1)
        return self._laws[key]

    def _parts(self, query: ScoreQuery, drawn: Drawn) -> tuple[int, list[Part]]:
        """Return the smallest answer, and what the entries of every group add to it."""
        start, parts = 0, []
        for count, (_, law) in zip(drawn, self.entries.groups, strict=True):
            chances: dict[int, float] = defaultdict(float)
            for value, chance in law:
                if chance > 0:
                    chances[query.scores[value]] += chance
            points = sorted(chances)
            start += count * points[0]
            if count and len(points) > 1:
                weights = np.array([chances[point] for point in points])
                parts.append(Part(np.array(points) - points[0], weights, count))
        return start, parts

    def answer_bounds(self, law: dict[Answers, float], answers: list[Answers]) -> Bounds:
        """Return bounds on the logarithms of the probabilities of answers."""
        mass = np.array([law.get(answer, 0.0) for answer in answers])
        relative = self._rounding()
        wrong = len(self.blocks) * self._total_error + _LOST
        with np.errstate(divide="ignore"):
            return (
                np.log(np.maximum(mass * (1 - relative) - wrong, 0.0)),
                np.log(mass * (1 + relative) + wrong),
            )

    def rounded_up(self, bound: FloatArray) -> FloatArray:
        """Return what an average over all draws and answers is at most."""
        relative = self._rounding()
        return np.minimum(at_most(bound, relative) + len(self.blocks) * self._total_error, 1.0)

    def _rounding(self) -> float:
        """Return by how much a sum of products of probabilities may be wrong, relative to it."""
        return (_FEW + 2 * self._additions) * _UNIT + 2 * len(self.blocks) * self._relative_error

    def delta(self, query: ScoreQuery, drawn: Drawn) -> FloatArray:
        """Return the curve on a block with these others, over all pairs of values."""
        key = query, drawn
        self._additions += 1
        if key not in self._deltas:
            scores = sorted({query.scores[value] for value in self.entries.values})
            others = [
                (Distribution(part.points, part.probabilities), part.count)
                for part in self._parts(query, drawn)[1]
            ]
            self._deltas[key] = (
                sum_curve_of_groups(others, scores, self.epsilon).delta
                if len(scores) > 1
                else np.zeros(len(self.epsilon))
            )
        return self._deltas[key]

    def average(self, critical: int) -> FloatArray:
        """Return the average over blocks, by their sizes, of the expected curve of their query."""
        total = np.zeros(len(self.epsilon))
        for block, size in enumerate(self.blocks):
            total += share_of(size / self.entries.n, self._expected(critical, block))
        return total

    def _expected(self, critical: int, own: int) -> FloatArray:
        """Return the expected curve of the query on block `own`, which holds the critical entry."""

        def beyond(block: int, remaining: list[int], answers: Answers) -> FloatArray:
            query = self.analyst_query(answers)
            total = np.zeros(len(self.epsilon))
            # Earlier blocks are drawn from the others.
            size = self.blocks[block] - (block == own)
            for drawn, weight in draws(remaining, size):
                self._additions += 1
                if block == own:
                    total = total + share_of(weight, self.delta(query, drawn))
                    continue
                rest = _without(remaining, drawn)
                for answer, chance in self._answers(query, drawn):
                    further = beyond(block + 1, rest, (*answers, answer))
                    total = total + share_of(weight * chance, further)
            return total

        return beyond(0, self.others(critical), ())

    def simulate(self, critical: int, rng: np.random.Generator) -> FloatArray:
        """Return one draw whose mean is the bound."""
        remaining = self.others(critical)
        shares = np.append(np.array(self.blocks) / self.entries.n, 0.0)
        shares[-1] = max(0.0, 1 - shares.sum())
        own = int(rng.choice(len(shares), p=shares / shares.sum()))
        if own == len(self.blocks):
            return np.zeros(len(self.epsilon))
        answers: Answers = ()
        for block in range(own + 1):
            query = self.analyst_query(answers)
            size = self.blocks[block] - (block == own)
            row = rng.multivariate_hypergeometric(remaining, size, method="marginals")
            drawn = tuple(map(int, row))
            if block == own:
                return self.delta(query, drawn)
            remaining = _without(remaining, drawn)
            start, mass = self.law(query, drawn)
            answers = (*answers, start + int(rng.choice(len(mass), p=mass / mass.sum())))
        raise AssertionError("the critical entry is in one of the blocks")

    def answer_laws(self, critical: int) -> dict[object, dict[Answers, float]]:
        """Return the probability of all answers, for every value of the critical entry."""
        laws: dict[object, dict[Answers, float]] = {}
        for value in self.entries.values:
            law: dict[Answers, float] = defaultdict(float)
            self._walk(law, value, 0, self.others(critical), self.entries.n, (), 1.0)
            laws[value] = dict(law)
        return laws

    def _walk(
        self,
        law: dict[Answers, float],
        value: object | None,
        block: int,
        remaining: list[int],
        waiting: int,
        answers: Answers,
        weight: float,
    ) -> None:
        """Add the answers from this block on; `value` is None once the entry has been used."""
        if block == len(self.blocks):
            law[answers] += weight
            self._additions += 1
            return
        size = self.blocks[block]
        query = self.analyst_query(answers)
        here = size / waiting if value is not None else 0.0
        for inside, share in ((True, here), (False, 1 - here)):
            if share <= 0 or (not inside and sum(remaining) < size):
                continue
            extra = query.scores[value] if inside else 0
            after = None if inside else value
            for drawn, chance in draws(remaining, size - inside):
                rest = _without(remaining, drawn)
                for answer, probability in self._answers(query, drawn):
                    self._walk(
                        law,
                        after,
                        block + 1,
                        rest,
                        waiting - size,
                        (*answers, answer + extra),
                        weight * share * chance * probability,
                    )

    def _answers(self, query: ScoreQuery, drawn: Drawn) -> Iterator[tuple[int, float]]:
        start, mass = self.law(query, drawn)
        for offset, chance in enumerate(mass):
            if chance > 0:
                yield start + offset, float(chance)
