"""Swaps of private k-median: their costs, and draws in proportion to `exp(-rate * cost)`.

The state is a set of `k` candidates. A swap replaces one of them by a candidate outside; each of
the `k (|V| - k)` swaps is drawn with probability proportional to `exp(-rate * cost after it)`.

Three ways to draw, with the same law. *By rejection*: a uniform swap, accepted with probability
`exp(-rate * cost)`, which is at most 1; among accepted swaps each has the right probability.
Privacy often makes the rate so small that most proposals are accepted, and only one cost is
computed for each. A lower bound on all costs may be taken off before: it cancels among accepted
swaps, and fewer are rejected.

*By a tree*, where the first few proposals are all rejected (which says nothing about the next draw,
so the law is the same). Candidates near each other share a node, with a centre and a radius. A
record that is `d` from the centre of a node is at least `d - radius` from its candidates: this
bounds the costs of all swaps below a node at once. A node is drawn by its number of candidates
times the weight at that bound, and so on downwards among its children. The weights of the children
are less than that of their parent by as much as the bound was too low: with what is missing the
draw is rejected, and starts again from the finest nodes seen so far. So every candidate is reached
with a probability proportional to its own weight. Where a few swaps are much better than the rest,
most candidates are never looked at.

*From all of them*, instead of the tree, where candidates are few: distances are known beforehand
then, and the costs of all swaps take one pass over them.

The first proposals of every step have random numbers of their own, drawn beforehand. So a step that
needs one proposal more does not shift the numbers of those that follow, and two runs with the same
numbers stay alike.

Records that are equal are counted and not repeated: all sums are weighted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array

Indices = NDArray[np.int64]

# Children of a node.
_BRANCHES = 8
# Bits of the numbers that candidates are sorted by.
_BITS = 62
# Up to how many candidates the costs of all swaps are computed, and how many distances are kept.
_FEW_CANDIDATES, _LARGEST_TABLE = 512, 2_000_000
# Distances from the centres of nodes are rounded.
_ROUNDING = 1e-12


class Records(NamedTuple):
    """Different records, how often they occur, and how far they are from the centres.

    Distances are multiplied by `scale`, so that none exceeds 1. `owner` is the slot of the nearest
    centre; with one centre only, the second nearest distance is infinite. `distances` are those of
    every record to the candidates, where they are known beforehand; else it has no columns.
    """

    columns: FloatArray
    weights: FloatArray
    scale: float
    nearest: FloatArray
    second: FloatArray
    owner: Indices
    distances: FloatArray


class Tree(NamedTuple):
    """Candidates in nodes of nearby ones: node `j` of a level has the children `8 j` to `8 j + 7`.

    Levels follow each other, leaves first; `starts` says where, and where the last one ends. The
    candidate of a leaf is in `order`. Radii are multiplied by the scale of distances.
    """

    order: Indices
    centres: FloatArray
    radii: FloatArray
    starts: Indices


def records_of(
    columns: FloatArray, weights: FloatArray, scale: float, distances: FloatArray | None = None
) -> Records:
    """Return weighted records whose distances to centres are still to be filled in."""
    size = columns.shape[1]
    known = np.empty((size, 0)) if distances is None else np.ascontiguousarray(distances)
    near, next_one, owner = np.empty(size), np.empty(size), np.empty(size, np.int64)
    return Records(columns, weights, scale, near, next_one, owner, known)


def distances_to(candidates: FloatArray, columns: FloatArray, scale: float) -> FloatArray | None:
    """Return the distance of every record to every candidate, if that is worth its memory.

    Examples
    --------
    >>> distances_to(np.array([[0.0, 1.0]]), np.array([[-1.0, 1.0]]), scale=0.5)
    array([[0.5, 1. ],
           [0.5, 0. ]])
    """
    if candidates.shape[1] > _FEW_CANDIDATES:
        return None
    if candidates.shape[1] * columns.shape[1] > _LARGEST_TABLE:
        return None
    squares = np.zeros((columns.shape[1], candidates.shape[1]))
    for candidate, record in zip(candidates, columns, strict=True):
        squares += (record[:, None] - candidate[None, :]) ** 2
    return as_array(scale * np.sqrt(squares))


def tree_of(candidates: FloatArray, scale: float) -> Tree:
    """Return the tree of candidates, given by their columns.

    Examples
    --------
    >>> tree = tree_of(np.linspace(-1, 1, 64)[None], scale=0.5)
    >>> tree.starts.tolist(), round(float(tree.radii[-1]), 6)
    ([0, 64, 72, 73], 0.5)
    """
    order = np.argsort(_interleaved(candidates), kind="stable").astype(np.int64)
    low = high = candidates[:, order]
    levels = [(low, high)]
    while low.shape[1] > 1:
        firsts = np.arange(0, low.shape[1], _BRANCHES)
        low = np.minimum.reduceat(low, firsts, axis=1)
        high = np.maximum.reduceat(high, firsts, axis=1)
        levels.append((low, high))
    lows, highs = (np.concatenate(parts, axis=1) for parts in zip(*levels, strict=True))
    radii = 0.5 * scale * np.sqrt(np.square(highs - lows).sum(axis=0))
    radii[len(order) :] += _ROUNDING
    starts = np.cumsum([0, *(level.shape[1] for level, _ in levels)])
    return Tree(
        order, np.ascontiguousarray((lows + highs) / 2), as_array(radii), starts.astype(np.int64)
    )


def _interleaved(columns: FloatArray) -> Indices:
    """Return a whole number for every point of [-1, 1]^d; near numbers are near points.

    Its bits are those of the columns in turn, the highest first.
    """
    used = columns[:_BITS]
    depth = _BITS // len(used)
    digits = ((used + 1) / 2 * (2**depth - 1)).astype(np.int64)
    numbers = np.zeros(columns.shape[1], np.int64)
    for bit in reversed(range(depth)):
        for column in digits:
            numbers = (numbers << 1) | ((column >> bit) & 1)
    return numbers


@compiled
def local_search(
    records: Records,
    candidates: FloatArray,
    tree: Tree,
    first: Indices,
    early: FloatArray,
    rate: float,
    floor: float,
    rng: np.random.Generator,
) -> tuple[Indices, FloatArray]:
    """Return every set of centres on the way, and its cost.

    Parameters
    ----------
    records : Records
        Those that are left; their distances are overwritten.
    candidates : array
        Columns of the candidates.
    tree : Tree
        The same candidates.
    first : array of int
        The first centres, as positions among the candidates.
    early : array
        Three uniform numbers for each of the first proposals of every step.
    rate : float
        The factor of the cost in the exponent.
    floor : float
        A lower bound on the cost of every set of centres.
    rng : numpy.random.Generator
        Where the numbers of draws by the tree come from.
    """
    k, steps = len(first), len(early)
    sets, costs = np.empty((steps + 1, k), np.int64), np.empty(steps + 1)
    sets[0] = first
    is_centre = np.zeros(candidates.shape[1], np.bool_)
    for centre in first:
        is_centre[centre] = True
    costs[0] = assign(records, candidates, sets[0])
    for step in range(steps):
        slot, entering = propose(records, candidates, is_centre, k, early[step], rate, floor)
        if slot < 0 and records.distances.shape[1]:
            slot, entering = draw_from_all(records, is_centre, k, rate, rng.random())
        elif slot < 0:
            slot, entering = draw_by_tree(records, tree, is_centre, k, rate, rng)
        sets[step + 1] = sets[step]
        is_centre[sets[step, slot]] = False
        is_centre[entering] = True
        sets[step + 1, slot] = entering
        costs[step + 1] = assign(records, candidates, sets[step + 1])
    return sets, costs


@compiled
def propose(
    records: Records,
    candidates: FloatArray,
    is_centre: NDArray[np.bool_],
    k: int,
    uniforms: FloatArray,
    rate: float,
    floor: float,
) -> tuple[int, int]:
    """Return the slot that is given up and who enters it, or (-1, -1) if no swap is accepted."""
    for attempt in range(len(uniforms)):
        slot = int(uniforms[attempt, 0] * k)
        entering = int(uniforms[attempt, 1] * candidates.shape[1])
        if is_centre[entering]:
            continue
        cost = swap_cost(records, candidates, slot, entering)
        if uniforms[attempt, 2] < np.exp(-rate * (cost - floor)):
            return slot, entering
    return -1, -1


@compiled
def draw_from_all(
    records: Records, is_centre: NDArray[np.bool_], k: int, rate: float, uniform: float
) -> tuple[int, int]:
    """Return the slot that is given up and who enters it, drawn by the costs of all swaps."""
    # Of every slot a row, so that loops over candidates vectorise.
    costs, total = np.zeros((k, len(is_centre))), np.zeros(len(is_centre))
    for i in range(len(records.weights)):
        add_costs(
            records.distances[i], records.weights[i], records.nearest[i], records.second[i],
            total, costs[records.owner[i]],
        )  # fmt: skip
    least = np.inf
    for slot in range(k):
        for entering in range(len(is_centre)):
            costs[slot, entering] += total[entering]
            if not is_centre[entering]:
                least = min(least, costs[slot, entering])
    for slot in range(k):
        for entering in range(len(is_centre)):
            excess = costs[slot, entering] - least
            costs[slot, entering] = 0.0 if is_centre[entering] else np.exp(-rate * excess)
    chosen = choose(costs.ravel(), uniform)
    return chosen // len(is_centre), chosen % len(is_centre)


@compiled
def add_costs(
    distances: FloatArray,
    weight: float,
    nearest: float,
    second: float,
    total: FloatArray,
    without: FloatArray,
) -> None:
    """Add what a record costs with every candidate, and what more without its centre."""
    for entering in range(len(distances)):
        kept = min(distances[entering], nearest)
        total[entering] += weight * kept
        # Who loses its centre goes to the second nearest, or to the one that enters.
        without[entering] += weight * (min(distances[entering], second) - kept)


@compiled
def draw_by_tree(
    records: Records,
    tree: Tree,
    is_centre: NDArray[np.bool_],
    k: int,
    rate: float,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Return the slot that is given up and the candidate that enters it, drawn from all swaps."""
    leaves, nodes = tree.starts[1], tree.starts[-1]
    bounds = np.empty((nodes, k))
    # The finest nodes seen so far; together they have all candidates.
    finest, seen = np.empty(leaves, np.int64), 1
    finest[0] = nodes - 1
    least_costs(records, tree, nodes - 1, bounds[nodes - 1])
    while True:
        position, slot = draw_node(tree, is_centre, bounds, finest[:seen], rate, rng.random())
        node = finest[position]
        while node >= leaves:
            first, end = children(tree, node)
            left = rng.random() * candidates_below(tree, is_centre, node)
            reached = -1
            for child in range(first, end):
                least_costs(records, tree, child, bounds[child])
                finest[position if child == first else seen + child - first - 1] = child
                share = np.exp(-rate * (bounds[child, slot] - bounds[node, slot]))
                left -= candidates_below(tree, is_centre, child) * share
                if reached < 0 and left < 0:
                    reached = child
            if reached > first:
                position = seen + reached - first - 1
            seen += end - first - 1
            node = reached
        if node >= 0:
            return slot, tree.order[node]


@compiled
def draw_node(
    tree: Tree,
    is_centre: NDArray[np.bool_],
    bounds: FloatArray,
    finest: Indices,
    rate: float,
    uniform: float,
) -> tuple[int, int]:
    """Return a position among the finest nodes and a slot, drawn by the weights of their bounds."""
    k = bounds.shape[1]
    sizes, least = np.empty(len(finest)), np.inf
    for position in range(len(finest)):
        sizes[position] = candidates_below(tree, is_centre, finest[position])
        if sizes[position] > 0:
            least = min(least, bounds[finest[position]].min())
    weights = np.zeros(k * len(finest))
    for position in range(len(finest)):
        if sizes[position] > 0:
            for slot in range(k):
                excess = bounds[finest[position], slot] - least
                weights[position * k + slot] = sizes[position] * np.exp(-rate * excess)
    chosen = choose(weights, uniform)
    return chosen // k, chosen % k


@compiled
def children(tree: Tree, node: int) -> tuple[int, int]:
    """Return the first child of a node that is no leaf, and the first node that is none of them."""
    level = 1
    while tree.starts[level + 1] <= node:
        level += 1
    first = tree.starts[level - 1] + _BRANCHES * (node - tree.starts[level])
    return first, min(first + _BRANCHES, tree.starts[level])


@compiled
def candidates_below(tree: Tree, is_centre: NDArray[np.bool_], node: int) -> int:
    """Return how many candidates a node has; none if it is a leaf whose candidate is a centre."""
    leaves = tree.starts[1]
    if node < leaves:
        return 0 if is_centre[tree.order[node]] else 1
    level, size = 1, _BRANCHES
    while tree.starts[level + 1] <= node:
        level, size = level + 1, size * _BRANCHES
    return int(min(size, leaves - size * (node - tree.starts[level])))


@compiled
def least_costs(records: Records, tree: Tree, node: int, costs: FloatArray) -> None:
    """Fill in, for every slot, what no swap to a candidate of a node costs less than.

    Of a leaf these are the costs themselves.
    """
    columns, weights, scale, nearest, second, owner, _ = records
    radius, total = tree.radii[node], 0.0
    costs[:] = 0.0
    for i in range(columns.shape[1]):
        square = 0.0
        for j in range(columns.shape[0]):
            square += (columns[j, i] - tree.centres[j, node]) ** 2
        distance = max(scale * np.sqrt(square) - radius, 0.0)
        kept = min(distance, nearest[i])
        total += weights[i] * kept
        # Who loses its centre goes to the second nearest, or to the one that enters.
        costs[owner[i]] += weights[i] * (min(distance, second[i]) - kept)
    costs += total
    if radius > 0:
        # Sums of n terms are off by less than n units in the last digit.
        costs *= 1 - 4e-16 * (len(nearest) + 4)


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
def assign(records: Records, candidates: FloatArray, centres: Indices) -> float:
    """Fill in each record's nearest and second nearest distance, and return the summed cost."""
    columns, weights, scale, nearest, second, owner, _ = records
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
        total += weights[i] * nearest[i]
    return total


@compiled
def swap_cost(records: Records, candidates: FloatArray, slot: int, entering: int) -> float:
    """Return the summed cost after one swap."""
    columns, weights, scale, nearest, second, owner, distances = records
    total = 0.0
    if distances.shape[1]:
        for i in range(columns.shape[1]):
            left = second[i] if owner[i] == slot else nearest[i]
            total += weights[i] * min(distances[i, entering], left)
        return total
    for i in range(columns.shape[1]):
        square = 0.0
        for j in range(columns.shape[0]):
            square += (columns[j, i] - candidates[j, entering]) ** 2
        left = second[i] if owner[i] == slot else nearest[i]
        total += weights[i] * min(scale * np.sqrt(square), left)
    return total
