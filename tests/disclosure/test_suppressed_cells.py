"""Intervals of suppressed cells, against listing and one program for each cell."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from omit.disclosure.attributes import Attribute
from omit.disclosure.suppressed_cells import suppressed_intervals
from omit.disclosure.suppression import CellSuppression
from omit.disclosure.table import CountTable

SEX, TOWN = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B", "C"))


def test_intervals_are_those_of_all_tables_that_fit_the_margins() -> None:
    table = CountTable((SEX, TOWN), np.array([2, 1, 9, 4, 3, 8]))
    suppression = CellSuppression(5)
    found = suppressed_intervals(table, suppression, [["sex"], ["town"]])
    hidden = [0, 1, 3, 4]
    fitting = []
    for values in itertools.product(range(1, 5), repeat=4):
        other = table.flat.copy()
        other[hidden] = values
        if all(
            (CountTable((SEX, TOWN), other).marginal([name]) == table.marginal([name])).all()
            for name in ("sex", "town")
        ):
            fitting.append(values)
    assert found["cell"].tolist() == hidden
    assert found["low"].tolist() == np.min(fitting, axis=0).tolist()
    assert found["high"].tolist() == np.max(fitting, axis=0).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_no_table_that_fits_is_outside_of_the_intervals(seed: int) -> None:
    """So nothing that is recovered could be another number."""
    rng = np.random.default_rng(seed)
    kinds = tuple(Attribute(name, tuple("ab")) for name in "xyz")
    table = CountTable(kinds, rng.choice([0, 1, 2, 3, 9, 1_000_003], 8))
    names = [[], ["x"], ["y"], ["z"], ["x", "y"], ["x", "z"], ["y", "z"]]
    margins = [each for each in names if rng.random() < 0.6]
    suppression = CellSuppression(4, zeros_kept=bool(rng.integers(2)))
    found = suppressed_intervals(table, suppression, margins)
    hidden = found["cell"].to_numpy()
    fitting = []
    for values in itertools.product(range(int(suppression.zeros_kept), 4), repeat=len(hidden)):
        other = table.flat.copy()
        other[hidden] = values
        guess = CountTable(kinds, other)
        if all((guess.marginal(each) == table.marginal(each)).all() for each in margins):
            fitting.append(values)
    possible = np.array(fitting).reshape(len(fitting), len(hidden))
    assert (found["low"] <= possible.min(axis=0)).all()
    assert (found["high"] >= possible.max(axis=0)).all()
    same = possible.min(axis=0) == possible.max(axis=0)
    assert (same | ~found["recovered"]).all()


def test_a_cell_alone_in_its_margin_is_recovered_and_none_without_margins() -> None:
    table = CountTable((SEX, TOWN), np.array([2, 9, 9, 8, 9, 8]))
    suppression = CellSuppression(5)
    assert suppressed_intervals(table, suppression, [["town"]])["recovered"].all()
    free = suppressed_intervals(table, suppression, [])
    assert free[["low", "high"]].values.tolist() == [[1, 4]]
    unknown = suppressed_intervals(table, suppression, [[]], use_threshold=False)
    assert unknown["recovered"].all(), "the total gives the only suppressed cell away"
    full = CountTable((SEX,), np.array([9, 9]))
    assert len(suppressed_intervals(full, suppression, [["sex"]])) == 0


@pytest.mark.parametrize("use_threshold", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_intervals_are_those_of_two_programs_for_each_cell(seed: int, use_threshold: bool) -> None:
    rng = np.random.default_rng(seed)
    kinds = tuple(Attribute(name, tuple("abcd")) for name in "xyz")
    table = CountTable(kinds, rng.geometric(0.15, 64) - 1)
    suppression = CellSuppression(6, zeros_kept=bool(seed % 2))
    margins = [["x", "y"], ["z"], []][: 1 + seed % 3]
    found = suppressed_intervals(table, suppression, margins, use_threshold=use_threshold)
    hidden = np.flatnonzero((table.flat < 6) & ((table.flat > 0) | (seed % 2 == 0)))
    assert found["cell"].tolist() == hidden.tolist()
    low, high = (float(seed % 2), 5.0) if use_threshold else (0.0, None)
    equations = []
    for names in margins:
        positions = np.arange(64).reshape(4, 4, 4)
        for codes in itertools.product(range(4), repeat=len(names)):
            index = [slice(None)] * 3
            for name, code in zip(names, codes, strict=True):
                index["xyz".index(name)] = slice(code, code + 1)
            equations.append(np.isin(hidden, positions[tuple(index)]))
    matrix = np.array(equations, dtype=float)
    for place in range(len(hidden)):
        for sign, column in ((1.0, "low"), (-1.0, "high")):
            goal = np.zeros(len(hidden))
            goal[place] = sign
            answer = linprog(
                goal, A_eq=matrix, b_eq=matrix @ table.flat[hidden], bounds=(low, high)
            )
            rounded = np.ceil if sign > 0 else np.floor
            assert found[column][place] == rounded(sign * answer.fun + sign * -1e-6)
