"""What protected clusterings share: `k` centres among points, judged by distances to them.

A clustering may start badly once in a thousand runs and lose a hundred times as much then, so its
mean need not be normal, and runs without such a start show nothing of it. But no loss exceeds what
the farthest corners of the declared bounds cost: intervals rest on that alone.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.data.base import Data
from omit.data.points import Points
from omit.errors import InvalidInput, NotExact
from omit.exact.error import ExpectedError
from omit.laws.design import Design, Positions
from omit.laws.intervals import Interval, bounded_interval
from omit.mechanisms.base import Mechanism, Prepared

Metric: TypeAlias = Literal["all", "kept", "kept-sum"]

# Losses are added up in another order than their bound.
_ROUNDING = 1e-9


class ClusteringMechanism(Mechanism):
    """A protected clustering of points.

    Parameters
    ----------
    k : int
        How many clusters.
    metric : {"all", "kept", "kept-sum"}
        Whose distances make the error: the average over all records; over those that were kept, as
        in the published experiments; or the sum over those kept, as in the theory of Blocki et al.
    """

    k: int

    data_type: ClassVar[type[Data]] = Points
    distance: ClassVar[str] = "euclidean"

    def _check_metric(self) -> None:
        if self.metric not in get_args(Metric):
            choices = ", ".join(get_args(Metric))
            raise InvalidInput(f"Expected metric={self.metric!r} to be one of: {choices}.")

    def require_fit(self, data: Points, truth: Any) -> None:
        """Refuse a truth, and more clusters than there are different records."""
        if truth is not None:
            raise InvalidInput("A clustering is measured by distances; it has no truth to give.")
        if self.k > data.distinct:
            raise InvalidInput(
                f"Expected k={self.k} to be at most the number of different records of "
                f"{data.name}, which is {data.distinct}."
            )


class PreparedClustering(Prepared):
    """A clustering that knows its points and its noise, ready for many runs."""

    mechanism: ClusteringMechanism

    @abstractmethod
    def centres(self, kept: Positions | None, rng: np.random.Generator) -> FloatArray:
        """Return protected centres, one in each row, in the cube [-1, 1]^d of scaled points.

        `kept` are the positions of the records that are left; None stands for all.
        """

    @abstractmethod
    def loss(self, centres: FloatArray, kept: Positions | None = None) -> float:
        """Return how far records are from their centres: all records, or those that are left.

        This looks at the data and is not private.
        """

    @abstractmethod
    def largest_losses(self) -> FloatArray:
        """Return how far each record can be from its nearest centre at most, in units of the loss.

        Whatever the centres are; so the loss of all records is at most the mean of these.
        """

    def errors(self, kept: Positions, rng: np.random.Generator) -> FloatArray:
        """Return the loss of one run."""
        return np.array([self._loss_of(self.centres(kept, rng), kept)])

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Raise: a clustering is simulated."""
        raise NotExact("the error of a clustering is simulated")

    def interval(self, errors: FloatArray) -> Interval:
        """Return an interval that holds though a bad run is rare."""
        return bounded_interval(errors, 0.0, self.largest_error)

    @property
    def largest_error(self) -> float:
        """What no loss exceeds, whichever records are kept."""
        losses = self.largest_losses()
        metric = self.mechanism.metric
        largest = {"all": losses.mean(), "kept": losses.max(), "kept-sum": losses.sum()}[metric]
        return float(largest) * (1 + _ROUNDING)

    def _loss_of(self, centres: FloatArray, kept: Positions) -> float:
        if self.mechanism.metric == "all":
            return self.loss(centres)
        if self.mechanism.metric == "kept-sum":
            return len(kept) * self.loss(centres, kept)
        # The average over nobody is not defined.
        return self.loss(centres, kept) if len(kept) else math.nan


def farthest_squares(columns: FloatArray) -> FloatArray:
    """Return the squared distance of each record to the farthest corner of the cube [-1, 1]^d.

    Examples
    --------
    >>> farthest_squares(np.array([[0.0, 1.0], [0.0, -1.0]]))
    array([2., 8.])
    """
    return as_array(np.square(1 + np.abs(columns)).sum(axis=0))
