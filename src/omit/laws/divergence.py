"""Hockey-stick divergences between a distribution on whole numbers and its own shift.

`max(0, f(a - d) - e^epsilon f(a))` summed over `a` is how much better than `e^epsilon` an adversary
tells "the entry adds `d` more" from "it does not". It is summed as it stands, between bounds on the
probabilities; or for the *envelope*, the largest `f(a - d)` over all shifts `0 <= d <= D` at every
`a`: an upper bound for all of these shifts together, close to the largest one where `D` is small
against the spread.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from omit._numeric import SMALLEST_POSITIVE, FloatArray, as_array, at_least, at_most

# Of a float that is far from infinite.
_LARGEST_EXPONENT = 700.0
# Exponentials are rounded, and sums in pairs: some dozens of units in 2^53.
_SUM_ERROR = 1e-14


def hockey_stick(first: FloatArray, second: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Return `sum max(0, first - e^epsilon second)` for every epsilon.

    Examples
    --------
    >>> hockey_stick(np.array([0.2, 0.8]), np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    array([0.3, 0. ])
    """
    epsilons = np.atleast_1d(epsilon)
    result = np.empty(len(epsilons))
    # Terms that are not positive at one epsilon are not at any larger one.
    for done, place in enumerate(np.argsort(epsilons, kind="stable"), start=1):
        difference = first - _grown(second, float(epsilons[place]))
        result[place] = np.maximum(difference, 0.0).sum()
        if done < len(epsilons):
            positive = difference > 0
            if 4 * np.count_nonzero(positive) < 3 * len(positive):
                first, second = first[positive], second[positive]
    return result


def _grown(mass: FloatArray, epsilon: float) -> FloatArray:
    """Return `e^epsilon mass`, where what is zero stays zero and what is too large is infinite."""
    if epsilon <= _LARGEST_EXPONENT:
        return as_array(np.exp(epsilon) * mass)
    # In two steps: e^epsilon alone may leave the range of floats. At twice the exponent whatever is
    # not zero is above 1, the smallest positive float too.
    half = np.exp(min(epsilon, 2 * _LARGEST_EXPONENT) / 2)
    with np.errstate(over="ignore"):
        return as_array((mass * half) * half)


def shifted(mass: FloatArray, shift: int) -> tuple[FloatArray, FloatArray]:
    """Return `f(a - shift)` and `f(a)` over all `a` where either is positive."""
    zeros = np.zeros(shift)
    return np.concatenate([zeros, mass]), np.concatenate([mass, zeros])


Bounds: TypeAlias = tuple[FloatArray, FloatArray]


def divergence_bounds(first: Bounds, second: Bounds, epsilon: FloatArray) -> Bounds:
    """Return bounds on `sum max(0, first - e^epsilon second)` from bounds on their logarithms.

    Upper bounds come from what is most of the first and least of the second, so that no error is
    ever multiplied by `e^epsilon`.

    Parameters
    ----------
    first, second : pair of arrays
        Lower and upper bounds on the logarithms of probabilities, minus infinity for zero.
    epsilon : array
        Ascending.

    Examples
    --------
    >>> half = np.log([0.2, 0.8]), np.log([0.2, 0.8])
    >>> even = np.log([0.5, 0.5]), np.log([0.5, 0.5])
    >>> divergence_bounds(half, even, np.array([0.0, 1.0]))[1].round(12)
    array([0.3, 0. ])
    """
    low, lost = _positive_parts(first[0], second[1], epsilon)
    high, more = _positive_parts(first[1], second[0], epsilon)
    return at_least(np.maximum(low - lost, 0.0), _SUM_ERROR), at_most(high + more, _SUM_ERROR)


def _positive_parts(first: FloatArray, second: FloatArray, epsilon: FloatArray) -> Bounds:
    """Return `sum max(0, e^first - e^(epsilon + second))` for ascending epsilons.

    And what may be lost of it below floats: one of the smallest for every positive term.
    """
    result, lost = np.zeros(len(epsilon)), np.zeros(len(epsilon))
    possible = first > second
    first, second = first[possible], second[possible]
    ratio, mass = first - second, np.exp(first)
    for place, each in enumerate(epsilon.tolist()):
        # Terms that are not positive at one epsilon are not at any larger one.
        positive = ratio > each
        if 4 * np.count_nonzero(positive) < 3 * len(positive):
            ratio, mass, positive = ratio[positive], mass[positive], positive[positive]
        result[place] = (mass * -np.expm1(np.minimum(each - ratio, 0.0))).sum()
        lost[place] = np.count_nonzero(positive) * SMALLEST_POSITIVE
        if not len(ratio):
            break
    return result, lost


def envelope(mass: FloatArray, largest_shift: int, epsilon: FloatArray) -> FloatArray:
    """Return an upper bound on the divergences of all shifts from 0 to the largest.

    Examples
    --------
    >>> mass = np.array([0.25, 0.5, 0.25])
    >>> envelope(mass, 1, np.array([0.5])) >= hockey_stick(*shifted(mass, 1), np.array([0.5]))
    array([ True])
    """
    _, still = shifted(mass, largest_shift)
    return hockey_stick(largest_of_shifts(still, largest_shift), still, epsilon)


def largest_of_shifts(values: FloatArray, largest_shift: int) -> FloatArray:
    """Return the largest of every number and so many before it.

    Examples
    --------
    >>> largest_of_shifts(np.array([1.0, 3.0, 2.0, 0.0, 0.0]), 2)
    array([1., 3., 3., 3., 2.])
    """
    from scipy.ndimage import maximum_filter1d

    # The window covers a - D .. a: its centre is moved by half its width.
    return as_array(
        maximum_filter1d(
            values, largest_shift + 1, mode="constant", cval=-np.inf, origin=largest_shift // 2
        )
    )
