"""The numbers behind Breutigam and Reischuk's tables: what they print, next to what is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from omit._numeric import FloatArray
from omit.papers.base import Computed
from omit.statistical.planner import plan
from omit.statistical.properties import property_curve
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


SAMPLE = 400
"""How many entries the sample of Section 4's pictures has."""
FIXED_EPSILONS = (0.02, 0.1, 0.2, 0.5)


def deltas_by_size(computed: Computed | None = None) -> dict[float, FloatArray]:
    """Return delta of a count on 1 to `SAMPLE` unknown coins, for a few epsilons.

    Examples
    --------
    >>> deltas_by_size()[0.1][:3].round(4)
    array([1.    , 0.5   , 0.4737])
    """
    epsilon = np.array(FIXED_EPSILONS)
    deltas = [property_curve(size, 0.5, epsilon).delta for size in range(1, SAMPLE + 1)]
    return dict(zip(FIXED_EPSILONS, np.array(deltas).T, strict=True))
