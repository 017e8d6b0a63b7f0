"""`omit compare`, `omit best` and `omit solve`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omit import read
from tests.conftest import Run

Omit = Callable[[str], Run]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    rows = ["income,town"] + [f"{10 * (i % 40)},{'ABC'[i % 3]}" for i in range(3000)]
    file.write_text("\n".join(rows) + "\n")
    return file


def answer(run: Run) -> dict[str, Any]:
    assert run.code == 0, run.err
    return run.result  # type: ignore[no-any-return]


def test_the_bare_command_compares_mean_and_mode_of_the_bundled_ages(omit_command: Omit) -> None:
    shown = omit_command("compare --no-report").out
    assert "noisy mean, Laplace noise of age" in shown
    assert "noisy mode, Laplace noise of age" in shown
    assert shown.count("nothing tested beats using all records") == 2
    assert "curator's eyes only" in shown


def test_json_has_the_target_the_rows_and_the_verdict(omit_command: Omit) -> None:
    words = "compare adult --column age --statistic mean --epsilon 0.25 --omit poisson:0.4 --json"
    content = answer(omit_command(words))
    assert content["target"]["epsilon"] == 0.25
    first, second = content["rows"]
    assert first["omission"] == "no omission"
    assert first["error"] == pytest.approx(0.031307833106, rel=1e-9)
    assert second["error"] == pytest.approx(0.1954939472, rel=1e-8)
    assert second["low"] <= second["error"] <= second["high"]
    assert second["ratio"] == pytest.approx(second["error"] / first["error"])
    assert (second["method"], second["metric"], second["unit"]) == ("exact", "relative error", "%")
    assert "multiplies the expected error by 6.24" in content["verdict"]


def test_a_users_file_needs_declared_bounds(omit_command: Omit, people: Path) -> None:
    run = omit_command(f"compare {people} --column income --no-report")
    assert (run.code, run.out) == (2, "")
    assert "bounds" in run.err
    words = f"compare {people} --column income --bounds 0 500 --statistic mean --omit poisson:0.5"
    assert answer(omit_command(f"{words} --json"))["records"] == 3000
    marked = answer(
        omit_command(f"compare {people} --column income --bounds from-data --statistic mean --json")
    )
    assert any("not private" in note for note in marked["notes"])


def test_text_columns_work_for_the_mode(omit_command: Omit, people: Path) -> None:
    words = f"compare {people} --column town --categories A,B,C,D --omit poisson:0.5 --json"
    content = answer(omit_command(words))
    assert {row["statistic"] for row in content["rows"]} == {"mode"}
    assert any("share the largest count" in note for note in content["notes"])


def test_all_mechanisms_are_grouped_and_gaussian_noise_needs_delta(omit_command: Omit) -> None:
    words = "compare adult --statistic mode --mechanism all --omit poisson:0.5 --json"
    for asked, mechanisms in ((words, 3), (f"{words} --delta 1e-9", 4)):
        answers = answer(omit_command(asked))["answers"]
        rows = [row for comparison in answers for row in comparison["rows"]]
        assert len({row["mechanism"] for row in rows}) == len(answers) == mechanisms
    run = omit_command("compare adult --mechanism gaussian --statistic mean --no-report")
    assert run.code == 2
    assert "delta > 0" in run.err


def test_the_mode_of_fixed_size_samples_is_simulated_under_replace_and_says_so(
    omit_command: Omit,
) -> None:
    words = "compare adult --neighbours replace --omit fixed-size:1000 --runs 200 --json"
    rows = answer(omit_command(f"{words} --statistic mean"))["rows"]
    assert [row["method"] for row in rows] == ["exact", "exact"]
    rows = answer(omit_command(f"{words} --statistic mode"))["rows"]
    assert [row["method"] for row in rows] == ["exact", "simulated"]
    assert "independently" in rows[1]["reason"]


def test_without_noise_reduction_the_mechanism_alone_has_the_guarantee(omit_command: Omit) -> None:
    words = "compare adult --statistic mean --omit poisson:0.5 --no-noise-reduction --json"
    rows = answer(omit_command(words))["rows"]
    assert [row["base_epsilon"] for row in rows] == [1.0, 1.0]


def test_several_rows_per_person_divide_epsilon(omit_command: Omit) -> None:
    words = "compare adult --statistic mean --omit none --rows-per-person 4 --json"
    assert answer(omit_command(words))["rows"][0]["base_epsilon"] == pytest.approx(0.25)


def test_an_unattainable_omission_has_a_row_that_says_so(
    omit_command: Omit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from omit import OutlierScoreSuppression
    from omit.omissions import names as by_name

    published = OutlierScoreSuppression(0.1, 0.3, bound="published")
    monkeypatch.setattr(by_name, "parse_omission", lambda text, population: published)
    content = answer(omit_command("compare adult --statistic mean --omit x --json"))
    assert content["rows"][1]["standing"] == "unattainable"
    assert "cannot be reached" in content["rows"][1]["reason"]


@pytest.mark.slow
def test_the_report_is_one_file_with_tables_figures_and_the_warning(
    omit_command: Omit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quickly(monkeypatch, (0.5, 1.0), (0.2, 0.6), (0.2, 0.7))
    file = tmp_path / "ages.html"
    assert omit_command(f"compare adult --omit poisson:0.5 --report {file}").code == 0
    page = file.read_text(encoding="utf-8")
    # Errors, what they are made up of and two curves for mean and mode, a sweep over bounds of one,
    # and what attackers can tell.
    assert page.count("<svg") == 10
    assert page.count("Bounds that are chosen by looking at the data are not private") == 1
    assert "curator's eyes only" in page.replace("&#39;", "'")
    assert "nothing tested beats using all records" in page
    assert "http" not in page.replace("http://www.w3.org", "").replace(
        "http://purl.org", ""
    ).replace("https://matplotlib.org", "").replace("http://creativecommons.org", "")
    assert [path.name for path in file.parent.iterdir()] == ["ages.html"]


def test_best_answers_none_where_that_is_the_truth(
    omit_command: Omit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from omit import OutlierScoreSuppression, PoissonSampling
    from omit.accuracy import search

    few = [PoissonSampling(rate=0.5), PoissonSampling(rate=0.99), OutlierScoreSuppression(0.1, 0.2)]
    monkeypatch.setattr(search, "default_candidates", lambda *_: iter(few))
    content = answer(omit_command("best adult --statistic mean --json"))
    assert content["best"] is None
    assert content["nearest"] == "Poisson sampling at rate 0.99"
    assert content["verdict"].startswith("None: of 3 omissions tried")
    assert "None: of 3" in omit_command("best adult --statistic mean").out


@pytest.mark.slow
def test_solve_finds_the_epsilon_that_reaches_an_error(omit_command: Omit) -> None:
    content = answer(omit_command("solve adult --error 0.031307833106 --json"))
    assert content["epsilon"] == pytest.approx(0.25, rel=1e-8)
    assert "reaches an expected error" in omit_command("solve adult --error 0.1").out
    run = omit_command("solve adult --error 0.01 --omit poisson:0.1")
    assert run.code == 2
    assert "does not reach" in run.err


def test_bounds_that_are_one_point_leave_the_bias_by_clamping(omit_command: Omit) -> None:
    words = "compare adult --column age --bounds 30 30 --statistic mean --omit poisson:0.5 --json"
    run = omit_command(words)
    assert (run.code, run.err) == (0, "")
    mean = read("adult", "age").mean
    assert run.result["clamping"] == pytest.approx(100 * (30 / mean - 1))
    errors = [row["error"] for row in run.result["rows"]]
    assert errors == pytest.approx([-run.result["clamping"]] * 2)


@pytest.mark.parametrize("statistic", ["mean", "mode", "median", "quantile:0.9"])
def test_every_mechanism_that_is_offered_exists(statistic: str) -> None:
    from omit import Mechanism
    from omit.mechanisms.names import known_mechanisms

    for make in known_mechanisms(statistic).values():
        assert isinstance(make(), Mechanism)


def quickly(monkeypatch: pytest.MonkeyPatch, *axes: tuple[float, ...]) -> None:
    """Let reports have curves of a few points only."""
    from omit.accuracy import report
    from omit.accuracy.grids import CurvesQuestion

    monkeypatch.setattr(report, "CurvesQuestion", lambda question: CurvesQuestion(question, *axes))


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["kmeans", "kmedian"])
def test_a_clustering_is_compared_with_a_report(
    omit_command: Callable[[str], Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    statistic: str,
) -> None:
    quickly(monkeypatch, (1.0,), (0.5,), (0.2,))
    file = tmp_path / "report.html"
    run = omit_command(
        f"compare kmedian-synthetic --statistic {statistic} --k 3 --runs 20 --omit poisson:0.5 "
        f"--report {file}"
    )
    assert run.code == 0, run.err
    assert "difference, 95 % interval" in run.out
    page = file.read_text(encoding="utf-8")
    assert "x in [1, 100]; y in [1, 100]" in page
    assert "All numbers are simulated, with 20 runs each" in page


@pytest.mark.parametrize("runs", ["1", "12", "paper"])
def test_a_clustering_as_json_holds_numbers_or_null(
    omit_command: Callable[[str], Run], runs: str
) -> None:
    run = omit_command(
        f"compare kmedian-synthetic --statistic kmedian --k 3 --runs {runs} --omit poisson:0.5 "
        "--json"
    )
    assert run.code == 0, run.err
    content = json.loads(run.out, parse_constant=lambda name: pytest.fail(name))["result"]
    assert content["data"] == "kmedian-synthetic"
    assert len(content["rows"]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--k 0", "--k 0"),
        ("--k 1000", "different records"),
        ("--method exact", "simulated"),
        ("--method other", "auto, exact, simulated"),
        ("--columns x,z", "no column 'z'"),
        ("--bounds 0 1 2", "pairs of numbers"),
        ("--bounds 5 5", "no width"),
        ("--budget much", "--budget 'much'"),
        ("--budget composed", "delta > 0"),
        ("--metric some", "one of: all, kept, kept-sum"),
        ("--runs few", "whole number or paper"),
        ("--epsilon 0", "epsilon > 0"),
        ("--truth 3", "no truth"),
    ],
)
def test_what_a_clustering_cannot_do_is_one_sentence(
    omit_command: Callable[[str], Run], words: str, message: str
) -> None:
    run = omit_command(f"compare kmedian-synthetic --statistic kmeans --no-report {words}")
    assert run.code == 2
    assert message in run.err
    assert run.err.count("\n") == 1


def test_a_proportion_is_asked_for_by_its_value(omit_command: Callable[[str], Run]) -> None:
    asked = "compare adult --column sex --statistic proportion:{} --omit poisson:0.5 --no-report"
    shown = omit_command(asked.format("Female"))
    assert shown.code == 0
    assert "of sex = Female" in shown.out
    refused = omit_command(asked.format("female"))
    assert refused.code == 2
    assert "known: Female, Male" in refused.err


BY_SEX = "compare adult --column age --statistic mean --by sex --omit poisson:0.5 --no-report"


def test_every_group_is_asked_the_same(omit_command: Omit) -> None:
    run = omit_command(BY_SEX)
    assert run.code == 0
    assert "in 2 of 2 groups nothing tested beats using all records" in run.out
    answer = omit_command(f"{BY_SEX} --json").result
    assert [(row["group"]["sex"], row["omission"]) for row in answer["rows"]] == [
        (sex, omission)
        for sex in ("Female", "Male")
        for omission in ("no omission", "Poisson sampling at rate 0.5")
    ]


def test_groups_are_declared_by_lists_a_file_or_a_data_set(
    omit_command: Omit, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("wage,region,sex\n" + "5,north,1\n7,south,2\n" * 50)
    groups = tmp_path / "groups.csv"
    groups.write_text("sex,region\n1,north\n2,south\n")
    asked = f"compare {file} --column wage --bounds 0 10 --statistic mean --by region,sex --json"
    by_lists = omit_command(f"{asked} --groups north,south --groups 1,2").result
    by_file = omit_command(f"{asked} --groups {groups}").result
    assert by_lists["rows"] == by_file["rows"]
    assert by_lists["empty"] == [["north", "2"], ["south", "1"]]
    assert by_file["empty"] == []
    seen = omit_command(f"{asked} --groups from-data").result
    assert any("NOT private" in note for note in seen["notes"])


def test_under_replace_a_record_may_move_unless_labels_are_fixed(omit_command: Omit) -> None:
    moving = omit_command(f"{BY_SEX} --neighbours replace --json").result
    used = sorted({row["base_epsilon"] for row in moving["rows"]})
    assert used == pytest.approx([0.5, math.log1p(2 * math.expm1(0.5))], abs=1e-9)
    asked = BY_SEX.replace("poisson:0.5", "fixed-size:1000")
    fixed = omit_command(f"{asked} --neighbours replace --fixed-labels --json").result
    assert {row["base_epsilon"] for row in fixed["rows"] if row["omission"] == "no omission"} == {1}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--by sex,race --groups Female,Male", "--groups once for each column of --by"),
        ("--by sex --groups Female", "'Male'"),
        ("--by sex --groups nowhere.csv", "Cannot read the groups in 'nowhere.csv'"),
        ("--by sex --truth 40", "every group has its own"),
        ("--by sex --sampled-from 100000", "sampled"),
        ("--by age", "another column"),
        ("--by seks", "'sex'"),
        ("--groups Female,Male", "Expected --by"),
        ("--fixed-labels", "Expected --by"),
        ("--by sex --weight fnlwgt --weight-bounds 0 500000", "without weights"),
    ],
)
def test_groups_that_cannot_be_asked_are_one_sentence(
    omit_command: Omit, options: str, said: str
) -> None:
    run = omit_command(f"compare adult --column age --statistic mean --no-report {options}")
    assert (run.code, run.out) == (2, "")
    assert said in run.err
    assert run.err.count("\n") == 1


def test_a_report_of_groups_is_a_page(omit_command: Omit, tmp_path: Path) -> None:
    page = tmp_path / "groups.html"
    words = BY_SEX.replace("--no-report", f"--report {page}")
    assert omit_command(words).code == 0
    assert "Female" in page.read_text()


def test_statistics_in_a_list_share_the_guarantee(omit_command: Omit) -> None:
    words = "compare adult --column age --statistic mean,median,count --omit poisson:0.1"
    shown = omit_command(f"{words} --no-report")
    assert shown.code == 0
    assert shown.out.count("for all 3 statistics together,") == 3
    assert shown.out.count("drawn anew for every statistic") == 1
    answers = omit_command(f"{words} --json").result["answers"]
    assert {row["base_epsilon"] for each in answers for row in each["rows"][:1]} == {1 / 3}


def test_a_median_needs_nothing_but_epsilon(omit_command: Omit, people: Path) -> None:
    words = f"compare {people} --column income --bounds 0 400 --statistic median --omit none"
    assert "median, exponential mechanism" in omit_command(f"{words} --no-report").out


def test_a_median_under_add_remove_needs_no_step(omit_command: Omit, people: Path) -> None:
    words = f"compare {people} --column income --bounds 0 400 --omit poisson:0.5 --json"
    answers = omit_command(f"{words} --statistic mean,median --neighbours add-remove").result
    assert [each["target"]["neighbours"] for each in answers["answers"]] == ["add-remove"] * 2
    together = omit_command(
        f"{words} --statistic mean,median".replace("poisson:0.5", "none")
    ).result
    assert {each["target"]["neighbours"] for each in together["answers"]} == {"replace"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compare adult --column age --statistic mean,mean", "each of them once"),
        ("compare adult --column age --statistic mean,all", "'all'"),
        ("compare adult --column age --statistic mean,", "''"),
        ("compare adult --column age --statistic mean,kmeans", "'kmeans'"),
        ("compare adult --column age --statistic mean,moon", "'moon'"),
        ("compare adult --column age --statistic mean,count --truth 40", "about one"),
        ("best adult --column age --statistic mean,count", "Expected one --statistic"),
        ("solve adult --column age --statistic mean,count --error 1", "Expected one --statistic"),
    ],
)
def test_statistics_that_share_nothing_are_one_sentence(
    omit_command: Omit, words: str, said: str
) -> None:
    run = omit_command(words)
    assert (run.code, run.out) == (2, "")
    assert said in run.err


def test_a_mode_of_very_many_numbers_is_refused_before_all_of_them_are_read(
    omit_command: Omit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from omit.data import binning

    monkeypatch.setattr(binning, "_LOOKED_AT", 100)
    monkeypatch.setattr(binning, "MOST_VALUES", 50)
    file = tmp_path / "wages.csv"
    file.write_text("wage\n" + "".join(f"{0.37 * number}\n" for number in range(300)))
    run = omit_command(f"compare {file} --column wage --bounds 0 200 --statistic mode --no-report")
    assert (run.code, run.out) == (2, "")
    assert "declare a step (--step)" in run.err


def test_what_data_that_are_a_sample_need_is_said_at_once(omit_command: Omit) -> None:
    words = "compare adult --column age --statistic mean --sampled-from 1000000 --no-report"
    refused = omit_command(f"{words} --omit poisson:0.1")
    assert refused.code == 2
    assert "(--neighbours replace)" in refused.err
    assert "(--omit fixed-size:3256)" in refused.err
    assert omit_command(f"{words} --neighbours replace --omit fixed-size:3256").code == 0


def test_a_median_beside_them_changes_nothing_about_other_statistics(
    omit_command: Omit, people: Path
) -> None:
    words = f"compare {people} --column income --bounds 0 1000 --neighbours add-remove --json"
    together = omit_command(f"{words} --statistic mean,median --omit poisson:0.5").result["answers"]
    beside = omit_command(f"{words} --statistic mean,count --omit poisson:0.5").result["answers"]
    assert together[0]["rows"] == beside[0]["rows"]
    assert any("no step was declared" in note for note in together[1]["notes"])
    refused = omit_command(f"{words} --statistic median".replace("0 1000", "0 1e9"))
    assert refused.code == 2
    assert "declare one that divides the bounds" in refused.err


def test_a_group_that_is_too_small_for_the_usual_samples_does_not_stop_the_others(
    omit_command: Omit, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("v,region\n" + "5,north\n7,north\n" * 50 + "3,tiny\n" * 3)
    run = omit_command(
        f"compare {file} --column v --bounds 0 10 --statistic mean --by region "
        "--groups north,tiny --neighbours replace --fixed-labels --no-report"
    )
    assert run.code == 0
    assert "tiny: no answer, because 3 records have no samples of a tenth" in run.out
