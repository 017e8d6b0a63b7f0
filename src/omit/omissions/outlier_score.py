"""Outlier-score suppression: the farther a record is from the others, the likelier its deletion.

Every record `x` of a non-empty database `D` is deleted independently with probability
`m + (M - m) z`, where `z` is the mean distance of `x` to all records of `D`, itself included, and
distances are scaled to at most 1 (omitting records, Section 5.3). Two bounds on the epsilon of the
release are plain vectorised functions; write `E = e^epsilon`.

`mixture_epsilon` is the default of this package: it holds for every metric, every database, both
directions and all `0 <= m <= M <= 1`, with a proof on paper (documentation, "The mixture bound"),
and no bound can be lower where `m + M <= 1`.

`published_epsilon` is Theorem 5.4 of the omitting-records paper, for `0 < m <= M < 1`. Its last
step was verified by computer for a grid of values; `omit verify theorem-5.4` repeats that.

Both are divided through by `E`, so that no term overflows, and written in differences that stay
exact when `M - m` or epsilon is tiny.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array, log_mix, not_below
from omit.data.base import DISTANCES, Data
from omit.errors import InvalidInput
from omit.guarantee import Guarantee, NoGuarantee, NoNoiseNeeded, guarantee_if_any
from omit.laws.design import Design, Independent
from omit.laws.inversion import invert_increasing, last_increase
from omit.omissions.base import Omission
from omit.omissions.pairs import IndependentPair

# Half a unit in the last digit of a probability.
_ROUNDING = 2.0**-54
# A mechanism with a smaller epsilon needs too much noise to release anything.
SMALLEST_PUBLISHED_BASE = 1e-9
# Number of elements evaluated at once, so that intermediate arrays stay in the processor's cache.
_BLOCK = 4096


@dataclass(frozen=True)
class OutlierScoreSuppression(Omission):
    """Delete every record independently, with a probability between `m` and `M`.

    Defined under add-remove. The privacy does not depend on the distance, as long as it is a
    metric with values in [0, 1].

    Parameters
    ----------
    m, M : float
        The smallest and the largest probability of deletion, `0 <= m <= M <= 1`.
    distance : {"absolute", "discrete", "euclidean", "manhattan"}, optional
        Which distance makes the scores. None leaves the choice to the mechanism.
    bound : {"mixture", "published"}
        Which theorem to rely on. ``"mixture"`` is the bound with a full proof in the
        documentation; ``"published"`` is Theorem 5.4 of the paper, for `0 < m <= M < 1`, with
        its own delta. It was verified by computer on a grid, and is never smaller in epsilon.

    Examples
    --------
    >>> from omit import Guarantee
    >>> suppression = OutlierScoreSuppression(m=0.1, M=0.2)
    >>> print(suppression.amplify(Guarantee(0.25)))
    (0.2323698374, 0)-DP under add-remove
    >>> print(OutlierScoreSuppression(m=0.1, M=0.2, bound="published").amplify(Guarantee(0.25)))
    (1.2047517204, 0)-DP under add-remove
    """

    m: float
    M: float
    distance: str | None = None
    bound: Literal["mixture", "published"] = "mixture"

    name: ClassVar[str] = "outlier-score"
    parameters: ClassVar[tuple[str, ...]] = ("m", "M")
    optional: ClassVar[tuple[str, ...]] = ("distance",)

    def __post_init__(self) -> None:
        m, M = _validate.probability("m", self.m), _validate.probability("M", self.M)
        if m > M:
            raise InvalidInput(f"Expected m={m:g} to be at most M={M:g}.")
        _validate.one_of("bound", self.bound, ("mixture", "published"))
        if self.bound == "published" and not self._has_published_bound(m, M):
            raise InvalidInput(
                f"The published bound needs 0 < m <= M < 1, got m={m:g} and M={M:g}; "
                "the mixture bound takes 0 and 1 too."
            )
        if self.distance is not None:
            _validate.one_of("distance", self.distance, DISTANCES)
        object.__setattr__(self, "m", m)
        object.__setattr__(self, "M", M)

    def __str__(self) -> str:
        name = f"outlier-score suppression with m={self.m:g}, M={self.M:g}"
        if self.distance in ("euclidean", "manhattan"):
            name += f", {self.distance.capitalize()} distance"
        return name if self.bound == "mixture" else f"{name} (published bound)"

    @property
    def largest_keep_probability(self) -> float:
        """`1 - m`: a database of equal records keeps every one with this probability."""
        return 1 - self.m

    @property
    def slope_at_zero(self) -> float | None:
        """`1 - m` for the mixture bound; the published one does not vanish at 0."""
        return 1 - self.m if self.bound == "mixture" or self.m == self.M else None

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return the bound of this object's name."""
        bound = mixture_epsilon if self.bound == "mixture" else published_epsilon
        return bound(epsilon, self.m, self.M)

    def epsilon_before(self, epsilon_after: ArrayLike) -> FloatArray:
        """Return the inverse of the bound of this object's name."""
        if self.bound == "published":
            return published_base_epsilon(epsilon_after, self.m, self.M)
        if self.m == 1:
            return np.full_like(as_array(epsilon_after), np.inf)
        return mixture_base_epsilon(epsilon_after, self.m, self.M)

    def _after(self, base: Guarantee) -> Guarantee | NoGuarantee:
        """Return the pair of the bound in use; Theorem 5.4 has its own delta, delta (1 - m)."""
        if self.bound == "mixture":
            return super()._after(base)
        after = self._epsilon_not_below(base.epsilon)
        delta = not_below(Fraction(base.delta) * (1 - Fraction(self.m)))
        return guarantee_if_any(after, delta, base.neighbours, str(self))

    def _epsilon_not_below(self, epsilon: float) -> float:
        """Return the bound rounded up; with `m = M` it is a Poisson sample, which never loses."""
        after = super()._epsilon_not_below(epsilon)
        return min(after, epsilon) if self.m == self.M else after

    def candidates(self, target: Guarantee) -> tuple[Guarantee | NoNoiseNeeded, ...]:
        """Return the pair of the mixture bound and, where delta > 0, that of Theorem 5.4.

        The mixture bound allows the larger epsilon, Theorem 5.4 the larger delta: neither is
        better in both, and their parts must not be combined.
        """
        self.require_relation(target)
        if self.bound == "published":
            return (self._published_candidate(target),)
        candidates = super().candidates(target)
        if not target.delta or not self._has_published_bound(self.m, self.M):
            return candidates
        published = OutlierScoreSuppression(self.m, self.M, self.distance, "published")
        if np.isnan(published.epsilon_before(target.epsilon)):
            return candidates
        return (*candidates, *published.candidates(target))

    def design(self, data: Data, distance: str) -> Design:
        """Return that every record is kept with one minus its outlier score.

        A probability is the floating-point number nearest to the exact one; `rounding_cost` is
        what that can cost in privacy.

        Raises
        ------
        Refused
            If the distance is not one of such data.
        """
        distances = data.mean_distances(self.distance or distance)
        return Independent(distances.keep_probabilities(self.m, self.M))

    def deletion_probabilities(self, data: Data, distance: str) -> tuple[Fraction, ...]:
        """Return the outlier scores of all values, or of all records of points, exactly.

        Drawing with these has the guarantee as it stands.

        Examples
        --------
        >>> from omit import Column
        >>> ages = Column.from_values([20, 20, 30, 60], bounds=(0, 100))
        >>> scores = OutlierScoreSuppression(m=0.25, M=0.5)
        >>> [str(score) for score in scores.deletion_probabilities(ages, "discrete")]
        ['3/8', '7/16', '7/16']
        """
        distances = data.mean_distances(self.distance or distance)
        return distances.deletion_probabilities(self.m, self.M)

    def rounding_cost(self, epsilon: float, records: int) -> float:
        """Return by how much at most rounded keep probabilities can raise the loss above the bound.

        Every probability is off by at most `h = 2^-54`. In the loss of a pair of neighbouring
        databases of up to `n + 1` records stand `2n + 1` of them, every one in a logarithm whose
        derivative is at most `(E - 1) / min(x, b)`, with `x` and `b` as in `mixture_epsilon`:
        together `(2n + 1) h (E - 1) / min(x, b)`. Below 1e-9 for a million records at epsilon = 1.

        Examples
        --------
        >>> OutlierScoreSuppression(m=0.1, M=0.3).rounding_cost(1.0, records=10**6)
        1.62...e-10
        """
        epsilon = _validate.epsilon(epsilon)
        records = _validate.positive_integer("records", records, most=10**15)
        # Both divided by E, so that nothing overflows.
        grown, rest = -math.expm1(-epsilon), math.exp(-epsilon)
        least = rest + grown * min(self.m, 1 - self.M)
        return (2 * records + 1) * _ROUNDING * grown / least

    def privacy_bounds(self, epsilon: float) -> dict[str, float]:
        """Return the mixture bound and, where it is defined, the published one."""
        epsilon = _validate.epsilon(epsilon)
        known = {"mixture": float(mixture_epsilon(epsilon, self.m, self.M))}
        if self._has_published_bound(self.m, self.M):
            known["published"] = float(published_epsilon(epsilon, self.m, self.M))
        return known

    def worst_pair(self, size: int, epsilon: float) -> IndependentPair:
        """Return neighbouring databases whose loss comes near the mixture bound as `size` grows.

        The worse of two pairs: `size` copies of one record, and one record more at distance 1;
        or `size` records at distance 1 from each other, and one more at distance 1/2 from all of
        them. The loss tends to the bound where `m + M <= 1` (the first pair), and where the
        maximum in the bound is at `a = 1/2` (the second); between the two it stays a few per
        cent below.

        Examples
        --------
        >>> suppression = OutlierScoreSuppression(m=0.1, M=0.2)
        >>> for size in (1, 100, 10000):
        ...     print(round(suppression.worst_pair(size, 0.25).loss(0.25).epsilon, 6))
        0.229972
        0.232322
        0.232369
        """
        size = _validate.positive_integer("size", size, most=10**7)
        copies = 0.0, 1 / (size + 1), size / (size + 1)
        hub = (size - 1) / size, (size - 0.5) / (size + 1), 0.5 * size / (size + 1)
        pairs = []
        for distances in (copies, hub):
            before, after, added = (self.m + (self.M - self.m) * mean for mean in distances)
            pairs.append(IndependentPair((before,) * size, (after,) * size, added))
        return max(pairs, key=lambda pair: pair.loss(epsilon).epsilon)

    @staticmethod
    def _has_published_bound(m: float, M: float) -> bool:
        return 0 < m <= M < 1

    def _published_candidate(self, target: Guarantee) -> Guarantee | NoNoiseNeeded:
        base = super().candidates(Guarantee(target.epsilon, 0.0, target.neighbours))[0]
        if isinstance(base, NoNoiseNeeded) or not target.delta:
            return base
        return self._base(base.epsilon, target, 1 - self.m)

    def _why_unattainable(self, target: Guarantee) -> str:
        return (
            super()._why_unattainable(target) + ' The mixture bound (bound="mixture") reaches it.'
        )


def outlier_scores(distances: ArrayLike, m: float, M: float) -> FloatArray:
    """Return the deletion probabilities of all records, from all pairwise distances.

    Examples
    --------
    >>> outlier_scores([[0, 0, 1], [0, 0, 1], [1, 1, 0]], m=0.1, M=0.4)
    array([0.2, 0.2, 0.3])
    """
    return as_array(m + (M - m) * as_array(distances).mean(axis=1))


def outlier_score_pair(distances: ArrayLike, m: float, M: float) -> IndependentPair:
    """Return the pair of a database without and with its last record, from all pairwise distances.

    Examples
    --------
    >>> outlier_score_pair([[0, 1], [1, 0]], m=0.1, M=0.3)
    IndependentPair(before=(0.1,), after=(0.2,), added=0.2)
    """
    distances = as_array(distances)
    with_record = outlier_scores(distances, m, M)
    before = outlier_scores(distances[:-1, :-1], m, M) if len(distances) > 1 else ()
    return IndependentPair(tuple(before), tuple(with_record[:-1]), float(with_record[-1]))


def mixture_epsilon(epsilon: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the universal mixture bound for outlier-score suppression.

    With `x = 1 + (E-1)m`, `b = E - (E-1)M`, `A = E - (E-1)m` and `B = (E-1)(M-m)`, it is
    `ln b + B/x` where `m + M <= 1`, and else the largest value over `a` in [1/2, 1] of
    `ln(A - Ba) + (1-a)B/b + (2a-1)B/x`.

    Examples
    --------
    >>> mixture_epsilon([0.25, 1.0, 4.0], [0.1, 0.5, 0.6], [0.2, 0.6, 0.9]).round(10)
    array([0.23236984, 0.62371866, 3.93134017])
    """
    return _in_blocks(_mixture, *_checked(epsilon, m, M))


def mixture_base_epsilon(target: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the epsilon of the mechanism for which `mixture_epsilon` is `target`.

    It exists for every target; `inf` where everything is deleted (`m = 1`).

    Examples
    --------
    >>> mixture_base_epsilon(1.0, 0.5, [0.5, 0.6]).round(10)
    array([1.48988013, 1.48129654])
    """
    return invert_increasing(partial(_in_blocks, _mixture), *_checked(target, m, M))


def published_epsilon(epsilon: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return epsilon of Theorem 5.4: the largest of the three `published_terms`.

    Examples
    --------
    >>> published_epsilon([0.0, 0.25, 1.0], [0.1, 0.1, 0.5], [0.2, 0.2, 0.6]).round(10)
    array([1.        , 1.20475172, 0.74413122])
    """
    return _largest_published(*_checked(epsilon, m, M, inside=True))


def published_base_epsilon(target: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the epsilon of the mechanism for which `published_epsilon` is `target`.

    `nan` where no mechanism reaches the target: the bound does not vanish with epsilon.

    Examples
    --------
    >>> published_base_epsilon([0.25, 1.0, 1.0], [0.5, 0.5, 0.1], [0.6, 0.6, 0.3]).round(10)
    array([0.11107281, 1.36198047,        nan])
    """
    target, m, M = _checked(target, m, M, inside=True)
    base = invert_increasing(_largest_published, target, m, M)
    return np.where((base < SMALLEST_PUBLISHED_BASE) & (m < M), np.nan, base)


def published_terms(
    epsilon: ArrayLike, m: ArrayLike, M: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the three terms of Theorem 5.4: the maxima over p of l1 and l2, and l3.

    Proposition B.10 gives the maximisers in closed form, by roots of cubics that lose their
    digits for small epsilon and overflow for large; here they come from bisection of the
    derivative, which changes sign at most once, from plus to minus.
    """
    first, second, third = _in_blocks(_published, *_checked(epsilon, m, M, inside=True))
    return first, second, third


def maximiser_l1(epsilon: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the p in [0, 1] at which l1 of Theorem 5.4 is largest."""
    return last_increase(_slope_l1, *_scaled(*_checked(epsilon, m, M, inside=True)))


def maximiser_l2(epsilon: ArrayLike, m: ArrayLike, M: ArrayLike) -> FloatArray:
    """Return the p in [0, 1] at which l2 of Theorem 5.4 is largest."""
    return last_increase(_slope_l2, *_scaled(*_checked(epsilon, m, M, inside=True)))


def _checked(
    epsilon: ArrayLike, m: ArrayLike, M: ArrayLike, *, inside: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the arguments as arrays, or refuse what no bound is defined for."""
    m, M = as_array(m), as_array(M)
    ordered = (m > 0) & (m <= M) & (M < 1) if inside else (m >= 0) & (m <= M) & (M <= 1)
    if not ordered.all():
        wanted = "0 < m <= M < 1" if inside else "0 <= m <= M <= 1"
        raise InvalidInput(f"Expected {wanted} everywhere.")
    return _validate.epsilons(epsilon), m, M


def _in_blocks(function: Callable[..., FloatArray], *arguments: ArrayLike) -> FloatArray:
    """Apply a function to blocks of the broadcast arguments; extra output axes come first."""
    arrays = np.broadcast_arrays(*map(as_array, arguments))
    shape = arrays[0].shape
    flat = [array.ravel() for array in arrays]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        parts = [
            function(*(array[start : start + _BLOCK] for array in flat))
            for start in range(0, max(flat[0].size, 1), _BLOCK)
        ]
    result = np.concatenate(parts, axis=-1)
    return result.reshape(result.shape[:-1] + shape)


def _largest_published(epsilon: FloatArray, m: FloatArray, M: FloatArray) -> FloatArray:
    return as_array(_in_blocks(_published, epsilon, m, M).max(axis=0))


def _scaled(
    epsilon: FloatArray, m: FloatArray, M: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return `1/E`, `1 - 1/E`, `m` and `M`."""
    return np.exp(-epsilon), -np.expm1(-epsilon), m, M


def _mixture(epsilon: FloatArray, m: FloatArray, M: FloatArray) -> FloatArray:
    t, s, m, M = _scaled(epsilon, m, M)
    x, b, B = t + s * m, t + s * (1 - M), s * (M - m)
    c = 2 / x - 1 / b
    stationary = np.where(c > 0, (t + s * (1 - m) - 1 / c) / B, 0.5)
    a = np.where(m <= 1 - M, 1.0, np.clip(stationary, 0.5, 1.0))
    a = np.where(B > 0, a, 1.0)
    keep = (1 - M) + (M - m) * (1 - a)
    hub = np.where(a < 1, (1 - a) * B / b, 0.0)
    # Of a database without outliers x may vanish, where epsilon is large.
    return log_mix(epsilon, keep) + hub + np.where(B > 0, (2 * a - 1) * B / x, 0.0)


def _published(epsilon: FloatArray, m: FloatArray, M: FloatArray) -> FloatArray:
    t, s, m, M = _scaled(epsilon, m, M)
    spread = M - m
    p = last_increase(_slope_l1, t, s, m, M)
    keep = 1 - m - p * spread
    l1 = log_mix(epsilon, keep) + p * spread / m + p * (1 - p) * spread / keep
    p = last_increase(_slope_l2, t, s, m, M)
    share = (1 - p) / (2 - p)
    keep = (1 - M) + share * spread
    l2 = log_mix(epsilon, keep) + p * spread / m + share * spread / (1 - M)
    kept = np.where(epsilon < 1, -np.log1p(-s * (1 - M)), epsilon - log_mix(epsilon, M))
    return np.stack([l1, l2, kept + spread / (1 - m)])


def _slope_l1(
    p: FloatArray, t: FloatArray, s: FloatArray, m: FloatArray, M: FloatArray
) -> FloatArray:
    """Return the derivative of l1 in p, divided by M - m."""
    keep = 1 - m - p * (M - m)
    return 1 / m - s / (t + s * keep) + ((1 - 2 * p) + p * (1 - p) * (M - m) / keep) / keep


def _slope_l2(
    p: FloatArray, t: FloatArray, s: FloatArray, m: FloatArray, M: FloatArray
) -> FloatArray:
    """Return the derivative of l2 in p, divided by M - m."""
    keep = (1 - M) + (1 - p) / (2 - p) * (M - m)
    return 1 / m - (s / (t + s * keep) + 1 / (1 - M)) / (2 - p) ** 2
