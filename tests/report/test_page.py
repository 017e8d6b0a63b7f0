"""Pages: what they say in short, how they are repeated, and the words they explain."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import omit
from omit.accuracy.card import why_sentences
from omit.accuracy.comparison import Comparison
from omit.report.files import svg
from omit.report.glossary import Words, entries
from omit.report.page import CARD, Made
from tests.conftest import Run
from tests.report.pages import PAGES

AGES = omit.read("adult", "age")
SAMPLE = "bound poisson --rate 0.1 --epsilon 1"


def _compared(*omissions: omit.Omission) -> Comparison:
    return omit.compare(AGES, omit.NoisyMean(), omit.Guarantee(1.0), *omissions)


def test_a_page_says_in_short_what_is_promised_lost_and_to_do() -> None:
    card = _compared(omit.PoissonSampling(0.1)).card
    assert card is not None
    assert card.promised.number == "ε = 1"
    assert "by a factor of at most 2.72." in card.promised.sentence, "e rounded up"
    assert card.lost.number == "× 60"
    assert "Use all records" in card.instead.sentence


def test_an_error_that_nobody_can_see_is_not_compared_with() -> None:
    median = omit.mechanisms.LatticeQuantile()
    found = omit.compare(AGES, median, omit.Guarantee(1.0), omit.PoissonSampling(0.5), runs=20)
    card = found.card
    assert card is not None
    assert "too small to be compared with" in card.lost.sentence
    assert card.lost.number.startswith("at most ")
    assert card.instead.number == "below 1e-09"
    assert list(found.figures()) == ["errors"]


def test_a_mechanism_without_a_guarantee_promises_nothing_on_its_page() -> None:
    mechanism = omit.mechanisms.SmoothQuantile(padding="none")
    target = omit.Guarantee(1.0, 5e-5, "replace")
    found = omit.compare(omit.read("lognormal"), mechanism, target, runs=20)
    assert found.card is not None
    assert found.card.promised.number == "nothing"


def test_the_noise_that_is_saved_and_the_records_missed_make_up_the_difference() -> None:
    found = _compared(omit.PoissonSampling(0.5))
    row = found.rows[1]
    assert found.rows[0].error is not None
    assert row.error is not None
    before, after = found.rows[0].error.parts, row.error.parts
    assert before is not None
    assert after is not None
    assert after.root_mean_square is not None
    assert before.root_mean_square is not None
    assert after.root_mean_square**2 - before.root_mean_square**2 == pytest.approx(
        after.omission**2 - (before.noise**2 - after.noise**2)
    )
    first, second = why_sentences(found, row)
    assert f"from {before.noise:.4g} % to {after.noise:.4g} %" in first
    assert f"missed cost {after.omission:.4g} %" in second


def test_the_python_of_a_page_repeats_its_numbers() -> None:
    found = _compared(omit.PoissonSampling(0.5), omit.OutlierScoreSuppression(m=0.1, M=0.3))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(found.python(), {})
    assert said.getvalue() == f"{found}\n"


def test_pages_of_one_question_without_a_date_are_equal(
    omit_command: Callable[[str], Run], tmp_path: Path
) -> None:
    pages = []
    for name in ("a.html", "b.html"):
        run = omit_command(f"{SAMPLE} --no-date --report {tmp_path / name}")
        assert run.out.endswith(f"Wrote {tmp_path / name}: open it in a browser.\n")
        pages.append((tmp_path / name).read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
    assert f"<code>omit {SAMPLE}</code>" in pages[0], "without where the answer went"
    assert "<dt>Date</dt>" not in pages[0]
    omit_command(f"{SAMPLE} --report {tmp_path / 'dated.html'}")
    assert "<dt>Date</dt>" in (tmp_path / "dated.html").read_text(encoding="utf-8")


def test_a_secret_seed_is_on_no_page(omit_command: Callable[[str], Run], tmp_path: Path) -> None:
    file = tmp_path / "answers.html"
    words = "partition answer adult --column age --query share:>=40 --seed 90125"
    assert omit_command(f"{words} --report {file}").code == 0
    assert "90125" not in file.read_text(encoding="utf-8")


def test_a_word_is_linked_where_it_comes_first_and_explained_once() -> None:
    page = _compared(omit.PoissonSampling(0.5)).page(Made())
    for anchor in set(re.findall(r'class="word" href="#([^"]+)"', page)):
        assert page.count(f'href="#{anchor}"') == 1
        assert page.count(f'id="{anchor}"') == 1
        assert page.index(f'href="#{anchor}"') < page.index(f'id="{anchor}"')


def test_what_words_mean_is_shown_without_the_markup_of_the_documentation() -> None:
    words = Words()
    words.mark(" ".join(entries()))
    assert {entry.names for entry in words.used} == {entry.names for entry in entries().values()}
    for entry in words.used:
        assert not re.search(r"[{}`$\\]|\]\(", entry.as_html), entry.names


def test_text_in_a_picture_stays_text_and_names_are_its_own() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().set_title("0.123456 & more")
    pictures = [svg(figure, title, "a description") for title in ("One", "Other")]
    assert "0.123456 &amp; more" in pictures[0], "no digit of a text is cut"
    names = [set(re.findall(r'\bid="([^"]+)"', picture)) for picture in pictures]
    assert not names[0] & names[1]
    assert set(re.findall(r'href="#([^"]+)"', pictures[0])) <= names[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_valid_html_and_needs_no_other_file(name: str) -> None:
    html5lib = pytest.importorskip("html5lib")
    page = PAGES[name]()
    html5lib.HTMLParser(strict=True).parse(page)
    names = re.findall(r'\sid="([^"]+)"', page)
    assert len(names) == len(set(names)), "a name twice"
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(names)
    assert not re.search(r"<(script|link|iframe)\b|@import|url\((?!#)", page)
    assert len(page) < 400_000


@pytest.mark.parametrize("name", ["curve", "curve-sample", "partition-answer", "bound-pair"])
def test_a_page_about_privacy_alone_begins_with_what_is_promised(name: str) -> None:
    page = PAGES[name]()
    card = page.partition('<div class="card">')[2].partition("<h2")[0]
    assert [title in card for title in CARD] == [True] * 3
    nothing = ">nothing<" in card
    assert nothing == (name in ("partition-answer", "bound-pair"))
