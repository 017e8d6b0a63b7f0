"""The ledger of claims: every claim of a paper with its standing, and the command that computes it.

What needs no cells of a study is computed at once, and so are the exhibits whose cells take
seconds. Claims about others are judged from what a store has; where it has nothing, they are not
tested here and name the command that tests them. None is left out.
"""

from __future__ import annotations

import shlex
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from omit.papers.base import Computed, Exhibit, Paper, Settings, names, paper
from omit.papers.claims import Claim, Finding, Standing
from omit.papers.reproduction import (
    CLAIM_FIELDS,
    CLAIM_QUANTITIES,
    READING_FIELDS,
    Verdict,
    claim_quantities,
    counted,
    failed_cells,
    judged,
    missing_data,
    settings_of,
)
from omit.report.page import Made, page
from omit.report.result import Ends, Field, Result, Table

if TYPE_CHECKING:
    from omit.study.run import Report


@dataclass(frozen=True)
class Entry(Verdict):
    """A claim of a paper with its standing, the evidence, and the command that computes it."""

    paper: Paper
    command: str


@dataclass(frozen=True)
class Ledger(Result):
    """The claims of papers with their standings. Made by `judge_claims`.

    Examples
    --------
    >>> len(Ledger(()).entries)
    0
    """

    command: ClassVar[str] = "reproduce --claims"
    known_quantities: ClassVar[Mapping[str, str]] = CLAIM_QUANTITIES
    warning: ClassVar[str | None] = None

    entries: tuple[Entry, ...]

    @property
    def title(self) -> str:
        """What the page is about."""
        papers = self.by_paper()
        return f"{papers[0][0].title}: claims" if len(papers) == 1 else "The claims of all papers"

    @property
    def verdict(self) -> str:
        """How many claims hold, hold in part, fail or are not tested."""
        return counted(entry.finding for entry in self.entries)

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return how many claims have every standing."""
        return claim_quantities(entry.finding for entry in self.entries)

    def by_paper(self) -> list[tuple[Paper, tuple[Entry, ...]]]:
        """Return the entries of every paper."""
        papers = {entry.paper.name: entry.paper for entry in self.entries}
        return [
            (known, tuple(entry for entry in self.entries if entry.paper.name == name))
            for name, known in papers.items()
        ]

    def tables(self) -> Sequence[Table]:
        """Return the claims, the readings of those that have several, and a tally by paper."""
        named = Field("Paper", "paper")
        claims = tuple((entry.paper.name, *entry.row(), entry.command) for entry in self.entries)
        readings = tuple(
            (entry.paper.name, *row) for entry in self.entries for row in entry.reading_rows()
        )
        fields = (named, *CLAIM_FIELDS, Field("Command", "command"))
        return (
            Table("claims", "Claims", fields, claims),
            Table("readings", "Readings", (named, *READING_FIELDS), readings),
            self.tally(),
        )

    def tally(self) -> Table:
        """Return how many claims of every paper, and of every kind, have which standing."""
        standings = get_args(Standing)
        rows: list[tuple[Any, ...]] = []
        for known, entries in self.by_paper():
            kinds = list(dict.fromkeys(entry.claim.kind for entry in entries))
            for kind in (*kinds, "all"):
                part = [entry for entry in entries if kind in (entry.claim.kind, "all")]
                counts = Counter(entry.finding.standing for entry in part)
                rows.append((known.name, kind, len(part), *(counts[name] for name in standings)))
        fields = (
            Field("Paper", "paper"),
            Field("Kind", "kind"),
            Field("Claims", "claims", "{:,}".format, numeric=True),
            *(
                Field(name.capitalize(), name.replace(" ", "_"), "{:,}".format, numeric=True)
                for name in standings
            ),
        )
        return Table("tally", "Claims by kind", fields, tuple(rows))

    def page(self, made: Made | None = None) -> str:
        """Return a page of HTML that needs no other file: the tally, and the claims by paper."""
        return page([self], made, "ledger.html", papers=self.by_paper())


def judge_claims(
    papers: Iterable[str | Paper] | None = None,
    *,
    figures: Iterable[int] | None = None,
    tables: Iterable[int] | None = None,
    exhibits: Iterable[str] | None = None,
    runs: int | None = None,
    exact: bool = True,
    epsilons: Iterable[float] | None = None,
    stores: Mapping[str, Path | str] | None = None,
    where: str = "cores",
    progress: Report | None = None,
) -> Ledger:
    """Return every claim of papers with its standing.

    Exhibits that are asked for are computed, and those that take seconds. The other claims are
    judged if the store has all cells of an exhibit that they are about.

    Parameters
    ----------
    papers : iterable of str or Paper, optional
        Which papers; all by default.
    figures, tables, exhibits
        What to compute, as in `reproduce`, of one paper.
    runs, exact, epsilons
        As in `Settings`.
    stores : mapping of str to path, optional
        The folders of the studies' results by the names of papers; temporary by default.
    where, progress
        As in `omit.study.run_study`.

    Raises
    ------
    InvalidInput
        If there is no such paper or exhibit, or a setting makes no sense for it.

    Examples
    --------
    >>> ledger = judge_claims(["statistical-privacy"], where="process")
    >>> ledger.entries[0].finding.standing
    'holds'
    >>> ledger.entries[0].command
    'omit reproduce statistical-privacy --claims --exhibit theorems'
    """
    known = [one if isinstance(one, Paper) else paper(one) for one in papers or names()]
    asked = {"figures": list(figures or ()), "tables": list(tables or ())}
    named = list(exhibits or ())
    entries: list[Entry] = []
    for one in known:
        settings = settings_of(one, runs, exact, epsilons)
        wanted = {exhibit for exhibit in one.exhibits if exhibit.quick}
        if named or any(asked.values()):
            wanted |= set(one.chosen(**asked, exhibits=named))
        store = (stores or {}).get(one.name)
        entries += _entries(one, settings, wanted, store, where, progress)
    return Ledger(tuple(entries))


def _entries(
    known: Paper,
    settings: Settings,
    wanted: set[Exhibit],
    store: Path | str | None,
    where: str,
    progress: Report | None,
) -> list[Entry]:
    """Return the entries of a paper, once the exhibits that are wanted are computed."""
    from omit.study.results import read_results
    from omit.study.run import run_study

    problems: dict[str, str] = missing_data(known.exhibits)
    cells = {exhibit.name: exhibit.cells(settings) for exhibit in known.exhibits}
    with ExitStack() as stack:
        folder = store or stack.enter_context(tempfile.TemporaryDirectory())
        at_hand = [one for one in known.exhibits if one in wanted and one.name not in problems]
        ran = run_study(
            known.cells(at_hand, settings), folder, where, progress=progress, failures="return"
        )
        problems |= failed_cells(at_hand, Computed(settings, (), ran))
        every = known.cells([one for one in known.exhibits if one.name not in problems], settings)
        results = read_results(folder, every)
    for exhibit in known.exhibits:
        lacking = [cell for cell in cells[exhibit.name] if cell not in results]
        if lacking and exhibit.name not in problems:
            problems[exhibit.name] = f"{len(lacking):,} of its cells are not computed yet."
    there = [exhibit for exhibit in known.exhibits if exhibit.name not in problems]
    computed = Computed(settings, known.cells(there, settings), results)
    return [_entry(known, claim, problems, computed) for claim in known.claims]


def _entry(known: Paper, claim: Claim, problems: Mapping[str, str], computed: Computed) -> Entry:
    finding = judged(claim, {name: problems.get(name) for name in claim.exhibits}, computed)
    if finding is None:
        finding = Finding("not tested", "What it is about is not computed yet.")
    return Entry(claim, finding, known, _command(known, claim, computed.settings))


def _command(known: Paper, claim: Claim, settings: Settings) -> str:
    """Return the command that computes the standing of a claim, with the least work."""
    words = ["omit", "reproduce", known.name]
    if claim.exhibits or claim.needs_no_cells:
        words.append("--claims")
    about = [exhibit for exhibit in known.exhibits if exhibit.name in claim.exhibits]
    if about:
        cheapest = min(about, key=lambda exhibit: len(list(exhibit.cells(settings))))
        same_number = [one for one in known.exhibits if one.number == cheapest.number]
        if cheapest.number is not None and len(same_number) == 1:
            words += [f"--{cheapest.number[0]}", str(cheapest.number[1])]
        else:
            words += ["--exhibit", cheapest.name]
    if settings.runs != known.runs:
        words += ["--runs", str(settings.runs)]
    if not settings.exact:
        words.append("--simulated")
    for epsilon in settings.epsilons or ():
        words += ["--epsilon", f"{epsilon:g}"]
    return shlex.join(words)
