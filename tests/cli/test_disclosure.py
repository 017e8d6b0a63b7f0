"""`omit disclose` and `omit reproduce disclosure-control`."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from omit.cli.main import main
from tests.conftest import Run

Omit = Callable[[str], Run]
QUESTION = "disclose adult --attributes race,sex,income"


def test_the_table_shows_every_mechanism_and_the_warning(omit_command: Omit) -> None:
    run = omit_command(f"{QUESTION} --no-report")
    assert run.code == 0, run.err
    for name in ("Laplace histogram", "geometric histogram", "discrete Gaussian histogram"):
        assert name in run.out
    assert "no (ε, δ) with δ < 1" in run.out
    assert "if only quasi-identifiers change: δ is at least 0.8052" in run.out
    assert "curator's eyes only" in run.out


def test_json_says_the_same_to_programs(omit_command: Omit) -> None:
    content = json.loads(omit_command(f"{QUESTION} --epsilon 0.5 --paper-runs 50 --json").out)[
        "result"
    ]
    assert content["rows"][0]["estimated"]["bias"] > content["rows"][0]["bias"]
    assert content["records"] == 32561
    assert content["rows"][0]["delta"] == 0
    assert content["rows"][3]["delta"] is None
    assert content["rows"][3]["witness"]


@pytest.mark.slow
def test_k_anonymity_is_over_all_attributes_unless_some_are_named(omit_command: Omit) -> None:
    asked = "disclose adult --attributes race,sex,education,marital-status --json"
    shown = json.loads(omit_command(asked).out)["result"]
    assert shown["identifying"] == ["race", "sex", "education", "marital-status"]
    assert shown["quasi_identifiers"] == ["race"]
    assert shown["original"]["unique"] > 0
    assert shown["original"]["k_anonymity"] == 1
    some = json.loads(omit_command(f"{asked} --identifying race,sex").out)["result"]["original"]
    assert some["unique"] == 0
    assert some["k_anonymity"] > 1


def test_every_reading_of_the_methods_can_be_asked_for(omit_command: Omit, tmp_path: Path) -> None:
    """Cells xA, yA, zA, xB, yB, zB; who swaps may keep the value, unless donors have others."""
    file = tmp_path / "small.csv"
    counts = {"x,A": 3, "y,A": 1, "z,A": 0, "x,B": 0, "y,B": 8, "z,B": 9}
    rows = [cell for cell, count in counts.items() for _ in range(count)]
    file.write_text("race,town\n" + "\n".join(rows) + "\n,B\n", encoding="utf-8")
    asked = f"disclose {file} --attributes race,town --domain race=x,y,z --domain town=A,B --json"
    shown = json.loads(omit_command(f"{asked} --swap-rate 1").out)["result"]
    assert (shown["records"], shown["left_out"], shown["cells"]) == (21, 1, 6)
    assert (shown["donor"], shown["zeros_kept"]) == ("another record", True)
    words = "--swap-rate 1 --donor other-quasi-identifiers --empty-cells suppressed"
    others = json.loads(omit_command(f"{asked} {words} --missing-as race=y").out)["result"]
    assert (others["records"], others["left_out"], others["cells"]) == (22, 0, 6)
    assert (others["donor"], others["zeros_kept"]) == ("other quasi-identifiers", False)
    assert others["suppressed"] == shown["suppressed"] + 2
    suppression, swapping = others["rows"][3], others["rows"][5]
    assert suppression["absolute_error"] == 0 + 2 + 3 + 3
    assert swapping["protection"] == "swapping race for other values at rate 1"
    # A: three of x become y and one y becomes x; B: all y become z and all z become y.
    assert swapping["absolute_error"] == pytest.approx(2 * 2 + 0)
    category = json.loads(omit_command(f"{asked} --missing category").out)["result"]
    assert (category["records"], category["cells"]) == (22, 8)


def test_cells_that_only_whole_numbers_give_away_are_counted(
    omit_command: Omit, tmp_path: Path
) -> None:
    file = tmp_path / "small.csv"
    counts = dict(zip(itertools.product("ab", "cd", "ef"), [0, 2, 3, 2, 5, 9, 9, 4], strict=True))
    rows = [",".join(cell) for cell, count in counts.items() for _ in range(count)]
    file.write_text("x,y,z\n" + "\n".join(rows), encoding="utf-8")
    domains = "--domain x=a,b --domain y=c,d --domain z=e,f"
    run = omit_command(f"disclose {file} --attributes x,y,z {domains} --no-report")
    assert "Of 5 suppressed cells, 5 can be computed from the published margins." in run.out


def test_the_report_is_one_file(omit_command: Omit, tmp_path: Path) -> None:
    file = tmp_path / "table.html"
    assert (
        omit_command(
            f"{QUESTION} --report {file} --paper-runs 9 --margin race,sex --margin income"
        ).code
        == 0
    )
    page = file.read_text(encoding="utf-8")
    for words in (
        "Who bears the error",
        "Published bounds and the exact numbers",
        "Estimated from simulated releases",
        "<svg",
    ):
        assert words in page
    assert [path.name for path in file.parent.iterdir()] == ["table.html"]


@pytest.mark.slow
def test_tasks_are_told_and_drawn(omit_command: Omit, tmp_path: Path) -> None:
    file = tmp_path / "table.html"
    run = omit_command(f"{QUESTION} --report {file} --predict income --two-way sex,income")
    assert run.code == 0, run.err
    assert "What a classifier learns: income" in run.out
    assert re.search(r"the data +75.92 %", run.out)
    page = file.read_text(encoding="utf-8")
    assert "What a classifier learns: income" in page
    assert "Groups side by side: income over sex" in page


def test_few_records_show_their_delta_if_only_quasi_identifiers_change(
    omit_command: Omit, tmp_path: Path
) -> None:
    file = tmp_path / "tiny.csv"
    file.write_text("a,b\nx,1\ny,2\nx,2\n", encoding="utf-8")
    asked = f"disclose {file} --attributes a,b --domain a=x,y --domain b=1,2 --no-report"
    for epsilon in (1, 800):
        run = omit_command(f"{asked} --epsilon {epsilon}")
        assert run.code == 0, run.err
        assert f"if only quasi-identifiers change: ({epsilon}, 0.8" in run.out


@pytest.mark.parametrize("name", ["[red]", "[/]", "x[/red]"])
def test_names_with_brackets_are_printed_as_they_are(
    omit_command: Omit, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "odd.csv"
    file.write_text(f"{name},b\n1,1\n2,2\n1,2\n", encoding="utf-8")
    asked = f"disclose {file} --attributes {name},b --domain {name}=1,2 --domain b=1,2 --no-report"
    run = omit_command(asked)
    assert run.code == 0, run.err
    assert f"{name} x b: 3 records" in run.out
    compared = omit_command(
        f"compare {file} --column {name} --statistic mean --epsilon 1 --bounds 1,2 --no-report"
    )
    assert compared.code == 0, compared.err
    assert name in compared.out


def test_a_derived_attribute_may_have_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["disclose", "adult", "--attributes", "sex,old", "--json", "--derive"]
    with pytest.raises(SystemExit) as exit_:
        main([*words, "old = age >= 65"])
    assert not exit_.value.code
    assert json.loads(capsys.readouterr().out)["result"]["cells"] == 4


@pytest.mark.parametrize(
    "words",
    [
        "disclose adult --attributes race,sexx",
        "disclose adult --attributes race,fnlwgt",
        "disclose nowhere.csv --attributes race",
        f"{QUESTION} --threshold 0",
        f"{QUESTION} --swap-rate 1.5",
        f"{QUESTION} --donor anyone",
        f"{QUESTION} --empty-cells dropped",
        f"{QUESTION} --missing-as race",
        f"{QUESTION} --missing-as town=A",
        f"{QUESTION} --missing-as sex=Male --missing-as sex=Female",
        f"{QUESTION} --epsilon 0",
        f"{QUESTION} --delta 1",
        f"{QUESTION} --quasi-identifiers town",
        f"{QUESTION} --quasi-identifiers ,",
        f"{QUESTION} --group town",
        f"{QUESTION} --group=",
        f"{QUESTION} --identifying=",
        f"{QUESTION} --identifying town",
        f"{QUESTION} --predict=",
        f"{QUESTION} --two-way=",
        f"{QUESTION} --table=",
        f"{QUESTION} --seed -1",
        f"{QUESTION} --paper-runs 1000000000000",
        "disclose tls://people.csv --attributes race",
        f"disclose {'x' * 300}.csv --attributes race",
        f"{QUESTION} --epsilon 1e-300 --delta 0",
        f"{QUESTION} --domain sex=Female --domain sex=Female,Male",
        f"{QUESTION} --largest-count 0",
        f"{QUESTION} --margin town",
        f"{QUESTION} --largest-count 5",
        f"{QUESTION} --paper-runs 0",
        f"{QUESTION} --predict race",
        f"{QUESTION} --predict wealth",
        f"{QUESTION} --two-way sex",
        f"{QUESTION} --two-way race,income",
        f"{QUESTION} --two-way sex,income --within race",
        f"{QUESTION} --two-way sex,income --within race=Green",
        f"{QUESTION} --within race=White",
        f"{QUESTION} --domain sex=Female",
        f"{QUESTION} --domain sex",
        f"{QUESTION} --derive nonsense",
        f"{QUESTION} --missing perhaps",
        f"{QUESTION} --report /dev/null/x.html",
        "reproduce disclosure-control --runs 0",
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_two(
    omit_command: Omit, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = omit_command(words)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("Error: ")
    assert run.err.strip().count("\n") == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("OMIT_DATA"), reason="OMIT_DATA is not set")
def test_the_paper_is_reproduced_with_verdicts(omit_command: Omit, tmp_path: Path) -> None:
    folders = f"--output {tmp_path} --store {tmp_path / 'study'}"
    run = omit_command(f"reproduce disclosure-control --runs 3 --where process {folders}")
    assert run.code == 0, run.err
    assert "fails          Theorem 3" in run.out
    written = {path.name for path in tmp_path.iterdir()}
    assert {"index.html", "table-1.csv", "figure-2.svg", "figure-5.svg"} <= written
    (tmp_path / "file").write_text("")
    refused = omit_command(f"reproduce disclosure-control --output {tmp_path / 'file'}")
    assert (refused.code, "not a folder" in refused.err) == (2, True)


def test_a_report_that_is_both_wanted_and_not_is_refused(
    omit_command: Omit, tmp_path: Path
) -> None:
    for question in (QUESTION, "compare adult --column age"):
        run = omit_command(f"{question} --report {tmp_path / 'page.html'} --no-report")
        assert run.code == 2
        assert run.err == "Error: Expected --report or --no-report, not both.\n"
        assert not list(tmp_path.iterdir())
