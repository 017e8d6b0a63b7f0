"""The folder of a reproduced paper."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from omit.errors import InvalidInput
from omit.papers.reproduction import Exhibit, Paper, Verdict, write_reproduction

_PAPER = Paper("a-paper", "On <things>", "A. Author, 'On things', 2020")


def _exhibits() -> list[Exhibit]:
    figure = Figure()
    figure.subplots().plot([1, 2], [3, 4])
    table = pd.DataFrame({"x": [1, 2], "y": [0.5, 1 / 3]})
    verdict = Verdict("Lines rise.", "Figure 1", "holds", "By 1.")
    return [
        Exhibit("figure-01", "Figure 1", "A line.", table, figure, (verdict,)),
        Exhibit("table-01", "Table 1", "Numbers.", table),
    ]


def test_every_exhibit_has_its_numbers_and_a_figure_has_its_picture(tmp_path: Path) -> None:
    write_reproduction(tmp_path / "new", _PAPER, _exhibits())
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["figure-01.csv", "figure-01.svg", "index.html", "table-01.csv"]
    assert pd.read_csv(tmp_path / "new" / "table-01.csv")["y"].tolist() == [0.5, 1 / 3]


def test_the_page_shows_pictures_tables_and_verdicts(tmp_path: Path) -> None:
    wide = Verdict("All is well.", "Section 9", "does not hold", "It is not.")
    index = write_reproduction(tmp_path, _PAPER, _exhibits(), [wide], ["It took 3 s."])
    text = index.read_text(encoding="utf-8")
    assert "On &lt;things&gt;" in text
    assert '<img src="figure-01.svg"' in text
    assert '<td class="number">0.333333</td>' in text
    assert "does not hold" in text
    assert text.count("Lines rise.") == 2, "in the list of all verdicts and beside its figure"
    assert "It took 3 s." in text


def test_a_long_page_begins_with_its_contents(tmp_path: Path) -> None:
    line, told = _exhibits()
    many = [replace(line, name=f"figure-{n:02}", title=f"Figure {n}: x") for n in range(1, 20)]
    text = write_reproduction(tmp_path, _PAPER, many).read_text(encoding="utf-8")
    assert '<a href="#figure-19">Figure 19</a>' in text
    short = write_reproduction(tmp_path, _PAPER, [line, told]).read_text(encoding="utf-8")
    assert '<a href="#' not in short


def test_a_figure_may_be_drawn_when_it_is_written(tmp_path: Path) -> None:
    line, _ = _exhibits()
    drawn: list[int] = []
    done: list[int] = []

    def draw() -> Figure:
        drawn.append(len(done))
        figure = Figure()
        figure.subplots().plot([1, 2], [3, 4])
        return figure

    later = [replace(line, name=f"figure-{n:02}", figure=draw) for n in (1, 2)]
    write_reproduction(tmp_path, _PAPER, later, advance=lambda: done.append(1))
    assert (drawn, len(done)) == ([0, 1], 2), "one after the other, and told after each"
    assert (tmp_path / "figure-02.svg").stat().st_size > 1000


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """Return the folder of a finished reproduction that also holds the results of a study."""
    folder = tmp_path / "paper"
    write_reproduction(folder, _PAPER, _exhibits(), notes=["The first run."])
    (folder / "study").mkdir()
    (folder / "study" / "results.log").write_text("results")
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _broken_exhibits(error: BaseException) -> list[Exhibit]:
    """Return other numbers than before, and a last picture that cannot be written."""

    class Broken(Figure):
        def savefig(self, *_: object, **__: object) -> None:
            raise error

    first, second = _exhibits()
    other = replace(first, table=first.table + 1)
    return [other, second, Exhibit("figure-99", "Last", "", second.table, Broken())]


@pytest.mark.parametrize(
    ("error", "expected"),
    [(KeyboardInterrupt(), KeyboardInterrupt), (OSError(28, "No space left"), InvalidInput)],
)
def test_an_interruption_leaves_the_old_reproduction_whole(
    finished: Path, error: BaseException, expected: type[BaseException]
) -> None:
    before = _files(finished)
    with pytest.raises(expected):
        write_reproduction(finished, _PAPER, _broken_exhibits(error))
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
    other = [replace(each, table=each.table + 1) for each in _exhibits()]
    write_reproduction(finished, _PAPER, other, notes=["The second run."])
    assert "The second run." in (finished / "index.html").read_text(encoding="utf-8")
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
    other = [replace(each, table=each.table + 1) for each in _exhibits()]
    with pytest.raises(KeyboardInterrupt):
        write_reproduction(finished, _PAPER, other)
    assert pd.read_csv(finished / "figure-01.csv")["x"].tolist() == [2, 3], "the new one"
    assert pd.read_csv(finished / "table-01.csv")["x"].tolist() == [1, 2], "the old one"
    assert not (finished / "index.html").exists()
