"""What every figure of the paper shows, and sentences about all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from omit.papers.base import Computed
from omit.papers.claims import (
    Claim,
    Finding,
    Judge,
    agreement,
    claim,
    claims_in,
    under_every_reading,
)
from omit.papers.omitting_records import cells
from omit.papers.omitting_records.cells import PaperFigure, Subject, of_subject, shown_mechanism
from omit.papers.omitting_records.utility import counted, standing_of, standing_of_no_help

_BOUNDS = {"published": "the bound of Theorem 5.4", "mixture": "the mixture bound"}


def _shown_rows(figure: PaperFigure) -> Callable[[Computed], object]:
    """Return the function that returns what a figure shows of omissions, or None."""

    def rows(computed: Computed) -> pd.DataFrame | None:
        table = computed.once(cells.judged_cells)
        if table is None:
            return None
        kind = "poisson" if figure.kind == "sampling" else "outlier-score"
        part = table[(table["kind"] == kind) & (table["noise_reduction"] == figure.noise_reduction)]
        shown = pd.concat([of_subject(part, subject) for subject in figure.subjects])
        return None if shown.empty else shown

    return rows


def _nothing_better(rows: pd.DataFrame) -> Finding | None:
    """Judge whether omission is better in hardly a row, with the counts of every mechanism."""
    attained = rows[rows["standing"] != "unattainable"]
    if attained.empty:
        return None
    parts = [
        f"{shown_mechanism(mechanism)} {counted(part)}"
        for mechanism, part in attained.groupby("mechanism", sort=False)
    ]
    gap = len(rows) - len(attained)
    unreached = f"; {gap} cells cannot reach the guarantee" if gap else ""
    return Finding(standing_of_no_help(attained), f"{'; '.join(parts)}{unreached}.")


def _part(
    judge: Judge, bound: str | None, as_published: bool | None
) -> Callable[[pd.DataFrame], Finding | None]:
    """Return the judge of the rows with a bound, and with the clusterings as published or not."""

    def judged(rows: pd.DataFrame) -> Finding | None:
        if bound is not None:
            rows = rows[rows["bound"] == bound]
        if as_published is not None:
            rows = rows[rows["mechanism"].str.contains("published") == as_published]
        return None if rows.empty else judge(rows)

    return judged


def _readings(figure: PaperFigure) -> Judge:
    """Return the judge of a figure, under both bounds and both versions of clusterings."""
    versions = {
        "": None,
        **(
            {"the clustering as corrected": False, "the clustering as published": True}
            if any("published" in subject.mechanism for subject in figure.subjects)
            else {}
        ),
    }
    if len(versions) > 1:
        del versions[""]
    with_bounds = figure.kind == "suppression" and figure.noise_reduction
    bounds = _BOUNDS if with_bounds else {None: ""}
    named = {
        " and ".join(part for part in (version, bound) if part): _part(_nothing_better, key, which)
        for version, which in versions.items()
        for key, bound in bounds.items()
    }
    return under_every_reading(named) if len(named) > 1 else next(iter(named.values()))


def _of_figure(figure: PaperFigure) -> Claim:
    names = dict.fromkeys(
        f"{shown_mechanism(subject.mechanism).removesuffix(' as published')} of {subject.data_name}"
        for subject in figure.subjects
    )
    what = "; ".join(names)
    if figure.kind == "sampling":
        sentence = f"At the same guarantee, sampling does not help: {what}."
    elif figure.noise_reduction:
        sentence = f"At the same guarantee, suppression by outlier scores does not help: {what}."
    else:
        sentence = f"Without noise reduction, suppression by outlier scores does not help: {what}."
    return Claim(
        f"Figure {figure.number}",
        sentence,
        (f"figure-{figure.number:02d}",),
        _readings(figure),
        _shown_rows(figure),
        f"figure-{figure.number:02d}-shows",
    )


OF_FIGURES = tuple(
    _of_figure(figure) for figure in cells.FIGURES.values() if figure.kind != "privacy"
)


def _suppressed_at_the_same_guarantee(computed: Computed) -> pd.DataFrame | None:
    table = computed.once(cells.judged_cells)
    if table is None:
        return None
    rows = table[(table["kind"] == "outlier-score") & table["noise_reduction"]]
    return None if rows.empty else rows


def _hardly_worse(*subjects: Subject) -> Judge:
    """Return the judge of whether suppression changes the errors of clusterings by little."""

    def judge(table: pd.DataFrame) -> Finding | None:
        rows = pd.concat([of_subject(table, subject) for subject in subjects])
        rows = rows[rows["error"].notna()]
        if rows.empty:
            return None
        change = -rows["gain"] / rows["without_omission"]
        return Finding(
            agreement(change.max() < 0.1),
            f"The error changes by {change.min():+.2%} to {change.max():+.2%} of what it is "
            f"without suppression, in {len(rows)} cells with either bound.",
        )

    return judge


_CLUSTERINGS_LOSE_LITTLE = claim(
    "Section 6.2",
    ("figure-43", "figure-44"),
    "The loss of k-median and DPLloyd remains small throughout.",
    of=_suppressed_at_the_same_guarantee,
    name="clusterings-lose-little",
)(
    under_every_reading(
        {
            "the clusterings as corrected": _hardly_worse(cells.MEDIAN, cells.LLOYD),
            "the clusterings as published": _hardly_worse(
                cells.MEDIAN_PUBLISHED, cells.LLOYD_PUBLISHED
            ),
        }
    )
)


def _without_amplification(bound: str) -> Judge:
    """Return the judge of cells that need more noise than all records do."""

    def judge(table: pd.DataFrame) -> Finding | None:
        rows = table[(table["bound"] == bound) & (table["standing"] != "unattainable")]
        rows = rows[rows["base_epsilon"] < rows["epsilon"]]
        if rows.empty:
            return None
        return Finding(
            standing_of(rows), f"Of {len(rows):,} cells without amplification {counted(rows)}."
        )

    return judge


_NO_GAIN_WITHOUT_AMPLIFICATION = claim(
    "Section 6",
    (),
    "Where suppression does not amplify privacy, utility is worse at the same guarantee.",
    of=_suppressed_at_the_same_guarantee,
    name="no-gain-without-amplification",
)(under_every_reading({name: _without_amplification(bound) for bound, name in _BOUNDS.items()}))


def _worsening(bound: str) -> Judge:
    """Return the judge of whether the gain falls from one ε to the next, for fixed m and M."""

    def judge(table: pd.DataFrame) -> Finding | None:
        counts = {}
        for subject in cells.subjects_of(table):
            rows = of_subject(table, subject)
            rows = rows[rows["bound"] == bound]
            steps = _steps(rows)
            if steps[1]:
                counts[f"{shown_mechanism(subject.mechanism)} of {subject.data_name}"] = steps
        if not counts:
            return None
        falls, decided = (sum(count[i] for count in counts.values()) for i in (0, 1))
        listed = ", ".join(f"{name} {fell} of {of}" for name, (fell, of) in counts.items())
        return Finding(
            "holds"
            if falls > 0.95 * decided
            else "holds in part"
            if falls > 0.5 * decided
            else "fails",
            f"In {falls:,} of {decided:,} steps from one ε to the next that are decided: {listed}.",
        )

    return judge


def _steps(rows: pd.DataFrame) -> tuple[int, int]:
    """Return in how many steps of ε the gain falls, and how many are decided."""
    wide = rows.pivot_table(index=["m", "M"], columns="epsilon", values=["gain", "low", "high"])
    if wide.empty:
        return 0, 0
    gains = wide["gain"].to_numpy()
    spread = (wide["high"] - wide["low"]).to_numpy() / 2
    change = np.diff(gains, axis=1)
    margin = spread[:, 1:] + spread[:, :-1]
    decided = np.isfinite(change) & (np.abs(change) > margin)
    return int((decided & (change < 0)).sum()), int(decided.sum())


_WORSENS_WITH_EPSILON = claim(
    "Section 6.2",
    (),
    "The difference of utility under suppression nearly always worsens as ε increases, for fixed m "
    "and M.",
    of=_suppressed_at_the_same_guarantee,
    name="worsens-with-epsilon",
)(under_every_reading({name: _worsening(bound) for bound, name in _BOUNDS.items()}))


@claim(
    "Section 6.2",
    (),
    "The difference becomes smaller near m = M = .1 and is largest around m = M = .9.",
    of=_suppressed_at_the_same_guarantee,
)
def _smallest_near_the_corner(table: pd.DataFrame) -> Finding | None:
    """Look at both corners of the diagonal among all cells of a subject, ε and bound."""
    least, largest, count = 0, 0, 0
    keys = ["data", "column", "mechanism", "epsilon", "bound"]
    for _, part in table[table["error"].notna()].groupby(keys):
        costs = -part.set_index(["m", "M"])["gain"]
        if {(0.1, 0.1), (0.9, 0.9)} <= set(costs.index) and costs.max() > 0:
            count += 1
            least += bool(costs[0.1, 0.1] <= costs.quantile(0.25))
            largest += bool(costs[0.9, 0.9] >= costs.quantile(0.75))
    if not count:
        return None
    return Finding(
        agreement(least > 0.9 * count, largest > 0.9 * count),
        f"Of {count} plots (statistic, ε and bound) the cost at m = M = .1 is among the smallest "
        f"quarter in {least}, that at m = M = .9 among the largest quarter in {largest}.",
    )


@claim(
    "Section 3.2",
    (),
    "The difference to no sampling becomes small near a rate of 1.",
    of=lambda computed: computed.once(cells.judged_cells),
)
def _small_near_a_rate_of_one(table: pd.DataFrame) -> Finding | None:
    rows = table[table["kind"] == "poisson"]
    ends, count = 0, 0
    for _, part in rows.groupby(["data", "column", "mechanism", "epsilon"]):
        costs = -part.set_index("rate")["gain"]
        if {0.5, 0.99} <= set(costs.index) and abs(costs[0.5]) > 1e-9:
            count += 1
            ends += bool(abs(costs[0.99]) < 0.25 * abs(costs[0.5]))
    if not count:
        return None
    return Finding(
        agreement(ends > 0.9 * count) if ends == 0 or ends > 0.9 * count else "holds in part",
        f"In {ends} of {count} curves the difference at a rate of .99 is below a quarter of that "
        "at .5.",
    )


CLAIMS = (*OF_FIGURES, *claims_in(globals()))
