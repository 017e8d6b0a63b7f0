"""Do 95 % intervals cover? Settings from tiny to large epsilon, every statistic, 200 seeds each."""

from __future__ import annotations

import numpy as np
import pytest

from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    NoisyMean,
    NoisyMode,
    Omission,
    OutlierScoreSuppression,
    PoissonSampling,
    expected_error,
)
from omit.accuracy.expected import Method
from omit.mechanisms.base import Mechanism
from omit.mechanisms.exponential_quantile import ExponentialQuantile
from omit.mechanisms.propose_test_release import ProposeTestRelease
from omit.mechanisms.quantiles import GlobalQuantile, SmoothQuantile

SEEDS = 200


def ages(size: int) -> Column:
    drawn = np.random.default_rng(size).normal(40, 14, size)
    return Column.from_values(np.clip(drawn.round(), 0, 100).tolist(), bounds=(0, 100))


def rare_ones(size: int) -> Column:
    return Column.from_counts([0, 1], [size - size // 14, size // 14], bounds=(0, 1))


def sampled(size: int, population: int) -> Omission:
    return FixedSizeSampling(size, population)


REPLACE = "replace"
SETTINGS: list[tuple[Column, Mechanism, Guarantee, Omission | None, Method]] = [
    (ages(3), NoisyMean(), Guarantee(1.0), None, "simulated"),
    (ages(100), NoisyMean(), Guarantee(0.133), None, "simulated"),
    (ages(100), NoisyMean(variant="published"), Guarantee(0.133), None, "simulated"),
    (
        ages(1000),
        NoisyMean(variant="published"),
        Guarantee(0.01),
        PoissonSampling(0.9),
        "simulated",
    ),
    (ages(3000), NoisyMean(), Guarantee(0.004), None, "simulated"),
    (ages(30), NoisyMean(), Guarantee(100.0), OutlierScoreSuppression(0.1, 0.6), "simulated"),
    (ages(300), NoisyMean("gaussian"), Guarantee(0.3, 1e-6), None, "simulated"),
    (ages(6), NoisyMean(), Guarantee(1.0, neighbours=REPLACE), sampled(2, 6), "auto"),
    (ages(3), NoisyMode(), Guarantee(0.1), None, "simulated"),
    (rare_ones(1000), NoisyMode(), Guarantee(0.0127), None, "simulated"),
    (rare_ones(1000), NoisyMode("gumbel"), Guarantee(0.05), PoissonSampling(0.1), "simulated"),
    (ages(1001), SmoothQuantile(), Guarantee(1.0, 1e-6, REPLACE), sampled(101, 1001), "auto"),
    (
        ages(301),
        SmoothQuantile("student"),
        Guarantee(0.5, 0.0, REPLACE),
        sampled(31, 301),
        "auto",
    ),
    (ages(1001), ExponentialQuantile(), Guarantee(1.0, 0.0, REPLACE), sampled(51, 1001), "auto"),
    (
        ages(1000),
        GlobalQuantile(metric="relative"),
        Guarantee(1.0, 0.0, REPLACE),
        sampled(50, 1000),
        "auto",
    ),
    (
        ages(1001),
        ProposeTestRelease(0.05),
        Guarantee(1.0, 1e-4, REPLACE),
        sampled(121, 1001),
        "auto",
    ),
]


@pytest.mark.campaign
@pytest.mark.parametrize(("column", "mechanism", "guarantee", "omission", "method"), SETTINGS)
def test_intervals_cover_or_say_that_they_do_not(
    column: Column,
    mechanism: Mechanism,
    guarantee: Guarantee,
    omission: Omission | None,
    method: Method,
) -> None:
    """Of 200 intervals 10 miss; more than 24 do with a probability of 4e-5."""
    truth = expected_error(column, mechanism, guarantee, omission, details=False)
    if truth.method == "simulated":
        rng = np.random.default_rng(10**6)
        truth = expected_error(column, mechanism, guarantee, omission, runs=100_000, rng=rng)
    missed = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        error = expected_error(
            column, mechanism, guarantee, omission, method, rng=rng, details=False
        )
        missed += not (error.low <= truth.value <= error.high or error.skewed)
    assert missed <= 24
