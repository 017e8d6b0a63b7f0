"""The expressions that every bound of this package is made of, without cancellation or overflow.

They are exact to a few units in the last place for every finite argument: the textbook forms lose
all digits for small epsilon and overflow above 709.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit.errors import InvalidInput

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Bounds: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper bounds on numbers."""

SMALLEST_POSITIVE = 5e-324

_LARGEST_POWER = 700.0
_LARGEST_PRODUCT = 1e300
# Above this, e^epsilon - 1 and e^epsilon are the same floating-point number.
_LARGE = 40.0


_NO_NUMBERS = (str, bytes, bytearray, type(None))


def has_masked(values: object) -> bool:
    """Return whether values, or rows of values in a list, are masked: NumPy drops such masks.

    Examples
    --------
    >>> has_masked([1.0, np.ma.masked]), has_masked(np.ma.array([1.0]))
    (True, False)
    """
    if isinstance(values, list | tuple):
        return any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in values)
    return bool(np.ma.is_masked(values))


def as_array(values: ArrayLike) -> FloatArray:
    """Return `values` as an array of floats, or refuse what NumPy would only take for numbers.

    These are the real parts of complex numbers, what is below a mask, and the digits of a text.

    Examples
    --------
    >>> as_array([1, 2])
    array([1., 2.])
    """
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    if has_masked(values):
        raise InvalidInput("Expected numbers, and some of them are masked; leave these out first.")
    try:
        if isinstance(values, bytes | bytearray | memoryview):
            raise TypeError
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError
        if array.dtype.kind == "O" and any(isinstance(item, _NO_NUMBERS) for item in array.flat):
            raise TypeError
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise InvalidInput("Expected numbers, in rows of equal length.") from error


def log_mix(epsilon: ArrayLike, weight: ArrayLike) -> FloatArray:
    """Return `ln(1 + (e^epsilon - 1) weight)`, the loss of keeping a record with that probability.

    Examples
    --------
    >>> float(log_mix(1.0, 0.1)), float(log_mix(1e-12, 0.5)), float(log_mix(800.0, 1.0))
    (0.1585650787404..., 5.0000000000012...e-13, 800.0)
    """
    epsilon, weight = as_array(epsilon), as_array(weight)
    # In two steps, of which neither overflows as long as the product does not, up to an epsilon at
    # which e^epsilon is so large that only the tiniest weights could make up for it.
    rest = np.minimum(np.maximum(epsilon - _LARGEST_POWER, 0.0), _LARGEST_POWER)
    power = np.expm1(np.minimum(epsilon, _LARGEST_POWER))
    with np.errstate(divide="ignore", over="ignore"):
        product = power * weight * np.exp(rest)
        # A sum of logarithms loses digits where they cancel, and so is for large ones only.
        large = np.logaddexp(np.log1p(-weight), np.log(weight) + epsilon)
    in_reach = (product < _LARGEST_PRODUCT) & (epsilon <= 2 * _LARGEST_POWER)
    return np.where(in_reach, np.log1p(product), large)


def log_unmix(loss: ArrayLike, weight: ArrayLike) -> FloatArray:
    """Return the `epsilon` with `log_mix(epsilon, weight) = loss`, for `0 < weight <= 1`.

    Examples
    --------
    >>> float(log_unmix(1.0, 0.1))
    2.90047709788938...
    """
    loss, weight = as_array(loss), as_array(weight)
    with np.errstate(over="ignore", divide="ignore"):
        ratio = np.expm1(np.minimum(loss, _LARGE)) / weight
        small = np.log1p(ratio)
        # A tiny weight, or a large loss: the ratio is so large that 1 more does not count.
        steep = np.log(np.expm1(np.minimum(loss, _LARGE))) - np.log(weight)
        large = loss - np.log(weight) + np.log1p((weight - 1) * np.exp(-loss))
    return np.where(loss < _LARGE, np.where(ratio < 1e300, small, steep), large)


def expm1_ratio(numerator: ArrayLike, denominator: ArrayLike) -> FloatArray:
    """Return `(e^numerator - 1) / (e^denominator - 1)` for a positive denominator.

    Examples
    --------
    >>> float(expm1_ratio(2.0, 1.0)), float(expm1_ratio(900.0, 899.0))
    (3.71828182..., 2.71828182...)
    """
    numerator, denominator = as_array(numerator), as_array(denominator)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.exp(numerator - denominator) * np.expm1(-numerator) / np.expm1(-denominator)


def raised(value: float, error: float) -> float:
    """Return a number not below the true one, of which `value` may miss the share `error`.

    Examples
    --------
    >>> raised(0.5, 0.0), raised(0.5, 2.0**-50) > 0.5
    (0.5, True)
    """
    return math.nextafter(value * (1 + error), math.inf) if value > 0 < error else value


def not_below(value: Fraction) -> float:
    """Return the smallest floating-point number that is at least `value`, infinity if none is.

    Examples
    --------
    >>> not_below(Fraction(1, 2)), not_below(Fraction(1, 3)) > Fraction(1, 3)
    (0.5, True)
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return math.nextafter(nearest, math.inf) if nearest < value else nearest


def not_above(value: Fraction) -> float:
    """Return the largest floating-point number that is at most `value` >= 0.

    Examples
    --------
    >>> not_above(Fraction(1, 2)), not_above(Fraction(1, 3)) < Fraction(1, 3)
    (0.5, True)
    """
    nearest = float(value)
    return math.nextafter(nearest, 0.0) if nearest > value else nearest


def error_ratios(errors: FloatArray, baseline: FloatArray) -> FloatArray:
    """Return errors divided by others: 1 where both are 0, infinite where only the other is.

    Examples
    --------
    >>> error_ratios(np.array([2.0, 0.0, 2.0]), np.array([1.0, 0.0, 0.0]))
    array([ 2.,  1., inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((errors == 0) & (baseline == 0), 1.0, errors / baseline)


def at_most(value: FloatArray, relative: float = 0.0) -> FloatArray:
    """Return what numbers with this relative error are at most; what is zero is zero.

    Where the smallest positive floats have too few digits for it, one of them is added.

    Examples
    --------
    >>> at_most(np.array([0.0, 5e-324, 0.5]), 1e-3)
    array([0.000e+000, 9.881e-324, 5.005e-001])
    """
    return np.where(value > 0, value * (1 + relative) + SMALLEST_POSITIVE, 0.0)


def at_least(value: FloatArray, relative: float = 0.0) -> FloatArray:
    """Return what numbers with this relative error are at least.

    Examples
    --------
    >>> at_least(np.array([0.0, 5e-324, 0.5]), 1e-3)
    array([0.    , 0.    , 0.4995])
    """
    return np.maximum(value * (1 - relative) - SMALLEST_POSITIVE, 0.0)


def share_of(share: float, delta: FloatArray) -> FloatArray:
    """Return a product, rounded up, that is zero only if one of its factors is.

    Examples
    --------
    >>> share_of(0.25, np.array([0.0, 5e-324, 0.5]))
    array([0.00e+000, 9.88e-324, 1.25e-001])
    """
    some = (delta > 0) & (share > 0)
    return at_most(np.where(some, np.maximum(share * delta, SMALLEST_POSITIVE), 0.0), 2.0**-52)


@cache
def gauss_legendre(number: int) -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of the Gauss-Legendre rule on [-1, 1].

    Examples
    --------
    >>> nodes, weights = gauss_legendre(3)
    >>> round(float(weights @ nodes**4), 12)
    0.4
    """
    nodes, weights = np.polynomial.legendre.leggauss(number)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def panel(low: float, high: float, number: int) -> tuple[FloatArray, FloatArray]:
    """Return the nodes and weights of the Gauss-Legendre rule between two numbers.

    Examples
    --------
    >>> nodes, weights = panel(0.0, 2.0, 3)
    >>> round(float(weights @ nodes**2), 12)
    2.666666666667
    """
    points, shares = gauss_legendre(number)
    half = (high - low) / 2
    return low + half * (points + 1), half * shares
