"""Parallel composition for statistical privacy, by Breutigam and Reischuk: what it claims."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from omit.papers.base import Claim, Computed, Finding, Paper, agreement, claim, claims_in
from omit.papers.statistical_privacy import cells, figures
from omit.statistical.properties import sampled_property_curve

# What sums over all databases and the bound's own margin may differ by.
_ROUNDING = 1e-9


def sigma_and_delta(table: pd.DataFrame) -> Finding:
    """Judge whether the printed standard errors and deltas are those of a table."""
    sigmas = {*zip(table["queries"], table["sigma_match"], strict=True)}
    wrong = [which for _, which in sigmas if which != "truncated"]
    wrong += [which for which in table["delta_match"] if which != "truncated"]
    if wrong:
        return Finding("holds in part", f"{len(wrong)} σ or δ are not reproduced; see the table.")
    return Finding(
        "holds",
        f"All {len(sigmas)} σ and {len(table)} δ are reproduced; they are cut off after four "
        "decimals, not rounded.",
    )


def queries_of_dp(table: pd.DataFrame) -> Finding:
    """Judge whether the printed numbers of queries follow from one formula."""
    matches = table["dp_match"].tolist()
    truncated = matches.count("truncated")
    columns = sorted(set(table[table["dp_match"] == "rounded"]["epsilon"]))
    remark = ""
    if columns:
        remark = (
            f"; the other {len(matches) - truncated} are rounded instead, all in the column "
            f"ε = {', '.join(f'{epsilon:g}' for epsilon in columns)}"
        )
    return Finding(
        "holds" if "differs" not in matches else "holds in part",
        f"⌊σ²ε²n² / (8 ln(e + ε/δ))⌋ gives {truncated} of {len(matches)} cells{remark}. The "
        "formula is inferred from the cells.",
    )


@claim(
    "Abstract, Section 6",
    "queries",
    "For fixed privacy parameters and utility loss, statistical privacy allows significantly "
    "more queries than differential privacy.",
    of=cells.both_tables,
)
def more_queries(table: pd.DataFrame) -> Finding:
    ratios = table["dp_at_theorem"] / table["queries"]
    short = sorted({int(difference) for difference in table["queries"] - table["dp_at_exact"]})
    fewer = f"{short[0]}" if len(short) == 1 else f"between {short[0]} and {short[-1]}"
    return Finding(
        agreement(*(table["queries"] > table["dp_at_theorem"])),
        "At the paper's own (σ, ε, δ), exact accounting of Gaussian noise allows DP "
        f"{ratios.min():.0f} to {ratios.max():.0f} times as many queries as the partition answers. "
        "With the exact δ of the partition as well (one property, asked of every block), DP allows "
        f"{fewer} fewer than the partition in every cell: parity. The tables compare two bounds "
        "that are loose to a different degree.",
    )


@claim(
    "Theorems 5.1 to 5.4",
    "composition",
    "A random partition achieves the average of its blocks' deltas.",
    of=lambda computed: (cells.both_tables(computed), computed.frame(cells.ENUMERATED)),
)
def average_of_blocks(numbers: tuple[pd.DataFrame, pd.DataFrame]) -> Finding:
    table, enumerated = numbers
    within = enumerated["delta"] <= enumerated["bound"] + _ROUNDING
    loose = (table["theorem"] / table["exact"]).max()
    return Finding(
        agreement(*within),
        f"In {int(within.sum())} of {len(within)} small cases δ is at most the theorem's, by "
        "enumeration of all databases and partitions. It is loose where all blocks ask for the "
        f"same property, by a factor of up to {loose:,.0f} in these tables: there the exact delta "
        "is that of one query on all entries.",
    )


@claim(
    "Example 1",
    "known-entries",
    "The sampling privacy curve with v known entries, as an average over a hypergeometric "
    "distribution.",
)
def _known_entries(computed: Computed) -> Finding:
    curve = partial(sampled_property_curve, 12, 0.5, 6, 0.1, known=11, conditional=True)
    right, printed = (float(curve(average=name).delta[0]) for name in ("exact", "published"))
    return Finding(
        agreement(math.isclose(printed, right)),
        "The weights must be C(v,z) C(n−1−v, s−1−z) / C(n−1, s−1): the critical entry is neither "
        "known nor drawn again. For n=12, s=6, v=11, ε=0.1 the printed form gives "
        f"{printed:.4f}, the truth is {right:g}.",
    )


@claim(
    "Section 7",
    "known-entries",
    "Statistical privacy bounds are strictly sharper than those of Bhaskar et al.",
)
def _older_bounds(computed: Computed) -> Finding:
    return Finding(
        "not tested",
        "The older bounds are for databases that change between queries, which is another setting.",
    )


def _of_table(table: cells.PrintedTable) -> tuple[Claim, Claim]:
    where = table.name.replace("-", " ").capitalize()
    sigma = "σ and δ of the partitioned queries, to four decimals."
    queries = "The number of queries that differential privacy allows."
    return (
        Claim(where, sigma, (table.name,), sigma_and_delta, table.compared),
        Claim(where, queries, (table.name,), queries_of_dp, table.compared),
    )


PAPER = Paper(
    "statistical-privacy",
    "Parallel Composition for Statistical Privacy",
    "D. Breutigam, R. Reischuk, “Parallel Composition for Statistical Privacy”, "
    "Universität zu Lübeck.",
    figures.EXHIBITS,
    (*_of_table(cells.TABLE_1), *_of_table(cells.TABLE_2), *claims_in(globals())),
    notes=lambda computed: (
        "Statistical privacy and differential privacy are different promises: the first assumes "
        "that the adversary knows the distribution of the entries and none of the entries. Where "
        "numbers of queries stand side by side, it is the paper that compares them.",
    ),
    refusals={
        "runs": "Nothing in statistical-privacy is simulated, so there are no runs to choose.",
        "exact": "Nothing in statistical-privacy is simulated; all of it is exact.",
        "epsilons": "statistical-privacy holds printed numbers against computed ones, at the "
        "epsilons that are printed; omit partition plan computes others.",
        "data": "statistical-privacy is about numbers of entries and no data; omit partition "
        "answers queries on yours.",
    },
)
