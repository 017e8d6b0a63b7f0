"""Every command that the README and the documentation show prints what they show."""

from __future__ import annotations

import doctest
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import omit
from tests.conftest import Run

ROOT = Path(__file__).parent.parent
SESSION = re.compile(r"^\$ omit ([^\n]*)\n((?:(?!\$ |```)[^\n]*\n)+)", re.MULTILINE)
SLOW = ("best ", "compare adult --column age --weight", "disclose ")
EXAMPLES = [
    pytest.param(
        page.parent != ROOT,
        words,
        shown,
        id=f"{page.stem}: omit {words}",
        marks=[pytest.mark.slow] if words.startswith(SLOW) else [],
    )
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for words, shown in SESSION.findall(page.read_text(encoding="utf-8"))
]


def test_there_are_answers_on_the_first_screen_and_in_the_documentation() -> None:
    assert len(EXAMPLES) >= 5


def test_the_picture_of_the_readme_has_the_errors_that_are_computed_as_bars() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    bars = re.findall(r"^ *(\d+) %  (█+) ([\d.]+) %$", text, re.MULTILINE)
    ways = [omit.PoissonSampling(int(percent) / 100) for percent, _, _ in bars[1:]]
    ages = omit.read("adult", "age")
    rows = omit.compare(ages, omit.NoisyMean(), omit.Guarantee(1.0), *ways).rows
    errors = [row.error.value for row in rows if row.error is not None]
    assert [f"{error:.2g}" for error in errors] == [shown for _, _, shown in bars]
    longest = len(bars[-1][1])
    assert [len(bar) for _, bar, _ in bars] == [
        max(round(longest * error / errors[-1]), 1) for error in errors
    ]


@pytest.mark.parametrize(("in_docs", "words", "shown"), EXAMPLES)
def test_a_command_prints_what_the_page_shows(
    omit_command: Callable[[str], Run],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    in_docs: bool,
    words: str,
    shown: str,
) -> None:
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "people.csv", tmp_path / "docs")
    monkeypatch.chdir(tmp_path / "docs" if in_docs else tmp_path)
    run = omit_command(words)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    said = run.out if run.code == 0 else run.out + run.err  # without progress
    assert doctest.OutputChecker().check_output(shown, said, flags), run
