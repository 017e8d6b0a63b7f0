"""The expected error of a choice after an omission, by a transfer product along the sorted values.

A point is chosen as `exact.choice` says. If records are kept independently, the counts `K_v` that
are left are independent binomials; in samples of one size they are the same, given their sum. Given
the number `n` of records that are left, the wanted rank is known, and the ranks below the values
are a random walk: the integrand of `P(x)` is a product of one factor for each gap and each value,
and a factor depends only on where the walk is before and after it. So its expectation is a product
of matrices, for each `n` and each node `t`. All terms are positive: no digits are lost.

The nodes are 16 of Gauss on each of the intervals `[0, 1/W]`, `[1/W, 2/W]`, `[2/W, 4/W]`, ... up to
1, or to 48 for the exponential mechanism, `W` the number of points. There `|1 - z p| <= 1` in the
disc `|1 - z| <= 1`, and `|e^(-z p)| <= 1` in the right half-plane. Both hold the ellipse around an
interval `[a, 2a]` (with `a <= 1/2` in the disc) whose half-axes sum to `3 + √8` half-lengths, so
the rule is off by less than `5 a (3 + √8)^-32 < 2e-24 a`. On the first interval the integrand is
below `e^3.1` on the ellipse with the sum 10. The integral itself is at least `1/(W + 1)`: the rule
is off by less than 1e-15 of it. Permute-and-flip's integrand is a polynomial of degree `W - 1` on
[0, 1]; if fewer nodes are exact for that, these are taken.
"""

from __future__ import annotations

import math

import numpy as np

from omit._compile import compiled
from omit._numeric import FloatArray, IntArray, as_array, gauss_legendre
from omit.errors import NotExact
from omit.exact.choice import Choice, Lattice, log_acceptance

_PANEL_NODES = 16
_LAST = 48.0
# Numbers of records that are as rare as this are left out.
_RARE = 1e-19
# Above this many steps of the random walk a transfer product takes more than about a second.
MOST_STEPS = 300_000_000
QUICK_STEPS = 10_000_000


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
    nodes, weights = _walk_nodes(lattice.last + 1, choice.flips)
    steps_per_rank = len(nodes) * int((counts + 1).sum())
    usual = float(counts @ inclusion) if size is None else size
    _require_few(steps_per_rank * usual, quick)
    laws = [
        _binomial(int(count), float(keep)) for count, keep in zip(counts, inclusion, strict=True)
    ]
    total = np.ones(1)
    for law in laws:
        total = np.convolve(total, law)
    sizes = np.flatnonzero(total > _RARE) if size is None else np.array([size])
    _require_few(steps_per_rank * float((sizes + 1).sum()), quick)
    begins = np.concatenate([[0], np.cumsum([len(law) for law in laws])])
    gaps = np.diff(lattice.values, prepend=-1, append=lattice.last + 1) - 1
    expected = _walks(
        np.concatenate(laws),
        begins,
        gaps,
        *error_sums,
        sizes,
        choice.share,
        choice.scale,
        choice.flips,
        nodes,
        weights,
    )
    if size is not None:
        return float(expected[0] / total[size]), 0.0
    return float(expected.sum()), _RARE * len(total)


def _require_few(steps: float, quick: bool) -> None:
    """Refuse a walk of more steps than are worth it."""
    if steps > (QUICK_STEPS if quick else MOST_STEPS):
        raise NotExact(
            f"a transfer product along the sorted values would take {steps:.1g} steps; samples are "
            "drawn, noise is integrated"
        )


def _binomial(count: int, keep: float) -> FloatArray:
    """Return the probabilities of 0, 1, ..., `count`."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(count + 1)
    logarithms = gammaln(count + 1) - gammaln(k + 1) - gammaln(count - k + 1)
    law = np.exp(logarithms + xlogy(k, keep) + xlog1py(count - k, -keep))
    return as_array(law / law.sum())


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
    begins: IntArray,
    gaps: IntArray,
    value_errors: FloatArray,
    gap_errors: FloatArray,
    sizes: IntArray,
    share: float,
    scale: float,
    flips: bool,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return the expected error times the probability of each number of records."""
    expected = np.zeros(len(sizes))
    for which in range(len(sizes)):
        size = sizes[which]
        accepted = np.empty(size + 1)
        for rank in range(size + 1):
            accepted[rank] = math.exp(log_acceptance(abs(share * size - rank), scale))
        for node in range(len(nodes)):
            expected[which] += weights[node] * _walk(
                laws,
                begins,
                gaps,
                value_errors,
                gap_errors,
                size,
                share,
                accepted,
                flips,
                nodes[node],
            )
    return expected


@compiled
def _walk(
    laws: FloatArray,
    begins: IntArray,
    gaps: IntArray,
    value_errors: FloatArray,
    gap_errors: FloatArray,
    size: int,
    share: float,
    accepted: FloatArray,
    flips: bool,
    t: float,
) -> float:
    """Return the integrand at `t` for a number of records, summed over all ways to keep them.

    `alone` has the expectation of the product, `chosen` that with the errors, by the rank so far.
    """
    wanted = share * size
    factor, chance = np.empty(size + 2), np.empty(size + 2)
    for rank in range(size + 1):
        p = accepted[rank]
        factor[rank] = 1 - t * p if flips else math.exp(-t * p)
        chance[rank] = p / (1 - t * p) if flips else p
    # The last one is for a value that holds the wanted rank.
    factor[size + 1] = 1 - t if flips else math.exp(-t)
    chance[size + 1] = 1 / (1 - t) if flips else 1.0
    alone, chosen = np.zeros(size + 1), np.zeros(size + 1)
    alone[0] = 1.0
    for index in range(len(gaps)):
        if gaps[index] > 0:
            for rank in range(size + 1):
                product = factor[rank] ** gaps[index]
                chosen[rank] = product * (
                    chosen[rank] + gap_errors[index] * chance[rank] * alone[rank]
                )
                alone[rank] *= product
        if index + 1 == len(gaps):
            break
        law, error = laws[begins[index] : begins[index + 1]], value_errors[index]
        next_alone, next_chosen = np.zeros(size + 1), np.zeros(size + 1)
        for rank in range(size + 1):
            if alone[rank] == 0.0:
                continue
            for count in range(min(len(law), size - rank + 1)):
                if law[count] == 0.0:
                    continue
                end = rank + count
                if end < wanted:
                    nearest = end
                elif rank > wanted or count == 0:
                    nearest = rank
                else:
                    nearest = size + 1
                product = law[count] * factor[nearest]
                next_alone[end] += product * alone[rank]
                next_chosen[end] += product * (chosen[rank] + error * chance[nearest] * alone[rank])
        alone, chosen = next_alone, next_chosen
    return float(chosen[size])
