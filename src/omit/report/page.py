"""A page of HTML that needs no other file, and what is put on it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from omit._version import __version__
from omit.report.files import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.warning { border: 2px solid #b30000; padding: .6rem 1rem; font-weight: 600; }
.verdict { font-size: 1.1rem; border-left: 4px solid #08306b; padding-left: 1rem; }
table { border-collapse: collapse; } th, td { padding: .3rem .8rem; text-align: left; }
th { border-bottom: 2px solid #444; } tr:nth-child(even) td { background: #f4f4f4; }
td { vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.standing { font-weight: 600; white-space: nowrap; }
figure { margin: 1.5rem 0; overflow-x: auto; }
figure svg, figure img { max-width: 100%; height: auto; }
figcaption { color: #444; font-size: .92rem; }
"""


def page(title: str, sections: Sequence[str]) -> str:
    """Return a page with a title and sections of HTML.

    Examples
    --------
    >>> "<title>a &lt; b</title>" in page("a < b", ["<p>text</p>"])
    True
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(sections)
        + f"\n<p><small>Made by omit {__version__}.</small></p>\n</body></html>\n"
    )


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
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{kind}">{escape(cell)}</td>' if kind else f"<td>{escape(cell)}</td>"
            for cell, kind in zip(row, kinds, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def svg(figure: Figure) -> str:
    """Return a figure as SVG to put into a page."""
    buffer = io.StringIO()
    save_figure(figure, buffer, format="svg")
    text = buffer.getvalue()
    return text[text.index("<svg") :]
