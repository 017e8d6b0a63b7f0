"""Monotone queries: order statistics by enumeration, and where the worst pair is an extreme."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from omit.errors import InvalidInput
from omit.laws.distribution import Distribution
from omit.statistical.order import has_monotone_ratio, monotone_curve, order_statistic_curve
from omit.statistical.properties import property_curve
from tests.statistical.enumeration import answers_given, divergence, exactly, worst

LAW = {0.0: 0.5, 1.0: 0.2, 2.0: 0.2, 5.0: 0.1}
EPSILONS = (0.0, 0.3, 1.5)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_order_statistics_have_the_curve_of_the_definition(rank: int) -> None:
    curve = order_statistic_curve(Distribution.from_mapping(LAW), 5, rank, EPSILONS)
    release = exactly(lambda d: sorted(d)[rank - 1])
    for place, epsilon in enumerate(EPSILONS):
        assert curve.delta[place] == pytest.approx(worst([LAW] * 5, 0, release, epsilon), abs=1e-10)
        v, w = (answers_given([LAW] * 5, 0, value, release) for value in curve.pairs[place])
        assert divergence(v, w, epsilon) == pytest.approx(curve.delta[place], abs=1e-10)


def _two_values_by_mpmath(chance: float, n: int, rank: int, epsilon: float) -> mpmath.mpf:
    """Return the curve of an order statistic of zeros and ones, by tails of 60 digits."""
    others, grow = n - 1, mpmath.exp(mpmath.mpf(epsilon))
    weights = [Fraction(each) for each in Distribution([0, 1], [chance, 1 - chance]).probabilities]
    share = weights[0] / sum(weights)
    p = mpmath.mpf(share.numerator) / share.denominator

    def zeros(count: int, p: mpmath.mpf) -> mpmath.mpf:
        """Return the probability that exactly so many others are zero."""
        log = mpmath.loggamma(others + 1) - mpmath.loggamma(count + 1)
        log += count * mpmath.log(p) + (others - count) * mpmath.log(1 - p)
        return mpmath.exp(log - mpmath.loggamma(others - count + 1))

    def more(first: int, p: mpmath.mpf) -> mpmath.mpf:
        """Return the probability that so many others or more are zero."""
        if first <= others * p:
            return 1 - more(others - first + 1, 1 - p)
        total, term, count = mpmath.mpf(0), zeros(first, p), first
        while count <= others and term > total * mpmath.mpf(10) ** -55:
            total += term
            term *= (others - count) * p / ((count + 1) * (1 - p))
            count += 1
        return total

    # The answer is zero if at least `rank` entries are.
    with_it, without = more(rank - 1, p), more(rank, p)
    return max(with_it - grow * without, (1 - without) - grow * (1 - with_it), mpmath.mpf(0))


@pytest.mark.parametrize(
    ("chance", "n", "rank", "epsilon"),
    [
        (0.3, 10_001, 3_001, 0.01),
        (0.478, 3_000_001, 1_432_637, 0.001),
        (0.478, 3_000_001, 1_432_637, 0.01),
        (0.5, 9_999_999, 5_004_000, 1e-3),
        (0.25, 10**6, 252_000, 0.002),
        (1e-6, 10**7, 12, 0.5),
        (1 - 1e-9, 1_000, 998, 3.0),
    ],
)
def test_order_statistics_are_never_below_60_digits_and_close(
    chance: float, n: int, rank: int, epsilon: float
) -> None:
    curve = order_statistic_curve(Distribution([0, 1], [chance, 1 - chance]), n, rank, epsilon)
    with mpmath.workdps(60):
        truth = _two_values_by_mpmath(chance, n, rank, epsilon)
        assert curve.lower[0] <= truth <= curve.delta[0]
        assert curve.delta[0] <= truth * (1 + mpmath.mpf("1e-8"))
    assert curve.method == "exact"


def test_order_statistics_fall_with_epsilon_also_where_a_value_is_rare() -> None:
    law = Distribution([0, 1, 2, 3], [0.4, 1e-12, 0.3, 0.3])
    curve = order_statistic_curve(law, 9, 4, [0.0, 1.0, 10.0, 25.0, 40.0, 800.0])
    assert curve.method == "exact"
    assert (np.diff(curve.delta) <= 0).all()
    assert curve.delta[-1] == 0, "a value that occurs with any probability is never excluded"


def test_too_many_values_of_too_many_entries_are_refused() -> None:
    law = Distribution(range(1_000), [1e-3] * 1_000)
    with pytest.raises(InvalidInput, match="fewer entries or values"):
        order_statistic_curve(law, 10**11, 10**10, 0.1)


def test_a_count_is_monotone_with_a_rising_ratio() -> None:
    counts = np.arange(11)
    laws = np.array([binom.pmf(counts, 9, 0.4), binom.pmf(counts - 1, 9, 0.4)])
    curve = monotone_curve(laws, [0, 1], EPSILONS)
    assert curve.delta == pytest.approx(property_curve(10, 0.4, EPSILONS).delta, rel=2e-9)


def test_rising_ratios_make_the_extremes_worst() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        # Exponential families have rising ratios.
        tilts = np.sort(rng.normal(size=5))
        laws = np.exp(np.outer(tilts, np.arange(6))) * rng.random(6)
        laws /= laws.sum(axis=1, keepdims=True)
        assert has_monotone_ratio(laws)
        curve = monotone_curve(laws, np.arange(5), [0.2])
        tried = [
            monotone_curve(laws[[v, w]], [0, 1], [0.2])
            for v in range(4)
            for w in range(v, 5)
            if v < w
        ]
        assert max(each.delta[0] for each in tried) <= curve.delta[0] + 1e-12


def test_a_monotone_query_without_rising_ratio_needs_all_pairs() -> None:
    laws = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    assert not has_monotone_ratio(laws)
    assert monotone_curve(laws, [0, 1, 2], [3.0]).delta[0] == pytest.approx(0.5, abs=1e-10)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: monotone_curve([[0.1, 0.9], [0.9, 0.1]], [0, 1], 0.1),
        lambda: monotone_curve([[0.1, 0.8], [0.0, 1.0]], [0, 1], 0.1),
        lambda: monotone_curve([[1.0]], [0], 0.1),
        lambda: order_statistic_curve(Distribution.from_mapping(LAW), 3, 4, 0.1),
        lambda: order_statistic_curve(Distribution.from_mapping(LAW), 3, 0, 0.1),
    ],
)
def test_what_is_not_monotone_is_refused(attempt) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput):
        attempt()


def test_small_probabilities_do_not_hide_a_falling_ratio() -> None:
    # Products of two of these vanish, and zero is not less than zero.
    tiny = 1e-200
    laws = np.array([[1 - 3 * tiny, 2 * tiny, tiny], [1 - 3 * tiny, tiny, 2 * tiny]])
    assert has_monotone_ratio(np.array([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3]]))
    assert not has_monotone_ratio(laws)
    assert not has_monotone_ratio(laws[::-1])
