"""Searches end where they should, and on the side that keeps the promise."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize

from omit._numeric import FloatArray, as_array
from omit.laws.inversion import (
    invert_increasing,
    largest_not_above,
    last_increase,
    last_integer,
    least_not_above,
    narrow,
    root_of,
    walk,
)


@pytest.mark.parametrize("end", [0, 1, 2, 17, 10**6, 10**12 + 7])
@pytest.mark.parametrize("start", [None, -5, 0, 3, 10**6, 10**13])
def test_the_last_integer_is_found_from_wherever_one_starts(end: int, start: int | None) -> None:
    assert last_integer(lambda count: count <= end, 0, start=start) == end
    assert last_integer(lambda count: count <= end, 0, end + 1) == end
    assert last_integer(lambda count: count <= end, 0, 10**15) == end


def test_the_last_integer_is_found_in_few_steps() -> None:
    tried: list[int] = []

    def holds(count: int) -> bool:
        tried.append(count)
        return count <= 10**9

    assert last_integer(holds, 0, start=10**9 - 40) == 10**9
    assert len(tried) < 20


def test_upper_ends_that_are_returned_were_tried() -> None:
    tried = {5.0}

    def reached(x: float) -> bool:
        if x >= math.pi:
            tried.add(x)
        return x >= math.pi

    low, high = narrow(reached, 0.0, 5.0, enough=lambda low, high: high - low < 1e-9)
    assert low < math.pi <= high < low + 1e-9
    assert high in tried


def test_a_least_argument_is_on_the_right_side_of_the_root() -> None:
    for wanted in (0.1, 1 / 3, 0.7, 2.9):

        def falling(x: float, wanted: float = wanted) -> float:
            return wanted - x**3

        found = least_not_above(falling, 0.0, 5.0, 1e-10)
        assert falling(found) <= 0
        assert found == pytest.approx(wanted ** (1 / 3), abs=1e-9)


def test_a_root_above_the_limit_steps_down() -> None:
    above = math.nextafter(0.3, 1.0)
    assert largest_not_above(lambda x: x, above, 0.3) == 0.3
    assert largest_not_above(lambda x: 1.0, 0.5, 0.3) == 0.0


def test_roots_and_walks() -> None:
    assert root_of(math.cos, 0.0, 3.0) == pytest.approx(math.pi / 2)
    assert walk(lambda x: x < 2.5, 0.0, 1.0) == 3.0
    assert walk(lambda x: x > -2.5, 0.0, -1.0) == -3.0
    peaks = np.array([-0.1, 0.0, 0.3, 0.999, 1.5])
    found = last_increase(lambda x, peak: peak - x, peaks)
    np.testing.assert_allclose(found, np.clip(peaks, 0, 1), atol=1e-9)


def _cases() -> list[tuple[Callable[[float], float], float, float]]:
    return [
        (lambda x: x**3 - 2, 0.0, 5.0),
        (lambda x: math.exp(-x) - x, -3.0, 7.0),
        (lambda x: math.atan(x - 1e3), -1e6, 1e7),
        (lambda x: (x - 0.3) ** 3 + 0.01 * (x - 0.3), -1.0, 2.0),
        (lambda x: -1.0 if x < 1 / 3 else 1.0, 0.0, 1.0),
        (lambda x: x - 1e-12, -1.0, 1.0),
    ]


def test_roots_are_those_that_scipy_finds() -> None:
    """By an independent implementation; what is a jump or flat is known as closely."""
    for function, low, high in _cases():
        expected = optimize.brentq(function, low, high, xtol=1e-13)
        root = root_of(function, low, high, xtol=1e-13)
        assert abs(function(root)) <= abs(function(expected)) or abs(root - expected) < 1e-12
        assert root_of(function, high, low, xtol=1e-13) == pytest.approx(root, abs=1e-3)


def test_a_function_without_a_change_of_sign_has_no_root() -> None:
    with pytest.raises(ValueError, match="same sign"):
        root_of(lambda x: x**2 + 1, 0.0, 1.0)


def test_roots_at_the_ends_are_returned() -> None:
    assert root_of(lambda x: x, 0.0, 3.0) == 0.0
    assert root_of(lambda x: x - 3, 0.0, 3.0) == 3.0


def test_inverses_of_many_elements_are_those_of_single_ones() -> None:
    rng = np.random.default_rng(5)
    rates, values = rng.uniform(0.001, 0.999, 400), 10.0 ** rng.uniform(-12, 2, 400)

    def amplified(epsilon: FloatArray, rate: FloatArray) -> FloatArray:
        return as_array(np.log1p(rate * np.expm1(np.minimum(epsilon, 700))))

    together = invert_increasing(amplified, values, rates)
    assert np.array_equal(
        together,
        [float(invert_increasing(amplified, v, r)) for v, r in zip(values, rates, strict=True)],
    )
    closed = np.log1p(np.expm1(values) / rates)
    assert together == pytest.approx(closed, rel=1e-14)


def test_functions_with_jumps_plateaus_and_no_inverse_are_inverted_where_they_can_be() -> None:
    def stairs(epsilon: FloatArray) -> FloatArray:
        return as_array(np.floor(epsilon) + 0.5)

    found = invert_increasing(stairs, [0.25, 0.5, 1.0, 7.0])
    assert math.isnan(found[0])
    assert found[1] == 0
    assert found[2:] == pytest.approx([1.0, 7.0], rel=1e-15)
    assert invert_increasing(lambda epsilon: 1 - np.exp(-epsilon), [0.5, 1.5]) == pytest.approx(
        [math.log(2), math.inf]
    )
