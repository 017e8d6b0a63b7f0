"""How fast choices on a lattice are, as ratios to the plain way in the same run.

Run with `python benchmarks/selection.py`, on one core. The baseline of an exact error is the law of
permute-and-flip over all points one by one, in numpy; that of an error after an omission is drawing
as many choices as would have an interval of 1 % of the error.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import omit
from omit.mechanisms import LatticeQuantile
from timing import seconds

POINTS = 200_001


def by_points(counts: np.ndarray, share: float, scale: float, truth: float) -> float:
    """Return the mean squared error over all points, each on its own."""
    ends = np.cumsum(counts)
    wanted = share * ends[-1]
    accepted = np.exp(-np.maximum(np.maximum(ends - counts - wanted, wanted - ends), 0) / scale)
    nodes, weights = np.polynomial.legendre.leggauss(36)
    chances = np.zeros(len(counts))
    half = 0.5 * min(1.0, 48 / accepted.sum())
    for node, weight in zip(half * (nodes + 1), weights, strict=True):
        product = np.exp(np.log1p(-node * accepted).sum())
        chances += weight * product / (1 - node * accepted)
    chances *= accepted
    return float(chances @ (np.arange(len(counts)) - truth) ** 2 / chances.sum())


def main() -> None:
    rng = np.random.default_rng(0)
    mechanism = LatticeQuantile()
    for distinct, records in ((100, 1000), (5000, 50_000), (POINTS, 400_000)):
        values = rng.choice(rng.choice(POINTS, distinct, replace=False), records)
        column = omit.Column.from_values(values, bounds=(0, POINTS - 1), step=1)
        for epsilon in (1.0, 0.01, 0.0001):
            target = omit.Guarantee(epsilon)
            exact = partial(omit.expected_error, column, mechanism, target)
            value = exact().value  # compiles
            quick = seconds(exact, 5)
            counts = column.domain()[1]
            slow = partial(by_points, counts, 0.5, mechanism.scale(target), mechanism.truth(column))
            assert abs(slow() / value - 1) < 1e-9
            plain = seconds(slow, 1)
            print(
                f"{POINTS:,} points, {column.distinct:,} values, epsilon = {epsilon:g}: "
                f"{1e3 * quick:.2f} ms (goal 50 ms), point by point {1e3 * plain:.0f} ms, ratio "
                f"{plain / quick:,.0f}"
            )
    few = omit.Column.from_values(rng.integers(20, 60, 60), bounds=(0, 125), step=1)
    setting = few, mechanism, omit.Guarantee(1.0), omit.PoissonSampling(0.5)
    exact = partial(omit.expected_error, *setting, method="exact")
    exact()
    quick = seconds(exact, 3)
    sample = omit.expected_error(*setting, method="simulated", runs=20_000)
    runs = 20_000 * ((sample.high - sample.low) / (0.01 * sample.value)) ** 2
    plain = seconds(partial(omit.expected_error, *setting, method="simulated", runs=20_000), 1)
    print(
        f"60 records after Poisson sampling: {1e3 * quick:.0f} ms, simulated to 1 % "
        f"{plain * runs / 20_000:.1f} s, ratio {plain * runs / 20_000 / quick:,.0f}"
    )


if __name__ == "__main__":
    main()
