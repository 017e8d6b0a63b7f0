"""Which omission is best at a guarantee, and which guarantee reaches a wanted error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from omit import _validate
from omit._text import promised
from omit.accuracy.best_size import BestSize, best_size, sizes_without_noise
from omit.accuracy.compare import compared, require_omission
from omit.accuracy.comparison import Comparison, private_notes, shown_interval
from omit.accuracy.expected import Method, Question
from omit.accuracy.sampled_from import differs_in_parity
from omit.accuracy.simulated import DEFAULT_RUNS
from omit.data.base import Data
from omit.errors import InvalidInput, Unattainable
from omit.exact.error import ExpectedError
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee
from omit.laws.inversion import least_not_above
from omit.mechanisms.base import Mechanism
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import FixedSizeSampling, NoOmission, PoissonSampling
from omit.report.result import Drawing, Field, Result, Table, plain

RATES = tuple(round(0.01 * step, 2) for step in range(1, 100))
PROBABILITIES = tuple(round(0.1 * step, 1) for step in range(1, 10))
_RUNS_TO_SEARCH = 200


@dataclass(frozen=True)
class Best(Result):
    """The omission with the smallest expected error, or none.

    Attributes
    ----------
    omission
        The best omission; None if nothing tried beats using all records.
    nearest
        The omission that came nearest, whether it beats using all records or not.
    comparison
        No omission against the nearest one.
    tried
        How many omissions were tried.
    alike
        Which others cannot be told apart from the best, in words, where that is known.
    """

    omission: Omission | None
    nearest: Omission
    comparison: Comparison
    tried: int
    alike: str = ""

    command: ClassVar[str] = "best"

    @property
    def verdict(self) -> str:
        """One sentence."""
        comparison = self.comparison
        ratio = comparison.rows[1].ratio
        factor = "" if ratio is None else f" (error {ratio:.4g} times that of all records)"
        private = comparison.question.mechanism.private
        if not any(map(comparison.informs, comparison.rows[:2])):
            return (
                f"None: of {self.tried} omissions tried, none tells more than the middle of the "
                f"bounds {'at' if private else 'with'} {comparison.guarantee_shown}, and using all "
                "records does not, either."
            )
        if self.omission is None:
            sure = "surely beats" if comparison.rows[1].standing == "undecided" else "beats"
            return (
                f"None: of {self.tried} omissions tried, none {sure} using all records "
                f"{'at' if private else 'with'} {comparison.guarantee_shown}; the nearest is "
                f"{self.nearest}{factor}."
            )
        setting = f"At {comparison.guarantee_shown},"
        if not private:
            setting = f"With {comparison.guarantee_shown}:"
        found = f"{setting} the best of {self.tried} is {self.omission}{factor}"
        return f"{found}{self.alike}.{self._averaging()}"

    def _averaging(self) -> str:
        """Return how much of the gain is that of averaging two records."""
        last, data = self.comparison.rows[-1], self.comparison.question.data
        if not differs_in_parity(data, self.comparison.question.mechanism, last.omission):
            return ""
        if last.standing != "better" or last.ratio is None:
            return ""
        if last.omission == self.nearest:
            if self.nearest != _all_but_one(data):
                return ""
            return (
                " That is one record left out: the median of an even number averages two records, "
                "which is no gain by sampling."
            )
        return (
            f" Leaving out one record multiplies the error by {last.ratio:.4g} "
            "already: the median of an even number averages two records. That part is no gain by "
            "sampling."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of the comparison."""
        return self.comparison.notes

    @property
    def title(self) -> str:
        """The heading of a page."""
        return self.comparison.title

    def tables(self) -> Sequence[Table]:
        """Return no omission against the nearest one."""
        return self.comparison.tables()

    def figures(self) -> dict[str, Drawing]:
        """Return the picture of the comparison."""
        return dict(self.comparison.figures())

    def to_json(self) -> dict[str, Any]:
        """Return the comparison, and what was looked for."""
        return {
            **self.comparison.to_json(),
            "mechanism": str(self.comparison.question.mechanism),
            "best": None if self.omission is None else str(self.omission),
            "nearest": str(self.nearest),
            "tried": self.tried,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Solution(Result):
    """The strongest guarantee that reaches a wanted error after an omission."""

    question: Question
    omission: Omission
    error: ExpectedError

    command: ClassVar[str] = "solve"

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, with the smallest epsilon."""
        return self.question.guarantee

    @property
    def verdict(self) -> str:
        """One sentence."""
        mechanism, error = self.question.mechanism, self.error
        return (
            f"{mechanism} of {self.question.data.name} after {self.omission}: "
            f"{'' if mechanism.private else 'noise as if for '}epsilon = "
            f"{promised(self.guarantee.epsilon)} reaches an expected error of "
            f"{error.value:.6g} {error.unit} ({error.method})."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the numbers."""
        return (*private_notes(self.question.mechanism), *self.question.data.notes)

    def tables(self) -> Sequence[Table]:
        """Return the guarantee and the error it reaches."""
        fields = (
            Field("omission", "omission"),
            Field("ε", "epsilon", promised, numeric=True),
            Field("δ", "delta", "{:g}".format, numeric=True),
            Field("error", "error", "{:.6g}".format, numeric=True),
            Field("95 % interval", "interval", shown_interval),
            Field("unit", "unit"),
        )
        error, guarantee = self.error, self.guarantee
        row = str(self.omission), guarantee.epsilon, guarantee.delta, error.value, error, error.unit
        title = f"{self.question.mechanism} of {self.question.data.name}"
        return (Table("solution", title, fields, (row,)),)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON holds it; what is infinite is None."""
        mechanism, error = self.question.mechanism, self.error
        content = {
            "low": error.low,
            "high": error.high,
            "reason": error.reason,
            "epsilon": self.guarantee.epsilon,
            "delta": self.guarantee.delta,
            "neighbours": str(self.guarantee.neighbours),
            "omission": str(self.omission),
            "mechanism": str(mechanism),
            "error": error.value,
            "method": error.method,
            "unit": error.unit,
            "mechanism_has_guarantee": mechanism.private,
            "verdict": self.verdict,
            "notes": [*self.notes, self.caution],
        }
        return {key: plain(value) for key, value in content.items()}


def _all_but_one(data: Data) -> FixedSizeSampling:
    return FixedSizeSampling(size=data.size - 1, population=data.size)


def default_candidates(
    neighbours: str = ADD_REMOVE, size: int = 0, delta: float = 0.0
) -> Iterator[Omission]:
    """Yield the usual omissions under a relation: samples at every per cent, and outlier scores.

    Outlier scores, over a grid of (m, M), have a bound under add-remove only; under replace the
    samples have a fixed size, of `size` records. The largest sample that `delta` lets out without
    any noise is among them, if it has a record: errors jump there.
    """
    bare = sizes_without_noise(size, delta)
    if neighbours != ADD_REMOVE:
        for drawn in sorted({*(max(1, round(rate * size)) for rate in RATES), *bare}):
            yield FixedSizeSampling(size=drawn, population=size)
        return
    for rate in sorted({*RATES, *([delta] if bare else [])}):
        yield PoissonSampling(rate=rate)
    for m in PROBABILITIES:
        for M in PROBABILITIES:
            if m < M:
                yield OutlierScoreSuppression(m, M)


def usual_omissions(neighbours: str, size: int) -> tuple[Omission, ...]:
    """Return the omissions of a comparison for which none are named.

    Under replace, samples of the parity of all records, so that the median is one record in every
    row, or the mean of two.

    Examples
    --------
    >>> [str(omission) for omission in usual_omissions("add-remove", 100)][:2]
    ['Poisson sampling at rate 0.1', 'Poisson sampling at rate 0.5']
    """
    if neighbours == REPLACE:
        shares = (size * share // 10 for share in (1, 5, 9))
        if size % 2:
            sizes = dict.fromkeys(each | 1 for each in shares)
        else:
            sizes = dict.fromkeys(min(max(each - each % 2, 2), size - 1) for each in shares)
        return tuple(FixedSizeSampling(size=each, population=size) for each in sizes)
    return (
        *(PoissonSampling(rate=rate) for rate in (0.1, 0.5, 0.9)),
        OutlierScoreSuppression(0.1, 0.3),
        OutlierScoreSuppression(0.5, 0.6),
    )


def best(
    data: Data,
    mechanism: Mechanism,
    guarantee: Guarantee,
    candidates: Iterable[Omission] | None = None,
    *,
    advance: Callable[[], None] = lambda: None,
    **options: Any,
) -> Best:
    """Return the omission that minimises the expected error at a guarantee.

    Parameters
    ----------
    data, mechanism, guarantee
        As for `Question`.
    candidates : iterable of Omission, optional
        What to try; by default `default_candidates`, and for medians, quantiles and mean squared
        errors sample sizes from one record on (`best_size`).
    advance : callable
        Called after each candidate.
    **options
        The other parameters of `Question`: truth, runs, sampled_from.

    Raises
    ------
    InvalidInput
        If there is nothing to try that can reach the guarantee.
    """
    question, alike = Question(data, mechanism, guarantee, **options), ""
    nearest: Omission | None
    if candidates is None and tries_sizes(question):
        found = best_size(question, advance)
        nearest, tried = FixedSizeSampling(size=found.size, population=data.size), found.tried
        alike = _sizes_alike(found)
    else:
        if candidates is None:
            candidates = default_candidates(guarantee.neighbours, data.size, question.delta)
        nearest, tried = _smallest_error(question, candidates, advance)
    if nearest is None:
        raise InvalidInput("None of the omissions to try can reach the guarantee.")
    # What averaging gains is told apart from what sampling does.
    averaging: tuple[Omission, ...] = ()
    if differs_in_parity(data, mechanism, nearest) and nearest != _all_but_one(data):
        averaging = (_all_but_one(data),)
    # Another seed than the one that chose it, so that luck is not judged by itself.
    comparison = compared(replace(question, seed=question.seed + 1), (nearest, *averaging))
    beats = comparison.rows[1].standing == "better"
    return Best(nearest if beats else None, nearest, comparison, tried, alike)


def tries_sizes(question: Question) -> bool:
    """Tell whether `best` tries sample sizes from one record on, if no candidates are given."""
    return question.mechanism.searches_sizes and question.guarantee.neighbours == REPLACE


def _smallest_error(
    question: Question, candidates: Iterable[Omission], advance: Callable[[], None]
) -> tuple[Omission | None, int]:
    """Return the candidate with the smallest error, if any is attainable, and how many there were.

    Runs that can be compared one by one are few: the same random numbers tell candidates apart with
    these. Means that take long to compute are simulated first, and computed for those that may be
    best.
    """
    runs = min(question.runs, _RUNS_TO_SEARCH) if question.data.coupled else question.runs
    quick = replace(question, runs=runs, tolerance=1e-7, details=False, quick=True)
    errors: list[tuple[Omission, ExpectedError]] = []
    tried = 0
    for omission in candidates:
        require_omission(omission)
        with suppress(Unattainable):
            errors.append((omission, quick.error(omission)))
        tried += 1
        advance()
    if not question.data.coupled and any(error.method == "simulated" for _, error in errors):
        patient = replace(quick, quick=False)
        errors = [(omission, patient.error(omission)) for omission in _contenders(errors)]
    nearest = min(errors, key=lambda pair: pair[1].value, default=(None, None))[0]
    return nearest, tried


def _contenders(errors: Sequence[tuple[Omission, ExpectedError]]) -> list[Omission]:
    """Return the omissions whose errors may be smallest, if intervals are twice as wide."""
    least = min(2 * error.high - error.value for _, error in errors)
    return [omission for omission, error in errors if 2 * error.low - error.value <= least]


def _sizes_alike(found: BestSize) -> str:
    """Return which other sizes cannot be told apart from the best, in words."""
    if found.smallest_alike >= found.largest_alike:
        return ""
    parity = "odd" if found.size % 2 else "even"
    return (
        f"; of the {parity} sizes tried, those from {found.smallest_alike:,} to "
        f"{found.largest_alike:,} cannot be told apart from it"
    )


def solve(
    data: Data,
    mechanism: Mechanism,
    wanted: float,
    omission: Omission | None = None,
    *,
    delta: float = 0.0,
    neighbours: str = ADD_REMOVE,
    method: Method = "auto",
    truth: Any = None,
    runs: int = DEFAULT_RUNS,
    advance: Callable[[], None] = lambda: None,
) -> Solution:
    """Return the strongest guarantee whose expected error is at most `wanted`.

    Parameters
    ----------
    data, mechanism, method, truth, runs
        As for `Question`.
    wanted : float
        The expected error to reach, in the unit of the mechanism.
    omission : Omission, optional
        How records are left out; by default none are.
    delta, neighbours
        Of the guarantee, whose epsilon is looked for.
    advance : callable
        Called before every error that is computed.

    Raises
    ------
    Unattainable
        If the error is not reached even at an epsilon of 100.

    Examples
    --------
    >>> import omit
    >>> ages = omit.Column.from_values([20, 30, 30, 40, 60] * 200, bounds=(0, 100), name="age")
    >>> solution = solve(ages, omit.NoisyMean(), wanted=1.0)
    >>> round(solution.guarantee.epsilon, 4), round(solution.error.value, 6)
    (0.2138, 1.0)
    """
    wanted = _validate.finite("wanted", wanted)
    if wanted <= 0:
        raise InvalidInput(f"Expected wanted={wanted:g} to be above 0.")
    question = Question(
        data,
        mechanism,
        Guarantee(1.0, delta, neighbours),
        truth=truth,
        method=method,
        runs=runs,
        details=False,
    )
    if mechanism.unit == "probability" and wanted >= 1:
        raise InvalidInput(
            f"Expected a wanted error below 1, got {wanted:g}: that of a {mechanism.statistic} is "
            f"the {mechanism.metric_name}."
        )
    omission = NoOmission() if omission is None else omission
    require_omission(omission)

    @cache
    def error_at(log_epsilon: float) -> ExpectedError:
        advance()
        return question.at(math.exp(log_epsilon)).error(omission)

    @cache
    def excess(log_epsilon: float) -> float:
        """Return how many times too large the error is, as a logarithm of a size to reckon with."""
        try:
            error = error_at(log_epsilon).value
        except Unattainable:
            return _UNATTAINABLE
        # The sign is that of the difference, also where the quotient rounds to one.
        more = (error - wanted) / wanted
        return min(math.log1p(more), _UNATTAINABLE) if more > -1 else -_UNATTAINABLE

    low, high = _bracket(lambda log_epsilon: excess(log_epsilon) > 0)
    if high > math.log(_LARGEST_EPSILON):
        reached = error_at(math.log(_LARGEST_EPSILON)).value
        raise Unattainable(
            f"{mechanism} after {omission} does not reach an error of {wanted:g} "
            f"{mechanism.unit}: at epsilon = {_LARGEST_EPSILON:g} it still is {reached:.4g}."
        )
    # The error falls as epsilon grows; a simulated one does so with the same runs at each step.
    least = low if excess(low) <= 0 else least_not_above(excess, low, high, _PRECISION)
    return Solution(question.at(math.exp(least)), omission, error_at(least))


_LARGEST_EPSILON = 100.0
_SMALLEST_EPSILON = 1e-6
# Stands for an infinite error where logarithms are interpolated.
_UNATTAINABLE = 50.0
_PRECISION = 1e-10


def _bracket(too_large: Callable[[float], bool]) -> tuple[float, float]:
    """Return logarithms of an epsilon whose error is too large and of one whose error is not.

    The latter is beyond the largest epsilon if there is none, the former below the smallest.
    """
    low, high = -1.0, 0.0
    while too_large(high):
        low = high
        if high >= math.log(_LARGEST_EPSILON):
            return low, math.inf
        high = min(high + 1.0, math.log(_LARGEST_EPSILON))
    while low > math.log(_SMALLEST_EPSILON) and not too_large(low):
        low, high = low - 1.0, low
    return low, high
