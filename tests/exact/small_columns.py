"""Random records and omissions, as the tests of exact means draw them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omit import OutlierScoreSuppression, PoissonSampling
from omit.omissions.base import Omission
from omit.omissions.sampling import NoOmission


def few_records(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return 1 to 8 records: whole numbers, decimals, or anything."""
    size = int(rng.integers(1, 9))
    return [
        rng.integers(0, 4, size).astype(float),
        rng.normal(0, 10, size),
        10 ** rng.uniform(-2, 5, size),
        rng.integers(-50, 50, size) * 0.1,
    ][int(rng.integers(4))]


def any_omission(rng: np.random.Generator) -> Omission:
    return [
        NoOmission(),
        PoissonSampling(float(rng.uniform(0.02, 0.99))),
        OutlierScoreSuppression(float(rng.uniform(0, 0.5)), float(rng.uniform(0.5, 1))),
    ][int(rng.integers(3))]
