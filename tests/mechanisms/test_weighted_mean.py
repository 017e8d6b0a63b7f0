"""The weighted mean: what a record changes, and errors by other routes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import omit
from omit.data.weighted import WeightedColumn
from omit.laws.noise import Gaussian
from omit.mechanisms import WeightedMean
from tests.accuracy.enumeration import two_sums_distance

BOUNDS, LARGEST = (10.0, 30.0), 4.0


def weighted(values: object, weights: object) -> WeightedColumn:
    return WeightedColumn.from_values(values, weights, BOUNDS, LARGEST)


def test_no_record_costs_more_than_epsilon_and_the_heaviest_cost_it() -> None:
    scale = WeightedMean().prepare(weighted([10], [1]), omit.Guarantee(0.7)).quotient.total.scale
    losses = []
    for value, weight in itertools.product(np.linspace(*BOUNDS, 9), np.linspace(0, LARGEST, 9)):
        share = weight / LARGEST
        losses.append((share * (value - 10) + share * (30 - value)) / scale)
    assert max(losses) == pytest.approx(0.7, abs=1e-12)


def test_gaussian_noise_has_the_delta_of_the_largest_pair() -> None:
    promise = omit.Guarantee(0.7, 1e-5)
    scale = WeightedMean("gaussian").prepare(weighted([10], [1]), promise).quotient.total.scale
    # A value at a bound adds all to one of the sums: the largest L2 norm is the width.
    assert Gaussian(scale).precise_delta(0.7, 20.0) == pytest.approx(1e-5, rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_equal_weights_give_the_unweighted_mean(noise: object) -> None:
    values, target = [12, 15, 15, 30] * 50, omit.Guarantee(1.0, 1e-6)
    plain = omit.expected_error(
        omit.Column.from_values(values, bounds=BOUNDS),
        omit.NoisyMean(noise, "two-sums"),  # type: ignore[arg-type]
        target,
    )
    heavy = omit.expected_error(
        weighted(values, [LARGEST] * 200),
        WeightedMean(noise),  # type: ignore[arg-type]
        target,
    )
    assert heavy.method == "exact"
    assert heavy.value == pytest.approx(plain.value, rel=1e-9)


@pytest.mark.parametrize("weights", [[0.5, 4.0, 1.0], [0.1, 0.2, 0.3], [4.0, 4.0, 3.9]])
def test_the_exact_error_is_that_of_the_definition_within_its_precision(
    weights: list[float],
) -> None:
    values, epsilon = [10.0, 14.0, 29.0], 0.8
    error = omit.expected_error(weighted(values, weights), WeightedMean(), omit.Guarantee(epsilon))
    shares = [weight / LARGEST for weight in weights]
    total = sum(share * (value - 10) for share, value in zip(shares, values, strict=True))
    truth = 10 + total / sum(shares)
    # The oracle's quadrature is good to 1e-7.
    expected = two_sums_distance(total, sum(shares), "laplace", 20 / epsilon, truth - 10, 20.0)
    assert error.value == pytest.approx(100 / truth * expected, rel=1e-7)
    assert error.high - error.low <= 1e-8 * error.value


def test_the_exact_error_is_that_of_drawn_noise() -> None:
    data = weighted([10, 14, 29] * 20, [0.5, 4, 1] * 20)
    exact = omit.expected_error(data, WeightedMean(), omit.Guarantee(0.5))
    drawn = omit.expected_error(
        data, WeightedMean(), omit.Guarantee(0.5), method="simulated", runs=40_000
    )
    # Twice the half-width of 95 %: a false alarm once in 10,000.
    assert abs(exact.value - drawn.value) <= drawn.high - drawn.low


def test_a_poisson_sample_errs_as_all_of_its_subsets_do() -> None:
    rate, target = 0.6, omit.Guarantee(2.0)
    data = weighted([10.0, 14.0, 29.0, 29.0], [0.5, 4.0, 1.0, 2.0])
    prepared = WeightedMean().prepare(data, omit.PoissonSampling(rate).calibrate(target))
    rows, chances = [], []
    for kept in itertools.product((0, 1), repeat=4):
        rows.append(kept)
        chances.append(rate ** sum(kept) * (1 - rate) ** (4 - sum(kept)))
    errors = prepared.integrated_errors(np.array(rows))
    assert errors is not None
    drawn = omit.expected_error(
        data, WeightedMean(), target, omit.PoissonSampling(rate), runs=20_000
    )
    assert drawn.low <= float(np.dot(chances, errors)) <= drawn.high


def test_without_noise_it_is_the_weighted_mean() -> None:
    data = weighted([10, 14, 29], [0.5, 4, 1])
    prepared = WeightedMean().prepare(data, omit.NoNoiseNeeded("nothing to hide"))
    answer = prepared.answers(data.counts[None, :], np.random.default_rng(1))
    assert answer[0] == pytest.approx((10 * 0.5 + 14 * 4 + 29) / 5.5, rel=1e-14)
    assert data.mean == pytest.approx(answer[0], rel=1e-14)


def test_outlier_scores_look_at_values_and_not_at_weights() -> None:
    data = weighted([10, 10, 14, 29], [0.5, 4, 1, 1])
    plain = omit.Column.from_values([10, 10, 14, 29], bounds=BOUNDS)
    scores = omit.OutlierScoreSuppression(0.1, 0.5)
    design = scores.design(data, "absolute")
    assert design.inclusion is not None
    expected = scores.design(plain, "absolute").inclusion
    assert expected is not None
    assert design.inclusion.tolist() == [expected[0], expected[0], expected[1], expected[2]]


@pytest.mark.parametrize(
    ("values", "weights", "said"),
    [
        ([1, 2], [1], "a weight for each"),
        ([11], [-1], "at least 0"),
        ([11], ["heavy"], "text"),
        ([None], [1], "no record"),
    ],
)
def test_odd_records_are_refused(values: object, weights: object, said: str) -> None:
    with pytest.raises(omit.InvalidInput, match=said):
        weighted(values, weights)


def test_weights_that_are_all_zero_have_no_mean() -> None:
    with pytest.raises(omit.InvalidInput, match="no weighted mean"):
        omit.expected_error(weighted([11], [0]), WeightedMean(), omit.Guarantee(1.0))
