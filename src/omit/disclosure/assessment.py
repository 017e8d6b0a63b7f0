"""One table, every way to protect it at the same epsilon, side by side.

What was found about a table and every way to protect it, for people and for programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from omit import _validate
from omit._text import promised, rounded_up
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
    mean_disclosure,
    measures_of,
    published_bounds,
    simulated_measures,
    unique_exact_matches,
)
from omit.disclosure.protection import (
    CHANGE_QUASI_IDENTIFIERS,
    NO_DELTA,
    CellErrors,
    LeastDelta,
    Protection,
    require_runs,
)
from omit.disclosure.suppressed_cells import suppressed_intervals
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping, lower_bound_delta
from omit.disclosure.table import CountTable, Universe, chosen
from omit.disclosure.tasks import (
    Accuracy,
    GroupMap,
    constant_accuracy,
    group_maps,
    largest_groups,
    logistic_accuracy,
    released_accuracy,
)
from omit.disclosure.tasks import two_way as two_way_marginal
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee, NoGuarantee

if TYPE_CHECKING:
    import pandas as pd


_MOST_INTERVALS = 1500
_MATCH_RUNS = 50
_FITS = 20
_MOST_CELLS = 2_000_000


def default_mechanisms(
    epsilon: float, delta: float, threshold: int, rate: float, quasi_identifiers: Sequence[str]
) -> list[Protection]:
    """Return every mechanism at the same epsilon."""
    quasi, delta = _validate.texts("quasi-identifiers", quasi_identifiers), _validate.delta(delta)
    made: list[Protection] = [LaplaceHistogram(epsilon), GeometricHistogram(epsilon)]
    if delta > 0:
        made.append(DiscreteGaussianHistogram.calibrated(Guarantee(epsilon, delta, REPLACE)))
    return [
        *made,
        CellSuppression(threshold),
        RandomisedCellSuppression(threshold, epsilon=epsilon),
        Swapping(quasi, rate),
        RandomisedSwapping(quasi, rate, epsilon=epsilon),
    ]


@dataclass(frozen=True)
class _Question:
    """What is asked about every mechanism."""

    quasi: tuple[str, ...]
    identifying: tuple[str, ...]
    group: str
    threshold: int
    paper_runs: int | None
    target: str | None
    two_way: tuple[str, str] | None
    within: Mapping[str, dict[str, str]]


def assess(
    table: CountTable,
    epsilon: float,
    *,
    delta: float = 1e-6,
    threshold: int = 6,
    rate: float = 0.25,
    quasi_identifiers: Sequence[str] | None = None,
    identifying: Sequence[str] | None = None,
    group: str | None = None,
    margins: Sequence[Sequence[str]] | None = None,
    largest_count: int | None = None,
    paper_runs: int | None = None,
    predict: str | None = None,
    two_way: Sequence[str] | None = None,
    within: Mapping[str, dict[str, str]] | None = None,
    seed: int = 0,
    advance: Callable[..., None] | None = None,
) -> Assessment:
    """Return what every mechanism guarantees and costs on a table, at the same epsilon.

    Parameters
    ----------
    table : CountTable
        The table.
    epsilon, delta : float
        The guarantee that is asked for; a mechanism with a larger delta is not recommended.
        Discrete Gaussian noise is calibrated to delta and left out if it is 0.
    threshold : int
        For cell suppression.
    rate, quasi_identifiers : float, sequence of str
        For swapping; by default a quarter of the records and the first attribute.
    identifying : sequence of str, optional
        The attributes by which a person may be recognised, for k-anonymity and uniqueness; by
        default all.
    group : str, optional
        The attribute whose categories are compared; by default the first quasi-identifier.
    margins : sequence of sequences of str, optional
        Published margins, for the intervals of suppressed cells; by default one per attribute.
    largest_count : int, optional
        The largest count a cell can have, declared; by default the number of records.
    paper_runs : int, optional
        Estimate the errors from so many runs too, as the paper does with 200.
    predict : str, optional
        An attribute with two categories that is predicted from all others by a logistic regression
        which learns from releases and is scored on the data.
    two_way : sequence of two str, optional
        Attributes x and y whose two-way marginal, and regression of y on x, is compared for groups.
    within : mapping, optional
        The groups by name, such as ``{"white men": {"race": "White", "sex": "Male"}}``; by default
        the two largest of `group`.
    seed : int
        Of the releases on which it is counted what they show.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> table = tabulate("adult", ["race", "sex", "income"])
    >>> print(assess(table, 1.0, quasi_identifiers=["race"]).verdict)
    At epsilon = 1 the geometric histogram has the smallest expected error among those with a
    guarantee: 38.3 over 20 cells. No guarantee: cell suppression below 6, randomised cell
    suppression below 6, swapping race at rate 0.25, randomised swapping race at rate 0.25.
    """
    _validate.instance("table", table, CountTable, "made by tabulate")
    epsilon, delta = _validate.epsilon(epsilon), _validate.delta(delta)
    threshold = _validate.positive_integer("k", threshold)
    rng = np.random.default_rng(_validate.whole("seed", seed))
    question = _question(
        table,
        quasi_identifiers,
        identifying,
        group,
        threshold,
        paper_runs,
        predict,
        two_way,
        within,
    )
    given = [[name] for name in table.names] if margins is None else margins
    given = [list(_margin(table, each)) for each in _validate.several("margins", given)]
    universe = table.universe(largest_count)
    mechanisms = default_mechanisms(epsilon, delta, threshold, rate, question.quasi)
    prediction = None
    if predict is not None:
        unprotected = logistic_accuracy(table, table.flat, predict)
        prediction = Prediction(predict, unprotected, constant_accuracy(table, predict))
    rows = []
    for mechanism in mechanisms:
        rows.append(_row(mechanism, table, universe, question, rng))
        if advance is not None:
            advance()
    intervals, refusal = _intervals(table, CellSuppression(threshold), given)
    if advance is not None:
        advance()
    return Assessment(
        table=table,
        epsilon=epsilon,
        delta=delta,
        threshold=threshold,
        group=question.group,
        largest_count=universe.largest_count,
        rows=tuple(rows),
        original=disclosure_of(table, table.flat, threshold, question.identifying),
        intervals=intervals,
        margins=tuple(tuple(each) for each in given),
        quasi_identifiers=question.quasi,
        identifying=question.identifying,
        notes=(*_notes(table, universe, question), *refusal, WARNING),
        prediction=prediction,
    )


def _notes(table: CountTable, universe: Universe, question: _Question) -> tuple[str, ...]:
    """Return what is assumed, and which numbers are not exact."""
    estimates = ""
    if question.paper_runs is not None:
        estimates = f", and estimates are from {question.paper_runs:,} runs"
    if question.target is not None:
        estimates += f", a classifier learns from {_FITS} releases"
    return (
        *table.notes,
        f"Guarantees are under {REPLACE} for {universe.records:,} records; no count is above "
        f"{universe.largest_count:,}, which is declared and not observed.",
        f"What releases show about few is the mean of {_MATCH_RUNS} releases"
        f"{estimates}; all other numbers are exact.",
    )


def _intervals(
    table: CountTable, suppression: CellSuppression, margins: Sequence[Sequence[str]]
) -> tuple[pd.DataFrame | None, tuple[str, ...]]:
    """Return what margins tell about suppressed cells, and what was not excluded, as notes."""
    hidden = int(suppression.suppress_probability(table.flat).sum())
    if hidden > _MOST_INTERVALS:
        note = (
            f"{hidden:,} cells are suppressed. It was not excluded that some of them can be "
            f"computed from the published margins: that is found out for up to "
            f"{_MOST_INTERVALS:,} cells."
        )
        return None, (note,)
    found = suppressed_intervals(table, suppression, margins)
    undecided = int(found["undecided"].sum())
    if not undecided:
        return found, ()
    note = (
        f"Of {undecided:,} more suppressed cells it was not excluded that they can be computed "
        "from the published margins: the search for other tables that fit was given up."
    )
    return found, (note,)


def _question(
    table: CountTable,
    quasi_identifiers: Sequence[str] | None,
    identifying: Sequence[str] | None,
    group: str | None,
    threshold: int,
    paper_runs: int | None,
    predict: str | None,
    two_way: Sequence[str] | None,
    within: Mapping[str, dict[str, str]] | None,
) -> _Question:
    """Return what is asked, with its defaults, or refuse what the table does not have."""
    if table.cells > _MOST_CELLS:
        raise InvalidInput(
            f"The table has {table.cells:,} cells, and up to {_MOST_CELLS:,} can be assessed; use "
            "fewer attributes, or bins."
        )
    quasi = _named(table, quasi_identifiers, table.names[:1], "quasi-identifier")
    recognised = _named(table, identifying, table.names, "identifying attribute")
    group = quasi[0] if group is None else group
    chosen(table.attributes, [group], "group")
    if paper_runs is not None:
        paper_runs = require_runs(table, paper_runs)
    if within is not None and not isinstance(within, Mapping):
        raise InvalidInput(f"Expected groups by name, got {_validate.shown(within)}.")
    if two_way is None:
        if within:
            raise InvalidInput("Expected two attributes for a two-way marginal beside its groups.")
        return _Question(quasi, recognised, group, threshold, paper_runs, predict, None, {})
    pair = tuple(
        table.names[place] for place in chosen(table.attributes, two_way, "two-way attribute")
    )
    if len(pair) != 2:
        raise InvalidInput(
            f"Expected two attributes for a two-way marginal, got {', '.join(pair) or 'none'}."
        )
    groups = within or largest_groups(table, group)
    for where in groups.values():
        two_way_marginal(table, table.flat, *pair, where)  # refuses a group that is not there
    return _Question(quasi, recognised, group, threshold, paper_runs, predict, pair, groups)


def _margin(table: CountTable, names: Sequence[str]) -> tuple[str, ...]:
    """Return a margin by its attributes; that of none is the total."""
    return tuple(
        table.names[place] for place in chosen(table.attributes, names, "margin's attribute")
    )


def _named(
    table: CountTable, names: Sequence[str] | None, default: tuple[str, ...], what: str
) -> tuple[str, ...]:
    """Return the attributes that are named, or those by default."""
    if names is None:
        return default
    places = chosen(table.attributes, names, what)
    if not places:
        raise InvalidInput(f"Expected at least one {what}.")
    return tuple(table.names[place] for place in places)


def _row(
    mechanism: Protection,
    table: CountTable,
    universe: Universe,
    question: _Question,
    rng: np.random.Generator,
) -> Row:
    errors = mechanism.errors(table)
    guarantee = mechanism.guarantee(universe)
    quasi, runs = question.quasi, question.paper_runs
    shown, matches = [], []
    for block in mechanism.study_in_blocks(table, rng, _MATCH_RUNS):
        shown += [
            disclosure_of(table, draw, question.threshold, question.identifying) for draw in block
        ]
        matches += unique_exact_matches(table, block).tolist()
    restricted = least = accuracy = None
    if isinstance(mechanism, Swapping):
        if any(len(each) > 1 for each in table.attributes if each.name not in quasi):
            restricted = mechanism.guarantee(universe, CHANGE_QUASI_IDENTIFIERS)
        elif isinstance(guarantee, NoGuarantee) and NO_DELTA not in guarantee.reason:
            least = lower_bound_delta(mechanism, universe)
    estimated = None if runs is None else simulated_measures(mechanism, table, rng, runs)
    if question.target is not None:
        accuracy = released_accuracy(mechanism, table, question.target, rng, _FITS, errors)
    maps: list[GroupMap] = []
    if question.two_way is not None:
        maps = group_maps(mechanism, table, *question.two_way, question.within, errors=errors)
    return Row(
        mechanism=mechanism,
        guarantee=guarantee,
        errors=errors,
        measures=measures_of(errors),
        bounds=published_bounds(mechanism, table),
        shown=mean_disclosure(shown),
        unique_matches=float(np.mean(matches)),
        groups=group_errors(mechanism, table, question.group, errors),
        quasi_identifiers_only=restricted,
        estimated=estimated,
        least_delta=least,
        accuracy=accuracy,
        maps=tuple(maps),
    )


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

    mechanism: Protection
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
