"""Numbers for people never say less than they promise."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_UP
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit._text import fixed_down, promised, rounded_down, rounded_up, show_number, usable

positive = st.floats(5e-324, 1e300, allow_subnormal=True)


@given(positive, st.integers(1, 12))
def test_a_promise_is_never_shown_smaller_and_what_is_needed_never_larger(
    number: float, digits: int
) -> None:
    # Of the shortest decimal that is the number: 1e-6 is shown as that, though the float is less.
    shortest = Fraction(repr(number))
    up, down = Fraction(rounded_up(number, digits)), Fraction(rounded_down(number, digits))
    assert down <= shortest <= up
    assert up - down <= 2 * shortest * Fraction(10) ** (1 - digits) + Fraction(5e-324)
    assert float(rounded_up(-number, digits)) >= -number >= float(rounded_down(-number, digits))


@given(positive)
def test_an_epsilon_or_delta_is_on_the_private_side_to_the_last_bit(number: float) -> None:
    assert float(usable(number)) <= number <= float(promised(number))
    assert float(fixed_down(number)) <= number
    # Ten digits, or ten decimals.
    exact = Fraction(number)
    width = Fraction(promised(number)) - Fraction(usable(number))
    assert width <= max(2 * exact * Fraction(1, 10**9), Fraction(1, 10**10))


@pytest.mark.parametrize("number", [1.0, 0.3, 2.5, 1e-6, 0.125, 1e14, 0.0])
def test_what_was_typed_is_shown_as_it_was_typed(number: float) -> None:
    assert promised(number) == usable(number) == show_number(number)
    assert float(promised(number)) == number


def test_a_sum_that_is_a_bit_more_than_it_seems_is_not_shown_as_less() -> None:
    assert show_number(0.1 + 0.2, ROUND_UP) == "0.3000000001"
    assert show_number(0.7 + 0.1, ROUND_DOWN) == "0.7999999999"
    assert promised(999999.0) == "999999"


def test_a_column_of_a_table_has_the_same_decimals_and_no_row_of_digits() -> None:
    assert [fixed_down(number) for number in (1, 2.90049, 1e308, 1e-9, 0.0)] == [
        "1.0000",
        "2.9004",
        "1e+308",
        "1e-09",
        "0.0000",
    ]
