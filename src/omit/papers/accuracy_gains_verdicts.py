"""What the accuracy-gains paper says, and whether it holds: each finding from the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omit.papers.accuracy_gains import (
    ACCEPTED_RATIOS,
    LINE_EPSILONS,
    POPULATION,
    PUBLISHED_RATIOS,
    VIOLIN_EPSILONS,
)
from omit.papers.accuracy_gains_runs import Results
from omit.papers.verdict import Standing, Verdict
from omit.utility.gain_curves import (
    mean_noise_excess,
    mean_noise_ratio_as_published,
    rate_of_saving,
    sample_epsilon,
)
from omit.utility.gain_map import GainMap


def _holds(condition: bool) -> Standing:
    return "holds" if condition else "does not hold"


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


def figure_verdicts(results: Results) -> dict[str, tuple[Verdict, ...]]:
    """Return the verdicts by the name of the figure they belong to."""
    lognormal, bimodal = results.errors["lognormal"], results.errors["bimodal"]
    smooth = results.smooth_medians[0.1]
    inside = float(((smooth >= 0) & (smooth <= 1)).mean())
    spread = results.global_medians[0.1]
    deviations = [float(results.private_means[e].std()) for e in VIOLIN_EPSILONS]
    return {
        "figure-01": (
            Verdict(
                "Private means concentrate around the true mean as epsilon grows.",
                "Section 2.4",
                _holds(bool(np.all(np.diff(deviations) < 0))),
                "Standard deviations of "
                + ", ".join(f"{each:.2g}" for each in deviations)
                + " at epsilon = .1, .5, 1.",
            ),
        ),
        "figure-02": (
            Verdict(
                "By global sensitivity the median is useless at epsilon = .1: it ranges from about "
                "-50 to 100 for data in [0, 1].",
                "Section 2.4",
                _holds(float(np.ptp(spread)) > 50),
                f"It ranges from {spread.min():.0f} to {spread.max():.0f}.",
            ),
            Verdict(
                "By smooth sensitivity almost all answers at epsilon = .1 are within the data's "
                "support.",
                "Section 2.4",
                _holds(inside > 0.9),
                f"{100 * inside:.1f} % are within [0, 1].",
            ),
        ),
        "figure-03": (
            Verdict(
                "A 1 % sample may use epsilon_n = 5.15 to reach epsilon = 1.",
                "Section 3",
                _holds(round(float(sample_epsilon(1.0, 0.01)), 2) == 5.15),
                f"{float(sample_epsilon(1.0, 0.01)):.11f}.",
            ),
        ),
        "figure-04": (
            Verdict(
                "A sampling variance of 60 % needs a rate below 16.77 % at epsilon = 3 and below "
                "61.4 % at epsilon = .1.",
                "Section 4.1",
                _holds(
                    round(100 * rate_of_saving(0.6, 3.0), 2) == 16.77
                    and round(100 * rate_of_saving(0.6, 0.1), 1) == 61.4
                ),
                f"{100 * rate_of_saving(0.6, 3.0):.7f} % and "
                f"{100 * rate_of_saving(0.6, 0.1):.7f} %.",
            ),
        ),
        "figure-05": (_artefact(),),
        "figure-06": (_sensitivity_ratios(results),),
        "figure-07": _noise_verdicts(results),
        "figure-08": (
            Verdict(
                "For epsilon <= .1, every sample is more accurate than all records.",
                "Section 4.3",
                all_gain(lognormal, (0.01, 0.1)),
                f"{show_gains(lognormal)} The best of {len(lognormal.sizes)} rates multiplies the "
                f"error by {lognormal.ratios[lognormal.epsilons.index(0.1)].min():.3f} at "
                "epsilon = .1.",
            ),
            Verdict(
                "For epsilon >= .5 no gains are achievable.",
                "Section 4.3",
                no_gains(lognormal, [each for each in lognormal.epsilons if each >= 0.5]),
                f"{show_gains(lognormal)} At .5: {show_rates(lognormal, 0.5)}; the smallest ratio "
                f"of errors is {lognormal.ratios[lognormal.epsilons.index(0.5)].min():.2f}.",
            ),
        ),
        "figure-08-bounds": (
            Verdict(
                "The paper states no bounds for the lognormal population.",
                "Section 4.3",
                "not tested",
                "At epsilon = .01 the smooth sensitivity of the population is "
                + ", ".join(
                    f"{value:,.0f} with {name}"
                    for name, value in results.sensitivity_by_bounds.items()
                )
                + f"; which rates surely gain is {_same_signs(results)} for all of them.",
            ),
        ),
        "figure-10": (_smaller_sensitivity(results),),
        "figure-11": (_sample_medians(results),),
        "figure-12": (
            Verdict(
                "In the bimodal population samples need less noise at every epsilon.",
                "Section 4.4",
                _holds(
                    all(
                        results.sampled["bimodal"].noise[e, n].std()
                        < results.sampled["bimodal"].noise[e, POPULATION].std()
                        for e in VIOLIN_EPSILONS
                        for n in (1001, 101)
                    )
                ),
                _deviations(results, "bimodal"),
            ),
        ),
        "figure-13": (
            Verdict(
                "Gains for epsilon as large as 3.",
                "Section 4.4",
                exactly_up_to(bimodal, 3.0),
                f"{show_gains(bimodal)} At 3 the smallest ratio of errors is "
                f"{bimodal.ratios[bimodal.epsilons.index(3.0)].min():.2f}.",
            ),
        ),
        "figure-14": _other_mechanisms(results),
    }


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
        _holds(smallest <= 0),
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
        _holds(inside),
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
            _holds(
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
        _holds(min(shares.values()) > 0.5),
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
        _holds(all(0.3 < share < 0.7 for share in right.values())),
        f"About half of them lie on the other side of the gap ({shown}), so "
        f"the squared error of sampling alone is about {0.5 * (gap[1] - gap[0]) ** 2:.2f}.",
    )


def _other_mechanisms(results: Results) -> tuple[Verdict, ...]:
    lognormal, bimodal = (results.exponential_errors[name] for name in ("lognormal", "bimodal"))
    best = float(results.errors["lognormal"].errors[1].min())
    at = LINE_EPSILONS.index(0.1)
    tight = float(results.tight_errors["lognormal"].baseline[at])
    published = float(results.errors["lognormal"].baseline[at])
    return (
        Verdict(
            "Other algorithms, less sensitive to sparse data around the median, might be more "
            "accurate; similar gains are then unlikely.",
            "Section 4.4",
            _holds(not (lognormal.gains > 0).any() and float(bimodal.ratios.min()) > 0.9),
            "The exponential mechanism on all records of the lognormal population has a mean "
            f"squared error of {lognormal.baseline[at]:.3g} at epsilon = .1, the best sample with "
            f"the paper's noise {best:.3g}. Sampling surely helps it in "
            f"{int((lognormal.gains > 0).sum())} of {lognormal.gains.size} cells there, and the "
            f"smallest ratio of errors is {bimodal.ratios.min():.2f} in the bimodal population.",
        ),
        Verdict(
            "The noise of the median is Laplace with scale 2S/epsilon and "
            "beta = epsilon/(2 ln(2/delta)).",
            "Section 2.2",
            "holds in part",
            "It is private for the epsilons in use, with 99 % of delta and more left over below "
            "epsilon = 1; the largest valid beta multiplies the error of all records at "
            f"epsilon = .1 by {tight / published:.2f}. From epsilon = 12.9 on (delta = 5e-5) it is "
            "not private as stated.",
        ),
    )


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
