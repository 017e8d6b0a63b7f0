"""Distances of noisy totals against the sum over all kept counts."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from omit._numeric import FloatArray
from omit.errors import NotExact
from omit.exact.characteristic import log_characteristic
from omit.exact.total import total_distance
from omit.laws.noise import Gaussian, Laplace, LogConcaveNoise, NoNoise


def over_all_counts(
    values: FloatArray, counts: FloatArray, keep: FloatArray, noise: LogConcaveNoise, truth: float
) -> float:
    totals, chances = np.zeros(1), np.ones(1)
    for value, count, probability in zip(values, counts, keep, strict=True):
        kept = np.arange(count + 1)
        totals = np.add.outer(totals, value * kept).ravel()
        chances = np.outer(chances, stats.binom.pmf(kept, count, probability)).ravel()
    return math.fsum((chances * noise.mean_distance(totals - truth)).tolist())


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_distances_are_those_over_all_kept_counts_within_the_stated_precision(
    kind: type[LogConcaveNoise],
) -> None:
    rng = np.random.default_rng(5)
    exact = 0
    for _ in range(150):
        size = int(rng.integers(1, 5))
        counts = rng.integers(1, 6, size).astype(float)
        values = np.round(rng.normal(0, 10 ** rng.uniform(-2, 3), size), int(rng.integers(0, 4)))
        keep = rng.choice([0.0, 1.0, 0.5, 0.1, 0.9, float(rng.uniform())], size)
        noise = kind(10 ** rng.uniform(-2, 3))
        truth = float(rng.choice([0.0, float(counts @ values), rng.normal(0, 100)]))
        try:
            distance = total_distance(values, counts, keep, noise, truth)
        except NotExact:
            continue
        exact += 1
        expected = over_all_counts(values, counts, keep, noise, truth)
        assert abs(distance.expected - expected) <= distance.precision + 1e-14 * expected
        assert distance.precision <= 1e-8 * expected
    assert exact > 140


def test_counts_of_a_million_records_are_binomial() -> None:
    trials, rate, noise = 10**6, 0.3, Laplace(5.0)
    kept = np.arange(296_000, 304_001)
    pmf = stats.binom.pmf(kept, trials, rate)
    expected = float(pmf @ noise.mean_distance(kept - 300_100.0))
    one = np.ones(1)
    distance = total_distance(one, one * trials, one * rate, noise, 300_100.0)
    # scipy's probabilities sum up to 1 within 2e-15.
    assert abs(distance.expected - expected) <= distance.precision + 1e-13 * expected
    assert distance.precision <= 1e-8 * expected


@pytest.mark.slow
def test_many_values_without_a_lattice_agree_with_drawn_totals() -> None:
    rng = np.random.default_rng(7)
    values, counts = rng.lognormal(10, 1, 3000), np.full(3000, 4.0)
    keep, noise = rng.uniform(0.05, 0.3, 3000), Laplace(2e5)
    distance = total_distance(values, counts, keep, noise, float(counts @ (keep * values)))
    draws = rng.binomial(4, keep, size=(4000, 3000)) @ values
    errors = noise.mean_distance(draws - float(counts @ (keep * values)))
    # Four standard errors: a false alarm once in 16,000 seeds.
    assert abs(errors.mean() - distance.expected) <= 4 * errors.std() / math.sqrt(4000)
    assert distance.precision <= 1e-8 * distance.expected


def test_a_total_far_from_the_truth_errs_by_its_bias() -> None:
    one = np.ones(1)
    distance = total_distance(one, one * 100, one * 0.5, Laplace(1.0), 10_000.0)
    assert abs(distance.expected - 9950.0) <= distance.precision <= 1e-8


def test_a_random_total_without_noise_is_not_computed() -> None:
    one = np.ones(1)
    with pytest.raises(NotExact, match="no noise"):
        total_distance(one, one * 100, one * 0.5, NoNoise(), 50.0)


def test_the_logarithm_of_a_characteristic_function_keeps_its_digits_for_many_records() -> None:
    mpmath.mp.dps = 30
    one, frequency = np.ones(1), 0.0007
    for keep in (0.1, 0.3, 0.5, 0.9):
        real, imaginary = log_characteristic(
            one * frequency, np.zeros(1), one, one, one * 1e6, one * keep
        )
        exact = 10**6 * (
            mpmath.log(1 - mpmath.mpf(keep) + mpmath.mpf(keep) * mpmath.expj(frequency))
            - mpmath.mpc(0, mpmath.mpf(keep) * mpmath.mpf(frequency))
        )
        assert real[0, 0] == pytest.approx(float(exact.real), rel=1e-14)
        assert imaginary[0, 0] == pytest.approx(float(exact.imag), abs=1e-11)
