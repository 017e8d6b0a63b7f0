"""What answers about accuracy say in short, and why leaving records out wins or loses.

Both parts of an error are shown at the same scale: the noise, which an omission may save, and the
records that it misses. Their squares add up, so that the larger part is what the error is about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from omit._text import promised, show_quantity, show_ratio
from omit.accuracy.comparison import Comparison
from omit.accuracy.expected import Question
from omit.accuracy.row import Row, shown_ratio
from omit.data.base import Data
from omit.data.column import Column
from omit.exact.error import ExpectedError, Parts
from omit.guarantee import Guarantee
from omit.omissions.base import Omission
from omit.report.page import Caption, Card, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omit.accuracy.search import Best, Solution

# Below, an error is nothing to anybody.
_UNSEEN = 1e-9

_BARS: Mapping[str, Mapping[str, Any]] = {
    "noise": {"color": "#9ecae1"},
    "records missed": {"color": "#fdae6b", "hatch": "///"},
}


def comparison_card(comparison: Comparison) -> Card | None:
    """Return what a comparison says in short; None if there is nothing to compare."""
    base, best, unit = comparison.baseline, comparison.best_tested, comparison.baseline.unit
    everything = Point(
        _seen(base.value, unit),
        f"Use all records{_published(comparison)} this expected error ({base.metric}, "
        f"{base.method}); {_unbeaten(best)}.",
    )
    if comparison.question.mechanism.metric == "kept-sum":
        return None
    if best is None or best.error is None:
        lost = Point("none", "No omission was tested that reaches the guarantee.")
        return Card(_promise(comparison), lost, everything)
    if best.ratio is None:
        most = "" if best.error.method == "exact" else "at most "
        lost = Point(
            f"{most}{_seen(best.error.high, unit)}",
            f"With {best.omission} this is the expected error ({best.error.metric}, "
            f"{best.error.method}). That of all records is too small to be compared with.",
        )
        return Card(_promise(comparison), lost, everything)
    why = " ".join(why_sentences(comparison, best))
    lost = Point(
        f"× {shown_ratio(best)}",
        f"With {best.omission} the expected error is {_said(best.error)}, {shown_ratio(best)} "
        f"times that of all records, at the same privacy. {why}",
    )
    if not comparison.question.noise_reduction:
        lost = lost._replace(sentence=lost.sentence.replace("same privacy", "same noise"))
    if not any(map(comparison.informs, comparison.rows)):
        instead = everything._replace(
            sentence="No answer tells more than the middle of the bounds, which needs no data: ask "
            "a coarser question, or allow a larger epsilon."
        )
    elif best.standing == "better" and best.matters and not best.gains_by_bounds:
        instead = Point(
            show_quantity(best.error.value, unit),
            f"Leave records out by {best.omission}: that beats using all records.",
        )
    else:
        instead = everything
    return Card(_promise(comparison), lost, instead)


def _seen(value: float, unit: str) -> str:
    """Return an error as far as anybody will ever see one."""
    unseen = 0 < value < _UNSEEN
    return f"{'below ' * unseen}{show_quantity(_UNSEEN if unseen else value, unit)}"


def _published(comparison: Comparison) -> str:
    mechanism = comparison.question.mechanism
    return f": publish their {mechanism}, which has" if mechanism.private else ", which has"


def _unbeaten(best: Row | None) -> str:
    if best is not None and best.standing == "undecided":
        return "no omission tested surely beats that"
    if best is not None and best.standing == "better" and best.gains_by_bounds:
        return "narrower bounds that do not come from the data make it smaller"
    return "no omission tested beats that"


def _said(error: ExpectedError) -> str:
    return f"{show_quantity(error.value, error.unit)} ({error.metric}, {error.method})"


def _promise(comparison: Comparison) -> Point:
    question = comparison.question
    if not question.mechanism.private:
        return Point("nothing", "This mechanism is not private: its noise has no guarantee.")
    epsilon = f"ε = {promised(question.guarantee.epsilon)}"
    meaning = question.guarantee.meaning(question.rows_per_person)
    if question.noise_reduction:
        unprotected = any(row.standing == "no guarantee" for row in comparison.rows)
        some = ", but those marked as without guarantee" if unprotected else ""
        what = (
            "Every answer below has" if question.statistics == 1 else "All statistics together have"
        )
        return Point(epsilon, f"{what} this guarantee{some}. {meaning}")
    return Point(epsilon, f"The mechanism has this guarantee without any omission. {meaning}")


def best_card(best: Best) -> Card | None:
    """Return what the search for the best omission says in short."""
    card = comparison_card(best.comparison)
    if card is None:
        return None
    tried = f"This is the best of {best.tried} omissions that were tried. "
    return card._replace(lost=card.lost._replace(sentence=tried + card.lost.sentence))


def solution_card(solution: Solution) -> Card:
    """Return what the search for a guarantee says in short."""
    error = solution.error
    epsilon, meaning = promised(solution.guarantee.epsilon), solution.guarantee.meaning()
    private = solution.question.mechanism.private
    return Card(
        Point(f"ε = {epsilon}" if private else "nothing", meaning if private else "Not private."),
        Point(show_quantity(error.value, error.unit), f"The expected error is {_said(error)}."),
        Point(
            f"ε = {epsilon}",
            f"Release with this epsilon after {solution.omission}. A smaller one protects more and "
            "has a larger error, a larger one protects less than is needed for this error.",
        ),
    )


class Why(NamedTuple):
    """Both parts of an error: by noise alone, and by the records that are missed alone."""

    noise: float
    missed: float


def parts_of(error: ExpectedError | None) -> Why | None:
    """Return both parts of an error, where they are known; a bias by the omission is missed, too.

    Examples
    --------
    >>> parts_of(ExpectedError(1.0, 1, 1, "exact", "", "", parts=Parts(0.6, 0.2, -1.3, -0.5)))
    Why(noise=0.2, missed=1.0)
    """
    parts: Parts | None = None if error is None else error.parts
    if parts is None:
        return None
    beyond = 0.0 if parts.bias is None else parts.bias - parts.clamping
    return Why(parts.noise, math.hypot(parts.omission, beyond))


def why_sentences(comparison: Comparison, row: Row) -> tuple[str, ...]:
    """Return in two sentences why an omission wins or loses, where the parts are known."""
    base, parts = parts_of(comparison.baseline), parts_of(row.error)
    if base is None or parts is None or not _of_the_omission(comparison):
        return ()
    unit = "%" if comparison.baseline.unit == "%" else ""
    before, after, missed = (
        show_quantity(value, unit) for value in (base.noise, parts.noise, parts.missed)
    )
    saves = parts.noise < base.noise
    change = "saves noise, which falls" if saves else "saves no noise, which goes"
    first = f"Leaving records out {change} from {before} to {after}."
    saved = base.noise - parts.noise
    if comparison.baseline.unit != "probability":
        saved = math.sqrt(max(base.noise**2 - parts.noise**2, 0.0))
    if not saves or parts.missed <= 0:
        return first, f"The records that are missed cost {missed}."
    more = parts.missed > saved
    factor = show_ratio(parts.missed / saved if more else saved / parts.missed, exact=False)
    much = "times what is saved" if more else "times less than what is saved"
    return first, f"The records that are missed cost {missed}, {factor} {much}."


def _of_the_omission(comparison: Comparison) -> bool:
    """Tell whether what exceeds clamping comes from the omission, not from another truth."""
    parts = comparison.baseline.parts
    return parts is not None and not (parts.bias and abs(parts.bias - parts.clamping) > 1e-9)


def why_rows(comparison: Comparison) -> Mapping[str, Why]:
    """Return the parts of all rows by name, where there are some to compare."""
    if not _of_the_omission(comparison):
        return {}
    known = {row.short_name: parts_of(row.error) for row in comparison.rows}
    rows = {name: parts for name, parts in known.items() if parts is not None}
    seen = any(max(parts) >= _UNSEEN for parts in rows.values())
    return rows if len(rows) > 1 and seen else {}


def draw_why(axes: Axes, comparison: Comparison) -> None:
    """Draw noise and missed records as bars at the same scale, for every row."""
    rows, unit = why_rows(comparison), comparison.baseline.unit
    shown = "%" if unit == "%" else ""
    for index, (name, style) in enumerate(_BARS.items()):
        sizes = [parts[index] for parts in rows.values()]
        places = [place + 0.4 * index - 0.2 for place in range(len(rows))]
        axes.barh(places, sizes, height=0.38, edgecolor="0.25", linewidth=0.6, label=name, **style)
        for place, size in zip(places, sizes, strict=True):
            text = f" {show_quantity(0.0 if size < _UNSEEN else size, shown)}"
            axes.text(size, place, text, va="center", fontsize=9)
    axes.set_yticks(range(len(rows)), list(rows), parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.margins(x=0.16)
    axes.set_xlim(left=0)
    if unit == "probability":
        axes.set_xlabel("probability of a wrong answer by this alone")
    else:
        axes.set_xlabel(f"root mean square error by this alone{', %' if shown else ''}")
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def comparison_captions(comparison: Comparison) -> Mapping[str, Caption]:
    """Return titles and descriptions of the figures of a comparison, with their numbers."""
    unit = comparison.baseline.unit
    errors = "; ".join(
        f"{row.short_name} {show_quantity(row.error.value, unit)}"
        for row in comparison.rows
        if row.error is not None
    )
    parts = "; ".join(
        f"{name}: noise {why.noise:.3g}, records missed {why.missed:.3g}"
        for name, why in why_rows(comparison).items()
    )
    return {
        "errors": Caption(
            "The expected error with every omission, at the same guarantee. The dashed line is "
            "that of all records.",
            f"Points with intervals: {errors}.",
        ),
        "why": Caption(
            "Why: what noise and missed records add to the error, at the same scale.",
            f"Bars: {parts}.",
        ),
    }


def question_provenance(question: Question) -> Mapping[str, str]:
    """Return what a page says of the data and of simulations."""
    data = question.data
    return {
        "Data": f"{data.name}, {data.size:,} records, from {data.source}",
        "Declared": data.declaration,
        "Seed": str(question.seed),
    }


def comparison_code(comparison: Comparison) -> str:
    """Return a comparison in Python."""
    omissions = [row.omission for row in comparison.rows[1:]]
    return question_code(comparison.question, "compare", *omissions)


def question_code(question: Question, function: str, *omissions: Omission) -> str:
    """Return a question in Python, with the function that answers it."""
    usual = {field.name: field.default for field in fields(Question)}
    settings = [
        f"{name}={getattr(question, name)!r}"
        for name in _SETTINGS
        if getattr(question, name) != usual[name]
    ]
    values = [question.mechanism, question.guarantee, *omissions]
    names = dict.fromkeys(_import(type(value)) for value in values)
    lines = "".join(f"    {argument},\n" for argument in ["data", *map(repr, values), *settings])
    imports = "\n".join(["import omit", *names])
    return f"{imports}\n\n{_reading(question.data)}\nprint(omit.{function}(\n{lines}))"


def solution_code(solution: Solution) -> str:
    """Return the search for a guarantee in Python."""
    question, wanted = solution.question, f"{solution.error.value:.8g}"
    usual = Question(question.data, question.mechanism, Guarantee(1.0))
    settings = [
        f"{name}={getattr(question, name)!r}"
        for name in ("truth", "method", "runs")
        if getattr(question, name) != getattr(usual, name)
    ]
    settings += [
        f"{name}={getattr(solution.guarantee, name)!r}"
        for name in ("delta", "neighbours")
        if getattr(solution.guarantee, name) != getattr(usual.guarantee, name)
    ]
    values = (question.mechanism, solution.omission)
    arguments = ["data", repr(values[0]), wanted, repr(values[1]), *settings]
    lines = "".join(f"    {argument},\n" for argument in arguments)
    imports = "\n".join(["import omit", *dict.fromkeys(_import(type(value)) for value in values)])
    return f"{imports}\n\n{_reading(question.data)}\nprint(omit.solve(\n{lines}))"


_SETTINGS = (
    *("truth", "method", "runs", "seed", "rows_per_person", "statistics"),
    *("sampled_from", "noise_reduction", "early_stop"),
)


def _import(kind: type) -> str:
    """Return the line that imports a class, from where it is public."""
    rooms = ("omit", "omit.mechanisms", "omit.omissions")
    public = (room for room in rooms if hasattr(import_module(room), kind.__name__))
    return f"from {next(public, kind.__module__)} import {kind.__name__}"


def _reading(data: Data) -> str:
    """Return how to read a column in Python, as far as it knows where it comes from."""
    if not isinstance(data, Column) or data.source == "values in memory":
        return f"data = ...  # {data.name}: {data.size:,} records"
    options = []
    if data.bounds_source == "declared" and data.bounds is not None:
        options = [f"bounds=({data.bounds[0]:.15g}, {data.bounds[1]:.15g})"]
        options += [] if data.step is None else [f"step={data.step:.15g}"]
    return f"data = omit.read({', '.join([repr(data.source), repr(data.name), *options])})"
