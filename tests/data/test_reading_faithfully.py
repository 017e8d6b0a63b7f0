"""What is in the file is what is read: line breaks, marks, checksums, digits and spellings."""

from __future__ import annotations

import csv
import gzip
import io
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from omit.data.column import Column
from omit.data.points import Points
from omit.data.reading import read, read_points
from omit.disclosure.tabulation import tabulate
from tests.data.tables import DATABASE, refusal, write

pytestmark = pytest.mark.slow

BIG = 2**53
MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("within", ["\n", "\r\n"])
def test_a_line_break_in_a_name_does_not_make_the_header_a_record(
    tmp_path: Path, line_end: str, within: str
) -> None:
    text = line_end.join([f'"a{within}b",age', "x,1", "x,2", ""])
    path = write(tmp_path / "x.csv", text)
    assert read(path, "age", bounds=(0, 9)).counts.tolist() == [1, 1]
    assert read(path, f"a{within}b", categories=["x"]).size == 2


@pytest.mark.parametrize("name", ["a\nb", "a,b", 'a"b'])
def test_behind_a_byte_order_mark_the_first_name_has_to_be_plain(tmp_path: Path, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    path = write(tmp_path / "x.csv", MARK + f"{quoted},age\nx,1\nx,2\n".encode())
    assert "byte order mark" in refusal(path, "age", bounds=(0, 9))
    plain = write(tmp_path / "x.csv", MARK + b'"a",age\nx,1\nx,2\n')
    assert read(plain, "age", bounds=(0, 9)).size == 2
    assert read(plain, "a", categories=["x"]).size == 2


def test_every_table_that_python_writes_is_read_as_python_reads_it(tmp_path: Path) -> None:
    draw = random.Random(5)
    pieces = ["a", "1", " ", ",", '"', "\n", "\r\n", "é"]
    for _ in range(300):
        columns = draw.randint(1, 3)

        def field() -> str:
            return "".join(draw.choice(pieces) for _ in range(draw.randint(0, 4)))

        rows = [[field() for _ in range(columns)] for _ in range(draw.randint(1, 4))]
        head = [f"h{field()}{place}" for place in range(columns)]
        written = io.StringIO(newline="")
        writer = csv.writer(written, lineterminator=draw.choice(["\n", "\r\n"]))
        writer.writerows([head, *rows])
        path = write(tmp_path / "x.csv", written.getvalue())
        for place, name in enumerate(head):
            expected = [row[place] for row in rows if any(row) or columns > 1]
            present = [value for value in expected if value.strip()]
            if present:
                column = read(path, name, categories=sorted(set(present)))
                assert dict(zip(column.values, column.counts, strict=True)) == {
                    value: present.count(value) for value in present
                }


def damaged(content: bytes) -> bytes:
    """Return a stored gzip file in which 300 digits are changed."""
    packed = bytearray(gzip.compress(content, compresslevel=0, mtime=0))
    changed = 0
    for place in range(100, len(packed) - 20):
        if packed[place : place + 1].isdigit() and changed < 300:
            packed[place] = ord("9") if packed[place] != ord("9") else ord("1")
            changed += 1
    assert changed == 300
    return bytes(packed)


def test_a_compressed_file_with_changed_digits_is_refused(tmp_path: Path) -> None:
    content = b"age\n" + b"\n".join(b"%d" % (number % 90) for number in range(5000)) + b"\n"
    whole = write(tmp_path / "x.csv.gz", gzip.compress(content, mtime=0))
    assert read(whole, bounds=(0, 99)).size == 5000
    broken = write(tmp_path / "y.csv.gz", damaged(content))
    for reader in (read, read_points):
        with pytest.raises(ValueError, match="damaged") as caught:
            reader(broken, bounds=(0, 99))
        assert "\n" not in str(caught.value)
    two = write(tmp_path / "z.csv.gz", gzip.compress(content) + gzip.compress(b"7\n" * 10))
    assert read(two, bounds=(0, 99)).size == 5010


def test_a_first_row_that_never_ends_is_not_held(tmp_path: Path) -> None:
    endless = write(tmp_path / "x.csv.gz", gzip.compress(b"abc," * 8_000_000))
    assert "more than 1,000,000 characters" in refusal(endless, bounds=(0, 9))
    word = write(tmp_path / "y.csv.gz", gzip.compress(b"a" * 30_000_000))
    assert "no column names" in refusal(word, bounds=(0, 9))


@pytest.mark.parametrize(
    "kind", ["BIGINT", "UBIGINT", "HUGEINT", "DECIMAL(38, 0)", "DECIMAL(30, 4)", "VARCHAR"]
)
def test_whole_numbers_beyond_2_to_53_stay_apart_as_categories(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.parquet"
    query = f"SELECT CAST(unnest([{BIG}, {BIG + 1}, {BIG + 1}]) AS {kind}) AS id"
    DATABASE.execute(f"COPY ({query}) TO '{path}'")
    # Parquet has no HUGEINT: DuckDB writes floats instead.
    for source in (DATABASE.sql(query), *([] if kind == "HUGEINT" else [path])):
        column = read(source, categories=[BIG, BIG + 1])
        assert column.values.tolist() == [str(BIG), str(BIG + 1)]
        assert column.counts.tolist() == [1, 2]
        assert read(source, categories="from-data").categories == (str(BIG), str(BIG + 1))


@pytest.mark.parametrize(
    "values",
    [
        [BIG, BIG + 1],
        [BIG + 1, 0.5],
        [2**63, -1],
        [2**63, 2**63 + 1, -1],
        np.array([BIG, BIG + 1]),
        np.array([2**63, 2**63 + 1], dtype=np.uint64),
        pd.Series([BIG, BIG + 1]),
        pd.Series([BIG, BIG + 1, None], dtype="Int64"),
        [Decimal(BIG), Decimal(BIG + 1)],
    ],
    ids=str,
)
def test_whole_numbers_in_memory_keep_their_digits_as_categories(values: Any) -> None:
    column = Column.from_values(values, categories="from-data")
    present = [each for each in list(values) if not pd.isna(each)]
    assert column.distinct == len(present)
    assert set(column.values) == {str(each) for each in present}


def test_booleans_and_numbers_are_the_same_categories_from_every_source(tmp_path: Path) -> None:
    frame = pd.DataFrame({"b": [True, False, True], "x": [1.0, 2.5, 1.0], "f": [0.1, 2.0, 0.1]})
    frame["f"] = frame["f"].astype("float32")
    path = tmp_path / "x.parquet"
    DATABASE.execute(f"COPY (SELECT * FROM frame) TO '{path}'")
    for source in (frame, path):
        assert read(source, "b", categories="from-data").categories == ("0", "1")
        assert read(source, "x", categories="from-data").categories == ("1", "2.5")
        assert read(source, "f", categories="from-data").categories == ("0.1", "2")


def test_columns_that_differ_only_in_case_are_told_apart(tmp_path: Path) -> None:
    relation = DATABASE.sql("SELECT 1 AS age, 2 AS AGE, 3 AS Age")
    frame = pd.DataFrame([[1, 2, 3]], columns=["age", "AGE", "Age"])
    path = write(tmp_path / "x.csv", "age,AGE,Age\n1,2,3\n")
    for source in (relation, frame, path):
        for value, name in enumerate(("age", "AGE", "Age"), start=1):
            assert read(source, name, bounds=(0, 9)).values.tolist() == [value]
        assert read_points(source, ["AGE", "age"], bounds=(0, 9)).rows.tolist() == [[2, 1]]


def test_columns_of_one_name_are_refused_from_every_source(tmp_path: Path) -> None:
    relation = DATABASE.sql("SELECT 1 AS age, 2 AS age")
    path = tmp_path / "x.parquet"
    DATABASE.execute(f"COPY (SELECT 1 AS age, 2 AS xge) TO '{path}'")
    path.write_bytes(path.read_bytes().replace(b"xge", b"age"))  # as other writers do
    for source in (relation, path):
        assert "Several columns" in refusal(source, "age", bounds=(0, 9))


def test_a_nested_parquet_column_does_not_move_the_names_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    DATABASE.execute(
        f"COPY (SELECT {{'a': 1, 'b': [2]}} AS s, 7 AS age, [[1]] AS l, 8 AS x) TO '{path}'"
    )
    assert read(path, "age", bounds=(0, 9)).values.tolist() == [7]
    assert read(path, "x", bounds=(0, 9)).values.tolist() == [8]
    assert "there are 's', 'age', 'l', 'x'" in refusal(path, "zzz", bounds=(0, 9))


def test_bytes_are_neither_numbers_nor_text() -> None:
    relation = DATABASE.sql("SELECT '12'::BLOB AS x")
    assert "holds bytes" in refusal(relation, bounds=(0, 99))
    assert "holds bytes" in refusal(relation, categories="from-data")


def test_masked_values_are_counted_as_missing_wherever_they_are() -> None:
    masked = np.ma.array([1, 2, 3], mask=[False, True, False])
    for values in (masked, masked.astype(float), [1, np.ma.masked, 3], masked.astype(object)):
        column = Column.from_values(values, bounds=(0, 9))
        assert (column.size, column.missing) == (2, 1)
        assert "1 record without a value" in column.notes[0]
    texts = Column.from_values(["a", np.ma.masked], categories=["a"])
    assert (texts.size, texts.missing) == (1, 1)
    table = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    for rows in (table, [table[0], table[1]], [table[0], [3, 4]]):
        points = Points.from_rows(rows, bounds=(0, 9))
        assert (points.rows.tolist(), points.missing) == ([[3, 4]], 1)
    with pytest.raises(ValueError, match="whole numbers"):
        Column.from_counts([1, 2, 3], masked, bounds=(0, 9))


def test_a_frame_may_number_its_columns() -> None:
    frame = pd.DataFrame([[1, 2], [3, 4]])
    assert read(frame, 1, bounds=(0, 9)).values.tolist() == [2, 4]
    assert read(frame, 1, bounds=(0, 9)).name == "1"
    assert read_points(frame, [1, 0], bounds=(0, 9)).rows.tolist() == [[2, 1], [4, 3]]
    assert "no column '7'" in refusal(frame, 7, bounds=(0, 9))


def test_times_are_categories_with_all_their_letters() -> None:
    lengths = np.array([86_400, 7, "NaT"], dtype="m8[s]")
    column = Column.from_values(lengths, categories="from-data")
    assert column.values.tolist() == ["7 seconds", "86400 seconds"]
    assert column.missing == 1
    days = np.array(["2020-01-02", "NaT", "2020-01-01"], dtype="M8[D]")
    assert Column.from_values(days, categories="from-data").values.tolist() == [
        "2020-01-01",
        "2020-01-02",
    ]


@pytest.mark.parametrize("setting", ["column", "connection"])
def test_texts_that_a_database_calls_equal_are_told_apart(setting: str) -> None:
    texts = ["M", "m", "F", "m", "é", "e"]
    with duckdb.connect() as connection:
        if setting == "connection":
            connection.execute("SET default_collation = 'nocase.noaccent'")
            connection.execute("CREATE TABLE people (sex VARCHAR)")
        else:
            connection.execute("CREATE TABLE people (sex VARCHAR COLLATE nocase.noaccent)")
        connection.executemany("INSERT INTO people VALUES (?)", [[each] for each in texts])
        column = read(connection, "sex", categories="from-data")
        table = tabulate(connection, ["sex"], domains={"sex": "from-data"})
        without = tabulate(connection, ["sex"], domains={"sex": "from-data"}, missing=["m", "E"])
    assert column == Column.from_values(texts, categories="from-data", name="sex")
    assert table.attributes[0].categories == ("F", "M", "e", "m", "é")
    assert table.flat.tolist() == [1, 1, 1, 2, 1]
    assert without.left_out == 2
