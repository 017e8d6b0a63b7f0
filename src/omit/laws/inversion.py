"""Searches in one variable: roots, ends of what holds, and steps to the side that keeps a promise.

A root is right to its last digits only. Where it becomes a promise, the search ends on the private
side: `largest_not_above` and `least_not_above` check the number they return, `narrow` and
`last_integer` return ends that were tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from omit._numeric import SMALLEST_POSITIVE, FloatArray, as_array

# No epsilon in use comes near this; a function still below its target here never reaches it.
_LARGEST_EPSILON = 1e300
_BISECTIONS = 34
_LAST_DIGITS = 2.0**-52
_MOST_STEPS = 2200


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
    value, *rest = np.broadcast_arrays(as_array(values), *map(as_array, parameters))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        upper = np.maximum(value, 1e-300)
        short = function(upper, *rest) < value
        while (short & (upper < _LARGEST_EPSILON)).any():
            upper = np.where(short & (upper < _LARGEST_EPSILON), upper * 8, upper)
            short = function(upper, *rest) < value
        root = _roots(
            lambda epsilon, value, *rest: function(epsilon, *rest) - value, upper, (value, *rest)
        )
        start = function(np.zeros_like(value), *rest)
    root = np.where(short, np.inf, root)
    return as_array(np.where(start > value, np.nan, np.where(start == value, 0.0, root)))


def _roots(
    function: Callable[..., FloatArray], upper: FloatArray, parameters: Sequence[FloatArray]
) -> FloatArray:
    """Return the roots between 0 and `upper`, element by element, by Chandrupatla's method.

    It interpolates by a parabola through the last three points where that can be trusted, and
    bisects elsewhere. (scipy has the same, and takes a third of a second to be imported.)

    References
    ----------
    T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a
    nonlinear function without using derivatives", Advances in Engineering Software 28 (1997).
    """
    newest, opposite = np.zeros_like(upper), upper
    at_newest, at_opposite = function(newest, *parameters), function(opposite, *parameters)
    share, best = np.full_like(upper, 0.5), upper
    for _ in range(_MOST_STEPS):
        tried = newest + share * (opposite - newest)
        at_tried = function(tried, *parameters)
        # The root stays between the newest point and the opposite one.
        same = np.sign(at_tried) == np.sign(at_newest)
        former, at_former = np.where(same, (newest, at_newest), (opposite, at_opposite))
        opposite, at_opposite = np.where(same, (opposite, at_opposite), (newest, at_newest))
        newest, at_newest = tried, at_tried
        nearer = np.abs(at_newest) < np.abs(at_opposite)
        best, at_best = np.where(nearer, (newest, at_newest), (opposite, at_opposite))
        width, digits = np.abs(opposite - newest), 4 * _LAST_DIGITS * np.abs(best)
        searched = (at_best != 0) & (width > digits)
        if not searched.any():
            break
        share = _interpolated(newest, opposite, former, at_newest, at_opposite, at_former)
        least = 0.5 * digits / width
        # What was found is left where it is.
        share = np.where(searched, np.clip(share, least, 1 - least), 0.0)
    return as_array(best)


def _interpolated(
    a: FloatArray, b: FloatArray, c: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray
) -> FloatArray:
    """Return at which share of the way from a to b the inverse parabola through all three is 0.

    Half, where the parabola may turn between them.
    """
    place, height = (a - b) / (c - b), (fa - fb) / (fc - fb)
    trusted = (1 - np.sqrt(1 - place) < height) & (height < np.sqrt(place))
    parabola = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return np.where(trusted & np.isfinite(parabola), parabola, 0.5)


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


def least_not_above(
    falling: Callable[[float], float], low: float, high: float, precision: float
) -> float:
    """Return the least argument, up to the precision, at which a falling function is not above 0.

    Smooth functions take a dozen steps; bisection would take three times as many.

    Examples
    --------
    >>> 2 <= least_not_above(lambda x: 4 - x**2, 0.0, 5.0, 1e-9) < 2 + 1e-9
    True
    """
    root = root_of(falling, low, high, xtol=precision / 4)
    step = precision / 2
    while falling(root) > 0:
        root, step = min(root + step, high), 2 * step
    return root


def root_of(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
) -> float:
    """Return where a function that changes its sign between two numbers is 0, by Brent's method.

    The last number tried if this takes more than `maxiter` steps. (scipy has the same, and takes a
    third of a second to be imported.)

    Raises
    ------
    ValueError
        If the function has the same sign at both.

    Examples
    --------
    >>> round(root_of(lambda x: x**2 - 2, 0.0, 2.0), 9)
    1.414213562
    """
    best, at_best, other, at_other = high, function(high), low, function(low)
    if at_best == 0 or at_other == 0:
        return best if at_best == 0 else other
    if (at_best > 0) == (at_other > 0):
        raise ValueError(f"The function has the same sign at {low:g} and at {high:g}.")
    former, at_former, step = other, at_other, best - other
    before_last = step
    for _ in range(maxiter):
        if (at_former > 0) == (at_best > 0):
            former, at_former = other, at_other
            step = before_last = best - other
        if abs(at_former) < abs(at_best):
            other, best, former = best, former, best
            at_other, at_best, at_former = at_best, at_former, at_best
        close = 0.5 * (xtol + rtol * abs(best))
        half = 0.5 * (former - best)
        if at_best == 0 or abs(half) <= close:
            break
        if abs(before_last) < close or abs(at_other) <= abs(at_best):
            step = before_last = half
        else:
            proposed = _brent_step((other, at_other), (best, at_best), (former, at_former))
            if 2 * abs(proposed) < min(3 * abs(half) - close, abs(before_last)) and (
                proposed > 0
            ) == (half > 0):
                step, before_last = proposed, step
            else:
                step = before_last = half
        other, at_other = best, at_best
        best += step if abs(step) > close else math.copysign(close, half)
        at_best = function(best)
    return float(best)


def _brent_step(
    other: tuple[float, float], best: tuple[float, float], former: tuple[float, float]
) -> float:
    """Return the step from the best of three points to the root of a line or inverse parabola."""
    ratio = best[1] / other[1]
    if other[0] == former[0]:
        return (former[0] - best[0]) * ratio / (ratio - 1) if ratio != 1 else math.inf
    q, r = other[1] / former[1], best[1] / former[1]
    p = ratio * ((former[0] - best[0]) * q * (q - r) - (best[0] - other[0]) * (r - 1))
    below = (q - 1) * (r - 1) * (ratio - 1)
    return -p / below if below else math.inf


def walk(
    holds: Callable[[float], bool], start: float, step: float, limit: float | None = None
) -> float:
    """Return the first of `start, start + step, ...` at which a condition does not hold.

    Or the first beyond the limit, whatever holds there.

    Examples
    --------
    >>> walk(lambda x: x**2 < 20, 0.0, 1.0), walk(lambda x: True, 0.0, -1.0, limit=-3.0)
    (5.0, -4.0)
    """
    while holds(start):
        start += step
        if limit is not None and (start - limit) * step > 0:
            break
    return start


def narrow(
    reached: Callable[[float], bool],
    low: float,
    high: float,
    *,
    enough: Callable[[float, float], bool],
    middle: Callable[[float, float], float] = lambda low, high: 0.5 * (low + high),
    halvings: int | None = None,
) -> tuple[float, float]:
    """Return numbers closely below and above the end of what is not reached, by bisection.

    Every upper end that is returned has been tried, or is the one given: it is reached even if the
    condition is not monotone.

    Parameters
    ----------
    reached : callable
        False at `low` and true at `high`.
    low, high : float
        Between these.
    enough : callable
        Tells whether two ends are close enough.
    middle : callable
        What is tried between two ends.
    halvings : int, optional
        How many numbers are tried at most.

    Examples
    --------
    >>> narrow(lambda x: x >= 0.3, 0.0, 1.0, enough=lambda low, high: high - low <= 0.25)
    (0.25, 0.5)
    """
    tried = 0
    while not enough(low, high) and tried != halvings:
        between = middle(low, high)
        low, high = (low, between) if reached(between) else (between, high)
        tried += 1
    return low, high


def last_integer(
    holds: Callable[[int], bool], low: int, high: int | None = None, *, start: int | None = None
) -> int:
    """Return the last whole number at which a condition holds that holds up to there.

    Parameters
    ----------
    holds : callable
        The condition.
    low : int
        A number at which it holds; it is not tried.
    high : int, optional
        A number at which it does not hold; it is not tried. If not given, it is looked for from
        `start` on, in steps that double.
    start : int, optional
        Near where the end is expected.

    Examples
    --------
    >>> last_integer(lambda x: x**2 <= 50, 0, 100), last_integer(lambda x: x < 9, 0, start=3)
    (7, 8)
    """
    if high is None:
        first, step = max(low, low if start is None else start), 1
        if first > low and not holds(first):
            high = first
            while high - step > low and not holds(high - step):
                high, step = high - step, 2 * step
            low = max(high - step, low)
        else:
            low = first
            while holds(low + step):
                low, step = low + step, 2 * step
            high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def last_increase(slope: Callable[..., FloatArray], *parameters: FloatArray) -> FloatArray:
    """Return the argument in [0, 1] up to which a slope is positive, element by element.

    Examples
    --------
    >>> last_increase(lambda x, top: top - x, np.array([-1.0, 0.25, 2.0]))
    array([0.  , 0.25, 1.  ])
    """
    parameters = tuple(np.broadcast_arrays(*parameters))
    zero = np.zeros(parameters[0].shape)
    result = np.where(slope(zero, *parameters) > 0, 1.0, 0.0)
    inside = (result > 0) & (slope(zero + 1, *parameters) < 0)
    if not inside.any():
        return result
    chosen = [array[inside] for array in parameters]
    lower, upper = np.zeros(chosen[0].shape), np.ones(chosen[0].shape)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (lower + upper)
        rising = slope(middle, *chosen) > 0
        lower = np.where(rising, middle, lower)
        upper = np.where(rising, upper, middle)
    result[inside] = 0.5 * (lower + upper)
    return result
