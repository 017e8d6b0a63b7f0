"""Noise distributions, against scipy's and against draws taken one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from omit import InvalidInput
from omit.laws.noise import Laplace, noise_named
from omit.mechanisms.mode import KINDS, Kind

FROZEN: dict[Kind, Any] = {
    "laplace": stats.laplace,
    "exponential": stats.expon,
    "gaussian": stats.norm,
    "gumbel": stats.gumbel_r,
}
SCALES = (0.05, 1.0, 37.0)
each_kind = pytest.mark.parametrize("kind", KINDS)
each_scale = pytest.mark.parametrize("scale", SCALES)


def test_every_kind_of_noise_is_checked_here() -> None:
    assert set(FROZEN) == set(KINDS)


@each_kind
@each_scale
def test_distribution_and_density_are_those_of_scipy_into_both_tails(
    kind: Kind, scale: float
) -> None:
    noise, reference = noise_named(kind)(scale), FROZEN[kind](scale=scale)
    x = scale * np.concatenate([np.linspace(-8, 8, 101), [-30.0, -3.5, 0.0, 30.0, 200.0]])
    np.testing.assert_allclose(noise.cdf(x), reference.cdf(x), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(noise.pdf(x), reference.pdf(x), rtol=1e-12, atol=1e-300)


@each_kind
def test_far_tails_neither_overflow_nor_turn_into_nan(kind: Kind) -> None:
    # Warnings are errors in these tests, so this also says that nothing is warned about.
    noise = noise_named(kind)(1e-3)
    assert noise.cdf([-1e6, 1e6]).tolist() == [0.0, 1.0]
    assert noise.pdf([-1e6, 1e6]).tolist() == [0.0, 0.0]


@each_kind
@each_scale
def test_the_variance_is_that_of_scipy(kind: Kind, scale: float) -> None:
    assert noise_named(kind)(scale).variance == pytest.approx(
        FROZEN[kind](scale=scale).var(), rel=1e-14
    )


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_characteristic_function_is_the_fourier_integral_of_the_density(kind: Kind) -> None:
    noise, reference = noise_named(kind)(1.7), FROZEN[kind](scale=1.7)
    for frequency in (0.05, 0.4, 1.3, 2.5):
        half, _ = integrate.quad(reference.pdf, 0, 90, weight="cos", wvar=frequency, limit=400)
        assert float(noise.characteristic(frequency)) == pytest.approx(2 * half, abs=1e-10)
    assert float(noise.characteristic(0.0)) == 1.0


@pytest.mark.parametrize("kind", ["exponential", "gumbel"])
def test_skew_noise_has_no_real_characteristic_function_and_says_so(kind: Kind) -> None:
    with pytest.raises(InvalidInput, match=f"{kind} noise is not real"):
        noise_named(kind)(1.0).characteristic(1.0)


@each_kind
@pytest.mark.parametrize("tail", [1e-3, 1e-9, 1e-16])
def test_the_reach_leaves_out_no_more_than_the_tail_at_either_end(kind: Kind, tail: float) -> None:
    lower, upper = noise_named(kind)(3.0).reach(tail)
    reference = FROZEN[kind](scale=3.0)
    # "About": one part in a million for Gumbel noise, whose upper tail is 1 - exp(-tail).
    assert reference.cdf(lower) <= tail * (1 + 1e-6)
    assert reference.sf(upper) <= tail * (1 + 1e-6)


@each_kind
def test_half_the_reach_would_not_be_enough(kind: Kind) -> None:
    _, upper = noise_named(kind)(3.0).reach(1e-12)
    assert FROZEN[kind](scale=3.0).sf(upper / 2) > 1e-12


@each_kind
@pytest.mark.parametrize("count", [1, 2, 50, 100_000])
def test_the_largest_of_many_is_the_quantile_of_a_power_of_a_uniform(
    kind: Kind, count: int
) -> None:
    # P(max <= x) = F(x)^count, so the largest is the quantile at U^(1/count); from the upper tail
    # where the level is near 1, from the level where it is near 0.
    drawn = noise_named(kind)(2.5).draw_largest(np.random.default_rng(8), count, (2000,))
    log_level = np.log(np.random.default_rng(8).uniform(size=2000)) / count
    reference = FROZEN[kind](scale=2.5)
    expected = np.where(
        log_level < -0.5, reference.ppf(np.exp(log_level)), reference.isf(-np.expm1(log_level))
    )
    np.testing.assert_allclose(drawn, expected, rtol=1e-9, atol=1e-9)


@each_kind
@pytest.mark.parametrize("count", [1, 7, 40])
def test_the_largest_of_many_is_distributed_like_the_maximum_of_single_draws(
    kind: Kind, count: int
) -> None:
    noise, rng = noise_named(kind)(2.5), np.random.default_rng(19)
    at_once = noise.draw_largest(rng, count, (4000,))
    one_by_one = noise.draw(rng, (4000, count)).max(axis=1)
    # Twelve tests at one in a million each: with another seed, a false alarm in 1 of 80,000.
    assert stats.ks_2samp(at_once, one_by_one).pvalue > 1e-6


@each_kind
def test_draws_follow_the_distribution_function(kind: Kind) -> None:
    noise = noise_named(kind)(0.3)
    draws = noise.draw(np.random.default_rng(4), (100, 200))
    assert draws.shape == (100, 200)
    # Four tests at one in a million each.
    assert stats.kstest(draws.ravel(), noise.cdf).pvalue > 1e-6


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_noise_of_no_or_endless_scale_is_refused(scale: float) -> None:
    with pytest.raises(InvalidInput, match="positive and finite scale"):
        Laplace(scale)
