"""The words of pages and of the documentation, explained once for both.

The file `glossary.md` is a chapter of the documentation, and what pages show of it: a word is
linked where it comes first on a page, and explained at the end of that page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markupsafe import Markup

# What the explanations are written with, and what pages show of it.
_MARKUP = (
    (r"\{term\}`([^`]*)`", r"\1"),
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"\$e\^\\varepsilon\$", "e<sup>ε</sup>"),
    (r"\*([^*]+)\*", r"<em>\1</em>"),
    (r"`([^`]*)`", r"<code>\1</code>"),
)


class Entry(NamedTuple):
    """A word with its other names, and what it means."""

    names: tuple[str, ...]
    meaning: str

    @property
    def anchor(self) -> str:
        """Where a page explains it."""
        return f"word-{self.names[0].lower().replace(' ', '-')}"

    @property
    def as_html(self) -> Markup:
        """What it means, as a page shows it."""
        from markupsafe import Markup, escape

        text = str(escape(self.meaning))
        for written, shown in _MARKUP:
            text = re.sub(written, shown, text)
        return Markup(text)


@cache
def entries() -> Mapping[str, Entry]:
    """Return all entries by all of their names, in lower case.

    Examples
    --------
    >>> entries()["δ"].names
    ('delta', 'δ')
    """
    text = files("omit.report").joinpath("glossary.md").read_text(encoding="utf-8")
    known: dict[str, Entry] = {}
    for block in re.split(r"\n\n(?=\S)", text.partition("\n")[2].removesuffix("```\n").strip()):
        lines = block.splitlines()
        names = tuple(line for line in lines if not line.startswith(" "))
        meaning = " ".join(line.strip() for line in lines if line.startswith(" "))
        known |= {name.lower(): Entry(names, meaning) for name in names}
    return known


@cache
def _pattern() -> re.Pattern[str]:
    names = sorted(entries(), key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, names))})(?=s?\b)", re.IGNORECASE)


class Words:
    """The words that one page explains: those that were marked in its texts."""

    def __init__(self) -> None:
        self._used: dict[str, Entry] = {}

    def mark(self, text: str) -> Markup:
        """Return a text for a page, with a link where a word comes first on the page.

        Examples
        --------
        >>> Words().mark("no witness & no witness")
        Markup('no <a class="word" href="#word-witness">witness</a> &amp; no witness')
        """
        from markupsafe import Markup, escape

        parts, end = [], 0
        for match in _pattern().finditer(text):
            entry = entries()[match[0].lower()]
            if entry.anchor not in self._used:
                self._used[entry.anchor] = entry
                link = f'<a class="word" href="#{entry.anchor}">{escape(match[0])}</a>'
                parts += [str(escape(text[end : match.start()])), link]
                end = match.end()
        return Markup("".join([*parts, str(escape(text[end:]))]))

    @property
    def used(self) -> list[Entry]:
        """What was marked, in alphabetical order."""
        return sorted(self._used.values(), key=lambda entry: entry.names[0].lower())
