"""Facts about guarantees and the relations they are stated for."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import (
    ADD_REMOVE,
    REPLACE,
    Guarantee,
    InvalidInput,
    NoGuarantee,
    Relation,
    Statement,
    WrongNeighbours,
)

epsilons = st.floats(0, 20)
deltas = st.floats(0, 0.999)


def randomised_response_delta(guarantee: Guarantee, epsilon: float) -> float:
    """Enumerate the four outputs of the mechanism that dominates every other."""
    grow = math.exp(guarantee.epsilon)
    shown = (1 - guarantee.delta) / (1 + grow)
    on_first = np.array([guarantee.delta, grow * shown, shown, 0.0])
    on_second = np.array([0.0, shown, grow * shown, guarantee.delta])
    return float(np.maximum(on_first - math.exp(epsilon) * on_second, 0).sum())


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, math.inf, -math.inf])
def test_epsilon_is_finite_and_not_negative(epsilon: float) -> None:
    with pytest.raises(InvalidInput, match="epsilon"):
        Guarantee(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2.0, math.nan])
def test_delta_is_below_one(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        Guarantee(1.0, delta)


def test_a_text_is_not_an_epsilon() -> None:
    with pytest.raises(InvalidInput, match="number"):
        Guarantee("much")  # type: ignore[arg-type]


def test_an_unknown_relation_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="add-remove, replace"):
        Guarantee(1.0, neighbours="bounded")


def test_relations_are_an_open_set() -> None:
    swapped = Relation("swap", meaning="two records exchange a value", steps_from={"replace": 2})
    assert Guarantee(0.5, neighbours="replace").to(swapped) == Guarantee(1.0, neighbours=swapped)


def test_a_relation_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(Guarantee(1.0, neighbours="replace")))
    assert copy.neighbours.steps_from == REPLACE.steps_from


def test_relations_are_named_as_in_dp_accounting() -> None:
    from dp_accounting import NeighboringRelation

    names = [relation.dp_accounting_name for relation in (ADD_REMOVE, REPLACE)]
    assert [NeighboringRelation[name].name for name in names] == [
        "ADD_OR_REMOVE_ONE",
        "REPLACE_ONE",
    ]


@given(epsilons, deltas, epsilons)
def test_the_implied_delta_is_that_of_randomised_response(
    epsilon: float, delta: float, at: float
) -> None:
    guarantee = Guarantee(epsilon, delta)
    expected = randomised_response_delta(guarantee, at)
    assert guarantee.delta_at(at) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.floats(0, 20), st.floats(0, 0.5), st.floats(0, 1))
def test_hits_are_those_of_the_best_test_of_randomised_response(
    epsilon: float, delta: float, alarms: float
) -> None:
    """By Neyman and Pearson: answers in the order of their likelihood ratios, up to the alarms."""
    grown, rest = math.exp(epsilon), 1 - delta
    hits, left = delta, alarms  # what only the record can cause raises no false alarm
    for ratio, share in ((grown, rest / (1 + grown)), (1 / grown, rest * grown / (1 + grown))):
        used = min(left, share)
        hits, left = hits + ratio * used, left - used
    guarantee = Guarantee(epsilon, delta)
    assert guarantee.hits(alarms) == pytest.approx(min(hits, 1.0), abs=1e-12)
    assert guarantee.hits(alarms) - alarms <= guarantee.advantage + 1e-12


def test_what_an_attacker_gains_has_the_tabulated_values() -> None:
    epsilons = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0)
    advantages = [f"{Guarantee(epsilon).advantage:.5f}" for epsilon in epsilons]
    assert advantages == ["0.04996", "0.12435", "0.24492", "0.46212", "0.76159", "0.90515"]
    hits = [f"{100 * Guarantee(epsilon).hits(0.01):.3f}" for epsilon in epsilons]
    assert hits == ["1.105", "1.284", "1.649", "2.718", "7.389", "20.086"]


def test_a_smaller_epsilon_is_implied_at_the_cost_of_delta() -> None:
    assert Guarantee(1.0).implies(Guarantee(0.5, 0.2877))
    assert not Guarantee(1.0).implies(Guarantee(0.5, 0.2876))


def test_guarantees_under_different_relations_do_not_compare() -> None:
    with pytest.raises(WrongNeighbours, match="convert"):
        Guarantee(1.0).implies(Guarantee(1.0, neighbours="replace"))


@given(st.floats(0.01, 3), st.floats(0, 1e-3), st.integers(1, 6))
def test_group_privacy_is_the_rule_of_one_step_applied_again_and_again(
    epsilon: float, delta: float, size: int
) -> None:
    total_epsilon = total_delta = 0.0
    for _ in range(size):
        total_epsilon, total_delta = (
            total_epsilon + epsilon,
            math.exp(epsilon) * total_delta + delta,
        )
    group = Guarantee(epsilon, delta).group(size)
    if total_delta < 1:
        assert isinstance(group, Guarantee)
        assert group.neighbours == ADD_REMOVE.group(size)
        assert group.epsilon == pytest.approx(total_epsilon)
        assert group.delta == pytest.approx(total_delta)
    else:
        assert isinstance(group, NoGuarantee)


def test_a_group_of_rows_without_epsilon_adds_up_deltas() -> None:
    assert Guarantee(0.0, 1e-3).group(5) == Guarantee(0.0, 5e-3, ADD_REMOVE.group(5))


@given(st.floats(0, 3), st.floats(0, 0.5), st.integers(1, 6))
def test_the_guarantee_per_row_gives_a_person_the_guarantee_back(
    epsilon: float, delta: float, rows: int
) -> None:
    row = Guarantee(epsilon, delta).per_row(rows)
    person = row.group(rows)
    assert isinstance(person, Guarantee)
    assert person.epsilon == pytest.approx(epsilon)
    assert person.delta == pytest.approx(delta, rel=1e-12)
    # Rounding never gives a row more than the person can bear.
    assert person.epsilon <= epsilon
    assert person.delta <= delta
    assert person.per_row(rows).neighbours == ADD_REMOVE


@given(epsilons, deltas, st.integers(1, 50))
def test_statistics_that_share_a_guarantee_do_not_exceed_it(
    epsilon: float, delta: float, count: int
) -> None:
    shared = Guarantee(epsilon, delta).per_statistic(count)
    assert Fraction(shared.epsilon) * count <= Fraction(epsilon)
    assert Fraction(shared.delta) * count <= Fraction(delta)
    assert shared.epsilon == pytest.approx(epsilon / count)


def test_a_large_group_without_delta_has_none() -> None:
    # 0 times a sum beyond all numbers.
    assert Guarantee(1.0).group(1000) == Guarantee(1000.0, 0.0, ADD_REMOVE.group(1000))
    assert Guarantee(800.0).to("replace") == Guarantee(1600.0, 0.0, "replace")
    assert isinstance(Guarantee(800.0, 1e-300).to("replace"), NoGuarantee)
    assert Guarantee(1000.0).per_row(1000) == Guarantee(1.0)


@given(st.floats(1e-3, 30), st.floats(1e-12, 1e-3), st.integers(2, 20))
def test_groups_are_rounded_up(epsilon: float, delta: float, size: int) -> None:
    group = Guarantee(epsilon, delta).group(size)
    with mpmath.workdps(60):
        true = mpmath.mpf(delta) * sum(
            mpmath.exp(step * mpmath.mpf(epsilon)) for step in range(size)
        )
        if isinstance(group, NoGuarantee):
            assert true > 1 - 1e-12
        else:
            assert Fraction(epsilon) * size <= Fraction(group.epsilon)
            assert true <= group.delta <= true * (1 + mpmath.mpf(10) ** -12)


def test_a_group_is_under_another_relation() -> None:
    three = Guarantee(0.5).group(3)
    assert isinstance(three, Guarantee)
    assert str(three) == "(1.5, 0)-DP under add-remove of 3 records"
    with pytest.raises(WrongNeighbours):
        three.implies(Guarantee(2.0))
    # Pairs that are nearer or that fewer steps lead to are among those that it is about.
    assert three.to("add-remove") == Guarantee(1.5)
    assert three.to("replace") == Guarantee(1.5, neighbours="replace")
    assert three.group(2) == Guarantee(3.0, neighbours=ADD_REMOVE.group(6))
    assert three.to(ADD_REMOVE.group(4)) == Guarantee(3.0, neighbours=ADD_REMOVE.group(4))
    assert Guarantee(0.5).to(REPLACE.group(2)) == Guarantee(2.0, neighbours=REPLACE.group(2))
    assert Guarantee(0.5).group(1) == Guarantee(0.5)
    with pytest.raises(WrongNeighbours, match="add-remove of 2 records"):
        three.per_row(2)
    with pytest.raises(WrongNeighbours, match="says nothing"):
        Guarantee(1.0, neighbours="replace").to(ADD_REMOVE.group(3))


def test_groups_of_a_relation_are_named_pickled_and_read() -> None:
    for grouped in (ADD_REMOVE.group(3), REPLACE.group(2)):
        copied = pickle.loads(pickle.dumps(grouped))
        named = Guarantee(1.0, neighbours=str(grouped)).neighbours
        assert isinstance(named, Relation)
        for other in (copied, named):
            assert (other, other.steps, other.unit) == (grouped, grouped.steps, grouped.unit)
    for name in ("swap of 3 records", "replace of 0 records", f"replace of {10**400} records"):
        with pytest.raises(InvalidInput, match="one of"):
            Guarantee(1.0, neighbours=name)


def test_add_remove_gives_replace_as_a_group_of_two_and_not_the_other_way() -> None:
    converted = Guarantee(1.0, 1e-6).to("replace")
    assert isinstance(converted, Guarantee)
    assert converted.delta == pytest.approx(1e-6 * (1 + math.e))
    with pytest.raises(WrongNeighbours, match="says nothing under add-remove"):
        Guarantee(1.0, neighbours="replace").to("add-remove")


def test_a_vacuous_group_guarantee_is_said_to_be_none() -> None:
    assert isinstance(Guarantee(5.0, 1e-3).group(4), NoGuarantee)
    assert isinstance(Guarantee(1e308).group(4), NoGuarantee)


def test_the_text_of_a_guarantee_can_be_read() -> None:
    assert repr(Guarantee(2.9004770978893855)) == (
        "Guarantee(epsilon=2.9004770978893855, delta=0.0, neighbours='add-remove')"
    )
    assert str(Guarantee(0.1, 1e-9, "replace")) == "(0.1, 1e-09)-DP under replace"


@given(epsilons, deltas, st.integers(1, 5))
def test_what_is_written_is_read_as_the_same(epsilon: float, delta: float, size: int) -> None:
    for kind in (Guarantee, Statement):
        for value in (kind(epsilon, delta), kind(epsilon, 0.0, "replace").group(size)):
            assert eval(repr(value)) == value
    guarantee: object = Guarantee(epsilon, delta)
    assert guarantee != Statement(epsilon, delta)


@pytest.mark.parametrize("nonsense", [True, "1", 10**400, None])
def test_what_is_not_a_number_is_no_epsilon(nonsense: object) -> None:
    with pytest.raises(InvalidInput):
        Guarantee(nonsense)  # type: ignore[arg-type]


def test_a_guarantee_compares_with_guarantees_only() -> None:
    with pytest.raises(InvalidInput, match="Expected a guarantee"):
        Guarantee(1.0).implies(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="neighbours"):
        Guarantee(1.0, neighbours=["add-remove"])  # type: ignore[arg-type]
