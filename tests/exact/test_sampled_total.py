"""The total of a sample of fixed size, with noise, against all subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from omit import Column, FixedSizeSampling, Guarantee, NoisyMean, expected_error, read
from omit.errors import NotExact
from omit.exact.sampled_total import Sample, SampledTotal
from omit.laws.noise import Gaussian, Laplace, NoNoise


@pytest.mark.slow
def test_distances_are_those_of_all_subsets_within_the_stated_precision() -> None:
    rng, exact = np.random.default_rng(1), 0
    for index in range(60):
        records = int(rng.integers(2, 9))
        values = np.round(rng.normal(0, 10 ** rng.uniform(-2, 3), records), int(rng.integers(0, 4)))
        size = int(rng.integers(1, records))
        noise = (Laplace, Gaussian)[index % 2](10 ** rng.uniform(0, 3))
        levels = [0.0, float(rng.normal(0, 30))]
        sample = Sample.of(*np.unique(values, return_counts=True), size)
        try:
            total = SampledTotal.of(sample, noise, levels, 1e-9 * noise.scale)
        except NotExact:
            continue
        exact += 1
        sums = np.array([sum(subset) for subset in itertools.combinations(values, size)])
        for level in levels:
            away = sums - size * values.mean() - level
            expected = float(noise.mean_distance(away).mean())
            value, precision = total.distance(level)
            assert abs(value - expected) <= precision + 1e-14 * expected
            assert precision <= 2e-9 * noise.scale + 1e-13 * expected
            chance = float((1 - noise.cdf(-away)).mean())
            assert total.above(level) == pytest.approx(chance, abs=1e-4)
            for side in (1.0, -1.0):
                beyond = 0.5 * (expected + side * float(away.mean()))
                assert beyond <= sample.beyond(noise, side * level, side)
    assert exact > 30


@pytest.mark.parametrize("noise", [Laplace(0.4), Gaussian(3.0)])
def test_zeros_and_ones_are_hypergeometric(noise: Laplace | Gaussian) -> None:
    sample = Sample.of(np.array([0.0, 1.0]), np.array([70_000, 30_000]), 5000)
    kept = np.arange(1000, 2001)
    chances = stats.hypergeom.pmf(kept, 100_000, 30_000, 5000)
    total = SampledTotal.of(sample, noise, [0.0, 7.3], 1e-9)
    for level in (0.0, 7.3):
        expected = float(chances @ noise.mean_distance(kept - 1500 - level))
        value, precision = total.distance(level)
        # scipy's probabilities sum up to 1 within 1e-12.
        assert abs(value - expected) <= precision + 1e-11 * expected
        assert precision < 1e-8 * expected


def test_no_frequency_is_louder_than_its_bound() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0, 3, 12)
    sample = Sample.of(values, np.ones(12, dtype=np.int64), 5)
    frequencies = np.geomspace(0.01, 50, 200)
    sums = np.array([sum(subset) for subset in itertools.combinations(values, 5)])
    sizes = np.abs(np.exp(1j * np.outer(frequencies, sums)).mean(axis=1))
    assert np.abs(sample.characteristic(frequencies)) == pytest.approx(sizes, abs=1e-12)
    assert (sizes <= sample.largest_characteristic(frequencies) * (1 + 1e-9)).all()
    assert sizes[-1] < 0.9


def test_without_noise_there_is_no_series() -> None:
    sample = Sample.of(np.array([0.0, 1.0]), np.array([5, 5]), 3)
    with pytest.raises(NotExact, match="no noise"):
        SampledTotal.of(sample, NoNoise(), [0.0], 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["two-sums", "published"])
def test_samples_of_columns_that_lie_on_no_lattice_are_exact(variant: str) -> None:
    rng = np.random.default_rng(5)
    # Near a bound, so that answers are clipped at times.
    column = Column.from_values(rng.beta(0.4, 10, 3000), bounds=(0, 1))
    mechanism = NoisyMean(variant=variant)  # type: ignore[arg-type]
    setting = column, mechanism, Guarantee(0.3, neighbours="replace"), FixedSizeSampling(60, 3000)
    error = expected_error(*setting)
    drawn = expected_error(*setting, "simulated", runs=40_000)
    assert error.method == "exact"
    assert error.high - error.low < 1e-7 * error.value
    # Twice the half-width of 95 %: a false alarm once in 10,000.
    assert abs(error.value - drawn.value) <= drawn.high - drawn.low
    assert error.median is not None
    assert drawn.median == pytest.approx(error.median, rel=0.05)


@pytest.mark.slow
def test_a_fixed_size_of_wide_values_is_exact() -> None:
    weights = read("adult", "fnlwgt")
    guarantee = Guarantee(0.02, neighbours="replace")
    error = expected_error(weights, NoisyMean(), guarantee, FixedSizeSampling(2121, 32561))
    assert (error.method, error.high - error.low < 1e-8 * error.value) == ("exact", True)
