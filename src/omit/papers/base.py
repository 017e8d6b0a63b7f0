"""What a paper is: exhibits with their cells, and claims about them.

Another package adds a paper by an entry point of the group ``omit.papers`` that names a `Paper`.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from omit import _validate
from omit._text import nearest
from omit.errors import InvalidInput
from omit.papers.claims import Claim

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from omit.data.column import Column
    from omit.study.cell import Cell, Computation
    from omit.study.results import Results

_T = TypeVar("_T")


@dataclass(frozen=True)
class OwnData:
    """A column that a paper's question is asked of, and the SHA-256 of its values.

    Examples
    --------
    >>> from omit.papers import OwnData
    >>> OwnData("people.csv", "age", (0.0, 125.0), "").bounds
    (0.0, 125.0)
    """

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
    artefact : object, optional
        What the authors published, as the paper reads it, to lay over.

    Examples
    --------
    >>> Settings(runs=100).exact
    True
    """

    runs: int | None = None
    exact: bool = True
    epsilons: tuple[float, ...] | None = None
    data: OwnData | None = None
    artefact: object = None


class Computed:
    """The results of a study, as exhibits and claims read them.

    Examples
    --------
    >>> from omit.papers import reproduce
    >>> found = reproduce("statistical-privacy", tables=[2], where="process")
    >>> len(found.computed.cells) > 0
    True
    """

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


def _no_cells(settings: Settings) -> tuple[Cell, ...]:
    return ()


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper.

    Parameters
    ----------
    name : str
        What its files are called. One like ``figure-08`` or ``table-1-readings`` says that it is
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
    quick : bool
        Whether its cells take seconds altogether, so that a ledger of claims computes them.

    Examples
    --------
    >>> from omit.papers import paper
    >>> paper("statistical-privacy").exhibits[0].title
    'Table 1: 32,768 entries, p = 1/2'
    """

    name: str
    title: str
    caption: str | Callable[[Computed], str]
    numbers: Callable[[Computed], pd.DataFrame | None]
    draw: Callable[[Computed], Figure] | None = None
    cells: Callable[[Settings], Iterable[Cell]] = _no_cells
    data: tuple[str, ...] = ()
    shown: Callable[[Computed], pd.DataFrame] | None = None
    quick: bool = False

    @property
    def number(self) -> tuple[str, int] | None:
        """Whether it is a figure or a table of the paper, and its number there."""
        numbered = re.match(r"(figure|table)-(\d+)", self.name)
        return None if numbered is None else (numbered[1], int(numbered[2]))

    @property
    def sums_up(self) -> bool:
        """Whether it only shows what others have computed."""
        return self.cells is _no_cells and self.number is None

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
    artefact : callable, optional
        Returns what a folder of the authors' files holds, for `Settings`.

    Examples
    --------
    >>> from omit.papers import paper
    >>> [exhibit.name for exhibit in paper("statistical-privacy").exhibits][:2]
    ['table-1', 'table-2']
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
    artefact: Callable[[Path], object] | None = None

    def __post_init__(self) -> None:
        for name, count in Counter(claim.name for claim in self.claims).items():
            if count > 1:
                raise InvalidInput(
                    f"Expected {count} claims of {self.name} to have names of their own, and not "
                    f"all to be called {name!r}."
                )

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
            if exhibit.name in names or exhibit.number in wanted or exhibit.sums_up
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
