"""The linear programs over all mechanisms on the parts of one small database.

The probability `g(C)` that a pure epsilon-DP mechanism answers in a given set may be any positive
function whose ratio between neighbours is at most `e^epsilon` (small multiples of it are
probabilities of a one-bit mechanism), and such a function on the subsets of `D'` extends to all
databases. So the largest ratio of the two expectations is a linear-fractional program.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput

Subset: TypeAlias = tuple[Hashable, ...]

# Beyond these the linear program is too large, or its coefficients too far apart to be solved.
LARGEST_PROGRAM = 1024
LARGEST_PROGRAM_EPSILON = 10.0
# How far the attained value and the proved bound of a linear program may lie apart.
_CERTIFIED = 1e-6
_ROUNDS = 4


@dataclass(frozen=True)
class SubsetProgram:
    """The linear programs over all mechanisms on the parts of one database."""

    index: Mapping[Subset, int]
    steps: tuple[tuple[int, int], ...]
    growth: float

    @classmethod
    def of(cls, larger: Subset, epsilon: float) -> SubsetProgram:
        """Return the programs on all parts of the larger database.

        Raises
        ------
        InvalidInput
            If there are too many parts, or epsilon is too large to solve them reliably.
        """
        parts = math.prod(count + 1 for count in Counter(larger).values())
        if parts > LARGEST_PROGRAM:
            raise InvalidInput(
                f"The exact linear program takes databases with up to {LARGEST_PROGRAM} different "
                f"parts, and this one has {parts}; use a closed form or a smaller database."
            )
        if epsilon > LARGEST_PROGRAM_EPSILON:
            raise InvalidInput(
                f"The exact linear program is reliable up to epsilon = {LARGEST_PROGRAM_EPSILON:g},"
                f" got {epsilon:g}; use a closed form."
            )
        index = {subset: number for number, subset in enumerate(_parts(larger))}
        steps = tuple(
            (number, index[in_order((*subset, record))])
            for subset, number in index.items()
            for record in dict.fromkeys(larger)
            if in_order((*subset, record)) in index
        )
        return cls(index, steps, math.exp(epsilon))

    def largest_ratio(
        self, numerator: Mapping[Subset, float], denominator: Mapping[Subset, float]
    ) -> float:
        """Return the largest ratio of the two expectations of a function with bounded ratios.

        The solver's answer is not believed: its function is repaired until all ratios are
        bounded, which gives a value that is attained, and its multipliers until they prove a
        bound. The program is solved again in the scale of the last function until both agree.

        Raises
        ------
        InvalidInput
            If they do not.
        """
        above, below = self._weights(numerator), self._weights(denominator)
        scale = np.ones(len(self.index))
        for _ in range(_ROUNDS):
            solution = self._solve(above, below, scale)
            if solution is None:
                continue
            function, multipliers = solution
            scale = self._repaired(function * scale)
            attained = float(above @ scale) / float(below @ scale)
            proved = self._proved(multipliers, above, below)
            if proved <= attained * (1 + _CERTIFIED):
                return max(proved, 1.0)
        raise InvalidInput(
            "The exact linear program could not be solved reliably; use a closed form, or a "
            "smaller database or epsilon."
        )

    def _solve(
        self, above: FloatArray, below: FloatArray, scale: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return the function and the multipliers of the program in units of `scale`."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix

        first, second = self._pairs
        numbers = np.arange(len(first))
        factors = self.growth * scale[second] / scale[first]
        rows = csr_matrix(
            (
                np.concatenate([np.ones(len(first)), -factors]),
                (np.concatenate([numbers, numbers]), np.concatenate([first, second])),
            ),
            shape=(len(first), len(scale)),
        )
        unit = float(below @ scale)
        solution = linprog(
            -above * scale / unit,
            A_ub=rows,
            b_ub=np.zeros(len(first)),
            A_eq=(below * scale / unit)[None, :],
            b_eq=[1.0],
            bounds=(0, None),
            method="highs",
            options={
                "primal_feasibility_tolerance": 1e-10,
                "dual_feasibility_tolerance": 1e-10,
                "time_limit": 60.0,
            },
        )
        if not solution.success:
            return None
        return as_array(solution.x), as_array(-solution.ineqlin.marginals) * unit / scale[first]

    @property
    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All ordered pairs of neighbours."""
        steps = np.array(self.steps, dtype=np.int64).reshape(-1, 2)
        return np.concatenate([steps[:, 0], steps[:, 1]]), np.concatenate(
            [steps[:, 1], steps[:, 0]]
        )

    def _repaired(self, function: FloatArray) -> FloatArray:
        """Return the largest function below this one whose ratios are bounded, and positive."""
        first, second = self._pairs
        largest = float(function.max())
        farthest = max(len(subset) for subset in self.index)
        repaired = np.maximum(function, largest * self.growth ** (-2.0 * farthest) * 1e-3)
        while True:
            limits = repaired.copy()
            np.minimum.at(limits, first, self.growth * repaired[second])
            if (limits == repaired).all():
                return as_array(repaired / repaired.max())
            repaired = limits

    def _proved(self, multipliers: FloatArray, above: FloatArray, below: FloatArray) -> float:
        """Return the bound that multipliers prove, after what they leave open is moved on.

        For every function with bounded ratios, `Σ above g <= Σ (above - A^T y) g`, as y >= 0 and
        `A g <= 0`. What remains at a part that the denominator does not see is moved to a
        neighbour nearer to one that it does see, at the price of a factor.
        """
        first, second = self._pairs
        multipliers = np.maximum(multipliers, 0.0)
        remaining = above.copy()
        np.subtract.at(remaining, first, multipliers)
        np.add.at(remaining, second, self.growth * multipliers)
        distance = np.where(below > 0, 0, len(self.index))
        while True:
            nearer = distance.copy()
            np.minimum.at(nearer, first, distance[second] + 1)
            if (nearer == distance).all():
                break
            distance = nearer
        next_one = np.full(len(remaining), -1)
        towards = distance[second] == distance[first] - 1
        next_one[first[towards]] = second[towards]
        for part in np.argsort(-distance):
            if distance[part] > 0 and remaining[part] > 0:
                remaining[next_one[part]] += self.growth * remaining[part]
                remaining[part] = 0.0
        seen = below > 0
        return float((remaining[seen] / below[seen]).max())

    def largest_excess(
        self,
        first: Mapping[Subset, float],
        second: Mapping[Subset, float],
        growth_after: float,
        delta: float,
    ) -> float:
        """Return the largest `E[g] - growth_after E'[g]` over one-bit mechanisms."""
        plain = self._differences(self.growth)
        limits = np.full(len(plain), delta)
        # The complement of the answer obeys the same inequalities, with the roles exchanged.
        complement_limits = limits + self.growth - 1
        swapped = self._differences(self.growth, complement=True)
        value = self._maximise(
            self._weights(first) - growth_after * self._weights(second),
            np.vstack([plain, swapped]),
            np.concatenate([limits, complement_limits]),
        )
        return max(value, 0.0)

    def _weights(self, distribution: Mapping[Subset, float]) -> FloatArray:
        weights = np.zeros(len(self.index))
        for subset, probability in distribution.items():
            weights[self.index[subset]] = probability
        return weights

    def _differences(self, growth: float, complement: bool = False) -> FloatArray:
        """Return rows `g(C) - growth g(C')`, or those of the complement, for all neighbours."""
        rows = np.zeros((2 * len(self.steps), len(self.index)))
        for number, (smaller, larger) in enumerate(self.steps):
            for row, (first, second) in enumerate(((smaller, larger), (larger, smaller))):
                rows[2 * number + row, first] = -1.0 if complement else 1.0
                rows[2 * number + row, second] = growth if complement else -growth
        return rows

    @staticmethod
    def _maximise(objective: FloatArray, rows: FloatArray, limits: FloatArray) -> float:
        """Return the largest value over functions between 0 and 1 within the limits."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix

        solution = linprog(
            -objective,
            A_ub=csr_matrix(rows),
            b_ub=limits,
            bounds=(0, 1),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if not solution.success:
            raise InvalidInput(f"The exact linear program could not be solved: {solution.message}")
        return float(-solution.fun)


def in_order(records: Iterable[Hashable]) -> Subset:
    """Return a multiset as a tuple in a fixed order, the same for equal records."""
    return tuple(sorted(records, key=_sort_key))


def _sort_key(record: Hashable) -> tuple[bool, float, str]:
    if isinstance(record, int | float):
        return False, float(record), ""
    return True, 0.0, repr(record)


def _parts(database: Subset) -> Iterator[Subset]:
    """Yield every multiset contained in the database."""
    counts = Counter(database)
    for chosen in itertools.product(*(range(count + 1) for count in counts.values())):
        yield in_order(
            itertools.chain.from_iterable(
                itertools.repeat(record, count)
                for record, count in zip(counts, chosen, strict=True)
            )
        )
