"""When less noise can make up for what sampling costs, whatever the data are (Sections 2 to 4).

At rate `n/N` a mechanism on a sample may use `epsilon_n = ln(1 + (N/n)(e^epsilon - 1))` by
Theorem 1. Two ratios decide what that is worth:

- `q = 1 - (epsilon/epsilon_n)^2` (Eq. 5): if the sensitivity does not depend on the size, the noise
  shrinks by this share of its variance, so sampling variance beyond it cannot be made up for;
- `r = ((n/N) epsilon_n / epsilon)^2` (Eq. 8): the noise variance of the mean of all records divided
  by that of the mean of the sample. By Bernoulli's inequality `r < 1` for every rate below 1.

Both are differences of nearly equal numbers at small epsilon or rates near 1. With `t = N/n`,

    epsilon_n - epsilon = ln(1 + (t - 1)(1 - e^-epsilon)),
    t epsilon - epsilon_n = integral from 0 to epsilon of t (t - 1)(e^x - 1) / (1 + t (e^x - 1)) dx,

neither of which cancels: the first is a logarithm of 1 plus something positive, the second an
integral of something positive.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array, gauss_legendre
from omit.errors import InvalidInput
from omit.laws.inversion import root_of
from omit.mechanisms.sensitivity import smooth_laplace_delta


def noise_saving(epsilon: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return `q`, the share of the noise variance that a sample saves at best.

    Examples
    --------
    >>> noise_saving(1.0, [0.1, 0.5, 1.0])
    array([0.88113305, 0.54949735, 0.        ])
    >>> float(noise_saving(1e-12, 0.5))
    0.74999999999...
    """
    epsilon, rate = _positive_epsilons(epsilon), _validate.positive_rates(rate)
    gained = np.log1p((1 - rate) / rate * -np.expm1(-epsilon))
    share = gained / (epsilon + gained)
    return as_array(share * (2 - share))


def rate_of_saving(saving: float, epsilon: float) -> float:
    """Return the sampling rate at which `noise_saving` is `saving`.

    Examples
    --------
    >>> round(100 * rate_of_saving(0.6, 3.0), 7), round(100 * rate_of_saving(0.6, 0.1), 7)
    (16.7673157, 61.3959002)
    """
    saving = _validate.finite("saving", saving)
    if not 0 <= saving < 1:
        raise InvalidInput(f"Expected saving={saving:g} in [0, 1).")
    epsilon = float(_positive_epsilons(epsilon))
    # epsilon_n = epsilon / sqrt(1 - q), and the rate is (e^epsilon - 1)/(e^epsilon_n - 1).
    on_sample = epsilon / math.sqrt(1 - saving)
    return math.exp(epsilon - on_sample) * math.expm1(-epsilon) / math.expm1(-on_sample)


def mean_noise_excess(epsilon: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return `1 - r`: the share by which the noise of all records' mean is below the sample's.

    It is positive for every rate below 1: the Laplace noise of a sample's mean is always larger,
    unless delta is at least the rate, where a sample needs none.

    Examples
    --------
    >>> mean_noise_excess([1.0, 1e-3, 1e-9], 0.1)
    array([9.15872326e-01, 8.92340658e-03, 8.99999992e-09])
    """
    epsilon, rate = np.broadcast_arrays(_positive_epsilons(epsilon), _validate.positive_rates(rate))
    pairs = zip(epsilon.flat, rate.flat, strict=True)
    return as_array([_excess(float(e), float(p)) for e, p in pairs]).reshape(epsilon.shape)


def _excess(epsilon: float, rate: float) -> float:
    if rate == 1:
        return 0.0
    times = 1 / rate
    nodes, weights = gauss_legendre(20)
    # The integrand bends at 1/t and is smooth on every octave beyond.
    edges = [0.0]
    edge = 0.5 / times
    while edge < epsilon:
        edges.append(edge)
        edge *= 2
    edges.append(epsilon)
    missing = 0.0
    for low, high in itertools.pairwise(edges):
        half = (high - low) / 2
        growth = np.expm1(np.minimum(low + half * (nodes + 1), 700.0))
        missing += half * float(weights @ (growth / (1 / times + growth)))
    # missing is (t epsilon - epsilon_n) / (t - 1).
    share = missing * (1 - rate) / epsilon
    return share * (2 - share)


def mean_noise_ratio_as_published(epsilon: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return `r` by Eq. 8 in plain floating point, whose rounding makes Figure 5.

    Examples
    --------
    >>> tiny = np.geomspace(1e-12, 1e-10, 50)
    >>> bool((mean_noise_ratio_as_published(tiny, 1e-4) > 1).any())
    True
    >>> bool((mean_noise_excess(tiny, 1e-4) > 0).all())
    True
    """
    epsilon, rate = _positive_epsilons(epsilon), _validate.positive_rates(rate)
    on_sample = np.log(1 + (np.exp(epsilon) - 1) / rate)
    return as_array((rate * on_sample / epsilon) ** 2)


def rounding_curve(rates: FloatArray) -> FloatArray:
    """Return the largest epsilon at which rounding lifts the printed `r` above 1, for every rate.

    0 if there is none among the 4,000 that are tried.

    Examples
    --------
    >>> bool(1e-10 < rounding_curve(np.array([1e-4]))[0] < 1.5e-10)
    True
    """
    fine = np.geomspace(1e-12, 1e-3, 4000)
    return as_array(
        [fine[mean_noise_ratio_as_published(fine, rate) > 1].max(initial=0) for rate in rates]
    )


def largest_useful_variance(sensitivity: float, epsilon: float, rate: float) -> float:
    """Return the sampling variance from which on no gain is possible with Laplace noise.

    `2 sensitivity^2 (1/epsilon^2 - 1/epsilon_n^2)`, for a global sensitivity that does not shrink
    with the sample (Section 4.1). A smaller sampling variance does not promise a gain.

    Examples
    --------
    >>> round(largest_useful_variance(1.0, 1.0, 0.5), 9)
    1.098994708
    """
    sensitivity = _validate.finite("sensitivity", sensitivity)
    saving = float(noise_saving(epsilon, rate))
    return 2 * (sensitivity / epsilon) ** 2 * saving


def _positive_epsilons(epsilon: ArrayLike) -> FloatArray:
    checked = _validate.epsilons(epsilon)
    if not (checked > 0).all():
        raise InvalidInput("Expected every epsilon to be above 0.")
    return checked


def share_of_delta(epsilon: float, delta: float) -> float:
    """Return the exact delta of the published noise as a multiple of the one it is stated for.

    Examples
    --------
    >>> round(share_of_delta(1.0, 5e-5), 4), round(share_of_delta(20.0, 5e-5), 2)
    (0.0056, 5.72)
    """
    beta = epsilon / (2 * math.log(2 / delta))
    return smooth_laplace_delta(epsilon, epsilon / 2, beta) / delta


def overdrawn_from(delta: float, largest: float = 100.0) -> float | None:
    """Return the epsilon from which the published noise has not the delta it is stated for.

    None if there is none up to the largest.

    Examples
    --------
    >>> round(overdrawn_from(5e-5), 2), overdrawn_from(5e-5, largest=10.0)
    (12.89, None)
    """
    if share_of_delta(largest, delta) <= 1:
        return None
    return root_of(lambda epsilon: share_of_delta(epsilon, delta) - 1, 1e-6, largest)
