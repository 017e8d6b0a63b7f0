"""Results show a table and a picture in a notebook, without any magic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import omit

formatters = pytest.importorskip("IPython.core.formatters")


@pytest.fixture(scope="module")
def comparison() -> omit.Comparison:
    ages = omit.read("adult", "age")
    return omit.compare(ages, omit.NoisyMean(), omit.Guarantee(1.0), omit.PoissonSampling(0.5))


def shown(value: object) -> dict[str, Any]:
    """Return what a notebook gets of the last line of a cell."""
    return dict(formatters.DisplayFormatter().format(value)[0])


def test_results_show_themselves_as_tables(comparison: omit.Comparison) -> None:
    table = omit.disclosure.tabulate("adult", ["sex", "income"])
    curve = omit.statistical.property_curve(1000, 0.3, [0.0, 0.05, 0.1])
    plan = omit.statistical.plan(1024, 4, 0.05)
    for result in (comparison, omit.disclosure.assess(table, 1.0), curve, plan):
        assert "<table" in shown(result)["text/html"]


def test_plots_show_themselves_as_pictures(comparison: omit.Comparison) -> None:
    assert "<svg" in shown(comparison.plot())["image/svg+xml"]


def test_notebooks_of_the_documentation_are_kept_without_what_they_show() -> None:
    """It is made when the site is built, where a cell that fails is an error."""
    paths = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))
    assert len(paths) == 3
    for path in paths:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells)
