"""Columns: what they count, what they say, and what they refuse."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from omit import InvalidInput
from omit.data.column import Column

AGES = Column.from_values([39, 25, 39, 130, -3, None], bounds=(0, 125), name="age")


def test_records_outside_the_bounds_are_moved_to_the_nearest_bound_and_counted() -> None:
    assert AGES.values.tolist() == [0, 25, 39, 125]
    assert AGES.counts.tolist() == [1, 1, 2, 1]
    assert (AGES.size, AGES.distinct, AGES.clamped, AGES.missing) == (5, 4, 2, 1)
    assert AGES.mean == (0 + 25 + 39 + 39 + 125) / 5
    assert AGES.modes == (39.0,)


@pytest.mark.parametrize(
    ("values", "counts"),
    [([-0.3, 0.1], [1, 3]), ([-0.3, 0.1, 0.2, 0.3], [3, 1, 1, 2]), ([-1e9, 0.1], [1, 10**10])],
)
def test_the_mean_of_records_that_nearly_cancel_has_all_its_digits(
    values: list[float], counts: list[int]
) -> None:
    column = Column.from_counts(values, counts, bounds=(-1e10, 1e10))
    total = sum(Fraction(value) * count for value, count in zip(values, counts, strict=True))
    assert column.mean == pytest.approx(float(total / sum(counts)), rel=3e-16, abs=0)


def test_what_was_moved_and_left_out_is_said_beside_every_result() -> None:
    assert AGES.notes == (
        "age: 2 of 5 values lay outside [0, 125] and were clamped.",
        "age: 1 record without a value was left out.",
    )
    assert Column.from_values([1, 2], bounds=(0, 3)).notes == ()


def test_bounds_from_the_data_are_marked_as_not_private() -> None:
    column = Column.from_values([39, 25], bounds="from-data", name="age")
    assert (column.bounds, column.bounds_source) == ((25, 39), "from-data")
    (note,) = column.notes
    assert "[25, 39]" in note
    assert "NOT private" in note
    (note,) = Column.from_values(["b", "a"], categories="from-data").notes
    assert "categories" in note
    assert "NOT private" in note


def test_all_tied_modes_are_reported() -> None:
    assert Column.from_counts([3, 1, 2], [4, 4, 1], bounds=(1, 3)).modes == (1.0, 3.0)


def test_arrays_are_read_only_even_in_a_copy() -> None:
    mine = np.array([1.0, 2.0])
    column = Column("x", mine, np.array([1, 1]), (0, 2))
    mine[0] = 9  # the caller's own array stays the caller's
    copies = [column, copy.deepcopy(column), pickle.loads(pickle.dumps(column))]
    for each in copies:
        for array in (each.values, each.counts, *each.domain()):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7
    assert all(each == column for each in copies)
    with pytest.raises(FrozenInstanceError):
        column.name = "y"  # type: ignore[misc]


def test_equal_columns_are_those_with_the_same_records_wherever_they_came_from() -> None:
    again = Column.from_counts([125, 39, 25, 0, math.nan], [1, 2, 1, 1, 1], (0, 125), name="age")
    assert again != AGES  # nothing was clamped
    same = Column.from_counts([130, 39, 25, -3, math.nan], [1, 2, 1, 1, 1], (0, 125), name="age")
    assert same == AGES
    assert hash(same) == hash(AGES)
    assert AGES != "age"


def test_a_repr_shows_no_single_value() -> None:
    assert repr(AGES) == "Column('age': 5 records, 4 distinct values, bounds [0, 125] declared)"


def test_the_domain_of_whole_numbers_is_all_of_them_within_the_bounds() -> None:
    values, counts = Column.from_values([2, 2, 4], bounds=(0.5, 5.5)).domain()
    assert values.tolist() == [1, 2, 3, 4, 5]
    assert counts.tolist() == [0, 2, 0, 1, 0]


def test_the_domain_of_text_is_the_declared_categories_in_their_order() -> None:
    column = Column.from_values(["no", "yes", "no", " "], categories=("yes", "no", "unknown"))
    values, counts = column.domain()
    assert values.tolist() == ["yes", "no", "unknown"]
    assert counts.tolist() == [1, 2, 0]
    assert (column.is_text, column.bounds, column.missing) == (True, None, 1)
    with pytest.raises(InvalidInput, match="no mean"):
        _ = column.mean


def test_a_domain_is_refused_where_values_cannot_be_counted_through() -> None:
    with pytest.raises(InvalidInput, match=r"not whole, first 0\.5"):
        Column.from_values([0.5, 1], bounds=(0, 2)).domain()
    assert len(Column.from_values([1], bounds=(1, 1_000_000)).domain()[0]) == 1_000_000
    with pytest.raises(InvalidInput, match="1,000,000"):
        Column.from_values([1], bounds=(0, 1_000_000)).domain()
    with pytest.raises(InvalidInput, match="too large"):
        Column.from_values([1e17], bounds=(1e17, 1e17 + 64)).domain()


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 2, None],
        (1, 2, 2, math.nan),
        ["1", " 2 ", "2.0", "NA"],
        np.array([1, 2, 2, np.nan]),
        np.ma.masked_array([1, 2, 2, 7], mask=[False, False, False, True]),
        np.array([1, 2, 2, None], dtype=object),
        [Decimal(1), np.float32(2), 2.0, Decimal("NaN")],
        pd.Series([1, 2, 2, None]),
        pd.Series([1, 2, 2, None], dtype="Int64"),
        pd.Series(["1", "2", "2", None]),
        pd.Series([1, 2, 2, None], dtype="category"),
        [1, 2, 2, pd.NA],
    ],
)
def test_records_in_memory_are_the_same_column_in_any_container(values: Any) -> None:
    column = Column.from_values(values, bounds=(0, 3), name="x")
    assert column == Column.from_counts([1, 2], [1, 2], (0, 3), name="x", missing=1)


def test_truth_values_are_zeros_and_ones() -> None:
    for values in ([True, False, True], np.array([True, False, True]), pd.Series([1, 0, 1]) > 0):
        assert Column.from_values(values, bounds=(0, 1)).counts.tolist() == [1, 2]


def test_whole_numbers_are_categories_by_their_digits() -> None:
    for values in ([1, 2, 2], [1.0, 2.0, 2.0], ["1", "2", "2"], np.array([1, 2, 2])):
        column = Column.from_values(values, categories=(1, 2, 3))
        assert column.values.tolist() == ["1", "2"]
        assert column.categories == ("1", "2", "3")
    assert Column.from_values([0.5, 10**400], categories=(0.5, 10**400)).distinct == 2


def test_negative_zero_is_zero() -> None:
    column = Column.from_values([-0.0, 0.0], bounds=(-0.0, 1))
    assert column.counts.tolist() == [2]
    assert not np.signbit(column.values).any()


def test_a_series_gives_its_name() -> None:
    assert Column.from_values(pd.Series([1], name="age"), bounds=(0, 1)).name == "age"
    assert Column.from_values([1], bounds=(0, 1)).name == "values"


@pytest.mark.parametrize(
    ("values", "declared", "message"),
    [
        ([1], {}, r"no declared bounds; give bounds=\(lower, upper\), or bounds='from-data'"),
        ([1], {"bounds": (0, 1), "categories": ("1",)}, "not both"),
        ([1], {"bounds": (2, 1)}, r"bounds=\(2, 1\) with lower <= upper"),
        ([1], {"bounds": (0, math.inf)}, "finite"),
        ([1], {"bounds": (math.nan, 1)}, "finite"),
        ([1], {"bounds": (0, 1e200)}, "within"),
        ([1], {"bounds": 5}, "pair"),
        ([1], {"bounds": "from_data"}, "'from-data', got 'from_data'"),
        ([1, math.inf, -math.inf], {"bounds": (0, 1)}, "infinite numbers .*2 records"),
        ([1, "1e999"], {"bounds": (0, 1)}, r"infinite numbers \(1 record\)"),
        ([10**400], {"bounds": (0, 1)}, "infinite"),
        ([1, "b", "a", "b"], {"bounds": (0, 1)}, r"text .* first 'a' \(2 different values, 3 rec"),
        ([1, "1_000"], {"bounds": (0, 1)}, "first '1_000'"),
        ([1, 1j], {"bounds": (0, 1)}, "not complex numbers"),
        (np.array([1, 1j], dtype=object), {"bounds": (0, 1)}, "complex"),
        ([1, b"2"], {"bounds": (0, 1)}, "not bytes"),
        (np.array([1, b"2"], dtype=object), {"bounds": (0, 1)}, "bytes"),
        (np.array([b"2"]), {"categories": ("2",)}, "not bytes"),
        (np.array([b"2"], dtype=object), {"categories": ("2",)}, "bytes"),
        (np.array([1 + 0j]), {"categories": ("1",)}, "not complex numbers"),
        (np.array([(1, 2)], dtype="i4,i4"), {"bounds": (0, 1)}, "not several values in one"),
        ([1, "\u0661\u0662"], {"bounds": (0, 1)}, "holds text where numbers are needed"),
        ({1, 2}, {"bounds": (0, 1)}, "single row"),
        ("12", {"bounds": (0, 9)}, "single row"),
        (pd.DataFrame({"a": [1], "b": [2]}), {"bounds": (0, 9)}, "single row"),
        (["a"], {"categories": 5}, "several texts or 'from-data', got 5"),
        (["a"], {"categories": (b"a",)}, "not bytes"),
        ([1], {"bounds": {0, 1}}, "pair"),
        ([1], {"bounds": (0, b"1")}, "to be a number, got b'1'"),
        ([1], {"bounds": (0, 1), "name": 7}, "name of a column to be a str, got 7"),
        (np.array(["2020-01-01", "NaT"], "M8[ns]"), {"bounds": (0, 1)}, "first '2020-01-01"),
        (pd.Series(pd.to_datetime(["2020-01-01"])), {"bounds": (0, 1)}, "first '2020-01-01"),
        ([], {"bounds": (0, 1)}, "no records to work with"),
        ([None, ""], {"bounds": (0, 1)}, r"no records to work with \(2 records without a value\)"),
        ([[1, 2]], {"bounds": (0, 1)}, "single row"),
        ([[1], [2, 3]], {"bounds": (0, 1)}, "single row"),
        (5, {"bounds": (0, 1)}, "single row"),
        ([{}, "a"], {"bounds": (0, 1)}, "numbers or text"),
        (pd.Series([[1], [2]]), {"bounds": (0, 1)}, "holds a list where numbers are needed"),
        (["a", "b", "c"], {"categories": ("a",)}, r"holds 'b' \(2 different values, 2 records\)"),
        (["a"], {"categories": "a"}, "several texts or 'from-data'"),
        (["a"], {"categories": ()}, "at least one category"),
        (["a"], {"categories": ("a", "")}, "none of them empty"),
        (["a"], {"categories": ("a", "b", "a")}, "twice: 'a'"),
    ],
)
def test_what_makes_no_column_is_refused_in_one_sentence(
    values: Any, declared: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        Column.from_values(values, **declared)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_text_in_a_number_column_is_pointed_to_the_mode() -> None:
    with pytest.raises(InvalidInput, match=r"works for the mode, with categories=\(\.\.\.\)"):
        Column.from_values(["Sales"], bounds=(0, 1), name="job")


@pytest.mark.parametrize("counts", [[1], [1, -1], [1, 0.5], ["1", "2"], [1, math.nan]])
def test_counts_are_whole_numbers_one_for_each_value(counts: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="counts"):
        Column.from_counts([1, 2], counts, bounds=(0, 3))


@pytest.mark.parametrize(
    ("values", "counts"),
    [([2, 1], [1, 1]), ([1, 1], [1, 1]), ([1, 2], [1, 0]), ([], []), ([9], [1])],
)
def test_the_constructor_takes_only_what_the_class_promises(
    values: list[float], counts: list[int]
) -> None:
    with pytest.raises(InvalidInput, match="Expected"):
        Column("x", np.array(values), np.array(counts), (0, 3))
