"""Which records are kept: the right law, and the same random numbers for every omission."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from omit import (
    FixedSizeSampling,
    InvalidInput,
    NoOmission,
    Omission,
    OutlierScoreSuppression,
    Points,
    PoissonSampling,
    Refused,
    RuleSuppression,
)
from omit._numeric import FloatArray
from omit.data.base import Data
from omit.laws import design as drawing
from omit.laws.design import Design, Independent, kept_by_number, kept_independently
from omit.omissions import StableSuppression
from tests.parts import draw_kept

ROWS = np.random.default_rng(0).random((101, 3))
POINTS = Points.from_rows(ROWS, bounds=(0, 1))
EVERY_KIND = [
    NoOmission(),
    PoissonSampling(0.01),
    PoissonSampling(0.9),
    PoissonSampling(1.0),
    FixedSizeSampling(1, 101),
    FixedSizeSampling(60, 101),
    FixedSizeSampling(101, 101),
    OutlierScoreSuppression(0.1, 0.6),
    OutlierScoreSuppression(1.0, 1.0),
]


def runs(omission: Omission, number: int, seed: int = 1) -> list[NDArray[np.intp]]:
    return list(islice(draw_kept(omission, POINTS, np.random.default_rng(seed)), number))


@pytest.mark.parametrize("omission", EVERY_KIND, ids=str)
def test_a_draw_is_a_sorted_array_of_positions(omission: Omission) -> None:
    for kept in runs(omission, 20):
        assert kept.dtype == np.intp
        assert (np.diff(kept) > 0).all()
        assert len(kept) == 0 or (kept[0] >= 0 and kept[-1] < 101)


@pytest.mark.parametrize("omission", EVERY_KIND, ids=str)
@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_every_omission_takes_the_same_amount_of_randomness(omission: Omission, kind: Any) -> None:
    ours, theirs = (np.random.Generator(kind(7)) for _ in range(2))
    drawn, other = draw_kept(omission, POINTS, ours), draw_kept(NoOmission(), POINTS, theirs)
    for _ in range(5):
        next(drawn)
        next(other)
        assert ours.integers(2**62) == theirs.integers(2**62)


def test_nothing_is_drawn_before_it_is_asked_for() -> None:
    rng = np.random.default_rng(1)
    state = str(rng.bit_generator.state)
    draw_kept(NoOmission(), POINTS, rng)
    draw_kept(FixedSizeSampling(5, 101), POINTS, rng)
    assert str(rng.bit_generator.state) == state


def test_designs_are_made_once() -> None:
    calls = []

    @dataclass(frozen=True)
    class Counted(PoissonSampling):
        def __init__(self) -> None:
            super().__init__(0.5)

        def design(self, data: Data, distance: str) -> Design:
            calls.append(data)
            return super().design(data, distance)

    assert len(runs(Counted(), 10)) == 10
    assert calls == [POINTS]


def test_a_poisson_sample_contains_the_one_at_a_smaller_rate() -> None:
    rates = (0.001, 0.01, 0.3, 0.30001, 0.9, 1.0)
    drawn = [runs(PoissonSampling(rate), 50) for rate in rates]
    for smaller, larger in pairwise(drawn):
        for few, many in zip(smaller, larger, strict=True):
            assert set(few) <= set(many)


def test_whoever_is_the_likelier_to_be_kept_is_kept_wherever_the_others_are() -> None:
    weak, strong = OutlierScoreSuppression(0.1, 0.4), OutlierScoreSuppression(0.3, 0.9)
    for few, many in zip(runs(strong, 50), runs(weak, 50), strict=True):
        assert set(few) <= set(many)


def test_samples_of_fixed_size_are_nested_and_of_that_size() -> None:
    sizes = (1, 2, 50, 100, 101)
    drawn = [runs(FixedSizeSampling(size, 101), 50) for size in sizes]
    for size, samples in zip(sizes, drawn, strict=True):
        assert {len(each) for each in samples} == {size}
    for smaller, larger in pairwise(drawn):
        for few, many in zip(smaller, larger, strict=True):
            assert set(few) <= set(many)


def test_certainty_is_certain() -> None:
    keep = np.array([0.0, 1.0, 0.5, 1.0, 0.0])
    for kept in islice(kept_independently(keep, np.random.default_rng(2)), 2000):
        assert {1, 3} <= set(kept.tolist()) <= {1, 2, 3}


def test_the_smallest_and_largest_numbers_fall_on_the_right_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All bits 0, all bits 1, and the two sides of one half.
    numbers = np.array([0, 2**32 - 1, 2**31 - 1, 2**31], dtype=np.uint32)
    monkeypatch.setattr(drawing, "_numbers", lambda size, rng: (numbers, 0))
    for keep, kept in (
        (0.0, []),
        (2.0**-32, [0]),
        (0.5, [0, 2]),
        (1 - 2.0**-32, [0, 2, 3]),
        (1.0, [0, 1, 2, 3]),
    ):
        draws = kept_independently(np.full(4, keep), np.random.default_rng())
        assert next(draws).tolist() == kept
    # Certain among others that are not, with the largest number of all.
    draws = kept_independently(np.array([0.0, 1.0, 0.25, 0.5]), np.random.default_rng())
    assert next(draws).tolist() == [1]


def test_each_record_is_kept_with_its_probability_and_independently_of_the_others() -> None:
    # False alarm: below 1e-6 for each of the two; the seed is fixed.
    keep = np.array([0.02, 0.3, 0.5, 0.9])
    number = 40_000
    draws = islice(kept_independently(keep, np.random.default_rng(11)), number)
    seen = Counter(tuple(each.tolist()) for each in draws)
    subsets = [tuple(each) for size in range(5) for each in combinations(range(4), size)]
    expected = [
        number * np.prod([keep[i] if i in subset else 1 - keep[i] for i in range(4)])
        for subset in subsets
    ]
    _, p_value = stats.chisquare([seen[subset] for subset in subsets], expected)
    assert p_value > 1e-6


@pytest.mark.parametrize("levels", [2**32, 4, 1])
def test_every_subset_of_fixed_size_is_alike_however_many_numbers_tie(
    levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With four levels almost every draw has ties, with one level all are tied.
    numbers = drawing._numbers

    def coarse(size: int, rng: np.random.Generator) -> tuple[NDArray[np.uint32], int]:
        fine, spare = numbers(size, rng)
        return (fine % np.uint64(levels)).astype(np.uint32), spare

    monkeypatch.setattr(drawing, "_numbers", coarse)
    number = 9_000
    draws = islice(kept_by_number(2, 5, np.random.default_rng(12)), number)
    seen = Counter(tuple(each.tolist()) for each in draws)
    subsets = list(combinations(range(5), 2))
    assert sum(seen[subset] for subset in subsets) == number
    # False alarm: below 1e-6; the seed is fixed.
    _, p_value = stats.chisquare([seen[subset] for subset in subsets])
    assert p_value > 1e-6


def test_a_sample_of_another_population_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(InvalidInput, match=r"population=100 to be the number of records.*101"):
        draw_kept(FixedSizeSampling(5, 100), POINTS, np.random.default_rng())


@pytest.mark.parametrize(
    ("omission", "said"),
    [
        (RuleSuppression(keep=(0, 1)), "says nothing about points"),
        (RuleSuppression(), "says nothing about points"),
        (StableSuppression(2), "not known"),
        (PoissonSampling((0.1, 0.2)), "give one rate"),
    ],
)
def test_what_has_no_meaning_for_points_is_refused_at_once(omission: Omission, said: str) -> None:
    with pytest.raises(Refused, match=said):
        draw_kept(omission, POINTS, np.random.default_rng())


@dataclass(frozen=True)
class _Ours(Omission):
    """An omission of someone else, who thought of columns."""

    answer: Any = None

    def __str__(self) -> str:
        return "our omission"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        return np.asarray(epsilon, dtype=np.float64)

    def design(self, data: Any, distance: str) -> Design:
        if self.answer is None:
            return Independent(np.where(data.values >= 30, 0.5, 1.0))
        return Independent(np.asarray(self.answer))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "our omission does not say what it does to points"),
        ([0.5, 0.5], "does not give every one of 101 values or records a probability"),
        (0.5, r"a list in \[0, 1\]"),
        ([1.5] * 101, r"a list in \[0, 1\]"),
        ([np.nan] * 101, r"a list in \[0, 1\]"),
        (["a"] * 101, "must be numbers"),
    ],
)
def test_an_omission_for_columns_only_is_refused_in_a_sentence(answer: Any, said: str) -> None:
    with pytest.raises(Refused, match=said):
        draw_kept(_Ours(answer), POINTS, np.random.default_rng())


def test_an_omission_of_someone_else_works_if_it_takes_points() -> None:
    keep = (ROWS[:, 0] < 0.5).astype(float)
    draws: Iterator[NDArray[np.intp]] = draw_kept(_Ours(keep), POINTS, np.random.default_rng())
    assert next(draws).tolist() == np.flatnonzero(keep).tolist()
