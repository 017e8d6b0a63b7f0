"""Which omission is best at a guarantee, and which guarantee reaches a wanted error.

The sample size that minimises the error, for a statistic, data and a guarantee.

The paper's open question ("Accuracy Gains", Section 5). Sizes are tried from one record to all but
a few, at a constant ratio, with few runs; around the best of them again with all runs, and closer
together. Odd sizes are tried and even ones: the median of an odd number is one record, that of an
even number the mean of two, with noise of up to four times less variance. The tried sizes around
the best, and of its parity, whose intervals meet that of the best cannot be told apart from it. The
largest size that needs no noise at all, by its delta, is tried too: errors jump there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from omit import _validate
from omit.accuracy.compare import Comparison, compare, require_omission, require_question
from omit.accuracy.expected import Method, expected_error
from omit.accuracy.sampled_from import averages_unlike_all, target_on_sample
from omit.accuracy.simulated import DEFAULT_RUNS
from omit.data.column import Column
from omit.data.points import Points
from omit.errors import InvalidInput, Unattainable
from omit.exact.error import Error
from omit.guarantee import ADD_REMOVE, Guarantee
from omit.laws.intervals import judge
from omit.laws.inversion import least_not_above
from omit.mechanisms.base import Clustering, IntegrableMechanism, Mechanism
from omit.mechanisms.mean import NoisyMean
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import FixedSizeSampling, NoOmission, PoissonSampling

RATES = tuple(round(0.01 * step, 2) for step in range(1, 100))
_RUNS_TO_SEARCH = 200
PROBABILITIES = tuple(round(0.1 * step, 1) for step in range(1, 10))


@dataclass(frozen=True)
class Best:
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

    @property
    def verdict(self) -> str:
        """One sentence."""
        ratio = self.comparison.rows[1].ratio
        factor = "" if ratio is None else f" (error {ratio:.4g} times that of all records)"
        private = self.comparison.mechanism.private
        if self.omission is None:
            sure = "beats" if self.comparison.rows[1].standing == "worse" else "surely beats"
            return (
                f"None: of {self.tried} omissions tried, none {sure} using all records "
                f"{'at' if private else 'with'} {self.comparison.promise}; the nearest is "
                f"{self.nearest}{factor}."
            )
        setting = f"At {self.comparison.promise},"
        if not private:
            setting = f"With {self.comparison.promise}:"
        found = f"{setting} the best of {self.tried} is {self.omission}{factor}"
        return f"{found}{self.alike}.{self._averaging()}"

    def _averaging(self) -> str:
        """Return how much of the gain is that of averaging two records."""
        comparison = self.comparison
        last = comparison.rows[-1]
        if not averages_unlike_all(comparison.data, comparison.mechanism, last.omission):
            return ""
        if last.standing != "better" or last.ratio is None:
            return ""
        if last.omission == self.nearest:
            if self.nearest != _all_but_one(comparison.data):
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


def _all_but_one(data: Column | Points) -> FixedSizeSampling:
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


def best(
    data: Column | Points,
    mechanism: Mechanism | Clustering,
    guarantee: Guarantee,
    candidates: Iterable[Omission] | None = None,
    *,
    truth: Any = None,
    runs: int = DEFAULT_RUNS,
    sampled_from: int | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Best:
    """Return the omission that minimises the expected error at a guarantee.

    Parameters
    ----------
    data, mechanism, guarantee, truth, runs
        As for `expected_error`.
    candidates : iterable of Omission, optional
        What to try; by default `default_candidates`, and for medians, quantiles and mean squared
        errors sample sizes from one record on (`best_size`).
    sampled_from : int, optional
        As for `compare`.
    advance : callable
        Called after each candidate.

    Raises
    ------
    InvalidInput
        If there is nothing to try that can reach the guarantee.
    """
    require_question(guarantee, mechanism, runs, truth)
    nearest: Omission | None
    each, alike = guarantee, ""
    if sampled_from is not None:
        each = target_on_sample(guarantee, data.size, sampled_from)
    if (
        candidates is None
        and isinstance(data, Column)
        and isinstance(mechanism, IntegrableMechanism)
    ):
        found = best_size(data, mechanism, each, truth=truth, runs=runs, advance=advance)
        nearest, tried = FixedSizeSampling(size=found.size, population=data.size), found.tried
        alike = _sizes_alike(found)
    else:
        if candidates is None:
            candidates = default_candidates(guarantee.neighbours, data.size, each.delta)
        nearest, tried = _smallest_error(data, mechanism, each, candidates, truth, runs, advance)
    if nearest is None:
        raise InvalidInput("None of the omissions to try can reach the guarantee.")
    # What averaging gains is told apart from what sampling does.
    averaging: tuple[Omission, ...] = ()
    if averages_unlike_all(data, mechanism, nearest) and nearest != _all_but_one(data):
        averaging = (_all_but_one(data),)
    # Another seed than the one that chose it, so that luck is not judged by itself.
    comparison = compare(
        data,
        mechanism,
        guarantee,
        nearest,
        *averaging,
        truth=truth,
        runs=runs,
        seed=1,
        sampled_from=sampled_from,
    )
    beats = comparison.rows[1].standing == "better"
    return Best(nearest if beats else None, nearest, comparison, tried, alike)


def _smallest_error(
    data: Column | Points,
    mechanism: Mechanism | Clustering,
    guarantee: Guarantee,
    candidates: Iterable[Omission],
    truth: Any,
    runs: int,
    advance: Callable[[], None],
) -> tuple[Omission | None, int]:
    """Return the candidate with the smallest error, if any is attainable, and how many there were.

    Clusterings are tried with few runs: the same random numbers tell candidates apart with these.
    Means that take long to compute are simulated first, and computed for those that may be best.
    """
    search_runs = min(runs, _RUNS_TO_SEARCH) if isinstance(data, Points) else runs

    def error(omission: Omission, quick: bool) -> Error:
        return expected_error(
            data,
            mechanism,
            guarantee,
            omission,
            truth=truth,
            runs=search_runs,
            tolerance=1e-7,
            details=False,
            quick=quick,
        )

    errors: list[tuple[Omission, Error]] = []
    tried = 0
    for omission in candidates:
        require_omission(omission)
        suited = omission.suited_to(mechanism.statistic)
        with suppress(Unattainable):
            errors.append((suited, error(suited, quick=True)))
        tried += 1
        advance()
    if isinstance(mechanism, NoisyMean) and any(each.method != "exact" for _, each in errors):
        errors = [(omission, error(omission, quick=False)) for omission in _contenders(errors)]
    nearest = min(errors, key=lambda each: each[1].value, default=(None, None))[0]
    return nearest, tried


def _contenders(errors: Sequence[tuple[Omission, Error]]) -> list[Omission]:
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
    data: Column | Points,
    mechanism: Mechanism | Clustering,
    wanted: float,
    omission: Omission | None = None,
    *,
    delta: float = 0.0,
    neighbours: str = ADD_REMOVE,
    method: Method = "auto",
    truth: Any = None,
    runs: int = DEFAULT_RUNS,
) -> tuple[Guarantee, Error]:
    """Return the strongest guarantee whose expected error is at most `wanted`.

    Parameters
    ----------
    data, mechanism, omission, method, truth, runs
        As for `expected_error`.
    wanted : float
        The expected error to reach, in the unit of the mechanism.
    delta, neighbours
        Of the guarantee, whose epsilon is looked for.

    Raises
    ------
    Unattainable
        If the error is not reached even at an epsilon of 100.

    Examples
    --------
    >>> import omit
    >>> ages = omit.Column.from_values([20, 30, 30, 40, 60] * 200, bounds=(0, 100), name="age")
    >>> guarantee, error = solve(ages, omit.NoisyMean(), wanted=1.0)
    >>> round(guarantee.epsilon, 4), round(error.value, 6)
    (0.6..., 1.0)
    """
    wanted = _validate.finite("wanted", wanted)
    if wanted <= 0:
        raise InvalidInput(f"Expected wanted={wanted:g} to be above 0.")
    require_question(Guarantee(1.0, delta, neighbours), mechanism, runs, truth)
    if mechanism.unit == "probability" and wanted >= 1:
        raise InvalidInput(
            f"Expected a wanted error below 1, got {wanted:g}: that of a {mechanism.statistic} is "
            f"the {mechanism.metric}."
        )
    omission = NoOmission() if omission is None else omission
    require_omission(omission)

    @cache
    def error_at(log_epsilon: float) -> Error:
        return expected_error(
            data,
            mechanism,
            Guarantee(math.exp(log_epsilon), delta, neighbours),
            omission,
            method,
            truth=truth,
            runs=runs,
            rng=np.random.default_rng(0),
            details=False,
        )

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
    return Guarantee(math.exp(least), delta, neighbours), error_at(least)


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


POINTS = 36
_FIRST_RUNS = 300
# Two steps of the grid, each with an odd and an even size.
_AROUND = 4


@dataclass(frozen=True)
class BestSize:
    """The sample size with the smallest error, and those of its parity that are not told apart."""

    size: int
    error: Error
    smallest_alike: int
    largest_alike: int
    tried: int


def sample_sizes(population: int, points: int = POINTS) -> tuple[int, ...]:
    """Return sample sizes below the population, at a constant ratio: odd ones, and one more each.

    Examples
    --------
    >>> sample_sizes(101, 6)
    (1, 2, 3, 4, 7, 8, 15, 16, 39, 40, 99, 100)
    """
    if population < 2:
        raise InvalidInput("A sample of less than all records needs at least two of them.")
    largest = max(1, population - 2 + (population % 2 == 0))
    ratio = largest ** (1 / (points - 1)) if points > 1 else 1.0
    sizes = {min(largest, 2 * int(ratio**step / 2) + 1) for step in range(points)}
    return _both_parities({*sizes, largest}, population - 1)


def sizes_without_noise(population: int, delta: float) -> tuple[int, ...]:
    """Return the largest sample that `delta` lets out without noise, and the next smaller one.

    From `delta >= n/N` on a sample of `n` of `N` records needs no noise, so the error of the
    largest such sample can be far below those of its neighbours in any list of sizes. For medians
    the two differ in parity.

    Examples
    --------
    >>> sizes_without_noise(10_001, 0.01), sizes_without_noise(10_001, 5e-5)
    ((99, 100), ())
    """
    largest = min(int(delta * population * (1 + 1e-12)), population - 1)
    return tuple(size for size in (largest - 1, largest) if size > 0)


def _both_parities(odd: Iterable[int], largest: int) -> tuple[int, ...]:
    """Return odd sizes and the even ones next to them, none above the largest."""
    return tuple(sorted({size for each in odd for size in (each, each + 1) if size <= largest}))


def best_size(
    data: Column,
    mechanism: IntegrableMechanism,
    guarantee: Guarantee,
    *,
    truth: Any = None,
    runs: int = 2000,
    advance: Callable[[], None] = lambda: None,
) -> BestSize:
    """Return the sample size with the smallest expected error.

    Parameters
    ----------
    data, mechanism, guarantee, truth, runs
        As for `expected_error`.
    advance : callable
        Called after each size.

    Raises
    ------
    InvalidInput
        If there is only one record.

    Examples
    --------
    >>> from omit.mechanisms import GlobalQuantile
    >>> ages = Column.from_values(list(range(20, 71)), bounds=(0, 100))
    >>> best_size(ages, GlobalQuantile(), Guarantee(0.1, neighbours="replace")).size
    2
    """
    errors: dict[int, Error] = {}

    def look(sizes: list[int], runs: int) -> None:
        for size in sizes:
            advance()
            omission = FixedSizeSampling(size=size, population=data.size)
            errors[size] = expected_error(
                data, mechanism, guarantee, omission, truth=truth, runs=runs
            )

    bare = sizes_without_noise(data.size, guarantee.delta)
    first = sorted({*sample_sizes(data.size), *bare})
    look(first, min(runs, _FIRST_RUNS))
    coarse = dict(errors)
    middle = first.index(min(first, key=lambda size: coarse[size].value))
    low = first[max(0, middle - _AROUND)]
    high = first[min(len(first) - 1, middle + _AROUND)]
    look(_between(low, high), runs)
    best = min(errors, key=lambda size: (errors[size].value, size))
    same = sorted(size for size in errors if size % 2 == best % 2)
    meets = [judge(errors[size], errors[best]) != "worse" for size in same]
    first_alike = last_alike = same.index(best)
    while first_alike > 0 and meets[first_alike - 1]:
        first_alike -= 1
    while last_alike < len(same) - 1 and meets[last_alike + 1]:
        last_alike += 1
    return BestSize(best, errors[best], same[first_alike], same[last_alike], len(errors))


def _between(low: int, high: int, points: int = 9) -> list[int]:
    """Return sizes from one to the other, at a constant ratio: odd ones, and one more each."""
    logarithms = [
        math.log(low) + (math.log(high) - math.log(low)) * step / (points - 1)
        for step in range(points)
    ]
    sizes = {2 * int(math.exp(each) / 2 + 1e-9) + 1 for each in logarithms}
    return [size for size in _both_parities(sizes, high) if size >= low]
