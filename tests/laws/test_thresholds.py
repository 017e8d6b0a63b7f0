"""Sampled counts that are shown from a threshold on, against sums of many digits and all sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import mpmath
import numpy as np
import pytest

from omit.laws.threshold_pairs import TOLERANCE, worst_pair
from omit.laws.thresholds import most_removed, published_delta, worst_count

HIDDEN = -1


def law(records: int, rate: float, threshold: int) -> Mapping[int, mpmath.mpf]:
    """Return the law of what is seen of a cell, from the definition."""
    drawn = {HIDDEN: mpmath.mpf(0)}
    p = mpmath.mpf(rate)
    for j in range(records + 1):
        chance = mpmath.binomial(records, j) * p**j * (1 - p) ** (records - j)
        seen = j if j >= threshold else HIDDEN
        drawn[seen] = drawn.get(seen, mpmath.mpf(0)) + chance
    return drawn


def excess(
    first: Mapping[int, mpmath.mpf], second: Mapping[int, mpmath.mpf], factor: mpmath.mpf
) -> mpmath.mpf:
    """Return the sum of what one law has more than `factor` times another."""
    differences = (chance - factor * second.get(seen, 0) for seen, chance in first.items())
    return mpmath.fsum(difference for difference in differences if difference > 0)


@pytest.mark.parametrize(
    ("rate", "threshold", "epsilon", "sizes"),
    [(0.1, 10, 1.0, 60), (0.1, 5, 0.05, 90), (0.5, 7, 0.3, 40), (0.9, 3, 0.01, 20), (0.3, 1, 2, 9)],
)
def test_no_size_of_a_cell_needs_a_larger_delta_and_one_needs_it(
    rate: float, threshold: int, epsilon: float, sizes: int
) -> None:
    factor = mpmath.exp(mpmath.mpf(epsilon))
    laws = [law(size, rate, threshold) for size in range(sizes)]
    listed = max(
        max(excess(more, fewer, factor), excess(fewer, more, factor))
        for fewer, more in itertools.pairwise(laws)
    )
    found = worst_count(rate, threshold, epsilon)
    assert listed <= found.delta <= listed * (1 + mpmath.mpf("1e-11"))
    pair = laws[found.records - 1], laws[found.records]
    more, fewer = pair[::-1] if found.seen == "added" else pair
    assert float(excess(more, fewer, factor)) == pytest.approx(found.delta, rel=1e-11)


@pytest.mark.parametrize("factor", [0.2, 0.9, 1.0, 1.3])
def test_the_proof_holds_for_factors_on_both_sides_of_one(factor: float) -> None:
    laws = [law(size, 0.4, 4) for size in range(60)]
    listed = max(
        excess(fewer, more, mpmath.mpf(factor)) for fewer, more in itertools.pairwise(laws)
    )
    assert most_removed(0.4, 4, factor) == pytest.approx(float(listed), rel=1e-11)


@pytest.mark.parametrize(
    ("rate", "threshold", "epsilon", "exact", "published"),
    [
        (0.1, 10, 1.0, 9.980e-9, 6.84e-8),
        (0.1, 5, 1.0, 2.782e-5, 1.77e-4),
        (0.5, 50, 1.0, 9.753e-9, 2.29e-7),
        (0.1, 10, 0.25, 2.750e-5, 1.06e-3),
        (0.01, 5, 1.0, 4.478e-10, 2.07e-9),
    ],
)
def test_the_exact_delta_is_a_fraction_of_the_published_one(
    rate: float, threshold: int, epsilon: float, exact: float, published: float
) -> None:
    # Both are from an enumeration of all sizes, in another program.
    assert worst_count(rate, threshold, epsilon).delta == pytest.approx(exact, rel=2e-4)
    bound = published_delta(rate, threshold, epsilon)
    assert bound is not None
    assert bound == pytest.approx(published, rel=5e-3)


def test_theorem_1_says_nothing_for_small_epsilon() -> None:
    assert published_delta(0.5, 10, 0.69) is None
    assert published_delta(0.5, 10, 0.70) is not None


@pytest.mark.parametrize(
    ("rate", "threshold", "epsilon"),
    [(0.1, 3, 1.0), (0.5, 5, 0.5), (0.3, 3, 0.2), (0.5, 2, 0.0), (0.7, 4, 1.5), (0.2, 1, 0.1)],
)
def test_no_two_cells_need_a_larger_delta_when_a_record_moves(
    rate: float, threshold: int, epsilon: float
) -> None:
    def seen(records: int) -> np.ndarray:
        chances = law(records, rate, threshold)
        return np.array([float(chances.get(j, 0)) for j in range(HIDDEN, 41)])

    laws, growth = [seen(size) for size in range(41)], math.exp(epsilon)
    listed = max(
        np.maximum(
            np.multiply.outer(laws[x], laws[y])
            - growth * np.multiply.outer(laws[x - 1], laws[y + 1]),
            0,
        ).sum()
        for x in range(1, 40)
        for y in range(40)
    )
    found = worst_pair(rate, threshold, epsilon)
    assert found.records is not None
    assert max(found.records) < 39, "the worst cells are not among those listed"
    assert listed * (1 - 1e-10) <= found.delta <= listed * (1 + 2 * TOLERANCE)


def test_two_cells_together_need_hardly_more_than_one() -> None:
    # The numbers are from a search over both sizes in another program.
    assert worst_pair(0.1, 10, 1.0).delta == pytest.approx(9.994e-9, rel=1e-4)
    assert worst_pair(0.1, 5, 1.0).delta == pytest.approx(2.782e-5, rel=1e-4)


def test_what_is_added_up_for_large_cells_is_not_below_what_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = worst_pair(0.25, 20, 0.5)
    monkeypatch.setattr("omit.laws.threshold_pairs._LARGEST_SEARCH", 1)
    bound = worst_pair(0.25, 20, 0.5)
    assert bound.records is None
    assert searched.delta <= bound.delta < 10 * searched.delta


def test_odd_settings_have_deltas_between_0_and_1() -> None:
    assert worst_count(1.0, 7, 3.0).delta == 1
    assert worst_count(0.5, 3, 1e9).delta == pytest.approx(0.125)
    assert 0 < worst_count(1e-9, 1000, 1.0).delta < 1e-300
    assert 0 < worst_count(0.999, 100_000, 1e-9).delta <= 1
