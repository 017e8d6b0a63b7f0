"""What a characteristic function still holds after it has seemed to vanish.

A sum `Σ_v v Bin(n_v, k_v)` of values on a lattice takes lattice values only, so its characteristic
function returns to 1 again and again; with few or very unequal counts also in between.
Whoever cuts off an inversion integral must know. With `w_v = n_v k_v (1 - k_v)`,

    |φ(ω)| <= exp(-(Σ w_v - |Σ w_v e^(iωv)|)),

and on a lattice the sum on the right is periodic: one fast Fourier transform shows all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array

_DECIMALS = 4
_LARGEST_TRANSFORM = 2**18
_LARGEST_SCAN = 20_000_000
_RECURRENCES = 200
_NEGLIGIBLE_HEIGHT = 1e-14


def lattice_spacing(values: FloatArray) -> float | None:
    """Return the largest number of which all differences of the values are multiples, if any.

    Values are taken to have at most four decimals.

    Examples
    --------
    >>> lattice_spacing(np.array([10.0, 25.0, 40.0])), lattice_spacing(np.array([0.0, 0.25, 1.5]))
    (15.0, 0.25)
    >>> lattice_spacing(np.array([0.0, math.pi])) is None
    True
    """
    for decimals in range(_DECIMALS + 1):
        scaled = (values - values[0]) * 10.0**decimals
        whole = np.round(scaled)
        if np.abs(scaled - whole).max() < 1e-6 and whole.max() < 2**52:
            divisor = int(np.gcd.reduce(whole.astype(np.int64)))
            return divisor / 10.0**decimals if divisor else None
    return None


class Cutoff(NamedTuple):
    """Where an inversion integral may end, and how much is missed there.

    `missed` is a bound on the error of the probability, averaged over the points of comparison;
    `extended` tells whether the cutoff is later than where it was expected.
    """

    frequency: float
    missed: float
    extended: bool = False


UNCERTAIN = Cutoff(math.inf, math.inf, True)


def checked_cutoff(
    values: FloatArray,
    weights: FloatArray,
    log_noise: Callable[[FloatArray], FloatArray],
    points: FloatArray,
    last: float,
    rarity: float,
) -> Cutoff:
    """Return the smallest frequency from `last` on beyond which everything vanishes.

    The bound above is looked at on a fine grid, and returns on a lattice are estimated by their
    normal shape: a careful check with room to spare, not a proof.

    Parameters
    ----------
    values, weights
        The values, sorted, and `n k (1 - k)` for each.
    log_noise
        Minus the logarithm of the characteristic function of what is added to the sum.
    points
        The points t at which `Σ_v (v - t) Bin(n_v, k_v)` is looked at.
    last
        The frequency from which on everything should vanish.
    rarity
        Minus the logarithm of what counts as nothing.

    Returns
    -------
    Cutoff
        At infinity if it cannot be told. What is missed are the returns on a lattice.

    Examples
    --------
    >>> laplace = lambda frequency: np.log1p((10 * frequency) ** 2)
    >>> values, points = np.arange(20.0, 60.0), np.linspace(39, 40, 100)
    >>> checked_cutoff(values, np.full(40, 50.0), laplace, points, 0.05, 27.0).frequency
    0.05
    >>> rare = np.array([0.0, 1.0]), np.array([250.0, 2.5])
    >>> checked_cutoff(*rare, laplace, np.array([0.01]), 0.5, 27.0).frequency
    inf
    """
    if len(values) < 2:
        return UNCERTAIN
    spacing = lattice_spacing(values)
    if spacing is None or last * spacing >= math.pi:
        return _by_scan(values, weights, log_noise, last, rarity)
    places = np.round((values - values[0]) / spacing).astype(np.int64)
    # Fine enough for the values' own waves, and for the way down before `last`.
    size = 1 << math.ceil(math.log2(16 * max(int(places[-1]) + 1, math.pi / (last * spacing))))
    if size > _LARGEST_TRANSFORM:
        return _by_scan(values, weights, log_noise, last, rarity)
    sizes = np.abs(np.fft.rfft(np.bincount(places, weights, minlength=size)))
    frequencies = as_array(2 * np.pi * np.arange(len(sizes)) / (size * spacing))
    total = float(weights.sum())
    remains = total - sizes + log_noise(frequencies) < rarity
    frequency = _last_of(frequencies, remains, last)
    order = np.arange(1, _RECURRENCES)
    peaks = as_array(2 * np.pi / spacing * order)
    variance = float((weights * (values - np.average(values, weights=weights)) ** 2).sum())
    heights = np.exp(-log_noise(peaks)) * math.sqrt(2 * np.pi / variance) / (np.pi * peaks)
    # A return has its full height only for points on the lattice.
    tall = heights > _NEGLIGIBLE_HEIGHT
    turns = 2 * np.pi * np.outer(order[tall], (points - values[0]) / spacing)
    seen = np.exp(-total * (1 - np.cos(turns))).mean(axis=1)
    return Cutoff(frequency, float((heights[tall] * seen).sum()), frequency > last)


def _by_scan(
    values: FloatArray,
    weights: FloatArray,
    log_noise: Callable[[FloatArray], FloatArray],
    last: float,
    rarity: float,
) -> Cutoff:
    """Go through all frequencies until the noise alone makes everything vanish."""
    step = 0.5 / float(values[-1] - values[0])
    end = last
    while float(log_noise(np.array([end]))[0]) < rarity:
        end *= 2
        if (end - last) / step * len(values) > _LARGEST_SCAN:
            return UNCERTAIN
    frequencies = np.arange(last, end + 2 * step, step)
    parts = max(1, len(frequencies) * len(values) // 1_000_000)
    sizes = np.concatenate(
        [
            np.abs(np.exp(1j * np.outer(some, values - values[0])) @ weights)
            for some in np.array_split(frequencies, parts)
        ]
    )
    remains = float(weights.sum()) - sizes + log_noise(frequencies) < rarity
    frequency = _last_of(frequencies, remains, last)
    return Cutoff(frequency, 0.0, frequency > last)


def _last_of(frequencies: FloatArray, remains: NDArray[np.bool_], last: float) -> float:
    """Return the frequency after the last one at which something remains, at least `last`."""
    if not remains.any():
        return last
    index = int(np.flatnonzero(remains)[-1]) + 1
    return max(last, float(frequencies[index])) if index < len(frequencies) else math.inf
