"""The reproduction of the paper on omitting records as a folder with a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omit.papers.omitting_records.claims import survival, verdicts
from omit.papers.omitting_records.figures import Figure
from omit.papers.omitting_records.table import judged, of_figure
from omit.papers.verdict import Verdict
from omit.report.omission_figures import paper_figure
from omit.report.reproduction import Exhibit

if TYPE_CHECKING:
    import pandas as pd

_SAMPLING = (
    "Every release on a line has the same guarantee. Grey: 95 % interval of simulated errors; "
    "lines without are exact."
)
_SUPPRESSION = (
    "Blue: suppression helps, orange: it hurts. To the right of the line suppression "
    "amplifies privacy by the named bound."
)
_WITHOUT = (
    "The mechanism alone has the guarantee; its noise is not reduced. Releases differ in privacy."
)


def exhibits(
    figures: Sequence[Figure], results: pd.DataFrame
) -> tuple[list[Exhibit], tuple[Verdict, ...]]:
    """Return every figure with its numbers, and the verdicts on the paper's claims.

    Parameters
    ----------
    figures : sequence of Figure
        What was asked for.
    results : DataFrame
        The table of the study; may be empty if only figures without data were asked for.
    """
    import pandas as pd

    with_data = [each for each in figures if each.kind != "privacy"]
    table = judged(results) if with_data else pd.DataFrame()
    found = [_exhibit(figure, table) for figure in figures]
    if not with_data:
        return found, ()
    surviving = survival(table)
    if not surviving.empty:
        caption = (
            "At the same guarantee: in how many of 180 cells (ε, m, M) suppression is worse, "
            "undecided or better than no omission, and how many cannot reach the guarantee."
        )
        title = "Does the paper's conclusion survive the tight privacy bound?"
        found.insert(0, Exhibit("conclusion", title, caption, surviving))
    return found, verdicts(table)


def timing_notes(timings: pd.DataFrame, wall_seconds: float, where: str) -> tuple[str, ...]:
    """Return how long everything took, and the split by statistic."""
    if timings.empty:
        return ()
    statistic = timings["mechanism"].str.split(",").str[0]
    split = timings.groupby(statistic)["seconds"].sum().sort_values(ascending=False)
    parts = ", ".join(f"{name} {_duration(seconds)}" for name, seconds in split.items())
    return (
        f"Computed {len(timings):,} cells in {_duration(wall_seconds)} of wall time ({where}); "
        f"work by statistic, summed over cores: {parts}. The authors state about five days on 64 "
        "cores.",
    )


def _exhibit(figure: Figure, table: pd.DataFrame) -> Exhibit:
    import pandas as pd

    title = f"Figure {figure.number}: {_subject(figure)}"
    drawing = paper_figure(figure, table)
    if figure.kind == "privacy":
        caption = (
            "What outlier-score suppression leaves of ε, by both bounds; nothing is simulated."
        )
        return Exhibit(figure.name, title, caption, pd.DataFrame({"figure": ["privacy"]}), drawing)
    caption = _SAMPLING if figure.kind == "sampling" else _SUPPRESSION
    if not figure.noise_reduction:
        caption = f"{_WITHOUT} {_SUPPRESSION}"
    return Exhibit(figure.name, title, caption, of_figure(table, figure), drawing)


def _subject(figure: Figure) -> str:
    if figure.kind == "privacy":
        return "privacy of outlier-score suppression"
    what = "Poisson sampling" if figure.kind == "sampling" else "outlier-score suppression"
    names = "; ".join(each.title for each in figure.subjects)
    less = "" if figure.noise_reduction else ", without noise reduction"
    return f"{what}{less}: {names}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
