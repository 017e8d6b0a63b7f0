"""Continuous laws of noise; `noise_named` returns any law by its name."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import SMALLEST_POSITIVE, FloatArray, as_array, at_most, gauss_legendre
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.laws.base import ContinuousNoise, SymmetricNoise
from omit.laws.base import LogConcaveNoise as LogConcaveNoise
from omit.laws.base import Noise as Noise
from omit.laws.base import NoNoise as NoNoise
from omit.laws.inversion import root_of, walk

if TYPE_CHECKING:
    from omit.laws.discrete import LatticeNoise

_UNIT = 2.0**-53
_EULER_GAMMA = 0.5772156649015329
# Delta falls as epsilon rises, so that stopping here is safe.
LARGEST_EPSILON = 1e6
# A shift by this many scales is seen with certainty.
_LARGEST_RATIO = Fraction(10**60)
# The last digits of a delta are not certain; they must not cost privacy.
_SAFETY = 1 + 1e-12


class Laplace(LogConcaveNoise):
    """Density `e^(-|x|/b) / 2b`, `b` the scale.

    A shift by `s` costs a loss of at most `s/b`, so that the scale `l1/epsilon` is epsilon-DP, and
    its delta is `1 - e^(-(s/b - epsilon)/2)` below that.

    Examples
    --------
    >>> float(Laplace(2.0).cdf(0.0)), Laplace(2.0).variance
    (0.5, 8.0)
    >>> Laplace.calibrated(Guarantee(0.5), 3.0)
    Laplace(scale=6.0)
    >>> Laplace().delta([0.0, 1.0], 1.0)
    array([0.39346934, 0.        ])
    """

    name: ClassVar[str] = "laplace"
    has_kinks: ClassVar[bool] = True
    largest_tilt: ClassVar[float] = 1.0
    unit_variance: ClassVar[float] = 2.0

    def _cdf(self, z: FloatArray) -> FloatArray:
        half = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, half, 1 - half)

    def _pdf(self, z: FloatArray) -> FloatArray:
        return as_array(0.5 * np.exp(-np.abs(z)))

    def exponent(self, x: ArrayLike) -> FloatArray:
        """Return `|x| / scale`."""
        return as_array(np.abs(as_array(x) / self.scale))

    def _log_tail(self, z: FloatArray) -> FloatArray:
        low = np.minimum(z, 0.0)
        return np.where(z < 0, np.log1p(-0.5 * np.exp(low)), -np.maximum(z, 0.0) - math.log(2))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""
        return rng.laplace(0.0, self.scale, shape)

    def _quantile(self, log_level: FloatArray, upper_tail: FloatArray) -> FloatArray:
        low = log_level < -np.log(2)
        high = -np.log(2 * np.where(low, 0.5, upper_tail))
        return as_array(np.where(low, np.log(2) + log_level, high))

    def characteristic(self, frequency: ArrayLike) -> FloatArray:
        """Return `1 / (1 + (b w)^2)`."""
        return as_array(1 / (1 + (as_array(frequency) * self.scale) ** 2))

    def log_moment(self, tilts: FloatArray) -> FloatArray:
        """Return `-ln(1 - (b t)^2)`."""
        y = tilts * self.scale
        with np.errstate(divide="ignore", invalid="ignore"):
            return as_array(np.where(y < 1, -np.log1p(-(np.minimum(y, 1.0) ** 2)), np.inf))

    def frequencies_beyond(self, end: float, other: float) -> float:
        """Return `1 / (2 pi (b end)^2 (1 + (other end)^2))`."""
        return 1 / (2 * math.pi * (self.scale * end) ** 2 * (1 + (other * end) ** 2))

    @property
    def bend(self) -> float:
        """`2 / b^2`: half of it is the kink's."""
        return 2.0 / self.scale**2

    def _added_distance(self, center: FloatArray, scale: FloatArray, z: FloatArray) -> FloatArray:
        return as_array(scale * np.exp(-z))

    def loss_above(self, epsilon: FloatArray, shift: Fraction) -> FloatArray:
        """Return `shift / scale - epsilon`, rounded up: the nearest float is often below it."""
        loss = min(abs(shift) / Fraction(self.scale), Fraction(sys.float_info.max))
        above = (max(loss - Fraction(at), Fraction(0)) for at in epsilon.tolist())
        return as_array([math.nextafter(float(x), math.inf) if x else 0.0 for x in above])

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return the hockey-stick divergence of `Z + shift` from `Z`, rounded up."""
        epsilons = np.minimum(as_array(epsilon), LARGEST_EPSILON)
        above = self.loss_above(np.atleast_1d(epsilons), Fraction(shift)).reshape(epsilons.shape)
        return np.minimum(at_most(-np.expm1(-above / 2), 1e-15), 1.0)


class Gaussian(LogConcaveNoise):
    """Density `e^(-(x/s)^2 / 2) / (s sqrt(2 pi))`, `s` the scale and standard deviation.

    On an answer of L2 sensitivity `D` it is (epsilon, delta)-DP exactly for

        delta >= N(D/2s - epsilon s/D) - e^epsilon N(-D/2s - epsilon s/D),

    `N` the normal distribution function. There are two ways to compute it. `delta` is an upper
    bound for every argument, close to 1e-9 relative or better, for curves that are stated.
    `precise_delta` has an error of some units in the last place to either side, for searches, which
    step to the private side at their end.

    References
    ----------
    Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018,
    Theorem 8.

    Examples
    --------
    >>> round(Gaussian(1.0).precise_delta(epsilon=1.0, shift=1.0), 9)
    0.126936738
    >>> round(Gaussian.calibrated(Guarantee(0.25, 32561**-2), 1.0).scale, 7)
    20.8250839
    """

    name: ClassVar[str] = "gaussian"
    unit_variance: ClassVar[float] = 1.0

    @classmethod
    def _calibrated(cls, guarantee: Guarantee, l1: float, l2: float, linf: float) -> Self:
        sensitivity = _validate.finite("sensitivity", l2)
        if guarantee.delta == 0:
            raise InvalidInput("Gaussian noise needs delta > 0; use Laplace noise for delta = 0.")
        if sensitivity <= 0:
            raise InvalidInput(f"Expected sensitivity={sensitivity:g} to be above 0.")

        def excess(log_ratio: float) -> float:
            delta = Gaussian(math.exp(log_ratio)).precise_delta(guarantee.epsilon, 1.0)
            return math.log(max(delta, 5e-324)) - math.log(guarantee.delta)

        lower = walk(lambda log_ratio: excess(log_ratio) < 0, 0.0, -1.0)
        upper = walk(lambda log_ratio: excess(log_ratio) > 0, 0.0, 1.0)
        ratio = math.exp(root_of(excess, lower, upper, xtol=1e-15, rtol=1e-15, maxiter=500))
        return cls(ratio * _SAFETY * sensitivity)

    def _cdf(self, z: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        return as_array(ndtr(z))

    def _pdf(self, z: FloatArray) -> FloatArray:
        return as_array(np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))

    def exponent(self, x: ArrayLike) -> FloatArray:
        """Return half of the square of `x / scale`."""
        return as_array(0.5 * (as_array(x) / self.scale) ** 2)

    def _log_tail(self, z: FloatArray) -> FloatArray:
        from scipy.special import log_ndtr

        return as_array(log_ndtr(-z))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""
        return rng.normal(0.0, self.scale, shape)

    def _quantile(self, log_level: FloatArray, upper_tail: FloatArray) -> FloatArray:
        from scipy.special import ndtri

        return as_array(-ndtri(upper_tail))

    def characteristic(self, frequency: ArrayLike) -> FloatArray:
        """Return `e^(-(s w)^2 / 2)`."""
        return as_array(np.exp(-0.5 * (as_array(frequency) * self.scale) ** 2))

    def log_moment(self, tilts: FloatArray) -> FloatArray:
        """Return `(s t)^2 / 2`."""
        return as_array(0.5 * (tilts * self.scale) ** 2)

    def frequencies_beyond(self, end: float, other: float) -> float:
        """Return `e^(-q/2) / (pi q)` with `q = (s^2 + other^2) end^2`."""
        square = (self.scale * self.scale + other * other) * end**2
        return math.exp(-0.5 * square) / (math.pi * square)

    @property
    def bend(self) -> float:
        """`4 phi(1) / s^2`, `phi` the standard normal density."""
        return 4 * math.exp(-0.5) / math.sqrt(2 * math.pi) / self.scale**2

    def _mean_beyond(self, z: FloatArray) -> FloatArray:
        return self._pdf(z)

    def half_width(self, rarity: float) -> float:
        """Return the root of `2 rarity`, in scales."""
        return math.sqrt(2 * rarity) * self.scale

    def loss_above(self, epsilon: FloatArray, shift: Fraction) -> FloatArray:
        """Return infinity: the loss has no limit."""
        return np.full_like(epsilon, np.inf)

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return an upper bound on the hockey-stick divergence of `Z + shift` from `Z`."""
        epsilons = np.minimum(as_array(epsilon), LARGEST_EPSILON)
        ratio = float(min(abs(Fraction(shift)) / Fraction(self.scale), _LARGEST_RATIO))
        upper, up_wrong = _log_ndtr(ratio / 2 - epsilons / ratio, ratio + epsilons / ratio)
        lower, low_wrong = _log_ndtr(-ratio / 2 - epsilons / ratio, ratio + epsilons / ratio)
        apart = epsilons + lower - upper
        apart -= up_wrong + low_wrong + 4 * _UNIT * (epsilons + np.abs(lower) + np.abs(upper))
        delta = np.exp(np.minimum(upper + up_wrong, 0.0)) * -np.expm1(np.minimum(apart, 0.0))
        return as_array(delta * (1 + 4 * _UNIT) + SMALLEST_POSITIVE)

    def precise_delta(self, epsilon: float, shift: float) -> float:
        """Return the same divergence at one epsilon, to its last digits on either side."""
        from scipy.special import erfcx, log_ndtr, ndtr

        width = shift / self.scale
        start = epsilon / width - width / 2
        if start < -5:
            return float(ndtr(-start) - math.exp(epsilon + float(log_ndtr(-start - width))))

        def mills_ratio(u: FloatArray) -> FloatArray:
            return as_array(math.sqrt(math.pi / 2) * erfcx(u / math.sqrt(2)))

        # The normal density at `start`, times the fall of Mills' ratio R over the width. Where that
        # is a small difference, it is taken as the integral of 1 - u R(u), which keeps its digits.
        if width > 1:
            ends = mills_ratio(np.array([start, start + width]))
            fall = float(ends[0] - ends[1])
        else:
            points, weights = gauss_legendre(20)
            u = start + width * (points + 1) / 2
            fall = width / 2 * float((weights * (1 - u * mills_ratio(u))).sum())
        return math.exp(-0.5 * start**2) / math.sqrt(2 * math.pi) * fall


def _log_ndtr(x: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of the Gaussian distribution function, and by how much it may be wrong.

    `size` is that of the terms of `x`, which were rounded a few times.
    """
    from scipy.special import log_ndtr

    value = np.asarray(log_ndtr(x), dtype=np.float64)
    # The derivative: small where x is large, about -x where it is not.
    slope = np.where(x < 0, 1 - x, np.exp(-0.5 * np.clip(x, 0.0, 100.0) ** 2))
    with np.errstate(over="ignore"):
        return value, 4 * _UNIT * (1 + np.abs(value) + size * slope)


@dataclass(frozen=True)
class StudentT(SymmetricNoise):
    """Student's t distribution, times the scale.

    With `d` degrees of freedom a shift by `s` scales costs a loss of at most `s (d+1)/(2 sqrt(d))`,
    and stretching by `e^beta` one of at most `d beta`: noise for smooth sensitivities.

    Parameters
    ----------
    scale : float
        What the distribution is multiplied by.
    degrees : int
        Degrees of freedom, at least 3: the variance is infinite else.

    References
    ----------
    Bun and Steinke, "Average-case averages: private algorithms for smooth sensitivity and mean
    estimation", NeurIPS 2019.

    Examples
    --------
    >>> StudentT(degrees=4).variance
    2.0
    """

    degrees: int = 3

    name: ClassVar[str] = "student"
    largest_tilt: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        degrees = _validate.positive_integer("degrees", self.degrees or 0)
        if degrees < 3:
            raise InvalidInput(
                f"Expected degrees={degrees} of at least 3; the variance is infinite else."
            )

    @classmethod
    def _loss(cls, l1: float, linf: float) -> float:
        return cls().steepness * l1

    @property
    def steepness(self) -> float:
        """The largest privacy loss of a shift by one scale, per scale: `(d+1) / (2 sqrt(d))`."""
        return (self.degrees + 1) / (2 * math.sqrt(self.degrees))

    def _cdf(self, z: FloatArray) -> FloatArray:
        from scipy.special import stdtr

        return as_array(stdtr(self.degrees, z))

    def _pdf(self, z: FloatArray) -> FloatArray:
        d = self.degrees
        constant = math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2)) / math.sqrt(d * math.pi)
        return as_array(constant * (1 + z**2 / d) ** (-(d + 1) / 2))

    def _log_tail(self, z: FloatArray) -> FloatArray:
        return as_array(np.log(self._cdf(-z)))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""
        return as_array(self.scale * rng.standard_t(self.degrees, size=shape))

    @property
    def variance(self) -> float:
        """`d / (d - 2)` times the square of the scale."""
        return self.degrees / (self.degrees - 2) * self.scale**2

    def _mean_beyond(self, z: FloatArray) -> FloatArray:
        return as_array(self._pdf(z) * (self.degrees + z**2) / (self.degrees - 1))

    def half_width(self, rarity: float) -> float:
        """Return the quantile in the upper tail."""
        from scipy.special import stdtrit

        return -float(stdtrit(self.degrees, 0.5 * math.exp(-rarity))) * self.scale


class Exponential(ContinuousNoise):
    """Density `e^(-x/b) / b` for `x >= 0`, `b` the scale.

    Added to scores of which the largest is reported, the scale `2 linf / epsilon` is epsilon-DP,
    where `linf` may be taken after a common shift: half of what two changes differ by at most.

    References
    ----------
    Ding, Kifer, Saghaian N. E., Steinke, Wang, Xiao and Zhang, "The permute-and-flip mechanism is
    identical to report-noisy-max with exponential noise", 2021.

    Examples
    --------
    >>> round(float(Exponential(2.0).cdf(2.0)), 6)
    0.632121
    """

    name: ClassVar[str] = "exponential"
    has_kinks: ClassVar[bool] = True
    is_symmetric: ClassVar[bool] = False
    largest_tilt: ClassVar[float] = 1.0
    unit_mean: ClassVar[float] = 1.0
    unit_variance: ClassVar[float] = 1.0

    @classmethod
    def _loss(cls, l1: float, linf: float) -> float:
        return 2 * linf

    def _cdf(self, z: FloatArray) -> FloatArray:
        return as_array(-np.expm1(-np.maximum(z, 0)))

    def _pdf(self, z: FloatArray) -> FloatArray:
        return np.where(z >= 0, np.exp(-np.maximum(z, 0)), 0.0)

    def _log_tail(self, z: FloatArray) -> FloatArray:
        return as_array(-np.maximum(z, 0.0))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""
        return rng.exponential(self.scale, shape)

    def _quantile(self, log_level: FloatArray, upper_tail: FloatArray) -> FloatArray:
        return as_array(-np.log(upper_tail))

    def _mean_distance(self, center: FloatArray, scale: FloatArray) -> FloatArray:
        below = np.minimum(center, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            turned = np.where(scale > 0, 2 * scale * np.exp(below / scale) - 2 * scale, 0.0)
        return as_array(np.abs(center) + scale + np.where(center < 0, turned, 0.0))

    def reach(self, tail: float = 1e-16) -> tuple[float, float]:
        """Return an interval outside of which there is less probability than about `tail`."""
        return 0.0, self.half_width(-float(np.log(tail)))

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return the hockey-stick divergence of `Z + shift` from `Z`, rounded up.

        Moved downward, what lies below 0 gives the shift away.
        """
        loss = float(Fraction(shift) / Fraction(self.scale))
        epsilons = as_array(epsilon) if loss > 0 else np.zeros_like(as_array(epsilon))
        above = np.maximum(abs(loss) * (1 + 2 * _UNIT) - epsilons, 0.0)
        return np.minimum(at_most(-np.expm1(-above), 1e-15), 1.0)


class Gumbel(ContinuousNoise):
    """Distribution function `e^(-e^(-x/b))`, `b` the scale.

    To report the largest score with this noise is the exponential mechanism, epsilon-DP with the
    scale `2 linf / epsilon`, `linf` taken as for exponential noise.

    Examples
    --------
    >>> round(float(Gumbel(2.0).cdf(0.0)), 6)
    0.367879
    """

    name: ClassVar[str] = "gumbel"
    is_symmetric: ClassVar[bool] = False
    largest_tilt: ClassVar[float] = 1.0
    unit_mean: ClassVar[float] = _EULER_GAMMA
    unit_variance: ClassVar[float] = math.pi**2 / 6

    @classmethod
    def _loss(cls, l1: float, linf: float) -> float:
        return 2 * linf

    def _cdf(self, z: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return as_array(np.exp(-np.exp(-z)))

    def _pdf(self, z: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return as_array(np.exp(-z - np.exp(-z)))

    def tail(self, x: ArrayLike) -> FloatArray:
        """Return the probability of more than `x`, to its last digits."""
        with np.errstate(over="ignore"):
            return as_array(-np.expm1(-np.exp(-as_array(x) / self.scale)))

    def _log_tail(self, z: FloatArray) -> FloatArray:
        # Far out the tail is e^-z, to the last digit.
        return np.where(z > 40, -z, np.log(self.tail(np.minimum(z, 40.0) * self.scale)))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws."""
        return rng.gumbel(0.0, self.scale, shape)

    def _quantile(self, log_level: FloatArray, upper_tail: FloatArray) -> FloatArray:
        return as_array(-np.log(-log_level))

    def _mean_distance(self, center: FloatArray, scale: FloatArray) -> FloatArray:
        from scipy.special import exp1

        felt = (scale > 0) & (np.abs(center) <= 700 * scale)
        z = np.where(felt, center, 0.0) / np.where(felt, scale, 1.0)
        # The part of Z above x is E1(u) + ln u + gamma scales on average, with u = e^(-x/b).
        above = exp1(np.exp(z)) + z + _EULER_GAMMA
        far = np.abs(center + _EULER_GAMMA * scale)
        return np.where(felt, scale * (2 * above - z - _EULER_GAMMA), far)

    def reach(self, tail: float = 1e-16) -> tuple[float, float]:
        """Return an interval outside of which there is less probability than about `tail`."""
        distance = -float(np.log(tail))
        return -float(np.log(distance)) * self.scale, distance * self.scale

    def delta(self, epsilon: ArrayLike, shift: float | Fraction) -> FloatArray:
        """Return the hockey-stick divergence of `Z + shift` from `Z`, rounded up.

        With `u = e^(-x/b)` and `a = e^(shift/b)` the ratio of the densities is `a e^(-u (a - 1))`,
        above `e^epsilon` on one side of `u = (shift/b - epsilon) / (a - 1)`.
        """
        epsilons = np.minimum(as_array(epsilon), 700.0)
        loss = min(float(Fraction(shift) / Fraction(self.scale)), 700.0)
        growth = math.exp(loss)
        edge = np.maximum((loss - epsilons) / math.expm1(loss), 0.0) if loss else 0 * epsilons
        if loss > 0:
            first, second = -np.expm1(-growth * edge), -np.expm1(-edge)
        else:
            first, second = np.exp(-growth * edge), np.exp(-edge)
        grown = np.exp(epsilons) * second
        delta = np.where((edge > 0) & (first > grown), first - grown + 16 * _UNIT * first, 0.0)
        return np.minimum(at_most(delta, 1e-15), 1.0)


@overload
def noise_named(
    name: Literal["laplace", "gaussian", "none"], among: Iterable[str] | None = None
) -> type[LogConcaveNoise]: ...


@overload
def noise_named(
    name: Literal["geometric", "discrete-gaussian"], among: Iterable[str] | None = None
) -> type[LatticeNoise]: ...


@overload
def noise_named(name: str, among: Iterable[str] | None = None) -> type[Noise]: ...


def noise_named(name: str, among: Iterable[str] | None = None) -> type[Noise]:
    """Return a law by its name.

    Parameters
    ----------
    name : str
        Such as ``"laplace"`` or ``"discrete-gaussian"``.
    among : iterable of str, optional
        The names that are allowed here; all of them if not given.

    Raises
    ------
    InvalidInput
        If there is no such law, or it is not allowed here.

    Examples
    --------
    >>> noise_named("laplace")(2.0)
    Laplace(scale=2.0)
    """
    from omit.laws.discrete import DiscreteGaussian, Geometric

    laws: tuple[type[Noise], ...] = (
        Laplace,
        Gaussian,
        Exponential,
        Gumbel,
        StudentT,
        Geometric,
        DiscreteGaussian,
        NoNoise,
    )
    by_name = {law.name: law for law in laws}
    allowed = tuple(by_name if among is None else among)
    return by_name[_validate.one_of("noise", name, allowed)]
