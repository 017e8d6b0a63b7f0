"""Bins of a continuous column: what is kept of records that are too many to be kept one by one.

Of the records in a bin the number and the sum are kept, so their mean, and the smallest and the
largest, which the others lie between. Everything that is linear in the records, such as a sum, is
then known as if all of them were; what else they may do to an error is bounded by how far apart
they are (`omit.exact.bins`). A value that many records have is often alone in its bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.data.tables import Within
from omit.errors import InvalidInput

DEFAULT_BINS = 2**14
MOST_BINS = 2**20
# So many floats lie within a bin at least, so that its mean is told apart from its ends.
_FLOATS_WITHIN = 2.0**20


@dataclass(frozen=True, eq=False)
class Ranges:
    """The smallest and the largest record in the bin of every value, which is their mean.

    Parameters
    ----------
    number : int
        Into how many bins of one width the bounds are divided. The bounds are bins of their own.
    lows, highs : array
        The ends of the records in every bin that has some. Read-only.

    Examples
    --------
    >>> Ranges(10, np.array([0.0, 31.0]), np.array([0.0, 39.5])).widest
    8.5
    """

    number: int
    lows: FloatArray
    highs: FloatArray

    def __post_init__(self) -> None:
        lows, highs = as_array(self.lows).copy(), as_array(self.highs).copy()
        if lows.ndim != 1 or lows.shape != highs.shape or not len(lows):
            raise InvalidInput("Expected the ends of at least one bin.")
        if not ((lows <= highs).all() and (highs[:-1] < lows[1:]).all()):
            raise InvalidInput("Expected sorted bins that do not overlap.")
        lows.flags.writeable = highs.flags.writeable = False
        object.__setattr__(self, "number", checked_bins(self.number))
        object.__setattr__(self, "lows", lows)
        object.__setattr__(self, "highs", highs)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Ranges) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that the arrays of a copy are read-only too.
        return Ranges, (self.number, self.lows, self.highs)

    @property
    def widest(self) -> float:
        """How far the records of one bin are apart at most."""
        return float((self.highs - self.lows).max())

    def less(self, origin: float) -> Ranges:
        """Return the same for values from which an origin is subtracted."""
        return Ranges(self.number, self.lows - origin, self.highs - origin)

    def require(self, values: FloatArray) -> None:
        """Refuse values that are not the means of these bins."""
        if values.shape != self.lows.shape or not (
            (self.lows <= values).all() and (values <= self.highs).all()
        ):
            raise InvalidInput("Expected every value to lie between the ends of its bin.")

    def _key(self) -> tuple[Any, ...]:
        return self.number, tuple(self.lows.tolist()), tuple(self.highs.tolist())


def checked_bins(number: int) -> int:
    """Return a number of bins, or refuse it.

    Examples
    --------
    >>> checked_bins(1024)
    1024
    """
    number = _validate.positive_integer("bins", number)
    if number > MOST_BINS:
        raise InvalidInput(f"Expected bins={number:,} of at most {MOST_BINS:,}.")
    return number


def bins_between(bounds: tuple[float, float], number: int, position: int = 0) -> Within:
    """Return the key that puts the values of a column into bins, or refuse.

    `InvalidInput` is raised if the bounds are so far from 0 that a bin has hardly any floats.
    """
    lower, upper = bounds
    key = Within(position, lower, upper, checked_bins(number))
    if lower < upper and key.width < _FLOATS_WITHIN * np.spacing(max(-lower, upper)):
        raise InvalidInput(
            f"The bounds [{lower:.17g}, {upper:.17g}] are too far from 0 for {number:,} bins; "
            "subtract the lower bound from the values first, or take fewer bins."
        )
    return key


def binned(
    values: FloatArray,
    counts: IntArray,
    lows: FloatArray,
    highs: FloatArray,
    bounds: tuple[float, float],
    number: int,
) -> tuple[FloatArray, IntArray, Ranges]:
    """Return means, counts and ends of bins, of values within bounds or of parts of these bins.

    Examples
    --------
    >>> ages = np.array([0.0, 31.0, 39.0, 60.0])
    >>> means, counts, ranges = binned(ages, np.array([5, 1, 3, 2]), ages, ages, (0.0, 100.0), 10)
    >>> means, counts, ranges.lows, ranges.highs
    (array([ 0., 37., 60.]), array([5, 4, 2]), array([ 0., 31., 60.]), array([ 0., 39., 60.]))
    """
    order = np.argsort(lows, kind="stable")
    values, counts, lows, highs = values[order], counts[order], lows[order], highs[order]
    bins = joined(values, counts, lows, highs, bins_between(bounds, number).index(lows))
    return bins.means, bins.counts, Ranges(number, bins.lows, bins.highs)


class Joined(NamedTuple):
    """Values, or bins, of which neighbours were joined to bins."""

    means: FloatArray
    counts: IntArray
    lows: FloatArray
    highs: FloatArray
    first: NDArray[np.intp]
    """The position of the first of every bin."""


def joined(
    values: FloatArray,
    counts: IntArray,
    lows: FloatArray,
    highs: FloatArray,
    positions: FloatArray,
) -> Joined:
    """Return the bins of sorted values, or bins, whose neighbours are in one if positions agree."""
    first = np.flatnonzero(np.append(True, positions[1:] != positions[:-1]))
    bin_of = np.repeat(np.arange(len(first)), np.diff(first, append=len(values)))
    low, high = np.minimum.reduceat(lows, first), np.maximum.reduceat(highs, first)
    number_in = np.add.reduceat(counts, first)
    # Above the smallest: so equal values keep all their digits.
    above = np.add.reduceat(counts * (values - low[bin_of]), first) / number_in
    return Joined(as_array(np.clip(low + above, low, high)), number_in, low, high, first)


def positions_between_ends(lows: FloatArray, highs: FloatArray, number: int) -> FloatArray:
    """Return in which of so many bins, from the smallest to the largest record, each value is.

    Examples
    --------
    >>> ages = np.array([20.0, 31.0, 39.0, 60.0])
    >>> positions_between_ends(ages, ages, 4)
    array([0., 1., 1., 3.])
    """
    lowest = float(lows[0])
    width = (float(highs[-1]) - lowest) / number or 1.0
    return as_array(np.minimum(np.floor((lows - lowest) / width), number - 1))
