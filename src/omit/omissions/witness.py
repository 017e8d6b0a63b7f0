"""The mechanism that loses most after a suppression, as a file that can be checked again.

It answers yes or no. How often it answers yes about what is kept of the two databases of one pair
is in the file, to be extended to other databases `X` by the largest `p(C) e^(-epsilon |X - C|)`,
which keeps all ratios. With it come the multipliers of the linear program, which prove that no
mechanism loses more on this pair, so that nothing has to be solved to check either.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, cast

from omit import _validate
from omit._text import promised, usable
from omit.errors import InvalidInput
from omit.omissions.answer import Answer
from omit.omissions.kept import Algorithm, Database, Law, Suppress, checked_universe
from omit.omissions.pairs import SubsetPair
from omit.omissions.subset_program import (
    CertifiedRatio,
    Step,
    SubsetProgram,
    expectation,
    growth_between,
    in_order,
    loss_not_above,
    loss_not_below,
)
from omit.report.files import write_text
from omit.report.result import Ends, Field, Table

_FORMAT = "omit witness of a suppression, version 1"
# What keeps the probabilities of a mechanism within its promise in spite of their rounding.
_SHRINK = 1 - 2.0**-40
_LARGEST_FILE = 20_000_000
PRESENCE, ABSENCE = "presence", "absence"


@dataclass(frozen=True)
class Witness:
    """A pair of databases, and the mechanism that loses most on it.

    Attributes
    ----------
    universe
        All records that there can be.
    epsilon
        What the mechanism is private with.
    database, record
        The pair, by the numbers of its records in the universe.
    without, with_record
        What is kept of the database, and of it with the record.
    direction
        "presence" if the answer yes is more probable with the record, else "absence".
    yes
        The probability of the answer yes by what is kept.
    multipliers
        What proves that no mechanism loses more, for both directions.
    at_least, at_most
        What the mechanism loses, and what none exceeds.

    Examples
    --------
    >>> from omit import Guarantee
    >>> from omit.omissions import suppression_check as checks
    >>> def unique(records):
    ...     return [record for record in records if records.count(record) > 1]
    >>> checked = checks.check(unique, ("young", "old"), 3, Guarantee(1.0))
    >>> checked.witness.universe, round(checked.witness.at_least, 6)
    (('young', 'old'), 2.0)
    """

    universe: tuple[Hashable, ...]
    epsilon: float
    database: Database
    record: int
    without: Law
    with_record: Law
    direction: str
    yes: Mapping[Database, float]
    multipliers: Mapping[str, Mapping[Step, float]]
    at_least: float
    at_most: float

    @classmethod
    def of(cls, pair: SubsetPair, universe: tuple[Hashable, ...], epsilon: float) -> Witness:
        """Return the mechanism that loses most on a pair of databases."""
        program = SubsetProgram.of(in_order((*pair.database, pair.record)), epsilon)
        ratios = {
            PRESENCE: program.largest_ratio(pair.with_record, pair.without),
            ABSENCE: program.largest_ratio(pair.without, pair.with_record),
        }
        direction = max(ratios, key=lambda name: ratios[name].attained)
        yes = _probabilities(program, ratios[direction])
        above, below = _in_direction(direction, pair.without, pair.with_record)
        return cls(
            universe,
            epsilon,
            tuple(pair.database),
            cast(int, pair.record),
            dict(pair.without),
            dict(pair.with_record),
            direction,
            yes,
            {name: ratio.multipliers for name, ratio in ratios.items()},
            loss_not_above(expectation(above, yes) / expectation(below, yes)),
            max(loss_not_below(ratio.proved) for ratio in ratios.values()),
        )

    def named(self, database: Database) -> list[Hashable]:
        """Return the records of a database."""
        return [self.universe[number] for number in database]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON holds it; probabilities of what is kept are fractions."""
        return {
            "format": _FORMAT,
            "universe": [_plain(record) for record in self.universe],
            "epsilon": self.epsilon,
            "database": list(self.database),
            "record": self.record,
            "without": _listed(self.without),
            "with_record": _listed(self.with_record),
            "direction": self.direction,
            "yes": [{"kept": list(kept), "probability": p} for kept, p in self.yes.items()],
            "multipliers": {
                name: [
                    {"from": list(one), "to": list(other), "weight": weight}
                    for (one, other), weight in steps.items()
                ]
                for name, steps in self.multipliers.items()
            },
            "at_least": self.at_least,
            "at_most": self.at_most,
        }

    def write(self, file: Path | str) -> Path:
        """Write the file, and return where it is."""
        return write_text(file, json.dumps(self.to_json(), indent=1) + "\n")

    @classmethod
    def read(cls, file: Path | str) -> Witness:
        """Return what a file holds.

        Raises
        ------
        InvalidInput
            If it cannot be read, or is no such file.
        """
        try:
            with Path(file).open("rb") as stream:
                text = stream.read(_LARGEST_FILE + 1)
        except OSError as error:
            raise InvalidInput(f"Cannot read {file}: {error.strerror}.") from error
        failure = f"Expected {file} to be the witness of a suppression, as omit writes it"
        if len(text) > _LARGEST_FILE:
            raise InvalidInput(f"{failure}, of at most {_LARGEST_FILE:,} bytes.")
        try:
            return cls._of(json.loads(text.decode("utf-8")))
        except InvalidInput as error:
            raise InvalidInput(f"{failure}: {error}") from error
        except (
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            ArithmeticError,
        ) as error:
            raise InvalidInput(f"{failure}.") from error

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> Witness:
        if content["format"] != _FORMAT:
            raise InvalidInput("it has another format.")
        universe = checked_universe([_record(record) for record in content["universe"]])
        database = _numbers(content["database"], len(universe))
        (record,) = _numbers([content["record"]], len(universe))
        larger = tuple(sorted((*database, record)))
        without, with_record = _law(content["without"]), _law(content["with_record"])
        SubsetPair.from_distributions(  # or refuses them
            database,
            record,
            *({k: float(p) for k, p in law.items()} for law in (without, with_record)),
        )
        parts = set(SubsetProgram.of(larger, 0.0).index)
        yes = {
            tuple(row["kept"]): _validate.probability("a probability", row["probability"])
            for row in content["yes"]
        }
        multipliers = {
            name: {
                (tuple(row["from"]), tuple(row["to"])): _validate.finite("a weight", row["weight"])
                for row in content["multipliers"][name]
            }
            for name in (PRESENCE, ABSENCE)
        }
        _validate.one_of("direction", content["direction"], (PRESENCE, ABSENCE))
        if set(yes) != parts:
            raise InvalidInput("the mechanism does not answer about every part of the database.")
        return cls(
            universe,
            _validate.epsilon(content["epsilon"]),
            database,
            record,
            without,
            with_record,
            content["direction"],
            yes,
            multipliers,
            _validate.epsilon(content["at_least"], "at_least"),
            _validate.epsilon(content["at_most"], "at_most"),
        )

    def findings(self, algorithm: Algorithm | None = None) -> dict[str, bool]:
        """Return what was checked, and whether it holds, all of it in rational numbers."""
        larger = tuple(sorted((*self.database, self.record)))
        program = SubsetProgram.of(larger, self.epsilon)
        findings = {}
        if algorithm is not None:
            findings["the algorithm keeps what the file says"] = (
                algorithm.law(self.database) == self.without
                and algorithm.law(larger) == self.with_record
            )
        no = {kept: 1 - Fraction(p) for kept, p in self.yes.items()}
        private = program.is_bounded(self.yes) and program.is_bounded(no)
        findings[f"the mechanism is ({promised(self.epsilon)}, 0)-DP"] = private
        above, below = _in_direction(self.direction, self.without, self.with_record)
        lost = private and (
            loss_not_above(expectation(above, self.yes) / expectation(below, self.yes))
            >= self.at_least
        )
        findings[f"it loses at least {usable(self.at_least)}"] = lost
        findings[f"no mechanism loses more than {promised(self.at_most)} on this pair"] = (
            self._is_proved(program)
        )
        return findings

    def _is_proved(self, program: SubsetProgram) -> bool:
        steps = {(one, other) for one, other in program.steps}
        parts = list(program.index)
        known = {(parts[one], parts[other]) for one, other in steps}
        known |= {(other, one) for one, other in known}
        for direction, multipliers in self.multipliers.items():
            if not (set(multipliers) <= known and all(w >= 0 for w in multipliers.values())):
                return False
            above, below = _in_direction(direction, self.without, self.with_record)
            if loss_not_below(program.proved(multipliers, above, below)) > self.at_most:
                return False
        return True


def _in_direction(direction: str, without: Any, with_record: Any) -> tuple[Any, Any]:
    return (with_record, without) if direction == PRESENCE else (without, with_record)


def _probabilities(program: SubsetProgram, ratio: CertifiedRatio) -> dict[Database, float]:
    """Return how often to answer yes, in proportion to a function with bounded ratios.

    As often as the answer no, too, has bounded ratios: `1 - p <= E (1 - p')` is
    `E p' - p <= E - 1`.
    """
    growth = growth_between(program.epsilon)[0]
    values = {kept: Fraction(value) for kept, value in ratio.function.items()}
    parts = list(program.index)
    room = [Fraction(1) / max(values.values())]
    for one, other in program.steps:
        for first, second in ((parts[one], parts[other]), (parts[other], parts[one])):
            excess = growth * values[first] - values[second]
            if excess > 0:
                room.append((growth - 1) / excess)
    scale = min(room) * Fraction(_SHRINK)
    return {kept: float(scale * value) for kept, value in values.items()}


def _plain(record: Hashable) -> Any:
    return list(record) if isinstance(record, tuple) else record


def _record(value: Any) -> Hashable:
    return tuple(value) if isinstance(value, list) else value


def _listed(law: Law) -> list[dict[str, Any]]:
    return [{"kept": list(kept), "probability": str(p)} for kept, p in law.items()]


def _law(rows: Sequence[Mapping[str, Any]]) -> Law:
    law = {tuple(row["kept"]): Fraction(row["probability"]) for row in rows}
    if sum(law.values()) != 1 or min(law.values()) <= 0:
        raise InvalidInput("probabilities of what is kept do not sum to exactly 1.")
    return law


def _numbers(values: Sequence[int], records: int) -> Database:
    return tuple(sorted(_validate.index("a record", v, records, "records") for v in values))


@dataclass(frozen=True)
class Replay(Answer):
    """What a file says of a suppression, checked again; made by `replay`.

    Attributes
    ----------
    witness
        What the file holds.
    findings
        What was checked, and whether it holds.

    Examples
    --------
    >>> from omit import Guarantee
    >>> from omit.omissions import suppression_check as checks
    >>> def unique(records):
    ...     return [record for record in records if records.count(record) > 1]
    >>> checked = checks.check(unique, ("young", "old"), 3, Guarantee(1.0))
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replay(checked.witness.write(f"{folder}/witness.json")).holds
    True
    """

    witness: Witness
    findings: Mapping[str, bool]

    command: ClassVar[str] = "suppression check"

    @property
    def holds(self) -> bool:
        """Whether everything does."""
        return all(self.findings.values())

    @property
    def verdict(self) -> str:
        """Whether the file is right."""
        if not self.holds:
            failing = next(what for what, holds in self.findings.items() if not holds)
            return f"The file does not hold: it is not the case that {failing}."
        return (
            "The file holds: after the suppression its mechanism loses at least "
            f"{usable(self.witness.at_least)} on this pair of databases, and none loses more than "
            f"{promised(self.witness.at_most)}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Which pair it is about, and that this is no guarantee."""
        witness = self.witness
        return (
            f"The pair is {witness.named(witness.database)} and the same with "
            f"{witness.universe[witness.record]!r}. The loss of one pair is no guarantee.",
        )

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return that one pair has neither an epsilon nor a delta of all databases."""
        return {"epsilon": [None], "delta": [None], "refuted": [None]}

    def tables(self) -> Sequence[Table]:
        """Return what was checked."""
        fields = (
            Field("checked in rational numbers", "what"),
            Field("holds", "holds", lambda holds: "yes" if holds else "no"),
        )
        return (Table("findings", "", fields, tuple(self.findings.items())),)

    def _content(self) -> dict[str, Any]:
        return {
            "holds": self.holds,
            "findings": [{"what": w, "holds": h} for w, h in self.findings.items()],
            "at_least": self.witness.at_least,
            "at_most": self.witness.at_most,
        }


def replay(
    file: Path | str,
    suppress: Suppress | None = None,
    *,
    returns: str | None = None,
    name: str | None = None,
) -> Replay:
    """Check again what a file says of a suppression.

    Parameters
    ----------
    file : path
        As `SuppressionCheck.witness` writes it.
    suppress : callable, optional
        The suppression; without it, it is not checked that the file is about this one.
    returns, name : str, optional
        As for `check`.

    Raises
    ------
    InvalidInput
        If the file cannot be read or is another one.

    Examples
    --------
    >>> from omit import Guarantee
    >>> from omit.omissions import suppression_check as checks
    >>> def unique(records):
    ...     return [record for record in records if records.count(record) > 1]
    >>> checked = checks.check(unique, ("young", "old"), 3, Guarantee(1.0))
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(replay(checked.witness.write(f"{folder}/witness.json"), unique).holds)
    True
    """
    witness = Witness.read(file)
    algorithm = (
        None if suppress is None else Algorithm.of(suppress, witness.universe, returns, name)
    )
    return Replay(witness, witness.findings(algorithm))
