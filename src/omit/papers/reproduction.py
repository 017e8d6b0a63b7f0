"""What a paper says, and whether it holds.

The folder of a reproduced paper: its figures, their data, and a page that shows them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from omit.errors import InvalidInput
from omit.report.files import one_at_a_time, save_figure, unfinished_in
from omit.report.page import html_table, page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


Standing: TypeAlias = Literal["holds", "holds in part", "does not hold", "not tested"]


@dataclass(frozen=True)
class Verdict:
    """One claim of a paper beside what was found.

    Parameters
    ----------
    claim : str
        What the paper says, in one sentence of our own.
    where : str
        The section, figure or theorem that says it.
    standing : {"holds", "holds in part", "does not hold", "not tested"}
        What became of it.
    finding : str
        The numbers that decide it, in one sentence.

    Examples
    --------
    >>> Verdict("Two and two are five.", "Section 1", "does not hold", "They are 4.").standing
    'does not hold'
    """

    claim: str
    where: str
    standing: Standing
    finding: str

    def __post_init__(self) -> None:
        known = get_args(Standing)
        if self.standing not in known:
            raise InvalidInput(
                f"Expected standing={self.standing!r} to be one of: {', '.join(known)}."
            )


def standing(holds: bool) -> Standing:
    """Return what became of a claim that holds or does not."""
    return "holds" if holds else "does not hold"


def agreement(parts: Sequence[bool]) -> Standing:
    """Return what became of a claim of several parts: all, some or none of them hold.

    Examples
    --------
    >>> agreement([True, True]), agreement([True, False]), agreement([False, False])
    ('holds', 'holds in part', 'does not hold')
    """
    return "holds in part" if any(parts) and not all(parts) else standing(all(parts))


@dataclass(frozen=True)
class Paper:
    """A paper that is reproduced: its short name, its title and how to cite it."""

    name: str
    title: str
    citation: str


_FEW = 12


@dataclass(frozen=True, eq=False)
class Exhibit:
    """One figure or table of a paper, computed anew.

    Parameters
    ----------
    name : str
        What its files are called, such as ``figure-08``.
    title, caption : str
        What it is, and what to see in it.
    table : DataFrame
        The numbers, written as CSV.
    figure : Figure or function, optional
        The picture, or what draws it when it is needed, written as SVG; without one the table
        itself is shown.
    verdicts : tuple of Verdict
        What the paper says about it, and whether it holds.
    shown : DataFrame, optional
        What the page shows of the table, if that is not all of it.
    """

    name: str
    title: str
    caption: str
    table: pd.DataFrame
    figure: Figure | Callable[[], Figure] | None = None
    verdicts: tuple[Verdict, ...] = ()
    shown: pd.DataFrame | None = None


def write_reproduction(
    folder: Path,
    paper: Paper,
    exhibits: Sequence[Exhibit],
    verdicts: Sequence[Verdict] = (),
    notes: Sequence[str] = (),
    advance: Callable[[], None] | None = None,
) -> Path:
    """Write every exhibit's files and the page ``index.html``, and return the page's path.

    Nothing is put in place before all of it is written. A page is there only while all that it
    shows is there too; what else the folder holds is left alone.

    Parameters
    ----------
    folder : Path
        Where to write; made if it does not exist.
    paper : Paper
        What is reproduced.
    exhibits : sequence of Exhibit
        Its figures and tables, in the order of the page.
    verdicts : sequence of Verdict
        All claims, in the order of the page; those of exhibits are added if they are missing.
    notes : sequence of str
        How it was computed, how long that took, and what must be said beside it.
    advance : function, optional
        Called after each exhibit.

    Raises
    ------
    InvalidInput
        If the folder cannot be written to.
    """
    every = every_verdict(exhibits, verdicts)
    sections = [
        f"<h1>{escape(paper.title)}</h1>",
        f"<p>{escape(paper.citation)}</p>",
        *(f"<p>{escape(note)}</p>" for note in notes),
    ]
    if every:
        sections += ["<h2>What the paper says, and whether it holds</h2>", verdict_table(every)]
    sections += [_contents(exhibits), *(_section(exhibit) for exhibit in exhibits)]
    index = folder / "index.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with unfinished_in(folder) as unfinished:
            (unfinished / index.name).write_text(
                page(f"omit: {paper.title}", sections), encoding="utf-8"
            )
            shown: list[Path] = []
            for exhibit in exhibits:
                shown += _write_files(exhibit, unfinished)
                if advance is not None:
                    advance()
            # An old page goes before the first of its files, the new one comes after its last.
            with one_at_a_time(folder):
                index.unlink(missing_ok=True)
                for file in (*shown, unfinished / index.name):
                    file.replace(folder / file.name)
    except OSError as error:
        raise InvalidInput(f"Cannot write to {folder}: {error.strerror or error}.") from error
    return index


def every_verdict(
    exhibits: Sequence[Exhibit], verdicts: Sequence[Verdict] = ()
) -> tuple[Verdict, ...]:
    """Return the verdicts on the whole and then those of exhibits, none of them twice."""
    beside = (each for exhibit in exhibits for each in exhibit.verdicts)
    return tuple(dict.fromkeys((*verdicts, *beside)))


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """Return claims, where they stand, and what became of them as an HTML table."""
    rows = [(each.where, each.claim, each.standing, each.finding) for each in verdicts]
    return html_table(("where", "the paper says", "it", "found"), rows, ("", "", "standing", ""))


def _write_files(exhibit: Exhibit, folder: Path) -> list[Path]:
    """Write the numbers and the picture of an exhibit, and return their files."""
    numbers = folder / f"{exhibit.name}.csv"
    exhibit.table.to_csv(numbers, index=False)
    if exhibit.figure is None:
        return [numbers]
    picture = folder / f"{exhibit.name}.svg"
    # Drawn only now and not kept: a paper may have many figures.
    figure = exhibit.figure() if callable(exhibit.figure) else exhibit.figure
    save_figure(figure, picture)
    return [numbers, picture]


def _contents(exhibits: Sequence[Exhibit]) -> str:
    """Return links to the exhibits of a long page."""
    if len(exhibits) <= _FEW:
        return ""
    links = (
        f'<a href="#{each.name}">{escape(each.title.partition(":")[0])}</a>' for each in exhibits
    )
    return f"<h2>Figures and tables</h2><p>{' · '.join(links)}</p>"


def _section(exhibit: Exhibit) -> str:
    if exhibit.figure is not None:
        shown = f'<img src="{exhibit.name}.svg" alt="{escape(exhibit.title)}" loading="lazy">'
    else:
        table = exhibit.table if exhibit.shown is None else exhibit.shown
        shown = html_table(
            [str(name) for name in table.columns],
            [[_cell(value) for value in row] for row in table.itertuples(index=False)],
            ["number" if table[name].dtype.kind in "fi" else "" for name in table.columns],
        )
    said = verdict_table(exhibit.verdicts) if exhibit.verdicts else ""
    return (
        f'<h2 id="{exhibit.name}">{escape(exhibit.title)}</h2><figure>{shown}'
        f"<figcaption>{escape(exhibit.caption)} "
        f'<a href="{exhibit.name}.csv">The numbers</a>.</figcaption></figure>{said}'
    )


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
