"""Permute-and-flip: choosing the best candidate privately (McKenna and Sheldon 2020).

Candidates come in a random order; each is accepted with probability e^(epsilon (score - best)/2),
and the first accepted one is chosen. Give the candidates independent uniform arrival times t:
candidate i with acceptance probability p_i is chosen with probability

    p_i ∫ Π_(j ≠ i) (1 - t p_j) dt,   t from 0 to 1,

because everybody who came before i must have been rejected. Equal candidates can be counted instead
of listed. The choice is also the largest of `score + Exp(2/epsilon)` (Ding, Kifer et al. 2021), and
the largest of n exponentials is one draw: so donors are chosen without looking at all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array, gauss_legendre
from omit.errors import InvalidInput

# With x = t Σ p_j the integrand falls like e^-x and no derivative exceeds 1. Beyond x = 48 nothing
# is left, and up to there n = 36 nodes of Gauss are off by at most
# 48^(2n + 1) (n!)^4 / ((2n + 1) (2n)!^3) < 1e-24.
_LAST, _NODES = 48.0, 36


def level_probabilities(numbers: ArrayLike, acceptance: ArrayLike) -> FloatArray:
    """Return the probability that the choice falls on each level of equal candidates.

    Parameters
    ----------
    numbers : array
        How many candidates each level has; several rows are several choices.
    acceptance : array
        The acceptance probability of each level as a weight: only ratios count, because the best
        level that has candidates is accepted for certain.

    Raises
    ------
    InvalidInput
        If some choice has no candidates.

    Examples
    --------
    Two candidates, the second accepted with probability ½: it is chosen if it comes first and is
    accepted, so with probability ¼.

    >>> level_probabilities([1, 1], [1.0, 0.5]).round(12)
    array([0.75, 0.25])
    """
    counts = np.atleast_2d(as_array(numbers))
    if counts.ndim != 2 or not (np.isfinite(counts) & (counts >= 0)).all():
        raise InvalidInput(
            "Expected numbers of candidates of at least 0, in a row for each choice."
        )
    if not (np.isfinite(as_array(acceptance)) & (as_array(acceptance) >= 0)).all():
        raise InvalidInput("Expected acceptance probabilities to be finite and at least 0.")
    if as_array(acceptance).shape not in ((), counts.shape[1:], counts.shape):
        raise InvalidInput(f"Expected an acceptance for each of the {counts.shape[1]} levels.")
    weights = np.broadcast_to(as_array(acceptance), counts.shape)
    best = np.where(counts > 0, weights, 0.0).max(axis=1, keepdims=True)
    if (best <= 0).any():
        raise InvalidInput("Expected at least one candidate to choose from.")
    p = np.where(counts > 0, weights / best, 0.0)
    total = (counts * p).sum(axis=1, keepdims=True)
    points, node_weights = gauss_legendre(_NODES)
    end = np.minimum(1.0, _LAST / total) / 2
    t = end * (points + 1)  # (choices, nodes)
    log_all = np.zeros_like(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        for level in range(counts.shape[1]):
            log_all += counts[:, level, None] * np.log1p(-t * p[:, level, None])
        chances = np.stack(
            [
                counts[:, level]
                * p[:, level]
                * end[:, 0]
                * (np.exp(log_all) / (1 - t * p[:, level, None]) @ node_weights)
                for level in range(counts.shape[1])
            ],
            axis=1,
        )
    chances /= chances.sum(axis=1, keepdims=True)
    return chances if np.ndim(numbers) > 1 else chances[0]


def selection_probabilities(scores: ArrayLike, epsilon: float) -> FloatArray:
    """Return the exact law of permute-and-flip over single candidates with scores in a row.

    The sensitivity of the scores is taken as 1.

    Examples
    --------
    >>> selection_probabilities([0.0, 0.0], epsilon=1.0)
    array([0.5, 0.5])
    """
    row, epsilon = as_array(scores), _validate.epsilon(epsilon)
    if row.ndim != 1 or not row.size or not np.isfinite(row).all():
        raise InvalidInput("Expected finite scores in a row.")
    return level_probabilities(np.ones_like(row), np.exp(epsilon / 2 * (row - row.max())))


def choose_donors(
    records: IntArray, quasi_identifiers: ArrayLike, epsilon: float, rng: np.random.Generator
) -> IntArray:
    """Return for every record the position of its donor, chosen by permute-and-flip.

    Donors are other records; the discrepancy is the share of the attributes that are not
    quasi-identifiers in which two records differ. Time grows with the number of *different*
    combinations of those attributes times the number of records at worst, memory with the records.

    Parameters
    ----------
    records : array
        One row of category positions for every record.
    quasi_identifiers : sequence of int
        Which columns are quasi-identifiers.
    epsilon : float
        Of the choice.
    rng : Generator
        Where randomness comes from.

    Examples
    --------
    >>> records = np.array([[0, 0], [1, 0], [2, 1]])
    >>> choose_donors(records, [0], 100.0, np.random.default_rng(0))[:2]
    array([1, 0])
    """
    epsilon = _validate.epsilon(epsilon)
    _validate.instance("rng", rng, np.random.Generator)
    codes, swapped = as_array(records), as_array(quasi_identifiers).reshape(-1)
    if codes.ndim != 2 or not (codes == np.floor(codes)).all() or (np.abs(codes) > 1e9).any():
        raise InvalidInput("Expected a row of category positions for every record.")
    if not np.isin(swapped, np.arange(codes.shape[1])).all():
        raise InvalidInput(f"Expected quasi-identifiers among the {codes.shape[1]} columns.")
    records = codes.astype(np.int64)
    if len(records) < 2:
        raise InvalidInput("Expected at least two records: a donor is another record.")
    rest = np.delete(records, swapped.astype(np.int64), axis=1)
    if rest.shape[1] == 0:
        rest = np.zeros((len(records), 1), dtype=np.int64)
    profiles, profile_of = np.unique(rest, axis=0, return_inverse=True)
    order = np.argsort(profile_of.reshape(-1), kind="stable")
    counts = np.bincount(profile_of.reshape(-1), minlength=len(profiles))
    from omit.disclosure.swapping_exact import donors_in_order

    chosen_in_order = donors_in_order(
        np.ascontiguousarray(profiles.astype(np.int32)),
        counts.astype(np.int64),
        float(epsilon),
        rng,
    )
    donors = np.empty(len(records), dtype=np.int64)
    donors[order] = order[chosen_in_order]
    return donors
