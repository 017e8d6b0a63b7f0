"""From raw values to distinct numbers or texts with counts, or a sentence on what does not fit.

All of this works on distinct values, never on records: a column of 100 million records with 73
distinct values is 73 values here. Only `record_numbers` returns a number for every record, and
reads each different text once.

What a curator declares about a column before looking at it: bounds, or categories.

A sensitivity comes from the declaration and not from the data, so a declaration taken from the
data says something about the records, and every result that rests on one has to say so.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array, has_masked
from omit._text import listed
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
        values = [None if np.ma.is_masked(each) else each for each in values]
    if isinstance(values, bytes | bytearray | memoryview):
        raise InvalidInput(f"Expected {name!r} to hold numbers or text, not bytes.")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise InvalidInput(f"Expected {name!r} to be a single row of values.") from error
    if array.ndim != 1:
        raise InvalidInput(f"Expected {name!r} to be a single row of values.")
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
        return _objects(None if np.isnat(each) else str(each) for each in array)
    return _objects(values)


def tally(name: str, values: Any) -> tuple[AnyArray, IntArray, int]:
    """Return the distinct values of records in memory, their counts, and how many are missing.

    Values that are only found to be empty when they are read as numbers or text are still among
    the distinct ones.

    Examples
    --------
    >>> tally("age", [39, 25, 39])
    (array([25, 39]), array([1, 2]), 0)
    """
    try:
        if hasattr(values, "value_counts") and getattr(values, "ndim", 0) == 1:  # a pandas Series
            counted = values.value_counts(sort=False)
            missing = len(values) - int(counted.sum())
            return raw_array(name, counted.index), counted.to_numpy(dtype=np.int64), missing
        array = raw_array(name, values)
        if array.dtype.kind in _NUMERIC_KINDS:
            distinct, counts = np.unique(array, return_counts=True)
            return distinct, counts.astype(np.int64), 0
        records = Counter(array.tolist())
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:  # unhashable or without a truth value, so neither
        raise InvalidInput(f"Expected {name!r} to hold numbers or text.") from error
    return raw_array(name, list(records)), np.array(list(records.values()), dtype=np.int64), 0


def numbers(name: str, values: AnyArray, counts: IntArray) -> FloatArray:
    """Return distinct values as floats, with NaN where there is none.

    Raises
    ------
    InvalidInput
        If there is text among them, or an infinity.

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

    Parameters
    ----------
    name : str
        The column, for the sentence on what does not fit.
    values : array_like
        One value for each record: an array, a pandas Series or a sequence.
    absent : iterable of str
        More texts that say that there is no number.

    Raises
    ------
    InvalidInput
        As for `numbers`.

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
    try:
        place, found = pandas.factorize(values)
    except (TypeError, ValueError) as error:  # unhashable or without a truth value, so neither
        raise InvalidInput(f"Expected {name!r} to hold numbers or text.") from error
    distinct = raw_array(name, found)
    if distinct.dtype == object:
        distinct[np.isin(distinct, list(absent))] = None
    counts = np.bincount(place[place >= 0], minlength=len(distinct))
    # Where there is no value the place is -1, the last.
    return as_array(np.append(numbers(name, distinct, counts), np.nan)[place])


def record_texts(name: str, values: Any) -> AnyArray:
    """Return the values of records as texts in their order, with None where there is none.

    Raises
    ------
    InvalidInput
        If a value is neither a number nor text; `name` says of which column.

    Examples
    --------
    >>> record_texts("age", [39, 2.5, None, 39.0, "?"])
    array(['39', '2.5', None, '39', '?'], dtype=object)
    """
    import pandas

    try:
        place, found = pandas.factorize(raw_array(name, values))
    except (TypeError, ValueError) as error:  # unhashable or without a truth value, so neither
        raise InvalidInput(f"Expected {name!r} to hold numbers or text.") from error
    # Where there is no value the place is -1, the last.
    return _objects(_objects([*texts(found), None])[place])


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
    distinct, place = np.unique(values, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, place, counts)
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
        if has_masked(counts) or isinstance(counts, bytearray | memoryview):
            raise ValueError
        if array.dtype.kind not in _NUMERIC_KINDS:
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


def show_records(number: int) -> str:
    """Return a number of records for people.

    Examples
    --------
    >>> show_records(32561), show_records(1)
    ('32,561 records', '1 record')
    """
    return f"{number:,} record{'' if number == 1 else 's'}"


def _objects(values: Iterable[Any]) -> AnyArray:
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
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


FROM_DATA: Literal["from-data"] = "from-data"
Bounds: TypeAlias = tuple[float, float] | Literal["from-data"]
Categories: TypeAlias = Iterable[str | float] | Literal["from-data"]

# Squares and products with record counts stay finite up to here.
_LARGEST = 1e100


def require_declaration(name: str, bounds: Bounds | None, categories: Categories | None) -> None:
    """Refuse a column without a declaration, with two, or with one that cannot be meant.

    Raises
    ------
    InvalidInput
        If so; nothing has to be read before.

    Examples
    --------
    >>> require_declaration("age", (0, 125), None)
    """
    if bounds is None and categories is None:
        raise InvalidInput(
            f"Column {name!r} has no declared bounds; give bounds=(lower, upper), or "
            f"bounds={FROM_DATA!r}, which is not private (for text: categories=(...))."
        )
    if bounds is not None and categories is not None:
        raise InvalidInput(
            f"Expected either bounds (for numbers) or categories (for text) of {name!r}, not both."
        )
    for what, given in (("bounds", bounds), ("categories", categories)):
        if isinstance(given, str) and given != FROM_DATA:
            needed = "a pair (lower, upper)" if what == "bounds" else "several texts"
            raise InvalidInput(
                f"Expected {what} to be {needed} or {FROM_DATA!r}, got {_validate.shown(given)}."
            )
    if isinstance(categories, bytes | Mapping) or not (
        categories is None or isinstance(categories, Iterable)
    ):
        raise InvalidInput(
            f"Expected categories to be several texts or {FROM_DATA!r}, got "
            f"{_validate.shown(categories)}."
        )
    if bounds is not None and not isinstance(bounds, str):
        checked_bounds(bounds)


def resolve_bounds(bounds: Bounds, values: FloatArray) -> tuple[float, float]:
    """Return the declared bounds, or the smallest and the largest value.

    Raises
    ------
    InvalidInput
        If the bounds are not two finite numbers of ordinary size with lower <= upper.

    Examples
    --------
    >>> resolve_bounds((0, 125), np.array([17.0, 90.0]))
    (0.0, 125.0)
    >>> resolve_bounds("from-data", np.array([17.0, 90.0]))
    (17.0, 90.0)
    """
    if isinstance(bounds, str):
        bounds = float(np.min(values)), float(np.max(values))
    return checked_bounds(bounds)


def checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return two finite numbers of ordinary size, the lower one first, or refuse.

    Examples
    --------
    >>> checked_bounds((0, 125))
    (0.0, 125.0)
    """
    if _is_infinite(bounds):
        raise InvalidInput(
            f"Expected finite bounds, got {_validate.shown(bounds)}: with infinite ones every "
            "sensitivity is infinite, the smooth one included, and no noise is enough."
        )
    lower, upper = _validate.interval("bounds", bounds)
    if max(-lower, upper) > _LARGEST:
        raise InvalidInput(f"Expected bounds=({lower:g}, {upper:g}) within ±{_LARGEST:g}.")
    return lower + 0.0, upper + 0.0


def _is_infinite(bounds: object) -> bool:
    """Tell whether one of a pair of numbers is infinite; anything else is for others to refuse."""
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        return False
    return any(isinstance(each, float) and math.isinf(each) for each in bounds)


def resolve_categories(categories: Categories, values: AnyArray) -> tuple[str, ...]:
    """Return the declared categories in their order, or the values that occur, sorted.

    Raises
    ------
    InvalidInput
        If the categories are not distinct texts.

    Examples
    --------
    >>> resolve_categories(("Male", "Female"), np.array(["Male"], dtype=object))
    ('Male', 'Female')
    """
    if isinstance(categories, str):
        return tuple(sorted(set(values)))
    return declared_categories(categories)


def declared_categories(categories: Iterable[str | float]) -> tuple[str, ...]:
    """Return categories as texts in their order; those of a set, which has none, sorted.

    Raises
    ------
    InvalidInput
        If they are not distinct texts.

    Examples
    --------
    >>> declared_categories(["b", 2.0])
    ('b', '2')
    """
    if isinstance(categories, Set):
        categories = sorted(categories, key=str)
    several = _validate.several("categories", categories)
    declared = texts(raw_array("categories", list(several))).tolist()
    if not declared or None in declared:
        raise InvalidInput("Expected at least one category, and none of them empty.")
    twice = sorted(each for each, often in Counter(declared).items() if often > 1)
    if twice:
        raise InvalidInput(f"Expected distinct categories, and found twice: {listed(twice)}.")
    return tuple(declared)


def show_bounds(bounds: tuple[float, float]) -> str:
    """Return bounds for people.

    Examples
    --------
    >>> show_bounds((0.0, 2227058.0))
    '[0, 2227058]'
    """
    return f"[{bounds[0]:.10g}, {bounds[1]:.10g}]"
