"""The figures of the paper on omitting records, drawn from the table of their cells."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit._text import rounded_up, short_gain
from omit.omissions.outlier_score import mixture_epsilon, published_epsilon
from omit.papers.base import Computed, Exhibit, OwnData
from omit.papers.omitting_records.cells import (
    FIGURES,
    PROBABILITIES,
    PaperFigure,
    Subject,
    figure_cells,
    figures_on,
)
from omit.papers.omitting_records.claims import judged_cells, of_figure, of_subject, survival
from omit.papers.omitting_records.privacy_figure import PRIVACY_EPSILONS, privacy_figure
from omit.papers.reproduction import duration
from omit.report.figure import epsilon_label, epsilon_style, heat_map, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INVISIBLE = 0.01
_LABELS = {
    "mean": "expected relative error, %",
    "mode": "probability of a wrong mode",
    "DPLloyd": "normalised intra-cluster variance",
    "k-median": "average cost",
}


def paper_figure(figure: PaperFigure, table: pd.DataFrame) -> Figure:
    """Return a figure of the paper, drawn from the table of all cells."""
    if figure.kind == "privacy":
        return privacy_figure()
    if figure.kind == "sampling":
        return _sampling_figure(figure, table)
    return _suppression_figure(figure, table)


def _sampling_figure(figure: PaperFigure, table: pd.DataFrame) -> Figure:
    count = len(figure.subjects)
    columns = 3 if count in (3, 6) else 2
    rows = -(-count // columns)
    drawing, grid = panels(4.6 * columns, 3.7 * rows + 0.5, rows, columns)
    for axes, subject in zip(grid.flat, figure.subjects, strict=True):
        _draw_sampling(axes, subject, of_subject(table, subject))
    handles, labels = grid[0, 0].get_legend_handles_labels()
    drawing.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=len(labels),
        frameon=False,
        title="guarantee of the release; thin line of the same kind: all records, no sampling",
        title_fontsize=9,
    )
    return drawing


def _draw_sampling(axes: Axes, subject: Subject, rows: pd.DataFrame) -> None:
    sampled = rows[rows["kind"] == "poisson"]
    for epsilon in sorted(set(rows["epsilon"])):
        style = epsilon_style(epsilon)
        part = sampled[sampled["epsilon"] == epsilon].sort_values("rate")
        plain = rows[(rows["kind"] == "none") & (rows["epsilon"] == epsilon)]["error"]
        rates = 100 * part["rate"].to_numpy()
        axes.fill_between(rates, part["low"], part["high"], color="0.85", linewidth=0)
        axes.plot(rates, part["error"], label=epsilon_label(epsilon), **style)
        axes.axhline(float(plain.iloc[0]), linewidth=0.7, **style)
    if subject.statistic == "mean":
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axes.set_ylim(0, 1 if subject.statistic == "mode" else None)
    most = rows["high"].max()
    if subject.statistic == "mode" and most < _INVISIBLE:
        axes.text(50, 0.5, f"missed with probability\nat most {rounded_up(most, 1)}", ha="center")
    axes.set_xlim(0, 100)
    axes.set_xlabel("sampling rate, % of records kept")
    axes.set_ylabel(_LABELS[subject.statistic])
    axes.set_title(subject.title, fontsize=10)
    axes.grid(alpha=0.25)


def _suppression_figure(figure: PaperFigure, table: pd.DataFrame) -> Figure:
    epsilons = sorted(set(table["epsilon"]))
    bounds = ("mixture", "published") if figure.noise_reduction else ("mixture",)
    lines = [(subject, bound) for subject in figure.subjects for bound in bounds]
    drawing, grid = panels(
        3.4 * max(len(epsilons), 2), 3.6 * len(lines) + 0.4, len(lines), len(epsilons),
        sharex=True, sharey=True,
    )  # fmt: skip
    for panel, (subject, bound) in zip(grid, lines, strict=True):
        rows = of_subject(table, subject)
        rows = rows[(rows["kind"] == "outlier-score") & (rows["bound"] == bound)]
        rows = rows[rows["noise_reduction"] == figure.noise_reduction]
        unit = _unit(subject, rows["gain"].abs().max())
        decided = rows[rows["standing"] != "undecided"]["gain"].abs().max()
        for axes, epsilon in zip(panel, epsilons, strict=True):
            part = rows[rows["epsilon"] == epsilon]
            sure = _grid(part, part["standing"] != "undecided")
            _draw_gains(axes, _grid(part, part["gain"]) * unit[0], sure == 1, decided * unit[0])
            if figure.noise_reduction:
                _draw_unchanged(axes, epsilon, bound)
            axes.set_title(epsilon_label(epsilon), fontsize=10)
        under = f"\n{bound} bound" if figure.noise_reduction else "\nsame mechanism"
        panel[0].set_ylabel(f"{subject.mechanism}{under}\ngain, {unit[1]}\n\nM", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("m, smallest probability of deletion", fontsize=9)
    places = dict.fromkeys(each.place for each in figure.subjects)
    drawing.suptitle(
        f"{', '.join(places)}: error with all records less error after outlier-score suppression "
        "(positive: suppression helps; empty: the guarantee cannot be reached)",
        fontsize=11,
    )
    return drawing


def _unit(subject: Subject, largest: float) -> tuple[float, str]:
    """Return by what gains are multiplied so that they can be read, and the unit then."""
    if subject.statistic == "mean":
        return 1.0, "percentage points"
    if subject.statistic == "mode":
        return 100.0, "percentage points"
    return (1000.0, "thousandths") if largest < 0.5 else (1.0, "scaled units")


def _grid(rows: pd.DataFrame, values: pd.Series[Any]) -> FloatArray:
    """Return values of the rows by m and M, `nan` where there is none."""
    grid = np.full((len(PROBABILITIES), len(PROBABILITIES)), np.nan)
    place = {probability: i for i, probability in enumerate(PROBABILITIES)}
    for m, M, value in zip(rows["m"], rows["M"], values, strict=True):
        grid[place[m], place[M]] = value
    return grid


def _draw_gains(axes: Axes, gains: FloatArray, sure: NDArray[np.bool_], largest: float) -> None:
    """Draw gains as numbers, on colours if they are decided; `largest` has the full colour."""
    decided = np.where(sure | np.isnan(gains), gains, 0.0)
    # By the square root, so that small ones show.
    colours = np.sign(decided) * np.sqrt(np.abs(decided) / (largest if largest > 0 else 1.0))

    def number(i: int, j: int) -> tuple[str, dict[str, Any]] | None:
        if not np.isfinite(gains[i, j]):
            return None
        text = short_gain(gains[i, j])
        if not sure[i, j] and text in ("+0", "-0"):
            text = "0"
        return text, {"color": "black" if sure[i, j] else "0.55"}

    heat_map(axes, colours, number, PROBABILITIES, PROBABILITIES)
    axes.fill([0.05, 0.95, 0.95], [-0.05, 0.85, -0.05], color="white", zorder=1.5)
    axes.set(xticks=[0.1, 0.5, 0.9], yticks=[0.1, 0.5, 0.9])


def _draw_unchanged(axes: Axes, epsilon: float, bound: str) -> None:
    """Draw where suppression leaves privacy as it is, below the numbers."""
    known = mixture_epsilon if bound == "mixture" else published_epsilon
    fine = np.linspace(0.05, 0.949, 180)
    m, M = np.meshgrid(fine, fine)
    values = np.ma.masked_where(m > M, known(epsilon, np.minimum(m, M), np.maximum(m, M)))
    if values.min() < epsilon < values.max():
        axes.contour(m, M, values, levels=[epsilon], colors="#6baed6", linewidths=2)


_GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))

_SAMPLING = (
    "Every release on a line has the same guarantee. Grey: 95 % interval of simulated errors; "
    "lines without are exact."
)
_SUPPRESSION = "Blue: suppression helps, orange: it hurts, white with grey numbers: undecided."
_LINE = "To the right of the line suppression amplifies privacy by the named bound."
_WITHOUT = (
    "The mechanism alone has the guarantee; its noise is not reduced. Releases differ in privacy."
)


def _side_by_side(surviving: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each statistic and data, with the counts of both bounds in words."""
    lines = []
    for (statistic, data), part in surviving.groupby(["statistic", "data"], sort=False):
        line = {"statistic": statistic, "data": data}
        for row in part.to_dict("records"):
            counts = [(row[name], name) for name in ("worse", "undecided", "better")]
            line[f"{row['bound']} bound"] = ", ".join(f"{n} {name}" for n, name in counts if n)
        said = dict(zip(part["bound"], part["conclusion survives"], strict=True))
        if len(set(said.values())) == 1:
            line["survives"] = next(iter(said.values()))
        else:
            line["survives"] = "; ".join(f"{bound}: {each}" for bound, each in said.items())
        lines.append(line)
    return pd.DataFrame(lines)


def _subject(figure: PaperFigure) -> str:
    if figure.kind == "privacy":
        return "privacy of outlier-score suppression"
    what = "Poisson sampling" if figure.kind == "sampling" else "outlier-score suppression"
    by_place: dict[str, list[str]] = {}
    for subject in figure.subjects:
        by_place.setdefault(subject.place, []).append(subject.mechanism)
    names = "; ".join(f"{place} ({'; '.join(of)})" for place, of in by_place.items())
    less = "" if figure.noise_reduction else ", without noise reduction"
    return f"{what}{less}: {names}"


def _table(computed: Computed) -> pd.DataFrame:
    table = computed.once(judged_cells)
    assert table is not None
    return table


def _exhibit(figure: PaperFigure) -> Exhibit:
    caption = _SAMPLING if figure.kind == "sampling" else f"{_SUPPRESSION} {_LINE}"
    if not figure.noise_reduction:
        caption = f"{_WITHOUT} {_SUPPRESSION}"
    title = f"Figure {figure.number}: {_subject(figure)}"
    if figure.kind == "privacy":
        return Exhibit(
            figure.name,
            figure.number,
            "figure",
            title,
            "What outlier-score suppression leaves of ε, by both bounds; nothing is simulated.",
            _privacy_numbers,
            lambda computed: privacy_figure(computed.settings.epsilons or PRIVACY_EPSILONS),
            lambda settings: (),
        )
    return Exhibit(
        figure.name,
        figure.number,
        "figure",
        title,
        caption,
        lambda computed: of_figure(_table(computed), figure),
        lambda computed: paper_figure(figure, _table(computed)),
        partial(figure_cells, figure),
        tuple(dict.fromkeys(each.data for each in figure.subjects if each.own is None)),
    )


def _privacy_numbers(computed: Computed) -> pd.DataFrame:
    """Return both bounds on a grid."""
    return pd.DataFrame(
        [
            {
                "epsilon": epsilon,
                "m": m,
                "M": M,
                "published": float(published_epsilon(epsilon, m, M)),
                "mixture": float(mixture_epsilon(epsilon, m, M)),
            }
            for epsilon in computed.settings.epsilons or PRIVACY_EPSILONS
            for m in _GRID
            for M in _GRID
            if m <= M
        ]
    )


def _surviving(computed: Computed) -> pd.DataFrame | None:
    table = computed.once(judged_cells)
    found = None if table is None else survival(table)
    return None if found is None or found.empty else found


def _shown_survival(computed: Computed) -> pd.DataFrame:
    found = _surviving(computed)
    assert found is not None
    return _side_by_side(found)


CONCLUSION = Exhibit(
    "conclusion",
    None,
    "table",
    "Does the paper's conclusion survive the tight privacy bound?",
    "At the same guarantee: in how many of 180 cells (ε, m, M) suppression is worse or better than "
    "no omission; the others cannot reach the guarantee by that bound. Undecided: modes that are "
    "never missed either way, and differences that the runs do not resolve.",
    _surviving,
    shown=_shown_survival,
)
EXHIBITS = (CONCLUSION, *(_exhibit(figure) for figure in FIGURES.values()))


def exhibits_on(data: OwnData) -> tuple[Exhibit, ...]:
    """Return the paper's kinds of figures for other data."""
    return (CONCLUSION, *(_exhibit(figure) for figure in figures_on(data)))


def notes(computed: Computed) -> tuple[str, ...]:
    """Return how the work was split by statistic."""
    timings = computed.results.timings()
    if timings.empty:
        return ()
    statistic = timings["mechanism"].str.split(",").str[0]
    split = timings.groupby(statistic)["seconds"].sum().sort_values(ascending=False)
    parts = ", ".join(f"{name} {duration(seconds)}" for name, seconds in split.items())
    authors = " The authors state about five days on 64 cores."
    whose = "" if computed.settings.data is not None else authors
    return (f"Work by statistic, summed over cores: {parts}.{whose}",)
