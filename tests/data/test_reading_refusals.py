"""What reading refuses, as sentences to a person."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from omit.data.reading import read
from tests.data.tables import DATABASE, PEOPLE, refusal, write


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.csv", bounds=(0, 1)) == f"There is no file {tmp_path / 'no.csv'}."
    assert "There is no file no/such" in refusal("no/such", bounds=(0, 1))


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv"))
    file.write_text(PEOPLE)
    said = refusal(file, bounds=(0, 1))
    assert "not in UTF-8; rename it or link to it" in said


def test_an_unknown_kind_of_file_is_told_which_kinds_there_are(tmp_path: Path) -> None:
    for path in (write(tmp_path / "x.xlsx", "?"), tmp_path):
        assert ".csv, .csv.gz, .tsv" in refusal(path, bounds=(0, 1))


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("empty.csv", "", "first row has no column names"),
        ("blank.csv", "\n\n1\n", "first row has no column names"),
        ("binary.csv", bytes(range(128, 256)) * 9, "UTF-8"),
        ("utf16.csv", PEOPLE.encode("utf-16"), "UTF-8"),
        ("latin1.csv", "age\n39\nM\xfcller\n".encode("latin-1"), "Line: 3"),
        ("plain.csv.gz", PEOPLE, "gzipped"),
        ("cut.csv.gz", gzip.compress(PEOPLE.encode(), mtime=0)[:-30], "cut.csv.gz"),
        ("long.csv", "age,sex\n1,2\n1,2\n1,2,3\n", "Line: 4"),
        ("short.csv", "age,sex\n1,2\n1\n1,2\n", "Line: 3"),
        ("quote.csv", 'age,sex\n1,2\n"1,2\n3,4\n', "Line: 3"),
        ("mixed.csv", "age,sex\r\n1,2\n3,4\r\n", "line end"),
        ("x.parquet", PEOPLE, "x.parquet"),
        ("x.duckdb", PEOPLE * 99, "x.duckdb"),
    ],
)
def test_files_that_are_not_what_their_name_says_are_refused(
    tmp_path: Path, file: str, content: str | bytes, message: str
) -> None:
    sentence = refusal(write(tmp_path / file, content), "age", bounds=(0, 125))
    assert sentence.startswith("Cannot read ")
    assert message in sentence


def test_a_message_about_a_broken_row_does_not_repeat_the_record(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "age,sex\n1,2\nsecret,2,3\n")
    assert "secret" not in refusal(path, "age", bounds=(0, 1))


def test_a_header_without_rows_has_no_records(tmp_path: Path) -> None:
    assert "no records" in refusal(write(tmp_path / "x.csv", "age,sex\n"), "age", bounds=(0, 1))


def test_a_missing_column_is_met_with_the_nearest_names(people: Path) -> None:
    for source in (people, pd.read_csv(people), DATABASE.sql("SELECT 39 AS age, 'M' AS sex")):
        sentence = refusal(source, "Agee", bounds=(0, 1))
        assert "There is no column 'Agee'" in sentence
        assert "the nearest is 'age'" in sentence
        assert "there are 'age', 'sex'" in refusal(source, "income", bounds=(0, 1))


def test_without_a_column_the_columns_are_listed(people: Path) -> None:
    assert "one of 'age', 'sex', 'job'" in refusal(people, bounds=(0, 1))
    wide = pd.DataFrame({f"c{n}": [n] for n in range(30)})
    assert "'c19' and 10 more" in refusal(wide, bounds=(0, 1))


def test_two_columns_of_one_name_are_not_chosen_between(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "age,age\n1,2\n")
    frame = pd.DataFrame([[1, 2]], columns=["age", "age"])
    for source in (path, frame):
        assert "Several columns" in refusal(source, "age", bounds=(0, 1))


def test_undeclared_bounds_are_refused_with_what_would_work(people: Path) -> None:
    for source in (people, pd.read_csv(people), pd.read_csv(people)["age"]):
        sentence = refusal(source, "age")
        assert "bounds=(lower, upper)" in sentence
        assert "bounds='from-data', which is not private" in sentence


def test_bounds_from_the_data_have_to_be_asked_for(people: Path) -> None:
    column = read(people, "age", bounds="from-data")
    assert (column.bounds, column.bounds_source) == ((25, 39), "from-data")


def test_text_among_numbers_is_named_and_pointed_to_the_mode(people: Path) -> None:
    sentence = refusal(people, "sex", bounds=(0, 1))
    assert "first 'Female' (2 different values, 3 records)" in sentence
    assert "categories" in sentence


def test_a_value_outside_the_categories_is_named(people: Path) -> None:
    assert "holds 'Male' (1 record)" in refusal(people, "sex", categories=("Female",))


def test_infinite_bounds_and_values_are_refused(people: Path) -> None:
    assert "finite" in refusal(people, "age", bounds=(0, float("inf")))
    table = DATABASE.sql("SELECT unnest(['1', 'inf'])::DOUBLE AS x")
    assert "infinite" in refusal(table, bounds=(0, 1))


def test_bounds_in_the_wrong_order_are_refused_before_anything_is_read(people: Path) -> None:
    assert "lower <= upper" in refusal(people, "job", bounds=(2, 1))


def test_a_table_is_chosen_only_where_there_are_several(people: Path) -> None:
    assert "only for a DuckDB database" in refusal(people, "age", bounds=(0, 1), table="x")


@pytest.mark.parametrize("source", [None, 3, {"age": [39]}, {39, 25}, object(), b"people.csv"])
def test_what_is_no_table_is_told_what_would_be_one(source: object) -> None:
    said = refusal(source, bounds=(0, 1))
    assert "a data frame, a series, an array, a list or a DuckDB object, got" in said


def test_a_database_error_is_one_sentence() -> None:
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT 1 AS x")
    assert refusal(relation, "x", bounds=(0, 1)).startswith("Cannot read the relation")
