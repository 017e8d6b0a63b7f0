"""Numbers for people never say less than they promise."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_UP
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from omit._decimals import rounded_down, rounded_up, show_number

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


@given(st.floats(1e-300, 1e15))
def test_a_number_for_people_is_on_the_side_asked_for_but_for_noise(number: float) -> None:
    exact, noise = Fraction(number), Fraction(number) * Fraction(1e-15)
    up, down = (Fraction(show_number(number, side)) for side in (ROUND_UP, ROUND_DOWN))
    assert down - noise <= exact <= up + noise
    # Ten digits, or ten decimals.
    assert up - down <= 2 * max(exact * Fraction(1, 10**9), Fraction(1, 10**10))


def test_noise_of_the_last_digits_is_not_shown() -> None:
    assert show_number(0.1 + 0.2, ROUND_UP) == show_number(0.3, ROUND_UP) == "0.3"
    assert show_number(0.7 + 0.1, ROUND_DOWN) == "0.8"
    assert show_number(0.0, ROUND_UP) == "0"
