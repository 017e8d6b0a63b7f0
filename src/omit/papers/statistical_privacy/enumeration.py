"""Statistical privacy by its definitions: every database, every partition, every answer.

A setting has independent entries with their laws, sizes of blocks, and an analyst who asks one
symmetric query after the other. The law of all answers, given the critical entry, follows by
listing. What the paper's lemmas state is computed on its own, block by block, from the laws of the
entries in it; only the definition of a curve is shared.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Law: TypeAlias = Mapping[Any, float]
Query: TypeAlias = Callable[[Sequence[int]], int]
"""A symmetric function of the values in a block."""
Analyst: TypeAlias = Callable[[tuple[int, ...]], Query]
"""From the answers so far to the next query."""
Template: TypeAlias = tuple[tuple[int, ...], ...]
"""Which entries every block has."""

EPSILONS = (0.0, 0.1, 0.7)
CRITICAL = 0
"""The place of the critical entry."""


def curve(first: Law, second: Law, epsilon: float) -> float:
    """Return the privacy curve of Definition 2.3: the integral of the positive part.

    Examples
    --------
    >>> curve({0: 0.25, 1: 0.75}, {0: 0.5, 1: 0.5}, 0.0)
    0.25
    """
    growth = math.exp(epsilon)
    return math.fsum(max(0.0, p - growth * second.get(x, 0.0)) for x, p in first.items())


def curve_by_sets(first: Law, second: Law, epsilon: float) -> float:
    """Return the same by Definition 2.2: the largest difference over all sets of answers."""
    growth = math.exp(epsilon)
    answers = sorted({*first, *second}, key=repr)
    gains = [first.get(answer, 0.0) - growth * second.get(answer, 0.0) for answer in answers]
    sets = itertools.product((0, 1), repeat=len(gains))
    return max(math.fsum(itertools.compress(gains, chosen)) for chosen in sets)


@dataclass(frozen=True)
class Setting:
    """Entries with their laws, of which the first is critical; sizes of blocks, an analyst."""

    laws: tuple[Law, ...]
    sizes: tuple[int, ...]
    analyst: Analyst

    @property
    def values(self) -> tuple[int, ...]:
        """What an entry can be."""
        return tuple(self.laws[CRITICAL])

    def templates(self) -> list[Template]:
        """Return every partition of entries into blocks of these sizes, with some unused."""
        return list(_templates(frozenset(range(len(self.laws))), self.sizes))

    def released(self, value: int, given: Template | None = None) -> dict[Any, float]:
        """Return the law of all answers if the critical entry has a value, and given a template."""
        laws = ({value: 1.0}, *self.laws[1:])
        templates = self.templates() if given is None else [given]
        released: dict[Any, float] = defaultdict(float)
        for database in itertools.product(*laws):
            weight = math.prod(law[entry] for law, entry in zip(laws, database, strict=True))
            for template in templates:
                answers: tuple[int, ...] = ()
                for block in template:
                    query = self.analyst(answers)
                    answers = (*answers, query([database[entry] for entry in block]))
                released[answers] += weight / len(templates)
        return dict(released)


def _templates(free: frozenset[int], sizes: tuple[int, ...]) -> Iterator[Template]:
    if not sizes:
        yield ()
        return
    for block in itertools.combinations(sorted(free), sizes[0]):
        for rest in _templates(free - set(block), sizes[1:]):
            yield (block, *rest)


def answer_law(laws: Iterable[Law], query: Query) -> dict[Any, float]:
    """Return the law of a query's answer on independent entries with these laws.

    Examples
    --------
    >>> answer_law([{0: 0.5, 1: 0.5}] * 2, sum)
    {0: 0.25, 1: 0.5, 2: 0.25}
    """
    law: dict[Any, float] = defaultdict(float)
    for pairs in itertools.product(*(law.items() for law in laws)):
        law[query([value for value, _ in pairs])] += math.prod(chance for _, chance in pairs)
    return dict(law)


def pairs(setting: Setting) -> list[tuple[int, int]]:
    """Return all pairs of different values of the critical entry."""
    return list(itertools.permutations(setting.values, 2))


def true_curve(setting: Setting, epsilon: float) -> dict[tuple[int, int], float]:
    """Return the curve of all answers by its definition, for every pair of values."""
    released = {value: setting.released(value) for value in setting.values}
    return {(v, w): curve(released[v], released[w], epsilon) for v, w in pairs(setting)}


def stated_curve(setting: Setting, epsilon: float, only: tuple[int, int] | None = None) -> float:
    """Return the right-hand side of Lemma 5.2, of which all other statements are cases.

    Template by template, the answers before the critical entry's block are summed over; what counts
    is the curve of the next query on that block, for one pair of values or for the worst.
    """
    chosen = pairs(setting) if only is None else [only]

    def beyond(template: Template, answers: tuple[int, ...]) -> float:
        block, query = template[len(answers)], setting.analyst(answers)
        others = [setting.laws[entry] for entry in block if entry != CRITICAL]
        if len(others) == len(block):
            law = answer_law(others, query)
            return math.fsum(
                chance * beyond(template, (*answers, answer)) for answer, chance in law.items()
            )
        given = {value: answer_law([{value: 1.0}, *others], query) for value in setting.values}
        return max(curve(given[v], given[w], epsilon) for v, w in chosen)

    templates = setting.templates()
    holding = [one for one in templates if any(CRITICAL in block for block in one)]
    return math.fsum(beyond(template, ()) for template in holding) / len(templates)


def average_of_blocks(setting: Setting, epsilon: float) -> float:
    """Return the delta of Theorem 5.1: that of every block, weighted by its share of entries."""
    total = 0.0
    for number, size in enumerate(setting.sizes):
        # Whoever does not adapt asks the same whatever the answers were.
        query, others = setting.analyst((0,) * number), setting.laws[1:size]
        given = {value: answer_law([{value: 1.0}, *others], query) for value in setting.values}
        worst = max(curve(given[v], given[w], epsilon) for v, w in pairs(setting))
        total += size / len(setting.laws) * worst
    return total


def _zeros(block: Sequence[int]) -> int:
    return sum(value == 0 for value in block)


def _range(block: Sequence[int]) -> int:
    return max(block) - min(block)


QUERIES: tuple[Query, ...] = (sum, max, min, _zeros, _range)


def random_setting(rng: np.random.Generator, *, alike: bool, adaptive: bool) -> Setting:
    """Return a small setting: entries alike or not, an analyst who adapts or does not."""
    values = int(rng.integers(2, 4))
    count = int(rng.integers(3, 6 if values == 2 else 5))
    drawn = rng.dirichlet(np.ones(values), size=1 if alike else count).tolist()
    laws = tuple(dict(enumerate(chances)) for chances in (drawn * count if alike else drawn))
    sizes: list[int] = []
    while sum(sizes) < count and len(sizes) < 3:
        sizes.append(int(rng.integers(1, count - sum(sizes) + 1)))
    order: list[Query] = [QUERIES[number] for number in rng.permutation(len(QUERIES))]

    def analyst(answers: tuple[int, ...]) -> Query:
        return order[(len(answers) + adaptive * sum(answers)) % len(order)]

    return Setting(laws, tuple(sizes), analyst)
