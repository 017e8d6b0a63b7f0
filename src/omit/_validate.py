"""Checks on arguments, with messages that name the argument, its value and the range it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from omit._numeric import FloatArray, as_array, has_masked
from omit.errors import InvalidInput, OmitError

# Python or NumPy makes a float of all of these, and of a complex number only its real part.
_NO_NUMBERS = (bool, np.bool_, str, bytes, bytearray, memoryview, np.complexfloating)
_LONGEST_SHOWN = 60
_Kind = TypeVar("_Kind")
_MOST_RUNS = 10_000_000


def shown(value: object) -> str:
    """Return a value for a sentence, cut where it is longer than a person reads.

    Examples
    --------
    >>> shown("age"), shown(list(range(1000)))
    ("'age'", '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, ...')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # whatever a stranger's object does when it is asked for its name
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def finite(name: str, value: float) -> float:
    """Return `value` as a float, or refuse what is not a finite number."""
    try:
        if isinstance(value, _NO_NUMBERS) or has_masked(value) or np.ndim(value):
            raise TypeError
        number = float(value)
    except OverflowError as error:
        raise InvalidInput(f"Expected {name} to be within floating-point range.") from error
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"Expected {name} to be a number, got {shown(value)}.") from error
    if not math.isfinite(number):
        raise InvalidInput(f"Expected {name}={number} to be a finite number.")
    return number


def positive(name: str, value: float) -> float:
    """Return a number in (0, inf)."""
    number = finite(name, value)
    if number <= 0:
        raise InvalidInput(f"Expected {name}={number:g} to be above 0.")
    return number


def epsilon(value: float, name: str = "epsilon") -> float:
    """Return a privacy parameter in [0, inf)."""
    number = finite(name, value)
    if number < 0:
        raise InvalidInput(f"Expected {name}={number} to be at least 0.")
    return number


def epsilons(values: ArrayLike) -> FloatArray:
    """Return an array of privacy parameters in [0, inf)."""
    array = as_array(values)
    if not (np.isfinite(array) & (array >= 0)).all():
        raise InvalidInput("Expected every epsilon to be finite and at least 0.")
    return array


def delta(value: float, name: str = "delta") -> float:
    """Return a privacy parameter in [0, 1)."""
    number = finite(name, value)
    if not 0 <= number < 1:
        raise InvalidInput(f"Expected {name}={number} in [0, 1).")
    return number


def probability(name: str, value: float) -> float:
    """Return a probability in [0, 1]."""
    number = finite(name, value)
    if not 0 <= number <= 1:
        raise InvalidInput(f"Expected {name}={number} in [0, 1].")
    return number


def probabilities(name: str, values: Iterable[float]) -> tuple[float, ...]:
    """Return a tuple of probabilities in [0, 1]."""
    return tuple(
        probability(f"{name}[{index}]", value)
        for index, value in enumerate(several(f"probabilities of {name}", values))
    )


def positive_rate(name: str, value: float) -> float:
    """Return a rate in (0, 1]."""
    number = finite(name, value)
    if not 0 < number <= 1:
        raise InvalidInput(f"Expected {name}={number} in (0, 1].")
    return number


def positive_rates(values: ArrayLike, name: str = "rate") -> FloatArray:
    """Return an array of rates in (0, 1]."""
    array = as_array(values)
    if not ((array > 0) & (array <= 1)).all():
        raise InvalidInput(f"Expected every {name} in (0, 1].")
    return array


def whole(name: str, value: int, least: int = 0, most: int | None = None) -> int:
    """Return a whole number within limits."""
    number = finite(name, value)
    if number != int(number) or number < least:
        raise InvalidInput(
            f"Expected {name}={shown(value)} to be a whole number of at least {least}."
        )
    if most is not None and number > most:
        raise InvalidInput(f"Expected {name}={shown(value)} to be at most {most:,}.")
    return int(value)


def positive_integer(name: str, value: int, most: int | None = None) -> int:
    """Return a whole number of at least 1, and of at most what can be computed with."""
    return whole(name, value, 1, most)


def runs(value: int, name: str = "runs") -> int:
    """Return a number of runs of a simulation; more of them change no digit, and take days."""
    return whole(name, value, 1, most=_MOST_RUNS)


def seed(value: int, name: str = "seed") -> int:
    """Return a seed of random numbers: a whole number of at least 0."""
    return whole(name, value)


def generator(value: np.random.Generator, name: str = "rng") -> np.random.Generator:
    """Return a generator of random numbers; NumPy's older `RandomState` is not one."""
    return instance(name, value, np.random.Generator, "made by numpy.random.default_rng(seed)")


def text(name: str, value: str) -> str:
    """Return a text with something in it."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"Expected {name} to be a text that is not empty, got {shown(value)}.")
    return value


def several(what: str, values: Iterable[_Kind]) -> tuple[_Kind, ...]:
    """Return several values as a tuple, or refuse a single one; `what` is their plural."""
    try:
        if isinstance(values, str | bytes | bytearray | Mapping):  # several by accident
            raise TypeError
        return tuple(values)
    except TypeError as error:
        raise InvalidInput(f"Expected several {what}, got {shown(values)}.") from error


def pairs(form: str, values: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, Any], ...]:
    """Return several pairs as a tuple; `form` says what is in a pair."""
    return tuple(_pair(form, value) for value in several(f"pairs {form}", values))


def _pair(form: str, value: tuple[Any, Any], name: str = "each") -> tuple[Any, Any]:
    try:
        # Of these a pair comes by accident.
        if isinstance(value, str | bytes | bytearray | memoryview | Set | Mapping):
            raise TypeError
        first, second = value
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Expected {name} to be a pair {form}, got {shown(value)}.") from error
    return first, second


def index(name: str, value: int, count: int, what: str) -> int:
    """Return the position, counted from 0, of one of `count` things; `what` is their plural."""
    number = finite(name, value)
    if number != int(number) or not 0 <= number < count:
        raise InvalidInput(f"Expected {name}={shown(value)} to name one of {count} {what}, from 0.")
    return int(number)


def function(name: str, value: Callable[..., Any]) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise InvalidInput(f"Expected {name} to be a function, got {shown(value)}.")


def outcome(failure: str, function: Callable[..., _Kind], *arguments: object) -> _Kind:
    """Return what a stranger's function returns; `failure` begins the sentence if it raises."""
    try:
        return function(*arguments)
    except OmitError:
        raise
    except Exception as error:  # whatever it does
        raise InvalidInput(f"{failure}: {shown(error)}.") from error


def one_of(name: str, value: str, options: Sequence[str]) -> str:
    """Return a text that is one of several."""
    if not isinstance(value, str) or value not in options:
        raise InvalidInput(f"Expected {name}={shown(value)} to be one of: {', '.join(options)}.")
    return value


def flag(name: str, value: bool) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(f"Expected {name} to be True or False, got {shown(value)}.")
    return bool(value)


def texts(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """Return several texts, not one, as a tuple."""
    return tuple(
        text(f"{name}[{index}]", value)
        for index, value in enumerate(several(f"texts as {name}", values))
    )


def instance(name: str, value: object, kind: type[_Kind], made_by: str = "") -> _Kind:
    """Return `value` if it is of a kind, or refuse it; `made_by` says how to get one."""
    if not isinstance(value, kind):
        instead = f" ({made_by})" if made_by else ""
        raise InvalidInput(f"Expected {name} to be a {kind.__name__}{instead}, got {shown(value)}.")
    return value


def mapping(name: str, value: Mapping[Any, Any], form: str) -> None:
    """Refuse what is not a mapping; `form` says from what to what."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"Expected {name} to be a mapping {form}, got {shown(value)}.")


def interval(name: str, value: tuple[float, float]) -> tuple[float, float]:
    """Return `(lower, upper)` with `lower <= upper`, both finite."""
    lower, upper = _pair("(lower, upper)", value, name)
    lower, upper = finite(f"{name}[0]", lower), finite(f"{name}[1]", upper)
    if lower > upper:
        raise InvalidInput(f"Expected {name}=({lower:g}, {upper:g}) with lower <= upper.")
    return lower, upper
