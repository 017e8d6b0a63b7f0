"""Declared steps: which numbers a column can hold, and what becomes of the others."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from omit import Column, InvalidInput, read
from omit.data.datasets import DATASETS
from omit.data.steps import MOST_STEPS, lattice_indices, lattice_points

GENERATED = {"beta", "lognormal", "bimodal", "beta-r", "lognormal-r", "bimodal-r"}


@pytest.mark.parametrize("step", [1, 5, 0.1, 0.25, 0.01, 1 / 3])
def test_values_move_to_the_nearest_point_and_are_counted(step: float) -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(-2, 8, 300).round(2)
    column = Column.from_values(values, (-2, 8), step=step)
    exact = Fraction(step).limit_denominator(1000)
    steps = [(Fraction(str(value)) + 2) / exact for value in values]
    moved = np.repeat(column.values, column.counts)
    assert np.abs(moved - np.sort(values)).max() <= step / 2 + 1e-9
    assert all((Fraction(each).limit_denominator(10**6) + 2) % exact == 0 for each in column.values)
    assert column.rounded == sum(each.denominator != 1 for each in steps)


def test_a_step_of_a_tenth_leaves_tenths_as_they_are_written() -> None:
    column = Column.from_values([0.1, 0.2, 0.3, 0.7], (0, 1), step=0.1)
    assert column.values.tolist() == [0.1, 0.2, 0.3, 0.7]
    assert column.rounded == 0
    assert column.notes == ()


def test_rounding_is_said() -> None:
    column = Column.from_values([1, 2.4, 9], (1, 10), step=3, name="rooms")
    assert column.values.tolist() == [1.0, 10.0]
    assert column.notes == ("rooms: 2 of 3 values were rounded to steps of 3 from 1 on.",)
    assert column.declaration == "Values lie in [1, 10] in steps of 3, declared."


def test_values_beyond_the_bounds_are_clamped_before_they_are_rounded() -> None:
    column = Column.from_values([-7.2, 12], (0, 10), step=5)
    assert column.values.tolist() == [0.0, 10.0]
    assert (column.clamped, column.rounded) == (2, 0)


@pytest.mark.parametrize(
    ("step", "bounds", "message"),
    [
        (0, (0, 1), "above 0"),
        (-1, (0, 1), "above 0"),
        (math.inf, (0, 1), "finite"),
        (math.nan, (0, 1), "finite"),
        ("1", (0, 1), "to be a number"),
        (0.3, (0, 1), "whole number of steps apart"),
        (2, (0, 5), "whole number of steps apart"),
        (0.9 / MOST_STEPS, (0, 1), "at most 10,000,000 steps"),
        (0.5, (1e15, 1e15 + 1), "too far from 0"),
        (1e-320, (0, 0), "too far from 0"),
    ],
)
def test_a_step_that_does_not_fit_the_bounds_is_refused_in_one_sentence(
    step: float, bounds: tuple[float, float], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        Column.from_values([bounds[0]], bounds, step=step)
    assert str(caught.value).endswith(".")


def test_text_has_no_step() -> None:
    with pytest.raises(InvalidInput, match="only numbers have a step"):
        Column.from_values(["a"], categories=("a",), step=1)
    with pytest.raises(InvalidInput, match="only numbers have a step"):
        read("adult", "sex", step=1)


def test_the_constructor_refuses_values_between_the_points() -> None:
    with pytest.raises(InvalidInput, match="in steps of 1 from 0 on"):
        Column("x", np.array([0.5]), np.array([1]), (0, 3), step=1)


def test_every_registered_column_of_whole_numbers_has_the_step_1() -> None:
    for known in DATASETS.values():
        assert (known.step is None) == (known.name in GENERATED)
    ages = read("adult", "age")
    assert (ages.step, ages.rounded) == (1.0, 0)
    assert read("beta").step is None


@pytest.mark.parametrize(
    ("bounds", "step"), [((17, 90), 1.0), ("from-data", 1.0), ((0, 99.5), None)]
)
def test_declared_bounds_of_a_registered_column_keep_its_step_if_they_are_multiples_of_it(
    bounds: tuple[float, float], step: float | None
) -> None:
    assert read("adult", "age", bounds=bounds).step == step


def test_a_declared_step_replaces_the_registered_one() -> None:
    by_five = read("adult", "age", step=5)
    assert (by_five.step, by_five.bounds_source) == (5.0, "registered")
    assert np.all(by_five.values % 5 == 0)
    assert by_five.size == read("adult", "age").size


def test_a_mode_is_chosen_among_the_points() -> None:
    values, counts = Column.from_values([0.5, 0.5, 1.5], (0.5, 2), step=0.5).domain()
    assert values.tolist() == [0.5, 1.0, 1.5, 2.0]
    assert counts.tolist() == [2, 0, 1, 0]
    with pytest.raises(InvalidInput, match="among up to 1,000,000"):
        Column.from_values([0.5], (0, 1), step=1e-6).domain()


def test_frames_and_copies_keep_the_step() -> None:
    column = read(pd.DataFrame({"rooms": [2, 3.2]}), bounds=(1, 10), step=1)
    assert (column.step, column.rounded) == (1.0, 1)
    copy = pickle.loads(pickle.dumps(column))
    assert copy == column
    assert copy != read(pd.DataFrame({"rooms": [2, 3.0]}), bounds=(1, 10))


def test_a_column_far_from_zero_keeps_its_points_when_it_is_moved() -> None:
    column = Column.from_values([1000.1, 1000.7], (1000, 1001), step=0.1)
    moved, origin = column.moved_to_zero()
    assert origin == 1000.0
    assert lattice_indices(moved.values, 0.0, 0.1).tolist() == [1, 7]


def test_points_and_indices_are_inverse() -> None:
    for step, lower in ((0.1, -3.3), (0.7, 2.0), (1e-3, 0.0), (1e5, -2e7)):
        indices = np.arange(1000)
        points = lattice_points(lower, step, indices)
        assert lattice_indices(points, lower, step).tolist() == indices.tolist()
