"""Plain values."""

from __future__ import annotations

import enum
import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit.errors import InvalidInput
from omit.study.cell import canonical, plain_answer, plain_parameter, stream


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (1, 1),
        (1.0, 1),
        (np.int8(1), 1),
        (np.float32(1), 1),
        (0.1, 0.1),
        (np.float64(0.1), 0.1),
        (np.float32(0.1), 0.10000000149011612),
        (-0.0, 0),
        (True, True),
        (np.bool_(False), False),
        (None, None),
        ("a", "a"),
        (np.str_("a"), "a"),
        (Colour.RED, "red"),
        ([1, (2.0, "a")], (1, (2, "a"))),
        ((), ()),
    ],
)
def test_a_parameter_has_one_plain_form(written: object, meant: object) -> None:
    plain = plain_parameter("x", written)
    assert plain == meant
    assert type(plain) is type(meant)
    assert repr(plain) == repr(meant)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 2**53 + 1, 1e300, {}, {1}, b"a", Decimal(1), 1j, np.zeros(2)],
)
def test_what_is_no_plain_data_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="x"):
        plain_parameter("x", value)


def test_extended_precision_is_refused_where_it_matters() -> None:
    third = np.longdouble(1) / 3
    if third == float(third):
        pytest.skip("long doubles are doubles on this platform")
    with pytest.raises(InvalidInput, match="x"):
        plain_parameter("x", third)
    assert plain_parameter("x", np.longdouble(0.5)) == 0.5


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers()))
def test_equal_numbers_are_the_same_parameter(number: float) -> None:
    try:
        plain = plain_parameter("x", number)
    except InvalidInput:
        assert abs(number) > 2**53
    else:
        assert plain == number
        assert canonical({"x": plain_parameter("x", float(number))}) == canonical({"x": plain})
        assert plain_parameter("x", json.loads(canonical({"x": plain}))["x"]) == plain


def test_a_truth_value_is_no_number() -> None:
    assert canonical({"x": plain_parameter("x", True)}) != canonical({"x": plain_parameter("x", 1)})


@given(st.floats())
def test_answers_are_kept_to_the_last_bit(number: float) -> None:
    kept = json.loads(json.dumps(plain_answer("x", np.float64(number))))
    assert type(kept) is float
    assert np.float64(kept).tobytes() == np.float64(number).tobytes() or math.isnan(number)


def test_the_text_of_parameters_is_plain_ascii_whatever_they_say() -> None:
    assert canonical({"b": "ε", "a": ("\ud800", None)}) == '{"a":["\\ud800",null],"b":"\\u03b5"}'


def test_a_stream_is_that_of_numpy_seeded_with_the_identity() -> None:
    identity = "f" * 64
    expected = np.random.Generator(np.random.PCG64(np.random.SeedSequence(2**256 - 1)))
    assert stream(identity).random(3).tolist() == expected.random(3).tolist()
