"""How long a mean in a thousand groups takes, from a file, as a ratio to counting its rows alone.

Run with `python benchmarks/groups.py [ROWS [GROUPS]]`; 10 million rows in 1,000 groups by default,
written to a temporary Parquet file first. `omit compare --by` reads them in one pass and computes
the exact errors of all records and of five omissions in every group. The baseline is DuckDB's own
GROUP BY of the same bins and labels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import duckdb

from timing import seconds

GOAL = 120.0
TOP, BINS = 500_000, 1_024


def write(path: Path, rows: int, groups: int) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT 'g' || (hash(range) % {groups})::VARCHAR AS area, "
            f"random() * random() * {TOP} AS wage FROM range({rows})) TO '{path}' (FORMAT parquet)"
        )


def group_by(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"SELECT area, floor(wage / {TOP / BINS}), count(*), sum(wage), min(wage), max(wage) "
            f"FROM '{path}' GROUP BY ALL"
        ).fetchnumpy()


def compare(path: Path, groups: int) -> tuple[float, float, float, int]:
    """Return the seconds by the clock and of processors, the gigabytes, and what is simulated."""
    labels = ",".join(f"g{number}" for number in range(groups))
    words = (
        f"compare {path} --column wage --bounds 0 {TOP} --statistic mean --by area --json "
        f"--groups {labels}"
    )
    start = perf_counter()
    with tempfile.TemporaryFile() as answer:
        process = subprocess.Popen([sys.executable, "-m", "omit", *words.split()], stdout=answer)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        took = perf_counter() - start
        answer.seek(0)
        rows = json.load(answer)["result"]["rows"]
    assert len(rows) == 6 * groups
    simulated = sum(row["method"] != "exact" for row in rows)
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20, simulated


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    groups = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        write(path, rows, groups)
        plain = seconds(lambda: group_by(path))
        took, processors, memory, simulated = compare(path, groups)
    print(
        f"{rows:,} rows in {groups:,} groups: GROUP BY {plain:.1f} s, six exact means in each "
        f"{took:.0f} s ({processors:.0f} s of processors, {memory:.1f} GB), ratio "
        f"{took / plain:.0f}, {simulated} simulated (goal: under {GOAL:.0f} s)"
    )


if __name__ == "__main__":
    main()
