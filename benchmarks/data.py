"""How fast columns are reduced to counts and to bins, as ratios to DuckDB's own GROUP BY.

Run with `python benchmarks/data.py [ROWS [FRAME_ROWS]]`; 100 million rows by default, written to a
temporary Parquet file first (1.3 GB). Ours and DuckDB's are timed in turns, and their medians
compared. So are frames of Polars and tables of Arrow, of 10 million rows by default, with the
group_by of their own. Of wages, nearly all of which are different, reading is compared with DuckDB,
and a whole `omit compare` is timed in a process of its own, whose memory is measured.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from unittest import mock

import duckdb
import pandas
import polars
import pyarrow

import omit
from timing import seconds

GOAL, FRAME_GOAL = 1.3, 1.2
TURNS = 7
GOAL_IN_BINS, GOAL_MEMORY = 2.0, 1.5
TOP = 500_000


def write(path: Path, rows: int) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT (hash(range) % 126)::INTEGER AS age, random() * random() * {TOP} "
            f"AS wage FROM range({rows})) "
            f"TO '{path}' (FORMAT parquet)"
        )


def group_by(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"SELECT age, count(*) FROM '{path}' GROUP BY age").fetchall()


def in_turns(plain: Callable[[], object], ours: Callable[[], object]) -> tuple[float, float]:
    """Return the median times of both."""
    turns = [(seconds(plain, 1), seconds(ours, 1)) for _ in range(TURNS)]
    theirs, own = zip(*turns, strict=True)
    return statistics.median(theirs), statistics.median(own)


def show_frames(rows: int) -> None:
    """Print what frames take against their own group_by; nothing may be copied to pandas."""
    ages = duckdb.sql(f"SELECT (hash(range) % 126)::INTEGER AS age FROM range({rows})")
    assert ages is not None
    table: pyarrow.Table = ages.arrow().read_all()
    frame = polars.DataFrame(table)
    groupings: dict[str, tuple[object, Callable[[], object]]] = {
        "Polars": (frame, lambda: frame.group_by("age").len()),
        "Polars, lazy": (frame.lazy(), lambda: frame.lazy().group_by("age").len().collect()),
        "Arrow": (table, lambda: table.group_by("age").aggregate([([], "count_all")])),
    }
    for library, (people, group) in groupings.items():
        with mock.patch.object(pandas.DataFrame, "__init__", side_effect=AssertionError):
            assert omit.read(people, "age", bounds=(0, 125)).size == rows
        plain, ours = in_turns(group, partial(omit.read, people, "age", bounds=(0, 125)))
        print(
            f"{library}, {rows:,} rows: its group_by {plain:.3f} s, read {ours:.3f} s, "
            f"ratio {ours / plain:.2f} (goal {FRAME_GOAL})"
        )


def group_by_bins(path: Path) -> None:
    width = TOP / 2**14
    with duckdb.connect() as connection:
        connection.execute(
            f"SELECT floor(wage / {width}), count(*), sum(wage) FROM '{path}' GROUP BY 1"
        ).fetchall()


def compare_wages(path: Path) -> tuple[float, float, float]:
    """Return the seconds that a comparison takes, those of the processor, and the gigabytes."""
    words = f"compare {path} --column wage --bounds 0 {TOP} --statistic mean --no-report"
    start = perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "omit", *words.split()], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    computed = usage.ru_utime + usage.ru_stime
    return perf_counter() - start, computed, usage.ru_maxrss / 2**20


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the seconds of all cores that a call takes, which others hardly change."""
    start = process_time()
    call()
    return process_time() - start


def show_bins(path: Path, rows: int) -> None:
    """Print what wages in bins take: to read them, and a whole command.

    A command of few wages shows what it takes to start and to compute the errors.
    """
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.parquet"
        write(few, 600_000)
        compare_wages(few)
        turns = [
            (
                cpu_seconds(lambda: group_by_bins(path)),
                cpu_seconds(lambda: omit.read(path, "wage", bounds=(0, TOP))),
                compare_wages(path)[1],
                compare_wages(few)[1],
                seconds(lambda: group_by_bins(path), 1),
                *compare_wages(path)[::2],
            )
            for _ in range(3)
        ]
    plain, read, whole, start, wall_plain, wall, memory = map(min, zip(*turns, strict=True))
    print(
        f"{rows:,} wages in bins, seconds of the processor: GROUP BY {plain:.2f}, read {read:.2f}, "
        f"ratio {read / plain:.2f} (goal {GOAL_IN_BINS}); compare {whole:.2f}, ratio "
        f"{whole / plain:.2f}, of which {start:.2f} are those of a command of 600,000\n"
        f"by the clock: GROUP BY {wall_plain:.2f} s, compare {wall:.2f} s; "
        f"{memory:.2f} GB (goal {GOAL_MEMORY})"
    )


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000
    show_frames(int(float(sys.argv[2])) if len(sys.argv) > 2 else 10_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        write(path, rows)
        assert omit.read(path, "age", bounds=(0, 120)).size == rows
        plain, ours = in_turns(
            lambda: group_by(path), lambda: omit.read(path, "age", bounds=(0, 120))
        )
        show_bins(path, rows)
    print(f"{rows:,} rows: GROUP BY {plain:.2f} s, read {ours:.2f} s, ratio {ours / plain:.2f}")
    print(f"goal: at most {GOAL}")


if __name__ == "__main__":
    main()
