"""Laws of noise on whole numbers, and exact draws from the discrete Gaussian.

The exact sampler is that of Canonne, Kamath and Steinke ("The Discrete Gaussian for Differential
Privacy", 2020, Algorithms 1 to 3): whole numbers and fractions only, no floating-point logarithm,
so nothing is rounded. `DiscreteGaussian.draw` inverts a table of the law instead and is what
studies of errors use: it differs by less than 1e-15 in probability and draws millions per second.
"""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.laws.base import Noise
from omit.laws.inversion import narrow, walk
from omit.laws.lattice import Part

_LARGEST_VARIANCE = 1e9
_TAIL = 12.5  # e^(-12.5²/2) < 1e-33
# Sums are tilted, so that tails count down to e to minus this.
_DEEPEST = 760.0
# Of e to that power, whose exponent has been rounded three times.
_DEEPEST_ROUNDING = 5e-13
_SMALLEST_WEIGHT = 1e-300
_MOST_VALUES = 10**7
# Rounding of a delta, relative to it.
_UP = 1 + 1e-12


@dataclass(frozen=True)
class LatticeNoise(Noise):
    """Symmetric noise on whole numbers, whose probability falls with the distance from 0."""

    @abstractmethod
    def exponent(self, x: ArrayLike) -> FloatArray:
        """Return `ln P(0) - ln P(x)`."""

    @abstractmethod
    def half_pmf(self) -> FloatArray:
        """Return the probabilities of 0, 1, 2, ... up to where less than 1e-30 is missing."""

    def part(self) -> Part:
        """Return the noise as one more entry of a sum, moved to begin at 0."""
        reach = max(1, math.ceil(self.half_width(_DEEPEST)))
        if 2 * reach > _MOST_VALUES:
            most = _MOST_VALUES / 2 / (self.half_width(_DEEPEST) / self.scale)
            raise InvalidInput(
                f"Expected discrete noise of a scale of at most {most:,.0f} steps, got "
                f"{self.scale:g}; continuous noise may be larger."
            )
        positions = np.arange(-reach, reach + 1)
        # Noise below a twentieth of a step has no second value above 1e-87.
        with np.errstate(over="ignore"):
            weights = np.exp(-self.exponent(positions))
        weights /= weights.sum()
        # Smaller ones have too few digits as floats.
        kept = weights > _SMALLEST_WEIGHT
        missing = math.log(2 * len(weights) * _SMALLEST_WEIGHT)
        positions = positions[kept] - positions[kept][0]
        return Part(positions, weights[kept], 1, _DEEPEST_ROUNDING, missing)

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Return the probability of `x`."""
        x = as_array(x)
        return np.where(x == np.rint(x), self.half_pmf()[0] * np.exp(-self.exponent(x)), 0.0)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return the probability of at most `x`."""
        number = np.floor(as_array(x))
        return np.where(number < 0, self._from(-number), 1 - self._from(number + 1))

    def tail(self, x: ArrayLike) -> FloatArray:
        """Return the probability of more than `x`."""
        return self.cdf(-np.floor(as_array(x)) - 1)

    def log_tail(self, x: ArrayLike) -> FloatArray:
        """Return the logarithm of the probability of more than `x`."""
        with np.errstate(divide="ignore"):
            return as_array(np.log(self.tail(x)))

    def _from(self, number: FloatArray) -> FloatArray:
        """Return the probability of a number above 0, or of more."""
        above = self._upper_sums()
        return as_array(above[np.clip(number, 0, len(above) - 1).astype(np.int64)])

    def _upper_sums(self) -> FloatArray:
        """Return the probabilities of at least 0, 1, 2, ..., and at last 0."""
        return np.concatenate([np.cumsum(self.half_pmf()[::-1])[::-1], [0.0]])

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws, by inverting the law; for studies, not for publication."""
        _validate.instance("rng", rng, np.random.Generator)
        shape = tuple(_validate.whole("every size", n) for n in _validate.several("sizes", shape))
        law = self.half_pmf()
        whole = np.concatenate([law[:0:-1], law])
        level = np.cumsum(whole)
        drawn = np.searchsorted(level / level[-1], rng.random(shape), side="right")
        return as_array(np.minimum(drawn, len(whole) - 1) - (len(law) - 1))

    @property
    def variance(self) -> float:
        """The variance."""
        law = self.half_pmf()
        return 2 * math.fsum((law * np.arange(len(law), dtype=np.float64) ** 2)[::-1])

    def mean_distance(self, center: ArrayLike, factor: ArrayLike = 1.0) -> FloatArray:
        """Return the mean of `|center + factor Z|`, for factors of at least 0."""
        law = self.half_pmf()
        z = np.arange(1, len(law))
        center, factor = (array[..., None] for array in map(as_array, (center, factor)))
        both = np.abs(center + factor * z) + np.abs(center - factor * z)
        return as_array(law[0] * np.abs(center[..., 0]) + both @ law[1:])

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return the hockey-stick divergence of `Z + shift` from `Z`, rounded up."""
        law, moved = self.half_pmf(), abs(int(shift))
        if shift != int(shift):
            return np.ones_like(as_array(epsilon))
        z = np.arange(-(len(law) - 1), len(law))  # before it is moved
        loss = (1 + 1e-15) * (self.exponent(z + moved) - self.exponent(z))
        beyond = loss - (1 - 1e-15) * as_array(epsilon)[..., None]
        terms = law[np.abs(z)] * -np.expm1(np.minimum(0.0, -beyond))
        return np.minimum(as_array(terms.sum(axis=-1) * _UP + 1e-30), 1.0)


@dataclass(frozen=True)
class Geometric(LatticeNoise):
    """Two-sided geometric noise, or discrete Laplace: P(k) = (1 - r)/(1 + r) r^|k|, r = e^(-1/b).

    `b` is the scale. A change by `s` costs a loss of at most `s/b`, as with Laplace noise.

    Examples
    --------
    >>> noise = Geometric.calibrated(Guarantee(1.0), 2)
    >>> noise, round(float(noise.cdf(0)), 9)
    (Geometric(scale=2.0), 0.622459331)
    """

    name: ClassVar[str] = "geometric"
    largest_tilt: ClassVar[float] = 1.0

    @property
    def ratio(self) -> float:
        """Of the probabilities of a number and the one before."""
        return math.exp(-1 / self.scale)

    @property
    def stop(self) -> float:
        """One less the ratio, to its last digits."""
        return -math.expm1(-1 / self.scale)

    def exponent(self, x: ArrayLike) -> FloatArray:
        """Return `|x| / b`."""
        return as_array(np.abs(as_array(x)) / self.scale)

    def half_pmf(self) -> FloatArray:
        """Return the probabilities of 0, 1, 2, ... up to where less than 1e-30 is missing."""
        numbers = np.arange(min(math.ceil(70 * self.scale), _MOST_VALUES) + 2, dtype=np.float64)
        return as_array(self.stop / (1 + self.ratio) * np.exp(-self.exponent(numbers)))

    def _from(self, number: FloatArray) -> FloatArray:
        return as_array(np.exp(-np.maximum(number, 0.0) / self.scale) / (1 + self.ratio))

    def log_tail(self, x: ArrayLike) -> FloatArray:
        """Return the logarithm of the probability of more than `x`."""
        number = np.floor(as_array(x)) + 1
        below = np.log1p(-self._from(1 - np.minimum(number, 0.0)))
        return np.where(
            number > 0, -np.maximum(number, 0.0) / self.scale - math.log1p(self.ratio), below
        )

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws: the difference of two geometric numbers."""
        return as_array(rng.geometric(self.stop, shape) - rng.geometric(self.stop, shape))

    def characteristic(self, frequency: ArrayLike) -> FloatArray:
        """Return `(1 - r)^2 / ((1 - r)^2 + 2 r (1 - cos w))`."""
        turn = 4 * self.ratio * np.sin(as_array(frequency) / 2) ** 2
        return as_array(self.stop**2 / (self.stop**2 + turn))

    @property
    def variance(self) -> float:
        """`2 r / (1 - r)^2`."""
        return 2 * self.ratio / self.stop**2


@dataclass(frozen=True, init=False)
class DiscreteGaussian(LatticeNoise):
    """P(k) proportional to `e^(-k² / 2s²)` on whole numbers, `s` the scale.

    The scale is close to the standard deviation, and never below it.

    Parameters
    ----------
    scale : float
        In steps of the lattice.
    square : Fraction or float
        Its square, instead of the scale: the exact sampler takes a fraction.

    Examples
    --------
    >>> law = DiscreteGaussian(2.0).half_pmf()
    >>> round(float(law[0] + 2 * law[1:].sum()), 12)
    1.0
    >>> DiscreteGaussian(square=Fraction(9, 4))
    DiscreteGaussian(scale=1.5)
    """

    square: Fraction = Fraction(1)

    name: ClassVar[str] = "discrete-gaussian"

    def __init__(
        self, scale: float | None = None, *, square: Fraction | float | None = None
    ) -> None:
        if square is None:
            object.__setattr__(self, "scale", 1.0 if scale is None else scale)
            self.__post_init__()
            object.__setattr__(self, "square", Fraction(float(self.scale)) ** 2)
        elif scale is None:
            object.__setattr__(self, "square", positive_variance(square))
            object.__setattr__(self, "scale", math.sqrt(self.square))
        else:
            raise InvalidInput("Expected either the scale of the noise or its square.")

    def __repr__(self) -> str:
        return f"DiscreteGaussian(scale={self.scale!r})"

    def __str__(self) -> str:
        return f"discrete Gaussian noise of scale {self.scale:.15g}"

    @classmethod
    def _calibrated(cls, guarantee: Guarantee, l1: float, l2: float, linf: float) -> Self:
        if guarantee.delta == 0:
            raise InvalidInput("Discrete Gaussian noise needs delta > 0.")
        if l1 != linf:
            raise InvalidInput("Discrete Gaussian noise is calibrated for one number only.")

        def reached(square: Fraction) -> bool:
            return float(cls(square=square).delta(guarantee.epsilon, l1)) <= guarantee.delta

        return cls(square=least_square(reached))

    def exponent(self, x: ArrayLike) -> FloatArray:
        """Return `x² / 2s²`; of noise too narrow for a float, what is as good as infinite."""
        return as_array(as_array(x) ** 2 / max(2 * float(self.square), sys.float_info.min))

    def half_pmf(self) -> FloatArray:
        """Return the probabilities of 0, 1, 2, ... up to where less than 1e-30 is missing."""
        variance = float(self.square)
        if variance > _LARGEST_VARIANCE:
            raise InvalidInput(
                f"Discrete Gaussian noise of variance {variance:.3g} is too large to compute with; "
                f"up to {_LARGEST_VARIANCE:.0e} works: take a larger epsilon or delta, or "
                "delta = 0."
            )
        z = np.arange(math.ceil(_TAIL * math.sqrt(variance)) + 3, dtype=np.float64)
        with np.errstate(over="ignore"):
            weights = np.exp(-self.exponent(z))
        total = weights[0] + 2 * math.fsum(weights[:0:-1].tolist())
        return as_array(weights / total)

    def half_width(self, rarity: float) -> float:
        """Return the root of `2 rarity`, in scales."""
        return math.sqrt(2 * rarity) * self.scale

    def draw_exactly(self, rng: np.random.Generator) -> int:
        """Return one draw that is exact for a rational square of the scale.

        Randomness comes from `rng` as whole numbers below a bound; publication needs a generator
        fit for it.

        Examples
        --------
        >>> rng = np.random.default_rng(1)
        >>> [DiscreteGaussian(2.0).draw_exactly(rng) for _ in range(8)]
        [-1, 3, -1, 4, -6, -2, 1, 2]
        """
        _validate.instance("rng", rng, np.random.Generator)
        t = math.isqrt(math.floor(self.square)) + 1
        while True:
            y = _discrete_laplace(t, rng)
            distance = abs(y) - self.square / t
            if _bernoulli_exp(distance * distance / (2 * self.square), rng):
                return y


def positive_variance(variance: Fraction | float) -> Fraction:
    """Return a variance above 0 as a fraction, or refuse it."""
    number = _validate.finite("variance", variance)  # type: ignore[arg-type]  # or a Fraction
    if not number > 0:
        raise InvalidInput(f"Expected variance={number:g} to be above 0.")
    return Fraction(variance) if isinstance(variance, Rational | Decimal) else Fraction(number)


def least_square(reached: Callable[[Fraction], bool]) -> Fraction:
    """Return the least square of a scale that reaches a guarantee, to nine digits.

    It is a short fraction, because the exact sampler works with its numerator.
    """

    def reached_at(logarithm: float) -> bool:
        return reached(Fraction(math.exp(logarithm)))

    low = walk(reached_at, 0.0, -1.0, limit=-20.0)
    high = walk(lambda logarithm: not reached_at(logarithm), 0.0, 1.0)
    _, high = narrow(reached_at, low, high, enough=lambda low, high: high - low <= 1e-9)
    short = Fraction(math.ceil(math.exp(high) * 2**30), 2**30)
    return short if reached(short) else Fraction(math.exp(high))


def _uniform_below(bound: int, rng: np.random.Generator) -> int:
    """Return a uniform whole number in [0, bound), for a bound of any size."""
    if bound <= 2**62:
        return int(rng.integers(bound))
    while True:
        drawn = int.from_bytes(rng.bytes((bound.bit_length() + 7) // 8), "big")
        drawn >>= -bound.bit_length() % 8
        if drawn < bound:
            return drawn


def _bernoulli(probability: Fraction, rng: np.random.Generator) -> bool:
    return _uniform_below(probability.denominator, rng) < probability.numerator


def _bernoulli_exp(exponent: Fraction, rng: np.random.Generator) -> bool:
    """Return True with probability e^-exponent, for an exponent of at least 0."""
    while exponent > 1:
        if not _bernoulli_exp(Fraction(1), rng):
            return False
        exponent -= 1
    k = 1
    while _bernoulli(exponent / k, rng):
        k += 1
    return k % 2 == 1


def _discrete_laplace(t: int, rng: np.random.Generator) -> int:
    """Return a draw with P(y) proportional to e^(-|y|/t)."""
    while True:
        u = _uniform_below(t, rng)
        if not _bernoulli_exp(Fraction(u, t), rng):
            continue
        v = 0
        while _bernoulli_exp(Fraction(1), rng):
            v += 1
        magnitude = u + t * v
        negative = bool(rng.integers(2))
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude
