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
from omit.exact.error import ExpectedError, Parts
from omit.exact.total import total_distance
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, NoNoiseNeeded, Relation
from omit.laws.design import Design, FixedSize
from omit.laws.noise import LogConcaveNoise, NoNoise, noise_named
from omit.mechanisms import base

# What rounding can do to a sum over all records, relative to the result.
_ROUNDING = 1e-12


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
        public, own = data.size * origin, data.size * data.mean_above(origin)
        target = own if truth is None else _validate.finite("truth", truth) - public
        values = as_array(data.values) - origin
        return PreparedTotal(self, values, data.counts, noise, target, public)

    def _sensitivity(self, promise: base.Promise, bounds: base.Bounds | None) -> float:
        lower, upper = base.require_bounds(bounds, "sum")
        if isinstance(promise, Guarantee) and promise.neighbours == REPLACE:
            return upper - lower
        return max(abs(lower), abs(upper))


@dataclass(frozen=True, eq=False)
class PreparedTotal(base.Prepared):
    """A total of what is left of a column, with its noise.

    `truth` is what the total, multiplied by `expansion`, is compared with; both lack the part
    `public`, which is known.
    """

    mechanism: NoisyTotal
    values: FloatArray
    counts: base.Counts
    noise: LogConcaveNoise
    truth: float
    public: float = 0.0
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
        """Return the error after an omission: squared for all known designs, else independent."""
        parts = self._parts(design)
        if self.mechanism.metric == "squared":
            value = parts.omission + parts.noise + (parts.bias or 0.0) ** 2
            return self._exactly(value, _ROUNDING * value, parts=parts)
        keep = base.independent_inclusion(design, len(self.counts))
        distance = total_distance(
            self.values,
            as_array(self.counts),
            keep,
            self.noise,
            self.truth / self.expansion,
            tolerance,
        )
        factor = self.expansion * self._per_unit
        shown = Parts(
            math.sqrt(parts.omission) * self._per_unit,
            math.sqrt(parts.noise) * self._per_unit,
            (parts.bias or 0.0) * self._per_unit,
        )
        return self._exactly(factor * distance.expected, factor * distance.precision, parts=shown)

    def _above(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return answers less their public part."""
        totals = as_array(kept @ self.values)
        return as_array(self.expansion * (totals + self.noise.draw(rng, totals.shape)))

    def _parts(self, design: Design) -> Parts:
        """Return the variance by omission, that by noise, and the bias."""
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
        square = self.expansion**2
        bias = self.expansion * left - self.truth
        return Parts(square * variance, square * self.noise.variance, bias)

    @property
    def _per_unit(self) -> float:
        return base.per_cent(self.truth + self.public)

    def _measured(self, distances: FloatArray) -> FloatArray:
        if self.mechanism.metric == "squared":
            return as_array(distances**2)
        return as_array(self._per_unit * distances)
