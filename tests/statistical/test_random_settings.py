"""A random search: no curve is below the truth, rises, or is called exact where it is not.

The truth is computed with rational numbers, and with `e^epsilon` to 60 digits.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np
import pytest

from omit.laws import lattice
from omit.laws.distribution import Distribution
from omit.statistical.curve import PRECISION, PrivacyCurve
from omit.statistical.order import order_statistic_curve
from omit.statistical.partition import Partition
from omit.statistical.properties import grouped_property_curve, property_curve
from omit.statistical.sampling import PoissonTechnique, WithoutReplacement
from omit.statistical.sums import sum_curve

Law: TypeAlias = Mapping[Any, Fraction]
Setting: TypeAlias = tuple[PrivacyCurve, Callable[[float], mpmath.mpf]]
RUNS = 40


def _real(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def _divergence(first: Law, second: Law, epsilon: float) -> mpmath.mpf:
    grow = mpmath.exp(mpmath.mpf(epsilon))
    terms = (_real(p) - grow * _real(second.get(a, Fraction(0))) for a, p in first.items())
    return mpmath.fsum(max(each, mpmath.mpf(0)) for each in terms)


def _worst(laws: Sequence[Law]) -> Callable[[float], mpmath.mpf]:
    pairs = list(itertools.permutations(laws, 2))
    return lambda epsilon: max(_divergence(p, q, epsilon) for p, q in pairs)


def _sum(first: Mapping[int, Fraction], second: Mapping[int, Fraction]) -> dict[int, Fraction]:
    total: dict[int, Fraction] = defaultdict(Fraction)
    for (a, p), (b, q) in itertools.product(first.items(), second.items()):
        total[a + b] += p * q
    return total


def _of_many(one: Mapping[int, Fraction], count: int) -> dict[int, Fraction]:
    total = {0: Fraction(1)}
    for _ in range(count):
        total = _sum(total, one)
    return total


def _plus(law: Mapping[int, Fraction], value: int) -> dict[int, Fraction]:
    return {a + value: p for a, p in law.items()}


def _coin(p: Fraction) -> dict[int, Fraction]:
    return {0: 1 - p, 1: p}


def _rational(distribution: Distribution) -> dict[int, Fraction]:
    weights = [Fraction(each) for each in distribution.probabilities.tolist()]
    places = distribution.points.tolist()
    return {place: w / sum(weights) for place, w in zip(places, weights, strict=True)}


def _epsilons(rng: np.random.Generator) -> list[float]:
    few = [rng.uniform(0, 0.3), rng.uniform(0, 3), rng.uniform(0, 60), 10 ** rng.uniform(-5, 2.8)]
    return [0.0, *few]


def _chance(rng: np.random.Generator) -> float:
    return float(rng.choice([rng.uniform(0.02, 0.98), 10 ** rng.uniform(-9, -1), 0.5]))


def _distribution(rng: np.random.Generator) -> Distribution:
    count = int(rng.integers(2, 5))
    values = np.sort(rng.choice(int(rng.choice([count, 9])), count, replace=False))
    weights = rng.random(count) ** rng.choice([1, 2, 12])
    return Distribution(values, weights / weights.sum())


def _any_sum(rng: np.random.Generator) -> Setting:
    law, n = _distribution(rng), int(rng.integers(1, 14))
    others = _of_many(_rational(law), n - 1)
    curve = sum_curve(law, n, _epsilons(rng))
    return curve, _worst([_plus(others, place) for place in law.points.tolist()])


def _property(rng: np.random.Generator) -> Setting:
    n, p = int(rng.integers(1, 40)), _chance(rng)
    others = _of_many(_coin(Fraction(p)), n - 1)
    return property_curve(n, p, _epsilons(rng)), _worst([_plus(others, v) for v in (0, 1)])


def _groups(rng: np.random.Generator) -> Setting:
    groups = [(int(rng.integers(1, 8)), _chance(rng)) for _ in range(2)]
    coins = [_rational(Distribution([0.0, 1.0], [1 - p, p])) for _, p in groups]
    others = _sum(_of_many(coins[0], groups[0][0] - 1), _of_many(coins[1], groups[1][0]))
    curve = grouped_property_curve(groups, _epsilons(rng), critical=0)
    return curve, _worst([_plus(others, v) for v in (0, 1)])


def _order_statistic(rng: np.random.Generator) -> Setting:
    law, n = _distribution(rng), int(rng.integers(1, 12))
    rank = int(rng.integers(1, n + 1))
    reached = list(itertools.accumulate(_rational(law).values()))

    def at_least(count: int, share: Fraction) -> Fraction:
        return sum(
            (
                math.comb(n - 1, k) * share**k * (1 - share) ** (n - 1 - k)
                for k in range(max(count, 0), n)
            ),
            Fraction(0),
        )

    laws = []
    for critical in range(len(reached)):
        steps = [at_least(rank - (a >= critical), share) for a, share in enumerate(reached)]
        before = [Fraction(0), *steps[:-1]]
        laws.append({a: p - q for a, (p, q) in enumerate(zip(steps, before, strict=True))})
    return order_statistic_curve(law, n, rank, _epsilons(rng)), _worst(laws)


def _secret_subset(rng: np.random.Generator) -> Setting:
    n, p = int(rng.integers(1, 20)), _chance(rng)
    size = int(rng.integers(1, n + 1))
    share, chance = Fraction(size, n), Fraction(p)
    others = _of_many(_coin(chance), size - 1)
    laws = [_sum(others, _coin(share * v + (1 - share) * chance)) for v in (0, 1)]
    return WithoutReplacement(size).secret_curve(n, p, _epsilons(rng)), _worst(laws)


def _secret_poisson(rng: np.random.Generator) -> Setting:
    n, p, rate = int(rng.integers(1, 20)), _chance(rng), float(rng.uniform(0.01, 1))
    others = _of_many(_coin(Fraction(rate) * Fraction(p)), n - 1)
    laws = [_sum(others, _coin(Fraction(rate) * v)) for v in (0, 1)]
    return PoissonTechnique(rate).secret_curve(n, p, _epsilons(rng)), _worst(laws)


def _partition(rng: np.random.Generator) -> Setting:
    sizes = tuple(int(each) for each in rng.integers(1, 4, size=2))
    n, p = sum(sizes) + int(rng.integers(0, 3)), _chance(rng)
    chance = Fraction(p)
    blocks = [_of_many(_coin(chance), size) for size in sizes]
    others = [_of_many(_coin(chance), size - 1) for size in sizes]
    laws = []
    for v in (0, 1):
        law: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        placed = [(_plus(others[0], v), blocks[1]), (blocks[0], _plus(others[1], v))]
        shares = [Fraction(size, n) for size in sizes]
        # Or the entry is in neither block.
        shares.append(1 - shares[0] - shares[1])
        placed.append((blocks[0], blocks[1]))
        for share, (one, two) in zip(shares, placed, strict=True):
            for (a, x), (b, y) in itertools.product(one.items(), two.items()):
                law[a, b] += share * x * y
        laws.append(law)
    return Partition(n, sizes).property_exact(p, _epsilons(rng)), _worst(laws)


SETTINGS = [
    _any_sum,
    _groups,
    _property,
    _order_statistic,
    _secret_subset,
    _secret_poisson,
    _partition,
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "convolved"),
    # Only sums are computed in two ways.
    [*((each, True) for each in SETTINGS), (_any_sum, False), (_groups, False)],
)
def test_random_curves_fall_and_hold_the_truth_between_their_bounds(
    setting: Callable[[np.random.Generator], Setting],
    convolved: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not convolved:
        monkeypatch.setattr(lattice, "_FEW_VALUES", 0)
    rng = np.random.default_rng(11)
    with mpmath.workdps(60):
        for _ in range(RUNS):
            curve, truth = setting(rng)
            assert (np.diff(curve.delta) <= 0).all()
            for epsilon, low, high in zip(curve.epsilon, curve.lower, curve.delta, strict=True):
                exact = truth(float(epsilon))
                assert low <= exact * (1 + mpmath.mpf(10) ** -40)
                assert exact <= high * (1 + mpmath.mpf(10) ** -40)
                if curve.method == "exact" and high > 1e-300:
                    assert high - exact <= PRECISION * high
                assert high > 0 or exact == 0
