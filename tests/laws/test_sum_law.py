"""Bounds on all probabilities of a sum, against rational numbers."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from omit.laws import lattice
from omit.laws.lattice import Part
from omit.laws.sums import sum_laws

DEPTHS = (0.0, 60.0, 1e9)


def _random_parts(rng: np.random.Generator) -> list[Part]:
    parts = []
    for _ in range(int(rng.integers(1, 3))):
        count = int(rng.integers(2, 5))
        inner = rng.choice(np.arange(1, 9), count - 1, replace=False)
        weights = rng.random(count) ** rng.choice([1, 3, 20])
        points = np.concatenate([[0], np.sort(inner)]).astype(np.int64)
        parts.append(Part(points, weights / weights.sum(), int(rng.integers(1, 25))))
    return parts


def _rational_law(parts: list[Part]) -> list[Fraction]:
    law = [Fraction(1)]
    for part in parts:
        weights = [Fraction(each) for each in part.probabilities.tolist()]
        for _ in range(part.count):
            further = [Fraction(0)] * (len(law) + int(part.points[-1]))
            for place, chance in enumerate(law):
                for point, weight in zip(part.points.tolist(), weights, strict=True):
                    further[place + point] += chance * weight / sum(weights)
            law = further
    return law


@pytest.mark.parametrize("convolved", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_every_probability_lies_between_its_bounds(
    seed: int, convolved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not convolved:
        monkeypatch.setattr(lattice, "_FEW_VALUES", 0)
    parts = _random_parts(np.random.default_rng(seed))
    with mpmath.workdps(40):
        truth = [
            mpmath.log(mpmath.mpf(each.numerator) / each.denominator) if each else -mpmath.inf
            for each in _rational_law(parts)
        ]
        whole = [law for law in sum_laws(parts, DEPTHS) if len(law.low) == len(truth)]
        for law in whole:
            assert (law.below, law.above) == (-np.inf, -np.inf)
            for low, exact, high in zip(law.low, truth, law.high, strict=True):
                assert low <= exact <= high
    assert whole
    assert law.complete
    if convolved:
        assert all(
            high - low < 1e-9
            for low, exact, high in zip(law.low, truth, law.high, strict=True)
            if exact > -mpmath.inf
        )


def test_what_is_outside_of_a_law_is_bounded() -> None:
    coins = [Part(np.array([0, 1]), np.array([0.5, 0.5]), 10**6)]
    laws = list(sum_laws(coins, (0.0, 100.0, 400.0)))
    lengths = [len(law.low) for law in laws]
    assert lengths == sorted(lengths)
    outside = [law.outside for law in laws]
    assert outside[0] < 1e-19
    assert outside[1] < 1e-60
    assert outside[2] < 1e-170
    assert not any(law.complete for law in laws)


def test_a_tilt_of_interest_adds_digits_and_leaves_no_gap() -> None:
    coins = [Part(np.array([0, 1]), np.array([0.7, 0.3]), 10**5)]
    [plain] = sum_laws(coins, [30.0])
    [finer] = sum_laws(coins, [30.0], tilts=[0.005, 0.02, 1.0, 750.0])
    assert len(plain.low) == len(finer.low)
    assert (finer.high <= plain.high).all()
    assert (finer.low >= plain.low).all()
    assert (finer.high - finer.low < plain.high - plain.low).any()
