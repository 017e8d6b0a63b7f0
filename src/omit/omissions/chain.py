"""One omission after another: `first >> then`.

*What remains.* A mechanism behind `then` is a mechanism on every database, with the epsilon that
`then` leaves; `first` amplifies every mechanism, so this one too:
`epsilon' = first(then(epsilon))`, and by the shift rule, whose factors telescope,
`delta' = delta (e^epsilon' - 1)/(e^epsilon - 1)`. The order matters, because `then` is given what
`first` left.

*Scores, then a Poisson sample* are an outlier-score suppression themselves: a record is kept with
probability `p (1 - m - (M - m) z)`, so that `m' = 1 - p (1 - m)` and `M' = 1 - p (1 - M)`. The
smaller of the two bounds is stated.

*A step without any guarantee* makes the mechanism behind it an arbitrary one, which is
(epsilon, 1)-DP for every epsilon. What the first step does to that, in the limit of epsilon -> 0,
remains: (0, p) of a uniform sample at rate p. Before the other step it leaves nothing.

*Accuracy.* Keep probabilities multiply where the second step looks at one record at a time. One
that looks at the others sees what the first one left, and is drawn step by step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit._text import promised, rounded_up
from omit.data.base import Data
from omit.data.column import Column
from omit.errors import InvalidInput, Refused, Unattainable
from omit.guarantee import RELATIONS, Guarantee, NoGuarantee, NoNoiseNeeded, guarantee_if_any
from omit.laws.design import Design, FixedSize, Independent
from omit.omissions.base import ROUNDING, Omission, checked_design
from omit.omissions.outlier_score import OutlierScoreSuppression, mixture_epsilon
from omit.omissions.sampling import FixedSizeSampling, PoissonSampling

# How far 1 - p (1 - m) may be from its floating-point number.
_ROUNDING = 2.0**-52


@dataclass(frozen=True)
class Chain(Omission):
    """Two omissions, the second of what the first one left; also written `first >> then`.

    Defined under the relations that both steps are defined for.

    Parameters
    ----------
    first, then : Omission
        The steps, either of which may be a chain.

    Examples
    --------
    >>> from omit import Guarantee, OutlierScoreSuppression, PoissonSampling
    >>> scores, sampling = OutlierScoreSuppression(m=0.1, M=0.9), PoissonSampling(0.1)
    >>> print((scores >> sampling).amplify(Guarantee(1.0)))
    (0.1499923391, 0)-DP under add-remove
    >>> print((sampling >> scores).amplify(Guarantee(1.0)))
    (0.2458591961, 0)-DP under add-remove
    """

    first: Omission
    then: Omission

    def __post_init__(self) -> None:
        for step in (self.first, self.then):
            if not isinstance(step, Omission):
                raise InvalidInput(
                    f"Expected omissions one after the other, got {_validate.shown(step)}."
                )
        common = tuple(name for name in RELATIONS if self.defined_for(name))
        if not common:
            raise InvalidInput(
                f"{self.first} and {self.then} cannot follow each other: there is no neighbour "
                "relation that both have a bound for."
            )
        wanted = self.then.records_before
        if wanted is not None and wanted != self.first.records_after:
            left = self.first.records_after
            number = "a number that varies" if left is None else f"{left}"
            raise InvalidInput(
                f"{self.then} needs {wanted} records, and {self.first} leaves {number}."
            )
        alone = self.first.looks_at_single_records and self.then.looks_at_single_records
        object.__setattr__(self, "relations", common)
        object.__setattr__(self, "looks_at_single_records", alone)

    def __str__(self) -> str:
        return f"{self.first}, then {self.then}"

    def defined_for(self, neighbours: str) -> bool:
        """Tell whether both steps have a bound under that relation."""
        return self.first.defined_for(neighbours) and self.then.defined_for(neighbours)

    @property
    def records_before(self) -> int | None:
        """How many records the first step must be given."""
        return self.first.records_before

    @property
    def records_after(self) -> int | None:
        """How many records are left in the end, if that is always the same number."""
        return self.then.records_after

    @property
    def slope_at_zero(self) -> float | None:
        """The product of both slopes."""
        first, then = self.first.slope_at_zero, self.then.slope_at_zero
        return None if first is None or then is None else first * then

    @property
    def largest_keep_probability(self) -> float:
        """The product of both, where the second step looks at single records only."""
        if not self.then.looks_at_single_records:
            return 0.0
        return self.first.largest_keep_probability * self.then.largest_keep_probability

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return what the first step makes of what the second one leaves."""
        composed = as_array(self.first.epsilon_after(self.then.epsilon_after(epsilon)))
        return np.minimum(composed, self._as_scores(as_array(epsilon)))

    def _epsilon_not_below(self, epsilon: float) -> float:
        composed = self.first._epsilon_not_below(self.then._epsilon_not_below(epsilon))
        return min(composed, float(self._as_scores(epsilon)))

    def _as_scores(self, epsilon: ArrayLike) -> FloatArray:
        """Return the bound of the one suppression that scores and a Poisson sample are, if any.

        It is raised by what rounding m' and M' can cost: no derivative of the mixture bound, by m
        or by M, exceeds `(E - 1)(E + 2)`, as every quotient in it has a denominator of at least 1.
        """
        scores, sampling = self.first, self.then
        if not (
            isinstance(scores, OutlierScoreSuppression)
            and scores.bound == "mixture"
            and isinstance(sampling, PoissonSampling)
        ):
            return np.full_like(as_array(epsilon), np.inf)
        rate = sampling.largest_keep_probability
        m, M = 1 - rate * (1 - scores.m), 1 - rate * (1 - scores.M)
        merged = as_array(mixture_epsilon(epsilon, m, M))
        with np.errstate(over="ignore"):
            grown = np.expm1(as_array(epsilon))
            raised: FloatArray = merged * (1 + ROUNDING) + 2 * _ROUNDING * grown * (grown + 3)
            return raised

    def _after(self, base: Guarantee) -> Guarantee | NoGuarantee:
        behind = self.then._after(base)
        if isinstance(behind, NoGuarantee):
            whatever = self._whatever_follows(base.neighbours)
            return behind if isinstance(whatever, NoGuarantee) else whatever
        together = self.first._after(behind)
        return together if isinstance(together, NoGuarantee) else super()._after(base)

    def _whatever_follows(self, neighbours: str) -> Guarantee | NoGuarantee:
        """Return what the first step promises of a mechanism behind it that promises nothing."""
        if self.first.slope_at_zero is None:
            return NoGuarantee(f"{self.first} leaves no guarantee of what promises nothing.")
        delta = self.first._delta_not_below(1.0, 0.0, 0.0)
        return guarantee_if_any(0.0, delta, neighbours, str(self))

    def candidates(self, target: Guarantee) -> tuple[Guarantee | NoNoiseNeeded, ...]:
        """Return every base guarantee known to reach `target`.

        Where a step has no guarantee of its own, that is none, or anything at all.

        Raises
        ------
        Unattainable
            If no mechanism reaches the target.
        """
        self.require_relation(target)
        whatever = self._whatever_follows(target.neighbours)
        if isinstance(whatever, Guarantee) and whatever.delta <= target.delta:
            return (
                NoNoiseNeeded(
                    f"with {self}, a release without any noise already has "
                    f"delta <= {rounded_up(whatever.delta)} at epsilon = "
                    f"{promised(target.epsilon)}."
                ),
            )
        for step in (self.first, self.then):
            left = step._after(Guarantee(1.0, 0.0, target.neighbours))
            if isinstance(left, NoGuarantee) and math.isinf(float(step.epsilon_after(1.0))):
                raise Unattainable(f"{left.reason} No noise makes up for that after {step}.")
        return super().candidates(target)

    def restrict(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the bounds of what both steps can keep."""
        narrower: tuple[float, float] = self.then.restrict(self.first.restrict(bounds))
        return narrower

    def design(self, data: Data, distance: str) -> Design:
        """Return the law of what both steps leave.

        Raises
        ------
        Refused
            If a step does not say what it does to such data, or looks at points that another step
            has left.
        """
        first = checked_design(self.first, data, distance)
        if first.keeps_all:
            return checked_design(self.then, data, distance)
        if isinstance(self.then, FixedSizeSampling) and isinstance(first, FixedSize):
            return FixedSize(self.then.size, first.population)
        if self.then.looks_at_single_records:
            then = checked_design(self.then, data, distance)
            if then.keeps_all:
                return first
            if first.inclusion is not None and then.inclusion is not None:
                public_rate = 1 / (first.expansion * then.expansion)
                return Independent(first.inclusion * then.inclusion, public_rate)
        if not isinstance(data, Column):
            raise Refused(
                f"{self.then} looks at the records that {self.first} leaves, which is drawn for "
                "one column only."
            )
        return _StepByStep(first, self.then, data, distance)


@dataclass(frozen=True, eq=False)
class _StepByStep(Design):
    """What an omission leaves of what a design left, for omissions that look at other records."""

    first: Design
    then: Omission
    data: Column
    distance: str

    def counts(self, multiplicities: IntArray, runs: int, rng: np.random.Generator) -> IntArray:
        """Return counts of two draws, the second of what the first one left."""
        kept = self.first.counts(multiplicities, runs, rng)
        for row in kept:
            present = np.flatnonzero(row)
            if len(present):
                left = self.data.with_counts(row)
                design = checked_design(self.then, left, self.distance)
                row[present] = design.counts(left.multiplicities, 1, rng)[0]
        return kept
