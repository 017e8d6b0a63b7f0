"""What noise by smooth sensitivity guarantees, against the densities themselves."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

from omit import Guarantee, InvalidInput
from omit.laws.noise import Gaussian, Laplace, Noise, StudentT
from omit.mechanisms.sensitivity import (
    published_laplace,
    smooth_laplace_delta,
    student_noise,
    tight_laplace,
)


def _hockey_stick(epsilon: float, move: float, stretch: float) -> float:
    """Return the integral of (p - e^epsilon q)+ for p = Laplace(0, 1), q = Laplace(move, stretch).

    By quadrature between all points at which the excess changes its form or its sign.
    """

    def excess(x: float) -> float:
        other = math.exp(epsilon - abs(x - move) / stretch) / (2 * stretch)
        return 0.5 * math.exp(-abs(x)) - other

    grid = np.concatenate([np.linspace(0, 60, 2001), np.geomspace(60, 700, 300)[1:]])
    grid = np.sort(np.concatenate([grid, -grid[1:]]))
    signs = [excess(x) > 0 for x in grid]
    edges = [-700.0, 0.0, move, 700.0]
    for index in range(len(grid) - 1):
        if signs[index] != signs[index + 1]:
            edges.append(float(brentq(excess, grid[index], grid[index + 1], xtol=1e-14)))
    total = 0.0
    for low, high in itertools.pairwise(sorted(edges)):
        if high > low and excess(0.5 * (low + high)) > 0:
            # In steps, so that what is near the edge is seen though the piece is long.
            steps = np.unique(
                np.clip([low, low + 8, low + 40, high - 40, high - 8, high], low, high)
            )
            total += sum(
                quad(excess, a, b, epsabs=0, epsrel=1e-11, limit=200)[0]
                for a, b in itertools.pairwise(steps)
            )
    return total


@pytest.mark.parametrize(
    ("epsilon", "alpha", "beta"),
    [(1.0, 0.5, 0.1), (1.0, 0.5, 0.4), (0.3, 0.15, 0.1), (3.0, 1.0, 0.8), (5.0, 2.5, 1.2)],
)
def test_the_worst_pair_loses_exactly_what_the_formula_says(
    epsilon: float, alpha: float, beta: float
) -> None:
    stretch = math.exp(-beta)
    worst = _hockey_stick(epsilon, alpha * stretch, stretch)
    assert worst == pytest.approx(smooth_laplace_delta(epsilon, alpha, beta), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_no_smaller_move_and_no_smaller_stretch_loses_more(epsilon: float) -> None:
    alpha, beta = epsilon / 2, epsilon / 3
    claimed = smooth_laplace_delta(epsilon, alpha, beta)
    for part in (-1.0, -0.6, 0.0, 0.7, 1.0):
        stretch = math.exp(part * beta)
        for share in (-1.0, 0.0, 0.5, 1.0):
            lost = _hockey_stick(epsilon, share * alpha * min(1.0, stretch), stretch)
            assert lost <= claimed * (1 + 1e-9)


@given(st.floats(0.01, 9.0), st.floats(1e-12, 0.3))
def test_the_tight_discount_uses_all_of_delta_and_no_more(epsilon: float, delta: float) -> None:
    beta = tight_laplace(Guarantee(epsilon, delta, "replace")).beta
    assert beta <= epsilon / 2
    lost = smooth_laplace_delta(epsilon, epsilon / 2, beta)
    assert lost <= delta
    if beta < epsilon / 2 * (1 - 1e-6):
        assert lost == pytest.approx(delta, rel=1e-5)


@given(st.floats(1e-4, 1e4), st.floats(1e-300, 0.99))
def test_whatever_is_asked_for_the_published_noise_has_the_guarantee(
    epsilon: float, delta: float
) -> None:
    noise = published_laplace(Guarantee(epsilon, delta, "replace"))
    assert smooth_laplace_delta(epsilon, 1 / noise.factor, noise.beta) <= delta


def test_the_published_discount_wastes_delta_at_small_epsilon_and_overdraws_it_at_large() -> None:
    def lost(epsilon: float, delta: float) -> float:
        beta = epsilon / (2 * math.log(2 / delta))
        return smooth_laplace_delta(epsilon, epsilon / 2, beta) / delta

    assert lost(0.1, 5e-5) == pytest.approx(4.449e-4, rel=1e-3)
    assert lost(1.0, 5e-5) == pytest.approx(5.561e-3, rel=1e-3)
    # From about 12.9 on it does not have the guarantee that it is published for.
    assert lost(12.8, 5e-5) < 1 < lost(13.0, 5e-5)
    assert lost(20.0, 5e-5) > 5
    kept = published_laplace(Guarantee(20.0, 5e-5, "replace"))
    assert kept.beta < 20.0 / (2 * math.log(2 / 5e-5))


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [3, 4, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_students_noise_never_loses_more_than_epsilon(degrees: int, epsilon: float) -> None:
    noise = student_noise(Guarantee(epsilon, neighbours="replace"), degrees)
    alpha = 1 / noise.factor
    x = np.concatenate([np.linspace(-60, 60, 40_001), np.geomspace(60, 1e9, 4000)])
    x = np.concatenate([x, -x])
    largest = 0.0
    for part in np.linspace(-1, 1, 21):
        stretch = math.exp(part * noise.beta)
        for share in np.linspace(0, 1, 11):
            move = share * alpha * min(1.0, stretch)
            other = noise.unit.pdf((x - move) / stretch) / stretch
            loss = np.log(noise.unit.pdf(x) / other)
            largest = max(largest, float(np.abs(loss).max()))
    assert largest <= epsilon * (1 + 1e-9)
    # The halves cannot both be lost at the same place, but more than either is.
    assert largest > 0.5 * epsilon


@pytest.mark.parametrize("degrees", [3, 5])
def test_stretching_students_t_costs_its_degrees_of_freedom_at_most(degrees: int) -> None:
    unit, x = StudentT(degrees=degrees), np.geomspace(1e-6, 1e12, 20_001)
    for beta in (0.01, 0.3):
        loss = np.log(unit.pdf(x) * math.exp(-beta) / unit.pdf(x * math.exp(beta)))
        assert np.abs(loss).max() == pytest.approx(degrees * beta, rel=1e-6)
        assert np.abs(loss).max() <= degrees * beta * (1 + 1e-9)


@pytest.mark.parametrize("noise", [Laplace(), Gaussian(), StudentT(degrees=3)], ids=repr)
def test_expected_distances_are_integrals_of_the_density(noise: Noise) -> None:
    for center, scale in ((0.0, 1.0), (2.0, 0.7), (-1.5, 3.0)):

        def integrand(z: float, center: float = center, scale: float = scale) -> float:
            return abs(center + scale * z) * float(noise.pdf(z))

        zero = -center / scale
        expected = mpmath.quad(integrand, [-mpmath.inf, min(zero, 0), max(zero, 0), mpmath.inf])
        found = float(noise.mean_distance(center, scale))
        assert found == pytest.approx(float(expected), rel=1e-6)
    assert float(noise.mean_distance(3.0, 0.0)) == 3.0
    drawn = noise.draw(np.random.default_rng(0), (400_000,))
    # Six standard errors of the mean absolute value: a false alarm in five hundred million seeds.
    spread = 6 * float(np.abs(drawn).std()) / math.sqrt(len(drawn))
    assert np.abs(drawn).mean() == pytest.approx(float(noise.mean_distance(0.0, 1.0)), abs=spread)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tight_laplace(Guarantee(1.0, 0.0, "replace")), "needs delta > 0"),
        (lambda: published_laplace(Guarantee(1.0, 0.0, "replace")), "needs delta > 0"),
        (lambda: tight_laplace(Guarantee(0.0, 1e-5, "replace")), "needs epsilon > 0"),
        (lambda: student_noise(Guarantee(0.0, 0.0, "replace")), "needs epsilon > 0"),
        (lambda: student_noise(Guarantee(1.0, 0.0, "replace"), 2), "at least 3"),
        (lambda: smooth_laplace_delta(1.0, 1.5, 0.1), "at most epsilon=1"),
        (lambda: smooth_laplace_delta(1.0, 0.5, 0.9), "at most epsilon=1"),
    ],
)
def test_noise_without_a_guarantee_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(InvalidInput, match=message):
        call()
