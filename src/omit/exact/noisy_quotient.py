"""A noisy sum divided by a noisy count, with the noise integrated out.

Given the sum `S` and the number `C` of the records left, the answer is `T = (S + Z₁) / Y` with
`Y = max(C + Z₂, 1)`, clipped to the bounds unless it is the published one. Everything follows from

    E (T - x)⁺ = F₂(1 - C) A(S - x) + ∫₁^∞ A(S - x y) f₂(y - C) dy / y,     A(u) = E (u + Z₁)⁺,

since given `Y = y` the answer exceeds `x` by `(S + Z₁ - x y)⁺ / y`. The expected distance of an
answer that is clipped to `[l, u]` from a truth t between them is

    E (T - t)⁺ - E (T - u)⁺ + E (t - T)⁺ - E (l - T)⁺,

and without clipping the first and the third term. `E (x - T)⁺` is the same with `S, x` negated.

*Laplace noise* has `A(u) = u⁺ + b e^(-|u|/b) / 2`. Between the cuts 1, C and S/x the integrand is a
sum of exponentials over y, so the integral is one of exponential integrals, whose rounding is added
up. Their terms are of the size of x and of the noise, and where the count is many times its noise,
or the noise many times the bounds, the answer is much closer to the truth than that: there, and for
*Gaussian noise*, Gauss-Legendre rules of 16 nodes are used, on differences that do not cancel.

*Their error.* Panels end at the kinks of the integrand, are no wider than 8 scales of Laplace or 3
standard deviations of Gaussian noise, and no wider than the distance of their start from 0. So the
integrand is analytic within the ellipse around a panel whose semi-axes add up to 4 half-widths: the
pole at y = 0 is at least 3 of them from the middle, the ellipse reaches 2.13 along the panel and
1.88 across. There `e^(-z/c)` is at most e^4.6 times its largest value on the panel, `e^(-z²/2)` at
most `e^(1.88² 1.5² / 2)` = e^4 times, and likewise A, in its own argument. A rule of 16 nodes errs
by at most `(64/15) 4^(-32) / (1 - 4^(-2))` times the largest value within the ellipse (Trefethen,
"Approximation Theory and Approximation Practice", 2013, Theorem 19.3), thus by less than 3e-15 of
the largest on the panel. Beyond 45 scales or 9 deviations there is less than 1e-18 of the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from omit._compile import compiled
from omit._numeric import FloatArray, as_array, gauss_legendre
from omit.exact.exponential_integrals import antiderivative
from omit.exact.quotient import SMALLEST_COUNT, Quotient
from omit.laws.noise import Gaussian, LogConcaveNoise

_NODES, _WEIGHTS = gauss_legendre(16)
# The count in units of its noise from which on rules are used instead of exponential integrals.
_MANY = 200.0
# What rounding may do to exponential integrals, relative to the size of values and noise.
_SURE = 3e-15
_EPSILON = 2.0**-53
# Four nodes of Gauss and Legendre on [-1, 1].
_INNER, _OUTER, _INNER_WEIGHT = 0.3399810435848563, 0.8611363115940526, 0.6521451548625461


@dataclass(frozen=True)
class NoisyQuotient(Quotient):
    """The noise of the sum and of the count, and the bounds that answers are clipped to.

    Parameters
    ----------
    total : LogConcaveNoise
        Of the sum: Laplace or Gaussian, or no noise.
    count : LogConcaveNoise or None
        Of the count, of the same law; None where the count is public.
    bounds : tuple of float or None
        Of the answers; None where these are not clipped.
    origin : float
        What is subtracted from every value before it is summed, and added to the answer. Bounds and
        truths are given with it, sums without.

    Examples
    --------
    >>> from omit.laws.noise import Laplace
    >>> quotient = NoisyQuotient(Laplace(250.0), Laplace(2.0), (0.0, 125.0))
    >>> float(quotient.distances(4000.0, 100, 40.0)[()].round(6))
    2.696747
    """

    total: LogConcaveNoise
    count: LogConcaveNoise | None
    bounds: tuple[float, float] | None = None
    origin: float = 0.0

    def distances(
        self, sums: ArrayLike, sizes: ArrayLike, truth: float, fine: bool = True
    ) -> FloatArray:
        """Return the expected distance of the answer from the truth, which is less the origin."""
        sums, sizes = np.broadcast_arrays(as_array(sums), as_array(sizes))
        if self._is_certain:
            return np.abs(self._answers(sums, sizes) - truth)
        lower, upper = self.limits
        nearest = min(max(truth, lower), upper)
        distances = self._excess(sums, sizes, nearest, upper, fine)
        distances += self._excess(-sums, sizes, -nearest, -lower, fine)
        return distances + abs(truth - nearest)

    def above(self, sums: ArrayLike, sizes: ArrayLike, x: float) -> FloatArray:
        """Return the probability that the answer is above `x`, which is less the origin."""
        sums, sizes = np.broadcast_arrays(as_array(sums), as_array(sizes))
        if self._is_certain:
            return np.where(self._answers(sums, sizes) > x, 1.0, 0.0)
        lower, upper = self.limits
        if not lower <= x < upper:
            return np.full(sums.shape, 1.0 if x < lower else 0.0)
        if self.count is None:
            largest = np.maximum(sizes, SMALLEST_COUNT)
            return 1 - self.total.cdf(x * largest - sums)
        return _above(
            sums.ravel(), sizes.ravel(), x, self.total.scale, self.count.scale, self._is_gaussian,
            _NODES, _WEIGHTS,
        ).reshape(sums.shape)  # fmt: skip

    def draw(self, sums: FloatArray, sizes: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return one answer, less the origin, for each sum and number of records."""
        total = sums + self.total.draw(rng, sums.shape)
        if self.count is not None:
            sizes = sizes + self.count.draw(rng, sums.shape)
        return self._answers(total, sizes)

    @property
    def smoothing(self) -> LogConcaveNoise:
        """The noise of the sum, which is independent of the count's."""
        return self.total

    @property
    def by_rules(self) -> bool:
        """Whether noise is Gaussian."""
        return self._is_gaussian

    @property
    def count_scale(self) -> float | None:
        """The scale of the noise of the count."""
        return None if self.count is None else self.count.scale

    @property
    def count_variance(self) -> float:
        """That of the noise of the count."""
        return 0.0 if self.count is None else self.count.variance

    def count_log_moment(self, tilts: FloatArray) -> FloatArray:
        """Return that of the noise of the count."""
        return self._count.log_moment(tilts)

    def count_half_width(self, rarity: float) -> float:
        """Return that of the noise of the count."""
        return self._count.half_width(rarity)

    def scales(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the scales of `Z₁` and `x Z₂`."""
        return np.full_like(x, self.total.scale), np.abs(x) * self._count.scale

    def noise_variance(self, x: float) -> float:
        """Return the variance of `Z₁ - x Z₂`."""
        return self.total.variance + x**2 * self.count_variance

    def log_moment(self, tilts: FloatArray, x: float) -> FloatArray:
        """Return `ln E e^(tilt (Z₁ - x Z₂))`."""
        return self.total.log_moment(tilts) + self._count.log_moment(tilts * abs(x))

    def half_widths(self, x: float, rarity: float) -> tuple[float, float]:
        """Return those of `Z₁` and `x Z₂`."""
        return self.total.half_width(rarity), abs(x) * self._count.half_width(rarity)

    def steady_characteristic(self, frequencies: FloatArray) -> FloatArray:
        """Return that of `Z₁`."""
        return self.total.characteristic(frequencies)

    def characteristic_at(self, frequencies: FloatArray, x: FloatArray) -> FloatArray:
        """Return that of `x Z₂`."""
        return self._count.characteristic(frequencies * x[:, None])

    def least_scales(self, low: float, high: float) -> tuple[float, float]:
        """Return the scales of `Z₁` and of `x Z₂` at the x nearest to 0."""
        return self.total.scale, _nearest_to_zero(low, high) * self._count.scale

    def largest_characteristic(
        self, frequencies: FloatArray, low: float, high: float
    ) -> FloatArray:
        """Return that of `x Z₂` at the x nearest to 0."""
        return self._count.characteristic(frequencies * _nearest_to_zero(low, high))

    @property
    def _count(self) -> LogConcaveNoise:
        assert self.count is not None, "a public count has no noise"
        return self.count

    @property
    def _is_certain(self) -> bool:
        """Whether there is no noise."""
        return self.total.scale == 0 and (self.count is None or self.count.scale == 0)

    @property
    def _is_gaussian(self) -> bool:
        return isinstance(self.total, Gaussian)

    def _excess(
        self, sums: FloatArray, sizes: FloatArray, x: float, limit: float, fine: bool
    ) -> FloatArray:
        """Return the expected excess of the answer over `x`, of answers cut off at the limit."""
        if self.count is None:
            largest = np.maximum(sizes, SMALLEST_COUNT)
            return _known_count_excess(
                sums.ravel(), largest.ravel(), x, limit, self.total.scale, self._is_gaussian
            ).reshape(sums.shape)
        return _excess(
            sums.ravel(), sizes.ravel(), x, limit, self.total.scale, self.count.scale,
            self._is_gaussian, _MANY if fine else math.inf, _NODES, _WEIGHTS,
        ).reshape(sums.shape)  # fmt: skip


def _nearest_to_zero(low: float, high: float) -> float:
    """Return the smallest size of a number in an interval."""
    return min(abs(low), abs(high)) if low * high > 0 else 0.0


@compiled
def _excess(
    sums: FloatArray,
    sizes: FloatArray,
    x: float,
    limit: float,
    b: float,
    c: float,
    gaussian: bool,
    many: float,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return `E (T - x)⁺ - E (T - limit)⁺` for each sum and number of records."""
    result = np.empty(len(sums))
    for i in range(len(sums)):
        s, n = sums[i], sizes[i]
        if gaussian:
            below_one = normal_cdf((1.0 - n) / c)
        elif n >= 1.0:
            below_one = 0.5 * math.exp((1.0 - n) / c)
        else:
            below_one = 1.0 - 0.5 * math.exp((n - 1.0) / c)
        atom = 0.0
        if below_one > 0.0:
            atom = below_one * _clipped_hinge(s, x, limit, b, gaussian)
        rest, error = 0.0, math.inf
        if not gaussian and n <= many * c:
            rest, error = _laplace_integral(s, n, x, b, c)
            if limit < math.inf:
                clipped, more = _laplace_integral(s, n, limit, b, c)
                rest, error = rest - clipped, error + more
        # The terms of exponential integrals may be far larger than what they add up to.
        if not error <= _SURE * (abs(x) + (abs(s) + b) / max(n, 1.0)):
            rest = _integral_by_rules(s, n, x, limit, b, c, gaussian, nodes, weights)
        result[i] = atom + rest
    return result


@compiled
def _known_count_excess(
    sums: FloatArray, sizes: FloatArray, x: float, limit: float, b: float, gaussian: bool
) -> FloatArray:
    """Return the same where the count is public."""
    result = np.empty(len(sums))
    for i in range(len(sums)):
        n = sizes[i]
        result[i] = _clipped_hinge(sums[i], x * n, limit * n, b, gaussian) / n
    return result


@compiled
def _clipped_hinge(s: float, x: float, limit: float, b: float, gaussian: bool) -> float:
    """Return `A(s - x) - A(s - limit)`, without cancellation."""
    return clipped_by(s - x, s - limit, limit - x, b, gaussian)


@compiled
def clipped_by(over: float, over_limit: float, between: float, b: float, gaussian: bool) -> float:
    """Return `A(over) - A(over_limit)`, which are `between` apart, without cancellation."""
    straight = min(max(over, 0.0), between)
    if over_limit == -math.inf:
        return straight + _rounding_of_hinge(over, b, gaussian)
    first = abs(over) / b
    # On one side of both the distance between them has all its digits.
    apart = (abs(over_limit) - abs(over)) / b
    if over > 0.0 and over_limit > 0.0:
        apart = -between / b
    elif over < 0.0 and over_limit < 0.0:
        apart = between / b
    if abs(apart) > 0.1:
        curved = _rounding_of_hinge(over, b, gaussian)
        return straight + curved - _rounding_of_hinge(over_limit, b, gaussian)
    if not gaussian:
        return straight - 0.5 * b * math.exp(-first) * math.expm1(-apart)
    # The integral of the normal tail between the two, by four nodes of Gauss and Legendre.
    middle, half = first + 0.5 * apart, 0.5 * apart
    inner = normal_cdf(-middle - _INNER * half) + normal_cdf(-middle + _INNER * half)
    outer = normal_cdf(-middle - _OUTER * half) + normal_cdf(-middle + _OUTER * half)
    return straight + b * half * (_INNER_WEIGHT * inner + (1.0 - _INNER_WEIGHT) * outer)


@compiled
def _rounding_of_hinge(u: float, b: float, gaussian: bool) -> float:
    """Return `E (u + Z)⁺ - u⁺`, which is even in u."""
    z = abs(u) / b
    if gaussian:
        density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        return b * (density - z * normal_cdf(-z))
    return 0.5 * b * math.exp(-z)


@compiled
def normal_cdf(z: float) -> float:
    """Return the probability of at most z standard deviations."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@compiled
def _integral_by_rules(
    s: float,
    n: float,
    x: float,
    limit: float,
    b: float,
    c: float,
    gaussian: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> float:
    """Return `∫ (A(s - x y) - A(s - limit y)) f₂(y - n) dy / y` from 1 on, panel by panel.

    In `v = y - n`, so that no digits are lost where noise is narrow and the count is large.
    """
    reach, widest = (9.0, 3.0) if gaussian else (45.0, 8.0)
    start, end = max(1.0 - n, -reach * c), reach * c
    # Where A bends, and how fast: for x and for the limit.
    excess, over_limit = s - x * n, s - limit * n
    cuts = np.full(9, start)
    cuts[1], cuts[2] = 0.0, end
    bends, near, far = np.full(2, c), np.full(2, start), np.full(2, start)
    for which in range(2):
        slope, above = (x, excess) if which == 0 else (limit, over_limit)
        if slope != 0.0 and abs(slope) < math.inf:
            bend, kink = b / abs(slope), above / slope
            bends[which] = min(c, bend)
            near[which], far[which] = kink - reach * bend, kink + reach * bend
            cuts[3 + 3 * which] = near[which]
            cuts[4 + 3 * which] = kink
            cuts[5 + 3 * which] = far[which]
    cuts = np.sort(np.minimum(np.maximum(cuts, start), end))
    total = 0.0
    for k in range(8):
        left, last = cuts[k], cuts[k + 1]
        middle, width = 0.5 * (left + last), c
        for which in range(2):
            if near[which] <= middle <= far[which]:
                width = min(width, bends[which])
        while left < last:
            # Never wider than the way to the pole at y = 0.
            right = min(left + min(widest * width, n + left), last)
            half = 0.5 * (right - left)
            for i in range(len(nodes)):
                v = left + half * (nodes[i] + 1.0)
                if gaussian:
                    density = math.exp(-0.5 * (v / c) ** 2) / (c * math.sqrt(2 * math.pi))
                else:
                    density = 0.5 * math.exp(-abs(v) / c) / c
                lost = over_limit - limit * v if limit < math.inf else -math.inf
                hinge = clipped_by(excess - x * v, lost, (limit - x) * (n + v), b, gaussian)
                total += half * weights[i] * density * hinge / (n + v)
            if right <= left:
                break
            left = right
    return total


@compiled
def _laplace_integral(s: float, n: float, x: float, b: float, c: float) -> tuple[float, float]:
    """Return `∫ A(s - x y) f₂(y - n) dy / y` from 1 on, and a bound on what rounding does to it.

    By exponential integrals: between cuts the integrand has an antiderivative.
    """
    cuts = np.array([1.0, 1.0, 1.0])
    if n > 1.0:
        cuts[1] = n
    if x != 0.0 and s / x > 1.0:
        cuts[2] = s / x
    kink = cuts[2]
    cuts = np.sort(cuts)
    if not cuts[2] < math.inf:
        return 0.0, math.inf
    total, error = 0.0, 0.0
    for k in range(3):
        if k < 2 and cuts[k + 1] <= cuts[k]:
            continue
        inside = 0.5 * (cuts[k] + cuts[k + 1]) if k < 2 else 2.0 * cuts[k]
        tau = 1.0 if inside < n else -1.0
        sigma = 1.0 if s > x * inside else -1.0
        a = tau / c + sigma * x / b
        # Rounding moves a, too.
        moved = 4.0
        if a != 0.0:
            moved += (1.0 / c + abs(x) / b) / abs(a)
        for end in range(2):
            if k == 2 and end == 1:
                continue
            y = cuts[k + end]
            straight = curved = straight_size = 0.0
            if sigma > 0:
                straight = s * antiderivative(tau / c, y)
                straight_size = 4.0 * (abs(straight) + abs(x) * c)
                straight -= x * tau * c
            if a != 0.0:
                curved = 0.5 * b * antiderivative(a, y)
            elif end == 1:
                curved = 0.5 * b * math.log(y / cuts[k])
            d = -abs(y - n) / c
            e = d - abs(s - x * y) / b
            in_d = (y if y == kink else abs(y - n)) / c
            in_e = in_d + (abs(s) + abs(x) * y) / b
            first, second = math.exp(d), math.exp(e)
            if y == kink and x != 0.0 and y > 1.0:
                # The two have one factor there, and with it one error.
                second, in_e = first, 0.0
                error += first * in_d * abs(straight + curved)
            else:
                error += first * in_d * abs(straight)
            error += first * straight_size + second * (in_e + moved) * abs(curved)
            total += (first * straight + second * curved) * (1.0 if end else -1.0)
    return total / (2.0 * c), _EPSILON * error / (2.0 * c)


@compiled
def _above(
    sums: FloatArray,
    sizes: FloatArray,
    x: float,
    b: float,
    c: float,
    gaussian: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return `P(T > x)` for each sum and number of records."""
    result = np.empty(len(sums))
    for i in range(len(sums)):
        s, n = sums[i], sizes[i]
        if gaussian:
            result[i] = _gaussian_above(s, n, x, b, c, nodes, weights)
        else:
            result[i] = _laplace_above(s, n, x, b, c)
    return result


@compiled
def _gaussian_above(
    s: float, n: float, x: float, b: float, c: float, nodes: FloatArray, weights: FloatArray
) -> float:
    """Return `P(T > x)`: a normal probability, and what clamping the count changes of it."""
    chance = normal_cdf((s - x * n) / math.hypot(b, x * c))
    left, last = n - 9.0 * c, min(1.0, n + 9.0 * c)
    width = 3.0 * min(c, b / abs(x)) if x != 0.0 else 3.0 * c
    while left < last:
        right = min(left + width, last)
        half = 0.5 * (right - left)
        for j in range(len(nodes)):
            y = left + half * (nodes[j] + 1.0)
            density = math.exp(-0.5 * ((y - n) / c) ** 2) / (c * math.sqrt(2 * math.pi))
            change = normal_cdf((s - x) / b) - normal_cdf((s - x * y) / b)
            chance += half * weights[j] * density * change
        if right <= left:
            break
        left = right
    return min(max(chance, 0.0), 1.0)


@compiled
def _laplace_above(s: float, n: float, x: float, b: float, c: float) -> float:
    """Return `P(T > x)`: exponentials between the cuts 1, C and S/x."""
    chance = _laplace_cdf((1.0 - n) / c) * _laplace_cdf((s - x) / b)
    cuts = np.array([1.0, 1.0, 1.0])
    if n > 1.0:
        cuts[1] = n
    if x != 0.0 and s / x > 1.0:
        cuts[2] = s / x
    cuts = np.sort(cuts)
    for k in range(3):
        y1 = cuts[k]
        y2 = cuts[k + 1] if k < 2 else math.inf
        if y2 <= y1:
            continue
        inside = 0.5 * (y1 + y2) if k < 2 else y1 + 1.0
        sigma = 1.0 if s > x * inside else -1.0
        if sigma > 0:
            upper = _laplace_cdf((y2 - n) / c) if k < 2 else 1.0
            chance += upper - _laplace_cdf((y1 - n) / c)
        slope = (1.0 if inside < n else -1.0) / c + sigma * x / b
        e1 = -abs(y1 - n) / c - abs(s - x * y1) / b
        e2 = -abs(y2 - n) / c - abs(s - x * y2) / b if k < 2 else -math.inf
        if k < 2 and abs(e2 - e1) < 1e-5:
            area = math.exp(e1) * (y2 - y1) * (1.0 + 0.5 * (e2 - e1))
        else:
            area = (math.exp(e2) - math.exp(e1)) / slope
        chance -= 0.25 * sigma * area / c
    return min(max(chance, 0.0), 1.0)


@compiled
def _laplace_cdf(z: float) -> float:
    return 0.5 * math.exp(z) if z < 0.0 else 1.0 - 0.5 * math.exp(-z)
