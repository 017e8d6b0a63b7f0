"""A user's own mechanisms and omissions, each one class, for the tests of comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import Column, Guarantee, Mechanism, Omission

FloatArray = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class NoisyTotal(Mechanism):
    """The sum of all values with Laplace noise, judged by its absolute error."""

    statistic: ClassVar[str] = "total"
    metric: ClassVar[str] = "absolute error"
    unit: ClassVar[str] = "units"
    relations = ("add-remove",)  # type: ignore[assignment]

    def __str__(self) -> str:
        return "noisy total"

    def truth(self, column: Column) -> float:
        return column.mean * column.size

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        self.require_relation(guarantee)
        assert bounds is not None
        scale = max(map(abs, bounds)) / guarantee.epsilon
        return np.asarray(counts @ column.values + rng.laplace(0, scale, len(counts)))

    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        return np.asarray(np.abs(answers - truth), dtype=np.float64)


@dataclass(frozen=True)
class HalfOfTheOld(Omission):
    """Keep a record of at least `age` with probability 1/2, all others for certain."""

    age: float

    def __str__(self) -> str:
        return f"half of those from {self.age:g} on"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        # Somebody young is kept for certain, so nothing is gained.
        return np.asarray(epsilon, dtype=np.float64)

    def keep_probabilities(self, column: Column) -> FloatArray:
        return np.where(column.values >= self.age, 0.5, 1.0)


@dataclass(frozen=True)
class Dial(Mechanism):
    """An error that the counts set: the first count plus or minus the second."""

    statistic: ClassVar[str] = "dial"
    metric: ClassVar[str] = "set error"
    unit: ClassVar[str] = "units"

    def __str__(self) -> str:
        return "dial"

    def truth(self, column: Column) -> float:
        return 0.0

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        return np.asarray(counts[:, 0] + counts[:, 1] * rng.choice([-1, 1], len(counts)))

    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        return np.asarray(answers, dtype=np.float64)


@dataclass(frozen=True)
class SetCounts(Omission):
    """Leave exactly these counts, which turns the `Dial`."""

    mean: int
    spread: int

    def __str__(self) -> str:
        return f"{self.mean} give or take {self.spread}"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        return np.asarray(epsilon, dtype=np.float64)

    def draw_counts(self, column: Column, runs: int, rng: np.random.Generator) -> Counts:
        return np.tile(np.array([self.mean, self.spread]), (runs, 1))
