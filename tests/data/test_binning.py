"""Continuous columns that are counted in bins where their records are."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import omit
from omit import Column, InvalidInput, read
from omit.data import binning
from omit.data.ranges import Ranges, bins_between

BOUNDS = (0.0, 1000.0)


def wages(records: int = 4000, seed: int = 0) -> np.ndarray:
    """Return wages with heaps at both bounds and at 250, and some outside the bounds."""
    rng = np.random.default_rng(seed)
    values = rng.gamma(2.0, 130.0, records)
    values[rng.random(records) < 0.1] = 0.0
    values[rng.random(records) < 0.05] = 250.0
    values[:7] = 1000.0
    values[7:10] = -3.5
    return values


def parquet(values: np.ndarray, folder: Path) -> Any:
    path = folder / "wages.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"wage": values}), path)
    return path


def csv(values: np.ndarray, folder: Path) -> Any:
    path = folder / "wages.csv"
    pandas.DataFrame({"wage": values}).to_csv(path, index=False)
    return path


SOURCES: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "parquet": parquet,
    "csv": csv,
    "pandas": lambda values, _: pandas.DataFrame({"wage": values}),
    "polars": lambda values, _: polars.DataFrame({"wage": values}),
    "lazy polars": lambda values, _: polars.LazyFrame({"wage": values}),
    "polars text": lambda values, _: polars.DataFrame({"wage": values}).cast(polars.String),
    "arrow": lambda values, _: pyarrow.table({"wage": values}),
    "arrow stream": lambda values, _: pyarrow.table({"wage": values}).to_reader(),
    "array": lambda values, _: values,
}


def require_same(one: Column, other: Column) -> None:
    """Hold two columns to each other; sums in another order differ in the last digits."""
    assert one.ranges == other.ranges
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-12)
    assert (one.clamped, one.missing, one.bounds) == (other.clamped, other.missing, other.bounds)


@pytest.mark.parametrize("kind", SOURCES)
def test_bins_are_the_same_wherever_the_records_are(kind: str, tmp_path: Path) -> None:
    values = wages()
    expected = Column.from_values(values, bounds=BOUNDS, name="wage").in_bins(50)
    read_in_bins = read(SOURCES[kind](values, tmp_path), "wage", bounds=BOUNDS, bins=50)
    require_same(read_in_bins, expected)
    assert read_in_bins.mean == pytest.approx(np.clip(values, *BOUNDS).mean(), rel=1e-13)
    truth = read_in_bins.before_clamping
    assert truth.mean == pytest.approx(values.mean(), rel=1e-13)
    assert truth.bounds is not None
    np.testing.assert_allclose(truth.bounds, [-3.5, values[values > 1000].mean()])


def test_dask_frames_are_binned_in_dask() -> None:
    dask = pytest.importorskip("dask.dataframe")
    values = wages()
    frame = dask.from_pandas(pandas.DataFrame({"wage": values}), npartitions=3)
    require_same(
        read(frame, "wage", bounds=BOUNDS, bins=50),
        Column.from_values(values, bounds=BOUNDS, name="wage").in_bins(50),
    )


def test_a_bin_knows_the_records_at_its_ends_and_bounds_are_bins_of_their_own() -> None:
    column = read([0, 0, 3, 9, 40, 100, 250, 1000, 1001], "x", bounds=BOUNDS, bins=10)
    assert column.ranges == Ranges(
        10, np.array([0.0, 3.0, 100.0, 250.0, 1000.0]), np.array([0.0, 40.0, 100.0, 250.0, 1000.0])
    )
    np.testing.assert_array_equal(column.counts, [2, 3, 1, 1, 2])
    assert column.values[1] == pytest.approx(52 / 3)
    assert "10 bins of width 100" in " ".join(column.notes)


def test_columns_of_very_many_values_are_binned_by_themselves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(binning, "MOST_VALUES", 300)
    values = wages()
    whole = read(pandas.DataFrame({"wage": values.round()}), bounds=BOUNDS, bins=0)
    assert not whole.is_binned
    expected = Column.from_values(values, bounds=BOUNDS, name="wage").in_bins(2**14)
    for looked_at in (400, 1000, 100_000):  # some of the records are enough to tell, or are all
        monkeypatch.setattr(binning, "_LOOKED_AT", looked_at)
        for kind in ("parquet", "polars", "arrow stream"):
            require_same(read(SOURCES[kind](values, tmp_path), "wage", bounds=BOUNDS), expected)
    assert not read(values, "wage", bounds=BOUNDS, bins=0).is_binned
    assert not read(values.round(-1), "wage", bounds=BOUNDS).is_binned
    assert not read(values, "wage", bounds=BOUNDS, step=1).is_binned


def test_missing_codes_and_texts_are_told_from_numbers_in_bins(tmp_path: Path) -> None:
    path = tmp_path / "wages.csv"
    path.write_text("wage\n12.5\n\nN\n-9\n 13 \nNA\n900\n")
    column = read(path, "wage", bounds=BOUNDS, bins=10, missing=["N", -9])
    assert (column.size, column.missing, column.clamped) == (3, 4, 0)
    with pytest.raises(InvalidInput, match="first 'N'"):
        read(path, "wage", bounds=BOUNDS, bins=10)
    numbers = pyarrow.table({"wage": [12.5, None, np.nan, -9.0, 13.0, 900.0, None]})
    again = read(numbers, "wage", bounds=BOUNDS, bins=10, missing=["N", -9])
    assert (again.missing, again.counts.tolist()) == (4, column.counts.tolist())
    frame = pandas.DataFrame({"wage": [1.0, np.inf]})
    for endless in (frame, pyarrow.Table.from_pandas(frame)):
        with pytest.raises(InvalidInput, match="infinite"):
            read(endless, "wage", bounds=BOUNDS, bins=10)
    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.5)").fetchall()
    moving = connection.sql("SELECT CASE WHEN random() < 0.5 THEN 1.0 END AS w FROM range(99)")
    with pytest.raises(InvalidInput, match="changed meanwhile"):
        read(moving, "w", bounds=BOUNDS, bins=10)
    with pytest.raises(InvalidInput, match="no records"):
        read(pandas.DataFrame({"wage": [np.nan]}), "wage", bounds=BOUNDS, bins=10)


def test_bounds_from_the_data_are_found_before_the_bins() -> None:
    values = wages()
    column = read(pandas.DataFrame({"wage": values}), bounds="from-data", bins=20)
    assert column.bounds == (-3.5, values.max())
    assert column.bounds_source == "from-data"
    assert column.clamped == 0


def test_parts_in_bins_add_up_to_the_whole() -> None:
    first, second = wages(seed=1), wages(3000, seed=2)
    parts = [read(part, "wage", bounds=BOUNDS, bins=50) for part in (first, second)]
    whole = read(np.concatenate([first, second]), "wage", bounds=BOUNDS, bins=50)
    require_same(sum(parts), whole)  # type: ignore[arg-type]
    # A part with few values need not be in bins.
    require_same(parts[0] + Column.from_values(second, bounds=BOUNDS, name="wage"), whole)
    with pytest.raises(InvalidInput, match="equally many bins, got 50 and 60"):
        parts[0] + read(second, "wage", bounds=BOUNDS, bins=60)
    with pytest.raises(InvalidInput, match="50 bins already"):
        whole.in_bins(60)
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert hash(whole) == hash(whole.in_bins(50))


def test_what_cannot_be_binned_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at most"):
        read([1.0], "x", bounds=BOUNDS, bins=2**21)
    with pytest.raises(InvalidInput, match="leave out bins"):
        read([1.0], "x", bounds=BOUNDS, bins=10, step=1)
    with pytest.raises(InvalidInput, match="is text"):
        read(["a"], "x", categories=["a"], bins=10)
    with pytest.raises(InvalidInput, match="no bins of a column with weights"):
        read("adult", "age", weight="fnlwgt", weight_bounds=(0, 5e5), bins=10)  # type: ignore[call-overload]  # as meant
    with pytest.raises(InvalidInput, match="too far from 0"):
        bins_between((1e15, 1e15 + 2), 1000)
    with pytest.raises(InvalidInput, match="do not overlap"):
        Ranges(2, np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    with pytest.raises(InvalidInput, match="between the ends"):
        Column(
            "x",
            np.array([5.0]),
            np.array([1]),
            BOUNDS,
            ranges=Ranges(2, np.array([0.0]), np.array([1.0])),
        )


def test_bounds_that_are_one_point_are_one_bin() -> None:
    column = read([5.0, 7.0, 5.0, 1.0], "x", bounds=(5, 5), bins=4)
    assert (column.values.tolist(), column.counts.tolist(), column.clamped) == ([5.0], [4], 2)


@pytest.mark.slow
def test_an_error_of_a_file_in_bins_is_that_of_its_records(tmp_path: Path) -> None:
    values = wages()
    asked = omit.NoisyMean(), omit.Guarantee(1.0), omit.PoissonSampling(0.3)
    exact = omit.expected_error(Column.from_values(values, bounds=BOUNDS), *asked)
    column = read(parquet(values, tmp_path), "wage", bounds=BOUNDS, bins=200)
    binned = omit.expected_error(column, *asked)
    assert binned.low <= exact.value <= binned.high
    assert binned.high - binned.low < 1e-4 * exact.value


def test_relations_of_an_open_connection_are_binned_by_it() -> None:
    connection = duckdb.connect()
    connection.register("wages", pyarrow.table({"wage": wages()}))
    column = read(connection.sql("SELECT wage FROM wages"), bounds=BOUNDS, bins=50)
    require_same(column, Column.from_values(wages(), bounds=BOUNDS, name="wage").in_bins(50))
