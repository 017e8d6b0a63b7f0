"""The rows of a comparison as a table for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omit._decimals import fixed_down
from omit.guarantee import Guarantee
from omit.utility.error import Error
from omit.utility.expected import needs_no_noise
from omit.utility.intervals import Interval

if TYPE_CHECKING:
    from omit.utility.comparison import Row

NUMERIC = frozenset({"mechanism's ε", "error", "ratio"})
"""The headings of columns that hold numbers."""


def table_headings(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the headings of a table for people, with differences where rows have them."""
    compared = any(row.difference is not None for row in rows)
    differences = ("difference, 95 % interval",) if compared else ()
    return (
        "omission",
        "mechanism's ε",
        "error",
        "95 % interval",
        *differences,
        "ratio",
        "standing",
    )


def table_cells(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return what a table for people shows of each row."""
    compared = any(row.difference is not None for row in rows)
    cells: list[tuple[str, ...]] = []
    for row in rows:
        name = str(row.omission).replace(" suppression with", "")
        if row.error is None or row.base is None:
            cells.append((name, "unattainable", *[""] * (len(table_headings(rows)) - 2)))
            continue
        differences = (_difference(row.difference),) if compared else ()
        cells.append(
            (
                name,
                _epsilon(row.base),
                _quantity(row.error.value, row.error.unit),
                interval(row.error),
                *differences,
                shown_ratio(row),
                row.standing,
            )
        )
    return cells


def interval(error: Error) -> str:
    """Return the interval of a simulated error, or how exact an exact one is."""
    if error.method == "exact":
        return "exact"
    return f"{_quantity(error.low, error.unit)} to {_quantity(error.high, error.unit)}"


def shown_ratio(row: Row) -> str:
    """Return the ratio of a row to three digits, or to as many as tell it from 1."""
    return _factor(row.ratio, row.error is not None and row.error.method == "exact")


def _quantity(value: float, unit: str) -> str:
    return f"{value:.4g} %" if unit == "%" else f"{value:.4g}"


def _epsilon(base: Guarantee) -> str:
    if needs_no_noise(base):
        return "no noise"
    # It is what the mechanism may use: the next larger number would break the promise.
    return fixed_down(base.epsilon)


def _factor(ratio: float | None, exact: bool = True) -> str:
    """Return a ratio to three digits, without powers of ten where a person can read it."""
    if ratio is None:
        return ""
    rounded = float(f"{ratio:.3g}")
    if rounded == 1 and ratio != 1:
        return f"{ratio:.8g}" if exact else f"{ratio:.4f}"
    return f"{rounded:,.0f}" if 100 <= rounded < 1e7 else f"{rounded:g}"


def _difference(difference: Interval | None) -> str:
    if difference is None:
        return ""
    return f"{difference.low:+.2g} to {difference.high:+.2g}"
