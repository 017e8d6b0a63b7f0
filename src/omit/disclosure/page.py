"""The page of an assessment: what is given away first, then methods by what they promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from omit._text import promised
from omit.disclosure.figures import group_map_figure
from omit.guarantee import REPLACE, Guarantee
from omit.report.files import svg
from omit.report.page import Caption, Card, Made, Point, page
from omit.report.result import Table

if TYPE_CHECKING:
    from omit.disclosure.assessment import Assessment


def assessment_card(assessment: Assessment) -> Card:
    """Return what is promised, what is given away, and the method to take."""
    question, original, best = assessment.question, assessment.original, assessment.best
    kept = [row.name for row in assessment.rows if assessment.keeps(row)]
    rest = [row.name for row in assessment.rows if not isinstance(row.guarantee, Guarantee)]
    assert isinstance(best.guarantee, Guarantee)
    promise = (
        f"At ε = {promised(question.epsilon)} only {', '.join(kept)} promise what was asked for."
    )
    if len(kept) == 1:
        promise = promise.replace("promise", "promises")
    if rest:
        promise += f" No guarantee: {', '.join(rest)}."
    combination = ", ".join(question.identified_by)
    unique = (
        f"{original.unique:,} records are alone with their combination of {combination}: whoever "
        "knows these finds them."
        if original.unique
        else f"No record is alone with its combination of {combination}; the smallest group that "
        f"shares one has {original.k_anonymity:,.0f} records."
    )
    hidden = assessment.suppressed_and_recovered
    if hidden is not None and hidden[1]:
        lost = Point(
            f"{hidden[1]:,} of {hidden[0]:,}",
            f"suppressed cells can be computed from the published margins. {unique}",
        )
    else:
        margins = "No suppressed cell is surely computed from the published margins. "
        lost = Point(f"{original.unique:,} unique", (margins if hidden else "") + unique)
    return Card(
        Point(f"{len(kept)} of {len(assessment.rows)} methods", promise),
        lost,
        Point(
            f"± {best.measures.absolute / question.table.cells:.3g} per cell",
            f"Publish the {best.name}: of those that promise it, it has the smallest expected "
            f"error, {best.measures.absolute:,.1f} over {question.table.cells:,} cells. "
            f"{best.guarantee.meaning()}",
        ),
    )


def assessment_captions(assessment: Assessment) -> Mapping[str, Caption]:
    """Return titles and descriptions of the figures, with their numbers."""
    epsilon, delta = promised(assessment.question.epsilon), promised(assessment.question.delta)
    errors = "; ".join(
        f"{row.name}{'' if assessment.keeps(row) else ' (no such guarantee)'}: "
        f"{row.measures.absolute:,.1f}"
        for row in assessment.rows
    )
    captions = {
        "errors": Caption(
            f"Expected error. Above, methods that promise ε = {epsilon} with δ at most {delta}; "
            "below, hatched, methods that do not: a short bar there is no reason to take them.",
            f"Bars: {errors}.",
        ),
        "cells": Caption(
            "Expected absolute error of every cell, from the smallest count to the largest.",
            "One line of colour for every method, dark where the expected error is large.",
        ),
    }
    if assessment.prediction is not None:
        right = "; ".join(
            f"{row.name}: {row.accuracy.value:.2f} %"
            for row in assessment.rows
            if row.accuracy is not None
        )
        captions["accuracies"] = Caption(
            "How well a classifier does that learns from releases. Filled dots have the guarantee "
            "that was asked for.",
            f"Dots with intervals: {right}.",
        )
    return captions


def assessment_page(assessment: Assessment, made: Made | None) -> str:
    """Return a page of HTML that needs no other file."""
    tables = {table.name: table for table in assessment.tables()}
    maps = [marginal for row in assessment.rows for marginal in row.maps]
    ranked = [axis.name for axis in (maps[0].x, maps[0].y) if axis.ranked] if maps else []
    return page(
        [assessment],
        made,
        "disclosure.html",
        question=assessment.question,
        empty=int((assessment.question.table.flat == 0).sum()),
        tables=tables,
        grouped=_grouped(assessment, tables["protections"]),
        figures=assessment.figures(),
        captions=assessment.captions(),
        maps=svg(group_map_figure(maps, "expected"), "Groups side by side", "") if maps else None,
        ranked=", ".join(ranked),
        neighbours=REPLACE.meaning,
    )


def _grouped(assessment: Assessment, protections: Table) -> list[Table]:
    """Return the methods in three tables: those that keep the promise, promise less, or nothing."""
    titles = ("Promised, as asked for", "Promised, but less than asked for", "Nothing promised")
    groups: dict[str, list[tuple[object, ...]]] = {title: [] for title in titles}
    for row, values in zip(assessment.rows, protections.rows, strict=True):
        less = titles[1] if isinstance(row.guarantee, Guarantee) else titles[2]
        groups[titles[0] if assessment.keeps(row) else less].append(values)
    return [
        replace(protections, title=title, rows=tuple(rows))
        for title, rows in groups.items()
        if rows
    ]
