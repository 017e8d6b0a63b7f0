"""What the disclosure-control paper shows, drawn and written from the numbers of its cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from omit.disclosure.figures import group_map_figure
from omit.papers.base import Computed, Exhibit, Settings
from omit.papers.disclosure_control import cells, readings
from omit.papers.disclosure_control.classifiers import (
    classified_cells,
    draw_accuracies,
    epsilon_axis,
    figure_4,
)
from omit.papers.disclosure_control.example import THRESHOLD, counts, draw_example, shown_records
from omit.papers.disclosure_control.theorems import CHECKED, THEOREMS, theorem_frame
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from omit.study.cell import Cell


def _errors_and_fairness(computed: Computed) -> Figure:
    table = cells.figure_2(computed)
    figure, grid = panels(13.0, 6.6, 2, len(cells.ORIGINAL), sharey="row")
    for column, method in enumerate(cells.ORIGINAL):
        part = table[table["method"] == method]
        for row, measure in enumerate(("absolute error", "fairness")):
            axes = grid[row][column]
            for epsilon, line in part.groupby("epsilon"):
                style = {"color": "0.75", "linewidth": 4, "label": "original"}
                if epsilon < math.inf:
                    label = f"randomised, {epsilon_label(epsilon)}"
                    style = {**epsilon_style(epsilon, markers=True), "label": label}
                values = line[measure].where(line[measure] > 0)
                axes.plot(line["parameter"], values, **style)
            is_swapping = method in cells.SWAPPINGS
            axes.set_xlabel("records swapped, %" if is_swapping else "threshold k")
            axes.set_yscale("log")
            axes.set_title(method, fontsize=11)
            axes.grid(alpha=0.25)
    grid[0][0].set_ylabel("expected absolute error, records")
    grid[1][0].set_ylabel("fairness α, records")
    handles, names = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
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
        epsilon_axis(axes, table["epsilon"])
        axes.set_title({"nist-ma": "Massachusetts", "nist-tx": "Texas"}[str(name)], fontsize=11)
        axes.set_ylim(0, None)
    row[0].set_ylabel("unique exact matches, % of records")
    handles, names = row[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _group_maps(computed: Computed) -> Figure:
    return group_map_figure(cells.figure_3(computed), f"mean of {computed.settings.runs} runs")


def _regressions(computed: Computed) -> pd.DataFrame:
    """Return the errors and regression lines of Figure 3."""
    names = ["mechanism", "group", "error for 100 records", "noise of one release"]
    names += ["true intercept", "true slope", "intercept", "slope"]
    return computed.frame(cells.MAPPED)[names].drop_duplicates().reset_index(drop=True)


def _what_the_mean_hides(computed: Computed) -> str:
    """Return the caption of Figure 3, with the noise that the mean over runs does not show."""
    table, runs = computed.frame(cells.MAPPED), computed.settings.runs
    noise = table.groupby("mechanism", sort=False)["noise of one release"].mean()
    listed = ", ".join(f"{name} {value:.1f}" for name, value in noise.items())
    return (
        f"National, ε = 2, k = 10, race swapped; mean change of {runs:,} runs. Red and −: too few. "
        "Solid line: regression in the data, dashed: in the release; in the titles, the expected "
        "absolute error for 100 records. The mean shows bias only: a count of one release varies "
        f"by a standard deviation of {listed} records on top of that, and the mean over runs "
        f"divides it by √{runs}."
    )


def _draw_sparsity(computed: Computed) -> Figure:
    table = cells.sparsity(computed)
    figure, ((axes,),) = panels(8.6, 4.6)
    names = [name for name in table.columns if name not in _ABOUT_GROUPS]
    for index, name in enumerate(names):
        style = series_style(index, markers=True)
        axes.plot(100 * table["empty cells"], table[name], label=name, **style)
    axes.set_yscale("log")
    axes.set_xlabel("cells of the group that are empty, %")
    axes.set_ylabel("expected absolute error\nfor 100 records of the group")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=9)
    return figure


_ABOUT_GROUPS = ("race", "sex", "records", "empty cells")


def _draw_readings(computed: Computed) -> Figure:
    """Draw how far off the print every reading of a row of Table 1 is, and what the text says."""
    table = readings.table_1_readings(computed)
    figure, ((axes,),) = panels(8.6, 3.4)
    names = list(dict.fromkeys(table["mechanism"]))
    for row, name in enumerate(names):
        off = 100 * table[table["mechanism"] == name]["off the print"]
        axes.plot(off, [row] * len(off), "|", color="0.45", markersize=14)
        nearest = float(off.min())
        axes.annotate(f"{nearest:.1f}", (nearest, row - 0.22), ha="center", va="bottom", fontsize=9)
    said = table[table["reading"].isin(readings.OF_THE_TEXT)]
    rows = [names.index(name) for name in said["mechanism"]]
    off = 100 * said["off the print"]
    axes.plot(
        off,
        rows,
        "o",
        color="black",
        mfc="white",
        markersize=8,
        label="in the words of Sections 3 and 5",
    )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.8)
    axes.set_xscale("log")
    ticks = (2, 5, 10, 20, 50, 100)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("mean distance from the printed errors and α, %")
    axes.grid(axis="x", alpha=0.25)
    axes.legend(frameon=False, fontsize=9, loc="upper right")
    return figure


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


def _measured_and_revealed(settings: Settings) -> tuple[Cell, ...]:
    return (*_measured(settings), *cells.REVEALED.grid(data=_MA, k=[THRESHOLD, cells.THRESHOLD]))


def _compared(settings: Settings) -> tuple[Cell, ...]:
    """Return the cells of Figure 2: thresholds, and percentages of records swapped."""
    grid, epsilons = cells.COMPARED.grid, [None, *cells.EPSILONS]
    suppressions, swappings = list(cells.SUPPRESSIONS), list(cells.SWAPPINGS)
    return (
        *grid(data=_MA, method=suppressions, parameter=range(2, 21, 2), epsilon=epsilons),
        *grid(data=_MA, method=swappings, parameter=range(5, 51, 5), epsilon=epsilons),
    )


_MAPS = [*cells.NOISY, "randomised suppression", *(f"randomised {s}" for s in cells.SWAPPINGS)]


EXHIBITS = (
    Exhibit(
        "figure-1",
        "Figure 1: the methods on a dozen records",
        "Records of our own. Counts below 3 are shown as 1; a quarter of the records gets the "
        "gender of the nearest record of the other gender.",
        lambda computed: counts(),
        draw_example,
        quick=True,
    ),
    Exhibit(
        "figure-1-records",
        "Figure 1: its records",
        "Who is swapped, and the donor.",
        lambda computed: shown_records(),
        quick=True,
    ),
    Exhibit(
        "table-1",
        "Table 1: Massachusetts",
        "As printed, exactly, and estimated from {runs} runs as in the paper. Bias is the sum of "
        "absolute biases (the paper's error). Discrete Gaussian noise has the variance that the "
        "table's δ has by the formula of Section 3, 19.8/ε. The printed rows of suppression and "
        "swapping stand beside both readings.",
        _parts_of_table_1(slice(7)),
        cells=_measured_and_revealed,
        data=_MA,
        quick=True,
    ),
    Exhibit(
        "table-1-fairness",
        "Table 1: fairness and largest variance",
        "As printed, exactly, and estimated from {runs} runs: the range of noisy estimates is too "
        "large.",
        _parts_of_table_1(slice(2), slice(7, -1)),
        cells=_measured,
        data=_MA,
        quick=True,
    ),
    Exhibit(
        "table-1-readings",
        "Table 1: what its rows may mean",
        "Every reading of a row, a stroke each, by its mean distance from the printed errors and "
        "α; the number is that of the nearest. The CSV has all of them.",
        readings.table_1_readings,
        _draw_readings,
        readings.read_cells,
        _MA,
        quick=True,
    ),
    Exhibit(
        "figure-2",
        "Figure 2: the randomised methods and the originals",
        "Massachusetts, exact; logarithmic, so that 0 is not shown (suppression below 2 shows 1 "
        "as 1). Wide grey lines: the originals. On the left both readings of what becomes of empty "
        "cells, on the right both of who may be a donor.",
        cells.figure_2,
        _errors_and_fairness,
        _compared,
        _MA,
        quick=True,
    ),
    Exhibit(
        "figure-3",
        "Figure 3: white and black men",
        _what_the_mean_hides,
        _regressions,
        _group_maps,
        lambda settings: cells.MAPPED.grid(
            data="nist-national", mechanism=_MAPS, epsilon=2.0, k=10, runs=settings.runs
        ),
        ("nist-national",),
    ),
    Exhibit(
        "sparsity",
        "Errors of races and sexes: the sparser, the larger",
        "National, ε = 2, k = 10, race swapped, exact. A point is one race of one sex.",
        cells.sparsity,
        _draw_sparsity,
        lambda settings: cells.ON_GROUPS.grid(
            data="nist-national", mechanism=_MAPS, epsilon=2.0, k=10
        ),
        ("nist-national",),
        quick=True,
    ),
    Exhibit(
        "figure-4",
        "Figure 4: logistic regression on released data",
        "Massachusetts, mean of {runs} runs with two standard errors, scored on the original data, "
        "missing incomes below 50,000. Unprotected: a classifier that learns from the data; "
        "constant guess: nobody earns 50,000. The CSV also has missing incomes dropped.",
        figure_4,
        draw_accuracies,
        classified_cells,
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
            mechanism=_MAPS,
            runs=settings.runs,
        ),
        ("nist-ma", "nist-tx"),
    ),
    Exhibit(
        "theorems",
        "The theorems on small tables",
        "What was found, what the theorem states, and whether it holds there.",
        theorem_frame,
        cells=lambda settings: CHECKED.grid(theorem=[theorem.key for theorem in THEOREMS]),
        quick=True,
    ),
)
