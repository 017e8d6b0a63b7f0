"""Quantiles chosen among points: privacy by enumeration, errors by the definition."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest

from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoOmission,
    Omission,
    OutlierScoreSuppression,
    PoissonSampling,
    Relation,
    RuleSuppression,
    WrongNeighbours,
    compare,
    expected_error,
    read,
)
from omit._numeric import FloatArray, as_array
from omit.exact.choice import Choice, Lattice, choice_probabilities, group_probabilities
from omit.guarantee import NoNoiseNeeded
from omit.laws.design import Design, Independent
from omit.mechanisms import LatticeQuantile
from omit.mechanisms.lattice_quantile import PreparedLattice, Selection
from tests.exact import ranked

SELECTIONS: tuple[Selection, ...] = ("permute-and-flip", "exponential")
each_selection = pytest.mark.parametrize("selection", SELECTIONS)
each_relation = pytest.mark.parametrize("neighbours", ["add-remove", "replace"])


def neighbours_of(counts: tuple[int, ...], relation: str) -> list[tuple[int, ...]]:
    """Return the databases with one record more, or with one record exchanged."""
    more = [
        tuple(count + (index == added) for index, count in enumerate(counts))
        for added in range(len(counts))
    ]
    if relation == "add-remove":
        return more
    return [
        tuple(count - (index == removed) for index, count in enumerate(added))
        for added in more
        for removed in range(len(counts))
        if added[removed] > 0
    ]


def law(counts: tuple[int, ...], mechanism: LatticeQuantile, guarantee: Guarantee) -> FloatArray:
    """Return the probability of each point, with this many records at each of them."""
    lattice = Lattice(np.arange(len(counts)), len(counts) - 1)
    flips = mechanism.selection == "permute-and-flip"
    choice = Choice(mechanism.quantile, mechanism.scale(guarantee), flips)
    return choice_probabilities(lattice, np.array(counts), choice)


@each_selection
@each_relation
@pytest.mark.parametrize("share", [0.5, 0.25, 0.9])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_no_answer_shows_a_record_by_more_than_epsilon(
    selection: Selection, neighbours: str, share: float, epsilon: float
) -> None:
    mechanism = LatticeQuantile(selection, share)
    guarantee = Guarantee(epsilon, neighbours=neighbours)
    worst = 0.0
    for counts in itertools.product(range(4), repeat=4):
        before = law(counts, mechanism, guarantee)
        for other in neighbours_of(counts, neighbours):
            ratio = np.log(law(other, mechanism, guarantee) / before)
            worst = max(worst, float(np.abs(ratio).max()))
    assert 0.5 * epsilon < worst <= epsilon + 1e-9


# The points that lose are a huge gap, which has nearly all of the probability; where few records
# lie, some points gain. Values as (before the gap, after it), with counts: then which point gains.
WORST = [
    # The median with a record more at 0: the gap's rank is one half too high, that of 5 nears.
    ("add-remove", 0.5, {0: 2, 10: 2, -1: 4}, {0: 3, 10: 2, -1: 4}, 5),
    # With a record more at the far end the gap loses 0.9 of a rank, and what is beyond it gains.
    ("add-remove", 0.9, {0: 9, -9: 1}, {0: 9, -9: 1, -1: 1}, -5),
    ("add-remove", 0.25, {-1: 3, -9: 0, 5: 1}, {0: 1, -1: 3, 5: 1}, 3),
    # A record that moves from before the gap to its far end.
    ("replace", 0.5, {0: 4, -9: 2, -1: 2}, {0: 3, -9: 2, -1: 3}, -5),
    ("replace", 0.25, {0: 2, -9: 2, -1: 4}, {0: 1, -9: 2, -1: 5}, -5),
]


@each_selection
@pytest.mark.parametrize(("neighbours", "share", "first", "second", "gains"), WORST)
def test_no_smaller_scale_does_for_all_lattices(
    selection: Selection,
    neighbours: str,
    share: float,
    first: dict[int, int],
    second: dict[int, int],
    gains: int,
) -> None:
    epsilon, last = 1.0, 10**13
    mechanism = LatticeQuantile(selection, share)
    scale = mechanism.scale(Guarantee(epsilon, neighbours=neighbours))
    choice = Choice(share, scale, selection == "permute-and-flip")
    logarithms = []
    for records in (first, second):
        lattice = Lattice(np.array(sorted(where % (last + 1) for where in records)), last)
        counts = [records[where] for where in sorted(records, key=lambda each: each % (last + 1))]
        starts, ends, chances = group_probabilities(lattice, np.array(counts), choice)
        group = int(np.searchsorted(ends, gains % (last + 1)))
        logarithms.append(math.log(chances[group]) - math.log(ends[group] - starts[group] + 1))
    assert abs(logarithms[1] - logarithms[0]) == pytest.approx(epsilon, abs=1e-9)


def scale_after(mechanism: LatticeQuantile, omission: Omission, guarantee: Guarantee) -> float:
    base = omission.calibrate(guarantee)
    assert isinstance(base, Guarantee)
    return mechanism.scale(base)


def random_column(rng: np.random.Generator) -> Column:
    last = int(rng.integers(1, 6))
    number = int(rng.integers(1, min(last, 4) + 1))
    values = np.sort(rng.choice(last + 1, number, replace=False)) * 0.5 + 3
    return Column.from_counts(
        values, rng.integers(1, 3, number), bounds=(3, 3 + last * 0.5), step=0.5
    )


@each_selection
@pytest.mark.parametrize("metric", ["squared", "relative"])
def test_errors_are_those_of_the_definition_on_random_columns(
    selection: Selection, metric: str
) -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        column = random_column(rng)
        share = float(rng.choice([0.5, 0.25, 0.8]))
        mechanism = LatticeQuantile(selection, share, metric)  # type: ignore[arg-type]
        rate = float(rng.choice([0.2, 0.7, 1.0]))
        size = int(rng.integers(1, column.size + 1))
        poisson = PoissonSampling(rate) if rate < 1 else NoOmission()
        for omission, relation in (
            (poisson, "add-remove"),
            (FixedSizeSampling(size, column.size), "replace"),
        ):
            guarantee = Guarantee(float(rng.choice([0.3, 1.0, 4.0])), neighbours=relation)
            error = expected_error(column, mechanism, guarantee, omission, "exact")
            points = column.domain()[0]
            truth = mechanism.truth(column)
            errors = as_array((points - truth) ** 2)
            if metric == "relative":
                errors = as_array(100 * np.abs(points - truth) / truth)
            scale = scale_after(mechanism, omission, guarantee)
            choice = Choice(share, scale, selection == "permute-and-flip")
            where = np.searchsorted(points, column.values)
            by_definition = partial(
                ranked.expected_error, points=where, errors=errors, choice=choice
            )
            keep = [rate] * column.distinct
            fixed = size if relation == "replace" else None
            expected = ranked.expected_after(column.counts.tolist(), keep, by_definition, fixed)
            assert error.value == pytest.approx(expected, rel=1e-10, abs=1e-13)
            assert error.low <= expected * (1 + 1e-12)
            assert expected <= error.high * (1 + 1e-12)


def test_outlier_scores_are_exact_too() -> None:
    column = Column.from_counts([0, 1, 5], [2, 1, 1], bounds=(0, 5), step=1)
    mechanism, guarantee = LatticeQuantile(), Guarantee(1.0)
    omission = OutlierScoreSuppression(0.2, 0.6)
    keep = omission.design(column, "absolute").inclusion
    assert keep is not None
    choice = Choice(0.5, scale_after(mechanism, omission, guarantee), flips=True)
    errors = as_array((np.arange(6) - 0.5) ** 2)
    by_definition = partial(
        ranked.expected_error, points=np.array([0, 1, 5]), errors=errors, choice=choice
    )
    expected = ranked.expected_after([2, 1, 1], keep.tolist(), by_definition)
    found = expected_error(column, mechanism, guarantee, omission, "exact").value
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_rule_leaves_the_points_within_its_bounds() -> None:
    column = Column.from_counts([1, 3, 9], [2, 3, 1], bounds=(0, 10), step=1)
    error = expected_error(
        column, LatticeQuantile(), Guarantee(1.0), RuleSuppression(keep=(2.5, 9)), "exact"
    )
    alone = Column.from_counts([3, 9], [3, 1], bounds=(3, 9), step=1)
    assert error.value == expected_error(alone, LatticeQuantile(), Guarantee(1.0), truth=3.0).value


@pytest.mark.slow
def test_a_column_far_from_zero_errs_as_the_same_one_near_zero() -> None:
    near = Column.from_counts([1, 4], [3, 2], bounds=(0, 9), step=1)
    far = Column.from_counts([1e9 + 1, 1e9 + 4], [3, 2], bounds=(1e9, 1e9 + 9), step=1)
    for omission in (NoOmission(), PoissonSampling(0.5)):
        errors = [
            expected_error(column, LatticeQuantile(), Guarantee(1.0), omission).value
            for column in (near, far)
        ]
        assert errors[0] == pytest.approx(errors[1], rel=1e-12)
    prepared = LatticeQuantile().prepare(far, Guarantee(1.0))
    answers = prepared.answers(np.tile(far.counts, (50, 1)), np.random.default_rng(1))
    assert set(answers.tolist()) <= set((1e9 + np.arange(10)).tolist())


@each_selection
def test_simulated_errors_have_the_exact_mean(selection: Selection) -> None:
    column = Column.from_counts([1, 3, 4], [3, 1, 2], bounds=(0, 6), step=1)
    mechanism, guarantee = LatticeQuantile(selection), Guarantee(0.8)
    exact = expected_error(column, mechanism, guarantee, PoissonSampling(0.6), "exact").value
    simulated = expected_error(
        column, mechanism, guarantee, PoissonSampling(0.6), "simulated", runs=20_000
    )
    assert abs(simulated.value - exact) < 4 * (simulated.high - simulated.low) / 3.92


def integrated(
    prepared: PreparedLattice, design: Design, seed: int, runs: int
) -> tuple[float, ...]:
    column = prepared.column
    draws = (kept for kept, _ in column.draws(design, runs, np.random.default_rng(seed)))
    error = prepared.integrated_error(draws, design, None)
    return error.low, error.value, error.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "rate", "epsilon"), [([3, 2, 4], 0.5, 1.0), ([1, 14, 1], 0.7, 20.0)]
)
def test_intervals_of_drawn_samples_cover_the_exact_error(
    counts: list[int], rate: float, epsilon: float
) -> None:
    # In the second column a large error is so rare that most series of 50 runs see none.
    column = Column.from_counts([0, 2, 9], counts, bounds=(0, 9), step=1)
    prepared = LatticeQuantile().prepare(column, Guarantee(epsilon))
    assert isinstance(prepared, PreparedLattice)
    design = Independent(np.full(3, rate))
    exact = prepared.exact_error(design).value
    covered = 0
    for seed in range(200):
        low, value, high = integrated(prepared, design, seed, 50)
        assert low <= value <= high
        covered += low <= exact <= high
    assert covered >= 190


def test_intervals_of_large_columns_are_narrow_though_the_bounds_are_wide() -> None:
    ages = read("adult", "age")
    error = expected_error(ages, LatticeQuantile(), Guarantee(0.25), PoissonSampling(0.1))
    assert error.method == "simulated"
    assert error.reason is not None
    assert "transfer product" in error.reason
    # Squares of the distance to the bounds are 100,000 times as large.
    assert error.high - error.low < 0.1


def test_where_no_noise_is_needed_the_points_of_the_right_rank_are_chosen() -> None:
    column = Column.from_counts([1, 4], [2, 2], bounds=(0, 9), step=1)
    prepared = LatticeQuantile().prepare(column, NoNoiseNeeded("nothing is kept"))
    mean, variance = prepared.moments(np.array([[2, 2], [3, 2], [0, 0]]))
    assert mean.tolist() == pytest.approx([2.5, 1.0, 4.5])
    assert variance.tolist() == pytest.approx([15 / 12, 0.0, 99 / 12])


def test_all_relations_and_omissions_can_be_compared() -> None:
    ages = read("adult", "age")
    table = compare(
        ages,
        LatticeQuantile(),
        Guarantee(0.01),
        PoissonSampling(0.5),
        OutlierScoreSuppression(0.5, 0.6),
    )
    assert [row.error is not None for row in table.rows] == [True] * len(table.rows)
    replace = Guarantee(0.01, neighbours="replace")
    table = compare(ages, LatticeQuantile(), replace, FixedSizeSampling(100, ages.size))
    assert len(table.rows) == 2


def test_what_has_no_points_to_choose_from_is_refused() -> None:
    continuous = Column.from_values([1.5], bounds=(0, 2))
    with pytest.raises(InvalidInput, match=r"no declared step.*step=1 for whole numbers"):
        LatticeQuantile().prepare(continuous, Guarantee(1.0))
    with pytest.raises(InvalidInput, match="needs epsilon > 0"):
        LatticeQuantile().prepare(read("adult", "age"), Guarantee(0.0))
    with pytest.raises(InvalidInput, match="is text and has no median"):
        LatticeQuantile().prepare(read("adult", "sex"), Guarantee(1.0))
    halves = Column.from_counts([0, 1], [1, 1], bounds=(0, 1), step=1)
    with pytest.raises(InvalidInput, match="leave no point"):
        LatticeQuantile().prepare(halves, Guarantee(1.0), bounds=(0.2, 0.8))
    with pytest.raises(InvalidInput, match="selection='best' to be one of: permute-and-flip"):
        LatticeQuantile("best")  # type: ignore[arg-type]
    swaps = Relation("swap-two", meaning="two records have exchanged a value")
    with pytest.raises(WrongNeighbours, match="add-remove or replace"):
        LatticeQuantile().scale(Guarantee(1.0, neighbours=swaps))
