"""Intervals for what simulated runs estimate, and the one rule for better and worse.

Every interval rests on an assumption:

    normal           the mean of many runs is nearly normal: not if a rare run decides the mean
    student          the same for few runs
    clopper-pearson  every run is a success or a failure: for every probability, however small
    bernstein        every run lies between known bounds: holds whatever is rare, and is wider
    bounded          the same by betting, narrower, and whenever one stops to look

A rare bad run that has not occurred yet leaves no trace in the runs, so no look at them can tell
whether the first two hold. Where runs are bounded, the last two do.

`judge` compares two intervals, or that of a difference with 0. Whoever wants a verdict that holds
for many comparisons together makes the intervals at that level and judges by the same rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput
from omit.laws.inversion import narrow

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

MISSED = 0.05
"""How often a 95 % interval may miss."""

CONFIDENCE = 0.99
"""Of averages that are stated as bounds."""

# Shares of one's capital to bet: all, a half, a quarter, ...
_BETS = 14
_HALVINGS = 40
# A spread that is only rounding, relative to the mean.
_HARDLY = 1e-9

Judgement = Literal["better", "worse", "undecided"]


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its 95 % interval.

    Examples
    --------
    >>> Interval(0.5, 0.4, 0.6).low
    0.4
    """

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
    """Return the mean with an interval that takes the mean of this many values to be normal.

    Examples
    --------
    >>> normal_interval(np.array([1.0, 2.0, 3.0]))
    Interval(value=2.0, low=0.868..., high=3.131...)
    """
    return _around(values, NORMAL)


def student_interval(values: FloatArray) -> Interval:
    """Return the mean with Student's interval, which takes the mean of the values to be normal.

    Missing values are dropped; without any value, nothing is known.

    Examples
    --------
    >>> student_interval(np.array([1.0, 2.0, 3.0]))
    Interval(value=2.0, low=-0.484..., high=4.484...)
    """
    present = values[~np.isnan(values)]
    return _around(present, float(student_quantile(len(present))))


def student_quantile(runs: ArrayLike, missed: float = MISSED) -> FloatArray:
    """Return by how many standard errors of the mean of these runs an interval is wide, one-sided.

    Examples
    --------
    >>> student_quantile([2, 10, 10**6]).round(3)
    array([12.706,  2.262,  1.96 ])
    """
    from scipy.special import stdtrit

    return as_array(stdtrit(np.maximum(as_array(runs) - 1, 1), 1 - missed / 2))


def _around(values: FloatArray, quantile: float) -> Interval:
    """Return the mean, and this many standard errors to both sides; one run tells of no other."""
    if not len(values):
        return Interval(math.nan, -math.inf, math.inf)
    value = float(values.mean())
    if len(values) == 1:
        return Interval(value, -math.inf, math.inf)
    margin = quantile * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval(value, value - margin, value + margin)


def bernstein_bounds(values: FloatArray, intervals: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return an interval for the mean of every column of draws in [0, 1], at `CONFIDENCE`.

    Or, if several `intervals` have to hold together, at what leaves all of them that. For `n`
    independent draws of one distribution, sample variance `V` and an error probability `a`, the
    mean is off by more than

        sqrt(2 V ln(4/a) / n) + 7 ln(4/a) / (3 (n - 1))

    with probability `a` at most (an empirical Bernstein bound, both sides).

    References
    ----------
    Maurer and Pontil, "Empirical Bernstein bounds and sample variance penalization", COLT 2009,
    Theorem 4.

    Examples
    --------
    >>> low, high = bernstein_bounds(np.full((1000, 1), 0.25))
    >>> bool(low[0] < 0.25 < high[0]), round(float(high[0] - low[0]), 4)
    (True, 0.028)
    """
    runs = len(values)
    if runs < 2:
        raise InvalidInput(f"Expected at least two runs for an interval, got {runs}.")
    mean, level = values.mean(axis=0), math.log(4 / ((1 - CONFIDENCE) / intervals))
    spread = np.sqrt(2 * values.var(axis=0, ddof=1) * level / runs)
    margin = spread + 7 * level / (3 * (runs - 1))
    return np.maximum(mean - margin, 0.0), np.minimum(mean + margin, 1.0)


def bounded_interval(
    values: FloatArray, lowest: float, highest: float, missed: float = MISSED
) -> Interval:
    """Return the mean of bounded values with an interval that holds whatever is rare.

    For the mean `m` of values `Y` in [0, 1], bet a share `f` of one's capital on every value in
    turn that it exceeds `m`: it grows by the factor `1 + f (Y/m - 1)`, which is never negative and
    1 on average. Spread the first capital over several `f`: whenever one looks, all of it has
    reached `2/a` with probability `a/2` at most (Ville's inequality). The lower end is the smallest
    `m` at which it has not; it falls as `m` rises. The upper end is the same for `1 - Y`. The order
    of the values does not matter, nor who decides when to stop. Missing values are dropped.

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

    return narrow(
        lambda mean: not (mean > 0 and capital(mean) >= enough),
        0.0,
        float(shares.mean()),
        enough=lambda low, high: False,
        halvings=_HALVINGS,
    )[0]


def is_skewed(values: FloatArray) -> bool:
    """Tell whether values are too skewed for the mean of this many to be nearly normal.

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


def clopper_pearson_interval(
    successes: int, runs: int, missed: float = MISSED
) -> tuple[float, float]:
    """Return an interval for a probability that misses it at most that often, whatever it is.

    Its ends are the probabilities at which this many successes or more, and this many or fewer,
    have half of that chance. (Wilson's interval covers a probability of 1 in 12,000 only 84 % of
    the time by 2,000 runs.)

    References
    ----------
    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika, 1934.

    Examples
    --------
    >>> low, high = clopper_pearson_interval(0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    failures = runs - successes
    low = float(betaincinv(successes, failures + 1, missed / 2)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - missed / 2)) if failures else 1.0
    return low, high


class HasEnds(Protocol):
    """An interval, or an error with one."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


NO_DIFFERENCE = Interval(0.0, 0.0, 0.0)


def judge(error: HasEnds, baseline: HasEnds = NO_DIFFERENCE) -> Judgement:
    """Return whether an error is better or worse than another: the one rule for it.

    It is better if its whole interval is below that of the other one, worse if it is above, and
    undecided if the intervals meet. The interval of a difference is compared with 0.

    Examples
    --------
    >>> judge(Interval(1.0, 0.9, 1.1), Interval(2.0, 1.5, 2.5))
    'better'
    >>> judge(Interval(0.3, 0.1, 0.5)), judge(Interval(0.3, -0.1, 0.7))
    ('worse', 'undecided')
    """
    judged = judge_all(error.low, error.high, baseline.low, baseline.high)
    return cast("Judgement", str(judged))


def judge_all(
    low: ArrayLike, high: ArrayLike, baseline_low: ArrayLike = 0.0, baseline_high: ArrayLike = 0.0
) -> NDArray[Any]:
    """Return the same for arrays of ends; undecided where one is missing.

    Examples
    --------
    >>> judge_all([0.1, -3.0, np.nan], [0.2, -2.0, np.nan])
    array(['worse', 'better', 'undecided'], dtype='<U9')
    """
    better = as_array(high) < as_array(baseline_low)
    worse = as_array(low) > as_array(baseline_high)
    return np.where(better, "better", np.where(worse, "worse", "undecided"))
