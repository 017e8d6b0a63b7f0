"""Whether a query is symmetric: what can be tried on records, where nothing is proved."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from omit.errors import Refused

Query: TypeAlias = Callable[[Any], float]

# Random orders in which a query is tried on the same records.
_ORDERS = 12


def require_symmetric(
    query: Query,
    records: np.ndarray[Any, Any],
    block: np.ndarray[Any, Any],
    number: int,
    rng: np.random.Generator,
) -> None:
    """Refuse a query whose answer changes with the order of the records.

    The order is tried on records, not on a proof: a query that passes is not thereby proved
    symmetric, but one that weights records by their place does not pass. It is tried on the block
    and on records as different as there are, because a block of equal records has one order.
    """
    tried = [block, _different(records, len(block), rng)]
    for sample in tried:
        answer = float(query(sample))
        places = np.arange(len(sample))
        orders = [places[::-1], *(np.roll(places, shift) for shift in (1, len(sample) // 2))]
        # As often as a place needs to hold a record of another kind, almost surely.
        orders += [rng.permutation(len(sample)) for _ in range(_ORDERS)]
        for order in orders:
            other = float(query(sample[order]))
            if not math.isclose(answer, other, rel_tol=1e-9, abs_tol=1e-12):
                raise Refused(
                    f"Query {number} depends on the order of the records; a random partition needs "
                    "symmetric queries, such as counts, sums, means and quantiles."
                )


def _different(
    records: np.ndarray[Any, Any], size: int, rng: np.random.Generator
) -> np.ndarray[Any, Any]:
    """Return so many records, each kind about as often as any other, in random order."""
    try:
        _, kind = np.unique(records, axis=0 if records.ndim > 1 else None, return_inverse=True)
    except TypeError:
        # Records that cannot be sorted are taken as all different.
        kind = np.arange(len(records))
    kind = kind.reshape(-1)
    shuffled = rng.permutation(len(records))
    # The first of every kind, then the second of every kind, and so on.
    order = shuffled[np.argsort(kind[shuffled], kind="stable")]
    sorted_kind = kind[order]
    begins = np.flatnonzero(np.diff(sorted_kind, prepend=-1))
    turn = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    chosen = order[np.argsort(turn, kind="stable")][:size]
    return np.asarray(records[rng.permutation(chosen)])
