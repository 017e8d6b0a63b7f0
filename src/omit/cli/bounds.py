"""Bounds on the command line: two numbers, or one word.

An option takes either one value or two, so `--bounds LOWER UPPER` is joined to one before parsing.
"""

from __future__ import annotations

from collections.abc import Sequence

from omit.errors import InvalidInput


def join_bounds(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the two numbers after `--bounds` joined by a comma.

    Examples
    --------
    >>> join_bounds(["compare", "people.csv", "--bounds", "0", "125", "--json"])
    ['compare', 'people.csv', '--bounds', '0,125', '--json']
    >>> join_bounds(["--bounds", "from-data"])
    ['--bounds', 'from-data']
    """
    joined: list[str] = []
    rest = list(arguments)
    while rest:
        joined.append(rest.pop(0))
        if joined[-1] == "--bounds" and len(rest) >= 2 and all(map(_is_number, rest[:2])):
            joined.append(f"{rest.pop(0)},{rest.pop(0)}")
    return joined


def pair_of_numbers(text: str) -> tuple[float, float]:
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
        raise InvalidInput(f"Expected --bounds LOWER UPPER, got {text!r}.") from error
    return lower, upper


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
