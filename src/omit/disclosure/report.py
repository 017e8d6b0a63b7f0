"""The report of `omit disclose`: one table, every way to protect it, as one HTML file.

The sections of `omit disclose` on tasks: a classifier, and a two-way marginal of groups.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from omit._text import promised
from omit.disclosure.assessment import HEADINGS, WARNING, Assessment, Prediction, Row
from omit.disclosure.figures import group_map_figure
from omit.guarantee import REPLACE, NoGuarantee
from omit.report.page import html_table, page, svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def disclosure_report(assessment: Assessment) -> str:
    """Return the report as HTML."""
    table = assessment.table
    names = " x ".join(table.names)
    kinds = ("", "number", "number", *["number"] * 5)
    sections = [
        f"<h1>Protecting the table {escape(names)}</h1>",
        f'<p class="warning">{escape(WARNING)}</p>',
        f"<p>{table.size:,} records in {table.cells:,} cells, from {escape(table.source)}; "
        f"{int((table.flat == 0).sum()):,} cells are empty, {assessment.original.unique:,} hold "
        f"one record, {assessment.original.small:,} hold at least one and fewer than "
        f"{assessment.threshold}.</p>",
        f'<p class="verdict">{escape(assessment.verdict)}</p>',
        "<h2>The same ε for every mechanism</h2>",
        html_table(HEADINGS, [row.cells() for row in assessment.rows], kinds),
        "<p>Error: the expected sum of |released − true| over all cells. Bias: the sum of the "
        "absolute biases. Fairness α: the largest less the smallest bias of a cell. Unique "
        "matches: records that are alone in their cell and are shown alone.</p>",
        f"<figure>{svg(error_figure(assessment))}<figcaption>Bars without hatching have the "
        f"guarantee ε = {promised(assessment.epsilon)}, δ = {promised(assessment.delta)} or a "
        "better one.</figcaption></figure>",
        _guarantees(assessment),
        f"<h2>Who bears the error: {escape(assessment.group)}</h2>",
        _groups(assessment),
        "<h2>What the releases show about few</h2>",
        _shown(assessment),
        learnt(assessment),
        two_groups(assessment),
        _intervals(assessment),
        _bounds(assessment),
        _estimates(assessment),
        "<h2>What was assumed</h2><ul>"
        + "".join(f"<li>{escape(note)}</li>" for note in assessment.notes if note != WARNING)
        + f"<li>Two databases are neighbours if {escape(REPLACE.meaning)}.</li></ul>",
    ]
    return page(f"omit: {names} at epsilon = {promised(assessment.epsilon)}", sections)


def error_figure(assessment: Assessment) -> Figure:
    """Return the expected errors as bars."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 3.2), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(assessment.rows):
        held = assessment.keeps(row)
        axes.barh(
            place,
            row.measures.absolute,
            color="0.35" if held else "0.85",
            edgecolor="0.2",
            hatch=None if held else "///",
        )
        axes.text(row.measures.absolute, place, f" {row.measures.absolute:,.0f}", va="center")
    axes.set_yticks(np.arange(len(assessment.rows)), [row.mechanism.key for row in assessment.rows])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel("expected sum of absolute errors, records")
    axes.set_title(
        f"ε = {promised(assessment.epsilon)}; dark: δ at most {promised(assessment.delta)}, "
        "hatched: not",
        fontsize=11,
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _guarantees(assessment: Assessment) -> str:
    def said(row: Row) -> str:
        said = str(row.guarantee)
        if isinstance(row.guarantee, NoGuarantee) and row.guarantee.witness:
            said += f" Witness: {row.guarantee.witness}"
        if row.quasi_identifiers_only is not None:
            said += f" If only quasi-identifiers change: {row.quasi_identifiers_only}"
        return said

    rows = [(str(row.mechanism), said(row)) for row in assessment.rows]
    return "<h2>Guarantees</h2>" + html_table(
        ("mechanism", "guarantee, or why there is none"), rows
    )


def _groups(assessment: Assessment) -> str:
    first = assessment.rows[0].groups
    headings = (
        assessment.group, "records",
        *(row.mechanism.key.replace("randomised", "rand.") for row in assessment.rows),
    )  # fmt: skip
    rows = []
    for place in range(len(first)):
        line = first.iloc[place]
        rows.append(
            (
                str(line.iloc[0]),
                f"{line['records']:,}",
                *(
                    f"{row.groups.iloc[place]['error per 100 records']:,.1f}"
                    for row in assessment.rows
                ),
            )
        )
    kinds = ("", *["number"] * (len(headings) - 1))
    return (
        html_table(headings, rows, kinds)
        + "<p>Expected absolute error of the group's cells, for every 100 of its records.</p>"
    )


def _shown(assessment: Assessment) -> str:
    rows = [("the data", assessment.original, "")] + [
        (str(row.mechanism), row.shown, f"{row.unique_matches:.2f} %") for row in assessment.rows
    ]
    cells = [
        (name, *(_mean(each) for each in (shown.k_anonymity, shown.unique, shown.small)), matches)
        for name, shown, matches in rows
    ]
    headings = ("", "k-anonymity", "combinations of 1", f"cells below {assessment.threshold}",
                "unique matches")  # fmt: skip
    return (
        html_table(headings, cells, ("", *["number"] * 4))
        + "<p>Releases in the mean. k-anonymity: the fewest records that share a combination of "
        f"{escape(', '.join(assessment.identifying))}, among those that somebody has; cells "
        "below the threshold hold at least one.</p>"
    )


def _mean(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def _intervals(assessment: Assessment) -> str:
    found = assessment.intervals
    if found is None or len(found) == 0:
        return ""
    margins = "; ".join(" x ".join(each) or "total" for each in assessment.margins)
    lost, undecided = (int(found[each].sum()) for each in ("recovered", "undecided"))
    unsure = f" For {undecided:,} more this was not excluded." if undecided else ""
    others = found[~found["recovered"].astype(bool)]
    width = (others["high"] - others["low"] + 1).astype(float)
    pinned = (
        f"; the others are pinned to {width.median():.0f} possible values in the median"
        if len(others)
        else ""
    )
    return (
        "<h2>Suppressed cells and published margins</h2>"
        f"<p>{len(found):,} cells are suppressed. Whoever sees the margins {escape(margins)} and "
        f"the other cells can compute {lost:,} of them exactly{pinned}.{unsure} A cell that "
        "can be computed is not protected.</p>"
    )


def _estimates(assessment: Assessment) -> str:
    rows = [
        (
            str(row.mechanism),
            f"{row.measures.bias:,.1f}", f"{row.estimated.bias:,.1f}",
            f"{row.measures.fairness:,.2f}", f"{row.estimated.fairness:,.2f}",
        )
        for row in assessment.rows
        if row.estimated is not None
    ]  # fmt: skip
    if not rows:
        return ""
    headings = ("mechanism", "bias, exact", "from runs", "fairness, exact", "from runs")
    return (
        "<h2>Estimated from runs, as in the literature</h2>"
        + html_table(headings, rows, ("", *["number"] * 4))
        + "<p>Noisy estimates of biases overstate their absolute sum and their range.</p>"
    )


def _bounds(assessment: Assessment) -> str:
    rows = []
    for row in assessment.rows:
        for name, bound in row.bounds.items():
            fair = "fairness" in name
            single = "Proposition" in name
            bias = row.errors.bias
            truth = row.measures.fairness if fair else row.measures.bias
            if single:
                truth = float(bias.min() if "smallest" in name else bias.max())
            rows.append((str(row.mechanism), name, f"{bound:,.4g}", f"{truth:,.4g}"))
    if not rows:
        return ""
    return (
        "<h2>Published bounds beside the truth</h2>"
        + html_table(("mechanism", "bound", "says", "exact"), rows, ("", "", "number", "number"))
        + "<p>Theorem 2 is stated with k/2 where the mechanism uses ⌊k/2⌋ and does not hold for "
        "odd k. The theorems on suppression suppress empty cells too.</p>"
    )


def learnt(assessment: Assessment) -> str:
    """Return the section on classification, or nothing if there was no such task."""
    task = assessment.prediction
    if task is None:
        return ""
    rows = [("the data", f"{task.unprotected:.2f} %", "")]
    rows += [
        (
            str(row.mechanism),
            f"{row.accuracy.value:.2f} %",
            f"{row.accuracy.low:.2f} to {row.accuracy.high:.2f}" if row.accuracy.runs > 1 else "",
        )
        for row in assessment.rows
        if row.accuracy is not None
    ]
    rows.append(("(always the commonest category)", f"{task.constant:.2f} %", ""))
    return (
        f"<h2>What a classifier learns: {escape(task.target)}</h2>"
        f"<figure>{svg(accuracy_figure(assessment, task))}<figcaption>Filled dots have the "
        "guarantee that was asked for.</figcaption></figure>"
        + html_table(("learnt from", "predicted right", "95 % interval"), rows, ("", "number", ""))
        + "<p>A logistic regression on all other attributes, fitted to the release and scored on "
        "the data; the mean over releases.</p>"
    )


def two_groups(assessment: Assessment) -> str:
    """Return the section on a two-way marginal of groups, or nothing."""
    found = [each for row in assessment.rows for each in row.maps]
    if not found:
        return ""
    x, y = found[0].x, found[0].y
    counted = [axis.name for axis in (x, y) if axis.ranked]
    ranks = f" Categories of {', '.join(counted)} count 1, 2, 3 and so on." if counted else ""
    rows = [
        (
            each.mechanism, each.group, f"{each.error:,.1f}",
            f"{each.true_line[1]:,.3f}",
            "–" if math.isnan(each.line[1]) else f"{each.line[1]:,.3f}",
        )
        for each in found
    ]  # fmt: skip
    headings = (
        "mechanism",
        "group",
        "error per 100 records",
        "slope in the data",
        "slope, expected",
    )
    return (
        f"<h2>Groups side by side: {escape(y.name)} over {escape(x.name)}</h2>"
        f"<figure>{svg(group_map_figure(found, 'expected'))}<figcaption>Expected change of every "
        "count; red and −: too few. Solid line: regression in the data, dashed: in the expected "
        f"release.{escape(ranks)}</figcaption></figure>"
        + html_table(headings, rows, ("", "", *["number"] * 3))
    )


def accuracy_figure(assessment: Assessment, task: Prediction) -> Figure:
    """Return how well classifiers do that learn from releases, with intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 3.2), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(assessment.rows):
        if row.accuracy is not None:
            face = "0.2" if assessment.keeps(row) else "white"
            axes.plot([row.accuracy.low, row.accuracy.high], [place, place], color="0.2", lw=1.5)
            axes.plot(row.accuracy.value, place, "o", color="0.2", mfc=face, ms=7)
    for share, style, name in (
        (task.unprotected, "-", "unprotected"),
        (task.constant, ":", "constant guess"),
    ):
        axes.axvline(share, color="0.3", lw=1.5, ls=style, zorder=0)
        axes.text(share, -0.7, name, va="bottom", ha="center", fontsize=9)
    axes.set_xlabel(f"records whose {task.target} is predicted right, %", parse_math=False)
    axes.set_yticks(np.arange(len(assessment.rows)), [row.mechanism.key for row in assessment.rows])
    axes.set_ylim(len(assessment.rows) - 0.5, -0.7)
    axes.margins(x=0.12)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure
