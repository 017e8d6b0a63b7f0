"""Data sets that are made from a seed when they are read.

A registered name should mean the same records everywhere. `kmedian_synthetic` takes the raw bits of
a bit generator, whose stream NumPy promises never to change. The populations of the accuracy-gains
paper come from NumPy's distributions, which a later version may change, because the numbers that we
state about them rest on the records that these give; the tests hold them to those.
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

# The size and the distributions are those of Hu, Drechsler and Kim ("Accuracy Gains from Privacy
# Amplification Through Sampling", Sections 2.4, 4.3 and Appendix B); the seed is ours.
POPULATION = 10_001
POPULATION_SEED = 3


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


def beta_population() -> DataFrame:
    """Return 10,001 values of the Beta(2, 10) distribution.

    Examples
    --------
    >>> beta_population().shape
    (10001, 1)
    """
    import numpy as np

    return _table("beta", np.random.default_rng(POPULATION_SEED).beta(2, 10, POPULATION))


def lognormal_population() -> DataFrame:
    """Return 10,001 values of the lognormal distribution with mu = 5 and sigma = 0.5.

    Examples
    --------
    >>> lognormal_population().shape
    (10001, 1)
    """
    import numpy as np

    return _table("lognormal", np.random.default_rng(POPULATION_SEED).lognormal(5, 0.5, POPULATION))


def bimodal_population() -> DataFrame:
    """Return 10,001 values in two groups, with the median at the edge of the first one.

    5,001 values of Beta(2, 10) divided by 2 and 5,000 values of 1 + Beta(2, 10), moved and scaled
    so that the smallest is 0 and the largest 1.

    Examples
    --------
    >>> values = bimodal_population()["bimodal"].sort_values().to_numpy()
    >>> bool(values[5001] - values[5000] > 0.4)
    True
    """
    import numpy as np

    rng = np.random.default_rng(POPULATION_SEED)
    left = rng.beta(2, 10, (POPULATION + 1) // 2) / 2
    right = rng.beta(2, 10, (POPULATION - 1) // 2) + 1
    values = np.concatenate([left, right])
    return _table("bimodal", (values - values.min()) / (values.max() - values.min()))


def _uniform(bits: PCG64, shape: tuple[int, ...]) -> FloatArray:
    """Return numbers strictly between 0 and 1, from 52 bits each."""
    import numpy as np

    return np.asarray(((bits.random_raw(shape) >> np.uint64(12)) + 0.5) / 2.0**52)


def _table(name: str, values: FloatArray) -> DataFrame:
    from pandas import DataFrame

    return DataFrame({name: values})
