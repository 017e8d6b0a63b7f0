"""The exact expected error of the noisy mean.

As long as the noisy count `N + Z₂` is positive, the noisy mean exceeds `t` exactly when

    W = Σ_v (v − t) Bin(n_v, k_v) + Z₁ − t Z₂ > 0.

The characteristic function of W is a product, so `P(W > 0)` is one integral (Gil-Pelaez), and the
expected distance to the truth μ is a second one, `∫₀ P(T > μ+q) + P(T < μ−q) dq`. The logarithm of
the characteristic function of the data is smooth in t: it is computed at a few Chebyshev nodes and
interpolated. Without omission the two noises have a closed form.

Nodes are refined until two resolutions agree; their difference is the precision reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.mechanisms.mean import MeanNoise
from omit.utility.log_characteristic import (
    LARGEST_SERIES_ANGLE,
    log_characteristic,
    log_characteristic_by_series,
)
from omit.utility.mean_setting import MeanSetting, NoExactMean, noise_above
from omit.utility.recurrence import Cutoff, checked_cutoff


@dataclass(frozen=True)
class MeanError:
    """The expected distance of the noisy mean to the truth, with quantiles of the distance."""

    expected: float
    precision: float
    median: float | None
    quantile_90: float | None
    bias: float
    sampling_deviation: float
    noise_deviation: float


@dataclass(frozen=True)
class _Resolution:
    frequencies: int
    distances: int
    interpolation: int


_RESOLUTIONS = (
    _Resolution(7, 5, 7),
    _Resolution(10, 7, 9),
    _Resolution(14, 11, 12),
    _Resolution(20, 16, 16),
    _Resolution(32, 24, 24),
    _Resolution(48, 40, 36),
)
# The least relative precision that still counts as exact.
_COARSEST = 1e-8
# Where the distribution of the noisy mean is divided, in standard deviations.
_DIVISIONS = np.array([0.0, 0.5, 1.0, 1.7, 2.6, 3.8, 5.5, 8.0])
# Minus the logarithm of what counts as nothing beyond the cutoff.
_VANISHED = -math.log(2e-10)
# How much farther than for a normal distribution frequencies may have to go, and at what cost.
_MOST_EXTENSION = 100.0
_LARGEST_EXTENSION = 1_000_000
_TOO_COARSE = "the values are so few or so coarse that the integral is not sure"
_MOST_PANELS = 5000
# The phase that one panel of frequencies may turn through.
_PHASE_PER_PANEL = 7.0


def mean_error(
    values: FloatArray,
    counts: NDArray[np.int64],
    keep: FloatArray,
    noise: MeanNoise,
    truth: float,
    tolerance: float = 1e-9,
    quantiles: bool = True,
) -> MeanError:
    """Return the exact expected error of the noisy mean.

    Parameters
    ----------
    values, counts, keep
        The distinct values, how many records have each, and how probably such a record is kept.
    noise : MeanNoise
        Of the sum and of the count.
    truth : float
        What the noisy mean is compared with.
    tolerance : float
        The relative precision to reach.
    quantiles : bool
        Whether to find the quantiles too.

    Raises
    ------
    NoExactMean
        If the noisy count is below 1 with more than negligible probability, or the precision is
        not reached.
    """
    setting = _Setting.of(values, counts, keep, noise, truth)
    setting.require_large_count(tolerance)
    previous = math.nan
    for resolution in _RESOLUTIONS:
        distribution = setting.distribution(resolution)
        expected = distribution.expected()
        precision = abs(expected - previous)
        if precision <= tolerance * expected:
            break
        previous = expected
    if not precision <= max(tolerance, _COARSEST) * expected:
        raise NoExactMean(f"the integral converges only to {precision / expected:.1g}")
    return MeanError(
        expected,
        max(precision, setting.precision_of_cutoff * expected),
        distribution.quantile(0.5) if quantiles else None,
        distribution.quantile(0.9) if quantiles else None,
        setting.center - truth,
        math.sqrt(setting.data_variance) / setting.size,
        math.sqrt(setting.noise_variance) / setting.size,
    )


@dataclass(frozen=True)
class _Distribution:
    """The distance of the noisy mean to the truth: where it is divided, and its upper tail."""

    edges: FloatArray
    nodes: FloatArray
    weights: FloatArray
    tail_at: Callable[[FloatArray], FloatArray]

    def expected(self) -> float:
        return float((self.tail_at(self.nodes) * self.weights).sum())

    def quantile(self, level: float) -> float:
        """Return the distance that is exceeded with probability `1 - level`."""
        from scipy.optimize import brentq

        def excess(distance: float) -> float:
            return float(self.tail_at(np.array([distance]))[0]) - (1 - level)

        return float(brentq(excess, 0.0, self.edges[-1], xtol=1e-12 * self.edges[-1], rtol=1e-10))


@dataclass(frozen=True)
class _Setting(MeanSetting):
    """What is asked, with the distribution of the noisy mean by inversion."""

    @property
    def precision_of_cutoff(self) -> float:
        """The relative precision that rounding, and leaving out high frequencies, allow."""
        if self.data_variance == 0:
            return 1e-12
        return max(2e-9 if self._cutoff.extended else 1e-12, self._cutoff.missed)

    def distribution(self, resolution: _Resolution) -> _Distribution:
        edges = self._edges
        nodes, weights = _panels(edges, resolution.distances)
        above = self._above(resolution)

        def tail_at(distances: FloatArray) -> FloatArray:
            upper = above(self.truth + distances)
            return as_array(upper + 1 - above(self.truth - distances))

        return _Distribution(edges, nodes, weights, tail_at)

    @cached_property
    def _edges(self) -> FloatArray:
        """Where to divide the distances: around the bias, and out to nothing."""
        deviation = math.sqrt(self.data_variance + self.noise_variance) / self.size
        bias = abs(self.center - self.truth)
        total, count = self.noise.total, self.noise.count
        # Data stray farther than normally where few records differ much from the others.
        strays = float(self._strays(np.array([self.center]))[0][0]) if self.data_variance else 0.0
        reach = strays + total.reach(1e-13)[1]
        if count is not None:
            reach += abs(self.center) * count.reach(1e-13)[1]
        last = bias + reach / self.size
        steps = _DIVISIONS * deviation
        while steps[-1] < last:
            steps = np.append(steps, 1.6 * steps[-1])
        around = np.concatenate([bias - steps, bias + steps, [0.0, last]])
        edges = np.unique(around[(around >= 0) & (around <= last)])
        # Panels much narrower than a deviation come from a bias near an edge.
        wide = np.append(True, np.diff(edges) > 0.05 * deviation)
        return as_array(edges[wide])

    @cached_property
    def _inverted(self) -> float:
        """How far from the truth probabilities are found by inversion; beyond, by exponentials.

        Beyond what the data alone can reach, Laplace tails are exponential, which is closed form;
        there, inversion would have to follow many turns of the phase.
        """
        reach = float(self._edges[-1])
        if self.noise.total.kind == "gaussian":
            return reach
        distances = np.linspace(-reach, reach, 801)
        far = self._decided_by_noise(self.truth + distances)
        return min(float(np.abs(distances[~far]).max(initial=0.0)) + reach / 400, reach)

    def _above(self, resolution: _Resolution) -> Callable[[FloatArray], FloatArray]:
        """Return the function `t -> P(T > t)`."""
        if self.data_variance == 0:
            return lambda t: noise_above(self.noise, t, t * self.size - self.total)
        by_inversion = self._by_inversion(resolution)
        if self.noise.total.kind == "gaussian":
            return by_inversion

        def above(t: FloatArray) -> FloatArray:
            far = self._decided_by_noise(t) | (np.abs(t - self.truth) > self._inverted)
            result = np.empty_like(t)
            if far.any():
                result[far] = self._by_exponential_tails(t[far])
            if not far.all():
                result[~far] = by_inversion(t[~far])
            return result

        return above

    def _by_inversion(self, resolution: _Resolution) -> Callable[[FloatArray], FloatArray]:
        """Return the function `t -> P(T > t)` by inversion of the characteristic function."""
        farthest = max(
            abs((self.truth + sign * self._inverted) * self.size - self.total) for sign in (-1, 1)
        )
        last = self._cutoff.frequency
        panels = max(4, math.ceil(last * farthest / _PHASE_PER_PANEL))
        if panels > _MOST_PANELS:
            raise NoExactMean("the integral would take too long")
        frequencies, weights = _panels(np.linspace(0, last, panels + 1), resolution.frequencies)
        by_total = self.noise.total.characteristic(frequencies) * weights / (np.pi * frequencies)
        logarithm = self._logarithm(resolution, frequencies)

        def above(t: FloatArray) -> FloatArray:
            real, imaginary = logarithm(t)
            phase = imaginary + frequencies * (self.total - t[:, None] * self.size)
            size = np.exp(real) * by_total
            if self.noise.count is not None:
                size = size * self.noise.count.characteristic(frequencies * t[:, None])
            return as_array(0.5 + (size * np.sin(phase)).sum(axis=1))

        return above

    def _logarithm(
        self, resolution: _Resolution, frequencies: FloatArray
    ) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
        """Return the logarithm of the data's characteristic function, as a function of t.

        Less its expected phase. Interpolated, unless high frequencies make it turn too fast.
        """
        if self._cutoff.extended:
            counts = self.counts.astype(np.float64)
            if len(frequencies) * len(self.values) > _LARGEST_EXTENSION:
                raise NoExactMean(_TOO_COARSE)
            return lambda t: log_characteristic(frequencies, t, self.values, counts, self.keep)
        order = np.arange(resolution.interpolation)
        angle = (2 * order + 1) * np.pi / (2 * resolution.interpolation)
        nodes = self.truth + self._inverted * np.cos(angle)
        real, imaginary = self._log_characteristic(frequencies, nodes)
        barycentric = np.sin(angle) * (-1.0) ** order

        def interpolated(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            distance = t[:, None] - nodes
            distance[distance == 0] = 1e-300
            basis = barycentric / distance
            basis /= basis.sum(axis=1, keepdims=True)
            return basis @ real, basis @ imaginary

        return interpolated

    def _log_characteristic(
        self, frequencies: FloatArray, points: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return real and imaginary part of the logarithm of the data's characteristic function."""
        counts = self.counts.astype(np.float64)
        widest = max(
            abs(self.values[end] - point) for end in (0, -1) for point in (min(points), max(points))
        )
        angle = float(frequencies[-1] * widest)
        if angle > LARGEST_SERIES_ANGLE:
            return log_characteristic(frequencies, points, self.values, counts, self.keep)
        return log_characteristic_by_series(
            frequencies, points, self.values, counts, self.keep, angle
        )

    @cached_property
    def _cutoff(self) -> Cutoff:
        """The frequency beyond which the characteristic function is nothing.

        By a normal approximation, which is then checked, or extended until it holds.
        """
        deviation = math.sqrt(self.data_variance)
        grid = np.geomspace(1e-4, 1.0, 600) * 7.6 / deviation
        size = np.exp(-0.5 * (grid * deviation) ** 2 - self._log_noise(grid))
        last = float(grid[min(int(np.searchsorted(-size, -3e-13)), len(grid) - 1)])
        weights = self.counts * self.keep * (1 - self.keep)
        random = weights > 0
        points = self.truth + np.linspace(-self._inverted, self._inverted, 1001)
        cutoff = checked_cutoff(
            self.values[random], weights[random], self._log_noise, points, last, _VANISHED
        )
        # What is missed at each point adds up over all of them, for an error of a deviation.
        deviation = math.sqrt(self.data_variance + self.noise_variance) / self.size
        missed = 3 * cutoff.missed * 2 * self._inverted / deviation
        if cutoff.frequency > _MOST_EXTENSION * last or missed > _COARSEST:
            raise NoExactMean(_TOO_COARSE)
        return cutoff._replace(missed=missed)

    def _log_noise(self, frequencies: FloatArray) -> FloatArray:
        """Return minus the logarithm of the noise's characteristic function.

        At the smallest t of the inversion, where the noise of the count is narrowest.
        """
        size = self.noise.total.characteristic(frequencies)
        if self.noise.count is not None:
            smallest = max(abs(self.truth) - self._inverted, 0.0)
            size = size * self.noise.count.characteristic(frequencies * smallest)
        return -np.log(np.maximum(size, 1e-300))


@cache
def _legendre(nodes: int) -> tuple[FloatArray, FloatArray]:
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return points, weights


def _panels(edges: FloatArray, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre nodes and weights on consecutive intervals."""
    points, weights = _legendre(nodes)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (points + 1)).ravel(), (half * weights).ravel()
