"""What is computed next, and what happens after a death."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omit.study.batch import Batch
from omit.study.cell import Cell, Computation
from omit.study.run import LARGEST_BATCH, Queue
from tests.study.computations import _mean, matrix_mean, tosses


def must(batch: Batch | None) -> Batch:
    assert batch is not None
    return batch


def test_a_worker_goes_on_with_its_group_then_begins_another_then_helps() -> None:
    queue = Queue(matrix_mean.grid(data=["a", "b"], scale=range(8)))
    first, second = must(queue.next(2)), must(queue.next(2))
    assert {first.cells[0].parameters["data"], second.cells[0].parameters["data"]} == {"a", "b"}
    queue.returned(first)
    third = must(queue.next(2, prepared=first.group))
    assert third.group == first.group
    while (batch := queue.next(2, prepared=first.group)) is not None and batch.group == first.group:
        pass
    assert must(batch).group == second.group


def test_every_cell_is_given_out_once() -> None:
    cells = tosses.grid(tosses=range(3000)) + matrix_mean.grid(data=range(7), scale=range(7))
    queue = Queue(cells)
    queued: list[Cell] = []
    while (batch := queue.next(3)) is not None:
        assert len(batch.cells) <= LARGEST_BATCH
        assert {cell.group for cell in batch.cells} == {batch.group}
        queued += batch.cells
        queue.returned(batch)
    assert len(queued) == len(cells)
    assert set(queued) == set(cells)


def test_what_a_worker_leaves_is_given_out_again() -> None:
    queue = Queue(tosses.grid(tosses=range(4)))
    batch = must(queue.next(1))
    queue.returned(batch, left=batch.cells[1:])
    rest: list[Cell] = []
    while (batch := queue.next(1)) is not None:  # type: ignore[assignment]
        rest += batch.cells
        queue.returned(batch)
    assert len(rest) == 3


def _cost(parameters: Mapping[str, Any]) -> float:
    return float(parameters["scale"])


def _one(shared: Mapping[str, Any], rng: object) -> object:
    return 1


def test_expensive_groups_come_first() -> None:
    priced = Computation("priced", 1, _mean, _one, shared=("scale",), cost=_cost)
    queue = Queue(priced.grid(scale=[1, 3, 2]))
    order = [must(queue.next(1)).cells[0].parameters["scale"] for _ in range(3)]
    assert order == [3, 2, 1]


def test_cells_of_a_dead_worker_are_tried_one_by_one_then_alone_then_given_up() -> None:
    queue = Queue(tosses.grid(tosses=range(4)))
    pair, other = must(queue.next(1)), must(queue.next(1))
    assert len(pair.cells) == 2
    assert queue.died(pair) == ()
    last = must(queue.next(1))  # cells that nobody suspects come first
    singles = [must(queue.next(1)), must(queue.next(1))]
    assert {batch.cells for batch in singles} == {(cell,) for cell in pair.cells}
    assert not any(batch.alone for batch in singles)
    culprit, innocent = singles
    queue.returned(innocent)
    assert queue.died(culprit) == ()
    assert queue.next(1) is None  # others still run
    queue.returned(other)
    queue.returned(last)
    alone = must(queue.next(1))
    assert alone.alone
    assert queue.next(1) is None  # nothing runs beside it
    assert queue.died(alone) == culprit.cells
    assert queue.next(1) is None


def test_a_suspect_that_runs_alone_and_returns_is_cleared() -> None:
    queue = Queue([tosses.cell(tosses=1)])
    for _ in range(2):
        queue.died(must(queue.next(4)))
    alone = must(queue.next(4))
    assert alone.alone
    queue.returned(alone)
    assert queue.next(4) is None


def test_nothing_is_to_be_done_for_nothing() -> None:
    assert Queue([]).next(1) is None
