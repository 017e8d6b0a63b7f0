"""The variance from three noisy sums or two, with the noise integrated out.

Values are shares of the bounds, `x` in [0, 1], and so are variances, in [0, 1/4].

*Three sums.* `B₀, B₁, B₂` are the sums of `(1-x)²`, `2x(1-x)` and `x²` with noises `b z₀, b z₁, b
z₂`. With `N = B₀ + B₁ + B₂`, `M = B₁/2 + B₂` and `Q = B₂` the answer is `V = (Q - M²/N) / N`,
clipped: linear in Q. In the same way let `n = z₀ + z₁ + z₂`, `m = z₁/2 + z₂` and `q = z₂`; the
Jacobian is 2. Given n and m, the answer is above c where q is above `y_c = (c N + M²/N - a₂)/b`,
with `a₂` the sum without noise, so that the expected distance is made of integrals over the tails
of q.

- *Laplace:* the density is `e^-(|q| + 2|q - m| + |q - 2m + n|) / 4`, exponentials between 0, m and
  `2m - n`, and the integrals are exponentials, too.
- *Gaussian:* `z = (n/3)(1, 1, 1) + d (-1, 0, 1) + e (1, -2, 1)` has independent n, d and e with the
  variances 3, 1/2 and 1/6, so that `q = n/3 + d + e` is normal, given n and d.

*Where this holds.* N must be large beside the noise: with `r = b/N₀`, N₀ the number of records, `r
≤ 1/150`, or 1/40 if noise is Gaussian. Let `L = |z₀| + |z₁| + |z₂|`, which is `|n|` and `|m|` at
least. More than 40 has a probability of 4e-15 for Laplace noise, and 8.5 deviations 1e-16 for
Gaussian. Within that `N ≥ (1 - rL) N₀ ≥ 0.7 N₀`, so nothing is clamped.

*Gaussian noise, the error.* Both integrals have panels of 16 Gauss-Legendre nodes, no wider than 1
in d and 2 in n. `y_c`, in deviations of e, has slopes of at most 3.5 and 2 there; within the
ellipse of the panel whose semi-axes add up to 4 half-widths the imaginary part of `y_c` is at most
3.8, so normal tails are at most e^8 times what they are on the panel, and densities e^2 times. The
rules err by less than 1e-13 of the result (`noisy_quotient`).

*Laplace noise, the integral over m* ends panels at the kinks: m = 0, n/2, n, and where a `y_c` is
one of the breakpoints, which are nine quadratic equations. Between them exponents have slopes of at
most `6 + 12 · 2rL/(1 - rL)` in m, times polynomials of degree 3. With 12 nodes, panels no wider
than 2 err by at most `4.6 · 4^-24 · 10 e^(1.13 · slope)` of the largest value there, which falls
like e^-L: by less than 1e-8 of the result.

*The integral over n* has no such panels, since pairs of kinks begin and end. It is a midpoint rule,
which errs by at most `h²/8 ∫|I''|` over a cell, however `I''` is concentrated there. In shares `p =
B/N` the answer does not depend on N: `I(n) = ∫ D(p) ρ(N, p) dp`, with `ρ = N² f(N p - a)` and f the
density of the noise. So `∫|I''|` is at most the mean of D times `∫|ρ''|/ρ`. Along a ray p, ρ is `N²
e^-φ` with a convex φ that is linear between kinks, `|φ'| ≤ Σ|p_i|/b`:

    |ρ''| ≤ (2/N² + 4 |φ'|/N + φ'²) ρ,   and a kink at `B_i = a_i` adds `2 |p_i|/b ρ`.

As `N² dp = |p_i| dB_j dB_k` on the plane `B_i = a_i`, the second is a mean, too. In units of b,

    ∫|I''| ≤ E[D (2r²/u² + 4r s/u + s²)] + Σ_i E[D p_i² | z_i = 0],    u = N/N₀ ≥ 1 - rL,
    s = Σ|p_i| ≤ (1 + rL)/(1 - rL),    |p_i| ≤ (a_i/N₀)/(1 - rL)  where z_i = 0.

D is at most what it is without noise and L times the largest derivative of the answer: with g the
largest `|∂V/∂p_i|` without noise, `|p - a/N₀| ≤ 2rL/(1 - rL)` and `|V| ≤ s²/4`,

    |V - V₀| ≤ rL/(1 - rL) · min(s + s²/2, g + 2rL/(1 - rL) + 2rL (s + s²/2)/(1 - rL)).

L has the density `L² e^-L / 2`, or `L e^-L` where one noise is 0, and cells with `|n| ≥ k` only
have noise with `L ≥ k`. So cells are chosen, and their errors added up, before anything is
computed.

*Two sums*, n public: the sums of `y = x - ½` and of y² with noises `b₁ z₁` and `b₂ z₂`. The answer
`S₂/n - (S₁/n)²` is linear in `z₂`, and above c where `z₂` is above `y_c = (c n + S₁²/n - s₂)/b₂`.
What remains is an integral over `z₁` with kinks at 0 and where a `y_c` is 0. Panels of 16 nodes are
so narrow that `y_c` has a slope of at most 4 and a second derivative of at most 1 in their width:
within the ellipse around a panel nothing is more than e^12 times as large, and the rules err by
less than 1e-12. Where all `y_c` are farther than 45 from 0, tails are less than e^-45 and what
remains is the density times a polynomial of degree 4 at most, so that panels may have the width 2
however wide the noise is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, as_array, gauss_legendre
from omit.errors import NotExact
from omit.exact.noisy_quotient import normal_cdf

_NODES, _WEIGHTS = gauss_legendre(16)
_FEWER, _FEWER_WEIGHTS = gauss_legendre(12)
LARGEST_VARIANCE = 0.25
"""Of values that are shares of their bounds: that of Bernoulli's law with chance 1/2."""
# How much noise there may be beside the records.
_NARROW = {False: 1 / 150, True: 1 / 40}
_REACH, _GAUSSIAN_REACH = 40.0, 8.5
# What rules, rounding and noise beyond reach can do, relative to the error.
_RULES = 1e-8
# How wide shells of n are that have cells of the same size.
_SHELL = 2.0
# The least relative precision that counts as exact, and how often cells are made smaller for it.
_COARSEST = 1e-6
_ATTEMPTS = 4
# Beyond, tails of the noise of the second of two sums are nothing.
_NO_TAIL = 45.0
# How wide the noise of the first of two sums may be beside the number of records: the square of
# this many roundings is lost.
_WIDEST = 30.0
_DEVIATION_OF_E = math.sqrt(1 / 6)
_MOST_CELLS = 200_000
# So far beyond the last kink there is less than e^-40 of the density there.
_FAR = 10.0


@dataclass(frozen=True)
class VarianceError:
    """The expected distance, or its square, of a noisy variance from the truth."""

    expected: float
    precision: float


def three_sums_error(
    sums: FloatArray, scale: float, truth: float, *, gaussian: bool, squared: bool
) -> VarianceError:
    """Return the error of the variance from three noisy sums.

    Parameters
    ----------
    sums : array of three
        Of `(1-x)²`, `2x(1-x)` and `x²`.
    scale : float
        Of the noise of every sum.
    truth : float
        What answers are compared with, as a share of the squared width of the bounds.
    gaussian : bool
        Whether the noise is Gaussian; otherwise it is Laplace noise.
    squared : bool
        Whether squares of distances are averaged.

    Raises
    ------
    NotExact
        If the noise is too wide beside the number of records.

    Examples
    --------
    >>> sums = np.array([400.0, 200.0, 400.0])
    >>> error = three_sums_error(sums, 2.0, 0.15, gaussian=True, squared=True)
    >>> f"{error.expected:.6e}"
    '7.200322e-07'
    """
    records = float(sums.sum())
    if not scale <= _NARROW[gaussian] * records:
        raise NotExact("the noise is too wide beside the number of records for an integral over it")
    if gaussian:
        reach = _GAUSSIAN_REACH * math.sqrt(3)
        edges = np.linspace(-reach, reach, 2 * math.ceil(reach / 2) + 1)
        half = 0.5 * (edges[1] - edges[0])
        points = as_array(((edges[:-1] + half)[:, None] + half * _NODES).ravel())
        weights = np.tile(half * _WEIGHTS, len(edges) - 1)
        value = _integral(points, weights, sums, scale, truth, True, squared)
        return VarianceError(value, _RULES * value)
    allowed = 0.5 * _COARSEST * _typical(sums, scale, truth) ** (2 if squared else 1)
    for _ in range(_ATTEMPTS):
        cells = _cells(sums, scale, truth, squared, allowed)
        value = _integral(cells.middles, cells.widths, sums, scale, truth, False, squared)
        precision = cells.missed + _RULES * value
        if precision <= _COARSEST * value:
            return VarianceError(value, precision)
        allowed = min(0.5 * allowed, 0.5 * _COARSEST * value)
    raise NotExact("the integral over the noise is not sure enough")


def two_sums_errors(
    sums: FloatArray,
    size: int,
    scales: tuple[float, float],
    truth: float,
    *,
    gaussian: bool,
    squared: bool,
) -> FloatArray | None:
    """Return the error of the variance from noisy sums of `y` and `y²`, for each row of sums.

    To 1e-10 of it; None if the noise is too wide beside this number of records.

    Parameters
    ----------
    sums : array of rows of two
        Of `y = x - 1/2` and of its square.
    size : int
        How many records these are sums of, which is public.
    scales : tuple of float
        Of the noises of the two sums.
    truth, gaussian, squared
        As for `three_sums_error`.

    Examples
    --------
    >>> sums = np.array([[0.0, 200.0]])
    >>> errors = two_sums_errors(sums, 1000, (2.0, 1.0), 0.2, gaussian=False, squared=True)
    >>> f"{errors[0]:.6e}"
    '2.000384e-06'
    """
    if not scales[0] <= _WIDEST * size:
        return None
    nearest = min(max(truth, 0.0), LARGEST_VARIANCE)
    reach = _GAUSSIAN_REACH if gaussian else _REACH
    inner = _given_size(
        sums, float(size), *scales, nearest, gaussian, squared, reach, _NODES, _WEIGHTS
    )
    return _from_beyond(inner[0], inner[1], truth - nearest, squared)


def _integral(
    points: FloatArray,
    weights: FloatArray,
    sums: FloatArray,
    scale: float,
    truth: float,
    gaussian: bool,
    squared: bool,
) -> float:
    """Return the expected error by a rule for n."""
    nearest = min(max(truth, 0.0), LARGEST_VARIANCE)
    rule = (_NODES, _WEIGHTS) if gaussian else (_FEWER, _FEWER_WEIGHTS)
    inner = _given_count(points, sums, scale, nearest, gaussian, squared, *rule) @ weights
    return float(_from_beyond(inner[:1], inner[1:], truth - nearest, squared)[0])


def _from_beyond(
    errors: FloatArray, distances: FloatArray, away: float, squared: bool
) -> FloatArray:
    """Return errors for a truth that is away from the nearest possible variance.

    That is an end, so all answers are on the same side of it.
    """
    if away == 0:
        return errors
    if squared:
        return as_array(errors + 2 * abs(away) * distances + away**2)
    return as_array(errors + abs(away))


@dataclass(frozen=True)
class _Cells:
    """Middles and widths of cells of n, and a bound on what the midpoint rule errs by."""

    middles: FloatArray
    widths: FloatArray
    missed: float


def _typical(sums: FloatArray, scale: float, truth: float) -> float:
    """Return about how large the distance from the truth is."""
    shares = sums / sums.sum()
    return max(abs(_variance(shares) - truth), scale / float(sums.sum()) * _slope(shares))


def _cells(sums: FloatArray, scale: float, truth: float, squared: bool, allowed: float) -> _Cells:
    """Return cells whose errors add up to about what is allowed."""
    shells = np.arange(0.0, _REACH, _SHELL)
    curvature = _curvature_beyond(shells, sums, scale, truth, squared)
    # Fewest cells with errors `h² curvature/8` that add up to what is allowed.
    widths = curvature ** (-1 / 3)
    widths *= math.sqrt(8 * allowed / float((widths**2 * curvature).sum()))
    numbers = np.maximum(np.ceil(_SHELL / widths), 1)
    if not numbers.sum() <= _MOST_CELLS:
        raise NotExact("the integral over the noise would take too long")
    widths = _SHELL / numbers
    missed = float((widths**2 * curvature / 8).sum())
    middles = np.concatenate(
        [
            start + width * (np.arange(number) + 0.5)
            for start, width, number in zip(shells, widths, numbers.astype(int), strict=True)
        ]
    )
    lengths = np.repeat(widths, numbers.astype(int))
    return _Cells(np.concatenate([-middles, middles]), np.concatenate([lengths, lengths]), missed)


def _variance(shares: FloatArray) -> float:
    return float(shares[0] * shares[2] - shares[1] ** 2 / 4)


def _slope(shares: FloatArray) -> float:
    """Return the largest derivative of the variance by one of the sums, times their total."""
    variance = _variance(shares)
    return max(abs(float(slope) - 2 * variance) for slope in (shares[2], -shares[1] / 2, shares[0]))


def _curvature_beyond(
    starts: FloatArray, sums: FloatArray, scale: float, truth: float, squared: bool
) -> FloatArray:
    """Return bounds on `∫|I''|` over all n that are a start or more away from 0."""
    step = 1e-3
    total = step * (np.arange(round(_REACH / step)) + 1.0)  # L, at the end of every step
    part = scale / sums.sum() * total
    room = 1 - part
    size = (1 + part) / room
    steepest = size + size**2 / 2
    shares = sums / sums.sum()
    slope = np.minimum(steepest, _slope(shares) + 2 * part / room + 2 * part * steepest / room)
    variance = min(max(_variance(shares), 0.0), LARGEST_VARIANCE)
    farthest = max(truth, LARGEST_VARIANCE, LARGEST_VARIANCE - truth)
    distance = np.minimum(abs(variance - truth) + part / room * slope, farthest)
    if squared:
        distance = distance**2
    ratio = scale / sums.sum()
    smooth = distance * (2 * ratio**2 / room**2 + 4 * ratio * size / room + size**2)
    kinks = distance * float((shares**2).sum()) / room**2
    # What is averaged grows, so its value at the end of a step bounds it; densities are largest
    # within a step at its beginning but for powers of L.
    densities = np.exp(-(total - step))
    terms = step * densities * (smooth * total**2 / 2 + kinks * total)
    beyond = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
    return as_array(beyond[np.round(starts / step).astype(np.int64)])


@compiled
def _given_count(
    points: FloatArray,
    sums: FloatArray,
    scale: float,
    truth: float,
    gaussian: bool,
    squared: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return the density of every n times the expected error, and times the expected distance."""
    result = np.zeros((2, len(points)))
    records = sums[0] + sums[1] + sums[2]
    middle = 0.5 * sums[1] + sums[2]
    cuts = np.empty(26)
    for i in range(len(points)):
        n = points[i]
        number = records + scale * n
        if gaussian:
            start, end, widest = -6.1, 6.1, 1.0
            cuts[:] = start
            cuts[25] = end
        else:
            start, end, widest = 0.5 * (n - 40.0), 0.5 * (n + 40.0), 2.0
            _kinks(cuts, n, number, middle, sums, scale, truth)
            cuts[24], cuts[25] = start, end
            for k in range(26):
                cuts[k] = min(max(cuts[k], start), end)
            cuts.sort()
        for k in range(25):
            left, last = cuts[k], cuts[k + 1]
            while left < last:
                right = min(left + widest, last)
                half = 0.5 * (right - left)
                if not half > 1e-13:
                    break
                for j in range(len(nodes)):
                    m = left + half * (nodes[j] + 1.0)
                    if gaussian:
                        error, distance = _by_normal(
                            n, m, number, middle, sums, scale, truth, squared
                        )
                    else:
                        error, distance = _by_tails(
                            n, m, number, middle, sums, scale, truth, squared
                        )
                    result[0, i] += half * weights[j] * error
                    result[1, i] += half * weights[j] * distance
                left = right
    return result


@compiled
def _kinks(
    cuts: FloatArray,
    n: float,
    number: float,
    middle: float,
    sums: FloatArray,
    scale: float,
    truth: float,
) -> None:
    """Set cuts to the m where breakpoints of the density and of the answer meet."""
    cuts[:] = 0.0
    cuts[1], cuts[2] = 0.5 * n, n
    position = 3
    for which in range(3):
        limit = (0.0, truth, 0.25)[which]
        for kind in range(3):
            # cN + M²/N = a₂ + b q with q = 0, m or 2m - n: M² + linear M + fixed = 0.
            linear, fixed = 0.0, number * (limit * number - sums[2])
            if kind == 1:
                linear, fixed = -number, number * (limit * number - sums[2] + middle)
            elif kind == 2:
                linear = -2.0 * number
                fixed = number * (limit * number - sums[2] + 2.0 * middle + scale * n)
            root = 0.25 * linear * linear - fixed
            if root > 0.0:
                root = math.sqrt(root)
                cuts[position] = (-0.5 * linear - root - middle) / scale
                cuts[position + 1] = (-0.5 * linear + root - middle) / scale
            position += 2


@compiled
def _by_tails(
    n: float,
    m: float,
    number: float,
    middle: float,
    sums: FloatArray,
    scale: float,
    truth: float,
    squared: bool,
) -> tuple[float, float]:
    """Return the expected error and distance times the density of n and m, of Laplace noise."""
    total = middle + scale * m
    bend = total * total / number - sums[2]
    at_truth = (truth * number + bend) / scale
    highest = (0.25 * number + bend) / scale
    lowest = bend / scale
    up_1, up_2 = _tail_between(at_truth, highest, m, n)
    down_1, down_2 = _tail_between(-at_truth, -lowest, -m, -n)
    unit = scale / number
    distance = unit * (up_1 + down_1)
    if squared:
        return 2.0 * unit * unit * (up_2 + down_2), distance
    return distance, distance


@compiled
def _tail_between(y: float, end: float, m: float, n: float) -> tuple[float, float]:
    """Return the integrals over x from y to an end of `P(q > x)` and of `(x - y) P(q > x)`."""
    if not y < end:
        return 0.0, 0.0
    first, second = _tails(y, m, n)
    if end > max(max(0.0, m), 2.0 * m - n) + _FAR:
        return first, second
    last, beyond = _tails(end, m, n)
    return first - last, second - beyond - (end - y) * last


@compiled
def _tails(y: float, m: float, n: float) -> tuple[float, float]:
    """Return the integrals of `(q - y)⁺` and of half of its square."""
    k = 2.0 * m - n
    low, high = min(min(0.0, m), k), max(max(0.0, m), k)
    inside = m + k - low - high
    right = max(y, high)
    w = 0.25 * math.exp(-(abs(right) + 2.0 * abs(right - m) + abs(right - k)))
    area, moment, square = w / 4.0, w / 16.0, w / 64.0
    for part in range(3):
        left = max(y, (inside, low, y)[part])
        width = right - left
        if not width > 0.0:
            continue
        other = 0.25 * math.exp(-(abs(left) + 2.0 * abs(left - m) + abs(left - k)))
        center = 0.5 * (left + right)
        slope = -(1.0 if center > 0.0 else -1.0) - (1.0 if center > k else -1.0)
        slope -= 2.0 if center > m else -2.0
        square += width * moment + 0.5 * width * width * area
        moment += width * area
        if slope == 0.0:
            area += width * w
            moment += 0.5 * width * width * w
            square += width**3 / 6.0 * w
        else:
            own = (w - other) / slope
            own_moment = (width * w - own) / slope
            area += own
            moment += own_moment
            square += (0.5 * width * width * w - own_moment) / slope
        right, w = left, other
    return moment, square


@compiled
def _by_normal(
    n: float,
    d: float,
    number: float,
    middle: float,
    sums: FloatArray,
    scale: float,
    truth: float,
    squared: bool,
) -> tuple[float, float]:
    """Return the expected error and distance times the density of n and d, of Gaussian noise."""
    total = middle + scale * (0.5 * n + d)
    bend = total * total / number - sums[2] - scale * (n / 3.0 + d)
    unit = scale * _DEVIATION_OF_E
    at_truth = (truth * number + bend) / unit
    up_1, up_2 = _normal_between(at_truth, (0.25 * number + bend) / unit)
    down_1, down_2 = _normal_between(-at_truth, -bend / unit)
    density = math.exp(-n * n / 6.0 - d * d) / math.sqrt(6.0 * math.pi * math.pi)
    unit /= number
    distance = density * unit * (up_1 + down_1)
    if squared:
        return 2.0 * density * unit * unit * (up_2 + down_2), distance
    return distance, distance


@compiled
def _normal_between(y: float, end: float) -> tuple[float, float]:
    """Return the integrals over x from y to an end of a normal tail, and of `(x - y)` times it."""
    if not y < end:
        return 0.0, 0.0
    if end < 0.0:  # not as a difference of what is large
        width = end - y
        short, first = _normal_between(-end, -y)
        return width - short, 0.5 * width * width - width * short + first
    first, second = _normal_tails(y)
    last, beyond = _normal_tails(end)
    return first - last, second - beyond - (end - y) * last


@compiled
def _normal_tails(y: float) -> tuple[float, float]:
    """Return the means of `(Z - y)⁺` and of half of its square."""
    tail, density = normal_cdf(-y), math.exp(-0.5 * y * y) / math.sqrt(2.0 * math.pi)
    return density - y * tail, 0.5 * ((1.0 + y * y) * tail - y * density)


@compiled
def _given_size(
    sums: FloatArray,
    size: float,
    scale: float,
    square_scale: float,
    truth: float,
    gaussian: bool,
    squared: bool,
    reach: float,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return the expected error and the expected distance for each row of two sums."""
    result = np.zeros((2, len(sums)))
    bend = 2.0 * scale * scale / (size * square_scale)
    cuts = np.empty(21)
    for i in range(len(sums)):
        cuts[:] = 0.0
        cuts[0], cuts[1] = -reach, reach
        for which in range(9):
            level = (which % 3 - 1) * _NO_TAIL * square_scale
            root = size * (sums[i, 1] + level - (0.0, truth, 0.25)[which // 3] * size)
            if root > 0.0:
                cuts[3 + 2 * which] = (-math.sqrt(root) - sums[i, 0]) / scale
                cuts[4 + 2 * which] = (math.sqrt(root) - sums[i, 0]) / scale
        for k in range(21):
            cuts[k] = min(max(cuts[k], -reach), reach)
        cuts.sort()
        for k in range(20):
            left, last = cuts[k], cuts[k + 1]
            first = sums[i, 0] + 0.5 * scale * (left + last)
            nearest = math.inf
            for limit in (0.0, truth, 0.25):
                y = (limit * size + first * first / size - sums[i, 1]) / square_scale
                nearest = min(nearest, abs(y))
            while left < last:
                # The slope is linear in z, so it is largest at an end.
                slope = abs(bend * (sums[i, 0] / scale + left)) + 2.0 * bend
                width = 2.0
                if nearest < _NO_TAIL:
                    width = min(2.0, 4.0 / max(slope, 1e-9), 1.0 / math.sqrt(bend))
                right = min(left + width, last)
                half = 0.5 * (right - left)
                if not half > 1e-13:
                    break
                for j in range(len(nodes)):
                    z = left + half * (nodes[j] + 1.0)
                    error, distance = _given_first(
                        sums[i, 0] + scale * z, sums[i, 1], size, square_scale, truth,
                        gaussian, squared,
                    )  # fmt: skip
                    density = 0.5 * math.exp(-abs(z))
                    if gaussian:
                        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
                    result[0, i] += half * weights[j] * density * error
                    result[1, i] += half * weights[j] * density * distance
                left = right
    return result


@compiled
def _given_first(
    first: float,
    second: float,
    size: float,
    scale: float,
    truth: float,
    gaussian: bool,
    squared: bool,
) -> tuple[float, float]:
    """Return the expected error and distance over the noise of the second sum, given the first."""
    bend = first * first / size - second
    at_truth = (truth * size + bend) / scale
    highest, lowest = (0.25 * size + bend) / scale, bend / scale
    if gaussian:
        up_1, up_2 = _normal_between(at_truth, highest)
        down_1, down_2 = _normal_between(-at_truth, -lowest)
    else:
        up_1, up_2 = _laplace_between(at_truth, highest)
        down_1, down_2 = _laplace_between(-at_truth, -lowest)
    unit = scale / size
    distance = unit * (up_1 + down_1)
    if squared:
        return 2.0 * unit * unit * (up_2 + down_2), distance
    return distance, distance


@compiled
def _laplace_between(y: float, end: float) -> tuple[float, float]:
    """Return the integrals over x from y to an end of a Laplace tail, and of `(x - y)` times it."""
    if not y < end:
        return 0.0, 0.0
    if end < 0.0:  # not as a difference of what is large
        width = end - y
        short, first = _laplace_between(-end, -y)
        return width - short, 0.5 * width * width - width * short + first
    first, second = _laplace_tails(y)
    last, beyond = _laplace_tails(end)
    return first - last, second - beyond - (end - y) * last


@compiled
def _laplace_tails(y: float) -> tuple[float, float]:
    """Return the means of `(Z - y)⁺` and of half of its square."""
    tail = 0.5 * math.exp(-abs(y))
    if y >= 0.0:
        return tail, tail
    return tail - y, 1.0 + 0.5 * y * y - tail
