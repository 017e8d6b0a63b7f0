"""Removing outliers by a fixed limit, as many do today: it leaves no guarantee at all.

Every rule here compares a record with all records of the database and deletes those that are too
far off. Adding or removing one record can then change the fate of all others, so their sensitivity
grows with the database, and no (epsilon, delta) with delta < 1 holds for every mechanism that is
private on its own (omitting records, Propositions B.2 and B.3, for mean distances). Every rule
makes the databases that show it, and runs itself on them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.base import Data
from omit.data.column import Column
from omit.errors import InvalidInput, Refused, Unattainable
from omit.guarantee import Guarantee, NoGuarantee, NoNoiseNeeded
from omit.laws.design import Design, Independent
from omit.omissions.base import Omission


@dataclass(frozen=True)
class RemovalWitness:
    """Two neighbouring databases of two points at distance 1, and what is left of both.

    A database is a pair of counts: how many records are at the first, how many at the second
    point.
    """

    larger: tuple[int, int]
    smaller: tuple[int, int]
    left_of_larger: tuple[int, int]
    left_of_smaller: tuple[int, int]

    @property
    def difference(self) -> int:
        """By how many records the two outputs differ."""
        pairs = zip(self.left_of_larger, self.left_of_smaller, strict=True)
        return sum(abs(first - second) for first, second in pairs)

    def __str__(self) -> str:
        return (
            f"{self.larger[0]} + {self.larger[1]} records at two distant points leave "
            f"{self.left_of_larger[0]} + {self.left_of_larger[1]}; with one record less, "
            f"{self.smaller[0]} + {self.smaller[1]} leave "
            f"{self.left_of_smaller[0]} + {self.left_of_smaller[1]}: "
            f"{self.difference} records differ"
        )


class _OutlierRemoval(Omission):
    """What the two strategies share: the witness, and the answer that follows from it."""

    @abstractmethod
    def kept(self, first: int, second: int) -> tuple[int, int]:
        """Return how many of the records at two points at distance 1 are kept."""

    @abstractmethod
    def _neighbours(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return a database of at least `size` records and its neighbour with one less."""

    def witness(self, size: int = 1000) -> RemovalWitness:
        """Return neighbouring databases of at least `size` records that end up far apart."""
        larger, smaller = self._neighbours(_validate.positive_integer("size", size))
        return RemovalWitness(larger, smaller, self.kept(*larger), self.kept(*smaller))

    @abstractmethod
    def _keeps(self, data: Data, distance: str) -> NDArray[np.bool_]:
        """Tell of every atom of the data whether its records are kept."""

    def design(self, data: Data, distance: str) -> Design:
        """Return that records are kept or not for certain, as these data decide.

        Raises
        ------
        Refused
            If records of one bin may be kept and others of it not.
        """
        if data.is_binned:
            raise Refused(f"{self} may cut through the bins of {data.name!r}.")
        return Independent(as_array(self._keeps(data, distance)))

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return infinity, except for a mechanism that ignores its input."""
        return np.where(as_array(epsilon) > 0, np.inf, 0.0)

    def _after(self, base: Guarantee) -> Guarantee | NoGuarantee:
        """Return that there is no guarantee, with a witness.

        Only a mechanism that ignores its input, (0, 0)-DP, keeps what it has.
        """
        if base.epsilon == base.delta == 0:
            return base
        witness = self.witness()
        return NoGuarantee(f"{self} has unbounded sensitivity: {witness}.", witness)

    def candidates(self, target: Guarantee) -> tuple[Guarantee | NoNoiseNeeded, ...]:
        """Raise: no amount of noise makes up for it."""
        self.require_relation(target)
        raise Unattainable(
            f"{self} has unbounded sensitivity, so no amount of noise gives a guarantee: "
            f"{self.witness()}."
        )


@dataclass(frozen=True)
class ThresholdOutlierRemoval(_OutlierRemoval):
    """Delete every record whose mean distance to the database exceeds `threshold`.

    Examples
    --------
    >>> from omit import Guarantee
    >>> print(ThresholdOutlierRemoval(0.5).witness(10))
    10 + 10 records at two distant points leave 10 + 10; with one record less, 10 + 9 leave ...
    """

    threshold: float

    name: ClassVar[str] = "outlier-threshold"
    parameters: ClassVar[tuple[str, ...]] = ("threshold",)

    def __post_init__(self) -> None:
        if not 0 < _validate.finite("threshold", self.threshold) < 1:
            raise InvalidInput(f"Expected threshold={self.threshold} in (0, 1).")

    def __str__(self) -> str:
        return f"removal of records with a mean distance above {self.threshold:g}"

    def kept(self, first: int, second: int) -> tuple[int, int]:
        """Return the counts of the points whose mean distance is within the threshold."""
        size = first + second
        limit = Fraction(self.threshold) * size
        return (first if second <= limit else 0), (second if first <= limit else 0)

    def _keeps(self, data: Data, distance: str) -> NDArray[np.bool_]:
        distances = data.mean_distances(distance)
        limit = math.floor(Fraction(self.threshold) * distances.whole)
        return np.array(distances.totals <= limit, bool)

    def _neighbours(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        threshold = Fraction(self.threshold)
        # Enough records that the second point has `size` of them, however near the threshold is
        # to 1. Its mean distance is within the threshold, and beyond it with one record less.
        first = math.ceil(threshold * size / (1 - threshold))
        size = math.ceil(first / threshold)
        return (first, size - first), (first, size - first - 1)


@dataclass(frozen=True)
class TopOutlierRemoval(_OutlierRemoval):
    """Delete the given share of records with the largest mean distance, and all that tie.

    Examples
    --------
    >>> print(TopOutlierRemoval(0.25).witness(10))
    3 + 10 records at two distant points leave 0 + 10; with one record less, 2 + 10 leave ...
    """

    share: float

    name: ClassVar[str] = "outlier-top"
    parameters: ClassVar[tuple[str, ...]] = ("share",)

    def __post_init__(self) -> None:
        if not 0 < _validate.finite("share", self.share) <= 0.5:
            raise InvalidInput(f"Expected share={self.share} in (0, 0.5].")

    def __str__(self) -> str:
        return f"removal of the top {self.share:.4g} of records by mean distance"

    def kept(self, first: int, second: int) -> tuple[int, int]:
        """Return the counts after the farthest records, with all ties, are gone."""
        deleted = int(Fraction(self.share) * (first + second))
        if deleted == 0:
            return first, second
        if first == second:
            return 0, 0
        # The rarer point is the farther one.
        if first < second:
            return 0, (second if deleted <= first else 0)
        return (first if deleted <= second else 0), 0

    def _keeps(self, data: Data, distance: str) -> NDArray[np.bool_]:
        totals = data.mean_distances(distance).totals
        deleted = int(Fraction(self.share) * data.size)
        if deleted == 0:
            return np.ones(len(totals), bool)
        farthest = np.argsort(-totals, kind="stable")
        reached = np.cumsum(data.multiplicities[farthest])
        return np.array(totals < totals[farthest[np.searchsorted(reached, deleted)]], bool)

    def _neighbours(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        share = Fraction(self.share)
        # One record less still deletes as many, so that the second point ties.
        first = max(1, math.ceil(share * size))
        size = math.ceil(first / share) + 1
        return (first, size - first), (first - 1, size - first)


@dataclass(frozen=True)
class DeviationRemoval(_OutlierRemoval):
    """Delete every number more than so many standard deviations from the mean.

    Examples
    --------
    >>> print(DeviationRemoval(3).witness(10))
    90 + 10 records at two distant points leave 90 + 10; with one record less, 90 + 9 leave ...
    """

    deviations: float

    name: ClassVar[str] = "z-score"
    parameters: ClassVar[tuple[str, ...]] = ("deviations",)

    def __post_init__(self) -> None:
        if not 0.01 <= _validate.finite("deviations", self.deviations) <= 100:
            raise InvalidInput(f"Expected deviations={self.deviations:g} in [0.01, 100].")

    def __str__(self) -> str:
        return f"removal of values {self.deviations:g} standard deviations from the mean"

    def kept(self, first: int, second: int) -> tuple[int, int]:
        """Return the counts of the points within the limit.

        With a share q of records at the second point, its distance from the mean is 1 - q, and the
        deviation is the square root of q (1 - q).
        """
        square = Fraction(self.deviations) ** 2
        return (
            first if second <= square * first else 0,
            second if first <= square * second else 0,
        )

    def _keeps(self, data: Data, distance: str) -> NDArray[np.bool_]:
        values, counts = _numbers(self, data)
        centred = values - np.average(values, weights=counts)
        deviation = math.sqrt(np.average(centred**2, weights=counts))
        return np.abs(centred) <= self.deviations * deviation

    def _neighbours(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        square = Fraction(self.deviations) ** 2
        first = math.ceil(square * size)
        second = math.ceil(first / square)
        return (first, second), (first, second - 1)


@dataclass(frozen=True)
class InterquartileRemoval(_OutlierRemoval):
    """Delete every number farther from the quartiles than so many times their distance.

    Quartiles are values that occur: the smallest with a quarter, and with three quarters, of all
    records at or below it.

    Examples
    --------
    >>> print(InterquartileRemoval(1.5).witness(10))
    30 + 11 records at two distant points leave 30 + 11; with one record less, 30 + 10 leave ...
    """

    ranges: float

    name: ClassVar[str] = "interquartile"
    parameters: ClassVar[tuple[str, ...]] = ("ranges",)

    def __post_init__(self) -> None:
        if not 0 <= _validate.finite("ranges", self.ranges) <= 1e6:
            raise InvalidInput(f"Expected ranges={self.ranges:g} in [0, 1000000].")

    def __str__(self) -> str:
        return f"removal of values {self.ranges:g} interquartile ranges from the quartiles"

    def kept(self, first: int, second: int) -> tuple[int, int]:
        """Return the counts of the points within the fences."""
        size = first + second
        if first >= math.ceil(Fraction(3 * size, 4)):
            return first, 0
        return (first if first >= math.ceil(Fraction(size, 4)) else 0), second

    def _keeps(self, data: Data, distance: str) -> NDArray[np.bool_]:
        values, counts = _numbers(self, data)
        reached = 4 * np.cumsum(counts)
        lower, upper = values[np.searchsorted(reached, [data.size, 3 * data.size])]
        margin = self.ranges * (upper - lower)
        return np.array((lower - margin <= values) & (values <= upper + margin))

    def _neighbours(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        return (3 * size, size + 1), (3 * size, size)


def _numbers(removal: Omission, data: Data) -> tuple[FloatArray, FloatArray]:
    """Return the values of a column of numbers and their counts, or refuse other data."""
    if not isinstance(data, Column) or data.is_text:
        raise Refused(f"{removal} is said of one column of numbers only.".capitalize())
    return as_array(data.values), as_array(data.counts)
