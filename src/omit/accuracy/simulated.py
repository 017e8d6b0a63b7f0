"""Expected errors by simulation, for every mechanism and every omission.

Of a column, records are never drawn one by one: a design draws the counts that are left. A
mechanism answers on them, or says what it errs by on average over its noise. Intervals are 95 %
confidence intervals: the mechanism's own, such as that of Clopper and Pearson for probabilities, or
normal ones, or, where runs are too skewed for these, one for all bounded runs.

*Common random numbers.* Draws of points have a random stream for each run, and every setting has
the same sequence of runs: run number seven draws the same uniform numbers to decide which records
stay, the same first centres and the same standard noise, whatever the omission and the guarantee
are. So two settings differ by what is compared and hardly by luck, and their difference, taken run
by run, is sharp.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.base import Data
from omit.errors import InvalidInput, NotExact
from omit.exact.bins import Blur
from omit.exact.error import ExpectedError
from omit.laws.design import Design
from omit.laws.intervals import (
    MISSED,
    Interval,
    bounded_interval,
    is_skewed,
    judge,
    normal_interval,
)
from omit.mechanisms.base import Prepared

DEFAULT_RUNS = 2000

# What rare answers add to an error is noticed in its interval from this part of its width on.
_NOTICED = 0.02
# After how many runs a verdict is looked for first.
_FIRST_LOOK = 256
# A difference known to this share of the error without omission is known well enough.
_SHARP = 0.002


def simulated_error(
    prepared: Prepared,
    data: Data,
    design: Design,
    runs: int,
    rng: np.random.Generator,
    *,
    integrate: bool = True,
    reason: str | None = None,
) -> ExpectedError:
    """Return the mean of simulated errors with its 95 % interval.

    With `integrate`, noise is averaged over where that is a formula: only records are drawn.
    `reason` is why the error is simulated though that was not asked for.

    Raises
    ------
    InvalidInput
        If records are in bins, and nobody knows how a design may part the records of one.
    """
    draws = data.draws(design, runs, rng)
    try:
        blur = prepared.blur(design)
    except NotExact as unknown:
        raise InvalidInput(
            f"What the bins of {data.name!r} do to the error is not known, because {unknown}: keep "
            "all values with bins=0 (--bins 0), or declare a step (--step)."
        ) from unknown
    if integrate:
        known = prepared.integrated_error((kept for kept, _ in draws), design, reason)
        if known is not None:
            return _blurred(known, blur)
    batches, integrated = [], False
    for kept, noise in draws:
        expected = prepared.integrated_errors(kept) if integrate else None
        integrated = expected is not None
        batches.append(prepared.errors(kept, noise) if expected is None else expected)
    errors = np.concatenate(batches)
    estimate = error_of_runs(prepared, errors, integrated)
    if not integrated and prepared.interval(errors) is None:
        kept = next(iter(data.draws(design, 1, rng)))[0]
        unseen = prepared.unseen_error(kept, runs)
        if unseen > _NOTICED * (estimate.high - estimate.low):
            estimate = replace(estimate, skewed=True)
    return _blurred(replace(estimate, reason=reason), blur)


def _blurred(error: ExpectedError, blur: Blur) -> ExpectedError:
    """Return an error whose interval also holds what bins may do to it."""
    low, high = max(error.low - blur.below, 0.0), error.high + blur.above
    return replace(error, low=low, high=high, first_order=blur.first_order)


def error_of_runs(
    prepared: Prepared, errors: FloatArray, integrated: bool = False
) -> ExpectedError:
    """Return the mean of errors with its interval, and quantiles if noise was drawn.

    Raises
    ------
    InvalidInput
        If nothing was measured in any run.
    """
    present = errors[~np.isnan(errors)]
    if not len(present):
        raise InvalidInput(
            "No run left any record, so nothing can be measured on those kept; "
            "measure on all records, or leave fewer out."
        )
    skewed, interval = False, prepared.interval(present)
    if interval is None:
        skewed, interval = is_skewed(present), normal_interval(present)
        largest = prepared.largest_error
        if skewed and math.isfinite(largest):
            skewed, interval = False, bounded_interval(present, 0.0, largest)
        interval = interval.within(0.0, largest)
    median = quantile_90 = None
    mechanism = prepared.mechanism
    if not integrated and mechanism.unit != "probability":
        median, quantile_90 = (float(level) for level in np.quantile(present, [0.5, 0.9]))
    return ExpectedError(
        interval.value,
        interval.low,
        interval.high,
        "simulated",
        mechanism.metric_name,
        mechanism.unit,
        median,
        quantile_90,
        len(present),
        skewed=skewed,
    )


class Runs:
    """The errors of run after run, drawn when they are first asked for.

    `largest` is what none of them exceeds. Equally seeded generators make runs that can be compared
    one by one, if the data are `coupled`.
    """

    def __init__(self, prepared: Prepared, drawn: Iterator[float]) -> None:
        self.prepared = prepared
        self.largest = prepared.largest_error
        self._drawn = drawn
        self._known: list[float] = []

    @classmethod
    def of(
        cls, prepared: Prepared, data: Data, design: Design, most: int, rng: np.random.Generator
    ) -> Self:
        """Return at most so many runs of a prepared mechanism on what a design leaves."""
        drawn = (
            error
            for kept, noise in data.draws(design, most, rng)
            for error in prepared.errors(kept, noise).tolist()
        )
        return cls(prepared, drawn)

    def first(self, count: int) -> FloatArray:
        """Return the errors of the first `count` runs; NaN where there was nothing to measure."""
        while len(self._known) < count:
            self._known.append(next(self._drawn))
        return as_array(self._known[:count])

    @property
    def known(self) -> FloatArray:
        """The errors of all runs so far."""
        return as_array(self._known)


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


def compared_runs(
    settings: Sequence[Runs], planned: Sequence[int]
) -> Iterator[tuple[ExpectedError, Interval]]:
    """Yield the error of each setting, and its difference to that of the first.

    A setting stops before the last of the planned looks when its difference is above or below 0,
    with an error probability of 5 % over all looks together, or known to 0.2 % of the first
    setting's error.
    """
    baseline = settings[0]
    baseline.first(planned[0])
    differences = []
    for other in settings[1:]:
        for count in planned:
            difference = _difference(baseline, other, count)
            sharp = _SHARP * abs(float(np.nanmean(baseline.first(count))))
            decided = judge(difference) != "undecided"
            if decided or difference.high - difference.low < 2 * sharp:
                break
        differences.append(difference)
    yield error_of_runs(baseline.prepared, baseline.known), Interval(0.0, 0.0, 0.0)
    for other, difference in zip(settings[1:], differences, strict=True):
        own = error_of_runs(other.prepared, other.known)
        yield _sharpened(own, baseline, other), difference


def _difference(baseline: Runs, other: Runs, count: int, missed: float = MISSED) -> Interval:
    """Return by how much the errors of this many runs differ, run by run.

    The interval holds whenever the runs end, and whatever is rare.
    """
    values = other.first(count) - baseline.first(count)
    return bounded_interval(values, -baseline.largest, other.largest, missed)


def _sharpened(own: ExpectedError, baseline: Runs, other: Runs) -> ExpectedError:
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
