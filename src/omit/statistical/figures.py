"""Pictures of privacy curves, and the epsilons that show where a curve falls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omit.statistical.curve import PrivacyCurve

# Told apart in grey by their dashes.
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
COLOURS = ("#08306b", "#b30000", "#238b45", "#6a51a3", "#525252", "#d94801")


def shown_epsilons(drawn: FloatArray) -> list[float]:
    """Return a few round epsilons from where a curve is high to where it has fallen.

    Examples
    --------
    >>> shown_epsilons(default_epsilons(200, 50.0))
    [0.0, 0.02, 0.04, 0.08, 0.2]
    """
    few = drawn[[0, len(drawn) // 8, len(drawn) // 4, len(drawn) // 2, -1]]
    return sorted({float(f"{epsilon:.1g}") for epsilon in few})


def default_epsilons(count: int, spread: float) -> FloatArray:
    """Return epsilons from 0 to where a curve of `count` entries has long fallen.

    One entry moves the answer by about `1 / spread` of a standard deviation, and the curve falls
    within a few such steps.
    """
    largest = min(8.0 / max(spread, 1e-9), 20.0) if math.isfinite(spread) else 1.0
    return np.linspace(0.0, largest, count)


def draw_curves(
    axes: Axes, curves: Mapping[str, PrivacyCurve], *, logarithmic: bool = False
) -> None:
    """Draw curves with a legend; the interval of a simulated one is shaded."""
    for index, (name, curve) in enumerate(curves.items()):
        shown = np.where(curve.delta > 0, curve.delta, np.nan)
        colour = COLOURS[index % len(COLOURS)]
        style = STYLES[index % len(STYLES)]
        axes.plot(curve.epsilon, shown, color=colour, linestyle=style, linewidth=1.8, label=name)
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
    draw_curves(left, curves)
    left.set_ylim(bottom=0)
    draw_curves(right, curves, logarithmic=True)
    smallest = min(
        (float(c.delta[c.delta > 0].min()) for c in curves.values() if (c.delta > 0).any()),
        default=1e-3,
    )
    right.set_ylim(bottom=max(smallest * 0.5, 1e-300), top=1.5)
    figure.suptitle(title, fontsize=12)
    return figure
