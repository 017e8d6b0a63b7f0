"""Frames, series, arrays and lists of every library give the same numbers as a file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from omit import InvalidInput, read, read_points
from omit.data.column import Column
from omit.data.sources import open_table
from omit.data.tables import Bins, Steps, Values
from omit.data.values import MissingCodes
from omit.disclosure import tabulate
from tests.data.tables import refusal, require_same_survey, survey

RECORDS = {
    "age": [39, 25, None, 39, 130, -9],
    "wage": [0.1, 2.5, 2.5, None, 1e6, 7.0],
    "job": ["cook", " cook", None, "N", "nurse", ""],
    "member": [True, False, True, None, True, True],
    "code": ["1", "N", "2", " 2 ", "x7", "-9"],
}
PANDAS = pd.DataFrame(RECORDS).astype({"age": "Int64", "member": "boolean"})


def _dataset(folder: Path) -> Any:
    pq.write_table(pa.table(RECORDS), folder / "part.parquet")
    return ds.dataset(folder)


FRAMES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: PANDAS,
    "pandas objects": lambda _: pd.DataFrame(RECORDS, dtype=object),
    "polars": lambda _: pl.DataFrame(RECORDS),
    "polars lazy": lambda _: pl.LazyFrame(RECORDS),
    "arrow": lambda _: pa.table(RECORDS),
    "arrow batch": lambda _: pa.table(RECORDS).to_batches()[0],
    "arrow data set": _dataset,
    "dask": lambda _: dd.from_pandas(PANDAS, npartitions=2),  # type: ignore[no-untyped-call]
    "ibis": lambda _: ibis.memtable(pa.table(RECORDS)),
    "duckdb": lambda _: duckdb.from_arrow(pa.table(RECORDS)),
}


@pytest.fixture(params=FRAMES)
def frame(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return FRAMES[request.param](tmp_path)


def test_every_frame_gives_the_same_column(frame: Any) -> None:
    ages = read(frame, "age", bounds=(0, 125), missing=[-9])
    assert ages == Column.from_values([39, 25, None, 39, 130, None], (0, 125), name="age")
    assert ages.notes[1] == "age: 2 records without a value were left out."
    wages = read(frame, "wage", bounds=(0, 10))
    assert wages == Column.from_values(RECORDS["wage"], (0, 10), name="wage")


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        lambda frame: frame,
        lambda frame: pl.from_pandas(frame).lazy(),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda frame: dd.from_pandas(frame, npartitions=3),  # type: ignore[no-untyped-call]
    ],
    ids=["pandas", "polars lazy", "arrow", "dask"],
)
def test_a_survey_is_the_same_in_every_frame_to_the_last_digit(made: Callable[[Any], Any]) -> None:
    require_same_survey(made(survey()))


def test_every_frame_gives_the_same_texts(frame: Any) -> None:
    jobs = read(frame, "job", categories=(" cook", "cook", "nurse"), missing=["N"])
    assert (jobs.counts.tolist(), jobs.missing) == ([1, 1, 1], 3)
    table = tabulate(frame, ["job"], domains={"job": ["cook", "nurse"]}, missing=["N"])
    assert (table.counts.tolist(), table.left_out) == ([2, 1], 3)


def test_truth_values_stay_truth_values_and_are_never_a_code(frame: Any) -> None:
    members = read(frame, "member", bounds=(0, 1), missing=[1, 0])
    assert (members.values.tolist(), members.counts.tolist()) == ([0, 1], [1, 4])
    assert read(frame, "member", categories=(True, False)).modes == ("1",)
    points = read_points(frame, ["member"], bounds=(0, 1), missing=["1"])
    assert points.rows.ravel().tolist() == [1, 0, 1, 1, 1]


def test_every_frame_gives_the_same_points(frame: Any) -> None:
    points = read_points(frame, ["wage", "age"], bounds=[(0, 10), (0, 125)], missing=["-9"])
    assert points.rows.tolist() == [[0.1, 39], [2.5, 25], [10, 125]]
    assert (points.missing, points.clamped) == (3, 1)


def test_every_frame_gives_the_same_table(frame: Any) -> None:
    table = tabulate(
        frame,
        ["old", "w", "member"],
        derive=["old = age > 25", "w = bins(wage, 0, 1e6, 2)"],
        domains={"member": [False, True]},
        missing=[-9],
    )
    assert table.counts.tolist() == [[[1, 0], [0, 0]], [[0, 1], [0, 1]]]
    assert table.left_out == 3


def test_every_frame_groups_and_adds_up_in_bins(frame: Any) -> None:
    codes = MissingCodes.of([7])
    with open_table(frame) as table:
        groups = table.grouped([Steps(1, lower=0.5, width=1.0, count=3)], sums=[1], codes=codes)
        halves = table.grouped([Bins(1, (2.5,)), Values(1)], codes=codes)
    bins, unread = groups.keys[0], groups.unread[0]
    assert unread is not None
    present = ~np.isnan(bins)
    found = zip(bins[present], groups.counts[present], groups.sums[0][present], strict=True)
    assert sorted(found) == [(-1, 1, 0.1), (2, 2, 5.0), (3, 1, 1e6)]
    left = {str(value) for value in unread[~present]}
    assert left in ({"7.0", "nan"}, {"7.0", "None"})
    assert groups.sums[0][~present].tolist() == [0, 0]
    reached = dict(zip(halves.keys[1].astype(float), halves.keys[0].astype(float), strict=True))
    assert (reached[0.1], reached[2.5], reached[1e6]) == (0, 1, 1)


def test_numbers_written_as_text_are_read_and_others_named(frame: Any) -> None:
    said = refusal(frame, "code", bounds=(0, 9))
    assert "first 'N' (2 different values, 2 records); if it stands for no value" in said
    assert "give missing=['N'] (--missing-value 'N')" in said
    codes = read(frame, "code", bounds=(0, 9), missing=["N", "x7", -9.0])
    assert (codes.values.tolist(), codes.counts.tolist(), codes.missing) == ([1, 2], [1, 2], 3)
    two = tabulate(frame, ["two"], derive=["two = code == 2"], missing=["N", "x7"])
    assert (two.counts.tolist(), two.left_out) == ([2, 2], 2)
    with pytest.raises(InvalidInput, match="no number: N"):
        tabulate(frame, ["two"], derive=["two = code == 2"])


def test_a_column_that_is_not_there_is_named(frame: Any) -> None:
    assert "There is no column 'agee' in the" in refusal(frame, "agee", bounds=(0, 1))
    assert "only for a DuckDB database" in refusal(frame, "age", bounds=(0, 1), table="people")


@pytest.mark.parametrize(
    "values",
    [
        [39, 25, None, 39],
        (39, 25, None, 39),
        np.array([39, 25, np.nan, 39]),
        np.ma.array([39, 25, 0, 39], mask=[False, False, True, False]),
        pd.Series([39, 25, None, 39], name="x"),
        pl.Series([39, 25, None, 39]),
        pa.array([39, 25, None, 39]),
        pa.chunked_array([[39, 25], [None, 39]]),
        [Decimal(39), "25", float("nan"), 39.0],
    ],
    ids=lambda values: type(values).__name__,
)
def test_values_in_memory_are_read_like_any_table(values: Any) -> None:
    expected = Column.from_values([39, 25, None, 39], (0, 125), name="age")
    assert read(values, "age", bounds=(0, 125)) == expected
    assert read_points(values, bounds=(0, 125)).rows.ravel().tolist() == [39, 25, 39]


def test_rows_in_memory_are_tables() -> None:
    rows = [[1, 2.5], [3, None]]
    for table in (rows, np.array(rows, dtype=float), np.ma.masked_invalid(np.array(rows, float))):
        assert read(table, "x1", bounds=(0, 9)).values.tolist() == [1, 3]
        assert read_points(table, bounds=(0, 9)).rows.tolist() == [[1, 2.5]]
    people = np.array([(39, 40.0)], dtype=[("age", int), ("hours", float)])
    assert read(people, "hours", bounds=(0, 99)).values.tolist() == [40]
    assert "all of the same length" in refusal([[1], [2, 3]], bounds=(0, 9))


def test_a_frame_of_nested_values_or_bytes_is_refused_where_it_is_read() -> None:
    odd = {"x": [1], "list": [[1, 2]], "bytes": [b"12"]}
    for frame in (pl.DataFrame(odd), pd.DataFrame(odd), ibis.memtable(pa.table(odd))):
        assert read(frame, "x", bounds=(0, 9)).size == 1
        for name in ("list", "bytes"):
            assert refusal(frame, name, categories="from-data")


def test_an_error_of_the_library_is_one_sentence() -> None:
    broken = pl.LazyFrame({"x": ["a"]}).with_columns(pl.col("x").cast(pl.Int64, strict=True))
    assert refusal(broken, "x", bounds=(0, 1)).startswith("Cannot read the LazyFrame: ")


def test_reading_a_frame_loads_no_other_library() -> None:
    code = (
        "import sys, polars, omit\n"
        "lazy = polars.LazyFrame({'age': [39, 25, 39]})\n"
        "assert omit.read(lazy, 'age', bounds=(0, 125)).size == 3\n"
        "assert not {'pandas', 'pyarrow', 'dask', 'duckdb', 'ibis', 'pyspark'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_only_the_columns_that_are_asked_for_are_computed() -> None:
    def fails(_: pl.Series) -> pl.Series:
        raise AssertionError("this column was computed")

    lazy = pl.LazyFrame({"age": [39], "x": [1]}).with_columns(
        pl.col("x").map_batches(fails, return_dtype=pl.Int64)
    )
    assert read(lazy, "age", bounds=(0, 125)).size == 1
