"""Expected errors over all sampling rates, and over all (m, M) of outlier-score suppression.

Gain and loss by sampling over all guarantees and all rates: where does it pay?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omit._numeric import FloatArray, error_ratios
from omit.accuracy.expected import expected_error
from omit.accuracy.search import PROBABILITIES, RATES
from omit.accuracy.simulated_points import MeasuredOn
from omit.data.column import Column
from omit.data.points import Points
from omit.errors import Unattainable
from omit.exact.error import Error
from omit.guarantee import Guarantee
from omit.laws.intervals import judge_all
from omit.mechanisms.base import Clustering, IntegrableMechanism, Mechanism
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import FixedSizeSampling, NoOmission, PoissonSampling

EPSILONS = (0.25, 0.5, 1.0, 2.0)
_FEWER_RATES = (0.01, 0.02, 0.03, 0.05, 0.07, *(round(0.05 * step, 2) for step in range(2, 20)))


@dataclass(frozen=True)
class Landscape:
    """Expected errors of one mechanism on one set of data, at several epsilons.

    Attributes
    ----------
    epsilons, rates, probabilities
        The axes.
    baseline
        The error without omission, for each epsilon.
    by_rate
        The error of Poisson sampling, one row for each epsilon, one column for each rate.
    by_rate_margin
        How far its 95 % interval goes up from there.
    by_score
        The error of outlier-score suppression for each epsilon, m and M; `nan` where m > M or the
        guarantee cannot be reached.
    simulated
        How many of these numbers had to be simulated.
    runs
        How often each of those was.
    measured_on
        For a clustering: whose distances make the error.
    """

    data: Column | Points
    mechanism: Mechanism | Clustering
    epsilons: tuple[float, ...]
    rates: tuple[float, ...]
    probabilities: tuple[float, ...]
    baseline: FloatArray
    by_rate: FloatArray
    by_rate_margin: FloatArray
    by_score: FloatArray
    simulated: int
    runs: int
    measured_on: MeasuredOn = "all"

    @property
    def size(self) -> int:
        """How many numbers there are."""
        scores = int(np.isfinite(self.by_score).sum())
        return self.baseline.size + self.by_rate.size + scores


def usual_rates(data: Column | Points) -> tuple[float, ...]:
    """Return the sampling rates of a curve: every per cent, fewer where all must be simulated."""
    return RATES if isinstance(data, Column) else _FEWER_RATES


def landscape_size(
    epsilons: Sequence[float] = EPSILONS,
    rates: Sequence[float] = RATES,
    probabilities: Sequence[float] = PROBABILITIES,
) -> int:
    """Return how many errors `landscape` computes."""
    scores = len(probabilities) * (len(probabilities) + 1) // 2
    return len(epsilons) * (1 + len(rates) + scores)


def landscape(
    data: Column | Points,
    mechanism: Mechanism | Clustering,
    guarantee: Guarantee,
    *,
    epsilons: Sequence[float] = EPSILONS,
    rates: Sequence[float] | None = None,
    probabilities: Sequence[float] = PROBABILITIES,
    truth: Any = None,
    noise_reduction: bool = True,
    rows_per_person: int = 1,
    runs: int | None = None,
    measured_on: MeasuredOn = "all",
    advance: Callable[[], None] = lambda: None,
) -> Landscape:
    """Compute all errors of a landscape; delta and relation are those of the guarantee.

    `rates` are `usual_rates` by default. `advance` is called after each error. `runs` is how
    often an error that is not exact is simulated: 500 times by default, 100 for a clustering.
    """
    rates = usual_rates(data) if rates is None else rates
    if runs is None:
        runs = 500 if isinstance(data, Column) else 100
    simulated = 0

    def error(epsilon: float, omission: Omission) -> tuple[float, float]:
        nonlocal simulated
        advance()
        try:
            found = expected_error(
                data,
                mechanism,
                replace(guarantee, epsilon=epsilon).per_row(rows_per_person),
                omission,
                truth=truth,
                noise_reduction=noise_reduction,
                runs=runs,
                tolerance=1e-7,
                details=False,
                quick=True,
                measured_on=measured_on,
            )
        except Unattainable:
            return np.nan, np.nan
        simulated += found.method == "simulated"
        return found.value, found.high - found.value

    baseline = np.array([error(epsilon, NoOmission())[0] for epsilon in epsilons])
    by_rate = np.array(
        [[error(epsilon, PoissonSampling(rate=rate)) for rate in rates] for epsilon in epsilons]
    )
    by_score = np.full((len(epsilons), len(probabilities), len(probabilities)), np.nan)
    for i, epsilon in enumerate(epsilons):
        for j, m in enumerate(probabilities):
            for k, M in enumerate(probabilities[j:], start=j):
                by_score[i, j, k] = error(epsilon, OutlierScoreSuppression(m, M))[0]
    return Landscape(
        data,
        mechanism,
        tuple(epsilons),
        tuple(rates),
        tuple(probabilities),
        baseline,
        by_rate[..., 0],
        by_rate[..., 1],
        by_score,
        simulated,
        runs,
        measured_on,
    )


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
        # Without omission the error is exact: an interval of no width.
        base = self.baseline[:, None]
        standings = judge_all(self.low, self.high, base, base)
        return np.select([standings == "better", standings == "worse"], [1.0, -1.0], 0.0)


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
    >>> from omit.mechanisms import GlobalQuantile
    >>> from omit import read
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
