"""What every command returns: a result that presents itself.

A result states its `verdict`, its `notes`, its `tables` and its `figures`; everything else is
inherited. Tables hold numbers, never texts made of numbers. A field says how its numbers are shown,
and one renderer for every form (text, terminal, HTML, LaTeX, data frame, JSON) does the rest. What
programs get of a command is its `envelope`.

Pages of HTML are made of it in `report.page`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from omit import __version__, _validate
from omit._text import nearest
from omit.errors import InvalidInput
from omit.report.files import svg, write_text
from omit.report.page import Caption, Card, Made, page, render

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.table import Table as RichTable

Drawing: TypeAlias = "Callable[[Axes], None]"
Ends: TypeAlias = tuple[float, float]

CURATOR = "Computed from confidential data and not private: for the curator's eyes only."
PUBLIC = "Computed from data that were declared public: nobody's privacy is at stake here."


@dataclass(frozen=True)
class Field:
    """One column of a table: what heads it, what programs call it, and how its values are shown.

    `numeric` fields are aligned at the right; None is shown as nothing.
    """

    heading: str
    key: str
    show: Callable[[Any], str] = str
    numeric: bool = False

    def shown(self, value: Any) -> str:
        """Return a value as people read it."""
        return "" if value is None else self.show(value)


@dataclass(frozen=True)
class Table:
    """Rows of values under fields; the name is for programs, the title for people.

    Examples
    --------
    >>> fields = (Field("ε", "epsilon", "{:.2f}".format, numeric=True), Field("of", "source"))
    >>> table = Table("losses", "Losses", fields, ((0.5, "a"), (None, "b & c")))
    >>> print(table.as_text())
    Losses
       ε  of
    0.50  a
          b & c
    >>> table.records()[0]
    {'epsilon': 0.5, 'source': 'a'}
    """

    name: str
    title: str
    fields: tuple[Field, ...]
    rows: tuple[tuple[Any, ...], ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary for every row."""
        keys = [field.key for field in self.fields]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows as people read them."""
        return [
            tuple(field.shown(value) for field, value in zip(self.fields, row, strict=True))
            for row in self.rows
        ]

    def headings(self) -> tuple[str, ...]:
        """Return what heads the fields."""
        return tuple(field.heading for field in self.fields)

    def classes(self) -> tuple[str, ...]:
        """Return how a page shows the fields."""
        return tuple("number" if field.numeric else "" for field in self.fields)

    def as_text(self) -> str:
        """Return the table as plain text."""
        lines = [self.headings(), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = [
            "  ".join(
                text.rjust(width) if field.numeric else text.ljust(width)
                for text, width, field in zip(line, widths, self.fields, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, *aligned] if self.title else aligned)

    def as_rich(self) -> RichTable:
        """Return the table for a terminal, without its title."""
        from rich.table import Table as RichTable

        table = RichTable(box=None)
        for field in self.fields:
            justify = "right" if field.numeric else "left"
            table.add_column(field.heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]  # a literal
        for cells in self.cells():
            table.add_row(*cells)
        return table

    def as_latex(self, keys: Sequence[str] | None = None) -> str:
        """Return the table, or the fields with these keys, in LaTeX with booktabs."""
        known = {field.key: number for number, field in enumerate(self.fields)}
        chosen = list(known) if keys is None else _validate.texts("columns", keys)
        for key in chosen:
            if key not in known:
                raise InvalidInput(f"There is no column {key!r}; {nearest(key, known)}.")
        numbers = [known[key] for key in chosen]
        layout = "".join("r" if self.fields[number].numeric else "l" for number in numbers)
        lines = [self.headings(), *self.cells()]
        rows = [" & ".join(_latex(line[number]) for number in numbers) + r" \\" for line in lines]
        body = [rows[0], r"\midrule", *rows[1:]]
        begin, end = rf"\begin{{tabular}}{{{layout}}}", r"\end{tabular}"
        return "\n".join([begin, r"\toprule", *body, r"\bottomrule", end])


_LATEX = {
    **{letter: rf"\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "α": r"$\alpha$",
    "σ": r"$\sigma$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "−": "$-$",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(ABC):
    """What a command returns. A subclass describes its numbers; the forms are inherited.

    Attributes
    ----------
    command
        The words that ask for it on the command line.
    warning
        What must go with the numbers, if anything; by default that the data are confidential.
    known_quantities
        What `quantities` has, and what is meant by it.
    public_data
        Whether the data were declared public.
    """

    command: ClassVar[str]
    warning: ClassVar[str | None] = CURATOR
    known_quantities: ClassVar[Mapping[str, str]] = {}

    public_data: bool = dataclass_field(default=False, repr=False)

    @property
    def caution(self) -> str | None:
        """The warning, unless that is about confidential data and these were declared public."""
        return PUBLIC if self.public_data and self.warning == CURATOR else self.warning

    @property
    def confidential(self) -> bool:
        """Whether only the curator may see it; files of it are readable for nobody else."""
        return self.caution == CURATOR

    @property
    def caution_class(self) -> str:
        """How a page shows the caution: in a red box, unless the data are public."""
        return "caution" if self.public_data else "warning"

    def declared_public(self) -> Self:
        """Return the same for data that everybody may see, such as those of a textbook."""
        return replace(self, public_data=True)

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return what conditions are about: all values by the name of the quantity.

        A value is between two ends, which are the same if it is known; None stands for a value that
        there is not, such as epsilon where there is no guarantee.
        """
        return {}

    @property
    @abstractmethod
    def verdict(self) -> str:
        """One sentence that follows from the numbers."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the numbers."""
        return ()

    @property
    def preface(self) -> str | None:
        """What must be read before the numbers, if anything."""
        return None

    @property
    def title(self) -> str:
        """The heading of a page with this result."""
        return f"omit {self.command}"

    @property
    def subject(self) -> str:
        """What tells it apart from other results on the same page."""
        return self.title

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """Return the numbers; the first table is the data frame and the one in LaTeX."""

    def figures(self) -> Mapping[str, Drawing]:
        """Return what can be drawn on axes, by name; the first is what `plot` draws."""
        return {}

    def summary(self) -> str:
        """Return the tables, the verdict and the notes as plain text."""
        preface = [self.preface] if self.preface else []
        caution = [self.caution] if self.caution else []
        texts = [table.as_text() for table in self.tables()]
        return "\n".join([*preface, *texts, "", self.verdict, *self.notes, *caution])

    def __str__(self) -> str:
        return self.summary()

    def to_frame(self) -> pd.DataFrame:
        """Return the first table as a data frame."""
        import pandas as pd

        table = self.tables()[0]
        return pd.DataFrame(table.records(), columns=[field.key for field in table.fields])

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON holds it; what is infinite is None."""
        tables = {table.name: table.records() for table in self.tables()}
        content = {**tables, "verdict": self.verdict, "notes": list(self.notes)}
        return {key: plain(value) for key, value in content.items()}

    def to_latex(self, columns: Sequence[str] | None = None) -> str:
        """Return the first table, or some of its columns by their keys, in LaTeX."""
        return self.tables()[0].as_latex(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the first figure, on axes of its own unless some are given, and return the axes.

        `InvalidInput` is raised if this result has no figure.
        """
        drawings = self.figures()
        if not drawings:
            raise InvalidInput(f"A result of {self.command} has no figure; print it instead.")
        return draw(next(iter(drawings.values())), ax)

    def _repr_html_(self) -> str:
        return render("result.html", result=self, tables=self.tables())

    @property
    def card(self) -> Card | None:
        """What is promised, what is lost and what to do instead, where that can be said."""
        return None

    def captions(self) -> Mapping[str, Caption]:
        """Return titles and descriptions of the figures by name."""
        return {}

    def provenance(self) -> Mapping[str, str]:
        """Return what the numbers depend on besides the command: data, bounds and seed, by name."""
        return {}

    def python(self) -> str | None:
        """Return how to ask for it again in Python, if that can be written down."""
        return None

    def page(self, made: Made | None = None) -> str:
        """Return a page of HTML that needs no other file: in short, evidence, and assumptions."""
        return page([self], made)

    def write_report(self, path: Path | str, made: Made | None = None) -> Path:
        """Write the page of the result, and return where it is.

        `InvalidInput` is raised if the file cannot be written; what was there before stays.

        Parameters
        ----------
        path : path
            Of the page.
        made : Made, optional
            What the page says of how it came about; by default that it was made today.
        """
        return write_text(path, self.page(made or Made.today()), private=self.confidential)


def draw(drawing: Drawing, ax: Axes | None = None) -> Axes:
    """Draw on axes, or on new ones that show themselves in a notebook."""
    if ax is not None:
        drawing(ax)
        return ax
    figure = own_figure(drawing)
    (ax,) = figure.axes
    # Notebooks look for this method; pyplot, which they know otherwise, keeps every figure.
    ax._repr_svg_ = lambda: str(svg(figure, ax.get_title(), ""))  # type: ignore[attr-defined]
    return ax


def own_figure(drawing: Drawing) -> Figure:
    """Return a figure of its own with a drawing."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    drawing(figure.subplots())
    return figure


def plain(value: Any) -> Any:
    """Return a value as JSON holds it: no infinite numbers, no arrays, no tuples.

    Examples
    --------
    >>> plain({"a": (1.0, math.inf), "b": [None, "x"]})
    {'a': [1.0, None], 'b': [None, 'x']}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return plain(value.tolist())
    return value


def envelope(*results: Result, parameters: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
    """Return the one object that every command prints for programs.

    Several results of one command, such as those of several mechanisms, are its `answers`.
    """
    answers = [result.to_json() for result in results]
    return {
        "command": results[0].command,
        "version": __version__,
        "parameters": plain(parameters),
        "seed": seed,
        "result": plain(answers[0] if len(answers) == 1 else {"answers": answers}),
    }
