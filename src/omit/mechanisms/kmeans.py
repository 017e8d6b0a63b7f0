"""Private k-means: Lloyd's algorithm with noisy sums and counts (DPLloyd).

First centres do not look at the data, and so cost no privacy. The scale of the noise follows from
the number of releases, or from composing their privacy losses.

*Compiled iterations.* Columns are contiguous and records are taken in blocks that stay in the
processor's first cache, so that every inner loop runs over records and is vectorised. Columns are
padded with zeros to a multiple of three, the number taken in one pass. Coordinates are added up in
whole steps, rounded record by record, so that every sum is exact in floating point: one record
changes a sum by its own coordinate and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from omit import _validate
from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit._text import import_extra, usable
from omit.data.points import Points
from omit.errors import InvalidInput
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, NoNoiseNeeded
from omit.laws.design import Positions
from omit.laws.inversion import narrow
from omit.mechanisms.base import Promise
from omit.mechanisms.clustering import (
    ClusteringMechanism,
    Metric,
    PreparedClustering,
    farthest_squares,
)

# How many random places compete to be the next centre.
_RIVALS = 10


def uniform_starts(k: int, dimensions: int, rng: np.random.Generator) -> FloatArray:
    """Return `k` places in the cube [-1, 1]^d, each uniform."""
    return rng.uniform(-1, 1, (k, dimensions))


def spread_starts(k: int, dimensions: int, rng: np.random.Generator) -> FloatArray:
    """Return `k` places in the cube [-1, 1]^d that keep away from each other.

    Each is the one of ten uniform places that is farthest from those already taken (best-candidate
    sampling). As many random numbers are drawn in every run.

    Examples
    --------
    >>> spread_starts(2, 1, np.random.default_rng(0)).round(2)
    array([[ 0.27],
           [-0.99]])
    """
    places = rng.uniform(-1, 1, (k, _RIVALS, dimensions))
    chosen = places[0, :1]
    for rivals in places[1:]:
        apart = np.square(rivals[:, None] - chosen[None]).sum(axis=2).min(axis=1)
        chosen = np.vstack([chosen, rivals[apart.argmax()]])
    return chosen


# The scale is found to this relative precision, and rounded up.
_PRECISION = 1e-4
# How many grains the largest privacy loss of one release is divided into.
_GRAINS = 200
# Losses are convolved by a Fourier transform, whose rounding errors are smaller than this for each
# release; so much of delta is set aside for them.
_ROUNDING = 1e-14
# Above this epsilon nothing is composed: powers of e leave the range of floating-point numbers.
_LARGEST_EPSILON = 200.0


@lru_cache(maxsize=4096)
def composed_laplace_scale(epsilon: float, delta: float, releases: int) -> float:
    """Return a scale at which so many Laplace releases of sensitivity 1 are (epsilon, delta)-DP.

    The releases may be adaptive. Their privacy losses are rounded up, so that the guarantee is
    valid, and composed numerically by `dp-accounting`. Never above `releases / epsilon`, the scale
    of pure differential privacy, which is also the answer where delta is too small or epsilon too
    large for composing to be of use.

    Examples
    --------
    >>> composed_laplace_scale(1.0, 1e-6, 35) < 24
    True
    """
    # Both ends are proven: the upper one is pure, and at the lower one a single release, whose
    # delta is 1 - e^((epsilon - 1/scale)/2), uses up all of delta. Every scale that becomes the
    # upper end has been checked, so the one returned is valid even if the search were not monotone.
    allowed = delta - releases * _ROUNDING
    lower, upper = 1 / (epsilon - 2 * math.log1p(-delta)), releases / epsilon
    if allowed <= 0 or epsilon > _LARGEST_EPSILON:
        return upper
    return narrow(
        lambda scale: _delta(scale, epsilon, releases) <= allowed,
        lower,
        upper,
        enough=lambda low, high: high <= low * (1 + _PRECISION),
        middle=lambda low, high: math.sqrt(low) * math.sqrt(high),
    )[1]


def require_delta(guarantee: Guarantee) -> None:
    """Refuse to compose losses where nothing may be exceeded."""
    if guarantee.delta == 0:
        raise InvalidInput(
            "The composed budget needs delta > 0; with delta = 0 the budget 'su' is the smallest."
        )


def _delta(scale: float, epsilon: float, releases: int) -> float:
    """Return an upper bound on delta at `epsilon` of so many Laplace releases of sensitivity 1."""
    accounting: Any = import_extra(
        "dp_accounting.pld.privacy_loss_distribution", "accounting", "The composed budget"
    )
    one = accounting.PrivacyLossDistribution.create_from_rounded_probability(
        dict(enumerate(_rounded_up_losses(scale).tolist(), start=-_GRAINS)),
        infinity_mass=0.0,
        value_discretization_interval=1 / (_GRAINS * scale),
    )
    return float(one.self_compose(releases).get_delta_for_epsilon(epsilon))


def _rounded_up_losses(scale: float) -> FloatArray:
    """Return the distribution of one release's privacy loss, rounded up to the next grain.

    Noise `x` around 0 is told from noise around 1 by `(|1 - x| - |x|) / scale`. This is `1 / scale`
    for x <= 0, `-1 / scale` for x >= 1 and linear between, so it is at most `j` grains if
    `x >= (1 - j / _GRAINS) / 2`. Both ends are whole grains and not rounded.
    """
    step = 0.5 / (_GRAINS * scale)
    grains = np.arange(-_GRAINS, _GRAINS + 1)
    at_most = 0.5 * np.exp((grains - _GRAINS) * step)
    losses = as_array(at_most * -math.expm1(-step))
    losses[0] = at_most[0]
    losses[-1] = 0.5 - 0.5 * math.expm1(-step)
    return losses


# Records in a block: three columns and three buffers of this many numbers fit the first cache.
_BLOCK = 512
_AT_ONCE = 3
_LANES = 8
# Steps of a coordinate in [0, 1]; sums of 2^27 records stay below 2^53 of them.
_STEPS = 2.0**26
MOST_RECORDS = 2**27


def padded(columns: FloatArray) -> FloatArray:
    """Return the columns, followed by columns of zeros up to a multiple of three.

    Examples
    --------
    >>> padded(np.ones((2, 4))).shape
    (3, 4)
    """
    rows, size = columns.shape
    wide = np.zeros((-(-rows // _AT_ONCE) * _AT_ONCE, size))
    wide[:rows] = columns
    return wide


@compiled
def noisy_lloyd(
    columns: FloatArray, starts: FloatArray, noise: FloatArray, smallest: float
) -> FloatArray:
    """Return the centres after all iterations.

    Parameters
    ----------
    columns : array
        Padded columns of scaled records.
    starts : array
        The first centres, one in each row.
    noise : array
        What is added, by iteration and cluster: to the sum of every column, then to the count.
    smallest : float
        A cluster whose noisy count is smaller, or 0, keeps its centre.
    """
    size = columns.shape[1]
    iterations, k, last = noise.shape
    dimensions = last - 1
    centres = np.zeros((k, columns.shape[0]))
    centres[:, :dimensions] = starts
    totals = np.empty(dimensions)
    for j in range(dimensions):
        totals[j] = np.rint(columns[j] * _STEPS).sum()
    part, nearest, labels = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    sums, counts = np.empty_like(centres), np.empty(k)
    for step in range(iterations):
        sums[:], counts[:] = 0.0, 0.0
        halves = _half_squares(centres)
        for start in range(0, size, _BLOCK):
            taken = min(_BLOCK, size - start)
            _assign(columns, centres, halves, start, taken, part, nearest, labels)
            _add(columns, start, taken, labels, sums, counts)
        # What the other clusters leave is the first one's.
        counts[0] = size - counts[1:].sum()
        for j in range(dimensions):
            sums[0, j] = totals[j] - sums[1:, j].sum()
        for cluster in range(k):
            count = counts[cluster] + noise[step, cluster, dimensions]
            if count >= smallest and count != 0:
                for j in range(dimensions):
                    centre = (sums[cluster, j] / _STEPS + noise[step, cluster, j]) / count
                    centres[cluster, j] = min(1.0, max(-1.0, centre))
    return centres[:, :dimensions].copy()


@compiled
def mean_square_distance(columns: FloatArray, given: FloatArray) -> float:
    """Return the mean squared distance of all records to their nearest centre."""
    size = columns.shape[1]
    centres = np.zeros((len(given), columns.shape[0]))
    centres[:, : given.shape[1]] = given
    halves = _half_squares(centres)
    part, nearest, labels = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    total = 0.0
    for start in range(0, size, _BLOCK):
        taken = min(_BLOCK, size - start)
        _assign(columns, centres, halves, start, taken, part, nearest, labels)
        # What was compared lacks the record's own square, and would cancel with it.
        for i in range(taken):
            label, square = int(labels[i]), 0.0
            for j in range(columns.shape[0]):
                square += (columns[j, start + i] - centres[label, j]) ** 2
            total += square
    mean: float = total / size
    return mean


@compiled
def _half_squares(centres: FloatArray) -> FloatArray:
    halves = np.empty(len(centres))
    for cluster in range(len(centres)):
        halves[cluster] = 0.5 * (centres[cluster] * centres[cluster]).sum()
    return halves


@compiled
def _assign(
    columns: FloatArray,
    centres: FloatArray,
    halves: FloatArray,
    start: int,
    taken: int,
    part: FloatArray,
    nearest: FloatArray,
    labels: FloatArray,
) -> None:
    """Write into `labels` which centre is nearest to each record of the block.

    Compared are half the squared distances without the record's own half square.
    """
    wide = columns.shape[0]
    final = wide - _AT_ONCE
    for i in range(taken):
        nearest[i] = np.inf
    for cluster in range(len(centres)):
        half, label = halves[cluster], float(cluster)
        for i in range(taken):
            part[i] = half
        for j in range(0, final, _AT_ONCE):
            x, y, z = (
                columns[j, start : start + taken],
                columns[j + 1, start : start + taken],
                columns[j + 2, start : start + taken],
            )
            u, v, w = centres[cluster, j], centres[cluster, j + 1], centres[cluster, j + 2]
            for i in range(taken):
                part[i] -= u * x[i] + v * y[i] + w * z[i]
        x, y, z = (
            columns[final, start : start + taken],
            columns[final + 1, start : start + taken],
            columns[final + 2, start : start + taken],
        )
        u, v, w = centres[cluster, final], centres[cluster, final + 1], centres[cluster, final + 2]
        for i in range(taken):
            distance = part[i] - u * x[i] - v * y[i] - w * z[i]
            closer = distance < nearest[i]
            nearest[i] = distance if closer else nearest[i]
            # As floats, so that the choice is as wide as the numbers and vectorises with them.
            labels[i] = label if closer else labels[i]


@compiled
def _add(
    columns: FloatArray,
    start: int,
    taken: int,
    labels: FloatArray,
    sums: FloatArray,
    counts: FloatArray,
) -> None:
    """Add the block's records to the sums, in steps, and counts of all clusters but the first.

    Sums are taken in lanes, which vectorise though every operation keeps its place.
    """
    first, second, third = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    whole = taken - taken % _LANES
    for cluster in range(1, len(counts)):
        label, members = float(cluster), 0
        for i in range(taken):
            members += labels[i] == label
        if members == 0:
            continue
        counts[cluster] += members
        for j in range(0, columns.shape[0], _AT_ONCE):
            x, y, z = (
                columns[j, start : start + taken],
                columns[j + 1, start : start + taken],
                columns[j + 2, start : start + taken],
            )
            first[:], second[:], third[:] = 0.0, 0.0, 0.0
            for i in range(0, whole, _LANES):
                for lane in range(_LANES):
                    inside = labels[i + lane] == label
                    first[lane] += np.rint(x[i + lane] * _STEPS) if inside else 0.0
                    second[lane] += np.rint(y[i + lane] * _STEPS) if inside else 0.0
                    third[lane] += np.rint(z[i + lane] * _STEPS) if inside else 0.0
            for i in range(whole, taken):
                if labels[i] == label:
                    first[0] += np.rint(x[i] * _STEPS)
                    second[0] += np.rint(y[i] * _STEPS)
                    third[0] += np.rint(z[i] * _STEPS)
            sums[cluster, j] += first.sum()
            sums[cluster, j + 1] += second.sum()
            sums[cluster, j + 2] += third.sum()


Budget = Literal["su", "published", "composed"]
Start = Literal["spread", "uniform"]
LowCounts = Literal["keep", "divide"]

_STARTS = {"spread": spread_starts, "uniform": uniform_starts}


@dataclass(frozen=True)
class DPLloyd(ClusteringMechanism):
    """Lloyd's algorithm in which every sum and every count has Laplace noise.

    Points are scaled to [-1, 1] by their declared bounds. In each iteration a record counts for the
    cluster of its nearest centre only, so it changes one cluster's count by 1 and each of its `d`
    sums by at most 1: under add-remove, `T` iterations are `(d + 1) T` releases of sensitivity 1,
    whatever `k` is. Under replace a record can leave one cluster and enter another: twice as many.
    What happens to small noisy counts, and that centres are clamped to [-1, 1], looks only at what
    is released already, and costs nothing.

    Parameters
    ----------
    k, metric
        As for all clusterings.
    iterations : int
        `T`, how often centres are moved; 5 is the choice of Su et al., 20 that of the
        omitting-records paper.
    budget : {"su", "published", "composed"}
        The scale of the noise. ``"su"`` (Su et al. 2017) is `(d + 1) T / epsilon`; under replace
        twice that. ``"published"`` is `2 (d k + 1) T / epsilon`, that of the omitting-records
        experiments: valid, and more than is needed. ``"composed"`` composes the privacy losses of
        all `(d + 1) T` releases numerically; it needs delta > 0 and add-remove.
    start : {"spread", "uniform"}
        Where the first centres are: apart from each other, or uniform. Neither looks at the data.
    low_counts : {"keep", "divide"}
        Whether a cluster whose noisy count is below 1 keeps its centre, or moves to the quotient
        by that count, whatever its sign, as in the omitting-records experiments.

    References
    ----------
    Blum, Dwork, McSherry and Nissim, PODS 2005; Su, Cao, Li, Bertino, Lyu and Jin, "Differentially
    private k-means clustering and a hybrid approach to private optimization", ACM TOPS 2017.

    Examples
    --------
    >>> from omit import Guarantee
    >>> DPLloyd(k=5).scale(Guarantee(1.0), dimensions=6)
    35.0
    >>> DPLloyd.published(k=5).scale(Guarantee(1.0), dimensions=6)
    1240.0
    """

    k: int = 5
    iterations: int = 5
    budget: Budget = "su"
    start: Start = "spread"
    low_counts: LowCounts = "keep"
    metric: Metric = "all"

    statistic: ClassVar[str] = "kmeans"
    metric_name: ClassVar[str] = "normalised intra-cluster variance"
    unit: ClassVar[str] = "squared distance"

    def __post_init__(self) -> None:
        self._check_metric()
        object.__setattr__(self, "k", _validate.positive_integer("k", self.k))
        iterations = _validate.positive_integer("iterations", self.iterations)
        object.__setattr__(self, "iterations", iterations)
        for name, given, known in (
            ("budget", self.budget, get_args(Budget)),
            ("start", self.start, get_args(Start)),
            ("low_counts", self.low_counts, get_args(LowCounts)),
        ):
            _validate.one_of(name, given, known)

    @classmethod
    def published(cls, k: int = 5) -> DPLloyd:
        """Return the algorithm as in the omitting-records experiments.

        They also scale the columns by the data's own extremes, which is NOT private: points read
        with ``bounds="from-data"``.
        """
        return cls(k, 20, "published", "uniform", "divide")

    def __str__(self) -> str:
        budget = "" if self.budget == "su" else f", {self.budget} budget"
        divided = ", divided by any count" if self.low_counts == "divide" else ""
        return f"DPLloyd, k = {self.k}, {self.iterations} iterations{budget}{divided}"

    def scale(self, guarantee: Guarantee, dimensions: int) -> float:
        """Return the scale of the Laplace noise of every sum and every count.

        Raises
        ------
        InvalidInput
            If epsilon is 0, or so small that the noise cannot be written as a number.
        """
        self.require_relation(guarantee)
        if guarantee.epsilon == 0:
            raise InvalidInput("Laplace noise needs epsilon > 0.")
        releases = (dimensions + 1) * self.iterations
        if self.budget == "published":
            releases = 2 * (dimensions * self.k + 1) * self.iterations
        elif guarantee.neighbours == REPLACE:
            releases *= 2
        scale = releases / guarantee.epsilon
        if scale > 1e300:
            raise InvalidInput(
                f"epsilon={guarantee.epsilon:g} is too small: the noise scale overflows."
            )
        if self.budget == "composed":
            require_delta(guarantee)
            if guarantee.neighbours != ADD_REMOVE:
                raise InvalidInput("The composed budget is known under add-remove only; use 'su'.")
            return composed_laplace_scale(guarantee.epsilon, guarantee.delta, releases)
        return scale

    def prepare(
        self, data: Points, promise: Promise, *, bounds: Any = None, truth: Any = None
    ) -> PreparedLloyd:
        """Return the algorithm on these points, with its noise.

        Raises
        ------
        InvalidInput
            If there are too many records for exact sums.
        """
        if data.size > MOST_RECORDS:
            raise InvalidInput(f"Expected at most {MOST_RECORDS:,} records, got {data.size:,}.")
        scale, notes = 0.0, tuple[str, ...]()
        if not isinstance(promise, NoNoiseNeeded):
            scale = self.scale(promise, data.dimensions)
            notes = self._notes(data, promise, scale)
        return PreparedLloyd(self, padded(data.scaled), data.dimensions, scale, notes)

    def _notes(self, points: Points, guarantee: Guarantee, scale: float) -> tuple[str, ...]:
        """Say so if the noise is larger than a cluster."""
        members = points.size / self.k
        if scale < members:
            return ()
        shown = f"{scale:,.0f}" if scale < 1e12 else f"{scale:.3g}"
        return (
            f"At epsilon = {usable(guarantee.epsilon)} the noise of a cluster's count (scale "
            f"{shown}) exceeds an average cluster ({members:,.0f} records): centres are "
            "mostly noise.",
        )


@dataclass(frozen=True, eq=False)
class PreparedLloyd(PreparedClustering):
    """DPLloyd with padded columns and a scale of noise, ready for many runs."""

    mechanism: DPLloyd
    columns: FloatArray
    dimensions: int
    noise_scale: float
    notes: tuple[str, ...] = ()

    def centres(self, kept: Positions | None, rng: np.random.Generator) -> FloatArray:
        """Return the centres of one run on the records that are left."""
        mechanism = self.mechanism
        starts = _STARTS[mechanism.start](mechanism.k, self.dimensions, rng)
        shape = (mechanism.iterations, mechanism.k, self.dimensions + 1)
        noise = rng.laplace(0.0, 1.0, shape) * self.noise_scale
        smallest = 1.0 if mechanism.low_counts == "keep" else -math.inf
        return noisy_lloyd(self._left(kept), starts, noise, smallest)

    def loss(self, centres: FloatArray, kept: Positions | None = None) -> float:
        """Return the mean squared distance to the nearest centre; 0 if nothing is left."""
        columns = self._left(kept)
        if not columns.shape[1]:
            return 0.0
        return mean_square_distance(columns, centres)

    def largest_losses(self) -> FloatArray:
        """Return the squared distance of each record to the farthest corner."""
        return farthest_squares(self.columns[: self.dimensions])

    def _left(self, kept: Positions | None) -> FloatArray:
        if kept is None or len(kept) == self.columns.shape[1]:
            return self.columns
        return self.columns.take(kept, axis=1)
