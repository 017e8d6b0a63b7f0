"""What all laws of noise share, against integrals, sums and scipy's distributions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from omit import Guarantee, InvalidInput
from omit.laws import (
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Gumbel,
    Laplace,
    Noise,
    NoNoise,
    StudentT,
    noise_named,
)
from omit.laws.discrete import LatticeNoise

CONTINUOUS: list[tuple[Noise, Any]] = [
    (Laplace(1.7), stats.laplace(scale=1.7)),
    (Gaussian(1.7), stats.norm(scale=1.7)),
    (Exponential(1.7), stats.expon(scale=1.7)),
    (Gumbel(1.7), stats.gumbel_r(scale=1.7)),
    (StudentT(1.7, degrees=4), stats.t(4, scale=1.7)),
]
DISCRETE: list[Noise] = [Geometric(1.7), DiscreteGaussian(1.7)]
each_continuous = pytest.mark.parametrize(
    ("noise", "frozen"), CONTINUOUS, ids=[repr(noise) for noise, _ in CONTINUOUS]
)
each_discrete = pytest.mark.parametrize("noise", DISCRETE, ids=repr)
each_law = pytest.mark.parametrize("noise", [noise for noise, _ in CONTINUOUS] + DISCRETE, ids=repr)


@each_continuous
def test_distribution_density_and_tail_are_those_of_scipy(noise: Noise, frozen: Any) -> None:
    x = np.linspace(-9, 30, 200)
    np.testing.assert_allclose(noise.cdf(x), frozen.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(noise.pdf(x), frozen.pdf(x), rtol=1e-12)
    np.testing.assert_allclose(noise.tail(x), frozen.sf(x), rtol=1e-12)
    np.testing.assert_allclose(noise.log_tail(x), frozen.logsf(x), rtol=1e-11, atol=1e-15)
    assert noise.mean == pytest.approx(frozen.mean(), abs=1e-12)
    assert noise.variance == pytest.approx(frozen.var(), rel=1e-12)


@each_discrete
def test_probabilities_of_whole_numbers_add_up(noise: Noise) -> None:
    z = np.arange(-200, 201)
    mass = noise.pdf(z)
    assert math.fsum(mass) == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(noise.cdf(z), np.cumsum(mass), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(noise.cdf(z + 0.5), noise.cdf(z))
    np.testing.assert_allclose(noise.tail(z), mass.sum() - np.cumsum(mass), atol=1e-14)
    np.testing.assert_allclose(np.exp(noise.log_tail(z)), noise.tail(z), atol=1e-15)
    assert noise.variance == pytest.approx(float(mass @ z**2), rel=1e-12)
    assert noise.pdf(0.5) == 0


@each_law
def test_the_mean_distance_is_the_mean_of_distances(noise: Noise) -> None:
    for center, factor in ((0.0, 1.0), (2.5, 1.0), (-3.0, 0.4), (-40.0, 2.0)):
        if isinstance(noise, LatticeNoise):
            z = np.arange(-300, 301)
            expected = float(np.abs(center + factor * z) @ noise.pdf(z))
        else:
            edges = sorted({-400.0, -center / factor, 0.0, 400.0})
            expected = math.fsum(
                integrate.quad(
                    lambda z, c=center, f=factor: abs(c + f * z) * float(noise.pdf(z)),
                    *ends,
                    limit=500,
                )[0]
                for ends in itertools.pairwise(edges)
            )
        # Student's tails beyond 400 hold 1e-5 of the mean.
        rel = 1e-4 if isinstance(noise, StudentT) else 1e-8
        assert float(noise.mean_distance(center, factor)) == pytest.approx(expected, rel=rel)
    assert float(noise.mean_distance(-3.0, 0.0)) == 3.0


@pytest.mark.parametrize("noise", [Laplace(1.7), Gaussian(1.7), Exponential(1.7), Gumbel(1.7)])
@pytest.mark.parametrize("shift", [-2.5, -0.3, 0.3, 2.5])
def test_the_delta_of_a_shift_is_the_integral_of_what_is_above(noise: Noise, shift: float) -> None:
    x = np.linspace(-60, 60, 300_001)
    for epsilon in (0.0, 0.1, 0.5, 1.2):
        above = np.maximum(noise.pdf(x - shift) - math.exp(epsilon) * noise.pdf(x), 0)
        expected = float(above.sum() * (x[1] - x[0]))
        assert float(noise.delta(epsilon, shift)) == pytest.approx(expected, abs=3e-4)
        assert float(noise.delta(epsilon, Fraction(shift))) <= 1


@each_discrete
@pytest.mark.parametrize("shift", [-1, 1, 3])
def test_the_delta_of_a_whole_shift_is_the_sum_of_what_is_above(noise: Noise, shift: int) -> None:
    z = np.arange(-300, 301)
    for epsilon in (0.0, 0.1, 0.5, 1.2):
        above = np.maximum(noise.pdf(z - shift) - math.exp(epsilon) * noise.pdf(z), 0)
        found = float(noise.delta(epsilon, shift))
        assert found == pytest.approx(float(above.sum()), rel=1e-9, abs=1e-15)
        assert found >= float(above.sum()) * (1 - 1e-13)
    assert noise.delta([0.0, 5.0], 0.5).tolist() == [1.0, 1.0]


@each_law
def test_draws_have_the_mean_and_variance_that_are_stated(noise: Noise) -> None:
    drawn = noise.draw(np.random.default_rng(1), (200_000,))
    # Six standard errors; Student's fourth moment is infinite, so only its mean is looked at.
    assert drawn.mean() == pytest.approx(noise.mean, abs=6 * math.sqrt(noise.variance / 200_000))
    if not isinstance(noise, StudentT):
        assert drawn.var() == pytest.approx(noise.variance, rel=0.05)


@pytest.mark.parametrize("noise", [Laplace(1.7), Gaussian(1.7), Geometric(1.7)], ids=repr)
def test_characteristic_functions_are_means_of_cosines(noise: Noise) -> None:
    x = np.arange(-300, 301) if isinstance(noise, LatticeNoise) else np.linspace(-80, 80, 400_001)
    weights = noise.pdf(x) * (x[1] - x[0])
    for frequency in (0.0, 0.3, 2.0):
        expected = float(weights @ np.cos(frequency * x))
        assert float(noise.characteristic(frequency)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["laplace", "gaussian", "geometric", "discrete-gaussian"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-6), (1.0, 1e-3), (2.0, 1e-9)])
def test_calibrated_noise_keeps_the_promise_and_hardly_less_would(
    name: str, epsilon: float, delta: float
) -> None:
    law = noise_named(name)
    noise = law.calibrated(Guarantee(epsilon, delta), 1.0)
    slack = 1e-15 if name in ("laplace", "geometric") else 0.0
    assert float(noise.delta(epsilon, 1)) <= delta * (1 + 1e-9) + slack
    less = law(noise.scale * 0.99)
    if name.endswith("gaussian"):
        assert float(less.delta(epsilon, 1)) > delta
    else:
        assert float(less.delta(epsilon, 1)) > 1e-4


def test_the_loss_of_students_t_is_at_most_its_steepness() -> None:
    noise = StudentT.calibrated(Guarantee(0.7), 2.0)
    x = np.linspace(-50, 50, 100_001)
    loss = np.log(noise.pdf(x - 2.0) / noise.pdf(x))
    assert np.abs(loss).max() <= 0.7
    assert np.abs(loss).max() > 0.6


def test_no_noise_changes_nothing_and_hides_nothing() -> None:
    nothing = NoNoise()
    assert nothing.draw(np.random.default_rng(0), (3,)).tolist() == [0.0, 0.0, 0.0]
    assert nothing.cdf([-1.0, 0.0, 1.0]).tolist() == [0.0, 1.0, 1.0]
    assert nothing.tail([-1.0, 0.0]).tolist() == [1.0, 0.0]
    assert nothing.mean_distance([-3.0, 2.0], [1.0, 5.0]).tolist() == [3.0, 2.0]
    assert nothing.delta([0.0, 9.0], 0.1).tolist() == [1.0, 1.0]
    assert nothing.delta(0.0, 0) == 0
    assert (nothing.variance, nothing.scale, str(nothing)) == (0.0, 0.0, "no noise")
    assert nothing == noise_named("none")()
    with pytest.raises(InvalidInput, match="needs noise"):
        NoNoise.calibrated(Guarantee(1.0), 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Laplace(0.0), "positive and finite scale"),
        (lambda: Gaussian(math.inf), "positive and finite scale"),
        (lambda: StudentT(degrees=2), "at least 3"),
        (lambda: DiscreteGaussian(-1.0), "positive and finite scale"),
        (lambda: DiscreteGaussian(square=0), "above 0"),
        (lambda: DiscreteGaussian(1.0, square=1), "either"),
        (lambda: Laplace.calibrated(Guarantee(0.0, 0.1), 1.0), "needs epsilon > 0"),
        (lambda: Gumbel.calibrated(Guarantee(0.0, 0.1), 1.0), "needs epsilon > 0"),
        (lambda: DiscreteGaussian.calibrated(Guarantee(1.0), 1.0), "needs delta > 0"),
        (lambda: noise_named("cauchy"), "one of: laplace"),
        (lambda: noise_named("gumbel", ("laplace",)), "one of: laplace"),
        (lambda: NoNoise(1.0), "scale 0"),
    ],
)
def test_what_is_no_noise_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call()


@pytest.mark.parametrize(
    "name",
    [
        "laplace",
        "gaussian",
        "exponential",
        "gumbel",
        "student",
        "geometric",
        "discrete-gaussian",
        "none",
    ],
)
def test_every_law_is_found_by_its_name(name: str) -> None:
    assert noise_named(name).name == name
