"""How fast points are read, scored and drawn.

Run with `python benchmarks/points.py [RECORDS]`. Prints, on this machine and in this run:

- the Euclidean outlier scores of Adult's six numbers, as a ratio to the same in numpy by blocks of
  a full matrix of distances (goal: under 5 s on two cores), and those of Manhattan and discrete
  distance;
- the scores of 200,000 x 6 random numbers, or of RECORDS, with the memory they needed on top (goal:
  not to run out of it; all distances at once would be 320 GB);
- one draw of each omission, as a ratio to the random numbers alone (goal: 50 to 100 microseconds
  at rate 0.01).
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np

import omit
from omit._numeric import FloatArray, as_array
from omit.data.distances import point_distances
from omit.laws.design import _numbers
from timing import seconds

BLOCK = 200


def scores(points: omit.Points, distance: str) -> FloatArray:
    return point_distances(points, distance).means


def numpy_scores(points: omit.Points) -> FloatArray:
    """Return the Euclidean scores by broadcasting, in blocks that fit into memory."""
    rows = np.ascontiguousarray(points.scaled.T)
    means = [
        np.sqrt(((rows[start : start + BLOCK, None, :] - rows) ** 2).sum(axis=2)).mean(axis=1)
        for start in range(0, points.size, BLOCK)
    ]
    return as_array(np.concatenate(means) / (2 * np.sqrt(points.dimensions)))


def measure_reading() -> omit.Points:
    taken = seconds(lambda: omit.read_points("adult"))
    points = omit.read_points("adult")
    print(f"reading {points}: {taken:.2f} s")
    return points


def measure_scores(points: omit.Points) -> None:
    few = omit.Points.from_rows(points.rows[:500], points.bounds)
    scores(few, "euclidean")  # compiles, or finds what was compiled
    ours = seconds(lambda: scores(points, "euclidean"))
    # A sixteenth of the rows of the full matrix is enough to know its time.
    part = omit.Points.from_rows(points.rows[::4], points.bounds)
    theirs = seconds(lambda: numpy_scores(part), 1) * (points.size / part.size) ** 2
    difference = np.abs(scores(part, "euclidean") - numpy_scores(part)).max()
    print(f"Euclidean scores of {points.size:,} x {points.dimensions}: {ours:.2f} s")
    print(f"  numpy takes {theirs:.1f} s (scaled up from a sixteenth), {theirs / ours:.0f} times")
    print(f"  largest difference between the two: {difference:.1e}")
    for distance in ("manhattan", "discrete"):
        taken = seconds(partial(scores, points, distance))
        print(f"{distance.capitalize()} scores: {1000 * taken:.1f} ms")


def measure_memory(records: int) -> None:
    rows = np.random.default_rng(1).random((records, 6))
    points = omit.Points.from_rows(rows, bounds=(0, 1))
    _ = points.scaled
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = seconds(lambda: scores(points, "euclidean"), 1)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"Euclidean scores of {records:,} x 6: {taken:.0f} s, peak memory {grown:.0f} MB higher")


def draw(draws: Iterator[np.ndarray], runs: int) -> None:
    for _ in range(runs):
        next(draws)  # nothing is kept of it, as in a simulation


def measure_draws(points: omit.Points, runs: int = 500) -> None:
    rng = np.random.default_rng(1)
    alone = seconds(lambda: [_numbers(points.size, rng) and None for _ in range(runs)]) / runs
    print(f"random numbers for one draw of {points.size:,}: {1e6 * alone:.0f} µs")
    for each in (
        omit.NoOmission(),
        omit.PoissonSampling(0.01),
        omit.PoissonSampling(0.1),
        omit.PoissonSampling(0.5),
        omit.FixedSizeSampling(points.size // 100, points.size),
        omit.FixedSizeSampling(points.size // 2, points.size),
        omit.OutlierScoreSuppression(0.1, 0.3),
    ):
        draws = each.design(points, "euclidean").positions(points.size, rng)
        next(draws)
        taken = seconds(partial(draw, draws, runs)) / runs
        print(f"  {each}: {1e6 * taken:.0f} µs, ratio {taken / alone:.1f}")


def main() -> None:
    points = measure_reading()
    measure_draws(points)
    # Before numpy's blocks, which would raise the peak.
    measure_memory(int(float(sys.argv[1])) if len(sys.argv) > 1 else 200_000)
    measure_scores(points)


if __name__ == "__main__":
    main()
