"""Commands made of two functions: one reads options into a value, the other goes on from it.

Several commands ask the same things first, such as which data or which omission. Those options
are the parameters of one function, and a command's own ones the parameters of another. Annotations
have to be evaluated, not kept as text, because they are what the options are made of.
"""

import inspect
from collections.abc import Callable
from typing import Any


def combined(
    build: Callable[..., Any], run: Callable[..., None], **defaults: object
) -> Callable[..., None]:
    """Return a function with the options of both that builds a value and runs with it.

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
