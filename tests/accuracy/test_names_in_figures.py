"""Names of columns, attributes and categories are shown as they are: a dollar is no formula."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from omit import Column, Guarantee, NoisyMean, PoissonSampling, compare
from omit.cli.main import main

NAME = r"$\frac{$ and $b$"
NAMES = (NAME, "$x$ $y$", "$z$ ${$", "$age$ ${$")


@pytest.fixture
def people(tmp_path: Path) -> str:
    draw = np.random.default_rng(1)
    rows = [",".join([*draw.choice([NAME, "$a$ ${$"], 3), str(i % 7)]) for i in range(80)]
    file = tmp_path / "people.csv"
    file.write_text("\n".join([",".join(NAMES), *rows, ""]))
    return str(file)


def test_a_comparison_can_be_drawn_whatever_the_column_is_called(tmp_path: Path) -> None:
    column = Column.from_counts([1, 2, 3], [100, 200, 50], bounds=(0, 5), name=NAME)
    axes = compare(column, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5)).plot()
    axes.get_figure().savefig(tmp_path / "x.svg")  # type: ignore[union-attr]
    assert NAME in axes.get_title()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        (
            *("figure", "gains", "--column", NAMES[3], "--bounds", "0", "9", "--statistic"),
            *("mean", "--rate", "0.5", "--epsilon", "1"),
        ),
        (
            *("disclose", "--attributes", ",".join(NAMES[:3]), "--group", NAMES[2]),
            *("--two-way", ",".join(NAMES[:2])),
            *(word for name in NAMES[:3] for word in ("--domain", f"{name}=from-data")),
        ),
    ],
    ids=["figure", "disclose"],
)
def test_reports_and_figures_take_such_names(
    people: str,
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([*words, people])
    assert (ended.value.code, capsys.readouterr().err) == (None, "")
