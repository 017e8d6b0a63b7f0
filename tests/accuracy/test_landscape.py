"""Errors over all rates and all (m, M)."""

from __future__ import annotations

import numpy as np
import pytest

from omit import (
    Column,
    Guarantee,
    Mechanism,
    NoisyMean,
    NoisyMode,
    PoissonSampling,
    expected_error,
)
from omit.accuracy.expected import Question
from omit.accuracy.grids import Curves, CurvesQuestion, error_grid
from tests.accuracy.own_classes import NoisyTotal

ages = Column.from_counts([20, 30, 40, 60], [400, 800, 400, 400], bounds=(0, 100), name="age")
GRID: tuple[tuple[float, ...], ...] = ((0.1, 1.0), (0.3, 0.8), (0.2, 0.5, 0.7))


def landscape(
    column: Column, mechanism: Mechanism, guarantee: Guarantee, *grid: tuple[float, ...]
) -> Curves:
    return CurvesQuestion(Question(column, mechanism, guarantee, runs=500), *grid).answer()


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [NoisyMean(), NoisyMode()], ids=str)
def test_every_point_is_the_expected_error_there(mechanism: NoisyMean | NoisyMode) -> None:
    found = landscape(ages, mechanism, Guarantee(9.9), *GRID)
    assert found.by_score is not None
    for i, epsilon in enumerate(found.by_rate.epsilons):
        guarantee = Guarantee(epsilon)
        plain = expected_error(ages, mechanism, guarantee).value
        assert found.by_rate.baseline[i] == pytest.approx(plain, rel=1e-6)
        for j, rate in enumerate(found.rates):
            sampled = expected_error(ages, mechanism, guarantee, PoissonSampling(rate)).value
            assert found.by_rate.errors[i, j] == pytest.approx(sampled, rel=1e-6)
        for j, omission in enumerate(found.by_score.omissions):
            value = expected_error(ages, mechanism, guarantee, omission).value
            assert found.by_score.errors[i, j] == pytest.approx(value, rel=1e-6)
    assert [(each.m, each.M) for each in found.by_score.omissions][:4] == [  # type: ignore[attr-defined]
        (0.2, 0.2),
        (0.2, 0.5),
        (0.2, 0.7),
        (0.5, 0.5),
    ]
    assert found.simulated == 0


def test_on_the_diagonal_suppression_is_sampling() -> None:
    found = landscape(ages, NoisyMean(), Guarantee(1.0), (0.5,), (0.8, 0.5), (0.2, 0.5))
    assert found.by_score is not None
    assert found.by_score.errors[0, [0, 2]] == pytest.approx(found.by_rate.errors[0], rel=1e-6)


def test_delta_is_that_of_the_guarantee() -> None:
    target = Guarantee(7.0, 1e-4)
    found = landscape(ages, NoisyMode("gaussian"), target, (0.1,), (0.5,), ())
    assert found.by_score is None
    expected = expected_error(ages, NoisyMode("gaussian"), Guarantee(0.1, 1e-4)).value
    assert found.by_rate.baseline[0] == pytest.approx(expected)


def test_progress_is_told_once_for_each_point() -> None:
    told: list[int] = []
    asked = CurvesQuestion(Question(ages, NoisyMode(), Guarantee(1.0)), *GRID)
    asked.answer(lambda: told.append(1))
    assert len(told) == asked.size == 2 * (1 + 2 + 6)
    assert CurvesQuestion(Question(ages, NoisyMode(), Guarantee(1.0))).size == 4 * (1 + 99 + 45)


@pytest.mark.slow
def test_curves_ask_what_the_comparison_asked() -> None:
    asked = Question(
        ages, NoisyMean(), Guarantee(0.4), truth=31, method="simulated", runs=70, seed=5
    )
    curves = CurvesQuestion(asked)
    assert curves.epsilons == pytest.approx((0.1, 0.2, 0.4, 0.8))
    for name in ("truth", "method", "runs", "seed", "mechanism", "rows_per_person"):
        assert getattr(curves.question, name) == getattr(asked, name)
    sampled = Question(ages, NoisyMean(), Guarantee(1.0, neighbours="replace"), sampled_from=9000)
    grid = CurvesQuestion(sampled, (1.0,), (0.5,)).answer()
    assert grid.by_rate.sizes == (1001,)
    alone = sampled.error(grid.by_rate.omissions[0])
    assert grid.by_rate.errors[0, 0] == pytest.approx(alone.value, rel=1e-6)


def test_simulated_points_are_counted() -> None:
    found = landscape(ages, NoisyTotal(), Guarantee(1.0), *GRID)
    assert found.simulated == 2 * (1 + 2 + 6)


@pytest.mark.slow
def test_few_records_of_many_values_are_simulated_where_all_errors_would_take_minutes() -> None:
    few = Column.from_values(np.arange(20, 80), bounds=(0, 125), name="age")
    found = landscape(few, NoisyMean(), Guarantee(1.0), (0.5,), (0.3,), (0.1, 0.3))
    assert found.simulated == found.size - 1  # without omission there is one outcome
    exact = expected_error(few, NoisyMean(), Guarantee(0.5), PoissonSampling(0.3))
    assert exact.method == "exact"
    value, high = found.by_rate.errors[0, 0], found.by_rate.high[0, 0]
    assert abs(value - exact.value) < 2 * (high - value) < exact.value


def test_a_line_through_the_rates_of_a_report_misses_no_other_rate_visibly() -> None:
    """Against the errors at every per cent; the rates that are drawn are among these."""
    question = Question(ages, NoisyMode(), Guarantee(0.02))
    curves = CurvesQuestion(question, epsilons=[0.02]).answer()
    rates = tuple(step / 100 for step in range(1, 100))
    every = error_grid(question, [PoissonSampling(rate) for rate in rates], [0.02])
    drawn = np.interp(rates, curves.rates, curves.by_rate.errors[0])
    assert len(curves.rates) < 60
    assert set(curves.rates) <= set(rates)
    assert np.abs(drawn - every.errors[0]).max() < 0.02
