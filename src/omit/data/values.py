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
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit._numeric import FloatArray, IntArray, as_array, has_masked
from omit._text import show_records
from omit._validate import shown
from omit.errors import InvalidInput

AnyArray: TypeAlias = NDArray[Any]

# How a text says a number, here and in SQL: Python alone would take 1_000 and digits of any script.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# In a column of numbers these texts can only say that there is none.
NO_NUMBER = frozenset({"", "na", "n/a", "nan", "null"})
BLANKS = " \t\n\r\f\v\u00a0"
_INFINITE = frozenset({"inf", "infinity"})
_NUMERIC_KINDS = "iuf"
_LARGEST_EXACT = 2**53
_MOST_RECORDS = 2.0**62
_UNFIT = {"c": "complex numbers", "S": "bytes", "V": "several values in one"}


def raw_array(name: str, values: Any) -> AnyArray:
    """Return values as a one-dimensional array that keeps numbers, text and None apart.

    Examples
    --------
    >>> raw_array("age", [39, None, "?"])
    array([39, None, '?'], dtype=object)
    """
    if isinstance(values, np.ma.MaskedArray):
        objects = raw_array(name, np.ma.getdata(values)).astype(object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
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
    if kind == "b":
        return array.astype(np.int64)
    if kind == "f" and not hasattr(values, "dtype") and (np.abs(array) >= _LARGEST_EXACT).any():
        return _objects(values)  # whole numbers that a float cannot tell apart
    if kind in _NUMERIC_KINDS:
        return array
    if kind in "mM":  # as objects, nanoseconds would be whole numbers
        return _objects(None if np.isnat(time) else str(time) for time in array)
    return _objects(values)


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
        if array.dtype.kind in _NUMERIC_KINDS:
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
    if values.dtype.kind in _NUMERIC_KINDS:
        floats = values.astype(np.float64)
    else:
        parsed = [_number(value) for value in values]
        unfit = np.array([number is None for number in parsed], dtype=bool)
        if unfit.any():
            first = min(values[unfit], key=str)
            what, instead = "text", "; a text column works for the mode, with categories=(...)"
            if not isinstance(first, str):
                what, instead = f"a {type(first).__name__}", ""
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


def record_numbers(name: str, values: Any, absent: Iterable[str] = ()) -> FloatArray:
    """Return the values of records as floats in their order, with NaN where there is none.

    The texts `absent` say that there is no number, too. `InvalidInput` is raised as by `numbers`.

    Examples
    --------
    >>> record_numbers("age", ["39", None, " 25 ", "?", "39"], absent=["?"])
    array([39., nan, 25., nan, 39.])
    """
    import pandas

    if not isinstance(values, pandas.Series):
        values = raw_array(name, values)
    if getattr(values.dtype, "kind", "O") in _NUMERIC_KINDS + "b":
        floats: FloatArray = (
            values.to_numpy(dtype=np.float64, na_value=np.nan)
            if isinstance(values, pandas.Series)
            else values.astype(np.float64)
        )
        distinct, counts = np.unique(floats[np.isinf(floats)], return_counts=True)
        numbers(name, distinct, counts)  # raises if there are any
        return floats
    with _hashing(name):
        position, occurring = pandas.factorize(values)
    distinct = raw_array(name, occurring)
    if distinct.dtype == object:
        distinct[np.isin(distinct, list(absent))] = None
    counts = np.bincount(position[position >= 0], minlength=len(distinct))
    # Where there is no value the position is -1, the last.
    return as_array(np.append(numbers(name, distinct, counts), np.nan)[position])


def record_texts(name: str, values: Any) -> AnyArray:
    """Return the values of records as texts in their order, with None where there is none.

    `InvalidInput` is raised if a value is neither a number nor text.

    Examples
    --------
    >>> record_texts("age", [39, 2.5, None, 39.0, "?"])
    array(['39', '2.5', None, '39', '?'], dtype=object)
    """
    import pandas

    with _hashing(name):
        position, occurring = pandas.factorize(raw_array(name, values))
    # Where there is no value the position is -1, the last.
    return _objects(_objects([*texts(occurring), None])[position])


def texts(values: AnyArray) -> AnyArray:
    """Return distinct values as texts, with None where there is none; whole numbers as digits.

    Examples
    --------
    >>> texts(np.array(["Sales", " ", 2.0, None], dtype=object))
    array(['Sales', None, '2', None], dtype=object)
    """
    return _objects(_text(value) for value in values)


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


def _objects(values: Iterable[Any]) -> AnyArray:
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
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real) and float(value).is_integer():
        return str(math.floor(value))
    text = str(value)
    return text if text.strip() else None
