"""What the paper claims about utility, and how it is judged.

A claim that omission is worse holds if it surely is worse in nearly all cells that are decided,
fails if it surely is better in a considerable share, and is not tested where hardly any cell is
decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from omit._text import rounded_up
from omit.data.reading import read
from omit.papers.base import Computed
from omit.papers.claims import (
    Finding,
    Judge,
    Standing,
    agreement,
    claim,
    claims_in,
    under_every_reading,
)
from omit.papers.omitting_records import cells
from omit.papers.omitting_records.cells import Subject, of_subject, shown_mechanism

_MODE = cells.AGE_MODE.mechanism
_HOURS_MODE = Subject("adult", "hours-per-week", _MODE)

_on_sampling, _on_suppression = partial(claim, "Section 3.2"), partial(claim, "Section 6.2")


def _rows(choose: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Computed], object]:
    """Return the function that returns rows of the judged table, or None if there are none."""

    def rows(computed: Computed) -> pd.DataFrame | None:
        table = computed.once(cells.judged_cells)
        chosen = None if table is None else choose(table)
        return None if chosen is None or chosen.empty else chosen

    return rows


def _sampling(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of Poisson sampling."""
    return table[table["kind"] == "poisson"]


def _suppression(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of outlier-score suppression at the same guarantee."""
    return table[(table["kind"] == "outlier-score") & table["noise_reduction"]]


def _sampled(subject: Subject, *epsilons: float) -> Callable[[Computed], object]:
    """Return the function that returns what sampling does to a subject, at some epsilons or all."""

    def sampled(table: pd.DataFrame) -> pd.DataFrame:
        rows = _sampling(of_subject(table, subject))
        return rows[rows["epsilon"].isin(epsilons)] if epsilons else rows

    return _rows(sampled)


def _suppressed(subject: Subject, bound: str) -> Callable[[Computed], object]:
    """Return the function that returns the cells of a subject which a privacy bound reaches."""

    def suppressed(table: pd.DataFrame) -> pd.DataFrame:
        rows = _suppression(of_subject(table, subject))
        return rows[(rows["bound"] == bound) & rows["error"].notna()]

    return _rows(suppressed)


def standing_of(rows: pd.DataFrame) -> Standing:
    """Return the standing of the claim that omission makes things worse almost everywhere."""
    decided = rows[rows["standing"].isin(["worse", "equal", "better"])]["standing"]
    worse, better = (int((decided == name).sum()) for name in ("worse", "better"))
    if len(decided) < 0.1 * len(rows):
        return "not tested"
    if better > 0.25 * (worse + better) or worse == 0:
        return "fails"
    almost_all = worse >= 0.95 * len(decided) and better <= 0.01 * (worse + better)
    return "holds" if almost_all else "holds in part"


def standing_of_no_help(rows: pd.DataFrame) -> Standing:
    """Return the standing of the claim that omission makes things better almost nowhere.

    Unlike `standing_of` it holds where all is equal, as where a mode is never missed either way.
    """
    decided = rows[rows["standing"].isin(["worse", "equal", "better"])]["standing"]
    better = int((decided == "better").sum())
    if len(decided) < 0.1 * len(rows):
        return "not tested"
    if better > 0.25 * len(decided):
        return "fails"
    return "holds" if better <= 0.01 * len(decided) else "holds in part"


def counted(rows: pd.DataFrame) -> str:
    """Return in words how many rows are worse, equal, undecided or better."""
    counts = rows["standing"].value_counts()
    return ", ".join(f"{counts[name]:,} {name}" for name in _WORDS if counts.get(name, 0))


_WORDS = ("worse", "equal", "undecided", "better")


@_on_sampling(
    (),
    "At the same privacy, sampling makes every statistic worse at almost all rates.",
    of=_rows(_sampling),
)
def _sampling_never_helps(rows: pd.DataFrame) -> Finding:
    better = rows[rows["standing"] == "better"]["mechanism"].value_counts()
    listed = ", ".join(f"{name} ({n})" for name, n in better.items())
    where = f"; better: {listed}" if listed else ""
    exact = rows[rows["method"] == "exact"]
    apart = f" Of the {len(exact):,} exact ones: {counted(exact)}." if len(exact) else ""
    return Finding(
        standing_of(rows),
        f"Of {len(rows):,} points: {counted(rows)}{where}.{apart} Equal: exact errors that differ "
        "by less than their precision, which are modes that are never missed either way. "
        "Undecided: differences that the runs do not resolve.",
    )


@_on_sampling(
    ("figure-01", "figure-04"),
    "The sampled mean of Adult age errs by less than .25 % at rates above .4, and by less than "
    "2 % at all rates.",
    of=_sampled(cells.AGE_MEAN),
)
def _mean_stays_small(rows: pd.DataFrame) -> Finding:
    parts = rows[rows["rate"] > 0.4], rows
    above, all_rates = (float(part["error"].max()) for part in parts)
    return Finding(
        agreement(above < 0.25 and all_rates < 2),
        f"At most {rounded_up(above)} % at rates above .4, at most {rounded_up(all_rates)} % at "
        "all rates.",
    )


@_on_sampling(
    "figure-11",
    "The mode of hours-per-week is never missed, as it has more than half of the records.",
    of=_sampled(_HOURS_MODE),
)
def _hours_mode_is_safe(rows: pd.DataFrame) -> Finding:
    # The upper ends of the intervals: an error so small may be the precision of its computation.
    worst, usual = float(rows["high"].max()), float(rows[rows["rate"] >= 0.05]["high"].max())
    column = read(_HOURS_MODE.data, _HOURS_MODE.column)
    share = 100 * int(column.counts.max()) / column.size
    return Finding(
        "fails" if worst > 1e-3 else "holds" if share > 50 else "holds in part",
        f"Missed with probability at most {rounded_up(worst, 2)} (rates from .05: "
        f"{rounded_up(usual, 2)}); the mode has {share:.2f} % of the records.",
    )


@claim(
    "Appendix A",
    "figure-13",
    "The mode of Irish education is never missed, with or without sampling.",
    of=_sampled(Subject("irish", "HighestEducationCompleted", _MODE)),
)
def _education_mode_is_safe(rows: pd.DataFrame) -> Finding:
    above = rows[rows["high"] > 1e-3]
    worst = float(rows["high"].max())
    where = ""
    if len(above):
        where = f" Above .001 at {len(above)} points, at rates up to {above['rate'].max():g}."
    return Finding(
        "holds" if above.empty else "holds in part" if len(above) < 0.1 * len(rows) else "fails",
        f"Of {len(rows)} rates and ε, it is missed with probability at most {rounded_up(worst, 2)}."
        f"{where}",
    )


@_on_sampling(
    ("figure-01", "figure-10"),
    "Sampling takes the failure probability of the mode of Adult age from under 18 % to over "
    "60 % at most rates.",
    of=_sampled(cells.AGE_MODE, 0.25),
)
def _age_mode_collapses(rows: pd.DataFrame) -> Finding:
    plain = float(rows["without_omission"].iloc[0])
    share = float((rows["error"] > 0.6).mean())
    return Finding(
        agreement(plain < 0.18 and share > 0.5),
        f"At ε = .25 it is {plain:.4f} without sampling, and above .6 at {share:.0%} of the rates.",
    )


@_on_sampling(
    "figure-10",
    "There are a few rates at which sampling preserves the mode of Adult age better.",
    of=_rows(
        lambda table: pd.concat(
            [_sampling(of_subject(table, subject)) for subject in cells.FIGURES[10].subjects]
        )
    ),
)
def _a_few_rates_help(rows: pd.DataFrame) -> Finding:
    better = int((rows["standing"] == "better").sum())
    least = (rows["error"] / rows["without_omission"]).min()
    exact = int((rows["method"] == "exact").sum())
    return Finding(
        "holds" if better else "not tested" if exact < len(rows) else "fails",
        f"Of {len(rows):,} rates, ε and mechanisms, {exact:,} of them exact: {counted(rows)}. The "
        f"smallest ratio to the error without sampling is {least:.4f}.",
    )


@_on_sampling(
    ("figure-01", "figure-14"),
    "DPLloyd stays close to its error without sampling until it spikes near a rate of .1.",
    of=_rows(_sampling),
)
def _lloyd_spikes(table: pd.DataFrame) -> Finding | None:
    """Look at the largest ratio over epsilon at rates above, at and below .1."""
    sentences, true = [], []
    for subject, name in ((cells.LLOYD, "Corrected"), (cells.LLOYD_PUBLISHED, "As published")):
        rows = of_subject(table, subject)
        if rows.empty:
            continue
        ratios = rows["error"] / rows["without_omission"]
        at = {rate: ratios[rows["rate"] == rate] for rate in (0.5, 0.1, 0.01)}
        close, spiking = at[0.5].max() < 1.1, at[0.01].max() > 1.2 and at[0.1].max() < 1.2
        true += [close, spiking]
        listed = (f"{r.min():.3f} to {r.max():.3f} at rate {rate:g}" for rate, r in at.items())
        sentences.append(f"{name}, error ÷ error without sampling: {'; '.join(listed)}.")
    return Finding(agreement(*true), " ".join(sentences)) if sentences else None


@_on_sampling(
    "figure-14", "Sampling makes k-median worse, like the others.", of=_sampled(cells.MEDIAN)
)
def _median_degrades(rows: pd.DataFrame) -> Finding:
    largest = float((rows["gain"].abs() / rows["without_omission"]).max())
    return Finding(
        standing_of(rows),
        f"Of {len(rows)} points: {counted(rows)}, by the average cost of all records; no rate "
        f"changes it by more than {largest:.1%}. What the published code reports is not a cost "
        "(see the errata).",
    )


@_on_suppression(
    (),
    "There are almost no points where outlier-score suppression improves utility.",
    of=_rows(lambda table: _suppression(table[table["standing"] != "unattainable"])),
)
def _suppression_never_helps(rows: pd.DataFrame) -> Finding:
    parts = [
        f"with the {bound} bound {len(part):,} cells can be reached: {counted(part)}"
        for bound, part in rows.groupby("bound")
    ]
    return Finding(standing_of_no_help(rows), f"At the same guarantee, {'; '.join(parts)}.")


@_on_suppression(
    (),
    "Privacy degrades quickly as more records are suppressed by their outlier scores.",
    of=_rows(_suppression),
)
def _privacy_degrades(rows: pd.DataFrame) -> Finding | None:
    """Count in how many cells the base epsilon must be below the target's."""
    one = rows.drop_duplicates(["epsilon", "m", "M", "bound"])
    counts = {}
    for bound, part in one.groupby("bound"):
        base = part["base_epsilon"].astype(float)
        counts[bound] = len(part), int((base > 0).sum()), int((base >= part["epsilon"]).sum())
    if set(counts) != set(cells.BOUNDS):
        return None
    total, reached, amplified = counts["mixture"]
    share = amplified / total
    return Finding(
        "holds" if share < 0.5 else "holds in part" if share < 0.75 else "fails",
        f"Of {total} cells (ε, m, M), Theorem 5.4 reaches {counts['published'][1]} and shows no "
        f"loss of privacy in {counts['published'][2]}; the mixture bound reaches {reached} and "
        f"shows none in {amplified}.",
    )


@_on_suppression(
    ("figure-03", "figure-15"),
    "For the mean of Adult age, suppression costs less than about .6 percentage points, at "
    "times as little as .021.",
    of=_suppressed(cells.AGE_MEAN, "published"),
)
def _mean_differences(rows: pd.DataFrame) -> Finding:
    costs = -rows["gain"]
    return Finding(
        agreement(costs.max() < 0.65 and costs.min() < 0.022),
        f"It costs {costs.min():.4f} to {costs.max():.3f} percentage points, in the cells that the "
        "published bound reaches.",
    )


@_on_suppression(
    ("figure-03", "figure-27"),
    "For the mode of Adult age, suppression costs up to 87.9 percentage points.",
    of=_suppressed(cells.AGE_MODE, "published"),
)
def _mode_differences(rows: pd.DataFrame) -> Finding:
    largest = 100 * float((-rows["gain"]).max())
    return Finding(agreement(abs(largest - 87.9) < 3), f"Up to {largest:.2f} percentage points.")


@_on_suppression(
    ("figure-03", "figure-44"),
    "DPLloyd gains a little at m = M = .1 for ε = .25 and .5.",
    of=_rows(_suppression),
)
def _lloyd_gains(table: pd.DataFrame) -> Finding | None:
    table = table[(table["m"] == 0.1) & (table["M"] == 0.1) & (table["epsilon"] <= 0.5)]
    table = table[table["bound"] == "published"]
    sentences, standings = [], set()
    for subject in (cells.LLOYD, cells.LLOYD_PUBLISHED):
        rows = of_subject(table, subject)
        standings |= set(rows["standing"])
        values = ", ".join(
            f"{-row.difference:+.2g} ± {2 * row.difference_deviation:.1g} at ε = {row.epsilon:g}"
            for row in rows.itertuples()
        )
        sentences += [f"{subject.mechanism}: gain {values}"] if values else []
    if not sentences:
        return None
    standing: Standing = "holds" if standings == {"better"} else "holds in part"
    if "better" not in standings:
        standing = "fails" if "worse" in standings else "not tested"
    return Finding(standing, f"{'; '.join(sentences)} (95 % intervals, run by run).")


def _against_uniform(bound: str) -> Judge:
    """Return the judge that compares every (m, M) with Poisson sampling that keeps as many."""

    def judge(table: pd.DataFrame) -> Finding | None:
        won, tried = Counter[str](), Counter[str]()
        for subject in cells.subjects_of(table):
            for worse, differ in _compared_with_uniform(of_subject(table, subject), bound):
                name = f"{shown_mechanism(subject.mechanism)} of {subject.data_name}"
                for key in (subject.statistic, name):
                    won[key] += worse
                    tried[key] += differ
        statistics = [name for name in tried if " of " not in name and tried[name]]
        if not statistics:
            return None
        shares = [won[name] / tried[name] for name in statistics]
        of_age = f"{shown_mechanism(cells.AGE_MODE.mechanism)} of {cells.AGE_MODE.data_name}"
        listed = [*statistics, *([of_age] if tried[of_age] else [])]
        return Finding(
            "holds" if min(shares) > 0.95 else "fails" if max(shares) < 0.25 else "holds in part",
            "Of the cells with m < M that differ, suppression has the larger error in: "
            f"{', '.join(f'{name} {won[name]} of {tried[name]}' for name in listed)}.",
        )

    return judge


def _compared_with_uniform(rows: pd.DataFrame, bound: str) -> Iterator[tuple[int, int]]:
    """Give for every ε in how many cells suppression is worse, and in how many they differ."""
    curve, scores = _sampling(rows), _suppression(rows)
    scores = scores[(scores["bound"] == bound) & (scores["m"] < scores["M"])]
    scores = scores[scores["error"].notna()]
    for epsilon, part in scores.groupby("epsilon"):
        sampled = curve[curve["epsilon"] == epsilon].sort_values("rate")
        if sampled.empty:
            continue
        alike = np.interp(part["kept"], sampled["rate"], sampled["error"])
        # Beyond what rounding and chance can do.
        margin = np.maximum(part["high"] - part["error"], 1e-6 * alike).to_numpy() * 2
        difference = part["error"].to_numpy() - alike
        yield int((difference > margin).sum()), int((np.abs(difference) > margin).sum())


_DIAGONAL_IS_BEST = _on_suppression(
    (),
    "Uniform sampling loses less utility than outlier-score suppression that leaves as many "
    "records.",
    of=_rows(lambda table: table),
    name="diagonal-is-best",
)(
    under_every_reading(
        {
            "the bound of Theorem 5.4": _against_uniform("published"),
            "the mixture bound": _against_uniform("mixture"),
        }
    )
)


CLAIMS = claims_in(globals())
