"""How well released tables serve, against definitions and runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from omit.disclosure.assessment import assess
from omit.disclosure.classification import (
    constant_accuracy,
    logistic_accuracy,
    released_accuracy,
)
from omit.disclosure.histograms import LaplaceHistogram
from omit.disclosure.measures import (
    axis_of,
    group_maps,
    regression_line,
)
from omit.disclosure.suppression import CellSuppression
from omit.disclosure.swapping import Swapping
from omit.disclosure.table import Attribute, CountTable, largest_groups, two_way
from omit.disclosure.tabulation import parse_groups, tabulate
from omit.errors import InvalidInput

RICH = Attribute("rich", ("no", "yes"))
AGE = Attribute("age", ("0", "20", "40"))
TOWN = Attribute("town", ("A", "B"))
TABLE = CountTable((TOWN, AGE, RICH), np.array([90, 5, 60, 30, 20, 70, 30, 3, 20, 9, 8, 25]))


def test_a_release_that_is_always_the_same_is_learnt_once() -> None:
    suppression = CellSuppression(10)
    found = released_accuracy(suppression, TABLE, "rich", np.random.default_rng(0), 20)
    released = suppression.draw(TABLE, np.random.default_rng(1))[0]
    assert found.value == found.low == found.high == logistic_accuracy(TABLE, released, "rich")
    assert found.runs == 1


@pytest.mark.slow
def test_the_interval_of_an_accuracy_covers_the_mean_of_many_releases() -> None:
    """False alarms: a 95 % interval of 30 runs against 400 others, about one in twenty seeds."""
    noise = LaplaceHistogram(0.05)
    few = released_accuracy(noise, TABLE, "rich", np.random.default_rng(1), 30)
    many = released_accuracy(noise, TABLE, "rich", np.random.default_rng(2), 400)
    assert few.low < many.value < few.high
    assert few.high - few.low > 2 * (many.high - many.low)


def test_one_release_of_many_tells_nothing_about_their_mean() -> None:
    found = released_accuracy(LaplaceHistogram(0.05), TABLE, "rich", np.random.default_rng(1), 1)
    assert (found.low, found.high, found.runs) == (0.0, 100.0, 1)


def test_a_constant_guess_gets_the_commonest_category() -> None:
    assert constant_accuracy(TABLE, "rich") == pytest.approx(100 * 228 / 370)


def test_expected_maps_are_those_of_many_releases() -> None:
    """False alarms: 12 counts at 5 standard errors, below 1e-5."""
    swapping, runs = Swapping(("town",), 0.5), 4000
    groups = largest_groups(TABLE, "town")
    mean = swapping.draw(TABLE, np.random.default_rng(3), runs).mean(axis=0)
    exact = group_maps(swapping, TABLE, "age", "rich", groups)
    simulated = group_maps(swapping, TABLE, "age", "rich", groups, mean=mean)
    deviation = np.sqrt(swapping.errors(TABLE).variance / runs)
    for place, (one, other) in enumerate(zip(exact, simulated, strict=True)):
        allowed = 5 * deviation.reshape(TABLE.shape)[place] + 1e-9
        assert (np.abs(one.change - other.change) <= allowed).all()
    truth = two_way(TABLE, TABLE.flat, "age", "rich", {"town": "A"})
    assert exact[0].true_line == regression_line(truth, (0.0, 20.0, 40.0), (1.0, 2.0))


def test_the_map_of_a_certain_release_is_counted_by_hand() -> None:
    """Below 10, of town A 5 is shown as 5; of town B 3 as 5, 9 as 5 and 8 as 5."""
    in_a, in_b = group_maps(
        CellSuppression(10), TABLE, "age", "rich", {"A": {"town": "A"}, "B": {"town": "B"}}
    )
    assert (in_a.change == 0).all()
    assert in_a.error == 0
    assert in_a.line == in_a.true_line
    assert in_b.change.tolist() == [[0, 2], [0, -4], [-3, 0]]
    assert in_b.error == pytest.approx(100 * (2 + 4 + 3) / (30 + 3 + 20 + 9 + 8 + 25))
    shown = np.array([[30, 5], [20, 5], [5, 25]])
    x, y = np.repeat([0.0, 20.0, 40.0], shown.sum(axis=1)), []
    for no, yes in shown.tolist():
        y += [1.0] * no + [2.0] * yes
    slope, intercept = np.polyfit(x, y, 1)
    assert in_b.line == pytest.approx((intercept, slope))


def test_the_interval_of_an_accuracy_is_students() -> None:
    noise, runs = LaplaceHistogram(0.05), 6
    found = released_accuracy(noise, TABLE, "rich", np.random.default_rng(1), runs)
    drawn = noise.simulate(TABLE, np.random.default_rng(1), runs)
    scores = [logistic_accuracy(TABLE, each, "rich") for each in drawn]
    interval = stats.t(runs - 1, np.mean(scores), stats.sem(scores)).interval(0.95)
    assert found.value == pytest.approx(float(np.mean(scores)))
    assert found.runs == runs
    assert (found.low, found.high) == pytest.approx(interval)


def test_categories_count_as_numbers_if_they_are_evenly_spaced() -> None:
    assert axis_of(AGE).numbers == (0.0, 20.0, 40.0)
    assert not axis_of(AGE).ranked
    for odd in (("1", "2", "4"), ("3", "2", "1"), ("low", "high"), ("1", "nan")):
        assert axis_of(Attribute("x", odd)).ranked
        assert axis_of(Attribute("x", odd)).numbers == tuple(range(1, len(odd) + 1))


def test_groups_are_read_with_commas_in_categories() -> None:
    groups = parse_groups(["age5=[0, 20),sex=F", "sex=M"])
    assert list(groups.values()) == [{"age5": "[0, 20)", "sex": "F"}, {"sex": "M"}]
    for bad in (["sex"], ["=F"], ["sex="], ["sex=F", "sex=F"], ["sex=F,sex=M"]):
        with pytest.raises(InvalidInput):
            parse_groups(bad)


@pytest.mark.slow
def test_an_assessment_has_both_tasks_for_every_protection(tmp_path: Path) -> None:
    table = tabulate("adult", ["race", "sex", "education", "income"])
    found = assess(
        table, 1.0, predict="income", two_way=["education", "income"], group="sex", delta=0.0
    )
    assert found.prediction is not None
    assert found.prediction.constant < found.prediction.unprotected
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    for row, record in zip(found.rows, content["rows"], strict=True):
        assert row.accuracy is not None
        assert record["accuracy_percent"]["low"] <= found.prediction.unprotected + 1
        assert [each["group"] for each in record["two_way"]] == ["sex = Male", "sex = Female"]
        assert np.shape(record["two_way"][0]["change"]) == (16, 2)
    page = found.write_report(tmp_path / "tasks.html").read_text(encoding="utf-8")
    assert "count 1, 2, 3" in page
    assert "constant guess" in page
    assert {"classifier", "two_way"} <= {table.name for table in found.tables()}
    plain = assess(table, 1.0)
    assert {"classifier", "two_way"}.isdisjoint(table.name for table in plain.tables())
    page = plain.write_report(tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "classifier" not in page
    assert "side by side" not in page


def test_a_group_that_swapping_empties_has_no_line_in_its_release() -> None:
    kept = CountTable((TOWN, AGE, RICH), np.array([3, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 1]))
    everybody = assess(
        kept, 1.0, rate=1.0, two_way=["age", "rich"], within={"B": {"town": "B"}}, delta=0.0
    )
    lines = [row["two_way"][0]["line_in_release"] for row in everybody.to_json()["rows"]]
    assert lines[-2] == {"intercept": None, "slope": None}
    json.dumps(everybody.to_json(), allow_nan=False)
    (marginals,) = [table for table in everybody.tables() if table.name == "two_way"]
    assert "–" in marginals.cells()[-2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"predict": "age"}, "two categories"),
        ({"predict": "wealth"}, "not an attribute"),
        ({"two_way": ["age"]}, "two attributes"),
        ({"two_way": ["age", "age"]}, "only once"),
        ({"two_way": ["age", "rich"], "within": {"x": {"town": "Z"}}}, "no category"),
        ({"two_way": ["town", "rich"]}, "only once"),
        ({"within": {"x": {"town": "A"}}}, "two attributes"),
    ],
)
def test_tasks_that_the_table_cannot_do_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        assess(TABLE, 1.0, **options)  # type: ignore[arg-type]  # any option, wrong on purpose
