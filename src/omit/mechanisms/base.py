"""The contract of a protected statistic.

A mechanism says what is computed and how it is judged. Told data, a promise and a truth, it becomes
a prepared mechanism, which is calibrated once and ready for any number of draws of what an omission
leaves. It knows nothing of omissions: it is handed what is left, or the law of it (a `Design`).

*To add a mechanism*, derive from `Mechanism` and write `prepare`, which returns an object of a
class derived from `Prepared` with the one method `errors`; it can then be compared by simulation at
once. With `integrated_errors` noise need not be drawn, and with `exact_error` nothing is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.base import Data
from omit.data.column import Column
from omit.errors import InvalidInput, NotExact, WrongNeighbours
from omit.exact.bins import NO_BLUR, Blur
from omit.exact.error import ExpectedError, Parts
from omit.guarantee import (
    ADD_REMOVE,
    REPLACE,
    Guarantee,
    NoNoiseNeeded,
    Relation,
    require_guarantee,
)
from omit.laws.design import Design
from omit.laws.intervals import Interval, clopper_pearson_interval

Promise: TypeAlias = Guarantee | NoNoiseNeeded
Counts: TypeAlias = NDArray[np.int64]
Bounds: TypeAlias = tuple[float, float]


class Mechanism(ABC):
    """A protected statistic, before it is told data and a promise.

    Frozen, comparable, printable and picklable: a dataclass of its parameters.

    Examples
    --------
    >>> from omit import NoisyMean
    >>> NoisyMean().statistic, NoisyMean().metric, isinstance(NoisyMean(), Mechanism)
    ('mean', 'relative', True)
    """

    @property
    @abstractmethod
    def statistic(self) -> str:
        """What is computed, in one word."""

    @property
    @abstractmethod
    def metric(self) -> str:
        """What is measured as its error, or which of several errors."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """The unit of the error; errors in the unit "probability" are 0 or 1."""

    data_type: ClassVar[type[Data]] = Column
    """What data it is computed from: `Column` or `Points`."""
    distance: ClassVar[str] = "absolute"
    """What makes a record an outlier for it: "absolute", "discrete" or "euclidean"."""
    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE, REPLACE)
    """The neighbour relations for which the noise is known, the usual one first."""
    takes_bins: ClassVar[bool] = False
    """Whether it knows what the bins of a continuous column do to its error: `Prepared.blur`."""
    within_bounds: ClassVar[bool] = False
    """Whether it answers with a number that the declared bounds hold, and `truth` is one, too."""

    @property
    def published_runs(self) -> int:
        """How often the paper that studied this statistic repeated its experiment."""
        return 500

    @property
    def metric_name(self) -> str:
        """The metric as people read it."""
        return self.metric

    @property
    def private(self) -> bool:
        """Whether the noise gives the guarantee; variants for comparing with papers may not."""
        return True

    @property
    def searches_sizes(self) -> bool:
        """Whether samples of any size, from one record on, may be the best."""
        return False

    def averages_two(self, size: int) -> bool:
        """Tell whether the answer from this many records is the mean of two of them.

        One exchanged record moves such a mean by as little as half as much as it moves a single
        record, so even and odd sizes differ in noise, whether sampling pays or not.
        """
        return False

    @abstractmethod
    def prepare(
        self, data: Any, promise: Promise, *, bounds: Any = None, truth: Any = None
    ) -> Prepared:
        """Return the mechanism on these data, calibrated and ready for any number of draws.

        Parameters
        ----------
        data : Column or Points
            The confidential data, of the type `data_type`.
        promise : Guarantee or NoNoiseNeeded
            What the mechanism itself must have. Where no noise is needed, none is added.
        bounds : optional
            Those of the values that can be left; by default those of the data.
        truth : optional
            What answers are compared with; by default the statistic of the data, of numbers that
            are clamped that of the values as they are.

        Raises
        ------
        InvalidInput
            If something does not fit.
        WrongNeighbours
            If no noise is known for the relation of the promise.
        """

    def require_fit(self, data: Any, truth: Any) -> None:
        """Refuse data or a truth that no error of this mechanism can be asked about.

        Here that is a column in bins, unless it `takes_bins`. What else makes an answer impossible
        is refused by `prepare`.
        """
        if data.is_binned and not self.takes_bins:
            data.require_values(f"the {self.statistic}")

    def require_relation(self, guarantee: Guarantee) -> None:
        """Refuse what is no DP guarantee, or one under a relation without known noise."""
        require_guarantee(guarantee)
        if guarantee.neighbours not in self.relations:
            raise WrongNeighbours(
                f"{self} has no noise for the relation {guarantee.neighbours}; "
                f"state the guarantee under {' or '.join(self.relations)}."
            )


class NumberMechanism(Mechanism):
    """A statistic that is a number, whose error is relative to the truth or squared."""

    @property
    def metric_name(self) -> str:
        """Relative error, or mean squared error."""
        return METRICS[self.metric][0]

    @property
    def unit(self) -> str:
        """Per cent, or squared units."""
        return METRICS[self.metric][1]


class Prepared(ABC):
    """A mechanism with its data, its noise and its truth, ready for any number of draws.

    Examples
    --------
    >>> import numpy as np
    >>> from omit import Guarantee, NoisyMean, NoOmission, read
    >>> prepared = NoisyMean().prepare(read([20, 30, 40], bounds=(0, 100)), Guarantee(1e9))
    >>> round(float(prepared.truth), 6)
    30.0
    """

    mechanism: Mechanism
    truth: Any
    """What answers are compared with."""
    notes: tuple[str, ...] = ()
    """What must be said with results at this promise."""

    @abstractmethod
    def errors(self, kept: Any, rng: np.random.Generator) -> FloatArray:
        """Return the error of one protected answer for each draw of a batch.

        `kept` is what `Data.draws` yields: rows of counts of a column's values, or the positions
        of the records that one draw leaves of points. NaN where there is nothing to measure.
        """

    def expanded(self, expansion: float) -> Prepared:
        """Return the same for answers that speak of all records though only some are kept.

        Totals are multiplied by `Design.expansion`. A mean, a mode or a quantile stays as it is,
        as here.
        """
        return self

    def integrated_errors(self, kept: Any) -> FloatArray | None:
        """Return the same, averaged over the noise; None, as here, where that is no formula."""
        return None

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the exact expected error over noise and design.

        Parameters
        ----------
        design : Design
            The law of what is left.
        tolerance : float
            The relative precision to reach, where that costs time.
        details : bool
            Whether to add quantiles, and what the omission and what the noise costs.
        quick : bool
            Whether to give up rather than to take longer than a simulation.

        Raises
        ------
        NotExact
            If there is none, as here; the message is the reason.
        """
        raise NotExact(f"no exact engine knows {self.mechanism}")

    def parts(self, design: Design) -> Parts | None:
        """Return what makes up the error; None, as here, where only the error itself says it."""
        return None

    @property
    def clamping(self) -> float:
        """By how much clamping moves the statistic of all records, in the unit of `Parts`.

        0, as here, for what does not clamp values or compares with the clamped ones.
        """
        return 0.0

    def blur(self, design: Design) -> Blur:
        """Return by how much the error may be off because values are the means of bins.

        `exact_error` has it in its precision; a simulation adds it to its interval. Nothing, as
        here, for values of records.
        """
        return NO_BLUR

    def least_error(self, design: Design) -> float:
        """Return a number that the expected error is surely not below, in little time.

        0, as here, if nothing better is known. A search need not look at what cannot be best.
        """
        return 0.0

    def integrated_error(
        self, draws: Iterable[Any], design: Design, reason: str | None
    ) -> ExpectedError | None:
        """Return the error over drawn records where part of it is known exactly; else None.

        None, as here, does not look at the draws.
        """
        return None

    def interval(self, errors: FloatArray) -> Interval | None:
        """Return an interval for the mean of drawn errors that fits this mechanism.

        That of Clopper and Pearson for probabilities. None leaves the choice to the simulation:
        normal, or, if the errors are skewed and there is a `largest_error`, one for all bounded
        errors.
        """
        if self.mechanism.unit != "probability":
            return None
        value = float(errors.mean())
        return Interval(value, *clopper_pearson_interval(round(value * len(errors)), len(errors)))

    @property
    def largest_error(self) -> float:
        """The largest error that an answer can have; infinite, as here, if there is none."""
        return math.inf

    def unseen_error(self, kept: Any, runs: int) -> float:
        """Return about what answers too rare for this many runs add to the error.

        Nothing, as here, unless answers can be arbitrarily far off.
        """
        return 0.0

    def _over_outcomes(self, counts: Counts, design: Design, otherwise: str) -> float:
        """Return the error averaged over all that can be left of these counts.

        Raises
        ------
        NotExact
            If that is too much, or the noise is not integrated; otherwise said for reason.
        """
        outcomes = design.outcomes(counts)
        errors = None if outcomes is None else self.integrated_errors(outcomes[0])
        if outcomes is None or errors is None:
            raise NotExact(otherwise)
        return float(outcomes[1] @ errors)

    def _exactly(self, value: float, precision: float = 0.0, **details: Any) -> ExpectedError:
        """Return an exact error in the metric and unit of the mechanism."""
        mechanism = self.mechanism
        low, high = max(value - precision, 0.0), value + precision
        return ExpectedError(
            value, low, high, "exact", mechanism.metric_name, mechanism.unit, **details
        )


def public_size(design: Design) -> int | None:
    """Return how many records are left of a sample, if that is always the same number."""
    return None if design.keeps_all or design.inclusion is not None else design.size


def given_or_own(truth: Any, own: float) -> float:
    """Return a truth that was given, a finite number, or else that of the data."""
    return own if truth is None else _validate.finite("truth", truth)


def per_cent(truth: float) -> float:
    """Return by what a distance is multiplied to be in per cent of the truth."""
    if truth == 0:
        raise InvalidInput("The truth is 0, so a relative error does not exist.")
    return 100 / abs(truth)


def per_unit(metric: str, truth: float) -> float:
    """Return by what a distance is multiplied to be a part of an error in this metric."""
    return 1.0 if metric == "squared" else per_cent(truth)


def number_errors(metric: str, answers: NDArray[Any], truth: float) -> FloatArray:
    """Return squared differences to the truth, or distances in per cent of it."""
    return distance_errors(metric, as_array(np.abs(answers - truth)), truth)


def distance_errors(metric: str, distances: FloatArray, truth: float) -> FloatArray:
    """Return the errors of answers at these distances from the truth.

    Far from 0 an answer is rounded by more than its distance, so that is computed before the answer
    is.
    """
    return as_array(distances**2 if metric == "squared" else per_cent(truth) * distances)


METRICS = {
    "squared": ("mean squared error", "squared units"),
    "relative": ("relative error", "%"),
}
"""The metrics of a statistic that is a number, with their names and units."""


def require_metric(metric: str) -> None:
    """Refuse what is no metric of a number."""
    if metric not in METRICS:
        raise InvalidInput(f"Expected metric={metric!r} to be 'squared' or 'relative'.")


def require_bounds(bounds: Bounds | None, what: str) -> Bounds:
    """Return bounds, or refuse a column that has none."""
    if bounds is None:
        raise InvalidInput(f"The {what} needs a column of numbers with declared bounds.")
    if bounds[0] == bounds[1]:
        raise InvalidInput(f"The bounds are one point, so the {what} is public and needs no noise.")
    return bounds


def independent_inclusion(design: Design, atoms: int) -> FloatArray:
    """Return the keep probabilities of a design, one for each atom of the data.

    Raises
    ------
    NotExact
        If records are not kept independently.
    """
    if design.inclusion is not None:
        return design.inclusion
    if design.keeps_all:
        return np.ones(atoms)
    if design.size is not None:
        raise NotExact("records of a sample of fixed size are not kept independently")
    raise NotExact("records are not kept independently")
