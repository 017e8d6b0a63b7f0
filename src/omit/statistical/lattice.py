"""The distribution of a sum of independent entries, by its characteristic function, with its error.

A sum of `n` entries is spread over few standard deviations, so the transform only covers an
interval outside of which Bernstein's inequality leaves less than `OUTSIDE`; what lies outside is
folded in and counted as error. Raising a characteristic function to the `n`-th power multiplies its
relative error by `n`. Where `n` is large, however, few frequencies are left at all, and those are
computed one by one in the form `1 + (phi - 1)`, whose error stays small. What is left of the errors
is bounded term by term and reported, not assumed.

*Tilting.* Weighting each value `x` by `e^(tilt x)` moves the mean into the tail. There the tilted
probabilities are large and precise, and dividing the weights out again keeps their relative
precision: probabilities of 1e-200 have as many digits as those near the mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit.errors import InvalidInput

_UNIT = 2.0**-53
# What may lie outside of the interval of the transform, on both sides together.
OUTSIDE = 1e-20
# Frequencies at which the characteristic function is below this are left out, and counted.
_NEGLIGIBLE = 1e-28
# Butterflies of a fast transform err by a few units in each of log2(size) layers.
_LAYER_ERROR = 6 * _UNIT
_DIRECT_WORK = 5 * 10**7
_CHUNK_WORK = 4 * 10**6
_LARGEST_TRANSFORM = 10**8


@dataclass(frozen=True, eq=False)
class Part:
    """`count` independent entries with the same distribution over whole numbers from 0."""

    points: NDArray[np.int64]
    probabilities: FloatArray
    count: int


@dataclass(frozen=True, eq=False)
class LatticeSum:
    """Tilted probabilities of consecutive whole numbers, and how wrong they can be.

    Attributes
    ----------
    start
        The number that `mass[0]` belongs to.
    mass
        Tilted probabilities; the untilted ones are `mass * exp(log_moment - tilt * number)`.
    tilt, log_moment
        The tilt, and the logarithm of the sum's moment generating function at it.
    point_error
        By how much each tilted probability may be wrong.
    outside
        Tilted probability outside of the interval, and folded into it.
    log_moment_error
        By how much `log_moment` may be wrong: rounding, as often as there are entries.
    """

    start: int
    mass: FloatArray
    tilt: float
    log_moment: float
    point_error: float
    outside: float
    log_moment_error: float

    @property
    def total_error(self) -> float:
        """A bound on the sum of all errors, and on what is missing."""
        return len(self.mass) * self.point_error + 2 * self.outside


def lattice_sum(parts: Sequence[Part], tilt: float = 0.0) -> LatticeSum:
    """Return the distribution of the sum of all parts' entries.

    Examples
    --------
    >>> coin = Part(np.array([0, 1]), np.array([0.5, 0.5]), 4)
    >>> found = lattice_sum([coin])
    >>> np.round(16 * found.mass, 12), found.total_error < 1e-13
    (array([1., 4., 6., 4., 1.]), True)
    """
    from scipy.fft import irfft, next_fast_len

    parts = [part for part in parts if part.count > 0]
    log_moment, log_moment_error, tilted, doubts = 0.0, 0.0, [], []
    mean = variance = reach = top = 0.0
    for part in parts:
        weights, doubt, log_factor, log_error = _tilted(part, tilt)
        log_moment += part.count * log_factor
        log_moment_error += part.count * log_error + _UNIT * abs(log_moment)
        tilted.append(Part(part.points, weights, part.count))
        doubts.append(doubt)
        centre = float(weights @ part.points)
        mean += part.count * centre
        variance += part.count * float(weights @ (part.points - centre) ** 2)
        reach = max(reach, float(part.points[-1] - part.points[0]))
        top += part.count * float(part.points[-1])
    # Bernstein: beyond t less than 2 exp(-t^2 / (2 (variance + reach t / 3))).
    level = math.log(2 / OUTSIDE)
    half = reach * level / 3
    half += math.sqrt(half**2 + 2 * variance * level)
    low, high = max(0, math.floor(mean - half)), min(int(top), math.ceil(mean + half))
    outside = 0.0 if low == 0 and high == int(top) else OUTSIDE
    if high - low >= _LARGEST_TRANSFORM:
        raise InvalidInput(
            f"Expected fewer entries or coarser values: the answers spread over {high - low:,} "
            f"steps, more than {_LARGEST_TRANSFORM:,}."
        )
    size = next_fast_len(high - low + 1, real=True)
    transform, errors = _characteristic(tilted, doubts, low, size)
    layers = _LAYER_ERROR * math.log2(max(size, 2))
    magnitude = np.abs(transform)
    point_error = float(2 * (errors.sum() + layers * magnitude.sum())) / size
    mass = np.maximum(irfft(transform, size), 0.0)[: high - low + 1]
    return LatticeSum(low, mass, tilt, log_moment, point_error, outside, log_moment_error)


def _tilted(part: Part, tilt: float) -> tuple[FloatArray, FloatArray, float, float]:
    """Return tilted probabilities and the logarithm of what they were divided by.

    After each of the two, by how much it may be wrong. A sum of many entries multiplies the error
    of the logarithm by their number. So around the mean, where factors are near 1, only their
    distance from 1 is computed with.
    """
    if tilt == 0:
        return part.probabilities, np.zeros(len(part.points)), 0.0, 0.0
    centre = round(float(part.probabilities @ part.points))
    turned = tilt * (part.points - centre)
    if np.abs(turned).max() <= 1:
        grown = part.probabilities * np.expm1(turned)
        rest = math.log1p(math.fsum(grown))
        weights = part.probabilities * np.exp(turned - rest)
        wrong = 16 * math.fsum(np.abs(grown)) + 2 * abs(rest) + 2 * abs(tilt * centre)
        return weights, 8 * _UNIT * weights, tilt * centre + rest, _UNIT * wrong
    log = np.log(part.probabilities)
    exponent = tilt * part.points + log
    largest = float(exponent.max())
    weights = np.exp(exponent - largest)
    total = math.fsum(weights)
    weights /= total
    parts_of_exponent = np.abs(tilt * part.points) + np.abs(log)
    doubt = _UNIT * (8 + 4 * parts_of_exponent + abs(largest)) * weights
    wrong = 4 + 2 * abs(largest) + 2 * math.log(total)
    return weights, doubt, largest + math.log(total), math.fsum(doubt) + _UNIT * wrong


def _characteristic(
    parts: Sequence[Part], doubts: Sequence[FloatArray], low: int, size: int
) -> tuple[NDArray[np.complex128], FloatArray]:
    """Return the characteristic function of the sum minus `low`, and a bound on its errors.

    `doubts` says by how much each probability of each part may be wrong.
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
            relative += part.count * 4 * _UNIT * np.abs(log_part)
        turn = 2 * math.pi / size * np.array([int(f) * shift % size for f in chosen], dtype=float)
        modulus = np.exp(log_size)
        # The inverse transform takes e^(-i w x) where probability theory has e^(i w x).
        transform[chosen] = modulus * np.exp(-1j * (angle + turn))
        # A product of factors, each wrong by its error, is larger by at most this factor.
        excess = np.where(
            log_excess < 1,
            modulus * np.expm1(np.minimum(log_excess, 1.0)),
            np.exp(np.minimum(log_size + log_excess, 0.0)),
        )
        errors[chosen] = modulus * relative + excess
    return transform, errors


def _log_magnitude(parts: Sequence[Part], size: int) -> FloatArray:
    """Return, roughly, the logarithm of the absolute value at every frequency."""
    from scipy.fft import rfft

    total = np.zeros(size // 2 + 1)
    for part in parts:
        folded = np.bincount(part.points % size, part.probabilities, minlength=size)
        absolute = np.abs(rfft(folded)) + 64 * _UNIT
        total += part.count * np.minimum(np.log(absolute), 0.0)
    return total


def _directly(
    part: Part, doubt: FloatArray, centre: int, frequencies: NDArray[np.int64], size: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return `phi - 1` around the centre, summed value by value, and its absolute error."""
    places = part.points - centre
    # Whole turns are taken off in whole numbers, so that no digits of the angle are lost.
    turns = np.outer(frequencies, places) % size
    angle = (2 * math.pi / size) * np.where(2 * turns > size, turns - size, turns)
    sine = np.sin(angle)
    versine = 2 * np.sin(angle / 2) ** 2
    real = -(versine @ part.probabilities)
    error = (np.abs(sine) + versine) @ (8 * _UNIT * part.probabilities + doubt)
    return real, sine @ part.probabilities, error


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
