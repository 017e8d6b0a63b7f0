"""The search behind Theorem 5.4 against other searches, listings and exact arithmetic."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, differential_evolution

from omit._numeric import FloatArray
from omit.omissions.outlier_score import published_terms
from omit.papers.omitting_records.theorem_5_4_search import (
    largest_when_adding,
    largest_when_removing,
)

ROUNDING = 1e-11


@pytest.mark.parametrize(
    ("epsilon", "m", "M"),
    [(0.47, 0.44, 0.52), (0.52, 0.53, 0.55), (1.35, 0.41, 0.57), (3, 0.66, 0.7)],
)
def test_the_higher_of_two_summits_is_found_where_l1_and_l2_are_almost_equal(
    epsilon: float, m: float, M: float
) -> None:
    first, second, _ = (term.item() for term in published_terms(epsilon, m, M))
    found = largest_when_removing(epsilon, m, M, largest_database=math.inf)[0]
    assert abs(first - second) < 2e-3
    assert found == pytest.approx(max(first, second), abs=ROUNDING)


def test_a_billion_records_are_further_than_2e_7_from_the_formula_for_extreme_scores() -> None:
    # All records outside J at score (m + M)/2: one candidate, evaluated to 40 digits.
    with localcontext(prec=40):
        m, M, N = Decimal("0.05"), Decimal("0.99"), Decimal(10**9)
        ratio = (1 - (m + M) / 2) / (1 - (m + (N - 1) * M) / N)
        exact = N * ((N + ratio) / (N + 1)).ln()
    found = largest_when_removing(0.0, 0.05, 0.99)[0]
    claimed = max(term.item() for term in published_terms(0.0, 0.05, 0.99)[:2])
    assert found == pytest.approx(float(exact), abs=ROUNDING)
    assert 5e-6 < claimed - found < 6e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "m", "M", "largest"),
    [
        (0.3, 0.1, 0.4, 1e9),
        (1.35, 0.41, 0.57, 1e9),
        (3.0, 0.66, 0.7, 1e9),
        (1.0, 0.2, 0.8, 5),
        (30.0, 0.45, 0.9, 40),
    ],
)
def test_the_search_finds_what_differential_evolution_finds(
    epsilon: float, m: float, M: float, largest: float
) -> None:
    def evolved(kind: str) -> float:
        def objective(x: FloatArray, /) -> Any:
            return -formula_b8(kind, x, epsilon, m, M)

        result = differential_evolution(
            objective,
            Bounds([math.log(3), 0, 0, m, m], [math.log(largest), 1, 1, M, M]),
            rng=np.random.default_rng(54),
            popsize=20,
            maxiter=600,
            tol=1e-12,
            atol=1e-12,
            vectorized=True,
            updating="deferred",
            polish=False,
        )
        return -float(result.fun)

    found = largest_when_removing(epsilon, m, M, largest_database=largest)[0]
    assert found == pytest.approx(max(map(evolved, ["all inside", "diagonal", "edge"])), abs=1e-9)


def formula_b8(kind: str, x: FloatArray, epsilon: float, m: float, M: float) -> FloatArray:
    """Return the logarithm of the paper's expressions in the paper's variables, for N > 2."""
    N = np.maximum(np.round(np.exp(x[0])), 3)
    J = x[1] * (N - 1)
    c, t = x[3], x[4]

    def product(score: FloatArray, *factors: tuple[FloatArray, FloatArray]) -> FloatArray:
        logarithm: FloatArray = epsilon + np.log1p(math.expm1(-epsilon) * score)
        for ratio, exponent in factors:
            logarithm = logarithm + exponent * np.log1p((ratio - 1) / (N + 1))
        return logarithm

    if kind == "all inside":
        return product((m + N * c) / (N + 1), (c / m, N))
    k = N - J - 1 if kind == "diagonal" else x[2] * (N - J - 1)
    U = ((N - 1) * (M + m) - (J * c + (N - J - k - 1) * m)) / (N + k - 1)
    # The paper gives the value 0 to what violates t <= U_k.
    feasible, t = t <= U, np.minimum(t, U)
    if kind == "diagonal":
        z = ((2 * N - J - 2) * t - (N - 2) * m + J * c) / N
        score = (m + J * c + (N - J) * t) / (N + 1)
        value = product(score, (c / m, J), ((1 - t) / (1 - z), N - J))
    else:
        B = ((N - 1) * (M + m) - (J * c + (N - J - k - 1) * m + t)) / (N + k - 2)
        S = J * c + t + (N - J - k - 1) * m + k * B
        value = product(
            (m + S) / (N + 1),
            ((1 - t) / (1 - ((N - 2) * (t - m) + S) / N), np.ones_like(N)),
            (c / m, J),
            ((1 - m) / (1 - S / N), N - J - k - 1),
            ((1 - B) / (1 - (m + (N - 1) * M) / N), k),
        )
    return np.where(feasible, value, -1e3)


@pytest.mark.parametrize("records", [1, 2, 3, 4])
def test_no_small_database_exceeds_the_value_found(records: int) -> None:
    rng = np.random.default_rng(records)
    for _ in range(60):
        m, M = np.sort(rng.uniform(0.01, 0.99, 2))
        epsilon = rng.uniform(0, 4)
        found = largest_when_removing(epsilon, m, M, largest_database=max(records, 3))[0]
        for _ in range(10):
            points = rng.choice([0.0, 0.5, 1.0, rng.uniform()], (records + 1, 2))
            distances = np.abs(points[:, np.newaxis] - points).max(axis=-1)
            outlyingness = m + (M - m) * distances
            a = outlyingness[-1, :-1]
            z = outlyingness[:-1, :-1].mean(axis=1)
            lead = math.log(math.exp(epsilon) - math.expm1(epsilon) * (m + a.sum()) / (records + 1))
            for inside in itertools.product([True, False], repeat=records):
                ratio = np.where(inside, a / z, (1 - a) / (1 - z))
                assert lead + np.log1p((ratio - 1) / (records + 1)).sum() <= found + ROUNDING


def test_adding_a_record_is_maximised_over_every_size() -> None:
    for epsilon, m, M in [(0.5, 0.1, 0.3), (5.0, 0.02, 0.05), (50.0, 0.3, 0.35), (2.0, 0.6, 0.9)]:
        sizes = np.arange(1.0, 5001)
        score = (m + sizes * M) / (sizes + 1)
        values = -np.log(math.exp(-epsilon) - math.expm1(-epsilon) * score) - sizes * np.log1p(
            ((1 - M) / (1 - m) - 1) / (sizes + 1)
        )
        found = largest_when_adding(epsilon, m, M, largest_database=5000)[0]
        assert found == pytest.approx(values.max(), abs=ROUNDING)
