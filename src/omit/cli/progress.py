"""Progress on the error stream, so that answers can be redirected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(name: str, total: int | None, shown: bool = True) -> Iterator[Callable[..., None]]:
    """Show a progress bar while the block runs; the function given advances it.

    Nothing is shown where nobody looks: if the error stream is not a terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (shown and console.is_terminal),
    ) as progress:
        task = progress.add_task(name, total=total)

        def advance(steps: int = 1) -> None:
            progress.advance(task, steps)

        yield advance
