"""Expected errors by simulation on counts of values, for every mechanism and every omission.

Records are never drawn one by one: an omission draws the counts that are left, a mechanism answers
on them. Intervals are 95 % confidence intervals: Wilson's for probabilities, normal otherwise.
"""

from __future__ import annotations

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
from omit.utility.intervals import normal_interval, wilson_interval

DEFAULT_RUNS = 2000

# Counts held at a time.
_TABLE = 2_000_000


def simulated_errors(
    column: Column,
    mechanism: Mechanism,
    base: Guarantee,
    omission: Omission,
    truth: Any,
    runs: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the error of each of so many runs of the mechanism after the omission."""
    runs = _validate.positive_integer("runs", runs)
    bounds = None if column.bounds is None else omission.restrict(column.bounds)
    errors = []
    for counts in drawn_counts(column, omission, runs, rng):
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
) -> Error:
    """Return the mean of simulated errors with its 95 % interval."""
    errors = simulated_errors(column, mechanism, base, omission, truth, runs, rng)
    value = float(errors.mean())
    if mechanism.unit == "probability":
        low, high = wilson_interval(value, runs)
        median = quantile_90 = None
    else:
        interval = normal_interval(errors).within(0.0)
        low, high = interval.low, interval.high
        median, quantile_90 = (float(each) for each in np.quantile(errors, [0.5, 0.9]))
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
    )
