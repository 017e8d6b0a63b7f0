"""What the accuracy-gains paper claims, and how it is judged.

A gain or a loss counts where the whole interval of an error is on one side of the error of all
records; a cell that is not sure refutes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from omit._numeric import FloatArray
from omit.accuracy.grids import ErrorGrid
from omit.omissions.sampling import FixedSizeSampling
from omit.papers.accuracy_gains.cells import (
    ACCEPTED_RATIOS,
    BIMODAL,
    BOUNDS_VARIANTS,
    DELTA,
    LINE_EPSILONS,
    LOGNORMAL,
    POPULATION,
    PUBLISHED_RATIOS,
    VIOLIN_EPSILONS,
    VIOLIN_SIZES,
    Line,
    answers_of,
    calibrated,
    error_grid_of,
    largest_useful_variance,
    mean_noise_excess,
    mean_noise_ratio_as_published,
    overdrawn_from,
    rate_of_saving,
    sample_epsilon,
    sampled_medians,
    sensitivity_of,
    share_of_delta,
    target,
)
from omit.papers.base import Claim, Computed, Finding, Judge, Standing, agreement, standing


def _of_grid(
    line: Line, judge: Callable[[ErrorGrid], Finding], epsilons: Sequence[float] = ()
) -> Judge:
    """Return the judge of a line's errors; without the epsilons that it speaks of there is none."""

    def judged(computed: Computed) -> Finding | None:
        found = computed.once(error_grid_of, line)
        return judge(found) if set(epsilons) <= set(found.epsilons) else None

    return judged


def _private_means(computed: Computed) -> Finding:
    deviations = [float(values.std()) for values in answers_of(computed, "mean").values()]
    shown = ", ".join(f"{each:.2g}" for each in deviations)
    return Finding(
        standing(bool(np.all(np.diff(deviations) < 0))),
        f"Standard deviations of {shown} at epsilon = .1, .5, 1.",
    )


def _global_medians(computed: Computed) -> Finding:
    spread = answers_of(computed, "global")[0.1]
    return Finding(
        standing(float(np.ptp(spread)) > 50),
        f"It ranges from {spread.min():.0f} to {spread.max():.0f}.",
    )


def _smooth_medians(computed: Computed) -> Finding:
    smooth = answers_of(computed, "smooth")[0.1]
    inside = float(((smooth >= 0) & (smooth <= 1)).mean())
    return Finding(standing(inside > 0.9), f"{100 * inside:.1f} % are within [0, 1].")


def _amplification(computed: Computed) -> Finding:
    found = float(sample_epsilon(1.0, 0.01))
    return Finding(standing(round(found, 2) == 5.15), f"{found:.11f}.")


def _saving(computed: Computed) -> Finding:
    large, small = (100 * rate_of_saving(0.6, epsilon) for epsilon in (3.0, 0.1))
    return Finding(
        standing(round(large, 2) == 16.77 and round(small, 1) == 61.4),
        f"{large:.7f} % and {small:.7f} %.",
    )


def _artefact(computed: Computed) -> Finding:
    rates = (1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9)
    epsilons = np.geomspace(1e-14, 1, 2000)
    above = [bool((mean_noise_ratio_as_published(epsilons, rate) > 1).any()) for rate in rates]
    smallest = min(float(mean_noise_excess(epsilons, rate).min()) for rate in rates)
    return Finding(
        standing(smallest <= 0),
        "r < 1 for every epsilon and every rate below 1, by Bernoulli's inequality; computed "
        f"without cancellation 1 - r is positive throughout (at least {smallest:.1e} here). The "
        f"printed formula exceeds 1 by rounding for {sum(above)} of {len(rates)} rates, near "
        "sqrt(2^-52/(N/n - 1)): that is the curve.",
    )


def _sensitivity_ratios(computed: Computed) -> Finding:
    ratios = sampled_medians(computed, "lognormal").ratios
    found = {key: float(np.median(ratios[key])) for key in PUBLISHED_RATIOS}
    inside = all(low <= found[key] <= high for key, (low, high) in ACCEPTED_RATIOS.items())
    shown = ", ".join(f"{found[key]:.2f} (printed {PUBLISHED_RATIOS[key]:g})" for key in found)
    return Finding(standing(inside), f"{shown}; the draw of the population moves these numbers.")


def _deviations(computed: Computed, name: str) -> tuple[dict[tuple[float, int], float], str]:
    """Return the standard deviations of noise by epsilon and size, and a sentence on them."""
    noise = sampled_medians(computed, name).noise
    found = {key: float(values.std()) for key, values in noise.items()}
    parts = [
        f"epsilon = {e:g}: " + ", ".join(f"{found[e, n]:.3g}" for n in (POPULATION, 1001, 101))
        for e in VIOLIN_EPSILONS
    ]
    said = f"Standard deviations for 10,001, 1,001 and 101 records: {'; '.join(parts)}."
    return found, said


def _much_less_noise(computed: Computed) -> Finding:
    noise = sampled_medians(computed, "lognormal").noise
    everybody, larger, smaller = (noise[0.1, n] for n in (POPULATION, 1001, 101))
    parts = [surely_narrower(larger, everybody), surely_narrower(smaller, larger)]
    return Finding(agreement(parts), _deviations(computed, "lognormal")[1])


def surely_narrower(first: FloatArray, second: FloatArray) -> bool:
    """Return whether draws deviate less than others, beyond two standard errors of the ratio."""
    logarithms, variances = [], []
    for draws in (first, second):
        deviation = float(draws.std())
        tails = float(((draws - draws.mean()) ** 4).mean()) / deviation**4
        logarithms.append(math.log(deviation))
        variances.append((tails - 1) / (4 * len(draws)))
    return logarithms[0] < logarithms[1] - 2 * math.sqrt(sum(variances))


def _less_noise_for_some(computed: Computed) -> Finding:
    deviation, said = _deviations(computed, "lognormal")
    return Finding(
        standing(
            deviation[0.5, 1001] < deviation[0.5, POPULATION] < deviation[0.5, 101]
            and deviation[1.0, POPULATION] < deviation[1.0, 1001] < deviation[1.0, 101]
        ),
        said,
    )


def _bimodal_noise(computed: Computed) -> Finding:
    deviation, said = _deviations(computed, "bimodal")
    less = (
        deviation[e, n] < deviation[e, POPULATION] for e in VIOLIN_EPSILONS for n in VIOLIN_SIZES
    )
    return Finding(standing(all(less)), said)


def every_sample_gains(found: ErrorGrid) -> Finding:
    """Judge that for epsilon up to .1 every sample is more accurate."""
    return Finding(
        all_gain(found, (0.01, 0.1)),
        f"{show_gains(found)} The best of {len(found.sizes)} rates multiplies the error by "
        f"{_smallest_ratio(found, 0.1):.3f} at epsilon = .1.",
    )


def none_gains(found: ErrorGrid) -> Finding:
    """Judge that from epsilon = .5 on nothing gains."""
    return Finding(
        no_gains(found, [each for each in found.epsilons if each >= 0.5]),
        f"{show_gains(found)} At .5: {show_rates(found, 0.5)}; the smallest ratio of errors is "
        f"{_smallest_ratio(found, 0.5):.2f}.",
    )


def _whatever_the_bounds(line: Line) -> Judge:
    def judged(found: ErrorGrid) -> Finding:
        smallest = found.epsilons[0]
        return Finding(
            all_gain(found, [epsilon for epsilon in found.epsilons if epsilon <= 0.1]),
            f"{show_gains(found)} The smooth sensitivity of the population at epsilon = "
            f"{smallest:g} is {sensitivity_of(line, smallest):,.0f}.",
        )

    return _of_grid(line, judged, (0.1,))


def _smaller_sensitivity(computed: Computed) -> Finding:
    ratios = sampled_medians(computed, "bimodal").ratios
    shares = [float((ratio < 1).mean()) for ratio in ratios.values()]
    return Finding(
        standing(min(shares) > 0.5),
        f"{100 * min(shares):.0f} % to {100 * max(shares):.0f} % of the samples.",
    )


def _sample_medians(computed: Computed) -> Finding:
    values = BIMODAL.read().values
    middle = len(values) // 2
    gap = float(values[middle]), float(values[middle + 1])
    medians = sampled_medians(computed, "bimodal").medians
    right = {n: float((median >= gap[1]).mean()) for n, median in medians.items()}
    shown = ", ".join(f"{100 * share:.0f} % for {n:,} records" for n, share in right.items())
    return Finding(
        standing(all(0.3 < share < 0.7 for share in right.values())),
        f"About half of them lie on the other side of the gap ({shown}), so "
        f"the squared error of sampling alone is about {0.5 * (gap[1] - gap[0]) ** 2:.2f}.",
    )


def _gains_as_large_as_three(found: ErrorGrid) -> Finding:
    return Finding(
        exactly_up_to(found, 3.0),
        f"{show_gains(found)} At 3 the smallest ratio of errors is "
        f"{_smallest_ratio(found, 3.0):.2f}.",
    )


def _smallest_ratio(found: ErrorGrid, epsilon: float) -> float:
    return float(found.ratios[found.epsilons.index(epsilon)].min())


EXPONENTIAL = (Line("lognormal", "exponential"), Line("bimodal", "exponential"))
TIGHT = (Line("lognormal", "smooth, tight"), Line("bimodal", "smooth, tight"))
MEAN, GLOBAL = Line("beta", "mean"), Line("beta", "global")


def _other_mechanisms(computed: Computed) -> Finding | None:
    lognormal, bimodal = (computed.once(error_grid_of, line) for line in EXPONENTIAL)
    if 0.1 not in lognormal.epsilons:
        return None
    at = lognormal.epsilons.index(0.1)
    best = float(computed.once(error_grid_of, LOGNORMAL).errors[at].min())
    return Finding(
        standing(not (lognormal.gains > 0).any() and float(bimodal.ratios.min()) > 0.9),
        "The exponential mechanism on all records of the lognormal population has a mean "
        f"squared error of {lognormal.baseline[at]:.3g} at epsilon = .1, the best sample with "
        f"the paper's noise {best:.3g}. Sampling surely helps it in "
        f"{int((lognormal.gains > 0).sum())} of {lognormal.gains.size} cells there, and the "
        f"smallest ratio of errors is {bimodal.ratios.min():.2f} in the bimodal population.",
    )


def noise_formula(computed: Computed) -> Finding | None:
    """Judge the published noise at every guarantee in use, and beyond them."""
    published, tight = (computed.once(error_grid_of, line) for line in (LOGNORMAL, TIGHT[0]))
    if 0.1 not in published.epsilons:
        return None
    used = [target(epsilon) for epsilon in published.epsilons]
    for size in published.sizes:
        sampling = FixedSizeSampling(size=size, population=POPULATION)
        used += [calibrated(sampling, target(epsilon)) for epsilon in published.epsilons]
    largest = max(share_of_delta(each.epsilon, each.delta) for each in used)
    overdrawn = overdrawn_from(DELTA)
    at = published.epsilons.index(0.1)
    beyond = (
        "It is private for larger ones, too."
        if overdrawn is None
        else f"From epsilon = {overdrawn:.1f} on (delta = {DELTA:.0e}) it is not private as stated."
    )
    return Finding(
        agreement([largest <= 1, overdrawn is None]),
        f"It is {'' if largest <= 1 else 'not '}private for the epsilons in use, those of samples "
        f"included: the exact delta is {100 * share_of_delta(1.0, DELTA):.1f} % of the stated one "
        f"at epsilon = 1 without sampling, and {100 * largest:.0f} % at most. The largest valid "
        "beta multiplies the error of all records at epsilon = .1 by "
        f"{tight.baseline[at] / published.baseline[at]:.2f}. {beyond}",
    )


def gaining(found: ErrorGrid) -> tuple[list[float], list[float]]:
    """Return the epsilons at which every rate surely gains, and those at which none does."""
    every = [e for e, row in zip(found.epsilons, found.gains, strict=True) if (row > 0).all()]
    none = [e for e, row in zip(found.epsilons, found.gains, strict=True) if not (row > 0).any()]
    return every, none


def no_gains(found: ErrorGrid, epsilons: Sequence[float]) -> Standing:
    """Judge that nothing gains at these epsilons: a cell that is not sure refutes nothing."""
    refuted = set(epsilons) - set(gaining(found)[1])
    if not refuted:
        return "holds"
    return "fails" if refuted == set(epsilons) else "holds in part"


def all_gain(found: ErrorGrid, epsilons: Sequence[float]) -> Standing:
    """Judge that every rate gains at these epsilons: only a sure loss refutes it."""
    rows = [found.gains[found.epsilons.index(epsilon)] for epsilon in epsilons]
    lost = [bool((row < 0).any()) for row in rows]
    if all(lost):
        return "fails"
    return "holds in part" if any(lost) else "holds"


def exactly_up_to(found: ErrorGrid, largest: float) -> Standing:
    """Judge that every rate gains up to an epsilon, and none beyond."""
    below = [epsilon for epsilon in found.epsilons if epsilon <= largest]
    beyond = [epsilon for epsilon in found.epsilons if epsilon > largest]
    parts = {all_gain(found, below), no_gains(found, beyond)}
    if parts == {"holds"}:
        return "holds"
    return "fails" if all_gain(found, below) == "fails" else "holds in part"


def show_gains(found: ErrorGrid) -> str:
    """Return in words at which epsilons every rate, some or none surely gains."""
    every, none = gaining(found)
    some = [epsilon for epsilon in found.epsilons if epsilon not in (*every, *none)]
    parts = [
        f"at {what} for epsilon = {', '.join(f'{epsilon:g}' for epsilon in which)}"
        for what, which in (("every rate", every), ("some rates", some), ("none", none))
        if which
    ]
    unsure = int((found.gains == 0).sum())
    doubt = f" ({unsure} of {found.gains.size} cells are not sure)" if unsure else ""
    return f"Sure gains {'; '.join(parts)}{doubt}."


def show_rates(found: ErrorGrid, epsilon: float) -> str:
    """Return the range of rates that surely gain at an epsilon, in words."""
    row = found.gains[found.epsilons.index(epsilon)]
    rates = [
        size / found.data.size for size, gain in zip(found.sizes, row, strict=True) if gain > 0
    ]
    return f"rates {100 * min(rates):.0f} % to {100 * max(rates):.0f} %" if rates else "no rate"


def variance_decides(found: ErrorGrid) -> Finding:
    """Judge that a sample gains only if its sampling variance is below the stated limit.

    The variance of a sample's statistic is its error less that of its noise, which is known.
    """
    lower, upper = found.data.bounds or (0.0, 1.0)
    width = upper - lower
    agree, sure = 0, 0
    for i, epsilon in enumerate(found.epsilons):
        for j, size in enumerate(found.sizes):
            if found.gains[i, j] == 0:
                continue
            rate = size / found.data.size
            noise = 2 * (width / float(sample_epsilon(epsilon, rate))) ** 2
            variance = float(found.errors[i, j]) - noise
            below = variance < largest_useful_variance(width, epsilon, rate)
            sure += 1
            agree += below or found.gains[i, j] < 0
    return Finding(
        standing(agree == sure),
        "It follows from the sum of variances, if the sensitivity does not shrink with the sample. "
        f"The median's does not: of {sure} cells of the beta population that are sure, {agree} "
        f"agree. Sampling pays in {int((found.gains > 0).sum())} of {found.gains.size}, with mean "
        f"squared errors of {found.errors.min():.2g} and more for data in [0, 1].",
    )


def mean_never_gains(found: ErrorGrid) -> Finding:
    """Judge that no sample's mean is more accurate."""
    return Finding(
        no_gains(found, found.epsilons),
        f"A sure loss in {int((found.gains < 0).sum())} of {found.gains.size} cells of "
        f"{found.data.name}. With Laplace noise it follows for all data as long as delta is "
        "below the sampling rate, since noise and sampling variance both grow.",
    )


def _lognormal_row(found: ErrorGrid) -> Finding:
    return Finding(
        exactly_up_to(found, 0.1), f"{show_gains(found)} At .5: {show_rates(found, 0.5)}."
    )


def _bimodal_row(found: ErrorGrid) -> Finding:
    return Finding(exactly_up_to(found, 3.0), show_gains(found))


CLAIMS = (
    Claim(
        "Section 2.4",
        "Private means concentrate around the true mean as epsilon grows.",
        ("figure-01",),
        _private_means,
    ),
    Claim(
        "Section 2.4",
        "By global sensitivity the median is useless at epsilon = .1: it ranges from about -50 to "
        "100 for data in [0, 1].",
        ("figure-02",),
        _global_medians,
    ),
    Claim(
        "Section 2.4",
        "By smooth sensitivity almost all answers at epsilon = .1 are within the data's support.",
        ("figure-02",),
        _smooth_medians,
    ),
    Claim(
        "Section 3",
        "A 1 % sample may use epsilon_n = 5.15 to reach epsilon = 1.",
        ("figure-03",),
        _amplification,
    ),
    Claim(
        "Section 4.1",
        "A sampling variance of 60 % needs a rate below 16.77 % at epsilon = 3 and below 61.4 % at "
        "epsilon = .1.",
        ("figure-04",),
        _saving,
    ),
    Claim(
        "Section 4.2, Figure 5",
        "The noise of a sample's mean is smaller than that of the population's for epsilon below a "
        "curve.",
        ("figure-05",),
        _artefact,
    ),
    Claim(
        "Section 4.3",
        "The sensitivity of samples is larger than the population's, the more the smaller the "
        "sample and the larger epsilon: medians 1.28, 3.72, 4.24, 23.30.",
        ("figure-06",),
        _sensitivity_ratios,
    ),
    Claim(
        "Section 4.3",
        "At epsilon = .1 samples need much less noise, and 101 records even less than 1,001.",
        ("figure-07",),
        _much_less_noise,
    ),
    Claim(
        "Section 4.3",
        "At epsilon = .5 only the larger sample needs less noise, and none at epsilon = 1.",
        ("figure-07",),
        _less_noise_for_some,
    ),
    Claim(
        "Section 4.3",
        "For epsilon <= .1, every sample is more accurate than all records.",
        ("figure-08", "figure-08-map"),
        _of_grid(LOGNORMAL, every_sample_gains, (0.01, 0.1)),
    ),
    Claim(
        "Section 4.3",
        "For epsilon >= .5 no gains are achievable.",
        ("figure-08", "figure-08-map"),
        _of_grid(LOGNORMAL, none_gains, (0.5,)),
    ),
    Claim(
        "Section 4.3",
        "Every sample gains for epsilon <= .1, whatever bounds the values have, of which none are "
        "stated.",
        ("figure-08-bounds",),
        readings={
            f"the {name}" if "bound" in name else name: _whatever_the_bounds(line)
            for name, line in BOUNDS_VARIANTS.items()
        },
    ),
    Claim(
        "Section 4.4",
        "In the bimodal population most samples have a smaller sensitivity than the population.",
        ("figure-10",),
        _smaller_sensitivity,
    ),
    Claim(
        "Section 4.4",
        "Sample medians fall into two groups, away from the population's median.",
        ("figure-11",),
        _sample_medians,
    ),
    Claim(
        "Section 4.4",
        "In the bimodal population samples need less noise at every epsilon.",
        ("figure-12",),
        _bimodal_noise,
    ),
    Claim(
        "Section 4.4",
        "Gains for epsilon as large as 3.",
        ("figure-13", "figure-13-map"),
        _of_grid(BIMODAL, _gains_as_large_as_three, LINE_EPSILONS),
    ),
    Claim(
        "Section 4.4",
        "Other algorithms, less sensitive to sparse data around the median, might be more "
        "accurate; similar gains are then unlikely.",
        ("figure-14",),
        _other_mechanisms,
    ),
    Claim(
        "Section 2.2",
        "The noise of the median is Laplace with scale 2S/epsilon and "
        "beta = epsilon/(2 ln(2/delta)).",
        ("figure-14",),
        noise_formula,
    ),
    Claim(
        "Table 1",
        "Any statistic, global sensitivity: no gains if the sampling variance is at least "
        "2 D^2 (1/epsilon^2 - 1/epsilon_n^2).",
        ("table-01",),
        _of_grid(GLOBAL, variance_decides),
    ),
    Claim(
        "Table 1",
        "Mean, global sensitivity: no gains.",
        ("table-01",),
        _of_grid(MEAN, mean_never_gains),
    ),
    Claim(
        "Table 1",
        "Median, lognormal: gains for epsilon <= .1.",
        ("table-01",),
        _of_grid(LOGNORMAL, _lognormal_row, LINE_EPSILONS),
    ),
    Claim(
        "Table 1",
        "Median, mixture of beta distributions: gains for epsilon <= 3.",
        ("table-01",),
        _of_grid(BIMODAL, _bimodal_row, LINE_EPSILONS),
    ),
)


def claims_on(lines: Sequence[Line]) -> tuple[Claim, ...]:
    """Return the claims that can be asked of other data: the mean's, and those on the median."""
    mean, smooth, exponential = lines

    def median(found: ErrorGrid) -> Finding:
        gains = found.gains
        return Finding(agreement(bool((row > 0).any()) for row in gains), show_gains(found))

    return (
        Claim("Table 1", "Mean: no gains.", ("mean",), _of_grid(mean, mean_never_gains)),
        Claim(
            "Section 4.3",
            "Median, smooth sensitivity: some sample gains at every epsilon.",
            ("median",),
            _of_grid(smooth, median),
        ),
        Claim(
            "Section 4.4",
            "Median, exponential mechanism: gains are unlikely.",
            ("mechanisms",),
            _of_grid(
                exponential,
                lambda found: Finding(no_gains(found, found.epsilons), show_gains(found)),
            ),
        ),
    )
