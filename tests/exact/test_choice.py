"""Choices among the points of a lattice: against the definition, enumeration and mpmath."""

from __future__ import annotations

import itertools
import math
from functools import partial

import mpmath
import numpy as np
import pytest

from omit._numeric import FloatArray, IntArray
from omit.errors import NotExact
from omit.exact.choice import (
    Choice,
    Lattice,
    choice_probabilities,
    chosen_moments,
    chosen_points,
    sums_between,
)
from omit.exact.sampled_choice import sampled_choice
from omit.exact.usual_choice import usual_choices
from tests.exact.ranked import chosen, expected_after, expected_error, scores, ways_to_keep

both_ways = pytest.mark.parametrize("flips", [True, False], ids=["flip", "exponential"])


def random_lattice(
    rng: np.random.Generator, points: int, most: int = 3
) -> tuple[Lattice, IntArray, IntArray]:
    """Return a lattice, counts at its values, and the same at all points."""
    last = int(rng.integers(1, points))
    number = int(rng.integers(1, last + 2))
    values = np.sort(rng.choice(last + 1, number, replace=False))
    counts = rng.integers(0, most + 1, number)
    everywhere = np.zeros(last + 1, dtype=np.int64)
    everywhere[values] = counts
    return Lattice(values, last), counts, everywhere


def random_choice(rng: np.random.Generator, flips: bool) -> Choice:
    share = float(rng.choice([0.5, 0.25, 0.9, 1 / 3]))
    return Choice(share, float(rng.choice([0.2, 1.0, 7.0])), flips)


@pytest.mark.slow
@both_ways
def test_every_point_has_the_probability_of_the_definition(flips: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        lattice, counts, everywhere = random_lattice(rng, 9)
        choice = random_choice(rng, flips)
        expected = chosen(scores(everywhere.tolist(), choice.share), choice.scale, flips)
        found = choice_probabilities(lattice, counts, choice)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        truth = float(rng.uniform(-1, lattice.last + 1))
        away = np.arange(lattice.last + 1) - truth
        mean, variance, distance = chosen_moments(lattice, counts[None, :], choice, truth)
        assert mean[0] == pytest.approx(truth + expected @ away, rel=1e-11)
        square = variance[0] + (mean[0] - truth) ** 2
        assert square == pytest.approx(expected @ away**2, rel=1e-11)
        assert distance[0] == pytest.approx(expected @ np.abs(away), rel=1e-11)


def test_permute_and_flip_is_the_largest_score_with_exponential_noise() -> None:
    scored, scale = scores([2, 0, 1, 0, 2, 0], 0.5), 0.8
    nodes, weights = np.polynomial.legendre.leggauss(60)
    found = np.zeros(len(scored))
    for low, high in itertools.pairwise([-3.0, -2.0, -1.0, -0.5, 0.0, 1.0, 4.0, 40.0]):
        x = low + (high - low) / 2 * (nodes + 1)
        above = np.maximum(x[:, None] - scored, 0.0) / scale
        density = np.where(x[:, None] >= scored, np.exp(-above), 0.0) / scale
        below = -np.expm1(-above)
        for winner in range(len(scored)):
            others = np.delete(below, winner, axis=1).prod(axis=1)
            found[winner] += (high - low) / 2 * weights @ (density[:, winner] * others)
    np.testing.assert_allclose(found, chosen(scored, scale, flips=True), atol=1e-9)


@pytest.mark.parametrize(("points", "scale"), [(300, 1.0), (2000, 40.0), (10**7, 3.0)])
def test_groups_of_any_number_of_points_have_the_probability_that_mpmath_gives(
    points: int, scale: float
) -> None:
    # Records at three points: groups of equal scores are between them. From a total of 480 on the
    # integrand is expanded.
    values = np.array([points // 3, points // 2, points - 2])
    counts, choice = np.array([3, 4, 2]), Choice(0.5, scale, flips=True)
    lattice = Lattice(values, points - 1)
    found = choice_probabilities(lattice, counts, choice)
    ranks = [(0, 0), (0, 3), (3, 3), (3, 7), (7, 7), (7, 9), (9, 9)]
    ends = [0, values[0], values[0] + 1, values[1], values[1] + 1, values[2], values[2] + 1, points]
    groups = [
        (int(end - start), mpmath.exp(-max(low - 4.5, 4.5 - high, 0) / mpmath.mpf(scale)))
        for (low, high), (start, end) in zip(ranks, itertools.pairwise(ends), strict=True)
    ]
    with mpmath.workdps(30):
        total = sum(number * p for number, p in groups)
        cuts = [min(mpmath.mpf(1), x / total) for x in (0, 1, 4, 16, 64)]
        for group, start in ((0, 0), (2, int(ends[2])), (3, int(ends[3])), (6, points - 1)):
            own = groups[group][1]

            def integrand(t: mpmath.mpf, own: mpmath.mpf = own) -> mpmath.mpf:
                product = own / (1 - t * own)
                for number, p in groups:
                    product *= (1 - t * p) ** number
                return product

            expected = mpmath.quad(integrand, sorted({*cuts, mpmath.mpf(1)}))
            assert found[start] == pytest.approx(float(expected), rel=1e-11)


@pytest.mark.slow
@both_ways
def test_points_are_drawn_as_often_as_they_should_be(flips: bool) -> None:
    from scipy.stats import chisquare

    lattice, counts = Lattice(np.array([1, 4, 5]), 7), np.array([3, 1, 2])
    choice, runs = Choice(0.25, 1.5, flips), 40_000
    drawn = chosen_points(lattice, np.tile(counts, (runs, 1)), choice, np.random.default_rng(2))
    expected = runs * choice_probabilities(lattice, counts, choice)
    assert chisquare(np.bincount(drawn, minlength=8), expected).pvalue > 1e-6


@both_ways
def test_without_noise_the_points_of_the_best_score_are_equally_likely(flips: bool) -> None:
    lattice, choice = Lattice(np.array([1, 4]), 5), Choice(0.5, 0.0, flips)
    two = choice_probabilities(lattice, np.array([2, 2]), choice)
    np.testing.assert_allclose(two, [0, 0.25, 0.25, 0.25, 0.25, 0], atol=1e-15)
    np.testing.assert_allclose(choice_probabilities(lattice, np.array([0, 0]), choice), 1 / 6)


def test_errors_far_below_the_rounding_of_one_keep_their_digits() -> None:
    lattice, counts = Lattice(np.array([2]), 4), np.array([[400]])
    mean, variance, _ = chosen_moments(lattice, counts, Choice(0.5, 1.0, flips=False), 2.0)
    # Four points 200 ranks off, two of them one step away and two of them two.
    assert mean[0] == 2.0
    assert variance[0] == pytest.approx(10 * math.exp(-200), rel=1e-12)


def error_sums(lattice: Lattice, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    edges = [-1, *lattice.values.tolist(), lattice.last + 1]
    between = [errors[low + 1 : high].sum() for low, high in itertools.pairwise(edges)]
    return errors[lattice.values], np.array(between)


@pytest.mark.slow
@both_ways
def test_errors_after_an_omission_are_those_of_all_that_can_be_left(flips: bool) -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        lattice, counts, _ = random_lattice(rng, 6, most=2)
        choice = random_choice(rng, flips)
        keep = rng.choice([0.0, 0.1, 0.5, 0.8, 1.0], len(counts))
        errors = rng.exponential(size=lattice.last + 1)

        error = partial(expected_error, points=lattice.values, errors=errors, choice=choice)
        sums = error_sums(lattice, errors)
        found, rare = sampled_choice(lattice, counts, keep, choice, sums)
        expected = expected_after(counts.tolist(), keep.tolist(), error)
        assert found == pytest.approx(expected, rel=1e-12)
        assert rare < 1e-17
        size = int(rng.integers(0, counts.sum() + 1))
        even = np.full(len(counts), min(max(size / max(counts.sum(), 1), 0.1), 0.9))
        found, _ = sampled_choice(lattice, counts, even, choice, sums, size=size)
        expected = expected_after(counts.tolist(), even.tolist(), error, size)
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@both_ways
@pytest.mark.parametrize("scale", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_walks_that_enter_and_leave_the_window_are_all_counted(
    flips: bool, scale: float, share: float
) -> None:
    # At these scales the window is narrower than the number of records.
    lattice, counts = Lattice(np.array([1, 2, 6]), 8), np.array([17, 9, 21])
    choice, keep, truth = Choice(share, scale, flips), np.array([0.5, 0.8, 0.6]), 2.3
    left, chances, subsets = map(
        np.array, zip(*ways_to_keep(counts.tolist(), keep.tolist()), strict=True)
    )
    distances = chosen_moments(lattice, left, choice, truth).distance
    starts, ends = np.append(0, lattice.values + 1), np.append(lattice.values - 1, lattice.last)
    sums = np.abs(lattice.values - truth), sums_between(starts, ends, truth)[1]
    found, rare = sampled_choice(lattice, counts, keep, choice, sums)
    assert found == pytest.approx(chances @ distances, rel=1e-11)
    assert rare < 1e-16
    of_size = left.sum(axis=1) == 24
    expected = np.average(distances[of_size], weights=subsets[of_size])
    found, _ = sampled_choice(lattice, counts, np.full(3, 24 / 47), choice, sums, size=24)
    assert found == pytest.approx(expected, rel=1e-11)


@both_ways
def test_a_transfer_product_on_many_points_is_that_of_all_that_can_be_left(flips: bool) -> None:
    # More points than nodes on [0, 1] would do for: the integral is cut into pieces.
    lattice, counts = Lattice(np.array([100, 40_000, 70_000]), 100_000), np.array([2, 2, 1])
    choice, keep = Choice(0.5, 0.7, flips), np.array([0.3, 0.6, 0.9])
    truth = 40_000.0
    values = np.abs(lattice.values - truth)
    starts, ends = np.append(0, lattice.values + 1), np.append(lattice.values - 1, lattice.last)
    between = sums_between(starts, ends, truth)[1]

    def error(left: tuple[int, ...]) -> float:
        return float(chosen_moments(lattice, np.array([left]), choice, truth).distance[0])

    found, _ = sampled_choice(lattice, counts, keep, choice, (values, between))
    assert found == pytest.approx(expected_after([2, 2, 1], keep.tolist(), error), rel=1e-12)


@pytest.mark.slow
def test_a_transfer_product_that_takes_too_long_is_refused() -> None:
    lattice, counts = Lattice(np.arange(1000), 999), np.full(1000, 100)
    sums = np.zeros(1000), np.zeros(1001)
    with pytest.raises(NotExact, match="noise is integrated"):
        sampled_choice(lattice, counts, np.full(1000, 0.5), Choice(0.5, 1.0, True), sums)
    # Of one size only, but with a window of thousands of ranks.
    lattice, counts = Lattice(np.arange(73), 125), np.full(73, 450)
    sums = np.zeros(73), np.zeros(74)
    with pytest.raises(NotExact, match="noise is integrated"):
        sampled_choice(
            lattice, counts, np.full(73, 0.5), Choice(0.5, 100.0, True), sums, size=16_425
        )
    lattice, counts = Lattice(np.arange(40), 39), np.full(40, 5)
    sums = np.zeros(40), np.zeros(41)
    with pytest.raises(NotExact, match="noise is integrated"):
        sampled_choice(lattice, counts, np.full(40, 0.5), Choice(0.5, 1.0, True), sums, quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, 23])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_choices_outside_their_usual_range_are_as_rare_as_stated(
    size: int | None, share: float
) -> None:
    lattice, counts = Lattice(np.array([1, 2, 3, 5]), 6), np.array([2, 40, 2, 2])
    keep = np.full(4, 0.75) if size is None else np.full(4, 23 / 46)
    choice = Choice(share, 0.05, flips=False)
    found = usual_choices(lattice, counts, keep, choice, size)
    assert found[0] == (0, 6, 0.0, 0.0)
    assert len(found) > 1
    for first, last, rare, outside in found:
        probability = weight = 0.0
        for left, independent, subsets in ways_to_keep(counts.tolist(), keep.tolist()):
            if size is not None and sum(left) != size:
                continue
            law = choice_probabilities(lattice, np.array(left), choice)
            chance = independent if size is None else subsets
            weight += chance
            probability += chance * (law[:first].sum() + law[last + 1 :].sum() > outside)
        assert probability <= rare * weight
    many = usual_choices(lattice, 1000 * counts, keep, choice, size and 1000 * size)
    assert any((first, last) == (2, 2) for first, last, _, _ in many)
