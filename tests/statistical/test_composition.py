"""Theorems 5.1 to 5.4 by enumeration: every database, every partition, every answer."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from omit.errors import InvalidInput
from omit.laws.distribution import Distribution
from omit.laws.divergence import hockey_stick
from omit.statistical.assumptions import Entries, Population
from omit.statistical.composition import (
    Analyst,
    Answers,
    ScoreQuery,
    ask,
    composition_bound,
    exact_composition,
    worst_of_class,
)
from omit.statistical.partition import Partition
from omit.statistical.properties import property_curve
from omit.statistical.sums import sum_curve
from tests.statistical.enumeration import (
    Database,
    Law,
    Template,
    coin,
    partitions,
    sampled,
    worst,
)

EPSILONS = (0.0, 0.1, 0.7)
ONES = ScoreQuery("ones", {0: 0, 1: 1})
ZEROS = ScoreQuery("zeros", {0: 1, 1: 0})
LARGE = ScoreQuery("large", {0: 0, 1: 0, 2: 1})
TOTAL = ScoreQuery("total", {0: 0, 1: 1, 2: 2})
THREE: Law = {0: 0.5, 1: 0.3, 2: 0.2}


def _suspicious(answers: Answers) -> ScoreQuery:
    """Ask for the total first, and go on depending on the answer."""
    if not answers:
        return TOTAL
    return LARGE if answers[-1] >= 2 else TOTAL


def _answers(analyst: Analyst, blocks: tuple[Database, ...]) -> Hashable:
    answers: Answers = ()
    for block in blocks:
        query = analyst(answers)
        answers = (*answers, sum(query.scores[value] for value in block))
    return answers


def _truth(laws: list[Law], sizes: list[int], analyst: Analyst, epsilon: float) -> float:
    """Return the curve of all answers, for the first entry, straight from the definition."""
    release = sampled(partitions(len(laws), sizes), lambda blocks: _answers(analyst, blocks))
    return worst(laws, 0, release, epsilon)


def _lemma(laws: list[Law], sizes: list[int], analyst: Analyst, epsilon: float) -> float:
    """Return the right-hand side of Lemma 5.2 with the largest pair inside, template by template.

    A block without the critical entry has the same law whatever the entry is; so, given a template,
    the answers up to the entry's block are summed over, and its curve is taken.
    """
    every = partitions(len(laws), sizes)
    return math.fsum(_given_template(laws, template, analyst, epsilon) for template in every) / len(
        every
    )


def _given_template(laws: list[Law], template: Template, analyst: Analyst, epsilon: float) -> float:
    def beyond(block: int, answers: Answers) -> float:
        if block == len(template):
            return 0.0
        query, places = analyst(answers), template[block]
        own = [laws[place] for place in places]
        if 0 in places:

            def release(database: Database) -> dict[Hashable, float]:
                return {sum(query.scores[value] for value in database): 1.0}

            return worst(own, places.index(0), release, epsilon)
        law = {0: 1.0}
        for each in own:
            following: dict[int, float] = {}
            for answer, weight in law.items():
                for value, chance in each.items():
                    key = answer + query.scores[value]
                    following[key] = following.get(key, 0.0) + weight * chance
            law = following
        return math.fsum(
            chance * beyond(block + 1, (*answers, answer)) for answer, chance in law.items()
        )

    return beyond(0, ())


def _entries(laws: list[Law]) -> Entries:
    """Return the laws as groups, the first law's group first."""
    groups: list[tuple[int, Law]] = []
    for law in laws:
        for place, (size, known) in enumerate(groups):
            if known == law:
                groups[place] = size + 1, known
                break
        else:
            groups.append((1, law))
    return Entries(groups)  # type: ignore[arg-type]


CASES = {
    "Theorem 5.1": ([coin(0.3)] * 6, [3, 3], ask(ONES, ONES)),
    "Theorem 5.1, unequal blocks": ([coin(0.3)] * 6, [1, 4], ask(ONES, ZEROS)),
    "Theorem 5.1, several values": ([THREE] * 5, [3, 2], ask(TOTAL, LARGE)),
    "Theorem 5.2": ([coin(0.3)] * 3 + [coin(0.8)] * 3, [2, 4], ask(ONES, ONES)),
    "Theorem 5.3": ([THREE] * 5, [2, 2, 1], _suspicious),
    "Theorem 5.4": ([THREE] * 3 + [{0: 0.1, 1: 0.1, 2: 0.8}] * 2, [2, 3], _suspicious),
}


@pytest.mark.parametrize("name", CASES)
def test_the_theorem_holds_and_its_bound_is_computed_as_stated(name: str) -> None:
    laws, sizes, analyst = CASES[name]
    entries = _entries(list(laws))
    bound = composition_bound(entries, sizes, analyst, EPSILONS, critical=0, method="listed")
    exact = exact_composition(entries, sizes, analyst, EPSILONS, critical=0)
    for place, epsilon in enumerate(EPSILONS):
        truth = _truth(list(laws), sizes, analyst, epsilon)
        assert exact.delta[place] == pytest.approx(truth, abs=1e-11)
        lemma = _lemma(list(laws), sizes, analyst, epsilon)
        assert bound.delta[place] == pytest.approx(lemma, abs=1e-10)
        assert truth <= lemma + 1e-12


def test_for_identical_entries_the_bound_is_the_average_of_the_blocks_curves() -> None:
    found = composition_bound(_entries([coin(0.3)] * 7), [2, 4], ask(ONES, ONES), EPSILONS)
    expected = Partition(7, (2, 4)).property_bound(0.3, EPSILONS)
    assert found.delta == pytest.approx(expected.delta, rel=1e-8)


def test_any_symmetric_query_has_the_average_of_its_curves() -> None:
    law = Distribution([0, 1, 2], [0.5, 0.3, 0.2])
    curves = [sum_curve(law, size, EPSILONS) for size in (3, 2)]
    found = Partition(5, (3, 2)).bound(curves)
    engine = composition_bound(_entries([THREE] * 5), [3, 2], ask(TOTAL, TOTAL), EPSILONS)
    assert found.delta == pytest.approx(engine.delta, abs=1e-10)


@pytest.mark.parametrize("sizes", [[6], [3, 3], [1, 2, 3], [2, 2], [1, 1]])
def test_the_sum_of_answers_to_one_property_is_sufficient(sizes: list[int]) -> None:
    exact = Partition(6, tuple(sizes)).property_exact(0.3, EPSILONS)
    for place, epsilon in enumerate(EPSILONS):
        truth = _truth([coin(0.3)] * 6, sizes, ask(*[ONES] * len(sizes)), epsilon)
        assert exact.delta[place] == pytest.approx(truth, rel=1e-8)
    if sum(sizes) == 6:
        assert exact.delta == pytest.approx(property_curve(6, 0.3, EPSILONS).delta, rel=1e-8)


def test_properties_of_unequal_probability_can_exceed_every_single_curve() -> None:
    a, b, epsilon = 0.5, 0.3, [0.2]
    law = {(x, y): (a if x else 1 - a) * (b if y else 1 - b) for x in (0, 1) for y in (0, 1)}
    entries = Entries([(8, law)])  # type: ignore[list-item]
    queries = [ScoreQuery(f"property {i}", {v: v[i] for v in law}) for i in (0, 1)]
    found = exact_composition(entries, [2, 6], ask(*queries), epsilon).delta[0]
    bound = composition_bound(entries, [2, 6], ask(*queries), epsilon).delta[0]
    assert found <= bound
    assert found > 1.02 * max(property_curve(8, p, epsilon).delta[0] for p in (a, b))


def test_theorem_5_2_for_groups_is_the_engine_s() -> None:
    laws = [coin(0.2)] * 2 + [coin(0.7)] * 4
    population = Population([(2, 0.2), (4, 0.7)])
    sizes = [2, 3]
    found = Partition(6, (2, 3)).groups_bound(population, EPSILONS, critical=0)
    engine = composition_bound(_entries(laws), sizes, ask(ONES, ONES), EPSILONS, critical=0)
    assert found.delta == pytest.approx(engine.delta, rel=1e-8)


def test_a_simulated_bound_covers_the_listed_one() -> None:
    # 99 % interval, fixed seed.
    entries = _entries([THREE] * 8)
    listed = composition_bound(entries, [4, 3], _suspicious, [0.1], method="listed")
    simulated = composition_bound(
        entries, [4, 3], _suspicious, [0.1], method="simulated", rng=np.random.default_rng(0)
    )
    assert simulated.method == "simulated"
    assert simulated.lower[0] <= listed.delta[0] <= simulated.delta[0]
    assert simulated.delta[0] - simulated.lower[0] < 0.1


def test_large_cases_need_a_generator_or_a_class() -> None:
    entries = Entries([(400, {0: 0.5, 1: 0.3, 2: 0.2})])
    with pytest.raises(InvalidInput, match="worst_of_class"):
        composition_bound(entries, [100] * 4, _suspicious, [0.1])
    with pytest.raises(InvalidInput, match="too many"):
        exact_composition(entries, [100] * 4, _suspicious, [0.1])
    declared = worst_of_class(entries, [100] * 4, [TOTAL, LARGE], [0.1])
    rng = np.random.default_rng(0)
    simulated = composition_bound(entries, [100] * 4, _suspicious, [0.1], rng=rng, runs=200)
    assert simulated.lower[0] <= declared.delta[0]


def test_the_worst_of_a_class_bounds_every_analyst_in_it() -> None:
    entries = _entries([THREE] * 5)
    declared = worst_of_class(entries, [2, 2, 1], [TOTAL, LARGE], EPSILONS).delta
    for analyst in (_suspicious, ask(TOTAL, TOTAL, LARGE), ask(LARGE, LARGE, LARGE)):
        bound = composition_bound(entries, [2, 2, 1], analyst, EPSILONS).delta
        assert (bound <= declared + 1e-12).all()


def test_known_entries_are_a_group_with_a_certain_value() -> None:
    entries = Entries([(3, {0: 0.7, 1: 0.3}), (3, {0: 0.0, 1: 1.0})])
    laws: list[Law] = [coin(0.3)] * 3 + [{0: 0.0, 1: 1.0}] * 3
    found = exact_composition(entries, [3, 3], ask(ONES, ONES), EPSILONS)
    for place, epsilon in enumerate(EPSILONS):
        truth = _truth(laws, [3, 3], ask(ONES, ONES), epsilon)
        assert found.delta[place] == pytest.approx(truth, abs=1e-11)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: Entries([]),
        lambda: Entries([(3, {0: 0.5, 1: 0.4})]),
        lambda: Entries([(3, {0: 0.5, 1: 0.5}), (3, {0: 1.0})]),
        lambda: ScoreQuery("half", {0: 0.5}),  # type: ignore[dict-item]
        lambda: composition_bound(_entries([THREE] * 3), [2], ask(ONES), [0.1]),
        lambda: composition_bound(_entries([THREE] * 3), [4], ask(TOTAL), [0.1]),
        lambda: composition_bound(_entries([THREE] * 3), [2], lambda a: sum, [0.1]),  # type: ignore[arg-type, return-value]
        lambda: composition_bound(_entries([THREE] * 3), [2], ask(TOTAL), [0.1], critical=1),
        lambda: composition_bound(_entries([THREE] * 3), [2], ask(TOTAL), [0.1], method="quick"),  # type: ignore[arg-type]
        lambda: worst_of_class(_entries([THREE] * 3), [2], [], [0.1]),
    ],
)
def test_bad_input_is_one_sentence(attempt) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput) as caught:
        attempt()
    assert "\n" not in str(caught.value)


def test_a_certain_event_stays_certain_at_every_epsilon() -> None:
    epsilons = [1.0, 700.0, 709.0, 710.0, 750.0, 2_000.0]
    pair = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    assert hockey_stick(*pair, np.array(epsilons)).tolist() == [1.0] * 6
    coins = Entries([(2, {0: 0.5, 1: 0.5})])
    count = ScoreQuery("ones", {0: 0, 1: 1})
    # Each block has one entry; which answer is the critical one's is a secret.
    assert composition_bound(coins, [1, 1], ask(count, count), epsilons).delta.tolist() == [1.0] * 6
    assert worst_of_class(coins, [1, 1], [count], epsilons).delta.tolist() == [1.0] * 6
    exact = exact_composition(coins, [1, 1], ask(count, count), epsilons)
    assert exact.delta == pytest.approx([0.5] * 6, abs=1e-11)


def test_what_is_too_small_for_one_factor_is_multiplied_in_two() -> None:
    first, second = np.array([1.0]), np.array([1e-320])
    with mpmath.workdps(30):
        exact = 1 - mpmath.exp(720) * mpmath.mpf(float(second[0]))
    assert hockey_stick(first, second, np.array([720.0]))[0] == pytest.approx(float(exact), 1e-12)
    assert hockey_stick(first, second, np.array([800.0]))[0] == 0


def test_rare_answers_are_not_lost_in_rounding_at_large_epsilon() -> None:
    law = {"a": Fraction(1, 2), "b": Fraction(1, 2) - Fraction(1, 10**9), "c": Fraction(1, 10**9)}
    scores: dict[object, int] = {"a": 0, "b": 11, "c": 5}
    total: dict[int, Fraction] = {0: Fraction(1)}
    for _ in range(7):
        following: dict[int, Fraction] = {}
        for answer, weight in total.items():
            for value, chance in law.items():
                key = answer + scores[value]
                following[key] = following.get(key, Fraction(0)) + weight * chance
        total = following
    epsilons = [20.0, 30.0, 40.0]
    found = exact_composition(
        Entries([(8, {value: float(chance) for value, chance in law.items()})]),
        [8],
        ask(ScoreQuery("rare", scores)),
        epsilons,
    )
    for place, epsilon in enumerate(epsilons):
        with mpmath.workdps(50):
            grow = mpmath.exp(epsilon)

            def after(value: object, answer: int) -> mpmath.mpf:
                chance = total.get(answer - scores[value], Fraction(0))
                return mpmath.mpf(chance.numerator) / chance.denominator

            truth = max(
                sum(
                    max(mpmath.mpf(0), after(v, answer) - grow * after(w, answer))
                    for answer in range(100)
                )
                for v in scores
                for w in scores
            )
        assert found.lower[place] <= truth <= found.delta[place]
        assert found.delta[place] == pytest.approx(float(truth), abs=1e-11)


def test_the_critical_entry_is_in_the_worst_group_unless_named() -> None:
    entries = Entries([(1, {0: 0.01, 1: 0.99}), (4, {0: 0.5, 1: 0.5})])
    count = ScoreQuery("ones", {0: 0, 1: 1})
    asked, groups = ask(count, count), (0, 1, None)
    for curves in (
        [composition_bound(entries, [3, 2], asked, [0.1], critical=each) for each in groups],
        [exact_composition(entries, [3, 2], asked, [0.1], critical=each) for each in groups],
        [worst_of_class(entries, [3, 2], [count], [0.1], critical=each) for each in groups],
    ):
        # Bounds are rounded up by as much as there was to compute, which is more for all groups.
        assert curves[2].delta == pytest.approx(max(c.delta for c in curves[:2]), rel=1e-12)
        assert curves[0].delta < curves[1].delta
        assert "the critical one in group 1" in curves[1].assumption
        assert "the critical one in any group" in curves[2].assumption


def test_probabilities_that_sum_to_nearly_one_are_made_to() -> None:
    near = Entries([(60, {0: 0.3 - 3e-10, 1: 0.7 - 5e-10})])
    truth = property_curve(60, (0.7 - 5e-10) / (1 - 8e-10), EPSILONS)
    found = exact_composition(near, [30, 30], ask(ONES, ONES), EPSILONS)
    assert (found.lower <= truth.delta).all()
    assert (truth.lower <= found.delta).all()


def test_a_query_for_every_block_is_needed() -> None:
    coins = Entries([(2, {0: 0.5, 1: 0.5})])
    with pytest.raises(InvalidInput, match="has 1"):
        exact_composition(coins, [1, 1], ask(ONES), [0.1])


def test_scores_and_runs_are_checked_in_one_sentence() -> None:
    coins = Entries([(2, {0: 0.5, 1: 0.5})])
    with pytest.raises(InvalidInput, match="no score for 1"):
        worst_of_class(coins, [1, 1], [ScoreQuery("half", {0: 0})], [1.0])
    for score in (float("nan"), "a", 0.5):
        with pytest.raises(InvalidInput, match="score"):
            ScoreQuery("bad", {0: score})  # type: ignore[dict-item]
    asked, rng = ask(ONES, ONES), np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="at least two runs"):
        composition_bound(coins, [1, 1], asked, [0.1], method="simulated", runs=1, rng=rng)
