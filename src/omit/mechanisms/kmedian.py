"""Private k-median: local search in which every swap is drawn by the exponential mechanism.

How swaps are drawn is in `swaps`. Records that are equal are counted, not repeated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit._text import usable
from omit.data.points import Points
from omit.errors import InvalidInput
from omit.guarantee import ADD_REMOVE, Guarantee, NoNoiseNeeded
from omit.laws.design import Positions
from omit.mechanisms.base import Promise
from omit.mechanisms.clustering import (
    ClusteringMechanism,
    Metric,
    PreparedClustering,
    farthest_squares,
)
from omit.mechanisms.swaps import (
    Indices,
    Records,
    Tree,
    assign,
    choose,
    distances_to,
    local_search,
    records_of,
    tree_of,
)

Weights = Literal["gupta", "monotone"]
Final = Literal["own", "next"]

# Candidates that a table of centres may be chosen from.
_LARGEST_GRID = 10_000_000
# Proposals of every swap that have random numbers of their own.
_EARLY = 8
_MANY = 1_000_000
# The factor of costs where no noise is needed: only the best swaps have any weight.
_GREEDY = 1e300


@dataclass(frozen=True, eq=False)
class Medians:
    """Protected centres, one in each row, and their average cost, which is not private."""

    centres: FloatArray
    average_cost: float


@dataclass(frozen=True)
class PrivateKMedian(ClusteringMechanism):
    """Swap centres at random, good swaps more probably, and report one of the sets on the way.

    Algorithm 2 of Gupta et al.: from any `k` of the declared candidates, `T = 6 k ln |V|` swaps,
    each drawn with probability proportional to `exp(-epsilon' cost)`, where the cost is the sum of
    all records' distances to their nearest centre after the swap; then one of the `T + 1` sets,
    drawn in the same way by its cost. Distances are those of points scaled by their declared
    bounds, divided by the diagonal of the cube, so that one record changes a cost by at most 1.

    At ordinary epsilon the factor `epsilon'` is so small (.0022 at epsilon = 1, `k` = 4 and 10,000
    candidates) that choices are nearly uniform: the result is hardly better than centres drawn at
    random.

    Parameters
    ----------
    k, metric
        As for all clusterings.
    candidates : int or sequence of sequences of float
        Where centres may be: a grid of so many values in each column, both bounds included, or
        given points in the units of the columns. Declared, never taken from the data.
    weights : {"gupta", "monotone"}
        ``"gupta"`` is `epsilon' = epsilon / (2 (T + 1))`. ``"monotone"`` is twice that: under
        add-remove one more record makes every cost larger or leaves it, so numerator and
        denominator of a choice's probability move the same way, and the factor 2 is not needed.
    swaps : int, optional
        `T`, if not `6 k ln |V|`, rounded up. Declared, never taken from the data: fewer swaps leave
        a larger `epsilon'` for each.
    final : {"own", "next"}
        Whether each of the sets is reported by its own cost, or by that of the set after it (the
        last one by its own), as in the omitting-records experiments. Both are private.

    References
    ----------
    Gupta, Ligett, McSherry, Roth and Talwar, "Differentially private combinatorial optimization",
    SODA 2010.

    Examples
    --------
    >>> from omit import Guarantee
    >>> mechanism = PrivateKMedian(k=4)
    >>> mechanism.steps(candidates=100**2)
    222
    >>> round(mechanism.rate(Guarantee(1.0), candidates=100**2), 6)
    0.002242
    >>> published = PrivateKMedian.published()
    >>> published.swaps, round(published.rate(Guarantee(1.0), candidates=100**2), 6)
    (110, 0.004505)
    """

    k: int = 4
    candidates: int | Sequence[Sequence[float]] = 100
    weights: Weights = "gupta"
    swaps: int | None = None
    final: Final = "own"
    metric: Metric = "all"

    statistic: ClassVar[str] = "kmedian"
    metric_name: ClassVar[str] = "average cost"
    unit: ClassVar[str] = "distance"
    published_runs: ClassVar[int] = 20

    def __post_init__(self) -> None:
        self._check_metric()
        object.__setattr__(self, "k", _validate.positive_integer("k", self.k))
        _validate.one_of("weights", self.weights, get_args(Weights))
        _validate.one_of("final", self.final, get_args(Final))
        if self.swaps is not None:
            object.__setattr__(self, "swaps", _validate.positive_integer("swaps", self.swaps))
        if isinstance(self.candidates, int | np.integer):
            values = _validate.positive_integer("candidates", self.candidates)
            object.__setattr__(self, "candidates", values)
            return
        try:
            given = tuple(tuple(float(each) for each in point) for point in self.candidates)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                "Expected candidates to be the number of grid values in each column, or points."
            ) from error
        object.__setattr__(self, "candidates", given)

    @classmethod
    def published(cls, k: int = 4, records: int = 100) -> PrivateKMedian:
        """Return the algorithm as in the omitting-records experiments.

        `T = 6 k ln n`, rounded down, with the number of records `n` (which their theory takes for
        the number of candidates), and sets drawn by the cost of the next one. What the
        experiments report is not a cost, and is not offered.
        """
        records = _validate.positive_integer("records", records)
        return cls(k, swaps=int(6 * k * math.log(records)), final="next")

    def __str__(self) -> str:
        weights = "" if self.weights == "gupta" else f", {self.weights} weights"
        swaps = "" if self.swaps is None else f", {self.swaps} swaps"
        final = ", drawn by the next cost" if self.final == "next" else ""
        return f"private k-median, k = {self.k}{weights}{swaps}{final}"

    def steps(self, candidates: int) -> int:
        """Return the number of swaps: `6 k ln |V|`, rounded up, if no other was declared."""
        if self.swaps is not None:
            return self.swaps
        return math.ceil(6 * self.k * math.log(candidates))

    def rate(self, guarantee: Guarantee, candidates: int) -> float:
        """Return `epsilon'`, the factor of a cost in the exponent of its weight."""
        self.require_relation(guarantee)
        share = guarantee.epsilon / (self.steps(candidates) + 1)
        if self.weights == "gupta":
            return share / 2
        if guarantee.neighbours != ADD_REMOVE:
            raise InvalidInput("Costs are monotone under add-remove only; use weights='gupta'.")
        return share

    def places(self, points: Points) -> FloatArray:
        """Return the candidates, one in each row, in the cube of scaled points.

        Raises
        ------
        InvalidInput
            If there are not more than `k` of them, too many, or they do not fit the columns.
        """
        if isinstance(self.candidates, int):
            size = self.candidates**points.dimensions
            if size > _LARGEST_GRID:
                raise InvalidInput(
                    f"A grid of {self.candidates} values in each of {points.dimensions} columns "
                    f"has more than {_LARGEST_GRID:,} candidates; use a coarser grid, fewer "
                    "columns or given candidates."
                )
            axis = np.linspace(-1, 1, self.candidates) if self.candidates > 1 else np.zeros(1)
            grid = np.meshgrid(*[axis] * points.dimensions, indexing="ij")
            places = np.stack([each.ravel() for each in grid], axis=1)
        else:
            if {len(each) for each in self.candidates} != {points.dimensions}:
                raise InvalidInput(
                    f"Expected every candidate to have {points.dimensions} numbers, one for each "
                    "column."
                )
            given = Points.from_rows(self.candidates, points.bounds, name="candidates")
            if given.clamped or given.missing:
                raise InvalidInput("Expected every candidate within the declared bounds.")
            places = np.unique(given.scaled.T, axis=0)
        if len(places) <= self.k:
            raise InvalidInput(
                f"Expected more than k={self.k} different candidates, got {len(places)}."
            )
        return places

    def prepare(
        self, data: Points, promise: Promise, *, bounds: Any = None, truth: Any = None
    ) -> PreparedMedian:
        """Return the algorithm on these points, with its candidates and the weight of costs."""
        places = self.places(data)
        rate, notes = _GREEDY, tuple[str, ...]()
        if not isinstance(promise, NoNoiseNeeded):
            rate = self.rate(promise, len(places))
            notes = self._notes(data, promise, rate)
        columns, group = different_records(data)
        return PreparedMedian(
            self,
            columns,
            group,
            np.ascontiguousarray(places.T),
            self.steps(len(places)),
            rate,
            _floors(columns.T, places),
            notes,
        )

    def run(self, points: Points, guarantee: Guarantee, rng: np.random.Generator) -> Medians:
        """Return protected centres in the units of the columns, and what they cost on average.

        The cost looks at the data and is not private.

        Examples
        --------
        >>> from omit import Guarantee, read_points
        >>> points = read_points("kmedian-synthetic")
        >>> found = PrivateKMedian(k=4).run(points, Guarantee(1.0), np.random.default_rng(0))
        >>> found.centres.shape, 0 < found.average_cost < 1
        ((4, 2), True)
        """
        prepared = self.prepare(points, guarantee)
        centres = prepared.centres(None, rng)
        return Medians(points.unscaled(centres), prepared.loss(centres))

    def _notes(self, points: Points, guarantee: Guarantee, rate: float) -> tuple[str, ...]:
        """Say so if choices are nearly uniform."""
        spread = rate * points.size
        if spread > 1:
            return ()
        return (
            f"At epsilon = {usable(guarantee.epsilon)} the best and the worst swap differ in "
            f"weight by a factor of at most {math.exp(spread):.3g}: centres are nearly random.",
        )


def different_records(points: Points) -> tuple[FloatArray, Indices]:
    """Return the columns of different records, and which of them every record is.

    They are in the order in which they occur first.

    Examples
    --------
    >>> columns, group = different_records(Points.from_rows([[1], [0], [1]], bounds=(-1, 1)))
    >>> columns, group
    (array([[1., 0.]]), array([0, 1, 0]))
    """
    _, firsts, group = np.unique(points.group, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    return np.ascontiguousarray(points.scaled[:, firsts[order]]), np.argsort(order)[group]


def _floors(rows: FloatArray, places: FloatArray) -> FloatArray:
    """Return no more than each record's distance to its nearest candidate, divided by the diagonal.

    Zero where there are so many candidates that looking for it costs more than it saves.
    """
    if len(places) > _MANY:
        return np.zeros(len(rows))
    from scipy.spatial import KDTree

    distances = KDTree(places).query(rows)[0]
    # A little less, so that rounding cannot lift it above a cost.
    return as_array(distances * (0.5 / math.sqrt(rows.shape[1])) * (1 - 1e-9))


@dataclass(frozen=True, eq=False)
class PreparedMedian(PreparedClustering):
    """Private k-median with its candidates and the weight of costs, ready for many runs."""

    mechanism: PrivateKMedian
    columns: FloatArray
    group: Indices
    candidates: FloatArray
    steps: int
    rate: float
    floors: FloatArray
    notes: tuple[str, ...] = ()

    @property
    def scale(self) -> float:
        """What scaled distances are multiplied by: one over the diagonal of the cube."""
        return 0.5 / math.sqrt(self.columns.shape[0])

    @cached_property
    def tree(self) -> Tree:
        """The candidates in nodes of nearby ones."""
        return tree_of(self.candidates, self.scale)

    @cached_property
    def distances(self) -> FloatArray | None:
        """Those of all candidates to all records, if these are few."""
        return distances_to(self.candidates, self.columns, self.scale)

    def centres(self, kept: Positions | None, rng: np.random.Generator) -> FloatArray:
        """Return the centres of one run on the records that are left."""
        size = self.candidates.shape[1]
        first = rng.choice(size, self.mechanism.k, replace=False, shuffle=False).astype(np.int64)
        early, last = rng.random((self.steps, _EARLY, 3)), rng.random()
        records, floor = self._left(kept)
        sets, costs = local_search(
            records, self.candidates, self.tree, first, early, self.rate, floor, rng
        )
        if self.mechanism.final == "next":
            costs = np.append(costs[1:], costs[-1])
        chosen = choose(np.exp(-self.rate * (costs - costs.min())), last)
        return as_array(self.candidates[:, sets[chosen]].T)

    def loss(self, centres: FloatArray, kept: Positions | None = None) -> float:
        """Return the average distance to the nearest centre; 0 if nothing is left."""
        size = len(self.group) if kept is None else len(kept)
        if not size:
            return 0.0
        places = np.ascontiguousarray(as_array(centres).T)
        return float(assign(self._left(kept)[0], places, np.arange(places.shape[1])) / size)

    def largest_losses(self) -> FloatArray:
        """Return the distance of each record to the farthest corner, divided by the diagonal."""
        return as_array(self.scale * np.sqrt(farthest_squares(self.columns)))[self.group]

    def _left(self, kept: Positions | None) -> tuple[Records, float]:
        """Return the records that are left, and what centres cost them at least."""
        group = self.group if kept is None else self.group[kept]
        counts = np.bincount(group, minlength=self.columns.shape[1])
        present = np.flatnonzero(counts)
        weights = counts[present].astype(np.float64)
        floor = float(weights @ self.floors[present])
        columns, known = self.columns, self.distances
        if len(present) < len(counts):
            columns = columns.take(present, axis=1)
            known = None if known is None else known.take(present, axis=0)
        return records_of(columns, weights, self.scale, known), floor
