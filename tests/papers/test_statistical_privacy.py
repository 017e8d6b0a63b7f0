"""Tables 1 and 2 of the statistical-privacy paper, cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from omit.errors import InvalidInput
from omit.papers import Reproduction, reproduce
from omit.papers.statistical_privacy import (
    average_of_blocks,
    cells,
    more_queries,
    queries_of_dp,
    sigma_and_delta,
)
from omit.papers.statistical_privacy.figures import table_frame
from tests.papers.judging import standing

TABLES = [cells.TABLE_1, cells.TABLE_2]


@pytest.fixture(scope="module")
def results() -> Reproduction:
    return reproduce("statistical-privacy", where="process")


@pytest.fixture(scope="module")
def both(results: Reproduction) -> pd.DataFrame:
    return cells.both_tables(results.computed)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_sigma_and_delta_of_every_cell_are_the_printed_ones_cut_off(
    results: Reproduction, table: cells.PrintedTable
) -> None:
    every = table.compared(results.computed)
    assert len(every) == len(table.rows) * len(table.epsilons)
    for cell in every.itertuples():
        # An independent computation: scipy's binomial, summed.
        size = table.n // cell.queries
        counts = np.arange(size + 1)
        first, second = (binom.pmf(counts - own, size - 1, 0.5) for own in (1, 0))
        delta = np.maximum(first - math.exp(cell.epsilon) * second, 0).sum()
        assert cell.theorem == pytest.approx(delta, rel=1e-8)
        assert math.floor(1e4 * delta) / 1e4 == cell.printed_delta
        sigma = math.sqrt(0.25 / size - 0.25 / table.n)
        assert math.floor(1e4 * sigma) / 1e4 == cell.printed_sigma
        assert (cell.sigma_match, cell.delta_match) == ("truncated", "truncated")


def test_the_formula_gives_21_of_24_and_the_rest_is_rounded_in_one_column(
    both: pd.DataFrame,
) -> None:
    assert both["dp_match"].tolist().count("truncated") == 21
    rest = both[both["dp_match"] != "truncated"]
    pairs = {*zip(rest["epsilon"], rest["queries"], strict=True)}
    assert pairs == {(0.01, 32), (0.01, 64), (0.01, 256)}
    assert set(rest["dp_match"]) == {"rounded"}


def test_exact_against_exact_is_parity_in_every_cell(both: pd.DataFrame) -> None:
    assert (both["dp_at_exact"] == both["queries"] - 1).all()
    assert (both["dp_at_theorem"] > 20 * both["queries"]).all()


def test_verdicts_follow_from_the_cells(results: Reproduction, both: pd.DataFrame) -> None:
    standings = {each.claim.where: each.finding.standing for each in results.verdicts}
    assert standings["Abstract, Section 6"] == "fails"
    assert standings["Theorems 5.1 to 5.4"] == "holds"
    assert standings["Example 1"] == "fails"
    assert standings["Section 7"] == "not tested"
    assert standing(more_queries, both.assign(dp_at_theorem=0)) == "holds"
    some = both["dp_at_theorem"].where(both.index > 0, 0)
    assert standing(more_queries, both.assign(dp_at_theorem=some)) == "holds in part"
    first = cells.TABLE_1.compared(results.computed)
    assert sigma_and_delta(first).standing == "holds"
    assert sigma_and_delta(first.assign(delta_match="differs")).standing == "holds in part"
    said = queries_of_dp(first).evidence
    assert "12 of 15" in said
    assert "ε = 0.01" in said


def test_the_theorems_are_refuted_by_a_larger_delta(
    results: Reproduction, both: pd.DataFrame
) -> None:
    cases = results.computed.frame(cells.ENUMERATED)
    assert len(cases) == 18
    assert standing(average_of_blocks, (both, cases)) == "holds"
    larger = cases["bound"].where(cases.index > 0, cases["delta"] - 1e-3)
    assert standing(average_of_blocks, (both, cases.assign(bound=larger))) == "holds in part"


def test_the_frame_has_a_row_for_every_cell(results: Reproduction) -> None:
    frame = table_frame(cells.TABLE_2.compared(results.computed))
    assert len(frame) == 9
    assert frame["#DP printed"].tolist() == [2, 4, 9, 7, 16, 35, 23, 55, 126]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"runs": 10}, "Nothing in statistical-privacy is simulated"),
        ({"exact": False}, "all of it is exact"),
        ({"epsilons": [1.0]}, "omit partition plan"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        reproduce("statistical-privacy", **settings)  # type: ignore[arg-type]
