"""The numbers behind the figures of the accuracy-gains paper.

Distributions are drawn as often as the paper draws them. Errors over sampling rates (Figures 8 and
13) come from as many samples, with the noise integrated instead of drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from omit._numeric import FloatArray
from omit.data.column import Column
from omit.data.reading import read
from omit.guarantee import Guarantee
from omit.mechanisms.exponential_quantile import ExponentialQuantile
from omit.mechanisms.integrable import IntegrableMechanism
from omit.mechanisms.known_size_mean import KnownSizeMean
from omit.mechanisms.quantile import GlobalQuantile, SmoothQuantile
from omit.mechanisms.sensitivity import Padding, smooth_sensitivity
from omit.omissions.sampling import FixedSizeSampling
from omit.papers.accuracy_gains import (
    BOUNDS_VARIANTS,
    DELTA,
    LINE_EPSILONS,
    LINE_RATES,
    POPULATION,
    RUNS,
    VIOLIN_EPSILONS,
    VIOLIN_SIZES,
)
from omit.utility.expected import base_guarantee
from omit.utility.gain_map import GainMap, gain_map

_AT_A_TIME = 200

By = dict[tuple[float, int], FloatArray]
"""One array of draws for each epsilon and sample size."""


@dataclass(frozen=True, eq=False)
class SampledMedians:
    """What samples of a population do to its smooth sensitivity and its noise.

    Attributes
    ----------
    ratios
        The smooth sensitivity of each sample, divided by that of the population.
    noise
        The noise added; for the whole population under the size of the population.
    medians
        The median of each sample without noise, by size.
    """

    column: Column
    ratios: By
    noise: By
    medians: dict[int, FloatArray]


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that the figures show."""

    runs: int
    populations: dict[str, Column]
    private_means: dict[float, FloatArray]
    global_medians: dict[float, FloatArray]
    smooth_medians: dict[float, FloatArray]
    sampled: dict[str, SampledMedians]
    errors: dict[str, GainMap]
    tight_errors: dict[str, GainMap]
    exponential_errors: dict[str, GainMap]
    mean_errors: GainMap
    global_errors: GainMap
    by_bounds: dict[str, GainMap]
    sensitivity_by_bounds: dict[str, float]


def steps() -> int:
    """Return how often `advance` is called."""
    # The lognormal population within its registered bounds is one of the variants.
    maps = 2 * 3 - 1 + 2 + len(BOUNDS_VARIANTS)
    return maps * len(LINE_EPSILONS) * (len(LINE_RATES) + 1) + 5


def compute(runs: int = RUNS, advance: Callable[[], None] = lambda: None) -> Results:
    """Compute everything; `advance` is called after each of `steps()` steps."""
    populations = {name: read(name) for name in ("beta", "lognormal", "bimodal")}
    beta, lognormal = populations["beta"], populations["lognormal"]

    def answers(mechanism: IntegrableMechanism, seed: int) -> dict[float, FloatArray]:
        rng = np.random.default_rng(seed)
        rows = np.tile(beta.counts, (min(runs, _AT_A_TIME), 1))
        found = {}
        for epsilon in VIOLIN_EPSILONS:
            drawn = [
                mechanism.answers(
                    beta, rows[: min(_AT_A_TIME, runs - start)], beta.bounds, target(epsilon), rng
                )
                for start in range(0, runs, _AT_A_TIME)
            ]
            found[epsilon] = np.concatenate(drawn)
        advance()
        return found

    def lines(column: Column, mechanism: IntegrableMechanism) -> GainMap:
        return gain_map(
            column,
            mechanism,
            target(LINE_EPSILONS[0]),
            epsilons=LINE_EPSILONS,
            rates=LINE_RATES,
            runs=runs,
            advance=advance,
        )

    by_bounds, sensitivity = {}, {}
    beta_of = SmoothQuantile().calibration(target(LINE_EPSILONS[0])).beta
    for variant in BOUNDS_VARIANTS:
        padding: Padding = "none" if variant.upper is None else "bounds"
        column = lognormal
        if variant.upper is not None:
            column = read("lognormal", bounds=(0, variant.upper))
        by_bounds[variant.name] = lines(column, SmoothQuantile(padding=padding))
        sensitivity[variant.name] = smooth_sensitivity(column, "median", beta_of, padding)
    medians = {name: populations[name] for name in ("lognormal", "bimodal")}
    return Results(
        runs,
        populations,
        answers(KnownSizeMean(), 1),
        answers(GlobalQuantile(), 2),
        answers(SmoothQuantile(), 3),
        {name: _sampled(column, runs, advance) for name, column in medians.items()},
        {
            "lognormal": by_bounds[BOUNDS_VARIANTS[1].name],
            "bimodal": lines(medians["bimodal"], SmoothQuantile()),
        },
        {name: lines(column, SmoothQuantile("laplace-tight")) for name, column in medians.items()},
        {name: lines(column, ExponentialQuantile()) for name, column in medians.items()},
        lines(beta, KnownSizeMean()),
        lines(beta, GlobalQuantile()),
        by_bounds,
        sensitivity,
    )


def target(epsilon: float) -> Guarantee:
    """Return the guarantee of a release at an epsilon."""
    return Guarantee(epsilon, DELTA, "replace")


def _sampled(column: Column, runs: int, advance: Callable[[], None]) -> SampledMedians:
    mechanism, rng = SmoothQuantile(), np.random.default_rng(4)
    ratios: By = {}
    noise: By = {}
    medians = {}
    whole = column.counts[None, :]
    everybody = {}
    for epsilon in VIOLIN_EPSILONS:
        calibration = mechanism.calibration(target(epsilon))
        _, found = mechanism.sensitivities(column, whole, column.bounds, calibration.beta)
        everybody[epsilon] = float(found[0])
        scale = calibration.factor * everybody[epsilon]
        noise[epsilon, POPULATION] = scale * calibration.unit.draw(rng, (runs,))
    for size in VIOLIN_SIZES:
        sampling = FixedSizeSampling(size=size, population=column.size)
        # The same samples for every epsilon, as many at a time as memory should hold.
        parts: dict[float, list[tuple[FloatArray, FloatArray]]] = {
            epsilon: [] for epsilon in VIOLIN_EPSILONS
        }
        for start in range(0, runs, _AT_A_TIME):
            counts = sampling.draw_counts(column, min(_AT_A_TIME, runs - start), rng)
            for epsilon in VIOLIN_EPSILONS:
                base = base_guarantee(sampling, target(epsilon))
                beta = mechanism.calibration(base).beta
                parts[epsilon].append(mechanism.sensitivities(column, counts, column.bounds, beta))
        for epsilon in VIOLIN_EPSILONS:
            calibration = mechanism.calibration(base_guarantee(sampling, target(epsilon)))
            found = np.concatenate([each[1] for each in parts[epsilon]])
            ratios[epsilon, size] = found / everybody[epsilon]
            drawn = calibration.unit.draw(rng, (runs,))
            noise[epsilon, size] = calibration.factor * found * drawn
        medians[size] = np.concatenate([each[0] for each in parts[VIOLIN_EPSILONS[0]]])
    advance()
    return SampledMedians(column, ratios, noise, medians)
