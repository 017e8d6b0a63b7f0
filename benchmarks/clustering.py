"""How fast private clusterings are, as ratios to plain versions in the same run.

Run with `python benchmarks/clustering.py`, on one core of a quiet machine. Times are the best of
several repetitions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.cluster._kmeans import _labels_inertia
from threadpoolctl import threadpool_limits

import omit
from omit._numeric import FloatArray
from omit.mechanisms.kmeans import uniform_starts
from timing import seconds

K, ITERATIONS = 5, 20


def by_differences(rows: FloatArray, centres: FloatArray) -> np.ndarray:
    return np.asarray(np.square(rows[:, None] - centres[None]).sum(axis=2).argmin(axis=1))


def by_product(rows: FloatArray, centres: FloatArray) -> np.ndarray:
    return np.asarray((0.5 * np.square(centres).sum(axis=1) - rows @ centres.T).argmin(axis=1))


def numpy_lloyd(
    rows: FloatArray,
    scale: float,
    assign: Callable[[FloatArray, FloatArray], np.ndarray],
    rng: np.random.Generator,
) -> FloatArray:
    """Return DPLloyd's centres by vectorised numpy."""
    dimensions = rows.shape[1]
    centres = uniform_starts(K, dimensions, rng)
    for _ in range(ITERATIONS):
        labels = assign(rows, centres)
        counts = np.bincount(labels, minlength=K) + rng.laplace(0, scale, K)
        sums = np.column_stack(
            [np.bincount(labels, rows[:, j], minlength=K) for j in range(dimensions)]
        ) + rng.laplace(0, scale, (K, dimensions))
        moving = counts >= 1
        centres[moving] = np.clip(sums[moving] / counts[moving, None], -1, 1)
    return centres


def numpy_median(
    rows: FloatArray, candidates: FloatArray, k: int, steps: int, rate: float, seed: int
) -> FloatArray:
    """Return private k-median's centres by vectorised numpy that scores every swap."""
    rng = np.random.default_rng(seed)
    halved = 0.5 / np.sqrt(rows.shape[1])
    apart = halved * np.linalg.norm(rows[:, None] - candidates[None], axis=2)
    centres = rng.choice(len(candidates), k, replace=False)
    sets, costs = [centres], [apart[:, centres].min(axis=1).sum()]
    for _ in range(steps):
        after = np.empty((k, len(candidates)))
        for slot in range(k):
            others = np.delete(centres, slot)
            left = apart[:, others].min(axis=1)
            after[slot] = np.minimum(left[:, None], apart).sum(axis=0)
        after[:, centres] = np.inf
        weights = np.exp(-rate * (after - after.min())).ravel()
        chosen = rng.choice(weights.size, p=weights / weights.sum())
        slot, entering = divmod(int(chosen), len(candidates))
        centres = centres.copy()
        centres[slot] = entering
        sets.append(centres)
        costs.append(after[slot, entering])
    weights = np.exp(-rate * (np.array(costs) - min(costs)))
    return candidates[sets[rng.choice(len(sets), p=weights / weights.sum())]]


def lloyd() -> None:
    points = omit.read_points("adult")
    mechanism = omit.DPLloyd(K, ITERATIONS, start="uniform")
    prepared = mechanism.prepare(points, omit.Guarantee(1.0))
    rng = np.random.default_rng(0)
    prepared.centres(None, rng)  # compiles
    ours = seconds(partial(prepared.centres, None, rng), 300)
    print(f"DPLloyd, {points.size:,} x {points.dimensions}, k = {K}, {ITERATIONS} iterations:")
    print(f"  compiled                        {1e3 * ours:8.2f} ms")
    rows = np.ascontiguousarray(points.scaled.T)
    for name, assign in (("differences", by_differences), ("matrix product", by_product)):
        theirs = seconds(partial(numpy_lloyd, rows, prepared.noise_scale, assign, rng), 7)
        print(
            f"  numpy, by {name:15s}       {1e3 * theirs:8.2f} ms, ratio {theirs / ours:.1f} "
            "(goal at least 10)"
        )
    weights, centres = np.ones(points.size), uniform_starts(K, points.dimensions, rng)
    one_pass = seconds(
        partial(_labels_inertia, rows, weights, centres, n_threads=1, return_inertia=False), 300
    )
    print(
        f"  scikit-learn, {ITERATIONS} assignments    {1e3 * ITERATIONS * one_pass:8.2f} ms, "
        f"ours is {ours / (ITERATIONS * one_pass):.2f} of that (goal at most 3)"
    )
    for rate in (0.5, 0.1, 0.01):
        kept = np.flatnonzero(rng.random(points.size) < rate)
        sampled = seconds(partial(prepared.centres, kept, rng), 300)
        print(
            f"  Poisson sample at rate {rate:<4g}     {1e3 * sampled:8.2f} ms, {sampled / ours:.3f}"
        )


def median() -> None:
    rng = np.random.default_rng(0)
    rows = np.clip(rng.normal(rng.uniform(10, 90, (4, 2)).repeat(25, axis=0), 10), 1, 100).round()
    points = omit.Points.from_rows(rows, (1, 100))
    mechanism = omit.mechanisms.PrivateKMedian(k=4, candidates=100)
    prepared = mechanism.prepare(points, omit.Guarantee(1.0))
    prepared.centres(None, rng)  # compiles
    ours = seconds(partial(prepared.centres, None, rng), 300)
    scored = seconds(
        partial(
            numpy_median,
            np.ascontiguousarray(prepared.columns.T),
            np.ascontiguousarray(prepared.candidates.T),
            4,
            prepared.steps,
            prepared.rate,
            0,
        ),
        1,
    )
    print(f"k-median, 100 points, 100 x 100 candidates, k = 4, {prepared.steps} swaps:")
    print(f"  compiled, by rejection          {1e3 * ours:8.2f} ms")
    print(
        f"  numpy, every swap scored        {1e3 * scored:8.0f} ms, ratio {scored / ours:.0f} "
        "(goal at least 300)"
    )


if __name__ == "__main__":
    with threadpool_limits(1):  # everything on one core
        lloyd()
        median()
