"""What a command says at its end: a result for people, or one object for programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omit.cli.printing import print_json, print_table

if TYPE_CHECKING:
    import typer

    from omit.report.result import Result

# How an answer is shown, not what is asked.
_PRESENTATION = frozenset({"json", "no_figure", "no_report", "output", "report", "where"})


def emit(context: typer.Context, result: Result, *, json: bool) -> None:
    """Print a result: tables, verdict and notes, or the envelope that all commands share."""
    if json:
        from omit.report.result import envelope

        asked = parameters(context.params)
        print_json(envelope(result, asked, asked.get("seed")))
        return
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if result.preface:
        console.print(result.preface, style="bold", soft_wrap=True)
    for table in result.tables():
        if table.title:
            console.print(table.title, style="bold", soft_wrap=True)
        print_table(console, table.as_rich())
    if result.verdict:
        console.print(result.verdict, style="bold", soft_wrap=True)
    for note in (*result.notes, *([result.caution] if result.caution else [])):
        console.print(note, soft_wrap=True)


def parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that make up the question, as JSON holds them.

    Examples
    --------
    >>> parameters({"epsilon": 1.0, "json": True, "distribution": Path("law.csv"), "p": None})
    {'epsilon': 1.0, 'distribution': 'law.csv', 'p': None}
    """
    return {
        name: str(value) if isinstance(value, Path) else value
        for name, value in options.items()
        if name not in _PRESENTATION
    }
