"""Pictures of the disclosure-control paper, drawn anew.

The page of the disclosure-control paper: every table and figure with its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from omit._text import promised
from omit.disclosure.figures import group_map_figure
from omit.disclosure.tasks import GroupMap
from omit.papers.disclosure_control import claims as verdicts
from omit.papers.disclosure_control.cells import SEED, Results, figure_1
from omit.papers.reproduction import Exhibit

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
_SHADES = ("0.0", "0.25", "0.4", "0.5", "0.3", "0.55")
_MARKS = ("o", "s", "^", "D", "v", "x")


def errors_and_fairness(found: pd.DataFrame) -> Figure:
    """Return Figure 2: errors and fairness of both methods over their parameters."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 6.6), layout="constrained")
    panels = figure.subplots(2, 2)
    labels = {"suppression": "threshold k", "swapping": "records swapped, %"}
    for column, (method, axis) in enumerate(labels.items()):
        for row, measure in enumerate(("absolute error", "fairness")):
            axes = panels[row][column]
            part = found[found["method"] == method]
            for place, (epsilon, line) in enumerate(part.groupby("epsilon")):
                name = "original"
                if epsilon < math.inf:
                    name = f"randomised, ε = {promised(epsilon)}"
                _line(axes, line["parameter"], line[measure], place, name)
            axes.set_xlabel(axis)
            axes.set_ylabel("expected absolute error" if row == 0 else "fairness α, records")
            axes.set_title(method, fontsize=11)
            axes.grid(alpha=0.25)
    panels[0][0].legend(frameon=False, fontsize=9)
    return figure


def _line(axes: Axes, x: pd.Series, y: pd.Series, place: int, label: str) -> None:
    axes.plot(
        x,
        y,
        linestyle=_LINES[place % len(_LINES)],
        color=_SHADES[place % len(_SHADES)],
        marker=_MARKS[place % len(_MARKS)],
        markersize=4,
        linewidth=1.4,
        label=label,
    )


def accuracies(found: pd.DataFrame) -> Figure:
    """Return Figure 4: accuracy over epsilon, one line for each mechanism."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.6), layout="constrained")
    axes = figure.subplots()
    for place, (name, part) in enumerate(found.groupby("mechanism", sort=False)):
        _line(axes, part["epsilon"], part["accuracy"], place, str(name))
    axes.axhline(found["baseline"].iloc[0], color="0.6", linewidth=3, zorder=0)
    axes.text(4.2, found["baseline"].iloc[0], "unprotected", va="bottom", fontsize=9)
    _epsilon_axis(axes)
    axes.set_xlim(0.45, 6.5)
    axes.set_ylabel("records classified right, %")
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def matches(found: pd.DataFrame) -> Figure:
    """Return Figure 5: unique exact matches over epsilon."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.0), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (name, data) in zip(panels, found.groupby("data"), strict=True):
        for place, (mechanism, part) in enumerate(data.groupby("mechanism", sort=False)):
            _line(axes, part["epsilon"], part["matches"], place, str(mechanism))
        axes.axhline(data["all unique"].iloc[0], color="0.6", linewidth=3, zorder=0)
        axes.text(0.5, data["all unique"].iloc[0] * 0.93, "all unique records", fontsize=9)
        _epsilon_axis(axes)
        axes.set_title({"nist-ma": "Massachusetts", "nist-tx": "Texas"}[str(name)], fontsize=11)
        axes.set_ylim(0, None)
    panels[0].set_ylabel("unique exact matches, % of records")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _epsilon_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    axes.minorticks_off()
    axes.set_xlabel("ε")
    axes.grid(alpha=0.25)


def exhibits(results: Results) -> list[Exhibit]:
    """Return all figures and tables, in the order of the page."""
    return [
        Exhibit(
            "figure-1", "Figure 1: the methods on a small table",
            "Our own numbers: below 3 becomes 1, and a quarter of the records gets the gender of a "
            "record of the same block and age.",
            figure_1(),
        ),
        *_tables(results),
        *_figures(results),
    ]  # fmt: skip


def notes(results: Results, seconds: float) -> tuple[str, ...]:
    """Return how all of it was computed."""
    return (
        "The records are public-use data of the American Community Survey 2019 (NIST excerpts).",
        f"Guarantees are under replace. Computed in {seconds:.0f} s; seed {SEED}.",
        *results.table.notes,
    )


def _tables(results: Results) -> list[Exhibit]:
    runs, shown = results.runs, results.table_1.round(3)
    return [
        Exhibit(
            "table-1", "Table 1: Massachusetts",
            f"As printed, exactly, and estimated from {runs} runs as in the paper. Bias is the sum "
            "of absolute biases (the paper's error). Discrete Gaussian noise has the variance that "
            "fits the printed one, 19.8/ε.",
            shown[list(shown.columns[:7])], None,
            verdicts.table_verdicts(results.table_1, results.variants),
        ),
        Exhibit(
            "table-1-fairness", "Table 1: fairness and largest variance",
            f"As printed, exactly, and estimated from {runs} runs: the range of noisy estimates is "
            "too large.",
            shown[[*shown.columns[:2], *shown.columns[7:]]],
        ),
        Exhibit(
            "table-1-swapping", "Table 1: what its swapping row is",
            "Ways to choose donors, at a rate of 25 %, exactly.", results.variants.round(2),
        ),
    ]  # fmt: skip


def _figures(results: Results) -> list[Exhibit]:
    runs = results.runs
    second, third = results.figure_2, results.figure_3
    fourth, fifth = results.figure_4, results.figure_5
    return [
        Exhibit(
            "figure-2", "Figure 2: the randomised methods beside the originals",
            "Massachusetts, exact. Solid lines with dots: ε = 0.5; the original is the last line.",
            second, errors_and_fairness(second), verdicts.figure_2_verdicts(second),
        ),
        Exhibit(
            "figure-3", "Figure 3: white and black men",
            f"National, ε = 2, k = 10, race swapped; mean change of {runs} runs. Red: too few. "
            "Solid line: regression in the data, dashed: in the release.",
            _regressions(third), group_map_figure(third, f"mean of {runs} runs"),
            verdicts.figure_3_verdicts(third),
        ),
        Exhibit(
            "figure-4", "Figure 4: logistic regression on released data",
            f"Massachusetts, mean of {runs} runs, scored on the original data.",
            fourth, accuracies(fourth), verdicts.figure_4_verdicts(fourth),
        ),
        Exhibit(
            "figure-5", "Figure 5: unique exact matches",
            f"Mean of {runs} runs; counts are rounded. A larger value discloses more (the paper "
            "also says that a higher score is a smaller risk: the two sentences contradict).",
            fifth, matches(fifth), verdicts.figure_5_verdicts(fifth),
        ),
    ]  # fmt: skip


def _regressions(maps: Sequence[GroupMap]) -> pd.DataFrame:
    """Return the errors and regression lines of Figure 3."""
    return pd.DataFrame(
        [
            {
                "mechanism": each.mechanism,
                "group": each.group,
                "error for 100 records": each.error,
                "true intercept": each.true_line[0],
                "true slope": each.true_line[1],
                "intercept": each.line[0],
                "slope": each.line[1],
            }
            for each in maps
        ]
    )
