"""Checks of randomised cell suppression that know nothing of its proof: everything is listed.

All tables with few records, all their neighbours under replace, and all answers of two cells give
the smallest delta by definition: the sum of what one answer is more probable than e^epsilon times
under the neighbour. That is held against the formula of `RandomisedCellSuppression` and against
Theorem 1 of Das et al.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from omit.audit.bounds import Audit, Cases, Check
from omit.disclosure.suppression import RandomisedCellSuppression
from omit.disclosure.table import Attribute, Universe

CellLaw = Mapping[int, float]
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class SuppressionAudit(Audit):
    """The outcomes of the checks of randomised suppression."""

    command: ClassVar[str] = "verify suppression"


def checks(seed: int = 0, cases: int = 300) -> list[Check]:
    """Return all checks; every case is a random universe, threshold and epsilon of its own."""
    streams = np.random.default_rng(seed).spawn(3)
    return [
        Check(
            "suppression, empty cells too: exact δ = δ by listing all tables and answers",
            cases,
            _exact_deltas(streams[0], cases, zeros_kept=False),
            _TOLERANCE,
            exact=True,
        ),
        Check(
            "suppression, empty cells kept: exact δ = δ by listing all tables and answers",
            cases,
            _exact_deltas(streams[1], cases, zeros_kept=True),
            _TOLERANCE,
            exact=True,
        ),
        Check(
            "Theorem 1 of Das et al., empty cells too: δ by listing <= 1 − e^(−ε(B − k))/4",
            cases,
            _theorem_1(streams[2], cases),
            _TOLERANCE,
        ),
    ]


def listed_delta(
    law: Callable[[int], CellLaw], cells: int, records: int, largest: int, epsilon: float
) -> float:
    """Return the smallest delta of a release that treats cells alike and independently.

    Parameters
    ----------
    law : callable
        The answers of a cell with that many records, with their probabilities.
    cells, records, largest : int
        The tables: how many cells and records they have, and the largest count of a cell.
    epsilon : float
        At which epsilon.

    Examples
    --------
    Whoever shows every count needs delta = 1:

    >>> listed_delta(lambda count: {count: 1.0}, cells=3, records=2, largest=2, epsilon=1.0)
    1.0
    """
    laws, factor = [law(count) for count in range(largest + 1)], math.exp(epsilon)
    worst = 0.0
    for x, y in changing_pairs(cells, records, largest):
        before, after = _joint(laws[x], laws[y]), _joint(laws[x - 1], laws[y + 1])
        excess = (
            chance - factor * after.get(answer, 0.0)
            for answer, chance in before.items()
            if chance > factor * after.get(answer, 0.0)
        )
        worst = max(worst, math.fsum(excess))
    return worst


def changing_pairs(cells: int, records: int, largest: int) -> Iterator[tuple[int, int]]:
    """Give every pair of counts of which the first loses a record to the second in some table.

    All other cells keep theirs, so they tell nothing.

    Examples
    --------
    >>> sorted(changing_pairs(cells=2, records=2, largest=2))
    [(1, 1), (2, 0)]
    """
    seen = set()
    for counts in itertools.product(range(largest + 1), repeat=cells):
        if sum(counts) != records:
            continue
        for x, y in itertools.permutations(counts, 2):
            if x >= 1 and y < largest:
                seen.add((x, y))
    yield from seen


def cell_law(suppression: RandomisedCellSuppression, count: int) -> dict[int, float]:
    """Return the answers of a cell by the definition: ⌊k/2⌋ if it is suppressed, else its count."""
    hidden = float(suppression.suppress_probability(count))
    law: dict[int, float] = {}
    for answer, chance in ((suppression.imputed, hidden), (count, 1 - hidden)):
        if chance > 0:
            law[answer] = law.get(answer, 0.0) + chance
    return law


def _joint(first: CellLaw, second: CellLaw) -> dict[tuple[int, int], float]:
    return {(a, b): p * q for a, p in first.items() for b, q in second.items()}


def _setting(rng: np.random.Generator) -> tuple[Universe, int, float]:
    """Return a random universe of few records, a threshold and an epsilon."""
    cells, largest = int(rng.integers(2, 5)), int(rng.integers(2, 7))
    records = int(rng.integers(1, cells * largest + 1))
    kinds = Attribute("kind", tuple(f"c{number}" for number in range(cells)))
    universe = Universe((kinds,), records, min(largest, records))
    return universe, int(rng.integers(1, 9)), float(rng.uniform(0.1, 3))


def _listed(
    rng: np.random.Generator, zeros_kept: bool
) -> tuple[RandomisedCellSuppression, Universe, float]:
    """Return a random suppression, its universe, and its delta by listing."""
    universe, threshold, epsilon = _setting(rng)
    suppression = RandomisedCellSuppression(threshold, zeros_kept, epsilon)
    listed = listed_delta(
        lambda count: cell_law(suppression, count),
        universe.cells,
        universe.records,
        universe.largest_count,
        epsilon,
    )
    return suppression, universe, listed


def _exact_deltas(rng: np.random.Generator, count: int, zeros_kept: bool) -> Cases:
    for _ in range(count):
        suppression, universe, listed = _listed(rng, zeros_kept)
        yield suppression.exact_delta(suppression.epsilon, universe).delta, listed


def _theorem_1(rng: np.random.Generator, count: int) -> Cases:
    for _ in range(count):
        suppression, universe, listed = _listed(rng, zeros_kept=False)
        while not suppression.threshold < universe.largest_count:  # the theorem needs k < B
            suppression, universe, listed = _listed(rng, zeros_kept=False)
        yield suppression.published_delta(universe.largest_count).delta, listed
