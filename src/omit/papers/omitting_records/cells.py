"""Every figure of the paper on omitting records, as a declaration of the cells that it shows.

A cell is one point of a plot: the error of a statistic after an omission. A statistic of a column
has its exact error where there is one. A clustering is simulated, with the same random numbers for
all omissions at one epsilon, so that differences are sharp; the seed belongs to what they share.
`judged` makes one table of all cells, with the standing of every omission.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

from omit._numeric import FloatArray
from omit.accuracy.expected import Question, Setting
from omit.data.column import Column
from omit.data.points import Points
from omit.data.reading import read_points
from omit.errors import InvalidInput, Unattainable
from omit.guarantee import Guarantee
from omit.laws.intervals import NORMAL, judge_all, student_quantile
from omit.mechanisms.base import Mechanism
from omit.mechanisms.kmeans import DPLloyd
from omit.mechanisms.kmedian import PrivateKMedian
from omit.mechanisms.lattice_quantile import LatticeQuantile
from omit.mechanisms.mean import NoisyMean
from omit.mechanisms.mode import NoisyMode
from omit.omissions.base import Omission
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import NoOmission, PoissonSampling
from omit.papers.base import Computed, OwnData, Settings, read_column
from omit.papers.omitting_records.as_published import (
    MeanIgnoringDelta,
    ModeIgnoringDelta,
    ModeOffByOne,
)
from omit.study.cell import Cell, Computation, Row

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
    def data_name(self) -> str:
        """Which data, for people."""
        data = Path(self.data).name
        return data if self.column is None else f"{data} {self.column}"


@dataclass(frozen=True)
class PaperFigure:
    """One figure of the paper.

    Attributes
    ----------
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


COLUMNS = (
    ("adult", "age"),
    ("adult", "hours-per-week"),
    ("census", "FEDTAX"),
    ("census", "FICA"),
    ("irish", "Age"),
    ("irish", "HighestEducationCompleted"),
)
MODE_COLUMNS = (COLUMNS[0], COLUMNS[1], COLUMNS[4], COLUMNS[5])
_MEANS = ("mean, Laplace", "mean, Gaussian")
_MODES = ("mode, Laplace", "mode, Gaussian", "mode, exponential", "mode, exponential mechanism")
_STATISTICS = ((COLUMNS, _MEANS), (MODE_COLUMNS, _MODES))
MEDIAN, MEDIAN_PUBLISHED = (
    Subject("kmedian-synthetic", None, name) for name in ("k-median", "k-median as published")
)
LLOYD, LLOYD_PUBLISHED = (
    Subject("adult", None, name) for name in ("DPLloyd", "DPLloyd as published")
)
AGE_MEAN, AGE_MODE = (Subject("adult", "age", name) for name in (_MEANS[0], _MODES[0]))
_CLUSTERED = ((MEDIAN, MEDIAN_PUBLISHED), (LLOYD, LLOYD_PUBLISHED))


def _declared() -> dict[int, PaperFigure]:
    figures: list[PaperFigure] = []

    def add(
        kind: Literal["sampling", "suppression", "privacy"],
        *subjects: Subject,
        noise_reduction: bool = True,
    ) -> None:
        figures.append(PaperFigure(len(figures) + 1, kind, subjects, noise_reduction))

    add("sampling", AGE_MEAN, AGE_MODE, LLOYD)
    add("privacy")
    add("suppression", AGE_MEAN, AGE_MODE, LLOYD)
    for columns, mechanisms in _STATISTICS:
        for column in columns:
            add("sampling", *(Subject(*column, mechanism) for mechanism in mechanisms))
    add("sampling", *_CLUSTERED[0], *_CLUSTERED[1])
    for noise_reduction in (True, False):
        for columns, mechanisms in _STATISTICS:
            for column, mechanism in itertools.product(columns, mechanisms):
                subject = Subject(*column, mechanism)
                add("suppression", subject, noise_reduction=noise_reduction)
        for subjects in _CLUSTERED:
            add("suppression", *subjects, noise_reduction=noise_reduction)
    add("privacy")
    return {figure.number: figure for figure in figures}


FIGURES: Mapping[int, PaperFigure] = MappingProxyType(_declared())


def figure_cells(figure: PaperFigure, settings: Settings) -> tuple[Cell, ...]:
    """Return the cells that a figure needs."""
    # Without noise reduction the privacy bound does not matter.
    bounds = BOUNDS if figure.noise_reduction else BOUNDS[:1]
    kind, noise_reduction = figure.kind, figure.noise_reduction
    return tuple(
        cell
        for subject in figure.subjects
        for cell in subject_cells(subject, settings, kind, bounds, noise_reduction=noise_reduction)
    )


def subject_cells(
    subject: Subject,
    settings: Settings,
    kind: str,
    bounds: Sequence[str] = BOUNDS,
    *,
    rates: Sequence[float] | None = None,
    pairs: Sequence[tuple[float, float]] | None = None,
    noise_reduction: bool = True,
) -> tuple[Cell, ...]:
    """Return the errors of a subject without omission and over sampling rates or pairs (m, M).

    Rates and pairs are the paper's by default.
    """
    common: dict[str, object] = {
        "data": subject.data,
        "mechanism": subject.mechanism,
        "epsilon": settings.epsilons or EPSILONS,
        "runs": published_runs(subject) if settings.runs is None else settings.runs,
    }
    if subject.column is None and subject.own is None:
        computation = CLUSTERING_LOSS
        common["measured_on"] = "kept" if "published" in subject.mechanism else "all"
        # The authors' code scales the columns by their own extremes, which is not private.
        from_data = subject.mechanism == "DPLloyd as published"
        common["bounds"] = "from-data" if from_data else "registered"
    else:
        computation = _computation(subject)
        if computation is BEYOND_ERROR:
            common |= dict.fromkeys(BEYOND_ERROR.shared)
        common |= {"data": subject.data, "column": subject.column, "exact": settings.exact}
        common |= {} if subject.own is None else subject.own.parameters

    def grid(kind: str, noise_reduction: bool = True, **omissions: object) -> tuple[Cell, ...]:
        parameters = {**dict.fromkeys(("rate", "m", "M", "bound")), **omissions, **common}
        return computation.grid(kind=kind, noise_reduction=noise_reduction, **parameters)

    if kind == "sampling":
        return grid("none") + grid("poisson", rate=rates or RATES)
    if pairs is None:
        pairs = tuple(itertools.combinations_with_replacement(PROBABILITIES, 2))
    suppressed = (grid("outlier-score", noise_reduction, m=m, M=M, bound=bounds) for m, M in pairs)
    return grid("none") + tuple(itertools.chain.from_iterable(suppressed))


def _computation(subject: Subject) -> Computation:
    """Return what computes the error of a column: cells beyond the paper count for no figure."""
    if subject.mechanism in AS_PUBLISHED:
        return AS_PUBLISHED_ERROR
    if subject.mechanism in BETTER_MECHANISMS:
        return BEYOND_ERROR
    if subject.own is not None:
        return OWN_ERROR
    shown = any(subject in figure.subjects for figure in FIGURES.values())
    return COLUMN_ERROR if shown else BEYOND_ERROR


def published_runs(subject: Subject) -> int:
    """Return how often errors of the subject are simulated unless another number is asked for."""
    if subject == MEDIAN:
        return _MEDIAN_RUNS
    known = {**COLUMN_MECHANISMS, **BETTER_MECHANISMS, **AS_PUBLISHED, **CLUSTERINGS}
    return known[subject.mechanism].published_runs


def as_published_of(subject: Subject) -> Subject:
    """Return the same statistic by what the authors' code has in place of the paper's mechanism.

    It is the subject itself where the two are the same.

    Examples
    --------
    >>> as_published_of(Subject("adult", "age", "mode, Gaussian")).mechanism
    'mode, Gaussian, ignoring delta'
    """
    variants = [name for name in AS_PUBLISHED if name.startswith(f"{subject.mechanism}, ")]
    return replace(subject, mechanism=variants[0]) if variants else subject


COLUMN_MECHANISMS: Mapping[str, Mechanism] = {
    "mean, Laplace": NoisyMean("laplace", "published"),
    "mean, Gaussian": NoisyMean("gaussian", "published"),
    "mode, Laplace": NoisyMode("laplace"),
    "mode, Gaussian": NoisyMode("gaussian"),
    "mode, exponential": NoisyMode("exponential", "published"),
    "mode, exponential mechanism": NoisyMode("gumbel", "published"),
}
# What the paper does not have: less noise for the same guarantee, and the median.
BETTER_MECHANISMS: Mapping[str, Mechanism] = {
    "mean, Laplace, two sums": NoisyMean("laplace", "two-sums"),
    "mean, Gaussian, two sums": NoisyMean("gaussian", "two-sums"),
    "mode, permute-and-flip": NoisyMode("exponential", "tight"),
    "mode, exponential mechanism, least scale": NoisyMode("gumbel", "tight"),
    "median, permute-and-flip": LatticeQuantile("permute-and-flip"),
}
# What the authors' code has in place of the paper's mechanisms; not private.
AS_PUBLISHED: Mapping[str, Mechanism] = {
    "mean, Gaussian, ignoring delta": MeanIgnoringDelta(),
    "mode, Gaussian, ignoring delta": ModeIgnoringDelta(),
    "mode, exponential mechanism, off by one": ModeOffByOne(),
}
CLUSTERINGS: Mapping[str, Mechanism] = {
    "DPLloyd": DPLloyd(5),
    "DPLloyd as published": DPLloyd.published(5),
    "k-median": PrivateKMedian(4),
    "k-median as published": PrivateKMedian.published(4),
}

# Enough for every digit that is printed.
_TOLERANCE = 1e-7


def omission(parameters: Row) -> Omission:
    """Return the omission that a cell's parameters describe."""
    if parameters["kind"] == "none":
        return NoOmission()
    if parameters["kind"] == "poisson":
        return PoissonSampling(rate=parameters["rate"])
    return OutlierScoreSuppression(parameters["m"], parameters["M"], bound=parameters["bound"])


_UNATTAINABLE: Row = {"error": None, "low": None, "high": None, "method": "unattainable"}


def _base(setting: Setting) -> Row:
    """Return what the mechanism may use, and how many records are kept on average."""
    base = setting.promise
    assert isinstance(base, Guarantee)
    return {
        "base_epsilon": base.epsilon,
        "base_delta": base.delta,
        "kept": setting.design.kept_share(setting.question.data.multiplicities),
    }


def _column_error(parameters: Row, column: Column, rng: np.random.Generator) -> Row:
    """Return the expected error, or that the guarantee cannot be reached."""
    delta = column.size**-2 if "Gaussian" in parameters["mechanism"] else 0.0
    name = parameters["mechanism"]
    question = Question(
        column,
        {**COLUMN_MECHANISMS, **BETTER_MECHANISMS, **AS_PUBLISHED}[name],
        Guarantee(parameters["epsilon"], delta),
        method="auto" if parameters["exact"] else "simulated",
        noise_reduction=parameters["noise_reduction"],
        runs=parameters["runs"],
        tolerance=_TOLERANCE,
        details=False,
        # The transfer product of a median takes seconds; a draw of samples decides as much.
        quick=name.startswith("median"),
    )
    try:
        setting = question.setting(omission(parameters))
    except Unattainable:
        return _UNATTAINABLE
    error = setting.error(rng)
    return {
        "error": error.value,
        "low": error.low,
        "high": error.high if math.isfinite(error.high) else None,
        "method": error.method,
        **_base(setting),
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


def _baseline(shared: Row, rng: np.random.Generator) -> _Baseline:
    points, seed = _points(shared["data"], shared["bounds"]), int(rng.integers(2**63))
    question = _clustering_question(shared, points, seed)
    losses = question.setting(NoOmission()).runs().first(shared["runs"])
    return _Baseline(points, seed, losses)


def _clustering_question(parameters: Row, points: Points, seed: int) -> Question:
    mechanism: Any = CLUSTERINGS[parameters["mechanism"]]
    return Question(
        points,
        replace(mechanism, metric=parameters["measured_on"]),
        Guarantee(parameters["epsilon"]),
        runs=parameters["runs"],
        seed=seed,
        noise_reduction=parameters.get("noise_reduction", True),
    )


def _clustering_loss(parameters: Row, baseline: _Baseline, rng: np.random.Generator) -> Row:
    """Return the mean loss and its difference to that without omission, run by run."""
    question = _clustering_question(parameters, baseline.points, baseline.seed)
    try:
        setting = question.setting(omission(parameters))
    except Unattainable:
        return _UNATTAINABLE
    losses = baseline.losses
    if parameters["kind"] != "none":
        losses = setting.runs().first(parameters["runs"])
    value, deviation = _mean_and_error(losses)
    difference, difference_deviation = _mean_and_error(losses - baseline.losses)
    return {
        "error": value,
        "low": value - NORMAL * deviation,
        "high": value + NORMAL * deviation,
        "method": "simulated",
        **_base(setting),
        "difference": difference,
        "difference_deviation": difference_deviation,
    }


def _mean_and_error(values: FloatArray) -> tuple[float, float]:
    """Return the mean and its standard error, of the runs in which something was measured."""
    present = values[~np.isnan(values)]
    if len(present) < 2:
        raise InvalidInput("A simulated loss needs at least two runs that leave a record.")
    return float(present.mean()), float(present.std(ddof=1) / math.sqrt(len(present)))


def _clustering_cost(parameters: Row) -> float:
    """Return about how long a cell takes, in passes over all records of Adult."""
    runs = float(parameters["runs"])
    if parameters["mechanism"].startswith("k-median"):
        return 4 * runs
    kept = 1.0
    if parameters["kind"] == "poisson":
        kept = parameters["rate"]
    elif parameters["kind"] == "outlier-score":
        kept = 1 - 0.5 * (parameters["m"] + parameters["M"])
    iterations = 20 if "published" in parameters["mechanism"] else 5
    return runs * (1 + iterations * kept)


COLUMN_ERROR = Computation(
    "error of a statistic of a column", 1, _column_error, read_column, ("data", "column")
)
OWN_ERROR = Computation(
    "error of a statistic of own data",
    1,
    _column_error,
    read_column,
    ("data", "column", "lower", "upper", "content"),
)
BEYOND_ERROR = Computation(
    "error of a statistic of a column, beyond the paper",
    1,
    _column_error,
    read_column,
    OWN_ERROR.shared,
)
AS_PUBLISHED_ERROR = Computation(
    "error of a statistic of a column, by the authors' code",
    1,
    _column_error,
    read_column,
    ("data", "column"),
)
CLUSTERING_LOSS = Computation(
    "loss of a clustering",
    3,
    _clustering_loss,
    _baseline,
    ("data", "bounds", "mechanism", "epsilon", "runs", "measured_on"),
    _clustering_cost,
)


def shown_mechanism(mechanism: str) -> str:
    """Return what people call a mechanism.

    Examples
    --------
    >>> shown_mechanism("mode, exponential"), shown_mechanism("mode, exponential mechanism")
    ('mode, exponential noise', 'mode, exponential mechanism')
    """
    noise = mechanism.rpartition(", ")[2]
    return f"{mechanism} noise" if noise in ("Laplace", "Gaussian", "exponential") else mechanism


def figures_on(data: OwnData) -> tuple[PaperFigure, ...]:
    """Return the paper's kinds of figures for the mean and the mode of other data."""
    is_text = read_column(data.parameters).is_text
    mechanisms = _MODES if is_text else tuple(COLUMN_MECHANISMS)
    subjects = tuple(Subject(data.source, data.column, name, data) for name in mechanisms)
    return (
        PaperFigure(1, "sampling", subjects),
        *(PaperFigure(2 + i, "suppression", (one,)) for i, one in enumerate(subjects)),
    )


MISSED_IN_A_CELL = 6.334248366623973e-05
"""How often the interval of a simulated difference may miss, so that of all cells hardly any is
judged by luck: one of 15,800, four standard deviations of a normal law."""

# Exact errors that are known to this and cannot be told apart are the same.
_SAME = 1e-9

_SHOWN = (
    *("data", "column", "mechanism", "epsilon", "kind", "rate", "m", "M", "bound"),
    *("noise_reduction", "base_epsilon", "base_delta", "kept", "error", "low", "high", "method"),
    *("without_omission", "gain", "standing"),
)


def judged_cells(computed: Computed) -> pd.DataFrame | None:
    """Return the judged table of everything that was computed, or None if nothing was."""
    results = computed.frame(COLUMN_ERROR, OWN_ERROR, CLUSTERING_LOSS)
    return None if results.empty else judged(results)


def judged(results: pd.DataFrame) -> pd.DataFrame:
    """Return the table of results with the error without omission, the gain and the standing.

    `gain` is the error without omission less that with it, as the paper's plots show it: positive
    where leaving records out helps. `standing` is better, worse, equal, undecided or unattainable:
    by the intervals of exact errors, which are equal if both are known to `_SAME` and overlap, and
    where something was simulated by the interval of the difference that misses in
    `MISSED_IN_A_CELL`.
    """
    table = results.copy()
    names = ["column", "measured_on", "bounds", "exact"]
    for name in (*names, "difference", "difference_deviation"):
        if name not in table:
            table[name] = None
    for name in ("error", "low", "high", "rate", "m", "M", "difference", "difference_deviation"):
        table[name] = pd.to_numeric(table[name])
    for name in names:
        table[name] = table[name].astype(object).where(table[name].notna(), "")
    keys = ["data", "mechanism", "epsilon", "runs", *names]
    plain = table[table["kind"] == "none"][[*keys, "error", "low", "high", "method"]]
    plain = plain.rename(
        columns={
            "error": "without_omission",
            "low": "plain_low",
            "high": "plain_high",
            "method": "plain_method",
        }
    )
    table = table.merge(plain, on=keys, how="left", validate="many_to_one")
    table["gain"] = table["without_omission"] - table["error"]
    # Half of a 95 % interval is 1.96 standard errors; an exact one has next to no width.
    deviation = np.hypot(
        (table["high"] - table["low"]) / (2 * NORMAL),
        (table["plain_high"] - table["plain_low"]) / (2 * NORMAL),
    )
    paired = table["difference"].notna()
    spread = np.where(paired, table["difference_deviation"], deviation)
    margin = spread * student_quantile(table["runs"].astype(float), MISSED_IN_A_CELL)
    of_difference = judge_all(-table["gain"] - margin, -table["gain"] + margin)
    of_errors = judge_all(table["low"], table["high"], table["plain_low"], table["plain_high"])
    width = (table["high"] - table["low"]) + (table["plain_high"] - table["plain_low"])
    both_exact = (table["method"] == "exact") & (table["plain_method"] == "exact")
    table["standing"] = np.select(
        [
            table["kind"] == "none",
            table["error"].isna(),
            table["method"] == "simulated",
            both_exact & (width <= _SAME) & (of_errors == "undecided"),
        ],
        ["baseline", "unattainable", of_difference, "equal"],
        of_errors,
    )
    return table


def of_subject(table: pd.DataFrame, subject: Subject) -> pd.DataFrame:
    """Return the rows of a subject."""
    return table[
        (table["data"] == subject.data)
        & (table["column"] == (subject.column or ""))
        & (table["mechanism"] == subject.mechanism)
    ]


def subjects_of(table: pd.DataFrame) -> list[Subject]:
    """Return the statistics in a table, in its order."""
    lines = table[["data", "column", "mechanism"]].drop_duplicates()
    return [Subject(data, column or None, name) for data, column, name in lines.to_numpy()]


def of_figure(table: pd.DataFrame, figure: PaperFigure) -> pd.DataFrame:
    """Return the rows that a figure shows, in its order."""
    kind = "poisson" if figure.kind == "sampling" else "outlier-score"
    parts = []
    for subject in figure.subjects:
        rows = of_subject(table, subject)
        shown = (rows["kind"] == kind) & (rows["noise_reduction"] == figure.noise_reduction)
        parts.append(rows[(rows["kind"] == "none") | shown])
    return pd.concat(parts)[list(_SHOWN)]
