"""Losses of a clustering after an omission, by simulation with common random numbers.

Every run has its own random stream, and every setting the same sequence of runs: run number seven
draws the same uniform numbers to decide which records stay, the same first centres and the same
standard noise, whatever the omission and the guarantee are. So two settings differ by what is
compared and hardly by luck, and their difference, taken run by run, is sharp.

A clustering may start badly once in a thousand runs and lose a hundred times as much then, so its
mean need not be normal, and runs without such a start show nothing of it. But no loss exceeds what
the farthest corners of the declared bounds cost: intervals rest on that alone.

Clusterings with and without omission at the same guarantee, compared run by run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.points import Points
from omit.errors import InvalidInput
from omit.exact.error import Error
from omit.guarantee import Guarantee
from omit.laws.intervals import MISSED, Interval, bounded_interval, judge
from omit.mechanisms.base import Clustering, PreparedClustering
from omit.omissions.base import Omission

MeasuredOn: TypeAlias = Literal["all", "kept", "kept-sum"]

_FIRST_LOOK = 256
_ROUNDING = 1e-9


class Losses:
    """The losses of run after run, drawn when they are first asked for.

    `largest` is what none of them exceeds.
    """

    def __init__(self, runs: Iterator[float], largest: float) -> None:
        self.largest = largest
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
            elif measured_on == "kept-sum":
                yield len(kept) * prepared.loss(centres, kept)
            else:
                # The average over nobody is not defined.
                yield prepared.loss(centres, kept) if len(kept) else math.nan

    return Losses(losses(), _largest_loss(prepared, measured_on))


def _largest_loss(prepared: PreparedClustering, measured_on: MeasuredOn) -> float:
    """Return what no loss exceeds, whichever records are kept."""
    each = prepared.largest_losses()
    largest = {"all": each.mean(), "kept": each.max(), "kept-sum": each.sum()}[measured_on]
    # Losses are added up in another order.
    return float(largest) * (1 + _ROUNDING)


def looks(runs: int, early_stop: bool) -> tuple[int, ...]:
    """Return after how many runs a verdict is looked for: doubling up to `runs`, or only then.

    Examples
    --------
    >>> looks(2000, early_stop=True), looks(2000, early_stop=False)
    ((256, 512, 1024, 2000), (2000,))
    """
    runs = _validate.positive_integer("runs", runs)
    planned = []
    if early_stop:
        count = _FIRST_LOOK
        while count < runs:
            planned.append(count)
            count *= 2
    return (*planned, runs)


def loss_error(losses: Losses, mechanism: Clustering) -> Error:
    """Return all losses so far as an expected error with its interval and quantiles.

    Raises
    ------
    InvalidInput
        If nothing was measured in any run.
    """
    present = losses.known[~np.isnan(losses.known)]
    if not len(present):
        raise InvalidInput(
            "No run left any record, so nothing can be measured on those kept; "
            "measure on all records, or leave fewer out."
        )
    found = bounded_interval(present, 0.0, losses.largest)
    median, quantile_90 = (float(each) for each in np.quantile(present, [0.5, 0.9]))
    return Error(
        found.value,
        found.low,
        found.high,
        "simulated",
        mechanism.metric,
        mechanism.unit,
        median,
        quantile_90,
        len(present),
    )


# A difference known to this share of the error without omission is known well enough.
_SHARP = 0.002


def compared_losses(
    points: Points,
    mechanism: Clustering,
    settings: Sequence[tuple[Omission, Guarantee]],
    runs: int,
    seed: int,
    *,
    early_stop: bool = True,
    measured_on: MeasuredOn = "all",
) -> Iterator[tuple[Error, Interval]]:
    """Yield for each setting its error, and its difference to the first setting's.

    Parameters
    ----------
    points, mechanism, measured_on
        As for `clustering_losses`.
    settings : sequence of (Omission, Guarantee)
        Omissions with the guarantee of the mechanism itself; the first is what others are
        compared with.
    runs : int
        How many runs at most.
    seed : int
        All settings start from it.
    early_stop : bool
        Whether a setting stops before that, when its difference is above or below 0, with an error
        probability of 5 % over all looks together, or known to 0.2 % of the first setting's error.
    """
    planned = looks(runs, early_stop)

    def losses(omission: Omission, base: Guarantee) -> Losses:
        rng = np.random.default_rng(seed)
        return clustering_losses(points, mechanism, base, omission, rng, measured_on)

    baseline = losses(*settings[0])
    baseline.first(planned[0])
    found: list[tuple[Losses, Interval]] = []
    for omission, base in settings[1:]:
        other = losses(omission, base)
        for count in planned:
            difference = _difference(baseline, other, count)
            sharp = _SHARP * abs(float(np.nanmean(baseline.first(count))))
            decided = judge(difference) != "undecided"
            if decided or difference.high - difference.low < 2 * sharp:
                break
        found.append((other, difference))
    yield loss_error(baseline, mechanism), Interval(0.0, 0.0, 0.0)
    for (omission, _), (other, difference) in zip(settings[1:], found, strict=True):
        try:
            own = loss_error(other, mechanism)
        except InvalidInput as error:
            raise InvalidInput(f"{omission}: {error}") from error
        yield _sharpened(own, baseline, other), difference


def _difference(baseline: Losses, other: Losses, count: int, missed: float = MISSED) -> Interval:
    """Return by how much the losses of so many runs differ, run by run.

    The interval holds whenever the runs end, and whatever is rare.
    """
    values = other.first(count) - baseline.first(count)
    return bounded_interval(values, -baseline.largest, other.largest, missed)


def _sharpened(own: Error, baseline: Losses, other: Losses) -> Error:
    """Return the error of a setting that stopped early, with the help of the first one's runs.

    It is the first setting's error and what the difference adds to it; each half of the sum may be
    wrong half as often. Where that is no sharper than the setting's own runs, these are used.
    """
    count = len(other.known)
    if count == len(baseline.known):
        return own
    start = bounded_interval(baseline.known, 0.0, baseline.largest, MISSED / 2)
    step = _difference(baseline, other, count, MISSED / 2)
    low, high = max(start.low + step.low, 0.0), start.high + step.high
    if not high - low < own.high - own.low:
        return own
    return replace(own, value=start.value + step.value, low=low, high=high)
