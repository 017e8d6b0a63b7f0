"""A user's own mechanisms and omissions, each one class, for the tests of comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import Column, Guarantee, Mechanism, Omission, Prepared
from omit.data.base import Data
from omit.laws.design import Design, Independent
from omit.mechanisms.base import Promise

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

    def prepare(
        self, data: Column, promise: Promise, *, bounds: Any = None, truth: Any = None
    ) -> PreparedTotal:
        assert isinstance(promise, Guarantee)
        self.require_relation(promise)
        limits = data.bounds if bounds is None else bounds
        assert limits is not None
        scale = max(map(abs, limits)) / promise.epsilon
        target = data.mean * data.size if truth is None else truth
        return PreparedTotal(self, data, scale, target)


@dataclass(frozen=True, eq=False)
class PreparedTotal(Prepared):
    mechanism: NoisyTotal
    column: Column
    scale: float
    truth: float

    def errors(self, kept: Counts, rng: np.random.Generator) -> FloatArray:
        answers = kept @ self.column.values + rng.laplace(0, self.scale, len(kept))
        return np.asarray(np.abs(answers - self.truth), dtype=np.float64)


@dataclass(frozen=True)
class HalfOfTheOld(Omission):
    """Keep a record of at least `age` with probability 1/2, all others for certain."""

    age: float

    def __str__(self) -> str:
        return f"half of those from {self.age:g} on"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        # Somebody young is kept for certain, so nothing is gained.
        return np.asarray(epsilon, dtype=np.float64)

    def design(self, data: Data, distance: str) -> Design:
        assert isinstance(data, Column)
        return Independent(np.where(data.values >= self.age, 0.5, 1.0))


@dataclass(frozen=True)
class Dial(Mechanism):
    """An error that the counts set: the first count plus or minus the second."""

    statistic: ClassVar[str] = "dial"
    metric: ClassVar[str] = "set error"
    unit: ClassVar[str] = "units"

    def __str__(self) -> str:
        return "dial"

    def prepare(
        self, data: Column, promise: Promise, *, bounds: Any = None, truth: Any = None
    ) -> PreparedDial:
        return PreparedDial(self)


@dataclass(frozen=True, eq=False)
class PreparedDial(Prepared):
    mechanism: Dial

    def errors(self, kept: Counts, rng: np.random.Generator) -> FloatArray:
        signs = rng.choice([-1, 1], len(kept))
        return np.asarray(kept[:, 0] + kept[:, 1] * signs, dtype=np.float64)


@dataclass(frozen=True)
class SetCounts(Omission):
    """Leave exactly these counts, which turns the `Dial`."""

    mean: int
    spread: int

    def __str__(self) -> str:
        return f"{self.mean} give or take {self.spread}"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        return np.asarray(epsilon, dtype=np.float64)

    def design(self, data: Data, distance: str) -> Design:
        return TheseCounts(self.mean, self.spread)


@dataclass(frozen=True)
class TheseCounts(Design):
    mean: int
    spread: int

    def counts(self, multiplicities: Counts, runs: int, rng: np.random.Generator) -> Counts:
        return np.tile(np.array([self.mean, self.spread]), (runs, 1))
