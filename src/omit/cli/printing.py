"""Printing: whatever the stream can show, however narrow the screen, whatever was typed."""

from __future__ import annotations

import codecs
import json
import math
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_IN_LETTERS = {
    "ε": "epsilon",
    "δ": "delta",
    "σ": "sigma",
    "α": "alpha",
    "√": "sqrt",
    "≤": "<=",
    "≥": ">=",
    "±": "+/-",
    "−": "-",
    "×": "x",
    "\u00a0": " ",
}
_LONGEST_WORD = 300


def print_json(content: Any) -> None:
    """Print one object on one line; what is infinite is null, because JSON has no word for it."""
    typer.echo(json.dumps(_with_nulls(content), allow_nan=False))


def _with_nulls(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _with_nulls(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_with_nulls(value) for value in content]
    return content


def print_table(console: Console, table: Table) -> None:
    """Print a table whose numbers keep all digits: a long line is better than a cut one."""
    narrow = console.width
    console.width = max(narrow, console.measure(table, options=_unbounded(console)).maximum)
    console.print(table)
    console.width = narrow


def _unbounded(console: Console) -> Any:
    return console.options.update(width=10_000)


def one_line(sentence: str) -> str:
    r"""Return a sentence on one line that can be read, whatever names and numbers it repeats.

    Examples
    --------
    >>> one_line("Cannot read a\nb.csv: no such file.")
    'Cannot read a\\nb.csv: no such file.'
    >>> one_line("Expected " + "9" * 5000 + " to be less.")
    'Expected 9999999999999999999999999999999999999999... (5000 characters) to be less.'
    """
    shown = "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in sentence
    )
    return re.sub(rf"\S{{{_LONGEST_WORD},}}", _cut, shown)


def _cut(word: re.Match[str]) -> str:
    whole = word[0].rstrip(";:,.")
    return f"{whole[:40]}... ({len(whole)} characters){word[0][len(whole) :]}"


def complain(sentence: str) -> None:
    """Print a sentence on the error stream, if anything can be printed there."""
    with suppress(OSError):
        typer.echo(one_line(sentence), err=True)


def speak_any_encoding() -> None:
    """Let both streams write symbols that their encoding lacks in letters, or escaped."""
    codecs.register_error("omit-in-letters", _in_letters)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # a stream that is closed, or none of text
            stream.reconfigure(errors="omit-in-letters")  # type: ignore[union-attr]  # TextIOWrapper


def _in_letters(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = (
        _IN_LETTERS.get(each, each.encode("unicode_escape").decode())
        for each in error.object[error.start : error.end]
    )
    return "".join(letters), error.end


def give_up_output() -> None:
    """Turn the output away from where it could not be written, so that nobody tries again."""
    with suppress(OSError, AttributeError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
