"""From raw values to distinct numbers or texts with counts, or a sentence on what does not fit.

All of this works on distinct values, never on records: a column of 100 million records with 73
distinct values is 73 values here. Only `record_numbers` and `record_texts` return a value for every
record, and read each different one once.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit._numeric import FloatArray, IntArray, as_array, has_masked
from omit._text import show_records
from omit._validate import several, shown
from omit.errors import InvalidInput

AnyArray: TypeAlias = NDArray[Any]

# How a text says a number, here and in SQL: Python alone would take 1_000 and digits of any script.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# In a column of numbers these texts can only say that there is none.
NO_NUMBER = frozenset({"", "na", "n/a", "nan", "null"})
BLANKS = " \t\n\r\f\v\u00a0"
_INFINITE = frozenset({"inf", "infinity"})
_NUMERIC_KINDS = "iuf"
_COUNTABLE_KINDS = "biuf"  # truth values are zeros and ones
_LARGEST_EXACT = 2**53
_MOST_RECORDS = 2.0**62
_UNFIT = {"c": "complex numbers", "S": "bytes", "V": "several values in one"}


@dataclass(frozen=True)
class MissingCodes:
    """Texts and numbers that stand for no value, such as N, an empty field and -9.

    A text is such a code if it is written like one, without the blanks around it, and a number if
    it is equal to one. Where numbers are needed, a text that says an equal number is one, too. A
    truth value is never one.

    Examples
    --------
    >>> codes = MissingCodes.of(["N", -9])
    >>> codes.mask(np.array(["N", " -9", "-9.0", -9.0, True, None], dtype=object), numbers=True)
    array([ True,  True,  True,  True, False, False])
    """

    texts: frozenset[str] = frozenset()
    numbers: tuple[float, ...] = ()

    @classmethod
    def of(cls, codes: Iterable[str | float]) -> MissingCodes:
        """Return the codes that somebody lists, or refuse what is neither text nor number."""
        written = []
        for code in several("codes for a missing value", codes):
            is_number = isinstance(code, Real) and not isinstance(code, bool | np.bool_)
            if not isinstance(code, str) and not (is_number and math.isfinite(code)):
                raise InvalidInput(
                    "Expected a text or a finite number that stands for a missing value, got "
                    f"{shown(code)}."
                )
            written.append((_text(code) or "").strip(BLANKS))
        numbers = {float(text) for text in written if NUMBER.fullmatch(text)}
        finite = sorted(number for number in numbers if math.isfinite(number))
        return cls(frozenset(written), tuple(finite))

    def mask(self, values: AnyArray, *, numbers: bool) -> NDArray[np.bool_]:
        """Tell which values stand for none; numbers are needed, or texts will do."""
        if values.dtype.kind != "O":
            is_number = values.dtype.kind in _NUMERIC_KINDS
            return np.isin(values, self.numbers if is_number else ())
        if not self.texts:
            return np.zeros(len(values), dtype=bool)
        return np.array([self._has(value, numbers) for value in values], dtype=bool)

    def without(
        self, values: AnyArray, counts: IntArray, *, numbers: bool
    ) -> tuple[AnyArray, IntArray, int]:
        """Return values and counts without the codes, and how many records have one."""
        absent = self.mask(values, numbers=numbers)
        return values[~absent], counts[~absent], int(counts[absent].sum())

    def __or__(self, other: MissingCodes) -> MissingCodes:
        numbers = sorted({*self.numbers, *other.numbers})
        return MissingCodes(self.texts | other.texts, tuple(numbers))

    def _has(self, value: Any, numbers: bool) -> bool:
        if isinstance(value, str):
            text = value.strip(BLANKS)
            if text in self.texts:
                return True
            return numbers and bool(NUMBER.fullmatch(text)) and float(text) in self.numbers
        is_number = isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_)
        return is_number and value in self.numbers


def raw_array(name: str, values: Any) -> AnyArray:
    """Return values as a one-dimensional array that keeps numbers, text and None apart.

    Examples
    --------
    >>> raw_array("age", [39, None, "?"])
    array([39, None, '?'], dtype=object)
    """
    if isinstance(values, np.ma.MaskedArray):
        unmasked = raw_array(name, np.ma.getdata(values)).astype(object)
        unmasked[np.ma.getmaskarray(values)] = None
        return unmasked
    if has_masked(values):
        values = [None if np.ma.is_masked(value) else value for value in values]
    if isinstance(values, bytes | bytearray | memoryview):
        raise InvalidInput(f"Expected {name!r} to hold numbers or text, not bytes.")
    try:
        array = np.asarray(values)
        if array.ndim != 1:
            raise ValueError
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise InvalidInput(f"Expected {name!r} to be a single row of values.") from error
    kind = array.dtype.kind
    if kind in "cSV":
        raise InvalidInput(f"Expected {name!r} to hold numbers or text, not {_UNFIT[kind]}.")
    if kind == "f" and not hasattr(values, "dtype") and (np.abs(array) >= _LARGEST_EXACT).any():
        return objects(values)  # whole numbers that a float cannot tell apart
    if kind in _COUNTABLE_KINDS:
        return array
    if kind in "mM":  # as objects, nanoseconds would be whole numbers
        return objects(None if np.isnat(time) else str(time) for time in array)
    return objects(values)


def row_columns(rows: Any) -> list[AnyArray]:
    """Return rows in memory column by column; nothing if they are not rows of one length.

    Examples
    --------
    >>> row_columns([[1, 2], [3, 4]])
    [array([1, 3]), array([2, 4])]
    """
    try:
        array = np.ma.asarray(rows) if has_masked(rows) else np.asarray(rows)
    except (TypeError, ValueError):  # rows of different length
        return []
    return list(array.T) if array.ndim == 2 else []


def tally(name: str, values: Any) -> tuple[AnyArray, IntArray, int]:
    """Return the distinct values of records in memory, their counts, and how many are missing.

    Values that turn out to be empty when they are read as numbers or text are still among the
    distinct ones.

    Examples
    --------
    >>> tally("age", [39, 25, 39])
    (array([25, 39]), array([1, 2]), 0)
    """
    with _hashing(name):
        if hasattr(values, "value_counts") and getattr(values, "ndim", 0) == 1:  # a pandas Series
            counted = values.value_counts(sort=False)
            missing = len(values) - int(counted.sum())
            return raw_array(name, counted.index), counted.to_numpy(dtype=np.int64), missing
        array = raw_array(name, values)
        if array.dtype.kind in _COUNTABLE_KINDS:
            distinct, counts = np.unique(array, return_counts=True)
            return distinct, counts.astype(np.int64), 0
        records = Counter(array.tolist())
    return raw_array(name, list(records)), np.array(list(records.values()), dtype=np.int64), 0


@contextmanager
def _hashing(name: str) -> Iterator[None]:
    """Refuse values that are unhashable or have no truth value, and so are neither of the two."""
    try:
        yield
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Expected {name!r} to hold numbers or text.") from error


def numbers(name: str, values: AnyArray, counts: IntArray) -> FloatArray:
    """Return distinct values as floats, with NaN where there is none.

    `InvalidInput` is raised if there is text among them, or an infinity.

    Examples
    --------
    >>> numbers("age", np.array(["39", " 25 ", "NA"], dtype=object), np.array([2, 1, 1]))
    array([39., 25., nan])
    """
    if values.dtype.kind in _COUNTABLE_KINDS:
        floats = values.astype(np.float64)
    else:
        parsed = [_number(value) for value in values]
        unfit = np.array([number is None for number in parsed], dtype=bool)
        if unfit.any():
            first = min(values[unfit], key=str)
            what, instead = f"a {type(first).__name__}", ""
            if isinstance(first, str):
                code = shown(first.strip(BLANKS))
                what, instead = (
                    "text",
                    f"; if it stands for no value, give missing=[{code}] (--missing-value "
                    f"{code}), and a text column works for the mode, with categories=(...)",
                )
            raise InvalidInput(
                f"Column {name!r} holds {what} where numbers are needed, first {shown(str(first))} "
                f"({_how_many(counts[unfit])}){instead}."
            )
        floats = np.array(parsed, dtype=np.float64)
    infinite = np.isinf(floats)
    if infinite.any():
        raise InvalidInput(
            f"Column {name!r} holds infinite numbers ({_how_many(counts[infinite])}); "
            "make them missing or finite first."
        )
    return floats


def numbers_among(values: AnyArray, codes: MissingCodes) -> tuple[FloatArray, AnyArray]:
    """Return the finite numbers among distinct values, NaN elsewhere, and the values that are none.

    Examples
    --------
    >>> numbers_among(np.array(["39", "N", 7, None], dtype=object), MissingCodes.of([7]))
    (array([39., nan, nan, nan]), array([None, 'N', 7, None], dtype=object))
    """
    parsed = (_number(value) for value in values)
    floats = np.array([math.nan if number is None else number for number in parsed])
    unread = ~np.isfinite(floats) | codes.mask(values, numbers=True)
    rest = values.astype(object)
    rest[~unread] = None
    return np.where(unread, np.nan, floats), rest


def record_numbers(name: str, values: Any, codes: MissingCodes | None = None) -> FloatArray:
    """Return the values of records as floats in their order, with NaN where there is none.

    `InvalidInput` is raised as by `numbers`.

    Examples
    --------
    >>> record_numbers("age", ["39", None, " 25 ", "?", "39"], MissingCodes.of(["?"]))
    array([39., nan, 25., nan, 39.])
    """
    import pandas

    if not isinstance(values, pandas.Series):
        values = raw_array(name, values)
    codes = codes or MissingCodes()
    kind = getattr(values.dtype, "kind", "O")
    if kind in _COUNTABLE_KINDS:
        floats: FloatArray = (
            values.to_numpy(dtype=np.float64, na_value=np.nan)
            if isinstance(values, pandas.Series)
            else values.astype(np.float64)
        )
        if codes.numbers and kind != "b":
            floats = np.where(codes.mask(floats, numbers=True), np.nan, floats)
        distinct, counts = np.unique(floats[np.isinf(floats)], return_counts=True)
        numbers(name, distinct, counts)  # raises if there are any
        return floats
    with _hashing(name):
        position, occurring = pandas.factorize(values)
    distinct = raw_array(name, occurring)
    if distinct.dtype == object:
        distinct[codes.mask(distinct, numbers=True)] = None
    counts = np.bincount(position[position >= 0], minlength=len(distinct))
    # Where there is no value the position is -1, the last.
    return as_array(np.append(numbers(name, distinct, counts), np.nan)[position])


def texts(values: AnyArray) -> AnyArray:
    """Return distinct values as texts, with None where there is none; whole numbers as digits.

    Examples
    --------
    >>> texts(np.array(["Sales", " ", 2.0, None], dtype=object))
    array(['Sales', None, '2', None], dtype=object)
    """
    return objects(_text(value) for value in values)


def trimmed_texts(values: AnyArray, codes: MissingCodes) -> AnyArray:
    """Return values as texts without blanks around them, with None where there is none.

    Every different value is read once.

    Examples
    --------
    >>> trimmed_texts(np.array([" a", "a", "N", 2.0], dtype=object), MissingCodes.of(["N"]))
    array(['a', 'a', None, '2'], dtype=object)
    """
    several = list(values)
    occurring = objects(dict.fromkeys(several))
    occurring[codes.mask(occurring, numbers=False)] = None
    read = (text and text.strip(BLANKS) for text in texts(occurring))
    known = dict(zip(dict.fromkeys(several), read, strict=True))
    return objects(known[value] or None for value in several)


def refuse_unknown(name: str, values: AnyArray, counts: IntArray, known: frozenset[str]) -> None:
    """Refuse texts that are not among the declared categories, and name the first."""
    unknown = np.array([value not in known for value in values], dtype=bool)
    if unknown.any():
        raise InvalidInput(
            f"Column {name!r} holds {shown(min(values[unknown]))} ({_how_many(counts[unknown])}), "
            "which is not among the declared categories; add it, or correct the data."
        )


def merged(values: AnyArray, counts: IntArray) -> tuple[AnyArray, IntArray]:
    """Return sorted distinct values with their counts added up.

    Examples
    --------
    >>> merged(np.array([2.0, 1.0, 2.0]), np.array([5, 1, 1]))
    (array([1., 2.]), array([1, 6]))
    """
    distinct, position = np.unique(values, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, position, counts)
    return distinct, total


def whole_counts(name: str, counts: ArrayLike) -> IntArray:
    """Return counts as integers, or refuse what is negative, broken or no number.

    Examples
    --------
    >>> whole_counts("age", [3, 0, 2.0])
    array([3, 0, 2])
    """
    try:
        array = np.asarray(counts)
        odd = has_masked(counts) or isinstance(counts, bytearray | memoryview)
        if odd or array.dtype.kind not in _NUMERIC_KINDS:
            raise ValueError
        if not (array >= 0).all() or (array != np.floor(array)).any():
            raise ValueError
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInput(
            f"Expected the counts of {name!r} to be whole numbers of at least 0."
        ) from error
    if array.sum(dtype=np.float64) >= _MOST_RECORDS:
        raise InvalidInput(f"Expected the counts of {name!r} to add up to less than 2^62.")
    return array.astype(np.int64)


def objects(values: Iterable[Any]) -> AnyArray:
    """Return values as an array that leaves every one as it is."""
    several = list(values)
    array = np.empty(len(several), dtype=object)
    array[:] = several
    return array


def _how_many(counts: IntArray) -> str:
    different = f"{len(counts):,} different values, " if len(counts) > 1 else ""
    return different + show_records(int(counts.sum()))


def _is_missing(value: Any) -> bool:
    # The last two are pandas' own, which have no truth value or are no numbers.
    return (
        value is None
        or (isinstance(value, Real) and value != value)
        or (isinstance(value, Decimal) and value.is_nan())
        or type(value).__name__ in ("NAType", "NaTType")
    )


def _number(value: Any) -> float | None:
    """Return a float, NaN for a missing value, or None for what is no number."""
    if _is_missing(value):
        return math.nan
    if isinstance(value, str):
        value = value.strip(BLANKS)
        if value.lower() in NO_NUMBER:
            return math.nan
        if not NUMBER.fullmatch(value) and value.lower().lstrip("+-") not in _INFINITE:
            return None
    elif not isinstance(value, Real | Decimal | np.bool_):  # not bytes, nor complex numbers
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return math.inf


def _text(value: Any) -> str | None:
    if _is_missing(value):
        return None
    if isinstance(value, bytes | bytearray | memoryview | Complex) and not isinstance(value, Real):
        raise InvalidInput(f"Expected numbers or text, got {shown(value)}.")
    if isinstance(value, Decimal) and value.is_finite():
        whole = value == value.to_integral_value()
        return str(int(value)) if whole else f"{value.normalize():f}"
    if isinstance(value, Integral | np.bool_):
        return str(int(value))
    if isinstance(value, Real) and float(value).is_integer():
        return str(math.floor(value))
    text = str(value)
    return text if text.strip() else None
