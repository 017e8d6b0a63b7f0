"""A number that the error of a mean is said not to be below is not above it."""

from __future__ import annotations

import numpy as np
import pytest

from omit.exact.least_mean_error import least_mean_error
from omit.exact.mean import mean_error
from omit.exact.mean_setting import MeanSetting, NoExactMean
from omit.exact.noisy_quotient import NoisyQuotient
from omit.exact.quotient import Quotient
from omit.exact.two_sums import TwoSums
from omit.laws.noise import Gaussian, Laplace, LogConcaveNoise


def _quotient(kind: str, law: type[Laplace] | type[Gaussian], scale: float) -> Quotient:
    noise: LogConcaveNoise = law(100 * scale)
    if kind == "two sums":
        return TwoSums(noise, (0.0, 100.0))
    return NoisyQuotient(noise, law(scale), (0.0, 100.0) if kind == "clipped" else None)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two sums", "clipped", "unclipped"])
@pytest.mark.parametrize("law", [Laplace, Gaussian])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_least_error_is_not_above_the_exact_one(
    kind: str, law: type[Laplace] | type[Gaussian], weighted: bool
) -> None:
    """By the exact engine, on random columns: skewed, few and many records, and other truths."""
    rng = np.random.default_rng(24)
    shares = []
    for _ in range(10):
        values = np.unique(rng.integers(0, 101, 30)).astype(np.float64)
        if rng.random() < 0.3:
            values = np.append(values[values < 5], 100.0)
        counts = rng.integers(1, 10 ** rng.integers(1, 5), len(values))
        keep = (
            rng.uniform(0.02, 1.0, len(values))
            if rng.random() < 0.5
            else np.full(len(values), rng.uniform(0.05, 1.0))
        )
        quotient = _quotient(kind, law, float(10 ** rng.uniform(-1, 1)))
        weights = rng.uniform(0.01, 1.0, len(values)) if weighted else np.ones(len(values))
        truth = float(np.average(values, weights=counts * weights))
        truth *= 1.0 if rng.random() < 0.7 else 0.8
        setting = MeanSetting.of(values, counts, keep, quotient, truth, weights)
        least = least_mean_error(setting)
        try:
            exact = mean_error(
                values, counts, keep, quotient, truth, quantiles=False, weights=weights
            )
        except NoExactMean:
            continue
        assert least <= exact.expected + exact.precision
        shares.append(least / exact.expected)
    assert len(shares) > 5
    assert max(shares) > 0.9  # a bound that is of use


def test_nothing_is_said_where_nothing_is_known() -> None:
    values, counts, keep = np.array([0.0, 1.0]), np.array([50, 50]), np.full(2, 0.5)
    public = NoisyQuotient(Laplace(1.0), None, (0.0, 1.0))
    assert least_mean_error(MeanSetting.of(values, counts, keep, public, 0.5)) == 0
    sums = TwoSums(Laplace(1.0), (0.0, 1.0))
    assert least_mean_error(MeanSetting.of(values, counts, keep, sums, 1.0)) == 0
    few = np.full(2, 0.01)
    assert least_mean_error(MeanSetting.of(values, counts, few, sums, 0.5)) == 0
