"""What a suppression costs one pair of neighbouring databases, `D` and `D' = D + y`.

A loss for one pair of databases is not a guarantee: that is the largest loss over all pairs.

*Any suppression* is two distributions over subsets, of what is kept of `D` and of `D'`
(`SubsetPair`). Three answers to what the pair loses under every (epsilon, delta)-DP mechanism:

- `theorem_5_3` and `theorem_b_6` of the omitting-records paper, closed forms and upper bounds;
- `exact`, the linear program over all mechanisms (`subset_program`), for small databases.

*Independent suppression* deletes records independently, with probabilities that may depend on the
whole database (`IndependentPair`). Let `o` and `o'` be a record's deletion probabilities under `D`
and `D'`, and `o_y` that of the added record. Then the largest ratio of probabilities that any pure
epsilon-DP mechanism can show is a product over the records, with one Moebius function per record
(documentation, "The mixture bound"). It is exact if the mechanism can tell equal records apart, and
an upper bound if it sees a multiset.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array, expm1_ratio, log_mix, not_below, raised
from omit._validate import shown
from omit.errors import InvalidInput
from omit.omissions.assignments import Shares, best_division, best_function
from omit.omissions.subset_program import (
    Subset,
    SubsetProgram,
    growth_between,
    in_order,
    loss_not_below,
)

Assignment: TypeAlias = Mapping[Any, Any]
_Weighted: TypeAlias = Mapping[Subset, float]

_SUM_TOLERANCE = 1e-9
# What rounding may take off a product of exponentials, with room to spare, for an epsilon of 1.
_ROUNDING = 2.0**-50
# How many pairs of subsets are compared to find the nearest ones, in some seconds.
_LARGEST_SEARCH = 1_000_000
# Every further record doubles the number of subsets.
_MOST_SUBSET_RECORDS = 16


class PairLoss(NamedTuple):
    """What one pair of databases loses, in both directions.

    `presence` bounds the output on `D + y` by that on `D`, `absence` the other way round; both
    have the delta of their own proof.

    Examples
    --------
    >>> from omit.omissions import IndependentPair
    >>> loss = IndependentPair((0.1, 0.2), (0.2, 0.3), 0.1).loss(1.0)
    >>> round(loss.presence, 6), round(loss.absence, 6)
    (1.191872, 0.986409)
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
        presence, absence = _loss("presence", presence), _loss("absence", absence)
        epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
        if not delta:
            return cls(presence, 0.0, absence, 0.0)
        if epsilon == 0:
            raise InvalidInput(
                "Expected epsilon > 0 where delta > 0: for one pair of databases, delta is known "
                "at a positive epsilon only."
            )
        first, second = (delta * expm1_ratio([presence, absence], epsilon)).tolist()
        return cls(
            presence,
            raised(first, _ROUNDING * (1 + presence)),
            absence,
            raised(second, _ROUNDING * (1 + absence)),
        )


def _loss(name: str, value: float) -> float:
    """Return a loss, which may be too large for a number, but not undefined or below all."""
    unbounded = isinstance(value, float) and value == math.inf
    return value if unbounded else _validate.finite(name, value)


@dataclass(frozen=True)
class SubsetPair:
    """What a suppression keeps of `D`, and what it keeps of `D` with one record more.

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
    without: Mapping[Subset, Any]
    with_record: Mapping[Subset, Any]

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
            The probabilities of all possible outputs, which are iterables of records.

        Raises
        ------
        InvalidInput
            If a probability is not one, a distribution does not sum to 1, or an output is not a
            part of its database.
        """
        smaller = in_order(_records("database", database))
        larger = in_order(_records("record", (*smaller, record)))
        return cls(
            smaller,
            record,
            _distribution("without", without, smaller),
            _distribution("with_record", with_record, larger),
        )

    def told_apart(self) -> SubsetPair:
        """Return the pair with equal records told apart: which copies are kept is left to chance.

        A mechanism that sees a multiset loses on this pair what it loses on the other, so bounds
        that need the added record to be unlike all others bound that loss, too.

        Examples
        --------
        >>> pair = SubsetPair.from_distributions("x", "x", {"x": 1.0}, {"x": 0.5, "xx": 0.5})
        >>> round(pair.told_apart().theorem_b_6(1.0).epsilon, 4)
        1.2402
        """
        copies = _Copies(in_order((*self.database, self.record)))
        last = (self.record, self.database.count(self.record))
        return SubsetPair(
            in_order(copies.named(self.database)),
            copies.names[last],
            copies.apart(self.without, self.database),
            copies.apart(self.with_record, in_order((*self.database, self.record))),
        )

    def support_gap(self) -> Subset | None:
        """Return a subset of `D` at which the support condition fails, or None if it holds.

        The condition of Theorem 5.3: a subset `C` of `D` can be what is kept of `D` exactly when
        `C` or `C + y` can be what is kept of `D'`.
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
                "Theorem 5.3 needs the support condition, which fails at the subset "
                f"{shown(list(gap))}; Theorem B.6 and the exact linear program do without it."
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
            possible on `D'`; or several, with their shares.
        from_with : mapping, optional
            For every such `C*`, a possible output on `D`, or several with their shares.
            Both default to the nearest subset, itself where possible; `best_functions` and
            `best_assignments` find better ones.

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
        farthest = max(
            distance(subset, target)
            for shares in (forward, backward)
            for subset, targets in shares.items()
            for target in targets
        )
        _closed_form_epsilon(epsilon, farthest + 1)
        # All of it grows with e^epsilon, which is rounded up; everything else is exact.
        growth = growth_between(epsilon)[1]
        power = [growth**steps for steps in range(farthest + 1)]
        sums = [Fraction(0), *itertools.accumulate((*power, growth ** (farthest + 1)))]
        # The weight pulled onto every target, and the delta of pulling it there.
        pulled: defaultdict[Subset, Fraction] = defaultdict(Fraction)
        absence = absence_delta = presence_delta = Fraction(0)
        for subset, target, share in _shares_of(forward):
            steps, weight = distance(subset, target), Fraction(self.without[subset]) * share
            pulled[target] += power[steps] * weight
            absence_delta += sums[steps] * weight
        for target, weight in pulled.items():
            plain, added = (Fraction(part) for part in reachable[target])
            room = plain + added / growth
            absence = max(absence, weight / room)
            absence_delta += weight * (added / growth) / room
        pulled.clear()
        for subset, target, share in _shares_of(backward):
            plain, added = (Fraction(part) * share for part in reachable[subset])
            steps = distance(subset, target)
            pulled[target] += power[steps] * (plain + growth * added)
            presence_delta += sums[steps] * plain + sums[steps + 1] * added
        presence = max(weight / Fraction(self.without[target]) for target, weight in pulled.items())
        return PairLoss(
            loss_not_below(presence),
            not_below(Fraction(delta) * presence_delta),
            loss_not_below(absence),
            not_below(Fraction(delta) * absence_delta),
        )

    def best_assignments(self, epsilon: float) -> tuple[Assignment, Assignment]:
        """Return the best fractional assignments of Theorem B.6, in the order it takes them.

        Found by a linear program. With them the theorem has the exact loss of the pair.

        Raises
        ------
        InvalidInput
            If the program is too large, or the added record is equal to one of `D`.

        Examples
        --------
        >>> pair = SubsetPair.from_distributions(
        ...     "ab", "y", without={"ab": 0.5, "": 0.5}, with_record={"ay": 0.5, "b": 0.5}
        ... )
        >>> round(pair.theorem_b_6(1.0).epsilon, 4)
        2.6931
        >>> round(pair.theorem_b_6(1.0, 0.0, *pair.best_assignments(1.0)).epsilon, 4)
        1.6201
        """
        epsilon = _closed_form_epsilon(epsilon)
        forward, backward = self._to_assign(epsilon)
        return best_division(*forward, epsilon), best_division(*backward, epsilon)

    def best_functions(
        self, epsilon: float, seconds: float = 5.0
    ) -> tuple[Assignment, Assignment] | None:
        """Return the best assignments of Theorem B.6 that are functions, if that is proved.

        None where it is not, within these seconds for each.

        Raises
        ------
        InvalidInput
            If the added record is equal to one of `D`.
        """
        epsilon = _closed_form_epsilon(epsilon)
        forward, backward = self._to_assign(epsilon)
        limit = _validate.positive("seconds", seconds)
        first = best_function(*forward, epsilon, limit)
        second = None if first is None else best_function(*backward, epsilon, limit)
        return None if first is None or second is None else (first, second)

    def _to_assign(
        self, epsilon: float
    ) -> tuple[tuple[_Weighted, _Weighted], tuple[_Weighted, _Weighted]]:
        """Return what is assigned to what, with weights, for absence and for presence."""
        growth = math.exp(epsilon)
        self._require_record_apart()
        reachable = self._reachable()
        without = {subset: float(weight) for subset, weight in self.without.items()}
        room = {subset: plain + added / growth for subset, (plain, added) in reachable.items()}
        load = {subset: plain + added * growth for subset, (plain, added) in reachable.items()}
        return (without, room), (load, without)

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
        program = SubsetProgram.of(in_order((*self.database, self.record)), epsilon)
        return PairLoss.by_shift_rule(
            loss_not_below(program.largest_ratio(self.with_record, self.without).proved),
            loss_not_below(program.largest_ratio(self.without, self.with_record).proved),
            epsilon,
            delta,
        )

    def exact_delta(self, epsilon: float, delta: float, epsilon_after: float) -> float:
        """Return the smallest delta' such that the pair loses at most (epsilon_after, delta').

        Over all (epsilon, delta)-DP mechanisms and both directions, by linear programming.
        """
        epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
        program = SubsetProgram.of(in_order((*self.database, self.record)), epsilon)
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
                f"Theorems 5.3 and B.6 tell the added record {shown(self.record)} from the others; "
                "give equal records different names, or use the exact linear program."
            )

    def _reachable(self) -> dict[Subset, tuple[float, float]]:
        """Return all `C` of `D` such that `D'` leaves `C` or `C + y`, with both probabilities."""
        reachable: dict[Subset, tuple[float, float]] = {}
        for subset, weight in self.with_record.items():
            if self.record in subset:
                index = subset.index(self.record)
                rest = subset[:index] + subset[index + 1 :]
                reachable[rest] = (reachable.get(rest, (0.0, 0.0))[0], weight)
            else:
                reachable[subset] = (weight, reachable.get(subset, (0.0, 0.0))[1])
        return reachable


class _Copies:
    """Numbers for the records of a database, different for equal ones."""

    def __init__(self, database: Subset) -> None:
        self.names: dict[tuple[Hashable, int], int] = {}
        for number, record in enumerate(database):
            copy = sum(1 for known, _ in self.names if known == record)
            self.names[record, copy] = number

    def named(self, database: Subset) -> list[int]:
        """Return the numbers of a database that has the first so many copies of every record."""
        return [
            self.names[record, copy]
            for record, count in Counter(database).items()
            for copy in range(count)
        ]

    def apart(self, law: Mapping[Subset, Any], database: Subset) -> dict[Subset, Any]:
        """Return the law of numbers, every choice of copies being as probable as any other."""
        available = Counter(database)
        spread: dict[Subset, Any] = {}
        for subset, weight in law.items():
            kept = Counter(subset)
            choices = [
                itertools.combinations(
                    [self.names[record, copy] for copy in range(count)], kept[record]
                )
                for record, count in available.items()
            ]
            ways = math.prod(math.comb(count, kept[record]) for record, count in available.items())
            for chosen in itertools.product(*choices):
                spread[in_order(itertools.chain.from_iterable(chosen))] = weight / ways
        return spread


def _closed_form_epsilon(epsilon: float, steps: int = 1) -> float:
    """Return an epsilon whose exponential exists, also for this many steps."""
    epsilon = _validate.epsilon(epsilon)
    if epsilon * steps > 700:
        most = 700 / steps
        raise InvalidInput(
            f"Expected epsilon={epsilon:g} to be at most {most:g} for a closed form."
        )
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


def _distribution(name: str, given: Mapping[Any, float], whole: Subset) -> dict[Subset, float]:
    """Return the possible outputs in one order, after all checks."""
    available = Counter(whole)
    distribution: dict[Subset, float] = {}
    _validate.mapping(name, given, "from what is kept to its probability")
    for kept, weight in given.items():
        subset = in_order(_records(name, kept))
        probability = _validate.probability(f"{name}[{shown(list(subset))}]", weight)
        if any(count > available[record] for record, count in Counter(subset).items()):
            raise InvalidInput(
                f"Expected {name}[{shown(list(subset))}] to be a part of {shown(list(whole))}."
            )
        if probability:
            distribution[subset] = distribution.get(subset, 0.0) + probability
    total = math.fsum(distribution.values())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise InvalidInput(f"Expected the probabilities of {name} to sum to 1, got {total:.12g}.")
    return {subset: weight / total for subset, weight in distribution.items()}


def _assignment(
    name: str, given: Assignment | None, domain: Iterable[Subset], image: Iterable[Subset]
) -> Shares:
    """Return a checked assignment as shares, by default to the nearest subset of the image."""
    targets = dict.fromkeys(image)
    if given is None:
        apart = [subset for subset in domain if subset not in targets]
        if len(apart) * len(targets) > _LARGEST_SEARCH:
            raise InvalidInput(
                f"Expected {name} for {len(apart):,} subsets that are not possible on the other "
                f"side: looking for the nearest of {len(targets):,} goes up to "
                f"{_LARGEST_SEARCH:,} pairs."
            )
        nearest = {
            subset: min(targets, key=lambda target: (distance(subset, target), repr(target)))
            for subset in apart
        }
        return {subset: {nearest.get(subset, subset): 1.0} for subset in domain}
    _validate.mapping(name, given, "from subsets to subsets")
    ordered = {
        in_order(_records(name, subset)): _targets(name, target) for subset, target in given.items()
    }
    assigned: Shares = {}
    for subset in domain:
        if subset not in ordered:
            raise InvalidInput(f"Expected {name} to say where {list(subset)} goes.")
        for target in ordered[subset]:
            if target not in targets:
                raise InvalidInput(
                    f"Expected {name} to send {list(subset)} to a possible output, "
                    f"not to {list(target)}."
                )
        assigned[subset] = ordered[subset]
    return assigned


def _targets(name: str, given: Any) -> dict[Subset, float]:
    """Return where a subset goes, with shares whose sum is 1."""
    if not isinstance(given, Mapping):
        return {in_order(_records(name, given)): 1.0}
    shares = {
        in_order(_records(name, target)): _validate.probability(f"a share of {name}", share)
        for target, share in given.items()
    }
    total = math.fsum(shares.values())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise InvalidInput(f"Expected the shares of {name} to sum to 1, got {total:.12g}.")
    return {target: share / total for target, share in shares.items() if share}


def _shares_of(assignment: Shares) -> Iterator[tuple[Subset, Subset, Fraction]]:
    """Yield where every subset goes, with shares that sum to exactly 1."""
    for subset, targets in assignment.items():
        shares = {target: Fraction(share) for target, share in targets.items()}
        total = sum(shares.values())
        for target, share in shares.items():
            yield subset, target, share / total


def _records(name: str, values: Iterable[Hashable]) -> Subset:
    """Return records as they were given, or refuse what cannot be told apart or put in order."""
    try:
        records = tuple(values)
        Counter(in_order(records))
        if any(record != record for record in records):
            raise TypeError
    except (TypeError, OverflowError) as error:
        raise InvalidInput(
            f"Expected {name} to hold records that are numbers or texts, got {shown(values)}."
        ) from error
    return records


@dataclass(frozen=True)
class IndependentPair:
    """The deletion probabilities of a database and of its neighbour with one record more.

    Parameters
    ----------
    before : sequence of float
        The probabilities with which the records of `D` are deleted from `D`.
    after : sequence of float
        Those with which the same records, in the same order, are deleted from `D + y`.
    added : float
        The probability that `y` is deleted from `D + y`.

    Examples
    --------
    >>> pair = IndependentPair(before=[0.1] * 5, after=[0.1 + 0.1 / 6] * 5, added=0.1 + 0.5 / 6)
    >>> round(pair.loss(1.0).epsilon, 4)
    0.9976
    """

    before: tuple[float, ...]
    after: tuple[float, ...]
    added: float

    def __post_init__(self) -> None:
        before = _validate.probabilities("before", self.before)
        after = _validate.probabilities("after", self.after)
        if len(before) != len(after):
            raise InvalidInput(
                f"Expected as many probabilities before as after, got {len(before)} and "
                f"{len(after)}."
            )
        object.__setattr__(self, "before", before)
        object.__setattr__(self, "after", after)
        object.__setattr__(self, "added", _validate.probability("added", self.added))

    def loss(self, epsilon: float, delta: float = 0.0) -> PairLoss:
        """Return the exact loss of this pair, over all (epsilon, delta)-DP mechanisms.

        For delta = 0 it is attained; with delta the shift rule gives an upper bound.
        """
        epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
        o, o_after = as_array(self.before), as_array(self.after)
        grows = o_after >= o
        presence = _log_ratio(
            epsilon, np.where(grows, o_after, 1 - o_after), np.where(grows, o, 1 - o)
        )
        absence = _log_ratio(
            epsilon, np.where(grows, 1 - o, o), np.where(grows, 1 - o_after, o_after)
        )
        kept_presence = float(log_mix(epsilon, 1 - self.added))
        kept_absence = float(_log_ratio(epsilon, as_array(1.0), as_array(self.added)))
        return PairLoss.by_shift_rule(
            kept_presence + float(presence.sum()),
            kept_absence + float(absence.sum()),
            epsilon,
            delta,
        )

    def theorem_5_3(self, epsilon: float, delta: float = 0.0) -> PairLoss:
        """Return the bound of Theorem 5.3 in closed form, for any number of records.

        Its maximum over all subsets is a product, because what is best for one record does not
        depend on the others, and its sums for delta have equal terms.

        Raises
        ------
        InvalidInput
            If the support condition fails: some record is deleted for certain, or never, from one
            of the databases only.

        Examples
        --------
        >>> pair = IndependentPair(before=[0.1] * 500, after=[0.1002] * 500, added=0.3)
        >>> round(pair.theorem_5_3(1.0).epsilon, 6), round(pair.loss(1.0).epsilon, 6)
        (1.788729, 0.936339)
        """
        epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
        o, o_after = as_array(self.before), as_array(self.after)
        if ((o == 0) != (o_after == 0)).any() or ((o == 1) != (o_after == 1)).any():
            raise InvalidInput(
                "Theorem 5.3 needs the support condition, which fails where a record is deleted "
                "for certain, or never, from one of the databases only."
            )
        inside = (o > 0) & (o < 1)  # certain ones are the same on both sides
        deleted = np.log(o_after[inside]) - np.log(o[inside])
        kept = np.log1p(-o_after[inside]) - np.log1p(-o[inside])
        # Every logarithm misses by an ulp of its size, and so does every step of the sum.
        size = np.abs(np.log(o[inside])) + np.abs(np.log1p(-o[inside]))  # of one database
        error = 2.0**-50 * (
            1 + float(size.sum()) + float(np.abs(deleted).sum() + np.abs(kept).sum())
        )
        presence = float(log_mix(epsilon, 1 - self.added)) + float(np.maximum(deleted, kept).sum())
        room = float(_log_ratio(epsilon, as_array(1.0), as_array(self.added)))
        absence = room + float(np.maximum(-deleted, -kept).sum())
        share = 1 - self.added
        seen = share * math.exp(room - epsilon)
        return PairLoss(
            presence + error,
            raised(delta * share, 2.0**-50),
            absence + error,
            raised(delta * seen, 2.0**-48 * (1 + epsilon)),
        )

    def to_subsets(self, labels: Sequence[Hashable] | None = None) -> SubsetPair:
        """Return the distributions over subsets, with the records named by `labels`.

        Parameters
        ----------
        labels : sequence, optional
            Those of the records of `D`, then that of the added record. Equal labels are equal
            records. By default all are different.

        Raises
        ------
        InvalidInput
            If the number of labels is wrong.
        """
        size = len(self.before)
        if size > _MOST_SUBSET_RECORDS:
            raise InvalidInput(
                f"Expected at most {_MOST_SUBSET_RECORDS} records to list all subsets, got {size}."
            )
        labels = _records("labels", range(size + 1) if labels is None else labels)
        if len(labels) != size + 1:
            raise InvalidInput(f"Expected {size + 1} labels, got {len(labels)}.")
        return SubsetPair.from_distributions(
            database=labels[:size],
            record=labels[size],
            without=_subset_probabilities(labels[:size], self.before),
            with_record=_subset_probabilities(labels, (*self.after, self.added)),
        )


def _log_ratio(epsilon: float, upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Return `ln((1 + (E - 1) upper) / (1 + (E - 1) lower))` for `upper >= lower`."""
    if epsilon > 30:
        return log_mix(epsilon, upper) - log_mix(epsilon, lower)
    t, s = np.exp(-epsilon), -np.expm1(-epsilon)
    return as_array(np.log1p(s * (upper - lower) / (t + s * lower)))


def _subset_probabilities(
    labels: Sequence[Hashable], deletion: Sequence[float]
) -> dict[tuple[Hashable, ...], float]:
    """Return the distribution of what is kept, by going through the records one by one."""
    distribution: dict[tuple[Hashable, ...], float] = {(): 1.0}
    for label, probability in zip(labels, deletion, strict=True):
        longer: dict[tuple[Hashable, ...], float] = {}
        for kept, weight in distribution.items():
            for outcome, chance in ((kept, probability), ((*kept, label), 1 - probability)):
                longer[outcome] = longer.get(outcome, 0.0) + weight * chance
        distribution = longer
    return distribution
