"""Measures, bounds and the assessment of a table."""

from __future__ import annotations

import json
import math
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from omit.disclosure.assessment import Assessment, assess
from omit.disclosure.histograms import LaplaceHistogram
from omit.disclosure.measures import (
    Axis,
    Disclosure,
    GroupMap,
    Measures,
    disclosure_of,
    exact_measures,
    group_errors,
    mean_disclosure,
    measures_of,
    published_bounds,
    simulated_measures,
    unique_exact_matches,
)
from omit.disclosure.protection import CellErrors, PublishedBound
from omit.disclosure.question import Row
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping
from omit.disclosure.table import Attribute, CountTable
from omit.disclosure.tabulation import tabulate
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee, NoGuarantee

SEX, TOWN = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B", "C"))


def shown(found: Assessment, number: int = -1) -> dict[str, str]:
    """Return one protection as people read it, by heading."""
    table = found.tables()[0]
    return dict(zip(table.headings(), table.cells()[number], strict=True))


def row(*counts: int) -> CountTable:
    kinds = Attribute("kind", tuple(f"c{place}" for place in range(len(counts))))
    return CountTable((kinds,), np.array(counts))


def test_laplace_with_an_empty_cell_is_fair_up_to_one_over_epsilon() -> None:
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        measures = exact_measures(LaplaceHistogram(epsilon), row(0, 400))
        assert measures.fairness == pytest.approx(1 / epsilon)


def test_two_hundred_runs_overstate_fairness() -> None:
    table = row(*[0] * 50, *[300] * 50)
    estimated = simulated_measures(LaplaceHistogram(1.0), table, np.random.default_rng(0), 200)
    assert estimated.fairness > 1.3 * exact_measures(LaplaceHistogram(1.0), table).fairness


def test_theorem_two_fails_for_odd_thresholds_and_theorem_eight_can_be_reversed() -> None:
    odd = RandomisedCellSuppression(3, False, 1.0)
    assert (
        exact_measures(odd, row(2, 2, 2)).bias
        > published_bounds(odd, row(2, 2, 2))["Theorem 2: sum of biases"]
    )
    even = RandomisedCellSuppression(4, False, 1.0)
    assert (
        exact_measures(even, row(1, 3, 9)).bias
        <= published_bounds(even, row(1, 3, 9))["Theorem 2: sum of biases"]
    )
    table = row(2, 12)
    laplace = exact_measures(LaplaceHistogram(4.0), table).fairness
    assert laplace > exact_measures(RandomisedCellSuppression(4, False, 4.0), table).fairness


def test_theorems_five_and_seven_and_proposition_one_hold_on_random_tables() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        table = row(*(rng.integers(0, 30, 5) + np.array([1, 0, 0, 0, 0])).tolist())
        epsilon, k = float(rng.uniform(0.1, 4)), int(rng.integers(1, 15))
        suppression = RandomisedCellSuppression(k, False, epsilon)
        laplace = LaplaceHistogram(epsilon)
        for mechanism, name in ((suppression, "Theorem 5"), (laplace, "Theorem 7")):
            bound = published_bounds(mechanism, table)[f"{name}: fairness"]
            assert exact_measures(mechanism, table).fairness <= bound * (1 + 1e-12)
    table = CountTable((SEX, TOWN), np.array([3, 0, 2, 1, 4, 1]))
    swapping = RandomisedSwapping(("sex",), 0.4, epsilon=1.0)
    bounds, bias = published_bounds(swapping, table), swapping.errors(table).bias
    assert bounds["Proposition 1: smallest bias"] <= bias.min()
    assert bias.max() <= bounds["Proposition 1: largest bias"]
    assert np.abs(bias).sum() <= bounds["Theorem 4: sum of biases"]


def test_group_errors_add_up_and_leave_empty_groups_out() -> None:
    table = CountTable((SEX, TOWN), np.array([3, 0, 2, 0, 0, 0]))
    mechanism = LaplaceHistogram(1.0)
    groups = group_errors(mechanism, table, "sex")
    assert groups["sex"].tolist() == ["F"]
    towns = group_errors(mechanism, table, "town")
    assert towns["town"].tolist() == ["A", "C"]
    cells = mechanism.errors(table).absolute
    assert groups["absolute error"].sum() == pytest.approx(cells[:3].sum())


def test_measures_are_by_definition_of_the_errors_of_cells() -> None:
    errors = CellErrors(
        np.array([-2.0, 0.5, 1.0]), np.array([1.0, 9.0, 4.0]), np.array([3.0, 1.0, 2.0])
    )
    assert measures_of(errors) == Measures(bias=3.5, fairness=3.0, variance=9.0, absolute=6.0)


def test_estimated_measures_are_those_of_the_runs() -> None:
    table, mechanism, runs = row(0, 2, 30), LaplaceHistogram(0.5), 40
    off = mechanism.simulate(table, np.random.default_rng(5), runs) - table.flat
    bias = off.mean(axis=0)
    expected = (np.abs(bias).sum(), np.ptp(bias), off.var(axis=0).max(), np.abs(off).mean(0).sum())
    found = simulated_measures(mechanism, table, np.random.default_rng(5), runs)
    assert astuple(found) == pytest.approx(expected)


def test_errors_of_a_group_are_counted_by_hand() -> None:
    """Below 6 a 3 stands for 1, 2 and 5; 7 and 9 are shown as they are."""
    table = CountTable((SEX, TOWN), np.array([1, 7, 2, 5, 9, 0]))
    women, men = group_errors(CellSuppression(6), table, "sex").to_dict(orient="records")
    assert women == {
        "sex": "F",
        "records": 10,
        "cells": 3,
        "absolute error": 3.0,
        "error per 100 records": 30.0,
        "bias": 3.0,
    }
    assert (men["records"], men["absolute error"], men["bias"]) == (14, 2.0, -2.0)
    assert men["error per 100 records"] == pytest.approx(100 * 2 / 14)


def test_the_mean_of_what_releases_show_is_taken_number_by_number() -> None:
    shown = [Disclosure(1, 4, 10), Disclosure(3, 0, 16)]
    assert mean_disclosure(shown) == Disclosure(2.0, 2.0, 13.0)


def test_a_count_at_the_threshold_is_not_small() -> None:
    assert disclosure_of(row(5, 6, 7, 0, 1), np.array([5, 6, 7, 0, 1]), 6).small == 2


def test_published_bounds_are_the_paper_s_formulas() -> None:
    table, epsilon = row(1, 3, 9), 0.5
    x, half = np.array([1.0, 3.0, 9.0]), 4 / 2
    # A count is suppressed unless Laplace noise of scale 2 / epsilon lifts it to the threshold.
    p = stats.laplace(scale=2 / epsilon).cdf(4 - x)
    assert published_bounds(RandomisedCellSuppression(4, True, epsilon), table) == pytest.approx(
        {
            "Theorem 2: sum of biases": math.sqrt(((half - x) ** 2).sum() * (p**2).sum()),
            "Theorem 5: fairness": (9 - 1) * p[0] + 7 * (p[0] - p[2]),
        }
    )
    low = row(0, 0, 3)
    p_low, p_high = stats.laplace(scale=2 / epsilon).cdf([10.0, 7.0])
    found = published_bounds(RandomisedCellSuppression(10, True, epsilon), low)
    # The farthest from k / 2 = 5 is the smallest count, 0.
    assert found["Theorem 5: fairness"] == pytest.approx(3 * p_low + 5 * (p_low - p_high))
    assert published_bounds(LaplaceHistogram(epsilon), table) == pytest.approx(
        {"Theorem 7: fairness": 8 * math.exp(-epsilon / 2) / 2}
    )
    rate, m = 0.4, 13
    assert published_bounds(
        RandomisedSwapping(("kind",), rate, epsilon=epsilon), table
    ) == pytest.approx(
        {
            "Proposition 1: smallest bias": rate * (math.exp(-epsilon / 2) / m - m**2),
            "Proposition 1: largest bias": rate * m**2,
            "Theorem 4: sum of biases": rate * m**3,
            "Theorem 6: fairness": rate * m**3,
        }
    )


def test_every_number_of_a_row_stands_under_its_own_name() -> None:
    """All numbers differ, so that none can stand for another."""
    groups = pd.DataFrame([{"kind": "c0", "records": 1, "error per 100 records": 1.5}])
    kinds = Axis("kind", ("a", "b"), (1.0, 2.0), True)
    lines = (0.25, 0.75), (0.5, 1.25)
    picture = GroupMap("x", "women", kinds, kinds, np.eye(2), *lines, 12.5)
    made = Row(
        protection=LaplaceHistogram(2.0),
        guarantee=Guarantee(2.0, 0.125, REPLACE),
        errors=LaplaceHistogram(2.0).errors(row(1, 2)),
        measures=Measures(bias=11.0, fairness=12.0, variance=13.0, absolute=14.0),
        bounds=(PublishedBound("Theorem 7", "fairness", 15.0),),
        revealed=Disclosure(16.0, 17.0, 18.0),
        unique_matches=19.0,
        groups=groups,
        maps=(picture,),
    )
    names = "absolute_error bias fairness largest_variance k_anonymity unique_cells small_cells"
    record = made.to_record()
    assert [record[each] for each in names.split()] == [14, 11, 12, 13, 16, 17, 18]
    assert (record["epsilon"], record["delta"]) == (2.0, 0.125)
    assert record["unique_exact_matches_percent"] == 19
    assert record["two_way"] == [
        {
            "group": "women",
            "error_per_100_records": 12.5,
            "line_in_data": {"intercept": 0.25, "slope": 0.75},
            "line_in_release": {"intercept": 0.5, "slope": 1.25},
            "change": [[1, 0], [0, 1]],
        }
    ]
    assert shown(replace(assess(row(1, 2), 1.0), rows=(made,))) == {
        "protection": "Laplace histogram",
        "ε": "2",
        "δ": "0.125",
        "abs. error": "14.0",
        "bias": "11.0",
        "fairness α": "12.00",
        "max. variance": "13.00",
        "unique matches": "19.00 %",
    }
    for epsilon, delta, kept in (
        (2.0, 0.125, True),
        (3.0, 0.2, True),
        (1.9, 0.125, False),
        (2.0, 0.12, False),
    ):
        assert made.keeps(epsilon, delta) == kept


def test_the_smallest_absolute_error_is_recommended_not_the_smallest_bias() -> None:
    found = assess(row(15, 12, 13), 1.0)
    bias_free = replace(
        found.rows[0], measures=Measures(bias=0.0, fairness=0.0, variance=1.0, absolute=1e6)
    )
    near = replace(
        found.rows[1], measures=Measures(bias=9.0, fairness=0.0, variance=1.0, absolute=2.0)
    )
    said = replace(found, rows=(bias_free, near)).verdict
    assert f"the {near.protection} has the smallest expected error" in said
    assert "2.0 over 3 cells" in said


def test_unique_matches_count_cells_that_stay_alone() -> None:
    table = row(1, 1, 1, 7)
    shares = unique_exact_matches(table, np.array([[1, 0, 1, 1], [0.6, 1.4, 2, 7]]))
    assert shares.tolist() == pytest.approx([20.0, 20.0])


def test_an_assessment_has_every_mechanism_at_the_same_epsilon() -> None:
    table = tabulate("adult", ["race", "sex", "income"])
    found = assess(table, 0.5, quasi_identifiers=["race"], delta=1e-6)
    assert len(found.rows) == 8
    held = [r.guarantee for r in found.rows if isinstance(r.guarantee, Guarantee)]
    assert [each.epsilon for each in held] == [0.5] * 4
    assert len(assess(table, 0.5, delta=0.0).rows) == 6, "no Gaussian noise without delta"
    content = found.to_json()
    assert json.dumps(content, allow_nan=False)
    assert content["records"] == 32561


@pytest.mark.parametrize(
    ("counts", "epsilon", "options", "weak"),
    [
        ([2, 1, 1], 0.5, {}, "swapping kind at rate 0.25"),
        ([15, 12, 13], 0.01, {"delta": 0.0, "threshold": 1}, "randomised cell suppression below 1"),
    ],
)
def test_a_delta_above_the_one_asked_for_is_never_recommended(
    counts: list[int], epsilon: float, options: dict[str, Any], weak: str
) -> None:
    found = assess(row(*counts), epsilon, **options)
    (named,) = [each for each in found.rows if str(each.protection) == weak]
    assert isinstance(named.guarantee, Guarantee)
    assert named.guarantee.delta > 0.7
    assert named.measures.absolute < found.rows[1].measures.absolute, "it would have won"
    assert not found.keeps(named)
    recommended, _, rest = found.verdict.partition(" has the smallest expected error")
    assert recommended.endswith("the geometric histogram")
    assert "is next to nothing" in rest
    assert weak in rest
    axes = found.plot()
    names = [label.get_text() for label in axes.get_yticklabels()]
    hatched = {key for key, bar in zip(names, axes.patches, strict=True) if bar.get_hatch()}
    assert hatched == {r.protection.key for r in found.rows if not found.keeps(r)}


def test_where_everything_is_swapped_the_reason_is_said_once_and_delta_is_at_least_the_bound() -> (
    None
):
    found = assess(row(15, 12, 13), 1.0)
    swapped = found.rows[-2]
    assert swapped.guarantee_if_less_changes is None
    cells = shown(found, -2)
    assert (cells["ε"], cells["δ"], cells["δ at least"]) == ("any", "", "0.8054")
    assert swapped.to_record()["delta_at_least"] == pytest.approx(0.8054, abs=1e-4)
    tight = shown(assess(row(15, 12, 13), 1.0, largest_count=20), -2)
    assert (tight["ε"], tight["δ"]) == ("any", "unknown")
    assert "δ at least" not in tight


def test_a_delta_next_to_one_is_shown_as_one() -> None:
    found = assess(row(1500, 1200, 1300), 1.0, threshold=1)
    suppressed = found.rows[4]
    assert isinstance(suppressed.guarantee, NoGuarantee)
    assert "1 - 10^-" in suppressed.guarantee.reason
    cells = shown(found, 4)
    assert (cells["ε"], cells["δ"]) == ("any", "1")


def test_k_anonymity_and_uniqueness_are_those_of_the_identifying_attributes() -> None:
    table = CountTable((SEX, TOWN), np.array([1, 1, 1, 0, 4, 9]))
    assert disclosure_of(table, table.flat, 6, ["sex"]) == Disclosure(3, 0, 4)
    assert disclosure_of(table, table.flat, 6, ["town"]).k_anonymity == 1
    everything = assess(table, 1.0, quasi_identifiers=["sex"])
    assert everything.original == Disclosure(1, 3, 4), "which are swapped plays no role"
    assert everything.question.identified_by == ("sex", "town")
    only_sex = assess(table, 1.0, identifying=["sex"])
    assert only_sex.original == Disclosure(3, 0, 4)
    assert only_sex.question.swapped == ("sex",)


def test_a_table_is_one_anonymous_exactly_if_somebody_is_unique() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        table = CountTable((SEX, TOWN), rng.integers(0, 4, 6) + np.array([1, 0, 0, 0, 0, 0]))
        for names in (None, ["sex"], ["town"], ["town", "sex"]):
            shown = disclosure_of(table, table.flat, 3, names)
            assert (shown.k_anonymity == 1) == (shown.unique > 0)
            margin = table.marginal(names or ["sex", "town"])
            assert shown.k_anonymity == min(count for count in margin.flat if count)


def test_what_a_release_shows_is_the_mean_of_all_runs() -> None:
    """Swapping one in two of two records: k = 1 or 2, never always the same."""
    table = CountTable((SEX, TOWN), np.array([1, 0, 0, 1, 0, 0]))
    revealed = assess(table, 1.0, rate=0.5).rows[-2].revealed
    assert 1 < revealed.k_anonymity < 2
    note = assess(table, 1.0, paper_runs=9).notes[-1]
    assert "averages over 50 simulated releases" in note
    assert "errors are estimated from 9 more" in note


def test_runs_in_blocks_have_the_same_measures_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = row(3, 0, 40, 7)
    for mechanism in (LaplaceHistogram(1.0), RandomisedSwapping(("kind",), 0.5)):
        at_once = simulated_measures(mechanism, table, np.random.default_rng(0), 50)
        with monkeypatch.context() as patched:
            patched.setattr("omit.disclosure.protection._COUNTS_AT_ONCE", 12)
            blocks = simulated_measures(mechanism, table, np.random.default_rng(0), 50)
            sizes = [
                len(b) for b in mechanism.simulate_in_blocks(table, np.random.default_rng(0), 50)
            ]
        assert sizes == [3] * 16 + [2]
        for one, other in zip(astuple(at_once), astuple(blocks), strict=True):
            assert one == pytest.approx(other)


def test_bad_questions_about_a_table_are_refused() -> None:
    table = tabulate("adult", ["race", "sex"])
    for options, message in (
        ({"quasi_identifiers": ["rase"]}, "'rase' is not an attribute"),
        ({"quasi_identifiers": []}, "at least one quasi-identifier"),
        ({"largest_count": 0}, "largest_count"),
        ({"group": "town"}, "'town' is not an attribute"),
        ({"margins": [["town"]]}, "'town' is not an attribute"),
        ({"threshold": 0}, "k=0"),
        ({"rate": 2.0}, "rate=2.0"),
        ({"delta": 1.0}, "delta=1.0"),
    ):
        with pytest.raises(InvalidInput, match=message):
            assess(table, 1.0, **options)
    with pytest.raises(InvalidInput, match="above 0"):
        assess(table, 0.0)


def test_an_assessment_has_all_forms_of_a_result(tmp_path: Path) -> None:
    found = assess(row(15, 12, 13), 1.0)
    frame = found.to_frame()
    assert frame["absolute_error"].tolist() == [each.measures.absolute for each in found.rows]
    assert frame["delta_at_least"].dtype == float
    assert frame["epsilon"].isna().sum() == 4, "four protections have no guarantee at any epsilon"
    for form in (found.summary(), found._repr_html_()):
        assert "geometric histogram" in form
        assert found.verdict.split(":")[0] in form
        assert "curator" in form
    assert found.to_latex(["protection", "delta"]).count(r"\\") == 1 + len(found.rows)
    page = found.write_report(tmp_path / "page.html").read_text(encoding="utf-8")
    for bound in found.bounds().rows:
        assert bound[1] in page
