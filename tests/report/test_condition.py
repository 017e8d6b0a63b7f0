"""A condition holds only where it surely does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit.errors import InvalidInput
from omit.report.condition import Condition, conditions
from omit.report.result import Ends, Result, Table


class Weighed(Result):
    command = "weigh"
    warning = None
    known_quantities: ClassVar[Mapping[str, str]] = {"weight": "in grams", "height": "in metres"}

    def __init__(self, *values: Ends | None) -> None:
        self.values = values

    @property
    def verdict(self) -> str:
        return ""

    def tables(self) -> Sequence[Table]:
        return ()

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        return {"weight": self.values, "height": ()}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("weight<=1", Condition("weight", "<=", 1.0)),
        (" weight  >  -2.5e-3 ", Condition("weight", ">", -0.0025)),
        ("weight≤1", Condition("weight", "<=", 1.0)),
        ("weight≥0", Condition("weight", ">=", 0.0)),
        ("weight<inf", Condition("weight", "<", math.inf)),
    ],
)
def test_a_condition_is_a_quantity_a_comparison_and_a_number(text: str, read: Condition) -> None:
    assert Condition.parse(text) == read
    assert Condition.parse(str(read)) == read


@pytest.mark.parametrize(
    "text",
    ["", "weight", "weight=1", "weight==1", "weight<=", "<=1", "weight<=one", "weight<=nan",
     "0<weight<1", "weight<=1 height<=2", "1>=weight"],
)  # fmt: skip
def test_what_is_no_condition_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match="such as 'epsilon<=1'"):
        Condition.parse(text)


def test_an_unknown_quantity_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidInput, match=r"Expected a condition on weight, height of omit weigh, got 'size'\."
    ):
        conditions(["weight<=1", "size<=1"], Weighed)


@pytest.mark.parametrize("comparison", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("number", [-math.inf, 0.0, 1.0, math.inf])
def test_no_condition_holds_for_what_does_not_exist(comparison: str, number: float) -> None:
    assert not Condition("weight", comparison, number).holds(None)
    assert not Condition("weight", comparison, number).holds((math.nan, math.nan))


NUMBERS = st.floats(allow_nan=False)


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from(["<", "<=", ">", ">="]))
def test_a_condition_on_an_interval_holds_for_every_number_in_it(
    low: float, high: float, number: float, comparison: str
) -> None:
    low, high = sorted((low, high))
    condition = Condition("weight", comparison, number)
    inside = [low, high, min(max(number, low), high)]
    assert condition.holds((low, high)) == all(condition.holds((x, x)) for x in inside)


def test_all_values_of_all_results_must_meet_a_condition() -> None:
    condition = Condition.parse("weight<=1")
    fits, heavy, unknown = Weighed((0.5, 1.0)), Weighed((0.0, 0.5), (0.9, 1.1)), Weighed(None)
    assert condition.unmet([fits]) is None
    assert condition.unmet([fits, heavy]) == (
        "weight<=1, but in 1 of 3 cases not: weight is between 0.9 and 1.1"
    )
    assert condition.unmet([unknown]) == "weight<=1, but weight is not known or does not exist"
    assert Condition.parse("height<=1").unmet([fits]) == "height<=1, and there is no height"


def test_a_failing_number_is_said_with_all_its_digits() -> None:
    assert "is 1.0000000000000002" in str(
        Condition("weight", "<=", 1).unmet([Weighed((1 + 2**-52,) * 2)])
    )
