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
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit._validate import shown
from omit.data.base import Data
from omit.data.column import Column
from omit.data.points import Points
from omit.errors import InvalidInput, Refused
from omit.laws.design import Design, Independent
from omit.omissions.base import Omission
from omit.omissions.sampling import sampling_base_epsilon, sampling_epsilon

Interval: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[Interval, ...]
Kind: TypeAlias = float | str | Interval | Box
Rules: TypeAlias = Mapping[Any, float] | Iterable[tuple[Any, float]]

_OTHERWISE = "otherwise"
_FORM = "by-value:VALUE=RATE,LOWER..UPPER=RATE,otherwise=RATE"
_DOTS, _AND = "..", "/"


@dataclass(frozen=True)
class SamplingByValue(Omission):
    """Keep every record independently, at a rate that was fixed beforehand for its value.

    Defined under add-remove.

    Parameters
    ----------
    rates : mapping or pairs
        From a number, a text, an interval ``(lower, upper)`` with both ends, or for points a box
        of one interval for each column, to the probability of keeping a record with such a value.
        The first that fits counts.
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
                value = _read_kind(kind.strip())
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
            If the rates are of other values than the data, or a rule holds for some records of a
            bin only.
        """
        inclusion = np.full(len(data.multiplicities), self.otherwise)
        decided = np.zeros(len(data.multiplicities), dtype=bool)
        for kind, rate in self.rates:
            found = _inside(kind, data) if isinstance(data, Points) else _holds(kind, data)
            holds = found & ~decided
            inclusion[holds] = rate
            decided |= holds
        return Independent(as_array(inclusion))

    def restrict(self, bounds: Any) -> Any:
        """Return the bounds of what can be kept, where all other values are not.

        Those of points stay as they are.

        Raises
        ------
        InvalidInput
            If nothing within the bounds can be kept.

        Examples
        --------
        >>> SamplingByValue({(0, 100): 0.5}, otherwise=0).restrict((0, 125))
        (0.0, 100.0)
        """
        if len(bounds) and isinstance(bounds[0], tuple | list):
            return bounds
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
    if not isinstance(value, tuple | list):
        return _validate.finite("a value", value)
    if value and isinstance(value[0], tuple | list):
        return tuple(_interval(part) for part in value)
    return _interval(value)


def _interval(value: Any) -> Interval:
    return _validate.interval("the interval of a rate", value)


def _read_kind(text: str) -> Kind:
    """Return a kind of values that was typed; `ValueError` is raised if an interval is none."""
    intervals = [part.partition(_DOTS) for part in text.split(_AND)]
    if not all(dots for _, dots, _ in intervals):
        return text
    box = tuple((float(lower), float(upper)) for lower, _, upper in intervals)
    return box if len(box) > 1 else box[0]


def _is_box(kind: Kind) -> bool:
    return isinstance(kind, tuple) and isinstance(kind[0], tuple)


def _shown_kind(kind: Kind) -> str:
    if not isinstance(kind, tuple):
        return kind if isinstance(kind, str) else f"{kind:g}"
    intervals = cast(Box, kind if _is_box(kind) else (kind,))
    return _AND.join(f"{lower:g}{_DOTS}{upper:g}" for lower, upper in intervals)


def _ends(kind: Kind) -> Interval | None:
    """Return the interval of a kind, if it is about numbers of one column."""
    if isinstance(kind, tuple):
        return None if _is_box(kind) else cast(Interval, kind)
    try:
        return float(kind), float(kind)
    except ValueError:
        return None


def _inside(kind: Kind, points: Points) -> NDArray[np.bool_]:
    """Return which points are in a box."""
    if not _is_box(kind) or len(cast(Box, kind)) != len(points.columns):
        raise Refused(
            f"The rate of {_shown_kind(kind)} is not that of a box of points with "
            f"{len(points.columns)} columns; give an interval for each of them."
        )
    lows, highs = np.array(kind).T
    return np.asarray(((points.rows >= lows) & (points.rows <= highs)).all(axis=1), dtype=bool)


def _holds(kind: Kind, data: Data) -> NDArray[np.bool_]:
    """Return which values of a column are of a kind."""
    if not isinstance(data, Column):
        raise Refused("Rates by value are those of columns and points.")
    if data.is_text:
        if not isinstance(kind, str):
            raise Refused(
                f"Column {data.name!r} holds texts, and the rate of {_shown_kind(kind)} is that "
                "of numbers."
            )
        return np.asarray(data.values == kind, dtype=bool)
    ends = _ends(kind)
    if ends is None:
        other = "points" if _is_box(kind) else "a text"
        raise Refused(
            f"Column {data.name!r} holds numbers, and the rate of {_shown_kind(kind)} is that of "
            f"{other}."
        )
    first, last = ends
    holds = (data.lows >= first) & (data.highs <= last)
    if not (holds | (data.highs < first) | (data.lows > last)).all():
        raise Refused(
            f"The rate of {_shown_kind(kind)} is that of some records of a bin of {data.name!r} "
            "and not of others; let it end where bins do."
        )
    return np.asarray(holds, dtype=bool)
