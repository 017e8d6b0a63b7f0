"""Pictures of gain and loss by sampling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from omit._decimals import promised
from omit.utility.gain_map import GainMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def gain_figure(found: GainMap) -> Figure:
    """Return the map of gain and loss over epsilon and the sampling rate."""
    from matplotlib.figure import Figure

    figure = Figure(
        figsize=(1.8 + 0.72 * len(found.sizes), 1.7 + 0.48 * len(found.epsilons)),
        layout="constrained",
    )
    axes = figure.subplots()
    draw_gains(axes, found)
    figure.suptitle(f"{found.mechanism} of {found.column.name}", fontsize=11, parse_math=False)
    return figure


def draw_gains(axes: Axes, found: GainMap) -> None:
    """Draw the ratios of errors as shades with their numbers; hatched cells are not sure."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    colours = LinearSegmentedColormap.from_list("gain", ["#4292c6", "#ffffff", "#fd8d3c"])
    with np.errstate(divide="ignore"):
        logarithm = np.log10(found.ratios)
    axes.imshow(logarithm, origin="lower", cmap=colours, vmin=-1.5, vmax=1.5, aspect="auto")
    for i in range(len(found.epsilons)):
        for j in range(len(found.sizes)):
            gain = found.gains[i, j] > 0
            axes.text(
                j,
                i,
                short_ratio(float(found.ratios[i, j])),
                ha="center",
                va="center",
                fontsize=8,
                fontweight="bold" if gain else "normal",
            )
            if found.gains[i, j] == 0:
                axes.add_patch(
                    Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="///", edgecolor="0.6")
                )
    axes.set_xticks(range(len(found.sizes)), [_rate(found, size) for size in found.sizes])
    axes.set_yticks(range(len(found.epsilons)), [promised(epsilon) for epsilon in found.epsilons])
    axes.set_xlabel("sampling rate, % of records (odd sizes)")
    axes.set_ylabel("ε of the release")
    axes.set_title(
        f"{found.mechanism.metric} of the sample ÷ that of all records; bold: sampling pays",
        fontsize=9,
    )


def _rate(found: GainMap, size: int) -> str:
    return f"{100 * size / found.column.size:.2g}"


def short_ratio(ratio: float) -> str:
    """Return a ratio in few characters.

    Examples
    --------
    >>> short_ratio(0.0345), short_ratio(1.0312), short_ratio(12345.0)
    ('.035', '1.03', '1e4')
    >>> short_ratio(0.0), short_ratio(float("inf"))
    ('0', '∞')
    """
    if ratio in (0, math.inf):
        return "0" if ratio == 0 else "∞"
    if ratio >= 999.5 or ratio < 0.001:
        mantissa, _, exponent = f"{ratio:.0e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    if ratio < 1:
        return f"{ratio:.2g}".lstrip("0")
    return f"{ratio:.0f}" if ratio >= 99.5 else f"{ratio:.3g}"
