"""Mechanisms as the authors' code has them, to lay over their numbers; none of them is private.

They belong to this paper and are offered nowhere else. Together with `DPLloyd.published`, which
divides by any noisy count, and `PrivateKMedian.published`, which has the authors' swaps and draws
by the weight of the next set, they are what `--artefact` compares published numbers with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from omit.data.column import Column
from omit.guarantee import Guarantee, NoNoiseNeeded
from omit.laws.noise import Gaussian, LogConcaveNoise, Noise
from omit.mechanisms.base import Bounds, Promise
from omit.mechanisms.mean import NoisyMean
from omit.mechanisms.mode import NoisyMode, PreparedMode

_INSTEAD_OF_DELTA = 3.8e-6
"""The δ at which calibrated noise has the authors' scale at ε = .25 for a sensitivity of 1, 14.2.

Their scale does not depend on δ. At the other ε it is between .62 and .81 of what is needed; this
one is .65 to .74 of what the δ of Adult and of the Irish data needs.
"""


def scale_ignoring_delta(epsilon: float, sensitivity: float = 1.0) -> float:
    """Return a scale of Gaussian noise that does not depend on δ, as in the authors' code.

    Examples
    --------
    >>> round(scale_ignoring_delta(0.25), 1)
    14.2
    """
    return Gaussian.calibrated(Guarantee(epsilon, _INSTEAD_OF_DELTA), sensitivity).scale


@dataclass(frozen=True)
class MeanIgnoringDelta(NoisyMean):
    """The paper's noisy mean with Gaussian noise whose scale does not depend on δ; NOT private."""

    noise: Any = "gaussian"
    variant: Any = "published"

    private: ClassVar[bool] = False

    def __str__(self) -> str:
        return "noisy mean, Gaussian noise that ignores δ"

    def _noise(self, guarantee: Guarantee, sensitivity: float) -> LogConcaveNoise:
        return Gaussian(scale_ignoring_delta(guarantee.epsilon, sensitivity))


@dataclass(frozen=True)
class ModeIgnoringDelta(NoisyMode):
    """The mode by Gaussian noise whose scale does not depend on δ; NOT private."""

    noise: Any = "gaussian"

    private: ClassVar[bool] = False

    def __str__(self) -> str:
        return "noisy mode, Gaussian noise that ignores δ"

    def count_noise(self, promise: Promise) -> Noise:
        """Return the noise of every count, whatever δ is promised."""
        if isinstance(promise, NoNoiseNeeded):
            return super().count_noise(promise)
        return Gaussian(scale_ignoring_delta(promise.epsilon))


@dataclass(frozen=True)
class ModeOffByOne(NoisyMode):
    """The exponential mechanism whose answer has the lower bound added twice; never to be used."""

    noise: Any = "gumbel"
    variant: Any = "published"

    private: ClassVar[bool] = False

    def __str__(self) -> str:
        return "noisy mode, exponential mechanism with the lower bound added twice"

    def prepare(
        self, data: Column, promise: Promise, *, bounds: Bounds | None = None, truth: Any = None
    ) -> PreparedMode:
        """Return the mode; the right answer is the one that the addition turns into the mode."""
        right = data.modes if truth is None else truth
        prepared = super().prepare(data, promise, bounds=bounds, truth=right)
        lower = (data.bounds or (0.0, 0.0))[0]
        domain = np.asarray(data.domain()[0])
        turned = tuple(value - lower for value in prepared.truth if value - lower in domain)
        return PreparedMode(self, data, prepared.bounds, turned, prepared.noise, prepared.notes)


def reported_cost(cost: float, rate: float, records: float) -> float:
    """Return what the authors' k-median reports in place of an average cost.

    It is the weight of a set of centres, divided by the number of records: it falls as the cost
    rises. `rate` is ε', the factor of a cost in a weight.

    Examples
    --------
    >>> f"{reported_cost(0.197, 1 / 222, 100):.5f}"
    '0.00915'
    """
    return math.exp(-rate * records * cost) / records


def cost_reported(number: float, rate: float, records: float) -> float:
    """Return the average cost for which `reported_cost` is this number.

    Examples
    --------
    >>> f"{cost_reported(0.00915, 1 / 222, 100):.3f}"
    '0.197'
    """
    return -math.log(number * records) / (rate * records)
