"""Examples 1 and 2 by listing: samples with entries that the adversary knows, and their errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from omit.audit.bounds import Cases
from omit.papers.statistical_privacy.enumeration import CRITICAL, answer_law, curve


@dataclass(frozen=True)
class KnownEntries:
    """Example 1: a sample of `size` of `n` coins that holds the critical one; some are known."""

    n: int
    size: int
    known: int
    p: float
    epsilon: float

    def on_sample(self, known: int) -> float:
        """Return the curve of a count on a sample with this many known entries."""
        unknown = self.size - 1 - known
        count = answer_law([{0: 1 - self.p, 1: self.p}] * unknown, sum)
        raised = {answer + 1: chance for answer, chance in count.items()}
        return max(curve(count, raised, self.epsilon), curve(raised, count, self.epsilon))

    def weights(self, others: int) -> list[float]:
        """Return the hypergeometric weights of the known entries in the sample, drawn from some.

        They are drawn from the `n - 1` others of the critical entry; the paper prints `n`.
        """
        drawn = self.size - 1
        return [
            math.comb(self.known, z)
            * math.comb(others - self.known, drawn - z)
            / math.comb(others, drawn)
            for z in range(drawn + 1)
        ]

    def average(self, others: int) -> float:
        """Return the sampling privacy curve with these weights."""
        return math.fsum(
            weight * self.on_sample(z) for z, weight in enumerate(self.weights(others)) if weight
        )

    def by_listing(self, values: Sequence[int]) -> float:
        """Return the sampling privacy curve by listing samples, for known entries' values."""
        known = [{value: 1.0} for value in values]
        unknown = [{0: 1 - self.p, 1: self.p}] * (self.n - len(known))
        laws = (*unknown, *known)  # the first is the critical one
        samples = [
            (CRITICAL, *others)
            for others in itertools.combinations(range(1, self.n), self.size - 1)
        ]
        total = 0.0
        for sample in samples:
            others = [laws[entry] for entry in sample[1:]]
            absent, present = (answer_law([{value: 1.0}, *others], sum) for value in (0, 1))
            total += max(curve(absent, present, self.epsilon), curve(present, absent, self.epsilon))
        return total / len(samples)

    def thresholds(self, others: int) -> list[float]:
        """Return the bound of Section 4 for every threshold, by these weights."""
        below = np.cumsum(self.weights(others))
        return [float(1 - share + share * self.on_sample(z)) for z, share in enumerate(below)]


def small_samples() -> Iterator[KnownEntries]:
    """Give samples of up to eight entries, with every number of known ones."""
    for n, p, epsilon in itertools.product((4, 6, 8), (0.3, 0.5), (0.0, 0.1, 0.7)):
        for size, known in itertools.product(range(2, n, 2), range(n)):
            yield KnownEntries(n, size, known, p, epsilon)


def known_entries(printed: bool) -> Cases:
    """Give the average of Example 1, corrected or as printed, and that by listing all samples."""
    for sample in small_samples():
        truth = sample.by_listing([0] * sample.known)
        yield sample.average(sample.n if printed else sample.n - 1), truth


def values_of_known_entries() -> Cases:
    """Give the curve if all known entries are 0, and if they have other values."""
    for sample in small_samples():
        if 0 < sample.known <= 3:
            zeros = sample.by_listing([0] * sample.known)
            for values in itertools.product((0, 1), repeat=sample.known):
                yield zeros, sample.by_listing(values)


def threshold_bounds(printed: bool) -> Cases:
    """Give Section 4's bound for every threshold, and the average by listing all samples."""
    for sample in small_samples():
        truth = sample.by_listing([0] * sample.known)
        for bound in sample.thresholds(sample.n if printed else sample.n - 1):
            yield bound, truth


def errors_of_samples() -> Cases:
    """Give Example 2's increase of the squared error of a share, and that over all outcomes."""
    for n, p in itertools.product((2, 5, 8), (0.1, 0.5)):
        for size in range(1, n + 1):
            of_sample, of_all = (squared_error(count, p) for count in (size, n))
            yield p * (1 - p) / size - p * (1 - p) / n, of_sample - of_all


def samples_lose(drawn_empty: bool) -> Cases:
    """Give the squared error of a share on a sample, and that on all entries, which is smaller.

    For samples without replacement and Poisson samples. Those may be empty, and then answer one
    half, or are only counted where they are not.
    """
    for n, p in itertools.product((1, 4, 8, 12), (0.1, 0.3, 0.5)):
        of_all = squared_error(n, p)
        for size in range(1, n + 1):
            yield squared_error(size, p), of_all
        for rate in (0.1, 0.5, 0.9, 0.99):
            chances = [
                math.comb(n, size) * rate**size * (1 - rate) ** (n - size) for size in range(n + 1)
            ]
            errors = [(0.5 - p) ** 2, *(squared_error(size, p) for size in range(1, n + 1))]
            first = 0 if drawn_empty else 1
            of_sample = float(np.dot(chances[first:], errors[first:])) / math.fsum(chances[first:])
            yield of_sample, of_all


def squared_error(count: int, p: float) -> float:
    """Return the mean squared error of the share of coins with a property.

    Examples
    --------
    >>> squared_error(4, 0.5)
    0.0625
    """
    law = answer_law([{0: 1 - p, 1: p}] * count, sum)
    return math.fsum(chance * (ones / count - p) ** 2 for ones, chance in law.items())
