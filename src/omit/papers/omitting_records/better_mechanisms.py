"""Do the paper's conclusions survive mechanisms that need less noise for the same guarantee?

The paper divides a noisy sum by a noisy count, with half of the guarantee for either, and chooses
the mode with twice the noise that counts need. Here its questions are asked again with two noisy
sums and with the least scale, and of the median, which the paper does not have. Outlier scores are
calibrated by the mixture bound throughout, so that only the mechanism differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from omit._numeric import error_ratios
from omit._text import rounded_up, show_ratio
from omit.data.datasets import DATASETS, Dataset
from omit.errors import InvalidInput
from omit.laws.intervals import judge_all
from omit.mechanisms.names import mean_and_mode
from omit.papers.base import Computed, Exhibit, OwnData, Settings, read_column
from omit.papers.omitting_records import cells
from omit.papers.omitting_records.cells import Subject
from omit.study.cell import Cell

PUBLISHED, BETTER, OF_ALL = "as published", "better", "of all"
KINDS = {"poisson": "sampling", "outlier-score": "suppression"}
_MECHANISMS = (*cells.COLUMN_MECHANISMS, *cells.BETTER_MECHANISMS)

# Columns that the paper does not have are asked fewer questions, of fewer mechanisms.
_FEWER_MECHANISMS = (
    *("mean, Laplace", "mean, Laplace, two sums"),
    *("mode, Laplace", "mode, exponential", "mode, permute-and-flip", "median, permute-and-flip"),
)
_FEWER_EPSILONS = (0.25, 2.0)
# Errors of medians take longer than those of means and modes.
_MEDIAN_RATES = (0.01, 0.05, *(round(0.1 * step, 1) for step in range(1, 10)), 0.95, 0.99)
_FEWER_RATES = (0.1, 0.5, 0.9)
_FEWER_PAIRS = ((0.1, 0.5), (0.1, 0.9), (0.5, 0.9))
# A mode is chosen among all points of a column, of which there should not be more.
_MOST_POINTS = 1_000_000


def _subjects(data: str, column: str | None, statistics: Sequence[str]) -> tuple[Subject, ...]:
    """Return the column with all mechanisms of some statistics."""
    named = (Subject(data, column, mechanism) for mechanism in _MECHANISMS)
    return tuple(subject for subject in named if subject.statistic in statistics)


def paper_subjects() -> tuple[Subject, ...]:
    """Return the paper's columns with all mechanisms."""
    return tuple(
        subject
        for column in cells.COLUMNS
        for subject in _subjects(
            *column,
            ("mean", "mode", "median") if column in cells.MODE_COLUMNS else ("mean", "median"),
        )
    )


def other_subjects() -> tuple[Subject, ...]:
    """Return the registered columns that the paper does not have, with some mechanisms.

    Columns of data sets whose file is not there are missing.
    """
    return tuple(
        subject
        for known in filter(_within_reach, DATASETS.values())
        for column in (*known.bounds, *known.categories)
        if (known.name, column) not in cells.COLUMNS
        for subject in _subjects(known.name, column, _statistics(known, column))
        if subject.mechanism in _FEWER_MECHANISMS
    )


def _statistics(known: Dataset, column: str) -> tuple[str, ...]:
    """Return what a registered column has: points to choose from need a step, means need bounds."""
    if column in known.categories:
        return ("mode",)
    if known.step is None:
        return ("mean",)
    lower, upper = known.bounds[column]
    few = (upper - lower) / known.step < _MOST_POINTS
    return ("mean", "mode", "median") if few else ("mean", "median")


def _within_reach(known: Dataset) -> bool:
    if known.generate is not None:
        return True
    try:
        with known.path():
            return True
    except InvalidInput:
        return False


def own_subjects(data: OwnData) -> tuple[Subject, ...]:
    """Return other data with all mechanisms of the statistics that they have."""
    column = read_column(data.parameters)
    statistics = [*mean_and_mode(column), *(["median"] if column.step is not None else [])]
    subjects = _subjects(data.source, data.column, statistics)
    return tuple(replace(subject, own=data) for subject in subjects)


def _paper_cells(subjects: Sequence[Subject], settings: Settings) -> tuple[Cell, ...]:
    """Return the errors without omission, at the paper's sampling rates and its pairs (m, M)."""

    def rates(subject: Subject) -> tuple[float, ...] | None:
        return _MEDIAN_RATES if subject.statistic == "median" else None

    return tuple(
        cell
        for subject in subjects
        for kind in KINDS.values()
        for cell in cells.subject_cells(
            subject, settings, kind, cells.BOUNDS[:1], rates=rates(subject)
        )
    )


def _fewer_cells(settings: Settings) -> tuple[Cell, ...]:
    """Return the errors of the other registered columns, at a few rates and pairs."""
    settings = replace(settings, epsilons=settings.epsilons or _FEWER_EPSILONS)
    return tuple(
        cell
        for subject in other_subjects()
        for kind in KINDS.values()
        for cell in cells.subject_cells(
            subject, settings, kind, cells.BOUNDS[:1], rates=_FEWER_RATES, pairs=_FEWER_PAIRS
        )
    )


def compared(computed: Computed) -> pd.DataFrame | None:
    """Return the judged table of mechanisms as published and of better ones, or None without any.

    It has the columns of `cells.judged`, and `version`, `statistic` and `ratio`, the error divided
    by that of the same mechanism on all records.
    """
    beyond = computed.frame(cells.BEYOND_ERROR)
    if beyond.empty:
        return None
    published = computed.frame(cells.COLUMN_ERROR, cells.OWN_ERROR)
    if not published.empty:
        same = published["noise_reduction"] & (published["bound"] != "published")
        published = published[same]
    table = cells.judged(pd.concat([published, beyond], ignore_index=True))
    is_better = table["mechanism"].isin(list(cells.BETTER_MECHANISMS))
    return table.assign(
        version=np.where(is_better, BETTER, PUBLISHED),
        statistic=table["mechanism"].str.split(",").str[0],
        ratio=error_ratios(table["error"].to_numpy(), table["without_omission"].to_numpy()),
    )


def counted(rows: pd.DataFrame) -> dict[str, int]:
    """Return in how many rows an omission is worse, undecided or better."""
    counts = rows["standing"].value_counts()
    return {name: int(counts.get(name, 0)) for name in ("worse", "undecided", "better")}


def described(row: pd.Series[Any]) -> str:
    """Return a row's omission in a few words."""
    if row["kind"] == "none":
        return "all records"
    if row["kind"] == "poisson":
        return f"rate {row['rate']:g}"
    return f"m = {row['m']:g}, M = {row['M']:g}"


def least_ratio(rows: pd.DataFrame) -> tuple[float, str] | None:
    """Return the smallest ratio among omissions that are decided, and where it is.

    There is none where the error of all records may be 0.
    """
    decided = rows[rows["standing"].isin(["worse", "better"]) & (rows["plain_low"] > 0)]
    if decided.empty:
        return None
    row = decided.loc[decided["ratio"].idxmin()]
    return float(row["ratio"]), f"ε = {row['epsilon']:g}, {described(row)}"


def standings(subjects: Sequence[Subject], computed: Computed) -> pd.DataFrame | None:
    """Return for every subject and kind of omission how often it is worse or better."""
    table = computed.once(compared)
    lines = []
    for subject in subjects if table is not None else ():
        rows = cells.of_subject(table, subject)
        for kind, word in KINDS.items():
            part = rows[rows["kind"] == kind]
            if part.empty:
                continue
            least = least_ratio(part) or (None, None)
            lines.append(
                {
                    "statistic": subject.statistic,
                    "data": subject.data_name,
                    "mechanism": subject.mechanism,
                    "version": part["version"].iloc[0],
                    "omission": word,
                    **counted(part),
                    "simulated": int((part["method"] == "simulated").sum()),
                    "smallest ratio": least[0],
                    "at": least[1],
                }
            )
    return pd.DataFrame(lines) if lines else None


def side_by_side(subjects: Sequence[Subject], computed: Computed) -> pd.DataFrame:
    """Return a line per subject: its error on all records, and what omissions do to it."""
    table = computed.once(compared)
    assert table is not None
    lines = []
    for subject in subjects:
        rows = cells.of_subject(table, subject)
        if rows.empty:
            continue
        plain = rows[rows["kind"] == "none"].sort_values("epsilon").iloc[0]
        lines.append(
            {
                "statistic": subject.statistic,
                "data": subject.data_name,
                "mechanism": subject.mechanism.removeprefix(f"{subject.statistic}, "),
                "version": plain["version"],
                f"error at ε = {plain['epsilon']:g}": show_error(plain),
                **_in_words(rows),
            }
        )
    return pd.DataFrame(lines)


def _in_words(rows: pd.DataFrame) -> dict[str, str]:
    """Return what omissions do in these rows, and the smallest ratio of errors."""
    least = least_ratio(rows)
    return {
        **{word: show_counts(counted(rows[rows["kind"] == kind])) for kind, word in KINDS.items()},
        "smallest ratio": "" if least is None else show_ratio(least[0]),
        "at": "" if least is None else least[1],
    }


def show_counts(counts: Mapping[str, int]) -> str:
    """Return counts in words, without those that are 0."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def show_error(row: pd.Series[Any]) -> str:
    """Return an error to four digits, or what it is at most if it may be 0."""
    if row["low"] > 0 or row["high"] == 0:
        return f"{row['error']:.4g}"
    return f"at most {rounded_up(row['high'], 2)}"


def by_mechanism(computed: Computed) -> pd.DataFrame:
    """Return a line per mechanism: what omissions do to it over all registered columns."""
    table = computed.once(compared)
    assert table is not None
    wanted = pd.MultiIndex.from_frame(table[["data", "column"]]).isin(_other_columns())
    lines = []
    for mechanism in _FEWER_MECHANISMS:
        rows = table[wanted & (table["mechanism"] == mechanism)]
        if rows.empty:
            continue
        lines.append(
            {
                "mechanism": mechanism,
                "version": rows["version"].iloc[0],
                "columns": len(rows[["data", "column"]].drop_duplicates()),
                **_in_words(rows),
            }
        )
    return pd.DataFrame(lines)


def best_pairs(computed: Computed) -> pd.DataFrame | None:
    """Return the best mechanism and omission together, for every statistic of a column and epsilon.

    Among the mechanisms as published, and among all. An omission is best only if it surely beats
    every mechanism on all records.
    """
    table = computed.once(compared)
    if table is None:
        return None
    lines = []
    names = ["data", "column", "statistic", "epsilon"]
    for key, rows in table.groupby(names, sort=False):
        published = _best(rows[rows["version"] == PUBLISHED])
        of_all = _best(rows)
        line = dict(zip(names, key, strict=True))
        for version, best in ((PUBLISHED, published), (OF_ALL, of_all)):
            line |= {
                f"mechanism {version}": None if best is None else best["mechanism"],
                f"omission {version}": None if best is None else described(best),
                f"error {version}": None if best is None else best["error"],
            }
        lines.append(line)
    return pd.DataFrame(lines)


# Errors below are those of answers that are right all but certainly.
_NOTHING = 1e-12


def _pairs_in_few_digits(computed: Computed) -> pd.DataFrame:
    """Return the best pairs with errors as a person reads them."""
    frame = best_pairs(computed)
    assert frame is not None
    errors = [name for name in frame.columns if name.startswith("error ")]
    frame = frame.assign(**{name: [_few_digits(one) for one in frame[name]] for name in errors})
    return frame.rename(columns=lambda name: name.replace(OF_ALL, "among all"))


def _few_digits(error: float | None) -> str | None:
    if error is None or math.isnan(error):
        return None
    return f"below {_NOTHING:g}" if error < _NOTHING else f"{error:.4g}"


def _best(rows: pd.DataFrame) -> pd.Series[Any] | None:
    """Return the row with the least error, of one without omission unless others surely beat it."""
    if rows.empty:
        return None
    plain = rows[rows["kind"] == "none"]
    best = plain.loc[plain["error"].idxmin()]
    if len(plain) > 1 and (plain["low"] <= best["high"]).all():
        best = pd.concat([best.drop("mechanism"), pd.Series({"mechanism": "any"})])
    beaten = judge_all(rows["low"], rows["high"], best["low"], best["high"]) == "better"
    surely = rows[beaten & (rows["kind"] != "none")]
    return best if surely.empty else surely.loc[surely["error"].idxmin()]


def _other_columns() -> set[tuple[str, str | None]]:
    return {(subject.data, subject.column) for subject in other_subjects()}


_CAPTION = (
    "At the same guarantee, how often an omission is worse or better than using all records with "
    "the same mechanism, and the smallest ratio of the two errors among those that are decided. "
    "Means: relative error in per cent; modes: probability of a wrong one; medians: mean squared "
    "error. Undecided: what is never missed either way, and differences within the intervals of "
    "simulated errors. The median is not in the paper, and is asked for at 13 of the 99 rates."
)


def _exhibits(
    subjects: Callable[[], Sequence[Subject]], data: Sequence[str]
) -> tuple[Exhibit, ...]:
    """Return what all mechanisms do at the paper's rates and pairs, and the best pairs."""

    def needed(settings: Settings) -> tuple[Cell, ...]:
        return _paper_cells(subjects(), settings)

    return (
        Exhibit(
            "better-mechanisms",
            "Do the paper's conclusions survive better mechanisms?",
            _CAPTION,
            lambda computed: standings(subjects(), computed),
            cells=needed,
            data=tuple(data),
            shown=lambda computed: side_by_side(subjects(), computed),
        ),
        Exhibit(
            "best-pairs",
            "The best mechanism and omission together",
            "For every statistic and ε, among the mechanisms as published and among all.",
            best_pairs,
            cells=needed,
            data=tuple(data),
            shown=_pairs_in_few_digits,
        ),
    )


EXHIBITS = (
    *_exhibits(paper_subjects, tuple(dict.fromkeys(data for data, _ in cells.COLUMNS))),
    Exhibit(
        "registered-columns",
        "Better mechanisms on the other registered columns",
        f"{_CAPTION} At ε = 0.25 and 2, sampling rates of 0.1, 0.5 and 0.9, and three pairs "
        "(m, M). Data sets whose file is not there are left out.",
        lambda computed: standings(other_subjects(), computed),
        cells=_fewer_cells,
        shown=by_mechanism,
    ),
)


def exhibits_on(data: OwnData) -> tuple[Exhibit, ...]:
    """Return what all mechanisms do on other data."""
    subjects = own_subjects(data)
    return _exhibits(lambda: subjects, ())
