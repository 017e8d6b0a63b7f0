"""The report of comparisons as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omit._text import show_records
from omit.accuracy.bounds_sweep import BoundsSweep, depends_on_bounds, sweep_size
from omit.accuracy.comparison import NOT_PRIVATE, Comparison
from omit.accuracy.figures import rate_figure, score_figure
from omit.accuracy.grids import Curves, CurvesQuestion
from omit.accuracy.ranking import Ranking, ranked
from omit.guarantee import relation
from omit.report.figure import panels
from omit.report.files import svg, write_text
from omit.report.page import Made, page
from omit.report.tradeoff import draw_tradeoff, tradeoff_caption

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Advance = Callable[[], None]


def write_report(
    path: Path | str,
    comparisons: Sequence[Comparison],
    advance: Advance = lambda: None,
    cores: int = 1,
    made: Callable[[], Made] = Made.today,
) -> Path:
    """Write the report of comparisons on the same data and at the same guarantee.

    `advance` is called after each of the errors behind the curves, at most `curve_steps` times.
    With several cores, processes more take part once that pays. `made` returns what the page says
    of how it came about, once the rest is there; by default that it was made today.

    Raises
    ------
    InvalidInput
        If the file cannot be written; what was there before stays.
    """
    curves = [CurvesQuestion(each.question).answer(advance, cores) for each in comparisons]
    sweeps = [
        each.over_bounds(advance, cores) for each in comparisons if depends_on_bounds(each.question)
    ]
    private = any(each.confidential for each in comparisons)
    report = comparison_report(comparisons, curves, sweeps, made())
    return write_text(path, report, private)


def curve_steps(comparisons: Sequence[Comparison]) -> int:
    """Return how many errors are behind the curves of a report at most."""
    return sum(
        CurvesQuestion(each.question).size + sweep_size(each.question) for each in comparisons
    )


def comparison_report(
    comparisons: Sequence[Comparison],
    curves: Sequence[Curves] = (),
    sweeps: Sequence[BoundsSweep] = (),
    made: Made | None = None,
) -> str:
    """Return the report as HTML, with curves for each mechanism, and sweeps over bounds."""
    first, results = comparisons[0], ranked(comparisons)
    return page(
        results,
        made,
        "comparison.html",
        data=first.question.data,
        what_is_equal=_what_is_equal(first),
        guarantee=str(first.question.guarantee),
        rankings=[each for each in results if isinstance(each, Ranking)],
        comparisons=comparisons,
        costs=cost_sentences,
        risk=first.question.guarantee.risk(),
        tradeoff=_tradeoff(first),
        all_curves=[_curves(each) for each in curves],
        sweeps=[_sweep(each) for each in sweeps],
        statements=_assumptions(comparisons),
    )


def _what_is_equal(comparison: Comparison) -> str:
    if not comparison.question.mechanism.private:
        return "NO release below is private; its noise is as if for"
    if comparison.question.noise_reduction:
        protected = all(row.standing != "no guarantee" for row in comparison.rows)
        some = "" if protected else ", but those marked as without one"
        return f"Every release below has the same guarantee{some}"
    return "Every mechanism below has the same guarantee by itself, so releases differ in privacy"


def cost_sentences(comparison: Comparison) -> list[str]:
    """Return for each omission what the omission and what the noise costs, of a mode."""
    return [
        f"{row.omission}: wrong with probability {row.error.parts.omission:.3g} without any noise, "
        f"and {row.error.parts.noise:.3g} with its noise on all records."
        for row in comparison.rows[1:]
        if row.error is not None and row.error.parts is not None and row.error.parts.bias is None
    ]


def _curves(curves: Curves) -> dict[str, Any]:
    """Return what the page shows of other omissions."""
    mechanism = curves.by_rate.mechanism
    rates = _figure(
        rate_figure(curves),
        f"The error over all sampling rates: {mechanism}",
        "The same guarantee along each line: the smaller the sample, the less noise it "
        f"needs, and still the larger its error where lines fall to the right.{_how(curves)}",
    )
    if curves.by_score is None:
        return {"title": f"All sampling rates: {mechanism}", "figures": [rates]}
    caption = (
        "Above 1, suppression makes the error larger. To the right of the blue line it amplifies "
        "privacy, so that the mechanism needs less noise."
    )
    if curves.simulated == curves.size:
        caption += " Ratios near 1 may be chance; the table above says which differences are sure."
    scores = _figure(
        score_figure(curves), f"The error over all outlier scores: {mechanism}", caption
    )
    title = f"All sampling rates and all outlier scores: {mechanism}"
    return {"title": title, "figures": [rates, scores]}


def _figure(figure: Figure, title: str, caption: str) -> dict[str, Any]:
    return {"picture": svg(figure, title, caption), "caption": caption}


def _sweep(sweep: BoundsSweep) -> dict[str, Any]:
    """Return what the page shows of other upper bounds."""
    figure, axes = panels(7.6, 4.4)
    sweep.figures()["bounds"](axes[0, 0])
    caption = (
        "The same guarantee at every point. Narrow bounds clamp more values, wide ones need more "
        "noise; the dotted line is the error of clamping without any noise or omission."
    )
    title = f"Other upper bounds: {sweep.question.mechanism}"
    return {"title": title, "sweep": sweep, "figure": _figure(figure, title, caption)}


def _tradeoff(comparison: Comparison) -> dict[str, Any] | None:
    """Return what the page shows of attackers, if releases have the guarantee."""
    question = comparison.question
    if not (question.mechanism.private and question.noise_reduction):
        return None
    figure, axes = panels(4.8, 3.6)
    draw_tradeoff(axes[0, 0], question.guarantee)
    caption = tradeoff_caption(question.guarantee)
    return {"picture": svg(figure, *caption), "caption": caption.title}


def _how(curves: Curves) -> str:
    """Return how many of the numbers are simulated, and how often."""
    if not curves.simulated:
        return ""
    often = f"with {curves.by_rate.question.runs} runs each"
    if curves.simulated == curves.size:
        return f" All numbers are simulated, {often} and the same random numbers in all."
    return f" {curves.simulated} of these numbers are simulated, {often}, the others exact."


def _assumptions(comparisons: Sequence[Comparison]) -> list[str]:
    first = comparisons[0].question
    notes = dict.fromkeys(note for comparison in comparisons for note in comparison.notes)
    statements = [
        f"Two databases are neighbours if {relation(first.guarantee.neighbours).meaning}.",
        f"A person has at most {show_records(first.rows_per_person)}.",
        "The sample stays secret; parameters were fixed without looking at the data.",
        first.data.declaration,
        _noise_statement(comparisons[0]),
    ]
    if not first.data.coupled:
        statements.append(
            "Errors compare with the statistic of all records as they are, before any value is "
            "clamped, unless another truth was given."
        )
    return [*statements, *(note for note in notes if note != NOT_PRIVATE)]


def _noise_statement(comparison: Comparison) -> str:
    """Return what the noise is for."""
    if not comparison.question.mechanism.private:
        return NOT_PRIVATE
    if comparison.question.noise_reduction:
        return (
            "The mechanism's noise is reduced (or increased) so that the release has the guarantee."
        )
    return "The mechanism alone has the guarantee: its noise is not reduced."
