"""What the accuracy-gains paper says of noise, whatever the data are: Sections 4.1 and 4.2."""

from __future__ import annotations

import math

import numpy as np

from omit._numeric import FloatArray
from omit.laws.noise import Laplace
from omit.omissions.sampling import sampling_base_epsilon
from omit.papers.accuracy_gains import cells, noise_curves
from omit.papers.accuracy_gains.noise_curves import mean_noise_excess, noise_saving
from omit.papers.accuracy_gains.theorems import (
    THEOREMS,
    median_of_two,
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

_RATES = np.linspace(0.05, 0.95, 19)


@claim(
    "Section 4.1",
    "figure-04",
    "A sampling variance of 60 % needs a rate below 16.77 % at ε = 3 and below 61.4 % at ε = .1.",
)
def _saving(computed: Computed) -> Finding:
    large, small = (100 * noise_curves.rate_of_saving(0.6, epsilon) for epsilon in (3.0, 0.1))
    return Finding(
        agreement(round(large, 2) == 16.77 and round(small, 1) == 61.4),
        f"{large:.7f} % and {small:.7f} %.",
    )


@claim(
    "Figure 4",
    "figure-04",
    "With falling rates q rises less than linearly for ε > 1, and more than linearly for ε < 1.",
)
def _curved(computed: Computed) -> Finding:
    above = {e: noise_saving(e, _RATES) - (1 - _RATES) for e in cells.SAVING_EPSILONS}
    large = [bool((rest < 0).all()) for epsilon, rest in above.items() if epsilon > 1]
    small = [bool((rest > 0).all()) for epsilon, rest in above.items() if epsilon < 1]
    shown = ", ".join(f"{rest[9]:+.3f} at ε = {epsilon:g}" for epsilon, rest in above.items())
    return Finding(
        agreement(*large, *small),
        f"Against a straight line, at rates from 5 to 95 %; half of the records: {shown}.",
    )


@claim("Section 4.1", (), "V_N at ε = .1 is 900 times V_N at ε = 3.")
def _nine_hundred_times(computed: Computed) -> Finding:
    ratio = Laplace(1 / 0.1).variance / Laplace(1 / 3.0).variance
    return Finding(agreement(math.isclose(ratio, 900)), f"{ratio:.6g} times.")


@claim(
    "Section 4.1",
    "figure-04",
    "Below ε = .1 the curve hardly changes, and is almost the same for .01 and .001.",
)
def _hardly_changes(computed: Computed) -> Finding:
    rates = np.linspace(0.001, 1, 1000)
    from_tenth, from_hundredth = (
        float(np.abs(noise_saving(e, rates) - noise_saving(0.001, rates)).max())
        for e in (0.1, 0.01)
    )
    return Finding(
        agreement(from_tenth < 0.05, from_hundredth < 0.005),
        f"From ε = .1 to .001 q moves by {from_tenth:.4f} at most, from .01 by "
        f"{from_hundredth:.4f}.",
    )


def _in_the_limit(computed: Computed) -> Finding:
    epsilons = np.array([1e-3, 1e-4, 1e-5])
    off = np.array([abs(float(noise_saving(e, 0.5)) - 0.75) for e in epsilons])
    return Finding(
        agreement(np.all(np.diff(off) < 0) and np.allclose(off / epsilons, 0.25, rtol=0.01)),
        f"At a rate of one half it is off by {', '.join(f'{value:.2g}' for value in off)} at "
        "ε = .001, .0001 and .00001: in proportion to ε.",
    )


def _at_a_hundredth(computed: Computed) -> Finding:
    rates = np.linspace(0.001, 1, 1000)
    off = np.abs(noise_saving(0.01, rates) - (1 - rates**2))
    return Finding(
        agreement(off.max() < 0.005), f"For all rates it is off by at most {off.max():.4f}."
    )


def _at_a_tenth(computed: Computed) -> Finding:
    rates = np.linspace(0.001, 1, 1000)
    off = np.abs(noise_saving(0.1, rates) - (1 - rates**2))
    return Finding(
        agreement(off.max() < 0.005), f"For all rates it is off by at most {off.max():.4f}."
    )


APPROXIMATION = Claim(
    "Section 4.1",
    "For small ε, q is about 1 − (n/N)².",
    (),
    under_every_reading(
        {
            "the limit for ε → 0": _in_the_limit,
            "two decimals at ε = .01": _at_a_hundredth,
            "two decimals at ε = .1": _at_a_tenth,
        }
    ),
    name="approximation-of-q",
)


def _if_it_does_not_shrink(computed: Computed) -> Finding:
    rng = np.random.default_rng(0)
    cases, gains = 2_000, 0
    for epsilon, rate, growth, beyond in zip(
        rng.uniform(0.01, 5, cases),
        rng.uniform(0.01, 1, cases),
        rng.uniform(1, 10, cases),
        rng.uniform(1, 3, cases),
        strict=True,
    ):
        variance = beyond * noise_curves.largest_useful_variance(1.0, epsilon, rate)
        on_sample = float(sampling_base_epsilon(epsilon, rate))
        total = variance + 2 * (growth / on_sample) ** 2
        gains += total < 2 / epsilon**2 * (1 - 1e-9)
    return Finding(agreement(gains == 0), f"{gains} gains in {cases:,} random cases.")


def _any_statistic(computed: Computed) -> Finding:
    limit, variance, gain = median_of_two(0.2, epsilon=10.0)
    return Finding(
        agreement(not (variance > limit and gain > 0)),
        "The median of two of the records .3, .5, .7 in [0, 1] has half the global sensitivity of "
        f"that of three: at ε = 10 the sampling variance is {variance:.4f}, more than "
        f"{limit:.4f}, and the sample has a variance that is smaller by {gain:.4f}.",
    )


NO_GAINS = Claim(
    "Section 4.1, Table 1",
    "No gains if the sampling variance is at least 2Δ²(1/ε² − 1/ε_n²), for any statistic.",
    (),
    under_every_reading(
        {
            "a sensitivity that does not shrink with the sample": _if_it_does_not_shrink,
            "any statistic, medians of even numbers included": _any_statistic,
        }
    ),
    name="no-gains-from-a-variance-on",
)


@claim(
    "Section 4.1",
    (),
    "The bound on the sampling variance is tighter if the sensitivity depends on the size.",
)
def _tighter_if_it_grows(_: object) -> Finding:
    """Let the sensitivity of a sample be that of all records times some power of N/n."""
    powers = np.array([0, 0.25, 0.5, 1])[:, None]
    shares = [1 - _RATES ** (-2 * powers) * (1 - noise_saving(e, _RATES)) for e in (0.1, 1.0, 3.0)]
    half = ", ".join(f"{share:+.3f}" for share in shares[0][:, 9])
    return Finding(
        agreement(*((np.diff(share, axis=0) < 0).all() for share in shares)),
        "At three ε and 19 rates it falls with every larger power of N/n that the sensitivity "
        f"grows by. Half of the records at ε = .1, powers 0, 1/4, 1/2 and 1: {half} of V_N. (Below "
        "0, as for the mean, no sampling variance is small enough.)",
    )


EQUATION_7 = Claim(
    "Section 4.2, Equation 7",
    "The mean of a simple random sample has the variance (1 − n/N) S²/n.",
    ("theorems",),
    THEOREMS.judge("equation-7"),
)


@claim("Section 4.2, Equation 8", (), "r is the noise variance of all records by the sample's.")
def _ratio(computed: Computed) -> Finding:
    off = 0.0
    for epsilon in cells.LINE_EPSILONS:
        on_sample = sampling_base_epsilon(epsilon, _RATES)
        all_records = 2 * (1 / epsilon) ** 2
        ratio = all_records / (2 * (1 / (on_sample * _RATES)) ** 2)
        off = max(off, float(np.abs(ratio - (1 - mean_noise_excess(epsilon, _RATES))).max()))
    return Finding(agreement(off < 1e-12), f"Off by {off:.0e} at most for six ε and 19 rates.")


@claim("Section 4.2", (), "r approaches 1 as (N/n) ε falls to 0.")
def _approaches_one(computed: Computed) -> Finding:
    rates = np.array([1e-4, 1e-2, 0.5])
    rest = np.array([mean_noise_excess(product * rates, rates) for product in (0.1, 1e-3, 1e-5)])
    return Finding(
        agreement((np.diff(rest, axis=0) < 0).all(), rest[-1].max() < 1e-4),
        f"1 − r is {', '.join(f'{row.max():.1e}' for row in rest)} at most for products of .1, "
        ".001 and .00001.",
    )


_SMALL_RATES = (1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9)


def _exactly(computed: Computed) -> Finding:
    epsilons = np.geomspace(1e-14, 1, 2000)
    smallest = min(float(mean_noise_excess(epsilons, rate).min()) for rate in _SMALL_RATES)
    return Finding(
        agreement(smallest <= 0),
        "r < 1 for every ε and every rate below 1, by Bernoulli's inequality; computed without "
        f"cancellation 1 − r is positive throughout (at least {smallest:.1e} here).",
    )


def _in_floating_point(computed: Computed) -> Finding:
    crossings = noise_curves.rounding_curve(np.array(_SMALL_RATES))
    edges = np.sqrt(2.0**-52 / (1 / np.array(_SMALL_RATES) - 1))
    return Finding(
        agreement((crossings > 0).all(), np.all(np.diff(crossings) > 0)),
        f"The printed formula exceeds 1 by rounding for all {len(_SMALL_RATES)} rates, up to "
        f"{(crossings / edges).min():.2f} to {(crossings / edges).max():.2f} times "
        "sqrt(2^−52/(N/n − 1)), and the lower the rate, the smaller is that ε.",
    )


FIGURE_5 = Claim(
    "Figure 5, left",
    "The noise of a sample's mean is smaller than that of the population's for ε below a curve "
    "that falls with the rate.",
    ("figure-05",),
    under_every_reading({"exact numbers": _exactly, "floating point": _in_floating_point}),
    name="figure-5-left",
)


def _no_such_epsilon(computed: Computed) -> Finding:
    epsilons = np.geomspace(1e-14, 1.66e-10, 2000)
    smallest = float(mean_noise_excess(epsilons, 1e-4).min())
    return Finding(
        agreement(smallest <= 0),
        f"No ε_n is small enough: 1 − r is at least {smallest:.1e} on the sample's ε from 1e-10 "
        "to 1.66e-6.",
    )


def _rounded_at(rate: float, printed: float) -> Judge:
    def judge(computed: Computed) -> Finding:
        on_sample = float(noise_curves.rounding_curve(np.array([rate]))[0]) / rate
        return Finding(
            agreement(on_sample <= printed),
            f"The largest ε_n at which rounding lifts r above 1 is {on_sample:.2e}.",
            abs(on_sample / printed - 1),
        )

    return judge


SMALLEST_RATE = Claim(
    "Section 4.2, Figure 5, right",
    "At a rate of .0001 the sample must use ε_n < 1.66e-6 for less noise than in the population.",
    ("figure-05-right",),
    under_every_reading(
        {"exact numbers": _no_such_epsilon, "floating point": _rounded_at(1e-4, 1.66e-6)}
    ),
    name="figure-5-right",
)


def _used_on_samples() -> tuple[FloatArray, FloatArray]:
    rates = np.geomspace(1e-3, 0.9, 60)
    return rates, noise_curves.rounding_curve(rates) / rates


def _rises_below_a_tenth(computed: Computed) -> Finding:
    rates, used = _used_on_samples()
    low = float(np.corrcoef(np.log(rates[rates < 0.1]), np.log(used[rates < 0.1]))[0, 1])
    return Finding(
        agreement(low < -0.9),
        f"Below 10 % the correlation of the logarithms of rate and ε_n is {low:.2f}.",
    )


def _only_below_a_tenth(computed: Computed) -> Finding:
    rates, used = _used_on_samples()
    lowest = float(rates[np.argmin(used)])
    return Finding(
        agreement(lowest < 0.15), f"ε_n is smallest at a rate of about {100 * lowest:.0f} %."
    )


RISES_AGAIN = Claim(
    "Section 4.2, Figure 5, right",
    "The ε_n of the curve rises again at rates below 10 %.",
    ("figure-05-right",),
    under_every_reading(
        {"it rises there": _rises_below_a_tenth, "it turns there": _only_below_a_tenth}
    ),
    name="rises-again",
)


@claim("Section 4.2", (), "ln ε = −8 is ε of about .0003, and −20 about 2e-9.")
def _logarithms(computed: Computed) -> Finding:
    eight, twenty = math.exp(-8), math.exp(-20)
    return Finding(
        agreement(f"{eight:.0e}" == "3e-04", f"{twenty:.0e}" == "2e-09"),
        f"{eight:.2e} and {twenty:.2e}.",
    )


@claim(
    "Section 4.2",
    (),
    "The private mean of a sample can hardly ever be more accurate than that of the population.",
)
def _means_never_gain(computed: Computed) -> Finding:
    rates, epsilons = np.linspace(0.01, 0.99, 99), np.geomspace(1e-6, 20, 60)
    smallest = min(float(mean_noise_excess(epsilon, rates).min()) for epsilon in epsilons)
    return Finding(
        agreement(smallest > 0),
        f"The noise alone is larger at all {rates.size * epsilons.size:,} pairs of rate and ε "
        f"(1 − r at least {smallest:.1e}), and the sampling variance comes on top.",
    )


CLAIMS = claims_in(globals())
