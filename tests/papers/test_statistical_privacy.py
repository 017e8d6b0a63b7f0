"""Tables 1 and 2 of the statistical-privacy paper, cell by cell."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from omit.papers.statistical_privacy.claims import (
    TABLE_1,
    TABLE_2,
    Cell,
    PrintedTable,
    cell_frame,
    cells,
    main_verdicts,
    table_verdicts,
)

TABLES = [TABLE_1, TABLE_2]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_sigma_and_delta_of_every_cell_are_the_printed_ones_cut_off(table: PrintedTable) -> None:
    every = cells(table)
    assert len(every) == len(table.rows) * len(table.epsilons)
    for cell in every:
        # An independent computation: scipy's binomial, summed.
        size = table.n // cell.queries
        counts = np.arange(size + 1)
        first, second = (binom.pmf(counts - own, size - 1, 0.5) for own in (1, 0))
        delta = np.maximum(first - math.exp(cell.epsilon) * second, 0).sum()
        assert cell.found.theorem == pytest.approx(delta, rel=1e-8)
        assert math.floor(1e4 * delta) / 1e4 == cell.printed_delta
        sigma = math.sqrt(0.25 / size - 0.25 / table.n)
        assert math.floor(1e4 * sigma) / 1e4 == cell.printed_sigma
        assert (cell.sigma_match, cell.delta_match) == ("truncated", "truncated")


def test_the_formula_gives_21_of_24_and_the_rest_is_rounded_in_one_column() -> None:
    every = [cell for table in TABLES for cell in cells(table)]
    assert [cell.dp_match for cell in every].count("truncated") == 21
    rest = [cell for cell in every if cell.dp_match != "truncated"]
    assert {(cell.epsilon, cell.queries) for cell in rest} == {(0.01, 32), (0.01, 64), (0.01, 256)}
    assert {cell.dp_match for cell in rest} == {"rounded"}


def test_exact_against_exact_is_parity_in_every_cell() -> None:
    for table in TABLES:
        for cell in cells(table):
            assert cell.found.dp_at_exact is not None
            assert cell.found.dp_at_theorem is not None
            assert cell.found.dp_at_exact.exact == cell.queries - 1
            assert cell.found.dp_at_theorem.exact > 20 * cell.queries


def _with_dp_queries(cell: Cell, queries: int) -> Cell:
    """Return the cell as if exact accounting allowed DP so many queries."""
    assert cell.found.dp_at_theorem is not None
    other = replace(cell.found.dp_at_theorem, exact=queries)
    return replace(cell, found=replace(cell.found, dp_at_theorem=other))


def _main_standing(every: list[Cell]) -> str:
    return main_verdicts(every)[0].standing


def test_verdicts_follow_from_the_cells() -> None:
    every = [cell for table in TABLES for cell in cells(table)]
    standings = {each.where: each.standing for each in main_verdicts(every)}
    assert standings["Abstract, Section 6"] == "does not hold"
    assert standings["Theorems 5.1 to 5.4"] == "holds"
    assert standings["Example 1"] == "does not hold"
    assert _main_standing([_with_dp_queries(cell, 0) for cell in every]) == "holds"
    some = [_with_dp_queries(every[0], 0), *every[1:]]
    assert _main_standing(some) == "holds in part"
    first, second = table_verdicts("table-1", cells(TABLE_1))
    assert first.standing == "holds"
    assert "12 of 15" in second.finding
    assert "ε = 0.01" in second.finding


def test_the_frame_has_a_row_for_every_cell() -> None:
    frame = cell_frame(cells(TABLE_2))
    assert len(frame) == 9
    assert frame["#DP printed"].tolist() == [2, 4, 9, 7, 16, 35, 23, 55, 126]
