"""What jobs rely on: exit codes, a log, progress without a terminal, quiet ends, private files."""

from __future__ import annotations

import logging
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from omit.cli import emit
from omit.cli.main import _RESULTS
from omit.cli.privacy import REFUSED
from omit.report.result import CURATOR, PUBLIC
from tests.cli.fuzz.invocations import commands
from tests.conftest import Run

Omit = Callable[[str], Run]
SAMPLE = "bound poisson --rate 0.1 --epsilon 1"
NOTHING = "bound outlier-threshold --threshold 0.3 --epsilon 0.5"
COMPARE = "compare adult --column age --statistic mode --omit poisson:0.5 --no-report"


@pytest.mark.parametrize(
    ("words", "condition", "code"),
    [
        (SAMPLE, "epsilon<=0.2", 0),
        (SAMPLE, "epsilon<=0.1", 3),
        (SAMPLE, "delta<=0", 0),
        (NOTHING, "epsilon<=1", 3),
        (NOTHING, "delta>=0", 3),
        ("bound independent --before 0.1 --after 0.2 --added 0.3 --epsilon 1", "loss<=2", 0),
        ("bound independent --before 0.1 --after 0.2 --added 0.3 --epsilon 1", "loss<=0.5", 3),
        ("calibrate poisson --rate 0.1 --epsilon 1", "epsilon>=2.9", 0),
        ("calibrate poisson --rate 0.1 --epsilon 1 --delta 0.2", "epsilon>=1e300", 0),
        (COMPARE, "error<=0.05", 3),
        (COMPARE, "error<=0.8", 0),
        (COMPARE, "ratio<=2", 3),
        (COMPARE, "epsilon<=1", 0),
        (f"{COMPARE} --no-noise-reduction", "epsilon<=1", 3),
        (f"{COMPARE} --mechanism all", "error<=0.8", 0),
        ("solve adult --column age --error 0.1", "epsilon<=0.1", 0),
        ("solve adult --column age --error 0.1", "epsilon<=0.05", 3),
        ("curve property --n 1000 --p 0.3 --epsilon 0.1,0.2 --no-figure", "delta<=1e-9", 3),
        ("curve property --n 1000 --p 0.3 --epsilon 0.2 --no-figure", "delta<=0.01", 0),
        ("curve sample --n 20 --p 0.4 --sample poisson:0.1", "secret_delta<=0.5", 0),
        ("partition plan --n 1000 --epsilon 0.1 --queries 2", "queries>=3", 3),
        ("partition answer adult --column age --query mean --seed 1", "epsilon<=1", 3),
    ],
)
def test_a_job_fails_unless_its_condition_surely_holds(
    omit_command: Omit, words: str, condition: str, code: int
) -> None:
    plain, asked = omit_command(words), omit_command(f"{words} --fail-unless {condition}")
    assert (asked.code, asked.out) == (code, plain.out)
    assert plain.code == 0
    said = r"Failed: expected [^\n]+\.\n" if code else ""
    assert re.fullmatch(said, asked.err)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "condition", "code"),
    [
        ("best adult --column age --statistic mode --epsilon 0.25", "ratio<1", 3),
        ("best adult --column age --statistic mode --epsilon 0.25", "error<=0.2", 0),
        ("disclose adult --attributes race,sex --no-report", "recovered<=0", 0),
        ("disclose adult --attributes race,sex --no-report", "epsilon<=0.5", 3),
    ],
)
def test_a_long_job_fails_unless_its_condition_surely_holds(
    omit_command: Omit, words: str, condition: str, code: int
) -> None:
    assert omit_command(f"{words} --fail-unless {condition}").code == code


def test_all_conditions_must_hold(omit_command: Omit) -> None:
    run = omit_command(f"{SAMPLE} --fail-unless epsilon<=0.1 --fail-unless delta<0 --json")
    assert run.code == 3
    assert run.result["epsilon"] == pytest.approx(0.1585650788)
    assert "epsilon<=0.1" in run.err
    assert "delta<0, but delta is 0.0." in run.err


@pytest.mark.parametrize(("condition", "said"), [("eps<=1", "on epsilon, delta of"), ("<1", "as")])
def test_a_condition_that_cannot_be_asked_is_refused_before_anything(
    omit_command: Omit, condition: str, said: str
) -> None:
    run = omit_command(f"{SAMPLE} --fail-unless {condition}")
    assert (run.code, run.out) == (2, "")
    assert said in run.err


def test_the_documentation_lists_the_quantities_of_every_command() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    table = page.partition("### Conditions")[2].partition("\n## ")[0]
    from omit.cli.jobs import _loaded

    for command, path in _RESULTS.items():
        listed = ", ".join(f"`{name}`" for name in _loaded(path).known_quantities)
        assert re.search(rf"`{command}`.* \| {listed} \|", table), (command, listed)


def test_every_command_with_a_result_has_conditions() -> None:
    for words, command in commands().items():
        has = any("--fail-unless" in option.opts for option in command.params)
        without = words[0] in ("verify", "figure", "data", "doctor") or words[-1] in REFUSED
        assert has != without, words
        speaks = any("--verbose" in option.opts for option in command.params)
        assert speaks != (words[-1] in REFUSED), words


@pytest.mark.parametrize("words", [f"-v {SAMPLE}", f"{SAMPLE} -v", f"{SAMPLE} --verbose --json"])
def test_a_log_goes_to_the_error_stream(omit_command: Omit, words: str) -> None:
    run = omit_command(words)
    assert run.code == 0
    assert re.fullmatch(r"(\[\d+\.\d\d s\] [^\n]+\n)+", run.err)
    assert (
        run.out
        == omit_command(words.replace("-v ", "").replace(" -v", "").replace(" --verbose", "")).out
    )
    assert logging.getLogger("omit").handlers == []


def test_progress_is_a_line_every_while_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(emit, "_SECONDS_BETWEEN_LINES", 0.05)
    with emit.progress_bar("comparing", 4) as advance:
        advance()
        advance(2)
        time.sleep(0.3)
    said = capsys.readouterr().err
    assert re.match(r"(\[0 s\] comparing: 3 of 4 done, less than a minute left\n){2}", said)
    with emit.progress_bar("comparing", 4, shown=False):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_what_is_done_quickly_says_nothing_of_progress(omit_command: Omit) -> None:
    assert omit_command(COMPARE).err == ""


def test_a_reader_that_has_seen_enough_hears_nothing() -> None:
    words = [sys.executable, "-m", "omit", *COMPARE.split()]
    line = f"{' '.join(words)} | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.parametrize(
    "words",
    [
        f"{COMPARE.removesuffix(' --no-report')} --report",
        "disclose adult --attributes sex --report",
    ],
)
@pytest.mark.parametrize(
    ("file", "said"),
    [("typo/x.html", "there is no folder"), ("x.pdf", "print to PDF"), ("x.svg", ".html")],
)
def test_a_report_that_cannot_be_is_refused_before_anything(
    omit_command: Omit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str, file: str,
    said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    run = omit_command(f"{words} {file}")
    assert (run.code, run.out) == (2, "")
    assert said in run.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_public_data_have_no_red_box_and_files_for_everybody(
    omit_command: Omit, tmp_path: Path
) -> None:
    words = "disclose adult --attributes race,sex --report"
    for public, mode, caution in (("", 0o600, CURATOR), ("--public", 0o644, PUBLIC)):
        file = tmp_path / f"report{public}.html"
        before = os.umask(0o022)
        try:
            run = omit_command(f"{words} {file} {public}")
        finally:
            os.umask(before)
        assert caution in run.out
        page = file.read_text(encoding="utf-8").replace("&#39;", "'")
        assert caution in page
        assert ('<p class="warning">' in page) == (not public)
        assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.parametrize("command", ["compare", "solve", "best"])
def test_json_says_that_data_are_public(omit_command: Omit, command: str) -> None:
    asked = {"compare": "--omit poisson:0.5", "solve": "--error 0.5", "best": "--seconds 0.01"}
    words = f"{command} adult --column age --statistic mode {asked[command]} --json"
    assert CURATOR in omit_command(words).result["notes"]
    notes = omit_command(f"{words} --public").result["notes"]
    assert PUBLIC in notes
    assert CURATOR not in notes


LIMITED = """
import resource, sys
from omit.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "disclose adult --attributes sex --report x.html",
        "figure privacy --epsilon 1 --output x.svg",
        "curve property --n 10 --p 0.3 --output x.png",
        "reproduce statistical-privacy --table 2 --where process",
    ],
)
def test_a_disk_that_is_full_is_one_sentence_and_no_file(tmp_path: Path, words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *words.split()],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(r"Error: Cannot [^\n]+\n", done.stderr)
    assert [path.name for path in tmp_path.rglob("*.*") if path.suffix in (".html", ".svg")] == []


def test_too_little_memory_is_one_sentence(
    omit_command: Omit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from omit.omissions import answer

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(answer, "bound", fail)
    run = omit_command(SAMPLE)
    assert (run.code, run.out) == (2, "")
    assert run.err == "Error: This needs more memory than there is; ask for less at a time.\n"
