"""Where clusterings begin: in the cube, apart, and without looking at the data."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit._numeric import FloatArray
from omit.mechanisms.kmeans import spread_starts, uniform_starts

Starts = Callable[[int, int, np.random.Generator], FloatArray]


@pytest.mark.parametrize("starts", [spread_starts, uniform_starts])
@given(k=st.integers(1, 30), dimensions=st.integers(1, 8), seed=st.integers(0, 1000))
def test_starts_lie_in_the_cube(starts: Starts, k: int, dimensions: int, seed: int) -> None:
    places = starts(k, dimensions, np.random.default_rng(seed))
    assert places.shape == (k, dimensions)
    assert (np.abs(places) <= 1).all()


@pytest.mark.parametrize("starts", [spread_starts, uniform_starts])
def test_starts_are_not_shown_the_data(starts: Starts) -> None:
    assert list(inspect.signature(starts).parameters) == ["k", "dimensions", "rng"]


@pytest.mark.parametrize("starts", [spread_starts, uniform_starts])
def test_as_many_random_numbers_are_drawn_in_every_run(starts: Starts) -> None:
    # So that compared settings can share the noise that follows.
    after = set()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        starts(6, 3, rng)
        fresh = np.random.default_rng(seed)
        drawn = 6 * 3 * (10 if starts is spread_starts else 1)
        fresh.random(drawn)
        after.add(rng.random() == fresh.random())
    assert after == {True}


def test_spread_starts_keep_farther_apart_than_uniform_ones() -> None:
    def closest(starts: Starts) -> float:
        """Return the mean distance of the closest two of five starts."""
        rng, found = np.random.default_rng(0), []
        for _ in range(300):
            places = starts(5, 2, rng)
            apart = np.sqrt(np.square(places[:, None] - places[None]).sum(axis=2))
            found.append(apart[np.triu_indices(5, 1)].min())
        return float(np.mean(found))

    # About .33 and .72: the difference is more than twenty standard errors.
    assert closest(spread_starts) > 1.5 * closest(uniform_starts)
