"""Pictures of an assessment: errors, classifiers, and what changes in two-way marginals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omit._text import promised
from omit.disclosure.measures import Axis, GroupMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omit.disclosure.assessment import Assessment


_ABREAST = 4
_MOST_TICKS = 8
_LONGEST_LABEL = 12


def draw_errors(axes: Axes, assessment: Assessment) -> None:
    """Draw the expected errors as bars: first what keeps the promise; the rest apart, hatched."""
    kept = [row for row in assessment.rows if assessment.keeps(row)]
    rest = [row for row in assessment.rows if not assessment.keeps(row)]
    places = [*range(1, len(kept) + 1), *range(len(kept) + 3, len(kept) + 3 + len(rest))]
    for place, row in zip(places, (*kept, *rest), strict=True):
        style: dict[str, Any] = {"color": "#0b5394"}
        if place > len(kept):
            style = {"color": "white", "edgecolor": "0.45", "hatch": "////"}
        axes.barh(place, row.measures.absolute, **style)
        axes.text(row.measures.absolute, place, f" {row.measures.absolute:,.0f}", va="center")
    epsilon, delta = promised(assessment.question.epsilon), promised(assessment.question.delta)
    for place, group in (
        (0, f"promise ε = {epsilon}, δ at most {delta}"),
        (len(kept) + 2, "no such promise: their errors do not compare"),
    ):
        if group[0] == "p" or rest:
            name = axes.get_yaxis_transform()
            axes.text(0.01, place, group, transform=name, va="center", style="italic")
    axes.set_yticks(places, [row.protection.key for row in (*kept, *rest)])
    axes.set_ylim(max(places) + 0.6, -0.6)
    axes.margins(x=0.12)
    axes.set_xlabel("expected sum of absolute errors, records")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_cells(axes: Axes, assessment: Assessment) -> None:
    """Draw the expected absolute error of every cell, from the smallest count to the largest."""
    from matplotlib.colors import LogNorm

    counts = assessment.question.table.flat
    order = np.argsort(counts, kind="stable")
    errors = np.array([row.errors.absolute[order] for row in assessment.rows])
    largest = max(float(errors.max()), 1.0)
    image = axes.imshow(
        errors.clip(min=0.1),
        aspect="auto",
        cmap="cividis_r",
        norm=LogNorm(0.1, largest),
        interpolation="nearest",
    )
    places = np.unique(np.linspace(0, len(order) - 1, _MOST_TICKS).round().astype(int))
    axes.set_xticks(places, [f"{counts[order[place]]:,}" for place in places])
    axes.set_xlabel("true count of the cell")
    axes.set_yticks(range(len(errors)), [row.protection.key for row in assessment.rows])
    figure = axes.get_figure()
    if figure is not None:
        bar = figure.colorbar(image, ax=axes, label="expected |error|, records")
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def draw_accuracies(axes: Axes, assessment: Assessment) -> None:
    """Draw how well classifiers do that learn from releases, with intervals."""
    task = assessment.prediction
    if task is None:
        return
    for position, row in enumerate(assessment.rows):
        if row.accuracy is not None:
            face = "0.2" if assessment.keeps(row) else "white"
            ends = [row.accuracy.low, row.accuracy.high]
            axes.plot(ends, [position, position], color="0.2", lw=1.5)
            axes.plot(row.accuracy.value, position, "o", color="0.2", mfc=face, ms=7)
    for share, style, name in (
        (task.unprotected, "-", "unprotected"),
        (task.constant, ":", "constant guess"),
    ):
        axes.axvline(share, color="0.3", lw=1.5, ls=style, zorder=0, label=name)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    _name_rows(axes, assessment)
    axes.set_xlabel(f"records whose {task.target} is predicted right, %", parse_math=False)
    axes.set_ylim(len(assessment.rows) - 0.5, -0.7)


def _name_rows(axes: Axes, assessment: Assessment) -> None:
    names = [row.protection.key for row in assessment.rows]
    axes.set_yticks(np.arange(len(names)), names)
    axes.margins(x=0.12)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def group_map_figure(maps: Sequence[GroupMap], of: str) -> Figure:
    """Return one panel per protection and group, with the same colours in all.

    Up to four protections stand side by side, more of them one below the other.

    Parameters
    ----------
    maps : sequence of GroupMap
        What is drawn.
    of : str
        Whose release it is: the mean of runs, or the expectation.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(marginal.protection for marginal in maps))
    groups = list(dict.fromkeys(marginal.group for marginal in maps))
    abreast = len(names) <= _ABREAST
    rows, columns = (groups, names) if abreast else (names, groups)
    size = (2.75 * len(names), 3.2 * len(groups)) if abreast else (9.2, 0.6 + 2.1 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    limit = max(float(np.abs(marginal.change).max()) for marginal in maps) or 1.0
    for marginal in maps:
        group, name = groups.index(marginal.group), names.index(marginal.protection)
        axes = panels[group][name] if abreast else panels[name][group]
        image = _panel(axes, marginal, limit)
        separator = "\n" if abreast else ", "
        title = f"{marginal.protection}{separator}{marginal.group}\nerror {marginal.error:.1f} %"
        title = title if abreast else title.replace("\n", ", ")
        axes.set_title(title, fontsize=9, parse_math=False)
    x, y = maps[0].x, maps[0].y
    for axes in panels[-1]:
        axes.set_xlabel(x.name, parse_math=False)
        _ticks(axes.set_xticks, x, rotation=90 if _long(x) else 0)
    for row in panels:
        row[0].set_ylabel(y.name, parse_math=False)
        _ticks(row[0].set_yticks, y)
    panels[0][0].legend(fontsize=8, loc="upper left", framealpha=0.9)
    figure.colorbar(
        image,
        ax=panels,
        label=f"released − true count ({of})",
        location="right" if abreast else "top",
        aspect=20 if abreast else 40,
        shrink=0.8,
    )
    return figure


def _panel(axes: Axes, marginal: GroupMap, limit: float) -> Any:
    """Draw one map with both lines; return the image."""
    left, right = _ends(marginal.x)
    bottom, top = _ends(marginal.y)
    image = axes.imshow(
        marginal.change.T,
        origin="lower",
        aspect="auto",
        cmap="RdBu",
        vmin=-limit,
        vmax=limit,
        extent=(left, right, bottom, top),
    )
    # Signs, which the colours do not show in grey.
    for first, second in zip(*np.nonzero(np.abs(marginal.change) > limit / 6), strict=True):
        change = marginal.change[first, second]
        axes.text(
            marginal.x.numbers[first],
            marginal.y.numbers[second],
            "+" if change > 0 else "−",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if abs(change) > limit / 2 else "black",
        )
    x = np.array([marginal.x.numbers[0], marginal.x.numbers[-1]])
    for (intercept, slope), style, label in (
        (marginal.true_line, "k-", "data"),
        (marginal.line, "k--", "release"),
    ):
        axes.plot(x, intercept + slope * x, style, lw=1.6, label=label)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    return image


def _ends(axis: Axis) -> tuple[float, float]:
    numbers = axis.numbers
    half = (numbers[1] - numbers[0]) / 2 if len(numbers) > 1 else 0.5
    return numbers[0] - half, numbers[-1] + half


def _long(axis: Axis) -> bool:
    return len(axis.numbers) > 2 and max(len(label) for label in axis.categories) > 3


def _ticks(set_ticks: Callable[..., Any], axis: Axis, rotation: float = 0) -> None:
    """Label some of the categories, shortened if they are long."""
    step = -(-len(axis.numbers) // _MOST_TICKS)
    labels = [
        label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"
        for label in axis.categories
    ]
    style = {"fontsize": 8, "rotation": rotation, "parse_math": False}
    set_ticks(list(axis.numbers[::step]), labels[::step], **style)
