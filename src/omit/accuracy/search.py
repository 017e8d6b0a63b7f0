"""Which omission is best at a guarantee, and which guarantee reaches a wanted error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from omit import _validate
from omit._text import promised
from omit.accuracy.best_size import BestSize, best_size, sizes_without_noise
from omit.accuracy.compare import compared, require_omission
from omit.accuracy.comparison import Comparison, private_notes
from omit.accuracy.deadline import Deadline, coarse_to_fine
from omit.accuracy.expected import Method, Question
from omit.accuracy.parts import moved_by
from omit.accuracy.row import shown_interval
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
from omit.report.page import Caption, Card
from omit.report.result import Drawing, Ends, Field, Result, Table, plain

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
    cut_off
        After which time the search ended before it was through, in words; empty if it did not.
    """

    omission: Omission | None
    nearest: Omission
    comparison: Comparison
    tried: int
    alike: str = ""
    cut_off: str = ""

    command: ClassVar[str] = "best"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "of the release",
        "delta": "of the release",
        "error": "expected, of the best omission, or of all records if none beats that",
        "ratio": "of the error of the omission that came nearest to that of all records",
    }

    @property
    def verdict(self) -> str:
        """One sentence, and another where the search was cut off."""
        return f"{self._finding} {self.cut_off}".rstrip()

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the guarantee, the error of the best, and the ratio of the nearest."""
        comparison = self.comparison
        pair = {name: comparison.quantities()[name] for name in ("epsilon", "delta")}
        best = comparison.rows[0 if self.omission is None else 1]
        ratio = comparison.ratio_ends(comparison.rows[1])
        return {**pair, "error": [comparison.error_ends(best)], "ratio": [ratio]}

    def declared_public(self) -> Self:
        """Return the same for data that everybody may see, comparison included."""
        return replace(self, public_data=True, comparison=self.comparison.declared_public())

    @property
    def _finding(self) -> str:
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
        row = comparison.rows[1]
        if not row.matters:
            factor = f"{factor}, which is the same to within 1 %"
        elif row.gains_by_bounds:
            narrower = comparison.narrower(row)
            factor = f"{factor}: the gain is that of its narrower bounds alone, {narrower}"
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
        """Return the pictures of the comparison."""
        return dict(self.comparison.figures())

    def captions(self) -> Mapping[str, Caption]:
        """Return titles and descriptions of the figures."""
        return self.comparison.captions()

    @property
    def card(self) -> Card | None:
        """What is promised, what the nearest omission costs, and what to do."""
        from omit.accuracy.card import best_card

        return best_card(self)

    def provenance(self) -> Mapping[str, str]:
        """Return the data, who declared what of them, and the seed."""
        return self.comparison.provenance()

    def python(self) -> str:
        """Return the search in Python."""
        from omit.accuracy.card import question_code

        return question_code(self.comparison.question, "best")

    def to_json(self) -> dict[str, Any]:
        """Return the comparison, and what was looked for."""
        return {
            **self.comparison.to_json(),
            "mechanism": str(self.comparison.question.mechanism),
            "best": None if self.omission is None else str(self.omission),
            "nearest": str(self.nearest),
            "tried": self.tried,
            "complete": not self.cut_off,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Solution(Result):
    """The strongest guarantee that reaches a wanted error after an omission."""

    question: Question
    omission: Omission
    error: ExpectedError
    cut_off: str = ""

    command: ClassVar[str] = "solve"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "the smallest that reaches the error",
        "delta": "of the release",
        "error": "that is reached",
    }

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
            f"{error.value:.6g} {error.unit} ({error.method}). {self.cut_off}"
        ).rstrip()

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the guarantee, if the mechanism has it, and the error."""
        error = {"error": [(self.error.low, self.error.high)]}
        if not self.question.mechanism.private:
            return {"epsilon": [None], "delta": [None], **error}
        epsilon, delta = self.guarantee.epsilon, self.guarantee.delta
        return {"epsilon": [(epsilon, epsilon)], "delta": [(delta, delta)], **error}

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the numbers."""
        return (*private_notes(self.question.mechanism), *self.question.data.notes)

    @property
    def title(self) -> str:
        """The question."""
        return f"Which ε reaches the error: {self.question.mechanism} of {self.question.data.name}"

    @property
    def card(self) -> Card:
        """The epsilon that is needed, the error that it has, and what a smaller one would do."""
        from omit.accuracy.card import solution_card

        return solution_card(self)

    def provenance(self) -> Mapping[str, str]:
        """Return the data, who declared what of them, and the seed."""
        from omit.accuracy.card import question_provenance

        return question_provenance(self.question)

    def python(self) -> str:
        """Return the question in Python."""
        from omit.accuracy.card import solution_code

        return solution_code(self)

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
            "complete": not self.cut_off,
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
    seconds: float | None = None,
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
        Called after every error that is computed.
    seconds : float, optional
        After which time the best of what was tried so far is returned, and said to be that.
    **options
        The other parameters of `Question`: truth, runs, sampled_from.

    Raises
    ------
    InvalidInput
        If there is nothing to try that can reach the guarantee.

    Examples
    --------
    >>> from omit import Guarantee, NoisyMode, read
    >>> best(read("adult", "age"), NoisyMode(), Guarantee(0.1)).omission is None
    True
    """
    question, alike = Question(data, mechanism, guarantee, **options), ""
    deadline, cut_off = Deadline(seconds), ""
    nearest: Omission | None
    if candidates is None and tries_sizes(question):
        found = best_size(question, advance, deadline)
        nearest, tried = FixedSizeSampling(size=found.size, population=data.size), found.tried
        alike = _sizes_alike(found)
        if not found.complete:
            cut_off = f"{_stopped(deadline)}: sizes that were not tried may be better."
    else:
        if candidates is None:
            candidates = default_candidates(guarantee.neighbours, data.size, question.delta)
        nearest, tried, left = _smallest_error(question, tuple(candidates), advance, deadline)
        if left:
            cut_off = f"{_stopped(deadline)}: {left} more were not tried and may be better."
    if nearest is None:
        raise InvalidInput("None of the omissions to try can reach the guarantee.")
    # What averaging gains is told apart from what sampling does.
    averaging: tuple[Omission, ...] = ()
    if differs_in_parity(data, mechanism, nearest) and nearest != _all_but_one(data):
        averaging = (_all_but_one(data),)
    # Another seed than the one that chose it, so that luck is not judged by itself.
    comparison = compared(replace(question, seed=question.seed + 1), (nearest, *averaging))
    beats = comparison.rows[1].standing == "better"
    return Best(nearest if beats else None, nearest, comparison, tried, alike, cut_off)


def tries_sizes(question: Question) -> bool:
    """Tell whether `best` tries sample sizes from one record on, if no candidates are given."""
    return question.mechanism.searches_sizes and question.guarantee.neighbours == REPLACE


def _stopped(deadline: Deadline) -> str:
    return f"The search was stopped after {deadline.seconds:g} s"


def _smallest_error(
    question: Question,
    candidates: Sequence[Omission],
    advance: Callable[[], None],
    deadline: Deadline,
) -> tuple[Omission | None, int, int]:
    """Return the candidate with the smallest error, if any is attainable, and how many there were.

    And how many were left when the time was up. What an error surely is not below takes little time
    to know: candidates are tried in this order, until none of the others can be best. Runs that can
    be compared one by one are few: the same random numbers tell candidates apart with these. Means
    that take long to compute are simulated first, and computed for those that may be best.
    """
    runs = min(question.runs, _RUNS_TO_SEARCH) if question.data.coupled else question.runs
    quick = replace(question, runs=runs, tolerance=1e-7, details=False, quick=True)
    bounds, settings = [], []
    for omission in candidates:
        require_omission(omission)
        with suppress(Unattainable):
            setting = quick.setting(omission)
            bounds.append(setting.prepared.least_error(setting.design))
            settings.append(setting)
    errors: list[tuple[Omission, ExpectedError]] = []
    # Where nothing is known beforehand, first some from all over the list, then those in between.
    order = coarse_to_fine(len(settings))
    order.sort(key=lambda number: bounds[number])
    for tried, number in enumerate(order):
        if errors and bounds[number] > _largest_best(errors):
            break  # and so are all others
        if errors and deadline.passed:
            left = len(order) - tried
            return _least(errors), len(candidates) - left, left
        setting = settings[number]
        errors.append((setting.omission, setting.error()))
        advance()
    if not question.data.coupled and any(error.method == "simulated" for _, error in errors):
        patient = replace(quick, quick=False)
        errors = [(omission, patient.error(omission)) for omission in _contenders(errors)]
    return _least(errors), len(candidates), 0


def _least(errors: Sequence[tuple[Omission, ExpectedError]]) -> Omission | None:
    return min(errors, key=lambda pair: pair[1].value, default=(None, None))[0]


def _largest_best(errors: Sequence[tuple[Omission, ExpectedError]]) -> float:
    """Return what the smallest error surely is not above, if intervals are twice as wide."""
    return min(2 * error.high - error.value for _, error in errors)


def _contenders(errors: Sequence[tuple[Omission, ExpectedError]]) -> list[Omission]:
    """Return the omissions whose errors may be smallest, if intervals are twice as wide."""
    least = _largest_best(errors)
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
    seconds: float | None = None,
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
    seconds : float, optional
        After which time the smallest epsilon that was seen to reach the error is returned, and said
        to be that.

    Raises
    ------
    Unattainable
        If the error is not reached even at an epsilon of 100, or not in time.

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

    search = _EpsilonSearch(question, omission, wanted, Deadline(seconds), advance)
    try:
        least = search.least()
    except _TimeIsUp:
        return search.best_so_far()
    return Solution(question.at(math.exp(least)), omission, search.error_at(least))


class _TimeIsUp(Exception):
    """The deadline of a search has passed."""


class _EpsilonSearch:
    """The errors of one omission at several epsilons, whose logarithms are the arguments."""

    def __init__(
        self,
        question: Question,
        omission: Omission,
        wanted: float,
        deadline: Deadline,
        advance: Callable[[], None],
    ) -> None:
        self._question, self._omission, self._wanted = question, omission, wanted
        self._deadline, self._advance = deadline, advance
        self._errors: dict[float, ExpectedError] = {}

    def error_at(self, log_epsilon: float) -> ExpectedError:
        """Return the error at an epsilon, which is computed once."""
        if log_epsilon not in self._errors:
            if self._errors and self._deadline.passed:
                raise _TimeIsUp
            self._advance()
            asked = self._question.at(math.exp(log_epsilon))
            self._errors[log_epsilon] = asked.error(self._omission)
        return self._errors[log_epsilon]

    def excess(self, log_epsilon: float) -> float:
        """Return how many times too large the error is, as a logarithm of a size to reckon with."""
        try:
            error = self.error_at(log_epsilon).value
        except Unattainable:
            return _UNATTAINABLE
        # The sign is that of the difference, also where the quotient rounds to one.
        more = (error - self._wanted) / self._wanted
        return min(math.log1p(more), _UNATTAINABLE) if more > -1 else -_UNATTAINABLE

    def least(self) -> float:
        """Return the smallest epsilon that reaches the error, or say that none does."""
        low, high = _bracket(lambda log_epsilon: self.excess(log_epsilon) > 0)
        if high > math.log(_LARGEST_EPSILON):
            mechanism = self._question.mechanism
            reached = self.error_at(math.log(_LARGEST_EPSILON)).value
            at_most = self._question.at(_LARGEST_EPSILON).setting(self._omission)
            clamping = at_most.prepared.clamping
            because = f" {moved_by(mechanism, clamping)}." if clamping else ""
            raise Unattainable(
                f"{mechanism} after {self._omission} does not reach an error of {self._wanted:g} "
                f"{mechanism.unit}: at epsilon = {_LARGEST_EPSILON:g} it still is {reached:.4g}."
                f"{because}"
            )
        if self.excess(low) <= 0:
            return low
        # The error falls as epsilon grows; a simulated one does so with the same runs at each step.
        return least_not_above(self.excess, low, high, _PRECISION)

    def best_so_far(self) -> Solution:
        """Return the smallest epsilon that was seen to reach the error."""
        reaching = [at for at in self._errors if self.excess(at) <= 0]
        seconds = self._deadline.seconds
        if not reaching:
            raise Unattainable(
                f"No epsilon was seen to reach an error of {self._wanted:g} within {seconds:g} s; "
                "allow more time."
            )
        least = min(reaching)
        cut_off = f"{_stopped(self._deadline)}: a smaller epsilon may do."
        at = self._question.at(math.exp(least))
        return Solution(at, self._omission, self._errors[least], cut_off)


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
