"""Accuracy gains from sampling, by Hu, Drechsler and Kim: what it claims, and how it is judged.

A gain or a loss counts where the whole interval of an error is on one side of the error of all
records; a cell that is not sure refutes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from omit._numeric import FloatArray
from omit.accuracy.grids import ErrorGrid
from omit.omissions.sampling import FixedSizeSampling, sampling_base_epsilon
from omit.papers import base
from omit.papers.accuracy_gains import better_mechanisms, cells
from omit.papers.accuracy_gains.cells import BIMODAL, LINE_EPSILONS, LOGNORMAL, POPULATION, Line
from omit.papers.accuracy_gains.figures import EXHIBITS, exhibits_on
from omit.papers.base import Claim, Computed, Finding, OwnData, Paper, agreement, claim, claims_in

_of_figure_2 = partial(claim, "Section 2.4", "figure-02")
_of_figure_7 = partial(claim, "Section 4.3", "figure-07")
_of_figure_8 = partial(claim, "Section 4.3", ("figure-08", "figure-08-map"))
_of_table_1 = partial(claim, "Table 1", "table-01")


def _errors_of(line: Line, *epsilons: float) -> Callable[[Computed], ErrorGrid | None]:
    """Return the function that returns a line's errors, if these epsilons are among them."""

    def grid(computed: Computed) -> ErrorGrid | None:
        errors = cells.error_grid_of(computed, line)
        return errors if set(epsilons) <= set(errors.epsilons) else None

    return grid


@claim(
    "Section 2.4", "figure-01", "Private means concentrate around the true mean as epsilon grows."
)
def _private_means(computed: Computed) -> Finding:
    deviations = [float(values.std()) for values in cells.answers_of(computed, "mean").values()]
    shown = ", ".join(f"{deviation:.2g}" for deviation in deviations)
    return Finding(
        agreement(np.all(np.diff(deviations) < 0)),
        f"Standard deviations of {shown} at epsilon = .1, .5, 1.",
    )


@_of_figure_2(
    "By global sensitivity the median is useless at epsilon = .1: it ranges from about -50 to "
    "100 for data in [0, 1]."
)
def _global_medians(computed: Computed) -> Finding:
    answers = cells.answers_of(computed, "global")[0.1]
    return Finding(
        agreement(np.ptp(answers) > 50),
        f"It ranges from {answers.min():.0f} to {answers.max():.0f}.",
    )


@_of_figure_2(
    "By smooth sensitivity almost all answers at epsilon = .1 are within the data's support."
)
def _smooth_medians(computed: Computed) -> Finding:
    answers = cells.answers_of(computed, "smooth")[0.1]
    inside = float(((answers >= 0) & (answers <= 1)).mean())
    return Finding(agreement(inside > 0.9), f"{100 * inside:.1f} % are within [0, 1].")


@claim("Section 3", "figure-03", "A 1 % sample may use epsilon_n = 5.15 to reach epsilon = 1.")
def _amplification(computed: Computed) -> Finding:
    epsilon = float(sampling_base_epsilon(1.0, 0.01))
    return Finding(agreement(round(epsilon, 2) == 5.15), f"{epsilon:.11f}.")


@claim(
    "Section 4.1",
    "figure-04",
    "A sampling variance of 60 % needs a rate below 16.77 % at epsilon = 3 and below 61.4 % at "
    "epsilon = .1.",
)
def _saving(computed: Computed) -> Finding:
    large, small = (100 * cells.rate_of_saving(0.6, epsilon) for epsilon in (3.0, 0.1))
    return Finding(
        agreement(round(large, 2) == 16.77 and round(small, 1) == 61.4),
        f"{large:.7f} % and {small:.7f} %.",
    )


@claim(
    "Section 4.2, Figure 5",
    "figure-05",
    "The noise of a sample's mean is smaller than that of the population's for epsilon below a "
    "curve.",
)
def _artefact(computed: Computed) -> Finding:
    rates = (1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9)
    epsilons = np.geomspace(1e-14, 1, 2000)
    above = [(cells.mean_noise_ratio_as_published(epsilons, rate) > 1).any() for rate in rates]
    smallest = min(float(cells.mean_noise_excess(epsilons, rate).min()) for rate in rates)
    return Finding(
        agreement(smallest <= 0),
        "r < 1 for every epsilon and every rate below 1, by Bernoulli's inequality; computed "
        f"without cancellation 1 - r is positive throughout (at least {smallest:.1e} here). The "
        f"printed formula exceeds 1 by rounding for {sum(above)} of {len(rates)} rates, near "
        "sqrt(2^-52/(N/n - 1)): that is the curve.",
    )


@claim(
    "Section 4.3",
    "figure-06",
    "The sensitivity of samples is larger than the population's, the more the smaller the "
    "sample and the larger epsilon: medians 1.28, 3.72, 4.24, 23.30.",
)
def _sensitivity_ratios(computed: Computed) -> Finding:
    ratios = cells.sampled(computed, "lognormal", "ratio")
    medians = {key: float(np.median(ratios[key])) for key in cells.PUBLISHED_RATIOS}
    inside = [low <= medians[key] <= high for key, (low, high) in cells.ACCEPTED_RATIOS.items()]
    shown = ", ".join(
        f"{medians[key]:.2f} (printed {printed:g})"
        for key, printed in cells.PUBLISHED_RATIOS.items()
    )
    return Finding(
        agreement(all(inside)), f"{shown}; the draw of the population moves these numbers."
    )


def _deviations(computed: Computed, name: str) -> tuple[dict[tuple[float, int], float], str]:
    """Return the standard deviations of noise by epsilon and size, and a sentence on them."""
    noise = cells.sampled(computed, name, "noise")
    deviations = {key: float(values.std()) for key, values in noise.items()}
    parts = [
        f"epsilon = {e:g}: " + ", ".join(f"{deviations[e, n]:.3g}" for n in (POPULATION, 1001, 101))
        for e in cells.VIOLIN_EPSILONS
    ]
    shown = f"Standard deviations for 10,001, 1,001 and 101 records: {'; '.join(parts)}."
    return deviations, shown


@_of_figure_7("At epsilon = .1 samples need much less noise, and 101 records even less than 1,001.")
def _much_less_noise(computed: Computed) -> Finding:
    noise = cells.sampled(computed, "lognormal", "noise")
    of_all, larger, smaller = (noise[0.1, n] for n in (POPULATION, 1001, 101))
    return Finding(
        agreement(surely_narrower(larger, of_all), surely_narrower(smaller, larger)),
        _deviations(computed, "lognormal")[1],
    )


def surely_narrower(first: FloatArray, second: FloatArray) -> bool:
    """Return whether draws deviate less than others, beyond two standard errors of the ratio."""
    logarithms, variances = [], []
    for draws in (first, second):
        deviation = float(draws.std())
        tails = float(((draws - draws.mean()) ** 4).mean()) / deviation**4
        logarithms.append(math.log(deviation))
        variances.append((tails - 1) / (4 * len(draws)))
    return logarithms[0] < logarithms[1] - 2 * math.sqrt(sum(variances))


@_of_figure_7("At epsilon = .5 only the larger sample needs less noise, and none at epsilon = 1.")
def _less_noise_for_some(computed: Computed) -> Finding:
    deviation, shown = _deviations(computed, "lognormal")
    half = deviation[0.5, 1001] < deviation[0.5, POPULATION] < deviation[0.5, 101]
    one = deviation[1.0, POPULATION] < deviation[1.0, 1001] < deviation[1.0, 101]
    return Finding(agreement(half and one), shown)


@_of_figure_8(
    "For epsilon <= .1, every sample is more accurate than all records.",
    of=_errors_of(LOGNORMAL, 0.01, 0.1),
)
def every_sample_gains(grid: ErrorGrid) -> Finding:
    return Finding(
        all_gain(grid, (0.01, 0.1)),
        f"{show_gains(grid)} The best of {len(grid.sizes)} rates multiplies the error by "
        f"{_smallest_ratio(grid, 0.1):.3f} at epsilon = .1.",
    )


@_of_figure_8("For epsilon >= .5 no gains are achievable.", of=_errors_of(LOGNORMAL, 0.5))
def none_gains(grid: ErrorGrid) -> Finding:
    return Finding(
        no_gains(grid, [epsilon for epsilon in grid.epsilons if epsilon >= 0.5]),
        f"{show_gains(grid)} At .5: {_show_rates(grid, 0.5)}; the smallest ratio of errors is "
        f"{_smallest_ratio(grid, 0.5):.2f}.",
    )


def _with_bounds(line: Line) -> base.Judge:
    """Return the judge of a reading of what limits the values."""

    def judge(computed: Computed) -> Finding | None:
        grid = _errors_of(line, 0.1)(computed)
        if grid is None:
            return None
        smallest = grid.epsilons[0]
        return Finding(
            all_gain(grid, [epsilon for epsilon in grid.epsilons if epsilon <= 0.1]),
            f"{show_gains(grid)} The smooth sensitivity of the population at epsilon = "
            f"{smallest:g} is {cells.sensitivity_of(line, smallest):,.0f}.",
        )

    return judge


_WHATEVER_THE_BOUNDS = Claim(
    "Section 4.3",
    "Every sample gains for epsilon <= .1, whatever bounds the values have, of which none are "
    "stated.",
    ("figure-08-bounds",),
    base.under_every_reading(
        {
            f"the {name}" if "bound" in name else name: _with_bounds(line)
            for name, line in cells.BOUNDS_VARIANTS.items()
        }
    ),
)


@claim(
    "Section 4.4",
    "figure-10",
    "In the bimodal population most samples have a smaller sensitivity than the population.",
)
def _smaller_sensitivity(computed: Computed) -> Finding:
    ratios = cells.sampled(computed, "bimodal", "ratio")
    shares = [float((ratio < 1).mean()) for ratio in ratios.values()]
    return Finding(
        agreement(min(shares) > 0.5),
        f"{100 * min(shares):.0f} % to {100 * max(shares):.0f} % of the samples.",
    )


@claim(
    "Section 4.4",
    "figure-11",
    "Sample medians fall into two groups, away from the population's median.",
)
def _sample_medians(computed: Computed) -> Finding:
    values = BIMODAL.read().values
    below, above = (float(values[len(values) // 2 + step]) for step in (0, 1))
    medians = cells.sampled(computed, "bimodal", "median")
    right = {n: (medians[cells.VIOLIN_EPSILONS[0], n] >= above).mean() for n in cells.VIOLIN_SIZES}
    shown = ", ".join(f"{100 * share:.0f} % for {n:,} records" for n, share in right.items())
    return Finding(
        agreement(all(0.3 < share < 0.7 for share in right.values())),
        f"About half of them lie on the other side of the gap ({shown}), so "
        f"the squared error of sampling alone is about {0.5 * (above - below) ** 2:.2f}.",
    )


@claim(
    "Section 4.4",
    "figure-12",
    "In the bimodal population samples need less noise at every epsilon.",
)
def _bimodal_noise(computed: Computed) -> Finding:
    deviation, shown = _deviations(computed, "bimodal")
    less = [
        value < deviation[e, POPULATION] for (e, n), value in deviation.items() if n != POPULATION
    ]
    return Finding(agreement(all(less)), shown)


@claim(
    "Section 4.4",
    ("figure-13", "figure-13-map"),
    "Gains for epsilon as large as 3.",
    of=_errors_of(BIMODAL, *LINE_EPSILONS),
)
def _gains_as_large_as_three(grid: ErrorGrid) -> Finding:
    return Finding(
        exactly_up_to(grid, 3.0),
        f"{show_gains(grid)} At 3 the smallest ratio of errors is "
        f"{_smallest_ratio(grid, 3.0):.2f}.",
    )


@claim(
    "Section 4.4",
    "figure-14",
    "Other algorithms, less sensitive to sparse data around the median, might be more "
    "accurate; similar gains are then unlikely.",
)
def _other_mechanisms(computed: Computed) -> Finding | None:
    lognormal, bimodal = (cells.error_grid_of(computed, line) for line in cells.EXPONENTIAL)
    if 0.1 not in lognormal.epsilons:
        return None
    at = lognormal.epsilons.index(0.1)
    best = float(cells.error_grid_of(computed, LOGNORMAL).errors[at].min())
    return Finding(
        agreement(not (lognormal.gains > 0).any() and float(bimodal.ratios.min()) > 0.9),
        "The exponential mechanism on all records of the lognormal population has a mean "
        f"squared error of {lognormal.baseline[at]:.3g} at epsilon = .1, the best sample with "
        f"the paper's noise {best:.3g}. Sampling surely helps it in "
        f"{int((lognormal.gains > 0).sum())} of {lognormal.gains.size} cells there, and the "
        f"smallest ratio of errors is {bimodal.ratios.min():.2f} in the bimodal population.",
    )


@claim(
    "Section 2.2",
    "figure-14",
    "The noise of the median is Laplace with scale 2S/epsilon and beta = epsilon/(2 ln(2/delta)).",
)
def noise_formula(computed: Computed) -> Finding | None:
    lines = (LOGNORMAL, cells.TIGHT[0])
    published, tight = (cells.error_grid_of(computed, line) for line in lines)
    if 0.1 not in published.epsilons:
        return None
    guarantees = [cells.target(epsilon) for epsilon in published.epsilons]
    for size in published.sizes:
        sampling = FixedSizeSampling(size=size, population=POPULATION)
        guarantees += [
            cells.calibrated(sampling, cells.target(epsilon)) for epsilon in published.epsilons
        ]
    largest = max(cells.share_of_delta(used.epsilon, used.delta) for used in guarantees)
    delta, overdrawn = cells.DELTA, cells.overdrawn_from(cells.DELTA)
    at = published.epsilons.index(0.1)
    beyond = (
        "It is private for larger ones, too."
        if overdrawn is None
        else f"From epsilon = {overdrawn:.1f} on (delta = {delta:.0e}) it is not private as stated."
    )
    return Finding(
        agreement(largest <= 1, overdrawn is None),
        f"It is {'' if largest <= 1 else 'not '}private for the epsilons in use, those of samples "
        f"included: the exact delta is {100 * cells.share_of_delta(1.0, delta):.1f} % of the "
        f"stated one at epsilon = 1 without sampling, and {100 * largest:.0f} % at most. The "
        "largest valid beta multiplies the error of all records at epsilon = .1 by "
        f"{tight.baseline[at] / published.baseline[at]:.2f}. {beyond}",
    )


def _smallest_ratio(grid: ErrorGrid, epsilon: float) -> float:
    return float(grid.ratios[grid.epsilons.index(epsilon)].min())


def gaining(grid: ErrorGrid) -> tuple[list[float], list[float]]:
    """Return the epsilons at which every rate surely gains, and those at which none does."""
    gains = list(zip(grid.epsilons, grid.gains > 0, strict=True))
    return [e for e, row in gains if row.all()], [e for e, row in gains if not row.any()]


def no_gains(grid: ErrorGrid, epsilons: Sequence[float]) -> base.Standing:
    """base.Judge that nothing gains at these epsilons: a cell that is not sure refutes nothing."""
    return agreement(*(epsilon in gaining(grid)[1] for epsilon in epsilons))


def all_gain(grid: ErrorGrid, epsilons: Sequence[float]) -> base.Standing:
    """base.Judge that every rate gains at these epsilons: only a sure loss refutes it."""
    rows = [grid.gains[grid.epsilons.index(epsilon)] for epsilon in epsilons]
    return agreement(*((row >= 0).all() for row in rows))


def exactly_up_to(grid: ErrorGrid, largest: float) -> base.Standing:
    """base.Judge that every rate gains up to an epsilon, and none beyond."""
    below = all_gain(grid, [epsilon for epsilon in grid.epsilons if epsilon <= largest])
    beyond = no_gains(grid, [epsilon for epsilon in grid.epsilons if epsilon > largest])
    return below if below in (beyond, "fails") else "holds in part"


def show_gains(grid: ErrorGrid) -> str:
    """Return in words at which epsilons every rate, some or none surely gains."""
    every, none = gaining(grid)
    some = [epsilon for epsilon in grid.epsilons if epsilon not in (*every, *none)]
    parts = [
        f"at {what} for epsilon = {', '.join(f'{epsilon:g}' for epsilon in which)}"
        for what, which in (("every rate", every), ("some rates", some), ("none", none))
        if which
    ]
    unsure = int((grid.gains == 0).sum())
    doubt = f" ({unsure} of {grid.gains.size} cells are not sure)" if unsure else ""
    return f"Sure gains {'; '.join(parts)}{doubt}."


def _show_rates(grid: ErrorGrid, epsilon: float) -> str:
    """Return the range of rates that surely gain at an epsilon, in words."""
    row = grid.gains[grid.epsilons.index(epsilon)] > 0
    rates = 100 * np.array(grid.sizes)[row] / grid.data.size
    return f"rates {rates.min():.0f} % to {rates.max():.0f} %" if row.any() else "no rate"


@_of_table_1(
    "Any statistic, global sensitivity: no gains if the sampling variance is at least "
    "2 D^2 (1/epsilon^2 - 1/epsilon_n^2).",
    of=_errors_of(cells.GLOBAL),
)
def variance_decides(grid: ErrorGrid) -> Finding:
    lower, upper = grid.data.bounds or (0.0, 1.0)
    width = upper - lower
    agree = 0
    for i, epsilon in enumerate(grid.epsilons):
        for j, size in enumerate(grid.sizes):
            rate = size / grid.data.size
            # The variance of a sample's statistic is its error less that of its noise.
            noise = 2 * (width / float(sampling_base_epsilon(epsilon, rate))) ** 2
            variance = float(grid.errors[i, j]) - noise
            useful = variance < cells.largest_useful_variance(width, epsilon, rate)
            agree += grid.gains[i, j] < 0 or (useful and grid.gains[i, j] > 0)
    sure = int((grid.gains != 0).sum())
    return Finding(
        agreement(agree == sure),
        "It follows from the sum of variances, if the sensitivity does not shrink with the sample. "
        f"The median's does not: of {sure} cells of the beta population that are sure, {agree} "
        f"agree. Sampling pays in {int((grid.gains > 0).sum())} of {grid.gains.size}, with mean "
        f"squared errors of {grid.errors.min():.2g} and more for data in [0, 1].",
    )


@_of_table_1("Mean, global sensitivity: no gains.", of=_errors_of(cells.MEAN))
def mean_never_gains(grid: ErrorGrid) -> Finding:
    return Finding(
        no_gains(grid, grid.epsilons),
        f"A sure loss in {int((grid.gains < 0).sum())} of {grid.gains.size} cells of "
        f"{grid.data.name}. With Laplace noise it follows for all data as long as delta is "
        "below the sampling rate, since noise and sampling variance both grow.",
    )


@_of_table_1(
    "Median, lognormal: gains for epsilon <= .1.", of=_errors_of(LOGNORMAL, *LINE_EPSILONS)
)
def _lognormal_row(grid: ErrorGrid) -> Finding:
    return Finding(exactly_up_to(grid, 0.1), f"{show_gains(grid)} At .5: {_show_rates(grid, 0.5)}.")


@_of_table_1(
    "Median, mixture of beta distributions: gains for epsilon <= 3.",
    of=_errors_of(BIMODAL, *LINE_EPSILONS),
)
def _bimodal_row(grid: ErrorGrid) -> Finding:
    return Finding(exactly_up_to(grid, 3.0), show_gains(grid))


def _some_gain(grid: ErrorGrid) -> Finding:
    return Finding(agreement(*((row > 0).any() for row in grid.gains)), show_gains(grid))


def _none_gain(grid: ErrorGrid) -> Finding:
    return Finding(no_gains(grid, grid.epsilons), show_gains(grid))


def _on(data: OwnData) -> Paper:
    """Return what can be asked of other data: about the mean, and about two ways to the median."""
    lines = [
        Line(mechanism=mechanism, **data.parameters)
        for mechanism in ("mean", "smooth", "exponential")
    ]
    some = "Median, smooth sensitivity: some sample gains at every epsilon."
    none = "Median, exponential mechanism: gains are unlikely."
    asked = (
        ("Table 1", "mean", "Mean: no gains.", mean_never_gains.judge),
        ("Section 4.3", "median", some, _some_gain),
        ("Section 4.4", "mechanisms", none, _none_gain),
    )
    claims = tuple(
        claim(where, exhibit, sentence, of=_errors_of(line))(judge)
        for (where, exhibit, sentence, judge), line in zip(asked, lines, strict=True)
    )
    return replace(PAPER, exhibits=exhibits_on(lines), claims=claims)


def _notes(computed: Computed) -> tuple[str, ...]:
    """Return how all of it was computed."""
    runs = computed.settings.runs
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


PAPER = Paper(
    "accuracy-gains",
    "Accuracy Gains from Privacy Amplification Through Sampling for Differential Privacy",
    "J. Hu, J. Drechsler and H. J. Kim, 'Accuracy Gains from Privacy Amplification "
    "Through Sampling for Differential Privacy', Journal of Survey Statistics and Methodology, "
    "2022",
    (*EXHIBITS, better_mechanisms.EXHIBIT),
    (*claims_in(globals()), better_mechanisms.SAMPLING_PAYS),
    notes=_notes,
    refusals={
        "exact": "accuracy-gains has no exact errors to leave out: its samples are drawn already.",
    },
    runs=1000,
    fewest_runs=10,
    on=_on,
)
