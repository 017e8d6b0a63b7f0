"""`omit reproduce`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from omit.papers import reproduce
from tests.conftest import Run

pytestmark = pytest.mark.slow


@pytest.fixture
def few_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make figures quick: two rates, and in this process."""
    from omit.papers.omitting_records import cells as figures

    monkeypatch.setattr(figures, "RATES", (0.3, 0.8))


@pytest.mark.usefixtures("few_rates")
def test_a_figure_gets_its_picture_its_numbers_and_a_page(
    omit_command: Callable[[str], Run], tmp_path: Path
) -> None:
    words = (
        f"reproduce omitting-records --figure 10 --figure 2 --output {tmp_path / 'out'} "
        f"--store {tmp_path / 'study'} --where process"
    )
    run = omit_command(words)
    assert run.code == 0, run.err
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert {
        "index.html",
        "figure-10.svg",
        "figure-10.csv",
        "figure-02.svg",
        "figure-02.csv",
    } <= made
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "48 cells" in page
    assert "Section 3.2" in page
    again = omit_command(f"{words} --json")
    content = json.loads(again.out)
    assert content["command"] == "reproduce"
    assert content["parameters"]["figure"] == [10, 2]
    assert content["result"]["cells"] == 4 * 4 * 3
    # What was computed before is still what took the time.
    assert content["result"]["seconds"] > 0
    assert any("Adult age" in each["claim"] for each in content["result"]["claims"])
    # Figure 1 has the mode of age too, whose cells are there from the run above.
    seen: list[tuple[int, int]] = []
    reproduce(
        "omitting-records",
        figures=[4, 10],
        store=tmp_path / "study",
        where="process",
        progress=lambda now: seen.append((now.stored_before, now.total)),
    )
    assert seen[0] == (48, 48 + 2 * 4 * 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("statistical-privacy --runs 5", "Nothing in statistical-privacy is simulated"),
        ("statistical-privacy --epsilon 1", "omit partition plan computes others"),
        ("statistical-privacy --data adult --column age", "omit partition answers"),
        ("statistical-privacy --table 3", "which has 1 to 2"),
        ("statistical-privacy --exhibit ../tables", "no exhibit '../tables'"),
        ("disclosure-control --data adult --column age", "omit disclose asks the same"),
        ("disclosure-control --simulated", "side by side already"),
        ("accuracy-gains --runs 10 --epsilon 0", "above 0"),
        ("accuracy-gains --column age", "--data with --column"),
        ("accuracy-gain", "the nearest is 'accuracy-gains'"),
    ],
)
def test_what_makes_no_sense_for_a_paper_is_refused_in_one_sentence(
    omit_command: Callable[[str], Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    run = omit_command(f"reproduce {words}")
    assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
    assert message in run.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--figure 99", "1 to 75"),
        ("--figure 4 --runs many", "whole number or paper"),
        ("--figure 4 --runs 0", "at least 1"),
        ("--figure 4 --runs 1000000000", "at most 10,000,000"),
        (f"--figure 4 --runs {'9' * 5000}", "whole number or paper"),
        ("--figure 4 --where tls://127.0.0.1:1", "needs certificates"),
        ("--figure 4 --runs=--5", "whole number or paper"),
        ("--figure 4 --where nowhere", "process, cores"),
    ],
)
def test_mistakes_are_one_sentence(
    omit_command: Callable[[str], Run], tmp_path: Path, words: str, message: str
) -> None:
    folders = f"--output {tmp_path / 'out'} --store {tmp_path / 'study'}"
    run = omit_command(f"reproduce omitting-records {folders} {words}")
    assert run.code == 2
    assert message in run.err
    assert not (tmp_path / "out" / "index.html").exists()


def test_claims_have_a_page_of_their_own_and_the_command_that_computes_them(
    omit_command: Callable[[str], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = omit_command("reproduce statistical-privacy --claims --where process")
    assert run.code == 0, run.err
    assert "omit reproduce statistical-privacy --claims --exhibit theorems" in run.out
    assert "Claims by kind" in run.out
    assert "hold" in (tmp_path / "statistical-privacy" / "claims.html").read_text(encoding="utf-8")
    content = json.loads(omit_command("reproduce statistical-privacy --claims --json").out)
    names = [entry["name"] for entry in content["result"]["claims"]]
    assert len(set(names)) == len(names) == content["result"]["tally"][-1]["claims"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "--claims for all"),
        ("--claims --figure 1", "the paper that figures, tables or a store are of"),
        ("omitting-records --claims --data adult", "--claims without --data"),
    ],
)
def test_claims_are_of_a_paper_or_of_all(
    omit_command: Callable[[str], Run], words: str, message: str
) -> None:
    run = omit_command(f"reproduce {words}")
    assert (run.code, run.out) == (2, "")
    assert message in run.err


def test_data_that_all_of_it_needs_are_named_with_their_publisher(
    omit_command: Callable[[str], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMIT_DATA", raising=False)
    run = omit_command(f"reproduce omitting-records --figure 6 --output {tmp_path / 'out'}")
    assert run.code == 2
    assert "OMIT_DATA" in run.err
    assert "sdcMicro" in run.err
    assert not (tmp_path / "out").exists()
