"""Tabulated errors and constants of THEORY, Sections 7.1, 7.2, 7.5 and 8.3, by other routes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from scipy import stats

from omit import Column, Guarantee, NoisyMean, PoissonSampling, read
from omit._numeric import FloatArray, as_array
from omit.exact.choice import Choice, Lattice, choice_probabilities
from omit.exact.mean import mean_error
from omit.exact.noisy_quotient import NoisyQuotient
from omit.laws.noise import Laplace
from tests.exact import ranked
from tests.mechanisms.winning import winning_probabilities
from tests.parts import base_guarantee, noisy_quotient


@pytest.fixture(scope="module")
def ages() -> Column:
    return read("adult", "age")


@dataclass(frozen=True)
class StridedSum:
    """The expected distance of sum over count as a sum over every r-th pair of them.

    The characteristic function of sum and count is nothing beyond π/r, so that the law is smooth
    between these points. Given sum and count the noisy count is gone through by panels.
    """

    column: Column
    rate: float
    epsilon: float
    strides: tuple[int, int] = (16, 4)

    @cached_property
    def scales(self) -> tuple[float, float]:
        base = base_guarantee(PoissonSampling(self.rate), Guarantee(self.epsilon))
        return 250 / base.epsilon, 2 / base.epsilon

    @cached_property
    def law(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sums and counts left, and their probabilities times the strides."""
        values, counts, rate = self.column.values, self.column.counts, self.rate
        middle = round(self.column.mean)
        steps = [values - middle, np.ones(len(values))]
        axes, points = [], []
        for step, stride in zip(steps, self.strides, strict=True):
            center = rate * float(counts @ step)
            deviation = math.sqrt(rate * (1 - rate) * float(counts @ step**2))
            size = 2 * math.ceil(10 * deviation / stride) + 2
            points.append(round(center) + stride * (np.arange(size) - size // 2))
            axes.append(2 * np.pi / (stride * size) * (np.arange(size) - size // 2))
        logs = np.zeros((len(axes[0]), len(axes[1])), dtype=np.complex128)
        for value, count in zip(steps[0], counts, strict=True):
            turn = np.exp(1j * value * axes[0])[:, None] * np.exp(1j * axes[1])
            logs += count * np.log1p(rate * (turn - 1))
        starts = np.add.outer(axes[0] * points[0][0], axes[1] * points[1][0])
        law = np.exp(logs - 1j * starts)
        for axis, (place, stride) in enumerate(zip(points, self.strides, strict=True)):
            first = -np.pi / stride * stride * np.arange(len(place))
            shape = [-1 if k == axis else 1 for k in range(2)]
            law = np.fft.fft(law, axis=axis) * np.exp(-1j * first).reshape(shape) / len(place)
        chance = law.real
        seen = chance > 1e-17 * chance.max()
        above, number = np.meshgrid(*points, indexing="ij")
        return as_array((above + middle * number)[seen]), as_array(number[seen]), chance[seen]

    def beyond(self, total: FloatArray, y: FloatArray) -> FloatArray:
        """Return the expected distance of the noisy sum from the truth times y."""
        away, scale = np.abs(total - self.column.mean * y), self.scales[0]
        return as_array(away + scale * np.exp(-away / scale))

    def parts(self) -> tuple[float, float, float]:
        """Return the parts of the error, in %, with y up to 1, up to a fifth of C, and beyond."""
        found, (total, number, chance), c = np.zeros(3), self.law, self.scales[1]
        nodes, weights = np.polynomial.legendre.leggauss(10)

        def rule(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
            half = np.diff(edges)[:, None] / 2
            points = edges[:-1, None] + half * (nodes + 1)
            return as_array(points.ravel()), as_array((half * weights).ravel())

        def add(part: int, y: FloatArray, weight: FloatArray) -> None:
            density = np.exp(-np.abs(y - number) / c) / (2 * c)
            found[part] += float(chance @ (weight * density * self.beyond(total, y) / y))

        below = 0.5 * np.exp((1 - number) / c)
        found[0] = float(chance @ (below * self.beyond(total, np.ones_like(total))))
        fifth = np.log(number / 5)
        for share, weight in zip(*rule(np.linspace(0, 1, 31)), strict=True):
            y = np.exp(share * fifth)
            add(1, y, weight * fifth * y)
        near = np.minimum(0.8 * number, 45 * c)
        for share, weight in zip(*rule(np.linspace(0, 1, 31)), strict=True):
            add(2, number - share * near, weight * near)
        for share, weight in zip(*rule(np.linspace(0, 45, 31)), strict=True):
            add(2, number + c * share, np.full_like(number, weight * c))
        return tuple((100 / self.column.mean * found).tolist())


# To nine digits: every r-th point and the panels err by less.
@pytest.mark.campaign
@pytest.mark.parametrize(
    ("epsilon", "rate", "printed"),
    [
        (0.25, 0.4, "0.2193571986"),
        (0.25, 0.01, "1.7018819778"),
        (2.0, 0.5, "0.1573529921"),
        (0.0006, 0.9, "122.2922651731"),
        (0.0006, 0.5, "84.5649059504"),
        (0.0006, 0.1, "46.9149919779"),
        (0.0005, 0.9, "487.0990923107"),
        (0.0008, 0.9, "30.4029940456"),
        (0.0015, 0.9, "14.2969197974"),
    ],
)
def test_errors_of_sampled_ages_are_sums_over_the_law_of_sum_and_count(
    ages: Column, epsilon: float, rate: float, printed: str
) -> None:
    expected = sum(StridedSum(ages, rate, epsilon).parts())
    assert expected == pytest.approx(float(printed), rel=1e-9)


@pytest.mark.campaign
def test_a_rare_clamped_count_makes_most_of_the_error(ages: Column) -> None:
    strided = StridedSum(ages, 0.9, 0.0006)
    _, number, chance = strided.law
    clamped = float(chance @ (0.5 * np.exp((1 - number) / strided.scales[1])))
    # By thinning, too: the closed form of Section 7.1.
    c, size = strided.scales[1], ages.size
    thinned = 0.5 * math.exp(1 / c + size * math.log1p(0.9 * math.expm1(-1 / c)))
    assert clamped == pytest.approx(thinned, rel=1e-9)
    assert f"{clamped:.3e}" == "2.864e-05"
    at_one, small, _ = strided.parts()
    assert f"{at_one:.2f} {small:.2f}" == "85.30 0.33"
    assert f"{at_one / clamped:.0e}" == "3e+06"


def test_four_records_clamp_their_gaussian_count_as_often_as_tabulated() -> None:
    quotient = noisy_quotient(NoisyMean("gaussian", "published"), Guarantee(5, 1e-6), (0, 125))
    assert quotient.count is not None
    assert f"{quotient.count.scale:.10f}" == "1.8736688291"
    assert f"{stats.norm.cdf((1 - 4) / quotient.count.scale):.4f}" == "0.0547"


def test_taking_the_middle_off_is_between_sum_and_count_and_two_sums(ages: Column) -> None:
    # Values within 62.5 of the middle of the bounds, and half of 0.25 for sum and count each.
    quotient = NoisyQuotient(Laplace(62.5 / 0.125), Laplace(8.0), (0.0, 125.0), 62.5)
    found = mean_error(
        as_array(ages.values) - 62.5, ages.counts, np.ones(ages.distinct), quotient,
        ages.mean - 62.5,
    )  # fmt: skip
    assert f"{100 / ages.mean * found.expected:.4f}" == "0.0440"
    # To first order a sum of two Laplace noises a and b has the mean size (a² + ab + b²)/(a + b).
    a, b = 500 / ages.size, 8 * abs(ages.mean - 62.5) / ages.size
    first_order = (a * a + a * b + b * b) / (a + b)
    assert f"{100 / ages.mean * first_order:.4f}" == "0.0440"


def test_sums_of_values_near_1e15_are_off_by_what_is_tabulated() -> None:
    assert np.spacing(1e18) / 1000 == 0.128


def test_a_score_of_weighted_counts_misses_the_median_under_ties() -> None:
    records = {2: 60, 3: 5, 4: 35}
    below = {x: sum(n for y, n in records.items() if y < x) for x in records}
    above = {x: sum(n for y, n in records.items() if y > x) for x in records}
    weighted = {x: abs(0.5 * below[x] - 0.5 * above[x]) for x in records}
    assert min(records, key=lambda x: weighted[x]) == 3
    assert int(np.argmax(ranked.scores(list(records.values()), 0.5))) == 0


def test_permute_and_flip_is_the_largest_of_scores_with_geometric_noise() -> None:
    # Ties are broken uniformly: candidate i is first among those at its level with ∫ Π (B + t a).
    rng = np.random.default_rng(83)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    for _ in range(20):
        counts, scale = rng.integers(0, 7, 4), float(rng.uniform(0.5, 4))
        q = math.exp(-1 / scale)
        levels = np.arange(6 + math.ceil(40 * scale))
        above = levels - counts[:, None]
        at = np.where(above >= 0, (1 - q) * q ** np.maximum(above, 0), 0.0)
        below = np.where(above > 0, 1 - q ** np.maximum(above, 0), 0.0)
        chances = [
            sum(
                weight / 2 * float((at[i] * np.prod(np.delete(below + t * at, i, 0), 0)).sum())
                for t, weight in zip((nodes + 1) / 2, weights, strict=True)
            )
            for i in range(4)
        ]
        expected = winning_probabilities(tuple(counts.tolist()), "exponential", scale)
        assert chances == pytest.approx(expected, abs=1e-12)


def test_bad_points_are_as_rare_as_the_tail_says_and_rarer_with_permute_and_flip() -> None:
    rng = np.random.default_rng(84)
    for _ in range(300):
        counts = rng.integers(0, 6, int(rng.integers(2, 12)))
        if counts.sum() == 0:
            continue
        share, scale = float(rng.uniform(0.05, 0.95)), float(rng.uniform(0.2, 5))
        behind = -ranked.scores(counts.tolist(), share)
        behind -= behind.min()
        lattice = Lattice(np.arange(len(counts)), len(counts) - 1)
        flipped, exponential = (
            choice_probabilities(lattice, counts, Choice(share, scale, flips))
            for flips in (True, False)
        )
        for t in np.unique(behind[behind > 0]):
            bad = behind >= t
            odds = float(bad.sum()) * math.exp(-float(t) / scale)
            assert exponential[bad].sum() <= odds / (1 + odds) + 1e-12
            assert flipped[bad].sum() <= exponential[bad].sum() + 1e-12
