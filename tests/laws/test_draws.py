"""Draws from groups, and intervals for averages over them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from omit.laws.counts import draws
from omit.laws.intervals import bernstein_bounds


def test_draws_from_groups_are_multivariate_hypergeometric() -> None:
    found = dict(draws([2, 3, 1], 3))
    assert math.fsum(found.values()) == pytest.approx(1)
    assert found[1, 1, 1] == pytest.approx(2 * 3 * 1 / math.comb(6, 3))


def test_the_interval_covers_more_often_than_it_says() -> None:
    # 300 intervals at 99 % that in truth cover almost always: more than 9 misses would happen by
    # chance in less than 1 of 1,000 seeds.
    rng = np.random.default_rng(4)
    misses = 0
    for _ in range(300):
        low, high = bernstein_bounds(rng.beta(0.5, 5, (200, 1)))
        misses += not low[0] <= 0.5 / 5.5 <= high[0]
    assert misses <= 9
