"""The sections of `omit disclose` on tasks: a classifier, and a two-way marginal of groups."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from omit.disclosure.assessment import Assessment, Prediction
from omit.report.group_map_figure import group_map_figure
from omit.report.page import html_table, svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
