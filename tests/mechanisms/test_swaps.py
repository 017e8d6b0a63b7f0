"""Swaps of private k-median: their costs by direct evaluation, and the law of their draws."""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from omit._numeric import FloatArray, as_array
from omit.mechanisms.swaps import (
    Indices,
    assign,
    choose,
    distances_to,
    draw_by_tree,
    draw_from_all,
    least_costs,
    local_search,
    propose,
    records_of,
    swap_cost,
    tree_of,
)

pytestmark = pytest.mark.slow


class State:
    """Random records and candidates, with the centres among them."""

    def __init__(
        self, size: int, dimensions: int, candidates: int, k: int, seed: int, known: bool = False
    ) -> None:
        rng = np.random.default_rng(seed)
        self.candidates = rng.uniform(-1, 1, (dimensions, candidates))
        self.k, scale = k, 0.5 / np.sqrt(dimensions)
        columns, weights = rng.uniform(-1, 1, (dimensions, size)), rng.integers(1, 4, size)
        distances = distances_to(self.candidates, columns, scale) if known else None
        self.records = records_of(columns, weights.astype(float), scale, distances)
        self.tree = tree_of(self.candidates, scale)
        self.centres: Indices = rng.choice(candidates, k, replace=False).astype(np.int64)
        self.is_centre = np.isin(np.arange(candidates), self.centres)
        self.total = assign(self.records, self.candidates, self.centres)

    def direct_cost(self, centres: Indices) -> float:
        columns, weights, scale = self.records[:3]
        apart = columns[:, :, None] - self.candidates[:, centres][:, None]
        return float((scale * np.linalg.norm(apart, axis=0)).min(axis=1) @ weights)

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

    @cached_property
    def floor(self) -> float:
        return 0.9 * float(self.direct_costs().min())

    def draw(self, rate: float, proposals: int, rng: np.random.Generator) -> tuple[int, int]:
        records, uniforms = self.records, rng.random((proposals, 3))
        swap = propose(records, self.candidates, self.is_centre, self.k, uniforms, rate, self.floor)
        if swap[0] >= 0:
            return swap
        if records.distances.shape[1]:
            return draw_from_all(records, self.is_centre, self.k, rate, rng.random())
        return draw_by_tree(records, self.tree, self.is_centre, self.k, rate, rng)

    def bounds(self) -> FloatArray:
        """Return what swaps cost at least, by node and slot; of leaves, what they cost."""
        costs = np.empty((self.tree.starts[-1], self.k))
        for node in range(len(costs)):
            least_costs(self.records, self.tree, node, costs[node])
        return costs


@given(
    st.integers(0, 25),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 8),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_swap_costs_are_those_of_a_direct_evaluation(
    size: int, dimensions: int, k: int, outside: int, seed: int, known: bool
) -> None:
    state = State(size, dimensions, k + outside, k, seed, known)
    assert state.total == pytest.approx(state.direct_cost(state.centres), abs=1e-12)
    expected = state.direct_costs()
    leaves = state.bounds()[: len(state.is_centre)].T
    for slot, leaf in np.ndindex(leaves.shape):
        entering = int(state.tree.order[leaf])
        if not state.is_centre[entering]:
            wanted = pytest.approx(expected[slot, entering], abs=1e-12)
            assert leaves[slot, leaf] == wanted
            assert swap_cost(state.records, state.candidates, slot, entering) == wanted


@pytest.mark.parametrize("dimensions", [1, 2, 5, 70])
@pytest.mark.parametrize("candidates", [7, 8, 9, 300])
def test_no_swap_costs_less_than_the_nodes_above_it_say(dimensions: int, candidates: int) -> None:
    state = State(30, dimensions, candidates, k=3, seed=candidates)
    bounds, starts = state.bounds(), state.tree.starts
    assert sorted(state.tree.order) == list(range(candidates))
    assert starts[-1] - starts[-2] == 1
    for level in range(1, len(starts) - 1):
        below = bounds[starts[level - 1] : starts[level]]
        above = bounds[starts[level] : starts[level + 1]]
        assert (above[np.arange(len(below)) // 8] <= below).all()


@pytest.mark.parametrize("known", [False, True], ids=["by a tree", "from all"])
@pytest.mark.parametrize(
    ("rate", "proposals", "candidates"),
    [
        (0.0, 0, 9),
        (0.0, 50, 9),
        (0.03, 0, 9),
        (0.03, 1000, 9),
        (0.5, 0, 9),
        # A tree of three levels.
        (2.0, 0, 70),
        # Some five proposals are needed for one that is accepted, so that both ways are taken.
        (0.5, 5, 9),
        (8.0, 0, 9),
        # Not one in a million proposals is accepted: the tree has to draw.
        (8.0, 50, 9),
    ],
)
def test_swaps_are_drawn_with_exponential_weights(
    rate: float, proposals: int, candidates: int, known: bool
) -> None:
    state = State(size=6, dimensions=2, candidates=candidates, k=3, seed=2, known=known)
    costs = state.direct_costs()
    expected = 30_000 * state.law(rate).ravel()
    rng, drawn = np.random.default_rng(11), np.zeros(costs.size)
    for _ in range(30_000):
        slot, entering = state.draw(rate, proposals, rng)
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
    state = State(size=6, dimensions=2, candidates=9, k=3, seed=2)
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


@pytest.mark.parametrize("known", [False, True])
def test_every_set_on_the_way_differs_by_one_swap_and_has_its_cost(known: bool) -> None:
    state = State(size=20, dimensions=2, candidates=15, k=4, seed=3, known=known)
    for rate in (0.01, 5.0):
        sets, costs = local_search(
            state.records,
            state.candidates,
            state.tree,
            state.centres,
            np.random.default_rng(1).random((30, 2, 3)),
            rate,
            0.0,
            np.random.default_rng(0),
        )
        assert len(sets) == len(costs) == 31
        for before, after in itertools.pairwise(sets):
            assert (before != after).sum() == 1
            assert len(set(after.tolist())) == 4
        direct = [state.direct_cost(each) for each in sets]
        assert costs == pytest.approx(np.array(direct), abs=1e-12)
