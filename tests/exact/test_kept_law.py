"""The law of the sum and the number of the records left."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from omit._numeric import as_array
from omit.exact import kept_law as module
from omit.exact.kept_law import KeptLaw, TooManyOutcomes, kept_law, sample_law
from omit.laws.distribution import lattice_step
from omit.laws.noise import Laplace, noise_named

NARROW = Laplace(1e-3)


def characteristic(law: KeptLaw, first: float, second: float) -> complex:
    turns = np.exp(1j * (first * law.sums + second * law.sizes))
    return complex(law.probabilities @ turns)


def test_two_values_have_two_binomials() -> None:
    law = kept_law(np.array([2.0, 7.0]), np.array([3, 2]), np.array([0.3, 0.8]), NARROW, 100)
    ones, twos = stats.binom.pmf(range(4), 3, 0.3), stats.binom.pmf(range(3), 2, 0.8)
    expected = {(2.0 * i + 7.0 * j, i + j): ones[i] * twos[j] for i in range(4) for j in range(3)}
    found = dict(zip(zip(law.sums, law.sizes, strict=True), law.probabilities, strict=True))
    assert found.keys() == expected.keys()
    for outcome, chance in expected.items():
        assert found[outcome] == pytest.approx(chance, rel=1e-13)


def test_a_transform_lists_the_same_law_as_going_through_all_outcomes() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        number = int(rng.integers(2, 5))
        values = np.sort(rng.choice(np.arange(-20, 40), number, replace=False))
        values = values * rng.choice([1.0, 0.1, 5.0])
        counts, keep = rng.integers(1, 12, number), rng.uniform(0.05, 0.95, number)
        listed = kept_law(values, counts, keep, NARROW, 10**6)
        transformed = module._by_transform(values, counts, keep, np.ones(number), NARROW, 10**7)
        for first, second in rng.uniform(-3, 3, (4, 2)):
            difference = characteristic(listed, first, second) - characteristic(
                transformed, first, second
            )
            assert abs(difference) < 1e-13


def test_binomials_of_a_million_records_keep_their_digits() -> None:
    window = module._Window.of(1_000_000, 0.3)
    numbers = window.first + np.arange(len(window.probabilities))
    chosen = np.abs(numbers - 300_000) < 1500
    expected = stats.binom.pmf(numbers[chosen], 1_000_000, 0.3)
    np.testing.assert_allclose(window.probabilities[chosen], expected, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_every_so_many_sums_do_as_well_as_all_within_the_bound(kind: str) -> None:
    # Wide noise: most sums can be passed over.
    values, counts = np.arange(10.0, 60.0), np.full(50, 8)
    keep, noise = np.full(50, 0.6), noise_named(kind)(3000.0)
    law = kept_law(values, counts, keep, noise, 10**6)
    full = kept_law(values, counts, keep, NARROW, 10**7)
    assert len(law.sums) < len(full.sums) / 3

    def hinge(law: KeptLaw, x: float) -> float:
        away = (law.sums - x * law.sizes) / noise.scale
        if kind == "laplace":
            excess = np.maximum(away, 0) + np.exp(-np.abs(away)) / 2
        else:
            excess = away * stats.norm.cdf(away) + stats.norm.pdf(away)
        return float(noise.scale * (law.probabilities @ excess))

    for x in (30.0, 34.5, 36.0):
        rounding = 1e-12 * noise.scale
        assert abs(hinge(law, x) - hinge(full, x)) <= law.rough + rounding


def test_a_law_of_too_many_outcomes_is_refused() -> None:
    values, counts = np.linspace(0, 1, 40) ** 3 * np.pi, np.full(40, 100)
    with pytest.raises(TooManyOutcomes, match="no lattice"):
        kept_law(values, counts, np.full(40, 0.5), NARROW, 1000)


def test_a_few_records_with_values_of_their_own_have_too_many_sums() -> None:
    """About a hundred wages: a window of 35 million sums and numbers, with no frequency faint."""
    drawn = np.exp(np.random.default_rng(100).normal(3, 1.5, 100))
    wages = as_array(np.unique(drawn.round(1)))
    once, half = np.ones(len(wages), dtype=np.int64), np.full(len(wages), 0.5)
    with pytest.raises(TooManyOutcomes, match="too many"):
        kept_law(wages, once, half, Laplace(5000.0), 1_000_000)


def test_merged_outcomes_keep_mean_and_total() -> None:
    law = kept_law(np.arange(6.0), np.full(6, 20), np.full(6, 0.5), NARROW, 10**6)
    merged = law.merged(400)
    assert len(merged.sums) <= 400
    assert merged.probabilities.sum() == pytest.approx(1.0)
    assert merged.probabilities @ merged.sums == pytest.approx(law.probabilities @ law.sums)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([10.0, 25.0, 40.0], 15.0),
        ([0.1, 0.2, 0.4], 0.1),
        ([1e6 + 0.25, 1e6 + 0.5], 0.25),
        ([0.0, 1e-7], None),
        ([0.0, 1.0, 1.0 + 1e-12], None),
    ],
)
def test_a_lattice_is_found_within_rounding_only(values: list[float], step: float | None) -> None:
    found = lattice_step(np.array(values))
    assert found == (step if step is None else pytest.approx(step))


@pytest.mark.slow
def test_a_merged_law_tells_probabilities_of_answers_under_narrow_noise_too() -> None:
    from omit.exact.noisy_quotient import NoisyQuotient

    values, counts = np.array([3.0, 40.0, 101.0, 190.0]), np.array([30, 25, 28, 22])
    for epsilon in (3.0, 600.0):
        quotient = NoisyQuotient(Laplace(400 / epsilon), Laplace(2 / epsilon))
        law = kept_law(values, counts, np.array([0.5, 0.6, 0.4, 0.7]), quotient.total, 1_000_000)
        few = law.merged(40_000)
        assert len(few.sums) < len(law.sums)
        for x in (70.0, 80.0, 83.0, 95.0):
            all_of_it = law.probabilities @ quotient.above(law.sums, law.sizes, x)
            merged = few.probabilities @ quotient.above(few.sums, few.sizes, x)
            assert merged == pytest.approx(all_of_it, abs=1e-3)


@pytest.mark.slow
def test_the_law_of_a_sample_of_fixed_size_is_that_of_all_subsets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        number = int(rng.integers(2, 5))
        values = np.sort(rng.choice(np.arange(-20, 40), number, replace=False))
        values = values * rng.choice([1.0, 0.1, 5.0])
        counts = rng.integers(1, 5, number)
        records = np.repeat(values, counts)
        size = int(rng.integers(1, len(records)))
        # Listed, and by a transform.
        some = sample_law(values, counts, size, NARROW, 10**6)
        monkeypatch.setattr(module, "_MOST_LISTED_OUTCOMES", 2)
        law = sample_law(values, counts, size, NARROW, 10**6)
        monkeypatch.undo()
        np.testing.assert_allclose(law.probabilities @ law.sums, some.probabilities @ some.sums)
        subsets = np.array(list(itertools.combinations(range(len(records)), size)))
        expected = np.exp(1j * np.outer([0.3, 1.1, 2.9], records[subsets].sum(axis=1))).mean(axis=1)
        found = np.exp(1j * np.outer([0.3, 1.1, 2.9], law.sums)) @ law.probabilities
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert set(law.sizes) == {size}


def test_a_value_beside_two_rare_ones_has_as_many_outcomes_as_sizes() -> None:
    values, counts = np.array([0.0, 1.0, 2.0]), np.array([226, 7240, 1810])
    law = kept_law(values, counts, np.full(3, 0.02), Laplace(0.2), 300_000)
    assert float(law.probabilities.sum()) == pytest.approx(1.0, abs=1e-12)
    assert float(law.probabilities @ law.sums) == pytest.approx(0.02 * 10_860, rel=1e-12)


def test_what_is_certain_misses_nothing() -> None:
    ones = np.ones(2)
    law = kept_law(np.array([1.0, 2.0]), np.array([971, 26282]), ones, Laplace(1.0), 10)
    assert (law.sums.tolist(), law.probabilities.tolist(), law.missed) == ([53535.0], [1.0], 0.0)
