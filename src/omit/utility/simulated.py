"""Expected errors by simulation on counts of values, for every mechanism and every omission.

Records are never drawn one by one: an omission draws the counts that are left, a mechanism answers
on them, or says what it errs by on average over its noise. Intervals are 95 % confidence intervals:
Wilson's for probabilities, normal otherwise, or, where runs are too skewed for it, one for all
bounded runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from omit import _validate
from omit._numeric import FloatArray
from omit.data.column import Column
from omit.guarantee import Guarantee
from omit.mechanisms.base import Counts, Mechanism
from omit.omissions.base import Omission
from omit.utility.error import Error
from omit.utility.intervals import (
    bounded_interval,
    is_skewed,
    normal_interval,
    wilson_interval,
)

DEFAULT_RUNS = 2000

# Counts held at a time.
_TABLE = 2_000_000
# What rare answers add to an error is noticed in its interval from this part of its width on.
_NOTICED = 0.02


def simulated_errors(
    column: Column,
    mechanism: Mechanism,
    base: Guarantee,
    omission: Omission,
    truth: Any,
    runs: int,
    rng: np.random.Generator,
    integrate: bool = False,
) -> FloatArray:
    """Return the error of each of so many runs of the mechanism after the omission.

    With `integrate`, averaged over the noise where that is a formula: only the records are drawn.
    """
    runs = _validate.positive_integer("runs", runs)
    bounds = None if column.bounds is None else omission.restrict(column.bounds)
    errors = []
    for counts in drawn_counts(column, omission, runs, rng):
        expected = None
        if integrate:
            expected = mechanism.expected_errors(column, counts, bounds, base, truth)
        if expected is not None:
            errors.append(expected)
            continue
        answers = mechanism.answers(column, counts, bounds, base, rng)
        errors.append(mechanism.errors(answers, truth))
    return np.concatenate(errors)


def drawn_counts(
    column: Column, omission: Omission, runs: int, rng: np.random.Generator
) -> Iterator[Counts]:
    """Yield the counts of so many draws, as many at a time as memory should hold."""
    at_a_time = max(1, min(runs, _TABLE // len(column.counts)))
    for start in range(0, runs, at_a_time):
        yield omission.draw_counts(column, min(at_a_time, runs - start), rng)


def simulated_error(
    column: Column,
    mechanism: Mechanism,
    base: Guarantee,
    omission: Omission,
    truth: Any,
    runs: int,
    rng: np.random.Generator,
    reason: str | None = None,
    integrate: bool = False,
) -> Error:
    """Return the mean of simulated errors with its 95 % interval.

    That of the normal distribution, or, if the runs are too skewed for it and the error is bounded,
    one that holds for all bounded runs.
    """
    errors = simulated_errors(column, mechanism, base, omission, truth, runs, rng, integrate)
    value = float(errors.mean())
    median = quantile_90 = None
    skewed = False
    if mechanism.unit == "probability":
        low, high = wilson_interval(value, runs)
    else:
        bounds = None if column.bounds is None else omission.restrict(column.bounds)
        largest = mechanism.largest_error(bounds, truth)
        skewed, interval = is_skewed(errors), normal_interval(errors)
        if skewed and math.isfinite(largest):
            skewed, interval = False, bounded_interval(errors, 0.0, largest)
        elif not integrate:
            counts = omission.draw_counts(column, 1, rng)
            unseen = mechanism.unseen_error(column, counts, bounds, base, truth, runs)
            skewed = skewed or unseen > _NOTICED * (interval.high - interval.low)
        interval = interval.within(0.0, largest)
        low, high = interval.low, interval.high
        if not integrate:
            median, quantile_90 = (float(level) for level in np.quantile(errors, [0.5, 0.9]))
    return Error(
        value,
        low,
        high,
        "simulated",
        mechanism.metric,
        mechanism.unit,
        median,
        quantile_90,
        runs,
        reason,
        skewed=skewed,
    )
