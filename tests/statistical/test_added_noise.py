"""Continuous noise on counts and sums, against quadrature and against equivalent curves."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, laplace, norm

from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.laws.discrete import DiscreteGaussian
from omit.laws.distribution import Distribution
from omit.laws.noise import Gaussian, noise_named
from omit.statistical.properties import grouped_property_curve, property_curve
from omit.statistical.sums import added_noise, sum_curve

KINDS = ("gaussian", "laplace")
EPSILONS = [0.0, 0.05, 0.14, 0.5, 1.0, 3.0, 40.0, 750.0]


def _by_quadrature(n: int, p: float, epsilon: float, kind: str, scale: float) -> float:
    """Integrate the positive part over cells, cut at the answers and where the sign changes."""
    law = norm if kind == "gaussian" else laplace
    counts = np.arange(n)
    weights = binom.pmf(counts, n - 1, p)

    def difference(x: FloatArray) -> FloatArray:
        up = law.pdf(x[:, None] - 1 - counts, scale=scale) @ weights
        still = law.pdf(x[:, None] - counts, scale=scale) @ weights
        return np.asarray(up - np.exp(epsilon) * still)

    reach = int(np.ceil(12 * scale if kind == "gaussian" else 40 * scale))
    ends = np.linspace(-reach, n + reach, 12 * (n + 2 * reach) + 1)
    signs = np.sign(difference(ends))
    crossings = [
        brentq(lambda x: difference(np.array([x]))[0], ends[i], ends[i + 1], xtol=1e-13)
        for i in np.flatnonzero(signs[1:] * signs[:-1] < 0)
    ]
    ends = np.sort(np.append(ends, crossings))
    nodes, shares = np.polynomial.legendre.leggauss(8)
    total = 0.0
    for node, share in zip(nodes, shares, strict=True):
        middle, half = (ends[1:] + ends[:-1]) / 2, (ends[1:] - ends[:-1]) / 2
        total += float(share * half @ np.maximum(difference(middle + node * half), 0.0))
    return total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n", "p", "scale"),
    [(5, 0.5, 0.5), (9, 0.2, 1.0), pytest.param(200, 0.5, 0.4, marks=pytest.mark.slow)],
)
def test_delta_is_the_integral_of_the_positive_part(
    kind: str, n: int, p: float, scale: float
) -> None:
    for epsilon in (0.0, 0.14, 0.7):
        up = _by_quadrature(n, p, epsilon, kind, scale)
        down = _by_quadrature(n, 1 - p, epsilon, kind, scale)
        for curve in (
            property_curve(n, p, epsilon, noise=added_noise(kind, scale)),  # type: ignore[arg-type]
            grouped_property_curve([(n, p)], epsilon, noise=added_noise(kind, scale)),  # type: ignore[arg-type]
        ):
            assert curve.delta[0] == pytest.approx(max(up, down), abs=2e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0.002, 0.2, 1.0, 5.0])
@pytest.mark.parametrize(
    "n", [1, 2, 5, 50, 200, 1_000, pytest.param(100_000, marks=pytest.mark.slow)]
)
def test_one_group_of_entries_is_a_property_query_with_noise(
    n: int, scale: float, kind: str
) -> None:
    noise = added_noise(kind, scale)  # type: ignore[arg-type]
    for p in (0.5, 0.03) if n < 10**5 else (0.3,):
        one = property_curve(n, p, EPSILONS, noise=noise)
        group = grouped_property_curve([(n, p)], EPSILONS, noise=noise)
        assert (one.lower <= group.delta).all()
        assert (group.lower <= one.delta).all()
        usual = one.epsilon <= 3
        assert group.delta[usual] == pytest.approx(one.delta[usual], rel=1e-7, abs=2e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-300, 1e-14, 1e-10, 1e-7, 1e-4, 2e-3])
@pytest.mark.parametrize("n", [5, 1_000, 100_000])
def test_noise_far_below_the_distance_of_answers_changes_nothing(
    n: int, scale: float, kind: str
) -> None:
    noise = added_noise(kind, scale)  # type: ignore[arg-type]
    plain = property_curve(n, 0.3, [0.0, 0.01])
    for curve in (
        property_curve(n, 0.3, [0.0, 0.01], noise=noise),
        grouped_property_curve([(n, 0.3)], [0.0, 0.01], noise=noise),
    ):
        assert curve.delta == pytest.approx(plain.delta, rel=1e-8)
        assert (curve.lower <= plain.delta).all()


def test_tiny_noise_on_a_sum_that_is_not_log_concave_changes_nothing() -> None:
    law = Distribution([0, 1, 2], [0.5, 0.1, 0.4])
    plain = sum_curve(law, 30, [0.0, 0.5])
    curve = sum_curve(law, 30, [0.0, 0.5], noise=added_noise("gaussian", 1e-9))
    assert curve.delta == pytest.approx(plain.delta, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_never_hurts_and_never_protects_less_than_alone(kind: str) -> None:
    epsilon = np.linspace(0, 2, 9)
    for scale in (0.05, 0.4, 3.0, 40.0):
        noise = added_noise(kind, scale)  # type: ignore[arg-type]
        found = property_curve(60, 0.2, epsilon, noise=noise).delta
        assert (found <= property_curve(60, 0.2, epsilon).delta).all()
        assert (found <= noise_named(kind)(scale).delta(epsilon, 1.0)).all()


@pytest.mark.parametrize(("ratio", "epsilon"), [(1.0, 0.0), (0.2, 0.5), (3.0, 20.0), (1e-3, 0.01)])
def test_gaussian_noise_alone_is_never_below_60_digits(ratio: float, epsilon: float) -> None:
    with mpmath.workdps(60):
        r, e = mpmath.mpf(ratio), mpmath.mpf(epsilon)
        exact = mpmath.ncdf(r / 2 - e / r) - mpmath.exp(e) * mpmath.ncdf(-r / 2 - e / r)
    found = Gaussian(1 / ratio).delta(np.array([epsilon]), 1.0)[0]
    assert float(exact) <= found * (1 + 1e-13)
    assert found <= float(exact) * (1 + 1e-9) + 1e-14


def test_laplace_noise_just_below_its_own_epsilon_is_answered() -> None:
    for scale in (0.1, 0.7, 3.0, 7.0, 9.9):
        below = np.nextafter(1 / scale, 0)
        found = property_curve(50, 0.5, below, noise=added_noise("laplace", scale)).delta[0]
        assert 0 <= found < 1e-14


@pytest.mark.parametrize("scale", [3.0, 7.0, 0.7, 1.3, 49.0])
def test_laplace_noise_loses_a_little_at_the_float_below_its_own_epsilon(scale: float) -> None:
    loss, nearest = 1 / Fraction(scale), 1 / scale
    curves = [
        property_curve(n, 0.5, nearest, noise=added_noise("laplace", scale)) for n in (1, 50)
    ] + [
        sum_curve(
            Distribution([0, 1, 2], [0.5, 0.1, 0.4]),
            5,
            [nearest / 2, nearest],
            noise=added_noise("laplace", 2 * scale),
        )
    ]
    for curve in curves:
        if Fraction(nearest) < loss:
            assert 0 < curve.delta[-1] < 1e-15, "the truth is about 1e-17"
            # Alone, noise has exactly 1 - exp((epsilon - loss) / 2).
            assert curve.delta[-1] <= 1.01 * float(loss - Fraction(nearest)) / 2 + 1e-30
        assert property_curve(
            50, 0.5, np.nextafter(nearest, 9), noise=added_noise("laplace", scale)
        ).delta.tolist() == [0.0]


def test_discrete_noise_is_a_bound_and_not_exact_where_its_tail_is_cut_off() -> None:
    """The least likely noise that is a float stands for all that is less likely."""
    law = Distribution([0, 1], [0.0154917627826419, 0.9845082372173581])
    curve = sum_curve(law, 2, [1.8, 700.0], noise=DiscreteGaussian(0.1014640687793196))
    with mpmath.workdps(900):
        weights = {
            k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mpmath.mpf(0.1014640687793196) ** 2))
            for k in range(-9, 10)
        }
        total = mpmath.fsum(weights.values())
        p = [mpmath.mpf(float(each)) for each in law.probabilities]
        answers = {
            a: mpmath.fsum(p[s] * weights.get(a - s, 0) / total for s in (0, 1))
            for a in range(-8, 9)
        }
        for place, epsilon in enumerate(curve.epsilon):
            grow = mpmath.exp(mpmath.mpf(float(epsilon)))
            truth = max(
                mpmath.fsum(
                    max(mpmath.mpf(0), answers.get(a - v, 0) - grow * answers.get(a - w, 0))
                    for a in range(-6, 7)
                )
                for v, w in ((1, 0), (0, 1))
            )
            assert curve.lower[place] <= truth <= curve.delta[place]
    assert curve.method == "upper bound"


def test_extreme_epsilons_are_answered() -> None:
    for kind in KINDS:
        noise = added_noise(kind, 1.0)  # type: ignore[arg-type]
        for at in (800.0, 1e300):
            for curve in (
                property_curve(5, 0.5, at, noise=noise),
                grouped_property_curve([(5, 0.5)], at, noise=noise),
            ):
                # Laplace noise loses no more than 1; the truth for Gaussian noise is not a float.
                assert (curve.delta[0] == 0) == (kind == "laplace")
                assert curve.delta[0] < 1e-322


def test_noise_too_large_to_compute_with_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 1e\\+09 times"):
        property_curve(50, 0.5, 0.1, noise=added_noise("gaussian", 1e300))
    law = Distribution([0, 1, 2], [0.5, 0.1, 0.4])
    with pytest.raises(InvalidInput, match="smaller scale"):
        sum_curve(law, 30, 0.1, noise=added_noise("gaussian", 1e7))
    with pytest.raises(InvalidInput, match="discrete noise of a scale of at most"):
        DiscreteGaussian(1e9).part()
