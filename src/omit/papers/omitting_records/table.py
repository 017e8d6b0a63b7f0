"""The results of the paper's cells as one table, and where each omission stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omit.papers.omitting_records.figures import Figure, Subject

if TYPE_CHECKING:
    import pandas as pd

# A simulated difference counts beyond this many standard errors: by luck in one cell of 31,000.
SURE = 4.0

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
    intervals of exact errors, by four standard errors of simulated differences.
    """
    import numpy as np
    import pandas as pd

    table = results.copy()
    for name in ("column", "measured_on", "difference", "difference_deviation"):
        if name not in table:
            table[name] = None
    for name in ("error", "low", "high", "rate", "m", "M", "difference", "difference_deviation"):
        table[name] = pd.to_numeric(table[name])
    keys = ["data", "column", "mechanism", "epsilon", "runs"]
    table["column"] = table["column"].astype(object).where(table["column"].notna(), "")
    plain = table[table["kind"] == "none"][[*keys, "error", "low", "high"]]
    plain = plain.rename(
        columns={"error": "without_omission", "low": "plain_low", "high": "plain_high"}
    )
    table = table.merge(plain, on=keys, how="left", validate="many_to_one")
    table["gain"] = table["without_omission"] - table["error"]
    simulated = table["difference"].notna()
    margin = SURE * table["difference_deviation"]
    worse = np.where(simulated, table["difference"] > margin, table["low"] > table["plain_high"])
    better = np.where(simulated, table["difference"] < -margin, table["high"] < table["plain_low"])
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


def of_figure(table: pd.DataFrame, figure: Figure) -> pd.DataFrame:
    """Return the rows that a figure shows, in its order."""
    import pandas as pd

    kind = "poisson" if figure.kind == "sampling" else "outlier-score"
    parts = []
    for subject in figure.subjects:
        rows = of_subject(table, subject)
        shown = (rows["kind"] == kind) & (rows["noise_reduction"] == figure.noise_reduction)
        parts.append(rows[(rows["kind"] == "none") | shown])
    return pd.concat(parts)[COLUMNS]
