"""How fast disclosure control is assessed, as ratios to textbook loops in the same run.

Run with `python benchmarks/disclosure.py`, with OMIT_DATA set, on one core. The textbook loop looks
at all other records for every record, in a random order, and flips a coin for each (vectorised by
numpy over the other records); it is timed on some of the records and scaled to all of them.
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
from omit.disclosure.selection import choose_donors
from omit.disclosure.suppression import RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping
from omit.disclosure.table import Attribute, CountTable
from omit.disclosure.tabulation import tabulate
from timing import seconds

TARGETS = 200


def textbook(records: np.ndarray, quasi: list[int], targets: int) -> None:
    rng = np.random.default_rng(0)
    rest = np.delete(records, quasi, axis=1)
    for own in range(targets):
        distance = (rest != rest[own]).mean(axis=1)
        distance[own] = np.inf
        accept = np.exp(-0.5 * (distance - distance.min()))
        order = rng.permutation(len(records))
        order[np.argmax(rng.random(len(records)) < accept[order])]


def main() -> None:
    rng = np.random.default_rng(1)
    five = ["PUMA", "RAC1P", "SEX", "OWN_RENT", "income50k"]
    table = tabulate(
        "nist-national", five, derive=["income50k = PINCP >= 50000"], missing="category"
    )
    records = rng.permutation(table.records())
    choose_donors(records[:50], [1], 1.0, rng)  # compiles
    ours = seconds(lambda: choose_donors(records, [1], 1.0, rng))
    loop = seconds(lambda: textbook(records, [1], TARGETS), 1) * len(records) / TARGETS
    print(
        f"permute-and-flip donors of {len(records):,} records: {ours:.3f} s, textbook loop "
        f"{loop:.0f} s, ratio {loop / ours:.0f} (goal 50)"
    )
    distinct = np.column_stack([rng.integers(9, size=len(records)), np.arange(len(records))])
    alone = seconds(lambda: choose_donors(distinct, [0], 1.0, rng), 1)
    print(f"the same if no two records share a profile: {alone:.1f} s, ratio {loop / alone:.0f}")

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
