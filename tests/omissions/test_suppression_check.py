"""Any suppression, handed over as a function, on all small databases."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from omit import (
    REPLACE,
    Guarantee,
    InvalidInput,
    Omission,
    OutlierScoreSuppression,
    PoissonSampling,
    RuleSuppression,
    Statement,
    WrongNeighbours,
)
from omit._numeric import FloatArray, as_array, expm1_ratio
from omit.laws.design import Design, Independent
from omit.omissions import SubsetPair, Witness, check, replay
from omit.omissions.every_pair import all_laws, neighbours, outcomes, pair_of, symmetries
from omit.omissions.kept import Algorithm, all_databases
from omit.omissions.outlier_score import outlier_score_pair
from omit.omissions.target_sets import SMALLEST, steps_within
from omit.study.run import Progress

UNIVERSE = ("young", "old", "rich")
ONE = Guarantee(1.0)
Records = tuple[Any, ...]


def unique(records: Records) -> list[Any]:
    return [record for record in records if records.count(record) > 1]


def often(records: Records) -> list[float]:
    return [0.9 if records.count(record) > 1 else 0.5 for record in records]


def all_but_one(records: Records) -> dict[Records, Fraction]:
    law: dict[Records, Fraction] = {} if records else {(): Fraction(1)}
    for number in range(len(records)):
        rest = records[:number] + records[number + 1 :]
        law[rest] = law.get(rest, Fraction(0)) + Fraction(1, len(records))
    return law


def by_hand(records: Records) -> dict[Records, float]:
    """Return the law of `often` by going through all subsets of positions."""
    law: dict[Records, float] = {}
    for kept in itertools.product((True, False), repeat=len(records)):
        chances = [p if k else 1 - p for p, k in zip(often(records), kept, strict=True)]
        part = tuple(r for r, k in zip(records, kept, strict=True) if k)
        law[part] = law.get(part, 0.0) + math.prod(chances)
    return law


def loss_over_whole_mechanisms(
    suppress: Callable[[Records], Any], universe: Sequence[Hashable], up_to: int, epsilon: float
) -> float:
    """Return the largest loss by programs over mechanisms on all databases, not parts of a pair."""
    algorithm = Algorithm.of(suppress, universe)
    databases = all_databases(len(universe), up_to)
    number = {database: place for place, database in enumerate(databases)}
    rows = []
    for database in databases:
        for record in range(len(universe)):
            larger = number.get(tuple(sorted((*database, record))))
            if larger is not None:
                for one, other in ((number[database], larger), (larger, number[database])):
                    row = np.zeros(len(databases))
                    row[one], row[other] = 1.0, -math.exp(epsilon)
                    rows.append(row)
    worst = 0.0
    for database, record in neighbours({each: {} for each in databases}, len(universe), up_to):
        laws = [np.zeros(len(databases)) for _ in range(2)]
        for law, each in zip(laws, (database, tuple(sorted((*database, record)))), strict=True):
            for kept, chance in algorithm.law(each).items():
                law[number[kept]] += float(chance)
        for above, below in (laws, laws[::-1]):
            solved = linprog(
                -above, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=[below], b_eq=[1.0]
            )
            worst = max(worst, math.log(-solved.fun))
    return worst


@pytest.mark.parametrize("suppress", [unique, often, all_but_one])
def test_the_bound_is_that_of_programs_over_mechanisms_on_all_databases(
    suppress: Callable[[Records], Any],
) -> None:
    for epsilon in (0.3, 1.0):
        checked = check(suppress, UNIVERSE[:2], 3, Guarantee(epsilon))
        whole = loss_over_whole_mechanisms(suppress, UNIVERSE[:2], 3, epsilon)
        assert checked.epsilon == pytest.approx(whole, abs=1e-8)
        assert checked.worst.attained == pytest.approx(whole, abs=1e-8)


def test_poisson_sampling_handed_over_as_a_function_has_its_formula() -> None:
    checked = check(lambda records: [0.3] * len(records), "abc", 4, Guarantee(1.0, 1e-6))
    stated = PoissonSampling(rate=0.3).amplify(Guarantee(1.0, 1e-6))
    assert isinstance(stated, Statement)
    assert checked.epsilon == pytest.approx(stated.epsilon, abs=1e-12)
    assert checked.delta == pytest.approx(stated.delta, rel=1e-9)
    assert checked.bounds["theorem-5.3"] == pytest.approx(stated.epsilon, abs=1e-12)


def test_chances_of_records_and_their_subsets_are_the_same_suppression() -> None:
    one, other = (check(way, UNIVERSE, 3, ONE) for way in (often, by_hand))
    assert one.epsilon == pytest.approx(other.epsilon, abs=1e-12)
    assert one.worst.database == other.worst.database


def test_records_that_are_kept_and_marks_of_records_are_the_same_suppression() -> None:
    def marks(records: Records) -> list[bool]:
        return [records.count(record) > 1 for record in records]

    one, other = (check(way, UNIVERSE, 4, ONE) for way in (unique, marks))
    assert (one.bounds, one.targets) == (other.bounds, other.targets)


def test_the_loss_of_suppression_without_chance_is_its_largest_difference() -> None:
    checked = check(unique, UNIVERSE, 5, Guarantee(0.7, 1e-5))
    apart = 0
    for size in range(5):
        for database in itertools.combinations_with_replacement(UNIVERSE, size):
            for record in UNIVERSE:
                kept = [Counter(unique(each)) for each in (database, (*database, record))]
                apart = max(apart, sum(((kept[0] - kept[1]) + (kept[1] - kept[0])).values()))
    assert apart == 2
    assert checked.epsilon == pytest.approx(0.7 * apart)
    assert checked.bounds["theorem-5.1"] == checked.epsilon
    assert checked.delta == pytest.approx(1e-5 * (1 + math.exp(0.7)))


def loss_on(targets: Sequence[Records], left: dict[Records, Records], records: int) -> float:
    """Return the largest loss over mechanisms that are 1-DP on the target set, by programs."""
    number = {database: place for place, database in enumerate(targets)}
    rows = []
    for one, other in itertools.permutations(targets, 2):
        if sum(((Counter(one) - Counter(other)) + (Counter(other) - Counter(one))).values()) == 1:
            row = np.zeros(len(targets))
            row[number[one]], row[number[other]] = 1.0, -math.e
            rows.append(row)
    worst = 0.0
    for database, kept in left.items():
        for record in range(records):
            other = left.get(tuple(sorted((*database, record))), kept)
            for above, below in ((kept, other), (other, kept)):
                objective, unit = np.zeros((2, len(targets)))
                objective[number[above]], unit[number[below]] = -1.0, 1.0
                solved = linprog(
                    objective, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=[unit], b_eq=[1]
                )
                worst = max(worst, math.inf if solved.status == 3 else math.log(-solved.fun))
    return worst


def test_theorem_5_1_holds_on_a_target_set_that_is_smaller_than_all_parts() -> None:
    """By programs over all mechanisms that are private on that set alone."""
    checked = check(unique, UNIVERSE[:2], 4, ONE)
    algorithm = Algorithm.of(unique, UNIVERSE[:2])
    left = {database: next(iter(algorithm.law(database))) for database in all_databases(2, 4)}
    every, parts, smallest, image = checked.targets
    assert len(smallest.databases) < len(parts.databases) < len(every.databases)
    assert image.steps == math.inf
    for targets in checked.targets:
        assert loss_on(targets.databases, left, 2) == pytest.approx(targets.steps)


def test_nothing_can_be_spared_of_a_smallest_target_set() -> None:
    checked = check(unique, UNIVERSE[:2], 4, ONE)
    (targets,) = (each for each in checked.targets if each.name == SMALLEST)
    algorithm = Algorithm.of(unique, UNIVERSE[:2])
    left = {database: next(iter(algorithm.law(database))) for database in all_databases(2, 4)}
    for database in set(targets.databases) - set(left.values()):
        smaller = set(targets.databases) - {database}
        assert targets.steps < max(
            steps_within(smaller, left[one], left[tuple(sorted((*one, record)))])
            for one, record in neighbours({each: {} for each in left}, 2, 4)
        )


def scores(m: float, M: float, positions: Sequence[float]) -> Callable[[Records], list[float]]:
    def keep(records: Records) -> list[float]:
        return [
            1 - m - (M - m) * math.fsum(abs(x - y) for y in records) / len(records) for x in records
        ]

    return keep


def mixture_differences(values: int, up_to: int, m: float, M: float) -> list[float]:
    """Return by how much programs and the mixture bound differ, over all pairs of databases."""
    positions = [number / (values - 1) for number in range(values)]
    algorithm = Algorithm.of(scores(m, M, positions), positions, "probabilities")
    laws = all_laws(algorithm, up_to, 1e9)
    found = outcomes(
        laws, values, up_to, 1.0, seconds=1e9, store=None, where="cores", progress=None
    )
    differences = []
    for pair in found:
        records = [positions[number] for number in pair.database]
        added = positions[pair.record]
        distances = np.abs(np.subtract.outer([*records, added], [*records, added]))
        formula = outlier_score_pair(distances, m, M).loss(1.0)
        differences += [pair.presence - formula.presence, pair.absence - formula.absence]
    return differences


def test_outlier_scores_through_the_general_door_have_the_mixture_bound() -> None:
    assert np.abs(mixture_differences(3, 3, 0.1, 0.6)).max() < 1e-9


@pytest.mark.campaign
def test_outlier_scores_of_six_records_over_four_values_have_the_mixture_bound() -> None:
    for m, M in ((0.1, 0.3), (0.2, 0.9)):
        assert np.abs(mixture_differences(4, 6, m, M)).max() < 1e-9


@dataclass(frozen=True)
class Boastful(Omission):
    """Keeps every record with probability .9 and claims to halve epsilon."""

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        return as_array(epsilon) / 2

    def design(self, data: Any, distance: str) -> Design:
        return Independent(np.full(len(data.values), 0.9))

    def __str__(self) -> str:
        return "a boastful omission"


def test_a_false_claim_is_refuted_by_a_mechanism() -> None:
    checked = check(Boastful(), (0, 1), 2, ONE)
    assert checked.keeps_its_word is False
    assert checked.worst.attained == pytest.approx(math.log(1 + 0.9 * (math.e - 1)))
    assert checked.verdict.startswith("A boastful omission does not keep its word")
    assert checked.witness is not None
    assert all(checked.witness.findings().values())


@pytest.mark.parametrize(
    ("omission", "universe"),
    [
        (PoissonSampling(0.3), (0, 1, 2)),
        (OutlierScoreSuppression(0.1, 0.6), (0, 1, 2)),
        (RuleSuppression(keep=(0, 1)), (0, 1, 2)),
        (PoissonSampling(0.9) >> PoissonSampling(0.5), (0, 5)),
    ],
)
def test_the_omissions_of_the_package_keep_their_word(
    omission: Omission, universe: tuple[int, ...]
) -> None:
    checked = check(omission, universe, 3, ONE)
    assert checked.keeps_its_word is True
    assert checked.epsilon <= float(omission.epsilon_after(1.0)) + 1e-9


def test_a_claim_about_a_function_is_held_to_its_word() -> None:
    assert check(often, UNIVERSE, 2, ONE, claim=lambda epsilon: 2 * epsilon).keeps_its_word
    assert not check(often, UNIVERSE, 2, ONE, claim=PoissonSampling(0.9)).keeps_its_word


def test_what_is_computed_once_for_all_that_a_symmetry_makes_of_it_is_the_same() -> None:
    algorithm = Algorithm.of(often, UNIVERSE)
    laws = all_laws(algorithm, 3, 1e9)
    assert len(symmetries(laws, 3)) == 5
    checked = check(often, UNIVERSE, 3, ONE)
    assert checked.programs < checked.pairs == len(list(neighbours(laws, 3, 3)))
    whole = max(pair_of(laws, *pair).exact(1.0).epsilon for pair in neighbours(laws, 3, 3))
    assert checked.epsilon == pytest.approx(whole, abs=1e-9)


def test_a_universe_that_is_not_treated_alike_has_no_symmetry() -> None:
    laws = all_laws(
        Algorithm.of(lambda records: [r for r in records if r != "old"], UNIVERSE), 3, 9.0
    )
    assert symmetries(laws, 3) == [(2, 1, 0)]


def crowded(records: Records) -> list[Any]:
    return list(records) if len(records) % 2 else []


def test_losses_that_grow_with_the_database_are_said_and_not_extrapolated() -> None:
    growing, steady = check(crowded, "ab", 4, ONE), check(unique, "ab", 4, ONE)
    assert [size.epsilon for size in growing.sizes] == [1.0, 1.0, 3.0, 3.0]
    assert "The loss grows" in " ".join(check(crowded, "ab", 5, ONE).notes)
    assert "The loss grows" not in " ".join(steady.notes)
    assert "Nothing is proved of databases with more records" in " ".join(steady.notes)


def test_a_witness_is_replayed_and_every_tampering_is_noticed(tmp_path: Path) -> None:
    checked = check(often, UNIVERSE, 3, ONE)
    assert checked.witness is not None
    file = checked.witness.write(tmp_path / "witness.json")
    assert replay(file, often).holds
    assert replay(file).holds
    assert not replay(file, lambda records: [0.5] * len(records)).holds
    content = json.loads(file.read_text("utf-8"))

    def after(**changes: object) -> bool:
        file.write_text(json.dumps(content | changes), encoding="utf-8")
        return replay(file, often).holds

    yes = [dict(row) for row in content["yes"]]
    yes[0]["probability"] /= 2
    less = {name: rows[1:] for name, rows in content["multipliers"].items()}
    assert not after(yes=yes)
    assert not after(multipliers=less)
    assert not after(at_most=content["at_least"] - 1e-6)
    assert not after(at_least=content["at_most"] + 1e-6)
    assert not after(epsilon=0.9)
    assert after()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "omit witness of a suppression, version 1"}', "\x80"]
)
def test_what_is_no_witness_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "witness.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(InvalidInput, match="to be the witness of a suppression"):
        Witness.read(file)


def test_witnesses_of_records_with_several_columns_are_read_again(tmp_path: Path) -> None:
    people = (("young", 10115), ("old", 10117))
    checked = check(unique, people, 3, ONE)
    assert checked.witness is not None
    file = checked.witness.write(tmp_path / "witness.json")
    assert Witness.read(file) == checked.witness
    assert replay(file, unique).holds


def test_a_check_goes_on_from_what_is_stored(tmp_path: Path) -> None:
    told: list[Progress] = []
    first = check(often, UNIVERSE, 3, ONE, store=tmp_path / "study", where="process")
    again = check(
        often, UNIVERSE, 3, ONE, store=tmp_path / "study", where="process", progress=told.append
    )
    assert again == first
    assert told[0].done == told[0].total == first.programs
    assert first.bounds == check(often, UNIVERSE, 3, ONE).bounds


def drawing(records: Records) -> list[Any]:
    return [record for record in records if np.random.default_rng().uniform() < 0.5]


def fails(records: Records) -> list[Any]:
    raise ValueError("no")


@pytest.mark.parametrize(
    ("suppress", "universe", "message"),
    [
        (lambda records: records[:1], "ab", "order of the records nor"),
        (drawing, "ab", "order of the records nor"),
        (fails, "ab", "failed on"),
        (lambda records: None, "ab", "to be what is kept"),
        (lambda records: ["c"], "ab", "records of the universe"),
        (lambda records: ["a", "a", "a", "a"], "ab", "to be a part of it"),
        (lambda records: [1.5] * len(records), "ab", r"in \[0, 1\]"),
        (lambda records: [0.5] * (len(records) + 1), "ab", "one for each record"),
        (lambda records: {records: 0.5}, "ab", "to sum to 1, got 0.5"),
        (lambda records: {records: math.nan}, "ab", "finite"),
        (lambda records: [1] * len(records), (0, 1), "to be told whether"),
        (lambda records: records, (), "to be different"),
        (lambda records: records, "aa", "to be different"),
        (lambda records: records, ([1],), "numbers, texts or tuples"),
        (lambda records: records, range(100), "at most 64 records"),
        (7, "ab", "to be a function"),
    ],
)
def test_what_is_no_suppression_is_refused_with_a_sentence(
    suppress: Any, universe: Any, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        check(suppress, universe, 3, ONE)


def test_numbers_are_records_or_chances_as_is_said() -> None:
    def zeros(records: Records) -> list[int]:
        return [record for record in records if record == 0]

    assert check(zeros, (0, 1), 3, ONE, returns="kept").epsilon == 1.0
    assert check(lambda r: [0] * len(r), (0, 1), 3, ONE, returns="probabilities").epsilon == 0.0
    with pytest.raises(InvalidInput, match="one of: kept, probabilities, subsets"):
        check(zeros, (0, 1), 3, ONE, returns="all")


def test_what_would_take_too_long_is_refused_with_an_estimate() -> None:
    with pytest.raises(InvalidInput, match=r"databases: .* have up to 40 records"):
        check(often, range(10), 40, ONE)
    with pytest.raises(InvalidInput, match=r"would take .*, more than"):
        check(often, UNIVERSE, 6, ONE, seconds=0.01)
    with pytest.raises(InvalidInput, match="parts, and up to 1,024"):
        check(lambda records: [0.5] * len(records), "ab", 70, ONE)


def test_only_guarantees_under_add_remove_are_taken() -> None:
    with pytest.raises(WrongNeighbours, match="add-remove"):
        check(unique, "ab", 2, Guarantee(1.0, neighbours=REPLACE))
    with pytest.raises(InvalidInput, match="epsilon > 0"):
        check(unique, "ab", 2, Guarantee(0.0, 0.1))


def test_delta_is_that_of_the_shift_rule() -> None:
    checked = check(often, UNIVERSE, 2, Guarantee(1.0, 1e-3))
    stated = 1e-3 * float(expm1_ratio(checked.epsilon, 1.0))
    assert checked.delta == pytest.approx(stated, rel=1e-9)
    laws = all_laws(Algorithm.of(often, UNIVERSE), 2, 1e9)
    for database, record in neighbours(laws, 3, 2):
        pair = pair_of(laws, database, record)
        floats = SubsetPair.from_distributions(
            database,
            record,
            *({k: float(p) for k, p in law.items()} for law in (pair.without, pair.with_record)),
        )
        assert floats.exact_delta(1.0, 1e-3, checked.epsilon) <= checked.delta + 1e-8


def test_the_page_and_the_json_have_what_was_proved() -> None:
    checked = check(unique, UNIVERSE, 3, ONE)
    page, content = checked.page(), checked.to_json()
    assert "Target sets of Theorem 5.1" in page
    assert content["epsilon"] == 2.0
    assert content["worst"]["attained"] == 2.0
    assert checked.plot().get_ylabel() == "ε of the release"
