"""The best sample size, the map of gain and loss, and data that are a sample themselves."""

from __future__ import annotations

import numpy as np
import pytest

from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoisyMean,
    WrongNeighbours,
    best,
    compare,
    expected_error,
    read,
)
from omit.accuracy.best_size import best_size, sample_sizes, sizes_without_noise
from omit.accuracy.expected import Question
from omit.accuracy.grids import error_grid, odd_sizes, sampled_at
from omit.accuracy.sampled_from import promise_on_sample
from omit.mechanisms import ExponentialQuantile, GlobalQuantile, SmoothQuantile

pytestmark = pytest.mark.slow

DELTA = 1 / 20_002


@pytest.mark.parametrize("population", [2, 3, 4, 101, 10_001, 32_561, 66_666])
def test_sizes_to_try_are_of_both_parities_and_less_than_all(population: int) -> None:
    sizes = sample_sizes(population)
    assert all(1 <= size < population for size in sizes)
    assert all(size + 1 in sizes for size in sizes if size % 2 == 1 and size + 1 < population)
    assert list(sizes) == sorted(set(sizes))
    assert sizes[-1] == population - 1
    with pytest.raises(InvalidInput, match="at least two"):
        sample_sizes(1)


def test_the_best_size_is_the_best_of_all_sizes_where_errors_are_exact() -> None:
    values = np.random.default_rng(0).normal(50, 10, 301)
    column = Column.from_values(values, bounds=(0, 100))
    target = Guarantee(8.0, neighbours="replace")
    mechanism = GlobalQuantile()
    errors = {
        size: expected_error(column, mechanism, target, FixedSizeSampling(size, 301)).value
        for size in range(1, 301)
    }
    found = best_size(Question(column, mechanism, target))
    # Sizes are tried at a constant ratio: the best of those lies within one step of the best.
    assert found.error.value <= 1.02 * min(errors.values())
    assert errors[found.size] == pytest.approx(found.error.value)


@pytest.mark.parametrize(("name", "epsilon"), [("lognormal", 0.1), ("bimodal", 3.0)])
def test_sampling_pays_for_the_papers_median_where_the_paper_says_so(
    name: str, epsilon: float
) -> None:
    answer = best(read(name), SmoothQuantile(), Guarantee(epsilon, 5e-5, "replace"), runs=300)
    assert answer.omission is not None
    assert isinstance(answer.nearest, FixedSizeSampling)
    # Two records are averaged, for a quarter of the noise variance.
    assert answer.nearest.size % 2 == 0
    odd = compare(
        read(name),
        SmoothQuantile(),
        Guarantee(epsilon, 5e-5, "replace"),
        answer.nearest,
        FixedSizeSampling(answer.nearest.size - 1, 10_001),
        runs=300,
    )
    even_error, odd_error = odd.rows[1].error, odd.rows[2].error
    assert even_error is not None
    assert odd_error is not None
    assert even_error.high < odd_error.low


def test_leaving_out_one_record_of_an_odd_number_gains_by_averaging_alone() -> None:
    answer = best(read("lognormal"), SmoothQuantile(), Guarantee(0.1, 5e-5, "replace"), runs=300)
    assert "of the even sizes tried" in answer.verdict
    assert "no gain by sampling" in answer.verdict
    alone = answer.comparison.rows[2]
    assert alone.omission == FixedSizeSampling(10_000, 10_001)
    assert alone.ratio is not None
    assert alone.ratio < 0.5
    one = best(read("bimodal"), SmoothQuantile(), Guarantee(3.0, 5e-5, "replace"), runs=100)
    assert one.omission == FixedSizeSampling(10_000, 10_001)
    assert "That is one record left out" in one.verdict


def test_for_an_even_number_of_records_an_even_sample_gains_nothing_by_averaging() -> None:
    even = Column.from_values(np.random.default_rng(0).normal(50, 10, 300), bounds=(0, 100))
    answer = best(even, GlobalQuantile(), Guarantee(0.1, neighbours="replace"))
    assert isinstance(answer.nearest, FixedSizeSampling)
    assert answer.nearest.size % 2 == 0
    assert "averages two" not in answer.verdict
    # With so much noise nothing is worth more than the middle of the bounds.
    assert answer.omission is None
    assert "none tells more than the middle of the bounds" in answer.verdict


def test_it_does_not_pay_for_the_exponential_mechanism_nor_for_means_at_a_small_delta() -> None:
    column = read("lognormal")
    target = Guarantee(0.1, 5e-5, "replace")
    for mechanism in (
        ExponentialQuantile(),
        NoisyMean("laplace", "published", "squared"),
        NoisyMean("gaussian", "published", "squared"),
    ):
        answer = best(column, mechanism, target, runs=200)
        assert answer.omission is None
        assert answer.verdict.startswith("None")


def test_a_mean_gains_where_delta_lets_raw_records_out_and_a_note_says_so() -> None:
    target = Guarantee(0.001, 0.01, "replace")
    answer = best(read("beta"), NoisyMean("laplace", "published", "squared"), target)
    assert isinstance(answer.omission, FixedSizeSampling)
    assert answer.omission.size <= 0.01 * 10_001
    assert any("raw records of a few people" in note for note in answer.comparison.notes)
    half = compare(
        read("beta"),
        NoisyMean("laplace", "published", "squared"),
        target,
        FixedSizeSampling(5001, 10_001),
    )
    assert not any("raw records" in note for note in half.notes)


@pytest.mark.parametrize("delta", [0.01, 0.0321, 0.2, 0.29])
@pytest.mark.parametrize("population", [100, 301, 1000])
def test_the_best_size_of_a_mean_is_not_below_what_needs_no_noise(
    population: int, delta: float
) -> None:
    values = np.random.default_rng(0).normal(50, 10, population)
    column = Column.from_values(values, bounds=(0, 100))
    target = Guarantee(1e-6, delta, "replace")
    errors = [
        expected_error(
            column,
            NoisyMean("laplace", "published", "squared"),
            target,
            FixedSizeSampling(size, population),
        ).value
        for size in range(1, population)
    ]
    found = best_size(Question(column, NoisyMean("laplace", "published", "squared"), target))
    # The best of all: the largest sample without noise.
    assert found.size == 1 + int(np.argmin(errors))
    assert found.size == max(sizes_without_noise(population, delta))
    assert found.size / population <= delta < (found.size + 1) / population


def test_no_size_needs_no_noise_where_delta_is_less_than_one_record() -> None:
    assert sizes_without_noise(10_001, 0.0) == ()
    assert sizes_without_noise(10_001, DELTA) == ()
    assert sizes_without_noise(2, 0.99) == (1,)
    assert sizes_without_noise(100, 1.0) == (98, 99)


def test_gaussian_noise_can_gain_for_means_of_equal_records_at_a_large_delta() -> None:
    equal = Column.from_values([1.0] * 10_001, bounds=(0, 1))
    target = Guarantee(1e-6, 0.1, "replace")
    fifth = FixedSizeSampling(2001, 10_001)
    gaussian = compare(equal, NoisyMean("gaussian", "published", "squared"), target, fifth)
    assert gaussian.rows[1].ratio == pytest.approx(0.868, abs=0.001)
    laplace = compare(equal, NoisyMean("laplace", "published", "squared"), target, fifth)
    assert laplace.rows[1].ratio is not None
    assert laplace.rows[1].ratio > 1


def test_the_signs_of_figures_8_and_13() -> None:
    rates, epsilons = (0.01, 0.1, 0.5, 0.9), (0.01, 0.1, 0.5, 1.0, 3.0, 5.0)
    target = Guarantee(1.0, DELTA, "replace")
    question = Question(read("lognormal"), SmoothQuantile(), target, runs=150)
    lognormal = error_grid(question, sampled_at(question.data, rates), epsilons)
    assert lognormal.sizes == (101, 1001, 5001, 9001)
    assert lognormal.gains[:2].min() == 1, "every rate gains for epsilon <= .1"
    assert lognormal.gains[2].tolist() == [-1, -1, 1, 1], "and .5 gains at middle rates"
    assert lognormal.gains[3:].max() == -1, "none gains for epsilon >= 1"
    question = Question(read("bimodal"), SmoothQuantile(), target, runs=300)
    bimodal = error_grid(question, sampled_at(question.data, rates), epsilons)
    assert bimodal.gains[:5].min() == 1, "every rate gains for epsilon <= 3"
    assert bimodal.gains[5].max() == -1, "none gains at 5"


def test_odd_sizes_are_those_of_the_paper() -> None:
    assert odd_sizes(10_001, (0.01, 0.1, 0.2, 0.9, 1.0)) == (101, 1001, 2001, 9001, 10_001)


def test_a_sample_of_a_sample_is_a_sample_of_the_population() -> None:
    # Calibrated in two steps or in one, the mechanism may use the same.
    target = Guarantee(0.7, 1e-5, "replace")
    inside = promise_on_sample(target, 1000, 50_000)
    assert isinstance(inside, Guarantee)
    twice = FixedSizeSampling(size=100, population=1000).calibrate(inside)
    once = FixedSizeSampling(size=100, population=50_000).calibrate(target)
    assert isinstance(twice, Guarantee)
    assert isinstance(once, Guarantee)
    assert twice.epsilon == pytest.approx(once.epsilon)
    assert twice.delta == pytest.approx(once.delta)


def test_a_secret_sample_needs_less_noise_and_says_what_that_rests_on() -> None:
    column = read("beta")
    target = Guarantee(0.5, DELTA, "replace")
    alone = compare(column, GlobalQuantile(), target, FixedSizeSampling(101, 10_001))
    within = compare(
        column, GlobalQuantile(), target, FixedSizeSampling(101, 10_001), sampled_from=1_000_000
    )
    base = within.rows[0].promise
    assert isinstance(base, Guarantee)
    assert FixedSizeSampling(10_001, 1_000_000).amplify(base).epsilon == pytest.approx(0.5)  # type: ignore[union-attr]
    assert within.baseline.value < alone.baseline.value
    assert "for the population of 1,000,000" in within.verdict
    notes = " ".join(within.notes)
    assert "simple random sample" in notes
    assert "known to be among the records it is only" in notes
    assert within.to_json()["sampled_from"] == 1_000_000


def test_a_sample_cannot_be_larger_than_its_population_nor_hide_its_size() -> None:
    column = read("beta")
    with pytest.raises(InvalidInput, match="population of at least as many"):
        compare(column, GlobalQuantile(), Guarantee(1.0, 0.0, "replace"), sampled_from=100)
    with pytest.raises(WrongNeighbours):
        compare(column, NoisyMean(), Guarantee(1.0), sampled_from=100_000)
    answer = best(
        column,
        NoisyMean("laplace", "published", "squared"),
        Guarantee(1.0, 0.0, "replace"),
        sampled_from=100_000,
    )
    assert answer.comparison.question.sampled_from == 100_000
