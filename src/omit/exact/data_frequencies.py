"""Bounds on the characteristic function of the records that are left, averaged over answers x.

With `w_v = n_v k_v (1 - k_v)` its size is at most `exp(Re e^(-iωx) Σ w_v e^(iωv) - Σ w_v)`.

*Where nothing is left of it*, whatever x: the size is at most `e^(-E)`, `E = Σ w_v - F` with
`F = |Σ w_v e^(iωv)|`. As `1 - cos θ ≥ 2θ²/π²` up to a half turn, `(Σ w_v)² - F²`, which is the sum
of `w_u w_v (1 - cos ω(u - v))`, shows that `E ≥ (2/π²) ω² Σ w_v (v - m)²` with m the mean, up to
`ω = π / (largest - smallest value)`. From any frequency to a larger one, F grows by at most
`Σ w_v |v - c|` times their difference, whatever c: so from where E is large it stays so for a
while, and a few steps of this size show that many frequencies are faint. Any subset of the values
will do for E.

*Weights* u make it `exp(-Σ w_v (1 - cos(ω u_v (v - x))))`, in which every record turns at a speed
of its own as x moves. For all x of a piece with middle m and half-width a, whatever the frequency,

- a cosine is at most that of `(|ω u_v (v - m)| - ω u_v a)⁺`, the first to the nearest full turn:
  good where records hardly turn within a piece;
- records with weights within `δ/2` of some g, so that they turn together, have
  `|Σ w_v e^(iω u_v (v - x))| ≤ |Σ w_v e^(iω u_v (v - m))| + Σ w_v ω a |u_v - g|`, since a chord is
  shorter than its arc: good where their phases differ.

Any subset of the records gives a bound, so the better of the two does, piece by piece.

*Echoes.* What a frequency ω adds to an integral over x from a to b is an average of
`∫ n(x) e^(iω(S - xC)) dx`, n the characteristic function of the noise. By parts that is

    [n(x) e^(iω(S - xC)) / (-iωC)]_a^b + ∫ n'(x) e^(iω(S - xC)) / (iωC) dx,

so that an echo counts at the ends of the integral only, and there, too, it is faint unless a whole
number of periods meets `x`. For the factor 1/C let `1/C = ∫_0^∞ e^(-sC) ds`. With `e^(-sC)` records
are kept with the chance `k_s = k e^(-s) / (1 - k + k e^(-s))`, and `k_s (1-k_s) ≥ e^(-s) k (1-k)`:

    |E e^(iω(S - xC)) / C| ≤ E[1/C] exp(-e^(-s) Σ w_v (1 - cos(ω(v - x)))) + E e^(-sC)

for every s > 0, where both means over C are for `C ≥ 1`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.exact.mean_setting import MeanSetting
from omit.exact.quotient import Quotient

WITNESSES = 1000
"""How many values are looked at beyond the first frequencies."""
_FIRST = 300
_FAINT_EXPONENT = 40.0
FAINT = math.exp(-_FAINT_EXPONENT)
"""What is as faint as this may be left out, and is accounted for."""
# How many steps are taken at most to see where frequencies are faint: with all values, with some.
_FIRST_STEPS, _MOST_STEPS = 30, 10_000
# What is fainter together counts for nothing.
_FAINT = 1e-15
# How many echoes are looked at one by one.
_MOST_ECHOES = 5000
# Into how many pieces answers are divided at most, and how far records that turn together may turn
# apart within half of one.
_MOST_PIECES = 8
_TURN = 0.3
# How many records should turn together.
_TOGETHER = 4
# How many records with weights are looked at beyond the first frequencies.
_WEIGHTED_WITNESSES = 4000
# Minus the logarithm of how rarely there are next to no records, to first order.
_RARE = 60.0
# Minus the logarithm of what is faint whatever else there is, and of what can never be.
_NOTHING, _LOUD = 40.0, 15.0


@dataclass(frozen=True)
class DataFrequencies:
    """The records of a setting, for all answers x from left to right."""

    setting: MeanSetting
    left: float
    right: float

    @cached_property
    def _random(self) -> tuple[FloatArray, FloatArray]:
        """Values of which records may be left out, less the centre, and their weights."""
        setting = self.setting
        random = setting.spread > 0
        return as_array(setting.values[random] - setting.center), setting.spread[random]

    def size(self, frequencies: FloatArray) -> FloatArray:
        """Return a bound on the size of the data's characteristic function, averaged over near x.

        It is `exp(h (cos θ - 1))` for a phase θ that is linear in x, times a constant. With
        `cos θ - 1 ≤ -2θ²/π²` its integral over a full turn is `π sqrt(π / 2h)` at most.
        """
        if self.setting.is_weighted:
            return self._size_by_pieces(frequencies)
        values, weights = self._random
        if len(frequencies) > _FIRST and len(values) > WITNESSES:
            # Some of the values bound the size as well, only less sharply: low frequencies, where
            # that matters, have all of them.
            some = slice(None, None, math.ceil(len(values) / WITNESSES))
            first = self._size_by(frequencies[:_FIRST], values, weights)
            rest = self._size_by(frequencies[_FIRST:], values[some], weights[some])
            return np.concatenate([first, rest])
        return self._size_by(frequencies, values, weights)

    def faint_from(self, last: float, step: float) -> float:
        """Return a frequency from which to the last one the size is at most `FAINT` for all x.

        That is the last one itself unless it is soon seen to be another. Steps are taken where the
        size is not that small.
        """
        values, weights = self._random
        if self.setting.is_weighted or len(values) < 2:
            return last
        half_turn = min(math.pi / float(values[-1] - values[0]), last)
        reached = since = half_turn
        for number, steps in ((len(values), _FIRST_STEPS), (WITNESSES, _MOST_STEPS)):
            some = slice(None, None, math.ceil(len(values) / number))
            reached, since = _faint_until(
                values[some], weights[some], reached, since, last, step, steps
            )
        if reached < last:
            return last
        if since > half_turn:
            return min(since, last)
        variance = float(weights @ (values - np.average(values, weights=weights)) ** 2)
        return min(math.pi * math.sqrt(0.5 * _FAINT_EXPONENT / variance), half_turn)

    @property
    def cosines(self) -> int:
        """About how many cosines a frequency takes beyond the first."""
        setting = self.setting
        if not setting.is_weighted:
            return min(len(setting.values), WITNESSES)
        # Until enough of them are seen; about half of a record's spread counts.
        enough = 2 * _NOTHING * len(setting.values) / max(float(setting.spread.sum()), 1.0)
        return math.ceil(min(len(setting.values), _WEIGHTED_WITNESSES, enough))

    def _size_by_pieces(self, frequencies: FloatArray) -> FloatArray:
        """Return the bound for records with weights."""
        setting = self.setting
        order = np.argsort(setting.weights, kind="stable")
        order = order[setting.spread[order] > 0]
        first = self._fading(frequencies[:_FIRST], order)
        # Of very many those that turn together best: not the lightest, which hardly turn at all.
        start, number = len(order) // 3, _WEIGHTED_WITNESSES
        if len(order) - start > number:
            weights = setting.weights[order]
            start += int(np.argmin(weights[start + number :] - weights[start:-number]))
            order = order[start : start + number]
        return np.concatenate([first, self._fading(frequencies[_FIRST:], order)])

    def _fading(self, frequencies: FloatArray, order: NDArray[np.intp]) -> FloatArray:
        """Return the bound by these records, which are in the order of their weights."""
        values, weights = self.setting.values[order], self.setting.weights[order]
        spread = self.setting.spread[order]
        return _fading_by_pieces(frequencies, values, weights, spread, self.left, self.right)

    def _size_by(
        self, frequencies: FloatArray, values: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return the bound by these values and their weights."""
        setting = self.setting
        real, imaginary = _cosines(frequencies, values, weights)
        # The largest cosine of the phase between the ends of the near part.
        turn = frequencies * (self.left - setting.center) - np.arctan2(imaginary, real)
        first = np.mod(turn, 2 * np.pi)
        last = first + frequencies * (self.right - self.left)
        largest = np.where(last >= 2 * np.pi, 1.0, np.maximum(np.cos(first), np.cos(last)))
        size, total = np.hypot(real, imaginary), float(weights.sum())
        length = np.maximum(last - first, 1e-300)
        turns = (np.floor(last / (2 * np.pi)) + 1) / length
        average = np.minimum(1.0, turns * np.pi * np.sqrt(np.pi / (2 * np.maximum(size, 1e-300))))
        return as_array(average * np.exp(size * largest - total * (1 - 1e-12)))

    def echoes(self, frequencies: FloatArray, period: float, quotient: Quotient) -> float:
        """Return what the frequencies beyond the first half period add, averaged over near x.

        On a lattice the size of `Σ w e^(iωv)` has the period p, and its angle, less that of
        `e^(iNpv)`, too. So around every multiple Np there are the same frequencies `Np ± δ` that
        are not faint. They matter for x with `N (x - v) / step` near a whole number only.
        """
        left, right, (offsets, weights) = self.left, self.right, self._random
        center = self.setting.center
        real, imaginary = _cosines(frequencies, offsets, weights)
        size, total = np.hypot(real, imaginary), float(weights.sum())
        fade = np.exp(size - total * (1 - 1e-12))
        loud = (fade > _FAINT / len(fade)) | (fade == fade.max())
        farthest, faded = float(frequencies[loud].max()), float(fade[~loud].sum())
        quietest, mass = float(size[loud].min()), float(fade[loud].sum())
        angle = float(np.abs(np.arctan2(imaginary, real))[loud].max())
        angle += farthest * max(abs(x - center) for x in (left, right))
        if not farthest < 0.5 * period:
            return math.inf
        spacing = 2 * float(frequencies[0])
        number = np.arange(1.0, _MOST_ECHOES + 1)
        between = (number - 0.5) * period
        first = number * period * (left - center - offsets[0]) - angle
        last = number * period * (right - center - offsets[0]) + angle
        turn = np.mod(first, 2 * np.pi)
        meets = turn + (last - first) >= 2 * np.pi
        nearest = np.where(meets, 1.0, np.maximum(np.cos(first), np.cos(last)))
        length = (number * period - farthest) * (right - left)
        turns = (np.floor((last - first) / (2 * np.pi)) + 2) / length
        average = np.minimum(1.0, turns * np.pi * math.sqrt(math.pi / (2 * max(quietest, 1e-300))))
        average *= np.exp(quietest * (nearest - 1))
        start = number * period - farthest
        few = float((fade[loud] ** self._share).sum())
        ends = self._at_ends(number * period, angle, quietest)
        slope = quotient.largest_slope(start, left, right)
        by_parts = few * self._mean_inverse * (ends + slope * average**self._share) / start
        rarely = 1 + 2 * (4 / (right - left) + slope) / start
        by_parts += float(loud.sum()) * self._rarely_few * rarely
        echoes = 0.0
        for weight, lowest in ((np.minimum(average * mass, by_parts), start), (faded, between)):
            noise = quotient.largest_characteristic(lowest, left, right) / (np.pi * lowest)
            echoes += float((noise * weight).sum())
        b, d = quotient.least_scales(left, right)
        rest = replace(quotient.total, scale=b).frequencies_beyond(float(between[-1]), d)
        return 2 * spacing * (echoes + (mass + faded) * rest / period)

    def _at_ends(self, multiples: FloatArray, angle: float, quietest: float) -> FloatArray:
        """Return how loud echoes are at the ends of the integrals, averaged over near x.

        These are left, right and the truth, which is the end of two.
        """
        setting, first = self.setting, self._random[0][0]
        truth = min(max(setting.truth, self.left), self.right)
        total = np.zeros_like(multiples)
        for x, times in ((self.left, 1), (truth, 2), (self.right, 1)):
            turns = multiples * (x - setting.center - first) / (2 * np.pi)
            away = np.abs(turns - np.round(turns)) * (2 * np.pi)
            cosine = np.cos(np.minimum(np.maximum(away - angle, 0.0), np.pi))
            total += times * np.exp(-self._share * quietest * (1 - cosine))
        return as_array(total / (self.right - self.left))

    @cached_property
    def _tilt(self) -> float:
        """The s of the bound on averages over 1/C: as small as makes few records rare."""
        return min(0.5, _RARE / self.setting.size)

    @property
    def _share(self) -> float:
        """What it leaves of an exponent, `e^(-s)`."""
        return math.exp(-self._tilt)

    @cached_property
    def _rarely_few(self) -> float:
        """A bound on `E e^(-sC)`, which the chance that nobody is left is below, too."""
        return float(np.exp(self.setting.log_moment(np.array([-self._tilt]))[0]))

    @cached_property
    def _mean_inverse(self) -> float:
        """A bound on `E[1/C]` where somebody is left."""
        half = 0.5 * self.setting.size
        tilts = np.geomspace(1e-4, 3.0, 40)
        fewer = float(np.exp((self.setting.log_moment(-tilts) + tilts * half).min()))
        return 1 / half + min(fewer, 1.0)


@compiled
def _cosines(
    frequencies: FloatArray, values: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return real and imaginary part of `Σ w e^(iωv)` at evenly spaced frequencies."""
    real, imaginary = np.zeros(len(frequencies)), np.zeros(len(frequencies))
    spacing = frequencies[1] - frequencies[0] if len(frequencies) > 1 else 0.0
    for v in range(len(values)):
        x, y = 0.0, 0.0
        turn_x, turn_y = math.cos(spacing * values[v]), math.sin(spacing * values[v])
        for j in range(len(frequencies)):
            # From one frequency to the next by a turn, and afresh before rounding adds up.
            if j % 256 == 0:
                x, y = math.cos(frequencies[j] * values[v]), math.sin(frequencies[j] * values[v])
            real[j] += weights[v] * x
            imaginary[j] += weights[v] * y
            x, y = x * turn_x - y * turn_y, x * turn_y + y * turn_x
    return real, imaginary


@compiled
def _faint_until(
    values: FloatArray,
    weights: FloatArray,
    reached: float,
    since: float,
    last: float,
    step: float,
    most: int,
) -> tuple[float, float]:
    """Return how far frequencies were looked at, and from where on they were faint up to there."""
    total = weights.sum()
    median = values[min(np.searchsorted(np.cumsum(weights), 0.5 * total), len(values) - 1)]
    slope = (weights * np.abs(values - median)).sum()
    for _ in range(most):
        if reached >= last:
            break
        real = imaginary = 0.0
        for v in range(len(values)):
            real += weights[v] * math.cos(reached * values[v])
            imaginary += weights[v] * math.sin(reached * values[v])
        # What is more than enough lasts for a while.
        spare = total * (1 - 1e-11) - math.hypot(real, imaginary) - _FAINT_EXPONENT
        if spare > 0.1 * _FAINT_EXPONENT:
            reached += spare / slope
        else:
            reached += step
            since = reached
    return reached, since


@compiled
def _fading_by_pieces(
    frequencies: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    spread: FloatArray,
    left: float,
    right: float,
) -> FloatArray:
    """Return the bound on the size at every frequency, averaged over the pieces from left to right.

    Records are in the order of their weights.
    """
    size = np.ones(len(frequencies))
    if spread.sum() < _LOUD:
        return size
    for j in range(len(frequencies)):
        turn = 0.5 * (right - left) * frequencies[j] * (weights[-1] - weights[0])
        wanted = math.ceil(_TOGETHER * turn / (_TURN * len(values)))
        pieces = min(max(wanted, 1), _MOST_PIECES)
        half = 0.5 * (right - left) / pieces
        size[j] = 0.0
        for piece in range(pieces):
            middle = left + (2 * piece + 1) * half
            exponent = _fading_alone(frequencies[j], values, weights, spread, middle, half)
            if exponent < _NOTHING:
                together = _fading_together(frequencies[j], values, weights, spread, middle, half)
                exponent = max(exponent, together)
            size[j] += math.exp(-exponent) / pieces
    return size


@compiled
def _fading_alone(
    frequency: float,
    values: FloatArray,
    weights: FloatArray,
    spread: FloatArray,
    middle: float,
    half: float,
) -> float:
    """Return minus the logarithm of the bound by records one by one, up to what is faint."""
    exponent = 0.0
    for v in range(len(values)):
        speed = frequency * weights[v]
        turns = speed * (values[v] - middle) / (2.0 * math.pi)
        angle = 2.0 * math.pi * abs(turns - round(turns)) - speed * half
        if angle > 0.0:
            exponent += spread[v] * (1.0 - math.cos(angle))
            if exponent > _NOTHING:
                break
    return exponent


@compiled
def _fading_together(
    frequency: float,
    values: FloatArray,
    weights: FloatArray,
    spread: FloatArray,
    middle: float,
    half: float,
) -> float:
    """Return the same by records that turn together."""
    apart = _TURN / (frequency * half)
    exponent, v = 0.0, 0
    while v < len(values) and exponent < _NOTHING:
        common = weights[v] + 0.5 * apart
        real = imaginary = total = slack = 0.0
        while v < len(values) and weights[v] <= common + 0.5 * apart:
            angle = frequency * weights[v] * (values[v] - middle)
            real += spread[v] * math.cos(angle)
            imaginary += spread[v] * math.sin(angle)
            total += spread[v]
            slack += spread[v] * frequency * half * abs(weights[v] - common)
            v += 1
        exponent += max(total - math.hypot(real, imaginary) - slack, 0.0)
    return exponent
