"""`omit reproduce omitting-records`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run


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
        f"--store {tmp_path / 'study'}"
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
    assert "wall time" in page
    assert "Section 3.2" in page
    again = omit_command(f"{words} --json")
    content = json.loads(again.out)
    assert content["cells"] == 4 * 4 * 3
    # What was computed before is still what took the time.
    assert f"{content['seconds']:.1f} s of wall time" in page
    assert any("Adult age" in each["claim"] for each in content["verdicts"])
    # Figure 1 has the mode of age too, whose time belongs to the run above.
    folders = f"--output {tmp_path / 'one'} --store {tmp_path / 'study'}"
    more = omit_command(f"reproduce omitting-records --figure 1 --runs 5 {folders}")
    assert more.code == 0, more.err
    page = (tmp_path / "one" / "index.html").read_text(encoding="utf-8")
    assert "24 cells computed in" in page
    assert "; 12 cells were there from runs of other figures" in page


@pytest.mark.usefixtures("few_rates")
def test_the_wall_time_of_a_resumed_reproduction_is_that_of_the_runs_that_computed(
    omit_command: Callable[[str], Run], tmp_path: Path
) -> None:
    words = (
        f"reproduce omitting-records --figure 10 --output {tmp_path / 'out'} "
        f"--store {tmp_path / 'study'} --json"
    )
    first, again = omit_command(words), omit_command(words)
    assert (again.code, again.err) == (0, "")
    assert json.loads(again.out)["seconds"] == json.loads(first.out)["seconds"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--figure 99", "1 to 75"),
        ("--figure 4 --runs many", "whole number or paper"),
        ("--figure 4 --runs 0", "at least 1"),
        ("--figure 4 --runs 1000000000", "at most 10,000,000"),
        (f"--figure 4 --runs {'9' * 5000}", "whole number or paper"),
        ("--figure 4 --cluster tls://127.0.0.1:1", "needs certificates"),
        ("--figure 4 --runs=--5", "whole number or paper"),
        ("--figure 4 --cluster nowhere", "process, cores"),
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


def test_data_that_are_not_in_reach_are_named_before_anything_is_computed(
    omit_command: Callable[[str], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMIT_DATA", raising=False)
    run = omit_command(f"reproduce omitting-records --figure 6 --output {tmp_path / 'out'}")
    assert run.code == 2
    assert "OMIT_DATA" in run.err
    assert "These figures need only what is bundled: 1, 2, 3, 4, 5, 10" in run.err
    assert not (tmp_path / "out").exists()
