"""The reproduction of the paper on omitting records as a folder with a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from omit.omissions.outlier_score_bounds import mixture_epsilon, published_epsilon
from omit.papers.omitting_records.claims import survival, verdicts
from omit.papers.omitting_records.figures import PaperFigure
from omit.papers.omitting_records.table import judged, of_figure
from omit.papers.verdict import Verdict
from omit.report.omission_figures import paper_figure
from omit.report.privacy_figure import PRIVACY_EPSILONS
from omit.report.reproduction import Exhibit

if TYPE_CHECKING:
    import pandas as pd

_GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))

_SAMPLING = (
    "Every release on a line has the same guarantee. Grey: 95 % interval of simulated errors; "
    "lines without are exact."
)
_SUPPRESSION = "Blue: suppression helps, orange: it hurts, white with grey numbers: undecided."
_LINE = "To the right of the line suppression amplifies privacy by the named bound."
_WITHOUT = (
    "The mechanism alone has the guarantee; its noise is not reduced. Releases differ in privacy."
)


def exhibits(
    figures: Sequence[PaperFigure], results: pd.DataFrame
) -> tuple[list[Exhibit], tuple[Verdict, ...]]:
    """Return every figure with its numbers, and the verdicts on the paper's claims.

    Parameters
    ----------
    figures : sequence of PaperFigure
        What was asked for.
    results : DataFrame
        The table of the study; may be empty if only figures without data were asked for.
    """
    with_data = [each for each in figures if each.kind != "privacy"]
    if not with_data:
        return [_privacy_exhibit(figure) for figure in figures], ()
    table = judged(results)
    judged_claims = verdicts(table)
    found = []
    for figure in figures:
        beside = tuple(each for each, numbers in judged_claims if figure.number in numbers)
        if figure.kind == "privacy":
            found.append(_privacy_exhibit(figure))
        else:
            found.append(_exhibit(figure, table, beside))
    surviving = survival(table)
    if not surviving.empty:
        caption = (
            "At the same guarantee: in how many of 180 cells (ε, m, M) suppression is worse or "
            "better than no omission; the others cannot reach the guarantee by that bound. "
            "Undecided: modes that are never missed either way, and differences that the runs do "
            "not resolve."
        )
        title = "Does the paper's conclusion survive the tight privacy bound?"
        found.insert(
            0, Exhibit("conclusion", title, caption, surviving, shown=_side_by_side(surviving))
        )
    return found, tuple(each for each, _ in judged_claims)


def timing_notes(
    timings: pd.DataFrame, runs: Sequence[tuple[float, int]], where: str
) -> tuple[str, ...]:
    """Return how long everything took, and the split by statistic.

    Parameters
    ----------
    timings : DataFrame
        The seconds of every cell, as `Results.timings` gives them.
    runs : sequence of tuple
        The wall time and the number of new cells of every run.
    where : str
        Where they ran.
    """
    if timings.empty:
        return ()
    statistic = timings["mechanism"].str.split(",").str[0]
    split = timings.groupby(statistic)["seconds"].sum().sort_values(ascending=False)
    parts = ", ".join(f"{name} {_duration(seconds)}" for name, seconds in split.items())
    computed = sum(cells for _, cells in runs)
    several = "" if len(runs) == 1 else f" in {len(runs)} runs"
    said = (
        [
            f"{computed:,} cells computed in {_duration(sum(each for each, _ in runs))} of wall "
            f"time{several} ({where})"
        ]
        if runs
        else []
    )
    if computed < len(timings):
        said.append(
            f"{len(timings) - computed:,} cells were there from runs of other figures, or runs "
            "that were interrupted"
        )
    return (
        f"{'; '.join(said)}. Work by statistic, summed over cores: {parts}. The authors state "
        "about five days on 64 cores.",
    )


def _side_by_side(surviving: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each statistic and data, with the counts of both bounds in words."""
    import pandas as pd

    lines = []
    for (statistic, data), part in surviving.groupby(["statistic", "data"], sort=False):
        line = {"statistic": statistic, "data": data}
        for row in part.to_dict("records"):
            counts = [(row[name], name) for name in ("worse", "undecided", "better")]
            line[f"{row['bound']} bound"] = ", ".join(f"{n} {name}" for n, name in counts if n)
        said = dict(zip(part["bound"], part["conclusion survives"], strict=True))
        if len(set(said.values())) == 1:
            line["survives"] = next(iter(said.values()))
        else:
            line["survives"] = "; ".join(f"{bound}: {each}" for bound, each in said.items())
        lines.append(line)
    return pd.DataFrame(lines)


def _exhibit(figure: PaperFigure, table: pd.DataFrame, beside: tuple[Verdict, ...]) -> Exhibit:
    caption = _SAMPLING if figure.kind == "sampling" else f"{_SUPPRESSION} {_LINE}"
    if not figure.noise_reduction:
        caption = f"{_WITHOUT} {_SUPPRESSION}"
    title = f"Figure {figure.number}: {_subject(figure)}"
    numbers = of_figure(table, figure)
    return Exhibit(
        figure.name, title, caption, numbers, partial(paper_figure, figure, table), beside
    )


def _privacy_exhibit(figure: PaperFigure) -> Exhibit:
    """Return the figure without data, with both bounds on a grid as its numbers."""
    import pandas as pd

    lines = [
        {
            "epsilon": epsilon,
            "m": m,
            "M": M,
            "published": float(published_epsilon(epsilon, m, M)),
            "mixture": float(mixture_epsilon(epsilon, m, M)),
        }
        for epsilon in PRIVACY_EPSILONS
        for m in _GRID
        for M in _GRID
        if m <= M
    ]
    return Exhibit(
        figure.name,
        f"Figure {figure.number}: {_subject(figure)}",
        "What outlier-score suppression leaves of ε, by both bounds; nothing is simulated.",
        pd.DataFrame(lines),
        partial(paper_figure, figure, pd.DataFrame()),
    )


def _subject(figure: PaperFigure) -> str:
    if figure.kind == "privacy":
        return "privacy of outlier-score suppression"
    what = "Poisson sampling" if figure.kind == "sampling" else "outlier-score suppression"
    by_place: dict[str, list[str]] = {}
    for subject in figure.subjects:
        by_place.setdefault(subject.place, []).append(subject.mechanism)
    names = "; ".join(f"{place} ({'; '.join(of)})" for place, of in by_place.items())
    less = "" if figure.noise_reduction else ", without noise reduction"
    return f"{what}{less}: {names}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
