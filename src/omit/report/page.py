"""Pages of HTML that stand alone: one file each, which needs no other, no script and no network.

A page says in short what is promised, what is lost and what to do instead, shows the evidence, says
what was assumed, and how to repeat it. Pages are Jinja2 templates in the folder `templates`, with
the style in a file of its own; words are explained by the glossary of the documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from omit import __version__
from omit.report.files import svg
from omit.report.glossary import Words

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

    from omit.report.result import Drawing, Result


class Point(NamedTuple):
    """A number, and a sentence that says in plain words what it means."""

    number: str
    sentence: str


class Card(NamedTuple):
    """What a reader takes along: what is promised, what is lost, and what to do instead."""

    promised: Point
    lost: Point
    instead: Point


CARD = ("What is promised", "What is lost", "What to do")


@dataclass(frozen=True)
class Made:
    """How a page came about, as far as that is known and wanted.

    Attributes
    ----------
    command
        What to type to get it again.
    python
        What to run to get it again, if not what the result says itself.
    date
        The day; left out, pages of the same question can be compared byte for byte.
    took
        How long it took, in words.
    """

    command: str | None = None
    python: str | None = None
    date: str | None = None
    took: str | None = None

    @classmethod
    def today(cls) -> Made:
        """Return that a page was made today."""
        from datetime import date

        return cls(date=date.today().isoformat())


class Caption(NamedTuple):
    """What a picture is called, and what it shows to those who do not see it."""

    title: str
    description: str


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("omit.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def render(template: str, **content: Any) -> str:
    """Return a template filled in; texts are escaped."""
    return _templates().get_template(template).render(content)


def page(
    results: Sequence[Result],
    made: Made | None = None,
    template: str = "result_page.html",
    **content: Any,
) -> str:
    """Return a page about results of one command.

    Parameters
    ----------
    results : sequence of Result
        What the page is about; its title and caution are those of the first.
    made : Made, optional
        How it came about.
    template : str
        Shows the evidence.
    content
        What the template needs besides.
    """
    text = render(
        template,
        results=results,
        result=results[0],
        made=made or Made(),
        words=Words(),
        card_titles=CARD,
        picture=picture,
        version=__version__,
        **content,
    )
    return text + "\n"


def picture(result: Result, name: str, drawing: Drawing) -> Markup:
    """Return a drawing of a result as SVG, with its text alternative."""
    from omit.report.result import own_figure

    caption = result.captions().get(name, Caption(name, result.verdict))
    return svg(own_figure(drawing), *caption)
