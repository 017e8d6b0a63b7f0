"""Permute-and-flip: its law, and donors chosen by it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from omit._numeric import IntArray
from omit.disclosure.swapping import level_probabilities, selection_probabilities
from omit.errors import InvalidInput
from tests.disclosure.enumeration import draw_donors


def law_by_listing(scores: list[float], epsilon: float) -> np.ndarray:
    """Return the law from the textbook: every order of the candidates, every flip."""
    accept = [math.exp(epsilon / 2 * (score - max(scores))) for score in scores]
    chances = np.zeros(len(scores))
    for order in itertools.permutations(range(len(scores))):
        reached = 1 / math.factorial(len(scores))
        for each in order:
            chances[each] += reached * accept[each]
            reached *= 1 - accept[each]
    return chances


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("scores", [[0.0], [0.0, -1.0], [0, -0.5, -0.5, -1, -0.25], [-1, -1, 0, 0]])
def test_the_law_is_that_of_every_order_and_every_flip(scores: list[float], epsilon: float) -> None:
    computed = selection_probabilities(scores, epsilon)
    np.testing.assert_allclose(computed, law_by_listing(scores, epsilon), atol=1e-14)


def test_equal_candidates_are_counted_instead_of_listed() -> None:
    by_level = level_probabilities([3, 0, 40, 2], np.exp([0.0, -0.2, -0.7, -1.1]))
    scores = [0.0] * 3 + [-0.7] * 40 + [-1.1] * 2
    singly = selection_probabilities(scores, epsilon=2.0)
    np.testing.assert_allclose(
        by_level, [singly[:3].sum(), 0, singly[3:43].sum(), singly[43:].sum()], atol=1e-13
    )


@pytest.mark.parametrize("many", [1, 10, 1000, 30_000, 10_000_000])
def test_one_best_among_many_worse_is_chosen_as_often_as_a_closed_form_says(many: int) -> None:
    p = math.exp(-0.5)
    computed = level_probabilities([1, many], [1.0, p])[0]
    # ∫ (1 - t p)^many dt from 0 to 1
    assert computed == pytest.approx(
        -math.expm1((many + 1) * math.log1p(-p)) / (p * (many + 1)), rel=1e-12
    )


def test_a_choice_needs_a_candidate() -> None:
    with pytest.raises(InvalidInput, match="candidate"):
        level_probabilities([0, 0], [1.0, 0.5])


def textbook_donors(
    records: IntArray, quasi: list[int], epsilon: float, rng: np.random.Generator
) -> list[int]:
    """Choose donors as the definition says: look at all others in a random order."""
    rest = np.delete(records, quasi, axis=1)
    donors = []
    for own in range(len(records)):
        others = [each for each in range(len(records)) if each != own]
        distance = {each: float((rest[each] != rest[own]).mean()) for each in others}
        best = min(distance.values())
        for each in rng.permutation(others):
            if rng.random() < math.exp(-epsilon / 2 * (distance[int(each)] - best)):
                donors.append(int(each))
                break
    return donors


RECORDS = np.array(
    [[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 1, 0], [0, 1, 1, 1], [3, 1, 1, 1], [1, 0, 1, 1]]
)


@pytest.mark.slow
@pytest.mark.parametrize("textbook", [True, False])
def test_donors_are_chosen_with_their_exact_frequencies(textbook: bool) -> None:
    """Six chi-square tests at level 1e-6 each."""
    rng, runs, epsilon = np.random.default_rng(11), 4000, 3.0
    choose = textbook_donors if textbook else draw_donors
    drawn = np.array([choose(RECORDS, [0], epsilon, rng) for _ in range(runs)])
    rest = RECORDS[:, 1:]
    for own in range(len(RECORDS)):
        others = np.array([each for each in range(len(RECORDS)) if each != own])
        scores = -(rest[others] != rest[own]).mean(axis=1)
        law = selection_probabilities(scores, epsilon)
        observed = [(drawn[:, own] == each).sum() for each in others]
        assert (drawn[:, own] != own).all()
        assert stats.chisquare(observed, law * runs).pvalue > 1e-6
