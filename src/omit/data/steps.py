"""Numbers that can only be the lower bound plus a multiple of a declared step: points on a lattice.

A step is declared as bounds are. To round a value to the lattice is a function of one record, so it
costs no privacy. Both bounds are points: `lower + k step` for `k` from 0 to the number of steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.data.base import show_bounds
from omit.errors import InvalidInput

MOST_STEPS = 10_000_000
# Smaller steps are not taken as parts of 1.
_SMALLEST_PART = 1e-15
# How much of a step a value may be off a point, by the rounding of floats, and still be on it.
_ROUNDING = 1e-6


def checked_step(step: float, bounds: tuple[float, float]) -> float:
    """Return a step that divides the width of the bounds, or refuse.

    Raises
    ------
    InvalidInput
        If it is not positive and finite, or the bounds are not a whole number of steps apart, at
        most ten million, or so far from 0 that floats do not tell the points apart.

    Examples
    --------
    >>> checked_step(0.1, (0.0, 1.0))
    0.1
    """
    step = _validate.positive("step", step)
    width = (bounds[1] - bounds[0]) / step
    if width > MOST_STEPS:
        raise InvalidInput(
            f"Expected step={step:g} to divide the bounds {show_bounds(bounds)} into at most "
            f"{MOST_STEPS:,} steps; take a larger one, or none for continuous values."
        )
    if float(np.spacing(max(abs(bounds[0]), abs(bounds[1])))) > _ROUNDING * step:
        raise InvalidInput(
            f"The bounds {show_bounds(bounds)} are too far from 0 for step={step:g}; subtract the "
            "lower bound from the values first."
        )
    if abs(width - round(width)) > _ROUNDING:
        raise InvalidInput(
            f"Expected the bounds {show_bounds(bounds)} to be a whole number of steps apart, "
            f"which step={step:g} does not give; declare other bounds or another step."
        )
    return step


def steps_between(bounds: tuple[float, float], step: float) -> int:
    """Return how many steps the bounds are apart.

    Examples
    --------
    >>> steps_between((0.0, 1.0), 0.1)
    10
    """
    return round((bounds[1] - bounds[0]) / step)


def lattice_indices(values: FloatArray, lower: float, step: float) -> IntArray:
    """Return how many steps above the lower bound the nearest point to each value is.

    Examples
    --------
    >>> lattice_indices(np.array([0.3, 0.34]), 0.0, 0.1)
    array([3, 3])
    """
    return np.rint((values - lower) / step).astype(np.int64)


def lattice_points(lower: float, step: float, indices: IntArray) -> FloatArray:
    """Return the points that are this many steps above the lower bound.

    Steps such as 0.1 are taken as the parts of 1 that they are meant to be, so that points are the
    floats that are written the same way.

    Examples
    --------
    >>> lattice_points(0.0, 0.1, np.array([3])), 3 * 0.1
    (array([0.3]), 0.30000000000000004)
    """
    parts = round(1 / step) if _SMALLEST_PART < step < 1 else 0
    if parts and 1 / parts == step:
        return as_array(lower + indices / parts)
    return as_array(lower + indices * step)


def on_lattice(values: FloatArray, lower: float, step: float) -> NDArray[np.bool_]:
    """Tell which values are points, up to the rounding of floats."""
    steps = (values - lower) / step
    return np.abs(steps - np.rint(steps)) <= 2 * _ROUNDING
