"""The noisy variance: what a record changes, what it estimates, and what it is worth."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np
import pytest

from omit import (
    REPLACE,
    Column,
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoNoiseNeeded,
    PoissonSampling,
    expected_error,
)
from omit._numeric import FloatArray
from omit.laws.noise import Gaussian
from omit.mechanisms import NoisyVariance

BOUNDS = (10.0, 30.0)
# With 10 and 23.6, which are (1 + 0.36)/2 of the width apart.
LATTICE = np.append(np.linspace(*BOUNDS, 41), 23.6)


def terms(mechanism: NoisyVariance, promise: Guarantee) -> FloatArray:
    """Return what a record adds to each sum, in scales of its noise, one record in each row."""
    column = Column.from_values(LATTICE, bounds=BOUNDS)
    prepared = mechanism.prepare(column, promise)
    return prepared.terms / [noise.scale for noise in prepared.noises]


@pytest.mark.parametrize("ratio", [0.36, 0.6, 1.0])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_no_record_costs_more_than_epsilon_and_some_record_costs_it(
    neighbours: Literal["add-remove", "replace"], ratio: float
) -> None:
    added = terms(NoisyVariance(ratio=ratio), Guarantee(0.7, neighbours=neighbours))
    if neighbours == "add-remove":
        losses = np.abs(added).sum(axis=1)
        assert losses == pytest.approx(np.full(len(losses), 0.7), abs=1e-12)
        return
    losses = np.array(
        [np.abs(one - other).sum() for one, other in itertools.combinations(added, 2)]
    )
    assert losses.max() <= 0.7 + 1e-12
    # The worst move, (1 + ratio)/2 of the width from one bound, is on the lattice.
    assert losses.max() == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_gaussian_noise_has_the_delta_of_the_largest_shift(
    neighbours: Literal["add-remove", "replace"],
) -> None:
    promise = Guarantee(0.7, 1e-5, neighbours)
    added = terms(NoisyVariance("gaussian"), promise)
    rows = added if neighbours == "add-remove" else added[:, None, :] - added[None, :, :]
    largest = float(np.sqrt((rows**2).sum(axis=-1)).max())
    assert Gaussian(1.0).precise_delta(0.7, largest) == pytest.approx(1e-5, rel=1e-9)


def test_without_noise_it_is_the_variance() -> None:
    values = np.random.default_rng(3).choice(LATTICE, 200)
    column = Column.from_values(values, bounds=BOUNDS)
    for promise in (NoNoiseNeeded("nothing to hide"), Guarantee(1e9, neighbours=REPLACE)):
        prepared = NoisyVariance().prepare(column, promise)
        answer = prepared.answers(column.counts[None, :], np.random.default_rng(1))
        assert answer[0] == pytest.approx(float(values.var()), rel=1e-6)
        assert prepared.truth == pytest.approx(float(values.var()), rel=1e-12)


def test_three_sums_err_as_the_first_order_of_their_noise() -> None:
    values = np.tile([10.0, 14.0, 20.0, 30.0], 5000)
    column = Column.from_values(values, bounds=BOUNDS)
    error = expected_error(
        column, NoisyVariance(metric="squared"), Guarantee(1.0), method="simulated", runs=20_000
    )
    x = (values - 10) / 20
    parts = np.array([((1 - x) ** 2).mean(), (2 * x * (1 - x)).mean(), (x**2).mean()])
    variance = parts[0] * parts[2] - parts[1] ** 2 / 4
    slopes = np.array(
        [
            parts[2] - 2 * variance,
            -parts[1] / 2 - 2 * variance,
            parts[0] - 2 * variance,
        ]
    )
    first_order = 20**4 * 2 * float((slopes**2).sum()) / len(values) ** 2
    # Three times the half-width of 95 %: a false alarm once in 10^8.
    assert abs(error.value - first_order) <= 1.5 * (error.high - error.low)


# THEORY, Section 8.1: deviation times n epsilon/(U - L)², at a mean and a variance.
@pytest.mark.parametrize(
    ("mean", "variance", "printed"), [(0.5, 0.05, "0.58"), (0.1, 0.01, "1.14")]
)
def test_deviations_of_variances_are_the_tabulated_ones(
    mean: float, variance: float, printed: str
) -> None:
    ends = mean - variance**0.5, mean + variance**0.5
    column = Column.from_counts(ends, [10**6, 10**6], bounds=(-1e-12, 1))
    error = expected_error(column, NoisyVariance(metric="squared"), Guarantee(0.5))
    assert error.method == "exact"
    assert f"{error.value**0.5 * column.size * 0.5:.2f}" == printed


def test_answers_are_within_what_a_variance_can_be_and_sampling_costs() -> None:
    column = Column.from_values(np.tile([10.0, 14.0, 20.0, 30.0], 500), bounds=BOUNDS)
    prepared = NoisyVariance().prepare(column, Guarantee(0.001))
    many = np.repeat(column.counts[None, :], 1000, axis=0)
    answers = prepared.answers(many, np.random.default_rng(2))
    assert 0 <= answers.min() <= answers.max() <= 100
    assert prepared.largest_error >= prepared.errors(many, np.random.default_rng(2)).max()
    everybody = expected_error(column, NoisyVariance(), Guarantee(1.0))
    sample = expected_error(column, NoisyVariance(), Guarantee(1.0), PoissonSampling(0.1))
    assert sample.low > everybody.high


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("metric", ["relative", "squared"])
def test_the_exact_error_is_that_of_drawn_noise(
    neighbours: Literal["add-remove", "replace"], metric: Literal["relative", "squared"]
) -> None:
    column = Column.from_values(np.tile([10.0, 14.0, 20.0, 30.0], 100), bounds=BOUNDS)
    setting = column, NoisyVariance("gaussian", metric), Guarantee(1.0, 1e-5, neighbours)
    exact = expected_error(*setting)
    assert exact.method == "exact"
    drawn = expected_error(*setting, method="simulated", runs=40_000)
    # Twice the half-width of 95 %: a false alarm once in 10,000.
    assert abs(exact.value - drawn.value) <= drawn.high - drawn.low


def test_the_noise_of_a_sample_of_fixed_size_is_integrated() -> None:
    column = Column.from_values(np.tile([10.0, 14.0, 20.0, 30.0], 100), bounds=BOUNDS)
    setting = (
        column,
        NoisyVariance(),
        Guarantee(0.25, neighbours=REPLACE),
        FixedSizeSampling(300, 400),
    )
    integrated, drawn = expected_error(*setting), expected_error(*setting, "simulated")
    assert integrated.method == "simulated"  # four values and 171,700 samples, and wide noise
    assert integrated.high - integrated.low < 0.2 * (drawn.high - drawn.low)
    assert integrated.low < drawn.high
    assert drawn.low < integrated.high


def test_odd_arguments_are_refused() -> None:
    for ratio in (0.1, 1.1, math.nan):
        with pytest.raises(InvalidInput, match="ratio"):
            NoisyVariance(ratio=ratio)
    with pytest.raises(InvalidInput, match="bounds"):
        NoisyVariance().prepare(Column.from_values(["a"], categories=("a",)), Guarantee(1.0))
