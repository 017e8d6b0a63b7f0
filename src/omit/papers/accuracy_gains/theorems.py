"""What the accuracy-gains paper states for all data, tried on databases small enough to list.

Theorem 1 is held against linear programs over all mechanisms. Whether a sample's answer is in a set
is a function `f` of the sample, with values in [0, 1]. A mechanism that satisfies the paper's
Definition 3 for a half-line may have any `f` with

    f(C) <= e^epsilon f(C') + delta       for neighbours C, C',

and one that is (epsilon, delta)-DP in the usual sense any `f` for which `1 - f` satisfies that,
too. What is linear in `f`, such as the two sides of the theorem, is then largest at a vertex.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import ClassVar, TypeAlias

import numpy as np

from omit._numeric import as_array
from omit.audit.bounds import PROGRAM_TOLERANCE, Audit, Cases
from omit.laws.noise import Laplace
from omit.omissions.sampling import sampling_base_epsilon, sampling_epsilon
from omit.papers.checks import Theorem, Theorems, outcome_row
from omit.study.cell import Computation, Row

Database: TypeAlias = tuple[int, ...]
"""Values of a small domain, in ascending order."""
Statistic: TypeAlias = Callable[[Sequence[float]], float]

_VALUES = 4


def databases(size: int, values: int = _VALUES) -> list[Database]:
    """Return all multisets of a size over a small domain.

    Examples
    --------
    >>> databases(2, values=2)
    [(0, 0), (0, 1), (1, 1)]
    """
    return list(itertools.combinations_with_replacement(range(values), size))


def exchanges(first: Database, second: Database) -> int:
    """Return how many records of one database have to be exchanged to get the other."""
    return len(first) - sum((Counter(first) & Counter(second)).values())


def sampled(database: Database, size: int) -> dict[Database, float]:
    """Return the law of a simple random sample without replacement.

    Examples
    --------
    >>> sampled((0, 0, 1), 2)
    {(0, 0): 0.3333..., (0, 1): 0.6666...}
    """
    drawn = Counter(itertools.combinations(database, size))
    return {sample: times / drawn.total() for sample, times in drawn.items()}


def largest_excess(
    first: Database,
    second: Database,
    size: int,
    epsilon: float,
    delta: float,
    *,
    half_lines: bool = False,
) -> float:
    """Return the least delta that Theorem 1 needs for two populations and all mechanisms.

    That is the most by which the probability of a set of answers on a sample of the first
    population can exceed `1 + n/N (e^epsilon - 1)` times that on a sample of the second.

    Parameters
    ----------
    first, second : Database
        Populations that differ in one record.
    size : int
        Of the sample.
    epsilon, delta : float
        What the mechanism has on databases of that size.
    half_lines : bool
        Whether mechanisms need only satisfy Definition 3 of the paper, for half-lines.

    Examples
    --------
    >>> round(largest_excess((0, 0, 1), (0, 0, 0), 1, epsilon=1.0, delta=0.3), 9)
    0.1
    """
    from scipy.optimize import linprog

    samples = databases(size, 1 + max(*first, *second))
    index = {sample: number for number, sample in enumerate(samples)}
    pairs = [pair for pair in itertools.permutations(samples, 2) if exchanges(*pair) == 1]
    growth = math.exp(epsilon)
    below = np.zeros((len(pairs), len(samples)))
    for row, (left, right) in zip(below, pairs, strict=True):
        row[index[left]], row[index[right]] = 1.0, -growth
    limits = np.full(len(pairs), delta)
    if not half_lines:  # the same for 1 - f
        below, limits = np.vstack([below, -below]), np.append(limits, limits + growth - 1)
    gain = np.zeros(len(samples))
    share = math.exp(float(sampling_epsilon(epsilon, size / len(first))))
    for sample, weight in sampled(first, size).items():
        gain[index[sample]] += weight
    for sample, weight in sampled(second, size).items():
        gain[index[sample]] -= share * weight
    answer = linprog(-gain, A_ub=below, b_ub=limits, bounds=(0, 1), method="highs")
    return float(-answer.fun)


def theorem_1(rng: np.random.Generator, count: int, half_lines: bool) -> Cases:
    """Give the delta that Theorem 1 states and the one needed, for random small populations."""
    for _ in range(count):
        population = int(rng.integers(2, 6))
        size = int(rng.integers(1, population))
        every = databases(population, int(rng.integers(2, 4)))
        first = every[rng.integers(len(every))]
        neighbours = [other for other in every if exchanges(first, other) == 1]
        second = neighbours[rng.integers(len(neighbours))]
        epsilon, delta = float(rng.uniform(0.05, 2)), float(rng.uniform(0, 0.3))
        needed = largest_excess(first, second, size, epsilon, delta, half_lines=half_lines)
        yield size / population * delta, needed


def attained(rng: np.random.Generator, count: int) -> Cases:
    """Give the delta stated and the one needed, where one record is unlike all others."""
    for _ in range(count):
        population = int(rng.integers(2, 6))
        size = int(rng.integers(1, population))
        others = (0,) * (population - 1)
        epsilon, delta = float(rng.uniform(0.05, 2)), float(rng.uniform(0, 0.3))
        needed = largest_excess((*others, 1), (*others, 0), size, epsilon, delta)
        yield size / population * delta, needed


def loss_of_a_population_scale(population: int, size: int, epsilon: float) -> float:
    """Return the exact epsilon of a sample's mean with the noise that all records need.

    Records are in [0, 1], and the noise has the scale `1/(N epsilon)`. One record moves the mean of
    a sample that has it by `1/n`; the loss is largest beyond both means.

    Examples
    --------
    >>> round(loss_of_a_population_scale(100, 10, 1.0), 6)
    7.697823
    """
    noise, moved = Laplace(1 / (population * epsilon)), 1 / size
    apart = float(noise.log_tail(0.0) - noise.log_tail(moved))
    return float(sampling_epsilon(apart, size / population))


def delta_by_half_lines(epsilon: float, answers: int, *, both_ways: bool = False) -> float:
    """Return the delta that DP needs for what Definition 2 calls epsilon-DP, at most.

    Two laws on this many answers in order, whose distribution functions differ by a factor of at
    most `e^epsilon`, and with `both_ways` those from above, too; and every second answer as the
    set.

    Examples
    --------
    >>> round(delta_by_half_lines(math.log(2), 3), 9)
    0.5
    """
    from scipy.optimize import linprog

    growth = math.exp(epsilon)
    below = np.tril(np.ones((answers, answers)))
    lines = np.vstack([below, below[::-1, ::-1]]) if both_ways else below
    rows = np.vstack([np.hstack([lines, -growth * lines]), np.hstack([-growth * lines, lines])])
    in_set = (np.arange(answers) % 2 == (answers + 1) % 2).astype(float)
    gain = np.concatenate([in_set, -growth * in_set])
    total = np.kron(np.eye(2), np.ones(answers))
    answer = linprog(
        -gain, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=total, b_eq=[1.0, 1.0], method="highs"
    )
    return float(-answer.fun)


def smooth_as_printed(values: Sequence[float], beta: float, bounds: tuple[float, float]) -> float:
    """Return Equation 4, the bounds standing beyond the first and the last of an odd number.

    Examples
    --------
    >>> round(smooth_as_printed([20, 30, 30, 40, 60], 1.0, (0, 100)), 6)
    11.036383
    """
    number, middle = len(values), (len(values) + 1) // 2
    lower, upper = bounds

    def ranked(rank: int) -> float:
        return lower if rank < 1 else upper if rank > number else values[rank - 1]

    return max(
        math.exp(-k * beta)
        * max(ranked(middle + t) - ranked(middle + t - k - 1) for t in range(k + 2))
        for k in range(number + 1)
    )


def local_sensitivities(statistic: Statistic, size: int) -> dict[Database, float]:
    """Return the most that one exchange changes a statistic, for every small database.

    Examples
    --------
    >>> from statistics import median
    >>> local_sensitivities(median, 3)[0, 1, 3]
    2
    """
    every = databases(size)
    values = {database: statistic(database) for database in every}
    return {
        database: max(
            abs(values[database] - values[other])
            for other in every
            if exchanges(database, other) == 1
        )
        for database in every
    }


def smooth_medians() -> Cases:
    """Give Equation 4 and the smooth sensitivity by its definition, for all small databases."""
    for size in (1, 3, 5):
        local = local_sensitivities(_median, size)
        for database, beta in itertools.product(local, (0.05, 0.5, 2.0)):
            smooth = max(
                math.exp(-beta * exchanges(database, other)) * sensitivity
                for other, sensitivity in local.items()
            )
            yield smooth_as_printed(database, beta, (0, _VALUES - 1)), smooth


def _median(values: Sequence[float]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def global_sensitivities() -> Cases:
    """Give R/N for means and R for medians, and the largest change, over all small databases."""
    width = _VALUES - 1
    for size in (1, 3, 5):
        yield width / size, max(local_sensitivities(_mean, size).values())
        yield width, max(local_sensitivities(_median, size).values())


def local_as_printed() -> Cases:
    """Give the local sensitivities of Section 2.2 and the largest change, for small databases."""
    highest = _VALUES - 1
    for size in (3, 5):
        of_mean, of_median = (local_sensitivities(s, size) for s in (_mean, _median))
        for database in of_mean:
            yield max(highest - database[0], database[-1]) / size, of_mean[database]
            below, middle, above = database[size // 2 - 1 : size // 2 + 2]
            yield max(above - middle, middle - below), of_median[database]


def reductions() -> Iterator[tuple[float, float]]:
    """Give the share of the global sensitivity that the local one is: of mean and of median."""
    width = _VALUES - 1
    for size in (3, 5):
        of_mean, of_median = (local_sensitivities(s, size) for s in (_mean, _median))
        for database in of_mean:
            yield of_mean[database] * size / width, of_median[database] / width


def variance_of_samples(values: Sequence[float], size: int, statistic: Statistic) -> float:
    """Return the variance of a statistic over all simple random samples.

    Examples
    --------
    >>> round(variance_of_samples([0.0, 1.0, 2.0], 2, _mean), 9)
    0.166666667
    """
    answers = as_array([statistic(sample) for sample in itertools.combinations(values, size)])
    return float(answers.var())


def variances_of_means(rng: np.random.Generator, count: int) -> Cases:
    """Give Equation 7's sampling variance and that over all samples, for random populations."""
    for _ in range(count):
        population = int(rng.integers(2, 9))
        size = int(rng.integers(1, population + 1))
        values = rng.normal(size=population)
        stated = (1 - size / population) * values.var(ddof=1) / size
        yield float(stated), variance_of_samples(values.tolist(), size, _mean)


def median_of_two(spread: float, epsilon: float) -> tuple[float, float, float]:
    """Return what Table 1's first row says of the median of two of three records in [0, 1].

    The records are 1/2 and 1/2 plus and minus the spread. The median of three has the global
    sensitivity 1, that of two, the mean of both, 1/2. Returned are the sampling variance from which
    on no gain is possible, as printed, the sampling variance, and the gain in total variance.

    Examples
    --------
    >>> limit, variance, gain = median_of_two(0.2, epsilon=10.0)
    >>> variance > limit, gain > 0
    (True, True)
    """
    records = (0.5 - spread, 0.5, 0.5 + spread)
    variance = variance_of_samples(records, 2, _median)
    on_sample = float(sampling_base_epsilon(epsilon, 2 / 3))
    gain = 2 / epsilon**2 - (variance + 2 * (0.5 / on_sample) ** 2)
    return 2 * (1 / epsilon**2 - 1 / on_sample**2), variance, gain


TRUE: Mapping[str, Theorem] = MappingProxyType(
    {
        "theorem-1": Theorem(
            "Theorem 1, all mechanisms by linear programs: delta on samples",
            partial(theorem_1, half_lines=False),
            PROGRAM_TOLERANCE,
        ),
        "theorem-1-for-half-lines": Theorem(
            "Theorem 1, all mechanisms of Definition 3: delta on samples",
            partial(theorem_1, half_lines=True),
            PROGRAM_TOLERANCE,
        ),
        "theorem-1-is-attained": Theorem(
            "Theorem 1, one record unlike all others: delta on samples = the stated",
            attained,
            PROGRAM_TOLERANCE,
            exact=True,
        ),
        "global-sensitivities": Theorem(
            "Definition 4: largest change = R/N for means, R for medians",
            global_sensitivities,
            exact=True,
            listed=True,
        ),
        "local-sensitivities": Theorem(
            "Definition 5: largest change of a mean and a median = the formulas",
            local_as_printed,
            exact=True,
            listed=True,
        ),
        "equation-4": Theorem(
            "Equation 4 = smooth sensitivity of the median by its definition",
            smooth_medians,
            exact=True,
            listed=True,
        ),
        "equation-7": Theorem(
            "Equation 7 = variance of the mean over all samples", variances_of_means, exact=True
        ),
    }
)
"""What holds; `omit verify accuracy-gains` tries to refute it."""


def _tried(parameters: Row, prepared: object, rng: np.random.Generator) -> Row:
    """Return what came of one of them."""
    return outcome_row(TRUE[parameters["theorem"]], parameters["cases"], rng)


THEOREMS = Theorems(TRUE, Computation("theorems of accuracy gains", 1, _tried))


@dataclass(frozen=True)
class SamplingAudit(Audit):
    """The outcomes of the checks of what holds."""

    command: ClassVar[str] = "verify sampling"
