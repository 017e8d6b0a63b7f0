"""The page of the statistical-privacy paper: its tables, and the curves behind them."""

from __future__ import annotations

import numpy as np

from omit.papers.reproduction import Exhibit
from omit.papers.statistical_privacy.claims import (
    TABLE_1,
    TABLE_2,
    Cell,
    PrintedTable,
    cell_frame,
    table_verdicts,
)
from omit.statistical.curve import COLOURS, STYLES, draw_curves
from omit.statistical.partition import Partition
from omit.statistical.properties import property_curve

NOTE = (
    "Statistical privacy and differential privacy are different promises: the first assumes that "
    "the adversary knows the distribution of the entries and none of the entries. Where numbers of "
    "queries stand side by side, it is the paper that compares them."
)


def exhibits(first: list[Cell], second: list[Cell]) -> list[Exhibit]:
    """Return both tables, given as their cells, and the curves behind them."""
    return [
        _table(TABLE_1, first),
        _table(TABLE_2, second),
        _curves(TABLE_1),
        _curves(TABLE_2),
        _counts([*first, *second]),
        _known(),
    ]


def _table(table: PrintedTable, every: list[Cell]) -> Exhibit:
    return Exhibit(
        table.name,
        f"{table.name.replace('-', ' ').capitalize()}: {table.n:,} entries, p = 1/2",
        "Printed beside found. σ and δ (by Theorem 5.1) are printed cut off after four decimals; "
        "the formula's value became the printed #DP cut off (↓) or rounded (≈). '#DP exact' is by "
        "exact accounting at the δ of Theorem 5.1, the last column at the exact δ.",
        cell_frame(every),
        verdicts=table_verdicts(table.name, every),
    )


def _curves(table: PrintedTable) -> Exhibit:
    import pandas as pd
    from matplotlib.figure import Figure

    queries = [row[0] for row in table.rows][:: 2 if len(table.rows) > 3 else 1]
    epsilon = np.linspace(0, 3 * table.epsilons[-1], 200)
    curves = {
        f"{count} queries, Theorem 5.1": Partition.equal(table.n, count).property_bound(
            0.5, epsilon
        )
        for count in queries[::-1]
    }
    curves["exact, any number of queries"] = property_curve(table.n, 0.5, epsilon)
    figure = Figure(figsize=(7.5, 4.4), layout="constrained")
    axes = figure.subplots()
    draw_curves(axes, curves, logarithmic=True)
    axes.set_ylim(1e-6, 1)
    for each in table.epsilons:
        axes.axvline(each, color="0.25", linewidth=1.2, linestyle=(0, (4, 3)), zorder=2.5)
    frame = pd.DataFrame(
        {"epsilon": epsilon, **{name: curve.delta for name, curve in curves.items()}}
    )
    return Exhibit(
        f"curves-{table.name}",
        f"Curves of a partition of {table.n:,} entries, p = 1/2",
        "δ over ε for one property asked of every block. The bound grows with the number of "
        "blocks; the exact curve does not depend on it. Vertical lines are the table's ε.",
        frame,
        figure,
    )


def _counts(every: list[Cell]) -> Exhibit:
    import pandas as pd
    from matplotlib.figure import Figure

    frame = pd.DataFrame(
        {
            "n": [cell.found.partition.n for cell in every],
            "epsilon": [cell.epsilon for cell in every],
            "partition": [cell.queries for cell in every],
            "DP, as printed": [cell.printed_dp for cell in every],
            "DP, exact at the theorem's delta": [
                cell.found.dp_at_theorem.exact if cell.found.dp_at_theorem else 0 for cell in every
            ],
            "DP, exact at the exact delta": [
                cell.found.dp_at_exact.exact if cell.found.dp_at_exact else 0 for cell in every
            ],
        }
    )
    behind = max(frame["partition"] - frame["DP, exact at the exact delta"])
    short = "one" if behind == 1 else str(behind)
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    axes = figure.subplots()
    kinds = list(frame.columns[3:])
    for place, (kind, marker) in enumerate(zip(kinds, ("v", "^", "o"), strict=True)):
        axes.scatter(
            frame["partition"],
            np.maximum(frame[kind], 0.5),
            marker=marker,
            s=42,
            facecolors="none" if kind == kinds[-1] else COLOURS[place],
            edgecolors=COLOURS[place],
            label=kind,
        )
    line = np.array([32, 512])
    axes.plot(line, line, color="0.4", linestyle=STYLES[1], linewidth=1, label="as many")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="queries answered by the partition (#SP)",
        ylabel="queries that DP allows",
    )
    axes.set_xticks([32, 64, 128, 256, 512], ["32", "64", "128", "256", "512"])
    axes.minorticks_off()
    axes.set_axisbelow(True)
    axes.grid(color="0.9")
    axes.legend(frameon=False, fontsize=9)
    return Exhibit(
        "queries",
        "How many queries: the partition against differential privacy",
        "All 24 cells of both tables, at the same σ, ε and δ. Below the dashed line the partition "
        f"answers more. Only the printed numbers are below it by more than {short}; 0 is shown "
        "as ½.",
        frame,
        figure,
    )


def _known() -> Exhibit:
    import pandas as pd
    from matplotlib.figure import Figure

    n, p = 2**15, 0.5
    epsilon = np.linspace(0, 0.1, 200)
    known = (0, n // 2, 7 * n // 8, 31 * n // 32)
    curves = {
        f"{count:,} of {n:,} known": property_curve(n, p, epsilon, known=count) for count in known
    }
    figure = Figure(figsize=(7.5, 4.4), layout="constrained")
    axes = figure.subplots()
    draw_curves(axes, curves, logarithmic=True)
    axes.set_ylim(1e-9, 1)
    frame = pd.DataFrame(
        {"epsilon": epsilon, **{name: curve.delta for name, curve in curves.items()}}
    )
    return Exhibit(
        "known-entries",
        "What known entries cost (Section 4; the figure missing in the paper)",
        "One property query on all entries. Known entries protect nobody: the curve is that of a "
        "database without them.",
        frame,
        figure,
    )
