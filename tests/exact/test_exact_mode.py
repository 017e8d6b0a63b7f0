"""The exact probability of a wrong mode, against enumeration and the numbers of THEORY."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from omit import (
    Column,
    Guarantee,
    InvalidInput,
    NoisyMode,
    NoOmission,
    OutlierScoreSuppression,
    PoissonSampling,
    RuleSuppression,
    Unattainable,
    expected_error,
    read,
)
from omit.exact.mode import wrong_mode_probability
from omit.laws.noise import Gaussian, Noise, NoNoise, noise_named
from omit.mechanisms.mode import KINDS, Kind
from omit.omissions.base import Omission
from tests.accuracy.enumeration import wrong_mode

pytestmark = pytest.mark.slow

each_noise = pytest.mark.parametrize("noise", KINDS)


def wrong_at(
    counts: list[int], keep: list[float], noise: Noise, right: list[int], empty: int = 0
) -> float:
    """Return the engine's answer where `right` lists positions."""
    mask = np.isin(np.arange(len(counts)), right)
    return wrong_mode_probability(np.array(counts), np.array(keep), noise, mask, empty)[0]


@pytest.fixture(scope="module")
def ages() -> Column:
    return read("adult", "age")


# THEORY, Section 6, to all printed digits. Delta of the Gaussian is n^-2.
@pytest.mark.parametrize(
    ("noise", "epsilon", "delta", "omission", "printed"),
    [
        ("laplace", 0.25, 0.0, None, "0.1369056004"),
        ("laplace", 0.5, 0.0, None, "0.0152331170"),
        ("laplace", 1.0, 0.0, None, "0.0001522967"),
        ("laplace", 2.0, 0.0, None, "0.0000000115"),
        ("exponential", 0.25, 0.0, None, "0.3093744093"),
        ("gumbel", 0.25, 0.0, None, "0.4257090934"),
        ("gaussian", 0.25, 32_561**-2, None, "0.6367384459"),
        ("laplace", 0.25, 0.0, PoissonSampling(0.5), "0.723693"),
    ],
)
def test_adult_ages_have_the_tabulated_probabilities(
    ages: Column, noise: Kind, epsilon: float, delta: float, omission: Omission | None, printed: str
) -> None:
    mechanism = NoisyMode(noise, "published")
    error = expected_error(ages, mechanism, Guarantee(epsilon, delta), omission)
    assert f"{error.value:.{len(printed) - 2}f}" == printed
    assert error.method == "exact"
    assert error.high - error.low < 1e-10


def test_adult_at_epsilon_two_is_known_to_three_digits(ages: Column) -> None:
    assert f"{expected_error(ages, NoisyMode(), Guarantee(2.0)).value:.2e}" == "1.15e-08"


def small_cases(seed: int) -> Iterator[tuple[list[int], list[float], float, list[int], int]]:
    """Yield counts, keep probabilities, a scale, who is right and how many values are empty."""
    rng = np.random.default_rng(seed)
    for counts in ([3, 2, 1], [5, 4], [2, 2, 2], [6]):
        keep = rng.uniform(size=len(counts)).tolist()
        scale, empty = float(rng.uniform(0.3, 4)), int(rng.integers(0, 4))
        yield counts, keep, scale, [int(rng.integers(len(counts)))], empty


@each_noise
@pytest.mark.parametrize("seed", range(3))
def test_every_outcome_of_the_binomials_is_weighed(noise: Kind, seed: int) -> None:
    for counts, keep, scale, right, empty in small_cases(seed):
        expected = wrong_mode(counts, keep, noise, scale, right, empty)
        found = wrong_at(counts, keep, noise_named(noise)(scale), right, empty)
        assert found == pytest.approx(expected, abs=1e-10)


@each_noise
def test_the_precision_that_is_claimed_is_kept(noise: Kind) -> None:
    for counts, keep, scale, right, empty in (
        case for seed in range(6) for case in small_cases(seed)
    ):
        expected = wrong_mode(counts, keep, noise, scale, right, empty)
        mask = np.isin(np.arange(len(counts)), right)
        found, precision = wrong_mode_probability(
            np.array(counts), np.array(keep), noise_named(noise)(scale), mask, empty
        )
        # The enumeration itself is right to 1e-13.
        assert abs(found - expected) <= precision + 1e-13


def test_one_record_among_forty_values_is_known_to_the_stated_digits() -> None:
    # Adding resolution until the density integrates to 1 is not enough: the 39 other values make
    # the integrand steeper than the density.
    column = Column.from_counts([10], [1], bounds=(1, 40))
    guarantee = Guarantee(16.467291166378708, 1e-6)
    error = expected_error(column, NoisyMode("gaussian"), guarantee, PoissonSampling(0.9))
    assert f"{error.value:.13f}" == "0.3473058395876"
    assert error.high - error.low < 1e-11
    base = PoissonSampling(0.9).calibrate(guarantee)
    assert isinstance(base, Guarantee)
    truth = 1 - by_mpmath([1], 0.9, NoisyMode("gaussian").count_noise(base), 39)
    assert error.low <= truth <= error.high


def by_mpmath(counts: list[int], keep: float, noise: Noise, empty: int) -> float:
    """Return the probability that the first value wins, to 25 digits."""
    with mpmath.workdps(25):
        k, scale = mpmath.mpf(keep), mpmath.mpf(noise.scale)
        below = {
            "laplace": lambda z: 1 - mpmath.exp(-z) / 2 if z > 0 else mpmath.exp(z) / 2,
            "exponential": lambda z: 1 - mpmath.exp(-z) if z > 0 else mpmath.mpf(0),
            "gaussian": mpmath.ncdf,
            "gumbel": lambda z: mpmath.exp(-mpmath.exp(-z)),
        }[noise.name]
        density = {
            "laplace": lambda z: mpmath.exp(-abs(z)) / 2,
            "exponential": lambda z: mpmath.exp(-z) if z > 0 else mpmath.mpf(0),
            "gaussian": mpmath.npdf,
            "gumbel": lambda z: mpmath.exp(-z - mpmath.exp(-z)),
        }[noise.name]
        laws = [
            [mpmath.binomial(n, j) * k**j * (1 - k) ** (n - j) for j in range(n + 1)]
            for n in counts
        ]

        def wins(x: Any) -> Any:
            first = sum(p * density((x - j) / scale) for j, p in enumerate(laws[0])) / scale
            others = [sum(p * below((x - j) / scale) for j, p in enumerate(law)) for law in laws]
            return first * mpmath.fprod(others[1:]) * below(x / scale) ** empty

        reach = {"gaussian": 10}.get(noise.name, 40)
        kinks = range(max(counts) + 1)
        cuts = {
            j + sign * step * scale for j in kinks for sign in (-1, 1) for step in (0, 2, reach)
        }
        return float(mpmath.quad(wins, sorted(mpmath.mpf(cut) for cut in cuts)))


@each_noise
def test_other_arithmetic_gives_the_same_digits(noise: Kind) -> None:
    counts, right = np.array([3, 2]), np.array([True, False])
    for scale in (0.3, 1.7):
        value, precision = wrong_mode_probability(
            counts, np.full(2, 0.6), noise_named(noise)(scale), right, empty=12
        )
        assert abs(1 - by_mpmath([3, 2], 0.6, noise_named(noise)(scale), 12) - value) <= precision


def random_release(
    rng: np.random.Generator,
) -> tuple[Column, NoisyMode, Guarantee, Omission, tuple[float, ...] | None]:
    """Return 1 to 8 records in a domain of 1 to 50 values, a mechanism, a guarantee and so on."""
    size, records = int(rng.integers(1, 51)), int(rng.integers(1, 9))
    domain = np.arange(size) + float(rng.integers(-20, 20))
    values = rng.choice(rng.choice(domain, min(size, int(rng.integers(1, 9))), False), records)
    column = Column.from_values(values.tolist(), bounds=(domain[0], domain[-1]))
    kind = KINDS[rng.integers(4)]
    epsilon = float(10 ** rng.uniform(-3, 2) if rng.random() < 0.85 else 10 ** rng.uniform(2, 6))
    delta = float(10 ** rng.uniform(-10, -2)) if kind == "gaussian" or rng.random() < 0.3 else 0.0
    low, high = np.sort(rng.random(2)).tolist()
    omission = (
        NoOmission(),
        PoissonSampling(high),
        PoissonSampling(float(1 - 10 ** rng.uniform(-8, -1))),
        OutlierScoreSuppression(low, high),
        RuleSuppression(keep=(values.min() - rng.integers(2), values.max() + rng.integers(2))),
    )[rng.integers(5)]
    truth = tuple(rng.choice(domain, min(size, 2), False).tolist()) if rng.random() < 0.2 else None
    return column, NoisyMode(kind), Guarantee(epsilon, delta), omission, truth


def test_400_random_releases_are_within_their_stated_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[Any, ...]] = []

    def remember(*setting: Any) -> tuple[float, float]:
        asked.append(setting)
        return wrong_mode_probability(*setting)

    monkeypatch.setattr("omit.exact.mode.wrong_mode_probability", remember)
    compared = 0
    for seed in range(400):
        column, mechanism, guarantee, omission, truth = random_release(
            np.random.default_rng([21, seed])
        )
        asked.clear()
        try:
            error = expected_error(
                column, mechanism, guarantee, omission, "exact", truth=truth, details=False
            )
        except Unattainable:
            continue
        assert error.high - error.low < 1e-11
        for counts, keep, noise, right, empty in asked:
            positions = np.flatnonzero(right).tolist()
            expected = wrong_mode(counts, keep, noise.name, noise.scale, positions, empty)
            # The enumeration is itself rounded.
            assert error.low - 2e-14 <= expected <= error.high + 2e-14, seed
            compared += 1
    assert compared > 300


@each_noise
def test_certain_keeping_and_certain_loss_are_limits_like_any_other(noise: Kind) -> None:
    keep = [1.0, 0.0, 0.4]
    expected = wrong_mode([3, 5, 4], keep, noise, 1.2, [0], 1)
    found = wrong_at([3, 5, 4], keep, noise_named(noise)(1.2), [0], 1)
    assert found == pytest.approx(expected, abs=1e-10)


@each_noise
def test_of_tied_modes_each_one_is_right(noise: Kind) -> None:
    column = Column.from_counts([1, 2, 3, 6], [3, 1, 3, 3], bounds=(1, 6))
    guarantee = Guarantee(0.8, 1e-2 if noise == "gaussian" else 0.0)
    base = PoissonSampling(0.6).calibrate(guarantee)
    assert isinstance(base, Guarantee)
    scale = NoisyMode(noise).count_noise(base).scale
    expected = wrong_mode([3, 1, 3, 3], [0.6] * 4, noise, scale, [0, 2, 3], empty=2)
    error = expected_error(column, NoisyMode(noise), guarantee, PoissonSampling(0.6))
    assert error.value == pytest.approx(expected, abs=1e-10)


def test_if_all_values_are_tied_and_none_is_empty_no_answer_is_wrong() -> None:
    column = Column.from_counts([1, 2, 3], [4, 4, 4], bounds=(1, 3))
    error = expected_error(column, NoisyMode(), Guarantee(0.3), PoissonSampling(0.5))
    assert error.value == pytest.approx(0.0, abs=1e-10)


@each_noise
def test_values_that_nobody_has_win_too(noise: Kind) -> None:
    # One value of the domain occurs, three times; 49 do not, and at a small epsilon they matter.
    column = Column.from_counts([10], [3], bounds=(1, 50))
    guarantee = Guarantee(0.5, 1e-2 if noise == "gaussian" else 0.0)
    scale = NoisyMode(noise).count_noise(guarantee).scale
    distribution = {
        "laplace": stats.laplace,
        "exponential": stats.expon,
        "gaussian": stats.norm,
        "gumbel": stats.gumbel_r,
    }[noise](scale=scale)

    def wins(x: float) -> float:
        return float(distribution.pdf(x - 3) * distribution.cdf(x) ** 49)

    cuts = (-30 * scale, 0, 3, 3 + 3 * scale, 3 + 8 * scale, 3 + 45 * scale)
    right = sum(
        integrate.quad(wins, low, high, epsabs=1e-13, limit=200)[0]
        for low, high in itertools.pairwise(cuts)
    )
    error = expected_error(column, NoisyMode(noise), guarantee)
    assert error.value == pytest.approx(1 - right, abs=1e-9)
    assert error.value > 0.5
    narrow = Column.from_counts([10], [3], bounds=(10, 10))
    alone = expected_error(narrow, NoisyMode(noise), guarantee)
    assert alone.value == pytest.approx(0.0, abs=1e-10)


@each_noise
def test_values_that_nobody_has_win_as_often_in_a_simulation(noise: Kind) -> None:
    column = Column.from_counts([2, 3, 9], [12, 9, 4], bounds=(0, 40))
    guarantee = Guarantee(0.4, 1e-3 if noise == "gaussian" else 0.0)
    exact = expected_error(column, NoisyMode(noise), guarantee, PoissonSampling(0.7)).value
    simulated = expected_error(
        column, NoisyMode(noise), guarantee, PoissonSampling(0.7), "simulated", runs=20_000
    ).value
    # Four tests at 5 sigma: with another seed, a false alarm in 1 of 400,000.
    assert abs(simulated - exact) < 5 * math.sqrt(exact * (1 - exact) / 20_000)


@each_noise
@pytest.mark.parametrize("scale", [1e-3, 0.4, 5.0])
def test_values_alike_count_as_often_as_they_are(noise: Kind, scale: float) -> None:
    # Grouped values against the same values with a keep probability that differs by a rounding.
    counts, right = np.array([6, 6, 6, 5, 5, 0, 0]), np.array([True, True, *5 * [False]])
    keep = np.full(7, 0.7)
    apart = keep - np.arange(7) * 1e-16
    assert len(set(apart.tolist())) > 3
    together = wrong_mode_probability(counts, keep, noise_named(noise)(scale), right, empty=3)
    different = wrong_mode_probability(counts, apart, noise_named(noise)(scale), right, empty=3)
    assert together[0] == pytest.approx(different[0], abs=together[1])


@each_noise
def test_right_values_add_up_to_certainty(noise: Kind) -> None:
    counts, keep = [4, 3, 3, 0], [0.9, 0.8, 0.2, 1.0]
    for scale in (0.001, 0.2, 3.0, 300.0):
        some = wrong_at(counts, keep, noise_named(noise)(scale), [0, 2])
        others = wrong_at(counts, keep, noise_named(noise)(scale), [1, 3])
        assert some + others == pytest.approx(1.0, abs=1e-12)
        assert wrong_at(counts, keep, noise_named(noise)(scale), [0, 1, 2, 3]) == 0.0


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=6),
    st.sampled_from(KINDS),
    st.floats(0.2, 6),
    st.integers(0, 5),
    st.integers(0, 2**32 - 1),
)
def test_somebody_always_wins(
    counts: list[int], kind: Kind, scale: float, empty: int, seed: int
) -> None:
    keep = np.random.default_rng(seed).uniform(size=len(counts)).tolist()
    noise = noise_named(kind)(scale)
    chances = [1 - wrong_at(counts, keep, noise, [v], empty) for v in range(len(counts))]
    if empty:
        # One value nobody has, made visible, and as probable as each of its like.
        chances.append(
            empty * (1 - wrong_at([*counts, 0], [*keep, 1.0], noise, [len(counts)], empty - 1))
        )
    assert sum(chances) == pytest.approx(1.0, abs=1e-9)


@each_noise
def test_a_value_far_behind_is_a_wrong_guess_almost_surely(noise: Kind) -> None:
    assert wrong_at([1000, 10], [1.0, 1.0], noise_named(noise)(1.0), [1]) == pytest.approx(1.0)
    # So it is, too, if it is the omission that leaves the most frequent value behind.
    assert wrong_at([1000, 900], [0.1, 0.9], noise_named(noise)(1.0), [0]) == pytest.approx(1.0)


def test_a_rare_value_may_be_the_truth_of_the_population() -> None:
    column = Column.from_counts([1, 2], [1000, 10], bounds=(1, 2))
    error = expected_error(column, NoisyMode(), Guarantee(1.0), truth=2)
    assert error.value == pytest.approx(1.0)
    assert error.low > 0.99


def test_a_mode_at_the_edge_is_lost_if_scores_go_by_absolute_distance() -> None:
    column = Column.from_counts([0, 50, 51, 52], [1000, 900, 900, 900], bounds=(0, 100))
    omission = OutlierScoreSuppression(0.0, 1.0, distance="absolute")
    exact = expected_error(column, NoisyMode(), Guarantee(1.0), omission)
    simulated = expected_error(column, NoisyMode(), Guarantee(1.0), omission, "simulated")
    assert simulated.value == 1.0
    assert exact.value == pytest.approx(1.0, abs=1e-6)


def test_a_true_mode_that_nobody_has_can_still_be_guessed() -> None:
    # One record has value 1 and the population's mode is 2, which is in the domain.
    column = Column.from_counts([1], [1], bounds=(1, 2))
    error = expected_error(column, NoisyMode(), Guarantee(1.0), truth=2)
    behind = 0.5 * math.exp(-1) * (1 + 0.5)  # two Laplace noises of scale 1 differ by more than 1
    assert error.low <= 1 - behind <= error.high


@pytest.mark.parametrize("scale", [0.3, 0.03, 0.01, 0.001, 1e-6])
@each_noise
def test_narrow_noise_leaves_only_ties_to_chance(noise: Kind, scale: float) -> None:
    counts, keep = [20, 19], [0.5, 0.5]
    first, second = (stats.binom.pmf(np.arange(21), n, 0.5) for n in counts)
    joint = np.outer(first, second)
    without_noise = float(np.triu(joint, 1).sum() + 0.5 * np.trace(joint))
    found, precision = wrong_mode_probability(
        np.array(counts), np.array(keep), noise_named(noise)(scale), np.array([True, False])
    )
    # Noise of scale 0.03 reorders counts that differ by 1 with probability below 1e-12.
    tolerance = 0.05 if scale > 0.1 else 1e-9
    assert found == pytest.approx(without_noise, abs=tolerance)
    assert precision < 1e-9


def test_a_sample_that_needs_no_noise_has_only_the_error_of_sampling() -> None:
    column = Column.from_counts([1, 2], [200, 100], bounds=(1, 2))
    guarantee, sampling = Guarantee(0.5, 0.06), PoissonSampling(0.05)
    error = expected_error(column, NoisyMode(), guarantee, sampling)
    first, second = (stats.binom.pmf(np.arange(201), n, 0.05) for n in (200, 100))
    joint = np.outer(first, second)
    expected = float(np.triu(joint, 1).sum() + 0.5 * np.trace(joint))
    assert error.low - 1e-6 <= expected <= error.high + 1e-6
    assert error.high - error.low < 0.05


@pytest.mark.parametrize("epsilon", [0.02, 0.3, 3.0])
def test_counts_of_thousands_have_their_normal_limit(epsilon: float) -> None:
    # Two counts of 40,000 and 39,500 at rate 1/2 with Gaussian noise differ by a normal variable.
    noise = Gaussian(1 / epsilon)
    found = wrong_at([40_000, 39_500], [0.5, 0.5], noise, [0])
    deviation = math.sqrt(0.25 * 79_500 + 2 / epsilon**2)
    # The binomials are normal up to their fourth cumulant: 1/n relative.
    assert found == pytest.approx(float(stats.norm.sf(250 / deviation)), rel=1e-4)


@each_noise
def test_noise_however_wide_is_integrated(ages: Column, noise: Kind) -> None:
    # At such a scale all 126 values of the domain are almost equally likely to win.
    delta = 1e-9 if noise == "gaussian" else 0.0
    error = expected_error(ages, NoisyMode(noise), Guarantee(1e-9, delta), method="exact")
    assert error.value == pytest.approx(125 / 126, abs=1e-4)
    assert error.high - error.low < 1e-10


def test_noise_beyond_all_numbers_is_simulated_and_says_why(ages: Column) -> None:
    error = expected_error(ages, NoisyMode(), Guarantee(1e-20), runs=200)
    assert error.method == "simulated"
    assert error.reason is not None
    assert "noise of scale 1e+20 on counts up to 898 is too wide" in error.reason
    with pytest.raises(InvalidInput, match=r"no exact answer here.*too wide"):
        expected_error(ages, NoisyMode(), Guarantee(1e-20), method="exact")


@each_noise
def test_what_would_take_all_the_memory_is_refused(noise: Kind) -> None:
    column = Column.from_counts([1, 2], [10**15, 10**15 - 10**8], bounds=(1, 2))
    guarantee = Guarantee(0.01, 1e-9 if noise == "gaussian" else 0.0)
    with pytest.raises(InvalidInput, match=r"would take a table of .* numbers"):
        expected_error(column, NoisyMode(noise), guarantee, PoissonSampling(0.5), "exact")


def test_a_rule_narrows_the_domain_of_the_mode() -> None:
    column = Column.from_counts([1, 5, 9], [4, 3, 2], bounds=(0, 30))
    rule = RuleSuppression(keep=(0, 6))
    scale = NoisyMode().count_noise(Guarantee(0.5)).scale
    expected = wrong_mode([4, 3], [1.0, 1.0], "laplace", scale, [0], empty=5)
    error = expected_error(column, NoisyMode(), Guarantee(0.5), rule)
    assert error.value == pytest.approx(expected, abs=1e-10)
    with_all = expected_error(column, NoisyMode(), Guarantee(0.5))
    assert error.value < with_all.value


def test_a_rule_that_suppresses_the_mode_leaves_no_right_answer() -> None:
    column = Column.from_counts([1, 5, 9], [4, 3, 2], bounds=(0, 30))
    error = expected_error(column, NoisyMode(), Guarantee(0.5), RuleSuppression(keep=(2, 30)))
    assert (error.value, error.method) == (1.0, "exact")


def test_text_has_a_mode_over_its_declared_categories() -> None:
    column = Column.from_values(["b"] * 4 + ["a"] * 3, categories=("a", "b", "c", "d"))
    scale = NoisyMode("gumbel").count_noise(Guarantee(0.7)).scale
    expected = wrong_mode([3, 4], [1.0, 1.0], "gumbel", scale, [1], empty=2)
    # The exponential mechanism has a closed form of its own.
    weights = np.exp(np.array([3, 4, 0, 0]) / scale)
    assert expected == pytest.approx(1 - weights[1] / weights.sum(), abs=1e-12)
    error = expected_error(column, NoisyMode("gumbel"), Guarantee(0.7))
    assert error.value == pytest.approx(expected, abs=1e-12)


def test_what_omission_costs_is_said_apart_from_what_noise_costs() -> None:
    column = Column.from_counts([1, 2], [6, 4], bounds=(1, 2))
    guarantee, sampling = Guarantee(1.0), PoissonSampling(0.5)
    base = sampling.calibrate(guarantee)
    assert isinstance(base, Guarantee)
    error = expected_error(column, NoisyMode(), guarantee, sampling)
    assert error.parts is not None
    by_noise = wrong_mode([6, 4], [1, 1], "laplace", 1 / base.epsilon, [0])
    first, second = (stats.binom.pmf(np.arange(7), n, 0.5) for n in (6, 4))
    joint = np.outer(first, second)
    assert error.parts.noise == pytest.approx(by_noise, abs=1e-10)
    assert error.parts.omission == pytest.approx(np.triu(joint, 1).sum() + np.trace(joint) / 2)
    assert error.parts.bias is None


def test_without_noise_only_ties_are_left_to_chance() -> None:
    counts, right = np.array([3, 3, 1]), np.array([True, False, False])
    assert wrong_mode_probability(counts, np.ones(3), NoNoise(), right)[0] == pytest.approx(0.5)
    alone = np.array([3, 2, 1])
    assert wrong_mode_probability(alone, np.ones(3), NoNoise(), right)[0] == pytest.approx(0.0)
