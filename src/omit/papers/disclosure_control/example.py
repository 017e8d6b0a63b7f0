"""Figure 1: suppression and swapping on a dozen records of our own, with who swaps with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from omit.disclosure.suppression import CellSuppression
from omit.disclosure.table import Attribute, CountTable
from omit.papers.base import Computed
from omit.report.figure import panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THRESHOLD = 3
_BLOCK, _GENDER, _AGE = (
    Attribute("block", ("1", "2")),
    Attribute("gender", ("F", "M")),
    Attribute("voting age", ("no", "yes")),
)
_ATTRIBUTES = (_BLOCK, _GENDER, _AGE)
_NAMES = [attribute.name for attribute in _ATTRIBUTES]
_RECORDS = (
    "1 F yes", "1 F yes", "1 F yes", "1 F no", "1 F no", "1 M no",
    "2 F yes", "2 F yes", "2 M yes", "2 M yes", "2 M yes", "2 M no",
)  # fmt: skip
_TARGETS = (2, 5, 9)  # a quarter of the records


def records() -> pd.DataFrame:
    """Return the records, their donors, and the genders after swapping.

    The donor of a target is the first of the nearest records of another gender; the discrepancy is
    the number of the other attributes that differ.
    """
    frame = pd.DataFrame([line.split() for line in _RECORDS], columns=_NAMES)
    frame.insert(0, "record", np.arange(1, len(frame) + 1))
    donors = {target: _donor(frame, target) for target in _TARGETS}
    frame["donor"] = [donors.get(int(record), 0) for record in frame["record"]]
    genders = dict(zip(frame["record"], frame["gender"], strict=True))
    frame["gender after"] = [
        genders[donor or record]
        for record, donor in zip(frame["record"], frame["donor"], strict=True)
    ]
    return frame


def _donor(frame: pd.DataFrame, target: int) -> int:
    own = frame[frame["record"] == target].iloc[0]
    others = frame[frame["gender"] != own["gender"]]
    differing = sum((others[name] != own[name]).astype(int) for name in ("block", "voting age"))
    return int(others.loc[pd.Series(differing).idxmin(), "record"])


def shown_records() -> pd.DataFrame:
    """Return the records for people: a record that is not swapped has no donor."""
    frame = records()
    return frame.assign(donor=[str(donor) if donor else "–" for donor in frame["donor"]])


def counts() -> pd.DataFrame:
    """Return the counts of all cells: true, suppressed below 3, and after swapping."""
    frame = records()
    after = frame.assign(gender=frame["gender after"])
    before, swapped = (
        np.array([(of[_NAMES].agg(" ".join, axis=1) == " ".join(cell)).sum() for cell in _cells()])
        for of in (frame, after)
    )
    table = CountTable(_ATTRIBUTES, before)
    suppressed = CellSuppression(THRESHOLD).draw(table, np.random.default_rng())[0]
    made = pd.DataFrame(_cells(), columns=_NAMES)
    return made.assign(
        count=before, **{"suppressed below 3": suppressed.astype(int), "gender swapped": swapped}
    )


def _cells() -> list[tuple[str, ...]]:
    return [
        (block, gender, age)
        for block in _BLOCK.categories
        for gender in _GENDER.categories
        for age in _AGE.categories
    ]


def draw_example(computed: Computed) -> Figure:
    """Draw the records with dotted arrows from donors to targets, and the counts of all cells."""
    figure, ((left, right),) = panels(9.6, 4.6, columns=2, gridspec_kw={"width_ratios": (1, 1.35)})
    _draw_records(left)
    _draw_counts(right)
    return figure


def _draw_records(axes: Axes) -> None:
    frame = records()
    columns = (0.0, 1.2, 2.4, 4.0)
    _heading(axes, columns, ("record", "block", "gender", "voting age"), len(frame))
    for row, line in enumerate(frame.itertuples(index=False)):
        record, block, gender, age, donor, after = line
        swapped = donor > 0
        shown = f"{gender} → {after}" if swapped else gender
        for x, text in zip(columns, (record, block, shown, age), strict=True):
            bold = "bold" if swapped and text is shown else "normal"
            axes.text(x, row, str(text), ha="center", va="center", fontsize=10, weight=bold)
        if swapped:
            axes.annotate(
                "",
                xy=(4.6, row),
                xytext=(4.6, donor - 1),
                arrowprops={
                    "arrowstyle": "-|>",
                    "linestyle": ":",
                    "linewidth": 1.4,
                    "color": "0.2",
                    "connectionstyle": f"arc3,rad={-0.5 if donor - 1 < row else 0.5}",
                },
            )
    axes.set_xlim(-0.7, 6.0)
    axes.set_title("(a) records; dotted: from donor to target", fontsize=11)


def _draw_counts(axes: Axes) -> None:
    frame = counts()
    columns = (0.0, 1.0, 2.2, 3.6, 4.9, 6.4)
    names = (
        "block",
        "gender",
        "voting age",
        "(b) count",
        f"(c) below {THRESHOLD}\nsuppressed",
        "(d) swapped",
    )
    _heading(axes, columns, names, len(frame))
    for row, line in enumerate(frame.itertuples(index=False)):
        true = line[3]
        for position, (x, value) in enumerate(zip(columns, line, strict=True)):
            changed = position > 3 and value != true
            box = {"boxstyle": "round,pad=0.25", "fc": "0.85", "ec": "0.4"} if changed else None
            axes.text(
                x, row, str(value), ha="center", va="center", fontsize=10,
                weight="bold" if changed else "normal", bbox=box,
            )  # fmt: skip
    axes.set_xlim(-0.6, 7.2)
    axes.set_title("counts; bold: changed", fontsize=11)


def _heading(axes: Axes, columns: tuple[float, ...], names: tuple[str, ...], rows: int) -> None:
    for x, name in zip(columns, names, strict=True):
        axes.text(x, -1.1, name, ha="center", va="center", fontsize=9, color="0.25")
    axes.axhline(-0.55, color="0.6", linewidth=0.8)
    axes.set_ylim(rows - 0.4, -1.7)
    axes.set_axis_off()
