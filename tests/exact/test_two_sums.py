"""The mean by two noisy sums with its noise integrated out, against its definition."""

from __future__ import annotations

import itertools
from typing import Literal

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from omit import (
    Column,
    Guarantee,
    NoisyMean,
    PoissonSampling,
    expected_error,
    read,
)
from omit.exact.inverted_mean import inverted_mean
from omit.exact.mean import _by_law
from omit.exact.mean_setting import MeanSetting, NoExactMean
from omit.exact.two_sums import TwoSums
from omit.laws.noise import Laplace, noise_named
from tests.accuracy.enumeration import outcomes_of_sum_and_number, two_sums_distance
from tests.exact.small_columns import any_omission, few_records
from tests.parts import base_guarantee, inclusion

Symmetric = Literal["laplace", "gaussian"]
each_noise = pytest.mark.parametrize("noise", ["laplace", "gaussian"])
# Sums and numbers of records with values in [0, 10]: none, few, at a bound, many.
OUTCOMES = [(0.0, 0), (6.0, 1), (0.0, 3), (30.0, 3), (22.0, 4), (310.0, 80)]


@each_noise
@pytest.mark.parametrize(("s", "n"), OUTCOMES)
def test_the_expected_distance_is_that_of_the_definition(
    noise: Symmetric, s: float, n: int
) -> None:
    for scale, truth in ((0.7, 4.0), (9.0, 6.5), (9.0, 0.0), (40.0, 10.0)):
        quotient = TwoSums(noise_named(noise)(scale), (0.0, 10.0))
        shift = quotient.origin
        expected = two_sums_distance(s, n, noise, scale, truth, 10.0)
        got = float(quotient.distances(s - shift * n, n, truth - shift))
        assert got == pytest.approx(expected, rel=2e-8, abs=1e-14)


@pytest.mark.parametrize(("s", "n"), OUTCOMES)
@pytest.mark.parametrize("scale", [0.3, 9.0, 300.0])
def test_the_tails_add_up_to_the_distance(s: float, n: int, scale: float) -> None:
    quotient, truth = TwoSums(Laplace(scale), (0.0, 10.0)), 3.5

    def tail(x: float) -> float:
        above = float(quotient.above(s, n, x))
        return above if x > truth else 1 - above

    mean = s / n if n else 0.0
    near = [mean + step * scale / max(n, 1) for step in (-30, -8, -2, 0, 2, 8, 30)]
    cuts = [0.0, truth, 10.0, s, 10.0 - (10.0 * n - s), *near]
    edges = np.unique([cut for cut in cuts if 0 <= cut <= 10])
    distance = sum(
        integrate.quad(tail, left, right, epsabs=1e-13, epsrel=1e-11, limit=200)[0]
        for left, right in itertools.pairwise(edges)
    )
    assert float(quotient.distances(s, n, truth)) == pytest.approx(distance, rel=1e-9)


@pytest.mark.parametrize(
    ("s", "n", "truth", "scale"),
    [
        (12568.54, 32561, 0.3859998, 4.0),
        (12568.54, 32561, 0.386, 1e-3),
        (1e-3, 7905, 0.0, 0.2),
        (7904.999, 7905, 1.0, 0.2),
        (5e5, 1_000_000, 0.5, 1e-4),
    ],
)
def test_distances_keep_their_digits_however_many_records_there_are(
    s: float, n: int, truth: float, scale: float
) -> None:
    """By the tail of `(1 - x) Z1 - x Z2`; a count so large is never clamped."""
    with mpmath.workdps(40):
        total, b, t = mpmath.mpf(s), mpmath.mpf(scale), mpmath.mpf(truth)

        def beyond(x: mpmath.mpf) -> mpmath.mpf:
            """Return the probability that noise lifts the answer over x, or below it."""
            away, first, second = abs(x * n - total), (1 - x) * b, x * b
            ratio = first**2 - second**2
            if ratio == 0:
                return mpmath.exp(-away / first) * (2 + away / first) / 4
            tails = [scale**2 * mpmath.exp(-away / scale) for scale in (first, second)]
            return (tails[0] - tails[1]) / (2 * ratio)

        def tail(x: mpmath.mpf) -> mpmath.mpf:
            farther = (x > t) == (x * n > total)
            return beyond(x) if farther else 1 - beyond(x)

        steps = [total / n + k * b / n for k in (-90, -30, -9, -3, -1, 0, 1, 3, 9, 30, 90)]
        bounds = [mpmath.mpf("1e-30"), 1 - mpmath.mpf("1e-30")]
        inside = [x for x in (t, mpmath.mpf("0.5"), *steps) if bounds[0] < x < bounds[1]]
        cuts = sorted({*bounds, *inside})
        expected = float(mpmath.quad(tail, cuts))
    got = float(TwoSums(Laplace(scale), (0.0, 1.0)).distances(s, n, truth))
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-15 * truth)


@each_noise
def test_draws_are_those_of_two_noisy_sums(noise: Symmetric) -> None:
    # Bounds far from 0, which sum and count refuse.
    lower, width, runs = 1e15, 8.0, 400_000
    law = noise_named(noise)(5.0)
    quotient = TwoSums(law, (lower, lower + width))
    shift, rng = quotient.origin - lower, np.random.default_rng(4)
    drawn = quotient.draw(np.full(runs, 12.0 - 3 * shift), np.full(runs, 3.0), rng)
    first, second = 12.0 + law.draw(rng, (runs,)), 12.0 + law.draw(rng, (runs,))
    by_hand = np.clip(width * first / np.maximum(first + second, width), 0, width)
    for level in (0.0, 2.0, 4.0, 7.0):
        # Four levels at 5 sigma.
        margin = 5 * np.sqrt(0.5 / runs)
        found = float((drawn > level + 0.0625).mean())
        assert found == pytest.approx(float((by_hand > level + 0.0625).mean()), abs=margin)
        above = float(quotient.above(12.0 - 3 * shift, 3.0, level + 0.0625 - shift))
        assert found == pytest.approx(above, abs=margin)


def test_a_truth_outside_the_bounds_is_farther_from_every_answer() -> None:
    quotient = TwoSums(Laplace(9.0), (0.0, 10.0))
    near, far = (quotient.distances(20.0, 4.0, truth) for truth in (10.0, 13.0))
    assert float(far - near) == pytest.approx(3.0)


def test_given_the_count_the_noise_is_as_smooth_as_that_of_half_the_scale() -> None:
    b = 1.7
    smooth = TwoSums(Laplace(b), (0.0, 1.0)).smoothing
    for v in (-6.0, -0.4, 0.0, 2.0, 11.0):
        u = np.linspace(-60, 60, 200_001)
        density = np.exp(-(np.abs(u) + np.abs(v - u)) / b)
        for frequency in (0.3, 1.0, 4.0):
            turns = density * np.exp(1j * frequency * (u - v / 2))
            size = abs(np.trapezoid(turns, u) / np.trapezoid(density, u))
            assert size <= float(smooth.characteristic(frequency)) + 1e-7


@pytest.mark.slow
@each_noise
def test_counts_that_are_small_as_rarely_as_the_tolerance_allows_are_no_obstacle(
    noise: Symmetric,
) -> None:
    rng, small = np.random.default_rng(13), 0
    scales = {"laplace": (26.0, 29.0), "gaussian": (78.0, 82.0)}[noise]
    for _ in range(6):
        values = np.sort(rng.choice(np.arange(1.0, 30.0), 3, replace=False))
        counts, keep = rng.integers(25, 32, 3), rng.uniform(0.4, 0.6, 3)
        quotient = TwoSums(noise_named(noise)(float(rng.uniform(*scales))), (0.0, 30.0))
        truth = float(np.average(values, weights=counts))
        setting = MeanSetting.of(values, counts, keep, quotient, truth)
        with pytest.raises(NoExactMean, match="falls below 1"):
            inverted_mean(setting, 1e-13)
        try:
            inverted = inverted_mean(setting, 1e-5)
        except NoExactMean:
            continue
        small += 1
        value, precision, _ = _by_law(setting, 100_000, 1e-7)
        assert abs(inverted.expected - value) <= inverted.precision + precision
        assert inverted.precision <= 1e-4 * value
    assert small >= 2


@pytest.mark.slow
@each_noise
def test_inversion_and_the_law_of_sums_agree_within_their_precisions(noise: Symmetric) -> None:
    rng, inverted_ones = np.random.default_rng(12), 0
    for _ in range(12):
        values = np.sort(rng.choice(np.arange(1.0, 30.0), 3, replace=False))
        counts, keep = rng.integers(16, 25, 3), rng.uniform(0.5, 0.95, 3)
        quotient = TwoSums(noise_named(noise)(float(rng.uniform(9, 15))), (0.0, 30.0))
        truth = float(np.average(values, weights=counts))
        setting = MeanSetting.of(values, counts, keep, quotient, truth)
        try:
            inverted = inverted_mean(setting, 1e-4)
        except NoExactMean:
            continue
        inverted_ones += 1
        value, precision, above = _by_law(setting, 100_000, 1e-8)
        assert abs(inverted.expected - value) <= inverted.precision + precision
        for x in np.quantile(values, [0.2, 0.5, 0.7]):
            assert inverted.above(float(x)) == pytest.approx(above(float(x)), abs=1e-4)
    assert inverted_ones >= 8


@given(st.floats(0.001, 0.999), st.floats(0.0, 1.0), st.floats(0.01, 1e3))
def test_the_least_scales_bound_the_noise_of_all_answers_of_an_interval(
    low: float, part: float, frequency: float
) -> None:
    high = low + part * (1 - low)
    for law in ("laplace", "gaussian"):
        quotient = TwoSums(noise_named(law)(1.0), (0.0, 1.0))
        bound = float(quotient.largest_characteristic(np.array([frequency]), low, high)[0])
        x = np.linspace(low, high, 33)
        sizes = quotient.characteristic_at(np.array([frequency]), x)
        assert float(sizes.max()) <= bound * (1 + 1e-9)


@each_noise
def test_where_noise_decides_nothing_the_series_is_the_integral(noise: Symmetric) -> None:
    rng = np.random.default_rng(6)
    for _ in range(6):
        n, scale = float(rng.integers(300, 3000)), float(10 ** rng.uniform(-2, 0))
        s, truth = n * float(rng.uniform(0.3, 0.7)), float(rng.uniform(0.05, 0.95))
        got = float(TwoSums(noise_named(noise)(scale), (0.0, 1.0)).distances(s, n, truth))
        expected = two_sums_distance(s, n, noise, scale, truth, 1.0)
        assert got == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [0.4, 0.8])
def test_zeros_and_ones_are_inverted_within_the_bound_on_their_echoes(scale: float) -> None:
    values, counts, keep = np.array([0.0, 1.0]), np.array([3000, 2000]), np.full(2, 0.5)
    quotient = TwoSums(Laplace(scale), (0.0, 1.0))
    setting = MeanSetting.of(values, counts, keep, quotient, 0.4)
    inverted = inverted_mean(setting, 1e-4)
    value, precision, _ = _by_law(setting, 1_000_000, 1e-8)
    assert precision < abs(inverted.expected - value) <= inverted.precision
    assert inverted.precision < 1e-4 * value


@pytest.mark.parametrize("epsilon", [3.0, 5.0])
def test_small_counts_after_half_of_the_records_are_inverted_surely(epsilon: float) -> None:
    """Their sums are too many to be listed, and the noise is narrow beside their lattice."""
    counts = [5500, 1500, 1200, 600, 160, 60, 20, 6, 4]
    column = Column.from_counts(list(range(9)), counts, bounds=(0, 19))
    setting = column, NoisyMean(variant="two-sums"), Guarantee(epsilon), PoissonSampling(0.5)
    error = expected_error(*setting, details=False)
    assert error.method == "exact"
    assert error.high - error.low < 2e-6 * error.value
    drawn = expected_error(*setting, "simulated", runs=40_000)
    # Twice the half-width of 95 %: a false alarm once in 10,000.
    assert abs(error.value - drawn.value) <= drawn.high - drawn.low


def test_a_hundred_thousand_zeros_and_ones_are_exact_at_every_epsilon() -> None:
    column = Column.from_counts([0, 1], [95_000, 5_000], bounds=(0, 1))
    errors = [
        expected_error(
            column, NoisyMean(variant="two-sums"), Guarantee(epsilon), PoissonSampling(0.1),
            details=False,
        )
        for epsilon in (0.1, 1.0, 50.0)
    ]  # fmt: skip
    assert {error.method for error in errors} == {"exact"}
    assert all(error.high - error.low < 2e-6 * error.value for error in errors)
    # Hardly any noise leaves the error of two binomials; a normal law has it to first order.
    deviation = np.sqrt(0.9 * 0.05 * 0.95 / 0.1 / 100_000)
    assert errors[-1].value == pytest.approx(100 * np.sqrt(2 / np.pi) * deviation / 0.05, rel=2e-3)


def _random_column(rng: np.random.Generator) -> Column:
    records = few_records(rng)
    margins = rng.choice([0.0, 0.5, 20.0], 2)
    lower, upper = float(records.min() - margins[0]), float(records.max() + margins[1])
    return Column.from_values(records, bounds=(lower, upper if upper > lower else lower + 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "number"), [(1, 25), pytest.param(2, 2000, marks=pytest.mark.campaign)]
)
def test_small_columns_agree_with_enumeration_within_the_precision(seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(number):
        column, omission = _random_column(rng), any_omission(rng)
        kind: Symmetric = "laplace" if rng.random() < 0.5 else "gaussian"
        mechanism = NoisyMean(kind, "two-sums")
        delta = 10 ** rng.uniform(-9, -2) if kind == "gaussian" else 0.0
        target = Guarantee(float(10 ** rng.uniform(-2, 2)), float(delta))
        if column.mean == 0:
            continue
        error = expected_error(
            column, mechanism, target, omission, noise_reduction=False, details=False
        )
        assert error.method == "exact"
        base = base_guarantee(omission, target, False)
        lower, upper = column.bounds or (0.0, 0.0)
        scale = noise_named(kind).calibrated(base, upper - lower).scale
        keep = inclusion(omission, column)
        chances, sums, sizes = outcomes_of_sum_and_number(
            list(column.values - lower), list(column.counts), list(keep)
        )
        truth = column.mean - lower
        expected = 100 / abs(column.mean) * sum(
            chance * two_sums_distance(s, n, kind, scale, truth, upper - lower)
            for chance, s, n in zip(chances, sums, sizes, strict=True)
        )  # fmt: skip
        slack = 3e-8 * expected  # of the enumeration's own quadrature
        assert error.low - slack <= expected <= error.high + slack


def test_adult_ages_have_the_error_of_the_first_order_and_the_exact_digits() -> None:
    ages = read("adult", "age")
    error = expected_error(ages, NoisyMean(variant="two-sums"), Guarantee(0.25))
    # E|(1 - q) Z1 - q Z2| = (1 - q(1 - q)) R/ε for two Laplace noises, over the number of records.
    share = ages.mean / 125
    first_order = (1 - share * (1 - share)) * 125 / 0.25 / ages.size
    assert error.value == pytest.approx(100 * first_order / ages.mean, rel=1e-4)
    assert f"{error.value:.12f}" == "0.031307833106"
    expected = two_sums_distance(
        float(ages.values @ ages.counts), ages.size, "laplace", 500.0, ages.mean, 125.0
    )
    assert error.value == pytest.approx(100 * expected / ages.mean, rel=1e-8)
    assert (error.method, error.high - error.low < 1e-10) == ("exact", True)
