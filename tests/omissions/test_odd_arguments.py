"""Whatever is given to the functions of this room: an answer or a sentence."""

from __future__ import annotations

from functools import partial

import pytest

from omit import ALL_RECORDS, Column, Guarantee, Statement, omissions
from omit.errors import InvalidInput
from omit.omissions import (
    Charge,
    FixedSizeSampling,
    IndependentPair,
    NoOmission,
    Omission,
    OutlierScoreSuppression,
    PairLoss,
    PoissonSampling,
    RuleSuppression,
    Sample,
    SamplingByValue,
    StableSuppression,
    SubsetPair,
    ThresholdOutlierRemoval,
    TopOutlierRemoval,
)
from omit.omissions.base import checked_design
from omit.omissions.names import parse_omission
from tests.odd_arguments import Call, require_answers_or_sentences

COLUMN = Column.from_values([1, 2, 2], bounds=(0, 3))
GUARANTEE = Guarantee(1.0, 1e-6)
SAMPLE = Sample(PoissonSampling(0.1))
SCORES = OutlierScoreSuppression(0.1, 0.3)
SUBSETS = SubsetPair.from_distributions(
    "a", "y", {"": 0.5, "a": 0.5}, {"": 0.25, "a": 0.25, "y": 0.25, "ay": 0.25}
)
INDEPENDENT = IndependentPair((0.1,), (0.2,), 0.3)
OMISSIONS: dict[str, Omission] = {
    "none": NoOmission(),
    "poisson": PoissonSampling(0.1),
    "rule": RuleSuppression(keep=(0, 1)),
    "by value": SamplingByValue({(0, 1): 0.5}, 0.25),
    "stable": StableSuppression(2),
    "score": SCORES,
    "published": OutlierScoreSuppression(0.1, 0.3, bound="published"),
}
ASSIGNMENT = {(): (), ("a",): ("a",)}

CALLS: dict[str, Call] = {
    "PoissonSampling": Call(PoissonSampling, (0.1,)),
    "sampling_probability": Call(PoissonSampling, (), {"sampling_probability": 0.1}),
    "SamplingByValue": Call(SamplingByValue, ([(1.0, 0.5)], 0.25)),
    "FixedSizeSampling": Call(FixedSizeSampling, (1, 10)),
    "StableSuppression": Call(StableSuppression, (2,)),
    "RuleSuppression": Call(RuleSuppression, (1, (0, 1))),
    "OutlierScoreSuppression": Call(
        OutlierScoreSuppression, (0.1, 0.2), {"distance": "absolute", "bound": "mixture"}
    ),
    "ThresholdOutlierRemoval": Call(ThresholdOutlierRemoval, (0.5,)),
    "TopOutlierRemoval": Call(TopOutlierRemoval, (0.3,)),
    "omission": Call(omissions.omission, ("poisson",), {"rate": 0.1}),
    "parse_omission": Call(parse_omission, ("fixed-size:3", 10)),
    "Sample": Call(Sample, (PoissonSampling(0.1), ALL_RECORDS, "x")),
    "draw": Call(ALL_RECORDS.draw, (PoissonSampling(0.1),)),
    "split": Call(ALL_RECORDS.split, (0.5, 0.25)),
    "partition": Call(ALL_RECORDS.partition, ("a", "b")),
    "charge": Call(SAMPLE.charge, (GUARANTEE, 2)),
    "Charge": Call(Charge, (((SAMPLE, GUARANTEE, 1),),)),
    "compose": Call(omissions.compose, (SAMPLE.charge(GUARANTEE),)),
    "add": Call(SAMPLE.charge(GUARANTEE).__add__, (SAMPLE.charge(GUARANTEE),)),
    "sampling_epsilon": Call(omissions.sampling_epsilon, (1.0, 0.1)),
    "sampling_base_epsilon": Call(omissions.sampling_base_epsilon, (1.0, 0.1)),
    "mixture_epsilon": Call(omissions.mixture_epsilon, (1.0, 0.1, 0.2)),
    "mixture_base_epsilon": Call(omissions.mixture_base_epsilon, (1.0, 0.1, 0.2)),
    "published_epsilon": Call(omissions.published_epsilon, (1.0, 0.1, 0.2)),
    "published_base_epsilon": Call(
        omissions.published_base_epsilon, (1.0, 0.1, 0.2), gives_nan=True
    ),
    "worst_pair": Call(SCORES.worst_pair, (3, 1.0)),
    "rounding_cost": Call(SCORES.rounding_cost, (1.0, 10)),
    "witness": Call(ThresholdOutlierRemoval(0.3).witness, (10,)),
    "IndependentPair": Call(IndependentPair, ((0.1,), (0.2,), 0.3)),
    "loss": Call(INDEPENDENT.loss, (1.0, 0.1)),
    "to_subsets": Call(INDEPENDENT.to_subsets, (["a", "b"],)),
    "from_distributions": Call(
        SubsetPair.from_distributions, ("a", "y", SUBSETS.without, SUBSETS.with_record)
    ),
    "theorem_5_3": Call(SUBSETS.theorem_5_3, (1.0, 0.1)),
    "theorem_b_6": Call(SUBSETS.theorem_b_6, (1.0, 0.1, ASSIGNMENT, ASSIGNMENT)),
    "exact": Call(SUBSETS.exact, (1.0, 0.1)),
    "best_assignments": Call(SUBSETS.best_assignments, (1.0,)),
    "theorem_5_3 of an independent pair": Call(INDEPENDENT.theorem_5_3, (1.0, 0.1)),
    "exact_delta": Call(SUBSETS.exact_delta, (1.0, 0.1, 0.5)),
    "lower_bound of a pair": Call(SUBSETS.lower_bound, (1.0,)),
    "by_shift_rule": Call(PairLoss.by_shift_rule, (1.0, 1.0, 1.0, 0.1)),
}
for name, way in OMISSIONS.items():
    CALLS[f"amplify, {name}"] = Call(way.amplify, (GUARANTEE,))
    CALLS[f"candidates, {name}"] = Call(way.candidates, (Guarantee(3.0, 1e-6),))
    CALLS[f"lower_bound, {name}"] = Call(way.lower_bound, (GUARANTEE,))
    CALLS[f"bounds, {name}"] = Call(way.privacy_bounds, (1.0,))
    if name != "stable":
        CALLS[f"design, {name}"] = Call(partial(checked_design, way), (COLUMN, "absolute"))


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_taken_or_refused_with_one_sentence(name: str) -> None:
    require_answers_or_sentences(CALLS[name])


def test_a_large_epsilon_passes_a_suppression_that_omits_nothing() -> None:
    nothing = OutlierScoreSuppression(0, 0)
    for epsilon in (720.0, 746.0, 1000.0, 1e6):
        assert nothing.calibrate(Guarantee(epsilon)) == Guarantee(epsilon)
        assert nothing.amplify(Guarantee(epsilon)) == Statement(epsilon, 0.0, "add-remove")


def test_a_pair_of_databases_takes_texts_and_refuses_what_has_no_order() -> None:
    assert INDEPENDENT.to_subsets("ab").database == ("a",)
    with pytest.raises(InvalidInput, match="numbers or texts"):
        SubsetPair.from_distributions([[1]], "y", {"": 1.0}, {"": 1.0})  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="numbers or texts"):
        SubsetPair.from_distributions([1], 10**400, {"": 1.0}, {"": 1.0})
