"""A compiled computation; apart, because not every test should have to load the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from omit.study.cell import Computation


@njit(cache=True)
def harmonic(values: np.ndarray, scale: float) -> float:
    """Return a sum whose last bits depend on the order of its terms."""
    total = 0.0
    for place in range(values.size):
        total += scale * values[place] / (place + 1)
    return total


def _total(parameters: Mapping[str, Any], prepared: Any, rng: np.random.Generator) -> Any:
    return {"total": harmonic(rng.normal(size=parameters["terms"]), float(parameters["scale"]))}


totals = Computation("totals", 1, _total)
