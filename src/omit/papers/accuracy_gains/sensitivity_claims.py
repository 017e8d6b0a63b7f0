"""What the accuracy-gains paper draws of answers, sensitivities and noise: Figures 1 to 12."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from omit.data.column import Column
from omit.laws.intervals import Interval, judge
from omit.laws.noise import Laplace
from omit.mechanisms.quantiles import SmoothQuantile
from omit.omissions.sampling import sampling_base_epsilon
from omit.papers.accuracy_gains import cells
from omit.papers.accuracy_gains.cells import (
    BIMODAL,
    LOGNORMAL,
    POPULATION,
    VIOLIN_EPSILONS,
    VIOLIN_SIZES,
)
from omit.papers.base import Computed
from omit.papers.claims import (
    Claim,
    Finding,
    agreement,
    claim,
    claims_in,
    under_every_reading,
)

_of_figure_2 = partial(claim, "Figure 2", "figure-02")
_of_figure_6 = partial(claim, "Figure 6", "figure-06")
_of_figure_7 = partial(claim, "Figure 7", "figure-07")


@claim("Figure 1", "figure-01", "Private means concentrate around the true mean as ε grows.")
def _private_means(computed: Computed) -> Finding:
    deviations = [
        math.sqrt(Laplace(1 / (POPULATION * epsilon)).variance) for epsilon in VIOLIN_EPSILONS
    ]
    shown = ", ".join(f"{deviation:.2g}" for deviation in deviations)
    return Finding(
        agreement(np.all(np.diff(deviations) < 0)),
        f"Standard deviations of {shown} at ε = .1, .5, 1, exactly.",
    )


_DRAWS = 1_000
"""How often the paper draws what it shows as a distribution."""


@_of_figure_2(
    "By global sensitivity the median is useless at ε = .1: it ranges from about −50 to 100 for "
    "data in [0, 1]."
)
def _global_medians(computed: Computed) -> Finding:
    scale = Laplace(1 / 0.1).scale
    low, high = (
        scale * math.log(0.5 / -math.expm1(math.log(share) / _DRAWS)) for share in (0.005, 0.995)
    )
    return Finding(
        agreement(low <= 50 <= high, low <= 100 <= high, scale > 1),
        f"The noise has the scale {scale:g}; the largest of {_DRAWS:,} draws is between {low:.0f} "
        f"and {high:.0f} in 99 of 100 cases, and the smallest as far below 0.",
    )


@_of_figure_2("By smooth sensitivity almost all answers at ε = .1 are within the data's support.")
def _smooth_medians(computed: Computed) -> Finding:
    column = cells.MEAN.read()
    prepared: Any = SmoothQuantile().prepare(column, cells.target(0.1))
    centers, scales = prepared.centers_and_scales(column.counts[None, :])
    noise = Laplace(float(scales[0]))
    inside = float(noise.cdf(1 - centers[0]) - noise.cdf(-centers[0]))
    return Finding(
        agreement(inside > 0.9), f"With probability {inside:.4f} they are, exactly ({noise})."
    )


@_of_figure_2("Smooth sensitivity reduces the variability of private medians strikingly.")
def _smooth_is_far_smaller(computed: Computed) -> Finding:
    column = cells.MEAN.read()
    ratios = []
    for epsilon in VIOLIN_EPSILONS:
        prepared: Any = SmoothQuantile().prepare(column, cells.target(epsilon))
        _, scales = prepared.centers_and_scales(column.counts[None, :])
        ratios.append(Laplace(1 / epsilon).scale / float(scales[0]))
    shown = ", ".join(f"{ratio:,.0f}" for ratio in ratios)
    return Finding(
        agreement(min(ratios) >= 10),
        f"The standard deviation by global sensitivity is {shown} times that by smooth sensitivity "
        "at ε = .1, .5, 1, exactly, at the price of δ.",
    )


@_of_figure_6("The increase of the sensitivity is small next to that of means, by 10 and 100.")
def _smaller_than_for_means(computed: Computed) -> Finding:
    ratios = cells.sampled(computed, LOGNORMAL.data, "ratio")
    medians = {key: float(np.median(values)) for key, values in ratios.items()}
    grows = {size: POPULATION / size for size in VIOLIN_SIZES}
    shown = ", ".join(
        f"{medians[epsilon, size]:.3g} at ε = {epsilon:g} and n = {size:,}"
        for epsilon, size in sorted(medians)
    )
    return Finding(
        agreement(*(medians[key] < grows[key[1]] for key in medians)),
        f"The medians of the ratios are {shown}.",
    )


@claim("Section 4.3", (), "For data of one size smooth sensitivity falls with ε.")
def _smooth_sensitivity_falls(_: object) -> Finding:
    """Go through random columns at a ladder of ε, at the paper's δ."""
    rng = np.random.default_rng(17)
    rises, steps = 0, 0
    for size in (11, 101, 1_001):
        for shape in (0.3, 1.0, 3.0):
            values = np.sort(rng.gamma(shape, size=size)) * 10
            column = Column.from_values(values, bounds=(0.0, 1000.0))
            found = []
            for epsilon in np.geomspace(0.01, 10, 25):
                prepared: Any = SmoothQuantile().prepare(column, cells.target(float(epsilon)))
                _, scales = prepared.centers_and_scales(column.counts[None, :])
                found.append(float(scales[0]) * epsilon)
            rises += int((np.diff(found) > 1e-9 * np.array(found[1:])).sum())
            steps += len(found) - 1
    return Finding(
        agreement(rises == 0),
        f"For nine random columns of 11, 101 and 1,001 records it rises in {rises} of {steps} "
        "steps from one ε to the next: the weights of all distances fall.",
    )


def _ratios_of_the_seed(computed: Computed) -> Finding:
    ratios = cells.sampled(computed, LOGNORMAL.data, "ratio")
    medians, parts = {}, []
    for key, printed in cells.PUBLISHED_RATIOS.items():
        ordered = np.sort(ratios[key])
        medians[key] = float(np.median(ordered))
        # The interval of a median by its order statistics; the printed one has such an interval.
        reach = math.ceil(0.98 * math.sqrt(len(ordered)))
        low, high = (
            ordered[np.clip(len(ordered) // 2 + sign * reach, 0, len(ordered) - 1)]
            for sign in (-1, 1)
        )
        parts.append(abs(medians[key] - printed) <= math.sqrt(0.5) * (high - low))
    return Finding(
        agreement(*parts),
        f"{_next_to_print(medians)}; {sum(parts)} of {len(parts)} are equal up to the luck of both "
        "draws of samples.",
        _off_the_print(medians),
    )


def _ratios_of_any_draw(computed: Computed) -> Finding:
    ratios = cells.other_ratios(computed)
    parts, shown = [], []
    for key, printed in cells.PUBLISHED_RATIOS.items():
        low, high = float(ratios[key].min()), float(ratios[key].max())
        parts.append(low <= printed <= high)
        shown.append(f"{low:.2f} to {high:.2f} (printed {printed:g})")
    middle = {key: float(np.median(values)) for key, values in ratios.items()}
    return Finding(
        agreement(*parts),
        f"Over {len(cells.OTHER_SEEDS)} draws of the population: {', '.join(shown)}.",
        _off_the_print(middle),
    )


def _next_to_print(medians: dict[tuple[float, int], float]) -> str:
    return ", ".join(
        f"{medians[key]:.2f} (printed {printed:g})"
        for key, printed in cells.PUBLISHED_RATIOS.items()
    )


def _off_the_print(medians: dict[tuple[float, int], float]) -> float:
    off = [abs(medians[key] / printed - 1) for key, printed in cells.PUBLISHED_RATIOS.items()]
    return float(np.mean(off))


RATIOS = Claim(
    "Section 4.3, Figure 6",
    "Medians of the ratio of a sample's sensitivity to the population's: 1.28, 3.72, 4.24, 23.30.",
    ("figure-06",),
    under_every_reading(
        {
            "the population of R's set.seed(123)": _ratios_of_the_seed,
            "any draw of the population": _ratios_of_any_draw,
        }
    ),
    name="ratios-of-sensitivities",
)


@_of_figure_6(
    "Samples have the larger sensitivity, the more the smaller they are and the larger ε."
)
def _larger_sensitivity(computed: Computed) -> Finding:
    ratios = cells.sampled(computed, LOGNORMAL.data, "ratio")
    medians = np.array(
        [[np.median(ratios[e, size]) for size in VIOLIN_SIZES] for e in VIOLIN_EPSILONS]
    )
    shown = "; ".join(
        f"ε = {e:g}: " + ", ".join(f"{value:.2f}" for value in row)
        for e, row in zip(VIOLIN_EPSILONS, medians, strict=True)
    )
    return Finding(
        agreement(
            (medians > 1).all(),
            (np.diff(medians, axis=1) > 0).all(),
            (np.diff(medians, axis=0) > 0).all(),
        ),
        f"Median ratios for 1,001 and 101 records: {shown}.",
    )


@claim(
    "Section 4.3",
    (),
    "From ε = .1 to 1 the ε_n of 101 records changes from 2.43 to 5.14 only.",
)
def _changes_less(computed: Computed) -> Finding:
    low, high = (float(sampling_base_epsilon(e, 101 / POPULATION)) for e in (0.1, 1.0))
    return Finding(
        agreement(f"{low:.2f}" == "2.43", f"{high:.2f}" == "5.14"), f"{low:.5f} and {high:.5f}."
    )


@claim(
    "Section 4.3",
    (),
    "The global sensitivity of the mean grows by factors of 10 and 100 for these samples.",
)
def _of_means(computed: Computed) -> Finding:
    factors = [POPULATION / size for size in VIOLIN_SIZES]
    return Finding(
        agreement(*(round(f) == g for f, g in zip(factors, (10, 99), strict=True))),
        f"{factors[0]:.2f} and {factors[1]:.2f}.",
    )


def compared(
    pairs: list[tuple[Interval, Interval]], variances: dict[tuple[float, int], Interval]
) -> Finding:
    """Return whether the first of every pair of variances is surely smaller."""
    parts = [judge(first, second) for first, second in pairs]
    shown = "; ".join(
        f"ε = {e:g}: "
        + ", ".join(f"{math.sqrt(variances[e, n].value):.4g}" for n in (POPULATION, *VIOLIN_SIZES))
        for e in VIOLIN_EPSILONS
    )
    evidence = (
        "Standard deviations for 10,001, 1,001 and 101 records, with the noise integrated: "
        f"{shown}."
    )
    if "undecided" in parts and "worse" not in parts:
        return Finding("not tested", f"{evidence} Too few samples to decide.")
    return Finding(agreement(*(part == "better" for part in parts)), evidence)


@_of_figure_7("At ε = .1 samples need much less noise, and 101 records even less than 1,001.")
def _much_less_noise(computed: Computed) -> Finding:
    variances = cells.noise_variances(computed, LOGNORMAL.data)
    of_all, larger, smaller = (variances[0.1, n] for n in (POPULATION, *VIOLIN_SIZES))
    return compared([(larger, of_all), (smaller, larger)], variances)


@_of_figure_7("At ε = .5 only 1,001 records need less noise; else fewer records always need more.")
def _less_noise_for_some(computed: Computed) -> Finding:
    variances = cells.noise_variances(computed, LOGNORMAL.data)
    half, one = (
        [variances[epsilon, n] for n in (POPULATION, *VIOLIN_SIZES)] for epsilon in (0.5, 1.0)
    )
    pairs = [(half[1], half[0]), (half[0], half[2]), (one[0], one[1]), (one[1], one[2])]
    return compared(pairs, variances)


@_of_figure_7("The variance of the noise falls with ε in all settings.")
def _falls_with_epsilon(computed: Computed) -> Finding:
    variances = cells.noise_variances(computed, LOGNORMAL.data)
    rows = [[variances[e, n] for e in VIOLIN_EPSILONS] for n in (POPULATION, *VIOLIN_SIZES)]
    pairs = [(row[i + 1], row[i]) for row in rows for i in (0, 1)]
    return compared(pairs, variances)


@claim(
    "Figure 9",
    "figure-09",
    "The median is .21, the largest value of the first of two groups that do not overlap.",
)
def _gap_at_the_median(computed: Computed) -> Finding:
    values = BIMODAL.read().values
    middle = len(values) // 2
    median, above = float(values[middle]), float(values[middle + 1])
    gap = above - median
    widest = float(np.diff(values).max())
    return Finding(
        agreement(f"{median:.2f}" == "0.21", gap == widest),
        f"It is {median:.4f}; the next value is {above:.4f}, and no other gap is wider than "
        f"{np.sort(np.diff(values))[-2]:.4f}.",
    )


@claim(
    "Figure 10",
    "figure-10",
    "In the bimodal population most samples have a smaller sensitivity than the population.",
)
def _smaller_sensitivity(computed: Computed) -> Finding:
    ratios = cells.sampled(computed, BIMODAL.data, "ratio")
    shares = [float((ratio < 1).mean()) for ratio in ratios.values()]
    return Finding(
        agreement(min(shares) > 0.5),
        f"{100 * min(shares):.0f} % to {100 * max(shares):.0f} % of the samples.",
    )


@claim(
    "Figure 11",
    "figure-11",
    "Sample medians fall into two groups, away from the population's median.",
)
def _sample_medians(computed: Computed) -> Finding:
    values = BIMODAL.read().values
    below, above = (float(values[len(values) // 2 + step]) for step in (0, 1))
    medians = cells.sampled(computed, BIMODAL.data, "median")
    right = {n: (medians[VIOLIN_EPSILONS[0], n] >= above).mean() for n in VIOLIN_SIZES}
    shown = ", ".join(f"{100 * share:.0f} % for {n:,} records" for n, share in right.items())
    return Finding(
        agreement(all(0.3 < share < 0.7 for share in right.values())),
        f"About half of them lie on the other side of the gap ({shown}), so "
        f"the squared error of sampling alone is about {0.5 * (above - below) ** 2:.2f}.",
    )


@claim("Figure 12", "figure-12", "In the bimodal population samples need less noise at every ε.")
def _bimodal_noise(computed: Computed) -> Finding:
    variances = cells.noise_variances(computed, BIMODAL.data)
    pairs = [
        (variances[e, n], variances[e, POPULATION]) for e in VIOLIN_EPSILONS for n in VIOLIN_SIZES
    ]
    return compared(pairs, variances)


CLAIMS = claims_in(globals())
