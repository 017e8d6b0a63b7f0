"""How fast the privacy bounds are, as ratios to plain code measured in the same run.

Run with `python benchmarks/privacy.py`, on one core, with `--suppression` for checks of any
suppression instead, and with `--verify` to add the whole of `omit verify theorem-5.4` on two.
Baselines are what one would write first: one cell at a time, the maximum of Theorem 5.4 by scipy's
bounded search, the inverse by scipy's brentq.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.optimize import brentq, minimize_scalar

import omit
from omit.laws.thresholds import worst_count
from timing import seconds

CELLS = 500_000
BASELINE_CELLS = 400


def published_plainly(epsilon: float, m: float, M: float) -> float:
    grow = math.exp(epsilon)

    def l1(p: float) -> float:
        u = p * M + (1 - p) * m
        return math.log(grow - (grow - 1) * u) + p * M / m + (1 - p) * (1 - m) / (1 - u) - 1

    def l2(p: float) -> float:
        v = (M + m - p * M) / (2 - p)
        u = p * M + (1 - p) * v
        return math.log(grow - (grow - 1) * u) + p * M / m + (1 - p) * (1 - v) / (1 - M) - 1

    l3 = -math.log(1 / grow + (1 - 1 / grow) * M) + 1 - (1 - M) / (1 - m)
    options = {"xatol": 1e-10}
    inside = [
        -minimize_scalar(lambda p, f=f: -f(p), bounds=(0, 1), method="bounded", options=options).fun
        for f in (l1, l2)
    ]
    return float(max(*inside, l1(0), l1(1), l2(0), l3))


def mixture_plainly(epsilon: float, m: float, M: float) -> float:
    grow = math.exp(epsilon)
    x, b = 1 + (grow - 1) * m, grow - (grow - 1) * M
    A, B = grow - (grow - 1) * m, (grow - 1) * (M - m)
    if m + M <= 1:
        return math.log(b) + B / x

    def value(a: float) -> float:
        return math.log(A - B * a) + (1 - a) * B / b + (2 * a - 1) * B / x

    options = {"xatol": 1e-10}
    found = minimize_scalar(lambda a: -value(a), bounds=(0.5, 1), method="bounded", options=options)
    return float(max(-found.fun, value(0.5), value(1.0)))


def inverse_plainly(
    bound: Callable[[float, float, float], float], target: float, m: float, M: float
) -> float:
    if bound(0.0, m, M) > target:
        return math.nan
    upper = target
    while bound(upper, m, M) < target:
        upper *= 2
    return float(brentq(lambda epsilon: bound(epsilon, m, M) - target, 0, upper, xtol=1e-12))


def each(function: Callable[..., float], cells: Sequence[tuple[float, ...]]) -> list[float]:
    return [function(*cell) for cell in cells]


def rate(call: Callable[[], object], cells: int) -> float:
    """Return cells per second, the best of a few runs."""
    return cells / seconds(call)


def row(name: str, fast: float, plain: float, goal: float) -> None:
    print(f"{name:34} {fast:12,.0f}/s {plain:10,.0f}/s {fast / plain:8,.0f}x   goal {goal:9,.0f}/s")


def keep_by_score(records: Sequence[float]) -> list[float]:
    return [0.9 - 0.2 * sum(abs(x - y) for y in records) / len(records) for x in records]


def random_pair(rng: np.random.Generator, records: int) -> omit.omissions.SubsetPair:
    """Return a pair of databases with random laws over all subsets of both."""
    laws = []
    for size in (records, records + 1):
        subsets = [
            kept
            for length in range(size + 1)
            for kept in itertools.combinations(range(size), length)
        ]
        chances = rng.dirichlet(np.ones(len(subsets))).tolist()
        laws.append(dict(zip(subsets, chances, strict=True)))
    return omit.omissions.SubsetPair.from_distributions(range(records), records, *laws)


def suppression() -> None:
    """Print how long checks of any suppression take."""
    positions = [0.0, 1 / 3, 2 / 3, 1.0]
    once = partial(
        omit.omissions.check,
        keep_by_score,
        positions,
        6,
        omit.Guarantee(1.0),
        returns="probabilities",
    )
    checked = once()
    spent = seconds(once, 1)
    print(f"all {checked.pairs} pairs of up to 6 records over 4 values: {spent:.1f} s (goal 120)")
    for records in (7, 8):
        pair = random_pair(np.random.default_rng(0), records)
        spent = seconds(partial(pair.best_assignments, 1.0), 1)
        print(f"fractional assignment for 2^{records} subsets: {spent:.2f} s (goal 10)")
    settings = list(itertools.product((0.01, 0.05, 0.1, 0.5), (5, 10, 20, 50, 100), range(1, 6)))
    spent = seconds(lambda: [worst_count(rate, k, 0.2 * e) for rate, k, e in settings], 1)
    print(f"sample and threshold, {len(settings)} deltas: {spent:.2f} s (goal 1)")


def main() -> None:
    if "--suppression" in sys.argv:
        suppression()
        return
    rng = np.random.default_rng(0)
    epsilon = rng.uniform(0.01, 4, CELLS)
    m, M = np.sort(rng.uniform(0.01, 0.99, (2, CELLS)), axis=0)
    few = list(zip(epsilon, m, M, strict=True))[:BASELINE_CELLS]
    tenth = slice(0, CELLS // 10)
    print(f"{'':34} {'omit':>14} {'plain':>12} {'ratio':>9}")
    for name, fast, plain in (
        ("mixture bound", omit.omissions.mixture_epsilon, mixture_plainly),
        ("published bound", omit.omissions.published_epsilon, published_plainly),
    ):
        plain_rate = rate(partial(each, plain, few), BASELINE_CELLS)
        row(name, rate(partial(fast, epsilon, m, M), CELLS), plain_rate, 500_000)
    for name, inverse, plain in (
        ("calibrate, mixture bound", omit.omissions.mixture_base_epsilon, mixture_plainly),
        ("calibrate, published bound", omit.omissions.published_base_epsilon, published_plainly),
    ):
        plain_rate = rate(partial(each, partial(inverse_plainly, plain), few), BASELINE_CELLS)
        fast_rate = rate(partial(inverse, epsilon[tenth], m[tenth], M[tenth]), CELLS // 10)
        row(name, fast_rate, plain_rate, 50_000)
    if "--verify" in sys.argv:
        from omit.papers.omitting_records.theorem_5_4 import verify

        start = time.perf_counter()
        found = verify(workers=2)
        minutes = (time.perf_counter() - start) / 60
        print(f"verify theorem-5.4: {found.cells:,} cells in {minutes:.1f} min (goal 15)")


if __name__ == "__main__":
    main()
