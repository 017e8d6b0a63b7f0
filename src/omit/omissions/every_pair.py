"""All pairs of neighbouring databases over a small universe, and what each of them loses.

Databases are multisets. A permutation of the universe that the algorithm respects, so that it keeps
of the renamed database the renamed records with the same probabilities, maps pairs to pairs with
the same loss: of those only one is computed. Such permutations are looked for and tried on every
database, exactly, so nothing about them needs to be believed.
"""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from omit._numeric import not_above, not_below
from omit._text import show_estimate
from omit.errors import InvalidInput
from omit.omissions.kept import Algorithm, Database, Law, all_databases, number_of_databases
from omit.omissions.pairs import SubsetPair, distance
from omit.omissions.subset_program import (
    LARGEST_PROGRAM,
    SubsetProgram,
    in_order,
    loss_not_above,
    loss_not_below,
)
from omit.study.cell import Cell, Computation
from omit.study.run import Progress, Report, run_study

Laws: TypeAlias = Mapping[Database, Law]

_MOST_DATABASES = 200_000
# Up to which universe all permutations are tried; beyond, exchanges of two and the reversal.
_ALL_PERMUTATIONS = 5
# The closed forms tell copies apart, so that every further record doubles the subsets.
_CLOSED_FORM_RECORDS = 8
# What is quicker than this is computed in this process.
_AT_ONCE = 8.0
_GROWTH_OF_COST = 1.5


@dataclass(frozen=True)
class PairOutcome:
    """What one pair of neighbouring databases loses.

    Attributes
    ----------
    database, record
        The pair, by the numbers of its records: the database and the record that the other has
        more.
    presence, absence
        What is proved in both directions.
    attained
        What some mechanism loses, in the direction that loses more.
    theorem_5_3, theorem_b_6
        Closed forms; None where they are not computed, and Theorem 5.3 where it does not hold.
    steps
        By how many records the outputs differ; None where they are random.
    """

    database: Database
    record: int
    presence: float
    absence: float
    attained: float
    theorem_5_3: float | None
    theorem_b_6: float | None
    steps: int | None

    @property
    def epsilon(self) -> float:
        """The larger loss of the two directions."""
        return max(self.presence, self.absence)

    @property
    def larger(self) -> Database:
        """The database with the record."""
        return tuple(sorted((*self.database, self.record)))


def all_laws(algorithm: Algorithm, up_to: int, seconds: float) -> Laws:
    """Return what is kept of every database of up to so many records.

    Raises
    ------
    InvalidInput
        If there are too many, or the function is too slow for them.
    """
    records = len(algorithm.universe)
    count = number_of_databases(records, up_to)
    if count > _MOST_DATABASES:
        raise InvalidInput(
            f"Expected fewer databases: {count:,} have up to {up_to} records over a universe of "
            f"{records}, and up to {_MOST_DATABASES:,} can be looked at."
        )
    largest = tuple(sorted(number % records for number in range(up_to)))
    start = time.perf_counter()
    if len(algorithm.law(largest)) > 1:
        _require_solvable(largest)
    _require_time(count * (time.perf_counter() - start), seconds, f"{count:,} databases")
    return {database: algorithm.law(database) for database in all_databases(records, up_to)}


def symmetries(laws: Laws, records: int) -> list[tuple[int, ...]]:
    """Return permutations of the universe that the algorithm respects, the identity left out.

    Examples
    --------
    >>> laws = {(): {(): 1}, (0,): {(): 1}, (1,): {(): 1}}
    >>> symmetries(laws, 2)
    [(1, 0)]
    """
    identity = tuple(range(records))
    if records <= _ALL_PERMUTATIONS:
        candidates = list(itertools.permutations(identity))
    else:
        candidates = [tuple(reversed(identity))]
        for one, other in itertools.combinations(identity, 2):
            exchanged = list(identity)
            exchanged[one], exchanged[other] = other, one
            candidates.append(tuple(exchanged))
    return [each for each in candidates if each != identity and _is_respected(each, laws)]


def _is_respected(permutation: Sequence[int], laws: Laws) -> bool:
    return all(
        {_renamed(kept, permutation): chance for kept, chance in law.items()}
        == laws[_renamed(database, permutation)]
        for database, law in laws.items()
    )


def _renamed(database: Database, permutation: Sequence[int]) -> Database:
    return tuple(sorted(permutation[record] for record in database))


def neighbours(laws: Laws, records: int, up_to: int) -> Iterator[tuple[Database, int]]:
    """Yield every database with a record more that the universe and the largest size allow."""
    for database in laws:
        if len(database) < up_to:
            for record in range(records):
                yield database, record


def representatives(
    laws: Laws, records: int, up_to: int
) -> dict[tuple[Database, int], tuple[tuple[Database, int], ...]]:
    """Return one pair for all that symmetries make of it, with all of them."""
    group = symmetries(laws, records)
    found: dict[tuple[Database, int], tuple[tuple[Database, int], ...]] = {}
    seen: set[tuple[Database, int]] = set()
    for pair in neighbours(laws, records, up_to):
        if pair in seen:
            continue
        orbit = {pair: None}
        queue = [pair]
        for database, record in queue:  # which grows meanwhile
            for permutation in group:
                image = _renamed(database, permutation), permutation[record]
                if image not in orbit:
                    orbit[image] = None
                    queue.append(image)
        seen.update(orbit)
        found[pair] = tuple(orbit)
    return found


def pair_of(laws: Laws, database: Database, record: int) -> SubsetPair:
    """Return what is kept of a database and of it with one record more."""
    larger = tuple(sorted((*database, record)))
    return SubsetPair(database, record, laws[database], laws[larger])


def outcomes(
    laws: Laws,
    records: int,
    up_to: int,
    epsilon: float,
    *,
    seconds: float,
    store: Path | str | None,
    where: str,
    progress: Report | None,
) -> dict[PairOutcome, int]:
    """Return what every pair loses up to symmetry, and how many pairs there are of each.

    Raises
    ------
    InvalidInput
        If that would take too long, or a program is too large or cannot be solved.
    """
    classes = representatives(laws, records, up_to)
    pairs = {pair: pair_of(laws, *pair) for pair in classes}
    costs = {
        (database, record): _parts((*database, record)) if _is_random(pair) else 0
        for (database, record), pair in pairs.items()
    }
    hardest = max(costs, key=lambda pair: costs[pair])
    if costs[hardest]:
        _require_solvable((*hardest[0], hardest[1]))
    start = time.perf_counter()
    outcome(pairs[hardest], epsilon)
    once = time.perf_counter() - start
    whole = sum((cost / max(costs[hardest], 1)) ** _GROWTH_OF_COST for cost in costs.values())
    estimate = once * max(whole, 1.0)
    _require_time(estimate, seconds, f"{len(classes):,} pairs of databases")
    if store is None and estimate < _AT_ONCE:
        rows = _at_once(pairs, epsilon, progress)
    else:
        rows = _as_study(pairs, costs, epsilon, store, where, progress)
    return {
        PairOutcome(*pair, **row): len(classes[pair]) for pair, row in zip(pairs, rows, strict=True)
    }


def _require_time(estimate: float, seconds: float, what: str) -> None:
    if estimate > seconds:
        raise InvalidInput(
            f"Looking at {what} would take {show_estimate(estimate)}, more than the "
            f"{show_estimate(seconds)} that are allowed; take fewer records, or allow more seconds."
        )


def _is_random(pair: SubsetPair) -> bool:
    return len(pair.without) > 1 or len(pair.with_record) > 1


def _parts(database: Database) -> int:
    return math.prod(count + 1 for count in Counter(database).values())


def _require_solvable(database: Database) -> None:
    if _parts(database) > LARGEST_PROGRAM:
        raise InvalidInput(
            f"Expected smaller databases: the linear program of one with {len(database):,} records "
            f"has {_parts(database):,} parts, and up to {LARGEST_PROGRAM:,} are solved."
        )


def outcome(pair: SubsetPair, epsilon: float) -> dict[str, Any]:
    """Return what a pair loses, by the attributes of a `PairOutcome`.

    Examples
    --------
    >>> pair = SubsetPair((0,), 1, {(0,): Fraction(1)}, {(): Fraction(1)})
    >>> outcome(pair, 0.5)["presence"], outcome(pair, 0.5)["steps"]
    (0.5, 1)
    """
    closed = _closed_forms(pair, epsilon)
    if not _is_random(pair):
        (kept,), (kept_with,) = pair.without, pair.with_record
        steps = distance(kept, kept_with)
        loss = not_below(Fraction(epsilon) * steps)
        return {
            "presence": loss,
            "absence": loss,
            "attained": not_above(Fraction(epsilon) * steps),
            "steps": steps,
            **closed,
        }
    program = SubsetProgram.of(in_order((*pair.database, pair.record)), epsilon)
    presence = program.largest_ratio(pair.with_record, pair.without)
    absence = program.largest_ratio(pair.without, pair.with_record)
    return {
        "presence": loss_not_below(presence.proved),
        "absence": loss_not_below(absence.proved),
        "attained": loss_not_above(max(presence.attained, absence.attained)),
        "steps": None,
        **closed,
    }


def _closed_forms(pair: SubsetPair, epsilon: float) -> dict[str, float | None]:
    """Return Theorems 5.3 and B.6 with copies told apart, where they can be."""
    forms: dict[str, float | None] = {"theorem_5_3": None, "theorem_b_6": None}
    if len(pair.database) < _CLOSED_FORM_RECORDS:
        apart = pair.told_apart()
        with suppress(InvalidInput):  # too large an epsilon for a closed form
            forms["theorem_b_6"] = apart.theorem_b_6(epsilon).epsilon
            if apart.support_gap() is None:
                forms["theorem_5_3"] = forms["theorem_b_6"]
    return forms


def _at_once(
    pairs: Mapping[tuple[Database, int], SubsetPair], epsilon: float, report: Report | None
) -> list[dict[str, Any]]:
    start, rows = time.perf_counter(), []
    tell: Callable[[Progress], None] = report or (lambda progress: None)
    for done, pair in enumerate(pairs.values()):
        spent = time.perf_counter() - start
        left = spent * (len(pairs) - done) / done if done else None
        tell(Progress(done, len(pairs), 0, 0, spent, left))
        rows.append(outcome(pair, epsilon))
    return rows


def _as_study(
    pairs: Mapping[tuple[Database, int], SubsetPair],
    costs: Mapping[tuple[Database, int], int],
    epsilon: float,
    store: Path | str | None,
    where: str,
    report: Report | None,
) -> list[dict[str, Any]]:
    """Compute pairs as cells of a study, whose identity is what is kept, so that it goes on."""
    cells = [
        PAIRS.cell(
            epsilon=epsilon,
            database=database,
            record=record,
            without=_as_parameter(pair.without),
            with_record=_as_parameter(pair.with_record),
            parts=costs[database, record],
        )
        for (database, record), pair in pairs.items()
    ]
    if store is not None:
        return _rows(cells, store, where, report)
    with tempfile.TemporaryDirectory() as folder:
        return _rows(cells, Path(folder) / "study", where, report)


def _rows(
    cells: Sequence[Cell], store: Path | str, where: str, report: Report | None
) -> list[dict[str, Any]]:
    results = run_study(cells, store, where, progress=report)
    names = ("presence", "absence", "attained", "theorem_5_3", "theorem_b_6", "steps")
    return [{name: results.row(cell)[name] for name in names} for cell in cells]


def _as_parameter(law: Mapping[Database, Any]) -> tuple[tuple[Database, str], ...]:
    return tuple((kept, str(chance)) for kept, chance in sorted(law.items()))


def _law(parameter: Sequence[tuple[Sequence[int], str]]) -> Law:
    return {tuple(kept): Fraction(chance) for kept, chance in parameter}


def _compute(
    parameters: Mapping[str, Any], prepared: object, rng: np.random.Generator
) -> dict[str, Any]:
    pair = SubsetPair(
        tuple(parameters["database"]),
        parameters["record"],
        _law(parameters["without"]),
        _law(parameters["with_record"]),
    )
    return outcome(pair, parameters["epsilon"])


def _cost(parameters: Mapping[str, Any]) -> float:
    return float(1.0 + parameters["parts"] ** _GROWTH_OF_COST)


PAIRS = Computation("suppression of a pair", 1, _compute, cost=_cost)
