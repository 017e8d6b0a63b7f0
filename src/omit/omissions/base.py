"""The contract of a way to leave records out.

An omission `S` turns a database into a smaller one, at random or not. Its one statement is a
function `epsilon -> epsilon'`: for *every* pure epsilon-DP mechanism `M`, the release `M(S(D))`
is epsilon'-DP. Everything else follows.

*The shift rule.* A mechanism is (epsilon, delta)-DP with epsilon > 0 exactly when the shifted
measure `P + c`, `c = delta / (e^epsilon - 1)`, has neighbour ratios of at most `e^epsilon`. So
what holds for pure DP holds for the shifted measure, and

    M is (epsilon, delta)-DP  =>  M(S) is (epsilon', delta (e^epsilon' - 1)/(e^epsilon - 1))-DP.

The proof is in the documentation ("The shift rule"); the tests hold it against a linear program.
An (epsilon, delta) pair comes from one proof: epsilon of one theorem and delta of another are
never combined.

*To add an omission*, derive from `Omission` and write `epsilon_after`; to compare its accuracy, add
`keep_probabilities` or, if records are not kept independently, `draw_counts` for columns and
`draw_kept` for points. An omission knows nothing of mechanisms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import SMALLEST_POSITIVE, FloatArray, expm1_ratio, log_mix, raised
from omit._text import promised, rounded_up
from omit.data.column import Column
from omit.data.points import Points
from omit.data.values import show_records
from omit.errors import InvalidInput, OmitError, Refused, Unattainable, WrongNeighbours
from omit.guarantee import (
    ADD_REMOVE,
    Guarantee,
    NoGuarantee,
    NoNoiseNeeded,
    Relation,
    Statement,
    guarantee_if_any,
    require_guarantee,
)
from omit.laws.design import kept_independently
from omit.laws.inversion import invert_increasing, largest_not_above

if TYPE_CHECKING:
    from dp_accounting import DpEvent

# Where an omission does not state its slope at zero, a (0, delta)-DP mechanism is treated as
# (this, delta)-DP, which it is too.
_ALMOST_ZERO = 1e-9
# What rounding may take off a bound, with room to spare: the built-in ones miss 2^-51 at most.
_ROUNDING = 2.0**-48
# Below this the factor of delta is its limit at zero, to all digits.
_TINY = 1e-150


def require_data(data: object) -> None:
    """Refuse what is neither a column nor points.

    Raises
    ------
    InvalidInput
        If it is neither.
    """
    if not isinstance(data, Column | Points):
        raise InvalidInput(
            f"Expected a Column or Points, as omit.read makes them, got {_validate.shown(data)}."
        )


class PrivacyFloor(NamedTuple):
    """What some mechanism with the base guarantee really loses: no bound can go below it."""

    epsilon: float
    delta: float


class Omission(ABC):
    """A way to leave records out before a release.

    Subclasses state `epsilon_after`, and where they know it `slope_at_zero` and
    `largest_keep_probability`; the relations they are defined for stand in `relations`.
    """

    name: ClassVar[str] = ""
    """The name on the command line; empty if it has none."""
    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE,)

    @abstractmethod
    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return epsilon' of the release for every pure epsilon of the mechanism.

        Vectorised, and not decreasing in `epsilon`.
        """

    @property
    def slope_at_zero(self) -> float | None:
        """The derivative of `epsilon_after` at 0 if `epsilon_after(0) = 0`, or None if not stated.

        It is the factor of delta for a mechanism that is (0, delta)-DP.
        """
        return None

    @property
    def largest_keep_probability(self) -> float:
        """A probability with which some record of some database is kept, as large as is known.

        The record must be unlike all others of its database, so that a mechanism can look for
        it. It makes the lower bound; 0, where nothing is stated, makes none.
        """
        return 0.0

    def epsilon_before(self, epsilon_after: ArrayLike) -> FloatArray:
        """Return the largest epsilon of a mechanism whose release has `epsilon_after`.

        `nan` where there is none, `inf` where any will do. Vectorised.
        """
        return invert_increasing(self.epsilon_after, epsilon_after)

    @property
    def records_before(self) -> int | None:
        """How many records it must be given, or None if it takes any number."""
        return None

    @property
    def records_after(self) -> int | None:
        """How many records are left, if that is always the same number, or None."""
        return None

    def amplify(self, base: Guarantee) -> Statement | NoGuarantee:
        """Return what holds for the release, if the mechanism alone has the guarantee `base`.

        This is for one release on its own sample. Releases that share a sample are charged to a
        `Sample`, which composes them before they are amplified.

        Raises
        ------
        WrongNeighbours
            If the omission is not defined for the relation of `base`.
        """
        # Here and not above: scopes are made of omissions.
        from omit.omissions.sample import ALL_RECORDS

        return ALL_RECORDS.draw(self).charge(base).stated()

    def calibrate(self, target: Guarantee) -> Guarantee | NoNoiseNeeded:
        """Return the guarantee the mechanism alone must have, so that the release has `target`.

        The inverse of `amplify`. Where several proofs give pairs that cannot be compared, this
        is the one with the largest epsilon; `candidates` lists them all.

        Raises
        ------
        Unattainable
            If no mechanism, however noisy, reaches the target.
        WrongNeighbours
            If the omission is not defined for the relation of `target`.
        """
        return self.candidates(target)[0]

    def candidates(self, target: Guarantee) -> tuple[Guarantee | NoNoiseNeeded, ...]:
        """Return every base guarantee known to reach `target`, the largest epsilon first."""
        self.require_relation(target)
        epsilon = float(self.epsilon_before(target.epsilon))
        if np.isnan(epsilon):
            raise Unattainable(self._why_unattainable(target))
        if np.isinf(epsilon):
            reached = promised(target.epsilon)
            return (NoNoiseNeeded(f"{self} reaches epsilon = {reached} whatever is computed."),)
        epsilon = largest_not_above(self._epsilon_not_below, epsilon, target.epsilon)
        if not target.delta:
            return (Guarantee(epsilon, 0.0, target.neighbours),)
        factor = self._delta_factor(epsilon, target.epsilon)
        return (self._base(epsilon, target, factor),)

    def lower_bound(self, base: Guarantee) -> PrivacyFloor:
        """Return what no proof can go below: Poisson sampling at the largest keep probability.

        Some mechanism with the guarantee `base` loses this much (omitting records,
        Proposition B.8), so this is not a guarantee but the limit of all guarantees.
        """
        require_guarantee(base)
        keep = self.largest_keep_probability
        return PrivacyFloor(float(log_mix(base.epsilon, keep)), base.delta * keep)

    def privacy_bounds(self, epsilon: float) -> dict[str, float]:
        """Return every bound on epsilon' that this omission knows, by name."""
        return {"epsilon": float(self.epsilon_after(_validate.epsilon(epsilon)))}

    def restrict(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the bounds of the values that can be left, given the declared `bounds`."""
        return bounds

    def suited_to(self, statistic: str) -> Omission:
        """Return the omission with whatever it leaves to the statistic filled in."""
        return self

    def keep_probabilities(self, data: Any) -> FloatArray:
        """Return the probability that a record is kept, for each value or for each record.

        Only for omissions that decide about each record independently.

        Parameters
        ----------
        data : Column or Points
            Of a column, one probability for each of its values; of points, one for each record.
            An omission that is for one of them only need not take the other.

        Raises
        ------
        Refused
            If records are not kept independently, or it is not said how.
        """
        raise Refused(f"What {self} does to data is not known, so its error cannot be computed.")

    def draw_counts(self, column: Column, runs: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the counts of the column's values after the omission, one draw in each row."""
        keep = self.keep_probabilities(column)
        return rng.binomial(column.counts, keep, size=(runs, len(keep)))

    def draw_kept(self, points: Points, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
        """Return an endless iterator over draws: which records are kept, by position, in order.

        Every omission takes the same amount of randomness for a draw, one number for each record.
        So the draws of two omissions from equally seeded generators are coupled: whoever is kept
        is also kept by an omission that keeps with a larger probability.

        Raises
        ------
        Refused
            If it is not said how records are kept, or only for columns.
        """
        return kept_independently(self._keep_each(points), rng)

    def to_dp_event(self, event: DpEvent) -> DpEvent:
        """Return dp-accounting's name for running `event` after this omission.

        Raises
        ------
        Refused
            If dp-accounting has no such event.
        """
        raise Refused(f"dp-accounting has no event that means {self}.")

    def _after(self, base: Guarantee) -> Guarantee | NoGuarantee:
        """Return what the mechanism with the guarantee `base` has after the omission, rounded up.

        Only scopes ask this, of everything together that was charged to one sample.
        """
        start = base.epsilon
        if start == 0 and base.delta > 0 and self.slope_at_zero is None:
            start = _ALMOST_ZERO
        after = self._epsilon_not_below(start)
        delta = self._delta_not_below(base.delta, start, after) if base.delta else 0.0
        return guarantee_if_any(after, delta, base.neighbours, str(self))

    def _epsilon_not_below(self, epsilon: float) -> float:
        """Return `epsilon_after` with its rounding error, of a few units in the last place."""
        after = raised(float(self.epsilon_after(epsilon)), _ROUNDING)
        if after == 0 < epsilon and self.largest_keep_probability > 0:
            # Too small for a floating-point number, and yet not nothing.
            return SMALLEST_POSITIVE
        return after

    def _delta_not_below(self, delta: float, epsilon: float, after: float) -> float:
        """Return delta by the shift rule, with the rounding error of an exponential."""
        factor = self._delta_factor(epsilon, after)
        if factor == 1 and after <= epsilon:
            return delta
        product = raised(delta * factor, _ROUNDING * (1 + abs(after - epsilon)))
        # As with epsilon, what is too small for a number is not nothing.
        return product or (SMALLEST_POSITIVE if self.largest_keep_probability > 0 else 0.0)

    def _delta_factor(self, epsilon: float, after: float) -> float:
        """Return by what the shift rule multiplies delta."""
        if epsilon > _TINY or (epsilon > 0 and self.slope_at_zero is None):
            return float(expm1_ratio(after, epsilon))
        return np.inf if self.slope_at_zero is None else self.slope_at_zero

    def _base(self, epsilon: float, target: Guarantee, factor: float) -> Guarantee | NoNoiseNeeded:
        """Return the base pair with this epsilon, given the factor of delta."""
        if target.delta >= factor:
            return NoNoiseNeeded(
                f"with {self}, a release without any noise already has "
                f"delta <= {rounded_up(factor)} at epsilon = {promised(target.epsilon)}."
            )

        def delta_after(delta: float) -> float:
            found = self._after(Guarantee(epsilon, delta, target.neighbours))
            return np.inf if isinstance(found, NoGuarantee) else found.delta

        delta = largest_not_above(delta_after, target.delta / factor, target.delta)
        return Guarantee(epsilon, delta, target.neighbours)

    def _keep_each(self, points: Points) -> FloatArray:
        """Return the keep probabilities of points, or refuse what is written for columns only."""
        try:
            keep = np.asarray(self.keep_probabilities(points), dtype=np.float64)
        except OmitError:
            raise
        except (AttributeError, TypeError, ValueError, LookupError) as error:
            raise Refused(
                f"{self} says what it does to columns and not to points "
                f"({type(error).__name__}: {error})."
            ) from error
        if keep.shape != (points.size,) or not ((keep >= 0) & (keep <= 1)).all():
            raise Refused(
                f"{self} does not give every one of {show_records(points.size)} a probability "
                "in [0, 1] of being kept."
            )
        return keep

    def defined_for(self, neighbours: str) -> bool:
        """Tell whether the omission has a bound under that relation."""
        return neighbours in self.relations

    def require_relation(self, guarantee: Guarantee) -> None:
        """Refuse a guarantee under a relation that the omission has no bound for."""
        require_guarantee(guarantee)
        if not self.defined_for(guarantee.neighbours):
            raise WrongNeighbours(
                f"{self} has no bound under the relation {guarantee.neighbours}; "
                f"state the guarantee under {' or '.join(self.relations)}."
            )

    def _why_unattainable(self, target: Guarantee) -> str:
        floor = float(self.epsilon_after(0.0))
        return (
            f"{self} costs epsilon = {promised(floor)} even if the mechanism ignores its input, "
            f"so epsilon = {promised(target.epsilon)} cannot be reached by adding noise."
        )
