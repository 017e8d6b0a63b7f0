"""Exponential integrals times an exponential, so that they neither overflow nor vanish."""

from __future__ import annotations

import math

from omit._compile import compiled

_EULER_GAMMA = 0.5772156649015329


@compiled
def antiderivative(a: float, y: float) -> float:
    """Return that of `e^(a y) / y`, divided by `e^(a y)`; it vanishes at -∞ or at ∞."""
    return scaled_ei(a * y) if a > 0.0 else -scaled_e1(-a * y)


@compiled
def scaled_ei(x: float) -> float:
    """Return `e^(-x) Ei(x)` for positive x."""
    if x > 45.0:
        # The asymptotic series; its smallest term is below e^(-45).
        term, total = 1.0, 1.0
        for k in range(1, 46):
            term *= k / x
            total += term
            if term < 1e-17:
                break
        return total / x
    term, total = 1.0, 0.0
    for k in range(1, 300):
        term *= x / k
        total += term / k
        if term < 1e-18 * total * k:
            break
    return math.exp(-x) * (_EULER_GAMMA + math.log(x) + total)


@compiled
def scaled_e1(x: float) -> float:
    """Return `e^x E₁(x)` for positive x."""
    if x < 1.0:
        term, total = 1.0, 0.0
        for k in range(1, 40):
            term *= -x / k
            total += term / k
            if abs(term) < 1e-18:
                break
        return math.exp(x) * (-_EULER_GAMMA - math.log(x) - total)
    # Lentz's continued fraction.
    b = x + 1.0
    d = 1.0 / b
    c = 1e308
    h = d
    for k in range(1, 500):
        a = -1.0 * k * k
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        step = c * d
        h *= step
        if abs(step - 1.0) < 1e-16:
            break
    return h
