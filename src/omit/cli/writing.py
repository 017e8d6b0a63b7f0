"""Where a command may write, and writing figures there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from omit.errors import InvalidInput
from omit.report.files import save_figure, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")


def require_writable(output: Path) -> None:
    """Refuse a place where nothing can be written, before anything is computed.

    Raises
    ------
    InvalidInput
        If it is a folder, or below a file, or has a name that cannot be.
    """
    try:
        if output.is_dir():
            raise InvalidInput(f"Cannot write {output}: it is a folder; name a file in it.")
        existing = next(parent for parent in output.absolute().parents if parent.exists())
        usable = existing.is_dir() and os.access(existing, os.W_OK)
    except OSError as error:
        raise InvalidInput(f"Cannot write {output}: {error.strerror}.") from error
    if not usable:
        raise InvalidInput(f"Cannot write {output}: {existing} is not a folder to write to.")


def require_figure(output: Path) -> None:
    """Refuse a place where no figure can be written, before anything is computed.

    Raises
    ------
    InvalidInput
        If the ending names no format, or nothing can be written there.
    """
    if output.suffix.lower() not in FORMATS:
        raise InvalidInput(f"Expected output={str(output)!r} to end in {', '.join(FORMATS)}.")
    require_writable(output)


def write_figure(output: Path, figure: Figure) -> None:
    """Write a figure in the format that the ending names, and say so.

    Raises
    ------
    InvalidInput
        If the file cannot be written; what was there before stays.
    """
    write_whole(output, lambda file: save_figure(figure, file, dpi=160))
    typer.echo(f"Wrote {output}.")
