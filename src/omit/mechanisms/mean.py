"""The mean: a noisy sum over a count that is noisy or public, or two noisy sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput, NotExact
from omit.exact.error import ExpectedError, Parts
from omit.exact.noisy_quotient import NoisyQuotient
from omit.exact.order import SampledMoments, sampled_mean
from omit.exact.quotient import SMALLEST_COUNT, Quotient
from omit.exact.two_sums import TwoSums
from omit.guarantee import REPLACE, Guarantee, NoNoiseNeeded
from omit.laws.design import Design, FixedSize
from omit.laws.noise import LogConcaveNoise, NoNoise, noise_named
from omit.mechanisms.base import (
    Bounds,
    Counts,
    NumberMechanism,
    Prepared,
    Promise,
    distance_errors,
    given_or_own,
    independent_inclusion,
    number_errors,
    per_cent,
    require_bounds,
    require_metric,
)
from omit.mechanisms.moments import NearZero, PreparedAdditive, by_size

# How many times farther from 0 than they are wide the bounds may be where the count is noisy: sums
# of the values then still have digits to tell answers within the bounds apart.
_FARTHEST = 1e6
# What is said of a variant after the noise.
_VARIANTS = {"two-sums": "", "sum-and-count": ", sum and count", "published": ", as published"}
# A quotient by a noisy count of less than this part of the true one is far off, and its error is
# estimated well by this many of them.
_SMALL_PART = 0.1
_SEEN = 1000
# More values than that take more memory and time than there should be.
_MOST_VALUES = 200_000


@dataclass(frozen=True)
class NoisyMean(NumberMechanism):
    """A noisy sum divided by a noisy or public count, or the quotient of two noisy sums.

    Under replace the number of records is public, and all goes to the noise of the sum of what the
    values exceed the lower bound by, whose sensitivity is the width of the bounds. Under add-remove
    there are two ways:

    - *Two sums.* What the values exceed the lower bound by, and what they fall short of the upper
      bound by. A record adds a pair of numbers to them that add up to the width of the bounds, so
      noise for the whole of epsilon and delta on each of them is enough. Their sum is the width
      times the number of records.
    - *Sum and count.* Half of epsilon and of delta goes to the sum, whose sensitivity is the
      largest absolute value within the bounds, and half to the count, whose sensitivity is 1.

    The noisy number of records is clamped at 1.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Gaussian noise needs delta > 0.
    variant : {"two-sums", "sum-and-count", "published"}
        What has noise under add-remove, and whether answers are clipped to the bounds, which is
        post-processing and costs no privacy: with two sums or sum and count they are. As published
        they are quotients of sum and count and left as they are. They may then be far outside where
        the noisy count falls below 1, and their expected error is mostly that of this rare event.
    metric : {"relative", "squared"}
        The expected distance in per cent of the truth, or the mean squared error, which has a
        closed form for the published variant under replace.

    Examples
    --------
    >>> from omit import Guarantee
    >>> NoisyMean().quotient(Guarantee(1.0), (0, 125)).total
    Laplace(scale=125.0)
    >>> NoisyMean(variant="sum-and-count").quotient(Guarantee(1.0), (0, 125)).total
    Laplace(scale=250.0)

    References
    ----------
    The proof for two sums is in the documentation, "How exact is it?".
    """

    noise: Literal["laplace", "gaussian"] = "laplace"
    variant: Literal["two-sums", "sum-and-count", "published"] = "two-sums"
    metric: Literal["relative", "squared"] = "relative"

    statistic: ClassVar[str] = "mean"
    within_bounds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.noise not in ("laplace", "gaussian"):
            raise InvalidInput(f"Expected noise={self.noise!r} to be 'laplace' or 'gaussian'.")
        if self.variant not in _VARIANTS:
            known = ", ".join(map(repr, _VARIANTS))
            raise InvalidInput(f"Expected variant={self.variant!r} to be one of: {known}.")
        require_metric(self.metric)

    def __str__(self) -> str:
        return f"noisy mean, {self.noise.capitalize()} noise{_VARIANTS[self.variant]}"

    @property
    def published_runs(self) -> int:
        """How often the papers repeated their experiments."""
        return 1000 if self.metric == "squared" else 500

    @property
    def searches_sizes(self) -> bool:
        """Whether the error may be least for any sample size: of the mean as published."""
        return self.variant == "published"

    def quotient(self, guarantee: Guarantee, bounds: Bounds | None) -> Quotient:
        """Return the noise that gives the guarantee to values within the bounds."""
        self.require_relation(guarantee)
        if bounds is None:
            raise InvalidInput("The mean needs a column of numbers with declared bounds.")
        lower, upper = bounds
        clipped = None if self.variant == "published" else bounds
        if guarantee.neighbours == REPLACE:
            return NoisyQuotient(self._noise(guarantee, upper - lower), None, clipped, lower)
        if self.variant == "two-sums":
            if lower == upper:  # the answer is that point, whatever the data are
                return NoisyQuotient(NoNoise(), NoNoise(), bounds, lower)
            # A record adds a pair of numbers whose L1 norm is the width, and the L2 norm no more.
            return TwoSums(self._noise(guarantee, upper - lower), bounds)
        return self._sum_and_count(guarantee, bounds, clipped)

    def _sum_and_count(
        self, guarantee: Guarantee, bounds: Bounds, clipped: Bounds | None
    ) -> NoisyQuotient:
        lower, upper = bounds
        largest = max(abs(lower), abs(upper))
        if largest > _FARTHEST * (upper - lower) > 0:
            raise InvalidInput(
                f"The bounds [{lower:.17g}, {upper:.17g}] are too far from 0 for a noisy sum and a "
                "noisy count; use two sums, or the relation replace."
            )
        half = Guarantee(guarantee.epsilon / 2, guarantee.delta / 2, guarantee.neighbours)
        return NoisyQuotient(self._noise(half, largest), self._noise(half, 1.0), clipped)

    def scale(self, guarantee: Guarantee, bounds: Bounds | None, records: int) -> float:
        """Return the scale of the noise of a mean of this many records, under replace."""
        self.require_relation(guarantee)
        lower, upper = require_bounds(bounds, "mean")
        return noise_named(self.noise).calibrated(guarantee, (upper - lower) / records).scale

    def prepare(
        self,
        data: Column,
        promise: Promise,
        *,
        bounds: Bounds | None = None,
        truth: float | None = None,
    ) -> Prepared:
        """Return the mean of the column with the noise that the promise needs."""
        bounds = data.bounds if bounds is None else bounds
        target = given_or_own(truth, data.mean)
        if isinstance(promise, NoNoiseNeeded):
            if self.metric == "squared" and self.variant == "published":
                return self._of_known_size(data, promise, bounds, target)
            return BareMean(self, data, bounds, target)
        self.require_relation(promise)
        known_size = promise.neighbours == REPLACE and self.variant == "published"
        if self.metric == "squared" and known_size:
            return self._of_known_size(data, promise, bounds, target)
        return PreparedMean(self, data, bounds, target, self.quotient(promise, bounds))

    def _of_known_size(
        self, data: Column, promise: Promise, bounds: Bounds | None, truth: float
    ) -> PreparedKnownSize:
        near = NearZero.of(data, bounds, truth, lambda column: column.mean)
        kind = noise_named(self.noise)()
        return PreparedKnownSize(self, promise, data, truth, near, kind)

    def _noise(self, guarantee: Guarantee, sensitivity: float) -> LogConcaveNoise:
        return noise_named(self.noise).calibrated(guarantee, sensitivity)


@dataclass(frozen=True, eq=False)
class PreparedMean(Prepared):
    """The mean of a column as a quotient of noisy numbers."""

    mechanism: NoisyMean
    column: Column
    bounds: Bounds | None
    truth: float
    quotient: Quotient

    def answers(self, counts: Counts, rng: np.random.Generator) -> FloatArray:
        """Return one noisy mean for each row of counts."""
        above = self.quotient.draw(*self._sums_and_sizes(counts), rng)
        return as_array(above + self.quotient.origin)

    def errors(self, kept: Counts, rng: np.random.Generator) -> FloatArray:
        """Return distances to the truth in per cent of it, or squared."""
        above = self.quotient.draw(*self._sums_and_sizes(kept), rng)
        distances = as_array(np.abs(above - self._truth_above_origin))
        return distance_errors(self.mechanism.metric, distances, self.truth)

    def integrated_errors(self, kept: Counts) -> FloatArray | None:
        """Return the relative error of each row of counts, averaged over the noise."""
        if self.mechanism.metric == "squared":
            return None
        sums, sizes = self._sums_and_sizes(kept)
        distances = self.quotient.distances(sums, sizes, self._truth_above_origin)
        return as_array(per_cent(self.truth) * distances)

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the relative error where records are kept independently, or in a fixed number."""
        from omit.exact.mean import mean_error, sampled_mean_error
        from omit.exact.mean_setting import NoExactMean

        column = self.column
        if self.mechanism.metric == "squared":
            raise NotExact("the mean squared error of this mean has no exact engine")
        if column.distinct > _MOST_VALUES:
            raise InvalidInput(
                f"{column.name} has {column.distinct:,} different values, and errors of means "
                f"are known for {_MOST_VALUES:,} at most; round the values first."
            )
        per_unit = per_cent(self.truth)
        values = as_array(column.values) - self.quotient.origin
        setting = self.quotient, self._truth_above_origin
        try:
            if isinstance(design, FixedSize) and not design.keeps_all:
                found = sampled_mean_error(
                    values, column.counts, design.size, *setting, details, quick
                )
            else:
                keep = independent_inclusion(design, len(column.counts))
                found = mean_error(values, column.counts, keep, *setting, tolerance, details, quick)
        except NoExactMean as error:
            raise NotExact(str(error)) from error
        return self._exactly(
            found.expected * per_unit,
            found.precision * per_unit,
            median=None if found.median is None else found.median * per_unit,
            quantile_90=None if found.quantile_90 is None else found.quantile_90 * per_unit,
            parts=Parts(
                found.sampling_deviation * per_unit,
                found.noise_deviation * per_unit,
                found.bias * per_unit,
            ),
        )

    @property
    def largest_error(self) -> float:
        """That of a bound, if answers are clipped."""
        if self.bounds is None or self.mechanism.variant == "published":
            return math.inf
        farthest = max(abs(self.truth - bound) for bound in self.bounds)
        if self.mechanism.metric == "squared":
            return farthest**2
        return per_cent(self.truth) * farthest

    def unseen_error(self, kept: Counts, runs: int) -> float:
        """Return what unclipped answers add whose noisy count is a small part of the true one.

        Nothing if this many runs show enough of them.
        """
        quotient = self.quotient
        if not isinstance(quotient, NoisyQuotient) or quotient.bounds or quotient.count is None:
            return 0.0
        sums, sizes = self._sums_and_sizes(kept)
        chance = quotient.count.cdf((_SMALL_PART - 1) * sizes)
        if runs * float(chance.mean()) >= _SEEN:
            return 0.0
        errors = number_errors(self.mechanism.metric, sums, self.truth)
        if self.mechanism.metric == "relative":
            return per_cent(self.truth) * float((chance * np.abs(sums - self.truth)).mean())
        return float((chance * errors).mean())

    @property
    def _truth_above_origin(self) -> float:
        return above_origin(self.column, self.truth, self.quotient.origin)

    def _sums_and_sizes(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Return the sum, less the origin of every value, and the number of each row's records."""
        sums = counts @ (as_array(self.column.values) - self.quotient.origin)
        return as_array(sums), as_array(counts.sum(axis=1))


def above_origin(column: Column, truth: float, origin: float) -> float:
    """Return what the truth exceeds the origin by.

    The column's own mean is known to more digits than a float far from 0 has.
    """
    return column.mean_above(origin) if truth == column.mean else truth - origin


@dataclass(frozen=True, eq=False)
class BareMean(Prepared):
    """The mean of a column without any noise."""

    mechanism: NoisyMean
    column: Column
    bounds: Bounds | None
    truth: float

    def answers(self, counts: Counts, rng: np.random.Generator | None = None) -> FloatArray:
        """Return the mean of each row of counts."""
        return as_array(self._above(counts) + self._origin)

    def errors(self, kept: Counts, rng: np.random.Generator) -> FloatArray:
        """Return the error of each row, in which nothing is random."""
        return self.integrated_errors(kept)

    def integrated_errors(self, kept: Counts) -> FloatArray:
        """Return the error of each row, in which nothing is random."""
        truth = above_origin(self.column, self.truth, self._origin)
        distances = as_array(np.abs(self._above(kept) - truth))
        return distance_errors(self.mechanism.metric, distances, self.truth)

    @property
    def _origin(self) -> float:
        if self.bounds is None:
            raise InvalidInput("The mean needs a column of numbers with declared bounds.")
        return self.bounds[0]

    def _above(self, counts: Counts) -> FloatArray:
        """Return what the mean of each row exceeds the lower bound by, clipped if answers are."""
        sums = counts @ (as_array(self.column.values) - self._origin)
        means = as_array(sums / np.maximum(counts.sum(axis=1), SMALLEST_COUNT))
        if self.mechanism.variant == "published" or self.bounds is None:
            return means
        return np.clip(means, 0.0, self.bounds[1] - self._origin)

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the error where it is certain which records are left, or by the law of these."""
        inclusion = np.ones(len(self.column.counts)) if design.keeps_all else design.inclusion
        if inclusion is not None and not ((inclusion > 0) & (inclusion < 1)).any():
            left = self.column.counts * inclusion.astype(np.int64)
            return self._exactly(float(self.integrated_errors(left[None, :])[0]))
        lower, _ = require_bounds(self.bounds, "mean")
        clipped = None if self.mechanism.variant == "published" else self.bounds
        count = NoNoise() if design.size is None else None
        quotient = NoisyQuotient(NoNoise(), count, clipped, lower)
        noisy = PreparedMean(self.mechanism, self.column, self.bounds, self.truth, quotient)
        return noisy.exact_error(design, tolerance=tolerance, details=details, quick=quick)


@dataclass(frozen=True, eq=False)
class PreparedKnownSize(PreparedAdditive):
    """The mean of a public number of records, which is not clipped."""

    mechanism: NoisyMean

    def centers_and_scales(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Return the mean of each row and the same scale for all rows of one size."""
        sizes = counts.sum(axis=1)
        return as_array(counts @ as_array(self.near.column.values) / sizes), by_size(
            self._scale, sizes
        )

    def sampled_moments(self, design: Design) -> SampledMoments | None:
        """Return the exact moments of the mean over samples without replacement."""
        if not isinstance(design, FixedSize):
            return None
        return sampled_mean(self.near.column, design.size)

    def common_scale(self, size: int) -> FloatArray:
        """Return the scale of the noise, which is the same for all samples of a size."""
        return as_array([self._scale(size)])

    def _scale(self, size: int) -> float:
        if isinstance(self.promise, NoNoiseNeeded):
            return 0.0
        return self.mechanism.scale(self.promise, self.near.bounds, size)
