"""Random partitions: every query is answered on its own block of the database.

What is public: the number of entries and the sizes of the blocks. What must stay secret: which
entry is in which block. The block of the critical entry is drawn with probability `n_k / n`, and
only its answer depends on the entry, so the delta of all answers together is at most the average
of the blocks' deltas (Theorem 5.1; Theorem 5.2 if entries are not alike).

*Where that is loose.* If all blocks count the same property, how many ones a block has tells
nothing more than how many there are in all: the likelihood ratio of the critical entry's two values
depends on the answers only through their sum. So the exact curve of the partition is that of one
query on all entries in use, however many blocks there are. The documentation has the proof.

Queries have to be symmetric; that is tried on the records, where nothing is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, at_most, share_of
from omit.errors import InvalidInput, Refused
from omit.laws.counts import LARGEST_TRIALS
from omit.statistical import assumptions, properties
from omit.statistical.composition import next_query
from omit.statistical.curve import Method, PrivacyCurve, averaged_curve, upper_bound
from omit.statistical.properties import property_curve
from omit.statistical.sampling import left_out_delta

Query: TypeAlias = Callable[[Any], float]
Records: TypeAlias = np.ndarray[Any, Any]

_MOST_BLOCKS = 10**7
# Entries of a database that is split.
_MOST_SPLIT = 10**8
# Moves that gain less than this, relative to what they cost, are rounding.
_TIE = 1e-9
# Random orders in which a query is tried on the same records.
_ORDERS = 12


@dataclass(frozen=True)
class Partition:
    """A secret random partition of `n` entries into blocks of given sizes.

    Parameters
    ----------
    n : int
        Entries of the database.
    sizes : sequence of int
        Sizes of the blocks, one per query; they may leave entries unused.

    Examples
    --------
    >>> partition = Partition.equal(n=32768, queries=64)
    >>> partition.sizes[:2], round(partition.standard_errors(0.5)[0], 6)
    ((512, 512), 0.021924)
    >>> partition.property_bound(0.5, 0.01).delta, partition.property_exact(0.5, 0.01).delta
    (array([0.03065095]), array([0.00110482]))
    """

    n: int
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        n = _validate.positive_integer("n", self.n, most=LARGEST_TRIALS)
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "sizes", assumptions.checked_blocks(self.sizes, self.n))

    @classmethod
    def equal(cls, n: int, queries: int) -> Partition:
        """Return blocks of equal size, up to one entry; all entries are used.

        Raises
        ------
        InvalidInput
            If there are more queries than entries.
        """
        count = _validate.positive_integer("queries", queries, most=_MOST_BLOCKS)
        return cls.by_importance(n, [1.0] * count)

    @classmethod
    def by_importance(
        cls, n: int, importance: Sequence[float], p: float | Sequence[float] = 0.5
    ) -> Partition:
        """Return the blocks that minimise the mean squared errors, weighted by importance.

        The error of a share among `s` entries is `p (1 - p) / s`, so the best sizes are
        proportional to `sqrt(importance * p (1 - p))`, up to what whole numbers allow.

        Examples
        --------
        >>> Partition.by_importance(100, [4, 1, 1]).sizes
        (50, 25, 25)
        """
        n = _validate.positive_integer("n", n, most=LARGEST_TRIALS)
        given = _validate.several("importances", importance)
        weights = [_validate.positive("importance", weight) for weight in given]
        if not weights:
            raise InvalidInput("Expected an importance above 0 for every query, at least one.")
        if len(weights) > n:
            raise InvalidInput(
                f"Expected at most n={n} queries, got {len(weights)}: a block needs an entry."
            )
        chances = assumptions.property_probabilities(p, len(weights))
        wanted = np.sqrt([w * c * (1 - c) for w, c in zip(weights, chances, strict=True)])
        # Every block gets one entry; the rest is shared, largest remainders first.
        exact = np.maximum(n * wanted / wanted.sum(), 1.0)
        sizes = np.maximum(np.floor(exact).astype(np.int64), 1)
        while sizes.sum() > n:
            sizes[int(np.argmax(sizes))] -= 1
        order = np.argsort(-(exact - sizes), kind="stable")
        for turn in range(n - int(sizes.sum())):
            sizes[order[turn % len(order)]] += 1
        _exchange(sizes, wanted**2)
        return cls(n, tuple(int(size) for size in sizes))

    @property
    def used(self) -> int:
        """How many entries are in a block."""
        return sum(self.sizes)

    def standard_errors(self, p: float | Sequence[float]) -> tuple[float, ...]:
        """Return by how much answered shares miss the shares in the whole database.

        The standard deviation `sqrt(p (1 - p) (1 / s - 1 / n))` of Example 2.
        """
        chances = assumptions.property_probabilities(p, len(self.sizes))
        return tuple(
            math.sqrt(c * (1 - c) * (1 / size - 1 / self.n))
            for size, c in zip(self.sizes, chances, strict=True)
        )

    def bound(self, curves: Sequence[PrivacyCurve]) -> PrivacyCurve:
        """Return the bound of Theorem 5.1 from one curve per block.

        `curves[k]` is the curve of query `k` on a database of the block's size, all at the same
        epsilons; any symmetric query with any noise will do. If some are simulated, the bound has
        the confidence that all of them hold together.

        Raises
        ------
        InvalidInput
            If the curves do not fit the blocks.
        """
        curves = _validate.several("curves", curves)
        for curve in curves:
            _validate.instance("every curve", curve, PrivacyCurve)
        if len(curves) != len(self.sizes):
            raise InvalidInput(
                f"Expected one curve per block, {len(self.sizes)} in all, got {len(curves)}."
            )
        epsilon = curves[0].epsilon
        if any(not np.array_equal(curve.epsilon, epsilon) for curve in curves):
            raise InvalidInput("Expected all curves at the same values of epsilon.")
        if any(curve.method == "as printed" for curve in curves):
            raise InvalidInput(
                "Expected curves that bound delta; a formula as printed in the paper does not."
            )
        total = self._average([curve.delta for curve in curves])
        # All of them have to hold together; a curve that serves several blocks misses only once.
        simulated = {id(curve): curve for curve in curves if curve.method == "simulated"}
        misses = math.fsum(1 - (curve.confidence or 0.0) for curve in simulated.values())
        method: Method = "simulated" if simulated else "upper bound"
        blocks = f"blocks of {_show_sizes(self.sizes)}"
        assumed = list(dict.fromkeys(curve.assumption for curve in curves))
        on_blocks = "on each" if len(assumed) == 1 else "on the blocks"
        return PrivacyCurve(
            epsilon,
            total,
            np.zeros(len(epsilon)),
            (),
            method,
            f"{self.n:,} independent identical entries in secret random {blocks}; "
            f"{on_blocks}: {' / '.join(assumed)}",
            confidence=max(1 - misses, 0.0) if simulated else None,
        )

    def property_bound(self, p: float | Sequence[float], epsilon: ArrayLike) -> PrivacyCurve:
        """Return the bound of Theorem 5.1 for property queries of these probabilities."""
        chances = assumptions.property_probabilities(p, len(self.sizes))
        epsilons = assumptions.ascending_epsilons(epsilon)
        kinds = set(zip(self.sizes, chances, strict=True))
        curves = {kind: property_curve(*kind, epsilons).delta for kind in kinds}
        total = self._average([curves[kind] for kind in zip(self.sizes, chances, strict=True)])
        return upper_bound(epsilons, total, self._assumption(chances))

    def _average(self, deltas: Sequence[FloatArray]) -> FloatArray:
        """Return the average of the blocks' deltas by their sizes, rounded up."""
        total = np.zeros(len(deltas[0]))
        for size, delta in zip(self.sizes, deltas, strict=True):
            total += share_of(size / self.n, delta)
        return np.minimum(at_most(total, (len(deltas) + 4) * 2.0**-52), 1.0)

    def property_exact(self, p: float, epsilon: ArrayLike) -> PrivacyCurve:
        """Return the exact curve where every block answers the same property.

        It also holds for different properties of the same probability that the critical entry has
        all or none of. If entries are unused, the critical one may be among them.
        """
        p = assumptions.property_probability(p)
        epsilons = assumptions.ascending_epsilons(epsilon)
        low, high = left_out_delta(self.n, self.used, p, epsilons)
        text = f"{self._assumption((p,))}; all blocks answer the same property"
        return averaged_curve(epsilons, low, high, text)

    def groups_bound(
        self,
        population: assumptions.Population,
        epsilon: ArrayLike,
        *,
        critical: int | None = None,
        runs: int = 2_000,
        rng: np.random.Generator | None = None,
    ) -> PrivacyCurve:
        """Return the bound of Theorem 5.2: the same property, entries not alike or known.

        `runs` and `rng` are for populations whose samples are too many to list.
        """
        _validate.instance("population", population, assumptions.Population)
        if population.n != self.n:
            raise InvalidInput(
                f"Expected a population of n={self.n} entries, it has {population.n}."
            )
        epsilons = assumptions.ascending_epsilons(epsilon)
        curve_of = partial(
            properties.sampled_groups_curve, critical=critical, conditional=True, runs=runs, rng=rng
        )
        curves = {size: curve_of(population, size, epsilons) for size in set(self.sizes)}
        bound = self.bound([curves[size] for size in self.sizes])
        text = f"{population}; secret random blocks of {_show_sizes(self.sizes)}"
        return replace(bound, assumption=text)

    def draw(self, rng: np.random.Generator) -> tuple[IntArray, ...]:
        """Return a random assignment of entries to blocks: their positions, block by block."""
        _validate.generator(rng)
        _validate.positive_integer("n", self.n, most=_MOST_SPLIT)
        order = rng.permutation(self.n)
        return tuple(np.split(order[: self.used], np.cumsum(self.sizes)[:-1]))

    def answer(
        self, records: Any, queries: Sequence[Query], rng: np.random.Generator
    ) -> tuple[float, ...]:
        """Split records at random and answer every query on its own block.

        Parameters
        ----------
        records : sequence or array
            The database, one record after the other.
        queries : sequence of callables
            Each takes the records of a block and returns a number. It must be symmetric: the order
            of the records must not matter.
        rng : Generator
            Its state must stay secret, as the partition must.

        Raises
        ------
        InvalidInput
            If there are not as many records or queries as planned.
        Refused
            If a query depends on the order of the records.

        Examples
        --------
        >>> partition = Partition(6, (3, 3))
        >>> partition.answer([1, 1, 1, 1, 1, 1], [np.mean, np.sum], np.random.default_rng(0))
        (1.0, 3.0)
        """
        data = self._checked_records(records)
        queries = _validate.several("queries", queries)
        if len(queries) != len(self.sizes):
            raise InvalidInput(
                f"Expected one query per block, {len(self.sizes)} in all, got {len(queries)}."
            )
        blocks = [data[positions] for positions in self.draw(rng)]
        for number, (query, block) in enumerate(zip(queries, blocks, strict=True), start=1):
            require_symmetric(query, data, block, number, rng)
        numbered = enumerate(zip(queries, blocks, strict=True), start=1)
        return tuple(_answer(query, block, number) for number, (query, block) in numbered)

    def answer_adaptively(
        self,
        records: Any,
        analyst: Callable[[tuple[float, ...]], Query],
        rng: np.random.Generator,
    ) -> tuple[float, ...]:
        """Answer queries that depend on the answers before, every one on its own block.

        Examples
        --------
        >>> def analyst(answers):
        ...     return np.mean if not answers or answers[-1] > 0.5 else np.sum
        >>> rng = np.random.default_rng(0)
        >>> Partition(6, (2, 2, 2)).answer_adaptively([0, 0, 0, 0, 0, 0], analyst, rng)
        (0.0, 0.0, 0.0)
        """
        data = self._checked_records(records)
        _validate.function("analyst", analyst)
        answers: tuple[float, ...] = ()
        for number, positions in enumerate(self.draw(rng), start=1):
            query, block = next_query(analyst, answers), data[positions]
            require_symmetric(query, data, block, number, rng)
            answers = (*answers, _answer(query, block, number))
        return answers

    def _checked_records(self, records: Any) -> Records:
        try:
            data = np.asarray(records)
        except ValueError as error:
            raise InvalidInput("Expected records that are all of one shape.") from error
        size = len(data) if data.ndim else 0
        if size != self.n:
            raise InvalidInput(f"Expected n={self.n} records, got {size}.")
        return data

    def _assumption(self, chances: Sequence[float]) -> str:
        kinds = sorted(set(chances))
        text = assumptions.describe(self.n, kinds[0])
        if len(kinds) > 1:
            text = (
                f"{self.n:,} independent identical entries, properties of probability "
                f"{', '.join(map(repr, kinds))}, none known to the adversary"
            )
        return f"{text}; secret random blocks of {_show_sizes(self.sizes)}"


def _exchange(sizes: IntArray, weights: FloatArray) -> None:
    """Move single entries between blocks while that lowers the sum of `weights / sizes`.

    Each term is convex in its size, so where no single move helps, nothing does.
    """
    while True:
        gain = weights / (sizes * (sizes + 1.0))
        loss = np.where(sizes > 1, weights / (sizes * np.maximum(sizes - 1.0, 1.0)), np.inf)
        to, away = int(np.argmax(gain)), int(np.argmin(loss))
        if gain[to] <= loss[away] * (1 + _TIE):
            return
        sizes[to] += 1
        sizes[away] -= 1


def _show_sizes(sizes: Sequence[int]) -> str:
    if len(set(sizes)) == 1 and len(sizes) > 1:
        return f"{sizes[0]:,} entries each, {len(sizes):,} of them"
    if len(sizes) > 6:
        return f"{min(sizes):,} to {max(sizes):,} entries, {len(sizes):,} of them"
    return f"{', '.join(f'{size:,}' for size in sizes)} entries"


def _answer(query: Query, block: Records, number: int) -> float:
    """Return the answer of a query, or refuse what is not a number."""
    _validate.function(f"query {number}", query)
    failure = f"Query {number} cannot be computed on its block"
    answer = _validate.outcome(failure, query, block)
    return _validate.finite(f"the answer of query {number}", answer)


def require_symmetric(
    query: Query, records: Records, block: Records, number: int, rng: np.random.Generator
) -> None:
    """Refuse a query whose answer changes with the order of the records.

    The order is tried on records, not on a proof: a query that passes is not thereby proved
    symmetric, but one that weights records by their position does not pass. It is tried on the
    block and on records as different as there are: a block of equal records has one order.
    """
    tried = [block, _different(records, len(block), rng)]
    for sample in tried:
        answer = _answer(query, sample, number)
        positions = np.arange(len(sample))
        orders = [positions[::-1], *(np.roll(positions, shift) for shift in (1, len(sample) // 2))]
        # As often as a position needs to hold a record of another kind, almost certainly.
        orders += [rng.permutation(len(sample)) for _ in range(_ORDERS)]
        for order in orders:
            other = _answer(query, sample[order], number)
            if not math.isclose(answer, other, rel_tol=1e-9, abs_tol=1e-12):
                raise Refused(
                    f"Query {number} depends on the order of the records; a random partition needs "
                    "symmetric queries, such as counts, sums, means and quantiles."
                )


def _different(records: Records, size: int, rng: np.random.Generator) -> Records:
    """Return `size` records, every kind about as often as any other, in random order."""
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
