"""Whatever is given to the functions of this room: an answer or a sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from omit import Column, statistical
from omit.errors import InvalidInput
from omit.laws import DiscreteGaussian, Distribution
from omit.statistical import (
    Entries,
    Partition,
    PoissonTechnique,
    Population,
    ScoreQuery,
    StatisticalGuarantee,
    WithoutReplacement,
    WithReplacement,
    added_noise,
    ask,
    property_curve,
)
from omit.statistical.answers import answer_queries, named_query
from omit.statistical.assumptions import property_probability
from omit.statistical.planner import most_queries
from tests.odd_arguments import Call, require_answers_or_sentences

RNG = np.random.default_rng(0)
DIE = Distribution([0, 1, 2], [0.5, 0.3, 0.2])
POPULATION = Population([(6, 0.5), (4, 0.1)], 2)
MANY = Population([(60, 0.5), (60, 0.1), (60, 0.2), (60, 0.3)], 30)
ENTRIES = Entries([(6, {"a": 0.5, "b": 0.5})])
COUNT = ScoreQuery("b", {"a": 0, "b": 1})
PARTITION = Partition(10, (5, 5))
CURVE = property_curve(5, 0.5, [0.1])
RECORDS = list(range(10))
GROUPS = {"critical": 0, "runs": 20, "rng": RNG}
COLUMN = Column.from_values(RECORDS, bounds=(0, 9))
SHARES = ["share:>=3", "share:<=7"]
NOISY = {"known": 1, "noise": added_noise("laplace", 1.0)}

CALLS: dict[str, Call] = {
    "property_curve": Call(property_curve, (10, 0.5, [0.1]), NOISY),
    "sum_curve": Call(statistical.sum_curve, (DIE, 5, [0.1]), NOISY),
    "sum_curve_of_groups": Call(
        statistical.sum_curve_of_groups, ([(DIE, 5)], [0, 1], [0.1]), {"noise": None}
    ),
    "order_statistic_curve": Call(statistical.order_statistic_curve, (DIE, 5, 3, [0.1])),
    "grouped_property_curve": Call(
        statistical.grouped_property_curve, ([(5, 0.5)], [0.1]), {"critical": 0, "known": 1}
    ),
    "sampled_property_curve": Call(
        statistical.sampled_property_curve,
        (10, 0.5, 5, 0.1),
        {"known": 1, "average": "exact", "conditional": False},
    ),
    "sampled_groups_curve": Call(
        statistical.sampled_groups_curve, (POPULATION, 5, 0.1), {**GROUPS, "conditional": False}
    ),
    "simulated groups": Call(statistical.sampled_groups_curve, (MANY, 50, 0.1), GROUPS),
    "composition_bound": Call(
        statistical.composition_bound,
        (ENTRIES, [3, 3], ask(COUNT, COUNT), [0.1]),
        {**GROUPS, "method": "simulated"},
    ),
    "exact_composition": Call(
        statistical.exact_composition,
        (ENTRIES, [3, 3], ask(COUNT, COUNT), [0.1]),
        {"critical": 0},
    ),
    "worst_of_class": Call(
        statistical.worst_of_class, (ENTRIES, [3, 3], [COUNT], [0.1]), {"critical": 0}
    ),
    "ask": Call(ask, (COUNT,)),
    "plan": Call(
        statistical.plan,
        (10, 2, 0.1),
        {"p": 0.5, "importance": [1, 1], "same_property": False},
    ),
    "most_queries": Call(most_queries, (100, 0.5, 0.3), {"p": 0.5}),
    "Partition": Call(Partition, (10, (5, 5))),
    "equal": Call(Partition.equal, (10, 2)),
    "by_importance": Call(Partition.by_importance, (10, [1, 1], 0.5)),
    "bound": Call(PARTITION.bound, ([CURVE, CURVE],)),
    "property_bound": Call(PARTITION.property_bound, (0.5, 0.1)),
    "property_exact": Call(PARTITION.property_exact, (0.5, 0.1)),
    "groups_bound": Call(Partition(12, (6, 6)).groups_bound, (POPULATION, 0.1), GROUPS),
    "partition.draw": Call(PARTITION.draw, (RNG,)),
    "answer": Call(PARTITION.answer, (RECORDS, [np.sum, np.mean], RNG)),
    "answer_adaptively": Call(PARTITION.answer_adaptively, (RECORDS, lambda answers: np.sum, RNG)),
    "standard_errors": Call(PARTITION.standard_errors, (0.5,)),
    "named_query": Call(named_query, ("mean",)),
    "answer_queries": Call(
        answer_queries,
        (COLUMN, SHARES, RNG),
        {"importance": (1, 1), "p": (0.5, 0.5), "epsilon": 1.0},
    ),
    "Population": Call(Population, ([(5, 0.5)], 2)),
    "Entries": Call(Entries, ([(5, {"a": 0.5, "b": 0.5})],)),
    "ScoreQuery": Call(ScoreQuery, ("name", {"a": 1})),
    "added_noise": Call(added_noise, ("laplace", 1.0)),
    "DiscreteGaussian": Call(DiscreteGaussian, (1.0,)),
    "Distribution": Call(Distribution, ([0, 1], [0.5, 0.5])),
    "guarantee": Call(CURVE.guarantee, (0.1,)),
    "StatisticalGuarantee": Call(StatisticalGuarantee, (1.0, 0.1, "coins")),
    "WithoutReplacement": Call(WithoutReplacement, (3,)),
    "PoissonTechnique": Call(PoissonTechnique, (0.5,)),
    "WithReplacement": Call(WithReplacement, (3,)),
}
for technique in (WithoutReplacement(3), PoissonTechnique(0.5), WithReplacement(3)):
    CALLS |= {
        f"curve, {technique}": Call(
            technique.curve, (10, 0.5, 0.1), {"known": 1, "runs": 20, "rng": RNG}
        ),
        f"secret_curve, {technique}": Call(technique.secret_curve, (10, 0.5, 0.1)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_taken_or_refused_with_one_sentence(name: str) -> None:
    require_answers_or_sentences(CALLS[name])


@pytest.mark.parametrize(
    "call",
    [
        lambda: PoissonTechnique(0.5).curve(10**17, 0.5, 0.1),
        lambda: statistical.sampled_property_curve(10**17, 0.5, 10**16, 0.1, known=10**16),
        lambda: WithReplacement(10**12).curve(5, 0.5, 0.1, rng=RNG),
        lambda: property_curve(10**19, 0.5, 0.1),
        lambda: Partition(10**12, (5,)).draw(RNG),
        lambda: statistical.composition_bound(
            ENTRIES, [3, 3], ask(COUNT, COUNT), [0.1], method="simulated", runs=10**9, rng=RNG
        ),
    ],
)
def test_what_would_take_days_or_all_memory_is_refused_at_once(call: Callable[[], Any]) -> None:
    begin = time.perf_counter()
    with pytest.raises(InvalidInput):
        call()
    assert time.perf_counter() - begin < 2


def test_a_group_between_two_groups_is_refused() -> None:
    with pytest.raises(InvalidInput, match="to name one of 2 groups"):
        statistical.grouped_property_curve([(5, 0.5), (5, 0.1)], 0.1, critical=0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="to name one of 2 groups"):
        statistical.sampled_groups_curve(POPULATION, 5, 0.1, critical=2)


def test_a_probability_that_is_lost_next_to_1_is_refused_as_such() -> None:
    assert property_probability(5.6e-17) == 5.6e-17
    with pytest.raises(InvalidInput, match=r"Expected p=2\.5e-115 to be at least 5\.6e-17"):
        property_curve(10, 2.5e-115, 0.1)


def test_values_that_are_no_numbers_never_make_a_curve() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        statistical.sum_curve_of_groups([(DIE, 2)], [0, np.nan], 0.1)


def test_an_answer_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidInput, match="the answer of query 1"):
        PARTITION.answer(RECORDS, [lambda block: float("nan")] * 2, RNG)
    with pytest.raises(InvalidInput, match="Query 1 cannot be computed"):
        PARTITION.answer(RECORDS, [lambda block: block["age"]] * 2, RNG)
