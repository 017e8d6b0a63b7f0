"""The entry point."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import omit
from omit.cli.main import app
from tests.conftest import Run


def test_the_help_names_every_command(omit_command: Callable[[str], Run]) -> None:
    shown = omit_command("--help").out
    assert all(command in shown for command in ("bound", "calibrate", "verify", "figure"))


def test_the_version_is_that_of_the_package(omit_command: Callable[[str], Run]) -> None:
    assert omit_command("--version").out.strip() == f"omit {omit.__version__}"


def test_the_help_does_not_load_what_computes() -> None:
    code = (
        "import sys\n"
        "from omit.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'matplotlib', 'dp_accounting'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_runs_as_a_module() -> None:
    words = [
        sys.executable,
        "-m",
        "omit",
        "calibrate",
        "poisson",
        "--rate",
        "0.1",
        "--epsilon",
        "1",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "2.9004770978" in done.stdout


BOUND = ("bound", "outlier-score", "--m", "0.1", "--M", "0.2", "--epsilon", "0.25")


def _omit(*words: str, **settings: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command line as a program of its own."""
    return subprocess.run(
        [sys.executable, "-m", "omit", *words],
        capture_output=True,
        check=False,
        env={**os.environ, **settings},
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compare --bounds", "Option '--bounds' requires an argument"),
        ("compare --unheard-of", "No such option: --unheard-of"),
        ("bound unheard-of", "No such command 'unheard-of'"),
        ("bound poisson --rate x --epsilon 1", "--rate"),
        ("bound poisson --epsilon 1", "Missing option '--rate'"),
        (f"bound poisson --{'x' * 5000} 1", "... (5002 characters)"),
    ],
)
def test_a_mistyped_option_is_one_sentence_that_says_where_help_is(
    omit_command: Callable[[str], Run], words: str, said: str
) -> None:
    run = omit_command(words)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("Error: ")
    assert run.err.endswith("--help shows what there is.\n")
    assert said in run.err
    assert run.err.count("\n") == 1
    assert len(run.err) < 500


def _commands(group: Any, *names: str) -> Iterator[tuple[str, ...]]:
    yield names
    for name, command in getattr(group, "commands", {}).items():
        yield from _commands(command, *names, name)


@pytest.mark.slow
def test_help_on_a_narrow_screen_is_whole(
    omit_command: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    commands = list(_commands(typer.main.get_command(app)))
    assert len(commands) > 30
    for names in commands:
        shown = omit_command(" ".join([*names, "--help"])).out
        cut = [line for line in shown.splitlines() if "…" in line or len(line) > 80]
        assert (names, cut) == (names, [])


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_symbols_that_an_output_lacks_are_written_in_letters(encoding: str) -> None:
    words = ("compare", "adult", "--column", "age", "--omit", "none", "--no-report")
    done = _omit(*words, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"mechanism's epsilon" in done.stdout


def test_a_name_that_is_not_utf_8_can_be_told(tmp_path: Path) -> None:
    done = _omit("compare", os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv"))
    assert done.returncode == 2
    assert b"\\udcff.csv" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", [BOUND, (*BOUND, "--json"), ("--help",)])
def test_a_full_device_is_one_sentence(words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "omit", *words], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"Error: Cannot write the answer: No space left on device.\n"


def test_a_reader_that_has_seen_enough_is_no_failed_check() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "omit", *BOUND], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.parametrize("columns", ["20", "40", "200"])
def test_a_narrow_screen_takes_no_digit_from_a_bound(columns: str) -> None:
    said = _omit(*BOUND, COLUMNS=columns).stdout.decode()
    for shown in ("0.2323698374", "1.2047517204", "0.2276317642", "on a grid"):
        assert shown in said


@pytest.mark.slow
def test_an_interruption_while_the_interpreter_ends_is_no_traceback() -> None:
    code = (
        "import atexit, os, signal\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        "from omit.cli.main import main\n"
        "main(['--version'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interruption_while_a_file_is_read_ends_with_130(tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "large.csv"
    duckdb.sql(f"copy (select i % 1000 as x from range(20000000) t(i)) to '{file}'")
    words = ("compare", str(file), "--column", "x", "--bounds", "0", "1000", "--no-report")
    started = subprocess.Popen(
        [sys.executable, "-m", "omit", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    opened = f"/proc/{started.pid}/fd"
    while started.poll() is None and str(file) not in map(_target, Path(opened).iterdir()):
        time.sleep(0.005)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out, err) == (130, b"", b"Interrupted.\n")


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""
