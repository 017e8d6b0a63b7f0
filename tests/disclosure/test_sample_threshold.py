"""Samples with hidden small counts: what they promise, what gives them away, what they cost."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from omit.disclosure.question import Question
from omit.disclosure.sample_threshold import SampleAndThreshold
from omit.disclosure.table import Attribute, CountTable
from omit.disclosure.threshold_answer import ThresholdAnswer
from omit.errors import InvalidInput, Unattainable
from omit.guarantee import Guarantee, NoGuarantee
from tests.disclosure.enumeration import hockey_stick, worst_delta


def cell_law(rate: float, threshold: int, records: int) -> dict[object, float]:
    law: dict[object, float] = {"hidden": 0.0}
    for drawn, chance in enumerate(stats.binom.pmf(range(records + 1), records, rate)):
        seen = drawn if drawn >= threshold else "hidden"
        law[seen] = law.get(seen, 0.0) + chance
    return law


def table_of(*counts: int) -> CountTable:
    cells = Attribute("cell", tuple(f"c{number}" for number in range(len(counts))))
    return CountTable((cells,), np.array(counts))


def test_no_pair_of_small_tables_breaks_the_promise_under_replace() -> None:
    sampled = SampleAndThreshold(0.5, 2, 0.5)
    listed = max(
        worst_delta(lambda x: cell_law(0.5, 2, x), 3, records, records, 0.5)
        for records in range(1, 8)
    )
    stated = sampled.stated("replace")
    assert isinstance(stated, Guarantee)
    assert listed <= stated.delta <= listed * (1 + 1e-5)


@pytest.mark.parametrize("told", ["sample size", "hidden drawn", "hidden"])
def test_another_number_beside_the_shown_counts_gives_a_hidden_record_away(told: str) -> None:
    """Two cells: one of them large, the other with one record or none."""

    def release(first: int, second: int) -> dict[object, float]:
        law: dict[object, float] = {}
        laws = (stats.binom.pmf(range(n + 1), n, 0.1) for n in (first, second))
        for drawn in itertools.product(*(enumerate(chances) for chances in laws)):
            counts = [count for count, _ in drawn]
            shown = tuple(count if count >= 3 else None for count in counts)
            size = sum(counts)
            number = {
                "sample size": size,
                "hidden drawn": size - sum(count or 0 for count in shown),
                "hidden": (first if shown[0] is None else 0) + (second if shown[1] is None else 0),
            }[told]
            law[shown, number] = law.get((shown, number), 0.0) + math.prod(c for _, c in drawn)
        return law

    needed = hockey_stick(release(40, 1), release(40, 0), 1.0)
    other_is_shown = stats.binom.sf(2, 40, 0.1)
    assert needed >= other_is_shown * (1.0 if told == "hidden" else 0.1) * (1 - 1e-12)
    assert SampleAndThreshold(0.1, 3).exact_delta(1.0).delta < 0.002


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_threshold_is_the_smallest_and_the_rate_the_largest_that_keeps_the_promise(
    neighbours: str,
) -> None:
    target = Guarantee(1.0, 1e-6, neighbours)
    by_rate = SampleAndThreshold.calibrated(target, rate=0.3)
    fewer = SampleAndThreshold(0.3, by_rate.threshold - 1)
    assert by_rate.exact_delta(1.0, neighbours).delta <= 1e-6
    assert fewer.exact_delta(1.0, neighbours).delta > 1e-6
    by_threshold = SampleAndThreshold.calibrated(target, threshold=6)
    more = SampleAndThreshold(by_threshold.rate * (1 + 1e-6), 6)
    assert by_threshold.exact_delta(1.0, neighbours).delta <= 1e-6
    assert more.exact_delta(1.0, neighbours).delta > 1e-6


def test_what_cannot_be_reached_is_refused() -> None:
    target = Guarantee(1.0, 1e-6)
    with pytest.raises(Unattainable, match="delta is above 0"):
        SampleAndThreshold.calibrated(Guarantee(1.0), rate=0.5)
    with pytest.raises(Unattainable, match="smaller rate"):
        SampleAndThreshold.calibrated(target, rate=1.0)
    with pytest.raises(InvalidInput, match="either rate or threshold"):
        SampleAndThreshold.calibrated(target)
    assert isinstance(SampleAndThreshold(1.0, 5).stated(), NoGuarantee)


@pytest.mark.parametrize(("rate", "threshold"), [(0.1, 10), (0.3, 1), (0.25, 14), (1.0, 3)])
def test_the_errors_of_a_cell_are_those_of_its_law(rate: float, threshold: int) -> None:
    table = table_of(0, 1, 2, 9, 35, 80, 400)
    errors = SampleAndThreshold(rate, threshold).errors(table)
    for cell, records in enumerate(table.flat):
        drawn = np.arange(records + 1)
        chances = stats.binom.pmf(drawn, records, rate)
        shown = np.where(drawn >= threshold, drawn / rate, 0.0)
        mean = chances @ shown
        found = errors.bias[cell], errors.variance[cell], errors.absolute[cell]
        expected = mean - records, chances @ (shown - mean) ** 2, chances @ abs(shown - records)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-8)


def test_draws_hide_small_counts_and_have_the_expected_errors() -> None:
    table, sampled = table_of(5, 60, 500), SampleAndThreshold(0.25, 14)
    drawn = sampled.draw(table, np.random.default_rng(5), 20_000)
    assert ((drawn == 0) | (drawn >= 14 / 0.25)).all()
    errors = sampled.errors(table)
    reach = 5 * np.sqrt(errors.variance / 20_000)
    assert (abs(drawn.mean(axis=0) - table.flat - errors.bias) <= reach + 1e-9).all()


def test_an_assessment_compares_it_at_the_same_epsilon_and_delta() -> None:
    last = Question(table_of(100, 40, 3), 1.0, delta=1e-6).protections()[-1]
    assert last == SampleAndThreshold(0.25, 14, 1.0)
    without = Question(table_of(100, 40, 3), 1.0, delta=0.0).protections()
    assert not any(isinstance(protection, SampleAndThreshold) for protection in without)


def test_the_answer_says_that_nothing_else_may_be_published() -> None:
    answer = ThresholdAnswer(SampleAndThreshold(0.1, 10))
    assert answer.verdict.endswith("if nothing else is published.")
    deltas, errors = answer.tables()
    assert [row["bound"] for row in deltas.records()][:2] == ["exact", "Li, Qardaji and Su"]
    hidden = [row["hidden"] for row in errors.records()]
    assert hidden == sorted(hidden, reverse=True)
