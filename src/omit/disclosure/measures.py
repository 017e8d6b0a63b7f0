"""What a protected table costs and what it still discloses.

Errors come from the protections in closed form. The theorems of Das et al. are bounds on the same
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.disclosure.protection import (
    CellErrors,
    Protection,
    require_protection,
    require_runs,
)
from omit.disclosure.table import CountTable, cell_values, chosen
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
        fairness=float(errors.bias.max() - errors.bias.min()),
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
    _validate.instance("table", table, CountTable, "made by tabulate")
    bounds = require_protection(protection).published_bounds(table)
    return {str(bound): bound.value for bound in bounds}


def group_errors(
    protection: Protection, table: CountTable, attribute: str, errors: CellErrors | None = None
) -> pd.DataFrame:
    """Return the error for every category of an attribute that has records.

    Columns: the group, its records and cells, the sum of expected absolute errors, that sum for
    each hundred records, and the sum of biases.
    """
    import pandas as pd

    _validate.instance("table", table, CountTable, "made by tabulate")
    (position,) = chosen(table.attributes, [attribute], "group")
    errors = errors or require_protection(protection).errors(table)
    rows = []
    for category in table.attributes[position].categories:
        try:
            cells = table.group(attribute, category)
        except InvalidInput:
            continue  # an empty group has no error for each record
        records = int(table.flat[cells].sum())
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
    """What a table shows about few people; of several releases, in the mean.

    Parameters
    ----------
    k_anonymity : float
        The fewest records that share a combination of identifying attributes which somebody has,
        or 0 if nobody is shown.
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
    _validate.instance("table", table, CountTable)
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
    """Return what several releases show in the mean."""
    shown = [
        _validate.instance("every release", release, Disclosure)
        for release in _validate.several("releases", shown)
    ]
    if not shown:
        raise InvalidInput("Expected at least one release.")
    return Disclosure(
        float(np.mean([release.k_anonymity for release in shown])),
        float(np.mean([release.unique for release in shown])),
        float(np.mean([release.small for release in shown])),
    )


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
    _validate.instance("table", table, CountTable, "made by tabulate")
    runs = np.atleast_2d(as_array(released))
    if runs.ndim != 2 or runs.shape[1] != table.cells or not np.isfinite(runs).all():
        raise InvalidInput(
            f"Expected releases with a finite number for each of the {table.cells:,} cells."
        )
    unique: NDArray[np.bool_] = table.flat == 1
    shown = np.rint(runs) == 1
    return as_array(100 * (shown & unique).sum(axis=1) / table.size)
