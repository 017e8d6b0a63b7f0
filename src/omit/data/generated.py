"""Populations that are drawn from a fixed seed, so that everybody who asks has the same one.

Each function returns the whole table. What is declared about its columns stands in the registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import FloatArray

if TYPE_CHECKING:
    import pandas as pd

# The size and the distributions are those of Hu, Drechsler and Kim ("Accuracy Gains from Privacy
# Amplification Through Sampling", Sections 2.4, 4.3 and Appendix B); the seed is ours.
POPULATION = 10_001
SEED = 3


def beta_population() -> pd.DataFrame:
    """Return 10,001 values of the Beta(2, 10) distribution.

    Examples
    --------
    >>> beta_population().shape
    (10001, 1)
    """
    return _table("beta", np.random.default_rng(SEED).beta(2, 10, POPULATION))


def lognormal_population() -> pd.DataFrame:
    """Return 10,001 values of the lognormal distribution with mu = 5 and sigma = 0.5.

    Examples
    --------
    >>> lognormal_population().shape
    (10001, 1)
    """
    return _table("lognormal", np.random.default_rng(SEED).lognormal(5, 0.5, POPULATION))


def bimodal_population() -> pd.DataFrame:
    """Return 10,001 values in two groups, with the median at the edge of the first one.

    5,001 values of Beta(2, 10) divided by 2 and 5,000 values of 1 + Beta(2, 10), moved and scaled
    so that the smallest is 0 and the largest 1.

    Examples
    --------
    >>> values = bimodal_population()["bimodal"].sort_values().to_numpy()
    >>> bool(values[5001] - values[5000] > 0.4)
    True
    """
    rng = np.random.default_rng(SEED)
    left = rng.beta(2, 10, (POPULATION + 1) // 2) / 2
    right = rng.beta(2, 10, (POPULATION - 1) // 2) + 1
    values = np.concatenate([left, right])
    return _table("bimodal", (values - values.min()) / (values.max() - values.min()))


def _table(name: str, values: FloatArray) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: values})
