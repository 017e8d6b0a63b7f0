"""The lattice that the values of a column lie on."""

from __future__ import annotations

import numpy as np

from omit._numeric import FloatArray

_DECIMALS = 6
_LARGEST = 2**52


def lattice_step(values: FloatArray) -> float | None:
    """Return the largest number of which all differences of the values are multiples, if any.

    Values are taken for decimal numbers of at most six decimals, of which floats are the nearest.

    Examples
    --------
    >>> lattice_step(np.array([10.0, 25.0, 40.0])), lattice_step(np.array([0.0, 0.25, 1.5]))
    (15.0, 0.25)
    >>> lattice_step(np.array([0.0, np.pi])) is None
    True
    """
    nearest = 4 * np.finfo(np.float64).eps * np.abs(values).max()
    for decimals in range(_DECIMALS + 1):
        scaled = values * 10.0**decimals
        whole = np.round(scaled)
        if np.abs(scaled - whole).max() <= nearest * 10.0**decimals and (
            np.abs(whole).max() < _LARGEST
        ):
            differences = np.diff(whole.astype(np.int64))
            divisor = int(np.gcd.reduce(differences)) if len(differences) else 0
            return divisor / 10.0**decimals if divisor else 1.0
    return None
