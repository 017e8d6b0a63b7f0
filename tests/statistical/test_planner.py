"""The planner, and differential privacy beside it, against dp-accounting."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import pytest

from omit.errors import InvalidInput, Unattainable
from omit.laws.noise import Gaussian
from omit.statistical.curve import StatisticalGuarantee
from omit.statistical.partition import Partition
from omit.statistical.planner import (
    exact_dp_queries,
    most_queries,
    paper_dp_queries,
    plan,
)
from omit.statistical.properties import property_curve
from tests.statistical.enumeration import partitions, sampled, worst


def test_the_plan_of_the_paper_s_first_table() -> None:
    found = plan(2**15, 64, 0.01, same_property=True)
    assert set(found.partition.sizes) == {512}
    assert found.standard_errors[0] == pytest.approx(math.sqrt(0.25 * (1 / 512 - 1 / 2**15)))
    assert found.theorem == pytest.approx(property_curve(512, 0.5, 0.01).delta[0])
    assert found.exact == pytest.approx(1.104815e-3, rel=1e-6)  # THEORY, enumerated elsewhere
    assert isinstance(found.guarantee, StatisticalGuarantee)
    assert found.guarantee.delta == found.exact


def test_exact_accounting_is_dp_accounting_s() -> None:
    from dp_accounting import ComposedDpEvent, GaussianDpEvent
    from dp_accounting.dp_event import SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    n, sigma, epsilon = 1024, 0.0869, 0.1
    delta = float(property_curve(32, 0.5, epsilon).delta[0])
    count = exact_dp_queries(n, sigma, epsilon, delta)

    def accounted(queries: int) -> float:
        # On the scale of the share, one entry counts 1 / n: noise multiplier sigma * n.
        event = SelfComposedDpEvent(GaussianDpEvent(sigma * n), queries)
        accountant = PLDAccountant(value_discretization_interval=1e-3)
        return float(accountant.compose(ComposedDpEvent([event])).get_delta(epsilon))

    assert accounted(count) <= delta * (1 + 1e-3)
    assert accounted(count + 2) > delta


@pytest.mark.parametrize(("n", "queries", "epsilon"), [(2**15, 64, 0.01), (1024, 32, 0.1)])
def test_exact_against_exact_is_parity(n: int, queries: int, epsilon: float) -> None:
    found = plan(n, queries, epsilon, same_property=True)
    assert found.dp_at_exact is not None
    assert found.dp_at_theorem is not None
    assert found.dp_at_exact.exact == pytest.approx(queries - 1, abs=1)
    assert found.dp_at_theorem.exact == pytest.approx(queries * (queries - 1), rel=0.05)
    assert found.dp_at_theorem.paper < queries


def test_different_properties_of_one_probability_tell_more_than_one_property_asked_twice() -> None:
    blocks = (3, 2)
    chance = {0: 0.8, 1: 0.2}
    law = {(a, b): chance[a] * chance[b] for a in chance for b in chance}
    templates = partitions(5, blocks)

    def truth(second: int) -> float:
        """Return delta if the first block is asked for one property, the second for another."""

        def answer(samples: tuple[Any, ...]) -> Hashable:
            return sum(e[0] for e in samples[0]), sum(e[second] for e in samples[1])

        return worst([law] * 5, 0, sampled(templates, answer), 0.0)  # type: ignore[list-item]

    asked = plan(5, 2, 0.0, p=[0.2, 0.2])
    assert asked.partition.sizes == blocks
    assert asked.exact is None
    assert truth(1) == pytest.approx(0.4387, abs=1e-4)
    assert isinstance(asked.guarantee, StatisticalGuarantee)
    assert asked.guarantee.delta == asked.theorem > truth(1)
    same = plan(5, 2, 0.0, p=0.2, same_property=True)
    assert same.exact == pytest.approx(truth(0), rel=1e-8)
    assert truth(0) == pytest.approx(0.4096)


def test_unequal_probabilities_have_no_exact_delta() -> None:
    found = plan(1000, 2, 0.1, p=[0.5, 0.1])
    assert found.exact is None
    assert found.dp_at_exact is None
    assert isinstance(found.guarantee, StatisticalGuarantee)
    assert found.guarantee.delta == found.theorem
    assert found.partition.sizes == (625, 375), "in proportion to sqrt(p (1 - p)), 5 : 3"


@pytest.mark.parametrize("p", [0.5, [0.5, 0.3]])
def test_a_delta_too_small_for_floats_is_not_promised_to_be_zero(p: float | list[float]) -> None:
    # If all entries have the property, the critical one has: delta is at least 0.3^100000.
    found = plan(100_000, 2, 20.0, p=p)
    assert 0 < found.theorem < 1e-300
    assert found.exact is None or 0 < found.exact < 1e-300
    assert isinstance(found.guarantee, StatisticalGuarantee)
    assert found.guarantee.delta > 0


def test_importance_buys_accuracy() -> None:
    found = plan(1000, 3, 0.1, importance=[16, 1, 1])
    assert found.partition.sizes == (666, 167, 167)
    assert found.standard_errors[0] < found.standard_errors[1]


def test_one_query_on_everything_has_no_error_and_dp_has_no_answer() -> None:
    found = plan(1000, 1, 0.1)
    assert found.standard_errors == (0.0,)
    assert found.dp_at_theorem is not None
    assert (found.dp_at_theorem.paper, found.dp_at_theorem.exact) == (0, 0)
    assert found.theorem == pytest.approx(found.exact)


def test_most_queries_is_the_last_that_fits() -> None:
    count = most_queries(1024, 0.1, 0.12)
    cost = [
        float(Partition.equal(1024, m).property_bound(0.5, 0.1).delta[0])
        for m in (count, count + 1)
    ]
    assert cost[0] <= 0.12 < cost[1]
    with pytest.raises(Unattainable, match="Even one query"):
        most_queries(1024, 0.1, 1e-9)


def test_the_paper_s_formula_is_a_sufficient_condition() -> None:
    for n, sigma, epsilon, delta in ((32768, 0.0153, 0.01, 0.02), (1024, 0.0869, 0.2, 0.0711)):
        assert paper_dp_queries(n, sigma, epsilon, delta) <= exact_dp_queries(
            n, sigma, epsilon, delta
        )


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: plan(10, 11, 0.1),
        lambda: plan(10, 0, 0.1),
        lambda: plan(10, 2, -0.1),
        lambda: plan(10, 2, 0.1, p=0.0),
        lambda: plan(10, 2, 0.1, p=[0.5, 0.5, 0.5]),
        lambda: plan(10, 2, 0.1, p=[0.5, 0.4], same_property=True),
        lambda: plan(10, 2, 0.1, importance=[1.0]),
        lambda: plan(10, 2, 0.1, importance=[1.0, -1.0]),
    ],
)
def test_bad_plans_are_refused(attempt) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput):
        attempt()


def test_the_number_of_dp_queries_is_found_also_where_it_has_many_digits() -> None:
    n, error, epsilon, delta = 10**12, 1e-4, 5.0, 1e-9
    found = exact_dp_queries(n, error, epsilon, delta)
    assert found > 10**15
    assert Gaussian(error).precise_delta(epsilon, math.sqrt(found) / n) <= delta
    more = found + found // 10**9
    assert Gaussian(error).precise_delta(epsilon, math.sqrt(more) / n) > delta


@pytest.mark.slow
def test_plans_beyond_all_use_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 20,000"):
        plan(10**12, 10**9, 0.1)
    with pytest.raises(InvalidInput, match="protects nobody"):
        plan(100, 2, 1e14)
    assert most_queries(10**6, 1e5, 0.5) == 20_000
