"""The contract of a protected clustering.

A clustering places `k` centres among points. It knows nothing of omissions: it is told which
records are left. What is the same for all runs at one guarantee is prepared once; a run then needs
only the records that are left and random numbers.

*To add a clustering*, derive from `Clustering` and write `prepare`, which returns an object with
the three methods of `PreparedClustering`; it can then be compared by simulation at once.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit.data.points import Points
from omit.guarantee import Guarantee
from omit.mechanisms.statistic import ProtectedStatistic

Positions = NDArray[np.intp]


class PreparedClustering(Protocol):
    """A clustering that knows its points and its noise, ready for many runs."""

    def centres(self, kept: Positions | None, rng: np.random.Generator) -> FloatArray:
        """Return protected centres, one in each row, in the cube [-1, 1]^d of scaled points.

        `kept` are the positions of the records that are left; None stands for all.
        """

    def loss(self, centres: FloatArray, kept: Positions | None = None) -> float:
        """Return how far records are from their centres: all records, or those that are left.

        This looks at the data and is not private.
        """

    def largest_losses(self) -> FloatArray:
        """Return how far each record can be from its nearest centre at most, in units of the loss.

        Whatever the centres are; so the loss of all records is at most the mean of these. An
        interval that holds though a bad run is rare needs to know it.
        """


def farthest_squares(columns: FloatArray) -> FloatArray:
    """Return the squared distance of each record to the farthest corner of the cube [-1, 1]^d.

    Examples
    --------
    >>> farthest_squares(np.array([[0.0, 1.0], [0.0, -1.0]]))
    array([2., 8.])
    """
    squares: FloatArray = np.square(1 + np.abs(columns)).sum(axis=0)
    return squares


class Clustering(ProtectedStatistic):
    """A protected clustering of points into `k` clusters."""

    k: int

    @abstractmethod
    def prepare(self, points: Points, guarantee: Guarantee) -> PreparedClustering:
        """Return the clustering of these points at this guarantee, ready for many runs."""

    def notes(self, points: Points, guarantee: Guarantee) -> tuple[str, ...]:
        """Return what must be said beside results at this guarantee."""
        return ()
