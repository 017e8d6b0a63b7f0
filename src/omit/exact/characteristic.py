"""The logarithm of the characteristic function of a thinned sum, computed in three ways.

For `S - t N = Σ_v u_v (v - t) Bin(n_v, k_v)`, with weights u, it is
`Σ_v n_v ln(1 - k_v + k_v e^(iω u_v (v - t)))`, less the phase of its mean: term by term in compiled
code, by a power series in the frequency where that converges fast (`AngleSeries`), or, if all
weights are 1, by power sums of the values (`PowerSums`).
"""

from __future__ import annotations

import math

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray

_MOST_POWER_SUMS = 60
_VALUES_AT_A_TIME = 4096

LARGEST_SERIES_ANGLE = 2.3
"""Up to this angle `ω u (v - t)` the power series converges fast: its radius is at least pi."""


class AngleSeries:
    """The logarithm of the characteristic function by a power series in the frequency.

    The coefficients are sums over the values, so the cost of many values is paid once and not for
    every frequency; without weights not for every point t either, as they are sums of powers of the
    distances from the middle of all points.

    Parameters
    ----------
    frequencies : array
        In order; no `ω u (v - t)` may be larger than `LARGEST_SERIES_ANGLE`.
    values, weights, counts, keep : array
        The records.
    first, last : float
        The ends of the points.
    """

    def __init__(
        self,
        frequencies: FloatArray,
        values: FloatArray,
        weights: FloatArray,
        counts: FloatArray,
        keep: FloatArray,
        first: float,
        last: float,
    ) -> None:
        widest = max(float(np.abs(weights * (values - end)).max()) for end in (first, last))
        angle = float(frequencies[-1]) * widest
        # The logarithm is below 6.5 on the circle of radius 3, which bounds all coefficients
        # (Cauchy).
        terms = 4 + math.ceil((38 + math.log(counts.sum())) / math.log(3 / angle))
        different, which = np.unique(keep, return_inverse=True)
        self.scale, self.middle = widest, 0.5 * (first + last)
        self.values, self.weights = (values - self.middle) / widest, weights
        self.factors = counts * _bernoulli_cumulants(different, terms)[:, which]
        # (i w)^m alternates between the two parts with signs i, -1, -i, 1; the first is left out.
        orders = np.arange(terms + 1)
        self.powers = np.where(orders % 4 < 2, 1.0, -1.0)[:, None] * (
            (frequencies * widest) ** orders[:, None]
        )
        self.moments = None if (weights != 1).any() else self._moments()

    def _moments(self) -> FloatArray:
        """Return what the sums for all points are made of, binomials included."""
        terms = len(self.factors)
        moments = np.zeros((terms, terms))
        for start in range(0, len(self.values), _VALUES_AT_A_TIME):
            some = slice(start, start + _VALUES_AT_A_TIME)
            moments += self.factors[:, some] @ np.vander(self.values[some], terms, True)
        return moments * [[float(math.comb(m, j)) for j in range(terms)] for m in range(terms)]

    def logarithm(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what `log_characteristic` does."""
        shifts = (self.middle - points) / self.scale
        orders, sums = range(len(self.factors)), np.zeros((len(points), len(self.factors)))
        if self.moments is None:
            steps = self.weights * (self.values + shifts[:, None])
            turns = np.ones_like(steps)
            for m in orders:
                sums[:, m] = turns @ self.factors[m]
                turns *= steps
        else:
            turns = np.vander(shifts, len(self.factors), True)
            for m in orders:
                sums[:, m] = turns[:, m::-1] @ self.moments[m, : m + 1]
        return sums[:, 2::2] @ self.powers[2::2], sums[:, 3::2] @ self.powers[3::2]


def _bernoulli_cumulants(keep: FloatArray, terms: int) -> FloatArray:
    """Return the Taylor coefficients of `ln(1 - k + k e^x)`, one order in each row.

    The derivative is the logistic function p, which satisfies p' = p (1 - p).
    """
    logistic = np.zeros((terms, len(keep)))
    logistic[0] = keep
    for order in range(terms - 1):
        square = (logistic[: order + 1] * logistic[order::-1]).sum(axis=0)
        logistic[order + 1] = (logistic[order] - square) / (order + 1)
    coefficients = np.zeros((terms + 1, len(keep)))
    coefficients[1:] = logistic / np.arange(1, terms + 1)[:, None]
    return coefficients


def terms_of_power_sums(counts: FloatArray, keep: FloatArray) -> int:
    """Return how many power sums give the logarithm to 1e-14."""
    rare = np.minimum(keep, 1 - keep)
    odds, weight = float((rare / (1 - rare)).max(initial=0.0)), float(counts.sum())
    if odds == 0:
        return 1
    if odds >= 0.9:
        return _MOST_POWER_SUMS + 1
    return max(1, math.ceil(math.log(1e-14 * (1 - odds) / weight) / math.log(odds)))


class PowerSums:
    """The logarithm of the characteristic function by sums over the values, formed once.

    With q the rarer of the two outcomes of a record and z its turn, `ln(1 - q + q z)` is
    `ln(1 - q) - Σ_l (-q/(1 - q))^l z^l / l`. The turn is `e^(±iω(v - t))`, so the sum over the
    values of every power is one of v only times a power of `e^(±iωt)`: for many points t nothing
    is summed over the values again.
    """

    def __init__(
        self, frequencies: FloatArray, values: FloatArray, counts: FloatArray, keep: FloatArray
    ) -> None:
        self.frequencies = frequencies
        often = keep > 0.5
        rare = np.minimum(keep, 1 - keep)
        odds = rare / (1 - rare)
        terms = terms_of_power_sums(counts, keep)
        self.constant = float((counts * np.log1p(-rare)).sum())
        # The expected turn, less that of the outcome that was taken out first.
        self.first = float((counts * (often - keep) * values).sum())
        self.second = float((counts * (often - keep)).sum())
        self.sums = {}
        for sign, group in ((1.0, ~often), (-1.0, often)):
            powers = np.arange(1, terms + 1)[:, None]
            weights = -counts[group] * (-odds[group]) ** powers / powers
            self.sums[sign] = [
                np.exp(1j * sign * (power + 1) * np.outer(frequencies, values[group]))
                @ weights[power]
                for power in range(terms)
            ]

    def logarithm(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what `log_characteristic` does."""
        total = np.full((len(points), len(self.frequencies)), self.constant, dtype=np.complex128)
        total += 1j * np.outer(self.first - points * self.second, self.frequencies)
        for sign, sums in self.sums.items():
            turn = np.exp(-1j * sign * np.outer(points, self.frequencies))
            powers = np.zeros_like(turn)
            for power_sum in reversed(sums):
                powers = (powers + power_sum) * turn
            total += powers
        return total.real, total.imag


@compiled
def log_characteristic(
    frequencies: FloatArray,
    points: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    counts: FloatArray,
    keep: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of the characteristic function of S - t N, less its expected phase."""
    real = np.zeros((len(points), len(frequencies)))
    imaginary = np.zeros((len(points), len(frequencies)))
    for i in range(len(points)):
        for j in range(len(frequencies)):
            size, phase = 0.0, 0.0
            for v in range(len(values)):
                k = keep[v]
                if k == 0.0 or k == 1.0:
                    continue
                angle = frequencies[j] * weights[v] * (values[v] - points[i])
                # 1 - k + k e^(i angle), divided by its expected turn e^(i k angle). For k > 1/2 the
                # turn of the other outcome is taken out first, so that no branch is crossed.
                small, sign = (k, 1.0) if k <= 0.5 else (1 - k, -1.0)
                half = math.sin(0.5 * angle)
                # What the real part lacks to 1, to all digits: of many records all of them count.
                lack = 2 * small * half * half
                b = small * math.sin(angle)
                size += counts[v] * 0.5 * math.log1p(lack * (lack - 2) + b * b)
                phase += counts[v] * sign * (math.atan2(b, 1 - lack) - small * angle)
            real[i, j] = size
            imaginary[i, j] = phase
    return real, imaginary
