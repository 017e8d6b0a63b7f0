"""A page of HTML that needs no other file, and what is put on it.

The pages are Jinja2 templates in the folder `templates`, with the style in a file of its own.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from omit._version import __version__
from omit.report.files import save_figure

if TYPE_CHECKING:
    import jinja2
    from matplotlib.figure import Figure

    from omit.report.result import Result


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("omit.report"),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def render(template: str, **content: Any) -> str:
    """Return a template filled in; texts are escaped."""
    return _templates().get_template(template).render(content)


def page(title: str, sections: Sequence[str]) -> str:
    """Return a page with a title and sections of HTML.

    Examples
    --------
    >>> "<title>a &lt; b</title>" in page("a < b", ["<p>text</p>"])
    True
    """
    return render("page.html", title=title, sections=sections, version=__version__) + "\n"


def html_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[str] = ()
) -> str:
    """Return a table; `classes` names for each column how it is shown ("number", "standing").

    Examples
    --------
    >>> '<td class="number">1</td>' in html_table(["x"], [["1"]], ["number"])
    True
    """
    kinds = [*classes, *[""] * (len(headings) - len(classes))]
    module: Any = _templates().get_template("table.html").module
    return str(module.table(headings, rows, kinds))


def result_page(result: Result) -> str:
    """Return the page of a result: its verdict, tables, figures and notes."""
    from matplotlib.figure import Figure

    pictures = {}
    for name, drawing in result.figures().items():
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        drawing(figure.subplots())
        pictures[name] = svg(figure)
    content = render("result_page.html", result=result, tables=result.tables(), pictures=pictures)
    return page(result.title, [content])


def svg(figure: Figure) -> str:
    """Return a figure as SVG to put into a page."""
    buffer = io.StringIO()
    save_figure(figure, buffer, format="svg")
    text = buffer.getvalue()
    return text[text.index("<svg") :]
