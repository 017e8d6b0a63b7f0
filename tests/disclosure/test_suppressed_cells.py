"""Intervals of suppressed cells, against listing and one program for each cell."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.optimize import linprog

from omit._numeric import IntArray
from omit.disclosure import suppressed_cells
from omit.disclosure.suppressed_cells import suppressed_intervals
from omit.disclosure.suppression import CellSuppression
from omit.disclosure.table import Attribute, CountTable

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


def possible(
    table: CountTable, hidden: IntArray, values: range, margins: Sequence[Sequence[str]]
) -> IntArray:
    """Return the hidden cells of all tables of whole numbers that fit the margins."""
    grid = np.array(list(itertools.product(values, repeat=len(hidden))), dtype=np.int64)
    indices = np.arange(table.cells).reshape(table.shape)
    for names in margins:
        axes = tuple(place for place, name in enumerate(table.names) if name not in names)
        summed = np.moveaxis(indices, axes, range(-len(axes), 0)) if axes else indices[..., None]
        for cells in summed.reshape(-1, math.prod(table.shape[place] for place in axes)):
            within = np.isin(hidden, cells)
            grid = grid[grid[:, within].sum(axis=1) == table.flat[hidden][within].sum()]
    return grid


def test_a_cell_that_only_whole_numbers_give_away_is_recovered() -> None:
    kinds = tuple(Attribute(name, tuple("ab")) for name in "xyz")
    table = CountTable(kinds, np.array([0, 2, 3, 2, 5, 9, 9, 4]))
    margins = [["x"], ["y"], ["z"]]
    found = suppressed_intervals(table, CellSuppression(6), margins)
    assert len(possible(table, found["cell"].to_numpy(), range(1, 6), margins)) == 1
    assert found["recovered"].tolist() == [True] * 5
    assert found["low"].tolist() == found["high"].tolist() == [2, 3, 2, 5, 4]


@pytest.mark.parametrize("seed", range(60))
def test_intervals_are_those_of_all_tables_of_whole_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = [(2, 2, 2), (2, 3), (2, 2, 3), (3, 3)][seed % 4]
    kinds = tuple(
        Attribute(name, tuple("abc"[:size])) for name, size in zip("xyz", shape, strict=False)
    )
    counts = rng.choice([0, 1, 2, 3, 4, 9, 1_000_003], math.prod(shape))
    counts[rng.permutation(len(counts))[6:]] = 9  # so that all tables can be listed
    table = CountTable(kinds, counts)
    names = [list(each) for size in range(3) for each in itertools.combinations(table.names, size)]
    margins = [each for each in names if rng.random() < 0.5] or [[]]
    suppression = CellSuppression(5, zeros_kept=bool(rng.integers(2)))
    found = suppressed_intervals(table, suppression, margins)
    hidden = found["cell"].to_numpy()
    fitting = possible(table, hidden, range(int(suppression.zeros_kept), 5), margins)
    assert found["low"].tolist() == fitting.min(axis=0).tolist()
    assert found["high"].tolist() == fitting.max(axis=0).tolist()
    assert found["recovered"].tolist() == (np.ptp(fitting, axis=0) == 0).tolist()
    assert not found["undecided"].any()


def test_a_search_that_is_given_up_says_what_was_not_excluded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    kinds = tuple(Attribute(name, tuple("abc")) for name in "xyz")
    table = CountTable(kinds, rng.integers(1, 9, 27))
    margins = [["x", "y"], ["x", "z"], ["y", "z"]]
    full = suppressed_intervals(table, CellSuppression(6), margins)
    for effort in (0.0, 2000.0):
        monkeypatch.setattr(suppressed_cells, "_MOST_EFFORT", effort)
        found = suppressed_intervals(table, CellSuppression(6), margins)
        assert (found["low"] <= full["low"]).all()
        assert (found["high"] >= full["high"]).all()
        # Whatever is recovered is called so or undecided, and nothing else is called recovered.
        assert (full["recovered"] <= (found["recovered"] | found["undecided"])).all()
        assert (found["recovered"] <= full["recovered"]).all()
    assert found["undecided"].sum() < len(found)


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
