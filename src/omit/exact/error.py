"""The expected error of a mechanism after an omission, and how it was computed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Parts:
    """What makes up the error: clamping, leaving records out, and noise.

    Of a number T these are biases and standard deviations, whose squares add up:

        E (T - truth)² = bias² + omission² + noise².

    Parts of an expected distance would say nothing beside a bias, which hides what is random. For
    the mode there is no bias, and the others are probabilities of a wrong answer by that alone.

    Attributes
    ----------
    omission, noise
        The standard deviation of answers without noise over what is left out, and that by noise.
    bias
        What answers exceed the truth by on average. That is `clamping`, and what the omission or
        another truth than that of the records adds to it.
    clamping
        What the statistic of the clamped records exceeds that of the records as they are by.
    first_order
        Whether bias and deviations are linear in what is left out and in the noise, which is near
        enough unless few records are left for the noise.

    All are in per cent of the truth, or beside a mean squared error in the units of the statistic.

    Examples
    --------
    >>> parts = Parts(omission=0.6, noise=0.8, bias=-2.0, clamping=-2.4)
    >>> round(parts.root_mean_square, 6), parts.largest
    (2.236068, 'clamping')
    """

    omission: float
    noise: float
    bias: float | None = None
    clamping: float = 0.0
    first_order: bool = False

    @property
    def root_mean_square(self) -> float | None:
        """The root of the mean squared distance from the truth; None for the mode."""
        return None if self.bias is None else math.hypot(self.bias, self.omission, self.noise)

    @property
    def largest(self) -> Literal["noise", "omission", "bias", "clamping"]:
        """Which part has the largest square; "bias" is what does not come from clamping."""
        other = 0.0 if self.bias is None else abs(self.bias - self.clamping)
        sizes: dict[Literal["noise", "omission", "bias", "clamping"], float] = {
            "noise": self.noise,
            "omission": self.omission,
            "bias": other,
            "clamping": abs(self.clamping),
        }
        return max(sizes, key=lambda part: sizes[part])


@dataclass(frozen=True)
class ExpectedError:
    """An expected error with an interval, and the method that found it.

    Attributes
    ----------
    value, low, high
        The expected error and the ends of its interval: the numerical precision of an exact
        computation, or 95 % confidence of a simulation.
    method
        ``"exact"`` or ``"simulated"``.
    metric, unit
        What is measured, and in which unit.
    median, quantile_90
        The median and the 90 % quantile of the error, for the mean.
    runs
        How many runs were simulated.
    reason
        Why the error was simulated although it was not asked for.
    parts
        What clamping, leaving records out and noise add to the error, where that is known.
    skewed
        Whether the runs are so skewed that a normal interval covers less often than it says.
    first_order
        Whether the interval holds to first order in the width of bins only, and is not proved:
        where records of one bin are kept with different chances.

    Examples
    --------
    >>> from omit import Guarantee, NoisyMean, expected_error, read
    >>> error = expected_error(read("adult", "age"), NoisyMean(), Guarantee(1.0))
    >>> error.method, round(error.value, 6), error.unit
    ('exact', 0.007827, '%')
    """

    value: float
    low: float
    high: float
    method: Literal["exact", "simulated"]
    metric: str
    unit: str
    median: float | None = None
    quantile_90: float | None = None
    runs: int | None = None
    reason: str | None = None
    parts: Parts | None = None
    skewed: bool = False
    first_order: bool = False
