"""The mean, as a noisy sum over a noisy count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee
from omit.mechanisms.base import Counts, Mechanism
from omit.mechanisms.noise import Noise, calibrated_scale

# A count cannot be smaller, and a quotient by less has no finite mean: post-processing, so free.
SMALLEST_COUNT = 1.0


@dataclass(frozen=True)
class MeanNoise:
    """The noise of the sum, and that of the count where the count is not public."""

    total: Noise
    count: Noise | None


@dataclass(frozen=True)
class NoisyMean(Mechanism):
    """Noisy sum divided by noisy count, the count clamped at 1.

    Under add-remove, half of epsilon and of delta goes to the sum, whose sensitivity is the
    largest absolute value within the bounds, and half to the count, whose sensitivity is 1. Under
    replace the count is public, and all goes to the sum, whose sensitivity is the width of the
    bounds.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Gaussian noise needs delta > 0.

    Examples
    --------
    >>> from omit import Guarantee
    >>> NoisyMean().noises(Guarantee(1.0), (0, 125)).total
    Noise(kind='laplace', scale=250.0)
    """

    noise: Literal["laplace", "gaussian"] = "laplace"

    statistic: ClassVar[str] = "mean"
    metric: ClassVar[str] = "relative error"
    unit: ClassVar[str] = "%"

    def __post_init__(self) -> None:
        if self.noise not in ("laplace", "gaussian"):
            raise InvalidInput(f"Expected noise={self.noise!r} to be 'laplace' or 'gaussian'.")

    def __str__(self) -> str:
        return f"noisy mean, {self.noise.capitalize()} noise"

    def noises(self, guarantee: Guarantee, bounds: tuple[float, float] | None) -> MeanNoise:
        """Return the noise that gives the guarantee to values within the bounds."""
        self.require_relation(guarantee)
        if bounds is None:
            raise InvalidInput("The mean needs a column of numbers with declared bounds.")
        lower, upper = bounds
        if guarantee.neighbours == REPLACE:
            return MeanNoise(self._noise(guarantee, upper - lower), None)
        half = Guarantee(guarantee.epsilon / 2, guarantee.delta / 2, guarantee.neighbours)
        return MeanNoise(self._noise(half, max(abs(lower), abs(upper))), self._noise(half, 1.0))

    def truth(self, column: Column) -> float:
        """Return the mean of the column."""
        return column.mean

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return one noisy mean for each row of counts."""
        noise = self.noises(guarantee, bounds)
        total = counts @ as_array(column.values) + noise.total.draw(rng, counts.shape[:1])
        size = counts.sum(axis=1).astype(np.float64)
        if noise.count is not None:
            size = size + noise.count.draw(rng, counts.shape[:1])
        return as_array(total / np.maximum(size, SMALLEST_COUNT))

    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        """Return the absolute difference to the truth, in per cent of the truth."""
        if truth == 0:
            raise InvalidInput("The true mean is 0, so a relative error does not exist.")
        return as_array(100 * np.abs(answers - truth) / abs(truth))

    def _noise(self, guarantee: Guarantee, sensitivity: float) -> Noise:
        return Noise(self.noise, calibrated_scale(self.noise, guarantee, sensitivity))
