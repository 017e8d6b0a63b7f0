"""The search for the largest candidate of the suprema in the proof of Theorem 5.4.

Every candidate in Formula B.8 has the form `(E - (E-1) score) * e^gain`, where `score` is the
outlier score of the record that is removed, `gain` is what the other N records contribute, and
neither depends on epsilon. So one dense survey of all candidates, reduced to the largest gain for
every score, serves all epsilons of a pair `(m, M)`. For each epsilon, the best candidates of every
kind are then improved by a pattern search that moves one coordinate at a time. The search is not
told where the maximum is supposed to be.

Every candidate is feasible: the constraint `t <= U_k` of the paper is built into the coordinates,
which all run from 0 to 1. Powers with exponent N are taken as `log1p` of the excess over 1, so that
nothing is lost at N = 1e9, where the textbook form keeps only seven decimals. J and k run over real
numbers, as in the paper.

The cases N = 1 and N = 2 are as defined in Theorem B.21 (with `a_i / z_i` where its display has
`a_i`), not by the closed forms of its proof.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput

LARGEST_DATABASE = 1e9
"""The largest N of Remarks B.22 and B.24.

The supremum is approached like 1/N, so that a billion records fall short of it by up to 5.8e-6 on
the grid of the paper (at m = 0.04, M = 0.99). With `math.inf` the limit itself is a candidate.
"""
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


def largest_when_removing(
    epsilon: ArrayLike, m: float, M: float, *, largest_database: float = LARGEST_DATABASE
) -> FloatArray:
    """Return the logarithm of the largest value reached by Formula B.8, for each epsilon.

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


def _checked(
    epsilon: ArrayLike, m: float, M: float, largest_database: float
) -> tuple[FloatArray, FloatArray]:
    """Return the epsilons and the database sizes of the survey, or refuse the arguments."""
    epsilons = np.atleast_1d(as_array(epsilon))
    if not (epsilons.size and np.isfinite(epsilons).all() and (epsilons >= 0).all()):
        raise InvalidInput("Expected one or more epsilons, finite and at least 0.")
    if not 0 < m <= M < 1:
        raise InvalidInput(f"Expected 0 < m <= M < 1, got m={m:g} and M={M:g}.")
    # Beyond, records are no longer counted one by one in floating point.
    if not (3 <= largest_database <= 2**53 or largest_database == np.inf):
        raise InvalidInput(
            f"Expected largest_database={largest_database:g} from 3 to {2**53:.1g}, or inf."
        )
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


@compiled
def _coordinate(index: int, points: int) -> float:
    """Return the index-th of equally spaced points in [0, 1]."""
    return index / (points - 1) if points > 1 else 0.0


@compiled
def _class(point: FloatArray) -> int:
    """Return the class within which a candidate competes for being a start of the search."""
    size = int(point[SIZE] >= _MIDDLING) + int(point[SIZE] >= _LARGE)
    return 4 * size + 2 * int(point[RAISED] >= 0.5) + int(point[OUTSIDE] >= 0.5)


@compiled
def _survey(
    family: int, m: float, M: float, sizes: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return score, gain and point of the candidates with the largest gain, by class and bin."""
    scores = np.zeros((_CLASSES, _SCORE_BINS))
    gains = np.full((_CLASSES, _SCORE_BINS), -np.inf)
    points = np.zeros((_CLASSES, _SCORE_BINS, COORDINATES))
    per_score = _SCORE_BINS / (M - m) if m < M else 0.0
    resolution = _RESOLUTION[family]
    point = np.zeros(COORDINATES)
    for size in sizes if resolution[SIZE] > 1 else sizes[:1]:
        point[SIZE] = size
        for i in range(resolution[OUTSIDE]):
            point[OUTSIDE] = _coordinate(i, resolution[OUTSIDE])
            for j in range(resolution[RAISED]):
                point[RAISED] = _coordinate(j, resolution[RAISED])
                for k in range(resolution[FIRST_SCORE]):
                    point[FIRST_SCORE] = _coordinate(k, resolution[FIRST_SCORE])
                    for n in range(resolution[SECOND_SCORE]):
                        point[SECOND_SCORE] = _coordinate(n, resolution[SECOND_SCORE])
                        score, gain = score_and_gain(family, point, m, M)
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
    score, gain = score_and_gain(family, point, m, M)
    return math.log1p(shrink * score) + gain


@compiled
def _moved(point: FloatArray, coordinate: int, step: float, largest: float) -> float:
    """Return the coordinate after a step, inside its range; N moves to another whole number."""
    here = float(point[coordinate])
    if coordinate != SIZE:
        return min(max(here + step, 0.0), 1.0)
    one = 1.0 / here - step / 3
    there = math.floor(1.0 / one + 0.5) if one > 0.0 and one * largest > 1.0 else largest
    there = max(there, here + 1) if step > 0 else min(there, here - 1)
    return min(max(there, 3.0), largest)


@compiled
def _climb(
    family: int, point: FloatArray, held: int, shrink: float, m: float, M: float, largest: float
) -> float:
    """Move `point` uphill by one coordinate at a time, never `held`; return its value."""
    value = _value(family, point, shrink, m, M)
    step = _FIRST_STEP
    evaluations = 0
    while step >= _LAST_STEP and evaluations < _MOST_EVALUATIONS:
        climbed = False
        for coordinate in range(COORDINATES):
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
    point = np.empty(COORDINATES)
    for coordinate in range(1, COORDINATES):
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
    start = np.empty(COORDINATES)
    summit = np.empty(COORDINATES)
    for family in range(FAMILIES):
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
def _largest_when_adding(epsilons: FloatArray, m: float, M: float, sizes: FloatArray) -> FloatArray:
    """Return the largest value over N, by trying all sizes and halving steps around the best."""
    best = np.full(epsilons.size, -np.inf)
    for i in range(epsilons.size):
        size = sizes[0]
        for other in sizes:
            value = value_of_adding(epsilons[i], m, M, other)
            if value > best[i]:
                best[i], size = value, other
        step = math.ceil(size / 2) if size < np.inf else 0.0
        while step >= 1:
            for other in (size - step, size + step):
                if 1 <= other <= sizes[-1]:
                    value = value_of_adding(epsilons[i], m, M, other)
                    if value > best[i]:
                        best[i], size = value, other
            step = math.floor(step / 2)
    return best


# Kinds of candidates. A record is "inside" if it belongs to J: its factor is
# (N + a/z)/(N + 1) inside and (N + (1-a)/(1-z))/(N + 1) outside.
FAMILIES = 8
(
    SINGLE_OUTSIDE,  # N = 1
    SINGLE_INSIDE,
    PAIR_OUTSIDE,  # N = 2
    PAIR_MIXED,
    PAIR_INSIDE,
    ALL_INSIDE,  # N > 2: H_[N],N,c
    DIAGONAL,  # N > 2: g(t)
    EDGE,  # N > 2: g_k(t)
) = range(FAMILIES)

# Coordinates of a candidate: N itself, then numbers in [0, 1].
COORDINATES = 5
(
    SIZE,
    OUTSIDE,  # the records outside J are one plus this share of the other N - 1
    RAISED,  # share of those others at B_k; on the diagonal, position of t; for N = 2, of z
    FIRST_SCORE,  # position in [m, M] of c, or of a_1 for N <= 2
    SECOND_SCORE,  # position of t in [m, U_k], or of a_2 in [m, M] for N = 2
) = range(COORDINATES)


@compiled
def _power(share: float, excess: float, per_record: float) -> float:
    """Return `N share ln((N + 1 + excess) / (N + 1))` for N = 1 / per_record, also for N = inf."""
    if per_record == 0.0:
        return share * excess
    return share * math.log1p(excess * per_record / (1.0 + per_record)) / per_record


@compiled
def _few_records(family: int, point: FloatArray, m: float, M: float) -> tuple[float, float]:
    """Return score and gain of `f_{J,N}(a; z)` for N = 1 and N = 2."""
    first = m + point[FIRST_SCORE] * (M - m)
    if family == SINGLE_OUTSIDE:
        return (m + first) / 2, math.log1p((m - first) / (1 - m) / 2)
    if family == SINGLE_INSIDE:
        return (m + first) / 2, math.log1p((first - m) / m / 2)
    second = m + point[SECOND_SCORE] * (M - m)
    highest = min(M + m, first + second) / 2
    z = m + point[RAISED] * (highest - m)
    gain = 0.0
    if family == PAIR_OUTSIDE:
        gain += math.log1p((z - first) / (1 - z) / 3)
    else:
        gain += math.log1p((first - z) / z / 3)
    if family == PAIR_INSIDE:
        gain += math.log1p((second - z) / z / 3)
    else:
        gain += math.log1p((z - second) / (1 - z) / 3)
    return (m + first + second) / 3, gain


@compiled
def score_and_gain(family: int, point: FloatArray, m: float, M: float) -> tuple[float, float]:
    """Return score and gain of a candidate, all sums divided by N so that N may be infinite."""
    if family <= PAIR_INSIDE:
        return _few_records(family, point, m, M)
    one = 1.0 / point[SIZE]
    c = m + point[FIRST_SCORE] * (M - m)
    if family == ALL_INSIDE:
        return (one * m + c) / (1 + one), _power(1.0, (c - m) / m, one)
    others = point[OUTSIDE] * (1 - one)
    inside = (1 - point[OUTSIDE]) * (1 - one)
    gain = _power(inside, (c - m) / m, one)
    if family == DIAGONAL:
        top = ((1 - one) * (M + m) - inside * c) / (1 + others - one)
        t = m + point[RAISED] * (top - m)
        z = (2 - inside - 2 * one) * t - (1 - 2 * one) * m + inside * c
        outside = one + others
        gain += _power(outside, (z - t) / (1 - z), one)
        return (one * m + inside * c + outside * t) / (1 + one), gain
    raised = point[RAISED] * others
    lowest = (1 - point[RAISED]) * others
    room = (1 - one) * (M + m) - inside * c - lowest * m
    top = room / (1 + raised - one)
    t = m + point[SECOND_SCORE] * (top - m)
    raised_score = (room - one * t) / (1 + raised - 2 * one)
    total = inside * c + one * t + lowest * m + raised * raised_score
    z = (1 - 2 * one) * (t - m) + total
    ceiling = one * m + (1 - one) * M
    gain += _power(one, (z - t) / (1 - z), one)
    gain += _power(lowest, (total - m) / (1 - total), one)
    gain += _power(raised, (ceiling - raised_score) / (1 - ceiling), one)
    return (one * m + total) / (1 + one), gain


@compiled
def value_of_adding(epsilon: float, m: float, M: float, size: float) -> float:
    """Return the logarithm of the expression under the supremum of Remark B.24."""
    one = 1.0 / size
    score = (one * m + M) / (1 + one)
    loss = -math.log1p(math.expm1(-epsilon) * (1 - score))
    return loss - _power(1.0, (m - M) / (1 - m), one)
