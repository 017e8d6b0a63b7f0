"""Inverting an increasing function of epsilon, many values at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from omit._numeric import SMALLEST_POSITIVE, FloatArray, as_array

# No epsilon in use comes near this; a function still below its target here never reaches it.
_LARGEST_EPSILON = 1e300


def invert_increasing(
    function: Callable[..., FloatArray], values: ArrayLike, *parameters: ArrayLike
) -> FloatArray:
    """Return the epsilon >= 0 with `function(epsilon, *parameters) = value`, element by element.

    Parameters
    ----------
    function : callable
        Vectorised, and not decreasing in its first argument.
    values : array_like
        Where to invert it.
    *parameters : array_like
        Further arguments of the function, broadcast against `values`.

    Returns
    -------
    ndarray
        `nan` where the function is above the value already at 0, `inf` where it stays below it.

    Examples
    --------
    >>> invert_increasing(lambda epsilon: 2 * epsilon + 1, [0.5, 1.0, 7.0])
    array([nan,  0.,  3.])
    """
    # scipy takes a third of a second to import, and most omissions have a closed inverse.
    from scipy.optimize.elementwise import find_root

    value, *rest = np.broadcast_arrays(as_array(values), *map(as_array, parameters))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        upper = np.maximum(value, 1e-300)
        short = function(upper, *rest) < value
        while (short & (upper < _LARGEST_EPSILON)).any():
            upper = np.where(short & (upper < _LARGEST_EPSILON), upper * 8, upper)
            short = function(upper, *rest) < value
        root = find_root(
            lambda epsilon, value, *rest: function(epsilon, *rest) - value,
            (np.zeros_like(upper), upper),
            args=(value, *rest),
        ).x
        start = function(np.zeros_like(value), *rest)
    root = np.where(short, np.inf, root)
    return as_array(np.where(start > value, np.nan, np.where(start == value, 0.0, root)))


def largest_not_above(function: Callable[[float], float], root: float, limit: float) -> float:
    """Return `root` or the nearest smaller number at which the function does not exceed `limit`.

    An inverse is right to the last digits only; this makes it err on the side of privacy.
    """
    for exponent in range(12):
        if not function(root) > limit:
            return root
        # The tiniest numbers have no digits to give away, only steps.
        step = max(root * 2.0 ** (exponent - 52), SMALLEST_POSITIVE * 8**exponent)
        root = max(root - step, 0.0)
    return 0.0 if function(root) > limit else root
