"""Conditions on the quantities of a result, such as ``epsilon<=1``: a job goes on, or fails.

A condition is a quantity, a comparison and a number. It holds if it holds for every value that the
result has of the quantity, and for both ends of a value that is only known to be between two. A
value that there is not, such as the epsilon of a release without a guarantee, meets no condition.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omit import _validate
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from omit.report.result import Ends, Result

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_OTHER_SIGNS = {"≤": "<=", "≥": ">="}
_FORM = re.compile(r"\s*([A-Za-z]\w*)\s*(<=|>=|<|>|≤|≥)\s*(\S+)\s*")


@dataclass(frozen=True)
class Condition:
    """A quantity, how it is compared, and with which number.

    Examples
    --------
    >>> condition = Condition.parse("epsilon <= 1")
    >>> condition
    Condition(quantity='epsilon', comparison='<=', number=1.0)
    >>> condition.holds((0.5, 1.0)), condition.holds((0.9, 1.1)), condition.holds(None)
    (True, False, False)
    """

    quantity: str
    comparison: str
    number: float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Return the condition of a text.

        Raises
        ------
        InvalidInput
            If it has another form, or the number is none.
        """
        match = _FORM.fullmatch(text)
        try:
            number = float(match[3]) if match else math.nan
        except ValueError:
            number = math.nan
        if match is None or math.isnan(number):
            raise InvalidInput(
                "Expected a condition such as 'epsilon<=1', of a quantity, one of <=, <, >= and >, "
                f"and a number, got {_validate.shown(text)}."
            )
        return cls(match[1], _OTHER_SIGNS.get(match[2], match[2]), number)

    def __str__(self) -> str:
        return f"{self.quantity}{self.comparison}{self.number:.15g}"

    def holds(self, value: Ends | None) -> bool:
        """Tell whether a value meets the condition wherever between its ends it is."""
        compare = _COMPARISONS[self.comparison]
        return value is not None and all(compare(end, self.number) for end in value)

    def unmet(self, results: Iterable[Result]) -> str | None:
        """Return in words why results do not meet the condition, None if all of them do."""
        values = [value for result in results for value in result.quantities()[self.quantity]]
        if not values:
            return f"{self}, and there is no {self.quantity}"
        failing = [value for value in values if not self.holds(value)]
        if not failing:
            return None
        often = "" if len(values) == 1 else f"in {len(failing)} of {len(values)} cases not: "
        return f"{self}, but {often}{self.quantity} {_shown(failing[0])}"


def _shown(value: Ends | None) -> str:
    """Return what is known of a value, with all its digits: a rounded one might meet conditions."""
    if value is None:
        return "is not known or does not exist"
    low, high = (repr(float(end)) for end in value)
    return f"is {low}" if low == high else f"is between {low} and {high}"


def conditions(texts: Iterable[str], result: type[Result]) -> tuple[Condition, ...]:
    """Return the conditions of texts, about quantities of a kind of result.

    Raises
    ------
    InvalidInput
        If a text is no condition, or there is no such quantity.
    """
    known = result.known_quantities
    parsed = tuple(map(Condition.parse, texts))
    for condition in parsed:
        if condition.quantity not in known:
            raise InvalidInput(
                f"Expected a condition on {', '.join(known)} of omit {result.command}, got "
                f"{_validate.shown(condition.quantity)}."
            )
    return parsed
