"""Statistics whose answer has known moments, given the records: noise need not be drawn.

Without omission, everything is a formula. On samples without replacement, the sampling error of a
mean or a quantile is exact, and so is the noise where it does not depend on the records. Where it
does (smooth sensitivity, the exponential mechanism, propose-test-release), samples are drawn and
the error of each is a formula: only the records are random, not the noise (Rao and Blackwell).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput, NotExact
from omit.exact.error import ExpectedError, Parts
from omit.exact.order import SampledMoments
from omit.laws.design import Design, FixedSize
from omit.laws.intervals import Interval, is_skewed, normal_interval
from omit.laws.noise import Noise
from omit.mechanisms.base import (
    Bounds,
    Counts,
    Mechanism,
    Prepared,
    Promise,
    distance_errors,
    per_cent,
    per_unit,
)

# What rounding can do to a sum over all records, relative to the result.
_ROUNDING = 1e-9
# Errors that are not finite are refused with a sentence, not with numpy's warnings.
_OVERFLOW_IS_REFUSED = np.errstate(over="ignore", invalid="ignore")


class Moments(NamedTuple):
    """The mean and the variance of the answer over the noise, for each row of counts."""

    mean: FloatArray
    variance: FloatArray


class NearZero(NamedTuple):
    """A column, bounds and a truth less an origin, so that floats have digits for differences.

    `clamping` is what the statistic of the clamped values exceeds that of those as they are by.
    """

    column: Column
    bounds: Bounds | None
    truth: float
    origin: float
    clamping: float = 0.0

    @classmethod
    def of(
        cls,
        column: Column,
        bounds: Bounds | None,
        truth: float,
        statistic: Callable[[Column], float],
    ) -> NearZero:
        """Return all three, moved if the column is far from 0.

        If the truth is the column's own `statistic` before clamping, it is then known to more
        digits than the float that stands for it has.
        """
        moved, origin = column.moved_to_zero()
        as_read = moved.before_clamping
        clamping = 0.0 if as_read is moved else statistic(moved) - statistic(as_read)
        if origin == 0:
            return cls(column, bounds, truth, 0.0, clamping)
        moved_bounds = None if bounds is None else (bounds[0] - origin, bounds[1] - origin)
        own = truth == statistic(column.before_clamping)
        near = statistic(as_read) if own else truth - origin
        return cls(moved, moved_bounds, near, origin, clamping)


@dataclass(frozen=True, eq=False)
class PreparedMoments(Prepared):
    """A number from a column, whose answer has known moments given the records.

    Subclasses work on `near`: the column, its bounds and the truth less an origin.
    """

    mechanism: Mechanism
    promise: Promise
    column: Column
    truth: float
    near: NearZero

    # Whether the runs may choose what part of the error is taken as known.
    _runs_choose: ClassVar[bool] = True
    # Whether answers are the bare statistic on average over the noise.
    _unbiased: ClassVar[bool] = False

    @abstractmethod
    def near_answers(self, counts: Counts, rng: np.random.Generator) -> FloatArray:
        """Return one answer, less the origin, for each row of counts."""

    @abstractmethod
    def moments(self, counts: Counts) -> Moments:
        """Return the mean and the variance of the answer for each row of counts."""

    @abstractmethod
    def distances(self, counts: Counts) -> FloatArray:
        """Return the expected distance of the answer from the truth for each row of counts."""

    def sampled_moments(self, design: Design) -> SampledMoments | None:
        """Return the exact moments of the bare statistic over the design; None if not known."""
        return None

    def statistics(self, counts: Counts, means: FloatArray) -> FloatArray:
        """Return the bare statistic of each row, whose answers have these means."""
        return means

    def common_scale(self, size: int) -> FloatArray | None:
        """Return the scale of the noise of all samples of a size, in an array of one.

        None, as here, if the noise depends on the records.
        """
        return None

    def sampled_distance(self, design: FixedSize) -> float:
        """Return the exact expected distance from the truth over samples of one size.

        Raises
        ------
        NotExact
            If there is no formula.
        """
        raise NotExact("the distance of a sampled mean has no closed form; its noise is integrated")

    def answers(self, counts: Counts, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return one protected answer for each row of counts."""
        # The noise is added near 0: a statistic that was rounded far from 0 jumps by more than it
        # was calibrated for, while an answer may be rounded as one likes.
        return as_array(self.near_answers(counts, rng) + self.near.origin)

    def errors(self, kept: Counts, rng: np.random.Generator) -> FloatArray:
        """Return squared differences to the truth, or distances in per cent of it."""
        distances = as_array(np.abs(self.near_answers(kept, rng) - self.near.truth))
        return distance_errors(self.mechanism.metric, distances, self.truth)

    def integrated_errors(self, kept: Counts) -> FloatArray:
        """Return the expected error over the noise for each row of counts."""
        if self.mechanism.metric == "squared":
            mean, variance = self.moments(kept)
            return as_array((mean - self.near.truth) ** 2 + variance)
        return as_array(per_cent(self.truth) * self.distances(kept))

    @_OVERFLOW_IS_REFUSED
    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the error without omission, on samples with the same noise, or on few samples."""
        if design.keeps_all:
            row = self.column.counts[None, :]
            if self.mechanism.metric != "squared":
                return self._rounded(float(self.integrated_errors(row)[0]))
            mean, variance = self.moments(row)
            return self._rounded(float(((mean - self.near.truth) ** 2 + variance)[0]))
        try:
            value = self._of_samples(design)
        except NotExact as error:
            value = self._over_outcomes(self.column.counts, design, str(error))
        return self._rounded(value)

    def _of_samples(self, design: Design) -> float:
        """Return the error on samples where all have the same noise."""
        sampled = self.sampled_moments(design)
        scale = self.common_scale(design.size) if isinstance(design, FixedSize) else None
        if sampled is None or scale is None or not isinstance(design, FixedSize):
            raise NotExact(
                "the noise depends on the sample; samples are drawn, noise is integrated"
            )
        if self.mechanism.metric != "squared":
            return per_cent(self.truth) * self.sampled_distance(design)
        noise, bias = float(self._variance(scale)[0]), sampled.mean - self.near.truth
        return bias**2 + sampled.variance + noise

    @_OVERFLOW_IS_REFUSED
    def parts(self, design: Design) -> Parts | None:
        """Return exact biases and deviations without omission, or where all noise is the same."""
        if design.keeps_all:
            mean, variance = self.moments(self.column.counts[None, :])
            return self._parts(SampledMoments(float(mean[0]), 0.0), float(variance[0]))
        sampled = self.sampled_moments(design)
        scale = self.common_scale(design.size) if isinstance(design, FixedSize) else None
        if sampled is None or scale is None:
            return None
        return self._parts(sampled, float(self._variance(scale)[0]))

    @property
    def clamping(self) -> float:
        """What the statistic of the clamped values exceeds that of those as they are by."""
        return self.near.clamping and self.near.clamping * self._per_unit

    @property
    def _per_unit(self) -> float:
        return per_unit(self.mechanism.metric, self.truth)

    def _parts(self, answered: SampledMoments, noise: float) -> Parts:
        """Return the parts by the moments of answers averaged over noise of a mean variance."""
        unit = self._per_unit
        return Parts(
            unit * math.sqrt(answered.variance),
            unit * math.sqrt(noise),
            unit * (answered.mean - self.near.truth),
            self.clamping,
        )

    @_OVERFLOW_IS_REFUSED
    def integrated_error(
        self, draws: Iterable[Counts], design: Design, reason: str | None
    ) -> ExpectedError:
        """Return the mean error of drawn samples, each integrated over its noise."""
        parts, known = None, 0.0
        if self.mechanism.metric == "squared":
            drawn, known, parts = self._squared_errors(draws, design)
        else:
            drawn = np.concatenate([self.integrated_errors(counts) for counts in draws])
        value = known + float(drawn.mean())
        self._require_finite(value)
        interval, skewed = self._interval_beyond(known, drawn, design)
        return ExpectedError(
            value,
            max(known + interval.low - _ROUNDING * value, 0.0),
            known + interval.high + _ROUNDING * value,
            "simulated",
            self.mechanism.metric_name,
            self.mechanism.unit,
            runs=len(drawn),
            reason=reason,
            parts=parts,
            skewed=skewed,
        )

    def _squared_errors(
        self, draws: Iterable[Counts], design: Design
    ) -> tuple[FloatArray, float, Parts]:
        """Return what each run adds to a known part of the error, that part, and its parts."""
        truth, known = self.near.truth, 0.0
        sampled = self.sampled_moments(design)
        rows = []
        for counts in draws:
            mean, variance = self.moments(counts)
            rows.append((mean, variance, self.statistics(counts, mean)))
        means, variances, statistics = map(np.concatenate, zip(*rows, strict=True))
        drawn = as_array((means - truth) ** 2 + variances)
        answered = SampledMoments(float(means.mean()), float(means.var()))
        if sampled is not None:
            # The error of the bare statistic is known, so only what noise adds is estimated.
            added = drawn - (statistics - truth) ** 2
            if not self._runs_choose or added.std() < drawn.std():
                drawn, known = added, (sampled.mean - truth) ** 2 + sampled.variance
            if self._unbiased:
                answered = sampled
        return drawn, known, self._parts(answered, float(variances.mean()))

    def _interval_beyond(
        self, known: float, drawn: FloatArray, design: Design
    ) -> tuple[Interval, bool]:
        """Return the interval of the mean of what was drawn, and whether it may cover too rarely.

        `known` is the part of the error that was taken off what was drawn.
        """
        return normal_interval(drawn), is_skewed(drawn)

    def _variance(self, scales: FloatArray) -> FloatArray:
        """Return the variance of noise of these scales."""
        raise NotImplementedError

    def _rounded(self, value: float) -> ExpectedError:
        self._require_finite(value)
        low, high = value * (1 - _ROUNDING), value * (1 + _ROUNDING)
        mechanism = self.mechanism
        return ExpectedError(
            value,
            low,
            high,
            "exact",
            mechanism.metric_name,
            mechanism.unit,
        )

    def _require_finite(self, value: float) -> None:
        """Refuse noise so wide that its error is more than a computer can hold."""
        if not math.isfinite(value):
            raise InvalidInput(
                f"The error at {self.promise} is too large to be computed; a larger epsilon has "
                "one."
            )


@dataclass(frozen=True, eq=False)
class PreparedAdditive(PreparedMoments):
    """A statistic plus noise of one kind, whose scale may depend on the records."""

    unit: Noise

    _unbiased: ClassVar[bool] = True

    @abstractmethod
    def centers_and_scales(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """Return the statistic of each row of counts and the scale of its noise."""

    def near_answers(self, counts: Counts, rng: np.random.Generator) -> FloatArray:
        """Return one noisy statistic, less the origin, for each row of counts."""
        centers, scales = self.centers_and_scales(counts)
        return as_array(centers + scales * self.unit.draw(rng, centers.shape))

    def moments(self, counts: Counts) -> Moments:
        """Return the statistic of each row and the variance of its noise."""
        centers, scales = self.centers_and_scales(counts)
        return Moments(centers, self._variance(scales))

    def distances(self, counts: Counts) -> FloatArray:
        """Return the expected distance of each row's noisy statistic from the truth."""
        centers, scales = self.centers_and_scales(counts)
        return self.unit.mean_distance(centers - self.near.truth, scales)

    def _variance(self, scales: FloatArray) -> FloatArray:
        return as_array(self.unit.variance * scales**2)


def by_size(scale: Callable[[int], float], sizes: NDArray[np.int64]) -> FloatArray:
    """Return the scale for each number of records, computed once for equal numbers."""
    scales = {int(size): scale(int(size)) for size in np.unique(sizes)}
    return as_array([scales[int(size)] for size in sizes])
