"""Sampling techniques and background knowledge, by enumeration of templates and databases."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from omit.errors import InvalidInput
from omit.statistical.background import (
    Population,
    draws,
    empirical_interval,
    sampled_groups_curve,
    sampled_property_curve,
)
from omit.statistical.binomial import one_more
from omit.statistical.property import property_curve
from omit.statistical.sampling import (
    Poisson,
    SamplingTechnique,
    Template,
    WithoutReplacement,
    WithReplacement,
    mixture_delta,
)
from tests.statistical.enumeration import (
    Law,
    coin,
    partitions,
    sampled,
    sequences,
    subsets,
    worst,
)

EPSILONS = (0.0, 0.1, 0.8)


def _mean_over_templates(
    laws: list[Law], templates: dict[tuple[tuple[int, ...], ...], float], epsilon: float
) -> float:
    """Return Definition 3.3: the average over templates of the curve given the template."""
    return math.fsum(
        weight * worst(laws, 0, sampled([template], lambda samples: sum(samples[0])), epsilon)
        for template, weight in templates.items()
    )


def _uniform(n: int, size: int) -> dict[tuple[tuple[int, ...], ...], float]:
    every = partitions(n, [size])
    return {template: 1 / len(every) for template in every}


@pytest.mark.parametrize(
    ("technique", "templates"),
    [
        (WithoutReplacement(3), _uniform(5, 3)),
        (WithoutReplacement(5), _uniform(5, 5)),
        (Poisson(0.4), subsets(5, 0.4)),
        (Poisson(1.0), subsets(5, 1.0)),
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
        expected = _mean_over_templates(laws, templates, epsilon)
        assert average.delta[place] == pytest.approx(expected, rel=1e-8)
        exact = worst(laws, 0, hidden, epsilon)
        assert secret.delta[place] == pytest.approx(exact, rel=1e-8, abs=1e-12)
        assert exact <= expected + 1e-12, "a secret template never costs privacy"
    mine = {each.samples: weight for each, weight in technique.templates(n).items()}
    assert sum(mine.values()) == pytest.approx(1)
    assert {key for key, weight in templates.items() if weight > 0} <= set(mine)


@pytest.mark.parametrize("known", [0, 1, 3, 5])
def test_example_1_corrected_is_the_definition(known: int) -> None:
    n, size, p = 6, 4, 0.35
    laws: list[Law] = [coin(p)] * (n - known) + [{1: 1.0}] * known
    curve = sampled_property_curve(n, p, size, EPSILONS, known=known)
    given = sampled_property_curve(n, p, size, EPSILONS, known=known, conditional=True)
    for place, epsilon in enumerate(EPSILONS):
        expected = _mean_over_templates(laws, _uniform(n, size), epsilon)
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
        expected = _mean_over_templates(laws, _uniform(6, 3), epsilon)
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
    expected = _mean_over_templates(laws, sequences(n, 3), 0.1)
    assert found.lower[0] <= expected <= found.delta[0]
    assert found.delta[0] - found.lower[0] < 0.05


def test_templates_know_their_format_and_whether_they_repeat() -> None:
    assert Template(((0, 1), (2,))).is_injective
    assert not Template(((0, 1), (1,))).is_injective
    with pytest.raises(InvalidInput, match="no place 7"):
        Template(((7,),)).apply([1, 2])


@pytest.mark.parametrize("technique", [WithoutReplacement(3), Poisson(0.5), WithReplacement(3)])
def test_draws_are_templates_of_the_technique(technique: SamplingTechnique) -> None:
    rng = np.random.default_rng(0)
    every = {each.samples for each in technique.templates(4)}
    for _ in range(50):
        sample = technique.draw(4, rng).samples[0]
        assert (tuple(sorted(sample)),) in every


def test_draws_from_groups_are_multivariate_hypergeometric() -> None:
    found = dict(draws([2, 3, 1], 3))
    assert math.fsum(found.values()) == pytest.approx(1)
    assert found[1, 1, 1] == pytest.approx(2 * 3 * 1 / math.comb(6, 3))


def test_the_interval_covers_more_often_than_it_says() -> None:
    # 300 intervals at 99 % that in truth cover almost always: more than 9 misses would happen by
    # chance in less than 1 of 1,000 seeds.
    rng = np.random.default_rng(4)
    misses = 0
    for _ in range(300):
        low, high = empirical_interval(rng.beta(0.5, 5, (200, 1)))
        misses += not low[0] <= 0.5 / 5.5 <= high[0]
    assert misses <= 9


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: sampled_property_curve(10, 0.5, 11, 0.1),
        lambda: sampled_property_curve(10, 0.5, 3, 0.1, known=10),
        lambda: sampled_property_curve(10, 0.5, 3, 0.1, average="best"),  # type: ignore[arg-type]
        lambda: Poisson(0.0),
        lambda: WithoutReplacement(0),
        lambda: WithoutReplacement(6).draw(5, np.random.default_rng(0)),
        lambda: WithReplacement(30).templates(10),
        lambda: WithReplacement(10**6).secret_curve(10**6, 0.5, 0.1),
        lambda: Population([]),
        lambda: Population([(5, 1.0)]),
        lambda: Population([(5, 0.5)], known=-1),
        lambda: sampled_groups_curve(Population([(5, 0.5)]), 3, 0.1, critical=2),
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


def test_bounds_of_a_mixture_know_the_rounding_of_its_logarithm() -> None:
    """Among many entries delta falls so fast that the last digit of an epsilon shows."""
    trials, chance, share = 10**8, 0.21, 0.3
    epsilons = np.random.default_rng(5).uniform(1e-3, 1.8e-3, 12)
    bounds = mixture_delta(trials, chance, share, (0.0, 1 - share), epsilons)
    for epsilon, below, above in zip(epsilons, *bounds, strict=True):
        with mpmath.workdps(40):
            grown = mpmath.expm1(mpmath.mpf(epsilon))
            inner = float(mpmath.log1p(grown * (1 + (1 - mpmath.mpf(share)) / share)))
        # Rounded away from the truth: the divergence falls.
        before, after = np.nextafter(inner, 0), np.nextafter(inner, 1)
        truths = share * one_more(trials, chance, np.array([before, after]))
        assert above >= truths[0] * (1 - 1e-13)
        assert below <= truths[1] * (1 + 1e-13)
        assert above - below < 1e-8 * above


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
