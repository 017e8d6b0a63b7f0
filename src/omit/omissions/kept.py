"""What somebody's own algorithm keeps of a database, as an exact law over its parts.

The algorithm is a function of a database, a tuple of records. It returns one of three things:

- *what is kept*, a list of records, or True or False for each: suppression without chance;
- *keep probabilities*, a number for each record: independent suppression;
- *a mapping from what may be kept to its probability*: any suppression.

It must not depend on the order of the records, nor draw: chances are stated. Probabilities are
taken at the value of their floating-point numbers, exactly, and may be fractions; those of a
mapping are divided by their sum.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, TypeAlias

import numpy as np

from omit import _validate
from omit._validate import shown
from omit.data.column import Column
from omit.errors import InvalidInput, Refused
from omit.omissions.base import Omission, checked_design

Database: TypeAlias = tuple[Any, ...]
"""Records by their numbers in the universe, in order."""
Law: TypeAlias = dict[Database, Fraction]
Suppress: TypeAlias = Callable[[tuple[Any, ...]], Any]

KEPT, PROBABILITIES, SUBSETS = "kept", "probabilities", "subsets"
RETURNS = (KEPT, PROBABILITIES, SUBSETS)
_SUM_TOLERANCE = 1e-9
# Sums of floats in another order differ by less, and what differs by less is the same answer.
_ORDER_TOLERANCE = 1e-9
_LARGEST_UNIVERSE = 64


@dataclass(frozen=True)
class Algorithm:
    """A way to suppress, as a function of databases over a universe.

    Parameters
    ----------
    function : callable
        Of a tuple of records.
    universe : tuple
        All records that there can be.
    returns : str, optional
        What the function returns: "kept", "probabilities" or "subsets"; by default what it looks
        like, which is refused where that is not clear.
    name : str
        How it is called in sentences.

    Examples
    --------
    >>> rare = Algorithm(lambda records: [r for r in records if records.count(r) > 1], ("a", "b"))
    >>> rare.law((0, 0, 1))
    {(0, 0): Fraction(1, 1)}
    """

    function: Suppress
    universe: tuple[Hashable, ...]
    returns: str | None = None
    name: str = "suppress"

    @classmethod
    def of(
        cls,
        suppress: Suppress | Omission,
        universe: Iterable[Hashable],
        returns: str | None = None,
        name: str | None = None,
    ) -> Algorithm:
        """Return the algorithm of a function, or of what an omission does to a column."""
        records = checked_universe(universe)
        if returns is not None:
            _validate.one_of("returns", returns, RETURNS)
        if isinstance(suppress, Omission):
            kept = _Designed(suppress, records)
            return cls(kept, records, PROBABILITIES, name or str(suppress))
        _validate.function("suppress", suppress)
        return cls(
            suppress, records, returns, name or str(getattr(suppress, "__name__", "suppress"))
        )

    def law(self, database: Database) -> Law:
        """Return what is kept of a database, with probabilities.

        Raises
        ------
        InvalidInput
            If the function fails, returns something else, or depends on the order of the records.
        """
        law = self._law(database)
        backwards = self._law(tuple(reversed(database)))
        for kept in law.keys() | backwards.keys():
            if abs(float(law.get(kept, 0)) - float(backwards.get(kept, 0))) > _ORDER_TOLERANCE:
                raise InvalidInput(
                    f"Expected {self.name} to depend on neither the order of the records nor "
                    f"chance; of {shown(list(self.records(database)))} it keeps "
                    f"{shown(list(self.records(kept)))} with probability "
                    f"{float(law.get(kept, 0)):g}, and with {float(backwards.get(kept, 0)):g} if "
                    "they come in the opposite order."
                )
        return law

    def records(self, database: Database) -> tuple[Hashable, ...]:
        """Return the records of a database."""
        return tuple(self.universe[number] for number in database)

    def _law(self, database: Database) -> Law:
        records = self.records(database)
        said = f"{self.name} of {shown(list(records))}"
        answer = _validate.outcome(
            f"{self.name} failed on {shown(list(records))}", self.function, records
        )
        if isinstance(answer, Mapping):
            if self.returns in (KEPT, PROBABILITIES):
                raise InvalidInput(f"Expected {said} to be {self.returns}, got a mapping.")
            return self._distribution(answer, database, said)
        if self.returns == SUBSETS:
            raise InvalidInput(f"Expected {said} to be a mapping, got {shown(answer)}.")
        listed = self._listed(answer, said)
        if self._is_chances(listed, records, said):
            return _independent(database, _chances(listed, database, said))
        return {self._part(listed, database, said): Fraction(1)}

    def _listed(self, answer: Any, said: str) -> list[Any]:
        """Return records or numbers as a list; a text is one record, or one for each letter."""
        if isinstance(answer, str):
            return [answer] if answer in self.universe else list(answer)
        if isinstance(answer, np.ndarray):
            answer = answer.tolist()
        try:
            return list(answer)
        except TypeError as error:
            raise InvalidInput(
                f"Expected {said} to be what is kept, keep probabilities, or a mapping from "
                f"subsets to probabilities, got {shown(answer)}."
            ) from error

    def _is_chances(self, listed: list[Any], records: Sequence[Hashable], said: str) -> bool:
        if self.returns is not None or not listed:
            return self.returns == PROBABILITIES
        if all(isinstance(item, bool | np.bool_) for item in listed):
            return True
        numbers = [isinstance(item, Real) for item in listed]
        if any(numbers) and any(isinstance(record, Real) for record in records):
            raise InvalidInput(
                f"Expected to be told whether {said} are the records that are kept or the "
                'probabilities of being kept, where records are numbers: returns="kept" or '
                'returns="probabilities".'
            )
        return all(numbers)

    def _part(self, kept: Iterable[Any], database: Database, said: str) -> Database:
        """Return a part of a database by the numbers of its records."""
        numbers = []
        for record in kept:
            try:
                numbers.append(self.universe.index(record))
            except ValueError as error:
                raise InvalidInput(
                    f"Expected {said} to keep records of the universe, got {shown(record)}."
                ) from error
        part = tuple(sorted(numbers))
        if Counter(part) - Counter(database):
            raise InvalidInput(f"Expected {said} to be a part of it, got {shown(list(kept))}.")
        return part

    def _distribution(self, answer: Mapping[Any, Any], database: Database, said: str) -> Law:
        law: Law = {}
        for kept, chance in answer.items():
            part = self._part(self._listed(kept, said), database, said)
            law[part] = law.get(part, Fraction(0)) + _chance(chance, said)
        total = sum(law.values(), Fraction(0))
        if abs(float(total) - 1) > _SUM_TOLERANCE:
            raise InvalidInput(
                f"Expected the probabilities of {said} to sum to 1, got {float(total):.12g}."
            )
        return {part: chance / total for part, chance in law.items() if chance}


def checked_universe(universe: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the records that there can be: different, and not more than can be tried."""
    if isinstance(universe, str):
        universe = tuple(universe)
    records = _validate.several("records of the universe", universe)
    try:
        different = len(set(records))
    except TypeError as error:
        raise InvalidInput(
            "Expected the records of the universe to be numbers, texts or tuples."
        ) from error
    if not records or different < len(records):
        raise InvalidInput(
            f"Expected the records of the universe to be different, got {shown(list(records))}."
        )
    if len(records) > _LARGEST_UNIVERSE:
        raise InvalidInput(
            f"Expected a universe of at most {_LARGEST_UNIVERSE} records, got {len(records)}."
        )
    if any(record != record for record in records):
        raise InvalidInput("Expected no record of the universe to be not a number.")
    return records


def _chance(value: Any, said: str) -> Fraction:
    """Return a probability at its exact value."""
    if isinstance(value, Rational) and not isinstance(value, bool):
        chance = Fraction(value)
    elif isinstance(value, bool | np.bool_):
        chance = Fraction(int(value))
    else:
        chance = Fraction(_validate.finite(f"every probability of {said}", value))
    if not 0 <= chance <= 1:
        raise InvalidInput(f"Expected every probability of {said} in [0, 1], got {shown(value)}.")
    return chance


def _chances(listed: list[Any], database: Database, said: str) -> list[Fraction]:
    if len(listed) != len(database):
        raise InvalidInput(
            f"Expected {said} to be {len(database)} probabilities, one for each record, got "
            f"{len(listed)}."
        )
    return [_chance(value, said) for value in listed]


def _independent(database: Database, chances: Sequence[Fraction]) -> Law:
    """Return the law of what is kept if every record is kept independently."""
    law: Law = {(): Fraction(1)}
    in_order = sorted(zip(database, chances, strict=True), key=lambda pair: pair[0])
    for record, chance in in_order:
        longer: Law = {}
        for kept, weight in law.items():
            for outcome, share in ((kept, 1 - chance), ((*kept, record), chance)):
                if share:
                    longer[outcome] = longer.get(outcome, Fraction(0)) + weight * share
        law = longer
    return law


@dataclass(frozen=True)
class _Designed:
    """The keep probabilities that an omission gives the records of a column."""

    omission: Omission
    universe: tuple[Any, ...]

    def __call__(self, records: tuple[Any, ...]) -> list[float]:
        if not records:
            return []
        counts = Counter(records)
        column = Column.from_counts(list(counts), list(counts.values()), **self._declared)
        design = checked_design(self.omission, column, "absolute")
        if design.inclusion is None:
            raise Refused(
                f"{self.omission} does not keep records independently; hand over a function that "
                "returns a mapping from subsets to probabilities."
            )
        chances = dict(zip(column.values.tolist(), design.inclusion.tolist(), strict=True))
        return [chances[record] for record in records]

    @property
    def _declared(self) -> dict[str, Any]:
        if all(isinstance(record, Real) for record in self.universe):
            return {"bounds": (float(min(self.universe)), float(max(self.universe)))}
        if all(isinstance(record, str) for record in self.universe):
            return {"categories": self.universe}
        raise Refused(
            f"What {self.omission} does is known for numbers or texts; hand over a function for "
            "other records."
        )


def all_databases(records: int, up_to: int) -> list[Database]:
    """Return all multisets of so many kinds of records, the small ones first.

    Examples
    --------
    >>> all_databases(2, 2)
    [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    """
    return [
        database
        for size in range(up_to + 1)
        for database in itertools.combinations_with_replacement(range(records), size)
    ]


def number_of_databases(records: int, up_to: int) -> int:
    """Return how many multisets there are of up to so many records.

    Examples
    --------
    >>> number_of_databases(2, 2)
    6
    """
    return math.comb(records + up_to, records)
