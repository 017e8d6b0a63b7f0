"""Pictures of expected errors: of a comparison, over sampling rates, over (m, M), and of gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omit._numeric import FloatArray, error_ratios
from omit._text import promised, short_ratio
from omit.accuracy.comparison import Comparison
from omit.accuracy.grids import Curves, ErrorGrid
from omit.omissions.outlier_score import mixture_epsilon
from omit.report.figure import (
    epsilon_label,
    epsilon_style,
    few_plain_numbers,
    heat_map,
    largest_logarithm,
    panels,
    ratio_colours,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MARKERS = {"exact": "o", "simulated": "D"}


def draw_comparison(axes: Axes, comparison: Comparison) -> None:
    """Draw the errors as points with intervals, and a line at that of all records."""
    labels = [str(row[0]) for row in comparison.tables()[0].rows]
    errors = [row.error for row in comparison.rows]
    for place, (row, error) in enumerate(zip(comparison.rows, errors, strict=True)):
        if error is None:
            axes.text(
                0.01, place, "unattainable", transform=axes.get_yaxis_transform(), va="center"
            )
            continue
        axes.plot([error.low, error.high], [place, place], color="0.4", linewidth=2)
        filled = "black" if row.reaches_target else "white"
        marker = _MARKERS[error.method]
        axes.plot(error.value, place, marker, color="black", markerfacecolor=filled, markersize=6)
        if not row.reaches_target:
            axes.annotate(
                "no guarantee",
                (error.high, place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
    axes.axvline(comparison.baseline.value, color="#08306b", linewidth=1, linestyle="--")
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    values = [error.value for error in errors if error is not None]
    if min(values) > 0 and max(values) > 20 * min(values):
        axes.set_xscale("log")
        few_plain_numbers(axes.xaxis)
    else:
        axes.set_xlim(left=0)
    metric, unit = comparison.baseline.metric, comparison.baseline.unit
    axes.set_xlabel(f"{metric}, {unit}" if unit == "%" else metric)
    axes.set_title(comparison.heading, fontsize=10, parse_math=False)
    axes.grid(axis="x", alpha=0.25)


def rate_figure(curves: Curves) -> Figure:
    """Return the expected error over the sampling rate, one line for each epsilon."""
    grid = curves.by_rate
    figure, all_axes = panels(7.6, 4.4)
    axes = all_axes[0, 0]
    rates = 100 * np.append(curves.rates, 1.0)
    for i, epsilon in enumerate(grid.epsilons):
        errors = np.append(grid.errors[i], grid.baseline[i])
        style = epsilon_style(epsilon)
        axes.plot(rates, errors, linewidth=1.6, label=epsilon_label(epsilon), **style)
        axes.plot(rates[-1:], errors[-1:], "o", color=style["color"], markersize=4, clip_on=False)
        margin = grid.high[i] - grid.errors[i]
        low, high = errors[:-1] - margin, errors[:-1] + margin
        axes.fill_between(rates[:-1], low, high, color=style["color"], alpha=0.2, linewidth=0)
    mechanism = grid.mechanism
    if mechanism.unit == "%":
        # Bounds that meet leave no error anywhere, and nothing that has a logarithm.
        if (grid.baseline > 0).any() or (grid.errors > 0).any():
            axes.set_yscale("log")
            few_plain_numbers(axes.yaxis)
        axes.set_ylabel("expected relative error, %")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_ylabel(mechanism.metric_name)
        if mechanism.unit == "probability":
            axes.set_ylim(0, 1)
    axes.set_xlabel("sampling rate, % of records kept; dot: all records, no omission")
    axes.set_xlim(0, 100)
    axes.grid(alpha=0.25)
    axes.legend(title="guarantee of the release", frameon=False)
    kind = "Poisson sampling" if not grid.sizes else "sampling without replacement"
    title = f"{mechanism} of {grid.data.name}: {kind}"
    axes.set_title(title, fontsize=11, parse_math=False)
    return figure


def score_figure(curves: Curves) -> Figure:
    """Return the error of outlier-score suppression against no omission, over (m, M)."""
    grid = curves.by_score
    assert grid is not None
    rows = -(-len(grid.epsilons) // 2)
    figure, all_axes = panels(9.4, 4.6 * rows + 0.4, rows, 2)
    figure.set_layout_engine("compressed")  # maps have the shape of their cells
    ratios = error_ratios(grid.errors, grid.baseline[:, None])
    limit = largest_logarithm(ratios)
    for axes, epsilon, ratio in zip(all_axes.flat, grid.epsilons, ratios, strict=False):
        _draw_scores(axes, curves.probabilities, epsilon, ratio, limit)
    for axes in all_axes.flat[len(grid.epsilons) :]:
        axes.set_visible(False)
    figure.suptitle(
        f"{grid.mechanism} of {grid.data.name}:\n"
        "error of outlier-score suppression ÷ error with all records",
        fontsize=11,
        parse_math=False,
    )
    return figure


def _draw_scores(
    axes: Axes,
    probabilities: tuple[float, ...],
    epsilon: float,
    ratios: FloatArray,
    limit: float,
) -> None:
    points = np.array(probabilities)
    ratio = np.full((len(points), len(points)), np.nan)
    ratio[np.triu_indices(len(points))] = ratios

    def number(i: int, j: int) -> tuple[str, dict[str, Any]] | None:
        known = np.isfinite(ratio[i, j])
        return (short_ratio(float(ratio[i, j])), {"fontsize": 8}) if known else None

    heat_map(axes, ratio_colours(ratio, limit), number, probabilities, probabilities)
    ends = axes.get_xlim()
    fine = np.linspace(*ends, 200)
    m, M = np.meshgrid(fine, fine)
    bound = mixture_epsilon(epsilon, np.minimum(m, M).clip(0, 1), np.maximum(m, M).clip(0, 1))
    above = np.ma.masked_where(m > M, bound)
    if above.min() < epsilon < above.max():
        axes.contour(m, M, above, levels=[epsilon], colors="#08306b", linewidths=1.8)
    axes.set_title(f"ε = {promised(epsilon)}", fontsize=10)
    axes.set_xlabel("m, smallest probability of deletion")
    axes.set_ylabel("M, largest probability of deletion")


def gain_figure(grid: ErrorGrid) -> Figure:
    """Return the map of gain and loss over epsilon and the sampling rate."""
    width = max(1.8 + 0.72 * len(grid.sizes), 6.4)  # what the titles need
    figure, axes = panels(width, 2.0 + 0.48 * len(grid.epsilons))
    draw_gains(axes[0, 0], grid)
    figure.suptitle(f"{grid.mechanism} of {grid.data.name}", fontsize=11, parse_math=False)
    return figure


def draw_gains(axes: Axes, grid: ErrorGrid) -> None:
    """Draw the ratios of errors as shades with their numbers; framed cells are not sure."""
    from matplotlib.patches import Rectangle

    def number(i: int, j: int) -> tuple[str, dict[str, Any]]:
        weight = "bold" if grid.gains[j, i] > 0 else "normal"
        return short_ratio(float(grid.ratios[j, i])), {"fontsize": 8, "fontweight": weight}

    places = range(len(grid.sizes)), range(len(grid.epsilons))
    colours = ratio_colours(grid.ratios.T, largest_logarithm(grid.ratios))
    heat_map(axes, colours, number, *places, aspect="auto")
    for i, j in zip(*np.nonzero(grid.gains == 0), strict=True):
        box = Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="///", edgecolor="0.6")
        axes.add_patch(box)
    axes.set_xticks(places[0], [_rate(grid, size) for size in grid.sizes])
    axes.set_yticks(places[1], [promised(epsilon) for epsilon in grid.epsilons])
    axes.set_xlabel("sampling rate, % of records (odd sizes)")
    axes.set_ylabel("ε of the release")
    axes.set_title(
        f"{grid.mechanism.metric_name} of the sample ÷ that of all records;\n"
        "bold: sampling pays, hatched: not sure",
        fontsize=9,
    )


def _rate(grid: ErrorGrid, size: int) -> str:
    return f"{100 * size / grid.data.size:.2g}"
