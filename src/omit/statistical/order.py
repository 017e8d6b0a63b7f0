"""Order statistics of identical entries, such as the median.

With `A(a)` the probability that the `rank`-th of the *others* is the value `a`, `C(a)` the same for
`rank - 1`, and `b(a)` the probability that exactly `rank - 1` others are at most `a`, the answers
of two values `v < w` of the critical entry differ from `v` to `w` only:

    answer            v             between     w
    given v           A(v) + b(v)   C(a)        C(w)
    given w           A(v)          A(a)        C(w) + b(before w)

So `v` is told from `w` best if `w` is the largest value, and `w` from `v` if `v` is the smallest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import Bounds, FloatArray, at_least, at_most
from omit.errors import InvalidInput
from omit.laws.counts import LARGEST_TRIALS, LOG_ERROR, log_pmf, tail_error, tails
from omit.laws.distribution import Distribution
from omit.statistical.assumptions import ascending_epsilons, checked_entries
from omit.statistical.curve import PrivacyCurve, bounded_curve

# Products and sums are rounded.
_ROUNDING = 1e-14
# What is too small for a float, or has too few digits as one.
_TINY = 1e-315
_FEW_UNITS = 2.0**-51
_MOST_TERMS = 10**7
# Cells that are known to fewer digits are summed in another way, if few entries are in them.
_COARSE = 1e-9
_FEW = 20
_MOST_INSIDE = 200


def order_statistic_curve(
    distribution: Distribution, n: int, rank: int, epsilon: ArrayLike
) -> PrivacyCurve:
    """Return the curve of the `rank`-th smallest of `n` identical entries, such as the median.

    The answer is at most `a` if at least `rank` entries are: binomial with the distribution
    function at `a`, and the critical entry counts or does not.

    Parameters
    ----------
    distribution : Distribution
        Of one entry.
    n, rank : int
        `rank = 1` is the smallest entry, `rank = n` the largest.
    epsilon : array
        Where to evaluate.

    Examples
    --------
    >>> die = Distribution([1, 2, 3, 4, 5, 6], [1 / 6] * 6)
    >>> order_statistic_curve(die, 101, 51, [0.1]).delta
    array([0.03120994])
    """
    _validate.instance("distribution", distribution, Distribution)
    n, _ = checked_entries(n, 0, LARGEST_TRIALS)
    rank = _validate.positive_integer("rank", rank)
    if rank > n:
        raise InvalidInput(f"Expected rank={rank} to be at most n={n}.")
    epsilons = ascending_epsilons(epsilon)
    if len(distribution.values) * math.sqrt(n) > _MOST_TERMS:
        raise InvalidInput(
            f"Expected fewer entries or values: {n:,} entries of {len(distribution.values):,} "
            "values are too many to sum over."
        )
    weights = [Fraction(chance) for chance in distribution.probabilities.tolist()]
    # In descending order the largest value is the smallest, and ranks are counted from above.
    low, high, told = _told_from_the_largest(weights, n - 1, rank, epsilons)
    down = _told_from_the_largest(weights[::-1], n - 1, n + 1 - rank, epsilons)
    values = distribution.values
    pairs = [
        (values[i], values[-1]) if up >= other else (values[::-1][other_i], values[0])
        for up, i, other, other_i in zip(high, told, down[1], down[2], strict=True)
    ]
    return bounded_curve(
        epsilons,
        np.maximum(low, down[0]),
        np.maximum(high, down[1]),
        f"{n:,} independent entries, {len(values)} values with known probabilities; the answer is "
        f"entry number {rank:,} in ascending order",
        pairs=tuple((float(v), float(w)) for v, w in pairs),
    )


def _told_from_the_largest(
    weights: Sequence[Fraction], others: int, rank: int, epsilon: FloatArray
) -> tuple[FloatArray, FloatArray, list[int]]:
    """Return bounds on how well some value is told from the largest, and the number of the value.

    The divergence is `max(0, b(v) - (e^epsilon - 1) A(v))` and, for all values between, the sum of
    `max(0, C(a) - e^epsilon A(a))`, where `C(a) = A(a) + b(a) - b(before a)`.
    """
    total = sum(weights)
    # Of a share near 1 the digits of what is missing count, so none is dropped.
    reached = [part / total for part in itertools.accumulate(weights, initial=Fraction(0))]
    A, C = _cells(reached, others, rank), _cells(reached, others, rank - 1)
    b = _exactly(reached, others, rank - 1)
    bounds, numbers = [], []
    for least, most in ((0, 1), (1, 0)):
        told = np.zeros((len(epsilon), len(weights) - 1))
        for row, exponent in enumerate(epsilon.tolist()):
            grown = _grown(A[most], exponent)
            told[row] = np.maximum(b[least][1:-1] - grown[:-1], 0.0)
            ways = C[least] - A[most] - grown, np.diff(b[least]) - (b[most] - b[least])[:-1] - grown
            between = np.maximum(np.maximum(*ways) if least == 0 else np.minimum(*ways), 0.0)
            told[row, :-1] += np.cumsum(between[-2:0:-1])[::-1]
        bounds.append(told.max(axis=1))
        numbers = told.argmax(axis=1).tolist()
    wrong = _ROUNDING * len(weights)
    return at_least(bounds[0], wrong), at_most(bounds[1], wrong), numbers


def _grown(mass: FloatArray, epsilon: float) -> FloatArray:
    """Return `(e^epsilon - 1) mass`, zero where the mass is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(mass > 0, np.expm1(epsilon) * mass, 0.0)


def _exactly(reached: Sequence[Fraction], others: int, count: int) -> Bounds:
    """Return bounds on the probabilities that exactly `count` others are at most every value."""
    mass = np.concatenate([_binomial([count], others, share) for share in reached])
    sure = np.array([share in (0, 1) or others == 0 for share in reached])
    wrong = np.where(sure, 0.0, LOG_ERROR * mass + _TINY)
    return np.maximum(mass - wrong, 0.0), mass + wrong


def _cells(reached: Sequence[Fraction], others: int, rank: int) -> Bounds:
    """Return bounds on the probabilities that the `rank`-th of the others is every value.

    They are differences of distribution functions from above or from below, whichever loses fewer
    digits.
    """
    up, down = [], []
    for share in reached:
        above, below = tails(rank, others, share)
        smaller = min(above, below)
        sure = share in (0, 1) or not 0 < rank <= others
        wrong = 0.0 if sure else smaller * tail_error(smaller) + _TINY
        little = max(smaller - wrong, 0.0), smaller + wrong
        # The rest of 1 is rounded once more.
        large = (1 - little[1]) * (1 - _FEW_UNITS), min((1 - little[0]) * (1 + _FEW_UNITS), 1.0)
        if sure:
            large = 1 - smaller, 1 - smaller
        up.append(little if above == smaller else large)
        down.append(large if above == smaller else little)
    U, D = np.transpose(up), np.transpose(down)
    low = np.maximum(np.maximum(U[0, 1:] - U[1, :-1], D[0, :-1] - D[1, 1:]), 0.0)
    high = np.maximum(np.minimum(U[1, 1:] - U[0, :-1], D[1, :-1] - D[0, 1:]), 0.0)
    for cell in np.flatnonzero(high - low > _COARSE * high + 2 * _TINY).tolist():
        less, more = _rare_cell(reached[cell], reached[cell + 1], others, rank)
        low[cell], high[cell] = max(low[cell], less), min(high[cell], more)
    return low, high


def _rare_cell(before: Fraction, reached: Fraction, others: int, rank: int) -> tuple[float, float]:
    """Return bounds on the probability of a cell that few others are in, by their number.

    If `c` others are in it, one of them is the `rank`-th if `rank - c` to `rank - 1` are before.
    """
    share = reached - before
    if share * others > _FEW or not 0 < rank <= others:
        return 0.0, 1.0
    total = 0.0
    for inside in range(1, min(others, _MOST_INSIDE) + 1):
        first, last = max(rank - inside, 0), min(rank - 1, others - inside)
        if first <= last:
            mass = _binomial(range(first, last + 1), others - inside, before / (1 - share))
            total += float(_binomial([inside], others, share)[0] * mass.sum())
        beyond = tails(inside + 1, others, share)[0]
        if beyond <= _ROUNDING * total:
            break
    wrong = 4 * LOG_ERROR * total + _TINY
    return max(total - wrong, 0.0), total + wrong + 2 * beyond


def _binomial(counts: Sequence[int], trials: int, share: Fraction) -> FloatArray:
    return np.exp(log_pmf(np.array(counts, dtype=np.int64), trials, share))
