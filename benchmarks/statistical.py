"""How fast the privacy curves are, against plain code in the same run.

Run with `python benchmarks/statistical.py`, on one core. Baselines are what one would write first:
the definition summed with scipy's binomial, one epsilon at a time; repeated squaring by
`fftconvolve` for sums.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.signal import fftconvolve
from scipy.stats import binom

import omit
from omit.papers import reproduce
from timing import seconds


def property_plainly(n: int, p: float, epsilon: np.ndarray) -> list[float]:
    counts = np.arange(n + 1)
    up, still = binom.pmf(counts - 1, n - 1, p), binom.pmf(counts, n - 1, p)
    result = []
    for each in epsilon:
        grow = math.exp(each)
        result.append(
            max(np.maximum(up - grow * still, 0).sum(), np.maximum(still - grow * up, 0).sum())
        )
    return result


def sum_plainly(weights: np.ndarray, n: int, epsilon: float) -> float:
    total, power, left = np.ones(1), weights, n - 1
    while left:
        if left & 1:
            total = fftconvolve(total, power)
        power = fftconvolve(power, power) if left > 1 else power
        left >>= 1
    shift = np.zeros(len(weights) - 1)
    up, still = np.concatenate([shift, total]), np.concatenate([total, shift])
    return float(np.maximum(up - math.exp(epsilon) * still, 0).sum())


def row(name: str, fast: float, goal: float, plain: float | None, note: str = "") -> None:
    against = "" if plain is None else f"plain {plain:8.3f} s = {plain / fast:7.0f}x"
    print(f"{name:52} {fast:8.4f} s   goal {goal:5.2f} s   {against} {note}")


def main() -> None:
    epsilon = np.linspace(0, 0.05, 1000)
    few = epsilon[::50]
    plain = seconds(lambda: property_plainly(10**6, 0.3, few), 1) * len(epsilon) / len(few)
    fast = seconds(lambda: omit.statistical.property_curve(10**6, 0.3, epsilon), 5)
    row("property, n = 10^6, 1,000 epsilons", fast, 0.05, plain, "(plain: 20 epsilons, scaled)")
    fast = seconds(lambda: omit.statistical.property_curve(10**8, 0.3, epsilon / 10), 5)
    row("property, n = 10^8, 1,000 epsilons", fast, math.inf, None)
    fast = seconds(lambda: reproduce("statistical-privacy", tables=[1, 2], where="process"), 5)
    row("Tables 1 and 2, with exact DP accounting", fast, 2.0, None)
    flat = np.full(1000, 1e-3)
    spiky = np.random.default_rng(0).random(1000)
    for name, weights in (("uniform", flat), ("random", spiky / spiky.sum())):
        law = omit.laws.Distribution(np.arange(1000.0), weights)
        fast = seconds(partial(omit.statistical.sum_curve, law, 10**5, [0.02]))
        row(f"sum, 1,000 values ({name}), n = 10^5", fast, 1.0, None)
    law = omit.laws.Distribution(np.arange(1000.0), flat)
    plain = seconds(lambda: sum_plainly(flat, 2000, 0.02), 1)
    fast = seconds(lambda: omit.statistical.sum_curve(law, 2000, [0.02]))
    row("sum, 1,000 values (uniform), n = 2,000", fast, 1.0, plain)


if __name__ == "__main__":
    main()
