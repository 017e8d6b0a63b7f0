"""Exact errors of all statistics of small columns, against sums over all that can be left."""

from __future__ import annotations

import numpy as np
import pytest

from omit import expected_error
from omit.mechanisms import NoisyVariance
from tests.exact.every_statistic import SmallCase, small_case


def drowned(case: SmallCase) -> bool:
    """Tell whether noise on one record's share is 30 times the bounds: the variance says so."""
    if not isinstance(case.mechanism, NoisyVariance):
        return False
    return case.mechanism.noises(case.promise)[0].scale > 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "number"),
    [(0, 40), *(pytest.param(seed, 1000, marks=pytest.mark.campaign) for seed in range(1, 11))],
)
def test_small_columns_err_as_all_that_can_be_left_does(seed: int, number: int) -> None:
    rng, exact = np.random.default_rng([23, seed]), 0
    for index in range(number):
        case = small_case(rng)
        error = expected_error(
            case.column, case.mechanism, case.promise, case.omission, runs=50,
            noise_reduction=False, details=False,
        )  # fmt: skip
        if error.method != "exact":
            assert drowned(case), (index, case, error.reason)
            continue
        exact += 1
        expected = case.expected()
        slack = 3e-8 * expected  # of the quadrature of the definition
        assert error.low - slack <= expected <= error.high + slack, (index, case, error, expected)
    assert exact >= 0.95 * number
