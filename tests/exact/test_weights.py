"""Engines for records with weights, held against each other and against definitions."""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import pytest

from omit.exact.data_frequencies import DataFrequencies
from omit.exact.inverted_mean import inverted_mean
from omit.exact.kept_law import _by_transform, kept_law
from omit.exact.mean import _by_law
from omit.exact.mean_setting import MeanSetting
from omit.exact.two_sums import TwoSums
from omit.laws.noise import Laplace, noise_named

NARROW = Laplace(1e-3)


def test_a_transform_of_weighted_sums_lists_the_same_law_as_going_through_all_outcomes() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        values = np.sort(rng.choice(np.arange(0.0, 9.0), 3, replace=False))
        weights = rng.choice([0.25, 0.5, 1.0], 3)
        counts, keep = rng.integers(1, 6, 3), rng.uniform(0.1, 0.9, 3)
        listed = kept_law(values, counts, keep, NARROW, 10**6, weights)
        transformed = _by_transform(values, counts, keep, weights, NARROW, 10**6)
        chances: dict[tuple[float, float], float] = {}
        for law, sign in ((listed, 1.0), (transformed, -1.0)):
            for s, c, p in zip(law.sums, law.sizes, law.probabilities, strict=True):
                key = round(float(s), 6), round(float(c), 6)
                chances[key] = chances.get(key, 0.0) + sign * float(p)
        assert max(abs(difference) for difference in chances.values()) < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_inversion_with_weights_agrees_with_the_law_of_sums(
    noise: Literal["laplace", "gaussian"],
) -> None:
    rng = np.random.default_rng(12)
    for _ in range(6):
        values = np.sort(rng.choice(np.arange(0.0, 30.0), 3, replace=False))
        weights = rng.choice([0.5, 0.75, 1.0], 3)
        counts, keep = rng.integers(30, 40, 3), rng.uniform(0.5, 0.95, 3)
        quotient = TwoSums(noise_named(noise)(15.0), (0.0, 30.0))
        truth = float(np.average(values, weights=counts * weights))
        setting = MeanSetting.of(values, counts, keep, quotient, truth, weights)
        inverted = inverted_mean(setting, 1e-4 if noise == "laplace" else 1e-7)
        value, precision, _ = _by_law(setting, 400_000, 1e-6)
        assert abs(inverted.expected - value) <= inverted.precision + precision


def test_no_frequency_is_louder_than_its_bound() -> None:
    rng = np.random.default_rng(4)
    for spread, frequency in itertools.product((0.05, 1.0), (0.2, 1.0, 5.0, 40.0)):
        number = int(rng.integers(20, 200))
        values, weights = rng.uniform(0, 10, number), rng.uniform(0.1, 1, number)
        counts, keep = rng.integers(1, 5, number), rng.uniform(0.2, 0.8, number)
        quotient = TwoSums(Laplace(10.0), (0.0, 10.0))
        setting = MeanSetting.of(values, counts, keep, quotient, 5.0, weights)
        left, right = 5 - spread, 5 + spread
        bound = DataFrequencies(setting, left, right).size(np.array([frequency]))[0]
        x = np.linspace(left, right, 4001)[:, None]
        turned = np.exp(1j * frequency * setting.weights * (setting.values - x))
        factors = np.abs(1 - setting.keep + setting.keep * turned)
        sizes = np.exp(np.log(factors) @ setting.counts)
        assert sizes.mean() <= bound * (1 + 1e-9) + 1e-17


def test_many_steps_are_bounded_by_their_bins() -> None:
    rng = np.random.default_rng(9)
    number = 4000
    values, weights = rng.uniform(0, 10, number), rng.uniform(0.1, 1, number)
    keep, counts = np.full(number, 0.3), np.ones(number, dtype=np.int64)
    quotient = TwoSums(Laplace(10.0), (0.0, 10.0))
    setting = MeanSetting.of(values, counts, keep, quotient, 5.0, weights)
    for tilt in (-0.4, -0.01, 0.03, 0.5):
        exact = setting.exact_log_moment(tilt, 4.0)
        bound = float(setting.log_moment(np.array([tilt]), 4.0)[0])
        assert exact - 1e-12 * abs(exact) <= bound <= exact + 1e-4 * abs(exact)
