"""Draws of a secret random partition and answers on its blocks, listed or simulated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.statistical.draws import count_draws, draws
from omit.statistical.hockey import hockey_stick, shifted
from omit.statistical.lattice import Part, lattice_sum
from omit.statistical.score_queries import Analyst, Answers, Entries, ScoreQuery

Drawn: TypeAlias = tuple[int, ...]

MOST_STATES = 200_000
# Laws that are not longer are summed value by value, without a transform and its absolute error.
_DIRECT_LENGTH = 4_000
# Relative: thousands of products and sums of positive numbers.
ROUNDING = 1e-12


class CompositionEngine:
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
            if states > MOST_STATES:
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
        return len(self.blocks) * (grow * absolute + 3 * relative) + ROUNDING

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
