"""How far one exchanged record can move a mean, a median or another quantile.

All under the replace relation: the number of records is public and stays. What is public of a
sensitivity: the global one, which follows from the declared bounds. The local and the smooth
sensitivity are computed from the data; noise in proportion to the local one is not private, and
noise in proportion to the smooth one is (below).

- *global*: over all databases of this size within the bounds;
- *local*: from the data at hand to its neighbours;
- *at distance m*: the largest local sensitivity of all databases that differ in m records;
- *smooth*: the largest local sensitivity at any distance `m`, discounted by `e^(-beta m)`. It is
  at least the local one, and neighbours' differ by a factor of at most `e^beta`.

*Noise in proportion to a smooth sensitivity.* `f` is a statistic, `S` a `beta`-smooth bound of its
local sensitivity: for neighbours `D`, `D'`, `|f(D) - f(D')| <= min(S(D), S(D'))` and
`|ln S(D) - ln S(D')| <= beta`. Published is `f(D) + S(D)/alpha Z`, with `Z` of a fixed
distribution. Between neighbours that distribution is moved by at most `alpha` times its scale and
stretched by at most `e^beta`.

*Laplace.* For `Z` of density `e^-|z| / 2`, and both `alpha` and `beta + alpha e^-beta` at most
epsilon, the release is (epsilon, delta)-DP with, and for the worst such pair not below,

    delta = (1 - e^-beta) e^(-(epsilon + beta) w) cosh(alpha w),      w = 1/(e^beta - 1).

Where the other scale is the larger one, the privacy loss is at most `beta + alpha e^-beta` or
`alpha`. Where it is the smaller one, `s < 1`, and the centres are `alpha s` apart, the loss exceeds
epsilon only in the two tails, from `(epsilon + ln(1/s) +- alpha) / (1/s - 1)` on; both densities
are exponentials there, and the hockey-stick integral is the above with `s` for `e^-beta`. It rises
as `s` falls. Nissim, Raskhodnikova and Smith (2007) prove less with the same noise: for
`alpha = epsilon/2` and `beta = epsilon / (2 ln(2/delta))`, with small epsilon and delta.

*Student's t with d degrees of freedom.* Moving by `m` scales costs at most `m (d+1)/(2 sqrt(d))`,
stretching by `e^beta` costs at most `d beta` (Bun and Steinke 2019 prove `(d+1) beta`), so

    epsilon = alpha (d+1)/(2 sqrt(d)) + d beta,   delta = 0.

The variance `d/(d-2)` is finite from three degrees of freedom on. The documentation ("Medians and
means from samples") has both derivations, the tests hold them against the densities themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from omit import _validate
from omit._numeric import as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.exact.order import (
    MEDIAN,
    checked_share,
    largest_difference,
    largest_discounted,
    outward,
    smallest_distance,
)
from omit.guarantee import Guarantee
from omit.laws.inversion import root_of, walk
from omit.laws.noise import Laplace, Noise, StudentT

Statistic: TypeAlias = Literal["mean", "median"] | float
"""A mean, a median, or the share that a quantile has below it."""
Padding: TypeAlias = Literal["bounds", "none"]
"""What stands beyond the last record: the declared bound, or nothing, which is NOT private."""


def global_sensitivity(column: Column, statistic: Statistic) -> float:
    """Return the largest change of the statistic by one exchange, over all databases.

    The width of the bounds divided by the number of records for the mean; the whole width for a
    quantile, whatever the number of records (half of it for the median of an even number).

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 30, 40, 60], bounds=(0, 100))
    >>> global_sensitivity(ages, "mean"), global_sensitivity(ages, "median")
    (20.0, 100.0)
    """
    lower, upper = _bounds(column)
    share = _share(statistic)
    if share is None:
        return (upper - lower) / column.size
    return _averaging(share, column.size) * (upper - lower)


def local_sensitivity(column: Column, statistic: Statistic, distance: int = 0) -> float:
    """Return the largest change by one exchange, after up to `distance` other exchanges.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 30, 40, 60], bounds=(0, 100))
    >>> local_sensitivity(ages, "mean"), local_sensitivity(ages, "median")
    (16.0, 10.0)
    >>> local_sensitivity(ages, "median", distance=2)
    70.0
    """
    lower, upper = _bounds(column)
    distance = int(_validate.epsilon(distance, "distance"))
    share = _share(statistic)
    if share is None:
        if distance > 0:
            return (upper - lower) / column.size
        first, last = float(column.values[0]), float(column.values[-1])
        return max(upper - first, last - lower) / column.size
    _, weight, around = outward(as_array(column.values), column.counts, share, lower, upper, True)
    return weight * largest_difference(around, distance)


def smooth_sensitivity(
    column: Column, statistic: Statistic, beta: float, padding: Padding = "bounds"
) -> float:
    """Return the smooth sensitivity: `max over m of e^(-beta m) * (local at distance m)`.

    O(n log n) on sorted value counts, and equal to that definition, down to `smooth_floor`.

    Parameters
    ----------
    column : Column
        The data, with declared bounds.
    statistic : "mean", "median" or float
        What is computed.
    beta : float
        The discount, above 0.
    padding : {"bounds", "none"}
        Whether the declared bounds stand beyond the last records. Without them the data's own
        range limits the sensitivity, and noise in proportion to it is NOT private.

    References
    ----------
    Nissim, Raskhodnikova and Smith, 'Smooth sensitivity and sampling in private data analysis',
    STOC 2007, Section 3.1.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 30, 40, 60], bounds=(0, 100))
    >>> smooth_sensitivity(ages, "median", beta=1.0)
    11.036383235143...
    >>> local_sensitivity(ages, "median", distance=1) * math.exp(-1.0)
    11.036383235143...
    """
    lower, upper = _bounds(column)
    beta = _validate.finite("beta", beta)
    if beta <= 0:
        raise InvalidInput(f"Expected beta={beta:g} to be above 0.")
    if padding not in ("bounds", "none"):
        raise InvalidInput(f"Expected padding={padding!r} to be 'bounds' or 'none'.")
    share = _share(statistic)
    if share is None:
        if padding == "none":
            lower, upper = float(column.values[0]), float(column.values[-1])
        return max(
            local_sensitivity(column, "mean"), math.exp(-beta) * (upper - lower) / column.size
        )
    _, weight, around = outward(
        as_array(column.values), column.counts, share, lower, upper, padding == "bounds"
    )
    smooth = weight * largest_discounted(around, beta)
    return max(smooth, smooth_floor(lower, upper)) if padding == "bounds" else smooth


def smooth_floor(lower: float, upper: float) -> float:
    """Return what a smooth sensitivity of numbers within bounds is raised to.

    Far out, `e^(-beta m)` is smaller than any number a computer has, and what is rounded to 0 is
    not smooth: a neighbour's may be rounded to more. The larger of a smooth bound and a constant is
    smooth again, and this constant follows from the public bounds alone.

    Examples
    --------
    >>> smooth_floor(0.0, 1.0) == 2.0**-900
    True
    """
    # Bounds that are one point leave nothing to protect.
    return max(2.0**-900 * (upper - lower), 2.0**-1000) if upper > lower else 0.0


def distance_to_sensitivity(column: Column, statistic: Statistic, above: float) -> float:
    """Return how many records must be exchanged before the local sensitivity exceeds `above`.

    Infinity if that never happens. Between neighbours it differs by at most 1.

    Examples
    --------
    >>> ages = Column.from_values([20, 30, 30, 40, 60], bounds=(0, 100))
    >>> [distance_to_sensitivity(ages, "median", above) for above in (5, 10, 39, 100)]
    [0.0, 1.0, 2.0, inf]
    """
    above = _validate.finite("above", above)
    lower, upper = _bounds(column)
    share = _share(statistic)
    if share is None:
        local = local_sensitivity(column, "mean")
        return 0.0 if local > above else 1.0 if (upper - lower) / column.size > above else math.inf
    _, weight, around = outward(as_array(column.values), column.counts, share, lower, upper, True)
    return float(smallest_distance(around, above / weight))


def _bounds(column: Column) -> tuple[float, float]:
    if column.bounds is None:
        raise InvalidInput(f"Column {column.name!r} is text and has no sensitivity.")
    return column.bounds


def _share(statistic: Statistic) -> float | None:
    """Return the share of a quantile, or None for the mean."""
    if isinstance(statistic, str):
        if statistic not in ("mean", "median"):
            raise InvalidInput(
                f"Expected statistic={statistic!r} to be 'mean', 'median' or a share in (0, 1)."
            )
        return None if statistic == "mean" else MEDIAN
    return checked_share(statistic)


def _averaging(share: float, size: int) -> float:
    """Return by how much an exchange of the whole range moves the quantile."""
    # With two records, one of them makes half of the median; with more, both of the middle two
    # can be moved by one exchange only from one of their neighbours: half of the range, too.
    return 0.5 if share == MEDIAN and size % 2 == 0 else 1.0


# More than this discounts everything but the local sensitivity to nothing; less is always valid.
_LARGEST_BETA = 50.0
# The last digits of delta are not sure; they must not cost privacy.
_SAFETY = 1 - 1e-9


@dataclass(frozen=True)
class SmoothNoise:
    """Noise of `factor` times the smooth sensitivity for `beta`.

    Examples
    --------
    >>> published_laplace(Guarantee(1.0, 5e-5, "replace"))
    SmoothNoise(unit=Laplace(scale=1.0), beta=0.04718479145..., factor=2.0)
    """

    unit: Noise
    beta: float
    factor: float


def smooth_laplace_delta(epsilon: float, alpha: float, beta: float) -> float:
    """Return the smallest delta of Laplace noise of `1/alpha` times a `beta`-smooth sensitivity.

    Raises
    ------
    InvalidInput
        If the pair (alpha, beta) is too large for this epsilon at any small delta.

    Examples
    --------
    >>> round(smooth_laplace_delta(1.0, alpha=0.5, beta=0.0472), 10)
    2.791e-07
    """
    epsilon = _validate.epsilon(epsilon)
    if alpha > epsilon or beta + alpha * math.exp(-beta) > epsilon * (1 + 1e-12):
        raise InvalidInput(
            f"Expected alpha={alpha:g} and beta={beta:g} so small that alpha and "
            f"beta + alpha e^-beta are at most epsilon={epsilon:g}."
        )
    return math.exp(min(0.0, _log_delta(epsilon, alpha, beta)))


def _log_delta(epsilon: float, alpha: float, beta: float) -> float:
    stretch = 1 / math.expm1(beta)
    log_cosh = alpha * stretch + math.log1p(math.exp(-2 * alpha * stretch)) - math.log(2)
    return math.log(-math.expm1(-beta)) - (epsilon + beta) * stretch + log_cosh


def published_laplace(guarantee: Guarantee) -> SmoothNoise:
    """Return the noise of the papers: scale `2 S/epsilon` with `beta = epsilon/(2 ln(2/delta))`.

    It gives the guarantee with much of delta to spare for the epsilons in use. Where it would
    not (epsilon above 8 to 15, the more the smaller delta), `beta` is that of `tight_laplace`.

    Examples
    --------
    >>> round(published_laplace(Guarantee(0.1, 5e-5, "replace")).beta, 9)
    0.004718479
    """
    tight = tight_laplace(guarantee)
    stated = guarantee.epsilon / (2 * math.log(2 / guarantee.delta))
    return SmoothNoise(tight.unit, min(stated, tight.beta), tight.factor)


def tight_laplace(guarantee: Guarantee) -> SmoothNoise:
    """Return Laplace noise of scale `2 S/epsilon` with the largest `beta` that has the guarantee.

    The larger `beta`, the smaller the sensitivity.

    Raises
    ------
    InvalidInput
        If epsilon or delta is 0.

    Examples
    --------
    >>> round(tight_laplace(Guarantee(0.1, 5e-5, "replace")).beta, 9)
    0.012875627
    """
    _require_positive(guarantee)
    if guarantee.delta == 0:
        raise InvalidInput(
            "Laplace noise by smooth sensitivity needs delta > 0, such as 1e-6; for delta = 0 use "
            "Student's t (smooth-student), the exponential mechanism (exponential) or the global "
            "sensitivity (global-laplace)."
        )
    epsilon, alpha = guarantee.epsilon, guarantee.epsilon / 2
    wanted = math.log(guarantee.delta)
    # With alpha = epsilon/2, beta + alpha e^-beta <= epsilon for all beta up to here.
    highest = min(epsilon / 2, _LARGEST_BETA)

    def excess(log_beta: float) -> float:
        return _log_delta(epsilon, alpha, math.exp(log_beta)) - wanted

    beta = highest
    if excess(math.log(highest)) > 0:
        # For a small beta, delta is at most e^(-epsilon / 2 beta) times constants: this is enough.
        lowest = math.log(min(epsilon / (4 * (2 - wanted)), highest / 2))
        lowest = walk(lambda log_beta: excess(log_beta) > 0, lowest, -1.0)
        beta = math.exp(root_of(excess, lowest, math.log(highest), xtol=1e-14)) * _SAFETY
    return SmoothNoise(Laplace(), beta, 2 / epsilon)


def student_noise(guarantee: Guarantee, degrees: int = 3) -> SmoothNoise:
    """Return noise of Student's t distribution that is epsilon-DP, with delta = 0.

    Half of epsilon is for the difference in the statistic, half for that in the sensitivity.

    Examples
    --------
    >>> noise = student_noise(Guarantee(1.0, neighbours="replace"))
    >>> noise.beta, round(noise.factor, 6), noise.unit.variance
    (0.16666666666666666, 2.309401, 3.0)
    """
    _require_positive(guarantee)
    unit = StudentT(degrees=degrees)
    beta = min(guarantee.epsilon / (2 * degrees), _LARGEST_BETA)
    return SmoothNoise(unit, beta, 2 * unit.steepness / guarantee.epsilon)


def _require_positive(guarantee: Guarantee) -> None:
    if guarantee.epsilon == 0:
        raise InvalidInput("Noise by smooth sensitivity needs epsilon > 0.")
