"""Propose-test-release on samples of which few fail the test, against all samples there are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from omit import Column, FixedSizeSampling, Guarantee, expected_error, read
from omit.accuracy.simulated import simulated_error
from omit.exact.error import ExpectedError
from omit.laws.intervals import normal_interval
from omit.mechanisms import ProposeTestRelease
from omit.mechanisms.quantiles import Metric
from omit.mechanisms.rare_failures import _tail
from tests.parts import draw_counts, expected_errors

RECORDS = 10_001


def integrated_error(
    column: Column,
    mechanism: ProposeTestRelease,
    base: Guarantee,
    omission: FixedSizeSampling,
    truth: float,
    runs: int,
    rng: np.random.Generator,
) -> ExpectedError:
    prepared = mechanism.prepare(column, base, truth=truth)
    return simulated_error(prepared, column, omission.design(column, "absolute"), runs, rng)


def _two_values(share: float) -> Column:
    ones = round(RECORDS * (1 - share))
    return Column.from_counts([0.0, 1.0], [RECORDS - ones, ones], bounds=(0, 1))


def _exact_error(
    column: Column, mechanism: ProposeTestRelease, base: Guarantee, size: int, truth: float
) -> float:
    """Return the expected error over all samples of two values, one number of ones at a time."""
    ones = np.arange(size + 1)
    rows = np.column_stack([size - ones, ones])
    errors = expected_errors(mechanism, column, rows, column.bounds, base, truth)
    weights = hypergeom.pmf(ones, RECORDS, column.counts[1], size)
    return float(weights @ errors)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["squared", "relative"])
@pytest.mark.parametrize(
    ("share", "size", "epsilon"),
    [(0.6, 401, 2.0), (0.6, 401, 4.0), (0.65, 201, 2.0), (0.65, 401, 1.0), (0.7, 201, 2.0)],
)
def test_intervals_cover_though_few_samples_fail(
    share: float, size: int, epsilon: float, metric: Metric
) -> None:
    """Normal intervals of 300 samples cover in 6 to 44 of 100 cases here."""
    column, base = _two_values(share), Guarantee(epsilon, 1e-4, "replace")
    mechanism, omission = (
        ProposeTestRelease(0.01, metric=metric),
        FixedSizeSampling(size, RECORDS),
    )
    other_truth = 0.25  # the median is 0, and has no relative error
    exact = _exact_error(column, mechanism, base, size, other_truth)
    covered = normal = 0
    for seed in range(60):
        found = integrated_error(
            column, mechanism, base, omission, other_truth, 300, np.random.default_rng(seed)
        )
        covered += found.low <= exact <= found.high
        rows = draw_counts(omission, column, 300, np.random.default_rng(seed))
        drawn = expected_errors(mechanism, column, rows, (0.0, 1.0), base, other_truth)
        usual = normal_interval(drawn)
        normal += usual.low <= exact <= usual.high
        assert found.low <= found.value <= found.high
        assert not found.skewed
    assert covered >= 57
    assert normal < 45


def test_where_hardly_any_sample_fails_the_interval_stays_narrow() -> None:
    column = read("lognormal")
    found = expected_error(
        column,
        ProposeTestRelease(0.01),
        Guarantee(1.0, 1e-4, "replace"),
        FixedSizeSampling(1001, RECORDS),
        runs=500,
    )
    assert found.high - found.low < 1e-3 * found.value


@pytest.mark.usefixtures("too_many_outcomes")
def test_where_most_samples_fail_the_interval_is_that_of_what_can_happen() -> None:
    column, omission = _two_values(0.51), FixedSizeSampling(101, RECORDS)
    target, mechanism = Guarantee(0.5, 1e-4, "replace"), ProposeTestRelease(0.01)
    found = expected_error(column, mechanism, target, omission, runs=500)
    base = omission.calibrate(target)
    assert isinstance(base, Guarantee)
    assert found.low < _exact_error(column, mechanism, base, 101, 0.0) < found.high
    assert 0.02 < found.high - found.low < 0.2


@given(
    st.integers(2, 60).flatmap(
        lambda size: st.tuples(
            st.just(size), st.integers(0, size), st.integers(1, size), st.integers(1, size)
        )
    )
)
def test_tails_of_samples_are_never_underestimated(case: tuple[int, int, int, int]) -> None:
    population, kind, size, rank = case
    rank = min(rank, size)
    exact = hypergeom.sf(rank - 1, population, kind, size)
    bound = float(_tail(np.array([kind / population]), rank / size, size)[0])
    assert bound >= exact * (1 - 1e-12)


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.integers(0, 10), min_size=5, max_size=8),
    size=st.integers(1, 5),
    quantile=st.sampled_from([0.5, 0.25, 0.9]),
    proposal=st.sampled_from([0.05, 0.1, 0.3, 1.0]),
    epsilon=st.sampled_from([0.5, 5.0, 50.0]),
    metric=st.sampled_from(["squared", "relative"]),
    truth=st.sampled_from([0.5, 5.0, 12.0]),
)
def test_no_sample_is_outside_what_the_interval_assumes(
    values: list[int],
    size: int,
    quantile: float,
    proposal: float,
    epsilon: float,
    metric: Metric,
    truth: float,
) -> None:
    """Of a few records, with every sample once: the mean is exact, and must be covered."""
    column = Column.from_values(values, bounds=(0, 10))
    mechanism = ProposeTestRelease(proposal, quantile, metric)
    base = Guarantee(epsilon, 0.01, "replace")
    rows = [
        [list(sample).count(value) for value in column.values]
        for sample in itertools.combinations(sorted(values), size)
    ]
    errors = expected_errors(mechanism, column, np.array(rows), (0.0, 10.0), base, truth)
    found = integrated_error(
        column,
        mechanism,
        base,
        FixedSizeSampling(size, len(values)),
        truth,
        200,
        np.random.default_rng(0),
    )
    assert math.isfinite(found.high)
    assert found.low <= errors.mean() <= found.high
