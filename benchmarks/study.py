"""What a study costs besides its cells, and how long a finished one takes.

Run with `python benchmarks/study.py`. The baseline of the overhead is the same function called in a
loop, with a random stream made for each call.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from omit.study.cell import Answer, Cell, Computation, Finished
from omit.study.results import read_results
from omit.study.run import run_study
from omit.study.store import NAME, open_store

CELLS = 100_000
REPETITIONS = 3


def compute(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    return {"error": float(rng.normal(size=50).mean() * parameters["rate"]), "method": "exact"}


quick = Computation("quick", 1, compute)


def prepare(shared: Mapping[str, Any], rng: np.random.Generator) -> Any:
    time.sleep(0.3)  # a data set and its outlier scores
    return rng.normal()


def use(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    time.sleep(0.02)
    return {"error": prepared * parameters["rate"]}


prepared_cells = Computation("prepared", 1, use, prepare, shared=("data",))


def declare(count: int) -> tuple[Cell, ...]:
    return quick.grid(
        data="adult",
        column="age",
        statistic=["mean", "mode"],
        epsilon=[0.25, 0.5, 1, 2, 4],
        rate=[number / count for number in range(count // 10)],
        noise_reduction=True,
    )


def overhead(folder: Path, where: str, count: int) -> None:
    cells = declare(count)
    start = time.perf_counter()
    for cell in cells:
        compute(cell.parameters, None, cell.rng())
    loop = time.perf_counter() - start
    start = time.perf_counter()
    run_study(cells, folder / where.replace(":", "-"), where)
    run = time.perf_counter() - start
    print(
        f"{count} quick cells, {where}: loop {loop / count * 1e6:.0f} us a cell, "
        f"study {run / count * 1e6:.0f} us a cell, {(run - loop) / count * 1e6:.0f} us more"
    )


def preparations(folder: Path, where: str) -> None:
    cells = prepared_cells.grid(data=range(8), rate=range(1, 61))
    start = time.perf_counter()
    run_study(cells, folder / f"prepared-{where.replace(':', '-')}", where)
    seconds = time.perf_counter() - start
    print(f"480 cells in 8 groups, {where}: {seconds:.1f} s (6 s with every group prepared once)")


def resume(folder: Path) -> None:
    cells = declare(CELLS)
    with open_store(folder / "large") as store:
        for first in range(0, CELLS, 500):
            rows: tuple[dict[str, Answer], ...] = ({"error": 0.123456789, "method": "exact"},)
            store.append([Finished(cell, rows, 0.01) for cell in cells[first : first + 500]])
    size = (folder / "large" / NAME).stat().st_size / 1e6
    best = {"declare": np.inf, "run again": np.inf, "table": np.inf}
    for _ in range(REPETITIONS):
        times = [time.perf_counter()]
        cells = declare(CELLS)
        times.append(time.perf_counter())
        results = run_study(cells, folder / "large", "process")
        times.append(time.perf_counter())
        results.to_frame()
        times.append(time.perf_counter())
        for name, seconds in zip(best, np.diff(times), strict=True):
            best[name] = min(best[name], float(seconds))
    start = time.perf_counter()
    read_results(folder / "large")
    everything = time.perf_counter() - start
    told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in best.items())
    print(f"a finished study of {CELLS} cells ({size:.0f} MB): {told}; read all {everything:.2f} s")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overhead(folder, "process", 20_000)
        overhead(folder, "cores:2", 20_000)
        overhead(folder, "local:2", 20_000)
        preparations(folder, "cores:2")
        preparations(folder, "local:2")
        resume(folder)


if __name__ == "__main__":
    main()
