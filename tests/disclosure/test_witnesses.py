"""Whatever is said to tell two tables apart: both tables are possible, and they are told apart."""

from __future__ import annotations

import itertools

import pytest

from omit.disclosure.protection import CHANGE_QUASI_IDENTIFIERS, Protection, TableWitness
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping
from omit.disclosure.swapping_exact import SwapWitness, exact_swapping_delta
from omit.disclosure.table import Attribute, Universe
from omit.guarantee import REPLACE, NoGuarantee
from tests.disclosure.enumeration import tables

SEX, TOWN = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B"))
RACE = Attribute("race", ("x", "y", "z"))
MECHANISMS: tuple[Protection, ...] = (
    CellSuppression(3),
    CellSuppression(2, zeros_kept=False),
    RandomisedCellSuppression(3, epsilon=1.0),
    Swapping(("sex",), 0.25),
    Swapping(("sex",), 0.0),
    Swapping(("sex",), 1.0, donor="other quasi-identifiers"),
    RandomisedSwapping(("sex",), 0.5, epsilon=1.0),
)
UNIVERSES = [
    Universe(kinds, records, largest)
    for kinds in ((SEX,), (SEX, TOWN), (SEX, RACE), (Attribute("sex", ("F", "M", "?")), TOWN))
    for records in (1, 2, 3, 6, 7)
    for largest in range(1, records + 1)
    if largest * Universe(kinds, 1).cells >= records
]


def test_the_witness_of_seven_records_in_four_cells_of_two_is_possible() -> None:
    universe = Universe((SEX, TOWN), 7, 2)
    answer = Swapping(("sex",)).guarantee(universe)
    assert isinstance(answer, NoGuarantee)
    assert answer.witness.cells == (2, 1)
    assert answer.witness.neighbour == (1, 2)
    assert "town = A or town = B" in str(answer.witness)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_both_tables_of_a_witness_are_in_the_universe(mechanism: Protection) -> None:
    witnesses = 0
    for universe in UNIVERSES:
        possible = [
            sorted(table)
            for table in tables(universe.cells, universe.records, universe.largest_count)
        ]
        relations = [REPLACE]
        if isinstance(mechanism, Swapping):
            relations.append(CHANGE_QUASI_IDENTIFIERS)
        for relation in relations:
            answer = mechanism.guarantee(universe, relation)
            if isinstance(answer, NoGuarantee) and isinstance(answer.witness, TableWitness):
                witnesses += 1
                assert answer.witness.fits(universe)
                for shown in (answer.witness.cells, answer.witness.neighbour):
                    assert any(contains(table, shown) for table in possible)
                moved = zip(answer.witness.cells, answer.witness.neighbour, strict=True)
                assert sorted(after - before for before, after in moved if after != before) == [
                    -1,
                    1,
                ]
            elif isinstance(answer, NoGuarantee) and answer.witness is not None:
                assert isinstance(answer.witness, SwapWitness)
                witnesses += 1
                assert universe.largest_count == universe.records
                assert len(answer.witness.quasi_identifiers) == universe.records
    assert witnesses > 5


def contains(table: list[int], cells: tuple[int, ...]) -> bool:
    """Tell whether different cells of a table have these counts."""
    rest = list(table)
    for count in cells:
        if count not in rest:
            return False
        rest.remove(count)
    return True


def test_a_witness_that_does_not_fit_is_told() -> None:
    """By listing: the counts of two or three cells that some table of the universe has."""
    for universe in UNIVERSES:
        possible = list(tables(universe.cells, universe.records, universe.largest_count))
        for size in (2, 3):
            for cells in itertools.product(range(4), repeat=size):
                witness = TableWitness(cells, cells, "")
                exists = any(contains(list(table), cells) for table in possible)
                assert witness.fits(universe) == exists, (universe, cells)


def test_an_upper_bound_has_no_witness() -> None:
    swapping = Swapping(("sex",), 0.5)
    exact = exact_swapping_delta(swapping, Universe((SEX, TOWN), 3), 0.0)
    bound = exact_swapping_delta(swapping, Universe((SEX, TOWN), 3, 1), 0.0)
    assert exact is not None
    assert bound is not None
    assert (exact.delta, bound.witness) == (bound.delta, None)
    assert exact.witness is not None
