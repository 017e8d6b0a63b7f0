"""Any suppression at all, for one pair of databases, given by its distribution over subsets.

For `D` and `D' = D + y` a suppression is two distributions: what is left of `D`, and what is left
of `D'`. Three answers to what the pair loses under every (epsilon, delta)-DP mechanism:

- `theorem_5_3` and `theorem_b_6` of the omitting-records paper, closed forms and upper bounds;
- `exact`, the linear program over all mechanisms, for small databases.

The linear program: the probability `g(C)` that a pure epsilon-DP mechanism answers in a given set
may be any positive function whose ratio between neighbours is at most `e^epsilon` (small multiples
of it are probabilities of a one-bit mechanism), and such a function on the subsets of `D'` extends
to all databases. So the largest ratio of the two expectations is a linear-fractional program.

A loss for one pair of databases is not a guarantee: that is the largest loss over all pairs.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array, expm1_ratio, log_mix
from omit.errors import InvalidInput

Subset: TypeAlias = tuple[Hashable, ...]
Assignment: TypeAlias = Mapping[Any, Any]

# Beyond these the linear program is too large, or its coefficients too far apart to be solved.
LARGEST_PROGRAM = 1024
LARGEST_PROGRAM_EPSILON = 10.0
# How far the attained value and the proved bound of a linear program may lie apart.
_CERTIFIED = 1e-6
_ROUNDS = 4

_SUM_TOLERANCE = 1e-9


class PairLoss(NamedTuple):
    """What one pair of databases loses, in both directions.

    `presence` bounds the output on `D + y` by that on `D`, `absence` the other way round; each
    has the delta of its own proof.
    """

    presence: float
    presence_delta: float
    absence: float
    absence_delta: float

    @property
    def epsilon(self) -> float:
        """The larger epsilon of the two directions."""
        return max(self.presence, self.absence)

    @property
    def delta(self) -> float:
        """The larger delta of the two directions."""
        return max(self.presence_delta, self.absence_delta)

    @classmethod
    def by_shift_rule(
        cls, presence: float, absence: float, epsilon: float, delta: float
    ) -> PairLoss:
        """Return the loss with the deltas that follow from the two pure epsilons.

        Examples
        --------
        >>> PairLoss.by_shift_rule(1.5, 0.5, epsilon=1.0, delta=1e-6).delta
        2.02626193949...e-06
        """
        if not delta:
            return cls(presence, 0.0, absence, 0.0)
        if epsilon == 0:
            raise InvalidInput(
                "Expected epsilon > 0 where delta > 0: for one pair of databases, delta is known "
                "at a positive epsilon only."
            )
        deltas = delta * expm1_ratio([presence, absence], epsilon)
        return cls(presence, float(deltas[0]), absence, float(deltas[1]))


@dataclass(frozen=True)
class SubsetPair:
    """What a suppression leaves of `D`, and what it leaves of `D` with one record more.

    Make it with `from_distributions`, which checks everything.

    Examples
    --------
    >>> pair = SubsetPair.from_distributions(
    ...     database="a",
    ...     record="y",
    ...     without={"": 0.5, "a": 0.5},
    ...     with_record={"": 0.25, "a": 0.25, "y": 0.25, "ay": 0.25},
    ... )
    >>> round(pair.exact(1.0).epsilon, 9), round(pair.theorem_5_3(1.0).epsilon, 9)
    (0.620114507, 0.620114507)
    """

    database: Subset
    record: Hashable
    without: Mapping[Subset, float]
    with_record: Mapping[Subset, float]

    @classmethod
    def from_distributions(
        cls,
        database: Iterable[Hashable],
        record: Hashable,
        without: Mapping[Any, float],
        with_record: Mapping[Any, float],
    ) -> SubsetPair:
        """Return the pair, with every subset brought into one order.

        Parameters
        ----------
        database : iterable
            The records of `D`. Equal records are allowed.
        record : hashable
            The record that `D'` has more.
        without, with_record : mapping
            For each possible output, as an iterable of records, its probability.

        Raises
        ------
        InvalidInput
            If a probability is not one, a distribution does not sum to 1, or an output is not a
            part of its database.
        """
        smaller = in_order(database)
        larger = in_order((*smaller, record))
        return cls(
            smaller,
            record,
            _distribution("without", without, smaller),
            _distribution("with_record", with_record, larger),
        )

    def support_gap(self) -> Subset | None:
        """Return a subset of `D` at which the support condition fails, or None if it holds.

        The condition of Theorem 5.3: a subset `C` of `D` can be left of `D` exactly when `C` or
        `C + y` can be left of `D'`.
        """
        possible, reachable = set(self.without), set(self._reachable())
        gaps = sorted(possible ^ reachable, key=lambda subset: (len(subset), repr(subset)))
        return gaps[0] if gaps else None

    def theorem_5_3(self, epsilon: float, delta: float = 0.0) -> PairLoss:
        """Return the bound of Theorem 5.3 (with the logarithm that its statement lacks).

        Raises
        ------
        InvalidInput
            If the support condition fails, or the added record is equal to one of `D`.
        """
        self._require_record_apart()
        gap = self.support_gap()
        if gap is not None:
            raise InvalidInput(
                f"Theorem 5.3 needs the support condition, which fails at the subset {list(gap)}; "
                "Theorem B.6 and the exact linear program do without it."
            )
        identity = {subset: subset for subset in self.without}
        return self.theorem_b_6(epsilon, delta, identity, identity)

    def theorem_b_6(
        self,
        epsilon: float,
        delta: float = 0.0,
        from_without: Assignment | None = None,
        from_with: Assignment | None = None,
    ) -> PairLoss:
        """Return the bound of Theorem B.6 for a choice of assignments.

        Parameters
        ----------
        epsilon, delta : float
            The guarantee of the mechanism.
        from_without : mapping, optional
            For every possible output `C` on `D`, a subset `C*` of `D` such that `C*` or `C* + y` is
            possible on `D'`.
        from_with : mapping, optional
            For every such `C*`, a possible output on `D`.
            Both default to the nearest subset, itself where possible.

        Raises
        ------
        InvalidInput
            If an assignment leaves its range, or the added record is equal to one of `D`.
        """
        epsilon, delta = _closed_form_epsilon(epsilon), _validate.delta(delta)
        self._require_record_apart()
        reachable = self._reachable()
        forward = _assignment("from_without", from_without, self.without, reachable)
        backward = _assignment("from_with", from_with, reachable, self.without)
        growth = math.exp(epsilon)
        # For each target: the weight pulled onto it, and the delta of pulling it there.
        pulled: dict[Subset, float] = {}
        absence_delta = presence_delta = 0.0
        for subset, target in forward.items():
            steps = distance(subset, target)
            weight = self.without[subset]
            pulled[target] = pulled.get(target, 0.0) + growth**steps * weight
            absence_delta += _geometric_sum(growth, steps) * weight
        absence = 0.0
        for target, weight in pulled.items():
            plain, added = reachable[target]
            denominator = plain + added / growth
            absence = max(absence, weight / denominator)
            absence_delta += weight * (added / growth) / denominator
        pulled = {}
        for subset, target in backward.items():
            plain, added = reachable[subset]
            steps = distance(subset, target)
            pulled[target] = pulled.get(target, 0.0) + growth**steps * (plain + growth * added)
            presence_delta += _geometric_sum(growth, steps) * plain
            presence_delta += _geometric_sum(growth, steps + 1) * added
        presence = max(weight / self.without[target] for target, weight in pulled.items())
        return PairLoss(
            math.log(presence), delta * presence_delta, math.log(absence), delta * absence_delta
        )

    def exact(self, epsilon: float, delta: float = 0.0) -> PairLoss:
        """Return the exact loss, over all pure epsilon-DP mechanisms, by linear programming.

        To an absolute precision of 1e-6 and never too small: the value returned is proved, and
        one within that precision attained. The deltas follow by the shift rule.

        Raises
        ------
        InvalidInput
            If the program would be too large, or epsilon too large to solve it reliably.
        """
        epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
        program = _Program.of(self, epsilon)
        return PairLoss.by_shift_rule(
            math.log(program.largest_ratio(self.with_record, self.without)),
            math.log(program.largest_ratio(self.without, self.with_record)),
            epsilon,
            delta,
        )

    def exact_delta(self, epsilon: float, delta: float, epsilon_after: float) -> float:
        """Return the smallest delta' such that the pair loses at most (epsilon_after, delta').

        Over all (epsilon, delta)-DP mechanisms and both directions, by linear programming.
        """
        epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
        program = _Program.of(self, epsilon)
        growth = math.exp(_closed_form_epsilon(epsilon_after))
        return max(
            program.largest_excess(self.with_record, self.without, growth, delta),
            program.largest_excess(self.without, self.with_record, growth, delta),
        )

    def lower_bound(self, epsilon: float) -> float:
        """Return the epsilon below which no bound for this pair can go (Proposition B.8).

        It is that of Poisson sampling at the probability with which the added record is kept.
        """
        copies = self.database.count(self.record)
        kept = sum(
            weight
            for subset, weight in self.with_record.items()
            if subset.count(self.record) > copies
        )
        return float(log_mix(_validate.epsilon(epsilon), min(kept, 1.0)))

    def _require_record_apart(self) -> None:
        if self.record in self.database:
            raise InvalidInput(
                f"Theorems 5.3 and B.6 tell the added record {self.record!r} from the others; "
                "give equal records different names, or use the exact linear program."
            )

    def _reachable(self) -> dict[Subset, tuple[float, float]]:
        """Return each `C` of `D` such that `D'` leaves `C` or `C + y`, with both probabilities."""
        found: dict[Subset, tuple[float, float]] = {}
        for subset, weight in self.with_record.items():
            if self.record in subset:
                index = subset.index(self.record)
                rest = subset[:index] + subset[index + 1 :]
                found[rest] = (found.get(rest, (0.0, 0.0))[0], weight)
            else:
                found[subset] = (weight, found.get(subset, (0.0, 0.0))[1])
        return found


def in_order(records: Iterable[Hashable]) -> Subset:
    """Return a multiset as a tuple in a fixed order, the same for equal records."""
    return tuple(sorted(records, key=_place))


def _place(record: Hashable) -> tuple[bool, float, str]:
    if isinstance(record, int | float):
        return False, float(record), ""
    return True, 0.0, repr(record)


def _closed_form_epsilon(epsilon: float) -> float:
    """Return an epsilon whose exponential exists."""
    if _validate.epsilon(epsilon) > 700:
        raise InvalidInput(f"Expected epsilon={epsilon:g} to be at most 700 for a closed form.")
    return epsilon


def distance(first: Subset, second: Subset) -> int:
    """Return the number of records to add and remove to get from one multiset to the other.

    Examples
    --------
    >>> distance(("a", "a", "b"), ("a", "c"))
    3
    """
    difference = Counter(first)
    difference.subtract(Counter(second))
    return sum(abs(count) for count in difference.values())


@dataclass(frozen=True)
class _Program:
    """The linear programs over all mechanisms on the parts of one database."""

    index: Mapping[Subset, int]
    steps: tuple[tuple[int, int], ...]
    growth: float

    @classmethod
    def of(cls, pair: SubsetPair, epsilon: float) -> _Program:
        larger = in_order((*pair.database, pair.record))
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
        `A g <= 0`. What is left at a part that the denominator does not see is moved to a
        neighbour nearer to one that it does see, at the price of a factor.
        """
        first, second = self._pairs
        multipliers = np.maximum(multipliers, 0.0)
        left = above.copy()
        np.subtract.at(left, first, multipliers)
        np.add.at(left, second, self.growth * multipliers)
        distance = np.where(below > 0, 0, len(self.index))
        while True:
            nearer = distance.copy()
            np.minimum.at(nearer, first, distance[second] + 1)
            if (nearer == distance).all():
                break
            distance = nearer
        next_one = np.full(len(left), -1)
        towards = distance[second] == distance[first] - 1
        next_one[first[towards]] = second[towards]
        for part in np.argsort(-distance):
            if distance[part] > 0 and left[part] > 0:
                left[next_one[part]] += self.growth * left[part]
                left[part] = 0.0
        seen = below > 0
        return float((left[seen] / below[seen]).max())

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


def _distribution(name: str, given: Mapping[Any, float], whole: Subset) -> dict[Subset, float]:
    """Return the possible outputs in one order, after all checks."""
    available = Counter(whole)
    distribution: dict[Subset, float] = {}
    for kept, weight in given.items():
        subset = in_order(kept)
        probability = _validate.probability(f"{name}[{list(subset)}]", weight)
        if Counter(subset) - available:
            raise InvalidInput(f"Expected {name}[{list(subset)}] to be a part of {list(whole)}.")
        if probability:
            distribution[subset] = distribution.get(subset, 0.0) + probability
    total = math.fsum(distribution.values())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise InvalidInput(f"Expected the probabilities of {name} to sum to 1, got {total:.12g}.")
    return {subset: weight / total for subset, weight in distribution.items()}


def _assignment(
    name: str, given: Assignment | None, domain: Iterable[Subset], image: Iterable[Subset]
) -> dict[Subset, Subset]:
    """Return a checked assignment, by default to the nearest subset of the image."""
    targets = list(image)
    if given is None:
        return {
            subset: min(targets, key=lambda target: (distance(subset, target), repr(target)))
            for subset in domain
        }
    ordered = {in_order(subset): in_order(target) for subset, target in given.items()}
    assigned: dict[Subset, Subset] = {}
    for subset in domain:
        if subset not in ordered:
            raise InvalidInput(f"Expected {name} to say where {list(subset)} goes.")
        if ordered[subset] not in targets:
            raise InvalidInput(
                f"Expected {name} to send {list(subset)} to a possible output, "
                f"not to {list(ordered[subset])}."
            )
        assigned[subset] = ordered[subset]
    return assigned


def _geometric_sum(ratio: float, terms: int) -> float:
    return math.fsum(ratio**power for power in range(terms))
