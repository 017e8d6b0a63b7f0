"""The binomial core against 60-digit arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from omit.errors import InvalidInput
from omit.laws.counts import log_pmf
from omit.laws.divergence import one_less, one_more


def _one_more_by_mpmath(trials: int, success: float, epsilon: float) -> mpmath.mpf:
    """Return the sum of all positive terms, in 60 digits, until they stop mattering."""
    with mpmath.workdps(60):
        p, grow = mpmath.mpf(success), mpmath.exp(mpmath.mpf(epsilon))
        q = 1 - p
        start = min(int(mpmath.floor((trials + 1) * grow * p / (q + grow * p))), trials)
        term = mpmath.exp(
            mpmath.loggamma(trials + 1)
            - mpmath.loggamma(start + 1)
            - mpmath.loggamma(trials - start + 1)
            + start * mpmath.log(p)
            + (trials - start) * mpmath.log(q)
        )
        total, count = mpmath.mpf(0), start
        while count <= trials:
            ratio = (trials - count) * p / ((count + 1) * q)
            total += term * (1 - grow * ratio)
            if term < total * mpmath.mpf(10) ** -20:
                break
            term *= ratio
            count += 1
        return total


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trials", "success", "epsilon"),
    [
        (1, 0.25, 0.3),
        (10, 0.3, 0.0),
        (10, 0.3, 3.0),
        (10, 0.3, 25.0),
        (999, 0.5, 0.1),
        (999, 0.5, 1.0),
        (50, 0.999, 2.0),
        (10**6, 0.3, 0.001),
        (10**6, 0.3, 0.05),
        (10**6, 0.3, 0.079),
        (10**8, 0.3, 1e-4),
        (10**8, 0.3, 0.008),
        (10**8 - 1, 0.5, 0.0073),
        (10**8, 1e-6, 0.01),
        (10**8, 1e-6, 1.0),
    ],
)
def test_deltas_are_precise_for_a_hundred_million_entries_and_down_to_1e_300(
    trials: int, success: float, epsilon: float
) -> None:
    found = float(one_more(trials, success, np.array([epsilon]))[0])
    exact = _one_more_by_mpmath(trials, success, epsilon)
    assert found > 0
    assert abs(float((mpmath.mpf(found) - exact) / exact)) < 1e-10
    if (trials, epsilon) == (10**8, 0.008):
        assert 1e-301 < found < 1e-299


def test_the_direction_is_that_of_the_counted_value() -> None:
    epsilon = np.array([0.0, 0.2, 1.0])
    assert one_less(40, 0.2, epsilon) == pytest.approx(one_more(40, 0.8, epsilon), rel=1e-12)


def test_probabilities_have_their_digits_where_factorials_lose_them() -> None:
    trials, success = 10**8, 0.37
    counts = np.array([37_000_000, 37_050_000, 37_180_000, 36_900_000])
    with mpmath.workdps(60):
        p = mpmath.mpf(success)
        for count, found in zip(counts, log_pmf(counts, trials, success), strict=True):
            k = int(count)
            exact = (
                mpmath.loggamma(trials + 1)
                - mpmath.loggamma(k + 1)
                - mpmath.loggamma(trials - k + 1)
                + k * mpmath.log(p)
                + (trials - k) * mpmath.log(1 - p)
            )
            assert float(abs(mpmath.mpf(float(found)) - exact)) < 2e-11


def test_no_other_entry_hides_nothing() -> None:
    assert one_more(0, 0.5, np.array([0.0, 50.0])).tolist() == [1.0, 1.0]


def test_beyond_the_range_of_floats_the_curve_stays_a_bound() -> None:
    epsilon = np.array([699.0, 2000.0])
    found = one_more(3, 0.5, epsilon)
    assert found == pytest.approx([0.125, 0.125]), "all others have it, and none is left to hide in"


def test_more_entries_than_can_be_summed_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most"):
        one_more(10**13, 0.5, np.array([0.1]))


@pytest.mark.slow
def test_deltas_are_precise_for_as_many_entries_as_are_taken() -> None:
    """There one term is 1e-5 of the sum, and is itself a difference in the twelfth digit."""
    trials, success = 10**12, 0.1
    epsilon = 25 / (trials * success * (1 - success)) ** 0.5
    with mpmath.workdps(60):
        p, grow = mpmath.mpf(success), mpmath.exp(mpmath.mpf(epsilon))
        start = int(mpmath.floor((trials + 1) * grow * p / (1 - p + grow * p)))
        log_ratio = mpmath.log((trials - start) * p / ((start + 1) * (1 - p)))
        most_probable = mpmath.exp(
            mpmath.loggamma(trials + 1)
            - mpmath.loggamma(start + 1)
            - mpmath.loggamma(trials - start + 1)
            + start * mpmath.log(p)
            + (trials - start) * mpmath.log1p(-p)
        )
        beyond = float(log_ratio + epsilon)
    # All that follows is small and of one sign, so that floats keep their digits.
    further = np.arange(1_200_000.0)
    falls = np.log1p(-further / (trials - start)) - np.log1p(further / (start + 1))
    weights = np.exp(np.append(0.0, np.cumsum(falls + float(log_ratio))[:-1]))
    truth = most_probable * float((weights * -np.expm1(beyond + falls)).sum())
    assert weights[-1] < 1e-20
    found = float(one_more(trials, success, np.array([epsilon]))[0])
    assert abs(found / truth - 1) < 2e-10


@pytest.mark.parametrize(
    ("trials", "success", "epsilon"),
    [
        (10**12 - 1, 3e-16, 5.0),
        (10**12 - 1, 1e-13, 0.5),
        (10**8 - 1, 1e-8, 0.1),
        (10**8 - 1, 1e-9, 2.0),
        (10**6, 1e-7, 0.3),
        (50, 1e-15, 1.0),
    ],
)
def test_a_rare_property_keeps_its_digits_in_the_other_direction(
    trials: int, success: float, epsilon: float
) -> None:
    # Failures have the probability 1 - success, which no float is close enough to.
    with mpmath.workdps(60):
        exact = _one_more_by_mpmath(trials, 1 - mpmath.mpf(success), epsilon)
    found = float(one_less(trials, success, np.array([epsilon]))[0])
    assert abs(found / float(exact) - 1) < 1e-11
