"""`omit suppression check`: hand over an algorithm, get the bound."""

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from omit.cli import options
from omit.cli.emit import emit, study_progress
from omit.errors import InvalidInput, OmitError

if TYPE_CHECKING:
    from omit.omissions.base import Omission
    from omit.omissions.kept import Suppress

_NAMED = re.compile(r"(?:.*\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")


def check(
    ctx: typer.Context,
    suppress: options.Suppression,
    universe: options.Universe = None,
    up_to: options.UpTo = None,
    epsilon: options.CheckedEpsilon = None,
    delta: options.BaseDelta = 0.0,
    returns: options.Returns = None,
    claim: options.Claim = None,
    witness: options.WitnessFile = None,
    replay: options.ReplayFile = None,
    seconds: options.CheckSeconds = 1800.0,
    store: options.CheckStore = None,
    where: options.Where = "cores",
    json: options.Json = False,
) -> None:
    """What your own suppression costs all small databases, proved; or check a witness again."""
    from omit.guarantee import Guarantee
    from omit.omissions import suppression_check
    from omit.omissions import witness as witnesses
    from omit.report.files import require_writable

    asked = (universe, up_to, epsilon)
    if replay is not None:
        if any(value is not None for value in (*asked, claim, witness, store)):
            raise InvalidInput("Expected --replay without other questions: the file has them all.")
        way = _way(suppress)
        if not callable(way):
            raise InvalidInput("Expected MODULE:FUNCTION to check the file against.")
        replayed = witnesses.replay(replay, way, returns=returns, name=_name(suppress))
        emit(ctx, replayed, json=json)
        if not replayed.holds:
            raise typer.Exit(1)
        return
    if universe is None or up_to is None or epsilon is None:
        raise InvalidInput("Expected --universe, --up-to and --epsilon, or --replay FILE.")
    if witness is not None:
        require_writable(witness)
    with study_progress("pairs of databases", not json) as report:
        checked = suppression_check.check(
            _way(suppress),
            _universe(universe),
            up_to,
            Guarantee(epsilon, delta),
            returns=returns,
            claim=None if claim is None else _claim(claim),
            name=_name(suppress),
            seconds=seconds,
            store=store,
            where=where,
            progress=report,
        )
    if witness is not None:
        if checked.witness is None:
            raise InvalidInput("The linear program of the worst pair is too large for a witness.")
        checked.witness.write(witness)
    emit(ctx, checked, json=json)
    if witness is not None and not json:
        typer.echo(f"Wrote {witness}: --replay checks it again.")


COMMANDS: options.Commands = {"check": check}


def _way(text: str) -> "Suppress | Omission":
    """Return the function of a name such as `mymodule:suppress`, or an omission."""
    from omit.omissions.base import Omission
    from omit.omissions.names import parse_omission

    if text.endswith(".py"):
        raise InvalidInput(f"Expected the name of a function, too: {text}:FUNCTION.")
    if not _NAMED.fullmatch(text):
        return parse_omission(text)
    found = _named(text)
    if not callable(found) and not isinstance(found, Omission):
        raise InvalidInput(f"Expected {text} to be a function or an omission.")
    return found  # type: ignore[no-any-return]  # one of the two


def _name(text: str) -> str | None:
    return text.rpartition(":")[2] if _NAMED.fullmatch(text) else None


def _claim(text: str) -> Any:
    """Return what states an epsilon: an omission, or a function of epsilon."""
    return _way(text)


def _universe(text: str) -> "tuple[Any, ...]":
    """Return the records of a text such as `young,old,rich`, or of a name such as `module:all`."""
    if "," not in text and _NAMED.fullmatch(text):
        records = _named(text)
        if isinstance(records, str):
            raise InvalidInput(f"Expected {text} to be several records, not one text.")
        return tuple(records)
    parts = [part.strip() for part in text.split(",")]
    try:
        return tuple(int(part) for part in parts)
    except ValueError:
        pass
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        return tuple(parts)


def _named(text: str) -> Any:
    """Return what a module has under a name; the folder of the caller is looked in, too."""
    module_name, _, name = text.rpartition(":")
    try:
        with _importing_from(Path.cwd()):
            module = (
                _from_file(Path(module_name))
                if module_name.endswith(".py")
                else importlib.import_module(module_name)
            )
    except OmitError:
        raise
    except Exception as error:  # whatever a stranger's module does
        raise InvalidInput(
            f"Cannot import {module_name} ({type(error).__name__}: {error})."
        ) from error
    if not hasattr(module, name):
        raise InvalidInput(f"There is no {name} in {module_name}.")
    return getattr(module, name)


def _from_file(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InvalidInput(f"Cannot read {file}: there is no such file of Python.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
