"""Sums of independent entries: privacy curves for any distribution on a lattice.

With `S` the sum of all entries but the critical one, the answer is `S + v` or `S + w`, so a pair of
values matters by its difference only. If the entries are log-concave, `S` is, and the pair of
extreme values is the easiest to tell apart, in either direction. Otherwise all differences are
tried, or, where these are too many, bounded together by an envelope.

The transform that computes `S` has an absolute error, which is part of every delta returned. Where
delta is not far above it and `S` is log-concave, the sum is tilted by `epsilon / (v - w)`: this
puts the mean where the two hypotheses are equally likely up to `e^epsilon`, and the error becomes
relative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.mechanisms.noise import Noise
from omit.statistical.added_noise import (
    AddedNoise,
    DiscreteGaussian,
    require_continuous,
    show_noise,
    trapezoid,
    with_noise,
)
from omit.statistical.binomial import LARGEST_TRIALS
from omit.statistical.distribution import Distribution, checked_entries
from omit.statistical.guarantee import (
    Pair,
    PrivacyCurve,
    ascending_epsilons,
    two_directions,
)
from omit.statistical.half_line import LogMass, half_line
from omit.statistical.hockey import by_threshold, envelope, hockey_stick, shifted
from omit.statistical.lattice import LatticeSum, Part, lattice_sum

# Tilt where the absolute error is more than this part of delta.
_WORTH_TILTING = 1e-7
# One tilt serves thresholds within so many standard deviations of its mean.
_REACH_OF_A_TILT = 2.0
_LARGEST_STEP = 30.0
_ALL_PAIRS_WORK = 3 * 10**8


def sum_curve(
    distribution: Distribution,
    n: int,
    epsilon: ArrayLike,
    *,
    known: int = 0,
    noise: AddedNoise | None = None,
) -> PrivacyCurve:
    """Return the privacy curve of the sum of independent entries with the same distribution.

    Parameters
    ----------
    distribution : Distribution
        Of one entry.
    n : int
        Entries of the database.
    epsilon : array
        Where to evaluate.
    known : int
        How many other entries the adversary knows, at most `n - 1`.
    noise : Noise or DiscreteGaussian, optional
        Added to the sum; the scale of discrete noise is in steps of the lattice.

    Examples
    --------
    >>> die = Distribution([1, 2, 3, 4, 5, 6], [1 / 6] * 6)
    >>> curve = sum_curve(die, 1000, [0.1, 0.5])
    >>> curve.delta, curve.pairs[0]
    (array([6.95204602e-03, 8.04325161e-10]), (6.0, 1.0))
    """
    n, count = checked_entries(n, known)
    if n > LARGEST_TRIALS:
        raise InvalidInput(f"Expected at most {LARGEST_TRIALS:,} entries, got {n:,}.")
    assumption = (
        f"{n:,} independent entries, {len(distribution.values)} values from "
        f"{distribution.values[0]:g} to {distribution.values[-1]:g} with known probabilities, "
        f"{count:,} known to the adversary"
    )
    if noise is not None:
        assumption += f"; {show_noise(noise)}"
    return sum_curve_of_groups(
        [(distribution, n - 1 - count)],
        distribution.values,
        epsilon,
        noise=noise,
        assumption=assumption,
    )


def sum_curve_of_groups(
    others: Sequence[tuple[Distribution, int]],
    values: ArrayLike,
    epsilon: ArrayLike,
    *,
    noise: AddedNoise | None = None,
    assumption: str = "independent entries with known distributions",
) -> PrivacyCurve:
    """Return the curve for a critical entry among others that need not be alike.

    Parameters
    ----------
    others : sequence of (Distribution, count)
        All entries but the critical one and the known ones.
    values : array
        What the critical entry can be.
    epsilon : array
        Where to evaluate.
    noise : Noise or DiscreteGaussian, optional
        Added to the sum.
    assumption : str
        What to say about the adversary.

    Examples
    --------
    >>> coin = Distribution([0, 1], [0.5, 0.5])
    >>> sum_curve_of_groups([(coin, 3)], [0, 1], [0.0]).delta
    array([0.375])
    """
    epsilons = ascending_epsilons(epsilon)
    critical = np.unique(np.asarray(values, dtype=np.float64))
    if len(critical) < 2:
        raise InvalidInput("Expected at least two values of the critical entry.")
    step = _common_step(others, critical)
    parts = [
        Part(each.points * round(each.step / step), each.probabilities, count)
        for each, count in others
    ]
    log_concave = all(
        each.is_log_concave and round(each.step / step) == 1 for each, count in others if count > 0
    )
    if isinstance(noise, DiscreteGaussian):
        parts.append(noise.part())
    elif noise is not None:
        require_continuous(noise)
    places = np.rint((critical - critical[0]) / step).astype(np.int64)

    def curve(added: Noise | None) -> PrivacyCurve:
        if not any(part.count > 0 for part in parts):
            return _alone(critical, epsilons, added, assumption)
        if log_concave:
            return _extremes(parts, critical, int(places[-1]), step, epsilons, added, assumption)
        return _any_pair(parts, critical, places, step, epsilons, added, assumption)

    if noise is None or isinstance(noise, DiscreteGaussian):
        return curve(None)
    width = float(critical[-1] - critical[0])
    return with_noise(curve(None), width, step, noise, lambda: curve(noise))


def _common_step(others: Sequence[tuple[Distribution, int]], critical: FloatArray) -> float:
    """Return the step of the lattice of the answers."""
    # The values of the critical entry and the steps of the others generate it.
    lengths = [*np.diff(critical), *(each.step for each, count in others if count > 0)]
    ticks = np.cumsum(lengths)
    return Distribution([0.0, *ticks], [1 / (len(ticks) + 1)] * (len(ticks) + 1)).step


def _alone(
    critical: FloatArray, epsilon: FloatArray, noise: Noise | None, assumption: str
) -> PrivacyCurve:
    """Return the curve where nothing is random but the noise."""
    pairs = _extreme_pairs(critical)
    if noise is None:
        one = np.ones(len(epsilon))
        return two_directions(epsilon, one, one, 0.0, assumption, pairs=pairs)
    width = float(critical[-1] - critical[0])
    low, high = half_line(LogMass(np.zeros(1)), 1, width, noise, epsilon)
    value, error = (low + high) / 2, (high - low) / 2
    return two_directions(epsilon, value, value, error, assumption, pairs=pairs)


def _extreme_pairs(critical: FloatArray) -> tuple[Pair, Pair]:
    low, high = float(critical[0]), float(critical[-1])
    return (high, low), (low, high)


def _extremes(
    parts: Sequence[Part],
    critical: FloatArray,
    shift: int,
    step: float,
    epsilon: FloatArray,
    noise: Noise | None,
    assumption: str,
) -> PrivacyCurve:
    """Return the curve of the extreme pair, which is the worst for log-concave sums."""
    whole = lattice_sum(parts)
    grow = 1 + np.exp(np.minimum(epsilon, 700.0))
    error = grow * whole.total_error
    deltas, errors = [], []
    for mirrored in (False, True):
        mass = whole.mass[::-1] if mirrored else whole.mass
        if noise is not None:
            with np.errstate(divide="ignore"):
                log_mass = LogMass(np.log(mass), 0.0, whole.point_error, 2 * whole.outside)
            low, high = half_line(log_mass, shift, step, noise, epsilon)
            deltas.append((low + high) / 2)
            errors.append((high - low) / 2)
            continue
        value = by_threshold(mass, shift, epsilon, whole.point_error + whole.outside)
        precise = error.copy()
        coarse = (error > _WORTH_TILTING * value) & (epsilon > 0)
        facing = [_mirror(part) for part in parts] if mirrored else parts
        _sharpen(facing, shift, epsilon, coarse, value, precise)
        deltas.append(value)
        errors.append(precise)
    return two_directions(
        epsilon,
        deltas[0],
        deltas[1],
        np.maximum(*errors),
        assumption,
        pairs=_extreme_pairs(critical),
    )


def _mirror(part: Part) -> Part:
    return Part(part.points[-1] - part.points[::-1], part.probabilities[::-1], part.count)


def _sharpen(
    parts: Sequence[Part],
    shift: int,
    epsilon: FloatArray,
    coarse: np.ndarray[tuple[int], np.dtype[np.bool_]],
    value: FloatArray,
    error: FloatArray,
) -> None:
    """Replace coarse values, and their errors, by those of tilted sums."""
    waiting = list(np.flatnonzero(coarse))
    while waiting:
        first = epsilon[waiting[0]]
        found = lattice_sum(parts, float(first) / shift)
        places = np.arange(len(found.mass))
        centre = float(found.mass @ places)
        spread = math.sqrt(max(float(found.mass @ (places - centre) ** 2), 1e-300))
        served = [
            index
            for index in waiting
            if (epsilon[index] - first) / shift * spread <= _REACH_OF_A_TILT
            and epsilon[index] - first <= _LARGEST_STEP
        ]
        for index in served:
            better = _tilted_delta(found, shift, float(epsilon[index]))
            if better[1] < error[index]:
                value[index], error[index] = better
        waiting = waiting[len(served) :]


def _tilted_delta(found: LatticeSum, shift: int, epsilon: float) -> tuple[float, float]:
    """Return delta from a tilted sum, and its error.

    `f(a - d) - e^epsilon f(a)` is `e^(K - t (a - d)) (g(a - d) - e^(epsilon - t d) g(a))` for the
    tilted probabilities `g`. Terms are summed from where they become positive.
    """
    up, still = shifted(found.mass, shift)
    factor = math.exp(epsilon - found.tilt * shift)
    places = np.arange(len(up))
    # The ratio rises, so that all terms before one that is certainly negative are negative too.
    negative = factor * (still - found.point_error) > up + found.point_error
    if not negative.any():
        return 0.0, 1.0
    begin = int(np.flatnonzero(negative)[-1]) + 1
    # up[i] is the probability of the number start + i - shift.
    weights = np.exp(-found.tilt * (places[begin:] - begin))
    total = float(np.maximum(up[begin:] - factor * still[begin:], 0.0) @ weights)
    exponent = found.log_moment - found.tilt * (found.start + begin - shift)
    size = abs(found.log_moment) + found.tilt * (found.start + begin)
    scale = math.exp(min(exponent, 700.0))
    wrong = (1 + factor) * (found.point_error * float(weights.sum()) + 2 * found.outside)
    relative = math.expm1(min(found.log_moment_error + 1e-15 * (1 + size), 700.0))
    return scale * total, scale * (wrong + (total + wrong) * relative) + 5e-324


def _any_pair(
    parts: Sequence[Part],
    critical: FloatArray,
    places: np.ndarray[tuple[int], np.dtype[np.int64]],
    step: float,
    epsilon: FloatArray,
    noise: Noise | None,
    assumption: str,
) -> PrivacyCurve:
    """Return the worst over all pairs, or an upper bound for all of them where they are many."""
    whole = lattice_sum(parts)
    grow = 1 + np.exp(np.minimum(epsilon, 700.0))
    error = grow * whole.total_error
    differences = np.unique(places[:, None] - places[None, :])
    differences = differences[differences > 0]
    work = 2 * len(differences) * len(epsilon) * (len(whole.mass) + int(places[-1]))
    continuous = noise is not None
    every_shift = work <= _ALL_PAIRS_WORK // (20 if continuous else 1)
    facing = (whole.mass, whole.mass[::-1])

    def divergence(mass: FloatArray, shift: int, all_up_to: bool) -> tuple[FloatArray, FloatArray]:
        if noise is not None:
            value, more = trapezoid(mass, shift, step, noise, epsilon, all_up_to)
            return value, error + more
        if all_up_to:
            return envelope(mass, shift, epsilon), error
        return hockey_stick(*shifted(mass, shift), epsilon), error

    if not every_shift:
        largest = int(places[-1])
        upper = [divergence(mass, largest, True) for mass in facing]
        lower = [divergence(mass, largest, False) for mass in facing]
        return _envelope_curve(epsilon, upper, lower, _extreme_pairs(critical), assumption)
    best = np.full(len(epsilon), -1.0)
    best_error = np.zeros(len(epsilon))
    pairs: list[Pair] = [_extreme_pairs(critical)[0]] * len(epsilon)
    for shift in differences:
        v, w = (int(index[0]) for index in np.nonzero(places[:, None] - places[None, :] == shift))
        for mass, pair in zip(
            facing,
            ((float(critical[v]), float(critical[w])), (float(critical[w]), float(critical[v]))),
            strict=True,
        ):
            value, wrong = divergence(mass, int(shift), False)
            for index in np.flatnonzero(value > best * (1 + 1e-12)):
                pairs[index] = pair
            best_error = np.maximum(best_error, wrong)
            best = np.maximum(best, value)
    return PrivacyCurve(
        epsilon,
        np.minimum(best + best_error, 1.0),
        np.maximum(best - best_error, 0.0),
        tuple(pairs),
        "upper bound" if continuous else "exact",
        assumption,
    )


def _envelope_curve(
    epsilon: FloatArray,
    upper: Sequence[tuple[FloatArray, FloatArray]],
    lower: Sequence[tuple[FloatArray, FloatArray]],
    pairs: tuple[Pair, Pair],
    assumption: str,
) -> PrivacyCurve:
    """Return the curve between envelopes of all pairs and what the extreme pair attains.

    Each is a divergence and its error, in both directions.
    """
    bound = two_directions(
        epsilon,
        upper[0][0],
        upper[1][0],
        np.maximum(upper[0][1], upper[1][1]),
        assumption,
        pairs=pairs,
        method="upper bound",
    )
    attained = np.maximum(lower[0][0] - lower[0][1], lower[1][0] - lower[1][1])
    return PrivacyCurve(
        epsilon,
        bound.delta,
        np.maximum(attained, 0.0),
        bound.pairs,
        "upper bound",
        assumption,
        bound.directions,
    )
