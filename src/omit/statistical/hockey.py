"""Hockey-stick divergences between a distribution on whole numbers and its own shift.

`max(0, f(a - d) - e^epsilon f(a))` summed over `a` is how much better than `e^epsilon` an adversary
tells "the entry adds `d` more" from "it does not". Three ways to sum:

- *threshold*: if the ratio `f(a - d) / f(a)` rises with `a` (log-concave `f`), the positive terms
  are those beyond one point, and tail probabilities answer for all epsilons at once;
- *directly*, for any `f`;
- *envelope*: the largest `f(a - d)` over all shifts `0 <= d <= D` at every `a`: an upper bound for
  all of these shifts together, close to the largest one where `D` is small against the spread.
"""

from __future__ import annotations

import numpy as np

from omit._numeric import FloatArray, as_array

# Of a float that is far from infinite.
_LARGEST_EXPONENT = 700.0


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


def by_threshold(mass: FloatArray, shift: int, epsilon: FloatArray, noise: float) -> FloatArray:
    """Return the divergence of the shifted from the unshifted, for a log-concave `mass`.

    `noise` is the size of errors in `mass`: where it is not larger than that, ratios mean nothing.
    All is positive beyond a term that surely is, and nothing before one that surely is not. Terms
    between these are summed one by one where they are positive.
    """
    up, still = shifted(mass, shift)
    tail_up = np.append(np.cumsum(up[::-1])[::-1], 0.0)
    tail_still = np.append(np.cumsum(still[::-1])[::-1], 0.0)
    clear = np.flatnonzero(np.maximum(up, still) > 64 * noise)
    low = np.full(len(epsilon), clear[0], dtype=np.int64)
    high = np.full(len(epsilon), clear[-1] + 1, dtype=np.int64)
    grow = np.exp(np.minimum(epsilon, 700.0))
    while (high > low).any():
        middle = np.minimum((low + high) // 2, len(up) - 1)
        positive = up[middle] > grow * still[middle]
        open_ = high > low
        high = np.where(open_ & positive, middle, high)
        low = np.where(open_ & ~positive, middle + 1, low)
    value = np.empty(len(epsilon))
    for place, (found, factor) in enumerate(zip(low.tolist(), grow.tolist(), strict=True)):
        first = last = found
        step = 1
        while first > 0 and factor * (still[first - 1] - noise) <= up[first - 1] + noise:
            first, step = max(found - step, 0), 2 * step
        step = 1
        while last < len(up) and up[last] - noise <= factor * (still[last] + noise):
            last, step = min(found + step, len(up)), 2 * step
        unsure = np.maximum(up[first:last] - factor * still[first:last], 0.0).sum()
        value[place] = tail_up[last] - factor * tail_still[last] + unsure
    return np.maximum(value, 0.0)


def envelope(mass: FloatArray, largest_shift: int, epsilon: FloatArray) -> FloatArray:
    """Return an upper bound on the divergences of all shifts from 0 to the largest.

    Examples
    --------
    >>> mass = np.array([0.25, 0.5, 0.25])
    >>> envelope(mass, 1, np.array([0.5])) >= hockey_stick(*shifted(mass, 1), np.array([0.5]))
    array([ True])
    """
    from scipy.ndimage import maximum_filter1d

    _, still = shifted(mass, largest_shift)
    # The window covers a - D .. a: its centre is moved by half its width.
    largest = maximum_filter1d(
        still, largest_shift + 1, mode="constant", cval=0.0, origin=largest_shift // 2
    )
    return hockey_stick(largest, still, epsilon)
