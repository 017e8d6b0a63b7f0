"""`omit figure`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

Omit = Callable[[str], Run]
BEGINNINGS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.mark.slow
@pytest.mark.parametrize("ending", BEGINNINGS)
def test_the_privacy_figure_is_written_in_every_format(
    omit_command: Omit, tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"privacy.{ending}"
    assert omit_command(f"figure privacy --epsilon 1 --output {file}").code == 0
    assert file.read_bytes().startswith(BEGINNINGS[ending])
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    "words",
    [
        *("--output privacy.gif", "--output privacy", f"--output {'x' * 300}.svg"),
        *("--epsilon -1", "--epsilon nan", "--epsilon 1e16", "--epsilon 1 " * 21),
        *("--width 0.5", "--width nan"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(
    omit_command: Omit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = omit_command(f"figure privacy {words}")
    assert run.code == 2
    assert run.err.startswith("Error: ")
    assert not list(tmp_path.iterdir())


def test_a_file_where_a_folder_should_be_keeps_its_content(
    omit_command: Omit, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("mine")
    run = omit_command(f"figure privacy --epsilon 1 --output {tmp_path}/taken/privacy.svg")
    assert run.code == 2
    assert "Cannot write" in run.err
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.parametrize(
    "words",
    ["figure privacy --epsilon 1", "curve sum --n 10 --values 0:0.5,1:0.5"],
)
def test_a_width_in_inches_that_no_page_has_is_refused_before_anything_is_said(
    omit_command: Omit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = omit_command(f"{words} --width 0.5")
    assert (run.code, run.out, list(tmp_path.iterdir())) == (2, "", [])
    assert "Expected --width 0.5 of 2 to 20 inches" in run.err


@pytest.mark.slow
def test_a_width_in_which_panels_would_meet_is_refused_and_a_single_one_fits_a_column(
    omit_command: Omit, tmp_path: Path
) -> None:
    output = tmp_path / "privacy.pdf"
    run = omit_command(f"figure privacy --output {output} --width 3.3")
    assert run.code == 2
    assert "Expected --width 3.3 to be at least 5.4 inches" in run.err
    assert not output.exists()
    assert omit_command(f"figure privacy --epsilon 1 --output {output} --width 3.3").code == 0
    assert output.stat().st_size > 1000


def test_any_omission_is_drawn_by_its_short_form(omit_command: Omit, tmp_path: Path) -> None:
    file = tmp_path / "some.svg"
    words = f"figure privacy --omit by-value:0=0.2,otherwise=0.7 --epsilon 1 --output {file}"
    assert omit_command(words).code == 0
    assert file.read_bytes().startswith(BEGINNINGS["svg"])
    refused = omit_command(f"figure privacy --omit outlier-top:0.05 --output {file}")
    assert refused.code == 2
    assert "leaves no guarantee" in refused.err
