"""What the accuracy-gains paper defines and proves: Sections 2 and 3."""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from omit.guarantee import NoGuarantee
from omit.laws.noise import Laplace
from omit.mechanisms.sensitivity import smooth_laplace_delta
from omit.omissions.sampling import FixedSizeSampling, sampling_base_epsilon, sampling_epsilon
from omit.papers.accuracy_gains import cells
from omit.papers.accuracy_gains.theorems import (
    THEOREMS,
    delta_by_half_lines,
    local_sensitivities,
    loss_of_a_population_scale,
    reductions,
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


def _theorem(where: str, sentence: str, judge: Judge, name: str = "") -> Claim:
    return Claim(where, sentence, ("theorems",), judge, name=name)


def _any_mechanism(computed: Computed, *, both_ways: bool) -> Finding:
    few, many = (
        max(0.0, delta_by_half_lines(0.1, count, both_ways=both_ways)) for count in (3, 51)
    )
    return Finding(
        agreement(max(few, many) < 1e-9),
        f"Half-lines within ε = 0.1 leave DP with δ of up to {few:.3g} for three answers and "
        f"{many:.4g} for 51, by linear programs.",
    )


def _by_half_lines(computed: Computed) -> Finding:
    return _any_mechanism(computed, both_ways=False)


def _by_both_half_lines(computed: Computed) -> Finding:
    return _any_mechanism(computed, both_ways=True)


def _laplace_by_half_lines(computed: Computed) -> Finding:
    noise, at = Laplace(1.0), np.linspace(-5, 5, 101)
    half_line = float(np.log(noise.cdf(at) / noise.cdf(at - 0.1)).max())
    excess = float(noise.delta(half_line * (1 + 1e-9), 0.1))
    return Finding(
        agreement(excess == 0),
        f"Moved by a tenth of its scale, half-lines have the loss {half_line:.6g}, at which DP "
        f"needs δ = {excess:g}.",
    )


DEFINITION_2 = Claim(
    "Definition 2",
    "ε-DP, rephrased: distribution functions differ by a factor of at most e^ε.",
    (),
    under_every_reading(
        {
            "any mechanism": _by_half_lines,
            "any mechanism, half-lines from both sides": _by_both_half_lines,
            "Laplace noise": _laplace_by_half_lines,
        }
    ),
)


def _smooth_by_half_lines(computed: Computed) -> Finding:
    largest = 0.0
    for epsilon in cells.LINE_EPSILONS:
        beta = epsilon / (2 * math.log(2 / cells.DELTA))
        delta = smooth_laplace_delta(epsilon, epsilon / 2, beta)
        # The half of the sum of both tails that lies on one side.
        width = 1 / math.expm1(beta)
        one_side = -0.5 * math.expm1(-beta) * math.exp((epsilon / 2 - epsilon - beta) * width)
        largest = max(largest, delta / one_side - 1)
    return Finding(
        agreement(largest < 1e-6),
        "The δ of half-lines is that of all sets but for a factor of at most "
        f"1 + {largest:.1e} at the paper's ε and δ.",
    )


DEFINITION_3 = Claim(
    "Definition 3",
    "(ε, δ)-DP, rephrased: distribution functions differ by a factor of at most e^ε, plus δ.",
    (),
    under_every_reading(
        {
            "any mechanism": _by_half_lines,
            "Laplace noise by smooth sensitivity": _smooth_by_half_lines,
        }
    ),
)


@claim("Definitions 1 and 6", (), "Laplace noise of scale Δ/ε is ε-DP; its variance is 2(Δ/ε)².")
def _laplace_mechanism(computed: Computed) -> Finding:
    parts, shown = [], []
    for epsilon in cells.LINE_EPSILONS:
        noise = Laplace(1 / epsilon)
        enough, less = (float(noise.delta(factor * epsilon, 1.0)) for factor in (1 + 1e-12, 0.99))
        parts.append(enough == 0 and less > 0 and math.isclose(noise.variance, 2 / epsilon**2))
        shown.append(f"{less:.2g}")
    return Finding(
        agreement(*parts), f"δ = 0 at ε, and {', '.join(shown)} at a hundredth less, for six ε."
    )


DEFINITION_4 = _theorem(
    "Definition 4",
    "The global sensitivity is R/N for the mean and R for the median of an odd number.",
    THEOREMS.judge("global-sensitivities"),
)
DEFINITION_5 = _theorem(
    "Definition 5",
    "The local sensitivity of the mean is that of its farthest record, of the median the larger "
    "gap beside it.",
    THEOREMS.judge("local-sensitivities"),
)


@claim("Section 2.2", (), "Noise in proportion to the local sensitivity is not private.")
def _local_noise_leaks(computed: Computed) -> Finding:
    local = local_sensitivities(median, 3)
    return Finding(
        agreement(local[0, 0, 0] == 0 < local[0, 0, 1]),
        f"The median of 0, 0, 0 gets no noise, that of its neighbour 0, 0, 1 noise for a "
        f"sensitivity of {local[0, 0, 1]:g}: δ = 1.",
    )


def _at_least_as_much(computed: Computed) -> Finding:
    pairs = np.array(list(reductions()))
    return Finding(
        agreement((pairs[:, 1] <= pairs[:, 0] + 1e-12).all()),
        f"Of {len(pairs)} small databases, in none is the median's share the larger one.",
    )


def _strictly_more(computed: Computed) -> Finding:
    pairs = np.array(list(reductions()))
    equal = int(np.isclose(pairs[:, 0], pairs[:, 1]).sum())
    return Finding(
        agreement(equal == 0),
        f"In {equal} of {len(pairs)} small databases both shares are equal, as where the gap "
        "beside the median has the whole range.",
    )


MORE_FOR_MEDIANS = Claim(
    "Section 2.2",
    "From the global to the local sensitivity the median always gains more than the mean.",
    (),
    under_every_reading({"at least as much": _at_least_as_much, "strictly": _strictly_more}),
    name="more-for-medians",
)
EQUATION_4 = _theorem(
    "Section 2.2, Equation 4",
    "The smooth sensitivity of the median of an odd number.",
    THEOREMS.judge("equation-4"),
)


def _at_the_samples_size(computed: Computed) -> Finding | None:
    return THEOREMS.judge("theorem-1", "theorem-1-is-attained")(computed)


def _at_the_populations_size(computed: Computed) -> Finding:
    population, size, epsilon = 100, 10, 1.0
    stated = float(sampling_epsilon(epsilon, size / population))
    true = loss_of_a_population_scale(population, size, epsilon)
    return Finding(
        agreement(true <= stated * (1 + 1e-9)),
        f"A mean of {size} of {population} records in [0, 1], with the noise that is 1-DP for the "
        f"mean of all, has the exact loss {true:.6f}, and not {stated:.6f}.",
    )


THEOREM_1 = _theorem(
    "Theorem 1",
    "What is (ε, δ)-DP for the population is (ln(1 + n/N (e^ε − 1)), δ n/N)-DP on a sample.",
    under_every_reading(
        {
            "DP on databases of the sample's size": _at_the_samples_size,
            "Definition 3 on databases of the sample's size": THEOREMS.judge(
                "theorem-1-for-half-lines"
            ),
            "noise for the population's own size, as printed": _at_the_populations_size,
        }
    ),
)


@claim(
    "Section 3", (), "Noise for ln(1 + N/n (e^ε − 1)) and δ N/n on a sample suffices for (ε, δ)."
)
def _suffices(computed: Computed) -> Finding:
    rates = np.array([size / cells.POPULATION for size in cells.VIOLIN_SIZES])
    off = 0.0
    for epsilon in cells.LINE_EPSILONS:
        back = sampling_epsilon(sampling_base_epsilon(epsilon, rates), rates)
        off = max(off, float(np.abs(back / epsilon - 1).max()))
    return Finding(
        agreement(off < 1e-12),
        f"It is the inverse of Theorem 1: for six ε and two sizes, off by {off:.0e} at most.",
    )


def _in_proportion(epsilon: float) -> Judge:
    """Return the judge of whether r ε is within a tenth of the guarantee, at all rates."""

    def judge(computed: Computed) -> Finding:
        rates = np.geomspace(1e-6, 1, 200)
        ratios = np.asarray(sampling_epsilon(epsilon, rates)) / (rates * epsilon)
        return Finding(
            agreement(np.abs(ratios - 1).max() <= 0.1),
            f"At rates from a millionth to 1 it is {ratios.min():.3f} to {ratios.max():.3f} times "
            "that.",
        )

    return judge


IN_PROPORTION = Claim(
    "Abstract",
    "A sample at the rate r has about the guarantee r ε.",
    (),
    under_every_reading(
        {f"ε = {epsilon:g}": _in_proportion(epsilon) for epsilon in (0.1, 0.5, 1.0)}
    ),
    name="guarantee-in-proportion",
)


def _printed_delta(printed: float) -> Judge:
    def judge(computed: Computed) -> Finding:
        delta = 1 / (2 * cells.POPULATION)
        return Finding(
            agreement(math.isclose(delta, printed, rel_tol=1e-5)),
            f"1/(2N) is {delta:.8g} for N = {cells.POPULATION:,}; printed is {printed:g}.",
        )

    return judge


DELTA = Claim(
    "Sections 2.4 and 4.3",
    "δ = 1/(2N) is 4.9995e-5.",
    (),
    under_every_reading(
        {
            "the number in the text": _printed_delta(4.9995e-5),
            "the number in the caption of Figure 2": _printed_delta(4.9995e5),
        }
    ),
    name="delta-of-the-experiments",
)


@claim("Section 3", (), "The amplification of δ is linear in the sampling rate.")
def _delta_is_linear(_: object) -> Finding:
    sizes, used = range(100, cells.POPULATION, 100), cells.target(1.0)
    released = [FixedSizeSampling(size=n, population=cells.POPULATION).amplify(used) for n in sizes]
    deltas = np.array([one.delta for one in released if not isinstance(one, NoGuarantee)])
    off = float(np.abs(deltas * cells.POPULATION / (np.array(sizes) * used.delta) - 1).max())
    return Finding(
        agreement(off < 1e-12), f"For {len(sizes)} sizes n, δ_n N/(n δ) is 1, up to {off:.0e}."
    )


@claim("Section 3", "figure-03", "A 1 % sample may use ε_n = 5.15 to reach ε = 1.")
def _amplification(computed: Computed) -> Finding:
    epsilon = float(sampling_base_epsilon(1.0, 0.01))
    return Finding(agreement(round(epsilon, 2) == 5.15), f"{epsilon:.11f}.")


CLAIMS = claims_in(globals())
