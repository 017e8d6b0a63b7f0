"""A result describes its numbers once, and every form shows the same."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omit.errors import InvalidInput
from omit.report.result import CURATOR, PUBLIC, Drawing, Field, Result, Table, envelope

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Losses(Result):
    command = "losses"

    @property
    def verdict(self) -> str:
        return "a < b & c."

    @property
    def notes(self) -> tuple[str, ...]:
        return ("Nothing <else>.",)

    def tables(self) -> Sequence[Table]:
        fields = (
            Field("ε", "epsilon", "{:.2f}".format, numeric=True),
            Field("50 % of", "source"),
        )
        return [Table("losses", "Losses_1", fields, ((0.123, "a"), (math.inf, "<b>"), (None, "")))]

    def figures(self) -> Mapping[str, Drawing]:
        def line(axes: Axes) -> None:
            axes.plot([0, 1], [0, 1], label="loss")

        return {"a line": line}


class Bare(Losses):
    warning = None

    def figures(self) -> Mapping[str, Drawing]:
        return {}


def test_every_form_has_the_same_numbers() -> None:
    result = Losses()
    assert "0.12" in result.summary()
    assert "0.12" in result._repr_html_()
    assert "0.12" in result.to_latex()
    assert result.to_frame()["epsilon"].tolist()[0] == 0.123
    assert result.to_json()["losses"][0] == {"epsilon": 0.123, "source": "a"}


def test_what_is_infinite_is_null_in_json() -> None:
    text = json.dumps(envelope(Losses(), parameters={"n": 1}, seed=None), allow_nan=False)
    content = json.loads(text)
    assert list(content) == ["command", "version", "parameters", "seed", "result"]
    assert content["result"]["losses"][1]["epsilon"] is None


def test_texts_are_escaped_in_html_and_latex() -> None:
    result = Losses()
    html = result._repr_html_()
    assert "a &lt; b &amp; c." in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html.replace("<b>Losses_1</b>", "")
    latex = result.to_latex(["source"])
    assert r"50 \% of \\" in latex
    assert r"\begin{tabular}{l}" in latex


def test_an_unknown_column_of_a_table_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"There is no column 'eps'; the nearest is 'epsilon'\."):
        Losses().to_latex(["eps"])


def test_numbers_from_confidential_data_carry_their_warning_in_every_form(tmp_path: Path) -> None:
    page = Losses().write_report(tmp_path / "report.html").read_text(encoding="utf-8")
    for form in (Losses().summary(), Losses()._repr_html_(), page):
        assert CURATOR.replace("'", "&#39;") in form or CURATOR in form
    assert CURATOR not in Bare().summary()


def test_public_data_need_no_red_box(tmp_path: Path) -> None:
    shown = Losses().declared_public()
    page = shown.write_report(tmp_path / "report.html").read_text(encoding="utf-8")
    for form in (shown.summary(), shown._repr_html_(), page):
        assert PUBLIC.replace("'", "&#39;") in form or PUBLIC in form
        assert CURATOR not in form.replace("&#39;", "'")
        assert '<p class="warning"' not in form
    assert Bare().declared_public().caution is None


@pytest.mark.parametrize(
    ("result", "mode"),
    [(Losses(), 0o600), (Losses().declared_public(), 0o644), (Bare(), 0o644)],
    ids=["confidential", "public", "of no data"],
)
def test_only_the_owner_reads_a_report_of_confidential_data(
    tmp_path: Path, result: Result, mode: int
) -> None:
    file = tmp_path / "report.html"
    file.write_text("older")
    file.chmod(0o666)
    before = os.umask(0o022)
    try:
        result.write_report(file)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_report_in_a_folder_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no folder .*typo; make it first"):
        Losses().write_report(tmp_path / "typo" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_one_file_with_its_figures(tmp_path: Path) -> None:
    page = Losses().write_report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert "a line" in page
    assert "src=" not in page


def test_a_plot_shows_itself_in_a_notebook_unless_axes_are_given() -> None:
    from matplotlib.figure import Figure

    own = Losses().plot()
    assert own._repr_svg_().startswith("<svg")  # type: ignore[attr-defined]
    given = Figure().subplots()
    assert Losses().plot(given) is given
    assert len(given.lines) == 1


def test_a_result_without_figures_says_so() -> None:
    with pytest.raises(InvalidInput, match="has no figure"):
        Bare().plot()
