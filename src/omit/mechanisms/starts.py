"""Where a clustering begins: centres that do not look at the data, and so cost no privacy."""

from __future__ import annotations

import numpy as np

from omit._numeric import FloatArray

# How many random places compete to be the next centre.
_RIVALS = 10


def uniform_starts(k: int, dimensions: int, rng: np.random.Generator) -> FloatArray:
    """Return `k` places in the cube [-1, 1]^d, each uniform."""
    return rng.uniform(-1, 1, (k, dimensions))


def spread_starts(k: int, dimensions: int, rng: np.random.Generator) -> FloatArray:
    """Return `k` places in the cube [-1, 1]^d that keep away from each other.

    Each is the one of ten uniform places that is farthest from those already taken (best-candidate
    sampling). As many random numbers are drawn in every run.

    Examples
    --------
    >>> spread_starts(2, 1, np.random.default_rng(0)).round(2)
    array([[ 0.27],
           [-0.99]])
    """
    places = rng.uniform(-1, 1, (k, _RIVALS, dimensions))
    chosen = places[0, :1]
    for rivals in places[1:]:
        apart = np.square(rivals[:, None] - chosen[None]).sum(axis=2).min(axis=1)
        chosen = np.vstack([chosen, rivals[apart.argmax()]])
    return chosen
