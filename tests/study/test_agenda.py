"""What is computed next, and what happens after a death."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omit.study.agenda import LARGEST_HAND, Agenda, Deal
from omit.study.cell import Cell, Computation
from tests.study.computations import _mean, matrix_mean, tosses


def must(deal: Deal | None) -> Deal:
    assert deal is not None
    return deal


def test_a_worker_goes_on_with_its_group_then_begins_another_then_helps() -> None:
    agenda = Agenda(matrix_mean.grid(data=["a", "b"], scale=range(8)))
    first, second = must(agenda.next(2)), must(agenda.next(2))
    assert {first.cells[0].parameters["data"], second.cells[0].parameters["data"]} == {"a", "b"}
    agenda.returned(first)
    third = must(agenda.next(2, after=first.group))
    assert third.group == first.group
    while (deal := agenda.next(2, after=first.group)) is not None and deal.group == first.group:
        pass
    assert must(deal).group == second.group


def test_every_cell_is_handed_out_once() -> None:
    cells = tosses.grid(tosses=range(3000)) + matrix_mean.grid(data=range(7), scale=range(7))
    agenda = Agenda(cells)
    handed: list[Cell] = []
    while (deal := agenda.next(3)) is not None:
        assert len(deal.cells) <= LARGEST_HAND
        assert {cell.group for cell in deal.cells} == {deal.group}
        handed += deal.cells
        agenda.returned(deal)
    assert len(handed) == len(cells)
    assert set(handed) == set(cells)


def test_what_a_worker_leaves_is_handed_out_again() -> None:
    agenda = Agenda(tosses.grid(tosses=range(4)))
    deal = must(agenda.next(1))
    agenda.returned(deal, left=deal.cells[1:])
    rest: list[Cell] = []
    while (deal := agenda.next(1)) is not None:  # type: ignore[assignment]
        rest += deal.cells
        agenda.returned(deal)
    assert len(rest) == 3


def _cost(parameters: Mapping[str, Any]) -> float:
    return float(parameters["scale"])


def _one(shared: Mapping[str, Any], rng: object) -> object:
    return 1


def test_expensive_groups_come_first() -> None:
    priced = Computation("priced", 1, _mean, _one, shared=("scale",), cost=_cost)
    agenda = Agenda(priced.grid(scale=[1, 3, 2]))
    order = [must(agenda.next(1)).cells[0].parameters["scale"] for _ in range(3)]
    assert order == [3, 2, 1]


def test_cells_of_a_dead_worker_are_tried_one_by_one_then_alone_then_given_up() -> None:
    agenda = Agenda(tosses.grid(tosses=range(4)))
    pair, other = must(agenda.next(1)), must(agenda.next(1))
    assert len(pair.cells) == 2
    assert agenda.died(pair) == ()
    last = must(agenda.next(1))  # cells that nobody suspects come first
    singles = [must(agenda.next(1)), must(agenda.next(1))]
    assert {deal.cells for deal in singles} == {(cell,) for cell in pair.cells}
    assert not any(deal.alone for deal in singles)
    culprit, innocent = singles
    agenda.returned(innocent)
    assert agenda.died(culprit) == ()
    assert agenda.next(1) is None  # others still run
    agenda.returned(other)
    agenda.returned(last)
    alone = must(agenda.next(1))
    assert alone.alone
    assert agenda.next(1) is None  # nothing runs beside it
    assert agenda.died(alone) == culprit.cells
    assert agenda.next(1) is None


def test_a_suspect_that_runs_alone_and_returns_is_cleared() -> None:
    agenda = Agenda([tosses.cell(tosses=1)])
    for _ in range(2):
        agenda.died(must(agenda.next(4)))
    alone = must(agenda.next(4))
    assert alone.alone
    agenda.returned(alone)
    assert agenda.next(4) is None


def test_nothing_is_to_be_done_for_nothing() -> None:
    assert Agenda([]).next(1) is None
