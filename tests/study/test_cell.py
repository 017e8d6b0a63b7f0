"""Cells, their identities and their random streams."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from omit.errors import InvalidInput
from omit.study.cell import Computation, distinct
from tests.study.computations import _mean, _toss, matrix_mean, tosses


def test_an_identity_is_the_hash_of_name_version_and_sorted_parameters() -> None:
    text = '{"computation":"tosses","version":1}{"bias":0.5,"tosses":10}'
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert tosses.cell(tosses=10, bias=0.5).identity == expected
    assert tosses.cell(bias=0.5, tosses=10.0).identity == expected
    assert tosses.grid(bias=[0.5], tosses=np.array([10]))[0].identity == expected


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_identities_and_streams_are_the_same_in_every_process(seed: str) -> None:
    code = (
        "from tests.study.computations import tosses\n"
        "cell = tosses.cell(tosses=10, kinds=('a', 'ε'), rate=0.1)\n"
        "print(cell.identity, cell.group, cell.rng().random())"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    cell = tosses.cell(rate=0.1, kinds=["a", "ε"], tosses=10)
    assert done.stdout.split() == [cell.identity, cell.group, repr(cell.rng().random())]


def test_name_version_and_every_parameter_make_another_cell() -> None:
    cells = [
        Computation("a", 1, _toss).cell(x=1),
        Computation("b", 1, _toss).cell(x=1),
        Computation("a", 2, _toss).cell(x=1),
        Computation("a", 1, _toss).cell(x=2),
        Computation("a", 1, _toss).cell(x="1"),
        Computation("a", 1, _toss).cell(x=True),
        Computation("a", 1, _toss).cell(x=(1,)),
        Computation("a", 1, _toss).cell(y=1),
        Computation("a", 1, _toss).cell(x=1, y=None),
    ]
    assert len(set(cells)) == len(cells)
    assert len({cell.rng().random() for cell in cells}) == len(cells)


def test_cells_of_one_group_share_their_shared_parameters_and_nothing_else() -> None:
    cells = matrix_mean.grid(data=["a", "b"], scale=[1, 2])
    assert [cell.group for cell in cells[:2]] == [cells[0].group] * 2
    assert cells[2].group != cells[0].group
    assert cells[0].group != cells[0].identity
    assert cells[0].shared() == {"data": "a"}


def test_a_grid_has_all_combinations_with_the_last_axis_fastest() -> None:
    grid = tosses.grid(z=[1, 2], a=range(2), bounds=[(0, 1)], name="x")
    assert [(cell.parameters["z"], cell.parameters["a"]) for cell in grid] == [
        (1, 0),
        (1, 1),
        (2, 0),
        (2, 1),
    ]
    assert grid[0] == tosses.cell(a=0, bounds=(0, 1), name="x", z=1)


def test_a_pickled_cell_is_the_same_cell() -> None:
    cell = matrix_mean.cell(data="a", scale=0.1)
    again = pickle.loads(pickle.dumps(cell))
    assert again == cell
    assert again.parameters == cell.parameters
    assert again.computation == matrix_mean


def test_cells_are_counted_once() -> None:
    assert len(distinct(tosses.grid(tosses=[1, 2, 1.0]))) == 2


def test_two_computations_under_one_name_are_refused() -> None:
    other = Computation("tosses", 1, _mean)
    with pytest.raises(InvalidInput, match="both 'tosses', version 1"):
        distinct([tosses.cell(a=1), other.cell(a=2)])
    assert len(distinct([tosses.cell(a=1), Computation("tosses", 2, _mean).cell(a=1)])) == 2


def test_what_is_no_cell_is_refused() -> None:
    with pytest.raises(InvalidInput, match="study of cells, got 'a'"):
        distinct(["a"])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="several cells, got 'a'"):
        distinct("a")  # type: ignore[arg-type]


def test_functions_that_can_see_more_than_parameters_are_refused() -> None:
    def inner(parameters: object, prepared: object, rng: object) -> dict[str, float]:
        return {}

    functions: tuple[Any, ...] = (inner, lambda parameters, prepared, rng: {}, print, np.mean)
    for function in functions:
        with pytest.raises(InvalidInput, match="compute of 'x' to be a top-level function"):
            Computation("x", 1, function)


@pytest.mark.parametrize("version", [0, -1, 1.5, "1", True])
def test_a_version_is_a_whole_number_from_one(version: int) -> None:
    with pytest.raises(InvalidInput, match="version"):
        Computation("x", version, _toss)


def test_names_of_parameters_are_checked() -> None:
    with pytest.raises(InvalidInput, match="cannot be named 'seconds'"):
        tosses.cell(seconds=1)
    with pytest.raises(InvalidInput, match="share 'data'"):
        matrix_mean.cell(scale=1)
    with pytest.raises(InvalidInput, match="nothing to prepare"):
        Computation("x", 1, _toss, shared=("data",))
    with pytest.raises(InvalidInput, match="name of a computation"):
        Computation("", 1, _toss)
