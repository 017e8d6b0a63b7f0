"""Every figure of the paper on omitting records, as a declaration of the cells that it shows.

A cell is one point of a plot: the error of a statistic after an omission. A statistic of a column
has its exact error where there is one. A clustering is simulated, with the same random numbers for
all omissions at one epsilon, so that differences are sharp; the seed belongs to what they share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from omit._numeric import FloatArray
from omit.accuracy.expected import Question
from omit.data.column import Column
from omit.data.points import Points
from omit.data.reading import read, read_points
from omit.errors import InvalidInput, Unattainable
from omit.guarantee import Guarantee
from omit.laws.intervals import NORMAL
from omit.mechanisms.base import Mechanism
from omit.mechanisms.kmeans import DPLloyd
from omit.mechanisms.kmedian import PrivateKMedian
from omit.mechanisms.mean import NoisyMean
from omit.mechanisms.mode import NoisyMode
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import NoOmission, PoissonSampling
from omit.papers.base import OwnData, Settings, read_column
from omit.study.cell import Cell, Computation

EPSILONS = (0.25, 0.5, 1.0, 2.0)
RATES = tuple(round(0.01 * step, 2) for step in range(1, 100))
PROBABILITIES = tuple(round(0.1 * step, 1) for step in range(1, 10))
BOUNDS = ("mixture", "published")
# Twenty runs, as published, tell nothing about differences this small; more cost little.
_MEDIAN_RUNS = 200


@dataclass(frozen=True)
class Subject:
    """A statistic of some data, by the names of a cell's parameters."""

    data: str
    column: str | None
    mechanism: str
    own: OwnData | None = None

    @property
    def statistic(self) -> str:
        """One word: mean, mode, DPLloyd or k-median."""
        return self.mechanism.split(",")[0].split(" as ")[0]

    @property
    def place(self) -> str:
        """Which data, for people."""
        data = Path(self.data).name
        return data if self.column is None else f"{data} {self.column}"

    @property
    def title(self) -> str:
        """What it is, for people."""
        return f"{self.mechanism}: {self.place}"


@dataclass(frozen=True)
class PaperFigure:
    """One figure of the paper.

    Attributes
    ----------
    number
        Its number in the paper.
    kind
        ``"sampling"``: errors over the sampling rate. ``"suppression"``: differences over (m, M).
        ``"privacy"``: bounds, without data.
    subjects
        What is shown, a panel or a row of panels each.
    noise_reduction
        Whether releases have the same guarantee, or mechanisms do.
    """

    number: int
    kind: Literal["sampling", "suppression", "privacy"]
    subjects: tuple[Subject, ...] = ()
    noise_reduction: bool = True

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"figure-{self.number:02d}"


_COLUMNS = (
    ("adult", "age"),
    ("adult", "hours-per-week"),
    ("census", "FEDTAX"),
    ("census", "FICA"),
    ("irish", "Age"),
    ("irish", "HighestEducationCompleted"),
)
_MODE_COLUMNS = (_COLUMNS[0], _COLUMNS[1], _COLUMNS[4], _COLUMNS[5])
_MEANS = ("mean, Laplace", "mean, Gaussian")
_MODES = (
    "mode, Laplace",
    "mode, Gaussian",
    "mode, exponential",
    "mode, exponential mechanism",
)
_MEDIAN = tuple(
    Subject("kmedian-synthetic", None, each) for each in ("k-median", "k-median as published")
)
_LLOYD = tuple(Subject("adult", None, each) for each in ("DPLloyd", "DPLloyd as published"))
_AGE = (Subject("adult", "age", "mean, Laplace"), Subject("adult", "age", "mode, Laplace"))


def _declared() -> dict[int, PaperFigure]:
    found = [
        PaperFigure(1, "sampling", (*_AGE, _LLOYD[0])),
        PaperFigure(2, "privacy"),
        PaperFigure(3, "suppression", (*_AGE, _LLOYD[0])),
    ]
    for columns, mechanisms in ((_COLUMNS, _MEANS), (_MODE_COLUMNS, _MODES)):
        for data, column in columns:
            subjects = tuple(Subject(data, column, each) for each in mechanisms)
            found.append(PaperFigure(len(found) + 1, "sampling", subjects))
    found.append(PaperFigure(len(found) + 1, "sampling", (*_MEDIAN, *_LLOYD)))
    for noise_reduction in (True, False):
        for columns, mechanisms in ((_COLUMNS, _MEANS), (_MODE_COLUMNS, _MODES)):
            for data, column in columns:
                for each in mechanisms:
                    subject = Subject(data, column, each)
                    found.append(
                        PaperFigure(len(found) + 1, "suppression", (subject,), noise_reduction)
                    )
        for subjects in (_MEDIAN, _LLOYD):
            found.append(PaperFigure(len(found) + 1, "suppression", subjects, noise_reduction))
    found.append(PaperFigure(len(found) + 1, "privacy"))
    return {each.number: each for each in found}


FIGURES: Mapping[int, PaperFigure] = MappingProxyType(_declared())


def figure_cells(figure: PaperFigure, settings: Settings) -> tuple[Cell, ...]:
    """Return the cells that a figure needs."""
    return tuple(
        cell for subject in figure.subjects for cell in _subject_cells(figure, subject, settings)
    )


def _subject_cells(figure: PaperFigure, subject: Subject, settings: Settings) -> tuple[Cell, ...]:
    common: dict[str, object] = {
        "data": subject.data,
        "mechanism": subject.mechanism,
        "epsilon": list(settings.epsilons or EPSILONS),
        "runs": published_runs(subject) if settings.runs is None else settings.runs,
    }
    if subject.own is not None:
        computation = OWN_ERROR
        lower, upper = subject.own.bounds or (None, None)
        common |= {"column": subject.column, "exact": settings.exact, "lower": lower}
        common |= {"upper": upper, "content": subject.own.content}
    elif subject.column is None:
        computation = CLUSTERING_LOSS
        common["measured_on"] = "kept" if "published" in subject.mechanism else "all"
        # The authors' code scales the columns by their own extremes, which is not private.
        from_data = subject.mechanism == "DPLloyd as published"
        common["bounds"] = "from-data" if from_data else "registered"
    else:
        computation = COLUMN_ERROR
        common |= {"column": subject.column, "exact": settings.exact}
    nothing: dict[str, object] = {"rate": None, "m": None, "M": None, "bound": None}
    grid = computation.grid
    found = grid(kind="none", noise_reduction=True, **nothing, **common)
    if figure.kind == "sampling":
        some: dict[str, object] = nothing | {"rate": list(RATES)}
        return found + grid(kind="poisson", noise_reduction=True, **some, **common)
    # Without noise reduction the privacy bound does not matter.
    bounds = BOUNDS if figure.noise_reduction else ("mixture",)
    for index, m in enumerate(PROBABILITIES):
        some = {"rate": None, "m": m, "M": list(PROBABILITIES[index:]), "bound": list(bounds)}
        found += grid(
            kind="outlier-score", noise_reduction=figure.noise_reduction, **some, **common
        )
    return found


def published_runs(subject: Subject) -> int:
    """Return how often a simulated error of the subject is, if nothing else is asked for."""
    if subject.mechanism == "k-median":
        return _MEDIAN_RUNS
    known: Mapping[str, Mechanism] = {**COLUMN_MECHANISMS, **CLUSTERINGS}
    return known[subject.mechanism].published_runs


COLUMN_MECHANISMS: Mapping[str, Mechanism] = {
    "mean, Laplace": NoisyMean("laplace", "published"),
    "mean, Gaussian": NoisyMean("gaussian", "published"),
    "mode, Laplace": NoisyMode("laplace"),
    "mode, Gaussian": NoisyMode("gaussian"),
    "mode, exponential": NoisyMode("exponential", "published"),
    "mode, exponential mechanism": NoisyMode("gumbel", "published"),
}
CLUSTERINGS: Mapping[str, Mechanism] = {
    "DPLloyd": DPLloyd(5),
    "DPLloyd as published": DPLloyd.published(5),
    "k-median": PrivateKMedian(4),
    "k-median as published": PrivateKMedian.published(4),
}

# Enough for every digit that is printed.
_TOLERANCE = 1e-7


def omission(parameters: Mapping[str, Any]) -> Omission:
    """Return the omission that a cell's parameters describe."""
    if parameters["kind"] == "none":
        return NoOmission()
    if parameters["kind"] == "poisson":
        return PoissonSampling(rate=parameters["rate"])
    return OutlierScoreSuppression(parameters["m"], parameters["M"], bound=parameters["bound"])


def _column(shared: Mapping[str, Any], rng: np.random.Generator) -> Column:
    return read(shared["data"], shared["column"])


def _own_column(shared: Mapping[str, Any], rng: np.random.Generator) -> Column:
    return read_column(shared)


def _column_error(
    parameters: Mapping[str, Any], column: Column, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the expected error, or that the guarantee cannot be reached."""
    mechanism = COLUMN_MECHANISMS[parameters["mechanism"]]
    delta = column.size**-2 if "Gaussian" in parameters["mechanism"] else 0.0
    target = Guarantee(parameters["epsilon"], delta)
    question = Question(
        column,
        mechanism,
        target,
        method="auto" if parameters["exact"] else "simulated",
        noise_reduction=parameters["noise_reduction"],
        runs=parameters["runs"],
        tolerance=_TOLERANCE,
        details=False,
    )
    try:
        setting = question.setting(omission(parameters))
    except Unattainable:
        return {"error": None, "low": None, "high": None, "method": "unattainable"}
    found, base = setting.error(rng), setting.promise
    assert isinstance(base, Guarantee)
    return {
        "error": found.value,
        "low": found.low,
        "high": found.high if math.isfinite(found.high) else None,
        "method": found.method,
        "base_epsilon": base.epsilon,
        "base_delta": base.delta,
        "kept": setting.design.kept_share(column.multiplicities),
    }


@dataclass(frozen=True, eq=False)
class _Baseline:
    """Points, and what a clustering loses without omission in each run."""

    points: Points
    seed: int
    losses: FloatArray


@lru_cache(maxsize=3)
def _points(name: str, bounds: str) -> Points:
    # One object in a process, so that its outlier scores are computed once.
    return read_points(name) if bounds == "registered" else read_points(name, bounds="from-data")


def _baseline(shared: Mapping[str, Any], rng: np.random.Generator) -> _Baseline:
    points, seed = _points(shared["data"], shared["bounds"]), int(rng.integers(2**63))
    question = _clustering_question(shared, points, seed)
    losses = question.setting(NoOmission()).runs().first(shared["runs"])
    return _Baseline(points, seed, losses)


def _clustering_question(
    parameters: Mapping[str, Any], points: Points, seed: int, noise_reduction: bool = True
) -> Question:
    mechanism: Any = CLUSTERINGS[parameters["mechanism"]]
    return Question(
        points,
        replace(mechanism, metric=parameters["measured_on"]),
        Guarantee(parameters["epsilon"]),
        runs=parameters["runs"],
        seed=seed,
        noise_reduction=noise_reduction,
    )


def _clustering_loss(
    parameters: Mapping[str, Any], baseline: _Baseline, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the mean loss and its difference to that without omission, run by run."""
    question = _clustering_question(
        parameters, baseline.points, baseline.seed, parameters["noise_reduction"]
    )
    try:
        setting = question.setting(omission(parameters))
    except Unattainable:
        return {"error": None, "low": None, "high": None, "method": "unattainable"}
    losses, base = baseline.losses, setting.promise
    assert isinstance(base, Guarantee)
    if parameters["kind"] != "none":
        losses = setting.runs().first(parameters["runs"])
    value, deviation = _mean_and_error(losses)
    difference, difference_deviation = _mean_and_error(losses - baseline.losses)
    return {
        "error": value,
        "low": value - NORMAL * deviation,
        "high": value + NORMAL * deviation,
        "method": "simulated",
        "base_epsilon": base.epsilon,
        "base_delta": base.delta,
        "kept": setting.design.kept_share(baseline.points.multiplicities),
        "difference": difference,
        "difference_deviation": difference_deviation,
    }


def _mean_and_error(values: FloatArray) -> tuple[float, float]:
    """Return the mean and its standard error, of the runs in which something was measured."""
    present = values[~np.isnan(values)]
    if len(present) < 2:
        raise InvalidInput("A simulated loss needs at least two runs that leave a record.")
    return float(present.mean()), float(present.std(ddof=1) / math.sqrt(len(present)))


def _clustering_cost(parameters: Mapping[str, Any]) -> float:
    """Return about how long a cell takes, in passes over all records of Adult."""
    kept = 1.0
    if parameters["kind"] == "poisson":
        kept = parameters["rate"]
    elif parameters["kind"] == "outlier-score":
        kept = 1 - 0.5 * (parameters["m"] + parameters["M"])
    if parameters["mechanism"].startswith("k-median"):
        return float(4 * parameters["runs"])
    iterations = 20 if "published" in parameters["mechanism"] else 5
    return float(parameters["runs"] * (1 + iterations * kept))


COLUMN_ERROR = Computation(
    "error of a statistic of a column", 1, _column_error, _column, ("data", "column")
)
OWN_ERROR = Computation(
    "error of a statistic of own data",
    1,
    _column_error,
    _own_column,
    ("data", "column", "lower", "upper", "content"),
)
CLUSTERING_LOSS = Computation(
    "loss of a clustering",
    3,
    _clustering_loss,
    _baseline,
    ("data", "bounds", "mechanism", "epsilon", "runs", "measured_on"),
    _clustering_cost,
)


def figures_on(data: OwnData) -> tuple[PaperFigure, ...]:
    """Return the paper's kinds of figures for the mean and the mode of other data."""
    mechanisms = tuple(COLUMN_MECHANISMS)
    column = read(data.source, data.column, bounds=data.bounds)
    if column.is_text:
        mechanisms = _MODES
    subjects = tuple(Subject(data.source, data.column, each, data) for each in mechanisms)
    found = [PaperFigure(1, "sampling", subjects)]
    found += [PaperFigure(2 + i, "suppression", (each,)) for i, each in enumerate(subjects)]
    return tuple(found)
