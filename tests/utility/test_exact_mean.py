"""The exact error of the noisy mean, against enumeration and the numbers of THEORY."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoisyMean,
    OutlierScoreSuppression,
    PoissonSampling,
    RuleSuppression,
    expected_error,
    read,
)
from omit.mechanisms.mean import MeanNoise
from omit.mechanisms.noise import Noise
from omit.omissions.base import Omission
from omit.utility.exact_mean import MeanError, mean_error
from omit.utility.log_characteristic import log_characteristic, log_characteristic_by_series
from omit.utility.mean_setting import NoExactMean
from tests.utility.enumeration import MeanByEnumeration

Symmetric = Literal["laplace", "gaussian"]
each_noise = pytest.mark.parametrize("noise", ["laplace", "gaussian"])


@dataclass(frozen=True)
class Case:
    """A few values, so that every outcome of the omission can be gone through."""

    values: tuple[float, ...]
    counts: tuple[int, ...]
    keep: tuple[float, ...]
    total_scale: float
    count_scale: float
    truth: float

    def enumeration(self, noise: Symmetric) -> MeanByEnumeration:
        return MeanByEnumeration(
            self.values,
            self.counts,
            self.keep,
            noise,
            self.total_scale,
            self.count_scale,
            self.truth,
        )

    def engine(self, noise: Symmetric, tolerance: float = 1e-9) -> MeanError:
        return mean_error(
            np.array(self.values),
            np.array(self.counts),
            np.array(self.keep),
            MeanNoise(Noise(noise, self.total_scale), Noise(noise, self.count_scale)),
            self.truth,
            tolerance,
        )


# Values that share no small step, so that the sums left do not come in rows; a bias in the second,
# a negative mean in the third, no omission of some values in the fourth, of any in the fifth.
SMOOTH = {
    "plain": Case((1.1, 2.37, 5.93), (70, 30, 22), (0.9, 0.95, 0.8), 30.0, 1.5, 2.2),
    "biased": Case((1.1, 2.37, 5.93), (70, 30, 22), (0.99, 0.97, 0.35), 20.0, 1.0, 2.2),
    "negative": Case((-7.3, -1.91), (60, 45), (0.9, 0.97), 40.0, 1.2, -4.7),
    "partly certain": Case((3.0, 8.41), (90, 30), (1.0, 0.6), 25.0, 1.5, 4.4),
    "no omission": Case((3.0, 8.41), (60, 30), (1.0, 1.0), 25.0, 1.5, 4.803),
    "noise of sum and count alike": Case((2.0, 4.7), (60, 40), (0.9, 0.9), 4.62, 1.5, 3.08),
}
# Zeros and ones, and whole numbers: the sums left lie on a lattice, and small noise shows it.
LATTICE = {
    "halves": Case((0.0, 1.0), (60, 60), (0.5, 0.5), 0.2, 0.2, 0.5),
    "zeros and ones": Case((0.0, 1.0), (40, 80), (0.9, 0.9), 0.1, 0.1, 2 / 3),
    "one value thinned": Case((0.0, 1.0), (60, 60), (1.0, 0.99), 0.1, 0.1, 0.5),
    "hardly any noise": Case((0.0, 1.0), (60, 60), (0.9, 0.9), 0.01, 0.01, 0.5),
    "whole numbers": Case((1.0, 2.0, 5.0), (60, 30, 20), (0.9, 0.95, 0.8), 2.0, 0.4, 2.0),
    "an outlier": Case((1.0, 2.0, 500.0), (60, 30, 20), (1.0, 1.0, 0.2), 200.0, 0.4, 100.0),
    "moderate noise": Case((0.0, 1.0), (200, 200), (0.5, 0.5), 1.0, 1.0, 0.5),
}
# Where the engine must not refuse: with Laplace noise, whose characteristic function falls slowly,
# so few records are sure only in the first; Gaussian noise needs two values left at random.
CERTIFIED = [
    ("plain", "laplace"),
    ("no omission", "laplace"),
    *((name, "gaussian") for name in SMOOTH if name != "partly certain"),
]
each_certified = pytest.mark.parametrize(
    ("case", "noise"),
    [(SMOOTH[name], noise) for name, noise in CERTIFIED],
    ids=[f"{name}-{noise}" for name, noise in CERTIFIED],
)
DOUBTFUL = {**SMOOTH, **LATTICE}
each_doubtful = pytest.mark.parametrize("case", DOUBTFUL.values(), ids=DOUBTFUL)


@pytest.fixture(scope="module")
def ages() -> Column:
    return read("adult", "age")


# THEORY, Section 6, to all printed digits.
@pytest.mark.parametrize(
    ("omission", "printed"),
    [
        (None, "0.085396359496"),
        (PoissonSampling(0.4), "0.2193571986"),
        (PoissonSampling(0.01), "1.7018819778"),
    ],
)
def test_adult_ages_have_the_tabulated_errors(
    ages: Column, omission: Omission | None, printed: str
) -> None:
    error = expected_error(ages, NoisyMean(), Guarantee(0.25), omission)
    assert f"{error.value:.{len(printed) - 2}f}" == printed
    assert error.method == "exact"
    assert (error.high - error.low) / error.value < 1e-8
    assert (error.unit, error.metric) == ("%", "relative error")


@each_certified
def test_every_outcome_of_the_binomials_is_weighed(noise: Symmetric, case: Case) -> None:
    expected = case.enumeration(noise).expected()
    assert case.engine(noise).expected == pytest.approx(expected, rel=1e-8)


@each_noise
@each_doubtful
def test_where_sums_are_few_or_on_a_lattice_the_answer_is_right_within_its_precision_or_refused(
    noise: Symmetric, case: Case
) -> None:
    expected = case.enumeration(noise).expected()
    try:
        found = case.engine(noise)
    except NoExactMean as refusal:
        # The noisy count is nowhere near 1 here, so that is no reason.
        if "count" in str(refusal):
            raise
        return
    assert abs(found.expected - expected) <= found.precision + 1e-9 * expected


@each_certified
def test_quantiles_are_exceeded_as_often_as_they_say(noise: Symmetric, case: Case) -> None:
    found, enumeration = case.engine(noise), case.enumeration(noise)
    assert found.median is not None
    assert found.quantile_90 is not None
    assert enumeration.exceeds(found.median) == pytest.approx(0.5, abs=1e-5)
    assert enumeration.exceeds(found.quantile_90) == pytest.approx(0.1, abs=1e-5)


def test_quantiles_on_adult_are_exceeded_as_often_in_a_fine_simulation(ages: Column) -> None:
    from omit.utility.expected import base_guarantee
    from omit.utility.simulated import simulated_errors

    sampling, guarantee, runs = PoissonSampling(0.3), Guarantee(0.5), 40_000
    error = expected_error(ages, NoisyMean(), guarantee, sampling)
    base = base_guarantee(sampling, guarantee)
    draws = simulated_errors(
        ages, NoisyMean(), base, sampling, ages.mean, runs, np.random.default_rng(5)
    )
    assert error.median is not None
    assert error.quantile_90 is not None
    # Two tests at 5 sigma: with another seed, a false alarm in 1 of 900,000.
    for quantile, share in ((error.median, 0.5), (error.quantile_90, 0.1)):
        margin = 5 * math.sqrt(share * (1 - share) / runs)
        assert float((draws > quantile).mean()) == pytest.approx(share, abs=margin)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-7])
@each_certified
def test_a_coarser_answer_lies_within_the_precision_it_claims(
    noise: Symmetric, tolerance: float, case: Case
) -> None:
    coarse, fine = case.engine(noise, tolerance), case.engine(noise, 1e-9)
    assert coarse.precision <= tolerance * coarse.expected
    assert abs(coarse.expected - fine.expected) <= coarse.precision + fine.precision


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 1.0, 4.0])
@pytest.mark.parametrize(
    "omission",
    [
        PoissonSampling(0.99),
        PoissonSampling(0.2),
        PoissonSampling(0.03),
        OutlierScoreSuppression(0.1, 0.9),
    ],
    ids=str,
)
def test_a_coarser_answer_on_adult_lies_within_the_precision_it_claims(
    ages: Column, epsilon: float, omission: Omission
) -> None:
    answers = [
        expected_error(ages, NoisyMean(), Guarantee(epsilon), omission, tolerance=tolerance)
        for tolerance in (1e-5, 1e-10)
    ]
    assert {answer.method for answer in answers} == {"exact"}
    coarse, fine = answers
    assert fine.high - fine.low <= 4e-10 * fine.value
    assert coarse.low <= fine.high
    assert fine.low <= coarse.high


def test_under_replace_only_the_sum_is_noisy() -> None:
    # E|Z| of Laplace noise is its scale, of normal noise sqrt(2/pi) times its deviation.
    column = Column.from_counts([20, 50], [40, 60], bounds=(0, 100))
    guarantee = Guarantee(0.5, neighbours="replace")
    error = expected_error(column, NoisyMean(), guarantee)
    assert error.value == pytest.approx(100 * (100 / 0.5) / 100 / 38, rel=1e-9)
    guarantee = Guarantee(0.5, 1e-6, "replace")
    scale = NoisyMean("gaussian").noises(guarantee, (0, 100)).total.scale
    error = expected_error(column, NoisyMean("gaussian"), guarantee)
    assert error.value == pytest.approx(100 * math.sqrt(2 / math.pi) * scale / 100 / 38, rel=1e-9)


def test_a_rule_leaves_a_bias_and_less_noise() -> None:
    column = Column.from_counts([20, 50, 90], [400, 500, 100], bounds=(0, 100))
    guarantee, rule = Guarantee(1.0), RuleSuppression(keep=(0, 60))
    noise = NoisyMean().noises(guarantee, (0, 60))
    assert noise.count is not None
    expected = MeanByEnumeration(
        (20, 50), (400, 500), (1, 1), "laplace", noise.total.scale, noise.count.scale, 42.0
    ).expected()
    error = expected_error(column, NoisyMean(), guarantee, rule)
    assert error.value == pytest.approx(100 * expected / 42, rel=1e-8)
    assert error.parts is not None
    left = (20 * 400 + 50 * 500) / 900
    assert error.parts.bias == pytest.approx(100 * (left - 42) / 42)


def test_the_parts_of_the_error_are_bias_and_two_deviations_of_the_quotient() -> None:
    values, counts = np.arange(20, 70), np.arange(150, 100, -1)
    column = Column.from_counts(values, counts, bounds=(0, 100))
    guarantee, sampling = Guarantee(2.0), PoissonSampling(0.5)
    error = expected_error(column, NoisyMean(), guarantee, sampling)
    assert error.parts is not None
    base = sampling.calibrate(guarantee)
    assert isinstance(base, Guarantee)
    noise = NoisyMean().noises(base, (0, 100))
    assert noise.count is not None
    mean, number = column.mean, column.size / 2
    sampled = math.sqrt(0.25 * float((counts * (values - mean) ** 2).sum())) / number
    noisy = math.sqrt(2 * noise.total.scale**2 + 2 * (mean * noise.count.scale) ** 2) / number
    assert error.parts.bias == pytest.approx(0.0, abs=1e-9)
    assert error.parts.omission == pytest.approx(100 * sampled / mean)
    assert error.parts.noise == pytest.approx(100 * noisy / mean)
    without = expected_error(column, NoisyMean(), guarantee).parts
    assert without is not None
    assert without.omission == 0.0


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1.85), st.floats(1e-2, 1e4))
def test_the_power_series_is_the_logarithm_of_the_characteristic_function(
    seed: int, angle: float, unit: float
) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(rng.uniform(0, unit, size=12))
    counts = rng.integers(1, 400, size=12).astype(float)
    keep = np.concatenate([rng.uniform(size=10), [0.0, 1.0]])
    points = rng.uniform(0, unit, size=3)
    frequencies = np.linspace(0, angle / unit, 9)[1:]
    direct = log_characteristic(frequencies, points, values, counts, keep)
    series = log_characteristic_by_series(frequencies, points, values, counts, keep, angle)
    np.testing.assert_allclose(series[0], direct[0], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(series[1], direct[1], rtol=1e-10, atol=1e-10)


def test_the_logarithm_of_the_characteristic_function_is_that_of_its_definition() -> None:
    # E e^(i w (S - t N)) is a product of (1 - k + k e^(i w (v - t)))^n; its expected phase apart.
    rng = np.random.default_rng(11)
    values, counts = np.array([0.0, 1.5, 4.0, 9.0]), np.array([3.0, 10.0, 7.0, 2.0])
    for _ in range(40):
        keep, t, w = rng.uniform(size=4), float(rng.uniform(-2, 11)), float(rng.uniform(0, 6))
        real, imaginary = log_characteristic(np.array([w]), np.array([t]), values, counts, keep)
        turn = w * float((counts * keep * (values - t)).sum())
        product = np.prod((1 - keep + keep * np.exp(1j * w * (values - t))) ** counts)
        found = np.exp(real[0, 0] + 1j * (imaginary[0, 0] + turn))
        np.testing.assert_allclose(
            [found.real, found.imag], [product.real, product.imag], atol=1e-13
        )


@pytest.mark.parametrize("angle", [0.3, 1.0, 1.89])
def test_values_of_many_thousands_do_not_overflow_the_series(angle: float) -> None:
    # Census FEDTAX: 1,080 values up to 21,260. Warnings are errors here.
    values = np.linspace(1.0, 21_260.0, 1080)
    counts, keep = np.ones(1080), np.full(1080, 0.4)
    frequencies = np.linspace(0, angle / 21_260, 5)[1:]
    points = np.array([3000.0, 7544.0])
    real, imaginary = log_characteristic_by_series(frequencies, points, values, counts, keep, angle)
    direct = log_characteristic(frequencies, points, values, counts, keep)
    np.testing.assert_allclose(real, direct[0], rtol=1e-10)
    np.testing.assert_allclose(imaginary, direct[1], rtol=1e-10, atol=1e-12)


@each_noise
def test_a_noisy_count_that_may_fall_below_one_is_simulated_and_says_why(noise: Symmetric) -> None:
    column = Column.from_counts([10, 20], [30, 30], bounds=(0, 40))
    guarantee = Guarantee(0.5, 1e-6 if noise == "gaussian" else 0.0)
    for omission in (None, PoissonSampling(0.2)):
        error = expected_error(column, NoisyMean(noise), guarantee, omission, runs=500)
        assert (error.method, error.runs) == ("simulated", 500)
        assert error.reason is not None
        assert "noisy count falls below 1 with probability up to" in error.reason
        with pytest.raises(InvalidInput, match=r"no exact answer here: the noisy count"):
            expected_error(column, NoisyMean(noise), guarantee, omission, method="exact")


def test_if_no_record_is_left_there_is_nothing_exact() -> None:
    column = Column.from_counts([10, 20], [300, 300], bounds=(0, 40))
    error = expected_error(column, NoisyMean(), Guarantee(1.0), RuleSuppression(keep=(30, 40)))
    assert error.method == "simulated"
    assert error.reason == "no record is left"


def test_a_sample_of_fixed_size_is_simulated_and_says_why() -> None:
    column = Column.from_counts([10, 20], [300, 300], bounds=(0, 40))
    guarantee = Guarantee(1.0, neighbours="replace")
    sampling = FixedSizeSampling(200, 600)
    error = expected_error(column, NoisyMean(), guarantee, sampling, runs=100)
    assert error.method == "simulated"
    assert error.reason is not None
    assert "not kept independently" in error.reason
    with pytest.raises(InvalidInput, match="not kept independently"):
        expected_error(column, NoisyMean(), guarantee, sampling, method="exact")


@each_noise
def test_the_probability_of_a_count_below_one_is_bounded_from_above(noise: Symmetric) -> None:
    # The bound decides whether the exact formula holds, so it must never be too small.
    from scipy import stats

    values, counts, keep = np.array([1.0, 2.0]), np.array([4, 5]), np.array([0.7, 0.9])
    with pytest.raises(NoExactMean, match=r"with probability up to (\S+)") as refusal:
        mean_error(values, counts, keep, MeanNoise(Noise(noise, 9.0), Noise(noise, 0.9)), 1.5)
    stated = float(str(refusal.value).rsplit(" ", 1)[1])
    distribution = {"laplace": stats.laplace, "gaussian": stats.norm}[noise]
    number = np.convolve(stats.binom.pmf(range(5), 4, 0.7), stats.binom.pmf(range(6), 5, 0.9))
    exact = float((number * distribution.cdf(1.0 - np.arange(10), scale=0.9)).sum())
    assert exact <= stated <= 100 * exact


def test_a_true_mean_of_zero_has_no_relative_error() -> None:
    column = Column.from_counts([-10, 10], [300, 300], bounds=(-20, 20))
    with pytest.raises(InvalidInput, match="true mean is 0"):
        expected_error(column, NoisyMean(), Guarantee(1.0))
    error = expected_error(column, NoisyMean(), Guarantee(1.0), truth=2.0)
    assert error.value > 0


def test_a_column_of_text_has_no_mean() -> None:
    column = Column.from_values(["a", "b"], categories=("a", "b"))
    with pytest.raises(InvalidInput, match="mean"):
        expected_error(column, NoisyMean(), Guarantee(1.0))
    with pytest.raises(InvalidInput, match="mean"):
        expected_error(column, NoisyMean(), Guarantee(1.0), truth=1.0)


def test_one_value_far_from_all_others_is_not_cut_off() -> None:
    # Conditional on whether it is kept, nothing is far from the others.
    values, counts = np.append(np.arange(100.0), 1e6), np.append(np.full(100, 10_000), 1)
    truth, rate = float((values * counts).sum() / counts.sum()), 0.001
    base = PoissonSampling(rate).calibrate(Guarantee(200.0, 1e-9))
    assert isinstance(base, Guarantee)
    noise = NoisyMean("gaussian").noises(base, (0.0, 1e6))

    def expected(outlier: float) -> float:
        keep = np.append(np.full(100, rate), outlier)
        return mean_error(values, counts, keep, noise, truth, 1e-9, False).expected

    by_cases = (1 - rate) * expected(0.0) + rate * expected(1.0)
    assert expected(rate) == pytest.approx(by_cases, rel=1e-8)


def test_integrals_that_would_take_forever_are_refused() -> None:
    ages = read("adult", "age")
    error = expected_error(
        ages, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5), truth=1e9, runs=10
    )
    assert (error.method, error.reason) == ("simulated", "the integral would take too long")


def test_few_coarse_values_are_answered_within_the_precision_or_refused() -> None:
    # Two values, any counts, rates and scales: where to end the integral is the delicate part.
    rng = np.random.default_rng(21)
    answered = 0
    for number in range(40):
        noise: Symmetric = "laplace" if number % 2 else "gaussian"
        step = float(rng.choice([1.0, 0.5, 7.0]))
        counts = tuple(int(count) for count in rng.integers(60, 160, 2))
        scale = step * float(np.exp(rng.uniform(-2, 5)))
        keep = tuple(rng.uniform(0.3, 0.99, 2))
        case = Case(
            (3.0, 3.0 + step), counts, keep, scale, float(rng.uniform(0.2, 2)), 3 + step / 3
        )
        try:
            found = case.engine(noise)
        except NoExactMean:
            continue
        answered += 1
        expected = case.enumeration(noise).expected()
        assert abs(found.expected - expected) <= found.precision + 1e-9 * expected, case
    assert answered >= 8
