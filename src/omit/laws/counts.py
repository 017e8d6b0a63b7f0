"""Laws of counts: binomial, hypergeometric, and how many entries a draw has per group.

*Precision.* A logarithm `l` of a binomial probability is wrong by at most `1e-13 + 4e-15 |l|`:
both deviances are sums of terms of one sign, or of terms not much larger than their sum, and come
to `|l|` together; the rest is below 40. Whatever is visible as a float has `|l| < 780`, so
probabilities are wrong by less than `LOG_ERROR`, relative to them. Sums of positive numbers keep
that. Tests hold it against 60-digit arithmetic, up to 10^12 trials and down to the smallest floats.

Where sums of many small laws are needed and not single digits, `relative_pmf` and `mean_distances`
walk from the most probable value outward, by the ratio of neighbours, in compiled loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import overload

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, IntArray
from omit.errors import InvalidInput

LARGEST_TRIALS = 10**12
_MOST_COUNTS = 5 * 10**7
# By how much the logarithm of a probability that is not lost below floats may be wrong.
LOG_ERROR = 4e-12
# The rest of a tail is dropped where it is below this part of it.
_NEGLIGIBLE = 1e-18
# Relative to the most probable value: less probable ones are dropped from sums of binomials.
_NEGLIGIBLE_TERM = 1e-20
# How improbable counts are that windows leave out, as a logarithm: less so where these are wide.
_RARITY, RARITY_OF_WIDE, _WIDE = 750.0, 60.0, 1e8


def log_pmf(
    count: IntArray, trials: int, success: float | Fraction, *, failures: bool = False
) -> FloatArray:
    """Return the logarithm of binomial probabilities, by Loader's saddle-point expansion.

    The textbook form by logarithms of factorials loses all but seven digits at 10^8 trials.

    Parameters
    ----------
    count : array of int
        Between 0 and `trials`.
    trials : int
        At least 0.
    success : float or Fraction
        Probability of success, in [0, 1].
    failures : bool
        Count failures instead: `1 - success` has too few digits where `success` is small.

    References
    ----------
    C. Loader, "Fast and accurate computation of binomial probabilities", 2000.

    Examples
    --------
    >>> np.exp(log_pmf(np.array([0, 1, 2]), 2, 0.25))
    array([0.5625, 0.375 , 0.0625])
    """
    result = np.empty(len(count))
    first, last = count == 0, count == trials
    share = share_counted(success, failures)
    if trials == 0 or share in (0, 1):
        return np.where(count == trials * share, 0.0, -np.inf)
    result[first] = trials * _log(1 - share)
    result[last] = trials * _log(share)
    inside = ~(first | last)
    successes = count[inside].astype(np.float64)
    others = trials - successes
    result[inside] = (
        _stirling_error(np.array([float(trials)]))[0]
        - _stirling_error(successes)
        - _stirling_error(others)
        - _deviance(successes, trials * share)
        - _deviance(others, trials * (1 - share))
        - 0.5 * np.log(2 * math.pi * successes * (others / trials))
    )
    return result


def share_counted(success: float | Fraction, failures: bool) -> Fraction:
    """Return the probability of what is counted, all of its digits."""
    return 1 - Fraction(success) if failures else Fraction(success)


def log_odds(share: Fraction) -> float:
    """Return the logarithm of `share / (1 - share)`."""
    return _log(share) - _log(1 - share)


def _log(share: Fraction) -> float:
    return math.log(share) if 2 * share <= 1 else math.log1p(-float(1 - share))


def _stirling_error(x: FloatArray) -> FloatArray:
    """Return `ln x! - ln(sqrt(2 pi x) (x/e)^x)`."""
    inverse = 1 / x
    square = inverse * inverse
    series = 1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - square * 691 / 360360))
    large = inverse * (1 / 12 - square * (1 / 360 - square * series))
    small = x <= 15
    if small.any():
        large[small] = [
            math.lgamma(value + 1) - ((value + 0.5) * math.log(value) - value + _HALF_LOG_2_PI)
            for value in x[small]
        ]
    return large


_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


def _deviance(x: FloatArray, mean: Fraction) -> FloatArray:
    """Return `x ln(x / mean) + mean - x` without cancellation where `x` is near the mean."""
    high = float(mean)
    # The mean is not a float in general, and its last bits count where x is large and close.
    distance = (x - high) - float(mean - Fraction(high))
    ratio = distance / (x + high)
    result = x * np.log(x / high) - distance
    # Far out that is of the size of its terms; closer, the series of the logarithm is summed.
    for smallest, largest, terms in ((0.0, 0.1, 11), (0.1, 0.5, 30)):
        inside = (np.abs(ratio) >= smallest) & (np.abs(ratio) < largest)
        v = ratio[inside]
        term, total = 2 * x[inside] * v, distance[inside] * v
        for odd in range(3, 2 * terms + 3, 2):
            term = term * (v * v)
            total = total + term / odd
        result[inside] = total
    return result


@overload
def bernstein_reach(variance: float, rarity: float, largest_step: float = 1.0) -> float: ...


@overload
def bernstein_reach(
    variance: FloatArray, rarity: float, largest_step: float = 1.0
) -> FloatArray: ...


def bernstein_reach(
    variance: float | FloatArray, rarity: float, largest_step: float = 1.0
) -> float | FloatArray:
    """Return how far a sum of independent terms is from its mean, except for `e^-rarity` per side.

    By Bernstein's inequality, for terms that differ from their means by `largest_step` at most; it
    holds for draws without replacement, too.

    Examples
    --------
    >>> bernstein_reach(25.0, 8.0)
    22.84...
    """
    third = rarity * largest_step / 3
    square = third**2 + 2 * rarity * variance
    return third + (np.sqrt(square) if isinstance(square, np.ndarray) else math.sqrt(square))


def binomial_window(trials: int, success: float, reach: float) -> tuple[IntArray, FloatArray]:
    """Return the counts within a distance of the mean, and the logarithms of their probabilities.

    Examples
    --------
    >>> counts, logarithms = binomial_window(4, 0.5, 1.0)
    >>> counts, np.exp(logarithms)
    (array([1, 2, 3]), array([0.25 , 0.375, 0.25 ]))
    """
    low = max(0, math.floor(trials * success - reach))
    high = min(trials, math.ceil(trials * success + reach))
    counts = counts_between(low, high)
    return counts, log_pmf(counts, trials, success)


def window_rarity(variance: float) -> float:
    """Return how improbable, as a logarithm, counts are that a window leaves out.

    All that floats see are in it, but where these are too many.
    """
    return _RARITY if variance < _WIDE else RARITY_OF_WIDE


def counts_between(first: int, last: int) -> IntArray:
    """Return all whole numbers from the first to the last.

    Raises
    ------
    InvalidInput
        If these are too many to sum over.
    """
    if last - first > _MOST_COUNTS:
        raise InvalidInput(
            f"Expected fewer entries: how many of them are drawn has more than {_MOST_COUNTS:,} "
            "likely values, which are too many to sum over."
        )
    return np.arange(first, last + 1, dtype=np.int64)


def hypergeometric_window(
    population: int, marked: int, drawn: int, rarity: float
) -> tuple[IntArray, FloatArray, float]:
    """Return how many marked ones are drawn, their probabilities, and what others have at most.

    Draws without replacement, up to what has `e^-rarity` on either side. As a ratio of binomial
    probabilities, which have all their digits.

    Examples
    --------
    >>> counts, probabilities, missing = hypergeometric_window(5, 2, 3, rarity=40.0)
    >>> counts, probabilities.round(12), missing
    (array([0, 1, 2]), array([0.1, 0.6, 0.3]), 0.0)
    """
    low, high = max(0, drawn - (population - marked)), min(marked, drawn)
    if low == high:
        return np.array([low], dtype=np.int64), np.ones(1), 0.0
    mean = drawn * marked / population
    reach = bernstein_reach(mean * (1 - marked / population), rarity) + 1
    first, last = max(low, math.floor(mean - reach)), min(high, math.ceil(mean + reach))
    counts = counts_between(first, last)
    share = Fraction(drawn, population)
    log = log_pmf(counts, marked, share) + log_pmf(drawn - counts, population - marked, share)
    log -= log_pmf(np.array([drawn]), population, share)
    missing = 0.0 if first == low and last == high else 2 * math.exp(-rarity)
    return counts, np.exp(log), missing


@compiled
def relative_pmf(trials: int, success: float, first: int, relative: FloatArray) -> None:
    """Write the probabilities of consecutive counts from `first` on, relative to the largest.

    Each is the one before times the ratio of neighbours, from the most probable count outward.
    """
    last = len(relative) - 1
    mode = min(max(int((trials + 1) * success) - first, 0), last)
    relative[mode] = 1.0
    for index in range(mode + 1, last + 1):
        count = first + index
        ratio = (trials - count + 1) / count * (success / (1 - success))
        relative[index] = relative[index - 1] * ratio
    for index in range(mode - 1, -1, -1):
        count = first + index
        ratio = (count + 1) / (trials - count) * ((1 - success) / success)
        relative[index] = relative[index + 1] * ratio


def tails(first: int, trials: int, success: Fraction) -> tuple[float, float]:
    """Return the probabilities of `first` or more successes, and of fewer.

    The smaller one is a sum of positive terms, the larger one the rest of 1. How wrong the
    smaller one may be is what `tail_error` says.

    Examples
    --------
    >>> np.round(tails(2, 3, Fraction(1, 4)), 12), tails(4, 3, Fraction(1, 4))
    (array([0.15625, 0.84375]), (0.0, 1.0))
    """
    if first <= 0 or first > trials:
        return (1.0, 0.0) if first <= 0 else (0.0, 1.0)
    if success in (0, 1):
        return (1.0, 0.0) if success else (0.0, 1.0)
    more = first > trials * success
    ends = (first, False), (trials - first + 1, True)
    for end, failures in ends if more else reversed(ends):
        smaller = _tail(end, trials, success, failures=failures)
        # Around the mean it can be the larger one.
        if smaller <= 0.5:
            break
    return (1 - smaller, smaller) if failures else (smaller, 1 - smaller)


def tail_error(tail: float) -> float:
    """Return by how much a sum of binomial probabilities may be wrong, relative to it.

    Terms that are much smaller than the sum count for little of it, so that its own logarithm
    stands for theirs.
    """
    return 4e-13 + 8e-15 * abs(math.log(tail)) if tail > 0 else 0.0


def _tail(first: int, trials: int, success: Fraction, *, failures: bool) -> float:
    """Return the probability of `first` or more, from where terms fall, or soon before."""
    share = share_counted(success, failures)
    odds = float(share / (1 - share))
    total, length = 0.0, 256
    while True:
        last = min(first + length - 1, trials)
        count = np.arange(first, last + 1, dtype=np.int64)
        mass = np.exp(log_pmf(count, trials, success, failures=failures))
        total += float(mass.sum())
        # From here on every term is at most this part of the one before.
        ratio = (trials - last) / (last + 1) * odds
        if last == trials or mass[-1] * ratio <= _NEGLIGIBLE * (1 - ratio) * total:
            return total
        first, length = last + 1, 2 * length


@compiled
def mean_distances(
    counts: IntArray, chances: FloatArray, starts: IntArray, numbers: IntArray
) -> FloatArray:
    """Return E|S - x| for groups of binomials, for several chances and numbers per group.

    Parameters
    ----------
    counts : array
        The trials of every binomial.
    chances : array
        A row per binomial: its chances in several sums.
    starts : array
        Where groups of binomials begin, and at last the number of binomials.
    numbers : array
        A row per group: the number x of every sum.

    Examples
    --------
    Two fair coins, and how far their heads are from 1 and from 0:

    >>> two, fair = np.array([2]), np.full((1, 2), 0.5)
    >>> mean_distances(two, fair, np.array([0, 1]), np.array([[1, 0]]))
    array([[0.5, 1. ]])
    """
    result = np.empty(numbers.shape)
    largest = numbers.max()
    law, longer = np.empty(largest + 1), np.empty(largest + 1)
    binomial = np.empty(counts.max() + 1)
    for group in range(len(numbers)):
        first, last = starts[group], starts[group + 1]
        for column in range(numbers.shape[1]):
            x, mean = numbers[group, column], 0.0
            for row in range(first, last):
                mean += counts[row] * chances[row, column]
            # The law of the sum so far is law[: high - low], for values from low below high.
            law[0], low, high = 1.0, 0, 1
            for row in range(first, last):
                n, p = counts[row], chances[row, column]
                if p <= 0.0:
                    continue
                if p >= 1.0:
                    low, high = low + n, high + n
                else:
                    smallest, values = _binomial(n, p, binomial)
                    reach = min(high + smallest + values - 1, x) - low - smallest
                    for value in range(max(reach, 0)):
                        longer[value] = 0.0
                    for value in range(high - low):
                        for more in range(min(values, reach - value)):
                            longer[value + more] += law[value] * binomial[more]
                    law, longer = longer, law
                    low, high = low + smallest, low + smallest + max(reach, 0)
                if low >= x:
                    break
            below = 0.0
            for value in range(low, min(high, x)):
                below += (x - value) * law[value - low]
            result[group, column] = max(mean - x + 2.0 * below, 0.0)
    return result


@compiled
def _binomial(n: int, p: float, law: FloatArray) -> tuple[int, int]:
    """Write the chances of the values that matter into `law`; return the first, and how many.

    From the most probable value outward, by the ratio to the one before.
    """
    odds = p / (1.0 - p)
    mode = min(n, math.floor((n + 1) * p))
    low, weight = mode, 1.0
    while low > 0 and weight > _NEGLIGIBLE_TERM:
        weight *= low / ((n - low + 1) * odds)
        low -= 1
    law[mode - low] = 1.0
    total, weight = 1.0, 1.0
    for value in range(mode, low, -1):
        weight *= value / ((n - value + 1) * odds)
        law[value - 1 - low] = weight
        total += weight
    high, weight = mode, 1.0
    while high < n and weight > _NEGLIGIBLE_TERM:
        weight *= (n - high) * odds / (high + 1)
        high += 1
        law[high - low] = weight
        total += weight
    for value in range(high - low + 1):
        law[value] /= total
    return low, high - low + 1


def count_draws(sizes: Sequence[int], drawn: int) -> int:
    """Return an upper bound on how many compositions there are."""
    ways = [min(size, drawn) + 1 for size in sizes if size > 0]
    return math.prod(sorted(ways)[:-1]) if ways else 1


def draws(sizes: Sequence[int], drawn: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield how many entries a sample has per group, with multivariate hypergeometric odds.

    Examples
    --------
    >>> [(drawn, round(weight, 3)) for drawn, weight in draws([1, 2], 2)]
    [((0, 2), 0.333), ((1, 1), 0.667)]
    """
    total = math.comb(sum(sizes), drawn)

    def extend(rest: Sequence[int], missing: int) -> Iterator[tuple[tuple[int, ...], int]]:
        if not rest:
            if missing == 0:
                yield (), 1
            return
        for first in range(max(0, missing - sum(rest[1:])), min(rest[0], missing) + 1):
            for others, ways in extend(rest[1:], missing - first):
                yield (first, *others), ways * math.comb(rest[0], first)

    for composition, ways in extend(list(sizes), drawn):
        # Whole numbers are divided exactly, however large.
        yield composition, ways / total
