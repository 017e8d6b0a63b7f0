"""Intervals for what runs estimate, against coverage that is added up and not drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from omit._numeric import FloatArray
from omit.laws.intervals import (
    Interval,
    bernstein_interval,
    bounded_interval,
    exact_interval,
    mean_interval,
    normal_interval,
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


CHANCES = (1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9)


@pytest.mark.parametrize("runs", [2, 5, 20, 100, 1000])
def test_intervals_of_bounded_runs_cover_however_rare_a_bad_run_is(runs: int) -> None:
    for chance in CHANCES:
        assert _coverage(lambda drawn: bernstein_interval(drawn, 1.0), runs, chance) >= 0.95
        assert _coverage(lambda drawn: bounded_interval(drawn, 0.0, 1.0), runs, chance) >= 0.95


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
            bounded, wide = bounded_interval(values, 0.0, 1.0), bernstein_interval(values, 1.0)
            assert bounded.high - bounded.low < wide.high - wide.low
    # Where nothing varies, no interval that misses with .025 at this end could be much shorter.
    still = bounded_interval(np.zeros(1000), 0.0, 1.0)
    assert -np.expm1(np.log(0.025) / 1000) < still.high < -np.expm1(np.log(0.0125) / 1000)


def test_a_normal_and_a_student_interval_miss_a_rare_bad_run() -> None:
    for interval in (normal_interval, mean_interval):
        assert _coverage(interval, 100, 0.003) < 0.3
        assert _coverage(interval, 1000, 0.3) == pytest.approx(0.95, abs=0.01)


def test_a_bernstein_interval_scales_with_the_runs() -> None:
    values = np.random.default_rng(0).random(50)
    once, tenfold = bernstein_interval(values, 1.0), bernstein_interval(10 * values, 10.0)
    assert tenfold.high - tenfold.low == pytest.approx(10 * (once.high - once.low))


def test_one_run_or_none_tells_nothing() -> None:
    for interval in (mean_interval, lambda values: bernstein_interval(values, 1.0)):
        alone = interval(np.array([0.5, np.nan]))
        assert (alone.value, alone.low, alone.high) == (0.5, -np.inf, np.inf)
        assert np.isnan(interval(np.array([np.nan])).value)
    alone = bounded_interval(np.array([0.5, np.nan]), 0.0, 1.0)
    assert 0 < alone.low < 0.02 < 0.98 < alone.high < 1
    none = bounded_interval(np.array([np.nan]), 0.0, 1.0)
    assert np.isnan(none.value)
    assert (none.low, none.high) == (0.0, 1.0)


def test_the_interval_of_a_probability_holds_the_share() -> None:
    for successes in range(11):
        low, high = exact_interval(successes / 10, 10)
        assert 0 <= low <= successes / 10 <= high <= 1


@pytest.mark.parametrize("runs", [1, 10, 500, 2000])
def test_the_interval_of_a_probability_covers_it_however_small_it_is(runs: int) -> None:
    """Just below the lower end for one success in all runs, Wilson's covers 84 % of the time."""
    for chance in (*CHANCES, 0.17 / runs, 0.02 / runs):
        successes = np.arange(runs + 1)
        ends = [exact_interval(number / runs, runs) for number in successes]
        held = [low <= chance <= high for low, high in ends]
        assert binom.pmf(successes, runs, chance) @ held >= 0.95
