"""Intervals for what runs estimate, against coverage that is added up and not drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.laws.intervals import (
    CONFIDENCE,
    Interval,
    bernstein_bounds,
    bounded_interval,
    clopper_pearson_interval,
    judge,
    judge_all,
    normal_interval,
    student_interval,
)


def _coverage(interval: Callable[[FloatArray], Interval], runs: int, chance: float) -> float:
    """Return how often the interval holds the mean of runs that are 1 with a probability, else 0.

    Few more successes than expected have all but 1e-12 of the probability.
    """
    covered, most = 0.0, int(binom.isf(1e-12, runs, chance)) + 1
    for successes in range(min(most, runs) + 1):
        drawn = np.zeros(runs)
        drawn[:successes] = 1.0
        found = interval(drawn)
        if found.low <= chance <= found.high:
            covered += float(binom.pmf(successes, runs, chance))
    return covered


def _bernstein(drawn: FloatArray) -> Interval:
    low, high = bernstein_bounds(drawn[:, None])
    return Interval(float(drawn.mean()), float(low[0]), float(high[0]))


CHANCES = (1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9)


@pytest.mark.parametrize("runs", [2, 5, 20, 100, pytest.param(1000, marks=pytest.mark.slow)])
def test_intervals_of_bounded_runs_cover_however_rare_a_bad_run_is(runs: int) -> None:
    for chance in CHANCES:
        assert _coverage(_bernstein, runs, chance) >= CONFIDENCE
        assert _coverage(lambda drawn: bounded_interval(drawn, 0.0, 1.0), runs, chance) >= 0.95


@pytest.mark.slow
def test_a_bounded_interval_holds_for_whoever_stops_when_it_suits_them() -> None:
    """Of 200 watchers who stop as soon as the interval misses, about 10 may, and few more by luck.

    More than 20 have a probability of 1e-3 if each misses with .05.
    """
    rng, missed = np.random.default_rng(3), 0
    for _ in range(200):
        values = np.where(rng.random(400) < 0.02, 1.0, 0.1 * rng.random(400))
        truth = 0.02 + 0.98 * 0.05
        for count in range(20, 401, 20):
            found = bounded_interval(values[:count], 0.0, 1.0)
            if not found.low <= truth <= found.high:
                missed += 1
                break
    assert missed <= 20


@pytest.mark.parametrize(("lowest", "highest"), [(0.0, 1.0), (-3.0, 2.0), (0.0, 1e6)])
def test_a_bounded_interval_holds_its_mean_and_moves_with_its_bounds(
    lowest: float, highest: float
) -> None:
    rng = np.random.default_rng(1)
    for count in (1, 2, 30):
        shares = rng.random(count)
        found = bounded_interval(lowest + (highest - lowest) * shares, lowest, highest)
        plain = bounded_interval(shares, 0.0, 1.0)
        assert lowest <= found.low <= found.value <= found.high <= highest
        scaled = (
            (found.low - lowest) / (highest - lowest),
            (found.high - lowest) / (highest - lowest),
        )
        assert scaled == pytest.approx((plain.low, plain.high), abs=1e-9)


def test_a_bounded_interval_is_narrower_than_bernsteins() -> None:
    rng = np.random.default_rng(2)
    for spread in (0.0, 0.01, 0.2):
        for count in (50, 500, 5000):
            values = 0.3 + spread * (rng.random(count) - 0.5)
            bounded = bounded_interval(values, 0.0, 1.0, missed=1 - CONFIDENCE)
            wide = _bernstein(values)
            assert bounded.high - bounded.low < wide.high - wide.low
    # Where nothing varies, no interval that misses with .025 at this end could be much shorter.
    still = bounded_interval(np.zeros(1000), 0.0, 1.0)
    assert -np.expm1(np.log(0.025) / 1000) < still.high < -np.expm1(np.log(0.0125) / 1000)


def test_a_normal_and_a_student_interval_miss_a_rare_bad_run() -> None:
    for interval in (normal_interval, student_interval):
        assert _coverage(interval, 100, 0.003) < 0.3
        assert _coverage(interval, 1000, 0.3) == pytest.approx(0.95, abs=0.01)


def test_one_run_or_none_tells_nothing() -> None:
    alone = student_interval(np.array([0.5, np.nan]))
    assert (alone.value, alone.low, alone.high) == (0.5, -np.inf, np.inf)
    assert np.isnan(student_interval(np.array([np.nan])).value)
    with pytest.raises(InvalidInput, match="at least two runs"):
        _bernstein(np.array([0.5]))
    alone = bounded_interval(np.array([0.5, np.nan]), 0.0, 1.0)
    assert 0 < alone.low < 0.02 < 0.98 < alone.high < 1
    none = bounded_interval(np.array([np.nan]), 0.0, 1.0)
    assert np.isnan(none.value)
    assert (none.low, none.high) == (0.0, 1.0)


def test_the_interval_of_a_probability_holds_the_share() -> None:
    for successes in range(11):
        low, high = clopper_pearson_interval(successes, 10)
        assert 0 <= low <= successes / 10 <= high <= 1


@pytest.mark.parametrize("runs", [1, 10, 500, 2000])
def test_the_interval_of_a_probability_covers_it_however_small_it_is(runs: int) -> None:
    """Just below the lower end for one success in all runs, Wilson's covers 84 % of the time."""
    for chance in (*CHANCES, 0.17 / runs, 0.02 / runs):
        successes = np.arange(runs + 1)
        ends = [clopper_pearson_interval(int(number), runs) for number in successes]
        held = [low <= chance <= high for low, high in ends]
        assert binom.pmf(successes, runs, chance) @ held >= 0.95


@pytest.mark.parametrize(("successes", "runs"), [(0, 1), (0, 30), (3, 30), (29, 30), (30, 30)])
def test_clopper_pearson_is_that_of_scipy(successes: int, runs: int) -> None:
    for missed in (0.05, 1e-4):
        expected = binomtest(successes, runs).proportion_ci(1 - missed, method="exact")
        found = clopper_pearson_interval(successes, runs, missed)
        assert found == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-15)


def test_an_error_is_better_only_if_the_intervals_are_apart() -> None:
    baseline = Interval(1.0, 0.9, 1.1)
    assert judge(Interval(0.7, 0.6, 0.89), baseline) == "better"
    assert judge(Interval(1.3, 1.2, 1.4), baseline) == "worse"
    assert judge(Interval(0.8, 0.7, 0.9), baseline) == "undecided"
    assert judge(Interval(1.2, 1.1, 1.3), baseline) == "undecided"


def test_a_difference_is_judged_by_whether_its_interval_holds_0() -> None:
    assert judge(Interval(-0.2, -0.3, -0.1)) == "better"
    assert judge(Interval(0.2, 0.1, 0.3)) == "worse"
    assert judge(Interval(0.2, 0.0, 0.4)) == "undecided"


def test_many_are_judged_as_one_is() -> None:
    rng = np.random.default_rng(3)
    ends = np.sort(rng.integers(0, 5, (400, 2, 2)).astype(float), axis=2)
    one_by_one = [judge(Interval(0.0, *own), Interval(0.0, *other)) for own, other in ends]
    together = judge_all(ends[:, 0, 0], ends[:, 0, 1], ends[:, 1, 0], ends[:, 1, 1])
    assert together.tolist() == one_by_one
    assert set(one_by_one) == {"better", "worse", "undecided"}
    assert judge_all([np.nan], [np.nan]).tolist() == ["undecided"]
