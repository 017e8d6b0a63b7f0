"""What the statistical-privacy paper claims of its tables, and concludes from them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from omit.papers.claims import (
    Claim,
    Finding,
    Judge,
    agreement,
    claims_in,
    under_every_reading,
)
from omit.papers.statistical_privacy import cells
from omit.statistical.partition import Partition
from omit.statistical.properties import property_curve


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


def _of_table(table: cells.PrintedTable) -> tuple[Claim, Claim]:
    where, about = table.name.replace("-", " ").capitalize(), (table.name,)
    sigma = "σ and δ of the partitioned queries, to four decimals."
    queries = "The number of queries that differential privacy allows."
    return (
        Claim(where, sigma, about, sigma_and_delta, table.compared, f"{table.name}-deltas"),
        Claim(where, queries, about, queries_of_dp, table.compared, f"{table.name}-queries"),
    )


_ACCOUNTING = {
    "the printed numbers of DP queries": "printed_dp",
    "exact accounting of DP at the paper's own (σ, ε, δ)": "dp_at_theorem",
    "exact accounting of both": "dp_at_exact",
}
"""Three ways to count the queries that DP allows at the same error, by the column that has them."""


def _counted(column: str, judge: Judge) -> Judge:
    """Return the judge of what follows from the queries that DP allows by a column."""

    def counted(table: pd.DataFrame) -> Finding | None:
        finding = judge(table.assign(dp=table[column]))
        assert finding is not None
        off = np.abs(table[column] - table["printed_dp"]) / np.maximum(table["printed_dp"], 1)
        return Finding(finding.standing, finding.evidence, float(np.median(off)))

    return counted


def _under_every_accounting(judge: Judge) -> Judge:
    return under_every_reading(
        {name: _counted(column, judge) for name, column in _ACCOUNTING.items()}
    )


_SIGNIFICANT = 1.1
"""How many times as many queries are significantly more."""


def _more_queries(table: pd.DataFrame) -> Finding:
    ratios = table["queries"] / np.maximum(table["dp"], 1)
    more = ratios > _SIGNIFICANT
    return Finding(
        agreement(*more),
        f"The partition answers {ratios.min():.3g} to {ratios.max():.3g} times as many queries as "
        f"DP, and over a tenth more in {int(more.sum())} of {len(more)} cells.",
    )


MORE_QUERIES = Claim(
    "Abstract, Section 6",
    "For fixed privacy parameters and utility loss, statistical privacy allows significantly more "
    "queries than differential privacy.",
    ("queries",),
    _under_every_accounting(_more_queries),
    cells.both_tables,
    "more-queries",
)


def _gap_closes(table: pd.DataFrame) -> Finding:
    ratios = table["queries"] / np.maximum(table["dp"], 1)
    by_epsilon = [
        [float(row.mean()) for _, row in ratios[table["n"] == n].groupby(table["epsilon"])]
        for n in sorted(set(table["n"]))
    ]
    closes = all(np.all(np.diff(row) < 0) and row[0] > _SIGNIFICANT for row in by_epsilon)
    small = table[(table["n"] == cells.TABLE_2.n) & (table["epsilon"] == 0.1)]
    remains = bool((small["queries"] > _SIGNIFICANT * small["dp"]).all())
    shown = "; ".join(
        f"n = {n:,}: " + ", ".join(f"{value:.3g}" for value in row)
        for n, row in zip(sorted(set(table["n"])), by_epsilon, strict=True)
    )
    return Finding(
        agreement(closes, remains),
        f"Partition by DP, on average over a column with ε rising: {shown}. At ε = 0.1 on "
        f"{cells.TABLE_2.n:,} entries DP allows "
        f"{', '.join(f'{value:,}' for value in small['dp'])} of "
        f"{', '.join(f'{value:,}' for value in small['queries'])}.",
    )


GAP_CLOSES = Claim(
    "Section 6",
    "The difference is substantial at strong ε, less pronounced at relaxed ε, and still "
    "significant at ε = 0.1 on the smaller database.",
    ("queries",),
    _under_every_accounting(_gap_closes),
    cells.both_tables,
    "gap-closes",
)


def _only_few(table: pd.DataFrame) -> Finding:
    smallest = table[table["epsilon"] == table.groupby("n")["epsilon"].transform("min")]
    return Finding(
        agreement((smallest["dp"] < smallest["queries"] / 2).all()),
        f"At the smallest ε of each table DP allows {smallest['dp'].min():,} to "
        f"{smallest['dp'].max():,} queries, where the partition has {smallest['queries'].min():,} "
        f"to {smallest['queries'].max():,}.",
    )


ONLY_FEW = Claim(
    "Section 7",
    "Under DP only a small number of queries is admissible for small ε.",
    ("queries",),
    _under_every_accounting(_only_few),
    cells.both_tables,
    "only-few-queries",
)


def _older_bounds(delta_of: str) -> Judge:
    """Return the judge that compares Theorem 5.1 with what the older setting gives."""

    def judge(table: pd.DataFrame) -> Finding:
        return _sharper(table["theorem"] / table[delta_of], "Theorem 5.1")

    return judge


def with_older_settings(table: pd.DataFrame) -> pd.DataFrame:
    """Return the tables' cells with the deltas that older ways to compose give.

    ``fresh``: every query is asked of a block's worth of entries of its own, which change from one
    query to the next, so that nobody is in two; ``added``: every query is asked of all entries, and
    epsilons and deltas are added up as for independent noise; ``partition``: exactly.

    Examples
    --------
    >>> cell = pd.DataFrame({"n": [1024], "queries": [32], "epsilon": [0.1]})
    >>> with_older_settings(cell)[["fresh", "added"]].round(4).values.tolist()
    [[0.1021, 0.7501]]
    """
    rows = []
    for n, queries, epsilon in zip(table["n"], table["queries"], table["epsilon"], strict=True):
        alone = property_curve(n // queries, 0.5, epsilon).delta[0]
        summed = queries * property_curve(n, 0.5, epsilon / queries).delta[0]
        exact = Partition.equal(n, queries).property_exact(0.5, epsilon).delta[0]
        rows.append((float(alone), min(float(summed), 1.0), float(exact)))
    fresh, added, partition = zip(*rows, strict=True)
    return table.assign(fresh=fresh, added=added, partition=partition)


def _exact_against_fresh(table: pd.DataFrame) -> Finding:
    return _sharper(table["partition"] / table["fresh"], "the partition, exactly,")


def _sharper(ratios: pd.Series, whose: str) -> Finding:
    """Return whether deltas are below older ones in every cell, from their ratios."""
    equal = int(np.isclose(ratios, 1, rtol=1e-6).sum())
    remark = f", and equal in {equal} of {len(ratios)} cells" if equal else ""
    return Finding(
        agreement((ratios < 1 - 1e-6).all()),
        f"δ of {whose} is {ratios.min():.3g} to {ratios.max():.3g} times that{remark}.",
    )


OLDER_BOUNDS = Claim(
    "Section 7",
    "Statistical privacy bounds for composition are strictly sharper than those of Bhaskar et al., "
    "whose database changes between queries.",
    ("queries",),
    under_every_reading(
        {
            "epsilons and deltas added up over queries of all entries": _older_bounds("added"),
            "as many fresh entries for every query as a block has, by Theorem 5.1": _older_bounds(
                "fresh"
            ),
            "as many fresh entries for every query as a block has, exactly": _exact_against_fresh,
        }
    ),
    lambda computed: with_older_settings(cells.both_tables(computed)),
    "older-bounds",
)

CLAIMS = (*_of_table(cells.TABLE_1), *_of_table(cells.TABLE_2), *claims_in(globals()))
