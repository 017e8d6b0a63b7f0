"""Repeat the computer-assisted step in the proof of Theorem 5.4 (outlier-score suppression).

The proof of the omitting-records paper bounds the ratio between neighbouring databases by two
suprema and states their values after a numerical search (Remarks B.22 and B.24). Three claims rest
on that search. Each is checked here, cell by cell of a grid of `(epsilon, m, M)`, in logarithms:

1. Formula B.8, the supremum when a record is removed, equals the maxima over p of l1 and l2.
2. The supremum over N when a record is added, together with a second term, equals its limit l3,
   together with that term (Theorem B.23).
3. That second term, `-ln(e^-eps + (1 - e^-eps) m) + 1 - m/M`, is at most the largest of l1, l2, l3.

How the search works
--------------------
Every candidate in Formula B.8 has the form `(E - (E-1) score) * e^gain`, where `score` is the
outlier score of the record that is removed, `gain` is what the other N records contribute, and
neither depends on epsilon. So one dense survey of all candidates, reduced to the largest gain for
every score, serves all epsilons of a pair `(m, M)`. For each epsilon, the best candidates of
every kind are then improved by a pattern search that moves one coordinate at a time.

The search is not told where the maximum is supposed to be. Every candidate is feasible: the
constraint `t <= U_k` of the paper is built into the coordinates, which all run from 0 to 1. Powers
with exponent N are taken as `log1p` of the excess over 1, so that nothing is lost at N = 1e9, where
the textbook form keeps only seven decimals. J and k run over real numbers, as in the paper.

The cases N = 1 and N = 2 are searched as defined in Theorem B.21 (with `a_i / z_i` where its
display has `a_i`), not by the closed forms of its proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.omissions.outlier_score_bounds import published_terms

Cell: TypeAlias = tuple[float, float, float]
Terms: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
Hypothesis: TypeAlias = Callable[[ArrayLike, ArrayLike, ArrayLike], Terms]

EPSILONS: tuple[float, ...] = (
    *(i / 100 for i in range(201)),
    *(i / 10 for i in range(21, 101)),
    *(float(i) for i in range(11, 101)),
)
"""The 371 epsilons of Remarks B.22 and B.24."""

LARGEST_DATABASE = 1e9
"""The largest N of Remarks B.22 and B.24.

The supremum is approached like 1/N, so that a billion records fall short of it by up to 5.8e-6 on
the grid of the paper (at m = 0.04, M = 0.99). With `math.inf` the limit itself is a candidate.
"""

# Few enough that an interruption waits about a second for the slices under way.
_PAIRS_PER_SLICE = 8

# Kinds of candidates. A record is "inside" if it belongs to J: its factor is
# (N + a/z)/(N + 1) inside and (N + (1-a)/(1-z))/(N + 1) outside.
_FAMILIES = 8
(
    _SINGLE_OUTSIDE,  # N = 1
    _SINGLE_INSIDE,
    _PAIR_OUTSIDE,  # N = 2
    _PAIR_MIXED,
    _PAIR_INSIDE,
    _ALL_INSIDE,  # N > 2: H_[N],N,c
    _DIAGONAL,  # N > 2: g(t)
    _EDGE,  # N > 2: g_k(t)
) = range(_FAMILIES)

# Coordinates of a candidate: N itself, then numbers in [0, 1].
_COORDINATES = 5
(
    _SIZE,
    _OUTSIDE,  # the records outside J are one plus this share of the other N - 1
    _RAISED,  # share of those others at B_k; on the diagonal, place of t; for N = 2, place of z
    _FIRST_SCORE,  # place in [m, M] of c, or of a_1 for N <= 2
    _SECOND_SCORE,  # place of t in [m, U_k], or of a_2 in [m, M] for N = 2
) = range(_COORDINATES)
_NONE = -1

# Points of the survey along each coordinate; 1 for a coordinate that the family does not have.
# The first column only says whether N varies: the sizes are in `_database_sizes`.
_RESOLUTION = np.array(
    [
        [1, 1, 1, 65, 1],
        [1, 1, 1, 65, 1],
        [1, 1, 5, 17, 17],
        [1, 1, 5, 17, 17],
        [1, 1, 5, 17, 17],
        [2, 1, 1, 65, 1],
        [2, 33, 17, 9, 1],
        [2, 33, 9, 9, 3],
    ]
)

# The survey keeps the best candidates apart by the size of the database (small, middling, large)
# and by the halves of two coordinates, so that one hill which is slightly higher in the survey
# cannot hide another which would win after the search.
_MIDDLING, _LARGE = 10, 1000
_CLASSES = 12

_SCORE_BINS = 64
_FIRST_STEP = 2.0**-4
_LAST_STEP = 2.0**-24
_MOST_EVALUATIONS = 5000

# The depth of a dip that the search crosses by jumping to the end of a coordinate.
_SHALLOW = 0.01


@dataclass(frozen=True)
class Disagreement:
    """How far the values found and the values claimed lie apart, over some cells.

    Attributes
    ----------
    above
        The largest of `found - claimed`: positive means that the claim fails, up to rounding.
    below
        The largest of `claimed - found`: how far the claim may be from being attained.
    where_above, where_below
        The `(epsilon, m, M)` of these cells.
    cells
        The number of cells compared.
    """

    above: float
    below: float
    where_above: Cell
    where_below: Cell
    cells: int

    def __or__(self, other: Disagreement) -> Disagreement:
        """Return the disagreement over the cells of both."""
        highest = self if self.above >= other.above else other
        lowest = self if self.below >= other.below else other
        return Disagreement(
            highest.above,
            lowest.below,
            highest.where_above,
            lowest.where_below,
            self.cells + other.cells,
        )


@dataclass(frozen=True)
class Verification:
    """The three claims of the numerical step, each with its disagreement.

    Attributes
    ----------
    removing
        Formula B.8 against the maxima over p of l1 and l2 (Remark B.22).
    adding
        The supremum over N against l3, both joined with the second term (Remark B.24).
    superfluous
        The largest of l1, l2, l3 and the second term against the largest of l1, l2, l3.
    """

    removing: Disagreement
    adding: Disagreement
    superfluous: Disagreement

    @property
    def cells(self) -> int:
        """The number of `(epsilon, m, M)` that were checked."""
        return self.removing.cells

    def __or__(self, other: Verification) -> Verification:
        """Return the verification over the cells of both."""
        return Verification(
            self.removing | other.removing,
            self.adding | other.adding,
            self.superfluous | other.superfluous,
        )


def grid(step: float = 0.01) -> tuple[FloatArray, FloatArray]:
    """Return all `m <= M` that are multiples of `step` strictly between 0 and 1.

    Raises
    ------
    InvalidInput
        If `step` is not one over a whole number of at least 2.

    Examples
    --------
    >>> grid(1 / 3)
    (array([0.33333333, 0.33333333, 0.66666667]), array([0.33333333, 0.66666667, 0.66666667]))
    """
    step = _validate.finite("step", step)
    parts = round(1 / step) if step > 0 else 0
    if parts < 2 or not math.isclose(parts * step, 1):
        raise InvalidInput(f"Expected step={step:g} to be one over a whole number, such as 0.01.")
    first, second = np.triu_indices(parts - 1)
    return (first + 1) / parts, (second + 1) / parts


def largest_when_removing(
    epsilon: ArrayLike, m: float, M: float, *, largest_database: float = LARGEST_DATABASE
) -> FloatArray:
    """Return the logarithm of the largest value found for Formula B.8, for each epsilon.

    Parameters
    ----------
    epsilon
        One or more privacy parameters of the mechanism.
    m, M
        The outlier-score parameters, `0 < m <= M < 1`.
    largest_database
        The largest N to try; `math.inf` includes the limit.

    Examples
    --------
    >>> largest_when_removing([0.0, 1.0], 0.5, 0.6).round(6)
    array([0.202786, 0.744131])
    """
    epsilons, sizes = _checked(epsilon, m, M, largest_database)
    return _largest_when_removing(epsilons, m, M, sizes)


def largest_when_adding(
    epsilon: ArrayLike, m: float, M: float, *, largest_database: float = LARGEST_DATABASE
) -> FloatArray:
    """Return the logarithm of the largest value over N in Remark B.24, for each epsilon.

    Parameters are those of `largest_when_removing`.

    Examples
    --------
    >>> largest_when_adding([0.0, 1.0], 0.5, 0.6).round(6)
    array([0.2     , 0.491487])
    """
    epsilons, sizes = _checked(epsilon, m, M, largest_database)
    sizes = np.concatenate([[1.0, 2.0], sizes])
    return _largest_when_adding(epsilons, m, M, sizes)


def check(
    epsilon: ArrayLike,
    m: ArrayLike,
    M: ArrayLike,
    *,
    largest_database: float = LARGEST_DATABASE,
    hypothesis: Hypothesis = published_terms,
) -> Verification:
    """Return the verification for every epsilon with every pair of `m` and `M`.

    Parameters
    ----------
    epsilon
        One or more privacy parameters.
    m, M
        Pairs of outlier-score parameters, of equal length.
    largest_database
        The largest N to try; `math.inf` includes the limit.
    hypothesis
        The claimed terms: the maxima over p of l1 and l2, and l3.

    Examples
    --------
    >>> found = check([0.0, 0.5, 1.0], [0.2, 0.5], [0.4, 0.6])
    >>> found.cells, found.removing.above < 1e-9, found.removing.below < 2e-7
    (6, True, True)
    """
    epsilons = np.atleast_1d(as_array(epsilon))
    low, high = np.atleast_1d(as_array(m)), np.atleast_1d(as_array(M))
    pairs = list(zip(low.tolist(), high.tolist(), strict=True))
    removing = np.array(
        [
            largest_when_removing(epsilons, *pair, largest_database=largest_database)
            for pair in pairs
        ]
    )
    adding = np.array(
        [largest_when_adding(epsilons, *pair, largest_database=largest_database) for pair in pairs]
    )
    low, high = low[:, np.newaxis], high[:, np.newaxis]
    l1, l2, l3 = hypothesis(epsilons, low, high)
    second = -np.log1p(np.expm1(-epsilons) * (1 - low)) + (high - low) / high
    published = np.maximum(np.maximum(l1, l2), l3)
    cells = (epsilons, low, high)
    return Verification(
        _compare(removing, np.maximum(l1, l2), cells),
        _compare(np.maximum(adding, second), np.maximum(l3, second), cells),
        _compare(np.maximum(published, second), published, cells),
    )


def slices(
    epsilons: ArrayLike = EPSILONS,
    step: float = 0.01,
    *,
    workers: int = 2,
    largest_database: float = LARGEST_DATABASE,
    hypothesis: Hypothesis = published_terms,
) -> Generator[Verification, None, None]:
    """Yield the verification of a few pairs `(m, M)` at a time, in the order they finish.

    Join them with `|`; there are `len(epsilons) * grid(step)[0].size` cells in all. Leaving the
    loop early, by `break` or by an interruption, cancels what has not begun; what was joined until
    then is the verification of those cells.

    Parameters
    ----------
    epsilons
        The privacy parameters to check with every pair.
    step
        The distance between neighbouring values of `m` and `M`.
    workers
        The number of threads.
    largest_database, hypothesis
        As in `check`.
    """
    workers = _validate.positive_integer("workers", workers)
    m, M = grid(step)
    executor = ThreadPoolExecutor(workers)
    try:
        running = [
            executor.submit(
                check,
                epsilons,
                m[start : start + _PAIRS_PER_SLICE],
                M[start : start + _PAIRS_PER_SLICE],
                largest_database=largest_database,
                hypothesis=hypothesis,
            )
            for start in range(0, m.size, _PAIRS_PER_SLICE)
        ]
        for finished in as_completed(running):
            yield finished.result()
    finally:
        executor.shutdown(cancel_futures=True)


def verify(
    epsilons: ArrayLike = EPSILONS,
    step: float = 0.01,
    *,
    workers: int = 2,
    largest_database: float = LARGEST_DATABASE,
    hypothesis: Hypothesis = published_terms,
) -> Verification:
    """Return the verification of the whole grid; parameters are those of `slices`.

    Examples
    --------
    >>> found = verify([0.5, 2.0], step=0.2)
    >>> found.cells, found.removing.above < 1e-9, found.superfluous.above
    (20, True, 0.0)
    """
    parts = slices(
        epsilons,
        step,
        workers=workers,
        largest_database=largest_database,
        hypothesis=hypothesis,
    )
    return reduce(or_, parts)


def _checked(
    epsilon: ArrayLike, m: float, M: float, largest_database: float
) -> tuple[FloatArray, FloatArray]:
    """Return the epsilons and the database sizes of the survey, or refuse the arguments."""
    epsilons = np.atleast_1d(as_array(epsilon))
    if not (epsilons.size and np.isfinite(epsilons).all() and (epsilons >= 0).all()):
        raise InvalidInput("Expected one or more epsilons, finite and at least 0.")
    if not 0 < m <= M < 1:
        raise InvalidInput(f"Expected 0 < m <= M < 1, got m={m:g} and M={M:g}.")
    if not largest_database >= 3:
        raise InvalidInput(f"Expected largest_database={largest_database} to be at least 3.")
    return epsilons, _database_sizes(largest_database)


def _database_sizes(largest: float) -> FloatArray:
    """Return the sizes N > 2 of the survey: dense where values bend, sparse where they settle.

    Values are analytic in 1/N and vary on the scale of m and 1 - M, so that above 1e4 they are
    straight lines in 1/N.
    """
    few = np.arange(3, 10)
    more = np.floor(np.geomspace(10, 1e4, 24))
    many = 10.0 ** np.arange(5, 10)
    sizes = np.concatenate([few, more, many])
    last = math.floor(largest) if math.isfinite(largest) else largest
    return np.append(sizes[sizes < last], last)


def _compare(
    found: FloatArray, claimed: FloatArray, cells: tuple[FloatArray, FloatArray, FloatArray]
) -> Disagreement:
    """Return the disagreement of two arrays over the broadcast cells."""
    excess, shortfall = found - claimed, claimed - found
    if not np.isfinite(excess).all():
        raise ArithmeticError("A value of the verification is not a finite number.")
    epsilon, m, M = np.broadcast_arrays(*cells)

    def cell(index: np.intp) -> Cell:
        return float(epsilon.flat[index]), float(m.flat[index]), float(M.flat[index])

    return Disagreement(
        float(excess.max()),
        float(shortfall.max()),
        cell(excess.argmax()),
        cell(shortfall.argmax()),
        excess.size,
    )


@compiled
def _power(share: float, excess: float, per_record: float) -> float:
    """Return `N share ln((N + 1 + excess) / (N + 1))` for N = 1 / per_record, also for N = inf."""
    if per_record == 0.0:
        return share * excess
    return share * math.log1p(excess * per_record / (1.0 + per_record)) / per_record


@compiled
def _few_records(family: int, point: FloatArray, m: float, M: float) -> tuple[float, float]:
    """Return score and gain of `f_{J,N}(a; z)` for N = 1 and N = 2."""
    first = m + point[_FIRST_SCORE] * (M - m)
    if family == _SINGLE_OUTSIDE:
        return (m + first) / 2, math.log1p((m - first) / (1 - m) / 2)
    if family == _SINGLE_INSIDE:
        return (m + first) / 2, math.log1p((first - m) / m / 2)
    second = m + point[_SECOND_SCORE] * (M - m)
    highest = min(M + m, first + second) / 2
    z = m + point[_RAISED] * (highest - m)
    gain = 0.0
    if family == _PAIR_OUTSIDE:
        gain += math.log1p((z - first) / (1 - z) / 3)
    else:
        gain += math.log1p((first - z) / z / 3)
    if family == _PAIR_INSIDE:
        gain += math.log1p((second - z) / z / 3)
    else:
        gain += math.log1p((z - second) / (1 - z) / 3)
    return (m + first + second) / 3, gain


@compiled
def _score_and_gain(family: int, point: FloatArray, m: float, M: float) -> tuple[float, float]:
    """Return score and gain of a candidate, all sums divided by N so that N may be infinite."""
    if family <= _PAIR_INSIDE:
        return _few_records(family, point, m, M)
    one = 1.0 / point[_SIZE]
    c = m + point[_FIRST_SCORE] * (M - m)
    if family == _ALL_INSIDE:
        return (one * m + c) / (1 + one), _power(1.0, (c - m) / m, one)
    others = point[_OUTSIDE] * (1 - one)
    inside = (1 - point[_OUTSIDE]) * (1 - one)
    gain = _power(inside, (c - m) / m, one)
    if family == _DIAGONAL:
        top = ((1 - one) * (M + m) - inside * c) / (1 + others - one)
        t = m + point[_RAISED] * (top - m)
        z = (2 - inside - 2 * one) * t - (1 - 2 * one) * m + inside * c
        outside = one + others
        gain += _power(outside, (z - t) / (1 - z), one)
        return (one * m + inside * c + outside * t) / (1 + one), gain
    raised = point[_RAISED] * others
    lowest = (1 - point[_RAISED]) * others
    room = (1 - one) * (M + m) - inside * c - lowest * m
    top = room / (1 + raised - one)
    t = m + point[_SECOND_SCORE] * (top - m)
    raised_score = (room - one * t) / (1 + raised - 2 * one)
    total = inside * c + one * t + lowest * m + raised * raised_score
    z = (1 - 2 * one) * (t - m) + total
    ceiling = one * m + (1 - one) * M
    gain += _power(one, (z - t) / (1 - z), one)
    gain += _power(lowest, (total - m) / (1 - total), one)
    gain += _power(raised, (ceiling - raised_score) / (1 - ceiling), one)
    return (one * m + total) / (1 + one), gain


@compiled
def _place(index: int, points: int) -> float:
    """Return the index-th of equally spaced points in [0, 1]."""
    return index / (points - 1) if points > 1 else 0.0


@compiled
def _class(point: FloatArray) -> int:
    """Return the class within which a candidate competes for being a start of the search."""
    size = int(point[_SIZE] >= _MIDDLING) + int(point[_SIZE] >= _LARGE)
    return 4 * size + 2 * int(point[_RAISED] >= 0.5) + int(point[_OUTSIDE] >= 0.5)


@compiled
def _survey(
    family: int, m: float, M: float, sizes: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return scores, gains and places of the candidates with the largest gain, by class and bin."""
    scores = np.zeros((_CLASSES, _SCORE_BINS))
    gains = np.full((_CLASSES, _SCORE_BINS), -np.inf)
    points = np.zeros((_CLASSES, _SCORE_BINS, _COORDINATES))
    per_score = _SCORE_BINS / (M - m) if m < M else 0.0
    resolution = _RESOLUTION[family]
    point = np.zeros(_COORDINATES)
    for size in sizes if resolution[_SIZE] > 1 else sizes[:1]:
        point[_SIZE] = size
        for i in range(resolution[_OUTSIDE]):
            point[_OUTSIDE] = _place(i, resolution[_OUTSIDE])
            for j in range(resolution[_RAISED]):
                point[_RAISED] = _place(j, resolution[_RAISED])
                for k in range(resolution[_FIRST_SCORE]):
                    point[_FIRST_SCORE] = _place(k, resolution[_FIRST_SCORE])
                    for n in range(resolution[_SECOND_SCORE]):
                        point[_SECOND_SCORE] = _place(n, resolution[_SECOND_SCORE])
                        score, gain = _score_and_gain(family, point, m, M)
                        group = _class(point)
                        slot = min(max(int((score - m) * per_score), 0), _SCORE_BINS - 1)
                        if gain > gains[group, slot]:
                            gains[group, slot] = gain
                            scores[group, slot] = score
                            points[group, slot] = point
    return scores, gains, points


@compiled
def _value(family: int, point: FloatArray, shrink: float, m: float, M: float) -> float:
    """Return `ln((E - (E-1) score) e^gain) - epsilon` of a candidate, for shrink = 1/E - 1."""
    score, gain = _score_and_gain(family, point, m, M)
    return math.log1p(shrink * score) + gain


@compiled
def _moved(point: FloatArray, coordinate: int, step: float, largest: float) -> float:
    """Return the coordinate after a step, inside its range; N moves to another whole number."""
    here = float(point[coordinate])
    if coordinate != _SIZE:
        return min(max(here + step, 0.0), 1.0)
    one = 1.0 / here - step / 3
    there = math.floor(1.0 / one + 0.5) if one > 0.0 and one * largest > 1.0 else largest
    there = max(there, here + 1) if step > 0 else min(there, here - 1)
    return min(max(there, 3.0), largest)


@compiled
def _climb(
    family: int,
    point: FloatArray,
    held: int,
    shrink: float,
    m: float,
    M: float,
    largest: float,
) -> float:
    """Move `point` uphill by one coordinate at a time, never `held`; return its value."""
    value = _value(family, point, shrink, m, M)
    step = _FIRST_STEP
    evaluations = 0
    while step >= _LAST_STEP and evaluations < _MOST_EVALUATIONS:
        climbed = False
        for coordinate in range(_COORDINATES):
            if coordinate == held or _RESOLUTION[family, coordinate] == 1:
                continue
            for signed in (-step, step):
                before = point[coordinate]
                point[coordinate] = _moved(point, coordinate, signed, largest)
                if point[coordinate] == before:
                    continue
                candidate = _value(family, point, shrink, m, M)
                evaluations += 1
                if candidate > value:
                    value = candidate
                    climbed = True
                else:
                    point[coordinate] = before
        if not climbed:
            step /= 4
    return value


@compiled
def _climb_after_jumps(
    family: int,
    summit: FloatArray,
    highest: float,
    shrink: float,
    m: float,
    M: float,
    largest: float,
) -> float:
    """Return the best value after jumping from a summit to either end of each coordinate.

    Small steps do not leave a summit where a coordinate does not matter but would elsewhere (c, as
    long as J is empty), nor one that a shallow dip parts from another. The coordinate that jumped
    is held until the others have followed, so that it does not slide back.
    """
    best = highest
    point = np.empty(_COORDINATES)
    for coordinate in range(1, _COORDINATES):
        if _RESOLUTION[family, coordinate] == 1:
            continue
        for end in (0.0, 1.0):
            point[:] = summit
            point[coordinate] = end
            if _value(family, point, shrink, m, M) < highest - _SHALLOW:
                continue
            if _climb(family, point, coordinate, shrink, m, M, largest) > best:
                best = _climb(family, point, _NONE, shrink, m, M, largest)
    return best


@compiled
def _largest_when_removing(
    epsilons: FloatArray, m: float, M: float, sizes: FloatArray
) -> FloatArray:
    """Return the largest logarithm of Formula B.8 that the search finds, for each epsilon."""
    best = np.full(epsilons.size, -np.inf)
    start = np.empty(_COORDINATES)
    summit = np.empty(_COORDINATES)
    for family in range(_FAMILIES):
        scores, gains, points = _survey(family, m, M, sizes)
        for i in range(epsilons.size):
            shrink = math.expm1(-epsilons[i])
            highest = -np.inf
            for group in range(_CLASSES):
                top, top_value = 0, -np.inf
                for slot in range(_SCORE_BINS):
                    if gains[group, slot] > -np.inf:
                        value = math.log1p(shrink * scores[group, slot]) + gains[group, slot]
                        if value > top_value:
                            top, top_value = slot, value
                if top_value == -np.inf:
                    continue
                start[:] = points[group, top]
                value = _climb(family, start, _NONE, shrink, m, M, sizes[-1])
                if value > highest:
                    highest = value
                    summit[:] = start
            value = _climb_after_jumps(family, summit, highest, shrink, m, M, sizes[-1])
            best[i] = max(best[i], epsilons[i] + value)
    return best


@compiled
def _adding(epsilon: float, m: float, M: float, size: float) -> float:
    """Return the logarithm of the expression under the supremum of Remark B.24."""
    one = 1.0 / size
    score = (one * m + M) / (1 + one)
    loss = -math.log1p(math.expm1(-epsilon) * (1 - score))
    return loss - _power(1.0, (m - M) / (1 - m), one)


@compiled
def _largest_when_adding(epsilons: FloatArray, m: float, M: float, sizes: FloatArray) -> FloatArray:
    """Return the largest value over N, by trying all sizes and halving steps around the best."""
    best = np.full(epsilons.size, -np.inf)
    for i in range(epsilons.size):
        size = sizes[0]
        for other in sizes:
            value = _adding(epsilons[i], m, M, other)
            if value > best[i]:
                best[i], size = value, other
        step = math.ceil(size / 2) if size < np.inf else 0.0
        while step >= 1:
            for other in (size - step, size + step):
                if 1 <= other <= sizes[-1]:
                    value = _adding(epsilons[i], m, M, other)
                    if value > best[i]:
                        best[i], size = value, other
            step = math.floor(step / 2)
    return best
