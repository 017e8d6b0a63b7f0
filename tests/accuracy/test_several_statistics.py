"""Several statistics of the same records, which share a guarantee."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import omit
from omit import Guarantee, NoisyMean, NoisyMode, PoissonSampling, Sample, compose
from omit.accuracy.expected import Question
from omit.errors import InvalidInput
from omit.guarantee import Statement
from omit.omissions import OutlierScoreSuppression

AGES = omit.read("adult", "age")


@given(
    number=st.integers(1, 9),
    epsilon=st.floats(0.01, 3),
    rate=st.floats(0.05, 0.95),
)
def test_all_statistics_on_one_sample_together_have_the_guarantee(
    number: int, epsilon: float, rate: float
) -> None:
    target = Guarantee(epsilon)
    question = Question(AGES, NoisyMode(), target, statistics=number)
    promise = question.setting(PoissonSampling(rate)).promise
    assert isinstance(promise, Guarantee)
    sample = Sample(PoissonSampling(rate))
    together = compose(*(sample.charge(promise) for _ in range(number)))
    assert isinstance(together, Statement)
    assert together.epsilon <= epsilon * (1 + 1e-12)
    assert together.epsilon == pytest.approx(epsilon, rel=1e-9)


# THEORY 8.5: five statistics of epsilon 1 at rate 0.1 on one sample, and each on a fresh one.
def test_fresh_samples_for_every_statistic_cost_less_than_one_for_all() -> None:
    one, sampling = Guarantee(1.0), PoissonSampling(0.1)
    sample = Sample(sampling)
    shared = compose(*(sample.charge(one) for _ in range(5)))
    fresh = compose(*(Sample(sampling).charge(one) for _ in range(5)))
    assert isinstance(shared, Statement)
    assert isinstance(fresh, Statement)
    assert shared.epsilon == pytest.approx(2.756, abs=5e-4)
    assert fresh.epsilon == pytest.approx(0.793, abs=5e-4)


def test_a_comparison_says_what_is_shared_and_what_fresh_samples_would_allow() -> None:
    sampling, target = PoissonSampling(0.1), Guarantee(1.0)
    result = omit.compare(AGES, NoisyMean(), target, sampling, statistics=2)
    assert "for all 2 statistics together," in result.verdict
    fresh, whole = sampling.calibrate(target.per_statistic(2)), sampling.calibrate(target)
    assert isinstance(fresh, Guarantee)
    assert isinstance(whole, Guarantee)
    note = next(note for note in result.notes if "drawn anew" in note)
    assert f"ε = {fresh.epsilon:.10f}"[:9] in note
    assert f"instead of {whole.epsilon / 2:.10f}"[:16] in note
    assert fresh.epsilon > whole.epsilon / 2


def test_where_a_fresh_omission_allows_no_more_nothing_is_said_of_it() -> None:
    loses = OutlierScoreSuppression(0.1, 0.3)
    result = omit.compare(AGES, NoisyMean(), Guarantee(0.01), loses, statistics=2)
    assert not any("drawn anew" in note for note in result.notes)
    alone = omit.compare(AGES, NoisyMean(), Guarantee(1.0), loses)
    assert not any("together" in note for note in alone.notes)


@pytest.mark.parametrize("number", [0, -1, 1.5])
def test_statistics_are_counted(number: float) -> None:
    with pytest.raises(InvalidInput, match="statistics"):
        omit.compare(AGES, NoisyMean(), Guarantee(1.0), statistics=number)
