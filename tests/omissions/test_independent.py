"""One pair of databases under independent suppression."""

from __future__ import annotations

import math

import numpy as np
import pytest

from omit import InvalidInput, OutlierScoreSuppression
from omit.omissions import IndependentPair
from omit.omissions.outlier_score import outlier_score_pair


def test_the_linear_program_equals_the_exact_loss_in_both_directions() -> None:
    rng = np.random.default_rng(11)
    for _ in range(40):
        size = int(rng.integers(0, 5))
        before, after = rng.uniform(size=(2, size))
        pair = IndependentPair(tuple(before), tuple(after), float(rng.uniform()))
        epsilon = float(rng.uniform(0.05, 3))
        formula, program = pair.loss(epsilon), pair.to_subsets().exact(epsilon)
        assert program.presence == pytest.approx(formula.presence, abs=1e-6)
        assert program.absence == pytest.approx(formula.absence, abs=1e-6)


def test_where_the_mechanism_sees_a_multiset_the_loss_can_be_smaller() -> None:
    pair = IndependentPair((0.1,), (0.9,), 0.9)
    assert math.exp(pair.loss(1.0).epsilon) == pytest.approx(2.54645, abs=1e-5)
    exact = pair.to_subsets(labels=["x", "x"]).exact(1.0)
    assert math.exp(exact.epsilon) == pytest.approx(2.05575, abs=1e-5)


def test_five_copies_and_one_far_record_lose_far_less_than_theorem_5_3_says() -> None:
    distances = np.zeros((6, 6))
    distances[5, :5] = distances[:5, 5] = 1.0
    pair = outlier_score_pair(distances, 0.1, 0.2)
    assert pair.loss(1.0).epsilon == pytest.approx(0.9976, abs=5e-5)
    assert pair.to_subsets().theorem_5_3(1.0).epsilon == pytest.approx(1.6476, abs=5e-5)


def test_a_mechanism_that_weighs_records_attains_the_loss() -> None:
    pair = IndependentPair((0.2, 0.7), (0.5, 0.3), 0.4)
    epsilon = 0.8
    ratios = [math.exp(-epsilon), math.exp(epsilon), math.exp(epsilon)]
    expected_with = math.prod(
        o + (1 - o) * r for o, r in zip((*pair.after, pair.added), ratios, strict=True)
    )
    expected_without = math.prod(
        o + (1 - o) * r for o, r in zip(pair.before, ratios[:2], strict=True)
    )
    ratio = math.log(expected_with / expected_without)
    assert pair.loss(epsilon).presence == pytest.approx(ratio, rel=1e-12)


def test_equal_probabilities_lose_what_poisson_sampling_loses() -> None:
    loss = IndependentPair((0.4,) * 9, (0.4,) * 9, 0.4).loss(1.0, 1e-6)
    assert loss.epsilon == pytest.approx(math.log1p(0.6 * math.expm1(1.0)))
    assert loss.delta == pytest.approx(0.6e-6)


def test_a_large_epsilon_does_not_overflow() -> None:
    loss = OutlierScoreSuppression(0.3, 0.6).worst_pair(50, 700.0).loss(700.0)
    assert 690 < loss.epsilon < 710


@pytest.mark.parametrize(
    ("before", "after", "added"), [((0.1,), (), 0.1), ((1.1,), (0.1,), 0.1), ((), (), -0.1)]
)
def test_lists_that_do_not_fit_are_refused(
    before: tuple[float, ...], after: tuple[float, ...], added: float
) -> None:
    with pytest.raises(InvalidInput):
        IndependentPair(before, after, added)


def test_labels_must_cover_all_records() -> None:
    with pytest.raises(InvalidInput, match="2 labels"):
        IndependentPair((0.1,), (0.2,), 0.3).to_subsets(["x"])


@pytest.mark.parametrize("epsilon", [20.0, 36.0, 40.0, 750.0])
def test_a_record_that_is_always_kept_loses_all_of_epsilon(epsilon: float) -> None:
    assert IndependentPair((), (), 0.0).loss(epsilon).absence == pytest.approx(epsilon, rel=1e-14)
    assert IndependentPair((0.0,), (1.0,), 1.0).loss(epsilon).epsilon == pytest.approx(epsilon)


def test_more_subsets_than_can_be_listed_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 16 records"):
        IndependentPair((0.1,) * 30, (0.1,) * 30, 0.1).to_subsets()


def test_theorem_5_3_in_closed_form_is_that_of_all_subsets() -> None:
    rng = np.random.default_rng(41)
    for _ in range(15):
        size = int(rng.integers(0, 6))
        before, after = rng.uniform(0.05, 0.95, (2, size))
        pair = IndependentPair(tuple(before), tuple(after), float(rng.uniform()))
        epsilon = float(rng.uniform(0.1, 3))
        formula = pair.theorem_5_3(epsilon, 0.01)
        listed = pair.to_subsets().theorem_5_3(epsilon, 0.01)
        assert formula == pytest.approx(listed, rel=1e-9, abs=1e-12)
        assert formula.epsilon >= pair.loss(epsilon).epsilon - 1e-12


def test_theorem_5_3_in_closed_form_needs_the_support_condition() -> None:
    for before, after in ((0.0, 0.1), (0.1, 0.0), (1.0, 0.9), (0.9, 1.0)):
        with pytest.raises(InvalidInput, match="support condition"):
            IndependentPair((before,), (after,), 0.5).theorem_5_3(1.0)
    certain = IndependentPair((0.0, 1.0, 0.5), (0.0, 1.0, 0.25), 0.5)
    listed = certain.to_subsets().theorem_5_3(1.0)
    assert certain.theorem_5_3(1.0) == pytest.approx(listed, rel=1e-9)


def test_theorem_5_3_takes_databases_of_any_size() -> None:
    """Five copies and a far record, as in the errata, and as many as a city has."""
    for copies, bound in ((5, 1.6476), (10**5, None)):
        step = 0.1 / (copies + 1)
        pair = IndependentPair((0.1,) * copies, (0.1 + step,) * copies, 0.1 + step * copies)
        loss = pair.theorem_5_3(1.0)
        assert loss.epsilon == pytest.approx(bound, abs=1e-4) if bound else loss.epsilon < 2.9
