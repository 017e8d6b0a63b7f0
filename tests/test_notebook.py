"""Results show a table and a picture in a notebook, without any magic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

pytestmark = pytest.mark.slow

CELLS = """
import omit
ages = omit.read("adult", "age")
result = omit.compare(ages, omit.NoisyMean(), omit.Guarantee(1.0), omit.PoissonSampling(0.5))
result
---
result.plot()
---
omit.best(ages, omit.NoisyMean(), omit.Guarantee(1.0), [omit.PoissonSampling(0.5)])
---
table = omit.disclosure.tabulate("adult", ["sex", "income"])
omit.disclosure.assess(table, 1.0)
---
omit.statistical.property_curve(1000, 0.3, [0.0, 0.05, 0.1])
---
omit.statistical.property_curve(1000, 0.3, [0.0, 0.05, 0.1]).plot()
---
omit.statistical.plan(1024, 4, 0.05)
"""
PICTURES = {1, 5}


@pytest.fixture(scope="module")
def shown() -> list[Any]:
    """Return what the last line of every cell shows."""
    cells = [nbformat.v4.new_code_cell(text.strip()) for text in CELLS.split("---\n")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    results = [
        [output for output in cell.outputs if output.output_type == "execute_result"]
        for cell in notebook.cells
    ]
    assert [len(outputs) for outputs in results] == [1] * len(cells)
    return [outputs[0].data for outputs in results]


def test_results_show_themselves_as_tables(shown: list[Any]) -> None:
    for number, data in enumerate(shown):
        if number not in PICTURES:
            assert "<table" in data["text/html"]


def test_plots_show_themselves_as_pictures(shown: list[Any]) -> None:
    for number in PICTURES:
        assert "<svg" in shown[number]["image/svg+xml"]


def test_notebooks_of_the_documentation_are_kept_without_what_they_show() -> None:
    """It is made when the site is built, where a cell that fails is an error."""
    paths = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))
    assert len(paths) == 3
    for path in paths:
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") for cell in cells)
