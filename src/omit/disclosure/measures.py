"""What a protected table costs, what it still discloses, and what it is good for.

Errors come from the protections in closed form. The theorems of Das et al. are bounds on the same
numbers. What a classifier learns from a release is in a module of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.disclosure.protection import CellErrors, Protection, require_protection, require_runs
from omit.disclosure.table import Attribute, CountTable, cell_values, chosen, require_table, two_way
from omit.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measures:
    """The error of a whole table.

    Parameters
    ----------
    bias : float
        The sum of all absolute biases, the paper's "error" ‖B‖₁.
    fairness : float
        The largest less the smallest bias: the smallest α for which the release is α-fair.
    variance : float
        The largest variance of a cell.
    absolute : float
        The expected sum of all absolute errors.
    """

    bias: float
    fairness: float
    variance: float
    absolute: float


def measures_of(errors: CellErrors) -> Measures:
    """Return the measures of a table from the errors of its cells."""
    return Measures(
        bias=float(np.abs(errors.bias).sum()),
        fairness=float(np.ptp(errors.bias)),
        variance=float(errors.variance.max()),
        absolute=float(errors.absolute.sum()),
    )


def exact_measures(protection: Protection, table: CountTable) -> Measures:
    """Return the measures in closed form.

    Examples
    --------
    >>> from omit.disclosure.table import Attribute
    >>> from omit.disclosure.histograms import LaplaceHistogram
    >>> table = CountTable((Attribute("sex", ("F", "M")),), np.array([0, 40]))
    >>> round(exact_measures(LaplaceHistogram(1.0), table).fairness, 6)
    1.0
    """
    return measures_of(require_protection(protection).errors(table))


def simulated_measures(
    protection: Protection, table: CountTable, rng: np.random.Generator, runs: int = 200
) -> Measures:
    """Return the measures as the paper estimates them: from this many simulated releases.

    Estimated biases are noisy, so their absolute sum and their range come out too large.
    """
    require_protection(protection)
    runs = require_runs(table, runs)
    _validate.instance("rng", rng, np.random.Generator)
    total, squares, absolute = (np.zeros(table.cells) for _ in range(3))
    for draws in protection.simulate_in_blocks(table, rng, runs):
        off = draws - table.flat
        total += off.sum(axis=0)
        squares += (off**2).sum(axis=0)
        absolute += np.abs(off).sum(axis=0)
    bias = total / runs
    variance = np.maximum(0.0, squares / runs - bias**2)
    return measures_of(CellErrors(bias, variance, absolute / runs))


def published_bounds(protection: Protection, table: CountTable) -> dict[str, float]:
    """Return the paper's bounds that apply to a protection, by the name of their theorem.

    Those on cell suppression are stated for a release that also suppresses empty cells.
    """
    require_table(table)
    bounds = require_protection(protection).published_bounds(table)
    return {str(bound): bound.value for bound in bounds}


def group_errors(
    protection: Protection, table: CountTable, attribute: str, errors: CellErrors | None = None
) -> pd.DataFrame:
    """Return the error for every category of an attribute that has records.

    Columns: the group, its records and cells, the sum of expected absolute errors, that sum per
    hundred records, and the sum of biases.
    """
    import pandas as pd

    (position,) = chosen(require_table(table).attributes, [attribute], "group")
    errors = errors or require_protection(protection).errors(table)
    rows = []
    for category, records in zip(
        table.attributes[position].categories, table.marginal([attribute]).tolist(), strict=True
    ):
        if not records:
            continue  # nothing can be said about the error of an empty group
        cells = table.group(attribute, category)
        absolute = float(errors.absolute[cells].sum())
        rows.append(
            {
                attribute: category,
                "records": records,
                "cells": len(cells),
                "absolute error": absolute,
                "error per 100 records": 100 * absolute / records,
                "bias": float(errors.bias[cells].sum()),
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Disclosure:
    """What a table shows about small groups; of several releases, on average.

    Parameters
    ----------
    k_anonymity : float
        The smallest number of records that share a combination of identifying attributes, among
        the combinations that somebody has; 0 if nobody is shown.
    unique : float
        How many such combinations a single record has; k-anonymity is 1 if there are any.
    small : float
        How many cells hold at least one record and fewer than the threshold.
    """

    k_anonymity: float
    unique: float
    small: float


def disclosure_of(
    table: CountTable,
    counts: IntArray | FloatArray,
    threshold: int,
    identifying: Sequence[str] | None = None,
) -> Disclosure:
    """Return what counts of a table's cells show; counts with decimals are rounded first.

    Identifying attributes, by which a person may be recognised, are all if none are named.

    Examples
    --------
    >>> from omit.disclosure.table import Attribute
    >>> sex, town = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B"))
    >>> table = CountTable((sex, town), np.array([0, 1, 4, 9]))
    >>> disclosure_of(table, table.flat, threshold=6)
    Disclosure(k_anonymity=1, unique=1, small=2)
    >>> disclosure_of(table, table.flat, threshold=6, identifying=["town"])
    Disclosure(k_anonymity=4, unique=0, small=2)
    """
    require_table(table)
    threshold = _validate.positive_integer("threshold", threshold)
    whole = np.rint(cell_values(table, counts)).astype(np.int64).reshape(table.shape)
    names = table.names if identifying is None else identifying
    kept = chosen(table.attributes, names, "identifying attribute")
    margin = whole.sum(axis=tuple(set(range(whole.ndim)) - set(kept)))
    present = margin[margin > 0]
    return Disclosure(
        int(present.min()) if len(present) else 0,
        int((margin == 1).sum()),
        int(((whole > 0) & (whole < threshold)).sum()),
    )


def mean_disclosure(shown: Sequence[Disclosure]) -> Disclosure:
    """Return what several releases show on average."""
    shown = _validate.several("releases", shown)
    if not shown:
        raise InvalidInput("Expected at least one release.")
    numbers = [
        astuple(_validate.instance("every release", release, Disclosure)) for release in shown
    ]
    return Disclosure(*np.mean(numbers, axis=0).tolist())


def unique_exact_matches(table: CountTable, released: FloatArray) -> FloatArray:
    """Return for every release the share of records, in %, that are unique and shown as unique.

    A cell counts if it holds one record both in the data and in the release (rounded): the paper's
    "unique exact match", here over all records. The larger, the more is disclosed.

    Examples
    --------
    >>> from omit.disclosure.table import Attribute
    >>> table = CountTable((Attribute("town", ("A", "B", "C")),), np.array([1, 1, 8]))
    >>> unique_exact_matches(table, np.array([[1.0, 2.0, 8.0]]))
    array([10.])
    """
    require_table(table)
    runs = np.atleast_2d(as_array(released))
    if runs.ndim != 2 or runs.shape[1] != table.cells or not np.isfinite(runs).all():
        raise InvalidInput(f"Expected releases with a finite number for all {table.cells:,} cells.")
    unique: NDArray[np.bool_] = table.flat == 1
    shown = np.rint(runs) == 1
    return as_array(100 * (shown & unique).sum(axis=1) / table.size)


def regression_line(
    counts: ArrayLike, x: Sequence[float], y: Sequence[float]
) -> tuple[float, float]:
    """Return intercept and slope of y on x by least squares, for counts over a grid of x and y.

    Examples
    --------
    >>> regression_line(np.eye(3), [0, 1, 2], [1, 3, 5])
    (1.0, 2.0)
    """
    weights = np.maximum(0.0, as_array(counts))
    row, column = as_array(x).reshape(-1), as_array(y).reshape(-1)
    if weights.shape != (len(row), len(column)):
        raise InvalidInput(f"Expected counts of {len(row)} x {len(column)} pairs.")
    total = weights.sum()
    xs, ys = row[:, None], column[None, :]
    if total == 0:
        return float("nan"), float("nan")
    mean_x, mean_y = (weights * xs).sum() / total, (weights * ys).sum() / total
    spread = (weights * (xs - mean_x) ** 2).sum()
    if spread == 0:
        return float(mean_y), 0.0
    slope = (weights * (xs - mean_x) * (ys - mean_y)).sum() / spread
    return float(mean_y - slope * mean_x), float(slope)


@dataclass(frozen=True)
class Axis:
    """An attribute whose categories are numbers: their own, or 1, 2, 3 and so on.

    Made by `axis_of`.
    """

    name: str
    categories: tuple[str, ...]
    numbers: tuple[float, ...]
    ranked: bool


def axis_of(attribute: Attribute) -> Axis:
    """Return an attribute with its categories as numbers, if they are so at equal distances.

    Examples
    --------
    >>> axis_of(Attribute("decile", ("0", "1", "2"))).numbers
    (0.0, 1.0, 2.0)
    >>> axis_of(Attribute("size", ("small", "large"))).numbers
    (1.0, 2.0)
    """
    _validate.instance("attribute", attribute, Attribute)
    ranks = tuple(float(rank) for rank in range(1, len(attribute) + 1))
    try:
        numbers = tuple(float(category) for category in attribute.categories)
    except ValueError:
        numbers = ranks
    steps = np.diff(numbers)
    even = len(steps) == 0 or (steps[0] > 0 and np.allclose(steps, steps[0]))
    used = numbers if even else ranks
    return Axis(attribute.name, attribute.categories, used, used is ranks)


@dataclass(frozen=True, eq=False)
class GroupMap:
    """A two-way marginal of one group: its change by a protection, and both regression lines.

    Parameters
    ----------
    protection, group : str
        Whose release, and whose records.
    x, y : Axis
        The attributes; the lines are of y on x.
    change : array
        The mean released count less the true one, by categories of x and y.
    true_line, line : tuple of float
        Intercept and slope in the data, and for the mean release.
    error : float
        The expected absolute error of the group's cells, for every 100 of its records.
    """

    protection: str
    group: str
    x: Axis
    y: Axis
    change: FloatArray
    true_line: tuple[float, float]
    line: tuple[float, float]
    error: float

    @property
    def true_slope(self) -> float:
        """The slope in the data."""
        return self.true_line[1]

    @property
    def slope(self) -> float:
        """The slope for the mean release; nan if that has no records."""
        return self.line[1]

    def to_record(self) -> dict[str, Any]:
        """Return the marginal as plain values; the line of a release without records is nan."""
        ends = ("intercept", "slope")
        return {
            "group": self.group,
            "error_per_100_records": self.error,
            "line_in_data": dict(zip(ends, self.true_line, strict=True)),
            "line_in_release": dict(zip(ends, self.line, strict=True)),
            "change": self.change.tolist(),
        }


def group_maps(
    protection: Protection,
    table: CountTable,
    x: str,
    y: str,
    groups: Mapping[str, dict[str, str]],
    *,
    mean: FloatArray | None = None,
    errors: CellErrors | None = None,
) -> list[GroupMap]:
    """Return what a protection does to the two-way marginal of x and y in every group.

    Parameters
    ----------
    groups : mapping
        By name, the categories that make a group, such as ``{"men": {"sex": "M"}}``.
    mean : array, optional
        The mean of releases; by default the exact expectation.
    errors : CellErrors, optional
        The errors of the protection on the table, if they are known already.
    """
    errors = errors or require_protection(protection).errors(table)
    _validate.mapping("groups", groups, "from names to groups")
    truth = as_array(table.flat)
    mean = truth + errors.bias if mean is None else cell_values(table, mean)
    first, second = (
        axis_of(table.attributes[position])
        for position in chosen(table.attributes, [x, y], "attribute")
    )
    maps = []
    for name, where in groups.items():
        true, released, absolute = (
            two_way(table, counts, x, y, where) for counts in (truth, mean, errors.absolute)
        )
        maps.append(
            GroupMap(
                protection.key,
                name,
                first,
                second,
                released - true,
                regression_line(true, first.numbers, second.numbers),
                regression_line(released, first.numbers, second.numbers),
                float(100 * absolute.sum() / true.sum()),
            )
        )
    return maps
