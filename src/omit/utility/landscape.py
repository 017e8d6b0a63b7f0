"""Expected errors over all sampling rates, and over all (m, M) of outlier-score suppression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omit._numeric import FloatArray
from omit.data.column import Column
from omit.errors import Unattainable
from omit.guarantee import Guarantee
from omit.mechanisms.base import Mechanism
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import NoOmission, PoissonSampling
from omit.utility.expected import expected_error
from omit.utility.search import PROBABILITIES, RATES

EPSILONS = (0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Landscape:
    """Expected errors of one mechanism on one column, at several epsilons.

    Attributes
    ----------
    epsilons, rates, probabilities
        The axes.
    baseline
        The error without omission, for each epsilon.
    by_rate
        The error of Poisson sampling, one row for each epsilon, one column for each rate.
    by_score
        The error of outlier-score suppression for each epsilon, m and M; `nan` where m > M or the
        guarantee cannot be reached.
    simulated
        How many of these numbers had to be simulated.
    """

    column: Column
    mechanism: Mechanism
    epsilons: tuple[float, ...]
    rates: tuple[float, ...]
    probabilities: tuple[float, ...]
    baseline: FloatArray
    by_rate: FloatArray
    by_score: FloatArray
    simulated: int


def landscape_size(
    epsilons: Sequence[float] = EPSILONS,
    rates: Sequence[float] = RATES,
    probabilities: Sequence[float] = PROBABILITIES,
) -> int:
    """Return how many errors `landscape` computes."""
    scores = len(probabilities) * (len(probabilities) + 1) // 2
    return len(epsilons) * (1 + len(rates) + scores)


def landscape(
    column: Column,
    mechanism: Mechanism,
    guarantee: Guarantee,
    *,
    epsilons: Sequence[float] = EPSILONS,
    rates: Sequence[float] = RATES,
    probabilities: Sequence[float] = PROBABILITIES,
    truth: Any = None,
    noise_reduction: bool = True,
    rows_per_person: int = 1,
    runs: int = 500,
    advance: Callable[[], None] = lambda: None,
) -> Landscape:
    """Compute all errors of a landscape; delta and relation are those of the guarantee.

    `advance` is called after each error.
    """
    simulated = 0

    def error(epsilon: float, omission: Omission) -> float:
        nonlocal simulated
        advance()
        try:
            found = expected_error(
                column,
                mechanism,
                replace(guarantee, epsilon=epsilon).per_row(rows_per_person),
                omission,
                truth=truth,
                noise_reduction=noise_reduction,
                runs=runs,
                tolerance=1e-7,
                details=False,
            )
        except Unattainable:
            return np.nan
        simulated += found.method == "simulated"
        return found.value

    baseline = np.array([error(epsilon, NoOmission()) for epsilon in epsilons])
    by_rate = np.array(
        [[error(epsilon, PoissonSampling(rate=rate)) for rate in rates] for epsilon in epsilons]
    )
    by_score = np.full((len(epsilons), len(probabilities), len(probabilities)), np.nan)
    for i, epsilon in enumerate(epsilons):
        for j, m in enumerate(probabilities):
            for k, M in enumerate(probabilities[j:], start=j):
                by_score[i, j, k] = error(epsilon, OutlierScoreSuppression(m, M))
    return Landscape(
        column,
        mechanism,
        tuple(epsilons),
        tuple(rates),
        tuple(probabilities),
        baseline,
        by_rate,
        by_score,
        simulated,
    )
