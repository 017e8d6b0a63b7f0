"""The folder of a reproduced paper."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from omit.errors import InvalidInput
from omit.papers import Claim, Computed, Exhibit, Finding, Paper, Reproduction, names, reproduce
from omit.papers import base as papers
from omit.papers import paper as paper_of
from omit.papers.claims import Judge, Standing, under_every_reading
from omit.study import Computation


def compute(
    parameters: Mapping[str, Any], prepared: object, rng: np.random.Generator
) -> dict[str, float]:
    if parameters["x"] < 0:
        raise ValueError("x is negative")
    return {"y": 1 / (1 + parameters["x"])}


HALVES = Computation("halves of a test", 1, compute)


def _draw(computed: Computed) -> Figure:
    figure = Figure()
    figure.subplots().plot([1, 2], [3, 4])
    return figure


def _rises(computed: Computed) -> Finding:
    return Finding("holds", "By 1.")


def _paper(*xs: int, add: int = 0) -> Paper:
    """Return a paper with a figure and a table of cells."""

    def numbers(computed: Computed) -> pd.DataFrame:
        return computed.frame(HALVES)[["x", "y"]] + add

    line = Exhibit(
        "figure-01",
        "Figure 1",
        "A line.",
        numbers,
        _draw,
        lambda settings: HALVES.grid(x=[1, 2]),
    )
    table = Exhibit(
        "table-01",
        "Table 1",
        "Numbers.",
        numbers,
        cells=lambda settings: HALVES.grid(x=[1, 2, *xs]),
    )
    claims = (
        Claim("Section 9", "All is well.", (), lambda computed: Finding("fails", "It is not.")),
        Claim("Figure 1", "Lines rise.", ("figure-01",), _rises),
        Claim("Table 1", "Numbers are small.", ("table-01",), _rises),
    )
    notes = lambda computed: ("It took 3 s.",)  # noqa: E731
    return Paper(
        "a-paper", "On <things>", "A. Author, 'On things', 2020", (line, table), claims, notes
    )


def _reproduced(*xs: int, add: int = 0) -> Reproduction:
    return reproduce(_paper(*xs, add=add), where="process")


def test_a_finding_has_one_of_four_standings() -> None:
    with pytest.raises(InvalidInput, match="one of: holds, holds in part"):
        Finding("perhaps", "A finding.")  # type: ignore[arg-type]


def test_every_exhibit_has_its_numbers_and_a_figure_has_its_picture(tmp_path: Path) -> None:
    found = _reproduced()
    found.write_report(tmp_path / "new")
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["figure-01.csv", "figure-01.svg", "index.html", "table-01.csv"]
    assert pd.read_csv(tmp_path / "new" / "table-01.csv")["y"].tolist() == [0.5, 1 / 3]
    assert found.numbers("table-01")["y"].tolist() == [0.5, 1 / 3]


def test_the_page_shows_pictures_tables_and_verdicts(tmp_path: Path) -> None:
    text = _reproduced().write_report(tmp_path).read_text(encoding="utf-8")
    assert "On &lt;things&gt;" in text
    assert '<img src="figure-01.svg"' in text
    assert 'class="number" data-head="y">0.333333</td>' in text
    assert "Of 3 claims, 2 hold, 1 fails." in text
    assert text.count("Lines rise.") == 2, "in the list of all claims and with its figure"
    assert "It took 3 s." in text


def test_a_result_has_its_claims_in_every_form() -> None:
    found = _reproduced()
    assert found.to_frame()["verdict"].tolist() == ["fails", "holds", "holds"]
    assert found.to_json()["claims"][0] == {
        "name": "section-9",
        "kind": "sentence",
        "source": "Section 9",
        "claim": "All is well.",
        "verdict": "fails",
        "evidence": "It is not.",
    }
    assert "All is well." in found.summary()
    assert found.plot().get_figure() is not None
    assert "Lines rise." in found._repr_html_()


def test_a_cell_that_fails_costs_its_exhibit_and_not_the_page(tmp_path: Path) -> None:
    found = _reproduced(-1)
    text = found.write_report(tmp_path).read_text(encoding="utf-8")
    assert "One cell could not be computed" in text
    assert "x is negative" in text
    assert (tmp_path / "figure-01.svg").exists()
    assert not (tmp_path / "table-01.csv").exists()
    standings = {each.claim.where: each.finding.standing for each in found.verdicts}
    assert standings == {"Section 9": "fails", "Figure 1": "holds", "Table 1": "not tested"}
    with pytest.raises(InvalidInput, match="could not be computed"):
        found.numbers("table-01")


def test_only_claims_about_what_is_shown_are_judged() -> None:
    found = reproduce(_paper(), tables=[1], where="process")
    assert [each.claim.where for each in found.verdicts] == ["Table 1"]
    with pytest.raises(InvalidInput, match="no figure 2 in a-paper, which has 1"):
        reproduce(_paper(), figures=[2])


def test_exhibits_are_chosen_by_name_too() -> None:
    found = reproduce(_paper(), exhibits=["table-01"], where="process")
    assert [each.claim.where for each in found.verdicts] == ["Table 1"]
    with pytest.raises(InvalidInput, match=r"no exhibit 'table-1' in a-paper; .*'table-01'"):
        reproduce(_paper(), exhibits=["table-1"])


@pytest.mark.parametrize(
    ("standings", "whole"),
    [
        (("holds", "holds"), "holds"),
        (("holds", "fails"), "holds in part"),
        (("fails", "fails"), "fails"),
        (("not tested", "not tested"), "not tested"),
        (("not tested", "holds"), "holds in part"),
        (("not tested", "fails"), "not tested"),
    ],
)
def test_an_ambiguous_claim_is_judged_under_every_reading(
    standings: tuple[Standing, ...], whole: str
) -> None:
    def judge(standing: Standing) -> Judge:
        return lambda computed: Finding(standing, "So.")

    readings = {f"reading {i}": judge(each) for i, each in enumerate(standings)}
    judged = under_every_reading(readings)
    claim = Claim("Section 1", "It may mean two things.", (), judged)
    found = claim.judged(_reproduced().computed)
    assert found is not None
    assert found.standing == whole
    assert [finding.standing for finding in found.readings.values()] == list(standings)


def test_readings_are_ranked_by_their_distance_to_the_print() -> None:
    def judge(distance: float | None) -> Judge:
        return lambda computed: Finding("holds", "So.", distance)

    distances = {"far": 0.5, "near": 0.1, "cannot be compared": None}
    readings = {name: judge(distance) for name, distance in distances.items()}
    claim = Claim("Section 1", "It may mean much.", (), under_every_reading(readings))
    paper = replace(_paper(), claims=(claim,))
    found = reproduce(paper, where="process")
    (verdict,) = found.verdicts
    assert [name for name, _ in verdict.readings] == ["near", "far", "cannot be compared"]
    assert "near (the nearest to the print)" in verdict.finding.evidence
    table = found.tables()[1]
    assert [row["distance"] for row in table.records()] == [0.1, 0.5, None]
    page = found.page()
    assert "<b>holds</b> with near (10.0% off the print): So." in page


def test_a_table_shows_numbers_in_line_and_words_for_what_is_no_number() -> None:
    frame = pd.DataFrame(
        {
            "count": [1_234_567, 8],
            "value": [1034.68, 1.66533e-15],
            "printed": ["0.1240", "194.24 ↓"],
            "holds": [True, False],
            "missing": [math.nan, 0.5],
        }
    )
    exhibit = Exhibit("table-01", "Table 1", "Numbers.", lambda computed: frame)
    paper = replace(_paper(), exhibits=(exhibit,), claims=())
    page = reproduce(paper, where="process").page()
    for number in ("1,234,567", "1,034.68", "1.67e-15", "0.1240", "194.24 ↓", "–", "0.5"):
        assert re.search(rf'class="number"[^>]*>{re.escape(number)}<', page), number
    for word in ("yes", "no"):
        assert re.search(rf'<td role="cell" data-head="holds">{word}<', page), word


def test_two_claims_of_one_paper_have_names_of_their_own() -> None:
    twice = Claim("Section 1", "One.", (), _rises), Claim("Section 1", "Two.", (), _rises)
    with pytest.raises(InvalidInput, match=r"names of their own.*'section-1'"):
        replace(_paper(), claims=twice)


def test_missing_data_cost_their_exhibits_and_claims_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMIT_DATA", raising=False)
    line, table = _paper().exhibits
    paper = replace(_paper(), exhibits=(line, replace(table, data=("census",))))
    with pytest.raises(InvalidInput, match="sdcMicro"):
        reproduce(paper, tables=[1], where="process")
    paper = replace(paper, exhibits=(replace(line, data=("adult",)), *paper.exhibits[1:]))
    found = reproduce(paper, where="process")
    assert found.numbers("figure-01")["y"].tolist() == [0.5, 1 / 3]
    standings = {each.claim.where: each.finding.standing for each in found.verdicts}
    assert standings == {"Section 9": "fails", "Figure 1": "holds", "Table 1": "not tested"}
    assert "Table 1: The data set 'census' is not part of the package" in found.notes[-1]
    assert "sdcMicro" in found.page()
    theorems = replace(line, name="theorems", data=())
    paper = replace(paper, exhibits=(theorems, paper.exhibits[1]))
    found = reproduce(paper, where="process")
    assert found.numbers("theorems")["x"].tolist() == [1, 2], "what needs no data is computed"


def test_papers_are_known_by_name_and_others_by_an_entry_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Entry:
        name = "a-paper"

        def load(self) -> Paper:
            return _paper()

    monkeypatch.setattr(papers, "entry_points", lambda group: [Entry()])
    assert names()[-1] == "a-paper"
    assert paper_of("a-paper").title == "On <things>"
    with pytest.raises(InvalidInput, match="the nearest is 'accuracy-gains'"):
        paper_of("accuracy-gain")


def test_a_second_reproduction_only_reads_what_the_first_has_stored(tmp_path: Path) -> None:
    first = reproduce(_paper(), where="process", store=tmp_path / "study")
    told: list[int] = []
    second = reproduce(
        _paper(),
        where="process",
        store=tmp_path / "study",
        progress=lambda now: told.append(now.stored_before),
    )
    assert told == [2]
    assert first.seconds == second.seconds


@pytest.mark.slow
def test_a_long_page_begins_with_its_contents(tmp_path: Path) -> None:
    paper = _paper()
    line = paper.exhibits[0]
    many = tuple(replace(line, name=f"figure-{n:02}", title=f"Figure {n}: x") for n in range(1, 20))
    long = reproduce(replace(paper, exhibits=many), where="process")
    text = long.write_report(tmp_path).read_text(encoding="utf-8")
    assert '<a href="#figure-19">Figure 19: x</a>' in text
    short = _reproduced().write_report(tmp_path).read_text(encoding="utf-8")
    assert "Contents" not in short


def test_figures_are_drawn_when_they_are_written(tmp_path: Path) -> None:
    drawn: list[int] = []
    done: list[int] = []

    def draw(computed: Computed) -> Figure:
        drawn.append(len(done))
        return _draw(computed)

    paper = _paper()
    later = tuple(replace(paper.exhibits[0], name=f"figure-{n:02}", draw=draw) for n in (1, 2))
    found = reproduce(replace(paper, exhibits=later), where="process")
    assert drawn == []
    found.write_report(tmp_path, advance=lambda: done.append(1))
    assert (drawn, len(done)) == ([0, 1], 2), "one after the other, and told after each"
    assert (tmp_path / "figure-02.svg").stat().st_size > 1000


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """Return the folder of a finished reproduction that also holds the results of a study."""
    folder = tmp_path / "paper"
    _reproduced().write_report(folder)
    (folder / "study").mkdir()
    (folder / "study" / "results.log").write_text("results")
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _broken(error: BaseException) -> Reproduction:
    """Return other numbers than before, and a last picture that cannot be written."""

    class Broken(Figure):
        def savefig(self, *_: object, **__: object) -> None:
            raise error

    paper = _paper(add=1)
    last = replace(paper.exhibits[0], name="figure-99", draw=lambda computed: Broken())
    return reproduce(replace(paper, exhibits=(*paper.exhibits, last)), where="process")


@pytest.mark.parametrize(
    ("error", "expected"),
    [(KeyboardInterrupt(), KeyboardInterrupt), (OSError(28, "No space left"), InvalidInput)],
)
def test_an_interruption_leaves_the_old_reproduction_whole(
    finished: Path, error: BaseException, expected: type[BaseException]
) -> None:
    before = _files(finished)
    with pytest.raises(expected):
        _broken(error).write_report(finished)
    assert _files(finished) == before
    assert {path.name for path in finished.iterdir()} == {
        "figure-01.csv",
        "figure-01.svg",
        "index.html",
        "study",
        "table-01.csv",
    }


def test_a_second_reproduction_takes_the_place_of_the_first_and_leaves_other_files(
    finished: Path,
) -> None:
    _reproduced(add=1).write_report(finished)
    assert "1.33333" in (finished / "index.html").read_text(encoding="utf-8")
    assert pd.read_csv(finished / "table-01.csv")["x"].tolist() == [2, 3]
    assert (finished / "study" / "results.log").read_text() == "results"


def test_a_page_never_stands_beside_files_of_another_run(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place = Path.replace

    def stop_at_the_table(self: Path, target: Path) -> Path:
        if target.name == "table-01.csv":
            raise KeyboardInterrupt
        return put_in_place(self, target)

    monkeypatch.setattr(Path, "replace", stop_at_the_table)
    other = _reproduced(add=1)
    with pytest.raises(KeyboardInterrupt):
        other.write_report(finished)
    assert pd.read_csv(finished / "figure-01.csv")["x"].tolist() == [2, 3], "the new one"
    assert pd.read_csv(finished / "table-01.csv")["x"].tolist() == [1, 2], "the old one"
    assert not (finished / "index.html").exists()
