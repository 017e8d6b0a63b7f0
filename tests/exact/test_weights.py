"""Engines for records with weights, held against each other and against definitions."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np
import pytest

from omit.exact.data_frequencies import FAINT, DataFrequencies
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


def test_frequencies_called_faint_are_faint_at_all_answers() -> None:
    rng = np.random.default_rng(8)
    for number, step in itertools.product((200, 1500), (0.0, 0.5, 3.0)):
        values = np.sort(rng.gamma(2.0, 2.0, number))
        values = np.unique(np.round(values / step) * step) if step else values
        counts = rng.integers(1, 200, len(values))
        counts[0] += 20 * counts.sum()  # most records have one value
        quotient = TwoSums(Laplace(30.0), (0.0, 30.0))
        keep = rng.uniform(0.2, 0.8, len(values))
        setting = MeanSetting.of(values, counts, keep, quotient, 4.0)
        last = 6.0
        start = DataFrequencies(setting, 3.0, 5.0).faint_from(last, 0.01)
        # On a lattice as wide as 3 they come back twice.
        assert 4 * math.pi / 3 < start < last if step == 3 else start < 1
        frequencies = np.linspace(start, last, 700)
        for x in (3.0, 4.2):
            turned = np.exp(1j * np.outer(frequencies, setting.values - x))
            sizes = np.log(np.abs(1 - setting.keep + setting.keep * turned)) @ setting.counts
            assert (sizes <= math.log(FAINT)).all()


def test_many_steps_are_bounded_by_their_bins() -> None:
    rng = np.random.default_rng(9)
    number = 4000
    values, weights = rng.uniform(0, 10, number), rng.uniform(0.1, 1, number)
    quotient, counts = TwoSums(Laplace(10.0), (0.0, 10.0)), np.ones(number, dtype=np.int64)
    # Chances that differ within bins are averaged.
    for keep, close in ((np.full(number, 0.3), 1e-4), (rng.uniform(0.2, 0.4, number), 0.05)):
        setting = MeanSetting.of(values, counts, keep, quotient, 5.0, weights)
        for tilt in (-0.4, -0.01, 0.03, 0.5):
            exact = setting.exact_log_moment(tilt, 4.0)
            bound = float(setting.log_moment(np.array([tilt]), 4.0)[0])
            assert exact - 1e-12 * abs(exact) <= bound <= exact + close * abs(exact)
