"""Secret random partitions: their sizes, their answers, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from omit.errors import InvalidInput, Refused
from omit.statistical.assumptions import Population
from omit.statistical.curve import PrivacyCurve
from omit.statistical.partition import Partition
from omit.statistical.properties import property_curve, sampled_property_curve


def test_a_public_partition_is_not_covered_by_sufficiency() -> None:
    # Two blocks of 8, p = 1/2: which block the entry is in is known, so that block alone counts.
    exact = Partition(16, (8, 8)).property_exact(0.5, 0.1).delta[0]
    public = property_curve(8, 0.5, 0.1).delta[0]
    assert exact == pytest.approx(0.1644, abs=5e-5)
    assert public == pytest.approx(0.2496, abs=5e-5)


def test_answers_come_from_disjoint_blocks_of_all_records() -> None:
    records = np.arange(12)
    partition = Partition(12, (4, 5, 3))
    answers = partition.answer(records, [np.sum] * 3, np.random.default_rng(0))
    assert sum(answers) == records.sum()
    rng = np.random.default_rng(1)
    blocks = partition.draw(rng)
    assert tuple(map(len, blocks)) == (4, 5, 3)
    assert sorted(np.concatenate(blocks)) == list(range(12))


def test_every_entry_is_in_a_block_as_often_as_the_block_is_large() -> None:
    # 3,000 draws, standard deviation 0.009; five of them happen by chance in 1 of 10^6 seeds.
    rng = np.random.default_rng(2)
    partition = Partition(5, (2, 3))
    share = np.mean([0 in partition.draw(rng)[0] for _ in range(3000)])
    assert share == pytest.approx(0.4, abs=0.045)


def test_an_adaptive_analyst_sees_the_answers() -> None:
    seen = []

    def analyst(answers: tuple[float, ...]):  # type: ignore[no-untyped-def]
        seen.append(answers)
        return np.sum if len(answers) < 2 else np.max

    partition = Partition(6, (2, 2, 2))
    answers = partition.answer_adaptively([1] * 6, analyst, np.random.default_rng(0))
    assert answers == (2.0, 2.0, 1.0)
    assert seen == [(), (2.0,), (2.0, 2.0)]


@pytest.mark.parametrize(
    "query",
    [
        lambda block: block[0],
        lambda block: block @ np.arange(len(block)),
        lambda block: np.abs(np.diff(block)).sum(),
    ],
)
def test_queries_that_are_not_symmetric_are_refused(query) -> None:  # type: ignore[no-untyped-def]
    records = np.random.default_rng(3).random(40)
    partition = Partition(40, (20, 20))
    with pytest.raises(Refused, match="Query 2 depends on the order"):
        partition.answer(records, [np.mean, query], np.random.default_rng(0))
    with pytest.raises(Refused):
        partition.answer_adaptively(records, lambda answers: query, np.random.default_rng(0))


def test_sizes_follow_the_square_root_of_importance() -> None:
    sizes = Partition.by_importance(1000, [9, 1, 1]).sizes
    assert sizes == (600, 200, 200)
    assert Partition.by_importance(10, [10**6, 1, 1]).sizes == (8, 1, 1)
    assert Partition.equal(10, 3).sizes == (4, 3, 3)
    # No other sizes have a smaller weighted error.
    best = sum(w / s for w, s in zip([9, 1, 1], sizes, strict=True))
    for other in ((601, 199, 200), (599, 201, 200), (700, 150, 150), (334, 333, 333)):
        assert sum(w / s for w, s in zip([9, 1, 1], other, strict=True)) > best


def test_no_other_whole_numbers_have_a_smaller_weighted_error() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        n = int(rng.integers(2, 12))
        count = int(rng.integers(1, min(n, 4) + 1))
        importance, p = np.exp(rng.normal(0, 2, count)), rng.uniform(0.02, 0.98, count)
        sizes = Partition.by_importance(n, importance.tolist(), p.tolist()).sizes
        assert sum(sizes) == n
        every = [np.diff([0, *cuts, n]) for cuts in itertools.combinations(range(1, n), count - 1)]
        best = min(float((importance * p * (1 - p) / each).sum()) for each in every)
        assert (importance * p * (1 - p) / sizes).sum() == pytest.approx(best, rel=1e-8)


def test_a_query_that_looks_at_one_record_is_refused_even_if_the_first_records_are_equal() -> None:
    partition = Partition(100, (50, 50))
    records = [0] * 50 + [1] * 50
    for seed in range(20):
        rng = np.random.default_rng(seed)
        with pytest.raises(Refused, match="depends on the order"):
            partition.answer(records, [lambda r: r[0], lambda r: r[3]], rng)
        with pytest.raises(Refused, match="depends on the order"):
            partition.answer_adaptively(records, lambda _: lambda r: r[0], rng)
    # One record in a hundred differs: blocks rarely hold it, the records tried always do.
    rare = [0.0] * 99 + [1.0]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        with pytest.raises(Refused, match="depends on the order"):
            partition.answer(rare, [lambda r: r @ np.arange(50), np.sum], rng)


def test_a_curve_as_printed_is_neither_a_guarantee_nor_part_of_one() -> None:
    printed = sampled_property_curve(
        12, 0.5, 6, 0.1, known=11, average="published", conditional=True
    )
    assert printed.method == "as printed"
    with pytest.raises(InvalidInput, match="as printed"):
        printed.guarantee(0.1)
    with pytest.raises(InvalidInput, match="as printed"):
        Partition(12, (6, 6)).bound([printed, printed])


def test_a_bound_from_several_estimates_may_miss_where_any_of_them_does() -> None:
    one = np.array([0.1])
    curves = [
        PrivacyCurve(one, one, 0 * one, (), "simulated", "x", confidence=confidence)
        for confidence in (0.99, 0.95, 0.3)
    ]
    sizes = Partition(6, (2, 2, 2))
    assert sizes.bound([curves[0], curves[1], curves[0]]).confidence == pytest.approx(0.94)
    assert sizes.bound([curves[2], curves[2], curves[2]]).confidence == pytest.approx(0.3)
    assert sizes.bound([curves[2], curves[1], curves[0]]).confidence == pytest.approx(0.24)
    assert sizes.bound([property_curve(2, 0.5, 0.1)] * 3).confidence is None


def test_a_bound_states_what_is_assumed_on_every_block() -> None:
    curves = [property_curve(2, 0.5, 0.1), property_curve(4, 0.125, 0.1)]
    together = Partition(6, (2, 4)).bound(curves)
    for curve in curves:
        assert curve.assumption in together.assumption
    alike = Partition(4, (2, 2)).bound([curves[0]] * 2)
    assert alike.assumption.count(curves[0].assumption) == 1


def test_blocks_of_two_sizes_are_estimated_twice() -> None:
    population = Population([(40, 0.5), (40, 0.3), (40, 0.1), (40, 0.2)], known=10)
    found = {
        sizes: Partition(170, sizes).groups_bound(
            population, 0.1, critical=0, runs=20, rng=np.random.default_rng(0)
        )
        for sizes in ((60, 60), (60, 50))
    }
    assert {curve.method for curve in found.values()} == {"simulated"}
    assert found[60, 60].confidence == pytest.approx(0.99)
    assert found[60, 50].confidence == pytest.approx(0.98)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: Partition(10, (6, 5)),
        lambda: Partition(10, ()),
        lambda: Partition(10, (0, 5)),
        lambda: Partition.equal(3, 4),
        lambda: Partition.by_importance(10, [1, 0]),
        lambda: Partition(10, (5, 5)).property_bound(1.0, 0.1),
        lambda: Partition(10, (5, 5)).property_bound([0.5, 0.5, 0.5], 0.1),
        lambda: Partition(10, (5, 5)).property_bound(0.5, -0.1),
        lambda: Partition(10, (5, 5)).bound([property_curve(5, 0.5, 0.1)]),
        lambda: Partition(4, (2, 2)).answer([1, 2, 3], [np.sum] * 2, np.random.default_rng(0)),
        lambda: Partition(4, (2, 2)).answer([1, 2, 3, 4], [np.sum], np.random.default_rng(0)),
        lambda: Partition(4, (2, 2)).groups_bound(Population([(5, 0.5)]), 0.1),
    ],
)
def test_bad_input_is_one_sentence(attempt) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput) as caught:
        attempt()
    assert "\n" not in str(caught.value)
