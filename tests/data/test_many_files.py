"""Patterns, folders and the standard input are tables such as files are."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import omit
from omit.errors import InvalidInput

AGES = [39, 25, 39, 61, 25, 39]
TOWNS = ["A", "B", "A", "B", "B", "A"]


def write_csv(file: Path, positions: list[int], header: str = "age,town") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [header, *(f"{AGES[at]},{TOWNS[at]}" for at in positions)]
    text = "\n".join(lines) + "\n"
    if file.suffix == ".gz":
        file.write_bytes(gzip.compress(text.encode()))
    else:
        file.write_text(text)


def write_parquet(file: Path, query: str, partitions: str = "") -> None:
    duckdb.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet{partitions})")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the records in three files, one of them deeper down and compressed."""
    write_csv(tmp_path / "people" / "1.csv", [0, 1])
    write_csv(tmp_path / "people" / "2.csv", [2, 3, 4])
    write_csv(tmp_path / "people" / "more" / "3.csv.gz", [5])
    return tmp_path / "people"


def counts(source: object, column: str = "age") -> dict[float, int]:
    read = omit.read(source, column, bounds=(0, 100))
    return dict(zip(read.values.tolist(), read.counts.tolist(), strict=True))


ALL = {25.0: 2, 39.0: 3, 61.0: 1}


def test_a_folder_is_the_table_of_all_its_files(folder: Path) -> None:
    assert counts(folder) == counts(str(folder)) == ALL


@pytest.mark.parametrize(
    ("pattern", "ages"), [("**/*.csv*", ALL), ("?.csv", {25.0: 2, 39.0: 2, 61.0: 1})]
)
def test_a_pattern_is_the_table_of_the_files_that_it_matches(
    folder: Path, pattern: str, ages: dict[float, int]
) -> None:
    assert counts(str(folder / pattern)) == ages


def test_a_file_whose_name_has_the_signs_of_a_pattern_is_itself(folder: Path) -> None:
    write_csv(folder / "[12].csv", [3])
    assert counts(folder / "[12].csv") == {61.0: 1}


def test_what_programs_hide_in_a_folder_is_no_data(folder: Path) -> None:
    write_csv(folder / "_tmp" / "4.csv", [0])
    write_csv(folder / ".5.csv", [0])
    (folder / "README.txt").write_text("no table")
    assert counts(folder) == ALL


def test_folders_named_after_a_column_are_that_column(tmp_path: Path) -> None:
    write_parquet(
        tmp_path / "people",
        f"SELECT unnest({AGES}) AS age, unnest({TOWNS}) AS town",
        ", PARTITION_BY (age)",
    )
    assert counts(tmp_path / "people") == ALL
    table = omit.disclosure.tabulate(tmp_path / "people", ["town"], domains={"town": "from-data"})
    assert table.size == len(AGES)


def test_folders_of_records_without_a_value_and_odd_letters_are_read(tmp_path: Path) -> None:
    write_csv(tmp_path / "p" / "town=S%C3%A3o" / "1.csv", [0], header="age,x")
    write_csv(tmp_path / "p" / "town=__HIVE_DEFAULT_PARTITION__" / "1.csv", [1, 2], header="age,x")
    towns = omit.read(tmp_path / "p", "town", categories=["São"])
    assert (towns.counts.tolist(), towns.missing) == ([1], 2)


@pytest.mark.parametrize(
    ("file", "header", "said"),
    [
        ("4.csv", "town,age", "has other columns than"),
        ("4.csv", "age,town,x", "has other columns than"),
        ("year=2019/4.csv", "age,town", "is in folders for other columns than"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(
    folder: Path, file: str, header: str, said: str
) -> None:
    write_csv(folder / file, [0], header)
    with pytest.raises(InvalidInput, match=said):
        counts(folder)


def test_numbers_of_other_kinds_are_not_taken_for_each_other(tmp_path: Path) -> None:
    write_parquet(tmp_path / "1.parquet", "SELECT 1 AS age")
    write_parquet(tmp_path / "2.parquet", "SELECT 1.5::DOUBLE AS age")
    with pytest.raises(InvalidInput, match="of other kinds"):
        counts(tmp_path)


@pytest.mark.parametrize("pattern", ["*.parquet", "nothing-*", "empty"])
def test_a_pattern_or_folder_without_files_is_refused(folder: Path, pattern: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(InvalidInput, match="There is no file"):
        counts(str(folder / pattern))


def test_a_column_of_both_files_and_folders_is_refused(tmp_path: Path) -> None:
    write_csv(tmp_path / "p" / "town=A" / "1.csv", [0])
    with pytest.raises(InvalidInput, match="a column of the files and of their folders"):
        counts(tmp_path / "p")


def piped(content: bytes) -> subprocess.CompletedProcess[bytes]:
    words = "compare - --column age --bounds 0 100 --statistic mode --omit none --no-report --json"
    return subprocess.run(
        [sys.executable, "-m", "omit", *words.split()],
        input=content, capture_output=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_what_is_piped_in_is_a_table(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"people.{kind}"
    if kind == "parquet":
        write_parquet(file, f"SELECT unnest({AGES}) AS age")
    else:
        write_csv(file, list(range(len(AGES))))
    done = piped(file.read_bytes())
    assert done.returncode == 0, done.stderr
    assert b'"records": 6' in done.stdout


def test_nothing_piped_in_is_refused_in_a_sentence_about_the_standard_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Empty:
        buffer = io.BytesIO()

    monkeypatch.setattr(sys, "stdin", Empty)
    with pytest.raises(InvalidInput, match="Cannot read the standard input as CSV"):
        counts("-")
