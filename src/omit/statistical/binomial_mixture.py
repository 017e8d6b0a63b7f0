"""Counts on a secret sample: mixtures of two neighbouring binomials, and how far they diverge.

The answer is `alpha b(a-1) + beta b(a)` against the same with other weights. Its divergence at
`epsilon` is `A` times that of `1 + X` from `X` at another epsilon, `ln(B / A)`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from omit._numeric import SMALLEST_POSITIVE, FloatArray
from omit.statistical.binomial import one_less, one_more

_FEW_UNITS = 8 * 2.0**-53


def left_out_delta(
    n: int, used: int, p: float, epsilon: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on delta of a count over a random `used` of `n` entries.

    If the critical entry is left out, another has the property with probability `p` in its place.
    """
    out = (n - used) / n
    return mixture_delta(used - 1, p, used / n, (out * p, out * (1 - p)), epsilon)


def mixture_delta(
    trials: int, p: float | Fraction, share: float, common: tuple[float, float], epsilon: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the larger divergence between two mixtures of `1 + X` and `X`, `X` binomial.

    The critical entry counts with probability `share`; else the answer is `1 + X` or `X` with the
    weights `common`, whatever the entry is. So `P - e^epsilon Q = A b(a-1) - B b(a)` with
    `A = share - (e^epsilon - 1) common[0]` and `B = e^epsilon share + (e^epsilon - 1) common[1]`.
    The positive part is `A` times that of `1 + X` from `X` at `ln(B / A)`, and zero if `A <= 0`.
    Where the difference `A` loses digits, or many trials make the last ones of the logarithm count,
    the bounds part.

    Examples
    --------
    >>> mixture_delta(3, 0.5, 1.0, (0.0, 0.0), np.array([0.0]))
    (array([0.375]), array([0.375]))
    """
    grow = np.exp(np.minimum(epsilon, 700.0))
    excess = np.expm1(np.minimum(epsilon, 700.0))
    lows: list[FloatArray] = []
    highs: list[FloatArray] = []
    for divergence, (one, zero) in ((one_more, common), (one_less, common[::-1])):
        A, B = share - excess * one, grow * share + excess * zero
        # Each weight was rounded, and so were both terms.
        wrong = _FEW_UNITS * (share + excess * one) if one else 0.0
        for bounds, weight, slack in (
            (lows, A - wrong, _FEW_UNITS),
            (highs, A + wrong, -_FEW_UNITS),
        ):
            some = weight > 0
            inner = np.where(some, np.log(B) - np.log(np.where(some, weight, B)), 0.0)
            inner += slack * (1 + inner)
            value = weight * divergence(trials, p, np.maximum(inner, 0.0))
            # A product that is too small for a float is not zero; lower bounds are rounded down.
            bounds.append(np.where(some, np.maximum(value, SMALLEST_POSITIVE), 0.0))
    return np.maximum(*lows), np.maximum(*highs)
