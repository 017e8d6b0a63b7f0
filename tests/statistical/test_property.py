"""Curves of property queries, by enumeration of all databases and against other routes."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, laplace, norm

from omit.errors import InvalidInput
from omit.laws.discrete import DiscreteGaussian
from omit.statistical.properties import grouped_property_curve, property_curve
from omit.statistical.sums import added_noise
from tests.statistical.enumeration import coin, exactly, worst

EPSILONS = (0.0, 0.1, 0.5, 1.3)


@pytest.mark.parametrize(("n", "p"), [(1, 0.4), (2, 0.5), (6, 0.2), (9, 0.71)])
def test_a_property_query_has_the_curve_of_the_definition(n: int, p: float) -> None:
    curve = property_curve(n, p, EPSILONS)
    for epsilon, delta in zip(EPSILONS, curve.delta, strict=True):
        assert delta == pytest.approx(worst([coin(p)] * n, 0, exactly(sum), epsilon), rel=1e-8)


@pytest.mark.parametrize("known_values", [(0, 0), (1, 0), (1, 1)])
def test_known_entries_protect_nobody_and_their_values_do_not_matter(
    known_values: tuple[int, ...],
) -> None:
    laws = [coin(0.3)] * 5 + [{value: 1.0} for value in known_values]
    curve = property_curve(7, 0.3, EPSILONS, known=2)
    for epsilon, delta in zip(EPSILONS, curve.delta, strict=True):
        assert delta == pytest.approx(worst(laws, 0, exactly(sum), epsilon), rel=1e-8)


def test_whoever_knows_all_others_knows_the_entry() -> None:
    assert property_curve(100, 0.5, [0.0, 5.0], known=99).delta.tolist() == [1.0, 1.0]


def test_the_curve_grows_with_what_is_known() -> None:
    deltas = [property_curve(1000, 0.3, 0.1, known=v).delta[0] for v in range(0, 1000, 37)]
    assert (np.diff(deltas) > 0).all()


def test_unlike_entries_have_the_curve_of_the_definition() -> None:
    groups = [(2, 0.2), (3, 0.7), (1, 0.5)]
    laws = [coin(p) for size, p in groups for _ in range(size)]
    curve = grouped_property_curve(groups, EPSILONS)
    for place, epsilon in enumerate(EPSILONS):
        each = [worst(laws, j, exactly(sum), epsilon) for j in range(len(laws))]
        assert curve.delta[place] == pytest.approx(max(each), rel=1e-8)
        for group, entry in ((0, 0), (1, 2), (2, 5)):
            one = grouped_property_curve(groups, [epsilon], critical=group)
            assert one.delta[0] == pytest.approx(each[entry], rel=1e-8)


def test_groups_of_equal_probability_are_one_group() -> None:
    epsilon = np.array([0.0, 0.05, 0.3, 1.0, 2.0])
    whole = property_curve(3000, 0.3, epsilon)
    parts = grouped_property_curve([(1000, 0.3), (2000, 0.3)], epsilon)
    assert whole.delta[-1] < 1e-200
    assert parts.delta == pytest.approx(whole.delta, rel=3e-9)
    assert (parts.lower <= whole.delta).all()
    assert (parts.delta >= whole.lower).all()


def _noisy_by_quadrature(n: int, p: float, noise: str, scale: float, epsilon: float) -> float:
    counts = np.arange(n)
    weights = binom.pmf(counts, n - 1, p)
    law = norm if noise == "gaussian" else laplace

    def density(a: float, shift: int) -> float:
        return float(weights @ law.pdf(a - counts - shift, scale=scale))

    def integrate(first: int, second: int) -> float:
        def positive(a: float) -> float:
            return max(0.0, density(a, first) - math.exp(epsilon) * density(a, second))

        pieces = np.arange(-30 * scale - 1, n + 1 + 30 * scale, 0.5)
        return math.fsum(
            quad(positive, low, low + 0.5, epsabs=1e-13, limit=200)[0] for low in pieces
        )

    return max(integrate(1, 0), integrate(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "scale"), [("gaussian", 0.3), ("gaussian", 1.5), ("laplace", 0.4), ("laplace", 2.0)]
)
def test_noise_and_uncertainty_together_by_quadrature(noise: str, scale: float) -> None:
    for epsilon in (0.0, 0.3):
        kind = added_noise(noise, scale)  # type: ignore[arg-type]
        curve = property_curve(9, 0.35, [epsilon], noise=kind)
        exact = _noisy_by_quadrature(9, 0.35, noise, scale, epsilon)
        assert curve.delta[0] == pytest.approx(exact, rel=1e-6)
        assert curve.lower[0] <= curve.delta[0]


def test_noise_alone_protects_whom_everybody_else_is_known() -> None:
    from omit.laws.noise import Gaussian

    curve = property_curve(10, 0.5, [0.2, 1.0], known=9, noise=added_noise("gaussian", 2.0))
    assert curve.delta == pytest.approx(
        [Gaussian(2.0).precise_delta(0.2, 1.0), Gaussian(2.0).precise_delta(1.0, 1.0)], rel=1e-8
    )
    pure = property_curve(10, 0.5, [0.25, 0.5], known=9, noise=added_noise("laplace", 2.0))
    assert pure.delta[0] > 0
    assert pure.delta[1] == 0.0, "Laplace noise of scale 2 is 0.5-DP by itself"


def test_discrete_gaussian_noise_by_enumeration() -> None:
    n, p, scale, epsilon = 6, 0.3, 1.2, 0.4
    with mpmath.workdps(30):
        reach = range(-60, 61)
        weights = {
            k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mpmath.mpf(scale) ** 2)) for k in reach
        }
        total = mpmath.fsum(weights.values())
        law = {
            a: mpmath.fsum(
                mpmath.mpf(math.comb(n - 1, s))
                * mpmath.mpf(p) ** s
                * (1 - mpmath.mpf(p)) ** (n - 1 - s)
                * weights.get(a - s, mpmath.mpf(0))
                / total
                for s in range(n)
            )
            for a in range(-80, 81)
        }
        grow = mpmath.exp(epsilon)
        zero = mpmath.mpf(0)
        both = [
            mpmath.fsum(
                max(zero, law.get(a - v, zero) - grow * law.get(a - w, zero))
                for a in range(-50, 60)
            )
            for v, w in ((1, 0), (0, 1))
        ]
    curve = property_curve(n, p, [epsilon], noise=DiscreteGaussian(scale))
    assert curve.delta[0] == pytest.approx(float(max(both)), rel=1e-9)


def test_noise_never_costs_privacy() -> None:
    epsilon = [0.0, 0.05, 0.2]
    bare = property_curve(400, 0.2, epsilon).delta
    for kind in ("laplace", "gaussian", "discrete-gaussian"):
        for scale in (0.5, 3.0, 20.0):
            noisy = property_curve(400, 0.2, epsilon, noise=added_noise(kind, scale))
            assert (noisy.lower <= bare).all()


@pytest.mark.parametrize(
    ("n", "p", "epsilon", "known"),
    [
        (10, 0.0, 0.1, 0),
        (10, 1.0, 0.1, 0),
        (10, 1e-20, 0.1, 0),
        (10, 0.5, -0.1, 0),
        (10, 0.5, math.nan, 0),
        (10, 0.5, 0.1, 10),
        (10, 0.5, 0.1, -1),
        (0, 0.5, 0.1, 0),
        (2.5, 0.5, 0.1, 0),
    ],
)
def test_bad_input_is_one_sentence(n: int, p: float, epsilon: float, known: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        property_curve(n, p, epsilon, known=known)
    assert str(caught.value).count("\n") == 0


def test_no_groups_and_unknown_groups_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one group"):
        grouped_property_curve([], 0.1)
    with pytest.raises(InvalidInput, match="critical=3"):
        grouped_property_curve([(2, 0.5)], 0.1, critical=3)
    with pytest.raises(InvalidInput, match="one of"):
        added_noise("gumbel", 1.0)  # type: ignore[arg-type]
