"""What the accuracy-gains paper shows, and what is shown beyond it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from omit._numeric import FloatArray
from omit._text import promised
from omit.accuracy.figures import gain_figure
from omit.accuracy.grids import ErrorGrid
from omit.mechanisms.quantiles import SmoothQuantile
from omit.papers.accuracy_gains.cells import (
    BIMODAL,
    BOUNDS_VARIANTS,
    POPULATION,
    SAVING_EPSILONS,
    VIOLIN_EPSILONS,
    VIOLIN_SIZES,
    Line,
    answers_of,
    error_grid_of,
    mean_noise_excess,
    mean_noise_ratio_as_published,
    noise_saving,
    sample_epsilon,
    sampled_medians,
)
from omit.papers.base import Computed
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style, violins

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BETA = Line("beta", "mean")
_RATES_OF_NOISE = (1e-4, 1e-2, 0.1, 0.5)
_NOISE_RATIOS = {
    "one_minus_r": mean_noise_excess,
    "r_as_published": mean_noise_ratio_as_published,
}
"""How the noise of a sample's mean relates to that of all records, by the name of a column."""


def density(axes: Axes, line: Line, marked: float | None = None) -> None:
    """Draw the density of a population, and mark a value."""
    column = line.read()
    values = np.repeat(column.values, column.counts).astype(float)
    axes.hist(values, bins=80, density=True, color="0.75", edgecolor="0.6", linewidth=0.3)
    axes.set(xlabel="value", ylabel="density")
    axes.set_title(f"population {column.name}, {column.size:,} records", fontsize=10)
    if marked is not None:
        label = f"median {marked:.2f}"
        axes.plot([marked], [0], "o", color="black", clip_on=False, markersize=7, label=label)
        axes.legend(frameon=False)


def median(line: Line) -> float:
    """Return the median of all records."""
    return float(SmoothQuantile().truth(line.read()))


def answers_frame(found: Mapping[float, FloatArray]) -> pd.DataFrame:
    """Return private answers, a column for each epsilon."""
    return pd.DataFrame({f"epsilon={epsilon:g}": values for epsilon, values in found.items()})


def medians_frame(computed: Computed) -> pd.DataFrame:
    """Return private medians by global and by smooth sensitivity."""
    return pd.concat(
        [
            answers_frame(answers_of(computed, name)).assign(sensitivity=name)
            for name in ("global", "smooth")
        ]
    )


def mean_figure(computed: Computed) -> Figure:
    """Return Figure 1: the beta population and its private means."""
    figure, ((left, right),) = panels(9.0, 3.6, columns=2)
    density(left, _BETA)
    means = answers_of(computed, "mean")
    violins(right, list(means.values()), [f"ε = {e:g}" for e in means], _BETA.read().mean)
    right.set_title("private means, Laplace noise; dashed: true mean", fontsize=10)
    right.set_ylabel("private mean")
    return figure


def median_figure(computed: Computed) -> Figure:
    """Return Figure 2: private medians by global and by smooth sensitivity."""
    figure, (row,) = panels(9.0, 3.6, columns=2)
    for axes, name in zip(row, ("global", "smooth"), strict=True):
        found = answers_of(computed, name)
        violins(axes, list(found.values()), [f"ε = {e:g}" for e in found], median(_BETA))
        axes.set_title(f"private medians by {name} sensitivity", fontsize=10)
        axes.set_ylabel("private median")
    return figure


def curve_frame(
    epsilons: Sequence[float], name: str, curve: Callable[[float, FloatArray], FloatArray]
) -> pd.DataFrame:
    """Return a curve over the sampling rate, for each epsilon."""
    rates = np.round(np.arange(0.01, 1.001, 0.01), 2)
    return pd.concat(
        [pd.DataFrame({"epsilon": e, "rate": rates, name: curve(e, rates)}) for e in epsilons]
    )


def draw_over_rates(
    axes: Axes, epsilons: Sequence[float], curve: Callable[[float, FloatArray], FloatArray]
) -> None:
    """Draw a curve over the sampling rate, for each epsilon."""
    rates = np.linspace(0.001, 1, 1000)
    for epsilon in epsilons:
        label = epsilon_label(epsilon)
        axes.plot(100 * rates, curve(epsilon, rates), label=label, **epsilon_style(epsilon))
    axes.set(xlabel="sampling rate, %", xlim=(0, 100))
    axes.grid(alpha=0.25)
    axes.legend(title="guarantee of the release", frameon=False)


def amplification_figure(computed: Computed) -> Figure:
    """Return Figure 3: the epsilon that a sample may use, over the rate."""
    figure, ((axes,),) = panels(6.4, 4.0)
    draw_over_rates(axes, VIOLIN_EPSILONS, sample_epsilon)
    height = float(sample_epsilon(1.0, 0.01))
    axes.plot([1], [height], "o", color="black", markersize=5)
    axes.annotate("1 %: 5.15", (1, height), (6, 5.4))
    axes.set(ylabel="ε of the mechanism on the sample")
    axes.set_ylim(bottom=0)
    return figure


def saving_figure(computed: Computed) -> Figure:
    """Return Figure 4: the largest useful sampling variance, over the rate."""
    figure, ((axes,),) = panels(6.4, 4.2)
    draw_over_rates(axes, SAVING_EPSILONS, noise_saving)
    axes.axhline(0.6, color="0.7", linewidth=0.8)
    axes.set(ylim=(0, 1))
    axes.set_ylabel("q: sampling variance ÷ noise variance\nbeyond which nothing is gained")
    return figure


def noise_frame(computed: Computed) -> pd.DataFrame:
    """Return how the noise of a sample's mean relates to that of all records."""
    return pd.DataFrame(
        [
            (e, p, *(float(r(e, p)) for r in _NOISE_RATIOS.values()))
            for p in _RATES_OF_NOISE
            for e in np.geomspace(1e-12, 1, 49)
        ],
        columns=["epsilon", "rate", *_NOISE_RATIOS],
    )


def artefact_figure(computed: Computed) -> Figure:
    """Return Figure 5: 1 - r without cancellation, and what rounding makes of it."""
    figure, ((left, right),) = panels(9.6, 4.0, columns=2)
    epsilons = np.geomspace(1e-12, 1, 400)
    for index, rate in enumerate(_RATES_OF_NOISE):
        excess = mean_noise_excess(epsilons, rate)
        left.plot(epsilons, excess, label=f"{100 * rate:g} %", **series_style(index))
    left.set(xscale="log", yscale="log", xlabel="ε of the release")
    left.set_ylabel("1 − r: by how much the noise of all\nrecords is below that of the sample")
    left.set_title("computed without cancellation: always positive", fontsize=10)
    left.legend(title="sampling rate", frameon=False)
    rates = np.geomspace(1e-4, 0.9, 40)
    fine = np.geomspace(1e-12, 1e-3, 4000)
    crossing = [
        float(fine[np.flatnonzero(mean_noise_ratio_as_published(fine, rate) > 1)].max(initial=0))
        for rate in rates
    ]
    right.plot(100 * rates, crossing, "o", color="0.4", markersize=4, label="largest ε with r > 1")
    edge = np.sqrt(2.0**-52 / (1 / rates - 1))
    right.plot(100 * rates, edge, color="black", label=r"$\sqrt{2^{-52}/(N/n-1)}$")
    right.set(xscale="log", yscale="log", xlabel="sampling rate, %", ylabel="ε of the release")
    right.set_title("the printed formula in floating point: the paper's curve", fontsize=10)
    right.legend(frameon=False)
    for axes in (left, right):
        axes.grid(alpha=0.25)
    return figure


def sampled_frame(found: Mapping[tuple[float, int], FloatArray], name: str) -> pd.DataFrame:
    """Return values of samples, by epsilon and size."""
    return pd.concat(
        [
            pd.DataFrame({"epsilon": epsilon, "records": size, name: values})
            for (epsilon, size), values in found.items()
        ]
    )


def ratio_figure(population: str, computed: Computed) -> Figure:
    """Return Figures 6 and 10: sensitivities of samples against the population's."""
    ratios = sampled_medians(computed, population).ratios
    figure, (row,) = panels(9.6, 3.6, columns=len(VIOLIN_EPSILONS))
    for axes, epsilon in zip(row, VIOLIN_EPSILONS, strict=True):
        groups = [ratios[epsilon, size] for size in VIOLIN_SIZES]
        violins(axes, groups, [f"n = {size:,}" for size in VIOLIN_SIZES], 1.0)
        axes.set_title(epsilon_label(epsilon), fontsize=10)
        axes.set_ylim(bottom=0)
    row[0].set_ylabel("smooth sensitivity of the sample\n÷ that of the population")
    return figure


def noise_figure(population: str, computed: Computed) -> Figure:
    """Return Figures 7 and 12: the noise added."""
    noise = sampled_medians(computed, population).noise
    figure, (row,) = panels(9.6, 3.6, columns=len(VIOLIN_EPSILONS))
    labels = ["all", *(f"n = {size:,}" for size in VIOLIN_SIZES)]
    for axes, epsilon in zip(row, VIOLIN_EPSILONS, strict=True):
        groups = [noise[epsilon, size] for size in (POPULATION, *VIOLIN_SIZES)]
        violins(axes, groups, labels, 0.0)
        axes.set_title(epsilon_label(epsilon), fontsize=10)
    row[0].set_ylabel("noise added to the median")
    return figure


def population_frame(computed: Computed) -> pd.DataFrame:
    """Return the values of the bimodal population."""
    bimodal = BIMODAL.read()
    return pd.DataFrame({"value": np.repeat(bimodal.values, bimodal.counts)})


def population_figure(computed: Computed) -> Figure:
    """Return Figure 9: the bimodal population and its median."""
    figure, ((axes,),) = panels(6.4, 3.6)
    density(axes, BIMODAL, median(BIMODAL))
    return figure


def sample_medians_frame(computed: Computed) -> pd.DataFrame:
    """Return medians of samples without noise, by size."""
    medians = sampled_medians(computed, "bimodal").medians
    return pd.DataFrame({f"n={n}": values for n, values in medians.items()})


def sample_medians_figure(computed: Computed) -> Figure:
    """Return Figure 11: medians of samples without noise."""
    medians = sampled_medians(computed, "bimodal").medians
    figure, ((axes,),) = panels(5.6, 3.8)
    labels = [f"n = {size:,}" for size in VIOLIN_SIZES]
    violins(axes, [medians[size] for size in VIOLIN_SIZES], labels, median(BIMODAL))
    axes.set_ylabel("median of the sample, no noise")
    axes.set_title("dashed: median of the population", fontsize=10)
    return figure


def errors_frame(line: Line, computed: Computed) -> pd.DataFrame:
    """Return the errors of a line, by epsilon and sample size."""
    found = computed.once(error_grid_of, line)
    return pd.DataFrame(
        [
            {
                "epsilon": epsilon,
                "records": size,
                "mse": found.errors[i, j],
                "low": found.low[i, j],
                "high": found.high[i, j],
                "mse_of_all_records": found.baseline[i],
                "ratio": found.ratios[i, j],
            }
            for i, epsilon in enumerate(found.epsilons)
            for j, size in enumerate(found.sizes)
        ]
    )


def several_frames(lines: Mapping[str, Line], key: str, computed: Computed) -> pd.DataFrame:
    """Return the errors of several lines, told apart by a column."""
    return pd.concat(
        [errors_frame(line, computed).assign(**{key: name}) for name, line in lines.items()]
    )


def draw_errors(axes: Axes, found: ErrorGrid) -> None:
    """Draw the logarithm of errors with their intervals; crosses are all records."""
    rates = 100 * np.array(found.sizes) / found.data.size
    for index, epsilon in enumerate(found.epsilons):
        style = epsilon_style(epsilon, markers=True)
        errors = np.log(found.errors[index])
        axes.plot(rates, errors, label=epsilon_label(epsilon), **style)
        color = style["color"]
        axes.fill_between(
            rates, np.log(found.low[index]), np.log(found.high[index]), color=color, alpha=0.2
        )
        level = float(np.log(found.baseline[index]))
        axes.plot([100], [level], "x", color=color, markersize=8, markeredgewidth=2, clip_on=False)
        axes.axhline(level, color=color, linewidth=0.5, alpha=0.5)
    axes.set(xlabel="sampling rate, %; crosses: all records", xlim=(0, 100))
    axes.set_ylabel("ln of the mean squared error")
    axes.grid(axis="x", alpha=0.25)


def error_figure(line: Line, computed: Computed) -> Figure:
    """Return Figures 8 and 13: ln of the mean squared error over the rate."""
    figure, ((axes,),) = panels(7.2, 4.8)
    draw_errors(axes, computed.once(error_grid_of, line))
    axes.legend(
        title="guarantee of the release", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    return figure


def map_figure(line: Line, computed: Computed) -> Figure:
    """Return a map of gain and loss."""
    return gain_figure(computed.once(error_grid_of, line))


def bounds_figure(computed: Computed) -> Figure:
    """Return the errors at the smallest epsilon for several bounds."""
    figure, ((axes,),) = panels(7.2, 4.2)
    for index, (name, line) in enumerate(BOUNDS_VARIANTS.items()):
        found = computed.once(error_grid_of, line)
        rates = 100 * np.append(found.sizes, found.data.size) / found.data.size
        errors = np.log(np.append(found.errors[0], found.baseline[0]))
        axes.plot(rates, errors, label=name, **series_style(index, markers=True))
    axes.set(xlabel="sampling rate, %", xlim=(0, 101))
    axes.set_ylabel(f"ln of the mean squared error at ε = {promised(found.epsilons[0])}")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    return figure


def mechanisms_figure(lines: Mapping[str, Line], computed: Computed) -> Figure:
    """Return errors of several mechanisms side by side."""
    figure, (row,) = panels(11.0, 4.2, columns=len(lines))
    for axes, (name, line) in zip(row, lines.items(), strict=True):
        draw_errors(axes, computed.once(error_grid_of, line))
        axes.set_title(name, fontsize=10)
    limits = [axes.get_ylim() for axes in row]
    for axes in row:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    for axes in row[1:]:
        axes.set_ylabel("")
    row[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.suptitle(f"{next(iter(lines.values())).read().name} population", fontsize=11)
    return figure


def table_frame(computed: Computed) -> pd.DataFrame:
    """Return what Table 1 concludes."""
    return pd.DataFrame(
        [
            ("any", "any", "global", "no gains from some sampling variance on"),
            ("mean", "any", "global", "no gains"),
            ("median", "lognormal", "smooth", "gains for ε ≤ 0.1"),
            ("median", "bimodal", "smooth", "gains for ε ≤ 3"),
        ],
        columns=["parameter", "distribution", "sensitivity", "conclusion of the paper"],
    )
