"""The variance from three noisy sums after an omission, against sums over all that can be left."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from omit import Guarantee, PoissonSampling, expected_error, read
from omit._numeric import FloatArray
from omit.errors import NotExact
from omit.exact.noisy_variance import three_sums_error
from omit.exact.sampled_variance import sampled_variance_error
from omit.exact.variance_frequencies import Mesh, sizes_at
from omit.laws.noise import Gaussian, Laplace, LogConcaveNoise, NoNoise
from omit.mechanisms import NoisyVariance

# Many records that are certain to be left, and a few others.
SHARES = np.array([0.1, 0.9, 0.45, 0.8, 0.2])
COUNTS = np.array([1500, 1200, 3, 3, 3])
KEEP = np.array([1.0, 1.0, 0.5, 0.3, 0.8])
NORMAL = np.round(np.linspace(0.02, 0.98, 49), 2)
BELL = np.maximum(np.round(900 * np.exp(-((NORMAL - 0.4) ** 2) / 0.03)), 1).astype(np.int64)


def sums_of(counts: NDArray[np.int64], shares: FloatArray) -> FloatArray:
    """Return the three sums for every row of counts."""
    terms = np.stack([(1 - shares) ** 2, 2 * shares * (1 - shares), shares**2], axis=1)
    return np.asarray(counts @ terms)


@pytest.mark.slow
def test_it_is_the_average_over_all_that_can_be_left() -> None:
    expected, scale, truth = 0.0, 6.0, 0.155
    random = [range(4) if 0 < k < 1 else [n] for n, k in zip(COUNTS, KEEP, strict=True)]
    for left in itertools.product(*random):
        chance = math.prod(stats.binom.pmf(left, COUNTS, KEEP).tolist())
        sums = sums_of(np.array(left), SHARES)
        given = three_sums_error(sums, scale, truth, gaussian=True, squared=False)
        expected += chance * given.expected
    found = sampled_variance_error(SHARES, COUNTS, KEEP, Gaussian(scale), truth)
    # The oracle is sure to 1e-8.
    assert abs(found.expected - expected) <= found.precision + 1e-8 * expected
    assert found.precision <= 1e-6 * expected


@pytest.mark.slow
@pytest.mark.parametrize("noise", [Gaussian(8.0), Gaussian(0.1), Laplace(3.0)])
@pytest.mark.parametrize("biased", [False, True])
def test_it_is_the_error_of_drawn_samples_and_noise(noise: LogConcaveNoise, biased: bool) -> None:
    keep = 0.2 + 0.3 * NORMAL if biased else np.full(len(NORMAL), 0.3)
    mean = float(BELL @ NORMAL) / BELL.sum()
    truth = float(BELL @ (NORMAL - mean) ** 2) / BELL.sum()
    found = sampled_variance_error(NORMAL, BELL, keep, noise, truth)
    rng = np.random.default_rng(2)
    kept = rng.binomial(BELL, keep, size=(100_000, len(BELL)))
    sums = sums_of(kept, NORMAL)
    noisy = sums + noise.draw(rng, sums.shape)
    number = np.maximum(noisy.sum(axis=1), 1.0)
    variances = (noisy[:, 0] * noisy[:, 2] - noisy[:, 1] ** 2 / 4) / number**2
    distances = np.abs(np.clip(variances, 0.0, 0.25) - truth)
    # Four standard errors, six times: a false alarm once in 2,600.
    assert abs(found.expected - distances.mean()) <= 4 * distances.std() / len(distances) ** 0.5
    assert found.precision <= 1e-6 * found.expected


def test_sizes_on_a_mesh_are_bounds_between_its_points() -> None:
    rng = np.random.default_rng(4)
    for offsets in (np.arange(-9.0, 10.0) / 20, np.sort(rng.uniform(-0.5, 0.5, 30))):
        spread = rng.uniform(0, 3, len(offsets))
        mesh = Mesh.of(offsets, spread, 40.0, 60.0)
        rows = list(mesh.rows())
        assert rows[0][0].tolist() == [0.0]
        for omegas, sizes in rows[1:]:
            alpha = rng.uniform(-0.5, 0.5, sizes.shape) * mesh.column_width + mesh.alphas
            omega = omegas[:, None] + rng.uniform(-0.5, 0.5, sizes.shape) * mesh.row_width
            there = sizes_at(alpha.ravel(), omega.ravel(), offsets, spread).reshape(sizes.shape)
            assert (there <= sizes + mesh.slack(mesh.row_width) + 1e-9).all()
            assert (there >= sizes - mesh.slack(mesh.row_width) - 1e-9).all()
        assert mesh.alphas[-1] >= 40


def test_what_it_cannot_do_is_refused() -> None:
    keep = np.full(len(NORMAL), 0.3)
    with pytest.raises(NotExact, match="no variance"):
        sampled_variance_error(NORMAL, BELL, keep, Laplace(3.0), 0.3)
    with pytest.raises(NotExact, match="no noise"):
        sampled_variance_error(NORMAL, BELL, keep, NoNoise(), 0.02)
    with pytest.raises(NotExact, match="certain"):
        sampled_variance_error(NORMAL, BELL, np.ones(len(NORMAL)), Laplace(3.0), 0.02)
    with pytest.raises(NotExact, match="too few"):
        sampled_variance_error(NORMAL, BELL, keep, Laplace(800.0), 0.02)
    marked = np.array([0.0, 1.0]), np.array([7000, 3000]), np.full(2, 0.5)
    with pytest.raises(NotExact, match="values"):
        sampled_variance_error(*marked, Laplace(3.0), 0.21)


@pytest.mark.slow
def test_a_sampled_variance_of_adult_ages_is_exact() -> None:
    ages = read("adult", "age")
    setting = ages, NoisyVariance(), Guarantee(0.25), PoissonSampling(0.5)
    error = expected_error(*setting)
    assert (error.method, error.high - error.low < 2e-6 * error.value) == ("exact", True)
    drawn = expected_error(*setting, "simulated", runs=40_000)
    # Twice the half-width of 95 %: a false alarm once in 10,000.
    assert abs(error.value - drawn.value) <= drawn.high - drawn.low
