"""Sensitivities, against their definitions by enumeration of whole worlds of databases."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from omit import Column, InvalidInput, read
from omit.exact.order import quantile_ranks
from omit.mechanisms.sensitivity import (
    Statistic,
    distance_to_sensitivity,
    global_sensitivity,
    local_sensitivity,
    smooth_sensitivity,
)

DOMAIN = (0.0, 1.0, 3.0, 7.0)
STATISTICS: tuple[Statistic, ...] = ("mean", "median", 0.25, 0.9)

FloatArray = NDArray[np.float64]


class World:
    """All databases of one size over a small domain: sensitivities by definition alone."""

    def __init__(self, size: int, statistic: Statistic) -> None:
        self.databases = list(itertools.combinations_with_replacement(DOMAIN, size))
        self.columns = [Column.from_values(each, bounds=(0, 7)) for each in self.databases]
        tallies = [Counter(each) for each in self.databases]
        # How many records must be exchanged to get from one database to the other.
        self.distance = np.array([[size - (a & b).total() for b in tallies] for a in tallies])
        answers = np.array([_answer(each, statistic) for each in self.databases])
        change = np.abs(answers[:, None] - answers)
        self.local = np.where(self.distance <= 1, change, 0.0).max(axis=1)

    def at_distance(self, steps: int) -> FloatArray:
        return np.asarray(np.where(self.distance <= steps, self.local, 0.0).max(axis=1))

    def smooth(self, beta: float) -> FloatArray:
        return np.asarray((np.exp(-beta * self.distance) * self.local).max(axis=1))

    def steps_above(self, above: float) -> FloatArray:
        reached = self.local > above
        return np.asarray(np.where(reached, self.distance, math.inf).min(axis=1))


def _answer(database: tuple[float, ...], statistic: Statistic) -> float:
    if statistic == "mean":
        return float(np.mean(database))
    if statistic == "median":
        return float(np.median(database))
    assert isinstance(statistic, float)
    return float(np.quantile(database, statistic, method="inverted_cdf"))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_every_sensitivity_is_what_its_definition_says(size: int, statistic: Statistic) -> None:
    world = World(size, statistic)
    assert global_sensitivity(world.columns[0], statistic) == pytest.approx(world.local.max())
    for steps in range(size + 1):
        found = [local_sensitivity(column, statistic, steps) for column in world.columns]
        np.testing.assert_allclose(found, world.at_distance(steps), atol=1e-12)
    for beta in (0.05, 0.4, 2.0):
        smooth = [smooth_sensitivity(column, statistic, beta) for column in world.columns]
        np.testing.assert_allclose(smooth, world.smooth(beta), rtol=1e-12)
    for above in (0.43, 1.23, 1.93, 2.63, 3.23, 6.53, 7.0):
        steps_found = [distance_to_sensitivity(each, statistic, above) for each in world.columns]
        np.testing.assert_array_equal(steps_found, world.steps_above(above))


@pytest.mark.parametrize("statistic", STATISTICS[1:], ids=str)
def test_the_smooth_sensitivities_of_neighbours_differ_by_at_most_the_discount(
    statistic: Statistic,
) -> None:
    world, beta = World(5, statistic), 0.3
    smooth = np.log([smooth_sensitivity(column, statistic, beta) for column in world.columns])
    gap = np.abs(smooth[:, None] - smooth)[world.distance == 1]
    assert gap.max() <= beta + 1e-12
    assert gap.max() == pytest.approx(beta)
    # The local sensitivity has no such limit, which is why its noise is not private.
    local = world.local[:, None] / np.maximum(world.local, 1e-9)
    assert local[world.distance == 1].max() > np.exp(2 * beta)


def _by_definition(records: FloatArray, beta: float, lower: float, upper: float) -> float:
    """Return Eq. 4 of the paper for an odd number of records, one distance after the other."""
    size = len(records)
    ends = np.ones(size + 1)
    padded = np.concatenate([lower * ends, np.sort(records), upper * ends])
    middle = size + 1 + (size + 1) // 2 - 1
    largest = 0.0
    for k in range(size + 1):
        t = np.arange(k + 2)
        widest = (padded[middle + t] - padded[middle + t - k - 1]).max()
        largest = max(largest, float(np.exp(-k * beta) * widest))
    return largest


@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=41).filter(lambda records: len(records) % 2),
    st.floats(1e-3, 3),
)
def test_on_any_records_it_is_equation_4(records: list[float], beta: float) -> None:
    column = Column.from_values(records, bounds=(0, 10))
    expected = _by_definition(np.array(records), beta, 0, 10)
    assert smooth_sensitivity(column, "median", beta) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["beta", "lognormal", "bimodal"])
@pytest.mark.parametrize("beta", [4.7e-4, 4.7e-3, 0.05, 0.25])
def test_on_the_papers_populations_it_is_equation_4(name: str, beta: float) -> None:
    column = read(name)
    assert column.bounds is not None
    records = np.repeat(column.values, column.counts)
    expected = _by_definition(records, beta, *column.bounds)
    assert smooth_sensitivity(column, "median", beta) == pytest.approx(expected, rel=1e-13)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.sampled_from([0.5, 0.1, 0.77]))
def test_ties_are_counted_not_listed(records: list[int], share: float) -> None:
    # The same records, moved apart by next to nothing so that none of them are equal.
    apart = np.sort(records) + 1e-9 * np.arange(len(records))
    tied, listed = (Column.from_values(each, bounds=(0, 6)) for each in (records, apart))
    for beta in (0.01, 0.3):
        assert smooth_sensitivity(tied, share, beta) == pytest.approx(
            smooth_sensitivity(listed, share, beta), abs=1e-6
        )


@given(st.integers(1, 10_000), st.floats(0.001, 0.999))
def test_a_quantile_is_the_smallest_record_with_its_share_below(size: int, share: float) -> None:
    low, high = quantile_ranks(share, size)
    if share == 0.5 and size % 2 == 0:
        assert (low, high) == (size // 2, size // 2 + 1)
    else:
        assert low == high
        assert low / size >= share - 1e-12
        assert low == 1 or (low - 1) / size < share


def test_how_far_the_bounds_reach_decides_the_sensitivity_at_small_epsilon() -> None:
    # At epsilon = .01 and delta = 1/2N, whose beta is 4.7e-4 (figures of the analysis).
    column = read("lognormal")
    beta = 0.01 / (2 * math.log(2 * 2 * 10_001))
    values = column.values

    def at(upper: float) -> float:
        wide = Column.from_values(values, bounds=(0, upper))
        return smooth_sensitivity(wide, "median", beta)

    assert round(smooth_sensitivity(column, "median", beta, padding="none")) == 92
    assert [round(at(upper)) for upper in (2e3, 1e4, 1e5)] == [175, 931, 9435]


def test_constant_records_within_wide_bounds_are_still_sensitive_at_a_distance() -> None:
    column = Column.from_counts([5.0], [101], bounds=(0, 10))
    assert local_sensitivity(column, "median") == 0
    # 51 records must move before the median can jump from 5 to an end.
    assert smooth_sensitivity(column, "median", 0.1) == pytest.approx(5 * math.exp(-5.0))
    one_point = Column.from_counts([5.0], [101], bounds=(5, 5))
    assert smooth_sensitivity(one_point, "median", 0.1) == 0


@pytest.mark.parametrize(
    ("statistic", "beta", "padding", "message"),
    [
        ("mode", 0.1, "bounds", "'mean', 'median' or a share"),
        (1.5, 0.1, "bounds", "strictly between 0 and 1"),
        (0.0, 0.1, "bounds", "strictly between 0 and 1"),
        ("median", 0.0, "bounds", "beta=0 to be above 0"),
        ("median", math.nan, "bounds", "finite"),
        ("median", 0.1, "some", "'bounds' or 'none'"),
    ],
)
def test_what_has_no_smooth_sensitivity_is_refused(
    statistic: Statistic, beta: float, padding: str, message: str
) -> None:
    column = Column.from_values([1, 2, 3], bounds=(0, 9))
    with pytest.raises(InvalidInput, match=message):
        smooth_sensitivity(column, statistic, beta, padding)  # type: ignore[arg-type]


def test_text_and_infinite_bounds_have_no_sensitivity() -> None:
    text = Column.from_values(["a", "b"], categories=("a", "b"))
    with pytest.raises(InvalidInput, match="text and has no sensitivity"):
        global_sensitivity(text, "median")
    with pytest.raises(InvalidInput, match="every sensitivity is infinite, the smooth one"):
        Column.from_values([1, 2, 3], bounds=(0, math.inf))
