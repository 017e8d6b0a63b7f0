"""Reproducing a paper: its cells as a study, its exhibits in a folder, its claims with verdicts."""

from __future__ import annotations

import math
import numbers
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omit import _validate
from omit._text import nearest, show_duration
from omit.errors import InvalidInput
from omit.papers.base import Computed, Exhibit, OwnData, Paper, Settings, paper
from omit.papers.claims import Claim, Finding, Standing
from omit.report.files import (
    OWNER_ONLY,
    OWNERS_FOLDER,
    one_at_a_time,
    save_figure,
    unfinished_in,
)
from omit.report.page import Made, page
from omit.report.result import CURATOR, PUBLIC, Drawing, Ends, Field, Result, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omit.study.cell import Cell
    from omit.study.run import Report


@dataclass(frozen=True)
class Verdict:
    """A claim with its standing and the evidence."""

    claim: Claim
    finding: Finding

    @property
    def readings(self) -> tuple[tuple[str, Finding], ...]:
        """What was found under every reading, if there are several."""
        return tuple(self.finding.readings.items())

    def row(self) -> tuple[str, str, str, str, str, str]:
        """Return name, kind, source, sentence, standing and evidence, as tables have them."""
        claim, finding = self.claim, self.finding
        return claim.name, claim.kind, claim.where, claim.sentence, *_found(finding)

    def reading_rows(self) -> list[tuple[str, str, str, str, float | None]]:
        """Return for every reading the claim, the reading, standing, evidence and distance."""
        return [
            (self.claim.name, name, *_found(finding), finding.distance)
            for name, finding in self.readings
        ]


CLAIM_FIELDS = (
    Field("Name", "name"),
    Field("Kind", "kind"),
    Field("Source", "source"),
    Field("Claim", "claim"),
    Field("Verdict", "verdict"),
    Field("Evidence", "evidence"),
)
READING_FIELDS = (
    Field("Claim", "claim"),
    Field("Reading", "reading"),
    Field("Verdict", "verdict"),
    Field("Evidence", "evidence"),
    Field("Off the print", "distance", "{:.1%}".format, numeric=True),
)


def _found(finding: Finding) -> tuple[str, str]:
    return finding.standing, finding.evidence


_COUNTED: Mapping[Standing, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "holds in part": ("holds in part", "hold in part"),
    "fails": ("fails", "fail"),
    "not tested": ("is not tested", "are not tested"),
}


def counted(findings: Iterable[Finding]) -> str:
    """Return how many claims hold, hold in part, fail or are not tested, in a sentence."""
    counts = Counter(finding.standing for finding in findings)
    parts = [
        f"{counts[standing]} {words[counts[standing] > 1]}"
        for standing, words in _COUNTED.items()
        if standing in counts
    ]
    total = "1 claim" if counts.total() == 1 else f"{counts.total()} claims"
    return f"Of {total}, {', '.join(parts)}."


@dataclass(frozen=True, eq=False)
class Reproduced:
    """An exhibit with its numbers, or the reason why it has none."""

    exhibit: Exhibit
    numbers: pd.DataFrame | None = None
    problem: str | None = None


# What a page calls exhibits of a kind, and those that the paper does not have.
_GROUPS = {
    "figure": "Figures of the paper",
    "table": "Tables of the paper",
    "": "What the paper does not show",
}

# What conditions on claims are about.
CLAIM_QUANTITIES: Mapping[str, str] = {
    "holding": "how many claims hold",
    "holding_in_part": "how many hold in part",
    "failing": "how many fail",
    "not_tested": "how many are not tested",
}
_STANDINGS: Mapping[str, Standing] = {
    "holding": "holds",
    "holding_in_part": "holds in part",
    "failing": "fails",
    "not_tested": "not tested",
}


def claim_quantities(findings: Iterable[Finding]) -> Mapping[str, Sequence[Ends | None]]:
    """Return how many findings have every standing, as conditions need it."""
    counts = Counter(finding.standing for finding in findings)
    numbers = {name: float(counts[standing]) for name, standing in _STANDINGS.items()}
    return {name: [(count, count)] for name, count in numbers.items()}


@dataclass(frozen=True, eq=False)
class Reproduction(Result):
    """A reproduced paper: its exhibits with their numbers, and its claims with their verdicts.

    Made by `reproduce`.

    Attributes
    ----------
    paper, computed
        What was reproduced, and the results of its cells.
    exhibits, verdicts
        Its figures and tables, and its claims.
    took : str
        How long the last run took, and where.

    Examples
    --------
    >>> from omit.papers import reproduce
    >>> reproduce("statistical-privacy", tables=[2], where="process").verdicts[0].finding.standing
    'holds'
    """

    command: ClassVar[str] = "reproduce"
    known_quantities: ClassVar[Mapping[str, str]] = CLAIM_QUANTITIES
    warning: ClassVar[str | None] = None

    paper: Paper
    computed: Computed = field(repr=False)
    exhibits: tuple[Reproduced, ...]
    verdicts: tuple[Verdict, ...]
    took: str

    @property
    def confidential(self) -> bool:
        """Whether it is about data of its own that were not declared public."""
        return self.computed.settings.data is not None and not self.public_data

    @property
    def cells(self) -> int:
        """How many cells the exhibits have."""
        return len(self.computed.cells)

    @property
    def seconds(self) -> float:
        """The work in the cells, summed over cores and over all runs of the study."""
        known = [cell for cell in self.computed.cells if cell in self.computed.results]
        return math.fsum(self.computed.results.seconds(cell) for cell in known)

    @property
    def title(self) -> str:
        """The title of the paper."""
        return self.paper.title

    @property
    def verdict(self) -> str:
        """How many claims hold, hold in part, fail or are not tested."""
        if not self.verdicts:
            return "No claim of the paper is about this."
        return counted(verdict.finding for verdict in self.verdicts)

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return how many claims have every standing."""
        return claim_quantities(verdict.finding for verdict in self.verdicts)

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was computed, and what could not be."""
        # A paper's own data are public; other data may not be.
        notes = []
        if self.computed.settings.data is not None:
            notes.append(CURATOR if self.confidential else PUBLIC)
        if self.paper.notes is not None:
            notes += self.paper.notes(self.computed)
        if self.cells:
            work = show_duration(self.seconds)
            notes.append(
                f"{self.cells:,} cells, {work} of work summed over cores and runs; this run took "
                f"{self.took}."
            )
        problems: dict[str, dict[str, None]] = {}
        for item in self.exhibits:
            if item.problem is not None:
                title = item.exhibit.title.partition(":")[0]
                problems.setdefault(item.problem, {})[title] = None
        notes += [f"{', '.join(titles)}: {problem}" for problem, titles in problems.items()]
        return tuple(notes)

    def tables(self) -> Sequence[Table]:
        """Return the claims with their verdicts, their readings, and the exhibits."""
        exhibits = (
            Field("Exhibit", "name"),
            Field("Title", "title"),
            Field("Rows", "rows", "{:,}".format, numeric=True),
            Field("Problem", "problem"),
        )
        lines = tuple(
            (
                item.exhibit.name,
                item.exhibit.title,
                None if item.numbers is None else len(item.numbers),
                item.problem,
            )
            for item in self.exhibits
        )
        return (
            Table("claims", "Claims", CLAIM_FIELDS, tuple(one.row() for one in self.verdicts)),
            Table(
                "readings",
                "Readings",
                READING_FIELDS,
                tuple(row for one in self.verdicts for row in one.reading_rows()),
            ),
            Table("exhibits", "Figures and tables", exhibits, lines),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the claims, the exhibits and how much was computed, as JSON holds it."""
        counts = {"paper": self.paper.name, "cells": self.cells, "seconds": self.seconds}
        return {**counts, **super().to_json()}

    def numbers(self, name: str) -> pd.DataFrame:
        """Return the numbers of an exhibit.

        Raises
        ------
        InvalidInput
            If there is none of that name, or it could not be computed.
        """
        known = {item.exhibit.name: item for item in self.exhibits}
        if name not in known:
            raise InvalidInput(f"There is no exhibit {name!r}; {nearest(name, known)}.")
        numbers = known[name].numbers
        if numbers is None:
            raise InvalidInput(f"{name} has no numbers: {known[name].problem}")
        return numbers

    def figures(self) -> Mapping[str, Drawing]:
        """Return the pictures, shown as a whole on the axes that they are given."""
        return {
            item.exhibit.name: partial(self._draw_whole, item.exhibit.draw)
            for item in self.exhibits
            if item.exhibit.draw is not None and item.problem is None
        }

    def _draw_whole(self, draw: Callable[[Computed], Figure], axes: Axes) -> None:
        # A picture may have many axes of its own, so it is put on these as an image.
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas: Any = FigureCanvasAgg(draw(self.computed))
        canvas.draw()
        axes.imshow(canvas.buffer_rgba())
        axes.set_axis_off()

    def write_report(
        self,
        path: Path | str,
        made: Made | None = None,
        advance: Callable[[], None] = lambda: None,
    ) -> Path:
        """Write a folder with every exhibit's numbers and picture and a page, ``index.html``.

        Files are moved into the folder once all of them are written. A page exists only while all
        that it shows does; other files in the folder are not touched.

        Parameters
        ----------
        path : path
            The folder; made if it does not exist.
        made : Made, optional
            What the page says of how it came about; by default that it was made today.
        advance : callable
            Is called after every exhibit.

        Returns
        -------
        Path
            The page.

        Raises
        ------
        InvalidInput
            If the folder cannot be written to.
        """
        folder = Path(path)
        index = folder / "index.html"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with unfinished_in(folder) as unfinished:
                files = [unfinished / index.name]
                files[0].write_text(self.page(made or Made.today()), encoding="utf-8")
                for item in self.exhibits:
                    files += self._write_files(item, unfinished)
                    advance()
                if self.confidential:
                    for file in files:
                        file.chmod(OWNER_ONLY)
                # An old page goes before the first of its files, the new one comes after its last.
                with one_at_a_time(folder):
                    index.unlink(missing_ok=True)
                    for file in (*files[1:], files[0]):
                        file.replace(folder / file.name)
        except OSError as error:
            raise InvalidInput(f"Cannot write to {folder}: {error.strerror or error}.") from error
        return index

    def _write_files(self, item: Reproduced, folder: Path) -> list[Path]:
        """Write the numbers and the picture of an exhibit, and return their files."""
        if item.numbers is None:
            return []
        numbers = folder / f"{item.exhibit.name}.csv"
        item.numbers.to_csv(numbers, index=False)
        if item.exhibit.draw is None:
            return [numbers]
        picture = folder / f"{item.exhibit.name}.svg"
        # Drawn only now and not kept: a paper may have many figures.
        save_figure(item.exhibit.draw(self.computed), picture)
        return [numbers, picture]

    def page(self, made: Made | None = None) -> str:
        """Return the page of the folder, which shows the files next to it."""
        sections = [
            {
                "name": item.exhibit.name,
                "title": item.exhibit.title,
                "caption": item.problem or item.exhibit.caption_of(self.computed),
                "problem": item.problem,
                "picture": item.exhibit.draw is not None,
                "table": self._shown(item),
                "verdicts": [
                    verdict
                    for verdict in self.verdicts
                    if item.exhibit.name in verdict.claim.exhibits
                ],
                "group": _GROUPS[item.exhibit.number[0] if item.exhibit.number else ""],
            }
            for item in self.exhibits
        ]
        groups = {
            group: [section for section in sections if section["group"] == group]
            for group in dict.fromkeys(section["group"] for section in sections)
        }
        titles = {section["name"]: section["title"] for section in sections}
        return page([self], made, "exhibits.html", sections=sections, groups=groups, titles=titles)

    def _shown(self, item: Reproduced) -> tuple[list[str], list[list[str]], list[str]] | None:
        """Return headings, cells and classes of the table that the page shows."""
        if item.numbers is None or item.exhibit.draw is not None:
            return None
        frame = item.numbers if item.exhibit.shown is None else item.exhibit.shown(self.computed)
        columns = [[_cell(value) for value in frame[name]] for name in frame.columns]
        return (
            [str(name) for name in frame.columns],
            [list(row) for row in zip(*columns, strict=True)],
            ["number" if all(map(_NUMERAL.fullmatch, column)) else "" for column in columns],
        )


# A number, also one that is printed with its zeros or has a mark behind it; nothing; yes and no.
_NUMERAL = re.compile(r"(below )?-?[\d,]+(\.\d+)?([eE][-+]?\d+)?( \S)?|–")
_SMALL, _LARGE = 1e-3, 1e6


def _cell(value: object) -> str:
    """Return what a table shows of a value."""
    if value is None or value != value:
        return "–"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return f"{value:,}"
    if isinstance(value, numbers.Real):
        size = abs(float(value))
        return f"{float(value):,.6g}" if not size or _SMALL <= size < _LARGE else f"{value:.3g}"
    return str(value)


def reproduce(
    name: str | Paper,
    *,
    figures: Iterable[int] | None = None,
    tables: Iterable[int] | None = None,
    exhibits: Iterable[str] | None = None,
    runs: int | None = None,
    exact: bool = True,
    epsilons: Iterable[float] | None = None,
    data: OwnData | None = None,
    artefact: Path | str | None = None,
    store: Path | str | None = None,
    where: str = "cores",
    progress: Report | None = None,
) -> Reproduction:
    """Reproduce a paper, or the figures and tables with these numbers and the exhibits of a name.

    Cells that cannot be computed and data that are not there cost only what needs them.

    Parameters
    ----------
    name : str or Paper
        The paper.
    figures, tables, exhibits : iterable, optional
        Which of them, by number or, also those that the paper does not have, by name.
    runs, exact, epsilons, data, where, progress
        As in `Settings` and in `omit.study.run_study`.
    artefact : path, optional
        A folder with the authors' files, to lay over; not every paper has some.
    store : path, optional
        The folder of the study's results, from which a later call resumes; temporary by default.

    Raises
    ------
    InvalidInput
        If there is no such paper, figure, table or exhibit, or a setting makes no sense for it, or
        the data of all that was asked for are missing.

    Examples
    --------
    >>> found = reproduce("statistical-privacy", tables=[2], where="process")
    >>> found.verdicts[0].finding.standing
    'holds'
    """
    known = name if isinstance(name, Paper) else paper(name)
    settings = settings_of(known, runs, exact, epsilons, data, artefact)
    if data is not None and known.on is not None:
        known = known.on(data)
    chosen = known.chosen(figures, tables, exhibits)
    missing = missing_data(chosen)
    at_hand = [exhibit for exhibit in chosen if exhibit.name not in missing]
    if missing and all(exhibit.sums_up for exhibit in at_hand):
        raise InvalidInput(next(iter(missing.values())))
    start = time.perf_counter()
    computed = _computed(known.cells(at_hand, settings), settings, store, where, progress)
    took = f"{show_duration(time.perf_counter() - start)} ({_WHERE.get(where, where)})"
    shown, whole = _shown(known, chosen, missing, computed)
    verdicts = _verdicts(known, shown, whole, chosen == known.exhibits)
    return Reproduction(known, computed, shown, verdicts, took)


_WHERE = {"cores": "all cores"}


def _shown(
    known: Paper, chosen: Sequence[Exhibit], missing: Mapping[str, str], computed: Computed
) -> tuple[tuple[Reproduced, ...], Computed]:
    """Return exhibits with their numbers or their problem, and what was computed of whole ones.

    Those that have neither numbers nor a problem are left out.
    """
    failed = failed_cells([one for one in chosen if one.name not in missing], computed)
    problems = {**missing, **failed}
    if failed:
        settings = computed.settings
        there = [exhibit for exhibit in chosen if exhibit.name not in problems]
        computed = Computed(settings, known.cells(there, settings), computed.results)
    every = (
        Reproduced(exhibit, problem=problems[exhibit.name])
        if exhibit.name in problems
        else Reproduced(exhibit, exhibit.numbers(computed))
        for exhibit in chosen
    )
    shown = tuple(one for one in every if one.numbers is not None or one.problem is not None)
    return shown, computed


def _computed(
    cells: Sequence[Cell],
    settings: Settings,
    store: Path | str | None,
    where: str,
    progress: Report | None,
) -> Computed:
    """Run the study of the cells, in a temporary folder if there is no other."""
    from omit.study.run import run_study

    with ExitStack() as stack:
        folder = store or stack.enter_context(tempfile.TemporaryDirectory())
        if settings.data is not None:
            _close_to_others(Path(folder))
        results = run_study(cells, folder, where, progress=progress, failures="return")
    return Computed(settings, cells, results)


def _close_to_others(folder: Path) -> None:
    """Let nobody but its owner see what a folder of results has."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(OWNERS_FOLDER)
    except OSError as error:
        raise InvalidInput(f"Cannot write to {folder}: {error.strerror or error}.") from error


def settings_of(
    known: Paper,
    runs: int | None = None,
    exact: bool = True,
    epsilons: Iterable[float] | None = None,
    data: OwnData | None = None,
    artefact: Path | str | None = None,
) -> Settings:
    """Return the settings, once those that are not the paper's own are checked."""
    own = {"runs": runs, "exact": None if exact else False, "epsilons": epsilons, "data": data}
    for setting, value in own.items():
        if value is not None and setting in known.refusals:
            raise InvalidInput(known.refusals[setting])
    if data is not None and known.on is None:
        raise InvalidInput(f"{known.name} cannot be asked of other data.")
    if runs is not None and (runs := _validate.runs(runs)) < known.fewest_runs:
        raise InvalidInput(
            f"Expected runs={runs} of at least {known.fewest_runs} for {known.name}: fewer draws "
            "have no shape."
        )
    chosen = None if epsilons is None else tuple(sorted({_validate.epsilon(e) for e in epsilons}))
    if chosen is not None and (not chosen or chosen[0] <= 0):
        raise InvalidInput("Expected every epsilon to be above 0.")
    theirs = None
    if artefact is not None:
        if known.artefact is None:
            raise InvalidInput(f"There are no files of the authors of {known.name} to lay over.")
        theirs = known.artefact(Path(artefact))
    return Settings(known.runs if runs is None else runs, exact, chosen, data, theirs)


def failed_cells(exhibits: Iterable[Exhibit], computed: Computed) -> dict[str, str]:
    """Return by exhibit which cells could not be computed, in a sentence."""
    failed = {failure.cell.identity: str(failure) for failure in computed.results.failures}
    problems = {}
    for exhibit in exhibits if failed else ():
        cells = exhibit.cells(computed.settings)
        reasons = [failed[cell.identity] for cell in cells if cell.identity in failed]
        if reasons:
            count = "One cell" if len(reasons) == 1 else f"{len(reasons):,} cells"
            problems[exhibit.name] = f"{count} could not be computed: {reasons[0].rstrip('.')}."
    return problems


def missing_data(exhibits: Iterable[Exhibit]) -> dict[str, str]:
    """Return by exhibit which data sets are not there, and where they come from, in sentences."""
    from omit.data.datasets import dataset

    missing = {}
    for exhibit in exhibits:
        reasons = [dataset(name).missing_file() for name in exhibit.data]
        if any(reasons):
            missing[exhibit.name] = " ".join(reason for reason in reasons if reason)
    return missing


def _verdicts(
    known: Paper, shown: Sequence[Reproduced], computed: Computed, is_whole: bool
) -> tuple[Verdict, ...]:
    problems = {item.exhibit.name: item.problem for item in shown}
    verdicts = []
    for claim in known.claims:
        about = [name for name in claim.exhibits if name in problems]
        if (claim.exhibits and not about) or (claim.needs_no_cells and not is_whole):
            continue
        finding = judged(claim, {name: problems[name] for name in about}, computed)
        if finding is not None:
            verdicts.append(Verdict(claim, finding))
    return tuple(verdicts)


def judged(claim: Claim, about: Mapping[str, str | None], computed: Computed) -> Finding | None:
    """Return the finding of a claim about some exhibits, by name with the problem of each.

    A claim is not tested if all of them have a problem; without any, it is judged.
    """
    if about and None not in about.values():
        problems: dict[str, list[str]] = {}
        for name, problem in about.items():
            problems.setdefault(str(problem), []).append(name)
        listed = (f"{', '.join(names)}: {problem}" for problem, names in problems.items())
        return Finding("not tested", " ".join(listed))
    return claim.judged(computed)
