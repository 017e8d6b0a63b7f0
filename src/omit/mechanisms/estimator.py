"""DPLloyd as a scikit-learn estimator; needs the extra `learn`.

What a fitted model may show: `cluster_centers_`, which has the guarantee, and what follows from the
parameters and the columns alone (`noise_scale_`, `n_iter_`, `n_features_in_`, `feature_names_in_`).
What it may not: `labels_`, which tells of every record, and `random_state` where it was given, by
which the noise can be taken away. So do not hand on the model itself. `predict`, `transform` and
`score` on the records of `fit`, `fit_predict` and `fit_transform` look at the records again: they
are not private either.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit._text import import_extra
from omit.data.points import ColumnBounds, Points
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.kmeans import Budget, DPLloyd, Start

import_extra("sklearn", "learn", "PrivateKMeans")
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin  # noqa: E402
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402


class PrivateKMeans(TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]  # no types in scikit-learn
    """k-means with differential privacy: `DPLloyd` behind scikit-learn's interface.

    The centres are protected by the guarantee. Labels, distances and scores are computed from the
    records themselves and are *not* private; a fitted model holds labels, so hand on its centres
    and not the model. Columns are scaled by their declared bounds, so that
    each counts alike, and values outside are moved to the nearest bound: before the fit, and before
    a record is assigned to a centre. Nothing else about the records changes what happens: there may
    be fewer of them than clusters, and they may be all equal.

    Parameters
    ----------
    n_clusters : int
        How many clusters.
    guarantee : Guarantee, optional
        What the centres promise; epsilon = 1 under add-remove by default. It covers one `fit`: two
        of them, such as those of a cross-validation or a search over parameters, add up.
    epsilon : float, optional
        The same for a guarantee without delta under add-remove; give one of the two.
    bounds : pair of float, or one pair for each column
        The smallest and the largest value of a record, in the units of the data. To be declared
        and never taken from the data, or the guarantee is lost; `fit` refuses to do without. A
        scaler before this estimator that is fitted on the same records takes them from the data:
        scale by declared numbers, or not at all, since columns are scaled by their bounds anyway.
    max_iter : int
        How often centres are moved. Each time costs a share of the budget.
    budget : {"su", "published", "composed"}
        How noise is calibrated, see `DPLloyd`.
    start : {"spread", "uniform"}
        Where the first centres are, see `DPLloyd`.
    random_state : int, RandomState, Generator or None
        Where noise comes from. Anyone who knows it, or the generator as `fit` left it, can take
        the noise away again: fix it in experiments, never in a release.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centres, in the units of the data. Private.
    labels_ : array of shape (n_samples,)
        The cluster of each record. NOT private.
    noise_scale_ : float
        The scale of the Laplace noise of every sum and every count, for scaled records. Follows
        from the parameters and the number of columns, and tells nothing of the records.
    n_iter_ : int
        How often centres were moved. A parameter.
    n_features_in_ : int
        How many columns there were. Tells nothing of the records.
    feature_names_in_ : array of str
        Their names, if they were texts. Tells nothing of the records.

    Notes
    -----
    Noise comes from floating-point samplers, which are known to leak in their last digits
    (Mironov, CCS 2012): this is for studies, and not hardened against an adversary who sees all
    digits of the centres.

    Examples
    --------
    >>> from omit.mechanisms import PrivateKMeans
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal([[20, 170]] * 5000 + [[60, 165]] * 5000, [5, 8])
    >>> model = PrivateKMeans(
    ...     n_clusters=2,
    ...     epsilon=1.0,
    ...     bounds=[(0, 125), (50, 250)],
    ...     random_state=0,
    ... ).fit(people)
    >>> np.sort(model.cluster_centers_[:, 0]).round().tolist()
    [20.0, 60.0]
    """

    def __init__(
        self,
        n_clusters: int = 5,
        *,
        guarantee: Guarantee | None = None,
        epsilon: float | None = None,
        bounds: ColumnBounds | None = None,
        max_iter: int = 5,
        budget: Budget = "su",
        start: Start = "spread",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.guarantee = guarantee
        self.epsilon = epsilon
        self.bounds = bounds
        self.max_iter = max_iter
        self.budget = budget
        self.start = start
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> PrivateKMeans:
        """Find protected centres.

        Parameters
        ----------
        X : array_like of shape (n_samples, n_features)
            One record in each row.
        y : ignored

        Raises
        ------
        InvalidInput
            If a parameter makes no sense, or the bounds were not declared or do not fit the
            columns.
        ValueError
            If `X` is not a table of finite numbers.

        Warns
        -----
        UserWarning
            If most records lie outside the bounds.
        """
        guarantee = _promised(self.guarantee, self.epsilon)
        mechanism = DPLloyd(self.n_clusters, self.max_iter, self.budget, self.start)
        rows = validate_data(self, X, dtype=np.float64)
        points = Points.from_rows(rows, _declared(self.bounds))
        if 2 * points.clamped > points.size:
            warnings.warn(
                f"{points.clamped:,} of {points.size:,} records lie outside the bounds and were "
                "clamped: are these in the units of the data? (This sentence is not private.)",
                stacklevel=2,
            )
        prepared = mechanism.prepare(points, guarantee)
        scaled_centres = prepared.centres(None, _generator(self.random_state))
        self._bounds = as_array(points.bounds)
        self.cluster_centers_ = points.unscaled(scaled_centres)
        self.noise_scale_ = prepared.noise_scale
        self.n_iter_ = mechanism.iterations
        self.labels_ = self._nearest(rows)[0]
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster of each record: that of the nearest centre, in scaled columns.

        This looks at the records and is not private.
        """
        return self._nearest(self._checked(X))[0]

    def transform(self, X: Any) -> FloatArray:
        """Return the distances of each record to all centres, in the cube [-1, 1]^d.

        This looks at the records and is not private.
        """
        rows = self._checked(X)
        return as_array(pairwise_distances(self._scaled(rows), self._scaled(self.cluster_centers_)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the mean squared distance to the nearest centre, in the cube [-1, 1]^d.

        More is better, as scikit-learn expects; this is minus the normalised intra-cluster
        variance. It looks at the records and is not private.
        """
        return -float(np.square(self._nearest(self._checked(X))[1]).mean())

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of what `transform` returns."""
        check_is_fitted(self)
        names = [f"privatekmeans{cluster}" for cluster in range(self._n_features_out)]
        return np.array(names, dtype=object)

    def _checked(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return as_array(validate_data(self, X, dtype=np.float64, reset=False))

    def _scaled(self, rows: FloatArray) -> FloatArray:
        lower, upper = self._bounds.T
        inside = np.clip(rows, lower, upper)
        return as_array(((inside - lower) - (upper - inside)) / (upper - lower))

    def _nearest(self, rows: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        labels, distances = pairwise_distances_argmin_min(
            self._scaled(rows), self._scaled(self.cluster_centers_)
        )
        return labels, as_array(distances)


def _promised(guarantee: Any, epsilon: float | None) -> Guarantee:
    """Return the guarantee that is asked for in one of two ways."""
    if guarantee is not None and epsilon is not None:
        raise InvalidInput("Expected a guarantee or an epsilon, not both.")
    if guarantee is None:
        return Guarantee(1.0 if epsilon is None else epsilon)
    if not isinstance(guarantee, Guarantee):
        raise InvalidInput(f"Expected a guarantee such as Guarantee(1.0), got {guarantee!r}.")
    return guarantee


def _declared(bounds: Any) -> ColumnBounds:
    """Return bounds that do not come from the data, or refuse."""
    if not isinstance(bounds, Sequence | np.ndarray) or any(
        isinstance(each, str) for each in (bounds, *bounds)
    ):
        raise InvalidInput(
            "Expected declared bounds, bounds=(lower, upper) or one such pair for every column, in "
            "the units of the data; they cannot be taken from the data."
        )
    return bounds  # type: ignore[return-value]  # numbers are checked by Points


def _generator(random_state: Any) -> np.random.Generator:
    """Return a generator from what scikit-learn's users pass as `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"Expected random_state={random_state!r} to be a whole number, a generator or None."
        ) from error
