"""Expected errors over several epsilons and many omissions: where does leaving records out pay?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

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
from omit.study.sharing import shared_out

_FEWER_RATES = (0.01, 0.02, 0.03, 0.05, 0.07, *(round(0.05 * step, 2) for step in range(2, 20)))
# Of clusterings, whose every point takes runs of its own: as many as a curve needs to be seen.
_FEWEST_RATES = (0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_FEWEST_PROBABILITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
# The epsilons of a report's curves, as multiples of the one that was asked for.
_MULTIPLES = (0.25, 0.5, 1.0, 2.0)
# Runs of a curve whose points share their random numbers, at most.
_RUNS_OF_A_CURVE = 100
# How many rates are computed at least where there are more than a few, and by how much a line may
# miss an error that it is drawn past: in logarithms, or of a probability.
_FEW_RATES, _COARSE_RATES, _SEEN = 30, 11, 0.01
# Relative precision of a drawn number: far below what a picture shows.
_DRAWN = 1e-4
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
    cores: int = 1,
) -> ErrorGrid:
    """Compute the errors of omissions at several epsilons; `advance` is called after each.

    With several cores, processes more take part once that pays.

    Examples
    --------
    >>> from omit import Guarantee, read
    >>> from omit.mechanisms import GlobalQuantile
    >>> question = Question(read("beta"), GlobalQuantile(), Guarantee(1.0, neighbours="replace"))
    >>> found = error_grid(question, sampled_at(question.data, [0.1]), epsilons=[0.1, 9.0])
    >>> found.sizes, found.gains.tolist()
    ((1001,), [[1.0], [1.0]])
    """
    errors = _Errors(question, omissions, epsilons, advance, cores)
    errors.compute(range(len(omissions)))
    return errors.grid(range(len(omissions)))


class _Errors:
    """Errors by the positions of epsilon and omission, computed for some omissions at a time."""

    def __init__(
        self,
        question: Question,
        omissions: Sequence[Omission],
        epsilons: Sequence[float],
        advance: Callable[[], None],
        cores: int,
    ) -> None:
        self._question, self._omissions, self._epsilons = question, omissions, epsilons
        self._advance, self._cores = advance, cores
        # The baseline is at the position -1.
        self._known: dict[tuple[int, int], ExpectedError | None] = {}

    def compute(self, positions: Iterable[int]) -> None:
        """Compute the errors of the omissions at some positions, and the baseline."""
        keys = [
            (row, position)
            for position in (-1, *positions)
            for row in range(len(self._epsilons))
            if (row, position) not in self._known
        ]
        every = (*self._omissions, NoOmission())
        tasks = [(self._epsilons[row], every[position]) for row, position in keys]
        answers = shared_out(partial(_error_if_attainable, self._question), tasks, self._cores)
        for number, error in answers:
            self._known[keys[number]] = error
            self._advance()

    def values(self, position: int) -> FloatArray:
        """Return the errors of one omission; `nan` where the guarantee cannot be reached."""
        errors = (self._known[row, position] for row in range(len(self._epsilons)))
        return np.array([np.nan if error is None else error.value for error in errors])

    def grid(self, positions: Sequence[int]) -> ErrorGrid:
        """Return the grid of the omissions at some positions."""
        rows = [
            [self._known[row, position] for position in positions]
            for row in range(len(self._epsilons))
        ]
        shape = len(rows), len(positions)
        errors, low, high = (
            np.array([[getattr(each, name, np.nan) for each in row] for row in rows]).reshape(shape)
            for name in ("value", "low", "high")
        )
        baseline = [self._known[row, -1] for row in range(len(rows))]
        every = [*baseline, *(each for row in rows for each in row)]
        simulated = sum(each is not None and each.method == "simulated" for each in every)
        omissions = tuple(self._omissions[position] for position in positions)
        without, epsilons = self.values(-1), tuple(self._epsilons)
        return ErrorGrid(self._question, epsilons, omissions, without, errors, low, high, simulated)


def _error_if_attainable(question: Question, task: tuple[float, Omission]) -> ExpectedError | None:
    epsilon, omission = task
    try:
        return question.at(epsilon).error(omission)
    except Unattainable:
        return None


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
        probabilities: Sequence[float] | None = None,
    ) -> None:
        data, method = question.data, question.method
        replaced = question.guarantee.neighbours == REPLACE
        if rates is None:
            rates = _FEWER_RATES if replaced else RATES
            rates = _FEWEST_RATES if data.coupled else rates
        if probabilities is None:
            probabilities = _FEWEST_PROBABILITIES if data.coupled else PROBABILITIES
        runs = min(question.runs, _RUNS_OF_A_CURVE) if data.coupled else question.runs
        self.question = replace(
            question,
            runs=runs,
            method="auto" if method == "exact" else method,
            tolerance=_DRAWN,
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
        """How many errors are computed at most."""
        return len(self.epsilons) * (1 + len(self.samples) + len(self.scores))

    def answer(self, advance: Callable[[], None] = lambda: None, cores: int = 1) -> Curves:
        """Compute what is drawn; `advance` is called after each.

        Rates are computed from coarse to fine: between two of them no more once the one in the
        middle lies on the line that is drawn through them, at every epsilon.
        """
        number = len(self.samples)
        every = (*self.samples, *self.scores)
        errors = _Errors(self.question, every, self.epsilons, advance, cores)
        scores = range(number, len(every))
        coarse = _coarse_positions(number)
        errors.compute([*coarse, *scores])
        rates = self._refined(errors, coarse)
        whole = errors.grid([*rates, *scores])
        by_score = whole.part(len(rates), len(whole.omissions)) if self.scores else None
        chosen = tuple(self.rates[position] for position in rates)
        return Curves(whole.part(0, len(rates)), chosen, by_score, self.probabilities)

    def _refined(self, errors: _Errors, coarse: Sequence[int]) -> list[int]:
        """Return the positions of the rates that are drawn, all of them computed."""
        chosen, gaps = set(coarse), list(pairwise(coarse))
        while gaps := [(start, end) for start, end in gaps if end - start > 1]:
            middles = [(start + end) // 2 for start, end in gaps]
            errors.compute(middles)
            chosen.update(middles)
            gaps = [
                half
                for (start, end), middle in zip(gaps, middles, strict=True)
                if self._is_bent(errors, start, middle, end)
                for half in ((start, middle), (middle, end))
            ]
        return sorted(chosen)

    def _is_bent(self, errors: _Errors, start: int, middle: int, end: int) -> bool:
        """Tell whether a line between two rates visibly misses the one in the middle."""
        share = (self.rates[middle] - self.rates[start]) / (self.rates[end] - self.rates[start])
        first, between, last = (errors.values(position) for position in (start, middle, end))
        alike = (first == between) & (between == last)  # such as errors too small for a float
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.question.mechanism.unit != "probability":
                first, between, last = np.log(first), np.log(between), np.log(last)
            missed = np.where(alike, 0.0, np.abs((1 - share) * first + share * last - between))
        return bool((missed > _SEEN).any() or np.isnan(missed).any())


def _coarse_positions(number: int) -> list[int]:
    """Return about every tenth position of a long list, both ends included; all of a short one."""
    if number <= _FEW_RATES:
        return list(range(number))
    return sorted({round(share * (number - 1)) for share in np.linspace(0, 1, _COARSE_RATES)})
