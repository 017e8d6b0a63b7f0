"""Arguments that Python or NumPy would take for numbers, and that are none."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from omit import InvalidInput, _validate
from omit._numeric import as_array

NO_NUMBERS = [
    b"1",
    bytearray(b"1"),
    "1",
    True,
    np.True_,
    1 + 2j,
    np.complex128(1 + 2j),
    np.ma.masked,
    np.ma.array(1.0, mask=True),
    np.array([1.0]),
    [1.0],
    None,
    10**400,
]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_what_only_looks_like_a_number_is_refused_in_a_sentence(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^Expected x .*\.$"):
        _validate.finite("x", value)


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.array(1), Decimal(1), Fraction(1)])
def test_every_kind_of_real_number_is_taken(value: Any) -> None:
    assert _validate.finite("x", value) == 1.0


@pytest.mark.parametrize(
    "values",
    [
        [1 + 2j],
        np.array([1 + 0j]),
        [b"1"],
        ["1"],
        np.array(["1", 2], dtype=object),
        np.ma.array([1.0, 2.0], mask=[False, True]),
        [1.0, np.ma.masked],
        [np.ma.array([1.0, 2.0], mask=[False, True]), [3.0, 4.0]],
        [[1.0], [2.0, 3.0]],
        [10**400],
        {"a": 1},
    ],
    ids=str,
)
def test_arrays_of_what_is_no_number_are_refused(values: Any) -> None:
    with pytest.raises(InvalidInput):
        as_array(values)


def test_an_array_without_masked_numbers_is_an_array_of_numbers() -> None:
    assert as_array(np.ma.array([1, 2])).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("pair", [{0, 1}, {0: 1, 1: 2}, "01", b"01", (1,), 1, None])
def test_what_is_a_pair_by_accident_is_no_interval(pair: Any) -> None:
    with pytest.raises(InvalidInput, match="pair"):
        _validate.interval("bounds", pair)


def test_a_long_value_is_cut_in_a_sentence() -> None:
    with pytest.raises(InvalidInput) as caught:
        _validate.finite("x", list(range(100_000)))  # type: ignore[arg-type]
    assert len(str(caught.value)) < 120
