"""Numbers for people never say less than they promise."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from omit._decimals import rounded_down, rounded_up

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
