"""Hockey-stick divergences between a distribution and its own shift.

`max(0, f(a - d) - e^epsilon f(a))` summed over `a` is how much better than `e^epsilon` an adversary
tells "the entry adds `d` more" from "it does not". It is summed as it stands, between bounds on the
probabilities; or for the *envelope*, the largest `f(a - d)` over all shifts `0 <= d <= D` at every
`a`: an upper bound for all of these shifts together, close to the largest one where `D` is small
against the spread.

How well one more success hides among binomially many has a closed form (`one_more`, `one_less`).
The ratio of `P[X = a - 1]` and `P[X = a]` rises with `a`, so the sum runs over `a > k` for one
`k`. With `b(j)` the probability of `j`, `r(j) = b(j + 1) / b(j)`, and `T(j)` the probability of
`j` or more,

    h = (1 - e^epsilon r(k)) T(k) + e^epsilon * sum over i >= k of (r(i) - r(i + 1)) T(i + 1),

by summation by parts. No term is negative and `r(i) - r(i + 1)` has a closed form, so nothing
cancels, however small the result is. Probabilities have the precision that `counts` states, sums of
blocks of 4,096 of them add `(4096 + blocks) 2^-53`, below 2e-12, and the first term, whose factor
is a difference, is itself at most a part of the sum with digits to spare. Guarantees are rounded up
by `RELATIVE_ERROR`, which is many times all of this.

With continuous noise, the best test between two noisy answers is a half-line if the answers and the
noise are log-concave: the ratio of the densities for two values of the entry then rises with the
answer (a posterior mean of a rising function). The end of the half-line is determined by bisection,
and tail probabilities give bounds on delta that hold wherever the search stops (`half_line`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from omit._numeric import (
    SMALLEST_POSITIVE,
    Bounds,
    FloatArray,
    IntArray,
    as_array,
    at_least,
    at_most,
)
from omit.errors import InvalidInput
from omit.laws.counts import LARGEST_TRIALS, log_odds, log_pmf, share_counted
from omit.laws.inversion import last_integer, root_of
from omit.laws.noise import LARGEST_EPSILON, LogConcaveNoise
from omit.laws.sums import LogMass

# By how much the divergence of one more may be wrong, relative to it.
RELATIVE_ERROR = 1e-9
# Logarithm of what is less than half of the smallest positive float, whatever it is summed over.
_VANISHING = -780.0
# Sums are scaled up by e to this power at most, so that none of their terms is a tiny float.
_LIFTED = 600.0
_BLOCK = 4_096
# Above this, e^epsilon leaves the range of floats. Curves fall, so stopping here is safe.
_LARGEST_EXPONENT = 700.0
# Exponentials are rounded, and sums in pairs: some dozens of units in 2^53.
_SUM_ERROR = 1e-14
# The end of a half-line is determined to this part of a step, as a power of 2.
_HALVINGS = 40
# Noise that is farther out than this has a probability of less than e^-2048.
_RARITY = 2048.0

# A number of steps, and a rest.
_Point: TypeAlias = tuple[int, float]


def hockey_stick(first: FloatArray, second: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Return `sum max(0, first - e^epsilon second)` for every epsilon.

    Examples
    --------
    >>> hockey_stick(np.array([0.2, 0.8]), np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    array([0.3, 0. ])
    """
    epsilons = np.atleast_1d(epsilon)
    result = np.empty(len(epsilons))
    # Terms that are not positive at one epsilon are not at any larger one.
    for done, index in enumerate(np.argsort(epsilons, kind="stable"), start=1):
        difference = first - _grown(second, float(epsilons[index]))
        result[index] = np.maximum(difference, 0.0).sum()
        if done < len(epsilons):
            positive = difference > 0
            if 4 * np.count_nonzero(positive) < 3 * len(positive):
                first, second = first[positive], second[positive]
    return result


def _grown(mass: FloatArray, epsilon: float) -> FloatArray:
    """Return `e^epsilon mass`, where what is zero stays zero and what is too large is infinite."""
    if epsilon <= _LARGEST_EXPONENT:
        return as_array(np.exp(epsilon) * mass)
    # In two steps: e^epsilon alone may leave the range of floats. At twice the exponent whatever is
    # not zero is above 1, the smallest positive float too.
    half = np.exp(min(epsilon, 2 * _LARGEST_EXPONENT) / 2)
    with np.errstate(over="ignore"):
        return as_array((mass * half) * half)


def shifted(mass: FloatArray, shift: int) -> tuple[FloatArray, FloatArray]:
    """Return `f(a - shift)` and `f(a)` over all `a` where either is positive."""
    zeros = np.zeros(shift)
    return np.concatenate([zeros, mass]), np.concatenate([mass, zeros])


def divergence_bounds(first: Bounds, second: Bounds, epsilon: FloatArray) -> Bounds:
    """Return bounds on `sum max(0, first - e^epsilon second)` from bounds on their logarithms.

    Upper bounds come from what is most of the first and least of the second, so that no error is
    ever multiplied by `e^epsilon`.

    Parameters
    ----------
    first, second : pair of arrays
        Lower and upper bounds on the logarithms of probabilities, minus infinity for zero.
    epsilon : array
        Ascending.

    Examples
    --------
    >>> half = np.log([0.2, 0.8]), np.log([0.2, 0.8])
    >>> even = np.log([0.5, 0.5]), np.log([0.5, 0.5])
    >>> divergence_bounds(half, even, np.array([0.0, 1.0]))[1].round(12)
    array([0.3, 0. ])
    """
    low, lost = _positive_parts(first[0], second[1], epsilon)
    high, more = _positive_parts(first[1], second[0], epsilon)
    return at_least(np.maximum(low - lost, 0.0), _SUM_ERROR), at_most(high + more, _SUM_ERROR)


def _positive_parts(first: FloatArray, second: FloatArray, epsilon: FloatArray) -> Bounds:
    """Return `sum max(0, e^first - e^(epsilon + second))` for ascending epsilons.

    And what may be lost of it below floats: one of the smallest for every positive term.
    """
    result, lost = np.zeros(len(epsilon)), np.zeros(len(epsilon))
    possible = first > second
    first, second = first[possible], second[possible]
    ratio, mass = first - second, np.exp(first)
    for index, exponent in enumerate(epsilon.tolist()):
        # Terms that are not positive at one epsilon are not at any larger one.
        positive = ratio > exponent
        if 4 * np.count_nonzero(positive) < 3 * len(positive):
            ratio, mass, positive = ratio[positive], mass[positive], positive[positive]
        result[index] = (mass * -np.expm1(np.minimum(exponent - ratio, 0.0))).sum()
        lost[index] = np.count_nonzero(positive) * SMALLEST_POSITIVE
        if not len(ratio):
            break
    return result, lost


def envelope(mass: FloatArray, largest_shift: int, epsilon: FloatArray) -> FloatArray:
    """Return an upper bound on the divergences of all shifts from 0 to the largest.

    Examples
    --------
    >>> mass = np.array([0.25, 0.5, 0.25])
    >>> envelope(mass, 1, np.array([0.5])) >= hockey_stick(*shifted(mass, 1), np.array([0.5]))
    array([ True])
    """
    _, still = shifted(mass, largest_shift)
    return hockey_stick(largest_of_shifts(still, largest_shift), still, epsilon)


def largest_of_shifts(values: FloatArray, largest_shift: int) -> FloatArray:
    """Return the largest of every number and the `largest_shift` ones before it.

    Examples
    --------
    >>> largest_of_shifts(np.array([1.0, 3.0, 2.0, 0.0, 0.0]), 2)
    array([1., 3., 3., 3., 2.])
    """
    from scipy.ndimage import maximum_filter1d

    # The window covers a - D .. a: its centre is moved by half its width.
    return as_array(
        maximum_filter1d(
            values, largest_shift + 1, mode="constant", cval=-np.inf, origin=largest_shift // 2
        )
    )


def one_more(trials: int, success: float | Fraction, epsilon: FloatArray) -> FloatArray:
    """Return the hockey-stick divergence of `1 + X` from `X`, `X` binomial.

    It is never zero, since all may be successes; what vanishes is the smallest positive float.

    Examples
    --------
    >>> one_more(1, 0.25, np.array([0.0, 2.0]))     # 1, 2 against 0, 1, both 3 : 1
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
    epsilon = np.minimum(as_array(epsilon), _LARGEST_EXPONENT)
    if trials > LARGEST_TRIALS:
        raise InvalidInput(f"Expected at most {LARGEST_TRIALS:,} entries, got {trials:,}.")
    if trials == 0:
        return np.ones_like(epsilon)
    own = share_counted(success, failures)
    odds = log_odds(own)
    # Summands are positive from here on: the share of successes of the tilted distribution. The
    # smaller share of the two is the one with more digits.
    with np.errstate(over="ignore"):
        share = 1 / (1 + np.exp(np.abs(epsilon + odds)))
    rare = (trials + 1) * share
    start = np.where(epsilon + odds > 0, trials + 1 - np.ceil(rare), np.floor(rare))
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
    below = math.exp(odds) * (trials + 1.0) / ((count + 1.0) * (count + 2.0))
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


def _log_ratios(
    count: IntArray, trials: int, success: float | Fraction, failures: bool
) -> FloatArray:
    """Return the logarithm of `r(count)`, to as many digits as it has.

    It is a small sum of large logarithms, and among many trials its sum with epsilon is far
    smaller still. So the ratio is made of whole numbers and rounded once.
    """
    share = share_counted(success, failures)
    odds = share / (1 - share)
    result = np.full(len(count), -np.inf)
    for index, successes in enumerate(count.tolist()):
        if successes < trials:
            ratio = odds * Fraction(trials - successes, successes + 1)
            rounded = float(ratio)
            result[index] = math.log(rounded) + float(ratio / Fraction(rounded) - 1)
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
    return last_integer(visible, lower, trials)


def half_line(
    mass: LogMass,
    shift: int,
    step: float,
    width: Fraction,
    noise: LogConcaveNoise,
    epsilon: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the divergence of the shifted noisy answer from the unshifted.

    For a log-concave distribution of answers, whose ratio of densities `r` rises. Any end `a` of a
    half-line gives a value that is not above the truth. If `r(a) <= e^epsilon`, the best end is not
    below `a`, and since `r` rises, moving there gains at most `e^epsilon / r(a) - 1` times what
    lies between. So the bounds hold wherever the search stops, and are close where it ends well.

    Parameters
    ----------
    mass : LogMass
        The distribution of the answers `0, step, 2 step, ...`.
    shift : int
        By how many steps the entry's first value moves the answer upward against its second.
    step : float
        Distance between answers.
    width : Fraction
        The same shift as a number: `shift` steps, without rounding.
    noise : LogConcaveNoise
        Of a law whose tails are exponential or lighter.
    epsilon : array
        At which to evaluate.
    """
    line = _HalfLine(mass, shift, step, noise)
    ends = np.transpose([line.bounds(min(float(at), LARGEST_EPSILON)) for at in epsilon])
    low = np.where(epsilon <= LARGEST_EPSILON, ends[0], 0.0)
    # What is too small for a float is not zero, unless no loss is larger than epsilon.
    high = ends[1] + SMALLEST_POSITIVE
    some = noise.loss_above(epsilon, width) > 0
    low, high = np.where(some, low, 0.0), np.where(some, high, 0.0)
    return np.maximum(low - SMALLEST_POSITIVE, 0.0), high


class _HalfLine:
    """The search for the end of the best half-line, with bounds on all that it computes.

    A point is a number of steps and a rest, so that the rest keeps its digits however far out it
    is. Noise that is rarer than `_RARITY` says is less likely than anything that counts, so that
    answers further away are dropped from densities, and from tails if they are below.
    """

    def __init__(self, mass: LogMass, shift: int, step: float, noise: LogConcaveNoise) -> None:
        self.mass, self.shift, self.step, self.noise = mass, shift, step, noise
        self.numbers = np.arange(len(mass.low), dtype=np.float64)
        # Densities are taken relative to their largest value, 1.
        self.log_outside = math.log(mass.outside) if mass.outside > 0 else -math.inf
        self.reach = min(math.ceil(noise.half_width(_RARITY) / step) + 1, len(mass.low))
        self.beyond = [_log_tail_sums(logs) for logs in (mass.low, mass.high)]
        weights = np.exp(mass.low)
        weights /= weights.sum()
        self.centre = float(weights @ self.numbers)
        variance = float(weights @ (self.numbers - self.centre) ** 2)
        self.spread = math.hypot(math.sqrt(variance), noise.scale / step)

    def bounds(self, epsilon: float) -> tuple[float, float]:
        """Return bounds on the divergence at one epsilon."""
        begin = self._before(epsilon)
        if begin is None:
            return 0.0, 1.0
        begin = self._last(begin, epsilon)
        end = self._beyond(begin, epsilon)
        up, still = self._tail(begin, self.shift), self._tail(begin, 0)
        most = math.exp(min(up[1], 0.0))
        if epsilon + still[0] - up[1] > 30:
            # The end is too far from the best one.
            return 0.0, most
        between = most if end is None else most - math.exp(self._tail(end, self.shift)[0])
        gap = max(epsilon - self._ratio(begin)[0], 0.0)
        gain = math.expm1(gap) * between if gap < 700 else math.inf
        high = min(_difference(up[1], epsilon + still[0]) + gain, most)
        low = _difference(up[0], min(epsilon + still[1], up[0]))
        return min(low, high), max(high, 0.0)

    def _ratio(self, at: _Point) -> tuple[float, float]:
        """Return bounds on the logarithm of the ratio of the densities."""
        up, still = self._density(at, self.shift), self._density(at, 0)
        most = math.inf if still[0] == -math.inf else up[1] - still[0]
        return up[0] - still[1], most

    def _near(self, at: _Point, shift: int) -> tuple[slice, FloatArray]:
        """Return the answers that count, and how far the point is above them."""
        steps, rest = at
        middle = math.floor(steps - shift + rest / self.step)
        first = min(max(middle - self.reach, 0), max(len(self.numbers) - 2 * self.reach, 0))
        near = slice(first, first + 2 * self.reach)
        return near, self.step * (float(steps - shift) - self.numbers[near]) + rest

    def _density(self, at: _Point, shift: int) -> tuple[float, float]:
        near, above = self._near(at, shift)
        bell = self.noise.exponent(above)
        return self._rounded(
            _log_sum(self.mass.low[near] - bell), _log_sum(self.mass.high[near] - bell)
        )

    def _tail(self, at: _Point, shift: int) -> tuple[float, float]:
        """Return bounds on the logarithm of the probability beyond."""
        near, above = self._near(at, shift)
        tails = self.noise.log_tail(above)
        return self._rounded(
            *(
                _log_plus(_log_sum(logs[near] + tails), float(beyond[min(near.stop, len(logs))]))
                for logs, beyond in zip((self.mass.low, self.mass.high), self.beyond, strict=True)
            )
        )

    def _rounded(self, low: float, high: float) -> tuple[float, float]:
        """Return bounds that take account of rounding, and of what is outside."""
        return low - _rounding(low), _log_plus(high + _rounding(high), self.log_outside)

    def _is_before(self, at: _Point, epsilon: float) -> bool:
        return self._ratio(at)[1] <= epsilon

    def _before(self, epsilon: float) -> _Point | None:
        """Return a point that the best end is certainly not below."""
        for deviations in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0):
            steps = math.floor(self.centre - deviations * self.spread)
            for at in ((steps, 0.0), (steps - 1, 0.0)):
                if self._is_before(at, epsilon):
                    return at
        return None

    def _last(self, begin: _Point, epsilon: float) -> _Point:
        """Return nearly the last such point."""
        # Where it would be if the noisy answer were Gaussian.
        guess = math.floor(self.centre + self.spread**2 * epsilon / self.shift)
        low = last_integer(
            lambda steps: self._is_before((steps, 0.0), epsilon), begin[0], start=guess
        )

        def above(rest: float) -> float:
            return min(max(self._ratio((low, rest))[1] - epsilon, -1e3), 1e3)

        smallest = self.step * 2.0**-_HALVINGS
        rest = 0.0
        if above(0.0) < 0 < above(self.step):
            rest = root_of(above, 0.0, self.step, xtol=smallest, maxiter=80)
        back = smallest
        while rest > 0 and not self._is_before((low, rest), epsilon):
            rest, back = max(rest - back, 0.0), 2 * back
        return low, rest

    def _beyond(self, begin: _Point, epsilon: float) -> _Point | None:
        """Return a point close above that the best end is certainly not above, if there is one."""
        steps, rest = begin
        for power in range(-_HALVINGS, 9, 4):
            at = (steps, rest + self.step * 2.0**power)
            if self._ratio(at)[0] >= epsilon:
                return at
        return None


def _log_sum(exponents: FloatArray) -> float:
    largest = float(exponents.max())
    if largest == -math.inf:
        return largest
    return largest + math.log(float(np.exp(exponents - largest).sum()))


def _log_plus(first: float, second: float) -> float:
    return float(np.logaddexp(first, second))


def _log_tail_sums(logs: FloatArray) -> FloatArray:
    """Return the logarithms of the sums from every term to the last, and of none."""
    return np.append(np.logaddexp.accumulate(logs[::-1])[::-1], -np.inf)


def _difference(first: float, second: float) -> float:
    """Return `e^first - e^second`, without cancellation where these are close."""
    if first == -math.inf:
        return 0.0
    apart = second - first
    return math.exp(first) * -math.expm1(apart)


def _rounding(logarithm: float) -> float:
    """Return by how much a logarithm of a sum may be wrong: sums and exponents are rounded."""
    return 1e-14 + 2e-15 * abs(logarithm) if math.isfinite(logarithm) else 0.0
