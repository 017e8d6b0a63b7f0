"""Files from strangers: they reach nothing else, and nothing of theirs stands in for ours."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from omit import InvalidInput
from omit.data.reading import read, read_points
from omit.disclosure.tabulation import tabulate
from tests.data.tables import refusal, write

SECRET = "hunter2"
MACROS = (
    "count_star() AS 12345",
    "count(x) AS 12345",
    "\"||\"(a, b) AS 'evil'",
    '"+"(a, b) AS 99',
    "concat(a, b) AS 'evil'",
    "trim(a) AS 'evil', (a, b) AS 'evil'",
    "lower(a) AS 'evil'",
    "isnan(a) AS true",
    "isfinite(a) AS false",
    "regexp_full_match(a, b) AS false",
    "current_schema() AS 'evil'",
    "current_database() AS 'evil'",
)


def hostile(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT unnest([20, 30, 40]) AS age, 'a' AS town")
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{file}', header=false)",
        "SELECT * FROM '{file}'",
        "SELECT content AS pw FROM read_text('{file}')",
        "SELECT CAST(content AS INTEGER) AS pw FROM read_text('{file}')",
        "SELECT error(content) AS pw FROM read_text('{file}')",
        "SELECT content AS pw FROM read_blob('{file}')",
        "SELECT file AS pw FROM glob('{folder}/*')",
        "SELECT Columns AS pw FROM sniff_csv('{file}')",
    ],
)
def test_a_view_does_not_read_another_file(tmp_path: Path, query: str) -> None:
    secret = write(tmp_path / "secret.csv", f"{SECRET}\n")
    view = query.format(file=secret, folder=tmp_path)
    path = hostile(tmp_path / "x.duckdb", f"CREATE VIEW spy AS {view}")
    for column in ("pw", "column0", None):
        sentence = refusal(path, column, table="spy", categories="from-data")
        assert "spy" in sentence
        assert SECRET not in sentence
    with pytest.raises(InvalidInput) as caught:
        tabulate(path, ["pw"], domains={"pw": "from-data"}, table="spy")
    assert SECRET not in str(caught.value)
    assert read(path, "age", bounds=(0, 99), table="people").size == 3


def test_a_view_does_not_see_the_variables_of_the_program(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2]})  # a name that DuckDB would look up in Python
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", frame)
        connection.execute("CREATE VIEW spy AS SELECT * FROM frame", None)
    assert "Cannot read table 'spy'" in refusal(path, "age", bounds=(0, 9), table="spy")


@pytest.mark.parametrize("is_open", [False, True])
def test_macros_of_a_database_do_not_replace_the_functions_that_count(
    tmp_path: Path, is_open: bool
) -> None:
    path = hostile(tmp_path / "x.duckdb", *(f"CREATE MACRO {each}" for each in MACROS))
    with duckdb.connect(str(path), read_only=True) as connection:
        source = connection if is_open else path
        if not is_open:
            connection.close()
        assert read(source, "age", bounds=(0, 99)).counts.tolist() == [1, 1, 1]
        assert read(source, "town", categories=("a", "b")).counts.tolist() == [3]
        assert read_points(source, "age", bounds=(0, 99)).rows.tolist() == [[20], [30], [40]]
        table = tabulate(
            source,
            ["town", "old", "decade"],
            derive=["old = age >= 30", "decade = bins(age, 0, 50, 5)"],
            domains={"town": ["a", "b"]},
        )
        assert table.marginal(["old"]).tolist() == [1, 2]
        assert table.marginal(["town"]).tolist() == [3, 0]
        assert table.marginal(["decade"]).tolist() == [0, 0, 1, 1, 1]


def test_a_sqlite_database_is_told_apart_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (age)")
    connection.close()
    assert "it is a SQLite database, not a DuckDB database" in refusal(path, "age", bounds=(0, 9))
    assert "another kind of file" in refusal(write(path, "age\n1\n"), "age", bounds=(0, 9))
    assert "another kind of file" in refusal(write(path, ""), "age", bounds=(0, 9))


@pytest.mark.parametrize(
    "name", ["md:x.duckdb", "sqlite:x.duckdb", "postgres:x.db", "ducklake:x.ddb", ":memory:.duckdb"]
)
def test_a_name_is_never_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refusal(name, "age", bounds=(0, 99)) == f"There is no file {name}."
    shutil.copy(hostile(tmp_path / "x.duckdb"), name)
    assert read(name, "age", bounds=(0, 99)).size == 3


@pytest.mark.parametrize(
    "name", ["system.duckdb", "temp.duckdb", "memory.duckdb", "Main.db", "a'b\";c.duckdb"]
)
def test_a_database_may_have_any_name(tmp_path: Path, name: str) -> None:
    assert read(hostile(tmp_path / name), "age", bounds=(0, 99)).size == 3


@pytest.mark.parametrize(
    "address", ["https://example.org/x.csv", "s3://bucket/x.parquet", "tls://x"]
)
def test_an_address_is_refused_before_anything_is_asked(address: str) -> None:
    assert f"got the address '{address}'" in refusal(address, "age", bounds=(0, 9))


def test_what_was_not_yet_moved_into_a_database_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (age INTEGER); CHECKPOINT")
        connection.execute("INSERT INTO people VALUES (20), (30)")
        copy = Path(shutil.copy(path, tmp_path / "copy.duckdb"))
        shutil.copy(f"{path}.wal", f"{copy}.wal")
    assert read(copy, "age", bounds=(0, 99)).size == 2


@pytest.mark.parametrize("name", ["a*b.csv", "a?b.csv", "a[x]b.csv", "a'b.csv", "a b.csv", "ä.csv"])
def test_only_the_file_that_was_asked_for_is_read(tmp_path: Path, name: str) -> None:
    write(tmp_path / "aXb.csv", "age\n99\n")
    write(tmp_path / "axb.csv", "age\n99\n")
    assert read(write(tmp_path / name, "age\n1\n"), bounds=(0, 99)).values.tolist() == [1]


def test_a_message_has_no_signs_that_steer_a_terminal(tmp_path: Path) -> None:
    view = "CREATE VIEW v AS SELECT error('\\x1b[31mred' || repeat('x', 9999)) AS age"
    path = hostile(tmp_path / "x.duckdb", view.replace("\\x1b", "\x1b"))
    sentence = refusal(path, "age", table="v", bounds=(0, 9))
    assert sentence.isprintable()
    assert len(sentence) < 600


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "y" * 5000 + "/x.csv", "a\0b.csv"])
def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    sentence = refusal(tmp_path / name, bounds=(0, 1))
    assert sentence.startswith(("Expected the path of a file", "There is no file"))
    assert sentence.isprintable()


@pytest.mark.parametrize("name", ["a\nb.csv", "a\x1b[31mb.csv"])
def test_a_path_with_signs_that_steer_a_terminal_is_shown_without(
    tmp_path: Path, name: str
) -> None:
    assert refusal(tmp_path / name, bounds=(0, 1)).isprintable()
    path = write(tmp_path / name, "age\n1\n")
    assert refusal(path, "sex", bounds=(0, 1)).isprintable()
    assert read(path, "age", bounds=(0, 1)).size == 1


def test_several_tables_of_one_name_are_told_apart_by_their_schema(tmp_path: Path) -> None:
    path = hostile(
        tmp_path / "x.duckdb", "CREATE SCHEMA s", "CREATE TABLE s.people AS SELECT 1 AS age"
    )
    assert "give one of 'x.main.people', 'x.s.people'" in refusal(
        path, "age", table="people", bounds=(0, 99)
    )
    assert read(path, "age", table="s.people", bounds=(0, 99)).size == 1
    assert read(path, "age", table="main.people", bounds=(0, 99)).size == 3


INTERRUPTED = """
import os, signal, sys, threading, time
import omit
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    omit.read(sys.argv[1], "age", bounds=(0, 99))
except KeyboardInterrupt:
    assert time.monotonic() - start < 20
    print("interrupted")
"""


def test_a_view_that_never_ends_is_interrupted_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW v AS SELECT range % 90 AS age FROM range(100000000000000)")
    words = [sys.executable, "-c", INTERRUPTED, str(path)]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    assert answer.stdout == "interrupted\n"
