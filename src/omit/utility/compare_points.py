"""Clusterings with and without omission at the same guarantee, compared run by run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from omit.data.points import Points
from omit.guarantee import Guarantee
from omit.mechanisms.clustering import Clustering
from omit.omissions.base import Omission
from omit.utility.error import Error
from omit.utility.simulated_points import (
    Interval,
    Losses,
    MeasuredOn,
    clustering_losses,
    looks,
    loss_error,
    mean_interval,
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
        Whether a setting stops before that, when its difference surely is above or below 0 or is
        known to 0.2 % of the first setting's error.
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
            difference = mean_interval(other.first(count) - baseline.first(count), len(planned))
            sharp = _SHARP * abs(float(np.nanmean(baseline.first(count))))
            decided = difference.low > 0 or difference.high < 0
            if decided or difference.high - difference.low < 2 * sharp:
                break
        found.append((other, difference))
    first = loss_error(baseline.known, mechanism, len(planned))
    yield first, Interval(0.0, 0.0, 0.0)
    # The first setting's error, and what the difference adds to it: sharper than the few runs of a
    # setting that stopped early. Each half of the sum may be wrong half as often.
    start = mean_interval(baseline.known, 2 * len(planned))
    for other, difference in found:
        count = len(other.known)
        step = mean_interval(other.known - baseline.first(count), 2 * len(planned))
        yield (
            replace(
                loss_error(other.known, mechanism),
                value=start.value + step.value,
                low=max(start.low + step.low, 0.0),
                high=start.high + step.high,
            ),
            difference,
        )
