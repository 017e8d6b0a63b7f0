"""Numbers for people. A promise is rounded up where it is shown, what is surely lost down."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_UP, Context, Decimal

_NOISE = 4e-16


def show_number(value: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number for people: ten decimals at most, or a power of ten where it is tiny.

    Examples
    --------
    >>> show_number(2.9004770978893855), show_number(1.0), show_number(1e-7)
    ('2.9004770979', '1', '1e-07')
    >>> show_number(2.9004770978893855, ROUND_DOWN), show_number(0.1 + 0.2, ROUND_UP)
    ('2.9004770978', '0.3')
    """
    # A few units in the last place are noise of the computation, and no reason to round away.
    noise = {ROUND_UP: -_NOISE, ROUND_DOWN: _NOISE}.get(rounding, 0.0)
    number = Decimal(repr(float(value) * (1 + noise)))
    if 1e-3 <= value < 1e6:
        shown = f"{number.quantize(Decimal('1e-10'), rounding):f}"
        return shown.rstrip("0").rstrip(".")
    return _rounded(float(value) * (1 + noise), 10, rounding)


def rounded_up(number: float, digits: int = 4) -> str:
    """Return a number, such as a promised delta, with so many digits that is never less.

    Examples
    --------
    >>> rounded_up(0.76212), rounded_up(1e-06), rounded_up(0.0)
    ('0.7622', '1e-06', '0')
    """
    return _rounded(number, digits, ROUND_UP)


def rounded_down(number: float, digits: int = 4) -> str:
    """Return a number, such as a delta that is needed at least, with digits that are never more.

    Examples
    --------
    >>> rounded_down(0.76219), rounded_down(1e-06)
    ('0.7621', '1e-06')
    """
    return _rounded(number, digits, ROUND_DOWN)


def _rounded(number: float, digits: int, rounding: str) -> str:
    # The shortest decimal that is this number: 1e-6 is not rounded up to 1.001e-06.
    rounded = Context(digits, rounding).create_decimal(repr(float(number)))
    text = f"{float(rounded):.{digits}g}"
    # The tiniest numbers have fewer digits than are asked for, and would be rounded again.
    return text if Decimal(text) == rounded else f"{rounded.normalize():g}"
