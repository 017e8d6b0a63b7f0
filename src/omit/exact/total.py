"""The expected distance of a noisy total from the truth, by a series with proven bounds.

Let `W = Σ_v v Bin(n_v, k_v) + Z - t`, with characteristic function φ. The triangle wave of period
2L that is `|w|` for `|w| ≤ L` has the Fourier series

    L/2 - (4L/π²) Σ_(j≥0) cos(ω_j w) / (2j+1)²,    ω_j = (2j+1)π/L,

so that `E|W| ≈ L/2 - (4L/π²) Σ_(j<J) Re φ(ω_j) / (2j+1)²`. *What that misses*, all of it bounded:

- the period: the wave has slopes of ±1, so it is below `|w|` by at most `2(|w| - L)₊`, and
  `E(X - L)₊ ≤ E e^(τ(X-L)) / (eτ)` for every τ > 0;
- the end of the series: at most `(4L/π²) c(ω_J) Σ_(j≥J) 1/(2j+1)² ≤ (L/π²) c(ω_J)/J`, `c` the
  characteristic function of the noise, which falls;
- terms between that are not computed: `|φ| ≤ c exp(-Σ_v n_v k_v (1-k_v) (1 - cos ωv))`, for any
  subset of the values;
- rounding of phases and of sums.

No lattice is needed, and nothing depends on the number of records.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.errors import NotExact
from omit.exact.characteristic import log_characteristic
from omit.laws.counts import bernstein_reach
from omit.laws.noise import LogConcaveNoise

# Minus the logarithm of what is beyond the first period that is tried.
_RARITY = 34.0
# Periods that are tried, each half as long again.
_PERIODS = 40
# Tilts to try for what is beyond the period, in units of what the noise allows; all give a bound.
_TILTS = np.geomspace(1e-6, 0.98, 60)
# A tilt of noise without a largest one, in standard deviations of the total.
_WIDEST_TILT = 40.0
_MOST_TERMS = 20_000_000
# Frequencies beyond this many inverse standard deviations of the witnesses are only bounded.
_FADED = 12.0
_WITNESSES = 1000
_GOLDEN = (math.sqrt(5) - 1) / 2
_MOST_FREQUENCIES = 4_000_000
_UNIT = 2.0**-53


class TotalDistance(NamedTuple):
    """The expected distance of a noisy total from the truth, and a bound on its error."""

    expected: float
    precision: float


def total_distance(
    values: FloatArray,
    counts: FloatArray,
    keep: FloatArray,
    noise: LogConcaveNoise,
    truth: float,
    tolerance: float = 1e-9,
) -> TotalDistance:
    """Return the expected distance of the noisy sum of the kept values from the truth.

    Parameters
    ----------
    values, counts, keep : array
        The different values, how many records have each, and the probability that one is kept.
    noise : LogConcaveNoise
        What is added to the sum.
    truth : float
        What the noisy sum is compared with.
    tolerance : float
        The precision to reach, relative to the distance.

    Raises
    ------
    NotExact
        If that would take too long.

    Examples
    --------
    >>> from omit.laws.noise import Laplace
    >>> one, many, half = np.array([1.0]), np.array([1000.0]), np.array([0.5])
    >>> distance = total_distance(one, many, half, Laplace(2.0), 500.0)
    >>> round(distance.expected, 10), distance.precision < 1e-8
    (12.8154146807, True)
    """
    total = _Total.of(values, counts, keep, noise, truth)
    if total.variance == 0:
        exact = float(noise.mean_distance(total.bias))
        return TotalDistance(exact, 8 * _UNIT * (exact + total.size))
    rounding = 8 * _UNIT * total.size
    wrong_side = total.beyond(abs(total.bias), -math.copysign(1.0, total.bias))
    if wrong_side <= 0.1 * tolerance * abs(total.bias):
        # |W| = W + 2 max(-W, 0), or the same with the other sign.
        return TotalDistance(abs(total.bias) + wrong_side, wrong_side + rounding)
    if noise.scale == 0:
        raise NotExact("there is no noise to smooth the total")
    wanted = 0.2 * tolerance * total.least_distance
    period, missed = total.period(wanted)
    terms = _number_of_terms(noise, period, wanted)
    series = _series(total, period, terms, wanted)
    expected = series.value
    precision = float(missed + series.missed + _end(noise, period, terms) + rounding)
    if not precision <= 10 * tolerance * expected:
        raise NotExact(f"the total is sure only to {precision / expected:.1g} of its error")
    return TotalDistance(expected, precision)


class _Total(NamedTuple):
    """The values that may or may not be kept, and how far the expected total is from the truth."""

    values: FloatArray
    counts: FloatArray
    keep: FloatArray
    noise: LogConcaveNoise
    bias: float
    variance: float
    size: float  # of the numbers that cancel in the bias

    @classmethod
    def of(
        cls,
        values: FloatArray,
        counts: FloatArray,
        keep: FloatArray,
        noise: LogConcaveNoise,
        truth: float,
    ) -> _Total:
        expected = counts * keep * values
        bias = math.fsum([*expected.tolist(), -truth])
        size = float(np.abs(expected).sum()) + abs(truth)
        random = (counts > 0) & (keep > 0) & (keep < 1) & (values != 0)
        values, counts, keep = values[random], counts[random], keep[random]
        variance = float((counts * keep * (1 - keep) * values**2).sum())
        return cls(values, counts, keep, noise, bias, variance, size)

    @property
    def least_distance(self) -> float:
        """A lower bound on the expected distance, by the inequalities of Jensen and Hölder.

        Noise of mean 0 shortens no expected distance, and nor does the spread of the total X.
        `E|X - EX| ≥ (Var X)^(3/2) / (E(X - EX)^4)^(1/2)`; and `E|X + c| ≥ E|X|/2` for every c.
        """
        spread = self.counts * self.keep * (1 - self.keep)
        fourth_cumulant = spread * (1 - 6 * self.keep * (1 - self.keep)) * self.values**4
        fourth = float(fourth_cumulant.sum()) + 3 * self.variance**2
        by_spread: float = self.variance**1.5 / math.sqrt(fourth) / 2
        return max(abs(self.bias), float(self.noise.mean_distance(0.0)), by_spread)

    def beyond(self, distance: float, side: float) -> float:
        """Return a bound on `E(side (W - bias) - distance)₊`."""
        steepest = self.noise.largest_tilt / self.noise.scale if self.noise.scale else math.inf
        widest = _WIDEST_TILT / math.sqrt(self.variance)
        tilts = _TILTS * min(steepest, max(widest, 1 / self.noise.scale if self.noise.scale else 0))
        turned = side * np.outer(tilts, self.values)
        with np.errstate(over="ignore", invalid="ignore"):
            moments = np.log1p(self.keep * np.expm1(turned)) - self.keep * turned
            logarithms = moments @ self.counts + self.noise.log_moment(tilts) - tilts * distance
        logarithms = np.where(np.isnan(logarithms), np.inf, logarithms)
        least = float((logarithms - np.log(tilts)).min()) - 1
        return math.exp(min(least, 700.0)) * (1 + 1e-9)

    def period(self, wanted: float) -> tuple[float, float]:
        """Return half a period, and a bound on what it misses that is below `wanted`."""
        widest = float(np.abs(self.values).max())
        reach = bernstein_reach(self.variance, _RARITY, widest) + self.noise.half_width(_RARITY)
        period = abs(self.bias) + reach
        for _ in range(_PERIODS):
            missed = 2 * (
                self.beyond(period - self.bias, 1.0) + self.beyond(period + self.bias, -1.0)
            )
            if missed <= wanted:
                return period, missed
            period *= 1.5
        raise NotExact("the tails of the total are too wide")


class _Series(NamedTuple):
    value: float
    missed: float


def _end(noise: LogConcaveNoise, period: float, terms: int) -> float:
    """Return a bound on what the terms from this one on add."""
    frequency = (2 * terms + 1) * math.pi / period
    return period / math.pi**2 * float(noise.characteristic(frequency)) / terms


def _number_of_terms(noise: LogConcaveNoise, period: float, wanted: float) -> int:
    """Return how many terms leave less than wanted to the rest."""
    terms = 64
    while _end(noise, period, terms) > wanted:
        terms = math.ceil(terms * 1.5)
        if terms > _MOST_FREQUENCIES:
            raise NotExact("the noise is too narrow beside the total")
    return terms


def _series(total: _Total, period: float, terms: int, wanted: float) -> _Series:
    """Return the sum of the series, and what was left out or rounded."""
    odd = as_array(2 * np.arange(terms) + 1)
    frequencies = odd * (math.pi / period)
    weights = 4 * period / math.pi**2 * total.noise.characteristic(frequencies) / odd**2
    # Where the kept total has faded, a bound on its characteristic function is usually enough.
    sight = math.sqrt(max(len(total.values) / _WITNESSES, 1.0))
    faded = _FADED * sight / math.sqrt(total.variance)
    computed = min(terms, math.ceil(faded * period / (2 * math.pi)) + 1)
    left_out = _bounded(total, frequencies[computed:], weights[computed:])
    if left_out > wanted and terms * len(total.values) <= _MOST_TERMS:
        computed, left_out = terms, 0.0
    if computed * len(total.values) > _MOST_TERMS:
        raise NotExact("there are too many different values")
    frequencies, weights = frequencies[:computed], weights[:computed]
    real, imaginary = log_characteristic(
        frequencies,
        np.zeros(1),
        total.values,
        np.ones_like(total.values),
        total.counts,
        total.keep,
    )
    sizes = np.exp(real[0]) * weights
    value = period / 2 - math.fsum(
        (sizes * np.cos(imaginary[0] + frequencies * total.bias)).tolist()
    )
    # A phase is a sum of turns, of which each is rounded.
    turns = frequencies * total.size + math.sqrt(len(total.values)) + 4
    rounded = 4 * _UNIT * (float((sizes * turns).sum()) + period)
    return _Series(value, rounded + left_out)


def _bounded(total: _Total, frequencies: FloatArray, weights: FloatArray) -> float:
    """Return a bound on the sum of terms that are not computed."""
    if not len(frequencies):
        return 0.0
    spread = total.counts * total.keep * (1 - total.keep)
    some = witnesses(len(spread), _WITNESSES)
    return float(_fading(frequencies, weights, total.values[some], spread[some]))


def witnesses(values: int, wanted: int) -> NDArray[np.intp]:
    """Return the positions of about as many of the values as are wanted, at most.

    All over them and in no regular order: neighbouring or equidistant ones return together.
    """
    shares = np.arange(1, wanted + 1) * _GOLDEN % 1
    return np.unique((shares * values).astype(np.intp))


@compiled
def _fading(
    frequencies: FloatArray, weights: FloatArray, values: FloatArray, spread: FloatArray
) -> float:
    """Return the sum of weights times `exp(-Σ spread (1 - cos(frequency value)))`."""
    total = 0.0
    for j in range(len(frequencies)):
        exponent = 0.0
        for v in range(len(values)):
            exponent += spread[v] * (1 - math.cos(frequencies[j] * values[v]))
            if exponent > 700.0:
                break
        total += weights[j] * math.exp(-exponent)
    return total
