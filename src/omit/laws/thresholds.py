"""Sampled counts that are shown from a threshold on: how far one record can be told from none.

Of `N` records every one is drawn with probability `rate`. Their number `J` is shown if it is at
least the threshold `k`, and hidden otherwise; `Q_N` is the law of what is seen. With
`E = e^epsilon` a record that is added or removed needs the larger one of

    up(N) = sum (Q_N - E Q_{N-1})+        down(N) = sum (Q_{N-1} - E Q_N)+

for the worst N >= 1. Both suprema are attained, and where is known:

    up:    N = ceil((k - 1) / c),   c = 1 - (1 - rate)/E
    down:  N = ceil((k - 1) / d),   d = 1 - (1 - rate) E;   down = 0 where d <= 0

(or N = 1 if k = 1; it is at least k). *Proof.* Without hiding, the ratio of the probabilities of
`j` is `r(j) = N (1 - rate)/(N - j)`, rising in j and above E where `j > Nc`; call the sum over all
counts then g(N). Another record, drawn or not, turns the pair of N into the pair of N + 1, and what
is done to an answer never tells more: g does not rise. Hiding is done to an answer, too: up <= g.
While `Nc < k`, the shown counts have ratios above E, all of them, and "hidden" has one of at most
1. There `up(N + 1) - up(N) = rate (b(N; k-1) - E b(N-1; k-1))`, with binomial probabilities b, is
positive where `r(k-1) > E`, which is `Nc < k - 1`. So up rises until the N above; there `k - 1 <=
Nc < k`, so that up = g, and beyond it up <= g does not exceed that. Down is alike: r is below 1/E
where `j < Nd`. While `Nd <= k` only "hidden" tells, which rises until `Nd >= k - 1`, where down is
what it were without hiding. QED

Nothing in it needs E >= 1: below, `down` is used with factors of any size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from omit._numeric import FloatArray
from omit.laws.counts import LARGEST_TRIALS, LOG_ERROR, log_pmf, tails

LARGEST_THRESHOLD = 100_000
# Beyond this e^epsilon is no number; a smaller epsilon needs no less.
LARGEST_EPSILON = 700.0
# More than the rounding of a share of ratios, or of a weight relative to the largest one.
ROUNDING = 2e-15
_UP = 1 + LOG_ERROR + 1e-13

Direction = Literal["added", "removed"]


class WorstCount(NamedTuple):
    """The smallest delta for one cell, and where it is needed.

    Parameters
    ----------
    delta : float
        Rounded up.
    records : int
        How many records the larger one of the two cells has.
    seen : {"added", "removed"}
        What makes an answer more probable: that the record is there, or that it is not.
    """

    delta: float
    records: int
    seen: Direction


def worst_count(rate: float, threshold: int, epsilon: float) -> WorstCount:
    """Return the smallest delta that holds for cells of any size, one record added or removed.

    Examples
    --------
    >>> worst_count(0.1, 10, 1.0)
    WorstCount(delta=9.98011866...e-09, records=14, seen='added')
    """
    factor = math.exp(min(epsilon, LARGEST_EPSILON))
    if rate == 1:
        return WorstCount(1.0, threshold, "added")
    up = largest_count(rate, threshold, 1 - (1 - rate) / factor)
    added = WorstCount(most_added(rate, threshold, factor), up, "added")
    down = largest_count(rate, threshold, 1 - (1 - rate) * factor)
    removed = WorstCount(most_removed(rate, threshold, factor), down, "removed")
    return max(added, removed)


def most_added(rate: float, threshold: int, factor: float) -> float:
    """Return the supremum of `sum (Q_N - factor Q_(N-1))+` for a factor >= 1, rounded up."""
    return _added(rate, largest_count(rate, threshold, 1 - (1 - rate) / factor), factor)


def most_removed(rate: float, threshold: int, factor: float) -> float:
    """Return the supremum of `sum (Q_(N-1) - factor Q_N)+` for any factor >= 0, rounded up."""
    share = 1 - (1 - rate) * factor
    if share <= -ROUNDING or rate == 1:
        return 0.0 if share <= -ROUNDING else 1.0
    records = largest_count(rate, threshold, share)
    if factor >= 1:
        return _removed(rate, records, factor)
    # What is left of 1 - factor is what the other side has too much of.
    added = factor * _added(rate, records, 1 / factor) if factor > 0 else 0.0
    return min(1.0, (1 - factor) * _UP + added)


def largest_count(rate: float, threshold: int, share: float) -> int:
    """Return the size of the worst cell, or one that is as bad and certainly not larger."""
    worst = (threshold - 1) / max(share + ROUNDING, ROUNDING)
    return max(math.ceil(min(worst, LARGEST_TRIALS)), threshold)


def _added(rate: float, records: int, factor: float) -> float:
    """Return `sum (b_N - factor b_(N-1))+`, rounded up, over counts above the mean."""
    quotient = factor / (records * (1 - rate))

    def weights(drawn: FloatArray) -> FloatArray:
        return 1 - quotient * (records - drawn)

    first = math.floor(records * (1 - (1 - rate) / factor)) - 1
    return _rounded(_tail_sum(max(first, 0), records, rate, weights, failures=False))


def _removed(rate: float, records: int, factor: float) -> float:
    """Return `sum (b_(N-1) - factor b_N)+`, rounded up, over counts below the mean."""
    quotient = 1 / (records * (1 - rate))

    def weights(missed: FloatArray) -> FloatArray:
        return quotient * missed - factor

    first = math.floor(records * (1 - rate) * factor) - 1
    return _rounded(_tail_sum(max(first, 0), records, rate, weights, failures=True))


def _rounded(delta: float) -> float:
    return min(1.0, max(delta * _UP, 5e-324))


def _tail_sum(
    first: int,
    trials: int,
    success: float,
    weights: Callable[[FloatArray], FloatArray],
    *,
    failures: bool,
) -> float:
    """Return the sum of positive weights, at most `1/(1 - success)`, times probabilities."""
    share = 1 - Fraction(success) if failures else Fraction(success)
    odds = float(share / (1 - share))
    slack, total, length = ROUNDING / (1 - success), 0.0, 64
    while True:
        last = min(first + length - 1, trials)
        count = np.arange(first, last + 1, dtype=np.int64)
        mass = np.exp(log_pmf(count, trials, success, failures=failures))
        total += float(mass @ np.maximum(weights(count.astype(float)) + slack, 0.0))
        ratio = (trials - last) / (last + 1) * odds
        if last == trials:
            return total
        if ratio < 1:
            rest = float(mass[-1]) * ratio / (1 - ratio) / (1 - success)
            if rest <= 1e-15 * total:
                return total + rest
        first, length = last + 1, 2 * length


def published_delta(rate: float, threshold: int, epsilon: float) -> float | None:
    """Return delta by Theorem 1 of Li, Qardaji and Su, or None where it says nothing.

    It takes all of the probability beyond `c n`, not only what exceeds e^epsilon times another.

    References
    ----------
    N. Li, W. Qardaji and D. Su, "On sampling, anonymization, and differential privacy: or,
    k-anonymization meets differential privacy", ASIACCS 2012.

    Examples
    --------
    >>> published_delta(0.1, 10, 1.0)
    6.8...e-08
    """
    if rate == 1 or epsilon < -math.log1p(-rate):
        return None
    epsilon = min(epsilon, 30.0)  # beyond that nothing changes, and the share would round to 1
    share = 1 - (1 - rate) * math.exp(-epsilon)
    smallest = math.ceil(threshold / share - 1)
    # For counts above `share n` the probability is at most e^(-n distance), which falls.
    distance = share * math.log(share / rate) + (1 - share) * math.log((1 - share) / (1 - rate))
    largest, above = 0.0, math.floor(share * smallest)
    while True:
        # The largest size at which still as many must be drawn has the largest probability.
        records = max(math.ceil((above + 1) / share) - 1, smallest)
        largest = max(largest, tails(above + 1, records, Fraction(rate))[0])
        if math.exp(-distance * records) <= largest:
            return largest
        above += 1
