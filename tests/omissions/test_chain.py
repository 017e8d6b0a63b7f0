"""One omission after another: what remains, what is left, and how it is typed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from omit.accuracy.expected import expected_error
from omit.data.column import Column
from omit.errors import InvalidInput, Unattainable, WrongNeighbours
from omit.guarantee import Guarantee, NoGuarantee, NoNoiseNeeded
from omit.mechanisms.mean import NoisyMean
from omit.omissions.base import Omission
from omit.omissions.deterministic import RuleSuppression, StableSuppression
from omit.omissions.names import parse_omission
from omit.omissions.outlier_removal import ThresholdOutlierRemoval, TopOutlierRemoval
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.pairs import SubsetPair
from omit.omissions.sampling import FixedSizeSampling, NoOmission, PoissonSampling

HALF, TENTH = PoissonSampling(0.5), PoissonSampling(0.1)
SCORES = OutlierScoreSuppression(0.1, 0.9)

Records = tuple[float, ...]
Law = dict[Records, float]


def _step(omission: Omission, records: Records) -> Law:
    """All subsets of some numbers in [0, 1] with their probabilities, by the definitions."""
    if isinstance(omission, PoissonSampling):
        keep = [omission.largest_keep_probability] * len(records)
    else:
        assert isinstance(omission, OutlierScoreSuppression)
        spread = omission.M - omission.m
        keep = [
            1 - omission.m - spread * sum(abs(x - y) for y in records) / len(records)
            for x in records
        ]
    law: defaultdict[Records, float] = defaultdict(float)
    for choice in product((0, 1), repeat=len(records)):
        kept = tuple(x for x, chosen in zip(records, choice, strict=True) if chosen)
        law[kept] += math.prod(
            p if chosen else 1 - p for p, chosen in zip(keep, choice, strict=True)
        )
    return dict(law)


def _both(first: Omission, then: Omission, records: Records) -> Law:
    law: defaultdict[Records, float] = defaultdict(float)
    for left, probability in _step(first, records).items():
        for kept, share in _step(then, left).items():
            law[kept] += probability * share
    return dict(law)


@pytest.mark.parametrize(
    ("first", "then"), [(SCORES, TENTH), (TENTH, SCORES), (SCORES, SCORES), (HALF, TENTH)]
)
@pytest.mark.parametrize("records", [(0.0, 0.0, 1.0), (0.0, 0.5, 1.0), (0.0, 0.0, 0.0, 1.0)])
def test_no_mechanism_loses_more_behind_two_steps(
    first: Omission, then: Omission, records: Records
) -> None:
    """By linear programs over all mechanisms on the subsets of small databases."""
    pair = SubsetPair.from_distributions(
        records[:-1], records[-1], _both(first, then, records[:-1]), _both(first, then, records)
    )
    chain = first >> then
    for epsilon in (0.25, 1.0, 2.0):
        loss = pair.exact(epsilon).epsilon
        bound = float(chain.epsilon_after(epsilon))
        assert loss <= bound + 1e-7
        assert loss > 0.2 * bound


def test_the_order_matters() -> None:
    """Reference values: composed .152177 and .245859; as one suppression .149992."""
    composed = SCORES.epsilon_after(TENTH.epsilon_after(1.0))
    assert f"{composed:.6f}" == "0.152177"
    assert f"{(SCORES >> TENTH).epsilon_after(1.0):.6f}" == "0.149992"
    assert f"{(TENTH >> SCORES).epsilon_after(1.0):.6f}" == "0.245859"


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0])
def test_a_stated_chain_is_not_below_its_formula_and_not_far_above(epsilon: float) -> None:
    stated = (SCORES >> TENTH).amplify(Guarantee(epsilon))
    assert not isinstance(stated, NoGuarantee)
    m, M = 1 - 0.1 * (1 - 0.1), 1 - 0.1 * (1 - 0.9)
    merged = float(OutlierScoreSuppression(m, M).epsilon_after(epsilon))
    composed = float(SCORES.epsilon_after(TENTH.epsilon_after(epsilon)))
    least = min(merged, composed)
    assert least <= stated.epsilon <= least * (1 + 1e-4)


def test_delta_follows_the_shift_rule_through_both_steps() -> None:
    base = Guarantee(1.0, 1e-6)
    stated = (TENTH >> SCORES).amplify(base)
    assert not isinstance(stated, NoGuarantee)
    factor = math.expm1(stated.epsilon) / math.expm1(1.0)
    assert stated.delta == pytest.approx(1e-6 * factor, rel=1e-12)


def test_samples_of_samples_are_samples() -> None:
    base = Guarantee(1.0, 1e-6)
    twice, once = (HALF >> HALF).amplify(base), PoissonSampling(0.25).amplify(base)
    assert not isinstance(twice, NoGuarantee)
    assert not isinstance(once, NoGuarantee)
    assert (twice.epsilon, twice.delta) == pytest.approx((once.epsilon, once.delta), rel=1e-13)
    fixed = FixedSizeSampling(100, 1000) >> FixedSizeSampling(10, 100)
    assert fixed.relations == ("replace",)
    assert (fixed.records_before, fixed.records_after) == (1000, 10)
    assert fixed.epsilon_after(1.0) == pytest.approx(math.log1p(0.01 * math.expm1(1.0)))


def test_what_is_calibrated_is_amplified_to_the_target_and_no_further() -> None:
    target = Guarantee(0.5, 1e-6)
    for chain in (SCORES >> TENTH, TENTH >> SCORES, RuleSuppression(keep=(0, 1)) >> HALF):
        base = chain.calibrate(target)
        assert isinstance(base, Guarantee)
        reached = chain.amplify(base)
        assert not isinstance(reached, NoGuarantee)
        assert 0.4999 < reached.epsilon <= 0.5
        assert reached.delta <= 1e-6


def test_after_a_step_without_guarantee_nothing_is_left_and_before_it_a_sample_protects() -> None:
    removal = TopOutlierRemoval(0.1)
    nothing = (removal >> TENTH).amplify(Guarantee(1.0))
    assert isinstance(nothing, NoGuarantee)
    assert nothing.witness is not None
    with pytest.raises(Unattainable, match="unbounded sensitivity"):
        (removal >> TENTH).calibrate(Guarantee(1.0, 0.5))
    stated = (TENTH >> removal).amplify(Guarantee(1.0))
    assert not isinstance(stated, NoGuarantee)
    assert stated.epsilon == 0
    assert stated.delta == pytest.approx(0.1)
    assert stated.delta >= 0.1
    assert isinstance((TENTH >> removal).calibrate(Guarantee(1.0, 0.11)), NoNoiseNeeded)
    with pytest.raises(Unattainable):
        (TENTH >> removal).calibrate(Guarantee(1.0, 0.09))


@pytest.mark.parametrize("removal", [ThresholdOutlierRemoval(0.5), TopOutlierRemoval(0.25)])
def test_a_sample_before_a_removal_shows_no_record_more_often_than_it_is_drawn(
    removal: ThresholdOutlierRemoval | TopOutlierRemoval,
) -> None:
    """The total variation of the kept counts at two points, which an arbitrary mechanism sees."""
    rate = 0.3

    def law(first: int, second: int) -> defaultdict[tuple[int, int], float]:
        chances: defaultdict[tuple[int, int], float] = defaultdict(float)
        for a, b in product(range(first + 1), range(second + 1)):
            weight = math.comb(first, a) * math.comb(second, b) * rate ** (a + b)
            weight *= (1 - rate) ** (first + second - a - b)
            chances[removal.kept(a, b) if a + b else (0, 0)] += weight
        return chances

    stated = (PoissonSampling(rate) >> removal).amplify(Guarantee(1.0))
    assert not isinstance(stated, NoGuarantee)
    distances = []
    for first, second in ((3, 3), (5, 2), (1, 6), (0, 4)):
        with_record, without = law(first, second), law(first, second - 1)
        apart = sum(abs(with_record[key] - without[key]) for key in {*with_record, *without}) / 2
        distances.append(apart)
        assert apart <= stated.delta + 1e-12
    assert max(distances) > 0.4 * rate


def test_keep_probabilities_multiply_where_the_second_step_looks_at_single_records() -> None:
    column = Column.from_counts([10, 20, 90], [5, 3, 2], bounds=(0, 100))
    scores = SCORES.design(column, "absolute").inclusion
    assert scores is not None
    chained = (SCORES >> HALF).design(column, "absolute")
    assert chained.inclusion is not None
    assert chained.inclusion.tolist() == (scores * 0.5).tolist()
    ruled = (HALF >> RuleSuppression(keep=(0, 50))).design(column, "absolute")
    assert ruled.inclusion is not None
    assert ruled.inclusion.tolist() == [0.5, 0.5, 0.0]
    assert (HALF >> HALF).design(column, "absolute").expansion == 4
    assert (NoOmission() >> SCORES).design(column, "absolute").inclusion.tolist() == scores.tolist()  # type: ignore[union-attr]


def test_scores_after_a_sample_look_at_the_sample() -> None:
    """Kept with p (1 - m - (M - m) z N/(N-1) (1 - (1 - (1 - p)^N)/(N p))); five standard errors."""
    counts, rate, runs = np.array([3, 2, 1]), 0.5, 40_000
    column = Column.from_counts([0, 40, 100], counts, bounds=(0, 100))
    design = (PoissonSampling(rate) >> SCORES).design(column, "absolute")
    assert design.inclusion is None
    drawn = design.counts(counts, runs, np.random.default_rng(7)).mean(axis=0) / counts
    means, size = column.mean_distances("absolute").means, column.size
    shrunk = size / (size - 1) * (1 - (1 - (1 - rate) ** size) / (size * rate))
    expected = rate * (1 - SCORES.m - (SCORES.M - SCORES.m) * means * shrunk)
    assert np.abs(drawn - expected).max() < 5 * 0.5 / math.sqrt(runs)


def test_an_error_after_two_steps_is_exact_where_records_are_independent() -> None:
    column = Column.from_counts(range(20, 60), [7] * 40, bounds=(0, 100))
    question = column, NoisyMean(), Guarantee(1.0)
    both = expected_error(*question, SCORES >> HALF)
    drawn = expected_error(*question, SCORES >> HALF, method="simulated", runs=4000)
    assert both.method == "exact"
    assert drawn.low <= both.value <= drawn.high
    assert expected_error(*question, HALF >> SCORES, runs=200).method == "simulated"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("poisson:0.5+outlier-score:0.1,0.9", HALF >> SCORES),
        ("poisson:5e-1+poisson:1e-1+rule:0,10", HALF >> TENTH >> RuleSuppression(keep=(0, 10))),
        ("fixed-size:9+fixed-size:3", FixedSizeSampling(9, 20) >> FixedSizeSampling(3, 9)),
    ],
)
def test_a_chain_is_typed_with_a_plus(text: str, steps: Omission) -> None:
    assert parse_omission(text, population=20) == steps


def test_a_plus_within_a_number_is_no_joint() -> None:
    assert parse_omission("rule:0,1e+2") == RuleSuppression(keep=(0, 100))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: HALF >> FixedSizeSampling(1, 9), InvalidInput, "no neighbour relation"),
        (lambda: FixedSizeSampling(5, 9) >> FixedSizeSampling(1, 4), InvalidInput, "needs 4"),
        (lambda: HALF >> "poisson:0.1", InvalidInput, "one after the other"),  # type: ignore[operator]
        (lambda: parse_omission("poisson:0.5+"), InvalidInput, "after the colon|numbers"),
        (lambda: parse_omission("poisson:0.5+nothing"), InvalidInput, "to be one of"),
        (
            lambda: (HALF >> HALF).amplify(Guarantee(1.0, neighbours="replace")),
            WrongNeighbours,
            "replace",
        ),
    ],
)
def test_steps_that_cannot_follow_each_other_are_refused(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


def test_two_stable_steps_multiply_their_sensitivities() -> None:
    chain = StableSuppression(2) >> StableSuppression(3)
    stated = chain.amplify(Guarantee(0.5))
    assert not isinstance(stated, NoGuarantee)
    assert stated.epsilon == pytest.approx(3.0, rel=1e-12)


def test_what_bins_do_after_dependent_omissions_is_not_known_and_said() -> None:
    wages = Column.from_values(np.arange(0.0, 90.0, 0.5), bounds=(0, 100)).in_bins(20)
    dependent = PoissonSampling(0.5) >> OutlierScoreSuppression(0.1, 0.3)
    with pytest.raises(InvalidInput, match="not kept independently: keep all values"):
        expected_error(wages, NoisyMean(), Guarantee(1.0), dependent)
