"""What a release promises: (epsilon, delta)-differential privacy under a named neighbour relation.

A mechanism is (epsilon, delta)-DP when, for all neighbouring databases `D`, `D'` and every set
`A` of outputs, `P[M(D) in A] <= e^epsilon P[M(D') in A] + delta`. The same pair of numbers means
different things under different neighbour relations, so a `Guarantee` carries its relation and
nothing in this package mixes two relations silently.

Two more values answer the same question. `NoGuarantee` says that no pair with delta < 1 follows,
and why. `NoNoiseNeeded` says that leaving records out is already enough. Neither is an exception:
both are answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP
from types import MappingProxyType
from typing import Any

from omit import _validate
from omit._decimals import show_number
from omit._numeric import expm1_ratio
from omit.errors import InvalidInput, WrongNeighbours


class Relation(str):
    """A neighbour relation: which databases a guarantee makes indistinguishable.

    It is a string, the relation's name, that also knows its meaning and from which other
    relations it follows. The set is open: a part of the package, or a user, that needs another
    relation makes one, and `Guarantee` takes it.

    Parameters
    ----------
    name : str
        The name shown and compared, such as ``"add-remove"``.
    meaning : str
        What neighbours are, as the end of "two databases are neighbours if ...".
    steps_from : mapping, optional
        For every relation this one follows from, how many steps of that relation one step of
        this one takes.
    dp_accounting_name : str, optional
        The member of dp-accounting's ``NeighboringRelation`` that means the same.

    Examples
    --------
    >>> REPLACE, REPLACE.meaning
    ('replace', 'one record is exchanged for another and the number of records is public')
    """

    meaning: str
    steps_from: Mapping[str, int]
    dp_accounting_name: str | None

    def __new__(
        cls,
        name: str,
        meaning: str,
        steps_from: Mapping[str, int] | None = None,
        dp_accounting_name: str | None = None,
    ) -> Relation:
        """Make the string and attach what it knows."""
        self = super().__new__(cls, name)
        self.meaning = meaning
        self.steps_from = MappingProxyType(dict(steps_from or {}))
        self.dp_accounting_name = dp_accounting_name
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), self.meaning, dict(self.steps_from), self.dp_accounting_name

    def __reduce__(self) -> tuple[Any, ...]:
        return Relation, self.__getnewargs__()


ADD_REMOVE = Relation(
    "add-remove",
    meaning="one has exactly one record more than the other",
    dp_accounting_name="ADD_OR_REMOVE_ONE",
)
REPLACE = Relation(
    "replace",
    meaning="one record is exchanged for another and the number of records is public",
    steps_from={"add-remove": 2},
    dp_accounting_name="REPLACE_ONE",
)
RELATIONS: Mapping[str, Relation] = MappingProxyType({str(r): r for r in (ADD_REMOVE, REPLACE)})


def relation(name: str) -> Relation:
    """Return the relation of that name; a `Relation` is returned as it is.

    Raises
    ------
    InvalidInput
        If no relation of that name is known.

    Examples
    --------
    >>> relation("add-remove").meaning
    'one has exactly one record more than the other'
    """
    if isinstance(name, Relation):
        return name
    if not isinstance(name, str) or name not in RELATIONS:
        raise InvalidInput(f"Expected neighbours={name!r} to be one of: {', '.join(RELATIONS)}.")
    return RELATIONS[name]


def _readable(value: float) -> str:
    """Return a float to 14 digits, which hides rounding errors and nothing else."""
    return repr(float(f"{value:.14g}"))


@dataclass(frozen=True, repr=False)
class Guarantee:
    """(epsilon, delta)-differential privacy under a neighbour relation.

    Parameters
    ----------
    epsilon : float
        In [0, inf).
    delta : float
        In [0, 1).
    neighbours : str
        ``"add-remove"``, ``"replace"`` or a `Relation`.
    on_a_sample : bool
        Whether it was amplified for one release on a sample of its own. Such a guarantee cannot
        be composed further, because another release may share the sample.

    Raises
    ------
    InvalidInput
        If a value is outside its range or the relation is unknown.

    Examples
    --------
    >>> Guarantee(1.0)
    Guarantee(epsilon=1.0, delta=0.0, neighbours='add-remove')
    >>> print(Guarantee(0.5, 1e-6, "replace"))
    (0.5, 1e-06)-DP under replace
    """

    epsilon: float
    delta: float = 0.0
    neighbours: str = ADD_REMOVE
    on_a_sample: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))
        object.__setattr__(self, "delta", _validate.delta(self.delta))
        object.__setattr__(self, "neighbours", relation(self.neighbours))

    def __repr__(self) -> str:
        return (
            f"Guarantee(epsilon={_readable(self.epsilon)}, delta={_readable(self.delta)}, "
            f"neighbours={str(self.neighbours)!r})"
        )

    def __str__(self) -> str:
        return self.shown()

    def shown(self, rounding: str = ROUND_UP) -> str:
        """Return the guarantee for people; rounded up, so that no less is promised than is kept.

        What a mechanism must have at least is rounded down instead.

        Examples
        --------
        >>> from decimal import ROUND_DOWN
        >>> calibrated = Guarantee(2.9004770978893855)
        >>> print(calibrated, "or", calibrated.shown(ROUND_DOWN))
        (2.9004770979, 0)-DP under add-remove or (2.9004770978, 0)-DP under add-remove
        """
        pair = f"({show_number(self.epsilon, rounding)}, {show_number(self.delta, rounding)})"
        return f"{pair}-DP under {self.neighbours}"

    def delta_at(self, epsilon: float) -> float:
        """Return the smallest delta that this guarantee implies at another epsilon.

        Every (e, d)-DP mechanism is dominated by: reveal everything with probability d, else
        answer by randomised response with parameter e (Kairouz, Oh, Viswanath 2015). Its
        hockey-stick divergence at `epsilon` is `d + (1 - d) (e^e - e^epsilon) / (1 + e^e)` below
        e, and `d` from e on.

        Examples
        --------
        >>> Guarantee(1.0).delta_at(0.0)
        0.46211715...
        >>> Guarantee(1.0, 1e-6).delta_at(2.0)
        1e-06
        """
        epsilon = _validate.epsilon(epsilon)
        if epsilon >= self.epsilon:
            return self.delta
        # (e^e - e^epsilon) / (1 + e^e), divided through by e^e so that nothing overflows
        excess = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))
        return self.delta + (1 - self.delta) * excess

    def implies(self, other: Guarantee) -> bool:
        """Tell whether every mechanism with this guarantee has the other one too.

        Raises
        ------
        WrongNeighbours
            If the relations differ: convert with `to` first.

        Examples
        --------
        >>> Guarantee(1.0).implies(Guarantee(2.0)), Guarantee(1.0).implies(Guarantee(0.5))
        (True, False)
        >>> Guarantee(1.0).implies(Guarantee(0.5, delta=0.3))
        True
        """
        self._require_same_relation(other)
        return self.delta_at(other.epsilon) <= other.delta

    def group(self, size: int) -> Guarantee | NoGuarantee:
        """Return what holds for databases that are `size` steps apart.

        This is also what several rows per person cost: if a person may contribute up to `size`
        rows, the guarantee for a person is the group guarantee of the guarantee for a row. It is
        (k e, d s_k) with s_k = 1 + e^e + ... + e^((k-1) e), and some mechanism loses all of it as
        long as d (s_k + s_(k-1)) <= 1 (documentation, "Errata", on Proposition B.1).

        Examples
        --------
        >>> Guarantee(0.5, 1e-6).group(3)
        Guarantee(epsilon=1.5, delta=5.3670030991592e-06, neighbours='add-remove')
        """
        size = _validate.positive_integer("size", size)
        return guarantee_if_any(
            size * self.epsilon,
            self.delta * _geometric_sum(self.epsilon, size),
            self.neighbours,
            f"group privacy for {size} records",
        )

    def per_row(self, rows: int) -> Guarantee:
        """Return the guarantee each row needs so that a person with `rows` rows has this one.

        The inverse of `group`.

        Examples
        --------
        >>> Guarantee(1.5).per_row(3)
        Guarantee(epsilon=0.5, delta=0.0, neighbours='add-remove')
        """
        rows = _validate.positive_integer("rows", rows)
        epsilon = self.epsilon / rows
        return Guarantee(epsilon, self.delta / _geometric_sum(epsilon, rows), self.neighbours)

    def to(self, neighbours: str) -> Guarantee | NoGuarantee:
        """Return what this guarantee says under another relation.

        Exchanging a record is removing one and adding one, so add-remove gives replace as a
        group of two. The other direction does not follow: a mechanism may be private under
        replace and publish the number of records.

        Raises
        ------
        WrongNeighbours
            If nothing follows.

        Examples
        --------
        >>> Guarantee(1.0, 1e-6).to("replace")
        Guarantee(epsilon=2.0, delta=3.718281828459e-06, neighbours='replace')
        """
        target = relation(neighbours)
        if target == self.neighbours:
            return self
        if self.neighbours not in target.steps_from:
            raise WrongNeighbours(
                f"A guarantee under {self.neighbours} says nothing under {target}; "
                f"state the guarantee under {target} in the first place."
            )
        grouped = self.group(target.steps_from[self.neighbours])
        if isinstance(grouped, NoGuarantee):
            return grouped
        return Guarantee(grouped.epsilon, grouped.delta, target)

    def _require_same_relation(self, other: Guarantee) -> None:
        if not isinstance(other, Guarantee):
            raise InvalidInput(f"Expected a guarantee, got {other!r}.")
        if self.neighbours != other.neighbours:
            raise WrongNeighbours(
                f"Cannot compare a guarantee under {self.neighbours} with one under "
                f"{other.neighbours}; convert one of them with .to(...) first."
            )


@dataclass(frozen=True)
class NoGuarantee:
    """The answer where no (epsilon, delta) with delta < 1 follows from what is known.

    Parameters
    ----------
    reason : str
        Why, in one sentence.
    witness : object, optional
        Something that shows it, such as a pair of neighbouring databases.

    Examples
    --------
    >>> print(NoGuarantee("The records are published unchanged."))
    no guarantee: The records are published unchanged.
    """

    reason: str
    witness: Any = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"no guarantee: {self.reason}"


@dataclass(frozen=True)
class NoNoiseNeeded:
    """The answer where leaving records out already reaches the target, whatever is computed.

    Examples
    --------
    >>> print(NoNoiseNeeded("A 1 % sample is (0, 0.01)-DP by itself."))
    no noise needed: A 1 % sample is (0, 0.01)-DP by itself.
    """

    reason: str

    def __str__(self) -> str:
        return f"no noise needed: {self.reason}"


def require_guarantee(guarantee: object) -> None:
    """Refuse what is not a differential privacy guarantee, whatever attributes it has.

    Raises
    ------
    InvalidInput
        If it is none.

    Examples
    --------
    >>> require_guarantee(Guarantee(1.0))
    """
    if not isinstance(guarantee, Guarantee):
        raise InvalidInput(f"Expected a differential privacy guarantee, got {guarantee!r}.")


def guarantee_if_any(
    epsilon: float, delta: float, neighbours: str, source: str
) -> Guarantee | NoGuarantee:
    """Return the guarantee with these numbers, or say that they promise nothing.

    Examples
    --------
    >>> print(guarantee_if_any(1.0, 1.5, "add-remove", "group privacy for 9 records"))
    no guarantee: group privacy for 9 records gives delta = 1.5, and delta >= 1 promises nothing.
    """
    epsilon, delta = float(epsilon), float(delta)
    if not math.isfinite(epsilon):
        return NoGuarantee(f"{source} gives an epsilon beyond the largest floating-point number.")
    if not delta < 1:
        return NoGuarantee(f"{source} gives delta = {delta:.4g}, and delta >= 1 promises nothing.")
    return Guarantee(epsilon, delta, neighbours)


def compose_guarantees(*guarantees: Guarantee) -> Guarantee | NoGuarantee:
    """Return what holds for all the releases together: epsilons and deltas add up.

    This is basic composition, valid for adaptively chosen releases too.

    Raises
    ------
    InvalidInput
        If there is nothing to compose, or something that is not a DP guarantee.
    WrongNeighbours
        If the relations differ.

    Examples
    --------
    >>> compose_guarantees(Guarantee(0.5), Guarantee(1.0, 1e-6))
    Guarantee(epsilon=1.5, delta=1e-06, neighbours='add-remove')
    """
    if not guarantees:
        raise InvalidInput("Expected at least one guarantee to compose.")
    for guarantee in guarantees:
        if not isinstance(guarantee, Guarantee):
            raise InvalidInput(
                f"Only differential privacy guarantees compose, and this is none: {guarantee}."
            )
        guarantees[0]._require_same_relation(guarantee)
    return guarantee_if_any(
        math.fsum(guarantee.epsilon for guarantee in guarantees),
        math.fsum(guarantee.delta for guarantee in guarantees),
        guarantees[0].neighbours,
        f"composing {len(guarantees)} releases",
    )


def _geometric_sum(epsilon: float, terms: int) -> float:
    """Return 1 + e^epsilon + ... + e^((terms - 1) epsilon)."""
    return float(terms) if epsilon == 0 else float(expm1_ratio(terms * epsilon, epsilon))
