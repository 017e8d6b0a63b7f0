"""Swaps of private k-median: their costs by direct evaluation, and the law of their draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from omit._numeric import FloatArray, as_array
from omit.mechanisms.kmedian import (
    Indices,
    assign,
    choose,
    draw_swap,
    local_search,
    swap_cost,
    swap_costs,
)

pytestmark = pytest.mark.slow


class State:
    """Random records and candidates, with the centres among them."""

    def __init__(self, size: int, dimensions: int, candidates: int, k: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.columns = rng.uniform(-1, 1, (dimensions, size))
        self.candidates = rng.uniform(-1, 1, (dimensions, candidates))
        self.k, self.scale = k, 0.5 / np.sqrt(dimensions)
        self.centres: Indices = rng.choice(candidates, k, replace=False).astype(np.int64)
        self.is_centre = np.isin(np.arange(candidates), self.centres)
        self.nearest, self.second = np.empty(size), np.empty(size)
        self.owner = np.empty(size, np.int64)
        self.total = assign(
            self.columns,
            self.candidates,
            self.scale,
            self.centres,
            self.nearest,
            self.second,
            self.owner,
        )

    def direct_cost(self, centres: Indices) -> float:
        apart = self.columns[:, :, None] - self.candidates[:, centres][:, None]
        return float((self.scale * np.linalg.norm(apart, axis=0)).min(axis=1).sum())

    def direct_costs(self) -> FloatArray:
        """Return the cost after every swap, by slot and candidate; infinite for centres."""
        costs = np.full((self.k, len(self.is_centre)), np.inf)
        for slot, entering in np.ndindex(costs.shape):
            if not self.is_centre[entering]:
                after = self.centres.copy()
                after[slot] = entering
                costs[slot, entering] = self.direct_cost(after)
        return costs

    def law(self, rate: float) -> FloatArray:
        """Return the probability of every swap, from directly evaluated costs."""
        costs = self.direct_costs()
        weights, possible = np.zeros(costs.shape), np.isfinite(costs)
        weights[possible] = np.exp(-rate * (costs[possible] - costs.min()))
        return as_array(weights / weights.sum())

    def draw(self, rate: float, patience: int, rng: np.random.Generator) -> tuple[int, int]:
        return draw_swap(
            self.columns,
            self.candidates,
            self.scale,
            self.is_centre,
            self.nearest,
            self.second,
            self.owner,
            self.k,
            rng.random((3, 3)),
            rate,
            0.9 * self.direct_costs().min(),
            patience,
            rng,
        )


@given(
    st.integers(0, 25),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 8),
    st.integers(0, 10**6),
)
def test_swap_costs_are_those_of_a_direct_evaluation(
    size: int, dimensions: int, k: int, outside: int, seed: int
) -> None:
    state = State(size, dimensions, k + outside, k, seed)
    assert state.total == pytest.approx(state.direct_cost(state.centres), abs=1e-12)
    expected = state.direct_costs()
    table = (state.nearest, state.second, state.owner)
    found = swap_costs(
        state.columns, state.candidates, state.scale, state.is_centre, *table, state.k
    )
    assert found == pytest.approx(expected, abs=1e-12)
    for slot, entering in zip(*np.nonzero(np.isfinite(expected)), strict=True):
        one = swap_cost(
            state.columns, state.candidates, state.scale, *table, int(slot), int(entering)
        )
        assert one == pytest.approx(expected[slot, entering], abs=1e-12)


@pytest.mark.parametrize(
    ("rate", "patience"),
    [
        (0.0, 0),
        (0.0, 50),
        (0.03, 0),
        (0.03, 10_000),
        (0.5, 0),
        # Some five proposals are needed for one that is accepted, so that both ways are taken.
        (0.5, 5),
        (8.0, 0),
        # Not one in a million proposals is accepted: after patience every swap is scored.
        (8.0, 50),
    ],
)
def test_swaps_are_drawn_with_exponential_weights(rate: float, patience: int) -> None:
    state = State(size=12, dimensions=2, candidates=9, k=3, seed=2)
    costs = state.direct_costs()
    expected = 30_000 * state.law(rate).ravel()
    rng, drawn = np.random.default_rng(11), np.zeros(costs.size)
    for _ in range(30_000):
        slot, entering = state.draw(rate, patience, rng)
        drawn[slot * costs.shape[1] + entering] += 1
    possible = expected > 0
    assert drawn[~possible].sum() == 0
    # Chi-square with a false-alarm rate of 1e-4 for each; rare swaps are taken together.
    often = expected > 5
    seen, wanted = drawn[often], expected[often]
    if (possible & ~often).any():
        seen = np.append(seen, drawn[possible & ~often].sum())
        wanted = np.append(wanted, expected[possible & ~often].sum())
    assert stats.chisquare(seen, wanted).pvalue > 1e-4
    if rate == 0.5:  # and the test can tell another rate
        other = 30_000 * state.law(0.3).ravel()
        assert stats.chisquare(drawn[possible], other[possible]).pvalue < 1e-4


def test_the_rates_above_take_both_ways_to_draw() -> None:
    state = State(size=12, dimensions=2, candidates=9, k=3, seed=2)
    costs = state.direct_costs()
    accepted = {rate: float(np.exp(-rate * costs).mean()) for rate in (0.03, 0.5, 8.0)}
    assert accepted[0.03] > 0.6
    assert 0.1 < accepted[0.5] < 0.3
    assert accepted[8.0] < 1e-6


def test_a_choice_has_the_law_of_its_weights() -> None:
    weights = np.array([0.0, 3.0, 0.5, 0.0, 1e-300, 6.5, 0.0])
    rng = np.random.default_rng(1)
    drawn = np.bincount([choose(weights, rng.random()) for _ in range(20_000)], minlength=7)
    assert drawn[[0, 3, 4, 6]].sum() == 0
    assert stats.chisquare(drawn[[1, 2, 5]], [6000, 1000, 13_000]).pvalue > 1e-4


def test_a_choice_of_which_rounding_leaves_nothing_is_the_last_possible_one() -> None:
    weights = np.array([0.1] * 7 + [0.0])
    assert choose(weights, 1.0) == 6  # beyond what a generator gives


def test_every_set_on_the_way_differs_by_one_swap_and_has_its_cost() -> None:
    state = State(size=20, dimensions=2, candidates=15, k=4, seed=3)
    for rate, patience in ((0.01, 100), (5.0, 16)):
        sets, costs = local_search(
            state.columns,
            state.candidates,
            state.scale,
            state.centres,
            np.random.default_rng(1).random((30, 2, 3)),
            rate,
            0.0,
            patience,
            np.random.default_rng(0),
        )
        assert len(sets) == len(costs) == 31
        for before, after in itertools.pairwise(sets):
            assert (before != after).sum() == 1
            assert len(set(after.tolist())) == 4
        direct = [state.direct_cost(each) for each in sets]
        assert costs == pytest.approx(np.array(direct), abs=1e-12)
