"""Expected errors over all sampling rates, and over all (m, M) of outlier-score suppression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omit._numeric import FloatArray
from omit.data.column import Column
from omit.data.points import Points
from omit.errors import Unattainable
from omit.guarantee import Guarantee
from omit.mechanisms.base import Mechanism
from omit.mechanisms.clustering import Clustering
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import NoOmission, PoissonSampling
from omit.utility.expected import expected_error
from omit.utility.search import PROBABILITIES, RATES
from omit.utility.simulated_points import MeasuredOn

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
