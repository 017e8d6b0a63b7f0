"""The help answers questions, and its examples run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from omit.cli.help import EXAMPLES, PANELS
from omit.cli.main import app
from omit.cli.privacy import REFUSED
from omit.data.datasets import datasets
from tests.conftest import Run

GROUP: Any = typer.main.get_command(app)
SLOW = ("verify", "figure", "best", "disclose", "reproduce", "compare")


def _commands(group: Any, before: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def test_every_command_has_a_question_and_an_example() -> None:
    commands = {name for name in _commands(GROUP) if name.split()[-1] not in REFUSED}
    removals = ("outlier-threshold", "outlier-top", "z-score", "interquartile")
    always_refused = {f"calibrate {name}" for name in removals}
    assert commands - always_refused == set(EXAMPLES)
    assert set(GROUP.commands) == set(PANELS)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name.startswith(SLOW) else [])
        for name in EXAMPLES
    ],
)
def test_the_example_of_a_command_runs(
    omit_command: Callable[[str], Run],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    kept, nothing = {"kept": ["y"], "probability": 0.5}, {"kept": [], "probability": 0.5}
    law = {
        "database": [],
        "record": "y",
        "without": [nothing | {"probability": 1.0}],
        "with_record": [kept, nothing],
    }
    Path("law.json").write_text(json.dumps(law), encoding="utf-8")
    rare = "def suppress(records):\n    return [r for r in records if records.count(r) > 1]\n"
    Path("rare.py").write_text(rare, encoding="utf-8")
    run = omit_command(f"{command} {EXAMPLES[command]}")
    assert run.code == 0, run.err
    assert run.out


def test_the_help_of_a_command_ends_with_its_example(omit_command: Callable[[str], Run]) -> None:
    shown = " ".join(omit_command("bound poisson --help").out.split())
    assert shown.endswith(f"Example: omit bound poisson {EXAMPLES['bound poisson']}")


def test_the_help_lists_questions_from_privacy_to_papers(
    omit_command: Callable[[str], Run],
) -> None:
    shown = omit_command("--help").out
    questions = [shown.index(f" {question} ") for question in dict.fromkeys(PANELS.values())]
    assert questions == sorted(questions)


def test_omit_alone_says_what_to_try_first(omit_command: Callable[[str], Run]) -> None:
    run = omit_command("")
    assert run.code == 0
    assert all(f"omit {name} " in run.out for name in ("compare", "bound", "calibrate"))


def test_words_are_completed(
    omit_command: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"": "complete_bash", "COMP_WORDS": "omit cal", "COMP_CWORD": "1"}.items():
        monkeypatch.setenv(name or "_OMIT_COMPLETE", value)
    assert omit_command("").out.split() == ["calibrate"]


def test_registered_data_sets_are_listed_with_what_is_declared(
    omit_command: Callable[[str], Run],
) -> None:
    every, one = omit_command("data"), omit_command("data adult")
    assert f"{len(datasets())} data sets are registered" in every.out
    assert "kmedian-synthetic" in every.out
    assert "hours-per-week" in one.out
    assert "numbers in [0, 125], in steps of 1" in one.out
    wrong = omit_command("data adlut")
    assert wrong.code == 2
    assert "adult" in wrong.err


def test_doctor_finds_nothing_wrong(omit_command: Callable[[str], Run]) -> None:
    run = omit_command("doctor")
    assert run.code == 0
    assert "5 of 5 known numbers come out right" in run.out


def test_doctor_fails_if_a_known_number_is_wrong(
    omit_command: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    from omit.audit import installation

    wrong = ("two and two", "by hand", 4.0, lambda: 5.0)
    monkeypatch.setattr(installation, "_KNOWN", (wrong,))
    run = omit_command("doctor")
    assert run.code == 1
    assert "0 of 1 known numbers" in run.out
