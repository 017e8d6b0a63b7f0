"""What the paper on omitting records claims about utility, and how it is judged.

`judged` makes one table of all cells, with where each omission stands; a claim reads its rows of
it. A claim that omission is worse holds if it surely is worse in nearly all cells that are decided,
fails if it surely is better in a considerable share, and is not tested where hardly any cell is
decided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from omit._text import rounded_up
from omit.data.reading import read
from omit.laws.intervals import NORMAL, judge_all, student_quantile
from omit.papers.base import Claim, Computed, Finding, Standing
from omit.papers.omitting_records.cells import (
    CLUSTERING_LOSS,
    COLUMN_ERROR,
    OWN_ERROR,
    PaperFigure,
    Subject,
)

_AGE_MEAN = Subject("adult", "age", "mean, Laplace")
_AGE_MODE = Subject("adult", "age", "mode, Laplace")
_HOURS_MODE = Subject("adult", "hours-per-week", "mode, Laplace")
_LLOYD = Subject("adult", None, "DPLloyd")
_LLOYD_PUBLISHED = Subject("adult", None, "DPLloyd as published")
_MEDIAN = Subject("kmedian-synthetic", None, "k-median")


def judged_cells(computed: Computed) -> pd.DataFrame | None:
    """Return the judged table of everything that was computed, or None if nothing was."""
    results = computed.frame(COLUMN_ERROR, OWN_ERROR, CLUSTERING_LOSS)
    return None if results.empty else judged(results)


def _standing(rows: pd.DataFrame) -> Standing:
    """Return what becomes of the claim that omission makes things worse almost everywhere."""
    counts = rows["standing"].value_counts()
    worse, better = int(counts.get("worse", 0)), int(counts.get("better", 0))
    if worse + better < 0.1 * len(rows):
        return "not tested"
    if better > 0.25 * (worse + better):
        return "fails"
    return "holds" if better <= 0.01 * (worse + better) else "holds in part"


def survival(table: pd.DataFrame) -> pd.DataFrame:
    """Return, by statistic and data, how suppression stands under either privacy bound.

    One line for each subject and bound: in how many cells (epsilon, m, M) suppression at the same
    guarantee is better, worse, undecided or cannot reach it, and whether the paper's conclusion
    (nothing beats using all records) survives.
    """
    lines = []
    for subject in _subjects(table):
        rows = of_subject(table, subject)
        rows = rows[(rows["kind"] == "outlier-score") & rows["noise_reduction"]]
        for bound, part in rows.groupby("bound"):
            counts = part["standing"].value_counts()
            better = int(counts.get("better", 0))
            lines.append(
                {
                    "statistic": subject.mechanism,
                    "data": subject.place,
                    "bound": bound,
                    "worse": int(counts.get("worse", 0)),
                    "undecided": int(counts.get("undecided", 0)),
                    "better": better,
                    "unattainable": int(counts.get("unattainable", 0)),
                    "conclusion survives": _survives(part),
                }
            )
    return pd.DataFrame(lines)


def _subjects(table: pd.DataFrame) -> list[Subject]:
    """Return the statistics in a table, in its order."""
    lines = table[["data", "column", "mechanism"]].drop_duplicates()
    return [Subject(data, column or None, name) for data, column, name in lines.to_numpy()]


def _survives(rows: pd.DataFrame) -> str:
    """Say whether nothing beats using all records."""
    counts = rows["standing"].value_counts()
    worse, better = int(counts.get("worse", 0)), int(counts.get("better", 0))
    if better:
        return f"not in {better} cells"
    return "yes" if worse else "nothing decided"


def _sampling(table: pd.DataFrame, subject: Subject) -> pd.DataFrame:
    rows = of_subject(table, subject)
    return rows[rows["kind"] == "poisson"]


def _suppression(table: pd.DataFrame, subject: Subject, bound: str = "published") -> pd.DataFrame:
    rows = of_subject(table, subject)
    return rows[
        (rows["kind"] == "outlier-score") & rows["noise_reduction"] & (rows["bound"] == bound)
    ]


def _counted(rows: pd.DataFrame) -> str:
    counts = rows["standing"].value_counts()
    parts = [f"{counts.get(name, 0):,} {name}" for name in ("worse", "undecided", "better")]
    return ", ".join(parts)


def _sampling_never_helps(table: pd.DataFrame) -> Finding | None:
    rows = table[table["kind"] == "poisson"]
    if rows.empty:
        return None
    better = rows[rows["standing"] == "better"]["mechanism"].value_counts()
    where = (
        f"; better: {', '.join(f'{name} ({n})' for name, n in better.items())}"
        if len(better)
        else ""
    )
    exact = rows[rows["method"] == "exact"]
    apart = f" Of the {len(exact):,} exact ones: {_counted(exact)}." if len(exact) else ""
    return Finding(
        _standing(rows),
        f"Of {len(rows):,} points: {_counted(rows)}{where}.{apart} Undecided: modes that are never "
        "missed either way, and differences that the runs do not resolve.",
    )


def _mean_stays_small(table: pd.DataFrame) -> Finding | None:
    rows = _sampling(table, _AGE_MEAN)
    if rows.empty:
        return None
    above = float(rows[rows["rate"] > 0.4]["error"].max())
    all_rates = float(rows["error"].max())
    return Finding(
        "holds" if above < 0.25 and all_rates < 2 else "fails",
        f"At most {rounded_up(above)} % at rates above .4, at most {rounded_up(all_rates)} % at "
        "all rates.",
    )


def _hours_mode_is_safe(table: pd.DataFrame) -> Finding | None:
    rows = _sampling(table, _HOURS_MODE)
    if rows.empty:
        return None
    # The upper ends of the intervals: an error so small may be the precision of its computation.
    worst, usual = float(rows["high"].max()), float(rows[rows["rate"] >= 0.05]["high"].max())
    column = read(_HOURS_MODE.data, _HOURS_MODE.column)
    share = 100 * int(column.counts.max()) / column.size
    return Finding(
        "fails" if worst > 1e-3 else "holds" if share > 50 else "holds in part",
        f"Missed with probability at most {rounded_up(worst, 2)} (rates from .05: "
        f"{rounded_up(usual, 2)}); the mode has {share:.2f} % of the records.",
    )


def _age_mode_collapses(table: pd.DataFrame) -> Finding | None:
    rows = _sampling(table, _AGE_MODE)
    if rows.empty:
        return None
    strict = rows[rows["epsilon"] == 0.25]
    if strict.empty:
        return None
    plain = float(strict["without_omission"].iloc[0])
    share = float((strict["error"] > 0.6).mean())
    return Finding(
        "holds" if plain < 0.18 and share > 0.5 else "fails",
        f"At ε = .25 it is {plain:.4f} without sampling, and above .6 at {share:.0%} of the rates.",
    )


def _lloyd_spikes(table: pd.DataFrame) -> Finding | None:
    """Look at the largest ratio over epsilon at rates above, at and below .1."""
    sentences, standings = [], []
    for subject, name in ((_LLOYD, "corrected"), (_LLOYD_PUBLISHED, "as published")):
        rows = _sampling(table, subject)
        if rows.empty:
            continue
        ratios = rows.assign(ratio=rows["error"] / rows["without_omission"])
        at = {rate: ratios[ratios["rate"] == rate]["ratio"] for rate in (0.5, 0.1, 0.01)}
        close, spiking = at[0.5].max() < 1.1, at[0.01].max() > 1.2 and at[0.1].max() < 1.2
        standings.append(int(close) + int(spiking))  # truth values of numpy would not add up
        sentences.append(
            f"{name}, error ÷ error without sampling: "
            + "; ".join(
                f"{ratio.min():.3f} to {ratio.max():.3f} at rate {rate:g}"
                for rate, ratio in at.items()
            )
        )
    if not sentences:
        return None
    standing: Standing = "holds in part"
    if min(standings) == 2:
        standing = "holds"
    elif max(standings) == 0:
        standing = "fails"
    return Finding(
        standing,
        ". ".join(each[0].upper() + each[1:] for each in sentences) + ".",
    )


def _median_degrades(table: pd.DataFrame) -> Finding | None:
    rows = _sampling(table, _MEDIAN)
    if rows.empty:
        return None
    largest = float((rows["gain"].abs() / rows["without_omission"]).max())
    return Finding(
        _standing(rows),
        f"Of {len(rows)} points: {_counted(rows)}, by the average cost of all records; no rate "
        f"changes it by more than {largest:.1%}. What the published code reports is not a cost "
        "(see the errata).",
    )


def _suppression_never_helps(table: pd.DataFrame) -> Finding | None:
    rows = table[(table["kind"] == "outlier-score") & table["noise_reduction"]]
    rows = rows[rows["standing"] != "unattainable"]
    if rows.empty:
        return None
    parts = [
        f"with the {bound} bound {len(part):,} cells can be reached: {_counted(part)}"
        for bound, part in rows.groupby("bound")
    ]
    return Finding(
        _standing(rows),
        f"At the same guarantee, {'; '.join(parts)}.",
    )


def _privacy_degrades(table: pd.DataFrame) -> Finding | None:
    """Count in how many cells the base epsilon must be below the target's."""
    rows = table[(table["kind"] == "outlier-score") & table["noise_reduction"]]
    if rows.empty:
        return None
    one = rows.drop_duplicates(["epsilon", "m", "M", "bound"])
    counts = {}
    for bound, part in one.groupby("bound"):
        base = part["base_epsilon"].astype(float)
        counts[bound] = len(part), int((base > 0).sum()), int((base >= part["epsilon"]).sum())
    if set(counts) != {"mixture", "published"}:
        return None
    total, reached, amplified = counts["mixture"]
    share = amplified / total
    return Finding(
        "holds" if share < 0.5 else "holds in part" if share < 0.75 else "fails",
        f"Of {total} cells (ε, m, M), Theorem 5.4 reaches {counts['published'][1]} and shows no "
        f"loss of privacy in {counts['published'][2]}; the mixture bound reaches {reached} and "
        f"shows none in {amplified}.",
    )


def _mean_differences(table: pd.DataFrame) -> Finding | None:
    rows = _suppression(table, _AGE_MEAN)
    rows = rows[rows["error"].notna()]
    if rows.empty:
        return None
    largest, smallest = float((-rows["gain"]).max()), float((-rows["gain"]).min())
    return Finding(
        "holds" if largest < 0.65 and smallest < 0.022 else "fails",
        f"It costs {smallest:.4f} to {largest:.3f} percentage points, in the cells that the "
        "published bound reaches.",
    )


def _mode_differences(table: pd.DataFrame) -> Finding | None:
    rows = _suppression(table, _AGE_MODE)
    rows = rows[rows["error"].notna()]
    if rows.empty:
        return None
    largest = float((-rows["gain"]).max())
    return Finding(
        "holds" if abs(100 * largest - 87.9) < 3 else "fails",
        f"Up to {100 * largest:.2f} percentage points.",
    )


def _lloyd_gains(table: pd.DataFrame) -> Finding | None:
    sentences, gains = [], []
    for subject in (_LLOYD, _LLOYD_PUBLISHED):
        rows = _suppression(table, subject)
        rows = rows[(rows["m"] == 0.1) & (rows["M"] == 0.1) & (rows["epsilon"] <= 0.5)]
        if rows.empty:
            continue
        gains += rows["standing"].tolist()
        values = ", ".join(
            f"{-each.difference:+.2g} ± {2 * each.difference_deviation:.1g} at ε = {each.epsilon:g}"
            for each in rows.itertuples()
        )
        sentences.append(f"{subject.mechanism}: gain {values}")
    if not sentences:
        return None
    standing: Standing = "not tested"
    if "worse" in gains or "better" in gains:
        standing = "holds" if set(gains) == {"better"} else "holds in part"
        standing = standing if "better" in gains else "fails"
    return Finding(
        standing,
        f"{'; '.join(sentences)} (95 % intervals, run by run).",
    )


def _diagonal_is_best(table: pd.DataFrame) -> Finding | None:
    """Compare every (m, M) with Poisson sampling that keeps as many records on average."""
    won: dict[str, int] = {}
    tried: dict[str, int] = {}
    for subject in _subjects(table):
        curve, scores = _sampling(table, subject), _suppression(table, subject, "mixture")
        for epsilon, part in scores[scores["m"] < scores["M"]].groupby("epsilon"):
            sampled = curve[curve["epsilon"] == epsilon].sort_values("rate")
            if sampled.empty:
                continue
            alike = np.interp(part["kept"], sampled["rate"], sampled["error"])
            # Beyond what rounding and chance can do.
            margin = np.maximum(part["high"] - part["error"], 1e-6 * alike).to_numpy() * 2
            difference = part["error"].to_numpy() - alike
            name = subject.statistic
            won[name] = won.get(name, 0) + int((difference > margin).sum())
            tried[name] = tried.get(name, 0) + int((np.abs(difference) > margin).sum())
    tried = {name: count for name, count in tried.items() if count}
    if not tried:
        return None
    parts = [f"{name} {won[name]} of {tried[name]}" for name in tried]
    least = min(won[name] / tried[name] for name in tried)
    return Finding(
        "holds" if least > 0.95 else "holds in part" if least > 0.05 else "fails",
        "Of the cells with m < M that differ, with the mixture bound, suppression has the larger "
        f"error in: {', '.join(parts)}.",
    )


MISSED_IN_A_CELL = 6.334248366623973e-05
"""How often the interval of a simulated difference may miss, so that of all cells hardly any is
judged by luck: one of 15,800, four standard deviations of a normal law."""

COLUMNS = [
    "data",
    "column",
    "mechanism",
    "epsilon",
    "kind",
    "rate",
    "m",
    "M",
    "bound",
    "noise_reduction",
    "base_epsilon",
    "base_delta",
    "kept",
    "error",
    "low",
    "high",
    "method",
    "without_omission",
    "gain",
    "standing",
]


def judged(results: pd.DataFrame) -> pd.DataFrame:
    """Return the table of results with the error without omission, the gain and the standing.

    `gain` is the error without omission less that with it, as the paper's plots show it: positive
    where leaving records out helps. `standing` is better, worse, undecided or unattainable: by the
    intervals of exact errors, and where something was simulated by the interval of the difference
    that misses in `MISSED_IN_A_CELL`.
    """
    table = results.copy()
    optional = ("column", "measured_on", "bounds", "exact", "difference", "difference_deviation")
    for name in optional:
        if name not in table:
            table[name] = None
    for name in ("error", "low", "high", "rate", "m", "M", "difference", "difference_deviation"):
        table[name] = pd.to_numeric(table[name])
    keys = ["data", "column", "mechanism", "epsilon", "runs", "exact", "measured_on", "bounds"]
    for name in ("column", "measured_on", "bounds", "exact"):
        table[name] = table[name].astype(object).where(table[name].notna(), "")
    plain = table[table["kind"] == "none"][[*keys, "error", "low", "high"]]
    plain = plain.rename(
        columns={"error": "without_omission", "low": "plain_low", "high": "plain_high"}
    )
    table = table.merge(plain, on=keys, how="left", validate="many_to_one")
    table["gain"] = table["without_omission"] - table["error"]
    # Half of a 95 % interval is 1.96 standard errors; an exact one has next to no width.
    deviation = np.hypot(
        (table["high"] - table["low"]) / (2 * NORMAL),
        (table["plain_high"] - table["plain_low"]) / (2 * NORMAL),
    )
    paired = table["difference"].notna()
    spread = np.where(paired, table["difference_deviation"], deviation)
    margin = spread * student_quantile(table["runs"].astype(float), MISSED_IN_A_CELL)
    of_difference = judge_all(-table["gain"] - margin, -table["gain"] + margin)
    of_errors = judge_all(table["low"], table["high"], table["plain_low"], table["plain_high"])
    table["standing"] = np.select(
        [table["kind"] == "none", table["error"].isna(), table["method"] == "simulated"],
        ["baseline", "unattainable", of_difference],
        of_errors,
    )
    return table


def of_subject(table: pd.DataFrame, subject: Subject) -> pd.DataFrame:
    """Return the rows of a subject."""
    return table[
        (table["data"] == subject.data)
        & (table["column"] == (subject.column or ""))
        & (table["mechanism"] == subject.mechanism)
    ]


def of_figure(table: pd.DataFrame, figure: PaperFigure) -> pd.DataFrame:
    """Return the rows that a figure shows, in its order."""
    kind = "poisson" if figure.kind == "sampling" else "outlier-score"
    parts = []
    for subject in figure.subjects:
        rows = of_subject(table, subject)
        shown = (rows["kind"] == kind) & (rows["noise_reduction"] == figure.noise_reduction)
        parts.append(rows[(rows["kind"] == "none") | shown])
    return pd.concat(parts)[COLUMNS]


def _claim(
    where: str,
    sentence: str,
    judge: Callable[[pd.DataFrame], Finding | None],
    figures: Sequence[int] = (),
) -> Claim:
    def judged_table(computed: Computed) -> Finding | None:
        table = computed.once(judged_cells)
        return None if table is None else judge(table)

    names = tuple(f"figure-{number:02d}" for number in figures)
    return Claim(where, sentence, names, judged_table)


CLAIMS = (
    _claim(
        "Section 3.2",
        "At the same privacy, sampling makes every statistic worse at almost all rates.",
        _sampling_never_helps,
    ),
    _claim(
        "Section 3.2",
        "The sampled mean of Adult age errs by less than .25 % at rates above .4, and by less than "
        "2 % at all rates.",
        _mean_stays_small,
        (1, 4),
    ),
    _claim(
        "Section 3.2",
        "The mode of hours-per-week is never missed, as it has more than half of the records.",
        _hours_mode_is_safe,
        (11,),
    ),
    _claim(
        "Section 3.2",
        "Sampling takes the failure probability of the mode of Adult age from under 18 % to over "
        "60 % at most rates.",
        _age_mode_collapses,
        (1, 10),
    ),
    _claim(
        "Section 3.2",
        "DPLloyd stays close to its error without sampling until it spikes near a rate of .1.",
        _lloyd_spikes,
        (1, 14),
    ),
    _claim(
        "Section 3.2", "Sampling makes k-median worse, like the others.", _median_degrades, (14,)
    ),
    _claim(
        "Section 6.2",
        "There are almost no points where outlier-score suppression improves utility.",
        _suppression_never_helps,
    ),
    _claim(
        "Section 6.2",
        "Privacy degrades quickly as more records are suppressed by their outlier scores.",
        _privacy_degrades,
    ),
    _claim(
        "Section 6.2",
        "For the mean of Adult age, suppression costs less than about .6 percentage points, at "
        "times as little as .021.",
        _mean_differences,
        (3, 15),
    ),
    _claim(
        "Section 6.2",
        "For the mode of Adult age, suppression costs up to 87.9 percentage points.",
        _mode_differences,
        (3, 27),
    ),
    _claim(
        "Section 6.2",
        "DPLloyd gains a little at m = M = .1 for ε = .25 and .5.",
        _lloyd_gains,
        (3, 44),
    ),
    _claim(
        "Section 6.2",
        "Uniform sampling loses less utility than outlier-score suppression that leaves as many "
        "records.",
        _diagonal_is_best,
    ),
)

ON_OTHER_DATA = tuple(claim for claim in CLAIMS if not claim.exhibits)
"""The claims that are about no data in particular."""
