"""A noisy sum divided by a noisy count, with the noise integrated out.

Given the sum `S` and the number `C` of the records left, the answer is `T = (S + Z₁) / Y` with
`Y = max(C + Z₂, 1)`, clipped to the bounds unless it is the published one. Everything follows from

    E (T - x)⁺ = F₂(1 - C) A(S - x) + ∫₁^∞ A(S - x y) f₂(y - C) dy / y,     A(u) = E (u + Z₁)⁺,

since given `Y = y` the answer exceeds `x` by `(S + Z₁ - x y)⁺ / y`. The expected distance of an
answer that is clipped to `[l, u]` from a truth t between them is

    E (T - t)⁺ - E (T - u)⁺ + E (t - T)⁺ - E (l - T)⁺,

and without clipping the first and the third term. `E (x - T)⁺` is the same with `S, x` negated.

*Laplace noise* has `A(u) = u⁺ + b e^(-|u|/b) / 2`. Between the cuts 1, C and S/x the integrand is a
sum of exponentials over y, so the integral is one of exponential integrals. Their terms are of the
size of x, and where the count is many times its noise the answer is much closer to the truth than
that: there, and for *Gaussian noise*, Gauss-Legendre rules of 16 nodes are used.

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
from omit._numeric import FloatArray, as_array
from omit.mechanisms.noise import Noise

# A count cannot be smaller, and a quotient by less has no finite mean: post-processing, so free.
SMALLEST_COUNT = 1.0

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_EULER_GAMMA = 0.5772156649015329
# The count in units of its noise from which on rules are used instead of exponential integrals.
_MANY = 200.0


@dataclass(frozen=True)
class NoisyQuotient:
    """The noise of the sum and of the count, and the bounds that answers are clipped to.

    Parameters
    ----------
    total : Noise
        Of the sum.
    count : Noise or None
        Of the count; None where the count is public.
    bounds : tuple of float or None
        Of the answers; None where these are not clipped.
    origin : float
        What is subtracted from every value before it is summed, and added to the answer. Bounds and
        truths are given with it, sums without.

    Examples
    --------
    >>> quotient = NoisyQuotient(Noise("laplace", 250.0), Noise("laplace", 2.0), (0.0, 125.0))
    >>> float(quotient.distances(4000.0, 100, 40.0)[()].round(6))
    2.696747
    """

    total: Noise
    count: Noise | None
    bounds: tuple[float, float] | None = None
    origin: float = 0.0

    def distances(
        self, sums: ArrayLike, sizes: ArrayLike, truth: float, fine: bool = True
    ) -> FloatArray:
        """Return the expected distance of the answer from the truth, which is less the origin.

        With `fine`, small distances keep their digits, which takes longer where counts are large;
        otherwise they are sure to 1e-14 of the values only.
        """
        sums, sizes = np.broadcast_arrays(as_array(sums), as_array(sizes))
        lower, upper = self.limits
        nearest = min(max(truth, lower), upper)
        distances = self._excess(sums, sizes, nearest, upper, fine)
        distances += self._excess(-sums, sizes, -nearest, -lower, fine)
        return distances + abs(truth - nearest)

    def above(self, sums: ArrayLike, sizes: ArrayLike, x: float) -> FloatArray:
        """Return the probability that the answer is above `x`, which is less the origin."""
        sums, sizes = np.broadcast_arrays(as_array(sums), as_array(sizes))
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
        """Return one answer for each sum and number of records, with the origin."""
        total = sums + self.total.draw(rng, sums.shape)
        if self.count is not None:
            sizes = sizes + self.count.draw(rng, sums.shape)
        lower, upper = self.limits
        answers = np.clip(total / np.maximum(sizes, SMALLEST_COUNT), lower, upper)
        return as_array(answers + self.origin)

    @property
    def limits(self) -> tuple[float, float]:
        """The bounds of the answers, less the origin."""
        if self.bounds is None:
            return -math.inf, math.inf
        return self.bounds[0] - self.origin, self.bounds[1] - self.origin

    @property
    def _is_gaussian(self) -> bool:
        return self.total.kind == "gaussian"

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
            below_one = _normal_cdf((1.0 - n) / c)
        elif n >= 1.0:
            below_one = 0.5 * math.exp((1.0 - n) / c)
        else:
            below_one = 1.0 - 0.5 * math.exp((n - 1.0) / c)
        atom = 0.0
        if below_one > 0.0:
            atom = below_one * _clipped_hinge(s, x, limit, b, gaussian)
        if gaussian or n > many * c:
            rest = _integral_by_rules(s, n, x, b, c, gaussian, nodes, weights)
            if limit < math.inf:
                rest -= _integral_by_rules(s, n, limit, b, c, gaussian, nodes, weights)
        else:
            rest = _laplace_integral(s, n, x, b, c)
            if limit < math.inf:
                rest -= _laplace_integral(s, n, limit, b, c)
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
    """Return `A(s - x) - A(s - limit)`, without cancellation where s is far above both."""
    straight = min(max(s, x), limit) - x
    curved = _rounding_of_hinge(s - x, b, gaussian)
    if limit < math.inf:
        curved -= _rounding_of_hinge(s - limit, b, gaussian)
    return straight + curved


@compiled
def _rounding_of_hinge(u: float, b: float, gaussian: bool) -> float:
    """Return `E (u + Z)⁺ - u⁺`, which is even in u."""
    z = abs(u) / b
    if gaussian:
        density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        return b * (density - z * _normal_cdf(-z))
    return 0.5 * b * math.exp(-z)


@compiled
def _normal_cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@compiled
def _integral_by_rules(
    s: float,
    n: float,
    x: float,
    b: float,
    c: float,
    gaussian: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> float:
    """Return `∫ A(s - x y) f₂(y - n) dy / y` from 1 on, panel by panel.

    In `v = y - n`, so that no digits are lost where noise is narrow and the count is large.
    """
    reach, widest = (9.0, 3.0) if gaussian else (45.0, 8.0)
    start, end = max(1.0 - n, -reach * c), reach * c
    # Where A bends, and how fast.
    excess, bend = s - x * n, math.inf
    near, kink, far = start, start, start
    if x != 0.0:
        bend, kink = b / abs(x), excess / x
        near, far = kink - reach * bend, kink + reach * bend
    cuts = np.array([start, 0.0, near, kink, far, end])
    cuts = np.sort(np.minimum(np.maximum(cuts, start), end))
    total = 0.0
    for k in range(5):
        left, last = cuts[k], cuts[k + 1]
        middle = 0.5 * (left + last)
        width = c if (middle < near or middle > far) else min(c, bend)
        while left < last:
            # Never wider than the way to the pole at y = 0.
            right = min(left + min(widest * width, n + left), last)
            half = 0.5 * (right - left)
            for i in range(len(nodes)):
                v = left + half * (nodes[i] + 1.0)
                u = excess - x * v
                if gaussian:
                    density = math.exp(-0.5 * (v / c) ** 2) / (c * math.sqrt(2 * math.pi))
                else:
                    density = 0.5 * math.exp(-abs(v) / c) / c
                hinge = max(u, 0.0) + _rounding_of_hinge(u, b, gaussian)
                total += half * weights[i] * density * hinge / (n + v)
            if right <= left:
                break
            left = right
    return total


@compiled
def _laplace_integral(s: float, n: float, x: float, b: float, c: float) -> float:
    """Return `∫ A(s - x y) f₂(y - n) dy / y` from 1 on, by exponential integrals."""
    cuts = np.array([1.0, 1.0, 1.0])
    if n > 1.0:
        cuts[1] = n
    if x != 0.0 and s / x > 1.0:
        cuts[2] = s / x
    cuts = np.sort(cuts)
    total = 0.0
    for k in range(3):
        y1 = cuts[k]
        y2 = cuts[k + 1] if k < 2 else math.inf
        if y2 <= y1:
            continue
        inside = 0.5 * (y1 + y2) if k < 2 else y1 + 1.0
        tau = 1.0 if inside < n else -1.0
        sigma = 1.0 if s > x * inside else -1.0
        d1, d2 = -abs(y1 - n) / c, -abs(y2 - n) / c
        if sigma > 0:
            total += s * _exponential_over_y(tau / c, y1, y2, d1, d2)
            total -= x * tau * c * (math.exp(d2) - math.exp(d1))
        e1 = d1 - abs(s - x * y1) / b
        e2 = d2 - abs(s - x * y2) / b if k < 2 else -math.inf
        total += 0.5 * b * _exponential_over_y(tau / c + sigma * x / b, y1, y2, e1, e2)
    return total / (2.0 * c)


@compiled
def _exponential_over_y(a: float, y1: float, y2: float, e1: float, e2: float) -> float:
    """Return `∫ e^(a y + k) dy / y` from y1 to y2, where the exponent is e1 and e2 at the ends."""
    if a == 0.0:
        return math.exp(e1) * math.log(y2 / y1) if y2 < math.inf else 0.0
    if a > 0.0:
        return math.exp(e2) * _scaled_ei(a * y2) - math.exp(e1) * _scaled_ei(a * y1)
    first = math.exp(e1) * _scaled_e1(-a * y1)
    return first - math.exp(e2) * _scaled_e1(-a * y2) if y2 < math.inf else first


@compiled
def _scaled_ei(x: float) -> float:
    """Return `e^(-x) Ei(x)` for positive x."""
    if x > 45.0:
        # The asymptotic series; its smallest term is below e^(-45).
        term, total = 1.0, 1.0
        for k in range(1, 46):
            term *= k / x
            total += term
            if term < 1e-17:
                break
        return total / x
    term, total = 1.0, 0.0
    for k in range(1, 300):
        term *= x / k
        total += term / k
        if term < 1e-18 * total * k:
            break
    return math.exp(-x) * (_EULER_GAMMA + math.log(x) + total)


@compiled
def _scaled_e1(x: float) -> float:
    """Return `e^x E₁(x)` for positive x."""
    if x < 1.0:
        term, total = 1.0, 0.0
        for k in range(1, 40):
            term *= -x / k
            total += term / k
            if abs(term) < 1e-18:
                break
        return math.exp(x) * (-_EULER_GAMMA - math.log(x) - total)
    # Lentz's continued fraction.
    b = x + 1.0
    d = 1.0 / b
    c = 1e308
    h = d
    for k in range(1, 500):
        a = -1.0 * k * k
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        step = c * d
        h *= step
        if abs(step - 1.0) < 1e-16:
            break
    return h


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
    chance = _normal_cdf((s - x * n) / math.hypot(b, x * c))
    left, last = n - 9.0 * c, min(1.0, n + 9.0 * c)
    width = 3.0 * min(c, b / abs(x)) if x != 0.0 else 3.0 * c
    while left < last:
        right = min(left + width, last)
        half = 0.5 * (right - left)
        for j in range(len(nodes)):
            y = left + half * (nodes[j] + 1.0)
            density = math.exp(-0.5 * ((y - n) / c) ** 2) / (c * math.sqrt(2 * math.pi))
            change = _normal_cdf((s - x) / b) - _normal_cdf((s - x * y) / b)
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
