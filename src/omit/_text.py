"""Text for people: numbers, quantities, durations, lists of names, and what an extra is for.

Every epsilon and delta that is shown goes through here. What a guarantee promises (`promised`) is
never shown smaller than it is, and what a mechanism may use to keep a promise (`usable`) never
larger: whoever takes the digits for the number stays on the private side. Programs get all digits.
"""

from __future__ import annotations

import difflib
import importlib
import math
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
from types import ModuleType

from omit.errors import InvalidInput

# As much of another library's message as a person reads.
_LONGEST_LINE = 300


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
    """Return a number that is never more, with this many decimals, for the columns of a table.

    Small numbers get as many digits instead, and large ones a power of ten.

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
    """Return a number, such as a promised delta, with this many digits that is never less.

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


def show_quantity(value: float, unit: str) -> str:
    """Return a measured quantity to four digits, with its unit if that is per cent.

    Examples
    --------
    >>> show_quantity(0.123456, "%"), show_quantity(12345.6, "squared units")
    ('0.1235 %', '1.235e+04')
    """
    return f"{value:.4g} %" if unit == "%" else f"{value:.4g}"


def show_ratio(ratio: float | None, exact: bool = True) -> str:
    """Return a ratio to three digits, or to as many as tell it from 1.

    Without powers of ten where a person can read it; nothing if there is no ratio.

    Examples
    --------
    >>> show_ratio(0.12345), show_ratio(12345.6), show_ratio(1.00001), show_ratio(None)
    ('0.123', '12,300', '1.00001', '')
    >>> show_ratio(1.00001, exact=False)
    '1.0000'
    """
    if ratio is None:
        return ""
    rounded = float(f"{ratio:.3g}")
    if rounded == 1 and ratio != 1:
        return f"{ratio:.8g}" if exact else f"{ratio:.4f}"
    return f"{rounded:,.0f}" if 100 <= rounded < 1e7 else f"{rounded:g}"


def short_ratio(ratio: float) -> str:
    """Return a ratio in few characters, for a cell of a picture.

    Examples
    --------
    >>> short_ratio(0.0345), short_ratio(1.0312), short_ratio(12345.0)
    ('.035', '1.03', '1e4')
    >>> short_ratio(0.0), short_ratio(0.968), short_ratio(float("inf"))
    ('0', '.968', '∞')
    """
    if ratio in (0, math.inf):
        return "0" if ratio == 0 else "∞"
    if ratio >= 999.5 or ratio < 0.001:
        mantissa, _, exponent = f"{ratio:.0e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    if ratio < 1:
        # Close to 1, one digit more tells gains from losses.
        return f"{ratio:.{3 if ratio > 0.5 else 2}g}".lstrip("0")
    return f"{ratio:.0f}" if ratio >= 99.5 else f"{ratio:.3g}"


def short_gain(gain: float) -> str:
    """Return a difference of two errors in few characters, for a cell of a picture.

    Examples
    --------
    >>> short_gain(-0.0213), short_gain(-87.93), short_gain(0.0), short_gain(-1e-9)
    ('-.021', '-88', '0', '-0')
    """
    if gain == 0:
        return "0"
    if abs(gain) >= 9.95:
        return f"{gain:.0f}"
    digits = 1 if abs(gain) >= 0.995 else 2 if abs(gain) >= 0.0995 else 3
    text = f"{gain:.{digits}f}"
    if float(text) == 0:
        return "-0" if gain < 0 else "+0"
    return text.replace("0.", ".", 1) if abs(gain) < 1 else text


def show_records(number: int) -> str:
    """Return a number of records.

    Examples
    --------
    >>> show_records(32561), show_records(1)
    ('32,561 records', '1 record')
    """
    return f"{number:,} record{'' if number == 1 else 's'}"


def show_duration(seconds: float) -> str:
    """Return how long something took.

    Examples
    --------
    >>> show_duration(3.21), show_duration(200.4)
    ('3.2 s', '3 min 20 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def show_estimate(seconds: float) -> str:
    """Return how long something may take, as exactly as an estimate deserves.

    Examples
    --------
    >>> show_estimate(40), show_estimate(400), show_estimate(40000)
    ('less than a minute', 'about 7 min', 'about 11 h')
    """
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    return f"about {minutes} min" if minutes < 120 else f"about {minutes / 60:.0f} h"


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
    lowered = {other.lower(): other for other in known}
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


def one_line(error: BaseException) -> str:
    r"""Return the beginning of a library's message, as much of it as a person reads.

    Not the whole message: it may go on with settings, and with the record in question.

    Examples
    --------
    >>> one_line(ValueError("no such column.\nDetails: ..."))
    'no such column'
    """
    line = str(error).strip().split("\n", 1)[0].rstrip(".:")
    line = "".join(sign if sign.isprintable() else " " for sign in line)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that names the closest known name, or nothing if none is close.

    Examples
    --------
    >>> did_you_mean("poison", ["poisson", "fixed-size"]), did_you_mean("x", ["poisson"])
    (' Did you mean poisson?', '')
    """
    near = difflib.get_close_matches(name[:_LONGEST], list(known), n=1)
    return f" Did you mean {near[0]}?" if near else ""


def import_extra(module: str, extra: str, what: str) -> ModuleType:
    """Return a module that only an extra of the package installs; `what` needs it.

    `InvalidInput` is raised if it is not installed; the sentence says how to install it.

    Examples
    --------
    >>> import_extra("math", "learn", "Classification").__name__
    'math'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise InvalidInput(
            f"{what} needs {_PACKAGES.get(package, package)}; install it with the extra: "
            f"pip install 'omit[{extra}]'."
        ) from error


# Packages that are imported by another name than they are known by.
_PACKAGES = {
    "sklearn": "scikit-learn",
    "distributed": "dask[distributed]",
    "dp_accounting": "dp-accounting",
}
