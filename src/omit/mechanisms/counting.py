"""Totals: the number of records and the sum of their values, with noise.

After a sample at a public rate a total of what is left is multiplied by the inverse of that rate
(`Design.expansion`), as survey statisticians do: so the answer speaks of all records. After other
omissions it is the total of what is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import NotExact
from omit.exact.bins import NO_BLUR, Binned, Blur, blur_of_total
from omit.exact.error import ExpectedError, Parts
from omit.exact.sampled_total import sampled_total_distance
from omit.exact.total import TotalDistance, total_distance
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, NoNoiseNeeded, Relation
from omit.laws.design import Design, FixedSize
from omit.laws.noise import LogConcaveNoise, NoNoise, noise_named
from omit.mechanisms import base
from omit.mechanisms.mean import moved_by_clamping

# What rounding can do to a sum over all records, relative to the result.
_ROUNDING = 1e-12
# An enclosure that is wider than this part of the error is made narrower, for twice the time.
_NARROW = 1e-7


@dataclass(frozen=True)
class NoisyTotal(base.NumberMechanism):
    """A total of the records plus noise.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Gaussian noise needs delta > 0.
    metric : {"relative", "squared"}
        The expected distance in per cent of the truth, or the mean squared error.
    """

    noise: Literal["laplace", "gaussian"] = "laplace"
    metric: Literal["relative", "squared"] = "relative"

    takes_bins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _validate.one_of("noise", self.noise, ("laplace", "gaussian"))
        base.require_metric(self.metric)

    def __str__(self) -> str:
        return f"noisy {self.statistic}, {self.noise.capitalize()} noise"

    def noise_for(self, promise: base.Promise, sensitivity: float) -> LogConcaveNoise:
        """Return the noise that gives the promise to a total that a record changes by this much."""
        if isinstance(promise, NoNoiseNeeded):
            return NoNoise()
        self.require_relation(promise)
        return noise_named(self.noise).calibrated(promise, sensitivity)


@dataclass(frozen=True)
class NoisyCount(NoisyTotal):
    """The number of records plus noise.

    A record changes it by 1 under add-remove. Under replace it is public and needs no noise.

    Examples
    --------
    >>> import omit
    >>> column = omit.Column.from_counts([0, 1], [600, 400], bounds=(0, 1))
    >>> error = omit.expected_error(column, NoisyCount(), omit.Guarantee(0.5))
    >>> round(error.value, 12), error.method
    (0.2, 'exact')
    """

    statistic: ClassVar[str] = "count"
    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE,)

    def prepare(
        self,
        data: Column,
        promise: base.Promise,
        *,
        bounds: base.Bounds | None = None,
        truth: float | None = None,
    ) -> PreparedTotal:
        """Return the number of the column's records with the noise that the promise needs."""
        ones = np.ones(len(data.counts))
        target = base.given_or_own(truth, float(data.size))
        return PreparedTotal(self, ones, data.counts, self.noise_for(promise, 1.0), target)


@dataclass(frozen=True)
class NoisySum(NoisyTotal):
    """The sum of the values plus noise.

    A record changes it by the largest absolute value within the bounds under add-remove, and by
    the width of the bounds under replace, where the number of records is public and the sum of
    what the values exceed the lower bound by is protected.

    Examples
    --------
    >>> NoisySum().scale(Guarantee(0.5), (-3.0, 5.0))
    10.0
    >>> NoisySum().scale(Guarantee(0.5, neighbours="replace"), (-3.0, 5.0))
    16.0
    """

    statistic: ClassVar[str] = "sum"

    def scale(self, guarantee: Guarantee, bounds: base.Bounds | None) -> float:
        """Return the scale of the noise that gives the guarantee to values within the bounds."""
        self.require_relation(guarantee)
        return self.noise_for(guarantee, self._sensitivity(guarantee, bounds)).scale

    def prepare(
        self,
        data: Column,
        promise: base.Promise,
        *,
        bounds: base.Bounds | None = None,
        truth: float | None = None,
    ) -> PreparedTotal:
        """Return the sum of the column with the noise that the promise needs."""
        bounds = data.bounds if bounds is None else bounds
        noise = self.noise_for(promise, self._sensitivity(promise, bounds))
        origin = 0.0
        if isinstance(promise, Guarantee) and promise.neighbours == REPLACE and bounds is not None:
            origin = bounds[0]
        # The public part of the sum is exact; what floats round is the part above it.
        public, as_read = data.size * origin, data.before_clamping
        own = data.size * as_read.mean_above(origin)
        target = own if truth is None else _validate.finite("truth", truth) - public
        values = as_array(data.values) - origin
        moved = data.size * moved_by_clamping(data, origin)
        ends = (data.lows - origin, data.highs - origin) if data.is_binned else None
        return PreparedTotal(self, values, data.counts, noise, target, public, moved, ends)

    def _sensitivity(self, promise: base.Promise, bounds: base.Bounds | None) -> float:
        lower, upper = base.require_bounds(bounds, "sum")
        if isinstance(promise, Guarantee) and promise.neighbours == REPLACE:
            return upper - lower
        return max(abs(lower), abs(upper))


@dataclass(frozen=True, eq=False)
class PreparedTotal(base.Prepared):
    """A total of what is left of a column, with its noise.

    `truth` is what the total, multiplied by `expansion`, is compared with; both lack the part
    `public`, which is known. Clamping moves that of all records by `moved`. The `ends` are those of
    bins, if the values are the means of some.
    """

    mechanism: NoisyTotal
    values: FloatArray
    counts: base.Counts
    noise: LogConcaveNoise
    truth: float
    public: float = 0.0
    moved: float = 0.0
    ends: tuple[FloatArray, FloatArray] | None = None
    expansion: float = 1.0

    def expanded(self, expansion: float) -> PreparedTotal:
        """Return the same for totals that are multiplied by the inverse of the keep rate."""
        return replace(self, expansion=expansion)

    def answers(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return one noisy total, expanded, for each row of counts."""
        return self.public + self._above(kept, rng)

    def errors(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return distances to the truth in per cent of it, or squared."""
        return self._measured(np.abs(self._above(kept, rng) - self.truth))

    def integrated_errors(self, kept: base.Counts) -> FloatArray:
        """Return the error of each row of counts, averaged over the noise."""
        totals = as_array(kept @ self.values)
        if self.mechanism.metric == "squared":
            biases = self.expansion * totals - self.truth
            return as_array(biases**2 + self.expansion**2 * self.noise.variance)
        distances = self.noise.mean_distance(totals - self.truth / self.expansion)
        return self._measured(self.expansion * distances)

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the error where records are kept independently, or in a fixed number."""
        blur = self.blur(design)
        if self.mechanism.metric == "squared":
            variance, bias = self._moments(design)
            value = variance + self.expansion**2 * self.noise.variance + bias**2
            return self._enclosed(value, _ROUNDING * value, blur)
        factor = self.expansion * self._per_unit
        bins = self._bins(design)
        distance = self._distance(bins, design, tolerance)
        if blur.above > _NARROW * factor * distance.expected and bins.is_alike and not quick:
            most = self._distance(bins.at_ends(), design, tolerance)
            gained = most.expected - distance.expected + most.precision + distance.precision
            blur = blur._replace(above=min(blur.above, factor * gained))
        return self._enclosed(factor * distance.expected, factor * distance.precision, blur)

    def _enclosed(self, value: float, precision: float, blur: Blur) -> ExpectedError:
        """Return an error of this precision on the means of bins, and what bins may do to it."""
        middle = value + 0.5 * (blur.above - blur.below)
        precision += 0.5 * (blur.above + blur.below)
        return self._exactly(middle, precision, first_order=blur.first_order)

    def blur(self, design: Design) -> Blur:
        """Return what bins may do to the error."""
        if self.ends is None:
            return NO_BLUR
        bins = self._bins(design)
        if self.mechanism.metric == "squared":
            above = self.expansion**2 * bins.most_variance
            return Blur(0.0, above, first_order=not bins.is_alike)
        return blur_of_total(bins, self.noise).times(self.expansion * self._per_unit)

    def parts(self, design: Design) -> Parts | None:
        """Return the exact biases and deviations after an omission whose law is known."""
        try:
            variance, bias = self._moments(design)
        except NotExact:
            return None
        unit = self._per_unit
        return Parts(
            unit * math.sqrt(variance),
            unit * self.expansion * math.sqrt(self.noise.variance),
            unit * bias,
            self.clamping,
        )

    @property
    def clamping(self) -> float:
        """What the total after clamping exceeds that before it by."""
        return self.moved and self.moved * self._per_unit

    def _bins(self, design: Design) -> Binned:
        """Return the values as bins, and what a design does to them."""
        lows, highs = (self.values, self.values) if self.ends is None else self.ends
        return Binned.of(self.values, self.counts, lows, highs, design)

    def _distance(self, bins: Binned, design: Design, tolerance: float) -> TotalDistance:
        """Return the expected distance of the total from its truth, all records at their values."""
        setting = self.noise, self.truth / self.expansion, tolerance
        if isinstance(design, FixedSize) and not design.keeps_all:
            return sampled_total_distance(bins.values, bins.counts, design.size, *setting)
        return total_distance(bins.values, as_array(bins.counts), bins.keep, *setting)

    def _above(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return answers less their public part."""
        totals = as_array(kept @ self.values)
        return as_array(self.expansion * (totals + self.noise.draw(rng, totals.shape)))

    def _moments(self, design: Design) -> tuple[float, float]:
        """Return the variance of expanded totals without noise, and their bias."""
        counts = as_array(self.counts)
        if isinstance(design, FixedSize):
            records, size = design.population, design.size
            mean = float(counts @ self.values) / records
            spread = float(counts @ (self.values - mean) ** 2) / records
            left, variance = size * mean, size * (records - size) / max(records - 1, 1) * spread
        else:
            keep = base.independent_inclusion(design, len(counts))
            left = math.fsum((counts * keep * self.values).tolist())
            variance = float((counts * keep * (1 - keep)) @ self.values**2)
        return self.expansion**2 * variance, self.expansion * left - self.truth

    @property
    def _per_unit(self) -> float:
        return base.per_unit(self.mechanism.metric, self.truth + self.public)

    def _measured(self, distances: FloatArray) -> FloatArray:
        return base.distance_errors(self.mechanism.metric, distances, self.truth + self.public)
