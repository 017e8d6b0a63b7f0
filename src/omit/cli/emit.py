"""What a command says: its result, its progress, its complaints.

A result goes to the output, for people or, for programs, as the envelope of `report.result`;
progress and complaints go to the error stream, so that answers can be redirected. All of it is
written whatever the stream can show, however narrow the screen, whatever was typed.
"""

from __future__ import annotations

import codecs
import json as json_format
import os
import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn
    from rich.table import Table

    from omit.report.page import Made
    from omit.report.result import Result
    from omit.study.run import Progress as StudyProgress

# How an answer is shown, not what is asked.
_PRESENTATION = frozenset(
    {
        "fail_unless",
        "json",
        "no_date",
        "no_figure",
        "no_report",
        "output",
        "report",
        "store",
        "verbose",
        "width",
        "where",
    }
)
# Where a context keeps the results that were emitted, what was typed, and when.
RESULTS, WORDS, STARTED = "omit.results", "omit.words", "omit.started"
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
_SECONDS_BETWEEN_LINES = 10.0


def report_file(report: Path | None, no_report: bool, default: Path | None) -> Path | None:
    """Return where the report of a command goes, if it writes one."""
    from omit.errors import InvalidInput
    from omit.report.files import require_page

    if report is not None and no_report:
        raise InvalidInput("Expected --report or --no-report, not both.")
    file = None if no_report else report or default
    if file is not None:
        require_page(file)
    return file


def emit(context: typer.Context, *results: Result, json: bool) -> None:
    """Print results: tables, verdicts and notes, or the envelope that all commands share.

    The context keeps them for conditions.
    """
    context.meta[RESULTS] = results
    if json:
        from omit.report.result import envelope

        asked = parameters(context.params)
        print_json(envelope(*results, parameters=asked, seed=asked.get("seed")))
        return
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    for number, result in enumerate(results):
        if number:
            console.print()
        if result.preface:
            console.print(result.preface, style="bold", soft_wrap=True)
        for table in result.tables():
            if table.title:
                console.print(table.title, style="bold", soft_wrap=True)
            print_table(console, table.as_rich())
        if result.verdict:
            console.print(result.verdict, style="bold", soft_wrap=True)
    notes = [note for result in results for note in result.notes]
    cautions = [result.caution for result in results if result.caution]
    if len(results) > 1:  # what holds for all of them is said once
        notes, cautions = list(dict.fromkeys(notes)), list(dict.fromkeys(cautions))
    for note in (*notes, *cautions):
        console.print(note, soft_wrap=True)


def made(context: typer.Context) -> Made:
    """Return what a report says of how it came about."""
    from omit._text import show_duration
    from omit.report.page import Made

    if context.params.get("no_date"):
        return Made(command=typed(context))
    took = show_duration(time.monotonic() - context.meta[STARTED])
    return replace(Made.today(), command=typed(context), took=took)


def typed(context: typer.Context) -> str:
    """Return the command that asks the same, without where answers go and without secret seeds."""
    options = {
        name: option
        for option in context.command.params
        if option.name in _PRESENTATION or (option.name == "seed" and option.default is None)
        for name in option.opts
    }
    kept, words = [], iter(context.meta.get(WORDS, ()))
    for word in words:
        option = options.get(word.partition("=")[0])
        if option is None:
            kept.append(word)
        elif "=" not in word and not getattr(option, "is_flag", False):
            next(words, None)
    return one_line(shlex.join([*context.command_path.split(), *kept]))


def write_page(context: typer.Context, file: Path, *results: Result) -> None:
    """Write the report of results, and say where it is unless programs are listening."""
    from omit.report.files import write_text
    from omit.report.page import page

    private = any(result.confidential for result in results)
    write_text(file, page(results, made(context)), private)
    tell_where(context, file)


def tell_where(context: typer.Context, file: Path) -> None:
    """Say where a report is, and how to look at it, unless programs are listening."""
    if not context.params.get("json"):
        typer.echo(f"Wrote {file}: open it in a browser.")


def parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that make up the question, as JSON holds them.

    Examples
    --------
    >>> parameters({"epsilon": [(1.0, 2.0), (3.0,)], "json": True, "file": Path("law.csv")})
    {'epsilon': [1.0, 2.0, 3.0], 'file': 'law.csv'}
    """
    return {name: _asked(value) for name, value in options.items() if name not in _PRESENTATION}


def _asked(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, tuple) for part in value):
        return [number for numbers in value for number in numbers]
    return value


def print_json(content: Any) -> None:
    """Print one object on one line; what is infinite is null, because JSON has no word for it."""
    from omit.report.result import plain

    typer.echo(json_format.dumps(plain(content), allow_nan=False))


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
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in sentence
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
        _IN_LETTERS.get(letter, letter.encode("unicode_escape").decode())
        for letter in error.object[error.start : error.end]
    )
    return "".join(letters), error.end


def give_up_output() -> None:
    """Turn the output away from where it could not be written, so that nobody tries again."""
    with suppress(OSError, AttributeError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def progress_bar(name: str, total: int | None, shown: bool = True) -> Iterator[Callable[..., None]]:
    """Show how much is done while the block runs; the function given advances it.

    On a terminal that is a bar, and elsewhere a line on the error stream every ten seconds.
    """
    if not (shown and _has_terminal()):
        with _lines(name, shown) as tell:
            done = 0

            def advance(steps: int = 1) -> None:
                nonlocal done
                done += steps
                tell(done, total)

            yield advance
        return
    from rich.progress import TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn())
    with _bar(columns) as bar:
        task = bar.add_task(name, total=total)
        yield lambda steps=1: bar.advance(task, steps)


@contextmanager
def study_progress(name: str, shown: bool = True) -> Iterator[Callable[[StudyProgress], None]]:
    """Show how far a study is while the block runs; the function given is told by `run_study`.

    The time left is the study's own estimate, which weighs cells by their expected cost.
    """
    if not (shown and _has_terminal()):
        with _lines(name, shown) as tell:
            yield lambda now: tell(now.done, now.total, now.remaining)
        return
    from rich.progress import TextColumn

    columns = (TextColumn("{task.completed} of {task.total} cells{task.fields[left]}"),)
    with _bar(columns) as bar:
        task = bar.add_task(name, total=None, left="")

        def tell(now: StudyProgress) -> None:
            bar.update(task, completed=now.done, total=now.total, left=time_left(now.remaining))

        yield tell


def _has_terminal() -> bool:
    """Tell whether the error stream is a terminal, which shows what moves."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False


def _bar(columns: Sequence[ProgressColumn]) -> Progress:
    """Return a bar on the error stream that goes away when it is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        console=Console(stderr=True),
        transient=True,
    )


@contextmanager
def _lines(name: str, shown: bool) -> Iterator[Callable[..., None]]:
    """Say every ten seconds how much is done; the function given is told that, and the total."""
    start, ended, said = time.monotonic(), threading.Event(), ""

    def speak() -> None:
        while not ended.wait(_SECONDS_BETWEEN_LINES):
            complain(f"[{time.monotonic() - start:.0f} s] {name}{said}")

    def tell(done: int, total: int | None, left: float | None = None) -> None:
        nonlocal said
        said = how_much(done, total, left, time.monotonic() - start)

    speaker = threading.Thread(target=speak, name="progress", daemon=True)
    if shown:
        speaker.start()
    try:
        yield tell
    finally:
        ended.set()
        if shown:
            speaker.join()


def how_much(done: int, total: int | None, left: float | None, seconds: float) -> str:
    """Return how much is done and how long the rest may take, in words.

    Examples
    --------
    >>> how_much(30, 40, None, seconds=60.0), how_much(7, None, None, seconds=60.0)
    (': 30 of 40 done, less than a minute left', ': 7 done')
    """
    if total is None:
        return f": {done:,} done" if done else ""
    if left is None and done:
        left = seconds * (total - done) / done
    return f": {done:,} of {total:,} done{time_left(left)}"


def time_left(seconds: float | None) -> str:
    """Return the time left in words, as exactly as such an estimate deserves.

    Examples
    --------
    >>> time_left(40), time_left(400), time_left(40000), time_left(None)
    (', less than a minute left', ', about 7 min left', ', about 11 h left', '')
    """
    from omit._text import show_estimate

    return "" if seconds is None else f", {show_estimate(seconds)} left"
