"""Every value a record can have: what a mode is chosen from.

Choosing among the values that occur would give away who is in the data.
"""

from __future__ import annotations

import math

import numpy as np

from omit._numeric import FloatArray, IntArray
from omit.data.casting import AnyArray
from omit.data.declared import show_bounds
from omit.errors import InvalidInput

LARGEST_DOMAIN = 1_000_000
# From here on, neighbouring whole numbers can be the same floating-point number.
_LARGEST_WHOLE = 2**53


def whole_domain(
    name: str, bounds: tuple[float, float], values: FloatArray, counts: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return the whole numbers within the bounds and how often each occurs.

    Raises
    ------
    InvalidInput
        If a value is not whole, or there are more than a million whole numbers in the bounds.

    Examples
    --------
    >>> whole_domain("rooms", (1.0, 4.0), np.array([2.0, 3.0]), np.array([5, 7]))
    (array([1., 2., 3., 4.]), array([0, 5, 7, 0]))
    """
    broken = values[values != np.floor(values)]
    if len(broken):
        raise InvalidInput(
            f"Column {name!r} holds numbers that are not whole, first {broken[0]:.10g}, and a mode "
            "is chosen among whole numbers or categories; round them first."
        )
    first, last = math.ceil(bounds[0]), math.floor(bounds[1])
    if last - first >= LARGEST_DOMAIN or max(-first, last) > _LARGEST_WHOLE:
        raise InvalidInput(
            f"The bounds {show_bounds(bounds)} of {name!r} hold too many or too large whole "
            f"numbers for a mode; up to {LARGEST_DOMAIN:,} numbers below 2^53 are possible."
        )
    domain = np.arange(first, last + 1, dtype=np.float64)
    occurring = np.zeros(len(domain), dtype=np.int64)
    occurring[(values - first).astype(np.int64)] = counts
    return domain, occurring


def category_domain(
    categories: tuple[str, ...], values: AnyArray, counts: IntArray
) -> tuple[AnyArray, IntArray]:
    """Return the categories in their order and how often each occurs.

    Examples
    --------
    >>> category_domain(("b", "a"), np.array(["b"], dtype=object), np.array([2]))
    (array(['b', 'a'], dtype=object), array([2, 0]))
    """
    counted = dict(zip(values.tolist(), counts.tolist(), strict=True))
    occurring = [counted.get(category, 0) for category in categories]
    return np.array(categories, dtype=object), np.array(occurring, dtype=np.int64)
