"""The exact probability of reporting a wrong mode.

If records are kept independently, the noisy counts `X_v = Bin(n_v, k_v) + Z_v` are independent, so
the probability that value `t` wins is one integral, `∫ f_t(x) Π_{v≠t} F_v(x) dx`, with the density
and the distribution functions of these sums. Counts are whole numbers, so on a grid of whole steps
each of these functions is a convolution of binomial probabilities with the noise: a recursion for
exponential tails, a fast Fourier transform for other noise. Gauss-Legendre nodes within the steps
take care of what is between, kinks of the noise included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.mechanisms.noise import Noise

# Probability below this is left out at every step.
_NEGLIGIBLE = 1e-13
# What the quadrature of each right row may miss.
_QUADRATURE = 3e-12
_FEWEST_NODES, _MOST_NODES = 4, 64
# Up to here a table of factorials is quicker than computing each.
_LARGEST_FACTORIAL = 1_000_000
# Where a step is divided for narrow noise, in scales.
_PANELS = np.array([0.5, 1.5, 3.5, 8.0, 16.0, 34.0])
# Above this many numbers at a time an exact answer takes more memory than it is worth.
LARGEST_TABLE = 40_000_000


class TooWide(Exception):
    """The noise is so wide that the exact integral would need too large a table."""


def wrong_mode_probability(
    counts: NDArray[np.int64],
    keep: FloatArray,
    noise: Noise,
    right: NDArray[np.bool_],
    empty: int = 0,
) -> tuple[float, float]:
    """Return the probability that no right value wins, and the precision of that number.

    Parameters
    ----------
    counts : array of int
        How many records have each value.
    keep : array of float
        The probability that a record with that value is kept.
    noise : Noise
        Added to every count.
    right : array of bool
        Which values count as right.
    empty : int
        How many further values of the domain nobody has; they get noise too.

    Raises
    ------
    TooWide
        If the noise is so wide that the table would be too large.

    Examples
    --------
    >>> wrong_mode_probability(
    ...     np.array([3, 1]), np.ones(2), Noise("laplace", 1.0), np.array([True, False])
    ... )[0]  # 1/2 e^-2 (1 + 2/2): two Laplace noises differ by more than 2
    0.135335283236...
    """
    lowest, highest = _supports(counts, keep)
    below, above = noise.reach(_NEGLIGIBLE)
    # Whoever wins is above everybody's lowest possible noisy count, and probably much higher.
    certain = int(np.floor((lowest + below).max()))
    likely = _likely_start(counts * keep, counts * keep * (1 - keep), noise)
    for start in (likely, certain) if likely > certain else (certain,):
        rivals = (highest + above >= start) | right
        first, last = int(lowest[rivals].min()), int(highest[rivals].max())
        end = math.ceil(max(last + above, above, start + 1))
        if int(rivals.sum()) * (end - start + 2 * (last - first + 1)) > LARGEST_TABLE:
            raise TooWide
        binomial = _binomial(counts[rivals], keep[rivals], first, last)
        sums = _NoisyCounts(binomial, first, noise, empty)
        if start == certain or sums.all_below(start) < _NEGLIGIBLE:
            break
    value, precision = sums.wrong(start, end, right[rivals])
    # What was left out of each row: both ends of the binomial and of the noise.
    return value, precision + 4 * _NEGLIGIBLE * len(counts)


def _likely_start(means: FloatArray, variances: FloatArray, noise: Noise) -> int:
    """Return about where somebody is above for certain, by normal approximation."""
    from scipy.special import log_ndtr

    deviation = np.sqrt(variances + noise.variance)
    shift = {"exponential": 1.0, "gumbel": 0.5772}.get(noise.kind, 0.0) * noise.scale
    x = float((means + shift).max()) - np.linspace(9, -3, 37) * float(deviation.max())
    nobody = log_ndtr((x[:, None] - means - shift) / deviation).sum(axis=1)
    certain = np.flatnonzero(nobody < 1.3 * math.log(_NEGLIGIBLE))
    return math.floor(x[certain[-1]]) if len(certain) else -(2**62)


@dataclass(frozen=True)
class _NoisyCounts:
    """Independent sums of a binomial and noise, one in each row, and so many times noise alone."""

    binomial: FloatArray
    first: int
    noise: Noise
    empty: int

    def below(self, x: int) -> FloatArray:
        """Return for each row the probability of at most `x`."""
        kept = np.arange(self.first, self.first + self.binomial.shape[1])
        return as_array(self.binomial @ self.noise.cdf(x - kept))

    def all_below(self, x: int) -> float:
        """Return the probability that all sums are at most `x`."""
        return float(self.below(x).prod() * self.noise.cdf(x) ** self.empty)

    def wrong(self, start: int, end: int, right: NDArray[np.bool_]) -> tuple[float, float]:
        """Return the probability that no right row is the largest, and the precision of it.

        Below `start` the largest sum is not, but for a neglected part; above `end` nobody is.
        Nodes are added until the densities integrate to what the distribution functions say.
        """
        lost_before = self.below(start)[right]
        functions = self._functions(start, end - start, right)
        steps = np.arange(start, end)
        nobody_rises = self.noise.cdf(start) ** self.empty > 1 - 1e-16
        # Gumbel noise falls faster than exponentially to the left.
        nodes = _FEWEST_NODES + 2 * (self.noise.kind == "gumbel")
        while True:
            losses = mass = 0.0
            for node, weight in zip(*_unit_nodes(self.noise.scale, nodes), strict=True):
                below, density = functions(node)
                below = np.clip(below, 0.0, 1.0)
                others = _products_of_others(below[right]) * below[~right].prod(axis=0)
                if not nobody_rises:
                    others = others * self.noise.cdf(steps + node) ** self.empty
                losses += weight * float((density * (1 - others)).sum())
                mass += weight * float(density.sum())
            quadrature = abs(mass - float((1 - lost_before).sum()))
            if quadrature <= _QUADRATURE * len(lost_before) or nodes >= _MOST_NODES:
                break
            nodes *= 2
        # Each right row loses with its own probability; all but one of them lose in any case.
        value = losses + float(lost_before.sum()) - (len(lost_before) - 1)
        precision = 10 * quadrature + _QUADRATURE * len(lost_before) + self.all_below(start)
        return float(min(max(value, 0.0), 1.0)), float(precision)

    def _functions(
        self, start: int, steps: int, right: NDArray[np.bool_]
    ) -> Callable[[float], tuple[FloatArray, FloatArray]]:
        """Return the function of a node that gives distribution functions and right densities.

        At `start + node`, `start + node + 1` and so on.
        """
        if self.noise.kind in ("laplace", "exponential"):
            return self._by_recursion(start, steps, right)
        return self._by_transform(start, steps, right)

    def _by_recursion(
        self, start: int, steps: int, right: NDArray[np.bool_]
    ) -> Callable[[float], tuple[FloatArray, FloatArray]]:
        """Use that exponential noise is the same for each count, but for a factor."""
        scale = self.noise.scale
        below, behind, ahead = _exponential_sums(
            self.binomial, self.first, start, steps, math.exp(-1 / scale)
        )

        def laplace(node: float) -> tuple[FloatArray, FloatArray]:
            back, forth = 0.5 * math.exp(-node / scale), 0.5 * math.exp((node - 1) / scale)
            density = (back * behind[right] + forth * ahead[right]) / scale
            return below - back * behind + forth * ahead, density

        def exponential(node: float) -> tuple[FloatArray, FloatArray]:
            back = math.exp(-node / scale)
            return below - back * behind, back * behind[right] / scale

        return laplace if self.noise.kind == "laplace" else exponential

    def _by_transform(
        self, start: int, steps: int, right: NDArray[np.bool_]
    ) -> Callable[[float], tuple[FloatArray, FloatArray]]:
        """Convolve the binomials with any noise by fast Fourier transform."""
        from scipy.fft import irfft, next_fast_len, rfft

        width = self.binomial.shape[1]
        offsets = np.arange(-(width - 1), steps)
        # What wraps around lands before the part that is looked at.
        length = next_fast_len(len(offsets), real=True)
        transformed = rfft(self.binomial, length, axis=1)
        inside = slice(width - 1, width - 1 + steps)

        def at(node: float) -> tuple[FloatArray, FloatArray]:
            x = start - self.first + node + offsets
            below = irfft(transformed * rfft(self.noise.cdf(x), length), length, axis=1)
            density = irfft(transformed[right] * rfft(self.noise.pdf(x), length), length, axis=1)
            return below[:, inside], np.maximum(density[:, inside], 0.0)

        return at


@compiled
def _exponential_sums(
    binomial: FloatArray, first: int, start: int, steps: int, decay: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return for each row and step x: P(X <= x), and sums of probabilities that fade away from x.

    The second is the sum of `P(X = j) decay^(x - j)` over j <= x, the third that of
    `P(X = j) decay^(j - x - 1)` over j > x.
    """
    rows, width = binomial.shape
    below = np.zeros((rows, steps))
    behind = np.zeros((rows, steps))
    ahead = np.zeros((rows, steps))
    for row in range(rows):
        total, fading = 0.0, 0.0
        for x in range(min(first, start), start + steps):
            probability = binomial[row, x - first] if 0 <= x - first < width else 0.0
            total += probability
            fading = probability + decay * fading
            if x >= start:
                below[row, x - start] = total
                behind[row, x - start] = fading
        fading = 0.0
        for x in range(max(first + width, start + steps) - 1, start - 1, -1):
            place = x + 1 - first
            probability = binomial[row, place] if 0 <= place < width else 0.0
            fading = probability + decay * fading
            if x < start + steps:
                ahead[row, x - start] = fading
    return below, behind, ahead


def _products_of_others(factors: FloatArray) -> FloatArray:
    """Return for each row the product of all other rows."""
    if len(factors) == 1:
        return np.ones_like(factors)
    before, after = np.ones_like(factors), np.ones_like(factors)
    np.cumprod(factors[:-1], axis=0, out=before[1:])
    np.cumprod(factors[:0:-1], axis=0, out=after[-2::-1])
    return before * after


@cache
def _unit_nodes(scale: float, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre nodes in [0, 1] and weights for noise of a scale.

    Noise that is narrower than a step is seen near both ends only, so panels shrink towards them.
    """
    half = np.array([0.0, *(edge for edge in scale * _PANELS if edge < 0.5), 0.5])
    edges = np.concatenate([half, 1 - half[-2::-1]]) if scale < 0.15 else np.array([0.0, 1.0])
    points, weights = np.polynomial.legendre.leggauss(nodes + math.ceil(min(3 / scale, 14)))
    width = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + width * (points + 1)).ravel(), (width * weights).ravel()


def _supports(
    counts: NDArray[np.int64], keep: FloatArray
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each binomial the numbers between which all but a negligible part lies."""
    mean, deviation = counts * keep, np.sqrt(counts * keep * (1 - keep))
    # Bernstein's inequality, solved for the distance with this probability.
    rarity = -math.log(_NEGLIGIBLE)
    distance = rarity / 3 + np.sqrt((rarity / 3) ** 2 + 2 * rarity * deviation**2)
    distance = np.where(deviation > 0, distance, 0.0)
    lowest = np.maximum(np.floor(mean - distance), 0).astype(np.int64)
    highest = np.minimum(np.ceil(mean + distance), counts).astype(np.int64)
    return lowest, highest


def _binomial(counts: NDArray[np.int64], keep: FloatArray, first: int, last: int) -> FloatArray:
    """Return the probabilities of `first` to `last` for each binomial, one in each row."""
    from scipy.special import gammaln, xlog1py, xlogy

    kept = np.arange(first, last + 1)
    lost = counts[:, None] - kept
    possible = lost >= 0
    lost = np.maximum(lost, 0)
    if int(counts.max()) < _LARGEST_FACTORIAL:
        log_factorial = gammaln(np.arange(1.0, int(counts.max()) + last + 2))
        logarithm = log_factorial[counts][:, None] - log_factorial[kept] - log_factorial[lost]
    else:
        logarithm = gammaln(counts[:, None] + 1.0) - gammaln(kept + 1.0) - gammaln(lost + 1.0)
    logarithm = logarithm + xlogy(kept, keep[:, None]) + xlog1py(lost, -keep[:, None])
    table = np.where(possible, np.exp(logarithm), 0.0)
    # Logarithms of factorials are right to the last digits only.
    return as_array(table / table.sum(axis=1, keepdims=True))
