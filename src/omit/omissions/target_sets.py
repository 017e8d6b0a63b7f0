"""The target sets of Theorem 5.1: on which databases a mechanism must be private.

A suppression without chance leaves some databases only. If the mechanism is epsilon-DP on a set
that holds all of them, counting as neighbours only what is in the set, the release is
`(epsilon Delta)`-DP, where `Delta` is the largest number of steps within the set between what is
left of two neighbours (omitting records, Theorem 5.1). A smaller set asks less of the mechanism and
may need more steps: between what is left alone there may be no way at all.

Of the sets between, the parts of all that is left always give the smallest `Delta`, because the way
through the common part stays within them. Databases that no shortest way needs are taken out one by
one until none can be spared: what remains is a smallest set by inclusion, of which no part will do.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from omit.omissions.kept import Database
from omit.omissions.pairs import distance

# Larger sets than this are not thinned out.
_LARGEST_SET = 3_000

EVERY, PARTS, SMALLEST, LEFT = (
    "all databases",
    "all parts of what is left",
    "a smallest set with the same steps",
    "only what is left",
)


@dataclass(frozen=True)
class TargetSet:
    """A set of databases that a mechanism must be private on.

    Attributes
    ----------
    name
        What kind of set it is.
    databases
        The databases in it.
    steps
        The largest number of steps within it between what is left of two neighbours; infinite
        where there is no way.
    """

    name: str
    databases: tuple[Database, ...]
    steps: float


def target_sets(
    every: Iterable[Database], left: Mapping[Database, Database], records: int, up_to: int
) -> tuple[TargetSet, ...]:
    """Return target sets from the largest to the smallest.

    Parameters
    ----------
    every : iterable
        All databases.
    left : mapping
        What is left of each.
    records : int
        The size of the universe.
    up_to : int
        The largest number of records of a database.

    Examples
    --------
    Whoever is alone is left out:

    >>> left = {(): (), (0,): (), (0, 0): (0, 0)}
    >>> for targets in target_sets(left, left, records=1, up_to=2):
    ...     print(targets.name, len(targets.databases), targets.steps)
    all databases 3 2
    all parts of what is left 3 2
    a smallest set with the same steps 3 2
    only what is left 2 inf
    """
    every, image = tuple(every), tuple(dict.fromkeys(left.values()))
    ends = _ends(left, records, up_to)
    parts = tuple(dict.fromkeys(part for database in image for part in _parts(database)))
    steps = max((distance(*pair) for pair in ends), default=0)
    found = [TargetSet(EVERY, every, steps), TargetSet(PARTS, parts, steps)]
    if len(parts) <= _LARGEST_SET:
        found.append(TargetSet(SMALLEST, _thinned(parts, image, ends, steps), steps))
    found.append(TargetSet(LEFT, image, _largest(image, ends)))
    return tuple(found)


def steps_within(
    allowed: Collection[Database], start: Database, end: Database, most: float = math.inf
) -> float:
    """Return the number of steps from one database to another within a set, infinite if none.

    Examples
    --------
    >>> steps_within({(), (0,), (0, 0)}, (), (0, 0)), steps_within({(), (0, 0)}, (), (0, 0))
    (2, inf)
    """
    records = {record for database in allowed for record in database}
    reached, border, steps = {start}, [start], 0
    while border and steps <= most:
        if end in reached:
            return steps
        border = [
            step
            for database in border
            for step in _one_step(database, records)
            if step in allowed and step not in reached and not reached.add(step)  # type: ignore[func-returns-value]  # adds what was not there
        ]
        steps += 1
    return math.inf


def _one_step(database: Database, records: Iterable[int]) -> Iterable[Database]:
    for number in range(len(database)):
        yield database[:number] + database[number + 1 :]
    for record in records:
        yield tuple(sorted((*database, record)))


def _ends(
    left: Mapping[Database, Database], records: int, up_to: int
) -> list[tuple[Database, Database]]:
    """Return what is left of neighbours, where that differs."""
    pairs: dict[tuple[Database, Database], None] = {}
    for database, kept in left.items():
        if len(database) < up_to:
            for record in range(records):
                other = left[tuple(sorted((*database, record)))]
                if kept != other:
                    pairs[min(kept, other), max(kept, other)] = None
    return list(pairs)


def _largest(allowed: Collection[Database], ends: Iterable[tuple[Database, Database]]) -> float:
    inside = set(allowed)
    return max((steps_within(inside, *pair) for pair in ends), default=0)


def _thinned(
    parts: Iterable[Database],
    image: Collection[Database],
    ends: list[tuple[Database, Database]],
    steps: int,
) -> tuple[Database, ...]:
    """Return a set of which nothing can be spared, large databases being taken out first."""
    inside, needed = set(parts), set(image)
    for candidate in sorted(inside - needed, key=lambda part: (-len(part), part)):
        inside.remove(candidate)
        through = [
            (one, other)
            for one, other in ends
            if distance(one, candidate) + distance(candidate, other) <= steps
        ]
        if any(steps_within(inside, *pair, steps) > steps for pair in through):
            inside.add(candidate)
    return tuple(sorted(inside, key=lambda part: (len(part), part)))


def _parts(database: Database) -> Iterable[Database]:
    counts = Counter(database)
    for chosen in itertools.product(*(range(count + 1) for count in counts.values())):
        yield tuple(
            itertools.chain.from_iterable(
                itertools.repeat(record, count)
                for record, count in zip(counts, chosen, strict=True)
            )
        )
