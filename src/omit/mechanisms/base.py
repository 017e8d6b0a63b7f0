"""The contract of a protected statistic.

A mechanism computes something from counts of values and adds the noise that its guarantee needs. It
knows nothing of omissions: it is handed the counts that are left. Errors are studied on counts,
never on records, so a mechanism takes many draws of the counts at once, one in each row.

*To add a mechanism*, derive from `Mechanism` and write `truth`, `answers` and `errors`; it can then
be compared by simulation at once. An exact engine, if there is one, is registered in `utility`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit.data.column import Column
from omit.errors import WrongNeighbours
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, Relation

Counts = NDArray[np.int64]


class Mechanism(ABC):
    """A protected statistic of one column."""

    @property
    def statistic(self) -> str:
        """What is computed, in one word; outlier distances and tables go by it."""
        raise NotImplementedError

    @property
    def metric(self) -> str:
        """What `errors` measures."""
        raise NotImplementedError

    @property
    def unit(self) -> str:
        """The unit of `errors`."""
        raise NotImplementedError

    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE, REPLACE)
    """The neighbour relations for which the noise is known, the usual one first."""

    @abstractmethod
    def truth(self, column: Column) -> Any:
        """Return the statistic of the column itself, which answers are compared with."""

    @abstractmethod
    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return one protected answer for each row of counts of the column's values.

        `bounds` are those of the values that can be left; they may be narrower than the
        column's own.
        """

    @abstractmethod
    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        """Return the error of each answer, in the unit of the mechanism."""

    def require_relation(self, guarantee: Guarantee) -> None:
        """Refuse a guarantee under a relation for which the noise is not known."""
        if guarantee.neighbours not in self.relations:
            raise WrongNeighbours(
                f"{self} has no noise for the relation {guarantee.neighbours}; "
                f"state the guarantee under {' or '.join(self.relations)}."
            )
