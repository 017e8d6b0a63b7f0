"""What the error of a noisy mean is at least, in one pass over the values.

A search computes errors exactly where they may be smallest; elsewhere it is enough to know that
they are not. Let S be the sum and C the number of the records left, or the sums of their weighted
values and of their weights, which are at most 1. Let Y be the noisy count, m and s its mean and
deviation, and `W = S - t C + noise` with mean μ and deviation σ, so that the answer before it is
clipped is `t + W/Y` where `Y ≥ 1`. Let `q² = σ² + μ²`, and P bound the chance of `Y < m/2`.

- *The distance of W from 0.* W is a sum of independent numbers. Its Wasserstein distance from a
  normal number is at most κ, the sum of their third absolute central moments over σ² [Goldstein
  2010]. `|w|` has slope 1, so `E|W| ≥ E|μ + σN| - κ`. Normal noise is a sum of ever smaller parts
  and adds nothing to κ. Neither the data without noise nor the noise without the data is farther
  from 0 on average, since the noise is symmetric (Jensen): the same for the data alone, and the
  mean size of the noise alone, are bounds, too.
- *Dividing by Y.* `1/y ≥ 2/m - y/m²` for `y > 0`, since the inverse is convex. `max(Y, 0)` is no
  farther from m than Y is, so |W| times the right-hand side at it has a mean of at least
  `(E|W| - q s/m) / m` (Cauchy and Schwarz), to which `Y < m/2` adds at most `(2/m) q √P`.
- *Clipping.* With c the distance of the truth to the next bound, an answer at the distance a loses
  `(a - c)⁺ ≤ a²/4c`, where `Y ≥ m/2` no more than `q²/(c m²)` on average.

Chernoff's inequality gives P: `e^(-m/18)` for a count below two thirds of its mean, and the moments
of the noise for the rest.

References
----------
L. Goldstein, "Bounds on the constant in the mean central limit theorem", Annals of Probability 38
(2010), Theorem 1.1.
"""

from __future__ import annotations

import math

import numpy as np

from omit.exact.mean_setting import MeanSetting
from omit.exact.quotient import Quotient
from omit.laws.noise import Gaussian, Laplace, NoNoise

# For what rounding does to sums over the values.
_ROUNDING = 1e-9
# Tilts to try for the noise of the count, in units of its scale; every one gives a bound.
_TILTS = np.linspace(0.05, 0.95, 10)


def least_mean_error(setting: MeanSetting) -> float:
    """Return a number that the expected distance of the noisy mean to the truth is not below.

    0 where nothing better is known: for public counts, few records and truths at a bound.

    Examples
    --------
    >>> from omit.exact.two_sums import TwoSums
    >>> ages, counts = np.arange(20.0, 70.0), np.full(50, 400)
    >>> sums = TwoSums(Laplace(100.0), (0.0, 100.0))
    >>> setting = MeanSetting.of(ages, counts, np.full(50, 0.5), sums, 44.5)
    >>> round(least_mean_error(setting), 3)
    0.08
    >>> from omit.exact.mean import mean_error
    >>> round(mean_error(ages, counts, np.full(50, 0.5), sums, 44.5).expected, 3)
    0.082
    """
    quotient, truth, size = setting.quotient, setting.truth, setting.size
    lower, upper = setting.limits
    margin = min(truth - lower, upper - truth)
    if quotient.count_scale is None or not margin > 0 or size < 4:
        return 0.0
    if not isinstance(quotient.total, Laplace | Gaussian | NoNoise):
        return 0.0
    steps = setting.steps(truth)
    mean = float((setting.counts * setting.keep) @ steps)
    of_data, of_noise = setting.variance_of(truth), quotient.noise_variance(truth)
    variance = of_data + of_noise
    if not variance > 0:
        return 0.0
    # E|B - k|³ of a record that is kept with probability k.
    cubes = setting.spread * (setting.keep**2 + (1 - setting.keep) ** 2)
    third = float(cubes @ np.abs(steps) ** 3)
    noise_alone, third_of_noise = _of_noise(quotient, truth)
    distance = max(
        _folded_normal(mean, variance) - (third + third_of_noise) / variance,
        _folded_normal(mean, of_data) - third / of_data if of_data > 0 else abs(mean),
        noise_alone,
    )
    root = math.sqrt(variance + mean**2)  # q
    count_deviation = math.sqrt(setting.variance_of(None) + quotient.count_variance)
    few = math.sqrt(_chance_of_half(setting))
    least = distance - root * count_deviation / size - 2 * root * few
    least -= root**2 / (margin * size)
    return max((1 - _ROUNDING) * least / size, 0.0)


def _folded_normal(mean: float, variance: float) -> float:
    """Return the expected size of a normal number."""
    deviation = math.sqrt(variance)
    ratio = mean / deviation
    spread = deviation * math.sqrt(2 / math.pi) * math.exp(-0.5 * ratio**2)
    return spread + mean * math.erf(ratio / math.sqrt(2))


def _of_noise(quotient: Quotient, truth: float) -> tuple[float, float]:
    """Return the mean size of the noise of W, and its third absolute moments as κ needs them.

    `|Z₁ - Z₂|` has the mean `(a² + a d + d²) / (a + d)` for Laplace noise of scales a and d.
    """
    if not isinstance(quotient.total, Laplace):
        return math.sqrt(2 / math.pi * quotient.noise_variance(truth)), 0.0
    a, d = (float(scale[0]) for scale in quotient.scales(np.array([truth])))
    return (a**2 + a * d + d**2) / (a + d), 6 * (a**3 + d**3)


def _chance_of_half(setting: MeanSetting) -> float:
    """Return a bound on the chance that the noisy count is below half of its mean.

    Then the count is below two thirds of it, or the noise below minus a sixth.
    """
    data = math.exp(-setting.size / 18)
    scale = setting.count_scale
    if scale == 0:
        return data
    tilts = _TILTS / scale
    logs = setting.quotient.count_log_moment(tilts) - tilts * setting.size / 6
    return min(data + math.exp(min(float(logs.min()), 0.0)), 1.0)
