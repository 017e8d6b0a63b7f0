"""What the paper concludes, judged with the mechanisms as published and with better ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from omit._text import show_ratio
from omit.papers.base import Computed
from omit.papers.claims import Claim, Finding, Judge, Standing, claims_in, under_every_reading
from omit.papers.omitting_records import better_mechanisms, cells
from omit.papers.omitting_records.utility import counted, standing_of, standing_of_no_help

_LAPLACE = cells.AGE_MODE.mechanism

_READINGS = {
    better_mechanisms.PUBLISHED: "the mechanisms as published",
    better_mechanisms.BETTER: "the better mechanisms",
}
ON_MECHANISMS = ("better-mechanisms", "best-pairs", "registered-columns")


def _with_either(judge: Callable[[pd.DataFrame], Finding | None]) -> Judge:
    """Return the judge of rows that compare mechanisms, under either reading."""

    def reading(version: str) -> Judge:
        def judged(rows: pd.DataFrame) -> Finding | None:
            part = rows[rows["version"] == version]
            return None if part.empty else judge(part)

        return judged

    return under_every_reading({name: reading(version) for version, name in _READINGS.items()})


def _compared(kind: str) -> Callable[[Computed], object]:
    """Return the function that returns what mechanisms lose by one kind of omission."""

    def rows(computed: Computed) -> pd.DataFrame | None:
        table = computed.once(better_mechanisms.compared)
        return None if table is None else table[table["kind"] == kind]

    return rows


def _in_words(rows: pd.DataFrame) -> str:
    by_statistic = rows.groupby("statistic", sort=False)
    parts = [f"{statistic} {counted(part)}" for statistic, part in by_statistic]
    least = better_mechanisms.least_ratio(rows)
    said = "" if least is None else f" The smallest ratio is {show_ratio(least[0])} ({least[1]})."
    return f"{'; '.join(parts)}.{said}"


def _omission_hurts(rows: pd.DataFrame) -> Finding:
    return Finding(standing_of(rows), _in_words(rows))


def _omission_seldom_helps(rows: pd.DataFrame) -> Finding:
    return Finding(standing_of_no_help(rows), _in_words(rows))


_SAMPLING_HURTS = Claim(
    "Section 3.2",
    "At the same privacy, sampling makes means, modes and medians worse at almost all rates.",
    ON_MECHANISMS,
    _with_either(_omission_hurts),
    _compared("poisson"),
    "sampling-hurts-with-either-mechanism",
)
_SUPPRESSION_HURTS = Claim(
    "Section 6.2",
    "At the same privacy, outlier scores improve means, modes and medians almost never.",
    ON_MECHANISMS,
    _with_either(_omission_seldom_helps),
    _compared("outlier-score"),
    "suppression-hurts-with-either-mechanism",
)


def _laplace_wins(version: str) -> Judge:
    """Return the judge of whether the mode is right more often with Laplace noise."""
    known = {**cells.COLUMN_MECHANISMS, **cells.BETTER_MECHANISMS}
    others = [
        name
        for name, mechanism in known.items()
        if getattr(mechanism, "noise", None) in ("exponential", "gumbel")
        and (name in cells.BETTER_MECHANISMS) == (version == better_mechanisms.BETTER)
    ]
    setting = ["data", "column", "epsilon", "kind", "rate", "m", "M"]

    def judge(table: pd.DataFrame) -> Finding | None:
        rows = table.fillna({"rate": 0.0, "m": 0.0, "M": 0.0})
        laplace = rows[rows["mechanism"] == _LAPLACE]
        least = rows[rows["mechanism"].isin(others)].groupby(setting)[["low", "high"]].min()
        both = laplace.merge(least, on=setting, suffixes=("", "_of_others"))
        won = int((both["high"] < both["low_of_others"]).sum())
        lost = int((both["high_of_others"] < both["low"]).sum())
        if won + lost == 0:
            return None
        share = won / (won + lost)
        return Finding(
            "holds" if share > 0.95 else "holds in part" if share > 0.05 else "fails",
            f"It is right more often than the others in {won:,} of {won + lost:,} settings that "
            f"are decided (column, ε and omission).{_on_all_ages(table, others)}",
        )

    return judge


def _on_all_ages(table: pd.DataFrame, others: Sequence[str]) -> str:
    """Return how often the mode of Adult age is wrong at the smallest epsilon, in a sentence."""
    rows = table[(table["kind"] == "none") & table["mechanism"].isin([_LAPLACE, *others])]
    rows = rows[(rows["data"] == "adult") & (rows["column"] == "age")]
    rows = rows[rows["epsilon"] == rows["epsilon"].min()]
    if rows.empty:
        return ""
    errors = ", ".join(f"{row.mechanism}: {row.error:.4f}" for row in rows.itertuples())
    return f" Wrong on all records of Adult age at ε = {rows['epsilon'].iloc[0]:g}: {errors}."


_LAPLACE_IS_BEST = Claim(
    "Figures 10 to 13",
    "With Laplace noise the mode is right more often than with exponential noise or by the "
    "exponential mechanism.",
    ON_MECHANISMS,
    under_every_reading({name: _laplace_wins(version) for version, name in _READINGS.items()}),
    lambda computed: computed.once(better_mechanisms.compared),
    "laplace-is-best",
)


def _all_records_win(version: str) -> Judge:
    """Return the judge of whether the best pair of mechanism and omission omits nothing."""

    def judge(pairs: pd.DataFrame) -> Finding | None:
        known = pairs[pairs[f"mechanism {version}"].notna()]
        if known.empty:
            return None
        plain = int((known[f"omission {version}"] == "all records").sum())
        standing: Standing = "holds" if plain == len(known) else "holds in part"
        return Finding(
            standing if plain else "fails",
            f"The best pair of mechanism and omission omits nothing in {plain} of {len(known)} "
            "cases (column, statistic and ε).",
        )

    return judge


_NOTHING_BEATS_ALL_RECORDS = Claim(
    "Section 7",
    "Sampling and suppression degrade the trade-off: the best release omits no record.",
    ON_MECHANISMS,
    under_every_reading(
        {
            _READINGS[better_mechanisms.PUBLISHED]: _all_records_win(better_mechanisms.PUBLISHED),
            _READINGS[better_mechanisms.BETTER]: _all_records_win(better_mechanisms.OF_ALL),
        }
    ),
    better_mechanisms.best_pairs,
    "nothing-beats-all-records",
)


CLAIMS = claims_in(globals())
