"""The candidates of the suprema in the proof of Theorem 5.4, each as a point in a unit cube.

Every candidate in Formula B.8 has the form `(E - (E-1) score) * e^gain`, where `score` is the
outlier score of the record that is removed, `gain` is what the other N records contribute, and
neither depends on epsilon. Every candidate is feasible: the constraint `t <= U_k` of the paper is
built into the coordinates, which all run from 0 to 1. Powers with exponent N are taken as `log1p`
of the excess over 1, so that nothing is lost at N = 1e9, where the textbook form keeps only seven
decimals. J and k run over real numbers, as in the paper.

The cases N = 1 and N = 2 are as defined in Theorem B.21 (with `a_i / z_i` where its display has
`a_i`), not by the closed forms of its proof.
"""

from __future__ import annotations

import math

from omit._compile import compiled
from omit._numeric import FloatArray

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
    RAISED,  # share of those others at B_k; on the diagonal, place of t; for N = 2, place of z
    FIRST_SCORE,  # place in [m, M] of c, or of a_1 for N <= 2
    SECOND_SCORE,  # place of t in [m, U_k], or of a_2 in [m, M] for N = 2
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
