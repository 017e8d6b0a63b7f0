"""The estimate of the time left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from omit.study.cell import Cell, Computation, Finished
from omit.study.run import Estimate
from tests.study.computations import _several, _toss


def _cost(parameters: Mapping[str, Any]) -> float:
    return float(parameters["n"])


quick = Computation("quick", 1, _toss)
slow = Computation("slow", 1, _several, cost=_cost)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def took(cell: Cell, seconds: float) -> Finished:
    return Finished(cell, ({},), seconds)


def test_there_is_no_estimate_before_anything_was_measured() -> None:
    estimate = Estimate(quick.grid(n=range(3)), 4)
    now = estimate.now()
    assert (now.done, now.total, now.stored_before, now.remaining) == (4, 7, 4, None)


def test_cells_are_weighed_by_their_expected_cost() -> None:
    clock = Clock()
    cells = slow.grid(n=[1, 2, 7])
    estimate = Estimate(cells, 0, clock)
    clock.now += 3
    now = estimate.add([took(cells[0], 1.0), took(cells[1], 2.0)], busy=3.0)
    assert now.remaining == pytest.approx(7.0)
    clock.now += 7
    assert estimate.add([took(cells[2], 7.0)]).remaining == 0


def test_computations_are_measured_apart() -> None:
    clock = Clock()
    cells = [*quick.grid(n=range(10)), *slow.grid(n=[1, 1])]
    estimate = Estimate(cells, 0, clock)
    clock.now += 10.5
    done = [took(cells[0], 0.5), took(cells[10], 10.0)]
    assert estimate.add(done, busy=10.5).remaining == pytest.approx(9 * 0.5 + 10)


def test_several_workers_halve_the_time_left_and_their_start_does_not_count() -> None:
    clock = Clock()
    cells = quick.grid(n=range(10))
    estimate = Estimate(cells, 0, clock)
    clock.now += 30  # workers start, and then two work for one second
    done = [took(cells[0], 1.0), took(cells[1], 1.0)]
    assert estimate.add(done, busy=1.0).remaining == pytest.approx(4.0)


def test_failed_cells_are_no_work_left() -> None:
    clock = Clock()
    cells = quick.grid(n=range(3))
    estimate = Estimate(cells, 0, clock)
    clock.now += 1
    now = estimate.add([took(cells[0], 1.0)], [cells[1]], busy=1.0)
    assert (now.done, now.failed) == (1, 1)
    assert now.remaining == pytest.approx(1.0)
