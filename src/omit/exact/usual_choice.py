"""Between which points a choice after an omission nearly always is: for intervals that cover.

Drawn samples do not show what is rarer than one in as many samples as there are, and such a sample
can err by as much as the bounds are wide. What is known beforehand: let `D_c` be by how much the
number of records at the first `c` values exceeds the wanted rank `q n`, after the omission. If `D_c
<= -M` for the values below some point and `D_c >= M` for those up to another, all points beyond
the two are at least `M` ranks off, and one of them is chosen with a probability of at most `W
e^(-M/b)`. How rare other samples are is bounded by Chernoff's method: with `w = 1 - q` for records
at the first `c` values and `-q` for the others,

    P(D_c > -M) <= min_s e^(s M) Π_v (1 - k_v + k_v e^(s w_v))^(n_v),

and likewise for `P(D_c < M)`. For samples of one size, drawn without replacement, `E e^(s D_c)` is
at most what it is with replacement (Hoeffding 1963).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from omit._numeric import FloatArray, IntArray, as_array
from omit.exact.choice import Choice, Lattice

# Tilts, distances in scales, and how rare exceptions may be: any of them is valid.
_TILTS = np.logspace(-5, 1.5, 53)
_SCALES = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_LEVELS = (1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-13, 1e-17)
# Ranks that differ by this much differ.
_APART = 1e-6


class Usual(NamedTuple):
    """The points `first` to `last`, within which all but few samples nearly always choose.

    A share of at most `rare` of the samples is different; in the others a point elsewhere is
    chosen with a probability of at most `outside`.
    """

    first: int
    last: int
    rare: float
    outside: float


def usual_choices(
    lattice: Lattice,
    counts: IntArray,
    inclusion: FloatArray,
    choice: Choice,
    size: int | None = None,
) -> list[Usual]:
    """Return ranges of points and how rare others are, the whole lattice among them.

    `inclusion` is the probability of each value's records to be kept; with a `size`, samples of
    that size are drawn instead, every subset alike.

    Examples
    --------
    >>> lattice, counts = Lattice(np.arange(5), 4), np.array([10, 10, 1000, 10, 10])
    >>> usual_choices(lattice, counts, np.full(5, 0.5), Choice(0.5, 1.0, True))[-1][:2]
    (2, 2)
    """
    below, above = _tilted(counts, inclusion, choice.share, size)
    points = lattice.last + 1
    found = [Usual(0, lattice.last, 0.0, 0.0)]
    for scales in _SCALES:
        distance = max(scales * choice.scale, _APART)
        outside = points * math.exp(-scales) if choice.scale else 0.0
        # For every number of values: how often fewer records than wanted are not among them, and
        # how often fewer are.
        tilt = _TILTS[:, None] * distance
        too_many = (tilt + below).min(axis=0)
        too_few = (tilt + above).min(axis=0)
        for level in _LEVELS:
            lefts = np.flatnonzero(too_many[:-1] <= math.log(level))
            rights = np.flatnonzero(too_few[1:] <= math.log(level))
            if len(lefts) and len(rights):
                first, last = lattice.values[lefts[-1]], lattice.values[rights[0]]
                if first <= last:
                    found.append(Usual(int(first), int(last), 2 * level, min(outside, 1.0)))
    return found


def _tilted(
    counts: IntArray, inclusion: FloatArray, share: float, size: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return `ln E e^(s D_c)` and `ln E e^(-s D_c)`, for each tilt `s` and each number `c`."""
    s = _TILTS[:, None]
    if size is not None:
        part = np.append(0.0, np.cumsum(counts)) / counts.sum()
        upward = size * (np.log1p(part * np.expm1(s)) - share * s)
        with np.errstate(divide="ignore"):
            downward = size * (np.log1p(part * np.expm1(-s)) + share * s)
        return as_array(upward), as_array(downward)

    def cumulants(tilt: FloatArray) -> FloatArray:
        """Return the logarithms of the factors of all values with this tilt, summed from the left.

        Kept records are tilted by it, and there are some before the first value: none.
        """
        with np.errstate(divide="ignore"):
            each = counts * np.log1p(inclusion * np.expm1(tilt))
        return np.concatenate([np.zeros_like(tilt), np.cumsum(each, axis=1)], axis=1)

    def both(sign: float) -> FloatArray:
        among, others = cumulants(sign * (1 - share) * s), cumulants(-sign * share * s)
        return as_array(among + others[:, -1:] - others)

    return both(1.0), both(-1.0)
