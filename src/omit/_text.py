"""Numbers for people. A promise is rounded up where it is shown, what is surely lost down.

Every epsilon and delta that is shown goes through here. What a release promises (`promised`) is
never shown smaller than it is, and what a mechanism may use to keep a promise (`usable`) never
larger: whoever takes the digits for the number stays on the private side. Programs get all digits.

Helping a person who mistyped a name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    ROUND_UP,
    Context,
    Decimal,
)


def promised(number: float) -> str:
    """Return an epsilon or delta of a guarantee with up to ten digits, and never less than it is.

    Examples
    --------
    >>> promised(0.4940287080899), promised(1.0), promised(1.0000049)
    ('0.4940287081', '1', '1.0000049')
    """
    return show_number(number, ROUND_UP)


def usable(number: float) -> str:
    """Return an epsilon or delta that a mechanism may have, and never more than it is.

    Examples
    --------
    >>> usable(2.9004770978893855), usable(1.0)
    ('2.9004770978', '1')
    """
    return show_number(number, ROUND_DOWN)


def show_number(value: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number for people: ten decimals at most, or a power of ten where it is tiny.

    Examples
    --------
    >>> show_number(2.9004770978893855), show_number(1.0), show_number(1e-7)
    ('2.9004770979', '1', '1e-07')
    >>> show_number(2.9004770978893855, ROUND_DOWN), show_number(0.1 + 0.2, ROUND_UP)
    ('2.9004770978', '0.3000000001')
    """
    if 1e-3 <= value < 1e6:
        # The shortest decimal that is this number: 0.3 is shown as that, though the float is less.
        shown = f"{Decimal(repr(float(value))).quantize(Decimal('1e-10'), rounding):f}"
        return shown.rstrip("0").rstrip(".")
    return _rounded(float(value), 10, rounding)


def fixed_down(number: float, decimals: int = 4) -> str:
    """Return a number that is never more, with so many decimals, for the columns of a table.

    Small numbers get so many digits instead, and large ones a power of ten.

    Examples
    --------
    >>> fixed_down(2.90047709), fixed_down(1.0), fixed_down(0.0123456), fixed_down(1e300)
    ('2.9004', '1.0000', '0.01234', '1e+300')
    """
    if number == 0 or 0.1 <= number < 1e6:
        unit = Decimal(1).scaleb(-decimals)
        return f"{Decimal(repr(float(number))).quantize(unit, ROUND_DOWN):f}"
    return rounded_down(number, decimals)


def rounded_up(number: float, digits: int = 4) -> str:
    """Return a number, such as a promised delta, with so many digits that is never less.

    Examples
    --------
    >>> rounded_up(0.76212), rounded_up(1e-06), rounded_up(0.0)
    ('0.7622', '1e-06', '0')
    """
    return _rounded(number, digits, ROUND_CEILING)


def rounded_down(number: float, digits: int = 4) -> str:
    """Return a number, such as a delta that is needed at least, with digits that are never more.

    Examples
    --------
    >>> rounded_down(0.76219), rounded_down(1e-06)
    ('0.7621', '1e-06')
    """
    return _rounded(number, digits, ROUND_FLOOR)


def _rounded(number: float, digits: int, rounding: str) -> str:
    # The shortest decimal that is this number: 1e-6 is not rounded up to 1.001e-06.
    rounded = Context(digits, rounding).create_decimal(repr(float(number)))
    text = f"{float(rounded):.{digits}g}"
    # The tiniest numbers have fewer digits than are asked for, and would be rounded again.
    return text if Decimal(text) == rounded else f"{rounded.normalize():g}"


_SHOWN = 20
_LONGEST = 200  # looking for what is near takes the product of the lengths


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that says which name may have been meant, or which there are.

    Examples
    --------
    >>> nearest("Agee", ["age", "wage", "sex"])
    "the nearest are 'age', 'wage'"
    >>> nearest("income", ["age", "sex"])
    "there are 'age', 'sex'"
    """
    known = list(known)
    lowered = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name[:_LONGEST].lower(), lowered, n=3)
    if near:
        return f"the nearest {'are' if len(near) > 1 else 'is'} {listed(lowered[n] for n in near)}"
    return f"there are {listed(known)}" if known else "there are none"


def listed(names: Iterable[str]) -> str:
    """Return names in quotes, with commas, and not more than a person reads.

    Examples
    --------
    >>> listed(["age", "sex"])
    "'age', 'sex'"
    """
    names = list(names)
    rest = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name) for name in names[:_SHOWN]) + rest
