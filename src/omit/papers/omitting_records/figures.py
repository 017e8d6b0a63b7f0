"""The figures of the paper on omitting records, drawn from the table of their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit._text import rounded_up, short_gain, show_duration, usable
from omit.errors import InvalidInput
from omit.omissions import outlier_score
from omit.omissions.outlier_score import mixture_epsilon, published_epsilon
from omit.papers.base import Computed, Exhibit, OwnData
from omit.papers.omitting_records import cells
from omit.papers.omitting_records.cells import PaperFigure, Subject, of_subject
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


def sampling_figure(figure: PaperFigure, table: pd.DataFrame) -> Figure:
    """Return errors over the sampling rate, drawn from the table of all cells."""
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
    axes.set_title(f"{subject.mechanism}: {subject.data_name}", fontsize=10)
    axes.grid(alpha=0.25)


def suppression_figure(figure: PaperFigure, table: pd.DataFrame) -> Figure:
    """Return differences over (m, M), drawn from the table of all cells."""
    epsilons = sorted(set(table["epsilon"]))
    bounds = cells.BOUNDS if figure.noise_reduction else cells.BOUNDS[:1]
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
    names = dict.fromkeys(subject.data_name for subject in figure.subjects)
    drawing.suptitle(
        f"{', '.join(names)}: error with all records less error after outlier-score suppression "
        "(positive: suppression helps; empty: the guarantee cannot be reached)",
        fontsize=11,
    )
    return drawing


def _unit(subject: Subject, largest: float) -> tuple[float, str]:
    """Return by what gains are multiplied so that they can be read, and the unit then."""
    if subject.statistic in ("mean", "mode"):
        return 1.0 if subject.statistic == "mean" else 100.0, "percentage points"
    return (1000.0, "thousandths") if largest < 0.5 else (1.0, "scaled units")


def _grid(rows: pd.DataFrame, values: pd.Series[Any]) -> FloatArray:
    """Return values of the rows by m and M, `nan` where there is none."""
    grid = np.full((len(cells.PROBABILITIES), len(cells.PROBABILITIES)), np.nan)
    index = {probability: i for i, probability in enumerate(cells.PROBABILITIES)}
    for m, M, value in zip(rows["m"], rows["M"], values, strict=True):
        grid[index[m], index[M]] = value
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

    heat_map(axes, colours, number, cells.PROBABILITIES, cells.PROBABILITIES)
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


_SAMPLING = (
    "Every release on a line has the same guarantee. Grey: 95 % interval of simulated errors; "
    "lines without are exact."
)
_SUPPRESSION = "Blue: suppression helps, orange: it hurts, white with grey numbers: undecided."
_LINE = "To the right of the line suppression amplifies privacy by the named bound."
_WITHOUT = (
    "The mechanism alone has the guarantee; its noise is not reduced. Releases differ in privacy."
)


PRIVACY_EPSILONS = (0.0, 0.5, 1.0, 2.0)
_MOST_COLUMNS = 20
_LARGEST_EPSILON = 100.0

# Steps of about 1.5 to 2, so that lines neither crowd near the corner nor leave the middle empty.
_LEVELS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 15, 30, 60)
# Light and dark enough to be told apart in grey.
_AMPLIFIED = "#74a9cf"
_WORSE = "#fee8d2"

REGIONS = (
    ("copies of one record, one far away (p = 1)", "#fdae6b", ""),
    ("records far apart, one between them (p = 0)", "#a1d99b", "..."),
    ("copies of one record, in the other direction", "#bcbddc", "xxx"),
    ("a mixture of both (0 < p < 1)", "#f7f7f7", "///"),
)


def privacy_figure(epsilons: Sequence[float] = PRIVACY_EPSILONS, resolution: int = 240) -> Figure:
    """Return the privacy of outlier-score suppression as a picture (Figures 2 and 75).

    Columns are the epsilon of the mechanism, axes the smallest and largest probability of deletion.
    The first two rows show epsilon of the release, by Theorem 5.4 and by the mixture bound, with
    the region in which privacy is amplified. The third shows which term of Theorem 5.4 is the
    largest, and so which databases lose most by its proof.

    Parameters
    ----------
    epsilons : sequence of float
        The epsilon of the mechanism in every column.
    resolution : int
        Grid points along each axis.

    Raises
    ------
    InvalidInput
        If there are too many columns, or an epsilon is beyond all contours.
    """
    if not 1 <= len(epsilons) <= _MOST_COLUMNS or max(epsilons) > _LARGEST_EPSILON:
        raise InvalidInput(
            f"Expected one to {_MOST_COLUMNS} columns with an epsilon of at most "
            f"{_LARGEST_EPSILON:g}."
        )
    columns = len(epsilons)
    figure, axes = panels(2.75 * columns + 0.9, 9.4, 3, columns, sharex=True, sharey=True)
    axis = (np.arange(resolution) + 0.5) / resolution
    m, M = np.meshgrid(axis, axis)
    # Values on the diagonal are repeated below it, so that areas run up to it.
    M = np.maximum(M, m + 0.25 / resolution)
    for column, epsilon in enumerate(epsilons):
        axes[0, column].set_title(f"mechanism: ε = {usable(epsilon)}", fontsize=11)
        for row, bound in enumerate((published_epsilon, mixture_epsilon)):
            _draw_contours(axes[row, column], bound, epsilon, m, M)
        _draw_regions(axes[2, column], epsilon, m, M)
        axes[2, column].set_xlabel("m, smallest probability of deletion", fontsize=9)
    shown = ("ε of the release\npublished", "ε of the release\nmixture")
    for row, name in enumerate((*shown, "largest term of the\npublished")):
        axes[row, 0].set_ylabel(f"{name} bound\n\nM, largest probability of deletion", fontsize=9)
    figure.suptitle("What outlier-score suppression leaves of ε", fontsize=13)
    _draw_legends(figure)
    return figure


def regions(epsilon: float, m: FloatArray, M: FloatArray) -> FloatArray:
    """Return the number of the region at every (m, M), in the order of `REGIONS`.

    Examples
    --------
    >>> regions(0.5, np.array([0.1, 0.45]), np.array([0.2, 0.9]))
    array([0., 1.])
    """
    first, second, third = outlier_score.published_terms(epsilon, m, M)
    l1, l2 = outlier_score.maximiser_l1, outlier_score.maximiser_l2
    p = np.where(first >= second, l1(epsilon, m, M), l2(epsilon, m, M))
    inside = np.where(p == 1, 0.0, np.where(p == 0, 1.0, 3.0))
    return np.where(third > np.maximum(first, second), 2.0, inside)


def _draw_contours(
    axes: Axes,
    bound: Callable[[float, FloatArray, FloatArray], FloatArray],
    epsilon: float,
    m: FloatArray,
    M: FloatArray,
) -> None:
    values = bound(epsilon, m, M)
    extent = m[0], m[0]
    # A bound equal to epsilon up to rounding amplifies: without the margin the boundary flickers.
    margin = 1e-12
    axes.contourf(*extent, values, levels=[-1, epsilon + margin, 1e9], colors=[_AMPLIFIED, _WORSE])
    levels = [level for level in _LEVELS if level != epsilon]
    _cover_below_diagonal(axes)
    above = np.ma.masked_where(np.triu(np.ones_like(values), k=1) > 0, values)
    lines = axes.contour(*extent, above, levels=levels, colors="0.25", linewidths=0.7)
    axes.clabel(lines, fmt=lambda value: f"{value:g}", fontsize=7)
    if epsilon > 0:
        axes.contour(*extent, above, levels=[epsilon], colors="#08306b", linewidths=2.2)
    elif float(values.max()) == 0:
        axes.text(0.3, 0.75, "ε = 0\neverywhere", ha="center", fontsize=9)
    _frame(axes)


def _draw_regions(axes: Axes, epsilon: float, m: FloatArray, M: FloatArray) -> None:
    axes.contourf(
        m[0],
        m[0],
        regions(epsilon, m, M),
        levels=[-0.5, 0.5, 1.5, 2.5, 3.5],
        colors=[colour for _, colour, _ in REGIONS],
        hatches=[hatch for _, _, hatch in REGIONS],
    )
    _cover_below_diagonal(axes)
    _frame(axes)


def _cover_below_diagonal(axes: Axes) -> None:
    axes.fill([0, 1, 1], [0, 0, 1], color="white", zorder=2.5)


def _frame(axes: Axes) -> None:
    axes.plot([0, 1], [0, 1], color="0.4", linewidth=1, linestyle=":", zorder=3)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes.tick_params(labelsize=8)


def _draw_legends(figure: Figure) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    bounds: list[Any] = [
        Patch(color=_AMPLIFIED, label="privacy is amplified (ε of the release ≤ ε)"),
        Patch(color=_WORSE, label="privacy is lost"),
        Line2D([], [], color="#08306b", linewidth=2, label="unchanged"),
        Line2D([], [], color="0.4", linestyle=":", label="m = M: Poisson sampling"),
    ]
    worst = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="0.3", label=name)
        for name, colour, hatch in REGIONS
    ]
    figure.legend(
        handles=[*bounds, *worst],
        loc="outside lower center",
        ncols=2,
        fontsize=9,
        frameon=False,
        title="Rows 1 and 2 (left), row 3: which databases lose most by Theorem 5.4 (right)",
        title_fontsize=9,
    )


def _title(figure: PaperFigure) -> str:
    if figure.kind == "privacy":
        return f"Figure {figure.number}: privacy of outlier-score suppression"
    what = "Poisson sampling" if figure.kind == "sampling" else "outlier-score suppression"
    by_data: dict[str, list[str]] = {}
    for subject in figure.subjects:
        by_data.setdefault(subject.data_name, []).append(subject.mechanism)
    names = "; ".join(f"{data} ({'; '.join(of)})" for data, of in by_data.items())
    less = "" if figure.noise_reduction else ", without noise reduction"
    return f"Figure {figure.number}: {what}{less}: {names}"


def _table(computed: Computed) -> pd.DataFrame:
    table = computed.once(cells.judged_cells)
    assert table is not None
    return table


def _exhibit(figure: PaperFigure) -> Exhibit:
    name, title = f"figure-{figure.number:02d}", _title(figure)
    if figure.kind == "privacy":
        return Exhibit(
            name,
            title,
            "What outlier-score suppression leaves of ε, by both bounds; nothing is simulated.",
            _privacy_numbers,
            lambda computed: privacy_figure(computed.settings.epsilons or PRIVACY_EPSILONS),
        )
    caption, draw = _SAMPLING, sampling_figure
    if figure.kind == "suppression":
        words = (_SUPPRESSION, _LINE) if figure.noise_reduction else (_WITHOUT, _SUPPRESSION)
        caption, draw = " ".join(words), suppression_figure
    return Exhibit(
        name,
        title,
        caption,
        lambda computed: cells.of_figure(_table(computed), figure),
        lambda computed: draw(figure, _table(computed)),
        partial(cells.figure_cells, figure),
        tuple(dict.fromkeys(one.data for one in figure.subjects if one.own is None)),
    )


def _privacy_numbers(computed: Computed) -> pd.DataFrame:
    """Return both bounds on a grid."""
    steps = np.round(0.05 * np.arange(1, 20), 2)
    m, M = (steps[index] for index in np.triu_indices(len(steps)))
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "epsilon": epsilon,
                    "m": m,
                    "M": M,
                    "published": published_epsilon(epsilon, m, M),
                    "mixture": mixture_epsilon(epsilon, m, M),
                }
            )
            for epsilon in computed.settings.epsilons or PRIVACY_EPSILONS
        ]
    )


def survival(computed: Computed) -> pd.DataFrame | None:
    """Return, by statistic and data, how suppression stands under either privacy bound.

    A line per subject and bound: in how many cells (epsilon, m, M) suppression at the same
    guarantee is better, worse, undecided or cannot reach it, and whether the paper's conclusion
    (nothing beats using all records) survives. None if no such cell was computed.
    """
    table = computed.once(cells.judged_cells)
    if table is None:
        return None
    lines = []
    for subject in cells.subjects_of(table):
        rows = of_subject(table, subject)
        rows = rows[(rows["kind"] == "outlier-score") & rows["noise_reduction"]]
        for bound, part in rows.groupby("bound"):
            standings = ("worse", "undecided", "better", "unattainable")
            counts = {name: int((part["standing"] == name).sum()) for name in standings}
            survives = "yes" if counts["worse"] else "nothing decided"
            if counts["better"]:
                survives = f"not in {counts['better']} cells"
            line = {"statistic": subject.mechanism, "data": subject.data_name, "bound": bound}
            lines.append({**line, **counts, "conclusion survives": survives})
    return pd.DataFrame(lines) if lines else None


def side_by_side(computed: Computed) -> pd.DataFrame:
    """Return a line per statistic and data, with the counts of both bounds in words."""
    surviving = survival(computed)
    assert surviving is not None
    lines = []
    for (statistic, data), part in surviving.groupby(["statistic", "data"], sort=False):
        line = {"statistic": statistic, "data": data}
        for row in part.to_dict("records"):
            counts = [(row[name], name) for name in ("worse", "undecided", "better")]
            line[f"{row['bound']} bound"] = ", ".join(f"{n} {name}" for n, name in counts if n)
        said = dict(zip(part["bound"], part["conclusion survives"], strict=True))
        together = [f"{bound}: {words}" for bound, words in said.items()]
        line["survives"] = "; ".join(
            together if len(set(said.values())) > 1 else set(said.values())
        )
        lines.append(line)
    return pd.DataFrame(lines)


CONCLUSION = Exhibit(
    "conclusion",
    "Does the paper's conclusion survive the tight privacy bound?",
    "At the same guarantee: in how many of 180 cells (ε, m, M) suppression is worse or better than "
    "no omission; the others cannot reach the guarantee by that bound. Undecided: modes that are "
    "never missed either way, and differences that the runs do not resolve.",
    survival,
    shown=side_by_side,
)
EXHIBITS = (CONCLUSION, *(_exhibit(figure) for figure in cells.FIGURES.values()))


def exhibits_on(data: OwnData) -> tuple[Exhibit, ...]:
    """Return the paper's kinds of figures for other data."""
    return (CONCLUSION, *(_exhibit(figure) for figure in cells.figures_on(data)))


def notes(computed: Computed) -> tuple[str, ...]:
    """Return how the work was split by statistic."""
    timings = computed.results.timings()
    if timings.empty:
        return ()
    statistic = timings["mechanism"].str.split(",").str[0]
    split = timings.groupby(statistic)["seconds"].sum().sort_values(ascending=False)
    parts = ", ".join(f"{name} {show_duration(seconds)}" for name, seconds in split.items())
    authors = " The authors state about five days on 64 cores."
    whose = "" if computed.settings.data is not None else authors
    return (f"Work by statistic, summed over cores: {parts}.{whose}",)
