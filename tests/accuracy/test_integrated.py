"""Errors of medians and means after sampling: exact sums and integrated noise, checked apart."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoisyMean,
    PoissonSampling,
    WrongNeighbours,
    compare,
    expected_error,
    read,
)
from omit.exact.order import rank_probabilities, sampled_mean, sampled_quantile
from omit.laws.design import FixedSize
from omit.mechanisms import (
    ExponentialQuantile,
    GlobalQuantile,
    ProposeTestRelease,
    SmoothQuantile,
)
from omit.mechanisms.base import Mechanism
from omit.mechanisms.moments import PreparedMoments
from omit.mechanisms.quantiles import Metric
from tests.parts import expected_errors

SMALL = Column.from_values([0, 1, 1, 3, 4, 4, 7, 9], bounds=(0, 10), name="small")
TARGET = Guarantee(0.8, 0.01, "replace")


def _samples(column: Column, size: int) -> list[Column]:
    """Return all samples of that size, each as often as it is drawn."""
    records = np.repeat(column.values, column.counts)
    return [
        Column.from_values(list(chosen), bounds=column.bounds)
        for chosen in itertools.combinations(records, size)
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8])
@pytest.mark.parametrize("share", [0.5, 0.25, 0.9])
def test_the_moments_of_a_samples_quantile_are_those_over_all_samples(
    size: int, share: float
) -> None:
    quantiles = [SmoothQuantile(quantile=share).truth(each) for each in _samples(SMALL, size)]
    mean, variance = sampled_quantile(SMALL, size, share)
    assert mean == pytest.approx(np.mean(quantiles))
    assert variance == pytest.approx(np.var(quantiles), abs=1e-12)


@pytest.mark.parametrize("size", [1, 3, 7, 8])
def test_the_moments_of_a_samples_mean_are_those_over_all_samples(size: int) -> None:
    means = [each.mean for each in _samples(SMALL, size)]
    mean, variance = sampled_mean(SMALL, size)
    assert mean == pytest.approx(np.mean(means))
    assert variance == pytest.approx(np.var(means), abs=1e-12)


def test_rank_probabilities_keep_their_digits_in_large_populations() -> None:
    weights = rank_probabilities(1_000_001, 10_001, 5_001)
    ranks = np.arange(1, 1_000_002)
    # The mean rank of the k-th of n out of N is k (N + 1)/(n + 1).
    assert float(weights @ ranks) == pytest.approx(5001 * 1_000_002 / 10_002, rel=1e-12)
    assert weights.sum() == pytest.approx(1, rel=1e-12)


EXACT: list[Mechanism] = [
    NoisyMean("laplace", "published", "squared"),
    NoisyMean("gaussian", "published", "squared"),
    GlobalQuantile(),
    GlobalQuantile(0.3),
]
DRAWN: list[Mechanism] = [
    SmoothQuantile(),
    SmoothQuantile("laplace-tight"),
    SmoothQuantile("student", 0.25),
    ExponentialQuantile(),
    ProposeTestRelease(0.2),
]


def _truth(mechanism: Mechanism, column: Column) -> float:
    prepared = mechanism.prepare(column, TARGET)
    assert isinstance(prepared, PreparedMoments)
    return prepared.truth


def _by_enumeration(mechanism: Mechanism, column: Column, size: int) -> float:
    base = FixedSizeSampling(size=size, population=column.size).calibrate(TARGET)
    assert isinstance(base, Guarantee)
    truth = _truth(mechanism, column)
    errors = [
        float(expected_errors(mechanism, each, each.counts[None, :], column.bounds, base, truth)[0])
        for each in _samples(column, size)
    ]
    return float(np.mean(errors))


@pytest.mark.parametrize("mechanism", EXACT, ids=str)
@pytest.mark.parametrize("size", [1, 4, 5, 8])
def test_the_squared_error_after_sampling_is_that_over_all_samples(
    mechanism: Mechanism, size: int
) -> None:
    sampling = FixedSizeSampling(size=size, population=8)
    found = expected_error(SMALL, mechanism, TARGET, sampling)
    assert found.method == "exact"
    assert found.value == pytest.approx(_by_enumeration(mechanism, SMALL, size), rel=1e-9)
    assert found.parts is not None
    assert found.parts.root_mean_square is not None
    assert found.value == pytest.approx(found.parts.root_mean_square**2)


@pytest.mark.parametrize("mechanism", [GlobalQuantile(), *DRAWN], ids=str)
@pytest.mark.parametrize("metric", ["squared", "relative"])
@pytest.mark.parametrize("size", [1, 4, 5])
def test_the_error_on_few_samples_is_that_over_all_of_them(
    mechanism: Mechanism, metric: Metric, size: int
) -> None:
    changed = type(mechanism)(**{**mechanism.__dict__, "metric": metric})
    found = expected_error(SMALL, changed, TARGET, FixedSizeSampling(size, 8), "exact")
    assert found.value == pytest.approx(_by_enumeration(changed, SMALL, size), rel=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("too_many_outcomes")
@pytest.mark.parametrize("mechanism", DRAWN, ids=str)
@pytest.mark.parametrize("metric", ["squared", "relative"])
def test_integrated_errors_are_those_over_all_samples(mechanism: Mechanism, metric: Metric) -> None:
    changed = type(mechanism)(**{**mechanism.__dict__, "metric": metric})
    sampling = FixedSizeSampling(size=5, population=8)
    found = expected_error(
        SMALL, changed, TARGET, sampling, runs=20_000, rng=np.random.default_rng(3)
    )
    expected = _by_enumeration(changed, SMALL, 5)
    assert found.method == "simulated"
    # 2.5 times the 95 % margin is 4.9 standard errors: a false alarm in a million seeds.
    assert abs(found.value - expected) <= 2.5 * (found.high - found.value)
    assert found.high - found.low < 0.05 * found.value


@pytest.mark.parametrize("mechanism", [*EXACT, *DRAWN], ids=str)
def test_without_omission_the_error_is_exact(mechanism: Mechanism) -> None:
    for sampling in (None, FixedSizeSampling(size=8, population=8)):
        found = expected_error(SMALL, mechanism, TARGET, sampling)
        assert found.method == "exact"
        row = SMALL.counts[None, :]
        prepared = mechanism.prepare(SMALL, TARGET)
        assert isinstance(prepared, PreparedMoments)
        mean, variance = prepared.moments(row)
        expected = float((mean[0] - _truth(mechanism, SMALL)) ** 2 + variance[0])
        assert found.value == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [*EXACT, *DRAWN], ids=str)
def test_plain_simulation_agrees(mechanism: Mechanism) -> None:
    column, sampling = read("beta"), FixedSizeSampling(size=1001, population=10_001)
    found = expected_error(column, mechanism, TARGET, sampling, runs=400)
    plain = expected_error(column, mechanism, TARGET, sampling, "simulated", runs=2000)
    margin = (plain.high - plain.value) + (found.high - found.value)
    # Twice the sum of the margins is at least 3.9 standard errors: one false alarm in ten thousand.
    assert abs(found.value - plain.value) <= 2 * margin
    # Integrating the noise is what makes the interval narrow.
    assert found.high - found.low < plain.high - plain.low


def test_the_error_of_the_mean_is_equation_7() -> None:
    column = read("beta")
    epsilon, size, population = 0.5, 1001, 10_001
    variance = float(np.var(np.repeat(column.values, column.counts), ddof=1))
    on_sample = math.log1p(population / size * math.expm1(epsilon))
    published = (1 - size / population) * variance / size + 2 * (1 / (on_sample * size)) ** 2
    found = expected_error(
        column,
        NoisyMean("laplace", "published", "squared"),
        Guarantee(epsilon, neighbours="replace"),
        FixedSizeSampling(size=size, population=population),
    )
    assert found.value == pytest.approx(published, rel=1e-9)


def test_the_relative_error_of_a_sampled_global_median_is_a_sum_over_ranks() -> None:
    mechanism = GlobalQuantile(metric="relative")
    found = expected_error(SMALL, mechanism, TARGET, FixedSizeSampling(size=5, population=8))
    assert found.method == "exact"
    assert found.value == pytest.approx(_by_enumeration(mechanism, SMALL, 5), rel=1e-9)


def test_the_mean_of_known_size_is_the_noisy_mean_under_replace() -> None:
    ages = read("adult", "age")
    target = Guarantee(0.3, neighbours="replace")
    relative = expected_error(ages, NoisyMean("laplace", "published", "relative"), target)
    assert relative.value == pytest.approx(expected_error(ages, NoisyMean(), target).value)


def test_a_known_truth_of_the_population_is_compared_with() -> None:
    own = expected_error(SMALL, GlobalQuantile(), TARGET)
    other = expected_error(SMALL, GlobalQuantile(), TARGET, truth=6.0)
    assert other.value == pytest.approx(own.value + (6.0 - 3.5) ** 2)
    with pytest.raises(InvalidInput, match="truth"):
        expected_error(SMALL, GlobalQuantile(), TARGET, truth=math.nan)


@pytest.mark.usefixtures("too_many_outcomes")
def test_one_run_says_nothing_about_the_others() -> None:
    sampling = FixedSizeSampling(size=5, population=8)
    assert expected_error(SMALL, SmoothQuantile(), TARGET, sampling, runs=1).high == math.inf


@pytest.mark.usefixtures("too_many_outcomes")
def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(WrongNeighbours, match="under add-remove"):
        expected_error(SMALL, SmoothQuantile(), TARGET, PoissonSampling(0.5))
    with pytest.raises(InvalidInput, match="population=9"):
        expected_error(SMALL, SmoothQuantile(), TARGET, FixedSizeSampling(3, 9))
    with pytest.raises(InvalidInput, match="no exact answer"):
        expected_error(SMALL, SmoothQuantile(), TARGET, FixedSizeSampling(3, 8), "exact")
    with pytest.raises(InvalidInput, match="needs delta > 0"):
        expected_error(SMALL, SmoothQuantile(), Guarantee(1.0, 0.0, "replace"))


def test_where_no_noise_is_needed_only_the_sample_errs() -> None:
    # One record of eight is drawn, and delta = .2 allows to publish it: 1/8 is less.
    generous = Guarantee(0.5, 0.2, "replace")
    found = expected_error(SMALL, SmoothQuantile(), generous, FixedSizeSampling(1, 8), runs=50)
    assert found.value == pytest.approx(
        sampled_quantile(SMALL, 1, 0.5).variance
        + (sampled_quantile(SMALL, 1, 0.5).mean - 3.5) ** 2,
        rel=1e-6,
    )


def test_where_rare_samples_make_the_error_the_interval_is_said_to_cover_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In a rare sample the other value is near, and it errs far more than all the others.
    column = Column.from_counts([0.0, 1.0], [300, 101], bounds=(0, 1))
    rare = SmoothQuantile(), Guarantee(5.0, 1e-3, "replace"), FixedSizeSampling(51, 401)
    truth = expected_error(column, *rare, "exact").value
    monkeypatch.setattr(FixedSize, "outcomes", lambda *_: None)  # as if there were more values
    found = [
        expected_error(column, *rare, runs=50, rng=np.random.default_rng(seed))
        for seed in range(40)
    ]
    assert sum(each.low <= truth <= each.high for each in found) < 30, "of 38 on average"
    assert all(each.skewed for each in found)
    notes = compare(column, *rare, runs=50).notes
    assert any("strongly skewed" in note for note in notes)
    values = np.round(np.random.default_rng(5).lognormal(3, 1, 401), 2)
    column = Column.from_values(values, bounds=(0, 2000))
    usual = SmoothQuantile(), Guarantee(1.0, 1e-3, "replace"), FixedSizeSampling(101, 401)
    assert not expected_error(column, *usual, runs=300).skewed
