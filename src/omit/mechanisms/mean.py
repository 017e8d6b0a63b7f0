"""The mean: a noisy sum over a count that is noisy or public, or two noisy sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.data.ranges import DEFAULT_BINS
from omit.data.weighted import WeightedColumn
from omit.errors import InvalidInput, NotExact
from omit.exact.bins import NO_BLUR, Binned, Blur, blur_by_clipping, blur_of_mean, blur_of_square
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
    per_unit,
    public_size,
    require_bounds,
    require_metric,
)
from omit.mechanisms.moments import NearZero, PreparedAdditive, by_size

if TYPE_CHECKING:
    from omit.exact.mean import MeanError

# How many times farther from 0 than they are wide the bounds may be where the count is noisy: sums
# of the values then still have digits to tell answers within the bounds apart.
_FARTHEST = 1e6
# What is said of a variant after the noise.
_VARIANTS = {"two-sums": "", "sum-and-count": ", sum and count", "published": ", as published"}
# A quotient by a noisy count of less than this part of the true one is far off, and its error is
# estimated well by this many of them.
_SMALL_PART = 0.1
_SEEN = 1000
# More values than that take more memory and time than there should be: they are put into bins.
_MOST_VALUES = 200_000
# An enclosure that is wider than this part of the error is made narrower, for twice the time.
_NARROW = 1e-7
# It takes little time for so few bins.
_FEW_BINS = 1000


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
    takes_bins: ClassVar[bool] = True
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
        target = given_or_own(truth, data.before_clamping.mean)
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
    """The mean of a column as a quotient of noisy numbers.

    Weights are shares of the largest that a record may have; without any, all records count alike.
    """

    mechanism: NumberMechanism
    column: Column | WeightedColumn
    bounds: Bounds | None
    truth: float
    quotient: Quotient
    weights: FloatArray | None = None

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
        column = self.column
        if self.mechanism.metric == "squared":
            raise NotExact("the mean squared error of this mean has no exact engine")
        options = tolerance, details, quick
        if column.is_binned or (self.weights is None and column.distinct > _MOST_VALUES):
            return self._in_bins(design, *options)
        if column.distinct > _MOST_VALUES:
            raise InvalidInput(
                f"{column.name} has {column.distinct:,} different pairs of value and weight, "
                f"and errors of their means are known for {_MOST_VALUES:,} at most; round them."
            )
        values = as_array(column.values) - self.quotient.origin
        keep = None
        if not isinstance(design, FixedSize) or design.keeps_all:
            keep = independent_inclusion(design, len(column.counts))
        found = self._computed(values, column.counts, keep, design, *options)
        return self._in_per_cent(found, found.expected, found.precision)

    def _in_bins(
        self, design: Design, tolerance: float, details: bool, quick: bool
    ) -> ExpectedError:
        """Return the error of the records of bins: between two that are computed."""
        bins, public = self._bins(design), public_size(design)
        if bins.is_alike:
            bins = bins.coarse_enough(self.quotient, max(_NARROW, tolerance))
        blur = blur_of_mean(bins, self.quotient, public)
        keep = bins.keep if public is None else None
        found = self._computed(bins.values, bins.counts, keep, design, tolerance, details, quick)
        below, above, first_order = blur
        wide = below + above > max(_NARROW, tolerance) * found.expected
        if wide and bins.is_alike and (not quick or len(bins.values) <= _FEW_BINS):
            ends = bins.at_ends()
            keep = ends.keep if public is None else None
            most = self._computed(ends.values, ends.counts, keep, design, tolerance, False, quick)
            clipped = blur_by_clipping(ends, self.quotient)
            below = min(below, clipped)
            gained = most.expected - found.expected + most.precision + found.precision
            above = min(above, max(gained, 0.0) + clipped)
        middle = found.expected + 0.5 * (above - below)
        error = self._in_per_cent(found, middle, found.precision + 0.5 * (above + below))
        return replace(error, first_order=first_order)

    def _bins(self, design: Design) -> Binned:
        """Return the column in bins, less the origin, and what a design does to them."""
        column, origin = self.column, self.quotient.origin
        assert isinstance(column, Column), "a column with weights is in no bins"
        values, counts, lows, highs = column.values, column.counts, column.lows, column.highs
        merged = column.is_binned
        if not merged:
            # If records are alike to the design, its errors share the bins of the column.
            shared = design.on_atoms(len(column.as_bins.means))
            if shared is not None:
                values, counts, lows, highs, _ = column.as_bins
                design, merged = shared, True
        ends = (as_array(lows) - origin, as_array(highs) - origin)
        bins = Binned.of(as_array(values) - origin, counts, *ends, design)
        return bins if merged else bins.merged(DEFAULT_BINS)

    def _computed(
        self,
        values: FloatArray,
        counts: Counts,
        keep: FloatArray | None,
        design: Design,
        tolerance: float,
        details: bool,
        quick: bool,
    ) -> MeanError:
        """Return the distance from the truth by an engine; without chances, of a sample."""
        from omit.exact.mean import mean_error, sampled_mean_error
        from omit.exact.mean_setting import NoExactMean

        setting = self.quotient, self._truth_above_origin
        try:
            if keep is None and design.size is not None:
                return sampled_mean_error(
                    values, counts, design.size, *setting, details, quick, self.weights
                )
            assert keep is not None, "records are kept independently"
            return mean_error(
                values, counts, keep, *setting, tolerance, details, quick, self.weights
            )
        except NoExactMean as error:
            raise NotExact(str(error)) from error

    def _in_per_cent(self, found: MeanError, value: float, precision: float) -> ExpectedError:
        """Return an error of this precision, with the details that were found."""
        unit = per_cent(self.truth)
        return self._exactly(
            value * unit,
            precision * unit,
            median=None if found.median is None else found.median * unit,
            quantile_90=None if found.quantile_90 is None else found.quantile_90 * unit,
        )

    def blur(self, design: Design) -> Blur:
        """Return what the bins of the column may do to the error."""
        if not self.column.is_binned:
            return NO_BLUR
        bins = self._bins(design)
        setting = bins, self.quotient, public_size(design)
        if self.mechanism.metric == "squared":
            return blur_of_square(*setting, self._truth_above_origin)
        return blur_of_mean(*setting).times(per_cent(self.truth))

    def parts(self, design: Design) -> Parts | None:
        """Return biases and deviations to first order in the noise and in what is left out."""
        from omit.exact.mean_setting import MeanSetting

        values = as_array(self.column.values) - self.quotient.origin
        counts, truth = self.column.counts, self._truth_above_origin
        if isinstance(design, FixedSize) and not design.keeps_all:
            setting = MeanSetting.of_sample(
                values, counts, design.size, self.quotient, truth, self.weights
            )
        else:
            try:
                keep = independent_inclusion(design, len(counts))
            except NotExact:
                return None
            setting = MeanSetting.of(values, counts, keep, self.quotient, truth, self.weights)
        if setting.size == 0:
            return None
        unit = per_unit(self.mechanism.metric, self.truth)
        return Parts(
            unit * math.sqrt(setting.data_variance) / setting.size,
            unit * math.sqrt(setting.noise_variance) / setting.size,
            unit * (setting.center - truth),
            self.clamping,
            first_order=True,
        )

    @property
    def clamping(self) -> float:
        """What the mean after clamping exceeds that before it by."""
        moved = moved_by_clamping(self.column, self.quotient.origin)
        return moved and moved * per_unit(self.mechanism.metric, self.truth)

    def least_error(self, design: Design) -> float:
        """Return what the relative error is at least where records are kept independently."""
        from omit.exact.least_mean_error import least_mean_error
        from omit.exact.mean_setting import MeanSetting

        if self.mechanism.metric == "squared" or design.inclusion is None:
            return 0.0
        column, quotient = self.column, self.quotient
        values = as_array(column.values) - quotient.origin
        truth, keep = self._truth_above_origin, design.inclusion
        setting = MeanSetting.of(values, column.counts, keep, quotient, truth, self.weights)
        least = per_cent(self.truth) * least_mean_error(setting)
        return max(least - self.blur(design).below, 0.0)

    @property
    def largest_error(self) -> float:
        """That of a bound, if answers are clipped."""
        clipped_to = self.quotient.bounds
        if clipped_to is None:
            return math.inf
        farthest = max(abs(self.truth - bound) for bound in clipped_to)
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
        """Return the sum, less the origin of every value, and the number of each row's records.

        The sum of their weights, if they have some.
        """
        values = as_array(self.column.values) - self.quotient.origin
        if self.weights is None:
            return as_array(counts @ values), as_array(counts.sum(axis=1))
        return as_array(counts @ (self.weights * values)), as_array(counts @ self.weights)


def above_origin(column: Column | WeightedColumn, truth: float, origin: float) -> float:
    """Return what the truth exceeds the origin by.

    The column's own mean is known to more digits than a float far from 0 has.
    """
    as_read = column.before_clamping
    return as_read.mean_above(origin) if truth == as_read.mean else truth - origin


def moved_by_clamping(column: Column | WeightedColumn, origin: float) -> float:
    """Return what the mean after clamping exceeds that before it by, both less an origin."""
    as_read = column.before_clamping
    return 0.0 if as_read is column else column.mean_above(origin) - as_read.mean_above(origin)


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
        without_noise = self._as_quotient(design)
        return without_noise.exact_error(design, tolerance=tolerance, details=details, quick=quick)

    def blur(self, design: Design) -> Blur:
        """Return what the bins of the column may do to the error."""
        return self._as_quotient(design).blur(design)

    def parts(self, design: Design) -> Parts | None:
        """Return those of a quotient without any noise."""
        return self._as_quotient(design).parts(design)

    @property
    def clamping(self) -> float:
        """What the mean after clamping exceeds that before it by."""
        moved = moved_by_clamping(self.column, self._origin)
        return moved and moved * per_unit(self.mechanism.metric, self.truth)

    def _as_quotient(self, design: Design) -> PreparedMean:
        lower, _ = require_bounds(self.bounds, "mean")
        clipped = None if self.mechanism.variant == "published" else self.bounds
        count = NoNoise() if design.size is None else None
        quotient = NoisyQuotient(NoNoise(), count, clipped, lower)
        return PreparedMean(self.mechanism, self.column, self.bounds, self.truth, quotient)


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

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the error without omission, or on samples."""
        error = super().exact_error(design, tolerance=tolerance, details=details, quick=quick)
        return replace(error, high=error.high + self.blur(design).above)

    def blur(self, design: Design) -> Blur:
        """Return the variance of the mean that the bins of the column lack."""
        column, size = self.near.column, public_size(design)
        if not column.is_binned or size is None:
            return NO_BLUR
        values = as_array(column.values), column.counts, column.lows, column.highs
        return Blur(0.0, Binned.of(*values, design).most_variance / size**2)

    def _scale(self, size: int) -> float:
        if isinstance(self.promise, NoNoiseNeeded):
            return 0.0
        return self.mechanism.scale(self.promise, self.near.bounds, size)
