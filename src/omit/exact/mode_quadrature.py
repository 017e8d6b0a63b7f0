r"""Where to evaluate the integral of the mode, with a proven bound on what is missed.

The integrand is the density of one noisy count times the distribution functions of all others,

    g(x) = f_w(x) Π_v F_v(x),   F_v(x) = Σ_j p_j F(x - j),   p_j = P(B_v = j),

with the distribution function `F` of the noise. How well a rule integrates it depends on how large
`g` becomes for complex arguments. The number of values and their counts would seem to matter, but
for every noise there is a region in which `|F(z)| <= 1` (nearly so for Gaussian noise). There all
mixtures `F_v` and all products of them are at most 1, too, and only the density counts.

Below, the scale of the noise is 1, and `z = x + iy`.

*Gumbel*, `|y| < π/2`: `|F(z)| = exp(-e^-x cos y) <= 1`, and
`∫ |f(x + iy)| dx = ∫ e^(-u cos y) du = 1/cos y`.

*Gaussian*: `∫ |f(x + iy)| dx = e^(y²/2)`, and with the upper tail `T = 1 - F`

    \|F(x + iy)\| <= 1 + κ(y),   κ(y) = e^(y²/2) T(3/(2y)),   0 < y <= 0.85.

Proof. `|T(x + iy)| <= e^(y²/2) T(x)`, which is the claim for `x >= X = 3/(2y)`. Up to `X` the
modulus of `F(x + iy)` increases with `x`: since `f(t + iy) = f(t) e^(y²/2) e^(-ity)`, half the
derivative of its square is `e^(y²) f(x) J`, with `J = ∫_{-∞}^x f(t) cos((x - t) y) dt`. For
`x <= 0` this is, but for a positive factor, the cosine transform of `e^(-s²/2) e^(-|x| s)`, a
product of two functions with positive transforms. For `x > 0`, `J >= e^(-y²/2) cos(xy) - T(x)`;
times `e^(y²/2)` this is a concave function of `x` on `[0, X]`, which is positive at both ends:
`1 > e^(y²/2)/2`, and `cos(3/2) > e^(y²/2) T(3/(2y))` for the largest `y`, so for all. ∎

For these two the trapezoidal rule of step `h` on the whole line is off by at most
`2M/(e^(2πy/h) - 1)` if `∫ |g| dx <= M` along all lines in the strip of half-width `y` (Trefethen
and Weideman 2014, Theorem 5.1); the bounds above increase with `y`.

*Exponential and Laplace*: the noise has kinks, which the counts move to whole numbers. In a cell
`[0, τ]` between two of them (a whole number of steps, measured in scales),

    exponential:  F_v(z) = Σ_{j behind} p_j (1 - r_j e^-z),
    Laplace:      F_v(z) = Σ_{j behind} p_j (1 - r_j e^-z / 2) + Σ_{j ahead} p_j r_j e^(z-τ) / 2

with `r_j <= 1` continue analytically, and `|1 - w| <= 1` where `|w|² <= 2 Re w`. So `|F_v(z)| <= 1`
where `e^-x <= 2 cos y`; for Laplace noise, where `e^-x <= 4 cos y` and `e^(x-τ) <= 2`. Elsewhere
`|F_v(z)|` is at most `1 + e^-x` or, if `e^(x-τ) <= 2`, `1 + e^-x / 2`: good enough far from the
kink. The density is at most `e^-x behind`, or half of `e^-x behind + e^(x-τ) ahead`, with the
sums `behind` and `ahead` of `p_j r_j`, which add up to at most `1/(1 - e^-τ)` over all cells. N
nodes of Gauss and Legendre on a panel of half-width `δ` are off by at most

    8 δ M ρ^(-2N) / (1 - 1/ρ)

if `|g| <= M` in the ellipse with foci at the ends of the panel and half-axes `δ (ρ ± 1/ρ)/2`:
Chebyshev coefficients of `g` are at most `2Mρ^-k`, so a polynomial of degree `2N - 1`, which the
rule integrates exactly, is within `2Mρ^(1-2N)/(ρ - 1)` of `g`, and the integral and the rule each
multiply this by at most `2δ`.

L. N. Trefethen, J. A. C. Weideman. The exponentially convergent trapezoidal rule. SIAM Review 56,
2014.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from omit._numeric import FloatArray, panel
from omit.laws.noise import Noise

# What a rule may miss.
_MISSED = 1e-13
# Rules are made for so many panels at most without missing more.
_PANELS = 16
# A panel with so few nodes is not worth dividing, and none is divided more often than that.
_FEW_NODES, _DIVISIONS = 12, 8
_ELLIPSES = np.geomspace(1.05, 1e6, 300)
_GAUSSIAN_STRIPS = np.linspace(0.05, 0.85, 81)
_GUMBEL_STRIPS = np.linspace(0.05, 0.499, 90) * np.pi


@dataclass(frozen=True)
class Trapezoids:
    """A trapezoidal rule: `per_unit` nodes in every unit, or one every `units` units."""

    per_unit: int
    units: int
    error: float

    @property
    def step(self) -> float:
        """The distance of two nodes."""
        return self.units / self.per_unit


@dataclass(frozen=True)
class CellRule:
    """Nodes in a cell, measured in scales from its beginning, weights, and what all cells miss."""

    nodes: FloatArray
    weights: FloatArray
    error: float


@lru_cache(maxsize=256)
def trapezoids(noise: Noise, factors: int, densities: int) -> Trapezoids:
    """Return a trapezoidal rule on the whole numbers and between them, for smooth noise.

    Parameters
    ----------
    noise : Noise
        Gaussian or Gumbel.
    factors : int
        How many distribution functions are multiplied.
    densities : int
        How many such products, each with a density, are added.

    Examples
    --------
    >>> from omit.laws.noise import Gumbel
    >>> trapezoids(Gumbel(8.0), factors=100, densities=1).step
    2.0
    """
    strips, logarithms = _strips(noise, factors)
    logarithms = logarithms + math.log(2 * densities)
    step = float((2 * math.pi * strips / np.logaddexp(0.0, logarithms - math.log(_MISSED))).max())
    per_unit, units = (1, math.floor(step)) if step >= 1 else (math.ceil(1 / step), 1)
    waves = 2 * math.pi * strips * per_unit / units
    error = math.exp(float((logarithms - waves - np.log(-np.expm1(-waves))).min()))
    return Trapezoids(per_unit, units, error)


def _strips(noise: Noise, factors: int) -> tuple[FloatArray, FloatArray]:
    """Return half-widths of strips, and bounds of log ∫ |product| along their edges."""
    if not noise.is_symmetric:
        return _GUMBEL_STRIPS * noise.scale, -np.log(np.cos(_GUMBEL_STRIPS))
    from scipy.special import ndtr

    growth = _GAUSSIAN_STRIPS**2 / 2
    excess = np.exp(growth) * ndtr(-1.5 / _GAUSSIAN_STRIPS)
    return _GAUSSIAN_STRIPS * noise.scale, growth + factors * np.log1p(excess)


@lru_cache(maxsize=256)
def cell_rule(two_sided: bool, length: float, factors: int, densities: int) -> CellRule:
    """Return Gauss-Legendre panels for a cell without kinks.

    Parameters
    ----------
    two_sided : bool
        Laplace noise; else it is exponential.
    length : float
        Of the cell, in scales of the noise.
    factors, densities : int
        As in `trapezoids`.

    Examples
    --------
    >>> len(cell_rule(True, 0.25, factors=100, densities=1).nodes)
    7
    """
    # What is farther from a kink than this is left out.
    outside = densities / -math.expm1(-length)
    reach = math.log(outside / _MISSED * _PANELS)
    if length <= (2 if two_sided else 1) * reach:
        parts, left_out = [(0.0, length)], 0.0
    else:
        parts = [(0.0, reach), (length - reach, length)][: 1 + two_sided]
        left_out = outside * math.exp(-reach)
    panels = [
        part
        for low, high in parts
        for part in _panels(low, high, two_sided, length, factors, densities, _DIVISIONS)
    ]
    nodes, weights = [], []
    for low, high, number, _ in panels:
        points, shares = panel(low, high, number)
        nodes.append(points)
        weights.append(shares)
    error = left_out + math.fsum(part[3] for part in panels)
    return CellRule(np.concatenate(nodes), np.concatenate(weights), error)


def _panels(
    low: float,
    high: float,
    two_sided: bool,
    length: float,
    factors: int,
    densities: int,
    divisions: int,
) -> list[tuple[float, float, int, float]]:
    """Return panels between `low` and `high` with numbers of nodes and errors; few nodes in all."""
    number, error = _nodes_needed(low, high, two_sided, length, factors, densities)
    if divisions == 0 or number <= _FEW_NODES:
        return [(low, high, number, error)]
    middle = (low + high) / 2
    halves = [
        panel
        for part in ((low, middle), (middle, high))
        for panel in _panels(*part, two_sided, length, factors, densities, divisions - 1)
    ]
    return halves if sum(panel[2] for panel in halves) < number else [(low, high, number, error)]


def _nodes_needed(
    low: float, high: float, two_sided: bool, length: float, factors: int, densities: int
) -> tuple[int, float]:
    """Return how many nodes a panel needs, and what it misses with them."""
    center, half = (low + high) / 2, (high - low) / 2
    reach = half * (_ELLIPSES + 1 / _ELLIPSES) / 2
    height = half * (_ELLIPSES - 1 / _ELLIPSES) / 2
    turn = np.where(height < math.pi / 2, np.cos(np.minimum(height, math.pi / 2)), 0.0)
    # Logarithms of the largest e^-x and e^(x - length).
    behind, ahead = reach - center, center + reach - length
    fading = np.exp(np.minimum(behind, 300.0))  # where it is more, other ellipses are better
    if two_sided:
        growth = np.where(fading <= 4 * turn, 0.0, factors * fading / 2)
        growth = np.where(ahead <= math.log(2), growth, np.inf)
        density = np.logaddexp(behind, ahead) - math.log(2)
    else:
        growth = np.where(fading <= 2 * turn, 0.0, factors * fading)
        density = behind
    largest = math.log(8 * half * densities / -math.expm1(-length)) + growth + density
    largest = largest - np.log1p(-1 / _ELLIPSES)
    rate = 2 * np.log(_ELLIPSES)
    needed = np.maximum(np.ceil((largest - math.log(_MISSED / _PANELS)) / rate), 1.0)
    best = int(needed.argmin())
    return int(needed[best]), math.exp(float(largest[best] - needed[best] * rate[best]))
