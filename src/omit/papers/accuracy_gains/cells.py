"""The numbers behind the figures of Hu, Drechsler and Kim on gains from sampling.

The paper draws populations of 10,001 records, protects their means and medians with and without
sampling first, and compares. The populations are the authors': the registered data sets `beta-r`,
`lognormal-r` and `bimodal-r`, as R draws them. Distributions are drawn as often as the paper draws
them. Errors over sampling rates (Figures 8 and 13) come from as many samples, with the noise
integrated instead of drawn, and so do the standard deviations of noise (Figures 7 and 12).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from omit._numeric import FloatArray, as_array
from omit.accuracy.expected import Question
from omit.accuracy.grids import ErrorGrid, error_grid, sampled_at
from omit.data.column import Column
from omit.data.datasets import authors_population
from omit.guarantee import Guarantee
from omit.laws.intervals import Interval, student_interval
from omit.mechanisms.base import Mechanism
from omit.mechanisms.exponential_quantile import ExponentialQuantile
from omit.mechanisms.lattice_quantile import LatticeQuantile
from omit.mechanisms.mean import NoisyMean
from omit.mechanisms.quantiles import GlobalQuantile, SmoothQuantile
from omit.mechanisms.sensitivity import Padding, smooth_sensitivity
from omit.omissions.sampling import FixedSizeSampling
from omit.papers.base import Computed, Settings, read_column
from omit.study.cell import Cell, Computation, Row

POPULATION = 10_001
DELTA = 1 / (2 * POPULATION)
VIOLIN_EPSILONS = (0.1, 0.5, 1.0)
VIOLIN_SIZES = (1001, 101)
LINE_EPSILONS = (0.01, 0.1, 0.5, 1.0, 3.0, 5.0)
LINE_RATES = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SAVING_EPSILONS = (0.001, 0.01, 0.1, 0.5, 1.0, 3.0, 5.0)
PUBLISHED_RATIOS = {(0.1, 1001): 1.28, (0.1, 101): 3.72, (1.0, 1001): 4.24, (1.0, 101): 23.30}
"""Medians of the ratios of sensitivities in Figure 6, by epsilon and sample size."""
OTHER_SEEDS = tuple(range(1, 21))
"""Seeds of other draws of the lognormal population."""

MECHANISMS: Mapping[str, Mechanism] = MappingProxyType(
    {
        "mean": NoisyMean("laplace", "published", "squared"),
        "global": GlobalQuantile(),
        "smooth": SmoothQuantile(),
        "smooth, no padding": SmoothQuantile(padding="none"),
        "smooth, tight": SmoothQuantile("laplace-tight"),
        "smooth, lower quartile": SmoothQuantile(quantile=0.25),
        "exponential": ExponentialQuantile(),
        "permute-and-flip": LatticeQuantile(),
    }
)

_AT_A_TIME = 200


@dataclass(frozen=True)
class Line:
    """A mechanism on some data, by the parameters of a cell: what one picture shows.

    `upper` is a declared upper bound in place of the registered one; `content` tells own data apart
    that have the same name.
    """

    data: str
    mechanism: str
    column: str | None = None
    lower: float | None = None
    upper: float | None = None
    content: str | None = None

    def read(self) -> Column:
        """Return the data."""
        return read_column(vars(self))


BOUNDS_VARIANTS = MappingProxyType(
    {
        "no padding (NOT private)": Line("lognormal-r", "smooth, no padding"),
        "bound 2,000": Line("lognormal-r", "smooth", None, 0.0, 2e3),
        "bound 10,000": Line("lognormal-r", "smooth", None, 0.0, 1e4),
        "bound 100,000": Line("lognormal-r", "smooth", None, 0.0, 1e5),
    }
)
"""Readings of what limits the values of the lognormal population, for which none is stated."""
LOGNORMAL = BOUNDS_VARIANTS["bound 2,000"]
BIMODAL = Line("bimodal-r", "smooth")
EXPONENTIAL = (Line("lognormal-r", "exponential"), Line("bimodal-r", "exponential"))
QUARTILE = Line("bimodal-r", "smooth, lower quartile")
TIGHT = (Line("lognormal-r", "smooth, tight"), Line("bimodal-r", "smooth, tight"))
MEAN, GLOBAL = Line("beta-r", "mean"), Line("beta-r", "global")


def target(epsilon: float, population: int = POPULATION) -> Guarantee:
    """Return the guarantee of a release at an epsilon."""
    return Guarantee(epsilon, 1 / (2 * population), "replace")


def calibrated(sampling: FixedSizeSampling, wanted: Guarantee) -> Guarantee:
    """Return what a mechanism on a sample must have; at the paper's delta, that is something."""
    base = sampling.calibrate(wanted)
    assert isinstance(base, Guarantee)
    return base


def _errors(parameters: Row, column: Column, rng: np.random.Generator) -> list[Row]:
    """Return the errors of all records and of samples, by their size."""
    # All errors start from the same seed and not from the cell's, so that they can be compared.
    mechanism, epsilon = MECHANISMS[parameters["mechanism"]], parameters["epsilon"]
    wanted, chosen = target(epsilon, column.size), isinstance(mechanism, LatticeQuantile)
    # A chosen median has an exact error that may take seconds, where drawn samples decide as much.
    question = Question(column, mechanism, wanted, runs=parameters["runs"], quick=chosen)
    grid = error_grid(question, sampled_at(column, LINE_RATES), [epsilon])
    values = zip(grid.sizes, grid.errors[0], grid.low[0], grid.high[0], strict=True)
    return [
        {**dict(zip(_ERROR, row, strict=True)), "mse_of_all_records": grid.baseline[0]}
        for row in values
    ]


_ERROR = ("records", "mse", "low", "high")
ERRORS = Computation(
    "errors over the sampling rate",
    1,
    _errors,
    read_column,
    ("data", "column", "lower", "upper", "content"),
)


def error_cells(settings: Settings, *lines: Line) -> tuple[Cell, ...]:
    """Return the cells of some lines, one for each epsilon."""
    epsilons = settings.epsilons or LINE_EPSILONS
    return tuple(
        cell
        for line in lines
        for cell in ERRORS.grid(**vars(line), epsilon=epsilons, runs=settings.runs)
    )


def error_grid_of(computed: Computed, line: Line) -> ErrorGrid:
    """Return the errors of a line over epsilon and the sample size."""
    return computed.once(_error_grid, line)


def _error_grid(computed: Computed, line: Line) -> ErrorGrid:
    rows = computed.once(Computed.frame, ERRORS)
    for name, value in vars(line).items():
        rows = rows[rows[name].isna() if value is None else rows[name] == value]
    epsilons = tuple(dict.fromkeys(rows["epsilon"].tolist()))
    sizes = tuple(dict.fromkeys(rows["records"].tolist()))
    shape = len(epsilons), len(sizes)
    mse, low, high, baseline = (
        as_array(rows[name]).reshape(shape) for name in ("mse", "low", "high", "mse_of_all_records")
    )
    column = line.read()
    question = Question(column, MECHANISMS[line.mechanism], target(epsilons[0], column.size))
    samples = tuple(FixedSizeSampling(size=size, population=column.size) for size in sizes)
    return ErrorGrid(question, epsilons, samples, baseline[:, 0], mse, low, high)


def _answers(parameters: Row, column: Column, rng: np.random.Generator) -> list[Row]:
    """Return private answers on all records."""
    mechanism, runs = MECHANISMS[parameters["mechanism"]], parameters["runs"]
    rows = np.tile(column.counts, (min(runs, _AT_A_TIME), 1))
    prepared: Any = mechanism.prepare(column, target(parameters["epsilon"]))
    drawn = [
        prepared.answers(rows[: min(_AT_A_TIME, runs - start)], rng)
        for start in range(0, runs, _AT_A_TIME)
    ]
    return [{"answer": answer} for answer in np.concatenate(drawn)]


ANSWERS = Computation("private answers", 1, _answers, read_column, ("data",))


def answer_cells(settings: Settings, *mechanisms: str) -> tuple[Cell, ...]:
    """Return the cells of private answers on the beta population."""
    return ANSWERS.grid(
        data=MEAN.data, mechanism=mechanisms, epsilon=VIOLIN_EPSILONS, runs=settings.runs
    )


def answers_of(computed: Computed, mechanism: str) -> dict[float, FloatArray]:
    """Return private answers on the beta population, by epsilon."""
    rows = computed.frame(ANSWERS)
    rows = rows[rows["mechanism"] == mechanism]
    return {float(epsilon): as_array(part["answer"]) for epsilon, part in rows.groupby("epsilon")}


def _sampled(parameters: Row, column: Column, rng: np.random.Generator) -> list[Row]:
    """Return sensitivity, noise and median of samples: the same samples for every epsilon.

    The noise has been drawn; `variance` is what it has given the sample.
    """
    mechanism, runs, size = SmoothQuantile(), parameters["runs"], parameters["records"]
    sampling = FixedSizeSampling(size=size, population=column.size)
    calibrations = {
        epsilon: mechanism.calibration(
            target(epsilon) if size == column.size else calibrated(sampling, target(epsilon))
        )
        for epsilon in VIOLIN_EPSILONS
    }
    # As many samples at a time as memory should hold.
    parts: dict[float, list[tuple[FloatArray, FloatArray]]] = {e: [] for e in VIOLIN_EPSILONS}
    design = sampling.design(column, mechanism.distance)
    for start in range(0, runs, _AT_A_TIME):
        counts = design.counts(column.counts, min(_AT_A_TIME, runs - start), rng)
        for epsilon, calibration in calibrations.items():
            beta = calibration.beta
            parts[epsilon].append(mechanism.sensitivities(column, counts, column.bounds, beta))
    rows: list[Row] = []
    for epsilon, calibration in calibrations.items():
        medians, sensitivities = map(np.concatenate, zip(*parts[epsilon], strict=True))
        scales = calibration.factor * sensitivities
        noise = scales * calibration.unit.draw(rng, (runs,))
        beta = mechanism.calibration(target(epsilon)).beta
        _, of_all = mechanism.sensitivities(column, column.counts[None, :], column.bounds, beta)
        variances = calibration.unit.variance * scales**2
        columns = sensitivities / of_all[0], noise, medians, variances
        rows += [
            {"epsilon": epsilon, **dict(zip(_SAMPLED, values, strict=True))}
            for values in zip(*columns, strict=True)
        ]
    return rows


_SAMPLED = ("ratio", "noise", "median", "variance")
SAMPLED = Computation("smooth sensitivity of samples", 2, _sampled, read_column, ("data",))


def sampled_cells(settings: Settings, name: str) -> tuple[Cell, ...]:
    """Return the cells of samples of a population, and of all its records."""
    return SAMPLED.grid(data=name, records=[POPULATION, *VIOLIN_SIZES], runs=settings.runs)


def sampled(computed: Computed, population: str, value: str) -> dict[tuple[float, int], FloatArray]:
    """Return a value of every sample of a population, by epsilon and sample size.

    It is the ``"ratio"`` of its smooth sensitivity to that of the population, its ``"median"``
    without noise, the ``"noise"`` added or the ``"variance"`` of that given the sample; of these
    two, that of all records, too.
    """
    rows = computed.frame(SAMPLED)
    rows = rows[rows["data"] == population]
    return {
        (float(epsilon), int(size)): as_array(part[value])
        for (size, epsilon), part in rows.groupby(["records", "epsilon"], sort=False)
        if value in ("noise", "variance") or size != POPULATION
    }


def noise_variances(computed: Computed, population: str) -> dict[tuple[float, int], Interval]:
    """Return the variance of the noise, integrated, over all samples of a size, by epsilon too."""
    variances = sampled(computed, population, "variance")
    return {key: student_interval(values) for key, values in variances.items()}


def _other_population(shared: Mapping[str, Any], rng: np.random.Generator) -> Column:
    values = authors_population("lognormal", shared["seed"])["lognormal"].to_numpy()
    return Column.from_values(values, LOGNORMAL.read().bounds)


def _ratios(parameters: Row, column: Column, rng: np.random.Generator) -> list[Row]:
    """Return the median ratio of the sensitivities of samples of a size to that of all records."""
    shared = {"records": parameters["records"], "runs": parameters["runs"]}
    rows = pd.DataFrame(_sampled(shared, column, rng))
    medians = rows.groupby("epsilon")["ratio"].median()
    return [{"epsilon": epsilon, "median": median} for epsilon, median in medians.items()]


OTHER_RATIOS = Computation(
    "ratios of sensitivities, by the draw of the population",
    1,
    _ratios,
    _other_population,
    ("seed",),
)


def other_ratio_cells(settings: Settings) -> tuple[Cell, ...]:
    """Return the cells of other draws of the lognormal population, with fewer samples."""
    runs = min(settings.runs or _AT_A_TIME, _AT_A_TIME)
    return OTHER_RATIOS.grid(seed=OTHER_SEEDS, records=VIOLIN_SIZES, runs=runs)


def other_ratios(computed: Computed) -> dict[tuple[float, int], FloatArray]:
    """Return the median ratios of other draws, by epsilon and sample size."""
    rows = computed.frame(OTHER_RATIOS)
    return {
        (float(epsilon), int(size)): as_array(part["median"])
        for (size, epsilon), part in rows.groupby(["records", "epsilon"], sort=False)
    }


def sensitivity_of(line: Line, epsilon: float) -> float:
    """Return the smooth sensitivity of all records at an epsilon."""
    column = line.read()
    padding: Padding = "none" if line.mechanism == "smooth, no padding" else "bounds"
    beta = SmoothQuantile().calibration(target(epsilon, column.size)).beta
    return smooth_sensitivity(column, "median", beta, padding)
