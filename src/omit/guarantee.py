"""What is promised: (epsilon, delta)-differential privacy under a named neighbour relation.

A mechanism is (epsilon, delta)-DP when, for all neighbouring databases `D`, `D'` and every set
`A` of outputs, `P[M(D) in A] <= e^epsilon P[M(D') in A] + delta`. The same pair of numbers means
different things under different neighbour relations, so what carries them carries the relation
too, and nothing in this package mixes two relations silently.

There are two kinds of such pairs. A `Guarantee` is about one mechanism and its own input, and may
be charged to what the mechanism was run on (`omit.omissions.sample`). A `Statement` is what comes
out of all charges together, about the whole database. It is an end: nothing takes a statement to
compute with, because what else was computed on the same sample is no longer to be seen in it.

Two more values answer the same question. `NoGuarantee` says that no pair with delta < 1 follows,
and why. `NoNoiseNeeded` says that leaving records out is already enough. Neither is an exception:
both are answers.

Statements are rounded up in their last digits, what a mechanism may have is rounded down.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NoReturn, Self

from omit import _validate
from omit._numeric import expm1_ratio, not_above, not_below, raised
from omit._text import rounded_up, show_number
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
    # Of how many steps of which relation one step consists: one of its own, unless it is a group.
    steps: int = 1
    unit: Relation

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
        self.unit = self
        return self

    def group(self, size: int) -> Relation:
        """Return the relation of databases that are up to `size` steps of this one apart.

        Examples
        --------
        >>> ADD_REMOVE.group(3), ADD_REMOVE.group(3).meaning
        ('add-remove of 3 records', 'at most 3 steps of add-remove lead from one to the other')
        """
        steps = self.steps * _validate.positive_integer("size", size)
        if steps == 1:
            return self
        grouped = Relation(
            f"{self.unit} of {steps} records",
            f"at most {steps} steps of {self.unit} lead from one to the other",
        )
        grouped.steps, grouped.unit = steps, self.unit
        return grouped

    def steps_of(self, other: Relation) -> int | None:
        """Return how many steps of another relation one step takes, or None if none lead there.

        Examples
        --------
        >>> REPLACE.steps_of(ADD_REMOVE), ADD_REMOVE.steps_of(REPLACE)
        (2, None)
        """
        one = 1 if self.unit == other.unit else self.unit.steps_from.get(other.unit)
        return None if one is None else -(-self.steps * one // other.steps)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), self.meaning, dict(self.steps_from), self.dp_accounting_name

    def __reduce__(self) -> tuple[Any, ...]:
        if self.steps > 1:
            return Relation.group, (self.unit, self.steps)
        return Relation, self.__getnewargs__()


ADD_REMOVE = Relation(
    "add-remove",
    meaning="one has exactly one record more than the other",
    dp_accounting_name="ADD_OR_REMOVE_ONE",
)
"""One database has exactly one record more than the other: the number of records is protected."""

REPLACE = Relation(
    "replace",
    meaning="one record is exchanged for another and the number of records is public",
    steps_from={"add-remove": 2},
    dp_accounting_name="REPLACE_ONE",
)
"""One record is exchanged for another: the number of records is public."""

RELATIONS: Mapping[str, Relation] = MappingProxyType({str(r): r for r in (ADD_REMOVE, REPLACE)})


def relation(name: str) -> Relation:
    """Return the relation of that name; a `Relation` is returned as it is.

    `InvalidInput` is raised if no relation of that name is known.

    Examples
    --------
    >>> relation("add-remove").meaning
    'one has exactly one record more than the other'
    >>> relation("replace of 3 records") == REPLACE.group(3)
    True
    """
    if isinstance(name, Relation):
        return name
    if isinstance(name, str):
        group = _GROUP.fullmatch(name)
        if group and group[1] in RELATIONS:
            return RELATIONS[group[1]].group(int(group[2]))
        if name in RELATIONS:
            return RELATIONS[name]
    raise InvalidInput(
        f"Expected neighbours={_validate.shown(name)} to be one of: {', '.join(RELATIONS)}."
    )


# Four units in the last place: what a product or a logarithm may miss.
_ROUNDING = 2.0**-51
# How a relation of groups is called.
_GROUP = re.compile(r"(.+) of ([1-9][0-9]{0,15}) records", re.ASCII)


@dataclass(frozen=True)
class _Promise:
    """A pair (epsilon, delta) under a relation, and what follows from it alone."""

    epsilon: float
    delta: float = 0.0
    neighbours: str = ADD_REMOVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))
        object.__setattr__(self, "delta", _validate.delta(self.delta))
        object.__setattr__(self, "neighbours", relation(self.neighbours))

    def __str__(self) -> str:
        return self.shown()

    def __add__(self, other: object) -> NoReturn:
        raise InvalidInput(
            "What has an epsilon cannot be added, since it does not say which sample it is about; "
            "add charges instead: sample.charge(guarantee) + sample.charge(guarantee)."
        )

    __radd__ = __add__

    def shown(self, rounding: str = ROUND_UP) -> str:
        """Return the pair for people; rounded up, so that no less is promised than is kept.

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

    def meaning(self, rows_per_person: int = 1) -> str:
        """Return in plain words what is promised, for a record or all records of a person.

        Examples
        --------
        >>> Guarantee(1.0, 1e-6).meaning()
        'One record more or less changes the probability of any answer by a factor of at most 2.72,
        plus 1e-06.'
        """
        whose = {"add-remove": "One record more or less", "replace": "Another record in its place"}
        who = whose.get(self.neighbours, f"A step of {self.neighbours}")
        if rows_per_person > 1:
            who = f"What one person with up to {rows_per_person:,} records contributes"
        # Beyond, the factor is a number that tells nobody anything.
        powers = 0 <= self.epsilon <= 50
        factor = rounded_up(math.exp(self.epsilon), 3) if powers else f"e^{self.epsilon:g}"
        much = f"by a factor of at most {factor}" if self.epsilon else "not at all"
        plus = f", plus {rounded_up(self.delta, 3)}" if self.delta else ""
        return f"{who} changes the probability of any answer {much}{plus}."

    @property
    def advantage(self) -> float:
        """How much more often than by guessing an attacker can tell two neighbours apart.

        The most by which the probability of a hit can exceed that of a false alarm, and the total
        variation of both answers: (e^epsilon - 1 + 2 delta)/(e^epsilon + 1).

        Examples
        --------
        >>> Guarantee(1.0).advantage
        0.46211715...
        """
        return self.delta_at(0.0)

    def tradeoff(self, false_alarms: float) -> float:
        """Return the least probability of a miss that a test with so many false alarms can have.

        A test says which of two neighbouring databases was used. None misses less often than
        `max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a))` (Wasserman and Zhou 2010).

        Examples
        --------
        >>> round(Guarantee(1.0).tradeoff(0.1), 6)
        0.728172
        """
        return 1 - self.hits(false_alarms)

    def hits(self, false_alarms: float) -> float:
        """Return the largest probability of a hit, one less that of a miss.

        Examples
        --------
        >>> round(Guarantee(1.0).hits(0.01), 6)
        0.027183
        """
        alarms = _validate.probability("false_alarms", false_alarms)
        # Beyond, every false alarm there is makes up for all misses.
        few = self.delta + math.exp(min(self.epsilon, 700.0)) * alarms
        many = -math.expm1(-self.epsilon) + math.exp(-self.epsilon) * (self.delta + alarms)
        return min(few, many, 1.0)

    def risk(self) -> str:
        """Return in plain words what the best attacker can tell.

        Examples
        --------
        >>> Guarantee(1.0).risk()
        'An attacker who knows all other records and tests for one hits at most 2.72 % with 1 %
        false alarms, 0.272 % with 0.1 %; hits exceed false alarms by at most 46.3 %.'
        """
        tests = {"add-remove": "for one", "replace": "for one against another"}
        often, rarely, more = (
            f"{rounded_up(100 * share, 3)} %"
            for share in (self.hits(0.01), self.hits(0.001), self.advantage)
        )
        return (
            "An attacker who knows all other records and tests "
            f"{tests.get(self.neighbours, f'for a group ({self.neighbours})')} hits at most "
            f"{often} with 1 % false alarms, {rarely} with 0.1 %; hits exceed false alarms by at "
            f"most {more}."
        )

    def delta_at(self, epsilon: float) -> float:
        """Return the smallest delta that this pair implies at another epsilon.

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
        return min(raised(self.delta + (1 - self.delta) * excess, _ROUNDING), 1.0)

    def implies(self, other: Guarantee | Statement) -> bool:
        """Tell whether every mechanism with this pair has the other one too.

        `WrongNeighbours` is raised if the relations differ: convert with `to` first.

        Examples
        --------
        >>> Guarantee(1.0).implies(Guarantee(2.0)), Guarantee(1.0).implies(Guarantee(0.5))
        (True, False)
        >>> Guarantee(1.0).implies(Guarantee(0.5, delta=0.3))
        True
        """
        if not isinstance(other, Guarantee | Statement):
            raise InvalidInput(f"Expected a guarantee, got {_validate.shown(other)}.")
        if self.neighbours != other.neighbours:
            raise WrongNeighbours(
                f"Cannot compare a guarantee under {self.neighbours} with one under "
                f"{other.neighbours}; convert one of them with .to(...) first."
            )
        return self.delta_at(other.epsilon) <= other.delta

    def group(self, size: int) -> Self | NoGuarantee:
        """Return what holds for databases that are up to `size` steps apart.

        This is also what several rows per person cost: if a person may contribute up to `size`
        rows, the guarantee for a person is the group guarantee of the guarantee for a row. It is
        (k e, d s_k) with s_k = 1 + e^e + ... + e^((k-1) e), and some mechanism loses all of it as
        long as d (s_k + s_(k-1)) <= 1 (documentation, "Errata", on Proposition B.1). It is under
        another relation, and so is not mixed up with what holds for one step.

        Examples
        --------
        >>> print(Guarantee(0.5, 1e-6).group(3))
        (1.5, 5.3670031e-06)-DP under add-remove of 3 records
        """
        return self.to(relation(self.neighbours).group(size))

    def to(self, neighbours: str) -> Self | NoGuarantee:
        """Return what this pair says under another relation.

        Exchanging a record is removing one and adding one, so add-remove gives replace as a
        group of two. The other direction does not follow: a mechanism may be private under
        replace and publish the number of records. `WrongNeighbours` is raised if nothing follows.

        Examples
        --------
        >>> print(Guarantee(1.0, 1e-6).to("replace"))
        (2, 3.718281829e-06)-DP under replace
        """
        target = relation(neighbours)
        if target == self.neighbours:
            return self
        steps = target.steps_of(relation(self.neighbours))
        if steps is None:
            raise WrongNeighbours(
                f"A guarantee under {self.neighbours} says nothing under {target}; "
                f"state the guarantee under {target} in the first place."
            )
        pair = steps_apart(self.epsilon, self.delta, steps)
        guarantee = guarantee_if_any(*pair, target, f"group privacy for {steps} records")
        if isinstance(guarantee, NoGuarantee):
            return guarantee
        return type(self)(guarantee.epsilon, guarantee.delta, target)


@dataclass(frozen=True)
class Guarantee(_Promise):
    """(epsilon, delta)-differential privacy of one mechanism about its own input.

    Parameters
    ----------
    epsilon, delta : float
        In [0, inf) and in [0, 1).
    neighbours : str
        ``"add-remove"``, ``"replace"`` or a `Relation`. Other values, and values outside their
        ranges, are refused with `InvalidInput`.

    Examples
    --------
    >>> Guarantee(1.0)
    Guarantee(epsilon=1.0, delta=0.0, neighbours='add-remove')
    >>> print(Guarantee(0.5, 1e-6, "replace"))
    (0.5, 1e-06)-DP under replace
    """

    def per_row(self, rows: int) -> Guarantee:
        """Return the guarantee each row needs so that a person with `rows` rows has this one.

        The inverse of `group`, rounded down. The guarantee of the person may be stated under the
        relation of single rows, as targets are, or under that of groups of `rows`; if it is stated
        for groups of another size, `WrongNeighbours` is raised.

        Examples
        --------
        >>> Guarantee(1.5).per_row(3)
        Guarantee(epsilon=0.5, delta=0.0, neighbours='add-remove')
        """
        rows = _validate.positive_integer("rows", rows)
        person = relation(self.neighbours)
        if rows == 1:
            return self
        if person.steps not in (1, rows):
            raise WrongNeighbours(
                f"A guarantee under {person} is not one for a person with {rows} rows; state it "
                f"under {person.unit.group(rows)}."
            )
        epsilon = not_above(Fraction(self.epsilon) / rows)
        delta = self.delta / _geometric_sum(epsilon, rows)
        while delta > 0 and steps_apart(epsilon, delta, rows)[1] > self.delta:
            delta = math.nextafter(delta * (1 - _ROUNDING), 0.0)
        return Guarantee(epsilon, delta, person.unit)

    def per_statistic(self, count: int) -> Guarantee:
        """Return what each of `count` statistics on the same records may have at most.

        All of them together then have this guarantee. Rounded down.

        Examples
        --------
        >>> Guarantee(1.0, 1e-6).per_statistic(4)
        Guarantee(epsilon=0.25, delta=2.5e-07, neighbours='add-remove')
        """
        count = _validate.positive_integer("count", count)
        epsilon, delta = (
            not_above(Fraction(value) / count) for value in (self.epsilon, self.delta)
        )
        return Guarantee(epsilon, delta, self.neighbours)


@dataclass(frozen=True)
class Statement(_Promise):
    """What holds for everything that was charged, together, about the whole database.

    It comes from `Omission.amplify`, `Charge.stated` or `compose` and can be shown, compared,
    and converted to groups and other relations. It cannot be added, charged or amplified: those
    are for guarantees of single mechanisms.

    Examples
    --------
    >>> from omit import PoissonSampling
    >>> stated = PoissonSampling(rate=0.1).amplify(Guarantee(1.0))
    >>> print(stated)
    (0.1585650788, 0)-DP under add-remove
    >>> stated.implies(Guarantee(0.2))
    True
    """


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
    """Refuse what is not the guarantee of a mechanism, whatever attributes it has."""
    if isinstance(guarantee, Statement):
        raise InvalidInput(
            f"A statement such as {guarantee} is the end of an account and nothing is computed "
            "from it; use the Guarantee of the mechanism, and Sample.charge for what shares a "
            "sample."
        )
    if not isinstance(guarantee, Guarantee):
        raise InvalidInput(f"Expected a guarantee, got {_validate.shown(guarantee)}.")


def guarantee_if_any(
    epsilon: float, delta: float, neighbours: str, source: str
) -> Guarantee | NoGuarantee:
    """Return the guarantee with these numbers, or say that they promise nothing.

    Examples
    --------
    >>> print(guarantee_if_any(1.0, 1.5, "add-remove", "group privacy for 9 records"))
    no guarantee: group privacy for 9 records gives delta = 1.5, and delta >= 1 promises nothing.
    """
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not math.isfinite(value):
            return NoGuarantee(f"{source} gives a {name} beyond the largest floating-point number.")
    if not delta < 1:
        return NoGuarantee(f"{source} gives delta = {delta:.4g}, and delta >= 1 promises nothing.")
    return Guarantee(float(epsilon), float(delta), neighbours)


def steps_apart(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """Return what holds for databases that many steps apart: group privacy, rounded up.

    Examples
    --------
    >>> steps_apart(0.5, 0.0, 3)
    (1.5, 0.0)
    """
    if steps == 1:
        return epsilon, delta
    together = not_below(Fraction(epsilon) * steps)
    if not delta or not epsilon:
        return together, not_below(Fraction(delta) * steps)
    # The exponent is right to a unit in the last place, and so the power to that many times itself.
    error = _ROUNDING * (8 + together)
    return together, raised(delta * _geometric_sum(epsilon, steps), min(error, 1.0))


def _geometric_sum(epsilon: float, terms: int) -> float:
    """Return 1 + e^epsilon + ... + e^((terms - 1) epsilon)."""
    return float(terms) if epsilon == 0 else float(expm1_ratio(terms * epsilon, epsilon))
