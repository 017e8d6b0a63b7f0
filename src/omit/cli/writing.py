"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from omit.errors import InvalidInput


def require_writable(output: Path) -> None:
    """Refuse a place where nothing can be written, before anything is computed.

    Raises
    ------
    InvalidInput
        If it is a folder, or below a file.
    """
    if output.is_dir():
        raise InvalidInput(f"Cannot write {output}: it is a folder; name a file in it.")
    existing = next(parent for parent in output.absolute().parents if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise InvalidInput(f"Cannot write {output}: {existing} is not a folder to write to.")


def write_whole(output: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `output`, and put it in place when it is finished.

    Raises
    ------
    InvalidInput
        If the file cannot be written; what was there before stays.
    """
    unfinished = output.with_name(f".unfinished-{output.name}")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        write(unfinished)
        unfinished.replace(output)
    except OSError as error:
        raise InvalidInput(f"Cannot write {output}: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
