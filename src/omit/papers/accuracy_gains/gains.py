"""Which samples surely gain: how claims read errors over epsilon and the sampling rate.

A gain or a loss counts where the whole interval of an error is on one side of the error of all
records; a cell that is not sure refutes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from omit.accuracy.grids import ErrorGrid
from omit.papers.accuracy_gains import cells
from omit.papers.accuracy_gains.cells import Line
from omit.papers.base import Computed
from omit.papers.claims import Standing, agreement


def errors_of(line: Line, *epsilons: float) -> Callable[[Computed], ErrorGrid | None]:
    """Return the function that returns a line's errors, if these epsilons are among them."""

    def grid(computed: Computed) -> ErrorGrid | None:
        errors = cells.error_grid_of(computed, line)
        return errors if set(epsilons) <= set(errors.epsilons) else None

    return grid


def smallest_ratio(grid: ErrorGrid, epsilon: float) -> float:
    """Return the error of the best sample at an epsilon, divided by that of all records."""
    return float(grid.ratios[grid.epsilons.index(epsilon)].min())


def gaining(grid: ErrorGrid) -> tuple[list[float], list[float]]:
    """Return the epsilons at which every rate surely gains, and those at which none does."""
    gains = list(zip(grid.epsilons, grid.gains > 0, strict=True))
    return [e for e, row in gains if row.all()], [e for e, row in gains if not row.any()]


def no_gains(grid: ErrorGrid, epsilons: Sequence[float]) -> Standing:
    """Judge that nothing gains at these epsilons: a cell that is not sure refutes nothing."""
    return agreement(*(epsilon in gaining(grid)[1] for epsilon in epsilons))


def all_gain(grid: ErrorGrid, epsilons: Sequence[float]) -> Standing:
    """Judge that every rate gains at these epsilons: only a sure loss refutes it."""
    rows = [grid.gains[grid.epsilons.index(epsilon)] for epsilon in epsilons]
    return agreement(*((row >= 0).all() for row in rows))


def exactly_up_to(grid: ErrorGrid, largest: float) -> Standing:
    """Judge that every rate gains up to an epsilon, and none beyond."""
    below = all_gain(grid, [epsilon for epsilon in grid.epsilons if epsilon <= largest])
    beyond = no_gains(grid, [epsilon for epsilon in grid.epsilons if epsilon > largest])
    return below if below in (beyond, "fails") else "holds in part"


def show_gains(grid: ErrorGrid) -> str:
    """Return in words at which epsilons every rate, some or none surely gains."""
    every, none = gaining(grid)
    some = [epsilon for epsilon in grid.epsilons if epsilon not in (*every, *none)]
    parts = [
        f"at {what} for epsilon = {', '.join(f'{epsilon:g}' for epsilon in which)}"
        for what, which in (("every rate", every), ("some rates", some), ("none", none))
        if which
    ]
    unsure = int((grid.gains == 0).sum())
    doubt = f" ({unsure} of {grid.gains.size} cells are not sure)" if unsure else ""
    return f"Sure gains {'; '.join(parts)}{doubt}."


def show_rates(grid: ErrorGrid, epsilon: float) -> str:
    """Return the range of rates that surely gain at an epsilon, in words."""
    row = grid.gains[grid.epsilons.index(epsilon)] > 0
    rates = 100 * np.array(grid.sizes)[row] / grid.data.size
    return f"rates {rates.min():.0f} % to {rates.max():.0f} %" if row.any() else "no rate"
