"""The best test between two noisy answers, where the answers are log-concave: a half-line.

If the distribution of the answers is log-concave, so is the noise, and the ratio of the densities
for two values of the entry rises with the answer (a posterior mean of a rising function). The end
of the half-line is found by bisection, and tail probabilities give bounds on delta that hold
wherever the search stops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from omit._numeric import SMALLEST_POSITIVE, FloatArray, as_array
from omit.laws.inversion import last_integer, root_of
from omit.laws.noise import LARGEST_EPSILON, LogConcaveNoise
from omit.laws.sums import SumLaw

_HALVINGS = 40
# Noise that is farther out than this has a probability of less than e^-2048.
_RARITY = 2048.0
_Place: TypeAlias = tuple[int, float]


@dataclass(frozen=True, eq=False)
class LogMass:
    """Logarithms of the probabilities of consecutive answers, between bounds.

    Attributes
    ----------
    low, high
        Bounds on the logarithms.
    outside
        What all other answers have together, at most.
    """

    low: FloatArray
    high: FloatArray
    outside: float = 0.0

    @classmethod
    def of(cls, law: SumLaw) -> LogMass:
        """Return the part of a law that something is known about, around its mode."""
        known = np.isfinite(law.low)
        mode = int(np.argmax(law.low))
        before, after = np.flatnonzero(~known[:mode]), np.flatnonzero(~known[mode:])
        first = int(before[-1]) + 1 if len(before) else 0
        last = mode + int(after[0]) if len(after) else len(known)
        left = np.exp(law.high[:first]).sum() + np.exp(law.high[last:]).sum()
        return cls(law.low[first:last], law.high[first:last], float(left) + law.outside)

    @property
    def mirrored(self) -> LogMass:
        """The same for the answers in descending order."""
        return replace(self, low=self.low[::-1], high=self.high[::-1])


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
    bounds = [line.bounds(min(float(each), LARGEST_EPSILON)) for each in epsilon]
    low = np.where(epsilon <= LARGEST_EPSILON, [each[0] for each in bounds], 0.0)
    # What is too small for a float is not zero, unless no loss is larger than epsilon.
    high = as_array([each[1] for each in bounds]) + SMALLEST_POSITIVE
    some = noise.loss_above(epsilon, width) > 0
    low, high = np.where(some, low, 0.0), np.where(some, high, 0.0)
    return np.maximum(low - SMALLEST_POSITIVE, 0.0), high


class _HalfLine:
    """The search for the end of the best half-line, with bounds on all that it computes.

    A place is a whole number of steps and a rest, so that the rest keeps its digits however far out
    it is. Noise that is rarer than `_RARITY` says is less likely than anything that counts, so
    that answers further away are left out of densities, and of tails if they are below.
    """

    def __init__(self, mass: LogMass, shift: int, step: float, noise: LogConcaveNoise) -> None:
        self.mass, self.shift, self.step, self.noise = mass, shift, step, noise
        self.numbers = np.arange(len(mass.low), dtype=np.float64)
        # Densities are taken relative to their largest value, 1.
        self.log_outside = math.log(mass.outside) if mass.outside > 0 else -math.inf
        self.reach = min(math.ceil(noise.half_width(_RARITY) / step) + 1, len(mass.low))
        self.beyond = [_log_tail_sums(each) for each in (mass.low, mass.high)]
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

    def _ratio(self, at: _Place) -> tuple[float, float]:
        """Return bounds on the logarithm of the ratio of the densities."""
        up, still = self._density(at, self.shift), self._density(at, 0)
        most = math.inf if still[0] == -math.inf else up[1] - still[0]
        return up[0] - still[1], most

    def _near(self, at: _Place, shift: int) -> tuple[slice, FloatArray]:
        """Return the answers that count, and how far the place is above them."""
        steps, rest = at
        middle = math.floor(steps - shift + rest / self.step)
        first = min(max(middle - self.reach, 0), max(len(self.numbers) - 2 * self.reach, 0))
        near = slice(first, first + 2 * self.reach)
        return near, self.step * (float(steps - shift) - self.numbers[near]) + rest

    def _density(self, at: _Place, shift: int) -> tuple[float, float]:
        near, above = self._near(at, shift)
        bell = self.noise.exponent(above)
        return self._rounded(
            _log_sum(self.mass.low[near] - bell), _log_sum(self.mass.high[near] - bell)
        )

    def _tail(self, at: _Place, shift: int) -> tuple[float, float]:
        """Return bounds on the logarithm of the probability beyond."""
        near, above = self._near(at, shift)
        tails = self.noise.log_tail(above)
        return self._rounded(
            *(
                _log_plus(_log_sum(each[near] + tails), float(beyond[min(near.stop, len(each))]))
                for each, beyond in zip((self.mass.low, self.mass.high), self.beyond, strict=True)
            )
        )

    def _rounded(self, low: float, high: float) -> tuple[float, float]:
        """Return bounds that take account of rounding, and of what is outside."""
        return low - _rounding(low), _log_plus(high + _rounding(high), self.log_outside)

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

    def _beyond(self, begin: _Place, epsilon: float) -> _Place | None:
        """Return a place close above that the best end is certainly not above, if one is found."""
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
