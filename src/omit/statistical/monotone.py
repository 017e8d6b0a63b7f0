"""Monotone queries: answers that never fall when an entry rises.

If the answers' likelihood ratio rises with the entry, the best test is a half-line, a larger value
makes larger answers more likely, and so the two extreme values are the easiest to tell apart. A
monotone query alone does not give that (it orders half-lines only), so the ratio is checked and all
pairs are tried where it fails.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.statistical.distribution import Distribution, checked_entries
from omit.statistical.guarantee import Pair, PrivacyCurve, ascending_epsilons
from omit.statistical.hockey import hockey_stick

_MOST_WORK = 5 * 10**8
_ROUNDING = 1e-13


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
    table, places = np.atleast_2d(as_array(laws)), as_array(values)
    epsilons = ascending_epsilons(epsilon)
    if len(table) != len(places) or len(table) < 2 or (np.diff(places) <= 0).any():
        raise InvalidInput("Expected one row of probabilities for each of two or more values.")
    if (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > 1e-9).any():
        raise InvalidInput("Expected every row of probabilities to sum to 1.")
    reached = np.cumsum(table, axis=1)
    if (np.diff(reached, axis=0) > 1e-9).any():
        raise InvalidInput("Expected a monotone query: a larger entry must not lower the answers.")
    error = _ROUNDING * table.shape[1] * (1 + np.exp(np.minimum(epsilons, 700.0)))
    best = np.full(len(epsilons), -1.0)
    pairs: list[Pair] = [(float(places[-1]), float(places[0]))] * len(epsilons)
    if has_monotone_ratio(table):
        tried = [(len(places) - 1, 0), (0, len(places) - 1)]
    else:
        if len(places) ** 2 * table.shape[1] * len(epsilons) > _MOST_WORK:
            raise InvalidInput("There are too many pairs of values to try; use coarser bins.")
        tried = [(v, w) for v in range(len(places)) for w in range(len(places)) if v != w]
    for v, w in tried:
        value = hockey_stick(table[v], table[w], epsilons)
        for place in np.flatnonzero(value > best + _ROUNDING):
            pairs[place] = (float(places[v]), float(places[w]))
        best = np.maximum(best, value)
    return PrivacyCurve(
        epsilons,
        np.minimum(best + error, 1.0),
        np.maximum(best - error, 0.0),
        tuple(pairs),
        "exact",
        assumption,
    )


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
    from scipy.special import bdtrc

    n, _ = checked_entries(n, 0)
    rank = _validate.positive_integer("rank", rank)
    if rank > n:
        raise InvalidInput(f"Expected rank={rank} to be at most n={n}.")
    reached = np.minimum(np.cumsum(distribution.probabilities), 1.0)
    reached[-1] = 1.0

    def at_least(k: int) -> FloatArray:
        """Return the probability that at least `k` of the others are at most each value."""
        if k <= 0 or k > n - 1:
            return np.full(len(reached), 1.0 if k <= 0 else 0.0)
        return as_array(bdtrc(k - 1, n - 1, reached))

    without, with_it = at_least(rank), at_least(rank - 1)
    index = np.arange(len(reached))
    laws = []
    for v in range(len(reached)):
        cdf = np.where(index >= v, with_it, without)
        laws.append(np.maximum(np.diff(cdf, prepend=0.0), 0.0))
    table = np.array(laws)
    table /= table.sum(axis=1, keepdims=True)
    return monotone_curve(
        table,
        distribution.values,
        epsilon,
        assumption=(
            f"{n:,} independent entries, {len(distribution.values)} values with known "
            f"probabilities; the answer is entry number {rank:,} in ascending order"
        ),
    )
