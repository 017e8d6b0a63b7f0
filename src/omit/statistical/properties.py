"""Property queries: how many entries have a property, each independently with a known probability.

The adversary knows the probabilities, the values of `known` entries, and wants to know whether one
entry, the critical one, has the property. Known entries move every answer by the same amount, so
what protects the critical entry is the uncertainty about the `n - 1 - known` others.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, at_least, at_most
from omit.errors import InvalidInput
from omit.laws.counts import LARGEST_TRIALS, LOG_ERROR, bernstein_reach, binomial_window
from omit.laws.discrete import LatticeNoise
from omit.laws.distribution import Distribution, checked_entries, property_probability
from omit.laws.divergence import RELATIVE_ERROR, Bounds, one_less, one_more
from omit.laws.half_line import LogMass, half_line
from omit.statistical.curve import (
    PrivacyCurve,
    ascending_epsilons,
    bounded_curve,
    two_directions,
)
from omit.statistical.noise import (
    AddedNoise,
    require_continuous,
    with_noise,
)
from omit.statistical.sums import sum_curve_of_groups

_DEEPEST = 780.0
_LARGEST_WINDOW = 10**7


def property_curve(
    n: int,
    p: float,
    epsilon: ArrayLike,
    *,
    known: int = 0,
    noise: AddedNoise | None = None,
) -> PrivacyCurve:
    """Return the privacy curve of a property query on independent, identical entries.

    Parameters
    ----------
    n : int
        Entries of the database, up to 10^12.
    p : float
        Probability of the property, in (0, 1).
    epsilon : array
        Where to evaluate.
    known : int
        How many other entries the adversary knows, at most `n - 1`.
    noise : LogConcaveNoise or LatticeNoise, optional
        Added to the number of entries with the property.

    Raises
    ------
    InvalidInput
        If a value is out of range.

    Examples
    --------
    >>> curve = property_curve(2**15, 0.5, [0.005, 0.01, 0.02])
    >>> curve.delta
    array([0.00235741, 0.00110482, 0.00015529])
    >>> print(property_curve(10**6, 0.3, 0.02, known=500_000).guarantee(0.02))
    (0.02, 2.3697...e-14)-statistical privacy, assuming: ...
    """
    n, known = checked_entries(n, known)
    p = property_probability(p)
    epsilons = ascending_epsilons(epsilon)
    others = n - 1 - known
    assumption = describe(n, p, known)
    if noise is not None:
        assumption += f"; {noise}"
    if isinstance(noise, LatticeNoise):
        parts = [(Distribution([0.0, 1.0], [1 - p, p]), others)]
        return sum_curve_of_groups(parts, (0.0, 1.0), epsilons, noise=noise, assumption=assumption)
    plain = two_directions(
        epsilons,
        _bounds(one_more(others, p, epsilons)),
        _bounds(one_less(others, p, epsilons)),
        assumption,
    )
    if noise is None:
        return plain
    require_continuous(noise)

    def noisy() -> PrivacyCurve:
        log = _log_window(others, p)
        mass = LogMass(log - LOG_ERROR, log + LOG_ERROR)
        width = Fraction(1)
        more, less = (
            half_line(each, 1, 1.0, width, noise, epsilons) for each in (mass, mass.mirrored)
        )
        return two_directions(epsilons, more, less, assumption)

    return with_noise(plain, Fraction(1), 1.0, noise, noisy)


def grouped_property_curve(
    groups: Sequence[tuple[int, float]],
    epsilon: ArrayLike,
    *,
    critical: int | None = None,
    known: int = 0,
    noise: AddedNoise | None = None,
) -> PrivacyCurve:
    """Return the curve of a property query on entries that are not alike (Poisson-binomial).

    Parameters
    ----------
    groups : sequence of (size, probability)
        The adversary knows how many entries have which probability.
    epsilon : array
        Where to evaluate.
    critical : int, optional
        The group of the critical entry; the worst one if not given.
    known : int
        How many further entries the adversary knows with certainty.
    noise : LogConcaveNoise or LatticeNoise, optional
        Added to the number of entries with the property.

    Examples
    --------
    >>> curve = grouped_property_curve([(500, 0.2), (500, 0.8)], [0.05, 0.1])
    >>> np.round(curve.delta, 6)
    array([0.012977, 0.004082])
    """
    checked = checked_groups(groups)
    if critical is not None:
        critical = _validate.index("critical", critical, len(checked), "groups")
    total = sum(size for size, _ in checked)
    if total > LARGEST_TRIALS:
        raise InvalidInput(f"Expected at most {LARGEST_TRIALS:,} entries, got {total:,}.")
    known = _validate.whole("known", known)
    epsilons = ascending_epsilons(epsilon)
    sizes = ", ".join(f"{size:,} entries with probability {p!r}" for size, p in checked)
    assumption = f"independent entries, {sizes}{_and_known(known)}"
    if noise is not None:
        assumption += f"; {noise}"
    curves = []
    for index in range(len(checked)) if critical is None else [critical]:
        parts = [
            (Distribution([0.0, 1.0], [1 - p, p]), size - (place == index))
            for place, (size, p) in enumerate(checked)
        ]
        curves.append(
            sum_curve_of_groups(parts, (0.0, 1.0), epsilons, noise=noise, assumption=assumption)
        )
    return worst_curve(curves)


def checked_groups(groups: Sequence[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Return groups of entries, each with its size and the probability of the property.

    Raises
    ------
    InvalidInput
        If there is none, or a size or a probability is out of range.
    """
    checked = tuple(
        (_validate.positive_integer("size", size), property_probability(p, "probability"))
        for size, p in _validate.pairs("(size, probability)", groups)
    )
    if not checked:
        raise InvalidInput("Expected at least one group of entries.")
    return checked


def worst_curve(curves: Sequence[PrivacyCurve]) -> PrivacyCurve:
    """Return the curve that is largest at every epsilon."""
    if len(curves) == 1:
        return curves[0]
    first = curves[0]
    delta = [curve.delta for curve in curves]
    largest = np.argmax(delta, axis=0)
    return bounded_curve(
        first.epsilon,
        np.max([curve.lower for curve in curves], axis=0),
        np.max(delta, axis=0),
        first.assumption,
        pairs=tuple(curves[which].pairs[place] for place, which in enumerate(largest)),
        directions={
            name: np.max([curve.directions[name] for curve in curves], axis=0)
            for name in first.directions
        },
    )


def _bounds(divergence: FloatArray) -> Bounds:
    return at_least(divergence, RELATIVE_ERROR), at_most(divergence, RELATIVE_ERROR)


def describe(n: int, p: float, known: int = 0) -> str:
    """Return what is assumed about identical entries, in words."""
    return f"{n:,} independent entries, each with probability {p!r}{_and_known(known)}"


def _and_known(known: int) -> str:
    if known == 0:
        return ", none known to the adversary"
    return f", {known:,} others known to the adversary"


def _log_window(trials: int, p: float) -> FloatArray:
    """Return logarithms of the probabilities of all counts that are not lost below floats."""
    half = bernstein_reach(trials * p * (1 - p), _DEEPEST)
    if trials and 2 * half > _LARGEST_WINDOW:
        raise InvalidInput(
            f"Expected fewer than {trials + 1:,} entries for continuous noise; discrete Gaussian "
            "noise of the same scale is close to it."
        )
    return binomial_window(trials, p, half)[1]
