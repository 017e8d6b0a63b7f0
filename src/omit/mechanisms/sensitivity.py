"""How far one exchanged record can move a mean, a median or another quantile.

All under the replace relation: the number of records is public and stays. What is public of a
sensitivity: the global one, which follows from the declared bounds. The local and the smooth
sensitivity are computed from the data; noise in proportion to the local one is not private, and
noise in proportion to the smooth one is (see `smooth_noise`).

- *global*: over all databases of this size within the bounds;
- *local*: from the data at hand to its neighbours;
- *at distance m*: the largest local sensitivity of all databases that differ in m records;
- *smooth*: the largest local sensitivity at any distance `m`, discounted by `e^(-beta m)`. It is
  at least the local one, and neighbours' differ by a factor of at most `e^beta`.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from omit import _validate
from omit._numeric import as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.mechanisms.order import MEDIAN, checked_share, outward
from omit.mechanisms.windows import largest_difference, largest_discounted, smallest_distance

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
