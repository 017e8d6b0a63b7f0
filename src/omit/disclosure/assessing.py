"""One table, every way to protect it at the same epsilon, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omit import _validate
from omit.disclosure.assessment import Assessment, Prediction, Row
from omit.disclosure.histograms import (
    DiscreteGaussianHistogram,
    GeometricHistogram,
    LaplaceHistogram,
)
from omit.disclosure.measures import (
    GroupMap,
    constant_accuracy,
    disclosure_of,
    group_errors,
    group_maps,
    largest_groups,
    logistic_accuracy,
    mean_disclosure,
    measures_of,
    released_accuracy,
    simulated_measures,
    unique_exact_matches,
)
from omit.disclosure.measures import two_way as two_way_marginal
from omit.disclosure.protection import Protection, require_runs
from omit.disclosure.suppressed_cells import suppressed_intervals
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping
from omit.disclosure.table import CountTable, Universe, chosen
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee

if TYPE_CHECKING:
    import pandas as pd


_MOST_INTERVALS = 1500
_MATCH_RUNS = 50
_FITS = 20
_MOST_CELLS = 2_000_000


def default_protections(
    epsilon: float, delta: float, threshold: int, rate: float, quasi_identifiers: Sequence[str]
) -> list[Protection]:
    """Return all protections at the same epsilon."""
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
    """What is asked about every protection."""

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
    """Return what every protection guarantees and costs on a table, at the same epsilon.

    Parameters
    ----------
    table : CountTable
        The table.
    epsilon, delta : float
        The guarantee that is asked for; a protection with a larger delta is not recommended.
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
        Also estimate the errors from this many simulated releases; the paper used 200.
    predict : str, optional
        An attribute with two categories that is predicted from all others by a logistic regression
        which learns from releases and is scored on the data.
    two_way : sequence of two str, optional
        Attributes x and y whose two-way marginal, and regression of y on x, is compared for groups.
    within : mapping, optional
        The groups by name, such as ``{"white men": {"race": "White", "sex": "Male"}}``; by default
        the two largest of `group`.
    seed : int
        Of the simulated releases.

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
    given = [list(_margin(table, margin)) for margin in _validate.several("margins", given)]
    universe = table.universe(largest_count)
    protections = default_protections(epsilon, delta, threshold, rate, question.quasi)
    prediction = None
    if predict is not None:
        unprotected = logistic_accuracy(table, table.flat, predict)
        prediction = Prediction(predict, unprotected, constant_accuracy(table, predict))
    rows = []
    for protection in protections:
        rows.append(_row(protection, table, universe, question, rng))
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
        margins=tuple(tuple(margin) for margin in given),
        quasi_identifiers=question.quasi,
        identifying=question.identifying,
        assumptions=(*_assumptions(table, universe, question), *refusal),
        prediction=prediction,
    )


def _assumptions(table: CountTable, universe: Universe, question: _Question) -> tuple[str, ...]:
    """Return what is assumed, and which numbers are not exact."""
    simulated = [
        "k-anonymity, unique cells and unique matches are averages over "
        f"{_MATCH_RUNS} simulated releases"
    ]
    if question.paper_runs is not None:
        simulated.append(f"errors are estimated from {question.paper_runs:,} more")
    if question.target is not None:
        simulated.append(f"a classifier is trained on {_FITS} more")
    return (
        *table.notes,
        f"Guarantees are under {REPLACE} for {universe.records:,} records; no count is above "
        f"{universe.largest_count:,}, which is declared and not observed.",
        f"{', '.join(simulated)}; all other numbers are exact.",
    )


def _intervals(
    table: CountTable, suppression: CellSuppression, margins: Sequence[Sequence[str]]
) -> tuple[pd.DataFrame | None, tuple[str, ...]]:
    """Return what margins tell about suppressed cells, and what was not excluded, as notes."""
    hidden = int(suppression.suppress_probability(table.flat).sum())
    if hidden > _MOST_INTERVALS:
        note = (
            f"{hidden:,} cells are suppressed. It was not excluded that some of them can be "
            f"computed from the published margins: that is examined for up to "
            f"{_MOST_INTERVALS:,} cells."
        )
        return None, (note,)
    intervals = suppressed_intervals(table, suppression, margins)
    undecided = int(intervals["undecided"].sum())
    if not undecided:
        return intervals, ()
    note = (
        f"Of {undecided:,} more suppressed cells it was not excluded that they can be computed "
        "from the published margins: the search for other tables that fit was given up."
    )
    return intervals, (note,)


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
            raise InvalidInput("Expected two attributes for the two-way marginal of these groups.")
        return _Question(quasi, recognised, group, threshold, paper_runs, predict, None, {})
    pair = tuple(
        table.names[position] for position in chosen(table.attributes, two_way, "two-way attribute")
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
        table.names[position] for position in chosen(table.attributes, names, "margin's attribute")
    )


def _named(
    table: CountTable, names: Sequence[str] | None, default: tuple[str, ...], what: str
) -> tuple[str, ...]:
    """Return the attributes that are named, or those by default."""
    if names is None:
        return default
    positions = chosen(table.attributes, names, what)
    if not positions:
        raise InvalidInput(f"Expected at least one {what}.")
    return tuple(table.names[position] for position in positions)


def _row(
    protection: Protection,
    table: CountTable,
    universe: Universe,
    question: _Question,
    rng: np.random.Generator,
) -> Row:
    errors = protection.errors(table)
    revealed, matches = [], []
    for block in protection.simulate_in_blocks(table, rng, _MATCH_RUNS):
        revealed += [
            disclosure_of(table, draw, question.threshold, question.identifying) for draw in block
        ]
        matches += unique_exact_matches(table, block).tolist()
    estimated = accuracy = None
    if question.paper_runs is not None:
        estimated = simulated_measures(protection, table, rng, question.paper_runs)
    if question.target is not None:
        accuracy = released_accuracy(protection, table, question.target, rng, _FITS, errors)
    maps: list[GroupMap] = []
    if question.two_way is not None:
        maps = group_maps(protection, table, *question.two_way, question.within, errors=errors)
    return Row(
        protection=protection,
        guarantee=protection.guarantee(universe),
        errors=errors,
        measures=measures_of(errors),
        bounds=protection.published_bounds(table),
        revealed=mean_disclosure(revealed),
        unique_matches=float(np.mean(matches)),
        groups=group_errors(protection, table, question.group, errors),
        guarantee_if_less_changes=protection.guarantee_if_less_changes(universe),
        estimated=estimated,
        accuracy=accuracy,
        maps=tuple(maps),
    )
