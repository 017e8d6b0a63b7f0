"""The numbers behind Breutigam and Reischuk's tables, and their theorems by enumeration.

What Tables 1 and 2 print is here as data, next to what is computed for the same cells. Theorems 5.1
to 5.4 bound the delta of a random partition by an average over its blocks. They are held against
the definition: in small cases every database, every partition and every list of answers is listed.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from omit.papers.base import Computed
from omit.statistical.assumptions import Entries
from omit.statistical.composition import Analyst, Answers, ScoreQuery, ask, composition_bound
from omit.statistical.planner import plan
from omit.study.cell import Cell, Computation, Row


@dataclass(frozen=True)
class PrintedTable:
    """A table of the paper: sigma, delta and #DP by epsilon and number of queries."""

    name: str
    n: int
    epsilons: tuple[float, ...]
    rows: tuple[tuple[int, float, tuple[tuple[float, int], ...]], ...]

    def printed(self) -> pd.DataFrame:
        """Return a row for every cell of the table, epsilon by epsilon."""
        names = ["n", "epsilon", "queries", "printed_sigma", "printed_delta", "printed_dp"]
        rows = [
            (self.n, epsilon, queries, sigma, *columns[index])
            for index, epsilon in enumerate(self.epsilons)
            for queries, sigma, columns in self.rows
        ]
        return pd.DataFrame(rows, columns=names)

    def cells(self) -> tuple[Cell, ...]:
        """Return the cells of the study that compute the table."""
        queries = [row[0] for row in self.rows]
        return PLANNED.grid(n=self.n, epsilon=self.epsilons, queries=queries)

    def compared(self, computed: Computed) -> pd.DataFrame:
        """Return what is printed next to what is computed, and how one was made from the other."""
        planned = computed.frame(PLANNED)
        table = self.printed().merge(planned, on=["n", "epsilon", "queries"], how="inner")
        kinds = (("sigma", "sigma", 4), ("delta", "theorem", 4), ("dp", "dp_formula", 0))
        for name, column, decimals in kinds:
            pairs = zip(table[f"printed_{name}"], table[column], strict=True)
            table[f"{name}_match"] = [match(*pair, decimals) for pair in pairs]
        return table


TABLE_1 = PrintedTable(
    "table-1",
    2**15,
    (0.005, 0.01, 0.02),
    (
        (32, 0.0153, ((0.0225, 0), (0.0203, 3), (0.0163, 9))),
        (64, 0.0219, ((0.0329, 1), (0.0306, 6), (0.0264, 20))),
        (128, 0.0311, ((0.0475, 3), (0.0452, 12), (0.0409, 44))),
        (256, 0.0441, ((0.0682, 6), (0.0660, 25), (0.0617, 93))),
        (512, 0.0624, ((0.0973, 12), (0.0953, 50), (0.0912, 194))),
    ),
)
TABLE_2 = PrintedTable(
    "table-2",
    2**10,
    (0.05, 0.1, 0.2),
    (
        (32, 0.0869, ((0.1214, 2), (0.1020, 7), (0.0711, 23))),
        (64, 0.1240, ((0.1808, 4), (0.1644, 16), (0.1291, 55))),
        (128, 0.1760, ((0.2618, 9), (0.2496, 35), (0.2232, 126))),
    ),
)


def _planned(parameters: Row, prepared: object, rng: np.random.Generator) -> Row:
    """Return the standard error, both deltas and what DP allows at them."""
    n, epsilon = parameters["n"], parameters["epsilon"]
    planned = plan(n, parameters["queries"], epsilon, same_property=True)
    at_theorem, at_exact = planned.dp_at_theorem, planned.dp_at_exact
    sigma, theorem = planned.standard_errors[0], planned.theorem
    return {
        "sigma": sigma,
        "theorem": theorem,
        "exact": planned.exact,
        "dp_at_theorem": None if at_theorem is None else at_theorem.exact,
        "dp_at_exact": None if at_exact is None else at_exact.exact,
        # The paper's #DP before it is made a whole number; the formula is inferred from the cells.
        "dp_formula": (sigma * epsilon * n) ** 2 / (8 * math.log(math.e + epsilon / theorem)),
    }


PLANNED = Computation("plan of a partition", 1, _planned)


def both_tables(computed: Computed) -> pd.DataFrame:
    """Return all cells of both tables, printed next to computed."""
    return pd.concat([t.compared(computed) for t in (TABLE_1, TABLE_2)], ignore_index=True)


def match(printed: float, value: float, decimals: int) -> str:
    """Return how a number was printed with this many decimals.

    Examples
    --------
    >>> match(0.0306, 0.030651, 4), match(3, 2.72, 0), match(5, 2.72, 0)
    ('truncated', 'rounded', 'differs')
    """
    scale = 10**decimals
    wanted = round(printed * scale)
    # Deltas carry a margin of 1e-9 upward; it must not turn a truncation around.
    if math.floor(value * scale * (1 - 2e-9)) == wanted:
        return "truncated"
    return "rounded" if round(value * scale) == wanted else "differs"


Law: TypeAlias = Mapping[Any, float]

_ONES = ScoreQuery("ones", {0: 0, 1: 1})
_ZEROS = ScoreQuery("zeros", {0: 1, 1: 0})
_LARGE = ScoreQuery("large", {0: 0, 1: 0, 2: 1})
_TOTAL = ScoreQuery("total", {0: 0, 1: 1, 2: 2})
_COIN, _OTHER_COIN = {0: 0.7, 1: 0.3}, {0: 0.2, 1: 0.8}
_THREE, _OTHER_THREE = {0: 0.5, 1: 0.3, 2: 0.2}, {0: 0.1, 1: 0.1, 2: 0.8}


def _suspicious(answers: Answers) -> ScoreQuery:
    """Ask for the total first, and go on depending on the answer."""
    return _LARGE if answers and answers[-1] >= 2 else _TOTAL


@dataclass(frozen=True)
class SmallCase:
    """A case of a theorem that is small enough to list: groups of entries, blocks, an analyst."""

    groups: tuple[tuple[int, Law], ...]
    sizes: tuple[int, ...]
    analyst: Analyst


SMALL_CASES: Mapping[str, SmallCase] = MappingProxyType(
    {
        "Theorem 5.1": SmallCase(((6, _COIN),), (3, 3), ask(_ONES, _ONES)),
        "Theorem 5.1, unequal blocks": SmallCase(((6, _COIN),), (1, 4), ask(_ONES, _ZEROS)),
        "Theorem 5.1, three values": SmallCase(((5, _THREE),), (3, 2), ask(_TOTAL, _LARGE)),
        "Theorem 5.2": SmallCase(((3, _COIN), (3, _OTHER_COIN)), (2, 4), ask(_ONES, _ONES)),
        "Theorem 5.3": SmallCase(((5, _THREE),), (2, 2, 1), _suspicious),
        "Theorem 5.4": SmallCase(((3, _THREE), (2, _OTHER_THREE)), (2, 3), _suspicious),
    }
)
ENUMERATED_EPSILONS = (0.0, 0.1, 0.7)


def _enumerated(parameters: Row, prepared: object, rng: np.random.Generator) -> list[Row]:
    """Return the delta of the answers by their definition, and by the theorem."""
    case = SMALL_CASES[parameters["case"]]
    laws = [law for size, law in case.groups for _ in range(size)]
    released = [_released(laws, value, case) for value in laws[0]]
    entries, epsilons = Entries(case.groups), ENUMERATED_EPSILONS
    bound = composition_bound(
        entries, case.sizes, case.analyst, epsilons, critical=0, method="listed"
    )
    return [
        {
            "epsilon": epsilon,
            "delta": max(
                math.fsum(max(0.0, p - math.exp(epsilon) * q.get(x, 0.0)) for x, p in law.items())
                for law, q in itertools.permutations(released, 2)
            ),
            "bound": float(delta),
        }
        for epsilon, delta in zip(epsilons, bound.delta, strict=True)
    ]


def _released(laws: Sequence[Law], value: int, case: SmallCase) -> dict[Answers, float]:
    """Return the law of all answers if the first entry has a value."""
    fixed = [{value: 1.0}, *laws[1:]]
    # Every way to draw disjoint blocks of these sizes, with the entries that remain.
    partitions: list[tuple[tuple[tuple[int, ...], ...], set[int]]] = [((), set(range(len(laws))))]
    for size in case.sizes:
        partitions = [
            ((*blocks, block), rest - set(block))
            for blocks, rest in partitions
            for block in itertools.combinations(sorted(rest), size)
        ]
    released: dict[Answers, float] = defaultdict(float)
    for database in itertools.product(*fixed):
        weight = math.prod(law[entry] for law, entry in zip(fixed, database, strict=True))
        for blocks, _ in partitions:
            answers: Answers = ()
            for block in blocks:
                scores = case.analyst(answers).scores
                answers = (*answers, sum(scores[database[entry]] for entry in block))
            released[answers] += weight / len(partitions)
    return released


ENUMERATED = Computation("composition by enumeration", 1, _enumerated)
