"""Theorems of the statistical-privacy paper in small cases, and statements that are wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from omit.audit.bounds import run
from omit.papers.checks import Theorem, checks, in_words
from omit.papers.statistical_privacy.enumeration import (
    Analyst,
    Setting,
    average_of_blocks,
    random_setting,
    stated_curve,
    true_curve,
)
from omit.papers.statistical_privacy.examples import KnownEntries, small_samples
from omit.papers.statistical_privacy.theorems import (
    AS_PRINTED,
    TRUE,
    best_set_is_a_product,
    shared_information,
    theorem_5_1,
)
from omit.statistical.assumptions import Entries
from omit.statistical.composition import ScoreQuery, composition_bound, exact_composition
from omit.statistical.properties import sampled_property_curve

_TOTAL = ScoreQuery("total", {0: 0, 1: 1, 2: 2})
_LARGE = ScoreQuery("large", {0: 0, 1: 0, 2: 1})


def _asked(answers: tuple[int, ...]) -> ScoreQuery:
    return _LARGE if answers and answers[-1] >= 2 else _TOTAL


def _analyst() -> Analyst:
    def analyst(answers: tuple[int, ...]):  # type: ignore[no-untyped-def]
        scores = _asked(answers).scores
        return lambda block: sum(scores[value] for value in block)

    return analyst


def test_both_sides_of_the_lemma_are_those_of_the_package() -> None:
    one: Mapping[object, float] = {0: 0.5, 1: 0.3, 2: 0.2}
    other: Mapping[object, float] = {0: 0.1, 1: 0.1, 2: 0.8}
    setting = Setting((one, one, one, other, other), (2, 3), _analyst())
    entries = Entries([(3, one), (2, other)])
    for epsilon in (0.0, 0.1, 0.7):
        arguments = entries, (2, 3), _asked, [epsilon]
        bound = composition_bound(*arguments, critical=0, method="listed")
        exact = exact_composition(*arguments, critical=0)
        assert stated_curve(setting, epsilon) == pytest.approx(bound.delta[0], rel=1e-7)
        assert max(true_curve(setting, epsilon).values()) == pytest.approx(exact.delta[0], rel=1e-7)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_not_refuted(name: str) -> None:
    assert run(TRUE[name].check(np.random.default_rng(1), 40)).holds


@pytest.mark.parametrize("name", AS_PRINTED)
def test_what_is_printed_wrong_is_refuted(name: str) -> None:
    outcome = run(AS_PRINTED[name].check(np.random.default_rng(1), 40))
    assert not outcome.holds
    assert outcome.violation > 0.1
    assert in_words(outcome).startswith("Off by up to 0." if outcome.violation < 1 else "Off by up")


def test_a_theorem_that_gives_a_tenth_too_little_is_refuted() -> None:
    theorem = Theorem(
        "nine tenths of the average",
        lambda rng, count: ((0.9 * stated, true) for stated, true in theorem_5_1(rng, count)),
    )
    (check,) = checks({"wrong": theorem}, seed=0, cases=100)
    assert not run(check).holds


def test_entries_that_are_alike_have_one_curve_for_every_size() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        setting = random_setting(rng, alike=True, adaptive=False)
        assert average_of_blocks(setting, 0.1) == pytest.approx(stated_curve(setting, 0.1))


def test_the_errata_example_of_known_entries() -> None:
    sample = KnownEntries(n=12, size=6, known=11, p=0.5, epsilon=0.1)
    assert sample.average(12) == pytest.approx(0.7917, abs=5e-5)
    assert sample.average(11) == sample.by_listing([1] * 11) == 1.0
    for known in small_samples():
        if known.n == 6:
            curve = sampled_property_curve(
                known.n,
                known.p,
                known.size,
                known.epsilon,
                known=known.known,
                conditional=True,
            )
            assert known.average(known.n - 1) == pytest.approx(curve.delta[0], rel=1e-7)


def test_two_coins_of_one_entry_tell_everything() -> None:
    assert shared_information(1, 1, 0.5) == pytest.approx(math.log(2))
    assert shared_information(0, 2, 0.3) == pytest.approx(0, abs=1e-12)


def test_the_best_set_for_two_counts_is_a_half_plane_and_no_product() -> None:
    def count(answers: tuple[int, ...]):  # type: ignore[no-untyped-def]
        return sum

    setting = Setting(({0: 0.5, 1: 0.5},) * 4, (2, 2), count)
    assert not best_set_is_a_product(setting, 0.1)
    assert best_set_is_a_product(setting, 0.1, ((0, 1), (2, 3)))
