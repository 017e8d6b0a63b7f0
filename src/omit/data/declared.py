"""What a curator declares about a column before looking at it: bounds, or categories.

A sensitivity comes from the declaration and not from the data, so a declaration taken from the
data says something about the records, and every result that rests on one has to say so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Literal, TypeAlias

import numpy as np

from omit import _validate
from omit._numeric import FloatArray
from omit.data.casting import AnyArray, raw_array, texts
from omit.data.nearest import listed
from omit.errors import InvalidInput

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
