"""Pictures of expected errors: over all sampling rates, and over all (m, M).

Pictures of gain and loss by sampling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import FloatArray, error_ratios
from omit._text import promised, short_ratio
from omit.accuracy.grids import GainMap, Landscape
from omit.omissions.outlier_bounds import mixture_epsilon

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_STYLES = ("-", "--", "-.", (0, (1, 1)))
_SHADES = ("0.0", "0.25", "0.4", "0.5")


def rate_figure(landscape: Landscape) -> Figure:
    """Return the expected error over the sampling rate, one line for each epsilon."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.4), layout="constrained")
    axes = figure.subplots()
    rates = 100 * np.append(landscape.rates, 1.0)
    for i, epsilon in enumerate(landscape.epsilons):
        errors = np.append(landscape.by_rate[i], landscape.baseline[i])
        axes.plot(
            rates,
            errors,
            linewidth=1.6,
            label=f"ε = {promised(epsilon)}",
            color=_SHADES[i % 4],
            linestyle=_STYLES[i % 4],
        )
        axes.plot(rates[-1:], errors[-1:], "o", color=_SHADES[i % 4], markersize=4, clip_on=False)
        margin = landscape.by_rate_margin[i]
        low, high = errors[:-1] - margin, errors[:-1] + margin
        axes.fill_between(rates[:-1], low, high, color="0.5", alpha=0.2, linewidth=0)
    if landscape.mechanism.unit == "%":
        # Bounds that meet leave no error anywhere, and nothing that has a logarithm.
        if (landscape.baseline > 0).any() or (landscape.by_rate > 0).any():
            axes.set_yscale("log")
        axes.set_ylabel("expected relative error, %")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_ylabel(landscape.mechanism.metric)
        if landscape.mechanism.unit == "probability":
            axes.set_ylim(0, 1)
    axes.set_xlabel("sampling rate, % of records kept; dot: all records, no omission")
    axes.set_xlim(0, 100)
    axes.grid(alpha=0.25)
    axes.legend(title="guarantee of the release", frameon=False)
    title = f"{landscape.mechanism} of {landscape.data.name}: Poisson sampling"
    axes.set_title(title, fontsize=11, parse_math=False)
    return figure


def score_figure(landscape: Landscape) -> Figure:
    """Return the error of outlier-score suppression against no omission, over (m, M)."""
    from matplotlib.figure import Figure

    rows = -(-len(landscape.epsilons) // 2)
    figure = Figure(figsize=(9.4, 4.6 * rows + 0.4), layout="constrained")
    all_axes = figure.subplots(rows, 2, squeeze=False)
    ratios = error_ratios(landscape.by_score, landscape.baseline[:, None, None])
    for axes, epsilon, ratio in zip(all_axes.flat, landscape.epsilons, ratios, strict=False):
        _draw_scores(axes, landscape, epsilon, ratio)
    for axes in all_axes.flat[len(landscape.epsilons) :]:
        axes.set_visible(False)
    figure.suptitle(
        f"{landscape.mechanism} of {landscape.data.name}: "
        "error of outlier-score suppression ÷ error with all records",
        fontsize=11,
        parse_math=False,
    )
    return figure


def _draw_scores(axes: Axes, landscape: Landscape, epsilon: float, ratio: FloatArray) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    points = np.array(landscape.probabilities)
    half = (points[1] - points[0]) / 2 if len(points) > 1 else 0.05
    extent = (points[0] - half, points[-1] + half, points[0] - half, points[-1] + half)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log10(ratio).T
    # Light enough for black numbers; a tenfold error has the full colour.
    colours = LinearSegmentedColormap.from_list("ratio", ["#4292c6", "#ffffff", "#fd8d3c"])
    axes.imshow(
        logarithm, origin="lower", extent=extent, cmap=colours, vmin=-1, vmax=1, aspect="equal"
    )
    for j, m in enumerate(points):
        for k, M in enumerate(points):
            if np.isfinite(ratio[j, k]):
                text = short_ratio(float(ratio[j, k]))
                axes.text(m, M, text, ha="center", va="center", fontsize=8)
    fine = np.linspace(*extent[:2], 200)
    m, M = np.meshgrid(fine, fine)
    bound = mixture_epsilon(epsilon, np.minimum(m, M).clip(0, 1), np.maximum(m, M).clip(0, 1))
    above = np.ma.masked_where(m > M, bound)
    if above.min() < epsilon < above.max():
        axes.contour(m, M, above, levels=[epsilon], colors="#08306b", linewidths=1.8)
    axes.set_title(f"ε = {promised(epsilon)}", fontsize=10)
    axes.set_xlabel("m, smallest probability of deletion")
    axes.set_ylabel("M, largest probability of deletion")
    axes.set(xlim=extent[:2], ylim=extent[2:])


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
