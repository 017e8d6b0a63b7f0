"""Draws of a secret random partition and answers on its blocks, listed or simulated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from omit._numeric import FloatArray, at_most, share_of
from omit._validate import shown
from omit.errors import InvalidInput, OmitError
from omit.laws.counts import count_draws, draws
from omit.laws.distribution import Distribution
from omit.laws.divergence import Bounds
from omit.laws.lattice import Part, lattice_sum
from omit.statistical.score_queries import Analyst, Answers, Entries, ScoreQuery
from omit.statistical.sums import sum_curve_of_groups

Drawn: TypeAlias = tuple[int, ...]

MOST_STATES = 200_000
_UNIT = 2.0**-53
# Roundings of a product of probabilities, beyond one for every state that is summed over.
_FEW = 64
# Products that are lost below floats, as many as there are states.
_LOST = 1e-315


class CompositionEngine:
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
            if states > MOST_STATES:
                return False
        return True

    def analyst_query(self, answers: Answers) -> ScoreQuery:
        """Return the analyst's next query, checked to score every value."""
        try:
            query = self.analyst(answers)
        except OmitError:
            raise
        except Exception as error:  # whatever a stranger's function does
            raise InvalidInput(
                f"The analyst gives no query after the answers {shown(answers)}: {shown(error)}."
            ) from error
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

    def expected(self, critical: int, place: int) -> FloatArray:
        """Return the average curve of the query on block `place`, which holds the entry."""

        def beyond(block: int, left: list[int], answers: Answers) -> FloatArray:
            query = self.analyst_query(answers)
            total = np.zeros(len(self.epsilon))
            # The entry is in block `place`: earlier blocks are drawn from the others.
            size = self.blocks[block] - (block == place)
            for drawn, weight in draws(left, size):
                self._additions += 1
                if block == place:
                    total = total + share_of(weight, self.delta(query, drawn))
                    continue
                rest = [a - b for a, b in zip(left, drawn, strict=True)]
                for answer, chance in self._answers(query, drawn):
                    further = beyond(block + 1, rest, (*answers, answer))
                    total = total + share_of(weight * chance, further)
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
            self._additions += 1
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
