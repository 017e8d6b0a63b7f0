"""Breutigam and Reischuk, "Parallel Composition for Statistical Privacy": what its tables say.

The numbers printed in Tables 1 and 2, the same numbers computed anew, and verdicts that follow from
the comparison. Nothing here is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from omit.papers.reproduction import Paper, Verdict, agreement, standing
from omit.statistical.background import sampled_property_curve
from omit.statistical.planner import Plan, plan

if TYPE_CHECKING:
    import pandas as pd


PAPER = Paper(
    "statistical-privacy",
    "Parallel Composition for Statistical Privacy",
    "D. Breutigam, R. Reischuk, “Parallel Composition for Statistical Privacy”, "
    "Universität zu Lübeck.",
)

Match: TypeAlias = Literal["truncated", "rounded", "exact", "differs"]


@dataclass(frozen=True)
class PrintedTable:
    """A table of the paper: for each epsilon and number of queries, sigma, delta and #DP."""

    name: str
    n: int
    epsilons: tuple[float, ...]
    rows: tuple[tuple[int, float, tuple[tuple[float, int], ...]], ...]


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


@dataclass(frozen=True)
class Cell:
    """One epsilon and number of queries: what is printed, and what is found."""

    epsilon: float
    queries: int
    printed_sigma: float
    printed_delta: float
    printed_dp: int
    found: Plan
    dp_value: float
    """The formula of the paper's #DP before it is made a whole number."""

    @property
    def sigma(self) -> float:
        """The standard error, computed."""
        return self.found.standard_errors[0]

    @property
    def sigma_match(self) -> Match:
        """How the printed standard error was made from the computed one."""
        return _match(self.printed_sigma, self.sigma, 4)

    @property
    def delta_match(self) -> Match:
        """How the printed delta was made from the computed one."""
        return _match(self.printed_delta, self.found.theorem, 4)

    @property
    def dp_match(self) -> Match:
        """How the printed number of DP queries was made from the formula."""
        return _match(self.printed_dp, self.dp_value, 0)


def _match(printed: float, value: float, decimals: int) -> Match:
    scale = 10**decimals
    wanted = round(printed * scale)
    # Deltas carry a margin of 1e-9 upward; it must not turn a truncation around.
    if math.floor(value * scale * (1 - 2e-9)) == wanted:
        return "truncated"
    return "rounded" if round(value * scale) == wanted else "differs"


_SIGNS = {"truncated": "↓", "rounded": "≈", "exact": "=", "differs": "≠"}


def cells(table: PrintedTable) -> list[Cell]:
    """Return every cell of a table, computed anew.

    Examples
    --------
    >>> first = cells(TABLE_2)[0]
    >>> round(first.found.theorem, 6), first.delta_match
    (0.12149, 'truncated')
    """
    found = []
    for place, epsilon in enumerate(table.epsilons):
        for queries, sigma, columns in table.rows:
            computed = plan(table.n, queries, epsilon, same_property=True)
            delta, number = columns[place]
            error = computed.standard_errors[0]
            value = (error * epsilon * table.n) ** 2 / (
                8 * math.log(math.e + epsilon / computed.theorem)
            )
            found.append(Cell(epsilon, queries, sigma, delta, number, computed, value))
    return found


def cell_frame(every: Sequence[Cell]) -> pd.DataFrame:
    """Return cells as a table: printed beside computed."""
    import pandas as pd

    def exact_dp(cell: Cell) -> tuple[int, int]:
        at_theorem, at_exact = cell.found.dp_at_theorem, cell.found.dp_at_exact
        assert at_theorem is not None
        assert at_exact is not None
        return at_theorem.exact, at_exact.exact

    return pd.DataFrame(
        {
            "ε": [cell.epsilon for cell in every],
            "#SP": [cell.queries for cell in every],
            "σ printed": [f"{cell.printed_sigma:.4f}" for cell in every],
            "σ found": [f"{cell.sigma:.6f}" for cell in every],
            "δ printed": [f"{cell.printed_delta:.4f}" for cell in every],
            "δ found": [f"{cell.found.theorem:.6f}" for cell in every],
            "δ exact": [f"{cell.found.exact:.4g}" for cell in every],
            "#DP printed": [cell.printed_dp for cell in every],
            "formula": [f"{cell.dp_value:.2f}\u00a0{_SIGNS[cell.dp_match]}" for cell in every],
            "#DP exact": [exact_dp(cell)[0] for cell in every],
            "#DP exact, δ exact": [exact_dp(cell)[1] for cell in every],
        }
    )


def table_verdicts(name: str, every: Sequence[Cell]) -> tuple[Verdict, ...]:
    """Return what becomes of a table's own numbers."""
    where = name.replace("-", " ").capitalize()
    sigmas = {(cell.queries, cell.sigma_match) for cell in every}
    reproduced = all(match == "truncated" for _, match in sigmas) and all(
        cell.delta_match == "truncated" for cell in every
    )
    matches = [cell.dp_match for cell in every]
    truncated = matches.count("truncated")
    only_rounded = sorted({cell.epsilon for cell in every if cell.dp_match == "rounded"})
    remark = ""
    if only_rounded:
        columns = ", ".join(f"{epsilon:g}" for epsilon in only_rounded)
        remark = (
            f"; the other {len(matches) - truncated} are rounded instead, all in the column "
            f"ε = {columns}"
        )
    return (
        Verdict(
            "σ and δ of the partitioned queries, to four decimals.",
            where,
            "holds" if reproduced else "holds in part",
            f"All {len(sigmas)} σ and {len(every)} δ are reproduced; they are cut off after four "
            "decimals, not rounded."
            if reproduced
            else "Not every cell is reproduced; see the table.",
        ),
        Verdict(
            "The number of queries that differential privacy allows.",
            where,
            "holds" if "differs" not in matches else "holds in part",
            f"⌊σ²ε²n² / (8 ln(e + ε/δ))⌋ gives {truncated} of {len(matches)} cells{remark}. The "
            "formula is inferred from the cells.",
        ),
    )


def main_verdicts(every: Sequence[Cell]) -> tuple[Verdict, ...]:
    """Return what becomes of the paper's claims beyond single tables."""
    gains = [cell for cell in every if cell.found.dp_at_exact is not None]
    exact = [(c.queries, c.found.dp_at_theorem, c.found.dp_at_exact) for c in gains]
    fewest = min(t.exact / q for q, t, _ in exact if t is not None)
    most = max(t.exact / q for q, t, _ in exact if t is not None)
    short = sorted({q - e.exact for q, _, e in exact if e is not None})
    fewer = f"{short[0]}" if len(short) == 1 else f"between {short[0]} and {short[-1]}"
    loose = max(c.found.theorem / c.found.exact for c in gains if c.found.exact)
    right = sampled_property_curve(12, 0.5, 6, 0.1, known=11, conditional=True).delta[0]
    printed = sampled_property_curve(
        12, 0.5, 6, 0.1, known=11, conditional=True, average="published"
    ).delta[0]
    return (
        Verdict(
            "For fixed privacy parameters and utility loss, statistical privacy allows "
            "significantly more queries than differential privacy.",
            "Abstract, Section 6",
            agreement([q > t.exact for q, t, _ in exact if t is not None]),
            "At the paper's own (σ, ε, δ), exact accounting of Gaussian noise allows DP "
            f"{fewest:.0f} to {most:.0f} times as many queries as the partition answers. With the "
            "exact δ of the partition as well (one property, asked of every block), DP allows "
            f"{fewer} fewer than the partition in every cell: parity. The tables compare two "
            "bounds that are loose to a different degree.",
        ),
        Verdict(
            "A random partition achieves the average of its blocks' deltas.",
            "Theorems 5.1 to 5.4",
            "holds",
            "By enumeration of all databases and partitions in small cases. It is loose where all "
            f"blocks ask for the same property, by a factor of up to {loose:,.0f} in these tables: "
            "there the exact delta is that of one query on all entries.",
        ),
        Verdict(
            "The sampling privacy curve with v known entries, as an average over a hypergeometric "
            "distribution.",
            "Example 1",
            standing(math.isclose(printed, right)),
            "The weights must be C(v,z) C(n−1−v, s−1−z) / C(n−1, s−1): the critical entry is "
            f"neither known nor drawn again. For n=12, s=6, v=11, ε=0.1 the printed form gives "
            f"{printed:.4f}, the truth is {right:g}.",
        ),
        Verdict(
            "Statistical privacy bounds are strictly sharper than those of Bhaskar et al.",
            "Section 7",
            "not tested",
            "The older bounds are for databases that change between queries, which is another "
            "setting.",
        ),
    )
