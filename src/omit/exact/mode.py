"""The exact probability of reporting a wrong mode, with a proven precision.

If records are kept independently, the noisy counts `X_v = B_v + Z_v`, `B_v ~ Bin(n_v, k_v)`, are
independent, so the probability that the largest is one of those that are right is one integral,

    P(right) = ∫ R'(x) Q(x) dx,   R = Π_{v right} F_v,   Q = Π_{v wrong} F_v,

with their distribution functions `F_v(x) = Σ_j P(B_v = j) F(x - j)`. `mode_quadrature` says where
to evaluate it and proves what that misses. Values with the same count and the same keep probability
have the same `F_v`: they are one factor with an exponent, and so are the values that nobody has.
Noise so narrow that it cannot reorder different counts only breaks ties, and evenly, whatever its
law; it is replaced by exponential noise, which is the easiest to integrate.

The precision is the sum of what these steps can do to `P(right)`:

- *Quadrature.* As proven there.
- *What is left out.* A binomial is below, or above, what is taken as its support with a probability
  of at most ν, and so is a noise below or above its reach. Supports, reaches, rivals that cannot
  come near, and the ends of the integral leave out at most `8 ν` for every value of the domain; ν
  is chosen so that this is negligible for all of them together. Below `start` the integral is at
  most the probability that nobody is above. A sum of trapezoids is at most three times that: left
  of its mode, 0, noise has an increasing density, so `h f(x) <= ∫_x^{x+h} f`; right of it
  `F >= 1/e`, and all trapezoids together are at most 1.1.
- *Rounding.* Upper tails `T_v = 1 - F_v` and densities are sums and products of positive numbers (a
  Laplace tail is a difference, which leaves at least half of the larger part), so they keep their
  relative precision η. Replacing `T_v` by `(1 + η) T_v` changes the probability that somebody else
  wins by at most `η ∫ T_v dG = η P(v wins)`, where `G` is the distribution function of the largest
  of the others; for all v together by η, however many they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray
from omit.exact.mode_quadrature import cell_rule, trapezoids
from omit.laws.counts import bernstein_reach, relative_pmf
from omit.laws.noise import Exponential, Noise

IntArray = NDArray[np.int64]

# What may be left out in all.
_NEGLIGIBLE = 1e-14
# Stands for noise that only breaks ties.
_BREAKS_TIES = Exponential(0.001)
# So many values tell where the largest is at least.
_FRONT = 500
# Trapezoids are computed so many at a time, at least.
_LANES = 8
_UNIT_ROUNDING = 2.0**-53
# Above this many multiplications an exact answer takes more than a few seconds, above this many
# numbers at a time more memory than it is worth.
MOST_STEPS, LARGEST_TABLE = 1_000_000_000, 20_000_000
# Beyond this, whole numbers and what is between them are not told apart.
_LARGEST_NUMBER = 2.0**50


class TooLarge(Exception):
    """The exact integral would take too much time or memory; the message says why."""


def wrong_mode_probability(
    counts: IntArray,
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
    TooLarge
        If it would take too much time or memory.

    Examples
    --------
    >>> from omit.laws.noise import Laplace
    >>> wrong_mode_probability(
    ...     np.array([3, 1]), np.ones(2), Laplace(1.0), np.array([True, False])
    ... )[0]  # 1/2 e^-2 (1 + 2/2): two Laplace noises differ by more than 2
    0.135335283236...
    """
    if not right.any():
        return 1.0, 0.0
    if right.all() and empty == 0:
        return 0.0, 0.0
    tail = _NEGLIGIBLE / (len(counts) + empty)
    below, above = noise.reach(tail)
    if above - below < 1:
        noise = _BREAKS_TIES
        below, above = noise.reach(tail)
    if max(-below, above) > _LARGEST_NUMBER or counts.max() > _LARGEST_NUMBER:
        what = f"noise of scale {noise.scale:.3g} on counts up to {counts.max():,}"
        raise TooLarge(f"{what} is too wide for the exact integral")
    values = _group(counts, keep, right, empty, tail)
    # Whoever wins is above everybody's lowest possible noisy count, and probably much higher.
    certain = math.floor(float(values.lowest.max()) + below)
    likely = _likely_start(values, noise)
    integrate = _cells if noise.has_kinks else _trapezoids
    for start in (likely, certain) if likely > certain else (certain,):
        rivals = values.chosen(values.right | (values.highest + above >= start))
        binomials = rivals.binomials()
        nobody = binomials.all_below(start, noise)
        if nobody <= _NEGLIGIBLE:
            break
    chance, precision = integrate(rivals, binomials, noise, start, (below, above))
    return min(max(1.0 - chance, 0.0), 1.0), precision + 3 * nobody + 8 * _NEGLIGIBLE


class _Binomials(NamedTuple):
    """The probabilities of several binomials, one after the other, for the compiled loops."""

    probabilities: FloatArray
    upper: FloatArray  # sums of these from above
    begins: IntArray
    lowest: IntArray
    alike: IntArray
    right: NDArray[np.bool_]

    @property
    def counts(self) -> IntArray:
        """The counts that these are the probabilities of."""
        return np.arange(len(self.probabilities)) + np.repeat(
            self.lowest - self.begins[:-1], np.diff(self.begins)
        )

    def all_below(self, start: int, noise: Noise) -> float:
        """Return the probability that nobody's noisy count is above `start`."""
        counts = self.counts
        first, last = int(counts.min()), int(counts.max())
        if last - first < len(counts):
            noisy = noise.cdf(start - np.arange(first, last + 1))[counts - first]
        else:
            noisy = noise.cdf(start - counts)
        below = np.add.reduceat(self.probabilities * noisy, self.begins[:-1])
        return float(np.prod(np.minimum(below, 1.0) ** self.alike))


@dataclass(frozen=True)
class _Values:
    """Different values, with how many others are like them, the right ones last."""

    counts: IntArray
    keep: FloatArray
    right: NDArray[np.bool_]
    alike: IntArray
    lowest: IntArray
    highest: IntArray

    def chosen(self, which: NDArray[np.bool_]) -> _Values:
        """Return some of the values."""
        return _Values(
            self.counts[which],
            self.keep[which],
            self.right[which],
            self.alike[which],
            self.lowest[which],
            self.highest[which],
        )

    @property
    def widest(self) -> int:
        """The number of counts that the widest binomial can take."""
        return int((self.highest - self.lowest).max()) + 1

    @property
    def farthest(self) -> int:
        """The largest distance of these counts from the most probable one."""
        mode = np.minimum(np.floor((self.counts + 1.0) * self.keep), self.counts)
        return int(np.maximum(self.highest - mode, mode - self.lowest).max())

    @property
    def factors(self) -> int:
        """How many distribution functions are multiplied, rounded up so that rules are shared."""
        return 1 << int(self.alike.sum() - 1).bit_length()

    @property
    def densities(self) -> int:
        """How many values are right, rounded up so that rules are shared."""
        return 1 << int(self.alike[self.right].sum() - 1).bit_length()

    def binomials(self) -> _Binomials:
        """Return their probabilities."""
        begins = np.concatenate([[0], np.cumsum(self.highest - self.lowest + 1)])
        _require_room(1, int(begins[-1]))
        probabilities = np.empty(begins[-1])
        upper = np.empty(begins[-1])
        _binomials(self.counts, self.keep, self.lowest, begins, probabilities, upper)
        return _Binomials(probabilities, upper, begins, self.lowest, self.alike, self.right)


def _group(
    counts: IntArray, keep: FloatArray, right: NDArray[np.bool_], empty: int, tail: float
) -> _Values:
    """Return the different values, each with the counts that it can keep."""
    if empty:
        counts, keep, right = np.append(counts, 0), np.append(keep, 1.0), np.append(right, False)
    times = np.ones_like(counts)
    times[-1] = empty or 1
    # A value that is lost for certain is like one that nobody has.
    held = (counts > 0) & (keep > 0)
    counts, keep = counts * held, np.where(held, keep, 1.0)
    order = np.lexsort((keep, counts, right))
    counts, keep, right = counts[order], keep[order], right[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.diff(counts).astype(np.bool_) | np.diff(keep).astype(np.bool_) | np.diff(right)
    alike = np.add.reduceat(times[order], np.flatnonzero(new))
    lowest, highest = _supports(counts[new], keep[new], tail)
    return _Values(counts[new], keep[new], right[new], alike, lowest, highest)


def _supports(counts: IntArray, keep: FloatArray, tail: float) -> tuple[IntArray, IntArray]:
    """Return numbers below and above which a binomial is with a probability of at most `tail`."""
    mean, variance = counts * keep, counts * keep * (1 - keep)
    distance = np.where(variance > 0, bernstein_reach(variance, -math.log(tail)), 0.0)
    lowest = np.maximum(np.floor(mean - distance), 0).astype(np.int64)
    highest = np.minimum(np.ceil(mean + distance), counts).astype(np.int64)
    return lowest, highest


def _likely_start(values: _Values, noise: Noise) -> int:
    """Return about where somebody is above for certain, by normal approximation."""
    from scipy.special import log_ndtr

    means = values.counts * values.keep
    # Some values are enough, and better those that are in front.
    front = np.argsort(means)[-_FRONT:]
    means, keep, alike = means[front], values.keep[front], values.alike[front]
    deviation = np.sqrt(means * (1 - keep) + noise.variance)
    x = float((means + noise.mean).max()) - np.linspace(9, -3, 37) * float(deviation.max())
    nobody = log_ndtr((x[:, None] - means - noise.mean) / deviation) @ alike
    certain = np.flatnonzero(nobody < 1.3 * math.log(_NEGLIGIBLE))
    return math.floor(x[certain[-1]]) if len(certain) else -(2**62)


def _cells(
    values: _Values, binomials: _Binomials, noise: Noise, start: int, reach: tuple[float, float]
) -> tuple[float, float]:
    """Integrate with exponential or Laplace noise, cell by cell between whole numbers."""
    scale, two_sided = noise.scale, noise.is_symmetric
    first, last = int(values.lowest.min()), int(values.highest.max())
    end = max(math.ceil(float(values.highest[values.right].max()) + reach[1]), start + 1)
    # Kinks are where counts can be; elsewhere cells may be as wide as the noise.
    wide = max(1, math.floor(scale))
    chance = error = 0.0
    cells = 0
    for low, high, width in (
        (start, min(first, end), wide),
        (max(start, first), min(last, end), 1),
        (max(start, last), end, wide),
    ):
        if low >= high:
            continue
        number = -(-(high - low) // width)
        # Cells before the counts end where these begin.
        begin = high - number * width if low == start and high == first else low
        rule = cell_rule(two_sided, width / scale, values.factors, values.densities)
        _require_room(len(values.counts), number * len(rule.nodes))
        fall = (0.5 if two_sided else 1.0) * np.exp(-rule.nodes)
        rise = (0.5 if two_sided else 0.0) * np.exp(rule.nodes - width / scale)
        slope = _exponential_products(*binomials, begin, number, width, scale, reach[1], fall, rise)
        chance += float((slope @ rule.weights).sum())
        error += rule.error
        cells += number
    # A probability has 5 roundings a step away from the mode, and its sum brings another 3 in the
    # mean; a sum that fades has 4 a step, a factor 4, and both tails and densities have them all.
    fading = 4 * (values.widest + cells)
    roundings = 2 * (8 * values.farthest + fading) + 4 * len(values.counts) + 1000
    return chance, error + roundings * _UNIT_ROUNDING


def _trapezoids(
    values: _Values, binomials: _Binomials, noise: Noise, start: int, reach: tuple[float, float]
) -> tuple[float, float]:
    """Integrate with Gaussian or Gumbel noise by the trapezoidal rule."""
    rule = trapezoids(noise, values.factors, values.densities)
    # Several nodes make a row, which begins at a whole number.
    lanes = rule.per_unit * -(-_LANES // rule.per_unit)
    offsets = np.arange(lanes) * rule.units / rule.per_unit
    stride = lanes // rule.per_unit * rule.units
    end = float(values.highest[values.right].max()) + reach[1] + rule.step
    rows = start + stride * np.arange(max(1, math.ceil((end - start) / stride)), dtype=np.int64)
    # By how much a row begins above a count if the noise decides; below it cannot, above it must.
    nearest = math.floor(reach[0] - rule.step) - stride
    farthest = math.ceil(reach[1] + rule.step)
    taps = min(values.widest, farthest - nearest + 1)
    _require_room(taps * len(values.counts), len(rows) * lanes)
    if stride <= values.widest:
        least = max(nearest, start - int(values.highest.max()))
        most = min(farthest, int(rows[-1] - values.lowest.min()))
        distances, positions, shifts = np.arange(least, most + 1), rows - least, values.lowest
    else:
        # Rows are so far apart that they share no distance; but values share counts.
        counts = np.unique(binomials.counts)
        _require_room(1, len(rows) * len(counts) * lanes)
        distances = (rows[:, None] - counts[::-1]).ravel()
        positions = np.arange(1, len(rows) + 1) * len(counts) - 1
        shifts = np.searchsorted(counts, values.lowest)
    _require_room(1, len(distances) * lanes)
    x = distances[:, None] + offsets
    tails, densities = noise.tail(x), noise.pdf(x)
    slope = _smooth_products(
        *binomials, rows, positions, shifts, nearest, farthest, tails, densities
    )
    # As in cells, but for the sum.
    roundings = 2 * (8 * values.farthest + taps) + 4 * len(values.counts) + 1000
    return rule.step * float(slope.sum()), rule.error + roundings * _UNIT_ROUNDING


def _require_room(times: int, numbers: int) -> None:
    """Refuse to go through this many numbers so many times, if that is too much."""
    if numbers > LARGEST_TABLE:
        raise TooLarge(f"the exact integral would take a table of {numbers:.2g} numbers")
    if times * numbers > MOST_STEPS:
        raise TooLarge(f"the exact integral would take {times * numbers:.2g} steps")


@compiled
def _binomials(
    counts: IntArray,
    keep: FloatArray,
    lowest: IntArray,
    begins: IntArray,
    probabilities: FloatArray,
    upper: FloatArray,
) -> None:
    """Fill in binomial probabilities, by the ratio of neighbours, and their sums from above."""
    for row in range(len(counts)):
        n, k = counts[row], keep[row]
        begin, end = begins[row], begins[row + 1]
        p = probabilities[begin:end]
        relative_pmf(n, k, lowest[row], p)
        # Sums from above, with what was rounded off carried along.
        total, rest = 0.0, 0.0
        for place in range(end - begin - 1, -1, -1):
            more = total + p[place]
            rest += p[place] - (more - total) if total >= p[place] else total - (more - p[place])
            total = more
            upper[begin + place] = total + rest
        whole = upper[begin]
        for place in range(end - begin):
            p[place] /= whole
            upper[begin + place] /= whole


@compiled
def _multiply(
    product: FloatArray, slope: FloatArray, tail: FloatArray, density: FloatArray, alike: int
) -> None:
    """Multiply by a power of the distribution function; the slope follows the product rule."""
    for node in range(len(tail)):
        below = max(1.0 - tail[node], 0.0)
        others = 1.0
        if alike > 1:
            others = math.exp((alike - 1) * math.log1p(-min(tail[node], 1.0)))
        slope[node] = slope[node] * (others * below) + product[node] * (
            alike * others * density[node]
        )
        product[node] *= others * below


@compiled
def _exponential_products(
    probabilities: FloatArray,
    upper: FloatArray,
    begins: IntArray,
    lowest: IntArray,
    alike: IntArray,
    right: NDArray[np.bool_],
    begin: int,
    cells: int,
    width: int,
    scale: float,
    reach: float,
    fall: FloatArray,
    rise: FloatArray,
) -> FloatArray:
    """Return R'Q at the nodes of all cells.

    Cells are `width` wide, the first begins at `begin`, and no count is inside of one. With sums of
    probabilities that fade with the distance, `behind` from the beginning of the cell downwards and
    `ahead` from its end upwards, the upper tail at a node is `above + fall behind - rise ahead` and
    the density, per scale, `fall behind + rise ahead`. The right values are the last.
    """
    nodes = len(fall)
    product = np.ones((cells, nodes))
    slope = np.zeros((cells, nodes))
    ahead = np.empty(cells)
    tail, density = np.empty(nodes), np.zeros(nodes)
    step, decay = math.exp(-1 / scale), math.exp(-width / scale)
    for row in range(len(alike)):
        p = probabilities[begins[row] : begins[row + 1]]
        sums = upper[begins[row] : begins[row + 1]]
        first, last = lowest[row], lowest[row] + len(p) - 1
        # Farther above the counts than the noise reaches, nothing is left of the tail.
        active = min(cells, int((last + reach - begin) // width) + 1)
        if active <= 0:
            continue
        cell_end = begin + active * width
        fading = 0.0
        for j in range(last, max(first, cell_end) - 1, -1):
            fading = p[j - first] + step * fading
        if cell_end < first:
            fading *= math.exp((cell_end - first) / scale)
        ahead[active - 1] = fading
        for cell in range(active - 2, -1, -1):
            cell_end -= width
            fading *= decay
            if first <= cell_end <= last:
                fading += p[cell_end - first]
            ahead[cell] = fading
        fading = 0.0
        for j in range(first, min(last, begin) + 1):
            fading = p[j - first] + step * fading
        if begin > last:
            fading *= math.exp((last - begin) / scale)
        for cell in range(active):
            cell_end = begin + (cell + 1) * width
            above = 0.0
            if cell_end <= last:
                above = sums[max(cell_end - first, 0)]
            rising = ahead[cell]
            for node in range(nodes):
                tail[node] = above - rise[node] * rising + fall[node] * fading
            if right[row]:
                for node in range(nodes):
                    density[node] = rise[node] * rising + fall[node] * fading
                _multiply(product[cell], slope[cell], tail, density, alike[row])
            elif alike[row] > 1:
                for node in range(nodes):
                    rest = math.log1p(-min(tail[node], 1.0))
                    product[cell, node] *= math.exp(alike[row] * rest)
            else:
                for node in range(nodes):
                    product[cell, node] *= max(1.0 - tail[node], 0.0)
            fading *= decay
            if first <= cell_end <= last:
                fading += p[cell_end - first]
    return slope


@compiled
def _smooth_products(
    probabilities: FloatArray,
    upper: FloatArray,
    begins: IntArray,
    lowest: IntArray,
    alike: IntArray,
    right: NDArray[np.bool_],
    rows: IntArray,
    positions: IntArray,
    shifts: IntArray,
    nearest: int,
    farthest: int,
    tails: FloatArray,
    densities: FloatArray,
) -> FloatArray:
    """Return R'Q at the nodes of all rows.

    `tails[positions[row] - shifts[value] - i]` has the upper tail of the noise at the row's nodes
    minus the value's count number i. The right values are the last.
    """
    lanes = tails.shape[1]
    product = np.ones((len(rows), lanes))
    slope = np.zeros((len(rows), lanes))
    tail, density = np.empty(lanes), np.zeros(lanes)
    for value in range(len(alike)):
        p = probabilities[begins[value] : begins[value + 1]]
        sums = upper[begins[value] : begins[value + 1]]
        first, last = lowest[value], lowest[value] + len(p) - 1
        for row in range(len(rows)):
            low = max(first, rows[row] - farthest)
            high = min(last, rows[row] - nearest)
            if low > last:
                break
            above = 0.0
            if high < last:
                above = sums[max(high + 1 - first, 0)]
            tail[:] = above
            for j in range(low, high + 1):
                chance = p[j - first]
                at = positions[row] - shifts[value] - (j - first)
                for lane in range(lanes):
                    tail[lane] += chance * tails[at, lane]
            if right[value]:
                density[:] = 0.0
                for j in range(low, high + 1):
                    chance = p[j - first]
                    at = positions[row] - shifts[value] - (j - first)
                    for lane in range(lanes):
                        density[lane] += chance * densities[at, lane]
                _multiply(product[row], slope[row], tail, density, alike[value])
            elif alike[value] > 1:
                for lane in range(lanes):
                    rest = math.log1p(-min(tail[lane], 1.0))
                    product[row, lane] *= math.exp(alike[value] * rest)
            else:
                for lane in range(lanes):
                    product[row, lane] *= max(1.0 - tail[lane], 0.0)
    return slope
