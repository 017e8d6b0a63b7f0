"""One table, every way to protect it at the same epsilon, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from omit import _validate
from omit.disclosure.attributes import chosen
from omit.disclosure.histograms import (
    DiscreteGaussianHistogram,
    GeometricHistogram,
    LaplaceHistogram,
)
from omit.disclosure.measures import (
    Disclosure,
    Measures,
    disclosure_of,
    group_errors,
    measures_of,
    published_bounds,
    simulated_measures,
    suppressed_intervals,
    unique_exact_matches,
)
from omit.disclosure.mechanism import CHANGE_QUASI_IDENTIFIERS, CellErrors, TableMechanism
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping
from omit.disclosure.table import CountTable
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee, NoGuarantee

if TYPE_CHECKING:
    import pandas as pd

WARNING = "Computed from confidential data and not private: for the curator's eyes only."
HEADINGS = (
    "mechanism", "ε", "δ", "abs. error", "bias", "fairness α", "max. variance", "unique matches",
)  # fmt: skip
_MOST_INTERVALS = 1500
_MATCH_RUNS = 50


@dataclass(frozen=True, eq=False)
class Row:
    """One mechanism on the table: its guarantee, its errors and what it still shows."""

    mechanism: TableMechanism
    guarantee: Guarantee | NoGuarantee
    errors: CellErrors
    measures: Measures
    bounds: dict[str, float]
    shown: Disclosure
    unique_matches: float
    groups: pd.DataFrame
    quasi_identifiers_only: Guarantee | NoGuarantee | None = None
    estimated: Measures | None = None

    def to_record(self) -> dict[str, Any]:
        """Return the row as plain values."""
        held = isinstance(self.guarantee, Guarantee)
        return {
            "mechanism": str(self.mechanism),
            "epsilon": self.guarantee.epsilon if isinstance(self.guarantee, Guarantee) else None,
            "delta": self.guarantee.delta if isinstance(self.guarantee, Guarantee) else None,
            "reason": None if held else getattr(self.guarantee, "reason", None),
            "witness": None if held else str(getattr(self.guarantee, "witness", None)),
            "if_only_quasi_identifiers_change": None
            if self.quasi_identifiers_only is None
            else str(self.quasi_identifiers_only),
            "absolute_error": self.measures.absolute,
            "bias": self.measures.bias,
            "fairness": self.measures.fairness,
            "largest_variance": self.measures.variance,
            "estimated": None if self.estimated is None else asdict(self.estimated),
            "published_bounds": self.bounds,
            "k_anonymity": self.shown.k_anonymity,
            "unique_cells": self.shown.unique,
            "small_cells": self.shown.small,
            "unique_exact_matches_percent": self.unique_matches,
            "groups": self.groups.to_dict(orient="records"),
        }

    def cells(self) -> tuple[str, ...]:
        """Return the row for people, in the order of `HEADINGS`."""
        if isinstance(self.guarantee, Guarantee):
            pair = (f"{self.guarantee.epsilon:g}", f"{self.guarantee.delta:.3g}")
        else:
            pair = ("any", "1")
        return (
            str(self.mechanism),
            *pair,
            f"{self.measures.absolute:,.1f}",
            f"{self.measures.bias:,.1f}",
            f"{self.measures.fairness:,.2f}",
            f"{self.measures.variance:,.2f}",
            f"{self.unique_matches:.2f} %",
        )


@dataclass(frozen=True, eq=False)
class Assessment:
    """What every mechanism guarantees and costs on one table. Made by `assess`."""

    table: CountTable
    epsilon: float
    delta: float
    threshold: int
    group: str
    largest_count: int
    rows: tuple[Row, ...]
    original: Disclosure
    intervals: pd.DataFrame | None
    margins: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> str:
        """Who promises something, and who is nearest to the truth among those."""
        private = [row for row in self.rows if isinstance(row.guarantee, Guarantee)]
        rest = [row for row in self.rows if not isinstance(row.guarantee, Guarantee)]
        best = min(private, key=lambda row: row.measures.absolute)
        said = (
            f"At epsilon = {self.epsilon:g} the {best.mechanism} has the smallest expected error "
            f"among those with a guarantee: {best.measures.absolute:,.1f} over "
            f"{self.table.cells:,} cells."
        )
        if rest:
            names = ", ".join(str(row.mechanism) for row in rest)
            said += f" No guarantee: {names}."
        return said

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        found = self.intervals
        return {
            "command": "disclose",
            "attributes": list(self.table.names),
            "records": self.table.size,
            "left_out": self.table.left_out,
            "cells": self.table.cells,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": str(REPLACE),
            "threshold": self.threshold,
            "largest_count": self.largest_count,
            "original": asdict(self.original),
            "rows": [row.to_record() for row in self.rows],
            "margins": [list(each) for each in self.margins],
            "suppressed": None if found is None else len(found),
            "recovered": None if found is None else int(found["recovered"].sum()),
            "verdict": self.verdict,
            "notes": list(self.notes),
        }


def default_mechanisms(
    epsilon: float, delta: float, threshold: int, rate: float, quasi_identifiers: Sequence[str]
) -> list[TableMechanism]:
    """Return every mechanism at the same epsilon."""
    quasi = tuple(quasi_identifiers)
    made: list[TableMechanism] = [LaplaceHistogram(epsilon), GeometricHistogram(epsilon)]
    if delta > 0:
        made.append(DiscreteGaussianHistogram.calibrated(Guarantee(epsilon, delta, REPLACE)))
    return [
        *made,
        CellSuppression(threshold),
        RandomisedCellSuppression(threshold, epsilon=epsilon),
        Swapping(quasi, rate),
        RandomisedSwapping(quasi, rate, epsilon=epsilon),
    ]


def assess(
    table: CountTable,
    epsilon: float,
    *,
    delta: float = 1e-6,
    threshold: int = 6,
    rate: float = 0.25,
    quasi_identifiers: Sequence[str] | None = None,
    group: str | None = None,
    margins: Sequence[Sequence[str]] | None = None,
    largest_count: int | None = None,
    paper_runs: int | None = None,
    seed: int = 0,
    advance: Callable[..., None] | None = None,
) -> Assessment:
    """Return what every mechanism guarantees and costs on a table, at the same epsilon.

    Parameters
    ----------
    table : CountTable
        The table.
    epsilon, delta : float
        The guarantee; delta is for discrete Gaussian noise only, which is left out if it is 0.
    threshold : int
        For cell suppression.
    rate, quasi_identifiers : float, sequence of str
        For swapping; by default a quarter of the records and the first attribute.
    group : str, optional
        The attribute whose categories are compared; by default the first quasi-identifier.
    margins : sequence of sequences of str, optional
        Published margins, for the intervals of suppressed cells; by default one per attribute.
    largest_count : int, optional
        The largest count a cell can have, declared; by default the number of records.
    paper_runs : int, optional
        Estimate the errors from so many runs too, as the paper does with 200.
    seed : int
        Of the releases on which unique matches are counted.

    Examples
    --------
    >>> from omit.disclosure.tabulate import tabulate
    >>> table = tabulate("adult", ["race", "sex", "income"])
    >>> print(assess(table, 1.0, quasi_identifiers=["race"]).verdict)
    At epsilon = 1 the geometric histogram has the smallest expected error among those with a
    guarantee: 38.3 over 20 cells. No guarantee: cell suppression below 6, randomised cell
    suppression below 6, swapping race at rate 0.25, randomised swapping race at rate 0.25.
    """
    quasi = tuple(quasi_identifiers or table.names[:1])
    chosen(table.attributes, quasi, "quasi-identifier")
    _validate.delta(delta)
    group = group or quasi[0]
    chosen(table.attributes, [group], "group")
    given = [[name] for name in table.names] if margins is None else margins
    for each in given:
        chosen(table.attributes, list(each), "margin's attribute")
    if paper_runs is not None:
        _validate.positive_integer("paper_runs", paper_runs)
    universe = table.universe(largest_count)
    mechanisms = default_mechanisms(epsilon, delta, threshold, rate, quasi)
    rng = np.random.default_rng(seed)
    rows = []
    for mechanism in mechanisms:
        errors = mechanism.errors(table)
        draws = mechanism.release(table, rng, _MATCH_RUNS)
        rows.append(
            Row(
                mechanism,
                mechanism.guarantee(universe),
                errors,
                measures_of(errors),
                published_bounds(mechanism, table),
                disclosure_of(draws[0], threshold),
                float(unique_exact_matches(table, draws).mean()),
                group_errors(mechanism, table, group, errors),
                mechanism.guarantee(universe, CHANGE_QUASI_IDENTIFIERS)
                if isinstance(mechanism, Swapping)
                else None,
                None
                if paper_runs is None
                else simulated_measures(mechanism, table, rng, paper_runs),
            )
        )
        if advance is not None:
            advance()
    suppression = CellSuppression(threshold)
    hidden = int(suppression.suppress_probability(table.flat).sum())
    notes = [
        *table.notes,
        f"Guarantees are under {REPLACE} for {universe.records:,} records; no count is above "
        f"{universe.largest_count:,}, which is declared and not observed.",
        f"Unique matches are the mean of {_MATCH_RUNS} releases; all other numbers are exact.",
    ]
    intervals = None
    if hidden <= _MOST_INTERVALS:
        intervals = suppressed_intervals(table, suppression, given)
    else:
        notes.append(
            f"{hidden:,} cells are suppressed; intervals are for up to {_MOST_INTERVALS:,}."
        )
    return Assessment(
        table,
        float(epsilon),
        float(delta),
        threshold,
        group,
        universe.largest_count,
        tuple(rows),
        disclosure_of(table.flat, threshold),
        intervals,
        tuple(tuple(each) for each in given),
        (*notes, WARNING),
    )


def parse_domain(text: str) -> tuple[str, Sequence[str] | str]:
    """Return the column and the categories of a line such as ``sex=Female,Male``.

    Examples
    --------
    >>> parse_domain("sex=Female,Male"), parse_domain("town=from-data")
    (('sex', ['Female', 'Male']), ('town', 'from-data'))
    """
    name, equals, listed = text.partition("=")
    if not equals or not name.strip() or not listed.strip():
        raise InvalidInput(f"Expected a domain such as sex=Female,Male, got {text!r}.")
    if listed.strip() == "from-data":
        return name.strip(), "from-data"
    return name.strip(), [each.strip() for each in listed.split(",")]
