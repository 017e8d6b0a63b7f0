"""Numbers on the command line, and bounds: two numbers, two for each column, or one word.

An option takes one value, so the numbers after `--bounds` are joined to one before parsing.
"""

from __future__ import annotations

from collections.abc import Sequence

from omit.errors import InvalidInput


def join_bounds(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with all numbers after `--bounds` joined by commas.

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
        if joined[-1] == "--bounds" and len(rest) >= 2 and all(map(_is_number, rest[:2])):
            bounds = []
            while rest and _is_number(rest[0]):
                bounds.append(rest.pop(0))
            joined.append(",".join(bounds))
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
    try:
        ends = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidInput(f"Expected --bounds LOWER UPPER ..., got {text!r}.") from error
    if len(ends) % 2:
        raise InvalidInput(f"Expected --bounds to give pairs of numbers, got {text!r}.")
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    return pairs[0] if len(pairs) == 1 else pairs


def numbers(name: str, text: str) -> tuple[float, ...]:
    """Return the numbers of an option such as `0.1,0.2`.

    Raises
    ------
    InvalidInput
        If something between the commas is not a number.

    Examples
    --------
    >>> numbers("before", "0.1,0.2")
    (0.1, 0.2)
    """
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InvalidInput(f"Expected {name} as numbers with commas, got {text!r}.") from error


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
