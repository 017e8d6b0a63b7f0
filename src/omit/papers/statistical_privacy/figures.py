"""What the statistical-privacy paper shows: its tables, the curves behind them, its theorems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from omit._numeric import FloatArray
from omit.papers.base import Computed, Exhibit
from omit.papers.statistical_privacy.cells import (
    ENUMERATED,
    TABLE_1,
    TABLE_2,
    PrintedTable,
    compared,
    enumerated_cells,
    table_cells,
)
from omit.report.figure import panels
from omit.statistical.curve import COLOURS, STYLES, PrivacyCurve, draw_curves
from omit.statistical.partition import Partition
from omit.statistical.properties import property_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTE = (
    "Statistical privacy and differential privacy are different promises: the first assumes that "
    "the adversary knows the distribution of the entries and none of the entries. Where numbers of "
    "queries stand side by side, it is the paper that compares them."
)
_SIGNS = {"truncated": "↓", "rounded": "≈", "differs": "≠"}


def table_frame(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it is shown: printed next to computed."""
    formula = zip(table["dp_formula"], table["dp_match"], strict=True)
    return pd.DataFrame(
        {
            "ε": table["epsilon"],
            "#SP": table["queries"],
            "σ printed": table["printed_sigma"].map("{:.4f}".format),
            "σ found": table["sigma"].map("{:.6f}".format),
            "δ printed": table["printed_delta"].map("{:.4f}".format),
            "δ found": table["theorem"].map("{:.6f}".format),
            "δ exact": table["exact"].map("{:.4g}".format),
            "#DP printed": table["printed_dp"],
            "formula": [f"{value:.2f}\u00a0{_SIGNS[match]}" for value, match in formula],
            "#DP exact": table["dp_at_theorem"],
            "#DP exact, δ exact": table["dp_at_exact"],
        }
    )


def _table(number: int, table: PrintedTable) -> Exhibit:
    return Exhibit(
        table.name,
        number,
        "table",
        f"Table {number}: {table.n:,} entries, p = 1/2",
        "Printed next to computed. σ and δ (by Theorem 5.1) are printed cut off after four "
        "decimals; the formula's value became the printed #DP cut off (↓) or rounded (≈). '#DP "
        "exact' is by exact accounting at the δ of Theorem 5.1, the last column at the exact δ.",
        lambda computed: table_frame(compared(computed, table)),
        cells=lambda settings: table_cells(table),
    )


def _curve_frame(curves: Mapping[str, PrivacyCurve], epsilon: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(
        {"epsilon": epsilon, **{name: curve.delta for name, curve in curves.items()}}
    )


def _curves_of(table: PrintedTable) -> tuple[FloatArray, dict[str, PrivacyCurve]]:
    queries = [row[0] for row in table.rows][:: 2 if len(table.rows) > 3 else 1]
    epsilon = np.linspace(0, 3 * table.epsilons[-1], 200)
    curves = {
        f"{count} queries, Theorem 5.1": Partition.equal(table.n, count).property_bound(
            0.5, epsilon
        )
        for count in queries[::-1]
    }
    curves["exact, any number of queries"] = property_curve(table.n, 0.5, epsilon)
    return epsilon, curves


def _curves(table: PrintedTable) -> Exhibit:
    def numbers(computed: Computed) -> pd.DataFrame:
        epsilon, curves = _curves_of(table)
        return _curve_frame(curves, epsilon)

    def draw(computed: Computed) -> Figure:
        figure, ((axes,),) = panels(7.5, 4.4)
        draw_curves(axes, _curves_of(table)[1], logarithmic=True)
        axes.set_ylim(1e-6, 1)
        for epsilon in table.epsilons:
            axes.axvline(epsilon, color="0.25", linewidth=1.2, linestyle=(0, (4, 3)), zorder=2.5)
        return figure

    return Exhibit(
        f"curves-{table.name}",
        None,
        "figure",
        f"Curves of a partition of {table.n:,} entries, p = 1/2",
        "δ over ε for one property asked of every block. The bound grows with the number of "
        "blocks; the exact curve does not depend on it. Vertical lines are the table's ε.",
        numbers,
        draw,
        lambda settings: table_cells(table),
    )


_DP = (
    ("DP, as printed", "printed_dp"),
    ("DP, exact at the theorem's delta", "dp_at_theorem"),
    ("DP, exact at the exact delta", "dp_at_exact"),
)


def _counts(computed: Computed) -> pd.DataFrame:
    table = compared(computed, TABLE_1, TABLE_2)
    return pd.DataFrame(
        {
            "n": table["n"],
            "epsilon": table["epsilon"],
            "partition": table["queries"],
            **{name: table[column].fillna(0).astype(int) for name, column in _DP},
        }
    )


def _counts_caption(computed: Computed) -> str:
    frame = _counts(computed)
    behind = max(frame["partition"] - frame[_DP[-1][0]])
    short = "one" if behind == 1 else str(behind)
    return (
        f"All {len(frame)} cells of both tables, at the same σ, ε and δ. Below the dashed line the "
        f"partition answers more. Only the printed numbers are below it by more than {short}; 0 is "
        "shown as ½."
    )


def _counts_figure(computed: Computed) -> Figure:
    frame = _counts(computed)
    figure, ((axes,),) = panels(7.5, 4.6)
    for (name, _), marker, colour in zip(_DP, ("v", "^", "o"), COLOURS, strict=False):
        axes.scatter(
            frame["partition"],
            np.maximum(frame[name], 0.5),
            marker=marker,
            s=42,
            facecolors="none" if name == _DP[-1][0] else colour,
            edgecolors=colour,
            label=name,
        )
    line = np.array([32, 512])
    axes.plot(line, line, color="0.4", linestyle=STYLES[1], linewidth=1, label="as many")
    axes.set(xscale="log", yscale="log", ylabel="queries that DP allows")
    axes.set_xlabel("queries answered by the partition (#SP)")
    axes.set_xticks([32, 64, 128, 256, 512], ["32", "64", "128", "256", "512"])
    axes.minorticks_off()
    axes.set_axisbelow(True)
    axes.grid(color="0.9")
    axes.legend(frameon=False, fontsize=9)
    return figure


def _known_curves() -> tuple[FloatArray, dict[str, PrivacyCurve]]:
    n, epsilon = 2**15, np.linspace(0, 0.1, 200)
    known = (0, n // 2, 7 * n // 8, 31 * n // 32)
    return epsilon, {
        f"{count:,} of {n:,} known": property_curve(n, 0.5, epsilon, known=count) for count in known
    }


def _known_numbers(computed: Computed) -> pd.DataFrame:
    epsilon, curves = _known_curves()
    return _curve_frame(curves, epsilon)


def _known_figure(computed: Computed) -> Figure:
    figure, ((axes,),) = panels(7.5, 4.4)
    draw_curves(axes, _known_curves()[1], logarithmic=True)
    axes.set_ylim(1e-9, 1)
    return figure


EXHIBITS = (
    _table(1, TABLE_1),
    _table(2, TABLE_2),
    _curves(TABLE_1),
    _curves(TABLE_2),
    Exhibit(
        "queries",
        None,
        "figure",
        "How many queries: the partition against differential privacy",
        _counts_caption,
        _counts,
        _counts_figure,
        lambda settings: table_cells(TABLE_1, TABLE_2),
    ),
    Exhibit(
        "known-entries",
        None,
        "figure",
        "What known entries cost (Section 4; the figure missing in the paper)",
        "One property query on all entries. Known entries protect nobody: the curve is that of a "
        "database without them.",
        _known_numbers,
        _known_figure,
        lambda settings: (),
    ),
    Exhibit(
        "composition",
        None,
        "table",
        "Theorems 5.1 to 5.4 in small cases",
        "δ of all answers by its definition, over every database and every partition, next to the "
        "average that the theorem states.",
        lambda computed: computed.frame(ENUMERATED),
        cells=lambda settings: (*table_cells(TABLE_1, TABLE_2), *enumerated_cells(settings)),
    ),
)
