"""Single steps on the way from a question to its error, as tests look at them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from omit import (
    Column,
    ExpectedError,
    Guarantee,
    Mechanism,
    NoisyMean,
    Omission,
    Points,
    solve,
)
from omit.accuracy.simulated import Runs
from omit.data.base import Data
from omit.exact.noisy_quotient import NoisyQuotient
from omit.laws.design import Design, Positions
from omit.mechanisms.base import Promise
from omit.omissions.base import checked_design

FloatArray = NDArray[np.float64]
Counts = NDArray[np.int64]


def design_of(omission: Omission, data: Data, distance: str | None = None) -> Design:
    """Return the design of an omission, with the usual distance of the data."""
    if distance is None:
        distance = "euclidean" if isinstance(data, Points) else "absolute"
        distance = "discrete" if isinstance(data, Column) and data.is_text else distance
    return checked_design(omission, data, distance)


def inclusion(omission: Omission, data: Data, distance: str | None = None) -> FloatArray:
    """Return the keep probabilities of an omission that keeps records independently."""
    keep = design_of(omission, data, distance).inclusion
    assert keep is not None
    return keep


def draw_counts(omission: Omission, column: Column, runs: int, rng: np.random.Generator) -> Counts:
    """Return the counts that are left, one draw in each row."""
    return design_of(omission, column).counts(column.counts, runs, rng)


def draw_kept(omission: Omission, points: Points, rng: np.random.Generator) -> Iterator[Positions]:
    """Return the endless draws of which records are left."""
    return design_of(omission, points).positions(points.size, rng)


def drawn_answers(
    mechanism: Mechanism,
    column: Column,
    counts: Counts,
    bounds: tuple[float, float] | None,
    promise: Promise,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Return one protected answer for each row of counts."""
    prepared: Any = mechanism.prepare(column, promise, bounds=bounds)
    found: NDArray[Any] = prepared.answers(counts, rng)
    return found


def expected_errors(
    mechanism: Mechanism,
    column: Column,
    counts: Counts,
    bounds: tuple[float, float] | None,
    promise: Promise,
    truth: Any,
) -> FloatArray:
    """Return the error of each row of counts, averaged over the noise."""
    prepared = mechanism.prepare(column, promise, bounds=bounds, truth=truth)
    found = prepared.integrated_errors(counts)
    assert found is not None
    return found


def noisy_quotient(
    mechanism: NoisyMean, guarantee: Guarantee, bounds: tuple[float, float] | None
) -> NoisyQuotient:
    """Return the noise of a mean that is a noisy sum over a count."""
    quotient = mechanism.quotient(guarantee, bounds)
    assert isinstance(quotient, NoisyQuotient)
    return quotient


def base_guarantee(
    omission: Omission, guarantee: Guarantee, noise_reduction: bool = True
) -> Guarantee:
    """Return the guarantee that the mechanism itself must have."""
    base = omission.calibrate(guarantee) if noise_reduction else guarantee
    assert isinstance(base, Guarantee)
    return base


def solved(*arguments: Any, **options: Any) -> tuple[Guarantee, ExpectedError]:
    """Return the guarantee that `solve` finds, and the error that it reaches."""
    solution = solve(*arguments, **options)
    return solution.guarantee, solution.error


def simulated_errors(
    column: Column,
    mechanism: Mechanism,
    base: Promise,
    omission: Omission,
    truth: Any,
    runs: int,
    rng: np.random.Generator,
    integrate: bool = False,
) -> FloatArray:
    """Return the error of each run, drawn or averaged over the noise."""
    bounds = None if column.bounds is None else omission.restrict(column.bounds)
    prepared = mechanism.prepare(column, base, bounds=bounds, truth=truth)
    errors = []
    for kept, noise in column.draws(omission.design(column, mechanism.distance), runs, rng):
        expected = prepared.integrated_errors(kept) if integrate else None
        errors.append(prepared.errors(kept, noise) if expected is None else expected)
    return np.concatenate(errors)


def clustering_losses(
    points: Points,
    mechanism: Mechanism,
    base: Promise,
    omission: Omission,
    rng: np.random.Generator,
) -> Runs:
    """Return the losses of run after run."""
    prepared = mechanism.prepare(points, base)
    return Runs.of(prepared, points, design_of(omission, points), 10**9, rng)


def omit_data(name: str) -> str:
    """Return the path of a file that is not bundled."""
    folder = os.environ.get("OMIT_DATA")
    if folder is None:
        pytest.skip("OMIT_DATA names no folder with the data")
    return str(Path(folder) / name)
