"""The numbers behind the figures of Hu, Drechsler and Kim on gains from sampling.

The paper draws populations of 10,001 records, protects their means and medians with and without
sampling first, and compares. The populations are the registered data sets `beta`, `lognormal` and
`bimodal`. Distributions are drawn as often as the paper draws them. Errors over sampling rates
(Figures 8 and 13) come from as many samples, with the noise integrated instead of drawn.

When can a sample with less noise beat all records, whatever the data (Section 4)? At rate `n/N` a
mechanism on a sample may use `epsilon_n = ln(1 + (N/n)(e^epsilon - 1))` (Theorem 1). Two ratios
decide what that is worth:

- `q = 1 - (epsilon/epsilon_n)^2` (Eq. 5): if the sensitivity does not depend on the size, the noise
  shrinks by this share of its variance, so sampling variance beyond it cannot be made up for;
- `r = ((n/N) epsilon_n / epsilon)^2` (Eq. 8): the noise variance of the mean of all records divided
  by that of the mean of the sample. By Bernoulli's inequality `r < 1` for every rate below 1.

Both are differences of nearly equal numbers at small epsilon or rates near 1. With `t = N/n`,

    epsilon_n - epsilon = ln(1 + (t - 1)(1 - e^-epsilon)),
    t epsilon - epsilon_n = integral from 0 to epsilon of t (t - 1)(e^x - 1) / (1 + t (e^x - 1)) dx,

neither of which cancels: the first is a logarithm of 1 plus something positive, the second an
integral of something positive.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array, gauss_legendre
from omit.accuracy.expected import Question
from omit.accuracy.grids import ErrorGrid, error_grid, sampled_at
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.laws.inversion import root_of
from omit.mechanisms.base import Mechanism
from omit.mechanisms.exponential_quantile import ExponentialQuantile
from omit.mechanisms.lattice_quantile import LatticeQuantile
from omit.mechanisms.mean import NoisyMean
from omit.mechanisms.quantiles import GlobalQuantile, SmoothQuantile
from omit.mechanisms.sensitivity import Padding, smooth_laplace_delta, smooth_sensitivity
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
ACCEPTED_RATIOS = {
    (0.1, 1001): (1.15, 1.45),
    (0.1, 101): (3.0, 4.1),
    (1.0, 1001): (2.5, 4.6),
    (1.0, 101): (13.5, 25.0),
}
"""Between which values these medians lie for other draws of the same population."""

MECHANISMS: Mapping[str, Mechanism] = MappingProxyType(
    {
        "mean": NoisyMean("laplace", "published", "squared"),
        "global": GlobalQuantile(),
        "smooth": SmoothQuantile(),
        "smooth, no padding": SmoothQuantile(padding="none"),
        "smooth, tight": SmoothQuantile("laplace-tight"),
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
        "no padding (NOT private)": Line("lognormal", "smooth, no padding"),
        "bound 2,000": Line("lognormal", "smooth", None, 0.0, 2e3),
        "bound 10,000": Line("lognormal", "smooth", None, 0.0, 1e4),
        "bound 100,000": Line("lognormal", "smooth", None, 0.0, 1e5),
    }
)
"""Readings of what limits the values of the lognormal population, for which none is stated."""
LOGNORMAL = BOUNDS_VARIANTS["bound 2,000"]
BIMODAL = Line("bimodal", "smooth")
EXPONENTIAL = (Line("lognormal", "exponential"), Line("bimodal", "exponential"))
TIGHT = (Line("lognormal", "smooth, tight"), Line("bimodal", "smooth, tight"))
MEAN, GLOBAL = Line("beta", "mean"), Line("beta", "global")


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
        data="beta", mechanism=mechanisms, epsilon=VIOLIN_EPSILONS, runs=settings.runs
    )


def answers_of(computed: Computed, mechanism: str) -> dict[float, FloatArray]:
    """Return private answers on the beta population, by epsilon."""
    rows = computed.frame(ANSWERS)
    rows = rows[rows["mechanism"] == mechanism]
    return {float(epsilon): as_array(part["answer"]) for epsilon, part in rows.groupby("epsilon")}


def _sampled(parameters: Row, column: Column, rng: np.random.Generator) -> list[Row]:
    """Return sensitivity, noise and median of samples: the same samples for every epsilon."""
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
        noise = calibration.factor * sensitivities * calibration.unit.draw(rng, (runs,))
        beta = mechanism.calibration(target(epsilon)).beta
        _, of_all = mechanism.sensitivities(column, column.counts[None, :], column.bounds, beta)
        rows += [
            {"epsilon": epsilon, "ratio": ratio, "noise": added, "median": median}
            for ratio, added, median in zip(sensitivities / of_all[0], noise, medians, strict=True)
        ]
    return rows


SAMPLED = Computation("smooth sensitivity of samples", 1, _sampled, read_column, ("data",))


def sampled_cells(settings: Settings, name: str) -> tuple[Cell, ...]:
    """Return the cells of samples of a population, and of all its records."""
    return SAMPLED.grid(data=name, records=[POPULATION, *VIOLIN_SIZES], runs=settings.runs)


def sampled(computed: Computed, population: str, value: str) -> dict[tuple[float, int], FloatArray]:
    """Return a value of every sample of a population, by epsilon and sample size.

    It is the ``"ratio"`` of its smooth sensitivity to that of the population, its ``"median"``
    without noise, or the ``"noise"`` added, that to the median of all records included.
    """
    rows = computed.frame(SAMPLED)
    rows = rows[rows["data"] == population]
    return {
        (float(epsilon), int(size)): as_array(part[value])
        for (size, epsilon), part in rows.groupby(["records", "epsilon"], sort=False)
        if value == "noise" or size != POPULATION
    }


def sensitivity_of(line: Line, epsilon: float) -> float:
    """Return the smooth sensitivity of all records at an epsilon."""
    column = line.read()
    padding: Padding = "none" if line.mechanism == "smooth, no padding" else "bounds"
    beta = SmoothQuantile().calibration(target(epsilon, column.size)).beta
    return smooth_sensitivity(column, "median", beta, padding)


def noise_saving(epsilon: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return `q`, the share of the noise variance that a sample saves at best.

    Examples
    --------
    >>> noise_saving(1.0, [0.1, 0.5, 1.0])
    array([0.88113305, 0.54949735, 0.        ])
    >>> float(noise_saving(1e-12, 0.5))
    0.74999999999...
    """
    epsilon, rate = _positive_epsilons(epsilon), _validate.positive_rates(rate)
    gained = np.log1p((1 - rate) / rate * -np.expm1(-epsilon))
    share = gained / (epsilon + gained)
    return as_array(share * (2 - share))


def rate_of_saving(saving: float, epsilon: float) -> float:
    """Return the sampling rate at which `noise_saving` is `saving`.

    Examples
    --------
    >>> round(100 * rate_of_saving(0.6, 3.0), 7), round(100 * rate_of_saving(0.6, 0.1), 7)
    (16.7673157, 61.3959002)
    """
    saving = _validate.finite("saving", saving)
    if not 0 <= saving < 1:
        raise InvalidInput(f"Expected saving={saving:g} in [0, 1).")
    epsilon = float(_positive_epsilons(epsilon))
    # epsilon_n = epsilon / sqrt(1 - q), and the rate is (e^epsilon - 1)/(e^epsilon_n - 1).
    on_sample = epsilon / math.sqrt(1 - saving)
    return math.exp(epsilon - on_sample) * math.expm1(-epsilon) / math.expm1(-on_sample)


def mean_noise_excess(epsilon: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return `1 - r`: the share by which the noise of all records' mean is below the sample's.

    It is positive for every rate below 1: the Laplace noise of a sample's mean is always larger,
    unless delta is at least the rate, where a sample needs none.

    Examples
    --------
    >>> mean_noise_excess([1.0, 1e-3, 1e-9], 0.1)
    array([9.15872326e-01, 8.92340658e-03, 8.99999992e-09])
    """
    epsilon, rate = np.broadcast_arrays(_positive_epsilons(epsilon), _validate.positive_rates(rate))
    pairs = zip(epsilon.flat, rate.flat, strict=True)
    return as_array([_excess(float(e), float(p)) for e, p in pairs]).reshape(epsilon.shape)


def _excess(epsilon: float, rate: float) -> float:
    if rate == 1:
        return 0.0
    times = 1 / rate
    nodes, weights = gauss_legendre(20)
    # The integrand bends at 1/t and is smooth on every octave beyond.
    edges = [0.0]
    edge = 0.5 / times
    while edge < epsilon:
        edges.append(edge)
        edge *= 2
    edges.append(epsilon)
    missing = 0.0
    for low, high in itertools.pairwise(edges):
        half = (high - low) / 2
        growth = np.expm1(np.minimum(low + half * (nodes + 1), 700.0))
        missing += half * float(weights @ (growth / (1 / times + growth)))
    # missing is (t epsilon - epsilon_n) / (t - 1).
    share = missing * (1 - rate) / epsilon
    return share * (2 - share)


def mean_noise_ratio_as_published(epsilon: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return `r` by Eq. 8 in plain floating point, whose rounding makes Figure 5.

    Examples
    --------
    >>> tiny = np.geomspace(1e-12, 1e-10, 50)
    >>> bool((mean_noise_ratio_as_published(tiny, 1e-4) > 1).any())
    True
    >>> bool((mean_noise_excess(tiny, 1e-4) > 0).all())
    True
    """
    epsilon, rate = _positive_epsilons(epsilon), _validate.positive_rates(rate)
    on_sample = np.log(1 + (np.exp(epsilon) - 1) / rate)
    return as_array((rate * on_sample / epsilon) ** 2)


def largest_useful_variance(sensitivity: float, epsilon: float, rate: float) -> float:
    """Return the sampling variance from which on no gain is possible with Laplace noise.

    `2 sensitivity^2 (1/epsilon^2 - 1/epsilon_n^2)`, for a global sensitivity that does not shrink
    with the sample (Section 4.1). A smaller sampling variance does not promise a gain.

    Examples
    --------
    >>> round(largest_useful_variance(1.0, 1.0, 0.5), 9)
    1.098994708
    """
    sensitivity = _validate.finite("sensitivity", sensitivity)
    saving = float(noise_saving(epsilon, rate))
    return 2 * (sensitivity / epsilon) ** 2 * saving


def _positive_epsilons(epsilon: ArrayLike) -> FloatArray:
    checked = _validate.epsilons(epsilon)
    if not (checked > 0).all():
        raise InvalidInput("Expected every epsilon to be above 0.")
    return checked


def share_of_delta(epsilon: float, delta: float) -> float:
    """Return the exact delta of the published noise as a multiple of the one it is stated for.

    Examples
    --------
    >>> round(share_of_delta(1.0, 5e-5), 4), round(share_of_delta(20.0, 5e-5), 2)
    (0.0056, 5.72)
    """
    beta = epsilon / (2 * math.log(2 / delta))
    return smooth_laplace_delta(epsilon, epsilon / 2, beta) / delta


def overdrawn_from(delta: float, largest: float = 100.0) -> float | None:
    """Return the epsilon from which the published noise has not the delta it is stated for.

    None if there is none up to the largest.

    Examples
    --------
    >>> round(overdrawn_from(5e-5), 2), overdrawn_from(5e-5, largest=10.0)
    (12.89, None)
    """
    if share_of_delta(largest, delta) <= 1:
        return None
    return root_of(lambda epsilon: share_of_delta(epsilon, delta) - 1, 1e-6, largest)
