"""Accuracy gains from sampling: what the paper's figures show, declared.

Hu, Drechsler and Kim draw populations of 10,001 records, protect their means and medians with and
without sampling first, and compare. The populations are the registered data sets `beta`,
`lognormal` and `bimodal`. What the paper says, and what became of it, is in
`accuracy_gains_verdicts`.

The numbers behind the figures of the accuracy-gains paper.

Distributions are drawn as often as the paper draws them. Errors over sampling rates (Figures 8 and
13) come from as many samples, with the noise integrated instead of drawn.

When can a sample with less noise beat all records, whatever the data? The curves of Section 4.

At rate `n/N` a mechanism on a sample may use `epsilon_n = ln(1 + (N/n)(e^epsilon - 1))` (Theorem 1
of the accuracy-gains paper). Two ratios decide what that is worth:

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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array, panel
from omit.accuracy.expected import base_guarantee
from omit.accuracy.grids import GainMap, gain_map
from omit.data.column import Column
from omit.data.reading import read
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.base import IntegrableMechanism
from omit.mechanisms.exponential_quantile import ExponentialQuantile
from omit.mechanisms.mean import KnownSizeMean
from omit.mechanisms.quantiles import GlobalQuantile, SmoothQuantile
from omit.mechanisms.sensitivity import Padding, smooth_sensitivity
from omit.omissions.sampling import FixedSizeSampling, sampling_base_epsilon
from omit.papers.reproduction import Paper

PAPER = Paper(
    name="accuracy-gains",
    title="Accuracy Gains from Privacy Amplification Through Sampling for Differential Privacy",
    citation="J. Hu, J. Drechsler and H. J. Kim, 'Accuracy Gains from Privacy Amplification "
    "Through Sampling for Differential Privacy', Journal of Survey Statistics and Methodology, "
    "2022",
)

POPULATION = 10_001
DELTA = 1 / (2 * POPULATION)
RUNS = 1000
"""How often the paper repeats everything that it draws."""
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


@dataclass(frozen=True)
class BoundsVariant:
    """One reading of what limits the values of the lognormal population, for which none is stated.

    `upper` is the declared upper bound; None stands for no padding at all, which is not private.
    """

    name: str
    upper: float | None


BOUNDS_VARIANTS = (
    BoundsVariant("no padding (NOT private)", None),
    BoundsVariant("bound 2,000", 2e3),
    BoundsVariant("bound 10,000", 1e4),
    BoundsVariant("bound 100,000", 1e5),
)


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


_NODES = 20


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
    found = [_excess(float(e), float(p)) for e, p in zip(epsilon.flat, rate.flat, strict=True)]
    return as_array(found).reshape(epsilon.shape)


def _excess(epsilon: float, rate: float) -> float:
    if rate == 1:
        return 0.0
    times = 1 / rate
    nodes, weights = panel(0.0, 1.0, _NODES)
    # The integrand bends at 1/t and is smooth on every octave beyond.
    edges = [0.0]
    edge = 0.5 / times
    while edge < epsilon:
        edges.append(edge)
        edge *= 2
    edges.append(epsilon)
    missing = 0.0
    for low, high in itertools.pairwise(edges):
        x = low + (high - low) * nodes
        growth = np.expm1(np.minimum(x, 700.0))
        missing += (high - low) * float(weights @ (growth / (1 / times + growth)))
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


def sample_epsilon(epsilon: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return `epsilon_n`, which a mechanism on a sample may use (Figure 3).

    Examples
    --------
    >>> float(sample_epsilon(1.0, 0.01))
    5.152297938...
    """
    return sampling_base_epsilon(epsilon, rate)


def _positive_epsilons(epsilon: ArrayLike) -> FloatArray:
    checked = _validate.epsilons(epsilon)
    if not (checked > 0).all():
        raise InvalidInput("Expected every epsilon to be above 0.")
    return checked
