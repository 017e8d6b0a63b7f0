"""What was computed on what: scopes, what is charged to them, and what is stated in the end.

Statistics computed on the *same* sample must be composed first and amplified once: whoever learns
from one statistic that a record was drawn knows it for the others too. Statistics on independent
samples are amplified one by one and then composed. The gap is large: two 1-DP statistics on the
same 10 of 100 records are .494-DP together, while amplifying both and adding up claims .317.

So that no wrong order can be written, *what can be added has no epsilon, and what has an epsilon
cannot be added*:

- A `Scope` is what a mechanism was run on: all records, or, within another scope, a sample drawn
  from it, an arm of a random split, or a part of a partition. Draws, splits and partitions have an
  identity, which copies and other processes keep.
- A `Charge` is a multiset of guarantees, every one charged to a scope. Its only operation is `+`.
- A `Statement` is what a charge comes to, and nothing is computed from it.

The value of a scope, for one record more or less:

- *its own guarantees*: epsilons and deltas add up (basic composition, adaptively too);
- *a sample*: the omission's `epsilon_after` of the sample's value, delta by the shift rule;
- *the arms of a split*, with shares `p_i` and values `(e_i, d_i)`: `ln(1 + sum p_i (e^e_i - 1))`,
  and the larger of `sum p_i d_i` and `r sum p_i d_i e^-e_i`, `1/r = 1 - sum p_i (1 - e^-e_i)`;
- *the parts of a partition*: the largest epsilon and the largest delta;

and these add up. The documentation ("Several statistics on one sample") has the proofs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, NoReturn, TypeAlias
from uuid import uuid4

from omit import _validate
from omit._numeric import SMALLEST_POSITIVE, not_below, raised
from omit._validate import shown
from omit.errors import InvalidInput, WrongNeighbours
from omit.guarantee import (
    ADD_REMOVE,
    REPLACE,
    Guarantee,
    NoGuarantee,
    Relation,
    Statement,
    guarantee_if_any,
    relation,
    require_guarantee,
)
from omit.omissions.base import ROUNDING, Omission

# Scopes within scopes: far more than anybody means, and few enough to walk up and down.
_DEEPEST = 100


Label: TypeAlias = str | float


def _new_identity() -> str:
    return uuid4().hex


class Scope:
    """What a mechanism was run on: all records, a sample, an arm or a part."""

    @property
    def records(self) -> int | None:
        """How many records it has, where that is known by how it was made."""
        return None

    def draw(self, omission: Omission) -> Sample:
        """Return a new sample of this scope: what the omission leaves of it, drawn once."""
        return Sample(omission, self)

    def split(self, *shares: float) -> tuple[Arm, ...]:
        """Return the arms of a new random split: every record is in one of them, or in none.

        Which arm it is in is drawn for every record independently and stays secret. Under
        add-remove only: exchanging a record does not say which arm it leaves or joins.

        Parameters
        ----------
        *shares : float
            The probabilities of the arms, in (0, 1] and together at most 1.

        Examples
        --------
        >>> first, second = ALL_RECORDS.split(0.5, 0.5)
        >>> print(compose(first.charge(Guarantee(1.0)), second.charge(Guarantee(2.0))))
        (1.620114507, 0)-DP under add-remove
        """
        if not shares:
            raise InvalidInput("Expected at least one share to split by.")
        identity = _new_identity()
        return tuple(Arm(index, shares, self, identity) for index in range(len(shares)))

    def partition(self, *labels: Label) -> tuple[Part, ...]:
        """Return the parts of a new partition, of which every record belongs to one, or to none.

        Which one depends on the record alone, such as its region, by a rule fixed beforehand.

        Parameters
        ----------
        *labels : str or number
            The names of the parts, declared and not taken from the data.

        Examples
        --------
        >>> north, south = ALL_RECORDS.partition("north", "south")
        >>> print(compose(north.charge(Guarantee(1.0)), south.charge(Guarantee(2.0))))
        (2, 0)-DP under add-remove
        """
        identity = _new_identity()
        parts = tuple(Part(label, self, identity) for label in labels)
        if not 0 < len(set(parts)) == len(parts):
            raise InvalidInput(f"Expected different labels to part by, got {shown(labels)}.")
        return parts

    def charge(self, guarantee: Guarantee, times: int = 1) -> Charge:
        """Return the charge of a mechanism with this guarantee that was run on this scope.

        Parameters
        ----------
        guarantee : Guarantee
            What the mechanism promises about its own input.
        times : int
            For how many such mechanisms.

        Raises
        ------
        InvalidInput
            If it is not the guarantee of a mechanism.
        WrongNeighbours
            If nothing is known under its relation about how this scope was made.
        """
        charge = Charge(((self, guarantee, times),))
        # A relation that does not fit is refused here, and not only where all is stated.
        _Account(charge.entries).relations(ALL_RECORDS)
        return charge


@dataclass(frozen=True, repr=False)
class AllRecords(Scope):
    """The whole database; there is one."""

    def __repr__(self) -> str:
        return "ALL_RECORDS"


ALL_RECORDS = AllRecords()


class _Within(Scope, ABC):
    """A scope within another one, with the identity of the draw, split or partition."""

    parent: Scope
    identity: str

    def __post_init__(self) -> None:
        if not isinstance(self.parent, Scope):
            raise InvalidInput(f"Expected a scope such as ALL_RECORDS, got {shown(self.parent)}.")
        if not isinstance(self.identity, str) or not self.identity:
            raise InvalidInput(f"Expected identity={shown(self.identity)} to be a text.")
        if sum(1 for _ in _upwards(self)) > _DEEPEST:
            raise InvalidInput(f"Expected at most {_DEEPEST} scopes, one within the other.")

    @abstractmethod
    def _relations_above(self, relations: Sequence[Relation]) -> Sequence[Relation]:
        """Return under which relations the parent can use a value under any of these."""

    @abstractmethod
    def _seen_above(self, value: Guarantee, neighbours: Relation) -> Guarantee | NoGuarantee:
        """Return what a value of this scope comes to for the parent, under its relation."""

    @property
    def _family(self) -> Hashable:
        """What the arms of one split, and the parts of one partition, have in common."""
        return self

    @staticmethod
    def _together(members: Sequence[tuple[Any, Guarantee]]) -> Guarantee | NoGuarantee:
        """Return what a family of scopes costs the parent, given what its members do."""
        ((_, value),) = members
        return value


@dataclass(frozen=True)
class Sample(_Within):
    """One outcome of an omission, drawn once and used for any number of statistics.

    Drawing again makes another sample, even of the same omission. A copy, or what comes back from
    another process, is the same sample. With another omission or parent it is another draw.

    Parameters
    ----------
    omission : Omission
        How it was drawn.
    parent : Scope
        What it was drawn from.
    identity : str
        Tells draws apart; a new one by default.

    Examples
    --------
    >>> from omit import FixedSizeSampling
    >>> sample = Sample(FixedSizeSampling(size=10, population=100))
    >>> statistic = Guarantee(1.0, neighbours="replace")
    >>> print((sample.charge(statistic) + sample.charge(statistic)).stated())
    (0.4940287081, 0)-DP under replace
    """

    # Not part of the hash, which a user's own omission need not have.
    omission: Omission = field(hash=False)
    parent: Scope = ALL_RECORDS
    identity: str = field(default_factory=_new_identity)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.omission, Omission):
            raise InvalidInput(f"Expected an omission to draw by, got {shown(self.omission)}.")
        given, wanted = self.parent.records, self.omission.records_before
        if given is not None and wanted is not None and given != wanted:
            raise InvalidInput(f"{self.omission} cannot be drawn from a sample of {given} records.")

    @property
    def records(self) -> int | None:
        """How many records the omission leaves, if that is always the same number."""
        return self.omission.records_after

    def _relations_above(self, relations: Sequence[Relation]) -> Sequence[Relation]:
        defined = [name for name in relations if self.omission.defined_for(name)]
        if not defined:
            self.omission.require_relation(Guarantee(0.0, 0.0, relations[0]))
        return defined

    def _seen_above(self, value: Guarantee, neighbours: Relation) -> Guarantee | NoGuarantee:
        return self.omission._after(value)


@dataclass(frozen=True)
class Arm(_Within):
    """One arm of a random split, made by `Scope.split`."""

    index: int
    shares: tuple[float, ...]
    parent: Scope = ALL_RECORDS
    identity: str = field(default_factory=_new_identity)

    def __post_init__(self) -> None:
        super().__post_init__()
        shares = tuple(
            _validate.positive_rate(f"shares[{index}]", share)
            for index, share in enumerate(self.shares)
        )
        if math.fsum(shares) > 1:
            raise InvalidInput(f"Expected shares that sum to at most 1, got {math.fsum(shares):g}.")
        if not isinstance(self.index, int) or self.index not in range(len(shares)):
            raise InvalidInput(
                f"Expected index={shown(self.index)} to be that of one of the shares."
            )
        object.__setattr__(self, "shares", shares)

    def _relations_above(self, relations: Sequence[Relation]) -> Sequence[Relation]:
        if ADD_REMOVE not in relations:
            raise WrongNeighbours(
                f"A split has no bound under the relation {relations[0]}; state the guarantee "
                f"under {ADD_REMOVE}."
            )
        return (ADD_REMOVE,)

    def _seen_above(self, value: Guarantee, neighbours: Relation) -> Guarantee | NoGuarantee:
        return value

    @property
    def _family(self) -> Hashable:
        return Arm, self.shares, self.identity

    @staticmethod
    def _together(members: Sequence[tuple[Arm, Guarantee]]) -> Guarantee | NoGuarantee:
        shares = [arm.shares[arm.index] for arm, _ in members]
        epsilons = [value.epsilon for _, value in members]
        deltas = [value.delta for _, value in members]
        joining = _total(zip(shares, deltas, strict=True))
        leaving = _delta_of_leaving(shares, epsilons, deltas)
        return guarantee_if_any(
            min(raised(_mixed_epsilon(shares, epsilons), ROUNDING), max(epsilons)),
            max(joining, raised(leaving, ROUNDING)),
            ADD_REMOVE,
            f"a split into {len(members[0][0].shares)} arms",
        )


@dataclass(frozen=True)
class Part(_Within):
    """One part of a partition, made by `Scope.partition`."""

    label: Label
    parent: Scope = ALL_RECORDS
    identity: str = field(default_factory=_new_identity)

    def __post_init__(self) -> None:
        super().__post_init__()
        # A copy of anything else may be unequal, and would pass for another part.
        if not isinstance(self.label, str | Real) or self.label != self.label:
            raise InvalidInput(
                f"Expected a label that is a text or a number, got {shown(self.label)}."
            )

    def _relations_above(self, relations: Sequence[Relation]) -> Sequence[Relation]:
        if ADD_REMOVE not in relations:
            # Exchanged for one with another label, a record leaves one part and joins another.
            raise WrongNeighbours(
                f"A part of a partition may gain or lose a record, and a guarantee under "
                f"{relations[0]} says nothing about that; state it under {ADD_REMOVE}."
            )
        return ADD_REMOVE, REPLACE

    def _seen_above(self, value: Guarantee, neighbours: Relation) -> Guarantee | NoGuarantee:
        return value.to(neighbours)

    @property
    def _family(self) -> Hashable:
        return Part, self.identity

    @staticmethod
    def _together(members: Sequence[tuple[Part, Guarantee]]) -> Guarantee | NoGuarantee:
        values = [value for _, value in members]
        return Guarantee(
            max(value.epsilon for value in values),
            max(value.delta for value in values),
            values[0].neighbours,
        )


Entry: TypeAlias = tuple[Scope, Guarantee, int]


@dataclass(frozen=True, eq=False)
class Charge:
    """What was charged to which scopes: it has no epsilon, and can be added.

    Made by `Scope.charge`. Post-processing an answer costs nothing, computing it again does: a
    charge added to itself is two.

    Parameters
    ----------
    entries : tuple of (Scope, Guarantee, int)
        The scope, the guarantee charged to it, and how many times.

    Raises
    ------
    InvalidInput
        If an entry is not of that form.

    Examples
    --------
    >>> from omit.omissions import ALL_RECORDS
    >>> both = ALL_RECORDS.charge(Guarantee(0.5)) + ALL_RECORDS.charge(Guarantee(0.25))
    >>> print(both.stated())
    (0.75, 0)-DP under add-remove
    """

    entries: tuple[Entry, ...]

    def __post_init__(self) -> None:
        merged: dict[tuple[Scope, Guarantee], int] = {}
        for entry in _validate.several("charges as entries", self.entries):
            if not isinstance(entry, tuple) or len(entry) != 3:
                _refuse(entry)
            scope, guarantee, times = entry
            if not isinstance(scope, Scope):
                raise InvalidInput(f"Expected a scope such as ALL_RECORDS, got {shown(scope)}.")
            require_guarantee(guarantee)
            times = _validate.positive_integer("times", times)
            merged[scope, guarantee] = merged.get((scope, guarantee), 0) + times
        entries = tuple((*key, times) for key, times in merged.items())
        object.__setattr__(self, "entries", entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Charge):
            return NotImplemented
        return frozenset(self.entries) == frozenset(other.entries)

    def __hash__(self) -> int:
        return hash(frozenset(self.entries))

    def __add__(self, other: Charge) -> Charge:
        if not isinstance(other, Charge):
            _refuse(other)
        return Charge(self.entries + other.entries)

    def __radd__(self, other: object) -> NoReturn:
        _refuse(other)

    def stated(self) -> Statement | NoGuarantee:
        """Return what holds for everything that was charged, about all records.

        Raises
        ------
        InvalidInput
            If scopes contradict each other.
        WrongNeighbours
            If relations are mixed.

        Examples
        --------
        >>> from omit import PoissonSampling
        >>> sample = ALL_RECORDS.draw(PoissonSampling(rate=0.1))
        >>> on_all = ALL_RECORDS.charge(Guarantee(0.5))
        >>> print((on_all + sample.charge(Guarantee(1.0), times=2)).stated())
        (0.9940287081, 0)-DP under add-remove
        """
        if not self.entries:
            raise InvalidInput("Expected at least one charge to state anything about.")
        account = _Account(self.entries)
        value = account.value(ALL_RECORDS, account.relations(ALL_RECORDS)[0])
        if isinstance(value, NoGuarantee):
            return value
        return Statement(value.epsilon, value.delta, value.neighbours)


def compose(*charges: Charge) -> Statement | NoGuarantee:
    """Return what holds for all that was charged, together: the sum of the charges, stated.

    What was charged to the same sample is composed and then amplified once; the results, and what
    was charged to all records, are composed after that.

    Raises
    ------
    InvalidInput
        If there is nothing to compose, or something that is not a charge.
    WrongNeighbours
        If relations are mixed.

    Examples
    --------
    Two statistics on two independent samples, for comparison:

    >>> from omit import FixedSizeSampling, Guarantee
    >>> drawn = FixedSizeSampling(size=10, population=100)
    >>> statistic = Guarantee(1.0, neighbours="replace")
    >>> print(compose(Sample(drawn).charge(statistic), Sample(drawn).charge(statistic)))
    (0.3171301575, 0)-DP under replace
    """
    for charge in charges:
        if not isinstance(charge, Charge):
            _refuse(charge)
    return Charge(tuple(entry for charge in charges for entry in charge.entries)).stated()


class _Account:
    """What was charged, by scope, and which scopes are within which."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.own: dict[Scope, list[tuple[Guarantee, int]]] = {}
        # A dictionary for its order and its keys; the values mean nothing.
        self.within: dict[Scope, dict[_Within, None]] = {}
        for scope, guarantee, times in entries:
            self.own.setdefault(scope, []).append((guarantee, times))
            if ALL_RECORDS not in _upwards(scope):
                raise InvalidInput(f"Expected a scope within ALL_RECORDS, got {shown(scope)}.")
            for inner in _upwards(scope):
                self.within.setdefault(inner, {})
                if isinstance(inner, _Within):
                    self.within.setdefault(inner.parent, {})[inner] = None
        for siblings in self.within.values():
            _require_consistent([inner for inner in siblings if isinstance(inner, Sample)])

    def relations(self, scope: Scope) -> Sequence[Relation]:
        """Return the relations that everything within the scope can be stated under."""
        options: list[Sequence[Relation]] = [
            (relation(guarantee.neighbours),) for guarantee, _ in self.own.get(scope, ())
        ]
        options += [inner._relations_above(self.relations(inner)) for inner in self.within[scope]]
        common = [name for name in options[0] if all(name in others for others in options)]
        if not common:
            names = dict.fromkeys(str(names[0]) for names in options)
            raise WrongNeighbours(
                f"Cannot add what is charged under {' and '.join(names)}; charge all of it under "
                "one relation."
            )
        return common

    def value(self, scope: Scope, neighbours: Relation) -> Guarantee | NoGuarantee:
        """Return what holds for everything within the scope, about the scope's own records."""
        families: dict[Hashable, list[tuple[_Within, Guarantee]]] = {}
        for inner in self.within[scope]:
            # A part is worked out under add-remove, whatever it is converted to.
            value = self.value(inner, ADD_REMOVE if isinstance(inner, Part) else neighbours)
            if isinstance(value, Guarantee):
                value = inner._seen_above(value, neighbours)
            if isinstance(value, NoGuarantee):
                return value
            families.setdefault(inner._family, []).append((inner, value))
        terms = list(self.own.get(scope, ()))
        for family in families.values():
            together = family[0][0]._together(family)
            if isinstance(together, NoGuarantee):
                return together
            terms.append((together, 1))
        return guarantee_if_any(
            _total((term.epsilon, times) for term, times in terms),
            _total((term.delta, times) for term, times in terms),
            neighbours,
            f"composing {sum(times for _, times in terms)} guarantees",
        )


def _upwards(scope: Scope) -> Iterator[Scope]:
    """Give the scope, the one it is within, and so on up to all records."""
    yield scope
    while isinstance(scope, _Within):
        scope = scope.parent
        yield scope


def _require_consistent(samples: Sequence[Sample]) -> None:
    """Refuse samples of one scope that cannot all have been drawn from it."""
    sizes = [sample.omission.records_before for sample in samples]
    known = sorted({size for size in sizes if size is not None})
    if len(known) > 1:
        raise InvalidInput(
            f"Samples of the same records cannot be drawn from {known[0]} and from {known[1]} of "
            "them; give the same population to all."
        )
    drawn: dict[str, Sample] = {}
    for sample in samples:
        other = drawn.setdefault(sample.identity, sample)
        if other != sample and deepcopy(sample.omission) != sample.omission:
            raise InvalidInput(
                f"Whether two draws by {type(sample.omission).__name__} are the same cannot be "
                "told, since a copy of it is not equal to it; make it a frozen dataclass of values."
            )


def _total(products: Iterable[tuple[float, float]]) -> float:
    """Return the sum of products, rounded up."""
    return not_below(sum((Fraction(one) * Fraction(other) for one, other in products), Fraction()))


def _mixed_epsilon(shares: Sequence[float], epsilons: Sequence[float]) -> float:
    """Return `ln(1 + sum p (e^epsilon - 1))`, without overflow."""
    pairs = [*zip(shares, epsilons, strict=True)]
    largest = max(epsilons)
    if largest < 700:
        mixed = math.log1p(math.fsum(share * math.expm1(epsilon) for share, epsilon in pairs))
        return mixed if mixed or not largest else SMALLEST_POSITIVE
    rest = math.fsum([1.0, *(-share for share in shares)])
    scaled = (share * math.exp(epsilon - largest) for share, epsilon in pairs)
    # Where the two cancel, the digits that are missing are those of the larger one.
    mixed = largest + math.log(math.fsum([rest * math.exp(-largest), *scaled]))
    return mixed + ROUNDING * largest


def _delta_of_leaving(
    shares: Sequence[float], epsilons: Sequence[float], deltas: Sequence[float]
) -> float:
    """Return `r sum p delta e^-epsilon`, `1/r = 1 - sum p (1 - e^-epsilon)`, without overflow."""
    smallest = min(epsilons)
    # Divided through by e^-smallest; where that overflows, the arms hardly ever hold the record.
    rest = math.fsum([1.0, *(-share for share in shares)])
    if rest < ROUNDING:  # all shares, such as three thirds, which are no floating-point numbers
        rest = 0.0
    outside = rest * math.exp(smallest) if smallest < 700 else math.inf if rest else 0.0
    weights = [
        share * math.exp(smallest - epsilon)
        for share, epsilon in zip(shares, epsilons, strict=True)
    ]
    lost = math.fsum(weight * delta for weight, delta in zip(weights, deltas, strict=True))
    return lost / (outside + math.fsum(weights))


def _refuse(other: object) -> NoReturn:
    """Say that only charges are added."""
    raise InvalidInput(
        f"Only charges can be added, got {shown(other)}; charge a guarantee to what it was "
        "computed on, as in sample.charge(guarantee), and add up charges by + or compose."
    )
