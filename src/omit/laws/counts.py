"""How well one more success hides among binomially many, to full relative precision.

Everything about property queries reduces to one function: with `X` binomial, the hockey-stick
divergence of `1 + X` from `X`,

    h(epsilon) = sum over a of max(0, P[X = a - 1] - e^epsilon P[X = a]).

The ratio of the two probabilities rises with `a`, so the sum runs over `a > k` for one `k`. With
`b(j)` the probability of `j`, `r(j) = b(j + 1) / b(j)`, and `T(j)` the probability of `j` or more,

    h = (1 - e^epsilon r(k)) T(k) + e^epsilon * sum over i >= k of (r(i) - r(i + 1)) T(i + 1),

by summation by parts. No term is negative and `r(i) - r(i + 1)` has a closed form, so nothing
cancels, however small the result is.

*Precision.* With `u = 2^-53`, a logarithm `l` of a probability is wrong by at most `1e-13 + 4e-15
|l|`: both deviances are sums of terms of one sign, or of terms not much larger than their sum, and
come to `|l|` together; the rest is below 40. Whatever is visible as a float has `|l| < 780`, so
probabilities are wrong by less than `LOG_ERROR`, relative to them. Sums of positive numbers keep
that: blocks of 4,096 of them add `(4096 + blocks) u`, below 2e-12. The first term of `h`, whose
factor is a difference, is itself at most a part of the sum with digits to spare. Guarantees are
rounded up by `RELATIVE_ERROR`, which is many times all of this; tests hold it against 60-digit
arithmetic, up to 10^12 trials and down to the smallest floats.

How far a sum of independent binomials is from a given number, on average.

With S the sum, m its mean and x the number, `|S - x| = S - x + 2 max(x - S, 0)`: only the chances
of values below x are needed, and they depend on nothing above. So the law is built up one binomial
at a time and cut off at x, and no part of it is an approximation; what is less probable than 1e-20
of a binomial's most probable value is left out.

Draws from groups of entries: listed with their odds, or averaged with an interval.

How many entries of each group a sample has is multivariate hypergeometric. An average over all
draws is taken exactly where these are few, and else estimated with an interval that holds for any
number of draws (Maurer and Pontil 2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from omit._compile import compiled
from omit._numeric import SMALLEST_POSITIVE, FloatArray, IntArray, as_array, share_of
from omit.errors import InvalidInput

LARGEST_TRIALS = 10**12
# By how much the logarithm of a probability that is not lost below floats may be wrong.
LOG_ERROR = 4e-12
# By how much a divergence may be wrong, relative to it; guarantees are rounded up by it.
RELATIVE_ERROR = 1e-9
# Above this, e^epsilon leaves the range of floats. The curve falls, so stopping here is safe.
LARGEST_EPSILON = 700.0
# Logarithm of what is less than half of the smallest positive float, whatever it is summed over.
_VANISHING = -780.0
# Sums are scaled up by e to this power at most, so that none of their terms is a tiny float.
_LIFTED = 600.0
_BLOCK = 4_096
# What is left of a tail is left out where it is below this part of it.
_NEGLIGIBLE = 1e-18


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
        Probability of success, in (0, 1).
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
    share = _share(success, failures)
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


def _share(success: float | Fraction, failures: bool) -> Fraction:
    """Return the probability of what is counted, all of its digits."""
    return 1 - Fraction(success) if failures else Fraction(success)


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


def one_more(trials: int, success: float | Fraction, epsilon: FloatArray) -> FloatArray:
    """Return the hockey-stick divergence of `1 + X` from `X`, `X` binomial.

    It is never zero, since all may be successes; what vanishes is the smallest positive float.

    Examples
    --------
    >>> one_more(1, 0.25, np.array([0.0, 2.0]))     # 1, 2 against 0, 1, each 3 : 1
    array([0.75, 0.25])
    """
    return _one_more(trials, success, epsilon, failures=False)


def one_less(trials: int, success: float | Fraction, epsilon: FloatArray) -> FloatArray:
    """Return the hockey-stick divergence of `X` from `1 + X`: failures instead of successes.

    Examples
    --------
    >>> one_less(1, 0.25, np.array([0.0, 2.0]))
    array([0.75, 0.75])
    """
    return _one_more(trials, success, epsilon, failures=True)


def _one_more(
    trials: int, success: float | Fraction, epsilon: FloatArray, *, failures: bool
) -> FloatArray:
    epsilon = np.minimum(as_array(epsilon), LARGEST_EPSILON)
    if trials > LARGEST_TRIALS:
        raise InvalidInput(f"Expected at most {LARGEST_TRIALS:,} entries, got {trials:,}.")
    if trials == 0:
        return np.ones_like(epsilon)
    own = _share(success, failures)
    log_odds = _log(own) - _log(1 - own)
    # Summands are positive from here on: the share of successes of the tilted distribution. The
    # smaller share of the two is the one with more digits.
    with np.errstate(over="ignore"):
        share = 1 / (1 + np.exp(np.abs(epsilon + log_odds)))
    rare = (trials + 1) * share
    start = np.where(epsilon + log_odds > 0, trials + 1 - np.ceil(rare), np.floor(rare))
    start = np.clip(start, 0, trials).astype(np.int64)
    first = int(start.min())
    last = _last_visible(trials, success, first, failures)
    if last < first:
        return np.full_like(epsilon, SMALLEST_POSITIVE)
    count = np.arange(first, last + 1, dtype=np.int64)
    log = log_pmf(count, trials, success, failures=failures)
    lift = _LIFTED - float(log.max())
    mass = np.exp(log + lift)
    tail = np.append(_tail_sums(mass), 0.0)
    below = math.exp(log_odds) * (trials + 1.0) / ((count + 1.0) * (count + 2.0))
    curvature = np.append(_tail_sums(below * tail[1:]), 0.0)
    index = np.minimum(start - first, len(count))
    log_ratio = _log_ratios(start, trials, success, failures)
    # Where the start is rounded to a neighbour of the best one this is negative, and the sum right.
    edge = -np.expm1(epsilon + log_ratio)
    value = edge * tail[index] + np.exp(epsilon) * curvature[index]
    with np.errstate(divide="ignore"):
        log_value = np.log(np.maximum(value, 0.0)) - lift
    return as_array(np.maximum(np.exp(log_value), SMALLEST_POSITIVE))


def _tail_sums(terms: FloatArray) -> FloatArray:
    """Return the sums of positive numbers from every one of them to the last.

    In blocks, so that no number takes part in more additions than two blocks have.
    """
    size = max(_BLOCK, math.isqrt(len(terms)))
    padded = np.zeros(-(-len(terms) // size) * size)
    padded[len(padded) - len(terms) :] = terms
    blocks = np.cumsum(padded[::-1].reshape(-1, size), axis=1)
    before = np.concatenate([[0.0], np.cumsum(blocks[:-1, -1])])
    return as_array((blocks + before[:, None]).reshape(-1)[: len(terms)][::-1])


def tails(first: int, trials: int, success: Fraction) -> tuple[float, float]:
    """Return the probabilities of `first` or more successes, and of fewer.

    The smaller one is a sum of positive terms, the larger one what is left of 1. How wrong the
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
    share = _share(success, failures)
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


def _log_ratios(
    count: IntArray, trials: int, success: float | Fraction, failures: bool
) -> FloatArray:
    """Return the logarithm of `r(count)`, to as many digits as it has.

    It is a small sum of large logarithms, and among many trials what is left of it after epsilon is
    far smaller still. So the ratio is made of whole numbers and rounded once.
    """
    share = _share(success, failures)
    odds = share / (1 - share)
    result = np.full(len(count), -np.inf)
    for place, each in enumerate(count.tolist()):
        if each < trials:
            ratio = odds * Fraction(trials - each, each + 1)
            rounded = float(ratio)
            result[place] = math.log(rounded) + float(ratio / Fraction(rounded) - 1)
    return result


def _last_visible(trials: int, success: float | Fraction, first: int, failures: bool) -> int:
    """Return the largest count, at least `first`, whose probability is not lost below floats."""

    def visible(count: int) -> bool:
        log = log_pmf(np.array([count]), trials, success, failures=failures)
        return bool(log[0] > _VANISHING)

    # Beyond the mean probabilities fall, so that bisection finds where they vanish.
    mode = math.floor((trials + 1) * (1 - success if failures else success))
    lower = max(first, min(trials, mode))
    if visible(trials):
        return trials
    if not visible(lower):
        return first - 1
    upper = trials
    while upper - lower > 1:
        middle = (lower + upper) // 2
        lower, upper = (middle, upper) if visible(middle) else (lower, middle)
    return lower


_NEGLIGIBLE_TERM = 1e-20


@compiled
def mean_distances(
    counts: IntArray, chances: FloatArray, starts: IntArray, numbers: IntArray
) -> FloatArray:
    """Return E|S - x| for groups of binomials, for several chances and numbers of each group.

    Parameters
    ----------
    counts : array
        The trials of every binomial.
    chances : array
        A row for every binomial: its chance in each of several sums.
    starts : array
        Where each group of binomials begins, and at last their number.
    numbers : array
        A row for every group: the number x beside each of its sums.

    Examples
    --------
    Two fair coins, and how far their heads are from 1 and from 0:

    >>> two, fair = np.array([2]), np.full((1, 2), 0.5)
    >>> mean_distances(two, fair, np.array([0, 1]), np.array([[1, 0]]))
    array([[0.5, 1. ]])
    """
    found = np.empty(numbers.shape)
    largest = numbers.max()
    law, longer = np.empty(largest + 1), np.empty(largest + 1)
    binomial = np.empty(counts.max() + 1)
    for group in range(len(numbers)):
        first, last = starts[group], starts[group + 1]
        for place in range(numbers.shape[1]):
            x, mean = numbers[group, place], 0.0
            for each in range(first, last):
                mean += counts[each] * chances[each, place]
            # The law of the sum so far is law[: high - low], for values from low below high.
            law[0], low, high = 1.0, 0, 1
            for each in range(first, last):
                n, p = counts[each], chances[each, place]
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
            found[group, place] = max(mean - x + 2.0 * below, 0.0)
    return found


@compiled
def _binomial(n: int, p: float, law: FloatArray) -> tuple[int, int]:
    """Write the chances of the values that matter into `law`; return the first, and how many.

    From the most probable value outwards, each by its ratio to the one before.
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


_MOST_COMPOSITIONS = 5_000
CONFIDENCE = 0.99


def expected_over_draws(
    sizes: Sequence[int],
    drawn: int,
    delta: Callable[[tuple[int, ...]], tuple[FloatArray, FloatArray]],
    width: int,
    runs: int,
    rng: np.random.Generator | None,
    intervals: int = 1,
) -> tuple[FloatArray, FloatArray, bool]:
    """Return bounds on the average of `delta` over draws from groups, and whether all were listed.

    `delta` takes how many entries of each group were drawn and returns bounds in [0, 1]. If it is
    estimated, so many `intervals` hold together with the confidence stated.
    """
    low, high = np.zeros(width), np.zeros(width)
    if count_draws(sizes, drawn) <= _MOST_COMPOSITIONS:
        for composition, weight in draws(sizes, drawn):
            below, above = delta(composition)
            low += weight * below
            high += share_of(weight, above)
        return low, high, True
    if rng is None:
        raise InvalidInput(
            "There are too many ways to draw from these groups to list them; give a random "
            "generator (rng) to estimate the average."
        )
    samples = rng.multivariate_hypergeometric(list(sizes), drawn, size=runs, method="marginals")
    found = [delta(tuple(int(each) for each in row)) for row in samples]
    below, _ = empirical_interval(np.array([each[0] for each in found]), intervals)
    _, above = empirical_interval(np.array([each[1] for each in found]), intervals)
    return below, above, False


def count_draws(sizes: Sequence[int], drawn: int) -> int:
    """Return an upper bound on how many compositions there are."""
    ways = [min(size, drawn) + 1 for size in sizes if size > 0]
    return math.prod(sorted(ways)[:-1]) if ways else 1


def draws(sizes: Sequence[int], drawn: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield how many entries of each group a sample has, with multivariate hypergeometric odds.

    Examples
    --------
    >>> [(each, round(weight, 3)) for each, weight in draws([1, 2], 2)]
    [((0, 2), 0.333), ((1, 1), 0.667)]
    """
    total = math.comb(sum(sizes), drawn)

    def extend(rest: Sequence[int], left: int) -> Iterator[tuple[tuple[int, ...], int]]:
        if not rest:
            if left == 0:
                yield (), 1
            return
        for first in range(max(0, left - sum(rest[1:])), min(rest[0], left) + 1):
            for others, ways in extend(rest[1:], left - first):
                yield (first, *others), ways * math.comb(rest[0], first)

    for composition, ways in extend(list(sizes), drawn):
        # Whole numbers are divided exactly, however large.
        yield composition, ways / total


def empirical_interval(values: FloatArray, intervals: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return an interval for the mean of draws in [0, 1], valid for any number of draws.

    By the empirical Bernstein bound of Maurer and Pontil, on both sides, at `CONFIDENCE`, or, if
    several `intervals` have to hold together, at what leaves all of them that.

    Examples
    --------
    >>> low, high = empirical_interval(np.full((1000, 1), 0.25))
    >>> bool(low[0] < 0.25 < high[0]), round(float(high[0] - low[0]), 4)
    (True, 0.028)
    """
    runs = len(values)
    if runs < 2:
        raise InvalidInput(f"Expected at least two runs for an interval, got {runs}.")
    mean = values.mean(axis=0)
    level = math.log(4 * intervals / (1 - CONFIDENCE))
    spread = np.sqrt(2 * values.var(axis=0, ddof=1) * level / runs) + 7 * level / (3 * (runs - 1))
    return np.maximum(mean - spread, 0.0), np.minimum(mean + spread, 1.0)
