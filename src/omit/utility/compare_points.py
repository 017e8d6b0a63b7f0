"""Clusterings with and without omission at the same guarantee, compared run by run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from omit.data.points import Points
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.clustering import Clustering
from omit.omissions.base import Omission
from omit.utility.error import Error
from omit.utility.intervals import MISSED, Interval, bounded_interval
from omit.utility.simulated_points import (
    Losses,
    MeasuredOn,
    clustering_losses,
    looks,
    loss_error,
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
            decided = difference.low > 0 or difference.high < 0
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
