"""Reading points from files, frames, databases and by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omit import InvalidInput, read_points
from omit.data.column import Column
from omit.data.datasets import dataset, datasets, kmedian_synthetic
from omit.data.reading import read
from tests.data import tables
from tests.data.tables import DATABASE, STRANGE, write

VALUES = st.none() | st.integers(-5, 5).map(float) | st.floats(-1e9, 1e9)


def refusal(source: Any, columns: Any = None, **declared: Any) -> str:
    return tables.refusal(source, columns, read_points, **declared)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(records=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=30))
def test_every_source_gives_the_complete_records_in_their_order(
    tmp_path: Path, records: list[tuple[float | None, float | None]]
) -> None:
    frame = pd.DataFrame(records, columns=["b", STRANGE], dtype=float)
    frame.insert(0, "other", "text")
    complete = [(a, b) for a, b in records if a is not None and b is not None]
    with tables.every_source(frame, tmp_path) as sources:
        for source in sources:
            if not complete:
                assert "no records" in refusal(source, [STRANGE, "b"], bounds=(0, 9))
                continue
            points = read_points(source, [STRANGE, "b"], bounds=[(-3, 3), (-1e9, 1e9)])
            wanted = np.array([[np.clip(second, -3, 3), first] for first, second in complete])
            np.testing.assert_array_equal(points.rows, wanted)
            assert points.columns == (STRANGE, "b")
            assert points.missing == len(records) - len(complete)
            assert points.clamped == sum(abs(second) > 3 for _, second in complete)


def test_where_the_points_came_from_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "people.csv", "age,hours\n39,40\n25,20\n")
    points = read_points(path, bounds=(0, 125))
    assert (points.name, points.source) == ("people", str(path))
    assert points.columns == ("age", "hours")  # all, if none are named
    frame = read_points(pd.DataFrame({"age": [39]}), bounds=(0, 125))
    assert (frame.name, frame.source) == ("points", "a pandas object")
    assert read_points(pd.Series([39], name="age"), bounds=(0, 125)).columns == ("age",)


def test_one_column_may_be_named_without_a_list(tmp_path: Path) -> None:
    path = write(tmp_path / "people.csv", "age,hours\n39,40\n")
    assert read_points(path, "hours", bounds=(0, 99)).rows.tolist() == [[40]]


def test_tables_of_databases_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x, 2 AS y")
        connection.execute("CREATE TABLE b AS SELECT 3 AS x, 4 AS y")
        assert read_points(connection, table="b", bounds=(0, 9)).rows.tolist() == [[3, 4]]
    assert read_points(path, table="a", bounds=(0, 9)).rows.tolist() == [[1, 2]]
    assert "choose a table" in refusal(path, bounds=(0, 9))


@pytest.mark.parametrize("kind", ["TINYINT", "HUGEINT", "FLOAT", "DECIMAL(5,2)", "VARCHAR"])
def test_every_kind_of_number_is_a_number(kind: str) -> None:
    table = DATABASE.sql(f"SELECT unnest([1, NULL, 2])::{kind} AS x, unnest([4, 5, 6]) AS y")
    points = read_points(table, bounds=(0, 9))
    assert points.rows.tolist() == [[1, 4], [2, 6]]
    assert points.missing == 1


def test_truth_values_are_zeros_and_ones() -> None:
    table = DATABASE.sql("SELECT unnest([true, false]) AS x")
    assert read_points(table, bounds=(0, 1)).rows.tolist() == [[1], [0]]


def test_empty_cells_of_a_text_file_are_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "x,y\n1,1\n,1\n1,NA\nNaN,1\n 2 ,3\n")
    points = read_points(path, bounds=(0, 9))
    assert points.rows.tolist() == [[1, 1], [2, 3]]
    assert points.missing == 3


def test_text_is_refused_with_the_name_of_its_column(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "age,job\n39,Sales\n25,Cook\n39,\n")
    for source in (path, pd.read_csv(path)):
        said = refusal(source, bounds=(0, 125))
        assert "Column 'job' holds text where numbers are needed, first 'Cook' (2 diff" in said
    dates = DATABASE.sql("SELECT 1 AS x, DATE '2020-01-01' AS day")
    assert "'day' holds text" in refusal(dates, bounds=(0, 1))


def test_infinities_are_refused_with_the_name_of_their_column(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "x,y\n1,inf\n2,inf\n")
    for source in (path, pd.DataFrame({"x": [1, 2], "y": [np.inf, np.inf]})):
        assert "'y' holds infinite numbers (2 records)" in refusal(source, bounds=(0, 9))


def test_bounds_are_asked_for_before_anything_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "x,y\n1,not even a number\n")
    assert "Column 'x' has no declared bounds" in refusal(path)
    assert "each of the 2 columns ('x', 'y'), got 1" in refusal(path, bounds=[(0, 1)])
    assert "Column 'x' has no declared bounds" in refusal(pd.DataFrame({"x": ["text"]}))


def test_columns_that_are_not_there_twice_or_none_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "age,hours\n1,2\n")
    assert "the nearest is 'age'" in refusal(path, ["agee"], bounds=(0, 9))
    assert "'age' twice" in refusal(path, ["age", "hours", "age"], bounds=(0, 9))
    assert "at least one column" in refusal(path, [], bounds=(0, 9))
    twice = pd.DataFrame([[1, 2]], columns=["x", "x"])
    assert "Several columns of the DataFrame are called 'x'" in refusal(twice, bounds=(0, 9))
    assert read_points([[1, 2]], bounds=(0, 9)).columns == ("x1", "x2")
    assert "no registered data set 'adlut'" in refusal("adlut")


def test_adults_points_are_its_six_numbers_with_the_papers_ranges() -> None:
    points = read_points("adult")
    assert points.columns == (
        *("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"),
    )
    assert points.bounds == (
        *((0, 125), (0, 2_227_058), (1, 16), (0, 149_999), (0, 6_534), (0, 100)),
    )
    assert (points.size, points.missing, points.clamped) == (32_561, 0, 0)
    assert (points.name, points.source, points.bounds_source) == ("adult", "adult", "registered")
    (note,) = points.notes
    assert note.startswith("adult: fnlwgt, capital-gain, capital-loss: the upper bound")
    assert "NOT private" in note


@pytest.mark.slow
def test_every_column_of_adults_points_is_the_column_that_read_gives() -> None:
    points = read_points("adult")
    for name, bounds, values in zip(points.columns, points.bounds, points.rows.T, strict=True):
        assert Column.from_values(values, bounds, name=name).counts.tolist() == (
            read("adult", name).counts.tolist()
        )


def test_declared_bounds_take_the_place_of_registered_ones() -> None:
    points = read_points("adult", ["fnlwgt", "hours-per-week"], bounds=[(0, 10**6), (0, 60)])
    assert (points.bounds_source, points.source) == ("declared", "adult")
    (note,) = points.notes  # and the registered remark goes with the registered bounds
    assert "outside its bounds and were clamped" in note


def test_the_marks_of_a_missing_value_of_a_registered_set_are_known() -> None:
    said = refusal("adult", ["age", "workclass"])
    assert "Column 'workclass' has no declared bounds" in said
    said = refusal("adult", ["age", "workclass"], bounds=(0, 1))
    assert (
        "'Federal-gov' (8 different values, 30,725 records)" in said
    )  # and not '?', which is 1,836


def test_a_set_without_columns_for_points_asks_for_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMIT_DATA", raising=False)
    assert "columns=... of the data set 'census'; with bounds there are 'FEDTAX', 'FICA'" in (
        refusal("census")
    )


def test_the_synthetic_points_are_made_by_the_papers_recipe() -> None:
    points = read_points("kmedian-synthetic")
    assert points.columns == ("x", "y")
    assert points.bounds == ((1, 100), (1, 100))
    assert (points.size, points.clamped, points.notes) == (100, 0, ())
    assert (points.rows == np.floor(points.rows)).all()
    # Around each centre 25 points; a mean of 25 is within 4.5 standard errors of its centre, which
    # has no coordinate beyond 10 and 90. (The seed is fixed: this holds or it does not.)
    centres = points.rows.reshape(4, 25, 2).mean(axis=1)
    assert (centres > 10 - 9).all()
    assert (centres < 90 + 9).all()
    spread = points.rows.reshape(4, 25, 2).std(axis=1, ddof=1)
    assert ((spread > 5) & (spread < 15)).all()


def test_the_synthetic_points_are_the_same_in_every_call_and_everywhere() -> None:
    first = kmedian_synthetic()
    assert first.equals(kmedian_synthetic())
    # The first centre and its first points, from PCG64's raw words by hand (mpmath's erfinv).
    assert first.head(4).to_numpy().tolist() == first_points_by_hand(4)


def first_points_by_hand(number: int) -> list[list[int]]:
    """Follow the recipe with Python's integers and mpmath instead of NumPy and SciPy."""
    import mpmath

    bits = np.random.PCG64(2026)

    def uniform() -> Any:
        return (mpmath.mpf(int(bits.random_raw()) >> 12) + mpmath.mpf(1) / 2) / 2**52

    centre = [10 + int(81 * uniform()) for _ in range(8)][:2]
    found: list[list[int]] = []
    while len(found) < number:
        normal = [mpmath.sqrt(2) * mpmath.erfinv(2 * uniform() - 1) for _ in range(2)]
        point = [int(mpmath.nint(c + 10 * z)) for c, z in zip(centre, normal, strict=True)]
        if all(1 <= coordinate <= 100 for coordinate in point):
            found.append(point)
    return found


def test_a_generated_set_is_read_like_any_other_and_has_no_file() -> None:
    column = read("kmedian-synthetic")
    assert (column.name, column.size, column.bounds_source) == ("x", 100, "registered")
    assert read("kmedian-synthetic", "y", bounds=(0, 200)).bounds == (0, 200)
    assert "the nearest" in refusal("kmedian-synthetic", ["xx"])
    with (
        pytest.raises(InvalidInput, match="is generated and has no file"),
        dataset("kmedian-synthetic").path(),
    ):
        pass


def test_registered_points_have_registered_bounds() -> None:
    for each in datasets():
        assert set(each.point_columns) <= set(each.bounds)


def test_reading_points_is_imported_without_duckdb_and_pandas() -> None:
    heavy = "{'duckdb', 'pandas'} & set(sys.modules)"
    code = f"import omit.data.reading, sys; assert not {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True)
