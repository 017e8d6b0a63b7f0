"""Samples whose entries the adversary knows in part, against the definition."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from omit.errors import InvalidInput
from omit.statistical.assumptions import Population
from omit.statistical.properties import (
    property_curve,
    sampled_groups_curve,
    sampled_property_curve,
)
from tests.statistical.enumeration import Law, coin, mean_over_templates, uniform

pytestmark = pytest.mark.slow

EPSILONS = (0.0, 0.1, 0.8)


@pytest.mark.parametrize("known", [0, 1, 3, 5])
def test_example_1_corrected_is_the_definition(known: int) -> None:
    n, size, p = 6, 4, 0.35
    laws: list[Law] = [coin(p)] * (n - known) + [{1: 1.0}] * known
    curve = sampled_property_curve(n, p, size, EPSILONS, known=known)
    given = sampled_property_curve(n, p, size, EPSILONS, known=known, conditional=True)
    for place, epsilon in enumerate(EPSILONS):
        expected = mean_over_templates(laws, uniform(n, size), epsilon)
        assert curve.delta[place] == pytest.approx(expected, rel=1e-8)
        assert given.delta[place] == pytest.approx(expected * n / size, rel=1e-8)


def test_example_1_as_printed_is_too_optimistic() -> None:
    asked = {"known": 11, "conditional": True}
    right = sampled_property_curve(12, 0.5, 6, 0.1, **asked)  # type: ignore[arg-type]
    printed = sampled_property_curve(12, 0.5, 6, 0.1, average="published", **asked)  # type: ignore[arg-type]
    assert right.delta[0] == 1.0, "all others are known"
    assert printed.delta[0] == pytest.approx(0.7917, abs=5e-5)


@pytest.mark.parametrize("epsilon", [0.55, 0.8, 0.95, 1.05])
def test_a_deep_threshold_bound_is_the_smallest_over_all_thresholds(epsilon: float) -> None:
    n, size, known, p = 2_000, 500, 500, 0.5
    curve = sampled_property_curve(
        n, p, size, [epsilon], known=known, conditional=True, average="threshold"
    )
    with mpmath.workdps(60):
        ways = mpmath.binomial(n - 1, size - 1)
        smallest = beyond = mpmath.mpf(1)
        for count in range(size):
            weight = mpmath.binomial(known, count) * mpmath.binomial(
                n - 1 - known, size - 1 - count
            )
            beyond -= weight / ways
            # A sample of this size, of whose other entries so many are known.
            delta = property_curve(size, p, [epsilon], known=count).lower[0]
            smallest = min(smallest, beyond + (1 - beyond) * mpmath.mpf(float(delta)))
        assert smallest <= float(curve.delta[0]) <= float(smallest) * (1 + 1e-8) + 2e-20


def test_the_worst_of_several_estimated_groups_has_the_confidence_of_one() -> None:
    """So the interval of each must be wider: a hundredth of misses is divided among them."""
    population = Population([(40, 0.5), (40, 0.3), (40, 0.1), (40, 0.2)], known=10)
    alone, worst_of_all = (
        sampled_groups_curve(
            population,
            60,
            [0.1],
            critical=critical,
            conditional=True,
            runs=200,
            rng=np.random.default_rng(3),
        )
        for critical in (0, None)
    )
    assert alone.method == worst_of_all.method == "simulated"
    width = 7 * (math.log(16 / 0.01) - math.log(4 / 0.01)) / (3 * 199)
    assert worst_of_all.delta[0] >= alone.delta[0] + width


def test_the_threshold_bound_holds_and_is_the_average_at_the_ends() -> None:
    epsilon = np.array([0.0, 0.05, 0.3])
    for known in (0, 100, 400, 799):
        exact = sampled_property_curve(800, 0.3, 200, epsilon, known=known, conditional=True)
        bound = sampled_property_curve(
            800, 0.3, 200, epsilon, known=known, conditional=True, average="threshold"
        )
        assert bound.method == "upper bound"
        assert (bound.delta >= exact.lower).all()
        if known in (0, 799):
            assert bound.delta == pytest.approx(exact.delta, rel=1e-8)


def test_a_large_sample_is_bracketed_by_steps() -> None:
    curve = sampled_property_curve(
        10**6, 0.3, 10**5, [0.001, 0.01], known=500_000, conditional=True
    )
    assert (curve.lower <= curve.delta).all()
    assert (curve.delta / curve.lower < 1.002).all()
    middle = property_curve(50_000, 0.3, [0.001, 0.01]).delta
    assert curve.delta == pytest.approx(middle, rel=0.01)


def test_the_multivariate_version_is_the_definition() -> None:
    laws: list[Law] = [coin(0.2)] * 2 + [coin(0.7)] * 3 + [{0: 1.0}]
    population = Population([(2, 0.2), (3, 0.7)], known=1)
    for epsilon in EPSILONS:
        curve = sampled_groups_curve(population, 3, epsilon, critical=0)
        expected = mean_over_templates(laws, uniform(6, 3), epsilon)
        assert curve.delta[0] == pytest.approx(expected, rel=1e-8)
        worst_group = sampled_groups_curve(population, 3, epsilon)
        assert worst_group.delta[0] >= curve.delta[0] - 1e-12


def test_groups_alike_are_the_univariate_version() -> None:
    epsilon = [0.05, 0.4]
    groups = sampled_groups_curve(Population([(20, 0.3), (30, 0.3)], known=10), 12, epsilon)
    whole = sampled_property_curve(60, 0.3, 12, epsilon, known=10)
    assert groups.delta == pytest.approx(whole.delta, rel=1e-8)


def test_too_many_draws_are_estimated_with_an_interval() -> None:
    # One test at 99 % and a fixed seed: a false alarm in at most one of a hundred seeds.
    population = Population([(90, 0.3), (90, 0.3), (90, 0.3), (30, 0.3)])
    with pytest.raises(InvalidInput, match="rng"):
        sampled_groups_curve(population, 60, [0.1])
    asked = {"runs": 400, "rng": np.random.default_rng(0), "critical": 0}
    curve = sampled_groups_curve(population, 60, [0.1], **asked)  # type: ignore[arg-type]
    exact = sampled_property_curve(300, 0.3, 60, [0.1])
    assert curve.method == "simulated"
    assert curve.confidence == 0.99
    assert curve.lower[0] <= exact.delta[0] <= curve.delta[0]
    assert curve.delta[0] - curve.lower[0] < 0.02


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: sampled_property_curve(10, 0.5, 11, 0.1),
        lambda: sampled_property_curve(10, 0.5, 3, 0.1, known=10),
        lambda: sampled_property_curve(10, 0.5, 3, 0.1, average="best"),  # type: ignore[arg-type]
        lambda: Population([]),
        lambda: Population([(5, 1.0)]),
        lambda: Population([(5, 0.5)], known=-1),
        lambda: sampled_groups_curve(Population([(5, 0.5)]), 3, 0.1, critical=2),
    ],
)
def test_bad_input_is_refused(attempt) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput):
        attempt()
