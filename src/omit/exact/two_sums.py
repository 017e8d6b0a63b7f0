"""The mean by two noisy sums, with the noise integrated out.

Values are less the lower bound, so that they lie in `[0, R]`, R the width of the bounds. A record v
adds v to the first sum and `R - v` to the second: a pair whose L1 norm is R, whatever v is, and
whose L2 norm is at most R. So either sum has noise for the whole of ε and δ (`docs/how-exact.md`).
Given the sum S and the number C of the records left,

    A = S + Z₁,    B = R C - S + Z₂,    T = R A / max(A + B, R),   clipped to [0, R].

The noisy count is `Y = (A + B)/R = C + (Z₁ + Z₂)/R`, and `T = A / max(Y, 1)`. For `0 ≤ x < R`

    T > x    exactly when    A > x  and  (R - x) A > x B,

the first where the count is clamped, the second where it is not; each follows from the other in the
other's case. With `Y ≥ 1` it is `W_x = S - x C + (1 - x/R) Z₁ - (x/R) Z₂ > 0`.

*The noise, integrated out.* Let `v = Z₁ + Z₂`, which the count depends on, and b the scale.

- *Laplace:* the densities of `Z₁ = u` and `Z₂ = v - u` have the product
  `e^(-(|u| + |v - u|)/b) / 4b²`, which is constant for u between 0 and v and falls by `e^(-2/b)` a
  unit outside. So the integral of it over u above c, and that over c from one end to another, are
  exponentials and squares of c, without cancellation.
- *Gaussian:* v has the variance 2b², and `Z₁ - v/2` is independent of it, with the variance b²/2.

The expected distance of the answers above the truth is `∫ P(A > c) dc / max(Y, 1)` from
`t max(Y, 1)` to `R max(Y, 1)`, and that of the answers below alike. What remains is one integral
over v.

*Its error.* Panels of 16 Gauss-Legendre nodes end at the kinks of the integrand, where an end of an
integral passes 0 or v, and at `Y = 1`. In between, exponents of Laplace noise are linear in v with
slopes of at most 1/b, times polynomials of degree 2, over Y. Panels are no wider than 8 b, or 3 b
with Gaussian noise, and no wider than the distance of their start from `Y = 0`. So the proof of
`noisy_quotient` holds: the integrand is analytic in the ellipse whose semi-axes add up to 4
half-widths and at most e^4.6 · 2.2² times its largest value on the panel there, and the rule errs
by less than 1e-14 of that. Beyond 50 b, or 13 b, there is less than 1e-18 of the noise.

*Where noise decides nothing,* because S is 60 scales away from 0, R C and t C (12 if it is
Gaussian), the distance is `|E T - t|`. If `C ≥ 200 b/R` too, with `μ_k = E v^k` and R = 1,

    E T - t = ((S - t C) Σ_k μ_2k (b/C)^2k - (b²/C) (½ - t) Σ_k μ_(2k+2) (b/C)^2k) / C,

from `1 / (C + b v)` as a series and `E u v^k = μ_(k+1) / 2`, since u and v - u are alike. Six terms
are enough: the remainder is at most twice the next, `2 · 12! · 7 · 200^(-12)`, and e^(-60) what was
left out. `μ_2k` is `(2k)! (k + 1)`, or `(2k - 1)!! 2^k` if noise is Gaussian.

*Given the count,* Laplace noise `Z₁ - v/2` has, with `w = |v| / b`, the characteristic function

    (cos θ + sin θ / κ) / ((1 + w) (1 + κ²)),    κ = ν b / 2,  θ = κ w,

which is at most `1 / (1 + κ²)`, since `sin θ ≤ θ`: it is as smooth as Laplace noise of scale b/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from omit._compile import compiled
from omit._numeric import FloatArray, as_array, gauss_legendre
from omit.exact.noisy_quotient import clipped_by, normal_cdf
from omit.exact.quotient import Quotient
from omit.laws.noise import Gaussian, LogConcaveNoise

_NODES, _WEIGHTS = gauss_legendre(16)
# Beyond this many scales there is no noise of the count to speak of.
_REACH, _GAUSSIAN_REACH = 50.0, 13.0
_WIDEST_PANEL, _WIDEST_GAUSSIAN_PANEL = 8.0, 3.0
# By how many scales a sum must be away from a value for noise never to reach it, and how many of
# them a count must have for a series.
_CERTAIN, _GAUSSIAN_CERTAIN, _MANY = 60.0, 12.0, 200.0
# Noise so narrow, in parts of the other, changes a tail by the square of its share.
_NARROWEST = 1e-9
# By how much, in logarithms, the sum of two noises is beyond a width more often than one of them.
_TWO = 4.0


@dataclass(frozen=True)
class TwoSums(Quotient):
    """The noise of either sum, Laplace or Gaussian, and the bounds.

    Examples
    --------
    >>> from omit.laws.noise import Laplace
    >>> sums = TwoSums(Laplace(125.0), (0.0, 125.0))
    >>> float(sums.distances(4000.0, 100, 40.0)[()].round(6))
    0.978675
    """

    total: LogConcaveNoise
    bounds: tuple[float, float]
    origin: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", self.bounds[0])

    @property
    def width(self) -> float:
        """The width of the bounds, R."""
        return self.bounds[1] - self.bounds[0]

    def distances(
        self, sums: ArrayLike, sizes: ArrayLike, truth: float, fine: bool = True
    ) -> FloatArray:
        """Return the expected distance of the answer from the truth, which is less the origin."""
        sums, sizes = np.broadcast_arrays(as_array(sums), as_array(sizes))
        nearest = min(max(truth, 0.0), self.width)
        distances = _distances(
            sums.ravel() / self.width, sizes.ravel(), nearest / self.width,
            self.count_scale, self.is_gaussian, _NODES, _WEIGHTS,
        ).reshape(sums.shape)  # fmt: skip
        return as_array(self.width * distances + abs(truth - nearest))

    def above(self, sums: ArrayLike, sizes: ArrayLike, x: float) -> FloatArray:
        """Return the probability that the answer is above `x`, which is less the origin."""
        sums, sizes = np.broadcast_arrays(as_array(sums), as_array(sizes))
        if not 0 <= x < self.width:
            return np.full(sums.shape, 1.0 if x < 0 else 0.0)
        return _above(
            sums.ravel() / self.width, sizes.ravel(), x / self.width, self.count_scale,
            self.is_gaussian, _NODES, _WEIGHTS,
        ).reshape(sums.shape)  # fmt: skip

    def draw(self, sums: FloatArray, sizes: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return one answer, less the origin, for each sum and number of records."""
        first = sums + self.total.draw(rng, sums.shape)
        second = self.width * sizes - sums + self.total.draw(rng, sums.shape)
        return self._answers(first, (first + second) / self.width)

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian; otherwise it is Laplace noise."""
        return isinstance(self.total, Gaussian)

    @property
    def smoothing(self) -> LogConcaveNoise:
        """Noise of half the scale, or of half the variance if it is Gaussian."""
        return replace(
            self.total, scale=self.total.scale / (math.sqrt(2) if self.is_gaussian else 2)
        )

    @property
    def by_rules(self) -> bool:
        """Always."""
        return True

    @property
    def bounds_echoes(self) -> bool:
        """Always: few sums have formulas."""
        return True

    @property
    def certain_beyond(self) -> float:
        """From which distance of the sum from the truth on a series does."""
        return (_GAUSSIAN_CERTAIN if self.is_gaussian else _CERTAIN) * self.total.scale

    @property
    def count_scale(self) -> float:
        """The scale of either noise of the count."""
        return self.total.scale / self.width

    @property
    def count_variance(self) -> float:
        """That of `(Z₁ + Z₂) / R`."""
        return 2 * self.total.variance / self.width**2

    def count_log_moment(self, tilts: FloatArray) -> FloatArray:
        """Return that of `(Z₁ + Z₂) / R`."""
        return 2 * self.total.log_moment(tilts / self.width)

    def count_half_width(self, rarity: float) -> float:
        """Return that of `(Z₁ + Z₂) / R`."""
        if self.is_gaussian:
            return math.sqrt(2) * self.total.half_width(rarity) / self.width
        return self.total.half_width(rarity + _TWO) / self.width

    def scales(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the scales of `(1 - x/R) Z₁` and `(x/R) Z₂`, none of them 0."""
        shares = np.clip(x / self.width, _NARROWEST, 1 - _NARROWEST)
        return as_array((1 - shares) * self.total.scale), as_array(shares * self.total.scale)

    def noise_variance(self, x: float) -> float:
        """Return the variance of `(1 - x/R) Z₁ - (x/R) Z₂`."""
        share = x / self.width
        return ((1 - share) ** 2 + share**2) * self.total.variance

    def log_moment(self, tilts: FloatArray, x: float) -> FloatArray:
        """Return the sum of those of the two noises of `W_x`."""
        share = x / self.width
        first, second = abs(1 - share), abs(share)
        return self.total.log_moment(tilts * first) + self.total.log_moment(tilts * second)

    def half_widths(self, x: float, rarity: float) -> tuple[float, float]:
        """Return those of the two noises of `W_x`."""
        share, width = x / self.width, self.total.half_width(rarity)
        return abs(1 - share) * width, abs(share) * width

    def steady_characteristic(self, frequencies: FloatArray) -> FloatArray:
        """Return ones: both noises of `W_x` depend on x."""
        return np.ones_like(frequencies)

    def characteristic_at(self, frequencies: FloatArray, x: FloatArray) -> FloatArray:
        """Return the product of those of the two noises."""
        share = (x / self.width)[:, None]
        first = self.total.characteristic(frequencies * (1 - share))
        return first * self.total.characteristic(frequencies * share)

    def least_scales(self, low: float, high: float) -> tuple[float, float]:
        """Return scales with the least product and the least sum of squares of all x.

        The characteristic functions of both laws have products that fall in both of these.
        """
        shares = np.clip(np.array([low, high]) / self.width, _NARROWEST, 1 - _NARROWEST)
        product = float((shares * (1 - shares)).min())
        middle = min(max(0.5, float(shares[0])), float(shares[1]))
        squares = middle**2 + (1 - middle) ** 2
        root = math.sqrt(max(squares**2 - 4 * product**2, 0.0))
        larger = math.sqrt(0.5 * (squares + root))
        return larger * self.total.scale, product / larger * self.total.scale

    def largest_characteristic(
        self, frequencies: FloatArray, low: float, high: float
    ) -> FloatArray:
        """Return the product for the least scales."""
        first, second = (replace(self.total, scale=b) for b in self.least_scales(low, high))
        return first.characteristic(frequencies) * second.characteristic(frequencies)

    def largest_slope(self, frequencies: FloatArray, low: float, high: float) -> FloatArray:
        """Return the largest of both ends.

        With the share q of x, Laplace noise has `2 b²ω² q / (1 + b²ω² q²) ≤ 2/q` and the same for
        `1 - q`, Gaussian noise `b²ω² |1 - 2q|`.
        """
        shares = np.clip(np.array([low, high]) / self.width, _NARROWEST, 1 - _NARROWEST)
        if self.is_gaussian:
            steepest = float(np.abs(1 - 2 * shares).max())
            return as_array((self.total.scale * frequencies) ** 2 * (steepest / self.width))
        return np.full_like(frequencies, float((2 / (shares * (1 - shares))).max()) / self.width)

    def widest_panel(self, x: float) -> float:
        """Return half of the distance to the nearer bound, where one of the scales vanishes."""
        return max(0.5 * min(x, self.width - x), _NARROWEST * self.width)


@compiled
def _distances(
    sums: FloatArray,
    sizes: FloatArray,
    truth: float,
    b: float,
    gaussian: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return the expected distance for each sum and number of records, for bounds 0 and 1."""
    result = np.empty(len(sums))
    reach = _GAUSSIAN_REACH if gaussian else _REACH
    for i in range(len(sums)):
        s, n = sums[i], sizes[i]
        margin = min(abs(s - truth * n), s, n - s) / b
        if margin >= (_GAUSSIAN_CERTAIN if gaussian else _CERTAIN) and n >= _MANY * b:
            result[i] = abs(_bias(s, n, truth, b, gaussian)) / b
            continue
        free = min(max((1.0 - n) / b, -reach), reach)
        result[i] = _integral(s, n, truth, b, gaussian, -reach, free, True, nodes, weights)
        result[i] += _integral(s, n, truth, b, gaussian, free, reach, False, nodes, weights)
    return b * result


@compiled
def _bias(s: float, n: float, truth: float, b: float, gaussian: bool) -> float:
    """Return `E T - truth` where noise can neither clip, clamp nor reach the truth."""
    straight = bent = 0.0
    moment = power = 1.0  # E v^(2k), (b/n)^(2k)
    for k in range(6):
        following = moment * (2.0 * k + 1.0)
        following *= 2.0 if gaussian else (2.0 * k + 2.0) * (k + 2.0) / (k + 1.0)
        straight += power * moment
        bent += power * following
        power *= (b / n) ** 2
        moment = following
    return ((s - truth * n) * straight - b * b / n * (0.5 - truth) * bent) / n


@compiled
def _integral(
    s: float,
    n: float,
    truth: float,
    b: float,
    gaussian: bool,
    start: float,
    end: float,
    clamped: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> float:
    """Return the integral over v, in scales of the noise, where the count is clamped or not."""
    if not start < end:
        return 0.0
    # What u is compared with is `fixed + slope v` for the lower bound, the truth and the upper.
    fixed, slope = np.empty(3), np.zeros(3)
    if clamped:
        fixed[0], fixed[1], fixed[2] = -s / b, (truth - s) / b, (1.0 - s) / b
    else:
        fixed[0], fixed[1], fixed[2] = -s / b, (truth * n - s) / b, (n - s) / b
        slope[1], slope[2] = truth, 1.0
    widest = _WIDEST_GAUSSIAN_PANEL if gaussian else _WIDEST_PANEL
    cuts = _kinks(fixed, slope, start, end)
    total = 0.0
    for k in range(8):
        left, last = cuts[k], cuts[k + 1]
        while left < last:
            # Never wider than the way to the pole at Y = 0.
            right = min(left + (widest if clamped else min(widest, n / b + left)), last)
            half = 0.5 * (right - left)
            for i in range(len(nodes)):
                v = left + half * (nodes[i] + 1.0)
                low, middle, high = fixed[0], fixed[1] + slope[1] * v, fixed[2] + slope[2] * v
                inside = _expected_between(middle, high, v, gaussian)
                inside += _expected_between(-middle, -low, -v, gaussian)
                if not clamped:
                    inside /= n + b * v
                total += half * weights[i] * inside
            if right <= left:
                break
            left = right
    return total


@compiled
def _kinks(fixed: FloatArray, slope: FloatArray, start: float, end: float) -> FloatArray:
    """Return the ends and where `fixed + slope v` is 0 or v, in order."""
    cuts = np.full(9, start)
    cuts[1], cuts[2] = 0.0, end
    for k in range(3):
        if slope[k] != 0.0:
            cuts[3 + k] = -fixed[k] / slope[k]
        if slope[k] != 1.0:
            cuts[6 + k] = fixed[k] / (1.0 - slope[k])
    return np.sort(np.minimum(np.maximum(cuts, start), end))


@compiled
def _expected_between(start: float, end: float, v: float, gaussian: bool) -> float:
    """Return the integral over c from start to end of the density of v with `Z₁ > c`."""
    if not gaussian:
        return 0.25 * math.exp(-abs(v)) * _tail_between(start, end, min(v, 0.0), max(v, 0.0))
    density = math.exp(-0.25 * v * v) / math.sqrt(4.0 * math.pi)
    return density * clipped_by(0.5 * v - start, 0.5 * v - end, end - start, math.sqrt(0.5), True)


@compiled
def _tail_between(start: float, end: float, low: float, high: float) -> float:
    """Return the integral over c from start to end of that over u above c.

    Of a function of u that is 1 between low and high and falls by e^(-2) a unit outside.
    """
    area = 0.0
    right = min(end, low)
    if start < right:
        # Below, all but the lower tail is above c.
        fall = math.exp(-2.0 * (low - right)) * -math.expm1(-2.0 * (right - start))
        area += (high - low + 1.0) * (right - start) - 0.25 * fall
    left, right = max(start, low), min(end, high)
    if left < right:
        area += (right - left) * (high - 0.5 * (left + right) + 0.5)
    left = max(start, high)
    if left < end:
        area += 0.25 * math.exp(-2.0 * (left - high)) * -math.expm1(-2.0 * (end - left))
    return area


@compiled
def _above(
    sums: FloatArray,
    sizes: FloatArray,
    x: float,
    b: float,
    gaussian: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return `P(T > x)` for each sum and number of records, for bounds 0 and 1."""
    result = np.empty(len(sums))
    for i in range(len(sums)):
        s, n = sums[i], sizes[i]
        start = (x - s) / b
        if x == 0.0:
            # The answer is above 0 where A is.
            if gaussian:
                result[i] = normal_cdf(-start)
            else:
                result[i] = 0.5 * math.exp(-start) if start > 0.0 else 1.0 - 0.5 * math.exp(start)
            continue
        # With Z₁ = b z, B is small enough if Z₂ is below b (slope z + fixed).
        slope, fixed = (1.0 - x) / x, (s - x * n) / (x * b)
        if gaussian:
            result[i] = _normal_chance_beyond(start, slope, fixed, nodes, weights)
        else:
            result[i] = _chance_beyond(start, slope, fixed)
    return result


@compiled
def _normal_chance_beyond(
    start: float, slope: float, fixed: float, nodes: FloatArray, weights: FloatArray
) -> float:
    """Return `P(Z₁ > start, Z₂ < slope Z₁ + fixed)` for Gaussian noises of scale 1.

    Without the first condition it is a normal probability; what is below the start is integrated.
    """
    chance = normal_cdf(fixed / math.hypot(1.0, slope))
    end = min(start, 9.0)
    # The second condition turns from impossible to certain around here.
    turn, around = -fixed / slope, 9.0 / slope
    cuts = np.array([-9.0, turn - around, turn + around, end])
    cuts = np.sort(np.minimum(np.maximum(cuts, -9.0), max(end, -9.0)))
    for k in range(3):
        left, last = cuts[k], cuts[k + 1]
        width = 3.0
        if abs(0.5 * (left + last) - turn) < around:
            width = 3.0 * min(1.0, 1.0 / slope)
        while left < last:
            right = min(left + width, last)
            half = 0.5 * (right - left)
            for i in range(len(nodes)):
                z = left + half * (nodes[i] + 1.0)
                density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
                chance -= half * weights[i] * density * normal_cdf(slope * z + fixed)
            if right <= left:
                break
            left = right
    return min(max(chance, 0.0), 1.0)


@compiled
def _chance_beyond(start: float, slope: float, fixed: float) -> float:
    """Return `P(Z₁ > start, Z₂ < slope Z₁ + fixed)` for Laplace noises of scale 1.

    Between the cuts 0 and that where the limit of `Z₂` is 0, it is an integral of exponentials.
    """
    cuts = np.array([start, max(start, 0.0), max(start, -fixed / slope)])
    cuts = np.sort(cuts)
    chance = 0.0
    for k in range(3):
        left, right = cuts[k], math.inf
        if k < 2:
            right = cuts[k + 1]
        if not left < right:
            continue
        inside = left + 1.0 if k == 2 else 0.5 * (left + right)
        side = 1.0 if inside < 0.0 else -1.0
        limit = slope * inside + fixed
        # ∫ e^(±z)/2 F(limit), F(u) = 1 - e^(-u)/2 or e^u/2.
        rate = side + slope
        exponent = side * left + slope * left + fixed
        if limit > 0.0:
            chance += 0.5 * _area(side * left, side, right - left)
            rate, exponent = side - slope, side * left - slope * left - fixed
        part = 0.25 * _area(exponent, rate, right - left)
        chance += -part if limit > 0.0 else part
    return min(max(chance, 0.0), 1.0)


@compiled
def _area(exponent: float, rate: float, length: float) -> float:
    """Return the integral of `e^(exponent + rate z)` over z from 0 to a length."""
    if length == math.inf:
        return math.exp(exponent) / -rate
    turn = rate * length
    if abs(turn) < 1e-5:
        return math.exp(exponent) * length * (1.0 + 0.5 * turn)
    # From the end at which the exponential is larger, so that nothing overflows.
    if turn > 0.0:
        return math.exp(exponent + turn) * -math.expm1(-turn) / rate
    return math.exp(exponent) * math.expm1(turn) / rate
