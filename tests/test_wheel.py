"""The wheel, in an empty environment, answers the first five minutes, and its types are checked."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.test_documented_commands import ROOT, SESSION

pytestmark = pytest.mark.campaign

# Nothing of this checkout is in reach.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, cwd=cwd)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of an environment with the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("empty")
    pip = (sys.executable, "-m", "pip", "--quiet")
    built = run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    installed = run(programs / "pip", "--quiet", "install", *folder.glob("omit-*.whl"))
    if built.returncode or installed.returncode:
        pytest.skip(f"pip cannot install here: {(built.stderr or installed.stderr)[-300:]}")
    return programs


def test_the_quickstart_is_true_of_an_installed_wheel(programs: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs" / "people.csv", tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    asked = SESSION.findall((ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8"))
    assert len(asked) >= 5
    for words, shown in asked:
        answer = run(programs / "omit", *words.split(), cwd=tmp_path)
        said = answer.stdout if answer.returncode == 0 else answer.stdout + answer.stderr
        assert doctest.OutputChecker().check_output(shown, said, flags), said


def test_classes_of_somebody_else_are_checked_strictly_against_the_wheel(
    programs: Path, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "tests" / "accuracy" / "own_classes.py", tmp_path)
    words = ("--strict", "--config-file=", f"--python-executable={programs / 'python'}")
    checked = run(sys.executable, "-m", "mypy", *words, "own_classes.py", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
