"""The random numbers of R, so that data whose R code is published can be had without R.

R's default generator is the Mersenne Twister, started from a scrambled seed, and its normal numbers
come from two uniform ones each by inversion. The stream is part of what R promises; the algorithms
are those of its manual (`?RNG`) and of the literature named below. Numbers agree with R to the last
digit but for what logarithms and exponentials of different machines may differ by.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from omit import _validate
from omit._numeric import FloatArray

_WORDS = 624
_LARGEST_SEED = 2**31 - 1
_UNIT = 2.3283064365386963e-10  # 2^-32 as R has it
_EDGE = 0.5 * 2.328306437080797e-10  # what stands for 0, and 1 less this for 1
_STEPS_OF_NORMALS = 134217728  # 2^27: a normal number takes 27 bits of one uniform number
_LARGEST_EXPONENT = sys.float_info.max_exp * math.log(2)


class RRandom:
    """R's random numbers after ``set.seed(seed)``.

    Parameters
    ----------
    seed : int
        What `set.seed` is given.

    References
    ----------
    M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8, 1998; M. J. Wichura, "Algorithm
    AS 241: The percentage points of the normal distribution", Applied Statistics 37, 1988;
    R. C. H. Cheng, "Generating beta variates with nonintegral shape parameters", Communications of
    the ACM 21, 1978.

    Examples
    --------
    >>> RRandom(123).uniform(3)
    array([0.28757752, 0.78830514, 0.40897692])
    >>> RRandom(42).normal(2)
    array([ 1.37095845, -0.56469817])
    """

    def __init__(self, seed: int) -> None:
        state = _validate.whole("seed", seed, -_LARGEST_SEED, _LARGEST_SEED)
        for _ in range(50):
            state = _scrambled(state)
        # R overwrites the first number after these with the position in the key.
        words = [state := _scrambled(state) for _ in range(_WORDS + 1)][1:]
        self._bits = np.random.MT19937()
        self._bits.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(words, dtype=np.uint32), "pos": _WORDS},
        }

    def uniform(self, count: int) -> FloatArray:
        """Return numbers of ``runif``, strictly between 0 and 1."""
        numbers = self._bits.random_raw(_validate.whole("count", count)) * _UNIT
        return np.clip(numbers, _EDGE, 1 - _EDGE)

    def normal(self, count: int, mean: float = 0.0, deviation: float = 1.0) -> FloatArray:
        """Return numbers of ``rnorm``."""
        pairs = self.uniform(2 * count)
        first = np.floor(_STEPS_OF_NORMALS * pairs[::2])
        standard = normal_quantile((first + pairs[1::2]) / _STEPS_OF_NORMALS)
        return np.asarray(mean + deviation * standard)

    def lognormal(self, count: int, mean: float, deviation: float) -> FloatArray:
        """Return numbers of ``rlnorm``.

        Examples
        --------
        >>> RRandom(123).lognormal(2, 5.0, 0.5)
        array([112.14157962, 132.27872577])
        """
        return np.asarray(np.exp(self.normal(count, mean, deviation)))

    def beta(self, count: int, first: float, second: float) -> FloatArray:
        """Return numbers of ``rbeta``: Cheng's algorithm BB if both shapes are above 1, else BC.

        Examples
        --------
        >>> RRandom(123).beta(3, 2.0, 10.0)
        array([0.10418359, 0.13830055, 0.50997079])
        """
        shapes = [
            _validate.positive(f"shape {name}", x) for name, x in (("a", first), ("b", second))
        ]
        low, high = min(shapes), max(shapes)
        draw = self._beta_bb if low > 1 else self._beta_bc
        return np.array([draw(low, high, shapes[0] == low) for _ in range(count)])

    def _beta_bb(self, low: float, high: float, in_order: bool) -> float:
        total = low + high
        slope = math.sqrt((total - 2) / (2 * low * high - total))
        gamma = low + 1 / slope
        while True:
            one, two = self.uniform(2).tolist()
            logit, odds = _odds(slope, one, low)
            z = one * one * two
            r = gamma * logit - 1.3862944
            s = low + r - odds
            if s + 2.609438 >= 5 * z:
                break
            t = math.log(z)
            if s > t or r + total * math.log(total / (high + odds)) >= t:
                break
        return odds / (high + odds) if in_order else high / (high + odds)

    def _beta_bc(self, low: float, high: float, in_order: bool) -> float:
        total, slope = low + high, 1 / low
        delta = 1 + high - low
        squeeze = delta * (0.0138889 + 0.0416667 * low) / (high * slope - 0.777778)
        limit = 0.25 + (0.5 + 0.25 / delta) * low
        while True:
            one, two = self.uniform(2).tolist()
            if one < 0.5:
                y = one * two
                z = one * y
                if 0.25 * two + z - y >= squeeze:
                    continue
            else:
                z = one * one * two
                if z <= 0.25:
                    _, odds = _odds(slope, one, high)
                    break
                if z >= limit:
                    continue
            logit, odds = _odds(slope, one, high)
            if total * (math.log(total / (low + odds)) + logit) - 1.3862944 >= math.log(z):
                break
        return low / (low + odds) if in_order else odds / (low + odds)


def _scrambled(state: int) -> int:
    return (69069 * state + 1) & 0xFFFFFFFF


def _odds(slope: float, uniform: float, scale: float) -> tuple[float, float]:
    """Return the logit of a uniform number, stretched, and what becomes of it as odds."""
    logit = slope * math.log(uniform / (1 - uniform))
    if logit > _LARGEST_EXPONENT:
        return logit, sys.float_info.max
    return logit, min(scale * math.exp(logit), sys.float_info.max)


# The coefficients of Wichura's rational functions, highest power first.
_MIDDLE = (
    (
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    ),
    (
        5226.495278852854561,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    ),
)
_SIDE = (
    (
        7.7454501427834140764e-4,
        0.0227238449892691845833,
        0.24178072517745061177,
        1.27045825245236838258,
        3.64784832476320460504,
        5.7694972214606914055,
        4.6303378461565452959,
        1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9,
        5.475938084995344946e-4,
        0.0151986665636164571966,
        0.14810397642748007459,
        0.68976733498510000455,
        1.6763848301838038494,
        2.05319162663775882187,
        1.0,
    ),
)
_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        0.0012426609473880784386,
        0.026532189526576123093,
        0.29656057182850489123,
        1.7848265399172913358,
        5.4637849111641143699,
        6.6579046435011037772,
    ),
    (
        2.04426310338993978564e-15,
        1.4215117583164458887e-7,
        1.8463183175100546818e-5,
        7.868691311456132591e-4,
        0.0148753612908506148525,
        0.13692988092273580531,
        0.59983220655588793769,
        1.0,
    ),
)


def normal_quantile(probability: FloatArray) -> FloatArray:
    """Return standard normal quantiles by Wichura's algorithm AS 241, as R has them.

    Examples
    --------
    >>> normal_quantile(np.array([0.3, 0.5, 0.999]))
    array([-0.52440051,  0.        ,  3.09023231])
    """
    centred = probability - 0.5
    middle = centred * _ratio(_MIDDLE, 0.180625 - centred * centred)
    depth = np.sqrt(-np.log(np.minimum(probability, 1 - probability)))
    outer = np.where(depth <= 5, _ratio(_SIDE, depth - 1.6), _ratio(_TAIL, depth - 5))
    return np.where(np.abs(centred) <= 0.425, middle, np.copysign(outer, centred))


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: FloatArray) -> FloatArray:
    above, below = (np.polyval(part, x) for part in coefficients)
    return np.asarray(above / below)
