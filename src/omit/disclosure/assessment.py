"""What every protection of a table guarantees and costs, as a result that presents itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from omit._text import promised, rounded_up
from omit.disclosure.measures import Accuracy, Disclosure, GroupMap, Measures
from omit.disclosure.protection import (
    CellErrors,
    LeastDelta,
    NoTableGuarantee,
    Protection,
    PublishedBound,
)
from omit.disclosure.table import CountTable
from omit.guarantee import REPLACE, Guarantee, NoGuarantee
from omit.report.files import write_whole
from omit.report.result import Drawing, Field, Result, Table, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_NEXT_TO_NOTHING = 0.01


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
class Row:
    """One protection of the table: its guarantee, its errors and what it still reveals.

    Parameters
    ----------
    protection : Protection
        How the table is protected.
    guarantee : Guarantee or NoGuarantee
        Under replace.
    errors, measures : CellErrors, Measures
        The exact errors of all cells, and of the whole table.
    bounds : tuple of PublishedBound
        What theorems say about these errors.
    revealed : Disclosure
        What releases reveal about small groups, on average.
    unique_matches : float
        The share of records, in %, that are unique and shown as unique, on average.
    groups : DataFrame
        The errors of every category of the attribute that is compared.
    guarantee_if_less_changes : Guarantee or NoGuarantee, optional
        Under a narrower relation, where the protection has one.
    estimated : Measures, optional
        The same measures from simulated releases.
    accuracy : Accuracy, optional
        How well a classifier predicts that learns from releases.
    maps : tuple of GroupMap
        What is expected of a two-way marginal.
    """

    protection: Protection
    guarantee: Guarantee | NoGuarantee
    errors: CellErrors
    measures: Measures
    bounds: tuple[PublishedBound, ...]
    revealed: Disclosure
    unique_matches: float
    groups: pd.DataFrame
    guarantee_if_less_changes: Guarantee | NoGuarantee | None = None
    estimated: Measures | None = None
    accuracy: Accuracy | None = None
    maps: tuple[GroupMap, ...] = ()

    def keeps(self, epsilon: float, delta: float) -> bool:
        """Return whether the protection promises (epsilon, delta) or more."""
        stated = self.guarantee
        return isinstance(stated, Guarantee) and stated.epsilon <= epsilon and stated.delta <= delta

    @property
    def least_delta(self) -> LeastDelta | None:
        """Without a guarantee, a delta below 1 that is needed at every epsilon, if one is known."""
        stated = self.guarantee
        return stated.least_delta if isinstance(stated, NoTableGuarantee) else None

    def epsilon_and_delta(self) -> tuple[float, float | None]:
        """Return what is promised; epsilon is nan for any, delta nan if it is not known.

        Delta is None where only a least one is known.
        """
        stated = self.guarantee
        if isinstance(stated, Guarantee):
            return stated.epsilon, stated.delta
        if isinstance(stated, NoTableGuarantee) and stated.delta is not None:
            return math.nan, stated.delta
        return math.nan, None if self.least_delta is not None else math.nan

    def reasons(self) -> list[str]:
        """Return why there is no guarantee, and what there is under a narrower relation."""
        said = []
        if isinstance(self.guarantee, NoGuarantee):
            said.append(f"{self.protection}: {self.guarantee.reason}")
        if self.guarantee_if_less_changes is not None:
            narrower = _in_words(self.guarantee_if_less_changes)
            said.append(f"  if only quasi-identifiers change: {narrower}")
        return said

    def guarantee_in_words(self) -> tuple[str, str, str | None, str | None]:
        """Return the protection, its guarantee or why there is none, the witness, and the rest."""
        narrower = self.guarantee_if_less_changes
        return (
            str(self.protection),
            _in_words(self.guarantee),
            _promise(self.guarantee)["witness"],
            None if narrower is None else _in_words(narrower),
        )

    def to_record(self) -> dict[str, Any]:
        """Return the row as plain values."""
        narrower = self.guarantee_if_less_changes
        return {
            "protection": str(self.protection),
            **_promise(self.guarantee),
            "delta_at_least": None if self.least_delta is None else self.least_delta.delta,
            "if_only_quasi_identifiers_change": None if narrower is None else str(narrower),
            "absolute_error": self.measures.absolute,
            "bias": self.measures.bias,
            "fairness": self.measures.fairness,
            "largest_variance": self.measures.variance,
            "estimated": None if self.estimated is None else asdict(self.estimated),
            "published_bounds": {str(bound): bound.value for bound in self.bounds},
            "k_anonymity": self.revealed.k_anonymity,
            "unique_cells": self.revealed.unique,
            "small_cells": self.revealed.small,
            "unique_exact_matches_percent": self.unique_matches,
            "groups": self.groups.to_dict(orient="records"),
            "accuracy_percent": None if self.accuracy is None else asdict(self.accuracy),
            "two_way": [
                {
                    "group": marginal.group,
                    "error_per_100_records": marginal.error,
                    "line_in_data": _line(marginal.true_line),
                    "line_in_release": _line(marginal.line),
                    "change": marginal.change.tolist(),
                }
                for marginal in self.maps
            ],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Result):
    """What every protection guarantees and costs on one table. Made by `assess`.

    Parameters
    ----------
    table : CountTable
        The table.
    epsilon, delta : float
        The guarantee that was asked for.
    threshold : int
        Below which counts are suppressed.
    group : str
        The attribute whose categories are compared.
    largest_count : int
        The declared largest count of a cell.
    rows : tuple of Row
        The protections.
    original : Disclosure
        What the data reveal about small groups.
    intervals : DataFrame or None
        What margins tell about suppressed cells, as of `suppressed_intervals`; None if there are
        too many of them.
    margins : tuple of tuples of str
        The published margins.
    quasi_identifiers, identifying : tuple of str
        The attributes that are swapped, and those by which a person may be recognised.
    assumptions : tuple of str
        What is assumed, and which numbers are not exact.
    prediction : Prediction, optional
        The classification task, if one was asked for.
    """

    command: ClassVar[str] = "disclose"

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
    assumptions: tuple[str, ...] = ()
    prediction: Prediction | None = None

    @property
    def title(self) -> str:
        """The heading of the report."""
        return f"Protecting the table {' x '.join(self.table.names)}"

    @property
    def verdict(self) -> str:
        """Who promises what was asked for, and who is nearest to the truth among those."""
        private = [row for row in self.rows if self.keeps(row)]
        rest = [row for row in self.rows if not isinstance(row.guarantee, Guarantee)]
        best = min(private, key=lambda row: row.measures.absolute)
        said = (
            f"At epsilon = {promised(self.epsilon)} the {best.protection} has the smallest "
            f"expected error among those with a guarantee: {best.measures.absolute:,.1f} over "
            f"{self.table.cells:,} cells."
        )
        for delta, names in self._weak().items():
            much = "next to nothing" if delta > _NEXT_TO_NOTHING else "less than asked for"
            said += f" Delta = {rounded_up(delta, 3)} is {much}: {', '.join(names)}."
        if rest:
            said += f" No guarantee: {', '.join(str(row.protection) for row in rest)}."
        return said

    def _weak(self) -> dict[float, list[str]]:
        """Return who promises something, but not what was asked for, by delta."""
        by_delta: dict[float, list[str]] = {}
        for row in self.rows:
            if isinstance(row.guarantee, Guarantee) and not self.keeps(row):
                by_delta.setdefault(row.guarantee.delta, []).append(str(row.protection))
        return by_delta

    def keeps(self, row: Row) -> bool:
        """Return whether a protection promises the epsilon and delta that were asked for."""
        return row.keeps(self.epsilon, self.delta)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why there are no guarantees, what margins give away, and what is assumed."""
        reasons = [reason for row in self.rows for reason in row.reasons()]
        recovered = [self.recovered] if self.recovered else []
        return (*reasons, *recovered, *self.assumptions)

    @property
    def recovered(self) -> str | None:
        """What the published margins tell about suppressed cells, if there are any."""
        if self.intervals is None or self.intervals.empty:
            return None
        hidden, recovered, _, median = self._suppressed()
        said = (
            f"Of {hidden:,} suppressed cells, {recovered:,} can be computed from the published "
            "margins"
        )
        if median is not None:
            said += f"; the rest are narrowed down to a median of {median:.0f} possible values"
        return f"{said}."

    def _suppressed(self) -> tuple[int | None, int | None, int | None, float | None]:
        """Return how many cells are suppressed, recovered and undecided, and how wide the rest."""
        intervals = self.intervals
        if intervals is None:
            return None, None, None, None
        rest = intervals[~intervals["recovered"].astype(bool)]
        width = (rest["high"] - rest["low"] + 1).astype(float)
        return (
            len(intervals),
            int(intervals["recovered"].sum()),
            int(intervals["undecided"].sum()),
            float(width.median()) if len(rest) else None,
        )

    def tables(self) -> Sequence[Table]:
        """Return the protections, the groups, what releases reveal, and what else was asked."""
        tables = [self._protections(), self._groups(), self._revealed()]
        if self.prediction is not None:
            tables.append(self._classifier(self.prediction))
        if any(row.maps for row in self.rows):
            tables.append(self._two_way())
        if self.intervals is not None and not self.intervals.empty:
            tables.append(self._margins())
        if any(row.estimated is not None for row in self.rows):
            tables.append(self._estimates())
        return tables

    def _protections(self) -> Table:
        table, original = self.table, self.original
        least = any(row.least_delta for row in self.rows)
        fields = (
            Field("protection", "protection"),
            Field("ε", "epsilon", _epsilon, numeric=True),
            Field("δ", "delta", _delta, numeric=True),
            *([Field("δ at least", "delta_at_least", _least, numeric=True)] if least else []),
            _number("abs. error", "absolute_error", 1),
            _number("bias", "bias", 1),
            _number("fairness α", "fairness", 2),
            _number("max. variance", "largest_variance", 2),
            Field("unique matches", "unique_matches_percent", "{:.2f} %".format, numeric=True),
        )
        return Table(
            "protections",
            f"{' x '.join(table.names)}: {table.size:,} records in {table.cells:,} cells, "
            f"{original.unique:,} unique, {original.small:,} not empty but below {self.threshold}",
            fields,
            tuple(
                (
                    str(row.protection),
                    *row.epsilon_and_delta(),
                    *([row.least_delta and row.least_delta.delta] if least else []),
                    row.measures.absolute,
                    row.measures.bias,
                    row.measures.fairness,
                    row.measures.variance,
                    row.unique_matches,
                )
                for row in self.rows
            ),
        )

    def _groups(self) -> Table:
        first = self.rows[0].groups
        errors = [row.groups["error per 100 records"].tolist() for row in self.rows]
        return Table(
            "groups",
            f"Expected absolute error for every 100 records, by {self.group}",
            (
                Field(self.group, "group"),
                Field("records", "records", "{:,}".format, numeric=True),
                *(
                    _number(key.replace("randomised", "rand."), key, 1)
                    for key in (row.protection.key for row in self.rows)
                ),
            ),
            tuple(zip(first[self.group], first["records"].tolist(), *errors, strict=True)),
        )

    def _revealed(self) -> Table:
        revealed = [("the data", self.original)]
        revealed += [(str(row.protection), row.revealed) for row in self.rows]
        return Table(
            "revealed",
            "What the releases reveal about small groups",
            (
                Field("", "source"),
                Field("k-anonymity", "k_anonymity", _average, numeric=True),
                Field("combinations of 1", "unique_cells", _average, numeric=True),
                Field(f"cells below {self.threshold}", "small_cells", _average, numeric=True),
            ),
            tuple((name, of.k_anonymity, of.unique, of.small) for name, of in revealed),
        )

    def _classifier(self, task: Prediction) -> Table:
        def interval(accuracy: Accuracy) -> tuple[float | None, float | None]:
            return (accuracy.low, accuracy.high) if accuracy.runs > 1 else (None, None)

        return Table(
            "classifier",
            f"What a classifier learns: {task.target}",
            (
                Field("learnt from", "source"),
                Field("predicted right", "accuracy_percent", "{:.2f} %".format, numeric=True),
                Field("95 % from", "low", "{:.2f}".format, numeric=True),
                Field("to", "high", "{:.2f}".format, numeric=True),
            ),
            (
                ("the data", task.unprotected, None, None),
                *(
                    (str(row.protection), row.accuracy.value, *interval(row.accuracy))
                    for row in self.rows
                    if row.accuracy is not None
                ),
                ("(always the commonest category)", task.constant, None, None),
            ),
        )

    def _two_way(self) -> Table:
        marginals = [marginal for row in self.rows for marginal in row.maps]
        x, y = marginals[0].x, marginals[0].y
        return Table(
            "two_way",
            f"Groups side by side: {y.name} over {x.name}",
            (
                Field("protection", "protection"),
                Field("group", "group"),
                _number("error per 100 records", "error_per_100_records", 1),
                _number("slope in the data", "slope_in_data", 3),
                Field("slope, expected", "slope_in_release", _slope, numeric=True),
            ),
            tuple(
                (
                    marginal.protection,
                    marginal.group,
                    marginal.error,
                    marginal.true_line[1],
                    marginal.line[1],
                )
                for marginal in marginals
            ),
        )

    def _margins(self) -> Table:
        margins = "; ".join(" x ".join(names) or "total" for names in self.margins)
        return Table(
            "suppressed",
            f"Suppressed cells and the published margins {margins}",
            (
                _number("suppressed", "suppressed"),
                _number("recovered", "recovered"),
                _number("undecided", "undecided"),
                _number("median of possible values", "median_possible_values"),
            ),
            (self._suppressed(),),
        )

    def _estimates(self) -> Table:
        return Table(
            "estimates",
            "Estimated from simulated releases, as in the literature",
            (
                Field("protection", "protection"),
                _number("bias, exact", "bias", 1),
                _number("estimated", "estimated_bias", 1),
                _number("fairness, exact", "fairness", 2),
                _number("estimated", "estimated_fairness", 2),
            ),
            tuple(
                (
                    str(row.protection),
                    row.measures.bias,
                    row.estimated.bias,
                    row.measures.fairness,
                    row.estimated.fairness,
                )
                for row in self.rows
                if row.estimated is not None
            ),
        )

    def bounds(self) -> Table:
        """Return what theorems say about the errors, with the exact numbers."""
        four_digits = "{:,.4g}".format
        return Table(
            "bounds",
            "Published bounds and the exact numbers",
            (
                Field("protection", "protection"),
                Field("bound", "bound"),
                Field("says", "says", four_digits, numeric=True),
                Field("exact", "exact", four_digits, numeric=True),
            ),
            tuple(
                (str(row.protection), str(bound), bound.value, bound.exact(row.errors))
                for row in self.rows
                for bound in row.bounds
            ),
        )

    def guarantees(self) -> Table:
        """Return the guarantees in words, with what shows that there is none."""
        return Table(
            "guarantees",
            "Guarantees",
            (
                Field("protection", "protection"),
                Field("guarantee, or why there is none", "guarantee"),
                Field("witness", "witness"),
                Field("if only quasi-identifiers change", "if_less_changes"),
            ),
            tuple(row.guarantee_in_words() for row in self.rows),
        )

    def figures(self) -> Mapping[str, Drawing]:
        """Return the expected errors and, if a classifier was asked for, how well it does."""
        from omit.disclosure.figures import draw_accuracies, draw_errors

        def bound(draw: Callable[[Axes, Assessment], None]) -> Drawing:
            return lambda axes: draw(axes, self)

        drawings = {"errors": bound(draw_errors)}
        if self.prediction is not None:
            drawings["accuracies"] = bound(draw_accuracies)
        return drawings

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        hidden, recovered, undecided, _ = self._suppressed()
        content = {
            "attributes": self.table.names,
            "records": self.table.size,
            "left_out": self.table.left_out,
            "cells": self.table.cells,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": str(REPLACE),
            "threshold": self.threshold,
            "quasi_identifiers": self.quasi_identifiers,
            "identifying": self.identifying,
            "largest_count": self.largest_count,
            "original": asdict(self.original),
            "rows": [row.to_record() for row in self.rows],
            "margins": self.margins,
            "suppressed": hidden,
            "recovered": recovered,
            "undecided": undecided,
            "prediction": None if self.prediction is None else asdict(self.prediction),
            "verdict": self.verdict,
            "notes": self.notes,
        }
        return {key: plain(value) for key, value in content.items()}

    def write_report(self, path: Path | str) -> Path:
        """Write a page of HTML that needs no other file, and return where it is.

        Raises
        ------
        InvalidInput
            If the file cannot be written; what was there before stays.
        """
        from omit.disclosure.figures import pictures
        from omit.report.page import page, render

        output = Path(path)
        content = render(
            "disclosure.html",
            assessment=self,
            epsilon=promised(self.epsilon),
            delta=promised(self.delta),
            empty=int((self.table.flat == 0).sum()),
            tables={table.name: table for table in self.tables()},
            pictures=pictures(self),
            ranked=self._ranked(),
            neighbours=REPLACE.meaning,
        )
        text = page(self.title, [content])
        write_whole(output, lambda file: file.write_text(text, encoding="utf-8"))
        return output

    def _ranked(self) -> str:
        """Return the attributes of the two-way marginal whose categories count 1, 2, 3."""
        if not self.rows[0].maps:
            return ""
        marginal = self.rows[0].maps[0]
        return ", ".join(axis.name for axis in (marginal.x, marginal.y) if axis.ranked)


def _number(heading: str, key: str, decimals: int = 0) -> Field:
    return Field(heading, key, f"{{:,.{decimals}f}}".format, numeric=True)


def _epsilon(epsilon: float) -> str:
    return "any" if math.isnan(epsilon) else promised(epsilon)


def _delta(delta: float) -> str:
    return "unknown" if math.isnan(delta) else rounded_up(delta, 3)


def _least(delta: float) -> str:
    return str(LeastDelta(math.log1p(-delta)))


def _average(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def _slope(slope: float) -> str:
    return "–" if math.isnan(slope) else f"{slope:,.3f}"


def _in_words(stated: Guarantee | NoGuarantee) -> str:
    """Return a guarantee, or why there is none, as a sentence."""
    return stated.reason if isinstance(stated, NoGuarantee) else str(stated)


def _promise(stated: Guarantee | NoGuarantee) -> dict[str, Any]:
    """Return a guarantee as plain values, or why there is none."""
    if isinstance(stated, Guarantee):
        return {"epsilon": stated.epsilon, "delta": stated.delta, "reason": None, "witness": None}
    witness = None if stated.witness is None else str(stated.witness)
    return {"epsilon": None, "delta": None, "reason": stated.reason, "witness": witness}


def _line(ends: tuple[float, float]) -> dict[str, float]:
    """Return a line as plain values; that of a release without records is nan."""
    return dict(zip(("intercept", "slope"), ends, strict=True))
