"""Removing outliers by a threshold leaves nothing that could be guaranteed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import Guarantee, InvalidInput, NoGuarantee, Statement, Unattainable
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import Refused
from omit.omissions import (
    DeviationRemoval,
    InterquartileRemoval,
    ThresholdOutlierRemoval,
    TopOutlierRemoval,
)
from omit.omissions.outlier_removal import RemovalWitness
from tests.parts import inclusion

REMOVALS = [
    ThresholdOutlierRemoval(0.4),
    TopOutlierRemoval(0.1),
    DeviationRemoval(3),
    DeviationRemoval(0.5),
    InterquartileRemoval(1.5),
    InterquartileRemoval(0),
]
Removal = ThresholdOutlierRemoval | TopOutlierRemoval | DeviationRemoval | InterquartileRemoval


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


@pytest.mark.parametrize("removal", REMOVALS, ids=str)
@given(counts=st.tuples(st.integers(1, 60), st.integers(1, 60)))
def test_what_is_kept_of_a_column_is_what_the_witness_counts(
    removal: Removal, counts: tuple[int, int]
) -> None:
    column = Column.from_counts([0, 1], counts, bounds=(0, 1))
    kept = inclusion(removal, column, "absolute") * counts
    square = Fraction(removal.deviations) ** 2 if isinstance(removal, DeviationRemoval) else 0
    if square * counts[0] == counts[1] or square * counts[1] == counts[0]:
        return  # at the limit itself, where a square root is rounded
    assert tuple(kept.tolist()) == removal.kept(*counts)


@pytest.mark.parametrize("removal", REMOVALS, ids=str)
@pytest.mark.parametrize("size", [1, 10, 1000])
def test_one_record_less_moves_most_of_one_point(removal: Removal, size: int) -> None:
    witness = removal.witness(size)
    assert sum(witness.larger) == sum(witness.smaller) + 1
    assert removal.kept(*witness.larger) == witness.left_of_larger
    assert removal.kept(*witness.smaller) == witness.left_of_smaller
    assert 2 * witness.difference >= size


def test_the_outliers_of_a_column_by_hand() -> None:
    """Quartiles 10 and 20, fences -5 and 35; mean 25.75 and deviation 25.7."""
    column = Column.from_counts([10, 20, 36, 90], [4, 2, 1, 1], bounds=(0, 100))
    assert inclusion(InterquartileRemoval(1.5), column).tolist() == [1, 1, 0, 0]
    assert inclusion(InterquartileRemoval(1.6), column).tolist() == [1, 1, 1, 0]
    assert inclusion(DeviationRemoval(2), column).tolist() == [1, 1, 1, 0]
    assert inclusion(DeviationRemoval(3), column).tolist() == [1, 1, 1, 1]
    assert inclusion(TopOutlierRemoval(0.25), column).tolist() == [1, 1, 0, 0]


def test_texts_have_no_deviations() -> None:
    column = Column.from_values(["a", "b"], categories=("a", "b"))
    for removal in (DeviationRemoval(3), InterquartileRemoval(1.5)):
        with pytest.raises(Refused, match="column of numbers"):
            removal.design(column, "discrete")


@pytest.mark.parametrize("strategy", REMOVALS, ids=str)
def test_outlier_removal_leaves_no_guarantee_and_no_noise_makes_up_for_it(
    strategy: Removal,
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
    with pytest.raises(InvalidInput):
        DeviationRemoval(value / 1000)
