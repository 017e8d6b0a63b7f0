"""How fast sensitivities and sampled errors are, as ratios to the plain way in the same run.

Run with `python benchmarks/gains.py`, on one core. The baseline of the smooth sensitivity is its
definition in numpy, O(n^2); that of an error is drawing noise for as many samples as would have the
same interval. The whole reproduction is timed with `--reproduction`.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Literal

import numpy as np

import omit
from omit.mechanisms.sensitivity import published_laplace
from omit.papers import reproduce
from timing import seconds

DELTA = 1 / 20_002


def by_definition(records: np.ndarray, beta: float, lower: float, upper: float) -> float:
    size = len(records)
    ends = np.ones(size + 1)
    padded = np.concatenate([lower * ends, records, upper * ends])
    middle = size + 1 + (size + 1) // 2 - 1
    largest = 0.0
    for k in range(size + 1):
        t = np.arange(k + 2)
        widest = (padded[middle + t] - padded[middle + t - k - 1]).max()
        largest = max(largest, float(np.exp(-k * beta) * widest))
    return largest


def main() -> None:
    column = omit.read("lognormal")
    records = np.repeat(column.values, column.counts)
    omit.mechanisms.smooth_sensitivity(column, "median", 0.1)  # compiles
    for epsilon in (0.01, 0.1, 1.0):
        beta = published_laplace(omit.Guarantee(epsilon, DELTA, "replace")).beta
        plain = seconds(partial(by_definition, records, beta, 0.0, 2000.0), 2)
        quick = seconds(partial(omit.mechanisms.smooth_sensitivity, column, "median", beta), 5)
        print(
            f"smooth sensitivity, n = 10,001, epsilon = {epsilon:g}: {1e3 * quick:.3f} ms, by "
            f"definition {1e3 * plain:.0f} ms, ratio {plain / quick:,.0f} (goal 300)"
        )
    drawn = np.random.default_rng(0).lognormal(5, 0.5, 10_000_000)
    start = time.perf_counter()
    many = omit.Column.from_values(drawn, bounds=(0, 1e4))
    made = time.perf_counter() - start
    for beta in (1e-8, 1e-5, 0.01):
        quick = seconds(partial(omit.mechanisms.smooth_sensitivity, many, "median", beta), 2)
        print(
            f"smooth sensitivity, n = 10 million, beta = {beta:g}: {quick:.2f} s "
            f"(goal 10 s), after {made:.1f} s to sort the records"
        )
    sampling = omit.FixedSizeSampling(size=1001, population=10_001)
    target, mechanism = omit.Guarantee(0.1, DELTA, "replace"), omit.mechanisms.SmoothQuantile()

    def error(method: Literal["auto", "simulated"]) -> omit.ExpectedError:
        return omit.expected_error(column, mechanism, target, sampling, method)

    integrated, simulated = error("auto"), error("simulated")
    needed = ((simulated.high - simulated.low) / (integrated.high - integrated.low)) ** 2
    times = seconds(lambda: error("auto"), 2), seconds(lambda: error("simulated"), 2)
    print(
        f"error after sampling: {times[0]:.2f} s with integrated noise; drawing noise takes "
        f"{needed:.1f} times as many samples for the same interval, {times[1] * needed:.2f} s, "
        f"ratio {times[1] * needed / times[0]:.1f}"
    )
    if "--reproduction" in sys.argv:
        whole = seconds(lambda: reproduce("accuracy-gains", where="process"), 1)
        print(f"the whole reproduction: {whole:.0f} s (goal 300 s)")


if __name__ == "__main__":
    main()
