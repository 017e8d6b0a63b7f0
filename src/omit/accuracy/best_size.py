"""The sample size that minimises the error, for a statistic, data and a guarantee.

The paper's open question ("Accuracy Gains", Section 5). Sizes are tried from one record to all but
a few, at a constant ratio, with few runs; around the best of them again with all runs, and closer
together. Odd sizes are tried and even ones: the median of an odd number is one record, that of an
even number the mean of two, with noise of up to four times less variance. The tried sizes around
the best, and of its parity, whose intervals meet that of the best cannot be told apart from it. The
largest size that needs no noise at all, by its delta, is tried too: errors jump there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from omit.accuracy.deadline import Deadline, coarse_to_fine
from omit.accuracy.expected import Question
from omit.errors import InvalidInput
from omit.exact.error import ExpectedError
from omit.laws.intervals import judge
from omit.omissions.sampling import FixedSizeSampling

POINTS = 36
_FIRST_RUNS = 300
# Two steps of the grid, each with an odd and an even size.
_AROUND = 4


@dataclass(frozen=True)
class BestSize:
    """The sample size with the smallest error, and those of its parity that are not told apart."""

    size: int
    error: ExpectedError
    smallest_alike: int
    largest_alike: int
    tried: int
    complete: bool = True


def sample_sizes(population: int, points: int = POINTS) -> tuple[int, ...]:
    """Return sample sizes below the population, at a constant ratio: odd ones, and one more each.

    Examples
    --------
    >>> sample_sizes(101, 6)
    (1, 2, 3, 4, 7, 8, 15, 16, 39, 40, 99, 100)
    """
    if population < 2:
        raise InvalidInput("A sample of less than all records needs at least two of them.")
    largest = max(1, population - 2 + (population % 2 == 0))
    ratio = largest ** (1 / (points - 1)) if points > 1 else 1.0
    sizes = {min(largest, 2 * int(ratio**step / 2) + 1) for step in range(points)}
    return _both_parities({*sizes, largest}, population - 1)


def sizes_without_noise(population: int, delta: float) -> tuple[int, ...]:
    """Return the largest sample that `delta` lets out without noise, and the next smaller one.

    From `delta >= n/N` on a sample of `n` of `N` records needs no noise, so the error of the
    largest such sample can be far below those of its neighbours in any list of sizes. For medians
    the two differ in parity.

    Examples
    --------
    >>> sizes_without_noise(10_001, 0.01), sizes_without_noise(10_001, 5e-5)
    ((99, 100), ())
    """
    largest = min(int(delta * population * (1 + 1e-12)), population - 1)
    return tuple(size for size in (largest - 1, largest) if size > 0)


def _both_parities(odd: Iterable[int], largest: int) -> tuple[int, ...]:
    """Return odd sizes and the even ones next to them, none above the largest."""
    return tuple(sorted({size for each in odd for size in (each, each + 1) if size <= largest}))


def best_size(
    question: Question,
    advance: Callable[[], None] = lambda: None,
    deadline: Deadline | None = None,
) -> BestSize:
    """Return the sample size with the smallest expected error.

    Parameters
    ----------
    question : Question
        Under replace, where the number of records is public.
    advance : callable
        Called after each size.
    deadline : Deadline, optional
        When to take the best of the sizes that were tried so far.

    Raises
    ------
    InvalidInput
        If there is only one record.

    Examples
    --------
    >>> from omit import Column, Guarantee
    >>> from omit.mechanisms import GlobalQuantile
    >>> ages = Column.from_values(list(range(20, 71)), bounds=(0, 100))
    >>> target = Guarantee(0.1, neighbours="replace")
    >>> best_size(Question(ages, GlobalQuantile(), target)).size
    2
    """
    errors: dict[int, ExpectedError] = {}
    complete = True
    population, runs = question.data.size, question.runs

    def look(sizes: list[int], runs: int) -> None:
        nonlocal complete
        asked = replace(question, runs=runs)
        for size in sizes:
            if errors and deadline is not None and deadline.passed:
                complete = False
                return
            advance()
            errors[size] = asked.error(FixedSizeSampling(size=size, population=population))

    bare = sizes_without_noise(population, question.delta)
    first = sorted({*sample_sizes(population), *bare})
    look([first[number] for number in coarse_to_fine(len(first))], min(runs, _FIRST_RUNS))
    coarse = dict(errors)
    first = sorted(coarse)
    middle = first.index(min(first, key=lambda size: coarse[size].value))
    low = first[max(0, middle - _AROUND)]
    high = first[min(len(first) - 1, middle + _AROUND)]
    look(_between(low, high), runs)
    best = min(errors, key=lambda size: (errors[size].value, size))
    same = sorted(size for size in errors if size % 2 == best % 2)
    meets = [judge(errors[size], errors[best]) != "worse" for size in same]
    first_alike = last_alike = same.index(best)
    while first_alike > 0 and meets[first_alike - 1]:
        first_alike -= 1
    while last_alike < len(same) - 1 and meets[last_alike + 1]:
        last_alike += 1
    return BestSize(best, errors[best], same[first_alike], same[last_alike], len(errors), complete)


def _between(low: int, high: int, points: int = 9) -> list[int]:
    """Return sizes from one to the other, at a constant ratio: odd ones, and one more each."""
    logarithms = [
        math.log(low) + (math.log(high) - math.log(low)) * step / (points - 1)
        for step in range(points)
    ]
    sizes = {2 * int(math.exp(each) / 2 + 1e-9) + 1 for each in logarithms}
    return [size for size in _both_parities(sizes, high) if size >= low]
