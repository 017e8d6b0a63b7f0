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

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee, NoNoiseNeeded
from omit.laws.noise import LogConcaveNoise, NoNoise, noise_named
from omit.mechanisms import base

# Of Bernoulli's law with chance 1/2, in units of the squared width of the bounds.
_LARGEST_VARIANCE = 0.25


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
        distances = (as_array(data.values) - lower) - data.mean_above(lower)
        own = float(data.counts @ distances**2) / data.size
        target = base.given_or_own(truth, own)
        return PreparedVariance(self, terms, noises, (upper - lower) ** 2, target)


@dataclass(frozen=True, eq=False)
class PreparedVariance(base.Prepared):
    """The variance of a column: what a record adds to each sum, and the noise of each."""

    mechanism: NoisyVariance
    terms: FloatArray
    noises: tuple[LogConcaveNoise, ...]
    square: float
    truth: float

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
        return as_array(self.square * np.clip(variances, 0.0, _LARGEST_VARIANCE))

    def errors(self, kept: base.Counts, rng: np.random.Generator) -> FloatArray:
        """Return distances to the truth in per cent of it, or squared."""
        return base.number_errors(self.mechanism.metric, self.answers(kept, rng), self.truth)

    @property
    def largest_error(self) -> float:
        """That of the farther of 0 and the largest variance."""
        ends = np.array([0.0, _LARGEST_VARIANCE * self.square])
        return float(base.number_errors(self.mechanism.metric, ends, self.truth).max())
