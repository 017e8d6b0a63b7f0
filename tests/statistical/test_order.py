"""Order statistics by enumeration, and with all digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from omit.errors import InvalidInput
from omit.laws.distribution import Distribution
from omit.statistical.order import order_statistic_curve
from tests.statistical.enumeration import Law, answers_given, divergence, exactly, worst

LAW = {0.0: 0.5, 1.0: 0.2, 2.0: 0.2, 5.0: 0.1}
EPSILONS = (0.0, 0.3, 1.5)


def distribution_of(law: Law) -> Distribution:
    return Distribution(list(law), list(law.values()))


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_order_statistics_have_the_curve_of_the_definition(rank: int) -> None:
    curve = order_statistic_curve(distribution_of(LAW), 5, rank, EPSILONS)
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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: order_statistic_curve(distribution_of(LAW), 3, 4, 0.1),
        lambda: order_statistic_curve(distribution_of(LAW), 3, 0, 0.1),
    ],
)
def test_a_rank_that_no_entry_has_is_refused(attempt) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput):
        attempt()
