"""Random small columns, and their expected errors by the definition of every mechanism.

What is shared with the package is the scale of the noise, which other tests hold against the
promise, and the keep probabilities of records.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import special, stats

from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    Mechanism,
    NoisyMean,
    NoisyMode,
)
from omit._numeric import FloatArray, as_array
from omit.data.weighted import WeightedColumn
from omit.exact.choice import Choice
from omit.laws.noise import noise_named
from omit.mechanisms import LatticeQuantile, NoisyCount, NoisySum, NoisyVariance, WeightedMean
from omit.mechanisms.mode import KINDS
from omit.omissions.base import Omission
from tests.accuracy.enumeration import MeanByEnumeration, two_sums_distance
from tests.exact import ranked
from tests.exact.small_columns import any_omission, few_records
from tests.mechanisms.winning import winning_probabilities
from tests.parts import design_of

Kind: TypeAlias = Literal["laplace", "gaussian"]
Given: TypeAlias = Callable[[tuple[int, ...]], float]
STATISTICS = ("mean", "weighted mean", "mode", "count", "sum", "quantile", "variance")
VARIANTS = ("two-sums", "sum-and-count", "published")


@dataclass(frozen=True)
class SmallCase:
    """A column of 1 to 8 records with a mechanism, a promise to it, and an omission."""

    statistic: str
    column: Column | WeightedColumn
    mechanism: Mechanism
    promise: Guarantee
    omission: Omission

    def expected(self) -> float:
        """Return the error averaged over all that can be left."""
        column, design = self.column, design_of(self.omission, self.column, self._distance)
        keep = np.ones(len(column.counts)) if design.inclusion is None else design.inclusion
        size = None if design.keeps_all else design.size
        given = _BY_DEFINITION[self.statistic](self)
        return ranked.expected_after(column.counts.tolist(), keep.tolist(), given, size)

    @property
    def _distance(self) -> str:
        return self.mechanism.distance

    @property
    def bounds(self) -> tuple[float, float]:
        """The declared ones."""
        assert self.column.bounds is not None
        return self.column.bounds

    @property
    def by_replacing(self) -> bool:
        """Whether the number of records is public."""
        return self.promise.neighbours == "replace"


def small_case(rng: np.random.Generator) -> SmallCase:
    """Return a random one that has a relative error, if that is asked for."""
    statistic = str(rng.choice(STATISTICS))
    relation = str(rng.choice(["add-remove", "replace"]))
    if statistic in ("count", "variance"):  # three sums of few records have too wide noise
        relation = "add-remove" if statistic == "count" else "replace"
    mechanism, kind = _mechanism(statistic, relation, rng)
    delta = float(10 ** rng.uniform(-9, -2)) if kind == "gaussian" else 0.0
    promise = Guarantee(float(10 ** rng.uniform(-2, 2)), delta, relation)
    column = _column(statistic, rng)
    omission = any_omission(rng)
    if relation == "replace":
        omission = FixedSizeSampling(int(rng.integers(1, column.size + 1)), column.size)
    prepared: Any = mechanism.prepare(column, promise)
    if mechanism.metric == "relative":
        truth = prepared.truth + getattr(prepared, "public", 0.0)  # of a sum
        if abs(truth) < 1e-9:
            return small_case(rng)
    return SmallCase(statistic, column, mechanism, promise, omission)


def _mechanism(statistic: str, relation: str, rng: np.random.Generator) -> tuple[Mechanism, str]:
    kind: Any = str(rng.choice(["laplace", "gaussian"]))
    metric: Any = str(rng.choice(["relative", "squared"]))
    if statistic == "mean":
        variant: Any = str(rng.choice(VARIANTS))
        return NoisyMean(kind, variant), kind
    if statistic == "weighted mean":
        return WeightedMean(kind), kind
    if statistic == "mode":
        kind = str(rng.choice(KINDS))
        return NoisyMode(kind, "tight" if rng.random() < 0.7 else "published"), kind
    if statistic == "quantile":
        selection: Any = str(rng.choice(["permute-and-flip", "exponential"]))
        return LatticeQuantile(selection, float(rng.choice([0.5, 0.25, 0.8])), metric), "laplace"
    if statistic == "variance":
        return NoisyVariance(kind, metric, float(rng.choice([0.6, 1.0]))), kind
    return (NoisyCount if statistic == "count" else NoisySum)(kind, metric), kind


def _column(statistic: str, rng: np.random.Generator) -> Column | WeightedColumn:
    if statistic in ("mode", "quantile"):
        step = float(rng.choice([0.5, 1.0]))
        records = rng.integers(0, 5, int(rng.integers(1, 9))) * step + 3
        return Column.from_values(records, bounds=(3, 3 + 5 * step), step=step)
    if statistic == "weighted mean":
        number = int(rng.integers(1, 9))
        values, weights = rng.choice([10.0, 14.5, 20, 29], number), rng.choice([0.3, 1, 4], number)
        return WeightedColumn.from_values(values, weights, (10, 30), 4.0)
    records = np.round(few_records(rng), 3)
    lower = float(records.min() - rng.choice([0.0, 0.5, 20.0]))
    return Column.from_values(records, bounds=(lower, float(records.max()) + 10.0))


def _distance(kind: str, scale: float, away: float) -> float:
    """Return the expected distance of noise from a number."""
    x = abs(away)
    if kind == "laplace":
        return x + scale * math.exp(-x / scale)
    return float(x * (2 * stats.norm.cdf(x / scale) - 1) + 2 * scale * stats.norm.pdf(x / scale))


def _total(case: SmallCase) -> Given:
    mechanism: Any = case.mechanism
    values = np.ones(len(case.column.counts))
    lower, upper = case.bounds
    sensitivity = 1.0
    if case.statistic == "sum":
        values = as_array(case.column.values)
        sensitivity = upper - lower if case.by_replacing else max(abs(lower), abs(upper))
    scale = noise_named(mechanism.noise).calibrated(case.promise, sensitivity).scale
    truth = float(values @ case.column.counts)
    expansion = design_of(case.omission, case.column).expansion
    variance: float = (2 if mechanism.noise == "laplace" else 1) * scale**2

    def given(left: tuple[int, ...]) -> float:
        away = float(values @ np.array(left)) * expansion - truth
        if mechanism.metric == "squared":
            return away**2 + expansion**2 * variance
        return 100 / abs(truth) * _distance(mechanism.noise, expansion * scale, away)

    return given


def _mean(case: SmallCase) -> Given:
    mechanism: Any = case.mechanism
    weights = getattr(case.column, "weights", np.ones(len(case.column.counts)))
    weights = weights / getattr(case.column, "largest_weight", 1.0)
    values, counts = as_array(case.column.values), case.column.counts
    lower, upper = case.bounds
    width, kind = upper - lower, mechanism.noise
    mean = float((values * weights) @ counts / (weights @ counts))
    law, quotient = noise_named(kind), mechanism.quotient(case.promise, case.bounds)
    by_two_sums = case.statistic == "weighted mean" or mechanism.variant == "two-sums"
    clipped = case.statistic == "weighted mean" or mechanism.variant != "published"

    def given(left: tuple[int, ...]) -> float:
        kept = weights * np.array(left)
        number = float(kept.sum())
        if by_two_sums and not case.by_replacing:
            scale = law.calibrated(case.promise, width).scale
            total = float(kept @ (values - lower))
            return two_sums_distance(total, number, kind, scale, mean - lower, width)
        if case.statistic != "weighted mean" and case.by_replacing:
            scale = law.calibrated(case.promise, width).scale / number
            answer = float(kept @ values) / number
            distance = _distance(kind, scale, answer - mean)
            for away in (lower - answer, answer - upper) if clipped else ():
                distance -= (_distance(kind, scale, away) + away) / 2
            return distance
        origin = quotient.origin
        ends = (lower - origin, upper - origin) if clipped else None
        scales = quotient.total.scale, quotient.count.scale
        one = MeanByEnumeration([], [], [], kind, *scales, mean - origin, ends)
        one.chance, one.total = np.ones(1), np.array([kept @ (values - origin)])
        one.number = np.array([number])
        return one.expected()

    return lambda left: 100 / abs(mean) * given(left)


def _mode(case: SmallCase) -> Given:
    mechanism, column = case.mechanism, case.column
    assert isinstance(mechanism, NoisyMode)
    assert isinstance(column, Column)
    scale = mechanism.count_noise(case.promise).scale
    empty = len(column.domain()[0]) - column.distinct
    right = np.isin(column.values, column.modes)

    def given(left: tuple[int, ...]) -> float:
        chances = winning_probabilities(left, mechanism.noise, scale, empty)
        return max(1 - float(np.array(chances)[right].sum()), 0.0)

    return given


def _quantile(case: SmallCase) -> Given:
    mechanism, column = case.mechanism, case.column
    assert isinstance(mechanism, LatticeQuantile)
    assert isinstance(column, Column)
    points, truth = as_array(column.domain()[0]), mechanism.truth(column)
    errors = as_array((points - truth) ** 2)
    if mechanism.metric == "relative":
        errors = as_array(100 * np.abs(points - truth) / truth)
    apart = 2.0 if case.by_replacing else 2 * max(mechanism.quantile, 1 - mechanism.quantile)
    flips = mechanism.selection == "permute-and-flip"
    choice = Choice(mechanism.quantile, apart / case.promise.epsilon, flips)
    places = np.searchsorted(points, as_array(column.values))
    return lambda left: ranked.expected_error(left, places, errors, choice)


_PANEL, _PANEL_WEIGHTS = np.polynomial.legendre.leggauss(20)


def _rule(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    edges = np.unique(edges)
    half = np.diff(edges)[:, None] / 2
    points = edges[:-1, None] + half * (_PANEL + 1)
    return as_array(points.ravel()), as_array((half * _PANEL_WEIGHTS).ravel())


def _variance_of_public_size(
    sums: tuple[float, float],
    size: int,
    scales: Sequence[float],
    kind: str,
    truth: float,
    squared: bool,
) -> float:
    """Return the expected error of the clipped variance of shares from two noisy sums."""
    law = {"laplace": stats.laplace, "gaussian": stats.norm}[kind]
    reach = 42.0 if kind == "laplace" else 9.0
    # Where the second noise has to be some number of its scales for the answer to be at a kink.
    levels = itertools.product((0.0, truth, 0.25), np.arange(-40, 41, 2.0))
    squares = [size * (sums[1] + y * scales[1] - c * size) for c, y in levels]
    roots = np.sqrt([square for square in squares if square > 0])
    kinks = (np.concatenate([roots, -roots]) - sums[0]) / scales[0]
    edges = np.concatenate([np.linspace(-reach, reach, 85), np.clip(kinks, -reach, reach)])
    first, weights = _rule(edges)
    bend = ((sums[0] + scales[0] * first) / size) ** 2
    unit = scales[1] / size
    # Where no noise brings the answer back within the bounds it does not matter how far it is.
    center = np.clip(sums[1] / size - bend, -50 * unit, 0.25 + 50 * unit)

    def above(level: float, sign: int) -> FloatArray:
        """Return what the error grows by in the mean where V is beyond a level on one side."""
        if not squared:
            return _hinge(kind, sign * (center - level), unit)
        steps = sign * (level - truth)
        hinges = [_hinge(kind, sign * (center - level), unit, power) for power in (1, 2)]
        return as_array(2 * steps * hinges[0] + hinges[1])

    inner = above(truth, 1) - above(0.25, 1) + above(truth, -1) - above(0.0, -1)
    return float((weights * law.pdf(first)) @ inner)


def _hinge(kind: str, x: FloatArray, scale: float, power: int = 1) -> FloatArray:
    """Return the mean of the positive part of x plus noise, or of its square."""
    z = x / scale
    if kind == "laplace":
        tail = 0.5 * np.exp(-np.abs(z))
        linear = np.maximum(z, 0) + tail
        square = np.where(z > 0, z**2 + 2 - 2 * tail, 2 * tail)
    else:
        linear = z * special.ndtr(z) + stats.norm.pdf(z)
        square = (z**2 + 1) * special.ndtr(z) + z * stats.norm.pdf(z)
    return as_array(scale**power * (linear if power == 1 else square))


def _variance(case: SmallCase) -> Given:
    mechanism = case.mechanism
    assert isinstance(mechanism, NoisyVariance)
    lower, upper = case.bounds
    shares = (as_array(case.column.values) - lower) / (upper - lower) - 0.5
    moments = [float(shares**power @ case.column.counts) / case.column.size for power in (1, 2)]
    truth, squared = moments[1] - moments[0] ** 2, mechanism.metric == "squared"
    scales = [noise.scale for noise in mechanism.noises(case.promise)]

    def given(left: tuple[int, ...]) -> float:
        sums = float(shares @ np.array(left)), float(shares**2 @ np.array(left))
        error = _variance_of_public_size(sums, sum(left), scales, mechanism.noise, truth, squared)
        return error * ((upper - lower) ** 4 if squared else 100 / truth)

    return given


_BY_DEFINITION: dict[str, Callable[[SmallCase], Given]] = {
    "mean": _mean,
    "weighted mean": _mean,
    "mode": _mode,
    "count": _total,
    "sum": _total,
    "quantile": _quantile,
    "variance": _variance,
}
