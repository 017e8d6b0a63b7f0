"""Rules for the integral of the mode: the lemmas they rest on, and that they miss no more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from omit.exact.mode_quadrature import cell_rule, trapezoids
from omit.laws.noise import Gaussian, noise_named


def test_the_gaussian_distribution_function_hardly_leaves_the_unit_disc_in_a_strip() -> None:
    x = np.linspace(-12, 40, 200_001)
    for y in np.linspace(0.05, 0.85, 17):
        modulus = np.abs(_normal(x + 1j * y))
        excess = math.exp(y**2 / 2) * special.ndtr(-1.5 / y)
        assert modulus.max() <= 1 + excess + 1e-14
        # Nearer to the axis it does not come: the bound is of the right size.
        assert modulus.max() > 1 + excess / 200 or excess < 1e-12


def _normal(z: np.ndarray) -> np.ndarray:
    """Return the normal distribution function of complex numbers."""
    return np.asarray(special.erfc(-z / math.sqrt(2)) / 2)


def test_the_gumbel_distribution_function_stays_in_the_unit_disc() -> None:
    z = np.linspace(-6, 30, 2001)[:, None] + 1j * np.linspace(-1.57, 1.57, 101)
    assert np.abs(np.exp(-np.exp(-z))).max() <= 1


def test_exponential_distribution_functions_stay_in_the_unit_disc() -> None:
    x, y = np.meshgrid(np.linspace(-0.69, 9, 401), np.linspace(-1.5, 1.5, 301))
    z = x + 1j * y
    for r in (0.01, 0.3, 1.0):
        exponential = np.abs(1 - r * np.exp(-z))[np.exp(-x) <= 2 * np.cos(y)]
        laplace = np.abs(1 - r * np.exp(-z) / 2)[np.exp(-x) <= 4 * np.cos(y)]
        assert exponential.max() <= 1
        assert laplace.max() <= 1


@pytest.mark.parametrize("kind", ["gaussian", "gumbel"])
@pytest.mark.parametrize("scale", [0.06, 0.5, 3.0, 90.0])
@pytest.mark.parametrize("factors", [1, 30, 100_000])
def test_trapezoids_miss_no_more_than_they_say(kind: str, scale: float, factors: int) -> None:
    noise = noise_named(kind)(scale)
    rule = trapezoids(noise, factors, 1)
    assert rule.error <= 1e-13
    # The largest of equals: any one of them with probability 1/(factors + 1).
    ends = (-14, 16) if kind == "gaussian" else (-6, 60)
    steps = range(*(math.floor(end * scale / rule.step) for end in ends))
    x = np.fromiter(steps, dtype=float) * rule.step
    total = rule.step * float((noise.pdf(x) * noise.cdf(x) ** factors).sum())
    assert total == pytest.approx(1 / (factors + 1), abs=rule.error + 1e-15)


def test_trapezoids_twice_as_wide_would_miss_more() -> None:
    # So the rule is not finer than it must be by much.
    noise = Gaussian(1.0)
    step = 2.5 * trapezoids(noise, 30, 1).step
    x = np.arange(-20, 20) * step
    total = step * float((noise.pdf(x) * noise.cdf(x) ** 30).sum())
    assert abs(total - 1 / 31) > 1e-11


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("length", [0.001, 0.2, 1.0, 4.0, 30.0, 1000.0])
@pytest.mark.parametrize("factors", [1, 40, 100_000])
def test_cells_miss_no_more_than_they_say(two_sided: bool, length: float, factors: int) -> None:
    rule = cell_rule(two_sided, length, factors, 1)
    assert rule.error <= 1e-13

    # One kink at the beginning, another at the end: between them the steepest that counts can make.
    def integrand(t: np.ndarray | float) -> np.ndarray:
        fall, rise = np.exp(-np.asarray(t)), np.exp(np.asarray(t) - length)
        if not two_sided:
            return np.asarray(fall * (1 - fall) ** factors)
        return np.asarray((fall + rise) / 4 * (0.5 - fall / 4 + rise / 4) ** factors)

    if two_sided:
        ends = [0.5 + sign * -math.expm1(-length) / 4 for sign in (-1, 1)]
        truth = (ends[1] ** (factors + 1) - ends[0] ** (factors + 1)) / (factors + 1)
    else:
        truth = (-math.expm1(-length)) ** (factors + 1) / (factors + 1)
    found = float((rule.weights * integrand(rule.nodes)).sum())
    assert found == pytest.approx(truth, abs=rule.error + 1e-15)
