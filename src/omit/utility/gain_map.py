"""Gain and loss by sampling over all guarantees and all rates: where does it pay?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omit._numeric import FloatArray, error_ratios
from omit.data.column import Column
from omit.guarantee import Guarantee
from omit.mechanisms.integrable import IntegrableMechanism
from omit.omissions.base import Omission
from omit.omissions.sampling import FixedSizeSampling, NoOmission
from omit.utility.error import Error
from omit.utility.expected import expected_error

GAIN_EPSILONS = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0)
GAIN_RATES = (0.001, 0.003, 0.01, 0.03, *(round(0.1 * step, 1) for step in range(1, 10)))


@dataclass(frozen=True, eq=False)
class GainMap:
    """The error of samples against that of all records, for each epsilon and each sample size.

    Attributes
    ----------
    epsilons, sizes
        The axes.
    baseline
        The error of all records, for each epsilon.
    errors, low, high
        The error of a sample and its interval, one row for each epsilon.
    """

    column: Column
    mechanism: IntegrableMechanism
    target: Guarantee
    epsilons: tuple[float, ...]
    sizes: tuple[int, ...]
    baseline: FloatArray
    errors: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def ratios(self) -> FloatArray:
        """The error of a sample divided by that of all records; below 1 sampling pays."""
        return error_ratios(self.errors, self.baseline[:, None])

    @property
    def gains(self) -> FloatArray:
        """1 where the whole interval is a gain, -1 where it is a loss, 0 where neither is sure."""
        base = self.baseline[:, None]
        return np.where(self.high < base, 1.0, np.where(self.low > base, -1.0, 0.0))


def odd_sizes(population: int, rates: Sequence[float]) -> tuple[int, ...]:
    """Return for each rate the odd sample size next to it, as the paper has them.

    Examples
    --------
    >>> odd_sizes(10_001, (0.01, 0.1, 0.9))
    (101, 1001, 9001)
    """
    return tuple(sorted({min(int(rate * population / 2) * 2 + 1, population) for rate in rates}))


def gain_map(
    column: Column,
    mechanism: IntegrableMechanism,
    guarantee: Guarantee,
    *,
    epsilons: Sequence[float] = GAIN_EPSILONS,
    rates: Sequence[float] = GAIN_RATES,
    truth: Any = None,
    runs: int = 300,
    advance: Callable[[], None] = lambda: None,
) -> GainMap:
    """Compute the map; delta and relation are those of the guarantee.

    `advance` is called after each error.

    Examples
    --------
    >>> from omit import GlobalQuantile, read
    >>> target = Guarantee(1.0, neighbours="replace")
    >>> found = gain_map(read("beta"), GlobalQuantile(), target, epsilons=[0.1, 9.0], rates=[0.1])
    >>> found.sizes, found.gains.tolist()
    ((1001,), [[1.0], [1.0]])
    """
    sizes = odd_sizes(column.size, rates)

    def error(epsilon: float, omission: Omission) -> Error:
        advance()
        target = replace(guarantee, epsilon=epsilon)
        return expected_error(
            column,
            mechanism,
            target,
            omission,
            truth=truth,
            runs=runs,
            rng=np.random.default_rng(0),
        )

    baseline = np.array([error(epsilon, NoOmission()).value for epsilon in epsilons])
    found = [
        [error(epsilon, FixedSizeSampling(size=size, population=column.size)) for size in sizes]
        for epsilon in epsilons
    ]
    errors, low, high = (
        np.array([[getattr(each, name) for each in row] for row in found])
        for name in ("value", "low", "high")
    )
    return GainMap(
        column, mechanism, guarantee, tuple(epsilons), sizes, baseline, errors, low, high
    )
