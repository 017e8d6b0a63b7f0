"""The folder of a reproduced paper."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from omit.papers.verdict import Paper, Verdict
from omit.report.reproduction import Exhibit, write_reproduction

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
