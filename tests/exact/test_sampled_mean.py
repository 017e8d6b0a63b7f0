"""The exact error of the mean of samples of fixed size, and without noise, against all subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from omit import Column, FixedSizeSampling, Guarantee, NoisyMean, PoissonSampling, expected_error
from omit.guarantee import NoNoiseNeeded
from omit.laws.design import FixedSize, Independent
from tests.exact.small_columns import few_records

VARIANTS = ("sum-and-count", "two-sums", "published")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "number"), [(3, 60), pytest.param(4, 3000, marks=pytest.mark.campaign)]
)
def test_the_mean_of_a_sample_of_fixed_size_is_that_of_all_subsets(seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    exact = 0
    for index in range(number):
        records = np.round(few_records(rng), 2)
        if len(records) < 2 or abs(records.mean()) < 1e-9:
            continue
        bounds = float(records.min() - 0.5), float(records.max() + 3)
        column = Column.from_values(records, bounds=bounds)
        kind = ("laplace", "gaussian")[index % 2]
        mechanism = NoisyMean(kind, VARIANTS[index % 3])  # type: ignore[arg-type]
        epsilon, size = float(10 ** rng.uniform(-2, 2)), int(rng.integers(1, len(records)))
        guarantee = Guarantee(epsilon, 1e-6 if kind == "gaussian" else 0.0, "replace")
        sampling = FixedSizeSampling(size, len(records))
        error = expected_error(
            column, mechanism, guarantee, sampling, noise_reduction=False, details=False
        )
        subsets = np.array(list(itertools.combinations(records - bounds[0], size)))
        scale = mechanism.quotient(guarantee, bounds).total
        truth, width = records.mean() - bounds[0], bounds[1] - bounds[0]
        sums = subsets.sum(axis=1)
        # E|S + Z - t m| / m, and less by what is beyond the bounds where answers are clipped.
        distance = scale.mean_distance(sums - truth * size)
        if mechanism.variant != "published":
            for limit, side in ((0.0, -1.0), (width, 1.0)):
                away = side * (sums - limit * size)
                distance = distance - (scale.mean_distance(away) + away) / 2
        expected = 100 / abs(records.mean()) * float(distance.mean()) / size
        if error.method == "exact":
            exact += 1
            slack = 1e-9 * expected
            assert error.low - slack <= expected <= error.high + slack
    assert exact >= 0.8 * number - 20


def test_a_sampled_mean_without_noise_is_that_of_all_subsets() -> None:
    records = np.array([2.0, 3.0, 3.0, 7.0, 10.0])
    column = Column.from_values(records, bounds=(0, 10))
    prepared = NoisyMean().prepare(column, NoNoiseNeeded("the sample is secret"))
    means = np.array([np.mean(each) for each in itertools.combinations(records, 3)])
    fixed = prepared.exact_error(FixedSize(3, 5))
    assert fixed.value == pytest.approx(100 * float(np.abs(means - 5).mean()) / 5, rel=1e-12)
    kept = np.array(list(itertools.product([0, 1], repeat=5)))
    answers = kept @ records / np.maximum(kept.sum(axis=1), 1)
    half = prepared.exact_error(Independent(np.full(4, 0.5)))
    assert half.value == pytest.approx(100 * float(np.abs(answers - 5).mean()) / 5, rel=1e-12)


def test_more_records_than_can_be_gone_through_are_sampled_exactly() -> None:
    rng = np.random.default_rng(2)
    column = Column.from_values(rng.integers(18, 90, 4000), bounds=(0, 125))
    for epsilon in (0.05, 1.0, 100.0):
        guarantee = Guarantee(epsilon, neighbours="replace")
        sampling = FixedSizeSampling(700, 4000)
        error = expected_error(column, NoisyMean(), guarantee, sampling)
        assert error.method == "exact"
        drawn = expected_error(column, NoisyMean(), guarantee, sampling, "simulated", runs=20_000)
        # Three tests at 5 sigma.
        assert abs(drawn.value - error.value) < 5 * (drawn.high - drawn.low) / 3.92
        assert error.median is not None
        assert error.median < error.value


@pytest.mark.slow
def test_fixed_size_and_poisson_samples_of_all_but_one_record_have_alike_errors() -> None:
    column = Column.from_counts([0, 1], [600, 400], bounds=(0, 1))
    fixed = expected_error(
        column, NoisyMean(), Guarantee(1.0, neighbours="replace"), FixedSizeSampling(999, 1000)
    )
    poisson = expected_error(
        column, NoisyMean(variant="two-sums"), Guarantee(1.0), PoissonSampling(0.999)
    )
    assert fixed.value == pytest.approx(poisson.value, rel=0.6)
