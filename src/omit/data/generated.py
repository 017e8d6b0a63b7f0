"""Data sets that are made from a seed when they are read.

The numbers come from the raw bits of a bit generator, whose stream NumPy promises never to change,
and not from NumPy's distributions, which may change from one version to the next: a registered name
must mean the same records everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import PCG64
    from pandas import DataFrame

    from omit._numeric import FloatArray

KMEDIAN_SEED = 2026
_CENTRES, _POINTS_OF_EACH, _SIGMA = 4, 25, 10
_LOWEST, _HIGHEST = 1, 100


def kmedian_synthetic() -> DataFrame:
    """Return 100 whole points of {1, ..., 100}^2 around four centres, the same in every call.

    The recipe is that of the omitting-records paper, Section 3.1: four random accumulation points
    in {10, ..., 90}^2, and 100 points from Gaussian distributions with sigma = 10 around them,
    rounded to whole numbers. Where the paper is silent: every centre has 25 points, and a point
    that falls outside is drawn again, both coordinates, so that none pile up at the edge.

    Examples
    --------
    >>> points = kmedian_synthetic()
    >>> points.shape, int(points.to_numpy().min()) >= 1, int(points.to_numpy().max()) <= 100
    ((100, 2), True, True)
    """
    import numpy as np
    from pandas import DataFrame
    from scipy.special import ndtri

    bits = np.random.PCG64(KMEDIAN_SEED)
    centres = 10 + np.floor(81 * _uniform(bits, (_CENTRES, 2)))
    points = []
    for centre in np.repeat(centres, _POINTS_OF_EACH, axis=0):
        point = np.zeros(2)
        while not ((point >= _LOWEST) & (point <= _HIGHEST)).all():
            point = np.rint(centre + _SIGMA * ndtri(_uniform(bits, (2,))))
        points.append(point)
    return DataFrame(np.array(points, dtype=np.int64), columns=["x", "y"])


def _uniform(bits: PCG64, shape: tuple[int, ...]) -> FloatArray:
    """Return numbers strictly between 0 and 1, from 52 bits each."""
    import numpy as np

    return np.asarray(((bits.random_raw(shape) >> np.uint64(12)) + 0.5) / 2.0**52)
