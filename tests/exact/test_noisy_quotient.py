"""The noisy quotient with its noise integrated out, against integration of its definition."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import mpmath
import numpy as np
import pytest
from scipy import integrate, special

from omit.exact.exponential_integrals import scaled_e1, scaled_ei
from omit.exact.noisy_quotient import NoisyQuotient
from omit.laws.noise import Laplace, NoNoise, noise_named

Symmetric = Literal["laplace", "gaussian"]
each_noise = pytest.mark.parametrize("noise", ["laplace", "gaussian"])


def testscaled_exponential_integrals_are_those_of_scipy() -> None:
    for x in (1e-10, 0.1, 0.37, 0.99, 1.0, 5.0, 20.0, 44.9, 45.1, 100.0, 600.0):
        assert scaled_ei(x) == pytest.approx(special.expi(x) * math.exp(-x), rel=5e-15, abs=1e-17)
        assert scaled_e1(x) == pytest.approx(special.exp1(x) * math.exp(x), rel=5e-15)


def _by_definition(quotient: NoisyQuotient, s: float, n: float, truth: float) -> float:
    """Return E|clip((s + Z1) / max(n + Z2, 1)) - truth| by integrating over both noises."""
    assert quotient.count is not None
    lower, upper = quotient.limits
    points, weights = np.polynomial.legendre.leggauss(24)

    def nodes(cuts: list[float]) -> tuple[np.ndarray, np.ndarray]:
        edges = np.unique(cuts)
        half = np.diff(edges)[:, None] / 2
        return (edges[:-1, None] + half * (points + 1)).ravel(), (half * weights).ravel()

    def given_size(y: float) -> float:
        kinks = [x * y - s for x in (lower, truth, upper) if math.isfinite(x)]
        steps = np.array([-45, -20, -8, -3, -1, 0, 1, 3, 8, 20, 45]) * quotient.total.scale
        inside = [k for k in kinks if steps[0] < k < steps[-1]]
        z, weight = nodes([*steps, *inside])
        answers = np.clip((s + z) / y, lower, upper)
        return float(weight @ (quotient.total.pdf(z) * np.abs(answers - truth)))

    # From 1 on by quadrature, cut where the integrand has kinks.
    cuts = {1.0, max(1.0, n)} | {s / x for x in (lower, truth, upper) if x and math.isfinite(x)}
    cuts |= {n + step * quotient.count.scale for step in (-45, -20, -8, -3, -1, 1, 3, 8, 20, 45)}
    inside = sorted(cut for cut in cuts if cut >= 1.0)
    total = float(quotient.count.cdf(1.0 - n)) * given_size(1.0)
    for left, right in itertools.pairwise(inside):
        total += integrate.quad(
            lambda y: float(quotient.count.pdf(y - n)) * given_size(y),
            left, right, epsabs=1e-11, epsrel=1e-10,
        )[0]  # fmt: skip
    return total


@each_noise
@pytest.mark.parametrize("bounds", [None, (-3.0, 10.0), (2.0, 10.0)], ids=str)
@pytest.mark.parametrize(("s", "n"), [(0.0, 0.0), (6.0, 1.0), (20.0, 4.0), (-8.0, 5.0)])
def test_the_expected_distance_is_that_of_the_definition(
    noise: Symmetric, bounds: tuple[float, float] | None, s: float, n: float
) -> None:
    quotient = NoisyQuotient(noise_named(noise)(9.0), noise_named(noise)(0.8), bounds)
    for truth in (4.0, 7.5):
        expected = _by_definition(quotient, s, n, truth)
        assert float(quotient.distances(s, n, truth)) == pytest.approx(expected, rel=1e-8)


@each_noise
@pytest.mark.parametrize("bounds", [None, (0.0, 10.0)], ids=str)
def test_many_and_few_records_are_integrated_alike(
    noise: Symmetric, bounds: tuple[float, float] | None
) -> None:
    # Above and below 200 scales of the count's noise other formulas are used.
    for n in (20.0, 199.0, 201.0, 3000.0):
        quotient = NoisyQuotient(noise_named(noise)(7.0), noise_named(noise)(1.0), bounds)
        fine = quotient.distances(3.1 * n, n, 3.0, fine=True)
        coarse = quotient.distances(3.1 * n, n, 3.0, fine=False)
        np.testing.assert_allclose(coarse, fine, rtol=1e-11)


@each_noise
def test_a_truth_outside_the_bounds_is_farther_from_every_answer(noise: Symmetric) -> None:
    quotient = NoisyQuotient(noise_named(noise)(9.0), noise_named(noise)(0.8), (0.0, 10.0))
    near, far = (quotient.distances(20.0, 4.0, truth) for truth in (10.0, 13.0))
    assert float(far - near) == pytest.approx(3.0)


@each_noise
@pytest.mark.parametrize("n", [0.0, 2.0, 40.0])
def test_the_tails_add_up_to_the_distance(noise: Symmetric, n: float) -> None:
    quotient = NoisyQuotient(noise_named(noise)(9.0), noise_named(noise)(1.5), (-2.0, 10.0))
    s, truth = 3.0 * n, 3.5

    def tail(x: float) -> float:
        above = float(quotient.above(s, n, x))
        return above if x > truth else 1 - above

    kink = [s / n] if n else []
    distance = sum(
        integrate.quad(tail, left, right, points=kink or None, epsabs=1e-10, limit=400)[0]
        for left, right in ((-2.0, truth), (truth, 10.0))
    )
    assert float(quotient.distances(s, n, truth)) == pytest.approx(distance, rel=1e-7)


def test_with_a_public_count_only_the_sum_is_noisy() -> None:
    quotient = NoisyQuotient(Laplace(6.0), None)
    # The mean absolute Laplace noise is its scale.
    assert float(quotient.distances(12.0, 4.0, 3.0)) == pytest.approx(6.0 / 4)
    assert float(quotient.above(12.0, 4.0, 3.0)) == pytest.approx(0.5)


def _digits(quotient: NoisyQuotient, s: float, n: float, truth: float) -> float:
    """Return the expected distance of a clipped answer, by integrals of many digits."""
    assert quotient.count is not None
    with mpmath.workdps(40):
        b, c = mpmath.mpf(quotient.total.scale), mpmath.mpf(quotient.count.scale)
        lower, upper = (mpmath.mpf(limit) for limit in quotient.limits)
        t, s, n = mpmath.mpf(truth), mpmath.mpf(s), mpmath.mpf(n)

        def excess(u: mpmath.mpf) -> mpmath.mpf:
            if quotient.total.name == "laplace":
                return max(u, 0) + b * mpmath.exp(-abs(u) / b) / 2
            return b * mpmath.npdf(u / b) + u * mpmath.ncdf(u / b)

        def distance(y: mpmath.mpf) -> mpmath.mpf:
            above = excess(s - t * y) - excess(s - upper * y)
            return (above + excess(t * y - s) - excess(lower * y - s)) / y

        def density(y: mpmath.mpf) -> mpmath.mpf:
            if quotient.total.name == "laplace":
                return mpmath.exp(-abs(y - n) / c) / (2 * c)
            return mpmath.npdf((y - n) / c) / c

        kinks = [s / x for x in (t, lower, upper) if x]
        spaced = [n + step * c for step in (-90, -30, -10, -3, -1, 1, 3, 10, 30, 90)]
        doubled = [mpmath.mpf(2) ** k for k in range(60)]
        inside = [y for y in (1, n, *kinks, *spaced, *doubled) if 1 <= y <= n + 90 * c]
        clamped = mpmath.ncdf((1 - n) / c)
        if quotient.total.name == "laplace":
            clamped = mpmath.exp((1 - n) / c) / 2
        rest = mpmath.quad(lambda y: distance(y) * density(y), sorted(set(inside)))
        return float(clamped * distance(mpmath.mpf(1)) + rest)


@pytest.mark.slow
@pytest.mark.parametrize("fine", [True, False])
@pytest.mark.parametrize(
    ("noise", "bounds", "s", "n", "truth", "scale"),
    [
        # Noise of the sum many times all that answers may be.
        ("laplace", (0.0, 125.0), 1256854.6, 32561.0, 38.6, 2e7),
        ("laplace", (0.0, 125.0), 1256854.6, 32561.0, 38.6, 2e5),
        ("gaussian", (0.0, 125.0), 1256854.6, 32561.0, 38.6, 2e7),
        # Values near a bound, and far smaller than the other one.
        ("laplace", (-1e6, 1e-6), 0.007905, 7905.0, 0.0, 0.2),
        ("laplace", (-140.25, -100.0), -19173.5, 137.0, -139.95, 0.108),
        ("laplace", (-1e6, 100.0), -52844385.0, 53.0, -1e6, 0.34),
        # A bound so near to 0 that sums are beyond all numbers above it.
        ("laplace", (1e-310, 1.0), 2.0, 4.0, 0.5, 0.5),
    ],
)
def test_distances_keep_their_digits_however_much_cancels(
    noise: Symmetric,
    bounds: tuple[float, float],
    s: float,
    n: float,
    truth: float,
    scale: float,
    fine: bool,
) -> None:
    largest = max(abs(bound) for bound in bounds)
    quotient = NoisyQuotient(noise_named(noise)(largest * scale), noise_named(noise)(scale), bounds)
    expected = _digits(quotient, s, n, truth)
    # What `exact_mean` allows for rounding, and less where nothing must be allowed.
    sure = 1e-14 * (abs(s) / n + abs(truth) + quotient.total.scale / n)
    got = float(quotient.distances(s, n, truth, fine))
    assert got == pytest.approx(expected, abs=min(sure, 1e-12 * expected + 1e-14 * abs(truth)))


def test_without_noise_the_quotient_is_the_mean_within_the_bounds() -> None:
    bare = NoisyQuotient(NoNoise(), NoNoise(), (0.0, 50.0))
    sums, sizes = np.array([4000.0, 10.0, 900.0]), np.array([100.0, 0.0, 10.0])
    assert bare.draw(sums, sizes, np.random.default_rng(0)).tolist() == [40.0, 10.0, 50.0]
    assert bare.distances(sums, sizes, 41.0).tolist() == [1.0, 31.0, 9.0]
    assert bare.above(sums, sizes, 40.0).tolist() == [0.0, 0.0, 1.0]
    # It is the limit of ever narrower noise.
    narrow = NoisyQuotient(Laplace(1e-9), Laplace(1e-9), (0.0, 50.0))
    np.testing.assert_allclose(narrow.distances(sums, sizes, 41.0), [1.0, 31.0, 9.0], rtol=1e-8)
