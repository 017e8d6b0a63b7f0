"""The entry point `omit`: all commands, how they are put together, and what happens to errors."""

from __future__ import annotations

import atexit
import gc
import inspect
import itertools
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from omit import __version__
from omit.cli import (
    accuracy,
    data,
    disclosure,
    doctor,
    options,
    papers,
    privacy,
    statistical,
    suppression,
)
from omit.cli import help as help_texts
from omit.cli.emit import WORDS, complain, give_up_output, speak_any_encoding
from omit.cli.jobs import end_log, for_jobs, log_to_errors
from omit.cli.options import Commands
from omit.errors import OmitError, StudyInterrupted

# What every mistyped option or command is.
_Usage: Any = typer.BadParameter.__base__
# Options with two numbers or more, which may be typed as words of their own.
_SEVERAL_WORDS = ("--bounds", "--weight-bounds", "--keep")
_OBJECTS_BEFORE_COLLECTION = 100_000


class Command(TyperCommand):
    """A command that refuses an option given twice, and whose errors speak of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse several values for an option that takes one; the last would win silently."""
        ctx.meta[WORDS] = tuple(args)
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(given).items():
            has_value = not getattr(option, "is_flag", True) or option.secondary_opts
            if times > 1 and has_value and not option.multiple and option.nargs == 1:
                name = " / ".join([max(option.opts, key=len), *option.secondary_opts])
                raise typer.BadParameter(
                    f"it takes one value and was given {times} times", ctx, param_hint=f"'{name}'"
                )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what the library says of its arguments is said of the options."""
        try:
            return super().invoke(ctx)
        except OmitError as error:
            options = {
                str(option.name): max(option.opts, key=len)
                for option in self.params
                if option.param_type_name == "option"
            }
            error.args = (in_terms_of_options(str(error), options),)
            raise


class Questions(TyperGroup):
    """All commands, listed in the order of the questions that they answer."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return list(help_texts.PANELS)


def in_terms_of_options(sentence: str, options: Mapping[str, str]) -> str:
    """Return a sentence about arguments as one about the options that they come from.

    Examples
    --------
    >>> options = {"rate": "--rate", "rows_per_person": "--rows-per-person", "m": "--m", "M": "--M"}
    >>> in_terms_of_options("Expected rate=1.5 in (0, 1].", options)
    'Expected --rate 1.5 in (0, 1].'
    >>> in_terms_of_options("Expected m=0.3 to be at most M=0.2.", options)
    'Expected --m 0.3 to be at most --M 0.2.'
    >>> in_terms_of_options("Expected rows_per_person to be a number.", options)
    'Expected --rows-per-person to be a number.'
    """
    if not options:
        return sentence
    # What is called "... with m=0.1, M=0.3" keeps its name.
    apart = r"(?<![\w.-])(?<!with )(?<!, )"
    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    sentence = re.sub(
        rf"{apart}({names})(\[\d+\])?=", lambda match: f"{options[match[1]]} ", sentence
    )
    return re.sub(
        rf"^Expected ({names})(?= (?:to|of|as|in|at)\b)",
        lambda match: f"Expected {options[match[1]]}",
        sentence,
    )


def combined(
    run: Callable[..., None],
    *builders: Callable[..., Any],
    text: str | None = None,
    **defaults: object,
) -> Callable[..., None]:
    """Return a command with the options of several functions.

    Several commands ask the same things first, such as which data or which omission. Those options
    are the parameters of builders, and a command's own ones the parameters of `run`.

    Parameters
    ----------
    run : callable
        Takes what the builders return, in order, and then its own options.
    *builders : callable
        Take options.
    text : str, optional
        The help; by default the docstring of `run`.
    **defaults
        Options of builders whose default is another one in this command.
    """
    shared = [dict(inspect.signature(build).parameters) for build in builders]
    own = dict(list(inspect.signature(run).parameters.items())[len(builders) :])

    def command(**options: Any) -> None:
        built = [
            build(**{name: options[name] for name in parameters})
            for build, parameters in zip(builders, shared, strict=True)
        ]
        run(*built, **{name: options[name] for name in own})

    parameters = [
        parameter.replace(
            kind=inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(parameter.name, parameter.default),
        )
        for group in (*shared, own)
        for parameter in group.values()
    ]
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    # What typer reads the options from.
    signature = inspect.Signature(parameters)
    command.__signature__ = signature  # type: ignore[attr-defined]  # unknown to mypy, not to inspect
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__module__, command.__doc__ = run.__module__, text or run.__doc__
    return command


# What commands and groups of them return, where conditions can be about it.
_RESULTS: Mapping[str, str] = {
    "compare": "omit.accuracy.comparison:Comparison",
    "best": "omit.accuracy.search:Best",
    "solve": "omit.accuracy.search:Solution",
    "bound": "omit.omissions.answer:BoundAnswer",
    "bound independent": "omit.omissions.pair_answer:PairAnswer",
    "bound subsets": "omit.omissions.pair_answer:PairAnswer",
    "bound sample-threshold": "omit.disclosure.threshold_answer:ThresholdAnswer",
    "calibrate": "omit.omissions.answer:CalibrationAnswer",
    "suppression check": "omit.omissions.suppression_check:SuppressionCheck",
    "calibrate sample-threshold": "omit.disclosure.threshold_answer:ThresholdCalibration",
    "curve": "omit.statistical.curve:PrivacyCurve",
    "curve sample": "omit.statistical.curve:SampleCurves",
    "partition plan": "omit.statistical.planner:Plan",
    "partition answer": "omit.statistical.answers:PartitionAnswers",
    "disclose": "omit.disclosure.assessment:Assessment",
    "reproduce": "omit.papers.reproduction:Reproduction",
}

app = typer.Typer(
    name="omit",
    cls=Questions,
    help="If records are omitted before a release, what privacy remains, and what does it cost in "
    "accuracy at the same privacy?",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


def _add(name: str, run: Callable[..., None]) -> None:
    """Add a command to the app, under its question and with its example."""
    panel = help_texts.PANELS[name]
    added = for_jobs(run, _RESULTS.get(name), paged=name in ("best", "solve"))
    app.command(name, cls=Command, rich_help_panel=panel, epilog=help_texts.epilog(name))(added)


def _add_group(name: str, text: str, commands: Commands) -> typer.Typer:
    group = typer.Typer(help=text, no_args_is_help=True)
    for command_name, command in commands.items():
        words = f"{name} {command_name}"
        result = _RESULTS.get(words, _RESULTS.get(name))
        added = for_jobs(command, result, paged=name != "figure")
        group.command(command_name, cls=Command, epilog=help_texts.epilog(words))(added)
    app.add_typer(group, name=name, rich_help_panel=help_texts.PANELS[name])
    return group


def _add_commands() -> None:
    """Add all commands to the app."""
    for run, defaults in (
        (accuracy.compare, {"statistic": "all"}),
        (accuracy.best, {}),
        (accuracy.solve, {}),
    ):
        _add(run.__name__, combined(run, accuracy.choose, **defaults))
    bound, calibrate = (
        {
            name: combined(run, build, privacy.ask, text=build.__doc__)
            for name, build in privacy.OMISSIONS.items()
        }
        for run in (privacy.bound, privacy.calibrate)
    )
    for name, build in privacy.PAIRS.items():
        bound[name] = combined(privacy.pair_bound, build, text=build.__doc__)
    bound["sample-threshold"] = disclosure.bound_threshold
    calibrate["sample-threshold"] = disclosure.calibrate_threshold
    groups = (
        _add_group("bound", "Compute the guarantee of a release after an omission.", bound),
        _add_group(
            "calibrate",
            "Compute the guarantee that the mechanism needs, so that the release has the target.",
            calibrate,
        ),
    )
    any_options = {"ignore_unknown_options": True, "allow_extra_args": True}
    for name, group in itertools.product(privacy.REFUSED, groups):
        group.command(name, cls=Command, context_settings=any_options)(privacy.refuse(name))
    _add_group(
        "suppression",
        "Hand over an algorithm that leaves records out, get the bound.",
        suppression.COMMANDS,
    )
    _add_group("verify", "Check the theorems by independent computation.", papers.VERIFY)
    _add_group("figure", "Draw the bounds.", papers.FIGURE)
    _add("disclose", combined(disclosure.disclose, disclosure.count))
    curve = {
        name: combined(statistical.show_curve, build, text=build.__doc__)
        for name, build in statistical.CURVES.items()
    }
    _add_group(
        "curve",
        "Statistical privacy: delta for every epsilon, if only the distribution is known.",
        {**curve, "sample": statistical.sample},
    )
    answer = combined(statistical.answer, statistical.read_column, statistical.generator)
    _add_group(
        "partition",
        "Answer several queries, every one on its own secret random block of the database.",
        {"plan": statistical.plan, "answer": answer},
    )
    _add("reproduce", papers.reproduce)
    _add("data", data.data)
    _add("doctor", doctor.doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"omit {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    verbose: options.Verbose = 0,
) -> None:
    """If records are omitted before a release, what privacy remains?"""
    log_to_errors(verbose)
    if context.invoked_subcommand is None:
        typer.echo(help_texts.FIRST_WORDS)


_add_commands()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a mistake in the input is one sentence and exit code 2."""
    speak_any_encoding()
    # Loading libraries makes many objects that stay: looking through them takes a tenth of the time
    # of a short command.
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION, 50, 100)
    # The last to be registered is the first to be run, before what libraries tidy up.
    atexit.register(_leave_when_interrupted)
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
        finally:
            end_log()
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
            message += "" if message.endswith("?") else ";"
            complain(f"Error: {message} {command} --help shows what there is.")
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


def _leave_when_interrupted() -> None:
    """Let an interruption end the interpreter at once where nothing is left but to tidy up."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))


def join_bounds(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with all numbers after options such as `--bounds` joined by commas.

    An option takes one value, and people type two numbers.

    Examples
    --------
    >>> join_bounds(["compare", "people.csv", "--bounds", "0", "125", "--json"])
    ['compare', 'people.csv', '--bounds', '0,125', '--json']
    >>> join_bounds(["--bounds", "0", "125", "0", "100"])
    ['--bounds', '0,125,0,100']
    >>> join_bounds(["--bounds", "from-data"])
    ['--bounds', 'from-data']
    """
    joined: list[str] = []
    rest = list(arguments)
    while rest:
        joined.append(rest.pop(0))
        if joined[-1] in _SEVERAL_WORDS and len(rest) >= 2 and all(map(_is_number, rest[:2])):
            numbers = []
            while rest and _is_number(rest[0]):
                numbers.append(rest.pop(0))
            joined.append(",".join(numbers))
    return joined


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
