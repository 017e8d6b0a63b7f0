"""What the disclosure-control paper shows, drawn and written from the numbers of its cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import pandas as pd

from omit._text import promised
from omit.disclosure.figures import group_map_figure
from omit.papers.base import Computed, Exhibit, Settings
from omit.papers.disclosure_control import cells
from omit.papers.disclosure_control.theorems import CHECKED, THEOREMS, theorem_frame
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omit.study.cell import Cell


def _errors_and_fairness(computed: Computed) -> Figure:
    table = cells.figure_2(computed)
    figure, grid = panels(9.6, 6.6, 2, 2)
    labels = {"suppression": "threshold k", "swapping": "records swapped, %"}
    for column, (method, axis) in enumerate(labels.items()):
        for row, measure in enumerate(("absolute error", "fairness")):
            axes = grid[row][column]
            part = table[table["method"] == method]
            for epsilon, line in part.groupby("epsilon"):
                style = {"color": "0.75", "linewidth": 3, "label": "original"}
                if epsilon < math.inf:
                    label = f"randomised, {epsilon_label(epsilon)}"
                    style = {**epsilon_style(epsilon, markers=True), "label": label}
                axes.plot(line["parameter"], line[measure], **style)
            axes.set_xlabel(axis)
            axes.set_ylabel("expected absolute error" if row == 0 else "fairness α, records")
            axes.set_title(method, fontsize=11)
            axes.grid(alpha=0.25)
    grid[0][0].legend(frameon=False, fontsize=9)
    return figure


def _accuracies(computed: Computed) -> Figure:
    table = cells.figure_4(computed)
    figure, ((axes,),) = panels(7.6, 4.6)
    for index, (name, part) in enumerate(table.groupby("mechanism", sort=False)):
        style = series_style(index, markers=True)
        axes.plot(part["epsilon"], part["accuracy"], label=str(name), **style)
    level, largest = table["baseline"].iloc[0], table["epsilon"].max()
    axes.axhline(level, color="0.6", linewidth=3, zorder=0)
    axes.text(1.05 * largest, level, "unprotected", va="bottom", fontsize=9)
    _epsilon_axis(axes, table["epsilon"])
    axes.set_xlim(0.9 * table["epsilon"].min(), 1.6 * largest)
    axes.set_ylabel("records classified right, %")
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def _matches(computed: Computed) -> Figure:
    table = cells.figure_5(computed)
    figure, (row,) = panels(9.6, 4.0, columns=2, sharey=True)
    for axes, (name, data) in zip(row, table.groupby("data"), strict=True):
        for index, (mechanism, part) in enumerate(data.groupby("mechanism", sort=False)):
            style = series_style(index, markers=True)
            axes.plot(part["epsilon"], part["matches"], label=str(mechanism), **style)
        level = data["all unique"].iloc[0]
        axes.axhline(level, color="0.6", linewidth=3, zorder=0)
        axes.text(table["epsilon"].min(), level * 0.93, "all unique records", fontsize=9)
        _epsilon_axis(axes, table["epsilon"])
        axes.set_title({"nist-ma": "Massachusetts", "nist-tx": "Texas"}[str(name)], fontsize=11)
        axes.set_ylim(0, None)
    row[0].set_ylabel("unique exact matches, % of records")
    handles, names = row[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _epsilon_axis(axes: Axes, epsilons: Iterable[float]) -> None:
    shown = sorted(set(epsilons))
    axes.set_xscale("log")
    axes.set_xticks(shown, [promised(epsilon) for epsilon in shown])
    axes.minorticks_off()
    axes.set_xlabel("ε")
    axes.grid(alpha=0.25)


def _group_maps(computed: Computed) -> Figure:
    return group_map_figure(cells.figure_3(computed), f"mean of {computed.settings.runs} runs")


def _regressions(computed: Computed) -> pd.DataFrame:
    """Return the errors and regression lines of Figure 3."""
    names = ["mechanism", "group", "error for 100 records"]
    names += ["true intercept", "true slope", "intercept", "slope"]
    return computed.frame(cells.MAPPED)[names].drop_duplicates().reset_index(drop=True)


def _parts_of_table_1(*columns: slice) -> Callable[[Computed], pd.DataFrame]:
    """Return the function that shows some columns of Table 1."""

    def numbers(computed: Computed) -> pd.DataFrame:
        shown = cells.table_1(computed).round(3)
        return shown[[name for part in columns for name in shown.columns[part]]]

    return numbers


_MA = ("nist-ma",)
_RANDOM = [*cells.NOISY, *cells.RANDOMISED]


def _measured(settings: Settings) -> tuple[Cell, ...]:
    return cells.MEASURED.grid(
        data=_MA, epsilon=cells.EPSILONS, mechanism=_RANDOM, runs=settings.runs
    )


def _variants(settings: Settings) -> tuple[Cell, ...]:
    return cells.VARIANTS.grid(data=_MA)


def _compared(settings: Settings) -> tuple[Cell, ...]:
    """Return the cells of Figure 2: thresholds, and percentages of records swapped."""
    grid, epsilons = cells.COMPARED.grid, [None, *cells.EPSILONS]
    return (
        *grid(data=_MA, method="suppression", parameter=range(2, 21, 2), epsilon=epsilons),
        *grid(data=_MA, method="swapping", parameter=range(5, 51, 5), epsilon=epsilons),
    )


def _classified(settings: Settings) -> tuple[Cell, ...]:
    """Return the cells of Figure 4; what is not randomised needs one run, and no epsilon."""
    grid, runs = cells.CLASSIFIED.grid, settings.runs
    return (
        *grid(data=_MA, mechanism=_RANDOM, epsilon=cells.EPSILONS, runs=runs),
        *grid(data=_MA, mechanism="suppression", epsilon=None, runs=1),
        *grid(data=_MA, mechanism="swapping", epsilon=None, runs=runs),
    )


EXHIBITS = (
    Exhibit(
        "figure-1",
        "Figure 1: the methods on a small table",
        "Our own numbers: below 3 becomes 1, and a quarter of the records gets the gender of a "
        "record of the same block and age.",
        lambda computed: cells.figure_1(),
    ),
    Exhibit(
        "table-1",
        "Table 1: Massachusetts",
        "As printed, exactly, and estimated from {runs} runs as in the paper. Bias is the sum of "
        "absolute biases (the paper's error). Discrete Gaussian noise has the variance that fits "
        "the printed one, 19.8/ε.",
        _parts_of_table_1(slice(7)),
        cells=lambda settings: (*_measured(settings), *_variants(settings)),
        data=_MA,
    ),
    Exhibit(
        "table-1-fairness",
        "Table 1: fairness and largest variance",
        "As printed, exactly, and estimated from {runs} runs: the range of noisy estimates is too "
        "large.",
        _parts_of_table_1(slice(2), slice(7, None)),
        cells=_measured,
        data=_MA,
    ),
    Exhibit(
        "table-1-swapping",
        "Table 1: what its swapping row is",
        "Ways to choose donors, at a rate of 25 %, exactly.",
        lambda computed: cells.swapping_variants(computed).round(2),
        cells=_variants,
        data=_MA,
    ),
    Exhibit(
        "figure-2",
        "Figure 2: the randomised methods and the originals",
        "Massachusetts, exact. Wide grey lines: the originals.",
        cells.figure_2,
        _errors_and_fairness,
        _compared,
        _MA,
    ),
    Exhibit(
        "figure-3",
        "Figure 3: white and black men",
        "National, ε = 2, k = 10, race swapped; mean change of {runs} runs. Red: too few. Solid "
        "line: regression in the data, dashed: in the release.",
        _regressions,
        _group_maps,
        lambda settings: cells.MAPPED.grid(
            data="nist-national", mechanism=_RANDOM, epsilon=2.0, k=10, runs=settings.runs
        ),
        ("nist-national",),
    ),
    Exhibit(
        "figure-4",
        "Figure 4: logistic regression on released data",
        "Massachusetts, mean of {runs} runs, scored on the original data.",
        cells.figure_4,
        _accuracies,
        _classified,
        _MA,
    ),
    Exhibit(
        "figure-5",
        "Figure 5: unique exact matches",
        "Mean of {runs} runs; counts are rounded. A larger value discloses more (the paper also "
        "says that a higher score is a smaller risk: the two sentences contradict).",
        cells.figure_5,
        _matches,
        lambda settings: cells.MATCHED.grid(
            data=["nist-ma", "nist-tx"],
            epsilon=cells.EPSILONS,
            mechanism=[*cells.NOISY, "randomised swapping"],
            runs=settings.runs,
        ),
        ("nist-ma", "nist-tx"),
    ),
    Exhibit(
        "theorems",
        "The theorems on small tables",
        "What was found, what the theorem states, and whether it holds there.",
        theorem_frame,
        cells=lambda settings: CHECKED.grid(theorem=[theorem.name for theorem in THEOREMS]),
        data=_MA,
    ),
)
