"""How well one more success hides among binomially many, to full relative precision.

Everything about property queries reduces to one function: with `X` binomial, the hockey-stick
divergence of `1 + X` from `X`,

    h(epsilon) = sum over a of max(0, P[X = a - 1] - e^epsilon P[X = a]).

The ratio of the two probabilities rises with `a`, so the sum runs over `a > k` for one `k`. With
`b(j)` the probability of `j`, `r(j) = b(j + 1) / b(j)`, and `T(j)` the probability of `j` or more,

    h = (1 - e^epsilon r(k)) T(k) + e^epsilon * sum over i >= k of (r(i) - r(i + 1)) T(i + 1),

by summation by parts. No term is negative and `r(i) - r(i + 1)` has a closed form, so nothing
cancels, however small the result is. Tests hold this against 60-digit arithmetic, up to 10^8 trials
and down to 1e-300, and at 10^12 trials.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput

IntArray = NDArray[np.int64]

LARGEST_TRIALS = 10**12
# Relative precision that the tests establish, with a margin; guarantees are rounded up by it.
RELATIVE_ERROR = 1e-9
# Above this, e^epsilon leaves the range of floats. The curve falls, so stopping here is safe.
LARGEST_EPSILON = 700.0
# Logarithm of what is less than half of the smallest positive float, whatever it is summed over.
_VANISHING = -780.0


def log_pmf(count: IntArray, trials: int, success: float, *, failures: bool = False) -> FloatArray:
    """Return the logarithm of binomial probabilities, by Loader's saddle-point expansion.

    The textbook form by logarithms of factorials loses all but seven digits at 10^8 trials.

    Parameters
    ----------
    count : array of int
        Between 0 and `trials`.
    trials : int
        At least 0.
    success : float
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
    log_success, log_failure = _logs(success, failures)
    result[first] = trials * log_failure
    result[last] = trials * log_success
    inside = ~(first | last)
    successes = count[inside].astype(np.float64)
    others = trials - successes
    share = 1 - Fraction(success) if failures else Fraction(success)
    result[inside] = (
        _stirling_error(np.array([float(trials)]))[0]
        - _stirling_error(successes)
        - _stirling_error(others)
        - _deviance(successes, trials * share)
        - _deviance(others, trials * (1 - share))
        - 0.5 * np.log(2 * math.pi * successes * (others / trials))
    )
    return result


def _logs(success: float, failures: bool) -> tuple[float, float]:
    """Return the logarithms of the probabilities of what is counted and what is not."""
    both = math.log(success), math.log1p(-success)
    return both[::-1] if failures else both


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
    square = ratio * ratio
    term = 2 * x * ratio
    near = distance * ratio
    for odd in range(3, 25, 2):
        term = term * square
        near = near + term / odd
    far = x * np.log(x / high) - distance
    return np.where(np.abs(ratio) < 0.1, near, far)


def one_more(trials: int, success: float, epsilon: FloatArray) -> FloatArray:
    """Return the hockey-stick divergence of `1 + X` from `X`, `X` binomial.

    Examples
    --------
    >>> one_more(1, 0.25, np.array([0.0, 2.0]))     # 1, 2 against 0, 1, each 3 : 1
    array([0.75, 0.25])
    """
    return _one_more(trials, success, epsilon, failures=False)


def one_less(trials: int, success: float, epsilon: FloatArray) -> FloatArray:
    """Return the hockey-stick divergence of `X` from `1 + X`: failures instead of successes.

    Examples
    --------
    >>> one_less(1, 0.25, np.array([0.0, 2.0]))
    array([0.75, 0.75])
    """
    return _one_more(trials, success, epsilon, failures=True)


def _one_more(trials: int, success: float, epsilon: FloatArray, *, failures: bool) -> FloatArray:
    epsilon = np.minimum(as_array(epsilon), LARGEST_EPSILON)
    if trials > LARGEST_TRIALS:
        raise InvalidInput(f"Expected at most {LARGEST_TRIALS:,} entries, got {trials:,}.")
    if trials == 0:
        return np.ones_like(epsilon)
    log_success, log_failure = _logs(success, failures)
    log_odds = log_success - log_failure
    # Summands are positive from here on: the share of successes of the tilted distribution. The
    # smaller share of the two is the one with more digits.
    with np.errstate(over="ignore"):
        share = 1 / (1 + np.exp(np.abs(epsilon + log_odds)))
    rare = (trials + 1) * share
    start = np.where(epsilon + log_odds > 0, trials + 1 - np.ceil(rare), np.floor(rare))
    start = np.minimum(start, trials).astype(np.int64)
    first = int(start.min())
    last = _last_visible(trials, success, first, failures)
    if last < first:
        return np.zeros_like(epsilon)
    count = np.arange(first, last + 1, dtype=np.int64)
    mass = np.exp(log_pmf(count, trials, success, failures=failures))
    tail = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    below = math.exp(log_odds) * (trials + 1.0) / ((count + 1.0) * (count + 2.0))
    curvature = np.append(np.cumsum((below * tail[1:])[::-1])[::-1], 0.0)
    index = np.minimum(start - first, len(count))
    log_ratio = _log_ratios(start, trials, success, failures)
    # Where the start is rounded to a neighbour of the best one this is negative, and the sum right.
    edge = -np.expm1(epsilon + log_ratio)
    return as_array(np.maximum(edge * tail[index] + np.exp(epsilon) * curvature[index], 0.0))


def _log_ratios(count: IntArray, trials: int, success: float, failures: bool) -> FloatArray:
    """Return the logarithm of `r(count)`, to as many digits as it has.

    It is a small sum of large logarithms, and among many trials what is left of it after epsilon is
    far smaller still. So the ratio is made of whole numbers and rounded once.
    """
    share = 1 - Fraction(success) if failures else Fraction(success)
    odds = share / (1 - share)
    result = np.full(len(count), -np.inf)
    for place, each in enumerate(count.tolist()):
        if each < trials:
            ratio = odds * Fraction(trials - each, each + 1)
            rounded = float(ratio)
            result[place] = math.log(rounded) + float(ratio / Fraction(rounded) - 1)
    return result


def _last_visible(trials: int, success: float, first: int, failures: bool) -> int:
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
