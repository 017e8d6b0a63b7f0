"""Several queries on a secret random partition, chosen in advance or one after the other.

The data are independent entries in groups, each group with its law over finitely many values. A
query gives every value a whole-number score and answers with the sum of the scores on its block. An
*analyst* is a function from the answers so far to the next query; one who ignores them is
non-adaptive. The bound for all answers together, for any analyst, is

    sum over blocks k of  n_k / n * E[ curve of query k on block k, given the draw and the answers ]

(Theorems 5.1 to 5.4: with identical entries the draw does not matter, without adaptivity the
answers do not). The expectation is listed where that is small, or estimated with an interval, or
bounded by the worst query of a declared class. The exact curve of the answers, by listing, shows
what the bound gives away.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.statistical.background import CONFIDENCE, count_draws, draws, empirical_interval
from omit.statistical.distribution import SUM_TOLERANCE
from omit.statistical.guarantee import Pair, PrivacyCurve, ascending_epsilons
from omit.statistical.hockey import hockey_stick, shifted
from omit.statistical.lattice import Part, lattice_sum

Answers: TypeAlias = tuple[int, ...]
Drawn: TypeAlias = tuple[int, ...]

_MOST_STATES = 200_000
# Laws that are not longer are summed value by value, without a transform and its absolute error.
_DIRECT_LENGTH = 4_000
# Relative: thousands of products and sums of positive numbers.
_ROUNDING = 1e-12


@dataclass(frozen=True, init=False)
class ScoreQuery:
    """A symmetric query: the sum of a whole-number score over the entries of a block.

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
        for value, score in scores.items():
            if _validate.finite(f"the score of {value!r}", score) != int(score):
                raise InvalidInput(f"Expected the score {score} of {value!r} to be a whole number.")
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
    return lambda answers: queries[len(answers)]


@dataclass(frozen=True)
class Entries:
    """Independent entries: groups of `size` with the same law over the same values.

    Examples
    --------
    >>> Entries([(10, {"yes": 0.3, "no": 0.7})]).n
    10
    """

    groups: tuple[tuple[int, tuple[tuple[object, float], ...]], ...]

    def __init__(self, groups: Sequence[tuple[int, Mapping[object, float]]]) -> None:
        if not groups:
            raise InvalidInput("Expected at least one group of entries.")
        checked = []
        for size, law in groups:
            _validate.positive_integer("size", size)
            if any(not 0 <= chance <= 1 for chance in law.values()):
                raise InvalidInput("Expected every probability in [0, 1].")
            total = math.fsum(law.values())
            if abs(total - 1) > SUM_TOLERANCE:
                raise InvalidInput(
                    f"Expected the probabilities to sum to 1, they sum to {total:.10g}."
                )
            if set(law) != set(groups[0][1]):
                raise InvalidInput("Expected all groups to have the same values.")
            checked.append((size, tuple((value, law[value]) for value in groups[0][1])))
        object.__setattr__(self, "groups", tuple(checked))

    @property
    def n(self) -> int:
        """All entries."""
        return sum(size for size, _ in self.groups)

    @property
    def values(self) -> tuple[object, ...]:
        """What an entry can be."""
        return tuple(value for value, _ in self.groups[0][1])


def composition_bound(
    entries: Entries,
    sizes: Sequence[int],
    analyst: Analyst,
    epsilon: ArrayLike,
    *,
    critical: int | None = None,
    method: Literal["auto", "listed", "simulated"] = "auto",
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
    blocks = checked_blocks(sizes, entries.n)
    epsilons = ascending_epsilons(epsilon)
    engine = _Engine(entries, blocks, analyst, epsilons)
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
            empirical_interval(
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
            total += size / entries.n * engine.expected(group, place)
        totals.append(total)
    return PrivacyCurve(
        epsilons,
        np.minimum(np.max(totals, axis=0) * (1 + _ROUNDING), 1.0),
        np.zeros(len(epsilons)),
        (),
        "upper bound",
        assumption,
    )


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
    if not queries:
        raise InvalidInput("Expected at least one query in the class.")
    blocks = checked_blocks(sizes, entries.n)
    epsilons = ascending_epsilons(epsilon)
    engine = _Engine(entries, blocks, ask(*queries), epsilons)
    for query in queries:
        engine.require_scores(query)
    totals = []
    for group in _critical_groups(entries, critical):
        others = engine.others(group)
        total = np.zeros(len(epsilons))
        for size in blocks:
            if count_draws(others, size - 1) > _MOST_STATES:
                raise InvalidInput("There are too many ways to draw a block from these groups.")
            for drawn, weight in draws(others, size - 1):
                curves = [engine.delta(query, drawn) for query in queries]
                total += size / entries.n * weight * np.max(curves, axis=0)
        totals.append(total)
    return PrivacyCurve(
        epsilons,
        np.minimum(np.max(totals, axis=0) * (1 + _ROUNDING), 1.0),
        np.zeros(len(epsilons)),
        (),
        "upper bound",
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
    blocks = checked_blocks(sizes, entries.n)
    epsilons = ascending_epsilons(epsilon)
    engine = _Engine(entries, blocks, analyst, epsilons)
    delta = np.zeros(len(epsilons))
    pairs: list[Pair] = [(entries.values[0], entries.values[-1])] * len(epsilons)
    for group in _critical_groups(entries, critical):
        if not engine.is_small(group):
            raise InvalidInput("There are too many draws and answers to list them.")
        laws = engine.answer_laws(group)
        answers = sorted({answer for law in laws.values() for answer in law})
        table = {
            value: np.array([law.get(answer, 0.0) for answer in answers])
            for value, law in laws.items()
        }
        for v, w in itertools.permutations(entries.values, 2):
            value = hockey_stick(table[v], table[w], epsilons)
            for place in np.flatnonzero(value > delta):
                pairs[place] = (v, w)
            delta = np.maximum(delta, value)
    error = engine.error_of_all_answers()
    return PrivacyCurve(
        epsilons,
        np.minimum(delta + error, 1.0),
        np.maximum(delta - error, 0.0),
        tuple(pairs),
        "exact",
        f"{_describe(entries, critical)}, a secret random partition",
    )


def checked_blocks(sizes: Sequence[int], n: int) -> tuple[int, ...]:
    """Return the sizes of the blocks of a partition.

    Raises
    ------
    InvalidInput
        If there are none, or they need more entries than there are.
    """
    blocks = tuple(_validate.positive_integer("block size", size) for size in sizes)
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
    if not 0 <= critical < len(entries.groups):
        raise InvalidInput(
            f"Expected critical={critical} to name one of {len(entries.groups)} groups."
        )
    return [critical]


def _describe(entries: Entries, critical: int | None) -> str:
    text = f"{entries.n:,} independent entries"
    if len(entries.groups) == 1:
        return text
    which = "any group" if critical is None else f"group {critical}"
    return f"{text} in {len(entries.groups)} groups, the critical one in {which}"


def _convolved(parts: Sequence[Part]) -> tuple[FloatArray, float]:
    """Return the law of a sum, and by how much each probability may be wrong relative to it.

    All terms are positive, so that every product and sum adds one unit to the relative error.
    """
    total, units = np.ones(1), 0
    for part in parts:
        power = np.zeros(int(part.points[-1]) + 1)
        power[part.points] = part.probabilities
        own, left = 4, part.count
        while left:
            if left % 2:
                units += own + min(len(total), len(power)) + 1
                total = np.convolve(total, power)
            left //= 2
            if left:
                own = 2 * own + len(power) + 1
                power = np.convolve(power, power)
    return total, units * 2.0**-53


class _Engine:
    """Lists or simulates draws and answers; remembers laws of blocks within one call."""

    def __init__(
        self, entries: Entries, blocks: tuple[int, ...], analyst: Analyst, epsilon: FloatArray
    ) -> None:
        self.entries, self.blocks, self.analyst, self.epsilon = entries, blocks, analyst, epsilon
        self._laws: dict[tuple[ScoreQuery, Drawn], tuple[int, FloatArray]] = {}
        # By how much a law may be wrong in all, and each of its probabilities relative to it.
        self._errors: dict[tuple[ScoreQuery, Drawn], tuple[float, float]] = {}
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
        query = self.analyst(answers)
        if not isinstance(query, ScoreQuery):
            raise InvalidInput(
                "Only sums of scores are symmetric by construction; expected a ScoreQuery, got "
                f"{query!r}."
            )
        self.require_scores(query)
        return query

    def require_scores(self, query: ScoreQuery) -> None:
        """Refuse a query that does not score every value."""
        missing = [value for value in self.entries.values if value not in query.scores]
        if missing:
            raise InvalidInput(f"The query {query.name!r} has no score for {missing[0]!r}.")

    def law(self, query: ScoreQuery, drawn: Drawn) -> tuple[int, FloatArray]:
        """Return the smallest answer and the probabilities from there on."""
        key = query, drawn
        if key not in self._laws:
            start, parts = 0, []
            for count, (_, law) in zip(drawn, self.entries.groups, strict=True):
                chances: dict[int, float] = defaultdict(float)
                for value, chance in law:
                    if chance > 0:
                        chances[query.scores[value]] += chance
                lowest = min(chances)
                start += count * lowest
                points = sorted(chances)
                parts.append(
                    Part(np.array(points) - lowest, np.array([chances[x] for x in points]), count)
                )
            length = 1 + sum(part.count * int(part.points[-1]) for part in parts)
            if length <= _DIRECT_LENGTH:
                mass, relative = _convolved(parts)
                self._laws[key] = start, mass
                self._errors[key] = 0.0, relative
            else:
                found = lattice_sum(parts)
                self._laws[key] = start + found.start, found.mass
                self._errors[key] = found.total_error, 0.0
        return self._laws[key]

    def error_of_all_answers(self) -> FloatArray:
        """Return by how much the divergence of all answers may be wrong, from the laws so far.

        Relative errors do not grow with epsilon: only where the first probability is larger than
        `e^epsilon` times the second do they count.
        """
        absolute = max((each[0] for each in self._errors.values()), default=0.0)
        relative = max((each[1] for each in self._errors.values()), default=0.0)
        grow = 1 + np.exp(np.minimum(self.epsilon, 700.0))
        return len(self.blocks) * (grow * absolute + 3 * relative) + _ROUNDING

    def delta(self, query: ScoreQuery, drawn: Drawn) -> FloatArray:
        """Return the curve on a block with these others, over all pairs of values."""
        key = query, drawn
        if key not in self._deltas:
            _, mass = self.law(query, drawn)
            scores = sorted({query.scores[value] for value in self.entries.values})
            best = np.zeros(len(self.epsilon))
            for shift in {b - a for a in scores for b in scores if b > a}:
                up, still = shifted(mass, shift)
                best = np.maximum(best, hockey_stick(up, still, self.epsilon))
                best = np.maximum(best, hockey_stick(still, up, self.epsilon))
            absolute, relative = self._errors[key]
            grow = 1 + np.exp(np.minimum(self.epsilon, 700.0))
            error = absolute * grow + 3 * relative * (best > 0)
            self._deltas[key] = np.minimum(best + (error if len(scores) > 1 else 0.0), 1.0)
        return self._deltas[key]

    def expected(self, critical: int, place: int) -> FloatArray:
        """Return the average curve of the query on block `place`, which holds the entry."""

        def beyond(block: int, left: list[int], answers: Answers) -> FloatArray:
            query = self.analyst_query(answers)
            total = np.zeros(len(self.epsilon))
            # The entry is in block `place`: earlier blocks are drawn from the others.
            size = self.blocks[block] - (block == place)
            for drawn, weight in draws(left, size):
                if block == place:
                    total = total + weight * self.delta(query, drawn)
                    continue
                rest = [a - b for a, b in zip(left, drawn, strict=True)]
                for answer, chance in self._answers(query, drawn):
                    total = total + weight * chance * beyond(block + 1, rest, (*answers, answer))
            return total

        return beyond(0, self.others(critical), ())

    def simulate(self, critical: int, rng: np.random.Generator) -> FloatArray:
        """Return one draw whose mean is the bound."""
        left = self.others(critical)
        places = np.append(np.array(self.blocks) / self.entries.n, 0.0)
        places[-1] = max(0.0, 1 - places.sum())
        place = int(rng.choice(len(places), p=places / places.sum()))
        if place == len(self.blocks):
            return np.zeros(len(self.epsilon))
        answers: Answers = ()
        for block in range(place + 1):
            query = self.analyst_query(answers)
            size = self.blocks[block] - (block == place)
            row = rng.multivariate_hypergeometric(left, size, method="marginals")
            drawn = tuple(int(each) for each in row)
            if block == place:
                return self.delta(query, drawn)
            left = [a - b for a, b in zip(left, drawn, strict=True)]
            start, mass = self.law(query, drawn)
            answers = (*answers, start + int(rng.choice(len(mass), p=mass / mass.sum())))
        raise AssertionError("the critical entry is in one of the blocks")

    def answer_laws(self, critical: int) -> dict[object, dict[Answers, float]]:
        """Return the probability of all answers, for every value of the critical entry."""
        laws: dict[object, dict[Answers, float]] = {}
        for value in self.entries.values:
            found: dict[Answers, float] = defaultdict(float)
            self._walk(found, value, 0, self.others(critical), self.entries.n, (), 1.0)
            laws[value] = dict(found)
        return laws

    def _walk(
        self,
        found: dict[Answers, float],
        value: object | None,
        block: int,
        left: list[int],
        waiting: int,
        answers: Answers,
        weight: float,
    ) -> None:
        """Add the answers from this block on; `value` is None once the entry has been used."""
        if block == len(self.blocks):
            found[answers] += weight
            return
        size = self.blocks[block]
        query = self.analyst_query(answers)
        here = size / waiting if value is not None else 0.0
        for inside, share in ((True, here), (False, 1 - here)):
            if share <= 0 or (not inside and sum(left) < size):
                continue
            extra = query.scores[value] if inside else 0
            after = None if inside else value
            for drawn, chance in draws(left, size - inside):
                rest = [a - b for a, b in zip(left, drawn, strict=True)]
                for answer, probability in self._answers(query, drawn):
                    self._walk(
                        found,
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
