"""Figure 4: classifiers that learn from releases, over epsilon, threshold and swap rate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from omit._numeric import as_array
from omit._text import promised
from omit.disclosure.classification import Classification, constant_accuracy
from omit.disclosure.table import CountTable
from omit.disclosure.tabulation import tabulate
from omit.papers.base import Computed, Settings
from omit.papers.disclosure_control import cells
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style
from omit.study.cell import Cell, Computation, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AGE = "age5 = bins(AGEP, 0, 100, 5)"
_FEATURES = ["RAC1P", "age5", "SEX", "OWN_RENT", "income50k"]
BELOW, DROPPED = "missing incomes below 50,000", "missing incomes dropped"
THRESHOLDS = (2, 6, 10, 14, 20)
PERCENTAGES = (5, 15, 25, 35, 50)


def _table(shared: Row, rng: np.random.Generator) -> CountTable:
    as_below = cells.MISSING_INCOME if shared["missing"] == BELOW else None
    return tabulate(shared["data"], _FEATURES, derive=[cells.INCOME, _AGE], missing_as=as_below)


def _classified(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return the accuracy of logistic regression on releases, scored on the original."""
    task = Classification.of(table, "income50k")
    draws = cells.protection_of(parameters).simulate(table, rng, parameters["runs"])
    scores = [task.accuracy(draw) for draw in draws]
    return {
        "accuracy": float(np.mean(scores)),
        "standard error": float(np.std(scores) / math.sqrt(len(scores))),
        "baseline": task.accuracy(as_array(table.flat)),
        "constant": constant_accuracy(table, "income50k"),
    }


CLASSIFIED = Computation("classifier from releases", 2, _classified, _table, ("data", "missing"))


def classified_cells(settings: Settings) -> tuple[Cell, ...]:
    """Return the cells of Figure 4; what is not randomised needs one run, and no epsilon."""
    grid, runs = CLASSIFIED.grid, settings.runs
    below = {"data": "nist-ma", "missing": BELOW}
    dropped = {"data": "nist-ma", "missing": DROPPED}
    suppression, swappings = cells.SUPPRESSIONS[0], list(cells.SWAPPINGS)
    randomised = {"epsilon": cells.EPSILONS, "runs": runs}
    rates = [percentage / 100 for percentage in PERCENTAGES]
    return (
        *grid(**below, mechanism=cells.NOISY, **randomised),
        *grid(**below, mechanism=suppression, epsilon=None, k=THRESHOLDS, runs=1),
        *grid(**below, mechanism=f"randomised {suppression}", k=THRESHOLDS, **randomised),
        *grid(**below, mechanism=swappings, epsilon=None, rate=rates, runs=runs),
        *grid(
            **below, mechanism=[f"randomised {one}" for one in swappings], rate=rates, **randomised
        ),
        *grid(**dropped, mechanism=cells.NOISY, **randomised),
        *grid(**dropped, mechanism=suppression, epsilon=None, k=cells.THRESHOLD, runs=1),
        *grid(**dropped, mechanism=f"randomised {suppression}", k=cells.THRESHOLD, **randomised),
        *grid(**dropped, mechanism=swappings, epsilon=None, rate=cells.RATE, runs=runs),
        *grid(
            **dropped,
            mechanism=[f"randomised {one}" for one in swappings],
            rate=cells.RATE,
            **randomised,
        ),
    )


def figure_4(computed: Computed) -> pd.DataFrame:
    """Return the accuracies by mechanism, epsilon (infinite for originals), k and swap rate."""
    table = computed.frame(CLASSIFIED)
    names = ["missing", "mechanism", "epsilon", "k", "rate"]
    measured = ["accuracy", "standard error", "baseline", "constant"]
    return table[[*names, *measured]].assign(epsilon=table["epsilon"].fillna(math.inf))


def draw_accuracies(computed: Computed) -> Figure:
    """Draw noise over ε, suppression over k and swapping over the rate, with error bars."""
    every = figure_4(computed)
    table = every[every["missing"] == BELOW]
    figure, grid = panels(9.6, 7.0, 2, 2, sharey=True)
    noise, suppressed, *swapped = (axes for row in grid for axes in row)
    for index, name in enumerate(cells.NOISY):
        part = table[table["mechanism"] == name]
        _points(noise, part, "epsilon", 1.0, series_style(index, markers=True), name)
    noise.set_title("noise on every count", fontsize=11)
    epsilon_axis(noise, cells.EPSILONS)
    noise.legend(frameon=False, fontsize=9, loc="upper left")
    _over_parameter(suppressed, table, cells.SUPPRESSIONS[0], "k", 1.0)
    suppressed.set_xticks(THRESHOLDS)
    suppressed.set_xlabel("threshold k (below: suppressed)")
    for axes, name in zip(swapped, cells.SWAPPINGS, strict=True):
        _over_parameter(axes, table, name, "rate", 100.0)
        axes.set_xticks(PERCENTAGES)
        axes.set_xlabel("records swapped, %")
    for axes in (noise, suppressed, *swapped):
        axes.axhline(table["baseline"].iloc[0], color="0.5", lw=1, zorder=0, label="unprotected")
        axes.grid(alpha=0.25)
        guess = f"constant guess: {table['constant'].iloc[0]:.1f} %, far below"
        axes.text(0.97, 0.04, guess, transform=axes.transAxes, fontsize=9, ha="right")
    for row in grid:
        row[0].set_ylabel("records classified right, %")
    handles, names = suppressed.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _over_parameter(
    axes: Axes, table: pd.DataFrame, name: str, parameter: str, factor: float
) -> None:
    """Draw a method over its parameter: the original, and the randomised version at every ε."""
    original = table[table["mechanism"] == name]
    style = {"color": "0.75", "linewidth": 3, "zorder": 1}
    _points(axes, original, parameter, factor, style, "original")
    randomised = table[table["mechanism"] == f"randomised {name}"]
    for epsilon, part in randomised.groupby("epsilon"):
        label = f"randomised, {epsilon_label(epsilon)}"
        _points(axes, part, parameter, factor, epsilon_style(epsilon, markers=True), label)
    axes.set_title(name, fontsize=11)


def _points(
    axes: Axes, part: pd.DataFrame, x: str, factor: float, style: dict[str, object], label: str
) -> None:
    axes.errorbar(
        factor * part[x],
        part["accuracy"],
        yerr=2 * part["standard error"],
        capsize=2,
        elinewidth=1,
        label=label,
        **style,  # type: ignore[arg-type]  # what matplotlib draws lines with
    )


def epsilon_axis(axes: Axes, epsilons: Iterable[float]) -> None:
    """Label a logarithmic axis with these epsilons."""
    shown = sorted(set(epsilons))
    axes.set_xscale("log")
    axes.set_xticks(shown, [promised(epsilon) for epsilon in shown])
    axes.minorticks_off()
    axes.set_xlabel("ε")
    axes.grid(alpha=0.25)
