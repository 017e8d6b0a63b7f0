"""The expected error of a choice after an omission, by a transfer product along the sorted values.

A point is chosen as `exact.choice` says. If records are kept independently, the counts `K_v` that
are left are independent binomials; in samples of one size they are the same, given their sum. Given
the number `n` of records that are left, the wanted rank is known, and the ranks below the values
are a random walk: the integrand of `P(x)` is a product of one factor for each gap and each value,
and a factor depends only on where the walk is before and after it. So its expectation is a product
of matrices, for each `n` and each node `t`. All terms are positive: no digits are lost.

*Near the wanted rank only.* A point that is more than `T = ln W + 40` scales off is chosen with a
probability of at most `e^-T`, `W` the number of points; all of them together change no probability
by more than `e^-40`, so their factors are taken as 1. The walk is then free until it comes within
`T` scales of the wanted rank and after it has left: how often it enters by a value, and what is
left to be kept when it leaves, are laws of sums that depend on no node. A value that leads from
below this window to above it holds the wanted rank alone, and is chosen for certain.

*The nodes* are 16 of Gauss on each of the intervals `[0, 1/W]`, `[1/W, 2/W]`, `[2/W, 4/W]`, ... up
to 1, or to 48 for the exponential mechanism. There `|1 - z p| <= 1` in the disc `|1 - z| <= 1`, and
`|e^(-z p)| <= 1` in the right half-plane. Both hold the ellipse around an interval `[a, 2a]` (with
`a <= 1/2` in the disc) whose half-axes sum to `3 + √8` half-lengths, so the rule is off by less
than `5 a (3 + √8)^-32 < 2e-24 a`. On the first interval the integrand is below `e^3.1` on the
ellipse with the sum 10. The integral itself is at least `1/(W + 1)`: the rule is off by less than
1e-15 of it. Permute-and-flip's integrand is a polynomial of degree `W - 1` on [0, 1]; if fewer
nodes are exact for that, these are taken.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, IntArray, as_array, gauss_legendre
from omit.errors import NotExact
from omit.exact.choice import Choice, Lattice, log_acceptance
from omit.laws.counts import bernstein_reach, binomial_window

_PANEL_NODES = 16
_LAST = 48.0
# How many scales off a point has no factor, above the logarithm of the number of points.
_FAR = 40.0
# Without noise only ranks that are equal, up to rounding, are within the window.
_EQUAL = 1e-6
# What is left out on each side of a law of counts, and numbers of records that are as rare.
_RARITY = 50.0
_RARE = 1e-19
# Above this many steps a transfer product takes more than about a second, above this many numbers
# more memory than it is worth.
MOST_STEPS, QUICK_STEPS = 500_000_000, 20_000_000
_LARGEST_TABLE = 20_000_000


class _Laws(NamedTuple):
    """The probabilities of consecutive numbers from `lows` on, one law after the other."""

    probabilities: FloatArray
    begins: IntArray
    lows: IntArray

    @classmethod
    def of(cls, laws: list[tuple[int, FloatArray]]) -> _Laws:
        """Return several laws in one array."""
        lengths = [len(law) for _, law in laws]
        return cls(
            np.concatenate([law for _, law in laws]),
            np.concatenate([[0], np.cumsum(lengths)]),
            np.array([low for low, _ in laws]),
        )


def sampled_choice(
    lattice: Lattice,
    counts: IntArray,
    inclusion: FloatArray,
    choice: Choice,
    error_sums: tuple[FloatArray, FloatArray],
    *,
    size: int | None = None,
    quick: bool = False,
) -> tuple[float, float]:
    """Return the expected error of a choice after an omission, and what was left out of it.

    Parameters
    ----------
    lattice, choice
        As for one choice.
    counts, inclusion : array
        How many records have each value, and the probability that one of them is kept.
    error_sums : pair of array
        The error of a choice of each value; and the sum of the errors of all points before each
        value that are beyond the value before, and of those after the last.
    size : int, optional
        How many records are left, if that is certain: every subset of that size alike.
    quick : bool
        Whether to give up rather than to take longer than a simulation.

    Returns
    -------
    tuple of float
        The expected error, and the probability of what was not looked at.

    Raises
    ------
    NotExact
        If the transfer product would take too long.
    """
    points = lattice.last + 1
    nodes, weights = _walk_nodes(points, choice.flips)
    reach = max((math.log(points) + _FAR) * choice.scale, _EQUAL)
    most = QUICK_STEPS if quick else MOST_STEPS
    _require_few(_least_steps(counts, inclusion, len(nodes), reach), most)
    laws = [_binomial(int(n), float(keep)) for n, keep in zip(counts, inclusion, strict=True)]
    below, above = _sums(laws), _sums(laws[::-1])
    low, total = below[-1]
    sizes = low + np.flatnonzero(total > _RARE) if size is None else np.array([size])
    law_arrays = *_Laws.of(laws), *_Laws.of(below), *_Laws.of(above[::-1])
    gaps = np.diff(lattice.values, prepend=-1, append=lattice.last + 1) - 1

    def walks(sizes: IntArray, most: float) -> tuple[FloatArray, float]:
        share, scale, flips = choice
        walk = *law_arrays, gaps, *error_sums, sizes
        return _walks(*walk, share, scale, flips, reach, nodes, weights, most)

    # The most likely number of records tells what the others take.
    typical = size if size is not None else low + int(total.argmax())
    _require_few(len(sizes) * walks(np.array([typical]), most / len(sizes))[1], most)
    expected = walks(sizes, math.inf)[0]
    if size is not None:
        return float(expected[0] / total[size - low]), math.exp(-_FAR)
    return float(expected.sum()), _RARE * len(total) + math.exp(-_FAR)


def _require_few(steps: float, most: int) -> None:
    """Refuse a walk of more steps than are worth it."""
    if steps > most:
        raise NotExact(
            "a transfer product along the sorted values would take too long; samples are drawn, "
            "noise is integrated"
        )


def _least_steps(counts: IntArray, inclusion: FloatArray, nodes: int, reach: float) -> float:
    """Return how many steps there are at least, to know without making the laws."""
    variances = counts * inclusion * (1 - inclusion)
    spread = 2 * float(np.sqrt(variances.sum()))
    if 2 * spread * len(counts) > _LARGEST_TABLE:
        return math.inf
    # Around the values to which the typical sample has the wanted rank there are this many ranks.
    window = min(2 * reach, float(counts @ inclusion))
    return nodes * max(spread, 1.0) * window


def _binomial(count: int, keep: float) -> tuple[int, FloatArray]:
    """Return the first number of records that is not too rare, and the probabilities from it on."""
    if count == 0 or keep in (0, 1):
        return int(count * keep), np.ones(1)
    reach = bernstein_reach(count * keep * (1 - keep), _RARITY)
    numbers, logarithms = binomial_window(count, keep, reach)
    return int(numbers[0]), as_array(np.exp(logarithms))


def _sums(laws: list[tuple[int, FloatArray]]) -> list[tuple[int, FloatArray]]:
    """Return the law of the sum of none, one, two, ... of the numbers."""
    sums = [(0, np.ones(1))]
    for low, law in laws:
        before, total = sums[-1]
        total = np.convolve(total, law)
        likely = np.flatnonzero(total > math.exp(-_RARITY))
        first, last = likely[0], likely[-1] + 1
        sums.append((before + low + int(first), as_array(total[first:last])))
    return sums


def _walk_nodes(points: int, flips: bool) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights for the integral over t of a transfer product."""
    panels, number = [0.0, 1 / points], _PANEL_NODES
    while panels[-1] < (1.0 if flips else _LAST):
        panels.append(2 * panels[-1])
    if flips:
        panels[-1] = 1.0
        enough = (points - 1) // 2 + 1
        if enough <= number * (len(panels) - 1):
            panels, number = [0.0, 1.0], enough
    nodes, weights = gauss_legendre(number)
    ends = as_array(panels)
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (nodes + 1)).ravel(), (half * weights).ravel()


@compiled
def _walks(
    laws: FloatArray,
    law_begins: IntArray,
    law_lows: IntArray,
    below: FloatArray,
    below_begins: IntArray,
    below_lows: IntArray,
    above: FloatArray,
    above_begins: IntArray,
    above_lows: IntArray,
    gaps: IntArray,
    value_errors: FloatArray,
    gap_errors: FloatArray,
    sizes: IntArray,
    share: float,
    scale: float,
    flips: bool,
    reach: float,
    nodes: FloatArray,
    weights: FloatArray,
    most: float,
) -> tuple[FloatArray, float]:
    """Return the expected error times the probability of each number of records, and the steps.

    `below` has the laws of the number of records at the first values, `above` at the last ones.
    After more than `most` steps it is given up.
    """
    expected, steps = np.zeros(len(sizes)), 0.0
    values = len(value_errors)
    for which in range(len(sizes)):
        size = sizes[which]
        wanted = share * size
        first = max(math.ceil(wanted - reach), 0)
        last = min(math.floor(wanted + reach), size)
        width = max(last - first + 1, 0)
        entering, leaving = np.zeros((values, width)), np.zeros((values, width))
        for value in range(values):
            law = laws[law_begins[value] : law_begins[value + 1]]
            before = below[below_begins[value] : below_begins[value + 1]]
            beyond = above[above_begins[value + 1] : above_begins[value + 2]]
            lows = law_lows[value], below_lows[value], above_lows[value + 1]
            crossing, walked = _ends_of_walks(
                law, before, beyond, lows, first, last, size, entering[value], leaving[value]
            )
            expected[which] += crossing * value_errors[value]
            steps += walked
            if steps > most:
                return expected, steps
        if width == 0:
            continue
        accepted = np.empty(width)
        for rank in range(width):
            accepted[rank] = math.exp(log_acceptance(abs(wanted - first - rank), scale))
        inside = first == 0, last == size
        for node in range(len(nodes)):
            error, walked = _walk(
                laws,
                law_begins,
                law_lows,
                entering,
                leaving,
                gaps,
                value_errors,
                gap_errors,
                accepted,
                wanted - first,
                inside,
                flips,
                nodes[node],
                most - steps,
            )
            expected[which] += weights[node] * error
            steps += walked
            if steps > most:
                return expected, steps
    return expected, steps


@compiled
def _ends_of_walks(
    law: FloatArray,
    before: FloatArray,
    beyond: FloatArray,
    lows: tuple[int, int, int],
    first: int,
    last: int,
    size: int,
    entering: FloatArray,
    leaving: FloatArray,
) -> tuple[float, float]:
    """Write how often a value leads into the window, and out of it; return how often across.

    `before` and `beyond` are the laws of the records at lower and at higher values. The second
    number is that of the steps.
    """
    law_low, before_low, beyond_low = lows
    crossing, steps = 0.0, 0.0
    highest = law_low + len(law) - 1
    for rank in range(
        max(before_low, first - highest), min(before_low + len(before) - 1, last) + 1
    ):
        weight = before[rank - before_low] if rank < first else 1.0
        for count in range(max(law_low, first - rank), highest + 1):
            steps += 1
            chance, after = weight * law[count - law_low], rank + count
            rest = size - after - beyond_low
            if after <= last:
                if rank < first:
                    entering[after - first] += chance
            elif 0 <= rest < len(beyond):
                if rank < first:
                    crossing += chance * beyond[rest]
                else:
                    leaving[rank - first] += chance * beyond[rest]
    return crossing, steps


@compiled
def _walk(
    laws: FloatArray,
    law_begins: IntArray,
    law_lows: IntArray,
    entering: FloatArray,
    leaving: FloatArray,
    gaps: IntArray,
    value_errors: FloatArray,
    gap_errors: FloatArray,
    accepted: FloatArray,
    wanted: float,
    ends_inside: tuple[bool, bool],
    flips: bool,
    t: float,
    most: float,
) -> tuple[float, float]:
    """Return the integrand at `t`, summed over all ways through the window, and the steps.

    Ranks are counted from the window's first. `alone` has the expectation of the product of
    factors, by the rank so far, and `chosen` that with the errors. Walks start and end where there
    is no record and where there are all, if that is inside.
    """
    width = len(accepted)
    factor, chance = np.empty(width + 1), np.empty(width + 1)
    for rank in range(width + 1):
        # The last one is for a value that holds the wanted rank.
        p = accepted[rank] if rank < width else 1.0
        factor[rank] = 1 - t * p if flips else math.exp(-t * p)
        chance[rank] = p / (1 - t * p) if flips else p
    alone, chosen = np.zeros(width), np.zeros(width)
    inside, total, steps = ends_inside[0], 0.0, 0.0
    if inside:
        alone[0] = 1.0
    for value in range(len(gaps)):
        if inside and gaps[value] > 0:
            for rank in range(width):
                product = factor[rank] ** gaps[value]
                chosen[rank] = product * (
                    chosen[rank] + gap_errors[value] * chance[rank] * alone[rank]
                )
                alone[rank] *= product
        if value + 1 == len(gaps):
            break
        error, low = value_errors[value], law_lows[value]
        next_alone, next_chosen, entered = np.zeros(width), np.zeros(width), False
        for after in range(width):
            if entering[value, after] > 0.0:
                nearest = after if after < wanted else width
                product = entering[value, after] * factor[nearest]
                next_alone[after] = product
                next_chosen[after] = product * error * chance[nearest]
                entered = True
        if inside:
            high = low + law_begins[value + 1] - law_begins[value]
            for rank in range(width):
                if alone[rank] == 0.0:
                    continue
                nearest = rank if rank > wanted else width
                total += (
                    leaving[value, rank]
                    * factor[nearest]
                    * (chosen[rank] + error * chance[nearest] * alone[rank])
                )
                for count in range(low, min(high, width - rank)):
                    after = rank + count
                    if after < wanted:
                        nearest = after
                    elif rank > wanted or count == 0:
                        nearest = rank
                    else:
                        nearest = width
                    product = laws[law_begins[value] + count - low] * factor[nearest]
                    next_alone[after] += product * alone[rank]
                    next_chosen[after] += product * (
                        chosen[rank] + error * chance[nearest] * alone[rank]
                    )
                    entered = True
                    steps += 1
        if steps > most:
            break
        alone, chosen, inside = next_alone, next_chosen, entered
    if ends_inside[1]:
        total += chosen[width - 1]
    return total, steps
