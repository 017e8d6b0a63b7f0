"""What columns and points have in common, so that one path serves both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from omit._numeric import IntArray
from omit.laws.design import Design

if TYPE_CHECKING:
    from omit.data.distances import DistanceTotals


DISTANCES = ("absolute", "discrete", "euclidean", "manhattan")


class Data(Protocol):
    """Confidential data, as omissions, mechanisms and questions of accuracy need them.

    Its atoms are what a design keeps or leaves out: the distinct values of a column, or the single
    records of points.
    """

    described: ClassVar[str]
    """What such data are and which function makes them, for messages."""
    coupled: ClassVar[bool]
    """Whether draws from equal seeds can be compared run by run."""

    @property
    def name(self) -> str:
        """What the data are called."""

    @property
    def source(self) -> str:
        """Where they come from."""

    @property
    def size(self) -> int:
        """How many records there are."""

    @property
    def distinct(self) -> int:
        """How many different records there are."""

    @property
    def bounds(self) -> Any:
        """The declared bounds, or None."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that belong with every result on these data."""

    @property
    def declaration(self) -> str:
        """A sentence on which values are possible, and who says so."""

    @property
    def multiplicities(self) -> IntArray:
        """How many records each atom stands for."""

    def mean_distances(self, distance: str) -> DistanceTotals:
        """Return how far each atom is from all records on average; computed once.

        Raises
        ------
        Refused
            If the distance is not defined for such data.
        """

    def draws(
        self, design: Design, runs: int, rng: np.random.Generator
    ) -> Iterator[tuple[Any, np.random.Generator]]:
        """Yield batches of what is left, with the generator for the noise on each batch.

        What a batch looks like is between the data and the mechanisms of such data: for a column
        rows of counts, for points the positions of one draw.
        """
