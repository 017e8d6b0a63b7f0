"""The composed scale by other routes: our own convolution, an urn, and Monte Carlo."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from omit.mechanisms.kmeans import composed_laplace_scale

CASES = [
    (1.0, 1e-6, 35),
    (1.0, 1e-9, 35),
    (1.0, 1e-12, 35),
    (0.1, 1e-6, 35),
    (0.25, 1e-6, 70),
    (10.0, 1e-6, 35),
    (100.0, 1e-6, 35),
    (1.0, 0.5, 10),
    (1e-9, 1e-6, 35),
    (1.0, 1e-5, 3),
]


def convolved_delta(scale: float, epsilon: float, releases: int, grains: int, up: bool) -> float:
    """Return delta with losses rounded up (an upper bound) or down (a lower bound).

    Convolved term by term, so that all numbers are positive and nothing cancels.
    """
    # The loss at noise x in (0, 1) is (1 - 2 x) / scale; it is +-1 / scale outside.
    edges = np.arange(-grains, grains) / grains
    inner = 0.5 * np.exp(-0.5 * (1 - edges) / scale) * math.expm1(0.5 / (grains * scale))
    one = np.zeros(2 * grains + 1)
    one[0], one[-1] = 0.5 * math.exp(-1 / scale), 0.5
    one[1:] += inner if up else 0.0
    one[:-1] += 0.0 if up else inner
    assert math.fsum(one) == pytest.approx(1, abs=1e-12)
    composed = one
    for _ in range(releases - 1):
        composed = np.convolve(composed, one)
    loss = np.arange(-grains * releases, grains * releases + 1) / (grains * scale)
    bad = loss > epsilon
    return math.fsum(composed[bad] * -np.expm1(epsilon - loss[bad]))


@pytest.mark.parametrize(("epsilon", "delta", "releases"), CASES)
def test_the_composed_scale_keeps_its_promise(epsilon: float, delta: float, releases: int) -> None:
    scale = composed_laplace_scale(epsilon, delta, releases)
    assert convolved_delta(scale, epsilon, releases, 400, up=True) <= delta
    # And it is not wasteful: a scale 1 % smaller breaks the promise.
    assert convolved_delta(0.99 * scale, epsilon, releases, 150, up=False) > delta


def test_for_tiny_epsilon_delta_is_half_the_distance_of_a_random_walk() -> None:
    # Losses are then +-1/scale like fair coins, and delta at 0 is E|S_n| / (2 scale).
    releases, delta = 35, 1e-6
    walk = releases * math.comb(releases - 1, releases // 2) / 2 ** (releases - 1)
    scale = composed_laplace_scale(1e-200, delta, releases)
    assert walk / (2 * delta) <= scale <= walk / (2 * delta) * 1.0003


def test_sampled_losses_exceed_epsilon_no_more_than_promised() -> None:
    # delta is the mean of max(0, 1 - e^(epsilon - loss)); false-alarm rate 2e-6.
    epsilon, delta, releases, draws = 1.0, 0.01, 35, 400_000
    scale = composed_laplace_scale(epsilon, delta, releases)
    rng = np.random.default_rng(4)
    loss = np.zeros(draws)
    for _ in range(releases):
        noise = rng.laplace(0, scale, draws)
        loss += (np.abs(noise - 1) - np.abs(noise)) / scale
    exceeding = np.maximum(0, -np.expm1(epsilon - loss))
    error = stats.norm.isf(1e-6) * exceeding.std() / math.sqrt(draws)
    assert exceeding.mean() <= delta + error
    assert exceeding.mean() >= delta - error - 1e-3 * delta
    assert error < 0.05 * delta


@pytest.mark.slow
@settings(max_examples=25)
@given(st.floats(-20, 8), st.floats(-36, -0.01), st.integers(1, 60))
def test_the_composed_scale_is_never_above_the_pure_one(
    log_epsilon: float, log_delta: float, releases: int
) -> None:
    epsilon, delta = math.exp(log_epsilon), math.exp(log_delta)
    scale = composed_laplace_scale(epsilon, delta, releases)
    assert 0 < scale <= releases / epsilon


def test_where_delta_is_below_rounding_the_scale_is_the_pure_one() -> None:
    assert composed_laplace_scale(1.0, 1e-15, 35) == 35.0
    assert composed_laplace_scale(1e6, 1e-6, 35) == 35e-6


def test_one_release_has_the_closed_form_scale() -> None:
    # delta = 1 - e^((epsilon - 1/scale)/2).
    for epsilon, delta in ((1.0, 0.1), (0.1, 0.01), (2.0, 1e-6)):
        expected = 1 / (epsilon - 2 * math.log1p(-delta))
        found = composed_laplace_scale(epsilon, delta, 1)
        assert expected <= found <= expected * 1.0005
