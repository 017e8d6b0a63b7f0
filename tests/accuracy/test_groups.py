"""The same comparison in every group, under one guarantee."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import omit
from omit import Guarantee, NoisyMean, NoisyMode, PoissonSampling
from omit.accuracy.groups import compare_groups, guarantee_of_a_group
from omit.errors import InvalidInput
from omit.mechanisms.lattice_quantile import LatticeQuantile
from omit.omissions import FixedSizeSampling, ThresholdOutlierRemoval

TARGET = Guarantee(1.0)
AGES = omit.read("adult", "age", by="sex")


def _mechanism(ones: int, epsilon: float) -> np.ndarray:
    """Return the law of whether a number is even, told with as much noise as epsilon needs."""
    right = 1 / (1 + math.exp(-epsilon))
    return np.array([right, 1 - right] if ones % 2 else [1 - right, right])


def _loss(first: Any, second: Any, epsilon: float) -> float:
    """Return the loss of both groups' answers together on two databases of (group, value)."""

    def law(records: Any) -> np.ndarray:
        counts = Counter(records)
        one, two = (_mechanism(counts[group, 1], epsilon) for group in ("a", "b"))
        return np.outer(one, two).ravel()

    return float(np.abs(np.log(law(first) / law(second))).max())


RECORDS = list(itertools.product("ab", (0, 1)))
DATABASES = [
    database
    for size in range(4)
    for database in itertools.combinations_with_replacement(RECORDS, size)
]


def test_all_groups_together_promise_what_each_promises_under_add_remove() -> None:
    each = guarantee_of_a_group(TARGET)
    losses = [
        _loss((*database, record), database, each.epsilon)
        for database in DATABASES
        for record in RECORDS
    ]
    assert max(losses) == pytest.approx(TARGET.epsilon, abs=1e-12)


def test_a_record_that_moves_changes_two_groups_and_no_more_is_lost_than_promised() -> None:
    target = Guarantee(1.0, neighbours="replace")
    each = guarantee_of_a_group(target)
    assert (each.epsilon, each.neighbours) == (0.5, "add-remove")
    moves = {
        (first, second): _loss((*database, first), (*database, second), each.epsilon)
        for database in DATABASES
        for first, second in itertools.permutations(RECORDS, 2)
    }
    assert max(moves.values()) == pytest.approx(target.epsilon, abs=1e-12)
    within = max(loss for (first, second), loss in moves.items() if first[0] == second[0])
    assert within == pytest.approx(each.epsilon, abs=1e-12)


def test_delta_is_shared_by_the_two_groups_of_a_move() -> None:
    target = Guarantee(1.0, 1e-6, "replace")
    each = guarantee_of_a_group(target)
    together = each.to("replace")
    assert isinstance(together, Guarantee)
    assert together.implies(target)
    assert 2 * each.delta <= target.delta
    assert guarantee_of_a_group(target, fixed_labels=True) == target


def test_every_group_is_compared_as_if_it_were_alone() -> None:
    sample = PoissonSampling(0.5)
    result = compare_groups(AGES, NoisyMean(), TARGET, sample)
    for labels, found in result.comparisons.items():
        alone = omit.compare(AGES[labels], NoisyMean(), TARGET, sample)
        for row, other in zip(found.rows, alone.rows, strict=True):
            assert row.error is not None
            assert other.error is not None
            assert row.error.value == pytest.approx(other.error.value, rel=2e-6)
            assert (row.standing, row.promise) == (other.standing, other.promise)
    assert result.verdict.startswith(
        "At (1, 0)-DP under add-remove for all 2 groups together, in 2"
    )


def test_the_group_that_is_harmed_most_comes_first() -> None:
    frame = omit.read("adult", "age", by="race")
    result = compare_groups(frame, NoisyMean(), TARGET, PoissonSampling(0.1))
    ratios = [each.rows[1].ratio or 0.0 for _, each in result.by_harm]
    assert ratios == sorted(ratios, reverse=True)
    assert [row[0] for row in result.tables()[0].rows] == [
        labels[0] for labels, _ in result.by_harm
    ]
    assert len(result.to_frame()) == 2 * len(frame)


# Of THEORY 7.8: records of mean 40, bounds 0 to 125, epsilon 1, no omission.
@pytest.mark.parametrize(
    ("variant", "errors"),
    [
        ("published", (461, 294, 80.8, 22.7, 6.74)),
        ("sum-and-count", (122, 112, 63.1, 22.6, 6.74)),
    ],
)
def test_in_tiny_groups_no_answer_tells_more_than_the_middle_of_the_bounds(
    variant: Any, errors: tuple[float, ...]
) -> None:
    sizes = (1, 3, 10, 30, 100)
    frame = pd.DataFrame({"group": np.repeat(sizes, sizes), "value": 40})
    grouped = omit.read(frame, "value", by="group", groups=sizes, bounds=(0, 125))
    result = compare_groups(grouped, NoisyMean(variant=variant), TARGET, PoissonSampling(0.1))
    found = [each.baseline.value for each in result.comparisons.values()]
    assert found == pytest.approx(errors, rel=5e-3)
    blind = [not each.informs(each.rows[0]) for each in result.comparisons.values()]
    assert blind == [error > 56.25 for error in found]  # that of the constant 62.5
    assert "in 3 of 5 groups nothing tells more than the middle of the bounds (1; 3; 10)" in (
        result.verdict
    )


def test_samples_of_a_fixed_size_are_of_every_groups_own_size() -> None:
    target = Guarantee(1.0, neighbours="replace")
    half = compare_groups(
        AGES,
        NoisyMean(),
        target,
        lambda size: FixedSizeSampling(size // 2, size),
        fixed_labels=True,
    )
    sizes = [each.rows[1].omission.size for each in half.comparisons.values()]  # type: ignore[attr-defined]  # of samples
    assert sizes == [part.size // 2 for part in AGES.parts.values()]
    assert half._omissions == ["fixed-size (1)"]
    assert any("sizes of groups public" in note for note in half.notes)
    moving = compare_groups(AGES, NoisyMean(), target, PoissonSampling(0.5))
    assert any("changes two" in note for note in moving.notes)
    assert moving.first.question.guarantee == Guarantee(0.5)


def test_a_group_without_an_answer_is_said_and_does_not_stop_the_others() -> None:
    frame = pd.DataFrame({"group": ["a"] * 5 + ["b"] * 50, "value": [0] * 5 + [7, 9] * 25})
    grouped = omit.read(frame, "value", by="group", groups=["a", "b"], bounds=(0, 10))
    result = compare_groups(grouped, NoisyMean(), TARGET, PoissonSampling(0.5))
    assert list(result.comparisons) == [("b",)]
    assert any(note.startswith("a: no answer, because ") for note in result.notes)
    with pytest.raises(InvalidInput):
        compare_groups(
            omit.read(frame[:5], "value", by="group", groups=["a"], bounds=(0, 10)),
            NoisyMean(),
            TARGET,
        )


def test_what_leaves_no_guarantee_is_no_promise_of_any_group() -> None:
    removal = ThresholdOutlierRemoval(0.3)
    result = compare_groups(AGES, NoisyMean(), TARGET, removal)
    assert result.quantities()["epsilon"] == [None, None]
    assert "no omission was tested that reaches the guarantee" in result.verdict
    assert any(note.startswith("No guarantee: ") for note in result.notes)


def test_a_result_of_groups_shows_itself() -> None:
    result = compare_groups(AGES, NoisyMode(), TARGET, PoissonSampling(0.9))
    axes = result.plot()
    assert len(axes.get_lines()) == 2
    assert [np.shape(line.get_xydata()) for line in axes.get_lines()] == [(2, 2), (2, 2)]
    content = result.to_json()
    assert (content["groups"], content["by"], len(content["rows"])) == (2, ["sex"], 4)
    assert "In short" in result.page()
    assert result.quantities()["epsilon"] == [(1.0, 1.0)]


def test_groups_are_not_asked_about_a_population() -> None:
    with pytest.raises(InvalidInput, match="sampled_from"):
        compare_groups(AGES, NoisyMean(), TARGET, sampled_from=100_000)


def test_several_statistics_of_all_groups_share_one_guarantee() -> None:
    sample = PoissonSampling(0.1)
    result = compare_groups(
        AGES, NoisyMean(), TARGET, sample, ThresholdOutlierRemoval(0.3), statistics=2
    )
    promises = {row.promise for each in result.comparisons.values() for row in each.rows[:2]}
    whole = sample.calibrate(TARGET)
    assert isinstance(whole, Guarantee)
    assert promises == {TARGET.per_statistic(2), whole.per_statistic(2)}
    assert "for 2 statistics in all 2 groups together" in result.verdict
    assert result.card.promised.number == "ε = 1 for 2 statistics"
    assert "leaves no guarantee" in result.card.instead.sentence


def test_errors_too_small_to_be_seen_have_no_ratios_and_a_verdict() -> None:
    median = LatticeQuantile()
    result = compare_groups(AGES, median, TARGET, PoissonSampling(0.5))
    assert result.verdict.endswith("using all records gives no error that could be seen.")
    assert "too small to be seen" in result.card.lost.sentence


def test_what_one_comparison_must_say_is_said_of_groups() -> None:
    alone = compare_groups(
        AGES, NoisyMean(), TARGET, PoissonSampling(0.5), noise_reduction=False, rows_per_person=3
    )
    assert alone.verdict.startswith("With mechanisms that have (1, 0)-DP under add-remove by them")
    assert "for a person with up to 3 records" in alone.verdict
    assert any("releases differ in privacy" in note for note in alone.notes)
    assert "What one person with up to 3 records" in alone.card.promised.sentence
    content = alone.to_json()
    assert (content["noise_reduction"], content["target"]["rows_per_person"]) == (False, 3)
    no_noise = compare_groups(AGES, NoisyMean(), Guarantee(1.0, 0.5), PoissonSampling(0.1))
    assert any("raw records" in note for note in no_noise.notes)
    clamped = omit.read("adult", "age", by="sex", bounds=(0, 40))
    notes = compare_groups(clamped, NoisyMean(), TARGET, PoissonSampling(0.5)).notes
    assert any(note.startswith("Clamping is in the errors of 2 of 2 groups") for note in notes)


def test_what_holds_in_one_group_only_is_not_said_of_all() -> None:
    def of_size(size: int) -> omit.Omission:
        return PoissonSampling(0.1 if size < 15_000 else 0.9)

    for by in (["Female", "Male"], ["Male", "Female"]):
        grouped = omit.read("adult", "age", by="sex", groups=by)
        result = compare_groups(grouped, NoisyMean(), TARGET, of_size, statistics=2)
        assert not any("drawn anew" in note for note in result.notes)
        assert result._omissions == ["poisson (1)"]


def test_labels_are_kept_apart_from_what_is_measured() -> None:
    frame = pd.DataFrame({"error": ["a, b", "a"] * 30, "records": ["c", "b, c"] * 30, "v": 4})
    groups = [("a, b", "c"), ("a", "b, c")]
    grouped = omit.read(frame, "v", by=["error", "records"], groups=groups, bounds=(0, 9))
    result = compare_groups(grouped, NoisyMean(), TARGET, PoissonSampling(0.5))
    shown = result.to_frame()
    assert set(shown["group error"]) == {"a, b", "a"}
    assert set(shown["group records"]) == {"c", "b, c"}
    assert set(shown["records"]) == {30}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"guarantee": 1.0}, "guarantee"),
        ({"grouped": omit.read("adult", "age")}, "GroupedColumn"),
        ({"truth": 40.0}, "every group has its own"),
    ],
)
def test_what_groups_cannot_be_asked_is_one_sentence(asked: dict[str, Any], said: str) -> None:
    known: dict[str, Any] = {"grouped": AGES, "mechanism": NoisyMean(), "guarantee": TARGET}
    with pytest.raises(InvalidInput, match=said):
        compare_groups(**{**known, **asked})


def test_where_a_record_may_move_the_way_out_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"fixed_labels=True \(--fixed-labels\)"):
        compare_groups(
            AGES,
            NoisyMean(),
            Guarantee(1.0, neighbours="replace"),
            lambda size: FixedSizeSampling(size // 2, size),
        )


def test_the_table_has_the_numbers_of_every_group() -> None:
    omissions = PoissonSampling(0.1), PoissonSampling(0.5)
    grouped = omit.read("adult", "age", by=["race", "sex"])
    shown = compare_groups(grouped, NoisyMean(), TARGET, *omissions).tables()[0]
    assert len(shown.rows) == len(grouped)
    for race, sex, *cells in shown.cells():
        alone = omit.compare(grouped[race, sex], NoisyMean(), TARGET, *omissions)
        ratios = [f"{row.ratio:.3g}" for row in alone.rows[1:]]
        assert cells[0] == f"{grouped[race, sex].size:,}"
        assert cells[1] == f"{alone.baseline.value:.4g} %"
        assert cells[2:] == [*ratios, "worse"]
