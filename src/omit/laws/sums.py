"""Bounds on every probability of a sum of independent entries, as far out as they are needed.

One transform gives probabilities with an absolute error, which says nothing about those that are
smaller. A tilted one gives others: those near the mean of the tilted sum. So sums are tilted step
by step, further and further up and down, and every probability is known between the largest of its
lower bounds and the smallest of its upper bounds, as logarithms. Beyond the last step its transform
says how little there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from omit._numeric import Bounds, FloatArray
from omit.laws.lattice import LatticeSum, Part, TiltedMoments, lattice_sum, tilted_moments

_UNIT = 2.0**-53
# How much smaller, as a logarithm, probabilities may become before the next tilt, and how far one
# without a tilt reaches: a transform leaves some eleven digits there, a convolution all of them.
_TRANSFORM, _CONVOLUTION = (5.0, 0.0), (450.0, 600.0)
# Probabilities are at least e^-745, so that this leaves nothing but the largest value.
_LARGEST_TILT = 3_000.0
_VISIBLE = 780.0
_MOST_TILTS = 200
_LARGEST_LAW = 2 * 10**7


@dataclass(frozen=True, eq=False)
class SumLaw:
    """Logarithms of probabilities of consecutive whole numbers, between bounds.

    Attributes
    ----------
    low, high
        Bounds on the logarithms; a lower bound of minus infinity says nothing.
    below, above
        Upper bounds on the logarithms of what smaller and larger numbers have together.
    complete
        Whether a deeper law would say more.
    """

    low: FloatArray
    high: FloatArray
    below: float
    above: float
    complete: bool = True

    @property
    def mirrored(self) -> SumLaw:
        """The law of the negative sum."""
        return SumLaw(self.low[::-1], self.high[::-1], self.above, self.below, self.complete)

    def widened(self, by: float) -> SumLaw:
        """The law if every logarithm may be wrong by this much more."""
        return SumLaw(
            self.low - by, self.high + by, self.below + by, self.above + by, self.complete
        )

    def missing(self, log: float) -> SumLaw:
        """The law if somewhere there may be as much more as this logarithm says."""
        if log == -math.inf:
            return self
        high = np.minimum(np.logaddexp(self.high, log), 0.0)
        below, above = float(np.logaddexp(self.below, log)), float(np.logaddexp(self.above, log))
        return SumLaw(self.low, high, below, above, self.complete)

    def shifted(self, shift: int) -> tuple[Bounds, Bounds]:
        """Return bounds on the laws of the sum plus `shift` and of the sum, over the same numbers.

        Where the shifted sum is outside of what is known it has no probability here; that is what
        `outside` is for.
        """
        nothing = np.full(shift, -np.inf)
        unknown = np.full(shift, min(self.above, 0.0))
        return (
            (np.concatenate([nothing, self.low]), np.concatenate([nothing, self.high])),
            (np.concatenate([self.low, nothing]), np.concatenate([self.high, unknown])),
        )

    @property
    def outside(self) -> float:
        """An upper bound on the probability of all other numbers together."""
        return math.exp(min(self.below, 0.0)) + math.exp(min(self.above, 0.0))


@dataclass(frozen=True, eq=False)
class LogMass:
    """Logarithms of the probabilities of consecutive answers, between bounds.

    Attributes
    ----------
    low, high
        Bounds on the logarithms.
    outside
        What all other answers have together, at most.
    """

    low: FloatArray
    high: FloatArray
    outside: float = 0.0

    @classmethod
    def of(cls, law: SumLaw) -> LogMass:
        """Return the part of a law that something is known about, around its mode."""
        known = np.isfinite(law.low)
        mode = int(np.argmax(law.low))
        before, after = np.flatnonzero(~known[:mode]), np.flatnonzero(~known[mode:])
        first = int(before[-1]) + 1 if len(before) else 0
        last = mode + int(after[0]) if len(after) else len(known)
        rest = np.exp(law.high[:first]).sum() + np.exp(law.high[last:]).sum()
        return cls(law.low[first:last], law.high[first:last], float(rest) + law.outside)

    @property
    def mirrored(self) -> LogMass:
        """The same for the answers in descending order."""
        return replace(self, low=self.low[::-1], high=self.high[::-1])


def sum_laws(
    parts: Sequence[Part], depths: Sequence[float], shift: int = 0, tilts: Sequence[float] = ()
) -> Iterator[SumLaw]:
    """Yield the law of the sum of all parts' entries, further and further out.

    Parameters
    ----------
    parts : sequence of Part
        At least one with entries.
    depths : sequence of float
        Up to here, as logarithms, small probabilities are to keep their digits; ascending.
    shift : int
        How much further out, in addition.
    tilts : sequence of float
        Where digits count most: around the means of the sums that are tilted by these.

    Examples
    --------
    >>> coin = Part(np.array([0, 1]), np.array([0.5, 0.5]), 4)
    >>> [law] = sum_laws([coin], [0.0])
    >>> np.round(16 * np.exp(law.high), 9), law.below, law.above
    (array([1., 4., 6., 4., 1.]), -inf, -inf)
    """
    parts = [part for part in parts if part.count > 0]
    missing = float(np.logaddexp.reduce([part.missing + math.log(part.count) for part in parts]))
    middle = lattice_sum(parts)
    enough = middle.is_convolved and middle.point_error == 0
    walks = [] if enough else [_Walk(parts, middle.is_convolved, sign) for sign in (1, -1)]
    pieces = [_Piece.of(middle)]
    finer = [] if middle.is_convolved else [tilt for tilt in tilts if _is_visible(parts, tilt)]
    details = [_Piece.of(lattice_sum(parts, tilt)) for tilt in finer]
    for depth in depths:
        for walk in walks:
            pieces += map(_Piece.of, walk.until(depth, shift))
        complete = all(walk.has_ended for walk in walks)
        yield _joined(pieces, details, complete).missing(missing)


def _is_visible(parts: Sequence[Part], tilt: float) -> bool:
    """Tell whether the mean of the tilted sum has a probability that is not lost below floats."""
    if abs(tilt) > _LARGEST_TILT:
        return False
    there = tilted_moments(parts, tilt)
    return tilt * there.mean - there.log_moment < _VISIBLE


class _Walk:
    """Sums that are tilted more and more in one direction."""

    def __init__(self, parts: Sequence[Part], convolved: bool, direction: int) -> None:
        self.parts, self.direction = parts, direction
        self.step, self.reach = _CONVOLUTION if convolved else _TRANSFORM
        self.here, self.tilt, self.steps = tilted_moments(parts, 0.0), 0.0, 0
        self.centre = self.here.mean

    @property
    def has_ended(self) -> bool:
        """Whether the tilted sum is most likely the largest or smallest there is."""
        end = -1 if self.direction > 0 else 0
        with np.errstate(divide="ignore"):
            logs = [part.count * np.log(part.probabilities[end]) for part, _ in self.here.parts]
        return bool(sum(logs) > -0.5)

    def until(self, depth: float, shift: int) -> Iterator[LatticeSum]:
        """Yield the sums up to where no more than `e^-depth` is beyond, and `shift` beyond that."""
        enough = math.inf
        while not self.has_ended and self.steps < _MOST_TILTS:
            # Chernoff: no more than this is beyond the mean.
            gone = abs(self.here.mean - self.centre)
            if self.tilt * self.here.mean - self.here.log_moment + self.reach >= depth:
                enough = min(enough, gone + shift)
            if gone >= min(enough, _LARGEST_LAW):
                return
            self.here, self.tilt = _next_tilt(
                self.parts, self.here, self.tilt, self.direction, self.step
            )
            self.steps += 1
            yield lattice_sum(self.parts, self.tilt)


def _next_tilt(
    parts: Sequence[Part], here: TiltedMoments, tilt: float, direction: int, step: float
) -> tuple[TiltedMoments, float]:
    """Return moments, and the tilt, where the mean has a probability of about `e^-step` here."""
    low, high = 0.0, _LARGEST_TILT - abs(tilt)
    # As if the sum were Gaussian.
    size = min(math.sqrt(1.5 * step / max(here.variance, 1e-300)), high)
    while True:
        there = tilted_moments(parts, tilt + direction * size)
        distance = here.distance(there, direction * size)
        if distance > step:
            high = size
        elif distance < step / 2 and size < high * (1 - 1e-9):
            low = size
        else:
            return there, tilt + direction * size
        size = min(2 * low, (low + high) / 2) if low > 0 else high / 2


@dataclass(frozen=True, eq=False)
class _Piece:
    """What one tilted sum tells: bounds on logarithms from `start` on, and on what is outside."""

    start: int
    low: FloatArray
    high: FloatArray
    below: float
    above: float

    @property
    def stop(self) -> int:
        return self.start + len(self.low)

    @classmethod
    def of(cls, tilted: LatticeSum) -> _Piece:
        numbers = np.arange(len(tilted.mass), dtype=np.float64)
        first = float(tilted.start - tilted.origin)
        turned = tilted.tilt * (numbers + first)
        wrong = tilted.point_error + tilted.outside
        with np.errstate(divide="ignore"):
            most = np.log(tilted.mass * (1 + tilted.relative_error) + wrong)
            least = np.log(np.maximum(tilted.mass * (1 - tilted.relative_error) - wrong, 0.0))
        # Distances from the origin may cancel, and so may what the tilt makes of them.
        sizes = 2 + abs(tilted.log_moment) + abs(tilted.tilt) * (numbers + abs(first))
        sizes += np.abs(np.maximum(most, -800.0))
        slack = tilted.log_moment_error + 8 * _UNIT * sizes
        most += tilted.log_moment - turned + slack
        least += tilted.log_moment - turned - slack
        if tilted.possible is not None:
            most[~tilted.possible] = -np.inf
        below = above = 0.0
        log_outside = math.log(tilted.outside) if tilted.outside > 0 else -math.inf
        # Beyond either end factors are no larger than there.
        if tilted.tilt <= 0:
            below = log_outside + tilted.log_moment - float(turned[0]) + float(slack.max())
        if tilted.tilt >= 0:
            above = log_outside + tilted.log_moment - float(turned[-1]) + float(slack.max())
        below = -math.inf if tilted.start == 0 else below
        above = -math.inf if tilted.start + len(numbers) - 1 == tilted.top else above
        return cls(tilted.start, least, np.minimum(most, 0.0), below, above)


def _joined(pieces: Sequence[_Piece], details: Sequence[_Piece], complete: bool) -> SumLaw:
    """Return what the pieces, which leave no gaps, and details within them tell together."""
    start, stop = min(piece.start for piece in pieces), max(piece.stop for piece in pieces)
    low, high = np.full(stop - start, -np.inf), np.zeros(stop - start)
    for piece in (*pieces, *details):
        first, last = max(piece.start, start), min(piece.stop, stop)
        if first < last:
            inside = slice(first - start, last - start)
            own = slice(first - piece.start, last - piece.start)
            np.maximum(low[inside], piece.low[own], out=low[inside])
            np.minimum(high[inside], piece.high[own], out=high[inside])
    below, above = min(piece.below for piece in pieces), min(piece.above for piece in pieces)
    return SumLaw(low, high, below, above, complete)
