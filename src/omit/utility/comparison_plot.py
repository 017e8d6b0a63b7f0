"""A picture of a comparison: each omission's error with its interval, and that of all records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omit.utility.error import Error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = {"exact": "o", "simulated": "D"}


def comparison_figure(
    title: str, labels: Sequence[str], errors: Sequence[Error | None], metric: str, unit: str
) -> Figure:
    """Return the errors as points with intervals; the first is without omission."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    figure = Figure(figsize=(7.5, 0.45 * len(labels) + 1.6), layout="constrained")
    axes = figure.subplots()
    for place, error in enumerate(errors):
        if error is None:
            axes.text(
                0.01, place, "unattainable", transform=axes.get_yaxis_transform(), va="center"
            )
            continue
        axes.plot([error.low, error.high], [place, place], color="0.4", linewidth=2)
        axes.plot(error.value, place, _MARKERS[error.method], color="black", markersize=6)
    baseline = errors[0]
    if baseline is not None:
        axes.axvline(baseline.value, color="#08306b", linewidth=1, linestyle="--")
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    values = [error.value for error in errors if error is not None]
    if min(values) > 0 and max(values) > 20 * min(values):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(f"{metric}, {unit}" if unit == "%" else metric)
    figure.suptitle(title, fontsize=10, parse_math=False)
    axes.grid(axis="x", alpha=0.25)
    return figure
