"""How long whole commands take, as ratios to starting Python with the libraries they use.

Run with `python benchmarks/commands.py`. Every command runs in a process of its own, some start
helpers; seconds of the processor are those of all of them, and the least of several runs counts.
On two cores that nobody else uses, half of them is what a command with helpers takes at least. Some
of the data are in the folder that OMIT_DATA names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

TURNS = 3
LIBRARIES = "import numpy, scipy.special, numba, duckdb, matplotlib.pyplot, jinja2, typer, rich"
# What a command is, and the seconds by the clock, on two cores, that are its goal.
COMMANDS = {
    "compare adult --column age --statistic mean --no-report": 0.8,
    "compare": 4.0,
    "compare nist-tx --column PINCP --bounds 0 500000": 15.0,
    "best {data}/cps_tax_units.csv.gz --column e00200 --bounds 0 500000 --statistic mean": 20.0,
    "best adult --column age --statistic mean": None,
}


def taken(arguments: list[str], folder: str) -> tuple[float, float, float]:
    """Return the seconds of the processor, those by the clock, and the gigabytes."""
    start = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, arguments
    clock = perf_counter() - start
    return usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss / 2**20


def main() -> None:
    data = os.environ.get("OMIT_DATA", "")
    known = {
        words.format(data=data): goal
        for words, goal in COMMANDS.items()
        if data or not ("nist" in words or "{" in words)
    }
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[tuple[float, float, float]]] = {words: [] for words in ("", *known)}
        for _ in range(TURNS):
            for words, turns in runs.items():
                reported = ["--report", str(Path(folder) / "report.html")]
                plain = "--no-report" in words or words.startswith("best")
                command = ["-m", "omit", *words.split(), *([] if plain else reported)]
                turns.append(taken(command if words else ["-c", LIBRARIES], folder))
    least = {words: tuple(map(min, zip(*turns, strict=True))) for words, turns in runs.items()}
    baseline = least.pop("")
    print(f"Python with the libraries: {baseline[0]:.2f} s of the processor, {baseline[1]:.2f} s")
    for words, (computed, clock, memory) in least.items():
        goal = f" (goal {known[words]:g})" if known[words] else ""
        print(
            f"omit {words}: {computed:.2f} s of the processor, ratio "
            f"{computed / baseline[0]:.1f}, {clock:.2f} s by the clock{goal}, {memory:.2f} GB"
        )


if __name__ == "__main__":
    main()
