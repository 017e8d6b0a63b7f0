"""Sampling techniques and background knowledge, by enumeration of templates and databases."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from omit.errors import InvalidInput
from omit.statistical.properties import property_curve
from omit.statistical.sampling import (
    PoissonTechnique,
    SamplingTechnique,
    WithoutReplacement,
    WithReplacement,
)
from tests.statistical.enumeration import (
    Law,
    coin,
    mean_over_templates,
    sampled,
    sequences,
    subsets,
    uniform,
    worst,
)

pytestmark = pytest.mark.slow

EPSILONS = (0.0, 0.1, 0.8)


@pytest.mark.parametrize(
    ("technique", "templates"),
    [
        (WithoutReplacement(3), uniform(5, 3)),
        (WithoutReplacement(5), uniform(5, 5)),
        (PoissonTechnique(0.4), subsets(5, 0.4)),
        (PoissonTechnique(1.0), subsets(5, 1.0)),
        (WithReplacement(3), sequences(5, 3)),
        (WithReplacement(4), sequences(5, 4)),
    ],
    ids=str,
)
def test_both_curves_are_those_of_the_definition(
    technique: SamplingTechnique, templates: dict[tuple[tuple[int, ...], ...], float]
) -> None:
    p, n = 0.3, 5
    laws = [coin(p)] * n
    average, secret = technique.curve(n, p, EPSILONS), technique.secret_curve(n, p, EPSILONS)
    hidden = sampled(templates, lambda samples: sum(samples[0]))
    for place, epsilon in enumerate(EPSILONS):
        expected = mean_over_templates(laws, templates, epsilon)
        assert average.delta[place] == pytest.approx(expected, rel=1e-8)
        exact = worst(laws, 0, hidden, epsilon)
        assert secret.delta[place] == pytest.approx(exact, rel=1e-8, abs=1e-12)
        assert exact <= expected + 1e-12, "a secret template never costs privacy"


@pytest.mark.parametrize("size", [1, 4, 7])
@pytest.mark.parametrize("p", [0.5, 1e-3])
def test_draws_with_replacement_are_exact_at_every_epsilon(size: int, p: float) -> None:
    n, chance, epsilons = 6, Fraction(p), [0.0, 0.5, 2.0, 5.0, 30.0, 500.0]
    technique = WithReplacement(size)
    public, secret = technique.curve(n, p, epsilons), technique.secret_curve(n, p, epsilons)
    laws = []
    for own in (1, 0):
        law = [Fraction(0)] * (size + 1)
        for ones in range(n):
            weight = math.comb(n - 1, ones) * chance**ones * (1 - chance) ** (n - 1 - ones)
            share = Fraction(ones + own, n)
            for drawn in range(size + 1):
                odds = share**drawn * (1 - share) ** (size - drawn)
                law[drawn] += weight * math.comb(size, drawn) * odds
        laws.append(law)
    for curve in (public, secret):
        assert curve.method == "exact"
        assert (np.diff(curve.delta) <= 0).all()
    with mpmath.workdps(50):
        for place, epsilon in enumerate(epsilons):
            grow = mpmath.exp(mpmath.mpf(epsilon))
            real = [[mpmath.mpf(x.numerator) / x.denominator for x in law] for law in laws]
            truth = max(
                mpmath.fsum(max(mpmath.mpf(0), a - grow * b) for a, b in zip(*pair, strict=True))
                for pair in (real, real[::-1])
            )
            assert secret.lower[place] <= truth <= secret.delta[place]
            assert secret.lower[place] <= public.delta[place]


def test_no_sample_has_a_delta_of_zero_because_it_is_small() -> None:
    # With ten thousand fair coins among the others, delta is about e^-1000.
    curves = (
        WithoutReplacement(10**4).curve(2 * 10**4, 0.5, [0.0, 1.0], known=10**3),
        PoissonTechnique(0.5).curve(2 * 10**4, 0.5, [0.0, 1.0]),
        WithoutReplacement(10**4).curve(2 * 10**4, 0.5, [0.0, 1.0]),
    )
    for curve in curves:
        assert 0 < curve.delta[1] < 1e-300


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 1.0])
def test_a_secret_sample_is_answered_at_any_epsilon(rate: float) -> None:
    curve = PoissonTechnique(rate).secret_curve(20, 0.3, [1.0, 700.0, 1e300])
    assert curve.method == "exact"
    # If the entry is drawn and all others are and have the property, it is known to have it. If all
    # are surely drawn and none has it, the entry is known not to, which is more probable.
    known = rate**20 * 0.3**19 if rate < 1 else 0.7**19
    assert curve.delta[2] == pytest.approx(known, rel=1e-6)


def test_with_replacement_is_estimated_where_it_cannot_be_listed() -> None:
    # The same draw by both routes: 25 draws can be listed, if that is allowed to take long.
    epsilon = [0.1, 0.5]
    listed = WithReplacement(20).curve(50, 0.4, epsilon)
    estimated = WithReplacement(60).curve(50, 0.4, epsilon, rng=np.random.default_rng(1), runs=300)
    assert listed.method == "exact"
    assert estimated.method == "simulated"
    assert (estimated.lower < estimated.delta).all()
    # The two must be consistent where known entries force simulation of a case that can be checked.
    with pytest.raises(InvalidInput, match="rng"):
        WithReplacement(20).curve(50, 0.4, epsilon, known=1)
    all_known = WithReplacement(4).curve(
        5, 0.4, [0.1], known=4, rng=np.random.default_rng(2), runs=50
    )
    assert all_known.lower[0] <= 1 - 0.8**4 <= all_known.delta[0]


def test_a_simulation_with_replacement_agrees_with_enumeration() -> None:
    # 99 % interval, fixed seed.
    n, p = 5, 0.3
    laws: list[Law] = [coin(p)] * 4 + [{1: 1.0}]
    found = WithReplacement(3).curve(n, p, [0.1], known=1, rng=np.random.default_rng(3), runs=4000)
    expected = mean_over_templates(laws, sequences(n, 3), 0.1)
    assert found.lower[0] <= expected <= found.delta[0]
    assert found.delta[0] - found.lower[0] < 0.05


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: PoissonTechnique(0.0),
        lambda: WithoutReplacement(0),
        lambda: WithoutReplacement(6).secret_curve(5, 0.5, 0.1),
        lambda: WithReplacement(10**6).secret_curve(10**6, 0.5, 0.1),
    ],
)
def test_bad_input_is_refused(attempt) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput):
        attempt()


@pytest.mark.parametrize("below", [4e-14, 1e-12, 1e-9, 1e-3])
def test_a_secret_sample_keeps_its_digits_where_its_curve_ends(below: float) -> None:
    # At ln(1 + share / ((1 - share) p)) = ln 4 the weight of the critical entry is used up.
    n, size, p = 5, 3, 0.5
    epsilon = float(np.log(4.0)) - below
    with mpmath.workdps(60):
        grow, half = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(1) / 2
        used = mpmath.mpf(size) / n
        binomial = [mpmath.binomial(size - 1, k) * half ** (size - 1) for k in range(size)]

        def law(value: int) -> list[mpmath.mpf]:
            one = used * value + (1 - used) * half
            ahead, behind = [mpmath.mpf(0), *binomial], [*binomial, mpmath.mpf(0)]
            return [one * a + (1 - one) * b for a, b in zip(ahead, behind, strict=True)]

        exact = sum(max(mpmath.mpf(0), a - grow * b) for a, b in zip(law(1), law(0), strict=True))
        curve = WithoutReplacement(size).secret_curve(n, p, epsilon)
        assert curve.lower[0] <= exact <= curve.delta[0]
        assert curve.delta[0] <= exact * (1 + 1e-8) + 1e-15


@pytest.mark.parametrize("n", [10**6, 10**12, 10**17])
def test_one_entry_of_a_huge_database_is_still_drawn_sometimes(n: int) -> None:
    """In truth 200 of n times, and then it is told apart as among 200: no entry comes twice."""
    curve = WithReplacement(200).curve(n, 0.5, [0.1], runs=50, rng=np.random.default_rng(0))
    # All runs are alike here, so that the interval is as wide as 50 runs of a constant leave it.
    given = property_curve(200, 0.5, [0.1]).delta[0] + 7 * math.log(4 / 0.01) / (3 * 49)
    assert curve.delta[0] == pytest.approx(200 / n * given, rel=0.01)


def test_simulated_draws_with_replacement_are_not_endless() -> None:
    with pytest.raises(InvalidInput, match="fewer runs"):
        WithReplacement(100_000).curve(10**6, 0.5, 0.1, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="at least two runs"):
        WithReplacement(50).curve(100, 0.5, 0.1, rng=np.random.default_rng(0), runs=1)


def test_a_sample_of_the_only_entry_hides_nothing() -> None:
    technique = WithoutReplacement(1)
    assert technique.curve(1, 0.3, [0.1, 2.0]).delta.tolist() == pytest.approx([1.0, 1.0])
    assert technique.secret_curve(1, 0.3, [0.1, 2.0]).delta.tolist() == pytest.approx([1.0, 1.0])
