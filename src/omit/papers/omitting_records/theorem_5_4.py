"""Repeat the computer-assisted step in the proof of Theorem 5.4 (outlier-score suppression).

The proof of the omitting-records paper bounds the ratio between neighbouring databases by two
suprema and states their values after a numerical search (Remarks B.22 and B.24). Three claims rest
on that search. Each is checked here, cell by cell of a grid of `(epsilon, m, M)`, in logarithms:

1. Formula B.8, the supremum when a record is removed, equals the maxima over p of l1 and l2.
2. The supremum over N when a record is added, together with a second term, equals its limit l3,
   together with that term (Theorem B.23).
3. That second term, `-ln(e^-eps + (1 - e^-eps) m) + 1 - m/M`, is at most the largest of l1, l2, l3.

`theorem_5_4_search` says what is searched, and how.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import reduce
from operator import or_
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit._text import rounded_up, show_number
from omit.errors import InvalidInput
from omit.omissions.outlier_score import published_terms
from omit.papers.omitting_records.theorem_5_4_search import (
    LARGEST_DATABASE,
    largest_when_adding,
    largest_when_removing,
)
from omit.report.result import Field, Result, Table

Cell: TypeAlias = tuple[float, float, float]
Terms: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
Hypothesis: TypeAlias = Callable[[ArrayLike, ArrayLike, ArrayLike], Terms]

EPSILONS: tuple[float, ...] = (
    *(i / 100 for i in range(201)),
    *(i / 10 for i in range(21, 101)),
    *(float(i) for i in range(11, 101)),
)
"""The 371 epsilons of Remarks B.22 and B.24."""

ROUNDING = 1e-9  # what rounding explains
_PAIRS_PER_SLICE = 8  # few, so that an interruption waits about a second for slices under way
_MOST_PARTS = 1_000  # half a million pairs; ten times the paper's in either direction
_MOST_WORKERS = 256


@dataclass(frozen=True)
class Disagreement:
    """How far the values that the search reaches and the values claimed lie apart, over some cells.

    `above` is the largest excess of a value over its claim: the claim fails if it is positive, up
    to rounding. `below` is the largest shortfall: how far the claim may be from being attained.
    `where_above` and `where_below` are the `(epsilon, m, M)` of these cells.
    """

    above: float
    below: float
    where_above: Cell
    where_below: Cell
    cells: int

    def __or__(self, other: Disagreement) -> Disagreement:
        """Return the disagreement over the cells of both, in whatever order they come."""
        above, where_above = max(
            ((part.above, part.where_above) for part in (self, other)), key=_first_of_the_largest
        )
        below, where_below = max(
            ((part.below, part.where_below) for part in (self, other)), key=_first_of_the_largest
        )
        return Disagreement(above, below, where_above, where_below, self.cells + other.cells)


@dataclass(frozen=True)
class Verification(Result):
    """The disagreements with the three claims of the numerical step, in the order above.

    `largest_database` is the largest N that was tried, `asked` the number of cells that were to be
    checked, if these are not all.
    """

    command: ClassVar[str] = "verify theorem-5.4"
    warning: ClassVar[str | None] = None
    removing: Disagreement
    adding: Disagreement
    superfluous: Disagreement
    largest_database: float = LARGEST_DATABASE
    asked: int | None = None

    @property
    def cells(self) -> int:
        """The number of `(epsilon, m, M)` that were checked."""
        return self.removing.cells

    @property
    def holds(self) -> bool:
        """Whether nothing exceeds the formula, and the limit of large databases attains it."""
        parts = (self.removing, self.adding, self.superfluous)
        if max(part.above for part in parts) > ROUNDING:
            return False
        attained = max(self.removing.below, self.adding.below) <= ROUNDING
        return attained or math.isfinite(self.largest_database)

    @property
    def verdict(self) -> str:
        """Whether the published formula holds on the cells that were checked."""
        total = self.cells if self.asked is None else self.asked
        cells = f"Theorem 5.4 on {self.cells:,} of {total:,} cells (ε, m, M)"
        if self.holds:
            return f"{cells}: it holds; nothing exceeds the formula by more than rounding."
        return f"{cells}: it FAILS; see the table."

    def tables(self) -> Sequence[Table]:
        """Return the largest excess over each claim, and the largest shortfall."""
        fields = (
            Field("Claim", "claim"),
            Field("Difference", "difference"),
            Field("At most", "value", lambda value: rounded_up(value, 2), numeric=True),
            Field("ε", "epsilon", show_number, numeric=True),
            Field("m", "m", show_number, numeric=True),
            Field("M", "M", show_number, numeric=True),
        )
        rows: list[tuple[object, ...]] = []
        for name, part in (
            ("removing a record, Remark B.22", self.removing),
            ("adding a record, Remark B.24", self.adding),
            ("the term left out of the theorem, Remark B.24", self.superfluous),
        ):
            rows.append((name, "excess over the claim", part.above, *part.where_above))
            rows.append((name, "shortfall below it", part.below, *part.where_below))
        return [Table("disagreements", "", fields, tuple(rows))]

    def to_json(self) -> dict[str, Any]:
        """Return the disagreements with each claim, and whether it holds."""
        cells = {"claimed_cells": self.asked or self.cells, "cells": self.cells}
        parts = {
            name: asdict(getattr(self, name)) for name in ("removing", "adding", "superfluous")
        }
        return {**cells, "holds": self.holds, **parts, "verdict": self.verdict}

    def __or__(self, other: Verification) -> Verification:
        """Return the verification over the cells of both."""
        return Verification(
            self.removing | other.removing,
            self.adding | other.adding,
            self.superfluous | other.superfluous,
            min(self.largest_database, other.largest_database),
        )


def _first_of_the_largest(value_and_cell: tuple[float, Cell]) -> tuple[float, ...]:
    """Return a key by which, of equal values, that of the first cell in the grid is the largest."""
    value, (epsilon, m, M) = value_and_cell
    return value, -m, -M, -epsilon


def grid(step: float = 0.01) -> tuple[FloatArray, FloatArray]:
    """Return all `m <= M` that are multiples of `step` strictly between 0 and 1.

    Raises
    ------
    InvalidInput
        If `step` is not one over a whole number from 2 to 1,000.

    Examples
    --------
    >>> grid(1 / 3)
    (array([0.33333333, 0.33333333, 0.66666667]), array([0.33333333, 0.66666667, 0.66666667]))
    """
    step = _validate.finite("step", step)
    parts = round(1 / step) if step > 0.5 / _MOST_PARTS else 0
    if not 2 <= parts <= _MOST_PARTS or not math.isclose(parts * step, 1):
        raise InvalidInput(
            f"Expected step={step:g} to be one over a whole number from 2 to {_MOST_PARTS:,}, such "
            "as 0.01."
        )
    first, second = np.triu_indices(parts - 1)
    return (first + 1) / parts, (second + 1) / parts


def check(
    epsilon: ArrayLike,
    m: ArrayLike,
    M: ArrayLike,
    *,
    largest_database: float = LARGEST_DATABASE,
    hypothesis: Hypothesis = published_terms,
) -> Verification:
    """Return the verification for every epsilon with every pair of `m` and `M`.

    Parameters
    ----------
    epsilon
        One or more privacy parameters.
    m, M
        Pairs of outlier-score parameters, of equal length.
    largest_database
        The largest N to try; `math.inf` includes the limit.
    hypothesis
        The claimed terms: the maxima over p of l1 and l2, and l3.

    Examples
    --------
    >>> found = check([0.0, 0.5, 1.0], [0.2, 0.5], [0.4, 0.6])
    >>> found.cells, found.removing.above < 1e-9, found.removing.below < 2e-7
    (6, True, True)
    """
    epsilons, low, high = (np.atleast_1d(as_array(values)) for values in (epsilon, m, M))
    removing, adding = (
        np.array(
            [
                largest(epsilons, *pair, largest_database=largest_database)
                for pair in zip(low.tolist(), high.tolist(), strict=True)
            ]
        )
        for largest in (largest_when_removing, largest_when_adding)
    )
    low, high = low[:, np.newaxis], high[:, np.newaxis]
    l1, l2, l3 = hypothesis(epsilons, low, high)
    second = -np.log1p(np.expm1(-epsilons) * (1 - low)) + (high - low) / high
    published = np.maximum(np.maximum(l1, l2), l3)
    cells = (epsilons, low, high)
    return Verification(
        _compare(removing, np.maximum(l1, l2), cells),
        _compare(np.maximum(adding, second), np.maximum(l3, second), cells),
        _compare(np.maximum(published, second), published, cells),
        largest_database,
    )


def slices(
    epsilons: ArrayLike = EPSILONS, step: float = 0.01, *, workers: int = 2, **options: Any
) -> Generator[Verification, None, None]:
    """Yield the verification of a few pairs `(m, M)` at a time, in the order they finish.

    Join them with `|`; there are `len(epsilons) * grid(step)[0].size` cells in all. Leaving the
    loop early, by `break` or by an interruption, cancels what has not begun; what was joined until
    then is the verification of those cells.

    Parameters
    ----------
    epsilons
        The privacy parameters to check with every pair.
    step
        The distance between neighbouring values of `m` and `M`.
    workers
        The number of threads.
    **options
        Those of `check`.
    """
    workers = _validate.positive_integer("workers", workers, most=_MOST_WORKERS)
    m, M = grid(step)
    starts = range(0, m.size, _PAIRS_PER_SLICE)
    parts = [slice(start, start + _PAIRS_PER_SLICE) for start in starts]
    executor = ThreadPoolExecutor(workers)
    try:
        running = [executor.submit(check, epsilons, m[part], M[part], **options) for part in parts]
        for finished in as_completed(running):
            yield finished.result()
    finally:
        executor.shutdown(cancel_futures=True)


def verify(epsilons: ArrayLike = EPSILONS, step: float = 0.01, **options: Any) -> Verification:
    """Return the verification of the whole grid; options are those of `slices`.

    Examples
    --------
    >>> found = verify([0.5, 2.0], step=0.2)
    >>> found.cells, found.removing.above < 1e-9, found.superfluous.above
    (20, True, 0.0)
    """
    return reduce(or_, slices(epsilons, step, **options))


def _compare(reached: FloatArray, claimed: FloatArray, cells: Terms) -> Disagreement:
    """Return the disagreement of two arrays over the broadcast cells."""
    excess = reached - claimed
    if not np.isfinite(excess).all():
        raise ArithmeticError("A value of the verification is not a finite number.")
    epsilon, m, M = np.broadcast_arrays(*cells)

    def cell(index: np.intp) -> Cell:
        return float(epsilon.flat[index]), float(m.flat[index]), float(M.flat[index])

    above, below = cell(excess.argmax()), cell(excess.argmin())
    return Disagreement(float(excess.max()), float(0.0 - excess.min()), above, below, excess.size)
