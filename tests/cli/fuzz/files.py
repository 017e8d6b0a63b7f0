"""Good files, and files that are broken in every way that was thought of."""

from __future__ import annotations

import gzip
import json
import os
import random
import sqlite3
from pathlib import Path

RECORDS = 60


def write_corpus(folder: Path) -> tuple[list[Path], list[Path]]:
    """Write all files; return the good ones and the bad ones."""
    good = _good_files(folder / "good")
    return good, _bad_files(folder / "bad", good)


def _csv(rows: int = RECORDS) -> str:
    draw = random.Random(7)
    lines = ["age,income,sex,town"]
    for _ in range(rows):
        sex, town = draw.choice(["Female", "Male"]), draw.choice("ABC")
        lines.append(f"{draw.randint(17, 90)},{draw.randint(0, 500) * 100},{sex},{town}")
    return "\n".join(lines) + "\n"


def _good_files(folder: Path) -> list[Path]:
    import duckdb

    folder.mkdir(parents=True)
    plain = folder / "people.csv"
    plain.write_text(_csv())
    (folder / "people.csv.gz").write_bytes(gzip.compress(_csv().encode(), mtime=0))
    (folder / "one.csv").write_text("age,income,sex,town\n40,100,Male,A\n")
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + _csv().encode())
    (folder / "money $a$ and $b$.csv").write_text(_csv().replace("income", "$a$ and $b$"))
    (folder / "größe 日本.csv").write_text(_csv().replace("income", "größe"), encoding="utf-8")
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute("create table people as select * from read_csv(?)", [str(plain)])
        parquet = str(folder / "people.parquet")
        connection.execute(f"copy people to '{parquet}' (format parquet)")
    (folder / "subsets.json").write_text(json.dumps(_pair()))
    (folder / "values.csv").write_text("value,probability\n0,0.5\n1,0.3\n2,0.2\n")
    return sorted(folder.iterdir())


def _pair() -> dict[str, object]:
    half = {"kept": ["a"], "probability": 0.5}
    return {
        "database": ["a"],
        "record": "y",
        "without": [{"kept": [], "probability": 0.5}, half],
        "with_record": [half, {"kept": ["y"], "probability": 0.5}],
    }


def _bad_files(folder: Path, good: list[Path]) -> list[Path]:
    folder.mkdir(parents=True)
    parquet = next(path for path in good if path.suffix == ".parquet").read_bytes()
    database = next(path for path in good if path.suffix == ".duckdb").read_bytes()
    packed = gzip.compress(_csv().encode(), mtime=0)
    contents = {
        "empty.csv": b"",
        "only-header.csv": b"age,income\n",
        "no-end.csv": b"age,income\n1",
        "nul.csv": b"age,income\n1\x00,2\n\x00\x00\n3,4\n",
        "latin-1.csv": "alter,größe\n1,ü\n".encode("latin-1"),
        "utf-16.csv": _csv().encode("utf-16"),
        "open-quote.csv": b'age,income\n"1,2\n3,4\n',
        "ragged.csv": b"age,income\n1\n1,2,3\n,,,,\n",
        "twice.csv": b"age,age,AGE\n1,2,3\n4,5,6\n",
        "no-names.csv": b",,\n1,2,3\n",
        "huge-field.csv": b"age,sex\n1," + b"x" * 3_000_000 + b"\n",
        "huge-numbers.csv": b"age\n1e308\n-1e308\n1e309\n1e-320\n" + b"9" * 5000 + b"\n",
        "not-numbers.csv": b"age\nnan\ninf\n-inf\n1_000\n0x10\n",
        "many-columns.csv": b",".join(b"c%d" % number for number in range(5000)) + b"\n",
        "random.csv": random.Random(1).randbytes(4096),
        "newlines.csv": b"\n" * 1000,
        "bom-only.csv": b"\xef\xbb\xbf",
        "cut.csv.gz": packed[: len(packed) // 2],
        "wrong-sum.csv.gz": packed[:-8] + bytes(8),
        "changed.csv.gz": packed[:40] + bytes(30) + packed[70:],
        "not.csv.gz": b"age\n1\n2\n",
        "bomb.csv.gz": gzip.compress(b"age\n" + b"1\n" * 5_000_000, mtime=0),
        "cut.parquet": parquet[: len(parquet) // 2],
        "changed.parquet": parquet[:20] + b"\xff" * 40 + parquet[60:],
        "only-ends.parquet": b"PAR1" + b"PAR1",
        "not.parquet": _csv().encode(),
        "cut.duckdb": database[: len(database) // 2],
        "changed.duckdb": database[:4096] + bytes(4096) + database[8192:],
        "not.duckdb": b"no database",
        "deep.json": b"[" * 200_000 + b"]" * 200_000,
        "deep-object.json": b'{"database":' * 50_000 + b"1" + b"}" * 50_000,
        "long-number.json": b'{"database": [' + b"9" * 5000 + b"]}",
        "constants.json": b'{"database": [NaN, Infinity], "record": -Infinity}',
        "list.json": b"[1, 2, 3]",
        "text.json": b'"text"',
        "null.json": b"null",
        "broken.json": b'{"database": ["a"',
        "bad-probability.json": json.dumps(
            {**_pair(), "without": [{"kept": ["a"], "probability": "1"}]}
        ).encode(),
        "many-subsets.json": json.dumps(_many_subsets(14)).encode(),
        "long-database.json": json.dumps({**_pair(), "database": list(range(100_000))}).encode(),
        "bad-values.csv": b"value,probability\n0,nan\ninf,0.5\n",
        "no-values.csv": b"value,probability\n",
        "unknown.ending": b"age\n1\n2\n",
        "no-ending": b"age\n1\n2\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    with sqlite3.connect(folder / "sqlite.db") as connection:
        connection.execute("create table people (age integer)")
    connection.close()
    (folder / "folder.csv").mkdir()
    (folder / "broken-link.csv").symlink_to(folder / "nowhere.csv")
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    (folder / "zero.csv").symlink_to("/dev/zero")
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "full.svg").symlink_to("/dev/full")
    locked = folder / "unreadable.csv"
    locked.write_text(_csv())
    locked.chmod(0)
    (folder / os.fsdecode(b"not-utf-8-\xff.csv")).write_text(_csv())
    return sorted(folder.iterdir())


def _many_subsets(records: int) -> dict[str, object]:
    names = [f"r{number}" for number in range(records)]
    kept = [
        [name for bit, name in enumerate(names) if subset >> bit & 1]
        for subset in range(2**records)
    ]
    rows = [{"kept": names_kept, "probability": 2.0**-records} for names_kept in kept]
    return {"database": names, "record": "y", "without": rows, "with_record": rows}
