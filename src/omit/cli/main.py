"""The entry point `omit`, and what happens when something is wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import omit
from omit.cli import accuracy, curve, disclose, figure, partition, privacy, reproduce, verify
from omit.cli.bounds import join_bounds
from omit.cli.choosing import choose
from omit.cli.combined import combined
from omit.errors import OmitError, StudyInterrupted

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
app.add_typer(verify.app, name="verify")
app.add_typer(figure.app, name="figure")
app.command()(disclose.disclose)
app.add_typer(curve.app, name="curve")
app.add_typer(partition.app, name="partition")
app.add_typer(reproduce.app, name="reproduce")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"omit {omit.__version__}")
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
    try:
        app(args=join_bounds(sys.argv[1:] if arguments is None else arguments))
    except StudyInterrupted as error:
        typer.echo(str(error), err=True)
        sys.exit(130)
    except OmitError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        sys.exit(130)
