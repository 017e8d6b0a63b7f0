"""Removing outliers by a threshold leaves nothing that could be guaranteed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import Guarantee, InvalidInput, NoGuarantee, Statement, Unattainable
from omit._numeric import FloatArray, as_array
from omit.omissions import ThresholdOutlierRemoval, TopOutlierRemoval
from omit.omissions.deterministic import RemovalWitness


def mean_distances(records: Sequence[int]) -> FloatArray:
    values = np.array(records)
    return as_array((values[:, None] != values[None]).mean(axis=1))


def left_by_threshold(counts: tuple[int, int], threshold: float) -> tuple[int, int]:
    records = [0] * counts[0] + [1] * counts[1]
    kept = [r for r, d in zip(records, mean_distances(records), strict=True) if d <= threshold]
    return kept.count(0), kept.count(1)


def left_by_share(counts: tuple[int, int], share: float) -> tuple[int, int]:
    records = [0] * counts[0] + [1] * counts[1]
    distances = mean_distances(records)
    deleted = int(share * len(records))
    if not deleted:
        return counts
    limit = np.sort(distances)[-deleted]
    kept = [r for r, d in zip(records, distances, strict=True) if d < limit]
    return kept.count(0), kept.count(1)


@pytest.mark.parametrize("threshold", [0.125, 0.25, 0.5, 0.75])
def test_the_threshold_witness_is_what_the_strategy_does(threshold: float) -> None:
    witness = ThresholdOutlierRemoval(threshold).witness(20)
    assert left_by_threshold(witness.larger, threshold) == witness.left_of_larger
    assert left_by_threshold(witness.smaller, threshold) == witness.left_of_smaller


@pytest.mark.parametrize("share", [0.125, 0.25, 0.5])
def test_the_share_witness_is_what_the_strategy_does(share: float) -> None:
    witness = TopOutlierRemoval(share).witness(20)
    assert left_by_share(witness.larger, share) == witness.left_of_larger
    assert left_by_share(witness.smaller, share) == witness.left_of_smaller


def assert_neighbours_end_far_apart(witness: RemovalWitness, size: int, share: float) -> None:
    assert sum(witness.larger) >= size
    pairs = zip(witness.larger, witness.smaller, strict=True)
    assert sorted(first - second for first, second in pairs) == [0, 1]
    assert witness.difference >= share * size - 1


@given(st.floats(0.001, 0.95), st.integers(100, 5000))
def test_the_sensitivity_of_a_threshold_grows_with_the_database(
    threshold: float, size: int
) -> None:
    witness = ThresholdOutlierRemoval(threshold).witness(size)
    assert_neighbours_end_far_apart(witness, size, 1 - threshold)


@given(st.floats(0.001, 0.5), st.integers(100, 5000))
def test_the_sensitivity_of_a_share_grows_with_the_database(share: float, size: int) -> None:
    assert_neighbours_end_far_apart(TopOutlierRemoval(share).witness(size), size, 1 - share)


def test_the_pair_in_the_papers_proof_of_proposition_b_2_is_no_witness() -> None:
    # It removes a copy of the point whose records stay; K = 1/2, N = 2, n = 5.
    larger, smaller = (5, 5), (4, 5)
    strategy = ThresholdOutlierRemoval(0.5)
    assert strategy.kept(*larger)[1] == strategy.kept(*smaller)[1] == 5


def test_the_pair_in_the_papers_proof_of_proposition_b_3_is_no_witness_for_every_size() -> None:
    # With p = 1/4 and N = 8, one record less also deletes one record less, and nothing ties.
    strategy = TopOutlierRemoval(0.25)
    assert strategy.kept(2, 6) == strategy.kept(1, 6) == (0, 6)


@pytest.mark.parametrize("strategy", [ThresholdOutlierRemoval(0.4), TopOutlierRemoval(0.1)])
def test_outlier_removal_leaves_no_guarantee_and_no_noise_makes_up_for_it(
    strategy: ThresholdOutlierRemoval | TopOutlierRemoval,
) -> None:
    answer = strategy.amplify(Guarantee(0.1))
    assert isinstance(answer, NoGuarantee)
    assert answer.witness.difference > 500
    assert strategy.amplify(Guarantee(0.0)) == Statement(0.0)
    with pytest.raises(Unattainable, match="unbounded sensitivity"):
        strategy.calibrate(Guarantee(1.0))


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, float("nan")])
def test_parameters_out_of_range_are_refused(value: float) -> None:
    with pytest.raises(InvalidInput):
        ThresholdOutlierRemoval(value)
    with pytest.raises(InvalidInput):
        TopOutlierRemoval(value)
