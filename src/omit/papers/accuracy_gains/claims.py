"""What the accuracy-gains paper says, and whether it holds: each finding from the numbers.

What a map of gains says about claims on where sampling pays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from omit.accuracy.expected import base_guarantee
from omit.accuracy.grids import GainMap
from omit.laws.inversion import root_of
from omit.mechanisms.sensitivity import smooth_laplace_delta
from omit.omissions.sampling import FixedSizeSampling
from omit.papers.accuracy_gains.cells import (
    ACCEPTED_RATIOS,
    DELTA,
    LINE_EPSILONS,
    POPULATION,
    PUBLISHED_RATIOS,
    VIOLIN_EPSILONS,
    VIOLIN_SIZES,
    Results,
    mean_noise_excess,
    mean_noise_ratio_as_published,
    rate_of_saving,
    sample_epsilon,
    target,
)
from omit.papers.reproduction import Standing, Verdict, agreement, standing


def figure_verdicts(results: Results) -> dict[str, tuple[Verdict, ...]]:
    """Return the verdicts by the name of the figure they belong to."""
    return {
        "figure-01": (_private_means(results),),
        "figure-02": _private_medians(results),
        "figure-03": (_amplification(),),
        "figure-04": (_saving(),),
        "figure-05": (_artefact(),),
        "figure-06": (_sensitivity_ratios(results),),
        "figure-07": _noise_verdicts(results),
        "figure-08": _lognormal_errors(results.errors["lognormal"]),
        "figure-08-bounds": (_bounds(results),),
        "figure-10": (_smaller_sensitivity(results),),
        "figure-11": (_sample_medians(results),),
        "figure-12": (_bimodal_noise(results),),
        "figure-13": (_bimodal_errors(results.errors["bimodal"]),),
        "figure-14": (_other_mechanisms(results), _noise_formula(results)),
    }


def _private_means(results: Results) -> Verdict:
    deviations = [float(results.private_means[e].std()) for e in VIOLIN_EPSILONS]
    return Verdict(
        "Private means concentrate around the true mean as epsilon grows.",
        "Section 2.4",
        standing(bool(np.all(np.diff(deviations) < 0))),
        "Standard deviations of "
        + ", ".join(f"{each:.2g}" for each in deviations)
        + " at epsilon = .1, .5, 1.",
    )


def _private_medians(results: Results) -> tuple[Verdict, ...]:
    spread, smooth = results.global_medians[0.1], results.smooth_medians[0.1]
    inside = float(((smooth >= 0) & (smooth <= 1)).mean())
    return (
        Verdict(
            "By global sensitivity the median is useless at epsilon = .1: it ranges from about "
            "-50 to 100 for data in [0, 1].",
            "Section 2.4",
            standing(float(np.ptp(spread)) > 50),
            f"It ranges from {spread.min():.0f} to {spread.max():.0f}.",
        ),
        Verdict(
            "By smooth sensitivity almost all answers at epsilon = .1 are within the data's "
            "support.",
            "Section 2.4",
            standing(inside > 0.9),
            f"{100 * inside:.1f} % are within [0, 1].",
        ),
    )


def _amplification() -> Verdict:
    found = float(sample_epsilon(1.0, 0.01))
    return Verdict(
        "A 1 % sample may use epsilon_n = 5.15 to reach epsilon = 1.",
        "Section 3",
        standing(round(found, 2) == 5.15),
        f"{found:.11f}.",
    )


def _saving() -> Verdict:
    large, small = (100 * rate_of_saving(0.6, epsilon) for epsilon in (3.0, 0.1))
    return Verdict(
        "A sampling variance of 60 % needs a rate below 16.77 % at epsilon = 3 and below "
        "61.4 % at epsilon = .1.",
        "Section 4.1",
        standing(round(large, 2) == 16.77 and round(small, 1) == 61.4),
        f"{large:.7f} % and {small:.7f} %.",
    )


def _lognormal_errors(found: GainMap) -> tuple[Verdict, ...]:
    return (
        Verdict(
            "For epsilon <= .1, every sample is more accurate than all records.",
            "Section 4.3",
            all_gain(found, (0.01, 0.1)),
            f"{show_gains(found)} The best of {len(found.sizes)} rates multiplies the error by "
            f"{_smallest_ratio(found, 0.1):.3f} at epsilon = .1.",
        ),
        Verdict(
            "For epsilon >= .5 no gains are achievable.",
            "Section 4.3",
            no_gains(found, [each for each in found.epsilons if each >= 0.5]),
            f"{show_gains(found)} At .5: {show_rates(found, 0.5)}; the smallest ratio of errors is "
            f"{_smallest_ratio(found, 0.5):.2f}.",
        ),
    )


def _bounds(results: Results) -> Verdict:
    listed = ", ".join(
        f"{value:,.0f} with {name}" for name, value in results.sensitivity_by_bounds.items()
    )
    return Verdict(
        "The paper states no bounds for the lognormal population.",
        "Section 4.3",
        "not tested",
        f"At epsilon = .01 the smooth sensitivity of the population is {listed}; which rates "
        f"surely gain is {_same_signs(results)} for all of them.",
    )


def _bimodal_noise(results: Results) -> Verdict:
    noise = results.sampled["bimodal"].noise
    return Verdict(
        "In the bimodal population samples need less noise at every epsilon.",
        "Section 4.4",
        standing(
            all(
                noise[e, n].std() < noise[e, POPULATION].std()
                for e in VIOLIN_EPSILONS
                for n in VIOLIN_SIZES
            )
        ),
        _deviations(results, "bimodal"),
    )


def _bimodal_errors(found: GainMap) -> Verdict:
    return Verdict(
        "Gains for epsilon as large as 3.",
        "Section 4.4",
        exactly_up_to(found, 3.0),
        f"{show_gains(found)} At 3 the smallest ratio of errors is "
        f"{_smallest_ratio(found, 3.0):.2f}.",
    )


def _smallest_ratio(found: GainMap, epsilon: float) -> float:
    return float(found.ratios[found.epsilons.index(epsilon)].min())


def _same_signs(results: Results) -> str:
    signs = [found.gains > 0 for found in results.by_bounds.values()]
    return "the same" if all(np.array_equal(each, signs[0]) for each in signs) else "not the same"


def _artefact() -> Verdict:
    rates = (1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9)
    epsilons = np.geomspace(1e-14, 1, 2000)
    above = [bool((mean_noise_ratio_as_published(epsilons, rate) > 1).any()) for rate in rates]
    smallest = min(float(mean_noise_excess(epsilons, rate).min()) for rate in rates)
    return Verdict(
        "The noise of a sample's mean is smaller than that of the population's for epsilon below "
        "a curve.",
        "Section 4.2, Figure 5",
        standing(smallest <= 0),
        "r < 1 for every epsilon and every rate below 1, by Bernoulli's inequality; computed "
        f"without cancellation 1 - r is positive throughout (at least {smallest:.1e} here). The "
        f"printed formula exceeds 1 by rounding for {sum(above)} of {len(rates)} rates, near "
        "sqrt(2^-52/(N/n - 1)): that is the curve.",
    )


def _sensitivity_ratios(results: Results) -> Verdict:
    ratios = results.sampled["lognormal"].ratios
    found = {key: float(np.median(ratios[key])) for key in PUBLISHED_RATIOS}
    inside = all(low <= found[key] <= high for key, (low, high) in ACCEPTED_RATIOS.items())
    shown = ", ".join(f"{found[key]:.2f} (printed {PUBLISHED_RATIOS[key]:g})" for key in found)
    return Verdict(
        "The sensitivity of samples is larger than the population's, the more the smaller the "
        "sample and the larger epsilon: medians 1.28, 3.72, 4.24, 23.30.",
        "Section 4.3",
        standing(inside),
        f"{shown}; the draw of the population moves these numbers.",
    )


def _deviations(results: Results, name: str) -> str:
    noise = results.sampled[name].noise
    parts = [
        f"epsilon = {e:g}: "
        + ", ".join(f"{noise[e, n].std():.3g}" for n in (POPULATION, 1001, 101))
        for e in VIOLIN_EPSILONS
    ]
    return "Standard deviations for 10,001, 1,001 and 101 records: " + "; ".join(parts) + "."


def _noise_verdicts(results: Results) -> tuple[Verdict, ...]:
    deviation = {
        key: float(value.std()) for key, value in results.sampled["lognormal"].noise.items()
    }
    less = deviation[0.1, 1001] < deviation[0.1, POPULATION]
    return (
        Verdict(
            "At epsilon = .1 samples need much less noise, and 101 records even less than 1,001.",
            "Section 4.3",
            "holds"
            if less and deviation[0.1, 101] < 0.97 * deviation[0.1, 1001]
            else "holds in part",
            _deviations(results, "lognormal"),
        ),
        Verdict(
            "At epsilon = .5 only the larger sample needs less noise, and none at epsilon = 1.",
            "Section 4.3",
            standing(
                deviation[0.5, 1001] < deviation[0.5, POPULATION] < deviation[0.5, 101]
                and deviation[1.0, POPULATION] < deviation[1.0, 1001] < deviation[1.0, 101]
            ),
            _deviations(results, "lognormal"),
        ),
    )


def _smaller_sensitivity(results: Results) -> Verdict:
    shares = {
        key: float((ratio < 1).mean()) for key, ratio in results.sampled["bimodal"].ratios.items()
    }
    return Verdict(
        "In the bimodal population most samples have a smaller sensitivity than the population.",
        "Section 4.4",
        standing(min(shares.values()) > 0.5),
        f"{100 * min(shares.values()):.0f} % to {100 * max(shares.values()):.0f} % of the samples.",
    )


def _sample_medians(results: Results) -> Verdict:
    sampled = results.sampled["bimodal"]
    values = sampled.column.values
    middle = len(values) // 2
    gap = float(values[middle]), float(values[middle + 1])
    right = {n: float((median >= gap[1]).mean()) for n, median in sampled.medians.items()}
    shown = ", ".join(f"{100 * share:.0f} % for {n:,} records" for n, share in right.items())
    return Verdict(
        "Sample medians fall into two groups, away from the population's median.",
        "Section 4.4",
        standing(all(0.3 < share < 0.7 for share in right.values())),
        f"About half of them lie on the other side of the gap ({shown}), so "
        f"the squared error of sampling alone is about {0.5 * (gap[1] - gap[0]) ** 2:.2f}.",
    )


def _other_mechanisms(results: Results) -> Verdict:
    lognormal, bimodal = (results.exponential_errors[name] for name in ("lognormal", "bimodal"))
    at = LINE_EPSILONS.index(0.1)
    best = float(results.errors["lognormal"].errors[at].min())
    return Verdict(
        "Other algorithms, less sensitive to sparse data around the median, might be more "
        "accurate; similar gains are then unlikely.",
        "Section 4.4",
        standing(not (lognormal.gains > 0).any() and float(bimodal.ratios.min()) > 0.9),
        "The exponential mechanism on all records of the lognormal population has a mean "
        f"squared error of {lognormal.baseline[at]:.3g} at epsilon = .1, the best sample with "
        f"the paper's noise {best:.3g}. Sampling surely helps it in "
        f"{int((lognormal.gains > 0).sum())} of {lognormal.gains.size} cells there, and the "
        f"smallest ratio of errors is {bimodal.ratios.min():.2f} in the bimodal population.",
    )


def _noise_formula(results: Results) -> Verdict:
    """Judge the published noise at every guarantee in use, and beyond them."""
    used = [target(epsilon) for epsilon in LINE_EPSILONS]
    for size in results.errors["lognormal"].sizes:
        sampling = FixedSizeSampling(size=size, population=POPULATION)
        used += [base_guarantee(sampling, target(epsilon)) for epsilon in LINE_EPSILONS]
    largest = max(share_of_delta(each.epsilon, each.delta) for each in used)
    overdrawn = overdrawn_from(DELTA)
    at = LINE_EPSILONS.index(0.1)
    tight, published = results.tight_errors["lognormal"], results.errors["lognormal"]
    beyond = (
        "It is private for larger ones, too."
        if overdrawn is None
        else f"From epsilon = {overdrawn:.1f} on (delta = {DELTA:.0e}) it is not private as stated."
    )
    return Verdict(
        "The noise of the median is Laplace with scale 2S/epsilon and "
        "beta = epsilon/(2 ln(2/delta)).",
        "Section 2.2",
        agreement([largest <= 1, overdrawn is None]),
        f"It is {'' if largest <= 1 else 'not '}private for the epsilons in use, those of samples "
        f"included: the exact delta is {100 * share_of_delta(1.0, DELTA):.1f} % of the stated one "
        f"at epsilon = 1 without sampling, and {100 * largest:.0f} % at most. The largest valid "
        "beta multiplies the error of all records at epsilon = .1 by "
        f"{tight.baseline[at] / published.baseline[at]:.2f}. {beyond}",
    )


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


def table_verdicts(results: Results) -> tuple[Verdict, ...]:
    """Return what became of each row of Table 1."""
    mean, anything = results.mean_errors, results.global_errors
    lognormal, bimodal = results.errors["lognormal"], results.errors["bimodal"]
    return (
        Verdict(
            "Any statistic, global sensitivity: no gains if the sampling variance is at least "
            "2 D^2 (1/epsilon^2 - 1/epsilon_n^2).",
            "Table 1",
            "holds",
            "It follows from the sum of variances, if the sensitivity does not shrink with the "
            "sample. The median's does not: there sampling pays in "
            f"{int((anything.gains > 0).sum())} of {anything.gains.size} cells (beta population), "
            "with mean squared errors of "
            f"{anything.errors.min():.2g} and more for data in [0, 1].",
        ),
        Verdict(
            "Mean, global sensitivity: no gains.",
            "Table 1",
            no_gains(mean, mean.epsilons),
            f"A sure loss in {int((mean.gains < 0).sum())} of {mean.gains.size} cells of the beta "
            "population. With Laplace noise it follows for all data as long as delta is below the "
            "sampling rate, since noise and sampling variance both grow.",
        ),
        Verdict(
            "Median, lognormal: gains for epsilon <= .1.",
            "Table 1",
            exactly_up_to(lognormal, 0.1),
            f"{show_gains(lognormal)} At .5: {show_rates(lognormal, 0.5)}.",
        ),
        Verdict(
            "Median, mixture of beta distributions: gains for epsilon <= 3.",
            "Table 1",
            exactly_up_to(bimodal, 3.0),
            show_gains(bimodal),
        ),
    )


def gaining(found: GainMap) -> tuple[list[float], list[float]]:
    """Return the epsilons at which every rate surely gains, and those at which none does."""
    every = [e for e, row in zip(found.epsilons, found.gains, strict=True) if (row > 0).all()]
    none = [e for e, row in zip(found.epsilons, found.gains, strict=True) if not (row > 0).any()]
    return every, none


def no_gains(found: GainMap, epsilons: Sequence[float]) -> Standing:
    """Judge that nothing gains at these epsilons: a cell that is not sure refutes nothing."""
    refuted = set(epsilons) - set(gaining(found)[1])
    if not refuted:
        return "holds"
    return "does not hold" if refuted == set(epsilons) else "holds in part"


def all_gain(found: GainMap, epsilons: Sequence[float]) -> Standing:
    """Judge that every rate gains at these epsilons: only a sure loss refutes it."""
    rows = [found.gains[found.epsilons.index(epsilon)] for epsilon in epsilons]
    lost = [bool((row < 0).any()) for row in rows]
    if all(lost):
        return "does not hold"
    return "holds in part" if any(lost) else "holds"


def exactly_up_to(found: GainMap, largest: float) -> Standing:
    """Judge that every rate gains up to an epsilon, and none beyond."""
    below = [epsilon for epsilon in found.epsilons if epsilon <= largest]
    beyond = [epsilon for epsilon in found.epsilons if epsilon > largest]
    parts = {all_gain(found, below), no_gains(found, beyond)}
    if parts == {"holds"}:
        return "holds"
    return "does not hold" if all_gain(found, below) == "does not hold" else "holds in part"


def show_gains(found: GainMap) -> str:
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


def show_rates(found: GainMap, epsilon: float) -> str:
    """Return the range of rates that surely gain at an epsilon, in words."""
    row = found.gains[found.epsilons.index(epsilon)]
    rates = [
        size / found.column.size for size, gain in zip(found.sizes, row, strict=True) if gain > 0
    ]
    return f"rates {100 * min(rates):.0f} % to {100 * max(rates):.0f} %" if rates else "no rate"
