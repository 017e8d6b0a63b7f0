"""Medians, quantiles and mean squared errors on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from omit import read
from tests.conftest import Run

pytestmark = pytest.mark.slow

Omit = Callable[[str], Run]


def test_the_median_is_compared_under_replace_by_default(omit_command: Omit) -> None:
    words = "compare beta --statistic median --epsilon 0.5 --delta 5e-5 --runs 50 --json"
    answer = omit_command(words).result
    assert answer["target"]["neighbours"] == "replace"
    assert all("smooth sensitivity" in row["mechanism"] for row in answer["rows"])
    assert {row["metric"] for row in answer["rows"]} == {"mean squared error"}
    sizes = [int(row["omission"].split()[1]) for row in answer["rows"][1:]]
    assert all(size % 2 for size in sizes)


def test_all_mechanisms_of_a_median_are_those_that_delta_allows(omit_command: Omit) -> None:
    words = "compare beta --statistic median --epsilon 1 --runs 20 --mechanism all --json"

    def mechanisms(more: str) -> set[str]:
        answers = omit_command(f"{words} {more}").result["answers"]
        return {row["mechanism"] for each in answers for row in each["rows"]}

    assert len(mechanisms("")) == 3
    both = mechanisms("--delta 1e-5")
    assert len(both) == 6
    assert not any("NOT private" in each for each in both)


def test_the_unpadded_variant_has_to_be_named_and_says_what_it_is(omit_command: Omit) -> None:
    run = omit_command(
        "compare lognormal --statistic median --epsilon 0.1 --delta 5e-5 --runs 20 --no-report "
        "--mechanism smooth-laplace-unpadded --omit fixed-size:101"
    )
    assert run.code == 0
    assert "without padding (NOT private)" in run.out


def test_what_is_not_private_never_gets_the_verdict_of_a_guarantee(
    omit_command: Omit, tmp_path: Path
) -> None:
    setting = (
        "lognormal --statistic median --delta 1e-4 --mechanism smooth-laplace-unpadded --runs 20"
    )
    file = tmp_path / "report.html"
    words = f"compare {setting} --epsilon 0.5 --omit fixed-size:101"
    shown = " ".join(omit_command(f"{words} --report {file}").out.split())
    assert "With noise as if for (0.5, 0.0001)-DP under replace, NOT private:" in shown
    assert "At (0.5" not in shown
    assert "never for a release" in shown
    page = file.read_text(encoding="utf-8")
    assert "<title>Leaving records out: lognormal with noise as if for (0.5, 0.0001)-DP" in page
    assert "NO release below is private" in page
    assert "has the guarantee" not in page
    assert "has the same guarantee" not in page
    answer = omit_command(f"{words} --json").result
    assert answer["mechanism_has_guarantee"] is False
    assert not any(row["mechanism_has_guarantee"] for row in answer["rows"])
    for epsilon in (0.1, 5.0):
        found = omit_command(f"best {setting} --epsilon {epsilon} --json").result
        assert "ith noise as if for" in found["verdict"]
        assert "NOT private" in found["verdict"]
    solved = omit_command(f"solve {setting} --error 100 --json").result
    assert solved["mechanism_has_guarantee"] is False


def test_the_map_of_gains_says_what_is_not_private(omit_command: Omit, tmp_path: Path) -> None:
    data = tmp_path / "values.csv"
    data.write_text("\n".join(["x", *map(str, range(101))]) + "\n")
    run = omit_command(
        f"figure gains {data} --bounds from-data --delta 1e-3 --epsilon 1 --rate 0.5 --runs 10 "
        f"--mechanism smooth-laplace-unpadded --output {tmp_path / 'map.svg'}"
    )
    shown = " ".join(run.out.split())
    assert "never for a release" in shown
    assert "taken from the data" in shown


def test_the_error_of_a_mean_can_be_squared_or_relative(omit_command: Omit) -> None:
    words = "compare adult --column age --statistic mean --omit fixed-size:1001 --json --metric "
    squared = omit_command(f"{words} mse").result
    assert squared["target"]["neighbours"] == "replace"
    assert [row["method"] for row in squared["rows"]] == ["exact", "exact"]
    # Under replace the size is public, and the same mean is judged; else its count is noisy.
    relative = omit_command(f"{words} relative --neighbours replace").result
    assert relative["rows"][0]["metric"] == "relative error"
    assert relative["rows"][0]["mechanism"] == squared["rows"][0]["mechanism"]
    assert [row["method"] for row in relative["rows"]] == ["exact", "exact"]


def test_a_relative_error_of_a_mean_of_known_size_is_that_of_its_laplace_noise(
    omit_command: Omit,
) -> None:
    words = "solve adult --column age --error 1 --json --metric relative"
    assert omit_command(words).result["mechanism"] == "noisy mean, Laplace noise"
    answer = omit_command(f"{words} --neighbours replace").result
    assert answer["mechanism"] == "noisy mean, Laplace noise, as published"
    # Noise of scale R/(n epsilon) is expected to be that far off: 1 % of the mean.
    ages = read("adult", "age")
    assert 0.01 * ages.mean == pytest.approx(125 / (ages.size * answer["epsilon"]))


def test_samples_of_medians_average_two_records_by_default_where_all_records_do(
    omit_command: Omit, tmp_path: Path
) -> None:
    for records, sizes in ((100, (10, 50, 90)), (101, (11, 51, 91)), (2, (1,)), (4, (2,))):
        data = tmp_path / f"{records}.csv"
        data.write_text("\n".join(["x", *map(str, range(records))]) + "\n")
        run = omit_command(
            f"compare {data} --bounds 0 200 --statistic median --mechanism global-laplace --json"
        )
        rows = run.result["rows"][1:]
        assert [int(row["omission"].split()[1]) for row in rows] == list(sizes)


def test_the_best_size_and_what_cannot_be_told_apart_from_it(omit_command: Omit) -> None:
    words = "best lognormal --statistic median --epsilon 0.1 --delta 5e-5 --runs 200 --json"
    answer = omit_command(words).result
    assert answer["best"].startswith("sampling ")
    assert "cannot be told apart" in answer["verdict"]
    run = omit_command(
        "best lognormal --statistic quantile:0.9 --epsilon 2 --mechanism exponential --runs 100"
    )
    assert run.out.count("None: of") == 1


def test_an_epsilon_for_a_wanted_squared_error(omit_command: Omit) -> None:
    words = "solve lognormal --statistic median --mechanism exponential --error 1 --json"
    answer = omit_command(words).result
    assert answer["neighbours"] == "replace"
    assert answer["error"] == pytest.approx(1.0, rel=1e-6)


def test_a_secret_sample_of_a_population(omit_command: Omit) -> None:
    words = "compare beta --statistic median --epsilon 1 --delta 5e-5 --runs 20 --no-report"
    run = omit_command(f"{words} --sampled-from 1000000")
    assert "for the population of 1,000,000" in run.out
    assert "nobody can know who was drawn" in " ".join(run.out.split())
    assert "5.152" in run.out
    assert omit_command(f"{words} --sampled-from 100").code == 2


def test_known_members_of_a_secret_sample_have_the_guarantee_of_all_their_records(
    omit_command: Omit,
) -> None:
    run = omit_command(
        "compare beta --statistic median --epsilon 1 --mechanism exponential --runs 20 --json "
        "--sampled-from 1000000 --rows-per-person 3 --omit fixed-size:5001"
    )
    answer = run.result
    # Three exchanges of a mechanism with this epsilon, one after the other.
    whole = 3 * answer["rows"][0]["base_epsilon"]
    (known,) = (note for note in answer["notes"] if "known to be among" in note)
    said = float(known.partition("it is only (")[2].partition(",")[0])
    assert said == pytest.approx(whole, rel=1e-9)
    assert "a person with up to 3 of them" in known
    assert any("of records" in note and "persons are drawn" in note for note in answer["notes"])


def test_where_a_secret_sample_needs_no_noise_nothing_protects_those_in_it(
    omit_command: Omit,
) -> None:
    setting = "beta --statistic median --epsilon 0.5 --delta 0.2 --runs 20 --sampled-from 100000"
    run = omit_command(f"compare {setting} --omit fixed-size:5001 --no-report")
    shown = " ".join(run.out.split())
    assert "Nothing protects somebody known to be among the records" in shown
    assert shown.count("no noise") >= 2
    assert "1000000" not in shown
    for command in ("compare", "best"):
        answer = omit_command(f"{command} {setting} --json").result
        assert all(row["no_noise"] for row in answer["rows"])
        assert all(row["base_epsilon"] is None for row in answer["rows"])
        assert "1000000" not in json.dumps(answer)


def test_the_map_of_gains_is_drawn(omit_command: Omit, tmp_path: Path) -> None:
    file = tmp_path / "map.svg"
    run = omit_command(
        f"figure gains beta --delta 5e-5 --epsilon 0.1 --epsilon 1 --rate 0.1 --rate 0.5 "
        f"--runs 20 --output {file}"
    )
    assert (run.code, file.exists()) == (0, True)
    assert "not private" in run.out


def test_a_report_says_what_omission_adds_to_squared_errors(
    omit_command: Omit, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    omit_command(
        f"compare beta --statistic median --epsilon 1 --delta 5e-5 --runs 20 --report {file}"
    )
    page = file.read_text(encoding="utf-8")
    assert "mean squared error" in page
    assert "by omission" in page


def test_the_paper_is_reproduced_into_a_folder(omit_command: Omit, tmp_path: Path) -> None:
    run = omit_command(
        "reproduce accuracy-gains --exhibit figure-05 --runs 10 --where process "
        f"--output {tmp_path / 'page'} --store {tmp_path / 'study'}"
    )
    assert run.code == 0, run
    assert re.search(r"^holds in part  [^\n]*Figure 5", run.out, re.MULTILINE)
    written = {path.suffix for path in (tmp_path / "page").iterdir()}
    assert written == {".csv", ".svg", ".html"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "compare beta --statistic median --mechanism smooth-laplace --no-report",
            "needs delta > 0",
        ),
        ("compare beta --statistic quantile --epsilon 1", "quantile:SHARE"),
        ("compare beta --statistic quantile:x --epsilon 1", "quantile:SHARE"),
        ("compare beta --statistic quantile:1.5 --epsilon 1", "strictly between 0 and 1"),
        ("compare beta --statistic median --mechanism gumbel", "smooth-student"),
        ("compare beta --statistic median --metric best", "mse or relative"),
        ("compare adult --statistic mode --metric mse", "median or quantile:SHARE"),
        ("compare adult --statistic kmeans --metric mse", "all, kept, kept-sum"),
        ("compare beta --statistic middle", "median, quantile:SHARE"),
        ("compare adult --statistic mode --metric relative --no-report", "A relative error is for"),
        ("compare adult --statistic all --metric relative --no-report", "A relative error is for"),
        (
            "compare beta --statistic mean --metric mse --epsilon 1e-320 --no-report",
            "too large to be computed",
        ),
        (
            "compare beta --statistic median --mechanism global-laplace --epsilon 1e-200",
            "too large to be computed",
        ),
        (
            "best beta --statistic median --mechanism smooth-student --epsilon 1e-320",
            "too large to be computed",
        ),
        (
            "compare beta --statistic median --mechanism smooth-laplace --delta 5e-5 "
            "--neighbours add-remove --no-report",
            "under replace",
        ),
        ("compare beta --statistic median --delta 5e-5 --omit fixed-size:20001", "at most"),
        ("compare adult --column sex --statistic median --delta 5e-5 --no-report", "text"),
        ("compare beta --bounds 0 inf --statistic median --delta 5e-5", "finite"),
        ("figure gains beta --output x.txt", "to end in"),
        ("figure gains beta --mechanism all --delta 5e-5 --output x.svg", "one mechanism"),
        ("reproduce accuracy-gains --runs 3", "at least 10"),
        ("reproduce accuracy-gains --output README.md/x --runs 10", "not a folder"),
    ],
)
def test_bad_input_is_one_sentence(
    omit_command: Omit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("a file\n")
    run = omit_command(words)
    assert run.code == 2
    assert message in run.err
    assert run.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_no_small_data_break_a_median(omit_command: Omit, tmp_path: Path) -> None:
    for values in ([7], [1, 2], [4, 4, 4, 4], [0, 0, 10], list(range(11)) * 3):
        file = tmp_path / "values.csv"
        file.write_text("\n".join(["x", *map(str, values)]) + "\n")
        run = omit_command(
            f"compare {file} --bounds 0 10 --statistic median --epsilon 1 --delta 1e-3 "
            "--mechanism all --runs 20 --json"
        )
        assert run.code == 0, run
        rows = [row for each in run.result["answers"] for row in each["rows"]]
        assert all(row["error"] is not None for row in rows)
        listed = [(row["mechanism"], row["omission"]) for row in rows]
        assert len(listed) == len(set(listed)), "no sample is listed twice"
