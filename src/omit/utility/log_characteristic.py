"""The logarithm of the characteristic function of a thinned sum, computed in two ways.

For `S - t N = Σ_v (v - t) Bin(n_v, k_v)` it is `Σ_v n_v ln(1 - k_v + k_v e^(iω(v - t)))`, less the
phase of its mean: term by term in compiled code, or by a power series in the frequency where that
converges fast.
"""

from __future__ import annotations

import math

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray

LARGEST_SERIES_ANGLE = 2.3
"""Up to this angle `ω (v - t)` the power series converges fast: its radius is at least pi."""


def log_characteristic_by_series(
    frequencies: FloatArray,
    points: FloatArray,
    values: FloatArray,
    counts: FloatArray,
    keep: FloatArray,
    largest_angle: float,
) -> tuple[FloatArray, FloatArray]:
    """Return what `log_characteristic` does, by a power series in the frequency.

    The coefficients are sums over the values, so the cost of many values is paid once and not
    for every frequency.
    """
    terms = 4 + math.ceil((38 + math.log(counts.sum())) / math.log(math.pi / largest_angle))
    different, which = np.unique(keep, return_inverse=True)
    cumulants = counts * _bernoulli_cumulants(different, terms)[:, which]
    centered = values - points[:, None]
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


@compiled
def log_characteristic(
    frequencies: FloatArray,
    points: FloatArray,
    values: FloatArray,
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
                angle = frequencies[j] * (values[v] - points[i])
                # 1 - k + k e^(i angle), divided by its expected turn e^(i k angle). For k > 1/2 the
                # turn of the other outcome is taken out first, so that no branch is crossed.
                small, sign = (k, 1.0) if k <= 0.5 else (1 - k, -1.0)
                half = math.sin(0.5 * angle)
                a = 1 - 2 * small * half * half
                b = small * math.sin(angle)
                size += counts[v] * 0.5 * math.log1p((a - 1) * (a + 1) + b * b)
                phase += counts[v] * sign * (math.atan2(b, a) - small * angle)
            real[i, j] = size
            imaginary[i, j] = phase
    return real, imaginary
