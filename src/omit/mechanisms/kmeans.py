"""Private k-means: Lloyd's algorithm with noisy sums and counts (DPLloyd)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from omit import _validate
from omit._decimals import usable
from omit._numeric import FloatArray
from omit.data.points import Points
from omit.errors import InvalidInput
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee
from omit.mechanisms.clustering import Clustering, Positions, farthest_squares
from omit.mechanisms.composed_laplace import composed_laplace_scale, require_delta
from omit.mechanisms.lloyd import MOST_RECORDS, mean_square_distance, noisy_lloyd, padded
from omit.mechanisms.starts import spread_starts, uniform_starts

Budget = Literal["su", "published", "composed"]
Start = Literal["spread", "uniform"]
LowCounts = Literal["keep", "divide"]

_STARTS = {"spread": spread_starts, "uniform": uniform_starts}


@dataclass(frozen=True)
class DPLloyd(Clustering):
    """Lloyd's algorithm in which every sum and every count has Laplace noise.

    Points are scaled to [-1, 1] by their declared bounds. In each iteration a record counts for the
    cluster of its nearest centre only, so it changes one cluster's count by 1 and each of its `d`
    sums by at most 1: under add-remove, `T` iterations are `(d + 1) T` releases of sensitivity 1,
    whatever `k` is. Under replace a record can leave one cluster and enter another: twice as many.
    What happens to small noisy counts, and that centres are clamped to [-1, 1], looks only at what
    is released already, and costs nothing.

    Parameters
    ----------
    k : int
        How many clusters.
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

    statistic: ClassVar[str] = "kmeans"
    metric: ClassVar[str] = "normalised intra-cluster variance"
    unit: ClassVar[str] = "squared distance"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", _validate.positive_integer("k", self.k))
        iterations = _validate.positive_integer("iterations", self.iterations)
        object.__setattr__(self, "iterations", iterations)
        for name, given, known in (
            ("budget", self.budget, get_args(Budget)),
            ("start", self.start, get_args(Start)),
            ("low_counts", self.low_counts, get_args(LowCounts)),
        ):
            if given not in known:
                raise InvalidInput(f"Expected {name}={given!r} to be one of: {', '.join(known)}.")

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
                f"Expected epsilon={guarantee.epsilon:g} large enough for noise that is a number; "
                "at 1e-6 centres are pure noise already."
            )
        if self.budget == "composed":
            require_delta(guarantee)
            if guarantee.neighbours != ADD_REMOVE:
                raise InvalidInput("The composed budget is known under add-remove only; use 'su'.")
            return composed_laplace_scale(guarantee.epsilon, guarantee.delta, releases)
        return scale

    def prepare(self, points: Points, guarantee: Guarantee) -> PreparedLloyd:
        """Return the algorithm on these points, with its noise.

        Raises
        ------
        InvalidInput
            If there are too many records for exact sums.
        """
        if points.size > MOST_RECORDS:
            raise InvalidInput(f"Expected at most {MOST_RECORDS:,} records, got {points.size:,}.")
        return PreparedLloyd(
            self, padded(points.scaled), points.dimensions, self.scale(guarantee, points.dimensions)
        )

    def notes(self, points: Points, guarantee: Guarantee) -> tuple[str, ...]:
        """Say so if the noise is larger than a cluster."""
        scale, members = self.scale(guarantee, points.dimensions), points.size / self.k
        if scale < members:
            return ()
        shown = f"{scale:,.0f}" if scale < 1e12 else f"{scale:.3g}"
        return (
            f"At epsilon = {usable(guarantee.epsilon)} the noise of a cluster's count (scale "
            f"{shown}) exceeds an average cluster ({members:,.0f} records): centres are "
            "mostly noise.",
        )


@dataclass(frozen=True, eq=False)
class PreparedLloyd:
    """DPLloyd with padded columns and a scale of noise, ready for many runs."""

    mechanism: DPLloyd
    columns: FloatArray
    dimensions: int
    noise_scale: float

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
