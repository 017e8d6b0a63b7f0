"""Checks of the shift rule and the mixture bound that know nothing of their proofs.

A check is a stream of pairs `(claimed, computed)`: what a formula says, and what a linear program
over all mechanisms, or going through all databases, finds. Cases are drawn from a generator that
is passed in, so a run can be repeated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from omit._numeric import FloatArray, as_array, expm1_ratio
from omit._text import rounded_up
from omit.omissions.outlier_score import (
    OutlierScoreSuppression,
    mixture_epsilon,
    outlier_score_pair,
)
from omit.omissions.pairs import IndependentPair, SubsetPair
from omit.report.page import Card, Point
from omit.report.result import Field, Result, Table

# What a linear program in floating point can be trusted with.
PROGRAM_TOLERANCE = 1e-6
# What sums of a hundred logarithms can be trusted with.
FORMULA_TOLERANCE = 1e-12
# How near the databases that attain the bound must come, extrapolated from a thousand records.
ATTAINED_TOLERANCE = 1e-3

Cases = Iterator[tuple[float, float]]


@dataclass(frozen=True)
class Check:
    """A claim, and the stream of cases that could refute it.

    `exact` claims are refuted by any difference, the others by a number above the claim.
    """

    claim: str
    count: int
    cases: Cases = field(repr=False)
    tolerance: float
    exact: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of a check: the largest violation and how near the cases came to the claim."""

    claim: str
    count: int
    violation: float
    closest_ratio: float
    holds: bool


@dataclass(frozen=True)
class Audit(Result):
    """The outcomes of all checks, or of those that were finished."""

    command: ClassVar[str] = "verify mixture"
    warning: ClassVar[str | None] = None

    outcomes: tuple[Outcome, ...]

    @property
    def holds(self) -> bool:
        """Whether no claim was refuted."""
        return all(outcome.holds for outcome in self.outcomes)

    @property
    def verdict(self) -> str:
        """How many claims were refuted."""
        refuted = sum(not outcome.holds for outcome in self.outcomes)
        if refuted:
            return f"{refuted} of {len(self.outcomes)} claims FAIL; see the table."
        return f"No case refutes any of the {len(self.outcomes)} claims."

    @property
    def card(self) -> Card | None:
        """How many claims hold, how far any case was beyond, and what to make of it."""
        if not self.outcomes:
            return None
        number, holding = len(self.outcomes), sum(outcome.holds for outcome in self.outcomes)
        excess = max(outcome.violation for outcome in self.outcomes)
        cases = sum(outcome.count for outcome in self.outcomes)
        return Card(
            Point(
                f"{holding} of {number} claims hold",
                f"{cases:,} cases were tried. They can refute a claim, and no number of them "
                "proves it: the proofs are in the documentation.",
            ),
            Point(rounded_up(excess, 2), "The most by which a case was beyond its claim."),
            Point(
                "rely on what holds" if holding == number else "rely on nothing that fails",
                "An excess within the tolerance of linear programs and of floating point is "
                "none. A claim that fails is a mistake of ours: report it with this page.",
            ),
        )

    def tables(self) -> Sequence[Table]:
        """Return a line for every check."""
        fields = (
            Field("Verdict", "holds", lambda holds: "holds" if holds else "FAILS"),
            Field("Claim", "claim"),
            Field("Cases", "count", "{:,}".format, numeric=True),
            Field(
                "Excess at most", "violation", lambda excess: rounded_up(excess, 2), numeric=True
            ),
            Field("Largest ratio to the claim", "closest_ratio", "{:.6f}".format, numeric=True),
        )
        rows = tuple(
            tuple(getattr(outcome, field.key) for field in fields) for outcome in self.outcomes
        )
        return [Table("checks", "", fields, rows)]


def checks(seed: int = 0, cases: int = 300) -> list[Check]:
    """Return all checks.

    Parameters
    ----------
    seed : int
        Of the random cases.
    cases : int
        Linear programs per check that solves some; the cheap checks take a hundred times
        as many.
    """
    streams = np.random.default_rng(seed).spawn(5)
    enumerated = sum(1 for _ in small_multisets()) * len(_ENUMERATED)
    return [
        Check(
            "independent suppression, records told apart: formula = linear program",
            cases,
            _labelled_pairs(streams[0], cases),
            PROGRAM_TOLERANCE,
            exact=True,
        ),
        Check(
            "independent suppression, equal records: linear program <= formula",
            cases,
            _multiset_pairs(streams[1], cases),
            PROGRAM_TOLERANCE,
        ),
        Check(
            "shift rule, any suppression: delta by linear program <= delta by the rule",
            cases,
            _shifted_deltas(streams[2], cases),
            PROGRAM_TOLERANCE,
        ),
        Check(
            "outlier scores, random metrics up to 120 records: exact loss <= bound",
            100 * cases,
            _random_metrics(streams[3], 100 * cases),
            FORMULA_TOLERANCE,
        ),
        Check(
            "outlier scores, all multisets up to 6 of small universes: exact loss <= bound",
            enumerated,
            _all_multisets(),
            FORMULA_TOLERANCE,
        ),
        Check(
            "outlier scores, m + M <= 1: ever more equal records attain the bound",
            cases,
            _attained(streams[4], cases),
            ATTAINED_TOLERANCE,
            exact=True,
        ),
    ]


def run(check: Check, advance: Callable[[], None] = lambda: None) -> Outcome:
    """Go through all cases of a check, calling `advance` after every one."""
    violation, closest = -np.inf, 0.0
    for claimed, computed in check.cases:
        excess = computed - claimed
        scale = max(1.0, abs(claimed))
        violation = max(violation, (abs(excess) if check.exact else excess) / scale)
        if claimed > 0:
            closest = max(closest, computed / claimed)
        advance()
    return Outcome(check.claim, check.count, violation, closest, violation <= check.tolerance)


def small_universes() -> list[FloatArray]:
    """Return metrics on three and four points, as matrices of distances."""
    path = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) / 3
    discrete = 1 - np.eye(4)
    hub = np.array([[0, 0.5, 0.5, 0.5], [0.5, 0, 1, 1], [0.5, 1, 0, 1], [0.5, 1, 1, 0]])
    close_pair = np.array([[0, 0.1, 1], [0.1, 0, 0.9], [1, 0.9, 0]])
    return [path, discrete, hub, close_pair]


_LARGEST_MULTISET = 6
# (epsilon, m, M) on both sides of m + M = 1, with the ends of the range.
_ENUMERATED = (
    (0.25, 0.1, 0.2),
    (1.0, 0.0, 1.0),
    (1.0, 0.5, 0.6),
    (1.0, 0.3, 0.9),
    (2.0, 0.6, 0.95),
    (4.0, 0.05, 0.5),
    (4.0, 0.7, 1.0),
)


def small_multisets() -> Iterator[FloatArray]:
    """Give the distances in all multisets of up to six points of small universes.

    A multiset comes once for every one of its points, which is then the last.
    """
    for universe in small_universes():
        for size in range(1, _LARGEST_MULTISET + 1):
            for points in itertools.combinations_with_replacement(range(len(universe)), size):
                for last in sorted(set(points)):
                    rest = list(points)
                    rest.remove(last)
                    order = [*rest, last]
                    yield universe[np.ix_(order, order)]


def _all_multisets() -> Cases:
    for distances in small_multisets():
        for epsilon, m, M in _ENUMERATED:
            loss = outlier_score_pair(distances, m, M).loss(epsilon)
            yield float(mixture_epsilon(epsilon, m, M)), loss.epsilon


def _random_pair(rng: np.random.Generator, size: int) -> IndependentPair:
    before, after = rng.uniform(size=(2, size)) ** rng.choice([0.2, 1.0, 4.0])
    return IndependentPair(tuple(before), tuple(after), float(rng.uniform()))


def _labelled_pairs(rng: np.random.Generator, count: int) -> Cases:
    for number in range(count):
        pair, epsilon = _random_pair(rng, int(rng.integers(0, 5))), rng.uniform(0.05, 3)
        formula, program = pair.loss(epsilon), pair.to_subsets().exact(epsilon)
        if number % 2:
            yield formula.presence, program.presence
        else:
            yield formula.absence, program.absence


def _multiset_pairs(rng: np.random.Generator, count: int) -> Cases:
    for _ in range(count):
        size = int(rng.integers(1, 6))
        labels = [int(label) for label in rng.integers(0, 3, size + 1)]
        pair, epsilon = _random_pair(rng, size), rng.uniform(0.05, 3)
        yield pair.loss(epsilon).epsilon, pair.to_subsets(labels).exact(epsilon).epsilon


def _shifted_deltas(rng: np.random.Generator, count: int) -> Cases:
    for _ in range(count):
        pair = _random_suppression(rng, int(rng.integers(1, 4)))
        epsilon, delta = rng.uniform(0.1, 2), rng.uniform(0.01, 0.2)
        after = pair.exact(epsilon).epsilon
        claimed = delta * float(expm1_ratio(after, epsilon))
        yield min(claimed, 1.0), pair.exact_delta(epsilon, delta, after)


def _random_suppression(rng: np.random.Generator, size: int) -> SubsetPair:
    """Return two unrelated random distributions over subsets, some of them with few outcomes."""
    labels = tuple(range(size + 1))
    smaller, larger = (
        [subset for length in range(whole + 1) for subset in itertools.combinations(labels, length)]
        for whole in (size, size + 1)
    )
    smaller = [subset for subset in smaller if size not in subset]
    concentration = rng.choice([0.1, 1.0, 5.0])
    return SubsetPair.from_distributions(
        database=labels[:size],
        record=size,
        without=dict(zip(smaller, _simplex(rng, len(smaller), concentration), strict=True)),
        with_record=dict(zip(larger, _simplex(rng, len(larger), concentration), strict=True)),
    )


def _simplex(rng: np.random.Generator, size: int, concentration: float) -> list[float]:
    weights = rng.dirichlet(np.full(size, concentration))
    weights[weights < 1e-6] = 0.0
    return [float(weight) for weight in weights / weights.sum()]


def _random_metrics(rng: np.random.Generator, count: int) -> Cases:
    for _ in range(count):
        distances = _random_metric(rng, int(rng.integers(2, 122)))
        m, M = np.sort(rng.uniform(-0.1, 1.1, 2).clip(0, 1))
        epsilon = float(rng.choice([rng.uniform(0, 1), rng.uniform(0, 8)]))
        loss = outlier_score_pair(distances, float(m), float(M)).loss(epsilon)
        yield float(mixture_epsilon(epsilon, m, M)), loss.epsilon


def _random_metric(rng: np.random.Generator, size: int) -> FloatArray:
    """Return distances of at most 1: clouds, colours, crowds with one outlier, hubs, graphs."""
    kind = rng.integers(5)
    if kind == 0:
        points = rng.normal(size=(size, int(rng.integers(1, 4))))
        distances = np.linalg.norm(points[:, None] - points[None], axis=2)
        return as_array(distances / max(float(distances.max()), 1e-12))
    if kind == 1:
        colours = rng.integers(0, int(rng.integers(2, 6)), size)
        return as_array(colours[:, None] != colours[None])
    if kind == 2:
        points = np.append(rng.uniform(0, rng.uniform(0, 0.2), size - 1), 1.0)
        return as_array(np.abs(points[:, None] - points[None]))
    if kind == 3:
        radius = rng.uniform(0.5, 1)
        distances = np.full((size, size), 1.0)
        distances[-1] = distances[:, -1] = radius
        np.fill_diagonal(distances, 0.0)
        return distances
    lengths = rng.uniform(size=(size, size)) ** 3
    distances = np.minimum(np.minimum(lengths, lengths.T), 1.0)
    np.fill_diagonal(distances, 0.0)
    for via in range(size):
        distances = np.minimum(distances, distances[:, via, None] + distances[None, via])
    return as_array(distances)


def _attained(rng: np.random.Generator, count: int) -> Cases:
    for _ in range(count):
        m, M = np.sort(rng.uniform(0, 1, 2))
        if m + M > 1:
            m, M = 1 - M, 1 - m
        epsilon = rng.uniform(0.05, 3)
        suppression = OutlierScoreSuppression(float(m), float(M))
        thousand, two_thousand = (
            suppression.worst_pair(size, epsilon).loss(epsilon).epsilon for size in (1000, 2000)
        )
        # The distance to the limit halves as the number of records doubles.
        yield float(suppression.epsilon_after(epsilon)), 2 * two_thousand - thousand
