"""Intervals for what simulated runs estimate, each with the assumption it rests on.

    normal      the mean of many runs is nearly normal: not if a rare run decides the mean
    student     the same for few runs
    wilson      every run is a success or a failure: holds for any probability
    bernstein   every run lies between known bounds: holds whatever is rare, and is wider

A rare bad run that has not occurred yet leaves no trace in the runs, so no look at them can tell
whether the first two hold. Where runs are bounded, the last one does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from omit._numeric import FloatArray

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

_MISSED = 0.05


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


def mean_interval(values: FloatArray, planned_looks: int = 1) -> Interval:
    """Return the mean with Student's interval, which holds at all of so many looks together.

    It takes the mean of so many values to be nearly normal; where one may stop at several looks,
    the error probability is divided among them (Bonferroni). Missing values are left out; without
    any value, nothing is known.

    Examples
    --------
    >>> mean_interval(np.array([1.0, 2.0, 3.0]))
    Interval(value=2.0, low=-0.484..., high=4.484...)
    """
    from scipy.special import stdtrit

    present = values[~np.isnan(values)]
    quantile = float(stdtrit(max(len(present) - 1, 1), 1 - _MISSED / 2 / planned_looks))
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


def bernstein_interval(values: FloatArray, width: float, planned_looks: int = 1) -> Interval:
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
    planned_looks : int
        At how many looks together the interval must hold (Bonferroni).

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
    found = _around(present, math.sqrt(2 * math.log(4 * planned_looks / _MISSED)))
    if len(present) < 2:
        return found
    margin = 7 * width * math.log(4 * planned_looks / _MISSED) / (3 * (len(present) - 1))
    return Interval(found.value, found.low - margin, found.high + margin)


def wilson_interval(share: float, runs: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a probability estimated by a share of runs.

    Examples
    --------
    >>> low, high = wilson_interval(0.0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.037)
    """
    square = NORMAL**2 / runs
    center = (share + square / 2) / (1 + square)
    margin = math.sqrt(square * share * (1 - share) + square**2 / 4) / (1 + square)
    # At the ends the interval ends there, too, whatever rounding says.
    low = 0.0 if share == 0 else max(center - margin, 0.0)
    return low, 1.0 if share == 1 else min(center + margin, 1.0)
