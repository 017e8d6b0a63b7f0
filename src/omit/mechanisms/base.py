"""The contract of a protected statistic.

A mechanism computes something from counts of values and adds the noise that its guarantee needs. It
knows nothing of omissions: it is handed the counts that are left. Errors are studied on counts,
never on records, so a mechanism takes many draws of the counts at once, one in each row.

*To add a mechanism*, derive from `Mechanism` and write `truth`, `answers` and `errors`; it can then
be compared by simulation at once. With `expected_errors`, noise need not be drawn. An exact engine,
if there is one, is registered in `utility`.

What all protected statistics have in common, whatever data they are computed from.

The contract of a protected clustering.

A clustering places `k` centres among points. It knows nothing of omissions: it is told which
records are left. What is the same for all runs at one guarantee is prepared once; a run then needs
only the records that are left and random numbers.

*To add a clustering*, derive from `Clustering` and write `prepare`, which returns an object with
the three methods of `PreparedClustering`; it can then be compared by simulation at once.

Mechanisms whose noise can be integrated out: given the records, the error is a formula.

A simulation then has to draw the records that are left, but no noise, and its interval is that much
narrower; where nothing is left out, nothing is drawn at all.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.data.points import Points
from omit.errors import InvalidInput, WrongNeighbours
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, Relation, require_guarantee
from omit.laws.noise import Noise


class ProtectedStatistic(ABC):
    """Something that is computed with a guarantee, and how its error is measured."""

    @property
    @abstractmethod
    def statistic(self) -> str:
        """What is computed, in one word; outlier distances and tables go by it."""

    @property
    @abstractmethod
    def metric(self) -> str:
        """What is measured as its error."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """The unit of the error."""

    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE, REPLACE)
    """The neighbour relations for which the noise is known, the usual one first."""
    published_runs: ClassVar[int] = 500
    """How often the paper that studied this statistic repeated its experiment."""

    @property
    def private(self) -> bool:
        """Whether the noise gives the guarantee; variants for comparing with papers may not."""
        return True

    def require_relation(self, guarantee: Guarantee) -> None:
        """Refuse what is no DP guarantee, or one under a relation without known noise."""
        require_guarantee(guarantee)
        if guarantee.neighbours not in self.relations:
            raise WrongNeighbours(
                f"{self} has no noise for the relation {guarantee.neighbours}; "
                f"state the guarantee under {' or '.join(self.relations)}."
            )


Counts = NDArray[np.int64]


class Mechanism(ProtectedStatistic):
    """A protected statistic of one column."""

    @abstractmethod
    def truth(self, column: Column) -> Any:
        """Return the statistic of the column itself, which answers are compared with."""

    @abstractmethod
    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return one protected answer for each row of counts of the column's values.

        `bounds` are those of the values that can be left; they may be narrower than the
        column's own.
        """

    @abstractmethod
    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        """Return the error of each answer, in the unit of the mechanism."""

    def expected_errors(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: Any,
    ) -> FloatArray | None:
        """Return the error of each row of counts, averaged over the noise.

        None, as here, where that is no formula; simulations then draw noise, too.
        """
        return None

    def largest_error(self, bounds: tuple[float, float] | None, truth: Any) -> float:
        """Return the largest error that an answer can have; infinite, as here, if there is none."""
        return math.inf

    def unseen_error(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: Any,
        runs: int,
    ) -> float:
        """Return about what answers too rare for so many runs add to the error on these counts.

        Nothing, as here, unless answers can be arbitrarily far off.
        """
        return 0.0


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


Measure = Literal["squared", "relative"]


class Moments(NamedTuple):
    """The mean and the variance of the answer over the noise, for each row of counts."""

    mean: FloatArray
    variance: FloatArray


class NearZero(NamedTuple):
    """A column, bounds and a truth less an origin, so that floats have digits for differences."""

    column: Column
    bounds: tuple[float, float] | None
    truth: float
    origin: float

    @classmethod
    def of(
        cls,
        column: Column,
        bounds: tuple[float, float] | None,
        truth: float = 0.0,
        statistic: Callable[[Column], float] | None = None,
    ) -> NearZero:
        """Return all three, moved if the column is far from 0.

        If the truth is the column's own `statistic`, it is then known to more digits than the
        float that stands for it has.
        """
        moved, origin = column.moved_to_zero()
        if origin == 0:
            return cls(column, bounds, truth, 0.0)
        moved_bounds = None if bounds is None else (bounds[0] - origin, bounds[1] - origin)
        own = statistic is not None and truth == statistic(column)
        moved_truth = statistic(moved) if own and statistic is not None else truth - origin
        return cls(moved, moved_bounds, moved_truth, origin)


class IntegrableMechanism(Mechanism):
    """A protected statistic whose answer has known moments, given the records.

    Defined under replace, where the number of records is public. `measure` is ``"squared"`` for
    the mean squared error or ``"relative"`` for the expected distance in per cent of the truth.
    """

    measure: Measure
    relations: ClassVar[tuple[Relation, ...]] = (REPLACE,)
    published_runs: ClassVar[int] = 1000

    @property
    def metric(self) -> str:
        """Mean squared error, or relative error."""
        return "mean squared error" if self.measure == "squared" else "relative error"

    @property
    def unit(self) -> str:
        """Squared units, or per cent."""
        return "squared units" if self.measure == "squared" else "%"

    @abstractmethod
    def moments(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> Moments:
        """Return the mean and the variance of the answer for each row of counts."""

    @abstractmethod
    def distances(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: float,
    ) -> FloatArray:
        """Return the expected distance of the answer from the truth for each row of counts."""

    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        """Return squared differences to the truth, or distances in per cent of it."""
        if self.measure == "squared":
            return as_array((answers - truth) ** 2)
        return as_array(self.per_cent(truth) * np.abs(answers - truth))

    def expected_errors(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: float,
    ) -> FloatArray:
        """Return the expected error over the noise for each row of counts."""
        near = NearZero.of(column, bounds, truth, self.truth)
        if self.measure == "squared":
            mean, variance = self.moments(near.column, counts, near.bounds, guarantee)
            return as_array((mean - near.truth) ** 2 + variance)
        distances = self.distances(near.column, counts, near.bounds, guarantee, near.truth)
        return as_array(self.per_cent(truth) * distances)

    @staticmethod
    def per_cent(truth: float) -> float:
        """Return by what a distance is multiplied to be in per cent of the truth."""
        if truth == 0:
            raise InvalidInput("The truth is 0, so a relative error does not exist.")
        return 100 / abs(truth)

    def _checked_measure(self) -> None:
        if self.measure not in ("squared", "relative"):
            raise InvalidInput(f"Expected measure={self.measure!r} to be 'squared' or 'relative'.")


class AdditiveMechanism(IntegrableMechanism):
    """A statistic plus noise of one kind, whose scale may depend on the records."""

    @abstractmethod
    def unit_noise(self, guarantee: Guarantee) -> Noise:
        """Return the kind of noise."""

    @abstractmethod
    def centers_and_scales(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the statistic of each row of counts and the scale of its noise."""

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return one noisy statistic for each row of counts."""
        # The noise is added near 0: a statistic that was rounded far from 0 jumps by more than it
        # was calibrated for, while an answer may be rounded as one likes.
        near = NearZero.of(column, bounds)
        centers, scales = self.centers_and_scales(near.column, counts, near.bounds, guarantee)
        noisy = centers + scales * self.unit_noise(guarantee).draw(rng, centers.shape)
        return as_array(noisy + near.origin)

    def moments(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> Moments:
        """Return the statistic of each row and the variance of its noise."""
        centers, scales = self.centers_and_scales(column, counts, bounds, guarantee)
        return Moments(centers, self.unit_noise(guarantee).variance * scales**2)

    def distances(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: float,
    ) -> FloatArray:
        """Return the expected distance of each row's noisy statistic from the truth."""
        centers, scales = self.centers_and_scales(column, counts, bounds, guarantee)
        return self.unit_noise(guarantee).mean_distance(centers - truth, scales)


def by_size(scale: Callable[[int], float], sizes: NDArray[np.int64]) -> FloatArray:
    """Return the scale for each number of records, computed once for equal numbers."""
    scales = {int(size): scale(int(size)) for size in np.unique(sizes)}
    return as_array([scales[int(size)] for size in sizes])


def require_bounds(bounds: tuple[float, float] | None, what: str) -> tuple[float, float]:
    """Return bounds, or refuse a column that has none."""
    if bounds is None:
        raise InvalidInput(f"The {what} needs a column of numbers with declared bounds.")
    if bounds[0] == bounds[1]:
        raise InvalidInput(f"The bounds are one point, so the {what} is public and needs no noise.")
    return bounds
