"""What the rows of Table 1 may mean: every reading of the text, computed exactly, and how far off.

The text leaves open which incomes the missing ones count as, whether the domain holds categories
and cells that nobody is in, whether the numbers are exact or estimated from runs, what suppression
does to empty cells, and of swapping which attributes it swaps and who may be a donor.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, get_args

import numpy as np
import pandas as pd

from omit._numeric import FloatArray, as_array
from omit.disclosure.measures import Measures, exact_measures, measures_of, simulated_measures
from omit.disclosure.protection import CellErrors
from omit.disclosure.suppression import RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping
from omit.disclosure.swapping_exact import Donor, Ties
from omit.disclosure.table import Attribute, CountTable
from omit.disclosure.tabulation import tabulate
from omit.laws.discrete import Geometric
from omit.papers.base import Computed, Settings
from omit.papers.disclosure_control import cells
from omit.study.cell import Cell, Computation, Row

MISSING: Mapping[str, Mapping[str, Any]] = {
    "missing incomes below 50,000": {"missing_as": cells.MISSING_INCOME},
    "missing incomes dropped": {},
    "missing incomes a category": {"without_value": "category"},
}
DONORS: Mapping[str, Donor] = {
    "another record as donor": "another record",
    "donors of other quasi-identifiers": "other quasi-identifiers",
}
RANDOM_DONORS = "permute-and-flip"
OF_THE_TEXT = tuple(
    f"race swapped, {donor}, {RANDOM_DONORS}, {next(iter(MISSING))}" for donor in DONORS
)
"""The two readings of swapping that the text of Sections 3 and 5 has."""

_NAMES = {
    "PUMA": "PUMA",
    "RAC1P": "race",
    "SEX": "sex",
    "OWN_RENT": "ownership",
    "income50k": "income",
}
_Measured = Callable[[float], Measures]


def occurring_categories(table: CountTable) -> CountTable:
    """Return the table over the categories that somebody has: the data decide, which tells.

    Examples
    --------
    >>> town = Attribute("town", ("A", "B", "C"))
    >>> occurring_categories(CountTable((town,), np.array([2, 0, 3])))
    CountTable(town: 5 records in 2 cells, 0 of them empty)
    """
    counts, attributes = table.counts, []
    for axis, attribute in enumerate(table.attributes):
        (kept,) = np.nonzero(table.marginal([attribute.name]))
        categories = tuple(attribute.categories[position] for position in kept)
        attributes.append(Attribute(attribute.name, categories, "from-data"))
        counts = counts.take(kept, axis=axis)
    return CountTable(tuple(attributes), counts)


def occurring_cells(table: CountTable) -> CountTable:
    """Return the cells that hold records, in a row.

    Examples
    --------
    >>> town = Attribute("town", ("A", "B", "C"))
    >>> occurring_cells(CountTable((town,), np.array([2, 0, 3]))).cells
    2
    """
    counts = table.flat[table.flat > 0]
    names = tuple(f"cell {position}" for position in range(len(counts)))
    return CountTable((Attribute("cell", names, "from-data"),), counts)


DOMAINS: Mapping[str, Callable[[CountTable], CountTable]] = {
    "all categories": lambda table: table,
    "the categories that occur": occurring_categories,
    "the cells that occur": occurring_cells,
}


def _table(shared: Row, rng: np.random.Generator) -> CountTable:
    how = MISSING[shared["missing"]]
    return tabulate(shared["data"], cells.FEATURES, derive=[cells.INCOME], **how)


def _noisy(
    mechanism: str, table: CountTable, rng: np.random.Generator, runs: int
) -> Iterator[tuple[str, _Measured]]:
    """Give the readings of a histogram with noise: the domain, and exactly or from runs."""

    def exactly(there: CountTable, epsilon: float) -> Measures:
        return exact_measures(cells.protection(mechanism, epsilon), there)

    def estimated(there: CountTable, epsilon: float) -> Measures:
        return simulated_measures(cells.protection(mechanism, epsilon), there, rng, runs)

    for domain, restrict in DOMAINS.items():
        there = restrict(table)
        yield f"{domain}, exactly", partial(exactly, there)
        yield f"{domain}, estimated from runs", partial(estimated, there)


def suppressed_unless_zero(counts: FloatArray, k: int, epsilon: float) -> FloatArray:
    """Return how often counts are suppressed if one whose *noisy* count is 0 is left untouched.

    The noise is on whole numbers, with ratio e^(-epsilon/2): only then can a noisy count be 0.

    Examples
    --------
    >>> suppressed_unless_zero(np.array([0.0, 100.0]), k=6, epsilon=2.0).round(4)
    array([0.5361, 0.    ])
    """
    ratio = Geometric(2 / epsilon).ratio
    zero = (1 - ratio) / (1 + ratio) * ratio**counts
    gap = k - counts  # suppressed if the noise is below
    below = np.where(gap > 0, 1 - ratio ** np.maximum(gap, 0) / (1 + ratio), 0.0)
    beyond = ratio ** np.maximum(1 - gap, 0) / (1 + ratio)
    return as_array(np.where(gap > 0, below, beyond) - zero)


def _suppression(table: CountTable) -> Iterator[tuple[str, _Measured]]:
    """Give the readings of suppression: the domain, and what is done to empty cells."""
    k = cells.THRESHOLD

    def by_true_count(there: CountTable, zeros_kept: bool, epsilon: float) -> Measures:
        return exact_measures(RandomisedCellSuppression(k, zeros_kept, epsilon), there)

    def by_noisy_count(there: CountTable, epsilon: float) -> Measures:
        counts = as_array(there.flat)
        p, shift = suppressed_unless_zero(counts, k, epsilon), k // 2 - counts
        return measures_of(CellErrors(shift * p, shift**2 * p * (1 - p), np.abs(shift) * p))

    for domain in ("all categories", "the categories that occur"):
        there = DOMAINS[domain](table)
        yield f"empty cells kept, {domain}", partial(by_true_count, there, True)
        yield f"empty cells suppressed, {domain}", partial(by_true_count, there, False)
        yield f"cells of noisy count 0 kept, {domain}", partial(by_noisy_count, there)


def _swapping(table: CountTable) -> Iterator[tuple[str, _Measured]]:
    """Give the readings of swapping: every set of attributes, donors, and how one is chosen."""

    def drawn(swapped: tuple[str, ...], donor: Donor, epsilon: float) -> Measures:
        return _of_swapping(RandomisedSwapping(swapped, cells.RATE, donor, epsilon=epsilon), table)

    def unchanged(made: Measures, epsilon: float) -> Measures:
        return made

    sets = (itertools.combinations(cells.FEATURES, size) for size in range(1, len(_NAMES) + 1))
    for swapped in itertools.chain.from_iterable(sets):
        words = ", ".join(_NAMES[name] for name in swapped)
        words = "everything" if len(swapped) == len(_NAMES) else words
        for donors, donor in DONORS.items():
            start = f"{words} swapped, {donors}"
            yield f"{start}, {RANDOM_DONORS}", partial(drawn, swapped, donor)
            for ties in get_args(Ties):
                made = _of_swapping(Swapping(swapped, cells.RATE, donor, ties), table)
                yield f"{start}, {ties} among the nearest", partial(unchanged, made)
    one = one_donor(table)
    yield "everything swapped, one record the donor of all", partial(unchanged, one)


def _of_swapping(swapping: Swapping, table: CountTable) -> Measures:
    """Return the measures without absolute errors, which take most of the time."""
    bias, variance = swapping.bias_and_variance(table)
    return measures_of(CellErrors(bias, variance, np.abs(bias)))


def one_donor(table: CountTable) -> Measures:
    """Return what happens if all swapped records land in one cell, the nearest to the print."""
    x, total = as_array(table.flat[table.flat > 0]), float(table.size)
    # A fixed number of targets, drawn without replacement: all cells vary by their own targets.
    variance = cells.RATE * (1 - cells.RATE) * x * (1 - x / total)
    printed = cells.PRINTED[2.0, "randomised swapping"]
    best = None
    for position in range(len(x)):
        bias = -cells.RATE * x
        bias[position] = cells.RATE * (total - x[position])
        made = measures_of(CellErrors(bias, variance, np.abs(bias)))
        off = abs(made.bias / printed[1] - 1) + abs(made.fairness / printed[2] - 1)
        if best is None or off < best[0]:
            best = off, made
    assert best is not None  # a table holds records
    return best[1]


def _read(parameters: Row, table: CountTable, rng: np.random.Generator) -> list[Row]:
    """Return the measures of a row of Table 1 under every reading, a row per epsilon."""
    mechanism = parameters["mechanism"]
    if mechanism in cells.NOISY:
        readings = _noisy(mechanism, table, rng, parameters["runs"])
    else:
        is_swapping = mechanism == "randomised swapping"
        readings = _swapping(table) if is_swapping else _suppression(table)
    rows: list[Row] = []
    for reading, measured in readings:
        for epsilon in cells.EPSILONS:
            made = measured(epsilon)
            values = {"bias": made.bias, "fairness": made.fairness, "variance": made.variance}
            rows.append({"reading": reading, "epsilon": epsilon, **values})
    return rows


READ = Computation("readings of Table 1", 1, _read, _table, ("data", "missing"))


def read_cells(settings: Settings) -> tuple[Cell, ...]:
    """Return a cell for every mechanism and every meaning of missing incomes."""
    shared = {"data": "nist-ma", "missing": list(MISSING)}
    exact = ["randomised suppression", "randomised swapping"]
    return (
        *READ.grid(**shared, mechanism=cells.NOISY, runs=settings.runs),
        *READ.grid(**shared, mechanism=exact, runs=0),
    )


def table_1_readings(computed: Computed) -> pd.DataFrame:
    """Return a line per mechanism and reading with errors and α, the nearest to the print first.

    How far off a reading is, is the mean of |computed / printed - 1| over both and all epsilons.
    """
    lines = []
    table = computed.frame(READ)
    for (mechanism, missing, reading), rows in table.groupby(
        ["mechanism", "missing", "reading"], sort=False
    ):
        printed = [cells.PRINTED[epsilon, str(mechanism)] for epsilon in rows["epsilon"]]
        parts = {"error": ("bias", 1), "α": ("fairness", 2), "variance": ("variance", 3)}
        line: dict[str, Any] = {"mechanism": mechanism, "reading": f"{reading}, {missing}"}
        ratios = []
        for shown, (name, position) in parts.items():
            for epsilon, value, print_ in zip(rows["epsilon"], rows[name], printed, strict=True):
                line[f"{shown} at ε = {epsilon:g}"] = value
                if shown != "variance":
                    ratios.append(value / float(print_[position]))
        off = np.abs(np.array(ratios) - 1)
        line["near"] = int((off <= NEAR).sum())
        lines.append({**line, "off the print": float(off.mean())})
    frame = pd.DataFrame(lines)
    order = list(dict.fromkeys(frame["mechanism"]))
    ranks = frame["mechanism"].map(order.index)
    return (
        frame.assign(rank=ranks)
        .sort_values(["rank", "off the print"], kind="stable")
        .drop(columns="rank")
        .reset_index(drop=True)
    )


NEAR = 0.1
"""A number is the printed one if it is within a tenth of it."""
PRINTED_NUMBERS = 2 * len(cells.EPSILONS)
"""How many errors and α of a mechanism Table 1 prints."""
