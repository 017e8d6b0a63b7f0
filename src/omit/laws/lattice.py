"""The distribution of a sum of independent entries, with its error.

Where the sum has few values, probabilities are convolved: all terms are positive, and every
probability is precise relative to it. Otherwise it comes from its characteristic function, with an
absolute error:

A sum of `n` entries is spread over few standard deviations, so the transform only covers an
interval outside of which Bernstein's inequality leaves less than `OUTSIDE`; what lies outside is
folded in and counted as error. Raising a characteristic function to the `n`-th power multiplies its
relative error by `n`. Where `n` is large, however, few frequencies count at all, and those are
computed one by one in the form `1 + (phi - 1)`, whose error stays small. The rest of the errors is
bounded term by term and reported, not assumed.

*Tilting.* Weighting every value `x` by `e^(tilt x)` moves the mean into the tail. There the tilted
probabilities are large and precise, and dividing the weights out again keeps their relative
precision: probabilities of 1e-200 have as many digits as those near the mean. `sums` puts
together what several tilts tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput

_UNIT = 2.0**-53
# What may lie outside of the interval of the transform, on both sides together.
OUTSIDE = 1e-20
# Frequencies at which the characteristic function is below this are dropped, and counted as error.
_NEGLIGIBLE = 1e-28
# Butterflies of a fast transform err by a few units in every one of log2(size) layers.
_LAYER_ERROR = 6 * _UNIT
# One value of an entry at one frequency: its angle has three roundings, the sine, the product and
# the logarithm one or two, and the probability was rounded, too. A sum has one for every term, or
# this many in all where it is summed in pairs.
_TERM_ERROR, _PAIRWISE_ERROR = 12 * _UNIT, 32
_DIRECT_WORK = 5 * 10**7
_CHUNK_WORK = 4 * 10**6
_LARGEST_TRANSFORM = 2 * 10**7
# Sums with at most this many values are convolved.
_FEW_VALUES = 12_000
# Of one entry; more than these have no exact mean.
_MANY_VALUES = 20_000
# Products of tiny probabilities may be lost below floats.
_LOST = 1e-290


@dataclass(frozen=True, eq=False)
class Part:
    """`count` independent entries with the same distribution over whole numbers from 0.

    `doubt` is by how much probabilities may be wrong, relative to them, beyond one rounding, and
    `missing` the logarithm of what all other numbers have together, at most.
    """

    points: NDArray[np.int64]
    probabilities: FloatArray
    count: int
    doubt: float = 0.0
    missing: float = -math.inf

    @cached_property
    def centre(self) -> Fraction:
        """The mean, all digits of it: a sum of many entries multiplies what is missing.

        Among very many values a whole number near it has to do.
        """
        if len(self.points) > _MANY_VALUES:
            return Fraction(round(float(self.probabilities @ self.points)))
        weights = [Fraction(chance) for chance in self.probabilities.tolist()]
        pairs = zip(weights, self.points.tolist(), strict=True)
        return sum((weight * point for weight, point in pairs), Fraction(0)) / sum(weights)


@dataclass(frozen=True, eq=False)
class LatticeSum:
    """Tilted probabilities of consecutive whole numbers, and how wrong they can be.

    Attributes
    ----------
    start
        The number that `mass[0]` belongs to.
    mass
        Tilted probabilities; the untilted ones are `mass * exp(log_moment - tilt * (number -
        origin))`.
    tilt, origin, log_moment
        The tilt, the untilted mean or a number near it, and the logarithm of the moment generating
        function of the sum less that number.
    relative_error, point_error
        By how much tilted probabilities may be wrong, relative to them, and in addition.
    outside
        Tilted probability outside of the interval, and folded into it.
    log_moment_error
        By how much `log_moment` may be wrong: rounding, as often as there are entries.
    top
        The largest possible sum; the smallest is 0.
    possible
        Which of the numbers are sums at all, where that is known.
    """

    start: int
    mass: FloatArray
    tilt: float
    origin: Fraction
    log_moment: float
    relative_error: float
    point_error: float
    outside: float
    log_moment_error: float
    top: int
    possible: NDArray[np.bool_] | None = None

    @property
    def is_convolved(self) -> bool:
        """Whether errors are relative."""
        return self.relative_error > 0

    @property
    def total_error(self) -> float:
        """A bound on the sum of all errors, and on what is missing."""
        return self.relative_error + len(self.mass) * self.point_error + 2 * self.outside


def lattice_sum(parts: Sequence[Part], tilt: float = 0.0) -> LatticeSum:
    """Return the distribution of the sum of all parts' entries.

    Examples
    --------
    >>> coin = Part(np.array([0, 1]), np.array([0.5, 0.5]), 4)
    >>> heads = lattice_sum([coin])
    >>> np.round(16 * heads.mass, 12), heads.relative_error < 1e-14
    (array([1., 4., 6., 4., 1.]), True)
    """
    parts = [part for part in parts if part.count > 0]
    moments = tilted_moments(parts, tilt)
    tilted = [part for part, _ in moments.parts]
    top = sum(part.count * int(part.points[-1]) for part in parts)
    known = (tilt, moments.origin, moments.log_moment)
    if top < _FEW_VALUES:
        mass, relative = _convolved(moments.parts)
        possible = _possible_sums(parts)
        # What is lost in one of the products reaches every sum it is part of.
        lost = _LOST if mass[possible].min() < _LOST else 0.0
        return LatticeSum(
            0, mass, *known, relative, lost, 0.0, moments.log_moment_error, top, possible
        )
    from scipy.fft import irfft, next_fast_len

    reach = max(float(part.points[-1] - part.points[0]) for part in parts)
    # Bernstein: beyond t less than 2 exp(-t^2 / (2 (variance + reach t / 3))).
    level = math.log(2 / OUTSIDE)
    half = reach * level / 3
    half += math.sqrt(half**2 + 2 * moments.variance * level)
    mean = float(moments.origin) + moments.mean
    low, high = max(0, math.floor(mean - half) - 1), min(top, math.ceil(mean + half) + 1)
    outside = 0.0 if low == 0 and high == top else OUTSIDE
    if high - low >= _LARGEST_TRANSFORM:
        raise InvalidInput(
            f"Expected fewer entries or coarser values: the answers spread over {high - low:,} "
            f"steps, more than {_LARGEST_TRANSFORM:,}."
        )
    size = next_fast_len(high - low + 1, real=True)
    transform, errors = _characteristic(tilted, [doubt for _, doubt in moments.parts], low, size)
    layers = _LAYER_ERROR * math.log2(max(size, 2))
    magnitude = np.abs(transform)
    point_error = float(2 * (errors.sum() + layers * magnitude.sum())) / size
    mass = np.maximum(irfft(transform, size), 0.0)[: high - low + 1]
    return LatticeSum(low, mass, *known, 0.0, point_error, outside, moments.log_moment_error, top)


@dataclass(frozen=True, eq=False)
class TiltedMoments:
    """Moments of a tilted sum, around the untilted mean or a number near it.

    Attributes
    ----------
    parts
        Every part with tilted probabilities, and by how much these may be wrong.
    origin
        The number.
    log_moment, log_moment_error
        The logarithm of the moment generating function there, and by how much it may be wrong.
    mean, variance
        Of the tilted sum less the number.
    """

    parts: Sequence[tuple[Part, FloatArray]]
    origin: Fraction
    log_moment: float
    log_moment_error: float
    mean: float
    variance: float

    def distance(self, other: TiltedMoments, further: float) -> float:
        """Return the Kullback-Leibler divergence of the other, tilted further by that, from this.

        It is about how small, as a logarithm, the probability of the other's mean is here.
        """
        return self.log_moment - other.log_moment + further * other.mean


def tilted_moments(parts: Sequence[Part], tilt: float) -> TiltedMoments:
    """Return the parts with all values `x` weighted by `e^(tilt x)`, and the sum's moments."""
    tilted = []
    origin, log_moment, log_moment_error, mean, variance = Fraction(0), 0.0, 0.0, 0.0, 0.0
    for part in parts:
        distances = _less(part.points, part.centre)
        weights, doubt, log_factor, log_error = _tilted(part, distances, tilt)
        tilted.append((Part(part.points, weights, part.count), doubt))
        origin += part.count * part.centre
        log_moment += part.count * log_factor
        log_moment_error += part.count * log_error + 2 * _UNIT * abs(log_moment)
        own = float(weights @ distances)
        mean += part.count * own
        variance += part.count * float(weights @ (distances - own) ** 2)
    return TiltedMoments(tilted, origin, log_moment, log_moment_error, mean, variance)


def _less(points: NDArray[np.int64], centre: Fraction) -> FloatArray:
    """Return the points less a number, rounded a few times."""
    near = round(centre)
    return as_array(points - near) - float(centre - near)


def _tilted(
    part: Part, distances: FloatArray, tilt: float
) -> tuple[FloatArray, FloatArray, float, float]:
    """Return tilted probabilities and the logarithm of what they were divided by.

    After either of the two, by how much it may be wrong. A sum of many entries multiplies the error
    of the logarithm by their number. So where factors are near 1, only their distance from 1 is
    computed with, and of that, as distances are from the mean, only what is not linear in them.
    """
    if tilt == 0:
        return part.probabilities, part.doubt * part.probabilities, 0.0, 0.0
    turned = tilt * distances
    if np.abs(turned).max() <= 1:
        grown = part.probabilities * _exponential_rest(turned)
        if len(distances) > _MANY_VALUES:
            grown = part.probabilities * np.expm1(turned)
        rest = math.log1p(math.fsum(grown))
        weights = part.probabilities * np.exp(turned - rest)
        wrong = (8 * _UNIT + part.doubt) * math.fsum(np.abs(grown)) + 2 * _UNIT * abs(rest)
        # Factors are at least 1 / e.
        wrong *= 1 if rest >= 0 else 3
        return weights, (8 * _UNIT + 2 * part.doubt) * weights, rest, wrong
    log = np.log(part.probabilities)
    exponent = turned + log
    largest = float(exponent.max())
    weights = np.exp(exponent - largest)
    total = math.fsum(weights)
    weights /= total
    parts_of_exponent = np.abs(turned) + np.abs(log)
    doubt = (_UNIT * (8 + 4 * parts_of_exponent + abs(largest)) + 2 * part.doubt) * weights
    wrong = 4 + 2 * abs(largest) + 2 * math.log(total)
    return weights, doubt, largest + math.log(total), math.fsum(doubt) + _UNIT * wrong


def _exponential_rest(x: FloatArray) -> FloatArray:
    """Return `e^x - 1 - x`, relative to it precise, for `x` from -1 to 1."""
    term = x * x / 2
    total = term.copy()
    for number in range(3, 24):
        term = term * x / number
        total += term
    return total


def _convolved(parts: Sequence[tuple[Part, FloatArray]]) -> tuple[FloatArray, float]:
    """Return the law of a sum, and by how much probabilities may be wrong relative to them.

    All terms are positive, so that every product and sum adds one unit to the relative error.
    Every part comes with the errors of its probabilities.
    """
    total, wrong = np.ones(1), 0.0
    for part, doubt in parts:
        power = np.zeros(int(part.points[-1]) + 1)
        power[part.points] = part.probabilities
        some = part.probabilities > 0
        own, remaining = (
            4 * _UNIT + float((doubt[some] / part.probabilities[some]).max()),
            part.count,
        )
        while remaining:
            if remaining % 2:
                wrong += own + (min(len(total), len(power)) + 1) * _UNIT
                total = np.convolve(total, power)
            remaining //= 2
            if remaining:
                own = 2 * own + (len(power) + 1) * _UNIT
                power = np.convolve(power, power)
    # Errors multiply, which for small ones is little more than adding them.
    return total, 1.01 * wrong


def _possible_sums(parts: Sequence[Part]) -> NDArray[np.bool_]:
    """Return which numbers are sums of entries that can be."""
    total = np.ones(1)
    for part in parts:
        power = np.zeros(int(part.points[-1]) + 1)
        power[part.points] = 1.0
        remaining = part.count
        while remaining:
            if remaining % 2:
                total = np.minimum(np.convolve(total, power), 1.0)
            remaining //= 2
            if remaining:
                power = np.minimum(np.convolve(power, power), 1.0)
    return total > 0


def _characteristic(
    parts: Sequence[Part], doubts: Sequence[FloatArray], low: int, size: int
) -> tuple[NDArray[np.complex128], FloatArray]:
    """Return the characteristic function of the sum minus `low`, and a bound on its errors.

    `doubts` says by how much the probabilities of every part may be wrong.
    """
    frequencies = np.arange(size // 2 + 1)
    width = sum(len(part.points) for part in parts)
    needed = np.ones(len(frequencies), dtype=bool)
    if len(frequencies) * width > _CHUNK_WORK:
        needed = _log_magnitude(parts, size) > math.log(_NEGLIGIBLE)
    transform = np.zeros(len(frequencies), dtype=np.complex128)
    errors = np.full(len(frequencies), _NEGLIGIBLE)
    few = frequencies[needed]
    directly = len(few) * width <= _DIRECT_WORK
    step = max(1, _CHUNK_WORK // width) if directly else len(few)
    for begin in range(0, len(few), step):
        chosen = few[begin : begin + step]
        log_size = np.zeros(len(chosen))
        angle = np.zeros(len(chosen))
        log_excess = np.zeros(len(chosen))
        relative = np.full(len(chosen), 16 * _UNIT)
        shift = -low
        for part, doubt in zip(parts, doubts, strict=True):
            centre = round(float(part.probabilities @ part.points))
            shift += part.count * centre
            real, imaginary, error = (
                _directly(part, doubt, centre, chosen, size)
                if directly
                else _by_transform(part, doubt, centre, chosen, size)
            )
            # Near 1 the first form is precise, near 0 only the second.
            square = 2 * real + real**2 + imaginary**2
            log_part = np.where(
                square > -0.5,
                0.5 * np.log1p(np.maximum(square, -0.5)),
                np.log(np.maximum(np.hypot(1 + real, imaginary), 1e-150)),
            )
            log_size += part.count * log_part
            log_excess += part.count * np.log1p(error * np.exp(-log_part))
            angle += part.count * np.arctan2(imaginary, 1 + real)
            # The square may be a quarter of its terms.
            relative += part.count * 16 * _UNIT * np.abs(log_part)
        turn = 2 * math.pi / size * (chosen * (shift % size) % size)
        modulus = np.exp(log_size)
        # The inverse transform takes e^(-i w x) where probability theory has e^(i w x).
        transform[chosen] = modulus * np.exp(-1j * (angle + turn))
        # A product of factors that are wrong by their errors is larger by at most this factor.
        excess = np.where(
            log_excess < 1,
            modulus * np.expm1(np.minimum(log_excess, 1.0)),
            np.exp(np.minimum(log_size + log_excess, 0.0)),
        )
        errors[chosen] = modulus * relative + excess
    return transform, errors


def _log_magnitude(parts: Sequence[Part], size: int) -> FloatArray:
    """Return upper bounds on the logarithm of the absolute value at every frequency."""
    from scipy.fft import rfft

    total = np.zeros(size // 2 + 1)
    layers = 2 * _LAYER_ERROR * math.log2(max(size, 2))
    for part in parts:
        folded = np.bincount(part.points % size, part.probabilities, minlength=size)
        absolute = np.abs(rfft(folded)) + layers
        total += part.count * np.minimum(np.log(absolute), 0.0)
    return total


def _directly(
    part: Part, doubt: FloatArray, centre: int, frequencies: NDArray[np.int64], size: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return `phi - 1` around the centre, summed value by value, and its absolute error."""
    distances = part.points - centre
    # Whole turns are taken off in whole numbers, so that no digits of the angle are lost.
    turns = np.outer(frequencies, distances) % size
    angle = (2 * math.pi / size) * np.where(2 * turns > size, turns - size, turns)
    sine = np.sin(angle)
    versine = 2 * np.sin(angle / 2) ** 2
    # Sums of products in pairs: a dot product would add up one by one.
    real = -(versine * part.probabilities).sum(axis=1)
    imaginary = (sine * part.probabilities).sum(axis=1)
    wrong = _TERM_ERROR + min(len(distances), _PAIRWISE_ERROR) * _UNIT
    error = (np.abs(sine) + versine) @ (wrong * part.probabilities + doubt)
    return real, imaginary, 1.01 * error


def _by_transform(
    part: Part, doubt: FloatArray, centre: int, frequencies: NDArray[np.int64], size: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the same by a fast transform, with the larger error that it has."""
    from scipy.fft import rfft

    folded = np.bincount((part.points - centre) % size, part.probabilities, minlength=size)
    value = np.conj(rfft(folded))[frequencies]
    layers = _LAYER_ERROR * math.log2(max(size, 2))
    error = np.full(len(frequencies), layers + math.fsum(doubt))
    return value.real - 1, value.imag, error
