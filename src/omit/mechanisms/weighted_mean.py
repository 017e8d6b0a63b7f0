"""The weighted mean: two noisy weighted sums, or a noisy sum over a noisy sum of weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from omit import _validate
from omit._numeric import as_array
from omit.data.base import Data
from omit.data.weighted import WeightedColumn
from omit.exact.noisy_quotient import NoisyQuotient
from omit.exact.quotient import Quotient
from omit.exact.two_sums import TwoSums
from omit.guarantee import REPLACE, NoNoiseNeeded
from omit.laws.noise import NoNoise, noise_named
from omit.mechanisms import base
from omit.mechanisms.mean import PreparedMean


@dataclass(frozen=True)
class WeightedMean(base.NumberMechanism):
    """The mean of values with weights, which may be as confidential as the values.

    Let weights be shares `u` in [0, 1] of the largest one and `v` within bounds of the width R.

    - *Add-remove.* The sums of `u (v - lower)` and of `u (upper - v)`. A record adds a pair of
      numbers that add up to `u R ≤ R`, so noise of the scale `R/epsilon` on each of them is enough.
    - *Replace.* The sum of `u (v - middle)` with noise of the scale `R/epsilon`, and the sum of
      weights with noise of the scale `2/epsilon`: together they cost epsilon. With Gaussian noise
      the second scale is `2/(√3 R)` times the first, which is calibrated for R.

    The sum of weights is clamped at the largest one, and answers are clipped to the bounds.

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
    >>> sample = omit.PoissonSampling(0.5)
    >>> error = omit.expected_error(data, WeightedMean(), omit.Guarantee(1.0), sample)
    >>> f"{error.value:.6f} {error.unit}, {error.method}"
    '1.445182 %, exact'

    References
    ----------
    The proofs are in the documentation, "How exact is it?".
    """

    noise: Literal["laplace", "gaussian"] = "laplace"

    statistic: ClassVar[str] = "weighted mean"
    metric: ClassVar[str] = "relative"
    data_type: ClassVar[type[Data]] = WeightedColumn
    within_bounds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _validate.one_of("noise", self.noise, ("laplace", "gaussian"))

    def __str__(self) -> str:
        return f"weighted mean, {self.noise.capitalize()} noise"

    def quotient(self, promise: base.Promise, bounds: base.Bounds | None) -> Quotient:
        """Return the noise that gives the promise to values within the bounds."""
        lower, upper = bounds = base.require_bounds(bounds, "mean")
        if isinstance(promise, NoNoiseNeeded):
            return NoisyQuotient(NoNoise(), NoNoise(), bounds, lower)
        self.require_relation(promise)
        noise = noise_named(self.noise).calibrated(promise, upper - lower)
        if promise.neighbours != REPLACE:
            return TwoSums(noise, bounds)
        ratio = 2.0 if self.noise == "laplace" else 2.0 / math.sqrt(3.0)
        weight_noise = noise_named(self.noise)(noise.scale * ratio / (upper - lower))
        return NoisyQuotient(noise, weight_noise, bounds, 0.5 * (lower + upper))

    def prepare(
        self,
        data: WeightedColumn,
        promise: base.Promise,
        *,
        bounds: base.Bounds | None = None,
        truth: float | None = None,
    ) -> PreparedMean:
        """Return the weighted mean of the column with the noise that the promise needs."""
        bounds = data.bounds if bounds is None else bounds
        target = base.given_or_own(truth, data.before_clamping.mean)
        shares = as_array(data.weights / data.largest_weight)
        return PreparedMean(self, data, bounds, target, self.quotient(promise, bounds), shares)
