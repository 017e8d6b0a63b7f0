"""The expected error of a mechanism after an omission, and how it was computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Parts:
    """What makes up the error: by leaving records out, and by noise.

    For the mean these are in per cent of the truth and to first order: the bias of what is left,
    the standard deviation by sampling and the standard deviation by noise. For the mode they are
    probabilities of a wrong answer: by the omission without noise, and by the noise without
    omission; there is no bias. For a mean squared error they are variances: of the answers without
    noise over the samples, and by noise; it is their sum plus the square of the bias.
    """

    omission: float
    noise: float
    bias: float | None = None


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
        The error by omission apart from the error by noise.
    skewed
        Whether the runs are so skewed that a normal interval covers less often than it says.
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
