"""How figures look: readable in grey, and the same line for the same ε on every page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omit._numeric import FloatArray
from omit._text import promised

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_DASHES: tuple[Any, ...] = (
    "-",
    "--",
    "-.",
    ":",
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
    (0, (3, 3)),
    (0, (1, 3)),
    (0, (6, 1, 2, 1)),
    (0, (3, 1, 1, 1)),
)
# Told apart by colour, and in grey by dashes and by how dark they are.
_SHADES = (
    *("#000000", "#0b5394", "#b45f06", "#38761d", "#c2185b"),
    *("#4a148c", "#7f6000", "#00695c", "#6d4c41", "#5f6368"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

# The epsilons that papers and pages draw, in the order in which they get the plainest lines.
_USUAL = (1.0, 0.5, 2.0, 0.1, 0.25, 3.0, 0.01, 4.0, 5.0, 0.001)

LOSS_TO_GAIN = ("#fd8d3c", "#ffffff", "#4292c6")
"""Orange for a loss and blue for a gain, light enough for black numbers."""


def series_style(index: int, *, markers: bool = False) -> dict[str, Any]:
    """Return colour and dashes of the index-th line of a figure, and its marker if asked for.

    Examples
    --------
    >>> series_style(1)
    {'color': '#0b5394', 'linestyle': '--'}
    """
    index %= len(_DASHES)
    style = {"color": _SHADES[index], "linestyle": _DASHES[index]}
    return {**style, "marker": _MARKERS[index], "markersize": 4} if markers else style


def epsilon_style(epsilon: float, *, markers: bool = False) -> dict[str, Any]:
    """Return the style of a line at an epsilon, which is the same in every figure.

    Examples
    --------
    >>> epsilon_style(0.5)["linestyle"], epsilon_style(1.0)["linestyle"]
    ('--', '-')
    """
    if epsilon in _USUAL:
        return series_style(_USUAL.index(epsilon), markers=markers)
    if epsilon <= 0 or math.isinf(epsilon):
        return series_style(0, markers=markers)
    return series_style(round(16 * math.log2(epsilon)), markers=markers)


def epsilon_label(epsilon: float) -> str:
    """Return what a legend says of an epsilon that is promised."""
    return f"ε = {promised(epsilon)}"


def panels(
    width: float, height: float, rows: int = 1, columns: int = 1, **sharing: Any
) -> tuple[Figure, NDArray[Any]]:
    """Return a figure and its axes by row and column."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **sharing)


def few_plain_numbers(axis: Axis) -> None:
    """Mark few places of a logarithmic axis, with numbers as people write them."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    low, high = axis.get_data_interval()
    if low > 0 and high < 10 * low:  # which powers of ten say little about
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    else:
        axis.set_major_locator(LogLocator(subs=(1,) if high > 1000 * low else (1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(plainly)


def plainly(value: float, _: object = None) -> str:
    """Return the number at a place of an axis, without powers of ten where people can read it.

    Examples
    --------
    >>> plainly(20000.0), plainly(0.002), plainly(1e-5)
    ('20,000', '0.002', '1e-05')
    """
    return f"{value:,.10g}" if 1e-3 <= abs(value) < 1e9 or value == 0 else f"{value:g}"


def violins(
    axes: Axes, groups: Sequence[FloatArray], labels: Sequence[str], line: float | None = None
) -> None:
    """Draw the distribution of each group with its median; a dashed line at the truth."""
    drawn = axes.violinplot(list(groups), showextrema=False, widths=0.85, points=200)
    bodies: Any = drawn["bodies"]  # a list of them, which matplotlib's types do not say
    for body in bodies:
        body.set(facecolor="0.8", edgecolor="0.3", alpha=1.0, linewidth=0.8)
    for position, group in enumerate(groups, start=1):
        low, middle, high = np.quantile(group, [0.25, 0.5, 0.75])
        axes.plot([position, position], [low, high], color="0.2", linewidth=3)
        axes.plot([position], [middle], "o", color="white", markeredgecolor="black", markersize=4)
    if line is not None:
        axes.axhline(line, linestyle="--", color="black", linewidth=1)
    axes.set_xticks(range(1, len(labels) + 1), labels)
    axes.grid(axis="y", alpha=0.25)


def largest_logarithm(ratios: FloatArray) -> float:
    """Return the limit of a scale on which no ratio is beyond the ends: log10 of the farthest.

    Examples
    --------
    >>> largest_logarithm(np.array([0.001, 1.0, 100.0])), largest_logarithm(np.array([1.1]))
    (3.0, 1.0)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.abs(np.log10(ratios))
    return float(logarithms[np.isfinite(logarithms)].max(initial=1.0))


def ratio_colours(ratios: FloatArray, limit: float) -> FloatArray:
    """Return where ratios are between loss (-1) and gain (1), by their logarithms.

    The root lets ratios near one be seen next to those that are far from it.

    Examples
    --------
    >>> ratio_colours(np.array([0.001, 1.0, 100.0]), 3.0).round(2)
    array([ 1.  ,  0.  , -0.82])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.clip(np.log10(ratios) / limit, -1, 1)
    colours: FloatArray = 0.0 - np.sign(logarithms) * np.sqrt(np.abs(logarithms))
    return colours


def heat_map(
    axes: Axes,
    colours: FloatArray,
    texts: Callable[[int, int], tuple[str, dict[str, Any]] | None],
    x: Sequence[float],
    y: Sequence[float],
    *,
    ends: Sequence[str] = LOSS_TO_GAIN,
    limit: float = 1.0,
    aspect: str = "equal",
) -> None:
    """Draw a map with a number in every cell.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    colours : array
        By x and y, between -limit and limit; `nan` is left grey.
    texts : callable
        Returns the text at the i-th x and j-th y and how it is drawn, or None.
    x, y : sequence of float
        The centres of the cells, at equal distances.
    ends : sequence of str
        The colours from -limit to limit.
    limit : float
        What has the full colour.
    aspect : str
        As matplotlib's.
    """
    from matplotlib.colors import LinearSegmentedColormap

    palette = LinearSegmentedColormap.from_list("omit", list(ends)).with_extremes(bad="0.93")
    extent = (*_edges(x), *_edges(y))
    axes.imshow(
        np.ma.masked_invalid(colours.T),
        origin="lower",
        extent=extent,
        cmap=palette,
        vmin=-limit,
        vmax=limit,
        aspect=aspect,  # type: ignore[arg-type]  # a literal
    )
    for i, across in enumerate(x):
        for j, up in enumerate(y):
            shown = texts(i, j)
            if shown is not None:
                text, style = shown
                # Lines and hatches end before the number, which stays readable.
                cell = palette((float(colours[i, j]) / limit + 1) / 2)
                box = {"facecolor": cell, "linewidth": 0, "pad": 0.7}
                given = {"ha": "center", "va": "center", "fontsize": 7, "zorder": 4, **style}
                axes.text(across, up, text, bbox=box, **given)
    axes.set(xlim=extent[:2], ylim=extent[2:])


def _edges(centres: Sequence[float]) -> tuple[float, float]:
    half = (centres[1] - centres[0]) / 2 if len(centres) > 1 else 0.5
    return centres[0] - half, centres[-1] + half
