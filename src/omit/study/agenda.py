"""What is to be computed next, and what to do when a worker dies.

Cells of a group share a preparation, so a worker that has finished a hand gets the next one of the
same group; then a group that nobody has begun; and only then helps with the largest group left.

A worker that dies takes the cells of its hand with it, and nobody knows which of them it was, if
any. They are tried again one by one after all others; those that were there at a second death are
tried with nothing else running. Only a cell whose worker dies even then is given up.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass

from omit.study.cell import Cell

# Enough for quick cells to keep a worker busy, few enough to be sent quickly.
LARGEST_HAND = 500


@dataclass(frozen=True)
class Deal:
    """The cells that one worker gets, and whether nothing else may run meanwhile."""

    cells: tuple[Cell, ...]
    group: str
    alone: bool = False


class Agenda:
    """The cells that are still to be handed out.

    Parameters
    ----------
    cells : iterable of Cell
        What is to be computed. Expensive groups come first, so that none is left for the end.
    """

    def __init__(self, cells: Iterable[Cell]) -> None:
        groups: dict[str, deque[Cell]] = {}
        costs: defaultdict[str, float] = defaultdict(float)
        for cell in cells:
            group = cell.group
            groups.setdefault(group, deque()).append(cell)
            costs[group] += cell.cost
        self._groups = dict(sorted(groups.items(), key=lambda each: -costs[each[0]]))
        self._untouched = deque(self._groups)
        self._suspects: deque[Cell] = deque()
        self._deaths: Counter[Cell] = Counter()
        self._running = 0
        self._alone = False

    def next(self, slots: int, after: str | None = None) -> Deal | None:
        """Return what a free worker should do, or None if there is nothing to do now.

        Parameters
        ----------
        slots : int
            How many hands are computed at once.
        after : str, optional
            The group of the hand that the worker has just finished.
        """
        if self._alone:
            return None
        deal = self._from_groups(slots, after) or self._from_suspects()
        if deal is not None:
            self._running += 1
            self._alone = deal.alone
        return deal

    def returned(self, deal: Deal, left: Iterable[Cell] = ()) -> None:
        """Take note that a worker is free again, with the cells that it left."""
        self._running -= 1
        self._alone = False
        group = self._groups.setdefault(deal.group, deque())
        for cell in left:
            if self._deaths[cell]:
                self._suspects.append(cell)
            else:
                group.appendleft(cell)

    def died(self, deal: Deal) -> tuple[Cell, ...]:
        """Take note that a worker has died; return the cells that are given up."""
        self._running -= 1
        self._alone = False
        if deal.alone:
            return deal.cells
        self._deaths.update(deal.cells)
        self._suspects.extend(deal.cells)
        return ()

    def _from_groups(self, slots: int, after: str | None) -> Deal | None:
        name = after if after is not None and self._groups.get(after) else None
        while name is None and self._untouched:
            begun = self._untouched.popleft()
            name = begun if self._groups[begun] else None
        if name is None:
            name = max(self._groups, key=lambda each: len(self._groups[each]), default=None)
        if name is None or not self._groups[name]:
            return None
        group = self._groups[name]
        size = min(math.ceil(len(group) / (2 * slots)), LARGEST_HAND)
        return Deal(tuple(group.popleft() for _ in range(size)), name)

    def _from_suspects(self) -> Deal | None:
        for _ in range(len(self._suspects)):
            cell = self._suspects.popleft()
            alone = self._deaths[cell] > 1
            if not alone or self._running == 0:
                return Deal((cell,), cell.group, alone)
            self._suspects.append(cell)
        return None
