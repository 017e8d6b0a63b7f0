"""Protected quantiles: their guarantees by exact densities, their moments by independent sums."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from omit import Column, Guarantee, InvalidInput, NoisyMean, WrongNeighbours, read
from omit.mechanisms import (
    ExponentialQuantile,
    GlobalQuantile,
    ProposeTestRelease,
    SmoothQuantile,
    smooth_sensitivity,
)
from omit.mechanisms.base import number_errors
from omit.mechanisms.exponential_quantile import interval_weights
from omit.mechanisms.moments import PreparedAdditive, PreparedMoments
from omit.mechanisms.propose_test_release import PreparedTest
from omit.mechanisms.quantiles import QuantileMechanism
from tests.mechanisms.losses import delta_of_laplace_laws
from tests.parts import drawn_answers, expected_errors

DOMAIN = (0.0, 1.0, 3.0, 7.0)
BOUNDS = (0.0, 7.0)
FloatArray = NDArray[np.float64]
Pair = tuple[Column, Column]


def neighbours(size: int) -> Iterator[Pair]:
    """Yield all ordered pairs of databases of one size that differ in one record."""
    databases = list(itertools.combinations_with_replacement(DOMAIN, size))
    for one, other in itertools.permutations(databases, 2):
        if size - (Counter(one) & Counter(other)).total() == 1:
            yield (
                Column.from_values(one, bounds=BOUNDS),
                Column.from_values(other, bounds=BOUNDS),
            )


def _noise(
    mechanism: QuantileMechanism, column: Column, guarantee: Guarantee
) -> tuple[float, float]:
    prepared = mechanism.prepare(column, guarantee)
    assert isinstance(prepared, PreparedAdditive)
    centers, scales = prepared.centers_and_scales(column.counts[None, :])
    return float(centers[0]), float(scales[0])


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize(
    ("noise", "guarantee"),
    [
        ("laplace", Guarantee(0.5, 0.01, "replace")),
        ("laplace", Guarantee(3.0, 1e-4, "replace")),
        ("laplace-tight", Guarantee(0.5, 0.01, "replace")),
        ("laplace-tight", Guarantee(3.0, 1e-4, "replace")),
    ],
    ids=str,
)
def test_smooth_laplace_noise_has_its_guarantee_for_every_pair_of_neighbours(
    size: int, share: float, noise: str, guarantee: Guarantee
) -> None:
    mechanism = SmoothQuantile(noise, share)  # type: ignore[arg-type]
    for one, other in neighbours(size):
        lost = delta_of_laplace_laws(
            _noise(mechanism, one, guarantee),
            _noise(mechanism, other, guarantee),
            guarantee.epsilon,
        )
        assert lost <= guarantee.delta


def test_without_padding_the_noise_gives_the_records_away() -> None:
    # Constant records have no range of their own: no noise at all, next to a lot of it.
    guarantee = Guarantee(1.0, 1e-3, "replace")
    unpadded = SmoothQuantile(padding="none")
    same = Column.from_values([3.0, 3.0, 3.0], bounds=BOUNDS)
    apart = Column.from_values([0.0, 3.0, 3.0], bounds=BOUNDS)
    assert _noise(unpadded, same, guarantee)[1] == 0
    assert _noise(unpadded, apart, guarantee)[1] > 0
    assert "NOT private" in str(unpadded)


@pytest.mark.parametrize("size", [892, 893, 894, 895, 896, 2001])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, 1e-290), (-1e99, 1e99)])
def test_the_noise_of_neighbours_is_alike_even_where_the_discount_underflows(
    size: int, bounds: tuple[float, float]
) -> None:
    guarantee = Guarantee(10.0, neighbours="replace")
    student = SmoothQuantile("student")
    beta = student.calibration(guarantee).beta
    zeros = Column.from_values([bounds[0]] * size, bounds=bounds)
    one = Column.from_values([bounds[0]] * (size - 1) + [bounds[1]], bounds=bounds)
    scales = [_noise(student, column, guarantee)[1] for column in (zeros, one)]
    assert min(scales) > 0
    assert abs(math.log(scales[0]) - math.log(scales[1])) <= beta * (1 + 1e-9)
    smooth = [smooth_sensitivity(column, "median", beta) for column in (zeros, one)]
    assert abs(math.log(smooth[0]) - math.log(smooth[1])) <= beta * (1 + 1e-9)


@pytest.mark.parametrize("noise", ["laplace", "student"])
def test_noise_too_small_to_see_leaves_a_relative_error_finite(noise: str) -> None:
    zeros = Column.from_values([0.0] * 2001, bounds=(0.0, 1.0))
    mechanism = SmoothQuantile(noise, metric="relative")  # type: ignore[arg-type]
    guarantee = Guarantee(20.0, 1e-3, "replace")
    row = zeros.counts[None, :]
    assert expected_errors(mechanism, zeros, row, zeros.bounds, guarantee, 0.5) == [100.0]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_students_noise_loses_at_most_epsilon_for_every_pair_of_neighbours(
    size: int, share: float
) -> None:
    guarantee = Guarantee(0.7, neighbours="replace")
    mechanism = SmoothQuantile("student", share)
    x = np.concatenate([np.linspace(-200, 200, 4001), np.geomspace(200, 1e7, 200)])
    x = np.concatenate([x, -x[4001:]])
    pdf = mechanism.calibration(guarantee).unit.pdf
    for one, other in neighbours(size):
        (a, s), (b, t) = _noise(mechanism, one, guarantee), _noise(mechanism, other, guarantee)
        loss = np.log(pdf((x - a) / s) / s) - np.log(pdf((x - b) / t) / t)
        assert loss.max() <= guarantee.epsilon


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [0.5, 0.3])
def test_the_exponential_mechanism_loses_at_most_epsilon_for_every_pair_of_neighbours(
    size: int, share: float
) -> None:
    epsilon, largest = 1.3, 0.0
    points = np.array([0.5, 2.0, 5.0])
    for one, other in neighbours(size):
        densities = []
        for column in (one, other):
            ends, weights = interval_weights(column.values, column.counts, share, 0, 7, epsilon)
            piece = np.searchsorted(ends, points) - 1
            densities.append(weights[piece] / (ends[piece + 1] - ends[piece]))
        largest = max(largest, float(np.log(densities[0] / densities[1]).max()))
    assert largest <= epsilon * (1 + 1e-12)
    # With one record a point is as far from the wanted rank on either side of it.
    assert size < 3 or largest > 0.5 * epsilon


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("proposal", [0.1, 0.3, 0.9])
def test_propose_test_release_has_its_guarantee_for_every_pair_of_neighbours(
    size: int, proposal: float
) -> None:
    guarantee = Guarantee(0.8, 0.02, "replace")
    mechanism = ProposeTestRelease(proposal)
    closest = 0.0
    for one, other in neighbours(size):
        (a, p), (b, q) = (_tested(mechanism, column, guarantee) for column in (one, other))
        scale = 2 * proposal * 7 / guarantee.epsilon
        # The density of what passes, and the atom of what does not.
        lost = max(0.0, (1 - p) - math.exp(guarantee.epsilon) * (1 - q))
        tilted = guarantee.epsilon + math.log(q / p)
        lost += p * delta_of_laplace_laws((a, scale), (b, scale), tilted)
        assert lost <= guarantee.delta * (1 + 1e-12)
        closest = max(closest, lost)
    if proposal == 0.1 and size == 3:
        assert closest > 0.5 * guarantee.delta


def _tested(
    mechanism: ProposeTestRelease, column: Column, guarantee: Guarantee
) -> tuple[float, float]:
    prepared = mechanism.prepare(column, guarantee)
    assert isinstance(prepared, PreparedTest)
    centers, passing, *_ = prepared._tested(column.counts[None, :])
    return float(centers[0]), float(passing[0])


def test_global_noise_and_the_noise_of_the_mean_are_the_sensitivity_by_epsilon() -> None:
    guarantee = Guarantee(0.4, neighbours="replace")
    assert GlobalQuantile().scale(guarantee, (0, 10), 5) == pytest.approx(25)
    assert GlobalQuantile().scale(guarantee, (0, 10), 6) == pytest.approx(12.5)
    assert GlobalQuantile(0.9).scale(guarantee, (0, 10), 6) == pytest.approx(25)
    mean, noisy = (
        NoisyMean("laplace", "published", "squared"),
        NoisyMean().quotient(guarantee, (0, 10)),
    )
    assert mean.scale(guarantee, (0, 10), 8) == pytest.approx(noisy.total.scale / 8)
    approximate = Guarantee(0.4, 1e-6, "replace")
    gaussian = NoisyMean("gaussian").quotient(approximate, (0, 10))
    assert NoisyMean("gaussian", "published", "squared").scale(
        approximate, (0, 10), 8
    ) == pytest.approx(gaussian.total.scale / 8)


Either = NoisyMean | QuantileMechanism
MECHANISMS: list[Either] = [
    NoisyMean("laplace", "published", "squared"),
    NoisyMean("gaussian", "published", "squared"),
    GlobalQuantile(),
    SmoothQuantile(),
    SmoothQuantile("laplace-tight", 0.3),
    SmoothQuantile("student", degrees=9),
    ExponentialQuantile(),
    ExponentialQuantile(0.8),
    ProposeTestRelease(0.05),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_moments_and_distances_are_those_of_the_answers(
    mechanism: NoisyMean | QuantileMechanism,
) -> None:
    column = Column.from_counts(range(0, 100, 4), [3, 1, 4, 1, 5] * 5, bounds=(0, 100))
    guarantee, runs, truth = Guarantee(1.0, 1e-3, "replace"), 200_000, 40.0
    rows = np.tile(column.counts, (runs, 1))
    rng = np.random.default_rng(5)
    answers = drawn_answers(mechanism, column, rows, column.bounds, guarantee, rng)
    prepared = mechanism.prepare(column, guarantee, truth=truth)
    assert isinstance(prepared, PreparedMoments)
    mean, variance = prepared.moments(rows[:1])
    distance = prepared.distances(rows[:1])

    # Five standard errors: one false alarm in about a million seeds for each of the three.
    def close(found: FloatArray, expected: float) -> bool:
        return bool(abs(found.mean() - expected) < 5 * found.std() / math.sqrt(runs))

    assert close(answers, float(mean[0]))
    assert close((answers - float(mean[0])) ** 2, float(variance[0]))
    assert close(np.abs(answers - truth), float(distance[0]))


@pytest.mark.parametrize("size", [1, 2, 3, 10, 11])
@pytest.mark.parametrize("share", [0.5, 0.05, 0.9])
def test_the_truth_is_the_quantile_of_the_records(size: int, share: float) -> None:
    records = np.random.default_rng(size).integers(0, 6, size)
    column = Column.from_values(records, bounds=(0, 9))
    if share == 0.5:
        expected = np.median(records)
    else:
        expected = np.quantile(records, share, method="inverted_cdf")
    assert SmoothQuantile(quantile=share).truth(column) == expected


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_all_are_defined_under_replace_and_say_so(mechanism: Either) -> None:
    column = read("beta")
    if isinstance(mechanism, QuantileMechanism):  # means have noise under add-remove, too
        with pytest.raises(WrongNeighbours, match="under replace"):
            mechanism.prepare(column, Guarantee(1.0, 1e-3))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_text_points_and_no_epsilon_have_no_noise(mechanism: Either) -> None:
    column = Column.from_values([5.0, 5.0], bounds=(5, 5))
    row = column.counts[None, :]

    def moments(bounds: tuple[float, float], guarantee: Guarantee) -> object:
        prepared = mechanism.prepare(column, guarantee, bounds=bounds)
        assert isinstance(prepared, PreparedMoments)
        return prepared.moments(row)

    with pytest.raises(InvalidInput, match="bounds are one point"):
        moments((5, 5), Guarantee(1.0, 1e-3, "replace"))
    if mechanism != NoisyMean("gaussian", "published", "squared"):
        with pytest.raises(InvalidInput, match="epsilon > 0"):
            moments((0, 9), Guarantee(0.0, 1e-3, "replace"))
    if isinstance(mechanism, QuantileMechanism):
        text = Column.from_values(["a"], categories=("a", "b"))
        with pytest.raises(InvalidInput, match="text and has no"):
            mechanism.truth(text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SmoothQuantile("normal"), "'laplace', 'laplace-tight' or 'student'"),  # type: ignore[arg-type]
        (lambda: SmoothQuantile(quantile=1.0), "strictly between 0 and 1"),
        (lambda: SmoothQuantile(metric="both"), "'squared' or 'relative'"),  # type: ignore[arg-type]
        (lambda: SmoothQuantile(padding="some"), "'bounds' or 'none'"),  # type: ignore[arg-type]
        (lambda: SmoothQuantile("student", degrees=2), "at least 3"),
        (lambda: NoisyMean("student", "published", "squared"), "'laplace' or 'gaussian'"),  # type: ignore[arg-type]
        (lambda: ProposeTestRelease(0.0), r"in \(0, 1\]"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()


def test_an_error_of_a_truth_of_zero_is_squared_and_not_relative() -> None:
    with pytest.raises(InvalidInput, match="truth is 0"):
        number_errors("relative", np.array([1.0]), 0.0)
    assert number_errors("squared", np.array([3.0]), 0.0).tolist() == [9.0]
    assert number_errors("relative", np.array([3.0]), 4.0).tolist() == [25.0]


@given(
    steps=st.lists(st.integers(0, 6), min_size=6, max_size=6),
    other=st.integers(0, 6),
    beta=st.floats(1, 45),
)
def test_a_rounded_mean_of_two_moves_no_further_than_its_sensitivity(
    steps: list[int], other: int, beta: float
) -> None:
    """Between neighbouring floating-point numbers there is no middle, and it is rounded."""
    numbers = [0.75]
    for _ in range(6):
        numbers.append(float(np.nextafter(numbers[-1], 1)))
    pair = []
    for places in (steps, [other, *steps[1:]]):
        counts = np.bincount(places, minlength=7)[None, :]
        column = Column.from_values(numbers, bounds=(0, 1))
        center, smooth = SmoothQuantile().sensitivities(column, counts, (0.0, 1.0), beta)
        pair.append((center[0], smooth[0]))
    (first, one), (second, two) = pair
    assert abs(first - second) <= min(one, two)
    assert abs(np.log(one) - np.log(two)) <= beta * (1 + 1e-12)


@pytest.mark.parametrize(
    "mechanism",
    [
        GlobalQuantile(),
        SmoothQuantile(),
        ExponentialQuantile(),
        ProposeTestRelease(),
        ExponentialQuantile(metric="relative"),
        ProposeTestRelease(metric="relative"),
    ],
    ids=str,
)
@pytest.mark.parametrize("counts", [[5, 0, 0, 5], [3, 1, 4, 4], [2, 2, 1, 0], [8, 1, 1, 1]])
def test_quantiles_far_from_zero_are_those_near_it(
    mechanism: QuantileMechanism, counts: list[int]
) -> None:
    """At 6e15 a median that is the mean of two moved by 1, not by 1/2: twice the stated loss."""
    target, origin = Guarantee(1.0, 1e-6, "replace"), 6e15
    used = np.flatnonzero(counts)
    values, counts = np.array([0.0, 1.0, 2.0, 8.0])[used], np.array(counts)[used].tolist()
    near = Column.from_counts(values, counts, bounds=(0, 8))
    far = Column.from_counts(values + origin, counts, bounds=(origin, origin + 8))
    row = near.counts[None, :]
    truths = mechanism.truth(near) or 0.5, mechanism.truth(far)
    if mechanism.truth(near):
        errors = [
            float(expected_errors(mechanism, column, row, column.bounds, target, truth)[0])
            for column, truth in zip((near, far), truths, strict=True)
        ]
        if mechanism.metric == "relative":
            errors = [error * truth for error, truth in zip(errors, truths, strict=True)]
        assert errors[1] == pytest.approx(errors[0], rel=1e-12)
    rows = np.repeat(row, 50, axis=0)
    first = drawn_answers(mechanism, near, rows, near.bounds, target, np.random.default_rng(3))
    second = drawn_answers(mechanism, far, rows, far.bounds, target, np.random.default_rng(3))
    assert (first + origin).tolist() == second.tolist()
