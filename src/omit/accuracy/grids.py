"""Expected errors over several epsilons and many omissions: where does leaving records out pay?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from omit._numeric import FloatArray, error_ratios
from omit.accuracy.expected import Question
from omit.accuracy.search import PROBABILITIES, RATES
from omit.data.base import Data
from omit.errors import Unattainable
from omit.exact.error import ExpectedError
from omit.guarantee import REPLACE
from omit.laws.intervals import judge_all
from omit.mechanisms.base import Mechanism
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import FixedSizeSampling, NoOmission, PoissonSampling

_FEWER_RATES = (0.01, 0.02, 0.03, 0.05, 0.07, *(round(0.05 * step, 2) for step in range(2, 20)))
# The epsilons of a report's curves, as multiples of the one that was asked for.
_MULTIPLES = (0.25, 0.5, 1.0, 2.0)
# Runs of a curve whose points share their random numbers, at most.
_RUNS_OF_A_CURVE = 100
GAIN_EPSILONS = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0)
GAIN_RATES = (0.001, 0.003, 0.01, 0.03, *(round(0.1 * step, 1) for step in range(1, 10)))


@dataclass(frozen=True, eq=False)
class ErrorGrid:
    """The error of omissions and that of all records, for each epsilon.

    Attributes
    ----------
    question
        What was asked, at one of the epsilons.
    epsilons, omissions
        The axes.
    baseline
        The error of all records, for each epsilon.
    errors, low, high
        The error of each omission and its interval, one row for each epsilon; `nan` where the
        guarantee cannot be reached.
    simulated
        How many of these numbers had to be simulated.
    """

    question: Question
    epsilons: tuple[float, ...]
    omissions: tuple[Omission, ...]
    baseline: FloatArray
    errors: FloatArray
    low: FloatArray
    high: FloatArray
    simulated: int = 0

    @property
    def data(self) -> Data:
        """The data."""
        return self.question.data

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.question.mechanism

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.baseline.size + int(np.isfinite(self.errors).sum())

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many records each omission leaves, of those that always leave the same number."""
        return tuple(
            each.records_after for each in self.omissions if each.records_after is not None
        )

    @property
    def ratios(self) -> FloatArray:
        """The error of an omission divided by that of all records; below 1 it pays."""
        return error_ratios(self.errors, self.baseline[:, None])

    @property
    def gains(self) -> FloatArray:
        """1 where the whole interval is a gain, -1 where it is a loss, 0 where neither is sure."""
        base = self.baseline[:, None]
        standings = judge_all(self.low, self.high, base, base)
        return np.select([standings == "better", standings == "worse"], [1.0, -1.0], 0.0)

    def part(self, start: int, stop: int) -> ErrorGrid:
        """Return the grid with some of its omissions."""
        errors, low, high = (each[:, start:stop] for each in (self.errors, self.low, self.high))
        omissions = self.omissions[start:stop]
        return replace(self, omissions=omissions, errors=errors, low=low, high=high)


def error_grid(
    question: Question,
    omissions: Sequence[Omission],
    epsilons: Sequence[float],
    advance: Callable[[], None] = lambda: None,
) -> ErrorGrid:
    """Compute the errors of omissions at several epsilons; `advance` is called after each.

    Examples
    --------
    >>> from omit import Guarantee, read
    >>> from omit.mechanisms import GlobalQuantile
    >>> question = Question(read("beta"), GlobalQuantile(), Guarantee(1.0, neighbours="replace"))
    >>> found = error_grid(question, sampled_at(question.data, [0.1]), epsilons=[0.1, 9.0])
    >>> found.sizes, found.gains.tolist()
    ((1001,), [[1.0], [1.0]])
    """

    def error(epsilon: float, omission: Omission) -> ExpectedError | None:
        advance()
        try:
            return question.at(epsilon).error(omission)
        except Unattainable:
            return None

    baseline = [error(epsilon, NoOmission()) for epsilon in epsilons]
    rows = [[error(epsilon, omission) for omission in omissions] for epsilon in epsilons]
    shape = len(rows), len(omissions)
    errors, low, high = (
        np.array([[getattr(each, name, np.nan) for each in row] for row in rows]).reshape(shape)
        for name in ("value", "low", "high")
    )
    every = [*baseline, *(each for row in rows for each in row)]
    simulated = sum(each is not None and each.method == "simulated" for each in every)
    without = np.array([getattr(each, "value", np.nan) for each in baseline])
    return ErrorGrid(
        question, tuple(epsilons), tuple(omissions), without, errors, low, high, simulated
    )


def odd_sizes(population: int, rates: Sequence[float]) -> tuple[int, ...]:
    """Return for each rate the odd sample size next to it, as the paper has them.

    Examples
    --------
    >>> odd_sizes(10_001, (0.01, 0.1, 0.9))
    (101, 1001, 9001)
    """
    return tuple(sorted({min(int(rate * population / 2) * 2 + 1, population) for rate in rates}))


def sampled_at(data: Data, rates: Sequence[float]) -> tuple[FixedSizeSampling, ...]:
    """Return samples of fixed, odd size at some rates."""
    sizes = odd_sizes(data.size, rates)
    return tuple(FixedSizeSampling(size=size, population=data.size) for size in sizes)


@dataclass(frozen=True, eq=False)
class Curves:
    """What other omissions would do, for the report of a comparison.

    `by_rate` has samples at many rates, `by_score` outlier scores for each (m, M) with m <= M; None
    where scores have no bound.
    """

    by_rate: ErrorGrid
    rates: tuple[float, ...]
    by_score: ErrorGrid | None
    probabilities: tuple[float, ...]

    @property
    def simulated(self) -> int:
        """How many of the numbers had to be simulated."""
        return self.by_rate.simulated

    @property
    def size(self) -> int:
        """How many numbers there are."""
        scores = 0 if self.by_score is None else int(np.isfinite(self.by_score.errors).sum())
        return self.by_rate.size + scores


class CurvesQuestion:
    """The grid behind a report's curves: the question of a comparison at several epsilons.

    By default at a quarter, a half, once and twice the epsilon that was asked for. Points of a
    curve that share their random numbers need fewer runs than a verdict.
    """

    def __init__(
        self,
        question: Question,
        epsilons: Sequence[float] | None = None,
        rates: Sequence[float] | None = None,
        probabilities: Sequence[float] = PROBABILITIES,
    ) -> None:
        data, method = question.data, question.method
        replaced = question.guarantee.neighbours == REPLACE
        if rates is None:
            rates = _FEWER_RATES if data.coupled or replaced else RATES
        runs = min(question.runs, _RUNS_OF_A_CURVE) if data.coupled else question.runs
        self.question = replace(
            question,
            runs=runs,
            method="auto" if method == "exact" else method,
            tolerance=1e-7,
            details=False,
            quick=True,
        )
        if epsilons is None:
            epsilons = [question.guarantee.epsilon * factor for factor in _MULTIPLES]
        self.epsilons = tuple(dict.fromkeys(epsilons))
        self.samples: tuple[Omission, ...]
        self.scores: tuple[Omission, ...] = ()
        self.probabilities = tuple(probabilities)
        if replaced:
            self.samples = sampled_at(data, rates)
            self.rates = tuple(each.size / data.size for each in sampled_at(data, rates))
        else:
            self.samples = tuple(PoissonSampling(rate=rate) for rate in rates)
            self.rates = tuple(rates)
            self.scores = tuple(
                OutlierScoreSuppression(m, M)
                for j, m in enumerate(probabilities)
                for M in probabilities[j:]
            )

    @property
    def size(self) -> int:
        """How many errors are computed."""
        return len(self.epsilons) * (1 + len(self.samples) + len(self.scores))

    def answer(self, advance: Callable[[], None] = lambda: None) -> Curves:
        """Compute them all; `advance` is called after each."""
        whole = error_grid(self.question, (*self.samples, *self.scores), self.epsilons, advance)
        number = len(self.samples)
        scores = whole.part(number, len(whole.omissions)) if self.scores else None
        return Curves(whole.part(0, number), self.rates, scores, self.probabilities)
