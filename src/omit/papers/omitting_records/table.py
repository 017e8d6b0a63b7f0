"""The results of the paper's cells as one table, and where each omission stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omit.papers.omitting_records.figures import PaperFigure, Subject

if TYPE_CHECKING:
    import pandas as pd

SURE = 4.0
"""A simulated difference is decided beyond so many standard deviations of a normal law: by luck, in
either direction, in one cell of 15,800. With few runs, Student's law takes its place."""

_NORMAL = 1.959963984540054

COLUMNS = [
    "data",
    "column",
    "mechanism",
    "epsilon",
    "kind",
    "rate",
    "m",
    "M",
    "bound",
    "noise_reduction",
    "base_epsilon",
    "base_delta",
    "kept",
    "error",
    "low",
    "high",
    "method",
    "without_omission",
    "gain",
    "standing",
]


def judged(results: pd.DataFrame) -> pd.DataFrame:
    """Return the table of results with the error without omission, the gain and the standing.

    `gain` is the error without omission less that with it, as the paper's plots show it: positive
    where leaving records out helps. `standing` is better, worse, undecided or unattainable: by the
    intervals of exact errors, by `SURE` where something was simulated.
    """
    import numpy as np
    import pandas as pd
    from scipy.special import ndtr, stdtrit

    table = results.copy()
    optional = ("column", "measured_on", "bounds", "exact", "difference", "difference_deviation")
    for name in optional:
        if name not in table:
            table[name] = None
    for name in ("error", "low", "high", "rate", "m", "M", "difference", "difference_deviation"):
        table[name] = pd.to_numeric(table[name])
    keys = ["data", "column", "mechanism", "epsilon", "runs", "exact", "measured_on", "bounds"]
    for name in ("column", "measured_on", "bounds", "exact"):
        table[name] = table[name].astype(object).where(table[name].notna(), "")
    plain = table[table["kind"] == "none"][[*keys, "error", "low", "high"]]
    plain = plain.rename(
        columns={"error": "without_omission", "low": "plain_low", "high": "plain_high"}
    )
    table = table.merge(plain, on=keys, how="left", validate="many_to_one")
    table["gain"] = table["without_omission"] - table["error"]
    # Half of a 95 % interval is 1.96 standard errors; an exact one has next to no width.
    deviation = np.hypot(
        (table["high"] - table["low"]) / (2 * _NORMAL),
        (table["plain_high"] - table["plain_low"]) / (2 * _NORMAL),
    )
    paired = table["difference"].notna()
    spread = np.where(paired, table["difference_deviation"], deviation)
    margin = spread * stdtrit(table["runs"].astype(float) - 1, ndtr(SURE))
    simulated = table["method"] == "simulated"
    worse = np.where(simulated, table["gain"] < -margin, table["low"] > table["plain_high"])
    better = np.where(simulated, table["gain"] > margin, table["high"] < table["plain_low"])
    table["standing"] = np.select(
        [table["kind"] == "none", table["error"].isna(), worse, better],
        ["baseline", "unattainable", "worse", "better"],
        "undecided",
    )
    return table


def of_subject(table: pd.DataFrame, subject: Subject) -> pd.DataFrame:
    """Return the rows of a subject."""
    return table[
        (table["data"] == subject.data)
        & (table["column"] == (subject.column or ""))
        & (table["mechanism"] == subject.mechanism)
    ]


def of_figure(table: pd.DataFrame, figure: PaperFigure) -> pd.DataFrame:
    """Return the rows that a figure shows, in its order."""
    import pandas as pd

    kind = "poisson" if figure.kind == "sampling" else "outlier-score"
    parts = []
    for subject in figure.subjects:
        rows = of_subject(table, subject)
        shown = (rows["kind"] == kind) & (rows["noise_reduction"] == figure.noise_reduction)
        parts.append(rows[(rows["kind"] == "none") | shown])
    return pd.concat(parts)[COLUMNS]
