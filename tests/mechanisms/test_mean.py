"""The noisy mean: which noise gives which guarantee, and what is done with it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from omit import (
    Column,
    Guarantee,
    InvalidInput,
    NoisyMean,
    NoNoiseNeeded,
    Relation,
    WrongNeighbours,
)
from omit.laws.noise import Gaussian
from omit.mechanisms.base import number_errors
from omit.mechanisms.mean import PreparedMean
from tests.parts import drawn_answers, noisy_quotient

ages = Column.from_counts([20, 40, 70], [5, 3, 2], bounds=(0, 100), name="age")


@pytest.mark.parametrize(
    ("bounds", "sensitivity"),
    [((0, 125), 125), ((-300, 10), 300), ((1, 10), 10), ((5, 5), 5), ((-8, -2), 8)],
)
def test_under_add_remove_sum_and_count_get_half_of_epsilon_each(
    bounds: tuple[float, float], sensitivity: float
) -> None:
    # One record more moves the sum by its own value, wherever the other bound is: the published
    # code's upper minus lower is too little.
    noise = noisy_quotient(NoisyMean(variant="sum-and-count"), Guarantee(0.5), bounds)
    assert noise.count is not None
    assert (noise.total.name, noise.count.name) == ("laplace", "laplace")
    assert noise.total.scale == pytest.approx(sensitivity / 0.25)
    assert noise.count.scale == pytest.approx(1 / 0.25)


@pytest.mark.parametrize(("bounds", "width"), [((0, 125), 125), ((-300, 10), 310), ((4, 10), 6)])
def test_under_replace_the_count_is_public_and_all_goes_to_the_sum(
    bounds: tuple[float, float], width: float
) -> None:
    noise = noisy_quotient(NoisyMean(), Guarantee(0.5, neighbours="replace"), bounds)
    assert noise.count is None
    assert noise.total.scale == pytest.approx(width / 0.5)
    gaussian = noisy_quotient(NoisyMean("gaussian"), Guarantee(0.5, 1e-6, "replace"), bounds)
    assert gaussian.count is None
    assert Gaussian(gaussian.total.scale).precise_delta(0.5, width) == pytest.approx(1e-6, rel=1e-9)


def test_gaussian_noise_gives_sum_and_count_half_of_epsilon_and_half_of_delta() -> None:
    halves = NoisyMean("gaussian", "sum-and-count")
    noise = noisy_quotient(halves, Guarantee(1.0, 1e-6), (-20, 90))
    assert noise.count is not None
    assert (noise.total.name, noise.count.name) == ("gaussian", "gaussian")
    assert Gaussian(noise.total.scale).precise_delta(0.5, 90) == pytest.approx(5e-7, rel=1e-9)
    assert Gaussian(noise.count.scale).precise_delta(0.5, 1) == pytest.approx(5e-7, rel=1e-9)


def test_with_hardly_any_noise_the_answer_is_the_mean_of_the_records_left() -> None:
    counts = np.array([[5, 3, 2], [1, 0, 1], [0, 7, 0]])
    for guarantee in (Guarantee(1e9), Guarantee(1e9, neighbours="replace")):
        answers = drawn_answers(
            NoisyMean(), ages, counts, ages.bounds, guarantee, np.random.default_rng(0)
        )
        np.testing.assert_allclose(answers, [36.0, 45.0, 40.0], rtol=1e-6)


def test_a_noisy_count_below_one_is_taken_for_one() -> None:
    # No record at all: the answer is the noise of the sum itself, divided by exactly 1.
    guarantee, empty = Guarantee(1e3), np.zeros((4000, 3), dtype=np.int64)
    published = NoisyMean(variant="published")
    answers = drawn_answers(
        published, ages, empty, ages.bounds, guarantee, np.random.default_rng(1)
    )
    scale = noisy_quotient(published, guarantee, ages.bounds).total.scale
    # The mean absolute Laplace noise is its scale, with a deviation of scale / sqrt(4000): 6 sigma.
    assert np.abs(answers).mean() == pytest.approx(scale, rel=6 / math.sqrt(4000))


def test_the_noise_follows_the_bounds_of_what_can_be_left_not_those_of_the_column() -> None:
    counts = np.zeros((20_000, 3), dtype=np.int64) + np.array([50, 0, 0])
    guarantee = Guarantee(1.0, neighbours="replace")
    rng = np.random.default_rng(2)
    answers = drawn_answers(NoisyMean(), ages, counts, (0.0, 30.0), guarantee, rng)
    # Laplace of scale 30 on a sum of 50 records: deviation 30 sqrt(2) / 50, known to 6 sigma.
    spread = float(answers.std())
    assert spread == pytest.approx(30 * math.sqrt(2) / 50, rel=6 * math.sqrt(5 / 80_000))


def test_an_error_is_in_per_cent_of_the_absolute_truth() -> None:
    answers = np.array([9.0, 10.0, 12.5])
    assert number_errors("relative", answers, 10.0).tolist() == pytest.approx([10.0, 0.0, 25.0])
    assert number_errors("relative", -answers, -10.0).tolist() == pytest.approx([10.0, 0.0, 25.0])
    with pytest.raises(InvalidInput, match="truth is 0"):
        number_errors("relative", answers, 0.0)


def test_the_truth_is_the_mean_of_the_column() -> None:
    prepared = NoisyMean().prepare(ages, Guarantee(1.0))
    assert isinstance(prepared, PreparedMean)
    assert prepared.truth == 36.0
    texts = Column.from_values(["a", "b"], categories=("a", "b"))
    with pytest.raises(InvalidInput, match="ask for the mode"):
        NoisyMean().prepare(texts, Guarantee(1.0))


def test_noise_that_a_mean_cannot_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match="noise='gumbel' to be 'laplace' or 'gaussian'"):
        NoisyMean("gumbel")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("noise", "guarantee", "bounds", "message"),
    [
        ("laplace", Guarantee(0.0), (0, 1), "epsilon > 0"),
        ("laplace", Guarantee(0.0, 1e-6), (0, 1), "epsilon > 0"),
        ("gaussian", Guarantee(1.0), (0, 1), "delta > 0"),
        ("laplace", Guarantee(1.0), None, "declared bounds"),
        ("gaussian", Guarantee(1.0, 1e-6), None, "declared bounds"),
        ("laplace", Guarantee(1.0), (0, 0), "something to protect"),
        ("gaussian", Guarantee(1.0, 1e-6), (0, 0), "sensitivity=0 to be above 0"),
        ("laplace", Guarantee(1.0, 0.0, "replace"), (7, 7), "something to protect"),
    ],
)
def test_what_gives_no_noise_is_refused(
    noise: str, guarantee: Guarantee, bounds: tuple[float, float] | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        NoisyMean(noise, "sum-and-count").quotient(guarantee, bounds)  # type: ignore[arg-type]


def test_bounds_that_are_one_point_need_no_noise() -> None:
    quotient = NoisyMean().quotient(Guarantee(1.0), (7.0, 7.0))
    drawn = quotient.draw(np.zeros(3), np.array([0.0, 1.0, 9.0]), np.random.default_rng(1))
    assert (drawn + quotient.origin).tolist() == [7.0, 7.0, 7.0]


def test_a_relation_of_unknown_sensitivity_is_refused() -> None:
    swaps = Relation("swap-two", meaning="two records have exchanged a value")
    with pytest.raises(WrongNeighbours, match="no noise for the relation swap-two"):
        NoisyMean().quotient(Guarantee(1.0, neighbours=swaps), (0, 1))


def _losses_of_pairs(first: float, second: float) -> float:
    """Return the largest loss of a pair of numbers with Laplace noise, shifts given in scales.

    At every point of a grid that has all kinks of the densities on it and reaches beyond them.
    """
    points = np.array([-9.0, 0.0, first, 9.0]), np.array([-9.0, 0.0, second, 9.0])
    x, y = np.meshgrid(*points)
    loss = np.abs(x - first) + np.abs(y - second) - np.abs(x) - np.abs(y)
    return float(np.abs(loss).max())


def _neighbours_by_adding(values: list[float]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield every database of up to three records, and it with one record more."""
    for size in range(4):
        for records in itertools.combinations_with_replacement(values, size):
            for one_more in values:
                yield list(records), [*records, one_more]


@pytest.mark.parametrize("bounds", [(0.0, 4.0), (-3.0, 1.0), (7.0, 9.0)], ids=str)
def test_the_loss_of_two_sums_and_of_sum_and_count_is_epsilon_and_never_more(
    bounds: tuple[float, float],
) -> None:
    lower, upper = bounds
    values, epsilon = np.linspace(lower, upper, 5).tolist(), 0.7
    both = NoisyMean(variant="two-sums").quotient(Guarantee(epsilon), bounds).total.scale
    halves = noisy_quotient(NoisyMean(variant="sum-and-count"), Guarantee(epsilon), bounds)
    assert halves.count is not None
    by_sums, by_count = [], []
    for records, more in _neighbours_by_adding(values):
        above = sum(more) - sum(records) - lower, upper - sum(more) + sum(records)
        by_sums.append(_losses_of_pairs(above[0] / both, above[1] / both))
        total = (sum(more) - sum(records)) / halves.total.scale
        by_count.append(_losses_of_pairs(total, 1 / halves.count.scale))
    # With two sums every record has the whole loss; with sum and count only the largest.
    assert min(by_sums) == pytest.approx(epsilon, abs=1e-9)
    assert max(by_sums) == pytest.approx(epsilon, abs=1e-9)
    assert max(by_count) == pytest.approx(epsilon, abs=1e-9)
    assert min(by_count) < 0.99 * epsilon


# THEORY, Section 8.1: deviation of the answer times n epsilon/(U - L), of 0/1 records by share.
@pytest.mark.parametrize(
    ("share", "two_sums", "halves"), [(0.1, 1.28, 2.84), (0.3, 1.08, 2.95), (0.5, 1.0, 3.16)]
)
def test_deviations_of_means_are_the_tabulated_ones(
    share: float, two_sums: float, halves: float
) -> None:
    number, epsilon = 10**6, 0.5
    column = Column.from_counts(
        [3, 7], [round(number * (1 - share)), round(number * share)], bounds=(3, 7)
    )
    for variant, printed in (("two-sums", two_sums), ("sum-and-count", halves)):
        if variant == "sum-and-count":  # of what values exceed the lower bound by
            column = Column.from_counts([0, 4], column.counts, bounds=(0, 4))
        mechanism = NoisyMean("laplace", variant)  # type: ignore[arg-type]
        rng, rows = np.random.default_rng(8), np.repeat(column.counts[None, :], 40_000, axis=0)
        answers = drawn_answers(mechanism, column, rows, column.bounds, Guarantee(epsilon), rng)
        deviation = float(answers.std()) * number * epsilon / 4
        by_theory = math.sqrt(2 * (share**2 + (1 - share) ** 2))
        if variant == "sum-and-count":
            by_theory = 2 * math.sqrt(2 * (1 + share**2))
        assert round(by_theory, 2) == printed
        # The kurtosis of Laplace noise is 6: four standard errors.
        assert deviation == pytest.approx(by_theory, rel=4 * math.sqrt(5 / 4 / 40_000))


def test_the_delta_of_gaussian_sums_is_that_of_the_promise_and_never_more() -> None:
    values, guarantee = np.linspace(-3.0, 1.0, 9).tolist(), Guarantee(0.7, 1e-5)
    two = NoisyMean("gaussian", "two-sums").quotient(guarantee, (-3.0, 1.0)).total
    one = noisy_quotient(
        NoisyMean("gaussian", "two-sums"), Guarantee(0.7, 1e-5, "replace"), (-3.0, 1.0)
    )
    assert isinstance(two, Gaussian)
    assert isinstance(one.total, Gaussian)
    # Gaussian noise is the same in all directions: delta is that of the length of the shift.
    shifts = [math.hypot(v + 3.0, 1.0 - v) for v in values]
    deltas = [two.precise_delta(0.7, shift) for shift in shifts]
    assert max(deltas) == pytest.approx(1e-5, rel=1e-9)
    assert max(deltas) <= 1e-5
    replaced = [one.total.precise_delta(0.7, v - w) for v in values for w in values if v > w]
    assert max(replaced) == pytest.approx(1e-5, rel=1e-9)
    assert max(replaced) <= 1e-5


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("variant", ["two-sums", "sum-and-count", "published"])
@pytest.mark.parametrize(("noise", "delta"), [("laplace", 0.0), ("gaussian", 1e-3)])
def test_no_answer_tells_neighbouring_databases_apart_by_more_than_the_promise(
    noise: str, variant: str, relation: str, delta: float
) -> None:
    guarantee, values = Guarantee(0.9, delta, relation), [0.0, 1.0, 2.5, 4.0]
    quotient = NoisyMean(noise, variant).quotient(guarantee, (0.0, 4.0))  # type: ignore[arg-type]
    levels = np.linspace(0, 4, 33)[:-1] - quotient.origin

    def above(records: list[float]) -> np.ndarray:
        total = sum(records) - quotient.origin * len(records)
        return np.array([float(quotient.above(total, len(records), x)) for x in levels])

    largest = -math.inf
    for records, more in _neighbours_by_adding(values):
        if relation == "replace" and records:
            records = [*records[:-1], more[-1]]
            more = more[:-1]
        elif relation == "replace":
            continue
        one, other = above(records), above(more)
        for p, q in ((one, other), (other, one), (1 - one, 1 - other), (1 - other, 1 - one)):
            largest = max(largest, float((p - math.exp(0.9) * q).max()))
    assert largest <= delta + 1e-12


@pytest.mark.parametrize("variant", ["two-sums", "sum-and-count", "published"])
def test_drawn_errors_far_from_zero_have_the_digits_of_their_noise(variant: Any) -> None:
    near = Column.from_counts([0, 1], [932, 68], bounds=(0, 1))
    far = Column.from_counts([1e15, 1e15 + 1], [932, 68], bounds=(1e15, 1e15 + 1))
    for promise in (Guarantee(1.0, neighbours="replace"), NoNoiseNeeded("nothing to hide")):
        first, second = (
            NoisyMean("laplace", variant, "squared")
            .prepare(column, promise)
            .errors(np.repeat(column.counts[None, :], 50, axis=0), np.random.default_rng(3))
            for column in (near, far)
        )
        np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-30)
