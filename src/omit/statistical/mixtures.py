"""Counts on a secret sample: mixtures of two neighbouring binomials, and how far they diverge.

The answer is `alpha b(a-1) + beta b(a)` against the same with other weights. Its divergence at
`epsilon` is `A` times that of `1 + X` from `X` at another epsilon, `ln(B / A)`.

Draws with replacement: how often entries are drawn, and the curve of an answer given that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from omit._numeric import SMALLEST_POSITIVE, FloatArray
from omit.laws.distribution import Distribution
from omit.laws.divergence import Bounds, one_less, one_more
from omit.statistical.sums import sum_curve_of_groups

_FEW_UNITS = 8 * 2.0**-53


def left_out_delta(
    n: int, used: int, p: float, epsilon: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on delta of a count over a random `used` of `n` entries.

    If the critical entry is left out, another has the property with probability `p` in its place.
    """
    out = (n - used) / n
    return mixture_delta(used - 1, p, used / n, (out * p, out * (1 - p)), epsilon)


def mixture_delta(
    trials: int, p: float | Fraction, share: float, common: tuple[float, float], epsilon: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on the larger divergence between two mixtures of `1 + X` and `X`, `X` binomial.

    The critical entry counts with probability `share`; else the answer is `1 + X` or `X` with the
    weights `common`, whatever the entry is. So `P - e^epsilon Q = A b(a-1) - B b(a)` with
    `A = share - (e^epsilon - 1) common[0]` and `B = e^epsilon share + (e^epsilon - 1) common[1]`.
    The positive part is `A` times that of `1 + X` from `X` at `ln(B / A)`, and zero if `A <= 0`.
    Where the difference `A` loses digits, or many trials make the last ones of the logarithm count,
    the bounds part.

    Examples
    --------
    >>> mixture_delta(3, 0.5, 1.0, (0.0, 0.0), np.array([0.0]))
    (array([0.375]), array([0.375]))
    """
    grow = np.exp(np.minimum(epsilon, 700.0))
    excess = np.expm1(np.minimum(epsilon, 700.0))
    lows: list[FloatArray] = []
    highs: list[FloatArray] = []
    for divergence, (one, zero) in ((one_more, common), (one_less, common[::-1])):
        A, B = share - excess * one, grow * share + excess * zero
        # Each weight was rounded, and so were both terms.
        wrong = _FEW_UNITS * (share + excess * one) if one else 0.0
        for bounds, weight, slack in (
            (lows, A - wrong, _FEW_UNITS),
            (highs, A + wrong, -_FEW_UNITS),
        ):
            some = weight > 0
            inner = np.where(some, np.log(B) - np.log(np.where(some, weight, B)), 0.0)
            inner += slack * (1 + inner)
            value = weight * divergence(trials, p, np.maximum(inner, 0.0))
            # A product that is too small for a float is not zero; lower bounds are rounded down.
            bounds.append(np.where(some, np.maximum(value, SMALLEST_POSITIVE), 0.0))
    return np.maximum(*lows), np.maximum(*highs)


MOST_PROFILES = 3_000
# More draws have more profiles than that, and need not be counted.
_MANY_DRAWS = 100


def positive_binomial(trials: int, p: float, rng: np.random.Generator) -> int:
    """Return a binomial number, given that it is not zero: by its first success."""
    level = rng.random() * -math.expm1(trials * math.log1p(-p)) if p < 1 else 0.0
    first = min(math.floor(math.log1p(-level) / math.log1p(-p)), trials - 1) if p < 1 else 0
    return 1 + int(rng.binomial(trials - 1 - first, p))


def repeated_delta(own: int, profile: Mapping[int, int], p: float, epsilon: FloatArray) -> Bounds:
    """Return bounds on the curve given that the critical entry counts `own` times.

    `profile` says how many others count once, twice and so on.
    """
    if own == 0:
        return np.zeros(len(epsilon)), np.zeros(len(epsilon))
    others = [
        (Distribution([0.0, float(times)], [1 - p, p]), count)
        for times, count in profile.items()
        if count
    ]
    curve = sum_curve_of_groups(others, [0.0, float(own)], epsilon)
    return curve.lower, curve.delta


def _partitions(total: int, largest: int) -> Iterator[Counter[int]]:
    if total == 0:
        yield Counter()
        return
    for first in range(min(total, largest), 0, -1):
        for rest in _partitions(total - first, first):
            yield rest + Counter({first: 1})


def count_profiles(size: int) -> int:
    """Return how many profiles there are of `size` draws: partitions of every number up to it."""
    size = min(size, _MANY_DRAWS)
    ways = [1] + [0] * size
    for part in range(1, size + 1):
        for total in range(part, size + 1):
            ways[total] += ways[total - part]
        if ways[-1] > MOST_PROFILES:
            return ways[-1]
    return sum(ways)


def profiles(n: int, size: int) -> Iterator[tuple[int, Counter[int], float]]:
    """Yield how often the critical entry is drawn, how many others how often, and how likely."""
    for own in range(size + 1):
        left = size - own
        for profile in _partitions(left, left):
            different = sum(profile.values())
            if different > n - 1:
                continue
            ways = math.comb(size, own) * math.factorial(left) * math.perm(n - 1, different)
            alike = math.prod(
                math.factorial(times) ** count * math.factorial(count)
                for times, count in profile.items()
            )
            yield own, profile, ways // alike / n**size
