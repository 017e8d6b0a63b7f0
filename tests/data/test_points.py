"""Records with several numbers: what is kept, moved, left out and refused."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import InvalidInput, Points

ORDINARY = st.floats(-1e100, 1e100)


def refusal(rows: Any, bounds: Any = (0, 1), **more: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        Points.from_rows(rows, bounds, **more)
    sentence = str(caught.value)
    assert sentence.endswith((".", ").")), sentence
    assert "\n" not in sentence
    return sentence


def test_records_that_lack_any_value_are_left_out_and_counted() -> None:
    nan = float("nan")
    points = Points.from_rows([[1, 2], [nan, 2], [1, None], [nan, nan], [3, 4]], bounds=(0, 9))
    assert points.rows.tolist() == [[1, 2], [3, 4]]
    assert (points.size, points.missing, points.clamped) == (2, 3, 0)
    assert points.notes == ("points: 3 records without a value were left out.",)


def test_a_record_that_is_moved_in_two_columns_is_one_moved_record() -> None:
    points = Points.from_rows([[-1, 7], [0, 1], [0.5, 2]], bounds=[(0, 1), (1, 5)])
    assert points.rows.tolist() == [[0, 5], [0, 1], [0.5, 2]]
    assert points.clamped == 1


@given(ends=st.tuples(ORDINARY, ORDINARY).filter(lambda ends: ends[0] != ends[1]))
def test_the_bounds_become_exactly_minus_one_and_one(ends: tuple[float, float]) -> None:
    lower, upper = sorted(ends)
    scaled = Points.from_rows([[lower], [upper]], bounds=(lower, upper)).scaled
    assert scaled.tolist() == [[-1.0, 1.0]]


@given(
    ends=st.tuples(ORDINARY, ORDINARY).filter(lambda ends: ends[0] != ends[1]),
    share=st.floats(0, 1),
)
def test_nothing_scales_beyond_the_cube_and_all_of_it_comes_back(
    ends: tuple[float, float], share: float
) -> None:
    lower, upper = sorted(ends)
    value = min(max(lower + share * (upper - lower), lower), upper)
    points = Points.from_rows([[value]], bounds=(lower, upper))
    ((scaled,),) = points.scaled.tolist()
    assert -1 <= scaled <= 1
    exact = 2 * (Fraction(value) - Fraction(lower)) / (Fraction(upper) - Fraction(lower)) - 1
    assert abs(Fraction(scaled) - exact) < 1e-15
    back = points.unscaled(np.array([[scaled]]))[0, 0]
    assert back == pytest.approx(value, rel=1e-12, abs=1e-12 * max(abs(lower), abs(upper)))


def test_scaled_columns_are_contiguous_for_the_compiled_loops() -> None:
    points = Points.from_rows(np.arange(12.0).reshape(4, 3), bounds=(0, 11))
    assert points.scaled.shape == (3, 4)
    assert points.scaled.flags.c_contiguous


def test_a_column_without_width_is_refused_by_name() -> None:
    rows = [[1.0, 3.0], [2.0, 3.0]]
    assert "'x2' have no width" in refusal(rows, [(0, 9), (3, 3)])
    assert "'x2' have no width" in refusal(rows, "from-data")


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinities_are_refused_with_column_and_number(infinity: float) -> None:
    said = refusal([[1, 2], [1, infinity], [infinity, infinity]], columns=["age", "hours"])
    assert "'age' holds infinite numbers (1 record)" in said
    assert "'hours' holds infinite" in refusal([[1, infinity]], columns=["age", "hours"])


@pytest.mark.parametrize(
    "rows",
    [
        [[1, "Sales"], [2, "Cook"]],
        np.array([[1, "Sales"], [2, "Cook"]], dtype=object),
        pd.DataFrame({"x1": [1, 2], "x2": ["Sales", "Cook"]}),
        pd.DataFrame({"x1": [1, 2], "x2": pd.Categorical(["Sales", "Cook"])}),
    ],
)
def test_text_is_refused_with_its_column_and_the_first_value(rows: Any) -> None:
    assert "Column 'x2' holds text where numbers are needed, first 'Cook' (2 different" in refusal(
        rows
    )


@pytest.mark.parametrize(
    "rows",
    [
        np.array([["2020-01-01"]], dtype="datetime64[D]"),
        pd.DataFrame({"x1": pd.to_datetime(["2020-01-01"])}),
        np.array([[1 + 2j]]),
        [[1j]],
    ],
)
def test_dates_and_complex_numbers_are_no_numbers(rows: Any) -> None:
    sentence = refusal(rows)
    assert "'x1'" in sentence
    assert "holds text where numbers are needed" in sentence or "complex numbers" in sentence


@pytest.mark.parametrize(
    "rows",
    [
        [["0.5", " 1 "], ["NA", "0"]],
        np.ma.masked_array([[0.5, 1.0], [0.5, 0.0]], [[False, False], [True, False]]),
        pd.DataFrame({"a": ["0.5", None], "b": [1, 0]}),
        pd.DataFrame({"a": pd.array([0.5, None], dtype="Float64"), "b": [True, False]}),
        [[Decimal("0.5"), Fraction(1)], [None, 0]],
        ((0.5, True), (None, False)),
    ],
)
def test_numbers_are_read_from_whatever_holds_them(rows: Any) -> None:
    points = Points.from_rows(rows, bounds=(0, 1))
    assert points.rows.tolist() == [[0.5, 1.0]]
    assert points.missing == 1


@pytest.mark.parametrize(
    "rows", [[], [1, 2], 5, [[[1]]], [[1, 2], [3]], [[]], np.empty((3, 0)), pd.Series([1, 2])]
)
def test_what_is_not_rows_of_equal_length_is_refused(rows: Any) -> None:
    assert "rows of numbers, all of the same length" in refusal(rows)


@pytest.mark.parametrize("rows", [np.empty((0, 2)), [[np.nan, 1.0]], [[None, None]] * 3])
def test_without_a_complete_record_there_is_nothing_to_work_with(rows: Any) -> None:
    assert "no records of 'points' to work with" in refusal(rows)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (None, "'x1' has no declared bounds"),
        (5, "a pair (lower, upper) or one for each column"),
        ("nonsense", "or 'from-data', got 'nonsense'"),
        ((0, 1, 2), "a pair (lower, upper), got (0, 1, 2)"),
        ([(0, 1)], "each of the 2 columns ('x1', 'x2'), got 1"),
        ([(0, 1), (0, 1), (0, 1)], "got 3"),
        ([(0, 1), None], "'x2' has no declared bounds"),
        ([(0, 1), (1, 0)], "with lower <= upper"),
        ((0, np.inf), "finite"),
        ((0, 1e101), "within ±1e+100"),
    ],
)
def test_bounds_that_cannot_be_meant_are_refused(bounds: Any, said: str) -> None:
    assert said in refusal([[0.5, 0.5]], bounds)


def test_bounds_are_one_pair_for_all_columns_or_one_for_each() -> None:
    rows = [[0.5, 0.25], [1, 0]]
    pair: Any
    for pair in ((0, 1), [0, 1], np.array([0, 1])):
        assert Points.from_rows(rows, pair).bounds == ((0, 1), (0, 1))
    for pairs in ([(0, 1), (0, 2)], ((0, 1), (0, 2)), np.array([[0, 1], [0, 2]])):
        assert Points.from_rows(rows, pairs).bounds == ((0, 1), (0, 2))  # type: ignore[arg-type]
    mixed = Points.from_rows(rows, ["from-data", (0, 2)])
    assert mixed.bounds == ((0.5, 1), (0, 2))
    assert mixed.bounds_source == "from-data"
    (note,) = mixed.notes
    assert "NOT private" in note


def test_names_are_the_frames_or_as_given() -> None:
    frame = pd.DataFrame({"age": [0.5], 7: [0.5]})
    assert Points.from_rows(frame, (0, 1)).columns == ("age", "7")
    assert Points.from_rows(frame, (0, 1), columns=["a", "b"]).columns == ("a", "b")
    assert "a name for each of the 2 columns" in refusal(frame, columns=["a"])


def test_points_cannot_be_changed_from_inside_or_outside() -> None:
    rows = np.array([[0.5, 0.25]])
    points = Points.from_rows(rows, (0, 1))
    rows[0, 0] = 1
    assert points.rows.tolist() == [[0.5, 0.25]]
    for array in (points.rows, points.scaled, points.group):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_copy_from_another_process_is_the_same_and_as_read_only() -> None:
    points = Points.from_rows([[5, None], [7, 9]], bounds=(0, 8), columns=["a", "b"], name="p")
    for other in (pickle.loads(pickle.dumps(points)), copy.deepcopy(points)):
        assert (other.name, other.columns, other.bounds) == ("p", ("a", "b"), points.bounds)
        assert (other.missing, other.clamped, other.notes) == (1, 1, points.notes)
        assert other.rows.tolist() == points.rows.tolist()
        assert not other.rows.flags.writeable


def test_points_are_told_apart_by_identity_so_that_results_can_be_remembered() -> None:
    first, second = (Points.from_rows([[0.5]], (0, 1)) for _ in range(2))
    assert len({first, second, first}) == 2


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1))
def test_equal_records_and_only_they_are_in_the_same_group(rows: list[tuple[int, int]]) -> None:
    # A zero with a minus sign is the same value.
    points = Points.from_rows([[float(a), -float(b)] for a, b in rows], bounds=(-1, 1))
    assert points.distinct == len(set(rows))
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (points.group[i] == points.group[j]) == (one == other)


def test_the_constructor_takes_no_record_outside_the_bounds_nor_a_missing_one() -> None:
    for value in (2.0, -0.5, np.nan):
        with pytest.raises(InvalidInput, match=r"within \[0, 1\]"):
            Points("p", ("a",), np.array([[value]]), ((0, 1),))
    with pytest.raises(InvalidInput, match="records of 2 numbers"):
        Points("p", ("a", "b"), np.array([[0.5]]), ((0, 1), (0, 1)))
    with pytest.raises(InvalidInput, match="bounds for each of the 1 columns"):
        Points("p", ("a",), np.array([[0.5]]), ())
