"""Monotone queries: answers that never fall when an entry rises.

If the answers' likelihood ratio rises with the entry, the best test is a half-line, a larger value
makes larger answers more likely, and so the two extreme values are the easiest to tell apart. A
monotone query alone does not give that (it orders half-lines only), so the ratio is checked and all
pairs are tried where it fails.

*Order statistics* need no pairs. With `A(a)` the probability that the `rank`-th of the *others* is
the value `a`, `C(a)` the same for `rank - 1`, and `b(a)` the probability that exactly `rank - 1`
others are at most `a`, the answers of two values `v < w` of the critical entry differ from `v` to
`w` only:

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
from omit._numeric import FloatArray, as_array, at_least, at_most
from omit.errors import InvalidInput
from omit.laws.counts import LARGEST_TRIALS, LOG_ERROR, log_pmf, tail_error, tails
from omit.laws.distribution import Distribution, checked_entries
from omit.laws.divergence import Bounds, divergence_bounds
from omit.statistical.curve import Pair, PrivacyCurve, ascending_epsilons, bounded_curve

_MOST_WORK = 5 * 10**8
# Rows are divided by their sums, ratios of neighbours compared, products and sums rounded.
_ROUNDING = 1e-14
# What is too small for a float, or has too few digits as one.
_TINY = 1e-315
_FEW_UNITS = 2.0**-51
_MOST_TERMS = 10**7
# Cells that are known to fewer digits are summed in another way, if few entries are in them.
_COARSE = 1e-9
_FEW = 20
_MOST_INSIDE = 200


def has_monotone_ratio(laws: FloatArray) -> bool:
    """Tell whether every row against the one before has a likelihood ratio that rises.

    Examples
    --------
    >>> has_monotone_ratio(np.array([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3]]))
    True
    """
    # Ratios of neighbours that rise, over the same support, give rising ratios for all pairs.
    if ((laws > 0) != (laws[0] > 0)).any():
        return False
    columns = laws[:, laws[0] > 0]
    # Products of small probabilities would vanish, and everything rises where all is zero.
    with np.errstate(over="ignore", under="ignore"):
        ratio = columns[1:] / columns[:-1]
    if not (np.isfinite(ratio) & (ratio > np.finfo(np.float64).tiny)).all():
        return False
    return bool((ratio[:, 1:] >= ratio[:, :-1]).all())


def monotone_curve(
    laws: ArrayLike,
    values: ArrayLike,
    epsilon: ArrayLike,
    *,
    assumption: str = "independent entries with known distributions",
) -> PrivacyCurve:
    """Return the curve of a monotone query from the laws of its answers.

    Parameters
    ----------
    laws : array, one row for each value
        `laws[i, a]` is the probability of the `a`-th answer, ascending, if the critical entry is
        the `i`-th value.
    values : array
        What the critical entry can be, ascending.
    epsilon : array
        Where to evaluate.
    assumption : str
        What to say about the adversary.

    Raises
    ------
    InvalidInput
        If a row does not sum to 1, or the answers are not monotone in the entry.

    Examples
    --------
    >>> curve = monotone_curve([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3]], [0, 1], [0.0, 0.5])
    >>> curve.delta, curve.pairs[1]
    (array([0.3       , 0.13512787]), (1.0, 0.0))
    """
    table, places = np.atleast_2d(as_array(laws)), np.atleast_1d(as_array(values))
    epsilons = ascending_epsilons(epsilon)
    fit = table.ndim == 2 and places.shape == (len(table),) and len(table) > 1
    if not fit or not (np.isfinite(places).all() and (np.diff(places) > 0).all()):
        raise InvalidInput(
            "Expected one row of probabilities for each of two or more ascending values."
        )
    if not ((table >= 0).all() and (np.abs(table.sum(axis=1) - 1) <= 1e-9).all()):
        raise InvalidInput("Expected every row of probabilities to sum to 1.")
    reached = np.cumsum(table, axis=1)
    if (np.diff(reached, axis=0) > 1e-9).any():
        raise InvalidInput("Expected a monotone query: a larger entry must not lower the answers.")
    table = table / table.sum(axis=1, keepdims=True)
    pairs: list[Pair] = [(float(places[-1]), float(places[0]))] * len(epsilons)
    if has_monotone_ratio(table):
        tried = [(len(places) - 1, 0), (0, len(places) - 1)]
    else:
        if len(places) ** 2 * table.shape[1] * len(epsilons) > _MOST_WORK:
            raise InvalidInput("There are too many pairs of values to try; use coarser bins.")
        tried = [(v, w) for v in range(len(places)) for w in range(len(places)) if v != w]
    with np.errstate(divide="ignore"):
        log = np.log(table)
    wrong = _ROUNDING * len(places)
    low, high = np.zeros(len(epsilons)), np.zeros(len(epsilons))
    for v, w in tried:
        less, more = divergence_bounds(
            (log[v] - wrong, log[v] + wrong), (log[w] - wrong, log[w] + wrong), epsilons
        )
        for place in np.flatnonzero(less > high):
            pairs[place] = (float(places[v]), float(places[w]))
        low, high = np.maximum(low, less), np.maximum(high, more)
    return bounded_curve(epsilons, low, high, assumption, pairs=tuple(pairs))


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
    weights = [Fraction(each) for each in distribution.probabilities.tolist()]
    # In descending order the largest value is the smallest, and ranks are counted from above.
    low, high, told = _told_from_the_largest(weights, n - 1, rank, epsilons)
    down = _told_from_the_largest(weights[::-1], n - 1, n + 1 - rank, epsilons)
    values = distribution.values
    pairs = [
        (values[place], values[-1]) if up >= other else (values[::-1][other_place], values[0])
        for up, place, other, other_place in zip(high, told, down[1], down[2], strict=True)
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
    reached = [each / total for each in itertools.accumulate(weights, initial=Fraction(0))]
    A, C = _cells(reached, others, rank), _cells(reached, others, rank - 1)
    b = _exactly(reached, others, rank - 1)
    bounds, numbers = [], []
    for least, most in ((0, 1), (1, 0)):
        told = np.zeros((len(epsilon), len(weights) - 1))
        for place, each in enumerate(epsilon.tolist()):
            grown = _grown(A[most], each)
            told[place] = np.maximum(b[least][1:-1] - grown[:-1], 0.0)
            ways = C[least] - A[most] - grown, np.diff(b[least]) - (b[most] - b[least])[:-1] - grown
            between = np.maximum(np.maximum(*ways) if least == 0 else np.minimum(*ways), 0.0)
            told[place, :-1] += np.cumsum(between[-2:0:-1])[::-1]
        bounds.append(told.max(axis=1))
        numbers = told.argmax(axis=1).tolist()
    wrong = _ROUNDING * len(weights)
    return at_least(bounds[0], wrong), at_most(bounds[1], wrong), numbers


def _grown(mass: FloatArray, epsilon: float) -> FloatArray:
    """Return `(e^epsilon - 1) mass`, zero where the mass is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(mass > 0, np.expm1(epsilon) * mass, 0.0)


def _exactly(reached: Sequence[Fraction], others: int, count: int) -> Bounds:
    """Return bounds on the probabilities that exactly so many others are at most every value."""
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
        # What is left of 1 is rounded once more.
        large = (1 - little[1]) * (1 - _FEW_UNITS), min((1 - little[0]) * (1 + _FEW_UNITS), 1.0)
        if sure:
            large = 1 - smaller, 1 - smaller
        up.append(little if above == smaller else large)
        down.append(large if above == smaller else little)
    U, D = np.transpose(up), np.transpose(down)
    low = np.maximum(np.maximum(U[0, 1:] - U[1, :-1], D[0, :-1] - D[1, 1:]), 0.0)
    high = np.maximum(np.minimum(U[1, 1:] - U[0, :-1], D[1, :-1] - D[0, 1:]), 0.0)
    for place in np.flatnonzero(high - low > _COARSE * high + 2 * _TINY).tolist():
        less, more = _rare_cell(reached[place], reached[place + 1], others, rank)
        low[place], high[place] = max(low[place], less), min(high[place], more)
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
