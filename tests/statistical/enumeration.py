"""Statistical privacy by its definition: every database, every template, every set of answers.

Nothing here uses the package. A database is a tuple of entries; an entry's law is a mapping from
values to probabilities; a query maps a tuple of values to an answer; a template is a tuple of
tuples of places.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

Law: TypeAlias = Mapping[float, float]
Database: TypeAlias = tuple[float, ...]
Template: TypeAlias = tuple[tuple[int, ...], ...]
Release: TypeAlias = Callable[[Database], Mapping[Hashable, float]]


def coin(p: float) -> Law:
    return {0: 1 - p, 1: p}


def answers_given(
    laws: Sequence[Law], critical: int, value: float, release: Release
) -> dict[Hashable, float]:
    """Return the law of what is released, the critical entry having that value."""
    fixed = [{value: 1.0} if place == critical else law for place, law in enumerate(laws)]
    found: dict[Hashable, float] = defaultdict(float)
    for database in itertools.product(*fixed):
        weight = math.prod(law[each] for law, each in zip(fixed, database, strict=True))
        for answer, chance in release(database).items():
            found[answer] += weight * chance
    return found


def divergence(
    first: Mapping[Hashable, float], second: Mapping[Hashable, float], epsilon: float
) -> float:
    grow = math.exp(epsilon)
    return math.fsum(
        max(0.0, first.get(answer, 0.0) - grow * second.get(answer, 0.0))
        for answer in {*first, *second}
    )


def worst(laws: Sequence[Law], critical: int, release: Release, epsilon: float) -> float:
    """Return the curve at epsilon: the largest divergence over all pairs of values."""
    given = {v: answers_given(laws, critical, v, release) for v in laws[critical]}
    return max(divergence(given[v], given[w], epsilon) for v in given for w in given if v != w)


def exactly(query: Callable[[Database], Hashable]) -> Release:
    return lambda database: {query(database): 1.0}


def partitions(n: int, sizes: Sequence[int]) -> list[Template]:
    """Return every way to draw disjoint blocks of these sizes, the order within blocks aside."""

    def extend(left: frozenset[int], rest: Sequence[int]) -> Iterable[Template]:
        if not rest:
            yield ()
            return
        for block in itertools.combinations(sorted(left), rest[0]):
            for others in extend(left - set(block), rest[1:]):
                yield (block, *others)

    return list(extend(frozenset(range(n)), sizes))


def sampled(
    templates: Mapping[Template, float] | Sequence[Template],
    answer: Callable[[tuple[Database, ...]], Hashable],
) -> Release:
    """Return the release that draws a template in secret and answers on its samples."""
    weights = (
        templates
        if isinstance(templates, Mapping)
        else {template: 1 / len(templates) for template in templates}
    )

    def release(database: Database) -> Mapping[Hashable, float]:
        found: dict[Hashable, float] = defaultdict(float)
        for template, weight in weights.items():
            samples = tuple(tuple(database[i] for i in places) for places in template)
            found[answer(samples)] += weight
        return found

    return release


def sequences(n: int, size: int) -> dict[Template, float]:
    """Return samples with replacement: every sequence of places, alike."""
    drawn = Counter(tuple(sorted(each)) for each in itertools.product(range(n), repeat=size))
    return {(places,): count / n**size for places, count in drawn.items()}


def subsets(n: int, rate: float) -> dict[Template, float]:
    """Return Poisson samples: every subset, by its size."""
    return {
        (places,): rate ** len(places) * (1 - rate) ** (n - len(places))
        for size in range(n + 1)
        for places in itertools.combinations(range(n), size)
    }


def mean_over_templates(
    laws: list[Law], templates: dict[tuple[tuple[int, ...], ...], float], epsilon: float
) -> float:
    """Return Definition 3.3: the average over templates of the curve given the template."""
    return math.fsum(
        weight * worst(laws, 0, sampled([template], lambda samples: sum(samples[0])), epsilon)
        for template, weight in templates.items()
    )


def uniform(n: int, size: int) -> dict[tuple[tuple[int, ...], ...], float]:
    """Return samples without replacement: every subset of the size, alike."""
    every = partitions(n, [size])
    return {template: 1 / len(every) for template in every}
