"""The authors' numbers, laid over ours: curves over the sampling rate, with z-scores.

A file is called `..._Average.csv`, and its path says which curve it is by words such as `age`,
`mode` and `laplace`. Its first row has the sampling rates, every other row the averages at one ε,
which is in front if the first row begins with a word; else rows are in the order of the paper's ε.
Other files are named and left out.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from omit.data.datasets import DATASETS
from omit.errors import InvalidInput
from omit.laws.intervals import NORMAL
from omit.papers.omitting_records import cells
from omit.papers.omitting_records.as_published import cost_reported
from omit.papers.omitting_records.cells import Subject, of_subject

_T = TypeVar("_T")
_ENDING = "_Average.csv"
# Words of a path that tell the data and the column, and the mechanism.
_COLUMN_WORDS = {
    ("adult", "age"): ({"adult", "age"},),
    ("adult", "hours-per-week"): ({"hours"},),
    ("census", "FEDTAX"): ({"fedtax"},),
    ("census", "FICA"): ({"fica"},),
    ("irish", "Age"): ({"irish", "age"},),
    ("irish", "HighestEducationCompleted"): ({"education"}, {"highesteducationcompleted"}),
}
_NOISE_WORDS = {
    "Laplace": ({"laplace"},),
    "Gaussian": ({"gaussian"}, {"gauss"}),
    "exponential mechanism": ({"exponential", "mechanism"}, {"em"}),
    "exponential": ({"exponential"},),
}
_STATISTIC_WORDS = {"mean": ({"mean"}, {"noisyaverage"}), "mode": ({"mode"}, {"rnm"})}
_CLUSTERING_WORDS = {
    cells.LLOYD_PUBLISHED: ({"lloyd"}, {"dplloyd"}),
    cells.MEDIAN_PUBLISHED: ({"kmedian"}, {"k", "median"}, {"kmedians"}),
}
_GAUSSIAN = "the authors' noise does not depend on δ and is too small"
_OFF_BY_ONE = "the authors' answer is off by the lower bound of the domain"
_CAUSES = {
    "mean, Gaussian": _GAUSSIAN,
    "mode, Gaussian": _GAUSSIAN,
    "mode, exponential mechanism": _OFF_BY_ONE,
    "k-median as published": "the authors report a weight and not a cost; converted to a cost here",
}
# epsilon' at epsilon = 1, of T = 110 swaps.
_KMEDIAN_RATE, _KMEDIAN_RECORDS = 1 / 222, 100


@dataclass(frozen=True, eq=False)
class Artefact:
    """The curves of a folder, and the files that are none.

    Parameters
    ----------
    curves : mapping of Subject to DataFrame
        Averages by the `epsilon` and the `rate`, as `published`.
    left_out : tuple of str
        The files that are no curve of the paper.
    """

    curves: Mapping[Subject, pd.DataFrame]
    left_out: tuple[str, ...]


def read_artefact(folder: Path | str) -> Artefact:
    """Return the curves of a folder.

    Raises
    ------
    InvalidInput
        If there is no such folder or no curve in it, or a file has no numbers where they should be.
    """
    folder = Path(folder)
    files = sorted(folder.rglob(f"*{_ENDING}")) if folder.is_dir() else []
    if not files:
        raise InvalidInput(f"Expected {folder} to be a folder with files called ...{_ENDING}.")
    curves, left_out = {}, []
    for file in files:
        subject = subject_of(str(file.relative_to(folder)))
        if subject is None:
            left_out.append(str(file.relative_to(folder)))
        else:
            curves[subject] = _curve(file)
    if not curves:
        raise InvalidInput(
            f"Expected a file in {folder} to name a column and a mechanism of the paper, such as "
            f"mode_adult_age_laplace{_ENDING}."
        )
    return Artefact(curves, tuple(left_out))


def subject_of(path: str) -> Subject | None:
    """Return the curve that a path names, or None if it names none, or several.

    Examples
    --------
    >>> subject_of("NoisyAverage/adult_hours_gaussian_Average.csv").column
    'hours-per-week'
    >>> subject_of("sizes_Average.csv")
    """
    words = set(re.findall(r"[a-z]+", path.removesuffix(_ENDING).lower()))
    clusterings = _said(_CLUSTERING_WORDS, words)
    if clusterings:
        return clusterings[0] if len(clusterings) == 1 else None
    columns, statistics = _said(_COLUMN_WORDS, words), _said(_STATISTIC_WORDS, words)
    noises = _said(_NOISE_WORDS, words)
    if not (len(columns) == len(statistics) == 1 and noises):
        return None
    data, column = columns[0]
    named = Subject(data, column, f"{statistics[0]}, {noises[0]}")
    shown = {one for figure in cells.FIGURES.values() for one in figure.subjects}
    return named if named in shown else None


def _said(known: Mapping[_T, tuple[set[str], ...]], words: set[str]) -> list[_T]:
    """Return what words say, in the order in which it is known."""
    return [name for name, ways in known.items() if any(way <= words for way in ways)]


def _curve(file: Path) -> pd.DataFrame:
    """Return the averages of a file by ε and rate."""
    with file.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.reader(lines) if row]
    try:
        labelled = not _is_number(rows[0][0])
        rates = np.array([float(cell) for cell in rows[0][labelled:]])
        epsilons = [float(row[0]) for row in rows[1:]] if labelled else list(cells.EPSILONS)
        values = [[float(cell) for cell in row[labelled:]] for row in rows[1:]]
        if len(values) != len(epsilons) or any(len(row) != len(rates) for row in values):
            raise ValueError
    except (IndexError, ValueError) as error:
        raise InvalidInput(
            f"Expected {file} to have the sampling rates in its first row, and as many averages in "
            "one row for every ε."
        ) from error
    rates = rates / 100 if rates.max() > 1 else rates
    return pd.DataFrame(
        [
            {"epsilon": epsilon, "rate": round(float(rate), 6), "published": value}
            for epsilon, row in zip(epsilons, values, strict=True)
            for rate, value in zip(rates, row, strict=True)
        ]
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def compared(table: pd.DataFrame, artefact: Artefact) -> pd.DataFrame:
    """Return a line for every published average that was computed: both numbers and the z-score.

    The deviation of a published average of so many runs follows from our own error: of one run it
    is that of a coin for modes, that of our runs where errors are simulated, and else the error
    itself, which is that of an exponential law. Next to it stands the z-score against the
    mechanism as published, where there is one.
    """
    parts = []
    for subject, curve in artefact.curves.items():
        ours = of_subject(table, subject)
        ours = ours[ours["kind"] == "poisson"]
        if ours.empty:
            continue
        both = ours.merge(curve, on=["epsilon", "rate"])
        if subject == cells.MEDIAN_PUBLISHED:
            both["published"] = _as_costs(both)
        published = both["published"].astype(float)
        z = (published - both["error"]) / _deviation(subject, both)
        names = ("data", "column", "mechanism", "epsilon", "rate", "error")
        part = both[list(names)].assign(published=published, z=z)
        variant = of_subject(table, cells.as_published_of(subject))
        if not variant.empty:
            known = variant[["epsilon", "rate", "error", "low", "high", "method"]]
            twin = both[["epsilon", "rate"]].merge(known, on=["epsilon", "rate"], how="left")
            part["as published"] = twin["error"].to_numpy()
            apart = published.to_numpy() - twin["error"].to_numpy()
            part["z as published"] = apart / _deviation(subject, twin).to_numpy()
        parts.append(part.assign(cause=_cause(subject)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _cause(subject: Subject) -> str:
    """Return why published averages differ from ours, where that is known and applies."""
    cause = _CAUSES.get(subject.mechanism, "")
    if cause == _OFF_BY_ONE and DATASETS[subject.data].bounds[subject.column or ""][0] == 0:
        return ""
    return cause


def _deviation(subject: Subject, rows: pd.DataFrame) -> pd.Series[float]:
    """Return the standard deviation of an average of the published number of runs."""
    runs = cells.published_runs(subject)
    error = rows["error"].astype(float)
    if subject.statistic == "mode":
        # Never less than what one run more or less makes of it.
        return np.sqrt(np.maximum(error * (1 - error), 1 / runs) / runs)
    simulated = (rows["high"] - rows["low"]).astype(float) / (2 * NORMAL)
    return error.where(rows["method"] == "exact", simulated * math.sqrt(runs)) / math.sqrt(runs)


def _as_costs(rows: pd.DataFrame) -> list[float]:
    return [
        cost_reported(value, _KMEDIAN_RATE * epsilon, _KMEDIAN_RECORDS * rate)
        for value, epsilon, rate in zip(
            rows["published"], rows["epsilon"], rows["rate"], strict=True
        )
    ]


def variants(artefact: Artefact) -> Iterator[Subject]:
    """Give the curves that are compared with a mechanism of the authors' own."""
    for subject in artefact.curves:
        variant = cells.as_published_of(subject)
        if variant != subject:
            yield variant
