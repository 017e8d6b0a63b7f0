"""Bounds on the characteristic function of the records that are left, averaged over answers x.

With `w_v = n_v k_v (1 - k_v)` its size is at most `exp(Re e^(-iωx) Σ w_v e^(iωv) - Σ w_v)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.exact.mean_setting import MeanSetting
from omit.exact.quotient import Quotient

WITNESSES = 1000
"""How many values are looked at beyond the first frequencies."""
_FIRST = 300
# What is fainter together counts for nothing.
_FAINT = 1e-15
# How many echoes are looked at one by one.
_MOST_ECHOES = 5000


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
        values, weights = self._random
        if len(frequencies) > _FIRST and len(values) > WITNESSES:
            # Some of the values bound the size as well, only less sharply: low frequencies, where
            # that matters, have all of them.
            some = slice(None, None, math.ceil(len(values) / WITNESSES))
            first = self._size_by(frequencies[:_FIRST], values, weights)
            rest = self._size_by(frequencies[_FIRST:], values[some], weights[some])
            return np.concatenate([first, rest])
        return self._size_by(frequencies, values, weights)

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
        lowest, mass = float(size[loud].min()), float(fade[loud].sum())
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
        average = np.minimum(1.0, turns * np.pi * math.sqrt(math.pi / (2 * max(lowest, 1e-300))))
        average *= np.exp(lowest * (nearest - 1))
        echoes = 0.0
        for weight, start in ((average * mass, number * period - farthest), (faded, between)):
            noise = quotient.largest_characteristic(start, left, right) / (np.pi * start)
            echoes += float((noise * weight).sum())
        b, d = quotient.least_scales(left, right)
        rest = replace(quotient.total, scale=b).frequencies_beyond(float(between[-1]), d)
        return 2 * spacing * (echoes + (mass + faded) * rest / period)


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
