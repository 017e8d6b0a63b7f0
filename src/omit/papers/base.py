"""What a paper is: exhibits with their cells, and claims with their judges.

A verdict follows from numbers; it is never written down. Another package adds a paper by an entry
point of the group ``omit.papers`` that names a `Paper`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

from omit import _validate
from omit._text import nearest
from omit.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from omit.data.column import Column
    from omit.study.cell import Cell, Computation
    from omit.study.results import Results

_T = TypeVar("_T")

Standing: TypeAlias = Literal["holds", "holds in part", "fails", "not tested"]


@dataclass(frozen=True)
class Finding:
    """The standing of a claim, and the numbers that decide it, in a sentence.

    Examples
    --------
    >>> Finding("fails", "Two and two are 4.").standing
    'fails'
    """

    standing: Standing
    evidence: str

    def __post_init__(self) -> None:
        _validate.one_of("standing", self.standing, get_args(Standing))


def agreement(*parts: object) -> Standing:
    """Return the standing of a claim of one or several parts: all, some or none of them are true.

    Examples
    --------
    >>> agreement(True), agreement(True, False), agreement(False, False)
    ('holds', 'holds in part', 'fails')
    """
    return "holds" if all(parts) else "holds in part" if any(parts) else "fails"


@dataclass(frozen=True)
class OwnData:
    """A column that a paper's question is asked of, and the SHA-256 of its values."""

    source: str
    column: str | None
    bounds: tuple[float, float] | None
    content: str

    @classmethod
    def read(
        cls, source: str, column: str | None = None, bounds: tuple[float, float] | None = None
    ) -> OwnData:
        """Read a column once, so that what is wrong with it is said before anything is computed."""
        from omit.data.reading import read

        values = read(source, column, bounds=bounds)
        content = repr((values.values.tolist(), values.counts.tolist(), values.bounds))
        path = Path(source)
        source = str(path.resolve()) if path.is_file() else source
        return cls(source, values.name, bounds, sha256(content.encode()).hexdigest())

    @property
    def parameters(self) -> dict[str, Any]:
        """What cells share that are computed from this column; `read_column` reads it."""
        lower, upper = self.bounds or (None, None)
        return {
            "data": self.source,
            "column": self.column,
            "lower": lower,
            "upper": upper,
            "content": self.content,
        }


def read_column(shared: Mapping[str, Any], rng: object = None) -> Column:
    """Return the column that cells share, within declared bounds if there are any.

    It is the preparation of a `Computation`; nothing of it is random.
    """
    from omit.data.reading import read

    upper = shared.get("upper")
    bounds = None if upper is None else (shared["lower"], upper)
    return read(shared["data"], shared.get("column"), bounds=bounds)


@dataclass(frozen=True)
class Settings:
    """How a paper is reproduced.

    Parameters
    ----------
    runs : int, optional
        Repetitions of everything that is simulated; by default as many as in the paper.
    exact : bool
        Whether errors are exact where they can be, or simulated as the authors did.
    epsilons : tuple of float, optional
        Epsilons in place of the paper's.
    data : OwnData, optional
        Data in place of the paper's.
    """

    runs: int | None = None
    exact: bool = True
    epsilons: tuple[float, ...] | None = None
    data: OwnData | None = None


class Computed:
    """The results of a study, as exhibits and claims read them."""

    def __init__(self, settings: Settings, cells: Sequence[Cell], results: Results) -> None:
        self.settings = settings
        self.results = results
        self.cells = cells
        self._known: dict[Any, Any] = {}

    def frame(self, *computations: Computation) -> pd.DataFrame:
        """Return a line for every row of the cells of computations: parameters and results."""
        import pandas as pd

        return pd.DataFrame(
            [
                {**cell.parameters, **row}
                for cell in self.cells
                if cell.computation in computations and cell in self.results
                for row in self.results.rows(cell)
            ]
        )

    def once(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Return what a function of this and the arguments returns, computed once."""
        key = function, arguments
        if key not in self._known:
            self._known[key] = function(self, *arguments)
        known: _T = self._known[key]
        return known


Judge: TypeAlias = Callable[[Any], Finding | None]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and how it is judged.

    Parameters
    ----------
    where : str
        The section, figure or theorem that says it.
    sentence : str
        What the paper says, in one sentence of our own.
    exhibits : tuple of str
        The names of the exhibits it is about: it is judged if one of them is reproduced. Without
        any it is about the whole paper.
    judge : callable
        Returns the finding from the numbers, or None if they say nothing about the claim.
    numbers : callable, optional
        Returns what the judge is given of what was computed, or None if it is not there; by
        default the judge is given everything.
    """

    where: str
    sentence: str
    exhibits: tuple[str, ...]
    judge: Judge
    numbers: Callable[[Computed], Any] | None = None

    def judged(self, computed: Computed) -> Finding | None:
        """Return the finding, or None if what was computed says nothing about the claim."""
        numbers = computed if self.numbers is None else self.numbers(computed)
        return None if numbers is None else self.judge(numbers)


def claim(
    where: str,
    exhibits: str | tuple[str, ...],
    sentence: str,
    *,
    of: Callable[[Computed], Any] | None = None,
) -> Callable[[Judge], Claim]:
    """Return a decorator that makes a claim of its judge; `of` are the claim's `numbers`.

    Examples
    --------
    >>> @claim("Section 1", "table-1", "Two and two are 4.")
    ... def sums(computed):
    ...     return Finding(agreement(2 + 2 == 4), f"They are {2 + 2}.")
    >>> sums.judge(None)
    Finding(standing='holds', evidence='They are 4.')
    """
    names = (exhibits,) if isinstance(exhibits, str) else exhibits
    return lambda judge: Claim(where, sentence, names, judge, of)


def claims_in(names: Mapping[str, object]) -> tuple[Claim, ...]:
    """Return the claims among the names of a module, in the order in which they are defined."""
    return tuple(value for value in names.values() if isinstance(value, Claim))


def under_every_reading(readings: Mapping[str, Judge]) -> Judge:
    """Return the judge of an ambiguous sentence, from those of what it may mean, by name.

    The sentence holds if it does under every reading.
    """

    def judge(numbers: Any) -> Finding | None:
        read = {name: judge(numbers) for name, judge in readings.items()}
        findings = {name: finding for name, finding in read.items() if finding is not None}
        if not findings:
            return None
        standings = {finding.standing for finding in findings.values()}
        evidence = " ".join(f"With {name}: {one.evidence}" for name, one in findings.items())
        return Finding(standings.pop() if len(standings) == 1 else "holds in part", evidence)

    return judge


def _no_cells(settings: Settings) -> tuple[Cell, ...]:
    return ()


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper.

    Parameters
    ----------
    name : str
        What its files are called. One like ``figure-08`` or ``table-1-swapping`` says that it is
        that figure or table of the paper; any other, that the paper does not have it.
    title : str
        What it shows.
    caption : str or callable
        What to see in it, where ``{runs}`` stands for the number of repetitions; a function of what
        was computed where it depends on that.
    numbers : callable
        Returns its numbers as a data frame, or None if there is nothing to show.
    draw : callable, optional
        Returns the picture; without one the numbers are shown.
    cells : callable
        Returns the cells that it needs.
    data : tuple of str
        The registered data sets that these read.
    shown : callable, optional
        Returns what the page shows of the numbers, if that is not all.
    """

    name: str
    title: str
    caption: str | Callable[[Computed], str]
    numbers: Callable[[Computed], pd.DataFrame | None]
    draw: Callable[[Computed], Figure] | None = None
    cells: Callable[[Settings], Iterable[Cell]] = _no_cells
    data: tuple[str, ...] = ()
    shown: Callable[[Computed], pd.DataFrame] | None = None

    @property
    def number(self) -> tuple[str, int] | None:
        """Whether it is a figure or a table of the paper, and its number there."""
        numbered = re.match(r"(figure|table)-(\d+)", self.name)
        return None if numbered is None else (numbered[1], int(numbered[2]))

    def caption_of(self, computed: Computed) -> str:
        """Return the caption of what was computed."""
        if callable(self.caption):
            return self.caption(computed)
        runs = computed.settings.runs
        return self.caption if runs is None else self.caption.replace("{runs}", f"{runs:,}")


@dataclass(frozen=True)
class Paper:
    """A paper: what it shows and what it claims.

    Parameters
    ----------
    name, title, citation : str
        What it is called on the command line, its title and how to cite it.
    exhibits : tuple of Exhibit
        Its figures and tables, in the order of the page.
    claims : tuple of Claim
        Its claims, in the order of the page.
    notes : callable, optional
        Returns what must be said with the numbers.
    refusals : mapping of str to str
        Why a setting (``runs``, ``exact``, ``epsilons``, ``data``) makes no sense for it.
    runs : int, optional
        How often it repeats what it simulates, if that is one number.
    fewest_runs : int
        The fewest repetitions that give a picture.
    on : callable, optional
        Returns the paper with its question asked of other data.
    """

    name: str
    title: str
    citation: str
    exhibits: tuple[Exhibit, ...]
    claims: tuple[Claim, ...]
    notes: Callable[[Computed], Sequence[str]] | None = None
    refusals: Mapping[str, str] = field(default_factory=dict)
    runs: int | None = None
    fewest_runs: int = 1
    on: Callable[[OwnData], Paper] | None = None

    @property
    def data(self) -> tuple[str, ...]:
        """The registered data sets that its cells read."""
        return tuple(dict.fromkeys(name for exhibit in self.exhibits for name in exhibit.data))

    def chosen(
        self,
        figures: Iterable[int] | None = None,
        tables: Iterable[int] | None = None,
        exhibits: Iterable[str] | None = None,
    ) -> tuple[Exhibit, ...]:
        """Return the exhibits with these numbers and names, or all.

        What sums up the whole paper is always chosen: it shows what there is to sum up.

        Raises
        ------
        InvalidInput
            If the paper has no such figure, table or exhibit.
        """
        names = set(exhibits or ())
        wanted = {("figure", number) for number in figures or ()}
        wanted |= {("table", number) for number in tables or ()}
        if not wanted and not names:
            return self.exhibits
        named = [exhibit.name for exhibit in self.exhibits]
        for name in sorted(names.difference(named)):
            said = _validate.shown(name)
            raise InvalidInput(
                f"There is no exhibit {said} in {self.name}; {nearest(name, named)}."
            )
        known = {exhibit.number for exhibit in self.exhibits if exhibit.number is not None}
        for kind, number in sorted(wanted - known):
            numbers = [n for k, n in known if k == kind]
            there = "none"
            if numbers:
                there = " to ".join(str(n) for n in sorted({min(numbers), max(numbers)}))
            raise InvalidInput(f"There is no {kind} {number} in {self.name}, which has {there}.")
        return tuple(
            exhibit
            for exhibit in self.exhibits
            if exhibit.name in names
            or exhibit.number in wanted
            or (exhibit.cells is _no_cells and exhibit.number is None)
        )

    def cells(self, exhibits: Iterable[Exhibit], settings: Settings) -> tuple[Cell, ...]:
        """Return the cells that exhibits need, each once."""
        cells = (cell for exhibit in exhibits for cell in exhibit.cells(settings))
        return tuple({cell.identity: cell for cell in cells}.values())


_OURS = ("accuracy-gains", "disclosure-control", "omitting-records", "statistical-privacy")


def names() -> tuple[str, ...]:
    """Return the names of all papers, those of other packages included.

    Examples
    --------
    >>> "accuracy-gains" in names()
    True
    """
    return (*_OURS, *(entry.name for entry in entry_points(group="omit.papers")))


def paper(name: str) -> Paper:
    """Return a paper by its name.

    Raises
    ------
    InvalidInput
        If there is no such paper.

    Examples
    --------
    >>> paper("statistical-privacy").title
    'Parallel Composition for Statistical Privacy'
    """
    name = _validate.text("paper", name)
    if name in _OURS:
        module: Any = importlib.import_module(f"omit.papers.{name.replace('-', '_')}")
        return _validate.instance(name, module.PAPER, Paper)
    for entry in entry_points(group="omit.papers"):
        if entry.name == name:
            return _validate.instance(name, entry.load(), Paper)
    raise InvalidInput(f"There is no paper {_validate.shown(name)}; {nearest(name, names())}.")
