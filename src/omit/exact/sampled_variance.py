"""The variance from three noisy sums where records are kept at random, with proven bounds.

Values are shares of the bounds, less the expected mean c of what is left: `y = x - c`. Three sums
with noise give N, the number of records, Y₁, the sum of y, and Y₂, that of y² (`noisy_variance`).
The answer is `V = Y₂/N - (Y₁/N)²`. For any ν let

    A = Y₁ - ν N,      W = Y₂ - (ν² + t) N,

sums of independent terms. Where `ν = Y₁/N`, A is 0 and `W = N (V - t)`. As `δ(Y₁ - νN)` is the
density of ν at `Y₁/N` divided by N,

    E|V - t| = ∫ E[δ(A) |W|] dν.

With the triangle wave of period 2L that is `|w|` for `|w| ≤ L`, and P a period for A,

    E[δ(A) |W|] ≈ (1/P) Σ_k (L/2 Re Φ(α_k, 0) - (4L/π²) Σ_j Re Φ(α_k, ω_j) / (2j+1)²),

`α_k = (2k+1)π/P` for all whole k, `ω_j = (2j+1)π/L` and `Φ(α, ω) = E exp(i(αA + ωW))`, a product
over records and noises. *What that misses*, all of it bounded here:

- what the formula has no part in: N below a half of its mean, ν outside of the integral, and
  `|W| > L`; and what is cut off of answers at the bounds. Since `N V = min_ν (Y₂ - 2νY₁ + ν²N)`,
  W is at most `Y₂ - tN`, and for `|ν| ≤ h` at least `Y₂ - (t + h²)N`: all these are linear, so the
  inequality of Chernoff holds. An answer errs by a quarter at most. The formula has at most L/N
  there, and where N is small at most `L ∫ E[δ(A); N < n] dν ≤ 2hL f E e^(τ(n - N))`, f the largest
  density of a noise in A;
- the period of A: `L ∫ Σ_(m≠0) f_A(mP) dν`, with `f_A(a) ≤ f e^(-τa) E e^(τA)`, convex in ν;
- frequencies: `|Φ|` is at most that of the noise times `exp(|R| - Σ w)`, `R = Σ w e^(i(αy + ωy²))`,
  `w = n k (1-k)`, whatever ν is. R is computed within a rectangle, and known on a mesh farther out,
  from fast transforms: between its points it moves by at most as much as phases do. Yet farther the
  noise is enough: it has the factors `1/(1 + b²ℓᵢ²)` or less, ℓᵢ three linear forms in α and ω. As
  `α_j ℓᵢ - αᵢ ℓ_j` is a multiple of ω and `ω_j ℓᵢ - ωᵢ ℓ_j` one of α, at least two of the three are
  large, and all of them where ω is small beside α;
- the rule for ν: given N, a term is `e^(-i(αν + ων²)N)` times a constant, for which 16 nodes of
  Gauss and Legendre on a panel of half-width a err by at most `2.6e-19 e^(1.875 a N g) a`, where
  `g = |α| + 2|ω| (h + 1.2a)` (`noisy_quotient`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array, gauss_legendre
from omit.errors import NotExact
from omit.exact.noisy_variance import LARGEST_VARIANCE, VarianceError
from omit.exact.variance_frequencies import SLACKS, Mesh, sizes_at
from omit.laws.noise import Gaussian, LogConcaveNoise

_NODES, _WEIGHTS = gauss_legendre(16)
# What all that is missed may add, relative to a typical error, and the least precision that counts.
_WANTED, _COARSEST = 5e-8, 1e-6
# Minus about the logarithm of the data's part at the edges of the rectangle, beside the mesh.
_FAINT = 34.0
# Minus the logarithm of factors of which the rest is not computed.
_NOTHING = 34.0
# The phase through which a panel of the integral may turn on either side of its middle.
_PHASE = 9.6
_RULE_ERROR = 2.6e-19 * math.exp(1.875 * _PHASE)
_TILTS = np.geomspace(1e-3, 0.98, 60)
_WIDEST_TILT = 40.0
_MOST_FACTORS = 200_000_000
_ATTEMPTS = 60


def sampled_variance_error(
    shares: FloatArray,
    counts: NDArray[np.int64],
    keep: FloatArray,
    noise: LogConcaveNoise,
    truth: float,
) -> VarianceError:
    """Return the expected distance of the variance from three noisy sums from the truth.

    Parameters
    ----------
    shares, counts, keep
        The distinct values as shares of the bounds, how many records have each, and how probably
        such a record is kept.
    noise : LogConcaveNoise
        That of each sum.
    truth : float
        As a share of the squared width of the bounds.

    Raises
    ------
    NotExact
        If the records left are too few beside the noise, the noise too narrow or too wide beside
        what leaving records out does, or the variance too near 0 or the largest one.

    Examples
    --------
    >>> from omit.laws.noise import Gaussian
    >>> shares, keep = np.arange(11) / 10, np.full(11, 0.5)
    >>> counts = 50 * np.array([1, 4, 12, 28, 48, 60, 48, 28, 12, 4, 1])
    >>> error = sampled_variance_error(shares, counts, keep, Gaussian(8.0), 0.033)
    >>> f"{error.expected:.8f}", error.precision < 1e-6 * error.expected
    ('0.00397909', True)
    """
    if not 0 <= truth <= LARGEST_VARIANCE:
        raise NotExact("no variance within the bounds is the truth")
    if noise.scale == 0:
        raise NotExact("there is no noise to smooth the sums")
    return _Integral.of(shares, counts, keep, noise, truth).error()


@dataclass(frozen=True)
class _Form:
    """A sum over records and noises: what every one of them adds."""

    records: FloatArray
    noises: FloatArray


@dataclass(frozen=True, eq=False)
class _Integral:
    offsets: FloatArray
    counts: FloatArray
    keep: FloatArray
    noise: LogConcaveNoise
    truth: float
    means: FloatArray  # what the noises add to Y₁
    squares: FloatArray  # and to Y₂

    @classmethod
    def of(
        cls,
        shares: FloatArray,
        counts: NDArray[np.int64],
        keep: FloatArray,
        noise: LogConcaveNoise,
        truth: float,
    ) -> _Integral:
        possible = keep > 0
        shares, left = shares[possible], as_array(counts[possible])
        keep = as_array(keep[possible])
        if not (left * keep * (1 - keep)).sum() > 0:
            raise NotExact("it is certain which records are left")
        center = float(np.average(shares, weights=left * keep))
        means = np.array([-center, 0.5 - center, 1 - center])
        squares = np.array([center**2, center**2 - center, (1 - center) ** 2])
        return cls(as_array(shares - center), left, keep, noise, truth, means, squares)

    def error(self) -> VarianceError:
        """Return the integral, and what it misses."""
        outside = self._outside
        rule, left_out = self._rule_and_rest()
        factors = len(rule.points) * len(rule.frequencies[0]) * len(self.offsets)
        if factors > _MOST_FACTORS:
            raise NotExact("the integral would take too long")
        alphas, omegas, weights = rule.frequencies
        value, size = _sum_of_terms(
            rule.points, rule.weights, alphas, omegas, weights, self.offsets, self.counts,
            self.keep, self.truth, self._noise_at(rule.points, alphas, omegas),
        )  # fmt: skip
        phases = np.abs(alphas) * float(self._left @ np.abs(self.offsets)) + omegas * self.size
        rounding = 1e-15 * (20 + float(phases.max(initial=0.0))) * size
        missed = outside + self._beyond_period + left_out + rule.missed + rounding
        if not missed <= _COARSEST * value:
            raise NotExact("the integral over what is left is not sure enough")
        return VarianceError(float(value), float(missed))

    # Moments and rare events.

    @cached_property
    def _left(self) -> FloatArray:
        return self.counts * self.keep

    @cached_property
    def size(self) -> float:
        """The expected number of records left."""
        return float(self._left.sum())

    @cached_property
    def spread(self) -> FloatArray:
        """The variance of each count that is left."""
        return as_array(self._left * (1 - self.keep))

    def _deviation(self, form: _Form) -> float:
        by_records = float(self.spread @ form.records**2)
        return math.sqrt(by_records + self.noise.variance * float((form.noises**2).sum()))

    def _centered(self, mean: float, level: float) -> tuple[_Form, _Form]:
        """Return `Y₁ - mean N` and `Y₂ - level N`."""
        return (
            _Form(self.offsets - mean, self.means - mean),
            _Form(self.offsets**2 - level, self.squares - level),
        )

    def _log_moments(self, form: _Form, side: float) -> tuple[FloatArray, FloatArray]:
        """Return tilts and the logarithms of `E exp(side tilt form)`."""
        widest = float(np.abs(form.noises).max())
        steepest = self.noise.largest_tilt / (self.noise.scale * widest)
        tilts = _TILTS * min(steepest, _WIDEST_TILT / self._deviation(form))
        return tilts, self._log_moment_at(form, tilts, side)

    def _log_moment_at(self, form: _Form, tilts: FloatArray, side: float) -> FloatArray:
        turned = np.minimum(side * np.outer(tilts, form.records), 700.0)
        logs = np.log1p(self.keep * np.expm1(turned)) @ self.counts
        for coefficient in form.noises:
            logs = logs + self.noise.log_moment(tilts * abs(coefficient))
        return as_array(logs)

    def _beyond(self, form: _Form, level: float, side: float) -> float:
        """Return a bound on the probability that `side form` exceeds the level."""
        tilts, logs = self._log_moments(form, side)
        return math.exp(min(float((logs - tilts * level).min()), 0.0))

    def _hinge(self, form: _Form, side: float) -> float:
        """Return a bound on the mean of what `side form` exceeds 0 by."""
        tilts, logs = self._log_moments(form, side)
        return math.exp(min(float((logs - np.log(tilts)).min()) - 1, 700.0))

    @cached_property
    def _typical(self) -> float:
        """About how large the error is."""
        variance = float(self._left @ self.offsets**2) / self.size
        deviation = self._deviation(self._centered(0.0, variance)[1]) / self.size
        return max(abs(variance - self.truth), 0.8 * deviation)

    @cached_property
    def _rare(self) -> float:
        return _WANTED * self._typical

    @cached_property
    def half_width(self) -> float:
        """That of the integral over ν, h."""
        half = 5 * self._deviation(self._centered(0.0, 0.0)[0]) / self.size
        for _ in range(_ATTEMPTS):
            if self._outside_of(half) <= self._rare:
                return half
            half *= 1.1
        raise NotExact("the records left are too few beside the noise")

    def _outside_of(self, half: float) -> float:
        """Return a bound on the probability that ν is farther from 0 than this."""
        above, below = self._centered(half, 0.0)[0], self._centered(-half, 0.0)[0]
        return self._beyond(above, 0.0, 1.0) + self._beyond(below, 0.0, -1.0)

    @cached_property
    def half_period(self) -> float:
        """That of the triangle wave, L."""
        half = 5 * self._deviation(self._centered(0.0, self.truth)[1])
        half += self.size * abs(float(self._left @ self.offsets**2) / self.size - self.truth)
        for _ in range(_ATTEMPTS):
            if self._above_wave(half) <= self._rare:
                return half
            half *= 1.1
        raise NotExact("the records left are too few beside the noise")

    def _above_wave(self, half: float) -> float:
        """Return a bound on the probability that `|W|` exceeds this."""
        above = self._centered(0.0, self.truth)[1]
        below = self._centered(0.0, self.truth + self.half_width**2)[1]
        return self._beyond(above, half, 1.0) + self._beyond(below, half, -1.0)

    @cached_property
    def _outside(self) -> float:
        """What the formula has no part in, and what it has in its place."""
        half, period = self.half_width, self.half_period
        least = 0.5 * self.size
        few = self._beyond(self._number, -least, -1.0)
        rare = self._outside_of(half) + self._above_wave(period)
        missed = LARGEST_VARIANCE * (rare + few) + period / least * rare
        # What answers are cut off by.
        missed += self._hinge(self._centered(0.0, half**2)[1], -1.0) / least
        missed += self._hinge(self._centered(0.0, LARGEST_VARIANCE)[1], 1.0) / least
        missed += 2 * half * period * self._largest_density * few
        if least < 1 or not missed <= 0.5 * _COARSEST * self._typical:
            raise NotExact("the noise may clip or clamp the answer")
        return missed

    @cached_property
    def _largest_density(self) -> float:
        """A bound on the density of the noise that A has most of, for all ν."""
        scale = self.noise.scale * (float(np.abs(self.means).max()) - self.half_width)
        return float(self.noise.pdf(0.0)) * self.noise.scale / scale

    @cached_property
    def _period(self) -> float:
        """The period of A, P."""
        period = 10 * self._deviation(self._centered(0.0, 0.0)[0]) + self.half_width * self.size
        for _ in range(_ATTEMPTS):
            if self._echoes(period) <= self._rare:
                return period
            period *= 1.1
        raise NotExact("the records left are too few beside the noise")

    def _echoes(self, period: float) -> float:
        """Return a bound on what A farther from 0 than that adds."""
        density = 0.0
        for side in (1.0, -1.0):
            ends = [self._centered(mean, 0.0)[0] for mean in (-self.half_width, self.half_width)]
            tilts = [self._log_moments(form, side) for form in ends]
            # The same tilts at both ends, so that convexity bounds all between.
            common = min(tilts[0][0], tilts[1][0], key=lambda some: float(some[-1]))
            logs = [self._log_moment_at(form, common, side) for form in ends]
            # The sum over all multiples of the period is one of a geometric series.
            fall = common * period
            least = float((np.maximum(*logs) - fall - np.log(-np.expm1(-fall))).min())
            density += math.exp(min(least, 700.0))
        return 2 * self.half_width * self.half_period * self._largest_density * density

    @cached_property
    def _beyond_period(self) -> float:
        return self._echoes(self._period)

    # Frequencies.

    def _rule_and_rest(self) -> tuple[_Rule, float]:
        """Return the frequencies of a rectangle, and a bound on what is beyond it."""
        reason = NotExact("the integral over what is left is not sure enough")
        for slack in SLACKS:
            try:
                left_out = self._left_out(slack)
            except NotExact as error:
                reason = error
                continue
            if left_out <= 0.5 * _COARSEST * self._typical:
                return self._rule(slack), left_out
        raise reason

    def _rectangle(self, slack: float) -> tuple[float, float]:
        """How far α and ω are looked at one by one: as far as normal laws are not faint."""
        both = np.stack([self.offsets, self.offsets**2])
        form = 0.5 * float(self.spread.sum()) * np.cov(both, ddof=0, aweights=self.spread)
        if not np.linalg.det(form) > 1e-9 * form[0, 0] * form[1, 1]:
            raise NotExact("there are too few different values")
        # Half as much again as the slack of both axes.
        faint = _FAINT + 3 * slack * float(self.spread.sum())
        alpha, omega = np.sqrt(faint * np.diag(np.linalg.inv(form)))
        return float(alpha), float(omega)

    def _rule(self, slack: float) -> _Rule:
        """The frequencies of the rectangle that are not faint, and nodes for ν."""
        period, half_period, length = self._period, self.half_period, 2 * self.half_width
        last_alpha, last_omega = self._rectangle(slack)
        number = math.ceil(last_alpha * period / (2 * np.pi))
        alphas = (2 * np.arange(-number, number) + 1) * (np.pi / period)
        odd = 2 * np.arange(math.ceil(last_omega * half_period / (2 * np.pi))) + 1
        omegas = np.append(0.0, odd * (np.pi / half_period))
        shares = np.append(0.5, -4 / np.pi**2 / odd**2)
        if len(alphas) * len(omegas) * len(self.offsets) > _MOST_FACTORS:
            raise NotExact("the noise is too wide beside what leaving records out does")
        grid = as_array(np.meshgrid(alphas, omegas, indexing="ij")).reshape(2, -1)
        weights = half_period / period * np.tile(shares, len(alphas))
        sizes = sizes_at(grid[0], grid[1], self.offsets, self.spread)
        bound = np.exp(sizes - float(self.spread.sum()) * (1 - 1e-12)) * np.abs(weights)
        bound *= self._largest_noise(grid[0], grid[1])
        faintest = np.argsort(bound, kind="stable")
        left_out = length * np.cumsum(bound[faintest])
        faint = int(np.searchsorted(left_out, self._rare))
        loud = np.sort(faintest[faint:])
        alphas, omegas, weights = (as_array(axis[loud]) for axis in (*grid, weights))
        most = self._largest_number
        turning = most * float((np.abs(alphas) + 4 * omegas * self.half_width).max(initial=0.0))
        panels = math.ceil(self.half_width * turning / _PHASE) + 1
        half = self.half_width / panels
        middles = -self.half_width + half * (2 * np.arange(panels) + 1)
        points = as_array((middles[:, None] + half * _NODES).ravel())
        many = self._beyond(self._number, most, 1.0) + self._beyond(self._number, most, -1.0)
        missed = _RULE_ERROR + 4 * many + 2 * math.exp(-_NOTHING)
        missed *= self.half_width * float(np.abs(weights).sum())
        missed += float(left_out[faint - 1]) if faint else 0.0
        return _Rule(points, np.tile(half * _WEIGHTS, panels), (alphas, omegas, weights), missed)

    @property
    def _number(self) -> _Form:
        return _Form(np.ones_like(self.offsets), np.ones(3))

    @cached_property
    def _largest_number(self) -> float:
        """A number of records that is hardly exceeded."""
        most = self.size + 6 * self._deviation(self._number)
        for _ in range(_ATTEMPTS):
            if self._beyond(self._number, most, 1.0) <= 1e-12:
                break
            most *= 1.02
        return most

    def _largest_noise(
        self, alphas: FloatArray, omegas: FloatArray, column: float = 0.0, row: float = 0.0
    ) -> FloatArray:
        """Return a bound on the noise's part for all ν, and within cells of these widths."""
        product, half = np.ones(np.broadcast(alphas, omegas).shape), self.half_width
        moved = half * (np.abs(alphas) + 0.5 * column) + half**2 * (omegas + 0.5 * row)
        for mean, square in zip(self.means, self.squares - self.truth, strict=True):
            turns = np.abs(mean * alphas + square * omegas) - moved
            turns -= 0.5 * (column * abs(mean) + row * abs(square))
            product *= self.noise.characteristic(np.maximum(turns, 0.0))
        return product

    def _noise_at(self, points: FloatArray, alphas: FloatArray, omegas: FloatArray) -> FloatArray:
        """Return the characteristic function of the noise in one row for every ν."""
        product = np.ones((len(points), len(alphas)))
        for mean, square in zip(self.means, self.squares, strict=True):
            turns = np.outer(mean - points, alphas)
            turns += np.outer(square - points**2 - self.truth, omegas)
            product *= self.noise.characteristic(turns)
        return product

    def _left_out(self, slack: float) -> float:
        """What the frequencies beyond the rectangle add."""
        length = 2 * self.half_width
        alpha, omega = self._rectangle(slack)
        while self._high_rows(omega) * length > self._rare:
            omega *= 1.2
        while self._wide_columns(alpha) * length > self._rare:
            alpha *= 1.2
        noise_alone = self._high_rows(omega) + self._wide_columns(alpha)
        return length * (noise_alone + self._on_mesh(alpha, omega, slack))

    @cached_property
    def _width(self) -> float:
        """A scale with which `1 / (1 + x²)` is above the noise's characteristic function."""
        gaussian = isinstance(self.noise, Gaussian)
        return self.noise.scale / math.sqrt(2) if gaussian else self.noise.scale

    @cached_property
    def _apart(self) -> tuple[float, float]:
        """Of three linear forms in α and ω two at least are this times α, and this times ω.

        In scales of noise, whatever ν is.
        """
        half, means, squares = self.half_width, self.means, self.squares - self.truth
        by_alpha, by_omega = [], []
        for i, j in ((0, 1), (0, 2), (1, 2)):
            area = abs(float(squares[i] * means[j] - squares[j] * means[i]))
            area -= half * abs(float(squares[i] - squares[j]))
            area -= half**2 * abs(float(means[i] - means[j]))
            by_alpha.append(area / (abs(squares[i]) + abs(squares[j]) + 2 * half**2))
            by_omega.append(area / (abs(means[i]) + abs(means[j]) + 2 * half))
        apart = float(min(by_alpha)), float(min(by_omega))
        if not min(apart) > 0:
            raise NotExact("the noise of the three sums is too much alike")
        return apart

    def _high_rows(self, omega: float) -> float:
        """Return a bound on all terms with this ω or more, per length of the integral."""
        if not omega * self._width < 1e9:
            raise NotExact("the noise is too narrow for the integral")
        second = float(self.noise.characteristic(omega * self._apart[1]))
        steepness = np.maximum(np.abs(self.means) - self.half_width, 1e-9)
        alone = 1 / (2 * self._width * steepness) + 1 / self._period
        row = 0.0
        for i in range(3):
            best = float(np.delete(alone, i).min())
            row += min(float(alone[i]) * second**2, best * second)
        return row * self._weight_beyond(omega)

    def _weight_beyond(self, omega: float) -> float:
        """Return what the terms with this ω or more weigh, for one α: `(4L/π²) Σ 1/(2j+1)²`."""
        before = omega * self.half_period / (2 * np.pi) - 0.5
        return self.half_period * min(0.5, 1 / (np.pi**2 * before) if before > 0 else 0.5)

    def _wide_columns(self, alpha: float) -> float:
        """Return a bound on all terms with this size of α or more, per length of the integral."""
        if not alpha * self._width < 1e9:
            raise NotExact("the noise is too narrow for the integral")
        half, squares = self.half_width, np.abs(self.squares - self.truth) + self.half_width**2
        means = np.maximum(np.abs(self.means) - half, 0.0)
        # As long as ω is below this part of it all three forms are half of what they are without.
        flat = float((0.5 * means / squares).min())
        three = float((0.5 * self._width * means).prod()) ** 2
        two = (self._width * self._apart[0]) ** 4
        first = alpha - 2 * np.pi / self._period
        if first <= 0:
            return math.inf
        bound = self.half_period / (3 * two * first**3)
        if flat > 0:
            low = self.half_period / (5 * three * first**5)
            bound = min(bound, low + self._weight_beyond(flat * alpha) / (3 * two * first**3))
        if isinstance(self.noise, Gaussian):
            both = float(self.noise.characteristic(first * self._apart[0])) ** 2
            bound = min(bound, self.half_period * both / (2 * math.sqrt(two) * 2 * first))
        return bound / math.pi

    def _on_mesh(self, last_alpha: float, last_omega: float, slack: float) -> float:
        """Return a bound on all terms between, per length of the integral."""
        mesh = Mesh.of(self.offsets, self.spread, last_alpha, last_omega, slack)
        inner_alpha, inner_omega = self._rectangle(slack)
        columns = mesh.column_width / (2 * np.pi) + 1 / self._period
        inside = np.abs(mesh.alphas) + 0.5 * mesh.column_width <= inner_alpha
        total = 0.0
        for omegas, sizes in mesh.rows():
            width = 0.0 if omegas[0] == 0 else mesh.row_width
            exponents = mesh.total * (1 - 1e-12) - sizes - mesh.slack(width)
            bound = np.exp(-np.maximum(exponents, 0.0))
            bound *= self._largest_noise(mesh.alphas, omegas[:, None], mesh.column_width, width)
            bound[np.outer(omegas + 0.5 * width <= inner_omega, inside)] = 0.0
            total += float(self._row_weights(omegas, width) @ bound.sum(axis=1)) * columns
            if 2 * self.half_width * total > _COARSEST * self._typical:
                return math.inf
        return total

    def _row_weights(self, omegas: FloatArray, width: float) -> FloatArray:
        """Return what the terms around every ω weigh together."""
        if width == 0:
            return np.array([0.5 * self.half_period])
        first = np.maximum((omegas - 0.5 * width) * self.half_period / (2 * np.pi) - 0.5, 0.0)
        last = (omegas + 0.5 * width) * self.half_period / (2 * np.pi) + 0.5
        # The sum of 1/(2j+1)² over j from first to last, by its first term and an integral.
        sums = 1 / (2 * first + 1) ** 2 + 0.5 / (2 * first + 1) - 0.5 / (2 * last + 1)
        return as_array(4 * self.half_period / np.pi**2 * sums)


@dataclass(frozen=True)
class _Rule:
    points: FloatArray
    weights: FloatArray
    frequencies: tuple[FloatArray, FloatArray, FloatArray]  # two axes, and the weights of terms
    missed: float


@compiled
def _sum_of_terms(
    points: FloatArray,
    point_weights: FloatArray,
    alphas: FloatArray,
    omegas: FloatArray,
    weights: FloatArray,
    offsets: FloatArray,
    counts: FloatArray,
    keep: FloatArray,
    truth: float,
    noise: FloatArray,
) -> tuple[float, float]:
    """Return the integral by its rule, and the sum of the sizes of its terms."""
    value, total = 0.0, 0.0
    for p in range(len(points)):
        nu = points[p]
        for g in range(len(alphas)):
            log_size, phase = 0.0, 0.0
            for v in range(len(offsets)):
                y = offsets[v]
                angle = alphas[g] * (y - nu) + omegas[g] * (y * y - nu * nu - truth)
                k = keep[v]
                half = math.sin(0.5 * angle)
                log_size += counts[v] * 0.5 * math.log1p(-4.0 * k * (1.0 - k) * half * half)
                if log_size < -34.0:
                    break
                # Modulo full turns any branch of the angle will do: counts are whole.
                phase += counts[v] * math.atan2(k * math.sin(angle), 1.0 - 2.0 * k * half * half)
            if log_size < -34.0:
                continue
            size = point_weights[p] * weights[g] * noise[p, g] * math.exp(log_size)
            value += size * math.cos(phase)
            total += abs(size)
    return value, total
