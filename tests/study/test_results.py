"""The table of results."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from omit.errors import InvalidInput
from omit.study.cell import Answer, Finished
from omit.study.results import Results, read_results
from omit.study.run import run_study
from omit.study.store import open_store
from tests.study.computations import powers, tosses


@pytest.fixture
def results(tmp_path: Path) -> Results:
    cells = (*powers.grid(base=[2, 3]), tosses.cell(tosses=10))
    return run_study(cells, tmp_path / "store", "process")


def test_a_cell_may_have_several_rows(results: Results) -> None:
    assert results.rows(powers.cell(base=3)) == (
        {"power": 0, "value": 1},
        {"power": 1, "value": 3},
        {"power": 2, "value": 9},
    )
    assert results.row(tosses.cell(tosses=10)).keys() == {"heads"}
    with pytest.raises(InvalidInput, match=r"Expected one row for powers: base=3, got 3"):
        results.row(powers.cell(base=3))
    with pytest.raises(InvalidInput, match="no results for powers: base=4"):
        results.rows(powers.cell(base=4))


def test_a_table_has_parameters_then_results_then_origin(results: Results) -> None:
    frame = results.to_frame()
    assert list(frame.columns) == [
        "base",
        "tosses",
        "power",
        "value",
        "heads",
        "computation",
        "version",
        "row",
        "identity",
    ]
    assert frame["value"].tolist()[:6] == [1, 2, 4, 1, 3, 9]
    assert frame["row"].tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert frame["identity"].nunique() == 3
    assert np.isnan(frame["value"].iloc[6])


def test_timings_have_a_line_per_cell(results: Results) -> None:
    timings = results.timings()
    assert timings["computation"].tolist() == ["powers", "powers", "tosses"]
    assert (timings["seconds"] >= 0).all()
    assert results.seconds(tosses.cell(tosses=10)) == timings["seconds"].iloc[2]


def test_a_table_is_written_as_csv_and_as_parquet(results: Results, tmp_path: Path) -> None:
    results.write(tmp_path / "table.csv")
    results.write(tmp_path / "table.parquet")
    csv = pd.read_csv(tmp_path / "table.csv")
    parquet = duckdb.read_parquet(str(tmp_path / "table.parquet")).df()
    assert csv["value"].tolist()[:6] == parquet["value"].tolist()[:6] == [1, 2, 4, 1, 3, 9]
    assert list(csv.columns) == list(parquet.columns)


def test_columns_of_several_kinds_are_written_as_text(tmp_path: Path) -> None:
    cells = tosses.grid(tosses=[1, "two", (3, 4), None, True])
    answers: list[dict[str, Answer]] = [
        {"answer": 0.1, "other": "a"},
        {"answer": "none"},
        {},
        {"answer": None},
        {},
    ]
    with open_store(tmp_path / "store") as opened:
        opened.append(
            [Finished(cell, (row,), 0.0) for cell, row in zip(cells, answers, strict=True)]
        )
    results = read_results(tmp_path / "store")
    results.write(tmp_path / "table.parquet")
    read = duckdb.read_parquet(str(tmp_path / "table.parquet")).fetchall()
    assert [line[0] for line in read] == ["1", '"two"', "[3, 4]", None, "true"]
    assert [line[1] for line in read] == ["0.1", '"none"', None, None, None]
    assert [line[2] for line in read] == ["a", None, None, None, None]


def test_a_table_that_cannot_be_written_is_a_sentence(results: Results, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"to end in \.csv or \.parquet"):
        results.write(tmp_path / "table.xlsx")
    (tmp_path / "file").touch()
    for name in ("table.csv", "table.parquet"):
        with pytest.raises(InvalidInput, match=r"Cannot write .* is not a folder"):
            results.write(tmp_path / "file" / name)
        with pytest.raises(InvalidInput, match=r"there is no folder .*new; make it first"):
            results.write(tmp_path / "new" / name)
    assert (tmp_path / "file").read_bytes() == b""


def test_a_store_is_read_without_its_study(results: Results, tmp_path: Path) -> None:
    everything = read_results(tmp_path / "store")
    assert len(everything) == len(results) == 3
    assert powers.cell(base=2) in everything
    assert len(read_results(tmp_path / "store", [powers.cell(base=2), powers.cell(base=9)])) == 1
    assert len(read_results(tmp_path / "no store")) == 0


def test_results_present_themselves(results: Results) -> None:
    assert results.verdict == "3 cells are stored."
    assert results.summary().splitlines()[:3] == [
        "Computation  Version  Cells  Rows  Time (s)",
        "powers             1      2     6       0.0",
        "tosses             1      1     1       0.0",
    ]
    assert [line["rows"] for line in results.to_json()["computations"]] == [6, 1]
    assert "<table" in results._repr_html_()
