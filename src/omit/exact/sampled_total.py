"""The noisy total of a sample of fixed size, by a series with proven bounds.

Let S be the sum of m of N records, every subset alike, and `W = S + Z - c`. As in `total`, the
triangle wave of period 2L that is `|w|` for `|w| ≤ L` gives

    E|W| ≈ L/2 - (4L/π²) Σ_(j<J) Re φ(ω_j) / (2j+1)²,    ω_j = (2j+1)π/L,

with φ the characteristic function of W, and `P(W > 0) ≈ ½ + (2/π) Σ_j Im φ(ω_j) / (2j+1)`.

*The sample* is that of records kept independently with the chance `k = m/N`, given that m are left:

    E e^(iωS) = (1 / P_m) (1/2π) ∫ e^(-iθm) Π_v (1 - k + k e^(i(ωv + θ)))^n_v dθ,

`P_m` the binomial probability of m. A sum over D angles instead of the integral adds what belongs
to the sizes `m ± D, m ± 2D, ...`, at most their probability.

*What is missed*, all of it bounded:

- the period: at most `2 E(|W| - L)₊ ≤ 2 E e^(τ(|W|-L)) / (eτ)`. Exponential moments of a sample are
  at most those of m draws with replacement (Hoeffding 1963), and of its complement likewise;
- the end of the series: at most `(L/π²) c(ω_J)/J`, c the characteristic function of the noise;
- terms that are not computed: with `w_v = n_v k(1-k)` and `R = Σ w_v e^(iωv)` the product above is
  at most `exp(|R| cos(θ + arg R) - Σ w_v)`, so that `|φ| ≤ c I₀(|R|) exp(-Σ w_v) / P_m`, I₀ a
  Bessel function;
- the sum over angles, and rounding.

Neither the values need a lattice, nor is the noise to be wide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.errors import NotExact
from omit.exact.total import TotalDistance, witnesses
from omit.laws.counts import bernstein_reach, log_pmf
from omit.laws.noise import LogConcaveNoise

# Minus the logarithm of what is beyond the first period that is tried, and of the sizes that are
# taken for another one.
_RARITY, _SIZE_RARITY = 30.0, 40.0
_PERIODS = 40
_TILTS = np.geomspace(1e-6, 0.98, 60)
# A tilt of noise without a largest one, in standard deviations of the total.
_WIDEST_TILT = 40.0
_MOST_FREQUENCIES = 400_000
_MOST_COSINES = 100_000_000
# How many factors of records may be computed, at most and where it is to be quick.
_MOST_FACTORS, _MOST_FACTORS_QUICKLY = 400_000_000, 3_000_000
# Within so many deviations of the number of records the angles are not faint.
_LOUD_ANGLES = 9.0
# How many values are looked at beyond the first frequencies.
_WITNESSES, _FIRST = 1000, 300
_UNIT = 2.0**-53


def sampled_total_distance(
    values: FloatArray,
    counts: NDArray[np.int64],
    size: int,
    noise: LogConcaveNoise,
    truth: float,
    tolerance: float = 1e-9,
) -> TotalDistance:
    """Return the expected distance of the noisy sum of a sample of fixed size from the truth.

    Parameters
    ----------
    values, counts
        The distinct values, and how many records have each.
    size : int
        How many of them are drawn, every subset alike: not none, and not all.
    noise, truth, tolerance
        As for `total_distance`.

    Raises
    ------
    NotExact
        If that would take too long.

    Examples
    --------
    >>> from omit.laws.noise import Laplace
    >>> halves = np.array([0.0, 1.0]), np.array([500, 500])
    >>> round(sampled_total_distance(*halves, 100, Laplace(2.0), 50.0).expected, 9)
    4.377749659
    """
    sample = Sample.of(values, counts, size)
    level = truth - size * float(np.average(values, weights=counts))
    wanted = tolerance * max(float(noise.mean_distance(0.0)), abs(level))
    value, precision = SampledTotal.of(sample, noise, [level], wanted).distance(level)
    if not precision <= 10 * tolerance * value:
        raise NotExact(f"the total is sure only to {precision / value:.1g} of its error")
    return TotalDistance(value, precision)


@dataclass(frozen=True, eq=False)
class Sample:
    """Values less their mean, how many records have each, and how many of them are drawn.

    Every subset of that size alike. X is the sum of the drawn ones.
    """

    offsets: FloatArray
    counts: FloatArray
    size: int
    records: int

    @classmethod
    def of(cls, values: FloatArray, counts: NDArray[np.int64], size: int) -> Self:
        """Return the sample of this many of the records with these values."""
        mean = float(np.average(values, weights=counts))
        return cls(as_array(values - mean), as_array(counts), size, int(counts.sum()))

    @property
    def keep(self) -> float:
        """The share of the records that are drawn."""
        return self.size / self.records

    @property
    def spread(self) -> float:
        """The variance of the number of records if they were kept independently."""
        return self.size * (1 - self.keep)

    @property
    def variance(self) -> float:
        """The variance of the sum."""
        square = float(self.counts @ self.offsets**2) / self.records
        return self.spread * square * self.records / (self.records - 1)

    @cached_property
    def chance_of_size(self) -> float:
        """The probability of the size if records were kept independently."""
        share = Fraction(self.size, self.records)
        return math.exp(float(log_pmf(np.array([self.size]), self.records, share)[0]))

    @cached_property
    def angles(self) -> int:
        """How many angles tell the size from all that are not rare."""
        reach = bernstein_reach(self.spread, _SIZE_RARITY)
        return min(math.ceil(reach) + 1, self.records + 1)

    @property
    def misplaced(self) -> float:
        """What sizes that are not told apart add to a characteristic function."""
        if self.angles > self.records:
            return 0.0
        return 2 * math.exp(-_SIZE_RARITY) / self.chance_of_size

    @property
    def factors(self) -> float:
        """About how many factors a frequency takes."""
        loud = 2 * _LOUD_ANGLES / math.sqrt(self.spread) / (2 * math.pi)
        return self.angles * min(1.0, loud) * len(self.offsets)

    def beyond(self, noise: LogConcaveNoise, distance: float, side: float) -> float:
        """Return a bound on `E(side (X + Z) - distance)₊`, Z the noise."""
        steepest = noise.largest_tilt / noise.scale
        fastest = _WIDEST_TILT / math.sqrt(self.variance) if self.variance else 0.0
        tilts = _TILTS * min(steepest, max(fastest, _WIDEST_TILT / noise.scale))
        logs = self._log_moment(tilts, side) + noise.log_moment(tilts) - np.log(tilts)
        return math.exp(min(float((logs - tilts * distance).min()) - 1, 700.0)) * (1 + 1e-9)

    def _log_moment(self, tilts: FloatArray, side: float) -> FloatArray:
        """Return a bound on the logarithm of `E exp(side tilt X)`."""
        shares = np.log(self.counts / self.records)
        bounds = []
        for drawn, sign in ((self.size, side), (self.records - self.size, -side)):
            exponents = shares + sign * tilts[:, None] * self.offsets
            most = exponents.max(axis=1)
            sums = np.exp(exponents - most[:, None]).sum(axis=1)
            bounds.append(drawn * (most + np.log(sums)))
        return as_array(np.minimum(*bounds))

    def largest_characteristic(self, frequencies: FloatArray) -> FloatArray:
        """Return a bound on the size of the characteristic function."""
        from scipy.special import i0e

        weights = self.counts * (self.keep * (1 - self.keep))
        # Some of the values bound it as well, only less sharply.
        some = witnesses(len(self.offsets), _WITNESSES)
        bounds = []
        for part, chosen in ((frequencies[:_FIRST], slice(None)), (frequencies[_FIRST:], some)):
            real, imaginary = _cosines(part, self.offsets[chosen], weights[chosen])
            size, total = np.hypot(real, imaginary), float(weights[chosen].sum())
            bounds.append(i0e(size) * np.exp(size - total * (1 - 1e-12)))
        return as_array(np.minimum(np.concatenate(bounds) / self.chance_of_size, 1.0))

    def characteristic(self, frequencies: FloatArray) -> NDArray[np.complex128]:
        """Return that of the sum less its mean."""
        row = row_of_size(frequencies, self.angles, self.offsets, self.counts, self.keep)
        characteristic: NDArray[np.complex128] = row / self.chance_of_size
        return characteristic

    def rounding(self, frequencies: FloatArray) -> FloatArray:
        """Return what rounding does to it, of the size of an ordinary one."""
        turns = frequencies * float(self.counts @ np.abs(self.offsets)) * self.keep
        return as_array(4 * _UNIT * (turns + math.sqrt(len(self.offsets)) + 16) + 1e-15)


@dataclass(frozen=True, eq=False)
class SampledTotal:
    """The sum of a sample of fixed size less its mean, with noise.

    Attributes
    ----------
    half_period
        That of the triangle wave, L.
    frequencies, transform
        Those that are computed, and the characteristic function there.
    missed
        A bound on what an expected distance lacks.
    """

    half_period: float
    frequencies: FloatArray
    transform: NDArray[np.complex128]
    missed: float

    @classmethod
    def of(
        cls,
        sample: Sample,
        noise: LogConcaveNoise,
        levels: Iterable[float],
        wanted: float,
        *,
        quick: bool = False,
    ) -> Self:
        """Return what gives distances from all numbers between the levels.

        Parameters
        ----------
        sample : Sample
            Not none of the records, and not all.
        noise : LogConcaveNoise
            What is added to their sum.
        levels : iterable of float
            What distances are wanted from, less the mean of the sum.
        wanted : float
            How much an expected distance may lack.
        quick : bool
            Whether it is not to take longer than a few hundredths of a second.

        Raises
        ------
        NotExact
            If that would take too long.

        Examples
        --------
        >>> from omit.laws.noise import Laplace
        >>> sample = Sample.of(np.array([0.0, 1.0]), np.array([500, 500]), 100)
        >>> total = SampledTotal.of(sample, Laplace(2.0), [0.0], 1e-9)
        >>> value, precision = total.distance(0.0)
        >>> round(value, 9), precision < 1e-8
        (4.377749659, True)
        """
        if noise.scale == 0:
            raise NotExact("there is no noise to smooth the sum")
        half_period, beyond = _half_period(sample, noise, levels, 0.3 * wanted)
        terms = _number_of_terms(noise, half_period, 0.3 * wanted)
        if terms * min(len(sample.offsets), _WITNESSES) > _MOST_COSINES:
            raise NotExact("the noise is too narrow beside the sum")
        odd = as_array(2 * np.arange(terms) + 1)
        frequencies = odd * (math.pi / half_period)
        weights = 4 * half_period / math.pi**2 * noise.characteristic(frequencies) / odd**2
        # The faintest are left out.
        bound = weights * sample.largest_characteristic(frequencies)
        faintest = np.argsort(bound, kind="stable")
        left_out = np.cumsum(bound[faintest])
        number = int(np.searchsorted(left_out, 0.3 * wanted))
        needed = np.sort(faintest[number:])
        faint = float(left_out[number - 1]) if number else 0.0
        most = _MOST_FACTORS_QUICKLY if quick else _MOST_FACTORS
        if len(needed) * sample.factors > most:
            raise NotExact("there are too many different values")
        frequencies, weights = frequencies[needed], weights[needed]
        transform = sample.characteristic(frequencies)
        rounding = sample.rounding(frequencies)
        missed = beyond + _end(noise, half_period, terms) + faint
        missed += float(weights @ (rounding + sample.misplaced)) + 8 * _UNIT * half_period
        return cls(half_period, frequencies, transform * noise.characteristic(frequencies), missed)

    def distance(self, level: float) -> tuple[float, float]:
        """Return `E|W|` for a level, less the mean of the sum, and a bound on its error."""
        odd = self.frequencies * (self.half_period / math.pi)
        turned = self.transform * np.exp(-1j * self.frequencies * level)
        terms = (4 * self.half_period / math.pi**2) * turned.real / odd**2
        value = self.half_period / 2 - math.fsum(terms.tolist())
        turns = 2 * _UNIT * float(np.abs(self.frequencies * level * terms).sum())
        return value, self.missed + turns

    def above(self, level: float) -> float:
        """Return `P(W > 0)` for a level, less the mean of the sum."""
        odd = self.frequencies * (self.half_period / math.pi)
        turned = self.transform * np.exp(-1j * self.frequencies * level)
        return 0.5 + 2 / math.pi * float((turned.imag / odd).sum())


def _half_period(
    sample: Sample, noise: LogConcaveNoise, levels: Iterable[float], wanted: float
) -> tuple[float, float]:
    """Return half a period for all levels, and a bound on what it misses."""
    low, high = min(levels), max(levels)
    widest = float(np.abs(sample.offsets).max())
    reach = bernstein_reach(sample.variance, _RARITY, widest) + noise.half_width(_RARITY)
    half_period = max(abs(low), abs(high)) + reach
    for _ in range(_PERIODS):
        missed = 2 * sample.beyond(noise, half_period + low, 1.0)
        missed += 2 * sample.beyond(noise, half_period - high, -1.0)
        if missed <= wanted:
            return half_period, missed
        half_period *= 1.3
    raise NotExact("the tails of the sum are too wide")


def _end(noise: LogConcaveNoise, half_period: float, terms: int) -> float:
    """Return a bound on what the terms from this one on add."""
    frequency = (2 * terms + 1) * math.pi / half_period
    return half_period / math.pi**2 * float(noise.characteristic(frequency)) / terms


def _number_of_terms(noise: LogConcaveNoise, half_period: float, wanted: float) -> int:
    """Return how many terms leave less than wanted to the rest."""
    terms = 32
    while _end(noise, half_period, terms) > wanted:
        terms = math.ceil(terms * 1.3)
        if terms > _MOST_FREQUENCIES:
            raise NotExact("the noise is too narrow beside the sum")
    return terms


@compiled
def _cosines(
    frequencies: FloatArray, values: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return real and imaginary part of `Σ w e^(iωv)`."""
    real, imaginary = np.zeros(len(frequencies)), np.zeros(len(frequencies))
    for j in range(len(frequencies)):
        for v in range(len(values)):
            real[j] += weights[v] * math.cos(frequencies[j] * values[v])
            imaginary[j] += weights[v] * math.sin(frequencies[j] * values[v])
    return real, imaginary


@compiled
def row_of_size(
    frequencies: FloatArray, angles: int, values: FloatArray, counts: FloatArray, keep: float
) -> NDArray[np.complex128]:
    """Return the characteristic function of the sum where as many are left as are expected.

    Less the phase of the mean, and not divided by the probability of that number: at 0 it is that.
    """
    row = np.zeros(len(frequencies), dtype=np.complex128)
    weight = keep * (1.0 - keep)
    for i in range(len(frequencies)):
        # What the angle can make of it: `|1 - k + k e^(ia)| ≤ e^(-k (1-k) (1-cos a))`.
        real, imaginary, total = 0.0, 0.0, 0.0
        for v in range(len(values)):
            real += weight * counts[v] * math.cos(frequencies[i] * values[v])
            imaginary += weight * counts[v] * math.sin(frequencies[i] * values[v])
            total += weight * counts[v]
        size, direction = math.hypot(real, imaginary), math.atan2(imaginary, real)
        for j in range(angles):
            other = 2.0 * math.pi * (j - (angles if 2 * j > angles else 0)) / angles
            if size * math.cos(other + direction) - total < -85.0:
                continue
            log_size, turn = 0.0, 0.0
            for v in range(len(values)):
                angle = frequencies[i] * values[v] + other
                half = math.sin(0.5 * angle)
                log_size += counts[v] * 0.5 * math.log1p(-4.0 * weight * half * half)
                if log_size < -85.0:
                    break
                # Modulo full turns any branch of the angle will do: counts are whole.
                remaining = 1.0 - 2.0 * keep * half * half
                turn += counts[v] * (math.atan2(keep * math.sin(angle), remaining) - keep * angle)
            if log_size >= -85.0:
                row[i] += math.exp(log_size) / angles * (math.cos(turn) + 1j * math.sin(turn))
    return row
