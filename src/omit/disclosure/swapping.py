"""Swapping: a record's quasi-identifiers are replaced by those of a similar record.

Every record is a target with probability `rate`; its donor is another record of the original data
with the smallest discrepancy, or one chosen by permute-and-flip (Das et al., Equation 2). The
discrepancy is the share of the attributes that are not quasi-identifiers in which two records
differ; those attributes are released as they are.

Records with the same attributes have the same law, so all is computed on cells: the release of a
cell's records is multinomial, and a cell of the release is a sum of independent binomials.

Permute-and-flip (McKenna and Sheldon 2020)
-------------------------------------------
Candidates come in a random order; one is accepted with probability e^(epsilon (score - best)/2),
and the first accepted one is chosen. Give the candidates independent uniform arrival times t:
candidate i with acceptance probability p_i is chosen with probability

    p_i ∫ Π_(j ≠ i) (1 - t p_j) dt,   t from 0 to 1,

because everybody who came before i must have been rejected. Equal candidates can be counted instead
of listed. The choice is also the largest of `score + Exp(2/epsilon)` (Ding, Kifer et al. 2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array, gauss_legendre
from omit.disclosure.protection import (
    CHANGE_QUASI_IDENTIFIERS,
    CellErrors,
    Protection,
    PublishedBound,
    blocks,
    require_runs,
)
from omit.disclosure.swapping_exact import Donor, SwapRule, swapping_guarantee
from omit.disclosure.table import CountTable, Universe, chosen, require_table
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee, NoGuarantee, Relation

_MOST_NUMBERS = 100_000_000
# With x = t Σ p_j the integrand falls like e^-x and no derivative exceeds 1. Beyond x = 48 nothing
# remains, and up to there n = 36 nodes of Gauss are off by at most
# 48^(2n + 1) (n!)^4 / ((2n + 1) (2n)!^3) < 1e-24.
_LAST, _NODES = 48.0, 36


@dataclass(frozen=True, eq=False)
class SwapLaw:
    """What swapping does to the records of every occupied cell.

    Parameters
    ----------
    cells : array of int
        Flat positions of the occupied cells.
    counts : array of int
        Their records.
    targets : array of int
        A row of flat positions per cell: where a record goes with a combination of
        quasi-identifiers.
    chances : array
        A row of probabilities per cell, one per combination; swapped or not.
    """

    cells: IntArray
    counts: IntArray
    targets: IntArray
    chances: FloatArray

    def draw(self, cells: int, rng: np.random.Generator, runs: int) -> FloatArray:
        """Return the counts of all cells after swapping, one row per run."""
        released = np.zeros((runs, cells))
        chances = self.chances / self.chances.sum(axis=1, keepdims=True)
        for run in range(runs):
            np.add.at(released[run], self.targets, rng.multinomial(self.counts, chances))
        return released


@dataclass(frozen=True)
class Swapping(SwapRule, Protection):
    """Give every record, with probability `rate`, the quasi-identifiers of the nearest record.

    The parameters are those of `SwapRule`. Under "replace" whatever is not a quasi-identifier is
    released unchanged. Under "change-quasi-identifiers" delta is exact for up to five records, if
    a cell can hold all of them, and else an upper bound; beyond that, a lower bound is proved for
    every epsilon.

    Examples
    --------
    >>> from omit.disclosure.table import Attribute
    >>> sex, town = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B"))
    >>> swapping = Swapping(("sex",), rate=0.25)
    >>> print(swapping.guarantee(Universe((sex, town), records=100)))
    no guarantee: no (ε, δ) with δ < 1: town is released as it is.
    """

    key: ClassVar[str] = "swapping"
    relations: ClassVar[tuple[Relation, ...]] = (REPLACE, CHANGE_QUASI_IDENTIFIERS)

    def __str__(self) -> str:
        swapped = ", ".join(self.quasi_identifiers)
        donors = "" if self.donor == "another record" else " for other values"
        return f"swapping {swapped}{donors} at rate {self.rate:g}"

    def law(self, table: CountTable) -> SwapLaw:
        """Return what happens to the records of every occupied cell."""
        matrix, positions, sizes = _profiles(require_table(table), self.quasi_identifiers)
        sums = level_sums(matrix, sizes)
        rows, quasi = np.nonzero(matrix)
        if len(rows) * sums[0].size > _MOST_NUMBERS:
            raise InvalidInput(
                f"Swapping {', '.join(self.quasi_identifiers)} has {matrix.shape[1]:,} values in "
                f"{len(rows):,} occupied cells, too many to hold; swap attributes with fewer "
                "categories, or bins."
            )
        candidates = sums[rows]  # (occupied cells, levels, combinations)
        index = np.arange(len(rows))
        if self.donor == "another record":
            candidates[index, 0, quasi] -= 1
        else:
            candidates[index, :, quasi] = 0
        chances = np.zeros((len(rows), matrix.shape[1]))
        some = candidates.sum(axis=(1, 2)) > 0
        if self.ties == "first":
            profiles = np.stack(np.unravel_index(np.arange(len(matrix)), sizes or [1]), axis=1)
            chances[some] = _first(matrix, positions, profiles, rows[some], quasi[some], self.donor)
        elif some.any():
            chances[some] = self.donor_chances(candidates[some])
        chances *= self.rate
        chances[index, quasi] += np.where(some, 1 - self.rate, 1.0)  # without donor, unchanged
        return SwapLaw(positions[rows, quasi], matrix[rows, quasi], positions[rows], chances)

    def _guarantee(self, universe: Universe, neighbours: Relation) -> Guarantee | NoGuarantee:
        return swapping_guarantee(self, universe, neighbours, epsilon=0.0)

    def guarantee_if_less_changes(self, universe: Universe) -> Guarantee | NoGuarantee | None:
        """Return what is promised if only quasi-identifiers change; None if nothing else can."""
        if not self.kept_attributes(universe):
            return None
        return self.guarantee(universe, CHANGE_QUASI_IDENTIFIERS)

    def _errors(self, table: CountTable) -> CellErrors:
        law = self.law(table)
        bias, variance = self.bias_and_variance(table, law)
        return CellErrors(bias, variance, _absolute_errors(law, table))

    def bias_and_variance(
        self, table: CountTable, law: SwapLaw | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return bias and variance of all cells, which is quicker than all `errors`."""
        law = law or self.law(table)
        mean, variance = np.zeros(table.cells), np.zeros(table.cells)
        np.add.at(mean, law.targets, law.counts[:, None] * law.chances)
        np.add.at(variance, law.targets, law.counts[:, None] * law.chances * (1 - law.chances))
        return mean - as_array(table.flat), variance

    def _draw(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray:
        return self.law(table).draw(table.cells, rng, runs)

    def simulate_in_blocks(
        self, table: CountTable, rng: np.random.Generator, runs: int
    ) -> Iterator[FloatArray]:
        """Give releases in blocks; the law is computed once."""
        runs, law = require_runs(table, runs), self.law(table)
        for block in blocks(runs, table.cells):
            yield law.draw(table.cells, rng, block)


@dataclass(frozen=True)
class RandomisedSwapping(Swapping):
    """Swapping whose donors are chosen by permute-and-flip (the paper's Equation 2).

    Parameters
    ----------
    epsilon : float
        Of the choice of a donor; the discrepancy has sensitivity 1.

    Examples
    --------
    Theorem 3 of the paper, which is false as stated, and the answer:

    >>> from omit.disclosure.table import Attribute
    >>> sex, town = Attribute("sex", ("F", "M", "?")), Attribute("town", ("A", "B"))
    >>> swapping = RandomisedSwapping(("sex",), rate=1.0, epsilon=0.1)
    >>> round(swapping.published_delta(records=3), 3)
    0.698
    >>> swapping.guarantee(Universe((sex, town), records=3), CHANGE_QUASI_IDENTIFIERS)
    Guarantee(epsilon=0.1, delta=0.7621926..., neighbours='change-quasi-identifiers')
    """

    key: ClassVar[str] = "randomised swapping"
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))
        if self.epsilon == 0:
            raise InvalidInput("Expected epsilon above 0 for permute-and-flip.")
        if self.ties != "random":
            raise InvalidInput(
                "Expected ties='random': permute-and-flip chooses equal donors equally often."
            )

    def __str__(self) -> str:
        return f"randomised {super().__str__()}"

    def _guarantee(self, universe: Universe, neighbours: Relation) -> Guarantee | NoGuarantee:
        return swapping_guarantee(self, universe, neighbours, self.epsilon)

    def donor_chances(self, candidates: FloatArray) -> FloatArray:
        """Return the law of the donor's quasi-identifiers under permute-and-flip."""
        numbers = candidates.sum(axis=2)
        width = max(1, numbers.shape[1] - 1)
        # Cells of one profile have the same numbers: a choice is computed once.
        different, which = np.unique(numbers, axis=0, return_inverse=True)
        nearest = (different > 0).argmax(axis=1, keepdims=True)
        farther = np.maximum(0, np.arange(numbers.shape[1]) - nearest)
        acceptance = np.exp(-self.epsilon / 2 * farther / width)
        by_level = level_probabilities(different, acceptance)[which.reshape(-1)]
        per_record = np.divide(by_level, numbers, out=np.zeros_like(by_level), where=numbers > 0)
        return as_array(np.einsum("cl,clq->cq", per_record, candidates))

    def published_bounds(self, table: CountTable) -> tuple[PublishedBound, ...]:
        """Return Proposition 1 and Theorems 4 and 6 of the paper."""
        m = float(table.size)
        share = math.exp(-self.epsilon / 2) / m
        return (
            PublishedBound("Proposition 1", "smallest bias", self.rate * (share - m**2)),
            PublishedBound("Proposition 1", "largest bias", self.rate * m**2),
            PublishedBound("Theorem 4", "sum of biases", self.rate * m**3),
            PublishedBound("Theorem 6", "fairness", self.rate * m**3),
        )

    def published_delta(self, records: int) -> float:
        """Return delta by Theorem 3 of the paper, which is false as stated (see the errata)."""
        share = math.exp(-self.epsilon / 2) / _validate.positive_integer("records", records)
        gamma = 1 - self.rate
        return 1 - 2 * gamma * (1 - gamma) * share - 3 * ((1 - gamma) * share) ** 2


def _profiles(
    table: CountTable, quasi_identifiers: Sequence[str]
) -> tuple[IntArray, IntArray, list[int]]:
    """Return counts and flat positions as profiles x quasi-identifiers, and the profiles' sizes."""
    quasi = chosen(table.attributes, quasi_identifiers, "quasi-identifier")
    rest = [position for position in range(len(table.shape)) if position not in quasi]
    order = [*rest, *quasi]
    width = math.prod(table.shape[position] for position in quasi)
    counts = np.transpose(table.counts, order).reshape(-1, width)
    flat = np.arange(table.cells).reshape(table.shape)
    positions = np.transpose(flat, order).reshape(-1, width)
    return counts, positions, [table.shape[position] for position in rest]


def level_sums(counts: IntArray, sizes: Sequence[int]) -> FloatArray:
    """Return for every profile, level and quasi-identifier how many records there are.

    The level is the number of attributes in which two profiles differ. Attributes are taken one
    at a time: a record either agrees in the next one, or differs and is one level up.

    Examples
    --------
    >>> level_sums(np.array([[3], [5]]), [2])[:, :, 0]
    array([[3., 5.],
           [5., 3.]])
    """
    levels = len(sizes) + 1
    sums = np.zeros((levels, *sizes, counts.shape[1]))
    sums[0] = counts.reshape(*sizes, counts.shape[1])
    for axis in range(1, levels):
        differing = sums.sum(axis=axis, keepdims=True) - sums
        sums[1:] += differing[:-1]
    return np.moveaxis(sums.reshape(levels, -1, counts.shape[1]), 0, 1)


def _first(
    matrix: IntArray,
    positions: IntArray,
    profiles: IntArray,
    rows: IntArray,
    quasi: IntArray,
    donor: Donor,
) -> FloatArray:
    """Return the law of a fixed donor: the first of the nearest records in the order of cells."""
    chances = np.zeros((len(rows), matrix.shape[1]))
    for position, (row, own) in enumerate(zip(rows, quasi, strict=True)):
        available = matrix.copy()
        if donor == "another record":
            available[row, own] -= 1
        else:
            available[:, own] = 0
        mismatch = (profiles != profiles[row]).sum(axis=1)
        mismatch = np.where(available.sum(axis=1) > 0, mismatch, profiles.shape[1] + 1)
        near = mismatch == mismatch.min()
        candidates = np.where((available > 0) & near[:, None], positions, positions.max() + 1)
        chances[position, np.unravel_index(candidates.argmin(), candidates.shape)[1]] = 1.0
    return chances


def _absolute_errors(law: SwapLaw, table: CountTable) -> FloatArray:
    """Return E|released - true| of every cell, a sum of one binomial per cell it can be from.

    Cells of one profile have the same targets, and records that come from the same cells.
    """
    from omit.laws.counts import mean_distances

    result = np.zeros(table.cells)
    if not len(law.cells):
        return result
    order = np.argsort(law.targets[:, 0], kind="stable")
    starts = np.flatnonzero(np.diff(law.targets[order, 0], prepend=-1))
    targets = law.targets[order[starts]]
    result[targets] = mean_distances(
        law.counts[order],
        law.chances[order],
        np.append(starts, len(order)),
        table.flat[targets],
    )
    return result


def level_probabilities(numbers: ArrayLike, acceptance: ArrayLike) -> FloatArray:
    """Return the probabilities that the choice falls on levels of equal candidates.

    Parameters
    ----------
    numbers : array
        How many candidates the levels have; several rows are several choices.
    acceptance : array
        The acceptance probabilities of the levels as weights: only ratios count, because the best
        level that has candidates is accepted for certain. A choice without candidates is refused.

    Examples
    --------
    Two candidates, the second accepted with probability ½: it is chosen if it comes first and is
    accepted, so with probability ¼.

    >>> level_probabilities([1, 1], [1.0, 0.5]).round(12)
    array([0.75, 0.25])
    """
    counts = np.atleast_2d(as_array(numbers))
    if counts.ndim != 2 or not (np.isfinite(counts) & (counts >= 0)).all():
        raise InvalidInput("Expected numbers of candidates of at least 0, in one row per choice.")
    if not (np.isfinite(as_array(acceptance)) & (as_array(acceptance) >= 0)).all():
        raise InvalidInput("Expected acceptance probabilities to be finite and at least 0.")
    if as_array(acceptance).shape not in ((), counts.shape[1:], counts.shape):
        raise InvalidInput(f"Expected acceptance probabilities for all {counts.shape[1]} levels.")
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
