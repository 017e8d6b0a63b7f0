"""How fast a column is reduced to counts, as a ratio to DuckDB's own GROUP BY in the same run.

Run with `python benchmarks/data.py [ROWS]`; 100 million rows by default, written to a temporary
Parquet file first. The two are timed in turns, and their medians compared.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import duckdb

import omit
from timing import seconds

GOAL = 1.3


def write(path: Path, rows: int) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT (hash(range) % 126)::INTEGER AS age FROM range({rows})) "
            f"TO '{path}' (FORMAT parquet)"
        )


def group_by(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"SELECT age, count(*) FROM '{path}' GROUP BY age").fetchall()


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        write(path, rows)
        assert omit.read(path, "age", bounds=(0, 120)).size == rows
        turns = [
            (
                seconds(lambda: group_by(path), 1),
                seconds(lambda: omit.read(path, "age", bounds=(0, 120)), 1),
            )
            for _ in range(7)
        ]
    plain, ours = (statistics.median(times) for times in zip(*turns, strict=True))
    print(f"{rows:,} rows: GROUP BY {plain:.2f} s, read {ours:.2f} s, ratio {ours / plain:.2f}")
    print(f"goal: at most {GOAL}")


if __name__ == "__main__":
    main()
