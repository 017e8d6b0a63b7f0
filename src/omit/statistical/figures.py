"""Pictures of privacy curves, and the epsilons that show where a curve falls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import FloatArray
from omit.report.figure import panels, series_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omit.statistical.curve import PrivacyCurve


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
        style = series_style(index)
        axes.plot(curve.epsilon, shown, linewidth=1.8, label=name, **style)
        if curve.method == "simulated":
            axes.fill_between(curve.epsilon, curve.lower, shown, color=style["color"], alpha=0.2)
    positive = [float(delta) for curve in curves.values() for delta in curve.delta if delta > 0]
    if not positive:
        axes.text(0.5, 0.5, "δ = 0 everywhere", transform=axes.transAxes, ha="center")
    elif logarithmic:
        axes.set_yscale("log")
        axes.set_ylim(max(min(positive) / 2, 1e-300), 1.5)
    axes.set_xlabel("ε")
    axes.set_ylabel("δ")
    axes.grid(color="0.9")
    axes.legend(frameon=False, fontsize=9)


def curve_figure(title: str, curves: Mapping[str, PrivacyCurve]) -> Figure:
    """Return a figure with the curves, delta logarithmic; the reader sees where it is small."""
    figure, axes = panels(7.2, 4.4)
    draw_curves(axes[0, 0], curves, logarithmic=True)
    figure.suptitle(title, fontsize=12)
    return figure
