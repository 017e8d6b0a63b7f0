"""The contract of a protected statistic.

A mechanism computes something from counts of values and adds the noise that its guarantee needs. It
knows nothing of omissions: it is handed the counts that are left. Errors are studied on counts,
never on records, so a mechanism takes many draws of the counts at once, one in each row.

*To add a mechanism*, derive from `Mechanism` and write `truth`, `answers` and `errors`; it can then
be compared by simulation at once. With `expected_errors`, noise need not be drawn. An exact engine,
if there is one, is registered in `utility`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit.data.column import Column
from omit.guarantee import Guarantee
from omit.mechanisms.statistic import ProtectedStatistic

Counts = NDArray[np.int64]


class Mechanism(ProtectedStatistic):
    """A protected statistic of one column."""

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

    def expected_errors(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: Any,
    ) -> FloatArray | None:
        """Return the error of each row of counts, averaged over the noise.

        None, as here, where that is no formula; simulations then draw noise, too.
        """
        return None

    def largest_error(self, bounds: tuple[float, float] | None, truth: Any) -> float:
        """Return the largest error that an answer can have; infinite, as here, if there is none."""
        return math.inf

    def unseen_error(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: Any,
        runs: int,
    ) -> float:
        """Return about what answers too rare for so many runs add to the error on these counts.

        Nothing, as here, unless answers can be arbitrarily far off.
        """
        return 0.0
