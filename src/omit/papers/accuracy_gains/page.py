"""The page of the accuracy-gains paper: every figure with its numbers and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from omit._numeric import FloatArray
from omit.accuracy.figures import gain_figure
from omit.accuracy.grids import GainMap
from omit.data.column import Column
from omit.mechanisms.quantiles import SmoothQuantile
from omit.papers.accuracy_gains import figures as draw
from omit.papers.accuracy_gains.cells import (
    LINE_EPSILONS,
    POPULATION,
    SAVING_EPSILONS,
    VIOLIN_EPSILONS,
    By,
    Results,
    mean_noise_excess,
    mean_noise_ratio_as_published,
    noise_saving,
    sample_epsilon,
)
from omit.papers.accuracy_gains.claims import figure_verdicts, table_verdicts
from omit.papers.reproduction import Exhibit

_NOISE_RATIOS = {
    "one_minus_r": mean_noise_excess,
    "r_as_published": mean_noise_ratio_as_published,
}
"""How the noise of a sample's mean relates to that of all records, by the name of a column."""


def exhibits(results: Results) -> list[Exhibit]:
    """Return all figures and the table, in the order of the paper."""
    verdicts = figure_verdicts(results)
    made = [
        *_private_answers(results),
        *_curves_of_rates(),
        _ratios(
            6,
            results,
            "lognormal",
            "Divided by that of the population; dashed at 1. Scales differ.",
        ),
        _noise(7, results, "lognormal"),
        _errors_by_rate(
            8,
            results,
            "lognormal",
            f"{results.runs:,} samples for each point, with the noise integrated; shaded: 95 % "
            "intervals (hardly wider than the lines). Where a line is below its own cross, "
            "sampling pays.",
        ),
        _errors_by_bounds(results),
        _map(8, results, "lognormal"),
        _population_with_a_gap(results),
        _ratios(10, results, "bimodal", "Divided by that of the population; dashed at 1."),
        _sample_medians(results),
        _noise(12, results, "bimodal"),
        _errors_by_rate(
            13,
            results,
            "bimodal",
            "As Figure 8. The error of a sample hardly falls below the squared width of the gap "
            "times one half, because its median is in the wrong group about half of the time.",
        ),
        _map(13, results, "bimodal"),
        _other_mechanisms(results),
        _table(results),
    ]
    return [replace(each, verdicts=verdicts.get(each.name, each.verdicts)) for each in made]


def notes(results: Results, seconds: float) -> tuple[str, ...]:
    """Return how all of it was computed."""
    return (
        f"Populations of {POPULATION:,} records are drawn from a fixed seed, with the declared "
        "bounds [0, 1] (beta, bimodal) and [0, 2000] (lognormal), which stand beyond the last "
        f"records. Distributions are {results.runs:,} draws; errors are those of {results.runs:,} "
        "samples with the noise integrated exactly. δ = 1/(2N) throughout, neighbours differ by "
        "one exchanged record (replace), and samples are simple random ones whose members stay "
        "secret.",
        f"It took {seconds:.0f} seconds.",
    )


def _private_answers(results: Results) -> list[Exhibit]:
    beta = results.populations["beta"]
    by_global, by_smooth = results.global_medians, results.smooth_medians
    return [
        Exhibit(
            "figure-01",
            "Figure 1: a population and its private means",
            f"Beta(2, 10), and {results.runs:,} private means for each ε by the Laplace mechanism "
            "with sensitivity 1/N.",
            _columns(results.private_means),
            draw.mean_figure(beta, results.private_means),
        ),
        Exhibit(
            "figure-02",
            "Figure 2: private medians by global and by smooth sensitivity",
            "The scales differ by a factor of hundreds. Smooth sensitivity needs δ > 0, here "
            "1/(2N).",
            pd.concat(
                [
                    _columns(by_global).assign(sensitivity="global"),
                    _columns(by_smooth).assign(sensitivity="smooth"),
                ]
            ),
            draw.median_figure(_median(beta), by_global, by_smooth),
        ),
    ]


def _curves_of_rates() -> list[Exhibit]:
    """Return the figures that are formulas and need no data."""
    return [
        Exhibit(
            "figure-03",
            "Figure 3: what a sample may use",
            "The ε that a mechanism on a sample may have, so that the release has the ε of the "
            "line.",
            _curves(VIOLIN_EPSILONS, "epsilon_n", sample_epsilon),
            draw.amplification_figure(),
        ),
        Exhibit(
            "figure-04",
            "Figure 4: how much sampling variance can be made up for",
            "If the sensitivity does not depend on the sample size. The grey line is at 0.6.",
            _curves(SAVING_EPSILONS, "q", noise_saving),
            draw.saving_figure(),
        ),
        Exhibit(
            "figure-05",
            "Figure 5: the noise of a sample's mean is always larger",
            "Left: 1 − r, computed as an integral of a positive function. Right: where the printed "
            "formula, evaluated in floating point, comes out above 1. The paper's figure shows the "
            "rounding.",
            pd.DataFrame(
                [
                    (e, p, *(float(r(e, p)) for r in _NOISE_RATIOS.values()))
                    for p in (1e-4, 1e-2, 0.1, 0.5)
                    for e in np.geomspace(1e-12, 1, 49)
                ],
                columns=["epsilon", "rate", *_NOISE_RATIOS],
            ),
            draw.artefact_figure(),
        ),
    ]


def _ratios(number: int, results: Results, name: str, caption: str) -> Exhibit:
    sampled = results.sampled[name]
    return Exhibit(
        f"figure-{number:02}",
        f"Figure {number}: smooth sensitivity of samples, {name} population",
        caption,
        _by(sampled.ratios, "ratio"),
        draw.ratio_figure(sampled),
    )


def _noise(number: int, results: Results, name: str) -> Exhibit:
    sampled = results.sampled[name]
    return Exhibit(
        f"figure-{number:02}",
        f"Figure {number}: the noise added, {name} population",
        "For all records and for samples, at the same guarantee. Scales differ.",
        _by(sampled.noise, "noise"),
        draw.noise_figure(sampled),
    )


def _errors_by_rate(number: int, results: Results, name: str, caption: str) -> Exhibit:
    return Exhibit(
        f"figure-{number:02}",
        f"Figure {number}: error over the sampling rate, {name} population",
        caption,
        _errors(results.errors[name]),
        draw.error_figure(results.errors[name]),
    )


def _map(number: int, results: Results, name: str) -> Exhibit:
    return Exhibit(
        f"figure-{number:02}-map",
        f"Figure {number} as a map of gain and loss",
        "Ratios of errors; bold where sampling surely pays, hatched where it is not sure.",
        _errors(results.errors[name]),
        gain_figure(results.errors[name]),
    )


def _errors_by_bounds(results: Results) -> Exhibit:
    return Exhibit(
        "figure-08-bounds",
        "Figure 8, continued: what the bounds do at ε = 0.01",
        "The paper states no bounds. Without padding, the data's own range limits the "
        "sensitivity: a variant that is not private and is shown for comparison only.",
        pd.concat(
            [_errors(found).assign(bounds=name) for name, found in results.by_bounds.items()]
        ),
        draw.bounds_figure(results.by_bounds, LINE_EPSILONS[0]),
    )


def _population_with_a_gap(results: Results) -> Exhibit:
    bimodal = results.populations["bimodal"]
    return Exhibit(
        "figure-09",
        "Figure 9: a population with a gap at its median",
        "5,001 values in the left group, 5,000 in the right one.",
        pd.DataFrame({"value": np.repeat(bimodal.values, bimodal.counts)}),
        draw.population_figure(bimodal, _median(bimodal)),
    )


def _sample_medians(results: Results) -> Exhibit:
    sampled = results.sampled["bimodal"]
    return Exhibit(
        "figure-11",
        "Figure 11: medians of samples, bimodal population",
        "A sample's median lies in one of the two groups, about as often in either.",
        pd.DataFrame({f"n={n}": value for n, value in sampled.medians.items()}),
        draw.sample_median_figure(sampled, _median(results.populations["bimodal"])),
    )


def _other_mechanisms(results: Results) -> Exhibit:
    maps = {
        "smooth, the paper's noise": results.errors["lognormal"],
        "smooth, tightly calibrated": results.tight_errors["lognormal"],
        "exponential mechanism": results.exponential_errors["lognormal"],
    }
    return Exhibit(
        "figure-14",
        "Beyond the paper: the same medians by other mechanisms",
        "At the same guarantees, lognormal population. The exponential mechanism on all "
        "records beats every sample with the paper's noise, and gains nothing by sampling.",
        pd.concat([_errors(found).assign(mechanism=name) for name, found in maps.items()]),
        draw.mechanisms_figure(maps, "lognormal population"),
    )


def _table(results: Results) -> Exhibit:
    return Exhibit(
        "table-01",
        "Table 1: the paper's summary",
        "What became of each row is below.",
        pd.DataFrame(
            [
                ("any", "any", "global", "no gains from some sampling variance on"),
                ("mean", "any", "global", "no gains"),
                ("median", "lognormal", "smooth", "gains for ε ≤ 0.1"),
                ("median", "bimodal", "smooth", "gains for ε ≤ 3"),
            ],
            columns=["parameter", "distribution", "sensitivity", "conclusion of the paper"],
        ),
        verdicts=table_verdicts(results),
    )


def _median(column: Column) -> float:
    return SmoothQuantile().truth(column)


def _columns(found: Mapping[float, FloatArray]) -> pd.DataFrame:
    return pd.DataFrame({f"epsilon={epsilon:g}": values for epsilon, values in found.items()})


def _by(found: By, name: str) -> pd.DataFrame:
    return pd.concat(
        [
            pd.DataFrame({"epsilon": epsilon, "records": size, name: values})
            for (epsilon, size), values in found.items()
        ]
    )


def _curves(
    epsilons: Sequence[float], name: str, curve: Callable[[float, FloatArray], FloatArray]
) -> pd.DataFrame:
    rates = np.round(np.arange(0.01, 1.001, 0.01), 2)
    return pd.concat(
        [pd.DataFrame({"epsilon": e, "rate": rates, name: curve(e, rates)}) for e in epsilons]
    )


def _errors(found: GainMap) -> pd.DataFrame:
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
