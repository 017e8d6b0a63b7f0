"""Deterministic suppression of bounded sensitivity."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from omit import Guarantee, InvalidInput, RuleSuppression, Statement
from omit.omissions import StableSuppression, SubsetPair


def far_apart(sensitivity: int) -> SubsetPair:
    """Return a suppression that keeps nothing of D and everything of D', `sensitivity` records."""
    records = tuple(range(sensitivity))
    return SubsetPair.from_distributions(records[:-1], records[-1], {(): 1.0}, {records: 1.0})


@pytest.mark.parametrize("sensitivity", [1, 2, 3, 4])
def test_theorem_5_1_is_tight_for_pure_differential_privacy(sensitivity: int) -> None:
    bound = StableSuppression(sensitivity).amplify(Guarantee(0.7))
    assert isinstance(bound, Statement)
    assert far_apart(sensitivity).exact(0.7).epsilon == pytest.approx(bound.epsilon, abs=1e-7)


def group_mechanism(epsilon: float, delta: float, steps: int) -> list[float]:
    """Return the probabilities of one answer that grow as fast as (epsilon, delta) allows."""
    answers = [0.0]
    for _ in range(steps):
        answers.append(math.exp(epsilon) * answers[-1] + delta)
    return answers


@pytest.mark.parametrize(("epsilon", "steps"), [(0.3, 2), (1.0, 2), (1.0, 4), (2.0, 3)])
def test_delta_of_theorem_5_1_is_attained_up_to_the_corrected_condition_of_proposition_b_1(
    epsilon: float, steps: int
) -> None:
    sums = [sum(math.exp(epsilon * k) for k in range(terms)) for terms in (steps, steps - 1)]
    limit = 1 / sum(sums)
    answers = group_mechanism(epsilon, limit, steps)
    grow = math.exp(epsilon)
    for lower, upper in pairwise(answers):
        assert upper <= grow * lower + limit + 1e-12
        assert 1 - lower <= grow * (1 - upper) + limit + 1e-12
    bound = StableSuppression(steps).amplify(Guarantee(epsilon, limit))
    assert isinstance(bound, Statement)
    assert answers[-1] == pytest.approx(bound.delta)
    # Beyond it the paper still claims tightness, and no mechanism has it.
    beyond = 1.05 * limit
    assert beyond * sums[0] < 1
    exact = far_apart(steps).exact_delta(epsilon, beyond, steps * epsilon)
    assert exact < beyond * sums[0] - 1e-3


def test_proposition_b_1_fails_between_its_condition_and_the_right_one() -> None:
    delta = 0.25
    claimed = delta * (1 + math.e)
    assert claimed < 1
    assert far_apart(2).exact_delta(1.0, delta, 2.0) == pytest.approx(0.8160602794, abs=1e-8)
    assert claimed == pytest.approx(0.9295704571, abs=1e-8)


def test_a_rule_keeps_privacy_as_it_is_and_narrows_the_bounds() -> None:
    rule = RuleSuppression(keep=(10, 100))
    assert rule.amplify(Guarantee(0.3, 1e-7)) == Statement(0.3, 1e-7)
    assert rule.restrict((0, 125)) == (10, 100)
    assert rule.restrict((20, 90)) == (20, 90)
    assert RuleSuppression().restrict((0, 125)) == (0, 125)


def test_rules_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no possible value"):
        RuleSuppression(keep=(200, 300)).restrict((0, 125))
    with pytest.raises(InvalidInput, match="lower <= upper"):
        RuleSuppression(keep=(3, 1))
    with pytest.raises(InvalidInput, match="sensitivity 1"):
        RuleSuppression(sensitivity=2)
    for sensitivity in (0, -1, 1.5, math.inf):
        with pytest.raises(InvalidInput, match="sensitivity"):
            StableSuppression(sensitivity)  # type: ignore[arg-type]
