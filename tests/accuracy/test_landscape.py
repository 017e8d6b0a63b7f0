"""Errors over all rates and all (m, M)."""

from __future__ import annotations

import numpy as np
import pytest

from omit import (
    Column,
    Guarantee,
    NoisyMean,
    NoisyMode,
    OutlierScoreSuppression,
    PoissonSampling,
    expected_error,
)
from omit.accuracy.grids import landscape, landscape_size
from tests.accuracy.own_classes import NoisyTotal

ages = Column.from_counts([20, 30, 40, 60], [400, 800, 400, 400], bounds=(0, 100), name="age")
GRID = {"epsilons": (0.1, 1.0), "rates": (0.3, 0.8), "probabilities": (0.2, 0.5, 0.7)}


@pytest.mark.parametrize("mechanism", [NoisyMean(), NoisyMode()], ids=str)
def test_every_point_is_the_expected_error_there(mechanism: NoisyMean | NoisyMode) -> None:
    found = landscape(ages, mechanism, Guarantee(9.9), **GRID)  # type: ignore[arg-type]
    for i, epsilon in enumerate(found.epsilons):
        guarantee = Guarantee(epsilon)
        plain = expected_error(ages, mechanism, guarantee).value
        assert found.baseline[i] == pytest.approx(plain, rel=1e-6)
        for j, rate in enumerate(found.rates):
            sampled = expected_error(ages, mechanism, guarantee, PoissonSampling(rate)).value
            assert found.by_rate[i, j] == pytest.approx(sampled, rel=1e-6)
        for j, m in enumerate(found.probabilities):
            for k, M in enumerate(found.probabilities):
                if m > M:
                    assert np.isnan(found.by_score[i, j, k])
                    continue
                suppressed = OutlierScoreSuppression(m, M)
                value = expected_error(ages, mechanism, guarantee, suppressed).value
                assert found.by_score[i, j, k] == pytest.approx(value, rel=1e-6)
    assert found.simulated == 0


def test_on_the_diagonal_suppression_is_sampling() -> None:
    found = landscape(
        ages,
        NoisyMean(),
        Guarantee(1.0),
        epsilons=(0.5,),
        rates=(0.8, 0.5),
        probabilities=(0.2, 0.5),
    )
    assert np.diag(found.by_score[0]) == pytest.approx(found.by_rate[0], rel=1e-6)


def test_delta_is_that_of_the_guarantee() -> None:
    found = landscape(
        ages,
        NoisyMode("gaussian"),
        Guarantee(7.0, 1e-4),
        epsilons=(0.1,),
        rates=(0.5,),
        probabilities=(),
    )
    expected = expected_error(ages, NoisyMode("gaussian"), Guarantee(0.1, 1e-4)).value
    assert found.baseline[0] == pytest.approx(expected)


def test_progress_is_told_once_for_each_point() -> None:
    told: list[int] = []
    landscape(ages, NoisyMode(), Guarantee(1.0), **GRID, advance=lambda: told.append(1))  # type: ignore[arg-type]
    assert len(told) == landscape_size(**GRID) == 2 * (1 + 2 + 6)
    assert landscape_size() == 4 * (1 + 99 + 45)


def test_simulated_points_are_counted() -> None:
    found = landscape(ages, NoisyTotal(), Guarantee(1.0), **GRID, runs=20)  # type: ignore[arg-type]
    assert found.simulated == 2 * (1 + 2 + 6)


def test_few_records_of_many_values_are_simulated_where_all_errors_would_take_minutes() -> None:
    few = Column.from_values(np.arange(20, 80), bounds=(0, 125), name="age")
    found = landscape(
        few, NoisyMean(), Guarantee(1.0), epsilons=(0.5,), rates=(0.3,), probabilities=(0.1, 0.3)
    )
    assert found.simulated == found.size - 1  # without omission there is one outcome
    exact = expected_error(few, NoisyMean(), Guarantee(0.5), PoissonSampling(0.3))
    assert exact.method == "exact"
    assert abs(found.by_rate[0, 0] - exact.value) < 2 * found.by_rate_margin[0, 0] < exact.value
