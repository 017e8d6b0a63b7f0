"""What the accuracy-gains paper shows, and what is shown beyond it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from omit._numeric import FloatArray
from omit._text import promised
from omit.accuracy.figures import gain_figure
from omit.accuracy.grids import ErrorGrid
from omit.mechanisms.quantiles import SmoothQuantile
from omit.papers.accuracy_gains import cells
from omit.papers.accuracy_gains.cells import BIMODAL, LOGNORMAL, VIOLIN_EPSILONS, VIOLIN_SIZES, Line
from omit.papers.accuracy_gains.noise_figures import NOISE_EXHIBITS
from omit.papers.accuracy_gains.theorems import THEOREMS
from omit.papers.base import Computed, Exhibit, Settings
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style, violins

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omit.study.cell import Cell


_BETA = cells.MEAN


def _density(axes: Axes, line: Line) -> None:
    """Draw the density of a population."""
    column = line.read()
    values = np.repeat(column.values, column.counts).astype(float)
    axes.hist(values, bins=80, density=True, color="0.75", edgecolor="0.6", linewidth=0.3)
    axes.set(xlabel="value", ylabel="density")
    axes.set_title(f"population {column.name}, {column.size:,} records", fontsize=10)


def _median(line: Line) -> float:
    return float(SmoothQuantile().truth(line.read()))


def _answers_frame(*mechanisms: str) -> Callable[[Computed], pd.DataFrame]:
    """Return private answers, a column per epsilon; several mechanisms below each other."""

    def numbers(computed: Computed) -> pd.DataFrame:
        frames = []
        for name in mechanisms:
            answers = cells.answers_of(computed, name)
            frame = pd.DataFrame({f"epsilon={epsilon:g}": v for epsilon, v in answers.items()})
            frames.append(frame.assign(sensitivity=name) if len(mechanisms) > 1 else frame)
        return pd.concat(frames)

    return numbers


def _draw_answers(axes: Axes, computed: Computed, mechanism: str, truth: float) -> None:
    answers = cells.answers_of(computed, mechanism)
    violins(axes, list(answers.values()), [f"ε = {e:g}" for e in answers], truth)


def _mean_figure(computed: Computed) -> Figure:
    figure, ((left, right),) = panels(9.0, 3.6, columns=2)
    _density(left, _BETA)
    _draw_answers(right, computed, "mean", _BETA.read().mean)
    right.set_title("private means, Laplace noise; dashed: true mean", fontsize=10)
    right.set_ylabel("private mean")
    return figure


def _median_figure(computed: Computed) -> Figure:
    figure, (row,) = panels(9.0, 3.6, columns=2)
    for axes, name in zip(row, ("global", "smooth"), strict=True):
        _draw_answers(axes, computed, name, _median(_BETA))
        axes.set_title(f"private medians by {name} sensitivity", fontsize=10)
        axes.set_ylabel("private median")
    return figure


def _samples_frame(population: str, value: str, computed: Computed) -> pd.DataFrame:
    """Return ratios of sensitivities or noise of samples, by epsilon and size."""
    return pd.concat(
        [
            pd.DataFrame({"epsilon": epsilon, "records": size, value: values})
            for (epsilon, size), values in cells.sampled(computed, population, value).items()
        ]
    )


_TRUTHS = {"ratio": 1.0, "noise": 0.0}
_VALUES = {
    "ratio": "smooth sensitivity of the sample\n÷ that of the population",
    "noise": "noise added to the median",
}


def _samples_figure(population: str, value: str, computed: Computed) -> Figure:
    values = cells.sampled(computed, population, value)
    figure, (row,) = panels(9.6, 3.6, columns=len(VIOLIN_EPSILONS))
    for axes, epsilon in zip(row, VIOLIN_EPSILONS, strict=True):
        groups = {n: values[epsilon, n] for e, n in values if e == epsilon}
        labels = ["all" if n == cells.POPULATION else f"n = {n:,}" for n in groups]
        violins(axes, list(groups.values()), labels, _TRUTHS[value])
        axes.set_title(epsilon_label(epsilon), fontsize=10)
        if value == "ratio":
            axes.set_ylim(bottom=0)
    row[0].set_ylabel(_VALUES[value])
    return figure


def _population_frame(computed: Computed) -> pd.DataFrame:
    bimodal = BIMODAL.read()
    return pd.DataFrame({"value": np.repeat(bimodal.values, bimodal.counts)})


def _population_figure(computed: Computed) -> Figure:
    figure, ((axes,),) = panels(6.4, 3.6)
    _density(axes, BIMODAL)
    median = _median(BIMODAL)
    label = f"median {median:.2f}"
    axes.plot([median], [0], "o", color="black", clip_on=False, markersize=7, label=label)
    axes.legend(frameon=False)
    return figure


def _sample_medians(computed: Computed) -> dict[int, FloatArray]:
    """Return medians of samples of the bimodal population without noise, by size."""
    medians = cells.sampled(computed, BIMODAL.data, "median")
    return {size: medians[VIOLIN_EPSILONS[0], size] for size in VIOLIN_SIZES}


def _sample_medians_figure(computed: Computed) -> Figure:
    medians = _sample_medians(computed)
    figure, ((axes,),) = panels(5.6, 3.8)
    labels = [f"n = {size:,}" for size in medians]
    violins(axes, list(medians.values()), labels, _median(BIMODAL))
    axes.set_ylabel("median of the sample, no noise")
    axes.set_title("dashed: median of the population", fontsize=10)
    return figure


def _errors_frame(line: Line, computed: Computed) -> pd.DataFrame:
    """Return the errors of a line, by epsilon and sample size."""
    grid = cells.error_grid_of(computed, line)
    shape = grid.errors.shape
    return pd.DataFrame(
        {
            "epsilon": np.repeat(grid.epsilons, shape[1]),
            "records": np.tile(grid.sizes, shape[0]),
            "mse": grid.errors.flat,
            "low": grid.low.flat,
            "high": grid.high.flat,
            "mse_of_all_records": np.repeat(grid.baseline, shape[1]),
            "ratio": grid.ratios.flat,
        }
    )


def _several_frames(lines: Mapping[str, Line], key: str, computed: Computed) -> pd.DataFrame:
    """Return the errors of several lines, told apart by a column."""
    return pd.concat(
        [_errors_frame(line, computed).assign(**{key: name}) for name, line in lines.items()]
    )


_RATE_AXIS = "sampling rate, %; crosses, with ε: all records"


def _draw_errors(axes: Axes, grid: ErrorGrid) -> None:
    """Draw the logarithm of errors with their intervals; crosses are all records."""
    rates = 100 * np.array(grid.sizes) / grid.data.size
    for index, epsilon in enumerate(grid.epsilons):
        style = epsilon_style(epsilon, markers=True)
        errors = np.log(grid.errors[index])
        axes.plot(rates, errors, label=epsilon_label(epsilon), **style)
        color = style["color"]
        with np.errstate(divide="ignore"):  # an interval may begin at 0
            low, high = np.log(grid.low[index]), np.log(grid.high[index])
        axes.fill_between(rates, low, high, color=color, alpha=0.2)
        level = float(np.log(grid.baseline[index]))
        axes.plot([100], [level], "x", color=color, markersize=8, markeredgewidth=2, clip_on=False)
        axes.axhline(level, color=color, linewidth=0.5, alpha=0.5)
        axes.text(102, level, f"{epsilon:g}", fontsize=7, va="center")
    axes.set(xlabel=_RATE_AXIS, xlim=(0, 100))
    axes.set_ylabel("ln of the mean squared error")
    axes.grid(axis="x", alpha=0.25)


def _error_figure(line: Line, computed: Computed) -> Figure:
    figure, ((axes,),) = panels(7.2, 4.8)
    _draw_errors(axes, cells.error_grid_of(computed, line))
    axes.legend(
        title="guarantee of the release",
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1.05, 0.5),
    )
    return figure


def _bounds_figure(computed: Computed) -> Figure:
    """Return the errors at the smallest epsilon for several bounds."""
    figure, ((axes,),) = panels(7.2, 4.2)
    for index, (name, line) in enumerate(cells.BOUNDS_VARIANTS.items()):
        grid = cells.error_grid_of(computed, line)
        rates = 100 * np.append(grid.sizes, grid.data.size) / grid.data.size
        errors = np.log(np.append(grid.errors[0], grid.baseline[0]))
        axes.plot(rates, errors, label=name, **series_style(index, markers=True))
    axes.set(xlabel="sampling rate, %", xlim=(0, 101))
    axes.set_ylabel(f"ln of the mean squared error at ε = {promised(grid.epsilons[0])}")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    return figure


def _mechanisms_figure(lines: Mapping[str, Line], computed: Computed) -> Figure:
    """Return errors of several mechanisms side by side."""
    figure, (row,) = panels(11.0, 4.2, columns=len(lines))
    for axes, (name, line) in zip(row, lines.items(), strict=True):
        _draw_errors(axes, cells.error_grid_of(computed, line))
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("")
    figure.supxlabel(_RATE_AXIS, fontsize=10)
    limits = [axes.get_ylim() for axes in row]
    for axes in row:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    for axes in row[1:]:
        axes.set_ylabel("")
    row[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.12, 0.5))
    figure.suptitle(f"{next(iter(lines.values())).read().name} population", fontsize=11)
    return figure


def _table_frame(computed: Computed) -> pd.DataFrame:
    """Return what Table 1 concludes, and where samples surely gain here."""
    rows = [
        ("any", "any", "global", "no gains from some sampling variance on", None),
        ("mean", "any", "global", "no gains", cells.MEAN),
        ("median", "lognormal", "smooth", "gains for ε ≤ 0.1", LOGNORMAL),
        ("median", "bimodal", "smooth", "gains for ε ≤ 3", BIMODAL),
    ]
    return pd.DataFrame(
        [(*row, "" if line is None else _where_gains(computed, line)) for *row, line in rows],
        columns=[
            *("parameter", "distribution", "sensitivity", "conclusion of the paper"),
            "here: sampling rates that surely gain",
        ],
    )


def _where_gains(computed: Computed, line: Line) -> str:
    """Return at how many sampling rates a sample surely has the smaller error, by epsilon."""
    grid = cells.error_grid_of(computed, line)
    gains = {
        epsilon: int((row > 0).sum())
        for epsilon, row in zip(grid.epsilons, grid.gains, strict=True)
    }
    listed = ", ".join(f"{count} at ε = {epsilon:g}" for epsilon, count in gains.items() if count)
    return f"{listed} (of {len(grid.sizes)})" if listed else "none"


def _samples(
    number: int,
    population: str,
    value: str,
    caption: str,
    more: Callable[[Settings], tuple[Cell, ...]] = lambda settings: (),
) -> Exhibit:
    """Return Figures 6, 7, 10 and 12: ratios of sensitivities, or noise."""
    what = "the noise added" if value == "noise" else "smooth sensitivity of samples"
    return Exhibit(
        f"figure-{number:02}",
        f"Figure {number}: {what}, {population.removesuffix('-r')} population",
        caption,
        partial(_samples_frame, population, value),
        partial(_samples_figure, population, value),
        lambda settings: cells.sampled_cells(settings, population) + more(settings),
    )


_PER_POINT = (
    "{runs} samples for each point, with the noise integrated; shaded: 95 % intervals (hardly "
    "wider than the lines). Where a line is below its own cross, sampling pays."
)


def _errors(name: str, title: str, line: Line, caption: str = _PER_POINT) -> Exhibit:
    """Return the error of a line over the sampling rate, as in Figures 8 and 13."""
    numbers, draw = partial(_errors_frame, line), partial(_error_figure, line)
    return Exhibit(name, title, caption, numbers, draw, lambda s: cells.error_cells(s, line))


def _map(name: str, title: str, line: Line) -> Exhibit:
    caption = "Ratios of errors; bold where sampling surely pays, hatched where it is not sure."
    return replace(
        _errors(name, title, line, caption),
        draw=lambda computed: gain_figure(cells.error_grid_of(computed, line)),
    )


def _mechanisms(
    name: str, title: str, caption: str, lines: Mapping[str, Line], *more: Line
) -> Exhibit:
    """Return errors of several mechanisms side by side; claims on it need more lines."""
    needed = (*lines.values(), *more)
    numbers = partial(_several_frames, lines, "mechanism")
    draw = partial(_mechanisms_figure, lines)
    return Exhibit(name, title, caption, numbers, draw, lambda s: cells.error_cells(s, *needed))


_SCALES = "For all records and for samples, at the same guarantee. Scales differ."

EXHIBITS = (
    THEOREMS.exhibit(),
    Exhibit(
        "figure-01",
        "Figure 1: a population and its private means",
        "Beta(2, 10), and {runs} private means for each ε by the Laplace mechanism with "
        "sensitivity 1/N.",
        _answers_frame("mean"),
        _mean_figure,
        lambda settings: cells.answer_cells(settings, "mean"),
    ),
    Exhibit(
        "figure-02",
        "Figure 2: private medians by global and by smooth sensitivity",
        "The scales differ by a factor of hundreds. Smooth sensitivity needs δ > 0, here 1/(2N).",
        _answers_frame("global", "smooth"),
        _median_figure,
        lambda settings: cells.answer_cells(settings, "global", "smooth"),
    ),
    *NOISE_EXHIBITS,
    _samples(
        6,
        LOGNORMAL.data,
        "ratio",
        "Divided by that of the population; dashed at 1. Scales differ.",
        cells.other_ratio_cells,
    ),
    _samples(7, LOGNORMAL.data, "noise", _SCALES),
    _errors("figure-08", "Figure 8: error over the sampling rate, lognormal population", LOGNORMAL),
    Exhibit(
        "figure-08-bounds",
        "Figure 8, continued: what the bounds do at the smallest ε",
        "The paper states no bounds. Without padding, the data's own range limits the sensitivity: "
        "a variant that is not private and is shown for comparison only.",
        partial(_several_frames, cells.BOUNDS_VARIANTS, "bounds"),
        _bounds_figure,
        lambda settings: cells.error_cells(settings, *cells.BOUNDS_VARIANTS.values()),
    ),
    _map("figure-08-map", "Figure 8 as a map of gain and loss", LOGNORMAL),
    Exhibit(
        "figure-09",
        "Figure 9: a population with a gap at its median",
        "5,001 values in the left group, 5,000 in the right one.",
        _population_frame,
        _population_figure,
    ),
    _samples(10, BIMODAL.data, "ratio", "Divided by that of the population; dashed at 1."),
    Exhibit(
        "figure-11",
        "Figure 11: medians of samples, bimodal population",
        "A sample's median lies in one of the two groups, about as often in either.",
        lambda computed: pd.DataFrame({f"n={n}": v for n, v in _sample_medians(computed).items()}),
        _sample_medians_figure,
        lambda settings: cells.sampled_cells(settings, BIMODAL.data),
    ),
    _samples(12, BIMODAL.data, "noise", _SCALES),
    _errors(
        "figure-13",
        "Figure 13: error over the sampling rate, bimodal population",
        BIMODAL,
        "As Figure 8. The error of a sample hardly falls below the squared width of the gap times "
        "one half, because its median is in the wrong group about half of the time.",
    ),
    _map("figure-13-map", "Figure 13 as a map of gain and loss", BIMODAL),
    _mechanisms(
        "quartile",
        "Section 5: a quantile at the gap, and one amid the data",
        "The median and the lower quartile of the bimodal population, by the paper's mechanism.",
        {"median": BIMODAL, "lower quartile": cells.QUARTILE},
    ),
    _mechanisms(
        "figure-14",
        "Beyond the paper: the same medians by other mechanisms",
        "At the same guarantees, lognormal population. The exponential mechanism on all records "
        "beats every sample with the paper's noise, and gains nothing by sampling.",
        {
            "smooth, the paper's noise": LOGNORMAL,
            "smooth, tightly calibrated": cells.TIGHT[0],
            "exponential mechanism": cells.EXPONENTIAL[0],
        },
        cells.TIGHT[1],
        cells.EXPONENTIAL[1],
    ),
    Exhibit(
        "table-01",
        "Table 1: the paper's summary",
        "The claims of Table 1 judge its rows.",
        _table_frame,
        cells=lambda settings: cells.error_cells(
            settings, cells.MEAN, cells.GLOBAL, LOGNORMAL, BIMODAL
        ),
    ),
)


def exhibits_on(lines: Sequence[Line]) -> tuple[Exhibit, ...]:
    """Return the questions of Figure 8 and of what is beyond the paper, on other data."""
    mean, smooth, exponential = lines
    title = "The median by smooth sensitivity"
    others = {"smooth sensitivity": smooth, "exponential mechanism": exponential}
    return (
        _errors("mean", "The mean over the sampling rate", mean),
        _errors("median", f"{title} over the sampling rate", smooth),
        _map("map", f"{title} as a map of gain and loss", smooth),
        _mechanisms(
            "mechanisms", "The same median by other mechanisms", "At the same guarantees.", others
        ),
    )
