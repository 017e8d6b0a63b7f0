"""The figures of the paper on omitting records, drawn from the table of their cells.

The reproduction of the paper on omitting records as a folder with a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit._text import promised, rounded_up, short_gain, show_duration
from omit.omissions.outlier_bounds import mixture_epsilon, published_epsilon
from omit.papers.omitting_records.cells import EPSILONS, PROBABILITIES, PaperFigure, Subject
from omit.papers.omitting_records.claims import judged, of_figure, of_subject, survival, verdicts
from omit.papers.omitting_records.privacy_figure import PRIVACY_EPSILONS, privacy_figure
from omit.papers.reproduction import Exhibit, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_STYLES = ("-", "--", "-.", (0, (1, 1)))
_SHADES = ("0.0", "0.3", "0.45", "0.6")
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
    from matplotlib.figure import Figure

    count = len(figure.subjects)
    columns = 3 if count == 3 else 2
    rows = -(-count // columns)
    drawing = Figure(figsize=(4.6 * columns, 3.7 * rows + 0.5), layout="constrained")
    panels = drawing.subplots(rows, columns, squeeze=False)
    for axes, subject in zip(panels.flat, figure.subjects, strict=True):
        _draw_sampling(axes, subject, of_subject(table, subject))
    handles, labels = panels[0, 0].get_legend_handles_labels()
    drawing.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=len(EPSILONS),
        frameon=False,
        title="guarantee of the release; thin line of the same kind: all records, no sampling",
        title_fontsize=9,
    )
    return drawing


def _draw_sampling(axes: Axes, subject: Subject, rows: pd.DataFrame) -> None:
    sampled = rows[rows["kind"] == "poisson"]
    for epsilon, style, shade in zip(EPSILONS, _STYLES, _SHADES, strict=True):
        part = sampled[sampled["epsilon"] == epsilon].sort_values("rate")
        plain = rows[(rows["kind"] == "none") & (rows["epsilon"] == epsilon)]["error"]
        rates = 100 * part["rate"].to_numpy()
        axes.fill_between(rates, part["low"], part["high"], color="0.85", linewidth=0)
        axes.plot(
            rates, part["error"], linestyle=style, color=shade, label=f"ε = {promised(epsilon)}"
        )
        axes.axhline(float(plain.iloc[0]), linestyle=style, color=shade, linewidth=0.7)
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
    from matplotlib.figure import Figure

    bounds = ("mixture", "published") if figure.noise_reduction else ("mixture",)
    lines = [(subject, bound) for subject in figure.subjects for bound in bounds]
    drawing = Figure(figsize=(13.6, 3.6 * len(lines) + 0.4), layout="constrained")
    panels = drawing.subplots(len(lines), len(EPSILONS), squeeze=False, sharex=True, sharey=True)
    for panel, (subject, bound) in zip(panels, lines, strict=True):
        rows = of_subject(table, subject)
        rows = rows[(rows["kind"] == "outlier-score") & (rows["bound"] == bound)]
        rows = rows[rows["noise_reduction"] == figure.noise_reduction]
        unit = _unit(subject, rows["gain"].abs().max())
        decided = rows[rows["standing"] != "undecided"]["gain"].abs().max()
        for axes, epsilon in zip(panel, EPSILONS, strict=True):
            part = rows[rows["epsilon"] == epsilon]
            sure = _grid(part, part["standing"] != "undecided")
            _draw_gains(axes, _grid(part, part["gain"]) * unit[0], sure == 1, decided * unit[0])
            if figure.noise_reduction:
                _draw_unchanged(axes, epsilon, bound)
            axes.set_title(f"ε = {promised(epsilon)}", fontsize=10)
        under = f"\n{bound} bound" if figure.noise_reduction else "\nsame mechanism"
        panel[0].set_ylabel(f"{subject.mechanism}{under}\ngain, {unit[1]}\n\nM", fontsize=9)
    for axes in panels[-1]:
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
    from matplotlib.colors import LinearSegmentedColormap

    # Light enough for black numbers; by the square root, so that small ones show.
    ends = ["#fd8d3c", "#ffffff", "#4292c6"]
    colours = LinearSegmentedColormap.from_list("gain", ends).with_extremes(bad="0.93")
    decided = np.where(sure | np.isnan(gains), gains, 0.0)
    shown = np.sign(decided) * np.sqrt(np.abs(decided) / (largest if largest > 0 else 1.0))
    above = np.ma.masked_invalid(shown.T)
    axes.imshow(
        above, origin="lower", extent=(0.05, 0.95, 0.05, 0.95), cmap=colours, vmin=-1, vmax=1
    )
    for i, m in enumerate(PROBABILITIES):
        for j, M in enumerate(PROBABILITIES):
            if np.isfinite(gains[i, j]):
                shade, text = ("black" if sure[i, j] else "0.55"), short_gain(gains[i, j])
                if not sure[i, j] and text in ("+0", "-0"):
                    text = "0"
                axes.text(m, M, text, ha="center", va="center", fontsize=7, zorder=4, color=shade)
    axes.fill([0.05, 0.95, 0.95], [-0.05, 0.85, -0.05], color="white", zorder=1.5)
    axes.set(xticks=[0.1, 0.5, 0.9], yticks=[0.1, 0.5, 0.9], xlim=(0.05, 0.95), ylim=(0.05, 0.95))


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


def exhibits(
    figures: Sequence[PaperFigure], results: pd.DataFrame
) -> tuple[list[Exhibit], tuple[Verdict, ...]]:
    """Return every figure with its numbers, and the verdicts on the paper's claims.

    Parameters
    ----------
    figures : sequence of PaperFigure
        What was asked for.
    results : DataFrame
        The table of the study; may be empty if only figures without data were asked for.
    """
    with_data = [each for each in figures if each.kind != "privacy"]
    if not with_data:
        return [_privacy_exhibit(figure) for figure in figures], ()
    table = judged(results)
    judged_claims = verdicts(table)
    found = []
    for figure in figures:
        beside = tuple(each for each, numbers in judged_claims if figure.number in numbers)
        if figure.kind == "privacy":
            found.append(_privacy_exhibit(figure))
        else:
            found.append(_exhibit(figure, table, beside))
    surviving = survival(table)
    if not surviving.empty:
        caption = (
            "At the same guarantee: in how many of 180 cells (ε, m, M) suppression is worse or "
            "better than no omission; the others cannot reach the guarantee by that bound. "
            "Undecided: modes that are never missed either way, and differences that the runs do "
            "not resolve."
        )
        title = "Does the paper's conclusion survive the tight privacy bound?"
        found.insert(
            0, Exhibit("conclusion", title, caption, surviving, shown=_side_by_side(surviving))
        )
    return found, tuple(each for each, _ in judged_claims)


def timing_notes(
    timings: pd.DataFrame, runs: Sequence[tuple[float, int]], where: str
) -> tuple[str, ...]:
    """Return how long everything took, and the split by statistic.

    Parameters
    ----------
    timings : DataFrame
        The seconds of every cell, as `Results.timings` gives them.
    runs : sequence of tuple
        The wall time and the number of new cells of every run.
    where : str
        Where they ran.
    """
    if timings.empty:
        return ()
    statistic = timings["mechanism"].str.split(",").str[0]
    split = timings.groupby(statistic)["seconds"].sum().sort_values(ascending=False)
    parts = ", ".join(f"{name} {show_duration(seconds)}" for name, seconds in split.items())
    computed = sum(cells for _, cells in runs)
    several = "" if len(runs) == 1 else f" in {len(runs)} runs"
    said = (
        [
            f"{computed:,} cells computed in {show_duration(sum(each for each, _ in runs))} of "
            f"wall time{several} ({where})"
        ]
        if runs
        else []
    )
    if computed < len(timings):
        said.append(
            f"{len(timings) - computed:,} cells were there from runs of other figures, or runs "
            "that were interrupted"
        )
    return (
        f"{'; '.join(said)}. Work by statistic, summed over cores: {parts}. The authors state "
        "about five days on 64 cores.",
    )


def _side_by_side(surviving: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each statistic and data, with the counts of both bounds in words."""
    import pandas as pd

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


def _exhibit(figure: PaperFigure, table: pd.DataFrame, beside: tuple[Verdict, ...]) -> Exhibit:
    caption = _SAMPLING if figure.kind == "sampling" else f"{_SUPPRESSION} {_LINE}"
    if not figure.noise_reduction:
        caption = f"{_WITHOUT} {_SUPPRESSION}"
    title = f"Figure {figure.number}: {_subject(figure)}"
    numbers = of_figure(table, figure)
    return Exhibit(
        figure.name, title, caption, numbers, partial(paper_figure, figure, table), beside
    )


def _privacy_exhibit(figure: PaperFigure) -> Exhibit:
    """Return the figure without data, with both bounds on a grid as its numbers."""
    import pandas as pd

    lines = [
        {
            "epsilon": epsilon,
            "m": m,
            "M": M,
            "published": float(published_epsilon(epsilon, m, M)),
            "mixture": float(mixture_epsilon(epsilon, m, M)),
        }
        for epsilon in PRIVACY_EPSILONS
        for m in _GRID
        for M in _GRID
        if m <= M
    ]
    return Exhibit(
        figure.name,
        f"Figure {figure.number}: {_subject(figure)}",
        "What outlier-score suppression leaves of ε, by both bounds; nothing is simulated.",
        pd.DataFrame(lines),
        partial(paper_figure, figure, pd.DataFrame()),
    )


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
