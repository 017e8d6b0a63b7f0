"""The page of the disclosure-control paper: every table and figure with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from omit.disclosure.usefulness import GroupMap
from omit.papers import disclosure_verdicts as verdicts
from omit.papers.disclosure_control import figure_1
from omit.papers.disclosure_runs import SEED, Results
from omit.report import disclosure_figures as draw
from omit.report.group_map_figure import group_map_figure
from omit.report.reproduction import Exhibit


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
            second, draw.errors_and_fairness(second), verdicts.figure_2_verdicts(second),
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
            fourth, draw.accuracies(fourth), verdicts.figure_4_verdicts(fourth),
        ),
        Exhibit(
            "figure-5", "Figure 5: unique exact matches",
            f"Mean of {runs} runs; counts are rounded. A larger value discloses more (the paper "
            "also says that a higher score is a smaller risk: the two sentences contradict).",
            fifth, draw.matches(fifth), verdicts.figure_5_verdicts(fifth),
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
