"""The two bounds on outlier-score suppression, against tables, mpmath and each other."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import InvalidInput
from omit._numeric import log_mix
from omit.omissions import (
    mixture_base_epsilon,
    mixture_epsilon,
    published_base_epsilon,
    published_epsilon,
)

mpmath.mp.dps = 50

# (epsilon, m, M): Theorem 5.4, mixture bound. Computed in 50 digits by independent programs.
TABLE = [
    ((0.25, 0.1, 0.2), 1.2047517204, 0.2323698373),
    ((0.25, 0.3, 0.4), 0.4906919337, 0.1835310498),
    ((0.25, 0.01, 0.05), 4.2388784231, 0.2502072629),
    ((0.25, 0.1, 0.9), 8.0295070334, 0.2489516035),
    ((0.5, 0.4, 0.8), 1.3625307644, 0.3455496087),
    ((0.5, 0.2, 0.4), 1.3287516253, 0.4435955412),
    ((1.0, 0.1, 0.9), 8.1959870295, 1.3316256715),
    ((1.0, 0.5, 0.6), 0.7441312242, 0.6237186553),
    ((1.0, 0.3, 0.7), 1.7804540248, 0.8692619385),
    ((2.0, 0.1, 0.2), 2.8101304970, 2.1999672307),
    ((2.0, 0.2, 0.8), 3.9704599551, 2.5061611566),
    ((4.0, 0.6, 0.9), 4.1671960886, 3.9313401715),
]

# Theorem 5.4, from the closed form of Proposition B.10 in 50 digits.
PUBLISHED = {
    (0, 0.1, 0.2): 1.0,
    (0, 0.4, 0.8): 1.17157287525381,
    (0.25, 0.1, 0.1): 0.227631764216465,
    (0.25, 0.5, 0.55): 0.221537466638854,
    (0.5, 0.3, 0.4): 0.662084958602741,
    (0.5, 0.45, 0.5): 0.39244920242225,
    (1, 0.1, 0.5): 4.62011450695828,
    (1, 0.5, 0.6): 0.744131224208421,
    (2, 0.1, 0.9): 8.68108832519859,
    (5, 0.5, 0.6): 4.3652939456321,
    (10, 0.5, 0.55): 9.33193945580983,
}

epsilons = st.floats(0, 30)
inner = st.floats(0.001, 0.999)
EXTREMES = [
    (1e-12, 0.1, 0.2),
    (1e-12, 0.6, 0.9),
    (700.0, 0.1, 0.2),
    (700.0, 0.6, 0.9),
    (1.0, 0.3 - 1e-12, 0.3),
    (1.0, 0.8 - 1e-12, 0.8),
    (1e-12, 0.8 - 1e-12, 0.8),
    (700.0, 0.8 - 1e-12, 0.8),
    (50.0, 0.999, 0.9999),
    (3.0, 1e-9, 1 - 1e-9),
]


def mixture_by_maximising(epsilon: float, m: float, M: float) -> mpmath.mpf:
    """Evaluate the definition in 50 digits; the maximum by golden sections, not by its formula."""
    growth, m, M = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(m), mpmath.mpf(M)
    x, b = 1 + (growth - 1) * m, growth - (growth - 1) * M
    A, B = growth - (growth - 1) * m, (growth - 1) * (M - m)
    if m + M <= 1:
        return mpmath.log(b) + B / x

    def value(a: mpmath.mpf) -> mpmath.mpf:
        return mpmath.log(A - B * a) + (1 - a) * B / b + (2 * a - 1) * B / x

    return largest(value, mpmath.mpf(1) / 2, mpmath.mpf(1))


def published_by_maximising(epsilon: float, m: float, M: float) -> mpmath.mpf:
    growth, m, M = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(m), mpmath.mpf(M)

    def first(p: mpmath.mpf) -> mpmath.mpf:
        u = p * M + (1 - p) * m
        exponent = p * M / m + (1 - p) * (1 - m) / (1 - u) - 1
        return mpmath.log(growth - (growth - 1) * u) + exponent

    def second(p: mpmath.mpf) -> mpmath.mpf:
        v = (M + m - p * M) / (2 - p)
        exponent = p * M / m + (1 - p) * (1 - v) / (1 - M) - 1
        return mpmath.log(growth - (growth - 1) * (p * M + (1 - p) * v)) + exponent

    third = -mpmath.log(1 / growth + (1 - 1 / growth) * M) + 1 - (1 - M) / (1 - m)
    return max(largest(first, 0, 1), largest(second, 0, 1), third)


def largest(
    function: Callable[[mpmath.mpf], mpmath.mpf], lower: mpmath.mpf, upper: mpmath.mpf
) -> mpmath.mpf:
    """Return the maximum of a function with one peak."""
    ratio = (mpmath.sqrt(5) - 1) / 2
    ends = max(function(mpmath.mpf(lower)), function(mpmath.mpf(upper)))
    for _ in range(140):
        left, right = upper - ratio * (upper - lower), lower + ratio * (upper - lower)
        if function(left) < function(right):
            lower = left
        else:
            upper = right
    return max(ends, function((lower + upper) / 2))


@pytest.mark.parametrize(("arguments", "published", "mixture"), TABLE)
def test_the_mixture_bound_improves_on_theorem_5_4_as_tabulated(
    arguments: tuple[float, float, float], published: float, mixture: float
) -> None:
    assert float(published_epsilon(*arguments)) == pytest.approx(published, abs=6e-11)
    assert float(mixture_epsilon(*arguments)) == pytest.approx(mixture, abs=6e-11)


@pytest.mark.parametrize(("arguments", "value"), PUBLISHED.items())
def test_theorem_5_4_has_the_values_of_its_closed_form(
    arguments: tuple[float, float, float], value: float
) -> None:
    assert float(published_epsilon(*arguments)) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("arguments", EXTREMES)
def test_extreme_values_keep_their_digits(arguments: tuple[float, float, float]) -> None:
    exact = mixture_by_maximising(*arguments)
    assert float(mixture_epsilon(*arguments)) == pytest.approx(float(exact), rel=1e-12)
    exact = published_by_maximising(*arguments)
    assert float(published_epsilon(*arguments)) == pytest.approx(float(exact), rel=1e-12)


@given(epsilons, inner, inner)
def test_the_mixture_bound_is_its_definition(epsilon: float, first: float, second: float) -> None:
    m, M = sorted((first, second))
    exact = mixture_by_maximising(epsilon, m, M)
    assert float(mixture_epsilon(epsilon, m, M)) == pytest.approx(float(exact), rel=1e-12)


@given(epsilons, inner, inner)
def test_theorem_5_4_is_the_largest_value_over_a_fine_grid(
    epsilon: float, first: float, second: float
) -> None:
    m, M = sorted((first, second))
    p = np.linspace(0, 1, 4001)
    u = p * M + (1 - p) * m
    v = (M + m - p * M) / (2 - p)
    w = p * M + (1 - p) * v
    l1 = log_mix(epsilon, 1 - u) + p * M / m + (1 - p) * (1 - m) / (1 - u) - 1
    l2 = log_mix(epsilon, 1 - w) + p * M / m + (1 - p) * (1 - v) / (1 - M) - 1
    l3 = epsilon - float(log_mix(epsilon, M)) + 1 - (1 - M) / (1 - m)
    on_grid = max(l1.max(), l2.max(), l3)
    value = float(published_epsilon(epsilon, m, M))
    assert value >= on_grid - 1e-9 * max(1, on_grid)
    # The grid misses a peak by half a step; the second derivative is at most a few 1/(m(1-M))^2.
    assert value <= on_grid + 1e-6 / (m * (1 - M)) ** 2


@given(epsilons, inner, inner)
def test_the_mixture_bound_is_never_above_theorem_5_4_and_never_below_poisson(
    epsilon: float, first: float, second: float
) -> None:
    m, M = sorted((first, second))
    mixture = float(mixture_epsilon(epsilon, m, M))
    assert mixture <= float(published_epsilon(epsilon, m, M)) * (1 + 1e-12) + 1e-15
    assert mixture >= float(log_mix(epsilon, 1 - m)) * (1 - 1e-12)


@given(epsilons, st.floats(0, 1))
def test_equal_probabilities_are_poisson_sampling(epsilon: float, m: float) -> None:
    expected = float(log_mix(epsilon, 1 - m))
    assert float(mixture_epsilon(epsilon, m, m)) == pytest.approx(expected, rel=1e-12)
    if 0 < m < 1:
        assert float(published_epsilon(epsilon, m, m)) == pytest.approx(expected, rel=1e-12)


@given(st.floats(0, 1), st.floats(0, 1))
def test_small_epsilons_shrink_by_the_largest_probability_of_keeping(
    first: float, second: float
) -> None:
    m, M = sorted((first, second))
    assert float(mixture_epsilon(1e-9, m, M)) == pytest.approx(1e-9 * (1 - m), rel=1e-7, abs=1e-25)


@given(st.floats(1e-6, 20), st.floats(0, 0.999), st.floats(0, 1))
def test_every_target_can_be_calibrated_under_the_mixture_bound(
    target: float, first: float, second: float
) -> None:
    m, M = sorted((first, second))
    if m < 1:
        base = float(mixture_base_epsilon(target, m, M))
        assert float(mixture_epsilon(base, m, M)) == pytest.approx(target, rel=1e-10)


def test_the_inverse_of_theorem_5_4_has_its_tabulated_values() -> None:
    found = published_base_epsilon(
        [0.25, 1, 1, 1, 0.5], [0.5, 0.5, 0.9, 0.6, 0.7], [0.6, 0.6, 0.9, 0.7, 0.8]
    )
    expected = [0.1110728077587, 1.36198046557, 2.9004770978894, 1.542, 0.759]
    np.testing.assert_allclose(found[:3], expected[:3], rtol=1e-11)
    np.testing.assert_allclose(found[3:], expected[3:], atol=5e-4)
    assert np.isnan(published_base_epsilon(1.0, 0.1, 0.3))


def test_theorem_5_4_needs_infinite_noise_exactly_at_its_floor() -> None:
    floor = float(published_epsilon(0.0, 0.4, 0.8))
    assert np.isnan(published_base_epsilon(floor, 0.4, 0.8))
    assert float(published_base_epsilon(floor + 1e-6, 0.4, 0.8)) > 0


def test_the_cells_of_the_papers_figures_that_amplify() -> None:
    grid = np.round(np.arange(0.1, 0.95, 0.1), 1)
    m, M = np.array([(low, high) for low in grid for high in grid if low <= high]).T
    counts = [
        [int((bound(epsilon, m, M) <= epsilon).sum()) for epsilon in (0.25, 0.5, 1.0, 2.0)]
        for bound in (published_epsilon, mixture_epsilon)
    ]
    assert counts == [[9, 12, 16, 21], [45, 39, 32, 28]]
    attainable = [
        int(np.isfinite(published_base_epsilon(epsilon, m, M)).sum())
        for epsilon in (0.25, 0.5, 1.0, 2.0)
    ]
    assert attainable == [10, 15, 22, 31]


@pytest.mark.parametrize(
    ("epsilon", "m", "M"),
    [(-1.0, 0.1, 0.2), (np.nan, 0.1, 0.2), (np.inf, 0.1, 0.2), (1.0, 0.3, 0.2), (1.0, 0.1, 1.1)],
)
def test_one_cell_without_meaning_spoils_the_whole_call(epsilon: float, m: float, M: float) -> None:
    for bound in (mixture_epsilon, published_epsilon, mixture_base_epsilon, published_base_epsilon):
        with pytest.raises(InvalidInput):
            bound([1.0, epsilon], [0.1, m], [0.2, M])
    with pytest.raises(InvalidInput, match="0 < m"):
        published_epsilon(1.0, 0.0, 0.5)


def test_values_broadcast_like_any_array_function() -> None:
    grid = mixture_epsilon(np.array([0.5, 1.0])[:, None], 0.1, np.array([0.2, 0.5, 0.9])[None])
    assert grid.shape == (2, 3)
    assert grid[1, 2] == mixture_epsilon(1.0, 0.1, 0.9)
    assert mixture_epsilon([], 0.1, 0.2).shape == (0,)


def test_one_cell_that_is_never_reached_does_not_spoil_the_others() -> None:
    found = mixture_base_epsilon([1e305, 1.0], 0.5, 0.6)
    assert found[1] == pytest.approx(1.48129654)


def test_the_case_is_chosen_by_exact_order_and_not_by_a_rounded_sum() -> None:
    # Here m + M rounds to 1, though it is more.
    exact = mixture_by_maximising(40.0, 1e-17, 1.0)
    assert float(mixture_epsilon(40.0, 1e-17, 1.0)) == pytest.approx(float(exact), rel=1e-9)
