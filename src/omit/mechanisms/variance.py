"""The variance from noisy sums of powers, in a basis in which no budget is split.

Values are taken as shares of the bounds, `x` in [0, 1].

*Add-remove.* The sums of `(1-x)²`, `2x(1-x)` and `x²`, called B₀, B₁ and B₂, have noise for the
whole guarantee each: a record adds three numbers that are at least 0 and add up to 1, so that their
L1 norm is 1 and their L2 norm at most 1. With `N = B₀ + B₁ + B₂` the variance is

    B₂/N - ((B₁/2 + B₂)/N)² = (B₀B₂ - B₁²/4) / N².

*Replace*, n public. The sums of `y = x - ½` and `y²` have noise of scales `b/ratio` and b. A record
that moves y by d moves y² by at most `d(1-d)`, so the loss is at most `d(ratio + 1 - d)/b`. It is
largest at `d = (1 + ratio)/2`: b is `(1 + ratio)²/4ε`. For Gaussian noise the square of the change
in units of the scales is `d²(ratio² + (1-d)²)`, which rises up to `ratio²` at d = 1 if
`ratio² ≥ 1/8`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput, NotExact
from omit.exact.error import ExpectedError, Parts
from omit.exact.noisy_variance import (
    LARGEST_VARIANCE,
    VarianceError,
    three_sums_error,
    two_sums_errors,
)
from omit.exact.sampled_variance import sampled_variance_error
from omit.exact.sized_variance import sized_variance_error
from omit.guarantee import REPLACE, Guarantee, NoNoiseNeeded
from omit.laws.design import Design, FixedSize
from omit.laws.noise import LogConcaveNoise, NoNoise, noise_named
from omit.mechanisms import base

# What rules do to an error that is integrated over the noise of two sums, relative to it, and what
# rounding does to a variance, in units of the squared width of the bounds.
_RULES, _ROUNDING = 1e-10, 1e-14


@dataclass(frozen=True)
class NoisyVariance(base.NumberMechanism):
    """The variance of the values (their mean squared distance from their mean), with noise.

    Answers are clipped to what a variance within the bounds can be.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Gaussian noise needs delta > 0.
    metric : {"relative", "squared"}
        The expected distance in per cent of the truth, or the mean squared error.
    ratio : float
        Under replace, the scale of the noise of the squares relative to that of the values, in
        [0.36, 1]. The default is about best where the mean is at a bound, and good elsewhere.

    Examples
    --------
    >>> NoisyVariance().noises(Guarantee(0.5))
    (Laplace(scale=2.0), Laplace(scale=2.0), Laplace(scale=2.0))
    >>> NoisyVariance(ratio=1.0).noises(Guarantee(0.5, neighbours="replace"))
    (Laplace(scale=2.0), Laplace(scale=2.0))
    """

    noise: Literal["laplace", "gaussian"] = "laplace"
    metric: Literal["relative", "squared"] = "relative"
    ratio: float = 0.6

    statistic: ClassVar[str] = "variance"

    def __post_init__(self) -> None:
        _validate.one_of("noise", self.noise, ("laplace", "gaussian"))
        base.require_metric(self.metric)
        if not 0.36 <= _validate.finite("ratio", self.ratio) <= 1:
            raise InvalidInput(f"Expected ratio={self.ratio:g} in [0.36, 1].")

    def __str__(self) -> str:
        return f"noisy variance, {self.noise.capitalize()} noise"

    def noises(self, guarantee: Guarantee) -> tuple[LogConcaveNoise, ...]:
        """Return the noise of each sum: of three under add-remove, of two under replace."""
        self.require_relation(guarantee)
        law = noise_named(self.noise)
        if guarantee.neighbours != REPLACE:
            return (law.calibrated(guarantee, 1.0),) * 3
        l1, l2 = (1 + self.ratio) ** 2 / 4, self.ratio
        squares = law.calibrated(guarantee, l1, l2)
        return law(squares.scale / self.ratio), squares

    def prepare(
        self,
        data: Column,
        promise: base.Promise,
        *,
        bounds: base.Bounds | None = None,
        truth: float | None = None,
    ) -> PreparedVariance:
        """Return the variance of the column with the noise that the promise needs."""
        bounds = base.require_bounds(data.bounds if bounds is None else bounds, "variance")
        data.require_values("the variance")
        lower, upper = bounds
        shares = np.clip((as_array(data.values) - lower) / (upper - lower), 0.0, 1.0)
        public = isinstance(promise, Guarantee) and promise.neighbours == REPLACE
        if public:
            terms = np.stack([shares - 0.5, (shares - 0.5) ** 2], axis=1)
        else:
            terms = np.stack([(1 - shares) ** 2, 2 * shares * (1 - shares), shares**2], axis=1)
        noises: tuple[LogConcaveNoise, ...] = (NoNoise(),) * 3
        if not isinstance(promise, NoNoiseNeeded):
            noises = self.noises(promise)
        own = _variance_as_read(data)
        return PreparedVariance(
            self,
            data.counts,
            shares,
            terms,
            noises,
            (upper - lower) ** 2,
            base.given_or_own(truth, own),
            _variance(data) - own,
        )


def _variance(column: Column) -> float:
    """Return the variance of the records of a column as they are counted."""
    lower, _ = base.require_bounds(column.bounds, "variance")
    distances = (as_array(column.values) - lower) - column.mean_above(lower)
    return float(column.counts @ distances**2) / column.size


def _variance_as_read(column: Column) -> float:
    """Return the variance before values were clamped."""
    if column.beyond is None:
        return _variance(column)
    return _variance(column.before_clamping) + column.beyond.spread / column.size


@dataclass(frozen=True, eq=False)
class PreparedVariance(base.Prepared):
    """The variance of a column: what a record adds to each sum, and the noise of each.

    `shares` are the values as shares of the bounds, whose width has the square `square`. Clamping
    moves the variance by `moved`.
    """

    mechanism: NoisyVariance
    counts: base.Counts
    shares: FloatArray
    terms: FloatArray
    noises: tuple[LogConcaveNoise, ...]
    square: float
    truth: float
    moved: float = 0.0

    def answers(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return one noisy variance for each row of counts."""
        sums = kept @ self.terms
        noisy = [
            column + noise.draw(rng, column.shape)
            for column, noise in zip(sums.T, self.noises, strict=True)
        ]
        if len(noisy) == 2:
            sizes = np.maximum(kept.sum(axis=1), 1)
            variances = noisy[1] / sizes - (noisy[0] / sizes) ** 2
        else:
            first, second, third = noisy
            sizes = np.maximum(first + second + third, 1.0)
            variances = (first * third - second**2 / 4) / sizes**2
        return as_array(self.square * np.clip(variances, 0.0, LARGEST_VARIANCE))

    def errors(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return distances to the truth in per cent of it, or squared."""
        return base.number_errors(self.mechanism.metric, self.answers(kept, rng), self.truth)

    def integrated_errors(self, kept: base.Counts) -> FloatArray | None:
        """Return the error of each row of counts, averaged over the noise of two sums."""
        if self._is_bare:
            return self.errors(kept, np.random.default_rng(0))  # there is nothing to draw
        if len(self.noises) == 3:
            return None
        sizes = kept.sum(axis=1)
        errors = np.empty(len(kept))
        for size in np.unique(sizes):
            rows = sizes == size
            integrated = two_sums_errors(
                as_array(kept[rows] @ self.terms),
                int(size),
                (self.noises[0].scale, self.noises[1].scale),
                self.truth / self.square,
                gaussian=self.mechanism.noise == "gaussian",
                squared=self._squared,
            )
            if integrated is None:
                return None
            errors[rows] = integrated
        return self._in_units(errors)

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the error by two sums or three, or averaged over all that can be left."""
        inclusion = np.ones(len(self.counts)) if design.keeps_all else design.inclusion
        if inclusion is None or (self._is_bare and ((inclusion > 0) & (inclusion < 1)).any()):
            reason = "the samples are too many"
            try:
                value = self._over_outcomes(self.counts, design, reason)
            except NotExact:
                if design.size is None or self._is_bare:
                    raise
                return self._of_fixed_size(design.size, quick)
            return self._exactly(value, _RULES * value + self._rounding(value))
        if ((inclusion > 0) & (inclusion < 1)).any():
            return self._of_sample(inclusion, quick)
        left = self.counts * inclusion.astype(np.int64)
        if len(self.noises) == 3 and not self._is_bare:
            return self._by_three_sums(left, quick)
        errors = self.integrated_errors(left[None, :])
        if errors is None:
            raise NotExact("the noise is too wide beside the number of records")
        value = float(errors[0])
        return self._exactly(value, _RULES * value + self._rounding(value))

    def parts(self, design: Design) -> Parts | None:
        """Return biases and deviations to first order in the noise and in what is left out."""
        counts = as_array(self.counts)
        displaced = 1.0
        if isinstance(design, FixedSize) and not design.keeps_all:
            keep = np.full(len(counts), design.size / design.population)
            displaced = design.population / (design.population - 1)
        else:
            try:
                keep = base.independent_inclusion(design, len(counts))
            except NotExact:
                return None
        size = float(counts @ keep)
        if size == 0:
            return None
        mean = float((counts * keep) @ self.shares) / size
        squares = (self.shares - mean) ** 2
        variance = float((counts * keep) @ squares) / size
        omitted = float((counts * keep * (1 - keep)) @ (squares - variance) ** 2) * displaced
        noise = sum(
            slope**2 * law.variance
            for slope, law in zip(self._slopes(mean, variance), self.noises, strict=False)
        )
        unit = self.square * base.per_unit(self.mechanism.metric, self.truth)
        return Parts(
            unit * math.sqrt(omitted) / size,
            unit * math.sqrt(noise) / size,
            unit * (variance - self.truth / self.square),
            self.clamping,
            first_order=True,
        )

    @property
    def clamping(self) -> float:
        """What the variance after clamping exceeds that before it by."""
        return self.moved and self.moved * base.per_unit(self.mechanism.metric, self.truth)

    def _slopes(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return the derivatives of the variance by the sums, times the number of records."""
        if self.terms.shape[1] == 2:
            return -2 * (mean - 0.5), 1.0
        second = variance + mean**2
        both = mean - second
        return second - 2 * variance, -both - 2 * variance, 1 - 2 * mean + second - 2 * variance

    def _of_sample(self, inclusion: FloatArray, quick: bool) -> ExpectedError:
        if len(self.noises) != 3 or self._squared:
            raise NotExact("the law of a sampled variance is computed for distances by three sums")
        if quick:
            raise NotExact("the integral over what is left takes about a second")
        return self._found(
            sampled_variance_error(
                self.shares,
                self.counts,
                inclusion,
                self.noises[0],
                self.truth / self.square,
            )
        )

    def _of_fixed_size(self, size: int, quick: bool) -> ExpectedError:
        if quick:
            raise NotExact("the sum over what is left takes about a second")
        return self._found(
            sized_variance_error(
                self.shares,
                self.counts,
                size,
                (self.noises[0], self.noises[1]),
                self.truth / self.square,
                squared=self._squared,
            )
        )

    def _by_three_sums(self, left: base.Counts, quick: bool) -> ExpectedError:
        gaussian = self.mechanism.noise == "gaussian"
        if quick and not gaussian:
            raise NotExact("the integral over three noises takes about a second")
        return self._found(
            three_sums_error(
                as_array(left @ self.terms),
                self.noises[0].scale,
                self.truth / self.square,
                gaussian=gaussian,
                squared=self._squared,
            )
        )

    def _found(self, found: VarianceError) -> ExpectedError:
        value, precision = self._in_units(np.array([found.expected, found.precision]))
        return self._exactly(float(value), float(precision) + self._rounding(float(value)))

    def _rounding(self, value: float) -> float:
        """Return what rounding can do to an error."""
        if self._squared:  # of a distance d, 2d times as much of its square
            return 2 * math.sqrt(value) * _ROUNDING * self.square
        return float(self._in_units(np.array([_ROUNDING]))[0])

    @property
    def _is_bare(self) -> bool:
        return isinstance(self.noises[0], NoNoise)

    @property
    def _squared(self) -> bool:
        return self.mechanism.metric == "squared"

    def _in_units(self, errors: FloatArray) -> FloatArray:
        """Return errors of shares in the units of the metric."""
        if self._squared:
            return as_array(errors * self.square**2)
        return as_array(errors * self.square * base.per_cent(self.truth))

    @property
    def largest_error(self) -> float:
        """That of the farther of 0 and the largest variance."""
        ends = np.array([0.0, LARGEST_VARIANCE * self.square])
        return float(base.number_errors(self.mechanism.metric, ends, self.truth).max())
