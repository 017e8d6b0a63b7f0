"""The entry point `omit`, and what happens when something is wrong."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, Any

import typer

from omit._version import __version__
from omit.cli import accuracy, disclosure, papers, privacy, statistical
from omit.cli.choosing import choose
from omit.cli.emit import complain, give_up_output, speak_any_encoding
from omit.cli.options import Command, combined, join_bounds
from omit.errors import OmitError, StudyInterrupted

# What every mistyped option or command is.
_Usage: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="omit",
    help=(
        "If records are left out before a release, what privacy remains, "
        "and what does it cost in accuracy at the same privacy?"
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("compare", help=accuracy.compare.__doc__)(
    combined(choose, accuracy.compare, statistic="all")
)
app.command("best", help=accuracy.best.__doc__)(combined(choose, accuracy.best))
app.command("solve", help=accuracy.solve.__doc__)(combined(choose, accuracy.solve))
app.add_typer(privacy.bound, name="bound")
app.add_typer(privacy.calibrate, name="calibrate")
app.add_typer(papers.verify_app, name="verify")
app.add_typer(papers.figure_app, name="figure")
app.command()(disclosure.disclose)
app.add_typer(statistical.curve_app, name="curve")
app.add_typer(statistical.partition_app, name="partition")
app.command()(papers.reproduce)


def _make_strict(group: typer.Typer) -> None:
    """Let all commands of a group, and of the groups in it, refuse what is given twice."""
    for command in group.registered_commands:
        command.cls = Command
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _make_strict(inner.typer_instance)


_make_strict(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"omit {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """If records are left out before a release, what privacy remains?"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a mistake in the input is one sentence and exit code 2."""
    speak_any_encoding()
    with _noticing_interruptions() as interrupted:
        try:
            words = join_bounds(sys.argv[1:] if arguments is None else arguments)
            code = app(args=words, prog_name="omit", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
            if code == 130:  # how typer passes an interruption on
                raise KeyboardInterrupt
        except SystemExit as end:
            if not isinstance(end.__context__, BrokenPipeError):
                raise
            code = _report_failure(end.__context__, False)
        except (Exception, KeyboardInterrupt) as error:
            code = _report_failure(error, bool(interrupted))
    if not _flushed():
        give_up_output()
    sys.exit(code)


def _flushed() -> bool:
    """Tell whether all that was printed has arrived, so that the interpreter need not try again."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return True


def _report_failure(error: BaseException, interrupted: bool) -> int:
    """Say in one sentence what happened and return the exit code; raise what is a mistake here."""
    if isinstance(error, StudyInterrupted):
        complain(str(error))
        return 130
    # Libraries that notice an interruption raise errors of their own.
    if interrupted or isinstance(error, KeyboardInterrupt):
        complain("Interrupted.")
        return 130
    if isinstance(error, OmitError):
        complain(f"Error: {error}")
        return 2
    if isinstance(error, _Usage):
        context = getattr(error, "ctx", None)
        if type(error).__name__ != "NoArgsIsHelpError":  # has shown the help
            command = "omit" if context is None else context.command_path
            message = error.format_message().replace("Value error, ", "").rstrip(".")
            complain(f"Error: {message}; {command} --help shows what there is.")
        return 2
    if isinstance(error, BrokenPipeError):
        give_up_output()  # whoever was reading has seen enough
        return 130
    if isinstance(error, OSError):
        what = "Cannot write the answer"
        if error.filename is None:
            give_up_output()
        else:
            what = f"Cannot use {os.fsdecode(error.filename)}"
        complain(f"Error: {what}: {error.strerror or error}.")
        return 2
    if isinstance(error, MemoryError):
        complain("Error: This needs more memory than there is; ask for less at a time.")
        return 2
    raise error


@contextmanager
def _noticing_interruptions() -> Iterator[list[int]]:
    """Give a list that has an entry as soon as somebody interrupts."""
    noticed: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        noticed.append(number)
        # What libraries leave half done is of no interest to whoever interrupts them.
        sys.unraisablehook = lambda _: None
        signal.default_int_handler(number, frame)

    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield noticed
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield noticed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
