"""Noisy histograms: Laplace, geometric and discrete Gaussian noise on every count.

Under "replace" two neighbouring tables differ by one in two cells: the L1 sensitivity is 2, the L2
sensitivity is √2. Projection to counts of at least 0 is post-processing and costs nothing.

Their exact deltas, without projection:

* Laplace of scale 2/epsilon: `delta(e) = 1 - e^(-a/2) (1 + a/4)` with `a = epsilon - e`, and 0 from
  `e = epsilon` on. (The loss of one cell is ±epsilon/2 with probabilities 1/2 and
  e^(-epsilon/2)/2, and has the density e^((l - epsilon/2)/2)/4 in between; add up over both.)
* geometric with ratio `r = e^(-epsilon/2)`: `delta(e) = (1 - e^(e - epsilon)) / (1 + r)^2`.
* discrete Gaussian of parameter s²: the loss is `(d + 1)/s²` with `d` the difference of two noises;
  the sum over `d` is cut where the rest is below 1e-30, and that is added.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit._text import rounded_up
from omit.disclosure.protection import CellErrors, ExactDelta, Protection, PublishedBound
from omit.disclosure.table import CountTable, Universe
from omit.errors import InvalidInput
from omit.guarantee import Guarantee, NoGuarantee, Relation
from omit.laws.base import Noise
from omit.laws.discrete import DiscreteGaussian, Geometric, least_square, positive_variance
from omit.laws.noise import Laplace

_UP = 1 + 2e-15  # more than rounding can have taken from a delta
_SMALLEST_EPSILON = 1e-12  # whole noise stays far below 2^53


class NoisyHistogram(Protection):
    """Independent noise on every count, and 0 for every count that is then negative."""

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _require_positive(self.epsilon))

    def __str__(self) -> str:
        return f"{self.key} histogram"

    def exact_delta(self, epsilon: float, universe: Universe | None = None) -> ExactDelta:
        """Return the smallest delta at an epsilon, which is the same in every universe."""
        return self._exact_delta(_validate.epsilon(epsilon))

    @abstractmethod
    def _exact_delta(self, epsilon: float) -> ExactDelta: ...

    @property
    @abstractmethod
    def _noise(self) -> Noise: ...

    def _draw(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray:
        return np.maximum(0.0, table.flat + self._noise.draw(rng, (runs, table.cells)))


@dataclass(frozen=True)
class _PureHistogram(NoisyHistogram):
    epsilon: float

    def _guarantee(self, universe: Universe, neighbours: Relation) -> Guarantee | NoGuarantee:
        return Guarantee(self.epsilon, 0.0, neighbours)


@dataclass(frozen=True)
class LaplaceHistogram(_PureHistogram):
    """Laplace noise of scale 2/epsilon on every count: (epsilon, 0)-DP.

    Examples
    --------
    >>> LaplaceHistogram(1.0).exact_delta(0.5).delta
    0.1238491190...
    """

    key: ClassVar[str] = "Laplace"

    @property
    def _noise(self) -> Laplace:
        return Laplace(2 / self.epsilon)

    def _exact_delta(self, epsilon: float) -> ExactDelta:
        a = max(0.0, self.epsilon - epsilon)
        # 1 - e^(-a/2)(1 + a/4), without cancellation
        delta = -math.expm1(-a / 2) - math.exp(-a / 2) * a / 4
        return ExactDelta.of_delta(epsilon, delta * _UP)

    def published_bounds(self, table: CountTable) -> tuple[PublishedBound, ...]:
        """Return Theorem 7 of the paper."""
        smallest, largest = float(table.flat.min()), float(table.flat.max())
        factor = math.exp(-self.epsilon * smallest / 2) / 2
        return (PublishedBound("Theorem 7", "fairness", factor * (largest - smallest)),)

    def _errors(self, table: CountTable) -> CellErrors:
        x, b = as_array(table.flat), 2 / self.epsilon
        with np.errstate(over="ignore"):
            tail = np.exp(-x / b)
        bias = b / 2 * tail  # e^(-epsilon x/2)/epsilon
        square = b**2 * (2 - tail) - b * x * tail
        return CellErrors(bias, square - bias**2, b / 2 * (2 - tail))


@dataclass(frozen=True)
class GeometricHistogram(_PureHistogram):
    """Two-sided geometric noise with ratio e^(-epsilon/2): (epsilon, 0)-DP, and whole counts.

    Examples
    --------
    >>> GeometricHistogram(1.0).exact_delta(0.0).delta
    0.24491866...
    """

    key: ClassVar[str] = "geometric"

    @property
    def _noise(self) -> Geometric:
        return Geometric(2 / self.epsilon)

    def _exact_delta(self, epsilon: float) -> ExactDelta:
        excess = -math.expm1(min(0.0, epsilon - self.epsilon))
        return ExactDelta.of_delta(epsilon, excess / (1 + self._noise.ratio) ** 2 * _UP)

    def _errors(self, table: CountTable) -> CellErrors:
        x, r, gap = as_array(table.flat), self._noise.ratio, self._noise.stop
        # P(noise >= s) = r^s/(1 + r): sums of it, and of (2s - 1) times it, over s = 1, ..., x
        with np.errstate(over="ignore"):
            below = np.exp(-self.epsilon / 2 * x)
        one = r / (gap * (1 + r))
        first = one * (1 - below)
        two = one * (1 + r) / gap
        second = two - one * below * (2 * x + (1 + r) / gap)
        bias = one * below
        return CellErrors(bias, two + second - bias**2, one + first)


@dataclass(frozen=True)
class DiscreteGaussianHistogram(NoisyHistogram):
    """Discrete Gaussian noise on every count (Canonne, Kamath, Steinke 2020).

    `draw` draws exactly, with whole numbers and fractions only. `simulate` inverts a table of the
    law, which is off by less than 1e-15 in probability and a thousand times as fast.

    Parameters
    ----------
    variance : float or Fraction
        The parameter s² of the noise, P(z) ∝ e^(-z²/2s²), nearly its variance.
    epsilon : float
        At which epsilon the guarantee is stated.

    Examples
    --------
    >>> noisy = DiscreteGaussianHistogram.calibrated(Guarantee(1.0, 1e-6, "replace"))
    >>> noisy.exact_delta(1.0).delta <= 1e-6
    True
    >>> print(round(float(noisy.variance), 2))
    35.72
    """

    key: ClassVar[str] = "discrete Gaussian"
    variance: Fraction
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "variance", positive_variance(self.variance))

    @classmethod
    def calibrated(cls, target: Guarantee) -> DiscreteGaussianHistogram:
        """Return the histogram with the least noise that reaches a guarantee, to nine digits.

        A delta of 0, which no Gaussian noise reaches, is refused.
        """
        _validate.instance("target", target, Guarantee)
        if target.delta == 0:
            raise InvalidInput("Discrete Gaussian noise needs delta > 0.")
        cls.require_relation(target.neighbours)
        _require_positive(target.epsilon)

        def reached(variance: Fraction) -> bool:
            exact = cls(variance, target.epsilon).exact_delta(target.epsilon)
            return exact.delta <= target.delta

        return cls(least_square(reached), target.epsilon)

    def __str__(self) -> str:
        # Rounded up: whoever takes the digits for the number has no less noise.
        return f"{super().__str__()} of variance {rounded_up(float(self.variance), 3)}"

    @property
    def _noise(self) -> DiscreteGaussian:
        return DiscreteGaussian(square=self.variance)

    def _exact_delta(self, epsilon: float) -> ExactDelta:
        # Rounded up by less than 1e-12 of itself, or of the chance of a loss that is epsilon up to
        # rounding.
        variance = float(self.variance)
        # P(d) ∝ e^(-d²/4s²) times the sum of e^(-(z - d/2)²/s²) over z, which knows d's parity only
        law = self._noise.half_pmf()
        reach = len(law) - 1
        z = np.arange(-reach, reach + 1)
        parity = [math.fsum(np.exp(-((z - half) ** 2) / variance)) for half in (0.0, 0.5)]
        d = np.arange(-2 * reach, 2 * reach + 1)
        difference = np.exp(-(d**2) / (4 * variance)) * np.take(parity, d % 2) * law[0] ** 2
        # Of two numbers that are nearly equal the difference is rounding: make it larger by that.
        with np.errstate(over="ignore"):
            beyond = (1 + 1e-15) * (d + 1) / variance - (1 - 1e-15) * epsilon
            excess = -np.expm1(np.minimum(0.0, -beyond))
        delta = math.fsum((difference * excess).tolist())
        return ExactDelta.of_delta(epsilon, delta * (1 + 1e-12) + 1e-30)

    def _guarantee(self, universe: Universe, neighbours: Relation) -> Guarantee | NoGuarantee:
        return self.exact_delta(self.epsilon).guarantee("the noise is too small.", neighbours)

    def _errors(self, table: CountTable) -> CellErrors:
        law = self._noise.half_pmf()
        reach = len(law) - 1
        above = np.concatenate([np.cumsum(law[::-1])[::-1], [0.0]])  # P(noise >= s)
        s = np.arange(1, reach + 1)
        first = np.concatenate([[0.0], np.cumsum(above[1 : reach + 1])])
        second = np.concatenate([[0.0], np.cumsum((2 * s - 1) * above[1 : reach + 1])])
        x = np.minimum(table.flat, reach)
        bias = first[-1] - first[x]
        return CellErrors(bias, second[-1] + second[x] - bias**2, first[-1] + first[x])

    def _draw(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray:
        # It takes about a tenth of a millisecond per cell.
        drawn = [self._noise.draw_exactly(rng) for _ in range(runs * table.cells)]
        return np.maximum(0.0, table.flat + as_array(drawn).reshape(runs, table.cells))

    def _simulate(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray:
        return super()._draw(table, rng, runs)


def _require_positive(epsilon: float) -> float:
    epsilon = _validate.epsilon(epsilon)
    if epsilon == 0:
        raise InvalidInput("Expected epsilon above 0: no finite noise reaches epsilon = 0.")
    if epsilon < _SMALLEST_EPSILON:
        raise InvalidInput(
            f"Noise for epsilon={epsilon:g} is too large to compute with; {_SMALLEST_EPSILON:g} "
            "and more works."
        )
    return epsilon
