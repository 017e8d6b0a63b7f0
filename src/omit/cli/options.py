"""Options: what several commands ask for, what texts stand for, and how a command is put together.

Typer makes options of annotations, so annotations are evaluated here and not kept as text.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from typer.core import TyperCommand

from omit.errors import InvalidInput, OmitError

if TYPE_CHECKING:
    from omit.laws.distribution import Distribution
    from omit.statistical.noise import AddedNoise
    from omit.statistical.sampling import SamplingTechnique

PUBLISHED_RUNS = "paper"
# Options with two numbers and more, which may be typed as words of their own.
_SEVERAL_WORDS = ("--bounds", "--keep")


class Relation(StrEnum):
    """The neighbour relations that a guarantee can be asked for."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"


class Numbers(tuple[float, ...]):
    """The numbers of an option, separated by commas."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str | Self) -> Self:
        """Return the numbers of a text; numbers, such as a default, are returned as they are.

        Raises
        ------
        BadParameter
            If something between the commas is not a number.

        Examples
        --------
        >>> Numbers.parse("0.1,0.2")
        (0.1, 0.2)
        """
        if isinstance(text, cls):
            return text
        try:
            return cls(float(part) for part in str(text).split(","))
        except ValueError as error:
            raise typer.BadParameter(
                f"{text!r} is not a list of numbers such as 0.1,0.2"
            ) from error

    @staticmethod
    def joined(lists: "Sequence[Numbers] | None") -> tuple[float, ...]:
        """Return the numbers of an option that was given several times, or not at all.

        Examples
        --------
        >>> Numbers.joined([Numbers((0.1, 0.2)), Numbers((0.3,))]), Numbers.joined(None)
        ((0.1, 0.2, 0.3), ())
        """
        return tuple(number for numbers in lists or () for number in numbers)


def number_list(
    text: str, *names: str, metavar: str = "NUMBER,...", default: str | bool = False
) -> Any:
    """Return an option of one or more numbers, separated by commas or given several times.

    The text is that of the help; `default` says there what holds if nothing is given.
    """
    return typer.Option(
        *names, parser=Numbers.parse, metavar=metavar, help=text, show_default=default
    )


Source = Annotated[
    str, typer.Argument(help="A CSV or Parquet file, or the name of a registered data set.")
]
ColumnName = Annotated[
    str | None,
    typer.Option("--column", help="Name of the column.", show_default="the registered one"),
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table",
        help="Name of the table, if the source is a database.",
        show_default="the only one",
    ),
]
Step = Annotated[
    float | None,
    typer.Option(
        "--step",
        help="What all values are multiples of, above the lower bound: 1 for whole numbers.",
        show_default="the registered one, else continuous",
    ),
]
Neighbours = Annotated[
    Relation | None,
    typer.Option(help="Neighbour relation.", show_default="that of the omission"),
]
RowsPerPerson = Annotated[int, typer.Option(help="Number of records that one person may have.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
FigureFile = Annotated[
    Path, typer.Option(help="Path of the figure; the ending decides: .svg, .png or .pdf.")
]


def runs_asked_for(text: str) -> int | None:
    """Return how many runs are asked for; None for as many as were published.

    Raises
    ------
    InvalidInput
        If it is neither a number of runs nor the word for that.

    Examples
    --------
    >>> runs_asked_for("2000"), runs_asked_for("paper")
    (2000, None)
    """
    from omit import _validate

    if text == PUBLISHED_RUNS:
        return None
    try:
        count = int(text)
    except ValueError as error:
        raise InvalidInput(
            f"Expected --runs {_validate.shown(text)} to be a whole number or {PUBLISHED_RUNS}."
        ) from error
    return _validate.runs(count)


class Command(TyperCommand):
    """A command that refuses an option given twice, and whose errors speak of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse several values for an option that takes one; the last would win silently."""
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
    build: Callable[..., Any], run: Callable[..., None], **defaults: object
) -> Callable[..., None]:
    """Return a command with the options of both functions: one reads them, the other goes on.

    Several commands ask the same things first, such as which data or which omission. Those options
    are the parameters of `build`, and a command's own ones the parameters of `run`.

    Parameters
    ----------
    build : callable
        Takes options and returns what `run` takes as its first argument.
    run : callable
        Takes that, and its own options.
    **defaults
        Options of `build` whose default is another one in this command.
    """
    building = {
        name: parameter.replace(default=defaults.get(name, parameter.default))
        for name, parameter in inspect.signature(build).parameters.items()
    }
    running = dict(list(inspect.signature(run).parameters.items())[1:])

    def command(**options: Any) -> None:
        built = build(**{name: options[name] for name in building})
        run(built, **{name: options[name] for name in running})

    parameters = sorted(
        (
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in (*building.values(), *running.values())
        ),
        key=lambda parameter: parameter.default is not inspect.Parameter.empty,
    )
    # What typer reads the options from.
    signature = inspect.Signature(parameters)
    command.__signature__ = signature  # type: ignore[attr-defined]  # unknown to mypy, not to inspect
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__module__ = run.__module__
    return command


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


def pair_of_numbers(text: str, option: str = "--bounds") -> tuple[float, float]:
    """Return the two numbers of a text such as `0,125`.

    Raises
    ------
    InvalidInput
        If it is not two numbers.

    Examples
    --------
    >>> pair_of_numbers("0,125")
    (0.0, 125.0)
    """
    try:
        lower, upper = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidInput(f"Expected {option} LOWER UPPER, got {text!r}.") from error
    return lower, upper


def pairs_of_numbers(text: str) -> tuple[float, float] | list[tuple[float, float]]:
    """Return the pair of a text such as `0,125`, or the list of pairs of a longer one.

    Raises
    ------
    InvalidInput
        If it is not an even number of numbers.

    Examples
    --------
    >>> pairs_of_numbers("0,125,0,100")
    [(0.0, 125.0), (0.0, 100.0)]
    """
    parts = text.split(",")
    if len(parts) % 2:
        raise InvalidInput(f"Expected --bounds to give pairs of numbers, got {text!r}.")
    pairs = [
        pair_of_numbers(f"{lower},{upper}")
        for lower, upper in zip(parts[::2], parts[1::2], strict=True)
    ]
    return pairs[0] if len(pairs) == 1 else pairs


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def parse_noise(text: str | None) -> "AddedNoise | None":
    """Return the noise of a text such as `laplace:2`."""
    from omit import _validate
    from omit.statistical.noise import added_noise

    if text is None:
        return None
    kind, _, scale = text.partition(":")
    try:
        number = float(scale)
    except ValueError as error:
        raise InvalidInput(f"Expected --noise KIND:SCALE, got {text!r}.") from error
    return added_noise(
        kind,  # type: ignore[arg-type]  # any text: added_noise refuses the rest
        _validate.finite("scale", number),
    )


def parse_group(text: str) -> tuple[int, float]:
    """Return the size and the probability of a text such as `100:0.2`."""
    from omit.laws.distribution import checked_entries, property_probability

    try:
        size, chance = text.split(":")
        number, probability = int(size), float(chance)
    except ValueError as error:
        raise InvalidInput(f"Expected --group SIZE:P, got {text!r}.") from error
    return checked_entries(number, 0)[0], property_probability(probability)


def parse_distribution(values: str | None, file: Path | None) -> "Distribution":
    """Return the distribution of a text such as `0:0.5,1:0.5`, or of a file."""
    import pandas as pd

    from omit.laws.distribution import Distribution

    if (values is None) == (file is None):
        raise InvalidInput("Expected either --values VALUE:P,... or --distribution FILE.")
    if values is not None:
        try:
            pairs = [part.split(":") for part in values.split(",")]
            return Distribution([float(v) for v, _ in pairs], [float(w) for _, w in pairs])
        except InvalidInput:
            raise
        except ValueError as error:
            raise InvalidInput(f"Expected --values VALUE:P,VALUE:P, got {values!r}.") from error
    try:
        table = pd.read_csv(file)
        return Distribution(table["value"], table["probability"])
    except InvalidInput:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(
            f"Cannot read {file}: expected a CSV file with columns value and probability."
        ) from error


def parse_technique(text: str) -> "SamplingTechnique":
    """Return the way to sample of a text such as `poisson:0.1`."""
    from omit.statistical.sampling import Poisson, WithoutReplacement, WithReplacement

    name, _, number = text.partition(":")
    try:
        if name == "poisson":
            return Poisson(float(number))
        if name == "with-replacement":
            return WithReplacement(int(number))
        if name == "without-replacement":
            return WithoutReplacement(int(number))
        raise ValueError(name)
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput(
            "Expected --sample without-replacement:SIZE, poisson:RATE or with-replacement:SIZE, "
            f"got {text!r}."
        ) from error
