"""The command `doctor`: does this installation work?"""

import typer

from omit.cli import options
from omit.cli.emit import emit


def doctor(ctx: typer.Context, json: options.Json = False) -> None:
    """Say what is installed and found, and check five known numbers.

    The exit code is 1 if one of them does not come out right.
    """
    from omit.audit.installation import diagnose

    diagnosis = diagnose()
    emit(ctx, diagnosis, json=json)
    if not diagnosis.works:
        raise typer.Exit(1)
