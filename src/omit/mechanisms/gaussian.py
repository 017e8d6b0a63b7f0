"""The Gaussian mechanism, calibrated exactly for every epsilon and delta.

With noise of standard deviation `s` on a query of L2 sensitivity `D` the mechanism is
(epsilon, delta)-DP exactly for `delta >= N(D/2s - epsilon s/D) - e^epsilon N(-D/2s - epsilon s/D)`,
where `N` is the normal distribution function (Balle and Wang 2018, Theorem 8).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.guarantee import Guarantee, require_guarantee


def gaussian_delta(scale: float, sensitivity: float, epsilon: float) -> float:
    """Return the smallest delta of Gaussian noise of this scale.

    Examples
    --------
    >>> round(gaussian_delta(scale=1.0, sensitivity=1.0, epsilon=1.0), 9)
    0.126936738
    """
    from scipy.special import log_ndtr, ndtr

    width = sensitivity / scale
    start = epsilon / width - width / 2
    if start < -5:
        return float(ndtr(-start) - math.exp(epsilon + float(log_ndtr(-start - width))))
    # The normal density at `start`, times the fall of Mills' ratio R over the width. Where that is
    # a small difference, it is taken as the integral of 1 - u R(u), which keeps its digits.
    if width > 1:
        ends = _mills_ratio(np.array([start, start + width]))
        fall = float(ends[0] - ends[1])
    else:
        points, weights = _legendre()
        u = start + width * (points + 1) / 2
        fall = width / 2 * float((weights * (1 - u * _mills_ratio(u))).sum())
    return math.exp(-0.5 * start**2) / math.sqrt(2 * math.pi) * fall


def _mills_ratio(u: FloatArray) -> FloatArray:
    from scipy.special import erfcx

    return as_array(math.sqrt(math.pi / 2) * erfcx(u / math.sqrt(2)))


@cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    points, weights = np.polynomial.legendre.leggauss(20)
    return points, weights


def gaussian_scale(guarantee: Guarantee, sensitivity: float) -> float:
    """Return the smallest standard deviation that gives the guarantee.

    Raises
    ------
    InvalidInput
        If delta is 0, which no Gaussian noise reaches, or nothing needs protection.

    Examples
    --------
    >>> round(gaussian_scale(Guarantee(0.25, 32561**-2), sensitivity=1.0), 7)
    20.8250839
    """
    from scipy.optimize import brentq

    require_guarantee(guarantee)
    sensitivity = _validate.finite("sensitivity", sensitivity)
    if guarantee.delta == 0:
        raise InvalidInput("Gaussian noise needs delta > 0; use Laplace noise for delta = 0.")
    if sensitivity <= 0:
        raise InvalidInput(f"Expected sensitivity={sensitivity:g} to be above 0.")

    def excess(log_ratio: float) -> float:
        delta = gaussian_delta(math.exp(log_ratio), 1.0, guarantee.epsilon)
        return math.log(max(delta, 5e-324)) - math.log(guarantee.delta)

    lower = upper = 0.0
    while excess(lower) < 0:
        lower -= 1.0
    while excess(upper) > 0:
        upper += 1.0
    ratio = math.exp(float(brentq(excess, lower, upper, xtol=1e-15, rtol=1e-15, maxiter=500)))
    # The last digits of delta are not sure; they must not cost privacy.
    return ratio * (1 + 1e-12) * sensitivity
