"""What every protection of a table guarantees and costs, as a result that presents itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omit._text import promised, rounded_up
from omit.disclosure import measures
from omit.disclosure.classification import constant_accuracy, logistic_accuracy
from omit.disclosure.protection import LeastDelta
from omit.disclosure.question import Question, Row
from omit.disclosure.suppressed_cells import suppressed_intervals
from omit.disclosure.suppression import CellSuppression
from omit.disclosure.table import CountTable
from omit.guarantee import REPLACE, Guarantee
from omit.report.page import Caption, Card, Made
from omit.report.result import Drawing, Ends, Field, Result, Table, plain

if TYPE_CHECKING:
    import pandas as pd

_NEXT_TO_NOTHING = 0.01
_MOST_INTERVALS = 1500


def assess(
    table: CountTable,
    epsilon: float,
    *,
    advance: Callable[..., None] = lambda: None,
    **options: Any,
) -> Assessment:
    """Return what every protection guarantees and costs on a table, at the same epsilon.

    The options are those of `Question`; `advance` is called for every protection, and once more.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> table = tabulate("adult", ["race", "sex", "income"])
    >>> print(assess(table, 1.0, quasi_identifiers=["race"]).verdict)
    At epsilon = 1 the geometric histogram has the smallest expected error among those with a
    guarantee: 38.3 over 20 cells. No guarantee: cell suppression below 6, randomised cell
    suppression below 6, swapping race at rate 0.25, randomised swapping race at rate 0.25.
    """
    question = Question(table, epsilon, **options)
    protections = question.protections()
    prediction = None
    if question.predict is not None:
        prediction = Prediction.of(table, question.predict)
    rng, rows = np.random.default_rng(question.seed), []
    for protection in protections:
        rows.append(question.row(protection, rng))
        advance()
    intervals = None
    if _suppressed_cells(question) <= _MOST_INTERVALS:
        suppression = CellSuppression(question.threshold, question.zeros_kept)
        intervals = suppressed_intervals(table, suppression, question.published)
    advance()
    return Assessment(question, tuple(rows), question.disclosed(table.flat), intervals, prediction)


@dataclass(frozen=True)
class Prediction:
    """A classification task: the attribute `target` is predicted from all others.

    Of all records, in %, a classifier that learns from the data predicts the share `unprotected`
    right, and who always guesses the commonest category the share `constant`.
    """

    target: str
    unprotected: float
    constant: float

    @classmethod
    def of(cls, table: CountTable, target: str) -> Prediction:
        """Return how well an attribute is predicted without any protection."""
        unprotected = logistic_accuracy(table, table.flat, target)
        return cls(target, unprotected, constant_accuracy(table, target))


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Result):
    """What every protection guarantees and costs on one table. Made by `assess`.

    Parameters
    ----------
    question : Question
        What was asked, about which table.
    rows : tuple of Row
        The protections.
    original : Disclosure
        What the data reveal about small groups.
    intervals : DataFrame or None
        What margins tell about suppressed cells, as of `suppressed_intervals`; None if there are
        too many of them.
    prediction : Prediction, optional
        The classification task, if one was asked for.

    Examples
    --------
    >>> from omit.disclosure import assess, tabulate
    >>> assess(tabulate("adult", ["race", "sex"]), epsilon=1.0).best.name
    'geometric histogram'
    """

    command: ClassVar[str] = "disclose"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "epsilon": "of the protection with the smallest error among those with a guarantee",
        "delta": "of that protection",
        "error": "of that protection, summed over all cells",
        "k_anonymity": "of the data themselves",
        "unique": "combinations of the identifying attributes that one record has alone",
        "suppressed": "cells that suppression hides",
        "recovered": "suppressed cells that the margins give away, or that they may",
    }

    question: Question
    rows: tuple[Row, ...]
    original: measures.Disclosure
    intervals: pd.DataFrame | None
    prediction: Prediction | None = None

    @property
    def title(self) -> str:
        """The heading of the report."""
        return f"Protecting the table {' x '.join(self.question.table.names)}"

    @property
    def verdict(self) -> str:
        """Who promises what was asked for, and who is nearest to the truth among those."""
        best = self.best
        verdict = (
            f"At epsilon = {promised(self.question.epsilon)} the {best.name} has the smallest "
            f"expected error among those with a guarantee: {best.measures.absolute:,.1f} over "
            f"{self.question.table.cells:,} cells."
        )
        for delta, names in self._weak().items():
            much = "next to nothing" if delta > _NEXT_TO_NOTHING else "less than asked for"
            verdict += f" Delta = {rounded_up(delta, 3)} is {much}: {', '.join(names)}."
        rest = [row.name for row in self.rows if not isinstance(row.guarantee, Guarantee)]
        return f"{verdict} No guarantee: {', '.join(rest)}." if rest else verdict

    @property
    def best(self) -> Row:
        """Return the protection that is nearest to the truth among those that keep the promise.

        Where counts are small, zeros are nearer than noise, and yet no answer: whoever hides most
        of the records comes last.
        """

        def hides(row: Row) -> bool:
            shown = self.question.table.size + float(row.errors.bias.sum())
            return shown < self.question.table.size / 2

        kept = (row for row in self.rows if self.keeps(row))
        return min(kept, key=lambda row: (hides(row), row.measures.absolute))

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return the best guarantee and its error, and what the data and the margins give away."""
        best, (hidden, recovered, undecided, _) = self.best, self._suppressed()
        assert isinstance(best.guarantee, Guarantee)
        known = {
            "epsilon": best.guarantee.epsilon,
            "delta": best.guarantee.delta,
            "error": best.measures.absolute,
            "k_anonymity": self.original.k_anonymity,
            "unique": self.original.unique,
            "suppressed": _suppressed_cells(self.question) if hidden is None else hidden,
        }
        given_away = None
        if recovered is not None:
            given_away = float(recovered), float(recovered + (undecided or 0))
        numbers = {name: [(float(number), float(number))] for name, number in known.items()}
        return {**numbers, "recovered": [given_away]}

    def _weak(self) -> dict[float, list[str]]:
        """Return who promises something, but not what was asked for, by delta."""
        by_delta: dict[float, list[str]] = {}
        for row in self.rows:
            if isinstance(row.guarantee, Guarantee) and not self.keeps(row):
                by_delta.setdefault(row.guarantee.delta, []).append(row.name)
        return by_delta

    def keeps(self, row: Row) -> bool:
        """Return whether a protection promises the epsilon and delta that were asked for."""
        return row.keeps(self.question.epsilon, self.question.delta)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why there are no guarantees, what margins give away, and what is assumed."""
        reasons = [reason for row in self.rows for reason in row.reasons()]
        recovered = [self.recovered] if self.recovered else []
        return (*reasons, *recovered, *self.assumptions)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed, which numbers are not exact, and what was not examined."""
        undecided, notes = self._suppressed()[2], list(self.question.assumptions)
        if undecided is None:
            notes.append(
                f"{_suppressed_cells(self.question):,} cells are suppressed. It was not excluded "
                "that some of them can be computed from the published margins: that is examined "
                f"for up to {_MOST_INTERVALS:,} cells."
            )
        elif undecided:
            notes.append(
                f"Of {undecided:,} more suppressed cells it was not excluded that they can be "
                "computed from the published margins: the search for other tables that fit was "
                "given up."
            )
        return tuple(notes)

    @property
    def recovered(self) -> str | None:
        """What the published margins tell about suppressed cells, if there are any."""
        hidden, recovered, _, median = self._suppressed()
        if not hidden:
            return None
        rest = (
            ""
            if median is None
            else (f"; the rest are narrowed down to a median of {median:.0f} possible values")
        )
        return (
            f"Of {hidden:,} suppressed cells, {recovered:,} can be computed from the published "
            f"margins{rest}."
        )

    @property
    def suppressed_and_recovered(self) -> tuple[int, int] | None:
        """How many cells are suppressed, and how many of them margins give away, if known."""
        hidden, recovered, _, _ = self._suppressed()
        return None if not hidden or recovered is None else (hidden, recovered)

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
        if self.question.paper_runs is not None:
            tables.append(self._estimates())
        return tables

    def _protections(self) -> Table:
        table, original = self.question.table, self.original
        columns = {
            _PROTECTION: "name",
            Field("ε", "epsilon", _epsilon, numeric=True): "epsilon",
            Field("δ", "delta", _delta, numeric=True): "delta",
            Field("δ at least", "delta_at_least", _least, numeric=True): "delta_at_least",
            _number("abs. error", "absolute_error", 1): "measures.absolute",
            _number("bias", "bias", 1): "measures.bias",
            _number("fairness α", "fairness", 2): "measures.fairness",
            _number("max. variance", "largest_variance", 2): "measures.variance",
            Field(
                "unique matches", "unique_matches_percent", "{:.2f} %".format, numeric=True
            ): "unique_matches",
        }
        if all(row.delta_at_least is None for row in self.rows):
            columns = {field: path for field, path in columns.items() if path != "delta_at_least"}
        title = (
            f"{' x '.join(table.names)}: {table.size:,} records in {table.cells:,} cells, "
            f"{original.unique:,} unique, {original.small:,} not empty but below "
            f"{self.question.threshold}"
        )
        return _table("protections", title, columns, self.rows)

    def _groups(self) -> Table:
        group, first = self.question.compared, self.rows[0].groups
        errors = [row.groups["error per 100 records"].tolist() for row in self.rows]
        keys = [row.protection.key for row in self.rows]
        return Table(
            "groups",
            f"Expected absolute error for every 100 records, by {group}",
            (
                Field(group, "group"),
                Field("records", "records", "{:,}".format, numeric=True),
                *(_number(key.replace("randomised", "rand."), key, 1) for key in keys),
            ),
            tuple(zip(first[group], first["records"].tolist(), *errors, strict=True)),
        )

    def _revealed(self) -> Table:
        small = f"cells below {self.question.threshold}"
        rows = [("the data", self.original), *((row.name, row.revealed) for row in self.rows)]
        return Table(
            "revealed",
            "What the releases reveal about small groups",
            (
                Field("", "source"),
                Field("k-anonymity", "k_anonymity", _average, numeric=True),
                Field("combinations of 1", "unique_cells", _average, numeric=True),
                Field(small, "small_cells", _average, numeric=True),
            ),
            tuple((name, of.k_anonymity, of.unique, of.small) for name, of in rows),
        )

    def _classifier(self, task: Prediction) -> Table:
        two_digits = "{:.2f}".format
        learnt = [
            (row.name, row.accuracy.value, *row.accuracy.interval)
            for row in self.rows
            if row.accuracy is not None
        ]
        return Table(
            "classifier",
            f"What a classifier learns: {task.target}",
            (
                Field("learnt from", "source"),
                Field("predicted right", "accuracy_percent", "{:.2f} %".format, numeric=True),
                Field("95 % from", "low", two_digits, numeric=True),
                Field("to", "high", two_digits, numeric=True),
            ),
            (
                ("the data", task.unprotected, None, None),
                *learnt,
                ("(always the commonest category)", task.constant, None, None),
            ),
        )

    def _two_way(self) -> Table:
        marginals = [marginal for row in self.rows for marginal in row.maps]
        columns = {
            _PROTECTION: "protection",
            Field("group", "group"): "group",
            _number("error per 100 records", "error_per_100_records", 1): "error",
            _number("slope in the data", "slope_in_data", 3): "true_slope",
            Field("slope, expected", "slope_in_release", _slope, numeric=True): "slope",
        }
        x, y = marginals[0].x, marginals[0].y
        title = f"Groups side by side: {y.name} over {x.name}"
        return _table("two_way", title, columns, marginals)

    def _margins(self) -> Table:
        margins = "; ".join(" x ".join(names) or "total" for names in self.question.published)
        fields = (
            *(_number(key, key) for key in ("suppressed", "recovered", "undecided")),
            _number("median of possible values", "median_possible_values"),
        )
        title = f"Suppressed cells and the published margins {margins}"
        return Table("suppressed", title, fields, (self._suppressed(),))

    def _estimates(self) -> Table:
        columns = {
            _PROTECTION: "name",
            _number("bias, exact", "bias", 1): "measures.bias",
            _number("estimated", "estimated_bias", 1): "estimated.bias",
            _number("fairness, exact", "fairness", 2): "measures.fairness",
            _number("estimated", "estimated_fairness", 2): "estimated.fairness",
        }
        title = "Estimated from simulated releases, as in the literature"
        return _table("estimates", title, columns, self.rows)

    def bounds(self) -> Table:
        """Return what theorems say about the errors, with the exact numbers."""
        four_digits = "{:,.4g}".format
        return Table(
            "bounds",
            "Published bounds and the exact numbers",
            (
                _PROTECTION,
                Field("bound", "bound"),
                Field("says", "says", four_digits, numeric=True),
                Field("exact", "exact", four_digits, numeric=True),
            ),
            tuple(
                (row.name, str(bound), bound.value, bound.exact(row.errors))
                for row in self.rows
                for bound in row.bounds
            ),
        )

    def guarantees(self) -> Table:
        """Return the guarantees in words, with what shows that there is none."""
        fields = (
            _PROTECTION,
            Field("guarantee, or why there is none", "guarantee"),
            Field("witness", "witness"),
            Field("if only quasi-identifiers change", "if_less_changes"),
        )
        rows = tuple(row.guarantee_in_words() for row in self.rows)
        return Table("guarantees", "Guarantees", fields, rows)

    def figures(self) -> Mapping[str, Drawing]:
        """Return the expected errors, by cell, too, and how well classifiers do if asked for."""
        from omit.disclosure.figures import draw_accuracies, draw_cells, draw_errors

        drawings: dict[str, Drawing] = {
            "errors": lambda axes: draw_errors(axes, self),
            "cells": lambda axes: draw_cells(axes, self),
        }
        if self.prediction is not None:
            drawings["accuracies"] = lambda axes: draw_accuracies(axes, self)
        return drawings

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        question, table = self.question, self.question.table
        hidden, recovered, undecided, _ = self._suppressed()
        content = {
            "attributes": table.names,
            "records": table.size,
            "left_out": table.left_out,
            "cells": table.cells,
            "epsilon": question.epsilon,
            "delta": question.delta,
            "neighbours": str(REPLACE),
            "threshold": question.threshold,
            "zeros_kept": question.zeros_kept,
            "quasi_identifiers": question.swapped,
            "donor": question.donor,
            "identifying": question.identified_by,
            "largest_count": question.universe.largest_count,
            "original": asdict(self.original),
            "rows": [row.to_record() for row in self.rows],
            "margins": question.published,
            "suppressed": hidden,
            "recovered": recovered,
            "undecided": undecided,
            "prediction": None if self.prediction is None else asdict(self.prediction),
            "verdict": self.verdict,
            "notes": self.notes,
        }
        return {key: plain(value) for key, value in content.items()}

    def page(self, made: Made | None = None) -> str:
        """Return a page of HTML that needs no other file."""
        from omit.disclosure.page import assessment_page

        return assessment_page(self, made)

    def captions(self) -> Mapping[str, Caption]:
        """Return titles and descriptions of the figures."""
        from omit.disclosure.page import assessment_captions

        return assessment_captions(self)

    @property
    def card(self) -> Card:
        """What is promised, what is given away, and the method to take."""
        from omit.disclosure.page import assessment_card

        return assessment_card(self)

    def provenance(self) -> Mapping[str, str]:
        """Return the table, its source and the seed."""
        table = self.question.table
        return {
            "Data": f"{table.size:,} records, from {table.source}",
            "Declared": f"all categories of {', '.join(table.names)}: {table.cells:,} cells",
            "Seed": str(self.question.seed),
        }


_PROTECTION = Field("protection", "protection")


def _table(name: str, title: str, columns: Mapping[Field, str], answers: Iterable[Any]) -> Table:
    """Return a table with a row per answer; a column shows an attribute, given by its path."""
    values = attrgetter(*columns.values())
    return Table(name, title, tuple(columns), tuple(values(answer) for answer in answers))


def _suppressed_cells(question: Question) -> int:
    suppression = CellSuppression(question.threshold, question.zeros_kept)
    return int(suppression.suppress_probability(question.table.flat).sum())


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
