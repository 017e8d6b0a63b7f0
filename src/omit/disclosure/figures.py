"""Heat maps of what a release changes in a two-way marginal of groups, with regression lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omit.disclosure.tasks import Axis, GroupMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_ABREAST = 4
_MOST_TICKS = 8
_LONGEST_LABEL = 12


def group_map_figure(found: Sequence[GroupMap], of: str) -> Figure:
    """Return one panel for each mechanism and group, with the same colours in all.

    Up to four mechanisms stand side by side; more of them below each other.

    Parameters
    ----------
    found : sequence of GroupMap
        What is drawn.
    of : str
        Whose release it is: the mean of runs, or the expectation.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(each.mechanism for each in found))
    groups = list(dict.fromkeys(each.group for each in found))
    abreast = len(names) <= _ABREAST
    rows, columns = (groups, names) if abreast else (names, groups)
    size = (2.75 * len(names), 3.2 * len(groups)) if abreast else (9.2, 0.6 + 2.1 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    limit = max(float(np.abs(each.change).max()) for each in found) or 1.0
    for each in found:
        here = (each.group, each.mechanism) if abreast else (each.mechanism, each.group)
        axes = panels[rows.index(here[0])][columns.index(here[1])]
        image = _panel(axes, each, limit)
        separator = "\n" if abreast else ", "
        title = f"{each.mechanism}{separator}{each.group}\nerror {each.error:.1f} %"
        title = title if abreast else title.replace("\n", ", ")
        axes.set_title(title, fontsize=9, parse_math=False)
    x, y = found[0].x, found[0].y
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


def _panel(axes: Axes, found: GroupMap, limit: float) -> Any:
    """Draw one map with both lines; return the image."""
    left, right = _ends(found.x)
    bottom, top = _ends(found.y)
    image = axes.imshow(
        found.change.T,
        origin="lower",
        aspect="auto",
        cmap="RdBu",
        vmin=-limit,
        vmax=limit,
        extent=(left, right, bottom, top),
    )
    # Signs, which the colours do not show in grey.
    for first, second in zip(*np.nonzero(np.abs(found.change) > limit / 6), strict=True):
        change = found.change[first, second]
        axes.text(
            found.x.numbers[first],
            found.y.numbers[second],
            "+" if change > 0 else "−",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if abs(change) > limit / 2 else "black",
        )
    x = np.array([found.x.numbers[0], found.x.numbers[-1]])
    for (intercept, slope), style, label in (
        (found.true_line, "k-", "data"),
        (found.line, "k--", "release"),
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
    return len(axis.numbers) > 2 and max(len(each) for each in axis.categories) > 3


def _ticks(set_ticks: Callable[..., Any], axis: Axis, rotation: float = 0) -> None:
    """Label some of the categories, shortened if they are long."""
    step = -(-len(axis.numbers) // _MOST_TICKS)
    labels = [
        each if len(each) <= _LONGEST_LABEL else f"{each[: _LONGEST_LABEL - 1]}…"
        for each in axis.categories
    ]
    style = {"fontsize": 8, "rotation": rotation, "parse_math": False}
    set_ticks(list(axis.numbers[::step]), labels[::step], **style)
