"""The contract of an omission.

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
`design`, the law of what it keeps. An omission knows nothing of mechanisms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import SMALLEST_POSITIVE, FloatArray, expm1_ratio, log_mix, raised
from omit._text import promised, rounded_up
from omit.data.base import DISTANCES, Data
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
from omit.laws.design import Design
from omit.laws.inversion import invert_increasing, largest_not_above

if TYPE_CHECKING:
    from dp_accounting import DpEvent

# Where an omission does not state its slope at zero, a (0, delta)-DP mechanism is treated as
# (this, delta)-DP, which it is too.
_ALMOST_ZERO = 1e-9
# What rounding may take off a bound, or off the logarithm of a sum of a few exponentials, with room
# to spare: the built-in ones miss 2^-51 at most.
ROUNDING = 2.0**-48
# Below this the factor of delta is its limit at zero, to all digits.
_TINY = 1e-150


class PrivacyFloor(NamedTuple):
    """What some mechanism with the base guarantee really loses: no bound can go below it."""

    epsilon: float
    delta: float


def checked_design(omission: Omission, data: Data, distance: str) -> Design:
    """Return the design of an omission, which may be somebody else's class, or refuse it.

    Raises
    ------
    Refused
        If the omission does not say what it does to such data, or not for every record.
    """
    if not hasattr(data, "multiplicities"):
        raise InvalidInput(
            f"Expected a Column or Points, as omit.read makes them, got {_validate.shown(data)}."
        )
    _validate.one_of("distance", distance, DISTANCES)
    try:
        design = omission.design(data, distance)
    except (AttributeError, TypeError, ValueError, LookupError) as error:
        if isinstance(error, OmitError):
            raise
        raise Refused(
            f"{omission} does not say what it does to {data.described.partition(',')[0]} "
            f"({type(error).__name__}: {error})."
        ) from error
    if not isinstance(design, Design):
        raise Refused(f"Expected the design of {omission}, got {type(design).__name__}.")
    atoms = len(data.multiplicities)
    if design.inclusion is not None and len(design.inclusion) != atoms:
        raise Refused(
            f"{omission} does not give every one of {atoms:,} values or records a probability of "
            "being kept."
        )
    return design


class Omission(ABC):
    """A way to omit records before a release.

    Subclasses state `epsilon_after`, and where they know it `slope_at_zero` and
    `largest_keep_probability`. On the command line an omission goes by its `name`, followed by the
    numbers of its `parameters`: ``poisson:0.1``.

    Examples
    --------
    An omission of somebody else, which keeps all records or none:

    >>> import numpy as np
    >>> class AllOrNone(Omission):
    ...     def epsilon_after(self, epsilon):
    ...         return np.log1p(np.expm1(epsilon) / 2)
    >>> print(AllOrNone().amplify(Guarantee(1.0)))
    (0.620114507, 0)-DP under add-remove
    """

    name: ClassVar[str] = ""
    """The name on the command line; empty if it has none."""

    parameters: ClassVar[tuple[str, ...]] = ()
    """The arguments that the short form gives as numbers, in order."""

    optional: ClassVar[tuple[str, ...]] = ()
    """The arguments that may follow in the short form, as texts."""

    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE,)
    """The neighbour relations that the bound holds for."""

    looks_at_single_records: bool = False
    """Whether what happens to a record depends on that record alone, by chances fixed beforehand.

    Keep probabilities multiply where such an omission follows another one.
    """

    def __rshift__(self, then: Omission) -> Omission:
        """Return the chain of this omission and another one of what it leaves."""
        # Here and not above: a chain is an omission.
        from omit.omissions.chain import Chain

        return Chain(self, then)

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
        """How many records are kept, if that is always the same number, or None."""
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

    def restrict(self, bounds: Any) -> Any:
        """Return the bounds of the values that can be kept, given the declared `bounds`."""
        return bounds

    def design(self, data: Data, distance: str) -> Design:
        """Return the law of which records of the data are kept.

        Parameters
        ----------
        data : Column or Points
            The confidential data.
        distance : str
            What makes a record an outlier to the mechanism: "absolute", "discrete" or "euclidean".
            An omission that has no use for it ignores it.

        Raises
        ------
        Refused
            If it is not said what the omission does to such data.
        InvalidInput
            If the data do not fit its parameters.
        """
        raise Refused(
            f"What {self} does to data is not known, so its error cannot be computed; its class "
            'says so by a method design (documentation, "Extending").'
        )

    @classmethod
    def short_form(cls) -> str:
        """Return how the command line spells the omission, such as ``poisson:rate``."""
        return f"{cls.name}:{','.join(cls.parameters)}" if cls.parameters else cls.name

    @classmethod
    def from_text(cls, text: str, population: int | None = None) -> Omission:
        """Return the omission of a short form, given what follows its name and the colon.

        Parameters
        ----------
        text : str
            The `parameters`, comma-separated, and the `optional` ones if any.
        population : int, optional
            The number of records, for omissions that are defined for one number only.

        Raises
        ------
        InvalidInput
            If there are not as many numbers as parameters.
        """
        return cls(**cls._arguments(text))

    @classmethod
    def _arguments(cls, text: str) -> dict[str, Any]:
        """Return the arguments that the short form gives, by name."""
        given, count = f"{cls.name}:{text}", len(cls.parameters)
        parts = text.split(",") if text else []
        try:
            numbers = [float(part) for part in parts[:count]]
        except ValueError as error:
            raise InvalidInput(
                f"Expected numbers after the colon in {_validate.shown(given)}."
            ) from error
        if not count <= len(parts) <= count + len(cls.optional):
            longer = "".join(f",{name.upper()}" for name in cls.optional)
            other = f" or {cls.short_form()}{longer}" if longer else ""
            raise InvalidInput(f"Expected {given!r} in the form {cls.short_form()}{other}.")
        texts = zip(cls.optional, map(str.strip, parts[count:]), strict=False)
        return dict(zip(cls.parameters, numbers, strict=True)) | dict(texts)

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
        """Return `epsilon_after` with its rounding error, of a few units in the last digit."""
        after = raised(float(self.epsilon_after(epsilon)), ROUNDING)
        if after == 0 < epsilon and self.largest_keep_probability > 0:
            # Too small for a floating-point number, and yet not nothing.
            return SMALLEST_POSITIVE
        return after

    def _delta_not_below(self, delta: float, epsilon: float, after: float) -> float:
        """Return delta by the shift rule, with the rounding error of an exponential."""
        factor = self._delta_factor(epsilon, after)
        if factor == 1 and after <= epsilon:
            return delta
        product = raised(delta * factor, ROUNDING * (1 + abs(after - epsilon)))
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
            after = self._after(Guarantee(epsilon, delta, target.neighbours))
            return np.inf if isinstance(after, NoGuarantee) else after.delta

        delta = largest_not_above(delta_after, target.delta / factor, target.delta)
        return Guarantee(epsilon, delta, target.neighbours)

    def defined_for(self, neighbours: str) -> bool:
        """Tell whether the omission has a bound under that relation."""
        return neighbours in self.relations

    def require_relation(self, guarantee: Guarantee) -> None:
        """Refuse a guarantee under a relation that the omission has no bound for."""
        require_guarantee(guarantee)
        if not self.defined_for(guarantee.neighbours):
            raise WrongNeighbours(
                f"{self} has no bound under the relation {guarantee.neighbours}; "
                f"state the guarantee under {' or '.join(self.relations)} "
                f"(neighbours={str(self.relations[0])!r})."
            )

    def _why_unattainable(self, target: Guarantee) -> str:
        floor = float(self.epsilon_after(0.0))
        return (
            f"{self} costs epsilon = {promised(floor)} even if the mechanism ignores its input, "
            f"so epsilon = {promised(target.epsilon)} cannot be reached by adding noise."
        )
