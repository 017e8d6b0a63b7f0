"""What parity does to medians: that of an even number of records is the mean of two.

One exchanged record moves such a mean by as little as half as much as it moves a single record. So
samples of even size have less noise than samples of odd size, whether sampling pays or not, and
results of different parity must not be read as an effect of sampling.
"""

from __future__ import annotations

from collections.abc import Iterable

from omit.data.column import Column
from omit.data.points import Points
from omit.mechanisms.base import Mechanism
from omit.mechanisms.clustering import Clustering
from omit.mechanisms.exponential_quantile import ExponentialQuantile
from omit.mechanisms.quantile import QuantileMechanism
from omit.omissions.base import Omission
from omit.omissions.sampling import FixedSizeSampling

_FACT = (
    "The median of an even number of records is the mean of two, with as little as half the "
    "sensitivity of one record"
)


def averages_two(mechanism: Mechanism | Clustering, size: int) -> bool:
    """Tell whether the noise for so many records is that for the mean of two of them.

    The exponential mechanism scores single points and has the same sensitivity for every size.

    Examples
    --------
    >>> from omit import GlobalQuantile
    >>> averages_two(GlobalQuantile(), 10), averages_two(ExponentialQuantile(), 10)
    (True, False)
    """
    return (
        isinstance(mechanism, QuantileMechanism)
        and not isinstance(mechanism, ExponentialQuantile)
        and mechanism.statistic == "median"
        and size % 2 == 0
    )


def averages_unlike_all(
    data: Column | Points, mechanism: Mechanism | Clustering, found: Omission
) -> bool:
    """Tell whether a sample's noise is for the mean of two records, and that of all for one."""
    return (
        isinstance(found, FixedSizeSampling)
        and averages_two(mechanism, found.size)
        and not averages_two(mechanism, data.size)
    )


def parity_notes(
    data: Column | Points, mechanism: Mechanism | Clustering, omissions: Iterable[Omission]
) -> tuple[str, ...]:
    """Return what to say where samples of odd size are compared, for which averaging is missed.

    Nothing, where all rows average two records, or where averaging makes no difference.
    """
    samples = {each.size for each in omissions if isinstance(each, FixedSizeSampling)}
    averaging = {averages_two(mechanism, size) for size in (*samples, data.size)}
    if not samples or not averages_two(mechanism, 2) or averaging == {True}:
        return ()
    if averaging == {False}:
        return (f"{_FACT}: an advantage of samples of even size, of which there is none here.",)
    return (f"{_FACT}: rows of even and of odd size differ by that, too, and not by sampling.",)
