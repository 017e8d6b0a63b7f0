"""Progress on the error stream, so that answers can be redirected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omit.study.progress import Progress


@contextmanager
def progress_bar(name: str, total: int | None, shown: bool = True) -> Iterator[Callable[..., None]]:
    """Show a progress bar while the block runs; the function given advances it.

    Nothing is shown where nobody looks: if the error stream is not a terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    with Bar(
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


@contextmanager
def study_progress(name: str, shown: bool = True) -> Iterator[Callable[[Progress], None]]:
    """Show how far a study is, with its own estimate of the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    with Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} cells"),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
        disable=not (shown and console.is_terminal),
    ) as bar:
        task = bar.add_task(name, total=None, left="")

        def report(now: Progress) -> None:
            left = "" if now.remaining is None else f"about {now.remaining / 60:.1f} min left"
            bar.update(task, completed=now.done, total=now.total, left=left)

        yield report
