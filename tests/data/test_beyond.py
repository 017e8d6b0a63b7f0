"""What lay outside the bounds: columns keep it, and their truth has it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from omit import InvalidInput, read
from omit.data.beyond import Beyond
from omit.data.column import Column

RECORDS = [39.0, 25.0, 39.0, 130.0, -3.0, 0.0, 125.0, 130.0, 1e6]
CLAMPED = Column.from_values(RECORDS, bounds=(0, 125), name="age")


def test_a_column_before_clamping_has_the_records_as_they_were_read() -> None:
    before = CLAMPED.before_clamping
    records = np.repeat(np.asarray(before.values, dtype=float), before.counts)
    assert records.tolist() == sorted(RECORDS)
    assert before.bounds == (-3.0, 1e6)
    assert before.mean == float(sum(map(Fraction, RECORDS)) / len(RECORDS))
    assert (before.clamped, before.beyond) == (0, None)


def test_a_column_within_its_bounds_is_its_own_truth() -> None:
    column = Column.from_values([1, 2, 3], bounds=(0, 3))
    assert column.beyond is None
    assert column.before_clamping is column


def test_columns_that_differ_only_beyond_the_bounds_differ() -> None:
    others = Column.from_values([*RECORDS[:-1], 2e6], bounds=(0, 125), name="age")
    assert np.array_equal(others.counts, CLAMPED.counts)
    assert others != CLAMPED
    assert pickle.loads(pickle.dumps(CLAMPED)) == CLAMPED


def test_a_column_that_is_moved_to_zero_keeps_its_truth() -> None:
    column = Column.from_values([1001, 1003, 1010, 990], bounds=(1000, 1005))
    moved, origin = column.moved_to_zero()
    assert moved.before_clamping.mean + origin == column.before_clamping.mean == 1001.0


def test_a_rounded_column_keeps_what_was_beyond_as_it_was() -> None:
    column = Column.from_values([0.2, 1.1, 7.4], bounds=(0, 3), step=1)
    assert column.before_clamping.values.tolist() == [0.0, 1.0, 7.4]


def test_what_is_read_from_a_file_keeps_what_was_beyond(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("income\n" + "\n".join(map(str, RECORDS)) + "\n")
    column = read(path, "income", bounds=(0, 125))
    assert column.beyond == CLAMPED.beyond
    assert column.before_clamping.mean == CLAMPED.before_clamping.mean


@pytest.mark.parametrize(
    ("values", "counts", "clamped"),
    [
        ([130.0], [2], 1),  # not as many as were clamped
        ([100.0], [4], 4),  # within the bounds
        ([-1.0], [4], 4),  # more than there are at the bound
    ],
)
def test_what_was_never_clamped_is_refused(
    values: list[float], counts: list[int], clamped: int
) -> None:
    beyond = Beyond(np.array(values), np.array(counts))
    with pytest.raises(InvalidInput, match="beyond"):
        replace(CLAMPED, clamped=clamped, beyond=beyond)


def test_numbers_too_large_for_any_sum_are_refused() -> None:
    with pytest.raises(InvalidInput, match="within ±1e\\+100"):
        Column.from_values([1, 2, 1e300], bounds=(0, 10))
