"""Intervals for what simulated runs estimate, each with the assumption it rests on.

    normal      the mean of many runs is nearly normal: not if a rare run decides the mean
    student     the same for few runs
    exact       every run is a success or a failure: holds for any probability, however small
    bernstein   every run lies between known bounds: holds whatever is rare, and is wider
    bounded     the same, narrower, and whenever one stops to look

A rare bad run that has not occurred yet leaves no trace in the runs, so no look at them can tell
whether the first two hold. Where runs are bounded, the last two do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from omit._numeric import FloatArray

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

MISSED = 0.05
"""How often a 95 % interval may miss."""
# Shares of one's capital to bet: all, a half, a quarter, ...
_BETS = 14
_HALVINGS = 40
# A spread that is only rounding, relative to the mean.
_HARDLY = 1e-9


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def within(self, lowest: float, highest: float = math.inf) -> Interval:
        """Return the interval cut to what can be true at all.

        Examples
        --------
        >>> Interval(0.5, -0.5, 1.5).within(0.0)
        Interval(value=0.5, low=0.0, high=1.5)
        """
        return Interval(self.value, max(self.low, lowest), min(self.high, highest))


def normal_interval(values: FloatArray) -> Interval:
    """Return the mean with an interval that takes the mean of so many values to be normal.

    Examples
    --------
    >>> normal_interval(np.array([1.0, 2.0, 3.0]))
    Interval(value=2.0, low=0.868..., high=3.131...)
    """
    return _around(values, NORMAL)


def mean_interval(values: FloatArray) -> Interval:
    """Return the mean with Student's interval, which takes the mean of the values to be normal.

    Missing values are left out; without any value, nothing is known.

    Examples
    --------
    >>> mean_interval(np.array([1.0, 2.0, 3.0]))
    Interval(value=2.0, low=-0.484..., high=4.484...)
    """
    from scipy.special import stdtrit

    present = values[~np.isnan(values)]
    quantile = float(stdtrit(max(len(present) - 1, 1), 1 - MISSED / 2))
    return _around(present, quantile)


def _around(values: FloatArray, quantile: float) -> Interval:
    """Return the mean, and so many standard errors to both sides; one run tells of no other."""
    if not len(values):
        return Interval(math.nan, -math.inf, math.inf)
    value = float(values.mean())
    if len(values) == 1:
        return Interval(value, -math.inf, math.inf)
    margin = quantile * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval(value, value - margin, value + margin)


def bernstein_interval(values: FloatArray, width: float) -> Interval:
    """Return the mean of bounded values with an interval that holds whatever is rare.

    For `n` independent values of one distribution on an interval of this width, sample variance
    `V` and an error probability `a`, the mean is off by more than

        sqrt(2 V ln(4/a) / n) + 7 width ln(4/a) / (3 (n - 1))

    with probability `a` at most (an empirical Bernstein bound, both sides). Missing values are left
    out.

    Parameters
    ----------
    values : array
        Independent runs.
    width : float
        By how much two runs can differ at most; known beforehand, not taken from the runs.

    References
    ----------
    Maurer and Pontil, "Empirical Bernstein bounds and sample variance penalization", COLT 2009,
    Theorem 4.

    Examples
    --------
    >>> bernstein_interval(np.zeros(1000), width=1.0)
    Interval(value=0.0, low=-0.010..., high=0.010...)
    """
    present = values[~np.isnan(values)]
    found = _around(present, math.sqrt(2 * math.log(4 / MISSED)))
    if len(present) < 2:
        return found
    margin = 7 * width * math.log(4 / MISSED) / (3 * (len(present) - 1))
    return Interval(found.value, found.low - margin, found.high + margin)


def bounded_interval(
    values: FloatArray, lowest: float, highest: float, missed: float = MISSED
) -> Interval:
    """Return the mean of bounded values with an interval that holds whatever is rare.

    For the mean `m` of values `Y` in [0, 1], bet a share `f` of one's capital on every value in
    turn that it exceeds `m`: it grows by the factor `1 + f (Y/m - 1)`, which is never negative and
    1 on average. Spread the first capital over several `f`: whenever one looks, all of it has
    reached `2/a` with probability `a/2` at most (Ville's inequality). The lower end is the smallest
    `m` at which it has not; it falls as `m` rises. The upper end is the same for `1 - Y`. The order
    of the values does not matter, nor who decides when to stop. Missing values are left out.

    Without spread, `n` values leave `ln(4/a) / n` of the width open, on the side where something
    rare could be; with a deviation `s` it is about `3.5 s / sqrt(n)`.

    Parameters
    ----------
    values : array
        Independent runs.
    lowest, highest : float
        Between what they lie, known beforehand and not taken from the runs.
    missed : float
        How often the interval may miss.

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", Journal of
    the Royal Statistical Society B, 2024.

    Examples
    --------
    >>> bounded_interval(np.zeros(1000), 0.0, 1.0)
    Interval(value=0.0, low=0.0, high=0.0043...)
    >>> bounded_interval(np.tile([0.4, 0.6], 500), 0.0, 1.0)
    Interval(value=0.5, low=0.4897..., high=0.5102...)
    """
    present = values[~np.isnan(values)]
    if not len(present):
        return Interval(math.nan, lowest, highest)
    value, width = float(present.mean()), highest - lowest
    shares = np.clip((present - lowest) / width, 0.0, 1.0) if width > 0 else np.zeros(len(present))
    low = lowest + width * _least_mean(shares, missed / 2)
    high = highest - width * _least_mean(1 - shares, missed / 2)
    # The mean of the runs is always inside, whatever rounding says.
    return Interval(value, min(low, value), max(high, value))


def _least_mean(shares: FloatArray, missed: float) -> float:
    """Return what the mean of values in [0, 1] is not below, except with a small probability."""
    bets = 2.0 ** -np.arange(_BETS)
    # Most on the largest bet, which is best where nothing varies: 1/2, 1/6, 1/12, ...
    logarithms = -np.log((np.arange(_BETS) + 1.0) * (np.arange(_BETS) + 2.0))
    enough = -math.log(missed)
    values, counts = np.unique(shares, return_counts=True)

    def capital(mean: float) -> float:
        with np.errstate(divide="ignore"):
            grown = np.log1p(bets[:, None] * (values / mean - 1)) @ counts
        return float(np.logaddexp.reduce(logarithms + grown))

    low, high = 0.0, float(shares.mean())
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if middle > 0 and capital(middle) >= enough:
            low = middle
        else:
            high = middle
    return low


def is_skewed(values: FloatArray) -> bool:
    """Tell whether values are too skewed for the mean of so many to be nearly normal.

    By Cochran's rule, which asks for more than 25 g^2 values at a skewness of g. What is so rare
    that it did not occur leaves no trace.

    Examples
    --------
    >>> is_skewed(np.array([0.0, 1.0] * 50)), is_skewed(np.array([0.0] * 99 + [1.0]))
    (False, True)
    """
    deviations = values - values.mean()
    spread = float(np.sqrt(np.mean(deviations**2)))
    if spread <= _HARDLY * abs(float(values.mean())):
        return False
    return len(values) < 25 * float(np.mean((deviations / spread) ** 3)) ** 2


def exact_interval(share: float, runs: int) -> tuple[float, float]:
    """Return the 95 % interval of Clopper and Pearson for a probability.

    Its ends are the probabilities at which so many successes, or more, and so many, or fewer, have
    a chance of 2.5 %, so it covers every probability at least 95 % of the time. (Wilson's covers
    that of a success in 12,000 runs 84 % of the time by 2,000 runs.)

    Parameters
    ----------
    share : float
        Which part of the runs were successes.
    runs : int
        How many runs there were.

    References
    ----------
    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika, 1934.

    Examples
    --------
    >>> low, high = exact_interval(0.0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    successes = round(share * runs)
    failures = runs - successes
    low = betaincinv(successes, failures + 1, MISSED / 2) if successes else 0.0
    high = betaincinv(successes + 1, failures, 1 - MISSED / 2) if failures else 1.0
    return float(low), float(high)
