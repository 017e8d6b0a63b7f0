"""The best test between two noisy answers, where the answers are log-concave: a half-line.

If the distribution of the answers is log-concave, so is the noise, and the ratio of the densities
for two values of the entry rises with the answer (a posterior mean of a rising function). The end
of the half-line is found by bisection, and tail probabilities give bounds on delta that hold
wherever the search stops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.mechanisms.noise import Noise

# The curve falls, so that stopping here is safe.
LARGEST_EPSILON = 1e6
_HALVINGS = 40
_Place: TypeAlias = tuple[int, float]


@dataclass(frozen=True, eq=False)
class LogMass:
    """Logarithms of the probabilities of consecutive answers, and how wrong these can be.

    Attributes
    ----------
    log
        Logarithms of the probabilities.
    relative
        By how much each probability may be wrong, relative to it.
    point_error, outside
        By how much it may be wrong beside, and what all others have together.
    """

    log: FloatArray
    relative: float = 0.0
    point_error: float = 0.0
    outside: float = 0.0

    @property
    def mirrored(self) -> LogMass:
        """The same for the answers in descending order."""
        return replace(self, log=self.log[::-1])


def half_line(
    mass: LogMass, shift: int, step: float, noise: Noise, epsilon: FloatArray
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
    noise : Noise
        Laplace or Gaussian.
    epsilon : array
        At which to evaluate.
    """
    line = _HalfLine(mass, shift, step, noise)
    found = [line.bounds(min(float(each), LARGEST_EPSILON)) for each in epsilon]
    low = np.where(epsilon <= LARGEST_EPSILON, [each[0] for each in found], 0.0)
    return as_array(low), as_array([each[1] for each in found])


class _HalfLine:
    """The search for the end of the best half-line, with bounds on all that it computes.

    A place is a whole number of steps and a rest, so that the rest keeps its digits however far out
    it is.
    """

    def __init__(self, mass: LogMass, shift: int, step: float, noise: Noise) -> None:
        self.mass, self.shift, self.step, self.noise = mass, shift, step, noise
        self.numbers = np.arange(len(mass.log), dtype=np.float64)
        # Densities are taken relative to their largest value, 1. Summed over all answers they are
        # at most 2 and their integral in steps, which is below 3 times the scale.
        wrong = mass.point_error * (2 + 3 * noise.scale / step) + mass.outside
        self.log_wrong = math.log(wrong) if wrong > 0 else -math.inf
        self.total_error = len(mass.log) * mass.point_error + mass.outside
        weights = np.exp(mass.log)
        self.centre = float(weights @ self.numbers)
        variance = float(weights @ (self.numbers - self.centre) ** 2)
        self.spread = math.hypot(math.sqrt(variance), noise.scale / step)

    def bounds(self, epsilon: float) -> tuple[float, float]:
        """Return bounds on the divergence at one epsilon."""
        # Nowhere is the ratio of Laplace densities larger.
        if self.noise.kind == "laplace" and epsilon >= self.shift * self.step / self.noise.scale:
            return 0.0, 0.0
        begin = self._before(epsilon)
        if begin is None:
            return 0.0, 1.0
        begin = self._last(begin, epsilon)
        end = self._beyond(begin, epsilon)
        up, up_wrong = self._tail(begin, self.shift)
        still, still_wrong = self._tail(begin, 0)
        most = math.exp(min(up + up_wrong, 0.0)) + self.total_error
        if epsilon + still > 30 or (self.total_error > 0 and epsilon > 690):
            # The end is too far from the best one, or errors are multiplied by too much.
            return 0.0, min(most, 1.0)
        # Without cancellation where the two are close.
        apart = epsilon + still - up
        close = apart < 1
        value = math.exp(up) * -math.expm1(apart) if close else math.exp(up) - math.exp(up + apart)
        wrong = math.exp(up) * math.expm1(up_wrong)
        wrong += math.exp(epsilon + still) * math.expm1(still_wrong)
        if self.total_error > 0:
            wrong += (1 + math.exp(epsilon)) * self.total_error
        between = most
        if end is not None:
            up_end, end_wrong = self._tail(end, self.shift)
            between -= max(math.exp(up_end - end_wrong) - self.total_error, 0.0)
            between = max(between, math.exp(up) * up_wrong)
        gap = max(epsilon - self._ratio(begin)[0], 0.0)
        gain = math.expm1(gap) * between if gap < 700 else math.inf
        high = min(value + wrong + gain, most, 1.0)
        return max(min(value - wrong, high), 0.0), max(high, 0.0)

    def _ratio(self, at: _Place) -> tuple[float, float]:
        """Return bounds on the logarithm of the ratio of the densities."""
        up, still = self._density(at, self.shift), self._density(at, 0)
        slack = 2 * self.mass.relative + _rounding(up) + _rounding(still)
        least = _log_minus(up, self.log_wrong) - _log_plus(still, self.log_wrong)
        less = _log_minus(still, self.log_wrong)
        most = math.inf if less == -math.inf else _log_plus(up, self.log_wrong) - less
        return least - slack, most + slack

    def _from_answers(self, at: _Place, shift: int) -> FloatArray:
        steps, rest = at
        return self.step * (float(steps - shift) - self.numbers) + rest

    def _density(self, at: _Place, shift: int) -> float:
        z = np.abs(self._from_answers(at, shift)) / self.noise.scale
        return _log_sum(self.mass.log - (z if self.noise.kind == "laplace" else 0.5 * z**2))

    def _tail(self, at: _Place, shift: int) -> tuple[float, float]:
        """Return the logarithm of the probability beyond, and by how much it may be wrong."""
        tails = log_tail(self.noise, self._from_answers(at, shift))
        value = _log_sum(self.mass.log + tails)
        return value, self.mass.relative + _rounding(value)

    def _is_before(self, at: _Place, epsilon: float) -> bool:
        return self._ratio(at)[1] <= epsilon

    def _before(self, epsilon: float) -> _Place | None:
        """Return a place that the best end is certainly not below."""
        for deviations in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0):
            steps = math.floor(self.centre - deviations * self.spread)
            for at in ((steps, 0.0), (steps - 1, 0.0)):
                if self._is_before(at, epsilon):
                    return at
        return None

    def _last(self, begin: _Place, epsilon: float) -> _Place:
        """Return nearly the last such place."""
        from scipy.optimize import brentq

        # Where it would be if the noisy answer were Gaussian.
        guess = self.centre + self.spread**2 * epsilon / self.shift
        low, jump = max(begin[0], math.floor(guess)), 1
        if low > begin[0] and not self._is_before((low, 0.0), epsilon):
            high = low
            while True:
                low = max(high - jump, begin[0])
                if low == begin[0] or self._is_before((low, 0.0), epsilon):
                    break
                high, jump = low, 2 * jump
        else:
            while self._is_before((low + jump, 0.0), epsilon):
                low, jump = low + jump, 2 * jump
            high = low + jump
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._is_before((middle, 0.0), epsilon) else (low, middle)

        def above(rest: float) -> float:
            return min(max(self._ratio((low, rest))[1] - epsilon, -1e3), 1e3)

        smallest = self.step * 2.0**-_HALVINGS
        rest = 0.0
        if above(0.0) < 0 < above(self.step):
            rest = float(brentq(above, 0.0, self.step, xtol=smallest, maxiter=80, disp=False))
        back = smallest
        while rest > 0 and not self._is_before((low, rest), epsilon):
            rest, back = max(rest - back, 0.0), 2 * back
        return low, rest

    def _beyond(self, begin: _Place, epsilon: float) -> _Place | None:
        """Return a place close above that the best end is certainly not above, if one is found."""
        steps, rest = begin
        for power in range(-_HALVINGS, 9, 4):
            at = (steps, rest + self.step * 2.0**power)
            if self._ratio(at)[0] >= epsilon:
                return at
        return None


def log_tail(noise: Noise, x: FloatArray) -> FloatArray:
    """Return the logarithm of the probability that the noise is above `x`."""
    z = x / noise.scale
    if noise.kind == "gaussian":
        from scipy.special import log_ndtr

        return np.asarray(log_ndtr(-z), dtype=np.float64)
    low = np.minimum(z, 0.0)
    return np.where(z < 0, np.log1p(-0.5 * np.exp(low)), -np.maximum(z, 0.0) - math.log(2))


def _log_sum(exponents: FloatArray) -> float:
    largest = float(exponents.max())
    if largest == -math.inf:
        return largest
    return largest + math.log(float(np.exp(exponents - largest).sum()))


def _log_plus(first: float, second: float) -> float:
    return float(np.logaddexp(first, second))


def _log_minus(first: float, second: float) -> float:
    """Return `log(e^first - e^second)`, minus infinity if that is not positive."""
    if second >= first:
        return -math.inf
    return first + math.log1p(-math.exp(second - first))


def _rounding(logarithm: float) -> float:
    """Return by how much a logarithm of a sum may be wrong: sums and exponents are rounded."""
    return 1e-14 + 2e-15 * abs(logarithm) if math.isfinite(logarithm) else 0.0
