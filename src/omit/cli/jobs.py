"""What jobs need of every command: what it does and when, and an exit code that says enough.

A log goes to the error stream, from the logger `omit`; conditions on the answer that do not hold
are said once everything is printed and written, with an exit code of their own.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from omit.cli import options
from omit.cli.emit import RESULTS, STARTED, complain, one_line, report_file, write_page

if TYPE_CHECKING:
    from omit.report.result import Result

CONDITION_UNMET = 3
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)

_log = logging.getLogger("omit")


class _Lines(logging.Formatter):
    """One line for every record, with the seconds since the program started."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return one_line(f"[{record.relativeCreated / 1000:.2f} s] {record.getMessage()}")


def log_to_errors(verbose: int) -> None:
    """Let the logger `omit` write to the error stream: warnings, with 1 steps, with 2 details."""
    end_log()
    if sys.stderr is None:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    _log.addHandler(handler)
    _log.setLevel(_LEVELS[min(verbose, len(_LEVELS) - 1)])


def end_log() -> None:
    """Let the logger `omit` write no more to the error stream."""
    for handler in [each for each in _log.handlers if isinstance(each.formatter, _Lines)]:
        _log.removeHandler(handler)
    _log.setLevel(logging.NOTSET)


def for_jobs(
    run: Callable[..., None], result: str | None = None, paged: bool = False
) -> Callable[..., None]:
    """Return a command with `--verbose`, and with `--fail-unless` if it has results.

    Parameters
    ----------
    run : callable
        The command.
    result : str, optional
        The class of its results, as ``module:name``; loaded only if there are conditions.
    paged : bool
        Whether `--report` writes a page of its results; others write one themselves, or none.
    """
    signature = inspect.signature(run)
    takes_context = "ctx" in signature.parameters

    def command(
        ctx: typer.Context,
        verbose: int,
        fail_unless: list[str] | None = None,
        no_date: bool = False,
        **given: Any,
    ) -> None:
        ctx.meta[STARTED] = time.monotonic()
        file = report_file(given.pop("report"), False, None) if paged else None
        if verbose:
            log_to_errors(verbose)
        kind = None if result is None or not fail_unless else _loaded(result)
        if kind is not None:
            from omit.report.condition import conditions

            asked = conditions(fail_unless or (), kind)
        _log.info("%s", ctx.command_path)
        run(**({"ctx": ctx} if takes_context else {}), **given)
        if file is not None:
            write_page(ctx, file, *ctx.meta[RESULTS])
        if kind is None:
            return
        unmet = [reason for one in asked if (reason := one.unmet(ctx.meta[RESULTS]))]
        if unmet:
            complain(f"Failed: expected {'; '.join(unmet)}.")
            raise typer.Exit(CONDITION_UNMET)

    own = [each for each in signature.parameters.values() if each.name != "ctx"]
    shared: dict[str, Any] = {"ctx": typer.Context, "verbose": options.Verbose}
    if result is not None:
        shared["fail_unless"] = options.FailUnless
    if paged:
        shared["report"] = options.AskedReport
    if paged or result is not None:
        shared["no_date"] = options.NoDate
    defaults = {
        "ctx": inspect.Parameter.empty,
        "verbose": 0,
        "fail_unless": None,
        "report": None,
        "no_date": False,
    }
    parameters = [
        *own,
        *(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation
            )
            for name, annotation in shared.items()
        ),
    ]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    # What typer reads the options from.
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # unknown to mypy, not to inspect
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__module__, command.__doc__ = run.__module__, run.__doc__
    return command


def _loaded(path: str) -> type[Result]:
    module, _, name = path.partition(":")
    kind: type[Result] = getattr(importlib.import_module(module), name)
    return kind
