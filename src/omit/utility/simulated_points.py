"""Losses of a clustering after an omission, by simulation with common random numbers.

Every run has its own random stream, and every setting the same sequence of runs: run number seven
draws the same uniform numbers to decide which records stay, the same first centres and the same
standard noise, whatever the omission and the guarantee are. So two settings differ by what is
compared and hardly by luck, and their difference, taken run by run, is sharp.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.points import Points
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.clustering import Clustering
from omit.omissions.base import Omission
from omit.utility.error import Error

MeasuredOn: TypeAlias = Literal["all", "kept", "kept-sum"]

_FIRST_LOOK = 32


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


class Losses:
    """The losses of run after run, drawn when they are first asked for."""

    def __init__(self, runs: Iterator[float]) -> None:
        self._runs = runs
        self._known: list[float] = []

    def first(self, count: int) -> FloatArray:
        """Return the losses of the first `count` runs; NaN where there was nothing to measure."""
        while len(self._known) < count:
            self._known.append(next(self._runs))
        return as_array(self._known[:count])

    @property
    def known(self) -> FloatArray:
        """The losses of all runs so far."""
        return as_array(self._known)


def require_clusters(points: Points, mechanism: Clustering, measured_on: str = "all") -> None:
    """Refuse more clusters than there are different records, and a measure that is not known."""
    if measured_on not in get_args(MeasuredOn):
        choices = ", ".join(get_args(MeasuredOn))
        raise InvalidInput(f"Expected measured_on={measured_on!r} to be one of: {choices}.")
    if mechanism.k > points.distinct:
        raise InvalidInput(
            f"Expected k={mechanism.k} to be at most the number of different records of "
            f"{points.name}, which is {points.distinct}."
        )


def clustering_losses(
    points: Points,
    mechanism: Clustering,
    base: Guarantee,
    omission: Omission,
    rng: np.random.Generator,
    measured_on: MeasuredOn = "all",
) -> Losses:
    """Return the losses of runs of the mechanism after the omission, without end.

    Parameters
    ----------
    points, mechanism, omission
        What is clustered, how, and what is left out before.
    base : Guarantee
        That of the mechanism itself.
    rng : numpy.random.Generator
        Equally seeded generators make runs that can be compared one by one.
    measured_on : {"all", "kept", "kept-sum"}
        Whose distances make the loss: the average over all records; over those that were kept, as
        in the published experiments; or the sum over those kept, as in the theory of Blocki et al.
    """
    which, runs = rng.spawn(2)
    prepared = mechanism.prepare(points, base)

    def losses() -> Iterator[float]:
        for kept in omission.draw_kept(points, which):
            stream = np.random.default_rng(runs.integers(2**63))
            centres = prepared.centres(kept, stream)
            if measured_on == "all":
                yield prepared.loss(centres)
            elif len(kept) == 0:
                yield math.nan
            else:
                weight = len(kept) if measured_on == "kept-sum" else 1
                yield weight * prepared.loss(centres, kept)

    return Losses(losses())


def looks(runs: int, early_stop: bool) -> tuple[int, ...]:
    """Return after how many runs a verdict is looked for: doubling up to `runs`, or only then.

    Examples
    --------
    >>> looks(200, early_stop=True), looks(200, early_stop=False)
    ((32, 64, 128, 200), (200,))
    """
    runs = _validate.positive_integer("runs", runs)
    planned = []
    if early_stop:
        count = _FIRST_LOOK
        while count < runs:
            planned.append(count)
            count *= 2
    return (*planned, runs)


def mean_interval(values: FloatArray, planned_looks: int = 1) -> Interval:
    """Return the mean with a 95 % interval that holds at all of so many looks together.

    Student's interval; where one may stop at several looks, the error probability is divided among
    them (Bonferroni). Missing values are left out.

    Raises
    ------
    InvalidInput
        If no value is there.

    Examples
    --------
    >>> mean_interval(np.array([1.0, 2.0, 3.0]))
    Interval(value=2.0, low=-0.484..., high=4.484...)
    """
    from scipy.special import stdtrit

    present = values[~np.isnan(values)]
    if not len(present):
        raise InvalidInput(
            "No run left any record, so nothing can be measured on those kept; "
            "measure on all records, or leave fewer out."
        )
    value = float(present.mean())
    if len(present) == 1:
        return Interval(value, -math.inf, math.inf)
    quantile = float(stdtrit(len(present) - 1, 1 - 0.025 / planned_looks))
    margin = quantile * float(present.std(ddof=1)) / math.sqrt(len(present))
    return Interval(value, value - margin, value + margin)


def loss_error(losses: FloatArray, mechanism: Clustering, planned_looks: int = 1) -> Error:
    """Return losses as an expected error with its interval and quantiles."""
    found = mean_interval(losses, planned_looks)
    present = losses[~np.isnan(losses)]
    median, quantile_90 = (float(each) for each in np.quantile(present, [0.5, 0.9]))
    return Error(
        found.value,
        max(found.low, 0.0),
        found.high,
        "simulated",
        mechanism.metric,
        mechanism.unit,
        median,
        quantile_90,
        len(present),
    )
