"""What was found about a table and every way to protect it, for people and for programs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from omit._decimals import promised, rounded_up
from omit.disclosure.measures import Disclosure, Measures
from omit.disclosure.mechanism import NO_DELTA, CellErrors, LeastDelta, TableMechanism
from omit.disclosure.swapping import Swapping
from omit.disclosure.table import CountTable
from omit.disclosure.usefulness import Accuracy, GroupMap
from omit.guarantee import REPLACE, Guarantee, NoGuarantee

if TYPE_CHECKING:
    import pandas as pd

WARNING = "Computed from confidential data and not private: for the curator's eyes only."
HEADINGS = (
    "mechanism", "ε", "δ", "abs. error", "bias", "fairness α", "max. variance", "unique matches",
)  # fmt: skip
_NEXT_TO_NOTHING = 0.01


@dataclass(frozen=True, eq=False)
class Row:
    """One mechanism on the table: its guarantee, its errors and what it still shows.

    What is shown is the mean of several releases.
    """

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
    least_delta: LeastDelta | None = None
    accuracy: Accuracy | None = None
    maps: tuple[GroupMap, ...] = ()

    def keeps(self, epsilon: float, delta: float) -> bool:
        """Return whether the mechanism promises (epsilon, delta) or more."""
        held = self.guarantee
        return isinstance(held, Guarantee) and held.epsilon <= epsilon and held.delta <= delta

    def to_record(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {
            "mechanism": str(self.mechanism),
            **_promise(self.guarantee),
            "delta_at_least": None if self.least_delta is None else self.least_delta.delta,
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
            "accuracy_percent": None if self.accuracy is None else asdict(self.accuracy),
            "two_way": [
                {
                    "group": each.group,
                    "error_per_100_records": each.error,
                    "line_in_data": _line(each.true_line),
                    "line_in_release": _line(each.line),
                    "change": each.change.tolist(),
                }
                for each in self.maps
            ],
        }

    def cells(self) -> tuple[str, ...]:
        """Return the row for people, in the order of `HEADINGS`."""
        if isinstance(self.guarantee, Guarantee):
            pair = (promised(self.guarantee.epsilon), rounded_up(self.guarantee.delta, 3))
        elif self.least_delta is not None:
            pair = ("any", f"≥ {self.least_delta}")
        else:  # 1, or next to 1 and rounded up; only of swapping is it not always known
            known = NO_DELTA in self.guarantee.reason or not isinstance(self.mechanism, Swapping)
            pair = ("any", "1" if known else "unknown")
        return (
            str(self.mechanism),
            *pair,
            f"{self.measures.absolute:,.1f}",
            f"{self.measures.bias:,.1f}",
            f"{self.measures.fairness:,.2f}",
            f"{self.measures.variance:,.2f}",
            f"{self.unique_matches:.2f} %",
        )


def _promise(found: Guarantee | NoGuarantee) -> dict[str, Any]:
    """Return a guarantee as plain values, or why there is none."""
    if isinstance(found, Guarantee):
        return {"epsilon": found.epsilon, "delta": found.delta, "reason": None, "witness": None}
    witness = None if found.witness is None else str(found.witness)
    return {"epsilon": None, "delta": None, "reason": found.reason, "witness": witness}


def _line(ends: tuple[float, float]) -> dict[str, float | None]:
    """Return a line as plain values; a release without records has none."""
    return {
        name: None if math.isnan(number) else number
        for name, number in zip(("intercept", "slope"), ends, strict=True)
    }


@dataclass(frozen=True)
class Prediction:
    """A classification task: what is predicted, and how well without any protection.

    Parameters
    ----------
    target : str
        The attribute that is predicted from all others.
    unprotected : float
        The share of records classified right by a classifier that learns from the data, in %.
    constant : float
        The share in the commonest category, in %.
    """

    target: str
    unprotected: float
    constant: float


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
    quasi_identifiers: tuple[str, ...]
    identifying: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
    prediction: Prediction | None = None

    @property
    def verdict(self) -> str:
        """Who promises what was asked for, and who is nearest to the truth among those."""
        private = [row for row in self.rows if self.keeps(row)]
        rest = [row for row in self.rows if not isinstance(row.guarantee, Guarantee)]
        best = min(private, key=lambda row: row.measures.absolute)
        said = (
            f"At epsilon = {promised(self.epsilon)} the {best.mechanism} has the smallest expected "
            f"error among those with a guarantee: {best.measures.absolute:,.1f} over "
            f"{self.table.cells:,} cells."
        )
        for delta, names in self._weak().items():
            much = "next to nothing" if delta > _NEXT_TO_NOTHING else "less than asked for"
            said += f" Delta = {rounded_up(delta, 3)} is {much}: {', '.join(names)}."
        if rest:
            said += f" No guarantee: {', '.join(str(row.mechanism) for row in rest)}."
        return said

    def _weak(self) -> dict[float, list[str]]:
        """Return who promises something, but not what was asked for, by delta."""
        found: dict[float, list[str]] = {}
        for row in self.rows:
            if isinstance(row.guarantee, Guarantee) and not self.keeps(row):
                found.setdefault(row.guarantee.delta, []).append(str(row.mechanism))
        return found

    def keeps(self, row: Row) -> bool:
        """Return whether a mechanism promises the epsilon and delta that were asked for."""
        return row.keeps(self.epsilon, self.delta)

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
            "quasi_identifiers": list(self.quasi_identifiers),
            "identifying": list(self.identifying),
            "largest_count": self.largest_count,
            "original": asdict(self.original),
            "rows": [row.to_record() for row in self.rows],
            "margins": [list(each) for each in self.margins],
            "suppressed": None if found is None else len(found),
            "recovered": None if found is None else int(found["recovered"].sum()),
            "undecided": None if found is None else int(found["undecided"].sum()),
            "prediction": None if self.prediction is None else asdict(self.prediction),
            "verdict": self.verdict,
            "notes": list(self.notes),
        }
