"""Pictures of the disclosure-control paper, drawn anew."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from omit._decimals import promised

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
_SHADES = ("0.0", "0.25", "0.4", "0.5", "0.3", "0.55")
_MARKS = ("o", "s", "^", "D", "v", "x")


def errors_and_fairness(found: pd.DataFrame) -> Figure:
    """Return Figure 2: errors and fairness of both methods over their parameters."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 6.6), layout="constrained")
    panels = figure.subplots(2, 2)
    labels = {"suppression": "threshold k", "swapping": "records swapped, %"}
    for column, (method, axis) in enumerate(labels.items()):
        for row, measure in enumerate(("absolute error", "fairness")):
            axes = panels[row][column]
            part = found[found["method"] == method]
            for place, (epsilon, line) in enumerate(part.groupby("epsilon")):
                name = "original"
                if epsilon < math.inf:
                    name = f"randomised, ε = {promised(epsilon)}"
                _line(axes, line["parameter"], line[measure], place, name)
            axes.set_xlabel(axis)
            axes.set_ylabel("expected absolute error" if row == 0 else "fairness α, records")
            axes.set_title(method, fontsize=11)
            axes.grid(alpha=0.25)
    panels[0][0].legend(frameon=False, fontsize=9)
    return figure


def _line(axes: Axes, x: pd.Series, y: pd.Series, place: int, label: str) -> None:
    axes.plot(
        x,
        y,
        linestyle=_LINES[place % len(_LINES)],
        color=_SHADES[place % len(_SHADES)],
        marker=_MARKS[place % len(_MARKS)],
        markersize=4,
        linewidth=1.4,
        label=label,
    )


def accuracies(found: pd.DataFrame) -> Figure:
    """Return Figure 4: accuracy over epsilon, one line for each mechanism."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.6), layout="constrained")
    axes = figure.subplots()
    for place, (name, part) in enumerate(found.groupby("mechanism", sort=False)):
        _line(axes, part["epsilon"], part["accuracy"], place, str(name))
    axes.axhline(found["baseline"].iloc[0], color="0.6", linewidth=3, zorder=0)
    axes.text(4.2, found["baseline"].iloc[0], "unprotected", va="bottom", fontsize=9)
    _epsilon_axis(axes)
    axes.set_xlim(0.45, 6.5)
    axes.set_ylabel("records classified right, %")
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def matches(found: pd.DataFrame) -> Figure:
    """Return Figure 5: unique exact matches over epsilon."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.0), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (name, data) in zip(panels, found.groupby("data"), strict=True):
        for place, (mechanism, part) in enumerate(data.groupby("mechanism", sort=False)):
            _line(axes, part["epsilon"], part["matches"], place, str(mechanism))
        axes.axhline(data["all unique"].iloc[0], color="0.6", linewidth=3, zorder=0)
        axes.text(0.5, data["all unique"].iloc[0] * 0.93, "all unique records", fontsize=9)
        _epsilon_axis(axes)
        axes.set_title({"nist-ma": "Massachusetts", "nist-tx": "Texas"}[str(name)], fontsize=11)
        axes.set_ylim(0, None)
    panels[0].set_ylabel("unique exact matches, % of records")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _epsilon_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    axes.minorticks_off()
    axes.set_xlabel("ε")
    axes.grid(alpha=0.25)
