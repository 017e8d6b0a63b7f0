"""Property queries: how many entries have a property, each independently with a known probability.

The adversary knows the probabilities, the values of `known` entries, and wants to know whether one
entry, the critical one, has the property. Known entries move every answer by the same amount, so
what protects the critical entry is the uncertainty about the `n - 1 - known` others.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import Bounds, FloatArray, at_least, at_most
from omit.errors import InvalidInput
from omit.laws import counts, divergence
from omit.laws.discrete import LatticeNoise
from omit.laws.distribution import Distribution
from omit.laws.sums import LogMass
from omit.statistical import assumptions, sums
from omit.statistical.curve import PrivacyCurve, two_directions, worst_curve

_DEEPEST = 780.0
_LARGEST_WINDOW = 10**7


def property_curve(
    n: int,
    p: float,
    epsilon: ArrayLike,
    *,
    known: int = 0,
    noise: sums.AddedNoise | None = None,
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
    query, noise = assumptions.PropertyQuery(n, p, epsilon, known), sums.checked_noise(noise)
    others, p, epsilons = query.unknown, query.p, query.epsilon
    assumption = f"{query}{sums.describe_noise(noise)}"
    if isinstance(noise, LatticeNoise):
        parts = [(Distribution.of_property(p), others)]
        return sums.sum_curve_of_groups(
            parts, (0.0, 1.0), epsilons, noise=noise, assumption=assumption
        )
    plain = two_directions(
        epsilons,
        _bounds(divergence.one_more(others, p, epsilons)),
        _bounds(divergence.one_less(others, p, epsilons)),
        assumption,
    )
    if noise is None:
        return plain

    def noisy() -> PrivacyCurve:
        log = _log_window(others, p)
        mass = LogMass(log - counts.LOG_ERROR, log + counts.LOG_ERROR)
        more, less = (
            divergence.half_line(each, 1, 1.0, Fraction(1), noise, epsilons)
            for each in (mass, mass.mirrored)
        )
        return two_directions(epsilons, more, less, assumption)

    return sums.with_noise(plain, Fraction(1), 1.0, noise, noisy)


def grouped_property_curve(
    groups: Sequence[tuple[int, float]],
    epsilon: ArrayLike,
    *,
    critical: int | None = None,
    known: int = 0,
    noise: sums.AddedNoise | None = None,
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
    >>> curve.delta.round(6)
    array([0.012977, 0.004082])
    """
    checked = assumptions.checked_groups(groups)
    chosen = assumptions.critical_groups(critical, len(checked))
    total = sum(size for size, _ in checked)
    if total > counts.LARGEST_TRIALS:
        raise InvalidInput(f"Expected at most {counts.LARGEST_TRIALS:,} entries, got {total:,}.")
    known = _validate.whole("known", known)
    epsilons, noise = assumptions.ascending_epsilons(epsilon), sums.checked_noise(noise)
    sizes = ", ".join(f"{size:,} entries with probability {p!r}" for size, p in checked)
    known_too = assumptions.describe_known(known)
    assumption = f"independent entries, {sizes}{known_too}{sums.describe_noise(noise)}"
    curves = []
    for group in chosen:
        others = [
            (Distribution.of_property(p), size - (index == group))
            for index, (size, p) in enumerate(checked)
        ]
        curves.append(
            sums.sum_curve_of_groups(
                others, (0.0, 1.0), epsilons, noise=noise, assumption=assumption
            )
        )
    return worst_curve(curves)


def _bounds(delta: FloatArray) -> Bounds:
    return at_least(delta, divergence.RELATIVE_ERROR), at_most(delta, divergence.RELATIVE_ERROR)


def _log_window(trials: int, p: float) -> FloatArray:
    """Return logarithms of the probabilities of all counts that are not lost below floats."""
    half = counts.bernstein_reach(trials * p * (1 - p), _DEEPEST)
    if trials and 2 * half > _LARGEST_WINDOW:
        raise InvalidInput(
            f"Expected fewer than {trials + 1:,} entries for continuous noise; discrete Gaussian "
            "noise of the same scale is close to it."
        )
    return counts.binomial_window(trials, p, half)[1]
