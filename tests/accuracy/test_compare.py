"""Comparisons at the same guarantee: rows, verdicts that follow from intervals, and their forms."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from omit import (
    Column,
    Comparison,
    Guarantee,
    InvalidInput,
    NoisyMean,
    NoisyMode,
    NoOmission,
    Omission,
    OutlierScoreSuppression,
    PoissonSampling,
    RuleSuppression,
    WrongNeighbours,
    best,
    compare,
    expected_error,
    read,
    solve,
)
from omit.mechanisms import LatticeQuantile
from omit.omissions import TopOutlierRemoval
from tests.accuracy.own_classes import Dial, HalfOfTheOld, NoisyTotal, SetCounts

ages = Column.from_counts([20, 30, 40, 60], [400, 800, 400, 400], bounds=(0, 100), name="age")
unreachable = OutlierScoreSuppression(0.1, 0.3, bound="published")


def dial(*omissions: Omission, runs: int = 100) -> Comparison:
    """Compare set errors with a baseline of 100 give or take 1."""
    column = Column.from_counts([1, 2], [100, 1], bounds=(1, 2))
    return compare(column, Dial(), Guarantee(1.0), *omissions, runs=runs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ages, NoisyMean(), Guarantee(1.0), [PoissonSampling(0.5)]), "one after the other"),
        ((ages, NoisyMean(), Guarantee(1.0), "poisson:0.5"), "one after the other"),
        ((ages, NoisyMean(), Guarantee(1.0), PoissonSampling), "one after the other"),
        ((ages, "mean", Guarantee(1.0)), "Expected a mechanism"),
        ((ages, NoisyMean, Guarantee(1.0)), "Expected a mechanism"),
        ((ages, NoisyMean(), 1.0), "guarantee"),
        ((ages, NoisyMean(), Guarantee(1e14)), "protects nobody"),
    ],
)
def test_what_is_no_question_is_a_sentence(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        compare(*arguments)
    if "one after" in message:
        with pytest.raises(InvalidInput, match=message):
            best(ages, NoisyMean(), Guarantee(1.0), [arguments[3]])
        with pytest.raises(InvalidInput, match=message):
            solve(ages, NoisyMean(), 1.0, arguments[3])


def test_the_first_row_is_without_omission_and_the_others_follow_in_order() -> None:
    omissions = (PoissonSampling(0.5), OutlierScoreSuppression(0.1, 0.2), PoissonSampling(0.1))
    result = compare(ages, NoisyMean(), Guarantee(1.0), *omissions)
    assert isinstance(result.rows[0].omission, NoOmission)
    assert (result.rows[0].ratio, result.rows[0].standing) == (1.0, "baseline")
    assert [row.omission for row in result.rows[1:]] == [
        PoissonSampling(0.5),
        OutlierScoreSuppression(0.1, 0.2),
        PoissonSampling(0.1),
    ]


def test_every_row_is_what_expected_error_says_at_the_same_guarantee() -> None:
    for mechanism in (NoisyMean(), NoisyMode()):
        result = compare(ages, mechanism, Guarantee(0.2), PoissonSampling(0.5))
        for row in result.rows:
            assert row.error is not None
            again = expected_error(ages, mechanism, Guarantee(0.2), row.omission)
            assert row.error == again
            if mechanism.statistic == "mean":
                assert row.ratio == pytest.approx(again.value / result.baseline.value)
            else:
                # The mode of these is never missed, so there is no ratio.
                assert row.ratio is None


def test_without_noise_reduction_all_rows_have_the_same_base() -> None:
    result = compare(
        ages, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5), unreachable, noise_reduction=False
    )
    assert [row.promise for row in result.rows] == [Guarantee(1.0)] * 3
    assert [row.standing for row in result.rows] == ["baseline", "worse", "worse"]
    reduced = compare(ages, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5))
    assert reduced.rows[1].promise == PoissonSampling(0.5).calibrate(Guarantee(1.0))
    assert (reduced.rows[1].ratio or 0) < (result.rows[1].ratio or 0)
    assert result.to_json()["noise_reduction"] is False


def test_a_person_with_two_records_needs_half_of_epsilon_for_each() -> None:
    for_people = compare(ages, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5), rows_per_person=2)
    for_records = compare(ages, NoisyMean(), Guarantee(0.5), PoissonSampling(0.5))
    assert for_people.question.guarantee == Guarantee(1.0)
    assert [row.promise for row in for_people.rows] == [row.promise for row in for_records.rows]
    assert for_people.baseline.value == for_records.baseline.value
    assert "for a person with up to 2 records" in for_people.verdict
    assert for_people.to_json()["target"]["rows_per_person"] == 2
    # With delta, group privacy divides it by 1 + e^(epsilon/2).
    base = (
        compare(ages, NoisyMean("gaussian"), Guarantee(1.0, 1e-6), rows_per_person=2)
        .rows[0]
        .promise
    )
    assert isinstance(base, Guarantee)
    assert base.delta == pytest.approx(1e-6 / (1 + 2.718281828459045**0.5))
    with pytest.raises(InvalidInput, match="rows"):
        compare(ages, NoisyMean(), Guarantee(1.0), rows_per_person=0)


def test_a_population_value_is_the_truth_of_every_row() -> None:
    result = compare(ages, NoisyMean(), Guarantee(2.0), PoissonSampling(0.5), truth=50.0)
    for row in result.rows:
        assert row.error is not None
        expected = expected_error(ages, NoisyMean(), Guarantee(2.0), row.omission, truth=50.0)
        assert row.error.value == expected.value


def test_what_cannot_reach_the_guarantee_has_a_row_that_says_why() -> None:
    result = compare(ages, NoisyMean(), Guarantee(1.0), unreachable, PoissonSampling(0.5))
    row, sampling = result.rows[1:]
    assert (row.standing, row.error, row.promise, row.ratio) == ("unattainable", None, None, None)
    assert "costs epsilon = 2 even if" in (row.reason or "")
    assert sampling.standing == "worse"
    record = result.to_records()[1]
    assert (record["method"], record["error"], record["ratio"]) == ("unattainable", None, None)
    assert "costs epsilon = 2" in record["reason"]
    assert "unattainable" in result.summary()
    assert "nothing tested beats using all records" in result.verdict


def test_what_leaves_no_guarantee_has_its_error_and_never_wins() -> None:
    """Cutting off the outliers of a column whose mean they move, at noise that drowns all."""
    column = Column.from_counts([1, 2, 100], [500, 500, 2], bounds=(0, 100))
    question = column, NoisyMean(), Guarantee(1.0)
    removal = TopOutlierRemoval(0.002)
    result = compare(*question, removal, PoissonSampling(0.5), truth=1.5)
    cut, sampling = result.rows[1:]
    assert cut.error is not None
    assert cut.error.value < result.baseline.value
    assert (cut.standing, cut.promise) == ("no guarantee", Guarantee(1.0))
    assert "unbounded sensitivity" in (cut.reason or "")
    assert result.best_tested == sampling
    assert "No guarantee is left by removal of the top" in result.verdict
    assert any("records differ" in note for note in result.notes)
    assert result.quantities()["epsilon"] == [None]
    bare = compare(*question, removal, noise_reduction=False)
    assert bare.rows[1].standing == "no guarantee"
    assert (
        "none of the omissions can reach the guarantee. No guarantee is left"
        in compare(*question, removal).verdict
    )


def test_if_nothing_reaches_the_guarantee_the_verdict_says_so() -> None:
    result = compare(ages, NoisyMean(), Guarantee(1.0), unreachable)
    assert result.verdict == (
        "At (1, 0)-DP under add-remove, none of the omissions can reach the guarantee."
    )


@pytest.mark.parametrize(
    ("omission", "standing", "ending"),
    [
        (SetCounts(80, 1), "better", ": it beats using all records."),
        (SetCounts(120, 1), "worse", "; nothing tested beats using all records."),
        (SetCounts(100, 1), "undecided", ", which cannot be told apart from using all records."),
        (SetCounts(95, 90), "undecided", ", which cannot be told apart from using all records."),
    ],
    ids=str,
)
def test_the_verdict_on_one_omission_follows_from_the_two_intervals(
    omission: Omission, standing: str, ending: str
) -> None:
    result = dial(omission)
    baseline, row = result.rows[0].error, result.rows[1].error
    assert baseline is not None
    assert row is not None
    meets = row.low <= baseline.high and baseline.low <= row.high
    assert meets == (standing == "undecided")
    assert result.rows[1].standing == standing
    assert result.verdict.startswith(f"At (1, 0)-DP under add-remove, {omission} multiplies")
    assert result.verdict.endswith(ending)


def test_the_verdict_on_several_names_the_best() -> None:
    result = dial(SetCounts(120, 1), SetCounts(80, 1), SetCounts(90, 1))
    assert [row.standing for row in result.rows[1:]] == ["worse", "better", "better"]
    assert "the best tested, 80 give or take 1, multiplies the expected error by 0.8" in (
        result.verdict
    )
    assert result.verdict.endswith(": it beats using all records.")


def test_a_wild_guess_does_not_hide_what_is_really_better() -> None:
    # The first has the smaller estimate, and an interval that says nothing; the second beats.
    result = dial(SetCounts(70, 200), SetCounts(97, 1))
    wild, sure = result.rows[1:]
    assert wild.ratio is not None
    assert sure.ratio is not None
    assert wild.ratio < sure.ratio
    assert [wild.standing, sure.standing] == ["undecided", "better"]
    assert "97 give or take 1" in result.verdict
    assert "beats using all records" in result.verdict


def test_what_is_undecided_is_not_said_to_lose() -> None:
    # One is surely worse by a little; the other is worse by more, or better: nobody knows.
    result = dial(SetCounts(101, 1), SetCounts(90, 200))
    surely, perhaps = result.rows[1:]
    assert surely.ratio is not None
    assert perhaps.ratio is not None
    assert surely.ratio < perhaps.ratio
    assert [surely.standing, perhaps.standing] == ["worse", "undecided"]
    assert "nothing tested beats using all records" not in result.verdict


def test_a_mode_that_is_never_wrong_is_no_reason_to_call_omissions_unattainable() -> None:
    # Adult hours-per-week: without omission the error is 0 to all digits, so there is no ratio.
    hours = read("adult", "hours-per-week")
    result = compare(hours, NoisyMode(), Guarantee(2.0), PoissonSampling(0.5))
    assert result.rows[1].standing == "undecided"
    assert "can reach the guarantee" not in result.verdict


def test_a_comparison_with_nothing_blames_no_omission() -> None:
    result = compare(ages, NoisyMean(), Guarantee(1.0))
    assert len(result.rows) == 1
    assert "none of the omissions can reach" not in result.verdict


def test_an_exact_improvement_is_called_one() -> None:
    # 1 % of contamination, and a rule, fixed beforehand, that leaves it out and narrows the bounds.
    column = Column.from_counts([40, 60, 900], [990, 990, 20], bounds=(0, 1000))
    result = compare(
        column, NoisyMean(), Guarantee(1.0), RuleSuppression(keep=(0, 100)), truth=50.0
    )
    row = result.rows[1]
    assert row.error is not None
    assert (row.error.method, row.standing) == ("exact", "better")
    assert result.verdict.endswith(": it beats using all records.")


def test_ones_own_mechanism_and_omission_are_compared_with_no_change_elsewhere() -> None:
    result = compare(
        ages, NoisyTotal(), Guarantee(1.0), HalfOfTheOld(50), PoissonSampling(0.5), runs=1000
    )
    assert [row.standing for row in result.rows] == ["baseline", "worse", "worse"]
    old = result.rows[1].error
    assert old is not None
    assert old.method == "simulated"
    # On average 200 people of 60 are lost from the total: 12,000, give or take 10 x 60 each run.
    assert old.value == pytest.approx(12_000, abs=5 * 620 / 1000**0.5)
    records = result.to_records()
    assert {record["statistic"] for record in records} == {"total"}
    assert {(record["metric"], record["unit"]) for record in records} == {
        ("absolute error", "units")
    }
    assert "half of those from 50 on" in result.summary()


def test_simulated_rows_start_from_the_same_seed() -> None:
    first, second = (
        compare(ages, NoisyTotal(), Guarantee(1.0), NoOmission(), runs=50, seed=seed)
        for seed in (3, 4)
    )
    assert first.rows[0].error == first.rows[1].error
    assert first.rows[0].error != second.rows[0].error


def test_json_holds_what_the_command_line_promises() -> None:
    result = compare(ages, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5), unreachable)
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert data["target"] == {
        "epsilon": 1.0,
        "delta": 0.0,
        "neighbours": "add-remove",
        "rows_per_person": 1,
        "statistics": 1,
    }
    promised = {"omission", "statistic", "mechanism", "error", "low", "high", "method", "ratio"}
    for row in data["rows"]:
        assert promised | {"metric", "unit"} <= set(row)
    baseline, sampled, unattainable = data["rows"]
    assert (baseline["omission"], baseline["ratio"]) == ("no omission", 1.0)
    assert sampled["low"] <= sampled["error"] <= sampled["high"]
    assert (sampled["method"], sampled["unit"], sampled["statistic"]) == ("exact", "%", "mean")
    assert unattainable["method"] == "unattainable"
    assert data["verdict"] == result.verdict
    assert (data["data"], data["records"]) == ("age", 2000)


def test_an_infinite_interval_is_no_reason_for_broken_json() -> None:
    result = compare(ages, NoisyTotal(), Guarantee(1.0), runs=1)
    assert result.baseline.high == float("inf")
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["rows"][0]["high"] is None


def test_a_frame_has_one_row_for_each_omission() -> None:
    result = compare(ages, NoisyMode(), Guarantee(0.1), PoissonSampling(0.5), unreachable)
    frame = result.to_frame()
    assert frame["omission"].tolist() == [str(row.omission) for row in result.rows]
    assert frame["error"].iloc[0] == result.baseline.value
    assert frame["error"].isna().tolist() == [False, False, True]
    assert set(frame["unit"]) == {"probability"}


def test_the_summary_holds_table_verdict_and_warning() -> None:
    result = compare(ages, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5))
    lines = result.summary().splitlines()
    assert lines[0] == "noisy mean, Laplace noise of age, relative error"
    assert lines[2].startswith("no omission")
    assert lines[3].startswith("Poisson sampling at rate 0.5")
    assert lines[3].endswith("worse")
    assert result.verdict in lines
    assert lines[-1].endswith("for the curator's eyes only.")
    assert str(result) == result.summary()


def test_a_notebook_shows_names_as_text_never_as_markup() -> None:
    column = Column.from_counts([20, 30], [800, 900], bounds=(0, 100), name="<b>age</b> & more")
    html = compare(column, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5))._repr_html_()
    assert "&lt;b&gt;age&lt;/b&gt; &amp; more" in html
    assert "<b>age</b>" not in html
    assert html.count("<tr role") == 3
    assert "curator&#39;s eyes only" in html


def test_what_must_be_said_is_said_beside_the_numbers() -> None:
    tied = Column.from_values([1, 1, 3, 3, 2, 9], bounds=(1, 4), name="rooms")
    result = compare(tied, NoisyMode(), Guarantee(1.0))
    assert any("outside [1, 4] and was clamped" in note for note in result.notes)
    assert "2 values share the largest count; each of them counts as right." in result.notes
    anything = np.random.default_rng(0).uniform(1, 90, 60)
    decimals = Column.from_values(anything, bounds=(1, 90))
    few = compare(decimals, NoisyMean(), Guarantee(0.05), PoissonSampling(0.5), runs=50)
    assert any("Simulated, because the noisy count" in n for n in few.notes)
    from_data = Column.from_values([1, 2, 2], bounds="from-data", name="rooms")
    assert any(
        "NOT private" in note for note in compare(from_data, NoisyMode(), Guarantee(1.0)).notes
    )


def test_a_wrong_relation_is_refused_not_listed() -> None:
    with pytest.raises(WrongNeighbours):
        compare(ages, NoisyMean(), Guarantee(1.0, neighbours="replace"), PoissonSampling(0.5))


@pytest.mark.slow
def test_answers_worse_than_the_middle_of_the_bounds_hold_no_information() -> None:
    hidden = compare(ages, NoisyMean(), Guarantee(1e-5), PoissonSampling(0.5))
    middle = sum(ages.bounds or ()) / 2
    assert hidden.uninformed is not None
    assert hidden.uninformed.answer == middle
    assert hidden.uninformed.error == pytest.approx(100 * abs(middle / ages.mean - 1))
    assert hidden.rows[1].standing == "no information"
    assert "nothing tested tells more than the middle of the bounds" in hidden.verdict
    assert "beats using all records" not in hidden.verdict


def test_a_middle_that_is_the_truth_by_luck_does_not_make_good_answers_worthless() -> None:
    lucky = Column.from_values([49, 50, 51] * 1000, bounds=(0, 100))
    result = compare(lucky, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5))
    assert result.uninformed is not None
    assert result.uninformed.error == 0
    assert result.rows[1].standing == "worse"


def test_sampling_is_not_said_to_pay_among_answers_that_tell_nothing() -> None:
    published = NoisyMean(variant="published")
    wide = Column.from_values([20, 30, 40] * 3, bounds=(0, 125))
    result = compare(wide, published, Guarantee(0.3), PoissonSampling(0.1), PoissonSampling(0.5))
    assert all(row.ratio is not None and row.ratio < 1 for row in result.rows[1:])
    assert {row.standing for row in result.rows[1:]} == {"no information"}
    assert "beats using all records" not in result.verdict


def test_modes_and_clusterings_have_no_middle() -> None:
    result = compare(ages, NoisyMode(), Guarantee(1.0))
    assert result.uninformed is None
    assert not any("middle of the bounds" in note for note in result.notes)


def test_an_error_that_nobody_can_see_has_no_ratios() -> None:
    whole = Column.from_values([30, 40, 40, 40, 50] * 200, bounds=(0, 100), step=1)
    result = compare(whole, LatticeQuantile(), Guarantee(1.0), PoissonSampling(0.5))
    assert 0 <= result.baseline.value < 1e-15
    assert result.rows[0].ratio is None
    assert "gives no error that could be seen" in result.verdict
