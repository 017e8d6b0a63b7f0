"""The variance of a sample of fixed size from two noisy sums, with proven bounds.

Values are shares of the bounds, less their mean c: `y = x - c`. m of N records are left, all
subsets alike. The noisy sums of `x - ½` and its square have the noises Z₁ and Z₂
(`noisy_variance`), and with `a = c - ½`

    U = Σ y + Z₁,    Q = Σ y² + Z₂ - 2a Z₁,    V = Q/m - (U/m)²,    W = m (V - t) = Q - mt - U²/m.

The error is `G(W)/m`, G the distance from 0 of W clipped to `[-mt, m(¼ - t)]`, or its square over
m². Let g have the period T and be G on an interval, and straight beyond it, and let `e^(-iωu²/m)`
on `|u| ≤ P/2` be continued with the period P. Both are continuous, so they are the sums of their
Fourier series, `g(w) = Σ_j ĝ_j e^(iω_j w)` and `Σ_k f_k(ω) e^(iα_k u)`, and

    E g(W) ≈ ĝ₀ + 2 Re Σ_(j>0) ĝ_j e^(-iω_j mt) Σ_k f_k(ω_j) Φ(α_k, ω_j),   Φ = E e^(i(αU + ωQ)).

The coefficients ĝ_j are those of jumps of slopes and curvatures, the f_k Fresnel integrals. Φ is
that of the noises times `φ = E e^(iΣ(αy + ωy²))`. With C the number that is left where every record
is kept with probability `k = m/N`, and `p = P(C = m)`,

    φ = 1/(Kp) Σ_θ e^(-iθm) Π (1 - k + k e^(i(θ + αy + ωy²)))^n

over K angles θ, up to `P(|C - m| ≥ K)/p`. *What that misses*, all of it bounded here:

- W outside the interval or `|U| > P/2`: the error is within a quarter of the width squared, and g
  within twice what G is at most, so that it is that times the probability. It is bounded by
  Chernoff's inequality for `U`, for `Q - mt`, which W is at most, and for `Q - mt - P²/4m`, which W
  is at least where `|U| ≤ P/2`. Moments are those of C records over p, or of draws with
  replacement (Hoeffding 1963, Theorem 4), whichever are smaller;
- frequencies: `|φ| ≤ I₀(R) e^-Σw / p` with `w = n k (1-k)` and `R = |Σ w e^(i(αy + ωy²))|`, which
  is computed within a rectangle, and known on a mesh farther out (`variance_frequencies`). Between
  them, where no two phases are more than π apart, `Σw - R` is at least the variance of phases times
  `2 Σw/π²`, for `Σw² - R² = 2 ΣΣ w w' sin²((ψ - ψ')/2)` and `sin² x/2 ≥ x²/π²`. Also
  `|f_k| ≤ min(1, 2.4 √(m/ω)/P)`, for Fresnel's integral from 0 is at most 1.19; also, by parts, as
  both ends have the same phase, `|f_k| ≤ 4γ/(P(α² - γ²))` for `|α| > γ = ωP/m`. Yet farther the
  noise, `1/(1 + s²x²)` or less, is enough: sums of all k are at most

      2.4 √(m/ω) (1/2s₁ + 1/P)                        for ω > Ω, and
      (16/3π) P ω / (mA) · min(χ₁(A/2), 4/(3 s₁² A²))   over |α| > A ≥ 2γ, 4|a|ω,

  times `χ₂(ω)`, χ the characteristic functions of the noises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.errors import NotExact
from omit.exact.noisy_variance import LARGEST_VARIANCE, VarianceError
from omit.exact.variance_frequencies import SLACKS, Mesh, sizes_at
from omit.laws.counts import bernstein_reach
from omit.laws.noise import Gaussian, LogConcaveNoise

# What rare events, and what frequencies that are not added up may add, relative to a typical error,
# and the least precision that counts.
_RARE, _QUIET, _COARSEST = 2e-8, 2e-7, 1e-6
# Minus about the logarithm of the data's part at the edges of the rectangle, and of nothing.
_FAINT, _NOTHING = 34.0, 42.0
# Meshes for millions of records, of which a coarser one leaves too large a rectangle.
_FINER_SLACKS = (0.003, 0.0006)
_FRESNEL = 2.4
_TILTS = np.geomspace(1e-3, 0.98, 60)
_WIDEST_TILT = 40.0
_MOST_PAIRS, _MOST_FACTORS = 2_000_000, 400_000_000
_ATTEMPTS = 60
_Pairs: TypeAlias = "tuple[FloatArray, FloatArray, NDArray[np.complex128], float]"


def sized_variance_error(
    shares: FloatArray,
    counts: NDArray[np.int64],
    size: int,
    noises: tuple[LogConcaveNoise, LogConcaveNoise],
    truth: float,
    *,
    squared: bool,
) -> VarianceError:
    """Return the error of the variance of a sample from two noisy sums.

    Parameters
    ----------
    shares, counts
        The distinct values as shares of the bounds, and how many records have each.
    size : int
        How many records are left, less than there are.
    noises : tuple of two
        Those of the sums of `x - 1/2` and of its square.
    truth : float
        As a share of the squared width of the bounds.
    squared : bool
        Whether squares of distances are averaged.

    Raises
    ------
    NotExact
        If the noise is too narrow or too wide beside what leaving records out does, or there is
        none.

    Examples
    --------
    >>> from omit.laws.noise import Laplace
    >>> shares = np.linspace(0.0, 1.0, 11)
    >>> counts = 50 * np.array([1, 4, 12, 28, 48, 60, 48, 28, 12, 4, 1])
    >>> noises = Laplace(5.0), Laplace(3.0)
    >>> error = sized_variance_error(shares, counts, 4000, noises, 0.033, squared=False)
    >>> f"{error.expected:.8f}", error.precision < 1e-6 * error.expected
    ('0.00398841', True)
    """
    if any(noise.scale == 0 for noise in noises):
        raise NotExact("there is no noise to smooth the sums")
    nearest = min(max(truth, 0.0), LARGEST_VARIANCE)
    away = abs(truth - nearest)

    def found(power: int) -> VarianceError:
        return _Series.of(shares, counts, size, noises, nearest, power).error()

    if away == 0:
        return found(2 if squared else 1)
    # The nearest possible variance is an end, so all answers are on the same side of it.
    first = found(1)
    if not squared:
        return VarianceError(first.expected + away, first.precision)
    second = found(2)
    return VarianceError(
        second.expected + 2 * away * first.expected + away**2,
        second.precision + 2 * away * first.precision,
    )


@dataclass(frozen=True)
class _Wave:
    """A periodic function of straight or bent pieces: where these begin, and jumps there."""

    period: float
    mean: float
    places: FloatArray
    slopes: FloatArray
    curvatures: FloatArray

    @classmethod
    def of(cls, low: float, high: float, ends: tuple[float, float], power: int) -> _Wave:
        """Return `|clip(w)|^power` from low to high, clipped to the ends, and what closes it.

        A parabola that is not clipped is closed by another one, without any kink.
        """
        if power == 2 and ends[0] <= low and high <= ends[1]:
            far = max(abs(low), abs(high))
            starts, bends = np.array([-far, far]), np.array([4.0, -4.0])
            return cls(4 * far, far**2, starts, np.zeros(2), bends)
        cuts = [low, *(x for x in sorted({*ends, 0.0}) if low < x < high), high]
        values = [min(max(x, ends[0]), ends[1]) for x in cuts]
        pieces: list[tuple[float, float, float, float]] = []
        for start, end, first, last in zip(cuts, cuts[1:], values, values[1:], strict=False):
            moves = last != first
            if power == 1:
                slope, bend = (math.copysign(1.0, first + last) if moves else 0.0), 0.0
            else:
                slope, bend = (2 * first, 2.0) if moves else (0.0, 0.0)
            pieces.append((start, end - start, slope, bend))
        apart = abs(values[0]) ** power - abs(values[-1]) ** power
        steepest = 1.0 if power == 1 else 2 * max(map(abs, values))
        if apart != 0:
            pieces.append((high, abs(apart) / steepest, math.copysign(steepest, apart), 0.0))
        level, total = abs(values[0]) ** power, 0.0
        for _, width, slope, bend in pieces:
            total += width * (level + slope * width / 2 + bend * width**2 / 6)
            level += width * (slope + bend * width / 2)
        starts, widths, slopes, bends = np.array(pieces).T
        final = np.roll(slopes + bends * widths, 1)
        period = float(widths.sum())
        jumps = slopes - final, bends - np.roll(bends, 1)
        return cls(period, total / period, as_array(starts), *map(as_array, jumps))

    def coefficients(self, omegas: FloatArray) -> NDArray[np.complex128]:
        """Return the Fourier coefficients at these positive frequencies."""
        turned = np.exp(-1j * np.outer(omegas, self.places))
        bent = turned @ self.curvatures / (1j * omegas)
        return np.asarray((turned @ self.slopes + bent) / (1j * omegas) ** 2 / self.period)

    @property
    def jumps(self) -> tuple[float, float]:
        """The sizes of all jumps of slopes and of curvatures."""
        return float(np.abs(self.slopes).sum()), float(np.abs(self.curvatures).sum())

    def sizes(self, omegas: FloatArray) -> FloatArray:
        """Return bounds on the coefficients, which fall."""
        first, second = self.jumps
        return as_array((first / omegas**2 + second / omegas**3) / self.period)


@dataclass(frozen=True, eq=False)
class _Series:
    offsets: FloatArray
    counts: FloatArray
    size: int
    noises: tuple[LogConcaveNoise, LogConcaveNoise]
    truth: float
    power: int
    shift: float  # a

    @classmethod
    def of(
        cls,
        shares: FloatArray,
        counts: NDArray[np.int64],
        size: int,
        noises: tuple[LogConcaveNoise, LogConcaveNoise],
        truth: float,
        power: int,
    ) -> _Series:
        occurring = counts > 0
        shares, left = shares[occurring], as_array(counts[occurring])
        center = float(np.average(shares, weights=left))
        offsets = as_array(shares - center)
        return cls(offsets, left, size, noises, truth, power, center - 0.5)

    def error(self) -> VarianceError:
        """Return the sum of the series, and what it misses."""
        alphas, omegas, weights, left_out = self._frequencies()
        records, rounded = self._records(alphas, omegas)
        weights = 2 * weights * self._noise_at(alphas, omegas)
        terms = weights * records
        value = self._wave.mean + float(terms.real.sum())
        phases = np.abs(alphas) * float(self.counts @ np.abs(self.offsets)) + omegas * self.size
        phases += alphas**2 * self.size / (4 * omegas)
        aliased = 6 * math.exp(-_NOTHING) / self._chance
        rounding = 1e-15 * (20 + float(phases.max(initial=0.0))) * float(np.abs(terms).sum())
        rounding += 1e-15 * self._wave.mean + float(rounded @ np.abs(weights))
        missed = self._outside + left_out + aliased * float(np.abs(weights).sum()) + rounding
        if not missed <= _COARSEST * value:
            raise NotExact("the sum over what is left is not sure enough")
        unit = float(self.size) ** -self.power
        return VarianceError(unit * value, unit * missed)

    # Moments and rare events.

    @cached_property
    def population(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    @cached_property
    def _rate(self) -> float:
        return self.size / self.population

    @cached_property
    def spread(self) -> FloatArray:
        """The variance of each count that is left, if all are left independently."""
        return as_array(self.counts * self._rate * (1 - self._rate))

    @cached_property
    def _chance(self) -> float:
        """A bound from below on the probability that so many are left then, p."""
        n, m = self.population, self.size
        logs = special.gammaln([n + 1, m + 1, n - m + 1]) @ np.array([1, -1, -1])
        logs += m * math.log(self._rate) + (n - m) * math.log1p(-self._rate)
        return math.exp(float(logs) - 1e-13 * n * math.log(n + 2))

    def _deviation(self, records: FloatArray, noises: tuple[float, float]) -> float:
        centered = records - np.average(records, weights=self.counts)
        squares = float(self.spread @ centered**2)
        for coefficient, noise in zip(noises, self.noises, strict=True):
            squares += coefficient**2 * noise.variance
        return math.sqrt(squares)

    def _beyond(self, records: FloatArray, noises: tuple[float, float], level: float) -> float:
        """Return a bound on the probability that a sum over records and noises exceeds a level."""
        steepest = _WIDEST_TILT / self._deviation(records, noises)
        for coefficient, noise in zip(noises, self.noises, strict=True):
            if coefficient:
                steepest = min(steepest, noise.largest_tilt / (noise.scale * abs(coefficient)))
        tilts = _TILTS * steepest
        mean = float(np.average(records, weights=self.counts))
        turned = np.minimum(np.outer(tilts, records - mean), 700.0)
        others = np.minimum(-np.outer(tilts, records - mean), 700.0)
        shares, left_out = self.counts / self.population, self.population - self.size
        by_count = np.log1p(self._rate * np.expm1(turned)) @ self.counts
        logs = by_count - math.log(self._chance)
        logs = np.minimum(logs, self.size * np.log1p(np.expm1(turned) @ shares))
        logs = np.minimum(logs, left_out * np.log1p(np.expm1(others) @ shares))
        for coefficient, noise in zip(noises, self.noises, strict=True):
            logs = logs + noise.log_moment(tilts * abs(coefficient))
        return math.exp(min(float((logs - tilts * (level - self.size * mean)).min()), 0.0))

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return -self.size * self.truth, self.size * (LARGEST_VARIANCE - self.truth)

    @cached_property
    def _largest(self) -> float:
        return max(map(abs, self._ends)) ** self.power

    @cached_property
    def _typical(self) -> float:
        """About how large the error is, times m or its square."""
        squares = self.offsets**2
        mean = self.size * (float(np.average(squares, weights=self.counts)) - self.truth)
        typical = max(abs(mean), 0.8 * self._deviation(squares, (-2 * self.shift, 1.0)))
        return min(typical, max(map(abs, self._ends))) ** self.power

    @cached_property
    def _rare(self) -> float:
        return _RARE * self._typical

    def _least(self, start: float, bound: Callable[[float], float]) -> float:
        """Return a level beyond which it is rare enough."""
        level = start
        for _ in range(_ATTEMPTS):
            if self._largest * bound(level) <= self._rare:
                return level
            level *= 1.1
        raise NotExact("the noise is too wide beside what leaving records out does")

    @cached_property
    def period(self) -> float:
        """That of U, P."""
        return 2 * self._least(
            4 * self._deviation(self.offsets, (1.0, 0.0)),
            lambda half: self._far(self.offsets, (1.0, 0.0), half),
        )

    def _far(self, records: FloatArray, noises: tuple[float, float], level: float) -> float:
        """Return a bound on the probability that a sum with the mean 0 is so far from it."""
        above = self._beyond(records, noises, level)
        return above + self._beyond(-records, noises, level)

    @cached_property
    def _interval(self) -> tuple[float, float]:
        """Where W is."""
        squares = self.offsets**2
        mean = float(np.average(squares, weights=self.counts))
        noises = (-2 * self.shift, 1.0)
        start = 4 * self._deviation(squares, noises)
        far = self._least(start, lambda level: self._far(squares - mean, noises, level))
        center = self.size * (mean - self.truth)
        return center - far - self.period**2 / (4 * self.size), center + far

    @cached_property
    def _outside(self) -> float:
        """What W outside the interval and U outside its period add: both were made rare.

        The wave is twice the largest G at most.
        """
        return 4 * self._rare

    @cached_property
    def _wave(self) -> _Wave:
        return _Wave.of(*self._interval, self._ends, self.power)

    # Frequencies.

    def _frequencies(self) -> _Pairs:
        """Return pairs of frequencies, their weights, and a bound on what all others add."""
        reason = NotExact("the sum over what is left is not sure enough")
        for slack in SLACKS:
            try:
                left_out = self._left_out(slack)
            except NotExact as error:  # a coarser mesh may do
                reason = error
                continue
            if left_out > 2 * self._quiet:
                break
            try:
                return self._pairs(slack, left_out)
            except NotExact as error:  # a finer mesh leaves a smaller rectangle
                reason = error
            for finer in _FINER_SLACKS:
                with suppress(NotExact):
                    left_out = self._left_out(finer)
                    if left_out <= 2 * self._quiet:
                        return self._pairs(finer, left_out)
            break
        raise reason

    @property
    def _quiet(self) -> float:
        return _QUIET * self._typical

    def _rectangle(self, slack: float) -> tuple[float, float]:
        """How far α and ω are known without a mesh."""
        return self._faint_beyond(_FAINT + 3 * slack * float(self.spread.sum()))

    def _faint_beyond(self, exponent: float) -> tuple[float, float]:
        """How far α and ω go where a normal law with the same moments has this exponent."""
        both = np.stack([self.offsets, self.offsets**2])
        form = 0.5 * float(self.spread.sum()) * np.cov(both, ddof=0, aweights=self.spread)
        if not np.linalg.det(form) > 1e-9 * form[0, 0] * form[1, 1]:
            raise NotExact("there are too few different values")
        alpha, omega = np.sqrt(exponent * np.diag(np.linalg.inv(form)))
        return float(alpha), float(omega)

    def _inner_rectangle(self, slack: float) -> tuple[float, float, float]:
        """How far α and ω are looked at one by one, and what is between there and the mesh."""
        alpha, omega = self._rectangle(slack)
        turn = alpha * float(np.ptp(self.offsets)) + omega * float(np.ptp(self.offsets**2))
        if turn > np.pi:
            return alpha, omega, 0.0
        slopes, bends = self._wave.jumps
        period = self._wave.period
        most = 2 * (
            slopes * period / (4 * np.pi**2) * 1.65 + bends * period**2 / (8 * np.pi**3) * 1.21
        )
        most *= alpha * self.period / np.pi + 3
        exponent = max(math.log(most / (self._chance * self._rare)), _FAINT) if most > 0 else _FAINT
        near = self._faint_beyond(exponent * np.pi**2 / 4)
        return min(alpha, near[0]), min(omega, near[1]), self._rare

    def _loudness(self, sizes: FloatArray) -> FloatArray:
        """Return bounds on φ where R has these sizes."""
        total = float(self.spread.sum())
        sizes = np.minimum(sizes, total)
        logs = sizes - total * (1 - 1e-12) + np.log(special.ive(0, sizes)) - math.log(self._chance)
        return as_array(np.exp(np.minimum(logs, 0.0)))

    def _pairs(self, slack: float, left_out: float) -> _Pairs:
        """Return the pairs of frequencies that are not faint, weights, and what others add."""
        last_alpha, last_omega, between = self._inner_rectangle(slack)
        wave, period = self._wave, self.period
        number = math.ceil(last_alpha * period / (2 * np.pi))
        rows = math.ceil(last_omega * wave.period / (2 * np.pi))
        if (2 * number + 1) * rows > _MOST_PAIRS:
            raise NotExact("the noise is too wide beside what leaving records out does")
        every = 2 * np.pi / period * np.arange(-number, number + 1)
        levels = 2 * np.pi / wave.period * np.arange(1.0, rows + 1)
        alphas, omegas = as_array(np.meshgrid(every, levels, indexing="ij")).reshape(2, -1)
        bound = 2 * wave.sizes(omegas) * self._chirp_sizes(np.abs(alphas), omegas, omegas)
        bound *= self._noise_at(alphas, omegas)
        loud = bound > 1e-3 * self._rare / len(bound)
        left_out += between + float(bound[~loud].sum())
        alphas, omegas, bound = alphas[loud], omegas[loud], bound[loud]
        bound *= self._loudness(sizes_at(alphas, omegas, self.offsets, self.spread))
        order = np.argsort(bound, kind="stable")
        sums = np.cumsum(bound[order])
        faint = int(np.searchsorted(sums, self._rare))
        left_out += float(sums[faint - 1]) if faint else 0.0
        kept = np.sort(order[faint:])
        alphas, omegas = as_array(alphas[kept]), as_array(omegas[kept])
        weights = wave.coefficients(omegas) * np.exp(-1j * omegas * self.size * self.truth)
        return alphas, omegas, weights * self._chirps(alphas, omegas), left_out

    def _chirps(self, alphas: FloatArray, omegas: FloatArray) -> NDArray[np.complex128]:
        """Return the Fourier coefficients of `e^(-iωu²/m)` on a period."""
        bend = omegas / self.size
        middle, half = alphas / (2 * bend), self.period / 2
        unit = np.sqrt(2 * bend / np.pi)
        (s_1, c_1), (s_0, c_0) = (
            special.fresnel(unit * (middle + side * half)) for side in (1.0, -1.0)
        )
        turned = np.exp(1j * alphas**2 / (4 * bend)) * ((c_1 - c_0) - 1j * (s_1 - s_0))
        return np.asarray(turned / (unit * self.period))

    def _chirp_sizes(self, alphas: FloatArray, least: FloatArray, most: FloatArray) -> FloatArray:
        """Return bounds on these for ω between two, and α of these sizes or more."""
        sizes = np.minimum(1.0, _FRESNEL * np.sqrt(self.size / least) / self.period)
        fastest = most * self.period / self.size
        beyond = np.maximum(alphas**2 - fastest**2, 1e-300)
        by_parts = np.where(alphas > fastest, 4 * fastest / (self.period * beyond), 1.0)
        return as_array(np.minimum(sizes, by_parts))

    def _noise_at(self, alphas: FloatArray, omegas: FloatArray) -> FloatArray:
        first, second = self.noises
        turned = first.characteristic(alphas - 2 * self.shift * omegas)
        return as_array(turned * second.characteristic(omegas))

    @property
    def _widths(self) -> tuple[float, float]:
        """Scales with which `1 / (1 + x²)` is above the noises' characteristic functions."""
        first, second = (
            noise.scale / math.sqrt(2) if isinstance(noise, Gaussian) else noise.scale
            for noise in self.noises
        )
        return first, second

    def _left_out(self, slack: float) -> float:
        """Return a bound on what the frequencies beyond the rectangle add."""
        alpha, omega = self._rectangle(slack)
        while self._high_rows(omega) > 0.5 * self._quiet:
            omega *= 1.2
        step = 2 * np.pi / self.period
        alpha = max(alpha, 2 * omega * self.period / self.size, 4 * abs(self.shift) * omega)
        alpha += step
        while self._wide_columns(alpha - step, omega) > 0.5 * self._quiet:
            alpha *= 1.2
        return self._quiet + self._on_mesh(alpha, omega, slack)

    def _high_rows(self, omega: float) -> float:
        """Return a bound on all terms with this ω or more."""
        first, second = self._widths
        before = omega - 2 * np.pi / self._wave.period
        if before <= 0:
            return math.inf
        slopes, bends = self._wave.jumps
        row = float(_FRESNEL * math.sqrt(self.size) * (0.5 / first + 1 / self.period))
        by_noise = float(self.noises[1].characteristic(before)) / 1.5
        by_noise = min(by_noise, 1 / (3.5 * (second * before) ** 2))
        return float(row * (slopes + bends / before) / math.pi * by_noise / before**1.5)

    def _wide_columns(self, alpha: float, omega: float) -> float:
        """Return a bound on all terms with this size of α or more, and this ω at most."""
        period = self._wave.period
        slopes, bends = self._wave.jumps
        rows = omega * period / (2 * np.pi)
        weights = slopes / np.pi * (1 + math.log(max(rows, 1.0))) + bends * period / (2 * np.pi**2)
        weights *= 1.65
        by_noise = float(self.noises[0].characteristic(0.5 * alpha))
        by_noise = min(by_noise, 4 / (3 * (self._widths[0] * alpha) ** 2))
        return float(weights * 16 / (3 * np.pi) * self.period / (self.size * alpha) * by_noise)

    def _on_mesh(self, last_alpha: float, last_omega: float, slack: float) -> float:
        """Return a bound on all terms between."""
        mesh = Mesh.of(self.offsets, self.spread, last_alpha, last_omega, slack)
        inner_alpha, inner_omega = self._rectangle(slack)
        columns = mesh.column_width * self.period / (2 * np.pi) + 1
        rows = mesh.row_width * self._wave.period / (2 * np.pi) + 1
        inside = np.abs(mesh.alphas) + 0.5 * mesh.column_width <= inner_alpha
        nearest = np.maximum(np.abs(mesh.alphas) - 0.5 * mesh.column_width, 0.0)
        between, first = mesh.slack(mesh.row_width), 2 * np.pi / self._wave.period
        moved = 0.5 * mesh.column_width + abs(self.shift) * mesh.row_width
        total = 0.0
        for omegas, sizes in mesh.rows():
            if omegas[0] == 0:  # which is the mean of the wave
                continue
            least = np.maximum(omegas - 0.5 * mesh.row_width, first)[:, None]
            most = (omegas + 0.5 * mesh.row_width)[:, None]
            turned = np.abs(mesh.alphas - 2 * self.shift * omegas[:, None]) - moved
            bound = self._loudness(sizes + between)
            bound *= self.noises[0].characteristic(np.maximum(turned, 0.0))
            bound *= self.noises[1].characteristic(least) * 2 * self._wave.sizes(least)
            bound *= self._chirp_sizes(nearest, least, most)
            bound[np.outer(most[:, 0] <= inner_omega, inside)] = 0.0
            total += float(bound.sum()) * columns * rows
            if total > self._quiet:
                return math.inf
        return total

    # The characteristic function of what is left.

    @cached_property
    def _angles(self) -> int:
        variance = float(self.spread.sum())
        return min(math.ceil(bernstein_reach(variance, _NOTHING)) + 1, self.population + 1)

    def _records(
        self, alphas: FloatArray, omegas: FloatArray
    ) -> tuple[NDArray[np.complex128], FloatArray]:
        """Return φ for pairs of frequencies, and what it is rounded by."""
        factors = len(alphas) * len(self.offsets) * (self._angles / 10 + 30)
        if factors > _MOST_FACTORS:
            raise NotExact("the sum over what is left would take too long")
        # The sum for frequencies of 0 is Kp, with the same rounding.
        sums, turned = _sums_over_angles(
            np.append(0.0, alphas), np.append(0.0, omegas), self.offsets, self.counts,
            self._rate, self.size, self._angles,
        )  # fmt: skip
        total = float(sums[0].real)
        rounding = 1e-15 * (turned[1:] + np.abs(sums[1:]) * turned[0] / total) / total
        return np.asarray(sums[1:] / total), as_array(rounding)


@compiled
def _sums_over_angles(
    alphas: FloatArray,
    omegas: FloatArray,
    offsets: FloatArray,
    counts: FloatArray,
    rate: float,
    size: int,
    angles: int,
) -> tuple[NDArray[np.complex128], FloatArray]:
    """Return `Σ_θ e^(-iθm) Π (1 - k + k e^(i(θ + αy + ωy²)))^n` for every pair of frequencies.

    And the phases that were added up and rounded, with the same weights.
    """
    result = np.zeros(len(alphas), dtype=np.complex128)
    turned = np.zeros(len(alphas))
    both = rate * (1.0 - rate)
    total = 0.0
    for v in range(len(counts)):
        total += both * counts[v]
    for g in range(len(alphas)):
        real, imaginary = 0.0, 0.0
        for v in range(len(offsets)):
            angle = (alphas[g] + omegas[g] * offsets[v]) * offsets[v]
            real += both * counts[v] * math.cos(angle)
            imaginary += both * counts[v] * math.sin(angle)
        for step in range(angles):
            theta = 2.0 * math.pi * (step - angles // 2) / angles
            # The product is at most e to this.
            if math.cos(theta) * real - math.sin(theta) * imaginary - total < -42.0:
                continue
            log_size, phase, turns = 0.0, -((theta * size) % (2.0 * math.pi)), abs(theta * size)
            for v in range(len(offsets)):
                angle = theta + (alphas[g] + omegas[g] * offsets[v]) * offsets[v]
                half = math.sin(0.5 * angle)
                log_size += counts[v] * 0.5 * math.log1p(-4.0 * both * half * half)
                # Modulo full turns any branch of the angle will do: counts are whole.
                turn = math.atan2(rate * math.sin(angle), 1.0 - 2.0 * rate * half * half)
                phase += counts[v] * turn
                turns += counts[v] * abs(turn)
            length = math.exp(log_size)
            result[g] += complex(length * math.cos(phase), length * math.sin(phase))
            turned[g] += length * (turns + 50.0)
    return result, turned
