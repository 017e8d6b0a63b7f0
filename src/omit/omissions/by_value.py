"""Keep probabilities by value: who is kept how often was fixed before anybody saw the data.

Every record is kept independently with a probability that depends on its own value only, so the
deletion probabilities of a database and of its neighbour are the same, and of the mixture bound
only the factor of the added record remains: Poisson sampling at the largest rate, which is exact.
Rates of 0 and 1 are a rule, for which nothing is amplified and nothing is lost (the suppression of
*omitting records*, Section 5.1, that does not depend on the database).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit._validate import shown
from omit.data.base import Data
from omit.data.column import Column
from omit.errors import InvalidInput, Refused
from omit.laws.design import Design, Independent
from omit.omissions.base import Omission
from omit.omissions.sampling import sampling_base_epsilon, sampling_epsilon

Kind: TypeAlias = float | str | tuple[float, float]
Rules: TypeAlias = Mapping[Any, float] | Iterable[tuple[Any, float]]

_OTHERWISE = "otherwise"
_FORM = "by-value:VALUE=RATE,LOWER..UPPER=RATE,otherwise=RATE"


@dataclass(frozen=True)
class SamplingByValue(Omission):
    """Keep every record independently, at a rate that was fixed beforehand for its value.

    Defined under add-remove.

    Parameters
    ----------
    rates : mapping or pairs
        From a number, a text, or an interval ``(lower, upper)`` with both ends, to the probability
        of keeping a record with such a value. The first that fits counts.
    otherwise : float
        The probability of keeping all other records.

    Examples
    --------
    >>> from omit import Guarantee
    >>> by_age = SamplingByValue({(0, 40): 0.9, (41, 125): 0.5}, otherwise=0.0)
    >>> print(by_age)
    sampling at rate 0.9 of 0..40, 0.5 of 41..125, 0 otherwise
    >>> print(by_age.amplify(Guarantee(1.0)))
    (0.9347016641, 0)-DP under add-remove
    """

    rates: tuple[tuple[Kind, float], ...]
    otherwise: float = 1.0

    name: ClassVar[str] = "by-value"
    parameters: ClassVar[tuple[str, ...]] = ("rates",)
    looks_at_single_records = True

    def __init__(self, rates: Rules, otherwise: float = 1.0) -> None:
        given = rates.items() if isinstance(rates, Mapping) else rates
        pairs = _validate.pairs("(value, rate)", given)
        checked = tuple(
            (_kind(kind), _validate.probability(f"the rate of {shown(kind)}", rate))
            for kind, rate in pairs
        )
        object.__setattr__(self, "rates", checked)
        object.__setattr__(self, "otherwise", _validate.probability("otherwise", otherwise))
        if not self.largest_keep_probability:
            raise InvalidInput("Expected some rate above 0: all rates are 0, so nothing is kept.")

    def __str__(self) -> str:
        parts = [f"{rate:g} of {_shown_kind(kind)}" for kind, rate in self.rates]
        return f"sampling at rate {', '.join([*parts, f'{self.otherwise:g} otherwise'])}"

    @classmethod
    def short_form(cls) -> str:
        """Return how the command line spells the omission."""
        return _FORM

    @classmethod
    def from_text(cls, text: str, population: int | None = None) -> Omission:
        """Return the sampling of a short form, such as ``by-value:0..40=0.9,otherwise=0.5``.

        Examples
        --------
        >>> print(SamplingByValue.from_text("young=0.9,otherwise=0.5"))
        sampling at rate 0.9 of young, 0.5 otherwise
        """
        rates, otherwise = [], 1.0
        for part in text.split(","):
            kind, equals, rate = part.rpartition("=")
            try:
                if not equals or not kind.strip():
                    raise ValueError
                number = float(rate)
                lower, dots, upper = kind.partition("..")
                value: Kind = (float(lower), float(upper)) if dots else kind.strip()
            except ValueError as error:
                raise InvalidInput(
                    f"Expected {_validate.shown(f'by-value:{text}')} in the form {_FORM}."
                ) from error
            if value == _OTHERWISE:
                otherwise = number
            else:
                rates.append((value, number))
        return cls(rates, otherwise)

    @property
    def largest_keep_probability(self) -> float:
        """The largest rate."""
        return max([self.otherwise, *(rate for _, rate in self.rates)])

    @property
    def slope_at_zero(self) -> float:
        """The largest rate."""
        return self.largest_keep_probability

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return what Poisson sampling at the largest rate leaves."""
        return sampling_epsilon(epsilon, self.largest_keep_probability)

    def epsilon_before(self, epsilon_after: ArrayLike) -> FloatArray:
        """Return the inverse."""
        return sampling_base_epsilon(epsilon_after, self.largest_keep_probability)

    def design(self, data: Data, distance: str) -> Design:
        """Return that every value is kept at its rate.

        Raises
        ------
        Refused
            If the data are not a column, or a rule holds for some records of a bin only.
        """
        if not isinstance(data, Column):
            raise Refused("Rates by value are those of the values of one column.")
        inclusion = np.full(len(data.values), self.otherwise)
        decided = np.zeros(len(data.values), dtype=bool)
        for kind, rate in self.rates:
            holds = _holds(kind, data) & ~decided
            inclusion[holds] = rate
            decided |= holds
        return Independent(as_array(inclusion))

    def restrict(self, bounds: tuple[float, float]) -> tuple[float, float]:
        """Return the bounds of what can be kept, where all other values are not.

        Raises
        ------
        InvalidInput
            If nothing within the bounds can be kept.

        Examples
        --------
        >>> SamplingByValue({(0, 100): 0.5}, otherwise=0).restrict((0, 125))
        (0.0, 100.0)
        """
        lower, upper = _validate.interval("bounds", bounds)
        ends = [_ends(kind) for kind, rate in self.rates if rate]
        if self.otherwise or any(pair is None for pair in ends):
            return lower, upper
        inside = [
            (max(lower, pair[0]), min(upper, pair[1]))
            for pair in ends
            if pair is not None and pair[0] <= upper and pair[1] >= lower
        ]
        if not inside:
            raise InvalidInput(
                f"Expected {self} to keep something within the declared bounds "
                f"({lower:g}, {upper:g})."
            )
        return min(pair[0] for pair in inside), max(pair[1] for pair in inside)


def _kind(value: Any) -> Kind:
    if isinstance(value, str):
        return _validate.text("a value", value)
    if isinstance(value, tuple | list):
        return _validate.interval("the interval of a rate", value)  # type: ignore[arg-type]  # checked there
    return _validate.finite("a value", value)


def _shown_kind(kind: Kind) -> str:
    if isinstance(kind, tuple):
        return f"{kind[0]:g}..{kind[1]:g}"
    return kind if isinstance(kind, str) else f"{kind:g}"


def _ends(kind: Kind) -> tuple[float, float] | None:
    """Return the interval of a kind, if it is about numbers."""
    if isinstance(kind, tuple):
        return kind
    try:
        return float(kind), float(kind)
    except ValueError:
        return None


def _holds(kind: Kind, data: Column) -> NDArray[np.bool_]:
    """Return which values of a column are of a kind."""
    if data.is_text:
        if not isinstance(kind, str):
            raise Refused(
                f"Column {data.name!r} holds texts, and the rate of {_shown_kind(kind)} is that "
                "of numbers."
            )
        return np.asarray(data.values == kind, dtype=bool)
    ends = _ends(kind)
    if ends is None:
        raise Refused(
            f"Column {data.name!r} holds numbers, and the rate of {kind!r} is that of a text."
        )
    first, last = ends
    holds = (data.lows >= first) & (data.highs <= last)
    if not (holds | (data.highs < first) | (data.lows > last)).all():
        raise Refused(
            f"The rate of {_shown_kind(kind)} is that of some records of a bin of {data.name!r} "
            "and not of others; let it end where bins do."
        )
    return np.asarray(holds, dtype=bool)
