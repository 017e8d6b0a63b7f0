"""Tables 1 and 2 of the statistical-privacy paper, cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from omit.errors import InvalidInput
from omit.papers import Reproduction, reproduce
from omit.papers.statistical_privacy import cells
from omit.papers.statistical_privacy.figures import table_frame
from omit.papers.statistical_privacy.table_claims import (
    MORE_QUERIES,
    OLDER_BOUNDS,
    queries_of_dp,
    sigma_and_delta,
    with_older_settings,
)
from omit.statistical.properties import sampled_property_curve
from tests.papers.judging import finding, on_the_errata_page, standings

pytestmark = pytest.mark.slow

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
    readings = [read.standing for read in finding(MORE_QUERIES, both).readings.values()]
    assert readings == ["holds in part", "fails", "fails"]
    ample = finding(MORE_QUERIES, both.assign(dp_at_theorem=0, dp_at_exact=0, printed_dp=0))
    assert ample.standing == "holds"
    assert "over a tenth more in 24 of 24 cells" in next(iter(ample.readings.values())).evidence
    first = cells.TABLE_1.compared(results.computed)
    assert sigma_and_delta(first).standing == "holds"
    assert sigma_and_delta(first.assign(delta_match="differs")).standing == "holds in part"
    said = queries_of_dp(first).evidence
    assert "12 of 15" in said
    assert "ε = 0.01" in said


def test_every_theorem_has_a_standing_and_what_is_printed_wrong_fails(
    results: Reproduction,
) -> None:
    computed = standings(results.verdicts)
    for number in ("5-1", "5-2", "5-3", "5-4"):
        assert computed[f"theorem-{number}"] == "holds"
    for name in ("lemma-3-1", "lemma-5-1", "lemma-5-2", "rapid-then-flat", "example-2"):
        assert computed[name] == "holds"
    read = {one.claim.name: one.finding.readings for one in results.verdicts}
    for name in ("example-1", "threshold-bound", "sets-are-products", "entries-alike"):
        assert sorted(one.standing for one in read[name].values()) == ["fails", "holds"]
    assert "not tested" not in computed.values()
    page = on_the_errata_page("statistical-privacy")
    assert {name: computed[name] for name in page} == page


def test_older_settings_are_compared_by_definition(both: pd.DataFrame) -> None:
    """Fresh entries: a binomial of a block; added up: as many deltas at a share of epsilon."""
    cell = both[(both["n"] == 1024) & (both["queries"] == 32) & (both["epsilon"] == 0.1)]
    (row,) = with_older_settings(cell).itertuples()

    def delta(n: int, epsilon: float) -> float:
        counts = np.arange(n + 1)
        first, second = (binom.pmf(counts - own, n - 1, 0.5) for own in (1, 0))
        return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())

    assert row.fresh == pytest.approx(delta(32, 0.1), rel=1e-6)
    assert row.added == pytest.approx(32 * delta(1024, 0.1 / 32), rel=1e-6)
    assert row.partition == pytest.approx(delta(1024, 0.1), rel=1e-6)
    found = finding(OLDER_BOUNDS, with_older_settings(both))
    assert [read.standing for read in found.readings.values()] == ["holds", "fails", "holds"]
    sharper = with_older_settings(both).assign(theorem=0.0)
    assert finding(OLDER_BOUNDS, sharper).standing == "holds"


def test_the_threshold_bound_is_the_packages_and_never_below_the_average(
    results: Reproduction,
) -> None:
    frame = results.numbers("threshold")
    size = cells.SAMPLE
    for epsilon, part in frame.groupby("epsilon"):
        curves = {
            average: sampled_property_curve(
                2 * size, 0.5, size, epsilon, known=size, average=average, conditional=True
            )
            for average in ("exact", "threshold")
        }
        average = part["average"].iloc[0]
        assert curves["exact"].lower[0] <= average * (1 + 1e-9)
        assert average <= curves["exact"].delta[0] * (1 + 1e-9)
        assert part["bound"].min() == pytest.approx(curves["threshold"].delta[0], rel=1e-6)
        assert (part["bound"] >= part["average"] * (1 - 1e-9)).all()


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
