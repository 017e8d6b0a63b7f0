"""What every law of noise offers; `noise` has the continuous laws, `discrete` the others.

One class per law, `scale` times a fixed distribution, with what mechanisms, exact engines and
privacy curves need of it: tails that keep their digits, the average distance of a noisy number, the
delta that it leaves, and how large it must be for a guarantee. Mechanisms and the command line
choose a law by its `name`.

Draws are for studying errors. Noise that is published needs samplers that are safe in floating
point.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.guarantee import Guarantee, require_guarantee


@dataclass(frozen=True)
class Noise(ABC):
    """Independent noise `Z`, added to an answer: `scale` times a fixed distribution.

    Parameters
    ----------
    scale : float
        Above 0 and finite. It is the standard deviation only of the Gaussian.

    Raises
    ------
    InvalidInput
        If the scale is not such a number.

    Examples
    --------
    >>> from omit import Guarantee
    >>> from omit.laws import Laplace
    >>> Laplace.calibrated(Guarantee(0.5), l1=1.0, l2=1.0).scale
    2.0
    """

    scale: float = 1.0

    name: ClassVar[str]
    """What parameters and the command line call the law."""
    is_symmetric: ClassVar[bool] = True
    has_kinks: ClassVar[bool] = False
    """Whether the density or its slope jumps at 0; it is smooth elsewhere."""
    largest_tilt: ClassVar[float] = math.inf
    """`E e^(tZ)` is finite for every `t` below this, in units of 1/scale."""

    def __post_init__(self) -> None:
        shown = _validate.shown(self.scale)
        if not isinstance(self.scale, Real):
            raise InvalidInput(f"Expected the scale of noise to be a number, got {shown}.")
        try:
            usable = 0 < float(self.scale) < math.inf
        except OverflowError:
            usable = False
        if not usable:
            raise InvalidInput(
                f"Expected noise of a positive and finite scale, got {shown}: epsilon must be "
                "above 0 and the bounds must leave something to protect."
            )

    def __str__(self) -> str:
        return f"{self.name} noise of scale {self.scale:.15g}"

    @classmethod
    def calibrated(
        cls, guarantee: Guarantee, l1: float, l2: float | None = None, linf: float | None = None
    ) -> Self:
        """Return the least noise of this law that gives the guarantee.

        Parameters
        ----------
        guarantee : Guarantee
            What the noisy answer shall have.
        l1, l2, linf : float
            By how much one record changes the answer at most: the sum, the root of the sum of
            squares, and the largest of the changes of its numbers. All are `l1` if it is one
            number.

        Raises
        ------
        InvalidInput
            If the law needs an epsilon or a delta above 0 that the guarantee has not.
        """
        require_guarantee(guarantee)
        l2, linf = l1 if l2 is None else l2, l1 if linf is None else linf
        return cls._calibrated(guarantee, l1, l2, linf)

    @classmethod
    def _calibrated(cls, guarantee: Guarantee, l1: float, l2: float, linf: float) -> Self:
        if guarantee.epsilon == 0:
            raise InvalidInput(f"{cls.name.capitalize()} noise needs epsilon > 0.")
        return cls(cls._loss(l1, linf) / guarantee.epsilon)

    @classmethod
    def _loss(cls, l1: float, linf: float) -> float:
        """Return the largest privacy loss of these sensitivities at scale 1."""
        return l1

    @abstractmethod
    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return the probability of at most `x`."""

    @abstractmethod
    def pdf(self, x: ArrayLike) -> FloatArray:
        """Return the density at `x`; on whole numbers, the probability of `x`."""

    @abstractmethod
    def log_tail(self, x: ArrayLike) -> FloatArray:
        """Return the logarithm of the probability of more than `x`."""

    def tail(self, x: ArrayLike) -> FloatArray:
        """Return the probability of more than `x`, to its last digits."""
        return self.cdf(-as_array(x)) if self.is_symmetric else np.exp(self.log_tail(x))

    @abstractmethod
    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""

    def draw_largest(
        self, rng: np.random.Generator, count: int, shape: tuple[int, ...]
    ) -> FloatArray:
        """Return independent draws of the largest of `count` noises, without drawing them all."""
        # ln U / count is the logarithm of the distribution function at the largest of them.
        log_level = np.log(rng.uniform(size=shape)) / count
        return as_array(self._quantile(log_level, -np.expm1(log_level)) * self.scale)

    def _quantile(self, log_level: FloatArray, upper_tail: FloatArray) -> FloatArray:
        """Return the quantile in scales, given the logarithm of its level and 1 less the level."""
        raise InvalidInput(f"The largest of many {self.name} noises has no formula here.")

    def characteristic(self, frequency: ArrayLike) -> FloatArray:
        """Return the characteristic function, which is real for symmetric noise.

        Raises
        ------
        InvalidInput
            If the noise is not symmetric.
        """
        raise InvalidInput(f"The characteristic function of {self.name} noise is not real.")

    @property
    def mean(self) -> float:
        """The mean."""
        return 0.0

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance."""

    @abstractmethod
    def mean_distance(self, center: ArrayLike, factor: ArrayLike = 1.0) -> FloatArray:
        """Return the mean of `|center + factor Z|`, for factors of at least 0.

        Examples
        --------
        >>> from omit.laws.noise import Laplace
        >>> Laplace().mean_distance([0.0, 3.0, 3.0], [2.0, 2.0, 0.0])
        array([2.        , 3.44626032, 3.        ])
        """

    def half_width(self, rarity: float) -> float:
        """Return how far from 0 the noise is, except with a probability of about `e^-rarity`.

        This many scales where tails are exponential.
        """
        return rarity * self.scale

    def reach(self, tail: float = 1e-16) -> tuple[float, float]:
        """Return an interval outside of which there is less probability than about `tail`."""
        width = self.half_width(-float(np.log(tail)))
        return -width, width

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return the hockey-stick divergence of `Z + shift` from `Z`, never below the truth.

        It is the delta of a noisy number that one record changes by `shift`, at every epsilon.
        """
        raise InvalidInput(f"The delta of {self.name} noise alone is not known.")


class ContinuousNoise(Noise):
    """A law with a density, given by its distribution at scale 1."""

    unit_mean: ClassVar[float] = 0.0
    unit_variance: ClassVar[float]

    def _in_scales(self, x: ArrayLike) -> FloatArray:
        with np.errstate(over="ignore"):
            return as_array(as_array(x) / self.scale)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return the probability of at most `x`."""
        return self._cdf(self._in_scales(x))

    @abstractmethod
    def _cdf(self, z: FloatArray) -> FloatArray: ...

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Return the density at `x`."""
        return self._pdf(self._in_scales(x)) / self.scale

    @abstractmethod
    def _pdf(self, z: FloatArray) -> FloatArray: ...

    def log_tail(self, x: ArrayLike) -> FloatArray:
        """Return the logarithm of the probability of more than `x`."""
        return self._log_tail(self._in_scales(x))

    @abstractmethod
    def _log_tail(self, z: FloatArray) -> FloatArray: ...

    @property
    def mean(self) -> float:
        """The mean."""
        return self.unit_mean * self.scale

    @property
    def variance(self) -> float:
        """The variance."""
        return self.unit_variance * self.scale**2

    def mean_distance(self, center: ArrayLike, factor: ArrayLike = 1.0) -> FloatArray:
        """Return the mean of `|center + factor Z|`, for factors of at least 0."""
        return as_array(self._mean_distance(as_array(center), as_array(factor) * self.scale))

    @abstractmethod
    def _mean_distance(self, center: FloatArray, scale: FloatArray) -> FloatArray: ...


class SymmetricNoise(ContinuousNoise):
    """A symmetric law with a density."""

    def _mean_distance(self, center: FloatArray, scale: FloatArray) -> FloatArray:
        center = np.abs(center)
        # Without noise to speak of nothing is added; a scale of 1 there avoids 0/0 and overflow.
        felt = (scale > 0) & (center <= 1e100 * scale)
        safe, center_of_felt = np.where(felt, scale, 1.0), np.where(felt, center, 0.0)
        added = self._added_distance(center_of_felt, safe, center_of_felt / safe)
        return as_array(center + np.where(felt, added, 0.0))

    def _added_distance(self, center: FloatArray, scale: FloatArray, z: FloatArray) -> FloatArray:
        """Return how much farther `center + noise` is from 0 on average, for `z = center/scale`."""
        return as_array(2 * (scale * self._mean_beyond(z) - center * self._cdf(-z)))

    def _mean_beyond(self, z: FloatArray) -> FloatArray:
        """Return the integral of `u` times the density at scale 1, over `u` above `z`."""
        raise NotImplementedError


class LogConcaveNoise(SymmetricNoise):
    """Symmetric and log-concave continuous noise: the best test of a shift is a half-line."""

    @abstractmethod
    def exponent(self, x: ArrayLike) -> FloatArray:
        """Return `ln pdf(0) - ln pdf(x)`."""

    @property
    @abstractmethod
    def bend(self) -> float:
        """The integral of the absolute second derivative of the density."""

    @abstractmethod
    def loss_above(self, epsilon: FloatArray, shift: Fraction) -> FloatArray:
        """Return by how much the largest loss of a shift is above epsilon, rounded up; at least 0.

        Examples
        --------
        >>> from omit.laws.noise import Laplace
        >>> Laplace(3.0).loss_above(np.array([1 / 3, 0.34]), Fraction(1))
        array([1.85...e-17, 0.00...e+00])
        """

    @abstractmethod
    def log_moment(self, tilts: FloatArray) -> FloatArray:
        """Return the logarithm of `E e^(tilt Z)`; infinite where that is."""

    @abstractmethod
    def frequencies_beyond(self, end: float, other: float) -> float:
        """Return a bound on what frequencies from `end` on add to an inversion integral.

        That is the integral of `|c(w) d(w)| / (pi w)`, `c` the characteristic function and `d` that
        of the same law at the scale `other`.
        """


@dataclass(frozen=True)
class NoNoise(LogConcaveNoise):
    """No noise: what is added is 0. The law of an answer that needs no protection.

    Examples
    --------
    >>> NoNoise().draw(np.random.default_rng(1), (2,)), NoNoise().variance
    (array([0., 0.]), 0.0)
    """

    scale: float = 0.0

    name: ClassVar[str] = "none"
    unit_variance: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.scale != 0:
            raise InvalidInput("Expected no noise to have the scale 0.")

    def __str__(self) -> str:
        return "no noise"

    @classmethod
    def _calibrated(cls, guarantee: Guarantee, l1: float, l2: float, linf: float) -> Self:
        if l1 > 0:
            raise InvalidInput("An answer that a record changes needs noise to have a guarantee.")
        return cls()

    def _in_scales(self, x: ArrayLike) -> FloatArray:
        return as_array(x)

    def _cdf(self, z: FloatArray) -> FloatArray:
        return np.where(z >= 0, 1.0, 0.0)

    def _pdf(self, z: FloatArray) -> FloatArray:
        raise InvalidInput("No noise has no density.")

    def _log_tail(self, z: FloatArray) -> FloatArray:
        return np.where(z < 0, 0.0, -np.inf)

    def tail(self, x: ArrayLike) -> FloatArray:
        """Return 1 below 0."""
        return 1 - self.cdf(x)

    def exponent(self, x: ArrayLike) -> FloatArray:
        """Return infinity everywhere but at 0."""
        return np.where(as_array(x) == 0, 0.0, np.inf)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return zeros."""
        return np.zeros(shape)

    def draw_largest(
        self, rng: np.random.Generator, count: int, shape: tuple[int, ...]
    ) -> FloatArray:
        """Return zeros."""
        return np.zeros(shape)

    def characteristic(self, frequency: ArrayLike) -> FloatArray:
        """Return 1."""
        return np.ones_like(as_array(frequency))

    def log_moment(self, tilts: FloatArray) -> FloatArray:
        """Return 0."""
        return np.zeros_like(tilts)

    def frequencies_beyond(self, end: float, other: float) -> float:
        """Return infinity: no frequency fades."""
        return math.inf

    @property
    def bend(self) -> float:
        """Infinite."""
        return math.inf

    def _mean_distance(self, center: FloatArray, scale: FloatArray) -> FloatArray:
        return as_array(np.abs(np.broadcast_arrays(center, scale)[0]))

    def half_width(self, rarity: float) -> float:
        """Return 0."""
        return 0.0

    def loss_above(self, epsilon: FloatArray, shift: Fraction) -> FloatArray:
        """Return infinity."""
        return np.full_like(epsilon, np.inf)

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return 1 for every shift but 0."""
        return np.full_like(as_array(epsilon), 0.0 if shift == 0 else 1.0)
