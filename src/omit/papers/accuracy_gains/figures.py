"""The figures of the accuracy-gains paper, drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omit._numeric import FloatArray
from omit._text import promised
from omit.accuracy.grids import GainMap
from omit.data.column import Column
from omit.papers.accuracy_gains.cells import (
    POPULATION,
    SAVING_EPSILONS,
    VIOLIN_EPSILONS,
    VIOLIN_SIZES,
    SampledMedians,
    mean_noise_excess,
    mean_noise_ratio_as_published,
    noise_saving,
    sample_epsilon,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SHADES = ("0.0", "0.35", "0.5", "0.1", "0.6", "0.3", "0.45")
_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 3)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def _figure(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    return figure, list(axes)


def _density(axes: Axes, column: Column, marked: float | None = None, what: str = "") -> None:
    values = np.repeat(column.values, column.counts).astype(float)
    axes.hist(values, bins=80, density=True, color="0.75", edgecolor="0.6", linewidth=0.3)
    axes.set_xlabel("value")
    axes.set_ylabel("density")
    axes.set_title(f"population {column.name}, {column.size:,} records", fontsize=10)
    if marked is not None:
        axes.plot([marked], [0], "o", color="black", clip_on=False, markersize=7, label=what)
        axes.legend(frameon=False)


def violins(
    axes: Axes,
    groups: Sequence[FloatArray],
    labels: Sequence[str],
    line: float | None = None,
) -> None:
    """Draw one violin for each group, with its median; a dashed line at the truth."""
    drawn = axes.violinplot(list(groups), showextrema=False, widths=0.85, points=200)
    bodies: Any = drawn["bodies"]  # a list of them, which matplotlib's types do not say
    for body in bodies:
        body.set(facecolor="0.8", edgecolor="0.3", alpha=1.0, linewidth=0.8)
    for place, group in enumerate(groups, start=1):
        low, middle, high = np.quantile(group, [0.25, 0.5, 0.75])
        axes.plot([place, place], [low, high], color="0.2", linewidth=3)
        axes.plot([place], [middle], "o", color="white", markeredgecolor="black", markersize=4)
    if line is not None:
        axes.axhline(line, linestyle="--", color="black", linewidth=1)
    axes.set_xticks(range(1, len(labels) + 1), labels)
    axes.grid(axis="y", alpha=0.25)


def mean_figure(column: Column, means: Mapping[float, FloatArray]) -> Figure:
    """Return Figure 1: the beta population and its private means."""
    figure, (left, right) = _figure(9.0, 3.6, 2)
    _density(left, column)
    violins(right, list(means.values()), [f"ε = {e:g}" for e in means], column.mean)
    right.set_title("private means, Laplace noise; dashed: true mean", fontsize=10)
    right.set_ylabel("private mean")
    return figure


def median_figure(
    truth: float, by_global: Mapping[float, FloatArray], by_smooth: Mapping[float, FloatArray]
) -> Figure:
    """Return Figure 2: private medians by global and by smooth sensitivity."""
    figure, panels = _figure(9.0, 3.6, 2)
    for axes, found, name in zip(panels, (by_global, by_smooth), ("global", "smooth"), strict=True):
        violins(axes, list(found.values()), [f"ε = {e:g}" for e in found], truth)
        axes.set_title(f"private medians by {name} sensitivity", fontsize=10)
        axes.set_ylabel("private median")
    return figure


def amplification_figure() -> Figure:
    """Return Figure 3: the epsilon that a sample may use, over the rate."""
    figure, (axes,) = _figure(6.4, 4.0)
    _draw_over_rates(axes, VIOLIN_EPSILONS, sample_epsilon)
    axes.plot([1], [float(sample_epsilon(1.0, 0.01))], "o", color="black", markersize=5)
    axes.annotate("1 %: 5.15", (1, float(sample_epsilon(1.0, 0.01))), (6, 5.4))
    axes.set(ylabel="ε of the mechanism on the sample")
    axes.set_ylim(bottom=0)
    return figure


def saving_figure() -> Figure:
    """Return Figure 4: the largest useful sampling variance, over the rate."""
    figure, (axes,) = _figure(6.4, 4.2)
    _draw_over_rates(axes, SAVING_EPSILONS, noise_saving)
    axes.axhline(0.6, color="0.7", linewidth=0.8)
    axes.set(ylim=(0, 1))
    axes.set_ylabel("q: sampling variance ÷ noise variance\nbeyond which nothing is gained")
    return figure


def _draw_over_rates(
    axes: Axes, epsilons: Sequence[float], curve: Callable[[float, FloatArray], FloatArray]
) -> None:
    rates = np.linspace(0.001, 1, 1000)
    for index, epsilon in enumerate(epsilons):
        axes.plot(
            100 * rates,
            curve(epsilon, rates),
            label=f"ε = {promised(epsilon)}",
            color=_SHADES[index],
            linestyle=_STYLES[index],
        )
    axes.set(xlabel="sampling rate, %", xlim=(0, 100))
    axes.grid(alpha=0.25)
    axes.legend(title="guarantee of the release", frameon=False)


def artefact_figure() -> Figure:
    """Return Figure 5: 1 - r without cancellation, and what rounding makes of it."""
    figure, (left, right) = _figure(9.6, 4.0, 2)
    epsilons = np.geomspace(1e-12, 1, 400)
    for index, rate in enumerate((1e-4, 1e-2, 0.1, 0.5)):
        left.plot(
            epsilons,
            mean_noise_excess(epsilons, rate),
            label=f"{100 * rate:g} %",
            color=_SHADES[index],
            linestyle=_STYLES[index],
        )
    left.set(xscale="log", yscale="log", xlabel="ε of the release")
    left.set_ylabel("1 − r: by how much the noise of all\nrecords is below that of the sample")
    left.set_title("computed without cancellation: always positive", fontsize=10)
    left.legend(title="sampling rate", frameon=False)
    left.grid(alpha=0.25)
    rates = np.geomspace(1e-4, 0.9, 40)
    fine = np.geomspace(1e-12, 1e-3, 4000)
    crossing = [
        float(fine[np.flatnonzero(mean_noise_ratio_as_published(fine, rate) > 1)].max(initial=0))
        for rate in rates
    ]
    right.plot(100 * rates, crossing, "o", color="0.4", markersize=4, label="largest ε with r > 1")
    right.plot(
        100 * rates,
        np.sqrt(2.0**-52 / (1 / rates - 1)),
        color="black",
        label=r"$\sqrt{2^{-52}/(N/n-1)}$",
    )
    right.set(xscale="log", yscale="log", xlabel="sampling rate, %", ylabel="ε of the release")
    right.set_title("the printed formula in floating point: the paper's curve", fontsize=10)
    right.legend(frameon=False)
    right.grid(alpha=0.25)
    return figure


def ratio_figure(sampled: SampledMedians) -> Figure:
    """Return Figures 6 and 10: sensitivities of samples against that of the population."""
    figure, panels = _figure(9.6, 3.6, len(VIOLIN_EPSILONS))
    for axes, epsilon in zip(panels, VIOLIN_EPSILONS, strict=True):
        groups = [sampled.ratios[epsilon, size] for size in VIOLIN_SIZES]
        violins(axes, groups, [f"n = {size:,}" for size in VIOLIN_SIZES], 1.0)
        axes.set_title(f"ε = {promised(epsilon)}", fontsize=10)
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("smooth sensitivity of the sample\n÷ that of the population")
    return figure


def noise_figure(sampled: SampledMedians) -> Figure:
    """Return Figures 7 and 12: the noise added."""
    figure, panels = _figure(9.6, 3.6, len(VIOLIN_EPSILONS))
    sizes = (POPULATION, *VIOLIN_SIZES)
    for axes, epsilon in zip(panels, VIOLIN_EPSILONS, strict=True):
        groups = [sampled.noise[epsilon, size] for size in sizes]
        violins(axes, groups, ["all", *(f"n = {size:,}" for size in VIOLIN_SIZES)], 0.0)
        axes.set_title(f"ε = {promised(epsilon)}", fontsize=10)
    panels[0].set_ylabel("noise added to the median")
    return figure


def population_figure(column: Column, median: float) -> Figure:
    """Return Figure 9: the bimodal population and its median."""
    figure, (axes,) = _figure(6.4, 3.6)
    _density(axes, column, median, f"median {median:.2f}")
    return figure


def sample_median_figure(sampled: SampledMedians, truth: float) -> Figure:
    """Return Figure 11: medians of samples without noise."""
    figure, (axes,) = _figure(5.6, 3.8)
    violins(
        axes,
        [sampled.medians[size] for size in VIOLIN_SIZES],
        [f"n = {size:,}" for size in VIOLIN_SIZES],
        truth,
    )
    axes.set_ylabel("median of the sample, no noise")
    axes.set_title("dashed: median of the population", fontsize=10)
    return figure


def error_figure(found: GainMap) -> Figure:
    """Return Figures 8 and 13: log of the mean squared error over the sampling rate."""
    figure, (axes,) = _figure(7.2, 4.8)
    draw_errors(axes, found)
    axes.legend(
        title="guarantee of the release", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    return figure


def draw_errors(axes: Axes, found: GainMap) -> None:
    """Draw the logarithm of errors with their intervals; crosses are all records."""
    rates = 100 * np.array(found.sizes) / found.column.size
    for index, epsilon in enumerate(found.epsilons):
        color, style = _SHADES[index], _STYLES[index]
        axes.plot(
            rates,
            np.log(found.errors[index]),
            color=color,
            linestyle=style,
            marker=_MARKERS[index],
            markersize=4,
            label=f"ε = {promised(epsilon)}",
        )
        axes.fill_between(
            rates, np.log(found.low[index]), np.log(found.high[index]), color=color, alpha=0.2
        )
        level = float(np.log(found.baseline[index]))
        axes.plot([100], [level], "x", color=color, markersize=8, markeredgewidth=2, clip_on=False)
        axes.axhline(level, color=color, linewidth=0.5, alpha=0.5)
    axes.set(xlabel="sampling rate, %; crosses: all records", xlim=(0, 100))
    axes.set_ylabel("ln of the mean squared error")
    axes.grid(axis="x", alpha=0.25)


def bounds_figure(by_bounds: Mapping[str, GainMap], epsilon: float) -> Figure:
    """Return the errors at one epsilon for several bounds of the lognormal population."""
    figure, (axes,) = _figure(7.2, 4.2)
    for index, (name, found) in enumerate(by_bounds.items()):
        row = found.epsilons.index(epsilon)
        rates = 100 * np.append(found.sizes, found.column.size) / found.column.size
        errors = np.log(np.append(found.errors[row], found.baseline[row]))
        axes.plot(
            rates,
            errors,
            color=_SHADES[index],
            linestyle=_STYLES[index],
            marker=_MARKERS[index],
            markersize=4,
            label=name,
        )
    axes.set(xlabel="sampling rate, %", xlim=(0, 101))
    axes.set_ylabel(f"ln of the mean squared error at ε = {promised(epsilon)}")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    return figure


def mechanisms_figure(maps: Mapping[str, GainMap], title: str) -> Figure:
    """Return errors of several mechanisms beside each other, over the sampling rate."""
    figure, panels = _figure(11.0, 4.2, len(maps))
    for axes, (name, found) in zip(panels, maps.items(), strict=True):
        draw_errors(axes, found)
        axes.set_title(name, fontsize=10)
    low = min(axes.get_ylim()[0] for axes in panels)
    high = max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(low, high)
    for axes in panels[1:]:
        axes.set_ylabel("")
    panels[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.suptitle(title, fontsize=11)
    return figure
