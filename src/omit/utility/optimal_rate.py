"""The sample size that minimises the error, for a statistic, data and a guarantee.

The paper's open question ("Accuracy Gains", Section 5). Sizes are tried from one record to all but
a few, at a constant ratio, with few runs; around the best of them again with all runs, and closer
together. Sizes are odd, so that a median is one record. The sizes whose intervals meet that of the
best cannot be told apart from it: they are the interval of the best size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.integrable import IntegrableMechanism
from omit.omissions.sampling import FixedSizeSampling
from omit.utility.error import Error
from omit.utility.expected import expected_error

POINTS = 36
_FIRST_RUNS = 300
_AROUND = 2


@dataclass(frozen=True)
class BestSize:
    """The sample size with the smallest error, and the sizes that cannot be told apart from it."""

    size: int
    error: Error
    smallest_alike: int
    largest_alike: int
    tried: int


def sample_sizes(population: int, points: int = POINTS) -> tuple[int, ...]:
    """Return odd sample sizes below the population, at a constant ratio.

    Examples
    --------
    >>> sample_sizes(101, 6)
    (1, 3, 7, 15, 39, 99)
    """
    if population < 2:
        raise InvalidInput("A sample of less than all records needs at least two of them.")
    largest = max(1, population - 2 + (population % 2 == 0))
    ratio = largest ** (1 / (points - 1)) if points > 1 else 1.0
    sizes = {min(largest, 2 * int(ratio**step / 2) + 1) for step in range(points)}
    return tuple(sorted({*sizes, largest}))


def best_size(
    data: Column,
    mechanism: IntegrableMechanism,
    guarantee: Guarantee,
    *,
    truth: Any = None,
    runs: int = 2000,
    advance: Callable[[], None] = lambda: None,
) -> BestSize:
    """Return the sample size with the smallest expected error.

    Parameters
    ----------
    data, mechanism, guarantee, truth, runs
        As for `expected_error`.
    advance : callable
        Called after each size.

    Raises
    ------
    InvalidInput
        If there is only one record.

    Examples
    --------
    >>> from omit import GlobalQuantile
    >>> ages = Column.from_values(list(range(20, 71)), bounds=(0, 100))
    >>> best_size(ages, GlobalQuantile(), Guarantee(0.1, neighbours="replace")).size
    1
    """
    errors: dict[int, Error] = {}

    def look(sizes: list[int], runs: int) -> None:
        for size in sizes:
            advance()
            omission = FixedSizeSampling(size=size, population=data.size)
            errors[size] = expected_error(
                data, mechanism, guarantee, omission, truth=truth, runs=runs
            )

    first = list(sample_sizes(data.size))
    look(first, min(runs, _FIRST_RUNS))
    coarse = dict(errors)
    middle = first.index(min(first, key=lambda size: coarse[size].value))
    low = first[max(0, middle - _AROUND)]
    high = first[min(len(first) - 1, middle + _AROUND)]
    look(_between(low, high), runs)
    best = min(errors, key=lambda size: (errors[size].value, size))
    alike = [size for size, error in errors.items() if error.low <= errors[best].high]
    return BestSize(best, errors[best], min(alike), max(alike), len(errors))


def _between(low: int, high: int, points: int = 9) -> list[int]:
    """Return odd sizes from one to the other, at a constant ratio."""
    logarithms = [
        math.log(low) + (math.log(high) - math.log(low)) * step / (points - 1)
        for step in range(points)
    ]
    sizes = {2 * int(math.exp(each) / 2 + 1e-9) + 1 for each in logarithms}
    return sorted(min(max(size, low), high) for size in sizes)
