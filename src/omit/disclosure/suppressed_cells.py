"""What published margins tell about suppressed cells: a cell that can be computed is not protected.

Whoever sees the other cells and the margins knows sums of the suppressed ones, and that counts are
whole. A cell is pinned to the values that it has in the tables of whole numbers that fit; over
other tables, which a linear program would admit, the interval can be wider. Three steps:

* every sum bounds its cells by what the others can take, until no bound moves;
* the cells fall apart into groups that share no sum;
* linear programs bound the cells further, and programs over whole numbers find tables in which
  they are at their bounds, or that there is none: for many cells at a time, then for single ones.

A table that a solver gives is rounded and checked with whole numbers, so that a cell is called
protected only if another table is at hand that fits. The search is given up where it would take
too long; a cell of which it is then not known whether it can be computed is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.disclosure.suppression import CellSuppression
from omit.disclosure.table import CountTable, chosen
from omit.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROUNDS = 200
# In cells times sums; given up after half a minute or so, on every machine at the same step.
_MOST_EFFORT = 1e7
_WHOLE_TO_LINEAR = 50.0
_MOST_NODES = 500
_ROUNDING = 1e-6
_SIGNS = (1.0, -1.0)


def suppressed_intervals(
    table: CountTable,
    suppression: CellSuppression,
    margins: Sequence[Sequence[str]],
    *,
    use_threshold: bool = True,
) -> pd.DataFrame:
    """Return the interval that published margins pin every suppressed cell to.

    A cell whose interval is a single number is not protected. The columns are ``cell`` (its flat
    position), ``count``, ``low``, ``high``, ``recovered`` and ``undecided``. Where the search for
    other tables was given up, the interval holds all that is possible and may hold more; a cell is
    undecided if neither another value was excluded nor a table with another value is known.

    Parameters
    ----------
    suppression : CellSuppression
        What is suppressed; the rule itself is public.
    margins : sequence of sequences of str
        The published margins by their attributes; an empty one is the total.
    use_threshold : bool
        Whether the reader knows that a suppressed count is below the threshold, and not 0 if
        empty cells are shown.

    Examples
    --------
    >>> from omit.disclosure.table import Attribute
    >>> sex, town = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B"))
    >>> table = CountTable((sex, town), np.array([2, 9, 8, 7]))
    >>> intervals = suppressed_intervals(table, CellSuppression(6), [["sex"]])
    >>> intervals[["count", "low", "high", "recovered"]].values.tolist()
    [[2, 2, 2, True]]
    """
    import pandas as pd

    _validate.instance("table", table, CountTable)
    if type(suppression) is not CellSuppression:  # what is randomised hides no cell for certain
        raise InvalidInput(
            f"Expected suppression to be a CellSuppression, got {_validate.shown(suppression)}."
        )
    margins = _validate.several("margins", margins)
    _validate.flag("use_threshold", use_threshold)
    hidden = np.flatnonzero(suppression.suppress_probability(table.flat) == 1)
    counts = table.flat[hidden]
    low, high = 0.0, math.inf
    if use_threshold:
        low, high = float(suppression.zeros_kept), float(suppression.threshold - 1)
    extremes = _extremes(_equations(table, hidden, margins), counts, low, high)
    intervals = pd.DataFrame(
        {
            "cell": hidden,
            "count": counts,
            "low": extremes.low.astype(np.int64),
            "high": extremes.high,
            "recovered": extremes.low == extremes.high,
            "undecided": (extremes.smallest == extremes.largest) & (extremes.low < extremes.high),
        }
    )
    return intervals if np.isinf(extremes.high).any() else intervals.astype({"high": np.int64})


@dataclass(frozen=True, eq=False)
class _Extremes:
    """What is known about cells: proved bounds, and the extremes of tables that fit.

    Parameters
    ----------
    low, high : array
        No table that fits has less or more.
    smallest, largest : array
        Some table that fits has these.
    """

    low: FloatArray
    high: FloatArray
    smallest: FloatArray
    largest: FloatArray

    def open(self, sign: float) -> NDArray[np.bool_]:
        """Return which cells may have less than is known yet, or more if `sign` is -1."""
        return self.low < self.smallest if sign > 0 else self.largest < self.high

    def take(self, cells: IntArray) -> _Extremes:
        """Return the same for some of the cells."""
        return _Extremes(
            self.low[cells], self.high[cells], self.smallest[cells], self.largest[cells]
        )

    def put(self, cells: IntArray, known: _Extremes) -> None:
        """Remember what is known about some of the cells."""
        self.low[cells], self.high[cells] = known.low, known.high
        self.smallest[cells], self.largest[cells] = known.smallest, known.largest


def _extremes(equations: csr_matrix, counts: IntArray, low: float, high: float) -> _Extremes:
    """Return the smallest and the largest value of every cell, as far as they are known."""
    truth, number = as_array(counts), len(counts)
    if not equations.shape[0]:  # nothing is published, so every value is possible
        ends = np.full(number, low), np.full(number, high)
        return _Extremes(*ends, *ends)
    known = _Extremes(np.full(number, low), np.full(number, high), truth.copy(), truth.copy())
    sums = as_array(equations @ truth)
    _tighten(equations, sums, known)
    effort = _MOST_EFFORT
    for cells in _groups(equations, known):
        used = np.diff(equations[:, cells].indptr) > 0
        settled = as_array(np.where(known.low == known.high, known.low, 0.0))
        search = _Search(
            equations[used][:, cells],
            sums[used] - equations[used] @ settled,
            known.take(cells),
            effort,
        )
        search.run()
        known.put(cells, search.known)
        effort = search.effort
    return known


def _tighten(equations: csr_matrix, sums: FloatArray, known: _Extremes) -> None:
    """Bound every cell by what the others of its sums can take."""
    rows, cells = equations.nonzero()
    for _ in range(_MOST_ROUNDS):
        before = known.low.sum() - known.high.sum()
        least = np.bincount(rows, known.low[cells], len(sums))
        np.minimum.at(known.high, cells, (sums - least)[rows] + known.low[cells])
        most = np.bincount(rows, known.high[cells], len(sums))
        np.maximum.at(known.low, cells, (sums - most)[rows] + known.high[cells])
        if known.low.sum() - known.high.sum() == before:
            return


def _groups(equations: csr_matrix, known: _Extremes) -> list[IntArray]:
    """Return the cells that are not settled, in groups that share no sum."""
    from scipy.sparse.csgraph import connected_components

    free = np.flatnonzero(known.low < known.high)
    if not len(free):
        return []
    part = equations[:, free]
    _, labels = connected_components(part.T @ part, directed=False)
    order = np.argsort(labels, kind="stable")
    return np.split(free[order], np.flatnonzero(np.diff(labels[order])) + 1)


@dataclass(eq=False)
class _Search:
    """The search for the extremes of one group of cells.

    Parameters
    ----------
    equations, sums : csr_matrix, array
        Which cells are added up, and to what.
    known : _Extremes
        What is known about the cells; this is what the search improves.
    effort : float
        How much may still be spent, for all groups.
    """

    equations: csr_matrix
    sums: FloatArray
    known: _Extremes
    effort: float

    def run(self) -> None:
        """Bound the cells over all tables, then look for tables of whole numbers."""
        for sign in _SIGNS:
            self.bound(sign)
        _tighten(self.equations, self.sums, self.known)
        for recovered_only in (True, False):  # first whether there is another value, then how far
            for sign in _SIGNS:
                self.settle_many(sign, recovered_only)
            for sign in _SIGNS:
                self.settle_one_by_one(sign, recovered_only)

    def bound(self, sign: float) -> None:
        """Bound every cell by what it is in tables that need not be whole, by linear programs."""
        known = self.known
        reached = (known.smallest if sign > 0 else known.largest).copy()

        def unbounded() -> NDArray[np.bool_]:
            short = reached - known.low if sign > 0 else known.high - reached
            return short > _ROUNDING

        def reach(goal: FloatArray) -> float | None:
            best, table = self.solve(goal, sign, whole=False)
            if table is not None:
                np.copyto(reached, np.minimum(sign * reached, sign * table) * sign)
            return best

        wanted = unbounded()
        while wanted.any() and self.effort > 0:  # many at a time, as long as that settles some
            reach(as_array(wanted))
            before, wanted = wanted, unbounded()
            if wanted.sum() == before.sum():
                break
        for cell in range(len(reached)):
            if unbounded()[cell] and self.effort > 0:
                self.learn(cell, sign, reach(as_array(np.arange(len(reached)) == cell)))

    def unsettled(self, sign: float, recovered_only: bool) -> NDArray[np.bool_]:
        """Return the cells to look at: all, or those of which no other value is known."""
        known = self.known
        alone = known.smallest == known.largest
        return known.open(sign) & alone if recovered_only else known.open(sign)

    def settle_many(self, sign: float, recovered_only: bool) -> None:
        """Look for tables in which many cells are extreme at a time, as long as that helps."""
        wanted = self.unsettled(sign, recovered_only)
        while wanted.any() and self.effort > 0:
            self.solve(as_array(wanted), sign)
            before, wanted = wanted, wanted & self.unsettled(sign, recovered_only)
            if 10 * wanted.sum() > 9 * before.sum():
                return

    def settle_one_by_one(self, sign: float, recovered_only: bool) -> None:
        """Determine for one cell after the other how extreme it can be."""
        for cell in range(len(self.known.low)):
            if self.unsettled(sign, recovered_only)[cell] and self.effort > 0:
                best, _ = self.solve(as_array(np.arange(len(self.known.low)) == cell), sign)
                self.learn(cell, sign, best)

    def learn(self, cell: int, sign: float, best: float | None) -> None:
        """Move the bound on a cell to what a program says is its extreme."""
        known = self.known
        if best is not None and sign > 0:
            known.low[cell] = min(max(known.low[cell], best), known.smallest[cell])
        elif best is not None:
            known.high[cell] = max(min(known.high[cell], best), known.largest[cell])

    def solve(
        self, goal: FloatArray, sign: float, whole: bool = True
    ) -> tuple[float | None, FloatArray | None]:
        """Solve one program, and remember its table if it is one of whole numbers that fits.

        Returns
        -------
        float or None, array or None
            A whole number that the goal does not pass in any table, if the solver proved one, and
            the solver's table.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        known, number = self.known, len(goal)
        size = number * self.equations.shape[0]
        self.effort -= size if whole else size / _WHOLE_TO_LINEAR
        answer = milp(
            sign * goal,
            integrality=np.full(number, int(whole)),
            bounds=Bounds(known.low, known.high),
            constraints=LinearConstraint(self.equations, self.sums, self.sums),
            options={"node_limit": _MOST_NODES, "mip_rel_gap": 0.0},
        )
        if answer.x is not None:
            table = np.rint(answer.x)
            inside = ((table >= known.low) & (table <= known.high)).all()
            if inside and (self.equations @ table == self.sums).all():
                np.minimum(known.smallest, table, out=known.smallest)
                np.maximum(known.largest, table, out=known.largest)
        best = answer.get("mip_dual_bound") if whole else answer.fun
        if best is None or not math.isfinite(best):
            return None, answer.x
        # What the solver leaves in the last digits is rounded away.
        return float(sign * math.ceil(best - _ROUNDING)), answer.x


def _equations(table: CountTable, hidden: IntArray, margins: Sequence[Sequence[str]]) -> csr_matrix:
    """Return a row for every category of every margin: which of the hidden cells it sums."""
    codes = np.unravel_index(hidden, table.shape)
    rows, columns, first = [], [], 0
    for names in margins:
        positions = chosen(table.attributes, names, "margin's attribute")
        sizes = [table.shape[position] for position in positions]
        which = np.zeros(len(hidden), dtype=np.int64)
        if positions:
            which = np.ravel_multi_index(tuple(codes[position] for position in positions), sizes)
        different, of_cell = np.unique(which, return_inverse=True)
        rows.append(first + of_cell.reshape(-1))
        columns.append(np.arange(len(hidden)))
        first += len(different)
    if not rows:
        return csr_matrix((0, len(hidden)))
    entries = (np.concatenate(rows), np.concatenate(columns))
    return csr_matrix((np.ones(len(entries[0])), entries), shape=(first, len(hidden)))
