"""Swapping: what it does to a table, and what it promises."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from omit._numeric import FloatArray
from omit.disclosure.assessment import assess
from omit.disclosure.protection import CHANGE_QUASI_IDENTIFIERS, ExactDelta, LeastDelta
from omit.disclosure.swapping import RandomisedSwapping, Swapping, selection_probabilities
from omit.disclosure.swapping_exact import exact_swapping_delta, lower_bound_delta
from omit.disclosure.table import Attribute, CountTable, Universe
from omit.errors import InvalidInput, WrongNeighbours
from omit.guarantee import REPLACE, Guarantee, NoGuarantee
from tests.disclosure.enumeration import draw_donors, hockey_stick, product

RACE = Attribute("race", ("x", "y", "z"))
TOWN = Attribute("town", ("A", "B"))
SEX = Attribute("sex", ("F", "M"))
TABLE = CountTable((RACE, TOWN, SEX), np.array([3, 0, 1, 2, 0, 0, 4, 1, 1, 0, 0, 2]))
Record = tuple[int, ...]


@cache
def selected(scores: tuple[float, ...], epsilon: float) -> FloatArray:
    return selection_probabilities(scores, epsilon)


def donor_law(
    records: list[Record], own: int, epsilon: float | None, donor: str
) -> dict[int, float]:
    """Return the law of the donor of a record, race being swapped, from the definition."""
    others = [
        each
        for each in range(len(records))
        if each != own and (donor == "another record" or records[each][0] != records[own][0])
    ]
    if not others:
        return {}
    width = len(records[own]) - 1
    distance = np.array(
        [
            sum(a != b for a, b in zip(records[own][1:], records[e][1:], strict=True)) / width
            for e in others
        ]
    )
    if epsilon is not None:
        chances = selected(tuple(-distance), epsilon)
    else:
        nearest = distance == distance.min()
        chances = nearest / nearest.sum()
    return dict(zip(others, chances.tolist(), strict=True))


def row_laws(
    records: list[Record], rate: float, epsilon: float | None, donor: str
) -> list[dict[object, float]]:
    laws = []
    for own, record in enumerate(records):
        chances = donor_law(records, own, epsilon, donor)
        law: dict[object, float] = {record: 1 - rate if chances else 1.0}
        for each, chance in chances.items():
            released = (records[each][0], *record[1:])
            law[released] = law.get(released, 0.0) + rate * chance
        laws.append(law)
    return laws


def swapping(kind: str, rate: float, donor: Any = "another record") -> Swapping:
    if kind == "randomised":
        return RandomisedSwapping(("race",), rate, donor, epsilon=1.5)
    return Swapping(("race",), rate, donor)


@pytest.mark.parametrize("kind", ["randomised", "nearest"])
@pytest.mark.parametrize("donor", ["another record", "other quasi-identifiers"])
def test_errors_of_swapping_are_those_of_independent_rows(kind: str, donor: str) -> None:
    mechanism = swapping(kind, 0.4, donor)
    errors = mechanism.errors(TABLE)
    records = [tuple(row) for row in TABLE.records().tolist()]
    laws = row_laws(records, 0.4, 1.5 if kind == "randomised" else None, donor)
    for cell in range(TABLE.cells):
        where = tuple(int(each) for each in np.unravel_index(cell, TABLE.shape))
        chances = [law.get(where, 0.0) for law in laws]
        distribution = np.array([1.0])
        for chance in chances:  # of the number of records in the cell
            distribution = np.convolve(distribution, [1 - chance, chance])
        values = np.arange(len(distribution)) - TABLE.flat[cell]
        assert errors.bias[cell] == pytest.approx(distribution @ values, abs=1e-12)
        assert errors.absolute[cell] == pytest.approx(distribution @ np.abs(values), abs=1e-12)
        spread = math.fsum(chance * (1 - chance) for chance in chances)
        assert errors.variance[cell] == pytest.approx(spread, abs=1e-12)


def test_a_fixed_donor_is_the_first_of_the_nearest() -> None:
    mechanism = Swapping(("race",), rate=1.0, ties="first")
    released = mechanism.draw(TABLE, np.random.default_rng(0))[0]
    records = [tuple(row) for row in TABLE.records().tolist()]
    expected = np.zeros(TABLE.shape)
    for own, record in enumerate(records):
        law = donor_law(records, own, None, "another record")
        donor = min(each for each, chance in law.items() if chance > 0)
        expected[(records[donor][0], *record[1:])] += 1
    assert (released == expected.reshape(-1)).all()


@pytest.mark.parametrize("kind", ["randomised", "nearest"])
def test_draws_have_the_closed_form_mean_and_keep_all_records(kind: str) -> None:
    """False alarms: 12 cells at 5 standard errors, below 1e-5."""
    mechanism, runs = swapping(kind, 0.3), 8000
    draws = mechanism.draw(TABLE, np.random.default_rng(4), runs)
    errors = mechanism.errors(TABLE)
    assert (draws.sum(axis=1) == TABLE.size).all()
    off = np.abs(draws.mean(axis=0) - TABLE.flat - errors.bias)
    assert (off <= 5 * np.sqrt(errors.variance / runs) + 1e-12).all()
    rest = draws.reshape(runs, *TABLE.shape).sum(axis=1)
    assert (rest == TABLE.marginal(["town", "sex"])).all(), "all else is released as it is"


def test_drawing_donors_one_by_one_gives_the_law_of_the_cells() -> None:
    """False alarms: 12 cells at 5 standard errors, below 1e-5."""
    mechanism, runs, rng = (
        RandomisedSwapping(("race",), 0.5, epsilon=2.0),
        4000,
        np.random.default_rng(8),
    )
    records = TABLE.records()
    total = np.zeros(TABLE.shape)
    for _ in range(runs):
        donors = draw_donors(records, [0], 2.0, rng)
        released = records.copy()
        swapped = rng.random(len(records)) < 0.5
        released[swapped, 0] = records[donors[swapped], 0]
        np.add.at(total, tuple(released.T), 1)
    errors = mechanism.errors(TABLE)
    off = np.abs(total.reshape(-1) / runs - TABLE.flat - errors.bias)
    assert (off <= 5 * np.sqrt(errors.variance / runs) + 1e-12).all()


def exact_by_listing(
    records: int,
    races: int,
    rest: tuple[int, ...],
    rate: float,
    epsilon: float | None,
    at: float,
    donor: str,
) -> float:
    """Return delta over all data sets, all neighbours and all answers, row by row."""
    worst = 0.0
    profiles: list[Record] = list(itertools.product(*map(range, rest)))
    kinds: list[Record] = [(race, *profile) for race in range(races) for profile in profiles]
    for others in itertools.combinations_with_replacement(kinds, records - 1):
        for profile in profiles:
            laws = [
                product([*row_laws([(race, *profile), *others], rate, epsilon, donor)])
                for race in range(races)
            ]
            for one, other in itertools.permutations(laws, 2):
                worst = max(worst, hockey_stick(one, other, at))
    return worst


@pytest.mark.parametrize("kind", ["randomised", "nearest"])
@pytest.mark.parametrize("donor", ["another record", "other quasi-identifiers"])
@pytest.mark.parametrize(
    ("records", "races", "rest", "rate", "at"),
    [
        *(
            (*case, *each)
            for case in ((2, 2, (2,)), (3, 2, (2,)), (3, 3, (2,)), (3, 4, (1,)))
            for each in ((0.25, 1.5), (0.9, 0.2))
        ),
        (4, 2, (2, 2), 0.6, 1.5),
        (5, 2, (2,), 0.6, 0.3),
    ],
)
def test_the_exact_delta_is_that_of_all_data_sets_and_all_answers(
    kind: str, donor: str, records: int, races: int, rest: tuple[int, ...], rate: float, at: float
) -> None:
    mechanism = swapping(kind, rate, donor)
    others = [Attribute(f"other {place}", tuple("AB"[:size])) for place, size in enumerate(rest)]
    universe = Universe((Attribute("race", tuple("abcd"[:races])), *others), records)
    exact = exact_swapping_delta(mechanism, universe, at)
    epsilon = 1.5 if kind == "randomised" else None
    assert exact is not None
    listed = exact_by_listing(records, races, rest, rate, epsilon, at, donor)
    assert exact.delta == pytest.approx(listed, abs=1e-9)
    assert exact.delta >= listed - 1e-15


def test_the_relation_of_swapping_is_known_by_its_name() -> None:
    mechanism, universe = Swapping(("race",)), Universe((RACE, TOWN), 3)
    named = mechanism.guarantee(universe, "change-quasi-identifiers")
    assert named == mechanism.guarantee(universe, CHANGE_QUASI_IDENTIFIERS)


def test_theorem_three_fails_for_a_small_probability_of_keeping() -> None:
    mechanism = RandomisedSwapping(("race",), rate=1.0, epsilon=0.1)
    answer = mechanism.guarantee(Universe((RACE, TOWN), 3), CHANGE_QUASI_IDENTIFIERS)
    assert isinstance(answer, Guarantee)
    assert answer.delta == pytest.approx(0.762, abs=5e-4)
    assert mechanism.published_delta(3) == pytest.approx(0.698, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("records", [2, 3, 4, 5])
def test_the_lower_bound_is_below_the_exact_delta(records: int) -> None:
    for rate, donor in itertools.product(
        (0.25, 0.8), ("another record", "other quasi-identifiers")
    ):
        mechanism = swapping("randomised", rate, donor)
        exact = exact_swapping_delta(mechanism, Universe((RACE, TOWN), records), 1.5)
        assert exact is not None
        floor = lower_bound_delta(mechanism, Universe((RACE, TOWN), records))
        assert floor is not None
        assert floor.delta <= exact.delta + 1e-9


@pytest.mark.parametrize("rate", [0.25, 1.0])
@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("donor", ["another record", "other quasi-identifiers"])
@pytest.mark.parametrize("records", [2, 7, 40])
def test_the_lower_bound_is_how_often_a_value_that_only_one_record_has_is_released(
    rate: float, ties: Any, donor: Any, records: int
) -> None:
    mechanism = Swapping(("race",), rate, donor, ties)
    alone = CountTable((RACE, TOWN), np.array([1, 0, records - 1, 0, 0, 0]))
    law = mechanism.law(alone)
    absent = math.prod(((1 - law.chances[:, 0]) ** law.counts).tolist())
    floor = lower_bound_delta(mechanism, Universe((RACE, TOWN), records))
    assert floor is not None
    assert floor.delta == pytest.approx(1 - absent, abs=1e-12)
    assert floor.delta <= 1 - absent + 1e-15


def test_a_lower_bound_is_rounded_down_and_an_upper_bound_up() -> None:
    floor = lower_bound_delta(Swapping(("race",)), Universe((RACE, TOWN), 10))
    assert floor is not None
    assert floor.delta == pytest.approx(0.805987, abs=1e-6)
    assert str(floor) == "0.8059"
    assert str(LeastDelta(-20.0)) == "1 - 10^-8"
    assert ExactDelta.of_delta(0.0, 0.805912).show_delta() == "0.806"
    assert ExactDelta.of_shortfall(0.0, -20.0).show_delta() == "1 - 10^-9"


def test_without_room_for_the_records_that_are_alike_there_is_no_lower_bound() -> None:
    """Two cells of each of three towns' races; see what the declared largest count allows."""
    mechanism = Swapping(("race",))
    for largest, known in ((2, False), (8, False), (9, True), (10, True)):
        floor = lower_bound_delta(mechanism, Universe((RACE, TOWN), 10, largest))
        assert (floor is not None) == known, largest
    two = Swapping(("sex",))
    assert lower_bound_delta(two, Universe((SEX, TOWN), 10, 9)) is None
    assert lower_bound_delta(two, Universe((SEX, TOWN), 10, 10)) is not None
    answer = mechanism.guarantee(Universe((RACE, TOWN), 10, 4), CHANGE_QUASI_IDENTIFIERS)
    assert isinstance(answer, NoGuarantee)
    assert "at least" not in answer.reason
    assert "no count is above 4" in answer.reason


@pytest.mark.parametrize("records", [3, 10])
def test_where_nothing_can_change_nothing_is_told(records: int) -> None:
    one = Attribute("race", ("x",))
    mechanism = Swapping(("race",))
    nothing = Guarantee(0.0, 0.0, CHANGE_QUASI_IDENTIFIERS)
    assert mechanism.guarantee(Universe((one, TOWN), records), nothing.neighbours) == nothing
    full = Universe((RACE, TOWN), 12, 2)
    assert mechanism.guarantee(full, CHANGE_QUASI_IDENTIFIERS) == nothing
    assert mechanism.guarantee(full) == Guarantee(0.0, 0.0, REPLACE)


def test_a_declared_largest_count_makes_the_enumeration_an_upper_bound() -> None:
    """Every cell holds one record at most: of 3 records in 4 cells one may change."""
    mechanism = Swapping(("race",), 0.0)
    answer = mechanism.guarantee(Universe((SEX, RACE), 3, 1), CHANGE_QUASI_IDENTIFIERS)
    assert isinstance(answer, NoGuarantee)
    assert "δ < 1" not in answer.reason, "delta is 1 in the enumeration, which knows no limit"
    some = Swapping(("race",), 0.5)
    bound, exact = (
        some.guarantee(Universe((SEX, RACE), 3, largest), CHANGE_QUASI_IDENTIFIERS)
        for largest in (1, 3)
    )
    assert bound == exact


@pytest.mark.parametrize("epsilon", [700.0, 800.0, 1e300])
def test_a_huge_epsilon_has_a_delta_too(epsilon: float) -> None:
    mechanism = RandomisedSwapping(("race",), 0.25, epsilon=epsilon)
    answer = mechanism.guarantee(Universe((RACE, TOWN), 3), CHANGE_QUASI_IDENTIFIERS)
    assert isinstance(answer, Guarantee)
    assert answer.delta == pytest.approx(0.8359375)


def test_what_is_not_swapped_is_released_and_leaves_no_guarantee() -> None:
    answer = RandomisedSwapping(("race",)).guarantee(Universe((RACE, TOWN, SEX), 4))
    assert isinstance(answer, NoGuarantee)
    assert "town, sex are released as they are" in answer.reason
    assert "town = A" in str(answer.witness)


def test_many_records_have_a_lower_bound_and_no_guarantee() -> None:
    answer = RandomisedSwapping(("race",), 0.25).guarantee(
        Universe((RACE, TOWN), 7634), CHANGE_QUASI_IDENTIFIERS
    )
    assert isinstance(answer, NoGuarantee)
    assert "at least 0.8053" in answer.reason


def test_if_everything_is_swapped_changing_a_record_is_changing_its_quasi_identifiers() -> None:
    mechanism = RandomisedSwapping(("race",), 0.5, epsilon=1.0)
    here = Universe((RACE,), 4)
    changed, quasi = (
        mechanism.guarantee(here, each) for each in (REPLACE, CHANGE_QUASI_IDENTIFIERS)
    )
    assert isinstance(changed, Guarantee)
    assert isinstance(quasi, Guarantee)
    assert changed.delta == quasi.delta
    assert (changed.neighbours, quasi.neighbours) == (REPLACE, CHANGE_QUASI_IDENTIFIERS)


def test_swapping_nothing_promises_nothing() -> None:
    answer = Swapping(("race",), rate=0.0).guarantee(
        Universe((RACE, TOWN), 4), CHANGE_QUASI_IDENTIFIERS
    )
    assert isinstance(answer, NoGuarantee)
    assert "δ < 1" in answer.reason


def test_a_guarantee_under_replace_holds_for_quasi_identifiers_too() -> None:
    assert Guarantee(1.0, 1e-6, "replace").to(CHANGE_QUASI_IDENTIFIERS) == Guarantee(
        1.0, 1e-6, CHANGE_QUASI_IDENTIFIERS
    )


def test_a_huge_epsilon_chooses_the_nearest() -> None:
    nearest = Swapping(("race",), 0.4).errors(TABLE).bias
    huge = RandomisedSwapping(("race",), 0.4, epsilon=1e5).errors(TABLE).bias
    np.testing.assert_allclose(huge, nearest, atol=1e-12)


def test_tables_that_are_too_large_to_swap_or_assess_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("omit.disclosure.swapping._MOST_NUMBERS", 50)
    with pytest.raises(InvalidInput, match="3 values in 7 occupied cells, too many"):
        Swapping(("race",)).law(TABLE)
    monkeypatch.setattr("omit.disclosure.question._MOST_CELLS", 11)
    with pytest.raises(InvalidInput, match="12 cells, and up to 11 can be assessed"):
        assess(TABLE, 1.0)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"rate=1.5 in \[0, 1\]"):
        Swapping(("race",), rate=1.5)
    with pytest.raises(InvalidInput, match="'rase' is not an attribute"):
        Swapping(("rase",)).errors(TABLE)
    with pytest.raises(InvalidInput, match="several texts"):
        Swapping("race")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="donor"):
        Swapping(("race",), donor="anyone")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="ties"):
        Swapping(("race",), ties="last")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="epsilon above 0"):
        RandomisedSwapping(("race",), epsilon=0.0)
    with pytest.raises(InvalidInput, match="ties='random'"):
        RandomisedSwapping(("race",), ties="first")
    with pytest.raises(WrongNeighbours):
        Swapping(("race",)).guarantee(Universe((RACE, TOWN), 4), "add-remove")


def test_unused_profiles_and_records_without_donor_stay() -> None:
    lonely = CountTable((RACE, TOWN), np.array([5, 0, 0, 0, 0, 0]))
    mechanism = Swapping(("race",), rate=1.0, donor="other quasi-identifiers")
    assert (mechanism.draw(lonely, np.random.default_rng(0))[0] == lonely.flat).all()
    assert mechanism.errors(lonely).absolute.max() < 1e-13
