"""The logarithm of the characteristic function of a thinned sum, computed in three ways.

For `S - t N = Σ_v u_v (v - t) Bin(n_v, k_v)`, with weights u, it is
`Σ_v n_v ln(1 - k_v + k_v e^(iω u_v (v - t)))`, less the phase of its mean: term by term in compiled
code, by a power series in the frequency where that converges fast, or, if all weights are 1, by
power sums of the values.
"""

from __future__ import annotations

import math

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray

_MOST_POWER_SUMS = 60

LARGEST_SERIES_ANGLE = 2.3
"""Up to this angle `ω u (v - t)` the power series converges fast: its radius is at least pi."""


def log_characteristic_by_series(
    frequencies: FloatArray,
    points: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    counts: FloatArray,
    keep: FloatArray,
    largest_angle: float,
) -> tuple[FloatArray, FloatArray]:
    """Return what `log_characteristic` does, by a power series in the frequency.

    The coefficients are sums over the values, so the cost of many values is paid once and not
    for every frequency.
    """
    # The logarithm is below 6.5 on the circle of radius 3, which bounds all coefficients (Cauchy).
    terms = 4 + math.ceil((38 + math.log(counts.sum())) / math.log(3 / largest_angle))
    different, which = np.unique(keep, return_inverse=True)
    cumulants = counts * _bernoulli_cumulants(different, terms)[:, which]
    centered = weights * (values - points[:, None])
    widest = float(np.abs(centered).max())
    centered /= widest
    powers = np.ones_like(centered)
    real = np.zeros((len(points), len(frequencies)))
    imaginary = np.zeros_like(real)
    scale = np.ones_like(frequencies)
    # (i w)^m alternates between the two parts with signs i, -1, -i, 1; the first term is left out.
    for m in range(1, terms + 1):
        powers = powers * centered
        scale = scale * (frequencies * widest)
        if m == 1:
            continue
        term = np.outer((powers * cumulants[m]).sum(axis=1), scale)
        if m % 2 == 0:
            real += term if m % 4 == 0 else -term
        else:
            imaginary += term if m % 4 == 1 else -term
    return real, imaginary


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
