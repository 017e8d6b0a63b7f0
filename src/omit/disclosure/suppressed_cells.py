"""What published margins tell about suppressed cells: a cell that can be computed is not protected.

Whoever sees the other cells and the margins knows linear equations for the suppressed ones; linear
programs give the smallest and the largest value that each can have. One program's answer is a table
that fits the margins: every cell that is at the end of its range there needs no program of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from omit._numeric import FloatArray, as_array
from omit.data.casting import IntArray
from omit.disclosure.attributes import chosen
from omit.disclosure.suppression import CellSuppression
from omit.disclosure.table import CountTable

if TYPE_CHECKING:
    import pandas as pd

_ROUNDING = 1e-6


def suppressed_intervals(
    table: CountTable,
    suppression: CellSuppression,
    margins: Sequence[Sequence[str]],
    *,
    use_threshold: bool = True,
) -> pd.DataFrame:
    """Return the interval that each suppressed cell is pinned to by published margins.

    A cell whose interval is a single number is not protected.

    Parameters
    ----------
    table : CountTable
        The confidential table.
    suppression : CellSuppression
        What is suppressed; the rule itself is public.
    margins : sequence of sequences of str
        The published margins, each by its attributes; an empty one is the total.
    use_threshold : bool
        Whether the reader knows that a suppressed count is below the threshold, and not 0 if
        empty cells are shown.

    Returns
    -------
    DataFrame
        Columns ``cell`` (flat position), ``count``, ``low``, ``high`` and ``recovered``.

    Examples
    --------
    >>> from omit.disclosure.attributes import Attribute
    >>> sex, town = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B"))
    >>> table = CountTable((sex, town), np.array([2, 9, 8, 7]))
    >>> found = suppressed_intervals(table, CellSuppression(6), [["sex"]])
    >>> found[["count", "low", "high", "recovered"]].values.tolist()
    [[2, 2, 2, True]]
    """
    import pandas as pd

    hidden = np.flatnonzero(suppression.suppress_probability(table.flat) == 1)
    low, high = 0.0, math.inf
    if use_threshold:
        low, high = float(suppression.zeros_kept), float(suppression.threshold - 1)
    equations = _equations(table, hidden, margins)
    known = equations @ table.flat[hidden]
    least = _ends(equations, known, low, high, 1.0)
    most = _ends(equations, known, low, high, -1.0)
    # Counts are whole: what the solver leaves in the last digits is rounded away.
    smallest, largest = np.ceil(least - _ROUNDING), np.floor(most + _ROUNDING)
    found = pd.DataFrame(
        {
            "cell": hidden,
            "count": table.flat[hidden],
            "low": smallest.astype(np.int64),
            "high": largest,
            "recovered": smallest == largest,
        }
    )
    return found if np.isinf(largest).any() else found.astype({"high": np.int64})


def _equations(table: CountTable, hidden: IntArray, margins: Sequence[Sequence[str]]) -> csr_matrix:
    """Return a row for every category of every margin: which of the hidden cells it sums."""
    codes = np.unravel_index(hidden, table.shape)
    rows, columns, first = [], [], 0
    for names in margins:
        places = chosen(table.attributes, list(names), "margin's attribute")
        sizes = [table.shape[place] for place in places]
        which = np.zeros(len(hidden), dtype=np.int64)
        if places:
            which = np.ravel_multi_index(tuple(codes[place] for place in places), sizes)
        different, of_cell = np.unique(which, return_inverse=True)
        rows.append(first + of_cell.reshape(-1))
        columns.append(np.arange(len(hidden)))
        first += len(different)
    if not rows:
        return csr_matrix((0, len(hidden)))
    places_of = (np.concatenate(rows), np.concatenate(columns))
    return csr_matrix((np.ones(len(places_of[0])), places_of), shape=(first, len(hidden)))


def _ends(
    equations: csr_matrix, known: FloatArray, low: float, high: float, sign: float
) -> FloatArray:
    """Return the smallest value of every cell, or the largest if `sign` is -1."""
    end = low if sign > 0 else high
    found = np.full(equations.shape[1], end)
    if not len(known) or not len(found):
        return found
    unsure = np.ones(len(found), dtype=bool)

    def solve(goal: FloatArray) -> FloatArray | None:
        """Return a table that fits and is best, or None if there is no best one."""
        bounds = (low, None if high == math.inf else high)
        answer = linprog(sign * goal, A_eq=equations, b_eq=known, bounds=bounds)
        return None if answer.x is None else as_array(answer.x)

    # All at once, as long as that settles some of them.
    while unsure.any():
        fitting = solve(unsure.astype(float))
        settled = unsure & (np.abs(fitting - end) <= _ROUNDING) if fitting is not None else None
        if settled is None or not settled.any():
            break
        unsure &= ~settled
    for place in range(len(found)):
        if unsure[place]:
            fitting = solve(as_array(np.arange(len(found)) == place))
            if fitting is not None:  # else the end of the range: infinity, if it has no other
                found[place] = fitting[place]
                unsure &= np.abs(fitting - end) > _ROUNDING
    return found
