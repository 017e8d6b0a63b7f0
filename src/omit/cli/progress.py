"""Progress on the error stream, so that answers can be redirected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omit.study.run import Progress as StudyProgress


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


@contextmanager
def study_progress(name: str, shown: bool = True) -> Iterator[Callable[[StudyProgress], None]]:
    """Show how far a study is while the block runs; the function given is told by `run_study`.

    The time left is the study's own estimate, which weighs cells by their expected cost.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} of {task.total} cells{task.fields[left]}"),
        console=console,
        transient=True,
        disable=not (shown and console.is_terminal),
    ) as bar:
        task = bar.add_task(name, total=None, left="")

        def tell(now: StudyProgress) -> None:
            bar.update(task, completed=now.done, total=now.total, left=time_left(now.remaining))

        yield tell


def time_left(seconds: float | None) -> str:
    """Return the time left in words, as exactly as such an estimate deserves.

    Examples
    --------
    >>> time_left(40), time_left(400), time_left(40000), time_left(None)
    (', less than a minute left', ', about 7 min left', ', about 11 h left', '')
    """
    from omit._text import show_estimate

    if seconds is None:
        return ""
    return f", {show_estimate(seconds)} left"
