"""How fast the errors of protected tables are computed, swapping against whole convolutions.

Run with `python benchmarks/disclosure.py` on one core.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from scipy.stats import binom

from omit.disclosure.histograms import (
    DiscreteGaussianHistogram,
    GeometricHistogram,
    LaplaceHistogram,
)
from omit.disclosure.measures import exact_measures
from omit.disclosure.suppression import RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping
from omit.disclosure.table import Attribute, CountTable
from timing import seconds

TARGETS = 200


def main() -> None:
    rng = np.random.default_rng(1)
    kinds = tuple(Attribute(name, tuple("abcdefghij")) for name in "vwxyz")
    large = CountTable(kinds, rng.geometric(0.05, 100_000) - 1)
    for mechanism in (
        LaplaceHistogram(1.0),
        GeometricHistogram(1.0),
        DiscreteGaussianHistogram(Fraction(36), 1.0),
        RandomisedCellSuppression(6, epsilon=1.0),
    ):
        taken = seconds(partial(exact_measures, mechanism, large))
        print(f"closed-form measures of 100,000 cells, {mechanism}: {taken:.3f} s (goal 1)")
    swapping = RandomisedSwapping(("v",), 0.25, epsilon=1.0)
    swapping.errors(large)  # compiles
    ours = seconds(partial(exact_measures, swapping, large))
    loop = seconds(partial(convolved, swapping, large, TARGETS), 1) * large.cells / TARGETS
    print(
        f"closed-form measures of 100,000 cells ({large.size:,} records), {swapping}: {ours:.2f} s "
        f"(goal 1); numpy's convolutions {loop:.0f} s, ratio {loop / ours:.0f}"
    )


def convolved(mechanism: RandomisedSwapping, table: CountTable, cells: int) -> None:
    """Compute expected absolute errors of some cells by convolving whole binomial laws."""
    law = mechanism.law(table)
    for cell in range(0, table.cells, table.cells // cells):
        rows, columns = np.nonzero(law.targets == cell)
        distribution = np.ones(1)
        for row, column in zip(rows, columns, strict=True):
            values = np.arange(law.counts[row] + 1)
            chances = binom.pmf(values, law.counts[row], law.chances[row, column])
            distribution = np.convolve(distribution, chances)
        np.abs(np.arange(len(distribution)) - table.flat[cell]) @ distribution


if __name__ == "__main__":
    main()
