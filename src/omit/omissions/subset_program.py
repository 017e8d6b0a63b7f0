"""The linear programs over all mechanisms on the parts of one small database.

The probability `g(C)` that a pure epsilon-DP mechanism answers in a given set may be any positive
function whose ratio between neighbours is at most `e^epsilon` (small multiples of it are
probabilities of a one-bit mechanism), and such a function on the subsets of `D'` extends to all
databases. So the largest ratio of the two expectations is a linear-fractional program.

What a solver returns is only where to look. Its function is repaired until all ratios are bounded,
which gives a ratio that is attained, and its multipliers until they prove one that is not exceeded;
both are evaluated in rational numbers, with `e^epsilon` rounded to the side that keeps them true.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array, not_above, not_below
from omit.errors import InvalidInput

Subset: TypeAlias = tuple[Hashable, ...]
Step: TypeAlias = tuple[Subset, Subset]
Weights: TypeAlias = Mapping[Subset, float | Fraction]

# Beyond these the linear program is too large, or its coefficients too far apart to be solved.
LARGEST_PROGRAM = 1024
LARGEST_PROGRAM_EPSILON = 10.0
# How far the attained value and the proved bound of a linear program may lie apart, and how near
# they are tried to be brought.
_CERTIFIED = 1e-6
_CLOSE = 1e-12
_ROUNDS = 4
_DIGITS = 40
# What keeps products of floats below a limit in spite of their rounding.
_SHRINK = 1 - 2.0**-50


@dataclass(frozen=True)
class CertifiedRatio:
    """The largest ratio of two expectations over all pure mechanisms, between two numbers.

    Attributes
    ----------
    proved
        What no mechanism exceeds, by the multipliers.
    attained
        What the function attains.
    function
        Positive numbers for all parts, in proportion to which a mechanism may answer.
    multipliers
        How often the inequality `g(C) <= e^epsilon g(C')` is used for a step from `C` to `C'`.
    """

    proved: Fraction
    attained: Fraction
    function: Mapping[Subset, float]
    multipliers: Mapping[Step, float]


@dataclass(frozen=True)
class SubsetProgram:
    """The linear programs over all mechanisms on the parts of one database."""

    index: Mapping[Subset, int]
    steps: tuple[tuple[int, int], ...]
    epsilon: float

    @property
    def growth(self) -> float:
        """The largest ratio of neighbours, to the nearest floating-point number."""
        return math.exp(self.epsilon)

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
        return cls(index, steps, epsilon)

    def largest_ratio(self, numerator: Weights, denominator: Weights) -> CertifiedRatio:
        """Return the largest ratio of the two expectations of a function with bounded ratios.

        The program is solved again in the scale of the last function until what is proved and
        what is attained agree.

        Raises
        ------
        InvalidInput
            If they do not.
        """
        above, below = self._weights(numerator), self._weights(denominator)
        scale = np.ones(len(self.index))
        best: CertifiedRatio | None = None
        for _ in range(_ROUNDS):
            solution = self._solve(above, below, scale)
            if solution is None:
                continue
            function, multipliers = solution
            scale = self._repaired(function * scale)
            found = self._certified(numerator, denominator, scale, multipliers)
            best = found if best is None else _nearer(best, found)
            if best.proved <= best.attained * (1 + Fraction(_CLOSE)):
                return best
        if best is not None and best.proved <= best.attained * (1 + Fraction(_CERTIFIED)):
            return best
        raise InvalidInput(
            "The exact linear program could not be solved reliably; use a closed form, or a "
            "smaller database or epsilon."
        )

    def _certified(
        self,
        numerator: Weights,
        denominator: Weights,
        function: FloatArray,
        multipliers: FloatArray,
    ) -> CertifiedRatio:
        """Return what a function with bounded ratios attains, and what multipliers prove."""
        parts = list(self.index)
        values = dict(zip(parts, function.tolist(), strict=True))
        first, second = self._pairs
        used = {
            (parts[one], parts[other]): weight
            for one, other, weight in zip(
                first.tolist(), second.tolist(), multipliers.tolist(), strict=True
            )
            if weight > 0
        }
        return CertifiedRatio(
            self.proved(used, numerator, denominator),
            expectation(numerator, values) / expectation(denominator, values),
            values,
            used,
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
        repaired = as_array(repaired / repaired.max())
        growth = max(1.0, float(growth_between(self.epsilon)[0]) * _SHRINK)
        while True:
            limits = repaired.copy()
            np.minimum.at(limits, first, growth * repaired[second])
            if (limits == repaired).all():
                return repaired
            repaired = limits

    def is_bounded(self, function: Weights) -> bool:
        """Tell whether all ratios of a positive function are bounded, in rational numbers."""
        growth = growth_between(self.epsilon)[0]
        exact = {subset: Fraction(value) for subset, value in function.items()}
        parts = list(self.index)
        return all(value > 0 for value in exact.values()) and all(
            exact[parts[one]] <= growth * exact[parts[other]]
            and exact[parts[other]] <= growth * exact[parts[one]]
            for one, other in self.steps
        )

    def proved(
        self, multipliers: Mapping[Step, float], numerator: Weights, denominator: Weights
    ) -> Fraction:
        """Return the bound that multipliers prove, after what they leave open is moved on.

        For every function `g` with bounded ratios, and multipliers `y >= 0` of the inequalities
        `g(C) <= E g(C')`, written `A g <= 0`, `sum above g <= sum (above - A^T y) g`. What remains
        at a part that the denominator does not see is moved to a neighbour nearer to one that it
        does see, at the price of a factor `E`. All of it grows with `E`, which is rounded up.
        """
        growth = growth_between(self.epsilon)[1]
        remaining = {subset: Fraction(numerator.get(subset, 0)) for subset in self.index}
        for (one, other), weight in multipliers.items():
            exact = Fraction(weight)
            remaining[one] -= exact
            remaining[other] += growth * exact
        seen = {subset: Fraction(weight) for subset, weight in denominator.items() if weight}
        next_one, order = self._towards(seen)
        for part in reversed(order):
            if part not in seen and remaining[part] > 0:
                remaining[next_one[part]] += growth * remaining[part]
        return max(remaining[part] / weight for part, weight in seen.items())

    def _towards(self, seen: Iterable[Subset]) -> tuple[dict[Subset, Subset], list[Subset]]:
        """Return the next part on a shortest way to one of these, and all by their distance."""
        parts = list(self.index)
        neighbours: dict[Subset, list[Subset]] = {part: [] for part in parts}
        for one, other in self.steps:
            neighbours[parts[one]].append(parts[other])
            neighbours[parts[other]].append(parts[one])
        order = list(seen)
        reached, next_one = set(order), {}
        for part in order:  # which grows meanwhile
            for neighbour in neighbours[part]:
                if neighbour not in reached:
                    reached.add(neighbour)
                    next_one[neighbour] = part
                    order.append(neighbour)
        return next_one, order

    def largest_excess(
        self,
        first: Weights,
        second: Weights,
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

    def _weights(self, distribution: Weights) -> FloatArray:
        weights = np.zeros(len(self.index))
        for subset, probability in distribution.items():
            weights[self.index[subset]] = float(probability)
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


def _nearer(one: CertifiedRatio, other: CertifiedRatio) -> CertifiedRatio:
    """Return the smaller of two proved bounds with the larger of two attained ratios."""
    upper = min(one, other, key=lambda ratio: ratio.proved)
    lower = max(one, other, key=lambda ratio: ratio.attained)
    return CertifiedRatio(upper.proved, lower.attained, lower.function, upper.multipliers)


def expectation(weights: Weights, values: Weights) -> Fraction:
    """Return a sum of products, in rational numbers."""
    return sum(
        (Fraction(weight) * Fraction(values[subset]) for subset, weight in weights.items()),
        Fraction(0),
    )


def growth_between(epsilon: float) -> tuple[Fraction, Fraction]:
    """Return the two neighbouring floating-point numbers between which `e^epsilon` is.

    Examples
    --------
    >>> below, above = growth_between(1.0)
    >>> below < above, float(below), float(above)
    (True, 2.718281828459045, 2.7182818284590455)
    >>> growth_between(0.0)
    (Fraction(1, 1), Fraction(1, 1))
    """
    if epsilon == 0:
        return Fraction(1), Fraction(1)
    power = Context(prec=_DIGITS).exp(Decimal(epsilon))  # half a unit of its last digit off
    below = not_above(Fraction(power.next_minus(Context(prec=_DIGITS))))
    above = not_below(Fraction(power.next_plus(Context(prec=_DIGITS))))
    return Fraction(below), Fraction(above)


def loss_not_below(ratio: Fraction) -> float:
    """Return a floating-point number not below the logarithm of a ratio, and not below 0.

    Examples
    --------
    >>> loss_not_below(Fraction(2)), loss_not_below(Fraction(1)), loss_not_below(Fraction(1, 2))
    (0.6931471805599454, 0.0, 0.0)
    """
    if ratio <= 1:
        return 0.0
    up = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    quotient = up.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return not_below(Fraction(up.ln(quotient).next_plus(up)))


def loss_not_above(ratio: Fraction) -> float:
    """Return a floating-point number not above the logarithm of a ratio, or 0 if that is smaller.

    Examples
    --------
    >>> loss_not_above(Fraction(2)), loss_not_above(Fraction(1, 2))
    (0.6931471805599453, 0.0)
    """
    if ratio <= 1:
        return 0.0
    down = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    quotient = down.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return not_above(Fraction(max(down.ln(quotient).next_minus(down), Decimal(0))))


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
