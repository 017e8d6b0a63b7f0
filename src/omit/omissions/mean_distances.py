"""Mean distances of records, in whole numbers, and the keep probabilities that follow from them.

Outlier scores add up the distances of a record to all others. Whoever does that with rounded
numbers scores by something that is no metric any more: far from zero, where sums cancel, by
anything at all, and all equal records jump together. So

- every distance is a whole number of small steps, and still a metric: a record's position on a
  line is rounded on its own, which looks at no other record, and the distance of two positions is
  exact (for the Euclidean distance, see `point_distances`);
- sums are whole numbers of any size, so nothing is lost and the order does not matter;
- a keep probability is rounded once, to the nearest floating-point number.

The exact probabilities, `DistanceTotals.deletion_probabilities`, have the guarantee of the mixture
bound as it stands. Rounding single probabilities has no safe side; what it can cost is known,
`OutlierScoreSuppression.rounding_cost`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.data.casting import AnyArray
from omit.data.column import Column
from omit.errors import Refused

# Steps between the two bounds of a column: finer than the last digit of most positions.
STEPS = 2**52


@dataclass(frozen=True, eq=False)
class DistanceTotals:
    """For each value, or each record, the sum of its distances to all records, exactly.

    Parameters
    ----------
    totals : array of int
        Sums of whole distances, Python's integers. Read-only.
    whole : int
        The largest distance there can be, times the number of records.

    Examples
    --------
    >>> ages = Column.from_values([20, 20, 30, 60], bounds=(0, 100))
    >>> column_distances(ages, "discrete")
    DistanceTotals(totals=array([2, 3, 3], dtype=object), whole=4)
    """

    totals: AnyArray
    whole: int

    def __post_init__(self) -> None:
        self.totals.flags.writeable = False

    @property
    def means(self) -> FloatArray:
        """The mean distances, each in [0, 1] and correctly rounded."""
        return as_array(self.totals / self.whole)

    def deletion_probabilities(self, m: float, M: float) -> tuple[Fraction, ...]:
        """Return `m + (M - m) z` for every mean distance `z`, exactly.

        Examples
        --------
        >>> distances = DistanceTotals(np.array([0, 1, 3], dtype=object), whole=3)
        >>> [str(each) for each in distances.deletion_probabilities(0.25, 0.5)]
        ['1/4', '1/3', '1/2']
        """
        lowest, spread = Fraction(m), Fraction(M) - Fraction(m)
        return tuple(lowest + spread * Fraction(total, self.whole) for total in self.totals)

    def keep_probabilities(self, m: float, M: float) -> FloatArray:
        """Return one minus the deletion probabilities, each rounded to the nearest number.

        Examples
        --------
        >>> DistanceTotals(np.array([0, 1, 3], dtype=object), whole=3).keep_probabilities(0.1, 1.0)
        array([0.9, 0.6, 0. ])
        """
        most, spread = 1 - Fraction(m), Fraction(M) - Fraction(m)
        parts = max(most.denominator, spread.denominator)  # both are powers of two
        start = int(most * parts) * self.whole
        # The quotient of two of Python's integers is correctly rounded, however long they are.
        return as_array((start - int(spread * parts) * self.totals) / (parts * self.whole))


def column_distances(column: Column, distance: str) -> DistanceTotals:
    """Return the distances of each value of a column to all records.

    In one pass over the sorted values. Absolute differences are divided by the width of the
    declared bounds, so that they are at most 1.

    Raises
    ------
    Refused
        If the distance is not "discrete", or "absolute" on numbers.

    Examples
    --------
    >>> ages = Column.from_values([20, 20, 30, 60], bounds=(0, 100))
    >>> for distance in ("absolute", "discrete"):
    ...     print(column_distances(ages, distance).means)
    [0.125 0.125 0.275]
    [0.5  0.75 0.75]
    """
    counts = column.counts.astype(object)
    if distance == "discrete":
        return DistanceTotals(column.size - counts, column.size)
    if distance != "absolute" or column.is_text or column.bounds is None:
        kind = "text" if column.is_text else "single numbers"
        raise Refused(f"The {distance} distance is not defined for {kind}; use discrete.")
    lower, upper = column.bounds
    if lower == upper:
        return DistanceTotals(0 * counts, column.size)
    places = whole_places((as_array(column.values) - lower) / (upper - lower))
    return DistanceTotals(sorted_distance_sums(places, counts), column.size * STEPS)


def whole_places(shares: FloatArray) -> AnyArray:
    """Return shares of a width in whole steps, as Python's integers; each rounded on its own."""
    return as_array(np.rint(shares * STEPS)).astype(np.int64).astype(object)


def sorted_distance_sums(places: AnyArray, counts: AnyArray) -> AnyArray:
    """Return for each of some sorted whole numbers the sum of its distances to all, by counts.

    Examples
    --------
    >>> whole = np.array([1, 2, 5], dtype=object)
    >>> sorted_distance_sums(whole, np.array([1, 1, 2], dtype=object))
    array([9, 7, 7], dtype=object)
    """
    below, weighted = np.cumsum(counts), np.cumsum(counts * places)
    sums: AnyArray = places * (2 * below - below[-1]) - 2 * weighted + weighted[-1]
    return sums
