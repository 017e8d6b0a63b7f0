"""What the answers to two databases tell: the largest loss, or the delta at an epsilon."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from omit._numeric import FloatArray


def delta_of_answers(one: FloatArray, other: FloatArray, epsilon: float) -> float:
    """Return the delta of two laws of finitely many answers: over the worst set of them."""
    return float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum())


def loss_of_laplace_noise(shifts: Sequence[float], scales: Sequence[float]) -> float:
    """Return the largest log ratio of two products of Laplace laws, at the kinks of every axis."""
    loss = 0.0
    for shift, scale in zip(shifts, scales, strict=True):
        points = np.array([-1.0, 0.0, 0.5, 1.0, 2.0]) * shift
        loss += float(np.abs((np.abs(points - shift) - np.abs(points)) / scale).max())
    return loss


def delta_of_gaussian_noise(
    shifts: Sequence[float], scales: Sequence[float], epsilon: float
) -> float:
    """Return the exact delta of two products of normal laws."""
    apart = math.hypot(*(shift / scale for shift, scale in zip(shifts, scales, strict=True)))
    if apart == 0:
        return 0.0
    mass = special.ndtr(apart / 2 - epsilon / apart)
    return float(mass - math.exp(epsilon + special.log_ndtr(-epsilon / apart - apart / 2)))


def delta_of_laplace_laws(
    one: tuple[float, float], other: tuple[float, float], epsilon: float
) -> float:
    """Return the delta of two Laplace laws with centers and scales, between all kinks and signs."""
    (a, s), (b, t) = one, other

    def log_ratio(x: float) -> float:
        return -abs(x - a) / s - math.log(s) + abs(x - b) / t + math.log(t) - epsilon

    def mass(x: float, center: float, scale: float) -> float:
        z = (x - center) / scale
        return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)

    # Between these points the loss is linear.
    left, right = min(a, b), max(a, b)
    far = 2000 * max(s, t)
    edges = [left - far, left, right, right + far]
    for low, high in itertools.pairwise(list(edges)):
        first, last = log_ratio(low), log_ratio(high)
        if (first > 0) != (last > 0):
            edges.append(low + (high - low) * first / (first - last))
    edges.sort()
    total = 0.0
    for low, high in itertools.pairwise(edges):
        if high > low and log_ratio(0.5 * (low + high)) > 0:
            p = mass(high, a, s) - mass(low, a, s)
            q = mass(high, b, t) - mass(low, b, t)
            total += p - math.exp(epsilon) * q
    return total
