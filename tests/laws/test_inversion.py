"""Searches end where they should, and on the side that keeps the promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from omit.laws.inversion import (
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
