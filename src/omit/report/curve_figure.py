"""Privacy curves as a picture: delta over epsilon, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from omit.statistical.guarantee import PrivacyCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart in grey by their dashes.
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
COLOURS = ("#08306b", "#b30000", "#238b45", "#6a51a3", "#525252", "#d94801")


def draw_curves(axes: Axes, curves: Mapping[str, PrivacyCurve], *, logarithmic: bool) -> None:
    """Draw curves with a legend; the interval of a simulated one is shaded."""
    for place, (name, curve) in enumerate(curves.items()):
        shown = np.where(curve.delta > 0, curve.delta, np.nan)
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(
            curve.epsilon,
            shown,
            color=colour,
            linestyle=STYLES[place % len(STYLES)],
            linewidth=1.8,
            label=name,
        )
        if curve.method == "simulated":
            axes.fill_between(curve.epsilon, curve.lower, shown, color=colour, alpha=0.2)
    if logarithmic:
        axes.set_yscale("log")
    axes.set_xlabel("ε")
    axes.set_ylabel("δ")
    axes.grid(color="0.9")
    axes.legend(frameon=False, fontsize=9)


def curve_figure(title: str, curves: Mapping[str, PrivacyCurve]) -> Figure:
    """Return a figure with the curves, delta plain on the left and logarithmic on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_curves(left, curves, logarithmic=False)
    left.set_ylim(bottom=0)
    draw_curves(right, curves, logarithmic=True)
    smallest = min(
        (float(c.delta[c.delta > 0].min()) for c in curves.values() if (c.delta > 0).any()),
        default=1e-3,
    )
    right.set_ylim(bottom=max(smallest * 0.5, 1e-300), top=1.5)
    figure.suptitle(title, fontsize=12)
    return figure
