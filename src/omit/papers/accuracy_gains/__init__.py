"""Accuracy gains from sampling: Hu, Drechsler and Kim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from omit.papers.accuracy_gains import figures as draw
from omit.papers.accuracy_gains.cells import (
    BIMODAL,
    BOUNDS_VARIANTS,
    LOGNORMAL,
    POPULATION,
    SAVING_EPSILONS,
    VIOLIN_EPSILONS,
    Line,
    answer_cells,
    answers_of,
    error_cells,
    noise_saving,
    runs_of,
    sample_epsilon,
    sampled_cells,
    sampled_medians,
)
from omit.papers.accuracy_gains.claims import CLAIMS, EXPONENTIAL, GLOBAL, MEAN, TIGHT, claims_on
from omit.papers.base import Computed, Exhibit, OwnData, Paper, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from omit.study.cell import Cell

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
    cells: Callable[[Settings], Iterable[Cell]] = lambda settings: (),
    suffix: str = "",
) -> Exhibit:
    name = f"figure-{number:02}{suffix}"
    return Exhibit(name, number, "figure", title, caption, numbers, draw, cells)


def _samples(number: int, population: str, kind: str, title: str, caption: str) -> Exhibit:
    """Return Figures 6, 7, 10 and 12: ratios of sensitivities, or noise."""

    def numbers(computed: Computed) -> pd.DataFrame:
        found = sampled_medians(computed, population)
        return draw.sampled_frame(found.noise if kind == "noise" else found.ratios, kind)

    picture = partial(draw.noise_figure if kind == "noise" else draw.ratio_figure, population)
    title = f"Figure {number}: {title}, {population} population"
    return _figure(number, title, caption, numbers, picture, lambda s: sampled_cells(s, population))


def _errors(number: int, line: Line, caption: str | Callable[[Computed], str]) -> Exhibit:
    """Return Figures 8 and 13: the error over the sampling rate."""
    return _figure(
        number,
        f"Figure {number}: error over the sampling rate, {line.data} population",
        caption,
        partial(draw.errors_frame, line),
        partial(draw.error_figure, line),
        lambda settings: error_cells(settings, line),
    )


def _map(number: int, line: Line) -> Exhibit:
    return _figure(
        number,
        f"Figure {number} as a map of gain and loss",
        "Ratios of errors; bold where sampling surely pays, hatched where it is not sure.",
        partial(draw.errors_frame, line),
        partial(draw.map_figure, line),
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
        lambda computed: draw.answers_frame(answers_of(computed, "mean")),
        draw.mean_figure,
        lambda settings: answer_cells(settings, "mean"),
    ),
    _figure(
        2,
        "Figure 2: private medians by global and by smooth sensitivity",
        "The scales differ by a factor of hundreds. Smooth sensitivity needs δ > 0, here 1/(2N).",
        draw.medians_frame,
        draw.median_figure,
        lambda settings: answer_cells(settings, "global", "smooth"),
    ),
    _figure(
        3,
        "Figure 3: what a sample may use",
        "The ε that a mechanism on a sample may have, so that the release has the ε of the line.",
        lambda computed: draw.curve_frame(VIOLIN_EPSILONS, "epsilon_n", sample_epsilon),
        draw.amplification_figure,
    ),
    _figure(
        4,
        "Figure 4: how much sampling variance can be made up for",
        "If the sensitivity does not depend on the sample size. The grey line is at 0.6.",
        lambda computed: draw.curve_frame(SAVING_EPSILONS, "q", noise_saving),
        draw.saving_figure,
    ),
    _figure(
        5,
        "Figure 5: the noise of a sample's mean is always larger",
        "Left: 1 − r, computed as an integral of a positive function. Right: where the printed "
        "formula, evaluated in floating point, comes out above 1. The paper's figure shows the "
        "rounding.",
        draw.noise_frame,
        draw.artefact_figure,
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
        partial(draw.several_frames, BOUNDS_VARIANTS, "bounds"),
        draw.bounds_figure,
        lambda settings: error_cells(settings, *BOUNDS_VARIANTS.values()),
        "-bounds",
    ),
    _map(8, LOGNORMAL),
    _figure(
        9,
        "Figure 9: a population with a gap at its median",
        "5,001 values in the left group, 5,000 in the right one.",
        draw.population_frame,
        draw.population_figure,
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
        draw.sample_medians_frame,
        draw.sample_medians_figure,
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
        partial(draw.several_frames, _OTHERS, "mechanism"),
        partial(draw.mechanisms_figure, _OTHERS),
        lambda settings: error_cells(settings, LOGNORMAL, *TIGHT, *EXPONENTIAL),
    ),
    Exhibit(
        "table-01",
        1,
        "table",
        "Table 1: the paper's summary",
        "The claims below are its rows.",
        draw.table_frame,
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
            partial(draw.errors_frame, line),
            partial(draw.error_figure, line),
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
            partial(draw.errors_frame, smooth),
            partial(draw.map_figure, smooth),
            lambda settings: error_cells(settings, smooth),
        ),
        Exhibit(
            "mechanisms",
            None,
            "figure",
            "The same median by other mechanisms",
            "At the same guarantees.",
            partial(draw.several_frames, others, "mechanism"),
            partial(draw.mechanisms_figure, others),
            lambda settings: error_cells(settings, smooth, exponential),
        ),
    )


def _on(data: OwnData) -> Paper:
    lines = lines_on(data)
    return replace(PAPER, exhibits=exhibits_on(lines), claims=claims_on(lines))


PAPER = Paper(
    "accuracy-gains",
    "Accuracy Gains from Privacy Amplification Through Sampling for Differential Privacy",
    "J. Hu, J. Drechsler and H. J. Kim, 'Accuracy Gains from Privacy Amplification "
    "Through Sampling for Differential Privacy', Journal of Survey Statistics and Methodology, "
    "2022",
    EXHIBITS,
    CLAIMS,
    notes=notes,
    refusals={
        "exact": "accuracy-gains has no exact errors to leave out: its samples are drawn already.",
    },
    fewest_runs=10,
    on=_on,
)
