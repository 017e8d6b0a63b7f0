"""What all protected statistics have in common, whatever data they are computed from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from omit.errors import WrongNeighbours
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, Relation, require_guarantee


class ProtectedStatistic(ABC):
    """Something that is computed with a guarantee, and how its error is measured."""

    @property
    @abstractmethod
    def statistic(self) -> str:
        """What is computed, in one word; outlier distances and tables go by it."""

    @property
    @abstractmethod
    def metric(self) -> str:
        """What is measured as its error."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """The unit of the error."""

    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE, REPLACE)
    """The neighbour relations for which the noise is known, the usual one first."""
    published_runs: ClassVar[int] = 500
    """How often the paper that studied this statistic repeated its experiment."""

    @property
    def private(self) -> bool:
        """Whether the noise gives the guarantee; variants for comparing with papers may not."""
        return True

    def require_relation(self, guarantee: Guarantee) -> None:
        """Refuse what is no DP guarantee, or one under a relation without known noise."""
        require_guarantee(guarantee)
        if guarantee.neighbours not in self.relations:
            raise WrongNeighbours(
                f"{self} has no noise for the relation {guarantee.neighbours}; "
                f"state the guarantee under {' or '.join(self.relations)}."
            )
