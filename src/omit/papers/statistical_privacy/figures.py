"""What the statistical-privacy paper shows: its tables, the curves behind them, its theorems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from omit._numeric import FloatArray
from omit.laws.counts import hypergeometric_window
from omit.papers.base import Computed, Exhibit, Settings
from omit.papers.statistical_privacy import cells
from omit.papers.statistical_privacy.theorems import THEOREMS
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style
from omit.statistical.curve import PrivacyCurve
from omit.statistical.figures import draw_curves
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
        quick=True,
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
    return Exhibit(name, title, caption, numbers, draw, lambda settings: needed, quick=True)


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


def _threshold_bounds(computed: Computed) -> dict[float, tuple[FloatArray, float]]:
    """Return Section 4's bound for every threshold, and the average that it bounds, by epsilon."""
    size = cells.SAMPLE
    known, weights, _ = hypergeometric_window(2 * size - 1, size, size - 1, rarity=700.0)
    share = np.zeros(size)
    share[known] = weights
    bounds = {}
    for epsilon, deltas in computed.once(cells.deltas_by_size).items():
        by_known = deltas[::-1]  # none known first
        below = np.cumsum(share)
        bounds[epsilon] = (1 - below + below * by_known, float(share @ by_known))
    return bounds


def _thresholds(computed: Computed) -> pd.DataFrame:
    """Return delta over the number of unknown entries, and the bound over the threshold."""
    bounds = computed.once(_threshold_bounds)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "epsilon": epsilon,
                    "unknown": np.arange(1, len(deltas) + 1),
                    "delta": deltas,
                    "threshold": np.arange(len(deltas) - 1, -1, -1),
                    "bound": bounds[epsilon][0][::-1],
                    "average": bounds[epsilon][1],
                }
            )
            for epsilon, deltas in computed.once(cells.deltas_by_size).items()
        ]
    )


def _threshold_figure(computed: Computed) -> Figure:
    figure, ((left, right),) = panels(10.5, 4.4, columns=2)
    bounds = computed.once(_threshold_bounds)
    curves = computed.once(cells.deltas_by_size)
    for epsilon, deltas in curves.items():
        line = {**epsilon_style(epsilon), "linewidth": 1.8}
        left.plot(np.arange(1, len(deltas) + 1), deltas, label=epsilon_label(epsilon), **line)
        bound, average = bounds[epsilon]
        best = int(np.argmin(bound))
        right.plot(np.arange(len(bound)), bound, label=epsilon_label(epsilon), **line)
        right.plot([best], [bound[best]], "o", color=line["color"], markersize=6)
        right.axhline(average, **{**line, "linewidth": 0.8})
    left.set(xlabel="unknown entries", ylabel="δ", ylim=(0, 1), xlim=(0, cells.SAMPLE))
    right.set(xlabel="threshold: known entries in the sample", ylabel="bound on δ", yscale="log")
    right.set_xlim(cells.SAMPLE * 0.4, cells.SAMPLE * 0.7)
    for axes in (left, right):
        axes.grid(color="0.9")
        axes.legend(frameon=False)
    return figure


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
    for index, ((name, _), marker) in enumerate(zip(_DP, ("v", "^", "o"), strict=True)):
        colour = series_style(index + 1)["color"]
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
    axes.plot(line, line, color="0.4", linestyle="--", linewidth=1, label="as many")
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
        quick=True,
    ),
    _curves(
        "known-entries",
        "What known entries cost (Section 4)",
        "One property query on all entries. Known entries protect nobody: the curve is that of a "
        "database without them.",
        _known_curves,
        1e-9,
    ),
    THEOREMS.exhibit(),
    Exhibit(
        "threshold",
        "δ at a fixed ε: first rapid, then flat (Section 4; the figure missing in the paper)",
        f"Left: δ of a count over the unknown entries among those it is computed on, p = 1/2. "
        f"Right: a sample of {cells.SAMPLE:,} of {2 * cells.SAMPLE:,} entries of which the "
        "adversary knows half. If more than the threshold of the sample are known, δ counts as 1, "
        "else as that at the threshold; dots are the best thresholds, and thin lines the average "
        "over the number of known entries, which every threshold bounds.",
        _thresholds,
        _threshold_figure,
        lambda settings: (),
        quick=True,
    ),
)
