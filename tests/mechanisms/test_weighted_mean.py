"""The weighted mean: what a record changes, and errors by other routes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest
from scipy import stats

import omit
from omit.data.weighted import WeightedColumn
from omit.exact.noisy_quotient import NoisyQuotient
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


def quotient_distance(
    total: float, size: float, kind: Literal["laplace", "gaussian"], epsilon: float, truth: float
) -> float:
    """Return the expected distance under replace, by its definition: an integral in an integral.

    Values and truth are less the middle of the bounds, whose width is 20.
    """
    promise = omit.Guarantee(epsilon, 0.0 if kind == "laplace" else 1e-5, "replace")
    quotient = WeightedMean(kind).quotient(promise, BOUNDS)
    assert isinstance(quotient, NoisyQuotient)
    assert quotient.count is not None
    law, reach = (stats.laplace, 40.0) if kind == "laplace" else (stats.norm, 9.5)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    scale, count_scale = quotient.total.scale, quotient.count.scale
    steps = np.linspace(-1, 1, 21) ** 3 * reach

    def rule(kinks: list[float]) -> Iterator[tuple[float, float]]:
        edges = np.sort(np.clip([*steps, 0.0, *kinks], -reach, reach))
        for left, right in itertools.pairwise(edges):
            half = (right - left) / 2
            yield from zip(left + half * (nodes + 1), half * weights, strict=True)

    expected = 0.0
    for z, weight in rule([(1 - size) / count_scale]):
        divisor = max(size + count_scale * z, 1.0)
        kinks = [(x * divisor - total) / scale for x in (-10.0, truth, 10.0)]
        first, first_weights = np.array(list(rule(kinks))).T
        answers = np.clip((total + scale * first) / divisor, -10.0, 10.0)
        inner = first_weights @ (law.pdf(first) * np.abs(answers - truth))
        expected += float(weight * law.pdf(z) * inner)
    return expected


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_under_replace_no_change_of_a_record_costs_more_and_some_cost_it(noise: str) -> None:
    promise = omit.Guarantee(0.7, 0.0 if noise == "laplace" else 1e-5, "replace")
    quotient = WeightedMean(noise).quotient(promise, BOUNDS)  # type: ignore[arg-type]
    assert isinstance(quotient, NoisyQuotient)
    assert quotient.count is not None
    added = np.array(
        [
            (share * (value - 20) / quotient.total.scale, share / quotient.count.scale)
            for value, share in itertools.product(np.linspace(*BOUNDS, 9), np.linspace(0, 1, 9))
        ]
    )
    changes = added[:, None, :] - added[None, :, :]
    if noise == "laplace":
        assert np.abs(changes).sum(axis=2).max() == pytest.approx(0.7, abs=1e-12)
        return
    largest = float(np.sqrt((changes**2).sum(axis=2)).max())
    assert Gaussian(1.0).precise_delta(0.7, largest) == pytest.approx(1e-5, rel=1e-9)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_under_replace_the_exact_error_is_that_of_the_definition(
    kind: Literal["laplace", "gaussian"],
) -> None:
    delta = 0.0 if kind == "laplace" else 1e-5
    for values, weights, epsilon in (
        ([10.0, 14.0, 29.0], [0.5, 4.0, 1.0], 2.0),
        ([12.0, 30.0], [4.0, 4.0], 9.0),
    ):
        error = omit.expected_error(
            weighted(values, weights), WeightedMean(kind), omit.Guarantee(epsilon, delta, "replace")
        )
        shares = np.array(weights) / LARGEST
        total, size = float(shares @ (np.array(values) - 20)), float(shares.sum())
        truth = total / size
        distance = quotient_distance(total, size, kind, epsilon, truth)
        assert error.method == "exact"
        assert error.value == pytest.approx(100 / (truth + 20) * distance, rel=1e-8)


def records(rng: np.random.Generator) -> WeightedColumn:
    """Return one to eight records, some of them alike."""
    number = int(rng.integers(1, 9))
    return weighted(rng.choice([10.0, 14.5, 20.0, 29.0], number), rng.choice([0.3, 1, 4], number))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("omitted", ["poisson", "scores", "size"])
def test_after_an_omission_it_errs_as_all_subsets_of_the_records_do(
    noise: Literal["laplace", "gaussian"], omitted: str
) -> None:
    rng = np.random.default_rng([3, len(omitted)])
    for _ in range(12):
        data, epsilon = records(rng), float(rng.choice([0.5, 2.0, 8.0]))
        relation: Literal["add-remove", "replace"] = "add-remove"
        omission: omit.Omission = omit.PoissonSampling(0.6)
        size = (data.size + 1) // 2
        if omitted == "size":
            relation, omission = "replace", omit.FixedSizeSampling(size, data.size)
        elif omitted == "scores":
            omission = omit.OutlierScoreSuppression(0.2, 0.6)
        target = omit.Guarantee(epsilon, 0.0 if noise == "laplace" else 1e-5, relation)
        keep = omission.design(data, "absolute").inclusion
        atoms = np.repeat(np.arange(data.distinct), data.counts)
        rows, chances = [], []
        for kept in itertools.product((0, 1), repeat=data.size):
            row = np.bincount(atoms, kept, minlength=data.distinct).astype(np.int64)
            if omitted != "size":
                assert keep is not None
                each = np.where(kept, keep[atoms], 1 - keep[atoms])
                chances.append(float(np.prod(each)))
            else:
                chances.append(float(sum(kept) == size))
            rows.append(row)
        prepared = WeightedMean(noise).prepare(data, omission.calibrate(target))
        errors = prepared.integrated_errors(np.array(rows))
        assert errors is not None
        by_hand = float(np.average(errors, weights=chances))
        exact = omit.expected_error(data, WeightedMean(noise), target, omission)
        assert exact.method == "exact"
        assert abs(exact.value - by_hand) <= exact.high - exact.value + 1e-12 * by_hand
        assert exact.high - exact.low <= 1e-9 * exact.value


def survey(number: int, seed: int) -> WeightedColumn:
    rng = np.random.default_rng(seed)
    values, weights = np.round(rng.lognormal(10, 1, number)), rng.integers(1, 600, number)
    return WeightedColumn.from_values(values, weights, (0, 200_000), 500)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_a_sampled_survey_errs_exactly_as_drawn_samples_do(epsilon: float, rate: float) -> None:
    setting = survey(3000, 5), WeightedMean(), omit.Guarantee(epsilon), omit.PoissonSampling(rate)
    exact = omit.expected_error(*setting, details=False)
    assert exact.method == "exact"
    assert exact.high - exact.low <= 1e-6 * exact.value
    drawn = omit.expected_error(*setting, "simulated", runs=20_000)
    # Twice the half-width of 95 %: a false alarm once in 10,000.
    assert abs(exact.value - drawn.value) <= drawn.high - drawn.low


def test_a_search_knows_that_weights_move_the_mean() -> None:
    """Many light records at 30 and few heavy ones at 14: unweighted, the mean is far off."""
    data = weighted([14, 16] * 400 + [30] * 3000, [4.0, 4.0] * 400 + [0.01] * 3000)
    prepared = WeightedMean().prepare(data, omit.Guarantee(1.0))
    for rate in (0.3, 0.9):
        design = omit.PoissonSampling(rate=rate).design(data, "absolute")
        error = prepared.exact_error(design)
        assert 0.5 * error.value < prepared.least_error(design) <= error.high


@pytest.mark.slow
def test_weights_that_are_all_the_largest_give_the_sampled_mean() -> None:
    values, target = [12, 15, 15, 30] * 50, omit.Guarantee(1.0)
    omission = omit.PoissonSampling(0.7)
    plain = omit.expected_error(
        omit.Column.from_values(values, bounds=BOUNDS), omit.NoisyMean(), target, omission
    )
    heavy = omit.expected_error(weighted(values, [LARGEST] * 200), WeightedMean(), target, omission)
    assert plain.value == heavy.value


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
