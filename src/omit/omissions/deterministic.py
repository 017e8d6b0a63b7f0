"""Suppression that decides without chance, and what that does to privacy.

The sensitivity of a suppression `S` is the largest number of records by which `S(D)` and `S(D')`
differ for neighbouring `D`, `D'`. Group privacy then gives epsilon times the sensitivity (omitting
records, Theorem 5.1), and for pure differential privacy some mechanism loses all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.base import Data
from omit.data.column import Column
from omit.errors import InvalidInput, Refused
from omit.guarantee import steps_apart
from omit.laws.design import Design, Independent
from omit.omissions.base import Omission


@dataclass(frozen=True)
class StableSuppression(Omission):
    """Suppress records by a deterministic rule of known sensitivity; defined under add-remove.

    Parameters
    ----------
    sensitivity : int
        By how many records the outputs for two neighbouring databases can differ.

    Examples
    --------
    >>> from omit import Guarantee
    >>> StableSuppression(sensitivity=2).amplify(Guarantee(0.5, 1e-6))
    Statement(epsilon=1.0, delta=2.648721270700...e-06, neighbours='add-remove')
    """

    sensitivity: int

    name: ClassVar[str] = "stable"

    def __post_init__(self) -> None:
        checked = _validate.positive_integer("sensitivity", self.sensitivity)
        object.__setattr__(self, "sensitivity", checked)

    def __str__(self) -> str:
        return f"suppression of sensitivity {self.sensitivity}"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return epsilon times the sensitivity."""
        with np.errstate(over="ignore"):  # infinite, where it is too large for a number
            return as_array(epsilon) * self.sensitivity

    def epsilon_before(self, epsilon_after: ArrayLike) -> FloatArray:
        """Return epsilon divided by the sensitivity."""
        return as_array(epsilon_after) / self.sensitivity

    def _epsilon_not_below(self, epsilon: float) -> float:
        return steps_apart(epsilon, 0.0, self.sensitivity)[0]

    def _delta_not_below(self, delta: float, epsilon: float, after: float) -> float:
        return steps_apart(epsilon, delta, self.sensitivity)[1]

    @property
    def slope_at_zero(self) -> float:
        """The sensitivity."""
        return float(self.sensitivity)

    @property
    def largest_keep_probability(self) -> float:
        """One: what is not suppressed for certain is kept for certain."""
        return 1.0


@dataclass(frozen=True)
class RuleSuppression(StableSuppression):
    """Suppress records by a rule fixed beforehand that looks at one record at a time.

    Such a rule has sensitivity 1: privacy stays as it is. What can be gained is a smaller domain
    (omitting records, Example 5.2): if only values in `keep` are kept, the sensitivity of a sum
    is that of the narrower bounds, and its noise shrinks with it. `restrict` hands those bounds
    on. A rule that was chosen after looking at the data is not a rule of this kind.

    Parameters
    ----------
    keep : (float, float), optional
        Values outside this interval are suppressed.

    Examples
    --------
    >>> RuleSuppression(keep=(0, 100)).restrict((0, 125))
    (0.0, 100.0)
    """

    sensitivity: int = 1
    keep: tuple[float, float] | None = None

    name: ClassVar[str] = "rule"
    looks_at_single_records = True
    parameters: ClassVar[tuple[str, ...]] = ("lower", "upper")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sensitivity != 1:
            raise InvalidInput(
                "A rule that looks at one record at a time has sensitivity 1; "
                f"for sensitivity={self.sensitivity} use StableSuppression."
            )
        if self.keep is not None:
            object.__setattr__(self, "keep", _validate.interval("keep", self.keep))

    def __str__(self) -> str:
        if self.keep is None:
            return "suppression by a fixed rule"
        return f"suppression of values outside [{self.keep[0]:g}, {self.keep[1]:g}]"

    @classmethod
    def from_text(cls, text: str, population: int | None = None) -> Omission:
        """Return the rule of a short form, such as ``rule:0,100``."""
        return cls(keep=tuple(cls._arguments(text).values()))

    def design(self, data: Data, distance: str) -> Design:
        """Return that values within `keep` are kept, and no others.

        Raises
        ------
        Refused
            If the rule is not given as an interval of numbers, or the data are not a column.
        """
        if not isinstance(data, Column):
            raise Refused(
                "A rule is an interval of single numbers and says nothing about points; declare "
                "narrower bounds of their columns instead."
            )
        if self.keep is None or data.is_text:
            raise Refused("The rule is not known; give the interval of numbers that it keeps.")
        first, last = self.keep
        kept = (data.lows >= first) & (data.highs <= last)
        if not (kept | (data.highs < first) | (data.lows > last)).all():
            raise Refused(
                f"The rule keeps some records of a bin of {data.name!r} and not others; let its "
                "interval end where bins do."
            )
        return Independent(as_array(kept))

    def restrict(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the part of the declared bounds that the rule keeps.

        Raises
        ------
        InvalidInput
            If that is empty.
        """
        lower, upper = _validate.interval("bounds", bounds)
        if self.keep is None:
            return lower, upper
        lower, upper = max(lower, self.keep[0]), min(upper, self.keep[1])
        if lower > upper:
            raise InvalidInput(
                f"Expected keep=({self.keep[0]:g}, {self.keep[1]:g}) to overlap the declared "
                f"bounds ({bounds[0]:g}, {bounds[1]:g}): the rule leaves no possible value."
            )
        return lower, upper
