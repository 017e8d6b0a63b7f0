"""Means of random columns of the registered data sets: hardly any has to be simulated."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import omit
from omit.data.datasets import datasets
from omit.omissions.base import Omission


def _omission(rng: np.random.Generator, size: int, relation: str) -> Omission:
    kind, rate = rng.random(), float(10 ** rng.uniform(-2, 0))
    if kind < 0.25:
        return omit.NoOmission()
    if relation == "replace":
        return omit.FixedSizeSampling(max(int(size * rate), 1), size)
    if kind < 0.6:
        return omit.PoissonSampling(rate)
    m, M = np.sort(rng.uniform(0, 0.95, 2))
    return omit.OutlierScoreSuppression(float(m), float(M))


@pytest.mark.campaign
@pytest.mark.skipif(not os.environ.get("OMIT_DATA"), reason="OMIT_DATA is not set")
def test_of_200_random_means_none_is_simulated_but_of_narrow_noise_or_hardly_any_records() -> None:
    rng, exact = np.random.default_rng(1), 0
    names = [(each.name, column) for each in datasets() for column in each.bounds]
    for _ in range(200):
        name, column = names[int(rng.integers(len(names)))]
        data = omit.read(name, column)
        noise: Any = str(rng.choice(["laplace", "gaussian"]))
        variant: Any = str(rng.choice(["two-sums", "sum-and-count", "published"]))
        relation = str(rng.choice(["add-remove", "add-remove", "replace"]))
        delta = 1e-6 if noise == "gaussian" else 0.0
        target = omit.Guarantee(float(10 ** rng.uniform(-2, 1)), delta, relation)
        mechanism, omission = (
            omit.NoisyMean(noise, variant),
            _omission(rng, data.size, relation),
        )
        error = omit.expected_error(data, mechanism, target, omission, runs=20, details=False)
        if error.method == "exact":
            exact += 1
            assert error.high - error.low <= 4e-6 * error.value
            continue
        # Of 10,001 numbers of many digits, or of so few records that noise is all there is.
        allowed = "the integral would take too long", "the noisy count falls below 1"
        assert (error.reason or "").startswith(allowed), (name, column, target, omission)
    assert exact >= 199
