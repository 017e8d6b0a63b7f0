"""Discrete Gaussian noise: its law, and draws that are exact.

The exact sampler is that of Canonne, Kamath and Steinke ("The Discrete Gaussian for Differential
Privacy", 2020, Algorithms 1 to 3): whole numbers and fractions only, no floating-point logarithm,
so nothing is rounded. `draw_discrete_gaussian` inverts a table of the law instead and is what
studies of errors use: it differs by less than 1e-15 in probability and draws millions per second.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.errors import InvalidInput

_LARGEST_VARIANCE = 1e9
_TAIL = 12.5  # e^(-12.5²/2) < 1e-33


def positive_variance(variance: Fraction | float) -> Fraction:
    """Return a variance above 0 as a fraction, or refuse it."""
    number = _validate.finite("variance", variance)  # type: ignore[arg-type]  # or a Fraction
    if not number > 0:
        raise InvalidInput(f"Expected variance={number:g} to be above 0.")
    return Fraction(variance) if isinstance(variance, Rational | Decimal) else Fraction(number)


def half_law(variance: float) -> FloatArray:
    """Return the probabilities of 0, 1, 2, ... up to where less than 1e-30 is left.

    Examples
    --------
    >>> law = half_law(4.0)
    >>> round(float(law[0] + 2 * law[1:].sum()), 12)
    1.0
    """
    variance = float(positive_variance(variance))
    if variance > _LARGEST_VARIANCE:
        raise InvalidInput(
            f"Discrete Gaussian noise of variance {variance:.3g} is too large to compute with; up "
            f"to {_LARGEST_VARIANCE:.0e} works: take a larger epsilon or delta, or delta = 0."
        )
    reach = math.ceil(_TAIL * math.sqrt(variance)) + 2
    z = np.arange(reach + 1, dtype=np.float64)
    with np.errstate(over="ignore"):
        weights = np.exp(-(z**2) / (2 * variance))
    total = weights[0] + 2 * math.fsum(weights[:0:-1].tolist())
    return as_array(weights / total)


def draw_discrete_gaussian(
    variance: Fraction | float, shape: tuple[int, ...], rng: np.random.Generator
) -> IntArray:
    """Return independent draws, by inverting the law; for studies, not for releases."""
    _validate.instance("rng", rng, np.random.Generator)
    shape = tuple(_validate.whole("every size", each) for each in _validate.several("sizes", shape))
    law = half_law(float(positive_variance(variance)))
    whole = np.concatenate([law[:0:-1], law])
    level = np.cumsum(whole)
    drawn = np.searchsorted(level / level[-1], rng.random(shape), side="right")
    return np.minimum(drawn, len(whole) - 1) - (len(law) - 1)


def exact_discrete_gaussian(variance: Fraction, rng: np.random.Generator) -> int:
    """Return one draw that is exact for a rational variance.

    Randomness comes from `rng` as whole numbers below a bound; a release needs a generator fit
    for it.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> [exact_discrete_gaussian(Fraction(4), rng) for _ in range(8)]
    [-1, 3, -1, 4, -6, -2, 1, 2]
    """
    variance = positive_variance(variance)
    _validate.instance("rng", rng, np.random.Generator)
    t = math.isqrt(math.floor(variance)) + 1
    while True:
        y = _discrete_laplace(t, rng)
        distance = abs(y) - variance / t
        if _bernoulli_exp(distance * distance / (2 * variance), rng):
            return y


def _uniform_below(bound: int, rng: np.random.Generator) -> int:
    """Return a uniform whole number in [0, bound), for a bound of any size."""
    if bound <= 2**62:
        return int(rng.integers(bound))
    while True:
        drawn = int.from_bytes(rng.bytes((bound.bit_length() + 7) // 8), "big")
        drawn >>= -bound.bit_length() % 8
        if drawn < bound:
            return drawn


def _bernoulli(probability: Fraction, rng: np.random.Generator) -> bool:
    return _uniform_below(probability.denominator, rng) < probability.numerator


def _bernoulli_exp(exponent: Fraction, rng: np.random.Generator) -> bool:
    """Return True with probability e^-exponent, for an exponent of at least 0."""
    while exponent > 1:
        if not _bernoulli_exp(Fraction(1), rng):
            return False
        exponent -= 1
    k = 1
    while _bernoulli(exponent / k, rng):
        k += 1
    return k % 2 == 1


def _discrete_laplace(t: int, rng: np.random.Generator) -> int:
    """Return a draw with P(y) proportional to e^(-|y|/t)."""
    while True:
        u = _uniform_below(t, rng)
        if not _bernoulli_exp(Fraction(u, t), rng):
            continue
        v = 0
        while _bernoulli_exp(Fraction(1), rng):
            v += 1
        magnitude = u + t * v
        negative = bool(rng.integers(2))
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude
