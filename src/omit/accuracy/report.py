"""The report of a comparison as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from omit.accuracy.compare import (
    NOT_PRIVATE,
    NUMERIC,
    WARNING,
    Comparison,
    table_cells,
    table_headings,
)
from omit.accuracy.figures import rate_figure, score_figure
from omit.accuracy.grids import Landscape
from omit.data.column import Column
from omit.data.points import Points
from omit.guarantee import relation
from omit.report.page import html_table, page, svg


def comparison_report(
    comparisons: Sequence[Comparison], landscapes: Sequence[Landscape] = ()
) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    comparisons : sequence of Comparison
        What was asked for; all on the same column and at the same guarantee.
    landscapes : sequence of Landscape
        Curves and maps to add, one for each mechanism.
    """
    first = comparisons[0]
    column = first.data
    sections = [
        f"<h1>Leaving records out of {escape(column.name)}</h1>",
        f'<p class="warning">{escape(WARNING)}</p>',
        f"<p>{column.size:,} records, {column.distinct:,} different values, from "
        f"{escape(column.source)}. {_what_is_equal(first)}: "
        f"<b>{escape(str(first.target))}</b>.</p>",
    ]
    for comparison in comparisons:
        sections.append(_comparison_section(comparison))
    for landscape in landscapes:
        sections.append(_landscape_section(landscape))
    sections.append(_assumptions(comparisons))
    at = "at" if first.mechanism.private else "with"
    title = f"omit: {column.name} {at} {first.promise}"
    return page(title, sections)


def _what_is_equal(comparison: Comparison) -> str:
    if not comparison.mechanism.private:
        return "NO release below is private; its noise is as if for"
    if comparison.noise_reduction:
        return "Every release below has the same guarantee"
    return "Every mechanism below has the same guarantee by itself, so releases differ in privacy"


def _comparison_section(comparison: Comparison) -> str:
    headings = table_headings(comparison.rows)
    kinds = ["number" if each in NUMERIC else "" for each in headings]
    table = html_table(headings, table_cells(comparison.rows), kinds)
    error = comparison.baseline
    parts = "".join(f"<li>{escape(sentence)}</li>" for sentence in cost_sentences(comparison))
    return (
        f"<h2>{escape(_sentence_case(str(comparison.mechanism)))}</h2>"
        f'<p class="verdict">{escape(comparison.verdict)}</p>'
        f"<p>Error: {escape(error.metric)}.</p>"
        f"{table}<ul>{parts}</ul>"
    )


def cost_sentences(comparison: Comparison) -> list[str]:
    """Return for each omission what the omission and what the noise costs, in words."""
    sentences = []
    for row in comparison.rows[1:]:
        parts = row.error.parts if row.error is not None else None
        if parts is None:
            continue
        if comparison.mechanism.unit == "squared units":
            sentences.append(
                f"{row.omission}: variance by omission {parts.omission:.3g}, by noise "
                f"{parts.noise:.3g}, bias {_rounded(parts.bias or 0.0)}; the error is the sum of "
                "both variances and the squared bias."
            )
        elif parts.bias is not None:
            sentences.append(
                f"{row.omission}: bias {_rounded(parts.bias)} %, standard deviation by omission "
                f"{parts.omission:.3g} %, by noise {parts.noise:.3g} % (to first order)."
            )
        else:
            sentences.append(
                f"{row.omission}: wrong with probability {parts.omission:.3g} without any noise, "
                f"and {parts.noise:.3g} with its noise on all records."
            )
    return sentences


def _rounded(value: float) -> str:
    """Return three digits, or 0 for what rounding errors leave."""
    return "0" if abs(value) < 1e-9 else f"{value:.3g}"


def _landscape_section(landscape: Landscape) -> str:
    scores = (
        "Above 1, suppression makes the error larger. To the right of the blue line it amplifies "
        "privacy, so that the mechanism needs less noise."
    )
    if landscape.simulated == landscape.size:
        scores += " Ratios near 1 may be chance; the table above says which differences are sure."
    return (
        f"<h2>All sampling rates and all outlier scores: {escape(str(landscape.mechanism))}</h2>"
        f"<figure>{svg(rate_figure(landscape))}<figcaption>The same guarantee along each line: "
        "the smaller the sample, the less noise it needs, and still the larger its error where "
        f"lines fall to the right.{_how_simulated(landscape)}</figcaption></figure>"
        f"<figure>{svg(score_figure(landscape))}<figcaption>{scores}</figcaption></figure>"
    )


def _how_simulated(landscape: Landscape) -> str:
    """Return how many of the numbers are simulated, and how often."""
    if not landscape.simulated:
        return ""
    often = f"with {landscape.runs} runs each"
    if landscape.simulated == landscape.size:
        return f" All numbers are simulated, {often} and the same random numbers in all."
    return f" {landscape.simulated} of these numbers are simulated, {often}, the others exact."


def _assumptions(comparisons: Sequence[Comparison]) -> str:
    first = comparisons[0]
    notes = dict.fromkeys(note for comparison in comparisons for note in comparison.notes)
    statements = [
        f"Two databases are neighbours if {relation(first.target.neighbours).meaning}.",
        f"A person has at most {first.rows_per_person} record(s).",
        "The sample stays secret; parameters were fixed without looking at the data.",
        _bounds_statement(first.data),
        _noise_statement(first),
        None
        if isinstance(first.data, Points)
        else "Errors compare with the statistic of all records, unless another truth was given.",
        *(note for note in notes if note not in (WARNING, NOT_PRIVATE)),
    ]
    items = "".join(f"<li>{escape(each)}</li>" for each in statements if each)
    return f"<h2>What was assumed</h2><ul>{items}</ul>"


def _noise_statement(comparison: Comparison) -> str:
    """Return what the noise is for."""
    if not comparison.mechanism.private:
        return NOT_PRIVATE
    if comparison.noise_reduction:
        return (
            "The mechanism's noise is reduced (or increased) so that the release has the guarantee."
        )
    return "The mechanism alone has the guarantee: its noise is not reduced."


def _bounds_statement(data: Column | Points) -> str:
    """Return which values are possible, and who says so."""
    origin = {
        "declared": "declared",
        "registered": "registered with the data set",
        "from-data": "taken from the data, which is NOT private",
    }[data.bounds_source]
    if isinstance(data, Points):
        columns = zip(data.columns, data.bounds, strict=True)
        ranges = "; ".join(f"{name} in [{low:g}, {high:g}]" for name, (low, high) in columns)
        return f"Values lie within bounds, {origin}: {ranges}."
    if data.bounds is None:
        return f"The categories were {origin}."
    return f"Values lie in [{data.bounds[0]:g}, {data.bounds[1]:g}], {origin}."


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
