"""Sums of independent entries against convolution, and their stated errors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from omit.laws.counts import log_pmf
from omit.laws.lattice import Part, lattice_sum


def _spiky(values: int, seed: int) -> np.ndarray:
    weights = np.random.default_rng(seed).random(values) ** 4
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize(("values", "count"), [(2, 1), (7, 5), (1000, 3), (200, 40), (3, 400)])
def test_errors_are_within_what_is_stated(values: int, count: int) -> None:
    weights = _spiky(values, seed=values)
    found = lattice_sum([Part(np.arange(values), weights, count)])
    direct = np.ones(1)
    for _ in range(count):
        direct = np.convolve(direct, weights)
    window = direct[found.start : found.start + len(found.mass)]
    # Plain convolution of positive numbers errs by about one unit in 2^53 for each of them.
    own_error = 2 * values * count * 2.0**-53
    assert np.abs(found.mass - window).sum() <= found.total_error + own_error
    assert direct.sum() - window.sum() <= found.outside + own_error
    assert found.total_error < 1e-11


def test_unlike_parts_are_convolved() -> None:
    parts = [
        Part(np.array([0, 3]), np.array([0.25, 0.75]), 2),
        Part(np.array([0, 1, 5]), np.array([0.5, 0.25, 0.25]), 1),
        Part(np.array([0, 1]), np.array([0.5, 0.5]), 0),
    ]
    exact: dict[int, Fraction] = {0: Fraction(1)}
    for part in parts:
        for _ in range(part.count):
            following: dict[int, Fraction] = {}
            for place, chance in exact.items():
                for point, weight in zip(part.points, part.probabilities, strict=True):
                    at = place + int(point)
                    following[at] = following.get(at, Fraction(0)) + chance * Fraction(weight)
            exact = following
    found = lattice_sum(parts)
    assert found.start == 0
    expected = [float(exact.get(place, Fraction(0))) for place in range(len(found.mass))]
    assert found.mass == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("tilt", [-2.0, 0.0, 0.5, 3.0])
def test_tilting_keeps_relative_precision_far_out(tilt: float) -> None:
    trials, success = 2000, 0.3
    found = lattice_sum([Part(np.array([0, 1]), np.array([0.7, 0.3]), trials)], tilt)
    counts = np.arange(found.start, found.start + len(found.mass))
    clear = found.mass > 1e-4
    log = np.log(found.mass[clear]) + found.log_moment
    log -= tilt * (counts[clear] - float(found.origin))
    exact = log_pmf(counts[clear], trials, success)
    assert np.abs(log - exact).max() < 1e-10
    if tilt == 3.0:
        assert exact.max() < -600


def test_the_error_does_not_grow_with_the_number_of_entries() -> None:
    weights = _spiky(100, seed=1)
    errors = [
        lattice_sum([Part(np.arange(100), weights, count)]).total_error for count in (100, 10**5)
    ]
    assert errors[1] < 50 * errors[0] < 1e-9


def test_a_lattice_with_a_rare_odd_value_has_two_peaks_in_frequency() -> None:
    # Nearly all values are even, so the characteristic function is large again at the far end.
    weights = np.array([0.5, 1e-7, 0.5 - 1e-7])
    found = lattice_sum([Part(np.arange(3), weights, 200_000)])
    odd = found.mass[(found.start + np.arange(len(found.mass))) % 2 == 1].sum()
    expected = (1 - (1 - 2e-7) ** 200_000) / 2
    assert odd == pytest.approx(expected, rel=1e-9)
