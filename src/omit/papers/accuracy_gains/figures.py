"""What the accuracy-gains paper shows, and what is shown beyond it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import FloatArray
from omit._text import promised
from omit.accuracy.figures import gain_figure
from omit.accuracy.grids import GainMap
from omit.mechanisms.quantiles import SmoothQuantile
from omit.papers.accuracy_gains.cells import (
    BIMODAL,
    BOUNDS_VARIANTS,
    LOGNORMAL,
    POPULATION,
    SAVING_EPSILONS,
    VIOLIN_EPSILONS,
    VIOLIN_SIZES,
    Line,
    answer_cells,
    answers_of,
    error_cells,
    gain_map_of,
    mean_noise_excess,
    mean_noise_ratio_as_published,
    noise_saving,
    runs_of,
    sample_epsilon,
    sampled_cells,
    sampled_medians,
)
from omit.papers.accuracy_gains.claims import EXPONENTIAL, GLOBAL, MEAN, TIGHT
from omit.papers.base import Computed, Exhibit, OwnData
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style, violins

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BETA = Line("beta", "mean")
_RATES_OF_NOISE = (1e-4, 1e-2, 0.1, 0.5)
_NOISE_RATIOS = {
    "one_minus_r": mean_noise_excess,
    "r_as_published": mean_noise_ratio_as_published,
}
"""How the noise of a sample's mean relates to that of all records, by the name of a column."""


def _density(axes: Axes, line: Line, marked: float | None = None) -> None:
    column = line.read()
    values = np.repeat(column.values, column.counts).astype(float)
    axes.hist(values, bins=80, density=True, color="0.75", edgecolor="0.6", linewidth=0.3)
    axes.set(xlabel="value", ylabel="density")
    axes.set_title(f"population {column.name}, {column.size:,} records", fontsize=10)
    if marked is not None:
        label = f"median {marked:.2f}"
        axes.plot([marked], [0], "o", color="black", clip_on=False, markersize=7, label=label)
        axes.legend(frameon=False)


def _median(line: Line) -> float:
    return float(SmoothQuantile().truth(line.read()))


def _answers_frame(found: Mapping[float, FloatArray]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({f"epsilon={epsilon:g}": values for epsilon, values in found.items()})


def _medians_frame(computed: Computed) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(
        [
            _answers_frame(answers_of(computed, name)).assign(sensitivity=name)
            for name in ("global", "smooth")
        ]
    )


def _mean_figure(computed: Computed) -> Figure:
    figure, ((left, right),) = panels(9.0, 3.6, columns=2)
    _density(left, _BETA)
    means = answers_of(computed, "mean")
    violins(right, list(means.values()), [f"ε = {e:g}" for e in means], _BETA.read().mean)
    right.set_title("private means, Laplace noise; dashed: true mean", fontsize=10)
    right.set_ylabel("private mean")
    return figure


def _median_figure(computed: Computed) -> Figure:
    figure, (row,) = panels(9.0, 3.6, columns=2)
    for axes, name in zip(row, ("global", "smooth"), strict=True):
        found = answers_of(computed, name)
        violins(axes, list(found.values()), [f"ε = {e:g}" for e in found], _median(_BETA))
        axes.set_title(f"private medians by {name} sensitivity", fontsize=10)
        axes.set_ylabel("private median")
    return figure


def _curve_frame(
    epsilons: Sequence[float], name: str, curve: Callable[[float, FloatArray], FloatArray]
) -> pd.DataFrame:
    import pandas as pd

    rates = np.round(np.arange(0.01, 1.001, 0.01), 2)
    return pd.concat(
        [pd.DataFrame({"epsilon": e, "rate": rates, name: curve(e, rates)}) for e in epsilons]
    )


def _draw_over_rates(
    axes: Axes, epsilons: Sequence[float], curve: Callable[[float, FloatArray], FloatArray]
) -> None:
    rates = np.linspace(0.001, 1, 1000)
    for epsilon in epsilons:
        label = epsilon_label(epsilon)
        axes.plot(100 * rates, curve(epsilon, rates), label=label, **epsilon_style(epsilon))
    axes.set(xlabel="sampling rate, %", xlim=(0, 100))
    axes.grid(alpha=0.25)
    axes.legend(title="guarantee of the release", frameon=False)


def _amplification_figure(computed: Computed) -> Figure:
    figure, ((axes,),) = panels(6.4, 4.0)
    _draw_over_rates(axes, VIOLIN_EPSILONS, sample_epsilon)
    height = float(sample_epsilon(1.0, 0.01))
    axes.plot([1], [height], "o", color="black", markersize=5)
    axes.annotate("1 %: 5.15", (1, height), (6, 5.4))
    axes.set(ylabel="ε of the mechanism on the sample")
    axes.set_ylim(bottom=0)
    return figure


def _saving_figure(computed: Computed) -> Figure:
    figure, ((axes,),) = panels(6.4, 4.2)
    _draw_over_rates(axes, SAVING_EPSILONS, noise_saving)
    axes.axhline(0.6, color="0.7", linewidth=0.8)
    axes.set(ylim=(0, 1))
    axes.set_ylabel("q: sampling variance ÷ noise variance\nbeyond which nothing is gained")
    return figure


def _noise_frame(computed: Computed) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            (e, p, *(float(r(e, p)) for r in _NOISE_RATIOS.values()))
            for p in _RATES_OF_NOISE
            for e in np.geomspace(1e-12, 1, 49)
        ],
        columns=["epsilon", "rate", *_NOISE_RATIOS],
    )


def _artefact_figure(computed: Computed) -> Figure:
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


def _sampled_frame(found: Mapping[tuple[float, int], FloatArray], name: str) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(
        [
            pd.DataFrame({"epsilon": epsilon, "records": size, name: values})
            for (epsilon, size), values in found.items()
        ]
    )


def _ratio_figure(population: str, computed: Computed) -> Figure:
    ratios = sampled_medians(computed, population).ratios
    figure, (row,) = panels(9.6, 3.6, columns=len(VIOLIN_EPSILONS))
    for axes, epsilon in zip(row, VIOLIN_EPSILONS, strict=True):
        groups = [ratios[epsilon, size] for size in VIOLIN_SIZES]
        violins(axes, groups, [f"n = {size:,}" for size in VIOLIN_SIZES], 1.0)
        axes.set_title(epsilon_label(epsilon), fontsize=10)
        axes.set_ylim(bottom=0)
    row[0].set_ylabel("smooth sensitivity of the sample\n÷ that of the population")
    return figure


def _noise_figure(population: str, computed: Computed) -> Figure:
    noise = sampled_medians(computed, population).noise
    figure, (row,) = panels(9.6, 3.6, columns=len(VIOLIN_EPSILONS))
    labels = ["all", *(f"n = {size:,}" for size in VIOLIN_SIZES)]
    for axes, epsilon in zip(row, VIOLIN_EPSILONS, strict=True):
        groups = [noise[epsilon, size] for size in (POPULATION, *VIOLIN_SIZES)]
        violins(axes, groups, labels, 0.0)
        axes.set_title(epsilon_label(epsilon), fontsize=10)
    row[0].set_ylabel("noise added to the median")
    return figure


def _population_frame(computed: Computed) -> pd.DataFrame:
    import pandas as pd

    bimodal = BIMODAL.read()
    return pd.DataFrame({"value": np.repeat(bimodal.values, bimodal.counts)})


def _population_figure(computed: Computed) -> Figure:
    figure, ((axes,),) = panels(6.4, 3.6)
    _density(axes, BIMODAL, _median(BIMODAL))
    return figure


def _sample_medians_frame(computed: Computed) -> pd.DataFrame:
    import pandas as pd

    medians = sampled_medians(computed, "bimodal").medians
    return pd.DataFrame({f"n={n}": values for n, values in medians.items()})


def _sample_medians_figure(computed: Computed) -> Figure:
    medians = sampled_medians(computed, "bimodal").medians
    figure, ((axes,),) = panels(5.6, 3.8)
    labels = [f"n = {size:,}" for size in VIOLIN_SIZES]
    violins(axes, [medians[size] for size in VIOLIN_SIZES], labels, _median(BIMODAL))
    axes.set_ylabel("median of the sample, no noise")
    axes.set_title("dashed: median of the population", fontsize=10)
    return figure


def _errors_frame(line: Line, computed: Computed) -> pd.DataFrame:
    import pandas as pd

    found = computed.once(gain_map_of, line)
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


def _several_frames(lines: Mapping[str, Line], key: str, computed: Computed) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(
        [_errors_frame(line, computed).assign(**{key: name}) for name, line in lines.items()]
    )


def _draw_errors(axes: Axes, found: GainMap) -> None:
    """Draw the logarithm of errors with their intervals; crosses are all records."""
    rates = 100 * np.array(found.sizes) / found.column.size
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


def _error_figure(line: Line, computed: Computed) -> Figure:
    figure, ((axes,),) = panels(7.2, 4.8)
    _draw_errors(axes, computed.once(gain_map_of, line))
    axes.legend(
        title="guarantee of the release", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    return figure


def _map_figure(line: Line, computed: Computed) -> Figure:
    return gain_figure(computed.once(gain_map_of, line))


def _bounds_figure(computed: Computed) -> Figure:
    figure, ((axes,),) = panels(7.2, 4.2)
    for index, (name, line) in enumerate(BOUNDS_VARIANTS.items()):
        found = computed.once(gain_map_of, line)
        rates = 100 * np.append(found.sizes, found.column.size) / found.column.size
        errors = np.log(np.append(found.errors[0], found.baseline[0]))
        axes.plot(rates, errors, label=name, **series_style(index, markers=True))
    axes.set(xlabel="sampling rate, %", xlim=(0, 101))
    axes.set_ylabel(f"ln of the mean squared error at ε = {promised(found.epsilons[0])}")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    return figure


def _mechanisms_figure(lines: Mapping[str, Line], computed: Computed) -> Figure:
    figure, (row,) = panels(11.0, 4.2, columns=len(lines))
    for axes, (name, line) in zip(row, lines.items(), strict=True):
        _draw_errors(axes, computed.once(gain_map_of, line))
        axes.set_title(name, fontsize=10)
    limits = [axes.get_ylim() for axes in row]
    for axes in row:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    for axes in row[1:]:
        axes.set_ylabel("")
    row[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.suptitle(f"{next(iter(lines.values())).read().name} population", fontsize=11)
    return figure


def _table_frame(computed: Computed) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            ("any", "any", "global", "no gains from some sampling variance on"),
            ("mean", "any", "global", "no gains"),
            ("median", "lognormal", "smooth", "gains for ε ≤ 0.1"),
            ("median", "bimodal", "smooth", "gains for ε ≤ 3"),
        ],
        columns=["parameter", "distribution", "sensitivity", "conclusion of the paper"],
    )


_PER_POINT = (
    " samples for each point, with the noise integrated; shaded: 95 % intervals (hardly wider than "
    "the lines). Where a line is below its own cross, sampling pays."
)


def _per_point(computed: Computed) -> str:
    return f"{runs_of(computed.settings):,}{_PER_POINT}"


def _figure(
    number: int,
    title: str,
    caption: str | Callable[[Computed], str],
    numbers: Callable[[Computed], pd.DataFrame],
    draw: Callable[[Computed], Figure],
    cells: Callable[..., Iterable] = lambda settings: (),  # type: ignore[type-arg]
    suffix: str = "",
) -> Exhibit:
    name = f"figure-{number:02}{suffix}"
    return Exhibit(name, number, "figure", title, caption, numbers, draw, cells)


def _samples(number: int, population: str, kind: str, title: str, caption: str) -> Exhibit:
    """Return Figures 6, 7, 10 and 12: ratios of sensitivities, or noise."""

    def numbers(computed: Computed) -> pd.DataFrame:
        found = sampled_medians(computed, population)
        return _sampled_frame(found.noise if kind == "noise" else found.ratios, kind)

    draw = partial(_noise_figure if kind == "noise" else _ratio_figure, population)
    title = f"Figure {number}: {title}, {population} population"
    return _figure(number, title, caption, numbers, draw, lambda s: sampled_cells(s, population))


def _errors(number: int, line: Line, caption: str | Callable[[Computed], str]) -> Exhibit:
    """Return Figures 8 and 13: the error over the sampling rate."""
    return _figure(
        number,
        f"Figure {number}: error over the sampling rate, {line.data} population",
        caption,
        partial(_errors_frame, line),
        partial(_error_figure, line),
        lambda settings: error_cells(settings, line),
    )


def _map(number: int, line: Line) -> Exhibit:
    return _figure(
        number,
        f"Figure {number} as a map of gain and loss",
        "Ratios of errors; bold where sampling surely pays, hatched where it is not sure.",
        partial(_errors_frame, line),
        partial(_map_figure, line),
        lambda settings: error_cells(settings, line),
        "-map",
    )


_SCALES = "For all records and for samples, at the same guarantee. Scales differ."
_OTHERS = {
    "smooth, the paper's noise": LOGNORMAL,
    "smooth, tightly calibrated": TIGHT[0],
    "exponential mechanism": EXPONENTIAL[0],
}

EXHIBITS = (
    _figure(
        1,
        "Figure 1: a population and its private means",
        lambda computed: (
            f"Beta(2, 10), and {runs_of(computed.settings):,} private means for each "
            "ε by the Laplace mechanism with sensitivity 1/N."
        ),
        lambda computed: _answers_frame(answers_of(computed, "mean")),
        _mean_figure,
        lambda settings: answer_cells(settings, "mean"),
    ),
    _figure(
        2,
        "Figure 2: private medians by global and by smooth sensitivity",
        "The scales differ by a factor of hundreds. Smooth sensitivity needs δ > 0, here 1/(2N).",
        _medians_frame,
        _median_figure,
        lambda settings: answer_cells(settings, "global", "smooth"),
    ),
    _figure(
        3,
        "Figure 3: what a sample may use",
        "The ε that a mechanism on a sample may have, so that the release has the ε of the line.",
        lambda computed: _curve_frame(VIOLIN_EPSILONS, "epsilon_n", sample_epsilon),
        _amplification_figure,
    ),
    _figure(
        4,
        "Figure 4: how much sampling variance can be made up for",
        "If the sensitivity does not depend on the sample size. The grey line is at 0.6.",
        lambda computed: _curve_frame(SAVING_EPSILONS, "q", noise_saving),
        _saving_figure,
    ),
    _figure(
        5,
        "Figure 5: the noise of a sample's mean is always larger",
        "Left: 1 − r, computed as an integral of a positive function. Right: where the printed "
        "formula, evaluated in floating point, comes out above 1. The paper's figure shows the "
        "rounding.",
        _noise_frame,
        _artefact_figure,
    ),
    _samples(
        6,
        "lognormal",
        "ratio",
        "smooth sensitivity of samples",
        "Divided by that of the population; dashed at 1. Scales differ.",
    ),
    _samples(7, "lognormal", "noise", "the noise added", _SCALES),
    _errors(8, LOGNORMAL, _per_point),
    _figure(
        8,
        "Figure 8, continued: what the bounds do at the smallest ε",
        "The paper states no bounds. Without padding, the data's own range limits the sensitivity: "
        "a variant that is not private and is shown for comparison only.",
        partial(_several_frames, BOUNDS_VARIANTS, "bounds"),
        _bounds_figure,
        lambda settings: error_cells(settings, *BOUNDS_VARIANTS.values()),
        "-bounds",
    ),
    _map(8, LOGNORMAL),
    _figure(
        9,
        "Figure 9: a population with a gap at its median",
        "5,001 values in the left group, 5,000 in the right one.",
        _population_frame,
        _population_figure,
    ),
    _samples(
        10,
        "bimodal",
        "ratio",
        "smooth sensitivity of samples",
        "Divided by that of the population; dashed at 1.",
    ),
    _figure(
        11,
        "Figure 11: medians of samples, bimodal population",
        "A sample's median lies in one of the two groups, about as often in either.",
        _sample_medians_frame,
        _sample_medians_figure,
        lambda settings: sampled_cells(settings, "bimodal"),
    ),
    _samples(12, "bimodal", "noise", "the noise added", _SCALES),
    _errors(
        13,
        BIMODAL,
        "As Figure 8. The error of a sample hardly falls below the squared width of the gap times "
        "one half, because its median is in the wrong group about half of the time.",
    ),
    _map(13, BIMODAL),
    _figure(
        14,
        "Beyond the paper: the same medians by other mechanisms",
        "At the same guarantees, lognormal population. The exponential mechanism on all records "
        "beats every sample with the paper's noise, and gains nothing by sampling.",
        partial(_several_frames, _OTHERS, "mechanism"),
        partial(_mechanisms_figure, _OTHERS),
        lambda settings: error_cells(settings, LOGNORMAL, *TIGHT, *EXPONENTIAL),
    ),
    Exhibit(
        "table-01",
        1,
        "table",
        "Table 1: the paper's summary",
        "The claims below are its rows.",
        _table_frame,
        cells=lambda settings: error_cells(settings, MEAN, GLOBAL, LOGNORMAL, BIMODAL),
    ),
)


def notes(computed: Computed) -> tuple[str, ...]:
    """Return how all of it was computed."""
    runs = runs_of(computed.settings)
    whose = (
        "Errors are for the declared bounds"
        if computed.settings.data is not None
        else f"Populations of {POPULATION:,} records are drawn from a fixed seed, with the "
        "declared bounds [0, 1] (beta, bimodal) and [0, 2000] (lognormal), which stand beyond the "
        "last records"
    )
    return (
        f"{whose}. Distributions are {runs:,} draws; errors are those of {runs:,} samples with the "
        "noise integrated exactly. δ = 1/(2N) throughout, neighbours differ by one exchanged "
        "record (replace), and samples are simple random ones whose members stay secret.",
    )


def lines_on(data: OwnData) -> tuple[Line, Line, Line]:
    """Return the mean, the median and the median by the exponential mechanism of other data."""
    lower, upper = data.bounds or (None, None)
    mean, smooth, exponential = (
        Line(data.source, mechanism, data.column, lower, upper, data.content)
        for mechanism in ("mean", "smooth", "exponential")
    )
    return mean, smooth, exponential


def exhibits_on(lines: Sequence[Line]) -> tuple[Exhibit, ...]:
    """Return the questions of Figure 8 and of what is beyond the paper, on other data."""
    mean, smooth, exponential = lines
    others = {"smooth sensitivity": smooth, "exponential mechanism": exponential}

    def errors(name: str, title: str, line: Line) -> Exhibit:
        return Exhibit(
            name,
            None,
            "figure",
            title,
            _per_point,
            partial(_errors_frame, line),
            partial(_error_figure, line),
            lambda settings: error_cells(settings, line),
        )

    return (
        errors("mean", "The mean over the sampling rate", mean),
        errors("median", "The median by smooth sensitivity over the sampling rate", smooth),
        Exhibit(
            "map",
            None,
            "figure",
            "The median by smooth sensitivity as a map of gain and loss",
            "Ratios of errors; bold where sampling surely pays, hatched where it is not sure.",
            partial(_errors_frame, smooth),
            partial(_map_figure, smooth),
            lambda settings: error_cells(settings, smooth),
        ),
        Exhibit(
            "mechanisms",
            None,
            "figure",
            "The same median by other mechanisms",
            "At the same guarantees.",
            partial(_several_frames, others, "mechanism"),
            partial(_mechanisms_figure, others),
            lambda settings: error_cells(settings, smooth, exponential),
        ),
    )
