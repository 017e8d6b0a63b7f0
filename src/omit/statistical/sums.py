"""Sums of independent entries: privacy curves for any distribution on a lattice, and with noise.

With `S` the sum of all entries but the critical one, the answer is `S + v` or `S + w`, so a pair of
values matters by its difference only. If the entries are log-concave, `S` is, and the pair of
extreme values is the easiest to tell apart, in either direction. Otherwise all differences are
tried, or, where these are too many, bounded together by an envelope.

Every probability of `S` is known between bounds (`laws.sums`), and so is delta. Where these bounds
are too far apart, `S` is computed further out, to smaller probabilities. The distance between them
is part of every delta returned, and a curve is called exact only where they agree.

*Noise* is added to an answer without looking at the data, so delta is never above that of the
answer without noise. Nor is it above that of the noise alone, if all other entries were known.
Discrete noise lives on the lattice of the answers and joins the sum as one more entry. Continuous
noise turns the probabilities `f(s)` of the answers into the density `sum f(s) g(a - s)`:

- If `f` is log-concave, the best test is a half-line, and bounds on delta come from tail
  probabilities (`half_line`).
- For any `f` the positive part is integrated by the trapezoidal rule with step `h`. As `max(0, x)`
  is convex, the rule can be too small only by as much as the integrand differs from its chords,
  which is at most `h^2 / 8` times the integral of the absolute second derivative. It can be too
  large by as much again where the sign changes. Twice that is stated as error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import Bounds, FloatArray, as_array
from omit.errors import InvalidInput
from omit.laws import divergence
from omit.laws.counts import LARGEST_TRIALS
from omit.laws.discrete import LatticeNoise
from omit.laws.distribution import Distribution, common_lattice
from omit.laws.lattice import Part
from omit.laws.noise import LogConcaveNoise, Noise, noise_named
from omit.laws.sums import LogMass, SumLaw, sum_laws
from omit.statistical.assumptions import ascending_epsilons, checked_entries
from omit.statistical.curve import (
    Pair,
    PrivacyCurve,
    WorstPair,
    agree,
    bounded_curve,
    two_directions,
)

# How far out the sum is computed, as logarithms of probabilities: further where it matters.
_DEPTHS = (0.0, 100.0, 400.0, 1_600.0)
_ALL_PAIRS_WORK, _ALL_PAIRS_WORK_WITH_NOISE = 10**8, 10**7
# Epsilons around which the sum is computed with particular care.
_MOST_TILTS = 8
_UNIT = 2.0**-53
_LARGEST_GRID = 2**21
_USUAL_GRID = 2**17
# Noise larger than what one entry changes by this factor leaves nothing to compute with.
_LARGEST_SCALE = 1e9
# Noise of a smaller share of the distance between answers hides nothing: the nearest answer is the
# one without noise, up to e^-500.
_SMALLEST_SCALE = 1e-3
# Epsilons at which bounds whose errors grow are taken in addition to those asked for.
_LADDER = np.concatenate([[0.0], 2.0 ** np.arange(-8, 5)])
_SMALL_ERROR = 1e-2
_KINDS = ("laplace", "gaussian", "discrete-gaussian")

AddedNoise: TypeAlias = LogConcaveNoise | LatticeNoise


def added_noise(
    kind: Literal["laplace", "gaussian", "discrete-gaussian"], scale: float
) -> AddedNoise:
    """Return noise by name, or refuse an unknown name or a scale that is not positive.

    Examples
    --------
    >>> added_noise("laplace", 2.0)
    Laplace(scale=2.0)
    """
    return cast("AddedNoise", noise_named(kind, _KINDS)(scale))


def checked_noise(noise: object) -> AddedNoise | None:
    """Return noise that curves can be computed with, or refuse it; None is no noise."""
    if noise is None or isinstance(noise, LogConcaveNoise | LatticeNoise):
        return noise
    if isinstance(noise, Noise):
        raise InvalidInput(f"Expected {noise.name} noise to be one of: {', '.join(_KINDS)}.")
    raise InvalidInput(
        "Expected noise such as that of added_noise('laplace', scale), got "
        f"{_validate.shown(noise)}."
    )


def describe_noise(noise: AddedNoise | None) -> str:
    """Return what noise adds to the words of an assumption."""
    return "" if noise is None else f"; {noise}"


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
    noise : LogConcaveNoise or LatticeNoise, optional
        Added to the sum; the scale of discrete noise is in steps of the lattice.
    n, epsilon, known
        As for `property_curve`.

    Examples
    --------
    >>> die = Distribution([1, 2, 3, 4, 5, 6], [1 / 6] * 6)
    >>> curve = sum_curve(die, 1000, [0.1, 0.5])
    >>> curve.delta, curve.pairs[0]
    (array([6.95204602e-03, 8.04325161e-10]), (6.0, 1.0))
    """
    n, count = checked_entries(n, known, LARGEST_TRIALS)
    _validate.instance("distribution", distribution, Distribution)
    smallest, largest = distribution.values[[0, -1]].tolist()
    assumption = (
        f"{n:,} independent entries, {len(distribution.values)} values from {smallest:.15g} to "
        f"{largest:.15g} with known probabilities, {count:,} known to the adversary"
    )
    others = [(distribution, n - 1 - count)]
    assumption += describe_noise(noise)
    return sum_curve_of_groups(
        others, distribution.values, epsilon, noise=noise, assumption=assumption
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
    assumption : str
        What to say about the adversary.
    epsilon, noise
        As for `sum_curve`.

    Examples
    --------
    >>> coin = Distribution([0, 1], [0.5, 0.5])
    >>> sum_curve_of_groups([(coin, 3)], [0, 1], [0.0]).delta
    array([0.375])
    """
    epsilons = ascending_epsilons(epsilon)
    critical = np.unique(as_array(values))
    if len(critical) < 2 or not np.isfinite(critical).all():
        raise InvalidInput("Expected at least two values of the critical entry, all finite.")
    noise = checked_noise(noise)
    unknown = [
        (_validate.instance("every law of others", law, Distribution), number)
        for law, count in _validate.pairs("(Distribution, count)", others)
        if (number := _validate.whole("count", count)) > 0
    ]
    step, (steps, *lattices) = common_lattice([critical, *(law.values for law, _ in unknown)])
    parts = [
        Part(points, law.probabilities, count)
        for points, (law, count) in zip(lattices, unknown, strict=True)
    ]
    if isinstance(noise, LatticeNoise):
        parts.append(noise.part())
    # A lattice of larger steps has gaps on the common one.
    no_gaps = all((np.diff(points) == 1).all() for points in lattices)
    bend = sum(count * law.bend for law, count in unknown) if no_gaps else math.inf
    question = _Sum(tuple(parts), bend, critical, steps, step, epsilons, assumption)
    if noise is None or isinstance(noise, LatticeNoise):
        return question.curve(None)
    plain = question.curve(None)
    return with_noise(plain, question.width, step, noise, lambda: question.curve(noise))


@dataclass(frozen=True, eq=False)
class _Sum:
    """A sum of independent entries, and what is asked about it.

    Attributes
    ----------
    parts
        The entries that are random.
    bend
        By how much their logarithms are below those of log-concave entries; infinite if these are
        not.
    critical, steps
        What the critical entry can be, and on which steps of the lattice.
    step, epsilon, assumption
        As for the curve.
    """

    parts: tuple[Part, ...]
    bend: float
    critical: FloatArray
    steps: NDArray[np.int64]
    step: float
    epsilon: FloatArray
    assumption: str

    @property
    def width(self) -> Fraction:
        """What the critical entry changes at most, without rounding."""
        return Fraction(float(self.critical[-1])) - Fraction(float(self.critical[0]))

    @property
    def shift(self) -> int:
        """The same in steps."""
        return int(self.steps[-1])

    @property
    def extremes(self) -> tuple[Pair, Pair]:
        """The pair of extreme values, either way."""
        low, high = float(self.critical[0]), float(self.critical[-1])
        return (high, low), (low, high)

    def curve(self, noise: LogConcaveNoise | None) -> PrivacyCurve:
        """Return the curve with continuous noise, or without."""
        if not self.parts:
            return self._alone(noise)
        if math.isinf(self.bend):
            return self._as_deep_as_needed(lambda law: self._of_any_pair(law, noise))
        # With these tilts, the sum is where both hypotheses are equally likely up to e^epsilon.
        positive = self.epsilon[self.epsilon > 0]
        tilts = positive[:: max(1, len(positive) // _MOST_TILTS)] / self.shift
        return self._as_deep_as_needed(
            lambda law: self._of_extremes(law, noise), [*tilts.tolist(), *(-tilts).tolist()]
        )

    def _alone(self, noise: LogConcaveNoise | None) -> PrivacyCurve:
        """Return the curve where nothing is random but the noise."""
        both = np.ones(len(self.epsilon)), np.ones(len(self.epsilon))
        if noise is not None:
            sure = LogMass(np.zeros(1), np.zeros(1))
            both = divergence.half_line(sure, 1, float(self.width), self.width, noise, self.epsilon)
        return two_directions(self.epsilon, both, both, self.assumption, pairs=self.extremes)

    def _as_deep_as_needed(
        self, curve_of: Callable[[SumLaw], PrivacyCurve], tilts: Sequence[float] = ()
    ) -> PrivacyCurve:
        """Return the curve from a law of the sum that is as deep as it needs to be."""
        before: PrivacyCurve | None = None
        for law in sum_laws(self.parts, _DEPTHS, self.shift, tilts):
            curve = curve_of(law)
            if law.complete or agree(curve.lower, curve.delta).all():
                break
            if before is not None and _is_no_closer(curve, before):
                break
            before = curve
        return curve

    def _of_extremes(self, law: SumLaw, noise: LogConcaveNoise | None) -> PrivacyCurve:
        """Return the curve of the extreme pair, which is the worst for log-concave sums.

        If logarithms are `bend` below those of a log-concave sum, other pairs are no worse than
        this one would be if all of its probabilities were larger or smaller by three times that.
        """
        wide = law.widened(3 * self.bend)
        more, less = (self._divergence(law, self.shift, noise) for law in (wide, wide.mirrored))
        return two_directions(self.epsilon, more, less, self.assumption, pairs=self.extremes)

    def _divergence(self, law: SumLaw, shift: int, noise: LogConcaveNoise | None) -> Bounds:
        """Return bounds on the divergence of the sum plus `shift` from the sum."""
        if noise is None:
            low, high = divergence.divergence_bounds(*law.shifted(shift), self.epsilon)
            return low, high + law.outside
        if math.isinf(self.bend):
            return trapezoid(law, shift, self.step, noise, self.epsilon, every=False)
        return divergence.half_line(
            LogMass.of(law), shift, self.step, self.width, noise, self.epsilon
        )

    def _of_any_pair(self, law: SumLaw, noise: LogConcaveNoise | None) -> PrivacyCurve:
        """Return the worst over all pairs, or a bound for all of them where they are many."""
        apart = self.steps[:, None] - self.steps[None, :]
        shifts = np.unique(apart[apart > 0]).tolist()
        facing = (law, law.mirrored)
        work = 2 * len(shifts) * len(self.epsilon) * (len(law.low) + self.shift)
        if work > (_ALL_PAIRS_WORK if noise is None else _ALL_PAIRS_WORK_WITH_NOISE):
            more, less = (self._of_every_shift(law, noise) for law in facing)
            return two_directions(
                self.epsilon, more, less, self.assumption, pairs=self.extremes, only_a_bound=True
            )
        worst = WorstPair(len(self.epsilon), self.extremes[0])
        for shift in shifts:
            v, w = (float(self.critical[index[0]]) for index in np.nonzero(apart == shift))
            for law, pair in zip(facing, ((v, w), (w, v)), strict=True):
                worst.add(self._divergence(law, shift, noise), pair)
        return worst.curve(self.epsilon, self.assumption)

    def _of_every_shift(self, law: SumLaw, noise: LogConcaveNoise | None) -> Bounds:
        """Return what the largest shift attains, and a bound for all of them."""
        low, _ = self._divergence(law, self.shift, noise)
        if noise is not None:
            return low, trapezoid(law, self.shift, self.step, noise, self.epsilon, every=True)[1]
        first, second = law.shifted(self.shift)
        widest = first[0], divergence.largest_of_shifts(second[1], self.shift)
        return low, divergence.divergence_bounds(widest, second, self.epsilon)[1] + law.outside


def _is_no_closer(curve: PrivacyCurve, before: PrivacyCurve) -> bool:
    """Tell whether a deeper law has told nothing new."""
    same = agree(curve.delta, before.delta) & agree(before.lower, curve.lower)
    return bool(same.all())


def with_noise(
    plain: PrivacyCurve,
    width: Fraction,
    step: float,
    noise: LogConcaveNoise,
    noisy: Callable[[], PrivacyCurve],
) -> PrivacyCurve:
    """Return the curve with noise, never above the one without or that of the noise alone.

    Parameters
    ----------
    plain : PrivacyCurve
        Without the noise, with the words for the assumption with it.
    width : Fraction
        What one entry changes at most.
    step : float
        The distance between answers.
    noise : LogConcaveNoise
        Laplace or Gaussian.
    noisy : callable
        Computes the curve; not called where noise is too small for it to matter.
    """
    if noise.scale > _LARGEST_SCALE * width:
        raise InvalidInput(
            f"Expected noise of a scale of at most {_LARGEST_SCALE:g} times what one entry "
            f"changes, {float(width):g}, got {noise.scale:g}."
        )
    alone = noise.delta(plain.epsilon, width)
    if noise.scale > _SMALLEST_SCALE * step:
        curve = noisy()
        lower = curve.lower
    else:
        curve = plain
        # The nearest answer is the true one, or the noise is above half a step.
        beyond = float(noise.log_tail(0.5 * step)) + math.log(2) + 1e-9
        missed = np.exp(np.minimum(beyond + plain.epsilon, 700.0)) + math.exp(beyond)
        lower = np.maximum(plain.lower - missed, 0.0)
    delta = np.minimum(np.minimum(curve.delta, plain.delta), alone)
    return bounded_curve(
        plain.epsilon,
        lower,
        delta,
        plain.assumption,
        pairs=curve.pairs,
        directions={name: np.minimum(more, delta) for name, more in curve.directions.items()},
    )


def trapezoid(
    law: SumLaw,
    shift: int,
    step: float,
    noise: LogConcaveNoise,
    epsilon: FloatArray,
    *,
    every: bool,
) -> Bounds:
    """Return bounds on the divergence of a noisy sum and of the same `shift` steps further up.

    With `every`, the envelope over all shifts up to `shift` is taken. Errors are multiplied by
    `e^epsilon`, so that bounds at smaller epsilons may be closer; these are asked for, too.
    """
    value, wrong = _by_trapezoid(law, shift, step, noise, epsilon, every)
    if (wrong <= _SMALL_ERROR * value).all():
        return value - wrong, value + wrong
    ladder = np.unique(np.concatenate([epsilon, _LADDER[epsilon[-1] > _LADDER]]))
    value, wrong = _by_trapezoid(law, shift, step, noise, ladder, every)
    high = np.minimum.accumulate(np.minimum(value + wrong, 1.0))
    asked = np.isin(ladder, epsilon)
    return np.maximum(value - wrong, 0.0)[asked], high[asked]


def _by_trapezoid(
    law: SumLaw, shift: int, step: float, noise: LogConcaveNoise, epsilon: FloatArray, every: bool
) -> tuple[FloatArray, FloatArray]:
    """Return divergences, and by how much they can be wrong."""
    from scipy.signal import fftconvolve

    least, most = np.exp(law.low), np.exp(law.high)
    mass = (least + most) / 2
    # Of what is not known about the sum, all may be where it hurts.
    unknown = float((most - least).sum()) / 2 + law.outside
    low, high = noise.reach(1e-18)
    span = (len(mass) + shift) * step + (high - low)
    if span > _LARGEST_GRID * step:
        raise InvalidInput(
            f"Expected noise of a smaller scale than {noise.scale:g}: the answers reach over more "
            f"than {_LARGEST_GRID:,} steps of {step:g}."
        )
    wanted = max(500 * step / noise.scale, _USUAL_GRID * step / span)
    divisions = max(1, math.floor(min(wanted, _LARGEST_GRID * step / span)))
    width = step / divisions
    spread = np.zeros((len(mass) - 1) * divisions + 1)
    spread[::divisions] = mass
    reach = math.ceil(high / width)
    bell = noise.pdf(width * np.arange(-reach, reach + 1))
    density = np.maximum(fftconvolve(spread, bell), 0.0)
    if every:
        value = divergence.envelope(density, shift * divisions, epsilon) * width
    else:
        value = (
            divergence.hockey_stick(*divergence.shifted(density, shift * divisions), epsilon)
            * width
        )
    grow = 1 + np.exp(np.minimum(epsilon, 700.0))
    # Three transforms, wrong by some units in every layer, relative to all of what they hold.
    layers = 3 * 6 * _UNIT * math.log2(len(density))
    rounding = layers * float(np.linalg.norm(spread) * np.linalg.norm(bell)) * span + 2e-15
    return value, grow * (width**2 / 4 * noise.bend + rounding + unknown)
