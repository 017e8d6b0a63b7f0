"""Any suppression, handed over as a function: what it costs all small databases, proved.

`check` looks at all pairs of neighbouring databases of up to so many records over a small universe.
The largest loss over them, by linear programs over all mechanisms, is proved for these databases
and attained by one of the mechanisms. Nothing follows for larger databases, whatever the numbers
look like.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from omit import _validate
from omit._numeric import not_below, raised
from omit._text import promised, usable
from omit._validate import shown
from omit.errors import InvalidInput, WrongNeighbours
from omit.guarantee import ADD_REMOVE, Guarantee, require_guarantee
from omit.omissions.answer import Answer, as_json
from omit.omissions.base import ROUNDING, Omission
from omit.omissions.every_pair import Laws, PairOutcome, all_laws, outcomes, pair_of
from omit.omissions.kept import Algorithm, Suppress
from omit.omissions.pairs import PairLoss
from omit.omissions.target_sets import TargetSet, target_sets
from omit.omissions.witness import Witness
from omit.report.page import Caption, Card, Point
from omit.report.result import Drawing, Ends, Field, Table
from omit.study.run import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SECONDS = 1800.0
_MOST_ROWS = 24
_GROWTH = "loss over the number of records"
# Losses that differ by less are the same but for rounding.
_SAME = 1e-9

_EXACT, _PROGRAM_REMARK = "exact", "linear programs: some mechanism loses this much"
_REMARKS: Mapping[str, str] = {
    _EXACT: _PROGRAM_REMARK,
    "theorem-5.1": "group privacy for the largest difference of outputs, exact",
    "theorem-5.3": "closed form, upper bound",
    "theorem-b.6": "closed form for the nearest assignment, upper bound",
}


@dataclass(frozen=True)
class SizeLoss:
    """The largest loss of pairs whose larger database has this many records."""

    records: int
    pairs: int
    epsilon: float


@dataclass(frozen=True)
class SuppressionCheck(Answer):
    """What a suppression costs all databases of up to so many records; made by `check`.

    Attributes
    ----------
    name
        How the suppression is called.
    universe, up_to
        The records that there can be, and how many a database has at most.
    base
        The guarantee of the mechanism.
    epsilon
        The epsilon of a release that is proved for these databases.
    worst
        The pair that loses most, and what it loses: the smallest of those that do.
    sizes
        The largest loss by the number of records.
    bounds
        The loss of all pairs by every method; None where a method does not apply.
    support_gap
        What is kept where the support condition fails, if it does.
    targets
        The target sets of Theorem 5.1, for suppression without chance.
    pairs, programs
        How many pairs there are, and how many of them differ by more than a symmetry.
    witness
        The mechanism that loses most, and the certificate; None where the linear program of the
        worst pair is too large.
    claim
        The epsilon that was stated for a release, if any.

    Examples
    --------
    >>> from omit import Guarantee
    >>> from omit.omissions import suppression_check as checks
    >>> def unique(records):
    ...     return [record for record in records if records.count(record) > 1]
    >>> checked = checks.check(unique, ("young", "old"), 3, Guarantee(1.0))
    >>> round(checked.epsilon, 6)
    2.0
    """

    name: str
    universe: tuple[Hashable, ...]
    up_to: int
    base: Guarantee
    epsilon: float
    worst: PairOutcome
    sizes: tuple[SizeLoss, ...]
    bounds: Mapping[str, float | None]
    support_gap: str | None
    targets: tuple[TargetSet, ...]
    pairs: int
    programs: int
    witness: Witness | None
    claim: float | None = None

    command: ClassVar[str] = "suppression check"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "of a release, for all databases of up to so many records",
        "delta": "of a release, for the same databases",
        "refuted": "1 if what was stated is false, else 0",
    }

    @property
    def delta(self) -> float:
        """The delta that goes with it, by the shift rule."""
        loss = PairLoss.by_shift_rule(
            self.epsilon, self.epsilon, self.base.epsilon, self.base.delta
        )
        return loss.delta

    @property
    def keeps_its_word(self) -> bool | None:
        """Whether what was stated was not refuted; None if nothing was stated."""
        if self.claim is None:
            return None
        return self.worst.attained <= raised(self.claim, ROUNDING)

    @property
    def verdict(self) -> str:
        """What is proved, of which databases; or that a statement is false."""
        if self.keeps_its_word is False:
            return (
                f"{self._name} does not keep its word: it states epsilon = "
                f"{promised(self.claim or 0.0)} for mechanisms with epsilon = "
                f"{promised(self.base.epsilon)}, and one of them loses "
                f"{usable(self.worst.attained)} on a pair of databases with "
                f"{len(self.worst.larger)} and {len(self.worst.database)} records."
            )
        proved = (
            f"After {self.name}, every ({usable(self.base.epsilon)}, {usable(self.base.delta)})-DP "
            f"mechanism is ({promised(self.epsilon)}, {promised(self.delta)})-DP on all databases "
            f"of up to {self.up_to:,} records over this universe of {len(self.universe)}."
        )
        if self.claim is None:
            return proved
        return f"{proved} What it states, epsilon = {promised(self.claim)}, is not refuted by them."

    @property
    def _name(self) -> str:
        return self.name[:1].upper() + self.name[1:]

    @property
    def notes(self) -> tuple[str, ...]:
        """The worst pair, whether losses grow, and of what nothing is proved."""
        notes = [
            f"The worst pair is {shown(self._named(self.worst.database))} and the same with "
            f"{shown(self.universe[self.worst.record])}: some mechanism loses at least "
            f"{usable(self.worst.attained)} there.",
            self._growth,
            "Nothing is proved of databases with more records, or with others.",
        ]
        if self.support_gap is not None:
            notes.append(
                f"The support condition fails, so that Theorem 5.3 does not apply: "
                f"{self.support_gap}."
            )
        if self.targets:
            notes.append(
                "It is suppression without chance: by Theorem 5.1 the mechanism must be private "
                "on one of the target sets only, counting as neighbours what is in the set."
            )
        return tuple(notes)

    @property
    def _grows(self) -> bool:
        """Whether the last step to more records lost more."""
        losses = [size.epsilon for size in self.sizes]
        return len(losses) > 1 and losses[-1] > losses[-2] + _SAME

    @property
    def _growth(self) -> str:
        if self._grows:
            return (
                f"The loss grows with the number of records, up to the last step from "
                f"{self.up_to - 1:,} to {self.up_to:,}: larger databases may lose more, and how "
                "much is not extrapolated."
            )
        return (
            "The loss does not grow in the last step to more records, from which nothing follows "
            "for larger databases."
        )

    def _named(self, database: Sequence[int]) -> list[Hashable]:
        return [self.universe[number] for number in database]

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return epsilon and delta that are proved, and whether a statement is refuted."""
        numbers = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "refuted": float(self.keeps_its_word is False),
        }
        return {name: [(number, number)] for name, number in numbers.items()}

    def tables(self) -> Sequence[Table]:
        """Return the loss by every method and by size, target sets, and the worst pair."""
        epsilon = Field("ε", "epsilon", promised, numeric=True)
        fields = (Field("bound", "bound"), epsilon, Field("", "remark"))
        rows = tuple((name, value, self._remark(name)) for name, value in self.bounds.items())
        tables = [Table("bounds", f"{self._name}: the largest loss of all pairs", fields, rows)]
        count = "{:,}".format
        fields = (
            Field("records up to", "records", count, numeric=True),
            Field("pairs", "pairs", count, numeric=True),
            epsilon,
        )
        sizes = tuple((size.records, size.pairs, size.epsilon) for size in self.sizes)
        tables.append(Table("sizes", "By the number of records of the larger one", fields, sizes))
        if self.targets:
            tables.append(self._target_table())
        if self.witness is not None:
            tables.append(self._worst_table(self.witness))
        return tables

    def _remark(self, name: str) -> str:
        if self.bounds[name] is not None:
            return _REMARKS[name]
        if name == "theorem-5.3" and self.support_gap is not None:
            return "the support condition fails"
        return "not computed for so many records"

    def _target_table(self) -> Table:
        fields = (
            Field("the mechanism is private on", "set"),
            Field("databases", "databases", "{:,}".format, numeric=True),
            Field("Δ", "steps", lambda steps: "∞" if steps == math.inf else f"{steps:g}", True),
            Field(
                "ε", "epsilon", lambda value: "none" if value == math.inf else promised(value), True
            ),
        )
        rows = tuple(
            (targets.name, len(targets.databases), targets.steps, self._by_steps(targets.steps))
            for targets in self.targets
        )
        return Table("targets", "Target sets of Theorem 5.1", fields, rows)

    def _by_steps(self, steps: float) -> float:
        if steps == math.inf:
            return math.inf
        return not_below(Fraction(self.base.epsilon) * int(steps))

    def _worst_table(self, witness: Witness) -> Table:
        chance = "{:.6g}".format
        fields = (
            Field("kept", "kept"),
            Field("probability", "without", chance, numeric=True),
            Field("with the record", "with_record", chance, numeric=True),
            Field("the mechanism says yes", "yes", chance, numeric=True),
        )
        kept = [*dict.fromkeys([*witness.without, *witness.with_record])]
        rows = tuple(
            (
                ", ".join(map(str, self._named(part))) or "nothing",
                float(witness.without.get(part, 0)),
                float(witness.with_record.get(part, 0)),
                witness.yes[part],
            )
            for part in sorted(kept, key=lambda part: (len(part), part))
        )
        title = "The worst pair, and the mechanism that loses most on it"
        if len(rows) > _MOST_ROWS:
            title += f" ({_MOST_ROWS} of {len(rows):,} outcomes)"
        return Table("worst", title, fields, rows[:_MOST_ROWS])

    def figures(self) -> Mapping[str, Drawing]:
        """Return the loss over the number of records."""

        def draw(axes: Axes) -> None:
            records = [size.records for size in self.sizes]
            axes.plot(records, [size.epsilon for size in self.sizes], "o-", color="black")
            if self.claim is not None:
                axes.axhline(self.claim, color="black", linestyle="--", label="what is stated")
            axes.axhline(self.base.epsilon, color="0.6", linewidth=1, label="the mechanism alone")
            axes.set_xticks(records)
            axes.set_xlabel("records of the larger database, at most")
            axes.set_ylabel("ε of the release")
            axes.legend()

        return {_GROWTH: draw}

    def captions(self) -> Mapping[str, Caption]:
        """Return what the picture shows, in words."""
        first, last = self.sizes[0], self.sizes[-1]
        return {
            _GROWTH: Caption(
                "What more records change",
                f"The largest loss of pairs with up to {first.records} record is ε = "
                f"{promised(first.epsilon)}, with up to {last.records} it is "
                f"{promised(last.epsilon)}.",
            )
        }

    @property
    def title(self) -> str:
        """The question."""
        return f"What it costs to leave records out: {self.name}"

    @property
    def card(self) -> Card:
        """What is proved, what some mechanism loses, and what to do."""
        within = f"{self.up_to:,} records over a universe of {len(self.universe)}"
        lost = Point(
            f"ε = {usable(self.worst.attained)}",
            "Some mechanism loses this much where one record more is "
            f"{shown(self.universe[self.worst.record])}: no proof can promise less.",
        )
        proved = Point(
            f"ε = {promised(self.epsilon)}",
            f"Proved for all databases of up to {within}, and for no others.",
        )
        if self.keeps_its_word is False:
            stated = Point("a false promise", f"It states ε = {promised(self.claim or 0.0)}.")
            return Card(stated, lost, Point("do not use it", "Correct what it states first."))
        if self._grows:
            advice = Point(
                "another way",
                "The loss grows with the number of records: take a way to leave records out that "
                "has a bound for all databases, such as a secret sample.",
            )
        elif self.epsilon > self.base.epsilon:
            advice = Point("use all records", "On all records the same mechanism promises more.")
        else:
            advice = Point(
                "prove it for all",
                "What holds for small databases is no promise yet. Look for the proof, and keep "
                "secret which records were left out.",
            )
        return Card(proved, lost, advice)

    def _content(self) -> dict[str, Any]:
        return {
            "omission": self.name,
            "scope": "all databases of up to so many records over this universe",
            "universe": [str(record) for record in self.universe],
            "up_to": self.up_to,
            "base": as_json(self.base),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": str(self.base.neighbours),
            "bounds": dict(self.bounds),
            "sizes": [
                {"records": size.records, "pairs": size.pairs, "epsilon": size.epsilon}
                for size in self.sizes
            ],
            "pairs": self.pairs,
            "programs": self.programs,
            "worst": {
                "database": [str(record) for record in self._named(self.worst.database)],
                "record": str(self.universe[self.worst.record]),
                "presence": self.worst.presence,
                "absence": self.worst.absence,
                "attained": self.worst.attained,
            },
            "support_gap": self.support_gap,
            "targets": [
                {
                    "set": targets.name,
                    "databases": len(targets.databases),
                    "steps": targets.steps,
                    "epsilon": self._by_steps(targets.steps),
                }
                for targets in self.targets
            ],
            "claim": self.claim,
            "keeps_its_word": self.keeps_its_word,
        }


def check(
    suppress: Suppress | Omission,
    universe: Iterable[Hashable],
    up_to: int,
    guarantee: Guarantee,
    *,
    returns: str | None = None,
    claim: Omission | Callable[[float], float] | None = None,
    name: str | None = None,
    seconds: float = _SECONDS,
    store: Path | str | None = None,
    where: str = "cores",
    progress: Report | None = None,
) -> SuppressionCheck:
    """Return what a suppression costs all databases of up to so many records, proved.

    Parameters
    ----------
    suppress : callable or Omission
        Given a database, a tuple of records, it returns what is kept, or keep probabilities (or
        True and False) for the records, or a mapping from what may be kept to its probability. It
        must not depend on the order of the records, nor on chance. An omission is taken for what
        its `design` does to a column, and held to its word.
    universe : iterable
        All records that there can be: numbers, texts or tuples.
    up_to : int
        The largest number of records of a database.
    guarantee : Guarantee
        Of the mechanism, under add-remove.
    returns : {"kept", "probabilities", "subsets"}, optional
        What the function returns, where that is not clear because records are numbers.
    claim : Omission or callable, optional
        Which states the epsilon of a release for that of a mechanism, and is held to its word; by
        default `suppress`, if that is an omission.
    name : str, optional
        How the suppression is called in sentences.
    seconds : float
        The longest estimated time that is begun.
    store, where, progress
        As of `omit.study.run_study`: a folder from which an interrupted check goes on, the workers,
        and a function that is told how far it is.

    Raises
    ------
    InvalidInput
        If the function fails or returns something else, or that would take too long.
    WrongNeighbours
        If the guarantee is not under add-remove.

    Examples
    --------
    >>> def unique(records):
    ...     return [record for record in records if records.count(record) > 1]
    >>> checked = check(unique, ("young", "old", "rich"), 4, Guarantee(1.0))
    >>> print(checked.verdict)
    After unique, every (1, 0)-DP mechanism is (2, 0)-DP on all databases of up to 4 records over
    this universe of 3.
    """
    require_guarantee(guarantee)
    if guarantee.neighbours != ADD_REMOVE:
        raise WrongNeighbours(
            "What any suppression costs is known under add-remove; state the guarantee of the "
            "mechanism under that relation, or convert it with Guarantee.to."
        )
    if guarantee.delta and not guarantee.epsilon:
        raise InvalidInput("Expected epsilon > 0 where delta > 0.")
    up_to = _validate.positive_integer("up_to", up_to)
    seconds = _validate.positive("seconds", seconds)
    algorithm = Algorithm.of(suppress, universe, returns, name)
    records = len(algorithm.universe)
    laws = all_laws(algorithm, up_to, seconds)
    found = outcomes(
        laws,
        records,
        up_to,
        guarantee.epsilon,
        seconds=seconds,
        store=store,
        where=where,
        progress=progress,
    )
    epsilon = max(pair.epsilon for pair in found)
    worst = min(
        (pair for pair in found if pair.epsilon >= epsilon - _SAME),
        key=lambda pair: (len(pair.larger), pair.larger),
    )
    left = {database: next(iter(law)) for database, law in laws.items()}
    certain = all(len(law) == 1 for law in laws.values())
    stated = suppress if claim is None and isinstance(suppress, Omission) else claim
    return SuppressionCheck(
        algorithm.name,
        algorithm.universe,
        up_to,
        guarantee,
        epsilon,
        worst,
        _sizes(found, up_to),
        _bounds(found, epsilon, certain),
        _support_gap(algorithm, laws, found),
        target_sets(laws, left, records, up_to) if certain else (),
        sum(found.values()),
        len(found),
        _witness(laws, worst, algorithm, guarantee.epsilon),
        None if stated is None else _stated(stated, guarantee.epsilon),
    )


def _sizes(found: Mapping[PairOutcome, int], up_to: int) -> tuple[SizeLoss, ...]:
    """Return the largest loss of pairs with up to so many records, for every number of them."""
    sizes = []
    for records in range(1, up_to + 1):
        within = {pair: count for pair, count in found.items() if len(pair.larger) <= records}
        largest = max(pair.epsilon for pair in within)
        sizes.append(SizeLoss(records, sum(within.values()), largest))
    return tuple(sizes)


def _bounds(
    found: Mapping[PairOutcome, int], epsilon: float, certain: bool
) -> dict[str, float | None]:
    bounds: dict[str, float | None] = {_EXACT: epsilon}
    if certain:
        bounds["theorem-5.1"] = epsilon
    for name, attribute in (("theorem-5.3", "theorem_5_3"), ("theorem-b.6", "theorem_b_6")):
        values = [getattr(pair, attribute) for pair in found]
        known = [value for value in values if value is not None]
        bounds[name] = max(known) if len(known) == len(values) else None
    return bounds


def _support_gap(algorithm: Algorithm, laws: Laws, found: Mapping[PairOutcome, int]) -> str | None:
    """Return where the support condition fails, of the smallest databases."""
    for pair in sorted(found, key=lambda pair: (len(pair.database), pair.database, pair.record)):
        if pair.theorem_b_6 is not None and pair.theorem_5_3 is None:
            database = list(algorithm.records(pair.database))
            record = algorithm.universe[pair.record]
            return (
                f"what can be kept of {shown(database)} and of the same with {shown(record)} "
                "differs by more than that record"
            )
    return None


def _witness(
    laws: Laws, worst: PairOutcome, algorithm: Algorithm, epsilon: float
) -> Witness | None:
    try:
        pair = pair_of(laws, worst.database, worst.record)
        return Witness.of(pair, algorithm.universe, epsilon)
    except InvalidInput:  # too large a program; the loss is known without one
        return None


def _stated(claim: Omission | Callable[[float], float], epsilon: float) -> float:
    """Return the epsilon that is stated for a release."""
    if isinstance(claim, Omission):
        return float(claim.epsilon_after(epsilon))
    _validate.function("claim", claim)
    stated = _validate.outcome(f"The claim failed on epsilon = {epsilon:g}", claim, epsilon)
    return _validate.epsilon(stated, "the claim")
