"""Expected errors by simulation on counts of values, for every mechanism and every omission.

Records are never drawn one by one: an omission draws the counts that are left, a mechanism answers
on them, or says what it errs by on average over its noise. Intervals are 95 % confidence intervals:
that of Clopper and Pearson for probabilities, normal otherwise, or, where runs are too skewed for
it, one for all bounded runs.

Expected errors of mechanisms whose noise can be integrated out.

Without omission, everything is a formula. On samples without replacement, the sampling error of a
mean or a quantile is exact, and so is the noise where it does not depend on the records. Where it
does (smooth sensitivity, the exponential mechanism, propose-test-release), samples are drawn and
the error of each is a formula: only the records are random, not the noise (Rao and Blackwell).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.accuracy.rare_failures import rare_failure_interval
from omit.data.column import Column
from omit.errors import InvalidInput, NotExact
from omit.exact.error import Error, Parts
from omit.exact.order import (
    SampledMoments,
    quantile_ranks,
    rank_probabilities,
    sampled_mean,
    sampled_quantile,
)
from omit.guarantee import Guarantee
from omit.laws.intervals import (
    bounded_interval,
    clopper_pearson_interval,
    is_skewed,
    normal_interval,
)
from omit.mechanisms.base import AdditiveMechanism, Counts, IntegrableMechanism, Mechanism, NearZero
from omit.mechanisms.mean import KnownSizeMean
from omit.mechanisms.quantiles import (
    GlobalQuantile,
    ProposeTestRelease,
    QuantileMechanism,
    row_quantiles,
)
from omit.omissions.base import Omission
from omit.omissions.sampling import FixedSizeSampling, NoOmission

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
        low, high = clopper_pearson_interval(round(value * runs), runs)
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


# What rounding can do to a sum over all records, relative to the result.
_ROUNDING = 1e-9
# Beyond, the probabilities of all ranks would not fit into memory with ease.
_LARGEST_POPULATION = 20_000_000
# Errors that are not finite are refused with a sentence, not with numpy's warnings.
_OVERFLOW_IS_REFUSED = np.errstate(over="ignore", invalid="ignore")


@_OVERFLOW_IS_REFUSED
def exact_integrated_error(
    mechanism: IntegrableMechanism,
    column: Column,
    base: Guarantee,
    omission: Omission,
    truth: float,
) -> Error:
    """Return the exact error without omission, or on a sample where the noise is the same for all.

    Raises
    ------
    NotExact
        If the noise depends on which records are drawn.
    """
    bounds = None if column.bounds is None else omission.restrict(column.bounds)
    near = NearZero.of(column, bounds, truth, mechanism.truth)
    if isinstance(omission, NoOmission) or _keeps_all(omission):
        row = column.counts[None, :]
        mean, variance = mechanism.moments(near.column, row, near.bounds, base)
        value = float(mechanism.expected_errors(column, row, bounds, base, truth)[0])
        return _exact(
            mechanism, value, base, Parts(0.0, float(variance[0]), float(mean[0] - near.truth))
        )
    sampled = sampling_moments(mechanism, near.column, omission)
    if (
        sampled is None
        or not isinstance(mechanism, KnownSizeMean | GlobalQuantile)
        or not isinstance(omission, FixedSizeSampling)
    ):
        raise NotExact("the noise depends on the sample; samples are drawn, noise is integrated")
    scale = mechanism.scale(base, near.bounds, omission.size)
    if mechanism.measure == "squared":
        row = np.zeros((1, len(column.counts)), dtype=np.int64)
        row[0, 0] = omission.size
        noise = float(mechanism.moments(near.column, row, near.bounds, base).variance[0])
        bias = sampled.mean - near.truth
        parts = Parts(sampled.variance, noise, bias)
        return _exact(mechanism, bias**2 + sampled.variance + noise, base, parts)
    if isinstance(mechanism, GlobalQuantile):
        low, high = quantile_ranks(mechanism.quantile, omission.size)
        if low == high:
            weights = rank_probabilities(column.size, omission.size, low)
            distances = np.repeat(as_array(near.column.values) - near.truth, column.counts)
            unit = mechanism.unit_noise(base)
            distance = float(
                weights @ unit.mean_distance(distances, np.full(len(distances), scale))
            )
            return _exact(mechanism, mechanism.per_cent(truth) * distance, base)
    raise NotExact("the distance of a sampled mean has no closed form; its noise is integrated")


@_OVERFLOW_IS_REFUSED
def integrated_error(
    column: Column,
    mechanism: IntegrableMechanism,
    base: Guarantee,
    omission: Omission,
    truth: float,
    runs: int,
    rng: np.random.Generator,
    reason: str | None = None,
) -> Error:
    """Return the mean error of drawn samples, each integrated over its noise, and its interval."""
    runs = _validate.positive_integer("runs", runs)
    bounds = None if column.bounds is None else omission.restrict(column.bounds)
    parts, exact = None, 0.0
    if mechanism.measure == "squared":
        drawn, exact, parts = _squared_errors(
            column, mechanism, base, omission, bounds, truth, runs, rng
        )
    else:
        drawn = np.concatenate(
            [
                mechanism.expected_errors(column, counts, bounds, base, truth)
                for counts in drawn_counts(column, omission, runs, rng)
            ]
        )
    value = exact + float(drawn.mean())
    _require_finite(value, base)
    if isinstance(mechanism, ProposeTestRelease):
        skewed, interval = (
            False,
            rare_failure_interval(
                NearZero.of(column, bounds, truth, mechanism.truth),
                mechanism,
                base,
                omission,
                1.0 if mechanism.measure == "squared" else mechanism.per_cent(truth),
                drawn,
                beyond_statistic=exact != 0,
            ),
        )
    else:
        skewed, interval = is_skewed(drawn), normal_interval(drawn)
    return Error(
        value,
        max(exact + interval.low - _ROUNDING * value, 0.0),
        exact + interval.high + _ROUNDING * value,
        "simulated",
        mechanism.metric,
        mechanism.unit,
        runs=runs,
        reason=reason,
        parts=parts,
        skewed=skewed,
    )


def _squared_errors(
    column: Column,
    mechanism: IntegrableMechanism,
    base: Guarantee,
    omission: Omission,
    bounds: tuple[float, float] | None,
    truth: float,
    runs: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, float, Parts]:
    """Return what each run adds to an exact part of the error, that part, and what makes it up."""
    exact = 0.0
    near = NearZero.of(column, bounds, truth, mechanism.truth)
    truth = near.truth
    sampled = sampling_moments(mechanism, near.column, omission)
    means, variances, statistics = (
        np.concatenate(each)
        for each in zip(
            *(
                _row_moments(near.column, mechanism, base, near.bounds, counts)
                for counts in drawn_counts(column, omission, runs, rng)
            ),
            strict=True,
        )
    )
    drawn = as_array((means - truth) ** 2 + variances)
    answered = SampledMoments(float(means.mean()), float(means.var()))
    if sampled is not None:
        # The error of the bare statistic is known, so only what noise adds has to be estimated.
        added = drawn - (statistics - truth) ** 2
        # Where the interval promises to hold, the runs must not choose what it is for.
        if isinstance(mechanism, ProposeTestRelease) or added.std() < drawn.std():
            drawn, exact = added, (sampled.mean - truth) ** 2 + sampled.variance
        if isinstance(mechanism, AdditiveMechanism):
            answered = sampled
    return drawn, exact, Parts(answered.variance, float(variances.mean()), answered.mean - truth)


def sampling_moments(
    mechanism: IntegrableMechanism, column: Column, omission: Omission
) -> SampledMoments | None:
    """Return the exact moments of the statistic over all samples, or None if they are not known.

    They are known on samples without replacement.
    """
    if not isinstance(omission, FixedSizeSampling):
        return None
    omission.require_population(column)
    if isinstance(mechanism, KnownSizeMean):
        return sampled_mean(column, omission.size)
    if isinstance(mechanism, QuantileMechanism) and column.size <= _LARGEST_POPULATION:
        return sampled_quantile(column, omission.size, mechanism.quantile)
    return None


def _keeps_all(omission: Omission) -> bool:
    return isinstance(omission, FixedSizeSampling) and omission.size == omission.population


def _row_moments(
    column: Column,
    mechanism: IntegrableMechanism,
    base: Guarantee,
    bounds: tuple[float, float] | None,
    counts: Counts,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean and the variance of each row's answer, and its statistic without noise."""
    means, variances = mechanism.moments(column, counts, bounds, base)
    statistics = means
    if isinstance(mechanism, QuantileMechanism) and not isinstance(mechanism, AdditiveMechanism):
        statistics = row_quantiles(as_array(column.values), counts, mechanism.quantile)[0]
    return means, variances, statistics


def _require_finite(value: float, base: Guarantee) -> None:
    """Refuse noise so wide that its error is more than a computer can hold."""
    if not math.isfinite(value):
        raise InvalidInput(
            f"The error at {base} is too large to be computed; a larger epsilon has one."
        )


def _exact(
    mechanism: IntegrableMechanism, value: float, base: Guarantee, parts: Parts | None = None
) -> Error:
    _require_finite(value, base)
    return Error(
        value,
        value * (1 - _ROUNDING),
        value * (1 + _ROUNDING),
        "exact",
        mechanism.metric,
        mechanism.unit,
        parts=parts if mechanism.measure == "squared" else None,
    )
