"""Reading columns from files, frames and databases."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omit.data.column import Column
from omit.data.reading import read
from tests.data.tables import DATABASE, PEOPLE, STRANGE, every_source, refusal, write


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    numbers=st.lists(
        st.none()
        | st.integers(-20, 20).map(float)
        | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9),
        min_size=1,
        max_size=40,
    ),
    ends=st.tuples(st.floats(-30, 30), st.floats(-30, 30)),
)
def test_every_source_gives_numpys_own_unique_counts_after_clamping(
    tmp_path: Path, numbers: list[float | None], ends: tuple[float, float]
) -> None:
    lower, upper = sorted(ends)
    frame = pd.DataFrame({"other": range(len(numbers)), STRANGE: pd.Series(numbers, dtype=float)})
    present = np.array([number for number in numbers if number is not None])
    outside = (present < lower) | (present > upper)
    frame[[STRANGE]].to_csv(tmp_path / "single.csv", index=False)
    with every_source(frame, tmp_path) as tables:
        sources = [*tables, frame[STRANGE], tmp_path / "single.csv"]
        if not len(present):
            for source in sources:
                assert "no records" in refusal(source, STRANGE, bounds=(lower, upper))
            return
        values, counts = np.unique(np.clip(present, lower, upper) + 0.0, return_counts=True)
        for source in sources:
            column = read(source, STRANGE, bounds=(lower, upper))
            np.testing.assert_array_equal(column.values, values)
            np.testing.assert_array_equal(column.counts, counts)
            assert column.clamped == outside.sum()
            assert column.missing == len(numbers) - len(present)
            assert column.name == STRANGE


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    words=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1
    )
)
def test_text_comes_back_as_it_was_written(tmp_path: Path, words: list[str]) -> None:
    expected = [word for word in words if word.strip()]
    if not expected:
        return
    frame = pd.DataFrame({"id": 0, "word": words})
    frame.to_csv(tmp_path / "table.csv", index=False, lineterminator="\n")
    DATABASE.from_df(frame).write_parquet(str(tmp_path / "table.parquet"))
    wanted = Column.from_values(expected, categories="from-data", name="word")
    for source in (frame, tmp_path / "table.parquet"):
        column = read(source, "word", categories="from-data")
        assert column.categories == wanted.categories
        assert column.counts.tolist() == wanted.counts.tolist()
    if not any("\r" in word for word in words):  # pandas leaves a lone carriage return unquoted
        assert read(tmp_path / "table.csv", "word", categories="from-data") == column


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("unix.csv", PEOPLE),
        ("windows.csv", PEOPLE.replace("\n", "\r\n")),
        ("mac.csv", PEOPLE.replace("\n", "\r")),
        ("bom.csv", "\N{BOM}" + PEOPLE),
        ("bom-windows.csv", "\N{BOM}" + PEOPLE.replace("\n", "\r\n")),
        ("no-last-line-end.csv", PEOPLE[:-1]),
        ("semicolons.csv", PEOPLE.replace(",", ";")),
        ("bars.csv", PEOPLE.replace(",", "|")),
        ("tabs.tsv", PEOPLE.replace(",", "\t")),
        ("UPPER.CSV", PEOPLE),
        ("small.csv.gz", gzip.compress(PEOPLE.encode(), mtime=0)),
        ("it's [1]* odd?.csv", PEOPLE),
        ("quoted.csv", '"age","sex","job"\n"39","Male","a ""b"", c"\n25,F,"two\nlines"\n39,F,x\n'),
    ],
)
def test_csv_files_of_all_habits_hold_the_same_column(
    tmp_path: Path, file: str, content: str | bytes
) -> None:
    ages = read(write(tmp_path / file, content), "age", bounds=(0, 125))
    assert ages == Column.from_values([39, 25, 39], bounds=(0, 125), name="age")
    assert ages.source.endswith(file)


def test_a_file_name_is_no_pattern(tmp_path: Path) -> None:
    write(tmp_path / "b.csv", "age\n1\n")
    assert read(write(tmp_path / "[ab].csv", "age\n2\n"), bounds=(0, 9)).mean == 2


def test_folders_that_look_like_partitions_add_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "year=2019"
    folder.mkdir()
    DATABASE.sql("SELECT 39 AS age").write_parquet(str(folder / "people.parquet"))
    assert "'year'" not in refusal(folder / "people.parquet", "sex", bounds=(0, 125))


def test_columns_that_differ_only_in_case_are_two_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,A\n1,2\n")
    frame = pd.DataFrame({"a": [1], "A": [2]})
    for source in (path, frame):
        assert read(source, "a", bounds=(0, 9)).mean == 1
        assert read(source, "A", bounds=(0, 9)).mean == 2


def test_column_names_that_duckdb_uses_itself_are_ordinary(tmp_path: Path) -> None:
    frame = pd.DataFrame({"value": [1, 2], "records": [3, 3], "c0": [5, 6]})
    DATABASE.from_df(frame).write_parquet(str(tmp_path / "x.parquet"))
    for source in (tmp_path / "x.parquet", DATABASE.from_df(frame)):
        assert [read(source, name, bounds=(0, 9)).mean for name in frame] == [1.5, 3, 5.5]


@pytest.mark.parametrize(
    "kind",
    [
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
        *("FLOAT", "DOUBLE", "DECIMAL(5,2)", "DECIMAL(38,10)", "VARCHAR"),
    ],
)
def test_every_kind_of_number_is_a_number(tmp_path: Path, kind: str) -> None:
    table = DATABASE.sql(f"SELECT unnest([1, 2, 2, NULL])::{kind} AS x")
    table.write_parquet(str(tmp_path / "x.parquet"))
    for source in (table, tmp_path / "x.parquet"):
        column = read(source, "x", bounds=(0, 3))
        assert column == Column.from_values([1, 2, 2, None], bounds=(0, 3), name="x")


def test_not_a_number_is_a_missing_number() -> None:
    table = DATABASE.sql("SELECT unnest(['1', 'nan', NULL])::DOUBLE AS x")
    assert read(table, bounds=(0, 3)).missing == 2


def test_truth_values_of_a_database_are_zeros_and_ones() -> None:
    assert read(DATABASE.sql("SELECT unnest([true, false]) AS x"), bounds=(0, 1)).mean == 0.5


def test_dates_have_a_mode_and_no_mean() -> None:
    table = DATABASE.sql("SELECT unnest([DATE '2020-01-01', DATE '2020-01-02']) AS day")
    assert "first '2020-01-01' (2 different values, 2 records)" in refusal(table, bounds=(0, 1))
    column = read(table, categories=("2020-01-01", "2020-01-02", "2020-01-03"))
    assert column.modes == ("2020-01-01", "2020-01-02")


def test_a_code_can_be_a_category(people: Path) -> None:
    codes = pd.DataFrame({"code": [1, 2, 2, None]})
    for source in (codes, DATABASE.from_df(codes)):
        column = read(source, "code", categories=("2", "1"))
        assert column.domain()[1].tolist() == [2, 1]
        assert column.missing == 1
    assert read(people, "age", categories=("25", "39")).modes == ("39",)


def test_empty_cells_are_missing_and_na_is_a_text_among_texts(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", 'x,y\n1,NA\n,""\n"",\nNaN,a\nnull,a\nN/A, \n 2 ,a\n')
    assert read(path, "x", bounds=(0, 3)).missing == 5
    text = read(path, "y", categories=("NA", "a"))
    assert (text.modes, text.missing) == (("a",), 3)


def test_the_only_column_needs_no_name(tmp_path: Path) -> None:
    assert read(write(tmp_path / "x.csv", "age\n39\n"), bounds=(0, 125)).name == "age"


def test_temporary_tables_of_an_open_connection_are_seen() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TEMP TABLE people AS SELECT 39 AS age")
        assert read(connection, "age", bounds=(0, 125)).mean == 39
        connection.register("frame", pd.DataFrame({"age": [40]}))
        assert read(connection, "age", table="frame", bounds=(0, 125)).mean == 40


@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB 1 drops an unfinished result itself.")
def test_a_result_that_someone_still_wants_to_fetch_is_left_alone() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT 39 AS age")
        connection.execute("SELECT 7")
        assert "unfinished result" in refusal(connection, "age", bounds=(0, 125))
        assert connection.fetchall() == [(7,)]
        assert read(connection, "age", bounds=(0, 125)).mean == 39


def test_tables_are_found_by_name_with_and_without_schema(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE SCHEMA s; CREATE TABLE s."a""b; drop" AS SELECT 1 AS x')
        connection.execute("CREATE TABLE main.people AS SELECT 2 AS x")
        connection.execute("CREATE VIEW adults AS SELECT 3 AS x")
    assert read(path, table=f"s.{STRANGE}", bounds=(0, 9)).mean == 1
    assert read(path, table="people", bounds=(0, 9)).mean == 2
    assert read(str(path), table="adults", bounds=(0, 9)).mean == 3
    assert "choose a table" in refusal(path, bounds=(0, 9))
    assert "the nearest is 'people'" in refusal(path, table="peeple", bounds=(0, 9))
    assert not list(tmp_path.glob("*.tmp"))


def test_five_million_rows_are_reduced_by_duckdb_and_not_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "many.parquet"
    DATABASE.sql("SELECT range % 100 AS age FROM range(5_000_000)").write_parquet(str(path))
    started = time.perf_counter()
    column = read(path, "age", bounds=(0, 49))
    # Ten times what it takes; a loop over rows takes longer by far. Ratios are in benchmarks/.
    assert time.perf_counter() - started < 2
    assert column.size == 5_000_000
    assert column.counts.tolist() == [50_000] * 49 + [2_550_000]
    assert column.clamped == 2_500_000


def test_reading_is_imported_without_duckdb_and_pandas() -> None:
    code = "import omit.data.reading, sys; assert not {'duckdb', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
