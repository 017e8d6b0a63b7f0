"""Distributions over finitely many numbers on a lattice, and the lattice that values lie on.

What is known about one entry of a database lies on a lattice, `lower + step * (0, 1, 2, ...)`,
because sums are computed on it. Values are moved to it within rounding only, as 0.1, 0.2, 0.3 have
to be: moved any further, different sums would become one, and hide more than they do
(`common_lattice`). Whoever rounds other values first has to publish the sum of the rounded values.

The values of a column are decimal numbers as people write them, of which floats are the nearest
(`lattice_step`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput

# How far probabilities that were typed or estimated may miss 1.
_SUM_TOLERANCE = 1e-9
_LARGEST_SPAN = 10**7
# Rounding, relative to the largest value: some units in its last place.
_ROUNDING = 16 * Fraction(1, 2**53)
# Bends of a logarithm that rounding makes.
_LOG_ROUNDING = 4e-16
# Decimals of a column's values, and the largest integer that floats hold with room to spare.
_DECIMALS, _LARGEST = 6, 2**52


def require_sum(probabilities: Iterable[float]) -> float:
    """Return the sum of probabilities, or refuse it if it is not nearly 1."""
    total = math.fsum(probabilities)
    if abs(total - 1) > _SUM_TOLERANCE:
        raise InvalidInput(f"Expected the probabilities to sum to 1, they sum to {total:.10g}.")
    return total


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution over finitely many values on a lattice.

    Parameters
    ----------
    values : array of float
        Distinct values of positive probability, ascending.
    probabilities : array of float
        Their probabilities; they must sum to 1 up to 1e-9 and are divided by their sum.

    Raises
    ------
    InvalidInput
        If the probabilities do not sum to 1, or the values are not multiples of one step.

    Examples
    --------
    >>> die = Distribution([1, 2, 3, 4, 5, 6], [1 / 6] * 6)
    >>> die.mean, round(die.variance, 4), die.step, die.bend
    (3.5, 2.9167, 1.0, 0.0)
    """

    values: FloatArray
    probabilities: FloatArray

    def __init__(self, values: ArrayLike, probabilities: ArrayLike) -> None:
        try:
            numbers, weights = as_array(values), as_array(probabilities)
        except (TypeError, ValueError) as error:
            raise InvalidInput("Expected values and probabilities to be numbers.") from error
        if numbers.ndim != 1 or numbers.shape != weights.shape or len(numbers) < 2:
            raise InvalidInput("Expected as many probabilities as values, at least two.")
        if not (np.isfinite(numbers).all() and np.isfinite(weights).all()):
            raise InvalidInput("Expected values and probabilities to be finite numbers.")
        if (weights < 0).any():
            raise InvalidInput("Expected every probability to be at least 0.")
        total = require_sum(weights)
        order = np.argsort(numbers, kind="stable")
        order = order[weights[order] > 0]
        numbers, weights = numbers[order], weights[order] / total
        if len(numbers) < 2 or (numbers[1:] <= numbers[:-1]).any():
            raise InvalidInput("Expected at least two distinct values of positive probability.")
        object.__setattr__(self, "values", numbers)
        object.__setattr__(self, "probabilities", weights)
        step, [points] = common_lattice([numbers])
        object.__setattr__(self, "_lattice", (step, points))
        for array in (numbers, weights):
            array.flags.writeable = False

    @classmethod
    def of_property(cls, p: float, value: float = 1.0) -> Distribution:
        """Return what an entry adds to a count: a value with probability `p`, and 0 otherwise.

        Examples
        --------
        >>> Distribution.of_property(0.3).mean
        0.3
        """
        return cls([0.0, value], [1 - p, p])

    @property
    def step(self) -> float:
        """The distance between points of the lattice."""
        return self._lattice[0]

    @property
    def points(self) -> NDArray[np.int64]:
        """The values as numbers of steps above the smallest."""
        return self._lattice[1]

    @property
    def mean(self) -> float:
        """The mean."""
        return math.fsum(self.values * self.probabilities)

    @property
    def variance(self) -> float:
        """The variance."""
        return math.fsum((self.values - self.mean) ** 2 * self.probabilities)

    @property
    def bend(self) -> float:
        """How far below a concave function the logarithms of the probabilities are, by rounding.

        Zero if they are concave, and infinite if values have gaps or logarithms are not even
        concave up to rounding. Sums of log-concave entries are log-concave, and then the pair of
        extreme values is the easiest to tell apart.
        """
        if not (np.diff(self.points) == 1).all():
            return math.inf
        exact = [Fraction(chance) for chance in self.probabilities.tolist()]
        if all(b * b >= a * c for a, b, c in zip(exact, exact[1:], exact[2:], strict=False)):
            return 0.0
        # Rounding may break ties, as in a geometric distribution. Many small bends make a large
        # one, so what counts is how far the whole is from a concave one.
        log = np.log(self.probabilities)
        slack = _LOG_ROUNDING * (1 + float(np.abs(log).max()))
        if (log[:-2] + log[2:] - 2 * log[1:-1] > 4 * slack).any():
            return math.inf
        return 2 * slack if _distance_to_concave(log) <= slack else math.inf

    def __repr__(self) -> str:
        return (
            f"Distribution({len(self.values)} values from {self.values[0]:g} to "
            f"{self.values[-1]:g}, mean {self.mean:g})"
        )

    _lattice: tuple[float, NDArray[np.int64]] = (1.0, np.zeros(0, dtype=np.int64))


def _distance_to_concave(log: FloatArray) -> float:
    """Return the largest distance to the smallest concave function above."""
    corners: list[int] = []
    for index in range(len(log)):
        while len(corners) > 1:
            first, second = corners[-2:]
            chord = (log[index] - log[first]) * (second - first) / (index - first)
            if log[second] - log[first] > chord:
                break
            corners.pop()
        corners.append(index)
    above = np.interp(np.arange(len(log)), corners, log[corners])
    return float((above - log).max())


def common_lattice(values: Sequence[FloatArray]) -> tuple[float, list[NDArray[np.int64]]]:
    """Return the step of the finest lattice that holds all values, and their positions on it.

    Every array has a lattice of its own that begins at its first, smallest value; all have the same
    step.

    Raises
    ------
    InvalidInput
        If there is no such lattice, up to rounding.

    Examples
    --------
    >>> common_lattice([np.array([1.0, 2.0]), np.array([5.0, 6.5])])
    (0.5, [array([0, 2]), array([0, 3])])
    """
    with np.errstate(over="ignore"):
        above = [array - array[0] for array in values]
    scale = max(float(array[-1]) for array in above)
    if not math.isfinite(scale):
        raise InvalidInput("Expected values whose differences are within floating-point range.")
    guess = 0.0
    for distance in np.unique(np.concatenate(above)):
        guess = _common_step(guess, float(distance), 1e-9 * scale)
    steps = [np.rint(array / guess).astype(np.int64) for array in above]
    widest = max(range(len(values)), key=lambda index: int(steps[index][-1]))
    span = int(steps[widest][-1])
    # From here on nothing is rounded.
    step = (Fraction(float(values[widest][-1])) - Fraction(float(values[widest][0]))) / max(span, 1)
    tolerance = _ROUNDING * Fraction(max(float(np.abs(array).max()) for array in values))
    moved = (
        abs(Fraction(value) - Fraction(array[0]) - count * step)
        for array, own in zip((array.tolist() for array in values), steps, strict=True)
        for value, count in zip(array, own.tolist(), strict=True)
    )
    if span > _LARGEST_SPAN or any(distance > tolerance for distance in moved):
        raise InvalidInput(
            "Expected values that are multiples of one step; round real values to such multiples "
            "first, and publish the sum of the rounded values."
        )
    return float(step), steps


def _common_step(first: float, second: float, tolerance: float) -> float:
    """Return the greatest common divisor of two lengths, up to a tolerance."""
    while second > tolerance:
        remainder = math.fmod(first, second)
        if second - remainder <= tolerance:
            remainder = 0.0
        first, second = second, remainder
    return first


def lattice_step(values: FloatArray) -> float | None:
    """Return the largest number of which all differences of the values are multiples, if any.

    Values are taken for decimal numbers of at most six decimals, of which floats are the nearest.

    Examples
    --------
    >>> lattice_step(np.array([10.0, 25.0, 40.0])), lattice_step(np.array([0.0, 0.25, 1.5]))
    (15.0, 0.25)
    >>> lattice_step(np.array([0.0, np.pi])) is None
    True
    """
    nearest = 4 * np.finfo(np.float64).eps * np.abs(values).max()
    for decimals in range(_DECIMALS + 1):
        scaled = values * 10.0**decimals
        whole = np.round(scaled)
        if np.abs(scaled - whole).max() <= nearest * 10.0**decimals and (
            np.abs(whole).max() < _LARGEST
        ):
            differences = np.diff(whole.astype(np.int64))
            divisor = int(np.gcd.reduce(differences)) if len(differences) else 0
            return divisor / 10.0**decimals if divisor else 1.0
    return None
