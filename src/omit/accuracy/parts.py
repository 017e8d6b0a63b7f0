"""What makes up errors, for people: clamping, leaving records out, and noise, apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omit._text import show_quantity
from omit.accuracy.row import Row
from omit.mechanisms.base import Mechanism
from omit.report.result import Field, Table

NOT_FROM_DATA = "bounds that are chosen by looking at the data are not private"


def parts_table(mechanism: Mechanism, rows: Sequence[Row]) -> Table | None:
    """Return the parts of the errors of a statistic that is a number; None if none are known."""
    known = [
        (row.short_name, row.error.parts)
        for row in rows
        if row.error is not None
        and row.error.parts is not None
        and row.error.parts.bias is not None
    ]
    if not known:
        return None
    unit = "%" if mechanism.unit == "%" else ""
    fields = (
        Field("omission", "omission"),
        *(
            Field(heading, key, lambda value: show_part(value, unit), numeric=True)
            for heading, key in (
                ("bias", "bias"),
                ("by clamping", "by_clamping"),
                ("± by omission", "by_omission"),
                ("± by noise", "by_noise"),
                ("rms", "root_mean_square"),
            )
        ),
    )
    cells: list[tuple[Any, ...]] = [
        (name, parts.bias, parts.clamping, parts.omission, parts.noise, parts.root_mean_square)
        for name, parts in known
    ]
    order = " (to first order)" if any(parts.first_order for _, parts in known) else ""
    title = f"What makes up the error: bias, ± standard deviations, root mean square{order}"
    return Table("parts", title, fields, tuple(cells))


def show_part(value: float, unit: str) -> str:
    """Return a part of an error to four digits, or 0 for what rounding errors leave.

    Examples
    --------
    >>> show_part(-7.58361, "%"), show_part(1e-15, "%")
    ('-7.584 %', '0 %')
    """
    return show_quantity(0.0 if abs(value) < 1e-9 else value, unit)


def clamping_notes(mechanism: Mechanism, clamping: float) -> tuple[str, ...]:
    """Return what must be said where clamping moves the statistic."""
    if clamping == 0:
        return ()
    advice = f"Wider bounds clamp less and need more noise; {NOT_FROM_DATA}."
    return (f"{moved_by(mechanism, clamping)}, which is in every error. {advice}",)


def moved_by(mechanism: Mechanism, clamping: float) -> str:
    """Return what clamping does to a statistic, up to the end of the sentence."""
    if mechanism.unit == "probability":
        return (
            "Clamping makes other values the most frequent, so that an answer without noise and "
            f"omission is wrong with probability {clamping:.3g}"
        )
    return f"Clamping moves the {mechanism.statistic} by {shown_clamping(mechanism, clamping)}"


def shown_clamping(mechanism: Mechanism, clamping: float) -> str:
    """Return by how much clamping moves a number, with its sign."""
    return f"{clamping:+.4g} %" if mechanism.unit == "%" else f"{clamping:+.4g}"
