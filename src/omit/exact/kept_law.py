"""The joint law of the sum and the number of the records that are left.

Records are kept independently, so the counts that are left of the values are independent binomials.
Their law is listed outcome by outcome where these are few. Otherwise it is the inverse Fourier
transform of `Π_v (1 - k_v + k_v e^(i(θ₁(v - a)/h + θ₂)))^n_v`, where h is the step of the lattice
that the values lie on and a a point of it near their mean; the counts of values that lie far from
the others are listed, so that the transform need not reach so far.

*Weights* in (0, 1] multiply what a record adds to the sum and to the number. Then the number has
a lattice of its own, of step g, and the transform is that of
`Π_v (1 - k_v + k_v e^(i u_v (θ₁(v - a)/h + θ₂/g)))^n_v`.

*What is missed.* A transform over a window gives the law wrapped around the window, so at most the
probability outside is at the wrong place: Bernstein's inequality bounds it for either axis.

*Every r-th sum.* If the law has no frequencies beyond π/r to speak of, and what is averaged is
smooth, every r-th sum weighted by r does as well as all sums. What is averaged are multiples of
`E (S - x y + Z)⁺ / y`, whose Fourier transform in S is `φ_Z(ν) / ν²` but for a straight line. So
the sum over every r-th point errs by at most

    E[1/Y] (2 / rh) Σ_(q ≥ 1) φ_Z(ν_q) / ν_q²,      ν_q = (2q - 1) π / (rh),

the frequencies around `2πq/r` that it adds to those around 0. A frequency left out weighs at most
`exp(-Σ_v w_v (1 - cos))`, `w_v = n_v k_v (1 - k_v)`; one fast Fourier transform shows all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.exact.sampled_total import row_of_size
from omit.laws.counts import bernstein_reach, relative_pmf
from omit.laws.distribution import lattice_step
from omit.laws.noise import Noise

# Minus the logarithm of what may be missed of a binomial, or outside of a window.
_RARITY = 46.0
# Values that are listed one by one beside a transform, at most.
_MOST_LISTED = 8
_LONGEST_WINDOW = 2**21
_MOST_LISTED_OUTCOMES = 10_000
# How much may be added by counting every r-th sum only, relative to the scale of the noise.
_SMOOTH_ENOUGH = 5e-11
# How much the frequencies left out may weigh.
_FAINT = 1e-15
# Into how many cells sizes are merged; all others are for means.
_SIZES = 25


class TooManyOutcomes(Exception):
    """The law has more outcomes than there is time or memory for; the message says so."""


@dataclass(frozen=True)
class KeptLaw:
    """Sums and numbers of records left, with their probabilities.

    `missed` bounds the probability of what is not listed or at the wrong place, `rough` what
    counting every r-th sum adds to the average of `E (S - x y + Z)⁺`, and `rounding` the error of
    one probability by rounding.
    """

    sums: FloatArray
    sizes: FloatArray
    probabilities: FloatArray
    missed: float
    rough: float = 0.0
    rounding: float = 0.0

    def combined_with(self, other: KeptLaw) -> KeptLaw:
        """Return the law of all records where these are independent of the other's."""
        return KeptLaw(
            np.add.outer(self.sums, other.sums).ravel(),
            np.add.outer(self.sizes, other.sizes).ravel(),
            np.multiply.outer(self.probabilities, other.probabilities).ravel(),
            self.missed + other.missed,
            self.rough + other.rough,
            max(self.rounding, other.rounding),
        )

    def without_the_rarest(self) -> KeptLaw:
        """Return the law less outcomes that together are rarer than anything counts."""
        kept = self.probabilities > _FAINT / len(self.probabilities)
        return KeptLaw(
            self.sums[kept],
            self.sizes[kept],
            self.probabilities[kept],
            self.missed + float(self.probabilities[~kept].sum()),
            self.rough,
            self.rounding,
        )

    def merged(self, cells: int) -> KeptLaw:
        """Return a law of about that many outcomes, neighbours merged at their mean.

        For quantiles, which need not be as precise as means.
        """
        if len(self.sums) <= cells:
            return self
        # Narrow noise tells means apart, and sizes only make it a little narrower or wider.
        means = self.sums / np.maximum(self.sizes, 1.0)
        cell = np.zeros(len(self.sums), dtype=np.int64)
        for axis, side in ((means, cells // _SIZES), (self.sizes, _SIZES)):
            center = float(self.probabilities @ axis)
            spread = math.sqrt(float(self.probabilities @ (axis - center) ** 2))
            scaled = (axis - center) / (spread or 1.0) * (side / 16) + side / 2
            cell = cell * side + np.clip(scaled, 0, side - 1).astype(np.int64)
        _, cell = np.unique(cell, return_inverse=True)
        weights = as_array(np.bincount(cell, self.probabilities))
        sums = np.bincount(cell, self.probabilities * self.sums) / weights
        sizes = np.bincount(cell, self.probabilities * self.sizes) / weights
        return KeptLaw(sums, sizes, weights, self.missed)


def kept_law(
    values: FloatArray,
    counts: NDArray[np.int64],
    keep: FloatArray,
    noise: Noise,
    most_outcomes: int,
    weights: FloatArray | None = None,
) -> KeptLaw:
    """Return the law of the sum and the number of the records left.

    Parameters
    ----------
    values, counts, keep
        The distinct values, how many records have each, and how probably such a record is kept.
    noise : Noise
        What is added to the sum.
    most_outcomes : int
        How many outcomes the law may have.
    weights : array, optional
        What a record of each value counts for, by default 1.

    Raises
    ------
    TooManyOutcomes
        If it has more.

    Examples
    --------
    >>> from omit.laws.noise import Laplace
    >>> law = kept_law(np.array([1.0, 5.0]), np.array([1, 1]), np.array([0.5, 1.0]),
    ...                Laplace(1.0), 100)
    >>> law.sums, law.sizes, law.probabilities
    (array([5., 6.]), array([1., 2.]), array([0.5, 0.5]))
    """
    weights = np.ones(len(values)) if weights is None else weights
    certain, random = keep == 1, (keep > 0) & (keep < 1)
    left = counts[certain] * weights[certain]
    fixed = KeptLaw(
        np.array([float((values[certain] * left).sum())]),
        np.array([float(left.sum())]),
        np.ones(1),
        0.0,
    )
    values, counts = values[random], counts[random]
    keep, weights = keep[random], as_array(weights[random])
    listed = _listed(fixed, values, counts, keep, weights, most_outcomes)
    if listed is not None:
        return listed.without_the_rarest()
    transformed = _by_transform(values, counts, keep, weights, noise, most_outcomes)
    return fixed.combined_with(transformed).without_the_rarest()


def _listed(
    fixed: KeptLaw,
    values: FloatArray,
    counts: NDArray[np.int64],
    keep: FloatArray,
    weights: FloatArray,
    most_outcomes: int,
) -> KeptLaw | None:
    """Return the law outcome by outcome, added to what is fixed; None if these are too many."""
    # Every value has two outcomes at least.
    if len(values) > math.log2(most_outcomes):
        return None
    windows = [_Window.of(n, k) for n, k in zip(counts, keep, strict=True)]
    if math.prod(len(window.probabilities) for window in windows) > most_outcomes:
        return None
    listed = fixed
    for value, weight, window in zip(values, weights, windows, strict=True):
        listed = listed.combined_with(window.law(float(value), float(weight)))
    return listed


def sample_law(
    values: FloatArray,
    counts: NDArray[np.int64],
    size: int,
    noise: Noise,
    most_outcomes: int,
    weights: FloatArray | None = None,
) -> KeptLaw:
    """Return the law of sum and number of a sample of fixed size, every subset alike.

    It is that of records kept independently, with the probability `size / N`, given that this many
    are left: one row of a table of sums and numbers, divided by its total.

    Raises
    ------
    TooManyOutcomes
        If the values lie on no lattice, if too many sums are possible, or if records have weights
        and are too many to be listed.

    Examples
    --------
    >>> from omit.laws.noise import Laplace
    >>> law = sample_law(np.array([0.0, 1.0]), np.array([2, 2]), 2, Laplace(1.0), 100)
    >>> law.sums, law.probabilities
    (array([2., 1., 0.]), array([0.16666667, 0.66666667, 0.16666667]))
    """
    keep = np.full(len(values), size / int(counts.sum()))
    nothing = KeptLaw(np.zeros(1), np.zeros(1), np.ones(1), 0.0)
    most, ones = min(most_outcomes, _MOST_LISTED_OUTCOMES), np.ones(len(values))
    listed = _listed(nothing, values, counts, keep, ones, most)
    if listed is not None:
        chosen = listed.sizes == size
        total = float(listed.probabilities[chosen].sum())
        chances = listed.probabilities[chosen] / total
        missed = 2 * listed.missed / total
        if weights is not None:  # the same outcomes in the same order
            listed = _listed(nothing, values, counts, keep, weights, most)
            assert listed is not None
        return KeptLaw(listed.sums[chosen], listed.sizes[chosen], chances, missed)
    if weights is not None and (weights != 1).any():
        raise TooManyOutcomes("samples of fixed size with weights are too many to be listed")
    return _sample_by_transform(values, counts, keep, size, noise, most_outcomes)


def _sample_by_transform(
    values: FloatArray,
    counts: NDArray[np.int64],
    keep: FloatArray,
    size: int,
    noise: Noise,
    most_outcomes: int,
) -> KeptLaw:
    """Return the same by the row of a table."""
    step = lattice_step(values)
    if step is None:
        raise TooManyOutcomes("the values lie on no lattice")
    weights = counts * keep * (1 - keep)
    offsets = np.abs(values - np.average(values, weights=weights))
    reach = bernstein_reach(float((weights * offsets**2).sum()), _RARITY, float(offsets.max()))
    if not 2 * reach / step <= _LONGEST_WINDOW:
        raise TooManyOutcomes("the sums that can be left are too many to be listed")
    grid = _grid(values, counts, keep, np.ones(len(values)), (step, 1.0), noise)
    if grid.sums > most_outcomes:
        raise TooManyOutcomes("the sums that can be left are too many to be listed")
    angles = 2 * np.pi * np.arange(grid.sums // 2 + 1) / (grid.stride * grid.sums)
    share = float(keep[0])
    row = row_of_size(angles, grid.sizes, grid.positions, counts.astype(np.float64), share)
    # As seen from the middle of the window.
    mean = float((counts * keep * grid.positions).sum())
    chances = np.fft.irfft((row * np.exp(1j * angles * (mean - grid.first_sum))).conj(), grid.sums)
    total = float(chances.sum())
    if not total > 0:
        raise TooManyOutcomes("a sample of this size is too rare among all")
    sums = grid.step * (grid.first_sum + grid.stride * np.arange(grid.sums, dtype=np.float64))
    sums = as_array(sums + grid.origin * size)
    first, last = _least_sum(values, counts, size), -_least_sum(-values[::-1], counts[::-1], size)
    likely = chances > _FAINT * total / len(chances)
    if grid.stride == 1:
        likely &= (sums > first - 0.5 * step) & (sums < last + 0.5 * step)
    missed = (8 * grid.stride * math.exp(-_RARITY) + 2 * _FAINT) / total + _FAINT
    return KeptLaw(
        as_array(sums[likely]),
        np.full(int(likely.sum()), float(size)),
        as_array(chances[likely] / total),
        missed,
        grid.rough,
        64 * float(np.finfo(np.float64).eps * chances.max()) / total,
    )


def _least_sum(values: FloatArray, counts: NDArray[np.int64], size: int) -> float:
    """Return the sum of this many records with the smallest values, which are in order."""
    taken = np.diff(np.minimum(np.cumsum(counts), size), prepend=0)
    return float(taken @ values)


@dataclass(frozen=True)
class _Window:
    """A binomial, but for what is rarer than rare."""

    first: int
    probabilities: FloatArray

    @classmethod
    def of(cls, count: int | np.int64, chance: float | np.float64) -> _Window:
        n, k = int(count), float(chance)
        mean = n * k
        reach = bernstein_reach(mean * (1 - k), _RARITY)
        first, last = max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
        relative = np.empty(last - first + 1)
        relative_pmf(n, k, first, relative)
        return cls(first, relative / relative.sum())

    def law(self, value: float, weight: float) -> KeptLaw:
        numbers = self.first + np.arange(len(self.probabilities), dtype=np.float64)
        sizes = weight * numbers
        return KeptLaw(value * sizes, sizes, self.probabilities, 2 * math.exp(-_RARITY))


@dataclass(frozen=True)
class _Grid:
    """A window of sums, every `stride` of the lattice, and of numbers of records."""

    positions: FloatArray  # of what a record adds to the sum on the lattice, from its origin
    size_positions: FloatArray  # of what it adds to the number: 1 without weights
    origin: float
    step: float
    size_step: float
    stride: int
    sums: int  # how many are listed
    first_sum: int
    sizes: int
    first_size: int
    rough: float

    @property
    def outcomes(self) -> int:
        return self.sums * self.sizes


def _by_transform(
    values: FloatArray,
    counts: NDArray[np.int64],
    keep: FloatArray,
    weights: FloatArray,
    noise: Noise,
    most_outcomes: int,
) -> KeptLaw:
    """Return the law by a transform, with the values farthest from the others listed apart."""
    steps = _lattice(values, weights)
    spread = counts * keep * (1 - keep)
    center = float(np.average(values, weights=spread * weights**2))
    farthest_last = np.argsort(weights * np.abs(values - center), kind="stable")
    # How many values to list apart: those with which a transform would have most to do.
    best, best_outcomes, listed, best_listed = 0, math.inf, 1, 1
    for apart in range(min(_MOST_LISTED, len(values) - 1) + 1):
        if apart:
            last = farthest_last[-apart]
            listed *= len(_Window.of(counts[last], keep[last]).probabilities)
        if listed > _MOST_LISTED_OUTCOMES:
            break
        near = farthest_last[: len(values) - apart]
        outcomes = listed * _about_outcomes(values[near], spread[near], weights[near], steps, noise)
        if outcomes < best_outcomes:
            best, best_outcomes, best_listed = apart, outcomes, listed
    if best_outcomes > 2 * most_outcomes:
        raise TooManyOutcomes("the sums that can be left are too many to be listed")
    near = np.sort(farthest_last[: len(values) - best])
    grid = _grid(values[near], counts[near], keep[near], weights[near], steps, noise)
    # Few records with values of their own have more frequencies than was reckoned with.
    if best_listed * grid.outcomes > 4 * most_outcomes:
        raise TooManyOutcomes("the sums that can be left are too many to be listed")
    law = _transformed(grid, counts[near], keep[near])
    for index in np.setdiff1d(np.arange(len(values)), near):
        window = _Window.of(counts[index], keep[index])
        law = window.law(float(values[index]), float(weights[index])).combined_with(law)
    return law


def _lattice(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Return the steps of the lattices of sums, from any value as origin, and of numbers."""
    step: float | None = lattice_step(values)
    size_step: float | None = 1.0
    if (weights != 1).any():
        step = lattice_step(np.append(0.0, weights * (values - values[0])))
        size_step = lattice_step(np.append(0.0, weights))
    if step is None or size_step is None:
        raise TooManyOutcomes("the values lie on no lattice")
    return step, size_step


def _about_outcomes(
    values: FloatArray,
    spread: FloatArray,
    weights: FloatArray,
    steps: tuple[float, float],
    noise: Noise,
) -> float:
    """Return about how many outcomes a transform lists."""
    offsets = weights * (values - np.average(values, weights=spread * weights**2))
    variance = float((spread * offsets**2).sum())
    # Two more, for a value alone has one sum and as many sizes as any.
    length = 2 * bernstein_reach(variance, _RARITY, float(np.abs(offsets).max())) / steps[0] + 2
    if not length <= _LONGEST_WINDOW:
        return math.inf
    heaviest = float(weights.max())
    sizes = 2 * bernstein_reach(float((spread * weights**2).sum()), _RARITY, heaviest) / steps[1]
    if (weights != 1).any():
        return length * sizes
    # Frequencies are faint beyond ten over the deviation; noise is smooth on a part of its scale.
    wide = min(0.28 * math.sqrt(variance), noise.scale / 400)
    return length / max(1.0, wide / steps[0]) * sizes


def _grid(
    values: FloatArray,
    counts: NDArray[np.int64],
    keep: FloatArray,
    weights: FloatArray,
    steps: tuple[float, float],
    noise: Noise,
) -> _Grid:
    """Return the window that a transform needs, on lattices with these steps."""
    spread = counts * keep * (1 - keep)
    center = np.average(values, weights=spread * weights**2)
    origin = values[np.argmin(np.abs(values - center))]
    positions = np.round(weights * (values - origin) / steps[0])
    size_positions = np.round(weights / steps[1])
    variance, farthest = float((spread * positions**2).sum()), float(np.abs(positions).max())
    sum_reach = bernstein_reach(variance, _RARITY, farthest)
    size_variance = float((spread * size_positions**2).sum())
    size_reach = bernstein_reach(size_variance, _RARITY, float(size_positions.max()))
    length = 2 * math.ceil(sum_reach) + 2
    stride, rough = 1, 0.0
    if (size_positions == 1).all():
        stride, rough = _stride(positions, spread, steps[0], noise, length, 2 * size_reach)
    left = counts * keep
    number = 2 * math.ceil(length / (2 * stride))
    possible = int(counts @ size_positions) + 1
    sizes = min(2 * math.ceil(size_reach) + 2, possible)
    first_size = min(max(0, round(float(left @ size_positions)) - sizes // 2), possible - sizes)
    first_sum = round(float((left * positions).sum())) - stride * number // 2
    return _Grid(
        positions,
        size_positions,
        float(origin),
        *steps,
        stride,
        number,
        first_sum,
        sizes,
        first_size,
        rough,
    )


def _stride(
    positions: FloatArray,
    weights: FloatArray,
    step: float,
    noise: Noise,
    length: int,
    sizes: float,
) -> tuple[int, float]:
    """Return how many sums of a window may be passed over, and what that adds at most."""
    spectrum = np.bincount(positions.astype(np.int64) % length, weights, minlength=length)
    faint = np.exp(np.abs(np.fft.rfft(spectrum)) - float(weights.sum()))
    # What all frequencies from one on weigh, on both sides of 0 and for every number of records.
    beyond = 2 * sizes * np.cumsum(faint[::-1])[::-1]
    needed = int(np.argmax(beyond <= _FAINT)) if (beyond <= _FAINT).any() else len(faint)
    stride = max(1, length // (2 * needed + 2))
    while stride > 1 and (rough := _roughness(stride * step, noise)) > _SMOOTH_ENOUGH * noise.scale:
        stride = max(1, int(stride * 0.8))
    return (stride, rough) if stride > 1 else (1, 0.0)


def _roughness(width: float, noise: Noise) -> float:
    """Return what a sum over points so far apart adds to an average of `E (S - x y + Z)⁺`."""
    frequencies = (2 * np.arange(1, 200) - 1) * np.pi / width
    terms = noise.characteristic(frequencies) / frequencies**2
    # What follows falls at least like the fourth power, or the second and there is no noise.
    return float(2 / width * (terms.sum() + 200 * terms[-1]))


def _transformed(grid: _Grid, counts: NDArray[np.int64], keep: FloatArray) -> KeptLaw:
    """Return the law on a grid, but for what is outside."""
    period = grid.stride * grid.sums
    sum_angles = 2 * np.pi * np.arange(grid.sums // 2 + 1) / period
    size_angles = as_array(2 * np.pi * np.fft.fftfreq(grid.sizes))
    left = counts * keep
    size, phase = _joint_characteristic(
        sum_angles,
        size_angles,
        grid.positions,
        grid.size_positions,
        counts.astype(np.float64),
        keep,
    )
    phase += np.outer(sum_angles, np.ones(grid.sizes)) * (
        float((left * grid.positions).sum()) - grid.first_sum
    )
    phase += size_angles * (float(left @ grid.size_positions) - grid.first_size)
    # The forward transform along sizes and the backward one of a real result along sums have the
    # signs of an inversion if the latter is given the conjugate.
    spectrum = np.exp(size + 1j * phase)
    by_size = np.fft.fft(spectrum, axis=1) / grid.sizes
    table = np.fft.irfft(by_size.conj(), n=grid.sums, axis=0)
    numbers = grid.size_step * (grid.first_size + np.arange(grid.sizes, dtype=np.float64))
    sums = grid.step * (grid.first_sum + grid.stride * np.arange(grid.sums, dtype=np.float64))
    row, column = np.nonzero(table > _FAINT / table.size)
    return KeptLaw(
        as_array(sums[row] + grid.origin * numbers[column]),
        as_array(numbers[column]),
        as_array(table[row, column]),
        4 * grid.stride * math.exp(-_RARITY) + 2 * _FAINT,
        grid.rough,
        64 * float(np.finfo(np.float64).eps * table.max()),
    )


@compiled
def _joint_characteristic(
    sum_angles: FloatArray,
    size_angles: FloatArray,
    positions: FloatArray,
    size_positions: FloatArray,
    counts: FloatArray,
    keep: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return logarithm and phase of the characteristic function of sum and number of records.

    The phase less that of the mean. Where the function is below 1e-37 the rest is not computed.
    """
    size = np.zeros((len(sum_angles), len(size_angles)))
    phase = np.zeros((len(sum_angles), len(size_angles)))
    for i in range(len(sum_angles)):
        for j in range(len(size_angles)):
            log_size, turn = 0.0, 0.0
            for v in range(len(positions)):
                angle = sum_angles[i] * positions[v] + size_angles[j] * size_positions[v]
                k = keep[v]
                half = math.sin(0.5 * angle)
                log_size += counts[v] * 0.5 * math.log1p(-4.0 * k * (1.0 - k) * half * half)
                if log_size < -85.0:
                    log_size = -math.inf
                    break
                # Modulo full turns any branch of the angle will do: counts are whole.
                real = 1.0 - 2.0 * k * half * half
                turn += counts[v] * (math.atan2(k * math.sin(angle), real) - k * angle)
            size[i, j] = log_size
            phase[i, j] = turn
    return size, phase
