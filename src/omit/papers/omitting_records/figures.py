"""The figures of the paper on omitting records, drawn from the table of their cells."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit._text import rounded_up, short_gain, show_duration
from omit.omissions.outlier_score import mixture_epsilon, published_epsilon
from omit.papers.base import Computed, Exhibit, OwnData, Settings
from omit.papers.omitting_records import artefact, cells, privacy_figures
from omit.papers.omitting_records.cells import PaperFigure, Subject, of_subject, shown_mechanism
from omit.papers.omitting_records.privacy_figures import PRIVACY_EPSILONS
from omit.report.figure import epsilon_label, epsilon_style, heat_map, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omit.study.cell import Cell

_DECIDED = ("worse", "better")
_INVISIBLE = 0.01
_SMALLEST = 1e-14  # what is below is drawn there
_LABELS = {
    "mean": "expected relative error, %",
    "mode": "probability of a wrong mode",
    "DPLloyd": "normalised intra-cluster variance",
    "k-median": "average cost",
}


def sampling_figure(
    figure: PaperFigure, table: pd.DataFrame, published: pd.DataFrame | None = None
) -> Figure:
    """Return errors over the sampling rate, drawn from the table of all cells.

    Averages that the authors published are laid over as dots, if there are any.
    """
    count = len(figure.subjects)
    columns = 3 if count in (3, 6) else 2
    rows = -(-count // columns)
    drawing, grid = panels(4.6 * columns, 3.7 * rows + 0.5, rows, columns)
    for axes, subject in zip(grid.flat, figure.subjects, strict=True):
        _draw_sampling(axes, subject, of_subject(table, subject))
        if published is not None and not published.empty:
            _draw_published(axes, of_subject(published, subject))
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
        _draw_invisible(axes, sampled, most)
    axes.set_xlim(0, 100)
    axes.set_xlabel("sampling rate, % of records kept")
    axes.set_ylabel(_LABELS[subject.statistic])
    axes.set_title(f"{shown_mechanism(subject.mechanism)}\n{subject.data_name}", fontsize=10)
    axes.grid(alpha=0.25)


def _draw_published(axes: Axes, rows: pd.DataFrame) -> None:
    for epsilon, part in rows.groupby("epsilon"):
        colour = epsilon_style(float(epsilon))["color"]
        axes.plot(100 * part["rate"], part["published"], linestyle="none", marker=".", color=colour)


def _draw_invisible(axes: Axes, sampled: pd.DataFrame, most: float) -> None:
    """Draw what probabilities are at most, on a logarithmic axis, where all are next to nothing."""
    axes.clear()
    for epsilon, part in sampled.sort_values("rate").groupby("epsilon"):
        shown = np.maximum(part["high"], _SMALLEST)
        label = epsilon_label(float(epsilon))
        axes.plot(100 * part["rate"], shown, label=label, **epsilon_style(float(epsilon)))
    axes.set_yscale("log")
    axes.set_ylim(_SMALLEST / 3, 1)
    text = f"missed with probability\nat most {rounded_up(most, 1)} (drawn: the upper ends)"
    axes.text(50, 0.3, text, ha="center", va="top")


# Of a title, so that none is wider than its figure.
_LETTERS_PER_INCH = 11


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
        decided = rows[rows["standing"].isin(_DECIDED)]["gain"].abs().max()
        for axes, epsilon in zip(panel, epsilons, strict=True):
            part = rows[rows["epsilon"] == epsilon]
            sure = _grid(part, part["standing"].isin(_DECIDED)) == 1
            equal = _grid(part, part["standing"] == "equal") == 1
            gains = _grid(part, part["gain"]) * unit[0]
            _draw_gains(axes, gains, sure, equal, decided * unit[0])
            if figure.noise_reduction:
                _draw_unchanged(axes, epsilon, bound)
            axes.set_title(epsilon_label(epsilon), fontsize=10)
        under = f"\n{bound} bound" if figure.noise_reduction else "\nsame mechanism"
        named = shown_mechanism(subject.mechanism)
        panel[0].set_ylabel(f"{named}{under}\ngain, {unit[1]}\n\nM", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("m, smallest probability of deletion", fontsize=9)
    names = dict.fromkeys(subject.data_name for subject in figure.subjects)
    empty = "; grey: the guarantee cannot be reached" if figure.noise_reduction else ""
    title = (
        f"{', '.join(names)}: error with all records less error after outlier-score suppression "
        f"(positive: suppression helps{empty})"
    )
    letters = int(_LETTERS_PER_INCH * drawing.get_figwidth())
    drawing.suptitle(textwrap.fill(title, letters), fontsize=11)
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


def _draw_gains(
    axes: Axes,
    gains: FloatArray,
    sure: NDArray[np.bool_],
    equal: NDArray[np.bool_],
    largest: float,
) -> None:
    """Draw gains as numbers, on colours if they are decided; `largest` has the full colour."""
    decided = np.where(sure | np.isnan(gains), gains, 0.0)
    # There is nothing below the diagonal, which is not the same as out of reach.
    decided[np.tril_indices(len(decided), -1)] = 0.0
    # By the square root, so that small ones show.
    colours = np.sign(decided) * np.sqrt(np.abs(decided) / (largest if largest > 0 else 1.0))

    def number(i: int, j: int) -> tuple[str, dict[str, Any]] | None:
        if not np.isfinite(gains[i, j]):
            return None
        if equal[i, j]:
            return "=", {"color": "0.55"}
        text = short_gain(gains[i, j])
        if not sure[i, j] and text in ("+0", "-0"):
            text = "0"
        return text, {"color": "black" if sure[i, j] else "0.55"}

    heat_map(axes, colours, number, cells.PROBABILITIES, cells.PROBABILITIES)
    axes.set(xticks=[0.1, 0.5, 0.9], yticks=[0.1, 0.5, 0.9])


def _draw_unchanged(axes: Axes, epsilon: float, bound: str) -> None:
    """Draw where suppression leaves privacy as it is, below the numbers."""
    known = mixture_epsilon if bound == "mixture" else published_epsilon
    fine = np.linspace(0.05, 0.949, 180)
    m, M = np.meshgrid(fine, fine)
    values = np.ma.masked_where(m > M, known(epsilon, np.minimum(m, M), np.maximum(m, M)))
    if values.min() < epsilon < values.max():
        axes.contour(m, M, values, levels=[epsilon], colors="#6baed6", linewidths=2)


_REGIONS = "where Theorem 5.4 simplifies, and to what"
_BY_BOTH_BOUNDS = (
    "What outlier-score suppression leaves of ε, by the published and by the mixture bound; "
    "nothing is simulated."
)
_WHERE_IT_SIMPLIFIES = (
    "In a coloured region the maximum of Theorem 5.4 is at p = 0 or p = 1 or is its third term, "
    "and the databases named attain it by Theorem 5.3. The true loss is smaller (see Figure 2)."
)
_SAMPLING = (
    "Every release on a line has the same guarantee. Grey: 95 % interval of simulated errors; "
    "lines without are exact."
)
_DOTS = " Dots: the averages that the authors published."
_UNIFORM_CHOICES = (
    "The gains of k-median are next to nothing everywhere: with its many swaps, ε' is so small "
    "that centres are chosen almost uniformly with and without suppression."
)
_SUPPRESSION = (
    "Blue: suppression helps, orange: it hurts, white with grey numbers: undecided, =: exact "
    "errors that differ by less than their precision."
)
_LINE = "To the right of the line suppression amplifies privacy by the named bound."
_WITHOUT = (
    "The mechanism alone has the guarantee; its noise is not reduced. Releases differ in privacy."
)


def _title(figure: PaperFigure) -> str:
    if figure.kind == "privacy":
        what = "ε after suppression by outlier scores" if figure.number == 2 else _REGIONS
        return f"Figure {figure.number}: {what}"
    what = "Poisson sampling" if figure.kind == "sampling" else "outlier-score suppression"
    by_data: dict[str, list[str]] = {}
    for subject in figure.subjects:
        by_data.setdefault(subject.data_name, []).append(subject.mechanism)
    names = "; ".join(
        f"{data} ({'; '.join(map(shown_mechanism, of))})" for data, of in by_data.items()
    )
    less = "" if figure.noise_reduction else ", without noise reduction"
    return f"Figure {figure.number}: {what}{less}: {names}"


def _table(computed: Computed) -> pd.DataFrame:
    table = computed.once(cells.judged_cells)
    assert table is not None
    return table


def _epsilons(computed: Computed) -> Sequence[float]:
    return computed.settings.epsilons or PRIVACY_EPSILONS


def _exhibit(figure: PaperFigure) -> Exhibit:
    name, title = f"figure-{figure.number:02d}", _title(figure)
    if figure.kind == "privacy":
        is_first = figure.number == 2
        numbers, of_privacy = (
            (privacy_figures.bound_numbers, privacy_figures.bounds_figure)
            if is_first
            else (privacy_figures.region_numbers, privacy_figures.regions_figure)
        )
        return Exhibit(
            name,
            title,
            _BY_BOTH_BOUNDS if is_first else _WHERE_IT_SIMPLIFIES,
            lambda computed: numbers(_epsilons(computed)),
            lambda computed: of_privacy(_epsilons(computed)),
            quick=True,
        )
    data = tuple(dict.fromkeys(one.data for one in figure.subjects if one.own is None))
    if figure.kind == "sampling":
        return Exhibit(
            name,
            title,
            lambda computed: _SAMPLING + (_DOTS if computed.settings.artefact else ""),
            lambda computed: _with_published(figure, computed),
            lambda computed: sampling_figure(figure, _table(computed), _published(computed)),
            partial(cells.figure_cells, figure),
            data,
        )
    return Exhibit(
        name,
        title,
        partial(_suppression_caption, figure),
        lambda computed: cells.of_figure(_table(computed), figure),
        lambda computed: suppression_figure(figure, _table(computed)),
        partial(cells.figure_cells, figure),
        data,
    )


def _suppression_caption(figure: PaperFigure, computed: Computed) -> str:
    """Return what to see in a figure of suppression, also where all of its cells are alike."""
    words = (_SUPPRESSION, _LINE) if figure.noise_reduction else (_WITHOUT, _SUPPRESSION)
    more = (_UNIFORM_CHOICES,) if _is_kmedian(figure) else ()
    rows = cells.of_figure(_table(computed), figure)
    suppressed = rows[(rows["kind"] == "outlier-score") & (rows["standing"] != "unattainable")]
    if len(suppressed) and (suppressed["standing"] == "equal").all():
        more = (
            "All cells are equal: with and without suppression the mode is missed with a "
            f"probability of at most {rounded_up(rows['high'].max(), 1)}, so there is nothing to "
            "gain or lose.",
        )
    return " ".join((*words, *more))


def _is_kmedian(figure: PaperFigure) -> bool:
    return any(subject.statistic == "k-median" for subject in figure.subjects)


def _published(computed: Computed) -> pd.DataFrame | None:
    """Return the authors' averages next to ours, if their files were given."""
    return computed.once(published_next_to_ours) if computed.settings.artefact else None


def published_next_to_ours(computed: Computed) -> pd.DataFrame | None:
    """Return the authors' averages with ours and with z-scores, or None without their files."""
    known = computed.settings.artefact
    if not isinstance(known, artefact.Artefact):
        return None
    ours = computed.frame(cells.AS_PUBLISHED_ERROR)
    table = computed.once(cells.judged_cells)
    if table is None:
        return None
    return artefact.compared(pd.concat([table, ours], ignore_index=True), known)


def _with_published(figure: PaperFigure, computed: Computed) -> pd.DataFrame:
    """Return the numbers of a figure, with the authors' and z-scores if their files were given."""
    numbers = cells.of_figure(_table(computed), figure)
    published = _published(computed)
    if published is None or published.empty:
        return numbers
    keys = ["data", "column", "mechanism", "epsilon", "rate"]
    added = published.drop(columns=["error"])
    return numbers.merge(added, on=keys, how="left")


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
            standings = ("worse", "equal", "undecided", "better", "unattainable")
            counts = {name: int((part["standing"] == name).sum()) for name in standings}
            decided = counts["worse"] + counts["equal"] + counts["better"]
            survives = f"in all {decided} decided of {len(part)}" if decided else "nothing decided"
            if counts["better"]:
                survives = f"not in {counts['better']} cells of {decided} decided"
            line = {
                "statistic": shown_mechanism(subject.mechanism),
                "data": subject.data_name,
                "bound": bound,
            }
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
            counts = [(row[name], name) for name in _COUNTED]
            line[f"{row['bound']} bound"] = ", ".join(f"{n} {name}" for n, name in counts if n)
        said = dict(zip(part["bound"], part["conclusion survives"], strict=True))
        together = [f"{bound}: {words}" for bound, words in said.items()]
        line["survives"] = "; ".join(
            together if len(set(said.values())) > 1 else set(said.values())
        )
        lines.append(line)
    return pd.DataFrame(lines)


_COUNTED = ("worse", "equal", "undecided", "better")
CONCLUSION = Exhibit(
    "conclusion",
    "Does the paper's conclusion survive the tight privacy bound?",
    "At the same guarantee: in how many of all cells (ε, m, M) suppression is worse or better than "
    "no omission; the others cannot reach the guarantee by that bound. Equal: modes that are never "
    "missed either way. Undecided: differences that the runs do not resolve.",
    survival,
    shown=side_by_side,
)


def _artefact_cells(settings: Settings) -> Iterator[Cell]:
    """Give the cells of the authors' curves, by our mechanisms and by theirs."""
    if isinstance(settings.artefact, artefact.Artefact):
        for subject in (*settings.artefact.curves, *artefact.variants(settings.artefact)):
            yield from cells.subject_cells(subject, settings, "sampling")


def _by_curve(computed: Computed) -> pd.DataFrame:
    """Return a line per curve and ε: how far the authors' averages are from ours, and why."""
    rows = computed.once(published_next_to_ours)
    assert rows is not None
    lines = []
    for (data, column, mechanism, epsilon), part in rows.groupby(
        ["data", "column", "mechanism", "epsilon"], sort=False
    ):
        line = {
            "curve": f"{shown_mechanism(mechanism)} of {data} {column}".rstrip(),
            "ε": f"{epsilon:g}",
            "rates": len(part),
            "published / ours": float((part["published"] / part["error"]).median()),
            "median |z|": float(part["z"].abs().median()),
        }
        if "z as published" in part and part["z as published"].notna().any():
            line["median |z| as published"] = float(part["z as published"].abs().median())
        lines.append({**line, "known cause": part["cause"].iloc[0]})
    return pd.DataFrame(lines).fillna("")


ARTEFACT = Exhibit(
    "artefact",
    "The authors' averages next to ours",
    "z-scores of the published averages against our errors, and where the authors' code is known "
    "to differ, against the mechanism as they have it, which is not private. Within chance, the "
    "median of |z| is .67.",
    published_next_to_ours,
    cells=_artefact_cells,
    shown=_by_curve,
)
EXHIBITS = (CONCLUSION, ARTEFACT, *(_exhibit(figure) for figure in cells.FIGURES.values()))


def exhibits_on(data: OwnData) -> tuple[Exhibit, ...]:
    """Return the paper's kinds of figures for other data."""
    return (CONCLUSION, *(_exhibit(figure) for figure in cells.figures_on(data)))


def notes(computed: Computed) -> tuple[str, ...]:
    """Return how the work was split by statistic."""
    timings = computed.results.timings()
    known = computed.settings.artefact
    left_out = known.left_out if isinstance(known, artefact.Artefact) else ()
    unknown = f"No curve of the paper: {', '.join(left_out)}."
    said = (unknown,) if left_out else ()
    if timings.empty:
        return said
    statistic = timings["mechanism"].str.split(",").str[0]
    split = timings.groupby(statistic)["seconds"].sum().sort_values(ascending=False)
    parts = ", ".join(f"{name} {show_duration(seconds)}" for name, seconds in split.items())
    authors = " The authors state about five days on 64 cores."
    whose = "" if computed.settings.data is not None else authors
    return (f"Work by statistic, summed over cores: {parts}.{whose}", *said)
