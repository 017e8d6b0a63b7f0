"""Suppression that decides without chance, and what that does to privacy.

*Stable suppression.* The sensitivity of a suppression `S` is the largest number of records by which
`S(D)` and `S(D')` differ for neighbouring `D`, `D'`. Group privacy then gives epsilon times the
sensitivity (omitting records, Theorem 5.1), and for pure differential privacy some mechanism loses
all of it.

*Removing outliers by a fixed threshold* leaves no guarantee at all. Both strategies here look at
the mean distances of records to all records of the database and delete those that are farthest.
Adding or removing one record can then change the fate of all others, so their sensitivity grows
with the database (omitting records, Propositions B.2 and B.3), and no (epsilon, delta) with
delta < 1 holds for every mechanism that is private on its own. Both strategies make the databases
that show it, and run themselves on them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.base import Data
from omit.data.column import Column
from omit.errors import InvalidInput, Refused, Unattainable
from omit.guarantee import Guarantee, NoGuarantee, NoNoiseNeeded, steps_apart
from omit.laws.design import Design, Independent
from omit.omissions.base import Omission


@dataclass(frozen=True)
class StableSuppression(Omission):
    """Suppress records by a deterministic rule of known sensitivity; defined under add-remove.

    Parameters
    ----------
    sensitivity : int
        By how many records the outputs for two neighbouring databases can differ.

    Examples
    --------
    >>> from omit import Guarantee
    >>> StableSuppression(sensitivity=2).amplify(Guarantee(0.5, 1e-6))
    Statement(epsilon=1.0, delta=2.648721270700...e-06, neighbours='add-remove')
    """

    sensitivity: int

    name: ClassVar[str] = "stable"

    def __post_init__(self) -> None:
        checked = _validate.positive_integer("sensitivity", self.sensitivity)
        object.__setattr__(self, "sensitivity", checked)

    def __str__(self) -> str:
        return f"suppression of sensitivity {self.sensitivity}"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return epsilon times the sensitivity."""
        with np.errstate(over="ignore"):  # infinite, where it is too large for a number
            return as_array(epsilon) * self.sensitivity

    def epsilon_before(self, epsilon_after: ArrayLike) -> FloatArray:
        """Return epsilon divided by the sensitivity."""
        return as_array(epsilon_after) / self.sensitivity

    def _epsilon_not_below(self, epsilon: float) -> float:
        return steps_apart(epsilon, 0.0, self.sensitivity)[0]

    def _delta_not_below(self, delta: float, epsilon: float, after: float) -> float:
        return steps_apart(epsilon, delta, self.sensitivity)[1]

    @property
    def slope_at_zero(self) -> float:
        """The sensitivity."""
        return float(self.sensitivity)

    @property
    def largest_keep_probability(self) -> float:
        """One: what is not suppressed for certain is kept for certain."""
        return 1.0


@dataclass(frozen=True)
class RuleSuppression(StableSuppression):
    """Suppress records by a rule fixed beforehand that looks at one record at a time.

    Such a rule has sensitivity 1: privacy stays as it is. What can be gained is a smaller domain
    (omitting records, Example 5.2): if only values in `keep` are kept, the sensitivity of a sum
    is that of the narrower bounds, and its noise shrinks with it. `restrict` hands those bounds
    on. A rule that was chosen after looking at the data is not a rule of this kind.

    Parameters
    ----------
    keep : (float, float), optional
        Values outside this interval are suppressed.

    Examples
    --------
    >>> RuleSuppression(keep=(0, 100)).restrict((0, 125))
    (0.0, 100.0)
    """

    sensitivity: int = 1
    keep: tuple[float, float] | None = None

    name: ClassVar[str] = "rule"
    looks_at_single_records = True
    parameters: ClassVar[tuple[str, ...]] = ("lower", "upper")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sensitivity != 1:
            raise InvalidInput(
                "A rule that looks at one record at a time has sensitivity 1; "
                f"for sensitivity={self.sensitivity} use StableSuppression."
            )
        if self.keep is not None:
            object.__setattr__(self, "keep", _validate.interval("keep", self.keep))

    def __str__(self) -> str:
        if self.keep is None:
            return "suppression by a fixed rule"
        return f"suppression of values outside [{self.keep[0]:g}, {self.keep[1]:g}]"

    @classmethod
    def from_text(cls, text: str, population: int | None = None) -> Omission:
        """Return the rule of a short form, such as ``rule:0,100``."""
        return cls(keep=tuple(cls._arguments(text).values()))

    def design(self, data: Data, distance: str) -> Design:
        """Return that values within `keep` are kept, and no others.

        Raises
        ------
        Refused
            If the rule is not given as an interval of numbers, or the data are not a column.
        """
        if not isinstance(data, Column):
            raise Refused(
                "A rule is an interval of single numbers and says nothing about points; declare "
                "narrower bounds of their columns instead."
            )
        if self.keep is None or data.is_text:
            raise Refused("The rule is not known; give the interval of numbers that it keeps.")
        first, last = self.keep
        kept = (data.lows >= first) & (data.highs <= last)
        if not (kept | (data.highs < first) | (data.lows > last)).all():
            raise Refused(
                f"The rule keeps some records of a bin of {data.name!r} and not others; let its "
                "interval end where bins do."
            )
        return Independent(as_array(kept))

    def restrict(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the part of the declared bounds that the rule keeps.

        Raises
        ------
        InvalidInput
            If that is empty.
        """
        lower, upper = _validate.interval("bounds", bounds)
        if self.keep is None:
            return lower, upper
        lower, upper = max(lower, self.keep[0]), min(upper, self.keep[1])
        if lower > upper:
            raise InvalidInput(
                f"Expected keep=({self.keep[0]:g}, {self.keep[1]:g}) to overlap the declared "
                f"bounds ({bounds[0]:g}, {bounds[1]:g}): the rule leaves no possible value."
            )
        return lower, upper


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

    def _neighbours(self, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        share = Fraction(self.share)
        # One record less still deletes as many, so that the second point ties.
        first = max(1, math.ceil(share * size))
        size = math.ceil(first / share) + 1
        return (first, size - first), (first - 1, size - first)
