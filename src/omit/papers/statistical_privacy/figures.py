"""What the statistical-privacy paper shows: its tables, the curves behind them, its theorems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from omit.papers.base import Computed, Exhibit, Settings
from omit.papers.statistical_privacy import cells
from omit.report.figure import panels
from omit.statistical.curve import PrivacyCurve
from omit.statistical.figures import COLOURS, STYLES, draw_curves
from omit.statistical.partition import Partition
from omit.statistical.properties import property_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from omit.study.cell import Cell

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


def _table(number: int, table: cells.PrintedTable) -> Exhibit:
    return Exhibit(
        table.name,
        f"Table {number}: {table.n:,} entries, p = 1/2",
        "Printed next to computed. σ and δ (by Theorem 5.1) are printed cut off after four "
        "decimals; the formula's value became the printed #DP cut off (↓) or rounded (≈). '#DP "
        "exact' is by exact accounting at the δ of Theorem 5.1, the last column at the exact δ.",
        lambda computed: table_frame(table.compared(computed)),
        cells=lambda settings: table.cells(),
    )


def _curves(
    name: str,
    title: str,
    caption: str,
    curves: Callable[[], Mapping[str, PrivacyCurve]],
    smallest: float,
    table: cells.PrintedTable | None = None,
) -> Exhibit:
    """Return a figure of curves, with the epsilons of a table marked."""

    def numbers(computed: Computed) -> pd.DataFrame:
        drawn = curves()
        epsilon = next(iter(drawn.values())).epsilon
        return pd.DataFrame({"epsilon": epsilon, **{n: c.delta for n, c in drawn.items()}})

    def draw(computed: Computed) -> Figure:
        figure, ((axes,),) = panels(7.5, 4.4)
        draw_curves(axes, curves(), logarithmic=True)
        axes.set_ylim(smallest, 1)
        for epsilon in table.epsilons if table else ():
            axes.axvline(epsilon, color="0.25", linewidth=1.2, linestyle=(0, (4, 3)), zorder=2.5)
        return figure

    needed = table.cells() if table else ()
    return Exhibit(name, title, caption, numbers, draw, lambda settings: needed)


def _curves_of(table: cells.PrintedTable) -> Exhibit:
    def curves() -> dict[str, PrivacyCurve]:
        queries = [row[0] for row in table.rows][:: 2 if len(table.rows) > 3 else 1]
        epsilon = np.linspace(0, 3 * table.epsilons[-1], 200)
        bounds = {
            f"{count} queries, Theorem 5.1": Partition.equal(table.n, count).property_bound(
                0.5, epsilon
            )
            for count in queries[::-1]
        }
        return {**bounds, "exact, any number of queries": property_curve(table.n, 0.5, epsilon)}

    return _curves(
        f"curves-{table.name}",
        f"Curves of a partition of {table.n:,} entries, p = 1/2",
        "δ over ε for one property asked of every block. The bound grows with the number of "
        "blocks; the exact curve does not depend on it. Vertical lines are the table's ε.",
        curves,
        1e-6,
        table,
    )


def _known_curves() -> dict[str, PrivacyCurve]:
    n, epsilon = 2**15, np.linspace(0, 0.1, 200)
    return {
        f"{known:,} of {n:,} known": property_curve(n, 0.5, epsilon, known=known)
        for known in (0, n // 2, 7 * n // 8, 31 * n // 32)
    }


_DP = (
    ("DP, as printed", "printed_dp"),
    ("DP, exact at the theorem's delta", "dp_at_theorem"),
    ("DP, exact at the exact delta", "dp_at_exact"),
)


def _counts(computed: Computed) -> pd.DataFrame:
    table = cells.both_tables(computed)
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


def _cells_of_both(settings: Settings) -> tuple[Cell, ...]:
    return cells.TABLE_1.cells() + cells.TABLE_2.cells()


EXHIBITS = (
    _table(1, cells.TABLE_1),
    _table(2, cells.TABLE_2),
    _curves_of(cells.TABLE_1),
    _curves_of(cells.TABLE_2),
    Exhibit(
        "queries",
        "How many queries: the partition against differential privacy",
        _counts_caption,
        _counts,
        _counts_figure,
        _cells_of_both,
    ),
    _curves(
        "known-entries",
        "What known entries cost (Section 4; the figure missing in the paper)",
        "One property query on all entries. Known entries protect nobody: the curve is that of a "
        "database without them.",
        _known_curves,
        1e-9,
    ),
    Exhibit(
        "composition",
        "Theorems 5.1 to 5.4 in small cases",
        "δ of all answers by its definition, over every database and every partition, next to the "
        "average that the theorem states.",
        lambda computed: computed.frame(cells.ENUMERATED),
        cells=lambda settings: (
            *_cells_of_both(settings),
            *cells.ENUMERATED.grid(case=list(cells.SMALL_CASES)),
        ),
    ),
)
