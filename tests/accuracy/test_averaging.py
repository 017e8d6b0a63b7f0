"""Which medians average two records, and what a comparison says about it."""

from __future__ import annotations

import pytest

from omit import Column, Comparison, FixedSizeSampling, Guarantee, Mechanism, NoisyMean, compare
from omit.mechanisms import (
    ExponentialQuantile,
    GlobalQuantile,
    ProposeTestRelease,
    SmoothQuantile,
    global_sensitivity,
)

TARGET = Guarantee(1.0, 1e-3, "replace")


def compared(records: int, mechanism: Mechanism, *sizes: int) -> Comparison:
    column = Column.from_values(range(records), bounds=(0, 100), name="x")
    samples = [FixedSizeSampling(size, records) for size in sizes]
    return compare(column, mechanism, TARGET, *samples, runs=5)


def said(comparison: Comparison) -> str:
    return " ".join(note for note in comparison.notes if "mean of two" in note)


@pytest.mark.parametrize("size", [2, 3, 10, 11])
def test_a_median_averages_two_records_where_its_sensitivity_is_halved(size: int) -> None:
    column = Column.from_values(range(size), bounds=(0, 100))
    halved = global_sensitivity(column, "median") < 100
    assert GlobalQuantile().averages_two(size) == halved
    assert SmoothQuantile().averages_two(size) == halved
    assert ProposeTestRelease().averages_two(size) == halved


def test_other_statistics_and_mechanisms_do_not_depend_on_parity() -> None:
    for mechanism in (
        GlobalQuantile(0.9),
        ExponentialQuantile(),
        NoisyMean("laplace", "published", "squared"),
    ):
        assert not mechanism.averages_two(10)
        assert said(compared(21, mechanism, 10, 11)) == ""


@pytest.mark.slow
def test_a_comparison_says_where_rows_differ_by_parity() -> None:
    mixed = "rows of even and of odd size differ by that"
    assert mixed in said(compared(21, GlobalQuantile(), 10))
    assert mixed in said(compared(20, GlobalQuantile(), 11))
    assert mixed in said(compared(20, SmoothQuantile(), 10, 11))


def test_a_comparison_of_odd_sizes_says_that_even_ones_have_an_advantage() -> None:
    assert "an advantage of samples of even size" in said(compared(21, GlobalQuantile(), 11, 5))


def test_where_all_rows_average_two_or_nothing_is_sampled_nothing_is_said() -> None:
    assert said(compared(20, GlobalQuantile(), 10, 2)) == ""
    assert said(compared(21, GlobalQuantile())) == ""
