"""The weighted mean from two noisy weighted sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.base import Data
from omit.data.weighted import WeightedColumn
from omit.errors import NotExact
from omit.exact.error import ExpectedError
from omit.exact.two_sums import TwoSums
from omit.guarantee import ADD_REMOVE, NoNoiseNeeded, Relation
from omit.laws.design import Design
from omit.laws.noise import LogConcaveNoise, NoNoise, noise_named
from omit.mechanisms import base

# What rounding and rules can do to an integrated error, relative to the width of the bounds: the
# rules of `TwoSums` lose less than 1e-14 of an answer, which is within the bounds.
_PRECISION = 1e-11


@dataclass(frozen=True)
class WeightedMean(base.NumberMechanism):
    """The quotient of two noisy weighted sums, under add-remove.

    With `w` in [0, W] and `v` within the bounds, whose width is R, the sums are those of
    `w (v - lower)` and of `w (upper - v)`. A record adds a pair of numbers that add up to
    `w R ≤ W R`, so noise of the scale `W R/epsilon` on each of them is enough, whatever the weights
    are: these may be as confidential as the values. The sum of weights is clamped at W.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Gaussian noise needs delta > 0.

    Examples
    --------
    >>> import omit
    >>> data = WeightedColumn.from_values([10, 20] * 500, [1, 3] * 500, (0, 100), largest_weight=4)
    >>> error = omit.expected_error(data, WeightedMean(), omit.Guarantee(1.0))
    >>> f"{error.value:.6f} {error.unit}, {error.method}"
    '0.977886 %, exact'
    """

    noise: Literal["laplace", "gaussian"] = "laplace"

    statistic: ClassVar[str] = "weighted mean"
    metric: ClassVar[str] = "relative"
    data_type: ClassVar[type[Data]] = WeightedColumn
    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE,)
    within_bounds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _validate.one_of("noise", self.noise, ("laplace", "gaussian"))

    def __str__(self) -> str:
        return f"weighted mean, {self.noise.capitalize()} noise"

    def prepare(
        self,
        data: WeightedColumn,
        promise: base.Promise,
        *,
        bounds: base.Bounds | None = None,
        truth: float | None = None,
    ) -> PreparedWeightedMean:
        """Return the weighted mean of the column with the noise that the promise needs."""
        lower, upper = base.require_bounds(data.bounds if bounds is None else bounds, "mean")
        noise: LogConcaveNoise = NoNoise()
        if not isinstance(promise, NoNoiseNeeded):
            self.require_relation(promise)
            noise = noise_named(self.noise).calibrated(promise, upper - lower)
        target = base.given_or_own(truth, data.mean)
        return PreparedWeightedMean(self, data, target, TwoSums(noise, (lower, upper)))


@dataclass(frozen=True, eq=False)
class PreparedWeightedMean(base.Prepared):
    """The weighted mean of a column; weights are shares of the largest one."""

    mechanism: WeightedMean
    column: WeightedColumn
    truth: float
    quotient: TwoSums

    def answers(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return one noisy mean for each row of counts."""
        above = self.quotient.draw(*self._sums_and_weights(kept), rng)
        return as_array(above + self.quotient.origin)

    def errors(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return distances to the truth in per cent of it."""
        return base.number_errors("relative", self.answers(kept, rng), self.truth)

    def integrated_errors(self, kept: base.Counts) -> FloatArray | None:
        """Return the error of each row of counts, averaged over the noise."""
        if self.quotient.total.scale == 0:
            return self.errors(kept, np.random.default_rng(0))  # there is nothing to draw
        truth = self.truth - self.quotient.origin
        distances = self.quotient.distances(*self._sums_and_weights(kept), truth)
        return as_array(base.per_cent(self.truth) * distances)

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the error where it is certain which records are left."""
        inclusion = np.ones(self.column.distinct) if design.keeps_all else design.inclusion
        if inclusion is None or ((inclusion > 0) & (inclusion < 1)).any():
            raise NotExact("the law of a sampled weighted mean is not computed")
        kept = self.column.counts * inclusion.astype(np.int64)
        errors = self.integrated_errors(kept[None, :])
        assert errors is not None
        lower, upper = self.column.bounds
        precision = _PRECISION * base.per_cent(self.truth) * (upper - lower)
        return self._exactly(float(errors[0]), precision)

    @property
    def largest_error(self) -> float:
        """That of the farther bound."""
        ends = np.array(self.column.bounds)
        return float(base.number_errors("relative", ends, self.truth).max())

    def _sums_and_weights(self, kept: base.Counts) -> tuple[FloatArray, FloatArray]:
        weights = self.column.weights / self.column.largest_weight
        values = self.column.values - self.quotient.origin
        return as_array(kept @ (weights * values)), as_array(kept @ weights)
