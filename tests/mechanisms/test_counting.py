"""Noisy counts and sums: what a record changes, and errors after omissions by enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np
import pytest

from omit import (
    REPLACE,
    Column,
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoisyMean,
    NoNoiseNeeded,
    OutlierScoreSuppression,
    PoissonSampling,
    WrongNeighbours,
    expected_error,
)
from omit.laws.noise import Gaussian, Laplace
from omit.mechanisms import NoisyCount, NoisySum
from tests.parts import base_guarantee

BOUNDS = (-2.0, 5.0)
VALUES = [-2.0, 0.0, 1.0, 1.0, 5.0]


def column(values: list[float]) -> Column:
    return Column.from_values(values, bounds=BOUNDS)


def protected_total(
    mechanism: NoisyCount | NoisySum, values: list[float], promise: Guarantee
) -> float:
    """Return the number that noise is added to."""
    prepared = mechanism.prepare(column(values), promise)
    return float(prepared.counts @ prepared.values)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_one_record_moves_a_sum_by_at_most_epsilon_noise_scales_and_some_record_does(
    neighbours: Literal["add-remove", "replace"],
) -> None:
    promise = Guarantee(0.7, neighbours=neighbours)
    lattice = [-2.0, -0.5, 0.0, 3.0, 5.0]
    moved = []
    for others in itertools.combinations_with_replacement(lattice, 2):
        for one, other in itertools.product(lattice, repeat=2):
            first = [*others, one]
            second = [*others, other] if neighbours == "replace" else list(others)
            apart = protected_total(NoisySum(), first, promise) - protected_total(
                NoisySum(), second, promise
            )
            moved.append(abs(apart) / NoisySum().scale(promise, BOUNDS))
    assert max(moved) == pytest.approx(0.7, abs=1e-12)


def test_gaussian_totals_have_the_exact_delta_of_their_largest_move() -> None:
    promise = Guarantee(0.7, 1e-5)
    assert Gaussian(NoisySum("gaussian").scale(promise, BOUNDS)).precise_delta(
        0.7, 5.0
    ) == pytest.approx(1e-5, rel=1e-9)


@pytest.mark.parametrize("metric", ["relative", "squared"])
@pytest.mark.parametrize("mechanism", [NoisyCount, NoisySum])
def test_a_poisson_sample_errs_as_all_of_its_subsets_do(
    mechanism: type[NoisyCount] | type[NoisySum], metric: Literal["relative", "squared"]
) -> None:
    target, rate = Guarantee(0.9), 0.3
    noise_epsilon = base_guarantee(PoissonSampling(rate), target).epsilon
    sensitivity = 1.0 if mechanism is NoisyCount else 5.0
    noise = Laplace(sensitivity / noise_epsilon)
    numbers = [1.0 for _ in VALUES] if mechanism is NoisyCount else VALUES
    truth, expected = math.fsum(numbers), 0.0
    for kept in itertools.product((0, 1), repeat=len(VALUES)):
        chance = rate ** sum(kept) * (1 - rate) ** (len(kept) - sum(kept))
        center = sum(number for number, k in zip(numbers, kept, strict=True) if k) / rate
        if metric == "squared":
            one = (center - truth) ** 2 + noise.variance / rate**2
        else:
            one = 100 / truth * float(noise.mean_distance((center - truth) * rate)) / rate
        expected += chance * one
    error = expected_error(column(VALUES), mechanism(metric=metric), target, PoissonSampling(rate))
    assert error.method == "exact"
    assert error.value == pytest.approx(expected, rel=1e-9)
    assert error.low - 1e-12 * expected <= expected <= error.high + 1e-12 * expected


def test_a_sample_of_fixed_size_errs_as_all_of_its_subsets_do() -> None:
    target, size = Guarantee(0.9, neighbours=REPLACE), 2
    omission = FixedSizeSampling(size, len(VALUES))
    noise = Laplace(7.0 / base_guarantee(omission, target).epsilon)
    expansion = len(VALUES) / size
    squares = [
        (expansion * sum(kept) - sum(VALUES)) ** 2 + expansion**2 * noise.variance
        for kept in itertools.combinations(VALUES, size)
    ]
    error = expected_error(column(VALUES), NoisySum(metric="squared"), target, omission)
    assert error.method == "exact"
    assert error.value == pytest.approx(float(np.mean(squares)), rel=1e-12)
    distances = [
        100
        / sum(VALUES)
        * expansion
        * float(noise.mean_distance(sum(kept) - sum(VALUES) / expansion))
        for kept in itertools.combinations(VALUES, size)
    ]
    relative = expected_error(column(VALUES), NoisySum(), target, omission)
    assert relative.method == "exact"
    assert relative.low <= np.mean(distances) <= relative.high


def test_outlier_scores_leave_a_total_that_is_not_expanded() -> None:
    many = column(VALUES * 200)
    error = expected_error(many, NoisyCount(), Guarantee(1.0), OutlierScoreSuppression(0.1, 0.2))
    assert error.method == "exact"
    assert 10 < error.value < 20


def test_simulated_and_exact_errors_agree() -> None:
    many = column(VALUES * 100)
    for mechanism in (NoisyCount(), NoisySum(), NoisySum(metric="squared")):
        exact = expected_error(many, mechanism, Guarantee(0.5), PoissonSampling(0.2))
        drawn = expected_error(
            many, mechanism, Guarantee(0.5), PoissonSampling(0.2), "simulated", runs=20_000
        )
        # 99.99 % intervals, a bit more than twice as wide: one false alarm in 3,000 seeds.
        half = 2 * (drawn.high - drawn.low) / 2
        assert abs(exact.value - drawn.value) <= half


def test_sums_far_from_zero_keep_the_digits_of_their_noise_under_replace() -> None:
    far = Column.from_counts([1e15, 1e15 + 1], [932, 68], bounds=(1e15, 1e15 + 1))
    target = Guarantee(1.0, neighbours=REPLACE)
    error = expected_error(far, NoisySum(metric="squared"), target)
    assert error.value == pytest.approx(2.0, rel=1e-9)
    answers = NoisySum().prepare(far, target).answers(far.counts[None, :], np.random.default_rng(1))
    assert answers[0] == pytest.approx(1000 * 1e15, rel=1e-15)


def test_no_noise_is_added_where_none_is_needed() -> None:
    prepared = NoisySum().prepare(column(VALUES), NoNoiseNeeded("nothing to hide"))
    assert prepared.errors(column(VALUES).counts[None, :], np.random.default_rng(1)) == [0.0]


def test_a_count_is_public_under_replace_and_a_sum_of_zero_has_no_relative_error() -> None:
    with pytest.raises(WrongNeighbours, match="count"):
        expected_error(column(VALUES), NoisyCount(), Guarantee(1.0, neighbours=REPLACE))
    with pytest.raises(InvalidInput, match="truth is 0"):
        expected_error(column([-2.0, 2.0]), NoisySum(), Guarantee(1.0))
    with pytest.raises(InvalidInput, match="noise"):
        NoisySum("cauchy")  # type: ignore[arg-type]


def test_a_proportion_is_the_mean_of_an_indicator() -> None:
    shares = column(VALUES).indicator(1)
    assert shares.mean == 2 / 5
    assert shares.bounds == (0.0, 1.0)
    by_hand = Column.from_values([0, 0, 1, 1, 0], bounds=(0, 1))
    target, sample = Guarantee(1.0), PoissonSampling(0.4)
    exact = expected_error(shares, NoisyMean(), target, sample)
    assert exact.method == "exact"
    assert exact.value == expected_error(by_hand, NoisyMean(), target, sample).value


def test_a_proportion_of_what_no_record_can_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"can have the value 7; known: \[-2, 5\]"):
        column(VALUES).indicator(7)
    texts = Column.from_values(["a", "b"], categories=("a", "b", "c"))
    assert texts.indicator("c").mean == 0
    with pytest.raises(InvalidInput, match="known: a, b, c"):
        texts.indicator("d")
