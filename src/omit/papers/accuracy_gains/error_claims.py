"""What the accuracy-gains paper says of errors: Figures 8 and 13, Table 1 and what follows."""

from __future__ import annotations

from functools import partial

from omit.accuracy.grids import ErrorGrid
from omit.omissions.sampling import FixedSizeSampling, sampling_base_epsilon
from omit.papers.accuracy_gains import cells
from omit.papers.accuracy_gains.cells import (
    BIMODAL,
    LINE_EPSILONS,
    LOGNORMAL,
    POPULATION,
    Line,
)
from omit.papers.accuracy_gains.gains import (
    all_gain,
    errors_of,
    exactly_up_to,
    no_gains,
    show_gains,
    show_rates,
    smallest_ratio,
)
from omit.papers.accuracy_gains.noise_curves import (
    largest_useful_variance,
    overdrawn_from,
    share_of_delta,
)
from omit.papers.base import Computed
from omit.papers.claims import (
    Claim,
    Finding,
    Judge,
    agreement,
    claim,
    claims_in,
    under_every_reading,
)

_of_figure_8 = partial(claim, "Figure 8", ("figure-08", "figure-08-map"))
_of_figure_13 = partial(claim, "Figure 13", ("figure-13", "figure-13-map"))
_of_table_1 = partial(claim, "Table 1", "table-01")


@_of_figure_8(
    "For ε <= .1, every sample is more accurate than all records.",
    of=errors_of(LOGNORMAL, 0.01, 0.1),
)
def _every_sample_gains(grid: ErrorGrid) -> Finding:
    return Finding(
        all_gain(grid, (0.01, 0.1)),
        f"{show_gains(grid)} The best of {len(grid.sizes)} rates multiplies the error by "
        f"{smallest_ratio(grid, 0.1):.3f} at ε = .1.",
    )


def _none_gains_from(smallest: float) -> Judge:
    def judge(grid: ErrorGrid) -> Finding:
        return Finding(
            no_gains(grid, [epsilon for epsilon in grid.epsilons if epsilon >= smallest]),
            f"{show_gains(grid)} At .5: {show_rates(grid, 0.5)}; the smallest ratio of errors is "
            f"{smallest_ratio(grid, 0.5):.2f}.",
        )

    return judge


NONE_GAINS = Claim(
    "Section 4.3, Figure 8",
    "For ε >= .5 no gains are achievable.",
    ("figure-08", "figure-08-map"),
    under_every_reading(
        {
            "ε = .5 included, as in the text": _none_gains_from(0.5),
            "ε above .5": _none_gains_from(1.0),
        }
    ),
    errors_of(LOGNORMAL, *LINE_EPSILONS),
    "none-gains",
)


@_of_figure_8(
    "The gains at ε <= .1 are most pronounced at small rates.", of=errors_of(LOGNORMAL, 0.01, 0.1)
)
def _best_at_small_rates(grid: ErrorGrid) -> Finding:
    best = [grid.sizes[int(grid.ratios[grid.epsilons.index(e)].argmin())] for e in (0.01, 0.1)]
    rates = [size / grid.data.size for size in best]
    return Finding(
        agreement(*(rate < 0.15 for rate in rates)),
        f"The best rates are {100 * rates[0]:.0f} % at ε = .01 and {100 * rates[1]:.0f} % at .1.",
    )


def _only_at_small_rates(line: Line) -> Judge:
    """Return the judge of whether no sample of half of the records or more gains."""

    def judge(computed: Computed) -> Finding | None:
        grid = errors_of(line, 0.1)(computed)
        if grid is None:
            return None
        large = [size / grid.data.size >= 0.5 for size in grid.sizes]
        gaining = [bool((row[large] > 0).any()) for row in grid.gains]
        listed = ", ".join(
            f"{e:g}" for e, gains in zip(grid.epsilons, gaining, strict=True) if gains
        )
        return Finding(
            agreement(not any(gaining)),
            f"Some sample of half of the records or more surely gains for epsilon = {listed}."
            if listed
            else "No sample of half of the records or more surely gains.",
        )

    return judge


ONLY_AT_SMALL_RATES = Claim(
    "Section 4",
    "Gains are likely at small sampling rates only, as amplification is not linear in the rate.",
    ("table-01",),
    under_every_reading(
        {
            "the lognormal population": _only_at_small_rates(LOGNORMAL),
            "the bimodal population": _only_at_small_rates(BIMODAL),
        }
    ),
    name="only-at-small-rates",
)


def _worse_below(grid: ErrorGrid) -> Finding:
    row = grid.epsilons.index(0.5)
    low, high = float(grid.low[row, 0]), float(grid.high[row, 1])
    return Finding(
        agreement(low > high),
        f"The error of 1 % is at least {low:.3g}, that of 10 % at most {high:.3g}.",
    )


def _best_at_a_tenth(grid: ErrorGrid) -> Finding:
    row = grid.errors[grid.epsilons.index(0.5)]
    best = grid.sizes[int(row.argmin())] / grid.data.size
    return Finding(agreement(abs(best - 0.1) < 0.05), f"The best rate is {100 * best:.0f} %.")


WORSE_BELOW_A_TENTH = Claim(
    "Section 4.3, Figure 8",
    "At ε = .5 accuracy decreases again for rates below 10 %.",
    ("figure-08", "figure-08-map"),
    under_every_reading({"1 % against 10 %": _worse_below, "it is best at 10 %": _best_at_a_tenth}),
    errors_of(LOGNORMAL, 0.5),
    "worse-below-a-tenth",
)


def _with_bounds(line: Line) -> Judge:
    """Return the judge of a reading of what limits the values."""

    def judge(computed: Computed) -> Finding | None:
        grid = errors_of(line, 0.1)(computed)
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
    under_every_reading(
        {
            f"the {name}" if "bound" in name else name: _with_bounds(line)
            for name, line in cells.BOUNDS_VARIANTS.items()
        }
    ),
    name="every-sample-gains-whatever-the-bounds",
)


@_of_figure_13(
    "Gains for ε as large as 3, though samples are biased.", of=errors_of(BIMODAL, *LINE_EPSILONS)
)
def _gains_as_large_as_three(grid: ErrorGrid) -> Finding:
    return Finding(
        exactly_up_to(grid, 3.0),
        f"{show_gains(grid)} At 3 the smallest ratio of errors is {smallest_ratio(grid, 3.0):.2f}; "
        "these errors have the bias in them.",
    )


@claim(
    "Section 5",
    "quartile",
    "Gains are more likely for quantiles where the data are sparse.",
)
def _sparse_quantiles(computed: Computed) -> Finding | None:
    median, quartile = (cells.error_grid_of(computed, line) for line in (BIMODAL, cells.QUARTILE))
    sparse, dense = (int((grid.gains > 0).sum()) for grid in (median, quartile))
    return Finding(
        agreement(sparse > dense),
        f"In the bimodal population {sparse} of {median.gains.size} samples surely gain for the "
        f"median, at the gap, and {dense} for the lower quartile, amid the data.",
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
def _noise_formula(computed: Computed) -> Finding | None:
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
    largest = max(share_of_delta(used.epsilon, used.delta) for used in guarantees)
    delta, overdrawn = cells.DELTA, overdrawn_from(cells.DELTA)
    at = published.epsilons.index(0.1)
    beyond = (
        "It is private for larger ones, too."
        if overdrawn is None
        else f"From epsilon = {overdrawn:.1f} on (delta = {delta:.0e}) it is not private as stated."
    )
    return Finding(
        agreement(largest <= 1, overdrawn is None),
        f"It is {'' if largest <= 1 else 'not '}private for the epsilons in use, those of samples "
        f"included: the exact delta is {100 * share_of_delta(1.0, delta):.1f} % of the "
        f"stated one at epsilon = 1 without sampling, and {100 * largest:.0f} % at most. The "
        "largest valid beta multiplies the error of all records at epsilon = .1 by "
        f"{tight.baseline[at] / published.baseline[at]:.2f}. {beyond}",
    )


@_of_table_1(
    "Any statistic, global sensitivity: no gains if the sampling variance is at least "
    "2 D^2 (1/epsilon^2 - 1/epsilon_n^2).",
    of=errors_of(cells.GLOBAL),
)
def _variance_decides(grid: ErrorGrid) -> Finding:
    lower, upper = grid.data.bounds or (0.0, 1.0)
    width = upper - lower
    agree = 0
    for i, epsilon in enumerate(grid.epsilons):
        for j, size in enumerate(grid.sizes):
            rate = size / grid.data.size
            # The variance of a sample's statistic is its error less that of its noise.
            noise = 2 * (width / float(sampling_base_epsilon(epsilon, rate))) ** 2
            variance = float(grid.errors[i, j]) - noise
            useful = variance < largest_useful_variance(width, epsilon, rate)
            agree += grid.gains[i, j] < 0 or (useful and grid.gains[i, j] > 0)
    sure = int((grid.gains != 0).sum())
    return Finding(
        agreement(agree == sure),
        "It follows from the sum of variances, if the sensitivity does not shrink with the sample. "
        f"The median's does not: of {sure} cells of the beta population that are sure, {agree} "
        f"agree. Sampling pays in {int((grid.gains > 0).sum())} of {grid.gains.size}, with mean "
        f"squared errors of {grid.errors.min():.2g} and more for data in [0, 1].",
    )


@_of_table_1("Mean, global sensitivity: no gains.", of=errors_of(cells.MEAN))
def mean_never_gains(grid: ErrorGrid) -> Finding:
    """Judge that no sample of a mean is more accurate than all records."""
    return Finding(
        no_gains(grid, grid.epsilons),
        f"A sure loss in {int((grid.gains < 0).sum())} of {grid.gains.size} cells of "
        f"{grid.data.name}. With Laplace noise it follows for all data as long as delta is "
        "below the sampling rate, since noise and sampling variance both grow.",
    )


@_of_table_1("Median, lognormal: gains for epsilon <= .1.", of=errors_of(LOGNORMAL, *LINE_EPSILONS))
def _lognormal_row(grid: ErrorGrid) -> Finding:
    return Finding(exactly_up_to(grid, 0.1), f"{show_gains(grid)} At .5: {show_rates(grid, 0.5)}.")


@_of_table_1(
    "Median, mixture of beta distributions: gains for epsilon <= 3.",
    of=errors_of(BIMODAL, *LINE_EPSILONS),
)
def _bimodal_row(grid: ErrorGrid) -> Finding:
    return Finding(exactly_up_to(grid, 3.0), show_gains(grid))


CLAIMS = claims_in(globals())
