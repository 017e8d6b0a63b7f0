"""Two bounds on what outlier-score suppression leaves of epsilon, as plain vectorised functions.

Every record `x` of `D` is deleted independently with probability `m + (M - m) z`, where `z` is
the mean distance of `x` to the records of `D` and distances are at most 1. Write `E = e^epsilon`.

`mixture_epsilon` is the default of this package: it holds for every metric, every database, both
directions and all `0 <= m <= M <= 1`, with a proof on paper (documentation, "The mixture bound"),
and no bound can be lower where `m + M <= 1`.

`published_epsilon` is Theorem 5.4 of the omitting-records paper, for `0 < m <= M < 1`. Its last
step was verified by computer for a grid of values; `omit verify theorem-5.4` repeats that.

Everything is divided through by `E`, so that no term overflows, and written in differences that
stay exact when `M - m` or epsilon is tiny.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array, log_mix
from omit.errors import InvalidInput
from omit.laws.inversion import invert_increasing, last_increase

# A mechanism at a smaller epsilon needs so much noise that nothing is left to release.
SMALLEST_PUBLISHED_BASE = 1e-9

# Elements worked on at once, so that the intermediate arrays stay in the processor's cache.
_BLOCK = 4096


def mixture_epsilon(epsilon: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the universal mixture bound for outlier-score suppression.

    With `x = 1 + (E-1)m`, `b = E - (E-1)M`, `A = E - (E-1)m` and `B = (E-1)(M-m)`, it is
    `ln b + B/x` where `m + M <= 1`, and else the largest value over `a` in [1/2, 1] of
    `ln(A - Ba) + (1-a)B/b + (2a-1)B/x`.

    Examples
    --------
    >>> mixture_epsilon([0.25, 1.0, 4.0], [0.1, 0.5, 0.6], [0.2, 0.6, 0.9]).round(10)
    array([0.23236984, 0.62371866, 3.93134017])
    """
    return _in_blocks(_mixture, *_checked(epsilon, m, M))


def mixture_base_epsilon(target: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the epsilon of the mechanism for which `mixture_epsilon` is `target`.

    It exists for every target; `inf` where everything is deleted (`m = 1`).

    Examples
    --------
    >>> mixture_base_epsilon(1.0, 0.5, [0.5, 0.6]).round(10)
    array([1.48988013, 1.48129654])
    """
    return invert_increasing(partial(_in_blocks, _mixture), *_checked(target, m, M))


def published_epsilon(epsilon: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return epsilon of Theorem 5.4: the largest of the three `published_terms`.

    Examples
    --------
    >>> published_epsilon([0.0, 0.25, 1.0], [0.1, 0.1, 0.5], [0.2, 0.2, 0.6]).round(10)
    array([1.        , 1.20475172, 0.74413122])
    """
    return _largest_published(*_checked(epsilon, m, M, inside=True))


def published_base_epsilon(target: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the epsilon of the mechanism for which `published_epsilon` is `target`.

    `nan` where no mechanism reaches the target: the bound does not vanish with epsilon.

    Examples
    --------
    >>> published_base_epsilon([0.25, 1.0, 1.0], [0.5, 0.5, 0.1], [0.6, 0.6, 0.3]).round(10)
    array([0.11107281, 1.36198047,        nan])
    """
    target, m, M = _checked(target, m, M, inside=True)
    base = invert_increasing(_largest_published, target, m, M)
    return np.where((base < SMALLEST_PUBLISHED_BASE) & (m < M), np.nan, base)


def published_terms(
    epsilon: ArrayLike, m: ArrayLike, M: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the three terms of Theorem 5.4: the maxima over p of l1 and l2, and l3.

    Proposition B.10 gives the maximisers in closed form, by roots of cubics that lose their
    digits for small epsilon and overflow for large; here they are found by bisection of the
    derivative, which changes sign at most once, from plus to minus.
    """
    first, second, third = _in_blocks(_published, *_checked(epsilon, m, M, inside=True))
    return first, second, third


def maximiser_l1(epsilon: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the p in [0, 1] at which l1 of Theorem 5.4 is largest."""
    return last_increase(_slope_l1, *_scaled(*_checked(epsilon, m, M, inside=True)))


def maximiser_l2(epsilon: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the p in [0, 1] at which l2 of Theorem 5.4 is largest."""
    return last_increase(_slope_l2, *_scaled(*_checked(epsilon, m, M, inside=True)))


def _checked(
    epsilon: ArrayLike, m: ArrayLike, M: ArrayLike, *, inside: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the arguments as arrays, or refuse what no bound is defined for."""
    m, M = as_array(m), as_array(M)
    ordered = (m > 0) & (m <= M) & (M < 1) if inside else (m >= 0) & (m <= M) & (M <= 1)
    if not ordered.all():
        wanted = "0 < m <= M < 1" if inside else "0 <= m <= M <= 1"
        raise InvalidInput(f"Expected {wanted} everywhere.")
    return _validate.epsilons(epsilon), m, M


def _in_blocks(function: Callable[..., FloatArray], *arguments: ArrayLike) -> FloatArray:
    """Apply a function to blocks of the broadcast arguments; extra output axes come first."""
    arrays = np.broadcast_arrays(*map(as_array, arguments))
    shape = arrays[0].shape
    flat = [array.ravel() for array in arrays]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        parts = [
            function(*(array[start : start + _BLOCK] for array in flat))
            for start in range(0, max(flat[0].size, 1), _BLOCK)
        ]
    result = np.concatenate(parts, axis=-1)
    return result.reshape(result.shape[:-1] + shape)


def _largest_published(epsilon: FloatArray, m: FloatArray, M: FloatArray) -> FloatArray:
    return as_array(_in_blocks(_published, epsilon, m, M).max(axis=0))


def _scaled(
    epsilon: FloatArray, m: FloatArray, M: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return `1/E`, `1 - 1/E`, `m` and `M`."""
    return np.exp(-epsilon), -np.expm1(-epsilon), m, M


def _mixture(epsilon: FloatArray, m: FloatArray, M: FloatArray) -> FloatArray:
    t, s, m, M = _scaled(epsilon, m, M)
    x, b, B = t + s * m, t + s * (1 - M), s * (M - m)
    c = 2 / x - 1 / b
    stationary = np.where(c > 0, (t + s * (1 - m) - 1 / c) / B, 0.5)
    a = np.where(m <= 1 - M, 1.0, np.clip(stationary, 0.5, 1.0))
    a = np.where(B > 0, a, 1.0)
    keep = (1 - M) + (M - m) * (1 - a)
    hub = np.where(a < 1, (1 - a) * B / b, 0.0)
    # Of a database without outliers x may vanish, where epsilon is large.
    return log_mix(epsilon, keep) + hub + np.where(B > 0, (2 * a - 1) * B / x, 0.0)


def _published(epsilon: FloatArray, m: FloatArray, M: FloatArray) -> FloatArray:
    t, s, m, M = _scaled(epsilon, m, M)
    spread = M - m
    p = last_increase(_slope_l1, t, s, m, M)
    keep = 1 - m - p * spread
    l1 = log_mix(epsilon, keep) + p * spread / m + p * (1 - p) * spread / keep
    p = last_increase(_slope_l2, t, s, m, M)
    share = (1 - p) / (2 - p)
    keep = (1 - M) + share * spread
    l2 = log_mix(epsilon, keep) + p * spread / m + share * spread / (1 - M)
    kept = np.where(epsilon < 1, -np.log1p(-s * (1 - M)), epsilon - log_mix(epsilon, M))
    return np.stack([l1, l2, kept + spread / (1 - m)])


def _slope_l1(
    p: FloatArray, t: FloatArray, s: FloatArray, m: FloatArray, M: FloatArray
) -> FloatArray:
    """Return the derivative of l1 in p, divided by M - m."""
    keep = 1 - m - p * (M - m)
    return 1 / m - s / (t + s * keep) + ((1 - 2 * p) + p * (1 - p) * (M - m) / keep) / keep


def _slope_l2(
    p: FloatArray, t: FloatArray, s: FloatArray, m: FloatArray, M: FloatArray
) -> FloatArray:
    """Return the derivative of l2 in p, divided by M - m."""
    keep = (1 - M) + (1 - p) / (2 - p) * (M - m)
    return 1 / m - (s / (t + s * keep) + 1 / (1 - M)) / (2 - p) ** 2
