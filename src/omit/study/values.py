"""Plain values, and the one text that stands for them.

A cell is known by its parameters, so two ways to write the same parameter must not make two cells,
and nothing about a parameter may depend on the process that reads it. Hence:

- text, whole numbers, other numbers, truth values, None and tuples of these are parameters;
- numbers that are equal are the same parameter: ``1``, ``1.0`` and ``numpy.float32(1)`` all become
  ``1``, and ``-0.0`` becomes ``0``. A computation therefore gets a whole number as an `int`;
- a truth value is no number: ``True`` and ``1`` differ;
- what is not a finite number, and whole numbers beyond 2⁵³, which floats cannot tell apart, are
  refused.

Answers of a computation are kept as they are, to the last bit: ``1.0`` stays a float, ``-0.0``
keeps its sign, and infinities and NaN are allowed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from omit.errors import InvalidInput

Value: TypeAlias = "str | int | float | bool | tuple[Value, ...] | None"
Answer: TypeAlias = str | int | float | bool | None

_LARGEST_WHOLE = 2**53
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def plain_parameter(name: str, value: object) -> Value:
    """Return a parameter in its one plain form.

    Raises
    ------
    InvalidInput
        If it is not plain data.

    Examples
    --------
    >>> import numpy as np
    >>> plain_parameter("rates", [np.float64(0.1), 1.0, -0.0])
    (0.1, 1, 0)
    """
    if type(value) is str:  # first because it is quick, and grids are large
        return value
    if isinstance(value, list | tuple):
        return tuple(plain_parameter(name, each) for each in value)
    found = _plain_scalar(name, value)
    if found is None or isinstance(found, bool | str):
        return found
    if not math.isfinite(found):
        raise InvalidInput(
            f"Expected the parameter {name}={found} to be finite; None or a word can stand for it."
        )
    if isinstance(found, float) and not found.is_integer():
        return found
    if abs(found) > _LARGEST_WHOLE:
        raise InvalidInput(f"Expected the whole number {name}={found} within ±2⁵³.")
    return int(found)


def plain_answer(name: str, value: object) -> Answer:
    """Return an answer of a computation as plain data, bit for bit.

    Raises
    ------
    InvalidInput
        If it is not text, a number, a truth value or None.
    """
    return _plain_scalar(name, value)


def _plain_scalar(name: str, value: object) -> Answer:
    if value is None or type(value) in (float, bool):
        return value  # type: ignore[return-value]  # mypy does not narrow by type()
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating) and (value != value or float(value) == value):
        return float(value)
    raise InvalidInput(
        f"Expected {name} to be text, a number, a truth value, None or a tuple of these, "
        f"got {_shortened(repr(value))}."
    )


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def canonical(data: Mapping[str, object]) -> str:
    """Return the one text of plain data: JSON in ASCII with sorted names and no spaces.

    Floats are written by their shortest exact text, which is the same on every platform.

    Examples
    --------
    >>> canonical({"rate": 0.1, "data": "adult"})
    '{"data":"adult","rate":0.1}'
    """
    return _CANONICAL.encode(data)


def fingerprint(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def stream(identity: str) -> np.random.Generator:
    """Return the random stream that belongs to an identity, and to nothing else."""
    seed = np.random.SeedSequence(int(identity, 16))
    return np.random.Generator(np.random.PCG64(seed))
