"""Local search with random swaps, compiled: the inside of private k-median.

The state is a set of `k` candidates. A swap replaces one of them by a candidate outside; each of
the `k (|V| - k)` swaps is drawn with probability proportional to `exp(-rate * cost after it)`.

Two ways to draw, with the same law. *Scored*: the costs of all swaps, then one of them. *By
rejection*: a uniform swap, accepted with probability `exp(-rate * cost)`, which is at most 1; among
accepted swaps each has the right probability. Privacy makes the rate so small that most proposals
are accepted, and only one cost is computed for each. If many are rejected in a row, the swap is
scored: rejections say nothing about the next draw, so this does not change the law. A lower bound
on all costs may be taken off before: it cancels among accepted swaps, and fewer are rejected.

The first proposals of every step have random numbers of their own, drawn beforehand. So a step that
needs one proposal more does not shift the numbers of those that follow, and two runs with the same
numbers stay alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray

Indices = NDArray[np.int64]


@compiled
def local_search(
    columns: FloatArray,
    candidates: FloatArray,
    scale: float,
    first: Indices,
    early: FloatArray,
    rate: float,
    floor: float,
    patience: int,
    rng: np.random.Generator,
) -> tuple[Indices, FloatArray]:
    """Return every set of centres on the way, and its cost.

    Parameters
    ----------
    columns : array
        Columns of the records that are left.
    candidates : array
        Columns of the candidates.
    scale : float
        What distances are multiplied by, so that none exceeds 1.
    first : array of int
        The first centres, as positions among the candidates.
    early : array
        Three uniform numbers for each of the first proposals of every step.
    rate : float
        The factor of the cost in the exponent.
    floor : float
        A lower bound on the cost of every set of centres.
    patience : int
        After so many rejected proposals, all swaps are scored.
    rng : numpy.random.Generator
        Where the numbers of later proposals come from.
    """
    k, steps = len(first), len(early)
    sets, costs = np.empty((steps + 1, k), np.int64), np.empty(steps + 1)
    sets[0] = first
    size = columns.shape[1]
    nearest, second, owner = np.empty(size), np.empty(size), np.empty(size, np.int64)
    is_centre = np.zeros(candidates.shape[1], np.bool_)
    for centre in first:
        is_centre[centre] = True
    costs[0] = assign(columns, candidates, scale, sets[0], nearest, second, owner)
    for step in range(steps):
        slot, entering = draw_swap(
            columns,
            candidates,
            scale,
            is_centre,
            nearest,
            second,
            owner,
            k,
            early[step],
            rate,
            floor,
            patience,
            rng,
        )
        sets[step + 1] = sets[step]
        is_centre[sets[step, slot]] = False
        is_centre[entering] = True
        sets[step + 1, slot] = entering
        costs[step + 1] = assign(columns, candidates, scale, sets[step + 1], nearest, second, owner)
    return sets, costs


@compiled
def draw_swap(
    columns: FloatArray,
    candidates: FloatArray,
    scale: float,
    is_centre: NDArray[np.bool_],
    nearest: FloatArray,
    second: FloatArray,
    owner: Indices,
    k: int,
    early: FloatArray,
    rate: float,
    floor: float,
    patience: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Return the slot that is given up and the candidate that enters it."""
    size = candidates.shape[1]
    for attempt in range(patience):
        if attempt < len(early):
            first, second_one, third = early[attempt]
        else:
            first, second_one, third = rng.random(), rng.random(), rng.random()
        slot, entering = int(first * k), int(second_one * size)
        if is_centre[entering]:
            continue
        cost = swap_cost(columns, candidates, scale, nearest, second, owner, slot, entering)
        if third < np.exp(-rate * (cost - floor)):
            return slot, entering
    costs = swap_costs(columns, candidates, scale, is_centre, nearest, second, owner, k)
    weights = np.exp(-rate * (costs - costs.min())).ravel()
    for slot in range(k):
        for entering in range(size):
            if is_centre[entering]:
                weights[slot * size + entering] = 0.0  # also where the rate is 0
    chosen = choose(weights, rng.random())
    return chosen // size, chosen % size


@compiled
def choose(weights: FloatArray, uniform: float) -> int:
    """Return the position, of those with probabilities proportional to weights, at a quantile."""
    left = uniform * weights.sum()
    last = 0
    for position in range(len(weights)):
        if weights[position] > 0:
            last = position
            left -= weights[position]
            if left < 0:
                break
    return last


@compiled
def assign(
    columns: FloatArray,
    candidates: FloatArray,
    scale: float,
    centres: Indices,
    nearest: FloatArray,
    second: FloatArray,
    owner: Indices,
) -> float:
    """Fill in each record's nearest and second nearest distance, and return the summed cost.

    With one centre only, the second nearest distance is infinite.
    """
    total = 0.0
    for i in range(columns.shape[1]):
        closest, next_one, whose = np.inf, np.inf, 0
        for slot in range(len(centres)):
            square = 0.0
            for j in range(columns.shape[0]):
                square += (columns[j, i] - candidates[j, centres[slot]]) ** 2
            if square < closest:
                closest, next_one, whose = square, closest, slot
            elif square < next_one:
                next_one = square
        nearest[i] = scale * np.sqrt(closest)
        second[i] = scale * np.sqrt(next_one)
        owner[i] = whose
        total += nearest[i]
    return total


@compiled
def swap_cost(
    columns: FloatArray,
    candidates: FloatArray,
    scale: float,
    nearest: FloatArray,
    second: FloatArray,
    owner: Indices,
    slot: int,
    entering: int,
) -> float:
    """Return the summed cost after one swap."""
    total = 0.0
    for i in range(columns.shape[1]):
        square = 0.0
        for j in range(columns.shape[0]):
            square += (columns[j, i] - candidates[j, entering]) ** 2
        left = second[i] if owner[i] == slot else nearest[i]
        total += min(scale * np.sqrt(square), left)
    return total


@compiled
def swap_costs(
    columns: FloatArray,
    candidates: FloatArray,
    scale: float,
    is_centre: NDArray[np.bool_],
    nearest: FloatArray,
    second: FloatArray,
    owner: Indices,
    k: int,
) -> FloatArray:
    """Return the summed cost after every swap, by slot and candidate; infinite for centres."""
    size = candidates.shape[1]
    costs = np.full((k, size), np.inf)
    gained = np.empty(k)
    for entering in range(size):
        if is_centre[entering]:
            continue
        total = 0.0
        gained[:] = 0.0
        for i in range(columns.shape[1]):
            square = 0.0
            for j in range(columns.shape[0]):
                square += (columns[j, i] - candidates[j, entering]) ** 2
            distance = scale * np.sqrt(square)
            kept = min(distance, nearest[i])
            total += kept
            # Who loses its centre goes to the second nearest, or to the one that enters.
            gained[owner[i]] += min(distance, second[i]) - kept
        for slot in range(k):
            costs[slot, entering] = total + gained[slot]
    return costs
