"""What the statistical-privacy paper claims, and how it is judged."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pandas as pd

from omit.papers.base import Claim, Computed, Finding, agreement, standing, untested
from omit.papers.statistical_privacy.cells import (
    ENUMERATED,
    TABLE_1,
    TABLE_2,
    PrintedTable,
    compared,
)
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


def more_queries(table: pd.DataFrame) -> Finding:
    """Judge whether the partition answers more queries than exact accounting allows DP."""
    ratios = table["dp_at_theorem"] / table["queries"]
    short = sorted({int(each) for each in table["queries"] - table["dp_at_exact"]})
    fewer = f"{short[0]}" if len(short) == 1 else f"between {short[0]} and {short[-1]}"
    return Finding(
        agreement(bool(each) for each in table["queries"] > table["dp_at_theorem"]),
        "At the paper's own (σ, ε, δ), exact accounting of Gaussian noise allows DP "
        f"{ratios.min():.0f} to {ratios.max():.0f} times as many queries as the partition answers. "
        "With the exact δ of the partition as well (one property, asked of every block), DP allows "
        f"{fewer} fewer than the partition in every cell: parity. The tables compare two bounds "
        "that are loose to a different degree.",
    )


def average_of_blocks(table: pd.DataFrame, enumerated: pd.DataFrame) -> Finding:
    """Judge whether the delta of a partition is at most the theorem's, case by case."""
    within = enumerated["delta"] <= enumerated["bound"] + _ROUNDING
    loose = (table["theorem"] / table["exact"]).max()
    return Finding(
        agreement(bool(each) for each in within),
        f"In {int(within.sum())} of {len(within)} small cases δ is at most the theorem's, by "
        "enumeration of all databases and partitions. It is loose where all blocks ask for the "
        f"same property, by a factor of up to {loose:,.0f} in these tables: there the exact delta "
        "is that of one query on all entries.",
    )


def _known_entries(computed: Computed) -> Finding:
    right, printed = (
        float(
            sampled_property_curve(
                12, 0.5, 6, 0.1, known=11, conditional=True, average=average
            ).delta[0]
        )
        for average in ("exact", "published")
    )
    return Finding(
        standing(math.isclose(printed, right)),
        "The weights must be C(v,z) C(n−1−v, s−1−z) / C(n−1, s−1): the critical entry is neither "
        "known nor drawn again. For n=12, s=6, v=11, ε=0.1 the printed form gives "
        f"{printed:.4f}, the truth is {right:g}.",
    )


def _of_table(table: PrintedTable) -> tuple[Claim, Claim]:
    where = table.name.replace("-", " ").capitalize()
    return (
        Claim(
            where,
            "σ and δ of the partitioned queries, to four decimals.",
            (table.name,),
            partial(_judged_table, table, sigma_and_delta),
        ),
        Claim(
            where,
            "The number of queries that differential privacy allows.",
            (table.name,),
            partial(_judged_table, table, queries_of_dp),
        ),
    )


def _judged_table(
    table: PrintedTable, judge: Callable[[pd.DataFrame], Finding], computed: Computed
) -> Finding:
    return judge(compared(computed, table))


CLAIMS = (
    *_of_table(TABLE_1),
    *_of_table(TABLE_2),
    Claim(
        "Abstract, Section 6",
        "For fixed privacy parameters and utility loss, statistical privacy allows significantly "
        "more queries than differential privacy.",
        ("queries",),
        lambda computed: more_queries(compared(computed, TABLE_1, TABLE_2)),
    ),
    Claim(
        "Theorems 5.1 to 5.4",
        "A random partition achieves the average of its blocks' deltas.",
        ("composition",),
        lambda computed: average_of_blocks(
            compared(computed, TABLE_1, TABLE_2), computed.frame(ENUMERATED)
        ),
    ),
    Claim(
        "Example 1",
        "The sampling privacy curve with v known entries, as an average over a hypergeometric "
        "distribution.",
        ("known-entries",),
        _known_entries,
    ),
    Claim(
        "Section 7",
        "Statistical privacy bounds are strictly sharper than those of Bhaskar et al.",
        ("known-entries",),
        untested(
            "The older bounds are for databases that change between queries, which is another "
            "setting."
        ),
    ),
)
