"""The best omission at a guarantee, and the guarantee that reaches an error."""

from __future__ import annotations

import math
from typing import Any

import pytest

import omit
from omit.accuracy.expected import Question
from omit.accuracy.search import default_candidates
from omit.exact.error import ExpectedError
from omit.mechanisms import GlobalQuantile
from tests.accuracy.own_classes import Dial, SetCounts
from tests.parts import solved

pytestmark = pytest.mark.slow

ages = omit.Column.from_counts([20, 30, 40, 60], [400, 800, 400, 400], bounds=(0, 100), name="age")
# 95 % of the population's 40 and 60, and 5 % of contamination at 900; the true mean is 50.
contaminated = omit.Column.from_counts(
    [40, 60, 900], [950, 950, 100], bounds=(0, 1000), name="income"
)


def test_by_default_every_per_cent_and_every_tenth_is_tried() -> None:
    candidates = list(default_candidates())
    assert candidates[:99] == [omit.PoissonSampling(step / 100) for step in range(1, 100)]
    assert len(candidates) == len(set(candidates)) == 99 + 36
    assert omit.OutlierScoreSuppression(0.1, 0.9) in candidates


def test_the_largest_sample_without_noise_is_tried_where_it_has_a_record() -> None:
    rates = [
        each
        for each in default_candidates("add-remove", 2000, 0.0305)
        if isinstance(each, omit.PoissonSampling)
    ]
    bare = rates[3]
    assert len(rates) == 100
    assert str(bare) == "Poisson sampling at rate 0.0305"
    assert isinstance(bare.calibrate(omit.Guarantee(0.1, 0.0305)), omit.NoNoiseNeeded)
    assert isinstance(rates[4].calibrate(omit.Guarantee(0.1, 0.0305)), omit.Guarantee)
    sizes = {
        each.size
        for each in default_candidates("replace", 2000, 0.0305)
        if isinstance(each, omit.FixedSizeSampling)
    }
    assert {60, 61} <= sizes
    assert len(list(default_candidates("add-remove", 2000, 1e-4))) == 99 + 36


def test_a_delta_that_lets_raw_records_out_decides_for_the_noisy_mean_too() -> None:
    target = omit.Guarantee(1e-4, 0.0305)
    answer = omit.best(ages, omit.NoisyMean(), target, runs=200)
    assert str(answer.omission) == "Poisson sampling at rate 0.0305"


def test_for_the_mean_of_adult_ages_nothing_beats_using_all_records() -> None:
    answer = omit.best(omit.read("adult", "age"), omit.NoisyMean(), omit.Guarantee(1.0))
    assert answer.omission is None
    # Of all candidates, the one that omits least comes nearest.
    assert answer.nearest == omit.PoissonSampling(0.99)
    assert answer.tried == 135
    assert answer.comparison.rows[1].standing == "worse"
    assert answer.verdict.startswith("None: of 135 omissions tried, none beats using all records")


def test_suppressing_contamination_beats_using_all_records() -> None:
    candidates = [omit.PoissonSampling(0.5), omit.PoissonSampling(0.99)] + [
        omit.OutlierScoreSuppression(m, M) for m in (0.0, 0.1, 0.5) for M in (0.5, 0.9)
    ]
    answer = omit.best(contaminated, omit.NoisyMean(), omit.Guarantee(2.0), candidates, truth=50.0)
    assert isinstance(answer.omission, omit.OutlierScoreSuppression)
    assert answer.omission == answer.nearest
    assert answer.comparison.rows[1].standing == "better"
    ratio = answer.comparison.rows[1].ratio
    assert ratio is not None
    assert ratio < 0.7
    assert answer.verdict.startswith("At (2, 0)-DP under add-remove, the best of 8 is")
    # Against the contaminated mean itself, there is nothing to gain.
    assert (
        omit.best(contaminated, omit.NoisyMean(), omit.Guarantee(2.0), candidates).omission is None
    )


def test_the_best_has_the_smallest_error_of_all_candidates() -> None:
    candidates = [
        omit.PoissonSampling(0.5),
        omit.OutlierScoreSuppression(0.0, 0.9),
        omit.OutlierScoreSuppression(0.3, 0.5),
        omit.OutlierScoreSuppression(0.1, 0.3, bound="published"),  # cannot reach epsilon = 1
    ]
    seen: list[int] = []
    answer = omit.best(
        contaminated,
        omit.NoisyMean(),
        omit.Guarantee(1.0),
        candidates,
        truth=50.0,
        advance=lambda: seen.append(1),
    )
    errors = [
        omit.expected_error(
            contaminated, omit.NoisyMean(), omit.Guarantee(1.0), each, truth=50.0
        ).value
        for each in candidates[:3]
    ]
    assert errors.index(min(errors)) == 1
    assert answer.nearest == omit.OutlierScoreSuppression(0.0, 0.9)
    assert (answer.tried, len(seen)) == (4, 3)


def test_slow_means_are_computed_only_for_what_may_be_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = omit.Column.from_values(range(20, 80), bounds=(0, 125))
    candidates = [omit.PoissonSampling(rate) for rate in (0.2, 0.4, 0.79, 0.8)]
    exact = {
        each: omit.expected_error(few, omit.NoisyMean(), omit.Guarantee(0.5), each)
        for each in candidates
    }
    assert {error.method for error in exact.values()} == {"exact"}
    computed = []

    ask = Question.error

    def counting(question: Question, omission: Any) -> ExpectedError:
        computed.extend([] if question.quick else [omission])
        return ask(question, omission)

    monkeypatch.setattr(Question, "error", counting)
    found = omit.best(few, omit.NoisyMean(), omit.Guarantee(0.5), candidates)
    assert found.nearest == min(candidates, key=lambda each: exact[each].value)
    assert found.tried == 4
    assert found.nearest in computed
    assert not {omit.PoissonSampling(0.2), omit.PoissonSampling(0.4)} & set(computed)


def test_an_estimate_that_may_be_luck_is_not_called_best() -> None:
    column = omit.Column.from_counts([1, 2], [100, 1], bounds=(1, 2))
    lucky = omit.best(column, Dial(), omit.Guarantee(1.0), [SetCounts(95, 94)], runs=200)
    assert lucky.omission is None
    assert lucky.comparison.rows[1].standing == "undecided"
    sure = omit.best(
        column, Dial(), omit.Guarantee(1.0), [SetCounts(95, 1), SetCounts(97, 1)], runs=200
    )
    assert sure.omission == SetCounts(95, 1)


def test_if_no_candidate_reaches_the_guarantee_there_is_no_best() -> None:
    with pytest.raises(omit.InvalidInput, match="None of the omissions to try"):
        omit.best(
            ages,
            omit.NoisyMean(),
            omit.Guarantee(1.0),
            [omit.OutlierScoreSuppression(0.1, 0.3, bound="published")],
        )
    with pytest.raises(omit.InvalidInput, match="None of the omissions to try"):
        omit.best(ages, omit.NoisyMean(), omit.Guarantee(1.0), [])


@pytest.mark.parametrize(
    ("mechanism", "wanted", "delta"),
    [
        (omit.NoisyMean(), 1.0, 0.0),
        (omit.NoisyMean("gaussian"), 1.5, 1e-6),
        (omit.NoisyMode(), 0.05, 0.0),
        (omit.NoisyMode("gumbel"), 0.3, 0.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("omission", [None, omit.PoissonSampling(0.7)], ids=str)
def test_the_solution_reaches_the_wanted_error_and_nothing_stronger_does(
    mechanism: omit.NoisyMean | omit.NoisyMode,
    wanted: float,
    delta: float,
    omission: omit.PoissonSampling | None,
) -> None:
    if omission is not None and mechanism.statistic == "mean":
        wanted *= 2
    guarantee, error = solved(ages, mechanism, wanted, omission, delta=delta)
    assert guarantee.delta == delta
    assert error.value == pytest.approx(wanted, rel=1e-6)
    assert error.value <= wanted
    again = omit.expected_error(ages, mechanism, guarantee, omission)
    assert again.value == pytest.approx(error.value, rel=1e-6)
    stronger = omit.Guarantee(guarantee.epsilon * (1 - 1e-6), delta)
    assert omit.expected_error(ages, mechanism, stronger, omission).value > wanted


@pytest.mark.parametrize("wanted", [1e17, 1e100, 1e308])
def test_any_epsilon_reaches_a_huge_error(wanted: float) -> None:
    guarantee, error = solved(ages, omit.NoisyMean(), wanted)
    assert guarantee.epsilon <= 1e-6
    assert error.value <= wanted


def test_a_solution_takes_few_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    ask = Question.error

    def counting(question: Question, omission: Any) -> ExpectedError:
        asked.append(omission)
        return ask(question, omission)

    monkeypatch.setattr(Question, "error", counting)
    omit.solve(ages, omit.NoisyMean(), 1.0, omit.PoissonSampling(0.7))
    assert len(asked) < 20


def test_under_replace_the_solution_is_in_closed_form() -> None:
    # E|Z| = width / epsilon on a sum of n records: error = 100 width / (epsilon n mean) per cent.
    guarantee, _ = solved(ages, omit.NoisyMean(), 0.5, neighbours="replace")
    assert guarantee.neighbours == "replace"
    expected = 100 * 100 / (0.5 * ages.size * ages.mean)
    assert guarantee.epsilon == pytest.approx(expected, rel=1e-6)


def test_the_solution_knows_the_truth_of_the_population() -> None:
    guarantee, error = solved(ages, omit.NoisyMean(), 9.0, truth=38.0)
    assert error.value == pytest.approx(9.0, rel=1e-6)
    again = omit.expected_error(ages, omit.NoisyMean(), guarantee, truth=38.0)
    assert again.value == pytest.approx(9.0, rel=1e-6)


def test_what_sampling_alone_costs_no_epsilon_makes_up_for() -> None:
    sampled = omit.PoissonSampling(0.1)
    floor = omit.expected_error(ages, omit.NoisyMean(), omit.Guarantee(100.0), sampled).value
    with pytest.raises(omit.Unattainable, match=r"does not reach an error of .* at epsilon = 100"):
        omit.solve(ages, omit.NoisyMean(), 0.9 * floor, sampled)
    guarantee, _ = solved(ages, omit.NoisyMean(), 1.2 * floor, sampled)
    assert guarantee.epsilon < 100


def test_a_floor_of_epsilon_under_the_omission_is_no_obstacle_above_it() -> None:
    # Under Theorem 5.4, (m, M) = (.1, .3) costs epsilon = 2 at least, and 5 is enough here.
    published = omit.OutlierScoreSuppression(0.1, 0.3, bound="published")
    wanted = omit.expected_error(ages, omit.NoisyMean(), omit.Guarantee(5.0), published).value
    guarantee, error = solved(ages, omit.NoisyMean(), wanted, published)
    assert error.value == pytest.approx(wanted, rel=1e-6)
    assert 2 < guarantee.epsilon <= 5 * (1 + 1e-6)


def test_an_error_that_a_coin_reaches_needs_hardly_any_epsilon() -> None:
    # Of two values the mode is right by chance in half of all cases.
    coin = omit.Column.from_counts([1, 2], [3, 1], bounds=(1, 2))
    guarantee, error = solved(coin, omit.NoisyMode(), 0.49)
    assert 0.489 < error.value <= 0.49
    assert guarantee.epsilon < 0.05


@pytest.mark.parametrize("wanted", [0.0, -1.0, math.inf, math.nan])
def test_the_wanted_error_is_a_positive_number(wanted: float) -> None:
    with pytest.raises(omit.InvalidInput, match="wanted"):
        omit.solve(ages, omit.NoisyMean(), wanted)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_what_is_left_out_of_a_search_is_not_best(epsilon: float) -> None:
    """Against candidates whose errors are computed one by one."""
    mechanism, target = omit.NoisyMean(), omit.Guarantee(epsilon)
    candidates = list(default_candidates())[4::13]
    question = Question(ages, mechanism, target, tolerance=1e-7, details=False)
    errors = {each: question.error(each).value for each in candidates}
    computed: list[int] = []
    answer = omit.best(ages, mechanism, target, candidates, advance=lambda: computed.append(1))
    assert answer.nearest == min(errors, key=lambda each: errors[each])
    assert answer.tried == len(errors) == 11
    assert 0 < len(computed) < 11


def test_a_search_that_is_cut_off_says_so() -> None:
    answer = omit.best(ages, omit.NoisyMean(), omit.Guarantee(1.0), seconds=1e-9)
    assert answer.tried == 1
    assert answer.verdict.endswith(
        "The search was stopped after 1e-09 s: 134 more were not tried and may be better."
    )
    assert answer.to_json()["complete"] is False
    whole = omit.best(ages, omit.NoisyMean(), omit.Guarantee(1.0), seconds=1000)
    assert whole.to_json()["complete"] is True
    assert "stopped" not in whole.verdict


def test_sizes_that_are_not_tried_in_time_are_named() -> None:
    target = omit.Guarantee(0.1, neighbours="replace")
    answer = omit.best(ages, GlobalQuantile(), target, seconds=1e-9)
    assert answer.tried == 1
    assert "sizes that were not tried may be better" in answer.verdict


def test_an_epsilon_that_is_not_the_least_is_said_to_be_so() -> None:
    solution = omit.solve(ages, omit.NoisyMean(), 1.0, seconds=1e-9)
    assert solution.guarantee.epsilon == 1.0
    assert solution.error.value <= 1.0
    assert solution.verdict.endswith("stopped after 1e-09 s: a smaller epsilon may do.")
    assert solution.to_json()["complete"] is False
    with pytest.raises(omit.Unattainable, match=r"within 1e-09 s; allow more time"):
        omit.solve(ages, omit.NoisyMean(), 1e-3, seconds=1e-9)
    for seconds in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(omit.InvalidInput, match="seconds"):
            omit.solve(ages, omit.NoisyMean(), 1.0, seconds=seconds)
