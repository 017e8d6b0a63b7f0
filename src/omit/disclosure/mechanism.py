"""What every way to protect a table can say: its guarantee, its error, and a draw.

All of it is about tables of counts under "replace": one record is exchanged for another and the
number of records is public. Then two neighbouring tables differ in two cells, by one each.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from omit._numeric import FloatArray
from omit.disclosure.table import CountTable, Universe
from omit.guarantee import REPLACE, Guarantee, NoGuarantee, Relation

CHANGE_QUASI_IDENTIFIERS = Relation(
    "change-quasi-identifiers",
    meaning="one record has other quasi-identifiers, and all else is equal and public",
    steps_from={"replace": 1, "add-remove": 2},
)

NO_DELTA = "no (ε, δ) with δ < 1"


@dataclass(frozen=True)
class ExactDelta:
    """The smallest delta at an epsilon, and the neighbouring tables that need it.

    Parameters
    ----------
    epsilon : float
        At which epsilon.
    delta : float
        The smallest delta, rounded up in its last digit.
    log_shortfall : float
        The logarithm of 1 - delta, which tells deltas apart that round to 1; -inf if delta is 1.
    witness : object
        Two neighbouring inputs for which no smaller delta holds, or None.

    Examples
    --------
    >>> ExactDelta.of_shortfall(1.0, -5000.0).show_delta()
    '1 - 10^-2171'
    """

    epsilon: float
    delta: float
    log_shortfall: float
    witness: Any = None

    @classmethod
    def of_shortfall(cls, epsilon: float, log_shortfall: float, witness: Any = None) -> ExactDelta:
        """Return the delta that is 1 less e^log_shortfall."""
        delta = -math.expm1(min(0.0, log_shortfall))
        if delta > 0:
            delta = min(1.0, math.nextafter(delta, 2.0))
        return cls(epsilon, delta, log_shortfall, witness)

    @classmethod
    def of_delta(cls, epsilon: float, delta: float, witness: Any = None) -> ExactDelta:
        """Return a delta that is not near 1."""
        delta = max(0.0, delta)
        return cls(epsilon, delta, math.log1p(-delta) if delta < 1 else -math.inf, witness)

    def show_delta(self) -> str:
        """Return delta for people, also where it is as good as 1."""
        if self.log_shortfall == -math.inf:
            return "1"
        if self.log_shortfall < math.log(1e-4):
            digits = self.log_shortfall / math.log(10)
            return f"1 - 10^{digits:.0f}"
        return f"{self.delta:.4g}"

    def guarantee(self, reason: str, neighbours: str = REPLACE) -> Guarantee | NoGuarantee:
        """Return it as a guarantee, or say that it promises nothing."""
        if self.delta < 1:
            return Guarantee(self.epsilon, self.delta, neighbours)
        if self.log_shortfall == -math.inf:
            return NoGuarantee(f"{NO_DELTA}: {reason}", self.witness)
        return NoGuarantee(
            f"no δ that a floating-point number tells from 1: δ = {self.show_delta()}; {reason}",
            self.witness,
        )


@dataclass(frozen=True)
class TableWitness:
    """Two neighbouring tables, and what can be seen that tells them apart.

    Only the two cells that differ are shown; all other cells are equal.
    """

    cells: tuple[int, int]
    neighbour: tuple[int, int]
    seen: str

    def __str__(self) -> str:
        return f"two cells with {self.cells} or with {self.neighbour} records: {self.seen}"


@dataclass(frozen=True, eq=False)
class CellErrors:
    """The error of every cell, exactly: in the mean, squared about the mean, and absolute.

    Parameters
    ----------
    bias : array
        The expected released count less the true one.
    variance : array
        The variance of the released count.
    absolute : array
        The expected absolute error.
    """

    bias: FloatArray
    variance: FloatArray
    absolute: FloatArray


class TableMechanism(ABC):
    """A way to protect a table of counts."""

    @abstractmethod
    def guarantee(self, universe: Universe, neighbours: str = REPLACE) -> Guarantee | NoGuarantee:
        """Return what the release promises, or why it promises nothing, with a witness."""

    @abstractmethod
    def errors(self, table: CountTable) -> CellErrors:
        """Return the errors of all cells in closed form, after projection to counts >= 0."""

    @abstractmethod
    def release(self, table: CountTable, rng: np.random.Generator, runs: int = 1) -> FloatArray:
        """Return released counts, one row for each run, after projection to counts >= 0.

        Draws are for studying errors: a release needs samplers that are safe in floating point.
        """

    @property
    @abstractmethod
    def key(self) -> str:
        """A short name for columns and figures."""
