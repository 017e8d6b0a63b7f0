"""Permute-and-flip: choosing the best candidate privately (McKenna and Sheldon 2020).

Candidates come in a random order; each is accepted with probability e^(epsilon (score - best)/2),
and the first accepted one is chosen. Give the candidates independent uniform arrival times t:
candidate i with acceptance probability p_i is chosen with probability

    p_i ∫ Π_(j ≠ i) (1 - t p_j) dt,   t from 0 to 1,

because everybody who came before i must have been rejected. Equal candidates can be counted instead
of listed. The choice is also the largest of `score + Exp(2/epsilon)` (Ding, Kifer et al. 2021).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array, gauss_legendre
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
